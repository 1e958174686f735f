//! `flatten` of rows that are made one after the other: their elements alone are stored.
//!
//! ```text
//! v3: [[int]] = each v2 in v0 { list(v2, v1) }         for each element of v0:
//! v4: [int] = flatten(v3)                         →        pool[used] = v2; pool[used + 1] = v1
//!                                                          used = used + 2
//! ```
//!
//! No row has a start and a length, and nobody asks if the rows lie one behind the other. Rows that are parts of what is in
//! memory already are not copied so: they may be all of it, in order.

use super::super::repr::{IndexFunction, LoweredSequence, LoweredValue};
use super::function::FunctionLowering;
use crate::base::with_stack;
use crate::ir::{Atom, Block, Op, Ty};
use crate::prim::SeqOp;
use nesl_runtime::kir::{self, Value, ValueTy};

impl<'a> FunctionLowering<'a> {
    /// Lowers `flatten`: one level of nesting less.
    pub(super) fn flatten(&mut self, of: Atom) -> LoweredValue<'a> {
        let rows = self.element_ty(of);
        if let Ty::Sequence(element) = rows
            && !element.has_sequence()
            && let LoweredValue::Sequence(sequence @ LoweredSequence::Fused(_)) = self.atom(of)
            && makes_rows(&sequence)
        {
            return self.flat_rows(&sequence, element);
        }
        let of = self.stored(of);
        let views = of.columns.views();
        LoweredValue::Sequence(LoweredSequence::Stored(self.contiguous(&views, of.length)))
    }

    /// Stores the elements of rows that are computed one after the other.
    fn flat_rows(&mut self, rows: &LoweredSequence<'a>, element: &'a Ty) -> LoweredValue<'a> {
        let count = rows.length();
        let mut pool = self.empty_pool(element, Some(count));
        let init = pool.state();
        let types: Vec<ValueTy> = init.iter().map(|value| self.body.ty(*value)).collect();
        let carried: Vec<Value> = types.iter().map(|ty| self.body.value(*ty)).collect();
        pool.set_state(&mut carried.iter().copied());
        let index = self.body.value(ValueTy::Scalar(kir::Ty::I64));
        let mark = self.body.mark();
        let allocations = self.allocations;
        self.body.begin();
        let row = self.element(rows, index).sequence();
        self.append_to_pool(&mut pool, &row, element, 0);
        if self.allocations > allocations {
            let mut keep = Vec::new();
            pool.each_array(&mut |array, capacity| keep.push((array, capacity)));
            let kept = self.body.compact(mark, keep);
            pool.set_arrays(&mut kept.into_iter());
        }
        let body = self.body.end(pool.state());
        let op = kir::Op::For { count, index, init, carried, reduce: Vec::new(), body };
        pool.set_state(&mut self.body.push(op, &types).into_iter());
        LoweredValue::stored(pool.used(), pool.elements())
    }
}

/// Returns true if a sequence computes its elements one after the other, and each is a new sequence: no part of one that
/// is in memory before.
fn makes_rows(sequence: &LoweredSequence<'_>) -> bool {
    let LoweredSequence::Fused(fused) = sequence else { return false };
    match &fused.elements {
        IndexFunction::Map(nest, _) => !sequence.is_filter() && is_new(&nest.body),
        _ => false,
    }
}

/// Returns true if the result of a block is a sequence that it makes, or that a call gives.
fn is_new(block: &Block) -> bool {
    let mut result = block.result;
    for binding in block.lets.iter().rev() {
        if result != Atom::Var(binding.var) {
            continue;
        }
        match &binding.op {
            Op::Copy(of) => result = *of,
            Op::List(_) | Op::Constants(_) | Op::Nest(_) | Op::Call(..) => return true,
            Op::Seq(op, _) => {
                return matches!(op, SeqOp::Dist | SeqOp::Range | SeqOp::Append | SeqOp::Pack);
            }
            Op::If { then, otherwise, .. } => {
                return with_stack(|| is_new(then) && is_new(otherwise));
            }
            _ => return false,
        }
    }
    false
}
