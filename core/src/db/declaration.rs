//! The definitions of names: functions declared before they are defined, and their types.

use super::Database;
use crate::base::{ItemId, Name};
use crate::syntax::ast::ItemKind;
use crate::types::{Signature, print_scheme, same_scheme};

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

    /// The type of a name that an item defines, as printed.
    pub fn type_of_name(&self, item: ItemId, name: &Name) -> Option<String> {
        match &**self.signature(item) {
            Signature::Function { scheme, .. } | Signature::Record { scheme } => {
                Some(print_scheme(scheme))
            }
            Signature::Values { values } => {
                values.iter().find(|(own, _)| own == name).map(|(_, scheme)| print_scheme(scheme))
            }
            Signature::Broken => None,
        }
    }

    /// Returns true if two definitions give a name the same type: the later one then takes the place of
    /// the earlier one for all that mention the name.
    pub fn same_type(&self, old: ItemId, new: ItemId, name: &Name) -> bool {
        match (&**self.signature(old), &**self.signature(new)) {
            (
                Signature::Function { scheme: a, optional: x },
                Signature::Function { scheme: b, optional: y },
            ) => same_scheme(a, b) && x.is_empty() && y.is_empty(),
            (Signature::Values { values: a }, Signature::Values { values: b }) => {
                let find = |values: &[(Name, _)]| values.iter().position(|(n, _)| n == name);
                match (find(a), find(b)) {
                    (Some(i), Some(j)) => same_scheme(&a[i].1, &b[j].1),
                    _ => false,
                }
            }
            // A record is known by its definition: a new one is a new type.
            _ => false,
        }
    }

    fn is_declaration(&self, item: ItemId) -> bool {
        matches!(&self.ast(item).kind, ItemKind::Function(function) if function.body.is_none())
    }
}
