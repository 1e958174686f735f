//! The compiler explorer: a form as each stage of the compiler sees it, as plain data.
//!
//! Every function here is pure: it maps the database and a form, or a byte offset in a file, to
//! plain data with source ranges in bytes of the file. Only small examples are executed, by
//! interpreters.
//!
//! | file | contents |
//! |---|---|
//! | `call` | a call of a function, to run or measure it |
//! | `form` | the description and the core program of a single form |
//! | `summary` | the kernels of a form, and the choices between versions, in a few lines |
//! | `origin` | the parts of a form that the steps of its program come from |
//! | `words` | a kernel in words |
//! | `stages` | a form at a stage of the compiler, each line with its source range |
//! | `steps` | a small example as segments over flat data, step by step |
//!
//! The road is the same for all of them: `form` elaborates the form at a cursor,
//! [`crate::pipeline`] compiles it up to a stage, and `summary`, `stages` or `steps` describes the
//! result.

mod call;
mod form;
mod origin;
mod stages;
mod steps;
mod summary;
mod words;

pub use call::call;
pub use form::{example, subject, takes_functions};
pub use origin::fingerprint;
pub use stages::{Line, StageView, view};
pub use steps::{Level, NestedComponent, SegmentStep, SegmentedValue, Segments, segments};
pub use summary::{
    Layout, Summary, SummaryLine, count_launches, headline, launches, launches_within, summary,
    within,
};
