//! Values as the parts that kir takes, and back from what a form's kernel gives.

use super::layout;
use crate::base::with_stack;
use crate::interp::{Builder, Sequence, Value};
use crate::ir::Ty;
use nesl_runtime::kir::{self, Literal};
use nesl_runtime::scalar::Precision;

/// A part of a value: see [`parts`](super::parts()).
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// A scalar, a length or an extent.
    Scalar(Literal),
    /// The elements of an array, as bytes in the machine's order.
    Array(kir::Ty, Vec<u8>),
}

/// The parts of a value, in the order of [`parts`](super::parts()).
pub fn parts_of(value: &Value, ty: &Ty, precision: Precision) -> Vec<Part> {
    let mut out = Vec::new();
    add(value, ty, precision, &mut out);
    out
}

fn add(value: &Value, ty: &Ty, precision: Precision, out: &mut Vec<Part>) {
    with_stack(|| match (value, ty) {
        (Value::Pair(both), Ty::Pair(first, second)) => {
            add(&both.0, first, precision, out);
            add(&both.1, second, precision, out);
        }
        (Value::Sequence(sequence), Ty::Sequence(element)) => {
            out.push(length(sequence.len()));
            add_columns(&[sequence], element, precision, out);
        }
        (Value::Int(x), _) => out.push(Part::Scalar(match precision {
            Precision::Bits64 => Literal::I64(*x),
            Precision::Bits32 => Literal::I32(*x as i32),
        })),
        (Value::Float(x), _) => out.push(Part::Scalar(match precision {
            Precision::Bits64 => Literal::F64(x.to_bits()),
            Precision::Bits32 => Literal::F32((*x as f32).to_bits()),
        })),
        (Value::Bool(x), _) => out.push(Part::Scalar(Literal::Bool(*x))),
        (Value::Char(x), _) => out.push(Part::Scalar(Literal::U8(*x))),
        (Value::Unit | Value::Pair(_) | Value::Sequence(_), _) => {}
    });
}

fn length(n: usize) -> Part {
    Part::Scalar(Literal::I64(n as i64))
}

/// The columns of some sequences, one behind the other.
fn add_columns(sequences: &[&Sequence], element: &Ty, precision: Precision, out: &mut Vec<Part>) {
    with_stack(|| match element {
        Ty::Unit => {}
        Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
            let mut bytes = Vec::new();
            sequences.iter().for_each(|s| add_bytes(s, precision, &mut bytes));
            let ty = layout::scalar(element, precision).expect("it is a scalar");
            out.push(Part::Array(ty, bytes));
        }
        Ty::Pair(first, second) => {
            for (element, half) in [(first, true), (second, false)] {
                let halves: Vec<Sequence> = sequences
                    .iter()
                    .map(|sequence| {
                        let mut builder = Builder::new(element, sequence.len());
                        for value in sequence.iter() {
                            let (first, second) = value.as_pair().expect("types were checked");
                            builder.push(if half { first.clone() } else { second.clone() });
                        }
                        builder.finish()
                    })
                    .collect();
                add_columns(&halves.iter().collect::<Vec<_>>(), element, precision, out);
            }
        }
        Ty::Sequence(inner) => {
            let values: Vec<Value> = sequences.iter().flat_map(|s| s.iter()).collect();
            let segments: Vec<&Sequence> =
                values.iter().map(|v| v.as_sequence().expect("types were checked")).collect();
            let (mut starts, mut lengths, mut end) = (Vec::new(), Vec::new(), 0_i64);
            for segment in &segments {
                starts.extend(end.to_ne_bytes());
                lengths.extend((segment.len() as i64).to_ne_bytes());
                end += segment.len() as i64;
            }
            out.push(Part::Array(kir::Ty::I64, starts));
            out.push(Part::Array(kir::Ty::I64, lengths));
            out.push(length(end as usize));
            add_columns(&segments, inner, precision, out);
        }
    });
}

fn add_bytes(sequence: &Sequence, precision: Precision, out: &mut Vec<u8>) {
    match (sequence, precision) {
        (Sequence::Ints(xs), Precision::Bits64) => {
            xs.iter().for_each(|x| out.extend(x.to_ne_bytes()));
        }
        (Sequence::Ints(xs), Precision::Bits32) => {
            xs.iter().for_each(|x| out.extend((*x as i32).to_ne_bytes()));
        }
        (Sequence::Floats(xs), Precision::Bits64) => {
            xs.iter().for_each(|x| out.extend(x.to_ne_bytes()));
        }
        (Sequence::Floats(xs), Precision::Bits32) => {
            xs.iter().for_each(|x| out.extend((*x as f32).to_ne_bytes()));
        }
        (Sequence::Bools(xs), _) => xs.iter().for_each(|x| out.push(u8::from(*x))),
        (Sequence::Chars(xs), _) => out.extend_from_slice(xs),
        (Sequence::Values(_), _) => unreachable!("types were checked"),
    }
}

/// What a form's kernel gave: the bytes of its arrays of one element, and of its outputs, both in
/// order.
pub struct Given {
    /// Scalars and lengths.
    pub scalars: Vec<Vec<u8>>,
    /// Columns.
    pub outputs: Vec<Vec<u8>>,
}

