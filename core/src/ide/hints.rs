//! Inlay hints: inferred types, and the parallelism of lines, shown between the words of the text.

use super::Target;
use super::definition::target;
use super::pattern::{leaves, type_within};
use super::symbol::Symbol;
use crate::base::{Name, Severity, Span, TextRange, TextSize};
use crate::db::{Before, Cursor, Database, FileId, forms};
use crate::explain::{self, Layout, Summary, SummaryLine};
use crate::names::Resolution;
use crate::syntax::ast::{Expr, ExprId, Function, ItemKind, PatId, UnaryOp};
use crate::syntax::{Kind, excerpt, lex};
use crate::types::{Signature, Ty, print_scheme};
use nesl_runtime::scalar::Precision;
use rustc_hash::FxHashMap;

/// The hints to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HintOptions {
    /// Types of bindings, parameters and results.
    pub types: bool,
    /// Parallelism of lines, with a summary of their kernels.
    pub parallelism: bool,
}

/// The kind of a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HintKind {
    /// The type of a binding, parameter or result.
    Type,
    /// The launches of a line.
    Parallelism,
}

/// A text that an editor shows between the words of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlayHint {
    /// The offset of the hint, behind the code that it describes.
    pub at: TextSize,
    /// The text shown.
    pub label: String,
    /// The kind of the hint.
    pub kind: HintKind,
    /// A longer text in Markdown, shown on demand.
    pub tooltip: Option<String>,
    /// The text that makes the hint a part of the program when it is inserted there.
    pub edit: Option<String>,
    /// The datatypes in the text shown, each with its definition.
    pub links: Vec<(TextRange, Target)>,
}

/// The length of a shown type, in chars; the tooltip has the whole type.
const TYPE_CHARS: usize = 32;

/// The hints of a part of a file, in order.
pub fn inlay_hints(
    db: &Database,
    file: FileId,
    range: TextRange,
    options: HintOptions,
    precision: Precision,
) -> Vec<InlayHint> {
    let mut all = Vec::new();
    for (_, cursor) in forms(db, file, Some(range)) {
        if options.types && !broken(&cursor) {
            types(&cursor, &mut all);
        }
        if options.parallelism {
            parallelism(&cursor, precision, &mut all);
        }
    }
    let linked = all.iter_mut().filter(|hint| hint.kind == HintKind::Type);
    linked.for_each(|hint| hint.links = links(db, file, hint));
    all.retain(|hint| range.contains_inclusive(hint.at));
    all.sort_by_key(|hint| (hint.at, hint.kind == HintKind::Parallelism));
    all
}

/// The datatypes that a hint names, as they are known at its place.
fn links(db: &Database, file: FileId, hint: &InlayHint) -> Vec<(TextRange, Target)> {
    let Some((item, _)) = db.item_at(file, hint.at) else { return Vec::new() };
    let Some((_, position)) = db.position_of(item) else { return Vec::new() };
    let words = lex(&hint.label).into_iter().filter(|token| token.kind == Kind::Name);
    let links = words.filter_map(|token| {
        let name = Name::new(&hint.label[token.range]);
        let before = Before { file, position: position + 1 };
        let Some(Resolution::Item(item, name)) = db.lookup(before, &name) else { return None };
        let is_datatype = matches!(db.ast(item).kind, ItemKind::Datatype(_));
        let target = is_datatype.then(|| target(db, &Symbol::Item(item, name))).flatten()?;
        Some((token.range, target))
    });
    links.collect()
}

/// Returns true if a form has errors, so that some of its types may be wrong.
fn broken(cursor: &Cursor<'_>) -> bool {
    let diagnostics = cursor.db.diagnostics(cursor.item);
    diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
}

fn types(cursor: &Cursor<'_>, all: &mut Vec<InlayHint>) {
    let ast = cursor.ast;
    match &ast.kind {
        ItemKind::Function(function) if function.body.is_some() => {
            all.extend(signature(cursor, function));
        }
        ItemKind::Binding { pattern, value, .. } => bound(cursor, *pattern, *value, all),
        _ => {}
    }
    for expr in ast.exprs.values() {
        match expr {
            Expr::Let { bindings, .. } => {
                for (pattern, value) in bindings {
                    bound(cursor, *pattern, *value, all);
                }
            }
            Expr::Each { bindings, .. } => {
                for (pattern, sequence) in bindings {
                    // A bare `a` is no pattern of its own.
                    if ast.pat_spans[*pattern] != ast.expr_spans[*sequence] {
                        bound(cursor, *pattern, *sequence, all);
                    }
                }
            }
            _ => {}
        }
    }
}

