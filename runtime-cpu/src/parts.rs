//! What the elements of a chunk emit for an output, until all chunks are done and it is copied there.
//!
//! It is kept in pieces of memory, each twice as large as the one before up to a limit, so that nothing is copied
//! when there is more of it, and the pieces are used again by later launches: pages that are faulted in for each
//! launch would cost more than what is written to them.

use crate::memory::{Memory, Raw};

/// The size of the first piece, in bytes.
const MIN_PIECE_BYTES: usize = 4 << 10;

/// Pieces are no larger than this, in bytes, unless one element emits more. Huge pages fit into it.
const MAX_PIECE_BYTES: usize = 8 << 20;

/// An array that was taken out of an arena.
#[derive(Debug)]
pub struct Taken {
    /// The memory, which begins with the array.
    pub raw: Raw,
    /// The size of the array, in bytes.
    pub bytes: usize,
    /// The part of the memory that is counted as used, in bytes.
    pub counted: usize,
}

/// A piece of memory, filled from its beginning.
#[derive(Debug)]
struct Piece {
    raw: Raw,
    /// The size of the part that is filled, in bytes.
    filled: usize,
    /// The size, in bytes; so much is reserved of the runtime's memory.
    bytes: usize,
}

/// The bytes that the elements of a chunk emit for an output.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Part {
    /// The address in the output for the next element's bytes, if the lengths of all rows were known before the
    /// launch: nothing is kept here then. 0 if they were not.
    pub place: usize,
    /// An array that an element made: what is emitted first.
    pub taken: Option<Taken>,
    /// The bytes behind that.
    pieces: Vec<Piece>,
}

impl Part {
    /// The size, in bytes.
    pub fn len(&self) -> usize {
        let taken = self.taken.as_ref().map_or(0, |taken| taken.bytes);
        taken + self.pieces.iter().map(|piece| piece.filled).sum::<usize>()
    }

    /// Returns true if nothing was emitted, but for an array that was taken.
    pub fn has_no_pieces(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Takes the array that was emitted first, if there is one and it was taken.
    pub fn take(&mut self) -> Option<Taken> {
        self.taken.take()
    }

    /// Calls `f` with the address and the size in bytes of all that was emitted, one after the other.
    pub fn each(&self, f: &mut dyn FnMut(*const u8, usize)) {
        if let Some(taken) = &self.taken {
            f(taken.raw.start(), taken.bytes);
        }
        for piece in &self.pieces {
            f(piece.raw.start(), piece.filled);
        }
    }

    /// Appends bytes; returns false if there is no memory for them.
    ///
    /// # Safety
    /// `from` has so many bytes, none of which belong to the part.
    pub unsafe fn append(&mut self, memory: &Memory, from: *const u8, bytes: usize) -> bool {
        let room = self.pieces.last().map_or(0, |piece| piece.bytes - piece.filled);
        if room < bytes && !self.add_piece(memory, bytes) {
            return false;
        }
        if let Some(piece) = self.pieces.last_mut() {
            // SAFETY: the piece has room for so many bytes behind what is filled, the source has as many, and the two
            // do not overlap.
            unsafe { from.copy_to_nonoverlapping(piece.raw.start().add(piece.filled), bytes) };
            piece.filled += bytes;
        }
        true
    }

    /// Adds a piece with room for so many bytes; returns false if there is no memory for it.
    fn add_piece(&mut self, memory: &Memory, bytes: usize) -> bool {
        let twice = self.pieces.last().map_or(MIN_PIECE_BYTES, |piece| 2 * piece.bytes);
        let bytes = twice.min(MAX_PIECE_BYTES).max(bytes);
        if !memory.reserve(bytes as u64) {
            return false;
        }
        let Some(raw) = memory.raw(bytes) else {
            memory.unreserve(bytes as u64);
            return false;
        };
        self.pieces.push(Piece { raw, filled: 0, bytes });
        true
    }

    /// Gives the memory back.
    pub fn free(&mut self, memory: &Memory) {
        for mut piece in self.pieces.drain(..) {
            memory.unreserve(piece.bytes as u64);
            piece.raw.touch(piece.filled);
            memory.give_back(piece.raw);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn append(part: &mut Part, memory: &Memory, bytes: &[u8]) -> bool {
        // SAFETY: the slice is not part of `part`.
        unsafe { part.append(memory, bytes.as_ptr(), bytes.len()) }
    }

    fn all(part: &Part) -> Vec<u8> {
        let mut all = Vec::new();
        part.each(&mut |from, bytes| {
            // SAFETY: these are initialised bytes of the part.
            all.extend_from_slice(unsafe { std::slice::from_raw_parts(from, bytes) });
        });
        all
    }

    #[test]
    fn what_is_appended_is_kept_in_order() {
        let memory = Memory::new(u64::MAX);
        let (mut part, mut expected) = (Part::default(), Vec::new());
        for round in 0..200_usize {
            let bytes: Vec<u8> = (0..round * 37 % 5000).map(|at| (at + round) as u8).collect();
            assert!(append(&mut part, &memory, &bytes));
            expected.extend(bytes);
        }
        assert_eq!(part.len(), expected.len());
        assert!(all(&part) == expected);
        part.free(&memory);
        assert!(part.has_no_pieces());
        assert!(memory.reserve(u64::MAX), "all of it was given back");
    }

    #[test]
    fn an_element_may_emit_more_than_a_piece() {
        let memory = Memory::new(3 * MAX_PIECE_BYTES as u64);
        let mut part = Part::default();
        assert!(append(&mut part, &memory, &[1]));
        let large = vec![2; MAX_PIECE_BYTES + 1];
        assert!(append(&mut part, &memory, &large));
        assert!(append(&mut part, &memory, &[3]));
        assert!(!append(&mut part, &memory, &large), "the limit of the memory");
        assert_eq!(part.len(), MAX_PIECE_BYTES + 3);
        part.free(&memory);
        assert!(append(&mut part, &memory, &large));
        part.free(&memory);
    }
}