/// The value that a form's kernel gave.
///
/// # Panics
/// If it gave something of another type.
pub fn value_of(ty: &Ty, given: Given, precision: Precision) -> Value {
    let mut reader = Reader {
        scalars: given.scalars.into_iter(),
        outputs: given.outputs.into_iter(),
        precision,
    };
    reader.value(ty)
}

struct Reader {
    scalars: std::vec::IntoIter<Vec<u8>>,
    outputs: std::vec::IntoIter<Vec<u8>>,
    precision: Precision,
}

/// The columns of a sequence that is read: those of sequences have their lengths, then what lies
/// in their pool.
enum Column {
    Unit,
    Scalars(Sequence),
    Pair(Box<(Column, Column)>),
    Segments(Vec<i64>, Option<Box<Level>>),
}

/// A sequence that is read.
struct Level {
    length: usize,
    column: Column,
}

impl Reader {
    fn value(&mut self, ty: &Ty) -> Value {
        with_stack(|| match ty {
            Ty::Unit => Value::Unit,
            Ty::Pair(first, second) => {
                let first = self.value(first);
                Value::pair(first, self.value(second))
            }
            Ty::Sequence(element) => {
                let level = self.level(element);
                Value::Sequence(rows(&level.column, element, 0, level.length))
            }
            Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                let bytes = self.scalars.next().expect("as many as the type has");
                self.scalars_of(ty, &bytes).get(0).expect("one element")
            }
        })
    }

    fn level(&mut self, element: &Ty) -> Level {
        let bytes = self.scalars.next().expect("as many as the type has");
        let length = words(&bytes)[0] as usize;
        let mut column = self.leaves(element);
        self.pools(&mut column, element);
        Level { length, column }
    }

    fn leaves(&mut self, element: &Ty) -> Column {
        with_stack(|| match element {
            Ty::Unit => Column::Unit,
            Ty::Pair(first, second) => {
                let first = self.leaves(first);
                Column::Pair(Box::new((first, self.leaves(second))))
            }
            Ty::Sequence(_) => {
                Column::Segments(words(&self.outputs.next().expect("one for each")), None)
            }
            Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                let bytes = self.outputs.next().expect("one for each");
                Column::Scalars(self.scalars_of(element, &bytes))
            }
        })
    }

    fn pools(&mut self, column: &mut Column, element: &Ty) {
        with_stack(|| match (column, element) {
            (Column::Pair(both), Ty::Pair(first, second)) => {
                self.pools(&mut both.0, first);
                self.pools(&mut both.1, second);
            }
            (Column::Segments(_, pool), Ty::Sequence(inner)) => {
                *pool = Some(Box::new(self.level(inner)));
            }
            (Column::Unit | Column::Scalars(_) | Column::Pair(_) | Column::Segments(..), _) => {}
        });
    }

    fn scalars_of(&self, ty: &Ty, bytes: &[u8]) -> Sequence {
        let values: Vec<Value> = match (ty, self.precision) {
            (Ty::Int, Precision::Bits64) => words(bytes).into_iter().map(Value::Int).collect(),
            (Ty::Int, Precision::Bits32) => halves(bytes)
                .map(|bytes| Value::Int(i64::from(i32::from_ne_bytes(bytes))))
                .collect(),
            (Ty::Float, Precision::Bits64) => words(bytes)
                .into_iter()
                .map(|x| Value::Float(f64::from_bits(x as u64)))
                .collect(),
            (Ty::Float, Precision::Bits32) => halves(bytes)
                .map(|bytes| Value::Float(f64::from(f32::from_ne_bytes(bytes))))
                .collect(),
            (Ty::Bool, _) => bytes.iter().map(|x| Value::Bool(*x != 0)).collect(),
            (Ty::Char, _) => bytes.iter().map(|x| Value::Char(*x)).collect(),
            (Ty::Unit | Ty::Pair(..) | Ty::Sequence(_), _) => unreachable!("it is a scalar"),
        };
        Sequence::from_values(ty, values)
    }
}

/// The rows of a column from a start on.
fn rows(column: &Column, element: &Ty, start: usize, count: usize) -> Sequence {
    let mut builder = Builder::new(element, count);
    with_stack(|| match (column, element) {
        (Column::Unit, _) => (0..count).for_each(|_| builder.push(Value::Unit)),
        (Column::Scalars(all), _) => {
            (start..start + count).for_each(|i| builder.push(all.get(i).expect("in bounds")));
        }
        (Column::Pair(both), Ty::Pair(first, second)) => {
            let first = rows(&both.0, first, start, count);
            let second = rows(&both.1, second, start, count);
            for (first, second) in first.iter().zip(second.iter()) {
                builder.push(Value::pair(first, second));
            }
        }
        (Column::Segments(lengths, Some(level)), Ty::Sequence(inner)) => {
            let mut place: usize = lengths[..start].iter().map(|n| *n as usize).sum();
            for length in &lengths[start..start + count] {
                let length = *length as usize;
                builder.push(Value::Sequence(rows(&level.column, inner, place, length)));
                place += length;
            }
        }
        (Column::Pair(_) | Column::Segments(..), _) => unreachable!("types were checked"),
    });
    builder.finish()
}

fn words(bytes: &[u8]) -> Vec<i64> {
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().map(|word| i64::from_ne_bytes(*word)).collect()
}

fn halves(bytes: &[u8]) -> impl Iterator<Item = [u8; 4]> {
    bytes.as_chunks::<4>().0.iter().copied()
}
