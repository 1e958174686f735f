//! Atomic instructions: each lane after the other.

use super::access::{Kind, Strength, addresses, in_range, spaces};
use super::block::Block;
use super::fault::Failure;
use super::memory::load_bytes;
use super::order::lanes_of;
use super::run::Machine;
use super::step::At;
use crate::isa::code::{Atomic, AtomicOp, Space};
use crate::isa::lanes::WARP_LANES;

/// The effects of every atomic on memory.
const KIND: Kind = Kind { reads: true, writes: true, atomic: true, copies: false };

impl Machine<'_> {
    pub(super) fn atomic(
        &mut self,
        block: &mut Block,
        at: At,
        atomic: &Atomic,
    ) -> Result<(), Failure> {
        let addresses = addresses(block, at, atomic.address);
        let bytes = atomic.ty.bytes();
        let strong = Strength { ordering: atomic.ordering, scope: atomic.scope };
        self.counters.atomic_requests += 1;
        self.counters.atomic_operations += u64::from(at.active.count_ones());
        let mut old_values = [0; WARP_LANES];
        for (space, mask) in spaces(atomic.address.space, &addresses, at.active) {
            if space == Space::Shared {
                self.count_shared(&addresses, mask, bytes);
                self.counters.shared_atomic_operations += u64::from(mask.count_ones());
            }
            for lane in lanes_of(mask) {
                let operands = atomic
                    .operands
                    .map(|register| block.warps[at.warp].registers[usize::from(register)][lane]);
                let address = addresses[lane];
                old_values[lane] = if space == Space::Shared {
                    let offset = in_range(at, lane, address, bytes, block.shared.len(), "shared")?;
                    self.check_shared(block, at, lane, (offset, bytes), KIND, strong)?;
                    let cell = &mut block.shared[offset..offset + bytes];
                    let old = load_bytes(cell);
                    let new = change(&atomic.op, old, operands);
                    cell.copy_from_slice(&new.to_le_bytes()[..bytes]);
                    old
                } else {
                    // An atomic on local memory is an access to a wild address: it is refused here.
                    let (index, offset) = self.locate(at, lane, address, bytes)?;
                    self.check_global(block, at, lane, (address, bytes), KIND, strong)?;
                    let allocation = self.memory.allocation_mut(index);
                    let old = allocation.load(offset, bytes);
                    allocation.store(offset, bytes, change(&atomic.op, old, operands));
                    old
                };
            }
        }
        if let Some(destination) = atomic.destination {
            block.warps[at.warp].put(destination, &old_values, at.active);
        }
        Ok(())
    }
}

/// Returns the new value.
fn change(op: &AtomicOp, old: u64, [a, b]: [u64; 2]) -> u64 {
    match op {
        AtomicOp::Combine(binary) => (binary.one)(old, a),
        AtomicOp::Exchange => a,
        AtomicOp::CompareAndSwap => {
            if old == a {
                b
            } else {
                old
            }
        }
    }
}
