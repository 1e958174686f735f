//! Sequence operations that move elements about.

use super::context::Context;
use super::value::{Builder, Sequence, Value};
use super::{rank, reduce};
use crate::ir::Ty;
use crate::prim::SeqOp;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::scalar::Precision;
use nesl_runtime::services::groups::groups_into;
use nesl_runtime::services::sort::Order;
use nesl_runtime::services::text;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Applies an operation; `result` is the type of what it gives.
pub(super) fn apply(
    op: SeqOp,
    args: &[Value],
    result: &Ty,
    context: &Context<'_>,
) -> Result<Value, Fault> {
    let sequence = match op {
        SeqOp::Length => return Ok(Value::Int(seq(&args[0]).len() as i64)),
        SeqOp::Index => return index(seq(&args[0]), int(&args[1])),
        SeqOp::Range => range(int(&args[0]), int(&args[1]), int(&args[2]), context)?,
        SeqOp::Dist => dist(&args[0], int(&args[1]), context)?,
        SeqOp::Gather => gather(seq(&args[0]), ints(&args[1]), context)?,
        SeqOp::Scatter => scatter(seq(&args[0]), seq(&args[1]), context)?,
        SeqOp::Replace => replace(seq(&args[0]), &args[1], int(&args[2]), context)?,
        SeqOp::Permute => permute(seq(&args[0]), ints(&args[1]), context)?,
        SeqOp::Pack => pack(seq(&args[0]), &args[1], context)?,
        SeqOp::Append => append(seq(&args[0]), seq(&args[1]), context)?,
        SeqOp::Flatten => flatten(seq(&args[0]), result, context)?,
        SeqOp::Partition => partition(seq(&args[0]), ints(&args[1]), context)?,
        SeqOp::Subseq => subseq(seq(&args[0]), int(&args[1]), int(&args[2]), context)?,
        SeqOp::Reduce(with) => return reduce::reduce(with, seq(&args[0]), context),
        SeqOp::Scan(with) => reduce::scan(with, seq(&args[0]), context)?,
        SeqOp::Histogram(with) => {
            let element = result.element().expect("a sequence");
            let (places, values) = (ints(&args[1]), seq(&args[2]));
            reduce::histogram(with, int(&args[0]), places, values, element, context)?
        }
        SeqOp::RankUp => rank::rank(seq(&args[0]), Order::Up, context)?,
        SeqOp::RankDown => rank::rank(seq(&args[0]), Order::Down, context)?,
        SeqOp::Groups => return groups(seq(&args[0]), context),
        SeqOp::HashText => {
            let hash = text::hash(chars(&args[0]), int(&args[1]));
            return Ok(Value::Int(match context.precision {
                Precision::Bits64 => hash,
                Precision::Bits32 => i64::from(hash as i32),
            }));
        }
        SeqOp::SameText => return Ok(Value::Bool(chars(&args[0]) == chars(&args[1]))),
        SeqOp::IntText => Sequence::text(int(&args[0]).to_string()),
        SeqOp::FloatText => Sequence::text(text::float(float(&args[0]))),
        SeqOp::ExpText => Sequence::text(text::exponential(float(&args[0]), int(&args[1]))?),
        SeqOp::ParseFloat => {
            let (value, all) = text::parse_float(chars(&args[0]), context.precision);
            return Ok(Value::pair(Value::Float(value), Value::Bool(all)));
        }
    };
    Ok(Value::Sequence(sequence))
}

/// For each element, the place of the last one equal to it, and how many these are.
fn groups(elements: &Sequence, context: &Context<'_>) -> Result<Value, Fault> {
    let (mut last, mut count) =
        (context.room(elements.len() as i128)?, context.room(elements.len() as i128)?);
    if let Sequence::Ints(ints) = elements {
        groups_into(&ints[..], &mut last, &mut count, &context.alone())?;
    } else {
        let mut known: FxHashMap<Vec<u8>, (i64, i64)> = FxHashMap::default();
        for (place, text) in elements.iter().enumerate() {
            let group = known.entry(chars(&text).to_vec()).or_default();
            *group = (place as i64, group.1 + 1);
        }
        for text in elements.iter() {
            let found = known[chars(&text)];
            last.push(found.0);
            count.push(found.1);
        }
    }
    let [last, count] = [last, count].map(|all| Value::Sequence(Sequence::Ints(Arc::new(all))));
    Ok(Value::pair(last, count))
}

fn chars(value: &Value) -> &[u8] {
    seq(value).as_text().expect("a string")
}

/// `sequence[index]`
fn index(sequence: &Sequence, index: i64) -> Result<Value, Fault> {
    usize::try_from(index)
        .ok()
        .and_then(|place| sequence.get(place))
        .ok_or_else(|| outside(FaultCode::Index, index, sequence.len()))
}

