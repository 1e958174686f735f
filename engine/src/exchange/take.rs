//! A value of the session → columns for another program.
//!
//! A value on a runtime is read piece by piece as it is written, and never whole. Segments that lie
//! one behind the other in their pool are one stretch of it; others are gathered.

use super::{Column, Kind, PIECE_BYTES, columns, has_functions};
use crate::data::ValueType;
use crate::resident::{ResidentValue, count, literal, next, words};
use nesl_core::base::with_stack;
use nesl_core::ir::Ty;
use nesl_core::lower;
use nesl_runtime::bug;
use nesl_runtime::kir::{self, Literal};
use nesl_runtime::runtime::{Arg, Buffer, Failure, Runtime};
use nesl_runtime::scalar::Precision;
use std::io::Write;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// A part of a pool is read whole if it has at most so many times the elements that are wanted of it.
const MAX_WASTE: usize = 4;

/// A value that another program takes: its type and its columns.
pub struct Taken {
    ty: ValueType,
    columns: Vec<TakenColumn>,
    runtime: Option<Rc<dyn Runtime>>,
}

#[derive(Debug)]
enum TakenColumn {
    Host(Column),
    Runtime(Array),
}

/// A column on a runtime.
#[derive(Debug)]
struct Array {
    kind: Kind,
    buffer: Buffer,
    /// The element of the buffer at which the column, or the pool, begins.
    at: usize,
    selection: Selection,
}

/// The elements of a column, or of a pool, that a value has.
#[derive(Clone, Debug)]
enum Selection {
    Span(Range<usize>),
    /// Segments anywhere in the pool, and the number of their elements.
    Segments(Rc<[Range<usize>]>, usize),
}

impl Selection {
    fn len(&self) -> usize {
        match self {
            Selection::Span(span) => span.len(),
            Selection::Segments(_, total) => *total,
        }
    }

    /// Selects segments of a pool; those that touch become one.
    fn of_segments(starts: &[i64], lengths: &[i64]) -> Selection {
        let mut all: Vec<Range<usize>> = Vec::new();
        let mut total = 0;
        for (start, length) in starts.iter().zip(lengths) {
            let (start, length) = (*start as usize, *length as usize);
            total += length;
            match all.last_mut() {
                _ if length == 0 => {}
                Some(last) if last.end == start => last.end += length,
                _ => all.push(start..start + length),
            }
        }
        match &all[..] {
            [] => Selection::Span(0..0),
            [one] => Selection::Span(one.clone()),
            _ => Selection::Segments(all.into(), total),
        }
    }
}

impl Taken {
    /// Takes a value; `None` if it has functions in it. What is computed is read when it is written.
    pub(crate) fn new(
        value: &ResidentValue,
        ty: ValueType,
        runtime: Option<&Rc<dyn Runtime>>,
    ) -> Result<Option<Taken>, Failure> {
        if has_functions(&ty) {
            return Ok(None);
        }
        let columns = match (value.value_there(), value.parts_there(), runtime) {
            (None, Some((parts, precision)), Some(runtime)) => {
                let parts = &mut parts.iter();
                let mut taker =
                    Taker { parts, runtime: &**runtime, precision, columns: Vec::new() };
                taker.value(&ty, value.ty())?;
                taker.columns
            }
            _ => {
                let runtime = runtime.map(|runtime| &**runtime);
                let columns = columns(value.value(runtime)?, &ty);
                columns.into_iter().map(TakenColumn::Host).collect()
            }
        };
        Ok(Some(Taken { ty, columns, runtime: runtime.cloned() }))
    }

    /// Returns the type.
    pub fn ty(&self) -> &ValueType {
        &self.ty
    }

    /// Returns the kinds of the columns and the numbers of their elements.
    pub fn columns(&self) -> impl Iterator<Item = (Kind, usize)> {
        self.columns.iter().map(|column| match column {
            TakenColumn::Host(column) => (column.kind(), column.len()),
            TakenColumn::Runtime(array) => (array.kind, array.selection.len()),
        })
    }

