//! Hovers: the type, documentation, cost and flattened form of the code under the pointer.

use super::symbol::{self, Symbol};
use crate::base::{Span, TextRange};
use crate::db::Cursor;
use crate::db::{Database, FileId};
use crate::explain;
use crate::prelude::{DocString, parse_doc, shown};
use crate::prim::Prim;
use crate::syntax::ast::{Expr, ExprId, ItemKind};
use crate::types::{Scheme, Signature, Ty, print_scheme};
use nesl_runtime::scalar::Precision;
use std::borrow::Cow;
use std::fmt::Write;

/// The summary of a function with functions for arguments.
const FOR_EACH_CALL: &str =
    "**Compiled for each call:** it takes a function, and becomes a part of what calls it";

/// The number of lines of the flattened form in a hover.
const MAX_LINES: usize = 24;

/// The contents of a hover.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hover {
    /// The range of the code that it describes.
    pub range: TextRange,
    /// The code and its type, as NESL: `sum : [a] -> a :: (a in number)`.
    pub code: String,
    /// The kind in a few words: `parameter`, `of the library`.
    pub role: Cow<'static, str>,
    /// The documentation of the name.
    pub doc: Option<DocString>,
    /// The flattened form, a line each, indented; Markdown.
    pub flattened: Vec<String>,
    /// The flattened form in a sentence, Markdown.
    pub summary: Option<String>,
}

impl Hover {
    /// All of it as Markdown.
    pub fn markdown(&self) -> String {
        let mut out = format!("```nesl\n{}\n```\n", self.code);
        if !self.role.is_empty() {
            let _ = writeln!(out, "*{}*\n", self.role);
        }
        if let Some(doc) = &self.doc {
            out.push_str(&doc_markdown(doc));
        }
        if let Some(summary) = &self.summary {
            let _ = writeln!(out, "---\n{summary}\n");
        }
        for line in &self.flattened {
            let _ = writeln!(out, "{line}");
        }
        out.truncate(out.trim_end().len());
        out
    }
}

/// A doc string as Markdown.
pub fn doc_markdown(doc: &DocString) -> String {
    let mut out = String::new();
    if !doc.text.is_empty() {
        let _ = writeln!(out, "{}\n", doc.text);
    }
    if !doc.examples.is_empty() {
        out.push_str("```nesl\n");
        for (source, value) in &doc.examples {
            let _ = writeln!(out, "{source}\n% → {value} %");
        }
        out.push_str("```\n");
    }
    if let Some(cost) = &doc.cost {
        let _ = writeln!(out, "Cost: {cost}\n");
    }
    out
}

/// The hover for an offset; for a selection, that of the smallest expression that contains it.
pub fn hover(
    db: &Database,
    file: FileId,
    selection: TextRange,
    precision: Precision,
) -> Option<Hover> {
    let cursor = Cursor::new(db, file, selection.start())?;
    let mut hover = if selection.is_empty() {
        named(&cursor).or_else(|| expression(&cursor, cursor.range(cursor.word()?)))?
    } else {
        expression(&cursor, selection)?
    };
    flattened(&cursor, &mut hover, precision);
    Some(hover)
}

