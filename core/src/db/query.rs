//! The inputs and the queries.

use super::scope::ItemScope;
use super::{Database, Db, Form, Outline, forward};
use crate::base::{Diagnostic, ItemId, Loc, Name, TextSize};
use crate::names::{Names, Resolution};
use crate::prim::PrimKind;
use crate::syntax::ast::{Item as Ast, ItemKind};
use crate::syntax::{self, Parsed};
use crate::types::{ItemTypes, Member, Signature, Ty};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// A text.
#[salsa::input(debug)]
pub(crate) struct File {
    /// What messages call it.
    pub name: Arc<str>,
    /// The whole text; only what is shown to people depends on it.
    pub text: Arc<str>,
    /// A part of the library.
    #[returns(copy)]
    pub library: bool,
    /// What it sees: the forms of another file up to a position.
    #[returns(copy)]
    pub before: Option<(File, u32)>,
    /// How many files it sees, and one far back among them ([`super::scope::shortcut`]).
    #[returns(copy)]
    pub shortcut: (u32, Option<File>),
    /// Its forms; replaced only when their order, names or sorts change.
    pub outline: Arc<Outline>,
    /// Where each of its forms begins: their texts tile the file. Only what is shown to people
    /// depends on it.
    pub starts: Arc<[TextSize]>,
}

/// A top-level form.
#[salsa::input(debug)]
pub(crate) struct Item {
    /// The file it stands in.
    #[returns(copy)]
    pub file: File,
    /// Its text, from the end of the form before it.
    pub text: Arc<str>,
    /// It failed: it defines nothing. Not part of the outline, so that a text of thousands of
    /// failing forms is not looked at as a whole for each of them.
    #[returns(copy)]
    pub disabled: bool,
}

/// The library's files.
#[salsa::input(singleton)]
pub(crate) struct Library {
    /// In order.
    pub files: Arc<[File]>,
}

/// A name, as a key of queries.
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX)]
pub(crate) struct NameKey {
    pub name: Name,
}

/// The item behind an id.
pub(crate) fn item(id: ItemId) -> Item {
    super::from_item_id(id)
}

#[salsa::tracked]
pub(crate) fn parse(db: &dyn Db, item: Item) -> Parsed {
    syntax::parse_item(item.text(db))
}

/// Firewall: equal when only comments and blanks changed.
#[salsa::tracked]
pub(crate) fn ast(db: &dyn Db, item: Item) -> Arc<Ast> {
    parse(db, item).ast.clone()
}

/// Where the names of a file are defined: name → positions in its outline, those of forms that
/// failed included.
///
/// Like all that is made of an outline alone it is not compared with what it was: nothing else makes
/// it run again.
#[salsa::tracked(no_eq)]
pub(crate) fn index(db: &dyn Db, file: File) -> FxHashMap<Name, Vec<u32>> {
    let mut index: FxHashMap<Name, Vec<u32>> = FxHashMap::default();
    for (position, form) in file.outline(db).forms.iter().enumerate() {
        for name in form.names.iter() {
            index.entry(name.clone()).or_default().push(position as u32);
        }
    }
    index
}

/// The texts that a file loads, and where.
#[salsa::tracked]
pub(crate) fn loads(db: &dyn Db, file: File) -> Vec<(u32, File)> {
    let forms = file.outline(db).forms.iter().zip(0..);
    forms.filter_map(|(form, position)| Some((position, form.loaded?))).collect()
}

/// The names that may be defined in the files before a file, up to and including that of its
/// shortcut.
#[salsa::tracked]
pub(crate) fn passed_over(db: &dyn Db, file: File) -> FxHashSet<Name> {
    super::scope::passed_over(db, file)
}

/// All names that can be used at the end of a file, sorted.
#[salsa::tracked]
pub(crate) fn known(db: &dyn Db, file: File) -> Vec<Name> {
    super::scope::known(db, file)
}

/// The position of each form of a file.
#[salsa::tracked(no_eq)]
pub(crate) fn positions(db: &dyn Db, file: File) -> FxHashMap<Item, u32> {
    file.outline(db).forms.iter().map(|form| form.item).zip(0..).collect()
}

/// Firewall: an item as its surroundings see it.
#[salsa::tracked]
pub(crate) fn form(db: &dyn Db, item: Item) -> Option<Form> {
    let file = item.file(db);
    let position = positions(db, file).get(&item)?;
    file.outline(db).forms.get(*position as usize).cloned()
}

