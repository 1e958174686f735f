//! Recursion over what users wrote.

use std::cell::Cell;

/// The size in bytes of a piece of stack that recursion gets when little is left.
const PIECE_BYTES: usize = 4 << 20;
/// The number of bytes of stack that are little.
const RESERVE_BYTES: usize = 128 << 10;

thread_local! {
    /// The size in bytes of the pieces of stack that this thread uses beside its own.
    static IN_USE_BYTES: Cell<usize> = const { Cell::new(0) };
    /// The address at which the room of [`with_room`] begins, and its size in bytes; it grows downwards.
    static ROOM: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Runs `f` with room on the stack, growing it when little is left. Every function that recurses
/// over a user's program, or over code made from one, goes through here, so that no input can
/// overflow the host's stack.
pub fn with_stack<R>(f: impl FnOnce() -> R) -> R {
    if stacker::remaining_stack().is_some_and(|left| left >= RESERVE_BYTES) {
        return f();
    }
    let _piece = Piece::new();
    stacker::grow(PIECE_BYTES, f)
}

/// Runs `f` with room for so many bytes on the stack, of which only the part that is used is backed by memory. Calls that
/// need such a stack, one after the other, share it and its memory: each would make one otherwise.
pub fn with_room<R>(bytes: usize, f: impl FnOnce() -> R) -> R {
    stacker::grow(bytes, || {
        let _room = Room(ROOM.replace((address(), bytes)));
        f()
    })
}

/// Returns the size in bytes of the stack that [`with_stack`] has made for this thread, and of what is used of the room
/// of [`with_room`].
pub fn stack_bytes() -> usize {
    let (top, bytes) = ROOM.get();
    // Outside of it stand the pieces that were made when it was full.
    let used = top.checked_sub(address()).filter(|used| *used <= bytes);
    IN_USE_BYTES.get() + used.unwrap_or(bytes)
}

/// Returns an address in the frame of the caller, about.
fn address() -> usize {
    let local = 0u8;
    std::hint::black_box(std::ptr::from_ref(&local)) as usize
}

/// The room in use; the one before it is there again when a panic unwinds it, too.
struct Room((usize, usize));

impl Drop for Room {
    fn drop(&mut self) {
        ROOM.set(self.0);
    }
}

/// A piece of stack in use; it counts also while a panic unwinds it.
struct Piece;

impl Piece {
    fn new() -> Piece {
        IN_USE_BYTES.set(IN_USE_BYTES.get() + PIECE_BYTES);
        Piece
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        IN_USE_BYTES.set(IN_USE_BYTES.get() - PIECE_BYTES);
    }
}
