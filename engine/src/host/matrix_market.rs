//! Sparse and dense matrices in the Matrix Market format.
//!
//! ```text
//! %%MatrixMarket matrix coordinate real symmetric
//! % a comment
//! 3 3 2            rows, columns, entries
//! 1 1 2.5
//! 3 1 -1.0         stands for (2, 0) and, by symmetry, (0, 2)
//! ```
//!
//! Entries are counted from 1 in the file and from 0 in the language. `coordinate` and `array`;
//! `real`, `integer` and `pattern` (every entry is 1.0); `general`, `symmetric` and
//! `skew-symmetric`, whose other half is filled in. Of an `array` the zeros are left out.

use super::STOPPED;
use super::scan::{expected, float, float_text, int, is_blank, located};
use nesl_core::interp::{Sequence, Value};
use nesl_runtime::bug;
use nesl_runtime::scalar::Precision;
use std::io::Write;
use std::sync::Arc;

/// A matrix as its entries.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// The number of rows.
    pub rows: i64,
    /// The number of columns.
    pub columns: i64,
    /// Row, column (from 0) and value.
    pub entries: Vec<(i64, i64, f64)>,
}

impl Matrix {
    /// `((rows, columns), [(row, (column, value))])`
    pub fn into_value(self) -> Value {
        let entries = self.entries.into_iter().map(|(i, j, x)| {
            Value::pair(Value::Int(i), Value::pair(Value::Int(j), Value::Float(x)))
        });
        Value::pair(
            Value::pair(Value::Int(self.rows), Value::Int(self.columns)),
            Value::Sequence(Sequence::Values(Arc::new(entries.collect()))),
        )
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Real,
    Integer,
    Pattern,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Symmetry {
    General,
    Symmetric,
    Skew,
}

/// The matrix a text holds. `name` is the file's, for messages.
pub fn read(text: &[u8], name: &str, precision: Precision) -> Result<Matrix, String> {
    Reader { text, name, precision, at: 0 }.matrix()
}

/// The entries that are written between two checks of an interruption.
const POLLED_ENTRIES: usize = 1 << 14;

/// The text of a matrix, `((rows, columns), [(row, (column, value))])`. Fails if `stop` says so.
pub fn write(
    matrix: &Value,
    precision: Precision,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<u8>, String> {
    let halves = |value: &Value| match value {
        Value::Pair(pair) => (pair.0.clone(), pair.1.clone()),
        other => bug!("{other:?} is not a pair"),
    };
    let (shape, entries) = halves(matrix);
    let (rows, columns) = halves(&shape);
    let (rows, columns) = (rows.int(), columns.int());
    if rows < 0 || columns < 0 {
        return Err(format!("a matrix cannot have {rows} rows and {columns} columns"));
    }
    let entries = super::values(entries.elements());
    let mut out = b"%%MatrixMarket matrix coordinate real general\n".to_vec();
    let _ = writeln!(out, "{rows} {columns} {}", entries.len());
    for (entry, position) in entries.iter().zip(0usize..) {
        if position.is_multiple_of(POLLED_ENTRIES) && stop() {
            return Err(STOPPED.to_owned());
        }
        let (i, rest) = halves(entry);
        let (j, x) = halves(&rest);
        let (i, j) = (i.int(), j.int());
        if !(0..rows).contains(&i) || !(0..columns).contains(&j) {
            return Err(format!(
                "the entry ({i}, {j}) lies outside the matrix of {rows} rows and {columns} columns"
            ));
        }
        let x = match x {
            Value::Float(x) => float_text(x, precision),
            other => bug!("{other:?} is not a float"),
        };
        let _ = writeln!(out, "{} {} {x}", i + 1, j + 1);
    }
    Ok(out)
}

/// A word and the byte it begins at.
type Word<'a> = (usize, &'a [u8]);

struct Reader<'a> {
    text: &'a [u8],
    name: &'a str,
    precision: Precision,
    at: usize,
}

impl<'a> Reader<'a> {
    fn matrix(mut self) -> Result<Matrix, String> {
        let (coordinate, field, symmetry) = self.header()?;
        let wanted = if coordinate { 3 } else { 2 };
        let (at, line) = self
            .line()
            .ok_or_else(|| self.error(self.text.len(), "the size of the matrix is missing"))?;
        self.count(&line, wanted, at)?;
        let rows = self.size(line[0])?;
        let columns = self.size(line[1])?;
        if symmetry != Symmetry::General && rows != columns {
            return Err(self.error(at, "a symmetric matrix has as many rows as columns"));
        }
        let entries = if coordinate {
            let count = self.size(line[2])?;
            self.coordinates(rows, columns, count, field, symmetry)?
        } else {
            self.array(rows, columns, field, symmetry)?
        };
        if let Some((at, _)) = self.line() {
            return Err(self.error(at, "there are more entries than the matrix has"));
        }
        Ok(Matrix { rows, columns, entries })
    }

