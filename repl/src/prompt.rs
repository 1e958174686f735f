//! The interactive session, and forms read from a pipe.

mod definitions;
mod front;
mod helper;
mod history;
mod meta;
mod piped;

use crate::cli::{Global, Measures};
use crate::exit::OK;
use crate::interrupt;
use crate::report::Reporter;
use crate::runtimes::RUNTIMES;
use anyhow::Result;
use definitions::{Files, Shown};
use front::{PromptFront, Shared};
use helper::Helper;
use nesl_engine::Settings;
use nesl_interactive::display::Style;
use nesl_interactive::output::Outcome;
use nesl_interactive::state::{Setup, State};
use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::{Behavior, ColorMode, CompletionType, Config, Editor};
use std::cell::{Cell, RefCell};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::rc::Rc;

/// The prompt. Further lines of a form are indented under it.
const PROMPT: &str = "nesl> ";

/// The continuation after an entry: the session goes on, or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Go,
    Leave,
}

/// Reads forms and runs them until there are no more. What the files define is known from the start; `first` is
/// entered before anything is read.
pub fn run(
    global: &Global,
    measures: Measures,
    files: &[PathBuf],
    first: Option<String>,
) -> Result<u8> {
    let mut state = State::new(setup(global)).map_err(|missing| global.missing(&missing))?;
    interrupt::install(&state.session);
    let mut reporter = Reporter::without_session(global);
    reporter.measure(&mut state.session, measures);
    if let Some(profile) = reporter.profile() {
        state.time_all_kernels(profile);
    }
    let shared = Rc::new(Shared {
        reporter: RefCell::new(reporter),
        files: Files::new(files)?,
        lines: Cell::new(0),
        code: Cell::new(OK),
        json: measures.json,
        colors: (global.colors(&std::io::stdout()), global.colors(&std::io::stderr())),
    });
    state.set_front(Box::new(PromptFront(shared.clone())));
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        interact(global, &shared, state, first)
    } else {
        let code = {
            let mut reporter = shared.reporter.borrow_mut();
            shared.files.enter(&mut reporter, &mut state.session, Shown::Nothing)
        };
        shared.code.set(code);
        if let Some(first) = first
            && enter(&shared, &mut state, &first, 0) == Flow::Leave
        {
            return Ok(shared.code.get());
        }
        piped::run(&shared, state)
    }
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
        display: Style { html: false },
        extra: meta::EXTRA,
    }
}

fn interact(
    global: &Global,
    shared: &Shared,
    mut state: State,
    mut first: Option<String>,
) -> Result<u8> {
    interrupt::keep_session();
    if !global.quiet {
        println!(
            "NESL {}. :help tells what there is, :quit or Ctrl-D leaves.",
            env!("CARGO_PKG_VERSION")
        );
    }
    let shown = if global.quiet { Shown::Nothing } else { Shown::Names };
    shared.files.enter(&mut shared.reporter.borrow_mut(), &mut state.session, shown);
    let config = Config::builder()
        .auto_add_history(false)
        .history_ignore_dups(true)?
        .max_history_size(10_000)?
        .completion_type(CompletionType::List)
        .bracketed_paste(true)
        .behavior(Behavior::Stdio)
        .color_mode(if shared.colors.0 { ColorMode::Enabled } else { ColorMode::Disabled })
        .build();
    let mut editor: Editor<Helper, DefaultHistory> = Editor::with_config(config)?;
    editor.set_helper(Some(Helper::new(state.session.outlook(), state.commands())));
    let history = history::path();
    if let Some(path) = &history {
        // There is none the first time.
        let _ = editor.load_history(path);
    }
    let mut entries = 0;
    loop {
        let read = match first.take() {
            Some(text) => {
                show_entered(&text, shared.colors.0);
                Ok(text)
            }
            None => editor.readline(PROMPT),
        };
        let text = match read {
            Ok(text) => text,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(error.into()),
        };
        if text.trim().is_empty() {
            continue;
        }
        let _ = editor.add_history_entry(text.trim_end());
        if let Some(path) = &history {
            // Kept after every entry: a session may end in any way. Failing to is no reason to
            // disturb it.
            let _ = history::save(&mut editor, path);
        }
        entries += 1;
        if enter(shared, &mut state, &text, entries) == Flow::Leave {
            break;
        }
    }
    shared.reporter.borrow().stats(&state.session);
    Ok(OK)
}

/// Shows an entry as if it had been typed at the prompt.
fn show_entered(text: &str, colors: bool) {
    let indented = text.trim_end().replace('\n', &format!("\n{}", " ".repeat(PROMPT.len())));
    match colors {
        true => println!("{}{indented}", helper::colored_prompt(PROMPT)),
        false => println!("{PROMPT}{indented}"),
    }
}

/// Runs one entry. A bug of ours must not cost a person the session.
fn enter(shared: &Shared, state: &mut State, text: &str, number: usize) -> Flow {
    let entered = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        match shared.enter(state, &format!("<entry {number}>"), text) {
            Outcome::Exit => Flow::Leave,
            Outcome::Done | Outcome::Failed(_) | Outcome::Interrupted | Outcome::Aborted => {
                Flow::Go
            }
        }
    }));
    let mut reporter = shared.reporter.borrow_mut();
    reporter.output.settle();
    if let Err(error) = reporter.write_pictures(&state.session) {
        eprintln!("nesl: {error:#}");
    }
    entered.unwrap_or_else(|_| {
        eprintln!("The session goes on.");
        Flow::Go
    })
}
