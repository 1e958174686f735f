//! Instructions, one or a few at a time.

use super::{GIVEN, Generator, Known, Visible, positive_zero};
use crate::kir::{
    Binary, Block, Body, Extern, FunctionId, Literal, Op, Site, Ty, Unary, Value, ValueTy,
};

impl Generator<'_> {
    pub(super) fn step(&mut self, body: &mut Body, visible: &mut Visible) {
        match self.choices.below(31) {
            0 | 1 => self.literal(body, visible),
            2 | 3 => self.unary(body, visible),
            4..=7 => self.binary(body, visible),
            8 => self.comparison(body, visible),
            9 | 10 => self.convert(body, visible),
            11 => self.ternary(body, visible),
            12 => self.bits(body, visible),
            13 | 14 => self.load(body, visible),
            15 if self.recursion => self.alloc(body, visible),
            16 => self.store(body, visible),
            17 => self.branch(body, visible),
            18 => self.count(body, visible),
            19 => self.repeat(body, visible),
            20 => self.call(body, visible),
            21 if self.recursion => self.service(body, visible),
            22 => self.copy(body, visible),
            23 if self.recursion => self.compact(body, visible),
            24 => self.text(body, visible),
            25 => self.flagged(body, visible),
            26 | 27 => self.walk(body, visible),
            28 if self.recursion => self.fill(body, visible),
            29 if self.recursion => self.update(body, visible),
            _ => self.check(body, visible),
        }
    }

    fn literal(&mut self, body: &mut Body, visible: &mut Visible) {
        let ty = self.choices.pick(Ty::ALL);
        let value = self.constant(body, ty);
        visible.scalars.push((value, ty));
    }

    fn unary(&mut self, body: &mut Body, visible: &mut Visible) {
        let op = self.choices.pick(Unary::ALL);
        let ty = match op {
            Unary::Neg | Unary::Abs => self.choices.pick(&[Ty::I64, Ty::F64, Ty::I32, Ty::F32]),
            Unary::Not => self.choices.pick(&[Ty::Bool, Ty::I64, Ty::I32]),
            Unary::Sqrt | Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Nearest => {
                self.choices.pick(&[Ty::F64, Ty::F32])
            }
        };
        let a = self.scalar(body, visible, ty);
        visible.scalars.push((body.unary(op, a), ty));
    }

    pub(super) fn binary(&mut self, body: &mut Body, visible: &mut Visible) {
        use Binary::*;
        let op = self
            .choices
            .pick(&[Add, Sub, Mul, Div, Rem, Min, Max, And, Or, Xor, Shl, Shr, ShrZero, MulHigh]);
        let ty = match op {
            Add | Sub | Mul | Div => self.choices.pick(&[Ty::I64, Ty::F64, Ty::I32, Ty::F32]),
            Min | Max => self.choices.pick(&[Ty::I64, Ty::I32, Ty::U8]),
            And | Or | Xor => self.choices.pick(&[Ty::I64, Ty::Bool, Ty::I32]),
            MulHigh => Ty::I64,
            Rem | Shl | Shr | ShrZero | Eq | Ne | Lt | Le | Gt | Ge => {
                self.choices.pick(&[Ty::I64, Ty::I32])
            }
        };
        let (a, b) = (self.scalar(body, visible, ty), self.scalar(body, visible, ty));
        visible.scalars.push((body.binary(op, a, b), ty));
    }

    fn comparison(&mut self, body: &mut Body, visible: &mut Visible) {
        use Binary::*;
        let op = self.choices.pick(&[Eq, Ne, Lt, Le, Gt, Ge]);
        let ty = self.choices.pick(Ty::ALL);
        let (a, b) = (self.scalar(body, visible, ty), self.scalar(body, visible, ty));
        visible.scalars.push((body.binary(op, a, b), Ty::Bool));
    }

    fn convert(&mut self, body: &mut Body, visible: &mut Visible) {
        let from = self.choices.pick(Ty::ALL);
        let to = match from.is_float() {
            true => self.choices.pick(&[Ty::I64, Ty::F64, Ty::I32, Ty::F32]),
            false => self.choices.pick(Ty::ALL),
        };
        let a = self.scalar(body, visible, from);
        visible.scalars.push((body.convert(to, a), to));
    }

    fn ternary(&mut self, body: &mut Body, visible: &mut Visible) {
        if self.choices.below(2) == 0 {
            let ty = self.choices.pick(&[Ty::F64, Ty::F32]);
            let (a, b) = (self.scalar(body, visible, ty), self.scalar(body, visible, ty));
            let c = self.scalar(body, visible, ty);
            visible.scalars.push((body.fma(a, b, c), ty));
        } else {
            let ty = self.choices.pick(Ty::ALL);
            let cond = self.scalar(body, visible, Ty::Bool);
            let (a, b) = (self.scalar(body, visible, ty), self.scalar(body, visible, ty));
            visible.scalars.push((body.select(cond, a, b), ty));
        }
    }

    fn bits(&mut self, body: &mut Body, visible: &mut Visible) {
        let (int, float) = self.choices.pick(&[(Ty::I64, Ty::F64), (Ty::I32, Ty::F32)]);
        if self.choices.below(2) == 0 {
            let a = self.scalar(body, visible, int);
            visible.scalars.push((body.bits(float, a), float));
            return;
        }
        // A NaN becomes a number first.
        let a = self.scalar(body, visible, float);
        let number = body.binary(Binary::Eq, a, a);
        let zero = body.literal(Literal::zero(float));
        let a = body.select(number, a, zero);
        visible.scalars.push((body.bits(int, a), int));
    }

    fn load(&mut self, body: &mut Body, visible: &mut Visible) {
        let array = self.choices.pick(&visible.arrays);
        let index = self.index(body, visible, array.length);
        if self.choices.below(4) == 3 {
            let slice = body.slice(array.value, index);
            let zero = body.i64(0);
            visible.scalars.push((body.load(slice, zero), array.ty));
        } else {
            visible.scalars.push((body.load(array.value, index), array.ty));
        }
    }

    /// Appends a constant text.
    fn text(&mut self, body: &mut Body, visible: &mut Visible) {
        let length = 1 + self.choices.below(5);
        let text: Vec<u8> = (0..length).map(|_| self.choices.below(256) as u8).collect();
        let value = body.text(&text);
        visible.arrays.push(Known { value, ty: Ty::U8, length: length as i64, own: false });
    }

    /// A new array, written at once.
    fn alloc(&mut self, body: &mut Body, visible: &mut Visible) {
        let ty = self.choices.pick(Ty::ALL);
        let length = 1 + self.choices.below(7) as i64;
        let count = body.i64(length);
        let array = body.alloc(ty, count);
        body.count(count, Vec::new(), Vec::new(), |body, index, _| {
            let mut inner = visible.clone();
            inner.scalars.push((index, Ty::I64));
            if !ty.is_float() {
                inner.scalars.push((body.convert(ty, index), ty));
            }
            let value = self.scalar(body, &inner, ty);
            body.store(array, index, value);
            Vec::new()
        });
        visible.arrays.push(Known { value: array, ty, length, own: true });
    }

    fn store(&mut self, body: &mut Body, visible: &mut Visible) {
        let own: Vec<Known> = visible.arrays.iter().copied().filter(|array| array.own).collect();
        if own.is_empty() {
            return self.load(body, visible);
        }
        let array = self.choices.pick(&own);
        let index = self.index(body, visible, array.length);
        let value = self.scalar(body, visible, array.ty);
        body.store(array.value, index, value);
    }

    fn copy(&mut self, body: &mut Body, visible: &mut Visible) {
        let own: Vec<Known> = visible.arrays.iter().copied().filter(|array| array.own).collect();
        if own.is_empty() {
            return self.load(body, visible);
        }
        let to = self.choices.pick(&own);
        // What is not its own may be another name of it.
        let others = visible.arrays.iter().filter(|from| {
            from.ty == to.ty && from.value != to.value && (from.own || from.length == GIVEN)
        });
        let others: Vec<Known> = others.copied().collect();
        if !others.is_empty() {
            let from = self.choices.pick(&others);
            let count = body.i64(from.length.min(to.length));
            body.copy(from.value, to.value, count);
        }
    }

    /// Steps in a block of their own, then values of these types.
    pub(super) fn inner(
        &mut self,
        body: &mut Body,
        mut visible: Visible,
        types: &[Ty],
        most: usize,
    ) -> Vec<Value> {
        self.nested += 1;
        if self.nested < 5 {
            self.steps(body, &mut visible, most);
        }
        self.nested -= 1;
        types.iter().map(|ty| self.scalar(body, &visible, *ty)).collect()
    }

    pub(super) fn some_types(&mut self) -> Vec<Ty> {
        (0..self.choices.below(4)).map(|_| self.choices.pick(Ty::ALL)).collect()
    }

    pub(super) fn branch(&mut self, body: &mut Body, visible: &mut Visible) {
        let types = self.some_types();
        let cond = self.scalar(body, visible, Ty::Bool);
        body.begin();
        let yields = self.inner(body, visible.clone(), &types, 8);
        let then = body.end(yields);
        body.begin();
        let yields = self.inner(body, visible.clone(), &types, 8);
        let otherwise = body.end(yields);
        let results: Vec<ValueTy> = types.iter().map(|ty| ValueTy::Scalar(*ty)).collect();
        let results = body.push(Op::If { cond, then, otherwise }, &results);
        visible.scalars.extend(results.into_iter().zip(types));
    }

    fn count(&mut self, body: &mut Body, visible: &mut Visible) {
        if self.loops == 2 {
            return self.branch(body, visible);
        }
        let types = self.some_types();
        let init: Vec<Value> = types.iter().map(|ty| self.scalar(body, visible, *ty)).collect();
        let count = self.index(body, visible, 9);
        let mut reduced = Vec::new();
        let mut reduce = Vec::new();
        for _ in 0..self.choices.below(3) {
            let (combine, ty) = self.combination();
            reduce.push(combine);
            reduced.push(ty);
        }
        self.loops += 1;
        let results = body.count(count, init, reduce, |body, index, carried| {
            let mut inner = visible.clone();
            inner.scalars.push((index, Ty::I64));
            inner.scalars.extend(carried.iter().copied().zip(types.iter().copied()));
            let all = [&types[..], &reduced].concat();
            let mut yields = self.inner(body, inner, &all, 8);
            for value in &mut yields[types.len()..] {
                *value = positive_zero(body, *value);
            }
            yields
        });
        self.loops -= 1;
        visible.scalars.extend(results.into_iter().zip(types.into_iter().chain(reduced)));
    }

    fn repeat(&mut self, body: &mut Body, visible: &mut Visible) {
        if self.loops == 2 {
            return self.branch(body, visible);
        }
        let mut types = vec![Ty::I64];
        types.extend(self.some_types());
        let mut init: Vec<Value> = types.iter().map(|ty| self.scalar(body, visible, *ty)).collect();
        init[0] = body.i64(0);
        let rounds = 1 + self.choices.below(8) as i64;
        self.loops += 1;
        let kinds: Vec<ValueTy> = types.iter().map(|ty| ValueTy::Scalar(*ty)).collect();
        let carried: Vec<Value> = kinds.iter().map(|ty| body.value(*ty)).collect();
        let mut inner = visible.clone();
        inner.scalars.extend(carried.iter().copied().zip(types.iter().copied()));
        body.begin();
        let going = self.inner(body, inner.clone(), &[Ty::Bool], 3)[0];
        let rounds = body.i64(rounds);
        let few = body.binary(Binary::Lt, carried[0], rounds);
        let going = body.binary(Binary::And, going, few);
        let cond = body.end(vec![going]);
        body.begin();
        let mut yields = self.inner(body, inner, &types, 8);
        let one = body.i64(1);
        yields[0] = body.binary(Binary::Add, carried[0], one);
        let turn = body.end(yields);
        self.loops -= 1;
        let op = Op::While { init, carried, cond, body: turn };
        let results = body.push(op, &kinds);
        visible.scalars.extend(results.into_iter().zip(types));
    }

    fn call(&mut self, body: &mut Body, visible: &mut Visible) {
        if self.module.functions.is_empty() || self.calls == 2 || self.loops == 2 {
            return self.binary(body, visible);
        }
        self.calls += 1;
        let id = self.choices.below(self.module.functions.len());
        let callee = &self.module.functions[id];
        let types: Vec<ValueTy> =
            callee.params.iter().map(|param| callee.types[param.0 as usize]).collect();
        let results = callee.results.clone();
        let mut args = Vec::new();
        for ty in types {
            args.push(match ty {
                ValueTy::Scalar(ty) => self.scalar(body, visible, ty),
                ValueTy::Array(ty) => {
                    let known = visible.arrays.iter().filter(|array| array.ty == ty);
                    let known: Vec<Value> = known.map(|array| array.value).collect();
                    if known.is_empty() {
                        // A function without arrays of this type has nothing to give.
                        return self.binary(body, visible);
                    }
                    self.choices.pick(&known)
                }
                ValueTy::Mark => unreachable!("a mark is not a parameter"),
            });
        }
        // It counts down from its first argument.
        let most = body.i64(15);
        args[0] = body.binary(Binary::And, args[0], most);
        let values = body.call(FunctionId(id as u32), args, &results);
        for (value, ty) in values.into_iter().zip(results) {
            if let ValueTy::Scalar(ty) = ty {
                visible.scalars.push((value, ty));
            }
        }
    }

    /// Calls an intrinsic for two segments of an array.
    fn segments_service(&mut self, body: &mut Body, visible: &mut Visible, keys: Known) {
        use Extern::{RankSegmentsDown, RankSegmentsUp, SortSegmentsDown, SortSegmentsUp};
        let [count, three, two] = [keys.length, 3, 2].map(|x| body.i64(x));
        let offsets = body.alloc(Ty::I64, three);
        for (at, offset) in [0, keys.length / 2, keys.length].into_iter().enumerate() {
            let [at, offset] = [at as i64, offset].map(|x| body.i64(x));
            body.store(offsets, at, offset);
        }
        let length = keys.length;
        if matches!(keys.ty, Ty::I32 | Ty::I64) && self.choices.below(3) == 0 {
            let [last, equal] = [0; 2].map(|_| body.alloc(Ty::I64, count));
            body.service(Extern::GroupSegments, vec![keys.value, two, last, equal, offsets]);
            for value in [last, equal] {
                visible.arrays.push(Known { value, ty: Ty::I64, length, own: true });
            }
            return;
        }
        let services = [RankSegmentsUp, SortSegmentsUp, RankSegmentsDown, SortSegmentsDown];
        let service = self.choices.pick(&services);
        let is_rank = matches!(service, RankSegmentsUp | RankSegmentsDown);
        let ty = if is_rank { Ty::I64 } else { keys.ty };
        let out = body.alloc(ty, count);
        body.service(service, vec![keys.value, two, out, offsets]);
        visible.arrays.push(Known { value: out, ty, length, own: true });
    }

    fn service(&mut self, body: &mut Body, visible: &mut Visible) {
        if self.choices.below(2) == 0 {
            let arrays = visible.arrays.iter().filter(|array| array.ty != Ty::Bool);
            let arrays: Vec<Known> = arrays.copied().collect();
            if arrays.is_empty() {
                return self.binary(body, visible);
            }
            let keys = self.choices.pick(&arrays);
            let count = body.i64(keys.length);
            use Extern::{RankDown, RankUp, SortDown, SortUp};
            if matches!(keys.ty, Ty::I32 | Ty::I64) && self.choices.below(3) == 0 {
                let [last, equal] = [0; 2].map(|_| body.alloc(Ty::I64, count));
                body.service(Extern::Groups, vec![keys.value, count, last, equal]);
                for value in [last, equal] {
                    let length = keys.length;
                    visible.arrays.push(Known { value, ty: Ty::I64, length, own: true });
                }
                return;
            }
            if self.choices.below(3) == 0 {
                return self.segments_service(body, visible, keys);
            }
            let service = self.choices.pick(&[RankUp, SortUp, RankDown, SortDown]);
            let ty = if matches!(service, RankUp | RankDown) { Ty::I64 } else { keys.ty };
            let out = body.alloc(ty, count);
            body.service(service, vec![keys.value, count, out]);
            visible.arrays.push(Known { value: out, ty, length: keys.length, own: true });
        } else {
            let room = body.i64(32);
            let text = body.alloc(Ty::U8, room);
            let x = self.scalar(body, visible, Ty::F64);
            let length = body.service(Extern::FloatText, vec![x, text])[0];
            let parsed = body.service(Extern::ParseFloat, vec![text, length]);
            let hash = body.service(Extern::HashText, vec![text, length, length])[0];
            let one = body.i64(1);
            let same = body.service(Extern::SameText, vec![text, length, text, one])[0];
            visible.scalars.extend([
                (length, Ty::I64),
                (hash, Ty::I64),
                (same, Ty::Bool),
                (parsed[0], Ty::F64),
                (parsed[1], Ty::Bool),
            ]);
            visible.arrays.push(Known { value: text, ty: Ty::U8, length: 3, own: false });
        }
    }

    /// Some steps whose arrays are let go of but for some.
    fn compact(&mut self, body: &mut Body, visible: &mut Visible) {
        if self.nested > 3 {
            return self.alloc(body, visible);
        }
        let mark = body.mark();
        let old = visible.arrays.len();
        self.nested += 1;
        self.steps(body, visible, 8);
        self.nested -= 1;
        let young = visible.arrays.split_off(old);
        let mut kept = Vec::new();
        for array in young {
            if self.choices.below(2) == 0 {
                kept.push(array);
            }
        }
        let keep = kept.iter().map(|array| (array.value, body.i64(array.length))).collect();
        let moved = body.compact(mark, keep);
        let arrays = kept.into_iter().zip(moved);
        // Two of them may have been one.
        visible.arrays.extend(arrays.map(|(array, value)| Known { value, own: false, ..array }));
    }

    /// Mostly something else, as checks seldom hold.
    fn check(&mut self, body: &mut Body, visible: &mut Visible) {
        if self.choices.below(6) < 5 {
            return self.comparison(body, visible);
        }
        let cond = self.scalar(body, visible, Ty::Bool);
        let other = self.scalar(body, visible, Ty::Bool);
        let cond = body.binary(Binary::Or, cond, other);
        let detail = (0..self.choices.below(3)).map(|_| self.scalar(body, visible, Ty::I64));
        let detail = detail.collect();
        let site = Site(self.choices.below(100) as u32);
        if self.choices.below(3) > 0 {
            return body.check(cond, site, detail);
        }
        body.begin();
        let text = body.text(b"no way");
        let length = body.i64(6);
        body.fail(site, text, length, detail);
        let otherwise = body.end(Vec::new());
        body.push(Op::If { cond, then: Block::default(), otherwise }, &[]);
    }
}
