//! The names of a session: what they are, where they are defined, and what became of earlier
//! definitions.

use super::{FileRange, Session, place};
use nesl_core::base::{ItemId, Name};
use nesl_core::db::Database;
use nesl_core::db::FileId;
use nesl_core::names::Resolution;

/// A name that can be used now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The name, in small letters.
    pub name: String,
    /// Its type as printed.
    pub ty: String,
    /// True for a name of the library.
    pub library: bool,
}

/// The definition of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The name as it was defined.
    pub name: String,
    /// Its type as printed.
    pub ty: String,
    /// True for a name of the library.
    pub library: bool,
    /// The text of the definition; empty for an operation that is built in.
    pub text: String,
    /// The place of the definition; `None` for an operation that is built in.
    pub at: Option<FileRange>,
    /// The definitions of the name that came before, the last one first.
    pub earlier: Vec<Earlier>,
}

/// A definition of a name that came before the present one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Earlier {
    /// Its type as printed.
    pub ty: String,
    /// The place where it stands.
    pub at: FileRange,
    /// True if the present definition has taken its place in all that uses it, because it has the same
    /// type.
    pub replaced: bool,
    /// The names of the definitions that go on to use it.
    pub users: Vec<String>,
}

impl Session {
    /// Returns the names that can be used now, with their types.
    pub fn names(&self) -> Vec<Known> {
        let known = self.known().into_iter().filter_map(|name| {
            let (ty, library) = match self.lookup(&Name::new(&name))? {
                Resolution::Item(item, own) => {
                    (self.type_of_name(item, &own), self.db.is_library(item))
                }
                Resolution::Prim(prim) => (prim.row().scheme.to_owned(), true),
                Resolution::Local(_) | Resolution::Optional(_) | Resolution::Unknown => {
                    return None;
                }
            };
            Some(Known { name, ty, library })
        });
        known.collect()
    }

    /// Returns the definition of a name; `None` if it is unknown.
    pub fn definition(&self, name: &str) -> Option<Definition> {
        let name = Name::new(name);
        match self.lookup(&name)? {
            Resolution::Prim(prim) => Some(Definition {
                name: prim.row().name.to_owned(),
                ty: prim.row().scheme.to_owned(),
                library: true,
                text: String::new(),
                at: None,
                earlier: Vec::new(),
            }),
            Resolution::Item(item, name) => {
                let item = self.current(item, &name);
                Some(Definition {
                    name: name.to_string(),
                    ty: self.type_of_name(item, &name),
                    library: self.db.is_library(item),
                    text: self.db.item_text(item).trim().to_owned(),
                    at: Some(place(self.db.whole(item))),
                    earlier: self.earlier(item, &name),
                })
            }
            Resolution::Local(_) | Resolution::Optional(_) | Resolution::Unknown => None,
        }
    }

    fn earlier(&self, item: ItemId, name: &Name) -> Vec<Earlier> {
        let files: Vec<FileId> = self.entries.all().collect();
        let forms: Vec<_> =
            files.iter().flat_map(|file| self.db.outline(*file).forms.clone()).collect();
        let fine = |id: ItemId| !self.db.is_disabled(id);
        let defines = |form: &&nesl_core::db::Form| {
            form.names.contains(name) && form.id() != item && fine(form.id())
        };
        let earlier = forms.iter().rev().filter(defines).map(|form| {
            let old = form.id();
            let replaced = self.current(old, name) == item;
            let uses = |id: ItemId| {
                let names = self.db.names(id);
                names.values.values().any(|resolution| match resolution {
                    Resolution::Item(seen, own) => own == name && self.current(*seen, own) == old,
                    _ => false,
                })
            };
            let users = forms
                .iter()
                .filter(|user| !replaced && user.id() != old && fine(user.id()) && uses(user.id()));
            // Variables have their value already.
            let users = users.filter(|user| !self.db.is_data(user.id()));
            Earlier {
                ty: self.type_of_name(old, name),
                at: place(self.db.whole(old)),
                replaced,
                users: users.filter_map(|user| user.names.first()).map(Name::to_string).collect(),
            }
        });
        earlier.collect()
    }

    /// Returns the compiler's database, to ask it about the entries.
    pub fn database(&self) -> &Database {
        &self.db
    }

    /// Adds a text that sees all entries and that no entry sees, and returns the database with its
    /// file. The next text that is only looked at replaces it.
    pub fn look(&mut self, name: &str, text: &str) -> (&Database, FileId) {
        let file = self.look_at(name, text);
        (&self.db, file)
    }
}
