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
//! | module | what it does |
//! |---|---|
//! | `sink` | what joins values of which it is not known yet which kernel finds them |
//! | `cluster` | which step joins which kernel |
//! | `rematerialise` | what is computed again rather than stored |
//! | `liveness` | which values are used afterwards |

mod cluster;
mod liveness;
mod rematerialise;
pub mod sequential;
mod sink;

use crate::base::with_stack;
use crate::flat::{Block, Function, IndexSpace, Program, Step};

/// How many steps may join a kernel that is there, or be done again in one: all, or so many, to
/// find out which of them changes a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fuel(pub Option<u32>);

/// Fuses a flat program without kernels; the result has no values outside of kernels but those
/// that are computed without touching elements, and control flow.
pub fn fuse(program: &Program, fuel: Fuel) -> Program {
    let fuel = fuel.0.unwrap_or(u32::MAX);
    let mut state = cluster::State { fuel, nested: true, next: 0 };
    let mut fused = program.clone();
    for function in fused.functions.iter_mut().flatten() {
        let before = state.clone();
        let mut body = fused_body(function, &mut state);
        if asks_for_places_within(&body, &function.spaces) {
            state = cluster::State { nested: false, ..before };
            body = fused_body(function, &mut state);
            state.nested = true;
        }
        function.body = body;
    }
    fused
}

fn fused_body(function: &Function, state: &mut cluster::State) -> Block {
    let body = sink::moved(function, state);
    let body = cluster::block(&body, &function.spaces, state);
    let body = rematerialise::block(&body, &function.spaces, state);
    liveness::block(body, &function.spaces)
}

/// Whether somebody wants to know which of the points that a filter keeps another one keeps, where
/// both are masks of one kernel: that kernel only knows the places in what it goes over.
fn asks_for_places_within(block: &Block, spaces: &[IndexSpace]) -> bool {
    with_stack(|| {
        block.steps.iter().any(|step| match step {
            Step::Space(_) => false,
            Step::Let(binding) => {
                binding.op.blocks().any(|inside| asks_for_places_within(inside, spaces))
            }
            Step::Kernel(kernel) => kernel.filter_indices.iter().any(|place| {
                spaces[place.0 as usize].around().is_some_and(|of| kernel.masks.contains(&of))
            }),
        })
    })
}
