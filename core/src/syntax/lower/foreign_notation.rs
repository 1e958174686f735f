//! Reports of notation that other languages use for something of NESL.

use super::super::grammar::Node;
use super::super::lexer::Kind;
use super::{Lower, Report};
use crate::base::{Span, TextRange, TextSize};

impl Lower<'_> {
    /// Makes the report of `'a'` for a char or `'text'` for a string, at the second quote.
    pub(super) fn quotes(&mut self, node: &Node) -> Option<Report> {
        let first = node.start.checked_sub(2)?;
        if self.token_kind(first) != Some(Kind::Quote)
            || self.token_kind(first + 1) != Some(Kind::Name)
        {
            return None;
        }
        let at = self.range(Span::new(first, node.end));
        let inside = self.token_text(first + 1).to_owned();
        if usize::from(at.len()) != inside.len() + 2 {
            return None;
        }
        Some(if inside.len() == 1 {
            self.error(at, "a char is written with one back-quote before it").fix(
                "write it so",
                at,
                format!("`{inside}"),
            )
        } else {
            self.error(at, "a string is written between double quotes").fix(
                "write it so",
                at,
                format!("\"{inside}\""),
            )
        })
    }

    /// Finds the `->` of `(x -> …)(3)`, where `=>` is meant.
    pub(super) fn thin_arrow(&self, fun: &Node) -> Option<u32> {
        if fun.kind != Kind::Paren {
            return None;
        }
        let mut node = &fun.kids[0];
        while node.kind == Kind::Binary {
            let op = node.kids[0].end;
            if self.token_kind(op) == Some(Kind::RightArrow) {
                return Some(op);
            }
            node = &node.kids[0];
        }
        None
    }

    /// Returns true if a colon and the word behind it look like a command of a front end: nothing stands
    /// before them on their line.
    pub(super) fn begins_command(&self, colon: u32) -> bool {
        let (Some(at), Some(word)) =
            (self.tokens.get(colon as usize), self.tokens.get(colon as usize + 1))
        else {
            return false;
        };
        let before = &self.text[..usize::from(at.range.start())];
        let line = &before[before.rfind('\n').map_or(0, |end| end + 1)..];
        word.kind == Kind::Name && at.range.end() == word.range.start() && line.trim().is_empty()
    }

    /// Adds how commands are written to a report of one that stands elsewhere.
    pub(super) fn misplaced_command(&self, colon: u32, report: Report) -> Report {
        let word = self.token_text(colon + 1);
        report.hint(format!(
            "if `:{word}` is a command of the prompt or of a notebook, it stands before all forms of \
             its entry, on a line of its own"
        ))
    }

    /// Makes the report of `[a, b]` as a pattern.
    pub(super) fn no_sequences(&mut self, at: TextRange) -> Report {
        self.error(at, "there are no sequence patterns")
            .hint("bind the sequence to a name and index it, or use `vsep`")
    }

    /// Returns the position at which the closing quote of a string was probably forgotten: before
    /// the brackets and the `;` that end its line.
    pub(super) fn open_string_end(&self, token: TextRange) -> TextSize {
        let text = self.text[token].trim_end();
        let inside = text.trim_end_matches([';', '$', ' ', ')']);
        let inside = if inside.len() > 1 { inside } else { text };
        token.start() + TextSize::of(inside)
    }
}
