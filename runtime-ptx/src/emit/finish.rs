//! The end of a pass: the last block to finish combines what the blocks and tiles left.
//!
//! Every block draws a ticket when all of its threads are done; the one that draws the last sees
//! everything that the others wrote. The combination goes by the numbers of blocks and tiles, so
//! that it is the same in each run.

use super::address::AddressSpace;
use super::assembly::{Assembly, Class, Operand, Reg, emit};
use super::collective::{ThreadIds, WARP_THREADS, reduce_block};
use super::plan::TILE_BYTES;
use nesl_runtime::kir::{Combine, Literal, Ty};

/// Something that the last block does.
pub struct Finish {
    /// The operator, and the type of the elements.
    pub combine: (Combine, Ty),
    /// The address of the area.
    pub area: Reg,
    /// The work that the last block does with the area.
    pub what: What,
}

/// The work of the last block.
pub enum What {
    /// Combines the partial results of the blocks into an element; `sum` is that of the thread.
    Grid {
        /// The combination of the elements of the thread.
        sum: Reg,
        /// The address of the result.
        out: Reg,
    },
    /// Replaces the total of each tile by what lies before the tile, and writes the total of all,
    /// if it is wanted, to an element.
    Carry {
        /// The address of the element.
        total: Option<Reg>,
    },
    /// Completes the reduction of segments that begin in one tile and end in another.
    Segments {
        /// The array of the results.
        out: Reg,
        /// The distance of the results, in bytes.
        stride: usize,
    },
}

/// The offsets in the state of a tile, in bytes.
pub mod tile {
    /// The total of the tile's last segment, as far as it lies in the tile.
    pub const TOTAL: usize = 0;
    /// 1 if that segment begins in the tile, else 0; an `i64`.
    pub const BEGINS: usize = 8;
    /// The total of the first segment, as far as it lies in the tile, if it begins before.
    pub const FIRST: usize = 16;
    /// The number of that segment if it ends in the tile, or -1; an `i64`.
    pub const SEGMENT: usize = 24;
}

/// Emits the end of a pass. `tiles` is the number of tiles, `ticket` the address of an `u32` that is
/// 0, and is 0 again afterwards.
pub fn finish(
    asm: &mut Assembly,
    ids: &ThreadIds,
    warps: u32,
    tiles: Operand,
    ticket: Reg,
    all: &[Finish],
) {
    let not_first = asm.register(Class::Predicate);
    emit!(asm, "setp.ne.s32 {not_first}, {}, 0", ids.thread);
    for finish in all {
        if let What::Grid { sum, .. } = finish.what {
            let shared = asm.shared(8 * warps as usize);
            let of_block = reduce_block(asm, ids, warps, &shared, finish.combine, sum);
            let next = asm.label();
            emit!(asm, "@{not_first} bra {next}");
            let block = asm.convert(Ty::I32, Ty::I64, ids.block.into());
            let slot = asm.element_address(finish.area, block.into(), 8);
            asm.store(finish.combine.1, AddressSpace::Global, slot, of_block.into());
            asm.place(next);
        }
    }
    let end = asm.label();
    let last = is_last_block(asm, ids, ticket, not_first);
    emit!(asm, "@!{last} bra {end}");
    for finish in all {
        match finish.what {
            What::Grid { out, .. } => {
                let sum = sum_of_blocks(asm, ids, warps * WARP_THREADS, finish);
                let shared = asm.shared(8 * warps as usize);
                let total = reduce_block(asm, ids, warps, &shared, finish.combine, sum);
                let next = asm.label();
                emit!(asm, "@{not_first} bra {next}");
                asm.store(finish.combine.1, AddressSpace::Global, out, total.into());
                asm.place(next);
            }
            What::Carry { .. } | What::Segments { .. } => {
                carry_tiles(asm, ids, warps * WARP_THREADS, tiles, finish);
            }
        }
    }
    asm.place(end);
}

/// Emits the question whether this block is the last one of the grid to come here: the first
/// thread draws a ticket, and tells the others. What the other blocks wrote before is then seen.
fn is_last_block(asm: &mut Assembly, ids: &ThreadIds, ticket: Reg, not_first: Reg) -> Reg {
    let shared = asm.shared(4);
    let flag = asm.register(Class::B32);
    emit!(asm, "mov.u32 {flag}, {shared}");
    // What the threads of the block wrote comes before the ticket of the first.
    emit!(asm, "membar.gl");
    emit!(asm, "bar.sync 0");
    let drawn = asm.label();
    emit!(asm, "@{not_first} bra {drawn}");
    let (last, number) = (asm.register(Class::B32), asm.register(Class::B32));
    emit!(asm, "sub.s32 {last}, {}, 1", ids.blocks);
    // `inc` wraps behind the last ticket: the next pass finds 0.
    emit!(asm, "atom.acq_rel.gpu.global.inc.u32 {number}, [{ticket}], {last}");
    let is_last = asm.register(Class::Predicate);
    emit!(asm, "setp.eq.s32 {is_last}, {number}, {last}");
    asm.store(Ty::Bool, AddressSpace::Shared, flag, is_last.into());
    asm.place(drawn);
    emit!(asm, "bar.sync 0");
    asm.load(Ty::Bool, AddressSpace::Shared, flag)
}

