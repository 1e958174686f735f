//! The keys that the prompt gives a meaning of its own.
//!
//! | key | meaning |
//! |---|---|
//! | Enter | submits what the parser calls complete, otherwise begins a further, indented line |
//! | Alt-Enter | begins a further line |
//! | Up, Down | move between lines, then walk through the entries that begin as the line does |
//! | Esc | ends a search, and leaves what was found in the line (Ctrl-G brings back what was typed) |
//! | Backspace, Left, Home | treat the mark of a further line as part of the line's end |
//! | Ctrl-F9 to Ctrl-F12 | are how the relay of keys tells the editor what was pasted |

use super::history::Walk;
use super::lines::{PAD, next_line, padded, plain};
use super::mode;
use super::paste::is_submitted;
use super::relay::Pasted;
use nesl_interactive::state::commands::Commands;
use rustyline::history::History;
use rustyline::{
    At, CharSearch, Cmd, ConditionalEventHandler, EditMode, Editor, Event, EventContext,
    EventHandler, Helper, KeyCode, KeyEvent, Modifiers, Movement, RepeatCount, Word,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The state and the commands that the keys share with the prompt.
#[derive(Clone)]
pub struct Known {
    /// The walk through the history.
    pub walk: Walk,
    /// The commands of the prompt.
    pub commands: Commands,
    /// The text that was pasted.
    pub pasted: Pasted,
    /// True while the history is searched.
    pub searches: Arc<AtomicBool>,
}

/// Binds the keys.
pub fn bind<H: Helper, I: History>(editor: &mut Editor<H, I>, known: &Known) {
    let mut bind = |key: KeyEvent, action: Action| {
        let handler = Box::new(Key { action, known: known.clone() });
        editor.bind_sequence(key, EventHandler::Conditional(handler));
    };
    let plain = |code| KeyEvent(code, Modifiers::NONE);
    for key in [plain(KeyCode::Enter), KeyEvent::ctrl('J'), KeyEvent::ctrl('M')] {
        bind(key, Action::Enter);
    }
    bind(KeyEvent(KeyCode::Enter, Modifiers::ALT), Action::Line);
    bind(plain(KeyCode::Esc), Action::Escape);
    bind(plain(KeyCode::Up), Action::Walk);
    bind(plain(KeyCode::Down), Action::Walk);
    bind(plain(KeyCode::Backspace), Action::Delete);
    bind(KeyEvent::ctrl('H'), Action::Delete);
    bind(plain(KeyCode::Left), Action::Left);
    bind(KeyEvent::ctrl('B'), Action::Left);
    bind(plain(KeyCode::Right), Action::Right);
    bind(plain(KeyCode::Home), Action::Home);
    bind(KeyEvent::ctrl('A'), Action::Home);
    let ctrl = |number| KeyEvent(KeyCode::F(number), Modifiers::CTRL);
    bind(ctrl(9), Action::Repaint);
    bind(ctrl(10), Action::Leave);
    bind(ctrl(11), Action::HandOver);
    bind(ctrl(12), Action::Insert);
    let handler = Box::new(Key { action: Action::Other, known: known.clone() });
    editor.bind_sequence(Event::Any, EventHandler::Conditional(handler));
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Enter,
    Line,
    Escape,
    Other,
    Walk,
    Delete,
    Left,
    Right,
    Home,
    Repaint,
    Insert,
    HandOver,
    Leave,
}

struct Key {
    action: Action,
    known: Known,
}

impl ConditionalEventHandler for Key {
    fn handle(
        &self,
        event: &Event,
        _count: RepeatCount,
        _positive: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        if context.mode() == EditMode::Vi
            && let Some(key) = event.get(0)
        {
            mode::follow(key, context);
        }
        let (text, cursor) = (context.line(), context.pos());
        let behind_padding = text[..cursor].ends_with(&format!("\n{PAD}"));
        let line_end = Movement::ViCharSearch(1, CharSearch::Backward('\n'));
        let Known { walk, commands, pasted, searches } = &self.known;
        match self.action {
            Action::Enter => Some(match is_submitted(text, *commands) {
                true => Cmd::AcceptLine,
                false => line(text, cursor),
            }),
            // Escape and Enter, one after the other, are the same keys.
            Action::Line if context.mode() == EditMode::Vi && is_submitted(text, *commands) => {
                Some(Cmd::AcceptLine)
            }
            Action::Line => Some(line(text, cursor)),
            // (With the keys of vi it leaves what was found without this.)
            Action::Escape => {
                let ends = searches.load(Ordering::Relaxed) && context.mode() == EditMode::Emacs;
                ends.then_some(Cmd::Repaint)
            }
            Action::Walk => {
                let line_ends = text[..cursor].contains('\n');
                let is_last = !text[cursor..].contains('\n');
                // Within an entry the keys move between its lines.
                if !line_ends || is_last {
                    walk.step(text, cursor);
                }
                None
            }
            // (The editor counts the characters of a movement anew, but not those that are searched for.)
            Action::Delete if behind_padding => Some(Cmd::Kill(line_end)),
            Action::Left if behind_padding => Some(Cmd::Move(line_end)),
            Action::Right => {
                let below = text[cursor..].strip_prefix(&format!("\n{PAD}"))?;
                let is_blank = below.split('\n').next().is_some_and(|line| line.trim().is_empty());
                Some(Cmd::Move(match is_blank {
                    true => Movement::LineDown(1),
                    false => Movement::ForwardWord(1, At::Start, Word::Big),
                }))
            }
            Action::Home => {
                let start = text[..cursor].rfind('\n')? + 1;
                let own = text[start..cursor].strip_prefix(PAD)?;
                let begin = Movement::ViCharSearch(1, CharSearch::BackwardAfter('\u{a0}'));
                Some(if own.is_empty() { Cmd::Noop } else { Cmd::Move(begin) })
            }
            Action::Delete | Action::Left | Action::Other => None,
            Action::Repaint => Some(Cmd::Repaint),
            Action::Insert => {
                Some(pasted.text().map_or(Cmd::Noop, |text| Cmd::Insert(1, padded(&text))))
            }
            Action::HandOver => Some(match pasted.hand_over(&text[..cursor], &text[cursor..]) {
                true => Cmd::Kill(Movement::WholeBuffer),
                false => Cmd::Noop,
            }),
            Action::Leave if pasted.is_handed_over() || pasted.is_ended() => Some(Cmd::AcceptLine),
            Action::Leave => Some(Cmd::Noop),
        }
    }
}

/// Returns the command that begins a further line.
fn line(text: &str, cursor: usize) -> Cmd {
    Cmd::Insert(1, begun_line(&text[..cursor]))
}

/// Returns what begins a further line behind a text of the editor.
fn begun_line(before: &str) -> String {
    format!("\n{PAD}{}", next_line(&plain(before)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_further_line_is_padded_and_indented() {
        assert_eq!(line("f({a :", 6), Cmd::Insert(1, format!("\n{PAD}    ")));
        assert_eq!(line("\"a", 2), Cmd::Insert(1, format!("\n{PAD}")));
    }
}
