//! A session with all that its commands may change: the runtime, its limits, what is shown.

pub mod commands;

use crate::bundle::Bundle;
use crate::display;
use crate::message::Renderer;
use crate::output::{INTERRUPTED, Outcome, Output, Problem, Stream};
use crate::runtimes::{RuntimeRow, Runtimes};
use crate::text::{fitted, shown_safely};
use commands::{Call, Command, Commands};
use nesl_core::base::{Diagnostic, Severity};
use nesl_engine::data::{DataLimits, Shown};
use nesl_engine::{
    Binding, Event, FileRange, Session, Settings, ShownValues, Sources, Summary, Usage,
};
use nesl_runtime::fault::FaultCode;
use nesl_runtime::profile::Profile;
use nesl_runtime::runtime::Options;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The number of problems of one entry that are shown, at most.
const MAX_PROBLEMS_SHOWN: usize = 50;

/// The way in which a session begins.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The settings of the session.
    pub settings: Settings,
    /// The runtimes that can be chosen.
    pub runtimes: Runtimes,
    /// The runtime that is chosen.
    pub runtime: &'static RuntimeRow,
    /// The limits of the runtime; its interrupt flag is the session's.
    pub options: Options,
    /// A session on a thread of its own gives its device back once it was idle for so long; never if there
    /// is none.
    pub idle: Option<Duration>,
    /// The style in which values are shown.
    pub display: display::Style,
    /// The commands that the front end adds to the table.
    pub extra: &'static [&'static Command],
}

/// Runs the forms of texts, and shows what comes of them, in a front end's own way.
pub trait Front {
    /// Connects the standard streams of programs; also after the session was reset.
    fn connect(&self, session: &mut Session);
    /// Enters a text that stands below `first_line` other lines of its entry.
    fn enter(
        &mut self,
        session: &mut Session,
        name: &str,
        text: &str,
        first_line: usize,
    ) -> Entered;
    /// Does what one of the front end's own commands says.
    fn command(&mut self, state: &mut State, call: &Call<'_>) -> Outcome;
    /// Notes the name and the text of the entry that runs, for messages.
    fn begins(&mut self, _name: &str, _text: &str) {}
    /// Returns a message about a text that was only looked at, if the front end counts the lines of its entries in
    /// its own way.
    fn message(
        &mut self,
        _sources: &Sources,
        _diagnostic: &Diagnostic<FileRange>,
    ) -> Option<Bundle> {
        None
    }
    /// Returns the width of the screen in characters, if there is one.
    fn width(&self) -> Option<usize> {
        None
    }
    /// Returns the value of a setting of the front end's own; `None` if it does not have it.
    fn setting(&self, _name: &str) -> Option<String> {
        None
    }
    /// Notes how many significant digits floats have in tables; all that they need if there is no number.
    fn set_digits(&mut self, _digits: Option<usize>) {}
    /// Changes a setting of the front end's own; fails with the reason why it cannot.
    fn set(&mut self, name: &str, _value: &str) -> Result<(), String> {
        Err(format!("this front end has no setting `{name}`"))
    }
}

/// The outcome of a text that a [`Front`] has entered and shown.
#[derive(Debug)]
pub struct Entered {
    /// The summary of the text.
    pub summary: Summary,
    /// The forms that were evaluated or defined.
    pub forms: Vec<FormRun>,
}

/// A form that was evaluated or defined, and what that took.
#[derive(Clone, Debug, PartialEq)]
pub struct FormRun {
    /// The name that it defines; `it` for an expression.
    pub name: String,
    /// The time, launches and memory that it took.
    pub usage: Usage,
}

/// A session with all that its commands may change.
pub struct State {
    /// The session that runs the forms.
    pub session: Session,
    /// The setup that the session began with; commands change it.
    pub setup: Setup,
    renderer: Renderer,
    /// The receiver of the entry that runs.
    receiver: Receiver,
    /// Pictures that were drawn on since they were shown.
    drawn: BTreeSet<usize>,
    /// Runs the forms instead, if there is one.
    front: Option<Box<dyn Front>>,
    /// The forms of the last entry that had any.
    forms: Vec<FormRun>,
    /// True until the first text of the entry that runs.
    begins: bool,
    /// The times of the kernels of that entry, unless they are not recorded.
    profile: Option<Profile>,
    /// The times of all kernels that are not recorded for a single entry, if somebody wants them.
    all_kernels: Option<Profile>,
}

/// Receives what comes of an entry.
pub type Sink = Box<dyn FnMut(Output) + Send>;

/// The receiver of the entry that runs; programs print to it from inside the session.
#[derive(Clone, Default)]
struct Receiver(Arc<Mutex<Option<Sink>>>);

/// A standard stream of programs.
struct Printer {
    receiver: Receiver,
    stream: Stream,
}

impl Receiver {
    fn send(&self, output: Output) {
        if let Some(sink) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            sink(output);
        }
    }

