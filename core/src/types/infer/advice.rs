//! Suggestions for calls whose argument does not fit.
//!
//! Each function below covers one family of mistakes and returns `None` if the call is none of them; the
//! first that applies gives the suggestion.

use super::{Infer, MemberTypes};
use crate::base::{Diagnostic, Loc, Name};
use crate::syntax::ast::{Expr, ExprId};
use crate::types::Ty;

/// The comparisons, which are defined only on ordinals.
const COMPARISONS: [&str; 8] = ["==", "/=", "<", ">", "<=", ">=", "max", "min"];

/// The functions on floats that are often given an int.
const FLOAT_FUNCTIONS: [&str; 12] =
    ["sqrt", "ln", "exp", "sin", "cos", "tan", "log", "expt", "round", "floor", "ceil", "trunc"];

/// A call whose argument does not fit.
struct Misfit<'a, 'b> {
    infer: &'a Infer<'b>,
    body: &'a MemberTypes<'a>,
    /// The location of the function or operator.
    at: Loc,
    /// The name of the function, in lower case.
    name: &'a str,
    /// The name as it is written.
    written: &'a Name,
    operands: &'a [ExprId],
    /// The types of the operands, their outermost variables resolved.
    types: Vec<Ty>,
}

/// A suggestion: its text, and the edit that follows it.
struct Advice {
    text: String,
    edit: Option<(Loc, String)>,
}

impl Advice {
    fn hint(text: impl Into<String>) -> Option<Advice> {
        Some(Advice { text: text.into(), edit: None })
    }

    fn fix(text: &str, at: Loc, replacement: impl Into<String>) -> Option<Advice> {
        Some(Advice { text: text.to_owned(), edit: Some((at, replacement.into())) })
    }
}

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
        let call =
            Misfit { infer: self, body, at, name: name.folded(), written: name, operands, types };
        if call.types.iter().any(|ty| matches!(ty, Ty::Function(_))) {
            return match &call.types[..] {
                [Ty::Function(_), _] if call.name == "-" => {
                    report.hint("read as a subtraction; to call the function write `g(-x)`")
                }
                _ => report,
            };
        }
        let advice = call
            .comparison()
            .or_else(|| call.number())
            .or_else(|| call.append())
            .or_else(|| call.elementwise());
        match advice {
            Some(Advice { text, edit: Some((at, replacement)) }) => {
                report.fix(text, at, replacement)
            }
            Some(Advice { text, edit: None }) => report.hint(text),
            None => report,
        }
    }
}

impl Misfit<'_, '_> {
    fn has(&self, ty: &Ty) -> bool {
        self.types.contains(ty)
    }

    /// Returns advice on chained comparisons, comparisons of other types than ordinals, and operators on bools or strings
    /// that have another meaning in NESL.
    fn comparison(&self) -> Option<Advice> {
        let compares = COMPARISONS.contains(&self.name);
        if compares
            && let Expr::Binary { op, .. } = &self.body.member.item.exprs[self.operands[0]]
            && COMPARISONS.contains(&op.name())
        {
            return Advice::hint("comparisons do not chain: write `a < b and b < c`");
        }
        if self.name == "||" && self.types.iter().all(|ty| *ty == Ty::Bool) {
            return Advice::fix("`||` pads a string with blanks; write `or`", self.at, "or");
        }
        if self.name == "+" && self.types.iter().all(|ty| *ty == Ty::Char.sequence()) {
            return Advice::fix("`++` joins strings", self.at, "++");
        }
        let no_ordinal = self.types.iter().all(|ty| !matches!(ty, Ty::Int | Ty::Float | Ty::Char));
        if compares && no_ordinal && self.types.len() == 2 {
            return Advice::hint(match self.name {
                "==" => "compare with `eql(a, b)`, which works for every type",
                "/=" => "compare with `not(eql(a, b))`, which works for every type",
                _ => "only int, float and char have an order",
            });
        }
        None
    }

