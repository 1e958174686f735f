//! ir → ir: a table of passes that simplify a program before it is flattened.
//!
//! ```text
//! fn "take@int"(a, n) library { … subseq(a, start, end) }      fn "main"(a) {
//! fn "main"(a) { b = call "take@int"(a, 2)                 →     n = length(a)
//!                s = reduce_sum(b) … }                           ok = le(2, n) …
//!                                                                b = subseq(a, 0, 2) …
//! ```
//!
//! [`PASSES`] has a row for each pass. Those that rewrite one function at a time are interleaved:
//! all of them have been applied to a function before the first is applied to its callers, so that
//! the bodies that are inlined are simplified already. Those that rewrite the whole program follow.
//! [`up_to`] applies the first rows of the table, so that the result of each is a stage of
//! [`crate::pipeline`]; [`simplify`] applies all of them. Debug builds verify a function after each
//! pass.
//!
//! | file | contents |
//! |---|---|
//! | `rewrite` | inlining, constant folding, common subexpressions; unrolling; short lists element by element |
//! | `mutual_loops` | functions that call each other last, as one |
//! | `constant_arguments` | parameters that are the same constant in every call |
//! | `dead` | dead code |
//! | `split_reductions` | reductions of flattened sequences, row by row |
//! | `counts` | filters of which only the length is used, as sums |
//! | `nests` | vertical fusion of maps |
//! | `sides` | conditionals between maps of one sequence |
//! | `same_calls` | conditionals between two calls of one function |
//! | `products` | recognition of matrix products, which are not fused with what makes or uses their rows |
//! | `reduce_by_key` | groups of which only sums are used, as histograms |
//! | `select` | sorts of which a part is read |
//! | `sides_again` | cheap maps that the sides of conditionals compute again |
//! | `short_lists` | lists of a known length, whose elements become values |
//! | `once` | what code that is executed once has intrinsics of its own for |
//! | `accumulate` | for sequential code: recursion whose results are added up or appended, as loops |
//! | `calls` | the call graph |
//!
//! A fault stays a fault of the same kind, and where the user's program is to blame for it: code
//! of the library takes the place of the call that left the user's program. Which of several
//! faults comes first may change, but none passes what is done outside: what a program prints before
//! it fails stays the same. The interpreter runs programs as they were, so that work and
//! depth are those of the program as written.

mod accumulate;
mod calls;
mod constant_arguments;
mod counts;
mod dead;
mod mutual_loops;
mod nests;
mod once;
pub(crate) mod products;
mod reduce_by_key;
mod rewrite;
mod same_calls;
mod select;
mod short_lists;
mod sides;
mod sides_again;
mod split_reductions;

use crate::ir::{self, Effects, FunId, Function, Program};
use crate::thresholds::Thresholds;
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::violation;
use std::borrow::Cow;

pub use accumulate::appends_results;
pub(crate) use rewrite::{renumber, renumber_calls};

/// A pass of the simplifier.
#[derive(Debug)]
pub struct Pass {
    /// The name, a verb.
    pub name: &'static str,
    /// The name of the program that it and the rows before it make.
    pub stage: &'static str,
    /// The title of this program in menus.
    pub title: &'static str,
    /// A description, without a full stop.
    pub about: &'static str,
    /// The function that transforms the program.
    pub run: Run,
}