/// The type of a function without a type annotation, as the annotation that could be inserted.
fn signature(cursor: &Cursor<'_>, function: &Function) -> Option<InlayHint> {
    if function.annotation.is_some() {
        return None;
    }
    let Signature::Function { scheme, .. } = &**cursor.db.signature(cursor.item) else {
        return None;
    };
    if contains(&scheme.ty, &|ty| *ty == Ty::Error) {
        return None;
    }
    let at = cursor.range(cursor.ast.pat_spans[function.param]).end();
    // Optional parameters and the parenthesis that closes the list come behind the pattern.
    let at = closing(cursor, function).unwrap_or(at);
    let text = print_scheme(scheme);
    // Which function it is given is a part of a function's type that cannot be written.
    let plain = match &scheme.ty {
        Ty::Function(own) => {
            let function = |ty: &Ty| matches!(ty, Ty::Function(_));
            !contains(&own.param, &function) && !contains(&own.result, &function)
        }
        _ => false,
    };
    let edit = plain.then(|| format!(" : {text}"));
    Some(typed(at, &format!(" : {text}"), &text, edit))
}

/// The end of a function's parameters in their parentheses: before `=` or the doc string.
fn closing(cursor: &Cursor<'_>, function: &Function) -> Option<TextSize> {
    let tokens = &cursor.parsed.tokens;
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(function.name.span.end as usize) {
        use crate::syntax::Kind;
        match token.kind {
            Kind::LParen | Kind::CallParen | Kind::LBracket | Kind::LBrace => depth += 1,
            Kind::RParen | Kind::RBracket | Kind::RBrace => depth -= 1,
            Kind::Equals | Kind::Text if depth == 0 => {
                return Some(tokens[i.checked_sub(1)?].range.end() + cursor.start);
            }
            _ => {}
        }
    }
    None
}

/// The types of the variables of a pattern, unless they are seen from what they are bound to.
fn bound(cursor: &Cursor<'_>, pattern: PatId, value: ExprId, all: &mut Vec<InlayHint>) {
    if obvious(cursor, value) {
        return;
    }
    let types = cursor.db.types(cursor.item);
    for (pat, span) in leaves(cursor, pattern) {
        let Some(ty) = types.pats.get(pat) else { continue };
        if contains(ty, &|ty| *ty == Ty::Error) {
            continue;
        }
        let text = type_within(cursor, ty);
        let at = cursor.range(span).end();
        all.push(typed(at, &format!(": {text}"), &text, None));
    }
}

fn typed(at: TextSize, label: &str, text: &str, edit: Option<String>) -> InlayHint {
    let short = excerpt(label.trim_start(), TYPE_CHARS + 2);
    let blank = if label.starts_with(' ') { " " } else { "" };
    let tooltip = (short != label.trim_start()).then(|| format!("```nesl\n{text}\n```"));
    let label = format!("{blank}{short}");
    InlayHint { at, label, kind: HintKind::Type, tooltip, edit, links: Vec::new() }
}

/// Returns true if a value shows its type: literals, sequences of them, ranges, records by name.
pub(super) fn obvious(cursor: &Cursor<'_>, value: ExprId) -> bool {
    crate::base::with_stack(|| match &cursor.ast.exprs[value] {
        Expr::Missing
        | Expr::Int(_)
        | Expr::Float(_)
        | Expr::Bool(_)
        | Expr::Char(_)
        | Expr::Text(_)
        | Expr::Constants { .. }
        | Expr::Empty(_)
        | Expr::Range { .. }
        | Expr::Lambda { .. }
        | Expr::Quote(_) => true,
        Expr::Unary { op: UnaryOp::Length | UnaryOp::String, .. } => true,
        Expr::Unary { op: UnaryOp::Negate, arg, .. } => obvious(cursor, *arg),
        Expr::Sequence(items) => items.iter().all(|item| obvious(cursor, *item)),
        Expr::Pair(a, b) => obvious(cursor, *a) && obvious(cursor, *b),
        Expr::Call { fun, .. } => match &cursor.db.names(cursor.item).values.get(*fun) {
            Some(crate::names::Resolution::Item(item, _)) => {
                matches!(cursor.db.ast(*item).kind, ItemKind::Datatype(_))
            }
            _ => false,
        },
        Expr::Name(_)
        | Expr::Index { .. }
        | Expr::Binary { .. }
        | Expr::If { .. }
        | Expr::Let { .. }
        | Expr::Each { .. }
        | Expr::Time(_) => false,
    })
}

