//! The definitions of the database as elaboration reads them.

use super::Database;
use crate::base::{ItemId, Name};
use crate::elaborate::Definitions;
use crate::names::Names;
use crate::syntax::ast;
use crate::types::{ItemTypes, Signature};
use std::sync::Arc;

/// The definitions in the files of a database.
pub struct FileDefinitions<'a> {
    db: &'a Database,
    /// `None` where nothing has been executed.
    session: Option<SessionState<'a>>,
}

/// The state of a session that elaboration depends on beside the files.
#[derive(Clone, Copy)]
pub struct SessionState<'a> {
    /// Returns the definition in force for a name that an item defines: its latest redefinition of
    /// the same type.
    pub current: &'a dyn Fn(ItemId, &Name) -> ItemId,
    /// Returns true if the calls and bindings of functions of a name are watched; `None` if none
    /// are.
    pub is_watched: Option<&'a dyn Fn(&Name) -> bool>,
}

impl<'a> FileDefinitions<'a> {
    /// Returns the definitions as the files have them, of which none has been executed.
    pub fn unexecuted(db: &'a Database) -> FileDefinitions<'a> {
        FileDefinitions { db, session: None }
    }

    /// Returns the definitions in force in a session.
    pub fn in_session(db: &'a Database, session: SessionState<'a>) -> FileDefinitions<'a> {
        FileDefinitions { db, session: Some(session) }
    }
}

impl Definitions for FileDefinitions<'_> {
    fn ast(&self, item: ItemId) -> Arc<ast::Item> {
        self.db.ast(item).clone()
    }

    fn names(&self, item: ItemId) -> &Names {
        self.db.names(item)
    }

    fn types(&self, item: ItemId) -> Arc<ItemTypes> {
        self.db.types(item).clone()
    }

    fn signature(&self, item: ItemId) -> Arc<Signature> {
        self.db.signature(item).clone()
    }

    fn current(&self, item: ItemId, name: &Name) -> ItemId {
        match &self.session {
            Some(session) => (session.current)(item, name),
            None => self.db.definition_of(item, name),
        }
    }

    fn name(&self, item: ItemId) -> Name {
        self.db.form(item).names.first().cloned().unwrap_or_else(|| Name::new("it"))
    }

    fn is_library(&self, item: ItemId) -> bool {
        self.db.is_library(item)
    }

    fn watched(&self, item: ItemId) -> bool {
        let is_watched = self.session.and_then(|session| session.is_watched);
        is_watched.is_some_and(|is_watched| is_watched(&self.name(item)))
    }
}
