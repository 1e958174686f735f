//! Properties of the checker on generated and damaged programs: it ends without a panic, every source
//! location is inside the text, and a database that has seen edits reports what a fresh one reports.

mod programs;

use nesl_core::base::Diagnostic;
use nesl_core::db::{Database, FileId, FileRange};
use nesl_core::syntax::RawKind;
use programs::{Tape, damaged, generate, sources};
use proptest::prelude::*;
use std::cell::RefCell;

thread_local! {
    /// The database of all inputs of a thread: loading the library takes longer than checking them.
    static EDITED: RefCell<(Database, FileId)> = RefCell::new({
        let mut db = Database::new();
        let file = db.add_file("edited.nesl", "", None);
        (db, file)
    });
}

/// All diagnostics of a file.
fn said(db: &Database, file: FileId) -> Vec<Diagnostic<FileRange>> {
    let outline = db.outline(file);
    let forms = outline.forms.iter().filter(|form| form.kind != RawKind::Blank);
    forms.flat_map(|form| db.diagnostics(form.id())).collect()
}

/// Checks a text as an edit of the previous one.
fn check(text: &str) -> Result<Vec<Diagnostic<FileRange>>, String> {
    EDITED.with_borrow_mut(|(db, file)| {
        db.set_text(*file, text);
        let said = said(db, *file);
        let inside = |at: FileRange| {
            at.file != *file || text.get(std::ops::Range::<usize>::from(at.range)).is_some()
        };
        for diagnostic in &said {
            let labels = diagnostic.labels.iter().map(|label| label.at);
            if !labels.chain([diagnostic.primary.at]).all(inside) {
                return Err(format!("{text:?}: {diagnostic:#?}"));
            }
        }
        Ok(said)
    })
}

fn tape() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..160)
}

#[test]
fn written_programs_are_checked() {
    for (name, text) in sources() {
        if let Err(why) = check(text) {
            panic!("{name}: {why}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn damaged_programs_are_checked(bytes in tape()) {
        check(&damaged(&bytes)).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn made_up_programs_are_checked(bytes in tape()) {
        check(&generate::program(&mut Tape::new(&bytes))).map_err(TestCaseError::fail)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn edits_leave_no_trace(bytes in tape(), before in tape()) {
        let text = damaged(&bytes);
        check(&damaged(&before)).map_err(TestCaseError::fail)?;
        let edited = check(&text).map_err(TestCaseError::fail)?;
        let mut db = Database::new();
        let file = db.add_file("edited.nesl", &text, None);
        prop_assert_eq!(said(&db, file), edited, "{}", text);
    }
}

#[test]
fn depth_is_no_obstacle() {
    for piece in ["1,", "f ", "t ", "1+", "a -> ", "x => ", "let a = ", "{x in ", "(", "[", "f("] {
        for text in [
            piece.repeat(100_000),
            format!("function g(x) = {};", piece.repeat(1_900)),
            format!("function g({}", piece.repeat(100_000)),
            format!("function g(x) : {}", piece.repeat(100_000)),
            format!("function g(x) : {} = x; g(1);", piece.repeat(1_900)),
        ] {
            assert!(!check(&text).expect("places are inside").is_empty(), "{text:.40}");
        }
    }
}

#[test]
fn length_is_no_obstacle() {
    let names: Vec<String> = (0..30_000).map(|i| format!("a{i}")).collect();
    let names = names.join(", ");
    for text in [
        format!("let ({names}) = 1 in a0;"),
        format!("function g({names}) = a0;"),
        format!("({}1);", "1, ".repeat(30_000)),
        format!("[1]{};", "[0]".repeat(30_000)),
        format!("function g(x) = x{};", "[0]".repeat(30_000)),
    ] {
        assert!(!check(&text).expect("places are inside").is_empty(), "{text:.40}");
    }
}
