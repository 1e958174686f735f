//! Reductions and scans: left to right, from the neutral element.
//!
//! On an empty sequence a reduction is the neutral element: `max` of no ints is `min_int`, of no
//! floats `-inf`, of no chars the null character. `max` and `min` skip NaNs. Scans are exclusive: element `i` combines the
//! `i` elements before it.

use super::context::{CHUNK, Context};
use super::value::{Sequence, Value};
use crate::ir::Ty;
use crate::prim::ReduceOp;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::scalar::Precision;
use std::sync::Arc;

/// What all elements combine to.
pub(super) fn reduce(
    with: ReduceOp,
    sequence: &Sequence,
    context: &Context<'_>,
) -> Result<Value, Fault> {
    Ok(match sequence {
        Sequence::Ints(xs) => Value::Int(fold(ints(with, context.precision), xs, context)?),
        Sequence::Floats(xs) => Value::Float(fold(floats(with, context.precision), xs, context)?),
        Sequence::Bools(xs) => Value::Bool(fold(bools(with), xs, context)?),
        Sequence::Chars(xs) => Value::Char(fold(chars(with), xs, context)?),
        Sequence::Values(_) => panic!("{with:?} is for scalars"),
    })
}

/// What the elements before each combine to.
pub(super) fn scan(
    with: ReduceOp,
    sequence: &Sequence,
    context: &Context<'_>,
) -> Result<Sequence, Fault> {
    Ok(match sequence {
        Sequence::Ints(xs) => Sequence::Ints(run(ints(with, context.precision), xs, context)?),
        Sequence::Floats(xs) => {
            Sequence::Floats(run(floats(with, context.precision), xs, context)?)
        }
        Sequence::Bools(xs) => Sequence::Bools(run(bools(with), xs, context)?),
        Sequence::Chars(xs) => Sequence::Chars(run(chars(with), xs, context)?),
        Sequence::Values(_) => panic!("{with:?} is for scalars"),
    })
}

/// For each place below a size, the elements that belong there, combined; or those of rows, from
/// the place of the row on.
pub(super) fn histogram(
    with: ReduceOp,
    size: i64,
    places: &[i64],
    values: &Sequence,
    element: &Ty,
    context: &Context<'_>,
) -> Result<Sequence, Fault> {
    if places.len() != values.len() {
        let lengths = format!("lengths {} and {}", values.len(), places.len());
        return Err(Fault::with(FaultCode::NestLength, lengths));
    }
    let precision = context.precision;
    let row = |values: &'_ [Value], i: usize| -> Sequence {
        values[i].as_sequence().expect("a row").clone()
    };
    Ok(match (values, element) {
        (Sequence::Ints(xs), _) => {
            let each = |i: usize, put: &mut dyn FnMut(&[i64])| put(&xs[i..=i]);
            Sequence::Ints(table(ints(with, precision), size, places, &each, context)?)
        }
        (Sequence::Floats(xs), _) => {
            let each = |i: usize, put: &mut dyn FnMut(&[f64])| put(&xs[i..=i]);
            Sequence::Floats(table(floats(with, precision), size, places, &each, context)?)
        }
        (Sequence::Bools(xs), _) => {
            let each = |i: usize, put: &mut dyn FnMut(&[bool])| put(&xs[i..=i]);
            Sequence::Bools(table(bools(with), size, places, &each, context)?)
        }
        (Sequence::Chars(xs), _) => {
            let each = |i: usize, put: &mut dyn FnMut(&[u8])| put(&xs[i..=i]);
            Sequence::Chars(table(chars(with), size, places, &each, context)?)
        }
        (Sequence::Values(rows), Ty::Int) => {
            let each = |i: usize, put: &mut dyn FnMut(&[i64])| {
                put(row(rows, i).as_ints().expect("ints"));
            };
            Sequence::Ints(table(ints(with, precision), size, places, &each, context)?)
        }
        (Sequence::Values(rows), Ty::Float) => {
            let each = |i: usize, put: &mut dyn FnMut(&[f64])| match &row(rows, i) {
                Sequence::Floats(xs) => put(xs),
                other => panic!("{other:?} are no floats"),
            };
            Sequence::Floats(table(floats(with, precision), size, places, &each, context)?)
        }
        (Sequence::Values(rows), Ty::Bool) => {
            let each = |i: usize, put: &mut dyn FnMut(&[bool])| match &row(rows, i) {
                Sequence::Bools(xs) => put(xs),
                other => panic!("{other:?} are no bools"),
            };
            Sequence::Bools(table(bools(with), size, places, &each, context)?)
        }
        (Sequence::Values(rows), Ty::Char) => {
            let each = |i: usize, put: &mut dyn FnMut(&[u8])| {
                put(row(rows, i).as_text().expect("a string"));
            };
            Sequence::Chars(table(chars(with), size, places, &each, context)?)
        }
        (Sequence::Values(_), Ty::Unit | Ty::Pair(..) | Ty::Sequence(_)) => {
            panic!("{with:?} is for scalars")
        }
    })
}

