//! Flat programs as data: the model of index spaces.
//!
//! Every value belongs to an [`IndexSpace`]: a set of elements, numbered from 0, for each of which
//! the value has an instance of its type. The index space of an apply-to-each has an element for
//! each element of the sequence that it runs over, one behind the other whatever the nesting, and so
//! a nested computation is a flat list of steps, each executed for all elements of its index space.
//!
//! Index spaces form a tree, whose root is that of the caller ([`SpaceId::CALLER`]). What belongs
//! together is kept by the *segments* of an index space: the elements that come from one element of
//! the index space around it. This is the segmented representation of Blelloch (*Vector models for
//! data-parallel computing*, 1990).
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
//! | `Filter` | those of `of` where a flag is set, or is not | those of `of` |
//! | `Concat` | those of `inner` | one for each element of `of` |
//!
//! A step may use values of its own index space and of those around it. These are read where they
//! are ([`SpaceKind`] says from which element), so that free variables are never copied.
//! [`interp`](mod@super::interp) is the meaning of all this.

use super::op::Op;
use crate::ir::{self, Atom, Site, Ty, Var};
use smol_str::SmolStr;

/// An index space of a function: an index into [`Function::spaces`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpaceId(pub u32);

impl SpaceId {
    /// The index space of the work items that a function is called for.
    pub const CALLER: SpaceId = SpaceId(0);
}

/// A flat program.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The program it was made from: code that an element executes for itself calls its functions.
    pub source: ir::Program,
    /// The flattened forms of the functions that have one, by their index there.
    pub functions: Vec<Option<Function>>,
}

/// A function for any number of work items at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The name of the function that was flattened.
    pub name: SmolStr,
    /// Its parameters, in [`SpaceId::CALLER`].
    pub params: Vec<(Var, Ty)>,
    /// The type of its result.
    pub result: Ty,
    /// The index spaces; the first is the caller's.
    pub spaces: Vec<IndexSpace>,
    /// The steps, and the result.
    pub body: Block,
    /// True for a function of the library: a fault inside is reported at the call.
    pub library: bool,
}

/// An index space.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexSpace {
    /// The elements, and their relation to the index space around.
    pub kind: SpaceKind,
    /// The source that it was made for.
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
        /// A sequence, in `of` or around it.
        sequence: Var,
    },
    /// For each element of `of`, a segment of so many elements.
    Count {
        /// The index space around it.
        of: SpaceId,
        /// An int that is not negative, in `of` or around it.
        count: Atom,
    },
    /// The elements of `of` for which a flag is set, or is not. Its segments are those of `of`.
    Filter {
        /// The index space around it.
        of: SpaceId,
        /// A bool in `of`.
        flag: Var,
        /// The value of the flag for the elements that are kept.
        is: bool,
    },
    /// The elements of `inner`, which is somewhere inside of `of`, with a segment for each element
    /// of `of`: a level of nesting less.
    Concat {
        /// The index space around it.
        of: SpaceId,
        /// The index space whose elements these are.
        inner: SpaceId,
    },
}

/// Steps, and a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The result.
    pub result: Atom,
}

/// A step.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Makes an index space.
    Space(SpaceId),
    /// Computes a value.
    Let(Let),
    /// Computes several values in one launch.
    Kernel(Kernel),
}

/// The computation of a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Let {
    /// The variable that is bound.
    pub var: Var,
    /// The type of the value at each element.
    pub ty: Ty,
    /// Its index space.
    pub ctx: SpaceId,
    /// The operation.
    pub op: Op,
    /// The source location blamed for a fault.
    pub site: Site,
}

/// The steps of one launch; made by [`mod@crate::fuse`].
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// A number unique in the program.
    pub id: u32,
    /// The index space of the launch. The index spaces of its values are this one, its masks
    /// ([`SpaceKind::Filter`]), and, for what it reduces, those around it.
    pub space: SpaceId,
    /// The values computed, in order.
    pub lets: Vec<Let>,
    /// The filters of its index space that are made here, as masks.
    pub masks: Vec<SpaceId>,
    /// The values that are used later, and so are stored, each with the index space that it is
    /// stored for: its own, or that of a mask.
    pub stores: Vec<(Var, SpaceId)>,
    /// The masks that are used later: the number of their elements is stored.
    pub counts: Vec<SpaceId>,
    /// Those of `counts` whose elements are used later: their indices are stored, too.
    pub filter_indices: Vec<SpaceId>,
}
