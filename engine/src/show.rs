//! Values as text, as the original prints them (LANGUAGE section 9; decisions 2 and 9).

use nesl_core::interp::{Sequence, Value};
use nesl_core::types::{Record, Ty};
use nesl_runtime::scalar::Precision;
use std::fmt::Write;

/// A value of a type as text. `content` tells what a record holds; sequences longer than
/// `print_length` are cut short, with their length: `[0, 1, 2, ... 97 more]`.
pub fn show(
    value: &Value,
    ty: &Ty,
    content: &dyn Fn(&Record, &[Ty]) -> Ty,
    print_length: Option<usize>,
    precision: Precision,
) -> String {
    let mut printer = Printer { content, print_length, precision, out: String::new() };
    printer.value(value, ty);
    printer.out
}

/// A float: shortest digits that give it back; plain from 0.001 up to 10⁷, else with `E`.
pub fn show_float(x: f64, precision: Precision) -> String {
    if x.is_nan() {
        return "nan".to_owned();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf".to_owned() } else { "-inf".to_owned() };
    }
    if x == 0.0 {
        return "0.0".to_owned();
    }
    let size = x.abs();
    if (0.001..1e7).contains(&size) {
        return match precision {
            Precision::Bits64 => format!("{x:?}"),
            Precision::Bits32 => format!("{:?}", x as f32),
        };
    }
    let scientific = match precision {
        Precision::Bits64 => format!("{x:e}"),
        Precision::Bits32 => format!("{:e}", x as f32),
    };
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let point = if mantissa.contains('.') { "" } else { ".0" };
    format!("{mantissa}{point}E{exponent}")
}

struct Printer<'a> {
    content: &'a dyn Fn(&Record, &[Ty]) -> Ty,
    print_length: Option<usize>,
    precision: Precision,
    out: String,
}

impl Printer<'_> {
    fn value(&mut self, value: &Value, ty: &Ty) {
        match (value, ty) {
            (_, Ty::Function(_)) => self.out.push_str("fn"),
            (value, Ty::Record(record, args)) => {
                let content = (self.content)(record, args);
                self.out.push_str(record.name.folded());
                self.out.push('(');
                self.components(value, &content);
                self.out.push(')');
            }
            (Value::Pair(_), _) => {
                self.out.push('(');
                self.components(value, ty);
                self.out.push(')');
            }
            (Value::Sequence(Sequence::Chars(bytes)), _) => self.text(bytes),
            (Value::Sequence(sequence), Ty::Sequence(element)) => self.sequence(sequence, element),
            (Value::Int(v), _) => {
                let _ = write!(self.out, "{v}");
            }
            (Value::Float(v), _) => self.out.push_str(&show_float(*v, self.precision)),
            (Value::Bool(v), _) => self.out.push(if *v { 'T' } else { 'F' }),
            (Value::Char(c), _) => {
                self.out.push('`');
                self.out.push(char::from(*c));
            }
            (Value::Unit | Value::Sequence(_), _) => self.out.push_str("fn"),
        }
    }

    /// A tuple without its parentheses: a pair in last place is more components.
    fn components(&mut self, value: &Value, ty: &Ty) {
        match (value, ty) {
            (Value::Pair(pair), Ty::Pair(first, second)) => {
                self.value(&pair.0, first);
                self.out.push_str(", ");
                self.components(&pair.1, second);
            }
            _ => self.value(value, ty),
        }
    }

    fn text(&mut self, bytes: &[u8]) {
        self.out.push('"');
        for part in String::from_utf8_lossy(bytes).chars() {
            if matches!(part, '"' | '\\') {
                self.out.push('\\');
            }
            self.out.push(part);
        }
        self.out.push('"');
    }

    fn sequence(&mut self, sequence: &Sequence, element: &Ty) {
        let shown = self.print_length.unwrap_or(usize::MAX).min(sequence.len());
        self.out.push('[');
        for i in 0..shown {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.value(&sequence.get(i), element);
        }
        if shown < sequence.len() {
            let more = sequence.len() - shown;
            let comma = if shown > 0 { ", " } else { "" };
            let _ = write!(self.out, "{comma}... {more} more");
        }
        self.out.push(']');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(value: &Value, ty: &Ty, length: Option<usize>) -> String {
        show(value, ty, &|_, _| Ty::Error, length, Precision::Bits64)
    }

    #[test]
    fn floats() {
        for (x, text) in [
            (0.1 + 0.2, "0.30000000000000004"),
            (1e7, "1.0E7"),
            (123456789.0, "1.23456789E8"),
            (1e-4, "1.0E-4"),
            (7.5e-8, "7.5E-8"),
            (0.001, "0.001"),
            (-0.0, "0.0"),
            (1e35, "1.0E35"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
        ] {
            assert_eq!(show_float(x, Precision::Bits64), text);
        }
        assert_eq!(show_float(f64::from(0.1f32), Precision::Bits32), "0.1");
    }

    #[test]
    fn tuples_and_sequences() {
        let pair = |a: Ty, b: Ty| Ty::Pair(a.into(), b.into());
        let two = || Value::pair(Value::Int(1), Value::Int(2));
        let inner = pair(Ty::Int, Ty::Int);
        let right = Value::pair(Value::Int(0), two());
        assert_eq!(plain(&right, &pair(Ty::Int, inner.clone()), None), "(0, 1, 2)");
        let left = Value::pair(two(), Value::Int(3));
        assert_eq!(plain(&left, &pair(inner, Ty::Int), None), "((1, 2), 3)");
        let ints = Value::sequence(&nesl_core::ir::Ty::Int, (0..5).map(Value::Int));
        assert_eq!(plain(&ints, &Ty::Int.sequence(), Some(3)), "[0, 1, 2, ... 2 more]");
        assert_eq!(plain(&Value::text("a\"b\\"), &Ty::Char.sequence(), Some(1)), "\"a\\\"b\\\\\"");
    }
}
