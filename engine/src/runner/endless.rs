//! Programs that cannot end.
//!
//! ```text
//! function h(v) = h(v ++ v); h([1])      every way through `h` calls `h` again
//! ```
//!
//! Such a program does not end or fails, and how much time and memory it takes until its memory or its
//! stack is full depends on the machine. So it is interpreted for a moment only, to see whether it
//! fails by itself, and then it is reported.
//!
//! A function that calls itself from an apply-to-each is not found, since there may be no elements.

use nesl_core::base::with_stack;
use nesl_core::ir::{Block, FunId, Op, Program};

/// Returns the name of a function that the program calls, whatever its input, and that calls itself
/// again on every way through it.
pub(super) fn endless(program: &Program) -> Option<&str> {
    // The greatest set of functions that call one of the set on every way through them.
    let mut all = vec![true; program.functions.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (at, function) in program.functions.iter().enumerate() {
            if all[at] && sure_call(&function.body, &all).is_none() {
                (all[at], changed) = (false, true);
            }
        }
        if !all[program.main.0 as usize] {
            return None;
        }
    }
    // The calls lead from the main function to a cycle, and once around it.
    let mut seen = vec![false; program.functions.len()];
    let mut at = program.main;
    while !std::mem::replace(&mut seen[at.0 as usize], true) {
        at = sure_call(&program.functions[at.0 as usize].body, &all)?;
    }
    let name = &program.functions[at.0 as usize].name;
    Some(name.split('@').next().unwrap_or(name))
}

/// Returns a function of a set that is called on every way through a block, or one of them on each.
fn sure_call(block: &Block, set: &[bool]) -> Option<FunId> {
    with_stack(|| {
        block.lets.iter().find_map(|binding| match &binding.op {
            Op::Call(callee, _) => set[callee.0 as usize].then_some(*callee),
            Op::If { then, otherwise, .. } => {
                sure_call(then, set).and_then(|callee| sure_call(otherwise, set).and(Some(callee)))
            }
            Op::Time(block) => sure_call(block, set),
            _ => None,
        })
    })
}
