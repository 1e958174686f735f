//! The text of a program at any stage, with the source locations of its lines.
//!
//! `nesl ir`, the prompt, the language server and the golden tests all print these texts.

use super::pass::{ListedKernel, Query, Run, Unit};
use super::{Options, Stage, run};
use crate::base::{ItemId, Loc, Span};
use crate::db::Database;
use crate::flat;
use crate::ir::{self, Site};
use crate::lower::FaultSite;
use crate::syntax::{dump_ast, dump_tokens, dump_tree, excerpt};
use crate::types::{Scheme, Ty, print_scheme};
use nesl_runtime::{bug, kir};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The width of the column of source snippets beside types, in characters.
const SNIPPET_CHARS: usize = 40;

/// The text of a program at a stage, and the source locations of its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dump {
    /// The text of the stage.
    pub text: String,
    /// Pairs of a byte offset in the text and the source location of the line that begins there, in
    /// order. Lines without a source location have no entry.
    pub notes: Vec<(usize, Site)>,
    /// For the code of back ends: the byte offset of each kernel's code, and the source locations of
    /// its steps. [`with_source_lines`] shows them.
    pub sources: Vec<(usize, Vec<Site>)>,
}

/// Returns the text of an elaborated program after the passes up to a stage of core, flat or kir.
pub fn dump(elaborated: &ir::Program, options: &Options, stage: Stage) -> Dump {
    let mut unit = Unit::new(Cow::Borrowed(elaborated), options);
    run(&mut unit, Stage::named("elaborated"), stage);
    let located = |(text, notes)| Dump { text, notes, sources: Vec::new() };
    match stage.pass().run {
        Run::Elaborate | Run::Ir(_) | Run::Lift(_) | Run::Simplify(_) => {
            located(ir::print_located(&unit.ir))
        }
        Run::Close(_) => match &unit.closed {
            Some(program) => located(ir::print_located(program)),
            None => bug!("the pass `{}` has run", stage.pass().name),
        },
        Run::Flatten(_) | Run::Flat(_) => match &unit.flat {
            Some(program) => located(flat::print_located(program)),
            None => bug!("the pass `{}` has run", stage.pass().name),
        },
        Run::Unroll(_) | Run::Plan(_) => match (&unit.sequential, stage.pass().run) {
            (Some(program), Run::Plan(print)) => located(print(program)),
            (Some(program), _) => located(ir::print_located(program)),
            (None, _) => bug!("the pass `{}` has run", stage.pass().name),
        },
        Run::Lower(lower) => {
            Dump { sources: Vec::new(), ..kernels(lower(&unit, options), &kir::print) }
        }
        Run::Emit(emit) => kernels(super::kernels::all(&unit, options), &emit),
        Run::Query(_) => bug!("a program has no {}", stage.name()),
    }
}

/// Returns the text of a form at a stage of the front end.
pub fn dump_item(db: &Database, item: ItemId, query: Query) -> Dump {
    let text = match query {
        Query::Tokens => dump_tokens(&db.item_text(item)),
        Query::Tree => dump_tree(&db.item_text(item)),
        Query::Ast => dump_ast(db.ast(item)),
        Query::Types => return types(db, item, typed(db, item)),
    };
    Dump { text, ..Dump::default() }
}

/// Returns the types of a form and of its patterns and expressions, in the order of the source and
/// without repetitions.
pub fn dump_types_in_order(db: &Database, item: ItemId) -> Dump {
    let mut all = typed(db, item);
    all.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
    all.dedup();
    types(db, item, all)
}

/// Returns the source span and the type of every pattern and expression of a form.
fn typed(db: &Database, item: ItemId) -> Vec<(Span, String)> {
    let (types, ast) = (db.types(item), db.ast(item));
    let show = |ty: &Ty| print_scheme(&Scheme { vars: types.vars.clone(), ty: ty.clone() });
    let pats = types.pats.iter().map(|(pat, ty)| (ast.pat_spans[pat], show(ty)));
    let exprs = types.exprs.iter().map(|(expr, ty)| (ast.expr_spans[expr], show(ty)));
    pats.chain(exprs).collect()
}

