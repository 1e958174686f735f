//! The bytes that the elements of a chunk emit for an output, until all chunks are done and they are copied there.
//!
//! A little of it is kept in an array that grows. More is kept in pieces of memory, each twice as large as the one
//! before up to a limit, so that nothing is copied when there is more of it, and the pieces are used again by later
//! launches: pages that are faulted in for each launch would cost more than what is written to them.

use crate::memory::{Memory, Raw};

/// The array that grows is no larger than this, in bytes.
const MAX_GROWN_BYTES: usize = 1 << 20;

/// The least size of the array, in bytes.
const MIN_GROWN_BYTES: usize = 4 << 10;

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
    /// The size of the part that is filled, in bytes; of the last piece it is known when that is settled.
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
    /// The addresses of the next byte in the memory that is being filled, and of its end. Compiled code appends a few bytes
    /// there by itself, and moves the first one. 0 if there is no such memory.
    pub next: usize,
    /// The end of that memory.
    pub end: usize,
    /// The address of an array among the arguments that the only work item emits, and nothing else. 0 if there is none.
    pub argument: usize,
    /// An array that an element made: what is emitted first.
    pub taken: Option<Taken>,
    /// The bytes behind that, as long as they are few.
    grown: Vec<u8>,
    /// The bytes behind those.
    pieces: Vec<Piece>,
}

impl Part {
    /// Notes how far the memory is filled that compiled code appends to.
    pub fn settle(&mut self) {
        if self.next == 0 {
            return;
        }
        match self.pieces.last_mut() {
            Some(piece) => piece.filled = self.next - piece.raw.start() as usize,
            None => {
                let length = self.next - self.grown.as_ptr() as usize;
                // SAFETY: `next` is at most `end`, the end of the array's capacity, and what is before it was written.
                unsafe { self.grown.set_len(length) };
            }
        }
        (self.next, self.end) = (0, 0);
    }

    /// Lets compiled code append to the memory that is being filled.
    fn open(&mut self) {
        (self.next, self.end) = match self.pieces.last() {
            Some(piece) => {
                let start = piece.raw.start() as usize;
                (start + piece.filled, start + piece.bytes)
            }
            None => {
                let start = self.grown.as_ptr() as usize;
                let most = self.grown.capacity().min(MAX_GROWN_BYTES);
                (start + self.grown.len(), start + most.max(self.grown.len()))
            }
        };
    }

    /// The size, in bytes, of a part that is settled.
    pub fn len(&self) -> usize {
        let taken = self.taken.as_ref().map_or(0, |taken| taken.bytes);
        taken + self.grown.len() + self.pieces.iter().map(|piece| piece.filled).sum::<usize>()
    }

    /// Takes the array that was emitted first, if nothing else was.
    pub fn take_only(&mut self) -> Option<Taken> {
        self.settle();
        self.taken.take_if(|_| self.grown.is_empty() && self.pieces.is_empty())
    }

    /// Calls `f` with the address and the size in bytes of all that was emitted, one after the other. The part is settled.
    pub fn each(&self, f: &mut dyn FnMut(*const u8, usize)) {
        if let Some(taken) = &self.taken {
            f(taken.raw.start(), taken.bytes);
        }
        f(self.grown.as_ptr(), self.grown.len());
        for piece in &self.pieces {
            f(piece.raw.start(), piece.filled);
        }
    }

    /// Appends bytes; returns false if there is no memory for them.
    ///
    /// # Safety
    /// `from` has so many bytes, none of which belong to the part.
    pub unsafe fn append(&mut self, memory: &Memory, from: *const u8, bytes: usize) -> bool {
        self.settle();
        // SAFETY: as the caller says.
        let is_appended = unsafe { self.append_settled(memory, from, bytes) };
        self.open();
        is_appended
    }

    /// Appends bytes to a part that is settled; returns false if there is no memory for them.
    ///
    /// # Safety
    /// `from` has so many bytes, none of which belong to the part.
    unsafe fn append_settled(&mut self, memory: &Memory, from: *const u8, bytes: usize) -> bool {
        if self.pieces.is_empty() && self.grown.len() + bytes <= MAX_GROWN_BYTES {
            if self.grown.capacity() - self.grown.len() < bytes && !self.grow(memory, bytes) {
                return false;
            }
            // SAFETY: there is room for so many bytes, the source has as many, and the two do not overlap.
            unsafe {
                let end = self.grown.as_mut_ptr().add(self.grown.len());
                from.copy_to_nonoverlapping(end, bytes);
                self.grown.set_len(self.grown.len() + bytes);
            }
            return true;
        }
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

    /// Makes room for so many more bytes in the array that grows; returns false if there is no memory for it.
    fn grow(&mut self, memory: &Memory, bytes: usize) -> bool {
        let before = self.grown.capacity();
        let wanted = (self.grown.len() + bytes).max(2 * before).max(MIN_GROWN_BYTES);
        if !memory.reserve((wanted - before) as u64) {
            return false;
        }
        if self.grown.try_reserve_exact(wanted - self.grown.len()).is_err() {
            memory.unreserve((wanted - before) as u64);
            return false;
        }
        // What is counted is the capacity, and there may be more than was asked for.
        let more = self.grown.capacity() - wanted;
        if more > 0 && !memory.reserve(more as u64) {
            memory.unreserve(wanted as u64);
            self.grown = Vec::new();
            return false;
        }
        true
    }

    /// Adds a piece with room for so many bytes; returns false if there is no memory for it.
    fn add_piece(&mut self, memory: &Memory, bytes: usize) -> bool {
        let twice = self.pieces.last().map_or(2 * MAX_GROWN_BYTES, |piece| 2 * piece.bytes);
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
        self.settle();
        memory.unreserve(self.grown.capacity() as u64);
        self.grown = Vec::new();
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
        for round in 0..2000_usize {
            let bytes: Vec<u8> = (0..round * 37 % 5000).map(|at| (at + round) as u8).collect();
            assert!(append(&mut part, &memory, &bytes));
            expected.extend(bytes);
        }
        part.settle();
        assert_eq!(part.len(), expected.len());
        assert!(all(&part) == expected);
        part.free(&memory);
        assert_eq!(part.len(), 0);
        assert!(memory.reserve(u64::MAX), "all of it was given back");
    }

    #[test]
    fn compiled_code_appends_where_there_is_room() {
        let memory = Memory::new(u64::MAX);
        let (mut part, mut expected) = (Part::default(), Vec::new());
        for round in 0..300_000_usize {
            let bytes: Vec<u8> = (0..round % 13).map(|at| (at + round) as u8).collect();
            if part.end - part.next >= bytes.len() {
                // SAFETY: the part has room for so many bytes there.
                unsafe { bytes.as_ptr().copy_to(part.next as *mut u8, bytes.len()) };
                part.next += bytes.len();
            } else {
                assert!(append(&mut part, &memory, &bytes));
            }
            expected.extend(bytes);
        }
        part.settle();
        assert_eq!(part.len(), expected.len());
        assert!(all(&part) == expected);
        part.free(&memory);
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
        part.settle();
        assert_eq!(part.len(), MAX_PIECE_BYTES + 3);
        part.free(&memory);
        assert!(append(&mut part, &memory, &large));
        part.free(&memory);
    }
}
