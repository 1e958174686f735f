//! Sequence operations: those that move elements here, those that combine or compare them by way of
//! `reduce` and `rank`.
//!
//! Each function is one operation of the table of primitives and checks its operands: lengths and
//! indices out of bounds are faults. The types of operands were checked (see `typed`).

use super::limits::Limits;
use super::value::{Sequence, SequenceBuilder, Value};
use super::{rank, reduce};
use crate::ir::Ty;
use crate::prim::SeqOp;
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::scalar::Precision;
use nesl_runtime::services::groups::groups_into;
use nesl_runtime::services::sort::Order;
use nesl_runtime::services::text;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Applies an operation to its operands; `result` is the type of its result.
pub(super) fn apply(
    op: SeqOp,
    args: &[Value],
    result: &Ty,
    limits: &Limits<'_>,
) -> Result<Value, Fault> {
    let sequence = match op {
        SeqOp::Length => return Ok(Value::Int(args[0].elements().len() as i64)),
        SeqOp::Index => return index(args[0].elements(), args[1].int()),
        SeqOp::Range => range(args[0].int(), args[1].int(), args[2].int(), limits)?,
        SeqOp::Dist => dist(&args[0], args[1].int(), limits)?,
        SeqOp::Gather => gather(args[0].elements(), args[1].elements().ints(), limits)?,
        SeqOp::Scatter => scatter(args[0].elements(), args[1].elements(), limits)?,
        SeqOp::Replace => replace(args[0].elements(), &args[1], args[2].int(), limits)?,
        SeqOp::Permute => permute(args[0].elements(), args[1].elements().ints(), limits)?,
        SeqOp::Pack => pack(args[0].elements(), &args[1], limits)?,
        SeqOp::Append => append(args[0].elements(), args[1].elements(), limits)?,
        SeqOp::Flatten => flatten(args[0].elements(), result, limits)?,
        SeqOp::Partition => partition(args[0].elements(), args[1].elements().ints(), limits)?,
        SeqOp::Subseq => subseq(args[0].elements(), args[1].int(), args[2].int(), limits)?,
        SeqOp::Reduce(with) => return reduce::reduce(with, args[0].elements(), limits),
        SeqOp::Scan(with) => reduce::scan(with, args[0].elements(), limits)?,
        SeqOp::Histogram(with) => {
            let element = result.element().or_bug("a histogram gives a sequence");
            let (bins, values) = (args[1].elements().ints(), args[2].elements());
            reduce::histogram(with, args[0].int(), bins, values, element, limits)?
        }
        SeqOp::RankUp => rank::rank(args[0].elements(), Order::Up, limits)?,
        SeqOp::RankDown => rank::rank(args[0].elements(), Order::Down, limits)?,
        SeqOp::RankTexts => rank_texts(args[0].elements(), limits)?,
        SeqOp::Groups => return groups(args[0].elements(), limits),
        SeqOp::Distinct => {
            let none = || Value::Sequence(Sequence::Ints(Arc::new(Vec::new())));
            return Ok(Value::pair(Value::pair(none(), none()), Value::Bool(false)));
        }
        SeqOp::HashText => {
            let hash = text::hash(args[0].bytes(), args[1].int());
            return Ok(Value::Int(match limits.precision {
                Precision::Bits64 => hash,
                Precision::Bits32 => i64::from(hash as i32),
            }));
        }
        SeqOp::SameText => return Ok(Value::Bool(args[0].bytes() == args[1].bytes())),
        SeqOp::IntText => Sequence::text(args[0].int().to_string()),
        SeqOp::FloatText => Sequence::text(text::float(args[0].float(), limits.precision)),
        SeqOp::ExpText => Sequence::text(text::exponential(args[0].float(), args[1].int())?),
        SeqOp::ParseFloat => {
            let (value, all) = text::parse_float(args[0].bytes(), limits.precision);
            return Ok(Value::pair(Value::Float(value), Value::Bool(all)));
        }
    };
    Ok(Value::Sequence(sequence))
}

/// The rank of each text.
fn rank_texts(texts: &Sequence, limits: &Limits<'_>) -> Result<Sequence, Fault> {
    let texts: Vec<Value> = texts.iter().collect();
    let mut ranks = limits.allocate(texts.len() as i128)?;
    let ranked = text::rank_into(&texts, |text| text.bytes(), &mut ranks, &limits.this_thread());
    ranked?;
    Ok(Sequence::Ints(Arc::new(ranks)))
}

/// Groups equal elements: for each element, the index of the last one equal to it, and the number of
/// elements equal to it.
fn groups(elements: &Sequence, limits: &Limits<'_>) -> Result<Value, Fault> {
    let (mut last, mut count) =
        (limits.allocate(elements.len() as i128)?, limits.allocate(elements.len() as i128)?);
    if let Sequence::Ints(ints) = elements {
        groups_into(&ints[..], &mut last, &mut count, &limits.this_thread())?;
    } else {
        let mut groups: FxHashMap<Vec<u8>, (i64, i64)> = FxHashMap::default();
        for (index, text) in elements.iter().enumerate() {
            let group = groups.entry(text.bytes().to_vec()).or_default();
            *group = (index as i64, group.1 + 1);
        }
        for text in elements.iter() {
            let found = groups[text.bytes()];
            last.push(found.0);
            count.push(found.1);
        }
    }
    let [last, count] = [last, count].map(|all| Value::Sequence(Sequence::Ints(Arc::new(all))));
    Ok(Value::pair(last, count))
}

