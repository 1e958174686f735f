//! Random inputs from a seed.
//!
//! Numbers and chars come from few, so that equal ones are common, with the extremes among them;
//! sequences are short. The first inputs of a batch have fixed shapes: all sequences empty, then
//! of one element, then of equal elements.

use crate::value::{Char, Nesl};
use nesl_engine::Precision;
use nesl_runtime::random;

/// What the sequences of an input are like.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Empty,
    Single,
    Equal,
    Any,
}

/// Random choices.
pub struct Choices {
    seed: u64,
    count: i64,
    /// That of the session.
    pub precision: Precision,
    /// For the input being made.
    pub shape: Shape,
}

impl Choices {
    pub fn new(seed: u64, precision: Precision) -> Choices {
        Choices { seed, count: 0, precision, shape: Shape::Any }
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.count += 1;
        random::uniform_int(random::bits(self.seed, self.count), bound as i64) as usize
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    /// An int, often a small one.
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

    /// An int between these, seldom an extreme one.
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

    /// The length of a sequence.
    pub fn length(&mut self) -> usize {
        match self.shape {
            Shape::Empty => 0,
            Shape::Single => 1,
            Shape::Equal => 3 + self.below(3),
            Shape::Any => self.pick(&[0, 1, 2, 3, 4, 5, 6, 9, 13]),
        }
    }

    /// Mostly `n`, sometimes one more or less: for a length that should be another's.
    pub fn near(&mut self, n: usize) -> usize {
        match self.below(10) {
            0 => n + 1,
            1 => n.saturating_sub(1),
            _ => n,
        }
    }

    /// A sequence.
    pub fn seq<T: Nesl>(&mut self) -> Vec<T> {
        let length = self.length();
        self.seq_of(length)
    }

    /// A sequence of this length.
    pub fn seq_of<T: Nesl>(&mut self, length: usize) -> Vec<T> {
        if self.shape == Shape::Equal {
            vec![T::random(self); length]
        } else {
            (0..length).map(|_| T::random(self)).collect()
        }
    }

    /// A sequence of some values; of none, an empty one.
    pub fn seq_from<T: Clone>(&mut self, from: &[T]) -> Vec<T> {
        let length = if from.is_empty() { 0 } else { self.length() };
        (0..length).map(|_| self.pick(from)).collect()
    }

    /// The ints below `n` in some order.
    pub fn permutation(&mut self, n: usize) -> Vec<i64> {
        let mut places: Vec<i64> = (0..n as i64).collect();
        for i in (1..n).rev() {
            let j = self.below(i + 1);
            places.swap(i, j);
        }
        places
    }

    /// As many places in a sequence of length `n`, now and then one outside it.
    pub fn places(&mut self, how_many: usize, n: usize) -> Vec<i64> {
        let wrong = n == 0 || self.once_in(8);
        let mut places: Vec<i64> = (0..how_many).map(|_| self.below(n.max(1)) as i64).collect();
        if wrong && how_many > 0 {
            let at = self.below(how_many);
            places[at] = self.pick(&[-1, n as i64, self.precision.min_int()]);
        }
        places
    }

    /// Text with lines and words in it.
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
