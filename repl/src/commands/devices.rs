//! `nesl devices`, with or without `--json`.

use crate::cli::Global;
use crate::exit::OK;
use crate::runtimes::cpu_device;
use nesl_runtime_ptx::driver::device::{self, Description};
use serde_json::{Value, json};

/// Prints the devices that programs can run on, and what was looked for in vain.
pub fn run(global: &Global, as_json: bool) -> u8 {
    let cpu = cpu_device(&global.options());
    let gpus = device::devices();
    if as_json {
        println!("{}", json!({ "runtime": "cpu", "name": cpu }));
        for line in gpus.as_ref().map(|all| objects(all)).unwrap_or_default() {
            println!("{line}");
        }
        if let Err(missing) = &gpus {
            println!("{}", json!({ "runtime": "ptx", "missing": missing.to_string() }));
        }
        return OK;
    }
    println!("--runtime cpu  {cpu}");
    match &gpus {
        Err(missing) => println!("--runtime ptx  not on this machine: {missing}"),
        Ok(all) => {
            for (number, device) in all.iter().enumerate() {
                // Programs run on the first device.
                let runtime = if number == 0 { "--runtime ptx" } else { "" };
                println!("{runtime:<13}  {}", line(device));
            }
        }
    }
    OK
}

fn line(device: &Description) -> String {
    let Description { name, capability: (major, minor), multiprocessors, .. } = device;
    let gibibytes = device.memory_bytes as f64 / f64::from(1 << 30);
    let version = device.driver_version;
    format!(
        "{name}: compute capability {major}.{minor}, {multiprocessors} multiprocessors, \
         {gibibytes:.1} GiB; its driver is for CUDA {}.{}",
        version / 1000,
        version % 1000 / 10
    )
}

fn objects(all: &[Description]) -> Vec<Value> {
    let object = |(number, device): (usize, &Description)| {
        json!({
            "runtime": "ptx",
            "number": number,
            "name": device.name,
            "compute_capability": format!("{}.{}", device.capability.0, device.capability.1),
            "multiprocessors": device.multiprocessors,
            "memory_bytes": device.memory_bytes,
            "cuda_version": device.driver_version,
        })
    };
    all.iter().enumerate().map(object).collect()
}
