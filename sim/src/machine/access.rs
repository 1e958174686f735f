//! Loads and stores of a warp, with their checks and counts.

use super::block::Block;
use super::fault::{Failure, FaultKind};
use super::memory::load_bytes;
use super::order::{StrongAccess, lanes_of, strength};
use super::run::Machine;
use super::step::At;
use super::traffic;
use crate::isa::code::{
    Access, Address, LOCAL_WINDOW, Ordering, Register, SHARED_WINDOW, Scope, Space,
};
use crate::isa::lanes::{Lanes, WARP_LANES};
use crate::isa::types::Type;

/// The values of one to four elements in all lanes.
type Elements = [Lanes; 4];

impl Machine<'_> {
    pub(super) fn load_parameter(
        &mut self,
        block: &mut Block,
        at: At,
        access: &Access,
        offset: usize,
    ) {
        let bytes = access.ty.bytes();
        for (k, &register) in access.registers[..usize::from(access.elements)].iter().enumerate() {
            let start = offset + k * bytes;
            let value = load_bytes(&self.launch.parameters[start..start + bytes]);
            let value = extend(access.ty, value) & access.register_mask;
            block.warps[at.warp].put(register, &[value; WARP_LANES], at.active);
        }
    }

    pub(super) fn load(
        &mut self,
        block: &mut Block,
        at: At,
        access: &Access,
    ) -> Result<(), Failure> {
        let addresses = addresses(block, at, access.address);
        let mut values: Elements = [[0; WARP_LANES]; 4];
        for (space, mask) in spaces(access.address.space, &addresses, at.active) {
            match space {
                Space::Global => self.load_global(block, at, mask, &addresses, access, &mut values),
                Space::Shared => self.load_shared(block, at, mask, &addresses, access, &mut values),
                Space::Local => self.load_local(block, at, mask, &addresses, access, &mut values),
                Space::Const | Space::Param | Space::Generic => {
                    self.load_const(at, mask, &addresses, access, &mut values)
                }
            }?;
        }
        let warp = &mut block.warps[at.warp];
        for (k, &register) in access.registers[..usize::from(access.elements)].iter().enumerate() {
            if access.ty.is_signed() {
                for value in &mut values[k] {
                    *value = extend(access.ty, *value) & access.register_mask;
                }
            }
            warp.put(register, &values[k], at.active);
        }
        Ok(())
    }

    fn load_global(
        &mut self,
        block: &mut Block,
        at: At,
        mask: u32,
        addresses: &Lanes,
        access: &Access,
        values: &mut Elements,
    ) -> Result<(), Failure> {
        let (bytes, size) = (access.ty.bytes(), size(access));
        self.counters.load_requests += 1;
        self.counters.load_bytes += size as u64 * u64::from(mask.count_ones());
        self.counters.load_sectors += traffic::sectors(addresses, mask);
        let count = usize::from(access.elements);
        if let Some((index, mut offsets)) = self.memory.locate_lanes(addresses, mask, size) {
            let allocation = self.memory.allocation(index);
            for values in &mut values[..count] {
                allocation.load_lanes(values, &offsets, mask, bytes);
                offsets = offsets.map(|offset| offset.wrapping_add(bytes as u64));
            }
        } else {
            self.load_lane_by_lane(at, mask, addresses, access, values)?;
        }
        if self.options.check {
            let kind = Kind { reads: true, writes: false, atomic: false, copies: access.copies };
            for lane in lanes_of(mask) {
                self.check_global(block, at, lane, (addresses[lane], size), kind, access.into())?;
            }
            if access.read_only {
                self.check_read_only(at, mask, addresses, size)?;
            }
        }
        Ok(())
    }

    /// Checks that memory that is read as if it could not change has not been written: a read-only
    /// load may return what was there before, whatever orders the two.
    fn check_read_only(
        &self,
        at: At,
        mask: u32,
        addresses: &Lanes,
        bytes: usize,
    ) -> Result<(), Failure> {
        for lane in lanes_of(mask) {
            let (index, offset) = self.locate(at, lane, addresses[lane], bytes)?;
            let shadow = self.memory.allocation(index).shadow.as_ref();
            if shadow.is_some_and(|s| s.is_written(self.launch.number, offset, bytes)) {
                let message = format!("a read-only load at offset {offset} that this launch wrote");
                return Err(Failure::of_thread(FaultKind::Race, at.thread(lane), message));
            }
        }
        Ok(())
    }

    /// Loads from several allocations, or finds the lane that must not.
    fn load_lane_by_lane(
        &mut self,
        at: At,
        mask: u32,
        addresses: &Lanes,
        access: &Access,
        values: &mut Elements,
    ) -> Result<(), Failure> {
        let (bytes, size) = (access.ty.bytes(), size(access));
        for lane in lanes_of(mask) {
            let (index, offset) = self.locate(at, lane, addresses[lane], size)?;
            let allocation = self.memory.allocation(index);
            for (k, values) in values[..usize::from(access.elements)].iter_mut().enumerate() {
                values[lane] = allocation.load(offset + k * bytes, bytes);
            }
        }
        Ok(())
    }

    fn load_shared(
        &mut self,
        block: &mut Block,
        at: At,
        mask: u32,
        addresses: &Lanes,
        access: &Access,
        values: &mut Elements,
    ) -> Result<(), Failure> {
        let (bytes, size) = (access.ty.bytes(), size(access));
        self.count_shared(addresses, mask, size);
        for lane in lanes_of(mask) {
            let offset = in_range(at, lane, addresses[lane], size, block.shared.len(), "shared")?;
            for (k, values) in values[..usize::from(access.elements)].iter_mut().enumerate() {
                let start = offset + k * bytes;
                values[lane] = load_bytes(&block.shared[start..start + bytes]);
            }
            let kind = Kind { reads: true, writes: false, atomic: false, copies: access.copies };
            self.check_shared(block, at, lane, (offset, size), kind, access.into())?;
        }
        Ok(())
    }

    fn load_local(
        &mut self,
        block: &mut Block,
        at: At,
        mask: u32,
        addresses: &Lanes,
        access: &Access,
        values: &mut Elements,
    ) -> Result<(), Failure> {
        let (bytes, size, each) = (access.ty.bytes(), size(access), self.kernel.local_bytes);
        self.counters.local_requests += 1;
        let warp = &mut block.warps[at.warp];
        for lane in lanes_of(mask) {
            let offset = in_range(at, lane, addresses[lane], size, each, "local")? + lane * each;
            for (k, values) in values[..usize::from(access.elements)].iter_mut().enumerate() {
                let start = offset + k * bytes;
                values[lane] = load_bytes(&warp.local[start..start + bytes]);
            }
            if let Some(initialised) = &mut warp.local_initialised
                && !access.copies
                && !initialised.contains(offset, size)
            {
                return Err(uninitialised(at, lane, "local", offset - lane * each));
            }
        }
        Ok(())
    }

    fn load_const(
        &mut self,
        at: At,
        mask: u32,
        addresses: &Lanes,
        access: &Access,
        values: &mut Elements,
    ) -> Result<(), Failure> {
        let (bytes, size) = (access.ty.bytes(), size(access));
        let bank = &self.kernel.constants_bank;
        self.counters.const_requests += 1;
        for lane in lanes_of(mask) {
            let offset = in_range(at, lane, addresses[lane], size, bank.bytes.len(), "constant")?;
            if !bank.ranges.iter().any(|&(start, end)| start <= offset && offset + size <= end) {
                let message = format!("{size} bytes at offset {offset} of the constants");
                let thread = at.thread(lane);
                return Err(Failure::of_thread(FaultKind::OutOfBounds, thread, message));
            }
            for (k, values) in values[..usize::from(access.elements)].iter_mut().enumerate() {
                let start = offset + k * bytes;
                values[lane] = load_bytes(&bank.bytes[start..start + bytes]);
            }
        }
        Ok(())
    }

    pub(super) fn store(
        &mut self,
        block: &mut Block,
        at: At,
        access: &Access,
    ) -> Result<(), Failure> {
        let addresses = addresses(block, at, access.address);
        for (space, mask) in spaces(access.address.space, &addresses, at.active) {
            match space {
                Space::Shared => self.store_shared(block, at, mask, &addresses, access),
                Space::Local => self.store_local(block, at, mask, &addresses, access),
                Space::Global | Space::Const | Space::Param | Space::Generic => {
                    self.store_global(block, at, mask, &addresses, access)
                }
            }?;
        }
        Ok(())
    }

    fn store_global(
        &mut self,
        block: &mut Block,
        at: At,
        mask: u32,
        addresses: &Lanes,
        access: &Access,
    ) -> Result<(), Failure> {
        let (bytes, size) = (access.ty.bytes(), size(access));
        self.counters.store_requests += 1;
        self.counters.store_bytes += size as u64 * u64::from(mask.count_ones());
        self.counters.store_sectors += traffic::sectors(addresses, mask);
        if !self.options.check
            && let Some((index, mut offsets)) = self.memory.locate_lanes(addresses, mask, size)
        {
            let allocation = self.memory.allocation_mut(index);
            for (_, register) in elements(access) {
                let values = &block.warps[at.warp].registers[register];
                allocation.store_lanes(values, &offsets, mask, bytes);
                offsets = offsets.map(|offset| offset.wrapping_add(bytes as u64));
            }
            return Ok(());
        }
        for lane in lanes_of(mask) {
            let (index, offset) = self.locate(at, lane, addresses[lane], size)?;
            if self.options.check {
                let kind = Kind { reads: false, writes: true, atomic: false, copies: false };
                self.check_global(block, at, lane, (addresses[lane], size), kind, access.into())?;
            }
            let allocation = self.memory.allocation_mut(index);
            for (k, register) in elements(access) {
                let value = block.warps[at.warp].registers[register][lane];
                allocation.store(offset + k * bytes, bytes, value);
            }
        }
        Ok(())
    }

    fn store_shared(
        &mut self,
        block: &mut Block,
        at: At,
        mask: u32,
        addresses: &Lanes,
        access: &Access,
    ) -> Result<(), Failure> {
        let (bytes, size) = (access.ty.bytes(), size(access));
        self.count_shared(addresses, mask, size);
        for lane in lanes_of(mask) {
            let offset = in_range(at, lane, addresses[lane], size, block.shared.len(), "shared")?;
            let kind = Kind { reads: false, writes: true, atomic: false, copies: false };
            self.check_shared(block, at, lane, (offset, size), kind, access.into())?;
            for (k, register) in elements(access) {
                let value = block.warps[at.warp].registers[register][lane];
                let start = offset + k * bytes;
                block.shared[start..start + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
            }
        }
        Ok(())
    }

    fn store_local(
        &mut self,
        block: &mut Block,
        at: At,
        mask: u32,
        addresses: &Lanes,
        access: &Access,
    ) -> Result<(), Failure> {
        let (bytes, size, each) = (access.ty.bytes(), size(access), self.kernel.local_bytes);
        self.counters.local_requests += 1;
        let warp = &mut block.warps[at.warp];
        for lane in lanes_of(mask) {
            let offset = in_range(at, lane, addresses[lane], size, each, "local")? + lane * each;
            for (k, register) in elements(access) {
                let value = warp.registers[register][lane];
                let start = offset + k * bytes;
                warp.local[start..start + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
            }
            if let Some(initialised) = &mut warp.local_initialised {
                initialised.insert(offset, size);
            }
        }
        Ok(())
    }

    /// Counts an access to shared memory.
    pub(super) fn count_shared(&mut self, addresses: &Lanes, mask: u32, bytes: usize) {
        self.counters.shared_requests += 1;
        self.counters.bank_conflict_cycles += traffic::bank_conflicts(addresses, mask, bytes);
    }

    /// Returns the allocation and the offset that a lane accesses.
    #[inline(always)]
    pub(super) fn locate(
        &self,
        at: At,
        lane: usize,
        address: u64,
        bytes: usize,
    ) -> Result<(usize, usize), Failure> {
        if address & (bytes as u64 - 1) != 0 {
            return Err(misaligned(at, lane, address, bytes));
        }
        self.memory
            .locate(address, bytes)
            .map_err(|(kind, message)| Failure::of_thread(kind, at.thread(lane), message))
    }

    /// Checks an access to global memory for races and uninitialised bytes, and notes it.
    pub(super) fn check_global(
        &mut self,
        block: &mut Block,
        at: At,
        lane: usize,
        (address, bytes): (u64, usize),
        kind: Kind,
        strong: Strength,
    ) -> Result<(), Failure> {
        let Some(checks) = &mut block.checks else { return Ok(()) };
        let (index, offset) = self.locate(at, lane, address, bytes)?;
        let allocation = self.memory.allocation_mut(index);
        if let Some(initialised) = &mut allocation.initialised {
            if kind.reads && !kind.copies && !initialised.contains(offset, bytes) {
                return Err(uninitialised(at, lane, "global", offset));
            }
            if kind.writes {
                initialised.insert(offset, bytes);
            }
        }
        let thread = at.thread(lane) as u16;
        let length = allocation.len();
        let shadow = allocation.shadow.get_or_insert_with(|| super::shadow::Shadow::new(length));
        let now = checks.order.stamp(thread, strength(strong.scope()));
        let range = (offset, bytes);
        if let Some(conflict) =
            shadow.access(self.launch.number, range, &checks.order, now, kind.writes)
        {
            return Err(race(at, lane, "global", offset, kind, &conflict));
        }
        if let Some(access) = strong.access(kind) {
            let variable = self.sync.entry(address).or_default();
            checks.order.strong_access(thread, variable, access);
        }
        Ok(())
    }

    /// The same for shared memory.
    pub(super) fn check_shared(
        &self,
        block: &mut Block,
        at: At,
        lane: usize,
        (offset, bytes): (usize, usize),
        kind: Kind,
        strong: Strength,
    ) -> Result<(), Failure> {
        let Some(checks) = &mut block.checks else { return Ok(()) };
        if kind.reads && !kind.copies && !checks.initialised.contains(offset, bytes) {
            return Err(uninitialised(at, lane, "shared", offset));
        }
        if kind.writes {
            checks.initialised.insert(offset, bytes);
        }
        let thread = at.thread(lane) as u16;
        let now = checks.order.stamp(thread, strength(strong.scope()));
        let range = (offset, bytes);
        // Shared memory starts anew with each block, so that its accesses are of one launch.
        if let Some(conflict) = checks.shadow.access(1, range, &checks.order, now, kind.writes) {
            return Err(race(at, lane, "shared", offset, kind, &conflict));
        }
        if let Some(access) = strong.access(kind) {
            let variable = checks.sync.entry(offset as u64).or_default();
            checks.order.strong_access(thread, variable, access);
        }
        Ok(())
    }
}

/// The effects of an access on memory.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    /// The access reads.
    pub reads: bool,
    /// The access writes.
    pub writes: bool,
    /// It is a read-modify-write.
    pub atomic: bool,
    /// True for the load of a copy: what it reads need not have been written.
    pub copies: bool,
}

