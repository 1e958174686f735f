//! Fusion in sequential code: which sequences are not materialised, and which reductions share a
//! loop.
//!
//! Sequential code runs a whole function, or a nest that a kernel keeps, in one thread: nests and
//! operations on sequences become loops. This pass decides, before any code is generated, how these
//! loops are fused; [`lower`](mod@crate::lower) obeys. The decisions are a table beside the ir, a
//! [`SequentialPlan`], printed behind the ir's text by [`print()`] (the stage `loops`) and checked by
//! [`verify()`]:
//!
//! ```text
//! fn "main"(v0: [float], v1: [float]) -> (float, float) {        plan "main" {
//!   v2: [(float, float)] = each v3 in v0, v4 in v1 { … }            fuse v2
//!   v5: [float] = each v6 in v2 { … }                         →     fuse v5
//!   v7: float = reduce_sum(v5)                                      fuse v8
//!   v8: [float] = each v9 in v2 { … }                               loop over v2: v7 v10
//!   v10: float = reduce_sum(v8)                                   }
//!   …
//! ```
//!
//! * *Vertical* fusion ("fuse"): a sequence whose one consumer asks for the elements one by one is
//!   not materialised; the consumer's loop computes them. Its elements may fault only if its
//!   consumer asks for all of them, so that no fault is lost.
//! * *Horizontal* fusion ("loop"): reductions over one sequence, or over maps of it, share one loop
//!   with an accumulator for each.
//! * Filters of one sequence that must be in memory are stored by one loop ("filters").
//! * Gathers at a range of places within the sequence cannot fault ("within").
//! * An append whose one use is another append is stored in the result of that only ("part").
//! * A rank whose one use is to permute what it ranks is a sort ("sort").
//!
//! Sources: Robinson, Lippmeier and Chakravarty, *Fusing filters with integer linear programming*
//! (FHPC 2014), for vertical and horizontal fusion over a graph of array operations; Keller et al.,
//! *Regular, Shape-polymorphic, Parallel Arrays in Haskell* (ICFP 2010), section 4, for fused
//! sequences as index functions.
//!
//! | module | what it does |
//! |---|---|
//! | `plan` | the decisions, by one forward walk over a block |
//! | `ownership` | the arrays that may be overwritten, since nobody reads them any more |
//! | `shared_loop` | the reductions of a block that share a loop |
//! | `shared_filters` | the filters of a block that share a loop |
//! | `filtered_maps` | the maps that only a filter and its flags use |
//! | `bounds` | the gathers that cannot fault |
//! | `light_maps` | the maps that are computed again by each of their loops |
//! | `placed_rows` | the rows of tables that are computed where they are put |
//! | `appends` | the appends that are parts of others |
//! | `uses` | the number, the depth and the block of each variable's uses |
//! | `print` | the plans of a program as text behind its ir |
//! | `verify` | the invariants that a plan keeps |

mod appends;
mod bounds;
mod filtered_maps;
mod light_maps;
mod maths;
pub mod ownership;
mod placed_rows;
mod plan;
mod print;
mod shared_filters;
mod shared_loop;
mod uses;
mod verify;

pub use maths::{has_loops, is_plain, takes_maths};
pub use ownership::{BlockOwnership, Ownership};
pub use plan::SequentialPlan;
pub use print::{print, print_located};
pub use shared_filters::{FilterMember, SharedFilters};
pub use shared_loop::{LoopMember, SharedLoop};
pub use uses::is_handed_over;
pub use verify::{verify, verify_program};
