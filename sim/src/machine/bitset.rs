//! Bits that say which bytes were written.

/// A set of byte offsets.
#[derive(Clone, Debug, Default)]
pub struct ByteSet {
    words: Vec<u64>,
}

impl ByteSet {
    /// The empty set for `bytes` bytes.
    pub fn new(bytes: usize) -> ByteSet {
        ByteSet { words: vec![0; bytes.div_ceil(64)] }
    }

    /// Empties the set.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Adds a range.
    pub fn insert(&mut self, start: usize, length: usize) {
        self.pieces(start, length, |word, mask| {
            *word |= mask;
            true
        });
    }

    /// Removes a range.
    pub fn remove(&mut self, start: usize, length: usize) {
        self.pieces(start, length, |word, mask| {
            *word &= !mask;
            true
        });
    }

    /// Returns true if the whole range is in the set.
    pub fn contains(&mut self, start: usize, length: usize) -> bool {
        self.pieces(start, length, |word, mask| *word & mask == mask)
    }

    /// Copies the membership of a range of another set to a range of this one.
    pub fn copy_from(&mut self, start: usize, other: &ByteSet, from: usize, length: usize) {
        for offset in 0..length {
            let at = from + offset;
            if other.words[at / 64] >> (at % 64) & 1 == 1 {
                self.insert(start + offset, 1);
            } else {
                self.remove(start + offset, 1);
            }
        }
    }

    /// Calls `f` with each word of a range and the mask of its bits; stops when it returns false.
    fn pieces(
        &mut self,
        start: usize,
        length: usize,
        mut f: impl FnMut(&mut u64, u64) -> bool,
    ) -> bool {
        let end = start + length;
        let mut at = start;
        while at < end {
            let bits = (64 - at % 64).min(end - at);
            let mask = if bits == 64 { u64::MAX } else { ((1 << bits) - 1) << (at % 64) };
            if !f(&mut self.words[at / 64], mask) {
                return false;
            }
            at += bits;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::ByteSet;

    #[test]
    fn ranges_across_words() {
        let mut set = ByteSet::new(200);
        set.insert(60, 70);
        assert!(set.contains(60, 70));
        assert!(!set.contains(59, 2));
        assert!(!set.contains(100, 31));
        set.remove(64, 64);
        assert!(set.contains(60, 4) && set.contains(128, 2) && !set.contains(127, 1));
        let mut copy = ByteSet::new(200);
        copy.copy_from(10, &set, 60, 10);
        assert!(copy.contains(10, 4) && !copy.contains(14, 1));
    }
}
