//! The typed core language: first-order, monomorphic, A-normal.
//!
//! [`data`](self) describes it, `print` and `parse` are inverse to each other, and `verify` is
//! its law, run after every pass in debug builds.

mod data;

pub use data::*;