/// The ordering and the scope of an access.
#[derive(Clone, Copy)]
pub(super) struct Strength {
    /// The ordering of the access.
    pub ordering: Ordering,
    /// The scope, unless it is weak.
    pub scope: Scope,
}

impl From<&Access> for Strength {
    fn from(access: &Access) -> Strength {
        Strength { ordering: access.ordering, scope: access.scope }
    }
}

impl Strength {
    fn scope(self) -> Option<Scope> {
        (self.ordering != Ordering::Weak).then_some(self.scope)
    }

    fn access(self, kind: Kind) -> Option<StrongAccess> {
        self.scope().map(|scope| StrongAccess {
            reads: kind.reads,
            writes: kind.writes,
            acquires: self.ordering.acquires(),
            releases: self.ordering.releases(),
            scope,
        })
    }
}

/// Returns the bytes of an access of one lane.
fn size(access: &Access) -> usize {
    access.ty.bytes() * usize::from(access.elements)
}

/// Returns the numbers of the elements with their registers.
fn elements(access: &Access) -> impl Iterator<Item = (usize, usize)> {
    let registers: [Register; 4] = access.registers;
    registers.into_iter().take(usize::from(access.elements)).map(usize::from).enumerate()
}

/// Returns the addresses of all lanes; those of small state spaces have 32 bits.
pub(super) fn addresses(block: &Block, at: At, address: Address) -> Lanes {
    let base = &block.warps[at.warp].registers[usize::from(address.base)];
    let narrow = matches!(address.space, Space::Shared | Space::Local | Space::Const);
    base.map(|base| {
        let sum = base.wrapping_add(address.offset as u64);
        if narrow { u64::from(sum as u32) } else { sum }
    })
}

