//! The operations on sequences.

use super::value::{Builder, Sequence, Value};
use super::{Options, element_of, text};
use crate::ir::Ty;
use crate::prim::{ReduceOp, SeqOp};
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::scalar::{Precision, Scalar, ScalarOp, eval};
use std::cmp::Ordering;
use std::sync::Arc;

/// Applies an operation; `ty` is the type of the result.
pub(super) fn apply(
    op: SeqOp,
    args: &[Value],
    ty: &Ty,
    options: &Options<'_>,
) -> Result<Value, Fault> {
    let fits = |length: usize| {
        if length > options.max_length {
            let detail = format!("a sequence of {length} elements; {} are allowed", options.max_length);
            return Err(Fault::with(FaultCode::OutOfMemory, detail));
        }
        Ok(length)
    };
    let sequence = |s: Sequence| Ok(Value::Sequence(s));
    match op {
        SeqOp::Length => Ok(Value::Int(args[0].elements().len() as i64)),
        SeqOp::Index => {
            let a = args[0].elements();
            let at = place(args[1].int(), a.len(), FaultCode::Index)?;
            Ok(a.get(at))
        }
        SeqOp::Range => {
            let (start, stride, end) = (args[0].int(), args[1].int(), args[2].int());
            if end < start || stride < 1 {
                let detail = format!("[{start}:{end}:{stride}]");
                return Err(Fault::with(FaultCode::Range, detail));
            }
            let span = (end as i128) - (start as i128);
            let count = ((span + (stride as i128) - 1) / (stride as i128)) as usize;
            fits(count)?;
            let ints = (0..count as i64).map(|i| start + i * stride).collect();
            sequence(Sequence::Ints(Arc::new(ints)))
        }
        SeqOp::Dist => {
            let count = length(args[1].int())?;
            fits(count)?;
            let mut out = Builder::new(element_of(ty), count);
            for _ in 0..count {
                out.push(args[0].clone());
            }
            sequence(out.finish())
        }
        SeqOp::Gather => {
            let (a, places) = (args[0].elements(), args[1].elements().ints());
            for i in places {
                place(*i, a.len(), FaultCode::Gather)?;
            }
            sequence(a.gather(places.iter().map(|i| *i as usize)))
        }
        SeqOp::Scatter => {
            let a = args[0].elements();
            let mut values: Vec<Value> = a.iter().collect();
            for write in args[1].elements().iter() {
                let Value::Pair(write) = write else { unreachable!("a write is a pair") };
                let at = place(write.0.int(), a.len(), FaultCode::Scatter)?;
                values[at] = write.1.clone();
            }
            Ok(Value::sequence(element_of(ty), values))
        }
        SeqOp::Replace => {
            let a = args[0].elements();
            let at = place(args[2].int(), a.len(), FaultCode::Replace)?;
            let values = a.iter().enumerate();
            let values = values.map(|(i, v)| if i == at { args[1].clone() } else { v });
            Ok(Value::sequence(element_of(ty), values))
        }
        SeqOp::Permute => {
            let (a, places) = (args[0].elements(), args[1].elements().ints());
            sequence(a.gather(inverse(places, a.len())?.into_iter()))
        }
        SeqOp::Pack => {
            let (a, flags) = (args[0].elements(), args[1].elements().bools());
            same_length(a.len(), flags.len(), FaultCode::PackLength)?;
            sequence(a.gather(flags.iter().enumerate().filter(|(_, f)| **f).map(|(i, _)| i)))
        }
        SeqOp::Append => {
            let (a, b) = (args[0].elements(), args[1].elements());
            fits(a.len() + b.len())?;
            Ok(Value::sequence(element_of(ty), a.iter().chain(b.iter())))
        }
        SeqOp::Flatten => {
            let rows = args[0].elements();
            fits(rows.iter().map(|row| row.elements().len()).sum())?;
            let mut out = Builder::new(element_of(ty), 0);
            for row in rows.iter() {
                row.elements().iter().for_each(|v| out.push(v));
            }
            sequence(out.finish())
        }
        SeqOp::Partition => partition(args[0].elements(), args[1].elements().ints(), ty),
        SeqOp::Subseq => {
            let a = args[0].elements();
            let (start, end) = (args[1].int(), args[2].int());
            if start < 0 || end < start || end > a.len() as i64 {
                let detail = format!("from {start} to {end}, length {}", a.len());
                return Err(Fault::with(FaultCode::Subseq, detail));
            }
            sequence(a.gather(start as usize..end as usize))
        }
        SeqOp::Reduce(op) => Ok(reduce(op, args[0].elements(), ty, options.precision)),
        SeqOp::Scan(op) => {
            let element = element_of(ty);
            let mut out = Builder::new(element, args[0].elements().len());
            let mut total = neutral(op, element, options.precision);
            for value in args[0].elements().iter() {
                let next = combine(op, &total, &value, options.precision);
                out.push(std::mem::replace(&mut total, next));
            }
            sequence(out.finish())
        }
        SeqOp::RankUp => Ok(rank(args[0].elements(), false)),
        SeqOp::RankDown => Ok(rank(args[0].elements(), true)),
        SeqOp::IntText => Ok(Value::text(args[0].int().to_string())),
        SeqOp::FloatText => Ok(Value::text(text::float(float(&args[0])))),
        SeqOp::ExpText => text::exponential(float(&args[0]), args[1].int()).map(Value::text),
        SeqOp::ParseFloat => {
            let (value, whole) = text::parse_float(args[0].bytes());
            let value = match options.precision {
                Precision::Bits32 => f64::from(value as f32),
                Precision::Bits64 => value,
            };
            Ok(Value::pair(Value::Float(value), Value::Bool(whole)))
        }
    }
}

