//! Values as text, the way the prompt prints them (the book's page on values).
//!
//! The type of a value decides on its text, not the representation: a record is its
//! contents at run time and gets its name back here, and an empty sequence of chars is `""`.
//!
//! ```text
//! [0, 1, 2, ... (1000 in all)]      longer than the limit, at any level of nesting
//! complex(1.0, 2.0)   ((1, 2), 3)   `a   "she said \"no\""   1.0E7   7.5E-8   nan
//! ```
//!
//! A nested sequence ends early, too, when ten times as many elements have been written, of whatever
//! level: of a matrix its first rows are shown, and not a screen full of each. Strings are never
//! shortened. Floats are the shortest text that reads back as the same number.

use crate::preview::Preview;
use nesl_core::base::with_stack;
use nesl_core::interp::{Sequence, Value};
use nesl_core::types::{Record, Ty};
use nesl_runtime::scalar::Precision;
use nesl_runtime::services::text;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of elements of all levels that are shown of a nested sequence, as a multiple of
/// `print_length`.
const MAX_NESTED_LENGTHS: usize = 10;

/// The number of characters of a string that are written between two looks at the interrupt and the limit.
const POLL_CHARS: usize = 4096;

/// The limits on the text of a value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TextLimits {
    /// Sequences with more elements, and those that are long in all, are abbreviated, with their length shown.
    pub(crate) length: Option<usize>,
    /// Sequences and strings end once the text has so many bytes.
    pub(crate) bytes: Option<usize>,
}

/// Returns a value as text. `content` returns the type of a record's content. Once `interrupt` is set sequences and
/// strings end where they are.
pub(crate) fn show(
    seen: &Preview,
    ty: &Ty,
    content: &dyn Fn(&Record, &[Ty]) -> Ty,
    limits: TextLimits,
    precision: Precision,
    interrupt: &AtomicBool,
) -> String {
    let mut printer =
        Printer { content, limits, precision, interrupt, elements: 0, out: String::new() };
    printer.seen(seen, ty);
    printer.out
}

/// Returns a float as text, as `@` does: the shortest that reads back as the same float.
pub fn show_float(x: f64, precision: Precision) -> String {
    text::float(x, precision)
}

struct Printer<'a> {
    content: &'a dyn Fn(&Record, &[Ty]) -> Ty,
    limits: TextLimits,
    precision: Precision,
    interrupt: &'a AtomicBool,
    /// The number of elements that have been written.
    elements: usize,
    out: String,
}

