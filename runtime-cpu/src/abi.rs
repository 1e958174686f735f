//! The interface between compiled code and the runtime: its entry points, the environment that it
//! is given, its status, and the layout of a chunk's state.
//!
//! ```text
//! Entry(env, params, chunk) -> Status     one pass of a kernel over one chunk of elements
//! ```
//!
//! Compiled code reads and writes the environment at the offsets in [`offset`], and the chunk at
//! the words in [`chunk`].

use crate::arena::{Arena, Bump};
use crate::parts::Part;
use crate::workers::Workers;
use nesl_runtime::runtime::Options;
use std::mem::offset_of;

/// A pass of a kernel: environment, parameters, chunk; returns a [`Status`].
pub type Entry = unsafe extern "C" fn(*mut Env, *const u64, *mut u64) -> i32;

/// The way in which compiled code ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Status {
    /// All its elements are done.
    Done = 0,
    /// A check did not hold.
    Check = 1,
    /// A `Fail` was executed, with a text.
    Fail = 2,
    /// Calls nested too deep.
    TooDeep = 3,
    /// The interrupt flag was set.
    Interrupted = 4,
    /// There was no memory for an allocation.
    OutOfMemory = 5,
    /// The stack of calls is full.
    StackFull = 6,
}

/// The environment of compiled code, one for each thread that executes a launch.
#[repr(C)]
#[derive(Debug)]
pub struct Env {
    /// The memory of the work item.
    pub memory: Bump,
    /// The lowest address to which the stack may grow.
    pub stack_limit: usize,
    /// The interrupt flag: not 0 when execution is to stop.
    pub interrupt: *const u8,
    /// The number of calls that may nest.
    pub max_depth: i64,
    /// The index of the work item that failed.
    pub work_item: i64,
    /// The failure site.
    pub site: i64,
    /// The number of details of the failure.
    pub details: i64,
    /// The details of the failure.
    pub detail: [i64; 4],
    /// The text of a `Fail`.
    pub text: *const u8,
    /// The number of chars of the text.
    pub text_length: i64,
    /// The arena of the thread; null if the kernel does not allocate.
    pub arena: *mut Arena,
    /// The threads of the runtime.
    pub workers: *const Workers,
    /// Not 0 when the launch has one chunk, so that a work item may use all threads.
    pub alone: i64,
    /// The parts that the elements of the chunk emit: one for each output.
    pub emitted: *mut Part,
    /// True if an emitted array is not used after that, so that it may be taken out of the arena.
    pub emits_last: bool,
    /// The whole arrays among the arguments, each with its address and its size in bytes, if there is only one work
    /// item: it may emit one of them as it is.
    pub whole_arguments: *const [usize; 2],
    /// The number of these.
    pub whole_argument_count: usize,
    /// True if a loop that allocates rarely may have done so since it last looked for memory that is not needed any more,
    /// or another one before it.
    pub allocated: bool,
    /// The arguments of a rare call of the runtime.
    pub arguments: [i64; 4],
    /// The result of the last rare call of the runtime.
    pub result: i64,
}

impl Env {
    /// An environment without memory.
    pub fn new(options: &Options, workers: &Workers, alone: bool) -> Env {
        Env {
            memory: Bump::default(),
            stack_limit: 0,
            interrupt: options.interrupt.as_ptr().cast(),
            max_depth: options.max_depth.try_into().unwrap_or(i64::MAX),
            work_item: 0,
            site: 0,
            details: 0,
            detail: [0; 4],
            text: std::ptr::null(),
            text_length: 0,
            arena: std::ptr::null_mut(),
            workers,
            alone: i64::from(alone),
            emitted: std::ptr::null_mut(),
            emits_last: false,
            whole_arguments: std::ptr::null(),
            whole_argument_count: 0,
            allocated: false,
            arguments: [0; 4],
            result: 0,
        }
    }
}

/// Offsets of the fields of [`Env`] and [`Part`] that compiled code accesses, in bytes.
#[allow(missing_docs, reason = "they have the names of the fields")]
pub mod offset {
    use super::{Bump, Env, Part, offset_of};
    pub const NEXT: i32 = (offset_of!(Env, memory) + offset_of!(Bump, next)) as i32;
    pub const END: i32 = (offset_of!(Env, memory) + offset_of!(Bump, end)) as i32;
    pub const BASE: i32 = (offset_of!(Env, memory) + offset_of!(Bump, base)) as i32;
    pub const GROWN: i32 = (offset_of!(Env, memory) + offset_of!(Bump, grown)) as i32;
    pub const STACK_LIMIT: i32 = offset_of!(Env, stack_limit) as i32;
    pub const INTERRUPT: i32 = offset_of!(Env, interrupt) as i32;
    pub const MAX_DEPTH: i32 = offset_of!(Env, max_depth) as i32;
    pub const WORK_ITEM: i32 = offset_of!(Env, work_item) as i32;
    pub const SITE: i32 = offset_of!(Env, site) as i32;
    pub const DETAILS: i32 = offset_of!(Env, details) as i32;
    pub const DETAIL: i32 = offset_of!(Env, detail) as i32;
    pub const TEXT: i32 = offset_of!(Env, text) as i32;
    pub const EMITTED: i32 = offset_of!(Env, emitted) as i32;
    pub const PLACE: i32 = offset_of!(Part, place) as i32;
    pub const PART_NEXT: i32 = offset_of!(Part, next) as i32;
    pub const PART_END: i32 = offset_of!(Part, end) as i32;
    pub const ALLOCATED: i32 = offset_of!(Env, allocated) as i32;
    pub const ARGUMENTS: i32 = offset_of!(Env, arguments) as i32;
    pub const RESULT: i32 = offset_of!(Env, result) as i32;
    pub const TEXT_LENGTH: i32 = offset_of!(Env, text_length) as i32;
}

/// The state of a chunk of elements, shared by compiled code and the launcher: an array of 8-byte
/// words, a header and then [`SLOTS`](chunk::SLOTS) words for each sink.
pub mod chunk {
    /// The number of words before the slots.
    pub const HEADER: usize = 5;

    /// The word that holds the index of the first element.
    pub const FIRST: usize = 0;
    /// The word that holds the index behind the last element.
    pub const LAST: usize = 1;
    /// The word that holds the segment of the first element.
    pub const SEGMENT: usize = 2;
    /// The word that holds the segment behind that of the last element.
    pub const SEGMENTS: usize = 3;
    /// The word that holds the chunk's tag: its number and 1.
    pub const TAG: usize = 4;

    /// The number of words of a sink.
    pub const SLOTS: usize = 6;

    /// Before the pass: the carry of a scan, the position of a pack, the tags of a scatter.
    /// After it: the reduction of the chunk, or of the part of its first segment.
    pub const CARRY: usize = 0;
    /// After the pass: the scan so far, the position of a pack, the reduction of the part of the
    /// last segment, if that is not the first.
    pub const TOTAL: usize = 1;
    /// The number of elements that a pack kept of the part of the first segment.
    pub const FIRST_COUNT: usize = 2;
    /// The number of elements that a pack kept of the part of the last segment, if that is not the
    /// first.
    pub const LAST_COUNT: usize = 3;
    /// The place to which elements are written that a pack or a histogram does not keep.
    pub const DISCARD: usize = 4;
    /// Before the pass: the position behind the last one that a pack may write to. Behind it there may be the elements
    /// of the next chunk, or the end of the array.
    pub const LIMIT: usize = 5;
}
