//! Launches: their configuration is checked at once, their execution is work of a stream.

use super::device::{DEFAULT_SHARED_BYTES, MAX_BLOCK, MAX_BLOCK_THREADS, MAX_GRID};
use super::state::Driver;
use super::status::{Outcome, Status};
use super::work::{Handle, LaunchWork, Work};
use crate::isa::code::Kernel;
use crate::machine::{self, Fault, FaultKind, Launch, LaunchShape};
use std::ffi::c_void;

/// The extents that a host asks for.
pub struct Request {
    /// The numbers of blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// The bytes of dynamic shared memory.
    pub dynamic_bytes: usize,
    /// The stream that the launch is submitted to.
    pub stream: Handle,
    /// All blocks must run at once.
    pub cooperative: bool,
}

impl Driver {
    /// Launches a function.
    ///
    /// # Safety
    /// `parameters` points to as many pointers as the kernel has parameters, and each of them to
    /// as many readable bytes as its parameter has.
    pub unsafe fn launch(
        &mut self,
        function: Handle,
        request: &Request,
        parameters: *const *const c_void,
    ) -> Outcome {
        let device = self.device()?;
        let context = self.context()?;
        let function = context.functions.get(&function).ok_or(Status::INVALID_HANDLE)?.clone();
        let kernel = &function.kernel;
        let fits = |extents: &[u32; 3], most: &[u32; 3]| {
            extents.iter().zip(most).all(|(extent, most)| (1..=*most).contains(extent))
        };
        let threads = request.block.iter().map(|&extent| u64::from(extent)).product::<u64>();
        if !fits(&request.grid, &MAX_GRID)
            || !fits(&request.block, &MAX_BLOCK)
            || threads > u64::from(MAX_BLOCK_THREADS)
            || request.dynamic_bytes > function.dynamic_limit
            || kernel.required_threads.is_some_and(|shape| shape != request.block)
        {
            return Err(Status::INVALID_VALUE);
        }
        let shape = LaunchShape::new(kernel, request.grid, request.block, request.dynamic_bytes);
        if kernel.max_threads.is_some_and(|most| shape.threads() > most)
            || shape.blocks() > u64::from(u32::MAX)
            || shape.shared_bytes > device.block_shared_bytes as usize
        {
            return Err(Status::LAUNCH_OUT_OF_RESOURCES);
        }
        let resident = device.occupancy(kernel, shape.threads(), request.dynamic_bytes);
        if request.cooperative
            && shape.blocks() > u64::from(resident) * u64::from(device.multiprocessors)
        {
            return Err(Status::COOPERATIVE_LAUNCH_TOO_LARGE);
        }
        let mut bytes = vec![0; kernel.parameter_bytes];
        if parameters.is_null() && !kernel.parameters.is_empty() {
            return Err(Status::INVALID_VALUE);
        }
        for (number, parameter) in kernel.parameters.iter().enumerate() {
            // SAFETY: the caller promises a pointer for each parameter, to as many bytes as it has.
            let value = unsafe {
                let pointer = *parameters.add(number);
                std::slice::from_raw_parts(pointer.cast::<u8>(), parameter.bytes)
            };
            bytes[parameter.offset..parameter.offset + parameter.bytes].copy_from_slice(value);
        }
        let work = LaunchWork {
            kernel: function.kernel.clone(),
            shape,
            parameters: bytes,
            cooperative: request.cooperative,
        };
        self.submit(request.stream, Work::Launch(Box::new(work))).map(|_| ())
    }

    /// Executes a launch.
    pub fn perform_launch(&mut self, work: &LaunchWork) -> Outcome {
        self.launches += 1;
        let number = self.launches;
        let context = self.primary.as_deref_mut().ok_or(Status::INVALID_CONTEXT)?;
        let launch = Launch {
            kernel: &work.kernel,
            shape: work.shape,
            parameters: &work.parameters,
            cooperative: work.cooperative,
            number,
        };
        match machine::launch(&launch, &mut context.memory, &self.options) {
            Ok(counters) => {
                if self.options.log {
                    eprintln!("nesl-sim: {} {:?} {counters:?}", work.kernel.name, work.shape);
                }
                self.kernels.entry(work.kernel.name.clone()).or_default().add(&counters);
                Ok(())
            }
            Err(fault) => Err(self.report(*fault)),
        }
    }

    /// Keeps a fault and returns the result that the host sees.
    fn report(&mut self, fault: Fault) -> Status {
        if self.options.log || !self.attached {
            eprintln!("nesl-sim: {fault}");
        }
        let status = match fault.kind {
            FaultKind::OutOfBounds | FaultKind::UseAfterFree => Status::ILLEGAL_ADDRESS,
            FaultKind::Misaligned => Status::MISALIGNED_ADDRESS,
            FaultKind::Deadlock | FaultKind::Budget => Status::LAUNCH_TIMEOUT,
            FaultKind::Uninitialised
            | FaultKind::Race
            | FaultKind::BarrierDivergence
            | FaultKind::MemberMask
            | FaultKind::Trap => Status::LAUNCH_FAILED,
        };
        self.findings.push(fault);
        status
    }

    /// Returns the number of blocks of a function that a multiprocessor holds.
    pub fn occupancy(&mut self, function: Handle, threads: i32, dynamic: usize) -> Outcome<u32> {
        let device = self.device()?;
        let function = self.context()?.functions.get(&function).ok_or(Status::INVALID_HANDLE)?;
        let threads = u32::try_from(threads).map_err(|_| Status::INVALID_VALUE)?;
        Ok(device.occupancy(&function.kernel, threads, dynamic))
    }
}

/// Returns the bytes of dynamic shared memory that a launch of a kernel may ask for at first.
pub fn default_dynamic_limit(kernel: &Kernel) -> usize {
    DEFAULT_SHARED_BYTES.saturating_sub(kernel.shared_bytes)
}
