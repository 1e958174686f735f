//! Any value as text, for `write_object_to_file` and `read_object_from_file`.
//!
//! The lengths of sequences stand in brackets, from the outermost level inwards, then the values,
//! all together, in parentheses; the parts of pairs come one after the other. Chars are quoted.
//!
//! ```text
//! [[1, 2], [], [3]]     [ 3 ]  [ 2 0 1 ]  ( 1 2 3 )
//! (7, "seven")          ( 7 )  [ 5 ]  "seven"
//! [(1, t), (2, f)]      [ 2 ]  ( 1 2 )  ( T F )
//! ```
//!
//! NESL 3.1 writes chars without quotes, after their number: `[ 3 ] ( 3 ) abc`. That is read, too.
//!
//! The text is ASCII: other chars, `"` and `\` are written `\xHH`, `\"`, `\\`; line ends `\n`.

use super::scan::{Scanner, float, float_text, int};
use nesl_core::base::with_stack;
use nesl_core::interp::{Sequence, Value};
use nesl_core::ir::Ty;
use nesl_runtime::bug;
use nesl_runtime::scalar::Precision;
use std::io::Write;
use std::sync::Arc;

/// The number of items that are written between two questions whether the text is still wanted.
const POLLED_ITEMS: usize = 1 << 14;

/// A value as text, which ends soon after `stop` does not want it any more.
pub fn write(value: &Value, ty: &Ty, precision: Precision, stop: &dyn Fn() -> bool) -> Vec<u8> {
    let mut writer = Writer { out: Vec::new(), precision, stop };
    writer.values(ty, &[value]);
    writer.out
}

/// The value of a type that a text holds. `name` is the file's, for messages.
pub fn read(text: &[u8], name: &str, ty: &Ty, precision: Precision) -> Result<Value, String> {
    let mut reader = Reader { scanner: Scanner::new(text, name), precision };
    let mut values = reader.values(ty, 1)?;
    reader.scanner.end()?;
    Ok(values.remove(0))
}

/// The value of a type that a text begins with, and the number of bytes that it takes.
pub fn read_first(
    text: &[u8],
    name: &str,
    ty: &Ty,
    precision: Precision,
) -> Result<(Value, usize), String> {
    let mut reader = Reader { scanner: Scanner::new(text, name), precision };
    let mut values = reader.values(ty, 1)?;
    Ok((values.remove(0), reader.scanner.position()))
}

struct Writer<'a> {
    out: Vec<u8>,
    precision: Precision,
    stop: &'a dyn Fn() -> bool,
}

/// Items, until nobody wants their text any more.
fn polled<T>(
    stop: &dyn Fn() -> bool,
    items: impl IntoIterator<Item = T>,
) -> impl Iterator<Item = T> {
    let goes_on = move |position: usize| position % POLLED_ITEMS != POLLED_ITEMS - 1 || !stop();
    items.into_iter().enumerate().take_while(move |(at, _)| goes_on(*at)).map(|(_, item)| item)
}

