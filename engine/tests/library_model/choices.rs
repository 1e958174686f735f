//! Generates random inputs from a seed.
//!
//! Numbers and chars are drawn from small sets that include the extreme values, so that equal ones
//! are common. Sequences are short. The first inputs of a batch have fixed shapes: all sequences
//! are empty, then have one element, then consist of equal elements.

use crate::value::{Char, Nesl};
use nesl_engine::Precision;
use nesl_runtime::random;

/// The shape of the sequences of an input.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Empty,
    Single,
    Equal,
    Any,
}

/// A source of random choices.
pub struct Choices {
    seed: u64,
    count: i64,
    /// The precision of the session.
    pub precision: Precision,
    /// The shape of the input under construction.
    pub shape: Shape,
}

impl Choices {
    pub fn new(seed: u64, precision: Precision) -> Choices {
        Choices { seed, count: 0, precision, shape: Shape::Any }
    }

    /// Chooses a number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.count += 1;
        random::uniform_int(random::bits(self.seed, self.count), bound as i64) as usize
    }

    /// Returns true once in `n` times on average.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// Chooses an int, often a small one.
    pub fn int(&mut self) -> i64 {
        let (least, most) = (self.precision.min_int(), self.precision.max_int());
        match self.below(16) {
            0 => least,
            1 => most,
            2 => least + 1,
            3 => self.below(2000) as i64 - 1000,
            _ => self.below(6) as i64 - 2,
        }
    }

    /// Chooses an int between `low` and `high`, rarely an extreme one.
    pub fn int_from(&mut self, low: i64, high: i64) -> i64 {
        match self.below(16) {
            0 => self.precision.min_int(),
            1 => self.precision.max_int(),
            _ => low + self.below((high - low + 1) as usize) as i64,
        }
    }

    pub fn float(&mut self) -> f64 {
        let from = [
            0.0,
            -0.0,
            1.0,
            2.0,
            -1.5,
            0.1,
            0.25,
            -3.0,
            1e7,
            1e300,
            -2.5e-7,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        let x = self.pick(&from);
        self.precision.round(x)
    }

    pub fn char(&mut self) -> Char {
        Char(self.pick(b"aaabbcAZz09 \n\t`\"\\%_\0\xff"))
    }

    /// Chooses the length of a sequence.
    pub fn length(&mut self) -> usize {
        match self.shape {
            Shape::Empty => 0,
            Shape::Single => 1,
            Shape::Equal => 3 + self.below(3),
            Shape::Any => self.pick(&[0, 1, 2, 3, 4, 5, 6, 9, 13]),
        }
    }

    /// Chooses a length that should equal `n`: mostly `n` itself, sometimes one more or less.
    pub fn near(&mut self, n: usize) -> usize {
        match self.below(10) {
            0 => n + 1,
            1 => n.saturating_sub(1),
            _ => n,
        }
    }

    /// Chooses a sequence.
    pub fn seq<T: Nesl>(&mut self) -> Vec<T> {
        let length = self.length();
        self.seq_of(length)
    }

    /// Chooses a sequence of the given length.
    pub fn seq_of<T: Nesl>(&mut self, length: usize) -> Vec<T> {
        if self.shape == Shape::Equal {
            vec![T::random(self); length]
        } else {
            (0..length).map(|_| T::random(self)).collect()
        }
    }

    /// Chooses a sequence of elements from a set; from an empty set, an empty sequence.
    pub fn seq_from<T: Clone>(&mut self, from: &[T]) -> Vec<T> {
        let length = if from.is_empty() { 0 } else { self.length() };
        (0..length).map(|_| self.pick(from)).collect()
    }

    /// Chooses a permutation of the ints below `n`.
    pub fn permutation(&mut self, n: usize) -> Vec<i64> {
        let mut places: Vec<i64> = (0..n as i64).collect();
        for i in (1..n).rev() {
            let j = self.below(i + 1);
            places.swap(i, j);
        }
        places
    }

    /// Chooses indices into a sequence of length `n`, occasionally including one out of bounds.
    pub fn places(&mut self, how_many: usize, n: usize) -> Vec<i64> {
        let wrong = n == 0 || self.once_in(8);
        let mut places: Vec<i64> = (0..how_many).map(|_| self.below(n.max(1)) as i64).collect();
        if wrong && how_many > 0 {
            let at = self.below(how_many);
            places[at] = self.pick(&[-1, n as i64, self.precision.min_int()]);
        }
        places
    }

    /// Chooses a text with several lines and words.
    pub fn text(&mut self) -> Vec<Char> {
        let pieces: Vec<&str> = match self.shape {
            Shape::Empty => Vec::new(),
            Shape::Single => vec![self.pick(&["a", " ", "\n", "\t"])],
            Shape::Equal => vec![self.pick(&["a", " ", "\n", "a b ", "ab\n"]); 4],
            Shape::Any => {
                let from = ["a", "bb", "word", "longest-word", " ", "  ", " ", "\n", "\t", "\"%\\"];
                let n = self.below(12);
                (0..n).map(|_| self.pick(&from)).collect()
            }
        };
        pieces.concat().into_bytes().into_iter().map(Char).collect()
    }
}
