//! Long texts, screen by screen.

use crate::output::screen;
use std::io::Write;
use std::process::{Command, Stdio};

/// The pager where the user has named none.
const DEFAULT_PAGER: &str = "less -RF";

/// Returns true if the screen does not hold a text.
pub fn is_long(text: &str) -> bool {
    let (columns, rows) = screen();
    let columns = columns.max(1);
    // No more is looked at than the screen holds: the text may be of any length.
    let rows_of = |line: &str| {
        line.chars().take(columns.saturating_mul(rows)).count().div_ceil(columns).max(1)
    };
    let mut left = rows;
    text.lines().any(|line| {
        left = left.saturating_sub(rows_of(line));
        left == 0
    })
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
