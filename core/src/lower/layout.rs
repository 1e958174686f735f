//! How values lie in kir.
//!
//! A scalar is a value. A pair is its halves. A sequence is its length and its columns: one array
//! for each scalar of an element (structure of arrays); where an element is itself a sequence, an
//! array of starts and one of lengths into a pool, and the columns of the pool. Segments may lie
//! anywhere in the pool, so that cutting, repeating and choosing sequences never copies them
//! (DESIGN, "Values": views).
//!
//! ```text
//! [(int, [char])]  ≙  length, [i64], starts [i64], lengths [i64], extent, [u8]
//! ```
//!
//! `extent` says how many elements of the pool there are, used or not.

use crate::base::with_stack;
use crate::ir::Ty;
use nesl_runtime::kir::{self, Value, ValueTy};
use nesl_runtime::scalar::Precision;
use std::rc::Rc;

/// The kir type of a scalar.
pub(super) fn scalar(ty: &Ty, precision: Precision) -> Option<kir::Ty> {
    Some(match (ty, precision) {
        (Ty::Int, Precision::Bits64) => kir::Ty::I64,
        (Ty::Int, Precision::Bits32) => kir::Ty::I32,
        (Ty::Float, Precision::Bits64) => kir::Ty::F64,
        (Ty::Float, Precision::Bits32) => kir::Ty::F32,
        (Ty::Bool, _) => kir::Ty::Bool,
        (Ty::Char, _) => kir::Ty::U8,
        (Ty::Unit | Ty::Pair(..) | Ty::Sequence(_), _) => return None,
    })
}

/// The kir types of the parts of a value, in order.
pub fn parts(ty: &Ty, precision: Precision) -> Vec<ValueTy> {
    let mut out = Vec::new();
    add_parts(ty, precision, &mut out);
    out
}

fn add_parts(ty: &Ty, precision: Precision, out: &mut Vec<ValueTy>) {
    with_stack(|| match ty {
        Ty::Unit => {}
        Ty::Pair(first, second) => {
            add_parts(first, precision, out);
            add_parts(second, precision, out);
        }
        Ty::Sequence(element) => {
            out.push(ValueTy::Scalar(kir::Ty::I64));
            add_columns(element, precision, out);
        }
        Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
            out.extend(scalar(ty, precision).map(ValueTy::Scalar));
        }
    });
}

/// The kir types of the columns of a sequence of `element`, in order.
pub fn columns(element: &Ty, precision: Precision) -> Vec<ValueTy> {
    let mut out = Vec::new();
    add_columns(element, precision, &mut out);
    out
}

fn add_columns(element: &Ty, precision: Precision, out: &mut Vec<ValueTy>) {
    with_stack(|| match element {
        Ty::Unit => {}
        Ty::Pair(first, second) => {
            add_columns(first, precision, out);
            add_columns(second, precision, out);
        }
        Ty::Sequence(inner) => {
            out.push(ValueTy::Array(kir::Ty::I64));
            out.push(ValueTy::Array(kir::Ty::I64));
            out.push(ValueTy::Scalar(kir::Ty::I64));
            add_columns(inner, precision, out);
        }
        Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
            out.extend(scalar(element, precision).map(ValueTy::Array));
        }
    });
}

/// A value of the program, in kir.
#[derive(Clone, Debug)]
pub(super) enum Rep<'a> {
    Unit,
    Scalar(Value),
    Pair(Rc<(Rep<'a>, Rep<'a>)>),
    Sequence(Sequence<'a>),
}

/// A sequence: in memory, or as the code that makes its elements.
#[derive(Clone, Debug)]
pub(super) enum Sequence<'a> {
    Stored(Stored),
    Delayed(Rc<super::sequential::Delayed<'a>>),
}

/// A sequence in memory.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub length: Value,
    pub columns: Columns,
}

/// The columns of a sequence.
#[derive(Clone, Debug)]
pub(super) enum Columns {
    Unit,
    Scalars(Leaf),
    Pair(Rc<(Columns, Columns)>),
    Segments(Rc<Segments>),
}

