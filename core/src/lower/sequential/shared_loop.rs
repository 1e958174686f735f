//! One loop for the reductions or the filters that [`fuse::sequential`](crate::fuse::sequential) puts together.

use super::super::repr::{Column, LoweredSequence, LoweredValue};
use super::arrays::combine;
use super::collect::RowStorage;
use super::function::FunctionLowering;
use crate::fuse::sequential::{SharedFilters, SharedLoop};
use crate::ir::Atom;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{self, Binary, Value, ValueTy};

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
            self.early.insert(member.var, LoweredValue::Scalar(*result));
        }
        LoweredValue::Scalar(results[0])
    }

    /// Stores the results of all filters of a shared loop; returns that of the first and keeps the others until
    /// their bindings are reached. Each has room for all elements, as long as the loop goes on.
    pub(super) fn shared_filters(&mut self, shared: &SharedFilters<'a>) -> LoweredValue<'a> {
        let sequence = self.atom(Atom::Var(shared.over)).sequence();
        let count = sequence.length();
        let before_all = self.body.mark();
        let mut storage = || self.growing_storage(shared.element, count, None);
        let mut storages: Vec<RowStorage<'a>> = shared.members.iter().map(|_| storage()).collect();
        let zero = self.body.i64(0);
        let int = ValueTy::Scalar(kir::Ty::I64);
        let types = vec![int; shared.members.len()];
        let carried: Vec<Value> = types.iter().map(|ty| self.body.value(*ty)).collect();
        let index = self.body.value(int);
        let mark = self.body.mark();
        let allocations = self.allocations;
        self.body.begin();
        let element = self.element(&sequence, index);
        let mut yields = Vec::new();
        for ((member, storage), used) in shared.members.iter().zip(&mut storages).zip(&carried) {
            let (var, ty, _) = &member.flags.binders[0];
            self.bind(*var, element.clone(), ty);
            let flag = self.block(&member.flags.body).scalar();
            // Without a branch: an element that is not kept is overwritten by the next.
            self.store_row(storage, &element, *used, true);
            let kept = self.body.convert(kir::Ty::I64, flag);
            yields.push(self.body.binary(Binary::Add, *used, kept));
        }
        if self.allocations > allocations {
            self.body.compact(mark, Vec::new());
        }
        let body = self.body.end(yields);
        let (init, reduce) = (vec![zero; shared.members.len()], Vec::new());
        let op = kir::Op::For { count, index, init, carried, reduce, body };
        let lengths = self.body.push(op, &types);
        // The room that they do not need is given back.
        let mut kept = Vec::new();
        for (storage, length) in storages.iter().zip(&lengths) {
            storage.columns().each_column(&mut |column| kept.push((column.array, *length)));
        }
        let mut arrays = self.body.compact(before_all, kept).into_iter();
        let mut results = Vec::new();
        for (storage, length) in storages.iter().zip(&lengths) {
            let columns = storage.columns().map(&mut |_| {
                let array = arrays.next().or_bug("the compaction keeps each array");
                Column { array, start: None, extent: *length }
            });
            results.push(LoweredValue::of_stored(self.fresh(*length, columns)));
        }
        let mut results = results.into_iter();
        let first = results.next().or_bug("a shared loop has members");
        for (member, result) in shared.members[1..].iter().zip(results) {
            self.early.insert(member.var, result);
        }
        first
    }
}
