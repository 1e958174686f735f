//! Rust values as NESL values: their literals and their printed form.
//!
//! The operator `==` of these Rust types agrees with NESL's `eql`: NaN equals nothing, and the two
//! zeros are equal.

use crate::choices::Choices;
use nesl_engine::Precision;
use nesl_engine::show::show_float;

/// A Rust type that corresponds to a NESL type.
pub trait Nesl: Clone + PartialEq + 'static {
    /// Returns the name of the type in NESL.
    fn ty() -> String;
    /// Returns a NESL expression for the value.
    fn literal(&self) -> String;
    /// Returns the value as the prompt prints it.
    fn shown(&self, precision: Precision) -> String;
    /// Chooses a random value.
    fn random(choices: &mut Choices) -> Self;
    /// Returns the value of NESL's `identity` for the type.
    fn zero() -> Self;

    /// Returns the printed form of the value as the last component of a tuple.
    fn shown_last(&self, precision: Precision) -> String {
        self.shown(precision)
    }

    /// Returns a NESL expression for a sequence of values.
    fn literals(items: &[Self]) -> String {
        if items.is_empty() {
            return format!("[] {}", Self::ty());
        }
        format!("[{}]", items.iter().map(Nesl::literal).collect::<Vec<_>>().join(", "))
    }

    /// Returns a sequence of values as the prompt prints it.
    fn shown_all(items: &[Self], precision: Precision) -> String {
        let items: Vec<String> = items.iter().map(|item| item.shown(precision)).collect();
        format!("[{}]", items.join(", "))
    }
}

impl Nesl for i64 {
    fn ty() -> String {
        "int".into()
    }

    fn literal(&self) -> String {
        if *self == i64::MIN || *self == i64::from(i32::MIN) {
            // Without its sign the number would be out of range.
            format!("(-{} - 1)", -(self + 1))
        } else {
            self.to_string()
        }
    }

    fn shown(&self, _: Precision) -> String {
        self.to_string()
    }

    fn random(choices: &mut Choices) -> i64 {
        choices.int()
    }

    fn zero() -> i64 {
        0
    }
}

impl Nesl for f64 {
    fn ty() -> String {
        "float".into()
    }

    fn literal(&self) -> String {
        if self.is_nan() {
            "nan".into()
        } else if *self == 0.0 && self.is_sign_negative() {
            "(0.0 * -1.0)".into()
        } else if *self < 0.0 {
            format!("-{}", (-self).literal())
        } else if self.is_infinite() {
            "infinity".into()
        } else {
            format!("{self:?}")
        }
    }

    fn shown(&self, precision: Precision) -> String {
        show_float(*self, precision)
    }

    fn random(choices: &mut Choices) -> f64 {
        choices.float()
    }

    fn zero() -> f64 {
        0.0
    }
}

impl Nesl for bool {
    fn ty() -> String {
        "bool".into()
    }

    fn literal(&self) -> String {
        if *self { "t" } else { "f" }.into()
    }

    fn shown(&self, _: Precision) -> String {
        if *self { "T" } else { "F" }.into()
    }

    fn random(choices: &mut Choices) -> bool {
        choices.once_in(2)
    }

    fn zero() -> bool {
        false
    }
}

/// A NESL char, which is a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Char(pub u8);

/// A NESL string.
pub type Text = Vec<Char>;

/// Converts a Rust string to a NESL string.
pub fn text(s: &str) -> Text {
    s.bytes().map(Char).collect()
}

impl Nesl for Char {
    fn ty() -> String {
        "char".into()
    }

    fn literal(&self) -> String {
        if self.0 == b' ' || self.0.is_ascii_graphic() {
            format!("`{}", char::from(self.0))
        } else {
            format!("code_char({})", self.0)
        }
    }

    fn shown(&self, _: Precision) -> String {
        format!("`{}", char::from(self.0))
    }

    fn random(choices: &mut Choices) -> Char {
        choices.char()
    }

    fn zero() -> Char {
        Char(b' ')
    }

    fn literals(items: &[Char]) -> String {
        let plain = |c: &Char| matches!(c.0, b' '..=b'~' | b'\n' | b'\t');
        if items.iter().all(plain) {
            return quoted(items);
        }
        format!("[{}]", items.iter().map(Nesl::literal).collect::<Vec<_>>().join(", "))
    }

    fn shown_all(items: &[Char], _: Precision) -> String {
        quoted(items)
    }
}

/// Prints a string literal. Bytes that are not ASCII are shown as Latin-1; the bytes used here do
/// not form valid UTF-8.
fn quoted(items: &[Char]) -> String {
    let mut quoted = String::from("\"");
    for c in items {
        if c.0 == b'"' || c.0 == b'\\' {
            quoted.push('\\');
        }
        quoted.push(char::from(c.0));
    }
    quoted + "\""
}

impl<T: Nesl> Nesl for Vec<T> {
    fn ty() -> String {
        format!("[{}]", T::ty())
    }

    fn literal(&self) -> String {
        T::literals(self)
    }

    fn shown(&self, precision: Precision) -> String {
        T::shown_all(self, precision)
    }

    fn random(choices: &mut Choices) -> Vec<T> {
        let n = choices.length().min(3);
        choices.seq_of(n)
    }

    fn zero() -> Vec<T> {
        Vec::new()
    }
}

/// Implements tuples: a tuple is a pair whose second component may be a pair.
macro_rules! tuple {
    ($($name:ident $part:tt),+; $last:ident $end:tt) => {
        impl<$($name: Nesl,)+ $last: Nesl> Nesl for ($($name,)+ $last) {
            fn ty() -> String {
                let parts = [$($name::ty(),)+ $last::ty()];
                format!("({})", parts.join(", "))
            }

            fn literal(&self) -> String {
                let parts = [$(self.$part.literal(),)+ self.$end.literal()];
                format!("({})", parts.join(", "))
            }

            fn shown(&self, precision: Precision) -> String {
                format!("({})", self.shown_last(precision))
            }

            fn shown_last(&self, precision: Precision) -> String {
                let parts =
                    [$(self.$part.shown(precision),)+ self.$end.shown_last(precision)];
                parts.join(", ")
            }

            fn random(choices: &mut Choices) -> Self {
                ($($name::random(choices),)+ $last::random(choices))
            }

            fn zero() -> Self {
                ($($name::zero(),)+ $last::zero())
            }
        }
    };
}

tuple!(A 0; B 1);
tuple!(A 0, B 1; C 2);
tuple!(A 0, B 1, C 2; D 3);