/// Emits the combination of the partial results of blocks that a thread of the last one takes: every
/// `threads`-th, ascending.
fn sum_of_blocks(asm: &mut Assembly, ids: &ThreadIds, threads: u32, finish: &Finish) -> Reg {
    let (combine, ty) = finish.combine;
    let neutral = asm.constant(combine.neutral(ty));
    let (sum, block) = (asm.register(neutral.class), asm.register(Class::B32));
    asm.move_to(sum, neutral.into());
    asm.move_to(block, ids.thread.into());
    let (head, end) = (asm.label(), asm.label());
    asm.place(head);
    let over = asm.register(Class::Predicate);
    emit!(asm, "setp.ge.u32 {over}, {block}, {}", ids.blocks);
    emit!(asm, "@{over} bra {end}");
    let at = asm.convert(Ty::I32, Ty::I64, block.into());
    let slot = asm.element_address(finish.area, at.into(), 8);
    let element = asm.load(ty, AddressSpace::Global, slot);
    let next = asm.combine(combine, ty, sum.into(), element.into());
    asm.move_to(sum, next.into());
    emit!(asm, "add.s32 {block}, {block}, {threads}");
    emit!(asm, "bra {head}");
    asm.place(end);
    sum
}

/// Emits the scan of the states of all tiles. Each thread takes a range of tiles: it combines them,
/// waits for what lies before its range, and goes over them again.
fn carry_tiles(asm: &mut Assembly, ids: &ThreadIds, threads: u32, tiles: Operand, finish: &Finish) {
    let (combine, ty) = finish.combine;
    // The range: as many tiles for each thread.
    let (share, from, to) =
        (asm.register(Class::B64), asm.register(Class::B64), asm.register(Class::B64));
    let thread = asm.convert(Ty::I32, Ty::I64, ids.thread.into());
    emit!(asm, "add.s64 {share}, {tiles}, {}", threads - 1);
    emit!(asm, "shr.u64 {share}, {share}, {}", threads.ilog2());
    emit!(asm, "mul.lo.s64 {from}, {share}, {thread}");
    emit!(asm, "min.s64 {from}, {from}, {tiles}");
    emit!(asm, "add.s64 {to}, {from}, {share}");
    emit!(asm, "min.s64 {to}, {to}, {tiles}");
    let neutral = asm.constant(combine.neutral(ty));
    let no = asm.constant(Literal::Bool(false));
    let (sum, begins) = (asm.register(neutral.class), asm.register(Class::Predicate));
    asm.move_to(sum, neutral.into());
    asm.move_to(begins, no.into());
    each_tile(asm, from, to, finish.area, |asm, state| add_tile(asm, finish, state, sum, begins));
    let (before, before_begins) = before_thread(asm, ids, threads, finish, sum, begins);
    asm.move_to(sum, before.into());
    asm.move_to(begins, before_begins.into());
    each_tile(asm, from, to, finish.area, |asm, state| {
        let carry = asm.register(sum.class);
        asm.move_to(carry, sum.into());
        add_tile(asm, finish, state, sum, begins);
        match finish.what {
            What::Carry { .. } => {
                let slot = asm.register(Class::B64);
                emit!(asm, "add.s64 {slot}, {state}, {}", tile::TOTAL);
                asm.store(ty, AddressSpace::Global, slot, carry.into());
            }
            What::Segments { out, stride } => {
                complete_segment(asm, finish, state, carry, (out, stride));
            }
            What::Grid { .. } => {}
        }
    });
    if let What::Carry { total: Some(total) } = finish.what {
        // The thread whose range ends with the last tile has the total.
        let (at_end, has_some) = (asm.register(Class::Predicate), asm.register(Class::Predicate));
        emit!(asm, "setp.eq.s64 {at_end}, {to}, {tiles}");
        emit!(asm, "setp.lt.and.s64 {has_some}, {from}, {to}, {at_end}");
        let next = asm.label();
        emit!(asm, "@!{has_some} bra {next}");
        asm.store(ty, AddressSpace::Global, total, sum.into());
        asm.place(next);
    }
}

/// Emits a loop over tiles, with the address of the state of each.
fn each_tile(
    asm: &mut Assembly,
    from: Reg,
    to: Reg,
    area: Reg,
    mut body: impl FnMut(&mut Assembly, Reg),
) {
    let at = asm.register(Class::B64);
    asm.move_to(at, from.into());
    let (head, end) = (asm.label(), asm.label());
    asm.place(head);
    let over = asm.register(Class::Predicate);
    emit!(asm, "setp.ge.s64 {over}, {at}, {to}");
    emit!(asm, "@{over} bra {end}");
    let state = asm.element_address(area, at.into(), TILE_BYTES);
    body(asm, state);
    emit!(asm, "add.s64 {at}, {at}, 1");
    emit!(asm, "bra {head}");
    asm.place(end);
}

