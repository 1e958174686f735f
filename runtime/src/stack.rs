//! Recursion over what users wrote.

use std::cell::Cell;

/// The size in bytes of a piece of stack that recursion gets when little is left.
const PIECE_BYTES: usize = 4 << 20;
/// The number of bytes of stack that are little.
const RESERVE_BYTES: usize = 128 << 10;

thread_local! {
    /// The size in bytes of the pieces of stack that this thread uses beside its own.
    static IN_USE_BYTES: Cell<usize> = const { Cell::new(0) };
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

/// Returns the size in bytes of the stack that [`with_stack`] has made for this thread.
pub fn stack_bytes() -> usize {
    IN_USE_BYTES.get()
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
