//! Measures the machine: thread instructions a second, without and with checks, per kernel.
//!
//! `cargo run --release -p nesl-sim --example speed`

use nesl_sim::machine::{DeviceMemory, Launch, LaunchShape, launch};
use nesl_sim::options::{BlockOrder, Options};
use nesl_sim::ptx;
use std::time::Instant;

/// The elements that each kernel works on.
const ELEMENTS: usize = 1 << 20;

fn main() {
    let f32s: Vec<u8> = (0..ELEMENTS).flat_map(|i| (i as f32).to_le_bytes()).collect();
    let f64s: Vec<u8> = (0..ELEMENTS).flat_map(|i| (i as f64).to_le_bytes()).collect();
    let i64s: Vec<u8> = (0..ELEMENTS as i64).flat_map(|i| (i % 101).to_le_bytes()).collect();
    let tiles = ELEMENTS.div_ceil(512);
    let n = ELEMENTS as u64;
    for check in [false, true] {
        for order in [BlockOrder::Forward, BlockOrder::Random] {
            let options = Options { check, order, ..Options::default() };
            let run = |name: &str,
                       text: &str,
                       grid,
                       block,
                       buffers: &[&[u8]],
                       tail: &dyn Fn(&[u64]) -> Vec<u64>| {
                measure(name, text, (grid, block), buffers, tail, &options);
            };
            run(
                "saxpy f32",
                include_str!("../tests/kernels/saxpy_f32.ptx"),
                132,
                256,
                &[&f32s, &f32s],
                &|b| vec![b[0], b[1], u64::from(2f32.to_bits()), n],
            );
            run(
                "saxpy f64",
                include_str!("../tests/kernels/saxpy_f64.ptx"),
                132,
                256,
                &[&f64s, &f64s],
                &|b| vec![b[0], b[1], 2f64.to_bits(), n],
            );
            run(
                "reduce f64",
                include_str!("../tests/kernels/reduce.ptx"),
                64,
                256,
                &[&f64s, &[0; 512]],
                &|b| vec![b[0], b[1], n],
            );
            let words = vec![0; 8 * tiles];
            let buffers: [&[u8]; 6] = [&i64s, &f64s, &words, &words, &words, &[0; 4]];
            run(
                "scan i64",
                include_str!("../tests/kernels/scan.ptx"),
                tiles as u32,
                128,
                &buffers,
                &|b| vec![b[0], b[1], n, b[2], b[3], b[4], b[5]],
            );
        }
    }
}

fn measure(
    name: &str,
    text: &str,
    (grid, block): (u32, u32),
    buffers: &[&[u8]],
    arguments: &dyn Fn(&[u64]) -> Vec<u64>,
    options: &Options,
) {
    let module = ptx::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let kernel = &module.kernels[0];
    let mut memory = DeviceMemory::default();
    let mut addresses = Vec::new();
    for buffer in buffers {
        let address = memory.allocate(buffer.len(), options.check);
        if let Err((_, message)) = memory.write(address, buffer) {
            panic!("{message}");
        }
        addresses.push(address);
    }
    let mut parameters = vec![0; kernel.parameter_bytes];
    for (parameter, value) in kernel.parameters.iter().zip(arguments(&addresses)) {
        parameters[parameter.offset..parameter.offset + parameter.bytes]
            .copy_from_slice(&value.to_le_bytes()[..parameter.bytes]);
    }
    let shape = LaunchShape::new(kernel, [grid, 1, 1], [block, 1, 1], 0);
    let what = Launch { kernel, shape, parameters: &parameters, cooperative: false, number: 1 };
    let start = Instant::now();
    let counters = launch(&what, &mut memory, options).unwrap_or_else(|fault| panic!("{fault}"));
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{name:10} check {:5} {:8} {:7.1} M thread instructions/s, {:5.1} % lane use, {:.0} ms",
        options.check,
        format!("{:?}", options.order),
        counters.thread_instructions as f64 / seconds / 1e6,
        100.0 * counters.lane_use(),
        1e3 * seconds,
    );
}
