//! What is no work for a runtime: operations without loops over elements.

use crate::base::with_stack;
use crate::ir::{Block, FunId, Op, Program};
use crate::prim::SeqOp;

/// Per function of a program, whether all that it does is light, or outside, and so are the
/// functions it calls. Such a function is best left to the direct interpreter, unless it is given
/// something that lies elsewhere.
#[derive(Clone, Debug)]
pub struct HostOnly {
    functions: Vec<bool>,
}

impl HostOnly {
    /// Finds out.
    pub fn of(program: &Program) -> HostOnly {
        let mut light = HostOnly { functions: vec![true; program.functions.len()] };
        loop {
            let mut changed = false;
            for (id, function) in program.functions.iter().enumerate() {
                if light.functions[id] && !light.block(&function.body) {
                    light.functions[id] = false;
                    changed = true;
                }
            }
            if !changed {
                return light;
            }
        }
    }

    /// Whether a function is light.
    pub fn function(&self, id: FunId) -> bool {
        self.functions[id.0 as usize]
    }

    fn block(&self, block: &Block) -> bool {
        with_stack(|| block.lets.iter().all(|binding| self.op(&binding.op)))
    }

    fn op(&self, op: &Op) -> bool {
        match op {
            Op::Call(callee, _) => self.function(*callee),
            Op::Global(_) | Op::Host(..) => true,
            Op::If { .. } | Op::Time(_) => op.blocks().all(|block| self.block(block)),
            Op::Copy(_)
            | Op::Scalar(..)
            | Op::Pair(..)
            | Op::First(_)
            | Op::Second(_)
            | Op::Text(_)
            | Op::List(_)
            | Op::Seq(..)
            | Op::Nest(_)
            | Op::Check { .. }
            | Op::Error(_) => is_light(op),
        }
    }
}

/// Whether an operation without blocks is: it moves elements at most.
pub(super) fn is_light(op: &Op) -> bool {
    match op {
        Op::Copy(_)
        | Op::Scalar(..)
        | Op::Pair(..)
        | Op::First(_)
        | Op::Second(_)
        | Op::Text(_)
        | Op::List(_)
        | Op::Check { .. }
        | Op::Error(_) => true,
        Op::Seq(op, _) => match op {
            SeqOp::Length
            | SeqOp::Index
            | SeqOp::Append
            | SeqOp::Flatten
            | SeqOp::Subseq
            | SeqOp::IntText
            | SeqOp::FloatText
            | SeqOp::ExpText
            | SeqOp::ParseFloat
            | SeqOp::HashText
            | SeqOp::SameText => true,
            SeqOp::Range
            | SeqOp::Dist
            | SeqOp::Gather
            | SeqOp::Scatter
            | SeqOp::Replace
            | SeqOp::Permute
            | SeqOp::Pack
            | SeqOp::Partition
            | SeqOp::Reduce(_)
            | SeqOp::Scan(_)
            | SeqOp::Histogram(_)
            | SeqOp::Groups
            | SeqOp::RankUp
            | SeqOp::RankDown => false,
        },
        Op::If { .. } | Op::Call(..) | Op::Nest(_) | Op::Global(_) | Op::Host(..) | Op::Time(_) => {
            false
        }
    }
}
