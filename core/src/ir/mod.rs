//! The typed core language: first-order, monomorphic, A-normal.
//!
//! `data` describes programs, and `op` declares the operations with their properties;
//! [`print_with_sites()`] and [`parse()`] are inverse to each other, and [`print()`] is easier to read;
//! [`verify()`] checks that a program is well-formed. [`FunctionBuilder`] builds functions; [`Effects`]
//! finds the parts with effects; [`split_rng_keys`] is the pass that makes random numbers pure.

mod builder;
mod data;
mod effects;
pub(crate) mod mnemonic;
mod op;
pub(crate) mod parse;
pub(crate) mod print;
mod rng_keys;
pub mod signature;
mod value;
mod verify;
mod walk;

pub use builder::FunctionBuilder;
pub use data::*;
pub use effects::Effects;
pub use op::{Block, Class, Let, Nest, Op};
pub use parse::parse;
pub use print::{print, print_function, print_located, print_with_sites};
pub use rng_keys::split_rng_keys;
pub use value::{Atom, FunId, GlobalId, Site, Ty, Var};
pub use verify::{verify, verify_function};
