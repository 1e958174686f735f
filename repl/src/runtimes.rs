//! The runtimes that this program is built with, in one table: the choices of `--runtime`, which the
//! language server offers to editors, too.

use crate::stages::{DEVICE_STAGES, GPU, STAGES};
use nesl_interactive::runtimes::{Made, RuntimeRow};
use nesl_runtime::kir::reference::Reference;
use nesl_runtime::runtime::{Options, Runtime};
use nesl_runtime_composite::Composite;
use nesl_runtime_cpu::Cpu;
use nesl_runtime_ptx::Ptx;
use nesl_runtime_ptx::driver::device;

/// All runtimes; the first is the default.
pub static RUNTIMES: [RuntimeRow; 4] = [
    RuntimeRow {
        name: "cpu",
        device: cpu_device,
        about: "Compiled, on all cores",
        interpret_first: true,
        stages: STAGES,
        // On a machine that no code can be made for, the direct interpreter does.
        make: |options| Ok(Cpu::new(options).ok().map(boxed)),
    },
    RuntimeRow {
        name: "ptx",
        device: gpu_device,
        about: "Compiled, on an NVIDIA GPU; what it cannot execute on the CPU",
        interpret_first: true,
        stages: DEVICE_STAGES,
        make: gpu,
    },
    RuntimeRow {
        name: "reference",
        device: |_| "direct interpreter".to_owned(),
        about: "The direct interpreter",
        interpret_first: false,
        stages: STAGES,
        make: |_| Ok(None),
    },
    RuntimeRow {
        name: "kir",
        device: |_| "interpreter of kernels".to_owned(),
        about: "The interpreter of kernels",
        interpret_first: false,
        stages: STAGES,
        make: |options| Ok(Some(boxed(Reference::new(options)))),
    },
];

fn boxed(runtime: impl Runtime + 'static) -> Box<dyn Runtime> {
    Box::new(runtime)
}

/// The GPU first, and the CPU for the kernels that the GPU refuses.
fn gpu(options: Options) -> Made {
    let memory = options.memory;
    let of_device = options.clone();
    let open = move || {
        let device = Ptx::new(GPU, of_device.clone());
        device.map(boxed).map_err(|missing| missing.to_string())
    };
    let device = open()?;
    let host = Cpu::new(options).map_err(|_| "no code can be made for this CPU".to_owned())?;
    Ok(Some(boxed(Composite::new(device, boxed(host), memory).reopened_by(open))))
}

fn gpu_device(_options: &Options) -> String {
    match device::describe(GPU) {
        Ok(device) => device.name,
        Err(missing) => missing.to_string(),
    }
}

/// The CPU, as it is called where devices are listed: with the threads that programs compute on.
pub fn cpu_device(options: &Options) -> String {
    let there = std::thread::available_parallelism().map_or(1, usize::from);

    match options.threads {
        used if used < there => format!("CPU, {used} of {there} threads"),
        1 => "CPU, 1 thread".to_owned(),
        used => format!("CPU, {used} threads"),
    }
}