/// Where the names of the library are defined; its files see each other whatever their order.
#[salsa::tracked]
pub(crate) fn library_index(db: &dyn Db) -> FxHashMap<Name, Item> {
    let mut all = FxHashMap::default();
    for file in Library::get(db).files(db).iter() {
        for form in &file.outline(db).forms {
            for name in form.names.iter() {
                if form.kind != syntax::RawKind::Expr {
                    all.entry(name.clone()).or_insert(form.item);
                }
            }
        }
    }
    all
}

/// Firewall: what one name means, seen from one item.
#[salsa::tracked]
pub(crate) fn lookup(db: &dyn Db, item: Item, name: NameKey) -> Option<Resolution> {
    super::scope::lookup_from(db, item, name.name(db))
}

#[salsa::tracked]
pub(crate) fn names(db: &dyn Db, item: Item) -> Names {
    crate::names::resolve(item.into(), ast(db, item), &ItemScope { db, item })
}

/// Firewall: the items an item refers to.
#[salsa::tracked]
pub(crate) fn references(db: &dyn Db, item: Item) -> Arc<[ItemId]> {
    names(db, item).references.as_slice().into()
}

/// The recursion groups of more than one item, of a file.
#[salsa::tracked]
pub(crate) fn groups(db: &dyn Db, file: File) -> Arc<[Arc<[Item]>]> {
    let members: Vec<Item> = file
        .outline(db)
        .forms
        .iter()
        .filter(|form| forward(form.kind))
        .map(|form| form.item)
        .collect();
    super::groups::nontrivial(&members, |item| edges(db, item))
}

/// The functions and datatypes that a function or datatype refers to.
fn edges(db: &dyn Db, item: Item) -> Vec<Item> {
    let items = references(db, item).iter().map(|id| self::item(*id));
    items.filter(|item| form(db, *item).as_ref().is_some_and(|form| forward(form.kind))).collect()
}

/// Whether an item refers to one further down, or something that it refers to does. Who only refers
/// to what stands above is in no recursion group with others: so most items need not know of all
/// others which groups there are.
#[salsa::tracked(returns(copy))]
pub(crate) fn leads_ahead(db: &dyn Db, item: Item) -> bool {
    let positions = positions(db, item.file(db));
    let Some(own) = positions.get(&item) else { return false };
    references(db, item).iter().any(|id| {
        let to = self::item(*id);
        // What is not here is in another file, which does not refer to this one.
        let Some(position) = positions.get(&to) else { return false };
        position > own || (position < own && crate::base::with_stack(|| leads_ahead(db, to)))
    })
}

/// Firewall: the recursion group of an item, itself included.
#[salsa::tracked]
pub(crate) fn group(db: &dyn Db, item: Item) -> Arc<[Item]> {
    let file = item.file(db);
    if file.library(db) || !leads_ahead(db, item) {
        return [item].into();
    }
    if let Some(group) = super::groups::near(item, positions(db, file), |item| edges(db, item)) {
        return group.into();
    }
    let found = groups(db, file).iter().find(|group| group.contains(&item));
    found.cloned().unwrap_or_else(|| [item].into())
}

/// Infers a recursion group; keyed by its first item.
#[salsa::tracked]
pub(crate) fn inferred(db: &dyn Db, leader: Item) -> FxHashMap<ItemId, Arc<ItemTypes>> {
    let group = group(db, leader);
    let asts: Vec<&Arc<Ast>> = group.iter().map(|item| ast(db, *item)).collect();
    let members: Vec<Member<'_>> = group
        .iter()
        .zip(&asts)
        .map(|(item, ast)| Member { id: (*item).into(), item: ast, names: names(db, *item) })
        .collect();
    let context = ItemScope { db, item: leader };
    crate::types::infer(&members, &context).into_iter().map(|(id, t)| (id, Arc::new(t))).collect()
}

/// Firewall: the types of one item.
#[salsa::tracked]
pub(crate) fn types(db: &dyn Db, item: Item) -> Arc<ItemTypes> {
    let leader = group(db, item)[0];
    inferred(db, leader)[&item.into()].clone()
}

