//! The memory that the launches of a large sort share, zeroed before the first.
//!
//! ```text
//! BASES      u64[digits][256]   the number of keys with each digit; then the place of the first
//! TICKETS    u32[digits + 1]    the next tile of each pass; the blocks that have counted
//! SCHEDULE   u32[digits]        the source and target of each pass
//! STATES     u64[tiles][256]    the keys of each digit in a tile, or up to its end
//! ```
//!
//! A state is one word, so that it is seen whole: a tag in the highest bits says which pass wrote it,
//! and what it is. A state of an earlier pass, or zero, says nothing yet.

use super::order::DIGIT_VALUES;

/// The place of the tag in a state: twice the number of the pass, from 1 on, and 1 if the keys of
/// all tiles up to this one are counted, those of lesser digits included.
pub const TAG_SHIFT: u32 = 56;

/// The size of the states of a tile, in bytes.
pub const TILE_STATE_BYTES: u32 = 8 * DIGIT_VALUES;

/// The bytes that tickets, and the schedule, take at most.
const WORDS_BYTES: u32 = 64;

/// The part of a word of the schedule that says where the keys come from, and the shift of the part
/// that says where they go. A word of 0 leaves the pass out.
pub const TARGET_SHIFT: u32 = 4;

/// The arrays that hold keys, as the schedule names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyArray {
    /// The array that is sorted.
    Keys = 1,
    /// Memory for the time of the sort.
    Temporary = 2,
    /// The result; of a rank, memory of its size that is overwritten later.
    Out = 3,
    /// The ranks themselves.
    Ranks = 4,
}

/// The offsets of the parts, for keys of some digits.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The number of digits of a key.
    pub digits: u32,
}

impl Layout {
    /// The offset of the tickets, in bytes.
    pub fn tickets(self) -> u32 {
        8 * DIGIT_VALUES * self.digits
    }

    /// The offset of the schedule, in bytes.
    pub fn schedule(self) -> u32 {
        self.tickets() + WORDS_BYTES
    }

    /// The offset of the states, in bytes.
    pub fn states(self) -> u32 {
        self.schedule() + WORDS_BYTES
    }

    /// The size of all parts for so many tiles, in bytes.
    pub fn bytes(self, tiles: u64) -> u64 {
        u64::from(self.states()) + u64::from(TILE_STATE_BYTES) * tiles
    }
}
