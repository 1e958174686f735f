//! The state of the driver: one device, its context, and what they hold.

use super::device::Device;
use super::pool::Accounts;
use super::status::{Outcome, Status};
use super::work::{DEFAULT_STREAM, Event, Handle, Stream, Work};
use crate::counters::{HostCounters, KernelCounters};
use crate::isa::code::Kernel;
use crate::machine::{DeviceMemory, Fault};
use crate::options::Options;
use std::alloc::Layout;
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

/// The alignment of pinned memory in bytes.
const PINNED_ALIGN_BYTES: usize = 4096;

/// A function of a loaded module.
#[derive(Clone)]
pub struct Function {
    /// The kernel of the function.
    pub kernel: Arc<Kernel>,
    /// The bytes of dynamic shared memory that a launch may ask for.
    pub dynamic_limit: usize,
}

/// A loaded module.
#[derive(Default)]
pub struct Loaded {
    /// Its functions by name.
    pub functions: HashMap<String, Handle>,
    /// Its global variables: name, address, bytes.
    pub globals: Vec<(String, u64, usize)>,
}

/// Pinned memory of the host.
pub struct Pinned {
    /// Its size in bytes.
    pub bytes: usize,
    /// Its address for the device, once it was asked for.
    pub device: Option<u64>,
    /// It was allocated here, and not by the host.
    pub owned: bool,
}

/// A context of the device.
pub struct Context {
    /// The handle that the host holds.
    pub handle: Handle,
    /// The memory of the device.
    pub memory: DeviceMemory,
    /// The accounts of device memory.
    pub accounts: Accounts,
    /// The allocations of the pool, with their sizes in bytes.
    pub pooled: HashMap<u64, usize>,
    /// The streams by their handles.
    pub streams: BTreeMap<Handle, Stream>,
    /// The events by their handles.
    pub events: HashMap<Handle, Event>,
    /// The modules by their handles.
    pub modules: HashMap<Handle, Loaded>,
    /// The texts that linkers were given.
    pub links: HashMap<Handle, Vec<u8>>,
    /// The functions of all modules.
    pub functions: HashMap<Handle, Function>,
    /// Pinned memory by address.
    pub pinned: BTreeMap<usize, Pinned>,
    /// The error after which nothing works any more.
    pub sticky: Option<Status>,
}

impl Context {
    fn new(handle: Handle, total: usize) -> Context {
        Context {
            handle,
            memory: DeviceMemory::default(),
            accounts: Accounts::new(total),
            pooled: HashMap::new(),
            streams: BTreeMap::from([(DEFAULT_STREAM, Stream::new(true))]),
            events: HashMap::new(),
            modules: HashMap::new(),
            links: HashMap::new(),
            functions: HashMap::new(),
            pinned: BTreeMap::new(),
            sticky: None,
        }
    }

    /// Returns the pinned block that contains a range, with its first address.
    pub fn pinned_around(&mut self, address: usize, bytes: usize) -> Option<(usize, &mut Pinned)> {
        let (&start, block) = self.pinned.range_mut(..=address).next_back()?;
        (address + bytes <= start + block.bytes).then_some((start, block))
    }

    /// Allocates pinned memory.
    pub fn allocate_pinned(&mut self, bytes: usize) -> Outcome<usize> {
        let layout = pinned_layout(bytes)?;
        // SAFETY: the size of the layout is not zero, which `pinned_layout` makes sure of.
        let pointer = unsafe { std::alloc::alloc_zeroed(layout) } as usize;
        if pointer == 0 {
            return Err(Status::OUT_OF_MEMORY);
        }
        self.pinned.insert(pointer, Pinned { bytes, device: None, owned: true });
        Ok(pointer)
    }

    /// Releases pinned memory that was allocated (`owned`) or registered.
    pub fn release_pinned(&mut self, address: usize, owned: bool) -> Outcome {
        if self.pinned.get(&address).is_none_or(|block| block.owned != owned) {
            return Err(Status::INVALID_VALUE);
        }
        if let Some(block) = self.pinned.remove(&address) {
            if let Some(device) = block.device {
                // Its window is released first, so that no kernel reaches the memory any more.
                let _ = self.memory.free(device);
            }
            if block.owned {
                let layout = pinned_layout(block.bytes)?;
                // SAFETY: `allocate_pinned` allocated it with this very layout, and its entry in
                // `pinned`, which was just removed, is the only record: it is released once.
                unsafe { std::alloc::dealloc(address as *mut u8, layout) };
            }
        }
        Ok(())
    }
}

fn pinned_layout(bytes: usize) -> Outcome<Layout> {
    Layout::from_size_align(bytes.max(1), PINNED_ALIGN_BYTES).map_err(|_| Status::INVALID_VALUE)
}

impl Drop for Context {
    fn drop(&mut self) {
        let addresses: Vec<(usize, bool)> =
            self.pinned.iter().map(|(&address, block)| (address, block.owned)).collect();
        for (address, owned) in addresses {
            let _ = self.release_pinned(address, owned);
        }
    }
}

