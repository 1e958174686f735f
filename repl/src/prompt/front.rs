//! The prompt as the front end of a session: forms run, and what they give is shown, through the
//! [`Reporter`]; what commands answer goes to standard output, what is wrong to standard error.

use super::canvas::{Canvas, Plots};
use super::definitions::{Files, Shown};
use super::highlight::{DIM, PLAIN};
use super::meta::{EDIT, QUIT, RELOAD};
use super::{edit, pager};
use crate::cli::{Global, Measures};
use crate::exit::{FAILED, INTERRUPTED, OK, worse};
use crate::interrupt;
use crate::output::{Output, screen};
use crate::report::{Reporter, Screen};
use nesl_core::base::Diagnostic;
use nesl_engine::data::DataLimits;
use nesl_engine::session::Earlier;
use nesl_engine::{FileRange, Session, Sources};
use nesl_interactive::bundle::Bundle;
use nesl_interactive::display;
use nesl_interactive::output::{self as shown, Outcome, Problem, Stream};
use nesl_interactive::state::commands::Call;
use nesl_interactive::state::{Entered, FormRun, Front, Sink, State};
use nesl_interactive::text::fitted;
use std::cell::{Cell, RefCell};
use std::io::Write;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The parts of values that are read to be shown on a screen.
const SHOWN: DataLimits =
    DataLimits { whole_bytes: 64 << 10, head_elements: 40, tail_elements: 20 };

/// The rows that a value takes up on the screen, at most.
const MAX_ROWS: usize = 10;

/// The setting for the rows that a value may take.
const ROWS: &str = "rows";
/// The setting for how plots are shown; the third one is for the keys of the line editor.
const PLOTS: &str = "plots";

/// Holds what the prompt and the session that runs its entries share.
pub struct Shared {
    /// Shows what happens.
    pub reporter: RefCell<Reporter>,
    /// The files whose definitions the session begins with.
    pub files: Files,
    /// The number of lines above the entry in what is numbered as one text.
    pub lines: Cell<usize>,
    /// The exit code so far.
    pub code: Cell<u8>,
    /// True if objects are printed instead of text for people.
    pub json: bool,
    /// True if standard output has colours, and true if standard error has.
    pub colors: (bool, bool),
    /// True once an expression of the entry that runs has a value.
    pub has_result: Cell<bool>,
    /// The number of launches of the entry that runs.
    pub launches: Cell<u64>,
    /// The time of the entry that runs for which a person is in a program of their own: a pager, or an editor.
    pub away: Away,
    /// The keys of the line editor.
    pub editing: Cell<Editing>,
    /// The text of the last entry that had forms.
    pub last: RefCell<String>,
    /// The screen that a person looks at; `None` for a pipe.
    pub canvas: Option<Arc<Canvas>>,
}

/// The time for which a person is in a program of their own. Clones share it.
#[derive(Clone, Default)]
pub struct Away(Arc<Mutex<Duration>>);

impl Away {
    /// Calls a function, and counts the time that it takes.
    fn during<T>(&self, program: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let done = program();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += began.elapsed();
        done
    }

    /// Calls a function during which another program has the terminal, and counts the time that it takes.
    fn in_program<T>(&self, program: impl FnOnce() -> T) -> T {
        self.during(|| interrupt::elsewhere(program))
    }

