//! Tables of comma-separated values.
//!
//! The type of a row says what the columns are: a tuple of `int`, `float`, `bool` (`T`, `f`,
//! `true`, …), `char` (one byte) and `[char]`, or one of them alone. Blanks around numbers and
//! bools do not matter; empty lines are skipped.
//!
//! **The header.** The first line is taken for a header, and left out, when it has as many fields
//! as a row and *none* of its fields in the int, float and bool columns could be read as what it
//! should be, nor is any of them empty. (When there are only char and string columns, the char
//! columns decide; when there are only strings, every line is a row.) So a mistake in one field of
//! the first row of two numeric columns is reported, not swallowed.

use super::scan::{expected, float, float_text, int, located};
use csv::{ByteRecord, QuoteStyle, ReaderBuilder, WriterBuilder};
use nesl_core::interp::Value;
use nesl_core::ir::Ty;
use nesl_runtime::bug;
use nesl_runtime::scalar::Precision;

/// The type of the fields of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Int,
    Float,
    Bool,
    Char,
    Text,
}

/// The rows of a table. `name` is the file's, for messages.
pub fn read(text: &[u8], name: &str, row: &Ty, precision: Precision) -> Result<Value, String> {
    let columns = columns(row).map_err(|message| format!("{name}: {message}"))?;
    let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text);
    let mut record = ByteRecord::new();
    let mut rows = Vec::new();
    let mut first = true;
    while reader.read_byte_record(&mut record).map_err(|e| format!("{name}: {e}"))? {
        let is_first = std::mem::take(&mut first);
        let start = record.position().map_or(0, |p| p.byte() as usize);
        if record.len() != columns.len() {
            let message =
                format!("expected {}, found {}", fields(columns.len()), fields(record.len()));
            return Err(located(text, name, field_start(text, start, 0), &message));
        }
        if is_first && is_header(&record, &columns, precision) {
            continue;
        }
        let mut values = Vec::with_capacity(columns.len());
        for (index, (field, column)) in record.iter().zip(&columns).enumerate() {
            let value = parse(field, *column, precision).map_err(|message| {
                located(text, name, field_start(text, start, index), &message)
            })?;
            values.push(value);
        }
        rows.push(assemble(row, &mut values.into_iter()));
    }
    Ok(Value::sequence(row, rows))
}

/// A table of rows; `rows_ty` is the type of the sequence. The header is a line as it is to be
/// written; empty for none.
pub fn write(
    rows: &Value,
    rows_ty: &Ty,
    header: &[u8],
    precision: Precision,
) -> Result<Vec<u8>, String> {
    let Ty::Sequence(row) = rows_ty else {
        return Err(format!("a table is a sequence of rows, not {}", shown(rows_ty)));
    };
    let columns = columns(row)?;
    let mut out = Vec::new();
    let header = header.strip_suffix(b"\n").unwrap_or(header);
    if header.contains(&b'\n') {
        return Err("the header of a table is a single line".to_owned());
    }
    if !header.is_empty() {
        out.extend_from_slice(header);
        out.push(b'\n');
    }
    let rows = rows.elements();
    let mut fields = Vec::with_capacity(columns.len());
    // A text that begins like a byte order mark would lose it at the beginning of a file.
    let quote = if !rows.is_empty() && out.is_empty() && {
        flatten(&rows.at(0), row, precision, &mut fields);
        fields[0].starts_with(b"\xEF\xBB\xBF")
    } {
        QuoteStyle::Always
    } else {
        QuoteStyle::Necessary
    };
    let mut writer = WriterBuilder::new().has_headers(false).quote_style(quote).from_writer(out);
    for value in rows.iter() {
        fields.clear();
        flatten(&value, row, precision, &mut fields);
        writer.write_record(&fields).map_err(|e| e.to_string())?;
    }
    writer.into_inner().map_err(|e| e.to_string())
}