/// Returns the state spaces that the lanes access, each with its lanes.
pub(super) fn spaces(
    space: Space,
    addresses: &Lanes,
    mask: u32,
) -> impl Iterator<Item = (Space, u32)> {
    let within = |window: u64| {
        lanes_of(mask).filter(|&lane| addresses[lane] & window != 0).map(|lane| 1 << lane).sum()
    };
    let parts = if space == Space::Generic {
        let (shared, local): (u32, u32) = (within(SHARED_WINDOW), within(LOCAL_WINDOW));
        [(Space::Global, mask & !shared & !local), (Space::Shared, shared), (Space::Local, local)]
    } else {
        [(space, mask), (space, 0), (space, 0)]
    };
    parts.into_iter().filter(|(_, mask)| *mask != 0)
}

/// Returns the offset of an access to a small state space, checked.
pub(super) fn in_range(
    at: At,
    lane: usize,
    address: u64,
    bytes: usize,
    length: usize,
    space: &str,
) -> Result<usize, Failure> {
    // A generic address carries the bit of its window.
    let offset = (address & u64::from(u32::MAX)) as usize;
    if offset & (bytes - 1) != 0 {
        return Err(misaligned(at, lane, address, bytes));
    }
    if offset + bytes > length {
        let message =
            format!("{bytes} bytes at offset {offset} of {length} bytes of {space} memory");
        return Err(Failure::of_thread(FaultKind::OutOfBounds, at.thread(lane), message));
    }
    Ok(offset)
}

