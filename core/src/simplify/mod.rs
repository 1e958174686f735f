//! ir → ir: what is known while compiling is done while compiling.
//!
//! One walk over each function, callees before callers, writes it anew: small and once-called
//! functions are put in place of their calls, copies and pairs that are taken apart again
//! disappear, constants are folded, equal scalar expressions are computed once, the length of
//! what was just made is that of what it was made from. Then what nobody uses goes, unless it
//! may fault, and an apply-to-each over another one becomes one. Groups of which only sums are
//! asked for are not made (`reduce_by_key`).
//!
//! ```text
//! fn "take@int"(a, n) library { … subseq(a, start, end) }      fn "main"(a) {
//! fn "main"(a) { b = call "take@int"(a, 2)                 →     n = length(a)
//!                s = reduce_sum(b) … }                           ok = le(2, n) …
//!                                                                b = subseq(a, 0, 2) …
//! ```
//!
//! A fault stays a fault of the same kind, and where the user's program is to blame for it: code
//! of the library takes the place of the call that left the user's program. Which of several
//! faults comes first may change, but none passes what is done outside: what a program prints before
//! it fails stays the same. The interpreter runs programs as they were, so that work and
//! depth are those of the program as written.

mod calls;
mod dead;
mod nests;
mod reduce_by_key;
mod rewrite;

use crate::ir::{Effects, FunId, Function, Program};
use nesl_runtime::bug::OrBug;

pub(crate) use rewrite::{renumber, renumber_calls};

/// Simplifies a well-formed program; the result is well-formed, and means the same.
pub fn simplify(program: &Program) -> Program {
    let calls = calls::Calls::of(program);
    let effects = Effects::of(program);
    let mut simplified: Vec<Option<Function>> = vec![None; program.functions.len()];
    let keyed = reduce_by_key::Keyed::of(program);
    for id in calls.callees_first() {
        let mut function =
            rewrite::function(program, *id, &simplified, &calls, &|id| keyed.makes_groups(id));
        dead::remove(&mut function);
        nests::fuse(&mut function, &effects);
        keyed.reduce(*id, &mut function);
        simplified[id.0 as usize] = Some(function);
    }
    // Groups that are more than reduced are made as the library makes them.
    for id in calls.callees_first() {
        let Some(function) = &simplified[id.0 as usize] else { continue };
        if keyed.concerns(function) {
            let mut function = rewrite::again(function, &simplified, &calls);
            dead::remove(&mut function);
            nests::fuse(&mut function, &effects);
            simplified[id.0 as usize] = Some(function);
        }
    }
    // What is not reached from the form stays as it was: nobody asks for it.
    let functions = simplified.into_iter().zip(&program.functions);
    let functions = functions.map(|(new, old)| new.unwrap_or_else(|| old.clone())).collect();
    reached_only(Program { functions, globals: program.globals.clone(), main: program.main })
}

/// Unrolls an apply-to-each over a short list that is written out, such as `{f(half) : half in [low,
/// high]}`: for sequential code, which executes the iterations one after the other anyway and need
/// not make the list.
pub(crate) fn unroll(program: &Program) -> Program {
    let calls = calls::Calls::of(program);
    let unrolled = |at: usize| {
        let mut function = rewrite::unrolled(program, FunId(at as u32), &calls);
        dead::remove(&mut function);
        function
    };
    let functions = (0..program.functions.len()).map(unrolled).collect();
    Program { functions, globals: program.globals.clone(), main: program.main }
}

/// Without the functions that are not called any more.
fn reached_only(program: Program) -> Program {
    let calls = calls::Calls::of(&program);
    let mut kept: Vec<FunId> = calls.callees_first().to_vec();
    kept.sort_unstable();
    let place = |id: FunId| FunId(kept.binary_search(&id).or_bug("the function is reached") as u32);
    let mut functions: Vec<Option<Function>> = program.functions.into_iter().map(Some).collect();
    let mut take =
        |id: &FunId| functions[id.0 as usize].take().or_bug("each function is taken once");
    let mut functions: Vec<Function> = kept.iter().map(&mut take).collect();
    for function in &mut functions {
        rewrite::renumber_calls(&mut function.body, &place);
    }
    Program { functions, globals: program.globals, main: place(program.main) }
}

#[cfg(test)]
mod tests;
