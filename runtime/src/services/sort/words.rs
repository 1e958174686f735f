//! Keys as words: unsigned numbers whose order is that of the keys.

/// A word, perhaps with something that it takes along.
pub trait Word: Copy + Send + Sync {
    /// The bits of the distance between two words, the lesser first.
    fn width(lo: Self, hi: Self) -> u32;
    /// The distance from a lesser or equal word, without its lowest bits.
    fn digit(self, lo: Self, shift: u32) -> usize;
    /// Returns true if it comes before another.
    fn before(self, other: Self) -> bool;
}

/// A word by itself.
pub trait Plain: Word + Ord {
    /// The word, extended to 64 bits.
    fn wide(self) -> u64;
    /// The word at a distance.
    fn plus(self, distance: usize) -> Self;
    /// All bits zero, or one: the mask that turns the order of words around.
    fn mask(down: bool) -> Self;
    /// The other way around, if the mask says so.
    fn flip(self, mask: Self) -> Self;
}

/// A word with the place of its key.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    pub word: u64,
    pub at: usize,
}

/// A type of keys that can be sorted.
///
/// # Safety
/// A key and its word have the same size and alignment, and any bits are valid as either.
pub unsafe trait Key: Copy + Send + Sync {
    /// The word of the key.
    type Word: Plain;
    /// A word; the greatest there is for a NaN, and for nothing else that is a float.
    fn word(self) -> Self::Word;
    /// The bits of the key that has a word: of a zero or a NaN, of some.
    fn bits(word: Self::Word) -> Self::Word;
    /// Its own bits.
    fn raw(self) -> Self::Word;
    /// Returns true if it is a NaN.
    fn is_nan(self) -> bool;
    /// True if keys with different bits may have the same word.
    fn is_special(self) -> bool;
    /// True if distances between keys are not those between their words, as for floats.
    const CURVED: bool;
    /// The position of a word's key on a line.
    fn position(word: Self::Word) -> f64;
}

macro_rules! words {
    ($($word:ty)+) => {$(
        impl Word for $word {
            #[inline]
            fn width(lo: Self, hi: Self) -> u32 {
                <$word>::BITS - (hi - lo).leading_zeros()
            }

            #[inline]
            fn digit(self, lo: Self, shift: u32) -> usize {
                ((self - lo) >> shift) as usize
            }

            #[inline]
            fn before(self, other: Self) -> bool {
                self < other
            }
        }

        impl Plain for $word {
            #[inline]
            fn wide(self) -> u64 {
                u64::from(self)
            }

            #[inline]
            fn plus(self, distance: usize) -> Self {
                self + distance as $word
            }

            #[inline]
            fn mask(down: bool) -> Self {
                if down { <$word>::MAX } else { 0 }
            }

            #[inline]
            fn flip(self, mask: Self) -> Self {
                self ^ mask
            }
        }
    )+};
}

words! { u8 u32 u64 }

impl Word for Placed {
    #[inline]
    fn width(lo: Self, hi: Self) -> u32 {
        u64::width(lo.word, hi.word)
    }

    #[inline]
    fn digit(self, lo: Self, shift: u32) -> usize {
        self.word.digit(lo.word, shift)
    }

    #[inline]
    fn before(self, other: Self) -> bool {
        self.word < other.word
    }
}

macro_rules! ints {
    ($($key:ty: $word:ty, $sign:expr;)+) => {$(
        // SAFETY: ints of one width.
        unsafe impl Key for $key {
            type Word = $word;
            const CURVED: bool = false;

            #[inline]
            fn word(self) -> $word {
                self as $word ^ $sign
            }

            #[inline]
            fn bits(word: $word) -> $word {
                word ^ $sign
            }

            #[inline]
            fn raw(self) -> $word {
                self as $word
            }

            #[inline]
            fn is_nan(self) -> bool {
                false
            }

            #[inline]
            fn is_special(self) -> bool {
                false
            }

            #[inline]
            fn position(word: $word) -> f64 {
                word as f64
            }
        }
    )+};
}

ints! { i64: u64, 1 << 63; i32: u32, 1 << 31; u8: u8, 0; }

macro_rules! floats {
    ($($key:ty: $word:ty, $sign:expr;)+) => {$(
        // SAFETY: a float and an int of one width.
        unsafe impl Key for $key {
            type Word = $word;
            const CURVED: bool = true;

            #[inline]
            fn word(self) -> $word {
                // Adding zero turns -0.0 into 0.0.
                let bits = (self + 0.0).to_bits();
                let word = bits ^ if bits & $sign == 0 { $sign } else { <$word>::MAX };
                if self.is_nan() { <$word>::MAX } else { word }
            }

            #[inline]
            fn bits(word: $word) -> $word {
                word ^ if word & $sign == 0 { <$word>::MAX } else { $sign }
            }

            #[inline]
            fn raw(self) -> $word {
                self.to_bits()
            }

            #[inline]
            fn is_nan(self) -> bool {
                <$key>::is_nan(self)
            }

            #[inline]
            fn is_special(self) -> bool {
                <$key>::is_nan(self) || self.to_bits() == $sign
            }

            #[inline]
            fn position(word: $word) -> f64 {
                f64::from(<$key>::from_bits(Self::bits(word)))
            }
        }
    )+};
}

floats! { f64: u64, 1 << 63; f32: u32, 1 << 31; }
