//! Definitions and redefinitions: a later definition of a name replaces the earlier one for all its uses if it
//! has the same type, and otherwise only hides it.

use super::{Binding, Event, Session, Sink, Usage, place};
use nesl_core::base::{Diagnostic, DiagnosticKind, ItemId, Name};
use nesl_core::db::{Before, FileId, Form};
use nesl_core::names::Resolution;
use nesl_core::syntax::ast::{self, ItemKind};
use rustc_hash::FxHashSet;

impl Session {
    /// Defines a function or datatype: nothing is evaluated.
    pub(super) fn define(
        &mut self,
        file: FileId,
        position: u32,
        form: &Form,
        ast: &ast::Item,
        quiet: bool,
        sink: Sink<'_>,
    ) {
        self.redefine(file, position, form, sink);
        if quiet {
            return;
        }
        let item = form.id();
        let name = match &ast.kind {
            ItemKind::Function(function) => &function.name.name,
            ItemKind::Datatype(datatype) => &datatype.name.name,
            ItemKind::Binding { .. }
            | ItemKind::Expr(_)
            | ItemKind::Command(_)
            | ItemKind::Missing => return,
        };
        sink(Event::Bound(Binding {
            name: name.to_string(),
            value: "fn".to_owned(),
            data: None,
            ty: self.type_of_name(item, name),
            expression: false,
            cost: None,
            usage: Usage::default(),
            at: place(self.db.whole(item)),
        }));
    }

    /// Replaces the earlier definition of each name of a form for all its uses, if the new one has the same
    /// type; otherwise earlier uses keep the old one.
    pub(super) fn redefine(&mut self, file: FileId, position: u32, form: &Form, sink: Sink<'_>) {
        self.keep_past();
        if self.again {
            return;
        }
        let item = form.id();
        self.mention(item);
        for name in form.names.iter() {
            let Some(Resolution::Item(old, _)) = self.db.lookup(Before { file, position }, name)
            else {
                continue;
            };
            if old == item || self.db.is_library(old) {
                continue;
            }
            if self.db.same_type(old, item, name) {
                let old = self.current(old, name);
                if old != item {
                    let old = (old, name.clone());
                    if let Some(definitions) = self.mentions.remove(&old) {
                        self.mentions.entry((item, name.clone())).or_default().extend(definitions);
                    }
                    // Whoever asks for it gets the new one.
                    self.values.remove(&old);
                    self.hidden |= !self.db.is_data(old.0);
                    self.replaced.insert(old, item);
                }
                continue;
            }
            let forgotten = (self.current(old, name), name.clone());
            if self.mentions.contains_key(&forgotten) || !self.db.is_data(forgotten.0) {
                self.hidden = true;
            } else {
                self.values.remove(&forgotten);
            }
            if name.folded() != "it" {
                let at = place(self.db.whole(item));
                let message =
                    format!("Redefining `{name}` with a new type. Old calls will not be modified");
                sink(Event::Diagnostic(
                    Diagnostic::warning(DiagnosticKind::Name, at, message)
                        .label(place(self.db.whole(old)), "the definition that earlier forms keep"),
                ));
            }
        }
    }

    /// Notes the variables that a definition mentions: it may ask for their values later.
    fn mention(&mut self, item: ItemId) {
        if self.db.is_data(item) {
            return;
        }
        for resolution in self.db.names(item).values.values() {
            if let Resolution::Item(id, name) = resolution {
                let mentioned = (self.current(*id, name), name.clone());
                self.mentions.entry(mentioned).or_default().insert(item);
            }
        }
    }

    /// Forgets the values of variables that nothing can ask for any more: they are not visible
    /// `from` there, and neither is any definition that mentions them, be it through others.
    pub(super) fn forget_unreachable(&mut self, from: Before) {
        if !std::mem::take(&mut self.hidden) {
            return;
        }
        let values = self.values.keys();
        let unreachable = values.filter(|(item, name)| {
            !self.is_reachable(*item, name, from, &mut FxHashSet::default())
        });
        for key in unreachable.cloned().collect::<Vec<_>>() {
            self.values.remove(&key);
            self.mentions.remove(&key);
        }
    }

    /// Returns true if a name of a definition is visible `from` there, or mentioned by a definition
    /// that is reachable; `visited` holds those on the way, which prove nothing.
    fn is_reachable(
        &self,
        item: ItemId,
        name: &Name,
        from: Before,
        visited: &mut FxHashSet<ItemId>,
    ) -> bool {
        let is_it = |resolution: &Resolution| matches!(resolution, Resolution::Item(seen, _) if self.current(*seen, name) == item);
        if self.db.lookup(from, name).is_some_and(|found| is_it(&found)) {
            return true;
        }
        let Some(definitions) = self.mentions.get(&(item, name.clone())) else { return false };
        definitions.iter().any(|definition| {
            visited.insert(*definition) && {
                let names = self.db.form(*definition).names.clone();
                names.iter().any(|name| self.is_reachable(*definition, name, from, visited))
            }
        })
    }

    /// The type of a defined name, as printed.
    pub(super) fn type_of_name(&self, item: ItemId, name: &Name) -> String {
        self.db.type_of_name(item, name).unwrap_or_default()
    }
}
