//! Resolution of top-level names.
//!
//! Seen from a form, a name refers to the first of these that defines it: the form itself (recursion); the latest
//! definition before it in the same text; a function or datatype further down in the same text
//! (so mutual recursion just works); the latest definition in the texts before; the library.

use super::input::{self, File, Item, NameKey, item};
use super::{Db, FileId, index, is_hoisted};
use crate::base::{Diagnostic, DiagnosticKind, ItemId, Loc, Name, Span};
use crate::names::{Absent, Resolution, Scope};
use crate::prim::Prim;
use crate::syntax::ast::ItemKind;
use crate::syntax::{Kind as Token, RawKind};
use rustc_hash::FxHashSet;

/// The forms of a file before a position, and what those see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Before {
    /// The file whose forms are visible.
    pub file: FileId,
    /// The number of its forms that are visible; `u32::MAX` for all of them.
    pub position: u32,
}

impl Before {
    /// All of a file.
    pub fn all(file: FileId) -> Before {
        Before { file, position: u32::MAX }
    }
}

/// The program as one item sees it.
pub(super) struct ItemScope<'a> {
    pub(super) db: &'a dyn Db,
    pub(super) item: Item,
}

impl Scope for ItemScope<'_> {
    fn value(&self, name: &Name) -> Option<Resolution> {
        lookup(self.db, self.item, NameKey::new(self.db, name.clone())).clone()
    }

    fn record(&self, name: &Name) -> Option<ItemId> {
        match self.value(name)? {
            Resolution::Item(id, _) if self.kind(id) == RawKind::Datatype => Some(id),
            _ => None,
        }
    }

    fn known(&self) -> Vec<Name> {
        known(self.db, self.item.file(self.db)).clone()
    }

    fn is_fixed(&self, name: &Name) -> bool {
        self.item.file(self.db).library(self.db) || fixed(self.db, name).is_some()
    }

    fn absent(&self, name: &Name) -> Option<Absent> {
        let file = self.item.file(self.db);
        let forms = &file.outline(self.db).forms;
        let own = forms.iter().position(|form| form.item == self.item)?;
        let attempted = || index::is_attempted(self.db, file, NameKey::new(self.db, name.clone()));
        let torn = || {
            let why = format!("`{name}` was not defined: its form failed");
            Absent { why, place: None, failed: true }
        };
        let Some(form) = forms.iter().find(|form| form.names.contains(name)) else {
            if !attempted() && unloaded(self.db, file, own, 0) {
                let why = format!("`{name}` may be defined in a file that could not be loaded");
                return Some(Absent { why, place: None, failed: true });
            }
            return attempted().then(torn);
        };
        let at = forms.iter().position(|f| f.item == form.item)?;
        let place = Loc { item: form.id(), span: index::ast(self.db, form.item).span };
        if form.item.disabled(self.db) {
            let why = format!("`{name}` was not defined: its form failed");
            Some(Absent { why, place: Some(place), failed: true })
        } else if attempted() {
            Some(torn())
        } else if at > own && form.kind != RawKind::Expr {
            let why = format!("`{name}` is used before it is defined");
            Some(Absent { why, place: Some(place), failed: false })
        } else {
            None
        }
    }
}

/// Returns true if one of the first forms of a file loads a file that could not be loaded, or that has such a form: then
/// nothing is known about a name that no form defines.
fn unloaded(db: &dyn Db, file: File, count: usize, depth: usize) -> bool {
    /// The depth of files that load one another to which is looked.
    const MAX_DEPTH: usize = 20;
    let forms = &file.outline(db).forms;
    let mut loading = forms[..count].iter().filter(|form| form.kind == RawKind::Command);
    depth <= MAX_DEPTH
        && loading.any(|form| match form.loaded {
            _ if form.item.disabled(db) => true,
            Some(other) => unloaded(db, other, other.outline(db).forms.len(), depth + 1),
            None => index::is_load(db, form.item),
        })
}

impl ItemScope<'_> {
    fn kind(&self, id: ItemId) -> RawKind {
        index::form(self.db, item(id)).as_ref().map_or(RawKind::Blank, |f| f.kind)
    }
}

/// Firewall: the meaning of a name, seen from one item.
#[salsa::tracked]
pub(crate) fn lookup(db: &dyn Db, item: Item, name: NameKey) -> Option<Resolution> {
    let name = name.name(db);
    let file = item.file(db);
    // Most names are the library's; their meaning depends on nothing that an edit changes.
    if !file.library(db)
        && let Some(fixed) = fixed(db, name)
    {
        return Some(fixed);
    }
    let forms = &file.outline(db).forms;
    let own = index::positions(db, file).get(&item).map_or(forms.len(), |p| *p as usize);
    if let Some(form) = forms.get(own)
        && is_hoisted(form.kind)
        && form.names.contains(name)
    {
        return Some(Resolution::Item(item.into(), name.clone()));
    }
    lookup_at(db, file, own as u32, name, true)
}

