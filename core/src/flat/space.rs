//! Index spaces: the model of flat programs.
//!
//! Every value belongs to an [`IndexSpace`]: a set of elements, numbered from 0, for each of which
//! the value is one value of its type. The index space of an apply-to-each has an element for each
//! element of the sequence that it runs over, numbered consecutively whatever the nesting, so that
//! a nested computation is a flat list of steps, each executed for all elements of its index space.
//!
//! Index spaces form a tree, whose root is that of the caller ([`SpaceId::CALLER`]). The nesting is
//! recorded by the *segments* of an index space: a segment consists of the elements that come from
//! one element of the index space around it. This is the segmented representation of Blelloch
//! (*Vector models for data-parallel computing*, 1990).
//!
//! ```text
//! {sum({x * y : x in v}) : y in w}
//!
//! s1 = elements w of s0              an element for each element of w
//! y: float in s1 = element(w)
//! s2 = elements v of s1              for each of these, a segment with the elements of v
//! x: float in s2 = element(v)        v is read, not copied
//! p: float in s2 = mul(x, y)         y is read through the segment an element belongs to
//! s: float in s1 = reduce_sum p from s2
//! r: [float] in s0 = collect s from s1
//! ```
//!
//! | [`SpaceKind`] | elements | segments |
//! |---|---|---|
//! | `Caller` | the work items of the call | none |
//! | `Elements` | those of a sequence at each element of `of` | one for each element of `of` |
//! | `Count` | as many as an int says at each element of `of` | one for each element of `of` |
//! | `Filter` | those of `of` where a flag is true, or false | those of `of` |
//! | `Concat` | those of `inner` | one for each element of `of` |
//!
//! A step may use values of its own index space and of those around it. The latter are read at the
//! element around ([`SpaceKind`] says which), so that free variables are never replicated.
//! [`interp`](mod@super::interp) defines the meaning by an interpreter.

use crate::ir::{Atom, Site, Var};

/// An index space of a function: an index into [`Function::spaces`](super::Function::spaces).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpaceId(pub u32);

impl SpaceId {
    /// The index space of the work items that a function is called for.
    pub const CALLER: SpaceId = SpaceId(0);
}

/// An index space of a flat function.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexSpace {
    /// The elements of the index space, and their relation to those of the index space around.
    pub kind: SpaceKind,
    /// The source location of the construct that it was made for.
    pub site: Site,
}

/// The elements of an index space, and their relation to those of the index space around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SpaceKind {
    /// The work items that the function is called for.
    Caller,
    /// For each element of `of`, a segment with an element for each element of a sequence.
    Elements {
        /// The index space around it.
        of: SpaceId,
        /// The sequence, a value of `of` or of an index space around it.
        sequence: Var,
    },
    /// For each element of `of`, a segment of `count` elements.
    Count {
        /// The index space around it.
        of: SpaceId,
        /// An int that is not negative, in `of` or around it.
        count: Atom,
    },
    /// The elements of `of` for which a flag is true, or false. Its segments are those of `of`.
    Filter {
        /// The index space around it.
        of: SpaceId,
        /// The flag, a bool of `of`.
        flag: Var,
        /// The value of the flag for the elements that belong to the filter.
        is: bool,
    },
    /// The elements of `inner`, which is somewhere inside of `of`, with a segment for each element
    /// of `of`: the segments in between are concatenated.
    Concat {
        /// The index space around it.
        of: SpaceId,
        /// The index space whose elements these are.
        inner: SpaceId,
    },
}
