//! The devices that can be simulated: what the host may ask about them.

use crate::isa::code::Kernel;

/// A device that can be simulated.
#[derive(Clone, Copy, Debug)]
pub struct Device {
    /// The name of the option `device`.
    pub key: &'static str,
    /// The name that the driver reports.
    pub name: &'static str,
    /// The compute capability times ten.
    pub capability: u32,
    /// The number of multiprocessors.
    pub multiprocessors: u32,
    /// The threads that a multiprocessor holds.
    pub threads: u32,
    /// The blocks that a multiprocessor holds.
    pub blocks: u32,
    /// The bytes of shared memory of a multiprocessor.
    pub shared_bytes: u32,
    /// The bytes of shared memory that a block may opt in to.
    pub block_shared_bytes: u32,
    /// The bytes of memory.
    pub memory_bytes: usize,
    /// The bytes of the second-level cache.
    pub cache_bytes: u32,
}

/// The devices that can be simulated.
pub const DEVICES: [Device; 5] = [
    Device {
        key: "b200",
        name: "Simulated B200",
        capability: 100,
        multiprocessors: 148,
        threads: 2048,
        blocks: 32,
        shared_bytes: 233_472,
        block_shared_bytes: 232_448,
        memory_bytes: 180 << 30,
        cache_bytes: 126 << 20,
    },
    Device {
        key: "h100",
        name: "Simulated H100",
        capability: 90,
        multiprocessors: 132,
        threads: 2048,
        blocks: 32,
        shared_bytes: 233_472,
        block_shared_bytes: 232_448,
        memory_bytes: 80 << 30,
        cache_bytes: 50 << 20,
    },
    Device {
        key: "a100",
        name: "Simulated A100",
        capability: 80,
        multiprocessors: 108,
        threads: 2048,
        blocks: 32,
        shared_bytes: 167_936,
        block_shared_bytes: 166_912,
        memory_bytes: 40 << 30,
        cache_bytes: 40 << 20,
    },
    Device {
        key: "t4",
        name: "Simulated T4",
        capability: 75,
        multiprocessors: 40,
        threads: 1024,
        blocks: 16,
        shared_bytes: 65_536,
        block_shared_bytes: 65_536,
        memory_bytes: 16 << 30,
        cache_bytes: 4 << 20,
    },
    // No device is as small: each of its threads has much to do.
    Device {
        key: "one",
        name: "Simulated multiprocessor",
        capability: 75,
        multiprocessors: 1,
        threads: 512,
        blocks: 2,
        shared_bytes: 65_536,
        block_shared_bytes: 65_536,
        memory_bytes: 1 << 30,
        cache_bytes: 1 << 20,
    },
];

/// The bytes of shared memory that a block has without opting in.
pub const DEFAULT_SHARED_BYTES: usize = 48 << 10;

/// The registers of a multiprocessor.
const REGISTERS: u32 = 65_536;

/// The registers of a thread that the driver reports: the simulator allocates none.
pub const NOMINAL_REGISTERS: u32 = 32;

/// The most threads of a block.
pub const MAX_BLOCK_THREADS: u32 = 1024;

/// The extents that a block and a grid may have.
pub const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
/// The extents that a grid may have.
pub const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];

impl Device {
    /// Returns the device with this key; `none` has none.
    pub fn find(key: &str) -> Option<&'static Device> {
        DEVICES.iter().find(|device| device.key == key)
    }

    /// Returns an attribute by CUDA's number; those that are not listed are 0.
    pub fn attribute(&self, number: i32) -> i32 {
        let value = match number {
            1 => MAX_BLOCK_THREADS,
            2..=4 => MAX_BLOCK[number as usize - 2],
            5..=7 => MAX_GRID[number as usize - 5],
            8 => DEFAULT_SHARED_BYTES as u32,
            9 => 64 << 10,         // constant memory
            10 => 32,              // warp size
            11 => i32::MAX as u32, // pitch
            12 | 82 => REGISTERS,
            13 | 36 => 1_000_000,   // clock rates in kHz
            14 => 512,              // alignment of textures
            15 | 19 | 31 | 41 => 1, // overlap, mapped memory, streams, one address space
            16 => self.multiprocessors,
            37 => 1024, // bits of the memory bus
            38 => self.cache_bytes,
            39 => self.threads,
            40 => 2, // copy engines
            75 => self.capability / 10,
            76 => self.capability % 10,
            78..=80 => 1, // stream priorities, caches
            81 => self.shared_bytes,
            87 => 2,                // ratio of f32 to f64
            90 | 91 | 95 | 99 => 1, // preemption, registered memory, cooperation
            97 => self.block_shared_bytes,
            106 => self.blocks,
            111 => self.reserved_shared_bytes(),
            115 => 1, // memory pools
            _ => 0,
        };
        value as i32
    }

    /// Returns the bytes of shared memory that each block takes in addition.
    fn reserved_shared_bytes(&self) -> u32 {
        if self.capability >= 80 { 1024 } else { 0 }
    }

    /// Returns the number of blocks of a kernel that a multiprocessor holds.
    pub fn occupancy(&self, kernel: &Kernel, threads: u32, dynamic_bytes: usize) -> u32 {
        let most = kernel.max_threads.unwrap_or(MAX_BLOCK_THREADS);
        let shared = kernel.shared_bytes + dynamic_bytes;
        if threads == 0 || threads > most || shared > self.block_shared_bytes as usize {
            return 0;
        }
        let warps = threads.div_ceil(32) * 32;
        let by_shared = self.shared_bytes / (shared as u32 + self.reserved_shared_bytes()).max(1);
        self.blocks
            .min(self.threads / warps)
            .min(REGISTERS / (NOMINAL_REGISTERS * warps))
            .min(by_shared)
    }
}
