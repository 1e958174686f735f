//! The elements of sequences, stored or fused, and materialisation.
//!
//! A fused sequence is an index function: [`FunctionLowering::element`] generates the code of an
//! element (the body of a nest, say) in the loop of its consumer. Materialising a sequence is a loop
//! that stores the elements.

use super::super::Detail;
use super::super::repr::{
    Column, Columns, FusedSequence, IndexFunction, LoweredSequence, LoweredValue, Room,
    StoredSequence, element_ty,
};
use super::function::FunctionLowering;
use crate::base::with_stack;
use crate::ir::{Atom, Nest, Site, Ty, Var};
use nesl_runtime::bug;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir::{self, Binary, Literal, Value, ValueTy};
use std::rc::Rc;

impl<'a> FunctionLowering<'a> {
    /// Lowers an apply-to-each: its lengths are checked, its body is left to its consumer.
    pub(super) fn nest(&mut self, nest: &'a Nest, site: Site) -> LoweredValue<'a> {
        let (sources, length) = self.sources_of(nest, site);
        let may_fault = nest.body.may_fault() || sources.iter().any(LoweredSequence::may_fault);
        // A map over a filter is a filter of the map: elements are computed behind their flags, so
        // that one that may fault does not meet what was left out.
        if let [source] = &sources[..]
            && let Some((of, keep)) = source.as_filter()
        {
            let elements = IndexFunction::Map(nest, vec![of.clone()]);
            let map = Rc::new(FusedSequence { length, may_fault, elements });
            let filter = IndexFunction::Filter(LoweredSequence::Fused(map), keep.clone());
            return LoweredValue::fused(length, may_fault, filter);
        }
        LoweredValue::fused(length, may_fault, IndexFunction::Map(nest, sources))
    }

    /// Returns what the binders of an apply-to-each run over, and its length, which is checked.
    fn sources_of(&mut self, nest: &'a Nest, site: Site) -> (Vec<LoweredSequence<'a>>, Value) {
        let mut sources: Vec<LoweredSequence<'a>> =
            nest.binders.iter().map(|(.., atom)| self.atom(*atom).sequence()).collect();
        if sources.len() > 1 {
            // The lengths of several filtered sequences are known only when they are in memory.
            for (source, (.., atom)) in sources.iter_mut().zip(&nest.binders) {
                if source.is_filter() {
                    *source = LoweredSequence::Stored(self.stored(*atom));
                }
            }
        }
        let length = sources[0].length();
        for source in &sources[1..] {
            let other = source.length();
            let same = self.body.binary(Binary::Eq, length, other);
            let detail = (Detail::Lengths, &[length, other][..]);
            self.check_detail(same, FaultCode::NestLength, site, detail);
        }
        (sources, length)
    }

    /// Lowers an apply-to-each that changes the rows of a table where they lie, those of one binder. They are
    /// the rows of its result.
    pub(super) fn nest_over_own_rows(
        &mut self,
        nest: &'a Nest,
        binder: usize,
        copies: &[Var],
        site: Site,
    ) -> LoweredValue<'a> {
        let (sources, length) = self.sources_of(nest, site);
        let (_, row_ty, table) = &nest.binders[binder];
        let table = self.stored(*table);
        let no_more = self.body.i64(0);
        let (table, _) = self.with_room(&table, row_ty, true, length, &[no_more], &[]);
        let mut originals = Vec::new();
        for var in copies {
            let (original, ty) = self.env[var].clone();
            let copy = match original.sequence() {
                LoweredSequence::Stored(row) => self.copy(&row, row.length),
                LoweredSequence::Fused(_) => self.stored(Atom::Var(*var)),
            };
            self.env.insert(*var, (LoweredValue::of_stored(copy), ty));
            originals.push((*var, (original, ty)));
        }
        let index = self.body.value(ValueTy::Scalar(kir::Ty::I64));
        let mark = self.body.mark();
        let allocations = self.allocations;
        self.body.begin();
        for (number, (source, (var, ty, _))) in sources.iter().zip(&nest.binders).enumerate() {
            let element = if number == binder {
                let row = self.row(&table.columns, index).stored_sequence();
                LoweredValue::of_stored(StoredSequence { room: Room::Owned(row.length), ..row })
            } else {
                self.element(source, index)
            };
            self.bind(*var, element, ty);
        }
        self.block(&nest.body);
        if self.allocations > allocations {
            self.body.compact(mark, Vec::new());
        }
        self.close_loop(index, length);
        // Code beside this one reads what was copied.
        self.env.extend(originals);
        LoweredValue::of_stored(table)
    }

