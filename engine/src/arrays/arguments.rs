//! The arguments of launches as what they stand for: columns, counts and scalars of the program.

use nesl_runtime::bug;
use nesl_runtime::kir::Literal;
use nesl_runtime::runtime::{Arg, Buffer};
use nesl_runtime::scalar::Scalar;

/// Returns the buffer of a column.
pub(crate) fn array(column: &Arg) -> &Buffer {
    slice(column).0
}

/// Returns the buffer of a column and the index of its first element there.
pub(super) fn slice(column: &Arg) -> (&Buffer, usize) {
    match column {
        Arg::Array(buffer, at) => (buffer, *at),
        Arg::Scalar(_) => bug!("a column of a sequence is a scalar"),
    }
}

/// Returns an argument for a count, a length or an index.
pub(crate) fn number(x: usize) -> Arg {
    Arg::Scalar(Literal::I64(x as i64))
}

/// Returns the scalar that an argument is.
pub(crate) fn scalar(arg: &Arg) -> Scalar {
    match arg {
        Arg::Scalar(Literal::I32(x)) => Scalar::Int(i64::from(*x)),
        Arg::Scalar(Literal::I64(x)) => Scalar::Int(*x),
        Arg::Scalar(Literal::F32(x)) => Scalar::Float(f64::from(f32::from_bits(*x))),
        Arg::Scalar(Literal::F64(x)) => Scalar::Float(f64::from_bits(*x)),
        Arg::Scalar(Literal::Bool(x)) => Scalar::Bool(*x),
        Arg::Scalar(Literal::U8(x)) => Scalar::Char(*x),
        Arg::Array(..) => bug!("a scalar of the program is an array"),
    }
}

/// Returns the literal that an argument for a scalar is.
pub(super) fn literal(arg: &Arg) -> Literal {
    match arg {
        Arg::Scalar(literal) => *literal,
        Arg::Array(..) => bug!("a scalar of the program is an array"),
    }
}

/// Returns the int that an argument is.
pub(crate) fn int(arg: &Arg) -> i64 {
    match scalar(arg) {
        Scalar::Int(x) => x,
        other => bug!("{other:?} stands for an int"),
    }
}

/// Returns the count or length that an argument is.
pub(crate) fn length(arg: &Arg) -> usize {
    int(arg) as usize
}
