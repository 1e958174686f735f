//! A kernel as kir, with the meaning of its parameters and results; what it is specialised for.
//!
//! The launcher reads these tables: [`KernelParam`] tells it what to pass, [`KernelResult`] and
//! [`FilterResult`] where the stored values are after the launch.

use super::super::FaultSite;
use crate::flat::SpaceId;
use crate::ir::{Atom, Var};
use nesl_runtime::kir;
use std::collections::BTreeSet;

/// The run-time facts that a kernel is specialised for: multi-versioned code, one version for each
/// combination of facts that occurs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Variant {
    /// Index spaces with one element: their values are parts, not arrays with one element.
    pub single: BTreeSet<SpaceId>,
    /// True if the segments of the kernel's index space have equal lengths: it takes no offsets.
    pub regular: bool,
    /// Sequences, in index spaces with many elements, that lie contiguously in their order from the
    /// beginning of their pool on: the kernel takes no starts and lengths of theirs.
    pub tiled: BTreeSet<Var>,
}

/// A kernel of a flat program as kir.
#[derive(Clone, Debug)]
pub struct LoweredKernel {
    /// The kernel, and the functions it calls.
    pub module: kir::Module,
    /// The meaning of each [`kir::Site`], by its number.
    pub fault_sites: Vec<FaultSite>,
    /// The arguments to pass, in the order of the kir parameters; one entry may be several parameters.
    pub params: Vec<KernelParam>,
    /// The stored values.
    pub results: Vec<KernelResult>,
    /// The filters that the kernel computes.
    pub filters: Vec<FilterResult>,
}

/// The meaning of a parameter of a kernel, or of several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KernelParam {
    /// The number of elements of the kernel's index space.
    Count,
    /// The number of segments of the index space.
    Segments,
    /// The common length of the segments.
    Length,
    /// The index of the first element of each segment, and the number of elements.
    Offsets,
    /// For each element of an index space, its index in the space around it (for a space with
    /// segments, the number of its segment).
    Map(SpaceId),
    /// The parts of a value: [`parts`](crate::lower::parts()) if its index space has one element,
    /// else [`columns`](crate::lower::columns) of the sequence of its values.
    Value(Var),
    /// The columns of the elements of a sequence.
    Pool(Var),
    /// An array to be written, with an element for each element of an index space.
    Out(SpaceId, kir::Ty),
    /// An array to be written, with one element.
    One(kir::Ty),
    /// An array to be updated whose length is an int of the space around, filled with the neutral
    /// element of an operator.
    Table(Atom, kir::Combine, kir::Ty),
    /// The parts of a sequence, as for [`KernelParam::Value`], in arrays that may be overwritten:
    /// its own if this is their last use, else copies. In an index space with many elements, the
    /// sequences are contiguous.
    Own(Var),
}

/// A stored value.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelResult {
    /// The variable of the flat function.
    pub var: Var,
    /// The index space for whose elements it is stored: its own, or a filter of that.
    pub space: SpaceId,
    /// The places of its parts, in the order that [`KernelParam::Value`] says.
    pub parts: Vec<ResultPart>,
}

/// The place of a part of a stored value after a launch. Arrays and scalars that were passed are
/// named by the number of their kir parameter, outputs by the number of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultPart {
    /// The array passed as a parameter.
    Array(usize),
    /// The one element of the array passed as a parameter.
    First(usize),
    /// The array that the kernel emitted to an output.
    Output(usize),
    /// The array passed as a parameter to be read, from the element on whose index is the one
    /// element of the second array; `None` is 0.
    Alias(usize, Option<usize>),
    /// The scalar passed as a parameter.
    Same(usize),
    /// The length of the array passed as a parameter.
    Length(usize),
    /// The exclusive prefix sums of the lengths in the array passed as a parameter.
    Starts(usize),
    /// The sum of the lengths in the array passed as a parameter.
    Sum(usize),
    /// The exclusive prefix sums of the lengths in an output.
    StartsOf(usize),
    /// The sum of the lengths in an output.
    SumOf(usize),
}

/// A filter that a kernel computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterResult {
    /// The index space of the elements that are kept.
    pub space: SpaceId,
    /// The parameter whose array has the indices of the elements that are kept, if somebody uses
    /// them.
    pub indices: Option<usize>,
    /// The parameter whose array has the number of elements that are kept, for each segment if
    /// there are segments.
    pub counts: usize,
}
