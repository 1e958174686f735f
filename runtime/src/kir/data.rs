//! Modules, functions and kernels of kir, as data.
//!
//! Structured SSA: a value is defined once, by a parameter, an instruction or the head of a
//! loop, and seen by what follows it in its block and by the blocks nested there. Everything is
//! compared and hashed by structure, so that a compiled module can be found again.

use super::op::Block;
use super::sink::Sink;
use super::value::{Ty, Value, ValueTy};
use crate::bug;

/// A function: code with a table of the types of its values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Function {
    /// The name, for people; unique among the functions, or kernels, of the module.
    pub name: String,
    /// The parameters, in order.
    pub params: Vec<Value>,
    /// The types of the results.
    pub results: Vec<ValueTy>,
    /// The code; yields the results.
    pub body: Block,
    /// The type of each value, by number.
    pub types: Vec<ValueTy>,
}

/// The index space of a launch: an ordered set of indices, one for each work item.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// `count` indices. The code knows the index of its work item.
    Flat {
        /// The number of indices: a parameter; i64, 0 or more.
        count: Value,
    },
    /// `segments` times `length` indices. The code knows its segment, its position there, and its
    /// index, which is `segment · length + position`.
    Regular {
        /// The number of segments: a parameter; i64, 0 or more.
        segments: Value,
        /// The length of each segment: a parameter; i64, 0 or more.
        length: Value,
    },
    /// Consecutive segments of different lengths: segment `s` holds the indices from
    /// `offsets[s]` to below `offsets[s + 1]`. The code knows its segment, its position there, and
    /// its index.
    Segmented {
        /// The number of segments: a parameter; i64, 0 or more.
        segments: Value,
        /// A parameter: array of i64, of length `segments + 1`, ascending from 0.
        offsets: Value,
    },
}

/// The code executed for each index, then collective operations over all of them. The later
/// stages see the values that a stage defines, and the results of its sinks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stage {
    /// The code of one work item; it yields nothing.
    pub body: Block,
    /// The collective operations, in order.
    pub sinks: Vec<Sink>,
}

/// The code of one launch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// The name, for people; unique among the functions, or kernels, of the module.
    pub name: String,
    /// The parameters: scalars, and arrays of the runtime.
    pub params: Vec<Value>,
    /// The index space.
    pub space: Space,
    /// The names of the indices in the code: the index, or segment, position and index.
    pub indices: Vec<Value>,
    /// The stages, in order; at least one.
    pub stages: Vec<Stage>,
    /// The element types of the outputs.
    pub outputs: Vec<Ty>,
    /// The type of each value, by number.
    pub types: Vec<ValueTy>,
}

/// Functions and kernels that are compiled together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Module {
    /// The functions, called by index.
    pub functions: Vec<Function>,
    /// The kernels, launched by index.
    pub kernels: Vec<Kernel>,
}

impl Kernel {
    /// The type of a value that the verifier has seen to be a scalar.
    pub fn scalar_ty(&self, value: Value) -> Ty {
        match self.types[value.0 as usize] {
            ValueTy::Scalar(ty) => ty,
            other => bug!("{value} is {other}, not a scalar: the verifier sees that"),
        }
    }
}

impl Space {
    /// The number of indices that the code knows.
    pub fn rank(&self) -> usize {
        match self {
            Space::Flat { .. } => 1,
            Space::Regular { .. } | Space::Segmented { .. } => 3,
        }
    }
}
