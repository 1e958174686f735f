//! Diagnostics → JSON for programs. The fields are described by `nesl check --help`.

use nesl_core::base::{Diagnostic, DiagnosticKind, Severity};
use nesl_engine::{FileRange, Sources};
use nesl_interactive::text::Lines;
use serde::Serialize;
use std::rc::Rc;

/// A diagnostic as a line of JSON.
#[derive(Serialize)]
struct Problem {
    kind: &'static str,
    severity: &'static str,
    message: String,
    #[serde(flatten)]
    place: Place,
    label: String,
    labels: Vec<Label>,
    notes: Vec<String>,
    hints: Vec<Hint>,
}

/// A range of a text in lines and columns: counted from one, in characters; the end is exclusive.
#[derive(Serialize)]
struct Place {
    file: Rc<str>,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

#[derive(Serialize)]
struct Label {
    text: String,
    #[serde(flatten)]
    place: Place,
}

#[derive(Serialize)]
struct Hint {
    text: String,
    edit: Option<Edit>,
}

#[derive(Serialize)]
struct Edit {
    #[serde(flatten)]
    place: Place,
    replacement: String,
}

/// Writes the diagnostics of one text.
pub struct Writer {
    name: Rc<str>,
    lines: Lines,
}

impl Writer {
    /// A writer for problems of a text.
    pub fn new(name: &str, text: &str) -> Writer {
        Writer { name: name.into(), lines: Lines::new(text.into()) }
    }

    /// One diagnostic, of the text or of one that it loads, as an object in one line.
    pub fn line(&self, sources: &Sources, diagnostic: &Diagnostic<FileRange>) -> String {
        let at = &diagnostic.primary.at;
        let problem = if *sources.get(at.file).0 == *self.name {
            self.problem(sources, diagnostic)
        } else {
            Writer::of(sources, at).problem(sources, diagnostic)
        };
        serde_json::to_string(&problem).unwrap_or_default()
    }

    fn problem(&self, sources: &Sources, diagnostic: &Diagnostic<FileRange>) -> Problem {
        let home = diagnostic.primary.at.file;
        // Nearly all places are in the text itself; others, such as the library, are looked up.
        let place = |at: &FileRange| {
            let own = at.file == home;
            if own { self.place(at) } else { Writer::of(sources, at).place(at) }
        };
        Problem {
            kind: kind(diagnostic.kind),
            severity: severity(diagnostic.severity),
            message: diagnostic.message.clone(),
            place: place(&diagnostic.primary.at),
            label: diagnostic.primary.text.clone(),
            labels: diagnostic
                .labels
                .iter()
                .map(|label| Label { text: label.text.clone(), place: place(&label.at) })
                .collect(),
            notes: diagnostic.notes.clone(),
            hints: diagnostic
                .hints
                .iter()
                .map(|hint| Hint {
                    text: hint.text.clone(),
                    edit: hint.edit.as_ref().map(|(at, replacement)| Edit {
                        place: place(at),
                        replacement: replacement.clone(),
                    }),
                })
                .collect(),
        }
    }

    /// One diagnostic of any text as an object with the one field `problem`, in one line.
    pub fn problem_line(sources: &Sources, diagnostic: &Diagnostic<FileRange>) -> String {
        let problem = Writer::of(sources, &diagnostic.primary.at).problem(sources, diagnostic);
        serde_json::json!({ "problem": problem }).to_string()
    }

    fn of(sources: &Sources, at: &FileRange) -> Writer {
        let (name, text) = sources.get(at.file);
        Writer::new(&name, &text)
    }

    fn place(&self, at: &FileRange) -> Place {
        let start = self.lines.position(at.range.start);
        let end = self.lines.position(at.range.end.max(at.range.start));
        Place {
            file: self.name.clone(),
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
        }
    }
}

fn kind(kind: DiagnosticKind) -> &'static str {
    match kind {
        DiagnosticKind::Syntax => "syntax",
        DiagnosticKind::Name => "name",
        DiagnosticKind::Type => "type",
        DiagnosticKind::Runtime => "runtime",
    }
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}
