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

use super::csv::shown;
use header::{Header, Kind};
use nesl_core::interp::{Sequence, Value};
use nesl_core::ir::Ty;
use nesl_runtime::bug;
use nesl_runtime::scalar::Precision;
use std::sync::Arc;

/// The largest number of empty sequences that an array without elements is read as: one of shape
/// 1000 × 0 has 1000.
const MAX_EMPTY_ROWS: usize = 1 << 20;

/// The array of a file, as a value of a type. `name` is the file's, for messages.
pub fn read(bytes: &[u8], name: &str, ty: &Ty, precision: Precision) -> Result<Value, String> {
    let complain = |message: String| format!("{name}: {message}");
    let (header, data) = header::parse(bytes).map_err(complain)?;
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
    let total = elements(&header, data.len()).map_err(complain)?;
    let data = &data[..total * header.size];
    let flat = match element {
        Ty::Int => Sequence::Ints(Arc::new(ints(data, &header, precision).map_err(complain)?)),
        Ty::Float => Sequence::Floats(Arc::new(floats(data, &header, precision))),
        Ty::Bool => Sequence::Bools(Arc::new(data.iter().map(|b| *b != 0).collect())),
        _ => Sequence::Chars(Arc::new(data.to_vec())),
    };
    let flat = if header.fortran && header.shape.len() > 1 {
        flat.gather(fortran_places(&header.shape, total))
    } else {
        flat
    };
    Ok(nest(flat, &header.shape, ty))
}

/// The file of an array. Its rows must have equal lengths at every level.
pub fn write(array: &Value, ty: &Ty, precision: Precision) -> Result<Vec<u8>, String> {
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
                put(row.elements(), precision, &mut data);
            }
        }
        inner = element;
    }
    if rank == 0 {
        put(&Sequence::from_values(ty, vec![array.clone()]), precision, &mut data);
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

fn ints(data: &[u8], header: &Header, precision: Precision) -> Result<Vec<i64>, String> {
    let signed = header.kind == Kind::Int;
    let bits = 8 * header.size as u32;
    data.chunks_exact(header.size)
        .map(|chunk| {
            let raw = word(chunk, header.big_endian);
            let value = if signed {
                let shift = 64 - bits;
                i128::from(((raw << shift) as i64) >> shift)
            } else {
                i128::from(raw)
            };
            let fits = match precision {
                Precision::Bits32 => i32::try_from(value).ok().map(i64::from),
                Precision::Bits64 => i64::try_from(value).ok(),
            };
            fits.ok_or_else(|| format!("{value} is too large for an int"))
        })
        .collect()
}

fn floats(data: &[u8], header: &Header, precision: Precision) -> Vec<f64> {
    data.chunks_exact(header.size)
        .map(|chunk| {
            let raw = word(chunk, header.big_endian);
            let value = match header.size {
                2 => half(raw as u16),
                4 => f64::from(f32::from_bits(raw as u32)),
                _ => f64::from_bits(raw),
            };
            match precision {
                Precision::Bits32 => f64::from(value as f32),
                Precision::Bits64 => value,
            }
        })
        .collect()
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

/// Elements as sequences of sequences.
fn nest(flat: Sequence, shape: &[usize], ty: &Ty) -> Value {
    let Some((first, rest)) = shape.split_first() else {
        return flat.at(0);
    };
    let Ty::Sequence(element) = ty else { bug!("{ty:?} has as many levels as the array") };
    if rest.is_empty() {
        return Value::Sequence(flat);
    }
    // Levels below a length of zero do not exist.
    let size = if *first == 0 { 0 } else { flat.len() / first };
    let rows = (0..*first).map(|row| {
        let part = flat.gather(row * size..(row + 1) * size);
        nest(part, rest, element)
    });
    Value::sequence(element, rows)
}

fn put(elements: &Sequence, precision: Precision, data: &mut Vec<u8>) {
    match (elements, precision) {
        (Sequence::Ints(v), Precision::Bits64) => {
            data.extend(v.iter().flat_map(|n| n.to_le_bytes()));
        }
        (Sequence::Ints(v), Precision::Bits32) => {
            data.extend(v.iter().flat_map(|n| (*n as i32).to_le_bytes()));
        }
        (Sequence::Floats(v), Precision::Bits64) => {
            data.extend(v.iter().flat_map(|x| x.to_le_bytes()));
        }
        (Sequence::Floats(v), Precision::Bits32) => {
            data.extend(v.iter().flat_map(|x| (*x as f32).to_le_bytes()));
        }
        (Sequence::Bools(v), _) => data.extend(v.iter().map(|b| u8::from(*b))),
        (Sequence::Chars(v), _) => data.extend(v.iter()),
        (Sequence::Values(v), _) => bug!("{v:?} are not scalars"),
    }
}
