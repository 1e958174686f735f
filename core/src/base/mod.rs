//! The types that all stages use: names, source locations, diagnostics.
//!
//! | file | contents |
//! |---|---|
//! | `name` | identifiers, which ignore case |
//! | `location` | source locations as spans of tokens |
//! | `constants` | the elements of long literals |
//! | `diagnostic` | errors and warnings as data |
//! | `grouped` | numbers with their digits in groups |
//! | `readable` | strings of the language as text for people |
//! | `shorten` | texts in one line of limited length |

mod constants;
mod diagnostic;
mod grouped;
mod location;
mod name;
mod readable;
mod shorten;

pub use constants::{Constants, FloatBits};
pub use diagnostic::{Diagnostic, DiagnosticKind, Hint, Label, Severity};
pub use grouped::grouped;
pub use location::{ItemId, Loc, Span, TextRange, TextSize};
pub use name::Name;
pub use nesl_runtime::stack::with_stack;
pub use readable::readable;
pub use shorten::shorten;
