//! The session of the prompt, on a thread of its own: the first line can be typed while a device is opened, the
//! files of the session are read, or the user's own definitions are.
//!
//! The prompt gives it entries one by one, and waits for each. What is printed before the prompt gives it the
//! first one appears above the line that is being typed.

use super::canvas::Canvas;
use super::definitions::{Files, Shown};
use super::front::{Editing, Shared};
use super::helper::Sight;
use super::highlight::{DIM, PLAIN};
use super::piped::ends_form;
use super::setup;
use crate::cli::{Global, Measures};
use crate::folders;
use crate::interrupt;
use crate::output::Output;
use crate::source;
use nesl_core::base::Diagnostic;
use nesl_core::syntax::{RawKind, split};
use nesl_engine::{FileRange, Progress};
use nesl_interactive::entry::close;
use nesl_interactive::output::Outcome;
use nesl_interactive::state::State;
use nesl_interactive::state::commands::Commands;
use rustyline::ExternalPrinter;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// The number of names of an entry whose types are told after an error of types.
const MAX_PARTS: usize = 8;

/// A request of the prompt to the session.
pub enum Job {
    /// Run an entry: its number, and its text; the last is true if it goes on the one before, so that both are
    /// taken back together.
    Enter(usize, String, bool),
    /// Show what is wanted at the end, and end.
    Leave,
}

/// An answer of the session to the prompt.
pub enum Reply {
    /// It has begun; what it has printed.
    Ready(String),
    /// It cannot begin: this machine lacks the runtime, for a reason.
    Missing(String),
    /// An entry has ended.
    Done(Done),
    /// It has ended.
    Left,
}

/// The continuation after an entry: the session goes on, or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// The session goes on.
    Go,
    /// The session ends.
    Leave,
}

/// The outcome of an entry, as the prompt needs it.
#[derive(Clone, Copy)]
pub struct Done {
    /// Says whether the session goes on.
    pub flow: Flow,
    /// True if something was wrong with the entry.
    pub has_failed: bool,
    /// The number of launches.
    pub launches: u64,
    /// The time for which a person read or wrote in a program of their own.
    pub away: Duration,
    /// The number of pictures that could not be written.
    pub unsaved: usize,
    /// The keys that the line editor has from now on.
    pub editing: Editing,
}

/// The state that the prompt and the session's thread share.
pub struct Link {
    /// The standard output of the process.
    pub output: Output,
    /// The outlook of the session on its next entry.
    pub sight: Sight,
    /// The progress of the entry that runs.
    pub progress: OnceLock<Progress>,
    /// True once a line is being typed.
    pub typing: Mutex<bool>,
    /// The screen, for plots.
    pub canvas: Arc<Canvas>,
}

/// Begins a session, and runs the entries of the queue until it ends.
pub fn serve<P: ExternalPrinter>(
    global: &Global,
    measures: Measures,
    files: Files,
    (queue, replies): (&Receiver<Job>, &Sender<Reply>),
    link: &Arc<Link>,
    mut printer: Option<P>,
) {
    link.output.hold();
    let begun = State::new(setup(global));
    let mut state = match begun {
        Ok(state) => state,
        Err(missing) => {
            link.output.release();
            let _ = replies.send(Reply::Missing(missing));
            return;
        }
    };
    let _ = link.sight.set(state.session.outlook());
    let _ = link.progress.set(state.session.progress());
    interrupt::attach(&state.session);
    let canvas = Some(link.canvas.clone());
    let shared =
        Shared::connected(global, measures, files, link.output.clone(), canvas, &mut state);
    let shown = if global.quiet { Shown::Nothing } else { Shown::Names };
    shared.files.enter(&mut shared.reporter.borrow_mut(), &mut state.session, shown);
    if let Some(path) = rc_file() {
        interrupt::while_beginning(|| own_definitions(&shared, &mut state, &path));
    }
    // Only now is it certain who shows what was printed.
    {
        let typing = link.typing.lock().unwrap_or_else(PoisonError::into_inner);
        let printed = link.output.release();
        match &mut printer {
            Some(printer) if *typing && !printed.is_empty() => {
                let _ = printer.print(printed);
                let _ = replies.send(Reply::Ready(String::new()));
            }
            _ => drop(replies.send(Reply::Ready(printed))),
        }
    }
    while let Ok(Job::Enter(number, text, goes_on)) = queue.recv() {
        if goes_on {
            state.session.go_on_entry();
        }
        let done = enter(&shared, &mut state, &text, number);
        if replies.send(Reply::Done(done)).is_err() {
            break;
        }
    }
    shared.reporter.borrow().stats(&state.session);
    let _ = replies.send(Reply::Left);
}

/// Returns the file with the user's own definitions: `NESL_RC`, or `rc.nesl` in the folder of the user's
/// settings. An empty `NESL_RC` says that none is wanted.
fn rc_file() -> Option<PathBuf> {
    let path = match std::env::var_os("NESL_RC") {
        Some(path) => PathBuf::from(path),
        None => folders::config()?.join("rc.nesl"),
    };
    path.is_file().then_some(path)
}