/// The function of a pass of the simplifier.
#[derive(Clone, Copy, Debug)]
pub enum Run {
    /// Rewrites one function; its callees have gone through all passes of this kind.
    Function(fn(Cow<'_, Function>, FunId, &Context<'_>) -> Function),
    /// Rewrites the program, of which all functions have gone through the passes before.
    Program(fn(Program, &Context<'_>) -> Program),
}

/// The passes of the simplifier, in order. Those that rewrite one function stand before those that
/// rewrite the program.
pub static PASSES: &[Pass] = &[
    Pass {
        name: "inline",
        stage: "inlined",
        title: "Inlined",
        about: "inlines small functions, folds constants, computes equal expressions once",
        run: Run::Function(|function, _, context| {
            // Calls of a grouping function are what `reduce-by-key` recognises.
            let callees = |id| context.simplified(id).filter(|_| !context.keyed.makes_groups(id));
            rewrite::inline(&function, &callees, &context.calls, context.limits)
        }),
    },
    Pass {
        name: "remove-dead-code",
        stage: "live",
        title: "Live",
        about: "removes values that are not used and cannot fault",
        run: Run::Function(|function, _, _| {
            let mut function = function.into_owned();
            dead::remove(&mut function);
            function
        }),
    },
    Pass {
        name: "fuse-maps",
        stage: "joined",
        title: "Joined",
        about: "makes one apply-to-each of two where the second alone uses what the first gives, and of \
                two sides of a conditional that map the same rows; reduces flattened rows row by row; adds up the \
                flags of filters that are only counted",
        run: Run::Function(|function, _, context| {
            let mut function = function.into_owned();
            split_reductions::divide(&mut function, &context.effects, context.limits);
            counts::of_filters(&mut function);
            nests::fuse(&mut function, &context.effects, context.limits);
            sides::join(&mut function, &context.effects, context.limits);
            function
        }),
    },
    Pass {
        name: "merge-calls",
        stage: "merged",
        title: "Calls merged",
        about: "makes one call of two sides of a conditional that end in a call of the same function",
        run: Run::Function(|function, _, context| {
            let mut function = function.into_owned();
            same_calls::merge(&mut function, &context.effects);
            function
        }),
    },
    Pass {
        name: "reduce-by-key",
        stage: "reduced",
        title: "Reduced by key",
        about: "makes histograms instead of groups of which only counts and reductions are used",
        run: Run::Function(|function, id, context| {
            let mut function = function.into_owned();
            context.keyed.reduce(id, &mut function, context.limits);
            function
        }),
    },
    Pass {
        name: "inline-grouping",
        stage: "grouped",
        title: "Grouped",
        about: "inlines the grouping functions that are still called, as the passes before do, and decides where \
                equal elements are found by an intrinsic of one sequence",
        run: Run::Program(inline_grouping),
    },
    Pass {
        name: "select",
        stage: "selected",
        title: "Selected",
        about: "selects what is read of a sorted sequence, where that is a small part",
        run: Run::Program(|program, context| select::select(program, context.limits)),
    },
    Pass {
        name: "compute-again",
        stage: "repeated",
        title: "Repeated",
        about: "has the sides of conditionals compute cheap maps again, so that nobody stores them",
        run: Run::Program(|program, context| sides_again::compute_again(program, context.limits)),
    },
    Pass {
        name: "spread-short-lists",
        stage: "spread",
        title: "Short lists spread",
        about: "makes values of their own of the elements of short lists of a known length, in functions and their calls",
        run: Run::Program(short_lists::spread),
    },
    Pass {
        name: "remove-unreached",
        stage: "simple",
        title: "Simplified",
        about: "removes the functions that are not called any more, which ends simplification",
        run: Run::Program(remove_unreached),
    },
];

/// The facts about a program that the passes use.
pub struct Context<'p> {
    limits: &'p Thresholds,
    calls: calls::Calls,
    effects: Effects,
    keyed: reduce_by_key::Keyed,
    /// The functions that have gone through the passes so far.
    functions: Vec<Option<Function>>,
}

impl Context<'_> {
    /// Returns the simplified form of a function, once there is one.
    fn simplified(&self, id: FunId) -> Option<&Function> {
        self.functions[id.0 as usize].as_ref()
    }
}

/// Simplifies a well-formed program; the result is well-formed, and means the same.
pub fn simplify(program: &Program, limits: &Thresholds) -> Program {
    up_to(program, PASSES.len(), limits)
}

