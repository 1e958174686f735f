//! The prompt as the front end of a session: forms run, and what they give is shown, through the
//! [`Reporter`]; what commands answer goes to standard output, what is wrong to standard error.

use super::definitions::{Files, Shown};
use super::highlight::{DIM, PLAIN};
use super::meta::{EDIT, QUIT, RELOAD};
use super::{edit, pager};
use crate::exit::{FAILED, INTERRUPTED, worse};
use crate::interrupt;
use crate::report::Reporter;
use nesl_engine::Session;
use nesl_engine::session::Earlier;
use nesl_interactive::bundle::Bundle;
use nesl_interactive::entry::close;
use nesl_interactive::output::{Outcome, Output, Problem, Stream};
use nesl_interactive::state::commands::Call;
use nesl_interactive::state::{Entered, FormRun, Front, Sink, State};
use std::cell::{Cell, RefCell};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::rc::Rc;

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
    /// The keys of the line editor.
    pub editing: Cell<Editing>,
    /// True if plots are written to files.
    pub plots: Cell<bool>,
    /// The text of the last entry that had forms.
    pub last: RefCell<String>,
    /// True if a person looks at a screen.
    pub on_screen: bool,
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
        if self.0.on_screen {
            self.0.redefined(session, &forms);
        }
        Entered { summary, forms }
    }

    fn setting(&self, name: &str) -> Option<String> {
        self.0.on_screen.then(|| match name {
            ROWS => {
                let reporter = self.0.reporter.borrow();
                let rows = reporter.screen.as_ref().and_then(|screen| screen.rows);
                rows.map_or_else(|| "all".to_owned(), |rows| rows.to_string())
            }
            PLOTS => if self.0.plots.get() { "svg" } else { "text" }.to_owned(),
            _ => match self.0.editing.get() {
                Editing::Emacs => "emacs".to_owned(),
                Editing::Vi => "vi".to_owned(),
            },
        })
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        if !self.0.on_screen {
            return Err("nobody looks at a screen".to_owned());
        }
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
            self.0.plots.set(match value {
                "text" => false,
                "svg" => true,
                _ => return Err("plots are shown as `text`, or written as `svg`".to_owned()),
            });
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
        let code = files.enter(&mut reporter.borrow_mut(), &mut state.session, Shown::Names);
        self.0.code.set(self.0.code.get().max(code));
        if call.operand.is_empty() {
            return Outcome::Done;
        }
        let Entered { summary, .. } =
            self.enter(&mut state.session, call.entry, &close(call.operand), 0);
        if summary.exit { Outcome::Exit } else { Outcome::Done }
    }
}

impl PromptFront {
    /// Lets the user edit the last entry, a definition or a file, and runs what they leave.
    fn edit(&mut self, state: &mut State, call: &Call<'_>) -> Outcome {
        let last = self.0.last.borrow().clone();
        match edit::edited(state, call.operand, &last) {
            Ok(None) => {
                self.0.sink()(Output::Answer(Bundle::text(
                    "Nothing was changed, and nothing run.",
                )));
                Outcome::Done
            }
            Ok(Some(text)) => {
                self.0.last.replace(text.clone());
                let Entered { summary, .. } =
                    self.enter(&mut state.session, call.entry, &close(&text), 0);
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
        let is_full = state.commands().expand(first).is_some_and(|c| c.name == ":full");
        let sink = if is_full && self.on_screen { self.pager() } else { self.sink() };
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
        self.sink()(Output::Error(problem.clone()));
        Outcome::Failed(problem)
    }

    /// Returns what receives the answers of a command that are shown in a pager if the screen does not hold them.
    fn pager(&self) -> Sink {
        let mut sink = self.sink();
        let output = self.reporter.borrow().output.clone();
        Box::new(move |shown| match shown {
            Output::Answer(bundle) if pager::is_long(&bundle.plain) => {
                output.settle();
                if !pager::page(&bundle.plain) {
                    sink(Output::Answer(bundle));
                }
            }
            shown => sink(shown),
        })
    }

    /// Returns what receives the answers of commands. The reporter shows what forms give.
    fn sink(&self) -> Sink {
        let (json, (colors, error_colors)) = (self.json, self.colors);
        let mut output = self.reporter.borrow().output.clone();
        let plots = self.plots.get();
        Box::new(move |shown| match shown {
            Output::Answer(Bundle { svg: Some(svg), .. }) if plots => {
                output.message(&written(&svg));
            }
            Output::Printed(Stream::Output, bytes) if !json => {
                let _ = output.write_all(&bytes);
            }
            Output::Printed(_, bytes) => output.message(&String::from_utf8_lossy(&bytes)),
            Output::Value(bundle) | Output::Defined(bundle) | Output::Answer(bundle) => {
                if json {
                    output.message(&format!("{}\n", bundle.plain));
                } else {
                    output.line(bundle.terminal(colors));
                    output.show();
                }
            }
            Output::Picture(_, _) => {}
            Output::Warning(shown) | Output::Error(Problem { shown, .. }) => {
                output.message(&format!("{}\n", message(&shown, error_colors)));
            }
        })
    }
}

/// Writes a plot to a file of the current folder that is not there yet; returns what to say of it.
fn written(svg: &str) -> String {
    let mut count = 0;
    loop {
        count += 1;
        let name = format!("plot-{count}.svg");
        let file = OpenOptions::new().write(true).create_new(true).open(&name);
        match file.and_then(|mut file| file.write_all(svg.as_bytes())) {
            Ok(()) => return format!("Drew {name}.\n"),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return format!("nesl: cannot write {name}: {error}\n"),
        }
    }
}

/// Returns a message; below one that has a place there is an empty line.
fn message(shown: &Bundle, colors: bool) -> String {
    let end = if shown.plain.contains('\n') { "\n" } else { "" };
    format!("{}{end}", shown.terminal(colors))
}
