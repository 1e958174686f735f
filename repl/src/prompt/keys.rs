//! The keys that the prompt gives a meaning of its own.
//!
//! | key | meaning |
//! |---|---|
//! | Enter | submits what the parser calls complete, otherwise begins a further, indented line |
//! | Alt-Enter | begins a further line |
//! | Up, Down | move between lines, then walk through the entries that begin as the line does |
//! | Backspace, Left, Home | treat the mark of a further line as part of the line's end |
//! | Ctrl-F9 to Ctrl-F12 | are how the relay of keys tells the editor what was pasted |

use super::history::Walk;
use super::lines::{PAD, next_line, padded, plain};
use super::paste::is_submitted;
use super::relay::Pasted;
use nesl_interactive::state::commands::Commands;
use rustyline::history::History;
use rustyline::{
    At, CharSearch, Cmd, ConditionalEventHandler, EditMode, Editor, Event, EventContext,
    EventHandler, Helper, KeyCode, KeyEvent, Modifiers, Movement, RepeatCount, Word,
};

/// The state and the commands that the keys share with the prompt.
#[derive(Clone)]
pub struct Known {
    /// The walk through the history.
    pub walk: Walk,
    /// The commands of the prompt.
    pub commands: Commands,
    /// The text that was pasted.
    pub pasted: Pasted,
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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Enter,
    Line,
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
        _event: &Event,
        _count: RepeatCount,
        _positive: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        let (text, cursor) = (context.line(), context.pos());
        let behind_padding = text[..cursor].ends_with(&format!("\n{PAD}"));
        let line_end = Movement::ViCharSearch(1, CharSearch::Backward('\n'));
        let Known { walk, commands, pasted } = &self.known;
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
            Action::Delete | Action::Left => None,
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

/// Plays keys that were pressed while nobody read them: returns the texts that were submitted, and the one that
/// is still in the editor. Of the keys that are no characters, those that delete and Enter are known.
pub fn played(keys: &[u8], commands: Commands) -> (Vec<String>, String) {
    let (mut submitted, mut text) = (Vec::new(), String::new());
    for key in String::from_utf8_lossy(keys).chars() {
        match key {
            '\r' | '\n' if is_submitted(&text, commands) => {
                submitted.push(std::mem::take(&mut text))
            }
            '\r' | '\n' => {
                let line = begun_line(&text);
                text += &line;
            }
            '\x08' | '\x7f' => drop(text.pop()),
            '\x15' => text.clear(),
            key if key.is_control() => {}
            key => text.push(key),
        }
    }
    (submitted, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_played_as_they_were_pressed() {
        let played = |keys: &[u8]| played(keys, Commands::default());
        let (submitted, text) = played(b"1 + 2\rf(\r3)\rwronx\x7fg\r\x1b2 +");
        assert_eq!(submitted, ["1 + 2".to_owned(), format!("f(\n{PAD}  3)"), "wrong".to_owned()]);
        assert_eq!(text, "2 +");
        assert_eq!(played(b""), (Vec::new(), String::new()));
    }

    #[test]
    fn a_further_line_is_padded_and_indented() {
        assert_eq!(line("f({a :", 6), Cmd::Insert(1, format!("\n{PAD}    ")));
        assert_eq!(line("\"a", 2), Cmd::Insert(1, format!("\n{PAD}")));
    }
}