fn misaligned(at: At, lane: usize, address: u64, bytes: usize) -> Failure {
    let message = format!("{bytes} bytes at {address:#x}");
    Failure::of_thread(FaultKind::Misaligned, at.thread(lane), message)
}

fn uninitialised(at: At, lane: usize, space: &str, offset: usize) -> Failure {
    let message = format!("nobody wrote offset {offset} of the {space} memory that is read");
    Failure::of_thread(FaultKind::Uninitialised, at.thread(lane), message)
}

fn race(
    at: At,
    lane: usize,
    space: &str,
    offset: usize,
    kind: Kind,
    conflict: &super::shadow::Conflict,
) -> Failure {
    let now = if kind.atomic {
        "an atomic"
    } else if kind.writes {
        "a write"
    } else {
        "a read"
    };
    let before = if conflict.wrote { "written" } else { "read" };
    let other = conflict.other;
    let message = format!(
        "{now} at offset {offset} of {space} memory that block {} thread {} has {before}, \
         with nothing that orders them",
        other.block, other.thread
    );
    Failure::of_thread(FaultKind::Race, at.thread(lane), message)
}

/// Extends a value of a signed type to 64 bits.
fn extend(ty: Type, value: u64) -> u64 {
    match ty {
        Type::S8 => value as i8 as u64,
        Type::S16 => value as i16 as u64,
        Type::S32 => value as i32 as u64,
        _ => value,
    }
}
