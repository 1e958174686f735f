//! Texts that are put together from pieces of what was typed, and messages about them in what was typed.

use std::ops::Range;

/// A piece of a text that is put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The text of the piece.
    pub text: String,
    /// The bytes of what was typed that it stands for. It may say more than they do, as `f(10)` where `f` was typed.
    pub at: Range<usize>,
}

impl Piece {
    /// Returns the bytes of what was typed that some bytes of the piece come from.
    fn typed(&self, typed: &str, range: Range<usize>) -> Range<usize> {
        let own = typed.get(self.at.clone()).unwrap_or_default();
        let common = own.bytes().zip(self.text.bytes()).take_while(|(a, b)| a == b).count();
        let is_own = common == own.len();
        if !is_own || (range.start >= common && self.text.len() > common) {
            return self.at.clone();
        }
        self.at.start + range.start.min(common)..self.at.start + range.end.min(common)
    }
}

/// Holds a text that is put together, and says where its bytes come from.
#[derive(Debug, Default)]
pub(super) struct Assembled<'a> {
    /// The text as it is read.
    pub text: String,
    /// The pieces in it, each with the byte at which it begins.
    pieces: Vec<(usize, &'a Piece)>,
}

impl<'a> Assembled<'a> {
    /// Adds text that nobody typed.
    pub fn word(&mut self, text: &str) {
        self.text += text;
    }

    /// Adds a piece.
    pub fn piece(&mut self, piece: &'a Piece) {
        self.pieces.push((self.text.len(), piece));
        self.text += &piece.text;
    }

    /// Returns the bytes of what was typed that some bytes of the text come from. Of a place that is in no piece, that
    /// is the piece before it.
    pub fn typed(&self, typed: &str, range: &Range<usize>) -> Range<usize> {
        let before = self.pieces.iter().rev().find(|(start, _)| *start <= range.start);
        let Some((start, piece)) = before.or(self.pieces.first()) else { return 0..typed.len() };
        let from = range.start.saturating_sub(*start);
        piece.typed(typed, from..range.end.saturating_sub(*start).max(from))
    }
}

#[cfg(test)]
mod tests {
    use super::{Assembled, Piece};

    #[test]
    fn places_are_those_of_what_was_typed() {
        let typed = ":cost f given xs = [q]";
        let inputs = [
            Piece { text: "n = 10".to_owned(), at: 6..7 },
            Piece { text: "xs = [q]".to_owned(), at: 14..22 },
        ];
        let call = Piece { text: "f(xs)".to_owned(), at: 6..7 };
        let mut whole = Assembled::default();
        whole.word("let ");
        whole.piece(&inputs[0]);
        whole.word("\n; ");
        whole.piece(&inputs[1]);
        whole.word("\nin ");
        whole.piece(&call);
        let place = |of: &str| {
            let start = whole.text.find(of).expect("it is there");
            &typed[whole.typed(typed, &(start..start + of.len()))]
        };
        assert_eq!(place("q"), "q");
        assert_eq!(place("xs = [q]"), "xs = [q]");
        assert_eq!(place("n = 10"), "f");
        assert_eq!(place("10"), "f");
        assert_eq!(place("f(xs)"), "f");
        assert_eq!(place("(xs)"), "f");
    }
}