/// Resolves a name before form `position` of a file; `ahead` includes the functions and datatypes
/// defined further down.
pub(super) fn lookup_at(
    db: &dyn Db,
    file: File,
    position: u32,
    name: &Name,
    ahead: bool,
) -> Option<Resolution> {
    let found = |item: Item| Some(Resolution::Item(item.into(), name.clone()));
    let internal = name.folded().starts_with('_');
    let library = in_library(db, name);
    if file.library(db) {
        return library;
    }
    if let Some(fixed) = fixed(db, name) {
        return Some(fixed);
    }
    if let Some(item) = latest(db, file, position, name) {
        return found(item);
    }
    if ahead {
        let forms = &file.outline(db).forms;
        let positions = index::index(db, file).get(name).map(Vec::as_slice).unwrap_or_default();
        let mut below = positions.iter().map(|p| &forms[*p as usize]);
        if let Some(form) = below.find(|f| is_hoisted(f.kind) && !f.item.disabled(db)) {
            return found(form.item);
        }
    }
    let mut here = file;
    while let Some((before, position)) = here.before(db) {
        let (_, far) = here.skip_pointer(db);
        here = match far {
            Some(far) if !skipped_names(db, here).contains(name) => far,
            _ => {
                if let Some(item) = latest(db, before, position, name) {
                    return found(item);
                }
                before
            }
        };
    }
    library.filter(|_| !internal)
}

/// Returns the number of files that a file after `before` sees, and the file that its skip pointer
/// leads to: a session of ten thousand entries is not searched one by one for a name that the first
/// entry defines. The distances of the skip pointers are those of skew-binary numbers (Myers, "An
/// applicative random-access stack", 1983), so any file is reached in about log₂ n steps.
pub(super) fn skip_pointer(db: &dyn Db, before: Option<File>) -> (u32, Option<File>) {
    let Some(before) = before else { return (0, None) };
    let (depth, far) = before.skip_pointer(db);
    if let Some(far) = far
        && let (middle, Some(farther)) = far.skip_pointer(db)
        && depth - middle == middle - farther.skip_pointer(db).0
    {
        return (depth + 1, Some(farther));
    }
    (depth + 1, Some(before))
}

/// The names that may be defined in the files before a file, up to and including that of its
/// skip pointer; perhaps some more.
#[salsa::tracked]
pub(crate) fn skipped_names(db: &dyn Db, file: File) -> FxHashSet<Name> {
    let mut names = FxHashSet::default();
    let (Some((before, _)), (_, Some(far))) = (file.before(db), file.skip_pointer(db)) else {
        return names;
    };
    let mut todo = vec![before];
    while let Some(file) = todo.pop() {
        names.extend(index::index(db, file).keys().cloned());
        todo.extend(index::loads(db, file).iter().map(|(_, loaded)| *loaded));
    }
    // Either the file before is the target, or two skips from it lead there.
    let mut here = before;
    while here != far {
        names.extend(skipped_names(db, here).iter().cloned());
        let (_, Some(next)) = here.skip_pointer(db) else { break };
        here = next;
    }
    names
}

/// Resolves a name that cannot be redefined, so no text of the program needs to be searched for it.
fn fixed(db: &dyn Db, name: &Name) -> Option<Resolution> {
    let fixed = crate::prelude::is_protected(name.folded()) && !name.folded().starts_with('_');
    if fixed { in_library(db, name) } else { None }
}

/// Resolves a name in the library and among the primitives.
fn in_library(db: &dyn Db, name: &Name) -> Option<Resolution> {
    let index = index::library_index(db);
    if let Some(function) = crate::prelude::operator(name.folded()) {
        let function = Name::new(function);
        return index.get(&function).map(|item| Resolution::Item((*item).into(), function));
    }
    if let Some(item) = index.get(name) {
        return Some(Resolution::Item((*item).into(), name.clone()));
    }
    Prim::find(name.folded()).map(Resolution::Prim)
}

