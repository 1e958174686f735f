//! The elements of a long literal as columns, one for each scalar.
//!
//! A sequence of a million constants is data, not a million expressions: from the parser on it is one
//! value, which is typed, elaborated and printed as a whole.
//!
//! ```text
//! [(1, "ab"), (2, "c")]   →   Pairs(Ints[1, 2], Sequences(lengths[2, 1], Chars[a, b, c]))
//! ```

use std::fmt;

/// A float by its bits, so that what contains it can be compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FloatBits(pub u64);

impl FloatBits {
    /// Returns the float with these bits.
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl fmt::Debug for FloatBits {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?}", self.get())
    }
}

/// The elements of a sequence, all of one type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constants {
    /// Elements that are ints.
    Ints(Vec<i64>),
    /// Elements that are floats.
    Floats(Vec<FloatBits>),
    /// Elements that are truth values.
    Bools(Vec<bool>),
    /// Elements that are characters.
    Chars(Vec<u8>),
    /// Elements that are pairs: the first components, and the second ones.
    Pairs(Box<(Constants, Constants)>),
    /// Elements that are sequences.
    Sequences {
        /// The number of elements of each sequence.
        lengths: Vec<u32>,
        /// The elements of all sequences, one sequence after the other.
        elements: Box<Constants>,
    },
}

impl Constants {
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        match self {
            Constants::Ints(xs) => xs.len(),
            Constants::Floats(xs) => xs.len(),
            Constants::Bools(xs) => xs.len(),
            Constants::Chars(xs) => xs.len(),
            Constants::Pairs(pair) => pair.0.len(),
            Constants::Sequences { lengths, .. } => lengths.len(),
        }
    }

    /// Returns true if some float in the elements is finite at 64 bits and not at 32.
    pub fn has_wide_float(&self) -> bool {
        match self {
            Constants::Floats(floats) => {
                floats.iter().any(|x| x.get().is_finite() && (x.get() as f32).is_infinite())
            }
            Constants::Ints(_) | Constants::Bools(_) | Constants::Chars(_) => false,
            Constants::Pairs(pair) => pair.0.has_wide_float() || pair.1.has_wide_float(),
            Constants::Sequences { elements, .. } => elements.has_wide_float(),
        }
    }

    /// Returns true if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of scalars in the elements.
    pub fn scalars(&self) -> usize {
        match self {
            Constants::Ints(_)
            | Constants::Floats(_)
            | Constants::Bools(_)
            | Constants::Chars(_) => self.len(),
            Constants::Pairs(pair) => pair.0.scalars() + pair.1.scalars(),
            Constants::Sequences { elements, .. } => elements.scalars(),
        }
    }
}
