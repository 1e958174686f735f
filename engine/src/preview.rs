//! The part of a value that is shown: of ten million elements on a device, a hundred are read.

use crate::resident::{self, ResidentValue, count, literal, next};
use nesl_core::base::with_stack;
use nesl_core::interp::{Sequence, Value};
use nesl_core::ir::Ty;
use nesl_core::lower;
use nesl_runtime::bug;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir::Literal;
use nesl_runtime::runtime::{Arg, Buffer, Failure, Runtime};
use nesl_runtime::scalar::Precision;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Returns nothing: the elements of an array are of the array's type.
fn other() -> ! {
    bug!("an array has elements of another type")
}

/// The number of elements that are read between two looks at the interrupt.
const POLL_ELEMENTS: usize = 1 << 16;

/// The part of a value that is shown.
#[derive(Clone, Debug)]
pub(crate) enum Preview {
    /// The whole value.
    Whole(Value),
    /// The previews of both components of a pair.
    Pair(Box<(Preview, Preview)>),
    /// The previews of the first and the last elements of a sequence, and the number of all.
    Sequence { head: Vec<Preview>, tail: Vec<Preview>, length: usize },
}

/// The elements of a sequence that are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    /// The number of elements at the beginning.
    pub(crate) head: usize,
    /// The number of elements at the end.
    pub(crate) tail: usize,
    /// A value of at most so many bytes is read whole, and then kept.
    pub(crate) whole_bytes: u64,
}

impl ResidentValue {
    /// Returns the part of the value that is shown: of every sequence but strings, the elements at
    /// its `ends`; all of them if there are none. Fails once `interrupt` is set.
    pub(crate) fn preview(
        &self,
        ends: Option<Ends>,
        runtime: Option<&dyn Runtime>,
        interrupt: &AtomicBool,
    ) -> Result<Preview, Failure> {
        if let (Some(ends), Some(runtime)) = (ends, runtime)
            && self.value_there().is_none()
            && self.runtime_bytes() > Some(ends.whole_bytes)
            && let Some((parts, precision)) = self.parts_there()
        {
            let reader = Reader { runtime, ends, precision, interrupt };
            return reader.value(self.ty(), &mut parts.iter());
        }
        self.value(runtime).map(|value| Preview::Whole(value.clone()))
    }
}

struct Reader<'a> {
    runtime: &'a dyn Runtime,
    ends: Ends,
    precision: Precision,
    interrupt: &'a AtomicBool,
}

