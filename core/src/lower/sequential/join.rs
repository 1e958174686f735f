//! Values that depend on a condition.

use super::super::layout::{Columns, Leaf, Rep, Segments, Sequence, Stored};
use super::Thread;
use super::delayed::is_faulty;
use crate::base::with_stack;
use crate::ir::Ty;
use nesl_runtime::kir::{Literal, Op, Value, ValueTy};
use std::rc::Rc;

impl<'a> Thread<'a> {
    /// One of two values.
    pub(in crate::lower) fn choice(
        &mut self,
        cond: Value,
        ty: &'a Ty,
        then: impl FnOnce(&mut Self) -> Rep<'a>,
        otherwise: impl FnOnce(&mut Self) -> Rep<'a>,
    ) -> Rep<'a> {
        let then = |t: &mut Self| {
            let value = then(t);
            t.settle(&value, ty)
        };
        self.join(cond, then, |t| {
            let value = otherwise(t);
            t.settle(&value, ty)
        })
    }

    /// One of two values with nothing delayed in them. Arrays that are the same on both sides
    /// stay the same, so that a choice between two cuts of a sequence is a cut of it.
    pub(super) fn join(
        &mut self,
        cond: Value,
        then: impl FnOnce(&mut Self) -> Rep<'a>,
        otherwise: impl FnOnce(&mut Self) -> Rep<'a>,
    ) -> Rep<'a> {
        match self.body.constant(cond) {
            Some(Literal::Bool(true)) => return then(self),
            Some(Literal::Bool(false)) => return otherwise(self),
            _ => {}
        }
        let zero = self.body.i64(0);
        self.body.begin();
        let first = then(self);
        let mut then = self.body.end(Vec::new());
        self.body.begin();
        let second = otherwise(self);
        let mut otherwise = self.body.end(Vec::new());
        let mut types: Vec<ValueTy> = Vec::new();
        merge(&first, &second, zero, &mut |a, b| {
            if a != b {
                then.yields.push(a);
                otherwise.yields.push(b);
                types.push(self.body.ty(a));
            }
            a
        });
        let results = self.body.push(Op::If { cond, then, otherwise }, &types);
        let mut results = results.into_iter();
        merge(&first, &second, zero, &mut |a, b| {
            if a == b { a } else { results.next().expect("as many as were yielded") }
        })
    }

    /// A value with nothing delayed in it that may fault.
    pub(super) fn settle_faulty(&mut self, rep: &Rep<'a>, ty: &'a Ty) -> Rep<'a> {
        with_stack(|| match (rep, ty) {
            (Rep::Pair(both), Ty::Pair(first, second)) => {
                let first = self.settle_faulty(&both.0, first);
                Rep::pair(first, self.settle_faulty(&both.1, second))
            }
            (Rep::Sequence(sequence), ty) if is_faulty(sequence) => self.store(sequence, ty),
            (rep, _) => rep.clone(),
        })
    }

    /// A value with nothing delayed in it.
    pub(in crate::lower) fn settle(&mut self, rep: &Rep<'a>, ty: &'a Ty) -> Rep<'a> {
        with_stack(|| match (rep, ty) {
            (Rep::Pair(both), Ty::Pair(first, second)) => {
                let first = self.settle(&both.0, first);
                Rep::pair(first, self.settle(&both.1, second))
            }
            (Rep::Sequence(sequence), ty) => self.store(sequence, ty),
            (rep, _) => rep.clone(),
        })
    }
}

/// Puts two values of one shape together, part by part.
fn merge<'a>(
    a: &Rep<'a>,
    b: &Rep<'a>,
    zero: Value,
    pick: &mut dyn FnMut(Value, Value) -> Value,
) -> Rep<'a> {
    with_stack(|| match (a, b) {
        (Rep::Unit, _) | (_, Rep::Unit) => Rep::Unit,
        (Rep::Scalar(a), Rep::Scalar(b)) => Rep::Scalar(pick(*a, *b)),
        (Rep::Pair(a), Rep::Pair(b)) => {
            let first = merge(&a.0, &b.0, zero, pick);
            Rep::pair(first, merge(&a.1, &b.1, zero, pick))
        }
        (Rep::Sequence(Sequence::Stored(a)), Rep::Sequence(Sequence::Stored(b))) => {
            let length = pick(a.length, b.length);
            let columns = merge_columns(&a.columns, &b.columns, zero, pick);
            Rep::Sequence(Sequence::Stored(Stored { length, columns }))
        }
        (Rep::Scalar(_) | Rep::Pair(_) | Rep::Sequence(_), _) => {
            unreachable!("both sides have one type and are stored")
        }
    })
}

fn merge_columns(
    a: &Columns,
    b: &Columns,
    zero: Value,
    pick: &mut dyn FnMut(Value, Value) -> Value,
) -> Columns {
    with_stack(|| match (a, b) {
        (Columns::Unit, _) | (_, Columns::Unit) => Columns::Unit,
        (Columns::Scalars(a), Columns::Scalars(b)) => {
            Columns::Scalars(merge_leaf(a, b, zero, pick))
        }
        (Columns::Pair(a), Columns::Pair(b)) => {
            let first = merge_columns(&a.0, &b.0, zero, pick);
            Columns::pair(first, merge_columns(&a.1, &b.1, zero, pick))
        }
        (Columns::Segments(a), Columns::Segments(b)) => {
            let starts = merge_leaf(&a.starts, &b.starts, zero, pick);
            let lengths = merge_leaf(&a.lengths, &b.lengths, zero, pick);
            let extent = pick(a.extent, b.extent);
            let pool = merge_columns(&a.pool, &b.pool, zero, pick);
            Columns::Segments(Rc::new(Segments { starts, lengths, pool, extent }))
        }
        (Columns::Scalars(_) | Columns::Pair(_) | Columns::Segments(_), _) => {
            unreachable!("both sides have one type")
        }
    })
}

fn merge_leaf(
    a: &Leaf,
    b: &Leaf,
    zero: Value,
    pick: &mut dyn FnMut(Value, Value) -> Value,
) -> Leaf {
    let array = pick(a.array, b.array);
    let extent = pick(a.extent, b.extent);
    let start = match (a.start, b.start) {
        (None, None) => None,
        (first, second) => Some(pick(first.unwrap_or(zero), second.unwrap_or(zero))),
    };
    Leaf { array, start, extent }
}
