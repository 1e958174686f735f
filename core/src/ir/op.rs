//! The operations of the core language, each declared once, with its properties.
//!
//! An operation's operands, blocks, [`Class`] and [`Cost`] are declared only here (those of scalar,
//! sequence and host operations in their rows, [`crate::prim`]): passes ask [`Op`] instead of
//! keeping lists of their own. A match over all operations is used only where their meaning
//! differs: interpretation, printing, lowering, flattening.
//!
//! ```text
//! Class::Pure       may be moved, repeated, removed
//! Class::Reads      likewise, within a program
//! Class::Traps      may fault
//! Class::Control    has the effects of its blocks
//! Class::Call       has the effects of the callee, and may not end
//! Class::Effects    is observed outside of the program
//! ```

use super::value::{Atom, FunId, GlobalId, Site, Ty, Var};
use crate::base::{Constants, with_stack};
use crate::prim::{Cost, HostOp, ScalarProperties, SeqOp, Trap};
use nesl_runtime::fault::FaultCode;
use nesl_runtime::scalar::ScalarOp;
use smallvec::SmallVec;
use smol_str::SmolStr;
use std::sync::Arc;

/// A list of bindings, and the operand that is their result.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The bindings, in order of evaluation.
    pub lets: Vec<Let>,
    /// The result of the block.
    pub result: Atom,
}

/// A binding: a variable, and the operation that computes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Let {
    /// The variable that is bound.
    pub var: Var,
    /// The type of the value.
    pub ty: Ty,
    /// The operation that computes it.
    pub op: Op,
    /// The source location blamed for a fault.
    pub site: Site,
}

/// An operation of a binding.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// The value of the operand.
    Copy(Atom),
    /// A scalar operation on some operands.
    Scalar(ScalarOp, Vec<Atom>),
    /// The pair `(a, b)` of two operands.
    Pair(Atom, Atom),
    /// The first component of a pair.
    First(Atom),
    /// The second component of a pair.
    Second(Atom),
    /// A string constant, as its bytes.
    Text(Box<[u8]>),
    /// A sequence of constants, given by its elements.
    Constants(Arc<Constants>),
    /// The sequence `[a, b, …]`; the type of the elements is that of the binding.
    List(Vec<Atom>),
    /// An operation on sequences.
    Seq(SeqOp, Vec<Atom>),
    /// A call of a function of the program.
    Call(FunId, Vec<Atom>),
    /// A conditional: only one branch is evaluated.
    If {
        /// The condition, a bool.
        cond: Atom,
        /// The block evaluated if the condition is true.
        then: Block,
        /// The block evaluated if the condition is false.
        otherwise: Block,
    },
    /// An apply-to-each, the parallel construct.
    Nest(Nest),
    /// The value of a top-level variable.
    Global(GlobalId),
    /// Faults with a code and a message if the condition is false; its value is the condition.
    Check {
        /// The condition that is checked, a bool.
        cond: Atom,
        /// The fault, if it does not hold.
        code: FaultCode,
        /// The message of a [`FaultCode::Message`].
        message: SmolStr,
    },
    /// The expression `error(text)`, which always faults; it has any type.
    Error(Atom),
    /// An effect, such as printing or reading a file; effects happen in program order.
    Host(HostOp, Vec<Atom>),
    /// The expression `time(e)`: the pair of the block's result and the seconds it took, a float.
    Time(Block),
}

/// An apply-to-each, `{ body : x in xs; y in ys }`: one iteration of the body for each index. There
/// is at least one sequence, and it faults if their lengths differ. The body may use all variables
/// in scope.
#[derive(Clone, Debug, PartialEq)]
pub struct Nest {
    /// The element variable, its type, and the sequence it runs over.
    pub binders: Vec<(Var, Ty, Atom)>,
    /// The code of each iteration.
    pub body: Block,
    /// True for `{* … }`: the iterations are executed in order, and their depths are added up.
    pub serial: bool,
}

/// The side effects that an operation itself may have, without those of its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Computes a value of its operands alone, and cannot fail.
    Pure,
    /// Reads a top-level variable, which does not change while a program runs.
    Reads,
    /// May fault, and has no other side effect.
    Traps,
    /// Executes blocks, whose side effects it has.
    Control,
    /// Calls a function, whose side effects it has.
    Call,
    /// Has an effect outside of the program, or reads the clock.
    Effects,
}

/// Visits each operand of an operation, by shared or by mutable reference.
macro_rules! visit_operands {
    ($op:expr, $visit:ident) => {
        match $op {
            Op::Copy(a) | Op::First(a) | Op::Second(a) | Op::Error(a) => $visit(a),
            Op::If { cond, .. } | Op::Check { cond, .. } => $visit(cond),
            Op::Pair(a, b) => {
                $visit(a);
                $visit(b);
            }
            Op::Scalar(_, args)
            | Op::List(args)
            | Op::Seq(_, args)
            | Op::Call(_, args)
            | Op::Host(_, args) => {
                for atom in args {
                    $visit(atom);
                }
            }
            Op::Nest(nest) => {
                let Nest { binders, .. } = nest;
                for (.., atom) in binders {
                    $visit(atom);
                }
            }
            Op::Text(_) | Op::Constants(_) | Op::Global(_) | Op::Time(_) => {}
        }
    };
}

