//! Loops as front ends make them: tail calls, walks through rows side by side, arrays filled
//! element by element. Code generators execute several elements, or iterations, of these at a time.

use super::{Generator, Known, Visible, positive_zero};
use crate::kir::{Binary, Body, Combine, Op, Site, Ty, Value, ValueTy};

impl Generator<'_> {
    /// A loop that carries its condition, and of whose results some are looked at.
    pub(super) fn flagged(&mut self, body: &mut Body, visible: &mut Visible) {
        if self.loops == 2 {
            return self.branch(body, visible);
        }
        let mut types = vec![Ty::Bool, Ty::I64];
        types.extend(self.some_types());
        let mut init: Vec<Value> = types.iter().map(|ty| self.scalar(body, visible, *ty)).collect();
        if self.choices.below(2) == 0 {
            init[0] = body.bool(true);
        }
        init[1] = body.i64(0);
        let rounds = 1 + self.choices.below(12) as i64;
        let kinds: Vec<ValueTy> = types.iter().map(|ty| ValueTy::Scalar(*ty)).collect();
        let carried: Vec<Value> = kinds.iter().map(|ty| body.value(*ty)).collect();
        self.loops += 1;
        let mut inner = visible.clone();
        inner.scalars.extend(carried.iter().copied().zip(types.iter().copied()));
        body.begin();
        let cond = body.end(vec![carried[0]]);
        body.begin();
        let some = self.choices.below(4);
        self.steps(body, &mut inner, some);
        let rounds = body.i64(rounds);
        let many = body.binary(Binary::Ge, carried[1], rounds);
        let other = self.scalar(body, &inner, Ty::Bool);
        let stop = body.binary(Binary::Or, many, other);
        body.begin();
        let mut yields = self.inner(body, inner.clone(), &types, 2);
        for at in 1..types.len() {
            if self.choices.below(2) == 0 {
                yields[at] = carried[at];
            }
        }
        yields[0] = body.bool(false);
        let last = body.end(yields);
        body.begin();
        let mut yields = self.inner(body, inner.clone(), &types, 6);
        if self.choices.below(4) > 0 {
            yields[0] = body.bool(true);
        }
        let one = body.i64(1);
        yields[1] = body.binary(Binary::Add, carried[1], one);
        let more = body.end(yields);
        let op = match self.choices.below(2) {
            0 => Op::If { cond: stop, then: last, otherwise: more },
            _ => {
                let on = body.unary(crate::kir::Unary::Not, stop);
                Op::If { cond: on, then: more, otherwise: last }
            }
        };
        let yields = body.push(op, &kinds);
        let turn = body.end(yields);
        self.loops -= 1;
        let results = body.push(Op::While { init, carried, cond, body: turn }, &kinds);
        for result in results.into_iter().zip(types) {
            if self.choices.below(2) == 0 {
                visible.scalars.push(result);
            }
        }
    }

    /// Goes through rows, at the column of the point, which not every row has. Twelve rows three
    /// apart are within what wide arrays have more than points.
    pub(super) fn walk(&mut self, body: &mut Body, visible: &mut Visible) {
        let Some((index, arrays)) = self.wide.filter(|_| self.loops < 2) else {
            return self.binary(body, visible);
        };
        let (array, ty) = self.choices.pick(&arrays);
        let count = match self.choices.below(4) {
            0 => self.index(body, visible, 7),
            _ => body.i64(1 + self.choices.below(12) as i64),
        };
        let stride = self.choices.below(4) as i64;
        let short = match self.choices.below(8) {
            0 => 1 + self.choices.below(100) as i64,
            _ => 1000,
        };
        let combine = match ty.is_float() {
            true => self.choices.pick(&[Combine::Min, Combine::Max]),
            false => self.choices.pick(&[Combine::Add, Combine::Max, Combine::Xor]),
        };
        let site = Site(self.choices.below(100) as u32);
        let checks = self.choices.below(3) > 0;
        self.loops += 1;
        let results = body.count(count, Vec::new(), vec![combine], |body, row, _| {
            let stride = body.i64(stride);
            let start = body.binary(Binary::Mul, row, stride);
            if checks {
                let zero = body.i64(0);
                let short = body.i64(short);
                let length = body.binary(Binary::Sub, short, row);
                let low = body.binary(Binary::Ge, index, zero);
                let high = body.binary(Binary::Lt, index, length);
                let within = body.binary(Binary::And, low, high);
                body.check(within, site, vec![index, length]);
            }
            let at = body.binary(Binary::Add, start, index);
            let x = body.load(array, at);
            let mut inner = visible.clone();
            inner.scalars.extend([(row, Ty::I64), (x, ty)]);
            let value = match self.choices.below(2) {
                0 => x,
                _ => self.inner(body, inner, &[ty], 3)[0],
            };
            vec![positive_zero(body, value)]
        });
        self.loops -= 1;
        visible.scalars.push((results[0], ty));
    }

    /// A new array whose elements are computed, perhaps of the one before or of others.
    pub(super) fn fill(&mut self, body: &mut Body, visible: &mut Visible) {
        if self.loops == 2 {
            return self.branch(body, visible);
        }
        let ty = self.choices.pick(Ty::ALL);
        let length = 1 + self.choices.below(60) as i64;
        let count = body.i64(length);
        let array = body.alloc(ty, count);
        let zero = body.i64(0);
        let first = self.scalar(body, visible, ty);
        body.store(array, zero, first);
        let kind = self.choices.below(4);
        self.loops += 1;
        body.count(count, Vec::new(), Vec::new(), |body, index, _| {
            let mut inner = visible.clone();
            inner.scalars.push((index, Ty::I64));
            if kind == 0 {
                // The element that the iteration before has written.
                let one = body.i64(1);
                let before = body.binary(Binary::Sub, index, one);
                let before = body.binary(Binary::Max, before, zero);
                inner.scalars.push((body.load(array, before), ty));
            }
            let value = self.inner(body, inner, &[ty], 5)[0];
            body.store(array, index, value);
            Vec::new()
        });
        self.loops -= 1;
        visible.arrays.push(Known { value: array, ty, length, own: true });
    }

    /// A tail call that updates an array, which it may have to copy first, in some of its iterations.
    pub(super) fn update(&mut self, body: &mut Body, visible: &mut Visible) {
        let known = visible.arrays.iter().filter(|known| known.own).copied();
        let known: Vec<Known> = known.collect();
        if self.loops == 2 || known.is_empty() {
            return self.fill(body, visible);
        }
        let Known { value: array, ty, length, .. } = self.choices.pick(&known);
        let count = body.i64(length);
        // The room of the array, as far as the loop knows: others read it below if there is none.
        let owned = self.choices.below(4) == 0;
        let init = [body.bool(true), body.i64(0), body.i64(if owned { length } else { 0 }), array];
        let kinds = [
            ValueTy::Scalar(Ty::Bool),
            ValueTy::Scalar(Ty::I64),
            ValueTy::Scalar(Ty::I64),
            ValueTy::Array(ty),
        ];
        let carried = kinds.map(|ty| body.value(ty));
        let [_, index, room, current] = carried;
        let mark = (self.choices.below(2) == 0).then(|| body.mark());
        let rounds = self.choices.below(12) as i64;
        let updates = self.choices.below(3);
        self.loops += 1;
        body.begin();
        let cond = body.end(vec![carried[0]]);
        body.begin();
        let rounds = body.i64(rounds);
        let stop = body.binary(Binary::Ge, index, rounds);
        body.begin();
        let go = body.bool(false);
        let last = body.end(vec![go, index, room, current]);
        body.begin();
        let mut inner = visible.clone();
        let at = self.index(body, &inner, length);
        inner.scalars.extend([(index, Ty::I64), (body.load(current, at), ty)]);
        let mut state = vec![current, room];
        for _ in 0..updates {
            let often = self.scalar(body, &inner, Ty::Bool);
            let value = self.inner(body, inner.clone(), &[ty], 3)[0];
            let place = self.index(body, &inner, length);
            body.begin();
            let zero = body.i64(0);
            let mine = body.binary(Binary::Gt, state[1], zero);
            body.begin();
            let as_it_is = body.end(state.clone());
            body.begin();
            let copy = body.alloc(ty, count);
            body.copy(state[0], copy, count);
            let copied = body.end(vec![copy, count]);
            let op = Op::If { cond: mine, then: as_it_is, otherwise: copied };
            let both = body.push(op, &[kinds[3], kinds[2]]);
            body.store(both[0], place, value);
            let updated = body.end(both);
            body.begin();
            let left = body.end(state.clone());
            let op = Op::If { cond: often, then: updated, otherwise: left };
            state = body.push(op, &[kinds[3], kinds[2]]);
        }
        let one = body.i64(1);
        let next = body.binary(Binary::Add, index, one);
        let go = body.bool(true);
        let more = body.end(vec![go, next, state[1], state[0]]);
        let mut yields = body.push(Op::If { cond: stop, then: last, otherwise: more }, &kinds);
        if let Some(mark) = mark {
            yields[3] = body
                .push(Op::Compact { since: mark, keep: vec![(yields[3], count)] }, &kinds[3..])[0];
        }
        let turn = body.end(yields);
        self.loops -= 1;
        let op = Op::While { init: init.to_vec(), carried: carried.to_vec(), cond, body: turn };
        let results = body.push(op, &kinds);
        // The result may be the array itself.
        let same = visible.arrays.iter_mut().filter(|known| known.value == array);
        same.for_each(|known| known.own = false);
        visible.scalars.push((results[1], Ty::I64));
        visible.arrays.push(Known { value: results[3], ty, length, own: false });
    }
}
