//! Quick fixes that depend on types.
//!
//! Each is derived from the syntax and the types at the range of the diagnostic, not from its message. The
//! caller applies a fix to a copy of the form, and offers it only if errors disappear.

use super::{QuickFix, bare, fresh, write};
use crate::base::{Diagnostic, DiagnosticKind, Name, TextRange};
use crate::db::Cursor;
use crate::db::FileRange;
use crate::syntax::ast::{BinaryOp, Expr, ExprId};
use crate::syntax::excerpt;
use crate::types::{Ty, print_type};

/// Returns the candidates for a diagnostic.
pub(super) fn quick_fixes(
    cursor: &Cursor<'_>,
    diagnostic: &Diagnostic<FileRange>,
) -> Vec<QuickFix> {
    let mut all = Vec::new();
    let place = diagnostic.primary.at;
    let Some(at) = place.range.checked_sub(cursor.start).filter(|_| place.file == cursor.file)
    else {
        return all;
    };
    if diagnostic.kind == DiagnosticKind::Syntax {
        all.extend(empty(cursor, at));
    }
    if diagnostic.kind == DiagnosticKind::Name {
        all.extend(super::foreign::calls(cursor, at));
    }
    if diagnostic.kind != DiagnosticKind::Type {
        return all;
    }
    for (id, expr) in cursor.ast.exprs.iter() {
        match expr {
            Expr::Binary { op, op_span, left, right } if cursor.parsed.range(*op_span) == at => {
                binary(cursor, *op, (*left, *right), &mut all);
            }
            Expr::Call { fun, arg, .. } if range(cursor, *fun) == at => {
                part(cursor, (id, *fun, *arg), &mut all);
                each(cursor, (id, *fun, *arg), &mut all);
                arguments(cursor, *fun, *arg, &mut all);
            }
            Expr::Index { sequence, index }
                if range(cursor, *index) == at
                    && matches!(ty(cursor, *index), Some(Ty::Sequence(_))) =>
            {
                let (a, is) = (text(cursor, *sequence), text(cursor, *index));
                all.push(write(range(cursor, id), format!("{a} -> {is}")));
            }
            Expr::If { then, otherwise, .. } if range(cursor, id) == at => {
                floats(cursor, &[*then, *otherwise], &mut all);
            }
            Expr::Sequence(items) if items.iter().any(|item| range(cursor, *item) == at) => {
                floats(cursor, items, &mut all);
            }
            Expr::Each { bindings, .. } => {
                for (_, sequence) in bindings {
                    if range(cursor, *sequence) == at && ty(cursor, *sequence) == Some(&Ty::Int) {
                        let text = format!("[0:{}]", text(cursor, *sequence));
                        all.push((format!("Go over `{text}`"), at, text));
                    }
                }
            }
            _ => {}
        }
        let converted = range(cursor, id) == at && ty(cursor, id) == Some(&Ty::Float);
        if converted && all.is_empty() {
            for convert in ["round", "floor", "ceil", "trunc"] {
                all.push(wrap(cursor, convert, id));
            }
        }
        if range(cursor, id) == at && ty(cursor, id) == Some(&Ty::Int) && all.is_empty() {
            let text = format!("{} /= 0", text(cursor, id));
            all.push((format!("Write `{text}`"), at, text));
        }
    }
    all
}

/// Replaces `[]` by `[] ty`, with the type that the context expects.
fn empty(cursor: &Cursor<'_>, at: TextRange) -> Option<QuickFix> {
    const PLACEHOLDER: &str = "empty__sequence";
    let whole = cursor.db.item_text(cursor.item);
    let written: String =
        whole.get(std::ops::Range::<usize>::from(at))?.split_whitespace().collect();
    if written != "[]" {
        return None;
    }
    let mut filled = whole.to_string();
    filled.replace_range(std::ops::Range::<usize>::from(at), PLACEHOLDER);
    let form = cursor.db.scratch(cursor.item, &filled, Some(&Name::new(PLACEHOLDER)));
    let empty = form.parsed.ast.exprs.iter().find_map(|(id, expr)| match expr {
        Expr::Name(name) if name.folded() == PLACEHOLDER => form.types.exprs.get(id),
        _ => None,
    });
    let element = match empty {
        Some(ty @ Ty::Sequence(_)) if is_data(ty) => print_type(ty),
        // Every type fits.
        _ => "[int]".to_owned(),
    };
    let element = element.strip_prefix('[')?.strip_suffix(']')?;
    let text = format!("[] {element}");
    Some((format!("Write `{text}`"), at, text))
}