/// The latest definition of a name before form `position` of a file, and in what it has loaded.
fn latest(db: &dyn Db, file: File, position: u32, name: &Name) -> Option<Item> {
    let forms = &file.outline(db).forms;
    let positions = index::index(db, file).get(name).map(Vec::as_slice).unwrap_or_default();
    let before = &positions[..positions.partition_point(|p| *p < position)];
    let stands = |p: &u32| !forms[*p as usize].item.disabled(db);
    let own = before.iter().rev().copied().find(stands);
    for (at, loaded) in index::loads(db, file).iter().rev().filter(|(p, _)| *p < position) {
        if own.is_some_and(|own| own > *at) {
            break;
        }
        if let Some(item) = latest(db, *loaded, u32::MAX, name) {
            return Some(item);
        }
    }
    own.map(|p| forms[p as usize].item)
}

/// All names that can be used at the end of a file, sorted.
#[salsa::tracked]
pub(crate) fn known(db: &dyn Db, file: File) -> Vec<Name> {
    let mut all: Vec<Name> = Vec::new();
    let mut here = Some((file, u32::MAX));
    while let Some((file, _)) = here {
        let forms = file.outline(db).forms.iter();
        let stand = forms.filter(|form| !form.item.disabled(db));
        all.extend(stand.flat_map(|form| form.names.iter().cloned()));
        here = file.before(db);
    }
    all.extend(index::library_index(db).keys().cloned());
    all.extend(Prim::all().map(|p| Name::new(p.row().name)));
    if !file.library(db) {
        all.retain(|n| !n.folded().starts_with('_'));
    }
    all.sort();
    all.dedup();
    all
}

/// Reports a missing `;`: the form ends only because a definition begins after it. The last form
/// of a text needs none.
pub(super) fn unterminated(db: &dyn Db, item: Item) -> Option<Diagnostic<Loc>> {
    let tokens = &index::parse(db, item).tokens;
    if tokens.last().is_none_or(|t| matches!(t.kind, Token::Semi | Token::Dollar)) {
        return None;
    }
    let file = item.file(db);
    let position = *index::positions(db, file).get(&item)? as usize;
    let below = file.outline(db).forms.get(position + 1..)?;
    let next = below.iter().find(|form| form.kind != RawKind::Blank)?;
    let end = tokens.len() as u32;
    let at = Loc { item: item.into(), span: Span::new(end, end) };
    let name = next.names.first()?;
    Some(
        Diagnostic::error(DiagnosticKind::Syntax, at, format!("a `;` is missing before `{name}`"))
            .here("this form ends here")
            .fix("add `;`", at, ";"),
    )
}

/// Reports the definitions of an item that redefine names of the library: most of these names are
/// protected; of the others a note says that the library keeps its own definition.
pub(super) fn protected(db: &dyn Db, item: Item) -> Vec<Diagnostic<Loc>> {
    if item.file(db).library(db) {
        return Vec::new();
    }
    let Some(form) = index::form(db, item) else { return Vec::new() };
    if form.kind == RawKind::Expr {
        return Vec::new();
    }
    let ast = index::ast(db, item);
    let span = match &ast.kind {
        ItemKind::Function(f) => f.name.span,
        ItemKind::Datatype(d) => d.name.span,
        ItemKind::Binding { pattern, .. } => ast.pat_spans[*pattern],
        ItemKind::Expr(_) | ItemKind::Command(_) | ItemKind::Missing => Span::default(),
    };
    let built_in = |name: &&Name| {
        let scalar = form.kind == RawKind::Datatype
            && matches!(name.folded(), "int" | "float" | "bool" | "char");
        let known = scalar
            || index::library_index(db).contains_key(*name)
            || Prim::find(name.folded()).is_some();
        known && !crate::prelude::ADDED.contains(&name.folded())
    };
    let at = Loc { item: form.id(), span };
    let report = |name: &Name| {
        if crate::prelude::is_protected(name.folded()) {
            let message = format!("`{name}` is built in and cannot be redefined");
            let hint = format!(
                "choose another name, such as `my_{name}`; only a local variable may be called `{name}`"
            );
            return Some(Diagnostic::error(DiagnosticKind::Name, at, message).hint(hint));
        }
        let file = item.file(db);
        let position = *index::positions(db, file).get(&item)?;
        let hidden = match lookup_at(db, file, position, name, false) {
            Some(Resolution::Item(id, _)) => input::item(id).file(db).library(db),
            _ => true,
        };
        // A further definition hides the program's own one.
        hidden.then(|| {
            let message = format!("`{name}` is a name of the library, too");
            Diagnostic::warning(DiagnosticKind::Name, at, message).note(format!(
                "from here on `{name}` is this definition; functions of the library keep their own"
            ))
        })
    };
    form.names.iter().filter(built_in).filter_map(report).collect()
}
