//! Events of a session → lines on standard output and messages on standard error.

use crate::cli::{Global, Measures};
use crate::interrupt;
use crate::json;
use crate::output::Output;
use anyhow::{Context, Result};
use nesl_core::base::{Diagnostic, DiagnosticKind, Severity};
use nesl_engine::data::ValueType;
use nesl_engine::{Binding, Event, FileRange, Session, Settings, Sources, Summary};
use nesl_interactive::bundle::without_colors;
use nesl_interactive::display;
use nesl_interactive::json::limits as json_limits;
use nesl_interactive::measure;
use nesl_interactive::message::Renderer;
use nesl_interactive::text::shown_safely;
use nesl_runtime::profile::Profile;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The number of problems of one text that are shown, at most: nobody reads more, and more would push
/// the first ones, which explain the others, off the screen.
const MAX_PROBLEMS_SHOWN: usize = 200;

/// The number of lines of the screen in which a sequence of numbers is printed as the original prints it.
const MAX_LINES: usize = 5;

/// Shows what happens in a session.
pub struct Reporter {
    /// The standard output of the process.
    pub output: Output,
    /// Messages for people.
    pub renderer: Renderer,
    quiet: bool,
    /// True while only what is wrong is shown.
    muted: bool,
    measures: Measures,
    /// The time that kernels took, if that is asked for.
    profile: Profile,
    /// Pictures that were drawn on since they were written, by their places in the session.
    drawn: BTreeSet<usize>,
    /// The folder that pictures are written to; the current one if there is no other.
    folder: Option<PathBuf>,
    /// Problems of the text at hand.
    problems: usize,
    /// The way in which a session with a person shows things; `None` for programs.
    pub screen: Option<Screen>,
    /// The last error of the text at hand.
    last_error: Option<Diagnostic<FileRange>>,
}

/// The way in which a session with a person shows things.
#[derive(Clone, Debug)]
pub struct Screen {
    /// The rows that a value may take; no limit if there is none.
    pub rows: Option<usize>,
    /// Returns the width of the screen in characters, which may change.
    pub width: fn() -> usize,
    /// The text behind the type of a result: the name that it has besides `it`.
    pub result: String,
    /// The significant digits of floats in tables; all that they need if there is no number.
    pub digits: Option<usize>,
}

impl Reporter {
    /// A reporter, and a session whose programs print through it.
    pub fn new(global: &Global) -> Result<(Reporter, Session)> {
        let reporter = Reporter::without_session(global);
        let mut session = Session::new(global.settings());
        session.set_runtime(global.runtime(session.interrupt_handle())?);
        interrupt::install(&session);
        reporter.connect(&mut session);
        Ok((reporter, session))
    }

    /// A reporter for a session that somebody else makes.
    pub fn without_session(global: &Global) -> Reporter {
        Reporter {
            output: Output::stdout(),
            renderer: Renderer::new(global.colors(&std::io::stderr())),
            quiet: global.quiet,
            muted: false,
            measures: Measures::default(),
            profile: Profile::default(),
            drawn: BTreeSet::new(),
            folder: global.pictures.clone(),
            problems: 0,
            screen: None,
            last_error: None,
        }
    }

    /// Shows nothing but what is wrong, whatever the command line says or no more.
    pub fn set_quiet(&mut self, quiet: bool) {
        self.muted = quiet;
    }

    /// Tells from now on what forms take.
    pub fn measure(&mut self, session: &mut Session, measures: Measures) {
        self.measures = measures;
        if measures.profile {
            session.time_kernels(Some(self.profile.clone()));
        }
        // What a form takes is known if each does its own work.
        let settings = session.settings_mut();
        settings.lazy = !measures.time && !measures.json;
        settings.data = measures.json.then(|| json_limits(settings.print_length));
        self.connect(session);
    }

    /// Lets programs print through this reporter: to standard output, if that is not for objects.
    pub fn connect(&self, session: &mut Session) {
        if self.measures.json {
            session.set_output(Box::new(std::io::stderr()));
        } else {
            session.set_output(Box::new(self.output.clone()));
        }
    }

    /// Returns the times of kernels, if they are asked for.
    pub fn profile(&self) -> Option<Profile> {
        self.measures.profile.then(|| self.profile.clone())
    }

