//! Names of values: variables, functions, constructors, those of the program and the library's.

use super::missing_argument::MissingArgument;
use super::site::Site;
use super::{Builder, Completion, CompletionKind};
use crate::base::{ItemId, Name};
use crate::db::{Before, Database};
use crate::ide::place::Place;
use crate::names::Resolution;
use crate::syntax::RawKind;
use crate::syntax::ast::{BinaryOp, Item, ItemKind, Pat, PatId};
use crate::types::{Class, Scheme, Signature, Ty, print_scheme};
use rustc_hash::FxHashSet;

/// The number of names of the program that are offered where nothing is typed yet: those nearest to the cursor.
/// Inferring the types of more would take too long.
const MAX_COMPLETIONS: usize = 100;

/// A name to offer.
struct Candidate<'a> {
    label: &'a str,
    kind: CompletionKind,
    /// Its type, the classes of its own variables, and how it is printed.
    ty: Option<(&'a Ty, Option<&'a [Class]>, String)>,
    /// The origin of the name: nearer ones come first.
    rank: u32,
}

/// Everything that an expression may begin with.
pub(super) fn values(place: &Place<'_>, missing: &MissingArgument, site: &Site, out: &mut Builder) {
    let mut seen: FxHashSet<Name> = FxHashSet::default();
    for (distance, local) in (0u32..).zip(&missing.locals) {
        if !seen.insert(local.name.clone()) || !out.begins(local.name.folded()) {
            continue;
        }
        let printed =
            |ty: &Ty| print_scheme(&Scheme { vars: missing.vars.clone(), ty: ty.clone() });
        let kind = match (&local.ty, local.parameter) {
            (_, true) => CompletionKind::Parameter,
            (_, false) => CompletionKind::Variable,
        };
        let candidate = Candidate {
            label: local.name.as_written(),
            kind,
            ty: local.ty.as_ref().map(|ty| (ty, None, printed(ty))),
            rank: distance.min(9),
        };
        value(place, missing, candidate, &[], out);
    }
    program(place, missing, &mut seen, out);
    for library in place.db.library_names() {
        let name = &library.name;
        let word = name.folded().starts_with(|c: char| c.is_ascii_alphabetic());
        let operator = !word || BinaryOp::ALL.iter().any(|op| op.name() == name.folded());
        if (operator && *site != Site::Quoted) || seen.contains(name) || !out.begins(name.folded())
        {
            continue;
        }
        let kind = match (&library.scheme.ty, operator) {
            (_, true) => CompletionKind::Operator,
            (Ty::Function(_), _) => CompletionKind::Function,
            _ => CompletionKind::Variable,
        };
        let candidate = Candidate {
            label: name.as_written(),
            kind,
            ty: Some((&library.scheme.ty, Some(&library.scheme.vars), library.ty.clone())),
            rank: library_rank(place.db, &library.meaning, name) + called_by(place, name),
        };
        let params = parameters(place.db, &library.meaning, &library.scheme);
        value(place, missing, candidate, &params, out);
    }
}

