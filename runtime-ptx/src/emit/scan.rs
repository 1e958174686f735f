//! Ordered combination of the elements of a tile: prefixes within the segments.
//!
//! A warp has a *chunk* of the tile: `ITEMS` rows of 32 neighbouring elements, so that its loads
//! touch neighbouring memory.
//!
//! ```text
//! tile = 8 chunks                 the warps, joined through shared memory
//! chunk = ITEMS rows              the rows, joined by a carry in a register
//! row = 32 lanes                  joined by shuffles: 1, 2, 4, 8, 16 lanes down
//! ```
//!
//! Segments need no flags: an element whose position in its segment is `p` may combine with the one
//! `d` before it if `p ≥ d`, and takes the carry of what lies before the row, chunk or tile if its
//! segment begins there. Elements of no segment have their index for a position, so that all are one
//! segment.
//!
//! The grouping is the same in each run: a float result has the same bits.

use super::address::AddressSpace;
use super::assembly::{Assembly, Class, Reg, emit};
use super::collective::{ThreadIds, WARP_THREADS, shuffle};
use nesl_runtime::kir::{Combine, Literal, Ty};

/// The elements of a thread: one of each row of its warp's chunk.
pub struct Rows {
    /// The value of each element; the neutral element for one that takes no part.
    pub values: Vec<Reg>,
    /// The position of each element in its segment.
    pub positions: Vec<Reg>,
}

/// The prefixes of the elements of a thread, within the tile.
pub struct Prefixes {
    /// The combination of the elements of the segment before each, ...
    pub before: Vec<Reg>,
    /// ... and with it.
    pub with: Vec<Reg>,
    /// The combination of the elements of the tile's last segment that lie in it, ...
    pub total: Reg,
    /// ... and a predicate that is true if that segment begins in the tile.
    pub begins: Reg,
}

/// The threads of a block, and the registers that say which one this is.
pub struct Place {
    /// The index of the lane in its warp.
    pub lane: Reg,
    /// The index of the warp in its block.
    pub warp: Reg,
    /// The number of warps of a block.
    pub warps: u32,
}

impl Place {
    /// Emits the registers.
    pub fn new(asm: &mut Assembly, ids: &ThreadIds, warps: u32) -> Place {
        let (lane, warp) = (asm.register(Class::B32), asm.register(Class::B32));
        emit!(asm, "and.b32 {lane}, {}, {}", ids.thread, WARP_THREADS - 1);
        emit!(asm, "shr.u32 {warp}, {}, {}", ids.thread, WARP_THREADS.ilog2());
        Place { lane, warp, warps }
    }
}

/// Emits the prefixes of a tile. Every thread of the block executes it. `carry` is the combination
/// of the part of the tile's first segment that lies before the tile, if it is known.
pub fn scan_tile(
    asm: &mut Assembly,
    place: &Place,
    (combine, ty): (Combine, Ty),
    rows: &Rows,
    carry: Option<Reg>,
) -> Prefixes {
    let mut chunk = scan_chunk(asm, place, (combine, ty), rows);
    let (before, begins_before, total, begins) =
        join_chunks(asm, place, (combine, ty), chunk.total, chunk.begins);
    let before = match carry {
        None => before,
        Some(carry) => {
            let joined = asm.combine(combine, ty, carry.into(), before.into());
            asm.select(begins_before, joined.class, before.into(), joined.into())
        }
    };
    // The carry of what lies before the chunk reaches the elements whose segment begins there.
    for (row, position) in rows.positions.iter().enumerate() {
        let offset = row_offset(asm, place.lane, row);
        let reaches = asm.register(Class::Predicate);
        emit!(asm, "setp.gt.s64 {reaches}, {position}, {offset}");
        for prefix in [&mut chunk.before[row], &mut chunk.with[row]] {
            let joined = asm.combine(combine, ty, before.into(), (*prefix).into());
            *prefix = asm.select(reaches, joined.class, joined.into(), (*prefix).into());
        }
    }
    Prefixes { total, begins, ..chunk }
}

/// Emits the offset of an element of a row in its chunk, as an `i64`.
fn row_offset(asm: &mut Assembly, lane: Reg, row: usize) -> Reg {
    let (narrow, offset) = (asm.register(Class::B32), asm.register(Class::B64));
    emit!(asm, "add.s32 {narrow}, {lane}, {}", row as u32 * WARP_THREADS);
    emit!(asm, "cvt.u64.u32 {offset}, {narrow}");
    offset
}

