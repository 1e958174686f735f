//! The typed core language: first-order, monomorphic, A-normal.
//!
//! `data` describes it; [`print()`] shows it; [`verify()`] is its law, checked before a program runs
//! in debug builds; [`thread_keys`] is the pass that makes random numbers pure.

mod builder;
mod data;
mod keys;
mod print;
pub mod signature;
mod verify;
mod walk;

pub use builder::FunctionBuilder;
pub use data::*;
pub use keys::thread_keys;
pub use print::{print, print_function, print_type};
pub use verify::verify;
