//! Answers to the line editor while a line is typed: its colours, its completions, and the hint in grey.

use super::highlight::Painter;
use super::keys::Known;
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
use rustyline::{Context, GraphemeClusterMode, Result};
use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The number of candidates that are shown, where any name may stand, at least.
const MIN_CANDIDATES: usize = 8;

/// The rows of the screen that are left to the entry.
const ENTRY_ROWS: usize = 4;

/// The blank columns behind a candidate, which the line editor adds.
const COLUMN_GAP: usize = 2;

/// The columns and rows of a terminal that does not tell them.
const USUAL_SCREEN: (usize, usize) = (80, 24);

/// The part that all prompts have under which the line editor searches the history.
const SEARCH: &str = "reverse-i-search";

/// The style of the prompt.
pub const PROMPT_STYLE: &str = "\x1b[1;34m";

/// A place for the outlook of the session on its next entry, filled once it has begun.
pub type Sight = Arc<OnceLock<Outlook>>;

/// Answers the line editor from what the next entry would see.
pub struct Helper {
    sight: Sight,
    commands: Commands,
    painter: Painter,
    /// True while the history is searched, for the keys.
    searches: Arc<AtomicBool>,
    /// True while the brackets at the cursor are shown: not in what was submitted.
    matches: Cell<bool>,
    /// Made when it is first asked: a session begins without it.
    assist: OnceCell<RefCell<Assist>>,
}

impl Helper {
    /// A helper for a session with what the keys know.
    pub fn new(sight: Sight, known: &Known, colors: bool) -> Helper {
        let (commands, searches) = (known.commands, known.searches.clone());
        let painter = Painter::new(colors, commands);
        let (matches, assist) = (Cell::new(true), OnceCell::new());
        Helper { sight, commands, painter, searches, matches, assist }
    }

    /// Forgets the entry that was edited before: another one begins below it.
    pub fn begin(&self) {
        self.painter.begin();
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
            let all = found.all.into_iter().map(|completion| self.pair(completion)).collect();
            return Ok((found.range.start, listed(all, usize::MAX)));
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
        let most = if in_name { usize::MAX } else { rows() };
        let all = found.all.into_iter().map(|completion| self.pair(completion)).collect();
        Ok((found.range.start, listed(all, most)))
    }
}

/// Returns those candidates that the screen holds, of which there are at most `most`, and a line that says how many
/// more there are. A longer list would be shown page by page, and take keys that are meant for the line.
fn listed(all: Vec<Pair>, most: usize) -> Vec<Pair> {
    let screen = terminal::screen().unwrap_or(USUAL_SCREEN);
    let widths = GraphemeClusterMode::from_env();
    let width = |display: &str| usize::from(widths.width(display));
    let count = all.len();
    let widest = all.iter().map(|pair| width(&pair.display)).max().unwrap_or(0);
    if count <= most.min(places(widest, screen)) {
        return all;
    }
    let more = |count: usize| format!("… and {count} more, by their first letters");
    let hint: String = more(count).chars().take(screen.0.saturating_sub(1)).collect();
    let shown = most.min(places(widest.max(width(&hint)), screen).saturating_sub(1));
    // What all have in common is what Tab may take, and no more.
    let replacement = common(&all);
    let display = more(count - shown).chars().take(screen.0.saturating_sub(1)).collect();
    let mut pairs: Vec<Pair> = all.into_iter().take(shown).collect();
    pairs.push(Pair { display, replacement });
    pairs
}

/// Returns the number of candidates of some width that a screen holds, columns and rows, with the entry.
fn places(widest: usize, (columns, rows): (usize, usize)) -> usize {
    let across = columns / (widest + COLUMN_GAP).clamp(1, columns.max(1));
    across.max(1) * rows.saturating_sub(ENTRY_ROWS).max(MIN_CANDIDATES).min(rows.max(2) - 1)
}

/// Returns the beginning that the replacements of all candidates have in common.
fn common(all: &[Pair]) -> String {
    let Some((first, others)) = all.split_first() else { return String::new() };
    let mut end = first.replacement.len();
    for other in others {
        let same = first.replacement.chars().zip(other.replacement.chars());
        let same: usize = same.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
        end = end.min(same);
    }
    first.replacement[..end].to_owned()
}

/// Returns the number of candidates that the screen holds together with the entry.
fn rows() -> usize {
    terminal::screen()
        .map_or(MIN_CANDIDATES, |(_, rows)| rows.saturating_sub(ENTRY_ROWS).max(MIN_CANDIDATES))
}

impl Highlighter for Helper {
    fn highlight<'l>(&self, line: &'l str, pos: usize) -> Cow<'l, str> {
        Cow::Owned(self.painter.paint(line, self.cursor(pos)))
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(
        &'s self,
        prompt: &'p str,
        is_own: bool,
    ) -> Cow<'b, str> {
        self.searches.store(!is_own && prompt.contains(SEARCH), Ordering::Relaxed);
        Cow::Owned(self.painter.paint_prompt(PROMPT_STYLE, prompt))
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(self.painter.paint_hint(hint))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_candidates_are_listed_than_the_screen_holds() {
        // So many rows are a page of the line editor.
        for screen in [(80, 24), (40, 10), (20, 3), (200, 50), (1, 1)] {
            for widest in [1, 10, 30, 79, 500] {
                let across = screen.0 / (widest + COLUMN_GAP).min(screen.0);
                let rows = places(widest, screen).div_ceil(across);
                assert!(rows < screen.1.max(2), "{screen:?} {widest}");
            }
        }
        let pair = |name: String| Pair { display: name.clone(), replacement: name };
        let all: Vec<Pair> = (0..100_000).map(|n| pair(format!("read_{n}"))).collect();
        let shown = listed(all, usize::MAX);
        assert!(shown.len() < 1000);
        let last = shown.last().expect("a hint");
        assert!(last.display.starts_with("… and 99"), "{}", last.display);
        assert_eq!((&*last.replacement, &*common(&shown)), ("read_", "read_"));
    }
}
