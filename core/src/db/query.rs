//! The queries that check a program: names, recursion groups, types, signatures and diagnostics.

use super::index::{self, ast, form, positions, syntax_errors};
use super::input::{self, File, Item};
use super::scope::{self, ItemScope};
use super::{Database, Db, is_hoisted};
use crate::base::{Diagnostic, DiagnosticKind, ItemId, Loc, Name, Severity, Span, TextRange};
use crate::names::{Names, Resolution};
use crate::prim::PrimKind;
use crate::syntax::Kind;
use crate::syntax::ast::{Expr, Item as Ast, ItemKind};
use crate::types::{ItemTypes, Member, Signature, Ty, TypeEnvironment};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

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
        .filter(|form| is_hoisted(form.kind))
        .map(|form| form.item)
        .collect();
    super::groups::nontrivial(&members, |item| edges(db, item))
}

/// The functions and datatypes that a function or datatype refers to.
fn edges(db: &dyn Db, item: Item) -> Vec<Item> {
    let items = references(db, item).iter().map(|id| input::item(*id));
    items
        .filter(|item| form(db, *item).as_ref().is_some_and(|form| is_hoisted(form.kind)))
        .collect()
}

/// Returns true if an item refers, directly or through others, to an item further down. An item that
/// refers only to items above it is in no recursion group with others, so for most items the
/// groups of the whole file need not be computed.
#[salsa::tracked(returns(copy))]
pub(crate) fn reaches_forward(db: &dyn Db, item: Item) -> bool {
    let positions = positions(db, item.file(db));
    let Some(own) = positions.get(&item) else { return false };
    references(db, item).iter().any(|id| {
        let to = input::item(*id);
        // An item without a position is in another file, which does not refer to this one.
        let Some(position) = positions.get(&to) else { return false };
        position > own || (position < own && crate::base::with_stack(|| reaches_forward(db, to)))
    })
}

