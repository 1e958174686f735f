//! Programs that cannot end.
//!
//! ```text
//! function h(v) = h(v ++ v); h([1])      every way through `h` calls `h` again
//! ```
//!
//! Such a program does not end or fails, and how much time and memory it takes until its memory or its
//! stack is full depends on the machine. So it is interpreted for a moment only, to see whether it
//! fails by itself, and then it is reported, unless it takes neither stack nor memory.
//!
//! A function that calls itself from an apply-to-each is not found, since there may be no elements.

use nesl_core::base::with_stack;
use nesl_core::ir::{Atom, Block, FunId, Op, Program};

/// A function that calls itself on every way through it, perhaps by way of others.
pub(super) struct Endless<'p> {
    /// The name of the function.
    pub name: &'p str,
    /// True if a call on the way to itself is not the last that its function does, so that the calls
    /// take ever more stack.
    pub stacks: bool,
}

/// A call that is made on every way through a block.
#[derive(Clone, Copy)]
struct SureCall {
    callee: FunId,
    /// True if its result is that of the block.
    is_tail: bool,
}

/// Returns a function that the program calls, whatever its input, and that calls itself again on every
/// way through it, unless that takes neither stack nor memory for sure.
pub(super) fn endless(program: &Program) -> Option<Endless<'_>> {
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
    let from = |at: FunId| sure_call(&program.functions[at.0 as usize].body, &all);
    // The calls lead from the main function to a cycle.
    let mut seen = vec![false; program.functions.len()];
    let mut at = program.main;
    while !std::mem::replace(&mut seen[at.0 as usize], true) {
        at = from(at)?.callee;
    }
    let (first, mut stacks, mut grows) = (at, false, false);
    loop {
        let call = from(at)?;
        stacks |= !call.is_tail;
        let params = &program.functions[at.0 as usize].params;
        grows |= params.iter().any(|(_, ty)| ty.has_sequence());
        at = call.callee;
        if at == first {
            break;
        }
    }
    if !stacks && !grows {
        return None;
    }
    let name = &program.functions[first.0 as usize].name;
    Some(Endless { name: name.split('@').next().unwrap_or(name), stacks })
}

/// Returns a call of a function of a set that is made on every way through a block, or one of those
/// that are made on each.
fn sure_call(block: &Block, set: &[bool]) -> Option<SureCall> {
    with_stack(|| {
        block.lets.iter().find_map(|binding| {
            let is_result = block.result == Atom::Var(binding.var);
            match &binding.op {
                Op::Call(callee, _) => set[callee.0 as usize]
                    .then_some(SureCall { callee: *callee, is_tail: is_result }),
                Op::If { then, otherwise, .. } => {
                    let (then, otherwise) = (sure_call(then, set)?, sure_call(otherwise, set)?);
                    let is_tail = is_result && then.is_tail && otherwise.is_tail;
                    Some(SureCall { is_tail, ..then })
                }
                Op::Time(block) => Some(SureCall { is_tail: false, ..sure_call(block, set)? }),
                _ => None,
            }
        })
    })
}
