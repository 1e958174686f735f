//! The interactive session, and forms read from a pipe.
//!
//! | module | contents |
//! |---|---|
//! | `talk` | a person and a session: lines are read, entries run, one after the other |
//! | `session` | the session on a thread of its own, from its beginning to its end |
//! | `front` | what comes of entries, shown |
//! | `keys`, `helper`, `highlight`, `history` | what the line editor asks: keys, completions, colours, entries before |
//! | `mode` | the shape of the cursor, for the modes of vi |
//! | `window` | the rows of an entry that the screen shows, if it has more |
//! | `tokens` | the tokens of the entry that is typed, kept from key to key |
//! | `reflow` | what a terminal does to an entry when its width changes |
//! | `lines` | the text in the editor ↔ the text of an entry |
//! | `relay`, `pieces` | the keys between the terminal and the line editor: what was pasted is known as such |
//! | `paste` | a text of several lines → the entries in it; transcripts |
//! | `canvas`, `sixel`, `terminal` | plots as pictures on the screen: which, how, and what the terminal can show |
//! | `meta`, `edit`, `pager` | the prompt's own commands; the user's own editor and pager |
//! | `definitions` | the files that a session begins with |
//! | `piped` | entries from a pipe |

mod canvas;
mod definitions;
mod edit;
mod front;
mod helper;
mod highlight;
mod history;
mod keys;
mod lines;
mod meta;
mod mode;
mod pager;
mod paste;
mod pieces;
mod piped;
mod reflow;
mod relay;
mod session;
mod sixel;
mod talk;
mod terminal;
mod tokens;
mod window;

use crate::cli::{Global, Measures};
use crate::interrupt;
use crate::output::Output;
use crate::runtimes::RUNTIMES;
use anyhow::Result;
use definitions::{Files, Shown};
use front::Shared;
use nesl_engine::Settings;
use nesl_interactive::display::Style;
use nesl_interactive::output::Outcome;
use nesl_interactive::state::{Setup, State};
use std::io::IsTerminal;
use std::path::PathBuf;

/// Reads forms and runs them until there are no more. What the files define is known from the start; `first` is
/// entered before anything is read.
pub fn run(
    global: &Global,
    measures: Measures,
    files: &[PathBuf],
    first: Option<&str>,
) -> Result<u8> {
    let files = Files::new(files)?;
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        return talk::talk(global, measures, files, first);
    }
    let mut state = State::new(setup(global)).map_err(|missing| global.missing(&missing))?;
    interrupt::install(&state.session);
    // Nobody reads errors before the next form comes.
    state.session.take_entries_as_one();
    let output = Output::stdout();
    let shared = Shared::connected(global, measures, files, output, None, &mut state);
    let code = {
        let mut reporter = shared.reporter.borrow_mut();
        shared.files.enter(&mut reporter, &mut state.session, Shown::Nothing).code
    };
    shared.code.set(code);
    if let Some(first) = first
        && matches!(shared.enter(&mut state, "<first>", first), Outcome::Exit)
    {
        return Ok(shared.code.get());
    }
    piped::run(&shared, state)
}

/// Returns how the session begins.
fn setup(global: &Global) -> Setup {
    let settings = global.settings();
    Setup {
        // It depends on the runtime, too, which may change.
        settings: Settings { interpret_first: !global.always_compile, ..settings },
        runtimes: &RUNTIMES,
        runtime: global.runtime,
        options: global.options(),
        idle: None,
        display: Style::default(),
        extra: meta::EXTRA,
    }
}
