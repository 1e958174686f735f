//! Positions: lines and columns, in the units that were negotiated, and bytes.

use nesl_core::base::{TextRange, TextSize};
use std::ops::Range;
use std::sync::Arc;
use tower_lsp_server::ls_types as lsp;

/// The unit in which columns are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8: columns are bytes.
    Utf8,
    /// UTF-16: columns are code units, as in JavaScript. Every client supports it.
    #[default]
    Utf16,
    /// UTF-32: columns are characters.
    Utf32,
}

impl Encoding {
    /// The length of a text in units of the encoding.
    fn units(self, text: &str) -> u32 {
        let units = match self {
            Encoding::Utf8 => text.len(),
            Encoding::Utf16 => text.chars().map(char::len_utf16).sum(),
            Encoding::Utf32 => text.chars().count(),
        };
        units as u32
    }

    /// The bytes before so many units of a line; all of it if it is shorter. A position inside of a
    /// character is before it.
    fn bytes(self, line: &str, units: u32) -> usize {
        let mut left = units as usize;
        for (at, c) in line.char_indices() {
            let width = match self {
                Encoding::Utf8 => c.len_utf8(),
                Encoding::Utf16 => c.len_utf16(),
                Encoding::Utf32 => 1,
            };
            if left < width {
                return at;
            }
            left -= width;
        }
        line.len()
    }
}

/// The starts of the lines of a text, but for the first.
fn line_starts(text: &str) -> impl Iterator<Item = u32> {
    let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    ends.map(|(at, _)| at as u32 + 1)
}

/// A text with its lines.
#[derive(Clone, Debug)]
pub struct Lines {
    /// The text of the file.
    pub text: Arc<str>,
    /// The start of each line, in bytes.
    starts: Vec<u32>,
    /// Bytes are all that there is.
    ascii: bool,
    encoding: Encoding,
}

impl Lines {
    /// The lines of a text.
    pub fn new(text: impl Into<Arc<str>>, encoding: Encoding) -> Lines {
        let text = text.into();
        let starts = std::iter::once(0).chain(line_starts(&text)).collect();
        Lines { starts, ascii: text.is_ascii(), text, encoding }
    }

    /// A line's text without its end.
    fn line(&self, line: usize) -> &str {
        let Some(start) = self.starts.get(line) else { return "" };
        let end = self.starts.get(line + 1).map_or(self.text.len(), |next| *next as usize);
        self.text[*start as usize..end].trim_end_matches(['\n', '\r'])
    }

    /// The byte at a position; positions behind a line's or the text's end are at the end.
    pub fn offset(&self, position: lsp::Position) -> TextSize {
        let line = position.line as usize;
        let Some(start) = self.starts.get(line) else { return TextSize::of(&*self.text) };
        let text = self.line(line);
        let column = if self.ascii {
            text.len().min(position.character as usize)
        } else {
            self.encoding.bytes(text, position.character)
        };
        TextSize::new(start + column as u32)
    }

    /// The byte at a column that is counted in characters, whatever the client counts in.
    pub fn offset_of_char(&self, line: u32, column: u32) -> TextSize {
        let Some(start) = self.starts.get(line as usize) else { return TextSize::of(&*self.text) };
        TextSize::new(start + Encoding::Utf32.bytes(self.line(line as usize), column) as u32)
    }

    /// The bytes of a range.
    pub fn range(&self, range: lsp::Range) -> TextRange {
        let (start, end) = (self.offset(range.start), self.offset(range.end));
        TextRange::new(start.min(end), end.max(start))
    }

    /// The position of a byte.
    pub fn position(&self, offset: TextSize) -> lsp::Position {
        let offset = usize::from(offset).min(self.text.len());
        let line = self.starts.partition_point(|start| *start as usize <= offset) - 1;
        let start = self.starts[line] as usize;
        let column = match self.ascii {
            true => (offset - start) as u32,
            false => self.encoding.units(self.text.get(start..offset).unwrap_or_default()),
        };
        lsp::Position::new(line as u32, column)
    }

    /// The range of some bytes.
    pub fn lsp_range(&self, range: TextRange) -> lsp::Range {
        lsp::Range::new(self.position(range.start()), self.position(range.end()))
    }

    /// The range of some bytes of one line, at or below a line that is moved there; `None` if they are in
    /// several lines.
    pub fn in_line(&self, range: TextRange, line: &mut usize) -> Option<lsp::Range> {
        let (start, end) = (u32::from(range.start()), u32::from(range.end()));
        if self.starts.get(*line).is_none_or(|first| *first > start) {
            *line = 0;
        }
        while self.starts.get(*line + 1).is_some_and(|next| *next <= start) {
            *line += 1;
        }
        if self.starts.get(*line + 1).is_some_and(|next| *next < end) {
            return None;
        }
        let first = self.starts[*line];
        let column = |at: u32| match self.ascii {
            true => at - first,
            false => self.encoding.units(&self.text[first as usize..at as usize]),
        };
        let position = |at: u32| lsp::Position::new(*line as u32, column(at));
        let ends_line = self.text[..end as usize].ends_with('\n');
        (!ends_line && start < end).then(|| lsp::Range::new(position(start), position(end)))
    }