    /// Tells what a session did, if that is wanted.
    pub fn stats(&self, session: &Session) {
        let Measures { stats, profile, json, .. } = self.measures;
        let kernels = self.profile.kernels();
        if json {
            let stats = stats.then(|| measure::stats_object(&session.stats()));
            let profile = profile.then(|| measure::profile_object(&kernels));
            for object in [profile, stats].into_iter().flatten() {
                self.output.line(&object);
                self.output.show();
            }
            return;
        }
        if profile {
            eprint!("{}", measure::profile(&kernels));
        }
        if stats {
            eprint!("{}", measure::stats(&session.stats(), None));
        }
    }

    /// Enters a text and shows what comes of it.
    pub fn enter(&mut self, session: &mut Session, name: &str, text: &str) -> Summary {
        self.enter_at(session, name, text, 0, &mut |_| {})
    }

    /// The same for a text that stands below `line` others in what people think of as its file; what
    /// is evaluated and defined is handed on, too.
    pub fn enter_at(
        &mut self,
        session: &mut Session,
        name: &str,
        text: &str,
        line: usize,
        seen: &mut dyn FnMut(&Binding),
    ) -> Summary {
        let output = self.output.clone();
        let quiet = self.quiet || self.muted;
        let (measures, sources) = (self.measures, session.sources());
        let print_length = session.settings().print_length;
        let usual = print_length == Settings::default().print_length;
        let screen = self.screen.clone();
        self.entered(session, name, text, line, &mut |binding| {
            seen(&binding);
            if measures.json {
                let object = measure::form_object(&sources, &binding, line, print_length);
                if let Some(object) = object {
                    output.line(&object);
                }
            } else if !quiet {
                output.line(&shown(&binding, screen.as_ref(), usual));
            }
            if measures.time
                && let Some(time) = measure::time(&binding)
            {
                output.message(&format!("{time}\n"));
            }
        })
    }

    /// Enters a text; what is evaluated and defined is handed on instead of shown.
    pub fn collect(
        &mut self,
        session: &mut Session,
        name: &str,
        text: &str,
        bound: &mut dyn FnMut(Binding),
    ) -> Summary {
        self.entered(session, name, text, 0, bound)
    }

    fn entered(
        &mut self,
        session: &mut Session,
        name: &str,
        text: &str,
        line: usize,
        bound: &mut dyn FnMut(Binding),
    ) -> Summary {
        let sources = session.sources();
        self.problems = 0;
        self.last_error = None;
        if let Some(screen) = &self.screen {
            self.renderer.fit((screen.width)());
        }
        let summary = interrupt::during(|| {
            session.enter(name, text, &mut |event| match event {
                Event::Bound(binding) => {
                    self.renderer.starts_at(binding.at.file, line);
                    bound(binding);
                    self.output.show();
                }
                Event::Text(text) => {
                    if self.measures.json {
                        eprintln!("{text}");
                    } else if !text.is_empty() {
                        self.output.line(&text);
                        self.output.show();
                    }
                }
                // The prompt says it in a line.
                Event::Diagnostic(diagnostic)
                    if self.screen.is_some() && is_redefinition(&diagnostic) => {}
                Event::Diagnostic(diagnostic) => {
                    if diagnostic.severity == Severity::Error {
                        self.last_error = Some(diagnostic.clone());
                    }
                    for label in std::iter::once(&diagnostic.primary).chain(&diagnostic.labels) {
                        if *sources.get(label.at.file).0 == *name {
                            self.renderer.starts_at(label.at.file, line);
                        }
                    }
                    self.show(&sources, &diagnostic);
                }
            })
        });
        let pictures = session.pictures().iter().enumerate();
        self.drawn.extend(pictures.filter(|(_, picture)| picture.changed()).map(|(at, _)| at));
        self.more();
        // An error that says where the text was interrupted says that it was.
        let is_told = |error: &Diagnostic<FileRange>| error.message.starts_with("Interrupted");
        if summary.interrupted && !self.last_error.as_ref().is_some_and(is_told) {
            self.output.message("Interrupted.\n");
        }
        self.output.show();
        summary
    }

    /// Returns the last error of a text if it is one of types.
    pub fn type_error(&self) -> Option<&Diagnostic<FileRange>> {
        self.last_error.as_ref().filter(|error| error.kind == DiagnosticKind::Type)
    }

