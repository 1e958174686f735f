//! A simulated CUDA device, on which the host code that drives a real one runs unchanged.
//!
//! The crate is built twice from the same source: as a Rust library with the
//! [`client`], and as a shared library that is a stand-in for `libcuda.so`. A program that looks
//! for CUDA's driver when it runs, as cudarc does, finds the latter and works as on a machine with
//! a GPU; the client sets the options and reads what was counted and found.
//!
//! # The map
//!
//! - [`isa`]: types, the meaning of each arithmetic instruction, decoded kernels.
//! - [`ptx`]: PTX text → decoded module; everything outside of the subset is refused.
//! - [`machine`]: executes a launch: warps in lockstep, divergence, barriers, memory, checks.
//! - [`driver`]: contexts, streams, events, pools, modules, launches: the entry points of CUDA.
//! - [`client`]: the way in for tests.
//! - [`options`], [`counters`]: what can be set, what is counted.
//!
//! # What it simulates
//!
//! - Results to the bit: IEEE arithmetic without contraction or flush to zero, PTX's rules for
//!   NaNs, shifts and conversions. Fresh memory and registers hold garbage.
//! - The order of execution: blocks start forward, in reverse or at random and take turns; groups
//!   of diverged lanes advance independently; streams may be deferred until somebody waits.
//! - Errors of every access: bounds, alignment, use after release; barriers and member masks
//!   under divergence; deadlocks; endless loops. With the option `check` also data races, by
//!   happens-before, and reads of memory that nobody wrote. A fault ends its launch, is kept with
//!   its place, and makes the context unusable, as on a device.
//! - Exact counts of instructions, memory traffic and host calls.
//!
//! # What it does not simulate
//!
//! - Time: there are counters and no durations; events measure the simulator.
//! - Weak memory: memory is sequentially consistent. A program that relies on more than it may is
//!   reported as a race, and never shows a wrong value because of it.
//! - Registers and their spilling: every thread has 32 registers as far as occupancy goes. A real
//!   `ptxas` can be asked to accept each module as well (option `ptxas`).
//! - Approximate instructions: they are computed exactly.
//! - Functions, textures, graphs, managed memory, several devices.
//!
//! Within an allocation of the device, bounds are the allocation's: a host that hands out parts of
//! one must check those itself. Shared arrays of a block are checked against the whole of its
//! shared memory.
//!
//! Any program runs on it with `LD_LIBRARY_PATH` naming a folder made by [`client::install`], and
//! `NESL_SIM_CHECK=1`, `NESL_SIM_ORDER=forward|reverse|random`, `NESL_SIM_SEED`, `NESL_SIM_DEFER=1`,
//! `NESL_SIM_DEVICE=b200|h100|a100|t4|none`, `NESL_SIM_MEMORY` (bytes), `NESL_SIM_LOG=1`,
//! `NESL_SIM_BUDGET`, `NESL_SIM_RESIDENT`, `NESL_SIM_QUANTUM`, `NESL_SIM_PTXAS` (a path).

pub mod client;
pub mod counters;
pub mod driver;
pub mod isa;
pub mod machine;
pub mod options;
pub mod ptx;
