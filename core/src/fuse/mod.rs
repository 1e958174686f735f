//! flat → flat: steps over one index space become kernels.
//!
//! Kernels are clusters of steps, grown greedily: each step joins the last kernel over its index
//! space that comes after everything it needs. So producers meet their consumers (*vertical* fusion:
//! a value used in the same kernel only is never stored), siblings stand side by side (*horizontal*
//! fusion), and reductions, scans and filters end kernels without breaking them up. The elements
//! that a filter keeps ([`SpaceKind::Filter`](crate::flat::SpaceKind::Filter)) are a mask in the
//! kernel that computes the flag: a reduction over them combines neutral elements for the others,
//! and nothing is packed unless another kernel needs it.
//!
//! ```text
//! s1 = elements v0                                  kernel 0 over s1 stores s {
//! x: float in s1 = element v0                     x: float in s1 = element v0
//! p: float in s1 = mul(x, x)              →       p: float in s1 = mul(x, x)
//! s: float in s0 = reduce_sum p from s1           s: float in s0 = reduce_sum p from s1
//!                                               }
//! ```
//!
//! Invariants: the result is a well-formed flat program with the same meaning; kernels contain all
//! steps but control flow and descriptors; no work is repeated but operations that together cost less
//! than a store and a load.
//!
//! Sources: vertical and horizontal fusion over a graph of array operations are those of Robinson,
//! Lippmeier and Chakravarty, *Fusing filters with integer linear programming* (FHPC 2014), and
//! Bergstrom and Reppy, *Nested data-parallelism on the GPU* (ICFP 2012), section 5. Since index spaces
//! say what may be fused with what, a greedy walk takes the place of their solver.
//!
//! The sub-passes, in the order of [`SUB_PASSES`]:
//!
//! | module | what it does |
//! |---|---|
//! | `sink` | sinks the consumers of a multi-versioned value into both versions |
//! | `cluster` | decides which step joins which kernel |
//! | `rematerialise` | computes cheap values again where they are used, instead of storing them |
//! | `liveness` | decides which values are stored; removes dead code |
//!
//! [`sequential`] is fusion for the code that one thread runs by itself.

mod cluster;
mod liveness;
mod rematerialise;
pub mod sequential;
mod sink;

use crate::base::with_stack;
use crate::flat::{Block, Function, IndexSpace, Program, Step};
use crate::ir::{Atom, Var};

/// The number of fusion decisions that may be taken: all, or so many. A bisection over it finds the
/// decision that changes a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fuel(pub Option<u32>);

/// The state of fusion that the functions of a program share.
#[derive(Clone, Debug)]
pub struct FusionState {
    /// The number of decisions that may still be taken.
    fuel: u32,
    /// True if filters of what a filter keeps may be masks of the same kernel.
    nested_masks: bool,
    /// The number of the next kernel.
    next_kernel: u32,
}

impl FusionState {
    /// Returns the state at the beginning of a program.
    pub fn new(fuel: Fuel) -> FusionState {
        FusionState { fuel: fuel.0.unwrap_or(u32::MAX), nested_masks: true, next_kernel: 0 }
    }
}

/// A part of fusion that can be looked at by itself.
#[derive(Clone, Copy)]
pub struct SubPass {
    /// The name for people.
    pub name: &'static str,
    /// One sentence about what the pass does.
    pub about: &'static str,
    /// Returns the body of a function after the pass.
    pub run: fn(&Function, &mut FusionState) -> Block,
}

/// The parts of fusion, in order.
pub const SUB_PASSES: [SubPass; 4] = [
    SubPass {
        name: "sink",
        about: "Sinks the consumers of a multi-versioned value into both versions.",
        run: sink::run,
    },
    SubPass {
        name: "cluster",
        about: "Puts steps over one index space into kernels.",
        run: cluster::run,
    },
    SubPass {
        name: "rematerialise",
        about: "Computes cheap values again in the kernels that use them.",
        run: rematerialise::run,
    },
    SubPass {
        name: "liveness",
        about: "Decides which values kernels store, and removes dead code.",
        run: liveness::run,
    },
];

/// Fuses a well-formed flat program without kernels.
pub fn fuse(program: &Program, fuel: Fuel) -> Program {
    fuse_through(program, fuel, SUB_PASSES.len())
}

/// Fuses a well-formed flat program without kernels by the first `count` sub-passes, for looking at
/// what each does. Only the result of all of them is a program to run.
pub fn fuse_through(program: &Program, fuel: Fuel, count: usize) -> Program {
    let mut state = FusionState::new(fuel);
    let mut fused = program.clone();
    for function in fused.functions.iter_mut().flatten() {
        let before = state.clone();
        let mut body = fused_body(function, &mut state, count);
        if asks_for_nested_indices(&body, &function.spaces) {
            state = FusionState { nested_masks: false, ..before };
            body = fused_body(function, &mut state, count);
            state.nested_masks = true;
        }
        function.body = body;
    }
    fused
}

fn fused_body(function: &Function, state: &mut FusionState, count: usize) -> Block {
    let mut function = function.clone();
    for pass in &SUB_PASSES[..count] {
        function.body = (pass.run)(&function, state);
    }
    function.body
}

/// Returns true if a kernel is to store the indices that a filter keeps within another filter, where
/// both are its masks: a kernel knows the indices in its own index space only.
fn asks_for_nested_indices(block: &Block, spaces: &[IndexSpace]) -> bool {
    with_stack(|| {
        block.steps.iter().any(|step| match step {
            Step::Space(_) => false,
            Step::Let(binding) => {
                binding.op.blocks().any(|inside| asks_for_nested_indices(inside, spaces))
            }
            Step::Kernel(kernel) => kernel.filter_indices.iter().any(|filter| {
                spaces[filter.0 as usize].around().is_some_and(|of| kernel.masks.contains(&of))
            }),
        })
    })
}

/// Returns the variable that an operand is.
fn variable(atom: Atom) -> Option<Var> {
    match atom {
        Atom::Var(var) => Some(var),
        Atom::Unit | Atom::Int(_) | Atom::Float(_) | Atom::Bool(_) | Atom::Char(_) => None,
    }
}
