//! What moves whole sequences about, where there are many points: descriptors by small kernels, and
//! elements by kernels that go over the elements of all points alike, so that it does not matter
//! how many points there are and how much each of them has.
//!
//! Flattening is nothing but new descriptors if the parts lie one behind the other, as those that
//! an apply-to-each made do. Otherwise they are copied once, which is also what appending takes.

use super::columns::{Rows, Sequence, array};
use super::service::{Moved, Placed, number};
use super::{Evaluator, Frame, Parts, Run};
use nesl_core::flat::{Kernel, Op};
use nesl_core::ir::{self, Atom, Ty};
use nesl_core::lower;
use nesl_core::prim::SeqOp;
use nesl_runtime::runtime::Arg;
use std::rc::Rc;

/// At more points than this, what is appended is taken to be short, and each point sees to its own.
const FEW: usize = 256;

/// The operation of a kernel that does nothing but what is done here.
pub(super) fn moves(kernel: &Kernel) -> Option<(SeqOp, &[Atom])> {
    let [binding] = &kernel.lets[..] else { return None };
    match &binding.op {
        Op::Map(ir::Op::Seq(op @ (SeqOp::Flatten | SeqOp::Append), args))
            if kernel.masks.is_empty() && binding.ctx == kernel.space =>
        {
            Some((*op, args))
        }
        _ => None,
    }
}

impl<'p> Evaluator<'p> {
    /// Does what a kernel of many points does, if it is one of those seen to here.
    pub(super) fn moved(&'p self, frame: &mut Frame<'p>, kernel: &'p Kernel) -> Run<bool> {
        let Some((op, args)) = moves(kernel) else { return Ok(false) };
        let count = frame.points[&kernel.space].count;
        if count == 0 || (op == SeqOp::Append && count > FEW) {
            return Ok(false);
        }
        self.work.set(self.work.get() + count as u64);
        let binding = &kernel.lets[0];
        let mut values = Vec::new();
        for atom in args {
            values.push(self.value_at(frame, *atom, kernel.space)?);
        }
        let element = binding.ty.element().expect("types were checked");
        let rows: Vec<Rows<'_>> =
            values.iter().map(|value| Rows { count, columns: &value.all }).collect();
        let all = match op {
            SeqOp::Append => self.appended(rows[0], rows[1], element)?,
            _ => self.flattened_rows(rows[0], element)?,
        };
        frame.vars.insert((binding.var, binding.ctx), Rc::new(Parts::new(all)));
        Ok(true)
    }

    /// For each row of rows, the elements of these.
    fn flattened_rows(&self, rows: Rows<'_>, element: &Ty) -> Run<Vec<Arg>> {
        let [starts, lengths, _, inner @ ..] = rows.columns else {
            unreachable!("they are sequences")
        };
        // What no row asks for is not worth looking at.
        let compact = self.compact(rows, &Ty::Sequence(Box::new(element.clone())))?;
        let (starts, count, inner) = match &compact {
            Some((starts, count, columns)) => (starts, *count, &columns[..]),
            None => (starts, rows.pool().length, inner),
        };
        let [inner_starts, inner_lengths, extent, pool @ ..] = inner else {
            unreachable!("they are sequences")
        };
        let segments = self.segments(count, inner_lengths.clone())?;
        let offsets = self.offsets(&segments)?;
        let (begin, lengths) = self.spans(starts, lengths, &offsets, rows.count)?;
        if let Some(start) = self.contiguous(inner_starts, inner_lengths, &offsets, count)? {
            let extent = match segments.total {
                0 => extent.clone(),
                total => number(total),
            };
            let pool = self.cut(pool, element, start);
            return Ok([begin, lengths, extent].into_iter().chain(pool).collect());
        }
        let all = (offsets, segments.total);
        let pool = self.picked(count, all, inner_starts, pool, element)?;
        Ok([begin, lengths, number(segments.total)].into_iter().chain(pool).collect())
    }

    /// The rows of one one behind those of the other.
    fn appended(&self, first: Rows<'_>, second: Rows<'_>, element: &Ty) -> Run<Vec<Arg>> {
        let count = first.count;
        let [a, b] = [first, second].map(|rows| self.segments(count, rows.columns[1].clone()));
        let (a, b) = (a?, b?);
        for (here, other) in [(first, &b), (second, &a)] {
            if other.total == 0 {
                return Ok(here.columns.to_vec());
            }
        }
        let [x, y] = [first, second].map(|rows| self.read_ints(&rows.columns[1], count));
        let (x, y) = (x?, y?);
        let (mut begin, mut behind, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        let mut at = 0;
        for (x, y) in x.iter().zip(&y) {
            begin.push(at);
            behind.push(at + x);
            lengths.push(x + y);
            at += x + y;
        }
        let total = a.total + b.total;
        let begin = self.ints(&begin)?;
        let (columns, moves) = self.joined(first.pool(), second.pool(), total, element)?;
        let sides = [(first, &a, &begin), (second, &b, &self.ints(&behind)?)];
        for ((rows, segments, to), moves) in sides.into_iter().zip(&moves) {
            let placed = Placed {
                segments: count,
                offsets: self.offsets(segments)?,
                from: rows.columns[0].clone(),
                to: to.clone(),
            };
            self.place_segments(&placed, moves)?;
        }
        let descriptor = [begin, self.ints(&lengths)?, number(total)];
        Ok(descriptor.into_iter().chain(columns).collect())
    }

    /// Columns for so many elements out of two pools, and how those of each come there.
    fn joined(
        &self,
        first: Sequence<'_>,
        second: Sequence<'_>,
        total: usize,
        element: &Ty,
    ) -> Run<(Vec<Arg>, [Vec<Moved>; 2])> {
        let (mut a, mut b) = (first.columns, second.columns);
        let mut out = Vec::new();
        let mut moves = [Vec::new(), Vec::new()];
        let mut column = |from: [(Arg, usize); 2]| -> Run<Arg> {
            let to = Arg::Array(self.alloc(array(&from[0].0).ty(), total)?, 0);
            for (moves, (from, add)) in moves.iter_mut().zip(from) {
                moves.push(Moved { from, to: to.clone(), add });
            }
            Ok(to)
        };
        let mut open = vec![element];
        while let Some(ty) = open.pop() {
            match ty {
                Ty::Unit => {}
                Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                    out.push(column([(a[0].clone(), 0), (b[0].clone(), 0)])?);
                    (a, b) = (&a[1..], &b[1..]);
                }
                Ty::Pair(first, second) => open.extend([&**second, &**first]),
                Ty::Sequence(inner) => {
                    let all = 3 + lower::columns(inner, self.precision).len();
                    let rows = [(first.length, a), (second.length, b)]
                        .map(|(count, columns)| Rows { count, columns: &columns[..all] });
                    let pool = self.one_pool(&rows, inner)?;
                    let [x, y] = [&pool.starts[0], &pool.starts[1]];
                    out.push(column([x.clone(), y.clone()])?);
                    out.push(column([(a[1].clone(), 0), (b[1].clone(), 0)])?);
                    out.push(number(pool.extent));
                    out.extend(pool.columns);
                    (a, b) = (&a[all..], &b[all..]);
                }
            }
        }
        Ok((out, moves))
    }
}
