//! What moves whole sequences about, where there is one point: the host does descriptors, and has
//! columns copied by as many threads as there are.
//!
//! Cutting, choosing and partitioning make views. Flattening does, too, if the parts lie one
//! behind the other, and putting sequences into a list, if they are cut from one. An array that
//! nobody else holds is written in place.
//!
//! Faults are those of the direct interpreter. What may fault is first looked over by a reduction;
//! only if something is wrong, elements are read to say what.

use super::columns::{Rows, Sequence, array};
use super::service::{Moved, number};
use super::{Evaluator, Parts, Run};
use nesl_core::ir::Ty;
use nesl_core::lower;
use nesl_core::prim::SeqOp;
use nesl_runtime::bug;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::kir::{self, Extern, Literal};
use nesl_runtime::runtime::Arg;
use nesl_runtime::scalar::Precision;

/// Returns true for the operations that [`Evaluator::structural`] implements.
pub(super) fn is_structural(op: SeqOp) -> bool {
    matches!(
        op,
        SeqOp::Index
            | SeqOp::Subseq
            | SeqOp::Append
            | SeqOp::Flatten
            | SeqOp::Partition
            | SeqOp::Permute
            | SeqOp::Replace
            | SeqOp::Scatter
            | SeqOp::RankUp
            | SeqOp::RankDown
            | SeqOp::Groups
    )
}

/// Either it fails as programs do, or the machine does.
type Done<T> = Run<Result<T, Fault>>;

