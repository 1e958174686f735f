//! The language of doc comments and constants.

/// Words at the beginning of a doc line that stand for a noun: "What it does", "Whether it is empty".
const NOMINAL_WORDS: [&str; 8] =
    ["What", "Whether", "Where", "How", "Which", "Whose", "Whom", "When"];

/// A documentation paragraph of so many words says nothing.
const MAX_SILENT_WORDS: usize = 2;

/// Words that say neither a quantity nor a unit: a name of a constant needs another word.
const VAGUE_WORDS: [&str; 27] = [
    "AHEAD", "BEHIND", "BIG", "BREATH", "DEEPEST", "ENOUGH", "FAR", "FEW", "GRAIN", "LARGE",
    "LARGEST", "LEAST", "LITTLE", "LONG", "LONGEST", "MANY", "MOST", "MUCH", "NEAR", "OFTEN",
    "PATIENCE", "SELDOM", "SELDOMS", "SHORT", "SMALL", "SOON", "TINY",
];

/// The numbers of the doc lines that begin with a word in place of a noun, or that are a whole
/// paragraph of one or two words.
pub fn unclear_doc_lines(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    // The first line and the number of words of the current paragraph.
    let mut paragraph: Option<(usize, usize)> = None;
    let mut code = false;
    for (index, line) in text.lines().chain([""]).enumerate() {
        let line = line.trim_start();
        let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).map(str::trim);
        let prose = doc.filter(|doc| !doc.is_empty() && !code);
        let Some(prose) = prose.filter(|doc| !doc.starts_with(['#', '|', '`']) || is_sentence(doc))
        else {
            if doc.is_some_and(|doc| doc.starts_with("```")) {
                code = !code;
            }
            code &= doc.is_some();
            if let Some((line, words)) = paragraph.take()
                && words <= MAX_SILENT_WORDS
            {
                found.push(line);
            }
            continue;
        };
        let words = prose.split_whitespace().count();
        let (first, before) = paragraph.unwrap_or((index + 1, 0));
        paragraph = Some((first, before + words));
        let word = prose.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        if NOMINAL_WORDS.contains(&word) {
            found.push(index + 1);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Tells a sentence that begins with code from a fence, a heading and a row of a table.
fn is_sentence(doc: &str) -> bool {
    doc.starts_with('`') && !doc.starts_with("```")
}

/// The constants whose names consist of vague words, with the numbers of their lines.
pub fn vague_constants(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        let name = words.by_ref().find(|word| !word.starts_with("pub"));
        let Some("const" | "static") = name else { continue };
        let Some(name) = words.next().and_then(|word| word.strip_suffix(':')) else { continue };
        if name.split('_').all(|word| VAGUE_WORDS.contains(&word)) {
            found.push((index + 1, name));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{unclear_doc_lines, vague_constants};

    #[test]
    fn a_doc_line_needs_a_noun_or_a_verb() {
        let text = "//! Values.\n//!\n//! The values of the language.\n\n/// Whether it is empty.\nfn a() {}\n\
                    /// Returns what it holds.\n/// Where it is.\nfn b() {}\n/// For whom.\nx: u8,\n";
        assert_eq!(unclear_doc_lines(text), [1, 5, 8, 10]);
    }

    #[test]
    fn headings_tables_and_code_are_not_sentences() {
        let text = "/// Panics if there is none.\n///\n/// # Errors\n/// | a | b |\n/// ```\n/// What x\n/// ```\nfn a() {}\n\
                    /// A sentence that ends on another\n/// line.\nfn b() {}\n";
        assert_eq!(unclear_doc_lines(text), Vec::<usize>::new());
    }

    #[test]
    fn a_constant_has_a_unit() {
        let text = "const FEW: usize = 1;\npub(crate) const FEW_BYTES: usize = 2;\n    const MOST: u8 = 3;\n";
        assert_eq!(vague_constants(text), [(1, "FEW"), (3, "MOST")]);
    }
}
