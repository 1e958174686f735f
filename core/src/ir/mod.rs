//! The typed core language: first-order, monomorphic, A-normal.
//!
//! [`elaborate`](mod@crate::elaborate) makes these programs of typed syntax;
//! [`interp`](mod@crate::interp) is their meaning; [`simplify`](mod@crate::simplify) transforms
//! them and [`flatten`](mod@crate::flatten) removes their nesting.
//!
//! | file | contents |
//! |---|---|
//! | `data` | programs and functions |
//! | `op` | blocks, bindings and operations, with their properties |
//! | `value` | types, operands and ids |
//! | `product` | products and transposes of matrices, as what a value is known to be |
//! | `signature` | the types of operations, from those of their operands |
//! | `walk` | traversals, and small constructors |
//! | `builder` | [`FunctionBuilder`]: code with fresh variables and known types |
//! | `effects` | [`Effects`]: the functions and operations that have effects |
//! | `rng_keys` | [`split_rng_keys`]: the pass that makes random numbers pure |
//! | `print` | the text form, for people ([`print()`]) and exact ([`print_with_sites()`]) |
//! | `parse` | reads the exact text form back |
//! | `mnemonic` | the names of operations and faults in the text form |
//! | `verify` | checks that a program is well-formed |

mod builder;
mod data;
mod effects;
pub(crate) mod mnemonic;
mod op;
pub(crate) mod parse;
pub(crate) mod print;
pub mod product;
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
