//! The prompt as the front end of a session: forms run, and what they give is shown, through the
//! [`Reporter`]; what commands answer goes to standard output, what is wrong to standard error.

use super::definitions::{Files, Shown};
use super::meta::{QUIT, RELOAD};
use crate::exit::{FAILED, INTERRUPTED, worse};
use crate::interrupt;
use crate::report::Reporter;
use nesl_engine::Session;
use nesl_interactive::bundle::Bundle;
use nesl_interactive::entry::close;
use nesl_interactive::output::{Outcome, Output, Problem, Stream};
use nesl_interactive::state::commands::Call;
use nesl_interactive::state::{Entered, FormRun, Front, Sink, State};
use std::cell::{Cell, RefCell};
use std::io::Write;
use std::rc::Rc;

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
        Entered { summary, forms }
    }

    fn command(&mut self, state: &mut State, call: &Call<'_>) -> Outcome {
        if call.command.name == QUIT.name {
            return Outcome::Exit;
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

impl Shared {
    /// Runs an entry, which Ctrl-C stops.
    pub fn enter(&self, state: &mut State, name: &str, text: &str) -> Outcome {
        let outcome = interrupt::during(|| state.enter(name, text, self.sink()));
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

    /// Returns what receives the answers of commands. The reporter shows what forms give.
    fn sink(&self) -> Sink {
        let (json, (colors, error_colors)) = (self.json, self.colors);
        let mut output = self.reporter.borrow().output.clone();
        Box::new(move |shown| match shown {
            Output::Printed(Stream::Output, bytes) if !json => {
                let _ = output.write_all(&bytes);
            }
            Output::Printed(_, bytes) => {
                output.settle();
                let _ = std::io::stderr().write_all(&bytes);
            }
            Output::Value(bundle) | Output::Defined(bundle) | Output::Answer(bundle) => {
                if json {
                    eprintln!("{}", bundle.plain);
                } else {
                    output.line(bundle.terminal(colors));
                    output.show();
                }
            }
            Output::Picture(_, _) => {}
            Output::Warning(shown) | Output::Error(Problem { shown, .. }) => {
                output.settle();
                eprintln!("{}", message(&shown, error_colors));
            }
        })
    }
}

/// Returns a message; below one that has a place there is an empty line.
fn message(shown: &Bundle, colors: bool) -> String {
    let end = if shown.plain.contains('\n') { "\n" } else { "" };
    format!("{}{end}", shown.terminal(colors))
}
