//! NumPy's `.npy` files: arrays of any rank as sequences of sequences.
//!
//! The type asked for decides: `[[float]]` is a matrix of floats. Ints are read from the signed
//! and unsigned integers of 1 to 8 bytes, floats from those of 2, 4 and 8 bytes, bools from bools,
//! chars from unsigned bytes; either byte order, C or Fortran order. Nothing is converted: an
//! array of floats is not read as ints, and the message says what the file holds.
//!
//! The header is read here and not by a library: what it claims (its own length, the shape, how
//! deep it nests) is checked against what the file holds before anything is allocated.

mod header;

use super::STOPPED;
use super::columns::{self, Array, Convert, Part, Piece, count};
use super::csv::shown;
use super::source::Source;
use header::{Header, Kind};
use nesl_core::interp::{Sequence, Value};
use nesl_core::ir::Ty;
use nesl_runtime::bug;
use nesl_runtime::kir;
use nesl_runtime::scalar::Precision;
use std::io;
use std::sync::Arc;

/// The largest number of empty sequences that an array without elements is read as: one of shape
/// 1000 × 0 has 1000.
const MAX_EMPTY_ROWS: usize = 1 << 20;

/// The array of a file in memory, as a value of a type. `name` is the file's, for messages.
pub fn read(bytes: &[u8], name: &str, ty: &Ty, precision: Precision) -> Result<Value, String> {
    let parts = read_parts(Source::Bytes(bytes.to_vec()), name, ty, precision)?;
    columns::to_value(parts, ty, precision, &|| false)
}

/// The array of a file, as the parts of a value of a type. The elements stay in the file until they
/// are asked for, unless they must be rearranged.
pub(super) fn read_parts(
    source: Source,
    name: &str,
    ty: &Ty,
    precision: Precision,
) -> Result<Vec<Part>, String> {
    let complain = |message: String| format!("{name}: {message}");
    let failed = |error: io::Error| format!("{name}: {}", super::file::reason(&error));
    let head_bytes = source.len().min(header::MAX_BYTES as u64) as usize;
    let mut head = vec![0; head_bytes];
    source.read_exact_at(0, &mut head).map_err(failed)?;
    let (header, data) = header::parse(&head).map_err(complain)?;
    let at = (head.len() - data.len()) as u64;
    let available = usize::try_from(source.len() - at).unwrap_or(usize::MAX);
    let (rank, element) = rank(ty).map_err(complain)?;
    let fits = match element {
        Ty::Int => matches!(header.kind, Kind::Int | Kind::Unsigned),
        Ty::Float => header.kind == Kind::Float,
        Ty::Bool => header.kind == Kind::Bool,
        _ => header.kind == Kind::Unsigned && header.size == 1,
    };
    if !fits || rank != header.shape.len() {
        let message =
            format!("the file holds {}, which is not of type {}", header.describe(), shown(ty));
        return Err(complain(message));
    }
    let total = elements(&header, available).map_err(complain)?;
    let bytes = (total * header.size) as u64;
    let convert = if *element == Ty::Char { None } else { conversion(&header, precision) };
    let elements_ty = element_ty(element, precision);
    let is_transposed = header.fortran && header.shape.len() > 1;
    let elements = if is_transposed || header.shape.is_empty() {
        let mut raw = vec![0; total * header.size];
        source.read_exact_at(at, &mut raw).map_err(failed)?;
        let mut converted = Vec::new();
        match convert {
            None => converted = raw,
            Some(convert) => convert(&raw, &mut converted).map_err(complain)?,
        }
        if is_transposed {
            converted =
                gather(&converted, elements_ty.size(), fortran_places(&header.shape, total));
        }
        Array::of_bytes(elements_ty, converted)
    } else {
        let (source, name) = (Arc::new(source), name.into());
        let piece = Piece::File { source, name, at, bytes, element: header.size, convert };
        Array { ty: elements_ty, length: total, pieces: vec![piece] }
    };
    Ok(nest(elements, &header.shape))
}

/// The elements that are written between two checks of an interruption.
const POLLED_ELEMENTS: usize = 1 << 18;

