//! Values as data for who draws them: typed, and of long sequences only what was read.
//!
//! A [`Shown`] is a value with its type, in which datatypes have their names and their fields. It
//! gives [`Node`]s, from the root on: each is a scalar, a tuple, a text or a sequence, whose
//! elements are nodes again. A sequence always knows its length; of one that is long and lives on a
//! device only the first and the last elements were read, and the others are `None`.

use crate::preview::Preview;
use nesl_core::interp::{Sequence, Value};
use nesl_core::types::{Record, Ty};
use nesl_runtime::scalar::Precision;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of elements between two looks at the interrupt.
const POLLED_ELEMENTS: usize = 1 << 14;

/// The parts of a value that are read to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataLimits {
    /// A value of at most so many bytes is read whole.
    pub whole_bytes: u64,
    /// The number of elements read at the beginning of a sequence of a larger value.
    pub head_elements: usize,
    /// The number of elements read at its end.
    pub tail_elements: usize,
}

/// The type of a shown value. Datatypes have their fields in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// The type `int`.
    Int,
    /// The type `float`.
    Float,
    /// The type `bool`.
    Bool,
    /// The type `char`.
    Char,
    /// Functions, of which nothing can be shown.
    Function,
    /// Tuples, of at least two components.
    Tuple(Vec<ValueType>),
    /// A datatype: its name and its fields.
    Record(String, Vec<ValueType>),
    /// Sequences of elements of a type.
    Sequence(Box<ValueType>),
    /// The type of the elements of a sequence that is empty and used nowhere.
    Unknown,
}

/// A value to be shown.
#[derive(Clone, Debug)]
pub struct Shown {
    preview: Preview,
    ty: ValueType,
    precision: Precision,
}

/// A part of a shown value.
#[derive(Clone, Debug)]
pub enum Node<'a> {
    /// The value of an int.
    Int(i64),
    /// The value of a float.
    Float(f64),
    /// The value of a bool.
    Bool(bool),
    /// The byte of a char.
    Char(u8),
    /// A function, of which nothing is known.
    Function,
    /// The components of a tuple.
    Tuple(Vec<Node<'a>>),
    /// The name of a datatype, and its fields.
    Record(&'a str, Vec<Node<'a>>),
    /// The characters of a string: UTF-8, or else Latin-1.
    Text(&'a [u8]),
    /// A sequence of anything but characters.
    Sequence(Elements<'a>),
}

/// The elements of a sequence.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a> {
    element: &'a ValueType,
    source: Source<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Source<'a> {
    Whole(&'a Sequence),
    Part { head: &'a [Preview], tail: &'a [Preview], length: usize },
}

impl ValueType {
    /// Returns the type for a type of the language; `content` is the type of a datatype's content.
    pub(crate) fn of(ty: &Ty, content: &dyn Fn(&Record, &[Ty]) -> Ty) -> ValueType {
        match ty {
            Ty::Int => ValueType::Int,
            Ty::Float => ValueType::Float,
            Ty::Bool => ValueType::Bool,
            Ty::Char => ValueType::Char,
            Ty::Function(_) => ValueType::Function,
            Ty::Pair(..) => ValueType::Tuple(fields(ty, content)),
            Ty::Record(record, args) => {
                let fields = fields(&content(record, args), content);
                ValueType::Record(record.name.to_string(), fields)
            }
            Ty::Sequence(element) => ValueType::Sequence(Box::new(ValueType::of(element, content))),
            _ => ValueType::Unknown,
        }
    }

    /// Returns the type of the elements, if this is a sequence.
    pub fn element(&self) -> Option<&ValueType> {
        match self {
            ValueType::Sequence(element) => Some(element),
            _ => None,
        }
    }

    /// Returns true for integers and floating-point numbers.
    pub fn is_number(&self) -> bool {
        matches!(self, ValueType::Int | ValueType::Float)
    }
}

/// Writes the type as NESL does; with `{:#}`, datatypes with their fields: `point(int, float)`.
impl fmt::Display for ValueType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueType::Int => out.write_str("int"),
            ValueType::Float => out.write_str("float"),
            ValueType::Bool => out.write_str("bool"),
            ValueType::Char => out.write_str("char"),
            ValueType::Function => out.write_str("function"),
            ValueType::Unknown => out.write_str("any"),
            ValueType::Sequence(element) => {
                out.write_str("[")?;
                element.fmt(out)?;
                out.write_str("]")
            }
            ValueType::Record(name, _) if !out.alternate() => out.write_str(name),
            ValueType::Record(name, fields) => {
                out.write_str(name)?;
                in_parentheses(fields, out)
            }
            ValueType::Tuple(fields) => in_parentheses(fields, out),
        }
    }
}