    /// Returns the number of pictures that were drawn on and could not be written.
    pub fn unsaved_pictures(&self) -> usize {
        self.drawn.len()
    }

    /// Writes the pictures that were drawn since the last time, and says so. Those that cannot be written are
    /// tried again the next time.
    pub fn write_pictures(&mut self, session: &Session) -> Result<()> {
        while let Some(at) = self.drawn.first().copied() {
            let Some(picture) = session.pictures().get(at) else {
                // The session was reset.
                self.drawn.clear();
                break;
            };
            let mut path = PathBuf::from(picture.file_name());
            if let Some(folder) = &self.folder {
                std::fs::create_dir_all(folder)
                    .with_context(|| format!("cannot make the folder {}", folder.display()))?;
                path = folder.join(path);
            }
            nesl_engine::write_whole(&path, picture.svg().as_bytes())
                .with_context(|| format!("cannot write {}", path.display()))?;
            self.drawn.remove(&at);
            if !self.quiet {
                self.output.message(&format!("Drew {}.\n", path.display()));
            }
        }
        Ok(())
    }

    /// Shows a diagnostic on standard error, after what was printed before it.
    pub fn diagnostic(&mut self, session: &Session, diagnostic: &Diagnostic<FileRange>) {
        self.show(&session.sources(), diagnostic);
    }

    fn show(&mut self, sources: &Sources, diagnostic: &Diagnostic<FileRange>) {
        self.problems += 1;
        if self.measures.json {
            self.output.line(&json::Writer::problem_line(sources, diagnostic));
            self.output.show();
            return;
        }
        if self.problems <= MAX_PROBLEMS_SHOWN {
            let shown = self.renderer.render(sources, diagnostic);
            self.output.message(&shown);
        }
    }

    /// Ends a text: says how many of its problems were not shown.
    pub fn more(&mut self) {
        let more = std::mem::take(&mut self.problems).saturating_sub(MAX_PROBLEMS_SHOWN);
        if more > 0 && !self.measures.json {
            let are = if more == 1 { "problem is" } else { "problems are" };
            let text = format!(
                "{more} more {are} not shown; `nesl check --json` lists all of a file's.\n"
            );
            self.output.message(&text);
        }
    }
}

/// Returns a form that was evaluated or defined, in a line, or in rows if there is a screen and a line does not
/// hold it.
fn shown(binding: &Binding, screen: Option<&Screen>, usual: bool) -> String {
    let Binding { name, value, ty, data, expression, .. } = binding;
    let Some(Screen { rows, width, result, digits }) = screen else {
        return format!("{name} = {value} : {ty}");
    };
    let value = shown_safely(value, &interrupt::is_pressed);
    let line = format!("{name} = {value} : {ty}");
    let result = if *expression { result.as_str() } else { "" };
    // Who asks for so many elements gets them.
    let Some((rows, data)) = rows.filter(|_| usual).zip(data.as_ref()) else {
        return line + result;
    };
    let width = width();
    // It is not worth a row of its own.
    let room = width.saturating_sub(line.chars().count() % width.max(1));
    let fits = without_colors(result).chars().count() <= room;
    // A few lines of numbers are as good as a table of them; nested ones are not.
    let lines = line.chars().count().div_ceil(width.max(1)).max(line.lines().count());
    let is_flat = data.ty().element().is_none_or(|element| {
        matches!(element, ValueType::Int | ValueType::Float | ValueType::Bool | ValueType::Function)
    });
    if lines <= 1 || (is_flat && lines <= MAX_LINES.min(rows)) {
        return if fits { line + result } else { line };
    }
    let before = format!("{name} = ");
    let chars = before.chars().count();
    let shown = display::rows(data, rows, width, chars, *digits);
    let (head, body) = shown.split_once('\n').unwrap_or((&shown, ""));
    let used = chars + head.chars().count();
    let fits = used % width.max(1) + without_colors(result).chars().count() <= width;
    let result = if fits { result } else { "" };
    format!("{before}{head}{result}\n{body}").trim_end().to_owned()
}

/// Returns true for the warning that earlier definitions keep what a name was before.
fn is_redefinition(diagnostic: &Diagnostic<FileRange>) -> bool {
    diagnostic.severity == Severity::Warning && diagnostic.message.starts_with("Redefining `")
}
