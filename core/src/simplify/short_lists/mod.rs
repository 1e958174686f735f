//! Short lists of a known length: their elements become values of their own.
//!
//! ```text
//! fn "fib"(v0: [[int]], v1: int) -> int {             fn "fib.short"(v0: int, …, v3: int, v4: int) -> int {
//!   …                                                   …
//!   v9: [[int]] = each v5 in v0 {                        v9: int = mul(v0, v0)
//!     … each v6 in v5, … { mul(v6, …) } …         →      v10: int = mul(v1, v2)
//!   }                                                    v11: int = add(v9, v10)
//!   v10: int = call "fib"(v9, v8)                        …
//!   v10                                                  v20: int = call "fib.short"(v11, …, v8)
//! }                                                      v20 }
//! ```
//!
//! A point, the state of a simulation or a small matrix is written out once and has the same length from then on. A
//! function that is called with such lists gets a version that takes the elements. What it makes of them by
//! apply-to-eaches of few scalar operations, it makes element by element; if its result has a known length too, it
//! returns the elements. A recursive function is taken to keep the lengths of its parameters; those that
//! turn out to change are passed as sequences.
//!
//! Neither index spaces nor descriptors are left of such lists: sequential code keeps their elements in registers, and
//! flattened code has one column for each.
//!
//! | file | contents |
//! |---|---|
//! | `versions` | the versions of functions; [`rewrite`](super::rewrite) writes their code |
//! | `sink` | lists that only one side of a conditional needs are made there |
//!
//! The main function stays as it is written outside of apply-to-eaches.

mod sink;
#[cfg(test)]
mod tests;
mod versions;

use super::calls::Calls;
use super::{Context, remove_unreached};
use crate::ir::{Op, Program};
use versions::Versions;

/// Makes versions of functions for the short lists that they are called with.
pub(super) fn spread(program: Program, context: &Context<'_>) -> Program {
    let has_list = program.functions.iter().any(|function| {
        let mut found = false;
        function.body.for_each_op(&mut |op| {
            found |= matches!(op, Op::List(elements) if !elements.is_empty());
        });
        found
    });
    if !has_list {
        return program;
    }
    let calls = Calls::of(&program);
    let program = Versions::new(&program, &calls, context.limits).program();
    remove_unreached(program, context)
}