impl Writer<'_> {
    /// Values of one type, level by level.
    fn values(&mut self, ty: &Ty, values: &[&Value]) {
        match ty {
            Ty::Pair(a, b) => {
                let halves = polled(self.stop, values).map(|value| match value {
                    Value::Pair(pair) => (&pair.0, &pair.1),
                    other => bug!("{other:?} is not a pair"),
                });
                let (firsts, seconds): (Vec<_>, Vec<_>) = halves.unzip();
                with_stack(|| {
                    self.values(a, &firsts);
                    self.values(b, &seconds);
                });
            }
            Ty::Sequence(element) => {
                let sequences: Vec<_> =
                    polled(self.stop, values).map(|value| value.elements()).collect();
                self.group(b"[]", sequences.iter().map(|s| s.len()), |out, n| {
                    let _ = write!(out, "{n}");
                });
                with_stack(|| self.elements(element, &sequences));
            }
            Ty::Unit | Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                let scalars: Vec<_> =
                    polled(self.stop, values).map(|value| (*value).clone()).collect();
                self.elements(ty, &[&Sequence::from_values(ty, scalars)]);
            }
        }
    }

    /// The elements of sequences, one after the other.
    fn elements(&mut self, ty: &Ty, sequences: &[&Sequence]) {
        match ty {
            Ty::Pair(..) | Ty::Sequence(_) => {
                let elements = sequences.iter().flat_map(|s| super::values(s));
                let elements: Vec<_> = polled(self.stop, elements).collect();
                self.values(ty, &elements);
            }
            Ty::Unit => {
                let count = sequences.iter().map(|s| s.len()).sum();
                self.group(b"()", 0..count, |out, _| out.push(b'_'));
            }
            Ty::Int => {
                let ints = sequences.iter().flat_map(|s| s.ints());
                self.group(b"()", ints, |out, n| {
                    let _ = write!(out, "{n}");
                });
            }
            Ty::Float => {
                let precision = self.precision;
                let floats = sequences.iter().flat_map(|s| super::floats(s));
                self.group(b"()", floats, |out, x| {
                    out.extend_from_slice(float_text(*x, precision).as_bytes());
                });
            }
            Ty::Bool => {
                let bools = sequences.iter().flat_map(|s| s.bools());
                self.group(b"()", bools, |out, b| out.push(if *b { b'T' } else { b'F' }));
            }
            Ty::Char => {
                self.out.push(b'"');
                for c in polled(self.stop, sequences.iter().flat_map(|s| super::chars(s))) {
                    match c {
                        b'"' | b'\\' => self.out.extend([b'\\', *c]),
                        b'\n' => self.out.extend(b"\\n"),
                        b' '..=b'~' => self.out.push(*c),
                        _ => {
                            let _ = write!(self.out, "\\x{c:02X}");
                        }
                    }
                }
                self.out.extend(b"\"\n");
            }
        }
    }

    /// Things in brackets, in lines of about 80 columns.
    fn group<T>(
        &mut self,
        brackets: &[u8; 2],
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Vec<u8>, T),
    ) {
        self.out.push(brackets[0]);
        let mut line = self.out.len();
        for item in polled(self.stop, items) {
            if self.out.len() - line > 72 {
                line = self.out.len();
                self.out.push(b'\n');
            } else {
                self.out.push(b' ');
            }
            write(&mut self.out, item);
        }
        self.out.extend([b' ', brackets[1], b'\n']);
    }
}

struct Reader<'a> {
    scanner: Scanner<'a>,
    precision: Precision,
}

