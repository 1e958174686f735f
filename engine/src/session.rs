//! A session: a growing sequence of entries, which are checked and run, and report events.

mod command;
mod cost;
mod define;
mod exchange;
mod forget;
mod inspect;
mod last_calls;
mod lazy;
mod measure;
mod names;
mod pieces;
mod publish;

mod refused;
mod results;
mod run;
mod shown;
mod stored;
mod undo;
mod watch;
mod way_out;

use crate::Sources;
use crate::data::{DataLimits, Shown};
use crate::execute::Executor;
use crate::host::picture::Picture;
use crate::host::{LineInput, System};
use crate::interpret_first::InterpretFirst;
use crate::outlook::{Entry, Outlook};
use crate::preview::Ends;
use crate::progress::Progress;
use nesl_core::base::{Diagnostic, ItemId, Name, Severity};
use nesl_core::db::{Before, Database};
use nesl_core::interp::{DEFAULT_DEPTH, DEFAULT_LENGTH};
use nesl_core::names::Resolution;
use nesl_core::syntax::{RawKind, entry};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use crate::sources::FileRange;
pub use cost::Cost;
pub use inspect::StageText;
pub use measure::{Stats, Usage, Variable};
pub use names::{Definition, Earlier, Known};
pub use nesl_core::db::FileId;
pub use nesl_core::strategy::{Strategy, Version};
use nesl_runtime::profile::Profile;
use nesl_runtime::runtime::{DEFAULT_STACK_BYTES, Runtime, default_memory_limit};
pub use nesl_runtime::scalar::Precision;
pub use pieces::Piece;
pub use results::RESULTS;

/// The settings of a session.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The width of int and float. Values already computed keep theirs.
    pub precision: Precision,
    /// The seed of the random numbers.
    pub seed: u64,
    /// Sequences longer than this are abbreviated when shown; `None`: never.
    pub print_length: Option<usize>,
    /// The text of a value ends soon after so many bytes; `None`: never.
    pub print_bytes: Option<usize>,
    /// Levels of recursion allowed.
    pub max_depth: usize,
    /// The size in bytes that the stack of calls within each other may have, wherever a program runs.
    pub max_stack_bytes: usize,
    /// The size in bytes that all sequences of the direct interpreter may have together.
    pub max_bytes: u64,
    /// Elements a single sequence may have.
    pub max_length: usize,
    /// Charge scans a depth of log₂ n.
    pub log_scan: bool,
    /// The values that are shown.
    pub shown: ShownValues,
    /// The parts of values that are read for [`Binding::data`]; `None` if nobody wants them.
    pub data: Option<DataLimits>,
    /// Expressions define `it`.
    pub defines_it: bool,
    /// With a runtime: definitions of sequences that are not shown are computed when somebody asks,
    /// and together with what asks.
    pub lazy: bool,
    /// With a runtime: each program is interpreted first, for about as long as it would take to
    /// compile it.
    pub interpret_first: bool,
    /// With a runtime: the choice between versions of the same code. Programs are interpreted first
    /// only with [`Strategy::Auto`].
    pub strategy: Strategy,
    /// With a runtime: the number of steps after which fusion stops, to find the one that is wrong;
    /// `None` for no limit. Programs are interpreted first only without a limit.
    pub fuel: Option<u32>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            precision: Precision::Bits64,
            seed: 0,
            print_length: Some(100),
            print_bytes: None,
            max_depth: DEFAULT_DEPTH,
            max_stack_bytes: DEFAULT_STACK_BYTES,
            max_bytes: default_memory_limit(),
            max_length: DEFAULT_LENGTH,
            log_scan: false,
            shown: ShownValues::All,
            data: None,
            defines_it: true,
            lazy: true,
            interpret_first: true,
            strategy: Strategy::Auto,
            fuel: None,
        }
    }
}

/// The values that are shown. Others stay unread where they are, and definitions of sequences among
/// them are computed when somebody asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownValues {
    /// Those of all forms.
    All,
    /// Those of expressions, and none of definitions.
    Expressions,
    /// Those without sequences.
    Scalars,
}