/// Returns true if values of a type can be written in source text.
fn is_data(ty: &Ty) -> bool {
    match ty {
        Ty::Int | Ty::Float | Ty::Bool | Ty::Char => true,
        Ty::Pair(a, b) => is_data(a) && is_data(b),
        Ty::Sequence(a) => is_data(a),
        Ty::Record(_, args) => args.iter().all(is_data),
        Ty::Error | Ty::Function(_) | Ty::Code(..) | Ty::Var(_) => false,
    }
}

/// Adds the fixes for operands that do not fit their operator.
fn binary(
    cursor: &Cursor<'_>,
    op: BinaryOp,
    (left, right): (ExprId, ExprId),
    all: &mut Vec<QuickFix>,
) {
    let (Some(a), Some(b)) = (ty(cursor, left), ty(cursor, right)) else { return };
    // Parentheses around the operation stay.
    let whole = range(cursor, left).cover(range(cursor, right));
    let (l, r) = (text(cursor, left), text(cursor, right));
    let extends = |e: ExprId| {
        matches!(cursor.ast.exprs[e], Expr::If { .. } | Expr::Let { .. } | Expr::Lambda { .. })
    };
    if extends(left) || extends(right) {
        return;
    }
    let mut write = |text: String| all.push((format!("Write `{}`", short(&text)), whole, text));
    let ordinal = |ty: &Ty| matches!(ty, Ty::Int | Ty::Float | Ty::Char);
    let ordered = ordinal(a) || ordinal(b) || chained(cursor, left);
    match (op, a, b) {
        (BinaryOp::Eq, _, _) if !ordered => write(format!("eql({l}, {r})")),
        (BinaryOp::Ne, _, _) if !ordered => write(format!("not(eql({l}, {r}))")),
        (BinaryOp::Append, Ty::Sequence(element), b) if **element == *b => {
            write(format!("{l} ++ [{r}]"));
        }
        (BinaryOp::Append, a, Ty::Sequence(element)) if **element == *a => {
            write(format!("[{l}] ++ {r}"));
        }
        (BinaryOp::Append, Ty::Sequence(a), Ty::Sequence(b))
            if (&**a, &**b) == (&Ty::Int, &Ty::Float) =>
        {
            write(format!("{{float(x) : x in {l}}} ++ {r}"));
        }
        (BinaryOp::Append, Ty::Sequence(a), Ty::Sequence(b))
            if (&**a, &**b) == (&Ty::Float, &Ty::Int) =>
        {
            write(format!("{l} ++ {{float(x) : x in {r}}}"));
        }
        (BinaryOp::Power, Ty::Float, Ty::Float) => write(format!("expt({l}, {r})")),
        // `abs -3`
        (BinaryOp::Sub, Ty::Function(_), Ty::Int | Ty::Float) => write(format!("{l}(-{r})")),
        (_, Ty::Int, Ty::Float) | (_, Ty::Float, Ty::Int) => {
            floats(cursor, &[left, right], all);
        }
        (op, Ty::Bool, _) if compares(op) => {
            // `a < b < c`
            if let Expr::Binary { right: middle, .. } = &cursor.ast.exprs[left]
                && chained(cursor, left)
            {
                let middle = text(cursor, *middle);
                write(format!("{l} and {middle} {} {r}", op.name()));
            }
        }
        (op, a, b) if is_elementwise(op) || compares(op) && !(is_text(a) || is_text(b)) => {
            let sign = op.name();
            let x = fresh(cursor, &["x", "y", "a", "b"], &[]);
            let y = fresh(cursor, &["y", "b", "z"], &[&x]);
            match (a, b) {
                (Ty::Sequence(_), Ty::Sequence(_)) => {
                    write(format!("{{{x} {sign} {y} : {x} in {l}; {y} in {r}}}"));
                }
                (Ty::Sequence(_), _) => write(format!("{{{x} {sign} {r} : {x} in {l}}}")),
                (_, Ty::Sequence(_)) => write(format!("{{{l} {sign} {x} : {x} in {r}}}")),
                _ => {}
            }
        }
        _ => {}
    }
}

/// Returns true if an operand is itself a comparison.
fn chained(cursor: &Cursor<'_>, left: ExprId) -> bool {
    matches!(cursor.ast.exprs[left], Expr::Binary { op, .. } if compares(op))
}

