//! The NESL compiler, from text to programs a runtime can execute.
//!
//! Read the modules in this order: it is the way of the data, and a module imports only from those
//! above it (`repl/tests/tidy.rs` checks it). [`pipeline`] has the order of the passes as a table.
//!
//! ```text
//! text ──syntax──▶ tokens, tree, ast ──names, types──▶ typed ast ──elaborate──▶ ir
//! ir ──simplify──▶ ir ──flatten──▶ flat ──fuse──▶ kernels ──lower──▶ kir
//! ir ──interp──▶ value
//! ir ──host_program──▶ effects in order, and pure regions between them
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`base`] | names, source positions, diagnostics |
//! | [`thresholds`] | the numbers that compilation and execution are tuned with |
//! | [`prim`] | the table of primitive operations, with their properties |
//! | [`syntax`] | text → lossless tokens → tree → [`syntax::ast`]; the formatter |
//! | [`names`] | name resolution |
//! | [`types`] | type inference, classes, schemes |
//! | [`ir`] | the typed, first-order, monomorphic core language in A-normal form |
//! | [`prelude`] | the part of the library that is written in NESL |
//! | [`elaborate`] | typed ast → ir: removes patterns, overloading, polymorphism, function values |
//! | [`interp`] | the direct interpreter: the meaning of ir, with work and depth |
//! | [`simplify`] | ir → ir: inlining, constant folding, dead code, reduce-by-key |
//! | [`mod@host_program`] | programs with effects as a schedule of effects and pure regions |
//! | [`flat`] | flat programs: index spaces, values in them, steps over all elements at once |
//! | [`mod@flatten`] | ir → flat: nesting becomes segmented index spaces |
//! | [`fuse`] | flat → flat: steps over one index space become kernels; plans of sequential code |
//! | [`strategy`] | where and in which version a computation runs |
//! | [`lower`] | kernels of flat programs, and sequential code → kir |
//! | [`mod@link`] | programs whose globals are defined by other programs |
//! | [`db`] | the front end as incremental queries; alone in naming salsa |
//! | [`pipeline`] | the table of passes; any stage as text |
//! | [`explain`] | the compiler explorer: a form at every stage, as plain data |
//! | [`ide`] | editor features at a cursor, as plain data |
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
pub mod thresholds;
pub mod types;