/// Something that happened while an entry ran.
#[derive(Clone, Debug)]
pub enum Event {
    /// A top-level expression, binding, function or datatype was evaluated or defined.
    Bound(Binding),
    /// Text a command produced (`describe sort;`, `show status;`, …), for standard output.
    Text(String),
    /// Something is wrong; forms after it still run.
    Diagnostic(Diagnostic<FileRange>),
}

/// A name (or pattern) and what it is now.
#[derive(Clone, Debug)]
pub struct Binding {
    /// `it`, `x`, `(a, b)`, `qsort`.
    pub name: String,
    /// The value as the original prints it, abbreviated by the session's settings; `fn` for
    /// functions. Empty where it was not to be shown ([`Settings::shown`]).
    pub value: String,
    /// The value as data, if it was to be shown and the settings ask for data.
    pub data: Option<Shown>,
    /// The type as printed: `[int]`, `(a, a) -> a :: (a in number)`.
    pub ty: String,
    /// True for a top-level expression.
    pub expression: bool,
    /// Work and depth of evaluating it, where it was evaluated.
    pub cost: Option<(u64, u64)>,
    /// The time, launches and memory that evaluating it took.
    pub usage: Usage,
    /// The place of the form.
    pub at: FileRange,
}

/// The outcome of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Forms evaluated or defined.
    pub ok: usize,
    /// The number of errors reported.
    pub errors: usize,
    /// The entry was interrupted.
    pub interrupted: bool,
    /// `exit;` was asked for.
    pub exit: bool,
}

/// The result of checking a text without running it.
#[derive(Clone, Debug)]
pub struct CheckReport {
    /// The diagnostics, in the order of their places.
    pub diagnostics: Vec<Diagnostic<FileRange>>,
    /// Each definition with its type.
    pub definitions: Vec<(String, String)>,
}

/// A name that may stand at a place in a line being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The name that is bound.
    pub name: String,
    /// Its type as printed.
    pub ty: String,
}

/// The state behind a prompt, notebook or program run.
pub struct Session {
    db: Database,
    /// The texts of the database's files, for who shows events.
    sources: Sources,
    host: System,
    settings: Settings,
    interrupt: Arc<AtomicBool>,
    progress: Progress,
    outlook: Outlook,
    /// The entries as they were published last.
    published: FxHashMap<FileId, Arc<Entry>>,
    /// The runtime that programs run on, if not the direct interpreter.
    executor: Option<Executor>,
    interpret_first: InterpretFirst,
    /// The place in the sequence of entries whose definitions the next entry sees.
    last: Option<Before>,
    /// The files of the entries.
    entries: forget::Entries,
    /// A file for texts that are only looked at.
    scratch: Option<FileId>,
    /// The values of top-level variables.
    values: FxHashMap<(ItemId, Name), lazy::Value>,
    /// The definitions that mention each name; those of a variable may ask for its value, whatever
    /// takes its name.
    mentions: FxHashMap<(ItemId, Name), FxHashSet<ItemId>>,
    /// True once a definition was hidden that values may have been kept for.
    hidden: bool,
    /// Those that are kept in files.
    stored: stored::Stored,
    /// Definitions that took the place of others of the same name and type.
    replaced: FxHashMap<(ItemId, Name), ItemId>,
    /// The diagnostics of definitions of the text being entered that were disabled before it ran.
    broken: FxHashMap<ItemId, Vec<Diagnostic<nesl_core::db::FileRange>>>,
    /// The names of the library that the text being entered failed to define anew.
    refused: FxHashSet<Name>,
    /// True if entries are parts of one text.
    one_text: bool,
    /// The names whose definitions failed in the entries of that text.
    lost: FxHashSet<Name>,
    /// The seed of the settings that was handed on last.
    seed: u64,
    /// Forms run since the last seeding: the root of their random keys.
    draws: i64,
    /// True once a form that draws random numbers has run since the last seeding.
    has_drawn: bool,
    /// The texts being run, each loaded by the one before it.
    running: Vec<FileId>,
    /// The functions that are traced or profiled, by name.
    watches: FxHashMap<Name, watch::Watch>,
    /// The entry is the last one once more: what it defines takes the place of itself only, and
    /// stays as it was where that fails.
    again: bool,
    /// The entry that can be taken back.
    undo: undo::Undo,
    /// The entries that give results their names.
    results: results::Results,
    /// True if the text that is entered next ends in a terminator that nobody typed.
    is_closed: bool,
    /// Nesting of `load`, to refuse a file that loads itself.
    loading: Vec<command::Loading>,
}

