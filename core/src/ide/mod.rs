//! What an editor asks of a program, as plain data; a file each.
//!
//! Everything here is a function of the database, a file and a place, pure, and in the editor's own
//! terms: bytes of a text, text to show, edits. No protocol is known here (`server/` turns this
//! into LSP, another face may turn it into something else), nothing is rendered but Markdown, and
//! nothing is run: values come from elsewhere.
//!
//! | file | what it answers |
//! |---|---|
//! | `cursor` | which form, token and expression stand at a place |
//! | `symbol` | what a name stands for, and all places of a form where something is named |
//! | `definition` | where a name, or a type, is defined |
//! | `references` | all places that name the same thing; those in one text, to be highlighted |
//! | `rename` | another name for it |
//! | `hover` | the type, documentation, cost and flattened form of what is pointed at |
//! | `shape` | what a form becomes: the kernels, and how they are chosen |
//! | `stage` | a form as a stage of the compiler sees it, each line with its source |
//! | `actions` | what could be done there: diagnostics mended, forms written another way |
//! | `place` | what is open around a place that is being written, by tokens |
//! | `completion` | what could be written there, what fits first |
//! | `signature` | the function that is being called at a place, and its parameters |
//! | `library` | the primitives as a text that one can jump to |
//!
//! A feature tolerates whatever the text is like: people ask while they type. What it cannot know
//! is absent, never wrong. `fixture` is how features are tested: a text with a cursor in it.

mod actions;
mod completion;
mod cursor;
mod definition;
#[cfg(test)]
mod fixture;
mod hover;
mod library;
mod place;
mod references;
mod rename;
mod shape;
mod signature;
mod stage;
mod symbol;

pub use actions::{Action, ActionKind, actions};
pub use completion::{Completion, CompletionKind, completion_doc, completions};
pub use cursor::Cursor;
pub use definition::{definition, type_definition};
pub use hover::{Hover, hover};
pub use library::primitives;
pub use references::{Reference, highlights, references};
pub use rename::{Refusal, prepare_rename, rename};
pub use shape::{Shape, shape, summary};
pub use signature::{SignatureHelp, signature_help};
pub use stage::{Line, Stage, View, view};
pub use symbol::{Occurrence, Role, Symbol, occurrences};

use crate::base::TextRange;
use crate::db::FileId;

/// A text one can point into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Text {
    /// A file of the database.
    File(FileId),
    /// The primitives ([`primitives`]).
    Primitives,
}

/// Where something is defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The text it stands in.
    pub text: Text,
    /// All of it: a whole form, a whole pattern.
    pub range: TextRange,
    /// Its name.
    pub focus: TextRange,
}

/// A change of a text: bytes replaced by others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The file.
    pub file: FileId,
    /// The bytes.
    pub range: TextRange,
    /// What stands there afterwards.
    pub text: String,
}
