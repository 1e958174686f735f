//! Columns that another program gives → a value of the session.
//!
//! With a runtime, an array goes there as it arrives, piece by piece, so that the first program that
//! uses it need not copy it. Small values stay on the host, where they can be looked at.

use super::{Column, Kind, PIECE_BYTES, kinds, value};
use crate::data::ValueType;
use crate::resident::ResidentValue;
use nesl_runtime::kir::{self, Literal};
use nesl_runtime::runtime::{Arg, Failure, Runtime};
use nesl_runtime::scalar::Precision;
use std::io::Read;
use std::sync::Arc;

/// Values of at most so many bytes stay on the host.
const MAX_HOST_BYTES: usize = 4 << 10;

/// The reason why a value cannot be made of columns.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The columns do not fit the type, or end too early.
    Columns(String),
    /// The runtime has no room, or failed.
    Runtime(Failure),
}

impl From<String> for Refusal {
    fn from(message: String) -> Refusal {
        Refusal::Columns(message)
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Refusal {
        Refusal::Runtime(failure)
    }
}

type Result<T> = std::result::Result<T, Refusal>;

/// Reads a value of a type without datatypes from `data`: its columns, with `counts` elements. It is
/// written to the runtime as it is read, if there is one; without one, ints that do not fit `precision` are refused.
pub(crate) fn given(
    ty: &ValueType,
    counts: &[usize],
    data: &mut dyn Read,
    runtime: Option<&dyn Runtime>,
    precision: Precision,
) -> Result<ResidentValue> {
    let kinds = kinds(ty);
    if kinds.len() != counts.len() {
        return Err(format!("{ty} has {} columns, not {}", kinds.len(), counts.len()).into());
    }
    let bytes = kinds.iter().zip(counts).try_fold(0_usize, |sum, (kind, count)| {
        sum.checked_add(count.checked_mul(kind.element_bytes())?)
    });
    let bytes = bytes.ok_or_else(|| "the columns are too large".to_owned())?;
    match runtime {
        Some(runtime) if bytes > MAX_HOST_BYTES => {
            let (counts, scratch) = (counts.iter(), vec![0; PIECE_BYTES]);
            let mut receiver = Receiver { runtime, data, counts, scratch, parts: Vec::new() };
            receiver.value(ty)?;
            let parts = receiver.parts;
            Ok(ResidentValue::resident(parts, ty.representation(), Precision::Bits64))
        }
        _ => {
            let columns = kinds.iter().zip(counts).map(|(kind, count)| {
                let column = read(*kind, *count, data)?;
                at_precision(column, precision)
            });
            let value = value(ty, columns.collect::<Result<_>>()?)?;
            Ok(ResidentValue::value_of(value, ty.representation()))
        }
    }
}

/// Reads a column to the host.
fn read(kind: Kind, count: usize, data: &mut dyn Read) -> Result<Column> {
    Ok(match kind {
        Kind::Lengths => Column::Lengths(words(count, data)?),
        Kind::Ints => Column::Ints(Arc::new(words(count, data)?)),
        Kind::Floats => {
            let mut all = vec![0.0; count];
            fill(data, bytemuck::cast_slice_mut(&mut all))?;
            Column::Floats(Arc::new(all))
        }
        Kind::Bools | Kind::Chars => {
            let mut all = vec![0_u8; count];
            fill(data, &mut all)?;
            match kind {
                Kind::Bools => Column::Bools(Arc::new(all.iter().map(|byte| *byte != 0).collect())),
                _ => Column::Chars(Arc::new(all)),
            }
        }
    })
}

/// Returns a column as a program of a precision sees it. Floats are rounded; an int that does not fit the precision is an
/// error.
fn at_precision(column: Column, precision: Precision) -> Result<Column> {
    match (column, precision) {
        (Column::Ints(all), Precision::Bits32) => {
            match all.iter().find(|n| i32::try_from(**n).is_err()) {
                Some(n) => Err(format!("{n} does not fit an int, which has 32 bits").into()),
                None => Ok(Column::Ints(all)),
            }
        }
        (Column::Floats(all), Precision::Bits32) => {
            let rounded = all.iter().map(|x| f64::from(*x as f32)).collect();
            Ok(Column::Floats(Arc::new(rounded)))
        }
        (column, _) => Ok(column),
    }
}

fn words(count: usize, data: &mut dyn Read) -> Result<Vec<i64>> {
    let mut all = vec![0; count];
    fill(data, bytemuck::cast_slice_mut(&mut all))?;
    Ok(all)
}

fn fill(data: &mut dyn Read, into: &mut [u8]) -> Result<()> {
    data.read_exact(into).map_err(|error| format!("the columns cannot be read: {error}").into())
}

/// Reads a value to a runtime, whose ints and floats have 64 bits.
struct Receiver<'a> {
    runtime: &'a dyn Runtime,
    data: &'a mut dyn Read,
    counts: std::slice::Iter<'a, usize>,
    scratch: Vec<u8>,
    /// The parts so far, in the order of [`nesl_core::lower::parts`].
    parts: Vec<Arg>,
}

