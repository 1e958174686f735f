//! Calls of functions of other languages that are no function in NESL: `head(xs)` is `xs[0]`.

use super::{QuickFix, write};
use crate::base::TextRange;
use crate::db::Cursor;
use crate::syntax::ast::{Expr, ExprId};

/// Templates of calls in NESL, by the name of the foreign function and the number of its arguments, of which the first is
/// `{0}`.
///
/// An argument that is more than a name or a call is put in parentheses where it is not between brackets or commas.
const CALLS: &[(&[&str], usize, &str)] = &[
    (&["head", "hd"], 1, "{0}[0]"),
    (&["last"], 1, "{0}[#{0} - 1]"),
    (&["tail", "tl"], 1, "drop({0}, 1)"),
    (&["init"], 1, "take({0}, #{0} - 1)"),
    (&["fst"], 1, "first({0})"),
    (&["snd"], 1, "rest({0})"),
    (&["nth", "at", "elt", "getitem"], 2, "{0}[{1}]"),
    (&["mean", "average", "avg"], 1, "sum({0}) / float(#{0})"),
    (&["zeros"], 1, "dist(0, {0})"),
    (&["zeros"], 2, "dist(dist(0.0, {1}), {0})"),
    (&["ones"], 1, "dist(1, {0})"),
    (&["ones"], 2, "dist(dist(1.0, {1}), {0})"),
    (
        &["eye", "identity_matrix"],
        1,
        "{{if i == j then 1.0 else 0.0 : j in [0:{0}]} : i in [0:{0}]}",
    ),
    (&["inc", "incr", "increment", "succ"], 1, "{0} + 1"),
    (&["dec", "decr", "decrement", "pred"], 1, "{0} - 1"),
    (&["sqr", "square"], 1, "{0} * {0}"),
    (&["isnan", "is_nan"], 1, "{0} /= {0}"),
    (&["empty", "isempty", "is_empty"], 1, "#{0} == 0"),
    (&["log10"], 1, "log({0}, 10.0)"),
    (&["log2"], 1, "log({0}, 2.0)"),
    (&["int", "integer", "toint", "to_int"], 1, "trunc({0})"),
    (&["int", "integer", "toint", "to_int", "fromintegral"], 1, "first(parse_int({0}))"),
    (&["double", "tofloat", "to_float", "real", "fromintegral"], 1, "float({0})"),
    (&["div", "quot", "quotient", "floordiv"], 2, "{0} / {1}"),
    (&["slice", "substring", "substr"], 3, "subseq({0}, {1}, {2})"),
    (&["append_to", "push", "add"], 2, "snoc({0}, {1})"),
    (&["elem", "member", "isin"], 2, "find({0}, {1}) >= 0"),
    (&["contains", "includes"], 2, "find({1}, {0}) >= 0"),
    (&["indexof"], 2, "find({1}, {0})"),
    (&["raise", "throw", "fail", "failwith", "stop"], 1, "error({0})"),
    (&["input", "readline"], 1, "prompt({0})"),
    (&["print_int", "print_float"], 1, "print({0})"),
    (&["sign", "sgn", "signum"], 1, "if {0} > 0 then 1 else if {0} < 0 then -1 else 0"),
    (&["map2", "zipwith", "zip_with"], 3, "{{0}(x, y) : x in {1}; y in {2}}"),
    (&["flatmap", "flat_map", "concatmap", "concat_map"], 2, "flatten({{0}(x) : x in {1}})"),
    (&["filter"], 2, "{x in {1} | {0}(x)}"),
    (&["partition"], 2, "({x in {1} | {0}(x)}, {x in {1} | not({0}(x))})"),
];

/// Returns the candidates for an undefined name at some bytes of the form.
pub(super) fn calls(cursor: &Cursor<'_>, at: TextRange) -> Vec<QuickFix> {
    let exprs = &cursor.ast.exprs;
    let call = exprs.iter().find_map(|(id, expr)| match expr {
        Expr::Call { fun, arg, optional }
            if optional.is_empty()
                && cursor.parsed.range(cursor.bare(cursor.ast.expr_spans[*fun])) == at =>
        {
            Some((id, *fun, *arg))
        }
        _ => None,
    });
    let Some((call, fun, arg)) = call else { return Vec::new() };
    let Expr::Name(name) = &exprs[fun] else { return Vec::new() };
    let known = CALLS.iter().filter(|(names, ..)| names.contains(&name.folded()));
    let operand = operand_of(cursor, call);
    known
        .filter_map(|(_, arity, template)| {
            let parts = arguments(cursor, arg, *arity)?;
            let text = match (name.folded(), &exprs[parts[0]]) {
                // `filter(x => x > 1, xs)`
                ("filter", Expr::Lambda { param, body }) => format!(
                    "{{{} in {} | {}}}",
                    cursor.text(cursor.ast.pat_spans[*param]),
                    text(cursor, parts[1]),
                    text(cursor, *body)
                ),
                _ => filled(cursor, template, &parts),
            };
            // What binds less tightly than the call did.
            let text = if operand && is_loose(template) { format!("({text})") } else { text };
            let at = cursor.parsed.range(cursor.bare(cursor.ast.expr_spans[call]));
            Some(write(at, text))
        })
        .collect()
}