/// Firewall: the recursion group of an item, itself included.
#[salsa::tracked]
pub(crate) fn group(db: &dyn Db, item: Item) -> Arc<[Item]> {
    let file = item.file(db);
    if file.library(db) || !reaches_forward(db, item) {
        return [item].into();
    }
    if let Some(group) =
        super::groups::small_component(item, positions(db, file), |item| edges(db, item))
    {
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

/// The part of scope that inference asks for. It is here, not beside [`ItemScope`], since the
/// signature of an item is inferred and inference asks for the signatures of others.
impl TypeEnvironment for ItemScope<'_> {
    fn signature(&self, item: ItemId) -> Arc<Signature> {
        signature(self.db, input::item(item)).clone()
    }

    fn definition(&self, item: ItemId) -> Option<Loc> {
        let span = match &ast(self.db, input::item(item)).kind {
            ItemKind::Function(f) => f.name.span,
            ItemKind::Datatype(d) => d.name.span,
            ItemKind::Binding { pattern, .. } => {
                ast(self.db, input::item(item)).pat_spans[*pattern]
            }
            ItemKind::Expr(_) | ItemKind::Command(_) | ItemKind::Missing => return None,
        };
        Some(Loc { item, span })
    }

    fn name(&self, item: ItemId) -> Name {
        form(self.db, input::item(item))
            .as_ref()
            .and_then(|f| f.names.first().cloned())
            .unwrap_or_else(|| Name::new("it"))
    }

    fn is_library(&self, item: ItemId) -> bool {
        input::item(item).file(self.db).library(self.db)
    }
}

/// Firewall: the types of one item.
#[salsa::tracked]
pub(crate) fn types(db: &dyn Db, item: Item) -> Arc<ItemTypes> {
    let leader = group(db, item)[0];
    inferred(db, leader)[&item.into()].clone()
}

/// Firewall: the signature of an item, which is all that other items depend on. The library is fully
/// annotated, so the bodies of its functions are not examined.
#[salsa::tracked]
pub(crate) fn signature(db: &dyn Db, item: Item) -> Arc<Signature> {
    if item.file(db).library(db) {
        let arity = |id| match &**signature(db, input::item(id)) {
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

/// Returns true if using an item performs operations that may not run in parallel.
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
        todo.extend(references(db, item).iter().map(|id| input::item(*id)));
    }
    false
}

/// Returns true if an item defines variables that hold data: their values are computed before they
/// are read, and reading them calls nothing. (A variable that holds a function may be called.)
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

/// Returns true if an item itself names a primitive that may not run in parallel.
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

/// The diagnostics of names and types about an item; not its syntax errors.
#[salsa::tracked]
pub(crate) fn diagnostics(db: &dyn Db, item: Item) -> Vec<Diagnostic<Loc>> {
    if syntax_errors(db, item) {
        // Syntax errors come first: a missing part would only be reported again in other words.
        return Vec::new();
    }
    let mut all = scope::protected(db, item);
    let names = names(db, item);
    all.extend(names.diagnostics.iter().cloned());
    // What is said about an expression with an undefined name in it follows from that name.
    let undefined: Vec<Loc> = names.diagnostics.iter().map(|d| d.primary.at).collect();
    let follows = |d: &Diagnostic<Loc>| {
        let mut places = std::iter::once(&d.primary).chain(&d.labels).map(|label| label.at);
        let within = |a: Loc, b: Loc| {
            a.item == b.item && a.span.start >= b.span.start && a.span.end <= b.span.end
        };
        places.any(|place| undefined.iter().any(|name| within(*name, place)))
    };
    all.extend(types(db, item).diagnostics.iter().filter(|d| !follows(d)).cloned());
    let is_serial = |r: &Resolution| match r {
        Resolution::Prim(prim) => serial_prim(*prim),
        Resolution::Item(id, _) => serial(db, input::item(*id)),
        Resolution::Local(_) | Resolution::Optional(_) | Resolution::Unknown => false,
    };
    all.extend(crate::types::serial_calls(item.into(), ast(db, item), names, &is_serial));
    all.extend(applied_by_dollar(db, item));
    all
}

/// Returns the warning about `sum $ xs`, an application in Haskell, whose function is a form of its own here.
fn applied_by_dollar(db: &dyn Db, item: Item) -> Option<Diagnostic<Loc>> {
    let ItemKind::Expr(value) = ast(db, item).kind else { return None };
    let tokens = &index::parse(db, item).tokens;
    let ended = tokens.last().is_some_and(|token| token.kind == Kind::Dollar);
    let named = matches!(ast(db, item).exprs[value], Expr::Name(_));
    let function = || matches!(types(db, item).exprs.get(value), Some(Ty::Function(_)));
    if !ended || !named || !function() {
        return None;
    }
    let end = tokens.len() as u32;
    let at = Loc { item: item.into(), span: Span::new(end - 1, end) };
    let report = Diagnostic::warning(DiagnosticKind::Syntax, at, "`$` ends a form, as `;` does");
    Some(report.hint("a function is applied by parentheses, as in `sum(xs)`"))
}

/// Returns the report of a comment of another language in an item without syntax errors, if something is wrong in it.
pub(crate) fn foreign_comment(db: &dyn Db, item: Item) -> Option<Diagnostic<TextRange>> {
    let parsed = index::parse(db, item);
    if parsed.comments.is_empty() {
        return None;
    }
    let wrong: Vec<TextRange> = diagnostics(db, item)
        .iter()
        .filter(|d| d.severity == Severity::Error && d.primary.at.item == item.into())
        .map(|d| parsed.range(d.primary.at.span))
        .collect();
    let has_error = |comment: &TextRange| wrong.iter().any(|at| comment.contains_range(*at));
    let comment = parsed.comments.iter().find(|(comment, _)| has_error(comment));
    comment.map(|(_, report)| report.clone())
}

/// Returns true if an item begins in a comment of another language that a form before it began: `;` stands in it.
#[salsa::tracked(returns(copy))]
pub(crate) fn in_comment(db: &dyn Db, item: Item) -> bool {
    /// The number of forms that one line of a comment may contain.
    const MAX_FORMS: usize = 100;
    let file = item.file(db);
    let Some(own) = index::positions(db, file).get(&item).map(|position| *position as usize) else {
        return false;
    };
    let forms = &file.outline(db).forms;
    for at in (own.saturating_sub(MAX_FORMS)..own).rev() {
        if index::begins_line(db, forms[at + 1].item) {
            return false;
        }
        let before = forms[at].item;
        let parsed = index::parse(db, before);
        let ends = |(comment, _): &(TextRange, _)| {
            let behind = parsed.tokens.iter().filter(|token| token.range.start() >= comment.end());
            behind.count() <= 1
        };
        if parsed.comments.last().is_some_and(ends) {
            return syntax_errors(db, before) || foreign_comment(db, before).is_some();
        }
    }
    false
}

/// Access for tests of the queries.
impl Database {
    #[allow(dead_code, reason = "used by tests of the queries")]
    pub(crate) fn as_db(&self) -> &dyn Db {
        self
    }
}
