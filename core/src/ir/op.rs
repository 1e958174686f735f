//! The operations of the core language, each declared once, with its properties.
//!
//! An operation's operands, blocks, [`Class`] and [`Cost`] stand here and nowhere else (those of
//! scalar, sequence and host operations in their rows, [`crate::prim`]): passes ask [`Op`] instead
//! of keeping lists of their own. A match over all operations stands only where the meaning of
//! each differs: interpretation, printing, lowering, flattening.
//!
//! ```text
//! Class::Pure       may be moved, repeated, left out
//! Class::Reads      likewise, within a program
//! Class::Traps      may fault
//! Class::Control    has the effects of its blocks
//! Class::Call       has the effects of the callee, and may not end
//! Class::Effects    is noticed outside of the program
//! ```

use super::value::{Atom, FunId, GlobalId, Site, Ty, Var};
use crate::base::with_stack;
use crate::prim::{Cost, HostOp, ScalarProperties, SeqOp, Trap};
use nesl_runtime::fault::FaultCode;
use nesl_runtime::scalar::ScalarOp;
use smol_str::SmolStr;

/// A straight line of bindings and the value it ends in.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The bindings, in order of evaluation.
    pub lets: Vec<Let>,
    /// The result.
    pub result: Atom,
}

/// One binding.
#[derive(Clone, Debug, PartialEq)]
pub struct Let {
    /// The variable that is bound.
    pub var: Var,
    /// The type of the value.
    pub ty: Ty,
    /// The operation.
    pub op: Op,
    /// The source location blamed for a fault.
    pub site: Site,
}

/// An operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// The operand itself.
    Copy(Atom),
    /// A scalar operation.
    Scalar(ScalarOp, Vec<Atom>),
    /// `(a, b)`
    Pair(Atom, Atom),
    /// The first of a pair.
    First(Atom),
    /// The second of a pair.
    Second(Atom),
    /// A string constant.
    Text(Box<[u8]>),
    /// `[a, b, …]`, possibly empty; the binding's type says of what.
    List(Vec<Atom>),
    /// An operation on sequences.
    Seq(SeqOp, Vec<Atom>),
    /// A call.
    Call(FunId, Vec<Atom>),
    /// A conditional: only one side is evaluated.
    If {
        /// The condition.
        cond: Atom,
        /// The block evaluated if the condition is true.
        then: Block,
        /// The block evaluated if the condition is false.
        otherwise: Block,
    },
    /// An apply-to-each.
    Nest(Nest),
    /// A top-level variable.
    Global(GlobalId),
    /// Faults with this code and message unless the condition holds; its value is the condition.
    Check {
        /// The condition that must hold.
        cond: Atom,
        /// The fault, if it does not hold.
        code: FaultCode,
        /// The message of a [`FaultCode::Message`].
        message: SmolStr,
    },
    /// `error(text)`: always faults. Has any type.
    Error(Atom),
    /// Something outside the language: files, printing, … in program order.
    Host(HostOp, Vec<Atom>),
    /// `time(e)`: the pair of the value and the seconds it took.
    Time(Block),
}

/// `{ body : x in xs; y in ys }`: one iteration of the body for each index; the sequences have
/// equal lengths (checked) and there is at least one. The body sees all variables in scope.
#[derive(Clone, Debug, PartialEq)]
pub struct Nest {
    /// The element variable, its type, and the sequence it runs over.
    pub binders: Vec<(Var, Ty, Atom)>,
    /// The code of each iteration.
    pub body: Block,
    /// True for `{* … }`: iterations run one after the other (depth adds up).
    pub serial: bool,
}

/// The side effects that an operation itself may have, without those of its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Computes a value of its operands alone, and cannot fail.
    Pure,
    /// Reads a top-level variable, which does not change while a program runs.
    Reads,
    /// May fault.
    Traps,
    /// Executes blocks.
    Control,
    /// Executes a function.
    Call,
    /// Does something outside of the program, or asks the clock.
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
            Op::Text(_) | Op::Global(_) | Op::Time(_) => {}
        }
    };
}

/// The blocks of an operation, by shared or by mutable reference.
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
    /// Returns the side effects of the operation itself, which gives a value of this type.
    pub fn class(&self, result: &Ty) -> Class {
        match self {
            Op::Copy(_)
            | Op::Pair(..)
            | Op::First(_)
            | Op::Second(_)
            | Op::Text(_)
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
            // Ints are divided slowly.
            Op::Scalar(ScalarOp::Div, _) if *result != Ty::Float => Cost::Scalar,
            Op::Scalar(op, _) => op.row().cost,
            Op::Seq(op, _) => op.row().cost,
            Op::Check { .. } => Cost::Check,
            Op::Text(_) | Op::Error(_) => Cost::Chars,
            Op::List(_) => Cost::Copy,
            Op::If { .. } | Op::Nest(_) | Op::Call(..) | Op::Host(..) | Op::Time(_) => {
                Cost::Unbounded
            }
        }
    }

    /// Returns true if the operation costs at most `limit` where its operands are at hand;
    /// top-level variables are not.
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
    pub fn operands(&self) -> Vec<Atom> {
        let mut all = Vec::new();
        self.each_operand(|atom| all.push(atom));
        all
    }

    /// Calls `visit` with every operand, to be changed; not with those of the blocks inside.
    pub fn each_operand_mut(&mut self, mut visit: impl FnMut(&mut Atom)) {
        visit_operands!(self, visit);
    }

    /// Returns the blocks inside, in order of evaluation.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> + use<'_> {
        inner_blocks!(self)
    }

    /// Returns the blocks inside, to be changed.
    pub fn blocks_mut(&mut self) -> impl Iterator<Item = &mut Block> + use<'_> {
        inner_blocks!(self)
    }

    /// Returns true if an apply-to-each or a conditional may fault.
    pub(crate) fn blocks_may_fault(&self) -> bool {
        // Sequences of different lengths fault.
        let lengths = matches!(self, Op::Nest(nest) if nest.binders.len() > 1);
        lengths || self.blocks().any(Block::may_fault)
    }

    /// Returns true if the operation has blocks.
    pub fn has_blocks(&self) -> bool {
        self.blocks().next().is_some()
    }
}

impl Let {
    /// Returns true if the operation may fault, not end, or be noticed outside. Otherwise it can be
    /// left out when nobody uses its value, and done later when somebody does.
    pub fn may_fault(&self) -> bool {
        match self.op.class(&self.ty) {
            Class::Pure | Class::Reads => false,
            Class::Traps | Class::Call | Class::Effects => true,
            Class::Control => self.op.blocks_may_fault(),
        }
    }
}

impl Block {
    /// Returns true if one of its operations may fault, not end, or be noticed outside.
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
