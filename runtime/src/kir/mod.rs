//! kir, the kernel IR: what runtimes execute.
//!
//! Backend-neutral and explicit: typed scalars and arrays of scalars, structured control, no
//! undefined behaviour left to a backend. Whoever makes kir has put in every check the language
//! asks for; whoever executes it may trust [`verify`].
//!
//! ```text
//! Module ── Function   called from bodies; may recurse; owns the arrays it allocates
//!        └─ Kernel     one launch: a Space, Stages of code run at each of its points, and Sinks
//!                      that combine what the points give (reduce, scan, pack, …)
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

mod build;
mod data;
mod mnemonic;
mod parse;
mod print;
mod verify;

pub mod reference;

pub use build::{Body, FunctionBuilder, KernelBuilder};
pub use data::*;
pub use parse::{ParseError, parse};
pub use print::print;
pub use verify::verify;