/// Applies the first `count` rows of [`PASSES`] to a well-formed program.
pub fn up_to(program: &Program, count: usize, limits: &Thresholds) -> Program {
    let calls = calls::Calls::of(program);
    let program = &match count {
        0 => Cow::Borrowed(program),
        _ => mutual_loops::merge(program, &calls),
    };
    let calls = if calls.groups().is_empty() { calls } else { calls::Calls::of(program) };
    // The first pass folds what comes of them.
    let program = &match count {
        0 => Cow::Borrowed(&**program),
        _ => constant_arguments::substitute(program, &calls),
    };
    let mut context = Context {
        limits,
        calls,
        effects: Effects::of(program),
        keyed: reduce_by_key::Keyed::of(program),
        functions: vec![None; program.functions.len()],
    };
    for at in 0..context.calls.callees_first().len() {
        let id = context.calls.callees_first()[at];
        let mut function = Cow::Borrowed(&program.functions[id.0 as usize]);
        for pass in &PASSES[..count] {
            let Run::Function(run) = pass.run else { continue };
            function = Cow::Owned(run(function, id, &context));
            verify(pass, program, &function);
        }
        context.functions[id.0 as usize] = Some(function.into_owned());
    }
    // Functions that the main function does not reach stay as they were.
    let functions = std::mem::take(&mut context.functions).into_iter().zip(&program.functions);
    let functions = functions.map(|(new, old)| new.unwrap_or_else(|| old.clone())).collect();
    let mut program = Program { functions, globals: program.globals.clone(), main: program.main };
    for pass in &PASSES[..count] {
        let Run::Program(run) = pass.run else { continue };
        program = run(program, &context);
        program.functions.iter().for_each(|function| verify(pass, &program, function));
    }
    program
}

/// Reports a bug of a pass in debug builds if a function of its result is not well-formed.
fn verify(pass: &Pass, program: &Program, function: &Function) {
    if cfg!(debug_assertions) {
        let violations = ir::verify_function(program, function);
        if !violations.is_empty() {
            let all = violation::list(&violations);
            bug!("the pass `{}` broke an invariant: {all}", pass.name);
        }
    }
}

/// Inlines the grouping functions that are still called: groups of which more than reductions is
/// used are made as the library makes them.
fn inline_grouping(mut program: Program, context: &Context<'_>) -> Program {
    for id in context.calls.callees_first() {
        let at = id.0 as usize;
        if !context.keyed.concerns(&program.functions[at]) {
            continue;
        }
        let callees = |id: FunId| Some(&program.functions[id.0 as usize]);
        let function = &program.functions[at];
        let mut function = rewrite::inline(function, &callees, &context.calls, context.limits);
        dead::remove(&mut function);
        nests::fuse(&mut function, &context.effects, context.limits);
        program.functions[at] = function;
    }
    for id in once::decline(&mut program, &context.calls, context.limits) {
        let at = id.0 as usize;
        // Both branches behind a decision are there until now.
        let mut function =
            rewrite::inline(&program.functions[at], &|_| None, &context.calls, context.limits);
        dead::remove(&mut function);
        nests::fuse(&mut function, &context.effects, context.limits);
        program.functions[at] = function;
    }
    program
}

/// Removes the functions that are not called any more.
fn remove_unreached(program: Program, _: &Context<'_>) -> Program {
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

/// Prepares a program for sequential code. Recursion whose results are added up or appended becomes loops; the functions of these
/// follow the others. An apply-to-each over a short list that is written out, such as `{f(half) : half in [low, high]}`,
/// is unrolled: the iterations are executed one after the other anyway, and nobody need make the list.
pub(crate) fn for_one_thread(program: &Program, limits: &Thresholds) -> Program {
    let mut program = program.clone();
    accumulate::accumulate(&mut program, limits);
    let calls = calls::Calls::of(&program);
    let unrolled = |function: &Function| {
        let mut function = rewrite::unroll(function, &calls, limits);
        dead::remove(&mut function);
        function
    };
    program.functions = program.functions.iter().map(unrolled).collect();
    program
}

#[cfg(test)]
mod tests;