fn types(db: &Database, item: ItemId, typed: Vec<(Span, String)>) -> Dump {
    let (parsed, source) = (db.parsed(item), db.item_text(item));
    let mut dump = Dump::default();
    for name in db.form(item).names.iter() {
        if let Some(ty) = db.type_of_name(item, name) {
            let _ = writeln!(dump.text, "{name} : {ty}");
        }
    }
    for (span, ty) in typed {
        dump.notes.push((dump.text.len(), Site { item, span }));
        let snippet = excerpt(&source[parsed.range(span)], SNIPPET_CHARS);
        let _ = writeln!(dump.text, "  {snippet:<42} {ty}");
    }
    dump
}

/// Inserts the lines of the source before the code of each kernel that they became, as comments.
/// Lines of the library are left out.
pub fn with_source_lines(db: &Database, dump: Dump) -> Dump {
    let mut out = Dump::default();
    let (mut notes, mut copied) = (dump.notes.into_iter().peekable(), 0);
    let ends = dump.sources.iter().map(|(at, _)| *at).chain([dump.text.len()]);
    for (part, end) in ends.enumerate() {
        let inserted = out.text.len() - copied;
        while let Some((at, site)) = notes.next_if(|(at, _)| *at < end || end == dump.text.len()) {
            out.notes.push((at + inserted, site));
        }
        out.text.push_str(&dump.text[copied..end]);
        copied = end;
        if let Some((_, sites)) = dump.sources.get(part) {
            for (number, line) in source_lines(db, sites) {
                let _ = writeln!(out.text, "// line {number}: {line}");
            }
        }
    }
    out
}

/// Returns the lines in which some source locations begin, with their numbers from 1 on, in order and
/// each once.
fn source_lines(db: &Database, sites: &[Site]) -> BTreeMap<usize, String> {
    let mut lines = BTreeMap::new();
    for site in sites {
        if site.item == Site::NONE.item || db.is_library(site.item) {
            continue;
        }
        let place = db.place(Loc { item: site.item, span: site.span });
        let text = db.file_text(place.file);
        let begin = text[..usize::from(place.range.start())].rfind('\n').map_or(0, |at| at + 1);
        let number = text[..begin].matches('\n').count() + 1;
        let line = text[begin..].lines().next().unwrap_or_default();
        lines.insert(number, line.trim().to_owned());
    }
    lines
}

/// Returns the text of kernels. The comment before each names it and the facts that select its
/// variant.
fn kernels(all: Vec<ListedKernel>, print: &dyn Fn(&kir::Module) -> String) -> Dump {
    let mut dump = Dump::default();
    for kernel in all {
        if !dump.text.is_empty() {
            dump.text.push('\n');
        }
        dump.notes.push((dump.text.len(), kernel.site));
        let _ = writeln!(dump.text, "% {} %\n% {} %", kernel.title, kernel.reason);
        if let Some(module) = &kernel.module {
            let text = print(module);
            let from = dump.text.len();
            dump.sources.push((from, kernel.sites));
            let checks = checks(&text, &kernel.fault_sites);
            dump.notes.extend(checks.into_iter().map(|(at, site)| (from + at, site)));
            dump.text.push_str(text.trim_end());
            dump.text.push('\n');
        }
    }
    dump
}

/// Returns the offset of each line that is a check, with the source location that its fault is
/// blamed on. Other instructions of kir have no source location.
fn checks(text: &str, fault_sites: &[FaultSite]) -> Vec<(usize, Site)> {
    let mut notes = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let number = |rest: &str| {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            rest[..end].parse::<usize>().ok()
        };
        let cause = line.split_once(" @").and_then(|(_, rest)| number(rest));
        if let Some(cause) = cause.and_then(|n| fault_sites.get(n)) {
            notes.push((at, cause.site));
        }
        at += line.len();
    }
    notes
}
