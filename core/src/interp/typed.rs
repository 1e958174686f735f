//! Accessors for values whose type is known: those of operands in a well-formed program, and those
//! that a host is given together with their types.
//!
//! Types were checked, so a value of another type is a bug of the compiler. This is said here once; callers
//! that do not know the type use the `as_…` accessors, which return an option.

use super::{Sequence, Value};
use crate::ir::Ty;
use nesl_runtime::bug;
use std::sync::Arc;

impl Value {
    /// Makes a sequence of elements of a type.
    pub fn sequence(element: &Ty, values: impl IntoIterator<Item = Value>) -> Value {
        Value::Sequence(Sequence::from_values(element, values.into_iter().collect()))
    }

    /// The number that an int is.
    pub fn int(&self) -> i64 {
        self.as_int().unwrap_or_else(|| bug!("an operand is an int, not {self:?}"))
    }

    /// The number that a float is.
    pub fn float(&self) -> f64 {
        self.as_float().unwrap_or_else(|| bug!("an operand is a float, not {self:?}"))
    }

    /// The truth value that a bool is.
    pub fn bool(&self) -> bool {
        self.as_bool().unwrap_or_else(|| bug!("an operand is a bool, not {self:?}"))
    }

    /// The components of a pair.
    pub fn components(&self) -> (&Value, &Value) {
        self.as_pair().unwrap_or_else(|| bug!("an operand is a pair, not {self:?}"))
    }

    /// The elements of a sequence.
    pub fn elements(&self) -> &Sequence {
        self.as_sequence().unwrap_or_else(|| bug!("an operand is a sequence, not {self:?}"))
    }

    /// The elements of a sequence, without a copy.
    pub fn into_elements(self) -> Sequence {
        match self {
            Value::Sequence(sequence) => sequence,
            other => bug!("an operand is a sequence, not {other:?}"),
        }
    }

    /// The bytes of a string.
    pub fn bytes(&self) -> &[u8] {
        self.as_text().unwrap_or_else(|| bug!("an operand is a string, not {self:?}"))
    }
}

impl Sequence {
    /// The elements of a sequence of ints.
    pub fn ints(&self) -> &[i64] {
        self.as_ints().unwrap_or_else(|| bug!("an operand is a sequence of ints, not {self:?}"))
    }

    /// The elements of a sequence of floats.
    pub fn floats(&self) -> &[f64] {
        self.as_floats().unwrap_or_else(|| bug!("an operand is a sequence of floats, not {self:?}"))
    }

    /// The elements of a sequence of bools.
    pub fn bools(&self) -> &[bool] {
        self.as_bools().unwrap_or_else(|| bug!("an operand is a sequence of bools, not {self:?}"))
    }

    /// The bytes of a sequence of chars.
    pub fn chars(&self) -> &[u8] {
        self.as_text().unwrap_or_else(|| bug!("an operand is a string, not {self:?}"))
    }

    /// The sequences in a nested sequence.
    pub fn segments(&self) -> impl Iterator<Item = &Sequence> {
        match self {
            Sequence::Values(segments) => segments.iter().map(Value::elements),
            Sequence::Ints(_) | Sequence::Floats(_) | Sequence::Bools(_) | Sequence::Chars(_) => {
                bug!("an operand is a nested sequence, not {self:?}")
            }
        }
    }

    /// The element at an index within the bounds.
    pub fn at(&self, index: usize) -> Value {
        self.get(index).unwrap_or_else(|| bug!("index {index} is within the bounds"))
    }

    /// The elements at some indices, all within the bounds.
    pub fn gather(&self, indices: impl Iterator<Item = usize>) -> Sequence {
        match self {
            Sequence::Ints(v) => Sequence::Ints(Arc::new(indices.map(|i| v[i]).collect())),
            Sequence::Floats(v) => Sequence::Floats(Arc::new(indices.map(|i| v[i]).collect())),
            Sequence::Bools(v) => Sequence::Bools(Arc::new(indices.map(|i| v[i]).collect())),
            Sequence::Chars(v) => Sequence::Chars(Arc::new(indices.map(|i| v[i]).collect())),
            Sequence::Values(v) => {
                Sequence::Values(Arc::new(indices.map(|i| v[i].clone()).collect()))
            }
        }
    }
}