/// The work of an operation by the cost model (LANGUAGE 13.5).
pub(super) fn work(op: SeqOp, args: &[Value], result: &Value) -> u64 {
    match op {
        SeqOp::Length => 1,
        SeqOp::Index
        | SeqOp::Range
        | SeqOp::Dist
        | SeqOp::Gather
        | SeqOp::Subseq
        | SeqOp::Append
        | SeqOp::Flatten
        | SeqOp::Partition
        | SeqOp::Permute
        | SeqOp::IntText
        | SeqOp::FloatText
        | SeqOp::ExpText => result.size(),
        SeqOp::Scatter => args[1].size(),
        SeqOp::Replace => args[1].size(),
        SeqOp::Pack | SeqOp::Reduce(_) | SeqOp::Scan(_) | SeqOp::ParseFloat => args[0].size(),
        SeqOp::RankUp | SeqOp::RankDown => {
            let n = args[0].elements().len() as u64;
            1 + n * u64::from(n.max(2).next_power_of_two().ilog2())
        }
    }
}

/// Whether an operation is a scan or built on one: what `--log-scan` charges more.
pub(super) fn scans(op: SeqOp) -> bool {
    match op {
        SeqOp::Reduce(_) | SeqOp::Scan(_) | SeqOp::Pack | SeqOp::RankUp | SeqOp::RankDown => true,
        SeqOp::Length
        | SeqOp::Index
        | SeqOp::Range
        | SeqOp::Dist
        | SeqOp::Gather
        | SeqOp::Scatter
        | SeqOp::Replace
        | SeqOp::Permute
        | SeqOp::Append
        | SeqOp::Flatten
        | SeqOp::Partition
        | SeqOp::Subseq
        | SeqOp::IntText
        | SeqOp::FloatText
        | SeqOp::ExpText
        | SeqOp::ParseFloat => false,
    }
}

fn float(value: &Value) -> f64 {
    match value {
        Value::Float(x) => *x,
        other => unreachable!("{other:?} is not a float"),
    }
}

fn length(n: i64) -> Result<usize, Fault> {
    usize::try_from(n).map_err(|_| Fault::with(FaultCode::NegativeLength, n.to_string()))
}

fn place(index: i64, length: usize, code: FaultCode) -> Result<usize, Fault> {
    match usize::try_from(index) {
        Ok(at) if at < length => Ok(at),
        _ => Err(Fault::with(code, format!("index {index}, length {length}"))),
    }
}

fn same_length(a: usize, b: usize, code: FaultCode) -> Result<(), Fault> {
    if a == b { Ok(()) } else { Err(Fault::with(code, format!("lengths {a} and {b}"))) }
}

/// Where each place gets its element from, if the destinations are one-to-one.
fn inverse(places: &[i64], length: usize) -> Result<Vec<usize>, Fault> {
    same_length(length, places.len(), FaultCode::Permute)?;
    let mut source = vec![usize::MAX; length];
    for (from, to) in places.iter().enumerate() {
        let to = place(*to, length, FaultCode::Permute)?;
        if source[to] != usize::MAX {
            return Err(Fault::with(FaultCode::Permute, format!("{to} occurs twice")));
        }
        source[to] = from;
    }
    Ok(source)
}

