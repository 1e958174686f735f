//! Values as they are read from files: the parts of a value, each array in pieces.
//!
//! A reader of a large file gives the arrays of its result as the pieces in which it read them, or
//! as places in the file. They are written to the runtime one after the other, so that at no time
//! there is a second copy of the whole.

use super::source::Source;
use nesl_core::interp::Value;
use nesl_core::ir::Ty;
use nesl_core::lower::{self, HostPart};
use nesl_runtime::bug;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir::{self, Literal};
use nesl_runtime::runtime::{Arg, Failure, Runtime};
use nesl_runtime::scalar::Precision;
use std::ops::Range;
use std::sync::Arc;

/// The bytes of a file that are read and converted at a time: few enough for the caches.
const CONVERTED_BYTES: usize = 1 << 20;

/// The elements that are computed at a time: as many as fit into those bytes.
const CONVERTED_ELEMENTS: usize = CONVERTED_BYTES / size_of::<i64>();

/// A part of a value, in the order of [`lower::parts_of`].
pub(crate) enum Part {
    /// A scalar, a length or an extent.
    Scalar(Literal),
    /// An array of the value.
    Array(Array),
}

/// An array: its element type, its length and its pieces.
pub(crate) struct Array {
    pub(super) ty: kir::Ty,
    pub(super) length: usize,
    pub(super) pieces: Vec<Piece>,
}

/// Some elements of an array.
pub(super) enum Piece {
    /// Their bytes in the machine's order.
    Bytes(Vec<u8>),
    /// Their bytes in the machine's order, a range of a block that several pieces share.
    Shared(Arc<Vec<u8>>, Range<usize>),
    /// The lengths of segments, a range of those in a block.
    Lengths(Arc<Vec<i64>>, Range<usize>),
    /// The indices at which such segments begin, of which the first begins at the number given.
    Starts(Arc<Vec<i64>>, Range<usize>, i64),
    /// Bytes of a file from a position on, and what makes elements of them.
    File {
        source: Arc<Source>,
        name: Arc<str>,
        at: u64,
        bytes: u64,
        element: usize,
        convert: Convert,
    },
}

/// Appends the elements that some bytes of a file stand for, a whole number of them; `None` if the bytes
/// are the elements.
pub(super) type Convert = Option<Arc<dyn Fn(&[u8], &mut Vec<u8>) -> Result<(), String>>>;

/// The reason why an array could not be made.
pub(crate) enum PartError {
    /// The file is wrong: what, and where.
    Reader(String),
    /// The failure of the runtime.
    Runtime(Failure),
}

impl From<String> for PartError {
    fn from(message: String) -> PartError {
        PartError::Reader(message)
    }
}

impl Array {
    /// Makes an array of bytes in the machine's order.
    pub(super) fn of_bytes(ty: kir::Ty, bytes: Vec<u8>) -> Array {
        Array { ty, length: bytes.len() / ty.size(), pieces: vec![Piece::Bytes(bytes)] }
    }

    /// Returns the only element of an array that is in memory.
    pub(super) fn into_scalar(self) -> Part {
        match &self.pieces[..] {
            [Piece::Bytes(bytes)] => Part::Scalar(Literal::from_bytes(self.ty, bytes)),
            _ => bug!("a single element is in memory"),
        }
    }

    /// Gives away the bytes of each piece, in order, and forgets it.
    /// Fails with what is wrong with the file, or as `take` does.
    fn drain<E: From<String>>(self, take: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        for piece in self.pieces {
            match piece {
                Piece::Bytes(bytes) => take(&bytes)?,
                Piece::Shared(block, range) => take(&block[range])?,
                Piece::Lengths(block, range) => take(bytemuck::cast_slice(&block[range]))?,
                Piece::Starts(block, range, first) => {
                    let mut end = first;
                    let mut starts = Vec::with_capacity(range.len().min(CONVERTED_ELEMENTS));
                    for lengths in block[range].chunks(CONVERTED_ELEMENTS) {
                        starts.clear();
                        for length in lengths {
                            starts.push(end);
                            end += length;
                        }
                        take(bytemuck::cast_slice(&starts))?;
                    }
                }
                Piece::File { source, name, at, bytes, element, convert } => {
                    let step = (CONVERTED_BYTES / element).max(1) * element;
                    let mut raw = vec![0; step.min(usize::try_from(bytes).unwrap_or(step))];
                    let mut converted = Vec::new();
                    let mut done = 0;
                    while done < bytes {
                        let count = (step as u64).min(bytes - done) as usize;
                        source
                            .read_exact_at(at + done, &mut raw[..count])
                            .map_err(|e| format!("{name}: {}", super::file::reason(&e)))?;
                        match &convert {
                            None => take(&raw[..count])?,
                            Some(convert) => {
                                converted.clear();
                                convert(&raw[..count], &mut converted)
                                    .map_err(|e| format!("{name}: {e}"))?;
                                take(&converted)?;
                            }
                        }
                        done += count as u64;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Returns the size of the arrays in bytes.
pub(crate) fn size(parts: &[Part]) -> u64 {
    let bytes = parts.iter().map(|part| match part {
        Part::Scalar(_) => 0,
        Part::Array(array) => array.length as u64 * array.ty.size() as u64,
    });
    bytes.sum()
}

/// Writes the parts of a value to a runtime.
pub(crate) fn to_runtime(parts: Vec<Part>, runtime: &dyn Runtime) -> Result<Vec<Arg>, PartError> {
    let mut args = Vec::with_capacity(parts.len());
    for part in parts {
        args.push(match part {
            Part::Scalar(literal) => Arg::Scalar(literal),
            Part::Array(array) => {
                let ty = array.ty;
                let buffer = runtime.alloc(ty, array.length).map_err(PartError::Runtime)?;
                let mut at = 0;
                array.drain(&mut |bytes| {
                    runtime.write(&buffer, at, bytes).map_err(PartError::Runtime)?;
                    at += bytes.len() / ty.size();
                    Ok::<(), PartError>(())
                })?;
                Arg::Array(buffer, 0)
            }
        });
    }
    Ok(args)
}

/// Returns the value on the host. Fails with what is wrong with a file, or soon after `stop` does not want it
/// any more.
pub(crate) fn to_value(
    parts: Vec<Part>,
    ty: &Ty,
    precision: Precision,
    stop: &dyn Fn() -> bool,
) -> Result<Value, String> {
    let mut host_parts = Vec::with_capacity(parts.len());
    for part in parts {
        host_parts.push(match part {
            Part::Scalar(literal) => HostPart::Scalar(literal),
            Part::Array(array) => {
                let ty = array.ty;
                let mut all = Vec::with_capacity(array.length * ty.size());
                array.drain(&mut |bytes| {
                    all.extend_from_slice(bytes);
                    Ok::<(), String>(())
                })?;
                HostPart::Array(ty, all)
            }
        });
    }
    let value = lower::value_of(ty, host_parts, precision, stop);
    value.ok_or_else(|| FaultCode::Interrupted.message().to_owned())
}

/// Returns a length or an extent as a part.
pub(super) fn count(n: usize) -> Part {
    Part::Scalar(Literal::I64(n as i64))
}