fn in_parentheses(types: &[ValueType], out: &mut fmt::Formatter<'_>) -> fmt::Result {
    out.write_str("(")?;
    for (position, ty) in types.iter().enumerate() {
        if position > 0 {
            out.write_str(", ")?;
        }
        fmt::Display::fmt(ty, out)?;
    }
    out.write_str(")")
}

/// Returns the components of a tuple, or the one field of a type that is none. A pair in the second
/// place of a pair belongs to the same tuple.
fn fields(ty: &Ty, content: &dyn Fn(&Record, &[Ty]) -> Ty) -> Vec<ValueType> {
    let (mut all, mut rest) = (Vec::new(), ty);
    while let Ty::Pair(first, second) = rest {
        all.push(ValueType::of(first, content));
        rest = second;
    }
    all.push(ValueType::of(rest, content));
    all
}

impl Shown {
    pub(crate) fn new(preview: Preview, ty: ValueType, precision: Precision) -> Shown {
        Shown { preview, ty, precision }
    }

    /// Returns the type of the value.
    pub fn ty(&self) -> &ValueType {
        &self.ty
    }

    /// Returns the width of the numbers in it.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// Returns the value itself.
    pub fn root(&self) -> Node<'_> {
        seen(&self.preview, &self.ty)
    }
}

impl<'a> Elements<'a> {
    /// Returns the number of elements, read or not.
    pub fn len(&self) -> usize {
        match self.source {
            Source::Whole(sequence) => sequence.len(),
            Source::Part { length, .. } => length,
        }
    }

    /// Returns true if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the type of the elements.
    pub fn element(&self) -> &'a ValueType {
        self.element
    }

    /// Returns the element at an index from 0 on; `None` if it was not read, or is not there.
    pub fn get(&self, index: usize) -> Option<Node<'a>> {
        match self.source {
            Source::Whole(sequence) => whole_element(sequence, index, self.element),
            Source::Part { head, tail, length } => {
                let after = (index + tail.len()).checked_sub(length).filter(|_| index < length);
                let found = head.get(index).or_else(|| after.and_then(|at| tail.get(at)));
                found.map(|found| seen(found, self.element))
            }
        }
    }

    /// Returns true if all elements were read; their own elements may still not have been.
    pub fn is_whole(&self) -> bool {
        match self.source {
            Source::Whole(_) => true,
            Source::Part { head, tail, length } => head.len() + tail.len() >= length,
        }
    }

    /// Returns the elements as floats if they are numbers and all of them were read. Soon after `stop` is set they
    /// end where they are.
    pub fn numbers(&self, stop: &AtomicBool) -> Option<Vec<f64>> {
        match (self.source, self.element) {
            (Source::Whole(Sequence::Floats(floats)), _) => {
                Some(until_stopped(floats.iter().copied(), stop).collect())
            }
            (Source::Whole(Sequence::Ints(ints)), _) => {
                Some(until_stopped(ints.iter(), stop).map(|n| *n as f64).collect())
            }
            (_, ty) if ty.is_number() => until_stopped(0..self.len(), stop)
                .map(|index| match self.get(index) {
                    Some(Node::Int(n)) => Some(n as f64),
                    Some(Node::Float(x)) => Some(x),
                    _ => None,
                })
                .collect(),
            _ => None,
        }
    }
}