/// The names of the program.
fn program(
    place: &Place<'_>,
    missing: &MissingArgument,
    seen: &mut FxHashSet<Name>,
    out: &mut Builder,
) {
    let mut all: Vec<(Name, ItemId)> = Vec::new();
    let from = Before { file: place.file, position: place.position };
    place.db.each_visible(from, &mut |name, item| {
        if all.len() < MAX_COMPLETIONS && out.begins(name.folded()) && seen.insert(name.clone()) {
            all.push((name.clone(), item));
        }
    });
    let db = place.db;
    for (name, item) in all {
        let own = Some(item) == place.item;
        let (ty, kind) = match &**db.signature(item) {
            Signature::Function { scheme, .. } => (Some(scheme.clone()), CompletionKind::Function),
            Signature::Record { scheme } => (Some(scheme.clone()), CompletionKind::Constructor),
            Signature::Values { values } => {
                let value = values.iter().find(|(own, _)| *own == name);
                (value.map(|(_, scheme)| scheme.clone()), CompletionKind::Variable)
            }
            // It is known by its name, at least.
            Signature::Broken => match db.ast(item).kind {
                ItemKind::Function(_) => (None, CompletionKind::Function),
                ItemKind::Datatype(_) => (None, CompletionKind::Constructor),
                _ => (None, CompletionKind::Variable),
            },
        };
        let meaning = Resolution::Item(item, name.clone());
        let mono = Scheme::mono(Ty::Error);
        let params = parameters(db, &meaning, ty.as_ref().unwrap_or(&mono));
        let candidate = Candidate {
            label: name.as_written(),
            kind,
            ty: ty.as_ref().map(|s| (&s.ty, Some(&s.vars[..]), print_scheme(s))),
            rank: called_by(place, &name)
                + match (own, kind) {
                    (true, _) => 16,
                    (false, CompletionKind::Variable) => 12,
                    (false, _) => 14,
                },
        };
        value(place, missing, candidate, &params, out);
    }
}

/// The functions of the library that programs use most: the first to be thought of where their results fit.
const USUAL: [&str; 36] = [
    "abs",
    "all",
    "any",
    "bottop",
    "count",
    "dist",
    "drop",
    "even_elts",
    "find",
    "flatten",
    "float",
    "floor",
    "get",
    "index",
    "length",
    "max",
    "max_index",
    "max_val",
    "min",
    "min_index",
    "min_val",
    "odd_elts",
    "partition",
    "permute",
    "plus_scan",
    "reverse",
    "rotate",
    "round",
    "sort",
    "sqrt",
    "string",
    "sum",
    "take",
    "transpose",
    "trunc",
    "zip",
];

/// The files of the library whose functions talk to the world: they are rarely a part of an expression.
const OUTSIDE: [&str; 3] = ["io.nesl", "formats.nesl", "graphics.nesl"];

/// The rank of a name of the library.
fn library_rank(db: &Database, meaning: &Resolution, name: &Name) -> u32 {
    match meaning {
        _ if USUAL.contains(&name.folded()) => 18,
        Resolution::Item(item, _) if OUTSIDE.contains(&&*db.file_name(db.file_of(*item))) => 23,
        _ => 20,
    }
}

/// Added to the rank of a function in its own arguments: it is seldom applied to its result.
fn called_by(place: &Place<'_>, name: &Name) -> u32 {
    const AGAIN: u32 = 8;
    let callee = place.call().filter(|(open, _)| open.segment == place.before.len());
    match callee {
        Some((_, callee)) if Name::new(place.slice(callee)) == *name => AGAIN,
        _ => 0,
    }
}

/// The records that a pattern may take apart.
pub(super) fn constructors(place: &Place<'_>, out: &mut Builder) {
    let db = place.db;
    let mut all: Vec<(Name, ItemId)> = Vec::new();
    let from = Before { file: place.file, position: place.position };
    db.each_visible(from, &mut |name, item| {
        if out.begins(name.folded()) {
            all.push((name.clone(), item));
        }
    });
    for library in db.library_names() {
        if let Resolution::Item(item, name) = &library.meaning
            && out.begins(name.folded())
        {
            all.push((name.clone(), *item));
        }
    }
    for (name, item) in all {
        let Signature::Record { scheme } = datatype(db, item) else { continue };
        let params = parameters(db, &Resolution::Item(item, name.clone()), &scheme);
        let candidate = Candidate {
            label: name.as_written(),
            kind: CompletionKind::Constructor,
            ty: Some((&scheme.ty, Some(&scheme.vars), print_scheme(&scheme))),
            rank: if db.is_library(item) { 20 } else { 12 },
        };
        value(place, &MissingArgument::default(), candidate, &params, out);
    }
}

/// The signature of a datatype; that of other forms is not asked for.
fn datatype(db: &Database, item: ItemId) -> Signature {
    match db.form(item).kind {
        RawKind::Datatype => Signature::clone(db.signature(item)),
        _ => Signature::Broken,
    }
}

