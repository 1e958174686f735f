//! A NESL session: entries in, outcomes out.
//!
//! A [`Session`] is a growing sequence of entries (files, REPL lines, notebook cells). Entering
//! text checks and runs its forms in order and reports what happens as [`Event`]s, as it happens.
//! The session never prints and never exits: that is for the faces.

mod constants;
pub mod cost;
mod evaluate;
mod execute;
pub mod host;
mod interpret_first;
mod preview;
mod resident;
mod runner;
pub mod session;
pub mod show;
mod sources;

/// A file's bytes as text: UTF-8, or else Latin-1 (as the original read it).
pub fn decode(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect())
}

pub use host::picture::Picture;
pub use nesl_core::pipeline::{Stage, Stages};
pub use session::{
    Binding, CheckReport, Completion, Event, FileId, FileRange, Precision, Session, Settings,
    Stats, Summary, Usage, Variable,
};
pub use sources::Sources;
