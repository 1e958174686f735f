//! Streams, events and the work that streams hold.

use crate::isa::code::Kernel;
use crate::machine::LaunchShape;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::sync::Arc;
use std::time::Instant;

/// A handle as the host holds it.
pub type Handle = usize;

/// The handle of the default stream.
pub const DEFAULT_STREAM: Handle = 0;

/// A function of the host that a stream calls.
pub type HostFunction = unsafe extern "C" fn(*mut c_void);

/// The bytes of the host that are copied to the device.
pub enum HostSource {
    /// Pageable memory was copied when the copy was asked for.
    Copied(Vec<u8>),
    /// Pinned memory is read when the copy is done: its address and size in bytes.
    Pinned(usize, usize),
}

/// A piece of work.
pub enum Work {
    /// A launch of a kernel.
    Launch(Box<LaunchWork>),
    /// A copy to the device.
    Write(u64, HostSource),
    /// A copy of so many bytes to an address of the host.
    Read(usize, u64, usize),
    /// A copy of so many bytes within the device.
    Copy(u64, u64, usize),
    /// A filling with a repeated pattern: address, pattern, number of repetitions.
    Fill(u64, Vec<u8>, usize),
    /// The release of memory of the pool.
    Free(u64),
    /// The record of an event.
    Record(Handle),
    /// A wait for the work of a stream up to a number.
    After(Handle, u64),
    /// A call of a function of the host with its argument.
    Call(HostFunction, usize),
}

/// A stream: a queue of work that is done in its order.
pub struct Stream {
    /// It takes turns with the default stream.
    pub blocking: bool,
    /// The work that is not done, with its numbers.
    pub queue: VecDeque<(u64, Work)>,
    /// The number of the last piece of work that was submitted.
    pub issued: u64,
    /// The number of the last piece of work that was done.
    pub done: u64,
}

impl Stream {
    /// An empty stream.
    pub fn new(blocking: bool) -> Stream {
        Stream { blocking, queue: VecDeque::new(), issued: 0, done: 0 }
    }
}

/// An event: a place in a stream's work.
#[derive(Clone, Copy, Default)]
pub struct Event {
    /// The stream and the number of the work that it was last recorded as.
    pub recorded: Option<(Handle, u64)>,
    /// The time when that was done.
    pub time: Option<Instant>,
}

/// A launch that waits for its turn.
pub struct LaunchWork {
    /// The kernel that is executed.
    pub kernel: Arc<Kernel>,
    /// The extents of the launch.
    pub shape: LaunchShape,
    /// The bytes of the parameters.
    pub parameters: Vec<u8>,
    /// All blocks must run at once.
    pub cooperative: bool,
}