/// `[start:end:stride]`
fn range(start: i64, stride: i64, end: i64, context: &Context<'_>) -> Result<Sequence, Fault> {
    if end < start || stride < 1 {
        return Err(Fault::with(FaultCode::Range, format!("[{start}:{end}:{stride}]")));
    }
    let distance = i128::from(end) - i128::from(start);
    let stride = i128::from(stride);
    let length = (distance + stride - 1) / stride;
    let element = |i: usize| (i128::from(start) + i as i128 * stride) as i64;
    Ok(Sequence::Ints(Arc::new(context.tabulate(length, element)?)))
}

/// `length` copies of `value`
fn dist(value: &Value, length: i64, context: &Context<'_>) -> Result<Sequence, Fault> {
    if length < 0 {
        return Err(Fault::with(FaultCode::NegativeLength, format!("length {length}")));
    }
    let n = i128::from(length);
    Ok(match value {
        Value::Int(x) => Sequence::Ints(Arc::new(context.tabulate(n, |_| *x)?)),
        Value::Float(x) => Sequence::Floats(Arc::new(context.tabulate(n, |_| *x)?)),
        Value::Bool(x) => Sequence::Bools(Arc::new(context.tabulate(n, |_| *x)?)),
        Value::Char(x) => Sequence::Chars(Arc::new(context.tabulate(n, |_| *x)?)),
        x @ (Value::Unit | Value::Pair(_) | Value::Sequence(_)) => {
            Sequence::Values(Arc::new(context.tabulate(n, |_| x.clone())?))
        }
    })
}

/// `sequence -> places`
fn gather(sequence: &Sequence, places: &[i64], context: &Context<'_>) -> Result<Sequence, Fault> {
    let length = sequence.len();
    for place in places {
        within(FaultCode::Gather, *place, length)?;
    }
    take(sequence, places.len(), |i| places[i] as usize, context)
}

/// `sequence <- writes`: where two writes meet, the last one wins.
fn scatter(
    sequence: &Sequence,
    writes: &Sequence,
    context: &Context<'_>,
) -> Result<Sequence, Fault> {
    let mut result = copy(sequence, context)?;
    for write in writes.iter() {
        let (place, value) = write.as_pair().expect("a write is a pair");
        let place = within(FaultCode::Scatter, int(place), sequence.len())?;
        result.set(place, value);
    }
    Ok(result)
}

/// `rep(sequence, value, place)`
fn replace(
    sequence: &Sequence,
    value: &Value,
    place: i64,
    context: &Context<'_>,
) -> Result<Sequence, Fault> {
    let place = within(FaultCode::Replace, place, sequence.len())?;
    let mut result = copy(sequence, context)?;
    result.set(place, value);
    Ok(result)
}

/// Element `k` goes to place `places[k]`; every place is hit once.
fn permute(sequence: &Sequence, places: &[i64], context: &Context<'_>) -> Result<Sequence, Fault> {
    let length = sequence.len();
    if places.len() != length {
        return Err(lengths(FaultCode::Permute, length, places.len()));
    }
    // Where each place's element comes from.
    const NOWHERE: usize = usize::MAX;
    let mut sources = context.tabulate(length as i128, |_| NOWHERE)?;
    for (k, place) in places.iter().enumerate() {
        let source = &mut sources[within(FaultCode::Permute, *place, length)?];
        if *source != NOWHERE {
            return Err(Fault::with(FaultCode::Permute, format!("index {place} occurs twice")));
        }
        *source = k;
    }
    take(sequence, length, |i| sources[i], context)
}

/// The elements whose flag is true.
fn pack(sequence: &Sequence, flags: &Value, context: &Context<'_>) -> Result<Sequence, Fault> {
    let flags = seq(flags).as_bools().expect("flags are bools");
    if flags.len() != sequence.len() {
        return Err(lengths(FaultCode::PackLength, sequence.len(), flags.len()));
    }
    let kept = flags.iter().filter(|flag| **flag).count();
    let mut chosen = flags.iter().enumerate().filter_map(|(i, flag)| flag.then_some(i));
    let next = |_| chosen.next().expect("as many as were counted");
    take(sequence, kept, next, context)
}