/// The element `sequence[index]`.
fn index(sequence: &Sequence, index: i64) -> Result<Value, Fault> {
    usize::try_from(index)
        .ok()
        .and_then(|index| sequence.get(index))
        .ok_or_else(|| outside(FaultCode::Index, index, sequence.len()))
}

/// The ints `[start:end:stride]`.
fn range(start: i64, stride: i64, end: i64, limits: &Limits<'_>) -> Result<Sequence, Fault> {
    if end < start || stride < 1 {
        return Err(Fault::with(FaultCode::Range, format!("[{start}:{end}:{stride}]")));
    }
    let distance = i128::from(end) - i128::from(start);
    let stride = i128::from(stride);
    let length = (distance + stride - 1) / stride;
    let element = |i: usize| (i128::from(start) + i as i128 * stride) as i64;
    Ok(Sequence::Ints(Arc::new(limits.tabulate(length, element)?)))
}

/// A sequence of `length` copies of `value`.
fn dist(value: &Value, length: i64, limits: &Limits<'_>) -> Result<Sequence, Fault> {
    if length < 0 {
        return Err(Fault::with(FaultCode::NegativeLength, format!("length {length}")));
    }
    let n = i128::from(length);
    Ok(match value {
        Value::Int(x) => Sequence::Ints(Arc::new(limits.tabulate(n, |_| *x)?)),
        Value::Float(x) => Sequence::Floats(Arc::new(limits.tabulate(n, |_| *x)?)),
        Value::Bool(x) => Sequence::Bools(Arc::new(limits.tabulate(n, |_| *x)?)),
        Value::Char(x) => Sequence::Chars(Arc::new(limits.tabulate(n, |_| *x)?)),
        x @ (Value::Unit | Value::Pair(_) | Value::Sequence(_)) => {
            Sequence::Values(Arc::new(limits.tabulate(n, |_| x.clone())?))
        }
    })
}

/// The gather `sequence -> indices`.
fn gather(sequence: &Sequence, indices: &[i64], limits: &Limits<'_>) -> Result<Sequence, Fault> {
    let length = sequence.len();
    for index in indices {
        within(FaultCode::Gather, *index, length)?;
    }
    take(sequence, indices.len(), |i| indices[i] as usize, limits)
}

/// The scatter `sequence <- writes`: of several writes to one index the last one wins.
fn scatter(sequence: &Sequence, writes: &Sequence, limits: &Limits<'_>) -> Result<Sequence, Fault> {
    let mut result = copy(sequence, limits)?;
    for write in writes.iter() {
        let (index, value) = write.components();
        let index = within(FaultCode::Scatter, index.int(), sequence.len())?;
        result.set(index, value);
    }
    Ok(result)
}

/// The replacement `rep(sequence, value, index)`.
fn replace(
    sequence: &Sequence,
    value: &Value,
    index: i64,
    limits: &Limits<'_>,
) -> Result<Sequence, Fault> {
    let index = within(FaultCode::Replace, index, sequence.len())?;
    let mut result = copy(sequence, limits)?;
    result.set(index, value);
    Ok(result)
}

/// Moves element `k` to index `indices[k]`; every index must occur once.
fn permute(sequence: &Sequence, indices: &[i64], limits: &Limits<'_>) -> Result<Sequence, Fault> {
    let length = sequence.len();
    if indices.len() != length {
        return Err(lengths(FaultCode::Permute, length, indices.len()));
    }
    // The inverse permutation: the index that the element for each index comes from.
    const UNSET: usize = usize::MAX;
    let mut sources = limits.tabulate(length as i128, |_| UNSET)?;
    for (k, index) in indices.iter().enumerate() {
        let source = &mut sources[within(FaultCode::Permute, *index, length)?];
        if *source != UNSET {
            return Err(Fault::with(FaultCode::Permute, format!("index {index} occurs twice")));
        }
        *source = k;
    }
    take(sequence, length, |i| sources[i], limits)
}

/// Keeps the elements whose flag is true.
fn pack(sequence: &Sequence, flags: &Value, limits: &Limits<'_>) -> Result<Sequence, Fault> {
    let flags = flags.elements().bools();
    if flags.len() != sequence.len() {
        return Err(lengths(FaultCode::PackLength, sequence.len(), flags.len()));
    }
    let kept = flags.iter().filter(|flag| **flag).count();
    let mut chosen = flags.iter().enumerate().filter_map(|(i, flag)| flag.then_some(i));
    let next = |_| chosen.next().or_bug("as many flags are true as were counted");
    take(sequence, kept, next, limits)
}

