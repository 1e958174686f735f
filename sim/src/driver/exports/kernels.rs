//! Modules, functions, occupancy, launches.

use super::{call, put};
use crate::driver::device::{DEFAULT_SHARED_BYTES, MAX_BLOCK_THREADS, NOMINAL_REGISTERS};
use crate::driver::launch::Request;
use crate::driver::module::LoadError;
use crate::driver::state::driver;
use crate::driver::status::{Outcome, Status};
use crate::driver::work::{Handle, Work};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

/// The options of a module's compilation that are heeded.
/// The kind of input of a linker that is PTX.
const LINK_INPUT_PTX: c_uint = 1;

const JIT_INFO_LOG: c_uint = 3;
const JIT_INFO_LOG_BYTES: c_uint = 4;
const JIT_ERROR_LOG: c_uint = 5;
const JIT_ERROR_LOG_BYTES: c_uint = 6;

/// The first bytes of images that are machine code: ELF files and containers of them.
const BINARY_IMAGES: [&[u8]; 2] = [b"\x7fELF", b"\x50\xed\x55\xba"];

#[unsafe(no_mangle)]
unsafe extern "C" fn cuModuleLoadData(module: *mut Handle, image: *const c_void) -> Status {
    // SAFETY: the caller passes an image as for `cuModuleLoadDataEx`.
    let loaded = unsafe { load(image) };
    // SAFETY: the caller of the driver API passes a pointer to a result.
    call(|_| unsafe { put(module, loaded.map_err(|(status, _)| status)?) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuModuleLoadDataEx(
    module: *mut Handle,
    image: *const c_void,
    count: c_uint,
    options: *const c_uint,
    values: *mut *mut c_void,
) -> Status {
    // SAFETY: the caller passes an image: a text that ends with a zero, or a binary.
    let loaded = unsafe { load(image) };
    let log = loaded.as_ref().err().map_or("", |(_, log)| log.as_str());
    // SAFETY: the caller passes `count` options with as many values; the value of a log is a
    // buffer of as many bytes as the value of its size says.
    unsafe {
        write_log(count, options, values, (JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES), log);
        write_log(count, options, values, (JIT_INFO_LOG, JIT_INFO_LOG_BYTES), "");
        call(|_| put(module, loaded.map_err(|(status, _)| status)?))
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuLinkCreate_v2(
    count: c_uint,
    options: *const c_uint,
    values: *mut *mut c_void,
    state: *mut Handle,
) -> Status {
    // SAFETY: the caller passes `count` options with as many values, as for `cuModuleLoadDataEx`.
    unsafe { write_log(count, options, values, (JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES), "") };
    call(|driver| {
        driver.context()?;
        let handle = driver.fresh_handle();
        driver.context()?.links.insert(handle, Vec::new());
        // SAFETY: the caller of the driver API passes a pointer to a result.
        unsafe { put(state, handle) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuLinkAddData_v2(
    state: Handle,
    kind: c_uint,
    data: *const c_void,
    bytes: usize,
    _name: *const c_char,
    _count: c_uint,
    _options: *const c_uint,
    _values: *mut *mut c_void,
) -> Status {
    call(|driver| {
        if kind != LINK_INPUT_PTX || data.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the caller passes an input of so many bytes.
        let text = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), bytes) };
        let link = driver.context()?.links.get_mut(&state).ok_or(Status::INVALID_HANDLE)?;
        link.extend_from_slice(text);
        Ok(())
    })
}

/// Gives the text back as the code: the simulator executes PTX.
#[unsafe(no_mangle)]
unsafe extern "C" fn cuLinkComplete(
    state: Handle,
    code: *mut *mut c_void,
    bytes: *mut usize,
) -> Status {
    call(|driver| {
        let is_write = |(_, work): &(u64, Work)| matches!(work, Work::Write(..));
        let streams = driver.context()?.streams.values();
        let is_writing = streams.flat_map(|stream| &stream.queue).any(is_write);
        driver.host.links_beside_writes += u64::from(is_writing);
        let link = driver.context()?.links.get_mut(&state).ok_or(Status::INVALID_HANDLE)?;
        // SAFETY: the caller of the driver API passes pointers to results. The code lies in the
        // linker's memory until it is destroyed.
        unsafe {
            put(bytes, link.len())?;
            put(code, link.as_mut_ptr().cast())
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuLinkDestroy(state: Handle) -> Status {
    call(|driver| {
        let removed = driver.context()?.links.remove(&state);
        removed.map(|_| ()).ok_or(Status::INVALID_HANDLE)
    })
}

/// Loads an image.
///
/// # Safety
/// The image is null, or a text that ends with a zero, or a binary of at least four bytes.
unsafe fn load(image: *const c_void) -> Result<Handle, LoadError> {
    if image.is_null() {
        return Err((Status::INVALID_VALUE, String::new()));
    }
    // SAFETY: the caller promises either kind of image; a text of fewer than four bytes is
    // compared only up to the zero at its end, since the prefixes hold none.
    let is_binary = |prefix: &[u8]| unsafe {
        let bytes = image.cast::<u8>();
        prefix.iter().enumerate().all(|(k, byte)| bytes.add(k).read() == *byte)
    };
    if BINARY_IMAGES.into_iter().any(is_binary) {
        let text = "machine code cannot run on the simulator: load PTX".to_owned();
        return Err((Status::NO_BINARY_FOR_GPU, text));
    }
    // SAFETY: what is no binary is a text with a zero at its end, by the caller's promise.
    let text = unsafe { CStr::from_ptr(image.cast()) };
    let text = text.to_str().map_err(|error| (Status::INVALID_PTX, error.to_string()))?;
    let mut driver = driver();
    let loaded = driver.load_module(text);
    if let Err((_, log)) = &loaded
        && (driver.options.log || !driver.attached)
    {
        eprintln!("nesl-sim: a module is refused: {log}");
    }
    loaded
}

/// Writes a log to the buffer that the options name, and its length over the buffer's size.
///
/// # Safety
/// `options` and `values` point to `count` elements each; the value of the option `log.0` points
/// to as many writable bytes as the value of the option `log.1` says.
unsafe fn write_log(
    count: c_uint,
    options: *const c_uint,
    values: *mut *mut c_void,
    log: (c_uint, c_uint),
    text: &str,
) {
    let (mut buffer, mut size) = (None, None);
    for k in 0..count as usize {
        // SAFETY: there are `count` options and values, by the caller's promise.
        let (option, value) = unsafe { (*options.add(k), *values.add(k)) };
        if option == log.0 {
            buffer = Some(value.cast::<u8>());
        } else if option == log.1 {
            size = Some((k, value as usize));
        }
    }
    let (Some(buffer), Some((at, room))) = (buffer, size) else { return };
    if buffer.is_null() || room == 0 {
        return;
    }
    let kept = text.len().min(room - 1);
    // SAFETY: the buffer has `room` bytes, by the caller's promise, and `kept + 1` are written;
    // `at` is the index of one of the values.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), buffer, kept);
        buffer.add(kept).write(0);
        *values.add(at) = kept as *mut c_void;
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuModuleUnload(module: Handle) -> Status {
    call(|driver| driver.unload_module(module))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuModuleGetFunction(
    function: *mut Handle,
    module: Handle,
    name: *const c_char,
) -> Status {
    call(|driver| {
        let loaded = driver.context()?.modules.get(&module).ok_or(Status::INVALID_HANDLE)?;
        // SAFETY: the caller of the driver API passes a name that ends with a zero.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        let found = *loaded.functions.get(&*name).ok_or(Status::NOT_FOUND)?;
        // SAFETY: the caller of the driver API passes a pointer to a result.
        unsafe { put(function, found) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuModuleGetGlobal_v2(
    address: *mut u64,
    bytes: *mut usize,
    module: Handle,
    name: *const c_char,
) -> Status {
    call(|driver| {
        let loaded = driver.context()?.modules.get(&module).ok_or(Status::INVALID_HANDLE)?;
        // SAFETY: the caller of the driver API passes a name that ends with a zero.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        let found = loaded.globals.iter().find(|(known, _, _)| *known == name);
        let (_, start, size) = found.ok_or(Status::NOT_FOUND)?;
        // SAFETY: the caller passes pointers to results, either of which may be null.
        unsafe {
            if !address.is_null() {
                put(address, *start)?;
            }
            if bytes.is_null() { Ok(()) } else { put(bytes, *size) }
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuFuncGetAttribute(
    value: *mut c_int,
    attribute: c_int,
    function: Handle,
) -> Status {
    call(|driver| {
        let capability = driver.device()?.capability;
        let found = driver.context()?.functions.get(&function).ok_or(Status::INVALID_HANDLE)?;
        let kernel = &found.kernel;
        let number = match attribute {
            0 => kernel.max_threads.unwrap_or(MAX_BLOCK_THREADS) as usize,
            1 => kernel.shared_bytes,
            2 => kernel.constants_bank.bytes.len(),
            3 => kernel.local_bytes,
            4 => NOMINAL_REGISTERS as usize,
            5 | 6 => capability as usize,
            8 => found.dynamic_limit,
            7 | 9..=15 => 0,
            _ => return Err(Status::INVALID_VALUE),
        };
        // SAFETY: the caller of the driver API passes a pointer to a result.
        unsafe { put(value, number as c_int) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuFuncSetAttribute(
    function: Handle,
    attribute: c_int,
    value: c_int,
) -> Status {
    call(|driver| {
        let most = driver.device()?.block_shared_bytes as usize;
        let found = driver.context()?.functions.get_mut(&function).ok_or(Status::INVALID_HANDLE)?;
        match attribute {
            8 => {
                let limit = usize::try_from(value).map_err(|_| Status::INVALID_VALUE)?;
                if limit + found.kernel.shared_bytes > most.max(DEFAULT_SHARED_BYTES) {
                    return Err(Status::INVALID_VALUE);
                }
                found.dynamic_limit = limit;
                Ok(())
            }
            // The share of the cache that becomes shared memory changes no result.
            9 => Ok(()),
            _ => Err(Status::INVALID_VALUE),
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuFuncSetCacheConfig(function: Handle, _config: c_uint) -> Status {
    call(|driver| {
        let found = driver.context()?.functions.get(&function);
        found.map(|_| ()).ok_or(Status::INVALID_HANDLE)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks: *mut c_int,
    function: Handle,
    threads: c_int,
    dynamic_bytes: usize,
) -> Status {
    call(|driver| {
        let count = driver.occupancy(function, threads, dynamic_bytes)?;
        // SAFETY: the caller of the driver API passes a pointer to a result.
        unsafe { put(blocks, count as c_int) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    blocks: *mut c_int,
    function: Handle,
    threads: c_int,
    dynamic_bytes: usize,
    _flags: c_uint,
) -> Status {
    // SAFETY: the caller keeps the same promises.
    unsafe { cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic_bytes) }
}

/// A function of the host: threads of a block → bytes of dynamic shared memory.
type DynamicBytes = unsafe extern "C" fn(c_int) -> usize;

#[unsafe(no_mangle)]
unsafe extern "C" fn cuOccupancyMaxPotentialBlockSize(
    grid: *mut c_int,
    block: *mut c_int,
    function: Handle,
    dynamic: Option<DynamicBytes>,
    dynamic_bytes: usize,
    limit: c_int,
) -> Status {
    call(|driver| {
        let device = driver.device()?;
        let most = if limit > 0 { limit } else { MAX_BLOCK_THREADS as c_int };
        let mut best = (0, 0, 0);
        for threads in (32..=most.min(MAX_BLOCK_THREADS as c_int)).rev().step_by(32) {
            let bytes = match dynamic {
                // SAFETY: the caller promises that the function may be called with any size.
                Some(function) => unsafe { function(threads) },
                None => dynamic_bytes,
            };
            let blocks = driver.occupancy(function, threads, bytes)?;
            if blocks as c_int * threads > best.0 {
                best = (blocks as c_int * threads, threads, blocks);
            }
        }
        let (_, threads, blocks) = best;
        // SAFETY: the caller of the driver API passes pointers to results.
        unsafe {
            put(block, threads)?;
            put(grid, (blocks * device.multiprocessors) as c_int)
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuOccupancyAvailableDynamicSMemPerBlock(
    bytes: *mut usize,
    function: Handle,
    blocks: c_int,
    _threads: c_int,
) -> Status {
    call(|driver| {
        let device = driver.device()?;
        let found = driver.context()?.functions.get(&function).ok_or(Status::INVALID_HANDLE)?;
        if blocks <= 0 {
            return Err(Status::INVALID_VALUE);
        }
        let share = device.shared_bytes / blocks as u32;
        let room = share.min(device.block_shared_bytes) as usize;
        // SAFETY: the caller of the driver API passes a pointer to a result.
        unsafe { put(bytes, room.saturating_sub(found.kernel.shared_bytes)) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuLaunchKernel(
    function: Handle,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    dynamic_bytes: c_uint,
    stream: Handle,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Status {
    let request = Request {
        grid: [grid_x, grid_y, grid_z],
        block: [block_x, block_y, block_z],
        dynamic_bytes: dynamic_bytes as usize,
        stream,
        cooperative: false,
    };
    // SAFETY: the caller passes the parameters as the driver API demands.
    unsafe { launch(function, &request, parameters, extra) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuLaunchCooperativeKernel(
    function: Handle,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    dynamic_bytes: c_uint,
    stream: Handle,
    parameters: *mut *mut c_void,
) -> Status {
    let request = Request {
        grid: [grid_x, grid_y, grid_z],
        block: [block_x, block_y, block_z],
        dynamic_bytes: dynamic_bytes as usize,
        stream,
        cooperative: true,
    };
    // SAFETY: the caller passes the parameters as the driver API demands.
    unsafe { launch(function, &request, parameters, std::ptr::null_mut()) }
}

/// Launches a kernel.
///
/// # Safety
/// `parameters` points to a pointer for each parameter, to as many bytes as it has.
unsafe fn launch(
    function: Handle,
    request: &Request,
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Status {
    call(|driver| -> Outcome {
        if !extra.is_null() {
            return Err(Status::NOT_SUPPORTED);
        }
        // SAFETY: the caller keeps the promise that `Driver::launch` asks for.
        unsafe { driver.launch(function, request, parameters.cast_const().cast()) }
    })
}
