//! The shape of the cursor, which tells the modes of vi: a bar where keys are text, an underline where they write over
//! it, and a block where they are commands. With the keys of Emacs, the cursor is as the terminal has it.

use rustyline::{EventContext, InputMode, KeyCode, KeyEvent, Modifiers};
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

/// The shape that the terminal shows by itself, as DECSCUSR numbers it.
const OWN: u8 = 0;
/// The shape that is shown.
static SHOWN: AtomicU8 = AtomicU8::new(OWN);
/// True for a terminal that knows shapes, once that was asked.
static HAS_SHAPES: OnceLock<bool> = OnceLock::new();

/// Shows the mode in which a line begins.
pub fn begin() {
    show(shape(InputMode::Insert));
}

/// Shows the cursor as the terminal has it; returns what [`resume`] shows again.
pub fn leave() -> u8 {
    show(OWN)
}

/// Shows the mode again that was shown before [`leave`].
pub fn resume(shown: u8) {
    show(shown);
}

/// Shows the mode in which a key leaves the editor that has the keys of vi.
pub fn follow(key: &KeyEvent, context: &EventContext<'_>) {
    let before = context.input_mode();
    let KeyEvent(code, modifiers) = *key;
    let after = match (code, modifiers, before) {
        (KeyCode::Esc, _, _) => InputMode::Command,
        (KeyCode::Char(_), Modifiers::ALT, InputMode::Insert | InputMode::Replace) => {
            InputMode::Command
        }
        (KeyCode::Char('R' | 'S'), Modifiers::CTRL, InputMode::Command) => InputMode::Insert,
        (KeyCode::Char(c), Modifiers::NONE, InputMode::Command) => match c {
            'a' | 'A' | 'c' | 'C' | 'i' | 'I' | 's' | 'S' => InputMode::Insert,
            'R' => InputMode::Replace,
            _ => before,
        },
        _ => before,
    };
    show(shape(after));
}

fn shape(mode: InputMode) -> u8 {
    match mode {
        InputMode::Command => 2,
        InputMode::Replace => 4,
        InputMode::Insert => 6,
    }
}

/// Shows a shape; returns the one that was shown before.
fn show(shape: u8) -> u8 {
    let before = SHOWN.swap(shape, Ordering::Relaxed);
    let has_shapes = HAS_SHAPES.get_or_init(|| {
        let term = std::env::var("TERM").unwrap_or_default();
        !matches!(&*term, "" | "dumb" | "linux" | "cons25" | "emacs")
    });
    if before != shape && *has_shapes {
        let mut stdout = std::io::stdout().lock();
        // Failing to write is found by the editor.
        let _ = write!(stdout, "\x1b[{shape} q").and_then(|()| stdout.flush());
    }
    before
}
