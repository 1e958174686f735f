//! The representation of a value while code is generated for it.
//!
//! A sequence is *stored* (its columns are arrays) or *fused*: not materialised, but described by
//! an index function that its consumer's loop calls for each element (Keller et al., *Regular,
//! Shape-polymorphic, Parallel Arrays in Haskell*, ICFP 2010, section 4, calls them delayed
//! arrays). [`fuse::sequential`](crate::fuse::sequential) decides for each variable which of the
//! two it is, before lowering.

use super::ill_typed;
use crate::base::with_stack;
use crate::ir::{Nest, Site, Ty};
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::Value;
use std::rc::Rc;

/// A value of the program, as kir values.
#[derive(Clone, Debug)]
pub(in crate::lower) enum LoweredValue<'a> {
    /// A value of [`Ty::Unit`], which needs no kir value.
    Unit,
    /// A scalar, as one kir value.
    Scalar(Value),
    /// The two components of a pair.
    Pair(Rc<(LoweredValue<'a>, LoweredValue<'a>)>),
    /// A sequence, stored or fused.
    Sequence(LoweredSequence<'a>),
}

/// A sequence, in memory or as the function that computes its elements.
#[derive(Clone, Debug)]
pub(in crate::lower) enum LoweredSequence<'a> {
    /// The sequence is in memory.
    Stored(StoredSequence),
    /// The sequence is not materialised.
    Fused(Rc<FusedSequence<'a>>),
}

/// A sequence in memory.
#[derive(Clone, Debug)]
pub(in crate::lower) struct StoredSequence {
    /// The number of elements, an `i64`.
    pub length: Value,
    /// The arrays of the elements.
    pub columns: Columns,
    /// The elements that may be overwritten.
    pub room: Room,
}

/// The number of elements that the owner of a stored sequence may write, from its first one on: at
/// least its length, or 0 if the arrays are not owned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lower) enum Room {
    /// The arrays belong to somebody else.
    None,
    /// An `i64` that is 0 if the arrays belong to somebody else.
    Maybe(Value),
    /// The arrays are owned, and have room for so many elements, an `i64`.
    Owned(Value),
}

/// A sequence that is not materialised.
#[derive(Clone, Debug)]
pub(in crate::lower) struct FusedSequence<'a> {
    /// The number of elements, an `i64`; of an [`IndexFunction::Filter`], that of the unfiltered
    /// sequence.
    pub length: Value,
    /// True if the computation of an element may fault.
    pub may_fault: bool,
    /// The function that computes an element.
    pub elements: IndexFunction<'a>,
}

