//! The runtimes that a program offers, as data: only the program itself names implementations.

use nesl_engine::Stages;
use nesl_runtime::runtime::{Options, Runtime};

/// A runtime as people choose it.
#[derive(Debug)]
pub struct RuntimeRow {
    /// Its name in `--runtime` and `:set runtime`.
    pub name: &'static str,
    /// One line for help.
    pub about: &'static str,
    /// Names the device that it runs on, with the part of it that these options let it use.
    pub device: fn(&Options) -> String,
    /// True if small programs are interpreted first. Someone who asks for the interpreter of kernels wants
    /// to see kernels run.
    pub interpret_first: bool,
    /// The stages of programs for it, as `nesl ir` and `:ir` show them.
    pub stages: Stages,
    /// Makes the runtime.
    pub make: fn(Options) -> Made,
}

/// A runtime, none for the direct interpreter, or the reason why this machine does not have it.
pub type Made = Result<Option<Box<dyn Runtime>>, String>;

/// The runtimes that a program offers; the first is the default.
pub type Runtimes = &'static [RuntimeRow];

/// Returns the runtime of a name.
pub fn named(runtimes: Runtimes, name: &str) -> Option<&'static RuntimeRow> {
    runtimes.iter().find(|row| row.name == name)
}
