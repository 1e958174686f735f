//! NumPy's `.npy` files: arrays of any rank as regular nested sequences.

use super::{host_fault, read_file, write_file};
use nesl_core::interp::{Sequence, Value};
use nesl_core::ir::Ty;
use nesl_runtime::fault::Fault;
use npyz::{DType, NpyFile, Order, TypeChar, WriterBuilder};

/// Reads a file as a value of a type: `[int]`, `[[float]]`, …
pub(super) fn read(path: &str, ty: &Ty) -> Result<Value, Fault> {
    let bytes = read_file(path)?;
    parse(&bytes, ty).map_err(|message| host_fault(format!("{path}:1:1: {message}")))
}

fn parse(bytes: &[u8], ty: &Ty) -> Result<Value, String> {
    let file = NpyFile::new(bytes).map_err(|e| format!("not a .npy file: {e}"))?;
    let shape: Vec<usize> = file
        .shape()
        .iter()
        .map(|n| usize::try_from(*n).map_err(|_| "its shape is impossible".to_owned()))
        .collect::<Result<_, _>>()?;
    let order = file.order();
    let dtype = file.dtype();
    let (rank, scalar) = rank_of(ty);
    if rank != shape.len() {
        return Err(format!("the file has {} dimensions, {rank} are wanted", shape.len()));
    }
    let DType::Plain(plain) = &dtype else {
        return Err(format!("records are not supported: {}", dtype.descr()));
    };
    let width = plain.size_field().max(1);
    let count = shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d));
    let count = count.filter(|n| n.checked_mul(width as usize).is_some_and(|b| b <= bytes.len()));
    let Some(count) = count else {
        return Err("the file is shorter than its header says".to_owned());
    };
    let mismatch = || format!("the file holds {}, {} wanted", dtype.descr(), word(scalar));
    let read_error = |e: std::io::Error| format!("it cannot be read: {e}");
    let values: Vec<Value> = match (plain.type_char(), width, scalar) {
        (TypeChar::Int, 1, Ty::Int) => ints::<i8>(file, read_error)?,
        (TypeChar::Int, 2, Ty::Int) => ints::<i16>(file, read_error)?,
        (TypeChar::Int, 4, Ty::Int) => ints::<i32>(file, read_error)?,
        (TypeChar::Int, 8, Ty::Int) => ints::<i64>(file, read_error)?,
        (TypeChar::Uint, 1, Ty::Int) => ints::<u8>(file, read_error)?,
        (TypeChar::Uint, 2, Ty::Int) => ints::<u16>(file, read_error)?,
        (TypeChar::Uint, 4, Ty::Int) => ints::<u32>(file, read_error)?,
        (TypeChar::Uint, 8, Ty::Int) => {
            let all = file.into_vec::<u64>().map_err(read_error)?;
            let signed = |n: u64| i64::try_from(n).map(Value::Int).map_err(|_| format!("{n} does not fit an int"));
            all.into_iter().map(signed).collect::<Result<_, _>>()?
        }
        (TypeChar::Uint, 1, Ty::Char) => {
            file.into_vec::<u8>().map_err(read_error)?.into_iter().map(Value::Char).collect()
        }
        (TypeChar::Float, 4, Ty::Float) => {
            let all = file.into_vec::<f32>().map_err(read_error)?;
            all.into_iter().map(|x| Value::Float(f64::from(x))).collect()
        }
        (TypeChar::Float, 8, Ty::Float) => {
            file.into_vec::<f64>().map_err(read_error)?.into_iter().map(Value::Float).collect()
        }
        (TypeChar::Bool, _, Ty::Bool) => {
            file.into_vec::<bool>().map_err(read_error)?.into_iter().map(Value::Bool).collect()
        }
        _ => return Err(mismatch()),
    };
    if values.len() != count {
        return Err("the file is shorter than its header says".to_owned());
    }
    let strides = strides(&shape, order);
    Ok(nest(&values, &shape, &strides, 0, ty))
}

fn ints<T: npyz::Deserialize + Into<i64>>(
    file: NpyFile<&[u8]>,
    error: impl Fn(std::io::Error) -> String,
) -> Result<Vec<Value>, String> {
    Ok(file.into_vec::<T>().map_err(error)?.into_iter().map(|n| Value::Int(n.into())).collect())
}

fn rank_of(ty: &Ty) -> (usize, &Ty) {
    match ty {
        Ty::Sequence(inner) => {
            let (rank, scalar) = rank_of(inner);
            (rank + 1, scalar)
        }
        other => (0, other),
    }
}