/// The function from an index to the element of a fused sequence.
#[derive(Clone, Debug)]
pub(in crate::lower) enum IndexFunction<'a> {
    /// The body of a nest, for the elements of its source sequences.
    Map(&'a Nest, Vec<LoweredSequence<'a>>),
    /// The element `start + i · stride` at index `i`; both operands are NESL ints.
    Range(Value, Value),
    /// The same value at each index.
    Dist(LoweredValue<'a>),
    /// The element of a stored sequence at each of some indices; the source location if one may be out of bounds.
    Gather(StoredSequence, LoweredSequence<'a>, Option<Site>),
    /// The elements of the first sequence at which the second, of flags, is true. The index counts
    /// the unfiltered elements: only loops that test the flag can consume it.
    Filter(LoweredSequence<'a>, LoweredSequence<'a>),
    /// Sequences one behind the other, which are in memory or cannot fault: an append that another append is
    /// all that uses.
    Parts(Rc<[LoweredSequence<'a>; 2]>),
}

/// The columns of a stored sequence, by the type of its elements.
#[derive(Clone, Debug)]
pub(in crate::lower) enum Columns {
    /// Elements of [`Ty::Unit`] have no column.
    Unit,
    /// The column of a sequence of scalars.
    Scalars(Column),
    /// The columns of the two components of pairs.
    Pair(Rc<(Columns, Columns)>),
    /// The segments of a sequence of sequences.
    Views(Rc<Views>),
}

/// A column: an array from the element `start` on. Taking a subsequence changes `start` and keeps
/// `array`, by which a view of another sequence is recognised.
#[derive(Clone, Copy, Debug)]
pub(in crate::lower) struct Column {
    /// The array of scalars.
    pub array: Value,
    /// The index in the array of the sequence's first element, an `i64`; `None` is 0.
    pub start: Option<Value>,
    /// A lower bound of the number of elements of the array, an `i64`.
    pub extent: Value,
}

/// A column of sequences: the starts and lengths of segments in a pool.
#[derive(Clone, Debug)]
pub(in crate::lower) struct Views {
    /// The start of each segment, an index into the pool.
    pub starts: Column,
    /// The length of each segment, in elements.
    pub lengths: Column,
    /// The columns of the elements of all segments.
    pub pool: Columns,
    /// A lower bound of the number of elements of the pool, an `i64`: all segments lie before it.
    pub extent: Value,
    /// The number of elements that the pool has room for, an `i64`, if the sequence may be owned: its
    /// segments do not overlap then, and nothing else lies in the pool. The number is negated if the pool
    /// is *spaced*: behind the elements of each segment there is room to the next power of two of its length.
    pub capacity: Option<Value>,
}

impl Room {
    /// Returns the kir value of the room, if the arrays may be owned.
    pub fn value(self) -> Option<Value> {
        match self {
            Room::None => None,
            Room::Maybe(room) | Room::Owned(room) => Some(room),
        }
    }
}

impl<'a> LoweredValue<'a> {
    /// Returns the pair of two values.
    pub fn pair(first: LoweredValue<'a>, second: LoweredValue<'a>) -> LoweredValue<'a> {
        LoweredValue::Pair(Rc::new((first, second)))
    }

    /// Returns a sequence in memory that is not owned.
    pub fn stored(length: Value, columns: Columns) -> LoweredValue<'a> {
        LoweredValue::of_stored(StoredSequence { length, columns, room: Room::None })
    }

    /// Returns a sequence in memory.
    pub fn of_stored(stored: StoredSequence) -> LoweredValue<'a> {
        LoweredValue::Sequence(LoweredSequence::Stored(stored))
    }

    /// Returns a sequence that is not materialised.
    pub fn fused(length: Value, may_fault: bool, elements: IndexFunction<'a>) -> LoweredValue<'a> {
        let fused = FusedSequence { length, may_fault, elements };
        LoweredValue::Sequence(LoweredSequence::Fused(Rc::new(fused)))
    }

    /// Returns the kir value of a scalar.
    pub fn scalar(&self) -> Value {
        match self {
            LoweredValue::Scalar(value) => *value,
            LoweredValue::Unit | LoweredValue::Pair(_) | LoweredValue::Sequence(_) => {
                ill_typed("a scalar")
            }
        }
    }

    /// Returns the components of a pair.
    pub fn components(&self) -> &(LoweredValue<'a>, LoweredValue<'a>) {
        match self {
            LoweredValue::Pair(both) => both,
            LoweredValue::Unit | LoweredValue::Scalar(_) | LoweredValue::Sequence(_) => {
                ill_typed("a pair")
            }
        }
    }

    /// Returns the sequence that the value is.
    pub fn sequence(&self) -> LoweredSequence<'a> {
        match self {
            LoweredValue::Sequence(sequence) => sequence.clone(),
            LoweredValue::Unit | LoweredValue::Scalar(_) | LoweredValue::Pair(_) => {
                ill_typed("a sequence")
            }
        }
    }

    /// Returns the sequence that the value is, which must be stored.
    pub fn stored_sequence(&self) -> StoredSequence {
        match self.sequence() {
            LoweredSequence::Stored(stored) => stored,
            LoweredSequence::Fused(_) => {
                nesl_runtime::bug!("a sequence is in memory after it was materialised")
            }
        }
    }
}