    fn set(&self, sink: Option<Sink>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = sink;
    }
}

impl Write for Printer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.receiver.send(Output::Printed(self.stream, bytes.to_vec()));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl State {
    /// Begins a session. Fails with the reason why this machine does not have the runtime.
    pub fn new(setup: Setup) -> Result<State, String> {
        let receiver = Receiver::default();
        let session = Session::new(setup.settings.clone());
        let (renderer, drawn) = (Renderer::new(true), BTreeSet::new());
        let mut state = State {
            session,
            setup,
            renderer,
            receiver,
            drawn,
            front: None,
            forms: Vec::new(),
            begins: true,
            profile: None,
            all_kernels: None,
        };
        state.connect();
        state.set_runtime(state.setup.runtime)?;
        state.time_kernels(true);
        Ok(state)
    }

    /// Connects the standard streams of programs.
    fn connect(&mut self) {
        if let Some(front) = &self.front {
            return front.connect(&mut self.session);
        }
        let printer = |stream| Box::new(Printer { receiver: self.receiver.clone(), stream });
        self.session.set_output(printer(Stream::Output));
        self.session.set_error_output(printer(Stream::Errors));
    }

    /// Lets a front end run the forms from now on.
    pub fn set_front(&mut self, front: Box<dyn Front>) {
        self.front = Some(front);
        self.connect();
    }

    /// Returns the commands that can be entered.
    pub fn commands(&self) -> Commands {
        self.setup.commands()
    }

    /// Runs programs on another runtime, or on the same one with other limits. Fails with the reason why
    /// this machine does not have it; then nothing changes.
    pub fn set_runtime(&mut self, row: &'static RuntimeRow) -> Result<(), String> {
        let interrupt = self.session.interrupt_handle();
        let made = (row.make)(Options { interrupt, ..self.setup.options.clone() })?;
        self.session.set_runtime(made);
        self.session.time_kernels(self.profile.clone().or(self.all_kernels.clone()));
        self.session.settings_mut().interpret_first =
            row.interpret_first && self.setup.settings.interpret_first;
        self.setup.runtime = row;
        Ok(())
    }

    /// Runs an entry: commands, each on a line of its own, and the text after them.
    pub fn enter(&mut self, name: &str, text: &str, sink: Sink) -> Outcome {
        self.receiver.set(Some(sink));
        self.begins = true;
        self.renderer.entry(name, text);
        if let Some(front) = &mut self.front {
            front.begins(name, text);
        }
        let mut outcome = self.run(name, text);
        let interrupted = self.session.interrupt_handle().load(Ordering::Relaxed);
        if matches!(outcome, Outcome::Failed(_)) && interrupted {
            outcome = Outcome::Interrupted;
        }
        self.show_pictures();
        self.receiver.set(None);
        outcome
    }

    /// Ends an entry that a panic has left: shows an error to who is still told what it shows.
    pub(crate) fn abandon(&mut self, problem: Problem) -> Outcome {
        let outcome = self.fail(problem);
        self.receiver.set(None);
        outcome
    }

    fn run(&mut self, name: &str, text: &str) -> Outcome {
        if let Some(message) = commands::foreign(text) {
            return self.fail(Problem::of_command(message));
        }
        let mut start = 0;
        while let Some((command, after)) = self.commands().first(text, start) {
            let outcome = match command {
                Ok(command) => commands::run(self, name, &command),
                Err(message) => self.fail(Problem::of_command(message)),
            };
            if outcome != Outcome::Done {
                return outcome;
            }
            start = after;
        }
        let rest = &text[start..];
        if rest.trim().is_empty() { Outcome::Done } else { self.enter_text(name, rest, text) }
    }

