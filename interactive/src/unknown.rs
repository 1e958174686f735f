//! Undefined names: the message, with similar names that may be meant.

use nesl_engine::Session;

/// The message for an undefined name, with similar defined names; of a word of the language, how it is
/// used.
pub fn unknown(session: &mut Session, name: &str) -> String {
    if let Some(use_of) = word(name) {
        return format!("`{name}` is a word of the language, not a name: {use_of}");
    }
    if let Some(advice) = nesl_core::names::elsewhere(name) {
        return format!("Name error: there is no `{name}`: {advice}");
    }
    let near = nearest(name, session.complete("").into_iter().map(|known| known.name));
    match near.as_slice() {
        [] => format!("Name error: nothing is known about `{name}`"),
        [one] => format!("Name error: nothing is known about `{name}`; did you mean `{one}`?"),
        [others @ .., last] => {
            let others = others.join("`, `");
            format!(
                "Name error: nothing is known about `{name}`; did you mean `{others}` or `{last}`?"
            )
        }
    }
}

/// Returns how a word or sign of the language is used that is no function.
fn word(name: &str) -> Option<&'static str> {
    Some(match name.to_lowercase().as_str() {
        "if" | "then" | "else" => "`if x > 0 then a else b`",
        "let" => "`let x = 3; y = x + 1 in x * y`",
        "in" => "`let x = 3 in x + 1`, and `{x + 1 : x in xs}`",
        "function" => "`function g(x, y) = x + y;`",
        "datatype" => "`datatype point(float, float);`",
        "{" | "}" | "{}" | "|" => "`{x + 1 : x in xs | x > 0}`, for each element of `xs` above 0",
        "=>" => "`x => x + 1`, a function as a value",
        "=" => "`x = 3;` defines `x`; to compare, `==`",
        ":=" => "`function g(x, n := 5) = x + n;`, an optional argument",
        "$" => "it ends a form, as in `x = 3;`",
        "load" => "`load \"file\";` reads and runs another file",
        "set" => "`set precision 32;` changes a setting; `help;` lists the commands",
        "exit" | "help" | "describe" | "show" | "apropos" => {
            "it is a command of NESL 3.1, and `help;` lists all of them"
        }
        "t" | "f" => "`t` means true, `f` means false",
        _ => return None,
    })
}

/// Returns the known names within a few keystrokes of `name`, nearest first, at most three.
pub fn nearest(name: &str, known: impl Iterator<Item = String>) -> Vec<String> {
    let name = name.to_lowercase();
    let allowed = (name.chars().count() / 3).max(1);
    let mut near: Vec<(usize, String)> = known
        .map(|known| (distance(&name, &known.to_lowercase()), known))
        .filter(|(distance, _)| *distance <= allowed)
        .collect();
    near.sort();
    near.dedup();
    near.into_iter().take(3).map(|(_, known)| known).collect()
}

/// The edit distance (Damerau-Levenshtein): the least number of insertions, deletions, replacements
/// and swaps of neighbours that turn one text into the other.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    for (j, cell) in rows[0].iter_mut().enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_come_first() {
        let known = ["plus_scan", "max_scan", "min_scan", "sum"].map(String::from);
        assert_eq!(nearest("plus_sacn", known.clone().into_iter()), ["plus_scan"]);
        assert_eq!(nearest("mx_scan", known.clone().into_iter()), ["max_scan", "min_scan"]);
        assert!(nearest("zzz", known.into_iter()).is_empty());
    }
}