    /// Lowers an apply-to-each whose elements are stored in the row that one binder runs over, if that is one whose
    /// elements may be overwritten.
    pub(super) fn nest_over_own_elements(
        &mut self,
        nest: &'a Nest,
        binder: usize,
        site: Site,
    ) -> LoweredValue<'a> {
        let row = match self.atom(nest.binders[binder].2).sequence() {
            LoweredSequence::Stored(row) if matches!(row.room, Room::Owned(_)) => row,
            _ => return self.nest(nest, site),
        };
        let (sources, length) = self.sources_of(nest, site);
        let mark = self.body.mark();
        let allocations = self.allocations;
        let index = self.open_loop();
        for (source, (var, ty, _)) in sources.iter().zip(&nest.binders) {
            let element = self.element(source, index);
            self.bind(*var, element, ty);
        }
        let value = self.block(&nest.body);
        self.overwrite(&row.columns, &value, index);
        if self.allocations > allocations {
            self.body.compact(mark, Vec::new());
        }
        self.close_loop(index, length);
        LoweredValue::of_stored(row)
    }

    /// Returns the element of a sequence that is no filter, at an index that is in bounds.
    pub(in crate::lower) fn element(
        &mut self,
        sequence: &LoweredSequence<'a>,
        index: Value,
    ) -> LoweredValue<'a> {
        let fused = match sequence {
            LoweredSequence::Stored(stored) => return self.row(&stored.columns, index),
            LoweredSequence::Fused(fused) => fused,
        };
        with_stack(|| match &fused.elements {
            IndexFunction::Map(nest, sources) => {
                for (source, (var, ty, _)) in sources.iter().zip(&nest.binders) {
                    let element = self.element(source, index);
                    self.bind(*var, element, ty);
                }
                self.block(&nest.body)
            }
            IndexFunction::Range(start, stride) => {
                let i = self.int_of(index);
                let step = self.body.binary(Binary::Mul, i, *stride);
                let element = self.body.binary(Binary::Add, *start, step);
                // Strides are positive, and an end was there, so that nothing overflows.
                if matches!(self.body.constant(*start), Some(Literal::I64(1..) | Literal::I32(1..)))
                {
                    self.positive.insert(element);
                }
                LoweredValue::Scalar(element)
            }
            IndexFunction::Dist(value) => value.clone(),
            IndexFunction::Gather(of, indices, site) => {
                let from = self.element(indices, index).scalar();
                let from = self.index_of(from);
                if let Some(site) = site {
                    self.in_bounds(from, of.length, FaultCode::Gather, *site);
                }
                self.row(&of.columns, from)
            }
            IndexFunction::Filter(..) => {
                bug!("the loop that consumes a filter tests its flags")
            }
            IndexFunction::Parts(_) => bug!("the parts of an append are stored one by one"),
        })
    }

    /// Loads the element at an index of stored columns; of nested sequences, a view.
    pub(in crate::lower) fn row(&mut self, columns: &Columns, index: Value) -> LoweredValue<'a> {
        match columns {
            Columns::Unit => LoweredValue::Unit,
            Columns::Scalars(column) => LoweredValue::Scalar(self.load(*column, index)),
            Columns::Pair(both) => {
                let first = self.row(&both.0, index);
                LoweredValue::pair(first, self.row(&both.1, index))
            }
            Columns::Views(views) => {
                let start = self.load(views.starts, index);
                let length = self.load(views.lengths, index);
                LoweredValue::stored(length, self.columns_from(&views.pool, start))
            }
        }
    }

    /// Returns the columns from an element on. Columns that begin at the same value do so afterwards, by
    /// which a view of several columns is recognised as one.
    pub(super) fn columns_from(&mut self, columns: &Columns, from: Value) -> Columns {
        let mut known: Option<(Value, Value)> = None;
        columns.map(&mut |column| {
            let start = match (column.start, known) {
                (None, _) => from,
                (Some(start), Some((same, sum))) if same == start => sum,
                (Some(start), _) => {
                    let sum = self.body.binary(Binary::Add, start, from);
                    known = Some((start, sum));
                    sum
                }
            };
            Column { start: Some(start), ..column }
        })
    }

    /// Returns an operand for a consumer that asks for some of its elements: a filter, or one whose
    /// elements may fault, is materialised, so that no fault is lost.
    pub(super) fn random_access(&mut self, atom: Atom) -> LoweredSequence<'a> {
        let sequence = self.atom(atom).sequence();
        if sequence.is_filter() || sequence.may_fault() {
            return LoweredSequence::Stored(self.stored(atom));
        }
        sequence
    }

    /// Returns an operand for a consumer that asks for all elements in order: a filter is
    /// materialised.
    pub(super) fn streamed(&mut self, atom: Atom) -> LoweredSequence<'a> {
        let sequence = self.atom(atom).sequence();
        if sequence.is_filter() {
            return LoweredSequence::Stored(self.stored(atom));
        }
        sequence
    }

    /// Returns a sequence in memory: itself if it is stored.
    pub(in crate::lower) fn store(
        &mut self,
        sequence: &LoweredSequence<'a>,
        ty: &'a Ty,
    ) -> LoweredValue<'a> {
        let stored = self.store_elements(sequence, element_ty(ty));
        LoweredValue::Sequence(LoweredSequence::Stored(stored))
    }

    /// Returns a sequence of `element` in memory: itself if it is stored.
    pub(super) fn store_elements(
        &mut self,
        sequence: &LoweredSequence<'a>,
        element: &'a Ty,
    ) -> StoredSequence {
        let length = match sequence {
            LoweredSequence::Stored(stored) => return stored.clone(),
            LoweredSequence::Fused(fused) => fused.length,
        };
        if sequence.is_parts() {
            let mut rows = self.rows(element, length);
            let zero = self.body.i64(0);
            rows.fill(self, sequence, zero);
            return self.fresh(length, rows.columns());
        }
        match sequence.as_filter() {
            Some((of, keep)) => self.collect_filtered(length, element, of, keep),
            None => self.collect(length, element, |t, i| t.element(sequence, i)),
        }
    }

    /// Returns a value with all its sequences in memory.
    pub(in crate::lower) fn materialise(
        &mut self,
        value: &LoweredValue<'a>,
        ty: &'a Ty,
    ) -> LoweredValue<'a> {
        with_stack(|| match (value, ty) {
            (LoweredValue::Pair(both), Ty::Pair(first, second)) => {
                let first = self.materialise(&both.0, first);
                LoweredValue::pair(first, self.materialise(&both.1, second))
            }
            (LoweredValue::Sequence(sequence), ty) => self.store(sequence, ty),
            (value, _) => value.clone(),
        })
    }

    /// Returns a value with those of its sequences in memory whose elements may fault.
    pub(super) fn materialise_faulting(
        &mut self,
        value: &LoweredValue<'a>,
        ty: &'a Ty,
    ) -> LoweredValue<'a> {
        with_stack(|| match (value, ty) {
            (LoweredValue::Pair(both), Ty::Pair(first, second)) => {
                let first = self.materialise_faulting(&both.0, first);
                LoweredValue::pair(first, self.materialise_faulting(&both.1, second))
            }
            (LoweredValue::Sequence(sequence), ty) if sequence.may_fault() => {
                self.store(sequence, ty)
            }
            (value, _) => value.clone(),
        })
    }
}
