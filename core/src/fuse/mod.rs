//! Steps over one context become kernels.
//!
//! Walking over a block, each step joins the last kernel over its context that comes after all it
//! needs, so producers meet their consumers (a value used by the same kernel is never stored),
//! siblings stand side by side, and reductions, scans and filters end kernels without breaking
//! them. The points that a filter keeps ([`SpaceKind::Filter`](crate::flat::SpaceKind::Filter)) are a mask in the kernel that computes
//! the flag: a reduction over them combines neutral elements for the others, and nothing is
//! packed unless somebody else needs it. A filter of what a filter keeps is a mask in the same
//! kernel, unless somebody asks which of these points it has. What only depends on how long a sequence is does not make
//! it be stored, and what a few cheap operations make of what is there is computed again.
//!
//! The idea is that of vertical and horizontal fusion over a graph of array operations (Robinson,
//! Lippmeier and Chakravarty, *Fusing filters with integer linear programming*, 2014; Bergstrom
//! and Reppy, *Nested data-parallelism on the GPU*, 2012); since spaces say what may be fused
//! with what, a greedy walk finds it.
//!
//! [`PASSES`] lists the passes; each is a file of its name (`store` is `liveness`).

mod cluster;
mod liveness;
mod rematerialise;
pub mod sequential;
mod sink;

use crate::base::with_stack;
use crate::flat::{self, Block, Fuel, Function, IndexSpace, Kernel, Pass, Program, Step};
use crate::ir::Atom;
use cluster::State;

/// The passes that fuse a flat program without kernels, in order. After the last one there are no
/// values outside of kernels but those computed without touching elements, and control flow.
pub const PASSES: [Pass; 4] = [
    Pass {
        name: "sink",
        stage: "sunk",
        title: "Sunk",
        about: "moves reductions of a multi-versioned value into both of its versions",
        run: |program, fuel| each_body(program, fuel, sink::moved),
        verify: flat::verify,
    },
    Pass {
        name: "cluster",
        stage: "clustered",
        title: "Clustered",
        about: "joins steps over one index space into kernels (vertical and horizontal fusion)",
        run: |program, fuel| each_body(program, fuel, clustered),
        verify: verify_when_stored,
    },
    Pass {
        name: "rematerialise",
        stage: "rematerialised",
        title: "Rematerialised",
        about: "computes cheap values again in each kernel that uses them, rather than storing them",
        run: |program, fuel| each_body(program, fuel, rematerialised),
        verify: verify_when_stored,
    },
    Pass {
        name: "store",
        stage: "fused",
        title: "Fused",
        about: "stores what is live after each kernel and removes dead code (liveness)",
        run: |program, _| store(program),
        verify: flat::verify,
    },
];

/// Applies a pass to the body of each function.
fn each_body(program: &mut Program, fuel: &mut Fuel, pass: fn(&Function, &mut State) -> Block) {
    let mut state = State { fuel: fuel.0, nested: true, next: 0 };
    for function in program.functions.iter_mut().flatten() {
        function.body = pass(function, &mut state);
    }
    fuel.0 = state.fuel;
}

/// Says of each kernel what it stores.
fn store(program: &mut Program) {
    for function in program.functions.iter_mut().flatten() {
        let empty = Block { steps: Vec::new(), result: Atom::Unit };
        let body = std::mem::replace(&mut function.body, empty);
        function.body = liveness::block(body, &function.spaces);
    }
}

/// The kernels of a function. A filter of what a filter keeps is a mask of the same kernel, unless
/// somebody asks which of the kept elements it keeps: a kernel only knows indices of the space that
/// it goes over.
fn clustered(function: &Function, state: &mut State) -> Block {
    let before = state.clone();
    let body = cluster::block(&function.body, &function.spaces, state);
    if !has_nested_masks(&body, &function.spaces) {
        return body;
    }
    let mut trial = state.clone();
    let stored = rematerialise::block(&body, &function.spaces, &mut trial);
    let stored = liveness::block(stored, &function.spaces);
    if !asks_for_places_within(&stored, &function.spaces) {
        return body;
    }
    *state = State { nested: false, ..before };
    let body = cluster::block(&function.body, &function.spaces, state);
    state.nested = true;
    body
}

fn rematerialised(function: &Function, state: &mut State) -> Block {
    rematerialise::block(&function.body, &function.spaces, state)
}

/// The violations of a clustered program once its kernels store what is used after them: until
/// then, no invariant says what is visible behind a kernel.
fn verify_when_stored(program: &Program) -> Vec<String> {
    let mut program = program.clone();
    store(&mut program);
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

/// Returns true if a kernel stores the indices that a nested mask keeps.
fn asks_for_places_within(block: &Block, spaces: &[IndexSpace]) -> bool {
    any_kernel(block, &|kernel| {
        kernel.filter_indices.iter().any(|mask| {
            spaces[mask.0 as usize].around().is_some_and(|of| kernel.masks.contains(&of))
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
