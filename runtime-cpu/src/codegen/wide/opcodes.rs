//! The opcodes of the instructions in use.

use super::encode::{Legacy, Opcode};

const fn op(map: u8, prefix: u8, w: u8, byte: u8) -> Opcode {
    Opcode { map, prefix, w: w != 0, byte }
}

/// An opcode of floats: `wide` for `f64`, `vector` for all lanes.
pub fn float(byte: u8, wide: bool, vector: bool) -> Opcode {
    let prefix = match (wide, vector) {
        (true, true) => 1,
        (false, true) => 0,
        (true, false) => 3,
        (false, false) => 2,
    };
    op(1, prefix, u8::from(wide), byte)
}

/// Addition of floats.
pub const ADD: u8 = 0x58;
/// Subtraction of floats.
pub const SUB: u8 = 0x5c;
/// Multiplication of floats.
pub const MUL: u8 = 0x59;
/// Division of floats.
pub const DIV: u8 = 0x5e;
/// Minimum of floats.
pub const MIN: u8 = 0x5d;
/// Maximum of floats.
pub const MAX: u8 = 0x5f;
/// Square root of floats.
pub const SQRT: u8 = 0x51;
/// Comparison of floats, into a mask.
pub const COMPARE: u8 = 0xc2;

/// `dst := a × dst + b`, rounded once.
pub fn fma(wide: bool, vector: bool) -> Opcode {
    op(2, 1, u8::from(wide), if vector { 0xa8 } else { 0xa9 })
}

/// `dst := dst × b + a`, rounded once: the factor may be in memory.
pub fn fma_by(wide: bool, vector: bool) -> Opcode {
    op(2, 1, u8::from(wide), if vector { 0x98 } else { 0x99 })
}

/// Rounding to an integer.
pub fn round(wide: bool, vector: bool) -> Opcode {
    let byte = match (wide, vector) {
        (true, true) => 0x09,
        (false, true) => 0x08,
        (true, false) => 0x0b,
        (false, false) => 0x0a,
    };
    op(3, 1, u8::from(wide), byte)
}

/// Comparison of integers of these bits, into a mask; signed or not.
pub fn compare_ints(bits: u32, signed: bool) -> Option<Opcode> {
    let byte = |byte: u8| if signed { byte } else { byte - 1 };
    Some(match bits {
        64 => op(3, 1, 1, byte(0x1f)),
        32 => op(3, 1, 0, byte(0x1f)),
        8 => op(3, 1, 0, byte(0x3f)),
        _ => return None,
    })
}

/// The bits that are set in both.
pub const AND: Opcode = op(1, 1, 1, 0xdb);
/// The bits that are set in one.
pub const OR: Opcode = op(1, 1, 1, 0xeb);
/// The bits that differ.
pub const XOR: Opcode = op(1, 1, 1, 0xef);
/// Any function of three bits.
pub const TERNARY: Opcode = op(3, 1, 1, 0x25);

/// An opcode whose lanes are of 64 bits, or of 32.
pub fn by_lane(code: Opcode, wide: bool) -> Opcode {
    Opcode { w: wide, ..code }
}

/// Addition of integers.
pub fn add_ints(wide: bool) -> Opcode {
    if wide { op(1, 1, 1, 0xd4) } else { op(1, 1, 0, 0xfe) }
}
/// Subtraction of integers.
pub fn sub_ints(wide: bool) -> Opcode {
    if wide { op(1, 1, 1, 0xfb) } else { op(1, 1, 0, 0xfa) }
}
/// Low half of the product of integers.
pub const MUL_INTS: Opcode = op(2, 1, 1, 0x40);
/// Product, of 64 bits, of the lower halves of lanes of 64 bits, taken without sign.
pub const MUL_HALVES: Opcode = op(1, 1, 1, 0xf4);
/// Absolute value of integers.
pub fn abs_ints(wide: bool) -> Opcode {
    if wide { op(2, 1, 1, 0x1f) } else { op(2, 1, 0, 0x1e) }
}
/// Minimum of signed integers.
pub const MIN_SIGNED: Opcode = op(2, 1, 1, 0x39);
/// Minimum of unsigned integers.
pub const MIN_UNSIGNED: Opcode = op(2, 1, 1, 0x3b);
/// Maximum of signed integers.
pub const MAX_SIGNED: Opcode = op(2, 1, 1, 0x3d);
/// Maximum of unsigned integers.
pub const MAX_UNSIGNED: Opcode = op(2, 1, 1, 0x3f);