    /// Returns the time so far, and begins anew.
    pub fn take(&self) -> Duration {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The keys of the line editor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Editing {
    /// Those of Emacs.
    Emacs,
    /// Those of vi.
    Vi,
}

/// The front end of a session, for [`State::set_front`].
pub struct PromptFront(pub Rc<Shared>);

impl Front for PromptFront {
    fn connect(&self, session: &mut Session) {
        self.0.reporter.borrow().connect(session);
    }

    fn enter(
        &mut self,
        session: &mut Session,
        name: &str,
        text: &str,
        first_line: usize,
    ) -> Entered {
        let mut forms = Vec::new();
        let line = self.0.lines.get() + first_line;
        let mut reporter = self.0.reporter.borrow_mut();
        let summary = reporter.enter_at(session, name, text, line, &mut |binding| {
            forms.push(FormRun { name: binding.name.clone(), usage: binding.usage });
        });
        self.0.code.set(worse(self.0.code.get(), &summary));
        drop(reporter);
        self.0.launches.set(
            self.0.launches.get()
                + forms.iter().map(|form: &FormRun| form.usage.launches).sum::<u64>(),
        );
        if forms.last().is_some_and(|form: &FormRun| form.name == "it") {
            self.0.has_result.set(true);
        }
        if self.0.canvas.is_some() {
            self.0.redefined(session, &forms);
        }
        Entered { summary, forms }
    }

    fn set_digits(&mut self, digits: Option<usize>) {
        if let Some(screen) = &mut self.0.reporter.borrow_mut().screen {
            screen.digits = digits;
        }
    }

    fn begins(&mut self, name: &str, text: &str) {
        self.0.reporter.borrow_mut().renderer.entry(name, text);
    }

    fn message(&mut self, sources: &Sources, diagnostic: &Diagnostic<FileRange>) -> Option<Bundle> {
        let renderer = &mut self.0.reporter.borrow_mut().renderer;
        renderer.looks_at(diagnostic.primary.at.file, self.0.lines.get());
        Some(Bundle::colored(renderer.render(sources, diagnostic).trim_end().to_owned()))
    }

    fn width(&self) -> Option<usize> {
        self.0.canvas.as_ref().map(|_| columns())
    }

    fn setting(&self, name: &str) -> Option<String> {
        self.0.canvas.as_ref().map(|canvas| match name {
            ROWS => {
                let reporter = self.0.reporter.borrow();
                let rows = reporter.screen.as_ref().and_then(|screen| screen.rows);
                rows.map_or_else(|| "all".to_owned(), |rows| rows.to_string())
            }
            PLOTS => canvas.plots().name().to_owned(),
            _ => match self.0.editing.get() {
                Editing::Emacs => "emacs".to_owned(),
                Editing::Vi => "vi".to_owned(),
            },
        })
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let Some(canvas) = &self.0.canvas else {
            return Err(format!("`{name}` is a setting of the prompt in a terminal"));
        };
        if name == ROWS {
            let rows = match value {
                "all" => None,
                number => Some(number.parse().map_err(|_| "rows are a number, or all".to_owned())?),
            };
            if let Some(screen) = &mut self.0.reporter.borrow_mut().screen {
                screen.rows = rows;
            }
            return Ok(());
        }
        if name == PLOTS {
            canvas.set_plots(Plots::of(value)?);
            return Ok(());
        }
        self.0.editing.set(match value {
            "emacs" => Editing::Emacs,
            "vi" => Editing::Vi,
            _ => return Err("the keys are those of `emacs` or `vi`".to_owned()),
        });
        Ok(())
    }

    fn command(&mut self, state: &mut State, call: &Call<'_>) -> Outcome {
        if call.command.name == QUIT.name {
            return Outcome::Exit;
        }
        if call.command.name == EDIT.name {
            return self.edit(state, call);
        }
        debug_assert_eq!(call.command.name, RELOAD.name);
        let Shared { files, reporter, .. } = &*self.0;
        if files.is_empty() {
            let message = "the session has no files: `nesl repl FILE` starts one that has";
            return self.0.fail(message);
        }
        let entered = files.enter(&mut reporter.borrow_mut(), &mut state.session, Shown::Names);
        self.0.code.set(self.0.code.get().max(entered.code));
        if call.operand.is_empty() {
            return Outcome::Done;
        }
        if entered.any {
            state.session.go_on_entry();
        }
        let text = state.session.closed(call.operand);
        let Entered { summary, .. } = self.enter(&mut state.session, call.entry, &text, 0);
        if summary.exit { Outcome::Exit } else { Outcome::Done }
    }
}

impl Shared {
    /// Makes what the session of `state` and its front end share, and lets that front end run the entries. What is
    /// printed goes to `output`; `canvas` is the screen of a person, if one looks at it.
    pub fn connected(
        global: &Global,
        measures: Measures,
        files: Files,
        output: Output,
        canvas: Option<Arc<Canvas>>,
        state: &mut State,
    ) -> Rc<Shared> {
        let mut reporter = Reporter::without_session(global);
        reporter.output = output;
        reporter.measure(&mut state.session, measures);
        if canvas.is_some() && !measures.json {
            let rows = global.print_length.is_none().then_some(MAX_ROWS);
            reporter.screen = Some(Screen {
                rows,
                width: columns,
                result: String::new(),
                digits: Some(display::CELL_DIGITS),
            });
            state.session.settings_mut().data = Some(SHOWN);
        }
        if let Some(profile) = reporter.profile() {
            state.time_all_kernels(profile);
        }
        let shared = Rc::new(Shared {
            reporter: RefCell::new(reporter),
            files,
            lines: Cell::new(0),
            code: Cell::new(OK),
            json: measures.json,
            colors: (global.colors(&std::io::stdout()), global.colors(&std::io::stderr())),
            has_result: Cell::new(false),
            launches: Cell::new(0),
            away: Away::default(),
            editing: Cell::new(Editing::Emacs),
            last: RefCell::default(),
            canvas,
        });
        state.set_front(Box::new(PromptFront(shared.clone())));
        shared
    }
}

impl PromptFront {
    /// Lets the user edit the last entry, a definition or a file, and runs what they leave.
    fn edit(&mut self, state: &mut State, call: &Call<'_>) -> Outcome {
        if self.0.canvas.is_none() {
            return self.0.fail("an editor needs a terminal, and this is none");
        }
        let last = self.0.last.borrow().clone();
        match self.0.away.in_program(|| edit::edited(state, call.operand, &last)) {
            Ok(None) => {
                self.0.sink()(shown::Output::Answer(Bundle::text(
                    "Nothing was changed, and nothing run.",
                )));
                Outcome::Done
            }
            Ok(Some(text)) => {
                self.0.last.replace(text.clone());
                let text = state.session.closed(&text);
                let Entered { summary, .. } = self.enter(&mut state.session, call.entry, &text, 0);
                if summary.exit { Outcome::Exit } else { Outcome::Done }
            }
            Err(message) => self.0.fail(&message),
        }
    }
}

impl Shared {
    /// Prints a line in grey.
    pub fn dim(&self, text: &str) {
        let line = if self.colors.0 { format!("{DIM}{text}{PLAIN}") } else { text.to_owned() };
        let output = &self.reporter.borrow().output;
        output.line(&line);
        output.show();
    }

    /// Tells in a line what the names were that an entry has given another type, and which functions keep what
    /// they were.
    fn redefined(&self, session: &Session, forms: &[FormRun]) {
        for (position, form) in forms.iter().enumerate() {
            if form.name == "it" || forms[..position].iter().any(|other| other.name == form.name) {
                continue;
            }
            let Some(definition) = session.definition(&form.name) else { continue };
            let Some(Earlier { ty, replaced: false, users, .. }) = definition.earlier.first()
            else {
                continue;
            };
            if *ty == definition.ty {
                continue;
            }
            let keep = match &users[..] {
                [] => String::new(),
                [one] => format!("; {one} keeps the old one"),
                users => format!("; {} keep the old one", users.join(", ")),
            };
            self.dim(&format!("{} was {ty}{keep}", form.name));
        }
    }

    /// Runs an entry, which Ctrl-C stops.
    pub fn enter(&self, state: &mut State, name: &str, text: &str) -> Outcome {
        let first = text.split_whitespace().next().unwrap_or("");
        let command = state.commands().expand(first).map(|command| command.name);
        let is_paged = command == Some(":full") && self.canvas.is_some();
        let sink = if is_paged { self.pager() } else { self.sink() };
        let run = || self.enter_showing(state, name, text, sink);
        // Who watches a file waits for somebody to save it.
        if command == Some(":watch") { self.away.during(run) } else { run() }
    }

    /// Runs a command of the user's own definitions as [`Shared::enter`] does, but puts a title before what is wrong
    /// with it.
    pub fn enter_titled(&self, state: &mut State, title: &str, text: &str) -> Outcome {
        let mut sink = self.sink();
        let (output, told) = (self.reporter.borrow().output.clone(), title.to_owned());
        let titled = Box::new(move |shown| {
            if matches!(shown, shown::Output::Error(_)) {
                output.message(&format!("{told}: "));
            }
            sink(shown);
        });
        self.enter_showing(state, title, text, titled)
    }

    fn enter_showing(&self, state: &mut State, name: &str, text: &str, sink: Sink) -> Outcome {
        let outcome = interrupt::during(|| state.enter(name, text, sink));
        self.code.set(match outcome {
            Outcome::Done | Outcome::Exit => self.code.get(),
            Outcome::Failed(_) => self.code.get().max(FAILED),
            Outcome::Interrupted | Outcome::Aborted => INTERRUPTED,
        });
        outcome
    }

    fn fail(&self, message: &str) -> Outcome {
        let problem = Problem::of_command(message);
        self.sink()(shown::Output::Error(problem.clone()));
        Outcome::Failed(problem)
    }

    /// Returns what receives the answers of a command that are shown in a pager if the screen does not hold them.
    fn pager(&self) -> Sink {
        let mut sink = self.sink();
        let (output, away) = (self.reporter.borrow().output.clone(), self.away.clone());
        Box::new(move |shown| match shown {
            shown::Output::Answer(bundle) if pager::is_long(&bundle.plain) => {
                output.settle();
                let is_shown = away.in_program(|| pager::page(&bundle.plain));
                if !is_shown {
                    sink(shown::Output::Answer(bundle));
                }
            }
            shown => sink(shown),
        })
    }

    /// Returns what receives the answers of commands. The reporter shows what forms give.
    fn sink(&self) -> Sink {
        let (json, (colors, error_colors)) = (self.json, self.colors);
        let mut output = self.reporter.borrow().output.clone();
        let canvas = self.canvas.clone().filter(|_| !json);
        Box::new(move |shown| match shown {
            // Only of plots the picture says all that the text does.
            shown::Output::Answer(Bundle { svg: Some(svg), plot: Some(_), .. })
                if canvas.as_ref().is_some_and(|canvas| canvas.draws(&svg, &output, colors)) => {}
            shown::Output::Printed(Stream::Output, bytes) if !json => {
                let _ = output.write_all(&bytes);
            }
            shown::Output::Printed(_, bytes) => output.message(&String::from_utf8_lossy(&bytes)),
            shown::Output::Value(bundle)
            | shown::Output::Defined(bundle)
            | shown::Output::Answer(bundle) => {
                if json {
                    output.message(&format!("{}\n", bundle.plain));
                } else {
                    output.line(bundle.terminal(colors));
                    output.show();
                }
            }
            shown::Output::Picture(_, _) => {}
            shown::Output::Warning(shown) | shown::Output::Error(Problem { shown, .. }) => {
                let text = message(&shown, error_colors);
                // What has a place is as wide as its lines.
                let is_line = canvas.is_some() && !shown.plain.contains('\n');
                let text = if is_line { fitted(&text, columns().saturating_sub(1)) } else { text };
                output.message(&format!("{text}\n"));
            }
        })
    }
}

/// Returns the width of the screen in characters.
fn columns() -> usize {
    screen().0
}

/// Returns a message; below one that has a place there is an empty line.
fn message(shown: &Bundle, colors: bool) -> String {
    let end = if shown.plain.contains('\n') { "\n" } else { "" };
    format!("{}{end}", shown.terminal(colors))
}
