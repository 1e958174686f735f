//! The order of keys as unsigned *order words*, and the digits of these.
//!
//! A sort moves the keys' own bits, and computes the word of a key whenever it needs a digit: so the
//! signs of zeros and the bits of NaNs, which words do not show, stay with their keys. Words are
//! those of [`nesl_runtime::services::sort`]:
//!
//! | keys | word, ascending |
//! |---|---|
//! | `u8` | the key |
//! | ints | the sign bit flipped |
//! | floats | a zero as 0.0; the sign bit flipped, of negative ones all bits; of a NaN all ones |
//!
//! Descending, all bits of the word are flipped, save of a NaN, which is last in either direction.

use super::code::value;
use crate::emit::assembly::{Assembly, Class, Reg, emit};
use nesl_runtime::kir::Ty;

/// The number of bits of a digit.
pub const DIGIT_BITS: u32 = 8;

/// The number of values of a digit: one for each thread of a block.
pub const DIGIT_VALUES: u32 = 1 << DIGIT_BITS;

/// The keys of a sort, and its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyOrder {
    /// The type of the keys.
    pub keys: Ty,
    /// True if the greatest key comes first.
    pub descends: bool,
}

impl KeyOrder {
    /// The number of digits of a word.
    pub fn digits(self) -> u32 {
        self.keys.size() as u32
    }

    /// The class of the registers that hold the bits of a key.
    pub fn class(self) -> Class {
        if self.keys.size() == 8 { Class::B64 } else { Class::B32 }
    }

    /// The type of the bits of a key in memory.
    pub fn memory(self) -> &'static str {
        match self.keys.size() {
            8 => "b64",
            4 => "b32",
            _ => "u8",
        }
    }

    /// The bits of a key with the greatest word. Behind all other keys it stays there.
    pub fn last_key(self) -> i64 {
        match (self.keys, self.descends) {
            (Ty::U8, false) => 0xff,
            (Ty::U8, true) => 0,
            (Ty::I32, false) => i64::from(i32::MAX),
            (Ty::I32, true) => i64::from(i32::MIN),
            (Ty::F32, _) => i64::from(f32::NAN.to_bits()),
            (Ty::F64, _) => f64::NAN.to_bits() as i64,
            (_, false) => i64::MAX,
            (_, true) => i64::MIN,
        }
    }

    /// Emits the digit of a key whose lowest bit is at `shift` in the word.
    pub fn digit(self, asm: &mut Assembly, key: Reg, shift: Reg) -> Reg {
        let word = self.word(asm, key);
        self.digit_of_word(asm, word, shift)
    }

    /// Emits the digit of a word.
    pub fn digit_of_word(self, asm: &mut Assembly, word: Reg, shift: Reg) -> Reg {
        let digit = match self.class() {
            Class::B64 => {
                let low = value!(asm, B64, "shr.u64", "{word}, {shift}");
                value!(asm, B32, "cvt.u32.u64", "{low}")
            }
            _ => value!(asm, B32, "shr.u32", "{word}, {shift}"),
        };
        value!(asm, B32, "and.b32", "{digit}, {}", DIGIT_VALUES - 1)
    }

    /// Emits the order word of a key.
    pub fn word(self, asm: &mut Assembly, key: Reg) -> Reg {
        let (class, bits) = (self.class(), 8 * self.keys.size());
        let word = asm.register(class);
        let flip = if self.descends { "not" } else { "mov" };
        match self.keys {
            Ty::U8 if self.descends => emit!(asm, "xor.b32 {word}, {key}, 255"),
            Ty::U8 | Ty::Bool => emit!(asm, "mov.b32 {word}, {key}"),
            Ty::I32 | Ty::I64 => {
                // All bits flipped save the sign.
                let mask = if self.descends { i64::MAX } else { i64::MIN };
                let mask = mask >> (64 - bits);
                emit!(asm, "xor.b{bits} {word}, {key}, {mask}");
            }
            Ty::F32 | Ty::F64 => {
                let sign = i64::MIN >> (64 - bits);
                let [zeros, signs, flipped, size] = [(); 4].map(|()| asm.register(class));
                let infinity = match bits {
                    64 => f64::INFINITY.to_bits(),
                    _ => u64::from(f32::INFINITY.to_bits()),
                };
                let is_zero =
                    value!(asm, Predicate, format_args!("setp.eq.s{bits}"), "{key}, {sign}");
                emit!(asm, "selp.b{bits} {zeros}, 0, {key}, {is_zero}");
                emit!(asm, "shr.s{bits} {signs}, {zeros}, {}", bits - 1);
                emit!(asm, "or.b{bits} {signs}, {signs}, {sign}");
                emit!(asm, "xor.b{bits} {flipped}, {zeros}, {signs}");
                emit!(asm, "{flip}.b{bits} {flipped}, {flipped}");
                emit!(
                    asm,
                    "and.b{bits} {size}, {key}, {}",
                    !sign & (-1i64 as u64 >> (64 - bits)) as i64
                );
                let is_nan =
                    value!(asm, Predicate, format_args!("setp.gt.s{bits}"), "{size}, {infinity}");
                emit!(asm, "selp.b{bits} {word}, -1, {flipped}, {is_nan}");
            }
        }
        word
    }
}