    /// True for the format of coordinates, with the kind of the entries.
    fn header(&mut self) -> Result<(bool, Field, Symmetry), String> {
        let end = self.text.iter().position(|c| *c == b'\n').unwrap_or(self.text.len());
        let words = words(self.text, 0, end);
        self.at = end + 1;
        let lower: Vec<String> = words
            .iter()
            .map(|(_, word)| String::from_utf8_lossy(word).to_ascii_lowercase())
            .collect();
        if lower.first().is_none_or(|word| word != "%%matrixmarket") {
            return Err(self.error(0, "a Matrix Market file begins with `%%MatrixMarket`"));
        }
        self.count(&words, 5, 0)?;
        let wrong = |index: usize, what: &str| {
            let (at, word) = words[index];
            self.error(at, &expected(what, word))
        };
        if lower[1] != "matrix" {
            return Err(wrong(1, "`matrix`"));
        }
        let coordinate = match lower[2].as_str() {
            "coordinate" => true,
            "array" => false,
            _ => return Err(wrong(2, "`coordinate` or `array`")),
        };
        let field = match lower[3].as_str() {
            "real" | "double" => Field::Real,
            "integer" => Field::Integer,
            "pattern" if coordinate => Field::Pattern,
            _ if coordinate => return Err(wrong(3, "`real`, `integer` or `pattern`")),
            _ => return Err(wrong(3, "`real` or `integer`")),
        };
        let symmetry = match lower[4].as_str() {
            "general" => Symmetry::General,
            "symmetric" => Symmetry::Symmetric,
            "skew-symmetric" => Symmetry::Skew,
            _ => return Err(wrong(4, "`general`, `symmetric` or `skew-symmetric`")),
        };
        Ok((coordinate, field, symmetry))
    }

    fn coordinates(
        &mut self,
        rows: i64,
        columns: i64,
        count: i64,
        field: Field,
        symmetry: Symmetry,
    ) -> Result<Vec<(i64, i64, f64)>, String> {
        let wanted = if field == Field::Pattern { 2 } else { 3 };
        let mut entries = Vec::new();
        for read in 0..count {
            let (at, line) = self.next_entry(read, i128::from(count))?;
            self.count(&line, wanted, at)?;
            let i = self.index(line[0], rows, "row")?;
            let j = self.index(line[1], columns, "column")?;
            let x = match line.get(2) {
                Some(word) => self.number(*word, field)?,
                None => 1.0,
            };
            entries.push((i, j, x));
            match symmetry {
                Symmetry::Skew if i == j => {
                    return Err(self.error(at, "a skew-symmetric matrix has no diagonal"));
                }
                Symmetry::Skew => entries.push((j, i, -x)),
                Symmetry::Symmetric if i != j => entries.push((j, i, x)),
                Symmetry::Symmetric | Symmetry::General => {}
            }
        }
        Ok(entries)
    }