/// Emits the prefixes of the chunk of a warp.
fn scan_chunk(
    asm: &mut Assembly,
    place: &Place,
    (combine, ty): (Combine, Ty),
    rows: &Rows,
) -> Prefixes {
    let neutral = asm.constant(combine.neutral(ty));
    let mut carry = neutral;
    let (mut before, mut with) = (Vec::new(), Vec::new());
    let lane = asm.convert(Ty::I32, Ty::I64, place.lane.into());
    let first_lane = asm.register(Class::Predicate);
    emit!(asm, "setp.eq.s32 {first_lane}, {}, 0", place.lane);
    for (value, position) in rows.values.iter().zip(&rows.positions) {
        let in_row = scan_row(asm, place, (combine, ty), *value, *position);
        // The segment begins before the row if its position is more than the lane.
        let reaches = asm.register(Class::Predicate);
        emit!(asm, "setp.gt.s64 {reaches}, {position}, {lane}");
        let joined = asm.combine(combine, ty, carry.into(), in_row.into());
        let inclusive = asm.select(reaches, joined.class, joined.into(), in_row.into());
        let neighbour = shuffle(asm, "up", ty, inclusive, 1, 0);
        let exclusive = asm.select(first_lane, neighbour.class, carry.into(), neighbour.into());
        let begins = asm.register(Class::Predicate);
        emit!(asm, "setp.eq.s64 {begins}, {position}, 0");
        before.push(asm.select(begins, exclusive.class, neutral.into(), exclusive.into()));
        with.push(inclusive);
        carry = shuffle(asm, "idx", ty, inclusive, WARP_THREADS - 1, 31);
    }
    // Whether the last segment begins in the chunk: its last element knows.
    let last = rows.positions.len() - 1;
    let offset = row_offset(asm, place.lane, last);
    let (own, begins) = (asm.register(Class::Predicate), asm.register(Class::Predicate));
    emit!(asm, "setp.le.s64 {own}, {}, {offset}", rows.positions[last]);
    let own = asm.convert(Ty::Bool, Ty::I32, own.into());
    let of_last = shuffle(asm, "idx", Ty::I32, own, WARP_THREADS - 1, 31);
    emit!(asm, "setp.ne.s32 {begins}, {of_last}, 0");
    Prefixes { before, with, total: carry, begins }
}

/// Emits the prefixes of a row, each with its element.
fn scan_row(
    asm: &mut Assembly,
    place: &Place,
    (combine, ty): (Combine, Ty),
    value: Reg,
    position: Reg,
) -> Reg {
    emit!(asm, "bar.warp.sync -1");
    let mut sum = value;
    let mut distance = 1;
    while distance < WARP_THREADS {
        let other = shuffle(asm, "up", ty, sum, distance, 0);
        let (has, in_segment) = (asm.register(Class::Predicate), asm.register(Class::Predicate));
        emit!(asm, "setp.ge.s32 {has}, {}, {distance}", place.lane);
        emit!(asm, "setp.ge.and.s64 {in_segment}, {position}, {distance}, {has}");
        let joined = asm.combine(combine, ty, other.into(), sum.into());
        sum = asm.select(in_segment, joined.class, joined.into(), sum.into());
        distance *= 2;
    }
    sum
}

/// Emits the combination of the chunks before the one of this warp, and of all chunks, each with a
/// predicate: true if the last segment begins there. All warps leave their totals in shared memory.
fn join_chunks(
    asm: &mut Assembly,
    place: &Place,
    (combine, ty): (Combine, Ty),
    total: Reg,
    begins: Reg,
) -> (Reg, Reg, Reg, Reg) {
    let array = asm.shared(16 * place.warps as usize);
    let base = asm.register(Class::B32);
    emit!(asm, "mov.u32 {base}, {array}");
    let (others, stored) = (asm.register(Class::Predicate), asm.label());
    emit!(asm, "setp.ne.s32 {others}, {}, 0", place.lane);
    emit!(asm, "@{others} bra {stored}");
    let slot = asm.register(Class::B32);
    emit!(asm, "mad.lo.s32 {slot}, {}, 16, {base}", place.warp);
    asm.store(ty, AddressSpace::Shared, slot, total.into());
    let flag = asm.register(Class::B32);
    emit!(asm, "add.s32 {flag}, {slot}, 8");
    let begins = asm.convert(Ty::Bool, Ty::I32, begins.into());
    asm.store(Ty::I32, AddressSpace::Shared, flag, begins.into());
    asm.place(stored);
    emit!(asm, "bar.sync 0");
    let neutral = asm.constant(combine.neutral(ty));
    let no = asm.constant(Literal::Bool(false));
    let (mut sum, mut sum_begins) = (neutral, no);
    let (before, before_begins) = (asm.register(neutral.class), asm.register(Class::Predicate));
    asm.move_to(before, neutral.into());
    asm.move_to(before_begins, no.into());
    for warp in 0..place.warps {
        let (slot, flag) = (asm.register(Class::B32), asm.register(Class::B32));
        emit!(asm, "add.s32 {slot}, {base}, {}", 16 * warp);
        emit!(asm, "add.s32 {flag}, {base}, {}", 16 * warp + 8);
        let value = asm.load(ty, AddressSpace::Shared, slot);
        let flag = asm.load(Ty::I32, AddressSpace::Shared, flag);
        let begins = asm.register(Class::Predicate);
        emit!(asm, "setp.ne.s32 {begins}, {flag}, 0");
        let joined = asm.combine(combine, ty, sum.into(), value.into());
        sum = asm.select(begins, joined.class, value.into(), joined.into());
        let either = asm.register(Class::Predicate);
        emit!(asm, "or.pred {either}, {sum_begins}, {begins}");
        sum_begins = either;
        let is_before = asm.register(Class::Predicate);
        emit!(asm, "setp.gt.s32 {is_before}, {}, {warp}", place.warp);
        let next = asm.select(is_before, sum.class, sum.into(), before.into());
        asm.move_to(before, next.into());
        let next = asm.select(is_before, Class::Predicate, sum_begins.into(), before_begins.into());
        asm.move_to(before_begins, next.into());
    }
    (before, before_begins, sum, sum_begins)
}