/// Returns true if an expression is an operand of an operator, or of an index.
fn operand_of(cursor: &Cursor<'_>, call: ExprId) -> bool {
    cursor.ast.exprs.iter().any(|(_, expr)| match expr {
        Expr::Binary { left, right, .. } => *left == call || *right == call,
        Expr::Unary { arg, .. } => *arg == call,
        Expr::Index { sequence, .. } => *sequence == call,
        _ => false,
    })
}

/// The arguments of a call, if there are as many as are wanted.
fn arguments(cursor: &Cursor<'_>, arg: ExprId, arity: usize) -> Option<Vec<ExprId>> {
    let mut parts = Vec::new();
    let mut rest = arg;
    while parts.len() + 1 < arity {
        let Expr::Pair(first, second) = cursor.ast.exprs[rest] else { return None };
        parts.push(first);
        rest = second;
    }
    // One argument may be a tuple.
    if arity > 1 && matches!(cursor.ast.exprs[rest], Expr::Pair(..)) {
        return None;
    }
    parts.push(rest);
    Some(parts)
}

/// Puts arguments into a template.
fn filled(cursor: &Cursor<'_>, template: &str, parts: &[ExprId]) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((at, part)) = hole(rest, parts) {
        let (before, behind) = (&rest[..at], &rest[at + HOLE_BYTES..]);
        out.push_str(before);
        let begins = before.ends_with(['(', '[', ':']) || before.ends_with(", ");
        let begins = begins || before.ends_with(" in ");
        let ends = behind.starts_with([')', ',', ']', '}', ';']) || behind.starts_with(" |");
        let bare = text(cursor, part);
        let loose = matches!(
            cursor.ast.exprs[part],
            Expr::Binary { .. }
                | Expr::Unary { .. }
                | Expr::If { .. }
                | Expr::Let { .. }
                | Expr::Lambda { .. }
        );
        if loose && !(begins && ends) {
            out.push_str(&format!("({bare})"));
        } else {
            out.push_str(&bare);
        }
        rest = behind;
    }
    out + rest
}

/// The length of `{0}`, in bytes.
const HOLE_BYTES: usize = 3;

/// Returns the place of the next argument in a template, and the argument.
fn hole(template: &str, parts: &[ExprId]) -> Option<(usize, ExprId)> {
    template.as_bytes().windows(HOLE_BYTES).enumerate().find_map(|(at, bytes)| match bytes {
        [b'{', digit @ b'0'..=b'9', b'}'] => {
            parts.get(usize::from(digit - b'0')).map(|part| (at, *part))
        }
        _ => None,
    })
}

/// Returns true if an operator in a template is in no brackets.
fn is_loose(template: &str) -> bool {
    let mut depth = 0i32;
    template.chars().any(|c| {
        depth += i32::from(matches!(c, '(' | '[' | '{')) - i32::from(matches!(c, ')' | ']' | '}'));
        c == ' ' && depth == 0
    })
}

/// The text of an expression without parentheses around it.
fn text(cursor: &Cursor<'_>, expr: ExprId) -> String {
    cursor.text(super::bare(cursor, expr).0)
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn functions_that_are_written_otherwise() {
        for (before, title, after) in [
            ("x = $0head([1, 2]);", "Write `[1, 2][0]`", "x = [1, 2][0];"),
            ("x = 1 + $0last([1]);", "Write `[1][#[1] - 1]`", "x = 1 + [1][#[1] - 1];"),
            ("x = $0tail([1] ++ [2]);", "Write `drop([1] ++ [2], 1)`", "x = drop([1] ++ [2], 1);"),
            (
                "x = 2.0 * $0mean([1.0]);",
                "Write `(sum([1.0]) / float(#[1.0]))`",
                "x = 2.0 * (sum([1.0]) / float(#[1.0]));",
            ),
            ("x = $0zeros(3);", "Write `dist(0, 3)`", "x = dist(0, 3);"),
            ("x = $0square(1 + 2);", "Write `(1 + 2) * (1 + 2)`", "x = (1 + 2) * (1 + 2);"),
            ("x = in$0t(3.7);", "Write `trunc(3.7)`", "x = trunc(3.7);"),
            (
                "x = in$0t(\"3\");",
                "Write `first(parse_int(\"3\"))`",
                "x = first(parse_int(\"3\"));",
            ),
            (
                "x = $0filter(x => x > 1, [1, 2]);",
                "Write `{x in [1, 2] | x > 1}`",
                "x = {x in [1, 2] | x > 1};",
            ),
            (
                "x = $0filter(evenp, [1, 2]);",
                "Write `{x in [1, 2] | evenp(x)}`",
                "x = {x in [1, 2] | evenp(x)};",
            ),
            (
                "x = if $0isempty([1]) then 1 else 2;",
                "Write `#[1] == 0`",
                "x = if #[1] == 0 then 1 else 2;",
            ),
            ("x = $0fst((1, 2));", "Write `first(1, 2)`", "x = first(1, 2);"),
            ("x = $0nth([1, 2], 0);", "Write `[1, 2][0]`", "x = [1, 2][0];"),
        ] {
            check(before, title, after);
        }
    }
}
