//! Loading the definitions of files before a session begins.
//!
//! Top-level expressions are not evaluated, as they may take long and the session is for trying the definitions.
//! They are replaced by blanks, so that the positions of everything else stay the same.

use crate::exit::OK;
use crate::exit::worse;
use crate::report::Reporter;
use crate::source;
use anyhow::Result;
use nesl_core::syntax::{RawKind, split};
use nesl_engine::Session;
use std::path::PathBuf;

/// The number of names listed for a file; of the others the number is given.
const MAX_LISTED_NAMES: usize = 12;

/// The files of a session.
pub struct Files(Vec<PathBuf>);

/// The report on the files' definitions, besides their errors.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// Only the errors are reported.
    Nothing,
    /// Their names, a line a file.
    Names,
}

/// The outcome of reading the files of a session.
#[derive(Clone, Copy, Debug)]
pub struct Entered {
    /// The exit code.
    pub code: u8,
    /// True if any of them could be read.
    pub any: bool,
}

impl Files {
    /// Makes the list of files; an error if one cannot be read.
    pub fn new(paths: &[PathBuf]) -> Result<Files> {
        paths.iter().try_for_each(|path| source::read(path).map(drop))?;
        // A program may change the current folder later.
        Ok(Files(paths.iter().map(|path| path.canonicalize().unwrap_or(path.clone())).collect()))
    }

    /// Returns true if there are no files.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Runs the definitions of all files, which are one entry.
    pub fn enter(&self, reporter: &mut Reporter, session: &mut Session, shown: Shown) -> Entered {
        let mut entered = Entered { code: OK, any: false };
        for path in &self.0 {
            let file = match source::read(path) {
                Ok(file) => file,
                Err(error) => {
                    eprintln!("nesl: {error:#}");
                    continue;
                }
            };
            if std::mem::replace(&mut entered.any, true) {
                session.go_on_entry();
            }
            let mut names = Vec::new();
            let text = definitions(&file.text);
            let summary = reporter.collect(session, &file.name, &text, &mut |binding| {
                if !names.contains(&binding.name) {
                    names.push(binding.name);
                }
            });
            reporter.output.settle();
            if shown == Shown::Names {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                reporter.output.line(&format!("{name}: {}", listed(&names)));
            }
            entered.code = worse(entered.code, &summary);
            if summary.interrupted {
                break;
            }
        }
        entered
    }
}

fn listed(names: &[String]) -> String {
    match names.len() {
        0 => "no definitions".to_owned(),
        n if n > MAX_LISTED_NAMES => {
            format!("{}, and {} more", names[..MAX_LISTED_NAMES].join(", "), n - MAX_LISTED_NAMES)
        }
        _ => names.join(", "),
    }
}

/// A text in which blanks stand for the expressions.
fn definitions(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for form in split(text) {
        let own = &text[form.range];
        match form.kind {
            RawKind::Expr => out.extend(own.chars().map(|c| if c == '\n' { c } else { ' ' })),
            RawKind::Function
            | RawKind::Datatype
            | RawKind::Binding
            | RawKind::Command
            | RawKind::Blank => out.push_str(own),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_blank_and_nothing_moves() {
        let text = "x = 1; x + 1; y = 2;\n{x : π in\n y};\nfunction f(a) = a; % end %";
        let left = definitions(text);
        assert_eq!(left, "x = 1;        y = 2;\n         \n    \nfunction f(a) = a; % end %");
    }

    #[test]
    fn many_names_are_counted() {
        let names: Vec<String> = (0..15).map(|n| format!("f{n}")).collect();
        assert_eq!(listed(&names[..2]), "f0, f1");
        assert!(listed(&names).ends_with("f11, and 3 more"));
    }
}
