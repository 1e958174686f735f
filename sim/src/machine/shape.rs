//! Launches: a kernel, its extents and its parameters.

use crate::isa::code::Kernel;

/// The extents of a launch.
#[derive(Clone, Copy, Debug)]
pub struct LaunchShape {
    /// Blocks, in three dimensions.
    pub grid: [u32; 3],
    /// Threads of a block, in three dimensions.
    pub block: [u32; 3],
    /// The bytes of shared memory of a block, static and dynamic.
    pub shared_bytes: usize,
    /// The offset of the dynamic shared memory.
    pub dynamic_offset: usize,
}

impl LaunchShape {
    /// The shape of a launch with so many bytes of dynamic shared memory.
    pub fn new(kernel: &Kernel, grid: [u32; 3], block: [u32; 3], dynamic: usize) -> LaunchShape {
        let align = kernel.dynamic_shared.unwrap_or(1);
        let dynamic_offset = kernel.shared_bytes.next_multiple_of(align);
        let shared_bytes =
            if dynamic == 0 { kernel.shared_bytes } else { dynamic_offset + dynamic };
        LaunchShape { grid, block, shared_bytes, dynamic_offset }
    }

    /// Returns the number of threads of a block.
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|&extent| u64::from(extent)).product()
    }
}

/// A kernel with the extents and the parameters of a launch.
pub struct Launch<'a> {
    /// The kernel that is launched.
    pub kernel: &'a Kernel,
    /// The extents of the launch.
    pub shape: LaunchShape,
    /// The bytes of the parameters.
    pub parameters: &'a [u8],
    /// All blocks must be resident at once.
    pub cooperative: bool,
    /// A number that no other launch has, from 1.
    pub number: u32,
}