    /// Column by column; of a symmetric matrix only what is on and below the diagonal, of a
    /// skew-symmetric one only what is below.
    fn array(
        &mut self,
        rows: i64,
        columns: i64,
        field: Field,
        symmetry: Symmetry,
    ) -> Result<Vec<(i64, i64, f64)>, String> {
        let (n, m) = (i128::from(rows), i128::from(columns));
        let count = match symmetry {
            Symmetry::General => n * m,
            Symmetry::Symmetric => n * (n + 1) / 2,
            Symmetry::Skew => n * (n - 1) / 2,
        };
        // Checked at once, for a matrix may claim to be very wide and have no rows.
        if count > self.text.len() as i128 {
            return Err(self.error(self.text.len(), &missing(0, count)));
        }
        let mut entries = Vec::new();
        let mut read = 0;
        let columns = if count == 0 { 0 } else { columns };
        for j in 0..columns {
            let top = match symmetry {
                Symmetry::General => 0,
                Symmetry::Symmetric => j,
                Symmetry::Skew => j + 1,
            };
            for i in top..rows {
                let (at, line) = self.next_entry(read, count)?;
                self.count(&line, 1, at)?;
                let x = self.number(line[0], field)?;
                read += 1;
                if x == 0.0 {
                    continue;
                }
                entries.push((i, j, x));
                match symmetry {
                    Symmetry::Symmetric if i != j => entries.push((j, i, x)),
                    Symmetry::Skew => entries.push((j, i, -x)),
                    Symmetry::Symmetric | Symmetry::General => {}
                }
            }
        }
        Ok(entries)
    }

    fn next_entry(&mut self, read: i64, count: i128) -> Result<(usize, Vec<Word<'a>>), String> {
        self.line().ok_or_else(|| self.error(self.text.len(), &missing(read, count)))
    }

    /// The words of the next line that is neither empty nor a comment, and where it begins.
    fn line(&mut self) -> Option<(usize, Vec<Word<'a>>)> {
        while self.at < self.text.len() {
            let rest = &self.text[self.at..];
            let length = rest.iter().position(|c| *c == b'\n').unwrap_or(rest.len());
            let (start, end) = (self.at, self.at + length);
            self.at = end + 1;
            if rest[0] == b'%' {
                continue;
            }
            let words = words(self.text, start, end);
            if let Some((at, _)) = words.first() {
                return Some((*at, words));
            }
        }
        None
    }