/// The hover of a name.
fn named(cursor: &Cursor<'_>) -> Option<Hover> {
    let db = cursor.db;
    let found = symbol::at(cursor)?;
    let range = cursor.range(found.span);
    let word = cursor.text(found.span);
    let mut hover = Hover { range, ..Hover::default() };
    match &found.symbol {
        Symbol::Prim(prim) => {
            let row = prim.row();
            hover.code = format!("{} : {}", row.name, row.scheme);
            hover.doc = Some(doc_of_prim(*prim));
            hover.role = with_instance("of the library", instance(cursor, found.span, row.scheme));
        }
        Symbol::Item(item, name) => {
            let ty = db.type_of_name(*item, name)?;
            let shown_name = shown(name.folded());
            let name = if shown_name == name.folded() { name.as_written() } else { shown_name };
            hover.code = match &db.ast(*item).kind {
                ItemKind::Datatype(_) => format!("datatype {name} : {ty}"),
                ItemKind::Function(function) => {
                    hover.doc = function.doc.as_deref().map(parse_doc);
                    format!("function {}", declared(name, &ty))
                }
                _ => declared(name, &ty),
            };
            if db.is_library(*item) {
                hover.role = "of the library".into();
            } else if db.file_of(*item) != cursor.file {
                let name = db.file_name(db.file_of(*item));
                let last = name.rsplit(['/', '\\']).next().unwrap_or(&name);
                hover.role = format!("from {last}").into();
            }
            hover.role = with_instance(&hover.role, instance(cursor, found.span, &ty));
        }
        Symbol::Local(item, pat) => {
            let ty = db.types(*item).pats.get(*pat)?;
            hover.code = format!("{word} : {}", print(cursor, ty));
            let parameter = is_parameter(cursor, &found.symbol);
            hover.role = if parameter { "parameter" } else { "variable" }.into();
        }
        Symbol::Optional(item, index) => {
            let ast = db.ast(*item);
            let ItemKind::Function(function) = &ast.kind else { return None };
            let (ident, default) = function.optional.get(*index as usize)?;
            let ty = db.types(*item).exprs.get(*default)?.clone();
            hover.code = format!("{} : {}", ident.name, print(cursor, &ty));
            hover.role = "optional parameter".into();
        }
        Symbol::TypeVar(..) => {
            hover.code = word;
            hover.role = "type variable".into();
        }
        Symbol::BuiltIn(name) => {
            hover.code = name.folded().to_owned();
            hover.role = built_in(name.folded()).into();
        }
    }
    Some(hover)
}

/// The type that a name or an operator has in one place, if it is an instance of its general type.
fn instance(cursor: &Cursor<'_>, name: Span, general: &str) -> Option<String> {
    let types = &cursor.db.types(cursor.item).exprs;
    let here = |span: Span| cursor.bare(span) == name;
    let ty = cursor.ast.exprs.iter().find_map(|(id, expr)| match expr {
        Expr::Name(_) if here(cursor.ast.expr_spans[id]) => types.get(id).cloned(),
        // The name behind the `'`.
        Expr::Quote(_) if cursor.bare(cursor.ast.expr_spans[id]).end == name.end => {
            types.get(id).cloned()
        }
        Expr::Unary { op_span, arg, .. } if here(*op_span) => {
            Some(function(types.get(*arg)?.clone(), types.get(id)?))
        }
        Expr::Binary { op_span, left, right, .. } if here(*op_span) => {
            let (left, right) = (types.get(*left)?.clone(), types.get(*right)?.clone());
            Some(function(Ty::Pair(left.into(), right.into()), types.get(id)?))
        }
        _ => None,
    })?;
    let printed = print(cursor, &ty);
    (is_known(&ty) && printed != general).then_some(printed)
}

fn function(param: Ty, result: &Ty) -> Ty {
    Ty::function(param, result.clone(), Ty::Error)
}

/// Returns true if nothing of a type is missing because of an error.
fn is_known(ty: &Ty) -> bool {
    match ty {
        Ty::Error => false,
        Ty::Int | Ty::Float | Ty::Bool | Ty::Char | Ty::Var(_) | Ty::Code(..) => true,
        Ty::Pair(a, b) => is_known(a) && is_known(b),
        Ty::Sequence(a) => is_known(a),
        Ty::Record(_, args) => args.iter().all(is_known),
        // Which function it is need not be known.
        Ty::Function(f) => is_known(&f.param) && is_known(&f.result),
    }
}

/// The role of a name, with its type in one place.
fn with_instance(role: &str, instance: Option<String>) -> Cow<'static, str> {
    match (role, instance) {
        (role, None) => role.to_owned().into(),
        ("", Some(ty)) => format!("here `{ty}`").into(),
        (role, Some(ty)) => format!("{role}, here `{ty}`").into(),
    }
}

fn declared(name: &str, ty: &str) -> String {
    format!("{name} : {ty}")
}

fn built_in(name: &str) -> &'static str {
    match name {
        "int" => "whole numbers, 64 bits unless 32 are asked for; they wrap around",
        "float" => "IEEE 754 numbers, 64 bits unless 32 are asked for",
        "bool" => "`t` or `f`",
        "char" => "a byte; strings are sequences of chars",
        "number" => "the class of int and float",
        "ordinal" => "the class of int, float and char: what can be compared",
        "logical" => "the class of int and bool: what has `and`, `or`, `not`",
        "any" => "the class of all types",
        _ => "",
    }
}