impl<'a> LoweredSequence<'a> {
    /// Returns the number of elements; of a filter, that of the unfiltered sequence.
    pub fn length(&self) -> Value {
        match self {
            LoweredSequence::Stored(stored) => stored.length,
            LoweredSequence::Fused(fused) => fused.length,
        }
    }

    /// Returns the two sequences of an [`IndexFunction::Filter`]: elements and flags.
    pub fn as_filter(&self) -> Option<(&LoweredSequence<'a>, &LoweredSequence<'a>)> {
        match self {
            LoweredSequence::Fused(fused) => match &fused.elements {
                IndexFunction::Filter(of, keep) => Some((of, keep)),
                IndexFunction::Map(..)
                | IndexFunction::Range(..)
                | IndexFunction::Dist(_)
                | IndexFunction::Gather(..)
                | IndexFunction::Parts(_) => None,
            },
            LoweredSequence::Stored(_) => None,
        }
    }

    /// Returns true for a fused filter.
    pub fn is_filter(&self) -> bool {
        self.as_filter().is_some()
    }

    /// Returns true for an append that is not stored.
    pub fn is_parts(&self) -> bool {
        let parts = |fused: &FusedSequence<'_>| matches!(fused.elements, IndexFunction::Parts(_));
        matches!(self, LoweredSequence::Fused(fused) if parts(fused))
    }

    /// Returns true if the computation of an element may fault.
    pub fn may_fault(&self) -> bool {
        matches!(self, LoweredSequence::Fused(fused) if fused.may_fault)
    }
}

impl Columns {
    /// Returns the columns of a sequence of pairs.
    pub fn pair(first: Columns, second: Columns) -> Columns {
        Columns::Pair(Rc::new((first, second)))
    }

    /// Returns the one column of a sequence of scalars.
    pub fn scalars(&self) -> Column {
        match self {
            Columns::Scalars(column) => *column,
            Columns::Unit | Columns::Pair(_) | Columns::Views(_) => {
                ill_typed("a sequence of scalars")
            }
        }
    }

    /// Returns the columns of the two components of a sequence of pairs.
    pub fn components(&self) -> &(Columns, Columns) {
        match self {
            Columns::Pair(both) => both,
            Columns::Unit | Columns::Scalars(_) | Columns::Views(_) => {
                ill_typed("a sequence of pairs")
            }
        }
    }

    /// Returns the column of a sequence of sequences.
    pub fn views(&self) -> Rc<Views> {
        match self {
            Columns::Views(views) => views.clone(),
            Columns::Unit | Columns::Scalars(_) | Columns::Pair(_) => {
                ill_typed("a sequence of sequences")
            }
        }
    }

    /// Returns true if nothing else lies in any of the pools, and their segments do not overlap.
    pub fn owns_pools(&self) -> bool {
        match self {
            Columns::Unit | Columns::Scalars(_) => true,
            Columns::Pair(both) => both.0.owns_pools() && both.1.owns_pools(),
            Columns::Views(views) => views.capacity.is_some() && views.pool.owns_pools(),
        }
    }

    /// Visits all pools, those that contain others before these: their extents and capacities.
    pub fn each_pool(&self, visit: &mut dyn FnMut(Value, Option<Value>)) {
        with_stack(|| match self {
            Columns::Unit | Columns::Scalars(_) => {}
            Columns::Pair(both) => {
                both.0.each_pool(visit);
                both.1.each_pool(visit);
            }
            Columns::Views(views) => {
                visit(views.extent, views.capacity);
                views.pool.each_pool(visit);
            }
        });
    }

