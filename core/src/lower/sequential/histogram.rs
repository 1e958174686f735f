//! Histograms: a table, and a loop over what is added to it.

use super::super::Detail;
use super::super::layout::{self, Columns, Rep, Sequence};
use super::{Thread, combine};
use crate::ir::{Atom, Site};
use crate::prim::ReduceOp;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir::{Binary, Value};

impl<'a> Thread<'a> {
    /// For each place below a size, the elements that belong there, combined.
    pub(super) fn histogram(&mut self, with: ReduceOp, args: &[Atom], site: Site) -> Rep<'a> {
        let combine = combine(with);
        let element = self.element_ty(args[2]);
        let element = element.element().unwrap_or(element);
        let ty = layout::scalar(element, self.precision).expect("types were checked");
        let size = self.atom(args[0]).scalar();
        let size = self.position(size);
        let zero = self.body.i64(0);
        let size = self.body.binary(Binary::Max, size, zero);
        let (places, values) = (self.stored(args[1]), self.stored(args[2]));
        let same = self.body.binary(Binary::Eq, values.length, places.length);
        let lengths = [values.length, places.length];
        self.check_detail(same, FaultCode::NestLength, site, (Detail::Lengths, &lengths));
        let table = self.alloc(ty, size);
        let neutral = self.body.literal(combine.neutral(ty));
        let index = self.open_loop();
        self.body.store(table.array, index, neutral);
        self.close_loop(index, size);
        let index = self.open_loop();
        let place = self.at(&places.columns, index).scalar();
        let place = self.position(place);
        let row = self.at(&values.columns, index);
        let count = self.fitting(&row, place, size);
        let within = self.open_loop();
        let x = match &row {
            Rep::Sequence(row) => self.element(row, within).scalar(),
            scalar => scalar.scalar(),
        };
        let at = self.body.binary(Binary::Add, place, within);
        let sum = self.body.load(table.array, at);
        let sum = self.combined(combine, sum, x);
        self.body.store(table.array, at, sum);
        self.close_loop(within, count);
        self.close_loop(index, places.length);
        Rep::stored(size, Columns::Scalars(table))
    }

    /// How many elements are added from a place on: one, those of a row, or none if they do not all
    /// fit.
    fn fitting(&mut self, row: &Rep<'a>, place: Value, size: Value) -> Value {
        let count = match row {
            Rep::Sequence(row) => self.length_of(row),
            Rep::Unit | Rep::Scalar(_) | Rep::Pair(_) => self.body.i64(1),
        };
        let fits = self.fits(place, count, size);
        let none = self.body.i64(0);
        self.body.select(fits, count, none)
    }

    /// Whether so many elements fit in a table from a place on.
    pub(in crate::lower) fn fits(&mut self, place: Value, count: Value, size: Value) -> Value {
        let zero = self.body.i64(0);
        let begins = self.body.binary(Binary::Ge, place, zero);
        let most = self.body.binary(Binary::Sub, size, count);
        let ends = self.body.binary(Binary::Le, place, most);
        self.body.binary(Binary::And, begins, ends)
    }

    /// The array and the length of a row.
    pub(in crate::lower) fn row(&mut self, row: &Sequence<'a>) -> (Value, Value) {
        let Sequence::Stored(row) = row else { unreachable!("it was settled") };
        (self.array_of(row.columns.leaf()), row.length)
    }
}
