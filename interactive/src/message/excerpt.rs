//! Messages about lines too long to be shown whole: the neighbourhood of the place, by hand.

use super::{File, heading};
use crate::text::visible;
use nesl_core::base::{Diagnostic, Label};
use nesl_engine::{FileId, FileRange};
use std::fmt::Write;

/// The number of characters shown on each side of the start of a place.
const EXCERPT_SIDE_CHARS: usize = 50;

/// The message with an excerpt of each line it is about.
pub fn render<'a>(file: &dyn Fn(FileId) -> &'a File, diagnostic: &Diagnostic<FileRange>) -> String {
    let mut out = format!("{}: {}\n", heading(diagnostic), visible(&diagnostic.message));
    for label in std::iter::once(&diagnostic.primary).chain(&diagnostic.labels) {
        show(file(label.at.file), label, &mut out);
    }
    for note in &diagnostic.notes {
        let _ = writeln!(out, "  Note: {}", visible(note));
    }
    for hint in &diagnostic.hints {
        let _ = writeln!(out, "  Help: {}", visible(&hint.text));
    }
    out
}

fn show(file: &File, label: &Label<FileRange>, out: &mut String) {
    let range = &label.at.range;
    let (line, start) = file.lines.line_text(range.start);
    let column = file.lines.position(range.start).column - 1;
    let from = column.saturating_sub(EXCERPT_SIDE_CHARS);
    let shown: String = line.chars().skip(from).take(2 * EXCERPT_SIDE_CHARS).collect();
    let more_left = if from > 0 { "…" } else { "" };
    let more_right =
        if line.chars().nth(from + 2 * EXCERPT_SIDE_CHARS).is_some() { "…" } else { "" };
    let end = range.end.min(start + line.len());
    let width = file.lines.char_of(end).saturating_sub(file.lines.char_of(range.start));
    let carets = "^".repeat(width.clamp(1, EXCERPT_SIDE_CHARS));
    let indent = " ".repeat(column - from + more_left.chars().count());
    let shown = visible(&shown).replace('\t', " ");
    let _ = writeln!(out, "  ╭─[ {} ]", file.location(range.start));
    let _ = writeln!(out, "  │ {more_left}{shown}{more_right}");
    let _ = writeln!(out, "  │ {indent}{carets} {}", visible(&label.text));
}
