//! The instruction set: types, the meaning of each arithmetic instruction, decoded kernels.
//!
//! The meaning of an arithmetic instruction is a function on *lanes*, the 32 values that one
//! register holds in one warp. A table from (instruction, type) to such a function is both the
//! list of the forms that PTX allows and their definition: what is not in the table is refused
//! when the text is decoded. [`code`] is what a decoded kernel consists of.

pub mod bits;
pub mod code;
pub mod compare;
pub mod convert;
pub mod float;
pub mod integer;
pub mod lanes;
pub mod types;
