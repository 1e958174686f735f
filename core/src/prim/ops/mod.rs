//! The operations of the compiler, each declared once, with its properties.
//!
//! `scalar`, `sequence` and `host` have a row for each operation: its name in the text form of the
//! IRs, its type rule, its faults, its [`Cost`] and its name in the compiler explorer. Passes ask
//! for these properties (through `ir::Op::class` and `ir::Op::cost`, mostly) instead of keeping
//! lists of operations. A match over all operations is used only where their meaning differs: in
//! interpretation, lowering and flattening.

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
/// decides whether an operation may be recomputed, is executed by one thread, or by the host; see
/// `ir::Op::cost`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cost {
    /// Another name of a value, or a part of its descriptor, which takes no instruction.
    Free,
    /// About one instruction, cheaper than a load from memory.
    Cheap,
    /// An operation on scalars, at most some tens of instructions.
    Scalar,
    /// The test of a run-time check.
    Check,
    /// A view of a part of a sequence, a new descriptor without access to elements.
    View,
    /// A load of one element.
    Element,
    /// A loop over the chars of one text, without a new array.
    Chars,
    /// A conversion between a number and its text.
    Format,
    /// A copy of whole sequences, as memory is copied.
    Copy,
    /// A sequence whose elements are computed from scalars, so that it need not be stored.
    Generate,
    /// A data-parallel loop, such as a gather, scatter, reduction or scan.
    Parallel,
    /// An intrinsic of the runtime, such as sorting, ranking or grouping.
    Intrinsic,
    /// The cost of the blocks inside, of the callee or of an effect.
    Unbounded,
}
