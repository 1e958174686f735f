//! Reads of elements that exist wherever they are read, by what has been found out about lengths before.
//!
//! ```text
//! v1 = length(v0)  v2 = eq(v1, 0)
//! if v2 { … } else { … v3 = index(v0, 0) … }      v0 has an element here
//! ```

use crate::base::with_stack;
use crate::ir::{Atom, Block, Let, Op, Var};
use crate::prim::SeqOp;
use nesl_runtime::scalar::ScalarOp;
use rustc_hash::{FxHashMap, FxHashSet};

/// Returns the variables of a block that are elements at constant indices, which are less than the length there.
pub(super) fn existing(body: &Block) -> FxHashSet<Var> {
    let mut search = Search::default();
    search.block(body);
    search.found
}

#[derive(Default)]
struct Search<'b> {
    /// The scalar operations and lengths that have been computed.
    known: FxHashMap<Var, &'b Op>,
    /// The number of elements that a sequence has at least.
    least: FxHashMap<Var, i64>,
    found: FxHashSet<Var>,
}

impl<'b> Search<'b> {
    fn block(&mut self, block: &'b Block) {
        with_stack(|| block.lets.iter().for_each(|binding| self.binding(binding)));
    }

    fn binding(&mut self, Let { var, op, .. }: &'b Let) {
        match op {
            Op::Scalar(..) | Op::Seq(SeqOp::Length, _) => {
                self.known.insert(*var, op);
            }
            Op::Seq(SeqOp::Index, args) => {
                if let [Atom::Var(sequence), Atom::Int(index)] = args[..]
                    && self.least.get(&sequence).is_some_and(|least| (0..*least).contains(&index))
                {
                    self.found.insert(*var);
                }
            }
            Op::Check { cond, .. } => self.learn(*cond, true),
            Op::If { cond, then, otherwise } => {
                for (side, holds) in [(then, true), (otherwise, false)] {
                    let before = self.least.clone();
                    self.learn(*cond, holds);
                    self.block(side);
                    self.least = before;
                }
            }
            _ => {
                let before = self.least.clone();
                op.blocks().for_each(|inner| self.block(inner));
                self.least = before;
            }
        }
    }

    /// Notes what it means for lengths that a condition holds, or that it does not.
    fn learn(&mut self, cond: Atom, holds: bool) {
        let Some(Op::Scalar(op, args)) = cond.variable().and_then(|var| self.known.get(&var))
        else {
            return;
        };
        match (op, &args[..], holds) {
            (ScalarOp::And, [a, b], true) | (ScalarOp::Or, [a, b], false) => {
                with_stack(|| [a, b].into_iter().for_each(|part| self.learn(*part, holds)));
            }
            (ScalarOp::Not, [a], _) => self.learn(*a, !holds),
            (op, [Atom::Var(length), Atom::Int(number)], _) => {
                self.compare(*op, *length, *number, holds);
            }
            (op, [Atom::Int(number), Atom::Var(length)], _) => {
                let swapped = match op {
                    ScalarOp::Lt => ScalarOp::Gt,
                    ScalarOp::Le => ScalarOp::Ge,
                    ScalarOp::Gt => ScalarOp::Lt,
                    ScalarOp::Ge => ScalarOp::Le,
                    symmetric => *symmetric,
                };
                self.compare(swapped, *length, *number, holds);
            }
            _ => {}
        }
    }

    /// Notes how a length compares with a number.
    fn compare(&mut self, op: ScalarOp, length: Var, number: i64, holds: bool) {
        let Some(Op::Seq(_, args)) = self.known.get(&length) else { return };
        let Some(sequence) = args[0].variable() else { return };
        let least = match (op, holds) {
            (ScalarOp::Eq, true) | (ScalarOp::Ne, false) => number,
            // No length is less than 0.
            (ScalarOp::Eq, false) | (ScalarOp::Ne, true) if number == 0 => 1,
            (ScalarOp::Ge, true) | (ScalarOp::Lt, false) => number,
            (ScalarOp::Gt, true) | (ScalarOp::Le, false) => number.saturating_add(1),
            _ => return,
        };
        let known = self.least.entry(sequence).or_default();
        *known = (*known).max(least);
    }
}
