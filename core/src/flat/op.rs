//! The steps of flat programs, and their operations, each declared once, with its properties.
//!
//! An operation's operands, blocks, [`Class`] and [`Cost`] are declared only here: passes ask
//! [`Op`] and [`Let`] instead of keeping lists of their own. A match over all operations is used
//! only where their meaning differs: interpretation, printing, fusion, lowering.

use super::space::SpaceId;
use crate::ir::product::MatrixRows;
use crate::ir::{self, Atom, Class, FunId, Site, Ty, Var};
use crate::prim::{Cost, ReduceOp, SeqOp};
use nesl_runtime::fault::FaultCode;
use smallvec::SmallVec;

/// A list of steps, and the operand that is their result.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The steps, in order of execution.
    pub steps: Vec<Step>,
    /// The result of the block.
    pub result: Atom,
}

/// A step of a block.
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
    /// The index space of the value.
    pub space: SpaceId,
    /// The operation that computes it.
    pub op: Op,
    /// The source location blamed for a fault.
    pub site: Site,
}

/// The steps that are executed in one launch; made by [`mod@crate::fuse`].
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// A number unique in the program.
    pub id: u32,
    /// The index space of the launch. Its values belong to this one, to its masks
    /// ([`SpaceKind::Filter`](super::SpaceKind::Filter)), or, if they are results of reductions, to
    /// an index space around.
    pub space: SpaceId,
    /// The values computed, in order.
    pub lets: Vec<Let>,
    /// The filters of its index space that the kernel computes, as masks of its work items.
    pub masks: Vec<SpaceId>,
    /// The values that are used later and are therefore stored, each with the index space for whose
    /// elements it is stored: its own, or that of a mask.
    pub stores: Vec<(Var, SpaceId)>,
    /// The masks whose number of elements is used later and stored.
    pub counts: Vec<SpaceId>,
    /// Those of `counts` the indices of whose elements are used later and stored.
    pub filter_indices: Vec<SpaceId>,
}

/// A version of the code for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Each element of the index space is computed by one thread, by sequential code.
    Sequential,
    /// Each step is computed for all elements at once.
    Flattened,
}

/// An operation of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// An operation that each element executes for itself. Blocks inside see the values in scope.
    Map(ir::Op),
    /// The element of a sequence from an index space around. The step's index space has an element
    /// for each element of the sequence, or of one of the same length.
    Element {
        /// The sequence that is read.
        of: Var,
        /// The [`Op::SameLength`] that has to be executed before, if there is one.
        checked: Option<Var>,
    },
    /// The index of the element in its segment, counted from 0; an int.
    Position {
        /// The [`Op::SameLength`] that has to be executed before, if it stands for the element of a
        /// sequence that counts.
        checked: Option<Var>,
    },
    /// The element of a sequence (first operand) at an index (second); faults [`FaultCode::Gather`]
    /// out of bounds.
    Gather(Atom, Atom),
    /// The number of elements of a range or a repetition; faults as that operation does.
    Extent {
        /// The operation whose elements are counted.
        op: SeqOp,
        /// The operands that the operation has.
        args: Vec<Atom>,
        /// Ints that count elements, and sequences with as many elements: those for each of which the
        /// range is needed. If one of these numbers is 0 nobody needs it: it is 0 then, without a fault.
        needed_for: Vec<Atom>,
    },
    /// Checks that two sequences have the same length, and faults with the code otherwise; its
    /// value is true.
    SameLength(Var, Var, FaultCode),
    /// For each element of the index space around `from`, the sequence of the values in its
    /// segment.
    Collect {
        /// A value in `from` or around it.
        value: Atom,
        /// The index space whose segments become sequences.
        from: SpaceId,
    },
    /// The values of each segment of `from`, combined.
    Reduce {
        /// The operator that combines the values.
        with: ReduceOp,
        /// A value in `from` or around it.
        value: Atom,
        /// The index space whose segments are combined.
        from: SpaceId,
    },
    /// For each element of the index space around `from`, a table: for each index below a size, the
    /// values for this index, combined ([`SeqOp::Histogram`]).
    Histogram {
        /// The operator that combines the values.
        with: ReduceOp,
        /// The number of elements of the table, in the step's index space.
        size: Atom,
        /// The index in the table, in `from` or around it.
        index: Atom,
        /// A value, or a row of them, in `from` or around it.
        value: Atom,
        /// The index space of the values.
        from: SpaceId,
    },
    /// For each element of the step's index space, a sequence with some elements replaced: each
    /// element of `from` writes one, and of writes to one index the last wins ([`SeqOp::Scatter`]);
    /// faults [`FaultCode::Scatter`] out of bounds. The result overwrites the sequence in~index if
    /// nothing else uses that.
    Scatter {
        /// The sequence, in the step's index space or around it. Its elements contain no sequences.
        of: Var,
        /// The index that is written, in `from` or around it.
        index: Atom,
        /// The element, in `from` or around it.
        value: Atom,
        /// The index space of the writes, somewhere inside of the step's.
        from: SpaceId,
    },
    /// The values before each element in its segment, combined.
    Scan {
        /// The operator that combines the values.
        with: ReduceOp,
        /// A value in the step's index space or around it.
        value: Atom,
    },
    /// A conditional: each branch is executed for the elements that take it, and the values are
    /// merged. A branch that no element takes is not executed.
    Branch {
        /// The condition, a bool of the step's index space.
        cond: Var,
        /// The filter where the condition is true, and the steps there.
        then: (SpaceId, Block),
        /// The filter where the condition is false, and the steps there.
        otherwise: (SpaceId, Block),
    },
    /// A call of the flattened form of a function.
    Call(FunId, Vec<Atom>),
    /// Sequential code that each element executes for itself.
    Sequential(ir::Block),
    /// A multi-versioned computation: the strategy chooses a version when the number of elements is
    /// known.
    Versions {
        /// Sequential code for each element ([`Op::Sequential`]).
        sequential: Block,
        /// Flattened steps for all elements at once.
        flattened: Block,
        /// The matrix whose rows the values are, if that is known.
        matrix: Option<Box<MatrixRows>>,
    },
}

