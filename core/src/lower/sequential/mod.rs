//! ir → kir: the sequential code of one thread.
//!
//! Every function becomes a kir function, every nest a loop, every sequence that is materialised
//! an array in the memory of the thread. Which sequences are, and which reductions share a loop,
//! was decided by [`fuse::sequential`](crate::fuse::sequential) and is only obeyed here.
//!
//! ```text
//! fn "main"(v0: [float], v1: [float]) -> float {      fn "main"(v0, v1: array, …) {
//!   v2: [float] = each v3 in v0, v4 in v1 {             check lengths are equal
//!     v5: float = mul(v3, v4)                    →      for i < length reduce add {
//!     v5                                                  mul(load v0 i, load v1 i)
//!   }                                                   }
//!   v6: float = reduce_sum(v2)                        }
//!   v6
//! }
//! ```
//!
//! Invariants: a value has the parts that [`repr`](super::repr) says; memory that an iteration or a
//! call allocates is released at its end but for what its result lies in; a fault names the site of
//! the operation, and in library code the site of the call that left the user's program.
//!
//! | module | what it does |
//! |---|---|
//! | `entry` | the kernel that runs a whole program in one thread |
//! | `function` | the state of a function being lowered; its bindings, one after the other |
//! | `calls` | functions and calls; tail recursion as loops |
//! | `element` | the elements of stored and fused sequences; materialisation |
//! | `collect`, `pool` | loops that store a sequence; the growing pool of nested ones |
//! | `shared_loop` | reductions that share a loop |
//! | `branches` | values that depend on a condition |
//! | `moves`, `arrays`, `histogram` | the operations on sequences |
//! | `flat_rows` | `flatten` of rows of which only the elements are stored |
//! | `kept_rows` | rows that an apply-to-each leaves as they are |
//! | `sieves` | sieves over several sequences |
//! | `reads_first` | reads of elements before the update of their array |
//! | `rooms` | the elements of a sequence that its owner may overwrite |
//! | `tables` | updates of sequences of sequences |
//! | `parts` | a value ↔ its parts, for calls, loops and results |
//! | `faults` | run-time checks |
//! | `scalar`, `random`, `math` | scalar operations, random numbers, mathematical functions |

mod arrays;
mod branches;
mod calls;
mod collect;
mod element;
mod entry;
mod faults;
mod flat_rows;
mod function;
mod histogram;
mod joined_tables;
mod kept_rows;
mod math;
mod moves;
mod parts;
mod pool;
mod random;
mod reads_first;
pub(in crate::lower) mod rooms;
mod scalar;
mod shared_loop;
mod sieves;
mod split_maths;
mod tables;

pub(in crate::lower) use arrays::combine;
pub(in crate::lower) use calls::function;
pub(in crate::lower) use function::{FunctionLowering, ModuleState};
pub(in crate::lower) use reads_first::in_block as block_reads_first;
pub(in crate::lower) use sieves::in_block as join_sieves;
pub(in crate::lower) use split_maths::in_block as split_maths_of_block;

use super::{Lowered, Settings, Unsupported, globals};
use crate::ir::{FunId, GlobalId, Op, Program};
use crate::simplify::for_one_thread;
use crate::thresholds::Thresholds;
use nesl_runtime::kir::{self, Function};
use std::cell::RefCell;

/// Lowers a well-formed, simplified program.
///
/// # Errors
/// [`Unsupported::HostOperation`] if the program prints, reads files or asks for the time.
pub fn sequential(program: &Program, settings: &Settings<'_>) -> Result<Lowered, Unsupported> {
    let mut host = false;
    for function in &program.functions {
        function.body.for_each_op(&mut |op| host |= matches!(op, Op::Host(..) | Op::Time(_)));
    }
    if host {
        return Err(Unsupported::HostOperation);
    }
    let (program, globals) = prepare(program, settings.limits);
    let shared = RefCell::new(ModuleState::new(&program, settings.seed));
    let ids = (0..program.functions.len() as u32).map(FunId);
    let functions: Vec<Function> =
        ids.map(|id| calls::function(&program, id, settings, &shared)).collect();
    let kernel = entry::kernel(&program, settings, &shared);
    let shared = shared.into_inner();
    let functions = functions.into_iter().chain(shared.helpers.into_iter().map(|(_, f)| f));
    let module = kir::Module { functions: functions.collect(), kernels: vec![kernel] };
    Ok(Lowered { module, globals, fault_sites: shared.fault_sites })
}

/// Returns the program that sequential code is generated for, and the globals it takes: globals are parameters.
pub fn prepare(program: &Program, limits: &Thresholds) -> (Program, Vec<GlobalId>) {
    let (program, globals) = globals::as_parameters(program);
    (prepared(&program, limits), globals)
}

/// Returns functions as sequential code is generated for them: recursion whose results are added up or appended is a loop, maps over
/// short lists are unrolled, sieves over several sequences are one, conditionals of rows are outside of them, mathematical
/// functions are behind the loops that give what they are taken of, and elements are read before their array is updated.
pub(in crate::lower) fn prepared(program: &Program, limits: &Thresholds) -> Program {
    let mut program = for_one_thread(program, limits);
    sieves::join(&mut program);
    kept_rows::keep_rows(&mut program);
    if limits.splits_maths {
        split_maths::split(&mut program);
    }
    reads_first::reads_first(&mut program);
    program
}
