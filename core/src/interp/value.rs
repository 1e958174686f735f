//! Values.

use crate::ir::Ty;
use std::sync::Arc;

/// A value of a monomorphic type.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The value of `Unit`.
    Unit,
    /// An int.
    Int(i64),
    /// A float.
    Float(f64),
    /// A bool.
    Bool(bool),
    /// A char.
    Char(u8),
    /// A pair.
    Pair(Arc<(Value, Value)>),
    /// A sequence.
    Sequence(Sequence),
}

/// A sequence; scalars are kept packed. The variant follows from the type of the elements.
#[derive(Clone, Debug, PartialEq)]
pub enum Sequence {
    /// Of ints.
    Ints(Arc<Vec<i64>>),
    /// Of floats.
    Floats(Arc<Vec<f64>>),
    /// Of bools.
    Bools(Arc<Vec<bool>>),
    /// Of chars: a string.
    Chars(Arc<Vec<u8>>),
    /// Of anything else.
    Values(Arc<Vec<Value>>),
}

impl Value {
    /// A pair.
    pub fn pair(first: Value, second: Value) -> Value {
        Value::Pair(Arc::new((first, second)))
    }

    /// A string.
    pub fn text(bytes: impl Into<Vec<u8>>) -> Value {
        Value::Sequence(Sequence::Chars(Arc::new(bytes.into())))
    }

    /// A sequence of elements of a type.
    pub fn sequence(element: &Ty, values: impl IntoIterator<Item = Value>) -> Value {
        Value::Sequence(Sequence::from_values(element, values))
    }

    /// The int it is. Panics if it is none: types exclude that.
    pub fn int(&self) -> i64 {
        match self {
            Value::Int(value) => *value,
            other => unreachable!("{other:?} is not an int"),
        }
    }

    /// The bool it is.
    pub fn bool(&self) -> bool {
        match self {
            Value::Bool(value) => *value,
            other => unreachable!("{other:?} is not a bool"),
        }
    }

    /// The sequence it is.
    pub fn elements(&self) -> &Sequence {
        match self {
            Value::Sequence(sequence) => sequence,
            other => unreachable!("{other:?} is not a sequence"),
        }
    }

    /// The bytes of the string it is.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Value::Sequence(Sequence::Chars(bytes)) => bytes,
            other => unreachable!("{other:?} is not a string"),
        }
    }

    /// Its size by the cost model: 1 for a scalar; for a sequence 1 and the sizes of its elements.
    pub fn size(&self) -> u64 {
        match self {
            Value::Unit | Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Char(_) => 1,
            Value::Pair(pair) => pair.0.size() + pair.1.size(),
            Value::Sequence(Sequence::Values(values)) => {
                1 + values.iter().map(Value::size).sum::<u64>()
            }
            Value::Sequence(sequence) => 1 + sequence.len() as u64,
        }
    }
}

impl Sequence {
    /// A sequence of elements of a type.
    pub fn from_values(element: &Ty, values: impl IntoIterator<Item = Value>) -> Sequence {
        let mut builder = Builder::new(element, 0);
        for value in values {
            builder.push(value);
        }
        builder.finish()
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            Sequence::Ints(v) => v.len(),
            Sequence::Floats(v) => v.len(),
            Sequence::Bools(v) => v.len(),
            Sequence::Chars(v) => v.len(),
            Sequence::Values(v) => v.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at a place that exists.
    pub fn get(&self, index: usize) -> Value {
        match self {
            Sequence::Ints(v) => Value::Int(v[index]),
            Sequence::Floats(v) => Value::Float(v[index]),
            Sequence::Bools(v) => Value::Bool(v[index]),
            Sequence::Chars(v) => Value::Char(v[index]),
            Sequence::Values(v) => v[index].clone(),
        }
    }

    /// All elements in order.
    pub fn iter(&self) -> impl Iterator<Item = Value> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }

    /// The ints it holds.
    pub fn ints(&self) -> &[i64] {
        match self {
            Sequence::Ints(v) => v,
            other => unreachable!("{other:?} does not hold ints"),
        }
    }

    /// The bools it holds.
    pub fn bools(&self) -> &[bool] {
        match self {
            Sequence::Bools(v) => v,
            other => unreachable!("{other:?} does not hold bools"),
        }
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

/// A sequence under construction.
pub(super) enum Builder {
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Bools(Vec<bool>),
    Chars(Vec<u8>),
    Values(Vec<Value>),
}

impl Builder {
    pub(super) fn new(element: &Ty, capacity: usize) -> Builder {
        match element {
            Ty::Int => Builder::Ints(Vec::with_capacity(capacity)),
            Ty::Float => Builder::Floats(Vec::with_capacity(capacity)),
            Ty::Bool => Builder::Bools(Vec::with_capacity(capacity)),
            Ty::Char => Builder::Chars(Vec::with_capacity(capacity)),
            Ty::Unit | Ty::Pair(..) | Ty::Sequence(_) => {
                Builder::Values(Vec::with_capacity(capacity))
            }
        }
    }

    pub(super) fn push(&mut self, value: Value) {
        match (self, value) {
            (Builder::Ints(v), Value::Int(x)) => v.push(x),
            (Builder::Floats(v), Value::Float(x)) => v.push(x),
            (Builder::Bools(v), Value::Bool(x)) => v.push(x),
            (Builder::Chars(v), Value::Char(x)) => v.push(x),
            (Builder::Values(v), value) => v.push(value),
            (_, value) => unreachable!("{value:?} in a sequence of another type"),
        }
    }

    pub(super) fn finish(self) -> Sequence {
        match self {
            Builder::Ints(v) => Sequence::Ints(Arc::new(v)),
            Builder::Floats(v) => Sequence::Floats(Arc::new(v)),
            Builder::Bools(v) => Sequence::Bools(Arc::new(v)),
            Builder::Chars(v) => Sequence::Chars(Arc::new(v)),
            Builder::Values(v) => Sequence::Values(Arc::new(v)),
        }
    }
}
