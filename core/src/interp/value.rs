//! Values, and sequences with scalars packed.
//!
//! Values are immutable and shared: a clone copies a pointer. A sequence of scalars is one vector of
//! them; any other sequence is a vector of values, so a nested sequence is a tree, unlike in flat programs.

use crate::base::Constants;
use crate::ir::Ty;
use nesl_runtime::bug;
use nesl_runtime::scalar::Precision;
use std::ops::Range;
use std::sync::Arc;

/// A value of a monomorphic type.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The only value of the type `Unit`.
    Unit,
    /// An int, within the range of the program's precision.
    Int(i64),
    /// A float, rounded to the program's precision.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A character, one byte.
    Char(u8),
    /// A pair of values.
    Pair(Arc<(Value, Value)>),
    /// A sequence of values of one type.
    Sequence(Sequence),
}

/// A sequence; scalars are kept packed.
#[derive(Clone, Debug, PartialEq)]
pub enum Sequence {
    /// The elements of a sequence of ints.
    Ints(Arc<Vec<i64>>),
    /// The elements of a sequence of floats.
    Floats(Arc<Vec<f64>>),
    /// The elements of a sequence of bools.
    Bools(Arc<Vec<bool>>),
    /// The characters of a string.
    Chars(Arc<Vec<u8>>),
    /// The elements of any other type.
    Values(Arc<Vec<Value>>),
}

impl Value {
    /// Makes the pair `(first, second)`.
    pub fn pair(first: Value, second: Value) -> Value {
        Value::Pair(Arc::new((first, second)))
    }

    /// Makes a string of bytes.
    pub fn text(text: impl Into<Vec<u8>>) -> Value {
        Value::Sequence(Sequence::text(text))
    }

    /// The number, if this is an int.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(x) => Some(*x),
            _ => None,
        }
    }

    /// The number, if this is a float.
    pub fn as_float(&self) -> Option<f64> {
        match self {
            Value::Float(x) => Some(*x),
            _ => None,
        }
    }

    /// The truth value, if this is a bool.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(x) => Some(*x),
            _ => None,
        }
    }

    /// The character, if this is a char.
    pub fn as_char(&self) -> Option<u8> {
        match self {
            Value::Char(x) => Some(*x),
            _ => None,
        }
    }

    /// The components, if this is a pair.
    pub fn as_pair(&self) -> Option<(&Value, &Value)> {
        match self {
            Value::Pair(pair) => Some((&pair.0, &pair.1)),
            _ => None,
        }
    }

    /// The sequence, if this is one.
    pub fn as_sequence(&self) -> Option<&Sequence> {
        match self {
            Value::Sequence(sequence) => Some(sequence),
            _ => None,
        }
    }

    /// The characters, if this is a string.
    pub fn as_text(&self) -> Option<&[u8]> {
        self.as_sequence()?.as_text()
    }

    /// Returns true if this is a value of a type.
    pub fn has_type(&self, ty: &Ty) -> bool {
        match (self, ty) {
            (Value::Unit, Ty::Unit)
            | (Value::Int(_), Ty::Int)
            | (Value::Float(_), Ty::Float)
            | (Value::Bool(_), Ty::Bool)
            | (Value::Char(_), Ty::Char) => true,
            (Value::Pair(pair), Ty::Pair(first, second)) => {
                pair.0.has_type(first) && pair.1.has_type(second)
            }
            (Value::Sequence(sequence), Ty::Sequence(element)) => sequence.has_elements(element),
            _ => false,
        }
    }

    /// `S(v)`, the size by which work is counted: 1 for a scalar; for a sequence 1 plus the sizes
    /// of its elements; for a pair the sum of its components; 0 for the unit value.
    pub fn size(&self) -> u64 {
        match self {
            Value::Unit => 0,
            Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Char(_) => 1,
            Value::Pair(pair) => pair.0.size().saturating_add(pair.1.size()),
            Value::Sequence(sequence) => sequence.size(),
        }
    }
}