/// Firewall: what other items see of an item. The library is fully annotated, so its bodies are
/// not looked at.
#[salsa::tracked]
pub(crate) fn signature(db: &dyn Db, item: Item) -> Arc<Signature> {
    if item.file(db).library(db) {
        let arity = |id| match &**signature(db, self::item(id)) {
            Signature::Record { scheme } => scheme.vars.len(),
            Signature::Function { .. } | Signature::Values { .. } | Signature::Broken => 0,
        };
        let (ast, names) = (ast(db, item), names(db, item));
        let declared = crate::types::declared_signature(item.into(), ast, names, &arity);
        if let Some(signature) = declared {
            return Arc::new(signature);
        }
    }
    if syntax_errors(db, item) {
        return Arc::new(Signature::Broken);
    }
    types(db, item).signature.clone()
}

/// Firewall: whether an item has syntax errors.
#[salsa::tracked(returns(copy))]
pub(crate) fn syntax_errors(db: &dyn Db, item: Item) -> bool {
    parse(db, item).diagnostics.iter().any(|d| d.severity == crate::base::Severity::Error)
}

/// Whether using an item performs operations that may not run in parallel.
#[salsa::tracked(returns(copy))]
pub(crate) fn serial(db: &dyn Db, item: Item) -> bool {
    let mut seen = FxHashSet::default();
    let mut todo = vec![item];
    while let Some(item) = todo.pop() {
        if !seen.insert(item) || is_data(db, item) {
            continue;
        }
        if own_serial(db, item) {
            return true;
        }
        todo.extend(references(db, item).iter().map(|id| self::item(*id)));
    }
    false
}

/// Whether an item defines variables that hold data: whatever made them, it is done by then, and
/// reading them calls nothing. (A variable that holds a function may be called.)
pub(crate) fn is_data(db: &dyn Db, item: Item) -> bool {
    match &ast(db, item).kind {
        ItemKind::Binding { .. } | ItemKind::Expr(_) => {
            let Signature::Values { values } = &**signature(db, item) else { return false };
            !values.iter().any(|(_, scheme)| holds_function(&scheme.ty))
        }
        ItemKind::Function(_)
        | ItemKind::Datatype(_)
        | ItemKind::Command(_)
        | ItemKind::Missing => false,
    }
}

fn holds_function(ty: &Ty) -> bool {
    match ty {
        Ty::Function(_) | Ty::Code(..) => true,
        Ty::Pair(a, b) => holds_function(a) || holds_function(b),
        Ty::Sequence(element) => holds_function(element),
        Ty::Record(_, args) => args.iter().any(holds_function),
        Ty::Error | Ty::Int | Ty::Float | Ty::Bool | Ty::Char | Ty::Var(_) => false,
    }
}

/// Whether an item itself names a serial-only primitive.
#[salsa::tracked(returns(copy))]
pub(crate) fn own_serial(db: &dyn Db, item: Item) -> bool {
    names(db, item).values.values().any(|r| match r {
        Resolution::Prim(prim) => serial_prim(*prim),
        _ => false,
    })
}

fn serial_prim(prim: crate::prim::Prim) -> bool {
    match prim.row().kind {
        PrimKind::Host(op) => !op.in_parallel(),
        PrimKind::Scalar(_)
        | PrimKind::Seq(_)
        | PrimKind::Derived(_)
        | PrimKind::Check(_)
        | PrimKind::Error
        | PrimKind::Rand
        | PrimKind::Constant(_) => false,
    }
}

/// What names and types have to say about an item; not its syntax errors.
#[salsa::tracked]
pub(crate) fn diagnostics(db: &dyn Db, item: Item) -> Vec<Diagnostic<Loc>> {
    if syntax_errors(db, item) {
        // They come first: what is missing would only be reported again in other words.
        return Vec::new();
    }
    let mut all = super::scope::protected(db, item);
    let names = names(db, item);
    all.extend(names.diagnostics.iter().cloned());
    all.extend(types(db, item).diagnostics.iter().cloned());
    let is_serial = |r: &Resolution| match r {
        Resolution::Prim(prim) => serial_prim(*prim),
        Resolution::Item(id, _) => serial(db, self::item(*id)),
        Resolution::Local(_) | Resolution::Optional(_) | Resolution::Unknown => false,
    };
    all.extend(crate::types::serial_calls(item.into(), ast(db, item), names, &is_serial));
    all
}

/// Tells `Database` and the queries apart: only here is a `&Database` made a `&dyn Db`.
impl Database {
    #[allow(dead_code, reason = "used by tests of the queries")]
    pub(crate) fn as_db(&self) -> &dyn Db {
        self
    }
}
