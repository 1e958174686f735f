//! The steps of flat programs, and their operations, each declared once, with its properties.
//!
//! An operation's operands, blocks, [`Class`] and [`Cost`] stand here and nowhere else: passes ask
//! [`Op`] and [`Let`] instead of keeping lists of their own. A match over all operations stands only
//! where the meaning of each differs: interpretation, printing, fusion, lowering.

use super::space::SpaceId;
use crate::ir::{self, Atom, Class, FunId, Site, Ty, Var};
use crate::prim::{Cost, ReduceOp, SeqOp};
use nesl_runtime::fault::FaultCode;

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
    pub space: SpaceId,
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
    /// ([`SpaceKind::Filter`](super::SpaceKind::Filter)), and, for what it reduces, those around it.
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
    /// The element of a sequence of the index space around, in an index space with an element for
    /// each of its elements (or for each of a sequence of the same length).
    Element {
        /// The sequence.
        of: Var,
        /// The check that the lengths are equal, which must come first.
        checked: Option<Var>,
    },
    /// The position of the element in its segment; an int.
    Position,
    /// The element of a sequence at an index; faults [`FaultCode::Gather`] out of bounds.
    Gather(Atom, Atom),
    /// The number of elements of a range or a repetition; faults as that operation does.
    Extent(SeqOp, Vec<Atom>),
    /// True if two sequences have the same length; faults otherwise.
    SameLength(Var, Var, FaultCode),
    /// For each element of the index space around `from`, the sequence of the values in its segment.
    Collect {
        /// A value in `from` or around it.
        value: Atom,
        /// The index space whose segments are combined.
        from: SpaceId,
    },
    /// The values of each segment of `from`, combined.
    Reduce {
        /// The operator.
        with: ReduceOp,
        /// A value in `from` or around it.
        value: Atom,
        /// The index space whose segments are combined.
        from: SpaceId,
    },
    /// A table for the one element around: for each index below a size, the values that belong
    /// there, combined ([`SeqOp::Histogram`]).
    Histogram {
        /// The operator.
        with: ReduceOp,
        /// The number of elements of the table, in the index space around.
        size: Atom,
        /// The index in the table or sequence, in `from` or around it.
        place: Atom,
        /// A value, or a row of them, in `from` or around it.
        value: Atom,
        /// The index space of the values.
        from: SpaceId,
    },
    /// For each element around, a sequence there with other elements at some indices: those that the
    /// elements inside give, the last of those with one index ([`SeqOp::Scatter`]); faults
    /// [`FaultCode::Scatter`] out of bounds. Nothing is stored but the result, which overwrites the
    /// sequence if nobody else uses that.
    Scatter {
        /// The sequence, in the step's index space. Its elements contain no sequences.
        of: Var,
        /// The index in the table or sequence, in `from` or around it.
        place: Atom,
        /// The element, in `from` or around it.
        value: Atom,
        /// The index space of the values; any inside of the step's.
        from: SpaceId,
    },
    /// The values before each element in its segment, combined.
    Scan {
        /// The operator.
        with: ReduceOp,
        /// A value in the step's index space or around it.
        value: Atom,
    },
    /// A conditional: each side is computed for the elements that take it, and the values are merged.
    /// A side without elements is not computed.
    Branch {
        /// A bool.
        cond: Var,
        /// The index space where it is true, and the steps there.
        then: (SpaceId, Block),
        /// The index space where it is false, and the steps there.
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
    },
}

