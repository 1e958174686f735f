//! The ways in which a run of a flat program ends early.

use crate::unsupported::Unsupported;
use nesl_core::interp::Failure as ProgramFailure;
use nesl_runtime::runtime::Failure;

/// The reason why a run of a flat program has no result.
#[derive(Debug)]
pub(crate) enum RunError {
    /// The program failed, at a known place.
    Failed(ProgramFailure),
    /// The runtime reported a failure, of this launch or of one before; the log of launches knows
    /// the place.
    Runtime(Failure),
    /// The program cannot be run in flattened form: one thread runs it instead.
    Unsupported(Unsupported),
}

/// The result of a part of a run.
pub(crate) type RunResult<T> = Result<T, RunError>;

impl From<Failure> for RunError {
    fn from(failure: Failure) -> RunError {
        RunError::Runtime(failure)
    }
}

impl From<Unsupported> for RunError {
    fn from(reason: Unsupported) -> RunError {
        RunError::Unsupported(reason)
    }
}