/// Iterates over the blocks of an operation, by shared or by mutable reference.
macro_rules! inner_blocks {
    ($op:expr) => {
        match $op {
            Op::If { then, otherwise, .. } => [Some(then), Some(otherwise)],
            Op::Nest(Nest { body, .. }) | Op::Time(body) => [Some(body), None],
            Op::Copy(_)
            | Op::Scalar(..)
            | Op::Pair(..)
            | Op::First(_)
            | Op::Second(_)
            | Op::Text(_)
            | Op::Constants(_)
            | Op::List(_)
            | Op::Seq(..)
            | Op::Call(..)
            | Op::Global(_)
            | Op::Check { .. }
            | Op::Error(_)
            | Op::Host(..) => [None, None],
        }
        .into_iter()
        .flatten()
    };
}

impl Op {
    /// Returns the side effects of the operation itself, without those of its blocks; `result` is
    /// the type of its value.
    pub fn class(&self, result: &Ty) -> Class {
        match self {
            Op::Copy(_)
            | Op::Pair(..)
            | Op::First(_)
            | Op::Second(_)
            | Op::Text(_)
            | Op::Constants(_)
            | Op::List(_) => Class::Pure,
            Op::Scalar(op, args) if scalar_may_fault(*op, args, result) => Class::Traps,
            Op::Scalar(..) => Class::Pure,
            Op::Seq(op, _) if op.row().may_fault => Class::Traps,
            Op::Seq(..) => Class::Pure,
            Op::Global(_) => Class::Reads,
            Op::Check { .. } | Op::Error(_) => Class::Traps,
            Op::If { .. } | Op::Nest(_) => Class::Control,
            Op::Call(..) => Class::Call,
            Op::Host(..) | Op::Time(_) => Class::Effects,
        }
    }

    /// Returns the class of its cost for one element of an index space; `result` is the type of its
    /// value.
    pub fn cost(&self, result: &Ty) -> Cost {
        match self {
            Op::Copy(_) | Op::Pair(..) | Op::First(_) | Op::Second(_) | Op::Global(_) => Cost::Free,
            // A division of ints takes tens of cycles.
            Op::Scalar(ScalarOp::Div, _) if *result != Ty::Float => Cost::Scalar,
            Op::Scalar(op, _) => op.row().cost,
            Op::Seq(op, _) => op.row().cost,
            Op::Check { .. } => Cost::Check,
            Op::Text(_) | Op::Error(_) => Cost::Chars,
            Op::List(_) | Op::Constants(_) => Cost::Copy,
            Op::If { .. } | Op::Nest(_) | Op::Call(..) | Op::Host(..) | Op::Time(_) => {
                Cost::Unbounded
            }
        }
    }

    /// Returns true if the operation can be executed by one thread at a cost of at most `limit`.
    /// Reading a top-level variable cannot.
    pub fn costs_at_most(&self, limit: Cost, result: &Ty) -> bool {
        self.cost(result) <= limit && !matches!(self, Op::Global(_))
    }

    /// Calls `visit` with every operand, in order of evaluation; not with those of the blocks
    /// inside.
    pub fn each_operand(&self, mut visit: impl FnMut(Atom)) {
        let mut visit = |atom: &Atom| visit(*atom);
        visit_operands!(self, visit);
    }

    /// Returns the operands, in order of evaluation; not those of the blocks inside.
    pub fn operands(&self) -> SmallVec<[Atom; 4]> {
        let mut all = SmallVec::new();
        self.each_operand(|atom| all.push(atom));
        all
    }

    /// Calls `visit` with a mutable reference to every operand; not with those of the blocks
    /// inside.
    pub fn each_operand_mut(&mut self, mut visit: impl FnMut(&mut Atom)) {
        visit_operands!(self, visit);
    }

    /// Returns the blocks inside, in order of evaluation.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> + use<'_> {
        inner_blocks!(self)
    }

    /// Returns mutable references to the blocks inside.
    pub fn blocks_mut(&mut self) -> impl Iterator<Item = &mut Block> + use<'_> {
        inner_blocks!(self)
    }

    /// Returns true if an apply-to-each or a conditional may fault.
    pub(crate) fn blocks_may_fault(&self) -> bool {
        // An apply-to-each over sequences of different lengths faults.
        let lengths = matches!(self, Op::Nest(nest) if nest.binders.len() > 1);
        lengths || self.blocks().any(Block::may_fault)
    }

    /// Returns true if the operation has blocks.
    pub fn has_blocks(&self) -> bool {
        self.blocks().next().is_some()
    }
}

impl Let {
    /// Returns true if the operation may fault, may not terminate, or has effects. Otherwise it can
    /// be removed if its value is not used, or moved to where it is used.
    pub fn may_fault(&self) -> bool {
        match self.op.class(&self.ty) {
            Class::Pure | Class::Reads => false,
            Class::Traps | Class::Call | Class::Effects => true,
            Class::Control => self.op.blocks_may_fault(),
        }
    }
}

impl Block {
    /// Returns true if one of its operations may fault, may not terminate, or has effects.
    pub fn may_fault(&self) -> bool {
        with_stack(|| self.lets.iter().any(Let::may_fault))
    }
}

/// Returns true if a scalar operation on these operands may fault.
fn scalar_may_fault(op: ScalarOp, args: &[Atom], result: &Ty) -> bool {
    match op.row().trap {
        Trap::Never => false,
        Trap::Divisor => {
            *result != Ty::Float && !matches!(args, [_, Atom::Int(d)] if *d != 0 && *d != -1)
        }
        Trap::ShiftCount => !matches!(args, [_, Atom::Int(0..32)]),
        Trap::Domain => true,
    }
}
