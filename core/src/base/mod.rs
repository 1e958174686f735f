//! The vocabulary of all stages: names, source locations, diagnostics.

mod diagnostic;
mod name;
mod place;
mod shorten;

pub use diagnostic::{Diagnostic, Hint, Kind, Label, Severity};
pub use name::Name;
pub use nesl_runtime::stack::with_stack;
pub use place::{ItemId, Loc, Span, TextRange, TextSize};
pub use shorten::shorten;