/// A column: an array from some element on. That the array stays the same when a sequence is cut
/// is how views are recognised.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf {
    pub array: Value,
    /// Where the sequence begins; none is 0.
    pub start: Option<Value>,
    /// How many elements the array has, at least.
    pub extent: Value,
}

/// A column of sequences.
#[derive(Clone, Debug)]
pub(super) struct Segments {
    pub starts: Leaf,
    pub lengths: Leaf,
    pub pool: Columns,
    /// How many elements the pool has, at least.
    pub extent: Value,
}

impl<'a> Rep<'a> {
    pub(super) fn pair(first: Rep<'a>, second: Rep<'a>) -> Rep<'a> {
        Rep::Pair(Rc::new((first, second)))
    }

    pub(super) fn stored(length: Value, columns: Columns) -> Rep<'a> {
        Rep::Sequence(Sequence::Stored(Stored { length, columns }))
    }

    /// The value of a scalar.
    pub(super) fn scalar(&self) -> Value {
        match self {
            Rep::Scalar(value) => *value,
            Rep::Unit | Rep::Pair(_) | Rep::Sequence(_) => unreachable!("types were checked"),
        }
    }

    /// A sequence.
    pub(super) fn sequence(&self) -> Sequence<'a> {
        match self {
            Rep::Sequence(sequence) => sequence.clone(),
            Rep::Unit | Rep::Scalar(_) | Rep::Pair(_) => unreachable!("types were checked"),
        }
    }
}

impl Columns {
    pub(super) fn pair(first: Columns, second: Columns) -> Columns {
        Columns::Pair(Rc::new((first, second)))
    }

    /// The one column of a sequence of scalars.
    pub(super) fn leaf(&self) -> Leaf {
        match self {
            Columns::Scalars(leaf) => *leaf,
            Columns::Unit | Columns::Pair(_) | Columns::Segments(_) => {
                unreachable!("types were checked")
            }
        }
    }

    /// The columns of a sequence of sequences.
    pub(super) fn segments(&self) -> Rc<Segments> {
        match self {
            Columns::Segments(segments) => segments.clone(),
            Columns::Unit | Columns::Scalars(_) | Columns::Pair(_) => {
                unreachable!("types were checked")
            }
        }
    }

    /// Visits the columns of the sequence itself, not those of pools.
    pub(super) fn each_leaf(&self, visit: &mut dyn FnMut(Leaf)) {
        match self {
            Columns::Unit => {}
            Columns::Scalars(leaf) => visit(*leaf),
            Columns::Pair(both) => {
                both.0.each_leaf(visit);
                both.1.each_leaf(visit);
            }
            Columns::Segments(segments) => {
                visit(segments.starts);
                visit(segments.lengths);
            }
        }
    }

    /// The same columns, those of the sequence itself changed.
    pub(super) fn map(&self, change: &mut dyn FnMut(Leaf) -> Leaf) -> Columns {
        match self {
            Columns::Unit => Columns::Unit,
            Columns::Scalars(leaf) => Columns::Scalars(change(*leaf)),
            Columns::Pair(both) => Columns::pair(both.0.map(change), both.1.map(change)),
            Columns::Segments(segments) => {
                let (starts, lengths) = (change(segments.starts), change(segments.lengths));
                Columns::Segments(Rc::new(Segments { starts, lengths, ..(**segments).clone() }))
            }
        }
    }

    /// Whether everything was there before a value was.
    pub(super) fn older_than(&self, limit: u32) -> bool {
        let old = |leaf: &Leaf| leaf.array.0 < limit && leaf.extent.0 < limit;
        match self {
            Columns::Unit => true,
            Columns::Scalars(leaf) => old(leaf),
            Columns::Pair(both) => both.0.older_than(limit) && both.1.older_than(limit),
            Columns::Segments(s) => {
                old(&s.starts) && old(&s.lengths) && s.extent.0 < limit && s.pool.older_than(limit)
            }
        }
    }
}
