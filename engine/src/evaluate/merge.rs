//! The two sides of a conditional put together.

use super::launch::Which;
use super::points::whole_number;
use super::{Evaluator, Frame, Outcome, Parts, Run, Stop};
use nesl_core::flat::{Block, Ctx};
use nesl_core::ir::Ty;
use nesl_core::lower;
use nesl_runtime::kir::Literal;
use nesl_runtime::runtime::Arg;
use std::rc::Rc;

impl<'p> Evaluator<'p> {
    /// A conditional at many points: each side for its own, unless it has none.
    pub(super) fn branch(
        &'p self,
        frame: &mut Frame<'p>,
        (then, otherwise): (&'p (Ctx, Block), &'p (Ctx, Block)),
        ty: &Ty,
        ctx: Ctx,
    ) -> Run<Rc<Parts>> {
        let all = frame.points[&ctx].count;
        self.filters(frame, Which::Sides(then.0, otherwise.0), ctx, vec![then.0, otherwise.0])?;
        let mut sides = Vec::new();
        for (inner, block) in [then, otherwise] {
            let count = frame.points[inner].count;
            if count == 0 {
                continue;
            }
            let value = match self.block(frame, block, *inner, false)? {
                Outcome::Value(value) => value,
                Outcome::Tail(..) => unreachable!("no call takes the place of a side"),
            };
            if count == all {
                return Ok(value);
            }
            let places = Arg::Array(self.map(frame, *inner)?, 0);
            sides.push(Side { places, count, value });
        }
        match &sides[..] {
            [] => Ok(Rc::new(self.nothing(ty)?)),
            [first, second] => {
                let columns = self.merged(first, second, ty, all)?;
                Ok(Rc::new(Parts::new(columns)))
            }
            _ => Err(Stop::Unsupported),
        }
    }

    fn merged(&self, first: &Side, second: &Side, ty: &Ty, count: usize) -> Run<Vec<Arg>> {
        let [mut a, mut b] = [&first.value.all, &second.value.all].map(|all| all.iter().cloned());
        let mut out = Vec::new();
        self.merge(&mut a, &mut b, (first, second), ty, count, &mut out)?;
        Ok(out)
    }

    fn merge(
        &self,
        a: &mut dyn Iterator<Item = Arg>,
        b: &mut dyn Iterator<Item = Arg>,
        sides: (&Side, &Side),
        ty: &Ty,
        count: usize,
        out: &mut Vec<Arg>,
    ) -> Run<()> {
        let (first, second) = sides;
        match ty {
            Ty::Unit => {}
            Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                out.push(self.interleave((next(a), 0), (next(b), 0), sides, count)?);
            }
            Ty::Pair(left, right) => {
                self.merge(a, b, sides, left, count, out)?;
                self.merge(a, b, sides, right, count, out)?;
            }
            Ty::Sequence(element) => {
                let [a_starts, a_lengths, a_extent] = [next(a), next(a), next(a)];
                let [b_starts, b_lengths, b_extent] = [next(b), next(b), next(b)];
                let number = lower::columns(element, self.precision).len();
                let a_pool: Vec<Arg> = a.take(number).collect();
                let b_pool: Vec<Arg> = b.take(number).collect();
                let shared = a_pool.iter().zip(&b_pool).all(|(a, b)| is_same(a, b));
                let (pool, extent, behind) = if shared {
                    let extent = whole_number(&a_extent).max(whole_number(&b_extent));
                    (a_pool, extent, 0)
                } else {
                    let (n, m) = (whole_number(&a_extent), whole_number(&b_extent));
                    (self.concatenate(a_pool, n, b_pool, m, element)?, n + m, n)
                };
                out.push(self.interleave((a_starts, 0), (b_starts, behind), sides, count)?);
                out.push(self.interleave((a_lengths, 0), (b_lengths, 0), sides, count)?);
                out.push(Arg::Scalar(Literal::I64(extent as i64)));
                out.extend(pool);
            }
        }
        debug_assert!(first.count + second.count == count);
        Ok(())
    }

    /// An array of elements from two, each at its places.
    fn interleave(
        &self,
        a: (Arg, usize),
        b: (Arg, usize),
        (first, second): (&Side, &Side),
        count: usize,
    ) -> Run<Arg> {
        let out = Arg::Array(self.alloc(element(&a.0), count)?, 0);
        self.scatter(Some(first.places.clone()), a.0, &out, a.1, first.count)?;
        self.scatter(Some(second.places.clone()), b.0, &out, b.1, second.count)?;
        Ok(out)
    }

    /// One pool behind another.
    fn concatenate(
        &self,
        a: Vec<Arg>,
        n: usize,
        b: Vec<Arg>,
        m: usize,
        element: &Ty,
    ) -> Run<Vec<Arg>> {
        let mut out = Vec::new();
        self.concatenate_columns(&mut a.into_iter(), n, &mut b.into_iter(), m, element, &mut out)?;
        Ok(out)
    }

    fn concatenate_columns(
        &self,
        a: &mut dyn Iterator<Item = Arg>,
        n: usize,
        b: &mut dyn Iterator<Item = Arg>,
        m: usize,
        ty: &Ty,
        out: &mut Vec<Arg>,
    ) -> Run<()> {
        match ty {
            Ty::Unit => {}
            Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                out.push(self.joined((next(a), n), (next(b), m), 0)?);
            }
            Ty::Pair(left, right) => {
                self.concatenate_columns(a, n, b, m, left, out)?;
                self.concatenate_columns(a, n, b, m, right, out)?;
            }
            Ty::Sequence(element) => {
                let [a_starts, a_lengths, a_extent] = [next(a), next(a), next(a)];
                let [b_starts, b_lengths, b_extent] = [next(b), next(b), next(b)];
                let (p, q) = (whole_number(&a_extent), whole_number(&b_extent));
                out.push(self.joined((a_starts, n), (b_starts, m), p)?);
                out.push(self.joined((a_lengths, n), (b_lengths, m), 0)?);
                out.push(Arg::Scalar(Literal::I64((p + q) as i64)));
                self.concatenate_columns(a, p, b, q, element, out)?;
            }
        }
        Ok(())
    }

    fn joined(&self, (a, n): (Arg, usize), (b, m): (Arg, usize), add: usize) -> Run<Arg> {
        let out = self.alloc(element(&a), n + m)?;
        self.scatter(None, a, &Arg::Array(out.clone(), 0), 0, n)?;
        self.scatter(None, b, &Arg::Array(out.clone(), n), add, m)?;
        Ok(Arg::Array(out, 0))
    }
}

/// A side of a conditional that has points.
struct Side {
    places: Arg,
    count: usize,
    value: Rc<Parts>,
}

fn next(parts: &mut dyn Iterator<Item = Arg>) -> Arg {
    parts.next().expect("as many parts as the type has")
}

fn element(arg: &Arg) -> nesl_runtime::kir::Ty {
    match arg {
        Arg::Array(buffer, _) => buffer.ty(),
        Arg::Scalar(_) => unreachable!("it is an array"),
    }
}

fn is_same(a: &Arg, b: &Arg) -> bool {
    match (a, b) {
        (Arg::Array(a, i), Arg::Array(b, j)) => a.is_same(b) && i == j,
        (Arg::Scalar(a), Arg::Scalar(b)) => a == b,
        _ => false,
    }
}
