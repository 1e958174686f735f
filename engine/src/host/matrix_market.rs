//! Matrix Market files: sparse matrices as (row, column, value) counted from 0.
//!
//! `coordinate` and `array`; `real`, `integer` and `pattern` (whose values are 1); `general`,
//! `symmetric` and `skew-symmetric` (both halves come out).

use super::{host_fault, pair, read_file, write_file};
use nesl_core::interp::Value;
use nesl_core::ir::Ty;
use nesl_runtime::fault::Fault;
use std::fmt::Write;

/// Reads a matrix: its rows and columns, and its entries.
pub(super) fn read(path: &str) -> Result<Value, Fault> {
    let bytes = read_file(path)?;
    let text = String::from_utf8_lossy(&bytes);
    parse(&text).map_err(|(line, message)| host_fault(format!("{path}:{line}:1: {message}")))
}

type Complaint = (usize, String);

fn parse(text: &str) -> Result<Value, Complaint> {
    let mut lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    let (_, header) = lines.next().ok_or((1, "the file is empty".to_owned()))?;
    let header: Vec<String> = header.split_whitespace().map(str::to_ascii_lowercase).collect();
    let words: Vec<&str> = header.iter().map(String::as_str).collect();
    let ["%%matrixmarket", "matrix", layout, field, symmetry] = words[..] else {
        let message = "expected `%%MatrixMarket matrix LAYOUT FIELD SYMMETRY`".to_owned();
        return Err((1, message));
    };
    let refuse = |what: &str, word: &str| Err((1, format!("{what} `{word}` is not supported")));
    match field {
        "real" | "integer" | "double" | "pattern" => {}
        _ => return refuse("the field", field),
    }
    let mirror = match symmetry {
        "general" => None,
        "symmetric" => Some(1.0),
        "skew-symmetric" => Some(-1.0),
        _ => return refuse("the symmetry", symmetry),
    };
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('%'));
    let last = text.lines().count().max(1);
    let (at, sizes) = lines.next().ok_or((last, "the sizes are missing".to_owned()))?;
    let sizes = numbers::<i64>(at, sizes)?;
    let mut entries = Vec::new();
    let mut add = |row: i64, column: i64, value: f64| {
        entries.push((row, column, value));
        if let Some(sign) = mirror
            && row != column
        {
            entries.push((column, row, sign * value));
        }
    };
    let (rows, columns) = match (layout, &sizes[..]) {
        ("coordinate", &[rows, columns, count]) => {
            let mut found = 0;
            for (at, line) in lines {
                let mut words = line.split_whitespace();
                let row = index(at, words.next(), rows)?;
                let column = index(at, words.next(), columns)?;
                let value = match (field, words.next()) {
                    ("pattern", None) => 1.0,
                    (_, word) => number(at, word)?,
                };
                add(row, column, value);
                found += 1;
            }
            if found != count {
                return Err((last, format!("expected {count} entries, found {found}")));
            }
            (rows, columns)
        }
        ("array", &[rows, columns]) => {
            let mut place = (0, 0);
            for (at, line) in lines {
                if place.1 >= columns {
                    return Err((at, "more values than the sizes say".to_owned()));
                }
                add(place.0, place.1, number(at, Some(line))?);
                place.0 += 1;
                if place.0 >= rows {
                    let next = place.1 + 1;
                    place = (if mirror.is_some() { next } else { 0 }, next);
                }
            }
            if place.1 < columns {
                return Err((last, "fewer values than the sizes say".to_owned()));
            }
            (rows, columns)
        }
        ("coordinate" | "array", _) => return Err((at, "the sizes are malformed".to_owned())),
        _ => return refuse("the layout", layout),
    };
    entries.sort_by_key(|(row, column, _)| (*row, *column));
    let entry = Ty::Pair(
        Box::new(Ty::Int),
        Box::new(Ty::Pair(Box::new(Ty::Int), Box::new(Ty::Float))),
    );
    let entries = entries.into_iter().map(|(row, column, value)| {
        Value::pair(Value::Int(row), Value::pair(Value::Int(column), Value::Float(value)))
    });
    let sizes = Value::pair(Value::Int(rows), Value::Int(columns));
    Ok(Value::pair(sizes, Value::sequence(&entry, entries)))
}

fn numbers<T: std::str::FromStr>(at: usize, line: &str) -> Result<Vec<T>, Complaint> {
    line.split_whitespace()
        .map(|w| w.parse().map_err(|_| (at, format!("expected a number, found `{w}`"))))
        .collect()
}

fn number(at: usize, word: Option<&str>) -> Result<f64, Complaint> {
    let word = word.ok_or((at, "a value is missing".to_owned()))?;
    word.parse().map_err(|_| (at, format!("expected a number, found `{word}`")))
}

fn index(at: usize, word: Option<&str>, limit: i64) -> Result<i64, Complaint> {
    let word = word.ok_or((at, "an index is missing".to_owned()))?;
    match word.parse::<i64>() {
        Ok(i) if (1..=limit).contains(&i) => Ok(i - 1),
        _ => Err((at, format!("expected an index from 1 to {limit}, found `{word}`"))),
    }
}

/// Writes a matrix in coordinates.
pub(super) fn write(matrix: &Value, path: &str) -> Result<Value, Fault> {
    let (sizes, entries) = pair(matrix);
    let (rows, columns) = pair(&sizes);
    let (rows, columns) = (rows.int(), columns.int());
    let mut out = String::from("%%MatrixMarket matrix coordinate real general\n");
    let _ = writeln!(out, "{rows} {columns} {}", entries.elements().len());
    for entry in entries.elements().iter() {
        let (row, rest) = pair(&entry);
        let (column, value) = pair(&rest);
        let (row, column) = (row.int(), column.int());
        if !(0..rows).contains(&row) || !(0..columns).contains(&column) {
            let message = format!("write_matrix_market: ({row}, {column}) is outside {rows} × {columns}");
            return Err(host_fault(message));
        }
        let Value::Float(value) = value else { unreachable!("an entry is a float") };
        let _ = writeln!(out, "{} {} {value:?}", row + 1, column + 1);
    }
    write_file(path, out.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_complains() {
        let text = "%%MatrixMarket matrix coordinate real symmetric\n% c\n2 2 2\n1 1 4.0\n2 1 -1\n";
        let (sizes, entries) = pair(&parse(text).unwrap());
        assert_eq!(sizes, Value::pair(Value::Int(2), Value::Int(2)));
        assert_eq!(entries.elements().len(), 3);
        for (text, line, word) in [
            ("", 1, "empty"),
            ("%%MatrixMarket matrix coordinate complex general\n1 1 0\n", 1, "complex"),
            ("%%MatrixMarket matrix coordinate real general\n1 1 1\n2 1 0.5\n", 3, "from 1 to 1"),
            ("%%MatrixMarket matrix coordinate real general\n1 1 9\n1 1 0.5\n", 3, "expected 9"),
            ("%%MatrixMarket matrix array real general\n2 1\n0.5\n", 3, "fewer"),
        ] {
            let (at, message) = parse(text).unwrap_err();
            assert_eq!(at, line, "{message}");
            assert!(message.contains(word), "{message}");
        }
    }
}
