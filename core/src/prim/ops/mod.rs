//! The operations of the compiler, each declared once, with its properties.
//!
//! `scalar`, `sequence` and `host` have a row for each operation: its name in the text form of the
//! IRs, its type rule, its faults, its [`Cost`] and the words in which the compiler explorer speaks
//! of it. Passes ask for these properties (through `ir::Op::class` and `ir::Op::cost`, mostly)
//! instead of keeping lists of operations; only where the *meaning* of each operation differs
//! (interpretation, lowering, flattening) a match over all of them lists what a new operation needs.

pub mod host;
pub mod scalar;
pub mod sequence;
mod types;

pub use host::{HostOp, HostRow};
pub use scalar::{ScalarProperties, ScalarRow, Trap};
pub use sequence::{InterpreterTime, ReduceOp, SeqOp, SeqRow, Work};
pub use types::{Signature, TypeClass, TypePattern};

pub(crate) use types::{signature, type_pattern};

/// The cost of an operation for one element of an index space, in classes of ascending cost. It
/// decides where an operation may be repeated, executed by a thread for itself, or left to the
/// host; see `ir::Op::cost`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cost {
    /// Another name of a value, or a part of its descriptor: no instruction at all.
    Free,
    /// About one instruction: cheaper than a load from memory.
    Cheap,
    /// An operation on scalars, at most some tens of instructions.
    Scalar,
    /// The test of a run-time check.
    Check,
    /// A view of a part of a sequence: a new descriptor, no element is touched.
    View,
    /// A load of one element.
    Element,
    /// A loop over the chars of one text, without a new array.
    Chars,
    /// A conversion between a number and its text.
    Format,
    /// A copy of whole sequences, as memory is copied.
    Copy,
    /// A sequence whose elements are computed from scalars, and need not be stored.
    Generate,
    /// A data-parallel loop: gather, scatter, reduction, scan.
    Parallel,
    /// An intrinsic of the runtime: sorting, ranking, grouping.
    Intrinsic,
    /// As much as the blocks inside, the callee or the world outside take.
    Unbounded,
}
