//! The NESL compiler, from text to programs a runtime can execute.
//!
//! Read the modules in this order; it is the way of the data, and a module imports only from
//! those above it (a test in `tests/tidy.rs` checks it):
//!
//! ```text
//! text ──syntax──▶ tokens, tree, ast ──names──▶ resolved ──types──▶ typed
//!      ──elaborate──▶ ir ──interp──▶ value
//! ir ──simplify──▶ ir ──script──▶ programs without effects, and what is done between them
//! ir ──simplify──▶ ir ──flatten──▶ flat ──fuse──▶ kernels ──lower──▶ kir
//! ```
//!
//! | module | what it does |
//! |---|---|
//! | [`base`] | names, places in the source, diagnostics |
//! | [`prim`] | the table of primitive operations |
//! | [`syntax`] | text → lossless tokens → tree → [`syntax::ast`]; the formatter |
//! | [`names`] | which definition a name means |
//! | [`types`] | inference, classes, schemes |
//! | [`ir`] | the typed, first-order, monomorphic, A-normal core language |
//! | [`elaborate`] | typed ast → ir: patterns, overloading, polymorphism and function values gone |
//! | [`interp`] | the direct interpreter: what a program means, and its work and depth |
//! | [`simplify`] | ir → ir: inlining, folding, what is not needed |
//! | [`mod@script`] | ir → what a host does, and the programs between |
//! | [`flat`] | flat programs: every value in a context, every step at all points of it |
//! | [`mod@flatten`] | ir → flat: nesting becomes contexts |
//! | [`mod@fuse`] | steps over one index space become kernels; fusion plans of sequential code |
//! | [`strategy`] | which form of a computation to run |
//! | [`lower`] | kernels, and the sequential code of one thread → kir, which runtimes execute |
//! | [`mod@link`] | programs whose top-level variables are given by other programs |
//! | [`db`] | all of it as incremental queries; alone in naming salsa |
//! | [`pipeline`] | the order of the passes, as a table; every stage as text |
//! | [`explain`] | the compiler explorer: a form at every stage, as plain data |
//! | [`ide`] | what an editor asks, as plain data |
//!
//! The crate is pure: no input or output, no clock, no device. What a program prints or reads
//! goes through [`interp::Host`].

pub mod base;
pub mod db;
pub mod elaborate;
pub mod explain;
pub mod flat;
pub mod flatten;
pub mod fuse;
pub mod host_program;
pub mod ide;
pub mod interp;
pub mod ir;
pub mod link;
pub mod lower;
pub mod names;
pub mod pipeline;
pub mod prelude;
pub mod prim;
pub mod simplify;
pub mod strategy;
pub mod syntax;
pub mod types;
