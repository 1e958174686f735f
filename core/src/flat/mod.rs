//! Flat programs: what flattening makes of the core language.
//!
//! `data` describes them; [`print_with_sites()`] and [`parse()`] are inverse to each other, and
//! [`print()`] is easier to read; [`verify()`] is their law.

mod data;
mod op;
mod parse;
mod pass;
mod print;
mod verify;
mod walk;

pub use data::*;
pub use op::Op;
pub use parse::parse;
pub use pass::{Fuel, Pass};
pub use print::{print, print_function, print_located, print_with_sites};
pub use verify::verify;
pub(crate) use walk::{is_within, segments_of};
