//! The rows of an entry that the screen shows, if the entry has more rows than the screen.
//!
//! The line editor would write all of it at each key, and what does not fit would move into what is above the
//! screen, again and again. So only those rows are written that the screen holds:
//!
//! | the cursor is | shown are |
//! |---|---|
//! | in the last rows | the last rows |
//! | above them | the rows from that of the cursor on |
//!
//! The editor counts all rows, and moves the cursor up by as many as are below it: in the first case to its row, and
//! in the second, since no terminal moves it further, to the top of the screen.

use super::tokens::Change;
use rustyline::GraphemeClusterMode;
use std::ops::Range;

/// The columns between the stops of tabs.
const TAB_STOP: usize = 8;

/// The part of an entry that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first row, 0 for that of the prompt.
    pub top: usize,
    /// The bytes of the text that are shown.
    pub bytes: Range<usize>,
}

/// The rows of the entry that is typed, of which only those of the lines are laid out again that a key changes.
#[derive(Default)]
pub struct Rows {
    text: String,
    prompt: usize,
    columns: usize,
    /// The byte at which each row begins.
    starts: Vec<usize>,
    /// The number of bytes that were laid out so far.
    #[cfg(test)]
    laid_out_bytes: usize,
}

impl Rows {
    /// Lays a text out as the editor does, behind a prompt of `prompt` columns.
    fn lay_out(&mut self, text: &str, prompt: usize, columns: usize) {
        if self.starts.is_empty() || self.prompt != prompt || self.columns != columns {
            *self = Rows { prompt, columns, ..Rows::default() };
            self.starts = self.rows_of(text, 0, text.len());
        } else if self.text != text {
            let Change { start, behind } = Change::between(&self.text, text);
            // The lines with the change: a line begins a row, and those below it stay as they are.
            let old = self.text.as_bytes();
            let from = old[..start].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let old_behind = old.len() - behind;
            let line_end = old[old_behind..].iter().position(|byte| *byte == b'\n');
            let old_to = line_end.map_or(old.len(), |at| old_behind + at);
            let to = text.len() - (old.len() - old_to);
            let first = self.starts.partition_point(|start| *start < from);
            let below = match line_end {
                Some(_) => self.starts.partition_point(|start| *start <= old_to),
                None => self.starts.len(),
            };
            let changed = self.rows_of(text, from, to);
            let moved: Vec<usize> =
                self.starts[below..].iter().map(|at| at + to - old_to).collect();
            self.starts.truncate(first);
            self.starts.extend(changed);
            self.starts.extend(moved);
        }
        text.clone_into(&mut self.text);
    }

    /// Returns the beginnings of the rows of some whole lines.
    fn rows_of(&mut self, text: &str, from: usize, to: usize) -> Vec<usize> {
        #[cfg(test)]
        {
            self.laid_out_bytes += to - from;
        }
        let (lines, is_last) = (&text[from..to], to == text.len());
        let indent = if from == 0 { self.prompt } else { 0 };
        let layout = Layout::of(lines, 0, indent, self.columns);
        let mut starts: Vec<usize> = layout.starts.into_iter().map(|start| from + start).collect();
        // Only at the end of the text a row that is full has another one below it.
        if !is_last && starts.len() > 1 && starts.last() == Some(&to) && !lines.ends_with('\n') {
            starts.pop();
        }
        starts
    }

    /// Returns the row of the cursor.
    fn row_of(&self, cursor: usize) -> usize {
        let from = self.text[..cursor].rfind('\n').map_or(0, |at| at + 1);
        let row = self.starts.partition_point(|start| *start < from);
        let indent = if from == 0 { self.prompt } else { 0 };
        let before = &self.text[from..cursor];
        let below = Layout::of(before, before.len(), indent, self.columns).cursor_row;
        (row + below).min(self.starts.len() - 1)
    }

    /// Returns true if the text fills its last row, so that the cursor behind it is in another.
    pub fn ends_full(&mut self, text: &str, prompt: usize, columns: usize) -> bool {
        self.lay_out(text, prompt, columns);
        self.starts.len() > 1 && self.starts.last() == Some(&text.len()) && !text.ends_with('\n')
    }

    /// Returns the part of a text that is shown, if it does not fit into `screen`, columns and rows. It begins behind
    /// a prompt of `prompt` columns.
    pub fn window(
        &mut self,
        text: &str,
        cursor: usize,
        prompt: usize,
        (columns, rows): (usize, usize),
    ) -> Option<Window> {
        if columns == 0 || rows < 2 {
            return None;
        }
        self.lay_out(text, prompt, columns);
        let starts = &self.starts;
        let end = starts.len() - 1;
        if end < rows {
            return None;
        }
        let cursor_row = self.row_of(cursor);
        // Below a row that is full, the editor begins another.
        let is_full = starts[end] == text.len() && !text.ends_with('\n');
        let (top, bottom) = match end - cursor_row < rows {
            true => (end + 1 - rows, end),
            false => (cursor_row, cursor_row + rows - 1 - usize::from(is_full)),
        };
        let from = starts[top];
        // Without the line end before the next row.
        let to = starts.get(bottom + 1).map_or(text.len(), |next| {
            if text[..*next].ends_with('\n') { next - 1 } else { *next }
        });
        Some(Window { top, bytes: from..to.max(from) })
    }
}