/// The state of the whole driver.
pub struct Driver {
    /// The settings of the device.
    pub options: Options,
    /// `cuInit` was called.
    pub initialised: bool,
    /// A client reads the findings: they are not printed unasked.
    pub attached: bool,
    /// The primary context, while somebody retains it.
    pub primary: Option<Box<Context>>,
    /// The number of times the primary context is retained.
    pub retained: usize,
    /// The number of launches so far.
    pub launches: u32,
    /// The counters of the host's calls.
    pub host: HostCounters,
    /// The counters of kernels by their names.
    pub kernels: BTreeMap<String, KernelCounters>,
    /// The faults of kernels, oldest first.
    pub findings: Vec<Fault>,
    /// Copies to the device that were left behind, by [`Plant::LateWrites`](crate::options::Plant).
    pub late: Vec<Work>,
    /// A thread does the work that the host polls for.
    pub working: bool,
    next_handle: Handle,
}

thread_local! {
    /// The handle of the context that is current in this thread; 0 for none.
    static CURRENT: Cell<Handle> = const { Cell::new(0) };
}

/// Returns the handle of the current context of this thread.
pub fn current() -> Handle {
    CURRENT.get()
}

/// Makes a context current in this thread.
pub fn set_current(context: Handle) {
    CURRENT.set(context);
}

/// Locks the driver.
pub fn driver() -> MutexGuard<'static, Driver> {
    the_driver().lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks the driver, unless a thread is busy with work in the background.
pub fn idle_driver() -> Option<MutexGuard<'static, Driver>> {
    match the_driver().try_lock() {
        Ok(driver) => Some(driver).filter(|driver| !driver.working),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// The stream whose work a thread does in the background, while it does.
pub static BUSY_STREAM: AtomicUsize = AtomicUsize::new(NO_STREAM);

/// The handle of no stream.
pub const NO_STREAM: Handle = usize::MAX;

/// Returns true if a thread does work in the background, and a stream has nothing to do with it.
pub fn is_beside(stream: Handle) -> bool {
    let busy = BUSY_STREAM.load(Ordering::Acquire);
    busy != NO_STREAM && busy != stream
}

fn the_driver() -> &'static Mutex<Driver> {
    static DRIVER: OnceLock<Mutex<Driver>> = OnceLock::new();
    DRIVER.get_or_init(|| {
        Mutex::new(Driver {
            options: Options::from_environment(),
            initialised: false,
            attached: false,
            primary: None,
            retained: 0,
            launches: 0,
            host: HostCounters::default(),
            kernels: BTreeMap::new(),
            findings: Vec::new(),
            late: Vec::new(),
            working: false,
            next_handle: 0x1000,
        })
    })
}

impl Driver {
    /// Returns a handle that was never used.
    pub fn fresh_handle(&mut self) -> Handle {
        self.next_handle += 16;
        self.next_handle
    }

    /// Returns the simulated device.
    pub fn device(&self) -> Outcome<&'static Device> {
        Device::find(&self.options.device).ok_or(Status::NO_DEVICE)
    }

    /// Returns the device if `cuInit` was called and the number is its.
    pub fn device_numbered(&self, number: i32) -> Outcome<&'static Device> {
        if !self.initialised {
            return Err(Status::NOT_INITIALIZED);
        }
        if number == 0 { self.device() } else { Err(Status::INVALID_DEVICE) }
    }

    /// Returns the bytes of device memory.
    pub fn memory_bytes(&self) -> Outcome<usize> {
        let device = self.device()?;
        Ok(if self.options.memory > 0 { self.options.memory } else { device.memory_bytes })
    }

    /// Retains the primary context.
    pub fn retain(&mut self) -> Outcome<Handle> {
        if let Some(context) = &self.primary {
            self.retained += 1;
            return Ok(context.handle);
        }
        let (handle, total) = (self.fresh_handle(), self.memory_bytes()?);
        self.primary = Some(Box::new(Context::new(handle, total)));
        self.retained = 1;
        Ok(handle)
    }

    /// Releases the primary context; the last release destroys it.
    pub fn release(&mut self) -> Outcome {
        if self.primary.is_none() {
            return Err(Status::INVALID_CONTEXT);
        }
        self.retained -= 1;
        if self.retained == 0 {
            self.destroy();
        }
        Ok(())
    }

    /// Destroys the primary context while the host may still hold its objects. Its pinned memory
    /// stays for ever: the host may have references into it.
    pub fn reset(&mut self) {
        // What was launched runs first; its errors have nobody to hear them.
        let _ = self.drain_all();
        if let Some(context) = &mut self.primary {
            context.pinned.clear();
        }
        self.destroy();
    }

    /// Destroys the primary context with all that it holds.
    fn destroy(&mut self) {
        if self.primary.as_ref().is_some_and(|context| context.sticky.is_none()) {
            // What was launched runs, as on a device; its errors have nobody to hear them.
            let _ = self.drain_all();
        }
        self.note_memory();
        self.primary = None;
        self.retained = 0;
        self.host.live_bytes = 0;
    }

    /// Returns the current context, unless an error has made it useless.
    pub fn context(&mut self) -> Outcome<&mut Context> {
        let context = self.primary.as_deref_mut().ok_or(Status::INVALID_CONTEXT)?;
        if context.handle != current() {
            return Err(Status::INVALID_CONTEXT);
        }
        match context.sticky {
            None => Ok(context),
            Some(status) => Err(status),
        }
    }

    /// Copies the accounts of memory to the counters.
    pub fn note_memory(&mut self) {
        if let Some(context) = &self.primary {
            self.host.live_bytes = context.accounts.live() as u64;
            self.host.peak_bytes = self.host.peak_bytes.max(context.accounts.peak as u64);
        }
    }
}
