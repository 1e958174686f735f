//! Suggestions for calls whose argument does not fit.

use super::{Infer, MemberTypes};
use crate::base::{Diagnostic, Loc, Name};
use crate::syntax::ast::{Expr, ExprId};
use crate::types::Ty;

/// The comparisons, which are defined only on ordinals.
const COMPARISONS: [&str; 8] = ["==", "/=", "<", ">", "<=", ">=", "max", "min"];

impl Infer<'_> {
    /// Adds a suggestion of what the author of the call probably meant.
    pub(super) fn call_hint(
        &self,
        body: &MemberTypes<'_>,
        report: Diagnostic<Loc>,
        at: Loc,
        name: &Name,
        operands: &[ExprId],
        types: &[Ty],
    ) -> Diagnostic<Loc> {
        let types: Vec<Ty> = types.iter().map(|ty| self.unifier.shallow(ty)).collect();
        let has = |wanted: &Ty| types.contains(wanted);
        let any_sequence = types.iter().any(|ty| matches!(ty, Ty::Sequence(_)));
        let compares = COMPARISONS.contains(&name.folded());
        if types.iter().any(|ty| matches!(ty, Ty::Function(_))) {
            return match &types[..] {
                [Ty::Function(_), _] if name.folded() == "-" => {
                    report.hint("read as a subtraction; to call the function write `g(-x)`")
                }
                _ => report,
            };
        }
        if compares
            && let Expr::Binary { op, .. } = &body.member.item.exprs[operands[0]]
            && COMPARISONS.contains(&op.name())
        {
            return report.hint("comparisons do not chain: write `a < b and b < c`");
        }
        if name.folded() == "||" && types.iter().all(|ty| *ty == Ty::Bool) {
            return report.fix("`||` pads a string with blanks; write `or`", at, "or");
        }
        if name.folded() == "+" && types.iter().all(|ty| *ty == Ty::Char.sequence()) {
            return report.fix("`++` joins strings", at, "++");
        }
        if compares
            && types.iter().all(|ty| !matches!(ty, Ty::Int | Ty::Float | Ty::Char))
            && types.len() == 2
        {
            return match name.folded() {
                "==" => report.hint("compare with `eql(a, b)`, which works for every type"),
                "/=" => report.hint("compare with `not(eql(a, b))`, which works for every type"),
                _ => report.hint("only int, float and char have an order"),
            };
        }
        if has(&Ty::Int) && has(&Ty::Float) {
            let literal = operands.iter().find_map(|e| match body.member.item.exprs[*e] {
                Expr::Int(value) => Some((body.at(*e), value)),
                _ => None,
            });
            return match literal {
                Some((at, value)) if types.len() == 2 => {
                    report.fix("int and float never mix; write a float", at, format!("{value}.0"))
                }
                _ => report.hint("int and float never mix by themselves: convert with `float(…)`, `round(…)`, `trunc(…)`"),
            };
        }
        if matches!(
            name.folded(),
            "sqrt"
                | "ln"
                | "exp"
                | "sin"
                | "cos"
                | "tan"
                | "log"
                | "expt"
                | "round"
                | "floor"
                | "ceil"
                | "trunc"
        ) && has(&Ty::Int)
        {
            return report.hint("convert with `float(…)`; a float literal has a point: `4.0`");
        }
        if name.folded() == "^" && types.get(1) == Some(&Ty::Float) {
            return report.hint("`^` takes an int power; for floats use `expt(v, p)`");
        }
        if name.folded() == "++"
            && types.iter().any(|ty| !matches!(ty, Ty::Sequence(_) | Ty::Var(_) | Ty::Error))
        {
            if let Some(Expr::Unary { .. }) = operands.first().map(|e| &body.member.item.exprs[*e])
            {
                return report.hint("unary operators bind tighter than `++`: write `#(a ++ b)`");
            }
            return report.hint("`++` joins sequences: write `[x]` for one element");
        }
        if has(&Ty::Char) && has(&Ty::Int) {
            return report.hint("convert with `char_code(c)` and `code_char(i)`");
        }
        if matches!(name.folded(), "+" | "-" | "*" | "/") && any_sequence {
            return match &types[..] {
                [_] => report.hint("for each element: `{-x : x in xs}`"),
                [Ty::Sequence(_), Ty::Sequence(_)] => {
                    report.hint(format!("for each element: `{{x {name} y : x in xs; y in ys}}`"))
                }
                [Ty::Sequence(_), _] => {
                    report.hint(format!("for each element: `{{x {name} a : x in xs}}`"))
                }
                _ => report.hint(format!("for each element: `{{a {name} x : x in xs}}`")),
            };
        }
        if types.len() == 1
            && let [Ty::Sequence(element)] = &types[..]
            && matches!(name.folded(), "sum" | "product" | "plus_scan" | "max_val" | "min_val")
            && matches!(self.unifier.shallow(element), Ty::Sequence(_))
        {
            return report.hint(format!("for each row: `{{{name}(row) : row in …}}`"));
        }
        if matches!(name.folded(), "count") && types.len() == 1 {
            return report.hint("`count` counts the true ones: `count({x > 0 : x in xs})`");
        }
        report
    }
}
