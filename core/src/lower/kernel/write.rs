//! The results of a kernel and the sinks that store them.
//!
//! A scalar is stored at the index of its thread. The elements of an input sequence that are in the
//! order of the threads are in memory already. Of a sequence that is a view of an input pool, the
//! start and the length are stored. Other sequences are emitted: appended to an output in the order
//! of the threads.

use super::super::Unsupported;
use super::super::repr::{
    self, Column, Columns, LoweredSequence, LoweredValue, StoredSequence, Views,
    columns_from_parts, element_ty, ill_typed, scalar_ty,
};
use super::{FilterResult, KernelLowering, KernelParam, KernelResult, ResultPart};
use crate::base::with_stack;
use crate::flat::{Let, Op, SpaceId};
use crate::ir::{Atom, Ty, Var};
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{self, Literal, Output, Sink, Value, ValueTy};
use std::rc::Rc;

impl<'a> KernelLowering<'a> {
    /// Adds an array parameter after the code was begun; returns its value and its number.
    fn array_param(&mut self, param: KernelParam, ty: kir::Ty) -> (Value, usize) {
        self.builder.body = std::mem::take(&mut self.code.body);
        let value = self.kir_param(ValueTy::Array(ty));
        self.code.body = std::mem::take(&mut self.builder.body);
        self.params.push(param);
        (value, self.kir_params.len() - 1)
    }

    /// Adds an array that is written, with an element for each element of an index space.
    fn array(&mut self, space: SpaceId, ty: kir::Ty) -> (Value, usize) {
        let param =
            if self.single(space) { KernelParam::One(ty) } else { KernelParam::Out(space, ty) };
        self.array_param(param, ty)
    }

    /// Adds an array that is written, with one element.
    fn one(&mut self, ty: kir::Ty) -> (Value, usize) {
        self.array_param(KernelParam::One(ty), ty)
    }

    /// Adds the array that a reduction is stored in, if it is stored.
    pub(super) fn reduction_slot(&mut self, binding: &Let) -> Option<Value> {
        if !self.is_stored(binding) {
            return None;
        }
        let ty = scalar_ty(&binding.ty, self.precision);
        let (array, at) = self.array(binding.space, ty);
        let part =
            if self.single(binding.space) { ResultPart::First(at) } else { ResultPart::Array(at) };
        self.results.push(KernelResult {
            var: binding.var,
            space: binding.space,
            parts: vec![part],
        });
        Some(array)
    }

    /// Adds the table that a histogram fills, if it is stored.
    pub(super) fn table(
        &mut self,
        binding: &Let,
        size: Atom,
        combine: kir::Combine,
    ) -> Option<(Value, kir::Ty)> {
        if !self.is_stored(binding) {
            return None;
        }
        let element = element_ty(&binding.ty);
        let ty = scalar_ty(element, self.precision);
        let (array, at) = self.array_param(KernelParam::Table(size, combine, ty), ty);
        let parts = vec![ResultPart::Length(at), ResultPart::Array(at)];
        self.results.push(KernelResult { var: binding.var, space: binding.space, parts });
        Some((array, ty))
    }

