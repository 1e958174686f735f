//! One loop for the reductions that [`fuse::sequential`](crate::fuse::sequential) puts together.

use super::super::repr::{LoweredSequence, LoweredValue};
use super::arrays::combine;
use super::function::FunctionLowering;
use crate::fuse::sequential::SharedLoop;
use crate::ir::Atom;
use nesl_runtime::kir::{self, ValueTy};

impl<'a> FunctionLowering<'a> {
    /// Computes all reductions of a shared loop; returns the result of the first and keeps those of
    /// the others until their bindings are reached.
    pub(super) fn shared_loop(&mut self, shared: &SharedLoop<'a>) -> LoweredValue<'a> {
        let sequence = self.atom(Atom::Var(shared.over)).sequence();
        let sequence = match sequence.is_filter() {
            true => LoweredSequence::Stored(self.stored(Atom::Var(shared.over))),
            false => sequence,
        };
        let count = sequence.length();
        let index = self.body.value(ValueTy::Scalar(kir::Ty::I64));
        let mark = self.body.mark();
        let allocations = self.allocations;
        self.body.begin();
        let element = self.element(&sequence, index);
        let mut yields = Vec::new();
        for member in &shared.members {
            let value = match member.map {
                None => element.clone(),
                Some(nest) => {
                    let (var, ty, _) = &nest.binders[0];
                    self.bind(*var, element.clone(), ty);
                    self.block(&nest.body)
                }
            };
            yields.push(value.scalar());
        }
        if self.allocations > allocations {
            self.body.compact(mark, Vec::new());
        }
        let types: Vec<ValueTy> = yields.iter().map(|value| self.body.ty(*value)).collect();
        let reduce = shared.members.iter().map(|member| combine(member.with)).collect();
        let body = self.body.end(yields);
        let (init, carried) = (Vec::new(), Vec::new());
        let op = kir::Op::For { count, index, init, carried, reduce, body };
        let results = self.body.push(op, &types);
        for (member, result) in shared.members.iter().zip(&results).skip(1) {
            self.reduced.insert(member.var, LoweredValue::Scalar(*result));
        }
        LoweredValue::Scalar(results[0])
    }
}