    /// Writes the columns. Fails with a message if they cannot be read; zeros are written in place of
    /// what is missing, so that there are as many bytes in any case. Stops silently if they
    /// cannot be written, because nobody reads them then.
    pub fn write_to(&self, out: &mut dyn Write) -> Result<(), String> {
        let mut failed = None;
        for column in &self.columns {
            let done = match column {
                TakenColumn::Host(column) => out.write_all(column.bytes()),
                TakenColumn::Runtime(array) => {
                    let runtime = self.runtime.as_deref();
                    array.write_to(out, runtime, &mut failed)
                }
            };
            if done.is_err() {
                return Ok(());
            }
        }
        failed.map_or(Ok(()), |failure| Err(words(&failure)))
    }
}

/// Finds the columns of a value on a runtime.
struct Taker<'a, 'p> {
    parts: &'a mut std::slice::Iter<'p, Arg>,
    runtime: &'a dyn Runtime,
    precision: Precision,
    columns: Vec<TakenColumn>,
}

impl Taker<'_, '_> {
    /// Finds the columns of one value; `repr` is how its type is represented.
    fn value(&mut self, ty: &ValueType, repr: &Ty) -> Result<(), Failure> {
        with_stack(|| match (ty, repr) {
            (ValueType::Tuple(all) | ValueType::Record(_, all), _) if !all.is_empty() => {
                components(all, repr, &mut |ty, repr| self.value(ty, repr))
            }
            (ValueType::Sequence(element), Ty::Sequence(repr)) => {
                let length = count(literal(next(self.parts)));
                self.host(Column::Lengths(vec![length as i64]));
                self.elements(element, repr, &Selection::Span(0..length))
            }
            (ValueType::Int | ValueType::Float | ValueType::Bool | ValueType::Char, _) => {
                let column = match literal(next(self.parts)) {
                    Literal::I32(x) => Column::Ints(Arc::new(vec![i64::from(x)])),
                    Literal::I64(x) => Column::Ints(Arc::new(vec![x])),
                    Literal::F32(x) => Column::Floats(Arc::new(vec![f32::from_bits(x).into()])),
                    Literal::F64(x) => Column::Floats(Arc::new(vec![f64::from_bits(x)])),
                    Literal::Bool(x) => Column::Bools(Arc::new(vec![x])),
                    Literal::U8(x) => Column::Chars(Arc::new(vec![x])),
                };
                self.host(column);
                Ok(())
            }
            _ => {
                // Nothing is known of them, and nobody wants them.
                let own = lower::parts(repr, self.precision).len();
                self.parts.by_ref().take(own).for_each(drop);
                Ok(())
            }
        })
    }

    /// Finds the columns of the selected values.
    fn elements(
        &mut self,
        ty: &ValueType,
        repr: &Ty,
        selection: &Selection,
    ) -> Result<(), Failure> {
        with_stack(|| match (ty, repr) {
            (ValueType::Tuple(all) | ValueType::Record(_, all), _) if !all.is_empty() => {
                components(all, repr, &mut |ty, repr| self.elements(ty, repr, selection))
            }
            (ValueType::Sequence(element), Ty::Sequence(repr)) => {
                let starts = self.array(Kind::Lengths, selection.clone());
                let lengths = self.array(Kind::Lengths, selection.clone());
                let _extent = next(self.parts);
                let (starts, lengths) = (starts.read(self.runtime)?, lengths.read(self.runtime)?);
                let selection = Selection::of_segments(&starts, &lengths);
                self.host(Column::Lengths(lengths));
                self.elements(element, repr, &selection)
            }
            (ValueType::Int | ValueType::Float | ValueType::Bool | ValueType::Char, _) => {
                let kind = match ty {
                    ValueType::Float => Kind::Floats,
                    ValueType::Bool => Kind::Bools,
                    ValueType::Char => Kind::Chars,
                    _ => Kind::Ints,
                };
                let array = self.array(kind, selection.clone());
                self.columns.push(TakenColumn::Runtime(array));
                Ok(())
            }
            _ => {
                let own = lower::columns(repr, self.precision).len();
                self.parts.by_ref().take(own).for_each(drop);
                Ok(())
            }
        })
    }

    fn host(&mut self, column: Column) {
        self.columns.push(TakenColumn::Host(column));
    }

