//! Intrinsics that are worth their launch where code is executed once, for one whole sequence.
//!
//! ```text
//! main:  d = distinct(a)                   d = distinct(a)
//! nest:  … e = distinct(row) …        →    none = []; both = (none, none); e = (both, f) …
//! ```
//!
//! [`SeqOp::Distinct`] may decline, and the library then finds the same by [`SeqOp::Groups`]. In an
//! apply-to-each it always declines: all rows are grouped at once there, and what is kept is a filter that
//! fuses. So it does on devices ([`Thresholds::distinct_by_intrinsic`]).
//!
//! A function is executed once if all its calls are, outside of apply-to-each; it may call itself.

use super::calls::Calls;
use crate::base::with_stack;
use crate::ir::{Atom, Block, FunId, Function, Let, Op, Program, Ty, Var};
use crate::prim::SeqOp;
use crate::thresholds::Thresholds;
use nesl_runtime::bug;

/// Makes the intrinsics decline that are not executed once. Returns the functions that have changed.
pub(super) fn decline(program: &mut Program, calls: &Calls, limits: &Thresholds) -> Vec<FunId> {
    let has = |function: &Function| {
        let mut found = false;
        function.body.for_each_op(&mut |op| found |= is_distinct(op));
        found
    };
    if !program.functions.iter().any(has) {
        return Vec::new();
    }
    let once = executed_once(program, calls);
    let whole = limits.distinct_by_intrinsic;
    let mut changed = Vec::new();
    for id in calls.callees_first() {
        let at = id.0 as usize;
        let function = &mut program.functions[at];
        let mut next = 0;
        function.params.iter().for_each(|(var, _)| next = next.max(var.0 + 1));
        function.body.each_binding(&mut |var, _| next = next.max(var.0 + 1));
        let mut decline = Decline { next, changed: false };
        decline.block(&mut function.body, whole && once[at]);
        if decline.changed {
            changed.push(*id);
        }
    }
    changed
}

fn is_distinct(op: &Op) -> bool {
    matches!(op, Op::Seq(SeqOp::Distinct, _))
}

/// For each function, whether it is executed for one element wherever it is called.
pub(super) fn executed_once(program: &Program, calls: &Calls) -> Vec<bool> {
    let mut once = vec![true; program.functions.len()];
    let reached = || calls.callees_first().iter().map(|id| id.0 as usize);
    // Whatever a function calls that is not executed once is not, either; functions that call each
    // other may take several rounds.
    loop {
        let mut nested = Vec::new();
        for at in reached() {
            each_call(&program.functions[at].body, !once[at], &mut |callee| nested.push(callee));
        }
        nested.retain(|callee: &FunId| once[callee.0 as usize]);
        if nested.is_empty() {
            return once;
        }
        nested.iter().for_each(|callee| once[callee.0 as usize] = false);
    }
}

/// Visits the functions that are called in an apply-to-each; all of them if the block is in one.
fn each_call(block: &Block, nested: bool, visit: &mut impl FnMut(FunId)) {
    for binding in &block.lets {
        match &binding.op {
            Op::Call(callee, _) if nested => visit(*callee),
            op => {
                let nested = nested || matches!(op, Op::Nest(_));
                op.blocks().for_each(|block| with_stack(|| each_call(block, nested, visit)));
            }
        }
    }
}

/// The rewriting of a function.
struct Decline {
    /// The first variable that nothing uses yet.
    next: u32,
    changed: bool,
}

impl Decline {
    fn block(&mut self, block: &mut Block, once: bool) {
        let mut lets = Vec::with_capacity(block.lets.len());
        for mut binding in std::mem::take(&mut block.lets) {
            if is_distinct(&binding.op) && !once {
                self.changed = true;
                binding.op = self.nothing(&mut lets, &binding);
            }
            let once = once && !matches!(binding.op, Op::Nest(_));
            binding.op.blocks_mut().for_each(|block| with_stack(|| self.block(block, once)));
            lets.push(binding);
        }
        block.lets = lets;
    }

    /// Binds what stands for an intrinsic that declines: no elements, and that nothing was found.
    fn nothing(&mut self, lets: &mut Vec<Let>, binding: &Let) -> Op {
        let Ty::Pair(both, _) = &binding.ty else { bug!("it gives a pair") };
        let Ty::Pair(ints, _) = &**both else { bug!("it gives a pair of sequences") };
        let mut bind = |ty: &Ty, op: Op| {
            let var = Var(self.next);
            self.next += 1;
            lets.push(Let { var, ty: ty.clone(), op, site: binding.site });
            Atom::Var(var)
        };
        let none = bind(ints, Op::List(Vec::new()));
        let both = bind(both, Op::Pair(none, none));
        Op::Pair(both, Atom::Bool(false))
    }
}
