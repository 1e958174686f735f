//! Lists, texts, reductions, scans, ranks, sorts.

use super::super::Detail;
use super::super::repr::{Column, Columns, LoweredSequence, LoweredValue, element_ty, scalar_ty};
use super::function::{FunctionLowering, Helper};
use crate::ir::{Atom, Site, Ty};
use crate::prim::ReduceOp;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir::{
    self, Binary, Combine, Extern, Function, FunctionBuilder, Literal, Op, Unary, Value, ValueTy,
};
use nesl_runtime::scalar::Precision;

const INT: ValueTy = ValueTy::Scalar(kir::Ty::I64);

/// The characters that the longest int takes: `-9223372036854775808`.
const INT_TEXT_BYTES: i64 = 20;

/// The characters that the longest float takes in `@`.
const FLOAT_TEXT_BYTES: i64 = 32;

/// The characters that the longest float takes in `exp_string`.
const EXP_TEXT_BYTES: i64 = 64;

impl<'a> FunctionLowering<'a> {
    /// Lowers `[a, b, …]`.
    pub(super) fn list(&mut self, args: &[Atom], ty: &'a Ty) -> LoweredValue<'a> {
        let element = element_ty(ty);
        let length = self.body.i64(args.len() as i64);
        let mut rows = self.rows(element, length);
        for (place, atom) in args.iter().enumerate() {
            let place = self.body.i64(place as i64);
            let value = self.atom(*atom);
            rows.put(self, &value, place, args.len() == 1);
        }
        LoweredValue::of_stored(self.fresh(length, rows.columns()))
    }

    /// Lowers a string constant.
    pub(super) fn text(&mut self, text: &[u8]) -> LoweredValue<'a> {
        let length = self.body.i64(text.len() as i64);
        let column = Column { array: self.body.text(text), start: None, extent: length };
        LoweredValue::stored(length, Columns::Scalars(column))
    }