    fn array(&mut self, kind: Kind, selection: Selection) -> Array {
        match next(self.parts) {
            Arg::Array(buffer, at) => Array { kind, buffer: buffer.clone(), at: *at, selection },
            Arg::Scalar(_) => bug!("a column of a sequence is a scalar"),
        }
    }
}

/// Calls a function for each component of a tuple, with the part of the pair that represents it.
fn components(
    all: &[ValueType],
    repr: &Ty,
    each: &mut dyn FnMut(&ValueType, &Ty) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut rest = repr;
    for (position, ty) in all.iter().enumerate() {
        match rest {
            Ty::Pair(first, second) if position + 1 < all.len() => {
                each(ty, first)?;
                rest = second;
            }
            last => each(ty, last)?,
        }
    }
    Ok(())
}

impl Array {
    /// Reads the column, whose elements are words.
    fn read(&self, runtime: &dyn Runtime) -> Result<Vec<i64>, Failure> {
        let mut failed = None;
        let mut bytes = Vec::with_capacity(self.selection.len() * 8);
        // Writing to memory does not fail.
        let _ = self.write_to(&mut bytes, Some(runtime), &mut failed);
        match failed {
            Some(failure) => Err(failure),
            None => Ok(bytes.as_chunks::<8>().0.iter().map(|x| i64::from_ne_bytes(*x)).collect()),
        }
    }

    /// Writes the elements; keeps the first failure to read them, and writes zeros from there on.
    fn write_to(
        &self,
        out: &mut dyn Write,
        runtime: Option<&dyn Runtime>,
        failed: &mut Option<Failure>,
    ) -> std::io::Result<()> {
        let size = self.buffer.ty().size();
        let mut piece = vec![0; PIECE_BYTES.min(self.selection.len() * size)];
        let per_piece = PIECE_BYTES / size;
        let mut read = |at: usize, into: &mut [u8]| {
            if failed.is_none()
                && let Some(runtime) = runtime
            {
                *failed = runtime.read(&self.buffer, self.at + at, into).err();
            }
            if failed.is_some() {
                into.fill(0);
            }
        };
        match &self.selection {
            Selection::Span(span) => {
                for at in span.clone().step_by(per_piece) {
                    let now = per_piece.min(span.end - at);
                    read(at, &mut piece[..now * size]);
                    self.write_piece(&piece[..now * size], out)?;
                }
            }
            Selection::Segments(segments, total) => {
                let start = segments.iter().map(|segment| segment.start).min().unwrap_or(0);
                let end = segments.iter().map(|segment| segment.end).max().unwrap_or(0);
                let all = (end - start <= total * MAX_WASTE).then(|| {
                    let mut all = vec![0; (end - start) * size];
                    read(start, &mut all);
                    all
                });
                let mut filled = 0;
                for segment in segments.iter() {
                    let mut at = segment.start;
                    while at < segment.end {
                        let now = (per_piece - filled / size).min(segment.end - at);
                        let into = &mut piece[filled..filled + now * size];
                        match &all {
                            Some(all) => into.copy_from_slice(
                                &all[(at - start) * size..(at + now - start) * size],
                            ),
                            None => read(at, into),
                        }
                        (at, filled) = (at + now, filled + now * size);
                        if filled == per_piece * size {
                            self.write_piece(&piece[..filled], out)?;
                            filled = 0;
                        }
                    }
                }
                self.write_piece(&piece[..filled], out)?;
            }
        }
        Ok(())
    }

    /// Writes elements, ints and floats with 64 bits.
    fn write_piece(&self, piece: &[u8], out: &mut dyn Write) -> std::io::Result<()> {
        let halves = piece.as_chunks::<4>().0.iter();
        match self.buffer.ty() {
            kir::Ty::I32 => {
                let wide: Vec<i64> = halves.map(|x| i32::from_ne_bytes(*x).into()).collect();
                out.write_all(bytemuck::cast_slice(&wide))
            }
            kir::Ty::F32 => {
                let wide: Vec<f64> = halves.map(|x| f32::from_ne_bytes(*x).into()).collect();
                out.write_all(bytemuck::cast_slice(&wide))
            }
            _ => out.write_all(piece),
        }
    }
}
