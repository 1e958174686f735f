//! The session.

use nesl_core::base::Diagnostic;
pub use nesl_runtime::scalar::Precision;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// One text given to the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// Bytes of a file of the session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileRange {
    /// The file.
    pub file: FileId,
    /// The bytes.
    pub range: Range<usize>,
}

/// What a session can be told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The width of int and float.
    pub precision: Precision,
    /// The seed of the random numbers.
    pub seed: u64,
    /// Sequences longer than this are abbreviated when shown; `None`: never.
    pub print_length: Option<usize>,
    /// Levels of recursion allowed.
    pub max_depth: usize,
    /// Charge scans a depth of log₂ n.
    pub log_scan: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            precision: Precision::Bits64,
            seed: 0,
            print_length: Some(100),
            max_depth: 10_000_000,
            log_scan: false,
        }
    }
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
    /// functions.
    pub value: String,
    /// The type as printed: `[int]`, `(a, a) -> a :: (a in number)`.
    pub ty: String,
    /// True for a top-level expression.
    pub expression: bool,
    /// Work and depth of evaluating it, where it was evaluated.
    pub cost: Option<(u64, u64)>,
    /// Seconds it took to run, where it was evaluated.
    pub seconds: f64,
    /// Where the form stands.
    pub at: FileRange,
}

/// How an entry went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Forms evaluated or defined.
    pub ok: usize,
    /// Errors reported.
    pub errors: usize,
    /// It was interrupted.
    pub interrupted: bool,
    /// `exit;` was asked for.
    pub exit: bool,
}

/// What checking a text without running it gives.
#[derive(Clone, Debug)]
pub struct CheckReport {
    /// What is wrong, in order of place.
    pub diagnostics: Vec<Diagnostic<FileRange>>,
    /// Each definition with its type.
    pub definitions: Vec<(String, String)>,
}

/// What could stand at a place in a line being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The name.
    pub name: String,
    /// Its type as printed.
    pub ty: String,
}

/// A representation of a program that can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "they are what they say")]
pub enum Stage {
    Tokens,
    Tree,
    Ast,
    Types,
    Ir,
}

/// A session.
pub struct Session {
    _private: (),
}

impl Session {
    /// A new session, with the library and nothing else.
    pub fn new(settings: Settings) -> Session {
        let _ = settings;
        unreachable!()
    }

    /// Checks and runs a text; `name` is what messages call it. Standard output of the program
    /// goes to the process's, unless [`Session::set_output`] says otherwise.
    pub fn enter(&mut self, name: &str, text: &str, sink: &mut dyn FnMut(Event)) -> Summary {
        let _ = (name, text, sink);
        unreachable!()
    }

    /// Checks a text without running it, or keeping it.
    pub fn check(&mut self, name: &str, text: &str) -> CheckReport {
        let _ = (name, text);
        unreachable!()
    }

    /// The type of an expression, without running it.
    pub fn type_of(&mut self, text: &str) -> Result<String, Vec<Diagnostic<FileRange>>> {
        let _ = text;
        unreachable!()
    }

    /// A representation of a text; of one function if one is named. For [`Stage::Ir`] the text is
    /// elaborated as far as it is monomorphic.
    pub fn dump(
        &mut self,
        name: &str,
        text: &str,
        stage: Stage,
        function: Option<&str>,
    ) -> Result<String, Vec<Diagnostic<FileRange>>> {
        let _ = (name, text, stage, function);
        unreachable!()
    }

    /// The documentation of a name: signature, text, example, cost. `None` if it is unknown.
    pub fn doc(&mut self, name: &str) -> Option<String> {
        let _ = name;
        unreachable!()
    }

    /// Names that begin with `prefix` (folded), for the prompt's completion.
    pub fn complete(&mut self, prefix: &str) -> Vec<Completion> {
        let _ = prefix;
        unreachable!()
    }

    /// Whether a text is a whole number of forms, or more lines are to come.
    pub fn is_complete(&self, text: &str) -> bool {
        let _ = text;
        unreachable!()
    }

    /// The name and text of a file that a diagnostic points into (the prelude's too).
    pub fn source(&self, file: FileId) -> (Arc<str>, Arc<str>) {
        let _ = file;
        unreachable!()
    }

    /// Set this to stop a running computation; the session clears it when it has stopped.
    pub fn interrupt_handle(&self) -> Arc<AtomicBool> {
        unreachable!()
    }

    /// Sends what programs print elsewhere.
    pub fn set_output(&mut self, output: Box<dyn std::io::Write + Send>) {
        let _ = output;
        unreachable!()
    }

    /// The settings, to read or change.
    pub fn settings_mut(&mut self) -> &mut Settings {
        unreachable!()
    }
}