/// A shift of vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    /// To the left.
    Left,
    /// To the right, zeros from the left.
    Right,
    /// To the right, copies of the sign from the left.
    RightSigned,
}

/// A shift by a number in a vector register.
pub fn shift(shift: Shift, wide: bool) -> Opcode {
    let byte = match (shift, wide) {
        (Shift::Left, false) => 0xf2,
        (Shift::Left, true) => 0xf3,
        (Shift::Right, false) => 0xd2,
        (Shift::Right, true) => 0xd3,
        (Shift::RightSigned, _) => 0xe2,
    };
    op(1, 1, u8::from(wide), byte)
}

/// A shift by a constant, and its digit.
pub fn shift_by_constant(shift: Shift, wide: bool) -> (Opcode, u8) {
    let (byte, digit) = match (shift, wide) {
        (Shift::Left, false) => (0x72, 6),
        (Shift::Left, true) => (0x73, 6),
        (Shift::Right, false) => (0x72, 2),
        (Shift::Right, true) => (0x73, 2),
        (Shift::RightSigned, _) => (0x72, 4),
    };
    (op(1, 1, u8::from(wide), byte), digit)
}

/// Selection between lanes by a mask.
pub const BLEND: Opcode = op(2, 1, 1, 0x64);
/// The mask as lanes of ones or zeros.
pub const MASK_TO_LANES: Opcode = op(2, 2, 1, 0x38);
/// The signs of lanes as a mask.
pub const LANES_TO_MASK: Opcode = op(2, 2, 1, 0x39);
/// The mask of lanes that have common bits.
pub const TEST: Opcode = op(2, 1, 1, 0x27);
/// One lane in all lanes.
pub fn broadcast(wide: bool) -> Opcode {
    if wide { op(2, 1, 1, 0x59) } else { op(2, 1, 0, 0x58) }
}
/// A general register in all lanes.
pub const BROADCAST_GENERAL: Opcode = op(2, 1, 1, 0x7c);
/// A general register of 8 bits in all lanes.
pub const BROADCAST_BYTE: Opcode = op(2, 1, 0, 0x7a);
/// Lanes of a vector of at least 256 bits, chosen by the numbers in another.
pub const PERMUTE: Opcode = op(2, 1, 1, 0x36);
/// Lanes of 32 bits of a vector of 128 bits, chosen by a constant.
pub const PERMUTE_SHORT: Opcode = op(1, 1, 0, 0x70);
/// A vector rotated by lanes.
pub const ALIGN: Opcode = op(3, 1, 1, 0x03);
/// A vector with another in its upper half: of 256 bits, if `wide`, or of 128.
pub fn insert_half(wide: bool) -> Opcode {
    op(3, 1, 1, if wide { 0x3a } else { 0x38 })
}

/// The upper half of a vector: of 512 bits, or of 256.
pub fn upper_half(whole: bool) -> Opcode {
    if whole { op(3, 1, 1, 0x3b) } else { op(3, 1, 0, 0x39) }
}
/// A general register to the lowest lane.
pub const FROM_GENERAL: Opcode = op(1, 1, 1, 0x6e);
/// The lowest lane to a general register.
pub const TO_GENERAL: Opcode = op(1, 1, 1, 0x7e);
/// The lanes of a mask next to each other.
pub const COMPRESS: Opcode = op(2, 1, 1, 0x8b);
/// 64 bits from a register or memory, zeros above.
pub const LOAD_64: Opcode = op(1, 2, 1, 0x7e);
/// 64 bits to memory.
pub const STORE_64: Opcode = op(1, 1, 1, 0xd6);
/// A vector from a register or memory.
pub const LOAD: Opcode = op(1, 2, 1, 0x6f);
/// A vector to memory.
pub const STORE: Opcode = op(1, 2, 1, 0x7f);
/// A float from memory.
pub const LOAD_FLOAT: u8 = 0x10;
/// A float to memory.
pub const STORE_FLOAT: u8 = 0x11;

