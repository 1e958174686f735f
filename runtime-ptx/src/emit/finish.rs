//! The end of a pass: the last block to finish combines what the blocks left.
//!
//! Every block draws a ticket when all of its threads are done; the one that draws the last sees
//! everything that the others wrote. The combination goes by the numbers of blocks, or of the parts of the
//! space if it rounds, so that it is the same in each run, and in the second case on each device.

use super::address::AddressSpace;
use super::assembly::{Assembly, Class, Reg, emit};
use super::collective::{ThreadIds, WARP_THREADS, reduce_block};
use nesl_runtime::kir::{Combine, Ty};

/// The parameter of every entry with the address of an `u32` that is 0, and is 0 again afterwards.
pub const TICKET: &str = "ticket";

/// A reduction over the grid.
pub struct Finish {
    /// The operator, and the type of the elements.
    pub combine: (Combine, Ty),
    /// The parameter with the address of the area for the partial results of blocks.
    pub area: String,
    /// The combination of the elements of the thread; of a part, if there are parts.
    pub sum: Reg,
    /// The number of parts of the space that leave a result each; a block leaves one otherwise.
    pub parts: Option<Reg>,
    /// The address of the result.
    pub out: Reg,
}

/// Emits the end of a pass.
pub fn finish(asm: &mut Assembly, ids: &ThreadIds, warps: u32, all: &[Finish]) {
    let not_first = asm.register(Class::Predicate);
    emit!(asm, "setp.ne.s32 {not_first}, {}, 0", ids.thread);
    for finish in all.iter().filter(|finish| finish.parts.is_none()) {
        let block = asm.convert(Ty::I32, Ty::I64, ids.block.into());
        finish.leave(asm, ids, warps, finish.sum, block);
    }
    let end = asm.label();
    let last = is_last_block(asm, ids, not_first);
    emit!(asm, "@!{last} bra {end}");
    for finish in all {
        let sum = sum_of_blocks(asm, ids, warps * WARP_THREADS, finish);
        let shared = asm.shared(8 * warps as usize);
        let total = reduce_block(asm, ids, warps, &shared, finish.combine, sum);
        let next = asm.label();
        emit!(asm, "@{not_first} bra {next}");
        asm.store(finish.combine.1, AddressSpace::Global, finish.out, total.into());
        asm.place(next);
    }
    asm.place(end);
}

impl Finish {
    /// Emits the reduction of the elements of the threads of a block, and its store as the result of
    /// a part, or block. Barriers come between this and the next time.
    pub fn leave(&self, asm: &mut Assembly, ids: &ThreadIds, warps: u32, sum: Reg, at: Reg) {
        let shared = asm.shared(8 * warps as usize);
        let reduced = reduce_block(asm, ids, warps, &shared, self.combine, sum);
        let (not_first, next) = (asm.register(Class::Predicate), asm.label());
        emit!(asm, "setp.ne.s32 {not_first}, {}, 0", ids.thread);
        emit!(asm, "@{not_first} bra {next}");
        let area = asm.global_param(&self.area);
        let slot = asm.element_address(area, at.into(), 8);
        asm.store(self.combine.1, AddressSpace::Global, slot, reduced.into());
        asm.place(next);
    }

    /// Emits the neutral element as the combination of no elements.
    pub fn begin(&self, asm: &mut Assembly, sum: Reg) {
        let neutral = asm.constant(self.combine.0.neutral(self.combine.1));
        asm.move_to(sum, neutral.into());
    }
}

/// Emits the question whether this block is the last one of the grid to come here: the first
/// thread draws a ticket, and tells the others. What the other blocks wrote before is then seen.
fn is_last_block(asm: &mut Assembly, ids: &ThreadIds, not_first: Reg) -> Reg {
    let shared = asm.shared(4);
    let flag = asm.register(Class::B32);
    emit!(asm, "mov.u32 {flag}, {shared}");
    // What the threads of the block wrote comes before the ticket of the first.
    emit!(asm, "membar.gl");
    asm.barrier();
    let drawn = asm.label();
    emit!(asm, "@{not_first} bra {drawn}");
    let (last, number) = (asm.register(Class::B32), asm.register(Class::B32));
    emit!(asm, "sub.s32 {last}, {}, 1", ids.blocks);
    let ticket = asm.global_param(TICKET);
    // `inc` wraps behind the last ticket: the next pass finds 0.
    emit!(asm, "atom.acq_rel.gpu.global.inc.u32 {number}, [{ticket}], {last}");
    let is_last = asm.register(Class::Predicate);
    emit!(asm, "setp.eq.s32 {is_last}, {number}, {last}");
    asm.store(Ty::Bool, AddressSpace::Shared, flag, is_last.into());
    asm.place(drawn);
    asm.barrier();
    asm.load(Ty::Bool, AddressSpace::Shared, flag)
}

/// Emits the combination of the partial results of blocks that a thread of the last one takes: every
/// `threads`-th, ascending.
fn sum_of_blocks(asm: &mut Assembly, ids: &ThreadIds, threads: u32, finish: &Finish) -> Reg {
    let (combine, ty) = finish.combine;
    let area = asm.global_param(&finish.area);
    let neutral = asm.constant(combine.neutral(ty));
    let (sum, block) = (asm.register(neutral.class), asm.register(Class::B32));
    asm.move_to(sum, neutral.into());
    asm.move_to(block, ids.thread.into());
    let (head, end) = (asm.label(), asm.label());
    asm.place(head);
    let over = asm.register(Class::Predicate);
    emit!(asm, "setp.ge.u32 {over}, {block}, {}", finish.parts.unwrap_or(ids.blocks));
    emit!(asm, "@{over} bra {end}");
    let at = asm.convert(Ty::I32, Ty::I64, block.into());
    let slot = asm.element_address(area, at.into(), 8);
    let element = asm.load(ty, AddressSpace::Global, slot);
    asm.accumulate((combine, ty), sum, element.into());
    emit!(asm, "add.s32 {block}, {block}, {threads}");
    emit!(asm, "bra {head}");
    asm.place(end);
    sum
}
