//! Flat programs, into which [`flatten`](mod@crate::flatten) transforms programs of the core
//! language.
//!
//! A flat program has no nested parallelism: its values belong to index spaces, and each step
//! computes a value for all elements of one. [`fuse`](mod@crate::fuse) groups the steps into
//! kernels.
//!
//! | file | contents |
//! |---|---|
//! | `space` | index spaces: the model, with an example. Read this first |
//! | `data` | programs and functions |
//! | `op` | blocks, steps and operations, with their properties |
//! | `rows` | operations that the array library has for the sequences of many elements at once |
//! | `walk` | traversals: uses, bindings, the tree of index spaces |
//! | `print` | the text form, for people ([`print()`]) and exact ([`print_with_sites()`]) |
//! | `parse` | reads the exact text form back |
//! | `verify` | checks that a program is well-formed |
//! | `interp` | the meaning of a program: an interpreter |
//! | `pass` | passes from flat programs to flat programs, as rows of a table |

mod data;
pub mod interp;
mod op;
mod parse;
mod pass;
mod print;
mod rows;
mod space;
mod verify;
mod walk;

pub use crate::ir::product::{Condition, Count, Factor, MatrixOperation, MatrixRows};
pub use data::*;
pub use op::{Block, Kernel, Let, Op, Step, Version};
pub use parse::parse;
pub use pass::{Fuel, Pass};
pub use print::{print, print_function, print_located, print_with_sites};
pub use rows::{RowsOperation, as_sort, is_half_of, rows_operation, rows_step};
pub use space::{IndexSpace, SpaceId, SpaceKind};
pub use verify::verify;
pub(crate) use walk::{is_within, segments_of};