/// Extension of integer lanes from some bits to others.
pub fn extend(from: u32, to: u32, signed: bool) -> Option<Opcode> {
    let byte = match (from, to) {
        (8, 32) => 0x21,
        (8, 64) => 0x22,
        (32, 64) => 0x25,
        _ => return None,
    };
    Some(op(2, 1, 0, if signed { byte } else { byte + 0x10 }))
}

/// Truncation of integer lanes from some bits to others.
pub fn truncate(from: u32, to: u32) -> Option<Opcode> {
    let byte = match (from, to) {
        (32, 8) => 0x31,
        (64, 8) => 0x32,
        (64, 32) => 0x35,
        _ => return None,
    };
    Some(op(2, 2, 0, byte))
}

/// Conversion of signed integers of some bits to floats.
pub fn from_ints(from_wide: bool, to_wide: bool) -> Opcode {
    match (from_wide, to_wide) {
        (false, true) => op(1, 2, 0, 0xe6),
        (true, true) => op(1, 2, 1, 0xe6),
        (false, false) => op(1, 0, 0, 0x5b),
        (true, false) => op(1, 0, 1, 0x5b),
    }
}

/// Conversion of floats to signed integers, truncated.
pub fn to_ints(from_wide: bool, to_wide: bool) -> Opcode {
    match (from_wide, to_wide) {
        (true, true) => op(1, 1, 1, 0x7a),
        (false, true) => op(1, 1, 0, 0x7a),
        (true, false) => op(1, 1, 1, 0xe6),
        (false, false) => op(1, 2, 0, 0x5b),
    }
}

/// Conversion of `f32` lanes to `f64`.
pub const PROMOTE: Opcode = op(1, 0, 0, 0x5a);
/// Conversion of `f64` lanes to `f32`.
pub const DEMOTE: Opcode = op(1, 1, 1, 0x5a);

/// Conversion of a general register to a float: of 64 bits if `from_wide`.
pub fn from_general(from_wide: bool, to_wide: bool) -> Opcode {
    op(1, if to_wide { 3 } else { 2 }, u8::from(from_wide), 0x2a)
}

/// Equality of integer lanes of these bits, as lanes of ones or zeros (AVX2).
pub fn equal_lanes(bits: u32) -> Option<Opcode> {
    Some(match bits {
        64 => op(2, 1, 0, 0x29),
        32 => op(1, 1, 0, 0x76),
        8 => op(1, 1, 0, 0x74),
        _ => return None,
    })
}
/// Comparison of signed integer lanes of 64 bits, as lanes of ones where the first is greater (AVX2).
pub const GREATER_WIDE: Opcode = op(2, 1, 0, 0x37);
/// Comparison of signed integer lanes of these bits, as lanes of ones where the first is greater (AVX2).
pub fn greater_lanes(bits: u32) -> Option<Opcode> {
    Some(match bits {
        64 => GREATER_WIDE,
        32 => op(1, 1, 0, 0x66),
        8 => op(1, 1, 0, 0x64),
        _ => return None,
    })
}
/// The bits of the second operand that are not in the first (AVX2).
pub const AND_NOT: Opcode = op(1, 1, 0, 0xdf);
/// Selection between bytes by the signs of those of a third vector (AVX2).
pub const BLEND_BYTES: Opcode = op(3, 1, 0, 0x4c);
/// Selection between lanes by the signs of those of a third vector (AVX2).
pub fn blend_by_sign(wide: bool) -> Opcode {
    op(3, 1, 0, if wide { 0x4b } else { 0x4a })
}
/// Selection between lanes of 32 bits by a constant (AVX2).
pub const BLEND_BY_CONSTANT: Opcode = op(3, 1, 0, 0x02);
/// Tests if two vectors have common bits (AVX2).
pub const TEST_LANES: Opcode = op(2, 1, 0, 0x17);
/// The signs of lanes of these bits as bits of a general register (AVX2).
pub fn signs(bits: u32) -> Option<Opcode> {
    Some(match bits {
        64 => op(1, 1, 0, 0x50),
        32 => op(1, 0, 0, 0x50),
        8 => op(1, 1, 0, 0xd7),
        _ => return None,
    })
}
/// Bytes of each 128 bits, chosen by those of another vector (AVX2).
pub const SHUFFLE_BYTES: Opcode = op(2, 1, 0, 0x00);
/// Lanes of 64 bits of a vector of 256 bits, chosen by a constant (AVX2).
pub const PERMUTE_WIDE: Opcode = op(3, 1, 1, 0x00);
/// A lane of 32 bits in a place, zeros in others, by a constant (AVX2).
pub const INSERT_FLOAT: Opcode = op(3, 1, 0, 0x21);
/// The lowest lanes of 64 bits of two vectors of 128 bits (AVX2).
pub const LOWER_TOGETHER: Opcode = op(1, 1, 0, 0x6c);
/// A general register in a lane of a vector of 128 bits (AVX2).
pub fn insert_general(wide: bool) -> Opcode {
    op(3, 1, u8::from(wide), 0x22)
}
/// A byte of a vector of 128 bits to a general register (AVX2).
pub const BYTE_TO_GENERAL: Opcode = op(3, 1, 0, 0x14);
/// A general register's byte in all lanes: from the lowest one of a vector (AVX2).
pub const BROADCAST_LOWEST_BYTE: Opcode = op(2, 1, 0, 0x78);
/// Conversion of an `f64`, truncated, to a general register of 64 bits (AVX2).
pub const TO_GENERAL_INT: Opcode = op(1, 3, 1, 0x2c);
/// Selection between lanes of 16 bits by a constant (AVX2).
pub const BLEND_WORDS: Opcode = op(3, 1, 0, 0x0e);

