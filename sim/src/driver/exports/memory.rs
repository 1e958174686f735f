//! Allocation: device memory, the asynchronous pool, pinned memory.

use super::{call, put};
use crate::driver::state::{Driver, Pinned};
use crate::driver::status::{Outcome, Status};
use crate::driver::work::Handle;
use crate::driver::work::Work;
use std::ffi::{c_int, c_uint, c_void};

/// The attributes of a pool: those that are flags, the threshold, and the accounts.
const POOL_REUSE_FLAGS: std::ops::RangeInclusive<c_int> = 1..=3;
const POOL_RELEASE_THRESHOLD: c_int = 4;
const POOL_RESERVED: c_int = 5;
const POOL_RESERVED_HIGH: c_int = 6;
const POOL_USED: c_int = 7;
const POOL_USED_HIGH: c_int = 8;

/// The alignment that pinned memory must have, in bytes, to be mapped.
const MAPPED_ALIGN_BYTES: usize = 8;

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> Status {
    call(|driver| {
        let accounts = driver.context()?.accounts;
        // SAFETY: the caller of the driver API passes pointers to results.
        unsafe {
            put(free, accounts.free())?;
            put(total, accounts.total)
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemAlloc_v2(address: *mut u64, bytes: usize) -> Status {
    call(|driver| {
        let check = driver.options.check;
        let context = driver.context()?;
        if bytes == 0 {
            return Err(Status::INVALID_VALUE);
        }
        context.accounts.take_direct(bytes)?;
        let allocated = context.memory.allocate(bytes, check);
        driver.host.allocations += 1;
        // SAFETY: the caller of the driver API passes a pointer to a result.
        unsafe { put(address, allocated) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemFree_v2(address: u64) -> Status {
    call(|driver| {
        driver.context()?;
        if address == 0 {
            return Ok(());
        }
        // A synchronous release waits for all work, as the real one does.
        driver.drain_all()?;
        let context = driver.context()?;
        let bytes = context.memory.free(address).map_err(|_| Status::INVALID_VALUE)?;
        if context.pooled.remove(&address).is_some() {
            context.accounts.return_pooled(bytes);
        } else {
            context.accounts.return_direct(bytes);
        }
        driver.host.releases += 1;
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemAllocAsync(address: *mut u64, bytes: usize, stream: Handle) -> Status {
    call(|driver| {
        let allocated = allocate_pooled(driver, bytes, stream)?;
        // SAFETY: the caller of the driver API passes a pointer to a result.
        unsafe { put(address, allocated) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemAllocFromPoolAsync(
    address: *mut u64,
    bytes: usize,
    _pool: Handle,
    stream: Handle,
) -> Status {
    // SAFETY: the caller keeps the same promises; there is one pool alone.
    unsafe { cuMemAllocAsync(address, bytes, stream) }
}

fn allocate_pooled(driver: &mut Driver, bytes: usize, stream: Handle) -> Outcome<u64> {
    let check = driver.options.check;
    let context = driver.context()?;
    context.stream(stream)?;
    if bytes == 0 {
        return Err(Status::INVALID_VALUE);
    }
    context.accounts.take_pooled(bytes)?;
    let address = context.memory.allocate(bytes, check);
    context.pooled.insert(address, bytes);
    driver.host.allocations += 1;
    Ok(address)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemFreeAsync(address: u64, stream: Handle) -> Status {
    call(|driver| {
        let context = driver.context()?;
        let bytes = context.memory.size(address).map_err(|_| Status::INVALID_VALUE)?;
        // The accounts follow the calls of the host: what is released in the order of a stream
        // can be allocated again in that order.
        if context.pooled.remove(&address).is_some() {
            context.accounts.return_pooled(bytes);
        } else {
            context.accounts.return_direct(bytes);
        }
        driver.host.releases += 1;
        driver.submit(stream, Work::Free(address)).map(|_| ())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemPoolTrimTo(_pool: Handle, keep: usize) -> Status {
    call(|driver| {
        driver.context()?.accounts.trim(keep as u64);
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemPoolSetAttribute(
    _pool: Handle,
    attribute: c_int,
    value: *mut c_void,
) -> Status {
    call(|driver| {
        let accounts = &mut driver.context()?.accounts;
        if value.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        match attribute {
            _ if POOL_REUSE_FLAGS.contains(&attribute) => {}
            POOL_RELEASE_THRESHOLD => {
                // SAFETY: the value of this attribute is a 64-bit number, by the driver API.
                accounts.pool_threshold = unsafe { value.cast::<u64>().read() };
            }
            POOL_RESERVED_HIGH => accounts.pool_reserved_high = accounts.pool_reserved,
            POOL_USED_HIGH => accounts.pool_used_high = accounts.pool_used,
            _ => return Err(Status::INVALID_VALUE),
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemPoolGetAttribute(
    _pool: Handle,
    attribute: c_int,
    value: *mut c_void,
) -> Status {
    call(|driver| {
        let accounts = driver.context()?.accounts;
        let number = match attribute {
            _ if POOL_REUSE_FLAGS.contains(&attribute) => {
                // SAFETY: the value of a flag is an `int`, by the driver API.
                return unsafe { put(value.cast::<c_int>(), 1) };
            }
            POOL_RELEASE_THRESHOLD => accounts.pool_threshold,
            POOL_RESERVED => accounts.pool_reserved as u64,
            POOL_RESERVED_HIGH => accounts.pool_reserved_high as u64,
            POOL_USED => accounts.pool_used as u64,
            POOL_USED_HIGH => accounts.pool_used_high as u64,
            _ => return Err(Status::INVALID_VALUE),
        };
        // SAFETY: the value of these attributes is a 64-bit number, by the driver API.
        unsafe { put(value.cast::<u64>(), number) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemHostAlloc(
    pointer: *mut *mut c_void,
    bytes: usize,
    _flags: c_uint,
) -> Status {
    call(|driver| {
        let address = driver.context()?.allocate_pinned(bytes)?;
        // SAFETY: the caller of the driver API passes a pointer to a result.
        unsafe { put(pointer, address as *mut c_void) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemAllocHost_v2(pointer: *mut *mut c_void, bytes: usize) -> Status {
    // SAFETY: the caller keeps the same promises.
    unsafe { cuMemHostAlloc(pointer, bytes, 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemFreeHost(pointer: *mut c_void) -> Status {
    call(|driver| {
        driver.context()?;
        driver.drain_all()?;
        driver.context()?.release_pinned(pointer as usize, true)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemHostRegister_v2(
    pointer: *mut c_void,
    bytes: usize,
    _flags: c_uint,
) -> Status {
    call(|driver| {
        let context = driver.context()?;
        let address = pointer as usize;
        if address == 0 || bytes == 0 {
            return Err(Status::INVALID_VALUE);
        }
        if context.pinned_around(address, 1).is_some() {
            return Err(Status::HOST_MEMORY_ALREADY_REGISTERED);
        }
        context.pinned.insert(address, Pinned { bytes, device: None, owned: false });
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemHostUnregister(pointer: *mut c_void) -> Status {
    call(|driver| {
        driver.context()?;
        driver.drain_all()?;
        let released = driver.context()?.release_pinned(pointer as usize, false);
        released.map_err(|_| Status::HOST_MEMORY_NOT_REGISTERED)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemHostGetDevicePointer_v2(
    device: *mut u64,
    pointer: *mut c_void,
    _flags: c_uint,
) -> Status {
    call(|driver| {
        let context = driver.context()?;
        let address = pointer as usize;
        let (start, bytes, known) = match context.pinned_around(address, 1) {
            Some((start, block)) => (start, block.bytes, block.device),
            None => return Err(Status::INVALID_VALUE),
        };
        if start % MAPPED_ALIGN_BYTES != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let window = match known {
            Some(window) => window,
            // SAFETY: the block is in `pinned`, whose memory is valid until it is taken out, and
            // that releases the window first; its alignment was checked above.
            None => unsafe { context.memory.map_host(start as *mut u8, bytes) },
        };
        if let Some((_, block)) = context.pinned_around(address, 1) {
            block.device = Some(window);
        }
        // SAFETY: the caller of the driver API passes a pointer to a result.
        unsafe { put(device, window + (address - start) as u64) }
    })
}
