//! The machine: executes a launch of a decoded kernel.
//!
//! Warps run in lockstep over registers of 32 lanes. Lanes that part at a branch form groups with
//! a program counter each; groups that meet at one instruction merge, and the group that is
//! furthest behind goes first, so that they meet early. Instructions of a warp's members wait for
//! the members their mask names. Blocks are interleaved, some resident at a time, in one of three
//! orders. Memory is sequentially consistent: what weak memory would allow beyond that is found
//! by the race detector (`order`, `shadow`) and not by wrong values.

mod access;
mod alu;
mod atomic;
mod barrier;
pub mod beside;
mod bitset;
mod block;
mod collective;
mod fault;
mod memory;
mod order;
mod run;
mod shadow;
mod shape;
mod step;
mod traffic;

pub use fault::{Fault, FaultKind};
pub use memory::{AccessError, DeviceMemory};
pub use run::launch;
pub use shape::{Launch, LaunchShape};
