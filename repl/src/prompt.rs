//! The interactive session, and forms read from a pipe.

mod definitions;
mod helper;
mod history;
mod meta;
mod piped;

use crate::cli::{Global, Measures};
use crate::exit::OK;
use crate::interrupt;
use crate::report::Reporter;
use anyhow::Result;
use definitions::{Files, Shown};
use helper::Helper;
use nesl_engine::Session;
use nesl_interactive::entry::close;
use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::{Behavior, ColorMode, CompletionType, Config, Editor};
use std::cell::RefCell;
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

/// Reads forms and runs them until there are no more. What the files define is known from the start.
pub fn run(global: &Global, measures: Measures, files: &[PathBuf]) -> Result<u8> {
    let (mut reporter, mut session) = Reporter::new(global)?;
    reporter.measure(&mut session, measures);
    let files = Files::new(files)?;
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        interact(global, reporter, session, &files)
    } else {
        let code = files.enter(&mut reporter, &mut session, Shown::Nothing);
        piped::run(reporter, session, code)
    }
}

fn interact(
    global: &Global,
    mut reporter: Reporter,
    mut session: Session,
    files: &Files,
) -> Result<u8> {
    interrupt::keep_session();
    if !global.quiet {
        println!(
            "NESL {}. :help tells what there is, :quit or Ctrl-D leaves.",
            env!("CARGO_PKG_VERSION")
        );
    }
    let shown = if global.quiet { Shown::Nothing } else { Shown::Names };
    files.enter(&mut reporter, &mut session, shown);
    let session = Rc::new(RefCell::new(session));
    let colors = global.colors(&std::io::stdout());
    let config = Config::builder()
        .auto_add_history(false)
        .history_ignore_dups(true)?
        .max_history_size(10_000)?
        .completion_type(CompletionType::List)
        .bracketed_paste(true)
        .behavior(Behavior::Stdio)
        .color_mode(if colors { ColorMode::Enabled } else { ColorMode::Disabled })
        .build();
    let mut editor: Editor<Helper, DefaultHistory> = Editor::with_config(config)?;
    editor.set_helper(Some(Helper::new(session.clone())));
    let history = history::path();
    if let Some(path) = &history {
        // There is none the first time.
        let _ = editor.load_history(path);
    }
    let mut entries = 0;
    loop {
        let text = match editor.readline(PROMPT) {
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
        let mut session = session.borrow_mut();
        let flow = enter(&mut reporter, &mut session, files, &text, entries);
        if flow == Flow::Leave {
            break;
        }
    }
    reporter.stats(&session.borrow());
    Ok(OK)
}

/// Runs one entry. A bug of ours must not cost a person the session.
fn enter(
    reporter: &mut Reporter,
    session: &mut Session,
    files: &Files,
    text: &str,
    number: usize,
) -> Flow {
    let entered = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        if let Some(command) = meta::parse(text) {
            return meta::run(reporter, session, files, command);
        }
        let name = format!("<entry {number}>");
        let summary = reporter.enter(session, &name, &close(text));
        if summary.exit { Flow::Leave } else { Flow::Go }
    }));
    reporter.output.settle();
    if let Err(error) = reporter.write_pictures(session) {
        eprintln!("nesl: {error:#}");
    }
    entered.unwrap_or_else(|_| {
        eprintln!("The session goes on.");
        Flow::Go
    })
}
