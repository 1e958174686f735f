//! The comments of a form, each with its position between the tokens.

use crate::syntax::lexer::{Kind, Token};
use nesl_runtime::bug::OrBug;

/// A comment before a significant token, and its position.
pub(super) struct Comment {
    pub(super) text: String,
    pub(super) position: CommentPosition,
}

/// The position of a comment relative to the tokens around it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CommentPosition {
    /// At the end of the line of the token before it.
    EndOfLine,
    /// On a line of its own.
    OwnLine,
    /// On the line of the token after it.
    BeforeToken,
}

/// Returns the comments before each significant token.
pub(super) fn comments(text: &str, all: &[Token]) -> Vec<Vec<Comment>> {
    let mut out: Vec<Vec<Comment>> = vec![Vec::new()];
    // True if nothing but comments came after the last line break.
    let mut at_line_start = false;
    for token in all {
        let last = out.last_mut().or_bug("there is a list for the next token");
        match token.kind {
            Kind::Blank if text[token.range].contains('\n') => {
                // The comments at the end of a line have no token after them on it.
                for comment in last
                    .iter_mut()
                    .filter(|comment| comment.position == CommentPosition::BeforeToken)
                {
                    comment.position = if at_line_start {
                        CommentPosition::OwnLine
                    } else {
                        CommentPosition::EndOfLine
                    };
                }
                at_line_start = true;
            }
            Kind::Blank => {}
            Kind::Comment | Kind::OpenComment | Kind::ForeignComment => {
                let text = text[token.range].to_owned();
                last.push(Comment { text, position: CommentPosition::BeforeToken });
            }
            _ => {
                out.push(Vec::new());
                at_line_start = false;
            }
        }
    }
    out
}