/// Emits the combination of a state with that of a tile behind it.
fn add_tile(asm: &mut Assembly, finish: &Finish, state: Reg, sum: Reg, begins: Reg) {
    let (combine, ty) = finish.combine;
    let slot = asm.register(Class::B64);
    emit!(asm, "add.s64 {slot}, {state}, {}", tile::TOTAL);
    let total = asm.load(ty, AddressSpace::Global, slot);
    let (flag, own) = (asm.register(Class::B64), asm.register(Class::Predicate));
    emit!(asm, "ld.global.b64 {flag}, [{state}+{}]", tile::BEGINS);
    emit!(asm, "setp.ne.s64 {own}, {flag}, 0");
    add_state(asm, (combine, ty), (sum, begins), (total, own));
}

/// Emits `(sum, begins) := (sum, begins) · (total, own)`: a segment that begins anew forgets the sum.
fn add_state(
    asm: &mut Assembly,
    (combine, ty): (Combine, Ty),
    (sum, begins): (Reg, Reg),
    (total, own): (Reg, Reg),
) {
    let joined = asm.combine(combine, ty, sum.into(), total.into());
    let next = asm.select(own, joined.class, total.into(), joined.into());
    asm.move_to(sum, next.into());
    emit!(asm, "or.pred {begins}, {begins}, {own}");
}

/// Emits what lies before the range of a thread: all threads leave their states in shared memory,
/// and each combines those before it.
fn before_thread(
    asm: &mut Assembly,
    ids: &ThreadIds,
    threads: u32,
    finish: &Finish,
    sum: Reg,
    begins: Reg,
) -> (Reg, Reg) {
    let (combine, ty) = finish.combine;
    let array = asm.shared(16 * threads as usize);
    let base = asm.register(Class::B32);
    emit!(asm, "mov.u32 {base}, {array}");
    let slot = asm.register(Class::B32);
    emit!(asm, "mad.lo.s32 {slot}, {}, 16, {base}", ids.thread);
    asm.store(ty, AddressSpace::Shared, slot, sum.into());
    let flag = asm.register(Class::B32);
    emit!(asm, "add.s32 {flag}, {slot}, 8");
    let own = asm.convert(Ty::Bool, Ty::I32, begins.into());
    asm.store(Ty::I32, AddressSpace::Shared, flag, own.into());
    emit!(asm, "bar.sync 0");
    let neutral = asm.constant(combine.neutral(ty));
    let no = asm.constant(Literal::Bool(false));
    let (before, before_begins) = (asm.register(neutral.class), asm.register(Class::Predicate));
    asm.move_to(before, neutral.into());
    asm.move_to(before_begins, no.into());
    let at = asm.register(Class::B32);
    asm.move_to(at, Literal::I32(0).into());
    let (head, end) = (asm.label(), asm.label());
    asm.place(head);
    let over = asm.register(Class::Predicate);
    emit!(asm, "setp.ge.u32 {over}, {at}, {}", ids.thread);
    emit!(asm, "@{over} bra {end}");
    let (slot, flag) = (asm.register(Class::B32), asm.register(Class::B32));
    emit!(asm, "mad.lo.s32 {slot}, {at}, 16, {base}");
    emit!(asm, "add.s32 {flag}, {slot}, 8");
    let total = asm.load(ty, AddressSpace::Shared, slot);
    let flag = asm.load(Ty::I32, AddressSpace::Shared, flag);
    let own = asm.register(Class::Predicate);
    emit!(asm, "setp.ne.s32 {own}, {flag}, 0");
    add_state(asm, (combine, ty), (before, before_begins), (total, own));
    emit!(asm, "add.s32 {at}, {at}, 1");
    emit!(asm, "bra {head}");
    asm.place(end);
    (before, before_begins)
}

/// Emits the completion of the segment that begins before a tile and ends in it, if there is one.
fn complete_segment(
    asm: &mut Assembly,
    finish: &Finish,
    state: Reg,
    carry: Reg,
    (out, stride): (Reg, usize),
) {
    let (combine, ty) = finish.combine;
    let (segment, none) = (asm.register(Class::B64), asm.register(Class::Predicate));
    let next = asm.label();
    emit!(asm, "ld.global.b64 {segment}, [{state}+{}]", tile::SEGMENT);
    emit!(asm, "setp.lt.s64 {none}, {segment}, 0");
    emit!(asm, "@{none} bra {next}");
    let slot = asm.register(Class::B64);
    emit!(asm, "add.s64 {slot}, {state}, {}", tile::FIRST);
    let first = asm.load(ty, AddressSpace::Global, slot);
    let total = asm.combine(combine, ty, carry.into(), first.into());
    let address = asm.element_address(out, segment.into(), stride);
    asm.store(ty, AddressSpace::Global, address, total.into());
    asm.place(next);
}
