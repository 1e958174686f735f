//! Cooperation of threads: shuffles, reductions over a block, atomic updates.
//!
//! The grouping is fixed: lane `l` takes lane `l + 16`, then `l + 8` and so on, and warp 0 does the
//! same with the results of the warps. So a float reduction has the same bits in each run.
//!
//! Every thread of the block executes the code of a reduction, with all 32 lanes of each warp.

use super::address::AddressSpace;
use super::assembly::{Assembly, Class, Operand, Reg, emit};
use super::redux;
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
    asm.barrier();
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
pub fn reduce_warp(asm: &mut Assembly, (combine, ty): (Combine, Ty), value: Reg) -> Reg {
    emit!(asm, "bar.warp.sync -1");
    if let Some(result) = redux::reduce(asm, (combine, ty), value) {
        return result;
    }
    let mut sum = value;
    let mut distance = WARP_THREADS / 2;
    while distance > 0 {
        let other = shuffle(asm, "down", ty, sum, distance, WARP_THREADS - 1);
        sum = asm.combine(combine, ty, sum.into(), other.into());
        distance /= 2;
    }
    sum
}

/// Emits the value of another lane. `mode` is that of `shfl`: `down` and `up` by `by` lanes, `idx`
/// of lane `by`; `clamp` is the last lane, or for `up` the first: behind it a lane gets its own.
pub fn shuffle(asm: &mut Assembly, mode: &str, ty: Ty, value: Reg, by: u32, clamp: u32) -> Reg {
    shuffle_words(asm, ty, value, |asm, d, word| {
        emit!(asm, "shfl.sync.{mode}.b32 {d}, {word}, {by}, {clamp}, -1");
    })
}

/// Emits the value of the lane `by` below, and a predicate that is true if there is one.
pub fn shuffle_up(asm: &mut Assembly, ty: Ty, value: Reg, by: u32) -> (Reg, Reg) {
    let exists = asm.register(Class::Predicate);
    let other = shuffle_words(asm, ty, value, |asm, d, word| {
        emit!(asm, "shfl.sync.up.b32 {d}|{exists}, {word}, {by}, 0, -1");
    });
    (other, exists)
}

/// Emits a shuffle of each word of a value; `word` emits one, with its result and its operand.
fn shuffle_words(
    asm: &mut Assembly,
    ty: Ty,
    value: Reg,
    word: impl Fn(&mut Assembly, Reg, Reg),
) -> Reg {
    let word = |asm: &mut Assembly, from: Reg| {
        let d = asm.register(Class::B32);
        word(asm, d, from);
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

/// The atomic instruction that updates an element of an int array; none if there is none, or its
/// result depends on the order of the threads.
pub fn atomic_name(combine: Combine, ty: Ty) -> Option<&'static str> {
    Some(match (combine, ty) {
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
        (Combine::Mul, _) | (_, Ty::F32 | Ty::F64 | Ty::Bool | Ty::U8) => return None,
    })
}

/// Emits an atomic update of an element of an int array in global memory; returns false if
/// [`atomic_name`] has no instruction.
pub fn update(asm: &mut Assembly, combine: Combine, ty: Ty, address: Reg, value: Operand) -> bool {
    let Some(name) = atomic_name(combine, ty) else { return false };
    let value = match value {
        Operand::Reg(reg) => reg,
        Operand::Constant(literal) => asm.constant(literal),
    };
    emit!(asm, "red.relaxed.gpu.global.{name} [{address}], {value}");
    true
}