    /// Lowers a reduction: one loop, also over a fused sequence.
    pub(super) fn reduce(&mut self, with: ReduceOp, of: Atom) -> LoweredValue<'a> {
        let combine = combine(with);
        let element = self.element_ty(of);
        let ty = scalar_ty(element, self.precision);
        let sequence = self.atom(of).sequence();
        let count = sequence.length();
        let neutral = self.body.literal(combine.neutral(ty));
        let index = self.body.value(INT);
        let mark = self.body.mark();
        let allocations = self.allocations;
        self.body.begin();
        let value = match sequence.as_filter() {
            Some((of, keep)) => {
                let flag = self.element(keep, index).scalar();
                let neutral = LoweredValue::Scalar(neutral);
                self.conditional(flag, element, |t| t.element(of, index), |_| neutral)
            }
            None => self.element(&sequence, index),
        };
        if self.allocations > allocations {
            self.body.compact(mark, Vec::new());
        }
        let body = self.body.end(vec![value.scalar()]);
        let (init, carried) = (Vec::new(), Vec::new());
        let op = Op::For { count, index, init, carried, reduce: vec![combine], body };
        LoweredValue::Scalar(self.body.push(op, &[ValueTy::Scalar(ty)])[0])
    }

    /// Lowers an exclusive scan.
    pub(super) fn scan(&mut self, with: ReduceOp, of: Atom) -> LoweredValue<'a> {
        let combine = combine(with);
        let element = self.element_ty(of);
        let ty = scalar_ty(element, self.precision);
        let sequence = self.streamed(of);
        let count = sequence.length();
        let out = self.alloc(ty, count);
        let neutral = self.body.literal(combine.neutral(ty));
        let index = self.body.value(INT);
        let before = self.body.value(ValueTy::Scalar(ty));
        let mark = self.body.mark();
        let allocations = self.allocations;
        self.body.begin();
        let value = self.element(&sequence, index).scalar();
        self.body.store(out.array, index, before);
        let sum = self.combined(combine, before, value);
        if self.allocations > allocations {
            self.body.compact(mark, Vec::new());
        }
        let body = self.body.end(vec![sum]);
        let (init, carried, reduce) = (vec![neutral], vec![before], Vec::new());
        self.body
            .push(Op::For { count, index, init, carried, reduce, body }, &[ValueTy::Scalar(ty)]);
        LoweredValue::of_stored(self.fresh(count, Columns::Scalars(out)))
    }

    /// Combines two values as a reduction does.
    pub(super) fn combined(&mut self, combine: Combine, sum: Value, x: Value) -> Value {
        let float = self.body.element(sum).is_float();
        let op = match combine {
            Combine::Add => Binary::Add,
            Combine::Mul => Binary::Mul,
            Combine::And => Binary::And,
            Combine::Or => Binary::Or,
            Combine::Xor => Binary::Xor,
            // A NaN is skipped: the comparison with it is false.
            Combine::Min | Combine::Max if float => {
                let better = if combine == Combine::Min { Binary::Lt } else { Binary::Gt };
                let better = self.body.binary(better, x, sum);
                return self.body.select(better, x, sum);
            }
            Combine::Min => Binary::Min,
            Combine::Max => Binary::Max,
        };
        self.body.binary(op, sum, x)
    }

    /// Lowers the stable rank of each element.
    pub(super) fn rank(&mut self, service: Extern, of: Atom) -> LoweredValue<'a> {
        let of = self.stored(of);
        let keys = self.array_of(of.columns.scalars());
        let out = self.alloc(kir::Ty::I64, of.length);
        self.body.service(service, vec![keys, of.length, out.array]);
        self.as_ints(out, of.length)
    }

    /// Converts a column of `i64` indices to NESL ints.
    pub(super) fn as_ints(&mut self, indices: Column, length: Value) -> LoweredValue<'a> {
        if self.precision == Precision::Bits64 {
            return LoweredValue::of_stored(self.fresh(length, Columns::Scalars(indices)));
        }
        let narrow = self.collect(length, &Ty::Int, |t, i| {
            let index = t.body.load(indices.array, i);
            LoweredValue::Scalar(t.int_of(index))
        });
        LoweredValue::Sequence(LoweredSequence::Stored(narrow))
    }

    /// Lowers `groups`: the last element equal to each, and the number of these.
    pub(super) fn groups(&mut self, of: Atom) -> LoweredValue<'a> {
        let of = self.stored(of);
        let [last, count] = [(); 2].map(|()| self.alloc(kir::Ty::I64, of.length));
        match &of.columns {
            Columns::Views(texts) => {
                let [starts, lengths] = [texts.starts, texts.lengths].map(|x| self.array_of(x));
                let chars = self.array_of(texts.pool.scalars());
                let args = vec![starts, of.length, lengths, chars, last.array, count.array];
                self.body.service(Extern::TextGroups, args);
            }
            ints => {
                let ints = self.array_of(ints.scalars());
                let args = vec![ints, of.length, last.array, count.array];
                self.body.service(Extern::Groups, args);
            }
        }
        let [last, count] = [last, count].map(|found| self.as_ints(found, of.length));
        LoweredValue::pair(last, count)
    }

    /// Lowers `distinct`: sequential code has no way of its own, and declines.
    pub(super) fn decline(&mut self) -> LoweredValue<'a> {
        let length = self.body.i64(0);
        let ty = self.int_ty();
        let [last, count] = [(); 2].map(|()| {
            let column = self.alloc(ty, length);
            LoweredValue::stored(length, Columns::Scalars(column))
        });
        let done = self.body.bool(false);
        LoweredValue::pair(LoweredValue::pair(last, count), LoweredValue::Scalar(done))
    }

    /// Lowers a permutation by ranks: the elements sorted.
    pub(super) fn sort(&mut self, service: Extern, of: Atom) -> LoweredValue<'a> {
        let of = self.stored(of);
        let keys = self.array_of(of.columns.scalars());
        let out = self.alloc(self.body.element(keys), of.length);
        self.body.service(service, vec![keys, of.length, out.array]);
        LoweredValue::of_stored(self.fresh(of.length, Columns::Scalars(out)))
    }

    /// Lowers the hash of a text.
    pub(super) fn hash_text(&mut self, of: Atom, salt: Atom) -> LoweredValue<'a> {
        let text = self.stored(of);
        let array = self.array_of(text.columns.scalars());
        let salt = self.atom(salt).scalar();
        let salt = self.index_of(salt);
        let hash = self.body.service(Extern::HashText, vec![array, text.length, salt])[0];
        LoweredValue::Scalar(self.int_of(hash))
    }

    /// Lowers the comparison of two texts for equality.
    pub(super) fn same_text(&mut self, a: Atom, b: Atom) -> LoweredValue<'a> {
        let (a, b) = (self.stored(a), self.stored(b));
        let [from, to] = [&a, &b].map(|text| self.array_of(text.columns.scalars()));
        let args = vec![from, a.length, to, b.length];
        LoweredValue::Scalar(self.body.service(Extern::SameText, args)[0])
    }

    /// Lowers the text of an int, in decimal.
    pub(super) fn int_text(&mut self, of: Atom) -> LoweredValue<'a> {
        let number = self.atom(of).scalar();
        let number = self.index_of(number);
        let room = self.body.i64(INT_TEXT_BYTES);
        let column = self.alloc(kir::Ty::U8, room);
        let function = self.helper(Helper::IntText, int_text);
        let start = self.body.call(function, vec![number, column.array], &[INT])[0];
        let length = self.body.binary(Binary::Sub, room, start);
        LoweredValue::stored(length, Columns::Scalars(Column { start: Some(start), ..column }))
    }

    /// Lowers the text of a float as `@` prints it.
    pub(super) fn float_text(&mut self, of: Atom) -> LoweredValue<'a> {
        let number = self.atom(of).scalar();
        let service = match self.precision {
            Precision::Bits64 => Extern::FloatText,
            Precision::Bits32 => Extern::FloatText32,
        };
        let number = self.body.convert(kir::Ty::F64, number);
        let room = self.body.i64(FLOAT_TEXT_BYTES);
        let column = self.alloc(kir::Ty::U8, room);
        let length = self.body.service(service, vec![number, column.array])[0];
        LoweredValue::stored(length, Columns::Scalars(column))
    }

    /// Lowers `exp_string`, the text of a float with an exponent.
    pub(super) fn exp_text(&mut self, of: Atom, digits: Atom, site: Site) -> LoweredValue<'a> {
        let number = self.atom(of).scalar();
        let number = self.body.convert(kir::Ty::F64, number);
        let digits = self.atom(digits).scalar();
        let digits = self.index_of(digits);
        let room = self.body.i64(EXP_TEXT_BYTES);
        let column = self.alloc(kir::Ty::U8, room);
        let results = self.body.service(Extern::ExpText, vec![number, digits, column.array]);
        let detail = (Detail::Digits, &[digits][..]);
        self.check_detail(results[1], FaultCode::ExpString, site, detail);
        LoweredValue::stored(results[0], Columns::Scalars(column))
    }

    /// Lowers `parse_float`: the value of a text, and a flag that says if it is a float.
    pub(super) fn parse_float(&mut self, of: Atom) -> LoweredValue<'a> {
        let text = self.stored(of);
        let array = self.array_of(text.columns.scalars());
        let results = self.body.service(Extern::ParseFloat, vec![array, text.length]);
        let ty = self.float_ty();
        let value = self.body.convert(ty, results[0]);
        LoweredValue::pair(LoweredValue::Scalar(value), LoweredValue::Scalar(results[1]))
    }
}

