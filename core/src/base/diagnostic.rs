//! Diagnostics as data: what is wrong, where, and a way out.
//!
//! They are generic in how a place is given: a stage reports in its own terms (the parser in
//! bytes of the item, the checker in [`Loc`](super::Loc)s) and [`Diagnostic::map`] translates on
//! the way out. Rendering belongs to the faces.

/// What sort of thing is wrong; the word is part of the message a person sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The text is not NESL.
    Syntax,
    /// A name means nothing here, or may not be used so.
    Name,
    /// Types disagree.
    Type,
    /// The program failed while running.
    Runtime,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The form cannot be run.
    Error,
    /// It runs, but a person should know.
    Warning,
}

/// A place and what to say there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label<L> {
    /// Where.
    pub at: L,
    /// A short phrase in the user's words; may be empty for the primary place.
    pub text: String,
}

/// A way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint<L> {
    /// What to do, as a sentence fragment: ``write `==` to compare``.
    pub text: String,
    /// The edit that does it, when one can be given: replace this place by this text.
    pub edit: Option<(L, String)>,
}

/// Something wrong, with places of type `L`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic<L> {
    /// What sort.
    pub kind: Kind,
    /// How bad.
    pub severity: Severity,
    /// One line, no trailing stop: ``` `+` cannot add an int and a float ```.
    pub message: String,
    /// The place it is about.
    pub primary: Label<L>,
    /// Other places that explain it.
    pub labels: Vec<Label<L>>,
    /// Further facts, a sentence each.
    pub notes: Vec<String>,
    /// Ways out, best first.
    pub hints: Vec<Hint<L>>,
}

impl<L> Diagnostic<L> {
    /// An error with a message about a place.
    pub fn error(kind: Kind, at: L, message: impl Into<String>) -> Diagnostic<L> {
        Diagnostic {
            kind,
            severity: Severity::Error,
            message: message.into(),
            primary: Label { at, text: String::new() },
            labels: Vec::new(),
            notes: Vec::new(),
            hints: Vec::new(),
        }
    }

    /// A warning with a message about a place.
    pub fn warning(kind: Kind, at: L, message: impl Into<String>) -> Diagnostic<L> {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(kind, at, message) }
    }

    /// Says something at the primary place.
    pub fn here(mut self, text: impl Into<String>) -> Self {
        self.primary.text = text.into();
        self
    }

    /// Adds a secondary place.
    pub fn label(mut self, at: L, text: impl Into<String>) -> Self {
        self.labels.push(Label { at, text: text.into() });
        self
    }

    /// Adds a fact.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Adds a way out without an edit.
    pub fn hint(mut self, text: impl Into<String>) -> Self {
        self.hints.push(Hint { text: text.into(), edit: None });
        self
    }

    /// Adds a way out with the edit that does it.
    pub fn fix(mut self, text: impl Into<String>, at: L, replacement: impl Into<String>) -> Self {
        self.hints.push(Hint { text: text.into(), edit: Some((at, replacement.into())) });
        self
    }

    /// The same diagnostic in other coordinates.
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
        }
    }
}
