//! Copies to the device that the host makes while a launch runs in the background: the machine takes them
//! between the turns of its warps, as a device's engine for copies writes beside its kernels.

use super::memory::{AccessError, DeviceMemory};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

static COPIES: Mutex<Vec<(u64, Vec<u8>)>> = Mutex::new(Vec::new());

/// True if there are copies.
static ARE_PENDING: AtomicBool = AtomicBool::new(false);

/// Leaves bytes that are to be copied to an address.
pub fn leave(to: u64, bytes: Vec<u8>) {
    COPIES.lock().unwrap_or_else(PoisonError::into_inner).push((to, bytes));
    ARE_PENDING.store(true, Ordering::Release);
}

/// Returns true if the copies that were left are not done.
pub fn are_pending() -> bool {
    ARE_PENDING.load(Ordering::Acquire)
}

/// Does the copies that were left.
pub fn take(memory: &mut DeviceMemory) -> Result<(), AccessError> {
    if !are_pending() {
        return Ok(());
    }
    let mut copies = COPIES.lock().unwrap_or_else(PoisonError::into_inner);
    let outcome = copies.drain(..).try_for_each(|(to, bytes)| memory.write(to, &bytes));
    ARE_PENDING.store(false, Ordering::Release);
    outcome
}