/// Receives the events of an entry.
type Sink<'a> = &'a mut dyn FnMut(Event);

impl Session {
    /// A new session, with the library and nothing else.
    pub fn new(settings: Settings) -> Session {
        let db = Database::new();
        let sources = Sources::default();
        for file in db.library() {
            sources.set(file, &db.file_name(file), &db.file_text(file));
        }
        let interrupt = Arc::<AtomicBool>::default();
        let mut host = System::new(settings.seed);
        host.set_interrupt(interrupt.clone());
        Session {
            db,
            sources,
            host,
            seed: settings.seed,
            settings,
            interrupt,
            progress: Progress::default(),
            outlook: Outlook::default(),
            published: FxHashMap::default(),
            executor: None,
            interpret_first: InterpretFirst::default(),
            last: None,
            entries: forget::Entries::default(),
            scratch: None,
            values: FxHashMap::default(),
            mentions: FxHashMap::default(),
            hidden: false,
            stored: stored::Stored::default(),
            replaced: FxHashMap::default(),
            broken: FxHashMap::default(),
            refused: FxHashSet::default(),
            one_text: false,
            lost: FxHashSet::default(),
            draws: 0,
            has_drawn: false,
            running: Vec::new(),
            watches: FxHashMap::default(),
            again: false,
            undo: undo::Undo::default(),
            results: results::Results::default(),
            is_closed: false,
            loading: Vec::new(),
        }
    }

    /// Forgets all entries, values and pictures, and where the standard streams go. The settings, the
    /// runtime and the handles stay.
    pub fn reset(&mut self) {
        let mut fresh = Session::new(self.settings.clone());
        fresh.host.set_interrupt(self.interrupt.clone());
        fresh.interrupt = self.interrupt.clone();
        fresh.progress = self.progress.clone();
        fresh.outlook = self.outlook.clone();
        fresh.outlook.publish(Vec::new());
        fresh.executor = self.executor.take();
        *self = fresh;
    }

    /// Sets the arguments that programs ask for; none at first.
    pub fn set_arguments(&mut self, arguments: Vec<String>) {
        self.host.set_arguments(arguments);
    }

    /// Seeds the random numbers: what is drawn from now on depends on the seed only, not on what was
    /// drawn before.
    pub fn restart_random(&mut self, seed: u64) {
        self.settings.seed = seed;
        self.seed = seed;
        self.host.set_seed(seed);
        self.draws = 0;
        self.has_drawn = false;
    }

    /// Returns true if a form that draws random numbers has run since the last seeding.
    pub fn has_drawn(&self) -> bool {
        self.has_drawn
    }

    /// Runs programs on a runtime from now on; without one, on the direct interpreter. The
    /// runtime is to be made with [`Session::interrupt_handle`].
    pub fn set_runtime(&mut self, runtime: Option<Box<dyn Runtime>>) {
        self.force_all();
        for value in self.values.values() {
            if let lazy::Value::Computed(value) = value {
                // A value that cannot be read any more is lost with its runtime.
                let _ = value.leave_runtime(self.runtime());
            }
        }
        if let Some(runtime) = &runtime {
            let caps = runtime.caps();
            // A device does not compute on the threads of the host.
            let threads = caps.shares_host_memory.then_some(caps.multiprocessors);
            self.host.set_limits(threads, caps.memory);
        }
        self.executor = runtime.map(|runtime| Executor::new(runtime, self.progress.clone()));
    }

