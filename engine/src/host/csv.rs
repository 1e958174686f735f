//! CSV files, typed by an example row: a tuple of int, float, bool, char and strings.
//!
//! A first line that does not fit the row is a header if none of its fields would do where a
//! number is wanted; a row of strings has no header.

use super::{host_fault, read_file, write_file};
use nesl_core::interp::Value;
use nesl_core::ir::Ty;
use nesl_runtime::fault::Fault;

/// Reads a file of rows of a type.
pub(super) fn read(path: &str, row: &Ty) -> Result<Value, Fault> {
    let columns = columns(row).map_err(|message| host_fault(format!("read_csv: {message}")))?;
    let bytes = read_file(path)?;
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(&bytes[..]);
    let mut rows = Vec::new();
    for (index, record) in reader.byte_records().enumerate() {
        let record = record.map_err(|e| host_fault(format!("{path}: {e}")))?;
        let line = record.position().map_or(0, csv::Position::line);
        if index == 0 && is_header(&record, &columns) {
            continue;
        }
        if record.len() != columns.len() {
            let (wanted, found) = (columns.len(), record.len());
            let column = if found > wanted { column_of(&record, wanted) } else { 1 };
            let message = format!("{path}:{line}:{column}: expected {wanted} fields, found {found}");
            return Err(host_fault(message));
        }
        let mut values = Vec::with_capacity(columns.len());
        for (i, (field, ty)) in record.iter().zip(&columns).enumerate() {
            let value = parse(field, ty).ok_or_else(|| {
                let shown = String::from_utf8_lossy(field);
                let column = column_of(&record, i);
                host_fault(format!("{path}:{line}:{column}: expected {}, found `{shown}`", what(ty)))
            })?;
            values.push(value);
        }
        rows.push(tuple(values));
    }
    Ok(Value::sequence(row, rows))
}

/// Writes rows, under a header unless it is empty.
pub(super) fn write(rows: &Value, ty: &Ty, header: &[u8], path: &str) -> Result<Value, Fault> {
    let Ty::Sequence(row) = ty else { unreachable!("rows are a sequence") };
    let columns = columns(row).map_err(|message| host_fault(format!("write_csv: {message}")))?;
    let mut out = Vec::new();
    if !header.is_empty() {
        out.extend_from_slice(header);
        if !header.ends_with(b"\n") {
            out.push(b'\n');
        }
    }
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(out);
    let failed = |e: csv::Error| host_fault(format!("{path}: {e}"));
    for value in rows.elements().iter() {
        let mut fields: Vec<Vec<u8>> = Vec::with_capacity(columns.len());
        let mut rest = value;
        for i in 0..columns.len() {
            if i + 1 == columns.len() {
                fields.push(field(&rest));
            } else {
                let (first, second) = super::pair(&rest);
                fields.push(field(&first));
                rest = second;
            }
        }
        writer.write_record(&fields).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|e| host_fault(format!("{path}: {e}")))?;
    write_file(path, &bytes)
}

/// The columns of a row type.
fn columns(row: &Ty) -> Result<Vec<Ty>, String> {
    let mut all = Vec::new();
    let mut rest = row;
    loop {
        let (column, more) = match rest {
            Ty::Pair(first, second) => (&**first, Some(&**second)),
            other => (other, None),
        };
        match column {
            Ty::Int | Ty::Float | Ty::Bool | Ty::Char => all.push(column.clone()),
            Ty::Sequence(inner) if **inner == Ty::Char => all.push(column.clone()),
            _ => return Err("a row is a tuple of int, float, bool, char and strings".to_owned()),
        }
        match more {
            Some(more) => rest = more,
            None => return Ok(all),
        }
    }
}

fn is_header(record: &csv::ByteRecord, columns: &[Ty]) -> bool {
    let mut numbers = record.iter().zip(columns).filter(|(_, ty)| !matches!(ty, Ty::Sequence(_) | Ty::Char)).peekable();
    record.len() == columns.len()
        && numbers.peek().is_some()
        && numbers.all(|(field, ty)| parse(field, ty).is_none())
}

fn parse(field: &[u8], ty: &Ty) -> Option<Value> {
    if let Ty::Sequence(_) = ty {
        return Some(Value::text(field));
    }
    let text = std::str::from_utf8(field).ok()?.trim();
    match ty {
        Ty::Int => text.parse().ok().map(Value::Int),
        Ty::Float => text.parse().ok().map(Value::Float),
        Ty::Bool => match text.to_ascii_lowercase().as_str() {
            "t" | "true" | "1" => Some(Value::Bool(true)),
            "f" | "false" | "0" => Some(Value::Bool(false)),
            _ => None,
        },
        Ty::Char => match field {
            [c] => Some(Value::Char(*c)),
            _ => None,
        },
        Ty::Unit | Ty::Pair(..) | Ty::Sequence(_) => None,
    }
}

fn field(value: &Value) -> Vec<u8> {
    match value {
        Value::Int(v) => v.to_string().into_bytes(),
        Value::Float(v) => format!("{v:?}").into_bytes(),
        Value::Bool(v) => if *v { b"t" } else { b"f" }.to_vec(),
        Value::Char(v) => vec![*v],
        Value::Sequence(_) => value.bytes().to_vec(),
        Value::Unit | Value::Pair(_) => Vec::new(),
    }
}

fn tuple(values: Vec<Value>) -> Value {
    let mut values = values.into_iter().rev();
    let last = values.next().unwrap_or(Value::Unit);
    values.fold(last, |rest, value| Value::pair(value, rest))
}

/// Where a field begins in its line, counted from 1; quotes are not counted.
fn column_of(record: &csv::ByteRecord, index: usize) -> usize {
    1 + record.iter().take(index).map(|field| field.len() + 1).sum::<usize>()
}

fn what(ty: &Ty) -> &'static str {
    match ty {
        Ty::Int => "an int",
        Ty::Float => "a float",
        Ty::Bool => "a bool",
        Ty::Char => "one char",
        Ty::Unit | Ty::Pair(..) | Ty::Sequence(_) => "a string",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Ty {
        let text = Ty::Sequence(Box::new(Ty::Char));
        Ty::Pair(Box::new(Ty::Int), Box::new(Ty::Pair(Box::new(Ty::Float), Box::new(text))))
    }

    fn file(text: &str) -> (tempfile::TempDir, String) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("d.csv").to_string_lossy().into_owned();
        std::fs::write(&path, text).unwrap();
        (dir, path)
    }

    #[test]
    fn headers_are_skipped_and_rows_come_back() {
        let (_dir, path) = file("n,x,who\n1,2.5,\"a, b\"\n-3,1e3,c\n");
        let rows = read(&path, &row()).unwrap();
        assert_eq!(rows.elements().len(), 2);
        let ty = Ty::Sequence(Box::new(row()));
        write(&rows, &ty, b"n,x,who", &path).unwrap();
        assert_eq!(read(&path, &row()).unwrap(), rows);
    }

    #[test]
    fn complaints_have_places() {
        let (_dir, path) = file("1,2.5,a\n2,abc,b\n");
        let message = read(&path, &row()).unwrap_err().to_string();
        assert!(message.ends_with("d.csv:2:3: expected a float, found `abc`"), "{message}");
        let (_dir, path) = file("1,2.5\n");
        let message = read(&path, &row()).unwrap_err().to_string();
        assert!(message.contains("expected 3 fields, found 2"), "{message}");
    }
}
