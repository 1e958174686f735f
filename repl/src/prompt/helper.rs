//! Answers to the line editor while a line is typed: whether it is complete, and its completions.

use super::meta;
use nesl_engine::Session;
use nesl_interactive::entry::{Typed, typed};
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Result};
use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

/// The number of candidates for a completion that are shown, with their types, at most.
const MAX_CANDIDATES: usize = 500;

/// Answers the line editor from the session.
pub struct Helper {
    session: Rc<RefCell<Session>>,
    files: FilenameCompleter,
}

impl Helper {
    /// A helper for a session.
    pub fn new(session: Rc<RefCell<Session>>) -> Helper {
        Helper { session, files: FilenameCompleter::new() }
    }
}

impl Validator for Helper {
    fn validate(&self, context: &mut ValidationContext<'_>) -> Result<ValidationResult> {
        Ok(match typed(context.input()) {
            Typed::Whole | Typed::Unterminated => ValidationResult::Valid(None),
            Typed::Part => ValidationResult::Incomplete,
        })
    }
}

impl Completer for Helper {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        pos: usize,
        context: &Context<'_>,
    ) -> Result<(usize, Vec<Pair>)> {
        let before = &line[..pos];
        if let Some(names) = meta::complete(before) {
            return Ok((0, names.into_iter().map(plain).collect()));
        }
        if meta::wants_file(before) {
            return self.files.complete(line, pos, context);
        }
        let start = before.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let start =
            start.map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let prefix = &before[start..];
        if prefix.is_empty() || prefix.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok((pos, Vec::new()));
        }
        let found = self.session.borrow_mut().complete(&prefix.to_lowercase());
        let candidates = found.into_iter().take(MAX_CANDIDATES).map(|known| Pair {
            display: format!("{} : {}", known.name, known.ty),
            replacement: known.name,
        });
        Ok((start, candidates.collect()))
    }
}

impl Highlighter for Helper {
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(
        &'s self,
        prompt: &'p str,
        _default: bool,
    ) -> Cow<'b, str> {
        Cow::Owned(format!("\x1b[1;34m{prompt}\x1b[0m"))
    }
}

impl Hinter for Helper {
    type Hint = String;
}

impl rustyline::Helper for Helper {}

fn plain(text: String) -> Pair {
    Pair { display: text.clone(), replacement: text }
}