    /// Gives the device that programs run on back, if there is one, until it is needed again: arrays move to
    /// the memory of the host, and values and definitions stay what they are. Memory that the runtime keeps for later
    /// arrays is freed. Fails with the reason why
    /// that is not possible; then the device is kept.
    pub fn release_device(&self) -> Result<(), String> {
        let released = self.runtime().map_or(Ok(()), Runtime::release_device);
        released.map_err(|failure| crate::resident::words(&failure))
    }

    /// Records the times of kernels in a profile from now on; without one, no more. Values stay where
    /// they are. Returns false if programs run on the direct interpreter, which has no kernels.
    pub fn time_kernels(&mut self, profile: Option<Profile>) -> bool {
        let Some(executor) = &mut self.executor else { return false };
        executor.set_profile(profile);
        true
    }

    /// Returns the runtime that programs run on, if not the direct interpreter.
    fn runtime(&self) -> Option<&dyn Runtime> {
        self.executor.as_ref().map(|executor| &*executor.runtime)
    }

    /// Returns the elements of a sequence that are read to show it; `None` for all of them.
    fn shown_ends(&self) -> Option<Ends> {
        let executor = self.executor.as_ref()?;
        // An element takes a character and two between it and the next.
        let of_text = || self.settings.print_bytes.map(|bytes| bytes / 3 + 1);
        let head = self.settings.print_length.or_else(of_text)?;
        let whole_bytes = executor.limits.max_preview_bytes;
        Some(match self.settings.data {
            None => Ends { head, tail: 0, whole_bytes },
            Some(data) => Ends {
                head: head.max(data.head_elements),
                tail: data.tail_elements,
                whole_bytes: whole_bytes.max(data.whole_bytes),
            },
        })
    }

    /// Returns the text that is entered next with the terminator that it may lack; messages show it without.
    pub fn closed(&mut self, text: &str) -> String {
        let closed = entry::close(text);
        self.is_closed = closed != text;
        closed
    }

    /// Keeps the text of a file for messages, as it was typed.
    fn set_source(&mut self, file: FileId, name: &str, text: &str) {
        let was_closed = std::mem::take(&mut self.is_closed);
        let typed = text.strip_suffix(';').filter(|_| was_closed).unwrap_or(text);
        self.sources.set(file, name, typed);
    }

    /// Returns a diagnostic that does not speak of a terminator that nobody typed.
    fn as_typed(&self, mut diagnostic: Diagnostic<FileRange>) -> Diagnostic<FileRange> {
        let FileRange { file, range } = &diagnostic.primary.at;
        if let Some(expected) = diagnostic.message.strip_suffix(", found `;`")
            && range.start >= self.sources.get(*file).1.len()
        {
            diagnostic.message = expected.to_owned();
        }
        diagnostic
    }

    /// Checks and runs a text; `name` is what messages call it. What the program prints goes to
    /// standard output, unless [`Session::set_output`] says otherwise.
    ///
    /// A form that fails defines nothing; those after it still run.
    pub fn enter(&mut self, name: &str, text: &str, sink: Sink<'_>) -> Summary {
        self.host.pictures_mut().settle();
        self.refused.clear();
        self.begin_undo();
        let again = self.same_again(name, text);
        self.again = again.is_some();
        let file = match again {
            Some(file) => file,
            None => {
                self.forget_entries();
                let file = self.db.add_file(name, text, self.last);
                self.entries.push(file);
                file
            }
        };
        self.set_source(file, name, text);
        let mut summary = Summary::default();
        self.while_loading(Path::new(name), |session| {
            session.find_loads(file);
            let _running = session.progress.begin();
            session.run_file(file, false, sink, &mut summary);
        });
        self.last = Some(Before::all(file));
        self.again = false;
        self.end_undo();
        self.publish(Before::all(file));
        summary
    }

