//! Lanes: the 32 values of a register, and functions on them.
//!
//! Each value is kept in 64 bits, zero-extended from the width of its register. An operation
//! computes all 32 lanes, whether they are active or not, because that vectorises; the machine
//! then writes only the active ones.

/// The number of lanes of a warp.
pub const WARP_LANES: usize = 32;

/// The values that one register holds in the lanes of one warp.
pub type Lanes = [u64; WARP_LANES];

/// An operation with one source.
pub type Unary = fn(&mut Lanes, &Lanes);

/// An operation with two sources, for all lanes and for one.
#[derive(Clone, Copy, Debug)]
pub struct Binary {
    /// The operation on all lanes.
    pub all: fn(&mut Lanes, &Lanes, &Lanes),
    /// The operation on one lane, for atomics and reductions over a warp.
    pub one: fn(u64, u64) -> u64,
}

/// An operation with three sources.
pub type Ternary = fn(&mut Lanes, &Lanes, &Lanes, &Lanes);

/// An operation with four sources.
pub type Quaternary = fn(&mut Lanes, [&Lanes; 4]);

/// A comparison: one bit per lane.
pub type Compare = fn(&Lanes, &Lanes) -> u32;

/// A value that a lane can hold.
pub trait Scalar: Copy {
    /// Reads the value from the low bits of a lane.
    fn of(lane: u64) -> Self;
    /// Returns the lane that holds the value, zero-extended.
    fn lane(self) -> u64;
}

macro_rules! integer_scalars {
    ($($int:ident through $unsigned:ident),*) => {
        $(impl Scalar for $int {
            #[inline(always)]
            fn of(lane: u64) -> Self {
                lane as $int
            }
            #[inline(always)]
            fn lane(self) -> u64 {
                self as $unsigned as u64
            }
        })*
    };
}
integer_scalars!(
    u8 through u8, i8 through u8, u16 through u16, i16 through u16,
    u32 through u32, i32 through u32, u64 through u64, i64 through u64
);

/// The NaN that every `f32` instruction returns: PTX keeps no payload at this width.
const CANONICAL_NAN_F32: u32 = 0x7fff_ffff;

impl Scalar for f32 {
    #[inline(always)]
    fn of(lane: u64) -> Self {
        f32::from_bits(lane as u32)
    }
    #[inline(always)]
    fn lane(self) -> u64 {
        u64::from(if self.is_nan() { CANONICAL_NAN_F32 } else { self.to_bits() })
    }
}

impl Scalar for f64 {
    #[inline(always)]
    fn of(lane: u64) -> Self {
        f64::from_bits(lane)
    }
    #[inline(always)]
    fn lane(self) -> u64 {
        self.to_bits()
    }
}

/// Makes a [`Unary`] from an expression over one lane.
macro_rules! unary {
    (|$a:ident| $value:expr) => {{
        let all: $crate::isa::lanes::Unary = |out, a| {
            for (out, &$a) in out.iter_mut().zip(a) {
                *out = $value;
            }
        };
        all
    }};
}

/// Makes a [`Binary`] from an expression over two lanes.
macro_rules! binary {
    (|$a:ident, $b:ident| $value:expr) => {
        $crate::isa::lanes::Binary {
            all: |out, a, b| {
                for (out, (&$a, &$b)) in out.iter_mut().zip(a.iter().zip(b)) {
                    *out = $value;
                }
            },
            one: |$a, $b| $value,
        }
    };
}

/// Makes a [`Ternary`] from an expression over three lanes.
macro_rules! ternary {
    (|$a:ident, $b:ident, $c:ident| $value:expr) => {{
        let all: $crate::isa::lanes::Ternary = |out, a, b, c| {
            for (out, ((&$a, &$b), &$c)) in out.iter_mut().zip(a.iter().zip(b).zip(c)) {
                *out = $value;
            }
        };
        all
    }};
}

/// Makes a [`Compare`] from a condition over two lanes.
macro_rules! compare {
    (|$a:ident, $b:ident| $condition:expr) => {{
        let all: $crate::isa::lanes::Compare = |a, b| {
            let mut bits = 0u32;
            for (lane, (&$a, &$b)) in a.iter().zip(b).enumerate() {
                bits |= u32::from($condition) << lane;
            }
            bits
        };
        all
    }};
}

/// Evaluates an expression with `$T` standing for the Rust type of a PTX type, if it is listed.
macro_rules! with_type {
    ($ty:expr, $T:ident in [$($variant:ident = $rust:ty),* $(,)?] => $value:expr) => {
        match $ty {
            $($crate::isa::types::Type::$variant => {
                #[allow(dead_code)]
                type $T = $rust;
                Some($value)
            })*
            _ => None,
        }
    };
}

pub(crate) use {binary, compare, ternary, unary, with_type};
