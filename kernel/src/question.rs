//! Cells that ask about a name: `name?` and `?name`, also with two marks, as some are used to. What is asked
//! about is a name of NESL, unless it begins with a colon, as commands do.

/// Returns the name that a cell asks about, if it is one of `name?` and `?name`: the answer is read in
/// the pager.
pub fn asked_about(code: &str) -> Option<&str> {
    let code = code.trim();
    let after = code.strip_prefix("??").or_else(|| code.strip_prefix('?'));
    let before = || code.strip_suffix("??").or_else(|| code.strip_suffix('?'));
    let name = after.or_else(before)?.trim();
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!name.is_empty() && name.trim_start_matches(':').chars().all(is_part)).then_some(name)
}

/// Returns the command that answers a question about a name.
pub fn answering(name: &str) -> String {
    let command = if name.starts_with(':') { ":help" } else { ":doc" };
    format!("{command} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_a_name_with_a_mark() {
        assert_eq!(asked_about("sum?"), Some("sum"));
        assert_eq!(asked_about(" ?plus_scan\n"), Some("plus_scan"));
        assert_eq!(asked_about("?:time"), Some(":time"));
        assert_eq!(asked_about("sum??"), Some("sum"));
        assert_eq!(asked_about("??sum"), Some("sum"));
        for text in ["?", "??", "sum(x)?", "sum", "?a b", "a???"] {
            assert_eq!(asked_about(text), None, "{text}");
        }
    }
}
