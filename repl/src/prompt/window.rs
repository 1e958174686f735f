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

/// Returns the part of a text that is shown, if it does not fit into `screen`, columns and rows. It begins behind a
/// prompt of `prompt` columns.
pub fn window(
    text: &str,
    cursor: usize,
    prompt: usize,
    (columns, rows): (usize, usize),
) -> Option<Window> {
    if columns == 0 || rows < 2 {
        return None;
    }
    let layout = Layout::of(text, cursor, prompt, columns);
    let end = layout.starts.len() - 1;
    if end < rows {
        return None;
    }
    // Below a row that is full, the editor begins another.
    let is_full = layout.starts[end] == text.len() && !text.ends_with('\n');
    let (top, bottom) = match end - layout.cursor_row < rows {
        true => (end + 1 - rows, end),
        false => (layout.cursor_row, layout.cursor_row + rows - 1 - usize::from(is_full)),
    };
    let from = layout.starts[top];
    // Without the line end before the next row.
    let to = layout
        .starts
        .get(bottom + 1)
        .map_or(text.len(), |next| if text[..*next].ends_with('\n') { next - 1 } else { *next });
    Some(Window { top, bytes: from..to.max(from) })
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
        let window = window(text, cursor, 6, (10, 3))?;
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
}
