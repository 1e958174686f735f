//! Advice on calls with another number of arguments than the function takes.

use crate::base::{Loc, Name};
use crate::types::Ty;

/// Returns advice on a call with another number of arguments than the function takes, and its edit.
pub fn miscounted(name: &Name, types: &[Ty], at: Loc) -> Option<(String, Option<(Loc, String)>)> {
    let hint = |text: &str| Some((text.to_owned(), None));
    match (name.folded(), types) {
        ("max", [Ty::Sequence(_)]) => Some((
            "the greatest element of a sequence is `max_val(a)`".to_owned(),
            Some((at, "max_val".to_owned())),
        )),
        ("min", [Ty::Sequence(_)]) => Some((
            "the least element of a sequence is `min_val(a)`".to_owned(),
            Some((at, "min_val".to_owned())),
        )),
        ("max" | "min", _) => {
            Some((format!("of several: `{}_val([a, b, c])`", name.folded()), None))
        }
        ("count", [Ty::Sequence(_), _]) => {
            hint("`count` counts the true ones: `count({x == 1 : x in xs})`")
        }
        ("sum" | "product" | "max_val" | "min_val", [Ty::Int | Ty::Float | Ty::Var(_), _, ..]) => {
            Some((format!("it takes a sequence: `{}([a, b, c])`", name.folded()), None))
        }
        ("scan", [_, Ty::Sequence(_)]) => {
            hint("the identity comes before the sequence: `scan('+, 0, xs)`")
        }
        (
            "plus_scan" | "mult_scan" | "max_scan" | "min_scan" | "or_scan" | "and_scan",
            [_, Ty::Sequence(_)],
        ) => Some((format!("it takes the sequence alone: `{}(xs)`", name.folded()), None)),
        ("index", [Ty::Sequence(_), _]) => {
            hint("`find(x, xs)` is the index of `x`, or -1; `index(n)` has the ints below n")
        }
        ("join", [Ty::Sequence(_), _]) => hint(
            "`flatten({w ++ \", \" : w in words})` puts strings together, each with what stands behind it",
        ),
        ("log", [Ty::Float | Ty::Var(_)]) => Some((
            "the natural logarithm is `ln(x)`; `log(x, b)` is the one to base b".to_owned(),
            Some((at, "ln".to_owned())),
        )),
        ("log", [_]) => hint(
            "the natural logarithm of a float is `ln(2.0)`; `log(2.0, 10.0)` is one to base 10",
        ),
        ("zip", [_, _, _]) => Some((
            "the triples of three sequences: `zip3(a, b, c)`".to_owned(),
            Some((at, "zip3".to_owned())),
        )),
        ("dist", [_]) => hint("`dist(x, n)` has n times `x`"),
        ("rand", [_, _]) => hint("`rand(n)` is below n: `a + rand(b - a)`"),
        ("read_csv", [Ty::Sequence(text), _, ..]) if **text == Ty::Char => hint(
            "the name of the file comes last, and before it any value of the type of a row: `read_csv((\"\", 0, 0.0), name)`",
        ),
        ("read_csv", _) => hint(
            "the first argument is any value of the type of a row, as in `read_csv((\"\", 0, 0.0), name)`",
        ),
        ("print_line" | "print_string", _) => {
            hint("strings are joined by `++`, and made of other values by `@`")
        }
        (_, [Ty::Record(record, _)]) => Some((
            format!("a record is one argument, which the pattern `{}(…)` takes apart", record.name),
            None,
        )),
        _ => None,
    }
}
