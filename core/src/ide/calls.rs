//! The call hierarchy: callers and callees of a function.

use super::Target;
use super::definition::target;
use super::symbol::{Occurrence, Role, Symbol, canonical, occurrences, symbol_at};
use crate::base::{ItemId, Loc, TextRange, TextSize};
use crate::db::Cursor;
use crate::db::{Database, FileId};
use crate::explain::subject;
use crate::syntax::ast::ItemKind;
use crate::syntax::excerpt;

/// A node of the call hierarchy: a function, or a top-level expression or binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallItem {
    /// The form itself.
    pub item: ItemId,
    /// The name of the form.
    pub name: String,
    /// The type of the form.
    pub detail: String,
    /// The range of the form and of its name.
    pub target: Target,
}

/// The function named at an offset, or else the form there.
pub fn call_item(db: &Database, file: FileId, offset: TextSize) -> Option<CallItem> {
    if let Some((_, Occurrence { symbol: Symbol::Item(item, _), .. })) = symbol_at(db, file, offset)
        && is_function(db, item)
    {
        return describe(db, item);
    }
    describe(db, Cursor::new(db, file, offset)?.item)
}

/// The forms of some files that use a function, with the ranges of the uses.
pub fn incoming(db: &Database, files: &[FileId], item: ItemId) -> Vec<(CallItem, Vec<TextRange>)> {
    let mut all = Vec::new();
    for file in files {
        for form in &db.outline(*file).forms {
            // Most forms have nothing to do with it: do not look for where.
            let names = db.names(form.id());
            if !names.references.iter().any(|id| *id == item || defined(db, *id) == item) {
                continue;
            }
            let places: Vec<TextRange> = uses(db, form.id())
                .into_iter()
                .filter(|(callee, _)| *callee == item)
                .map(|(_, range)| range)
                .collect();
            if let (false, Some(caller)) = (places.is_empty(), describe(db, form.id())) {
                all.push((caller, places));
            }
        }
    }
    all
}

/// The functions that a form uses, in the order of their first use, with the ranges of the uses.
pub fn outgoing(db: &Database, item: ItemId) -> Vec<(CallItem, Vec<TextRange>)> {
    let mut all: Vec<(CallItem, Vec<TextRange>)> = Vec::new();
    for (callee, range) in uses(db, item) {
        match all.iter_mut().find(|(own, _)| own.item == callee) {
            Some((_, places)) => places.push(range),
            None => all.extend(describe(db, callee).map(|callee| (callee, vec![range]))),
        }
    }
    all
}

/// The functions that a form refers to, in calls or as values, without those that it defines.
fn uses(db: &Database, item: ItemId) -> Vec<(ItemId, TextRange)> {
    let used = occurrences(db, item).into_iter().filter_map(|occurrence| {
        let Symbol::Item(callee, _) = occurrence.symbol else { return None };
        let uses = matches!(occurrence.role, Role::Use | Role::Call) && is_function(db, callee);
        uses.then(|| (callee, db.place(Loc { item, span: occurrence.span }).range))
    });
    used.collect()
}

fn is_function(db: &Database, item: ItemId) -> bool {
    matches!(db.ast(item).kind, ItemKind::Function(_))
}

/// The definition of a function, also if the form only declares it.
fn defined(db: &Database, item: ItemId) -> ItemId {
    let ItemKind::Function(function) = &db.ast(item).kind else { return item };
    match canonical(db, Symbol::Item(item, function.name.name.clone())) {
        Symbol::Item(item, _) => item,
        _ => item,
    }
}

fn describe(db: &Database, item: ItemId) -> Option<CallItem> {
    let form = db.form(item);
    let ast = db.ast(item);
    let (name, target) = match &ast.kind {
        ItemKind::Function(function) => {
            let name = function.name.name.clone();
            (name.as_written().to_owned(), target(db, &Symbol::Item(item, name))?)
        }
        ItemKind::Binding { .. } => {
            let name = form.names.first()?.clone();
            (name.as_written().to_owned(), target(db, &Symbol::Item(item, name))?)
        }
        ItemKind::Expr(_) => {
            let place = db.whole(item);
            let text = excerpt(&db.file_text(place.file)[place.range], 40);
            let text = if text.is_empty() { subject(db, &form) } else { text };
            let range = place.range;
            (text, Target { text: super::Text::File(place.file), range, focus: range })
        }
        ItemKind::Datatype(_) | ItemKind::Command(_) | ItemKind::Missing => return None,
    };
    let detail = form.names.first().and_then(|name| db.type_of_name(item, name));
    Some(CallItem { item, name, detail: detail.unwrap_or_default(), target })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;

    const TEXT: &str = "function odd(n) : int -> bool;
function even(n) = if n == 0 then t else odd(n - 1);
function odd(n) = if n == 0 then f else even(n - 1);
function app(g, x) = g(x);
function ev$0ens(a) = {even(x) : x in a | x > 0 and even(x)};
x = evens([1, 2]);
app('even, wordify(\"a\")[0][0] == `a);
";

    fn names(calls: &[(CallItem, Vec<TextRange>)]) -> Vec<(&str, usize)> {
        calls.iter().map(|(item, places)| (item.name.as_str(), places.len())).collect()
    }

    #[test]
    fn callers_and_callees() {
        let f = Fixture::new(TEXT);
        let evens = call_item(&f.db, f.file, f.cursor()).expect("a function");
        assert_eq!((evens.name.as_str(), evens.detail.as_str()), ("evens", "[int] -> [bool]"));
        assert_eq!(names(&outgoing(&f.db, evens.item)), [("even", 2)]);
        assert_eq!(names(&incoming(&f.db, &[f.file], evens.item)), [("x", 1)]);

        let even = outgoing(&f.db, evens.item)[0].0.item;
        let callers = incoming(&f.db, &[f.file], even);
        let last = "app('even, wordify(\"a\")[0][0] == `a)";
        assert_eq!(names(&callers), [("odd", 1), ("evens", 2), (last, 1)]);
        assert_eq!(&f.text[callers[2].1[0]], "even");

        // A function that is declared first is one function.
        let odd = outgoing(&f.db, even)[0].0.clone();
        assert_eq!(f.text[..odd.target.focus.start().into()].matches('\n').count(), 2);
        assert_eq!(names(&incoming(&f.db, &[f.file], odd.item)), [("even", 1)]);
        let called = outgoing(&f.db, callers[2].0.item);
        assert_eq!(names(&called), [("app", 1), ("even", 1), ("wordify", 1)]);
    }

    #[test]
    fn what_is_no_function() {
        for text in ["$0", "% $0 %", "datatype $0p int;", "load \"x\"$0;", "$0function"] {
            let f = Fixture::new(text);
            assert_eq!(call_item(&f.db, f.file, f.cursor()), None, "{text}");
        }
    }
}
