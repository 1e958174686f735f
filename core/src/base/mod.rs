//! What every stage shares: names, places, diagnostics.

mod diagnostic;
mod name;
mod place;

pub use diagnostic::{Diagnostic, Hint, Kind, Label, Severity};
pub use name::Name;
pub use place::{ItemId, Loc, Span, TextRange, TextSize};

/// Runs `f` with room on the stack, growing it when little is left. Every function that recurses
/// over a user's program goes through here, so that no input can overflow the host's stack.
pub fn with_stack<R>(f: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(128 * 1024, 4 * 1024 * 1024, f)
}