/// `a ++ b`
fn append(a: &Sequence, b: &Sequence, context: &Context<'_>) -> Result<Sequence, Fault> {
    fn join<T: Clone>(a: &[T], b: &[T], context: &Context<'_>) -> Result<Arc<Vec<T>>, Fault> {
        let mut result = context.room(a.len() as i128 + b.len() as i128)?;
        result.extend_from_slice(a);
        result.extend_from_slice(b);
        Ok(Arc::new(result))
    }
    Ok(match (a, b) {
        (Sequence::Ints(a), Sequence::Ints(b)) => Sequence::Ints(join(a, b, context)?),
        (Sequence::Floats(a), Sequence::Floats(b)) => Sequence::Floats(join(a, b, context)?),
        (Sequence::Bools(a), Sequence::Bools(b)) => Sequence::Bools(join(a, b, context)?),
        (Sequence::Chars(a), Sequence::Chars(b)) => Sequence::Chars(join(a, b, context)?),
        (Sequence::Values(a), Sequence::Values(b)) => Sequence::Values(join(a, b, context)?),
        (a, b) => panic!("sequences of two kinds: {a:?}, {b:?}"),
    })
}

/// One level of nesting less.
fn flatten(sequence: &Sequence, result: &Ty, context: &Context<'_>) -> Result<Sequence, Fault> {
    let Ty::Sequence(element) = result else {
        panic!("flattening gives a sequence, not {result}");
    };
    let parts = match sequence {
        Sequence::Values(parts) => parts,
        other => panic!("not nested: {other:?}"),
    };
    let total = parts.iter().map(|part| seq(part).len() as i128).sum();
    // Only the check: the builder makes its own room.
    drop(context.room::<u8>(total)?);
    let mut builder = Builder::new(element, total as usize);
    for part in parts.iter() {
        context.poll()?;
        builder.extend(seq(part));
    }
    Ok(builder.finish())
}

/// Consecutive pieces of the given lengths.
fn partition(
    sequence: &Sequence,
    counts: &[i64],
    context: &Context<'_>,
) -> Result<Sequence, Fault> {
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
    let mut pieces = context.room(counts.len() as i128)?;
    let mut start = 0;
    for count in counts {
        let count = *count as usize;
        let piece = take(sequence, count, |i| start + i, context)?;
        pieces.push(Value::Sequence(piece));
        start += count;
    }
    Ok(Sequence::Values(Arc::new(pieces)))
}

/// The elements from `start` up to `end`.
fn subseq(
    sequence: &Sequence,
    start: i64,
    end: i64,
    context: &Context<'_>,
) -> Result<Sequence, Fault> {
    let length = sequence.len();
    if !(0 <= start && start <= end && end as u64 <= length as u64) {
        return Err(Fault::with(
            FaultCode::Subseq,
            format!("from {start} to {end}, length {length}"),
        ));
    }
    let start = start as usize;
    take(sequence, end as usize - start, |i| start + i, context)
}

/// `length` elements of a sequence, the i-th from place `source(i)`, asked for in order.
fn take(
    sequence: &Sequence,
    length: usize,
    mut source: impl FnMut(usize) -> usize,
    context: &Context<'_>,
) -> Result<Sequence, Fault> {
    let n = length as i128;
    Ok(match sequence {
        Sequence::Ints(xs) => Sequence::Ints(Arc::new(context.tabulate(n, |i| xs[source(i)])?)),
        Sequence::Floats(xs) => Sequence::Floats(Arc::new(context.tabulate(n, |i| xs[source(i)])?)),
        Sequence::Bools(xs) => Sequence::Bools(Arc::new(context.tabulate(n, |i| xs[source(i)])?)),
        Sequence::Chars(xs) => Sequence::Chars(Arc::new(context.tabulate(n, |i| xs[source(i)])?)),
        Sequence::Values(xs) => {
            Sequence::Values(Arc::new(context.tabulate(n, |i| xs[source(i)].clone())?))
        }
    })
}

/// A copy that shares nothing.
fn copy(sequence: &Sequence, context: &Context<'_>) -> Result<Sequence, Fault> {
    take(sequence, sequence.len(), |i| i, context)
}

/// `place` as an index into a sequence of some length.
fn within(code: FaultCode, place: i64, length: usize) -> Result<usize, Fault> {
    usize::try_from(place)
        .ok()
        .filter(|place| *place < length)
        .ok_or_else(|| outside(code, place, length))
}

fn outside(code: FaultCode, place: i64, length: usize) -> Fault {
    Fault::with(code, format!("index {place}, length {length}"))
}

/// Two lengths that should be equal.
pub(super) fn lengths(code: FaultCode, first: usize, second: usize) -> Fault {
    Fault::with(code, format!("lengths {first} and {second}"))
}

fn seq(value: &Value) -> &Sequence {
    value.as_sequence().expect("a sequence")
}

fn ints(value: &Value) -> &[i64] {
    seq(value).as_ints().expect("ints")
}

fn int(value: &Value) -> i64 {
    value.as_int().expect("an int")
}

fn float(value: &Value) -> f64 {
    value.as_float().expect("a float")
}