fn contains(ty: &Ty, wanted: &dyn Fn(&Ty) -> bool) -> bool {
    if wanted(ty) {
        return true;
    }
    match ty {
        Ty::Pair(a, b) => contains(a, wanted) || contains(b, wanted),
        Ty::Sequence(element) => contains(element, wanted),
        Ty::Function(f) => contains(&f.param, wanted) || contains(&f.result, wanted),
        Ty::Record(_, args) => args.iter().any(|arg| contains(arg, wanted)),
        Ty::Error | Ty::Int | Ty::Float | Ty::Bool | Ty::Char | Ty::Code(..) | Ty::Var(_) => false,
    }
}

/// For each line on which something parallel begins, what it launches, at its end.
fn parallelism(cursor: &Cursor<'_>, precision: Precision, all: &mut Vec<InlayHint>) {
    let ast = cursor.ast;
    let mut spans: Vec<Span> = ast
        .exprs
        .iter()
        .filter(|(_, expr)| matches!(expr, Expr::Each { .. } | Expr::Call { .. }))
        .map(|(id, _)| ast.expr_spans[id])
        .collect();
    if spans.is_empty() {
        return;
    }
    let Ok(summary) = explain::summary(cursor.db, cursor.item, precision) else { return };
    let text = cursor.db.file_text(cursor.file);
    // The longest of those that begin on a line speaks for it.
    spans.sort_by_key(|span| (std::cmp::Reverse(span.end - span.start), span.start));
    let mut lines: FxHashMap<usize, Summary> = FxHashMap::default();
    for span in spans {
        let start = usize::from(cursor.range(span).start());
        let end = text[start..].find('\n').map_or(text.len(), |line| start + line);
        if lines.contains_key(&end) {
            continue;
        }
        let part = explain::within(&summary, cursor.range(span));
        let launches = explain::count_launches(&part);
        if launches > 0 {
            lines.insert(end, Summary { lines: part, launches, ..summary.clone() });
        }
    }
    let mut lines: Vec<(usize, Summary)> = lines.into_iter().collect();
    lines.sort_by_key(|(end, _)| *end);
    // A launch that computes something for several lines is counted at the first of them.
    let mut told: Vec<SummaryLine> = Vec::new();
    for (end, summary) in lines {
        let at = text[..end].trim_end().len();
        let launched: Vec<SummaryLine> =
            summary.lines.iter().filter(|line| line.launches > 0).cloned().collect();
        let again = launched.iter().all(|line| told.contains(line));
        let label = if again { "same launch".to_owned() } else { label(&summary) };
        told.extend(launched);
        all.push(InlayHint {
            at: TextSize::new(at as u32),
            label: format!(" ∥ {label}"),
            kind: HintKind::Parallelism,
            tooltip: Some(tooltip(&summary)),
            edit: None,
            links: Vec::new(),
        });
    }
}

fn label(summary: &Summary) -> String {
    let s = if summary.launches == 1 { "" } else { "es" };
    let mut label = format!("{} launch{s}", summary.launches);
    let nested = summary.lines.iter().any(|line| line.text.contains(", for "));
    // The least orderly of the layouts that are known.
    let layout = summary.layouts.iter().filter(|layout| **layout != Layout::Given).max();
    if let (true, Some(layout)) = (nested, layout) {
        label.push_str(" · ");
        label.push_str(layout.name());
    }
    label
}