    /// Adds the sequence that threads write to, if the result is stored.
    pub(super) fn scatter_target(&mut self, binding: &Let, of: Var) -> Option<LoweredSequence<'a>> {
        if !self.is_stored(binding) {
            return None;
        }
        let ty = &self.values[&of].1;
        let single = self.single(binding.space);
        let types = match single {
            true => repr::parts(ty, self.precision),
            false => repr::columns(ty, self.precision),
        };
        let first = self.kir_params.len();
        self.builder.body = std::mem::take(&mut self.code.body);
        let params: Vec<Value> = types.iter().map(|ty| self.kir_param(*ty)).collect();
        self.code.body = std::mem::take(&mut self.builder.body);
        self.params.push(KernelParam::Own(of, binding.space));
        let parts = (first..).zip(&types).map(|(at, ty)| match ty {
            ValueTy::Array(_) => ResultPart::Array(at),
            ValueTy::Scalar(_) | ValueTy::Mark => ResultPart::Same(at),
        });
        self.results.push(KernelResult {
            var: binding.var,
            space: binding.space,
            parts: parts.collect(),
        });
        let value = if single {
            self.code.assemble(ty, &mut params.into_iter())
        } else {
            let extent = self.zero();
            let columns = columns_from_parts(ty, extent, &mut params.into_iter());
            let index = self.index_in(binding.space);
            self.code.row(&columns, index)
        };
        Some(value.sequence())
    }

    /// Stores the values of the kernel's index space that are not stored by sinks already.
    pub(super) fn store_values(&mut self, lets: &'a [Let]) {
        let over = self.kernel.space;
        for (var, space) in &self.kernel.stores {
            let binding = lets.iter().find(|binding| binding.var == *var);
            if *space != over || binding.is_some_and(Let::combines) {
                continue;
            }
            let mut parts = Vec::new();
            if let Some(pool) = binding.and_then(|binding| self.in_memory(binding)) {
                self.input_columns(&pool, &mut parts);
            } else {
                let (value, ty) = self.materialised(*var);
                if self.single(over) {
                    self.store_one(&value, ty, &mut parts);
                } else {
                    self.store_each(&value, ty, &mut parts);
                }
            }
            self.results.push(KernelResult { var: *var, space: *space, parts });
        }
    }

    /// Stores the filters that are used later: the number of their elements, their indices and
    /// values.
    pub(super) fn store_filters(&mut self) -> Result<Vec<FilterResult>, Unsupported> {
        let over = self.kernel.space;
        let mut filters = Vec::new();
        for mask in &self.kernel.masks {
            let stores = self.kernel.stores.iter().filter(|(_, space)| space == mask);
            let stores: Vec<Var> = stores.map(|(var, _)| *var).collect();
            if stores.is_empty() && !self.kernel.counts.contains(mask) {
                continue;
            }
            let keep = self.mask(*mask).or_bug("a mask of the kernel has a flag");
            let index = self.indices[&over];
            let mut columns = Vec::new();
            let mut indices = None;
            if self.kernel.filter_indices.contains(mask) {
                let param = KernelParam::Out(over, kir::Ty::I64);
                let (array, at) = self.array_param(param, kir::Ty::I64);
                columns.push((index, array));
                indices = Some(at);
            }
            for var in stores {
                let (value, ty) = self.materialised(var);
                let mut parts = Vec::new();
                self.pack(&value, ty, &mut columns, &mut parts)?;
                self.results.push(KernelResult { var, space: *mask, parts });
            }
            let scope = self.scope();
            let (count, counts) = match self.outer() {
                Some(outer) => self.array(outer, kir::Ty::I64),
                None => self.one(kir::Ty::I64),
            };
            self.sink(Sink::Pack { keep, columns, count, scope });
            filters.push(FilterResult { space: *mask, indices, counts });
        }
        Ok(filters)
    }

    /// Returns the columns of a value that consists of the elements of an input, in the order of
    /// the threads.
    fn in_memory(&self, binding: &Let) -> Option<Columns> {
        match binding.op {
            Op::Element { of, .. } => self.pools.get(&of).cloned(),
            _ => None,
        }
    }

    /// Returns a value with its sequences materialised, and its type.
    fn materialised(&mut self, var: Var) -> (LoweredValue<'a>, &'a Ty) {
        let (value, ty) = self.code.env[&var].clone();
        (self.code.materialise(&value, ty), ty)
    }

    /// Adds the columns of a value for the elements of a filter to `columns`, pairs of a value and
    /// the array for it.
    fn pack(
        &mut self,
        value: &LoweredValue<'a>,
        ty: &'a Ty,
        columns: &mut Vec<(Value, Value)>,
        parts: &mut Vec<ResultPart>,
    ) -> Result<(), Unsupported> {
        let over = self.kernel.space;
        with_stack(|| {
            match (value, ty) {
                (LoweredValue::Unit, _) => {}
                (LoweredValue::Scalar(value), _) => {
                    let ty = self.code.body.element(*value);
                    let (array, at) = self.array_param(KernelParam::Out(over, ty), ty);
                    columns.push((*value, array));
                    parts.push(ResultPart::Array(at));
                }
                (LoweredValue::Pair(both), Ty::Pair(first, second)) => {
                    self.pack(&both.0, first, columns, parts)?;
                    self.pack(&both.1, second, columns, parts)?;
                }
                (LoweredValue::Sequence(_), _) => {
                    let stored = self.stored(value, ty);
                    let start = self.view(&stored).ok_or(Unsupported::FilterOfNewSequences)?;
                    for value in [start, stored.length] {
                        let (array, at) =
                            self.array_param(KernelParam::Out(over, kir::Ty::I64), kir::Ty::I64);
                        columns.push((value, array));
                        parts.push(ResultPart::Array(at));
                    }
                    self.input_pool(&stored, parts);
                }
                (LoweredValue::Pair(_), _) => ill_typed("a value of the type"),
            }
            Ok(())
        })
    }

    /// Stores a value for each thread of an index space of many elements.
    fn store_each(&mut self, value: &LoweredValue<'a>, ty: &'a Ty, parts: &mut Vec<ResultPart>) {
        let over = self.kernel.space;
        let index = self.indices[&over];
        with_stack(|| match (value, ty) {
            (LoweredValue::Unit, _) => {}
            (LoweredValue::Scalar(value), _) => {
                // The column of an input need not be copied.
                if let Some((array, at)) = self.code.body.loaded_from(*value)
                    && at == index
                    && self.is_input(array)
                {
                    parts.push(ResultPart::Alias(self.param_number(array), None));
                    return;
                }
                let ty = self.code.body.element(*value);
                let (array, at) = self.array(over, ty);
                self.code.body.store(array, index, *value);
                parts.push(ResultPart::Array(at));
            }
            (LoweredValue::Pair(both), Ty::Pair(first, second)) => {
                self.store_each(&both.0, first, parts);
                self.store_each(&both.1, second, parts);
            }
            (LoweredValue::Sequence(_), Ty::Sequence(element)) => {
                let stored = self.stored(value, ty);
                match self.view(&stored) {
                    Some(start) => {
                        for value in [start, stored.length] {
                            let (array, at) = self.array(over, kir::Ty::I64);
                            self.code.body.store(array, index, value);
                            parts.push(ResultPart::Array(at));
                        }
                        self.input_pool(&stored, parts);
                    }
                    None => self.emit_each(&stored, element, parts),
                }
            }
            (LoweredValue::Pair(_) | LoweredValue::Sequence(_), _) => {
                ill_typed("a value of the type")
            }
        });
    }

    /// Returns the start of a sequence in an input pool, if it is a view of that.
    fn view(&mut self, stored: &StoredSequence) -> Option<Value> {
        if !self.are_inputs(&stored.columns) || has_no_column(&stored.columns) {
            return None;
        }
        let start = stored.columns.common_start()?;
        Some(start.unwrap_or_else(|| self.zero()))
    }

    /// Adds the extent and the columns of an input pool.
    fn input_pool(&mut self, stored: &StoredSequence, parts: &mut Vec<ResultPart>) {
        let mut extent = None;
        stored.columns.each_column(&mut |column| extent = Some(column.extent));
        let extent = extent.or_bug("a view has a column");
        parts.push(ResultPart::Same(self.param_number(extent)));
        self.input_columns(&stored.columns, parts);
    }

    /// Adds the columns of an input pool.
    fn input_columns(&self, columns: &Columns, parts: &mut Vec<ResultPart>) {
        with_stack(|| match columns {
            Columns::Unit => {}
            Columns::Scalars(column) => {
                parts.push(ResultPart::Alias(self.param_number(column.array), None))
            }
            Columns::Pair(both) => {
                self.input_columns(&both.0, parts);
                self.input_columns(&both.1, parts);
            }
            Columns::Views(views) => {
                parts.push(ResultPart::Alias(self.param_number(views.starts.array), None));
                parts.push(ResultPart::Alias(self.param_number(views.lengths.array), None));
                parts.push(ResultPart::Same(self.param_number(views.extent)));
                self.input_columns(&views.pool, parts);
            }
        });
    }

    /// Returns the number of the kir parameter that a value is.
    fn param_number(&self, value: Value) -> usize {
        self.kir_params.iter().position(|param| *param == value).or_bug("an input is a parameter")
    }

    /// Emits the sequences of all threads, in their order.
    fn emit_each(&mut self, stored: &StoredSequence, element: &Ty, parts: &mut Vec<ResultPart>) {
        if let Some(length) = self.short_length(stored) {
            parts.extend([
                ResultPart::EqualStarts(length),
                ResultPart::EqualLengths(length),
                ResultPart::EqualSum(length),
            ]);
            return self.store_short(&stored.columns, length, parts);
        }
        let (lengths, at) = self.array(self.kernel.space, kir::Ty::I64);
        parts.extend([ResultPart::Starts(at), ResultPart::Array(at), ResultPart::Sum(at)]);
        self.emit_all(stored, element, lengths, parts);
    }

    /// Returns the length of a sequence, in elements, if it is a constant, the same few for all threads, and the elements
    /// contain no sequences.
    fn short_length(&self, stored: &StoredSequence) -> Option<usize> {
        let Some(Literal::I64(length)) = self.code.body.constant(stored.length) else {
            return None;
        };
        let mut is_flat = !has_no_column(&stored.columns);
        stored.columns.each_pool(&mut |_, _| is_flat = false);
        let most = self.limits.max_short_list_elements;
        usize::try_from(length).ok().filter(|length| is_flat && (1..=most).contains(length))
    }

    /// Stores the elements of the sequences of all threads, which are equally long, one sequence behind the other.
    fn store_short(&mut self, columns: &Columns, length: usize, parts: &mut Vec<ResultPart>) {
        let space = self.kernel.space;
        match columns {
            Columns::Scalars(column) => {
                let from = self.code.array_of(*column);
                let ty = self.code.body.element(from);
                let (to, at) = self.array_param(KernelParam::Rows(space, length, ty), ty);
                let body = &mut self.code.body;
                let count = body.i64(length as i64);
                let start = body.binary(kir::Binary::Mul, self.indices[&space], count);
                for number in 0..length {
                    let number = body.i64(number as i64);
                    let element = body.load(from, number);
                    let index = body.binary(kir::Binary::Add, start, number);
                    body.store(to, index, element);
                }
                parts.push(ResultPart::Array(at));
            }
            Columns::Pair(both) => with_stack(|| {
                self.store_short(&both.0, length, parts);
                self.store_short(&both.1, length, parts);
            }),
            Columns::Unit | Columns::Views(_) => {}
        }
    }

    /// Emits the columns of a sequence, and those of its pools; the lengths go to an array.
    fn emit_all(
        &mut self,
        stored: &StoredSequence,
        element: &Ty,
        lengths: Value,
        parts: &mut Vec<ResultPart>,
    ) {
        with_stack(|| {
            let mut columns = Vec::new();
            self.emit_columns(&stored.columns, stored.length, element, &mut columns, parts);
            if columns.is_empty() {
                let index = self.indices[&self.kernel.space];
                self.code.body.store(lengths, index, stored.length);
            } else {
                self.sink(Sink::Emit { columns, length: stored.length, lengths });
            }
        });
    }

    /// Emits the columns of a sequence of `count` elements.
    fn emit_columns(
        &mut self,
        columns: &Columns,
        count: Value,
        element: &Ty,
        out: &mut Vec<(Value, Output)>,
        parts: &mut Vec<ResultPart>,
    ) {
        match (columns, element) {
            (Columns::Unit, _) => {}
            (Columns::Scalars(column), _) => {
                parts.push(ResultPart::Output(self.emit(*column, out)))
            }
            (Columns::Pair(both), Ty::Pair(first, second)) => {
                self.emit_columns(&both.0, count, first, out, parts);
                self.emit_columns(&both.1, count, second, out, parts);
            }
            (Columns::Views(views), Ty::Sequence(inner)) => {
                // The inner segments of all threads are emitted in the same order, so they are
                // contiguous, too.
                let pool = self.code.contiguous(views, count);
                let output = self.emit(views.lengths, out);
                parts.extend([
                    ResultPart::StartsOf(output),
                    ResultPart::Output(output),
                    ResultPart::SumOf(output),
                ]);
                let (lengths, _) = self.array(self.kernel.space, kir::Ty::I64);
                self.emit_all(&pool, inner, lengths, parts);
            }
            (Columns::Pair(_) | Columns::Views(_), _) => ill_typed("a value of the type"),
        }
    }

    /// Adds an output for a column; returns its number.
    fn emit(&mut self, column: Column, out: &mut Vec<(Value, Output)>) -> usize {
        let array = self.code.array_of(column);
        let output = self.builder.output(self.code.body.element(array));
        out.push((array, output));
        output.0 as usize
    }

    /// Stores a value of an index space with one element.
    fn store_one(&mut self, value: &LoweredValue<'a>, ty: &'a Ty, parts: &mut Vec<ResultPart>) {
        with_stack(|| match (value, ty) {
            (LoweredValue::Unit, _) => {}
            (LoweredValue::Scalar(value), _) => parts.push(ResultPart::First(self.first(*value))),
            (LoweredValue::Pair(both), Ty::Pair(first, second)) => {
                self.store_one(&both.0, first, parts);
                self.store_one(&both.1, second, parts);
            }
            (LoweredValue::Sequence(_), _) => {
                let stored = self.stored(value, ty);
                self.store_sequence(&stored, parts);
            }
            (LoweredValue::Pair(_), _) => ill_typed("a value of the type"),
        });
    }

    /// Stores a scalar of an index space with one element; returns the number of the array.
    fn first(&mut self, value: Value) -> usize {
        let ty = self.code.body.element(value);
        let (array, at) = self.one(ty);
        let zero = self.zero();
        self.code.body.store(array, zero, value);
        at
    }

    /// Stores the length and the columns of a sequence of an index space with one element.
    fn store_sequence(&mut self, stored: &StoredSequence, parts: &mut Vec<ResultPart>) {
        with_stack(|| {
            parts.push(ResultPart::First(self.first(stored.length)));
            let mut emitted = Vec::new();
            self.store_columns(&stored.columns, stored.length, &mut emitted, parts);
            if !emitted.is_empty() {
                let (lengths, _) = self.one(kir::Ty::I64);
                self.sink(Sink::Emit { columns: emitted, length: stored.length, lengths });
            }
        });
    }

    fn store_columns(
        &mut self,
        columns: &Columns,
        count: Value,
        emitted: &mut Vec<(Value, Output)>,
        parts: &mut Vec<ResultPart>,
    ) {
        with_stack(|| match columns {
            Columns::Unit => {}
            Columns::Scalars(column) => {
                let part = self.store_column(*column, emitted);
                parts.push(part);
            }
            Columns::Pair(both) => {
                self.store_columns(&both.0, count, emitted, parts);
                self.store_columns(&both.1, count, emitted, parts);
            }
            Columns::Views(views) if self.are_inputs(&views.pool) => {
                for column in [views.starts, views.lengths] {
                    let part = self.store_column(column, emitted);
                    parts.push(part);
                }
                let extent = self.pool_length(views);
                parts.push(ResultPart::First(self.first(extent)));
                self.input_pool_from_start(&views.pool, parts);
            }
            Columns::Views(views) => {
                let (starts, lengths, pool) = self.contiguous_views(views, count);
                for column in [starts, lengths] {
                    parts.push(ResultPart::Output(self.emit(column, emitted)));
                }
                self.store_sequence(&pool, parts);
            }
        });
    }

    /// Stores a column of an index space with one element, unless it is an input.
    fn store_column(&mut self, column: Column, emitted: &mut Vec<(Value, Output)>) -> ResultPart {
        if self.is_input(column.array) {
            self.alias(column)
        } else {
            ResultPart::Output(self.emit(column, emitted))
        }
    }

    /// Returns the location of a column that is a part of an input array.
    fn alias(&mut self, column: Column) -> ResultPart {
        let start = column.start.map(|start| self.first(start));
        ResultPart::Alias(self.param_number(column.array), start)
    }

    /// Returns the number of elements of a pool from its start on.
    fn pool_length(&mut self, views: &Views) -> Value {
        let mut start = None;
        views.pool.each_column(&mut |column| start = column.start);
        match start {
            None => views.extent,
            Some(start) => self.code.body.binary(kir::Binary::Sub, views.extent, start),
        }
    }

    /// Adds the columns of an input pool from its start on.
    fn input_pool_from_start(&mut self, columns: &Columns, parts: &mut Vec<ResultPart>) {
        with_stack(|| match columns {
            Columns::Unit => {}
            Columns::Scalars(column) => {
                let part = self.alias(*column);
                parts.push(part);
            }
            Columns::Pair(both) => {
                self.input_pool_from_start(&both.0, parts);
                self.input_pool_from_start(&both.1, parts);
            }
            Columns::Views(views) => {
                for column in [views.starts, views.lengths] {
                    let part = self.alias(column);
                    parts.push(part);
                }
                let extent = self.pool_length(views);
                parts.push(ResultPart::First(self.first(extent)));
                self.input_pool_from_start(&views.pool, parts);
            }
        });
    }

    /// Copies segments so that they are contiguous; returns their starts, their lengths and the
    /// pool.
    fn contiguous_views(
        &mut self,
        views: &Rc<Views>,
        count: Value,
    ) -> (Column, Column, StoredSequence) {
        let pool = self.code.contiguous(views, count);
        let from = self.code.array_of(views.lengths);
        let starts = self.code.exclusive_sums(from, count);
        let column = |array| Column { array, start: None, extent: count };
        (column(starts), column(from), pool)
    }
}

/// Returns true if a sequence has no columns, since its elements are units.
fn has_no_column(columns: &Columns) -> bool {
    let mut none = true;
    columns.each_column(&mut |_| none = false);
    none
}