    /// Runs the forms of a text, the end of an entry that begins with commands: `whole` is all of it,
    /// so that lines are counted from its beginning.
    pub(crate) fn enter_text(&mut self, name: &str, text: &str, whole: &str) -> Outcome {
        if let Some(mut front) = self.front.take() {
            self.begin_forms();
            let first_line = first_line(text, whole);
            let text = blanks_before(text, whole) + &self.session.closed(text);
            let Entered { summary, forms } =
                front.enter(&mut self.session, name, &text, first_line);
            self.front = Some(front);
            self.forms.extend(forms);
            let problem = || Problem::of_command(format!("{} errors were shown", summary.errors));
            return outcome(&summary, (summary.errors > 0).then(problem));
        }
        let style = self.setup.display;
        self.enter_showing(name, text, whole, &mut |binding| {
            Some(display::binding(&binding, style))
        })
    }

    /// Runs forms as [`State::enter_text`] does, but shows nothing of their values, which do not become
    /// `it`.
    pub(crate) fn enter_unseen(&mut self, name: &str, text: &str, whole: &str) -> Outcome {
        let defines_it = std::mem::replace(&mut self.session.settings_mut().defines_it, false);
        let outcome = self.enter_showing(name, text, whole, &mut |_| None);
        self.session.settings_mut().defines_it = defines_it;
        outcome
    }

    /// Runs forms as [`State::enter_text`] does, but keeps the values of expressions for itself;
    /// returns that of the last one, of which the session read what `limits` says.
    pub(crate) fn evaluate(
        &mut self,
        name: &str,
        text: &str,
        whole: &str,
        limits: DataLimits,
    ) -> (Outcome, Option<Shown>) {
        let settings = self.session.settings_mut();
        let data = settings.data.replace(limits);
        // A single element is enough as text.
        let length = settings.print_length.replace(1);
        let shown = std::mem::replace(&mut settings.shown, ShownValues::Expressions);
        let (style, mut last) = (self.setup.display, None);
        let outcome = self.enter_showing(name, text, whole, &mut |binding| {
            if binding.expression {
                last = binding.data;
                return None;
            }
            Some(display::binding(&binding, style))
        });
        let settings = self.session.settings_mut();
        (settings.data, settings.print_length, settings.shown) = (data, length, shown);
        (outcome, last)
    }