/// Runs the user's own definitions and commands. Only what is wrong with them is shown.
fn own_definitions(shared: &Rc<Shared>, state: &mut State, path: &std::path::Path) {
    let file = match source::read(path) {
        Ok(file) => file,
        Err(error) => {
            return shared.reporter.borrow().output.message(&format!("nesl: {error:#}\n"));
        }
    };
    shared.reporter.borrow_mut().set_quiet(true);
    let commands = state.commands();
    let (mut start, mut interrupted) = (0, false);
    while !interrupted && !file.text[start..].trim().is_empty() {
        // What is wrong with one part says nothing of those below.
        let (end, outcome) = match commands.first(&file.text, start) {
            Some((_, end)) => {
                let before = start + blanks(&file.text[start..]);
                let line = file.text[..before].matches('\n').count() + 1;
                let title = format!("{}:{line}", file.name);
                (end, shared.enter_titled(state, &title, &file.text[before..end]))
            }
            None => {
                let end = start + end_of_forms(commands, &file.text[start..]);
                // So the lines are those of the file.
                let above = file.text[..start].chars().map(|c| if c == '\n' { '\n' } else { ' ' });
                let forms = above.collect::<String>() + &file.text[start..end];
                (end, shared.enter(state, &file.name, &forms))
            }
        };
        interrupted = outcome == Outcome::Interrupted;
        start = end;
    }
    shared.reporter.borrow_mut().set_quiet(false);
}

/// Returns the byte at which the forms end that a text begins with: before the next command, or at its end.
fn end_of_forms(commands: Commands, text: &str) -> usize {
    let starts = text.match_indices('\n').map(|(at, _)| at + 1);
    let mut commands_below = starts
        .filter(|at| ends_form(commands, &text[..*at], text[*at..].lines().next().unwrap_or("")));
    commands_below.next().unwrap_or(text.len())
}

/// Returns the number of bytes of the blanks that a text begins with.
fn blanks(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// Runs one entry. A bug of ours must not cost a person the session.
fn enter(shared: &Shared, state: &mut State, text: &str, number: usize) -> Done {
    shared.launches.set(0);
    shared.has_result.set(false);
    shared.away.take();
    let result = format!("it{number}");
    let forms = split(&close(text));
    let expressions = forms.iter().filter(|form| form.kind == RawKind::Expr).count();
    // Of several results it would not be clear which has the name.
    let is_named = expressions == 1 && !text.trim_start().starts_with(':');
    if let Some(screen) = &mut shared.reporter.borrow_mut().screen {
        let shown = is_named && shared.colors.0 && !state.session.is_taken(&result);
        screen.result = if shown { format!("  {DIM}{result}{PLAIN}") } else { String::new() };
    }
    let mut has_failed = true;
    let entered = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        if interrupt::is_pressed() {
            // While the session began.
            shared.reporter.borrow().output.message("Interrupted.\n");
            return Flow::Go;
        }
        match shared.enter(state, &format!("In [{number}]"), text) {
            Outcome::Exit => Flow::Leave,
            outcome => {
                has_failed = outcome != Outcome::Done;
                Flow::Go
            }
        }
    }));
    let told = shared.reporter.borrow().type_error().map(|error| parts(state, text, error));
    if let Some(told) = told.filter(|told| !told.is_empty()) {
        shared.dim(&told.join(";  "));
    }
    if !text.trim_start().starts_with(':') {
        shared.last.replace(text.to_owned());
    }
    if is_named && shared.has_result.get() && matches!(entered, Ok(Flow::Go)) {
        state.session.name_result(&result);
    }
    let mut reporter = shared.reporter.borrow_mut();
    reporter.output.settle();
    if let Err(error) = reporter.write_pictures(&state.session) {
        reporter.output.message(&format!("nesl: {error:#}\n"));
    }
    let flow = entered.unwrap_or_else(|_| {
        reporter.output.message("The session goes on.\n");
        Flow::Go
    });
    let (launches, editing) = (shared.launches.get(), shared.editing.get());
    let unsaved = reporter.unsaved_pictures();
    Done { flow, has_failed, launches, away: shared.away.take(), unsaved, editing }
}

/// Returns the types of the user's own names in an entry with an error of types, but for those that the message
/// has told.
fn parts(state: &State, text: &str, error: &Diagnostic<FileRange>) -> Vec<String> {
    let names: Vec<(String, String)> =
        state.session.names().into_iter().filter(|n| !n.library).map(|n| (n.name, n.ty)).collect();
    let sources = state.session.sources();
    let labels = std::iter::once(&error.primary).chain(&error.labels);
    // A label tells the type of what it stands at, unless it is about another name.
    let of_types = labels.filter(|label| !label.text.is_empty() && !label.text.contains('`'));
    let labelled: Vec<String> = of_types
        .filter(|label| label.text != "here")
        .filter_map(|label| {
            let (_, source) = sources.get(label.at.file);
            // An argument may stand in parentheses.
            let source = source.get(label.at.range.clone())?;
            Some(source.trim_matches(['(', ')', ' ']).to_owned())
        })
        .collect();
    let mut told: Vec<String> = Vec::new();
    for token in nesl_core::syntax::lex(text) {
        let word = &text[Range::<usize>::from(token.range)];
        let Some((name, ty)) = names.iter().find(|(name, _)| name.eq_ignore_ascii_case(word))
        else {
            continue;
        };
        let noted = format!("`{name}` : {ty}");
        let is_told = labelled.iter().any(|label| label.eq_ignore_ascii_case(name))
            || error.notes.iter().any(|note| note.trim_end_matches('.') == noted);
        let part = format!("{name} : {ty}");
        if !is_told && !told.contains(&part) && told.len() < MAX_PARTS {
            told.push(part);
        }
    }
    told
}