/// Visits each operand of an operation other than `Map`, by shared or by mutable reference: with
/// `$atom` those that may be constants, with `$var` those that must be variables.
macro_rules! visit_operands {
    ($op:expr, $atom:expr, $var:expr) => {
        match $op {
            Op::Map(_) | Op::Position | Op::Sequential(_) | Op::Versions { .. } => {}
            Op::Element { of: var, .. } | Op::Branch { cond: var, .. } => ($var)(var),
            Op::Gather(from, index) => {
                ($atom)(from);
                ($atom)(index);
            }
            Op::Extent(_, args) | Op::Call(_, args) => {
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
            Op::Histogram { size, place, value, .. } => {
                ($atom)(size);
                ($atom)(place);
                ($atom)(value);
            }
            Op::Scatter { of, place, value, .. } => {
                ($var)(of);
                ($atom)(place);
                ($atom)(value);
            }
        }
    };
}

/// The blocks of steps of an operation, by shared or by mutable reference.
macro_rules! inner_blocks {
    ($op:expr) => {
        match $op {
            Op::Branch { then: (_, then), otherwise: (_, otherwise), .. } => {
                [Some(then), Some(otherwise)]
            }
            Op::Versions { sequential, flattened } => [Some(sequential), Some(flattened)],
            Op::Map(_)
            | Op::Element { .. }
            | Op::Position
            | Op::Gather(..)
            | Op::Extent(..)
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
    /// The side effects of the operation itself, which gives values of this type.
    pub fn class(&self, result: &Ty) -> Class {
        match self {
            Op::Map(op) => op.class(result),
            Op::Element { .. }
            | Op::Position
            | Op::Collect { .. }
            | Op::Reduce { .. }
            | Op::Histogram { .. }
            | Op::Scan { .. } => Class::Pure,
            Op::Gather(..) | Op::Extent(..) | Op::SameLength(..) | Op::Scatter { .. } => {
                Class::Traps
            }
            Op::Branch { .. } | Op::Sequential(_) | Op::Versions { .. } => Class::Control,
            Op::Call(..) => Class::Call,
        }
    }

    /// The class of its cost for one element of its index space; `result` is the type of its
    /// values.
    pub fn cost(&self, result: &Ty) -> Cost {
        match self {
            Op::Map(op) => op.cost(result),
            Op::Element { .. } | Op::Position => Cost::Free,
            Op::Collect { .. } | Op::SameLength(..) | Op::Extent(..) => Cost::View,
            Op::Gather(..) => Cost::Element,
            Op::Reduce { .. } | Op::Histogram { .. } | Op::Scatter { .. } | Op::Scan { .. } => {
                Cost::Parallel
            }
            Op::Branch { .. } | Op::Call(..) | Op::Sequential(_) | Op::Versions { .. } => {
                Cost::Unbounded
            }
        }
    }

    /// Calls `visit` with every operand; not with those of the blocks inside, nor with checks that
    /// only have to come first.
    pub fn each_operand(&self, mut visit: impl FnMut(Atom)) {
        let op = match self {
            Op::Map(op) => return op.each_operand(visit),
            op => op,
        };
        visit_operands!(op, |atom: &Atom| visit(*atom), |var: &Var| visit(Atom::Var(*var)));
    }

    /// The operands, not those of the blocks inside, nor checks that only have to come first.
    pub fn operands(&self) -> Vec<Atom> {
        let mut all = Vec::new();
        self.each_operand(|atom| all.push(atom));
        all
    }

    /// Calls `visit` with every operand that may be a constant, to be changed; not with sequences
    /// and flags, which must be variables, nor with the operands of the blocks inside.
    pub fn each_operand_mut(&mut self, mut visit: impl FnMut(&mut Atom)) {
        let op = match self {
            Op::Map(op) => return op.each_operand_mut(visit),
            op => op,
        };
        visit_operands!(op, |atom: &mut Atom| visit(atom), |_: &mut Var| {});
    }

    /// The blocks of steps inside.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> + use<'_> {
        inner_blocks!(self)
    }

    /// The blocks of steps inside, to be changed.
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

    /// Returns true if the operation may fault, not end, or be noticed outside.
    pub fn may_fault(&self) -> bool {
        match (&self.op, self.op.class(&self.ty)) {
            (_, Class::Pure | Class::Reads) => false,
            (Op::Sequential(block), _) => block.may_fault(),
            (Op::Map(op), Class::Control) => op.blocks_may_fault(),
            (_, Class::Traps | Class::Call | Class::Effects | Class::Control) => true,
        }
    }

    /// Returns true if the step does no more than to pass on values or descriptors: no operation is
    /// executed for it.
    pub fn is_descriptor_only(&self) -> bool {
        matches!(self.op.cost(&self.ty), Cost::Free | Cost::View)
    }

    /// Returns true if an element of the index space computes the value for itself, with a few
    /// instructions; conditionals are judged by their blocks, elsewhere.
    pub fn is_local(&self) -> bool {
        match &self.op {
            Op::Map(op) => op.costs_at_most(Cost::Element, &self.ty),
            op => op.cost(&self.ty) <= Cost::Element,
        }
    }
}
