//! Cooperation of the threads of a block: reductions by shuffles and shared memory.
//!
//! The grouping is fixed: lane `l` takes lane `l + 16`, then `l + 8` and so on, and warp 0 does the
//! same with the results of the warps. So a float reduction has the same bits in each run.
//!
//! Every thread of the block executes this code, with all 32 lanes of each warp.

use super::address::AddressSpace;
use super::assembly::{Assembly, Class, Operand, Reg, emit};
use nesl_runtime::kir::{Combine, Ty};

/// The number of threads of a warp.
pub const WARP_THREADS: u32 = 32;

/// The registers of an entry that say which thread it is.
#[derive(Clone, Copy, Debug)]
pub struct ThreadIds {
    /// The index in the block.
    pub thread: Reg,
    /// The index of the block in the grid.
    pub block: Reg,
    /// The number of blocks of the grid.
    pub blocks: Reg,
}

/// Emits the reduction of a value of each thread over the block; the result is thread 0's.
/// `shared` is the name of an array in shared memory with 8 bytes for each warp, which no thread
/// accesses any more.
pub fn reduce_block(
    asm: &mut Assembly,
    ids: &ThreadIds,
    warps: u32,
    shared: &str,
    (combine, ty): (Combine, Ty),
    value: Reg,
) -> Reg {
    let of_warp = reduce_warp(asm, (combine, ty), value);
    if warps == 1 {
        return of_warp;
    }
    let (warp, lane) = (asm.register(Class::B32), asm.register(Class::B32));
    emit!(asm, "shr.u32 {warp}, {}, 5", ids.thread);
    emit!(asm, "and.b32 {lane}, {}, 31", ids.thread);
    let base = asm.register(Class::B32);
    emit!(asm, "mov.u32 {base}, {shared}");
    // The first lane of each warp leaves its result.
    let (others, stored) = (asm.register(Class::Predicate), asm.label());
    emit!(asm, "setp.ne.s32 {others}, {lane}, 0");
    emit!(asm, "@{others} bra {stored}");
    let slot = asm.register(Class::B32);
    emit!(asm, "mad.lo.s32 {slot}, {warp}, 8, {base}");
    asm.store(ty, AddressSpace::Shared, slot, of_warp.into());
    asm.place(stored);
    emit!(asm, "bar.sync 0");
    // Each lane below the number of warps takes one, the others the neutral element.
    let result = asm.constant(combine.neutral(ty));
    let sum = asm.register(result.class);
    asm.move_to(sum, result.into());
    let (outside, loaded) = (asm.register(Class::Predicate), asm.label());
    emit!(asm, "setp.ge.u32 {outside}, {}, {warps}", ids.thread);
    emit!(asm, "@{outside} bra {loaded}");
    let slot = asm.register(Class::B32);
    emit!(asm, "mad.lo.s32 {slot}, {}, 8, {base}", ids.thread);
    let element = asm.load(ty, AddressSpace::Shared, slot);
    asm.move_to(sum, element.into());
    asm.place(loaded);
    reduce_warp(asm, (combine, ty), sum)
}

/// Emits the reduction of a value of each lane over the warp; the result is lane 0's.
fn reduce_warp(asm: &mut Assembly, (combine, ty): (Combine, Ty), value: Reg) -> Reg {
    emit!(asm, "bar.warp.sync -1");
    let mut sum = value;
    let mut distance = WARP_THREADS / 2;
    while distance > 0 {
        let other = shuffle_down(asm, ty, sum, distance);
        sum = asm.combine(combine, ty, sum.into(), other.into());
        distance /= 2;
    }
    sum
}

/// Emits the value of the lane `distance` above; that of the lane itself if there is none.
fn shuffle_down(asm: &mut Assembly, ty: Ty, value: Reg, distance: u32) -> Reg {
    let word = |asm: &mut Assembly, word: Reg| {
        let d = asm.register(Class::B32);
        emit!(asm, "shfl.sync.down.b32 {d}, {word}, {distance}, 31, -1");
        d
    };
    match ty {
        Ty::I32 | Ty::U8 => word(asm, value),
        Ty::Bool => {
            let bit = asm.convert(Ty::Bool, Ty::I32, value.into());
            let other = word(asm, bit);
            asm.convert(Ty::I32, Ty::Bool, other.into())
        }
        Ty::F32 => {
            let bits = asm.bits(Ty::I32, value.into());
            let other = word(asm, bits);
            asm.bits(Ty::F32, other.into())
        }
        Ty::I64 | Ty::F64 => {
            let (low, high) = (asm.register(Class::B32), asm.register(Class::B32));
            emit!(asm, "mov.b64 {{{low}, {high}}}, {value}");
            let (low, high) = (word(asm, low), word(asm, high));
            let d = asm.register(value.class);
            emit!(asm, "mov.b64 {d}, {{{low}, {high}}}");
            d
        }
    }
}

/// A reduction over the whole grid, in one launch: the last block to finish combines the partial
/// results of all.
pub struct GridReduction {
    /// The operator, and the type of the elements.
    pub combine: (Combine, Ty),
    /// The combination of the elements of the thread.
    pub sum: Reg,
    /// The address of the result, in global memory.
    pub out: Reg,
}

