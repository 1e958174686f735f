//! The features of an editor, as plain data; a file each.
//!
//! Each feature is a pure function of the database, a file and an offset. Its result is in an editor's terms:
//! byte ranges, text to show, edits. No protocol is known here (`server/` converts the results to LSP), nothing
//! is rendered but Markdown, and no program is run.
//!
//! | file | result |
//! |---|---|
//! | `symbol` | the symbol that a name refers to, and all occurrences of names in a form |
//! | `definition` | the definition of a name, or of the type of an expression |
//! | `references` | all references to a symbol; those in one file, to be highlighted |
//! | `rename` | the edits that rename a symbol |
//! | `hover` | the type, documentation, cost and flattened form of the code under the pointer |
//! | `problems` | the diagnostics of a file, updated after each key press |
//! | `unused` | the variables that are not used |
//! | `outline` | the definitions of a file, and a search by name |
//! | `remembered` | colours, outline and lenses of a file, updated after each key press |
//! | `folding` | the ranges that can be folded |
//! | `selection` | the ranges to which a selection is extended |
//! | `tokens` | the kind of each word, for syntax colours |
//! | `hints` | inlay hints: types and parallelism, shown between the words |
//! | `calls` | the callers and callees of a function |
//! | `formatting` | the edits that format a file, a part of it, or the line that was just typed |
//! | `links` | the files that a text loads |
//! | `files` | names of files that are being written in strings |
//! | `lenses` | the forms that can be run |
//! | `actions` | quick fixes of diagnostics, and refactorings |
//! | `place` | the syntactic context of a cursor, from tokens |
//! | `completion` | completions, the best fit first |
//! | `signature` | the function that is called around the cursor, and its parameters |
//! | `library` | the declarations of the primitives as a text |
//!
//! A feature accepts any text, since requests come while the user types. A result that cannot be determined is
//! absent, never wrong. Tests use `fixture`: a text with a cursor in it.

mod actions;
#[cfg(test)]
mod broken;
mod calls;
mod completion;
mod definition;
mod files;
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
mod remembered;
mod rename;
mod selection;
mod signature;
mod symbol;
mod tokens;
mod unused;

pub use actions::{Action, ActionKind, actions};
pub use calls::{CallItem, call_item, incoming, outgoing};
pub use completion::{Completion, CompletionKind, completion_doc, completions};
pub use definition::{declaration, definition, type_definition};
pub use files::{FileChoice, FileKind, FileName, file_name};
pub use folding::{Fold, FoldKind, folds};
pub use formatting::{Formatter, format_document, format_on_type, format_range};
pub use hints::{HintKind, HintOptions, InlayHint, inlay_hints};
pub use hover::{Hover, doc_markdown, hover};
pub use lenses::{Lens, LensKind, broken_forms, lens_at, lenses};
pub use library::primitives;
pub use links::{Link, links};
pub use outline::{Entry, EntryKind, outline, search};
pub use problems::{Problems, shown_at};
pub use references::{Reference, highlights, references};
pub use remembered::Remembered;
pub use rename::{Refusal, prepare_rename, rename};
pub use selection::selections;
pub use signature::{SignatureHelp, signature_help};
pub use symbol::{Occurrence, Role, Symbol, occurrences};
pub use tokens::{Modifiers, SemanticToken, TokenKind, semantic_tokens};
pub use unused::Unused;

pub use nesl_runtime::scalar::Precision;

use crate::base::TextRange;
use crate::db::FileId;

/// A text that contains definitions.
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
    /// The text that contains it.
    pub text: Text,
    /// The range of the whole form or pattern.
    pub range: TextRange,
    /// The range of its name.
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
