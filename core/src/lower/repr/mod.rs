//! The representation of NESL values in kir.
//!
//! | file | contents |
//! |---|---|
//! | `layout` | type → the kir types of its parts, in order: structures of arrays |
//! | `value` | a value while code is generated for it: kir values, stored or fused sequences |
//! | `data` | a value in host memory ↔ the parts that are passed to a launch and returned by it |
//!
//! All three use the order of the parts that `layout` defines; a change of it must change all
//! three. Nothing here generates code.

mod data;
mod layout;
mod value;

pub use data::{HostPart, parts_of, value_of};
pub use layout::{columns, parts};

pub(super) use layout::{element_ty, scalar_ty};
pub(super) use value::{
    Column, Columns, FusedSequence, IndexFunction, LoweredSequence, LoweredValue, Room,
    StoredSequence, Views, columns_from_parts, next_part,
};

/// Reports a representation that does not belong to the type of its value.
///
/// Programs are type-checked before they are lowered, so such a representation is a bug of the
/// compiler.
#[cold]
#[track_caller]
pub(super) fn ill_typed(expected: &str) -> ! {
    nesl_runtime::bug!("lowering expected {expected}, as the type-checked program has there")
}
