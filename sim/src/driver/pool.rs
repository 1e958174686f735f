//! Accounts of device memory: what is allocated, and what the asynchronous pool keeps.

use super::status::{Outcome, Status};

/// The bytes of device memory by use.
#[derive(Clone, Copy, Debug, Default)]
pub struct Accounts {
    /// The bytes of the device.
    pub total: usize,
    /// Bytes of ordinary allocations.
    direct: usize,
    /// Bytes of the pool's allocations.
    pub pool_used: usize,
    /// The most that were.
    pub pool_used_high: usize,
    /// Bytes that the pool holds, used or not.
    pub pool_reserved: usize,
    /// The most that were.
    pub pool_reserved_high: usize,
    /// The bytes that the pool keeps when the host waits.
    pub pool_threshold: u64,
    /// The most bytes that were in use.
    pub peak: usize,
}

impl Accounts {
    /// The accounts of a device of so many bytes.
    pub fn new(total: usize) -> Accounts {
        Accounts { total, ..Accounts::default() }
    }

    /// Returns the bytes that are neither allocated nor held by the pool.
    pub fn free(&self) -> usize {
        self.total - self.direct - self.pool_reserved
    }

    /// Returns the bytes in use.
    pub fn live(&self) -> usize {
        self.direct + self.pool_used
    }

    /// Takes bytes for an ordinary allocation.
    pub fn take_direct(&mut self, bytes: usize) -> Outcome {
        if bytes > self.free() {
            return Err(Status::OUT_OF_MEMORY);
        }
        self.direct += bytes;
        self.peak = self.peak.max(self.live());
        Ok(())
    }

    /// Returns the bytes of an ordinary allocation.
    pub fn return_direct(&mut self, bytes: usize) {
        self.direct = self.direct.saturating_sub(bytes);
    }

    /// Takes bytes from the pool, which grows if it must.
    pub fn take_pooled(&mut self, bytes: usize) -> Outcome {
        let needed = (self.pool_used + bytes).saturating_sub(self.pool_reserved);
        if needed > self.free() {
            return Err(Status::OUT_OF_MEMORY);
        }
        self.pool_reserved += needed;
        self.pool_used += bytes;
        self.pool_used_high = self.pool_used_high.max(self.pool_used);
        self.pool_reserved_high = self.pool_reserved_high.max(self.pool_reserved);
        self.peak = self.peak.max(self.live());
        Ok(())
    }

    /// Returns bytes to the pool.
    pub fn return_pooled(&mut self, bytes: usize) {
        self.pool_used = self.pool_used.saturating_sub(bytes);
    }

    /// Lets the pool keep at most `keep` bytes beyond those in use.
    pub fn trim(&mut self, keep: u64) {
        let keep = usize::try_from(keep).unwrap_or(usize::MAX);
        self.pool_reserved = self.pool_reserved.min(keep.max(self.pool_used));
    }
}
