//! Tests the exact messages for wrong programs.
//!
//! `tests/lang/*.md` contain wrong programs, by theme: a sentence that explains the mistake, the
//! program in a `nesl` block, and its messages in an `error` block. Each program runs in a fresh
//! session. It contains one mistake and must produce exactly one error, unless a line `<!-- errors:
//! 5 -->` before it says otherwise. Where a hint proposes an edit, the edited program must no
//! longer have the error.
//!
//! `BLESS=1` rewrites the `error` blocks.

use nesl_core::base::{Diagnostic, Severity};
use nesl_engine::{Event, FileRange, Session, Settings};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The file name under which the programs are entered.
const NAME: &str = "program";

/// A wrong program of a file.
struct Case {
    /// The line of the file at which the program starts.
    line: usize,
    program: String,
    /// The expected number of errors.
    errors: usize,
    /// The expected messages.
    expected: Option<String>,
}

#[test]
fn wrong_programs_are_explained() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lang"))
            .expect("the folder of wrong programs")
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
            .collect();
    files.sort();
    let mut wrong = 0;
    let mut failures = String::new();
    for path in files {
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("text");
        let (mut out, cases) = parse(&text);
        for (index, case) in cases.iter().enumerate() {
            let (said, errors) = judge(&case.program, &mut |complaint| {
                let _ = writeln!(failures, "{name}:{}: {complaint}", case.line);
            });
            wrong += usize::from(errors > 0);
            if errors != case.errors {
                let _ = writeln!(
                    failures,
                    "{name}:{}: {errors} errors instead of {}:\n{said}",
                    case.line, case.errors
                );
            }
            if !bless && case.expected.as_deref() != Some(&said) {
                let expected = case.expected.as_deref().unwrap_or("");
                let _ =
                    writeln!(failures, "{name}:{}: expected\n{expected}but got\n{said}", case.line);
            }
            out = out.replace(&slot(index), &format!("```error\n{said}```\n"));
        }
        if bless && out != text {
            std::fs::write(&path, out).expect("write");
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(wrong >= 120, "only {wrong} wrong programs");
}

/// Returns the placeholder for the `error` block of a case.
fn slot(index: usize) -> String {
    format!("\u{0}{index}\u{0}")
}

/// Returns the text of a file with a placeholder for each `error` block, and the cases.
fn parse(text: &str) -> (String, Vec<Case>) {
    let mut out = String::new();
    let mut cases: Vec<Case> = Vec::new();
    let mut errors = 1;
    let mut lines = text.lines().enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        if let Some(rest) = line.strip_prefix("<!-- errors: ") {
            errors = rest.trim_end_matches("-->").trim().parse().expect("a number of errors");
        }
        if line == "```error" {
            let said: String = lines
                .by_ref()
                .map(|(_, l)| l)
                .take_while(|l| *l != "```")
                .map(|l| format!("{l}\n"))
                .collect();
            cases.last_mut().expect("a program before what is said").expected = Some(said);
            // The placeholder has been written already, and so has the blank line before it.
            continue;
        }
        let _ = writeln!(out, "{line}");
        if line == "```nesl" {
            let program: String = lines
                .by_ref()
                .map(|(_, l)| l)
                .take_while(|l| *l != "```")
                .map(|l| format!("{l}\n"))
                .collect();
            let _ = write!(out, "{program}```\n{}", slot(cases.len()));
            cases.push(Case { line: number + 1, program, errors, expected: None });
            errors = 1;
        }
    }
    (out, cases)
}

/// Runs a program; returns its messages and the number of errors.
fn judge(program: &str, complain: &mut dyn FnMut(String)) -> (String, usize) {
    let (session, diagnostics) = enter(program);
    let mut said = String::new();
    for diagnostic in &diagnostics {
        render(&session, diagnostic, &mut said);
        for (at, with) in diagnostic.hints.iter().filter_map(|hint| hint.edit.as_ref()) {
            let mut edited = program.to_owned();
            edited.replace_range(at.range.clone(), with);
            let (_, after) = enter(&edited);
            let still = |d: &&Diagnostic<FileRange>| d.message == diagnostic.message;
            if after.iter().filter(still).count() >= diagnostics.iter().filter(still).count() {
                complain(format!("the edit does not help: {}\n{edited}", diagnostic.message));
            }
        }
    }
    let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
    (said, errors)
}

fn enter(program: &str) -> (Session, Vec<Diagnostic<FileRange>>) {
    let settings = Settings { max_depth: 5_000, max_length: 10_000_000, ..Settings::default() };
    let mut session = Session::new(settings);
    session.set_output(Box::new(std::io::sink()));
    let mut diagnostics = Vec::new();
    session.enter(NAME, program, &mut |event| {
        if let Event::Diagnostic(diagnostic) = event {
            diagnostics.push(diagnostic);
        }
    });
    (session, diagnostics)
}

/// Writes a diagnostic as plain text.
fn render(session: &Session, diagnostic: &Diagnostic<FileRange>, out: &mut String) {
    let sort = match diagnostic.severity {
        Severity::Error => format!("{:?} error", diagnostic.kind),
        Severity::Warning => "Warning".to_owned(),
    };
    let at = &diagnostic.primary.at;
    let _ = writeln!(out, "{sort} at {}: {}", position(session, at), diagnostic.message);
    let (_, text) = session.source(at.file);
    let start = text[..at.range.start].rfind('\n').map_or(0, |n| n + 1);
    let line = text[start..].lines().next().unwrap_or("");
    let before = text[start..at.range.start].chars().count();
    let covered = text[at.range.clone()].lines().next().unwrap_or("").chars().count().max(1);
    let _ = writeln!(out, "  {line}");
    let underline =
        format!("  {}{} {}", " ".repeat(before), "~".repeat(covered), diagnostic.primary.text);
    let _ = writeln!(out, "{}", underline.trim_end());
    for label in &diagnostic.labels {
        let (_, text) = session.source(label.at.file);
        let quoted = text[label.at.range.clone()].split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = writeln!(out, "  note {} `{quoted}`: {}", position(session, &label.at), label.text);
    }
    for note in &diagnostic.notes {
        let _ = writeln!(out, "  = {note}");
    }
    for hint in &diagnostic.hints {
        let edit = hint.edit.as_ref().map_or(String::new(), |(at, with)| {
            let (_, text) = session.source(at.file);
            format!(" [replace `{}` by `{with}`]", &text[at.range.clone()])
        });
        let _ = writeln!(out, "  help: {}{edit}", hint.text);
    }
}

/// Returns line and column, and the file name if it is not the program itself.
fn position(session: &Session, at: &FileRange) -> String {
    let (name, text) = session.source(at.file);
    let before = &text[..at.range.start];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    if &*name == NAME { format!("{line}:{column}") } else { format!("{name}:{line}") }
}
