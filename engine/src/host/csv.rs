//! Tables of comma-separated values.
//!
//! The type of a row says what the columns are: a tuple of `int`, `float`, `bool` (`T`, `f`,
//! `true`, …), `char` (one byte) and `[char]`, or one of them alone. The last component, or the whole
//! row, may be a sequence of one of them: it takes all fields that are left, however many a row has.
//! Blanks around numbers and bools do not matter; empty lines are skipped; an empty field, or `NA`,
//! is the float NaN. A row that is a sequence of numbers, bools or chars and has none is a line of
//! `""`. A quote that is open at the end of the file is an error, for it has taken all rows behind
//! it.
//!
//! **The header.** The first line is taken for a header, and left out, when it has as many fields
//! as a row and of its fields in the int, float and bool columns none but empty ones could be read
//! as what it should be, not all are empty, and not all are numbers that are only wrong there.
//! (When there are only char and string columns, the char columns decide; when there are only
//! strings, every line is a row.) So a mistake in one field of the first row of two numeric columns
//! is reported, not swallowed. When columns are chosen by their names, the first line is the
//! header.
//!
//! | module | contents |
//! |---|---|
//! | `chunk` | the records of a part of a file, column by column |
//! | `read` | a file read by several threads |

mod chunk;
mod read;

use super::scan::{expected, float, float_text, int};
use super::source::Source;
use super::{STOPPED, columns};
use csv::{QuoteStyle, WriterBuilder};
use nesl_core::interp::Value;
use nesl_core::ir::Ty;
use nesl_runtime::bug;
use nesl_runtime::scalar::Precision;
pub(super) use read::{PART_BYTES, Table, read as read_parts};
use std::fmt::Write as _;
use std::sync::Arc;

/// The type of the fields of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Int,
    Float,
    Bool,
    Char,
    Text,
}

/// The columns of a row: one for each component, and that of all fields behind them, if the row ends
/// with a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Layout {
    fixed: Vec<Column>,
    rest: Option<Column>,
}

impl Layout {
    /// Returns true if a row may have so many fields.
    fn fits(&self, fields: usize) -> bool {
        match self.rest {
            None => fields == self.fixed.len(),
            Some(_) => fields >= self.fixed.len(),
        }
    }

    /// Returns the column of a field.
    fn column(&self, field: usize) -> Column {
        self.fixed.get(field).copied().or(self.rest).unwrap_or(Column::Text)
    }

    /// Says how many fields a row has.
    fn describe(&self) -> String {
        let count = fields(self.fixed.len());
        if self.rest.is_some() { format!("at least {count}") } else { count }
    }
}

/// The rows of a table in memory. `name` is the file's, for messages.
pub fn read(text: &[u8], name: &str, row: &Ty, precision: Precision) -> Result<Value, String> {
    value(&Table {
        source: Arc::new(Source::Bytes(text.to_vec())),
        name,
        row,
        names: &[],
        separator: b',',
        precision,
        threads: 1,
        part_bytes: PART_BYTES,
        memory: u64::MAX,
        stop: &|| false,
    })
}

/// Returns the rows of a table on the host.
fn value(table: &Table<'_>) -> Result<Value, String> {
    let parts = read_parts(table)?;
    let ty = Ty::sequence(table.row.clone());
    columns::to_value(parts, &ty, table.precision, table.stop)
}

/// The rows that are written between two checks of an interruption.
const POLLED_ROWS: usize = 1 << 12;

