//! Reductions, scans and histograms: left to right, from the neutral element.
//!
//! The reduction of an empty sequence is the neutral element: `max` of no ints is `min_int`, of no
//! floats `-inf`, of no chars the null character. `max` and `min` skip NaNs. Scans are exclusive:
//! element `i` of the result combines the `i` elements before it.

use super::limits::{INTERRUPT_CHECK_ELEMENTS, Limits};
use super::value::{Sequence, Value};
use crate::ir::Ty;
use crate::prim::ReduceOp;
use nesl_runtime::bug;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::scalar::Precision;
use std::sync::Arc;

/// Combines all elements.
pub(super) fn reduce(
    with: ReduceOp,
    sequence: &Sequence,
    limits: &Limits<'_>,
) -> Result<Value, Fault> {
    Ok(match sequence {
        Sequence::Ints(xs) => Value::Int(fold(ints(with, limits.precision), xs, limits)?),
        Sequence::Floats(xs) => Value::Float(fold(floats(with, limits.precision), xs, limits)?),
        Sequence::Bools(xs) => Value::Bool(fold(bools(with), xs, limits)?),
        Sequence::Chars(xs) => Value::Char(fold(chars(with), xs, limits)?),
        Sequence::Values(_) => bug!("{with:?} combines scalars"),
    })
}

/// Combines, for each element, the elements before it: an exclusive scan.
pub(super) fn scan(
    with: ReduceOp,
    sequence: &Sequence,
    limits: &Limits<'_>,
) -> Result<Sequence, Fault> {
    Ok(match sequence {
        Sequence::Ints(xs) => Sequence::Ints(prefixes(ints(with, limits.precision), xs, limits)?),
        Sequence::Floats(xs) => {
            Sequence::Floats(prefixes(floats(with, limits.precision), xs, limits)?)
        }
        Sequence::Bools(xs) => Sequence::Bools(prefixes(bools(with), xs, limits)?),
        Sequence::Chars(xs) => Sequence::Chars(prefixes(chars(with), xs, limits)?),
        Sequence::Values(_) => bug!("{with:?} combines scalars"),
    })
}

/// Makes a sequence of `size` bins and combines into bin `bins[i]` the value `values[i]`. If the
/// values are rows, element `j` of row `i` goes to bin `bins[i] + j`. A value whose bins are not all
/// below `size` is dropped.
pub(super) fn histogram(
    with: ReduceOp,
    size: i64,
    bins: &[i64],
    values: &Sequence,
    element: &Ty,
    limits: &Limits<'_>,
) -> Result<Sequence, Fault> {
    if bins.len() != values.len() {
        let lengths = format!("lengths {} and {}", values.len(), bins.len());
        return Err(Fault::with(FaultCode::NestLength, lengths));
    }
    let precision = limits.precision;
    Ok(match (values, element) {
        (Sequence::Ints(xs), _) => {
            let each = |i: usize, put: &mut dyn FnMut(&[i64])| put(&xs[i..=i]);
            Sequence::Ints(table(ints(with, precision), size, bins, &each, limits)?)
        }
        (Sequence::Floats(xs), _) => {
            let each = |i: usize, put: &mut dyn FnMut(&[f64])| put(&xs[i..=i]);
            Sequence::Floats(table(floats(with, precision), size, bins, &each, limits)?)
        }
        (Sequence::Bools(xs), _) => {
            let each = |i: usize, put: &mut dyn FnMut(&[bool])| put(&xs[i..=i]);
            Sequence::Bools(table(bools(with), size, bins, &each, limits)?)
        }
        (Sequence::Chars(xs), _) => {
            let each = |i: usize, put: &mut dyn FnMut(&[u8])| put(&xs[i..=i]);
            Sequence::Chars(table(chars(with), size, bins, &each, limits)?)
        }
        (Sequence::Values(rows), Ty::Int) => {
            let each = |i: usize, put: &mut dyn FnMut(&[i64])| put(rows[i].elements().ints());
            Sequence::Ints(table(ints(with, precision), size, bins, &each, limits)?)
        }
        (Sequence::Values(rows), Ty::Float) => {
            let each = |i: usize, put: &mut dyn FnMut(&[f64])| put(rows[i].elements().floats());
            Sequence::Floats(table(floats(with, precision), size, bins, &each, limits)?)
        }
        (Sequence::Values(rows), Ty::Bool) => {
            let each = |i: usize, put: &mut dyn FnMut(&[bool])| put(rows[i].elements().bools());
            Sequence::Bools(table(bools(with), size, bins, &each, limits)?)
        }
        (Sequence::Values(rows), Ty::Char) => {
            let each = |i: usize, put: &mut dyn FnMut(&[u8])| put(rows[i].bytes());
            Sequence::Chars(table(chars(with), size, bins, &each, limits)?)
        }
        (Sequence::Values(_), Ty::Unit | Ty::Pair(..) | Ty::Sequence(_)) => {
            bug!("{with:?} combines scalars")
        }
    })
}