    /// Returns true if the entry that runs was interrupted: what was made by then is a part of what was asked for.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.session.interrupt_handle().load(Ordering::Relaxed)
    }

    /// Runs forms as [`State::enter_text`] does, but answers with the values of expressions as a whole, or with as
    /// much as the front end holds and a notice.
    pub(crate) fn enter_whole(&mut self, name: &str, text: &str, whole: &str) -> Outcome {
        let settings = self.session.settings_mut();
        let (length, data) = (settings.print_length.take(), settings.data.take());
        let (style, most) = (self.setup.display, self.setup.display.full_bytes);
        let bytes = std::mem::replace(&mut settings.print_bytes, most);
        let interrupt = self.session.interrupt_handle();
        let receiver = self.receiver.clone();
        let is_on_screen = self.width().is_some();
        let outcome = self.enter_showing(name, text, whole, &mut |binding| {
            let Binding { name, value, ty, expression, .. } = &binding;
            if !expression {
                return Some(display::binding(&binding, style));
            }
            if interrupt.load(Ordering::Relaxed) {
                return None;
            }
            let stop = || interrupt.load(Ordering::Relaxed);
            let value = match is_on_screen {
                true => shown_safely(value, &stop),
                false => Cow::Borrowed(value.as_str()),
            };
            let answer = Output::Answer(Bundle::text(format!("{name} = {value} : {ty}")));
            let Some(most) = most.filter(|most| value.len() >= *most) else { return Some(answer) };
            receiver.send(answer);
            let size = crate::table::size(most as u64);
            let notice = format!(
                "[A notebook shows {size} of a value; `write_string_to_file(@it, \"it.txt\")` writes all of it to a file.]"
            );
            Some(Output::Answer(Bundle::text(notice)))
        });
        let settings = self.session.settings_mut();
        (settings.print_length, settings.data, settings.print_bytes) = (length, data, bytes);
        outcome
    }

    /// Returns the width of the screen in characters, if there is one.
    pub(crate) fn width(&self) -> Option<usize> {
        self.front.as_ref().and_then(|front| front.width())
    }

    /// Returns the value of a setting of the front end's own.
    pub(crate) fn front_setting(&self, name: &str) -> Option<String> {
        self.front.as_ref().and_then(|front| front.setting(name))
    }

    /// Changes a setting of the front end's own.
    pub(crate) fn set_front_setting(&mut self, name: &str, value: &str) -> Result<(), String> {
        match &mut self.front {
            Some(front) => front.set(name, value),
            None => Err(format!("`{name}` is a setting of the prompt")),
        }
    }

    /// Runs forms; `show` decides what is shown of each that was evaluated or defined.
    fn enter_showing(
        &mut self,
        name: &str,
        text: &str,
        whole: &str,
        show: &mut dyn FnMut(Binding) -> Option<Output>,
    ) -> Outcome {
        let first_line = first_line(text, whole);
        self.begin_forms();
        let sources = self.session.sources();
        let receiver = self.receiver.clone();
        let forms = &mut self.forms;
        let (mut first, mut problems) = (None, 0);
        let renderer = &mut self.renderer;
        let text = blanks_before(text, whole) + &self.session.closed(text);
        let summary = self.session.enter(name, &text, &mut |event| match event {
            Event::Bound(binding) => {
                renderer.starts_at(binding.at.file, first_line);
                forms.push(FormRun { name: binding.name.clone(), usage: binding.usage });
                if let Some(output) = show(binding) {
                    receiver.send(output);
                }
            }
            Event::Text(text) if text.is_empty() => {}
            Event::Text(text) => receiver.send(Output::Answer(Bundle::text(text))),
            Event::Diagnostic(diagnostic) => {
                for label in std::iter::once(&diagnostic.primary).chain(&diagnostic.labels) {
                    if *sources.get(label.at.file).0 == *name {
                        renderer.starts_at(label.at.file, first_line);
                    }
                }
                problems += 1;
                if problems > MAX_PROBLEMS_SHOWN {
                    return;
                }
                let output = problem(message(renderer, &sources, &diagnostic), &diagnostic);
                if let Output::Error(problem) = &output {
                    first.get_or_insert_with(|| problem.clone());
                }
                receiver.send(output);
            }
        });
        if problems > MAX_PROBLEMS_SHOWN {
            let more = problems - MAX_PROBLEMS_SHOWN;
            receiver
                .send(Output::Answer(Bundle::text(format!("{more} more problems are not shown."))));
        }
        let pictures = self.session.pictures().iter().enumerate();
        self.drawn.extend(pictures.filter(|(_, picture)| picture.changed()).map(|(at, _)| at));
        if summary.interrupted && first.is_none() {
            // Between two forms, or while a value was shown.
            receiver.send(Output::Error(Problem::interrupted()));
        }
        outcome(&summary, first)
    }

    /// Forgets the forms of the entry before, once this one has some.
    fn begin_forms(&mut self) {
        if std::mem::take(&mut self.begins) {
            self.forms.clear();
            if let Some(profile) = &self.profile {
                profile.clear();
            }
        }
    }

    /// Returns the forms of the last entry that had any, and what each took.
    pub(crate) fn forms(&self) -> &[FormRun] {
        &self.forms
    }

    /// Forgets the forms from a number on; returns them.
    pub(crate) fn take_forms(&mut self, from: usize) -> Vec<FormRun> {
        self.forms.split_off(from.min(self.forms.len()))
    }

    /// Returns the number of forms of the entry that runs so far.
    pub(crate) fn forms_so_far(&self) -> usize {
        if self.begins { 0 } else { self.forms.len() }
    }

    /// Returns the times of kernels, while they are recorded.
    pub(crate) fn profile(&self) -> Option<&Profile> {
        self.profile.as_ref()
    }

    /// Records the times of kernels from now on, or no more. Returns false if programs run on the
    /// direct interpreter, which has no kernels.
    pub(crate) fn time_kernels(&mut self, on: bool) -> bool {
        self.profile = on.then(Profile::default);
        let timed = self.session.time_kernels(self.profile.clone().or(self.all_kernels.clone()));
        self.profile.take_if(|_| !timed);
        timed
    }

    /// Records the times of all kernels from now on, except while those of an entry are asked for; those
    /// of each entry are no longer recorded.
    pub fn time_all_kernels(&mut self, profile: Profile) {
        self.profile = None;
        self.session.time_kernels(Some(profile.clone()));
        self.all_kernels = Some(profile);
    }

    /// Does what one of the front end's own commands says.
    pub(crate) fn by_front(&mut self, call: &Call<'_>) -> Outcome {
        let Some(mut front) = self.front.take() else {
            let name = call.command.name;
            return self.fail(Problem::of_command(format!("`{name}` is not for this front end")));
        };
        let outcome = front.command(self, call);
        self.front = Some(front);
        outcome
    }

    /// Sends an output to whoever receives the entry's.
    pub(crate) fn show(&self, output: Output) {
        self.receiver.send(output);
    }

    /// Shows sentences that answer a command, in lines that the screen holds.
    pub(crate) fn say(&self, text: &str) {
        self.show(Output::Answer(Bundle::text(self.fitted(text))));
    }

    /// Returns a text in lines that the screen holds, if there is one.
    pub(crate) fn fitted(&self, text: &str) -> String {
        match self.width() {
            // In its last column a terminal may begin the next line.
            Some(columns) => fitted(text, columns.saturating_sub(1)),
            None => text.to_owned(),
        }
    }

    /// Shows an error, and returns the outcome of an entry that ends with it.
    pub(crate) fn fail(&self, problem: Problem) -> Outcome {
        self.show(Output::Error(problem.clone()));
        Outcome::Failed(problem)
    }

    /// Shows diagnostics of a text that was only looked at; returns the outcome.
    pub(crate) fn fail_all(&mut self, diagnostics: &[Diagnostic<FileRange>]) -> Outcome {
        let (sources, mut first) = (self.session.sources(), None);
        for diagnostic in diagnostics.iter().take(MAX_PROBLEMS_SHOWN) {
            let own = self.front.as_mut().and_then(|front| front.message(&sources, diagnostic));
            let shown = own.unwrap_or_else(|| {
                self.renderer.looks_at(diagnostic.primary.at.file, 0);
                message(&mut self.renderer, &sources, diagnostic)
            });
            let output = problem(shown, diagnostic);
            if let Output::Error(problem) = &output {
                first.get_or_insert_with(|| problem.clone());
            }
            self.show(output);
        }
        first.map_or(Outcome::Done, Outcome::Failed)
    }

    /// Shows the pictures that were drawn on since the last time.
    fn show_pictures(&mut self) {
        for at in std::mem::take(&mut self.drawn) {
            if let Some(picture) = self.session.pictures().get(at) {
                self.receiver.send(Output::Picture(at, display::picture(picture)));
            }
        }
    }

    /// Begins a new session with the same settings: definitions, values and pictures are gone.
    pub fn reset(&mut self) {
        self.session.reset();
        // If that is not possible, the device is kept until the session is idle.
        drop(self.session.release_device());
        self.drawn.clear();
        self.forms.clear();
        self.renderer = Renderer::new(true);
        self.connect();
    }
}

