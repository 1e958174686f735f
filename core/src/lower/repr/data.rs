//! Values in host memory ↔ the parts that are passed to a launch and returned by it.
//!
//! The order of the parts is that of [`parts`](super::parts()). Nested sequences become
//! contiguous segments of their pool; a value that is read may have segments anywhere in the pool.

use super::{ill_typed, scalar_ty};
use crate::base::with_stack;
use crate::interp::{Sequence, SequenceBuilder, Value, free};
use crate::ir::Ty;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{self, Literal};
use nesl_runtime::scalar::Precision;
use std::cell::Cell;
use std::sync::Arc;

/// The number of elements that are converted between two questions whether their value is still wanted.
const POLLED_ELEMENTS: usize = 1 << 16;

/// A part of a value in host memory: a scalar or an array.
#[derive(Clone, Debug, PartialEq)]
pub enum HostPart {
    /// A scalar of the value; or the length of a sequence or the extent of a pool, an `i64` that
    /// counts elements.
    Scalar(Literal),
    /// The element type of an array, and its elements as bytes in the machine's byte order.
    Array(kir::Ty, Vec<u8>),
}

/// Returns the parts of a value, in the order of [`parts`](super::parts()). Returns `None` soon after `stop`
/// does not want them any more.
pub fn parts_of(
    value: &Value,
    ty: &Ty,
    precision: Precision,
    stop: &dyn Fn() -> bool,
) -> Option<Vec<HostPart>> {
    let wanted = Wanted::until(stop);
    let mut writer = PartWriter { parts: Vec::new(), precision, wanted: &wanted };
    writer.value(value, ty);
    let parts = writer.parts;
    if wanted.stopped.get() {
        free::at_once(parts);
        return None;
    }
    Some(parts)
}

/// Makes a list of parts of values. Once nobody wants it any more, the parts end where they are.
struct PartWriter<'p> {
    parts: Vec<HostPart>,
    precision: Precision,
    wanted: &'p Wanted<'p>,
}

