//! Lists, texts, reductions, scans, ranks.

use super::super::Detail;
use super::super::layout::{Columns, Leaf, Rep, Sequence, Stored};
use super::delayed::{Form, is_filter};
use super::{Helper, Thread};
use crate::ir::{Atom, Site, Ty};
use crate::prim::ReduceOp;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir::{
    self, Binary, Combine, Extern, Function, FunctionBuilder, Literal, Op, Unary, Value, ValueTy,
};
use nesl_runtime::scalar::Precision;

const INT: ValueTy = ValueTy::Scalar(kir::Ty::I64);

impl<'a> Thread<'a> {
    /// `[a, b, …]`
    pub(super) fn list(&mut self, args: &[Atom], ty: &'a Ty) -> Rep<'a> {
        let element = ty.element().expect("types were checked");
        let length = self.body.i64(args.len() as i64);
        let mut rows = self.rows_of(element, length);
        for (place, atom) in args.iter().enumerate() {
            let place = self.body.i64(place as i64);
            let rep = self.atom(*atom);
            rows.put(self, &rep, place, args.len() == 1);
        }
        Rep::Sequence(Sequence::Stored(Stored { length, columns: rows.columns() }))
    }

    /// A string constant.
    pub(super) fn text(&mut self, text: &[u8]) -> Rep<'a> {
        let length = self.body.i64(text.len() as i64);
        let leaf = Leaf { array: self.body.text(text), start: None, extent: length };
        Rep::stored(length, Columns::Scalars(leaf))
    }

