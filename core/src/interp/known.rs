//! Values whose type is known: what the host and others who were given types work with.
//!
//! Each of these panics on a value of another type, which would be a bug of ours.

use super::{Sequence, Value};
use crate::ir::Ty;
use std::sync::Arc;

impl Value {
    /// A sequence of elements of a type.
    pub fn sequence(element: &Ty, values: impl IntoIterator<Item = Value>) -> Value {
        Value::Sequence(Sequence::from_values(element, values.into_iter().collect()))
    }

    /// The int it is.
    pub fn int(&self) -> i64 {
        self.as_int().unwrap_or_else(|| unreachable!("{self:?} is not an int"))
    }

    /// The bool it is.
    pub fn bool(&self) -> bool {
        self.as_bool().unwrap_or_else(|| unreachable!("{self:?} is not a bool"))
    }

    /// The sequence it is.
    pub fn elements(&self) -> &Sequence {
        self.as_sequence().unwrap_or_else(|| unreachable!("{self:?} is not a sequence"))
    }

    /// The bytes of the string it is.
    pub fn bytes(&self) -> &[u8] {
        self.as_text().unwrap_or_else(|| unreachable!("{self:?} is not a string"))
    }
}

impl Sequence {
    /// The ints it holds.
    pub fn ints(&self) -> &[i64] {
        self.as_ints().unwrap_or_else(|| unreachable!("{self:?} does not hold ints"))
    }

    /// The bools it holds.
    pub fn bools(&self) -> &[bool] {
        self.as_bools().unwrap_or_else(|| unreachable!("{self:?} does not hold bools"))
    }

    /// The element at a place that exists.
    pub fn at(&self, index: usize) -> Value {
        self.get(index).unwrap_or_else(|| unreachable!("there is no element {index}"))
    }

    /// The elements at some places, all of which exist.
    pub fn gather(&self, places: impl Iterator<Item = usize>) -> Sequence {
        match self {
            Sequence::Ints(v) => Sequence::Ints(Arc::new(places.map(|i| v[i]).collect())),
            Sequence::Floats(v) => Sequence::Floats(Arc::new(places.map(|i| v[i]).collect())),
            Sequence::Bools(v) => Sequence::Bools(Arc::new(places.map(|i| v[i]).collect())),
            Sequence::Chars(v) => Sequence::Chars(Arc::new(places.map(|i| v[i]).collect())),
            Sequence::Values(v) => {
                Sequence::Values(Arc::new(places.map(|i| v[i].clone()).collect()))
            }
        }
    }
}