impl PartWriter<'_> {
    fn value(&mut self, value: &Value, ty: &Ty) {
        with_stack(|| match (value, ty) {
            (Value::Pair(both), Ty::Pair(first, second)) => {
                self.value(&both.0, first);
                self.value(&both.1, second);
            }
            (Value::Sequence(sequence), Ty::Sequence(element)) => {
                self.parts.push(length(sequence.len()));
                self.columns(&[sequence], element);
            }
            (Value::Int(x), _) => self.parts.push(HostPart::Scalar(match self.precision {
                Precision::Bits64 => Literal::I64(*x),
                Precision::Bits32 => Literal::I32(*x as i32),
            })),
            (Value::Float(x), _) => self.parts.push(HostPart::Scalar(match self.precision {
                Precision::Bits64 => Literal::F64(x.to_bits()),
                Precision::Bits32 => Literal::F32((*x as f32).to_bits()),
            })),
            (Value::Bool(x), _) => self.parts.push(HostPart::Scalar(Literal::Bool(*x))),
            (Value::Char(x), _) => self.parts.push(HostPart::Scalar(Literal::U8(*x))),
            (Value::Unit | Value::Pair(_) | Value::Sequence(_), _) => {}
        });
    }

    /// Adds the columns of the concatenation of some sequences.
    fn columns(&mut self, sequences: &[&Sequence], element: &Ty) {
        let wanted = self.wanted;
        if wanted.stopped.get() {
            return;
        }
        with_stack(|| match element {
            Ty::Unit => {}
            Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                let mut bytes = Vec::new();
                for sequence in sequences.iter().take_while(|_| wanted.more(1)) {
                    self.add_bytes(sequence, &mut bytes);
                }
                self.parts.push(HostPart::Array(scalar_ty(element, self.precision), bytes));
            }
            Ty::Pair(first, second) => {
                for (element, half) in [(first, true), (second, false)] {
                    let mut components = Vec::with_capacity(sequences.len());
                    for sequence in sequences.iter().take_while(|_| wanted.more(1)) {
                        let mut builder = SequenceBuilder::new(element, sequence.len());
                        for value in sequence.iter().take_while(|_| wanted.more(1)) {
                            let (first, second) = pair(&value);
                            builder.push(if half { first.clone() } else { second.clone() });
                        }
                        components.push(Value::Sequence(builder.finish()));
                    }
                    self.columns(&components.iter().map(sequence).collect::<Vec<_>>(), element);
                    wanted.discard_values(components);
                }
            }
            Ty::Sequence(inner) => {
                let mut values: Vec<Value> = Vec::new();
                for sequence in sequences.iter().take_while(|_| wanted.more(1)) {
                    values.extend(sequence.iter().take_while(|_| wanted.more(1)));
                }
                let mut segments: Vec<&Sequence> = Vec::with_capacity(values.len());
                let (mut starts, mut lengths, mut end) = (Vec::new(), Vec::new(), 0_i64);
                for segment in values.iter().map(sequence).take_while(|_| wanted.more(1)) {
                    starts.extend(end.to_ne_bytes());
                    lengths.extend((segment.len() as i64).to_ne_bytes());
                    end += segment.len() as i64;
                    segments.push(segment);
                }
                self.parts.push(HostPart::Array(kir::Ty::I64, starts));
                self.parts.push(HostPart::Array(kir::Ty::I64, lengths));
                self.parts.push(length(end as usize));
                self.columns(&segments, inner);
                drop(segments);
                wanted.discard_values(values);
            }
        });
    }

    fn add_bytes(&self, sequence: &Sequence, out: &mut Vec<u8>) {
        match (sequence, self.precision) {
            (Sequence::Ints(xs), Precision::Bits64) => self.written(xs, i64::to_ne_bytes, out),
            (Sequence::Ints(xs), Precision::Bits32) => {
                self.written(xs, |x| (x as i32).to_ne_bytes(), out);
            }
            (Sequence::Floats(xs), Precision::Bits64) => self.written(xs, f64::to_ne_bytes, out),
            (Sequence::Floats(xs), Precision::Bits32) => {
                self.written(xs, |x| (x as f32).to_ne_bytes(), out);
            }
            (Sequence::Bools(xs), _) => self.written(xs, |x| [u8::from(x)], out),
            (Sequence::Chars(xs), _) => {
                let parts = xs.chunks(POLLED_ELEMENTS);
                for part in parts.take_while(|part| self.wanted.more(part.len())) {
                    out.extend_from_slice(part);
                }
            }
            (Sequence::Values(_), _) => ill_typed("a value of the type"),
        }
    }

    /// Adds the bytes of elements.
    fn written<const N: usize, T: Copy>(
        &self,
        elements: &[T],
        convert: impl Fn(T) -> [u8; N],
        out: &mut Vec<u8>,
    ) {
        let parts = elements.chunks(POLLED_ELEMENTS);
        for part in parts.take_while(|part| self.wanted.more(part.len())) {
            out.extend(part.iter().flat_map(|element| convert(*element)));
        }
    }
}

fn length(n: usize) -> HostPart {
    HostPart::Scalar(Literal::I64(n as i64))
}

fn pair(value: &Value) -> (&Value, &Value) {
    value.as_pair().unwrap_or_else(|| ill_typed("a pair"))
}

fn sequence(value: &Value) -> &Sequence {
    value.as_sequence().unwrap_or_else(|| ill_typed("a sequence"))
}

/// Returns the value of a type that has these parts; the inverse of [`parts_of`]. Returns `None` soon after
/// `stop` does not want it any more.
///
/// # Panics
/// Panics if the parts are those of another type.
pub fn value_of(
    ty: &Ty,
    parts: impl IntoIterator<Item = HostPart>,
    precision: Precision,
    stop: &dyn Fn() -> bool,
) -> Option<Value> {
    let wanted = Wanted::until(stop);
    let value = PartReader { parts: &mut parts.into_iter(), precision, wanted: &wanted }.value(ty);
    if wanted.stopped.get() {
        free::one_by_one(free::Parts::of(vec![value]));
        return None;
    }
    Some(value)
}

/// Asks from time to time whether what is made, a value or its parts, is still wanted. If it is not, all parts
/// of it end where they are.
struct Wanted<'p> {
    stop: &'p dyn Fn() -> bool,
    /// The number of elements so far.
    elements: Cell<usize>,
    stopped: Cell<bool>,
}

