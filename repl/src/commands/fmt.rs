//! `nesl fmt FILE…`

use crate::cli::Global;
use crate::exit::{FAILED, OK};
use crate::report::Reporter;
use crate::source::{self, STDIN};
use anyhow::{Context, Result};
use nesl_core::base::{DiagnosticKind, Severity};
use nesl_core::db::Database;
use nesl_core::ide;
use nesl_engine::Session;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Formats files in place, or lists those that are not formatted. A file with syntax errors stays as it is.
pub fn run(global: &Global, files: &[PathBuf], check: bool) -> Result<u8> {
    let (mut reporter, mut session) = Reporter::new(global)?;
    let mut unformatted = 0;
    let mut wrong = 0;
    for path in files {
        let file = source::read(path)?;
        if shows_syntax_errors(&mut reporter, &mut session, &file) {
            wrong += 1;
            continue;
        }
        let formatted = formatted(&file.text);
        let changed = formatted != file.text;
        let stdin = path == Path::new(STDIN);
        if check {
            if changed {
                reporter.output.line(&file.name);
            }
        } else if stdin {
            reporter.output.write_all(&source::encode(&formatted, file.latin1))?;
        } else if changed {
            nesl_engine::write_whole(path, &source::encode(&formatted, file.latin1))
                .with_context(|| format!("cannot write {}", path.display()))?;
            if !global.quiet {
                eprintln!("formatted {}", path.display());
            }
        }
        unformatted += usize::from(changed);
    }
    reporter.output.show();
    Ok(if wrong > 0 || (check && unformatted > 0) { FAILED } else { OK })
}

/// Shows the syntax errors of a file; returns true if there are any.
fn shows_syntax_errors(
    reporter: &mut Reporter,
    session: &mut Session,
    file: &source::Text,
) -> bool {
    let reports = session.check(&[(&file.name, &file.text)]);
    let sources = session.sources();
    let mut found = false;
    for diagnostic in reports.iter().flat_map(|report| &report.diagnostics) {
        if diagnostic.kind == DiagnosticKind::Syntax
            && diagnostic.severity == Severity::Error
            && *sources.get(diagnostic.primary.at.file).0 == *file.name
        {
            reporter.diagnostic(session, diagnostic);
            found = true;
        }
    }
    reporter.more();
    found
}

/// Formats a text as the language server does: line ends and a byte order mark stay what they are.
fn formatted(text: &str) -> String {
    const BYTE_ORDER_MARK: &str = "\u{feff}";
    let (mark, body) = match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(body) => (BYTE_ORDER_MARK, body),
        None => ("", text),
    };
    let mut db = Database::new();
    let file = db.add_file("", body, None);
    let mut edits = ide::format_document(&db, file);
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.range.start()));
    let mut formatted = body.to_owned();
    for edit in edits {
        formatted.replace_range(Range::<usize>::from(edit.range), &edit.text);
    }
    mark.to_owned() + &formatted
}