    /// A range cut at the ends of lines: what clients want that know no tokens of several lines.
    pub fn pieces(&self, range: TextRange) -> Vec<TextRange> {
        let (start, end) = (usize::from(range.start()), usize::from(range.end()));
        let first = self.starts.partition_point(|at| *at as usize <= start) - 1;
        let lines =
            (first..self.starts.len()).take_while(|line| (self.starts[*line] as usize) < end);
        let cut = lines.map(|line| {
            let from = self.starts[line] as usize;
            from.max(start)..(from + self.line(line).len()).min(end)
        });
        cut.filter(|piece| !piece.is_empty()).map(text_range).collect()
    }

    /// The text after a change.
    pub fn changed(&self, change: &lsp::TextDocumentContentChangeEvent) -> Lines {
        let Some(range) = change.range else {
            return Lines::new(change.text.as_str(), self.encoding);
        };
        let range = std::ops::Range::<usize>::from(self.range(range));
        let (head, tail) = (&self.text[..range.start], &self.text[range.end..]);
        let text: Arc<str> = [head, &change.text, tail].concat().into();
        // Lines that begin in what is replaced go; those behind it move.
        let first = self.starts.partition_point(|start| *start as usize <= range.start);
        let behind = self.starts.partition_point(|start| *start as usize <= range.end);
        let mut starts = Vec::with_capacity(self.starts.len() + 1);
        starts.extend_from_slice(&self.starts[..first]);
        starts.extend(line_starts(&change.text).map(|start| start + range.start as u32));
        let moved =
            |start: &u32| start - range.end as u32 + (range.start + change.text.len()) as u32;
        starts.extend(self.starts[behind..].iter().map(moved));
        let ascii = match self.ascii {
            true => change.text.is_ascii(),
            false => text.is_ascii(),
        };
        Lines { text, starts, ascii, encoding: self.encoding }
    }
}

fn text_range(range: Range<usize>) -> TextRange {
    TextRange::new(TextSize::new(range.start as u32), TextSize::new(range.end as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, character: u32) -> lsp::Position {
        lsp::Position::new(line, character)
    }

    #[test]
    fn every_character_has_a_position() {
        let text = "a\r\nπ = \"😀é\";\n\nx";
        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
            let lines = Lines::new(text, encoding);
            for (offset, c) in text.char_indices().filter(|(_, c)| *c != '\n') {
                let offset = TextSize::new(offset as u32);
                let there = lines.offset(lines.position(offset));
                assert_eq!(there, if c == '\r' { TextSize::new(1) } else { offset });
            }
        }
        let lines = Lines::new(text, Encoding::Utf16);
        assert_eq!(lines.position(TextSize::of("a\r\nπ = \"😀")), at(1, 7));
        assert_eq!(lines.offset(at(1, 6)), TextSize::of("a\r\nπ = \""));
    }

    #[test]
    fn positions_behind_the_end_are_at_the_end() {
        let lines = Lines::new("ab\ncd", Encoding::Utf16);
        assert_eq!(lines.offset(at(0, 99)), TextSize::new(2));
        assert_eq!(lines.offset(at(9, 0)), TextSize::new(5));
    }

    #[test]
    fn changes_are_made_where_they_say() {
        let change = |range, text: &str| lsp::TextDocumentContentChangeEvent {
            range,
            range_length: None,
            text: text.to_owned(),
        };
        let lines = Lines::new("é = 1;\ny = 2;\n", Encoding::Utf16);
        let range = lsp::Range::new(at(0, 4), at(1, 4));
        assert_eq!(&*lines.changed(&change(Some(range), "3 + ")).text, "é = 3 + 2;\n");
        assert_eq!(&*lines.changed(&change(None, "z")).text, "z");
        // The lines of a changed text are those of a new one.
        let lines = Lines::new("a\nb\n\né\n", Encoding::Utf8);
        for (from, to) in [(0, 0), (0, 1), (0, 4), (1, 2), (2, 2), (2, 3), (3, 4), (4, 4)] {
            for text in ["", "x", "\n", "x\ny", "\nπ\n"] {
                let range = lsp::Range::new(at(from, 0), at(to, 0));
                let changed = lines.changed(&change(Some(range), text));
                let new = Lines::new(changed.text.clone(), Encoding::Utf8);
                assert_eq!((changed.starts, changed.ascii), (new.starts, new.ascii));
            }
        }
    }

    #[test]
    fn a_range_is_cut_at_line_ends() {
        let lines = Lines::new("% a\n\n b % c", Encoding::Utf8);
        let cut = lines.pieces(TextRange::new(0.into(), 9.into()));
        let texts: Vec<&str> = cut.iter().map(|range| &lines.text[*range]).collect();
        assert_eq!(texts, ["% a", " b %"]);
    }
}
