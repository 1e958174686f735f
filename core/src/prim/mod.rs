//! The table of primitive operations: what cannot be said in NESL itself.
//!
//! Everything else of the library is NESL, in `core/prelude/`. A primitive's row gives its name,
//! its scheme in NESL's notation, its sort, doc, example and cost; names, types, hover, completion
//! and the book read the table.

mod table;

pub use table::{HostOp, Prim, PrimKind, PrimRow, ReduceOp, SeqOp};
