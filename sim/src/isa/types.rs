//! The scalar types of PTX: their names, widths and kinds.

use std::fmt;

/// A scalar type as PTX spells it, without the dot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A predicate: one bit per lane.
    Pred,
    /// 8 bits without interpretation.
    B8,
    /// 16 bits without interpretation.
    B16,
    /// 32 bits without interpretation.
    B32,
    /// 64 bits without interpretation.
    B64,
    /// Unsigned 8-bit integer.
    U8,
    /// Unsigned 16-bit integer.
    U16,
    /// Unsigned 32-bit integer.
    U32,
    /// Unsigned 64-bit integer.
    U64,
    /// Signed 8-bit integer.
    S8,
    /// Signed 16-bit integer.
    S16,
    /// Signed 32-bit integer.
    S32,
    /// Signed 64-bit integer.
    S64,
    /// A float of 32 bits (IEEE binary32).
    F32,
    /// A float of 64 bits (IEEE binary64).
    F64,
}

/// All types with their names.
const NAMES: [(Type, &str); 15] = [
    (Type::Pred, "pred"),
    (Type::B8, "b8"),
    (Type::B16, "b16"),
    (Type::B32, "b32"),
    (Type::B64, "b64"),
    (Type::U8, "u8"),
    (Type::U16, "u16"),
    (Type::U32, "u32"),
    (Type::U64, "u64"),
    (Type::S8, "s8"),
    (Type::S16, "s16"),
    (Type::S32, "s32"),
    (Type::S64, "s64"),
    (Type::F32, "f32"),
    (Type::F64, "f64"),
];

impl Type {
    /// Returns the type with this name, written without its dot.
    pub fn parse(name: &str) -> Option<Type> {
        NAMES.iter().find(|(_, known)| *known == name).map(|(ty, _)| *ty)
    }

    /// Returns the width in bytes; a predicate counts as one.
    pub fn bytes(self) -> usize {
        match self {
            Type::Pred | Type::B8 | Type::U8 | Type::S8 => 1,
            Type::B16 | Type::U16 | Type::S16 => 2,
            Type::B32 | Type::U32 | Type::S32 | Type::F32 => 4,
            Type::B64 | Type::U64 | Type::S64 | Type::F64 => 8,
        }
    }

    /// Returns true for the signed integers.
    pub fn is_signed(self) -> bool {
        matches!(self, Type::S8 | Type::S16 | Type::S32 | Type::S64)
    }

    /// Returns true for `f32` and `f64`.
    pub fn is_float(self) -> bool {
        matches!(self, Type::F32 | Type::F64)
    }

    /// Returns true for the untyped bits, which go with both integers and floats.
    pub fn is_bits(self) -> bool {
        matches!(self, Type::B8 | Type::B16 | Type::B32 | Type::B64)
    }

    /// Returns the mask of the bits that a register of this type holds.
    pub fn mask(self) -> u64 {
        width_mask(self.bytes())
    }
}

/// Returns a mask of the low `bytes` bytes.
pub fn width_mask(bytes: usize) -> u64 {
    if bytes >= 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.iter().find(|(ty, _)| ty == self).map_or("?", |(_, name)| name);
        write!(f, ".{name}")
    }
}
