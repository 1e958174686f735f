//! PTX text → decoded module.
//!
//! The subset is what a code generator emits; `docs` of the crate lists it. Everything else is
//! refused with the line and its text, never ignored: a modifier that no decoder takes, a register
//! of the wrong width, a name that is not declared.
//!
//! [`token`] cuts the text, [`module`] reads declarations and kernels, [`names`] knows what is
//! declared, [`statement`] reads one instruction as modifiers and operands, and [`decode`] turns
//! it into an operation of [`crate::isa::code`].

mod declare;
mod decode;
mod error;
mod module;
mod names;
mod statement;
mod token;

pub use error::PtxError;
pub use module::parse;
