//! Flat programs: what flattening makes of the core language.
//!
//! `data` describes them; [`print()`] writes them for people, [`verify()`] is their law.

mod data;
mod print;
mod verify;
mod walk;

pub use data::*;
pub use print::{print, print_function};
pub use verify::verify;
pub(crate) use walk::{is_within, segments_of};