fn tooltip(summary: &Summary) -> String {
    let mut out = String::new();
    for line in &summary.lines {
        out.push_str(&"  ".repeat(line.depth as usize));
        out.push_str("- ");
        out.push_str(&line.text);
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;
    use crate::syntax::format;

    fn hints(f: &Fixture, options: HintOptions) -> Vec<InlayHint> {
        let all = TextRange::up_to(TextSize::of(&*f.text));
        inlay_hints(&f.db, f.file, all, options, Precision::Bits64)
    }

    /// The text with its hints in `⟦…⟧`.
    fn check(text: &str, options: HintOptions, expected: &str) {
        let f = Fixture::new(text);
        let mut out = f.text.clone();
        for hint in hints(&f, options).iter().rev() {
            out.insert_str(hint.at.into(), &format!("⟦{}⟧", hint.label));
        }
        assert_eq!(out, expected);
    }

    const TYPES: HintOptions = HintOptions { types: true, parallelism: false };
    const PARALLELISM: HintOptions = HintOptions { types: false, parallelism: true };

    #[test]
    fn types_that_are_not_written() {
        check(
            "function dot(a, b) = let p = {x * y : x in a; y in b} in sum(p);",
            TYPES,
            "function dot(a, b)⟦ : ([a], [a]) -> a :: (a in number)⟧ = \
             let p⟦: [a]⟧ = {x * y : x⟦: a⟧ in a; y⟦: a⟧ in b} in sum(p);",
        );
        check("function g(x) : int -> int = x;", TYPES, "function g(x) : int -> int = x;");
        check(
            "function g(x, n := (2)) \"doc\" = x + n;",
            TYPES,
            "function g(x, n := (2))⟦ : int -> int⟧ \"doc\" = x + n;",
        );
        check(
            "function first(a, b) = let c = {(x, x) : x in b} in c[0];",
            TYPES,
            "function first(a, b)⟦ : (a, [b]) -> (b, b) :: (a in …)⟧ = \
             let c⟦: [(b, b)]⟧ = {(x, x) : x⟦: b⟧ in b} in c[0];",
        );
        check("(a, b) = (1 + 1, [2.0]);", TYPES, "(a⟦: int⟧, b⟦: [float]⟧) = (1 + 1, [2.0]);");
    }

    #[test]
    fn point_25_datatypes_lead_to_their_definitions() {
        let f = Fixture::new("datatype point (float, float);\nfunction g(x) = [point(x, x)];");
        let hint = &hints(&f, TYPES)[0];
        let [(range, target)] = &hint.links[..] else { panic!("{:?}", hint.links) };
        assert_eq!((&hint.label[*range], f.slice(target)), ("point", "point".to_owned()));
    }

    #[test]
    fn not_what_is_obvious() {
        for text in [
            "x = -1;",
            "x = [1, 2];",
            "datatype p int;\nx = p(1);",
            "let a = \"b\"; c = [] int in {i : i in [0:3]; a};",
            "x = y;",
            "function g(x) = let z = x + 1 in y;",
        ] {
            check(text, TYPES, text);
        }
    }

    #[test]
    fn a_type_can_be_written_down() {
        for text in ["function g(a) = {sum(r) : r in a};", "function h x \"doc\" = (x, 1.0);"] {
            let f = Fixture::new(text);
            let hint = hints(&f, TYPES).into_iter().find(|h| h.edit.is_some()).expect("an edit");
            let mut new = text.to_owned();
            new.insert_str(hint.at.into(), &hint.edit.expect("a text"));
            let again = Fixture::new(&new);
            for form in &again.db.outline(again.file).forms {
                assert!(again.db.diagnostics(form.id()).is_empty(), "{new}");
            }
            assert!(!format(&new).is_empty());
        }
    }

    #[test]
    fn point_11_one_launch_is_not_told_of_three_lines() {
        check(
            "function g(a, p) =\n  let less = {x in a | x < p};\n      more = {x in a | x > p}\n  in (less, more);",
            PARALLELISM,
            "function g(a, p) =\n  let less = {x in a | x < p};⟦ ∥ 1 launch⟧\n      more = {x in a | x > p}⟦ ∥ same launch⟧\n  in (less, more);",
        );
    }

    #[test]
    fn where_parallelism_is() {
        check(
            "function g(m) =\n  let a = {sum(r) : r in m};\n      b = 2 % c %\n  in {x + b : x in a};",
            PARALLELISM,
            "function g(m) =\n  let a = {sum(r) : r in m};⟦ ∥ 1 launch⟧\n      b = 2 % c %\n  in {x + b : x in a};⟦ ∥ 1 launch⟧",
        );
    }
}
