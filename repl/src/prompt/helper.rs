//! Answers to the line editor while a line is typed: whether it is complete, and its completions.

use nesl_engine::Outlook;
use nesl_interactive::assist::Assist;
use nesl_interactive::completion::Completion;
use nesl_interactive::entry::{Typed, typed};
use nesl_interactive::state::commands::Commands;
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Result};
use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};

/// The number of candidates for a completion that are shown, with their types, at most.
const MAX_CANDIDATES: usize = 500;

/// Answers the line editor from what the next entry would see.
pub struct Helper {
    outlook: Outlook,
    commands: Commands,
    /// Made when it is first asked: a session begins without it.
    assist: OnceCell<RefCell<Assist>>,
}

impl Helper {
    /// A helper for a session with these commands.
    pub fn new(outlook: Outlook, commands: Commands) -> Helper {
        Helper { outlook, commands, assist: OnceCell::new() }
    }

    fn pair(&self, Completion { text, kind, ty }: Completion) -> Pair {
        let colon = if kind == "command" || ty.is_empty() { "  " } else { " : " };
        let display = format!("{text}{colon}{ty}").trim_end().to_owned();
        let takes_more =
            kind == "command" && self.commands.expand(&text).is_some_and(|c| !c.usage.is_empty());
        Pair { display, replacement: if takes_more { text + " " } else { text } }
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
        _context: &Context<'_>,
    ) -> Result<(usize, Vec<Pair>)> {
        let before = &line[..pos];
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let word = before.rfind(|c| !is_part(c)).map_or(0, |at| at + 1);
        let in_name = before[word..].starts_with(|c: char| !c.is_ascii_digit());
        if let Some(found) = self.commands.complete(line, pos) {
            let all = found.all.into_iter().map(|completion| self.pair(completion));
            return Ok((found.range.start, all.collect()));
        }
        // Where no name is begun, all names could stand.
        if !in_name {
            return Ok((pos, Vec::new()));
        }
        let assist = self.assist.get_or_init(|| {
            RefCell::new(Assist::new(self.outlook.clone()).with_commands(self.commands))
        });
        let found = assist.borrow_mut().complete(line, pos);
        let all = found.all.into_iter().take(MAX_CANDIDATES);
        Ok((found.range.start, all.map(|completion| self.pair(completion)).collect()))
    }
}

impl Highlighter for Helper {
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(
        &'s self,
        prompt: &'p str,
        _default: bool,
    ) -> Cow<'b, str> {
        Cow::Owned(colored_prompt(prompt))
    }
}

/// Returns the prompt in its colour.
pub fn colored_prompt(prompt: &str) -> String {
    format!("\x1b[1;34m{prompt}\x1b[0m")
}

impl Hinter for Helper {
    type Hint = String;
}

impl rustyline::Helper for Helper {}
