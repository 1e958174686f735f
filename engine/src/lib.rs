//! A NESL session: entries in, outcomes out.
//!
//! A [`Session`] is a growing sequence of entries (files, REPL lines, notebook cells). Entering
//! text checks and runs its forms in order and reports what happens as [`Event`]s, as it happens.
//! The session never prints and never exits: that is for the faces.

pub mod cost;
pub mod host;
pub mod session;
pub mod show;

pub use session::{
    Binding, CheckReport, Completion, Event, FileId, FileRange, Session, Settings, Stage, Summary,
};