impl From<i64> for Value {
    fn from(x: i64) -> Value {
        Value::Int(x)
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Value {
        Value::Float(x)
    }
}

impl From<bool> for Value {
    fn from(x: bool) -> Value {
        Value::Bool(x)
    }
}

impl From<Sequence> for Value {
    fn from(sequence: Sequence) -> Value {
        Value::Sequence(sequence)
    }
}

impl From<Vec<i64>> for Value {
    fn from(xs: Vec<i64>) -> Value {
        Value::Sequence(Sequence::Ints(Arc::new(xs)))
    }
}

impl From<Vec<f64>> for Value {
    fn from(xs: Vec<f64>) -> Value {
        Value::Sequence(Sequence::Floats(Arc::new(xs)))
    }
}

impl From<Vec<bool>> for Value {
    fn from(xs: Vec<bool>) -> Value {
        Value::Sequence(Sequence::Bools(Arc::new(xs)))
    }
}

impl Sequence {
    /// Makes a string of bytes.
    pub fn text(text: impl Into<Vec<u8>>) -> Sequence {
        Sequence::Chars(Arc::new(text.into()))
    }

    /// The empty sequence of elements of a type.
    pub fn empty(element: &Ty) -> Sequence {
        SequenceBuilder::new(element, 0).finish()
    }

    /// The sequence of `values`, all of the type `element`.
    ///
    /// # Panics
    /// If one of them is of another type (checked for packed sequences only).
    pub fn from_values(element: &Ty, values: Vec<Value>) -> Sequence {
        match element {
            Ty::Unit | Ty::Pair(..) | Ty::Sequence(_) => Sequence::Values(Arc::new(values)),
            Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                let mut builder = SequenceBuilder::new(element, values.len());
                for value in values {
                    builder.push(value);
                }
                builder.finish()
            }
        }
    }

    /// The sequence of the elements of a long literal, with the numbers of a precision.
    pub fn from_constants(constants: &Constants, precision: Precision) -> Sequence {
        match constants {
            Constants::Ints(xs) => {
                Sequence::Ints(Arc::new(xs.iter().map(|x| precision.wrap(*x)).collect()))
            }
            Constants::Floats(xs) => {
                Sequence::Floats(Arc::new(xs.iter().map(|x| precision.round(x.get())).collect()))
            }
            Constants::Bools(xs) => Sequence::Bools(Arc::new(xs.clone())),
            Constants::Chars(xs) => Sequence::text(&xs[..]),
            Constants::Pairs(pair) => {
                let first = Sequence::from_constants(&pair.0, precision);
                let second = Sequence::from_constants(&pair.1, precision);
                let pairs = first.iter().zip(second.iter()).map(|(a, b)| Value::pair(a, b));
                Sequence::Values(Arc::new(pairs.collect()))
            }
            Constants::Sequences { lengths, elements } => {
                let all = Sequence::from_constants(elements, precision);
                let mut start = 0;
                let rows = lengths.iter().map(|length| {
                    let row = start..start + *length as usize;
                    start = row.end;
                    Value::Sequence(all.part(row))
                });
                Sequence::Values(Arc::new(rows.collect()))
            }
        }
    }