/// Offers a name: as a call where its result is what is wanted, else as it is.
fn value(
    place: &Place<'_>,
    missing: &MissingArgument,
    candidate: Candidate<'_>,
    params: &[String],
    out: &mut Builder,
) {
    let Candidate { label, kind, ty, rank } = candidate;
    let as_it_is = |ty: &Ty, own| missing.wanted().any(|wanted| wanted.accepts(ty, own));
    let (mut fits, mut exact, mut whole) = (false, false, false);
    let mut function = matches!(kind, CompletionKind::Function | CompletionKind::Constructor);
    if let Some((ty, own, _)) = &ty {
        whole = as_it_is(ty, *own);
        exact = missing.expected.contains(ty);
        fits = whole;
        function |= matches!(ty, Ty::Function(_));
        if let Ty::Function(f) = ty
            && !place.called()
        {
            fits |= as_it_is(&f.result, *own);
            exact |= missing.expected.contains(&f.result);
        }
    }
    let wants_function = missing.expected.iter().any(|ty| matches!(ty, Ty::Function(_)));
    let bare = !function || place.called() || place.quoted() || (whole && wants_function);
    let (insert, snippet) =
        if bare || out.bare { (label.to_owned(), false) } else { (call(label, params), true) };
    // What fits everywhere, such as `error`, fits nowhere in particular.
    let vague =
        matches!(&ty, Some((Ty::Function(f), Some(_), _)) if matches!(f.result, Ty::Var(_)));
    let misfit = !missing.expected.is_empty() && !fits;
    let rank = match (misfit, exact) {
        (true, _) => rank + 35,
        (false, true) => rank.saturating_sub(1),
        (false, false) => rank + u32::from(vague && fits),
    };
    out.push(Completion {
        label: label.to_owned(),
        kind,
        ty: ty.map(|(_, _, printed)| printed),
        doc: None,
        insert,
        snippet,
        range: out.range,
        fits,
        rank,
    });
}

/// A call as a snippet.
fn call(name: &str, params: &[String]) -> String {
    if params.is_empty() {
        return format!("{name}($1)");
    }
    let params = (1..).zip(params).map(|(i, param)| format!("${{{i}:{}}}", super::escape(param)));
    format!("{name}({})", params.collect::<Vec<_>>().join(", "))
}

/// The names of the parameters of a function; of a primitive or constructor, their types.
pub(in crate::ide) fn parameters(
    db: &Database,
    meaning: &Resolution,
    scheme: &Scheme,
) -> Vec<String> {
    if let Resolution::Item(item, _) = meaning
        && let ast = db.ast(*item)
        && let ItemKind::Function(function) = &ast.kind
    {
        return pattern_parts(ast, function.param);
    }
    let mut arity = 0;
    if let Ty::Function(f) = &scheme.ty {
        let mut rest = &f.param;
        arity = 1;
        while let Ty::Pair(_, second) = rest {
            arity += 1;
            rest = second;
        }
    }
    crate::types::print_call(scheme, arity, &[]).map_or(Vec::new(), |parts| parts.params)
}

/// The components of a parameter as they are written.
pub(in crate::ide) fn pattern_parts(ast: &Item, pattern: PatId) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = pattern;
    while let Pat::Pair(first, second) = ast.pats[rest] {
        parts.push(pattern_text(ast, first));
        rest = second;
    }
    parts.push(pattern_text(ast, rest));
    parts
}

fn pattern_text(ast: &Item, pattern: PatId) -> String {
    crate::base::with_stack(|| match &ast.pats[pattern] {
        Pat::Missing => "_".to_owned(),
        Pat::Name(name) => name.as_written().to_owned(),
        Pat::Pair(..) => format!("({})", pattern_parts(ast, pattern).join(", ")),
        Pat::Record { name, content } => {
            format!("{}({})", name.name, pattern_parts(ast, *content).join(", "))
        }
    })
}
