//! Exact counts of what kernels and the host did.

macro_rules! counters {
    ($(#[$outer:meta])* $name:ident { $($(#[$inner:meta])* $field:ident,)* }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[$inner])* pub $field: u64,)*
        }

        impl $name {
            /// Returns the names and values in the order of the fields.
            pub fn to_pairs(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($field), self.$field)),*]
            }

            /// Sets a counter by its name; returns false if there is none such.
            pub fn set(&mut self, name: &str, value: u64) -> bool {
                match name {
                    $(stringify!($field) => self.$field = value,)*
                    _ => return false,
                }
                true
            }
        }
    };
}

counters! {
    /// The counters of the launches of kernels.
    KernelCounters {
        /// Launches that ended well.
        launches,
        /// Instructions of warps, executed by at least one lane or skipped by a guard.
        warp_instructions,
        /// Instructions of threads: active lanes of the instructions of warps.
        thread_instructions,
        /// Instructions of the warp that executed the most; of several launches, their sum.
        longest_warp,
        /// Loads of warps from global memory.
        load_requests,
        /// Bytes that these loads asked for, each lane counted.
        load_bytes,
        /// Sectors of 32 bytes that these loads touched.
        load_sectors,
        /// Stores of warps to global memory.
        store_requests,
        /// Bytes that these stores wrote, each lane counted.
        store_bytes,
        /// Sectors of 32 bytes that these stores touched.
        store_sectors,
        /// Loads and stores of warps in shared memory.
        shared_requests,
        /// Cycles that bank conflicts add to them.
        bank_conflict_cycles,
        /// Loads and stores of warps in local memory.
        local_requests,
        /// Loads of warps from the constants.
        const_requests,
        /// Atomic instructions of warps.
        atomic_requests,
        /// Atomic operations of threads.
        atomic_operations,
        /// Those of them in shared memory.
        shared_atomic_operations,
        /// Arrivals of warps at barriers of a block.
        barriers,
        /// Shuffles, votes, matches, reductions and barriers of warps.
        collectives,
        /// Branches at which the lanes of a warp parted.
        divergences,
    }
}

counters! {
    /// The counters of the host's calls of the driver.
    HostCounters {
        /// Times the host waited for the device: synchronisation and copies that block.
        drains,
        /// Copies from the device to the host.
        reads,
        /// Bytes of these copies.
        read_bytes,
        /// Copies from the host to the device.
        writes,
        /// Bytes of these copies.
        write_bytes,
        /// Copies within the device.
        device_copies,
        /// Bytes of these copies.
        device_copy_bytes,
        /// Fillings of device memory.
        fills,
        /// Bytes of these fillings.
        fill_bytes,
        /// Allocations of device memory.
        allocations,
        /// Releases of device memory.
        releases,
        /// Bytes of device memory in use.
        live_bytes,
        /// The most bytes of device memory that were in use at once.
        peak_bytes,
        /// Modules that were loaded.
        modules,
        /// Links of a module that began while a copy to the device was under way: in the deferred
        /// mode, one that nobody has waited for.
        links_beside_writes,
    }
}

impl KernelCounters {
    /// Adds the counts of another launch.
    pub fn add(&mut self, other: &KernelCounters) {
        for ((name, mine), (_, theirs)) in self.to_pairs().into_iter().zip(other.to_pairs()) {
            self.set(name, mine + theirs);
        }
    }

    /// Returns the share of lanes that were active, from 0 to 1.
    pub fn lane_use(&self) -> f64 {
        ratio(self.thread_instructions, 32 * self.warp_instructions)
    }

    /// Returns the share of the bytes of touched sectors that were asked for.
    pub fn sector_efficiency(&self) -> f64 {
        let sectors = self.load_sectors + self.store_sectors;
        ratio(self.load_bytes + self.store_bytes, 32 * sectors)
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}