/// Calls its second argument with the elements of the value of a number: one scalar, or a row.
type Each<'a, T> = &'a dyn Fn(usize, &mut dyn FnMut(&[T]));

/// Combines values into bins; see [`histogram`].
fn table<T: Copy>(
    monoid: Monoid<T>,
    size: i64,
    bins: &[i64],
    each: Each<'_, T>,
    limits: &Limits<'_>,
) -> Result<Arc<Vec<T>>, Fault> {
    let mut sums = limits.tabulate(i128::from(size.max(0)), |_| monoid.neutral)?;
    for (i, bin) in bins.iter().enumerate() {
        if i % INTERRUPT_CHECK_ELEMENTS == 0 {
            limits.poll()?;
        }
        let Ok(bin) = usize::try_from(*bin) else { continue };
        each(i, &mut |row| {
            let fits = bin.checked_add(row.len()).and_then(|end| sums.get_mut(bin..end));
            for (sum, x) in fits.into_iter().flatten().zip(row) {
                *sum = (monoid.combine)(*sum, *x);
            }
        });
    }
    Ok(Arc::new(sums))
}

/// A monoid: an associative operation and its neutral element.
struct Monoid<T> {
    neutral: T,
    combine: fn(T, T) -> T,
}

fn fold<T: Copy>(monoid: Monoid<T>, xs: &[T], limits: &Limits<'_>) -> Result<T, Fault> {
    let mut sum = monoid.neutral;
    for chunk in xs.chunks(INTERRUPT_CHECK_ELEMENTS) {
        limits.poll()?;
        for x in chunk {
            sum = (monoid.combine)(sum, *x);
        }
    }
    Ok(sum)
}

/// The exclusive scan of a slice.
fn prefixes<T: Copy>(
    monoid: Monoid<T>,
    xs: &[T],
    limits: &Limits<'_>,
) -> Result<Arc<Vec<T>>, Fault> {
    let mut sum = monoid.neutral;
    let sums = limits.tabulate(xs.len() as i128, |i| {
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
        // NaNs are skipped, so that the grouping of operands makes no difference.
        (ReduceOp::Max, _) => (f64::NEG_INFINITY, |a, b| if b > a { b } else { a }),
        (ReduceOp::Min, _) => (f64::INFINITY, |a, b| if b < a { b } else { a }),
        (ReduceOp::And | ReduceOp::Or | ReduceOp::Xor, _) => {
            bug!("{with:?} does not combine floats")
        }
    };
    Monoid { neutral, combine }
}

fn bools(with: ReduceOp) -> Monoid<bool> {
    let (neutral, combine): (bool, fn(bool, bool) -> bool) = match with {
        ReduceOp::And => (true, |a, b| a & b),
        ReduceOp::Or => (false, |a, b| a | b),
        ReduceOp::Xor => (false, |a, b| a ^ b),
        ReduceOp::Sum | ReduceOp::Product | ReduceOp::Max | ReduceOp::Min => {
            bug!("{with:?} does not combine bools")
        }
    };
    Monoid { neutral, combine }
}

fn chars(with: ReduceOp) -> Monoid<u8> {
    let (neutral, combine): (u8, fn(u8, u8) -> u8) = match with {
        ReduceOp::Max => (u8::MIN, u8::max),
        ReduceOp::Min => (u8::MAX, u8::min),
        ReduceOp::Sum | ReduceOp::Product | ReduceOp::And | ReduceOp::Or | ReduceOp::Xor => {
            bug!("{with:?} does not combine chars")
        }
    };
    Monoid { neutral, combine }
}
