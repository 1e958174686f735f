//! The tokens of the entry that is typed, of which only the lines that a key changes are lexed again.
//!
//! Lexing may begin and end where a line does, outside of strings and comments: there is a [`Kind::Blank`] token that
//! begins with the line end. What is not closed may end anywhere, so texts with such tokens are lexed whole.

use nesl_core::base::{TextRange, TextSize};
use nesl_core::syntax::{Kind, Token, lex};

/// A text and its tokens.
#[derive(Default)]
pub struct Tokens {
    text: String,
    tokens: Vec<Token>,
    /// True if a string or a comment is not closed.
    is_open: bool,
    /// The number of bytes that were lexed so far.
    #[cfg(test)]
    pub lexed_bytes: usize,
}

/// The number of bytes of two texts that are compared at once.
const COMPARED_BYTES: usize = 256;

/// The bytes in which a text differs from another.
#[derive(Debug, PartialEq, Eq)]
pub struct Change {
    /// The number of bytes that both begin with.
    pub start: usize,
    /// The number of bytes that both end with.
    pub behind: usize,
}

impl Change {
    /// Compares two texts. The bytes may divide characters.
    pub fn between(old: &str, new: &str) -> Change {
        let (old, new) = (old.as_bytes(), new.as_bytes());
        // Whole pieces are compared first, which is many times as fast as one byte after the other.
        let pieces = old.chunks(COMPARED_BYTES).zip(new.chunks(COMPARED_BYTES));
        let same = pieces.take_while(|(a, b)| a == b).count() * COMPARED_BYTES;
        let same = same.min(old.len()).min(new.len());
        let rest = old[same..].iter().zip(&new[same..]);
        let start = same + rest.take_while(|(a, b)| a == b).count();
        let (old, new) = (&old[start..], &new[start..]);
        let pieces = old.rchunks(COMPARED_BYTES).zip(new.rchunks(COMPARED_BYTES));
        let same = pieces.take_while(|(a, b)| a == b).count() * COMPARED_BYTES;
        let same = same.min(old.len()).min(new.len());
        let rest = old[..old.len() - same].iter().rev().zip(new[..new.len() - same].iter().rev());
        Change { start, behind: same + rest.take_while(|(a, b)| a == b).count() }
    }
}

impl Tokens {
    /// Returns the tokens of a text.
    pub fn of(&mut self, text: &str) -> &[Token] {
        if self.text != text && !self.lex_change(text) {
            self.tokens = self.lex(text);
            self.is_open = self.tokens.iter().any(is_open);
        }
        text.clone_into(&mut self.text);
        &self.tokens
    }

    /// Lexes the lines that differ from those of the text before; returns false if that does not tell the tokens.
    fn lex_change(&mut self, text: &str) -> bool {
        if self.is_open {
            return false;
        }
        let Change { start, behind } = Change::between(&self.text, text);
        let begins_line =
            |token: &Token| token.kind == Kind::Blank && self.text[at(token)..].starts_with('\n');
        let before = self.tokens.partition_point(|token| at(token) < start);
        let first = self.tokens[..before].iter().rposition(begins_line).unwrap_or(0);
        let old_behind = self.text.len() - behind;
        let after = self.tokens.partition_point(|token| at(token) < old_behind).max(first);
        let last = self.tokens[after..].iter().position(begins_line).map(|more| after + more);
        let last = last.unwrap_or(self.tokens.len());
        let from = self.tokens.get(first).map_or(0, at);
        let old_to = self.tokens.get(last).map_or(self.text.len(), at);
        let to = text.len() - (self.text.len() - old_to);
        let Some(part) = text.get(from..to) else { return false };
        let lexed = self.lex(part);
        // Such a sign would take the line end.
        if lexed.iter().any(is_open) || part.ends_with('`') {
            return false;
        }
        let moved = |token: &Token, old: usize, new: usize| {
            let place = |at: TextSize| TextSize::new((usize::from(at) + new - old) as u32);
            let range = TextRange::new(place(token.range.start()), place(token.range.end()));
            Token { range, ..*token }
        };
        if old_to != to {
            self.tokens[last..].iter_mut().for_each(|token| *token = moved(token, old_to, to));
        }
        let mut lexed: Vec<Token> = lexed.iter().map(|token| moved(token, 0, from)).collect();
        let mut behind = last;
        // Blanks at the end of the line and the line end are one token.
        let next_end = self.tokens.get(last).map(|next| next.range.end());
        let before = match lexed.last_mut() {
            Some(before) => Some(before),
            None => self.tokens[..first].last_mut(),
        };
        if let Some(before) = before.filter(|token| token.kind == Kind::Blank)
            && let Some(end) = next_end
        {
            before.range = TextRange::new(before.range.start(), end);
            behind += 1;
        }
        self.tokens.splice(first..behind, lexed);
        true
    }

    fn lex(&mut self, text: &str) -> Vec<Token> {
        #[cfg(test)]
        {
            self.lexed_bytes += text.len();
        }
        lex(text)
    }
}

fn is_open(token: &Token) -> bool {
    matches!(token.kind, Kind::OpenText | Kind::OpenComment)
}

fn at(token: &Token) -> usize {
    usize::from(token.range.start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_lexes_its_lines() {
        let line = "      y = x + \"a\" % b % (1, 2);\n";
        let text = line.repeat(1_500);
        let mut tokens = Tokens::default();
        tokens.of(&text);
        let before = tokens.lexed_bytes;
        for at in [0, text.len() / 2, text.len()] {
            let changed = format!("{}z{}", &text[..at], &text[at..]);
            assert_eq!(tokens.of(&changed), lex(&changed));
            assert_eq!(tokens.of(&text), lex(&text));
        }
        assert!(
            tokens.lexed_bytes - before < 6 * 3 * line.len(),
            "{}",
            tokens.lexed_bytes - before
        );
    }

    #[test]
    fn the_tokens_are_those_of_the_whole_text() {
        // A generator of random numbers that needs no seed: the same edits each time.
        let mut state = 7_usize;
        let mut next = |count: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % count
        };
        let pieces = [
            "\n", "\"", "%", "`", "/", "/*", "*/", "//", " ", "  \n", "a", "(", "f(", ";", "#!",
            "~", "1.", "é", "\\", "\n  ", "\"b\"", "% c %", "`\n", "\";\n", "$",
        ];
        let mut tokens = Tokens::default();
        let mut text = String::new();
        for _ in 0..20_000 {
            let places: Vec<usize> =
                (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
            let (a, b) = (next(places.len()), next(4));
            let to = places[(a + b).min(places.len() - 1)];
            let removed = if next(2) == 0 { places[a]..to } else { places[a]..places[a] };
            text.replace_range(removed, pieces[next(pieces.len())]);
            if text.len() > 200 {
                text.clear();
            }
            assert_eq!(tokens.of(&text), lex(&text), "{text:?}");
        }
    }
}
