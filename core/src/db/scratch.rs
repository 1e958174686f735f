//! Queries for completion: the types of a form with a placeholder at the cursor, and the names that are visible at
//! an offset.
//!
//! A form that is being typed lacks an argument at the cursor. Its text with a placeholder name there is parsed,
//! resolved and inferred as the form itself would be, without changing any input. The placeholder is a value of
//! any type, so its inferred type is the type that is expected there.

use super::input::{self, File, Item};
use super::scope::{self, ItemScope};
use super::{Before, Database, Db, index, is_hoisted, query};
use crate::base::{ItemId, Loc, Name};
use crate::names::{Absent, Names, Resolution, Scope};
use crate::prelude;
use crate::prim::Prim;
use crate::syntax::{Parsed, parse_item};
use crate::types::{
    self, Class, ItemTypes, Member, Scheme, Signature, Ty, TypeEnvironment, print_scheme,
    scheme_of_text,
};
use nesl_runtime::bug::OrBug;
use std::sync::Arc;

/// The analysis of a form with another text.
#[derive(Clone, Debug)]
pub struct Scratch {
    /// The parse of the text.
    pub parsed: Parsed,
    /// The resolved names.
    pub names: Names,
    /// The inferred types; a type that is not determined is a variable.
    pub types: ItemTypes,
}

/// A name of the library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryName {
    /// The name as it is written: `^`, not the name of the function behind it.
    pub name: Name,
    /// The definition it refers to.
    pub meaning: Resolution,
    /// The type scheme.
    pub scheme: Scheme,
    /// The scheme in NESL's notation.
    pub ty: String,
}

/// The item that the placeholder refers to; no item of the database has this identity.
const PLACEHOLDER: ItemId = ItemId(u64::MAX);

impl Database {
    /// Analyses a form as if it had another text, in which the name `placeholder` is a value of any type.
    pub fn scratch(&self, item: ItemId, text: &str, placeholder: Option<&Name>) -> Scratch {
        let parsed = parse_item(text);
        let scope = PlaceholderScope {
            inner: ItemScope { db: self, item: input::item(item) },
            placeholder,
        };
        let names = crate::names::resolve(item, &parsed.ast, &scope);
        let member = Member { id: item, item: &parsed.ast, names: &names };
        let mut types = types::infer_open(&[member], &scope);
        let types = types.remove(&item).or_bug("inference returns the types of every member");
        Scratch { parsed, names, types }
    }

    /// Returns true if a name of a form resolved in [`Database::scratch`] is the placeholder.
    pub fn is_placeholder(resolution: &Resolution) -> bool {
        matches!(resolution, Resolution::Item(PLACEHOLDER, _))
    }

    /// Resolves a name before a form of a file, functions and datatypes further down included.
    pub fn meaning(&self, from: Before, name: &Name) -> Option<Resolution> {
        scope::lookup_at(self, self.input(from.file), from.position, name, true)
    }

    /// Calls `see` with the program's own names that can be used before a form of a file, nearest
    /// first, each with the form that defines it; the first definition of a name is in force.
    pub fn each_visible(&self, from: Before, see: &mut dyn FnMut(&Name, ItemId)) {
        let file = self.input(from.file);
        let forms = &file.outline(self).forms;
        own(self, file, from.position, see);
        for form in forms.iter().skip(from.position as usize) {
            if is_hoisted(form.kind) && !form.item.disabled(self) {
                form.names.iter().for_each(|name| see(name, form.id()));
            }
        }
        let mut here = file;
        while let Some((before, position)) = here.before(self) {
            own(self, before, position, see);
            here = before;
        }
    }

    /// The public names of the library.
    pub fn library_names(&self) -> &[LibraryName] {
        library_names(self)
    }
}

/// The names of a file before a form, and of what is loaded there, from the last to the first.
fn own(db: &dyn Db, file: File, position: u32, see: &mut dyn FnMut(&Name, ItemId)) {
    let forms = &file.outline(db).forms;
    let before = &forms[..forms.len().min(position as usize)];
    for form in before.iter().rev() {
        if let Some(loaded) = form.loaded {
            own(db, loaded, u32::MAX, see);
        }
        if !form.item.disabled(db) {
            form.names.iter().for_each(|name| see(name, form.id()));
        }
    }
}

/// The public names of the library, sorted. The library never changes, so this runs once.
#[salsa::tracked]
pub(super) fn library_names(db: &dyn Db) -> Vec<LibraryName> {
    let mut all = Vec::new();
    for (name, item) in index::library_index(db) {
        let shown = prelude::shown(name.folded());
        if shown.starts_with('_') {
            continue;
        }
        if let Some(scheme) = scheme_of(db, *item, name) {
            let written = if shown == name.folded() { name.clone() } else { Name::new(shown) };
            let meaning = Resolution::Item((*item).into(), name.clone());
            let ty = print_scheme(&scheme);
            all.push(LibraryName { name: written, meaning, scheme, ty });
        }
    }
    for prim in Prim::all() {
        let name = Name::new(prim.name());
        if !crate::prim::is_internal(prim.name()) && !index::library_index(db).contains_key(&name) {
            let scheme = scheme_of_text(prim.row().scheme);
            let ty = print_scheme(&scheme);
            all.push(LibraryName { name, meaning: Resolution::Prim(prim), scheme, ty });
        }
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

fn scheme_of(db: &dyn Db, item: Item, name: &Name) -> Option<Scheme> {
    match &**query::signature(db, item) {
        Signature::Function { scheme, .. } | Signature::Record { scheme } => Some(scheme.clone()),
        Signature::Values { values } => {
            values.iter().find(|(own, _)| own == name).map(|(_, scheme)| scheme.clone())
        }
        Signature::Broken => None,
    }
}

/// The scope of a form with a placeholder. No suggestions are made for unknown names.
struct PlaceholderScope<'a> {
    inner: ItemScope<'a>,
    placeholder: Option<&'a Name>,
}

impl Scope for PlaceholderScope<'_> {
    fn value(&self, name: &Name) -> Option<Resolution> {
        if Some(name) == self.placeholder {
            return Some(Resolution::Item(PLACEHOLDER, name.clone()));
        }
        self.inner.value(name)
    }

    fn record(&self, name: &Name) -> Option<ItemId> {
        if Some(name) == self.placeholder { None } else { self.inner.record(name) }
    }

    fn known(&self) -> Vec<Name> {
        Vec::new()
    }

    fn is_fixed(&self, name: &Name) -> bool {
        Some(name) != self.placeholder && self.inner.is_fixed(name)
    }

    fn absent(&self, name: &Name) -> Option<Absent> {
        Some(Absent { why: format!("`{name}` is undefined"), place: None, failed: false })
    }
}

impl TypeEnvironment for PlaceholderScope<'_> {
    fn signature(&self, item: ItemId) -> Arc<Signature> {
        match self.placeholder {
            Some(name) if item == PLACEHOLDER => {
                let scheme = Scheme { vars: vec![Class::Any], ty: Ty::Var(0) };
                Arc::new(Signature::Values { values: vec![(name.clone(), scheme)] })
            }
            _ => self.inner.signature(item),
        }
    }

    fn definition(&self, item: ItemId) -> Option<Loc> {
        if item == PLACEHOLDER { None } else { self.inner.definition(item) }
    }

    fn name(&self, item: ItemId) -> Name {
        match self.placeholder {
            Some(name) if item == PLACEHOLDER => name.clone(),
            _ => self.inner.name(item),
        }
    }

    fn is_library(&self, item: ItemId) -> bool {
        item != PLACEHOLDER && self.inner.is_library(item)
    }
}