    /// Returns the same columns with the capacities of all pools, in the order of
    /// [`Columns::each_pool`].
    pub fn with_capacities(&self, capacities: &mut dyn Iterator<Item = Value>) -> Columns {
        with_stack(|| match self {
            Columns::Unit | Columns::Scalars(_) => self.clone(),
            Columns::Pair(both) => {
                let first = both.0.with_capacities(capacities);
                Columns::pair(first, both.1.with_capacities(capacities))
            }
            Columns::Views(views) => {
                let capacity = Some(next_part(capacities));
                let pool = views.pool.with_capacities(capacities);
                Columns::Views(Rc::new(Views { capacity, pool, ..(**views).clone() }))
            }
        })
    }

    /// Visits the columns of the sequence itself, not those of pools.
    pub fn each_column(&self, visit: &mut dyn FnMut(Column)) {
        match self {
            Columns::Unit => {}
            Columns::Scalars(column) => visit(*column),
            Columns::Pair(both) => {
                both.0.each_column(visit);
                both.1.each_column(visit);
            }
            Columns::Views(views) => {
                visit(views.starts);
                visit(views.lengths);
            }
        }
    }

    /// Returns the same columns with those of the sequence itself changed.
    pub fn map(&self, change: &mut dyn FnMut(Column) -> Column) -> Columns {
        match self {
            Columns::Unit => Columns::Unit,
            Columns::Scalars(column) => Columns::Scalars(change(*column)),
            Columns::Pair(both) => Columns::pair(both.0.map(change), both.1.map(change)),
            Columns::Views(views) => {
                let (starts, lengths) = (change(views.starts), change(views.lengths));
                Columns::Views(Rc::new(Views { starts, lengths, ..(**views).clone() }))
            }
        }
    }

    /// Returns true if all arrays and extents, those of pools too, were defined before the kir
    /// value with the number `limit`.
    pub fn older_than(&self, limit: u32) -> bool {
        let old = |column: &Column| column.array.0 < limit && column.extent.0 < limit;
        match self {
            Columns::Unit => true,
            Columns::Scalars(column) => old(column),
            Columns::Pair(both) => both.0.older_than(limit) && both.1.older_than(limit),
            Columns::Views(views) => {
                old(&views.starts)
                    && old(&views.lengths)
                    && views.extent.0 < limit
                    && views.pool.older_than(limit)
            }
        }
    }

    /// Returns the start that all columns of the sequence itself share (`None` inside is 0), or
    /// `None` if they start at different elements or there is no column.
    pub fn common_start(&self) -> Option<Option<Value>> {
        let mut starts = Vec::new();
        self.each_column(&mut |column| starts.push(column.start));
        let first = *starts.first()?;
        starts.iter().all(|start| *start == first).then_some(first)
    }
}

/// Returns the columns of a sequence of `element` that has `extent` elements and these parts; the
/// inverse of [`columns`](super::columns).
pub(in crate::lower) fn columns_from_parts(
    element: &Ty,
    extent: Value,
    parts: &mut dyn Iterator<Item = Value>,
) -> Columns {
    let column = |array| Column { array, start: None, extent };
    with_stack(|| match element {
        Ty::Unit => Columns::Unit,
        Ty::Int | Ty::Float | Ty::Bool | Ty::Char => Columns::Scalars(column(next_part(parts))),
        Ty::Pair(first, second) => {
            let first = columns_from_parts(first, extent, parts);
            Columns::pair(first, columns_from_parts(second, extent, parts))
        }
        Ty::Sequence(inner) => {
            let (starts, lengths) = (column(next_part(parts)), column(next_part(parts)));
            let extent = next_part(parts);
            let pool = columns_from_parts(inner, extent, parts);
            Columns::Views(Rc::new(Views { starts, lengths, pool, extent, capacity: None }))
        }
    })
}

/// Returns the next of the parts of a value.
pub(in crate::lower) fn next_part(parts: &mut dyn Iterator<Item = Value>) -> Value {
    parts.next().or_bug("a value has as many parts as its type says")
}
