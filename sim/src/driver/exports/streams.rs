//! Streams and events.

use super::{call, call_unless_busy, put};
use crate::driver::state::is_beside;
use crate::driver::status::Status;
use crate::driver::work::{DEFAULT_STREAM, Handle};
use crate::driver::work::{Event, HostFunction, Stream, Work};
use crate::machine::beside;
use std::ffi::{c_int, c_uint, c_void};

/// The flag of a stream that does not take turns with the default stream.
const NON_BLOCKING: c_uint = 1;

#[unsafe(no_mangle)]
unsafe extern "C" fn cuStreamCreate(stream: *mut Handle, flags: c_uint) -> Status {
    call(|driver| {
        driver.context()?;
        let handle = driver.fresh_handle();
        let created = Stream::new(flags & NON_BLOCKING == 0);
        driver.context()?.streams.insert(handle, created);
        // SAFETY: the caller of the driver API passes a pointer to a result.
        unsafe { put(stream, handle) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuStreamCreateWithPriority(
    stream: *mut Handle,
    flags: c_uint,
    _priority: c_int,
) -> Status {
    // SAFETY: the caller keeps the same promises; priorities change no result.
    unsafe { cuStreamCreate(stream, flags) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuCtxGetStreamPriorityRange(least: *mut c_int, most: *mut c_int) -> Status {
    call(|driver| {
        driver.context()?;
        // SAFETY: the caller of the driver API passes pointers to results.
        unsafe {
            put(least, 0)?;
            put(most, -5)
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuStreamDestroy_v2(stream: Handle) -> Status {
    call(|driver| {
        let handle = driver.context()?.stream(stream)?;
        if handle == DEFAULT_STREAM {
            return Err(Status::INVALID_HANDLE);
        }
        driver.drain(handle, u64::MAX)?;
        driver.context()?.streams.remove(&handle);
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuStreamSynchronize(stream: Handle) -> Status {
    // The work of a stream beside the one that is busy are the copies that were left.
    while is_beside(stream) {
        if !beside::are_pending() {
            return Status::SUCCESS;
        }
        std::thread::yield_now();
    }
    call(|driver| {
        let handle = driver.context()?.stream(stream)?;
        driver.wait(handle, u64::MAX)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuStreamQuery(stream: Handle) -> Status {
    call_unless_busy(|driver| {
        let handle = driver.context()?.stream(stream)?;
        if driver.poll_stream(handle, u64::MAX)? { Ok(()) } else { Err(Status::NOT_READY) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuStreamWaitEvent(stream: Handle, event: Handle, _flags: c_uint) -> Status {
    call(|driver| driver.wait_event(stream, event))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuStreamIsCapturing(stream: Handle, status: *mut c_uint) -> Status {
    call(|driver| {
        driver.context()?.stream(stream)?;
        // SAFETY: the caller of the driver API passes a pointer to a result.
        unsafe { put(status, 0) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuLaunchHostFunc(
    stream: Handle,
    function: Option<HostFunction>,
    argument: *mut c_void,
) -> Status {
    call(|driver| {
        driver.context()?;
        let function = function.ok_or(Status::INVALID_VALUE)?;
        driver.submit(stream, Work::Call(function, argument as usize)).map(|_| ())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuEventCreate(event: *mut Handle, _flags: c_uint) -> Status {
    call(|driver| {
        driver.context()?;
        let handle = driver.fresh_handle();
        driver.context()?.events.insert(handle, Event::default());
        // SAFETY: the caller of the driver API passes a pointer to a result.
        unsafe { put(event, handle) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuEventRecord(event: Handle, stream: Handle) -> Status {
    call(|driver| driver.record(event, stream))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuEventQuery(event: Handle) -> Status {
    call_unless_busy(
        |driver| if driver.query_event(event)? { Ok(()) } else { Err(Status::NOT_READY) },
    )
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuEventSynchronize(event: Handle) -> Status {
    call(|driver| driver.synchronize_event(event))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuEventElapsedTime(ms: *mut f32, start: Handle, end: Handle) -> Status {
    call(|driver| {
        let elapsed = driver.elapsed_ms(start, end)?;
        // SAFETY: the caller of the driver API passes a pointer to a result.
        unsafe { put(ms, elapsed) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuEventElapsedTime_v2(ms: *mut f32, start: Handle, end: Handle) -> Status {
    // SAFETY: the caller keeps the same promises.
    unsafe { cuEventElapsedTime(ms, start, end) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuEventDestroy_v2(event: Handle) -> Status {
    call(|driver| {
        let removed = driver.context()?.events.remove(&event);
        removed.map(|_| ()).ok_or(Status::INVALID_HANDLE)
    })
}
