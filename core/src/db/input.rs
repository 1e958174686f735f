//! The inputs of the queries: texts, their outlines and their forms.
//!
//! A [`File`] is one text and its [`Outline`]; the outline lists the [`Form`]s, each of which is the
//! [`Item`] that holds its text. The three refer to each other, so they are declared together;
//! everything else of the database is computed from them. `outline::update` alone writes them.

use crate::base::{ItemId, Name, TextSize};
use crate::syntax::RawKind;
use std::sync::Arc;

/// A text of the program: a file, a REPL line, a notebook cell, or a part of the library.
#[salsa::input(debug)]
pub(crate) struct File {
    /// The name that messages print.
    pub name: Arc<str>,
    /// The whole text. Only diagnostics and other output for people depend on it.
    pub text: Arc<str>,
    /// True for a part of the library.
    #[returns(copy)]
    pub library: bool,
    /// The file whose forms, up to a position, are visible in this one.
    #[returns(copy)]
    pub before: Option<(File, u32)>,
    /// The number of files visible from this one, and a skip pointer to one far back among them
    /// (`scope::skip_pointer`).
    #[returns(copy)]
    pub skip_pointer: (u32, Option<File>),
    /// Its forms; replaced only when their order, names or sorts change.
    pub outline: Arc<Outline>,
    /// The byte at which each of its forms begins; their texts tile the file. Only diagnostics and
    /// other output for people depend on it.
    pub starts: Arc<[TextSize]>,
}

/// A top-level form.
#[salsa::input(debug)]
pub(crate) struct Item {
    /// The file that contains it.
    #[returns(copy)]
    pub file: File,
    /// Its text, from the end of the form before it.
    pub text: Arc<str>,
    /// True if the form failed, so that it defines nothing. Not part of the outline: in a text with
    /// thousands of failing forms the whole outline would be examined again for each of them.
    #[returns(copy)]
    pub disabled: bool,
}

/// The library's files.
#[salsa::input(singleton)]
pub(crate) struct Library {
    /// The files in the order in which they are read.
    pub files: Arc<[File]>,
}

/// A name, as a key of queries.
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX)]
pub(crate) struct NameKey {
    pub name: Name,
}

/// The salsa input that an id stands for.
pub(crate) fn item(id: ItemId) -> Item {
    super::from_item_id(id)
}

/// The forms of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// The forms in the order of the text.
    pub forms: Vec<Form>,
    /// Items of deleted forms, recycled for new ones.
    pub(super) spare: Vec<Item>,
}

/// A form as its surroundings see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    pub(super) item: Item,
    /// The sort of form.
    pub kind: RawKind,
    /// The names that the form defines.
    pub names: Arc<[Name]>,
    /// For a `load`: the file whose definitions are visible after this form.
    pub(super) loaded: Option<File>,
}

impl Form {
    /// The identity of the form.
    pub fn id(&self) -> ItemId {
        self.item.into()
    }

    /// Returns true if the form loads another text.
    pub fn loads(&self) -> bool {
        self.loaded.is_some()
    }

    /// The form of an item that is gone: it defines nothing.
    pub(super) fn blank(item: Item) -> Form {
        Form { item, kind: RawKind::Blank, names: Arc::default(), loaded: None }
    }
}
