//! The entry on the screen follows a change of the width of the terminal.
//!
//! Most terminals break the lines on the screen anew, so that the entry takes more rows, or fewer, than the line
//! editor has counted. Before it repaints, it moves down to the last row that it knows, and clears the rows from there
//! up to the first: too few of them, or some above the entry. [`Seen::prepare`] clears what is there, and moves the
//! cursor to where the way of the editor ends in the first row of the entry.

use super::window::{Layout, Window};

/// The entry as it is on the screen.
#[derive(Debug, Default)]
pub struct Seen {
    /// The text of the editor.
    pub text: String,
    /// The cursor in it.
    pub cursor: usize,
    /// The columns of the prompt.
    pub prompt: usize,
    /// The hint behind the text.
    pub hint: String,
    /// The part of the text that is shown, if it has more rows than the screen.
    pub window: Option<Window>,
    /// The end of the text when it was painted, if that filled its last row: a line end stands there.
    pub full: Option<usize>,
    /// The columns of the screen.
    pub columns: usize,
}

impl Seen {
    /// Returns what is to be written before the editor repaints on a screen of another width; nothing if it takes one
    /// row before and after.
    pub fn prepare(&self, (columns, rows): (usize, usize)) -> String {
        let whole = format!("{}{}", self.text, self.hint);
        let known = Layout::of(&whole, self.cursor, self.prompt, self.columns);
        let known_rows = known.starts.len() - 1;
        let (real_rows, real_cursor) = self.rows(&whole, columns);
        if known_rows == 0 && real_rows == 0 {
            return String::new();
        }
        let up = |count: usize| if count > 0 { format!("\x1b[{count}A") } else { String::new() };
        // Line ends, other than moves, make room where there is none.
        let below = known_rows.min(rows.saturating_sub(1));
        let mut out = format!("{}\r\x1b[J{}", up(real_cursor), "\n".repeat(below));
        if known_rows < rows {
            out += &up(known_rows - known.cursor_row);
        }
        out
    }

    /// Returns the last row of what is shown, and that of the cursor, on a screen of this width.
    fn rows(&self, whole: &str, columns: usize) -> (usize, usize) {
        let (shown, from, prompt) = match &self.window {
            Some(window) => {
                let prompt = if window.top == 0 { self.prompt } else { 0 };
                (&whole[window.bytes.clone()], window.bytes.start, prompt)
            }
            None => (whole, 0, self.prompt),
        };
        let cursor = self.cursor.saturating_sub(from).min(shown.len());
        match self.full.and_then(|full| shown.split_at_checked(full.checked_sub(from)?)) {
            Some((before, behind)) => {
                let broken = format!("{before}\n{behind}");
                let is_behind = usize::from(cursor >= before.len());
                last_and_cursor(&broken, cursor + is_behind, prompt, columns)
            }
            None => last_and_cursor(shown, cursor, prompt, columns),
        }
    }
}

/// Returns the last row of a text, and that of the cursor. Behind a row that is full, a terminal keeps the cursor in it.
fn last_and_cursor(text: &str, cursor: usize, prompt: usize, columns: usize) -> (usize, usize) {
    let layout = Layout::of(text, cursor, prompt, columns);
    let last = layout.starts.len() - 1;
    let is_behind_full = |row: usize| row > 0 && layout.starts[row] == text.len();
    let is_full = is_behind_full(last) && !text.ends_with('\n');
    let end = last - usize::from(is_full);
    (end, layout.cursor_row.min(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entry with a prompt of 6 columns on a screen of 20.
    fn seen(text: &str, cursor: usize) -> Seen {
        Seen { text: text.to_owned(), cursor, prompt: 6, columns: 20, ..Seen::default() }
    }

    #[test]
    fn one_row_needs_nothing() {
        assert_eq!(seen("0123", 4).prepare((12, 24)), "");
        assert_eq!(seen("0123", 4).prepare((40, 24)), "");
    }

    #[test]
    fn the_way_of_the_editor_ends_in_the_first_row() {
        // 36 columns, 2 rows of 20, and 4 of 10: the cursor is in the last.
        let text = "012345678901234567890123456789";
        assert_eq!(seen(text, text.len()).prepare((10, 24)), "\x1b[3A\r\x1b[J\n");
        assert_eq!(seen(text, 0).prepare((10, 24)), "\r\x1b[J\n\x1b[1A");
        // In one row, nothing above it is cleared.
        assert_eq!(seen(text, text.len()).prepare((50, 24)), "\r\x1b[J\n");
        // What was one row may be two.
        assert_eq!(seen("0123456789", 10).prepare((10, 24)), "\x1b[1A\r\x1b[J");
    }

    #[test]
    fn what_is_higher_than_the_screen_begins_at_its_top() {
        let text = "0\n".repeat(50);
        let window = Window { top: 27, bytes: 54..text.len() };
        let seen = Seen { window: Some(window), ..seen(&text, text.len()) };
        assert_eq!(seen.prepare((10, 24)), format!("\x1b[23A\r\x1b[J{}", "\n".repeat(23)));
    }

    #[test]
    fn a_row_that_was_full_ends_a_line() {
        let text = "01234567890123";
        let full = Seen { full: Some(text.len()), ..seen(text, text.len()) };
        // 20 columns are 2 rows of 10, and the cursor is below them.
        assert_eq!(full.prepare((10, 24)), "\x1b[2A\r\x1b[J\n");
    }
}
