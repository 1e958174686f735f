//! A lowered kernel: kir, the meaning of its parameters and results, the facts it is specialised
//! for.
//!
//! The launcher reads these tables: [`KernelParam`] describes the arguments to pass,
//! [`KernelResult`] and [`FilterResult`] the location of the stored values after the launch.

use super::super::FaultSite;
use crate::flat::SpaceId;
use crate::ir::{Atom, Var};
use nesl_runtime::kir;
use smallvec::SmallVec;

/// The run-time facts that a kernel is specialised for: multi-versioned code, one version for each
/// combination of facts that occurs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Variant {
    /// The index spaces with one element, whose values are passed as scalars and not as arrays.
    pub single: SmallSet<SpaceId>,
    /// True if the segments of the kernel's index space have equal lengths, so that it needs no
    /// offsets.
    pub regular: bool,
    /// The sequences, in index spaces with many elements, whose segments are contiguous from the
    /// beginning of the pool on, so that the kernel needs no starts and lengths.
    pub tiled: SmallSet<Var>,
}

/// A set of a few things, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SmallSet<T>(SmallVec<[T; 4]>);

impl<T> Default for SmallSet<T> {
    fn default() -> SmallSet<T> {
        SmallSet(SmallVec::new())
    }
}

impl<T: Ord> SmallSet<T> {
    /// Adds a thing, unless the set has it.
    pub fn insert(&mut self, thing: T) {
        if let Err(at) = self.0.binary_search(&thing) {
            self.0.insert(at, thing);
        }
    }

    /// Returns true if the set has a thing.
    pub fn contains(&self, thing: &T) -> bool {
        self.0.binary_search(thing).is_ok()
    }

    /// Returns the things in ascending order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }
}

/// A kernel of a flat program as kir.
#[derive(Clone, Debug)]
pub struct LoweredKernel {
    /// The kernel, and the functions it calls.
    pub module: kir::Module,
    /// The meaning of each [`kir::Site`], by its number.
    pub fault_sites: Vec<FaultSite>,
    /// The arguments to pass, in the order of the kir parameters; an entry may stand for several.
    pub params: Vec<KernelParam>,
    /// The values that the kernel stores.
    pub results: Vec<KernelResult>,
    /// The filters that the kernel computes.
    pub filters: Vec<FilterResult>,
    /// The numbers of the kir parameters whose arrays receive the lengths of emitted sequences, where these
    /// lengths are all equal.
    pub equal_lengths: Vec<usize>,
}

/// The argument to pass for a parameter of a kernel, or for several consecutive ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KernelParam {
    /// The number of elements of the kernel's index space.
    Count,
    /// The number of segments of the index space.
    Segments,
    /// The common length of the segments, in elements.
    Length,
    /// An array of the index of the first element of each segment, followed by the number of
    /// elements.
    Offsets,
    /// An array of the index in the space around (for a space with segments, the number of the
    /// segment) for each element of an index space.
    Map(SpaceId),
    /// The parts of a value: [`parts`](crate::lower::parts()) if its index space has one element,
    /// else [`columns`](crate::lower::columns) of the sequence of its values.
    Value(Var),
    /// The columns of the elements of a sequence.
    Pool(Var),
    /// The lengths of the sequences of a value with one element, in elements, if the kernel may overwrite them, since
    /// this is their last use; else 0 for each.
    Rooms(Var),
    /// An array to be written, with an element for each element of an index space.
    Out(SpaceId, kir::Ty),
    /// An array to be written, with so many elements for each element of an index space.
    Rows(SpaceId, usize, kir::Ty),
    /// An array to be written, with one element.
    One(kir::Ty),
    /// An array of this length, filled with the neutral element of an operator, which the kernel
    /// updates.
    Table(Atom, kir::Combine, kir::Ty),
    /// The parts of a sequence as it is seen from an index space, in arrays that the kernel overwrites:
    /// those of the sequence if this is their last use, or else copies. In an index space with many
    /// elements, the sequences are contiguous.
    Own(Var, SpaceId),
}

/// A value that a kernel stores, and the location of its parts.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelResult {
    /// The variable of the flat function.
    pub var: Var,
    /// The index space for whose elements it is stored: its own, or a filter of that.
    pub space: SpaceId,
    /// The locations of its parts, in the order of [`KernelParam::Value`].
    pub parts: Vec<ResultPart>,
}

/// The location of a part of a stored value after a launch. Arrays and scalars that were passed are
/// named by the number of their kir parameter, outputs by the number of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultPart {
    /// The array passed as a parameter.
    Array(usize),
    /// The one element of the array passed as a parameter.
    First(usize),
    /// The array that the kernel emitted to an output.
    Output(usize),
    /// A part of an array that was passed as a parameter: from the element on whose index is the
    /// only element of the second array (`None` is 0).
    Alias(usize, Option<usize>),
    /// The scalar passed as a parameter.
    Same(usize),
    /// The length of the array passed as a parameter.
    Length(usize),
    /// The exclusive prefix sums of the lengths in the array passed as a parameter.
    Starts(usize),
    /// The sum of the lengths in the array passed as a parameter.
    Sum(usize),
    /// The starts of sequences that have so many elements each and lie one behind the other.
    EqualStarts(usize),
    /// The lengths of sequences that have so many elements each.
    EqualLengths(usize),
    /// The number of elements of all these sequences.
    EqualSum(usize),
    /// The exclusive prefix sums of the lengths in an output.
    StartsOf(usize),
    /// The sum of the lengths in an output.
    SumOf(usize),
}

/// A filter that a kernel computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterResult {
    /// The index space of the filter.
    pub space: SpaceId,
    /// The number of the parameter whose array has the indices of the elements of the filter, if
    /// they are used.
    pub indices: Option<usize>,
    /// The number of the parameter whose array has the number of elements of the filter, for each
    /// segment if there are segments.
    pub counts: usize,
}
