//! Queries that depend on texts and outlines alone: the parse of an item, and the forms of a file by
//! position and by name.

use super::Db;
use super::input::{File, Form, Item, Library, NameKey};
use crate::base::Name;
use crate::syntax::ast::{Item as Ast, ItemKind};
use crate::syntax::{self, Kind, Parsed};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The parse of an item's text: tokens, tree, syntax and syntax errors.
#[salsa::tracked]
pub(crate) fn parse(db: &dyn Db, item: Item) -> Parsed {
    syntax::parse_item(item.text(db))
}

/// Firewall: the syntax of an item, equal when only comments and blanks changed.
#[salsa::tracked]
pub(crate) fn ast(db: &dyn Db, item: Item) -> Arc<Ast> {
    parse(db, item).ast.clone()
}

/// Returns true if a form with errors of a file was to define a name. Only forms whose texts mention it are parsed.
#[salsa::tracked(returns(copy))]
pub(crate) fn is_attempted(db: &dyn Db, file: File, key: NameKey) -> bool {
    let name = key.name(db);
    let wanted = name.folded().as_bytes();
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mentions = |text: &str| {
        let words = text.as_bytes().split(|byte| !in_name(byte));
        words.into_iter().any(|word| word.eq_ignore_ascii_case(wanted))
    };
    let mut forms = file.outline(db).forms.iter();
    !wanted.is_empty()
        && forms.any(|form| {
            mentions(form.item.text(db)) && parse(db, form.item).attempted.contains(name)
        })
}

/// Firewall: returns true if an item has syntax errors.
#[salsa::tracked(returns(copy))]
pub(crate) fn syntax_errors(db: &dyn Db, item: Item) -> bool {
    parse(db, item).diagnostics.iter().any(|d| d.severity == crate::base::Severity::Error)
}

/// Returns true if an item goes on with what a form before it began: that form has syntax errors, and this one
/// begins behind it in its line as a case of a choice, on an indented line, or with a word that no form begins with.
#[salsa::tracked(returns(copy))]
pub(crate) fn goes_on(db: &dyn Db, item: Item) -> bool {
    /// The number of forms that one mistake may tear off from the form with it.
    const MAX_TORN_FORMS: usize = 100;
    let file = item.file(db);
    let forms = &file.outline(db).forms;
    let Some(own) = positions(db, file).get(&item).map(|position| *position as usize) else {
        return false;
    };
    for at in (own.saturating_sub(MAX_TORN_FORMS)..own).rev() {
        if !torn(db, forms[at + 1].item) {
            return false;
        }
        if syntax_errors(db, forms[at].item) && !torn(db, forms[at].item) {
            return true;
        }
    }
    false
}

/// Firewall: returns true if an item begins where people begin no form.
#[salsa::tracked(returns(copy))]
fn torn(db: &dyn Db, item: Item) -> bool {
    let Some(first) = parse(db, item).tokens.first() else { return false };
    let before = &item.text(db)[..usize::from(first.range.start())];
    // The last word of what other languages begin with a word.
    let word = item.text(db)[first.range].to_ascii_lowercase();
    let ends = matches!(&word[..], "end" | "endfunction" | "endif" | "done" | "fi" | "od");
    ends || is_case(db, item)
        || matches!(
            first.kind,
            Kind::RParen | Kind::RBracket | Kind::RBrace | Kind::InKw | Kind::ThenKw | Kind::ElseKw
        )
        || before.contains('\n') && !before.ends_with('\n')
}

/// Returns true if an item begins in the line of the one before it as a case of a choice does in other languages:
/// `_ -> 3`, `Some(x) => x`, `default: 3`.
fn is_case(db: &dyn Db, item: Item) -> bool {
    let text = item.text(db);
    let tokens = &parse(db, item).tokens;
    let kind = |at: usize| tokens.get(at).map(|token| token.kind);
    let Some(first) = tokens.first() else { return false };
    if text[..usize::from(first.range.start())].contains('\n') {
        return false;
    }
    let arrow = |at: usize| matches!(kind(at), Some(Kind::RightArrow | Kind::FatArrow));
    // The arrow stands behind one token, or behind one with parentheses after it.
    let behind = match kind(1) {
        Some(Kind::CallParen | Kind::LParen) => {
            tokens.iter().position(|token| token.kind == Kind::RParen).map_or(1, |at| at + 1)
        }
        _ => 1,
    };
    let word = text[first.range].to_ascii_lowercase();
    let labelled = matches!(&word[..], "_" | "case" | "default" | "otherwise" | "when");
    labelled || arrow(behind)
}

/// Firewall: returns true if an item begins on another line than the form before it ends on.
#[salsa::tracked(returns(copy))]
pub(crate) fn begins_line(db: &dyn Db, item: Item) -> bool {
    let first = parse(db, item).tokens.first();
    first.is_none_or(|first| item.text(db)[..usize::from(first.range.start())].contains('\n'))
}

/// The positions in a file's outline of the forms that define each name, those that failed included.
///
/// `no_eq`: it depends on the outline alone and changes whenever the outline does, so comparing it
/// with the previous result would save nothing.
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

/// Firewall: returns true if an item is a `load` of a file.
#[salsa::tracked(returns(copy))]
pub(crate) fn is_load(db: &dyn Db, item: Item) -> bool {
    let ItemKind::Command(command) = &ast(db, item).kind else { return false };
    command.verb.name.folded() == "load" && !command.args.is_empty()
}

/// The files that a file loads, each with the position of the `load` form.
#[salsa::tracked]
pub(crate) fn loads(db: &dyn Db, file: File) -> Vec<(u32, File)> {
    let forms = file.outline(db).forms.iter().zip(0..);
    forms.filter_map(|(form, position)| Some((position, form.loaded?))).collect()
}

/// The position of each form of a file.
#[salsa::tracked(no_eq)]
pub(crate) fn positions(db: &dyn Db, file: File) -> FxHashMap<Item, u32> {
    file.outline(db).forms.iter().map(|form| form.item).zip(0..).collect()
}

/// Firewall: the sort of an item and the names it defines, all that its surroundings see of it.
#[salsa::tracked]
pub(crate) fn form(db: &dyn Db, item: Item) -> Option<Form> {
    let file = item.file(db);
    let position = positions(db, file).get(&item)?;
    file.outline(db).forms.get(*position as usize).cloned()
}

/// The item of the library that defines each name; the library's files see each other whatever their
/// order.
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
