//! Histograms: a table, and a loop over the values that are added to it.

use super::super::Detail;
use super::super::repr::{Columns, LoweredValue, scalar_ty};
use super::arrays::combine;
use super::function::FunctionLowering;
use crate::ir::{Atom, Site};
use crate::prim::ReduceOp;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir::{Binary, Value};

impl<'a> FunctionLowering<'a> {
    /// Lowers a histogram: for each index below a size, the values with that index, combined.
    pub(super) fn histogram(
        &mut self,
        with: ReduceOp,
        args: &[Atom],
        site: Site,
    ) -> LoweredValue<'a> {
        let combine = combine(with);
        let element = self.element_ty(args[2]);
        let element = element.element().unwrap_or(element);
        let ty = scalar_ty(element, self.precision);
        let size = self.atom(args[0]).scalar();
        let size = self.index_of(size);
        let zero = self.body.i64(0);
        let size = self.body.binary(Binary::Max, size, zero);
        let (indices, values) = (self.stored(args[1]), self.stored(args[2]));
        let same = self.body.binary(Binary::Eq, values.length, indices.length);
        let lengths = [values.length, indices.length];
        self.check_detail(same, FaultCode::NestLength, site, (Detail::Lengths, &lengths));
        let table = self.alloc(ty, size);
        let neutral = self.body.literal(combine.neutral(ty));
        let index = self.open_loop();
        self.body.store(table.array, index, neutral);
        self.close_loop(index, size);
        let index = self.open_loop();
        let place = self.row(&indices.columns, index).scalar();
        let place = self.index_of(place);
        let row = self.row(&values.columns, index);
        let count = self.fitting(&row, place, size);
        let within = self.open_loop();
        let x = match &row {
            LoweredValue::Sequence(row) => self.element(row, within).scalar(),
            scalar => scalar.scalar(),
        };
        let at = self.body.binary(Binary::Add, place, within);
        let sum = self.body.load(table.array, at);
        let sum = self.combined(combine, sum, x);
        self.body.store(table.array, at, sum);
        self.close_loop(within, count);
        self.close_loop(index, indices.length);
        LoweredValue::of_stored(self.fresh(size, Columns::Scalars(table)))
    }

    /// Returns the number of elements added from an index on: 1 for a scalar, the length of a row, or
    /// 0 if they do not all fit.
    fn fitting(&mut self, row: &LoweredValue<'a>, place: Value, size: Value) -> Value {
        let count = match row {
            LoweredValue::Sequence(row) => row.length(),
            LoweredValue::Unit | LoweredValue::Scalar(_) | LoweredValue::Pair(_) => {
                self.body.i64(1)
            }
        };
        let fits = self.fits(place, count, size);
        let none = self.body.i64(0);
        self.body.select(fits, count, none)
    }

    /// Tests whether `count` elements fit in a table of `size` elements from an index on.
    pub(in crate::lower) fn fits(&mut self, place: Value, count: Value, size: Value) -> Value {
        let zero = self.body.i64(0);
        let begins = self.body.binary(Binary::Ge, place, zero);
        let most = self.body.binary(Binary::Sub, size, count);
        let ends = self.body.binary(Binary::Le, place, most);
        self.body.binary(Binary::And, begins, ends)
    }
}