/// The columns of a row type.
fn columns(row: &Ty) -> Result<Vec<Column>, String> {
    fn collect(ty: &Ty, columns: &mut Vec<Column>) -> Result<(), String> {
        columns.push(match ty {
            Ty::Int => Column::Int,
            Ty::Float => Column::Float,
            Ty::Bool => Column::Bool,
            Ty::Char => Column::Char,
            Ty::Sequence(element) if **element == Ty::Char => Column::Text,
            Ty::Pair(a, b) => {
                nesl_core::base::with_stack(|| {
                    collect(a, columns).and_then(|()| collect(b, columns))
                })?;
                return Ok(());
            }
            Ty::Unit | Ty::Sequence(_) => {
                return Err(format!(
                    "a column of a table is int, float, bool, char or [char], not {}",
                    shown(ty)
                ));
            }
        });
        Ok(())
    }
    let mut all = Vec::new();
    collect(row, &mut all)?;
    Ok(all)
}

fn parse(field: &[u8], column: Column, precision: Precision) -> Result<Value, String> {
    let word = field.trim_ascii();
    match column {
        Column::Int => int(word, precision).map(Value::Int),
        Column::Float => float(word, precision).map(Value::Float),
        Column::Bool => match word.to_ascii_lowercase().as_slice() {
            b"t" | b"true" => Ok(Value::Bool(true)),
            b"f" | b"false" => Ok(Value::Bool(false)),
            _ => Err(expected("a bool", word)),
        },
        Column::Char => match field {
            [c] => Ok(Value::Char(*c)),
            _ => Err(expected("a char", field)),
        },
        Column::Text => Ok(Value::text(field)),
    }
}

fn is_header(record: &ByteRecord, columns: &[Column], precision: Precision) -> bool {
    let unreadable = |field: &[u8], column: Column| {
        !field.trim_ascii().is_empty() && parse(field, column, precision).is_err()
    };
    let decisive = |column: Column| match column {
        Column::Int | Column::Float | Column::Bool => true,
        Column::Char | Column::Text => false,
    };
    let by_chars = !columns.iter().any(|c| decisive(*c));
    let mut judges = record
        .iter()
        .zip(columns)
        .filter(|(_, c)| if by_chars { **c == Column::Char } else { decisive(**c) })
        .peekable();
    judges.peek().is_some() && judges.all(|(field, column)| unreadable(field, *column))
}

/// A row out of its fields.
fn assemble(row: &Ty, fields: &mut impl Iterator<Item = Value>) -> Value {
    match row {
        Ty::Pair(a, b) => {
            let first = assemble(a, fields);
            Value::pair(first, assemble(b, fields))
        }
        _ => fields.next().unwrap_or(Value::Unit),
    }
}

/// The fields of a row as text.
fn flatten(value: &Value, row: &Ty, precision: Precision, fields: &mut Vec<Vec<u8>>) {
    match (value, row) {
        (Value::Pair(pair), Ty::Pair(a, b)) => {
            flatten(&pair.0, a, precision, fields);
            flatten(&pair.1, b, precision, fields);
        }
        (Value::Int(n), _) => fields.push(n.to_string().into_bytes()),
        (Value::Float(x), _) => fields.push(float_text(*x, precision).into_bytes()),
        (Value::Bool(b), _) => fields.push(if *b { b"T" } else { b"F" }.to_vec()),
        (Value::Char(c), _) => fields.push(vec![*c]),
        (Value::Sequence(text), _) => fields.push(super::chars(text).to_vec()),
        (other, ty) => bug!("{other:?} is not a row of type {ty:?}"),
    }
}

/// The position of a field, given that of its record.
fn field_start(text: &[u8], record: usize, index: usize) -> usize {
    let mut at = record;
    if at == 0 && text.starts_with(b"\xEF\xBB\xBF") {
        at = 3;
    }
    while matches!(text.get(at), Some(b'\r' | b'\n')) {
        at += 1;
    }
    for _ in 0..index {
        let mut quoted = false;
        while let Some(c) = text.get(at) {
            match c {
                b'"' => quoted = !quoted,
                b',' if !quoted => break,
                _ => {}
            }
            at += 1;
        }
        at += 1;
    }
    at
}

