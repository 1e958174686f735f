//! The allocation routines that compiled code calls: the slow halves of `alloc` and `compact`, and
//! `emit`.

use crate::abi::{Env, Status};
use crate::parts::Taken;

/// Allocates when the chunk is full. `bytes` is a multiple of [`ALIGN`](crate::arena::ALIGN), or
/// below 0 when it is too large to be represented. Returns null if there is no memory; the first
/// detail of the failure is then the number of bytes.
///
/// # Safety
/// `env` is that of the running code and has an arena.
pub unsafe extern "C" fn grow(env: *mut Env, bytes: i64) -> *mut u8 {
    // SAFETY: the caller passes its own environment, to which nothing else refers meanwhile.
    let env = unsafe { &mut *env };
    let start = match usize::try_from(bytes) {
        // SAFETY: a kernel that allocates is given an arena, which this thread alone uses.
        Ok(bytes) => unsafe { &mut *env.arena }.grow(&mut env.memory, bytes),
        Err(_) => std::ptr::null_mut(),
    };
    if start.is_null() {
        env.details = 1;
        env.detail[0] = if bytes < 0 { i64::MAX } else { bytes };
    }
    start
}

/// Frees the memory of a work item that needed more than one chunk.
///
/// # Safety
/// `env` is that of the running code and has an arena.
pub unsafe extern "C" fn reset(env: *mut Env) {
    // SAFETY: the caller passes its own environment, to which nothing else refers meanwhile.
    let env = unsafe { &mut *env };
    // SAFETY: a kernel that allocates is given an arena, which this thread alone uses.
    unsafe { &mut *env.arena }.reset(&mut env.memory);
}

/// Frees the memory allocated since a mark, but for `count` arrays: `keep` holds their addresses
/// and lengths in bytes, and receives the new addresses.
///
/// # Safety
/// `env` is that of the running code and has an arena; the pairs are arrays with as many bytes.
pub unsafe extern "C" fn compact(
    env: *mut Env,
    mark: *mut u8,
    keep: *mut [usize; 2],
    count: i64,
) -> i32 {
    // SAFETY: the caller passes its own environment, to which nothing else refers meanwhile.
    let env = unsafe { &mut *env };
    // SAFETY: the caller keeps `count` pairs in its stack frame.
    let keep = unsafe { std::slice::from_raw_parts_mut(keep, count as usize) };
    // SAFETY: a kernel that allocates is given an arena, which this thread alone uses.
    let done = unsafe { &mut *env.arena }.compact(&mut env.memory, mark, keep);
    if done { Status::Done as i32 } else { Status::OutOfMemory as i32 }
}

/// Appends the part of an element to an output.
///
/// # Safety
/// `env` is that of the running code and has an arena; `from` has so many bytes, and there is such an output.
pub unsafe extern "C" fn emit(env: *mut Env, output: i64, from: *const u8, bytes: i64) -> i32 {
    // SAFETY: the caller passes its own environment, to which nothing else refers meanwhile.
    let env = unsafe { &mut *env };
    // SAFETY: a kernel that emits is given an arena, which this thread alone uses.
    let arena = unsafe { &mut *env.arena };
    // SAFETY: the launcher keeps a part for each output of the kernel, and the verifier has
    // seen that there is such an output.
    let part = unsafe { &mut *env.emitted.add(output as usize) };
    let bytes = bytes.max(0) as usize;
    if part.place != 0 {
        let place = part.place as *mut u8;
        // Code makes an array there if it is known to emit it.
        if !std::ptr::eq(place, from) {
            // SAFETY: the launcher allocated as many bytes as all elements emit, and the place moves on with each;
            // any other source belongs to an array of the work item or the runtime, never to the output. The
            // launcher keeps the output until the launch is over.
            unsafe { std::ptr::copy_nonoverlapping(from, place, bytes) };
        }
        part.place += bytes;
        return Status::Done as i32;
    }
    part.settle();
    if env.emits_last && part.len() == 0 {
        if is_whole_argument(env, from, bytes) {
            part.argument = from as usize;
            return Status::Done as i32;
        }
        let taken = arena.take(&mut env.memory, from, bytes);
        part.taken = taken.map(|(raw, counted)| Taken { raw, bytes, counted });
        if part.taken.is_some() {
            return Status::Done as i32;
        }
    }
    // SAFETY: the source has so many bytes, and belongs to an array of the work item or the runtime, never to `part`.
    if !unsafe { part.append(arena.memory(), from, bytes) } {
        return Status::OutOfMemory as i32;
    }
    Status::Done as i32
}

/// Returns true if so many bytes are a whole array among the arguments of the launch.
fn is_whole_argument(env: &Env, from: *const u8, bytes: usize) -> bool {
    if env.whole_argument_count == 0 {
        return false;
    }
    // SAFETY: the launcher keeps so many of them until the launch is over.
    let arguments =
        unsafe { std::slice::from_raw_parts(env.whole_arguments, env.whole_argument_count) };
    arguments.contains(&[from as usize, bytes])
}
