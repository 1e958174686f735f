//! Initialisation, devices, contexts, errors.

use super::{call, put};
use crate::driver::state::{current, set_current};
use crate::driver::status::Status;
use crate::driver::work::Handle;
use std::ffi::{CStr, c_char, c_int, c_uint};
use std::path::Path;
use std::time::Duration;

/// The version that the driver reports: CUDA 12.9.
const DRIVER_VERSION: c_int = 12_090;

/// The time between two looks for the file that a driver waits for.
const GATE_POLL: Duration = Duration::from_millis(5);

/// The handle of the only pool.
pub const DEFAULT_POOL: Handle = 0x900;

#[unsafe(no_mangle)]
unsafe extern "C" fn cuInit(_flags: c_uint) -> Status {
    call(|driver| {
        while driver.options.gate.as_ref().is_some_and(|path| !Path::new(path).exists()) {
            std::thread::sleep(GATE_POLL);
        }
        driver.device()?;
        driver.initialised = true;
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDriverGetVersion(version: *mut c_int) -> Status {
    // SAFETY: the caller of the driver API passes a pointer to a result.
    call(|_| unsafe { put(version, DRIVER_VERSION) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> Status {
    call(|driver| {
        driver.device_numbered(0)?;
        // SAFETY: the caller of the driver API passes a pointer to a result.
        unsafe { put(count, 1) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGet(device: *mut c_int, ordinal: c_int) -> Status {
    call(|driver| {
        driver.device_numbered(ordinal)?;
        // SAFETY: the caller of the driver API passes a pointer to a result.
        unsafe { put(device, ordinal) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, length: c_int, device: c_int) -> Status {
    call(|driver| {
        let text = driver.device_numbered(device)?.name.as_bytes();
        let Some(room) = usize::try_from(length).ok().filter(|&length| length > 0) else {
            return Err(Status::INVALID_VALUE);
        };
        let kept = text.len().min(room - 1);
        for (k, byte) in text[..kept].iter().chain([&0]).enumerate() {
            // SAFETY: the caller passes `length` writable bytes; `kept + 1` of them are written.
            unsafe { put(name.wrapping_add(k), *byte as c_char)? };
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetUuid_v2(uuid: *mut [u8; 16], device: c_int) -> Status {
    call(|driver| {
        driver.device_numbered(device)?;
        // SAFETY: the caller of the driver API passes a pointer to a result.
        unsafe { put(uuid, *b"nesl-sim-device0") }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int) -> Status {
    call(|driver| {
        driver.device_numbered(device)?;
        // SAFETY: the caller of the driver API passes a pointer to a result.
        unsafe { put(bytes, driver.memory_bytes()?) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetAttribute(
    value: *mut c_int,
    attribute: c_int,
    device: c_int,
) -> Status {
    call(|driver| {
        let device = driver.device_numbered(device)?;
        // SAFETY: the caller of the driver API passes a pointer to a result.
        unsafe { put(value, device.attribute(attribute)) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetDefaultMemPool(pool: *mut Handle, device: c_int) -> Status {
    call(|driver| {
        driver.device_numbered(device)?;
        // SAFETY: the caller of the driver API passes a pointer to a result.
        unsafe { put(pool, DEFAULT_POOL) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetMemPool(pool: *mut Handle, device: c_int) -> Status {
    // SAFETY: the caller keeps the same promises as for the default pool, which is the only one.
    unsafe { cuDeviceGetDefaultMemPool(pool, device) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDevicePrimaryCtxRetain(context: *mut Handle, device: c_int) -> Status {
    call(|driver| {
        driver.device_numbered(device)?;
        let handle = driver.retain()?;
        // SAFETY: the caller of the driver API passes a pointer to a result.
        unsafe { put(context, handle) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDevicePrimaryCtxRelease_v2(device: c_int) -> Status {
    call(|driver| {
        driver.device_numbered(device)?;
        driver.release()
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDevicePrimaryCtxReset_v2(device: c_int) -> Status {
    call(|driver| {
        driver.device_numbered(device)?;
        driver.reset();
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuCtxGetCurrent(context: *mut Handle) -> Status {
    // SAFETY: the caller of the driver API passes a pointer to a result.
    call(|_| unsafe { put(context, current()) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuCtxSetCurrent(context: Handle) -> Status {
    call(|_| {
        set_current(context);
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuCtxGetDevice(device: *mut c_int) -> Status {
    call(|driver| {
        driver.context()?;
        // SAFETY: the caller of the driver API passes a pointer to a result.
        unsafe { put(device, 0) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuCtxSetFlags(_flags: c_uint) -> Status {
    call(|driver| driver.context().map(|_| ()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuCtxSynchronize() -> Status {
    call(|driver| {
        driver.context()?;
        driver.host.drains += 1;
        driver.drain_all()?;
        let accounts = &mut driver.context()?.accounts;
        accounts.trim(accounts.pool_threshold);
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorName(status: Status, name: *mut *const c_char) -> Status {
    // SAFETY: the caller of the driver API passes a pointer to a result.
    unsafe { put_text(name, status.describe().map(|(name, _)| name)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorString(status: Status, text: *mut *const c_char) -> Status {
    // SAFETY: the caller of the driver API passes a pointer to a result.
    unsafe { put_text(text, status.describe().map(|(_, text)| text)) }
}

/// Writes a pointer to a text that lives for ever, or null.
///
/// # Safety
/// The pointer is null or points to writable memory for a pointer.
unsafe fn put_text(target: *mut *const c_char, text: Option<&'static CStr>) -> Status {
    let pointer = text.map_or(std::ptr::null(), CStr::as_ptr);
    // SAFETY: the caller promises that the target is null or writable.
    match unsafe { put(target, pointer) } {
        Ok(()) if text.is_some() => Status::SUCCESS,
        _ => Status::INVALID_VALUE,
    }
}
