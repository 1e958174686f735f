//! The precision of a session: the width of its ints and floats.

/// The number of bits of an `int` and of a `float` in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Precision {
    /// `i32` and `f32`.
    Bits32,
    /// `i64` and `f64`.
    #[default]
    Bits64,
}

impl Precision {
    /// The smallest `int`.
    pub fn min_int(self) -> i64 {
        match self {
            Precision::Bits32 => i64::from(i32::MIN),
            Precision::Bits64 => i64::MIN,
        }
    }

    /// The largest `int`.
    pub fn max_int(self) -> i64 {
        match self {
            Precision::Bits32 => i64::from(i32::MAX),
            Precision::Bits64 => i64::MAX,
        }
    }

    /// The `int` that `x` wraps to.
    pub fn wrap(self, x: i64) -> i64 {
        match self {
            Precision::Bits32 => i64::from(x as i32),
            Precision::Bits64 => x,
        }
    }

    /// The `float` nearest to `x`.
    pub fn round(self, x: f64) -> f64 {
        match self {
            Precision::Bits32 => f64::from(x as f32),
            Precision::Bits64 => x,
        }
    }

    /// The number of bits of an `int`.
    pub fn bits(self) -> u32 {
        match self {
            Precision::Bits32 => 32,
            Precision::Bits64 => 64,
        }
    }
}