    /// The last entry, if it was this one and running it once more is the same as entering it once
    /// more: it defines data only, each name once, and mentions nothing that it gave another
    /// meaning.
    fn same_again(&self, name: &str, text: &str) -> Option<FileId> {
        let Before { file, .. } = self.last?;
        if *self.db.file_text(file) != *text || *self.db.file_name(file) != *name {
            return None;
        }
        let forms = &self.db.outline(file).forms;
        let own: FxHashSet<&Name> = forms.iter().flat_map(|form| form.names.iter()).collect();
        if own.len() < forms.iter().map(|form| form.names.len()).sum() {
            return None;
        }
        let same = forms.iter().all(|form| {
            let outside = |resolution: &Resolution| match resolution {
                Resolution::Item(item, name) => {
                    !own.contains(name) || self.db.file_of(*item) == file
                }
                Resolution::Prim(_)
                | Resolution::Local(_)
                | Resolution::Optional(_)
                | Resolution::Unknown => true,
            };
            match form.kind {
                RawKind::Binding | RawKind::Expr => {
                    !self.db.is_disabled(form.id())
                        && self.db.is_data(form.id())
                        && self.db.names(form.id()).values.values().all(outside)
                }
                RawKind::Blank => true,
                RawKind::Function | RawKind::Datatype | RawKind::Command => false,
            }
        });
        same.then_some(file)
    }

    /// Returns the drawings on all windows, in the order in which the windows were made; those that
    /// the last entry drew on say so.
    pub fn pictures(&self) -> &[Picture] {
        self.host.pictures().all()
    }

    /// The name and text of a file that a diagnostic points into (the library's, too). Those of an
    /// entry are kept until the next one, and then for as long as one of its definitions is used.
    pub fn source(&self, file: FileId) -> (Arc<str>, Arc<str>) {
        self.sources.get(file)
    }

    /// All files, readable while the session runs.
    pub fn sources(&self) -> Sources {
        self.sources.clone()
    }

    /// Returns the flag that ends the entry that runs, or the next one: its forms fail, and the session
    /// goes on. The session never clears it: who takes the entries does, when it begins to wait for
    /// one, so that an interrupt is not lost that arrives between an entry and its first form.
    pub fn interrupt_handle(&self) -> Arc<AtomicBool> {
        self.interrupt.clone()
    }

    /// Returns a handle that says how far an entry is, from any thread.
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }

    /// Returns a handle to what the next entry would see, from any thread.
    pub fn outlook(&self) -> Outlook {
        self.outlook.clone()
    }

    /// Sends what programs print elsewhere.
    pub fn set_output(&mut self, output: Box<dyn std::io::Write + Send>) {
        self.host.set_output(output);
    }

    /// Sends elsewhere what programs write to the standard stream for errors.
    pub fn set_error_output(&mut self, output: Box<dyn std::io::Write + Send>) {
        self.host.set_error_output(output);
    }

    /// Asks somebody for the lines that programs read from the standard input.
    pub fn set_input(&mut self, input: Box<dyn LineInput>) {
        self.host.set_input(input);
    }

    /// The settings of the session.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The settings, to change.
    pub fn settings_mut(&mut self) -> &mut Settings {
        &mut self.settings
    }

    /// The definition that has taken the place of `name` of an item by now.
    fn current(&self, item: ItemId, name: &Name) -> ItemId {
        let mut item = item;
        while let Some(next) = self.replaced.get(&(item, name.clone())) {
            item = *next;
        }
        item
    }
}

fn is_error<L>(diagnostic: &Diagnostic<L>) -> bool {
    diagnostic.severity == Severity::Error
}

/// The engine's coordinates for the compiler's.
fn located(diagnostic: Diagnostic<nesl_core::db::FileRange>) -> Diagnostic<FileRange> {
    diagnostic.map(place)
}

fn place(at: nesl_core::db::FileRange) -> FileRange {
    FileRange { file: at.file, range: at.range.into() }
}