    /// Returns advice on ints where floats are required, and the reverse.
    fn number(&self) -> Option<Advice> {
        if self.has(&Ty::Int) && self.has(&Ty::Float) {
            let literal =
                self.operands.iter().find_map(|e| match self.body.member.item.exprs[*e] {
                    Expr::Int(value) => Some((self.body.at(*e), value)),
                    _ => None,
                });
            return match literal {
                Some((at, value)) if self.types.len() == 2 => {
                    Advice::fix("int and float never mix; write a float", at, format!("{value}.0"))
                }
                _ => Advice::hint(
                    "int and float are never converted implicitly: convert with `float(…)`, `round(…)`, `trunc(…)`",
                ),
            };
        }
        if FLOAT_FUNCTIONS.contains(&self.name) && self.has(&Ty::Int) {
            return Advice::hint("convert with `float(…)`; a float literal has a point: `4.0`");
        }
        if self.name == "^" && self.types.get(1) == Some(&Ty::Float) {
            return Advice::hint("`^` takes an int power; for floats use `expt(v, p)`");
        }
        None
    }

    /// Returns advice on `++` of values that are not sequences, and on chars with ints.
    fn append(&self) -> Option<Advice> {
        let not_sequence = |ty: &Ty| !matches!(ty, Ty::Sequence(_) | Ty::Var(_) | Ty::Error);
        if self.name == "++" && self.types.iter().any(not_sequence) {
            let first = self.operands.first().map(|e| &self.body.member.item.exprs[*e]);
            return Advice::hint(match first {
                Some(Expr::Unary { .. }) => {
                    "unary operators bind tighter than `++`: write `#(a ++ b)`"
                }
                _ => "`++` joins sequences: write `[x]` for one element",
            });
        }
        if self.has(&Ty::Char) && self.has(&Ty::Int) {
            return Advice::hint("convert with `char_code(c)` and `code_char(i)`");
        }
        None
    }

    /// Returns advice on operations on sequences that are defined on elements.
    fn elementwise(&self) -> Option<Advice> {
        let (name, written) = (self.name, self.written);
        let any_sequence = self.types.iter().any(|ty| matches!(ty, Ty::Sequence(_)));
        if matches!(name, "+" | "-" | "*" | "/") && any_sequence {
            return Advice::hint(match &self.types[..] {
                [_] => "for each element: `{-x : x in xs}`".to_owned(),
                [Ty::Sequence(_), Ty::Sequence(_)] => {
                    format!("for each element: `{{x {written} y : x in xs; y in ys}}`")
                }
                [Ty::Sequence(_), _] => format!("for each element: `{{x {written} a : x in xs}}`"),
                _ => format!("for each element: `{{a {written} x : x in xs}}`"),
            });
        }
        if let [Ty::Sequence(element)] = &self.types[..]
            && matches!(name, "sum" | "product" | "plus_scan" | "max_val" | "min_val")
            && matches!(self.infer.unifier.shallow(element), Ty::Sequence(_))
        {
            return Advice::hint(format!("for each row: `{{{written}(row) : row in …}}`"));
        }
        let sorts = matches!(
            name,
            "sort"
                | "rank"
                | "rank_down"
                | "max_val"
                | "min_val"
                | "max_index"
                | "min_index"
                | "median"
        );
        if sorts && let [Ty::Sequence(element)] = &self.types[..] {
            match self.infer.unifier.shallow(element) {
                Ty::Sequence(inner) if self.infer.unifier.shallow(&inner) == Ty::Char => {
                    return Advice::hint(
                        "strings are sorted by `string_sort(a)`, and ranked by `string_rank(a)`",
                    );
                }
                Ty::Char => {
                    return Advice::hint(
                        "chars are ranked by `char_rank(s)`: `permute(s, char_rank(s))` sorts them",
                    );
                }
                Ty::Pair(..) => {
                    return Advice::hint(
                        "sort by a key: `permute(a, rank({key : (key, x) in a}))`",
                    );
                }
                _ => {}
            }
        }
        if name == "count" && self.types.len() == 1 {
            return Advice::hint("`count` counts the true ones: `count({x > 0 : x in xs})`");
        }
        None
    }
}