/// Visits each operand of an operation other than `Map`, by shared or by mutable reference: calls
/// `$atom` with those that may be constants, and `$var` with those that must be variables.
macro_rules! visit_operands {
    ($op:expr, $atom:expr, $var:expr) => {
        match $op {
            // What a matrix is made of lives outside of the index space: `Op::each_use` visits it.
            Op::Map(_) | Op::Position { .. } | Op::Sequential(_) | Op::Versions { .. } => {}
            Op::Element { of: var, .. } | Op::Branch { cond: var, .. } => ($var)(var),
            Op::Gather(from, index) => {
                ($atom)(from);
                ($atom)(index);
            }
            Op::Extent { args, needed_for, .. } => {
                for atom in args {
                    ($atom)(atom);
                }
                for atom in needed_for {
                    ($atom)(atom);
                }
            }
            Op::Call(_, args) => {
                for atom in args {
                    ($atom)(atom);
                }
            }
            Op::SameLength(a, b, _) => {
                ($var)(a);
                ($var)(b);
            }
            Op::Collect { value, .. } | Op::Reduce { value, .. } | Op::Scan { value, .. } => {
                ($atom)(value);
            }
            Op::Histogram { size, index, value, .. } => {
                ($atom)(size);
                ($atom)(index);
                ($atom)(value);
            }
            Op::Scatter { of, index, value, .. } => {
                ($var)(of);
                ($atom)(index);
                ($atom)(value);
            }
        }
    };
}

/// Iterates over the blocks of steps of an operation, by shared or by mutable reference.
macro_rules! inner_blocks {
    ($op:expr) => {
        match $op {
            Op::Branch { then: (_, then), otherwise: (_, otherwise), .. } => {
                [Some(then), Some(otherwise)]
            }
            Op::Versions { sequential, flattened, .. } => [Some(sequential), Some(flattened)],
            Op::Map(_)
            | Op::Element { .. }
            | Op::Position { .. }
            | Op::Gather(..)
            | Op::Extent { .. }
            | Op::SameLength(..)
            | Op::Collect { .. }
            | Op::Reduce { .. }
            | Op::Histogram { .. }
            | Op::Scatter { .. }
            | Op::Scan { .. }
            | Op::Sequential(_)
            | Op::Call(..) => [None, None],
        }
        .into_iter()
        .flatten()
    };
}

impl Op {
    /// Returns the side effects of the operation itself, without those of its blocks; `result` is
    /// the type of its values.
    pub fn class(&self, result: &Ty) -> Class {
        match self {
            Op::Map(op) => op.class(result),
            Op::Element { .. }
            | Op::Position { .. }
            | Op::Collect { .. }
            | Op::Reduce { .. }
            | Op::Histogram { .. }
            | Op::Scan { .. } => Class::Pure,
            Op::Gather(..) | Op::Extent { .. } | Op::SameLength(..) | Op::Scatter { .. } => {
                Class::Traps
            }
            Op::Branch { .. } | Op::Sequential(_) | Op::Versions { .. } => Class::Control,
            Op::Call(..) => Class::Call,
        }
    }

