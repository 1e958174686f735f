//! Values.

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

/// A sequence; scalars are kept packed.
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
