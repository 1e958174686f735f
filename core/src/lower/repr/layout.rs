//! The kir types of the parts of a value, in order.
//!
//! A scalar is one kir value. A pair is the parts of its components. A sequence is its length and
//! its columns: one array for each scalar of an element (structure of arrays); where an element is
//! itself a sequence, an array of starts and one of lengths into a pool, the extent of the pool
//! (the number of elements it holds, whether a segment covers them or not), and the columns of the
//! pool. Segments may lie anywhere in the pool, so that taking, repeating and choosing subsequences
//! never copies elements.
//!
//! ```text
//! [(int, [char])]  →  length, [i64], starts [i64], lengths [i64], extent, [u8]
//! ```
//!
//! Source: the flat representation of nested sequences is that of Blelloch, *Vector Models for
//! Data-Parallel Computing* (1990), section 4.5, with starts in addition to lengths, as in
//! Lippmeier et al., *Work Efficient Higher-Order Vectorisation* (ICFP 2012), section 4.

use super::ill_typed;
use crate::base::with_stack;
use crate::ir::Ty;
use nesl_runtime::kir::{self, ValueTy};
use nesl_runtime::scalar::Precision;

/// Returns the kir types of the parts of a value, in order.
pub fn parts(ty: &Ty, precision: Precision) -> Vec<ValueTy> {
    let mut out = Vec::new();
    add_parts(ty, precision, &mut out);
    out
}

/// Returns the kir types of the columns of a sequence of `element`, in order.
pub fn columns(element: &Ty, precision: Precision) -> Vec<ValueTy> {
    let mut out = Vec::new();
    add_columns(element, precision, &mut out);
    out
}

/// Returns the kir type of a scalar.
pub(in crate::lower) fn scalar_ty(ty: &Ty, precision: Precision) -> kir::Ty {
    scalar(ty, precision).unwrap_or_else(|| ill_typed("a scalar"))
}

/// Returns the type of the elements of a sequence.
pub(in crate::lower) fn element_ty(ty: &Ty) -> &Ty {
    ty.element().unwrap_or_else(|| ill_typed("a sequence"))
}

fn scalar(ty: &Ty, precision: Precision) -> Option<kir::Ty> {
    Some(match (ty, precision) {
        (Ty::Int, Precision::Bits64) => kir::Ty::I64,
        (Ty::Int, Precision::Bits32) => kir::Ty::I32,
        (Ty::Float, Precision::Bits64) => kir::Ty::F64,
        (Ty::Float, Precision::Bits32) => kir::Ty::F32,
        (Ty::Bool, _) => kir::Ty::Bool,
        (Ty::Char, _) => kir::Ty::U8,
        (Ty::Unit | Ty::Pair(..) | Ty::Sequence(_), _) => return None,
    })
}

fn add_parts(ty: &Ty, precision: Precision, out: &mut Vec<ValueTy>) {
    with_stack(|| match ty {
        Ty::Unit => {}
        Ty::Pair(first, second) => {
            add_parts(first, precision, out);
            add_parts(second, precision, out);
        }
        Ty::Sequence(element) => {
            out.push(ValueTy::Scalar(kir::Ty::I64));
            add_columns(element, precision, out);
        }
        Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
            out.push(ValueTy::Scalar(scalar_ty(ty, precision)));
        }
    });
}

fn add_columns(element: &Ty, precision: Precision, out: &mut Vec<ValueTy>) {
    with_stack(|| match element {
        Ty::Unit => {}
        Ty::Pair(first, second) => {
            add_columns(first, precision, out);
            add_columns(second, precision, out);
        }
        Ty::Sequence(inner) => {
            out.push(ValueTy::Array(kir::Ty::I64));
            out.push(ValueTy::Array(kir::Ty::I64));
            out.push(ValueTy::Scalar(kir::Ty::I64));
            add_columns(inner, precision, out);
        }
        Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
            out.push(ValueTy::Array(scalar_ty(element, precision)));
        }
    });
}
