//! What instances print, in lockstep order.
//!
//! ```text
//! {(print(x), print(x + 10)) : x in [1, 2, 3]}    prints    1 2 3 11 12 13
//! ```
//!
//! The interpreter runs instance after instance; what they print is kept with the *path* at which
//! it was printed (the chain of bindings from the outermost nest inwards, with the side taken at
//! each conditional), and performed sorted by path when the outermost nest ends. The sort is
//! stable, so at one path the instances come in their order.

use super::Value;
use crate::ir::{Op, Program, Var};
use crate::prim::HostOp;

/// The recorder. Does nothing for programs that do not print.
pub(super) struct Effects {
    prints: bool,
    /// Nests of instances around the current place.
    nests: usize,
    path: Vec<(u32, u32)>,
    recorded: Vec<Recorded>,
}

struct Recorded {
    path: Vec<(u32, u32)>,
    op: HostOp,
    args: Vec<Value>,
}

impl Effects {
    pub(super) fn new(program: &Program) -> Effects {
        let mut prints = false;
        for function in &program.functions {
            function.body.for_each_op(&mut |op| {
                prints |= matches!(op, Op::Host(HostOp::PrintText | HostOp::WriteText, _));
            });
        }
        Effects { prints, nests: 0, path: Vec::new(), recorded: Vec::new() }
    }

    fn active(&self) -> bool {
        self.prints
    }

    /// Goes into the operation that binds `var`; `side` is 1 for an `else`.
    pub(super) fn enter(&mut self, var: Var, side: u32) {
        if self.active() {
            self.path.push((var.0, side));
        }
    }

    /// Comes out again.
    pub(super) fn leave(&mut self) {
        if self.active() {
            self.path.pop();
        }
    }

    /// Instances begin.
    pub(super) fn begin_instances(&mut self) {
        self.nests += 1;
    }

    /// Instances have ended; true if they were the outermost.
    pub(super) fn end_instances(&mut self) -> bool {
        self.nests -= 1;
        self.nests == 0
    }

    /// Keeps an effect for later; false if it is not inside instances and can be had at once.
    pub(super) fn record(&mut self, var: Var, op: HostOp, args: &[Value]) -> bool {
        if self.nests == 0 {
            return false;
        }
        let mut path = self.path.clone();
        path.push((var.0, 0));
        self.recorded.push(Recorded { path, op, args: args.to_vec() });
        true
    }

    /// All that was kept, in lockstep order.
    pub(super) fn take(&mut self) -> Vec<(HostOp, Vec<Value>)> {
        let mut recorded = std::mem::take(&mut self.recorded);
        recorded.sort_by(|a, b| a.path.cmp(&b.path));
        recorded.into_iter().map(|r| (r.op, r.args)).collect()
    }
}
