//! The stream: the order in which the device works, and the host's waiting for it.
//!
//! The driver copies to and from pageable memory in its own time, and makes the host wait for that. So
//! long arrays go through a ring of pinned pieces (`staging`): while the device copies one, the host
//! copies the next, and a write is only enqueued when it returns.

use super::device::Device;
use super::milestones::{Milestone, Milestones};
use super::module::CompiledEntry;
use super::staging::{PIECE_BYTES, PIECES, Piece, Pinned, Ring};
use super::stop::Stop;
use super::{device_failure, failure};
use cudarc::driver::result::{self, event, stream};
use cudarc::driver::sys::{self, CUdeviceptr, CUevent_flags, CUresult};
use nesl_runtime::bug::OrBug;
use nesl_runtime::runtime::Failure;
use std::cell::{RefCell, RefMut};
use std::collections::VecDeque;
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// The time between two looks at an interrupt while the host waits.
const INTERRUPT_POLL_INTERVAL: Duration = Duration::from_micros(200);

/// The number of looks at the device before the host begins to sleep between them: short work is
/// waited for without sleep.
const LOOKS_WITHOUT_SLEEP: u32 = 2000;

/// The size of the pinned memory through which short arrays are read, in bytes.
const STAGING_BYTES: usize = 64 << 10;

/// The alignment of arrays in the pinned memory, in bytes.
const STAGING_ALIGNMENT_BYTES: usize = 8;

/// The only stream of a runtime.
pub struct Stream {
    device: Arc<Device>,
    handle: sys::CUstream,
    /// Marks the end of what is waited for.
    done: sys::CUevent,
    /// The word through which kernels tell the host that they failed.
    failed: Pinned,
    /// The word through which the host stops kernels.
    stop: Stop,
    /// The place of short arrays that are read.
    staging: Pinned,
    /// The way of long arrays, once there was one.
    ring: RefCell<Option<Ring>>,
    /// The points that the host does not go too far ahead of.
    milestones: Milestones,
    /// The interrupt flag of the runtime's options.
    interrupt: Arc<AtomicBool>,
}

/// A part of device memory that is copied to the host.
pub struct Copy<'a> {
    /// The address of the first byte.
    pub from: CUdeviceptr,
    /// The place of the bytes on the host.
    pub to: &'a mut [u8],
}

/// An event that marks a point of the stream, with the device's time.
pub struct TimedEvent {
    device: Arc<Device>,
    handle: sys::CUevent,
}

// SAFETY: handles of the driver may be used by any thread that has bound the context.
unsafe impl Send for TimedEvent {}
// SAFETY: the driver synchronises the uses of a handle itself.
unsafe impl Sync for TimedEvent {}

impl Stream {
    /// A new stream of a device. `stop` is the address of a word in its memory, which nothing else writes:
    /// kernels end if they find another value there than 0.
    pub fn new(
        device: Arc<Device>,
        stop: CUdeviceptr,
        interrupt: Arc<AtomicBool>,
    ) -> Result<Stream, Failure> {
        device.bind()?;
        let handle = stream::create(stream::StreamKind::NonBlocking)
            .map_err(|error| failure("create a stream", error))?;
        let done = event::create(CUevent_flags::CU_EVENT_DISABLE_TIMING)
            .map_err(|error| failure("create an event", error))?;
        let failed = Pinned::new(size_of::<u32>())?;
        let stop = Stop::new(stop)?;
        let staging = Pinned::new(STAGING_BYTES)?;
        let (ring, milestones) = (RefCell::default(), Milestones::new()?);
        let stream =
            Stream { device, handle, done, failed, stop, staging, ring, milestones, interrupt };
        stream.forget_failure();
        Ok(stream)
    }

    /// The address of the word that a kernel sets when it has recorded a failure.
    pub fn failed(&self) -> CUdeviceptr {
        self.failed.address
    }

    /// Returns true if a kernel has recorded a failure.
    pub fn has_failed(&self) -> bool {
        self.failure_word().load(Ordering::Acquire) != 0
    }

    /// Forgets that a kernel has recorded a failure. No kernel is under way.
    pub fn forget_failure(&self) {
        self.failure_word().store(0, Ordering::Release);
    }

    fn failure_word(&self) -> &AtomicU32 {
        // SAFETY: the word lies in pinned memory, which is aligned to pages and lives as long as
        // `self`; host and device access it atomically.
        unsafe { &*self.failed.host.cast() }
    }

