//! Allocation in the scratch memory of a thread ([`super::scratch`]): arrays, marks, compaction.
//!
//! An array is taken by moving the top of the row. Where that is not enough, the work item ends, as
//! one that fails does, but without a failure: the launcher executes the pass again with longer
//! rows.

use super::address::AddressSpace;
use super::assembly::{Assembly, Class, Operand, Reg, emit};
use super::body::WorkItem;
use super::collective::{ThreadIds, reduce_block};
use super::scratch::{
    MAX_ARRAY_ELEMENTS, Registers, SCRATCH_ALIGNMENT_BYTES, allocates, hand_on_no_array,
};
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{Combine, Inst, Literal, Ty, Value};

/// Less garbage than this is not worth a compaction, in bytes.
const MIN_GARBAGE_BYTES: u32 = 1024;

/// An array that a compaction keeps.
struct Kept {
    ty: Ty,
    /// The memory of the array before, and of the result.
    spaces: (AddressSpace, AddressSpace),
    address: Reg,
    length: Reg,
    /// True if the array lies behind the mark.
    moves: Reg,
    /// The bytes that it takes when it is moved; 0 if it stays.
    bytes: Reg,
    result: Reg,
}

impl WorkItem<'_> {
    fn arena(&self) -> Registers {
        self.frame.scratch.or_bug("a kernel that allocates scratch memory has some")
    }

    /// Emits the allocation of an array in scratch memory.
    pub(super) fn take(&mut self, result: Value, ty: Ty, length: Value) {
        let Registers { top, .. } = self.arena();
        let length = self.register(length);
        let (bytes, d) = (bytes_of(self.asm, ty, length), self.asm.register(Class::B64));
        self.asm.move_to(d, top.into());
        emit!(self.asm, "add.s64 {top}, {top}, {bytes}");
        self.fits(top);
        self.define(result, d);
    }

    /// Emits the end of the work item if the row ends before an address.
    fn fits(&mut self, end: Reg) {
        let Registers { limit, peak, .. } = self.arena();
        let over = self.asm.register(Class::Predicate);
        emit!(self.asm, "setp.gt.u64 {over}, {end}, {limit}");
        match peak {
            Some(peak) => {
                emit!(self.asm, "max.u64 {peak}, {peak}, {end}");
                let exit = self.exhausted();
                emit!(self.asm, "@{over} bra {exit}");
            }
            // The row was measured: this cannot be.
            None => emit!(self.asm, "@{over} trap"),
        }
    }

    /// Emits the top of the scratch memory, as a mark.
    pub(super) fn mark(&mut self) -> Reg {
        let d = self.asm.register(Class::B64);
        match self.frame.scratch {
            Some(scratch) => self.asm.move_to(d, scratch.top.into()),
            None => self.asm.move_to(d, Literal::I64(0).into()),
        }
        d
    }

    /// Emits the saving of the top before the blocks of an instruction, if everything that they
    /// allocate is dead behind them.
    pub(super) fn save_top(&mut self, inst: &Inst) -> Option<Reg> {
        self.frame.scratch?;
        let is_dead = hand_on_no_array(self.types, inst.op.carried())
            && hand_on_no_array(self.types, &inst.results);
        (is_dead && inst.op.blocks().any(allocates)).then(|| self.mark())
    }

    /// Emits the freeing of what was allocated since the top was saved.
    pub(super) fn restore_top(&mut self, saved: Option<Reg>) {
        if let (Some(saved), Some(scratch)) = (saved, self.frame.scratch) {
            self.asm.move_to(scratch.top, saved.into());
        }
    }

    /// Emits a compaction: the kept arrays behind the mark are copied behind the top, and then down
    /// to the mark, so that none is overwritten before it is moved, in whatever order they lie.
    pub(super) fn compact(&mut self, inst: &Inst, since: Value, keep: &[(Value, Value)]) {
        let Registers { top, .. } = self.arena();
        let since = self.register(since);
        let (size, total) = (self.asm.register(Class::B64), self.asm.register(Class::B64));
        emit!(self.asm, "sub.s64 {size}, {top}, {since}");
        self.asm.move_to(total, Literal::I64(0).into());
        let mut all = Vec::with_capacity(keep.len());
        for ((array, length), result) in keep.iter().zip(&inst.results) {
            let kept = self.kept(*array, *length, *result, (since, size));
            emit!(self.asm, "add.s64 {total}, {total}, {}", kept.bytes);
            all.push(kept);
        }
        let end = self.asm.label();
        let (least, idle) = (self.asm.register(Class::B64), self.asm.register(Class::Predicate));
        emit!(self.asm, "mad.lo.s64 {least}, {total}, 3, {MIN_GARBAGE_BYTES}");
        emit!(self.asm, "setp.lt.u64 {idle}, {size}, {least}");
        if !all.is_empty() {
            emit!(self.asm, "@{idle} bra {end}");
        }
        let above = self.asm.register(Class::B64);
        emit!(self.asm, "add.s64 {above}, {top}, {total}");
        self.fits(above);
        self.asm.move_to(above, top.into());
        emit!(self.asm, "mov.b64 {top}, {since}");
        for kept in &all {
            kept.copy(self.asm, (kept.spaces.0, kept.address), above);
            emit!(self.asm, "add.s64 {above}, {above}, {}", kept.bytes);
        }
        emit!(self.asm, "sub.s64 {above}, {above}, {total}");
        for kept in &all {
            kept.copy(self.asm, (AddressSpace::Global, above), top);
            let moved = match kept.spaces.1 {
                AddressSpace::Generic => {
                    let generic = self.asm.register(Class::B64);
                    emit!(self.asm, "cvta.global.u64 {generic}, {top}");
                    generic
                }
                _ => top,
            };
            let next = self.asm.select(kept.moves, Class::B64, moved.into(), kept.result.into());
            self.asm.move_to(kept.result, next.into());
            for address in [above, top] {
                emit!(self.asm, "add.s64 {address}, {address}, {}", kept.bytes);
            }
        }
        self.asm.place(end);
        for (kept, result) in all.iter().zip(&inst.results) {
            self.define(*result, kept.result);
        }
    }

    fn kept(
        &mut self,
        array: Value,
        length: Value,
        result: Value,
        (since, size): (Reg, Reg),
    ) -> Kept {
        let ty = self.element(array);
        let spaces = (self.spaces.of(array), self.spaces.of(result));
        let (address, length) = (self.register(array), self.register(length));
        let kept = self.asm.register(Class::B64);
        let before = self.flow(array, result);
        self.asm.move_to(kept, before);
        let moves = self.asm.register(Class::Predicate);
        let (offset, whole) = (self.asm.register(Class::B64), bytes_of(self.asm, ty, length));
        match spaces.0 {
            AddressSpace::Local | AddressSpace::Shared => {
                emit!(self.asm, "setp.ne.u32 {moves}, 0, 0");
            }
            AddressSpace::Global => emit!(self.asm, "sub.s64 {offset}, {address}, {since}"),
            AddressSpace::Generic => {
                emit!(self.asm, "cvta.global.u64 {offset}, {since}");
                emit!(self.asm, "sub.s64 {offset}, {address}, {offset}");
            }
        }
        if matches!(spaces.0, AddressSpace::Global | AddressSpace::Generic) {
            emit!(self.asm, "setp.lt.u64 {moves}, {offset}, {size}");
        }
        let bytes = self.asm.select(moves, Class::B64, whole.into(), Literal::I64(0).into());
        Kept { ty, spaces, address, length, moves, bytes, result: kept }
    }
}

