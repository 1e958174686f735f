//! After thousands of edits a server knows the same as one that sees the text for the first
//! time.
//!
//! Real programs are edited at random: letters typed and deleted, words swapped, lines cut out and
//! put elsewhere, comments and brackets opened; now and then the good text comes back. The seed
//! stands in what a failure says.

use nesl_core::base::{TextRange, TextSize};
use nesl_core::ide::{self, HintOptions, Precision};
use nesl_server::diagnostics::{self, Known};
use nesl_server::lines::{Encoding, Lines};
use nesl_server::world::{Snapshot, World};
use proptest::prelude::Rng as _;
use proptest::test_runner::{RngAlgorithm, TestRng};
use std::fmt::Write;
use std::path::Path;
use std::str::FromStr;
use tower_lsp_server::ls_types::{Range, TextDocumentContentChangeEvent, Uri};

const EDITS: usize = 2_000;
/// A server that starts anew takes its time: it is asked after so many edits.
const STRIDE: usize = 20;

#[test]
fn edits_leave_no_trace() {
    let mut rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let texts = texts();
    let per_text = EDITS / texts.len() + 1;
    for (name, good) in texts {
        let uri = Uri::from_str(&format!("untitled:{name}")).expect("an address");
        let mut world = World::default();
        world.set_encoding(Encoding::Utf16);
        world.open(uri.clone(), 0, good.clone());
        let mut text = good.clone();
        let mut problems = Known::default();
        for version in 1..=per_text {
            let change = random(&mut rng, &text, &good);
            text = apply(&text, &change);
            world.change(&uri, version as i32, &[change]);
            let snapshot = world.snapshot(&uri).expect("it is open");
            assert_eq!(*snapshot.lines.text, *text, "{name}, edit {version}");
            if version % STRIDE != 0 && version != per_text {
                // Somebody looks at it, all the same: what is remembered must be worth it.
                let _ = diagnostics::of(&snapshot, &mut problems);
                continue;
            }
            let at = TextSize::new(boundary(&text, rng.next_u32() as usize) as u32);
            let known = known(&snapshot, &mut problems, at);
            drop(snapshot);
            let mut fresh = World::default();
            fresh.set_encoding(Encoding::Utf16);
            fresh.open(uri.clone(), version as i32, text.clone());
            let fresh = fresh.snapshot(&uri).expect("it is open");
            let expected = self::known(&fresh, &mut Known::default(), at);
            assert!(
                known == expected,
                "{name}, edit {version}, of this text:\n{text}\n\nknown:\n{known}\n\nexpected:\n{expected}"
            );
        }
    }
}

/// The example programs.
fn texts() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let files = std::fs::read_dir(folder).expect("the examples");
    let mut all: Vec<(String, String)> = files
        .filter_map(|file| Some(file.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "nesl"))
        .map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("a program"))
        })
        .collect();
    all.sort();
    all
}

/// Everything that an editor could ask, as text.
fn known(snapshot: &Snapshot, problems: &mut Known, at: TextSize) -> String {
    let (db, file) = (&snapshot.db, snapshot.file);
    let whole = TextRange::up_to(TextSize::of(&*snapshot.lines.text));
    let options = HintOptions { types: true, parallelism: false };
    let mut out = String::new();
    let precision = Precision::Bits64;
    let _ = write!(
        out,
        "{:#?}\n{:#?}\n{:#?}\n{:#?}\n{:#?}\n{:#?}\n{:#?}",
        diagnostics::of(snapshot, problems),
        ide::outline(db, file),
        ide::semantic_tokens(db, file, None),
        ide::inlay_hints(db, file, whole, options, precision),
        ide::hover(db, file, TextRange::empty(at), precision),
        ide::definition(db, file, at),
        ide::highlights(db, file, at),
    );
    out
}

fn apply(text: &str, change: &TextDocumentContentChangeEvent) -> String {
    let lines = Lines::new(text, Encoding::Utf16);
    let Some(range) = change.range else { return change.text.clone() };
    let range = std::ops::Range::<usize>::from(lines.range(range));
    let mut text = text.to_owned();
    text.replace_range(range, &change.text);
    text
}

/// One edit, as a client sends it.
fn random(rng: &mut TestRng, text: &str, good: &str) -> TextDocumentContentChangeEvent {
    let below = |rng: &mut TestRng, n: usize| rng.next_u32() as usize % n.max(1);
    let place = |rng: &mut TestRng| boundary(text, rng.next_u32() as usize);
    let at = place(rng);
    let (range, new) = match below(rng, 12) {
        0..=4 => {
            let typed = [
                "x",
                "1",
                " ",
                ";",
                "(",
                ")",
                "{",
                "}",
                "[",
                "%",
                "\"",
                "`",
                "\n",
                " + ",
                "é",
                "let ",
                " in ",
                "function ",
                "a = b;\n",
                "sum(",
                " : int",
                "😀",
            ];
            (at..at, typed[below(rng, typed.len())].to_owned())
        }
        5 | 6 => (at..boundary(text, at + 1 + below(rng, 4)).max(at), String::new()),
        7 | 8 => {
            // A word from elsewhere.
            let from = place(rng);
            let words: Vec<&str> = text[from..].split_whitespace().take(3).collect();
            (at..at, words.join(" "))
        }
        9 => {
            let end = text[at..].find('\n').map_or(text.len(), |n| at + n + 1);
            (at..end, String::new())
        }
        10 => {
            let from = place(rng);
            let line = text[from..].lines().next().unwrap_or("").to_owned();
            (at..at, format!("\n{line}\n"))
        }
        _ => return whole(good),
    };
    let lines = Lines::new(text, Encoding::Utf16);
    let position = |offset: usize| lines.position(TextSize::new(offset as u32));
    let range = Range::new(position(range.start), position(range.end));
    TextDocumentContentChangeEvent { range: Some(range), range_length: None, text: new }
}

fn whole(text: &str) -> TextDocumentContentChangeEvent {
    TextDocumentContentChangeEvent { range: None, range_length: None, text: text.to_owned() }
}

/// The beginning of a character, at a number that may be any.
fn boundary(text: &str, n: usize) -> usize {
    let mut at = if n <= text.len() { n } else { n % (text.len() + 1) };
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
