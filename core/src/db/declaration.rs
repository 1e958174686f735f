//! Functions that are declared before they are defined.

use super::Database;
use crate::base::{ItemId, Name};
use crate::syntax::ast::ItemKind;

impl Database {
    /// The item that defines a name: for a function that is only declared, the next item of that
    /// name below it that has a body; the item itself otherwise.
    pub fn definition_of(&self, item: ItemId, name: &Name) -> ItemId {
        if !self.is_declaration(item) {
            return item;
        }
        let Some((file, position)) = self.position_of(item) else { return item };
        let outline = self.outline(file);
        let below = outline.forms.iter().skip(position as usize + 1);
        let mut below = below.filter(|form| form.names.contains(name)).map(|form| form.id());
        below.find(|id| !self.is_declaration(*id)).unwrap_or(item)
    }

    fn is_declaration(&self, item: ItemId) -> bool {
        matches!(&self.ast(item).kind, ItemKind::Function(function) if function.body.is_none())
    }
}