impl Reader<'_> {
    fn value(&self, ty: &Ty, parts: &mut dyn Iterator<Item = &Arg>) -> Result<Preview, Failure> {
        with_stack(|| {
            Ok(match ty {
                Ty::Unit => Preview::Whole(Value::Unit),
                Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                    Preview::Whole(scalar(literal(next(parts))))
                }
                Ty::Pair(first, second) => {
                    let first = self.value(first, parts)?;
                    Preview::Pair(Box::new((first, self.value(second, parts)?)))
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

    /// Returns the preview of a sequence whose `length` elements begin at `start` in columns.
    fn sequence(
        &self,
        element: &Ty,
        columns: &[Arg],
        start: usize,
        length: usize,
    ) -> Result<Preview, Failure> {
        // Each level of nesting multiplies the number of sequences.
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(Failure::Machine(FaultCode::Interrupted.into()));
        }
        if *element == Ty::Char {
            let text = self.elements(&columns[0], start, length)?.1;
            return Ok(Preview::Whole(Value::Sequence(Sequence::Chars(Arc::new(text)))));
        }
        let Ends { head, tail, .. } = self.ends;
        let (head, tail) = if length <= head + tail { (length, 0) } else { (head, tail) };
        if head == length
            && let Some(all) = self.packed(element, columns, start, length)?
        {
            return Ok(Preview::Whole(Value::Sequence(all)));
        }
        let mut rest = columns;
        let first = self.rows(element, &mut rest, start, head)?;
        let mut rest = columns;
        let last = match tail {
            0 => Vec::new(),
            _ => self.rows(element, &mut rest, start + length - tail, tail)?,
        };
        Ok(Preview::Sequence { head: first, tail: last, length })
    }

    /// Returns the previews of `shown` elements from `start` on, and advances behind their columns.
    fn rows(
        &self,
        element: &Ty,
        columns: &mut &[Arg],
        start: usize,
        shown: usize,
    ) -> Result<Vec<Preview>, Failure> {
        with_stack(|| {
            Ok(match element {
                Ty::Unit => vec![Preview::Whole(Value::Unit); shown],
                Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                    let column = &columns[0];
                    *columns = &columns[1..];
                    self.each(column, start, shown, |literal| Preview::Whole(scalar(literal)))?
                }
                Ty::Pair(first, second) => {
                    let first = self.rows(first, columns, start, shown)?;
                    let second = self.rows(second, columns, start, shown)?;
                    let both = first.into_iter().zip(second);
                    both.map(|both| Preview::Pair(Box::new(both))).collect()
                }
                Ty::Sequence(inner) => {
                    let starts = self.indices(&columns[0], start, shown)?;
                    let lengths = self.indices(&columns[1], start, shown)?;
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

    /// Returns all elements of a sequence of scalars as the host keeps them; `None` for other sequences.
    fn packed(
        &self,
        element: &Ty,
        columns: &[Arg],
        start: usize,
        length: usize,
    ) -> Result<Option<Sequence>, Failure> {
        Ok(Some(match element {
            Ty::Int => {
                let int = |literal| if let Value::Int(x) = scalar(literal) { x } else { other() };
                Sequence::Ints(Arc::new(self.each(&columns[0], start, length, int)?))
            }
            Ty::Float => {
                let float =
                    |literal| if let Value::Float(x) = scalar(literal) { x } else { other() };
                Sequence::Floats(Arc::new(self.each(&columns[0], start, length, float)?))
            }
            Ty::Bool => {
                let truth =
                    |literal| if let Value::Bool(x) = scalar(literal) { x } else { other() };
                Sequence::Bools(Arc::new(self.each(&columns[0], start, length, truth)?))
            }
            _ => return Ok(None),
        }))
    }

    /// Reads elements of an array, and makes something of each; fails soon after the interrupt is set.
    fn each<T>(
        &self,
        column: &Arg,
        start: usize,
        shown: usize,
        made: impl Fn(Literal) -> T,
    ) -> Result<Vec<T>, Failure> {
        let mut all = Vec::new();
        for from in (0..shown).step_by(POLL_ELEMENTS) {
            if self.interrupt.load(Ordering::Relaxed) {
                return Err(Failure::Machine(FaultCode::Interrupted.into()));
            }
            let block = POLL_ELEMENTS.min(shown - from);
            let (size, bytes) = self.elements(column, start + from, block)?;
            let ty = buffer(column).0.ty();
            all.extend(bytes.chunks_exact(size).map(|b| made(Literal::from_bytes(ty, b))));
        }
        Ok(all)
    }

    /// Reads elements of an array; returns the size of each in bytes, and the bytes.
    fn elements(
        &self,
        column: &Arg,
        start: usize,
        shown: usize,
    ) -> Result<(usize, Vec<u8>), Failure> {
        let (buffer, at) = buffer(column);
        let size = buffer.ty().size();
        if shown == 0 {
            return Ok((size, Vec::new()));
        }
        Ok((size, resident::bytes(buffer, at + start, shown, self.runtime)?))
    }

    fn indices(&self, column: &Arg, start: usize, shown: usize) -> Result<Vec<usize>, Failure> {
        let (size, bytes) = self.elements(column, start, shown)?;
        let ty = buffer(column).0.ty();
        Ok(bytes.chunks_exact(size).map(|b| count(Literal::from_bytes(ty, b))).collect())
    }
}

fn buffer(column: &Arg) -> (&Buffer, usize) {
    match column {
        Arg::Array(buffer, at) => (buffer, *at),
        Arg::Scalar(_) => bug!("a column of a sequence is a scalar"),
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

#[cfg(test)]
mod tests;
