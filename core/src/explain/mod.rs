//! The compiler explorer: a form as each stage of the compiler sees it, as plain data.
//!
//! Everything here is a function of the database and a form (or a place of a file), pure, with
//! sources as bytes of the file. Nothing is run but small examples, by interpreters.
//!
//! | file | answer |
//! |---|---|
//! | `form` | the name, the types and the program of a form by itself |
//! | `summary` | the kernels a form becomes, and how they are chosen, in a few lines |
//! | `stages` | a form at a stage of the compiler, each line with its source |
//! | `steps` | a small example as segments over flat data, step by step |

mod form;
mod stages;
mod steps;
mod summary;

pub use form::{example, subject, takes_functions};
pub use stages::{Line, View, view};
pub use steps::{Level, NestedComponent, SegmentStep, SegmentedValue, Segments, segments};
pub use summary::{Layout, Summary, SummaryLine, headline, summary, within};