impl Receiver<'_> {
    /// Reads one value.
    fn value(&mut self, ty: &ValueType) -> Result<()> {
        match ty {
            ValueType::Tuple(parts) | ValueType::Record(_, parts) => {
                parts.iter().try_for_each(|part| self.value(part))
            }
            ValueType::Sequence(element) => {
                let count = self.lengths(ty, 1)?.1;
                self.parts.push(Arg::Scalar(Literal::I64(count as i64)));
                self.columns(element, count)
            }
            ValueType::Function | ValueType::Unknown => Ok(()),
            ValueType::Int | ValueType::Float | ValueType::Bool | ValueType::Char => {
                self.count(ty, 1)?;
                let mut bytes = [0; 8];
                let own = &mut bytes[..scalar(ty).size()];
                fill(self.data, own)?;
                normalize(ty, own);
                self.parts.push(Arg::Scalar(Literal::from_bytes(scalar(ty), own)));
                Ok(())
            }
        }
    }

    /// Reads the columns of some values.
    fn columns(&mut self, ty: &ValueType, count: usize) -> Result<()> {
        match ty {
            ValueType::Tuple(parts) | ValueType::Record(_, parts) => {
                parts.iter().try_for_each(|part| self.columns(part, count))
            }
            ValueType::Sequence(element) => {
                let (lengths, total) = self.lengths(ty, count)?;
                let mut end = 0;
                let starts = lengths.iter().map(|length| {
                    end += length;
                    end - length
                });
                let starts: Vec<i64> = starts.collect();
                self.write(&starts)?;
                self.write(&lengths)?;
                self.parts.push(Arg::Scalar(Literal::I64(total as i64)));
                self.columns(element, total)
            }
            ValueType::Function | ValueType::Unknown => Ok(()),
            ValueType::Int | ValueType::Float | ValueType::Bool | ValueType::Char => {
                self.array(ty, count)
            }
        }
    }

    /// Reads a column of scalars, a piece after the other.
    fn array(&mut self, ty: &ValueType, count: usize) -> Result<()> {
        self.count(ty, count)?;
        let element = scalar(ty);
        let buffer = self.runtime.alloc(element, count)?;
        let per_piece = self.scratch.len() / element.size();
        let mut at = 0;
        while at < count {
            let now = per_piece.min(count - at);
            let piece = &mut self.scratch[..now * element.size()];
            fill(self.data, piece)?;
            normalize(ty, piece);
            self.runtime.write(&buffer, at, piece)?;
            at += now;
        }
        self.parts.push(Arg::Array(buffer, 0));
        Ok(())
    }

    /// Reads the lengths of some sequences; returns them and their sum.
    fn lengths(&mut self, ty: &ValueType, count: usize) -> Result<(Vec<i64>, usize)> {
        self.count(ty, count)?;
        let lengths = words(count, self.data)?;
        let mut total = 0_usize;
        for length in &lengths {
            let length = usize::try_from(*length).map_err(|_| "a length is negative".to_owned())?;
            let sum = total.checked_add(length);
            total = sum.ok_or_else(|| "the lengths are too large".to_owned())?;
        }
        Ok((lengths, total))
    }

    /// Writes an array of descriptors.
    fn write(&mut self, all: &[i64]) -> Result<()> {
        let buffer = self.runtime.alloc(kir::Ty::I64, all.len())?;
        if !all.is_empty() {
            self.runtime.write(&buffer, 0, bytemuck::cast_slice(all))?;
        }
        self.parts.push(Arg::Array(buffer, 0));
        Ok(())
    }

    /// Takes the next column, which must have `wanted` elements.
    fn count(&mut self, ty: &ValueType, wanted: usize) -> Result<()> {
        let found = self.counts.next().copied().unwrap_or(0);
        super::check(ty, found, wanted).map_err(Refusal::from)
    }
}

/// Returns the type of a scalar on the runtime.
fn scalar(ty: &ValueType) -> kir::Ty {
    match ty {
        ValueType::Float => kir::Ty::F64,
        ValueType::Bool => kir::Ty::Bool,
        ValueType::Char => kir::Ty::U8,
        _ => kir::Ty::I64,
    }
}

/// Makes all that is not 0 a 1 in bools.
fn normalize(ty: &ValueType, bytes: &mut [u8]) {
    if *ty == ValueType::Bool {
        bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
    }
}
