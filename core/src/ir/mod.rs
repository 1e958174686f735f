//! The typed core language: first-order, monomorphic, A-normal.
//!
//! [`data`](self) describes it, `print` and `parse` are inverse to each other, and `verify` is
//! its law, run after every pass in debug builds.

mod builder;
mod data;
pub mod signature;
mod verify;
mod walk;

pub use builder::FunctionBuilder;
pub use data::*;
pub use verify::verify;
