//! The features of an editor, as plain data; a file each.
//!
//! Everything here is a function of the database, a file and a place, pure, and in the editor's own
//! terms: bytes of a text, text to show, edits. No protocol is known here (`server/` turns this
//! into LSP, another face may turn it into something else), nothing is rendered but Markdown, and
//! nothing is run: values come from elsewhere.
//!
//! | file | what it answers |
//! |---|---|
//! | `symbol` | what a name stands for, and all places of a form where something is named |
//! | `definition` | where a name, or a type, is defined |
//! | `references` | all places that name the same thing; those in one text, to be highlighted |
//! | `rename` | another name for it |
//! | `hover` | the type, documentation, cost and flattened form of what is pointed at |
//! | `problems` | what is wrong with a file, after each key |
//! | `outline` | what a file defines, and a search by name |
//! | `folding` | what can be folded |
//! | `selection` | what a selection grows to |
//! | `tokens` | what each word is, for colours |
//! | `hints` | types and parallelism, to be shown between the words |
//! | `calls` | who calls a function, and whom it calls |
//! | `formatting` | edits that format a file, a part of it, or what was just typed |
//! | `links` | the files that a text names |
//! | `lenses` | what can be run |
//! | `actions` | quick fixes of diagnostics, and forms written another way |
//! | `place` | what is open around a place that is being written, by tokens |
//! | `completion` | what could be written there, what fits first |
//! | `signature` | the function that is being called at a place, and its parameters |
//! | `library` | the primitives as a text that one can jump to |
//!
//! A feature tolerates whatever the text is like: people ask while they type. What it cannot know
//! is absent, never wrong. `fixture` is how features are tested: a text with a cursor in it.

mod actions;
#[cfg(test)]
mod broken;
mod calls;
mod completion;
mod definition;
#[cfg(test)]
pub(crate) mod fixture;
mod folding;
mod formatting;
mod hints;
mod hover;
mod lenses;
mod library;
mod links;
mod outline;
mod pattern;
mod place;
mod problems;
mod references;
mod rename;
mod selection;
mod signature;
mod symbol;
mod tokens;

pub use actions::{Action, ActionKind, actions};
pub use calls::{CallItem, call_item, incoming, outgoing};
pub use completion::{Completion, CompletionKind, completion_doc, completions};
pub use definition::{definition, type_definition};
pub use folding::{Fold, FoldKind, folds};
pub use formatting::{Formatter, format_document, format_on_type, format_range};
pub use hints::{HintKind, HintOptions, InlayHint, inlay_hints};
pub use hover::{Hover, doc_markdown, hover};
pub use lenses::{Lens, LensKind, lenses};
pub use library::primitives;
pub use links::{Link, links};
pub use outline::{Entry, EntryKind, outline, search};
pub use problems::Problems;
pub use references::{Reference, highlights, references};
pub use rename::{Refusal, prepare_rename, rename};
pub use selection::selections;
pub use signature::{SignatureHelp, signature_help};
pub use symbol::{Occurrence, Role, Symbol, occurrences};
pub use tokens::{Modifiers, SemanticToken, TokenKind, semantic_tokens};

pub use nesl_runtime::scalar::Precision;

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

/// The place of a definition.
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
    /// The file to be changed.
    pub file: FileId,
    /// The bytes that are replaced.
    pub range: TextRange,
    /// The text that replaces them.
    pub text: String,
}
