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
//! The passes, in order ([`PASSES`]): `products` finds products and transposes of matrices, `hand_back` adds to
//! each loop what one thread executes until it has grown, `sink` sinks the consumers of a multi-versioned value into
//! both versions, `cluster` decides which step joins which kernel, `rematerialise` computes cheap values again where
//! they are used, instead of storing them, `liveness` decides which values are stored and removes dead code, and
//! `defer`, in the same pass, moves kernels to the version that alone reads what they store; `take_over`, too, removes
//! those that another kernel repeats. Each is a file of its name. [`sequential`] is fusion for the code that one
//! thread runs by itself.

mod cluster;
mod defer;
mod hand_back;
mod liveness;
mod products;
mod rematerialise;
pub mod sequential;
mod sink;
mod take_over;

use crate::base::with_stack;
use crate::flat::{self, Block, Fuel, Function, IndexSpace, Kernel, Pass, Program, Step};
use crate::thresholds::Thresholds;
use nesl_runtime::violation::Violation;

/// The state of fusion that the functions of a program share.
#[derive(Clone, Debug)]
pub struct FusionState {
    /// The number of decisions that may still be taken.
    fuel: u32,
    /// True if filters of what a filter keeps may be masks of the same kernel.
    nested_masks: bool,
    /// The number of the next kernel.
    next_kernel: u32,
    /// The number of operations up to which a value is computed again.
    max_rematerialised_operations: usize,
}

/// The passes that fuse a flat program without kernels, in order. After the last one there are no
/// values outside of kernels but those computed without touching elements, and control flow.
pub const PASSES: [Pass; 6] = [
    Pass {
        name: "find-products",
        stage: "products",
        title: "Products",
        about: "finds products and transposes of matrices",
        run: products::run,
        verify: flat::verify,
    },
    Pass {
        name: "hand-back",
        stage: "handed",
        title: "Handed back",
        about: "has one thread hand a loop back when its turns make much",
        run: hand_back::run,
        verify: flat::verify,
    },
    Pass {
        name: "sink",
        stage: "sunk",
        title: "Sunk",
        about: "sinks the consumers of a multi-versioned value into both versions",
        run: |program, fuel, limits| each_body(program, fuel, limits, sink::run),
        verify: flat::verify,
    },
    Pass {
        name: "cluster",
        stage: "clustered",
        title: "Clustered",
        about: "puts steps over one index space into kernels (vertical and horizontal fusion)",
        run: |program, fuel, limits| each_body(program, fuel, limits, clustered),
        verify: verify_when_stored,
    },
    Pass {
        name: "rematerialise",
        stage: "rematerialised",
        title: "Rematerialised",
        about: "computes cheap values again in the kernels that use them",
        run: |program, fuel, limits| each_body(program, fuel, limits, rematerialise::run),
        verify: verify_when_stored,
    },
    Pass {
        name: "liveness",
        stage: "fused",
        title: "Fused",
        about: "decides which values kernels store, and removes dead code",
        run: |program, fuel, limits| each_body(program, fuel, limits, stored),
        verify: flat::verify,
    },
];

/// Applies a pass to the body of each function.
fn each_body(
    program: &mut Program,
    fuel: &mut Fuel,
    limits: &Thresholds,
    pass: fn(&Function, &mut FusionState) -> Block,
) {
    let mut state = FusionState {
        fuel: fuel.0,
        nested_masks: true,
        next_kernel: 0,
        max_rematerialised_operations: limits.max_rematerialised_operations,
    };
    for function in program.functions.iter_mut().flatten() {
        function.body = pass(function, &mut state);
    }
    fuel.0 = state.fuel;
}

/// Returns the kernels of a function. A filter of what a filter keeps is a mask of the same kernel,
/// unless a kernel would have to store the indices that it keeps within the other.
fn clustered(function: &Function, state: &mut FusionState) -> Block {
    let before = state.clone();
    let body = cluster::run(function, state);
    if !has_nested_masks(&body, &function.spaces) {
        return body;
    }
    let mut trial = Function { body, ..function.clone() };
    let mut rest = state.clone();
    let rematerialised = rematerialise::run(&trial, &mut rest);
    let clustered = std::mem::replace(&mut trial.body, rematerialised);
    trial.body = liveness::run(&trial, &mut rest);
    if !asks_for_nested_indices(&trial.body, &function.spaces) {
        return clustered;
    }
    *state = FusionState { nested_masks: false, ..before };
    let body = cluster::run(function, state);
    state.nested_masks = true;
    body
}

/// Returns a function's kernels with the values that they store, each in the version that reads these, and once.
fn stored(function: &Function, state: &mut FusionState) -> Block {
    let mut body = liveness::run(function, state);
    defer::defer(&mut body, &function.spaces);
    take_over::take_over(&mut body, &function.spaces);
    body
}

/// Verifies a clustered program once its kernels store the values used after them: until then, no
/// invariant says what is visible behind a kernel.
fn verify_when_stored(program: &Program) -> Result<(), Vec<Violation>> {
    let mut program = program.clone();
    each_body(&mut program, &mut Fuel(0), &Thresholds::default(), liveness::run);
    flat::verify(&program)
}

/// Returns true if a kernel has a mask whose outer space is a mask of that kernel, too.
fn has_nested_masks(block: &Block, spaces: &[IndexSpace]) -> bool {
    any_kernel(block, &|kernel| {
        kernel.masks.iter().any(|mask| {
            spaces[mask.0 as usize].around().is_some_and(|of| kernel.masks.contains(&of))
        })
    })
}

/// Returns true if a kernel is to store the indices that a filter keeps within another filter, where
/// both are its masks: a kernel knows the indices in its own index space only.
fn asks_for_nested_indices(block: &Block, spaces: &[IndexSpace]) -> bool {
    any_kernel(block, &|kernel| {
        kernel.filter_indices.iter().any(|filter| {
            spaces[filter.0 as usize].around().is_some_and(|of| kernel.masks.contains(&of))
        })
    })
}

fn any_kernel(block: &Block, test: &dyn Fn(&Kernel) -> bool) -> bool {
    with_stack(|| {
        block.steps.iter().any(|step| match step {
            Step::Space(_) => false,
            Step::Let(binding) => binding.op.blocks().any(|inside| any_kernel(inside, test)),
            Step::Kernel(kernel) => test(kernel),
        })
    })
}
