//! Finding the driver and a device.

use super::failure;
use cudarc::driver::sys::{self, CUdevice_attribute_enum as Attribute};
use cudarc::driver::{CudaContext, DriverError};
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
    (0..count).map(|number| Device::open(number).map(|device| device.description)).collect()
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
        let count = count()?;
        if number >= count {
            return Err(NoDevice::NoSuchDevice { wanted: number, count });
        }
        let context = CudaContext::new(number).map_err(unusable)?;
        // Arrays are ordered by the one stream that uses them.
        // SAFETY: this runtime makes none of cudarc's slices, which the events would order.
        unsafe { context.disable_event_tracking() };
        let attribute = |attribute| {
            let value = context.attribute(attribute).map_err(unusable)?;
            Ok(u32::try_from(value).unwrap_or(0))
        };
        let description = Description {
            name: context.name().map_err(unusable)?,
            capability: context.compute_capability().map_err(unusable)?,
            multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            threads_per_multiprocessor: attribute(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
            )?,
            memory_bytes: context.total_mem().map_err(unusable)? as u64,
        };
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
            NoDevice::NoDriver => out.write_str("no NVIDIA driver: there is no libcuda.so"),
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