/// A primitive's row as a doc string.
pub(super) fn doc_of_prim(prim: Prim) -> DocString {
    let row = prim.row();
    let example = row.example.split_once(" → ");
    DocString {
        text: row.doc.to_owned(),
        examples: example.map(|(a, b)| (a.to_owned(), b.to_owned())).into_iter().collect(),
        cost: (!row.cost.is_empty()).then(|| row.cost.to_owned()),
    }
}

fn is_parameter(cursor: &Cursor<'_>, symbol: &Symbol) -> bool {
    let (Symbol::Local(_, pat), ItemKind::Function(function)) = (symbol, &cursor.ast.kind) else {
        return false;
    };
    let (inner, outer) = (cursor.ast.pat_spans[*pat], cursor.ast.pat_spans[function.param]);
    outer.start <= inner.start && inner.end <= outer.end
}

/// The hover of an expression or pattern.
fn expression(cursor: &Cursor<'_>, range: TextRange) -> Option<Hover> {
    let types = cursor.db.types(cursor.item);
    let expr = cursor.expr_covering(range);
    let pat = cursor.pat_covering(range);
    let (span, ty) = match (expr, pat) {
        (Some((_, outer)), Some((pat, inner)))
            if inner.end - inner.start < outer.end - outer.start =>
        {
            (inner, types.pats.get(pat)?)
        }
        (Some((expr, span)), _) => (span, types.exprs.get(expr)?),
        (None, Some((pat, span))) => (span, types.pats.get(pat)?),
        (None, None) => return None,
    };
    if *ty == Ty::Error {
        // What is wrong is said elsewhere.
        return None;
    }
    let code = format!("{} : {}", cursor.snippet(span, 60), print(cursor, ty));
    Some(Hover { range: cursor.range(span), code, ..Hover::default() })
}

fn print(cursor: &Cursor<'_>, ty: &Ty) -> String {
    let vars = cursor.db.types(cursor.item).vars.clone();
    print_scheme(&Scheme { vars, ty: ty.clone() })
}

/// Adds the flattened form of the form, or of the expression under the pointer.
fn flattened(cursor: &Cursor<'_>, hover: &mut Hover, precision: Precision) {
    let Some(span) = part(cursor, hover.range) else { return };
    let whole = span == cursor.ast.span;
    let Ok(summary) = explain::summary(cursor.db, cursor.item, precision) else {
        if let Signature::Function { scheme, .. } = &**cursor.db.signature(cursor.item)
            && whole
            && explain::takes_functions(&scheme.ty)
        {
            hover.summary = Some(FOR_EACH_CALL.to_owned());
        }
        return;
    };
    // Of a part of the form: the launches alone, not what they are inside of. Of a function that is called: not those
    // of its arguments.
    let arguments = arguments(cursor, hover.range).map(|span| cursor.range(span));
    let part = explain::launches_within(&summary, cursor.range(span), arguments);
    let all = explain::count_launches(&summary.lines);
    let whole = whole && (arguments.is_none() || explain::count_launches(&part) == all);
    let lines = if whole { summary.lines.clone() } else { part };
    if lines.is_empty() {
        return;
    }
    if whole && summary.sequential {
        hover.summary = Some(summary.sentence());
        return;
    }
    let launches = explain::count_launches(&lines);
    hover.summary = Some(if whole { summary.sentence() } else { count(launches) });
    for line in lines.iter().take(MAX_LINES) {
        let indent = "  ".repeat(line.depth as usize);
        hover.flattened.push(format!("{indent}- {}", line.text));
    }
    if lines.len() > MAX_LINES {
        hover.flattened.push(format!("- and {} more steps: see the IR", lines.len() - MAX_LINES));
    }
}

/// The arguments of the call whose function has a range.
fn arguments(cursor: &Cursor<'_>, range: TextRange) -> Option<Span> {
    let of = |expr: ExprId| cursor.ast.expr_spans[expr];
    cursor.ast.exprs.iter().find_map(|(_, expr)| match expr {
        Expr::Call { fun, arg, .. } if cursor.range(cursor.bare(of(*fun))) == range => {
            Some(of(*arg))
        }
        _ => None,
    })
}

fn count(launches: u32) -> String {
    match launches {
        1 => "**1 launch does this**".to_owned(),
        n => format!("**{n} launches do this**"),
    }
}

