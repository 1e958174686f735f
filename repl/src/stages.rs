//! The stages that this program can show: those of the compiler and of the back ends that it is
//! built with.
//!
//! A back end that prints its code adds a row to [`BACKENDS`]: a pass whose function is a
//! `Run::Emit`, from a kernel module to text. Command line, prompt and server then offer it.

use nesl_core::pipeline::Pass;
use nesl_engine::Stages;

/// The rows of back ends.
static BACKENDS: [Pass; 0] = [];

/// The stages of the compiler and of the back ends of this program, in order.
pub const STAGES: Stages = Stages::with_backend(&BACKENDS);