/// Emits the end of reductions over the grid. `partials` is the address of 8 bytes for each
/// reduction and block, `ticket` that of an `u32` that is 0, and is 0 again afterwards.
pub fn reduce_grid(
    asm: &mut Assembly,
    ids: &ThreadIds,
    warps: u32,
    partials: Reg,
    ticket: Reg,
    reductions: &[GridReduction],
) {
    let threads = warps * WARP_THREADS;
    let stride = asm.convert(Ty::I32, Ty::I64, ids.blocks.into());
    // The partial results of each block lie together, a reduction after the other.
    let rows: Vec<Reg> = (0..reductions.len())
        .map(|at| {
            let row = asm.register(Class::B64);
            emit!(asm, "mad.lo.s64 {row}, {stride}, {}, {partials}", 8 * at);
            row
        })
        .collect();
    let not_first = asm.register(Class::Predicate);
    emit!(asm, "setp.ne.s32 {not_first}, {}, 0", ids.thread);
    for (reduction, row) in reductions.iter().zip(&rows) {
        let shared = asm.shared(8 * warps as usize);
        let of_block = reduce_block(asm, ids, warps, &shared, reduction.combine, reduction.sum);
        let next = asm.label();
        emit!(asm, "@{not_first} bra {next}");
        let block = asm.convert(Ty::I32, Ty::I64, ids.block.into());
        let slot = asm.element_address(*row, block.into(), 8);
        asm.store(reduction.combine.1, AddressSpace::Global, slot, of_block.into());
        asm.place(next);
    }
    let end = asm.label();
    let last = is_last_block(asm, ids, ticket, not_first);
    emit!(asm, "@!{last} bra {end}");
    for (reduction, row) in reductions.iter().zip(&rows) {
        let (combine, ty) = reduction.combine;
        let sum = sum_of_partials(asm, ids, threads, *row, (combine, ty));
        let shared = asm.shared(8 * warps as usize);
        let total = reduce_block(asm, ids, warps, &shared, (combine, ty), sum);
        let next = asm.label();
        emit!(asm, "@{not_first} bra {next}");
        asm.store(ty, AddressSpace::Global, reduction.out, total.into());
        asm.place(next);
    }
    asm.place(end);
}

/// Emits the question whether this block is the last one of the grid to come here: the first
/// thread draws a ticket, and tells the others. What the other blocks wrote before is then seen.
fn is_last_block(asm: &mut Assembly, ids: &ThreadIds, ticket: Reg, not_first: Reg) -> Reg {
    let shared = asm.shared(4);
    let flag = asm.register(Class::B32);
    emit!(asm, "mov.u32 {flag}, {shared}");
    let drawn = asm.label();
    emit!(asm, "@{not_first} bra {drawn}");
    let (last, number) = (asm.register(Class::B32), asm.register(Class::B32));
    emit!(asm, "sub.s32 {last}, {}, 1", ids.blocks);
    // `inc` wraps behind the last ticket: the next launch finds 0.
    emit!(asm, "atom.acq_rel.gpu.global.inc.u32 {number}, [{ticket}], {last}");
    let is_last = asm.register(Class::Predicate);
    emit!(asm, "setp.eq.s32 {is_last}, {number}, {last}");
    asm.store(Ty::Bool, AddressSpace::Shared, flag, is_last.into());
    asm.place(drawn);
    emit!(asm, "bar.sync 0");
    asm.load(Ty::Bool, AddressSpace::Shared, flag)
}

/// Emits the combination of the partial results that a thread of the last block takes: every
/// `threads`-th, ascending.
fn sum_of_partials(
    asm: &mut Assembly,
    ids: &ThreadIds,
    threads: u32,
    row: Reg,
    (combine, ty): (Combine, Ty),
) -> Reg {
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
    let slot = asm.element_address(row, at.into(), 8);
    let element = asm.load(ty, AddressSpace::Global, slot);
    let next = asm.combine(combine, ty, sum.into(), element.into());
    asm.move_to(sum, next.into());
    emit!(asm, "add.s32 {block}, {block}, {threads}");
    emit!(asm, "bra {head}");
    asm.place(end);
    sum
}

/// Emits an atomic update of an element of an int array in global memory; returns false if there
/// is no such instruction, or its result depends on the order of the threads.
pub fn update(asm: &mut Assembly, combine: Combine, ty: Ty, address: Reg, value: Operand) -> bool {
    let name = match (combine, ty) {
        // Wrapping sums have no sign.
        (Combine::Add, Ty::I32) => "add.u32",
        (Combine::Add, Ty::I64) => "add.u64",
        (Combine::Min, Ty::I32) => "min.s32",
        (Combine::Min, Ty::I64) => "min.s64",
        (Combine::Max, Ty::I32) => "max.s32",
        (Combine::Max, Ty::I64) => "max.s64",
        (Combine::And, Ty::I32) => "and.b32",
        (Combine::And, Ty::I64) => "and.b64",
        (Combine::Or, Ty::I32) => "or.b32",
        (Combine::Or, Ty::I64) => "or.b64",
        (Combine::Xor, Ty::I32) => "xor.b32",
        (Combine::Xor, Ty::I64) => "xor.b64",
        (Combine::Mul, _) | (_, Ty::F32 | Ty::F64 | Ty::Bool | Ty::U8) => return false,
    };
    let value = match value {
        Operand::Reg(reg) => reg,
        Operand::Constant(literal) => asm.constant(literal),
    };
    emit!(asm, "red.relaxed.gpu.global.{name} [{address}], {value}");
    true
}