impl Setup {
    /// Returns the commands that can be entered.
    pub fn commands(&self) -> Commands {
        Commands { extra: self.extra, stages: self.runtime.stages, runtimes: self.runtimes }
    }
}

/// Returns the number of lines above a text, which is the end of `whole`.
fn first_line(text: &str, whole: &str) -> usize {
    whole[..whole.len() - text.len().min(whole.len())].matches('\n').count()
}

/// Returns as many blanks as there are characters before a text on its line, where it is the end of `whole`: so its
/// columns are those of `whole`.
fn blanks_before(text: &str, whole: &str) -> String {
    let before = &whole[..whole.len() - text.len().min(whole.len())];
    let line = &before[before.rfind('\n').map_or(0, |end| end + 1)..];
    " ".repeat(line.chars().count())
}

/// Returns the outcome of a text; `first` is its first error.
fn outcome(summary: &Summary, first: Option<Problem>) -> Outcome {
    match first {
        _ if summary.exit => Outcome::Exit,
        _ if summary.interrupted => Outcome::Interrupted,
        Some(problem) => Outcome::Failed(problem),
        None => Outcome::Done,
    }
}

/// Returns the message of a diagnostic.
fn message(
    renderer: &mut Renderer,
    sources: &Sources,
    diagnostic: &Diagnostic<FileRange>,
) -> Bundle {
    Bundle::colored(renderer.render(sources, diagnostic).trim_end().to_owned())
}

/// Returns a diagnostic as something to show, by its message.
fn problem(shown: Bundle, diagnostic: &Diagnostic<FileRange>) -> Output {
    match diagnostic.severity {
        Severity::Warning => Output::Warning(shown),
        Severity::Error => Output::Error(Problem {
            kind: match diagnostic.message == FaultCode::Interrupted.message() {
                true => INTERRUPTED.to_owned(),
                false => crate::message::heading(diagnostic),
            },
            message: diagnostic.message.clone(),
            shown,
        }),
    }
}
