//! The scalar types, constants and names of kir.

use crate::bug::OrBug;
use std::fmt;

/// A scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ty {
    /// 32-bit two's complement.
    I32,
    /// 64-bit two's complement; also lengths and indices, at either precision.
    I64,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
    /// A truth value; a byte, 0 or 1, in memory.
    Bool,
    /// A char, as its code of 8 bits.
    U8,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueTy {
    /// A scalar of this type.
    Scalar(Ty),
    /// The address of a contiguous array of this element type; its length is not part of it.
    Array(Ty),
    /// An earlier top of the thread's memory ([`Op::Mark`](super::Op::Mark)).
    Mark,
}

/// A value of a function or kernel: an index into its table of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

/// A function: an index into [`Module::functions`](super::Module::functions).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// A failure site: a number that the maker of the module maps to a source location and message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site(pub u32);

/// A constant. Floats are kept as their bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of the types")]
pub enum Literal {
    I32(i32),
    I64(i64),
    F32(u32),
    F64(u64),
    Bool(bool),
    U8(u8),
}

/// An output: an array whose length the launch computes; an index into
/// [`Kernel::outputs`](super::Kernel::outputs).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Output(pub u32);

impl Ty {
    /// The size of an element in memory, in bytes.
    pub fn size(self) -> usize {
        match self {
            Ty::I32 | Ty::F32 => 4,
            Ty::I64 | Ty::F64 => 8,
            Ty::Bool | Ty::U8 => 1,
        }
    }

    /// Returns true for `f32` and `f64`.
    pub fn is_float(self) -> bool {
        matches!(self, Ty::F32 | Ty::F64)
    }

    /// Returns true for `i32` and `i64`.
    pub fn is_int(self) -> bool {
        matches!(self, Ty::I32 | Ty::I64)
    }
}

impl ValueTy {
    /// Returns true for arrays of any element type.
    pub fn is_array(self) -> bool {
        matches!(self, ValueTy::Array(_))
    }
}

impl Literal {
    /// The type of the constant.
    pub fn ty(self) -> Ty {
        match self {
            Literal::I32(_) => Ty::I32,
            Literal::I64(_) => Ty::I64,
            Literal::F32(_) => Ty::F32,
            Literal::F64(_) => Ty::F64,
            Literal::Bool(_) => Ty::Bool,
            Literal::U8(_) => Ty::U8,
        }
    }

    /// Reads a constant from the first bytes of a slice, in the machine's byte order.
    ///
    /// # Panics
    /// If there are fewer bytes than the type has.
    pub fn from_bytes(ty: Ty, bytes: &[u8]) -> Literal {
        let word = || *bytes.first_chunk::<4>().or_bug("a literal of 32 bits has four bytes");
        let double = || *bytes.first_chunk::<8>().or_bug("a literal of 64 bits has eight bytes");
        match ty {
            Ty::I32 => Literal::I32(i32::from_ne_bytes(word())),
            Ty::I64 => Literal::I64(i64::from_ne_bytes(double())),
            Ty::F32 => Literal::F32(u32::from_ne_bytes(word())),
            Ty::F64 => Literal::F64(u64::from_ne_bytes(double())),
            Ty::Bool => Literal::Bool(bytes[0] != 0),
            Ty::U8 => Literal::U8(bytes[0]),
        }
    }

    /// The bytes of the constant, in the machine's byte order.
    pub fn to_bytes(self) -> Vec<u8> {
        match self {
            Literal::I32(x) => x.to_ne_bytes().to_vec(),
            Literal::I64(x) => x.to_ne_bytes().to_vec(),
            Literal::F32(bits) => bits.to_ne_bytes().to_vec(),
            Literal::F64(bits) => bits.to_ne_bytes().to_vec(),
            Literal::Bool(x) => vec![u8::from(x)],
            Literal::U8(x) => vec![x],
        }
    }

    /// 0, 0.0, false or the char of code 0.
    pub fn zero(ty: Ty) -> Literal {
        match ty {
            Ty::I32 => Literal::I32(0),
            Ty::I64 => Literal::I64(0),
            Ty::F32 => Literal::F32(0),
            Ty::F64 => Literal::F64(0),
            Ty::Bool => Literal::Bool(false),
            Ty::U8 => Literal::U8(0),
        }
    }
}

impl fmt::Debug for Literal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Literal::I32(x) => write!(out, "{x}i32"),
            Literal::I64(x) => write!(out, "{x}i64"),
            Literal::F32(x) => write!(out, "{:?}f32", f32::from_bits(x)),
            Literal::F64(x) => write!(out, "{:?}f64", f64::from_bits(x)),
            Literal::Bool(x) => write!(out, "{x}"),
            Literal::U8(x) => write!(out, "{x}u8"),
        }
    }
}
