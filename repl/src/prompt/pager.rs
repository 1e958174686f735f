//! Long texts, screen by screen.

use crate::output::screen;
use std::io::Write;
use std::process::{Command, Stdio};

/// The pager where the user has named none.
const DEFAULT_PAGER: &str = "less -RF";

/// Returns true if the screen does not hold a text.
pub fn is_long(text: &str) -> bool {
    let (columns, rows) = screen();
    let lines = text.lines().map(|line| line.chars().count().div_ceil(columns.max(1)).max(1));
    lines.sum::<usize>() >= rows
}

/// Shows a text in `NESL_PAGER`, `PAGER` or less; returns false if that is not possible, or not wanted: one of
/// the variables is empty, or `cat`.
pub fn page(text: &str) -> bool {
    let named = |name| std::env::var(name).ok();
    let pager =
        named("NESL_PAGER").or_else(|| named("PAGER")).unwrap_or_else(|| DEFAULT_PAGER.to_owned());
    let mut words = pager.split_whitespace();
    let Some(program) = words.next().filter(|program| *program != "cat") else { return false };
    let child = Command::new(program).args(words).stdin(Stdio::piped()).spawn();
    let Ok(mut child) = child else { return false };
    if let Some(mut input) = child.stdin.take() {
        // Who has seen enough leaves before the end.
        let _ = input.write_all(text.as_bytes()).and_then(|()| input.write_all(b"\n"));
    }
    child.wait().is_ok()
}
