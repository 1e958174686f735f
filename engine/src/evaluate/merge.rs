//! The two sides of a conditional put together.

use super::columns::Rows;
use super::launch::Which;
use super::{Evaluator, Frame, Outcome, Parts, Run, RunError};
use nesl_core::flat::{Block, SpaceId};
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
        (then, otherwise): (&'p (SpaceId, Block), &'p (SpaceId, Block)),
        ty: &Ty,
        ctx: SpaceId,
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
            _ => Err(RunError::Unsupported),
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
                let all = 3 + lower::columns(element, self.precision).len();
                let a: Vec<Arg> = a.take(all).collect();
                let b: Vec<Arg> = b.take(all).collect();
                let rows = [(first.count, &a), (second.count, &b)]
                    .map(|(count, columns)| Rows { count, columns });
                let pool = self.one_pool(&rows, element)?;
                let [x, y] = [&pool.starts[0], &pool.starts[1]];
                out.push(self.interleave(x.clone(), y.clone(), sides, count)?);
                let [x, y] = [&a, &b].map(|columns| (columns[1].clone(), 0));
                out.push(self.interleave(x, y, sides, count)?);
                out.push(Arg::Scalar(Literal::I64(pool.extent as i64)));
                out.extend(pool.columns);
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
