//! A NESL session: entries in, outcomes out.
//!
//! A [`Session`] is a growing sequence of entries (files, REPL lines, notebook cells). Entering
//! text checks and runs its forms in order and reports what happens as [`Event`]s, as it happens.
//! The session never prints and never exits: that is for the faces.

mod arrays;
pub mod cost;
pub mod data;
pub mod exchange;
mod exec;
mod execute;
mod frame;
pub mod host;
mod interpret_first;
mod kernels;
mod outlook;
mod preview;
mod progress;
mod recent;
mod resident;
mod runner;
pub mod session;
mod shape;
pub mod show;
mod sources;
mod trace;
mod unsupported;

pub use host::LineInput;
pub use host::file::{end_between_writes, handle_ends, write_whole};
pub use host::lines_typed;
pub use host::picture::Picture;
pub use host::text::decode;
pub use nesl_core::pipeline::{Stage, Stages};
pub use outlook::{Entry, Outlook, View};
pub use progress::{Progress, Report, Round, Rounds};
pub use session::{
    Binding, CheckReport, Completion, Cost, Definition, Earlier, Event, FileId, FileRange, Known,
    Piece, Precision, Session, Settings, ShownValues, StageText, Stats, Summary, Usage, Variable,
};
pub use shape::Extent;
pub use sources::{Sources, read_program};
pub use unsupported::Unsupported;