    fn count(&self, words: &[Word<'_>], wanted: usize, at: usize) -> Result<(), String> {
        if words.len() == wanted {
            return Ok(());
        }
        let message = format!("expected {wanted} words on this line, found {}", words.len());
        Err(self.error(at, &message))
    }

    fn size(&self, (at, word): Word<'_>) -> Result<i64, String> {
        match int(word, self.precision) {
            Ok(n) if n >= 0 => Ok(n),
            Ok(_) => Err(self.error(at, "a size must not be negative")),
            Err(message) => Err(self.error(at, &message)),
        }
    }

    fn index(&self, (at, word): Word<'_>, bound: i64, what: &str) -> Result<i64, String> {
        match int(word, self.precision) {
            Ok(n) if (1..=bound).contains(&n) => Ok(n - 1),
            Ok(n) => Err(self.error(at, &format!("{what} {n} is not between 1 and {bound}"))),
            Err(message) => Err(self.error(at, &message)),
        }
    }

    fn number(&self, (at, word): Word<'_>, field: Field) -> Result<f64, String> {
        if field == Field::Integer {
            int(word, Precision::Bits64).map_err(|message| self.error(at, &message))?;
        }
        float(word, self.precision).map_err(|message| self.error(at, &message))
    }

    fn error(&self, at: usize, message: &str) -> String {
        located(self.text, self.name, at, message)
    }
}

fn missing(read: i64, count: i128) -> String {
    format!("the file ends after {read} of {count} entries")
}

/// The words between two places.
fn words(text: &[u8], start: usize, end: usize) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut at = start;
    while at < end {
        if is_blank(text[at]) {
            at += 1;
            continue;
        }
        let length = text[at..end].iter().position(|c| is_blank(*c)).unwrap_or(end - at);
        words.push((at, &text[at..at + length]));
        at += length;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(text: &str) -> Result<Matrix, String> {
        read(text.as_bytes(), "m", Precision::Bits64)
    }

    #[test]
    fn coordinates() {
        let text =
            "%%MatrixMarket matrix coordinate real general\n% note\n\n2 3 2\n1 3 2.5\n 2 1 -1\n";
        let read = matrix(text).unwrap();
        assert_eq!((read.rows, read.columns), (2, 3));
        assert_eq!(read.entries, [(0, 2, 2.5), (1, 0, -1.0)]);
    }

    #[test]
    fn symmetry_fills_in_the_other_half() {
        let text = "%%matrixmarket MATRIX coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n";
        assert_eq!(matrix(text).unwrap().entries, [(0, 0, 1.0), (1, 0, 1.0), (0, 1, 1.0)]);
        let text = "%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 3\n";
        assert_eq!(matrix(text).unwrap().entries, [(1, 0, 3.0), (0, 1, -3.0)]);
    }

    #[test]
    fn arrays_go_column_by_column() {
        let text = "%%MatrixMarket matrix array real general\n2 2\n1\n0\n3\n4\n";
        assert_eq!(matrix(text).unwrap().entries, [(0, 0, 1.0), (0, 1, 3.0), (1, 1, 4.0)]);
        let text = "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n";
        assert_eq!(
            matrix(text).unwrap().entries,
            [(0, 0, 1.0), (1, 0, 2.0), (0, 1, 2.0), (1, 1, 3.0)]
        );
        let text = "%%MatrixMarket matrix array real skew-symmetric\n2 2\n5\n";
        assert_eq!(matrix(text).unwrap().entries, [(1, 0, 5.0), (0, 1, -5.0)]);
    }

    #[test]
    fn complaints_have_places() {
        let head = "%%MatrixMarket matrix coordinate real general\n";
        for (text, message) in [
            ("", "m:1:1: a Matrix Market file begins with `%%MatrixMarket`"),
            (
                "%%MatrixMarket matrix coordinate complex general\n",
                "m:1:34: expected `real`, `integer` or `pattern`, found `complex`",
            ),
            (
                "%%MatrixMarket matrix coordinate real\n",
                "m:1:1: expected 5 words on this line, found 4",
            ),
            (head, "m:2:1: the size of the matrix is missing"),
            (&format!("{head}2 2 1\n"), "m:3:1: the file ends after 0 of 1 entries"),
            (&format!("{head}2 2 1\n3 1 5\n"), "m:3:1: row 3 is not between 1 and 2"),
            (&format!("{head}2 2 1\n1 0 5\n"), "m:3:3: column 0 is not between 1 and 2"),
            (&format!("{head}2 2 1\n1 1 x\n"), "m:3:5: expected a float, found `x`"),
            (&format!("{head}2 2 1\n1 1\n"), "m:3:1: expected 3 words on this line, found 2"),
            (
                &format!("{head}2 2 1\n1 1 1\n1 2 1\n"),
                "m:4:1: there are more entries than the matrix has",
            ),
            (
                &format!("{head}2 2 9999999999999\n1 1 1\n"),
                "m:4:1: the file ends after 1 of 9999999999999 entries",
            ),
            (
                "%%MatrixMarket matrix array real general\n9999999999 9999999999\n1\n",
                "m:4:1: the file ends after 0 of 99999999980000000001 entries",
            ),
        ] {
            assert_eq!(matrix(text), Err(message.to_owned()));
        }
    }
}