    /// What all elements combine to: one loop, whatever the sequence is made of.
    pub(super) fn reduce(&mut self, with: ReduceOp, of: Atom) -> Rep<'a> {
        let combine = combine(with);
        let element = self.element_ty(of);
        let ty = super::layout::scalar(element, self.precision).expect("types were checked");
        let sequence = self.atom(of).sequence();
        let count = self.length_of(&sequence);
        let neutral = self.body.literal(combine.neutral(ty));
        let index = self.body.value(INT);
        let mark = self.body.mark();
        let allocations = self.allocations;
        self.body.begin();
        let value = match &sequence {
            Sequence::Delayed(delayed) if is_filter(&sequence) => {
                let Form::Filter(of, keep) = &delayed.form else { unreachable!("it is one") };
                let flag = self.element(keep, index).scalar();
                let (of, neutral) = (of.clone(), Rep::Scalar(neutral));
                self.choice(flag, element, |t| t.element(&of, index), |_| neutral)
            }
            other => self.element(other, index),
        };
        if self.allocations > allocations {
            self.body.compact(mark, Vec::new());
        }
        let body = self.body.end(vec![value.scalar()]);
        let (init, carried) = (Vec::new(), Vec::new());
        let op = Op::For { count, index, init, carried, reduce: vec![combine], body };
        Rep::Scalar(self.body.push(op, &[ValueTy::Scalar(ty)])[0])
    }

    /// The exclusive scan.
    pub(super) fn scan(&mut self, with: ReduceOp, of: Atom) -> Rep<'a> {
        let combine = combine(with);
        let element = self.element_ty(of);
        let ty = super::layout::scalar(element, self.precision).expect("types were checked");
        let sequence = self.streamed(of);
        let count = self.length_of(&sequence);
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
        Rep::stored(count, Columns::Scalars(out))
    }

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

    /// The stable rank of each element.
    pub(super) fn rank(&mut self, service: Extern, of: Atom) -> Rep<'a> {
        let of = self.stored(of);
        let keys = self.array_of(of.columns.leaf());
        let out = self.alloc(kir::Ty::I64, of.length);
        self.body.service(service, vec![keys, of.length, out.array]);
        self.as_ints(out, of.length)
    }

    /// Places as ints of the program.
    pub(super) fn as_ints(&mut self, places: Leaf, length: Value) -> Rep<'a> {
        if self.precision == Precision::Bits64 {
            return Rep::stored(length, Columns::Scalars(places));
        }
        let narrow = self.collect(length, &Ty::Int, |t, i| {
            let place = t.body.load(places.array, i);
            Rep::Scalar(t.int_of(place))
        });
        Rep::Sequence(Sequence::Stored(narrow))
    }

    /// The last element equal to each, and how many there are.
    pub(super) fn groups(&mut self, of: Atom) -> Rep<'a> {
        let of = self.stored(of);
        let [last, count] = [(); 2].map(|()| self.alloc(kir::Ty::I64, of.length));
        match &of.columns {
            Columns::Segments(texts) => {
                let [starts, lengths] = [texts.starts, texts.lengths].map(|x| self.array_of(x));
                let chars = self.array_of(texts.pool.leaf());
                let args = vec![starts, of.length, lengths, chars, last.array, count.array];
                self.body.service(Extern::TextGroups, args);
            }
            ints => {
                let ints = self.array_of(ints.leaf());
                let args = vec![ints, of.length, last.array, count.array];
                self.body.service(Extern::Groups, args);
            }
        }
        let [last, count] = [last, count].map(|found| self.as_ints(found, of.length));
        Rep::pair(last, count)
    }

    /// The elements in the order of their ranks.
    pub(super) fn sort(&mut self, service: Extern, of: Atom) -> Rep<'a> {
        let of = self.stored(of);
        let keys = self.array_of(of.columns.leaf());
        let out = self.alloc(self.body.element(keys), of.length);
        self.body.service(service, vec![keys, of.length, out.array]);
        Rep::stored(of.length, Columns::Scalars(out))
    }

    /// A hash of a text.
    pub(super) fn hash_text(&mut self, of: Atom, salt: Atom) -> Rep<'a> {
        let text = self.stored(of);
        let array = self.array_of(text.columns.leaf());
        let salt = self.atom(salt).scalar();
        let salt = self.position(salt);
        let hash = self.body.service(Extern::HashText, vec![array, text.length, salt])[0];
        Rep::Scalar(self.int_of(hash))
    }

    /// Whether two texts are the same.
    pub(super) fn same_text(&mut self, a: Atom, b: Atom) -> Rep<'a> {
        let (a, b) = (self.stored(a), self.stored(b));
        let [from, to] = [&a, &b].map(|text| self.array_of(text.columns.leaf()));
        let args = vec![from, a.length, to, b.length];
        Rep::Scalar(self.body.service(Extern::SameText, args)[0])
    }

    /// An int in decimal.
    pub(super) fn int_text(&mut self, of: Atom) -> Rep<'a> {
        let number = self.atom(of).scalar();
        let number = self.position(number);
        let room = self.body.i64(20);
        let leaf = self.alloc(kir::Ty::U8, room);
        let function = self.helper(Helper::IntText, int_text);
        let start = self.body.call(function, vec![number, leaf.array], &[INT])[0];
        let length = self.body.binary(Binary::Sub, room, start);
        Rep::stored(length, Columns::Scalars(Leaf { start: Some(start), ..leaf }))
    }

    /// A float as `@` prints it.
    pub(super) fn float_text(&mut self, of: Atom) -> Rep<'a> {
        let number = self.atom(of).scalar();
        let service = match self.precision {
            Precision::Bits64 => Extern::FloatText,
            Precision::Bits32 => Extern::FloatText32,
        };
        let number = self.body.convert(kir::Ty::F64, number);
        let room = self.body.i64(32);
        let leaf = self.alloc(kir::Ty::U8, room);
        let length = self.body.service(service, vec![number, leaf.array])[0];
        Rep::stored(length, Columns::Scalars(leaf))
    }

    /// `exp_string`
    pub(super) fn exp_text(&mut self, of: Atom, digits: Atom, site: Site) -> Rep<'a> {
        let number = self.atom(of).scalar();
        let number = self.body.convert(kir::Ty::F64, number);
        let digits = self.atom(digits).scalar();
        let digits = self.position(digits);
        let room = self.body.i64(64);
        let leaf = self.alloc(kir::Ty::U8, room);
        let results = self.body.service(Extern::ExpText, vec![number, digits, leaf.array]);
        let detail = (Detail::Digits, &[digits][..]);
        self.check_detail(results[1], FaultCode::ExpString, site, detail);
        Rep::stored(results[0], Columns::Scalars(leaf))
    }

    /// `parse_float`
    pub(super) fn parse_float(&mut self, of: Atom) -> Rep<'a> {
        let text = self.stored(of);
        let array = self.array_of(text.columns.leaf());
        let results = self.body.service(Extern::ParseFloat, vec![array, text.length]);
        let ty = self.float_ty();
        let value = self.body.convert(ty, results[0]);
        Rep::pair(Rep::Scalar(value), Rep::Scalar(results[1]))
    }
}

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

/// `(x, out: 20 chars) -> where the digits begin`: they are written from the end.
fn int_text(name: &str) -> Function {
    let mut function = FunctionBuilder::new(name);
    let x = function.param(INT);
    let out = function.param(ValueTy::Array(kir::Ty::U8));
    let body = &mut function.body;
    let (zero, one, ten) = (body.i64(0), body.i64(1), body.i64(10));
    let negative = body.binary(Binary::Lt, x, zero);
    let opposite = body.unary(Unary::Neg, x);
    // Below zero there is one number more.
    let below = body.select(negative, x, opposite);
    let end = body.i64(20);
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
