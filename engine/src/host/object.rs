//! Values as text files, as the original wrote them: the lengths of segments from the outside in,
//! in brackets, then the values, in parentheses. A pair is its two parts, one after the other.
//!
//! ```text
//! [[1, 2], [] int, [3]]    is    [ 3 ]  [ 2 0 1 ]  ( 1 2 3 )
//! ```
//!
//! A char is its code. Everything that is written is read back, byte for byte.

use nesl_core::interp::{Sequence, Value};
use nesl_core::ir::Ty;
use std::fmt::Write;

/// A value as text.
pub(super) fn write(value: &Value, ty: &Ty) -> String {
    let mut out = String::new();
    columns(std::slice::from_ref(value), ty, &mut out);
    out
}

/// Some values of one type: a column for each scalar in it.
fn columns(values: &[Value], ty: &Ty, out: &mut String) {
    match ty {
        Ty::Unit => {}
        Ty::Pair(a, b) => {
            let parts: Vec<(Value, Value)> = values.iter().map(super::pair).collect();
            let (firsts, seconds): (Vec<Value>, Vec<Value>) = parts.into_iter().unzip();
            columns(&firsts, a, out);
            columns(&seconds, b, out);
        }
        Ty::Sequence(element) => {
            let lengths = values.iter().map(|v| v.elements().len().to_string());
            list(out, "[", lengths, "]");
            let inner: Vec<Value> =
                values.iter().flat_map(|v| v.elements().iter().collect::<Vec<_>>()).collect();
            columns(&inner, element, out);
        }
        Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
            let words = values.iter().map(|value| match value {
                Value::Int(v) => v.to_string(),
                Value::Float(v) => format!("{v:?}"),
                Value::Bool(v) => if *v { "t" } else { "f" }.to_owned(),
                Value::Char(v) => v.to_string(),
                other => unreachable!("{other:?} is not a scalar"),
            });
            list(out, "(", words, ")");
        }
    }
}

fn list(out: &mut String, open: &str, words: impl Iterator<Item = String>, close: &str) {
    out.push_str(open);
    for word in words {
        let _ = write!(out, " {word}");
    }
    let _ = writeln!(out, " {close}");
}

/// Reads a value of a type back.
pub(super) fn read(path: &str, bytes: &[u8], ty: &Ty) -> Result<Value, String> {
    let mut words = Words::new(path, bytes);
    let mut values = column(&mut words, ty, 1)?;
    match (words.next(), values.pop()) {
        (Some(word), _) => Err(words.complain(format!("`{word}` after the end"))),
        (None, Some(value)) => Ok(value),
        (None, None) => Err(words.complain("there is nothing".to_owned())),
    }
}

/// Reads `( 1 2 3 )`, in any layout; ints are taken for floats.
pub(super) fn read_list(path: &str, bytes: &[u8], element: &Ty) -> Result<Value, String> {
    let mut words = Words::new(path, bytes);
    let mut values = Vec::new();
    words.need("(")?;
    loop {
        match words.next() {
            Some(")") => break,
            Some(word) => values.push(words.scalar(word, element)?),
            None => return Err(words.complain("expected `)`, found the end".to_owned())),
        }
    }
    Ok(Value::sequence(element, values))
}

fn column(words: &mut Words<'_>, ty: &Ty, count: usize) -> Result<Vec<Value>, String> {
    match ty {
        Ty::Unit => Ok(vec![Value::Unit; count]),
        Ty::Pair(a, b) => {
            let firsts = column(words, a, count)?;
            let seconds = column(words, b, count)?;
            Ok(firsts.into_iter().zip(seconds).map(|(a, b)| Value::pair(a, b)).collect())
        }
        Ty::Sequence(element) => {
            let lengths = words.all("[", &Ty::Int, "]", count)?;
            let mut total = 0usize;
            for length in &lengths {
                let length = usize::try_from(length.int());
                let sum = length.ok().and_then(|n| total.checked_add(n));
                // Every element takes a byte at least, unless it holds nothing.
                match sum.filter(|n| *n <= words.bytes.len() || **element == Ty::Unit) {
                    Some(sum) => total = sum,
                    None => return Err(words.complain("these lengths are impossible".to_owned())),
                }
            }
            let mut inner = column(words, element, total)?.into_iter();
            Ok(lengths
                .iter()
                .map(|n| {
                    let row = inner.by_ref().take(n.int() as usize);
                    Value::Sequence(Sequence::from_values(element, row))
                })
                .collect())
        }
        Ty::Int | Ty::Float | Ty::Bool | Ty::Char => words.all("(", ty, ")", count),
    }
}

