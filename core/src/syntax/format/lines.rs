//! Joins forms and the comments between them into lines.

use crate::syntax::lex;
use crate::syntax::lexer::Kind;

/// The text written so far, and the part of it that is forms and comments: a line break there was not
/// made by the formatter (a character literal can be one).
#[derive(Default)]
pub(super) struct Lines {
    pub(super) text: String,
    /// The length in bytes of the text up to the end of the last form or comment.
    pub(super) solid: usize,
    /// True if a comment was written last.
    comment: bool,
}

impl Lines {
    /// Writes a form or comment.
    pub(super) fn solid(&mut self, text: &str) {
        self.text.push_str(text);
        self.solid = self.text.len();
        self.comment = false;
    }

    /// Writes the blanks and comments between forms: comments unchanged, on the line they were on, with at
    /// most one empty line between two. The blanks after the last comment are left to the next writer.
    pub(super) fn blanks(&mut self, trivia: &str) {
        let mut lines = 0;
        for token in lex(trivia) {
            let text = &trivia[token.range];
            if token.kind == Kind::Blank {
                lines += text.matches('\n').count();
                continue;
            }
            match lines {
                _ if self.text.is_empty() => {}
                0 => self.text.push(' '),
                1 => self.end(),
                _ => {
                    self.end();
                    self.text.push('\n');
                }
            }
            // A comment that is never closed contains the end of the text.
            let open = token.kind == Kind::OpenComment;
            self.solid(if open { text.trim_end_matches('\n') } else { text });
            self.comment = true;
            lines = 0;
        }
        // Kept as line ends for the next form.
        if !self.text.is_empty() {
            self.text.push_str(["", "\n", "\n\n"][lines.min(2)]);
        }
    }

    /// Begins a line for a form.
    pub(super) fn start(&mut self) {
        if !self.text.is_empty() && !self.text[self.solid..].ends_with('\n') {
            // After a comment the form may stay on the same line.
            self.text.push(if self.comment { ' ' } else { '\n' });
        }
    }

    /// Ends the last line, without empty lines after it.
    pub(super) fn end(&mut self) {
        while self.text[self.solid..].ends_with("\n\n") {
            self.text.pop();
        }
        if !self.text[self.solid..].ends_with('\n') {
            self.text.push('\n');
        }
    }
}