/// The file of an array. Its rows must have equal lengths at every level. Fails if `stop` says so.
pub fn write(
    array: &Value,
    ty: &Ty,
    precision: Precision,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<u8>, String> {
    let (rank, element) = rank(ty)?;
    let mut shape = Vec::with_capacity(rank);
    let mut level = vec![array];
    let mut inner = ty;
    let mut data = Vec::new();
    while let Ty::Sequence(element) = inner {
        let length = level.first().map_or(0, |v| v.elements().len());
        if let Some(row) = level.iter().position(|v| v.elements().len() != length) {
            let found = level[row].elements().len();
            return Err(format!(
                "the rows of an array have equal lengths, but one has {length} and another {found} elements"
            ));
        }
        shape.push(length);
        if matches!(**element, Ty::Sequence(_)) {
            level = level.iter().flat_map(|v| super::values(v.elements())).collect();
        } else {
            for row in &level {
                put(row.elements(), precision, &mut data, stop);
            }
        }
        inner = element;
    }
    if rank == 0 {
        put(&Sequence::from_values(ty, vec![array.clone()]), precision, &mut data, stop);
    }
    if stop() {
        return Err(STOPPED.to_owned());
    }
    let descr = match (element, precision) {
        (Ty::Int, Precision::Bits32) => "<i4",
        (Ty::Int, Precision::Bits64) => "<i8",
        (Ty::Float, Precision::Bits32) => "<f4",
        (Ty::Float, Precision::Bits64) => "<f8",
        (Ty::Bool, _) => "|b1",
        _ => "|u1",
    };
    let mut file = header::write(descr, &shape);
    file.extend(data);
    Ok(file)
}

/// The number of levels of sequences, and the type of their elements.
fn rank(ty: &Ty) -> Result<(usize, &Ty), String> {
    let mut rank = 0;
    let mut inner = ty;
    while let Ty::Sequence(element) = inner {
        rank += 1;
        inner = element;
    }
    match inner {
        Ty::Int | Ty::Float | Ty::Bool | Ty::Char => Ok((rank, inner)),
        Ty::Unit | Ty::Pair(..) | Ty::Sequence(_) => Err(format!(
            "an array holds ints, floats, bools or chars; {} is no type for it",
            shown(ty)
        )),
    }
}

/// The number of elements, all of which the data has.
fn elements(header: &Header, available: usize) -> Result<usize, String> {
    let empty = header.shape.contains(&0);
    let mut product = 1usize;
    for length in &header.shape {
        if *length == 0 {
            break;
        }
        let bound = if empty { MAX_EMPTY_ROWS } else { available / header.size };
        product =
            product.checked_mul(*length).filter(|product| *product <= bound).ok_or_else(|| {
                format!("the file should hold {}, but it ends before", header.describe())
            })?;
    }
    if empty {
        return Ok(0);
    }
    if product > available / header.size {
        return Err(format!("the file should hold {}, but it ends before", header.describe()));
    }
    Ok(product)
}

/// Returns the type of an element on a runtime.
fn element_ty(element: &Ty, precision: Precision) -> kir::Ty {
    match (element, precision) {
        (Ty::Int, Precision::Bits64) => kir::Ty::I64,
        (Ty::Int, Precision::Bits32) => kir::Ty::I32,
        (Ty::Float, Precision::Bits64) => kir::Ty::F64,
        (Ty::Float, Precision::Bits32) => kir::Ty::F32,
        (Ty::Bool, _) => kir::Ty::Bool,
        _ => kir::Ty::U8,
    }
}

/// Returns what makes elements of the bytes of a file.
fn conversion(header: &Header, precision: Precision) -> Convert {
    let (kind, size, big_endian) = (header.kind, header.size, header.big_endian);
    let native = cfg!(target_endian = "little") && !big_endian;
    let width = match precision {
        Precision::Bits64 => 8,
        Precision::Bits32 => 4,
    };
    if native && size == width && matches!(kind, Kind::Int | Kind::Float) {
        return None;
    }
    let convert = move |raw: &[u8], out: &mut Vec<u8>| -> Result<(), String> {
        for chunk in raw.chunks_exact(size) {
            let word = word(chunk, big_endian);
            match kind {
                Kind::Bool => out.push(u8::from(word != 0)),
                Kind::Float => {
                    let value = match size {
                        2 => half(word as u16),
                        4 => f64::from(f32::from_bits(word as u32)),
                        _ => f64::from_bits(word),
                    };
                    match precision {
                        Precision::Bits32 => out.extend_from_slice(&(value as f32).to_ne_bytes()),
                        Precision::Bits64 => out.extend_from_slice(&value.to_ne_bytes()),
                    }
                }
                Kind::Int | Kind::Unsigned => {
                    let value = if kind == Kind::Int {
                        let shift = 64 - 8 * size as u32;
                        i128::from(((word << shift) as i64) >> shift)
                    } else {
                        i128::from(word)
                    };
                    let too_large = || format!("{value} is too large for an int");
                    match precision {
                        Precision::Bits32 => {
                            let value = i32::try_from(value).map_err(|_| too_large())?;
                            out.extend_from_slice(&value.to_ne_bytes());
                        }
                        Precision::Bits64 => {
                            let value = i64::try_from(value).map_err(|_| too_large())?;
                            out.extend_from_slice(&value.to_ne_bytes());
                        }
                    }
                }
            }
        }
        Ok(())
    };
    Some(Arc::new(convert))
}

/// Returns elements of a size at the given places.
fn gather(elements: &[u8], size: usize, places: impl Iterator<Item = usize>) -> Vec<u8> {
    let mut gathered = Vec::with_capacity(elements.len());
    places.for_each(|at| gathered.extend_from_slice(&elements[at * size..(at + 1) * size]));
    gathered
}

/// Up to eight bytes as a number.
fn word(bytes: &[u8], big_endian: bool) -> u64 {
    let fold = |word: u64, byte: &u8| word << 8 | u64::from(*byte);
    if big_endian { bytes.iter().fold(0, fold) } else { bytes.iter().rev().fold(0, fold) }
}

/// A float of two bytes.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(bits >> 10 & 0x1F);
    let fraction = f64::from(bits & 0x3FF);
    match exponent {
        0 => sign * fraction * 2f64.powi(-24),
        0x1F if fraction == 0.0 => sign * f64::INFINITY,
        0x1F => f64::NAN,
        _ => sign * (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

/// For each element in C order, its place in Fortran order.
fn fortran_places(shape: &[usize], total: usize) -> impl Iterator<Item = usize> + '_ {
    let strides: Vec<usize> = shape
        .iter()
        .scan(1usize, |stride, length| {
            let here = *stride;
            *stride = stride.saturating_mul(*length);
            Some(here)
        })
        .collect();
    let mut index = vec![0; shape.len()];
    let mut place = 0;
    (0..total).map(move |_| {
        let here = place;
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            place += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            place -= strides[axis] * shape[axis];
            index[axis] = 0;
        }
        here
    })
}

/// Returns the parts of an array: the segments of each level, and the elements.
fn nest(elements: Array, shape: &[usize]) -> Vec<Part> {
    let mut parts = Vec::new();
    let Some((first, rest)) = shape.split_first() else {
        // A single element.
        return vec![elements.into_scalar()];
    };
    parts.push(count(*first));
    let mut segments = *first;
    for length in rest {
        let length = if segments == 0 { 0 } else { *length };
        let (mut starts, mut lengths) =
            (Vec::with_capacity(8 * segments), Vec::with_capacity(8 * segments));
        for at in 0..segments {
            starts.extend_from_slice(&((at * length) as i64).to_ne_bytes());
            lengths.extend_from_slice(&(length as i64).to_ne_bytes());
        }
        parts.push(Part::Array(Array::of_bytes(kir::Ty::I64, starts)));
        parts.push(Part::Array(Array::of_bytes(kir::Ty::I64, lengths)));
        segments *= length;
        parts.push(count(segments));
    }
    parts.push(Part::Array(elements));
    parts
}

/// Adds the bytes of the elements, unless it is told to stop.
fn put(elements: &Sequence, precision: Precision, data: &mut Vec<u8>, stop: &dyn Fn() -> bool) {
    match (elements, precision) {
        (Sequence::Ints(v), Precision::Bits64) => put_each(v, |n| n.to_le_bytes(), data, stop),
        (Sequence::Ints(v), Precision::Bits32) => {
            put_each(v, |n| (*n as i32).to_le_bytes(), data, stop);
        }
        (Sequence::Floats(v), Precision::Bits64) => put_each(v, |x| x.to_le_bytes(), data, stop),
        (Sequence::Floats(v), Precision::Bits32) => {
            put_each(v, |x| (*x as f32).to_le_bytes(), data, stop);
        }
        (Sequence::Bools(v), _) => put_each(v, |b| [u8::from(*b)], data, stop),
        (Sequence::Chars(v), _) => put_each(v, |c| [*c], data, stop),
        (Sequence::Values(v), _) => bug!("{v:?} are not scalars"),
    }
}

fn put_each<T, const BYTES: usize>(
    elements: &[T],
    bytes: impl Fn(&T) -> [u8; BYTES],
    data: &mut Vec<u8>,
    stop: &dyn Fn() -> bool,
) {
    data.reserve(elements.len() * BYTES);
    for part in elements.chunks(POLLED_ELEMENTS) {
        if stop() {
            return;
        }
        data.extend(part.iter().flat_map(&bytes));
    }
}