/// The rows of a text.
pub struct Layout {
    /// The byte at which each row begins.
    pub starts: Vec<usize>,
    /// The row of the cursor.
    pub cursor_row: usize,
}

impl Layout {
    /// Lays a text out as the editor does, behind a prompt of `prompt` columns.
    pub fn of(text: &str, cursor: usize, prompt: usize, columns: usize) -> Layout {
        let mode = GraphemeClusterMode::from_env();
        let mut buffer = [0; 4];
        let (mut starts, mut column) = (vec![0], prompt);
        let mut cursor_row = None;
        for (at, c) in text.char_indices() {
            if at >= cursor && cursor_row.is_none() {
                cursor_row = Some(starts.len() - 1 + usize::from(column == columns));
            }
            let width = match c {
                '\n' => {
                    starts.push(at + 1);
                    column = 0;
                    continue;
                }
                '\t' => TAB_STOP - column % TAB_STOP,
                ' '..='~' => 1,
                c => usize::from(mode.width(c.encode_utf8(&mut buffer))),
            };
            column += width;
            if column > columns {
                starts.push(at);
                column = width;
            }
        }
        if column == columns {
            starts.push(text.len());
        }
        let last = starts.len() - 1;
        Layout { starts, cursor_row: cursor_row.unwrap_or(last).min(last) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, cursor: usize) -> Option<(usize, &str)> {
        let window = Rows::default().window(text, cursor, 6, (10, 3))?;
        Some((window.top, &text[window.bytes]))
    }

    #[test]
    fn what_fits_is_whole() {
        assert_eq!(shown("abc\ndef\nghi", 0), None);
        assert_eq!(shown("abcd0123456789012345678", 0), None);
    }

    #[test]
    fn the_last_rows_are_shown_if_the_cursor_is_in_them() {
        let text = "a\nb\nc\nd\ne";
        for cursor in [4, 6, 9] {
            assert_eq!(shown(text, cursor), Some((2, "c\nd\ne")), "{cursor}");
        }
        assert_eq!(shown(text, 2), Some((1, "b\nc\nd")));
        assert_eq!(shown(text, 0), Some((0, "a\nb\nc")));
    }

    #[test]
    fn long_lines_have_rows() {
        let text = "abcd012345678901234567890123456789012";
        assert_eq!(shown(text, text.len()), Some((2, "01234567890123456789012")));
        assert_eq!(shown(text, 0), Some((0, "abcd01234567890123456789")));
        // A full row at the end has an empty one below it.
        let text = "abcd012345678901234567890123456789";
        assert_eq!(shown(text, text.len()), Some((2, "01234567890123456789")));
        assert_eq!(shown(text, 0), Some((0, "abcd0123456789")));
    }

    #[test]
    fn a_key_lays_out_its_line() {
        let line = "      y = x + (1, 2) and more of it, so that there are two rows;\n";
        let text = line.repeat(1_500);
        let mut rows = Rows::default();
        rows.lay_out(&text, 6, 40);
        let before = rows.laid_out_bytes;
        for at in [0, text.len() / 2, text.len()] {
            rows.lay_out(&format!("{}z{}", &text[..at], &text[at..]), 6, 40);
            rows.lay_out(&text, 6, 40);
        }
        let bytes = rows.laid_out_bytes - before;
        assert!(bytes < 6 * 2 * line.len(), "{bytes}");
    }

    #[test]
    fn the_rows_are_those_of_the_whole_text() {
        // A generator of random numbers that needs no seed: the same edits each time.
        let mut state = 7_usize;
        let mut next = |count: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99_991);
            (state >> 33) % count
        };
        let pieces = ["\n", "a", "0123456789", "漢字", "\t", "é", "", "\n\n", "01234"];
        let (mut rows, mut text) = (Rows::default(), String::new());
        for _ in 0..20_000 {
            let places: Vec<usize> =
                (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
            let a = next(places.len());
            let b = (a + next(4)).min(places.len() - 1);
            text.replace_range(places[a]..places[b], pieces[next(pieces.len())]);
            if text.len() > 120 {
                text.clear();
            }
            rows.lay_out(&text, 6, 10);
            let whole = Layout::of(&text, 0, 6, 10);
            assert_eq!(rows.starts, whole.starts, "{text:?}");
            for cursor in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                let row = Layout::of(&text, cursor, 6, 10).cursor_row;
                assert_eq!(rows.row_of(cursor), row, "{text:?} {cursor}");
            }
        }
    }
}