/// A table of rows; `rows_ty` is the type of the sequence. The header is a line as it is to be
/// written; empty for none. Fails if `stop` says so.
pub fn write(
    rows: &Value,
    rows_ty: &Ty,
    header: &[u8],
    precision: Precision,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<u8>, String> {
    let Ty::Sequence(row) = rows_ty else {
        return Err(format!("a table is a sequence of rows, not {}", shown(rows_ty)));
    };
    layout(row)?;
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
    let mut room = String::new();
    let of_texts = matches!(&**row, Ty::Sequence(field) if matches!(**field, Ty::Sequence(_)));
    // A text that begins like a byte order mark would lose it at the beginning of a file.
    let mut first = None;
    if !rows.is_empty() && out.is_empty() {
        each_field(&rows.at(0), row, precision, &mut room, &mut |field| {
            first.get_or_insert_with(|| field.starts_with(b"\xEF\xBB\xBF"));
            Ok(())
        })?;
    }
    let quote = if first == Some(true) { QuoteStyle::Always } else { QuoteStyle::Necessary };
    let mut writer =
        WriterBuilder::new().has_headers(false).flexible(true).quote_style(quote).from_writer(out);
    for (value, position) in rows.iter().zip(0usize..) {
        if position.is_multiple_of(POLLED_ROWS) && stop() {
            return Err(STOPPED.to_owned());
        }
        if of_texts && value.elements().is_empty() {
            return Err(format!(
                "row {position} has no fields, which a line of a table cannot say: it would be read as one empty string"
            ));
        }
        each_field(&value, row, precision, &mut room, &mut |field| {
            writer.write_field(field).map_err(|e| e.to_string())
        })?;
        writer.write_record(None::<&[u8]>).map_err(|e| e.to_string())?;
    }
    writer.into_inner().map_err(|e| e.to_string())
}

/// The columns of a row type.
fn layout(row: &Ty) -> Result<Layout, String> {
    fn scalar(ty: &Ty) -> Option<Column> {
        Some(match ty {
            Ty::Int => Column::Int,
            Ty::Float => Column::Float,
            Ty::Bool => Column::Bool,
            Ty::Char => Column::Char,
            Ty::Sequence(element) if **element == Ty::Char => Column::Text,
            Ty::Unit | Ty::Sequence(_) | Ty::Pair(..) => return None,
        })
    }
    fn collect(ty: &Ty, last: bool, layout: &mut Layout) -> Result<(), String> {
        match (ty, scalar(ty)) {
            (_, Some(column)) => layout.fixed.push(column),
            (Ty::Pair(a, b), _) => {
                return nesl_core::base::with_stack(|| {
                    collect(a, false, layout).and_then(|()| collect(b, last, layout))
                });
            }
            (Ty::Sequence(element), _) if last && scalar(element).is_some() => {
                layout.rest = scalar(element);
            }
            _ => {
                return Err(format!(
                    "a column of a table is int, float, bool, char or [char], and the last may be a sequence of them; it is not {}",
                    shown(ty)
                ));
            }
        }
        Ok(())
    }
    let mut layout = Layout { fixed: Vec::new(), rest: None };
    collect(row, true, &mut layout)?;
    Ok(layout)
}

/// Returns true for the field of a value that is missing.
fn is_missing(word: &[u8]) -> bool {
    word.is_empty() || word == b"NA"
}

/// Says that a column has no value for a field that is missing.
fn missing(what: &str, word: &[u8]) -> String {
    let message = expected(what, word);
    let type_name = what.rsplit(' ').next().unwrap_or(what);
    if is_missing(word) {
        format!(
            "{message}; {type_name}s cannot be missing: a column of floats has NaN there, one of texts an empty one"
        )
    } else {
        message
    }
}

fn bool(word: &[u8]) -> Result<bool, String> {
    match word {
        b"t" | b"T" => Ok(true),
        b"f" | b"F" => Ok(false),
        _ if word.eq_ignore_ascii_case(b"true") => Ok(true),
        _ if word.eq_ignore_ascii_case(b"false") => Ok(false),
        _ => Err(missing("a bool", word)),
    }
}

/// Checks that a field can be read.
fn check(field: &[u8], column: Column, precision: Precision) -> Result<(), String> {
    let word = field.trim_ascii();
    match column {
        Column::Int => int(word, precision).map(|_| ()),
        Column::Float => float(word, precision).map(|_| ()),
        Column::Bool => bool(word).map(|_| ()),
        Column::Char if field.len() == 1 => Ok(()),
        Column::Char => Err(expected("a char", field)),
        Column::Text => Ok(()),
    }
}

/// Returns true if the fields of the first line are the names of the columns.
fn is_header(record: &[&[u8]], layout: &Layout, precision: Precision) -> bool {
    let decisive = |column: Column| match column {
        Column::Int | Column::Float | Column::Bool => true,
        Column::Char | Column::Text => false,
    };
    let fields: Vec<(&[u8], Column)> =
        record.iter().enumerate().map(|(at, field)| (*field, layout.column(at))).collect();
    let by_chars = !fields.iter().any(|(_, c)| decisive(*c));
    let judges = fields
        .iter()
        .filter(|(_, c)| if by_chars { *c == Column::Char } else { decisive(*c) })
        .filter(|(field, _)| !field.trim_ascii().is_empty());
    let judges: Vec<_> = judges.collect();
    let wrong_number = |field: &[u8]| match judges.len() {
        1 => begins_number(field),
        _ => begins_number(field) && field.iter().all(|c| b"0123456789+-.eE".contains(c)),
    };
    !judges.is_empty()
        && judges.iter().all(|(field, column)| check(field, *column, precision).is_err())
        && !judges
            .iter()
            .all(|(field, column)| decisive(*column) && wrong_number(field.trim_ascii()))
}

/// Returns true for a field that begins as a number does.
fn begins_number(field: &[u8]) -> bool {
    let digits = field.strip_prefix(b"-").or(field.strip_prefix(b"+")).unwrap_or(field);
    let digits = digits.strip_prefix(b".").unwrap_or(digits);
    digits.first().is_some_and(u8::is_ascii_digit)
}

/// Gives each field of a row as text to `field`; `room` is for the digits of a number.
fn each_field(
    value: &Value,
    row: &Ty,
    precision: Precision,
    room: &mut String,
    field: &mut dyn FnMut(&[u8]) -> Result<(), String>,
) -> Result<(), String> {
    match (value, row) {
        (Value::Pair(pair), Ty::Pair(a, b)) => {
            each_field(&pair.0, a, precision, room, field)?;
            each_field(&pair.1, b, precision, room, field)
        }
        (Value::Int(n), _) => {
            room.clear();
            let _ = write!(room, "{n}");
            field(room.as_bytes())
        }
        (Value::Float(x), _) => field(float_text(*x, precision).as_bytes()),
        (Value::Bool(b), _) => field(if *b { b"T" } else { b"F" }),
        (Value::Char(c), _) => field(&[*c]),
        (Value::Sequence(text), Ty::Sequence(element)) if **element == Ty::Char => {
            field(super::chars(text))
        }
        (Value::Sequence(all), Ty::Sequence(element)) => {
            all.iter().try_for_each(|value| each_field(&value, element, precision, room, field))
        }
        (other, ty) => bug!("{other:?} is not a row of type {ty:?}"),
    }
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
    use proptest::prelude::*;

    const WIDE: Precision = Precision::Bits64;

    fn pair(a: Ty, b: Ty) -> Ty {
        Ty::Pair(Box::new(a), Box::new(b))
    }

    fn text() -> Ty {
        Ty::Sequence(Box::new(Ty::Char))
    }

    #[test]
    fn a_writer_that_is_told_to_stop_stops() {
        let rows =
            Value::Sequence(nesl_core::interp::Sequence::Ints(Arc::new((0..100_000).collect())));
        let looks = std::cell::Cell::new(0);
        let stop = || looks.replace(looks.get() + 1) == 2;
        let ty = Ty::sequence(Ty::Int);
        assert_eq!(write(&rows, &ty, b"", WIDE, &stop), Err(STOPPED.to_owned()));
        assert_eq!(looks.get(), 3);
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
        assert_eq!(rows(b",name,size\n1,x,2\n"), Ok(1));
        // A mistake in the only number of the first row is no header.
        let only = pair(Ty::Int, text());
        for first in ["12a", "1.5", "99999999999999999999", "-x", "+1e"] {
            let csv = format!("{first},x\n2,y\n");
            let is_read = read(csv.as_bytes(), "f", &only, WIDE).is_ok();
            assert_eq!(is_read, first == "-x", "{first}");
        }
        let two = pair(Ty::Int, Ty::Int);
        for (first, is_header) in [("1.5,2.5", false), ("1st,2nd", true), ("id,5min", true)] {
            let csv = format!("{first}\n1,2\n");
            let is_read = read(csv.as_bytes(), "f", &two, WIDE).is_ok();
            assert_eq!(is_read, is_header, "{first}");
        }
        let strings = read(b"a,b\nc,d\n", "f", &pair(text(), text()), WIDE);
        assert_eq!(strings.map(|v| v.elements().len()), Ok(2));
    }

    #[test]
    fn rows_without_fields_are_kept_or_refused() {
        let table = |csv: &[u8], element: Ty| read(csv, "f", &Ty::sequence(element), WIDE).unwrap();
        let written = |rows: &Value, element: Ty| {
            write(rows, &Ty::sequence(Ty::sequence(element)), b"", WIDE, &|| false)
        };
        let csv = b"1,2\n\"\"\n3\n";
        let rows = table(csv, Ty::Int);
        assert_eq!(rows.elements().at(1).elements().len(), 0);
        assert_eq!(written(&rows, Ty::Int).unwrap(), csv);
        assert_eq!(table(csv, Ty::Float).elements().at(1).elements().len(), 0);
        assert_eq!(table(b"\"\"\n1\n", Ty::Int).elements().len(), 2);
        // Of texts it is one empty text.
        let texts = table(csv, text());
        assert_eq!(texts.elements().at(1).elements().len(), 1);
        assert_eq!(written(&texts, text()).unwrap(), csv);
        assert!(written(&rows, text()).unwrap_err().starts_with("row 1 has no fields"));
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
        let nested = Ty::sequence(Ty::sequence(Ty::Int));
        assert_eq!(
            message(b"1\n", &nested),
            "data.csv: a column of a table is int, float, bool, char or [char], and the last may be a sequence of them; it is not [[int]]"
        );
        assert_eq!(
            message(b"1,\n", &Ty::sequence(Ty::Int)),
            "data.csv:1:3: expected an int, found nothing; ints cannot be missing: a column of floats has NaN there, one of texts an empty one"
        );
        assert_eq!(
            message("x,1\né,1.5\n".as_bytes(), &row),
            "data.csv:2:3: expected an int, found `1.5`"
        );
    }

    #[test]
    fn a_quote_that_is_never_closed_is_an_error() {
        let row = pair(Ty::Int, text());
        let unclosed = "this quote is never closed: a quoted field ends with `\"`, and a quote in it is \
                        written `\"\"`";
        let at = |place: &str| format!("data.csv:{place}: {unclosed}");
        assert_eq!(message(b"a,b\n4,\"x\n6,7\n", &row), at("2:3"));
        assert_eq!(message(b"1,\"", &row), at("1:3"));
        assert_eq!(message(b"1,x\n2,\"a \"\"b\"\"", &row), at("2:3"));
        // Neither the header nor a quote within a field opens anything.
        assert_eq!(message(b"x,y\n5\"\",\"x\n", &row), at("2:5"));
        assert_eq!(message(b"\"a,b\n1,2\n", &row), at("1:1"));
        let many = format!("1,\"x\n{}", "2,y\n".repeat(50_000));
        let all = chosen(many.as_bytes(), &row, &[], b',');
        assert_eq!(all, Err(format!("f:1:3: {unclosed}")));
        // What is closed at the end of the file is a record like others.
        let rows = |csv: &[u8]| read(csv, "f", &row, WIDE).map(|v| v.elements().len());
        for end in ["\"x\"", "\"x\n\"", "\"\"\"\"", "x\"", "\"x\"y", "", "x\r", "\"x\"\r\n\n"] {
            assert_eq!(rows(format!("1,y\n2,{end}").as_bytes()), Ok(2), "{end:?}");
        }
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
        let written =
            write(&rows, &Ty::Sequence(Box::new(row.clone())), b"a,b,c", WIDE, &|| false).unwrap();
        assert_eq!(written, b"a,b,c\nT,\",\",\"say \"\"no\"\"\n\"\n");
        assert_eq!(read(&written, "f", &row, WIDE), Ok(rows));
    }

    #[test]
    fn a_sequence_takes_the_fields_that_are_left() {
        let rows = |csv: &[u8], row: &Ty| read(csv, "f", row, WIDE).unwrap();
        let floats =
            |all: &[f64]| Value::sequence(&Ty::Float, all.iter().map(|x| Value::Float(*x)));
        let row = Ty::sequence(Ty::Float);
        let table = rows(b"a,b\n1,2\n3\n4,5,6\n", &row);
        let expected = [floats(&[1.0, 2.0]), floats(&[3.0]), floats(&[4.0, 5.0, 6.0])];
        assert_eq!(table, Value::sequence(&row, expected));
        let row = pair(text(), Ty::sequence(Ty::Float));
        let table = rows(b"x,1,2\ny\n", &row);
        let named = |name: &str, all: &[f64]| Value::pair(Value::text(name), floats(all));
        assert_eq!(table, Value::sequence(&row, [named("x", &[1.0, 2.0]), named("y", &[])]));
        let missing = rows(b"1,,NA\n", &Ty::sequence(Ty::Float));
        let missing = missing.elements().at(0);
        assert!(matches!(missing.elements().at(1), Value::Float(x) if x.is_nan()));
        assert!(matches!(missing.elements().at(2), Value::Float(x) if x.is_nan()));
    }

    /// A table whose columns are chosen, read in parts of a few bytes.
    fn chosen(csv: &[u8], row: &Ty, names: &[&str], separator: u8) -> Result<Value, String> {
        let names: Vec<Vec<u8>> = names.iter().map(|name| name.as_bytes().to_vec()).collect();
        value(&Table {
            source: Arc::new(Source::Bytes(csv.to_vec())),
            name: "f",
            row,
            names: &names,
            separator,
            precision: WIDE,
            threads: 3,
            part_bytes: 5,
            memory: 1 << 20,
            stop: &|| false,
        })
    }

    #[test]
    fn columns_are_chosen_by_their_names() {
        let row = pair(Ty::Float, text());
        let table =
            chosen(b"id; name ;x\n1;one;0.5\n2;two;\n", &row, &["x", "name"], b';').unwrap();
        let first = Value::pair(Value::Float(0.5), Value::text("one"));
        assert_eq!(table.elements().at(0), first);
        let message = |csv: &[u8], names: &[&str]| chosen(csv, &row, names, b',').unwrap_err();
        assert_eq!(
            message(b"a,b\n", &["a", "c"]),
            "f:1:1: no column is named `c`; there are `a`, `b`"
        );
        assert_eq!(message(b"a,b\n", &["a"]), "f:1:1: the row has 2 components but 1 were chosen");
        assert_eq!(
            message(b"a,b\n1,2\n1,2,3\n", &["a", "b"]),
            "f:3:1: expected 2 fields, found 3 fields"
        );
    }

    #[test]
    fn what_is_too_large_for_the_memory_is_refused() {
        let csv = "1\n".repeat(200_000);
        let message = chosen(csv.as_bytes(), &Ty::Int, &[], b',').unwrap_err();
        assert!(message.starts_with("f: the table is too large: "), "{message}");
    }

    proptest! {
        #[test]
        fn parts_make_no_difference(
            rows in prop::collection::vec(("[a\"\n,\r ]{0,9}", any::<i64>()), 0..40),
            damage in prop::option::of((any::<prop::sample::Index>(), "[\"\n,x]")),
        ) {
            let row = pair(text(), Ty::Int);
            let rows = rows.into_iter().map(|(a, b)| Value::pair(Value::text(a), Value::Int(b)));
            let rows = Value::sequence(&row, rows);
            let mut csv = write(&rows, &Ty::sequence(row.clone()), b"", WIDE, &|| false).unwrap();
            let damaged = damage.is_some();
            if let Some((at, by)) = damage && !csv.is_empty() {
                let at = at.index(csv.len());
                csv[at] = by.as_bytes()[0];
            }
            let whole = read(&csv, "f", &row, WIDE);
            prop_assert_eq!(&chosen(&csv, &row, &[], b','), &whole);
            if !damaged {
                prop_assert_eq!(whole, Ok(rows));
            }
        }
    }
}