/// Calls its second operand with the elements that the point of a number has.
type Each<'a, T> = &'a dyn Fn(usize, &mut dyn FnMut(&[T]));

fn table<T: Copy>(
    monoid: Monoid<T>,
    size: i64,
    places: &[i64],
    each: Each<'_, T>,
    context: &Context<'_>,
) -> Result<Arc<Vec<T>>, Fault> {
    let mut sums = context.tabulate(i128::from(size.max(0)), |_| monoid.neutral)?;
    for (i, place) in places.iter().enumerate() {
        if i % CHUNK == 0 {
            context.poll()?;
        }
        let Ok(place) = usize::try_from(*place) else { continue };
        each(i, &mut |row| {
            let fits = place.checked_add(row.len()).and_then(|end| sums.get_mut(place..end));
            for (sum, x) in fits.into_iter().flatten().zip(row) {
                *sum = (monoid.combine)(*sum, *x);
            }
        });
    }
    Ok(Arc::new(sums))
}

/// A neutral element and how to combine.
struct Monoid<T> {
    neutral: T,
    combine: fn(T, T) -> T,
}

fn fold<T: Copy>(monoid: Monoid<T>, xs: &[T], context: &Context<'_>) -> Result<T, Fault> {
    let mut sum = monoid.neutral;
    for chunk in xs.chunks(CHUNK) {
        context.poll()?;
        for x in chunk {
            sum = (monoid.combine)(sum, *x);
        }
    }
    Ok(sum)
}

fn run<T: Copy>(monoid: Monoid<T>, xs: &[T], context: &Context<'_>) -> Result<Arc<Vec<T>>, Fault> {
    let mut sum = monoid.neutral;
    let sums = context.tabulate(xs.len() as i128, |i| {
        let before = sum;
        sum = (monoid.combine)(sum, xs[i]);
        before
    })?;
    Ok(Arc::new(sums))
}

fn ints(with: ReduceOp, precision: Precision) -> Monoid<i64> {
    let (neutral, combine): (i64, fn(i64, i64) -> i64) = match (with, precision) {
        (ReduceOp::Sum, Precision::Bits64) => (0, |a, b| a.wrapping_add(b)),
        (ReduceOp::Product, Precision::Bits64) => (1, |a, b| a.wrapping_mul(b)),
        // Operands are in range, so nothing is lost before the wrap.
        (ReduceOp::Sum, Precision::Bits32) => (0, |a, b| i64::from((a + b) as i32)),
        (ReduceOp::Product, Precision::Bits32) => (1, |a, b| i64::from((a * b) as i32)),
        (ReduceOp::Max, _) => (precision.min_int(), i64::max),
        (ReduceOp::Min, _) => (precision.max_int(), i64::min),
        (ReduceOp::And, _) => (-1, |a, b| a & b),
        (ReduceOp::Or, _) => (0, |a, b| a | b),
        (ReduceOp::Xor, _) => (0, |a, b| a ^ b),
    };
    Monoid { neutral, combine }
}

fn floats(with: ReduceOp, precision: Precision) -> Monoid<f64> {
    let (neutral, combine): (f64, fn(f64, f64) -> f64) = match (with, precision) {
        (ReduceOp::Sum, Precision::Bits64) => (0.0, |a, b| a + b),
        (ReduceOp::Product, Precision::Bits64) => (1.0, |a, b| a * b),
        (ReduceOp::Sum, Precision::Bits32) => (0.0, |a, b| f64::from(a as f32 + b as f32)),
        (ReduceOp::Product, Precision::Bits32) => (1.0, |a, b| f64::from(a as f32 * b as f32)),
        // A NaN is skipped, so that grouping makes no difference.
        (ReduceOp::Max, _) => (f64::NEG_INFINITY, |a, b| if b > a { b } else { a }),
        (ReduceOp::Min, _) => (f64::INFINITY, |a, b| if b < a { b } else { a }),
        (ReduceOp::And | ReduceOp::Or | ReduceOp::Xor, _) => panic!("{with:?} is not for floats"),
    };
    Monoid { neutral, combine }
}

fn bools(with: ReduceOp) -> Monoid<bool> {
    let (neutral, combine): (bool, fn(bool, bool) -> bool) = match with {
        ReduceOp::And => (true, |a, b| a & b),
        ReduceOp::Or => (false, |a, b| a | b),
        ReduceOp::Xor => (false, |a, b| a ^ b),
        ReduceOp::Sum | ReduceOp::Product | ReduceOp::Max | ReduceOp::Min => {
            panic!("{with:?} is not for bools")
        }
    };
    Monoid { neutral, combine }
}

fn chars(with: ReduceOp) -> Monoid<u8> {
    let (neutral, combine): (u8, fn(u8, u8) -> u8) = match with {
        ReduceOp::Max => (u8::MIN, u8::max),
        ReduceOp::Min => (u8::MAX, u8::min),
        ReduceOp::Sum | ReduceOp::Product | ReduceOp::And | ReduceOp::Or | ReduceOp::Xor => {
            panic!("{with:?} is not for chars")
        }
    };
    Monoid { neutral, combine }
}
