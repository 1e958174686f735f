//! The intrinsics of kir ([`Extern`](crate::kir::Extern)), as plain functions:
//! every runtime of the host, and the direct interpreter, call these.

pub mod groups;
pub mod product;
pub mod segments;
pub mod sort;
pub mod text;
pub mod transpose;