impl<'p> Wanted<'p> {
    /// Makes what is wanted until a function says that it is to stop.
    fn until(stop: &'p dyn Fn() -> bool) -> Wanted<'p> {
        Wanted { stop, elements: Cell::new(0), stopped: Cell::new(false) }
    }

    /// Counts elements that are about to be made; returns false if they are not wanted.
    fn more(&self, elements: usize) -> bool {
        let before = self.elements.get();
        self.elements.set(before + elements);
        let asks = (before + elements) / POLLED_ELEMENTS != before / POLLED_ELEMENTS;
        if asks && !self.stopped.get() {
            self.stopped.set((self.stop)());
        }
        !self.stopped.get()
    }

    /// Frees a few large things that were made on the way: if nobody wants the end, without letting anybody wait.
    fn discard(&self, made: impl Send + 'static) {
        if self.stopped.get() {
            free::at_once(made);
        }
    }

    /// As [`Wanted::discard`], of values, which may have many parts.
    fn discard_values(&self, made: Vec<Value>) {
        if self.stopped.get() {
            free::one_by_one(free::Parts::of(made));
        }
    }

    /// Converts the elements of an array.
    fn converted<const N: usize, T>(&self, bytes: &[u8], convert: impl Fn([u8; N]) -> T) -> Vec<T> {
        let (all, _) = bytes.as_chunks::<N>();
        let mut out = Vec::with_capacity(all.len());
        for part in all.chunks(POLLED_ELEMENTS).take_while(|part| self.more(part.len())) {
            out.extend(part.iter().map(|element| convert(*element)));
        }
        out
    }
}

/// Reads values from a list of parts.
struct PartReader<'p> {
    parts: &'p mut dyn Iterator<Item = HostPart>,
    precision: Precision,
    wanted: &'p Wanted<'p>,
}

/// The columns of a sequence in host memory, by the type of its elements.
enum HostColumn {
    Unit,
    Scalars(Sequence),
    Pair(Box<(HostColumn, HostColumn)>),
    /// The starts and the lengths of the segments, and the columns of the pool.
    Segments(Vec<i64>, Vec<i64>, Box<HostColumn>),
}

impl PartReader<'_> {
    fn value(&mut self, ty: &Ty) -> Value {
        with_stack(|| match ty {
            Ty::Unit => Value::Unit,
            Ty::Pair(first, second) => {
                let first = self.value(first);
                Value::pair(first, self.value(second))
            }
            Ty::Sequence(element) => {
                let length = self.length();
                let column = self.column(element);
                let rows = rows(&column, element, 0, length, self.wanted);
                self.wanted.discard(column);
                Value::Sequence(rows)
            }
            Ty::Int | Ty::Float | Ty::Bool | Ty::Char => match self.parts.next() {
                Some(HostPart::Scalar(literal)) => scalar(literal),
                _ => ill_typed("a scalar part"),
            },
        })
    }

    fn length(&mut self) -> usize {
        match self.parts.next() {
            Some(HostPart::Scalar(Literal::I64(length))) => length as usize,
            _ => ill_typed("a length"),
        }
    }

    fn array(&mut self) -> Vec<u8> {
        match self.parts.next() {
            Some(HostPart::Array(_, bytes)) => bytes,
            _ => ill_typed("an array part"),
        }
    }

    fn column(&mut self, element: &Ty) -> HostColumn {
        with_stack(|| match element {
            Ty::Unit => HostColumn::Unit,
            Ty::Pair(first, second) => {
                let first = self.column(first);
                HostColumn::Pair(Box::new((first, self.column(second))))
            }
            Ty::Sequence(inner) => {
                let words = |bytes: Vec<u8>| self.wanted.converted(&bytes, i64::from_ne_bytes);
                let (starts, lengths) = (words(self.array()), words(self.array()));
                let _extent = self.length();
                HostColumn::Segments(starts, lengths, Box::new(self.column(inner)))
            }
            Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                let bytes = self.array();
                HostColumn::Scalars(self.scalars(element, bytes))
            }
        })
    }

    fn scalars(&self, ty: &Ty, bytes: Vec<u8>) -> Sequence {
        let wanted = self.wanted;
        match (ty, self.precision) {
            (Ty::Int, Precision::Bits64) => {
                Sequence::Ints(Arc::new(wanted.converted(&bytes, i64::from_ne_bytes)))
            }
            (Ty::Int, Precision::Bits32) => {
                let int = |bytes| i64::from(i32::from_ne_bytes(bytes));
                Sequence::Ints(Arc::new(wanted.converted(&bytes, int)))
            }
            (Ty::Float, Precision::Bits64) => {
                Sequence::Floats(Arc::new(wanted.converted(&bytes, f64::from_ne_bytes)))
            }
            (Ty::Float, Precision::Bits32) => {
                let float = |bytes| f64::from(f32::from_ne_bytes(bytes));
                Sequence::Floats(Arc::new(wanted.converted(&bytes, float)))
            }
            (Ty::Bool, _) => Sequence::Bools(Arc::new(wanted.converted(&bytes, |[x]| x != 0))),
            (Ty::Char, _) => Sequence::Chars(Arc::new(bytes)),
            (Ty::Unit | Ty::Pair(..) | Ty::Sequence(_), _) => ill_typed("a scalar"),
        }
    }
}

