//! The vector instructions of the machine, as the analysis asks about them.

use nesl_runtime::kir::Ty;

/// Returns true if lanes are converted in their place where all vectors have the same number of lanes.
pub fn converts_in_place(from: Ty, to: Ty) -> bool {
    !(from.is_float() && matches!(to, Ty::U8 | Ty::Bool))
}

/// Returns true if vectors are converted from one type to another by vector instructions.
pub fn converts(from: Ty, to: Ty) -> bool {
    match (from, to) {
        (Ty::F64, Ty::I32 | Ty::U8 | Ty::Bool) => false,
        (Ty::F32, Ty::I64 | Ty::U8 | Ty::Bool) => false,
        (Ty::I64, Ty::F32) => false,
        (Ty::I32 | Ty::I64 | Ty::F32 | Ty::F64 | Ty::Bool | Ty::U8, _) => true,
    }
}