impl Evaluator<'_> {
    /// Computes an operation on a sequence of `element`s; `own` says that nobody else has the
    /// first operand.
    pub(super) fn structural(
        &self,
        op: SeqOp,
        args: &[&Parts],
        element: &Ty,
        own: bool,
    ) -> Done<Parts> {
        let sequence = Sequence::of(args[0]);
        let Sequence { length, columns } = sequence;
        let int = |at: usize| whole_int(&args[at].all[0]);
        match op {
            SeqOp::Index => match within(FaultCode::Index, int(1), length) {
                Ok(at) => Ok(Ok(Parts::new(self.element_at(columns, element, at)?))),
                Err(fault) => Ok(Err(fault)),
            },
            SeqOp::Subseq => {
                let (start, end) = (int(1), int(2));
                if !(0 <= start && start <= end && end as u64 <= length as u64) {
                    let words = format!("from {start} to {end}, length {length}");
                    return Ok(Err(Fault::with(FaultCode::Subseq, words)));
                }
                let columns = self.cut(columns, element, start as usize);
                Ok(Ok(Sequence::parts((end - start) as usize, columns)))
            }
            SeqOp::Append => {
                let behind = Sequence::of(args[1]);
                if behind.length == 0 {
                    return Ok(Ok(args[0].clone()));
                }
                if length == 0 {
                    return Ok(Ok(args[1].clone()));
                }
                let columns = self.concatenated(&[sequence, behind], element)?;
                Ok(Ok(Sequence::parts(length + behind.length, columns)))
            }
            SeqOp::Flatten => {
                let Ty::Sequence(inner) = element else { unreachable!("types were checked") };
                Ok(Ok(self.flattened(sequence, inner)?))
            }
            SeqOp::Partition => self.partitioned(sequence, Sequence::of(args[1])),
            SeqOp::Permute => self.permuted(sequence, Sequence::of(args[1]), element),
            SeqOp::Replace => {
                let at = match within(FaultCode::Replace, int(2), length) {
                    Ok(at) => at,
                    Err(fault) => return Ok(Err(fault)),
                };
                let value = self.as_sequence(&args[1].all, element)?;
                let value = Sequence { length: 1, columns: &value };
                let place = self.ints(&[at as i64])?;
                let columns = self.overwritten(sequence, place, value, element, own)?;
                Ok(Ok(Sequence::parts(length, columns)))
            }
            SeqOp::Scatter => {
                let writes = Sequence::of(args[1]);
                let (places, values) = writes.columns.split_first().expect("a write has a place");
                if let Some(fault) =
                    self.outside(FaultCode::Scatter, places, writes.length, length)?
                {
                    return Ok(Err(fault));
                }
                if writes.length == 0 {
                    return Ok(Ok(args[0].clone()));
                }
                let values = Sequence { length: writes.length, columns: values };
                let columns = self.overwritten(sequence, places.clone(), values, element, own)?;
                Ok(Ok(Sequence::parts(length, columns)))
            }
            SeqOp::RankUp | SeqOp::RankDown => {
                let service = if op == SeqOp::RankUp { Extern::RankUp } else { Extern::RankDown };
                let ranks = Arg::Array(self.alloc(kir::Ty::I64, length)?, 0);
                self.ordered(service, &columns[0], length, &ranks)?;
                let ranks = self.as_ints(ranks, length)?;
                Ok(Ok(Sequence::parts(length, vec![ranks])))
            }
            SeqOp::Groups => {
                let mut parts = Vec::new();
                for found in self.groups(columns, length)? {
                    parts.push(number(length));
                    parts.push(self.as_ints(found, length)?);
                }
                Ok(Ok(Parts::new(parts)))
            }
            op => bug!("{op:?} is no structural operation"),
        }
    }

    /// Places as ints of the program.
    fn as_ints(&self, places: Arg, length: usize) -> Run<Arg> {
        if self.precision == Precision::Bits64 {
            return Ok(places);
        }
        let narrow = Arg::Array(self.alloc(kir::Ty::I32, length)?, 0);
        self.scatter(None, places, &narrow, 0, length)?;
        Ok(narrow)
    }

    /// A sequence of scalars in the order of their ranks.
    pub(super) fn sorted(&self, sequence: &Parts, rank: SeqOp) -> Run<Parts> {
        let Sequence { length, columns } = Sequence::of(sequence);
        let service = if rank == SeqOp::RankUp { Extern::SortUp } else { Extern::SortDown };
        let out = Arg::Array(self.alloc(array(&columns[0]).ty(), length)?, 0);
        self.ordered(service, &columns[0], length, &out)?;
        Ok(Sequence::parts(length, vec![out]))
    }

    /// The sequence of some values.
    pub(super) fn listed(&self, values: &[&Parts], element: &Ty) -> Run<Parts> {
        if values.is_empty() {
            return Ok(Sequence::parts(0, self.dummy(element)?));
        }
        let mut each = Vec::new();
        for value in values {
            each.push(self.as_sequence(&value.all, element)?);
        }
        let each: Vec<Sequence<'_>> =
            each.iter().map(|columns| Sequence { length: 1, columns }).collect();
        Ok(Sequence::parts(values.len(), self.concatenated(&each, element)?))
    }

    /// A level of nesting less.
    fn flattened(&self, rows: Sequence<'_>, inner: &Ty) -> Run<Parts> {
        let [starts, lengths, _, pool @ ..] = rows.columns else {
            unreachable!("they are sequences")
        };
        let segments = self.segments(rows.length, lengths.clone())?;
        let offsets = self.offsets(&segments)?;
        let total = segments.total;
        if total == 0 {
            return Ok(Sequence::parts(0, pool.to_vec()));
        }
        if let Some(start) = self.contiguous(starts, lengths, &offsets, rows.length)? {
            return Ok(Sequence::parts(total, self.cut(pool, inner, start)));
        }
        let out = self.picked(rows.length, (offsets, total), starts, pool, inner)?;
        Ok(Sequence::parts(total, out))
    }

    fn partitioned(&self, sequence: Sequence<'_>, counts: Sequence<'_>) -> Done<Parts> {
        let lengths = self.as_lengths(counts.columns[0].clone(), counts.length)?;
        if self
            .outside(FaultCode::Partition, &lengths, counts.length, sequence.length + 1)?
            .is_some()
        {
            return Ok(Err(self.wrong_partition(&lengths, counts.length, sequence.length)?));
        }
        let segments = self.segments(counts.length, lengths.clone())?;
        if segments.total != sequence.length {
            return Ok(Err(self.wrong_partition(&lengths, counts.length, sequence.length)?));
        }
        let starts = Arg::Array(self.offsets(&segments)?, 0);
        let descriptor = [number(counts.length), starts, lengths, number(sequence.length)];
        let all = descriptor.into_iter().chain(sequence.columns.iter().cloned()).collect();
        Ok(Ok(Parts::new(all)))
    }

    fn wrong_partition(&self, counts: &Arg, many: usize, length: usize) -> Run<Fault> {
        let counts = self.read_ints(counts, many)?;
        if let Some(count) = counts.iter().find(|count| **count < 0) {
            return Ok(Fault::with(FaultCode::Partition, format!("a count of {count}")));
        }
        let sum = counts.iter().fold(0i64, |sum, count| sum.saturating_add(*count));
        let words = format!("counts sum to {sum}, length {length}");
        Ok(Fault::with(FaultCode::Partition, words))
    }

    fn permuted(&self, sequence: Sequence<'_>, places: Sequence<'_>, element: &Ty) -> Done<Parts> {
        let (length, code) = (sequence.length, FaultCode::Permute);
        if places.length != length {
            let words = format!("lengths {length} and {}", places.length);
            return Ok(Err(Fault::with(code, words)));
        }
        let to = &places.columns[0];
        if length == 0 {
            return Ok(Ok(Sequence::parts(0, sequence.columns.to_vec())));
        }
        let wrong = self.outside(code, to, length, length)?.is_some();
        if wrong || self.distinct(to, length)? != length {
            let mut seen = vec![false; length];
            for place in self.read_ints(to, length)? {
                match within(code, place, length) {
                    Err(fault) => return Ok(Err(fault)),
                    Ok(at) if std::mem::replace(&mut seen[at], true) => {
                        let words = format!("index {place} occurs twice");
                        return Ok(Err(Fault::with(code, words)));
                    }
                    Ok(_) => {}
                }
            }
        }
        let own = self.own_columns(element);
        let mut out = sequence.columns.to_vec();
        let mut moves = Vec::new();
        for (arg, own) in out.iter_mut().zip(own) {
            if own {
                let to = Arg::Array(self.alloc(array(arg).ty(), length)?, 0);
                moves.push(Moved { from: std::mem::replace(arg, to.clone()), to, add: 0 });
            }
        }
        self.put(to, &moves, length, false)?;
        Ok(Ok(Sequence::parts(length, out)))
    }

    /// The columns of a sequence with other elements at some places, of the same places the last.
    fn overwritten(
        &self,
        sequence: Sequence<'_>,
        places: Arg,
        values: Sequence<'_>,
        element: &Ty,
        own: bool,
    ) -> Run<Vec<Arg>> {
        let (mut old, mut new) = (sequence.columns, values.columns);
        let mut out = Vec::new();
        let mut moves = Vec::new();
        let mut open = vec![element];
        while let Some(ty) = open.pop() {
            match ty {
                Ty::Unit => {}
                Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                    let to = self.writable(&old[0], sequence.length, own)?;
                    moves.push(Moved { from: new[0].clone(), to: to.clone(), add: 0 });
                    out.push(to);
                    (old, new) = (&old[1..], &new[1..]);
                }
                Ty::Pair(first, second) => open.extend([&**second, &**first]),
                Ty::Sequence(inner) => {
                    let all = 3 + lower::columns(inner, self.precision).len();
                    let rows = [(sequence.length, old), (values.length, new)]
                        .map(|(count, columns)| Rows { count, columns: &columns[..all] });
                    let mut pool = self.one_pool(&rows, inner)?;
                    let (from, before) = pool.starts.pop().expect("there are two");
                    let (was, shift) = pool.starts.pop().expect("there are two");
                    // What was there may begin elsewhere now, too.
                    let starts = if shift == 0 && is_same(&was, &old[0]) {
                        self.writable(&old[0], sequence.length, own)?
                    } else {
                        let out = Arg::Array(self.alloc(kir::Ty::I64, sequence.length)?, 0);
                        self.copied(&was, &out, shift, sequence.length)?;
                        out
                    };
                    let lengths = self.writable(&old[1], sequence.length, own)?;
                    moves.push(Moved { from, to: starts.clone(), add: before });
                    moves.push(Moved { from: new[1].clone(), to: lengths.clone(), add: 0 });
                    out.extend([starts, lengths, number(pool.extent)]);
                    out.extend(pool.columns);
                    (old, new) = (&old[all..], &new[all..]);
                }
            }
        }
        self.put(&places, &moves, values.length, true)?;
        Ok(out)
    }

    /// A column that may be written: itself, if nobody else has it.
    pub(super) fn writable(&self, column: &Arg, length: usize, own: bool) -> Run<Arg> {
        let buffer = array(column);
        if own && buffer.is_unique() {
            return Ok(column.clone());
        }
        let out = Arg::Array(self.alloc(buffer.ty(), length)?, 0);
        self.copied(column, &out, 0, length)?;
        Ok(out)
    }

    /// What is wrong if not all of some ints are places of a sequence.
    fn outside(
        &self,
        code: FaultCode,
        ints: &Arg,
        count: usize,
        length: usize,
    ) -> Run<Option<Fault>> {
        let Some((least, most)) = self.extremes(ints, count)? else { return Ok(None) };
        if least >= 0 && (most as u64) < length as u64 {
            return Ok(None);
        }
        let wrong = |int: &i64| within(code, *int, length).err();
        Ok(self.read_ints(ints, count)?.iter().find_map(wrong))
    }
}

/// A place as an index.
fn within(code: FaultCode, place: i64, length: usize) -> Result<usize, Fault> {
    let at = usize::try_from(place).ok().filter(|place| *place < length);
    at.ok_or_else(|| Fault::with(code, format!("index {place}, length {length}")))
}

fn whole_int(arg: &Arg) -> i64 {
    match arg {
        Arg::Scalar(Literal::I64(x)) => *x,
        Arg::Scalar(Literal::I32(x)) => i64::from(*x),
        other => unreachable!("{other:?} is no int"),
    }
}

fn is_same(a: &Arg, b: &Arg) -> bool {
    match (a, b) {
        (Arg::Array(a, i), Arg::Array(b, j)) => a.is_same(b) && i == j,
        _ => false,
    }
}