fn strides(shape: &[usize], order: Order) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    match order {
        Order::C => {
            for i in (0..shape.len().saturating_sub(1)).rev() {
                strides[i] = strides[i + 1] * shape[i + 1];
            }
        }
        Order::Fortran => {
            for i in 1..shape.len() {
                strides[i] = strides[i - 1] * shape[i - 1];
            }
        }
    }
    strides
}

fn nest(values: &[Value], shape: &[usize], strides: &[usize], start: usize, ty: &Ty) -> Value {
    match ty {
        Ty::Sequence(element) => {
            let rows = (0..shape[0])
                .map(|i| nest(values, &shape[1..], &strides[1..], start + i * strides[0], element));
            Value::sequence(element, rows)
        }
        _ => values[start].clone(),
    }
}

fn word(ty: &Ty) -> &'static str {
    match ty {
        Ty::Int => "ints are",
        Ty::Float => "floats are",
        Ty::Bool => "bools are",
        Ty::Char => "chars are",
        Ty::Unit | Ty::Pair(..) | Ty::Sequence(_) => "tuples, which `.npy` files cannot hold, are",
    }
}

/// Writes a regular nested sequence.
pub(super) fn write(value: &Value, ty: &Ty, path: &str) -> Result<Value, Fault> {
    let fault = |message: String| host_fault(format!("write_npy: {message}"));
    let (rank, scalar) = rank_of(ty);
    let mut shape = Vec::new();
    let mut level: Vec<Value> = vec![value.clone()];
    for depth in 0..rank {
        let lengths: Vec<usize> = level.iter().map(|v| v.elements().len()).collect();
        let length = lengths.first().copied().unwrap_or(0);
        if let Some(other) = lengths.iter().find(|n| **n != length) {
            return Err(fault(format!(
                "the sequences at depth {depth} have lengths {length} and {other}; an array is regular"
            )));
        }
        shape.push(length as u64);
        level = level.iter().flat_map(|v| v.elements().iter().collect::<Vec<_>>()).collect();
    }
    let mut out = Vec::new();
    let done = match scalar {
        Ty::Int => save(&mut out, &shape, level.iter().map(Value::int)),
        Ty::Bool => save(&mut out, &shape, level.iter().map(Value::bool)),
        Ty::Float => save(&mut out, &shape, level.iter().map(|v| match v {
            Value::Float(x) => *x,
            other => unreachable!("{other:?} is not a float"),
        })),
        Ty::Char => {
            let bytes = Value::Sequence(Sequence::from_values(&Ty::Char, level));
            save(&mut out, &shape, bytes.bytes().iter().copied())
        }
        Ty::Unit | Ty::Pair(..) | Ty::Sequence(_) => {
            return Err(fault("an array holds ints, floats, bools or chars, not tuples".to_owned()));
        }
    };
    done.map_err(|e| fault(e.to_string()))?;
    write_file(path, &out)
}

fn save<T: npyz::AutoSerialize>(
    out: &mut Vec<u8>,
    shape: &[u64],
    values: impl Iterator<Item = T>,
) -> std::io::Result<()> {
    let mut writer =
        npyz::WriteOptions::new().default_dtype().shape(shape).writer(out).begin_nd()?;
    writer.extend(values)?;
    writer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_and_complaints() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.npy").to_string_lossy().into_owned();
        let row = Ty::Sequence(Box::new(Ty::Float));
        let ty = Ty::Sequence(Box::new(row.clone()));
        let make = |v: &[f64]| Value::sequence(&Ty::Float, v.iter().map(|x| Value::Float(*x)));
        let value = Value::sequence(&row, [make(&[1.0, 2.5]), make(&[-3.0, f64::INFINITY])]);
        write(&value, &ty, &path).unwrap();
        assert_eq!(read(&path, &ty).unwrap(), value);
        assert!(read(&path, &row).unwrap_err().to_string().contains("2 dimensions"));
        let ints = Ty::Sequence(Box::new(Ty::Sequence(Box::new(Ty::Int))));
        assert!(read(&path, &ints).unwrap_err().to_string().contains("ints are wanted"));
        let ragged = Value::sequence(&row, [make(&[1.0]), make(&[])]);
        assert!(write(&ragged, &ty, &path).unwrap_err().to_string().contains("regular"));
        let bytes = std::fs::read(&path).unwrap();
        for cut in 0..bytes.len() {
            assert!(parse(&bytes[..cut], &ty).is_err(), "{cut}");
        }
    }
}