fn compares(op: BinaryOp) -> bool {
    use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
    matches!(op, Eq | Ne | Lt | Gt | Le | Ge)
}

/// Returns true for the operators of numbers and bools.
fn is_elementwise(op: BinaryOp) -> bool {
    use BinaryOp::{Add, And, Div, Mul, Nand, Nor, Or, Power, Sub, Xor};
    matches!(op, Add | Sub | Mul | Div | Power | And | Or | Xor | Nand | Nor)
}

fn is_text(ty: &Ty) -> bool {
    matches!(ty, Ty::Sequence(element) if **element == Ty::Char)
}

/// Adds what `a[s:e]`, `a[s:e:d]` and `m[i, j]` are in NESL, where a sequence would be called.
fn part(cursor: &Cursor<'_>, (call, fun, arg): (ExprId, ExprId, ExprId), all: &mut Vec<QuickFix>) {
    if !matches!(ty(cursor, fun), Some(Ty::Sequence(_))) {
        return;
    }
    let a = text(cursor, fun);
    let part = |expr: &ExprId| text(cursor, *expr);
    let written = match &cursor.ast.exprs[arg] {
        Expr::Range { start, end, stride: None } => {
            format!("subseq({a}, {}, {})", part(start), part(end))
        }
        Expr::Range { .. } => format!("{a} -> {}", part(&arg)),
        Expr::Sequence(items) if items.len() == 2 => {
            format!("{a}[{}][{}]", part(&items[0]), part(&items[1]))
        }
        _ => return,
    };
    all.push(write(range(cursor, call), written));
}

/// Adds the apply-to-each that a call was meant to be whose argument is a sequence of what the function takes, and the
/// sequence that several arguments were meant to be.
fn each(cursor: &Cursor<'_>, (call, fun, arg): (ExprId, ExprId, ExprId), all: &mut Vec<QuickFix>) {
    let (Some(Ty::Function(f)), Some(given)) = (ty(cursor, fun), ty(cursor, arg)) else { return };
    let (name, at) = (text(cursor, fun), range(cursor, call));
    let inside = cursor.text(bare(cursor, arg).0);
    match (&f.param, given) {
        (Ty::Sequence(wanted), Ty::Sequence(of)) => {
            if (&**wanted, &**of) == (&Ty::Float, &Ty::Int) {
                all.push(write(at, format!("{name}({{float(x) : x in {inside}}})")));
            }
            let strings = matches!(&**of, Ty::Sequence(of) if **of == Ty::Char);
            if strings && matches!(&*name, "sort" | "rank") {
                all.push(write(at, format!("string_{name}({inside})")));
            }
        }
        (Ty::Sequence(_), Ty::Pair(..)) => all.push(write(at, format!("{name}([{inside}])"))),
        (Ty::Pair(..), _) => {}
        (_, Ty::Sequence(_)) => {
            let x = fresh(cursor, &["x", "y", "a", "b"], &[]);
            all.push(write(at, format!("{{{name}({x}) : {x} in {inside}}}")));
        }
        _ => {}
    }
    // `max 3 4`
    let second = cursor.ast.exprs.iter().find_map(|(id, expr)| match expr {
        Expr::Call { fun, arg, .. } if *fun == call => Some((id, *arg)),
        _ => None,
    });
    if let (Ty::Pair(..), Some((outer, second))) = (&f.param, second) {
        let second = cursor.text(bare(cursor, second).0);
        all.push(write(range(cursor, outer), format!("{name}({inside}, {second})")));
    }
}

/// Adds the conversions of arguments that are ints where the function takes floats, or the reverse.
fn arguments(cursor: &Cursor<'_>, fun: ExprId, arg: ExprId, all: &mut Vec<QuickFix>) {
    let Some(Ty::Function(f)) = ty(cursor, fun) else { return };
    let (mut wanted, mut given) = (&f.param, arg);
    loop {
        let (here, next) = match (wanted, &cursor.ast.exprs[given]) {
            (Ty::Pair(a, b), Expr::Pair(c, d)) => ((&**a, *c), Some((&**b, *d))),
            _ => ((wanted, given), None),
        };
        match (here.0, ty(cursor, here.1)) {
            (Ty::Float, Some(Ty::Int)) => all.push(float(cursor, here.1)),
            (Ty::Int, Some(Ty::Float)) => {
                for convert in ["round", "floor", "ceil", "trunc"] {
                    all.push(wrap(cursor, convert, here.1));
                }
            }
            _ => {}
        }
        let Some(next) = next else { return };
        (wanted, given) = next;
    }
}

