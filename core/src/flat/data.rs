//! Flat programs as data.
//!
//! Every value lives in a [`IndexSpace`]: a set of points, at each of which it has an instance. The
//! context of an apply-to-each has a point for each element of the sequence that it runs over,
//! one behind the other whatever the nesting, and so a nested computation is a flat list of
//! steps, each done at all points of its context at once. What belongs together is kept by the
//! *segments* of a context: the points that come from one point of the context around it.
//!
//! ```text
//! {sum({x * y : x in v}) : y in w}
//!
//! c1 = each w                        a point for each element of w
//! y: float in c1 = element w
//! c2 = each v for c1                 for each of these points, one for each element of v
//! x: float in c2 = element v         v is read, not copied
//! p: float in c2 = mul(x, y)         y is read through the segment a point belongs to
//! s: float in c1 = reduce_sum p from c2
//! r: [float] in c0 = collect s from c1
//! ```
//!
//! A step may use values of its own context and of those around it; these are read where they
//! are ([`Space`] says how), so that free variables are never copied.

use super::op::Op;
use crate::ir::{self, Atom, Site, Ty, Var};
use smol_str::SmolStr;

/// A context of a function: an index into [`Function::spaces`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpaceId(pub u32);

impl SpaceId {
    /// The points a function is called for.
    pub const CALLER: SpaceId = SpaceId(0);
}

/// A flat program.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The program it was made from: what a point does by itself calls its functions.
    pub source: ir::Program,
    /// The flat form of those functions that have one, by their number there.
    pub functions: Vec<Option<Function>>,
}

/// A function for any number of points at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The name of the function it is the flat form of.
    pub name: SmolStr,
    /// Its parameters, in [`SpaceId::CALLER`].
    pub params: Vec<(Var, Ty)>,
    /// The type of its result.
    pub result: Ty,
    /// The spaces; the first is the caller's.
    pub spaces: Vec<IndexSpace>,
    /// What it computes.
    pub body: Block,
    /// It belongs to the library: a fault inside is the fault of the call.
    pub library: bool,
}

/// A set of points.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexSpace {
    /// Which.
    pub kind: SpaceKind,
    /// For what in the source.
    pub site: Site,
}

/// Which points a context has, and how they are related to those of the context around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SpaceKind {
    /// Those the function is called for.
    Caller,
    /// For each point of `of`, a segment: one point for each element of a sequence there.
    Elements {
        /// The context around it.
        of: SpaceId,
        /// A sequence, in `of` or around it.
        sequence: Var,
    },
    /// For each point of `of`, a segment of so many points.
    Count {
        /// The context around it.
        of: SpaceId,
        /// An int that is not negative, in `of` or around it.
        count: Atom,
    },
    /// Those points of `of` at which a flag is set, or is not. Its segments are those of `of`.
    Filter {
        /// The context around it.
        of: SpaceId,
        /// A bool in `of`.
        flag: Var,
        /// Which are kept.
        is: bool,
    },
    /// The points of `inner`, which is somewhere inside of `of`, with a segment for each point of
    /// `of`: a level of nesting less.
    Concat {
        /// The context around it.
        of: SpaceId,
        /// The points.
        inner: SpaceId,
    },
}

/// Steps, and the value they end in.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The value.
    pub result: Atom,
}

/// A step.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A context comes into being.
    Space(SpaceId),
    /// A value is computed.
    Let(Let),
    /// Values that are computed together, in one kernel.
    Kernel(Kernel),
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub struct Let {
    /// Its name.
    pub var: Var,
    /// The type of its instances.
    pub ty: Ty,
    /// Where it lives.
    pub ctx: SpaceId,
    /// What is computed.
    pub op: Op,
    /// For whom.
    pub site: Site,
}

/// What is computed in one launch: made by [`mod@crate::fuse`].
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// Unique in the program.
    pub id: u32,
    /// What it goes over. The spaces of its values are this one, those of the points it keeps
    /// ([`SpaceKind::Filter`]), and, for what it reduces, those around it.
    pub space: SpaceId,
    /// In order.
    pub lets: Vec<Let>,
    /// The spaces inside of `over` that come into being here, as masks.
    pub masks: Vec<SpaceId>,
    /// What is used later, and so is stored: values at the points of `over` or of a mask, or
    /// reductions around it. A value may be stored for the points of a mask only.
    pub stores: Vec<(Var, SpaceId)>,
    /// Which of the masks are used later: how many points they have is stored.
    pub counts: Vec<SpaceId>,
    /// Of these, those of which it matters which points they have: their places are stored.
    pub filter_indices: Vec<SpaceId>,
}
