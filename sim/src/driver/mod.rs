//! The driver: what `libcuda` knows and does, on top of the machine.
//!
//! `state` holds the context with its memory, streams, events and modules; `stream` runs the
//! work of streams, at once or deferred; `exports` are the C functions with CUDA's names; the
//! `control` functions are those of the simulator itself, for [`crate::client`].

pub mod device;
pub mod status;

mod control;
mod exports;
mod launch;
mod module;
mod pool;
mod state;
mod stream;
mod work;
