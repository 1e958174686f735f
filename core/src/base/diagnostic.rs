//! Diagnostics as data: a message, the source locations it is about, and hints.
//!
//! They are generic in the type of a location: a stage reports in its own terms (the parser in bytes
//! of the item, the checker in [`Loc`](super::Loc)s) and [`Diagnostic::map`] translates them for
//! output. Rendering is left to the programs that print them.

/// The stage that found an error; its word is a part of the printed message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DiagnosticKind {
    /// The text is not NESL.
    Syntax,
    /// A name is undefined, or may not be used in this way.
    Name,
    /// Types do not agree.
    Type,
    /// The program failed while running.
    Runtime,
}

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The form cannot be run.
    Error,
    /// The form can be run, but the user should know.
    Warning,
}

/// A source location and the text that is printed there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label<L> {
    /// The source location.
    pub at: L,
    /// A short phrase in the user's words; may be empty for the primary location.
    pub text: String,
}

/// A suggestion that resolves the error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint<L> {
    /// The suggestion, as a sentence fragment: ``write `==` to compare``.
    pub text: String,
    /// The edit that follows the suggestion, if there is one: a location and the text to replace it.
    pub edit: Option<(L, String)>,
}

/// An error or a warning, with source locations of type `L`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic<L> {
    /// The stage that found the error.
    pub kind: DiagnosticKind,
    /// The severity, error or warning.
    pub severity: Severity,
    /// One line without a full stop: ``` `+` cannot add an int and a float ```.
    pub message: String,
    /// The location of the error.
    pub primary: Label<L>,
    /// Further locations that explain the error.
    pub labels: Vec<Label<L>>,
    /// Further facts, one sentence each.
    pub notes: Vec<String>,
    /// Suggestions, the best first.
    pub hints: Vec<Hint<L>>,
    /// True for an error that only follows from another one, which has been reported: that a form
    /// is not defined because it failed.
    pub follows: bool,
}

impl<L> Diagnostic<L> {
    /// Makes an error with a message about a location.
    pub fn error(kind: DiagnosticKind, at: L, message: impl Into<String>) -> Diagnostic<L> {
        Diagnostic {
            kind,
            severity: Severity::Error,
            message: message.into(),
            primary: Label { at, text: String::new() },
            labels: Vec::new(),
            notes: Vec::new(),
            hints: Vec::new(),
            follows: false,
        }
    }

    /// Makes a warning with a message about a location.
    pub fn warning(kind: DiagnosticKind, at: L, message: impl Into<String>) -> Diagnostic<L> {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(kind, at, message) }
    }

    /// Sets the text that is printed at the primary location.
    pub fn here(mut self, text: impl Into<String>) -> Self {
        self.primary.text = text.into();
        self
    }

    /// Says that the error only follows from another one.
    pub fn following(mut self) -> Self {
        self.follows = true;
        self
    }

    /// Adds a secondary location and its text.
    pub fn label(mut self, at: L, text: impl Into<String>) -> Self {
        self.labels.push(Label { at, text: text.into() });
        self
    }

    /// Adds a note.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Adds a suggestion without an edit.
    pub fn hint(mut self, text: impl Into<String>) -> Self {
        self.hints.push(Hint { text: text.into(), edit: None });
        self
    }

    /// Adds a suggestion with its edit: `replacement` replaces the text at `at`.
    pub fn fix(mut self, text: impl Into<String>, at: L, replacement: impl Into<String>) -> Self {
        self.hints.push(Hint { text: text.into(), edit: Some((at, replacement.into())) });
        self
    }

    /// Translates all source locations of the diagnostic.
    pub fn map<M>(self, mut f: impl FnMut(L) -> M) -> Diagnostic<M> {
        let mut label = |l: Label<L>| Label { at: f(l.at), text: l.text };
        let primary = label(self.primary);
        let labels = self.labels.into_iter().map(&mut label).collect();
        let hints = self
            .hints
            .into_iter()
            .map(|h| Hint { text: h.text, edit: h.edit.map(|(at, with)| (f(at), with)) })
            .collect();
        Diagnostic {
            kind: self.kind,
            severity: self.severity,
            message: self.message,
            primary,
            labels,
            notes: self.notes,
            hints,
            follows: self.follows,
        }
    }
}
