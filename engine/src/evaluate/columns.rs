//! The columns of sequences, where there is one point: cut, chosen from, put one behind the other,
//! and the pools that the rows of several sequences share.

use super::points::whole_number;
use super::service::{Moved, number};
use super::{Evaluator, Parts, Run};
use nesl_core::ir::Ty;
use nesl_core::lower;
use nesl_runtime::runtime::{Arg, Buffer};

/// A sequence: its length, and its columns.
#[derive(Clone, Copy)]
pub(super) struct Sequence<'a> {
    pub(super) length: usize,
    pub(super) columns: &'a [Arg],
}

/// Some sequences as columns: starts, lengths, extent, and the columns of the pool.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) count: usize,
    pub(super) columns: &'a [Arg],
}

impl<'a> Rows<'a> {
    /// What the rows are cut from.
    pub(super) fn pool(self) -> Sequence<'a> {
        Sequence { length: whole_number(&self.columns[2]), columns: &self.columns[3..] }
    }
}

/// Several pools made one.
pub(super) struct OnePool {
    /// How many elements it has.
    pub(super) extent: usize,
    pub(super) columns: Vec<Arg>,
    /// For each that was made part of it, the starts of the rows, and what is to be added to them.
    pub(super) starts: Vec<(Arg, usize)>,
}

impl<'a> Sequence<'a> {
    pub(super) fn of(parts: &'a Parts) -> Sequence<'a> {
        Sequence { length: whole_number(&parts.all[0]), columns: &parts.all[1..] }
    }

    pub(super) fn parts(length: usize, columns: Vec<Arg>) -> Parts {
        Parts::new(std::iter::once(number(length)).chain(columns).collect())
    }
}

impl Evaluator<'_> {
    /// Per column, whether it is the sequence's own, not a pool's.
    pub(super) fn own_columns(&self, element: &Ty) -> Vec<bool> {
        let mut own = Vec::new();
        let mut open = vec![element];
        while let Some(ty) = open.pop() {
            match ty {
                Ty::Unit => {}
                Ty::Int | Ty::Float | Ty::Bool | Ty::Char => own.push(true),
                Ty::Pair(first, second) => open.extend([&**second, &**first]),
                Ty::Sequence(inner) => {
                    own.extend([true, true, false]);
                    own.extend(lower::columns(inner, self.precision).iter().map(|_| false));
                }
            }
        }
        own
    }

    /// The columns from an element on.
    pub(super) fn cut(&self, columns: &[Arg], element: &Ty, start: usize) -> Vec<Arg> {
        let own = self.own_columns(element);
        columns
            .iter()
            .zip(own)
            .map(|(arg, own)| if own { from(arg, start) } else { arg.clone() })
            .collect()
    }

