//! The comments of a form, each with its position between the tokens.

use crate::syntax::lexer::{Kind, Token};
use nesl_runtime::bug::OrBug;

/// A comment before a significant token, and its position.
pub(super) struct Remark {
    pub(super) text: String,
    pub(super) place: Place,
}

/// The position of a comment relative to the tokens around it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// At the end of the line of the token before it.
    Behind,
    /// On a line of its own.
    Alone,
    /// On the line of the token after it.
    Before,
}

/// Returns the comments before each significant token.
pub(super) fn comments(text: &str, all: &[Token]) -> Vec<Vec<Remark>> {
    let mut out: Vec<Vec<Remark>> = vec![Vec::new()];
    let mut fresh = false;
    for token in all {
        let last = out.last_mut().or_bug("there is a list for the next token");
        match token.kind {
            Kind::Blank if text[token.range].contains('\n') => {
                // The comments at the end of a line have no token after them on it.
                for remark in last.iter_mut().filter(|remark| remark.place == Place::Before) {
                    remark.place = if fresh { Place::Alone } else { Place::Behind };
                }
                fresh = true;
            }
            Kind::Blank => {}
            Kind::Comment | Kind::OpenComment | Kind::ForeignComment => {
                let text = text[token.range].to_owned();
                last.push(Remark { text, place: Place::Before });
            }
            _ => {
                out.push(Vec::new());
                fresh = false;
            }
        }
    }
    out
}