/// The concatenation `a ++ b`.
fn append(a: &Sequence, b: &Sequence, limits: &Limits<'_>) -> Result<Sequence, Fault> {
    fn join<T: Clone>(a: &[T], b: &[T], limits: &Limits<'_>) -> Result<Arc<Vec<T>>, Fault> {
        let mut result = limits.allocate(a.len() as i128 + b.len() as i128)?;
        result.extend_from_slice(a);
        result.extend_from_slice(b);
        Ok(Arc::new(result))
    }
    Ok(match (a, b) {
        (Sequence::Ints(a), Sequence::Ints(b)) => Sequence::Ints(join(a, b, limits)?),
        (Sequence::Floats(a), Sequence::Floats(b)) => Sequence::Floats(join(a, b, limits)?),
        (Sequence::Bools(a), Sequence::Bools(b)) => Sequence::Bools(join(a, b, limits)?),
        (Sequence::Chars(a), Sequence::Chars(b)) => Sequence::Chars(join(a, b, limits)?),
        (Sequence::Values(a), Sequence::Values(b)) => Sequence::Values(join(a, b, limits)?),
        (a, b) => bug!("`++` applies to sequences of one type, not to {a:?} and {b:?}"),
    })
}

/// Concatenates the segments of a nested sequence.
fn flatten(sequence: &Sequence, result: &Ty, limits: &Limits<'_>) -> Result<Sequence, Fault> {
    let element = result.element().or_bug("flattening gives a sequence");
    let total = sequence.segments().map(|segment| segment.len() as i128).sum();
    // Only checks the limits: the builder allocates for itself.
    drop(limits.allocate::<u8>(total)?);
    let mut builder = SequenceBuilder::new(element, total as usize);
    for segment in sequence.segments() {
        limits.poll()?;
        builder.extend(segment);
    }
    Ok(builder.finish())
}

/// Splits a sequence into consecutive segments of the given lengths.
fn partition(sequence: &Sequence, counts: &[i64], limits: &Limits<'_>) -> Result<Sequence, Fault> {
    if let Some(count) = counts.iter().find(|count| **count < 0) {
        return Err(Fault::with(FaultCode::Partition, format!("a count of {count}")));
    }
    let sum = counts.iter().fold(0i64, |sum, count| sum.saturating_add(*count));
    if sum != sequence.len() as i64 {
        return Err(Fault::with(
            FaultCode::Partition,
            format!("counts sum to {sum}, length {}", sequence.len()),
        ));
    }
    let mut segments = limits.allocate(counts.len() as i128)?;
    let mut start = 0;
    for count in counts {
        let count = *count as usize;
        let segment = take(sequence, count, |i| start + i, limits)?;
        segments.push(Value::Sequence(segment));
        start += count;
    }
    Ok(Sequence::Values(Arc::new(segments)))
}

/// The elements from `start` up to `end`.
fn subseq(
    sequence: &Sequence,
    start: i64,
    end: i64,
    limits: &Limits<'_>,
) -> Result<Sequence, Fault> {
    let length = sequence.len();
    if !(0 <= start && start <= end && end as u64 <= length as u64) {
        return Err(Fault::with(
            FaultCode::Subseq,
            format!("from {start} to {end}, length {length}"),
        ));
    }
    let start = start as usize;
    take(sequence, end as usize - start, |i| start + i, limits)
}

/// Makes a sequence of `length` elements, the i-th from index `source(i)`; `source` is called in order.
fn take(
    sequence: &Sequence,
    length: usize,
    mut source: impl FnMut(usize) -> usize,
    limits: &Limits<'_>,
) -> Result<Sequence, Fault> {
    let n = length as i128;
    Ok(match sequence {
        Sequence::Ints(xs) => Sequence::Ints(Arc::new(limits.tabulate(n, |i| xs[source(i)])?)),
        Sequence::Floats(xs) => Sequence::Floats(Arc::new(limits.tabulate(n, |i| xs[source(i)])?)),
        Sequence::Bools(xs) => Sequence::Bools(Arc::new(limits.tabulate(n, |i| xs[source(i)])?)),
        Sequence::Chars(xs) => Sequence::Chars(Arc::new(limits.tabulate(n, |i| xs[source(i)])?)),
        Sequence::Values(xs) => {
            Sequence::Values(Arc::new(limits.tabulate(n, |i| xs[source(i)].clone())?))
        }
    })
}

/// A copy that shares no storage.
fn copy(sequence: &Sequence, limits: &Limits<'_>) -> Result<Sequence, Fault> {
    take(sequence, sequence.len(), |i| i, limits)
}

/// Checks that an index is within the bounds of a sequence of some length.
fn within(code: FaultCode, index: i64, length: usize) -> Result<usize, Fault> {
    usize::try_from(index)
        .ok()
        .filter(|index| *index < length)
        .ok_or_else(|| outside(code, index, length))
}

/// The fault of an index out of bounds.
fn outside(code: FaultCode, index: i64, length: usize) -> Fault {
    Fault::with(code, format!("index {index}, length {length}"))
}

/// The fault of two lengths that should be equal.
pub(super) fn lengths(code: FaultCode, first: usize, second: usize) -> Fault {
    Fault::with(code, format!("lengths {first} and {second}"))
}
