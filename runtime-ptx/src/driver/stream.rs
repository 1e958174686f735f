//! The stream: the order in which the device works, and the host's waiting for it.

use super::device::Device;
use super::module::CompiledEntry;
use super::{device_failure, failure};
use cudarc::driver::result::{self, event, stream};
use cudarc::driver::sys::{self, CUdeviceptr, CUevent_flags, CUresult};
use nesl_runtime::runtime::Failure;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// The time between two looks at an interrupt while the host waits.
const INTERRUPT_POLL_INTERVAL: Duration = Duration::from_micros(200);

/// The number of looks at the device before the host begins to sleep between them: short work is
/// waited for without sleep.
const LOOKS_WITHOUT_SLEEP: u32 = 2000;

/// `cuMemHostAlloc`'s flag for memory that kernels can access.
const HOST_ALLOC_DEVICE_MAP: u32 = 2;

/// The only stream of a runtime.
pub struct Stream {
    device: Arc<Device>,
    handle: sys::CUstream,
    /// Marks the end of what is waited for.
    done: sys::CUevent,
    /// The word in the host's memory that loops of kernels look at.
    word: InterruptWord,
    /// The interrupt flag of the runtime's options.
    interrupt: Arc<AtomicBool>,
}

/// A word in pinned memory of the host, which kernels read.
struct InterruptWord {
    host: *const AtomicU32,
    address: CUdeviceptr,
}

impl Stream {
    /// A new stream of a device.
    pub fn new(device: Arc<Device>, interrupt: Arc<AtomicBool>) -> Result<Stream, Failure> {
        device.bind()?;
        let handle = stream::create(stream::StreamKind::NonBlocking)
            .map_err(|error| failure("create a stream", error))?;
        let done = event::create(CUevent_flags::CU_EVENT_DISABLE_TIMING)
            .map_err(|error| failure("create an event", error))?;
        let word = InterruptWord::new()?;
        Ok(Stream { device, handle, done, word, interrupt })
    }

    /// The address of the interrupt word, for kernels.
    pub fn interrupt_word(&self) -> CUdeviceptr {
        self.word.address
    }

    /// Enqueues the copy of bytes to the device. The host's bytes may be changed when it returns.
    pub fn write(&self, to: CUdeviceptr, bytes: &[u8]) -> Result<(), Failure> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.device.bind()?;
        // SAFETY: the caller owns a block of at least so many bytes from `to` on. Memory that is
        // not pinned has been read when the call returns.
        unsafe { result::memcpy_htod_async(to, bytes, self.handle) }
            .map_err(|error| failure("copy to the device", error))
    }

    /// Enqueues the setting of bytes to 0.
    pub fn clear(&self, from: CUdeviceptr, bytes: usize) -> Result<(), Failure> {
        if bytes == 0 {
            return Ok(());
        }
        self.device.bind()?;
        // SAFETY: the caller owns a block of at least so many bytes from `from` on.
        unsafe { result::memset_d8_async(from, 0, bytes, self.handle) }
            .map_err(|error| failure("clear memory", error))
    }

    /// Copies bytes from the device, after everything enqueued is done.
    pub fn read(&self, from: CUdeviceptr, bytes: &mut [u8]) -> Result<(), Failure> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.wait()?;
        // SAFETY: the caller owns a block of at least so many bytes from `from` on. The copy is
        // waited for below, before `bytes` is given back.
        unsafe { result::memcpy_dtoh_async(bytes, from, self.handle) }
            .map_err(|error| failure("copy from the device", error))?;
        // SAFETY: the stream is this one's.
        unsafe { stream::synchronize(self.handle) }.map_err(|error| failure("wait", error))
    }

    /// Enqueues an entry with parameters of 8 bytes.
    pub fn launch(
        &self,
        entry: &CompiledEntry,
        blocks: u32,
        threads: u32,
        params: &mut [u64],
    ) -> Result<(), Failure> {
        self.device.bind()?;
        let mut pointers: Vec<*mut c_void> =
            params.iter_mut().map(|param| std::ptr::from_mut(param).cast()).collect();
        // SAFETY: the entry is one of a module that its caller keeps, and takes these parameters:
        // both come from one plan. The driver copies the parameters before it returns.
        unsafe {
            result::launch_kernel(
                entry.handle(),
                (blocks, 1, 1),
                (threads, 1, 1),
                0,
                self.handle,
                &mut pointers,
            )
        }
        .map_err(|error| failure("launch a kernel", error))
    }

    /// Waits until everything enqueued is done. An interrupt meanwhile is passed on to the kernels.
    pub fn wait(&self) -> Result<(), Failure> {
        self.device.bind()?;
        // SAFETY: event and stream are this one's.
        unsafe { event::record(self.done, self.handle) }.map_err(|error| failure("wait", error))?;
        let mut looks = 0;
        loop {
            // SAFETY: the event is this stream's.
            match unsafe { event::query(self.done) } {
                Ok(()) => break,
                Err(error) if error.0 == CUresult::CUDA_ERROR_NOT_READY => {}
                Err(error) => return Err(self.lost(error)),
            }
            if self.interrupt.load(Ordering::Relaxed) {
                self.word.set(1);
            }
            looks += 1;
            match looks < LOOKS_WITHOUT_SLEEP {
                true => std::hint::spin_loop(),
                false => std::thread::sleep(INTERRUPT_POLL_INTERVAL),
            }
        }
        self.word.set(0);
        Ok(())
    }

    /// An error after which the context cannot be used any more: a kernel accessed memory that is
    /// not its own, or stopped itself.
    fn lost(&self, error: result::DriverError) -> Failure {
        let name = error.error_name().ok().and_then(|name| name.to_str().ok()).unwrap_or("unknown");
        device_failure(format!(
            "a kernel broke off ({name}), and the device {} cannot be used any more in this \
             process: this is a bug of NESL",
            self.device.description.name
        ))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.device.bind().is_ok() {
            // SAFETY: event and stream are destroyed once; the driver finishes their work first.
            unsafe {
                let _ = stream::synchronize(self.handle);
                let _ = event::destroy(self.done);
                let _ = stream::destroy(self.handle);
            }
        }
    }
}

impl InterruptWord {
    fn new() -> Result<InterruptWord, Failure> {
        // SAFETY: the size is not 0; the memory is freed once, when the word is dropped.
        let host = unsafe { result::malloc_host(size_of::<AtomicU32>(), HOST_ALLOC_DEVICE_MAP) }
            .map_err(|error| failure("allocate pinned memory", error))?;
        let mut address = 0;
        // SAFETY: `host` was allocated with the flag that maps it.
        let status = unsafe { sys::cuMemHostGetDevicePointer_v2(&mut address, host, 0) };
        status.result().map_err(|error| failure("map pinned memory", error))?;
        let word = InterruptWord { host: host.cast(), address };
        word.set(0);
        Ok(word)
    }

    fn set(&self, value: u32) {
        // SAFETY: pinned memory is aligned to pages, and lives as long as the word.
        unsafe { &*self.host }.store(value, Ordering::Relaxed);
    }
}

impl Drop for InterruptWord {
    fn drop(&mut self) {
        // SAFETY: allocated by `new`, freed once; the stream, which is dropped before its fields,
        // has waited for the kernels that read it.
        let _ = unsafe { result::free_host(self.host.cast_mut().cast()) };
    }
}