impl Printer<'_> {
    fn seen(&mut self, seen: &Preview, ty: &Ty) {
        with_stack(|| match (seen, ty) {
            (Preview::Whole(value), _) => self.value(value, ty),
            (_, Ty::Record(record, args)) => {
                let ty = (self.content)(record, args);
                let _ = write!(self.out, "{}", record.name);
                self.seen_tuple(seen, &ty);
            }
            (Preview::Pair(_), _) => self.seen_tuple(seen, ty),
            (Preview::Sequence { head, length, .. }, ty) => {
                let element = match ty {
                    Ty::Sequence(element) => element,
                    _ => &Ty::Error,
                };
                self.elements(*length, head.len(), |printer, index| {
                    printer.seen(&head[index], element);
                });
            }
        });
    }

    fn seen_tuple(&mut self, seen: &Preview, ty: &Ty) {
        self.out.push('(');
        let (mut seen, mut ty) = (seen, ty);
        while let (Ty::Pair(a, rest), Preview::Pair(pair)) = (ty, seen) {
            self.seen(&pair.0, a);
            self.out.push_str(", ");
            (seen, ty) = (&pair.1, rest);
        }
        self.seen(seen, ty);
        self.out.push(')');
    }

    fn value(&mut self, value: &Value, ty: &Ty) {
        with_stack(|| match (ty, value) {
            (Ty::Function(_), _) => self.out.push_str("fn"),
            (Ty::Record(record, args), content) => {
                let ty = (self.content)(record, args);
                let _ = write!(self.out, "{}", record.name);
                self.tuple(content, &ty);
            }
            (Ty::Pair(..), _) => self.tuple(value, ty),
            (Ty::Sequence(element), Value::Sequence(sequence)) => match (&**element, sequence) {
                (Ty::Char, Sequence::Chars(text)) => self.text(text),
                (Ty::Char, empty) if empty.is_empty() => self.text(&[]),
                _ => self.sequence(sequence, element),
            },
            _ => self.scalar(value),
        });
    }

    /// In parentheses. A pair in the second place of a pair belongs to the same tuple.
    fn tuple(&mut self, value: &Value, ty: &Ty) {
        self.out.push('(');
        let (mut value, mut ty) = (value, ty);
        while let (Ty::Pair(a, rest), Value::Pair(pair)) = (ty, value) {
            self.value(&pair.0, a);
            self.out.push_str(", ");
            (value, ty) = (&pair.1, rest);
        }
        self.value(value, ty);
        self.out.push(')');
    }

    fn sequence(&mut self, sequence: &Sequence, element: &Ty) {
        let length = sequence.len();
        self.elements(length, length, |printer, index| match sequence {
            Sequence::Values(values) => printer.value(&values[index], element),
            packed => printer.value(&packed.at(index), element),
        });
    }

    /// Returns true if no more is to be written: the text is long enough, or nobody wants it.
    fn ends(&self) -> bool {
        self.limits.bytes.is_some_and(|most| self.out.len() >= most)
            || self.interrupt.load(Ordering::Relaxed)
    }

    /// The elements that are shown, of a total of which so many were read.
    fn elements(&mut self, total: usize, read: usize, mut show: impl FnMut(&mut Self, usize)) {
        let most = self.limits.length.map_or(read, |limit| read.min(limit));
        let all =
            self.limits.length.map_or(usize::MAX, |limit| MAX_NESTED_LENGTHS.saturating_mul(limit));
        let (mut shown, mut nested) = (0, false);
        self.out.push('[');
        while shown < most && !(nested && self.elements >= all) && !self.ends() {
            if shown > 0 {
                self.out.push_str(", ");
            }
            let before = self.elements;
            show(self, shown);
            nested |= self.elements > before;
            self.elements += 1;
            shown += 1;
        }
        if shown < total {
            let before = if shown > 0 { ", " } else { "" };
            let _ = write!(self.out, "{before}... ({total} in all)");
        }
        self.out.push(']');
    }

    fn text(&mut self, bytes: &[u8]) {
        let chars = bytes.utf8_chunks().flat_map(|part| {
            // Bytes that are no UTF-8 are Latin-1.
            part.valid().chars().chain(part.invalid().iter().copied().map(char::from))
        });
        let mut is_whole = true;
        self.out.push('"');
        for (position, c) in chars.enumerate() {
            if position % POLL_CHARS == 0 && self.ends() {
                is_whole = false;
                break;
            }
            if c == '"' || c == '\\' {
                self.out.push('\\');
            }
            self.out.push(c);
        }
        self.out.push('"');
        if !is_whole {
            let _ = write!(self.out, " ... ({} bytes in all)", bytes.len());
        }
    }

    /// A value that shows itself. The types of the parts of an empty sequence, and those of
    /// programs with errors, may be unknown; what there is of such a value is shown as it is.
    fn scalar(&mut self, value: &Value) {
        match value {
            Value::Unit => self.out.push_str("fn"),
            Value::Int(n) => {
                let _ = write!(self.out, "{n}");
            }
            Value::Float(x) => self.out.push_str(&show_float(*x, self.precision)),
            Value::Bool(b) => self.out.push(if *b { 'T' } else { 'F' }),
            Value::Char(c) => {
                self.out.push('`');
                self.out.push(char::from(*c));
            }
            Value::Pair(pair) => {
                self.out.push('(');
                self.value(&pair.0, &Ty::Error);
                self.out.push_str(", ");
                self.value(&pair.1, &Ty::Error);
                self.out.push(')');
            }
            Value::Sequence(Sequence::Chars(text)) => self.text(text),
            Value::Sequence(sequence) => self.sequence(sequence, &Ty::Error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nesl_core::base::{ItemId, Name};
    use nesl_core::types::FunctionTy;
    use std::cell::Cell;
    use std::sync::Arc;

    fn pair(a: Value, b: Value) -> Value {
        Value::Pair(Arc::new((a, b)))
    }

    fn ty_pair(a: Ty, b: Ty) -> Ty {
        Ty::Pair(Arc::new(a), Arc::new(b))
    }

    fn seq(ty: Ty) -> Ty {
        Ty::Sequence(Arc::new(ty))
    }

    fn ints(values: impl IntoIterator<Item = i64>) -> Value {
        Value::Sequence(Sequence::Ints(Arc::new(values.into_iter().collect())))
    }

    fn chars(text: &[u8]) -> Value {
        Value::Sequence(Sequence::Chars(Arc::new(text.to_vec())))
    }

    fn values(values: Vec<Value>) -> Value {
        Value::Sequence(Sequence::Values(Arc::new(values)))
    }

    /// Records hold a pair of floats.
    fn shown(value: &Value, ty: &Ty, limit: Option<usize>) -> String {
        let content = |_: &Record, _: &[Ty]| ty_pair(Ty::Float, Ty::Float);
        let interrupt = AtomicBool::new(false);
        let limits = TextLimits { length: limit, bytes: None };
        show(&Preview::Whole(value.clone()), ty, &content, limits, Precision::Bits64, &interrupt)
    }

    #[test]
    fn a_limit_on_the_bytes_ends_sequences_and_strings() {
        let limited = |value: Value, ty: &Ty| {
            let content = |_: &Record, _: &[Ty]| ty_pair(Ty::Float, Ty::Float);
            let limits = TextLimits { length: None, bytes: Some(10) };
            let interrupt = AtomicBool::new(false);
            show(&Preview::Whole(value), ty, &content, limits, Precision::Bits64, &interrupt)
        };
        let ty = seq(Ty::Int);
        assert_eq!(limited(ints(0..3), &ty), "[0, 1, 2]");
        assert_eq!(limited(ints(0..9), &ty), "[0, 1, 2, 3, ... (9 in all)]");
        let rows = values(vec![ints(0..5), ints(0..1)]);
        let shown = limited(rows, &seq(ty));
        assert_eq!(shown, "[[0, 1, 2, 3, ... (5 in all)], ... (2 in all)]");
        let text = limited(chars(&[b'x'; 1 << 20]), &seq(Ty::Char));
        assert_eq!(text.len(), POLL_CHARS + "\"\" ... (1048576 bytes in all)".len());
    }

    #[test]
    fn an_interrupt_cuts_values_short() {
        let content = |_: &Record, _: &[Ty]| ty_pair(Ty::Float, Ty::Float);
        let interrupt = AtomicBool::new(true);
        let seen = Preview::Whole(ints(0..1000));
        let text = show(
            &seen,
            &seq(Ty::Int),
            &content,
            TextLimits::default(),
            Precision::Bits64,
            &interrupt,
        );
        assert_eq!(text, "[... (1000 in all)]");
    }

    #[test]
    fn nothing_is_printed_after_an_interrupt() {
        let interrupt = AtomicBool::new(false);
        let shown_records = Cell::new(0);
        // Asked for at each record: Ctrl-C is pressed while the hundredth is shown.
        let content = |_: &Record, _: &[Ty]| {
            shown_records.set(shown_records.get() + 1);
            interrupt.store(shown_records.get() >= 100, Ordering::Relaxed);
            ty_pair(Ty::Float, Ty::Float)
        };
        let complex = pair(Value::Float(1.0), Value::Float(2.0));
        let rows = values(vec![values(vec![complex; 30]); 1000]);
        let record = Record { item: ItemId(1), name: Name::new("complex") };
        let ty = seq(seq(Ty::Record(record, Arc::new([]))));
        let show = |value: Value, ty: &Ty| {
            show(
                &Preview::Whole(value),
                ty,
                &content,
                TextLimits::default(),
                Precision::Bits64,
                &interrupt,
            )
        };
        let text = show(rows, &ty);
        assert_eq!(shown_records.get(), 100);
        assert!(
            text.ends_with("complex(1.0, 2.0), ... (30 in all)], ... (1000 in all)]"),
            "{text}"
        );
        let text = show(chars(&[b'x'; 1 << 20]), &seq(Ty::Char));
        assert_eq!(text, "\"\" ... (1048576 bytes in all)");
    }

    #[test]
    fn scalars() {
        assert_eq!(shown(&Value::Int(-7), &Ty::Int, None), "-7");
        assert_eq!(shown(&Value::Bool(true), &Ty::Bool, None), "T");
        assert_eq!(shown(&Value::Char(b'a'), &Ty::Char, None), "`a");
        assert_eq!(shown(&Value::Float(2.5), &Ty::Float, None), "2.5");
    }

    #[test]
    fn floats_are_shortest_and_lisp_like() {
        for (x, text) in [
            (0.1 + 0.2, "0.30000000000000004"),
            (0.1, "0.1"),
            (1.0, "1.0"),
            (-0.0, "0.0"),
            (-1.5, "-1.5"),
            (1e7, "1.0E7"),
            (9_999_999.0, "9999999.0"),
            (123_456_789.0, "1.23456789E8"),
            (0.001, "0.001"),
            (0.000_999, "9.99E-4"),
            (7.5e-8, "7.5E-8"),
            (1e-4, "1.0E-4"),
            (12_345.678, "12345.678"),
            (100.0, "100.0"),
            (f64::MAX, "1.7976931348623157E308"),
            (5e-324, "5.0E-324"),
            (f64::NAN, "nan"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(show_float(x, Precision::Bits64), text);
        }
        assert_eq!(show_float(f64::from(0.1f32), Precision::Bits32), "0.1");
        assert_eq!(show_float(f64::from(1e10f32), Precision::Bits32), "1.0E10");
    }

    #[test]
    fn tuples_and_records() {
        let right = pair(Value::Int(1), pair(Value::Int(2), Value::Int(3)));
        let right_ty = ty_pair(Ty::Int, ty_pair(Ty::Int, Ty::Int));
        assert_eq!(shown(&right, &right_ty, None), "(1, 2, 3)");
        let left = pair(pair(Value::Int(1), Value::Int(2)), Value::Int(3));
        let left_ty = ty_pair(ty_pair(Ty::Int, Ty::Int), Ty::Int);
        assert_eq!(shown(&left, &left_ty, None), "((1, 2), 3)");

        let record =
            Ty::Record(Record { item: ItemId(1), name: Name::new("complex") }, Arc::new([]));
        let complex = pair(Value::Float(1.0), Value::Float(2.0));
        assert_eq!(shown(&complex, &record, None), "complex(1.0, 2.0)");
        let many = values(vec![complex.clone(), complex]);
        assert_eq!(shown(&many, &seq(record), None), "[complex(1.0, 2.0), complex(1.0, 2.0)]");
    }

    #[test]
    fn strings() {
        let string = seq(Ty::Char);
        assert_eq!(shown(&chars(b""), &string, None), "\"\"");
        assert_eq!(shown(&values(vec![]), &string, None), "\"\"");
        assert_eq!(shown(&chars(br#"a"b\c"#), &string, Some(1)), r#""a\"b\\c""#);
        assert_eq!(shown(&chars("é".as_bytes()), &string, None), "\"é\"");
        assert_eq!(shown(&chars(b"\xe9!"), &string, None), "\"é!\"");
        assert_eq!(shown(&values(vec![]), &seq(string), None), "[]");
    }

    #[test]
    fn long_sequences_are_abbreviated_at_every_level() {
        let ty = seq(Ty::Int);
        assert_eq!(shown(&ints(0..3), &ty, Some(3)), "[0, 1, 2]");
        assert_eq!(shown(&ints(0..1000), &ty, Some(3)), "[0, 1, 2, ... (1000 in all)]");
        assert_eq!(shown(&ints(0..4), &ty, Some(0)), "[... (4 in all)]");
        let nested = values(vec![ints(0..5), ints(0..1), ints(0..0)]);
        assert_eq!(
            shown(&nested, &seq(ty.clone()), Some(2)),
            "[[0, 1, ... (5 in all)], [0], ... (3 in all)]"
        );
        assert_eq!(shown(&ints(0..0), &ty, Some(2)), "[]");
    }

    #[test]
    fn a_matrix_shows_its_first_rows() {
        let rows = |many| values(vec![ints(0..4); many]);
        let ty = seq(seq(Ty::Int));
        let row = "[0, 1, ... (4 in all)]";
        assert_eq!(shown(&rows(2), &ty, Some(2)), format!("[{row}, {row}]"));
        assert_eq!(shown(&rows(9), &ty, Some(2)), format!("[{row}, {row}, ... (9 in all)]"));
        let long = values(vec![ints(0..30); 30]);
        let text = shown(&long, &ty, Some(30));
        assert!(text.ends_with(", 28, 29], ... (30 in all)]"), "{text}");
        assert_eq!(text.matches("29]").count(), 10);
        assert_eq!(shown(&long, &ty, None).matches("29]").count(), 30);
    }

    #[test]
    fn functions_and_unknown_types() {
        let f =
            Ty::Function(Arc::new(FunctionTy { param: Ty::Int, result: Ty::Int, code: Ty::Error }));
        assert_eq!(shown(&Value::Unit, &f, None), "fn");
        assert_eq!(shown(&Value::Int(3), &f, None), "fn");
        assert_eq!(shown(&values(vec![]), &seq(Ty::Var(0)), None), "[]");
    }
}
