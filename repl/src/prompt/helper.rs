//! Answers to the line editor while a line is typed: its colours, its completions, and the hint in grey.

use super::highlight::{DIM, Painter};
use super::lines::{PAD, blanked, plain};
use super::terminal;
use nesl_engine::Outlook;
use nesl_interactive::assist::Assist;
use nesl_interactive::completion::Completion;
use nesl_interactive::entry::{Typed, typed};
use nesl_interactive::state::commands::Commands;
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hint, Hinter};
use rustyline::history::SearchDirection;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Result};
use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::sync::{Arc, OnceLock};

/// The number of candidates for a completion that are shown, with their types, at most.
const MAX_CANDIDATES: usize = 500;

/// The number of candidates that are shown, where any name may stand, at least.
const MIN_CANDIDATES: usize = 8;

/// The style of the prompt.
pub const PROMPT_STYLE: &str = "\x1b[1;34m";

/// A place for the outlook of the session on its next entry, filled once it has begun.
pub type Sight = Arc<OnceLock<Outlook>>;

/// Answers the line editor from what the next entry would see.
pub struct Helper {
    sight: Sight,
    commands: Commands,
    painter: Painter,
    /// True while the brackets at the cursor are shown: not in what was submitted.
    matches: Cell<bool>,
    /// Made when it is first asked: a session begins without it.
    assist: OnceCell<RefCell<Assist>>,
}

impl Helper {
    /// A helper for a session with these commands.
    pub fn new(sight: Sight, commands: Commands, colors: bool) -> Helper {
        let painter = Painter::new(colors, commands);
        Helper { sight, commands, painter, matches: Cell::new(true), assist: OnceCell::new() }
    }

    /// Returns a text of the editor as it is shown once it was submitted.
    pub fn shown(&self, text: &str) -> String {
        self.painter.paint_whole(text)
    }

    fn pair(&self, Completion { text, kind, ty }: Completion) -> Pair {
        // Behind some stands what they do instead of a type.
        let is_told = matches!(kind, "command" | "setting" | "stage");
        let colon = if is_told || ty.is_empty() { "  " } else { " : " };
        let mut display = format!("{text}{colon}{ty}").trim_end().to_owned();
        // What does not fit would go on in the next line, in the middle of a word.
        let width = terminal::screen().map_or(usize::MAX, |(columns, _)| columns.max(2) - 1);
        if display.chars().count() > width {
            display = display.chars().take(width - 1).chain(['…']).collect();
        }
        let takes_more =
            kind == "command" && self.commands.expand(&text).is_some_and(|c| !c.usage.is_empty());
        Pair { display, replacement: if takes_more { text + " " } else { text } }
    }

    fn cursor(&self, cursor: usize) -> Option<usize> {
        self.matches.get().then_some(cursor)
    }
}

impl Validator for Helper {
    /// Only terminals without a line editor need the answer; the keys of the editor decide otherwise. A message, if
    /// only an empty one, has the editor paint the text once more, which then is whole.
    fn validate(&self, context: &mut ValidationContext<'_>) -> Result<ValidationResult> {
        Ok(match typed(&plain(context.input())) {
            _ if self.painter.is_high(context.input()) => {
                ValidationResult::Valid(Some(String::new()))
            }
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
        let line = &*blanked(line);
        // The name of `?name` is completed as any other.
        let asked = line.replacen('?', " ", usize::from(line.trim_start().starts_with('?')));
        let line = asked.as_str();
        let before = &line[..pos];
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let word = before.trim_end_matches(is_part).len();
        let in_name = before[word..].starts_with(|c: char| !c.is_ascii_digit());
        // These need no session, which may not have begun.
        let without = self.commands.complete(line, pos);
        if let Some(found) = without.or_else(|| self.commands.complete_file(line, pos)) {
            let all = found.all.into_iter().map(|completion| self.pair(completion));
            return Ok((found.range.start, all.collect()));
        }
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        // At the beginning of a line, Tab asks for nothing.
        if !in_name && before[line_start..].trim().is_empty() {
            return Ok((pos, Vec::new()));
        }
        let Some(outlook) = self.sight.get() else {
            let options = self.commands.options(line, pos).into_iter();
            return Ok((word, options.map(|option| self.pair(option)).collect()));
        };
        let assist = self.assist.get_or_init(|| {
            RefCell::new(Assist::new(outlook.clone()).with_commands(self.commands))
        });
        let found = assist.borrow_mut().complete(line, pos);
        let most = if in_name { MAX_CANDIDATES } else { rows() };
        let more = found.all.len().saturating_sub(most);
        let all = found.all.into_iter().take(most);
        let mut pairs: Vec<Pair> = all.map(|completion| self.pair(completion)).collect();
        if more > 0 && !in_name {
            let display = format!("… and {more} more, by their first letters");
            pairs.push(Pair { display, replacement: String::new() });
        }
        Ok((found.range.start, pairs))
    }
}

/// Returns the number of candidates that the screen holds together with the entry.
fn rows() -> usize {
    terminal::screen()
        .map_or(MIN_CANDIDATES, |(_, rows)| rows.saturating_sub(4).max(MIN_CANDIDATES))
}

impl Highlighter for Helper {
    fn highlight<'l>(&self, line: &'l str, pos: usize) -> Cow<'l, str> {
        Cow::Owned(self.painter.paint(line, self.cursor(pos)))
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(
        &'s self,
        prompt: &'p str,
        _default: bool,
    ) -> Cow<'b, str> {
        Cow::Owned(self.painter.paint_prompt(PROMPT_STYLE, prompt))
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(self.painter.colored(DIM, hint))
    }

    fn highlight_char(&self, line: &str, pos: usize, kind: CmdKind) -> bool {
        self.matches.set(kind != CmdKind::ForcedRefresh);
        self.painter.must_repaint(line, self.cursor(pos))
    }
}

/// The rest of an entry that begins as the line does.
#[derive(Debug, PartialEq, Eq)]
pub struct Rest {
    /// The part that is shown: that of the first line.
    shown: String,
    /// The rest with all its lines.
    whole: String,
}

impl Hint for Rest {
    fn display(&self) -> &str {
        &self.shown
    }

    fn completion(&self) -> Option<&str> {
        Some(&self.whole)
    }
}

impl Hinter for Helper {
    type Hint = Rest;

    /// Returns the rest of the last entry that begins with the line, if the cursor is at its end. Without colours
    /// it could not be told from what was typed, so there is none.
    fn hint(&self, line: &str, pos: usize, context: &Context<'_>) -> Option<Rest> {
        if !self.painter.has_colors() || line.trim().is_empty() || pos < line.len() {
            return None;
        }
        let history = context.history();
        let last = history.len().checked_sub(1)?;
        let start = context.history_index().min(last);
        let found = history.starts_with(line, start, SearchDirection::Reverse).ok()??;
        let whole = found.entry.get(line.len()..).filter(|rest| !rest.is_empty())?.to_owned();
        let shown = match whole.split_once(&format!("\n{PAD}")) {
            Some((first, _)) => format!("{first} …"),
            None => whole.clone(),
        };
        // There is no room for it.
        (!self.painter.is_high(&format!("{line}{shown}"))).then_some(Rest { shown, whole })
    }
}

impl rustyline::Helper for Helper {}
