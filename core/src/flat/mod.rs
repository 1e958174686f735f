//! Flat programs, which flattening makes of programs of the core language.
//!
//! `space` is the model of index spaces, and `op` declares the operations with their properties;
//! [`print_with_sites()`] and [`parse()`] are inverse to each other, and [`print()`] is easier to read;
//! [`verify()`] checks that a program is well-formed; [`interp`] is the meaning of a program.

mod data;
pub mod interp;
mod op;
mod parse;
mod pass;
mod print;
mod space;
mod verify;
mod walk;

pub use data::*;
pub use op::{Block, Kernel, Let, Op, Step, Version};
pub use parse::parse;
pub use pass::{Fuel, Pass};
pub use print::{print, print_function, print_located, print_with_sites};
pub use space::{IndexSpace, SpaceId, SpaceKind};
pub use verify::verify;
pub(crate) use walk::{is_within, segments_of};