    /// The elements at a range of indices, which lies inside the sequence.
    fn part(&self, at: Range<usize>) -> Sequence {
        match self {
            Sequence::Ints(xs) => Sequence::Ints(Arc::new(xs[at].to_vec())),
            Sequence::Floats(xs) => Sequence::Floats(Arc::new(xs[at].to_vec())),
            Sequence::Bools(xs) => Sequence::Bools(Arc::new(xs[at].to_vec())),
            Sequence::Chars(xs) => Sequence::Chars(Arc::new(xs[at].to_vec())),
            Sequence::Values(xs) => Sequence::Values(Arc::new(xs[at].to_vec())),
        }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            Sequence::Ints(xs) => xs.len(),
            Sequence::Floats(xs) => xs.len(),
            Sequence::Bools(xs) => xs.len(),
            Sequence::Chars(xs) => xs.len(),
            Sequence::Values(xs) => xs.len(),
        }
    }

    /// Returns true if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at an index, or `None` beyond the bounds.
    pub fn get(&self, index: usize) -> Option<Value> {
        match self {
            Sequence::Ints(xs) => xs.get(index).map(|x| Value::Int(*x)),
            Sequence::Floats(xs) => xs.get(index).map(|x| Value::Float(*x)),
            Sequence::Bools(xs) => xs.get(index).map(|x| Value::Bool(*x)),
            Sequence::Chars(xs) => xs.get(index).map(|x| Value::Char(*x)),
            Sequence::Values(xs) => xs.get(index).cloned(),
        }
    }

    /// The elements in order.
    pub fn iter(&self) -> impl Iterator<Item = Value> {
        (0..self.len()).map_while(|index| self.get(index))
    }

    /// The elements, if they are ints.
    pub fn as_ints(&self) -> Option<&[i64]> {
        match self {
            Sequence::Ints(xs) => Some(xs),
            _ => None,
        }
    }

    /// The elements, if they are floats.
    pub fn as_floats(&self) -> Option<&[f64]> {
        match self {
            Sequence::Floats(xs) => Some(xs),
            _ => None,
        }
    }

    /// The elements, if they are bools.
    pub fn as_bools(&self) -> Option<&[bool]> {
        match self {
            Sequence::Bools(xs) => Some(xs),
            _ => None,
        }
    }

    /// The characters, if this is a string.
    pub fn as_text(&self) -> Option<&[u8]> {
        match self {
            Sequence::Chars(xs) => Some(xs),
            _ => None,
        }
    }

    /// Replaces the element at an index, in place if the sequence is not shared.
    ///
    /// # Panics
    /// If the index is out of bounds, or the value of another type than the elements of a packed
    /// sequence.
    pub fn set(&mut self, index: usize, value: &Value) {
        match (self, value) {
            (Sequence::Ints(xs), Value::Int(x)) => Arc::make_mut(xs)[index] = *x,
            (Sequence::Floats(xs), Value::Float(x)) => Arc::make_mut(xs)[index] = *x,
            (Sequence::Bools(xs), Value::Bool(x)) => Arc::make_mut(xs)[index] = *x,
            (Sequence::Chars(xs), Value::Char(x)) => Arc::make_mut(xs)[index] = *x,
            (Sequence::Values(xs), x) => Arc::make_mut(xs)[index] = x.clone(),
            (sequence, x) => bug!("{x:?} is an element of {sequence:?}"),
        }
    }

    /// Returns true if this is a sequence of elements of a type.
    pub fn has_elements(&self, element: &Ty) -> bool {
        match (self, element) {
            (Sequence::Ints(_), Ty::Int)
            | (Sequence::Floats(_), Ty::Float)
            | (Sequence::Bools(_), Ty::Bool)
            | (Sequence::Chars(_), Ty::Char) => true,
            (Sequence::Values(values), Ty::Unit | Ty::Pair(..) | Ty::Sequence(_)) => {
                values.iter().all(|value| value.has_type(element))
            }
            _ => false,
        }
    }

    /// The size `S(v)`, as [`Value::size`] defines it.
    pub fn size(&self) -> u64 {
        match self {
            Sequence::Values(values) => {
                values.iter().fold(1, |sum: u64, value| sum.saturating_add(value.size()))
            }
            Sequence::Ints(_) | Sequence::Floats(_) | Sequence::Bools(_) | Sequence::Chars(_) => {
                1 + self.len() as u64
            }
        }
    }
}

/// A sequence under construction.
#[derive(Clone, Debug)]
pub struct SequenceBuilder(Elements);

#[derive(Clone, Debug)]
enum Elements {
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Bools(Vec<bool>),
    Chars(Vec<u8>),
    Values(Vec<Value>),
}

impl SequenceBuilder {
    /// An empty sequence with room for `capacity` elements.
    pub fn new(element: &Ty, capacity: usize) -> SequenceBuilder {
        SequenceBuilder(match element {
            Ty::Int => Elements::Ints(Vec::with_capacity(capacity)),
            Ty::Float => Elements::Floats(Vec::with_capacity(capacity)),
            Ty::Bool => Elements::Bools(Vec::with_capacity(capacity)),
            Ty::Char => Elements::Chars(Vec::with_capacity(capacity)),
            Ty::Unit | Ty::Pair(..) | Ty::Sequence(_) => {
                Elements::Values(Vec::with_capacity(capacity))
            }
        })
    }

