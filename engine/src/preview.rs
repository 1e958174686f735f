//! As much of a value as is shown. Of ten million elements on a device, a hundred are read.

use crate::resident::{ResidentValue, count, literal, next};
use nesl_core::base::with_stack;
use nesl_core::interp::{Sequence, Value};
use nesl_core::ir::Ty;
use nesl_core::lower;
use nesl_runtime::kir::Literal;
use nesl_runtime::runtime::{Arg, Buffer, Failure, Runtime};
use nesl_runtime::scalar::Precision;
use std::sync::Arc;

/// What takes no more bytes than this is read whole, and then kept.
const LITTLE: u64 = 64 << 10;

/// The beginning of a value.
#[derive(Clone, Debug)]
pub(crate) enum Glimpse {
    /// All of it.
    Whole(Value),
    /// Of a pair.
    Pair(Box<(Glimpse, Glimpse)>),
    /// Of a sequence: its first elements, and how many there are in all.
    Sequence(Vec<Glimpse>, usize),
}

impl ResidentValue {
    /// What is shown of the value, if of every sequence but strings so many elements are.
    pub(crate) fn glimpse(
        &self,
        print_length: Option<usize>,
        runtime: Option<&dyn Runtime>,
    ) -> Result<Glimpse, Failure> {
        let far = self.host_bytes().is_none() && self.runtime_bytes() > Some(LITTLE);
        if let (Some(most), Some(runtime), true) = (print_length, runtime, far)
            && let Some((parts, precision)) = self.parts_there()
        {
            let reader = Reader { runtime, most, precision };
            return reader.value(self.ty(), &mut parts.iter());
        }
        self.value(runtime).map(|value| Glimpse::Whole(value.clone()))
    }
}

struct Reader<'a> {
    runtime: &'a dyn Runtime,
    most: usize,
    precision: Precision,
}

impl Reader<'_> {
    fn value(&self, ty: &Ty, parts: &mut dyn Iterator<Item = &Arg>) -> Result<Glimpse, Failure> {
        with_stack(|| {
            Ok(match ty {
                Ty::Unit => Glimpse::Whole(Value::Unit),
                Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                    Glimpse::Whole(scalar(literal(next(parts))))
                }
                Ty::Pair(first, second) => {
                    let first = self.value(first, parts)?;
                    Glimpse::Pair(Box::new((first, self.value(second, parts)?)))
                }
                Ty::Sequence(element) => {
                    let length = count(literal(next(parts)));
                    let columns = lower::columns(element, self.precision).len();
                    let columns: Vec<Arg> = parts.take(columns).cloned().collect();
                    self.sequence(element, &columns, 0, length)?
                }
            })
        })
    }

    /// A sequence whose elements begin somewhere in columns.
    fn sequence(
        &self,
        element: &Ty,
        columns: &[Arg],
        start: usize,
        length: usize,
    ) -> Result<Glimpse, Failure> {
        if *element == Ty::Char {
            let text = self.elements(&columns[0], start, length)?.1;
            return Ok(Glimpse::Whole(Value::Sequence(Sequence::Chars(Arc::new(text)))));
        }
        let shown = length.min(self.most);
        let mut rest = columns;
        let first = self.rows(element, &mut rest, start, shown)?;
        Ok(Glimpse::Sequence(first, length))
    }

    /// So many elements, from one on.
    fn rows(
        &self,
        element: &Ty,
        columns: &mut &[Arg],
        start: usize,
        shown: usize,
    ) -> Result<Vec<Glimpse>, Failure> {
        with_stack(|| {
            Ok(match element {
                Ty::Unit => vec![Glimpse::Whole(Value::Unit); shown],
                Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                    let (size, bytes) = self.elements(&columns[0], start, shown)?;
                    let ty = buffer(&columns[0]).0.ty();
                    *columns = &columns[1..];
                    let each = bytes.chunks_exact(size);
                    each.map(|b| Glimpse::Whole(scalar(Literal::from_bytes(ty, b)))).collect()
                }
                Ty::Pair(first, second) => {
                    let first = self.rows(first, columns, start, shown)?;
                    let second = self.rows(second, columns, start, shown)?;
                    let both = first.into_iter().zip(second);
                    both.map(|both| Glimpse::Pair(Box::new(both))).collect()
                }
                Ty::Sequence(inner) => {
                    let starts = self.places(&columns[0], start, shown)?;
                    let lengths = self.places(&columns[1], start, shown)?;
                    let (pool, rest) =
                        columns[3..].split_at(lower::columns(inner, self.precision).len());
                    *columns = rest;
                    let mut out = Vec::new();
                    for (start, length) in starts.into_iter().zip(lengths) {
                        out.push(self.sequence(inner, pool, start, length)?);
                    }
                    out
                }
            })
        })
    }

    /// Elements of an array as bytes, and how many of these each has.
    fn elements(
        &self,
        column: &Arg,
        start: usize,
        shown: usize,
    ) -> Result<(usize, Vec<u8>), Failure> {
        let (buffer, at) = buffer(column);
        let size = buffer.ty().size();
        let mut bytes = vec![0; shown * size];
        if shown > 0 {
            self.runtime.read(buffer, at + start, &mut bytes)?;
        }
        Ok((size, bytes))
    }

    fn places(&self, column: &Arg, start: usize, shown: usize) -> Result<Vec<usize>, Failure> {
        let (size, bytes) = self.elements(column, start, shown)?;
        let ty = buffer(column).0.ty();
        Ok(bytes.chunks_exact(size).map(|b| count(Literal::from_bytes(ty, b))).collect())
    }
}

fn buffer(column: &Arg) -> (&Buffer, usize) {
    match column {
        Arg::Array(buffer, at) => (buffer, *at),
        Arg::Scalar(_) => unreachable!("columns are arrays"),
    }
}

fn scalar(literal: Literal) -> Value {
    match literal {
        Literal::I32(x) => Value::Int(i64::from(x)),
        Literal::I64(x) => Value::Int(x),
        Literal::F32(bits) => Value::Float(f64::from(f32::from_bits(bits))),
        Literal::F64(bits) => Value::Float(f64::from_bits(bits)),
        Literal::Bool(x) => Value::Bool(x),
        Literal::U8(x) => Value::Char(x),
    }
}