/// Returns the kir operator of a reduction.
pub(in crate::lower) fn combine(with: ReduceOp) -> Combine {
    match with {
        ReduceOp::Sum => Combine::Add,
        ReduceOp::Product => Combine::Mul,
        ReduceOp::Max => Combine::Max,
        ReduceOp::Min => Combine::Min,
        ReduceOp::And => Combine::And,
        ReduceOp::Or => Combine::Or,
        ReduceOp::Xor => Combine::Xor,
    }
}

/// Returns the helper `(x: i64, out: [u8; INT_TEXT_BYTES]) -> i64` that writes the digits of `x` to
/// the end of `out` and returns the index of the first.
fn int_text(name: &str) -> Function {
    let mut function = FunctionBuilder::new(name);
    let x = function.param(INT);
    let out = function.param(ValueTy::Array(kir::Ty::U8));
    let body = &mut function.body;
    let (zero, one, ten) = (body.i64(0), body.i64(1), body.i64(10));
    let negative = body.binary(Binary::Lt, x, zero);
    let opposite = body.unary(Unary::Neg, x);
    // Negative numbers: there is one more of them than of positive ones.
    let below = body.select(negative, x, opposite);
    let end = body.i64(INT_TEXT_BYTES);
    let going = body.bool(true);
    let results = body.repeat_while(
        vec![going, below, end],
        |_, carried| carried[0],
        |body, carried| {
            let (rest, place) = (carried[1], carried[2]);
            let digit = body.binary(Binary::Rem, rest, ten);
            let code = body.i64(48);
            let digit = body.binary(Binary::Sub, code, digit);
            let digit = body.convert(kir::Ty::U8, digit);
            let place = body.binary(Binary::Sub, place, one);
            body.store(out, place, digit);
            let rest = body.binary(Binary::Div, rest, ten);
            let more = body.binary(Binary::Ne, rest, zero);
            vec![more, rest, place]
        },
    );
    let start = results[2];
    let start = body.branch(
        negative,
        |body| {
            let place = body.binary(Binary::Sub, start, one);
            let minus = body.literal(Literal::U8(b'-'));
            body.store(out, place, minus);
            vec![place]
        },
        |_| vec![start],
    );
    function.finish(start)
}
