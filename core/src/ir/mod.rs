//! The typed core language: first-order, monomorphic, A-normal.
//!
//! [`data`](self) describes it, [`print`](fn@print) and [`parse`](fn@parse) are inverse to each
//! other, and [`verify`](fn@verify) is its law, run after every pass in debug builds.
//! [`FunctionBuilder`] writes it; [`keys`] is a pass over it.

mod builder;
mod data;
pub mod keys;
mod mnemonic;
mod parse;
mod print;
pub mod signature;
mod verify;
mod walk;

pub use builder::FunctionBuilder;
pub use data::*;
pub use parse::parse;
pub use print::{print, print_function};
pub use verify::verify;
