//! Gathers that cannot fault: the places are a range within the sequence, as those of `even_elts` and `odd_elts`.
//!
//! ```text
//! n = #v
//! even = v -> [0:n:2]
//! odd = v -> [1:max(n, 1):2]
//! ```

use crate::ir::{Atom, Op, Var};
use crate::prim::SeqOp;
use nesl_runtime::scalar::ScalarOp;

/// Returns true if a gather reads elements that exist; `made` returns the operation that makes a variable.
pub(super) fn is_within_bounds<'p>(
    of: Atom,
    places: Atom,
    made: &dyn Fn(Var) -> Option<&'p Op>,
) -> bool {
    let made_by = |atom: Atom| atom.variable().and_then(made);
    let Some(Op::Seq(SeqOp::Range, range)) = made_by(places) else { return false };
    let [Atom::Int(start @ 0..), Atom::Int(1..), end] = range[..] else { return false };
    let is_length =
        |atom| matches!(made_by(atom), Some(Op::Seq(SeqOp::Length, args)) if args[0] == of);
    match made_by(end) {
        // If there are fewer elements than `least`, the range is empty, as it begins there or behind.
        Some(Op::Scalar(ScalarOp::Max, args)) => match args[..] {
            [length, Atom::Int(least)] | [Atom::Int(least), length] => {
                least <= start && is_length(length)
            }
            _ => false,
        },
        _ => is_length(end),
    }
}