    /// Adds an element.
    ///
    /// # Panics
    /// If it is of another type than the elements of a packed sequence.
    pub fn push(&mut self, value: Value) {
        match (&mut self.0, value) {
            (Elements::Ints(xs), Value::Int(x)) => xs.push(x),
            (Elements::Floats(xs), Value::Float(x)) => xs.push(x),
            (Elements::Bools(xs), Value::Bool(x)) => xs.push(x),
            (Elements::Chars(xs), Value::Char(x)) => xs.push(x),
            (Elements::Values(xs), x) => xs.push(x),
            (growing, value) => bug!("{value:?} is an element of {growing:?}"),
        }
    }

    /// Returns the room of the sequence in bytes, without what its elements share.
    pub(super) fn bytes(&self) -> usize {
        match &self.0 {
            Elements::Ints(xs) => 8 * xs.capacity(),
            Elements::Floats(xs) => 8 * xs.capacity(),
            Elements::Bools(xs) => xs.capacity(),
            Elements::Chars(xs) => xs.capacity(),
            Elements::Values(xs) => size_of::<Value>() * xs.capacity(),
        }
    }

    /// Returns the elements so far, unless they are packed.
    pub(super) fn values(&self) -> &[Value] {
        match &self.0 {
            Elements::Values(xs) => xs,
            Elements::Ints(_) | Elements::Floats(_) | Elements::Bools(_) | Elements::Chars(_) => {
                &[]
            }
        }
    }

    /// Adds all elements of a sequence.
    ///
    /// # Panics
    /// If they are of another type than the elements of a packed sequence.
    pub fn extend(&mut self, sequence: &Sequence) {
        match (&mut self.0, sequence) {
            (Elements::Ints(xs), Sequence::Ints(more)) => xs.extend_from_slice(more),
            (Elements::Floats(xs), Sequence::Floats(more)) => xs.extend_from_slice(more),
            (Elements::Bools(xs), Sequence::Bools(more)) => xs.extend_from_slice(more),
            (Elements::Chars(xs), Sequence::Chars(more)) => xs.extend_from_slice(more),
            (Elements::Values(xs), Sequence::Values(more)) => xs.extend_from_slice(more),
            (growing, more) => bug!("{more:?} has elements of {growing:?}"),
        }
    }

    /// Returns the finished sequence.
    pub fn finish(self) -> Sequence {
        match self.0 {
            Elements::Ints(xs) => Sequence::Ints(Arc::new(xs)),
            Elements::Floats(xs) => Sequence::Floats(Arc::new(xs)),
            Elements::Bools(xs) => Sequence::Bools(Arc::new(xs)),
            Elements::Chars(xs) => Sequence::Chars(Arc::new(xs)),
            Elements::Values(xs) => Sequence::Values(Arc::new(xs)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_two_words() {
        assert_eq!(size_of::<Value>(), 16);
    }

    #[test]
    fn sizes_count_descriptors_and_elements() {
        let flat = Value::from(vec![1i64, 2, 3]);
        assert_eq!(flat.size(), 4);
        let element = Ty::sequence(Ty::Int);
        let nested = Sequence::from_values(&element, vec![flat, Value::from(vec![7i64])]);
        assert_eq!(nested.size(), 1 + 4 + 2);
        assert_eq!(Value::pair(Value::Int(1), Value::text("ab")).size(), 4);
        assert_eq!(Value::Unit.size(), 0);
    }

    #[test]
    fn packed_by_type_even_when_empty() {
        assert_eq!(Sequence::empty(&Ty::Char), Sequence::text(""));
        assert!(Sequence::empty(&Ty::Float).has_elements(&Ty::Float));
        assert!(!Sequence::empty(&Ty::Float).has_elements(&Ty::Int));
        let pairs = Ty::pair(Ty::Int, Ty::Bool);
        assert!(Sequence::empty(&pairs).has_elements(&pairs));
    }

    #[test]
    fn elements_come_back() {
        let values = vec![Value::Bool(true), Value::Bool(false)];
        let sequence = Sequence::from_values(&Ty::Bool, values.clone());
        assert_eq!(sequence.iter().collect::<Vec<_>>(), values);
        assert_eq!(sequence.get(2), None);
        assert_eq!(sequence.as_bools(), Some(&[true, false][..]));
    }
}
