//! kir, the kernel IR: what runtimes execute.
//!
//! Backend-neutral and explicit: typed scalars and arrays of scalars, structured control, no
//! undefined behaviour left to a backend. The maker of kir inserts every check that the language
//! asks for; a runtime may trust [`verify`](verify()).
//!
//! ```text
//! Module ── Function   called from bodies; may recurse; owns the arrays it allocates
//!        └─ Kernel     one launch: an index Space, Stages of code executed for each index, and
//!                      Sinks: collective operations on their values (reduce, scan, pack, …)
//! ```
//!
//! A dot product, as [`print`](print()) shows it:
//!
//! ```text
//! kernel "dot"(v0: [f64], v1: [f64], v2: i64, v3: [f64]) over flat v2 at v4 {
//!   v5: f64 = load v0[v4]
//!   v6: f64 = load v1[v4]
//!   v7: f64 = mul v5, v6
//!   reduce add v7 -> v3
//! }
//! ```
//!
//! The interpreter in [`mod@reference`] is its meaning.
//!
//! | to make kir | to analyse it |
//! |---|---|
//! | [`Body`], [`KernelBuilder`], [`FunctionBuilder`] | [`walk`]: traversals, renaming |
//! | [`parse`](parse()), [`print`](print()), [`verify`](verify()) | [`facts`]: recursion, allocation, work |
//! | [`inline`]: small functions become part of their callers | [`liveness`]: what a pass over the elements needs |
//! | [`simplify`]: dead marks go | [`alias`]: independent iterations |
//! | [`loops`]: loops over arrays carry less and copy before they begin | |
//! | [`unroll`], [`small_arrays`]: short loops become their iterations, and short arrays their elements | |
//! | [`common_subexpressions`]: values that are known are not computed again | |
//! | [`ranges`], `differences`, [`division`]: checks that cannot fail and divisions go | |
//! | [`narrow_ints`]: ints of 32 bits where numbers are small | |
//! | [`early_exit`]: tests of all elements end early | |
//! | | [`written`]: the arrays that code may read and write |
//! | | [`uniformity`], [`access`], [`lane_widths`], [`pressure`], [`vectorize`]: neighbouring elements together |
//! | | [`joined_checks`]: tests that decide for several checks of neighbouring elements |
//! | | [`index_sets`]: the elements for which conditions at borders are known |

pub mod access;
pub mod alias;
mod build;
pub mod common_subexpressions;
mod data;
mod differences;
pub mod division;
pub mod early_exit;
pub mod facts;
pub mod hoist;
pub mod index_sets;
pub mod inline;
mod intrinsic;
pub mod joined_checks;
pub mod lane_widths;
pub mod liveness;
pub mod loops;
mod mnemonic;
pub mod narrow_ints;
mod op;
mod operator;
mod parse;
pub mod pressure;
mod print;
pub mod ranges;
pub mod simplify;
mod sink;
pub mod small_arrays;
pub mod uniformity;
pub mod unroll;
mod value;
pub mod vectorize;
mod verify;
pub mod walk;
pub mod written;

pub mod reference;

pub use build::{Body, FunctionBuilder, KernelBuilder};
pub use data::{Function, Kernel, Module, Space, Stage};
pub use intrinsic::Extern;
pub use op::{Block, Class, Inst, Op};
pub use operator::{Binary, Combine, Unary};
pub use parse::{ParseError, parse};
pub use print::print;
pub use sink::{Scope, Sink};
pub use value::{FunctionId, Literal, Output, Site, Ty, Value, ValueTy};
pub use verify::verify;