/// Ends an iteration soon after `stop` is set.
pub fn until_stopped<'a, I: Iterator + 'a>(
    all: I,
    stop: &'a AtomicBool,
) -> impl Iterator<Item = I::Item> + 'a {
    let goes_on = |position: usize| {
        !position.is_multiple_of(POLLED_ELEMENTS) || !stop.load(Ordering::Relaxed)
    };
    all.enumerate().take_while(move |(at, _)| goes_on(*at)).map(|(_, element)| element)
}

fn whole_element<'a>(
    sequence: &'a Sequence,
    index: usize,
    element: &'a ValueType,
) -> Option<Node<'a>> {
    Some(match sequence {
        Sequence::Ints(all) => Node::Int(*all.get(index)?),
        Sequence::Floats(all) => Node::Float(*all.get(index)?),
        Sequence::Bools(all) => Node::Bool(*all.get(index)?),
        Sequence::Chars(all) => Node::Char(*all.get(index)?),
        Sequence::Values(all) => whole(all.get(index)?, element),
    })
}

fn seen<'a>(preview: &'a Preview, ty: &'a ValueType) -> Node<'a> {
    match (preview, ty) {
        (Preview::Whole(value), _) => whole(value, ty),
        (_, ValueType::Record(name, fields)) => Node::Record(name, seen_fields(preview, fields)),
        (_, ValueType::Tuple(fields)) => Node::Tuple(seen_fields(preview, fields)),
        (Preview::Pair(pair), _) => {
            let unknown = &ValueType::Unknown;
            Node::Tuple(vec![seen(&pair.0, unknown), seen(&pair.1, unknown)])
        }
        (Preview::Sequence { head, tail, length }, _) => {
            let element = ty.element().unwrap_or(&ValueType::Unknown);
            Node::Sequence(Elements {
                element,
                source: Source::Part { head, tail, length: *length },
            })
        }
    }
}

fn seen_fields<'a>(preview: &'a Preview, fields: &'a [ValueType]) -> Vec<Node<'a>> {
    let (mut all, mut rest) = (Vec::with_capacity(fields.len()), preview);
    for (position, ty) in fields.iter().enumerate() {
        match rest {
            Preview::Pair(pair) if position + 1 < fields.len() => {
                all.push(seen(&pair.0, ty));
                rest = &pair.1;
            }
            Preview::Whole(value) => {
                all.extend(whole_fields(value, &fields[position..]));
                break;
            }
            last => all.push(seen(last, ty)),
        }
    }
    all
}

fn whole<'a>(value: &'a Value, ty: &'a ValueType) -> Node<'a> {
    match (value, ty) {
        (_, ValueType::Function) | (Value::Unit, _) => Node::Function,
        (value, ValueType::Record(name, fields)) => Node::Record(name, whole_fields(value, fields)),
        (value, ValueType::Tuple(fields)) => Node::Tuple(whole_fields(value, fields)),
        (Value::Int(n), _) => Node::Int(*n),
        (Value::Float(x), _) => Node::Float(*x),
        (Value::Bool(b), _) => Node::Bool(*b),
        (Value::Char(c), _) => Node::Char(*c),
        (Value::Pair(pair), _) => {
            let unknown = &ValueType::Unknown;
            Node::Tuple(vec![whole(&pair.0, unknown), whole(&pair.1, unknown)])
        }
        (Value::Sequence(Sequence::Chars(text)), _) => Node::Text(text),
        (Value::Sequence(sequence), _) => {
            let element = ty.element().unwrap_or(&ValueType::Unknown);
            if *element == ValueType::Char && sequence.is_empty() {
                return Node::Text(&[]);
            }
            Node::Sequence(Elements { element, source: Source::Whole(sequence) })
        }
    }
}

fn whole_fields<'a>(value: &'a Value, fields: &'a [ValueType]) -> Vec<Node<'a>> {
    let (mut all, mut rest) = (Vec::with_capacity(fields.len()), value);
    for (position, ty) in fields.iter().enumerate() {
        match rest {
            Value::Pair(pair) if position + 1 < fields.len() => {
                all.push(whole(&pair.0, ty));
                rest = &pair.1;
            }
            last => {
                all.push(whole(last, ty));
                break;
            }
        }
    }
    all
}

#[cfg(test)]
mod tests;