impl Reader<'_> {
    /// `count` values of a type. What is allocated is bounded by the text, never by `count`.
    fn values(&mut self, ty: &Ty, count: usize) -> Result<Vec<Value>, String> {
        match ty {
            Ty::Pair(a, b) => with_stack(|| {
                let firsts = self.values(a, count)?;
                let seconds = self.values(b, count)?;
                let pairs = firsts.into_iter().zip(seconds);
                Ok(pairs.map(|(a, b)| Value::pair(a, b)).collect())
            }),
            Ty::Sequence(element) => with_stack(|| {
                let lengths = self.lengths(count)?;
                let total = lengths.iter().sum();
                let elements = self.elements(element, total)?;
                Ok(split(elements, &lengths))
            }),
            Ty::Unit | Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                Ok(self.elements(ty, count)?.iter().collect())
            }
        }
    }

    fn elements(&mut self, ty: &Ty, count: usize) -> Result<Sequence, String> {
        let precision = self.precision;
        Ok(match ty {
            Ty::Pair(..) | Ty::Sequence(_) => Sequence::Values(self.values(ty, count)?.into()),
            Ty::Unit => Sequence::Values(Arc::new(self.group(b"()", count, |word| {
                if word == b"_" { Ok(Value::Unit) } else { Err("expected `_`".to_owned()) }
            })?)),
            Ty::Int => {
                Sequence::Ints(Arc::new(self.group(b"()", count, |word| int(word, precision))?))
            }
            Ty::Float => {
                Sequence::Floats(Arc::new(self.group(b"()", count, |word| float(word, precision))?))
            }
            Ty::Bool => Sequence::Bools(Arc::new(self.group(b"()", count, |word| match word {
                b"T" | b"t" => Ok(true),
                b"F" | b"f" => Ok(false),
                _ => Err(super::scan::expected("`T` or `F`", word)),
            })?)),
            Ty::Char => Sequence::Chars(Arc::new(self.chars(count)?)),
        })
    }

    fn lengths(&mut self, count: usize) -> Result<Vec<usize>, String> {
        let start = self.scanner.position();
        let lengths = self.group(b"[]", count, |word| {
            let length = int(word, Precision::Bits64)?;
            usize::try_from(length).map_err(|_| "a length must not be negative".to_owned())
        })?;
        // Every element takes at least a byte somewhere in the rest of the text.
        let total = lengths.iter().try_fold(0usize, |sum, n| sum.checked_add(*n));
        match total {
            Some(total) if total <= self.scanner.remaining() => Ok(lengths),
            _ => Err(self.scanner.error(start, "the lengths are larger than the file")),
        }
    }

    /// Exactly `count` things in brackets.
    fn group<T>(
        &mut self,
        brackets: &[u8; 2],
        count: usize,
        parse: impl Fn(&[u8]) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        self.scanner.expect(brackets[0])?;
        let start = self.scanner.position();
        let mut items = Vec::new();
        while !self.scanner.take(brackets[1]) {
            let token = self.scanner.next();
            if token.text.is_empty() {
                let what = format!("`{}`", char::from(brackets[1]));
                return Err(self.scanner.expected(&what, token));
            }
            let item = parse(token.text).map_err(|m| self.scanner.error(token.at, &m))?;
            items.push(item);
        }
        self.counted(start, count, items.len())?;
        Ok(items)
    }

    /// Exactly `count` chars in quotes, or after their number in parentheses and a blank.
    fn chars(&mut self, count: usize) -> Result<Vec<u8>, String> {
        if self.scanner.take(b'(') {
            return self.counted_chars(count);
        }
        self.scanner.expect(b'"')?;
        let start = self.scanner.position();
        let mut chars = Vec::new();
        loop {
            let at = self.scanner.position();
            let char = match self.scanner.byte() {
                None => return Err(self.scanner.error(at, "the text is not closed")),
                Some(b'"') => break,
                Some(b'\\') => match self.scanner.byte() {
                    Some(b'n') => b'\n',
                    Some(b'x') => {
                        let mut digit =
                            || self.scanner.byte().and_then(|c| char::from(c).to_digit(16));
                        match (digit(), digit()) {
                            (Some(high), Some(low)) => (high * 16 + low) as u8,
                            _ => {
                                let message = "expected two hexadecimal digits after `\\x`";
                                return Err(self.scanner.error(at, message));
                            }
                        }
                    }
                    Some(c @ (b'"' | b'\\')) => c,
                    _ => {
                        let message = "expected `\"`, `\\`, `n` or `x` after `\\`";
                        return Err(self.scanner.error(at, message));
                    }
                },
                Some(c) => c,
            };
            chars.push(char);
        }
        self.counted(start, count, chars.len())?;
        Ok(chars)
    }

    /// The rest of `( 3 ) abc`, after its first parenthesis.
    fn counted_chars(&mut self, count: usize) -> Result<Vec<u8>, String> {
        let start = self.scanner.position();
        let token = self.scanner.next();
        let length = int(token.text, Precision::Bits64);
        let length = length.map_err(|message| self.scanner.error(token.at, &message))?;
        self.scanner.expect(b')')?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        self.counted(start, count, length)?;
        if length == 0 {
            return Ok(Vec::new());
        }
        // One blank divides the number from the chars, which may themselves be blanks.
        self.scanner.byte();
        let end = "the file ends before the last of these chars";
        let chars: Option<Vec<u8>> = (0..length).map(|_| self.scanner.byte()).collect();
        chars.ok_or_else(|| self.scanner.error(start, end))
    }

    fn counted(&self, start: usize, wanted: usize, found: usize) -> Result<(), String> {
        if wanted == found {
            return Ok(());
        }
        let message = format!("expected {wanted} of them here, found {found}");
        Err(self.scanner.error(start, &message))
    }
}

/// Elements cut into sequences.
fn split(elements: Sequence, lengths: &[usize]) -> Vec<Value> {
    if let [_] = lengths {
        return vec![Value::Sequence(elements)];
    }
    let mut end = 0;
    lengths
        .iter()
        .map(|length| {
            let start = end;
            end += length;
            Value::Sequence(elements.gather(start..end))
        })
        .collect()
}