fn partition(a: &Sequence, counts: &[i64], ty: &Ty) -> Result<Value, Fault> {
    let mut rows = Vec::with_capacity(counts.len());
    let mut start = 0usize;
    let wrong = |detail: String| Fault::with(FaultCode::Partition, detail);
    for count in counts {
        let count = usize::try_from(*count).map_err(|_| wrong(format!("a count of {count}")))?;
        let end = start.checked_add(count).filter(|end| *end <= a.len());
        let end = end.ok_or_else(|| wrong(format!("the counts are more than the length {}", a.len())))?;
        rows.push(Value::Sequence(a.gather(start..end)));
        start = end;
    }
    if start != a.len() {
        return Err(wrong(format!("the counts sum to {start}, the length is {}", a.len())));
    }
    Ok(Value::sequence(element_of(ty), rows))
}

/// The neutral element of a reduction: its value on an empty sequence.
fn neutral(op: ReduceOp, element: &Ty, precision: Precision) -> Value {
    let (min, max) = match precision {
        Precision::Bits32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        Precision::Bits64 => (i64::MIN, i64::MAX),
    };
    match (op, element) {
        (ReduceOp::Sum, Ty::Float) => Value::Float(0.0),
        (ReduceOp::Sum, _) => Value::Int(0),
        (ReduceOp::Product, Ty::Float) => Value::Float(1.0),
        (ReduceOp::Product, _) => Value::Int(1),
        (ReduceOp::Max, Ty::Float) => Value::Float(f64::NEG_INFINITY),
        (ReduceOp::Max, Ty::Char) => Value::Char(0),
        (ReduceOp::Max, _) => Value::Int(min),
        (ReduceOp::Min, Ty::Float) => Value::Float(f64::INFINITY),
        (ReduceOp::Min, Ty::Char) => Value::Char(u8::MAX),
        (ReduceOp::Min, _) => Value::Int(max),
        (ReduceOp::And, Ty::Bool) => Value::Bool(true),
        (ReduceOp::And, _) => Value::Int(-1),
        (ReduceOp::Or | ReduceOp::Xor, Ty::Bool) => Value::Bool(false),
        (ReduceOp::Or | ReduceOp::Xor, _) => Value::Int(0),
    }
}

fn reduce(op: ReduceOp, a: &Sequence, ty: &Ty, precision: Precision) -> Value {
    a.iter().fold(neutral(op, ty, precision), |total, value| combine(op, &total, &value, precision))
}

fn combine(op: ReduceOp, total: &Value, value: &Value, precision: Precision) -> Value {
    let op = match op {
        ReduceOp::Sum => ScalarOp::Add,
        ReduceOp::Product => ScalarOp::Mul,
        ReduceOp::Max => ScalarOp::Max,
        ReduceOp::Min => ScalarOp::Min,
        ReduceOp::And => ScalarOp::And,
        ReduceOp::Or => ScalarOp::Or,
        ReduceOp::Xor => ScalarOp::Xor,
    };
    let scalar = |value: &Value| match value {
        Value::Int(v) => Scalar::Int(*v),
        Value::Float(v) => Scalar::Float(*v),
        Value::Bool(v) => Scalar::Bool(*v),
        Value::Char(v) => Scalar::Char(*v),
        other => unreachable!("{other:?} is not a scalar"),
    };
    match eval(op, &[scalar(total), scalar(value)], precision) {
        Ok(Scalar::Int(v)) => Value::Int(v),
        Ok(Scalar::Float(v)) => Value::Float(v),
        Ok(Scalar::Bool(v)) => Value::Bool(v),
        Ok(Scalar::Char(v)) => Value::Char(v),
        Err(code) => unreachable!("{op:?} cannot fail with {code:?}"),
    }
}

/// The place of each element in sorted order; stable, NaNs last in both directions.
fn rank(a: &Sequence, down: bool) -> Value {
    let compare = |x: usize, y: usize| -> Ordering {
        let ascending = match a {
            Sequence::Ints(v) => v[x].cmp(&v[y]),
            Sequence::Chars(v) => v[x].cmp(&v[y]),
            Sequence::Bools(v) => v[x].cmp(&v[y]),
            Sequence::Floats(v) => match (v[x].is_nan(), v[y].is_nan()) {
                (false, false) => v[x].partial_cmp(&v[y]).unwrap_or(Ordering::Equal),
                (nan, other) => return nan.cmp(&other),
            },
            Sequence::Values(_) => unreachable!("only scalars are ranked"),
        };
        if down { ascending.reverse() } else { ascending }
    };
    let mut order: Vec<usize> = (0..a.len()).collect();
    order.sort_by(|x, y| compare(*x, *y));
    let mut ranks = vec![0i64; a.len()];
    for (rank, from) in order.into_iter().enumerate() {
        ranks[from] = rank as i64;
    }
    Value::Sequence(Sequence::Ints(Arc::new(ranks)))
}