/// Adds the conversions of the ints among expressions that should all have one type to floats.
fn floats(cursor: &Cursor<'_>, exprs: &[ExprId], all: &mut Vec<QuickFix>) {
    let is = |wanted: &Ty| exprs.iter().any(|expr| ty(cursor, *expr) == Some(wanted));
    if !(is(&Ty::Int) && is(&Ty::Float)) {
        return;
    }
    let ints = exprs.iter().filter(|expr| ty(cursor, **expr) == Some(&Ty::Int));
    let literal = |expr: &ExprId| matches!(cursor.ast.exprs[*expr], Expr::Int(_));
    // A literal between operands has a fix in its own hint.
    let known = |expr: &ExprId| exprs.len() == 2 && literal(expr) && is_operand(cursor, *expr);
    all.extend(ints.filter(|expr| !known(expr)).map(|expr| float(cursor, *expr)));
}

fn is_operand(cursor: &Cursor<'_>, expr: ExprId) -> bool {
    cursor.ast.exprs.iter().any(|(_, other)| {
        matches!(other, Expr::Binary { left, right, .. } if *left == expr || *right == expr)
    })
}

/// Converts an int to a float: a literal by `.0`.
fn float(cursor: &Cursor<'_>, expr: ExprId) -> QuickFix {
    match cursor.ast.exprs[expr] {
        Expr::Int(value) => {
            let text = format!("{value}.0");
            let range = cursor.parsed.range(bare(cursor, expr).0);
            (format!("Write `{text}`"), range, text)
        }
        _ => wrap(cursor, "float", expr),
    }
}

/// Applies a conversion function to an expression.
fn wrap(cursor: &Cursor<'_>, function: &str, expr: ExprId) -> QuickFix {
    // The parentheses of a call are kept; those of a tuple are part of the argument.
    let (span, _) = bare(cursor, expr);
    let text = format!("{function}({})", cursor.text(span));
    let range = cursor.parsed.range(span);
    (format!("Convert with `{}`", short(&text)), range, text)
}

fn short(text: &str) -> String {
    excerpt(text, super::TITLE_CHARS)
}

fn range(cursor: &Cursor<'_>, expr: ExprId) -> TextRange {
    cursor.parsed.range(cursor.ast.expr_spans[expr])
}

fn text(cursor: &Cursor<'_>, expr: ExprId) -> String {
    cursor.text(cursor.ast.expr_spans[expr])
}

