//! A device for tests of the machine, without the driver.

#![allow(dead_code)]

use nesl_sim::counters::KernelCounters;
use nesl_sim::isa::code::Constant;
use nesl_sim::machine::{DeviceMemory, Fault, Launch, LaunchShape, launch};
use nesl_sim::options::{BlockOrder, Options};
use nesl_sim::ptx;

/// A device with its options.
pub struct Device {
    pub memory: DeviceMemory,
    pub options: Options,
    launches: u32,
}

/// The schedules in which kernels are tested: the three orders, some seeds, races looked for, few
/// resident blocks and short turns.
pub fn schedules(random: u64) -> Vec<Options> {
    let base = Options {
        check: true,
        resident_blocks: 3,
        quantum: 40,
        budget: 3_000_000,
        ..Options::default()
    };
    let mut list = vec![
        Options { order: BlockOrder::Forward, ..base.clone() },
        Options { order: BlockOrder::Reverse, ..base.clone() },
    ];
    list.extend((1..=random).map(|seed| Options {
        order: BlockOrder::Random,
        seed,
        ..base.clone()
    }));
    list
}

impl Device {
    pub fn new(options: &Options) -> Device {
        Device { memory: DeviceMemory::default(), options: options.clone(), launches: 0 }
    }

    /// Allocates memory that nobody wrote.
    pub fn blank(&mut self, bytes: usize) -> u64 {
        self.memory.allocate(bytes, self.options.check)
    }

    /// Allocates memory with contents.
    pub fn upload(&mut self, bytes: &[u8]) -> u64 {
        let address = self.blank(bytes.len());
        self.memory.write(address, bytes).unwrap();
        address
    }

    pub fn upload_u32(&mut self, values: &[u32]) -> u64 {
        self.upload(&values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())
    }

    pub fn upload_u64(&mut self, values: &[u64]) -> u64 {
        self.upload(&values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())
    }

    pub fn read_u64(&self, address: u64, count: usize) -> Vec<u64> {
        let mut bytes = vec![0; 8 * count];
        self.memory.read(address, &mut bytes).unwrap();
        bytes.chunks(8).map(|chunk| u64::from_le_bytes(chunk.try_into().unwrap())).collect()
    }

    pub fn read_u32(&self, address: u64, count: usize) -> Vec<u32> {
        let mut bytes = vec![0; 4 * count];
        self.memory.read(address, &mut bytes).unwrap();
        bytes.chunks(4).map(|chunk| u32::from_le_bytes(chunk.try_into().unwrap())).collect()
    }

    /// Launches the first kernel of a text; the arguments are bits, cut to their parameters.
    pub fn launch(
        &mut self,
        text: &str,
        grid: u32,
        block: u32,
        arguments: &[u64],
    ) -> Result<KernelCounters, Box<Fault>> {
        self.launch_with(text, grid, block, 0, arguments)
    }

    /// The same with dynamic shared memory.
    pub fn launch_with(
        &mut self,
        text: &str,
        grid: u32,
        block: u32,
        dynamic: usize,
        arguments: &[u64],
    ) -> Result<KernelCounters, Box<Fault>> {
        let module = ptx::parse(text).unwrap_or_else(|error| panic!("{error}"));
        let addresses: Vec<u64> =
            module.globals.iter().map(|variable| self.upload(&variable.bytes)).collect();
        let mut kernel = module.kernels[0].clone();
        for (_, constant) in &mut kernel.constants {
            if let Constant::GlobalAddress(number) = *constant {
                *constant = Constant::Bits(addresses[number]);
            }
        }
        let mut parameters = vec![0; kernel.parameter_bytes];
        assert_eq!(kernel.parameters.len(), arguments.len());
        for (parameter, value) in kernel.parameters.iter().zip(arguments) {
            parameters[parameter.offset..parameter.offset + parameter.bytes]
                .copy_from_slice(&value.to_le_bytes()[..parameter.bytes]);
        }
        self.launches += 1;
        let shape = LaunchShape::new(&kernel, [grid, 1, 1], [block, 1, 1], dynamic);
        let what = Launch {
            kernel: &kernel,
            shape,
            parameters: &parameters,
            cooperative: false,
            number: self.launches,
        };
        launch(&what, &mut self.memory, &self.options)
    }
}

/// Makes a module of one kernel from its parameters and its body, with registers `%p`, `%h`,
/// `%r`, `%rd`, `%f` and `%fd`.
pub fn kernel(parameters: &str, body: &str) -> String {
    kernel_for(80, "", parameters, body)
}

/// The same for a target, with declarations of the module.
pub fn kernel_for(target: u32, declarations: &str, parameters: &str, body: &str) -> String {
    format!(
        ".version 7.0\n.target sm_{target}\n.address_size 64\n{declarations}\n\
         .visible .entry test({parameters})\n{{\n.reg .pred %p<16>;\n.reg .b16 %h<16>;\n\
         .reg .b32 %r<64>;\n.reg .b64 %rd<64>;\n.reg .f32 %f<16>;\n.reg .f64 %fd<16>;\n\
         {body}\nret;\n}}\n"
    )
}
