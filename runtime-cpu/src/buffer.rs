//! Buffers of this runtime: blocks of its memory.

use crate::memory::{Block, Memory};
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::kir::Ty;
use nesl_runtime::runtime::{Buffer, Failure};
use std::sync::Arc;

/// A failure of the host: an invariant of launches that does not hold, or a missing feature.
pub fn internal_failure(what: &str) -> Failure {
    Failure::Machine(Fault::with(FaultCode::Host, format!("cpu runtime: {what}")))
}

/// Returns the memory of a buffer.
pub fn block(buffer: &Buffer) -> Result<&Block, Failure> {
    buffer.storage().ok_or_else(|| internal_failure("the array is of another runtime"))
}

/// Allocates a buffer of `length` elements.
pub fn alloc(memory: &Arc<Memory>, ty: Ty, length: usize) -> Result<Buffer, Failure> {
    let bytes = length.checked_mul(ty.size()).ok_or_else(|| memory.exhausted(Some(u64::MAX)))?;
    Ok(Buffer::new(ty, length, Arc::new(memory.alloc(bytes)?)))
}

/// Allocates a buffer of at most `length` elements, which is counted when it is filled.
pub fn alloc_at_most(memory: &Arc<Memory>, ty: Ty, length: usize) -> Result<Buffer, Failure> {
    let bytes = length.checked_mul(ty.size()).ok_or_else(|| memory.exhausted(Some(u64::MAX)))?;
    Ok(Buffer::new(ty, length, Arc::new(memory.alloc_at_most(bytes)?)))
}

/// Returns the address of element `at` of a buffer, from which `bytes` bytes are accessed.
pub fn address(buffer: &Buffer, at: usize, bytes: usize) -> Result<*mut u8, Failure> {
    let block = block(buffer)?;
    let from = at.checked_mul(buffer.ty().size());
    match from.and_then(|from| from.checked_add(bytes)) {
        // SAFETY: `to` is the end of the access, and lies within the block.
        Some(to) if to <= block.bytes() => Ok(unsafe { block.start().add(to - bytes) }),
        _ => Err(internal_failure("a transfer goes beyond its array")),
    }
}