fn scalar(literal: Literal) -> Value {
    match literal {
        Literal::I32(x) => Value::Int(i64::from(x)),
        Literal::I64(x) => Value::Int(x),
        Literal::F32(x) => Value::Float(f64::from(f32::from_bits(x))),
        Literal::F64(x) => Value::Float(f64::from_bits(x)),
        Literal::Bool(x) => Value::Bool(x),
        Literal::U8(x) => Value::Char(x),
    }
}

/// Returns `count` elements of a column, beginning with the index `start`.
fn rows(
    column: &HostColumn,
    element: &Ty,
    start: usize,
    count: usize,
    wanted: &Wanted<'_>,
) -> Sequence {
    if let HostColumn::Scalars(all) = column
        && start == 0
        && count == all.len()
    {
        return all.clone();
    }
    if wanted.stopped.get() {
        return SequenceBuilder::new(element, 0).finish();
    }
    let mut builder = SequenceBuilder::new(element, count);
    let more = || wanted.more(1);
    with_stack(|| match (column, element) {
        (HostColumn::Unit, _) => {
            (0..count).take_while(|_| more()).for_each(|_| builder.push(Value::Unit));
        }
        (HostColumn::Scalars(all), _) => {
            (start..start + count)
                .take_while(|_| more())
                .for_each(|i| builder.push(all.get(i).or_bug("segments lie within their pool")));
        }
        (HostColumn::Pair(both), Ty::Pair(first, second)) => {
            let first = rows(&both.0, first, start, count, wanted);
            let second = rows(&both.1, second, start, count, wanted);
            for (first, second) in first.iter().zip(second.iter()).take_while(|_| more()) {
                builder.push(Value::pair(first, second));
            }
            wanted.discard_values(vec![Value::Sequence(first), Value::Sequence(second)]);
        }
        (HostColumn::Segments(starts, lengths, pool), Ty::Sequence(inner)) => {
            let segments = starts.iter().zip(lengths).skip(start).take(count);
            for (start, length) in segments.take_while(|_| more()) {
                let row = rows(pool, inner, *start as usize, *length as usize, wanted);
                builder.push(Value::Sequence(row));
            }
        }
        (HostColumn::Pair(_) | HostColumn::Segments(..), _) => ill_typed("a value of the type"),
    });
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A type, and the parts of a value of it.
    fn example() -> (Ty, Vec<HostPart>) {
        let element = Ty::pair(Ty::sequence(Ty::Int), Ty::Bool);
        let count = 3 * POLLED_ELEMENTS as i64;
        let bytes = |xs: &mut dyn Iterator<Item = i64>| {
            HostPart::Array(kir::Ty::I64, xs.flat_map(i64::to_ne_bytes).collect())
        };
        let parts = vec![
            length(count as usize),
            bytes(&mut (0..count)),
            bytes(&mut (0..count).map(|_| 1)),
            length(count as usize),
            bytes(&mut (0..count)),
            HostPart::Array(kir::Ty::Bool, vec![1; count as usize]),
        ];
        (Ty::sequence(element), parts)
    }

    /// Makes something that is always wanted, and what is wanted until each of the questions whether it is.
    fn until_each_question<T: PartialEq + std::fmt::Debug>(
        make: impl Fn(&dyn Fn() -> bool) -> Option<T>,
    ) -> T {
        let asked = Cell::new(0);
        let made = |most: usize| {
            asked.set(0);
            make(&|| {
                asked.set(asked.get() + 1);
                asked.get() > most
            })
        };
        let whole = made(usize::MAX).expect("it is wanted");
        let asked_in_all = asked.get();
        assert!(asked_in_all > 10, "{asked_in_all}");
        for most in 0..asked_in_all {
            assert_eq!(made(most), None);
            assert_eq!(asked.get(), most + 1);
        }
        whole
    }

    #[test]
    fn what_nobody_wants_is_not_made() {
        let (ty, parts) = example();
        let made =
            until_each_question(|stop| value_of(&ty, parts.clone(), Precision::Bits64, stop));
        let again = until_each_question(|stop| parts_of(&made, &ty, Precision::Bits64, stop));
        assert_eq!(again, parts);
    }
}