fn fields(count: usize) -> String {
    if count == 1 { "1 field".to_owned() } else { format!("{count} fields") }
}

/// A type in NESL's notation.
pub(super) fn shown(ty: &Ty) -> String {
    match ty {
        Ty::Unit => "a function".to_owned(),
        Ty::Int => "int".to_owned(),
        Ty::Float => "float".to_owned(),
        Ty::Bool => "bool".to_owned(),
        Ty::Char => "char".to_owned(),
        Ty::Pair(a, b) => {
            let mut text = format!("({}", shown(a));
            let mut rest = b;
            while let Ty::Pair(a, b) = &**rest {
                text += &format!(", {}", shown(a));
                rest = b;
            }
            text + &format!(", {})", shown(rest))
        }
        Ty::Sequence(element) => format!("[{}]", shown(element)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: Precision = Precision::Bits64;

    fn pair(a: Ty, b: Ty) -> Ty {
        Ty::Pair(Box::new(a), Box::new(b))
    }

    fn text() -> Ty {
        Ty::Sequence(Box::new(Ty::Char))
    }

    fn message(csv: &[u8], row: &Ty) -> String {
        read(csv, "data.csv", row, WIDE).unwrap_err()
    }

    #[test]
    fn a_header_is_left_out_when_no_number_column_can_be_read() {
        let row = pair(Ty::Int, pair(text(), Ty::Float));
        let rows = |csv: &[u8]| read(csv, "f", &row, WIDE).map(|v| v.elements().len());
        assert_eq!(rows(b"id,name,size\n1,x,2\n"), Ok(1));
        assert_eq!(rows(b"1,x,2\n"), Ok(1));
        assert_eq!(rows(b"\xEF\xBB\xBFid,name,size\n1,x,2.5\r\n\r\n2,\"a\nb\",nan"), Ok(2));
        assert_eq!(rows(b""), Ok(0));
        assert_eq!(rows(b"1,name,size\n"), Err("f:1:8: expected a float, found `size`".to_owned()));
        assert_eq!(rows(b",name,size\n"), Err("f:1:1: expected an int, found nothing".to_owned()));
        let strings = read(b"a,b\nc,d\n", "f", &pair(text(), text()), WIDE);
        assert_eq!(strings.map(|v| v.elements().len()), Ok(2));
    }

    #[test]
    fn complaints_have_places() {
        let row = pair(Ty::Int, Ty::Int);
        assert_eq!(
            message(b"a,b\n1,2\n  1,  abc\n", &row),
            "data.csv:3:5: expected an int, found `abc`"
        );
        assert_eq!(
            message(b"1,2\n\n\n1\n", &row),
            "data.csv:4:1: expected 2 fields, found 1 field"
        );
        let row = pair(text(), Ty::Int);
        assert_eq!(
            message(b"x,1\n\"a,\n\"\"b\",x\n", &row),
            "data.csv:3:6: expected an int, found `x`"
        );
        assert_eq!(
            message(b"1\n", &Ty::Sequence(Box::new(Ty::Int))),
            "data.csv: a column of a table is int, float, bool, char or [char], not [int]"
        );
        assert_eq!(
            message("x,1\né,1.5\n".as_bytes(), &row),
            "data.csv:2:3: expected an int, found `1.5`"
        );
    }

    #[test]
    fn writes_what_it_can_read() {
        let row = pair(Ty::Bool, pair(Ty::Char, text()));
        let rows = Value::sequence(
            &row,
            [Value::pair(
                Value::Bool(true),
                Value::pair(Value::Char(b','), Value::text("say \"no\"\n")),
            )],
        );
        let written = write(&rows, &Ty::Sequence(Box::new(row.clone())), b"a,b,c", WIDE).unwrap();
        assert_eq!(written, b"a,b,c\nT,\",\",\"say \"\"no\"\"\n\"\n");
        assert_eq!(read(&written, "f", &row, WIDE), Ok(rows));
    }
}