impl Kept {
    /// Emits the copy of the array's elements, if it moves.
    fn copy(&self, asm: &mut Assembly, (space, from): (AddressSpace, Reg), to: Reg) {
        let index = asm.register(Class::B64);
        asm.move_to(index, Literal::I64(0).into());
        let (head, end) = (asm.label(), asm.label());
        emit!(asm, "@!{} bra {end}", self.moves);
        asm.place(head);
        let over = asm.register(Class::Predicate);
        emit!(asm, "setp.ge.s64 {over}, {index}, {}", self.length);
        emit!(asm, "@{over} bra {end}");
        let address = asm.element_address(from, index.into(), self.ty.size());
        let element = asm.load_for_copy(self.ty, space, address);
        let address = asm.element_address(to, index.into(), self.ty.size());
        asm.store(self.ty, AddressSpace::Global, address, element.into());
        emit!(asm, "add.s64 {index}, {index}, 1");
        emit!(asm, "bra {head}");
        asm.place(end);
    }
}

impl Registers {
    /// Emits the registers: `row` is the length of the row of each thread in bytes.
    pub fn load(
        asm: &mut Assembly,
        ids: &ThreadIds,
        threads: u32,
        (scratch, row, needed): (Reg, Reg, Reg),
        is_checked: bool,
    ) -> Registers {
        let [number, base, top, limit] = [(); 4].map(|()| asm.register(Class::B64));
        let thread = asm.convert(Ty::I32, Ty::I64, ids.thread.into());
        emit!(asm, "mad.wide.u32 {number}, {}, {threads}, {thread}", ids.block);
        emit!(asm, "mad.lo.s64 {base}, {number}, {row}, {scratch}");
        emit!(asm, "add.s64 {limit}, {base}, {row}");
        asm.move_to(top, base.into());
        let peak = is_checked.then(|| {
            let peak = asm.register(Class::B64);
            asm.move_to(peak, base.into());
            peak
        });
        Registers { base, top, limit, peak, needed }
    }

    /// Emits the freeing of everything, before the next work items of the thread.
    pub fn begin(&self, asm: &mut Assembly) {
        asm.move_to(self.top, self.base.into());
    }

    /// Emits the report of the greatest number of bytes that a thread of the block asked for. All
    /// threads of the block execute it.
    pub fn report(&self, asm: &mut Assembly, ids: &ThreadIds, warps: u32) {
        let Some(peak) = self.peak else { return };
        let bytes = asm.register(Class::B64);
        emit!(asm, "sub.s64 {bytes}, {peak}, {}", self.base);
        let shared = asm.shared(8 * warps as usize);
        let most = reduce_block(asm, ids, warps, &shared, (Combine::Max, Ty::I64), bytes);
        let (other, end) = (asm.register(Class::Predicate), asm.label());
        emit!(asm, "setp.ne.s32 {other}, {}, 0", ids.thread);
        emit!(asm, "@{other} bra {end}");
        emit!(asm, "red.relaxed.gpu.global.max.u64 [{}], {most}", self.needed);
        asm.place(end);
    }
}

/// Emits the bytes that an array takes in scratch memory.
fn bytes_of(asm: &mut Assembly, ty: Ty, length: Reg) -> Reg {
    let [least, cut, bytes] = [(); 3].map(|()| asm.register(Class::B64));
    let most: Operand = asm.constant(Literal::I64(MAX_ARRAY_ELEMENTS)).into();
    emit!(asm, "max.s64 {least}, {length}, 0");
    emit!(asm, "min.s64 {cut}, {least}, {most}");
    let round = SCRATCH_ALIGNMENT_BYTES as i64 - 1;
    emit!(asm, "mad.lo.s64 {bytes}, {cut}, {}, {round}", ty.size());
    emit!(asm, "and.b64 {bytes}, {bytes}, {}", !round);
    bytes
}
