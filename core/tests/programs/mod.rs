//! Texts of programs for the tests: those of the repository, those generated from a tape of choices
//! ([`generate`]), and damaged ones of either kind.

#![allow(dead_code, reason = "each test takes what it needs")]

pub mod elaborated;
pub mod generate;

use nesl_core::syntax::lex;
use std::path::Path;
use std::sync::LazyLock;

/// The examples and the library, with their names.
pub static FILES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for folder in ["examples", "core/prelude"] {
        for entry in std::fs::read_dir(root().join(folder)).expect("the folder is there") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|e| e == "nesl") {
                let text = std::fs::read_to_string(&path).expect("a text");
                all.push((path.file_name().expect("a name").to_string_lossy().into_owned(), text));
            }
        }
    }
    all.sort();
    all
});

/// A case recorded from NESL 3.1.
pub struct Case {
    pub id: String,
    pub source: String,
    /// True if the program is expected to be rejected or to fail.
    pub fails: bool,
}

/// The recorded cases of `tests/conformance/open.jsonl`.
pub static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let path = root().join("tests/conformance/open.jsonl");
    let text = std::fs::read_to_string(path).expect("the cases are there");
    let case = |line: &str| {
        let case: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        let string = |key: &str| case[key].as_str().expect("a string").to_owned();
        Case { id: string("id"), source: string("source"), fails: !case["error"].is_null() }
    };
    text.lines().filter(|line| !line.trim().is_empty()).map(case).collect()
});

/// The texts of all programs of the repository, each with its name.
pub fn sources() -> impl Iterator<Item = (&'static str, &'static str)> {
    let files = FILES.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    files.chain(CASES.iter().map(|case| (case.id.as_str(), case.source.as_str())))
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// A tape of choices, one a byte; at its end always the first choice. Shorter tapes and smaller
/// bytes make smaller programs, so what proptest shrinks is readable.
pub struct Tape<'a> {
    rest: &'a [u8],
    fresh: usize,
}

impl Tape<'_> {
    pub fn new(bytes: &[u8]) -> Tape<'_> {
        Tape { rest: bytes, fresh: 0 }
    }

    /// Chooses a number below `n`, which is at most 256.
    pub fn below(&mut self, n: usize) -> usize {
        let Some((byte, rest)) = self.rest.split_first() else { return 0 };
        self.rest = rest;
        usize::from(*byte) % n
    }

    /// Chooses a number below `n`, which may exceed 256.
    pub fn wide(&mut self, n: usize) -> usize {
        (self.below(256) << 8 | self.below(256)) % n
    }

    pub fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// Returns a name that no pattern has bound.
    pub fn fresh(&mut self) -> String {
        self.fresh += 1;
        format!("x{}", self.fresh)
    }
}

/// The pieces of text that damage inserts.
#[rustfmt::skip]
const PIECES: [&str; 64] = [
    "(", ")", "[", "]", "{", "}", "let ", " in ", "if ", " then ", " else ", "function ",
    "datatype ", ";", "$", ",", ":", "::", ":=", "=", "==", "|", "|=", "=>", "->", "<-", "#", "-",
    "@", "'", " x", " int", "1", "2.5", "\"s\"", "`c", " t ", " f ", "time", "%", "\n", "\"", "`",
    "\\", "!", "~", " and ", " or ", "++", "||", "^", "*", "/", " any", "[]", "()", "{*", " sum",
    " rand", "(1,2)", "\n\n", "é", "\0", "99999999999999999999",
];

/// A text with some of its tokens deleted, doubled, exchanged, replaced or inserted; sometimes a single
/// character instead.
pub fn damage(text: &str, tape: &mut Tape<'_>) -> String {
    let mut tokens: Vec<String> = lex(text).iter().map(|t| text[t.range].to_owned()).collect();
    for _ in 0..=tape.below(5) {
        let kind = tape.below(8);
        let piece = PIECES[tape.below(PIECES.len())];
        if tokens.is_empty() {
            tokens.push(piece.to_owned());
        }
        let (at, other) = (tape.wide(tokens.len()), tape.wide(tokens.len()));
        match kind {
            0 => drop(tokens.remove(at)),
            1 => tokens.insert(other, tokens[at].clone()),
            2 => tokens.swap(at, other),
            3 => tokens[at] = piece.to_owned(),
            4 => tokens.insert(at, piece.to_owned()),
            5 => tokens.truncate(at),
            6 => {
                let (from, to) = (at.min(other), at.max(other));
                drop(tokens.drain(from..to));
            }
            _ => {
                let mut chars: Vec<char> = tokens[at].chars().collect();
                let place = tape.below(chars.len().max(1));
                match tape.below(3) {
                    0 if !chars.is_empty() => drop(chars.remove(place)),
                    1 if !chars.is_empty() => chars[place] = char::from(tape.below(128) as u8),
                    _ => chars.insert(place, char::from(tape.below(256) as u8)),
                }
                tokens[at] = chars.into_iter().collect();
            }
        }
    }
    tokens.concat()
}

/// A damaged program of the repository, a damaged generated one, or a part of one.
pub fn damaged(bytes: &[u8]) -> String {
    let mut tape = Tape::new(bytes);
    let text = match tape.below(4) {
        0 => generate::program(&mut tape),
        1 => {
            let (_, text) = &FILES[tape.below(FILES.len())];
            let items = nesl_core::syntax::split(text);
            let at = tape.below(items.len());
            items.iter().skip(at).take(4).map(|item| &text[item.range]).collect()
        }
        _ => CASES[tape.wide(CASES.len())].source.clone(),
    };
    damage(&text, &mut tape)
}