    /// Enqueues the copy of bytes to the device. The host's bytes may be changed when it returns.
    pub fn write(&self, to: CUdeviceptr, bytes: &[u8]) -> Result<(), Failure> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.device.bind()?;
        if bytes.len() > STAGING_BYTES {
            return self.write_long(to, bytes);
        }
        self.write_directly(to, bytes)
    }

    /// Enqueues the copy of bytes of any memory.
    fn write_directly(&self, to: CUdeviceptr, bytes: &[u8]) -> Result<(), Failure> {
        // SAFETY: the caller owns a block of at least so many bytes from `to` on. Memory that is
        // not pinned has been read when the call returns; that of the ring is not changed before
        // the copy is done.
        unsafe { result::memcpy_htod_async(to, bytes, self.handle) }
            .map_err(|error| failure("copy to the device", error))
    }

    /// Enqueues the copy of many bytes, piece by piece.
    fn write_long(&self, mut to: CUdeviceptr, bytes: &[u8]) -> Result<(), Failure> {
        let mut ring = self.ring()?;
        for part in bytes.chunks(PIECE_BYTES) {
            let piece = ring.take_next();
            if piece.is_used {
                self.wait_for(piece.done)?;
            }
            let pinned = piece.bytes(part.len());
            pinned.copy_from_slice(part);
            self.write_directly(to, pinned)?;
            self.record(piece)?;
            to += part.len() as u64;
        }
        Ok(())
    }

    /// The ring, which is allocated when it is first used.
    fn ring(&self) -> Result<RefMut<'_, Ring>, Failure> {
        let mut ring = self.ring.borrow_mut();
        if ring.is_none() {
            *ring = Some(Ring::new()?);
        }
        Ok(RefMut::map(ring, |ring| ring.as_mut().or_bug("the ring was just made")))
    }

    /// Marks the point at which what was enqueued with a piece is done.
    fn record(&self, piece: &mut Piece) -> Result<(), Failure> {
        piece.is_used = true;
        // SAFETY: event and stream are this one's.
        unsafe { event::record(piece.done, self.handle) }.map_err(|error| failure("wait", error))
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

    /// Copies parts of device memory to the host, after everything enqueued is done. Short ones take
    /// one wait together.
    pub fn read(&self, copies: &mut [Copy<'_>]) -> Result<(), Failure> {
        let room = |copy: &Copy<'_>| copy.to.len().next_multiple_of(STAGING_ALIGNMENT_BYTES);
        if copies.iter().map(room).sum::<usize>() > STAGING_BYTES {
            return self.read_long(copies);
        }
        self.device.bind()?;
        let mut at = 0;
        for copy in &*copies {
            if copy.to.is_empty() {
                continue;
            }
            // SAFETY: the parts lie one behind the other in the pinned memory, which is long enough
            // for all of them and used by nobody else, since each call waits for its copies.
            let to = unsafe {
                std::slice::from_raw_parts_mut(
                    self.staging.host.byte_add(at).cast::<u8>(),
                    copy.to.len(),
                )
            };
            // SAFETY: the caller owns a block of at least so many bytes from `from` on; the copy is
            // waited for below.
            unsafe { result::memcpy_dtoh_async(to, copy.from, self.handle) }
                .map_err(|error| failure("copy from the device", error))?;
            at += room(copy);
        }
        self.wait()?;
        at = 0;
        for copy in copies {
            // SAFETY: the device has written these bytes, and nobody writes them until the next call.
            let from = unsafe {
                std::slice::from_raw_parts(
                    self.staging.host.byte_add(at).cast::<u8>(),
                    copy.to.len(),
                )
            };
            copy.to.copy_from_slice(from);
            at += room(copy);
        }
        Ok(())
    }

    /// Copies long parts of device memory: the device copies some pieces ahead of the host.
    fn read_long(&self, copies: &mut [Copy<'_>]) -> Result<(), Failure> {
        self.device.bind()?;
        let mut ring = self.ring()?;
        let mut ahead: VecDeque<(usize, &mut [u8])> = VecDeque::with_capacity(PIECES);
        for copy in copies {
            let mut from = copy.from;
            for part in copy.to.chunks_mut(PIECE_BYTES) {
                if ahead.len() == PIECES {
                    self.finish_read(&mut ring, ahead.pop_front())?;
                }
                let (number, length) = (ring.next, part.len());
                let piece = ring.take_next();
                // SAFETY: the caller owns a block of at least so many bytes from `from` on. What the
                // piece was used for before comes earlier in the stream, or was waited for; this
                // copy is waited for before the bytes are looked at.
                unsafe { result::memcpy_dtoh_async(piece.bytes(length), from, self.handle) }
                    .map_err(|error| failure("copy from the device", error))?;
                self.record(piece)?;
                ahead.push_back((number, part));
                from += length as u64;
            }
        }
        while !ahead.is_empty() {
            self.finish_read(&mut ring, ahead.pop_front())?;
        }
        drop(ring);
        self.wait()
    }

    /// Waits for the copy of a piece, and takes its bytes.
    fn finish_read(
        &self,
        ring: &mut Ring,
        copy: Option<(usize, &mut [u8])>,
    ) -> Result<(), Failure> {
        let Some((number, to)) = copy else { return Ok(()) };
        let piece = ring.piece(number);
        self.wait_for(piece.done)?;
        to.copy_from_slice(piece.bytes(to.len()));
        Ok(())
    }

    /// Marks the point that the stream has reached, with the device's time.
    pub fn mark(&self) -> Result<TimedEvent, Failure> {
        self.device.bind()?;
        let handle = event::create(CUevent_flags::CU_EVENT_DEFAULT)
            .map_err(|error| failure("create an event", error))?;
        let event = TimedEvent { device: self.device.clone(), handle };
        // SAFETY: event and stream exist.
        unsafe { event::record(event.handle, self.handle) }
            .map_err(|error| failure("mark a point in time", error))?;
        Ok(event)
    }

    /// Returns true if everything enqueued is done.
    pub fn is_idle(&self) -> Result<bool, Failure> {
        self.device.bind()?;
        // SAFETY: the stream is this one's.
        match unsafe { sys::cuStreamQuery(self.handle) } {
            CUresult::CUDA_SUCCESS => Ok(true),
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            error => Err(self.lost(result::DriverError(error))),
        }
    }

    /// Enqueues an entry with parameters of 8 bytes. Waits if too many are under way.
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
        .map_err(|error| failure("launch a kernel", error))?;
        let Some(Milestone { event, is_used }) = self.milestones.count() else { return Ok(()) };
        if is_used {
            self.wait_for(event)?;
        }
        // SAFETY: event and stream are this one's.
        unsafe { event::record(event, self.handle) }.map_err(|error| failure("wait", error))
    }

    /// Waits until everything enqueued is done. An interrupt meanwhile is passed on to the kernels.
    pub fn wait(&self) -> Result<(), Failure> {
        self.device.bind()?;
        // SAFETY: event and stream are this one's.
        unsafe { event::record(self.done, self.handle) }.map_err(|error| failure("wait", error))?;
        self.wait_for(self.done)?;
        self.stop.clear()
    }

    /// Waits for an event. An interrupt meanwhile is passed on to the kernels, until all that is
    /// enqueued has been waited for.
    fn wait_for(&self, event: sys::CUevent) -> Result<(), Failure> {
        let mut looks = 0;
        loop {
            if self.interrupt.load(Ordering::Relaxed) {
                self.stop.set()?;
            }
            // SAFETY: the event is this stream's.
            match unsafe { event::query(event) } {
                Ok(()) => return Ok(()),
                Err(error) if error.0 == CUresult::CUDA_ERROR_NOT_READY => {}
                Err(error) => return Err(self.lost(error)),
            }
            looks += 1;
            match looks < LOOKS_WITHOUT_SLEEP {
                true => std::hint::spin_loop(),
                false => std::thread::sleep(INTERRUPT_POLL_INTERVAL),
            }
        }
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

impl TimedEvent {
    /// Returns the nanoseconds from this event to a later one, both of which the stream has passed.
    pub fn nanoseconds_to(&self, later: &TimedEvent) -> Result<u64, Failure> {
        self.device.bind()?;
        // SAFETY: both events were recorded when they were made.
        let milliseconds = unsafe { event::elapsed(self.handle, later.handle) }
            .map_err(|error| failure("measure a time", error))?;
        Ok((f64::from(milliseconds) * 1e6) as u64)
    }
}

impl Drop for TimedEvent {
    fn drop(&mut self) {
        if self.device.bind().is_ok() {
            // SAFETY: the event is destroyed once.
            let _ = unsafe { event::destroy(self.handle) };
        }
    }
}
