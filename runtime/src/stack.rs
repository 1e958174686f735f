//! Recursion over what users wrote.

/// Runs `f` with room on the stack, growing it when little is left. Every function that recurses
/// over a user's program, or over code made from one, goes through here, so that no input can
/// overflow the host's stack.
pub fn with_stack<R>(f: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, f)
}