/// The tokens whose flattened form is of interest: the form for the name that it defines, else the
/// smallest parallel expression around.
fn part(cursor: &Cursor<'_>, range: TextRange) -> Option<Span> {
    if let ItemKind::Function(function) = &cursor.ast.kind
        && cursor.range(function.name.span) == range
    {
        return Some(cursor.ast.span);
    }
    if let ItemKind::Binding { pattern, .. } = &cursor.ast.kind
        && cursor.range(cursor.ast.pat_spans[*pattern]).contains_range(range)
    {
        return Some(cursor.ast.span);
    }
    let each = cursor
        .ast
        .exprs
        .iter()
        .filter(|(_, expr)| matches!(expr, Expr::Each { .. } | Expr::Call { .. }));
    let spans = each.map(|(id, _)| cursor.ast.expr_spans[id]);
    let around = spans.filter(|span| cursor.range(*span).contains_range(range));
    around.min_by_key(|span| span.end - span.start)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Fixture;
    use super::*;
    use crate::base::Loc;
    use crate::syntax::{Kind, lex};
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: Expect) {
        let f = Fixture::new(text);
        let found = hover(&f.db, f.file, f.selection(), Precision::Bits64);
        let text = found.map_or("nothing".to_owned(), |h| h.markdown());
        expected.assert_eq(&(text + "\n"));
    }

    #[test]
    fn a_function_and_what_it_becomes() {
        check(
            "function $0dot(a, b) \"The dot product.\" = sum({x * y : x in a; y in b});",
            expect![[r#"
                ```nesl
                function dot : ([a], [a]) -> a :: (a in number)
                ```
                The dot product.

                ---
                **Parallel: 1 launch**

                - one pass over `a`: `x * y`, their sum
            "#]],
        );
    }

    #[test]
    fn a_nest_has_two_forms() {
        check(
            "m = [[1, 2], [3]];\n{$0sum(r) / #r : r in m};",
            expect![[r#"
                ```nesl
                sum : [a] -> a :: (a in number)
                ```
                *of the library, here `[int] -> int`*

                The sum of the elements; of none, 0.

                ```nesl
                sum([2, 1, -3, 11, 5])
                % → 16 %
                ```
                Cost: W = S(a), D = 1

                ---
                **1 launch does this**

                - `{sum(r) / #r : r in m}`, at run time one of:
                  - many, or little work in each: 1 launch, a thread for each of `m` computes it
                  - few, with much work in each: 2 launches
                    - one pass over the elements of every `r`: their sum
            "#]],
        );
    }

    /// The parts of a hover besides the documentation.
    fn said(text: &str) -> String {
        let f = Fixture::new(text);
        let found = hover(&f.db, f.file, f.selection(), Precision::Bits64).expect("a hover");
        format!(
            "{}\n{}\n{}",
            found.role,
            found.summary.unwrap_or_default(),
            found.flattened.join("\n")
        )
    }

    #[test]
    fn each_of_two_calls_of_one_function_has_its_own_type_and_launches() {
        let m = "m = [[1.5, 2.0], [3.0]];\n";
        let inner = said(&format!("{m}sum({{$0sum(row) : row in m}});"));
        assert_eq!(
            inner,
            "of the library, here `[float] -> float`\n**1 launch does this**\n\
             - `{sum(row) : row in m}`, at run time one of:\n  \
             - many, or little work in each: 1 launch, a thread for each of `m` computes it\n  \
             - few, with much work in each: 1 launch, one pass over the elements of every `row`: their sum"
        );
        let outer = said(&format!("{m}$0sum({{sum(row) : row in m}});"));
        assert_eq!(
            outer,
            "of the library, here `[float] -> float`\n**1 launch does this**\n\
             - one pass over `m`: their sum"
        );
        // Two types in one form.
        let text = "max_val({floor($0sum(r)) : r in [[1.5]]}) + sum([1]);";
        assert!(
            said(text).starts_with("of the library, here `[float] -> float`"),
            "{}",
            said(text)
        );
        let text = "max_val({floor(sum(r)) : r in [[1.5]]}) + $0sum([1]);";
        assert!(said(text).starts_with("of the library, here `[int] -> int`"), "{}", said(text));
    }

    #[test]
    fn the_type_in_one_place_is_said_where_it_is_another() {
        for (text, role) in [
            ("x = [1] $0++ [2];", "of the library, here `([int], [int]) -> [int]`"),
            ("map($0abs, [1.0]);", "of the library, here `float -> float`"),
            ("scan('$0max, 0, [1]);", "of the library, here `(int, int) -> int`"),
            ("function twice(x) = x + x;\n$0twice(1.5);", "here `float -> float`"),
            ("sq$0rt(1.5);", "of the library"),
            // In a general function it is as general.
            ("function g(a) = $0sum(a);", "of the library"),
            ("function g(a) = $0sum({x * 2 : x in a});", "of the library, here `[int] -> int`"),
        ] {
            assert_eq!(said(text).lines().next(), Some(role), "{text}");
        }
    }

    #[test]
    fn names_of_the_library() {
        check(
            "plus_$0scan([1]);",
            expect![[r#"
                ```nesl
                plus_scan : [a] -> [a] :: (a in number)
                ```
                *of the library, here `[int] -> [int]`*

                For each index, the sum of the elements before it.

                ```nesl
                plus_scan([5, 1, -3, 2])
                % → [0, 5, 6, 3] %
                ```
                Cost: W = S(a), D = 1

                ---
                **Parallel: 1 launch**

                - one pass over `([1])`: running sums (a scan)
            "#]],
        );
        check(
            "1 $0+ 2;",
            expect![[r#"
                ```nesl
                + : (a, a) -> a :: (a in number)
                ```
                *of the library, here `(int, int) -> int`*

                The sum. On ints it wraps around.

                ```nesl
                3 + 4
                % → 7 %
                ```
                Cost: W = 1, D = 1
            "#]],
        );
    }

    #[test]
    fn variables_and_selections() {
        check(
            "function f(x) = let y = x + 1 in $0y * y;",
            expect![[r#"
            ```nesl
            y : int
            ```
            *variable*
        "#]],
        );
        check(
            "function f(x) = let y = $0x + 1$0 in y * y;",
            expect![[r#"
            ```nesl
            x + 1 : int
            ```
        "#]],
        );
        check(
            "% no$0thing %",
            expect![[r#"
            nothing
        "#]],
        );
    }

    /// Hovers over the names of all functions of the examples.
    #[test]
    fn code_in_hovers_is_cut_between_tokens() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
        let (mut functions, mut cuts) = (0, 0);
        for entry in std::fs::read_dir(folder).expect("the examples").flatten() {
            if entry.path().extension().is_none_or(|extension| extension != "nesl") {
                continue;
            }
            let text = std::fs::read_to_string(entry.path()).expect("text");
            let mut db = Database::new();
            let file = db.add_file("example.nesl", &text, None);
            for form in db.outline(file).forms.clone() {
                let item = form.id();
                let ItemKind::Function(function) = &db.ast(item).kind else { continue };
                let name = db.place(Loc { item, span: function.name.span }).range;
                let hover = hover(&db, file, TextRange::empty(name.start()), Precision::Bits64);
                let hover = hover.expect("a function has a hover");
                functions += 1;
                let own = &text[db.whole(item).range];
                // The quotes of code are those of chars.
                if own.contains('`') {
                    continue;
                }
                for line in hover.summary.iter().chain(&hover.flattened) {
                    for code in line.split('`').skip(1).step_by(2).filter(|c| c.contains('…')) {
                        cuts += 1;
                        check_cut(own, code);
                    }
                }
            }
        }
        assert!(functions > 100 && cuts > 20, "{cuts} in {functions}");
    }

    /// Checks that the code beside a cut ends with whole tokens of a form, and that its brackets are closed.
    fn check_cut(form: &str, code: &str) {
        let words = |text: &str| {
            let tokens = lex(text).into_iter().filter(|token| token.kind != Kind::Blank);
            tokens.map(|token| text[token.range].to_owned()).collect::<Vec<String>>()
        };
        let own = words(form);
        let (head, tail) = code.split_once('…').expect("it is cut");
        for word in words(head).last().into_iter().chain(words(tail).first()) {
            assert!(own.contains(word), "`{code}`");
        }
        let count = |brackets: &[char]| code.matches(brackets).count();
        assert_eq!(count(&['(', '[', '{']), count(&[')', ']', '}']), "`{code}`");
    }
}