    /// Returns the class of its cost for one element of its index space; `result` is the type of
    /// its values.
    pub fn cost(&self, result: &Ty) -> Cost {
        match self {
            Op::Map(op) => op.cost(result),
            Op::Element { .. } | Op::Position { .. } => Cost::Free,
            Op::Collect { .. } | Op::SameLength(..) | Op::Extent { .. } => Cost::View,
            Op::Gather(..) => Cost::Element,
            Op::Reduce { .. } | Op::Histogram { .. } | Op::Scatter { .. } | Op::Scan { .. } => {
                Cost::Parallel
            }
            Op::Branch { .. } | Op::Call(..) | Op::Sequential(_) | Op::Versions { .. } => {
                Cost::Unbounded
            }
        }
    }

    /// The check of lengths that has to be executed before an element or a position is read.
    pub fn check(&self) -> Option<Var> {
        match self {
            Op::Element { checked, .. } | Op::Position { checked } => *checked,
            _ => None,
        }
    }

    /// Calls `visit` with every operand, but not with those of the blocks inside, nor with the
    /// check of an [`Op::Element`] or an [`Op::Position`].
    pub fn each_operand(&self, mut visit: impl FnMut(Atom)) {
        let op = match self {
            Op::Map(op) => return op.each_operand(visit),
            op => op,
        };
        visit_operands!(op, |atom: &Atom| visit(*atom), |var: &Var| visit(Atom::Var(*var)));
    }

    /// Returns the operands, without those of the blocks inside and the check of an
    /// [`Op::Element`].
    pub fn operands(&self) -> SmallVec<[Atom; 4]> {
        let mut all = SmallVec::new();
        self.each_operand(|atom| all.push(atom));
        all
    }

    /// Calls `visit` with a mutable reference to every operand that may be a constant; not with
    /// sequences and flags, which must be variables, nor with the operands of the blocks inside.
    pub fn each_operand_mut(&mut self, mut visit: impl FnMut(&mut Atom)) {
        let op = match self {
            Op::Map(op) => return op.each_operand_mut(visit),
            op => op,
        };
        visit_operands!(op, |atom: &mut Atom| visit(atom), |_: &mut Var| {});
    }

    /// Returns the matrix whose rows the values are known to be.
    pub fn matrix(&self) -> Option<&MatrixRows> {
        match self {
            Op::Versions { matrix, .. } => matrix.as_deref(),
            _ => None,
        }
    }

    /// Returns the blocks of steps inside.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> + use<'_> {
        inner_blocks!(self)
    }

    /// Returns mutable references to the blocks of steps inside.
    pub fn blocks_mut(&mut self) -> impl Iterator<Item = &mut Block> + use<'_> {
        inner_blocks!(self)
    }
}

impl Let {
    /// Returns true if the value may be computed again in another kernel rather than be stored: it
    /// cannot fault, and takes no longer than a load from memory.
    pub fn is_cheap(&self) -> bool {
        self.op.class(&self.ty) == Class::Pure && self.op.cost(&self.ty) <= Cost::Cheap
    }

    /// Returns true if the operation may fault, may not terminate, or has effects.
    pub fn may_fault(&self) -> bool {
        match (&self.op, self.op.class(&self.ty)) {
            (_, Class::Pure | Class::Reads) => false,
            (Op::Sequential(block), _) => block.may_fault(),
            (Op::Map(op), Class::Control) => op.blocks_may_fault(),
            (_, Class::Traps | Class::Call | Class::Effects | Class::Control) => true,
        }
    }

    /// Returns true if the step only passes on values or descriptors, so that no instruction is
    /// executed for its elements.
    pub fn is_descriptor_only(&self) -> bool {
        matches!(self.op.cost(&self.ty), Cost::Free | Cost::View)
    }

    /// Returns true if each element computes the value for itself with a few instructions.
    /// Conditionals are not local: their blocks decide, in the passes that ask.
    pub fn is_local(&self) -> bool {
        match &self.op {
            Op::Map(op) => op.costs_at_most(Cost::Element, &self.ty),
            op => op.cost(&self.ty) <= Cost::Element,
        }
    }
}
