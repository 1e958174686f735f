//! Finding the driver and a device.

use super::failure;
use crate::emit::Target;
use cudarc::driver::sys::{self, CUdevice_attribute_enum as Attribute};
use cudarc::driver::{CudaContext, DriverError, result};
use nesl_runtime::runtime::Failure;
use std::fmt;
use std::sync::Arc;

/// A device with its context.
pub struct Device {
    /// The context, which is released when the device is dropped.
    pub context: Arc<CudaContext>,
    /// The description of the device.
    pub description: Description,
}

/// The facts about a device that the launcher and strategies ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The name: `NVIDIA H100`.
    pub name: String,
    /// The compute capability, major and minor.
    pub capability: (i32, i32),
    /// The number of multiprocessors.
    pub multiprocessors: u32,
    /// The threads that a multiprocessor holds at a time.
    pub threads_per_multiprocessor: u32,
    /// The size of the memory, in bytes.
    pub memory_bytes: u64,
    /// The bytes that the memory moves in a second, at most; `None` if the driver does not say.
    pub memory_bandwidth: Option<u64>,
    /// The newest version of CUDA that the driver supports: 1000 · major + 10 · minor.
    pub driver_version: i32,
}

impl Description {
    /// The instructions that texts for the device may use.
    pub fn target(&self) -> Target {
        Target::of(self.capability, self.driver_version)
    }
}

/// The reason why there is no device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoDevice {
    /// No library of the driver was found.
    NoDriver,
    /// The driver is there, and cannot be used: the name of its error.
    Driver(String),
    /// The driver knows of no device of this number.
    NoSuchDevice {
        /// The number asked for, from 0 on.
        wanted: usize,
        /// The number of devices.
        count: usize,
    },
}

/// Returns the description of every device, in the order of their numbers.
pub fn devices() -> Result<Vec<Description>, NoDevice> {
    let count = count()?;
    (0..count).map(describe).collect()
}

/// Returns the description of a device, by its number from 0 on, without beginning to use it.
pub fn describe(number: usize) -> Result<Description, NoDevice> {
    let count = count()?;
    let ordinal = i32::try_from(number).ok().filter(|_| number < count);
    let ordinal = ordinal.ok_or(NoDevice::NoSuchDevice { wanted: number, count })?;
    let device = result::device::get(ordinal).map_err(unusable)?;
    let attribute = |attribute| {
        // SAFETY: the driver was initialised, and knows the device.
        unsafe { result::device::get_attribute(device, attribute) }.map_err(unusable)
    };
    let count_of = |counted| attribute(counted).map(|value| u32::try_from(value).unwrap_or(0));
    // Memory of double data rate moves its width twice a cycle; the clock is in kilohertz.
    let number = |of| attribute(of).ok().and_then(|value| u64::try_from(value).ok());
    let clock = number(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
    let width_bits = number(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
    let memory_bandwidth =
        clock.zip(width_bits).map(|(clock, width_bits)| clock * 1000 * 2 * (width_bits / 8));
    let mut driver_version = 0;
    // SAFETY: the driver writes an int.
    let status = unsafe { sys::cuDriverGetVersion(&mut driver_version) };
    status.result().map_err(unusable)?;
    Ok(Description {
        name: result::device::get_name(device).map_err(unusable)?,
        capability: (
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        multiprocessors: count_of(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        threads_per_multiprocessor: count_of(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
        )?,
        // SAFETY: the driver was initialised, and knows the device.
        memory_bytes: unsafe { result::device::total_mem(device) }.map_err(unusable)? as u64,
        memory_bandwidth: memory_bandwidth.filter(|bytes| *bytes > 0),
        driver_version,
    })
}

fn count() -> Result<usize, NoDevice> {
    // SAFETY: loading the driver's library runs its initialisers, as every program that uses the
    // driver does; nothing else is asked of it.
    if !unsafe { sys::is_culib_present() } {
        return Err(NoDevice::NoDriver);
    }
    let count = CudaContext::device_count().map_err(unusable)?;
    Ok(usize::try_from(count).unwrap_or(0))
}

fn unusable(error: DriverError) -> NoDevice {
    let name = error.error_name().ok().and_then(|name| name.to_str().ok()).unwrap_or("unknown");
    NoDevice::Driver(name.to_string())
}

impl Device {
    /// Opens a device by its number, from 0 on.
    pub fn open(number: usize) -> Result<Device, NoDevice> {
        let description = describe(number)?;
        let context = CudaContext::new(number).map_err(unusable)?;
        // Arrays are ordered by the one stream that uses them.
        // SAFETY: this runtime makes none of cudarc's slices, which the events would order.
        unsafe { context.disable_event_tracking() };
        Ok(Device { context, description })
    }

    /// Makes the context that of the calling thread.
    pub fn bind(&self) -> Result<(), Failure> {
        self.context.bind_to_thread().map_err(|error| failure("select the device", error))
    }
}

impl fmt::Display for NoDevice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoDevice::NoDriver => out.write_str(
                "there is no NVIDIA driver (libcuda.so or libcuda.so.1 on the library path)",
            ),
            NoDevice::Driver(name) => write!(out, "the NVIDIA driver cannot be used: {name}"),
            NoDevice::NoSuchDevice { count: 0, .. } => {
                out.write_str("the NVIDIA driver knows of no device")
            }
            NoDevice::NoSuchDevice { wanted, count } => {
                write!(out, "there is no device {wanted}: the driver knows of {count}, from 0 on")
            }
        }
    }
}

impl std::error::Error for NoDevice {}