/// The common bits of two masks (VEX).
pub const MASK_AND: Opcode = op(1, 0, 0, 0x41);
/// The bits of the second mask that are not in the first (VEX).
pub const MASK_AND_NOT: Opcode = op(1, 0, 0, 0x42);
/// The bits of either mask (VEX).
pub const MASK_OR: Opcode = op(1, 0, 0, 0x45);
/// The bits in which masks differ (VEX).
pub const MASK_XOR: Opcode = op(1, 0, 0, 0x47);
/// The negation of a mask of 8 bits (VEX).
pub const MASK_NOT_8: Opcode = op(1, 1, 0, 0x44);
/// The negation of a mask of 16 bits (VEX).
pub const MASK_NOT_16: Opcode = op(1, 0, 0, 0x44);
/// Tests if a mask of 16 bits is 0 (VEX).
pub const MASK_TEST: Opcode = op(1, 0, 0, 0x98);
/// A mask from a mask, or from memory (VEX).
pub const MASK_LOAD: Opcode = op(1, 0, 1, 0x90);
/// A mask to memory (VEX).
pub const MASK_STORE: Opcode = op(1, 0, 1, 0x91);
/// A mask from a general register (VEX).
pub const MASK_FROM_GENERAL: Opcode = op(1, 3, 0, 0x92);
/// A mask to a general register (VEX).
pub const MASK_TO_GENERAL: Opcode = op(1, 3, 0, 0x93);
/// The bits of a general register below the number in another; the others become 0 (VEX).
pub const LOW_BITS: Opcode = op(2, 0, 0, 0xf5);
/// A shift of a general register by another (VEX).
pub fn shift_general(shift: Shift, wide: bool) -> Opcode {
    let prefix = match shift {
        Shift::Left => 1,
        Shift::Right => 3,
        Shift::RightSigned => 2,
    };
    op(2, prefix, u8::from(wide), 0xf7)
}

/// An instruction on general registers without escape byte.
pub const fn plain(byte: u8, w: bool) -> Legacy {
    Legacy { prefix: 0, escape: 0, byte, w, byte_operand: false }
}

/// An instruction on general registers with one escape byte.
pub const fn escaped(byte: u8, w: bool) -> Legacy {
    Legacy { prefix: 0, escape: 1, byte, w, byte_operand: false }
}

/// An instruction on general registers with a prefix and one escape byte.
pub const fn prefixed(prefix: u8, byte: u8, w: bool) -> Legacy {
    Legacy { prefix, escape: 1, byte, w, byte_operand: false }
}