    /// The parts of an element.
    pub(super) fn element_at(&self, columns: &[Arg], element: &Ty, at: usize) -> Run<Vec<Arg>> {
        let mut rest = columns;
        let mut out = Vec::new();
        let mut open = vec![element];
        while let Some(ty) = open.pop() {
            match ty {
                Ty::Unit => {}
                Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                    out.push(Arg::Scalar(self.read_at(&rest[0], at)?));
                    rest = &rest[1..];
                }
                Ty::Pair(first, second) => open.extend([&**second, &**first]),
                Ty::Sequence(inner) => {
                    let start = whole_number(&Arg::Scalar(self.read_at(&rest[0], at)?));
                    out.push(Arg::Scalar(self.read_at(&rest[1], at)?));
                    let pool = lower::columns(inner, self.precision).len();
                    out.extend(self.cut(&rest[3..3 + pool], inner, start));
                    rest = &rest[3 + pool..];
                }
            }
        }
        Ok(out)
    }

    /// The columns of a sequence of one element, of which these are the parts.
    pub(super) fn as_sequence(&self, parts: &[Arg], element: &Ty) -> Run<Vec<Arg>> {
        let mut rest = parts;
        let mut out = Vec::new();
        let mut open = vec![element];
        while let Some(ty) = open.pop() {
            match ty {
                Ty::Unit => {}
                Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                    let Arg::Scalar(literal) = &rest[0] else { unreachable!("it is a scalar") };
                    out.push(self.written(literal.ty(), &[*literal])?);
                    rest = &rest[1..];
                }
                Ty::Pair(first, second) => open.extend([&**second, &**first]),
                Ty::Sequence(inner) => {
                    let length = whole_number(&rest[0]);
                    let pool = lower::columns(inner, self.precision).len();
                    out.push(self.ints(&[0])?);
                    out.push(self.ints(&[length as i64])?);
                    out.push(rest[0].clone());
                    out.extend(rest[1..1 + pool].iter().cloned());
                    rest = &rest[1 + pool..];
                }
            }
        }
        Ok(out)
    }

    /// Sequences one behind the other.
    pub(super) fn concatenated(&self, all: &[Sequence<'_>], element: &Ty) -> Run<Vec<Arg>> {
        let lengths: Vec<usize> = all.iter().map(|one| one.length).collect();
        let mut rest: Vec<&[Arg]> = all.iter().map(|one| one.columns).collect();
        let mut out = Vec::new();
        let mut open = vec![element];
        while let Some(ty) = open.pop() {
            match ty {
                Ty::Unit => {}
                Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                    let first: Vec<(Arg, usize)> =
                        rest.iter().map(|rest| (rest[0].clone(), 0)).collect();
                    out.push(self.end_to_end(&first, &lengths)?);
                    rest.iter_mut().for_each(|rest| *rest = &rest[1..]);
                }
                Ty::Pair(first, second) => open.extend([&**second, &**first]),
                Ty::Sequence(inner) => {
                    let all = 3 + lower::columns(inner, self.precision).len();
                    let rows: Vec<Rows<'_>> = rest
                        .iter()
                        .zip(&lengths)
                        .map(|(rest, count)| Rows { count: *count, columns: &rest[..all] })
                        .collect();
                    let pool = self.one_pool(&rows, inner)?;
                    out.push(self.end_to_end(&pool.starts, &lengths)?);
                    let second: Vec<(Arg, usize)> =
                        rest.iter().map(|rest| (rest[1].clone(), 0)).collect();
                    out.push(self.end_to_end(&second, &lengths)?);
                    out.push(number(pool.extent));
                    out.extend(pool.columns);
                    rest.iter_mut().for_each(|rest| *rest = &rest[all..]);
                }
            }
        }
        Ok(out)
    }

    /// One pool for the rows of several sequences.
    pub(super) fn one_pool(&self, all: &[Rows<'_>], element: &Ty) -> Run<OnePool> {
        let pools: Vec<Sequence<'_>> = all.iter().map(|rows| rows.pool()).collect();
        let starts = |rows: &Rows<'_>| rows.columns[0].clone();
        if let Some((columns, extent, before)) = self.shared(&pools, element) {
            let starts = all.iter().map(starts).zip(before).collect();
            return Ok(OnePool { extent, columns, starts });
        }
        let mut compact = Vec::new();
        for rows in all {
            compact.push(self.compact(*rows, element)?);
        }
        let mut begin = Vec::new();
        let mut extent = 0;
        let mut parts = Vec::new();
        for ((rows, pool), compact) in all.iter().zip(&pools).zip(&compact) {
            let (starts, pool) = match compact {
                Some((starts, length, columns)) => {
                    (starts.clone(), Sequence { length: *length, columns })
                }
                None => (starts(rows), *pool),
            };
            begin.push((starts, extent));
            extent += pool.length;
            parts.push(pool);
        }
        Ok(OnePool { extent, columns: self.concatenated(&parts, element)?, starts: begin })
    }

    /// Where rows start in a pool of their own, its extent and its columns, if it is much smaller
    /// than the one they are in.
    pub(super) fn compact(
        &self,
        rows: Rows<'_>,
        element: &Ty,
    ) -> Run<Option<(Arg, usize, Vec<Arg>)>> {
        let [starts, lengths, _, pool @ ..] = rows.columns else {
            unreachable!("they are sequences")
        };
        let extent = rows.pool().length;
        if extent <= 2 * rows.count {
            return Ok(None);
        }
        let segments = self.segments(rows.count, lengths.clone())?;
        if segments.total > extent / 2 {
            return Ok(None);
        }
        let offsets = self.offsets(&segments)?;
        let begin = Arg::Array(offsets.clone(), 0);
        let columns = self.picked(rows.count, (offsets, segments.total), starts, pool, element)?;
        Ok(Some((begin, segments.total, columns)))
    }

    /// Rows of a pool one behind the other: where each begins then, and how many elements they
    /// have, is known.
    pub(super) fn picked(
        &self,
        count: usize,
        (offsets, total): (Buffer, usize),
        starts: &Arg,
        pool: &[Arg],
        element: &Ty,
    ) -> Run<Vec<Arg>> {
        let own = self.own_columns(element);
        let mut out = pool.to_vec();
        let mut moves = Vec::new();
        for (arg, own) in out.iter_mut().zip(own) {
            if own {
                let to = Arg::Array(self.alloc(array(arg).ty(), total)?, 0);
                moves.push(Moved { from: std::mem::replace(arg, to.clone()), to, add: 0 });
            }
        }
        self.pick_segments(count, offsets, starts.clone(), &moves)?;
        Ok(out)
    }

    /// The same, if they are parts of the same arrays.
    fn shared(
        &self,
        pools: &[Sequence<'_>],
        element: &Ty,
    ) -> Option<(Vec<Arg>, usize, Vec<usize>)> {
        let own = self.own_columns(element);
        let start = |pool: &Sequence<'_>, column: usize| match &pool.columns[column] {
            Arg::Array(_, at) => *at,
            Arg::Scalar(_) => 0,
        };
        let first = pools.first()?;
        let lead = own.iter().position(|own| *own)?;
        let least = pools.iter().min_by_key(|pool| start(pool, lead))?;
        for pool in pools {
            for (column, own) in own.iter().enumerate() {
                let (a, b) = (&first.columns[column], &pool.columns[column]);
                let same = match (a, b) {
                    (Arg::Array(a, _), Arg::Array(b, _)) => a.is_same(b),
                    (Arg::Scalar(a), Arg::Scalar(b)) => a == b,
                    _ => false,
                };
                let shift = start(pool, lead) - start(least, lead);
                let shift = if *own { shift } else { 0 };
                if !same || start(pool, column) != start(least, column) + shift {
                    return None;
                }
            }
        }
        let before: Vec<usize> =
            pools.iter().map(|pool| start(pool, lead) - start(least, lead)).collect();
        let extent = pools.iter().zip(&before).map(|(pool, at)| at + pool.length).max()?;
        Some((least.columns.to_vec(), extent, before))
    }

    /// Columns one behind the other, with something added to the elements of each.
    fn end_to_end(&self, columns: &[(Arg, usize)], lengths: &[usize]) -> Run<Arg> {
        let ty = array(&columns[0].0).ty();
        let out = self.alloc(ty, lengths.iter().sum())?;
        let mut at = 0;
        for ((column, add), length) in columns.iter().zip(lengths) {
            self.copied(column, &Arg::Array(out.clone(), at), *add, *length)?;
            at += length;
        }
        Ok(Arg::Array(out, 0))
    }
}

/// An array from an element on.
fn from(column: &Arg, start: usize) -> Arg {
    match column {
        Arg::Array(buffer, at) => Arg::Array(buffer.clone(), at + start),
        Arg::Scalar(_) => column.clone(),
    }
}

pub(super) fn array(column: &Arg) -> &Buffer {
    match column {
        Arg::Array(buffer, _) => buffer,
        Arg::Scalar(_) => unreachable!("it is an array"),
    }
}