/// The words of a file, with their places.
struct Words<'a> {
    path: &'a str,
    bytes: &'a [u8],
    at: usize,
    word: usize,
}

impl<'a> Words<'a> {
    fn new(path: &'a str, bytes: &'a [u8]) -> Words<'a> {
        Words { path, bytes, at: 0, word: 0 }
    }

    fn next(&mut self) -> Option<&'a str> {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.word = self.at;
        let bracket = |c: &u8| matches!(c, b'(' | b')' | b'[' | b']');
        let first = self.bytes.get(self.at)?;
        self.at += 1;
        if !bracket(first) {
            while self.bytes.get(self.at).is_some_and(|c| !c.is_ascii_whitespace() && !bracket(c)) {
                self.at += 1;
            }
        }
        Some(std::str::from_utf8(&self.bytes[self.word..self.at]).unwrap_or("?"))
    }

    fn complain(&self, message: String) -> String {
        let before = &self.bytes[..self.word.min(self.bytes.len())];
        let line = before.iter().filter(|c| **c == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|c| **c != b'\n').count() + 1;
        format!("{}:{line}:{column}: {message}", self.path)
    }

    fn need(&mut self, wanted: &str) -> Result<(), String> {
        match self.next() {
            Some(word) if word == wanted => Ok(()),
            Some(word) => Err(self.complain(format!("expected `{wanted}`, found `{word}`"))),
            None => Err(self.complain(format!("expected `{wanted}`, found the end"))),
        }
    }

    fn all(&mut self, open: &str, ty: &Ty, close: &str, count: usize) -> Result<Vec<Value>, String> {
        self.need(open)?;
        let mut values = Vec::new();
        for _ in 0..count {
            let Some(word) = self.next() else {
                return Err(self.complain(format!("expected {count} values, found {}", values.len())));
            };
            values.push(self.scalar(word, ty)?);
        }
        self.need(close)?;
        Ok(values)
    }

    fn scalar(&self, word: &str, ty: &Ty) -> Result<Value, String> {
        let value = match ty {
            Ty::Int => word.parse().ok().map(Value::Int),
            Ty::Float => word.parse().ok().map(Value::Float),
            Ty::Char => word.parse().ok().map(Value::Char),
            Ty::Bool => match word {
                "t" | "T" => Some(Value::Bool(true)),
                "f" | "F" => Some(Value::Bool(false)),
                _ => None,
            },
            Ty::Unit | Ty::Pair(..) | Ty::Sequence(_) => None,
        };
        let what = match ty {
            Ty::Int => "an int",
            Ty::Float => "a float",
            Ty::Char => "the code of a char",
            _ => "`t` or `f`",
        };
        value.ok_or_else(|| self.complain(format!("expected {what}, found `{word}`")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sequence(ty: Ty) -> Ty {
        Ty::Sequence(Box::new(ty))
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(rows in prop::collection::vec(
            prop::collection::vec((any::<i64>(), any::<f64>(), any::<u8>()), 0..4), 0..5)) {
            let row = Ty::Pair(Box::new(Ty::Int), Box::new(Ty::Pair(Box::new(Ty::Float), Box::new(Ty::Char))));
            let values = rows.iter().map(|r| Value::sequence(&row, r.iter().map(|(a, b, c)| {
                let b = if b.is_nan() { 0.5 } else { *b };
                Value::pair(Value::Int(*a), Value::pair(Value::Float(b), Value::Char(*c)))
            })));
            let ty = sequence(sequence(row.clone()));
            let value = Value::sequence(&sequence(row.clone()), values);
            prop_assert_eq!(read("x", write(&value, &ty).as_bytes(), &ty), Ok(value));
        }

        #[test]
        fn nothing_panics(text in "[ ()\\[\\]0-9tf.e-]{0,60}") {
            let _ = read("x", text.as_bytes(), &sequence(sequence(Ty::Int)));
            let _ = read_list("x", text.as_bytes(), &Ty::Float);
        }
    }

    #[test]
    fn complaints_have_places() {
        let found = read_list("d.txt", b"( 1 2\n x )", &Ty::Int);
        assert_eq!(found, Err("d.txt:2:2: expected an int, found `x`".to_owned()));
    }
}