fn ty<'a>(cursor: &Cursor<'a>, expr: ExprId) -> Option<&'a Ty> {
    cursor.db.types(cursor.item).exprs.get(expr)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, lacks};

    #[test]
    fn parts_of_sequences() {
        let a = "a = [1, 2, 3];\n";
        for (before, title, after) in [
            ("x = $0a[0:2];", "Write `subseq(a, 0, 2)`", "x = subseq(a, 0, 2);"),
            ("x = $0a[0:2:2];", "Write `a -> [0:2:2]`", "x = a -> [0:2:2];"),
            ("x = a[$0[0, 1]];", "Write `a -> [0, 1]`", "x = a -> [0, 1];"),
            ("x = $0[a, a][0, 1];", "Change `[a, a][0, 1]` to `[a, a][0][1]`", "x = [a, a][0][1];"),
        ] {
            check(&format!("{a}{before}"), title, &format!("{a}{after}"));
        }
        check("m = [[1]];\nx = $0m[0, 0];", "Write `m[0][0]`", "m = [[1]];\nx = m[0][0];");
    }

    #[test]
    fn calls_for_each_element_or_of_several() {
        for (before, after) in [
            ("$0sqrt([1.0, 4.0])", "{sqrt(y) : y in [1.0, 4.0]}"),
            ("$0not [t, f]", "{not(y) : y in [t, f]}"),
            ("$0sum(1, 2, 3)", "sum([1, 2, 3])"),
            ("$0sort([\"b\"])", "string_sort([\"b\"])"),
            ("$0max 3 4", "max(3, 4)"),
            ("2.0 $0^ 0.5", "expt(2.0, 0.5)"),
            ("[1] $0++ [2.0]", "{float(x) : x in [1]} ++ [2.0]"),
            ("[1, 2] $0> 1", "{y > 1 : y in [1, 2]}"),
            ("[t] $0and [f]", "{y and b : y in [t]; b in [f]}"),
            ("abs $0-3", "abs(-3)"),
        ] {
            let title = format!("Write `{after}`");
            check(&format!("x = {before};"), &title, &format!("x = {after};"));
        }
        lacks("x = \"a\" $0< \"b\";", "Write `{y < b : y in \"a\"; b in \"b\"}`");
    }

    #[test]
    fn what_has_no_order_is_compared_with_eql() {
        check("x = \"a\" =$0= \"b\";", "Write `eql(\"a\", \"b\")`", "x = eql(\"a\", \"b\");");
        check(
            "x = (1, 2) $0/= (1, 3);",
            "Write `not(eql((1, 2), (1, 3)))`",
            "x = not(eql((1, 2), (1, 3)));",
        );
        check(
            "function g(a, b) = a > 0 and (b, t) $0== (a, t);",
            "Write `eql((b, t), (a, t))`",
            "function g(a, b) = a > 0 and eql((b, t), (a, t));",
        );
        // `eql` does not help where the types differ.
        lacks("x = \"a\" =$0= 1;", "Write `eql(\"a\", 1)`");
    }

    #[test]
    fn ints_and_floats() {
        check("x = #[1] $0/ 2.0;", "Convert with `float(#[1])`", "x = float(#[1]) / 2.0;");
        check(
            "function g(n) = sq$0rt(n + 1);",
            "Convert with `float(n + 1)`",
            "function g(n) = sqrt(n + 1);".replace("n + 1", "float(n + 1)").as_str(),
        );
        check("x = $0sqrt(4);", "Write `4.0`", "x = sqrt(4.0);");
        check("x = [1.0, $0#[1]];", "Convert with `float(#[1])`", "x = [1.0, float(#[1])];");
        check("x = $0if t then 1 else 2.5;", "Write `1.0`", "x = if t then 1.0 else 2.5;");
        check("x = [1, 2][$01.5];", "Convert with `trunc(1.5)`", "x = [1, 2][trunc(1.5)];");
        check("x = ta$0ke([1], 2.5);", "Convert with `floor(2.5)`", "x = take([1], floor(2.5));");
        check(
            "x = if $0#[1] then 1 else 2;",
            "Write `#[1] /= 0`",
            "x = if #[1] /= 0 then 1 else 2;",
        );
    }

    #[test]
    fn the_type_of_an_empty_sequence() {
        check("x = [1.5] ++ []$0;", "Write `[] float`", "x = [1.5] ++ [] float;");
        check(
            "x = if t then [$0] else [(1, `a)];",
            "Write `[] (int, char)`",
            "x = if t then [] (int, char) else [(1, `a)];",
        );
        check("x = [$0];", "Write `[] int`", "x = [] int;");
        check(
            "datatype p (int, int);\nfunction g(x) : int -> [p] = if x == 0 then [ $0] else [p(x, x)];",
            "Write `[] p`",
            "datatype p (int, int);\nfunction g(x) : int -> [p] = if x == 0 then [] p else [p(x, x)];",
        );
    }

    #[test]
    fn sequences_where_elements_are_meant() {
        check(
            "x = [1, 2] $0* 3;",
            "Write `{x1 * 3 : x1 in [1, 2]}`".replace("x1", "y").as_str(),
            "x = {y * 3 : y in [1, 2]};",
        );
        check(
            "function g(v, w) = v[0] - 1 + #($0v) + sum([1] $0+ [2]);".replace("$0v", "v").as_str(),
            "Write `{x + y : x in [1]; y in [2]}`",
            "function g(v, w) = v[0] - 1 + #(v) + sum({x + y : x in [1]; y in [2]});",
        );
        check("x = {i * 2 : i in $010};", "Go over `[0:10]`", "x = {i * 2 : i in [0:10]};");
        check("x = [1, 2] +$0+ 3;", "Write `[1, 2] ++ [3]`", "x = [1, 2] ++ [3];");
        check(
            "x = 1 <$0 2 < 3;".replace("<$0 2 <", "< 2 <$0").as_str(),
            "Write `1 < 2 and 2 < 3`",
            "x = 1 < 2 and 2 < 3;",
        );
    }
}
