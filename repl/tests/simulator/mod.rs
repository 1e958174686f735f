//! The runtime under test on a simulated GPU: the device, and the CPU for the kernels that the device
//! refuses. The simulator must be loaded first, by `nesl_sim::client::Client`.

use nesl_runtime::runtime::{Options, Runtime};
use nesl_runtime_composite::Composite;
use nesl_runtime_cpu::Cpu;
use nesl_runtime_ptx::Ptx;

/// Makes a GPU, and a CPU of one thread beside it.
pub fn gpu(options: Options) -> Box<dyn Runtime> {
    let memory = options.memory;
    let of_device = options.clone();
    let open = move || {
        let device = Ptx::new(0, of_device.clone()).map_err(|missing| missing.to_string())?;
        Ok(Box::new(device) as Box<dyn Runtime>)
    };
    let device = open().expect("the simulator is a device");
    let host = Cpu::new(Options { threads: 1, ..options });
    let host = host.expect("code can be made for this machine");
    Box::new(Composite::new(device, Box::new(host), memory).reopened_by(open))
}
