//! Copies and fillings, synchronous and in the order of a stream.

use super::call;
use crate::driver::state::{Driver, is_beside};
use crate::driver::status::{Outcome, Status};
use crate::driver::work::{DEFAULT_STREAM, Handle};
use crate::driver::work::{HostSource, Work};
use crate::machine::beside;
use std::ffi::c_void;

/// Submits a copy to the device.
///
/// # Safety
/// `from` points to `bytes` readable bytes, which stay so until the copy is done if they are
/// pinned.
unsafe fn write(
    driver: &mut Driver,
    to: u64,
    from: *const c_void,
    bytes: usize,
    stream: Handle,
) -> Outcome<u64> {
    let context = driver.context()?;
    if bytes == 0 {
        return Ok(0);
    }
    if from.is_null() || context.memory.locate(to, bytes).is_err() {
        return Err(Status::INVALID_VALUE);
    }
    let source = if context.pinned_around(from as usize, bytes).is_some() {
        HostSource::Pinned(from as usize, bytes)
    } else {
        // SAFETY: the caller promises that many readable bytes.
        let copied = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), bytes) };
        HostSource::Copied(copied.to_vec())
    };
    driver.host.writes += 1;
    driver.host.write_bytes += bytes as u64;
    driver.submit(stream, Work::Write(to, source))
}

/// Submits a copy to the host; a copy to pageable memory is done before this returns.
///
/// # Safety
/// `to` points to `bytes` writable bytes, which stay so until the copy is done.
unsafe fn read(
    driver: &mut Driver,
    to: *mut c_void,
    from: u64,
    bytes: usize,
    stream: Handle,
    blocks: bool,
) -> Outcome {
    let context = driver.context()?;
    if bytes == 0 {
        return Ok(());
    }
    if to.is_null() || context.memory.locate(from, bytes).is_err() {
        return Err(Status::INVALID_VALUE);
    }
    let pinned = context.pinned_around(to as usize, bytes).is_some();
    let stream = context.stream(stream)?;
    driver.host.reads += 1;
    driver.host.read_bytes += bytes as u64;
    let number = driver.submit(stream, Work::Read(to as usize, from, bytes))?;
    if blocks || !pinned { driver.wait(stream, number) } else { Ok(()) }
}

fn copy(driver: &mut Driver, to: u64, from: u64, bytes: usize, stream: Handle) -> Outcome<u64> {
    let context = driver.context()?;
    if bytes == 0 {
        return Ok(0);
    }
    if context.memory.locate(to, bytes).is_err() || context.memory.locate(from, bytes).is_err() {
        return Err(Status::INVALID_VALUE);
    }
    driver.host.device_copies += 1;
    driver.host.device_copy_bytes += bytes as u64;
    driver.submit(stream, Work::Copy(to, from, bytes))
}

fn fill(
    driver: &mut Driver,
    to: u64,
    pattern: &[u8],
    count: usize,
    stream: Handle,
) -> Outcome<u64> {
    let context = driver.context()?;
    let bytes = pattern.len() * count;
    if bytes == 0 {
        return Ok(0);
    }
    if context.memory.locate(to, bytes).is_err() || !to.is_multiple_of(pattern.len() as u64) {
        return Err(Status::INVALID_VALUE);
    }
    driver.host.fills += 1;
    driver.host.fill_bytes += bytes as u64;
    driver.submit(stream, Work::Fill(to, pattern.to_vec(), count))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize) -> Status {
    call(|driver| {
        // SAFETY: the caller of the driver API passes as many readable bytes.
        let number = unsafe { write(driver, to, from, bytes, DEFAULT_STREAM)? };
        driver.wait(DEFAULT_STREAM, number)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, bytes: usize) -> Status {
    // SAFETY: the caller of the driver API passes as many writable bytes.
    call(|driver| unsafe { read(driver, to, from, bytes, DEFAULT_STREAM, true) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemcpyDtoD_v2(to: u64, from: u64, bytes: usize) -> Status {
    call(|driver| copy(driver, to, from, bytes, DEFAULT_STREAM).map(|_| ()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemcpyHtoDAsync_v2(
    to: u64,
    from: *const c_void,
    bytes: usize,
    stream: Handle,
) -> Status {
    if is_beside(stream) && !from.is_null() {
        // SAFETY: the caller of the driver API passes as many readable bytes.
        let copied = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), bytes) };
        beside::leave(to, copied.to_vec());
        return Status::SUCCESS;
    }
    // SAFETY: the caller of the driver API passes as many readable bytes.
    call(|driver| unsafe { write(driver, to, from, bytes, stream).map(|_| ()) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemcpyDtoHAsync_v2(
    to: *mut c_void,
    from: u64,
    bytes: usize,
    stream: Handle,
) -> Status {
    // SAFETY: the caller of the driver API passes as many writable bytes.
    call(|driver| unsafe { read(driver, to, from, bytes, stream, false) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemcpyDtoDAsync_v2(
    to: u64,
    from: u64,
    bytes: usize,
    stream: Handle,
) -> Status {
    call(|driver| copy(driver, to, from, bytes, stream).map(|_| ()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemsetD8_v2(to: u64, value: u8, count: usize) -> Status {
    call(|driver| fill(driver, to, &[value], count, DEFAULT_STREAM).map(|_| ()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemsetD32_v2(to: u64, value: u32, count: usize) -> Status {
    call(|driver| fill(driver, to, &value.to_le_bytes(), count, DEFAULT_STREAM).map(|_| ()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemsetD8Async(to: u64, value: u8, count: usize, stream: Handle) -> Status {
    call(|driver| fill(driver, to, &[value], count, stream).map(|_| ()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemsetD32Async(to: u64, value: u32, count: usize, stream: Handle) -> Status {
    call(|driver| fill(driver, to, &value.to_le_bytes(), count, stream).map(|_| ()))
}
