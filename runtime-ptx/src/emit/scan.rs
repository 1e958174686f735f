//! Ordered combination of the elements of a tile: prefixes within the segments.
//!
//! A warp has a *chunk* of the tile: some rows of 32 neighbouring elements, so that its loads touch
//! neighbouring memory.
//!
//! ```text
//! row = 32 lanes       joined by shuffles: 1, 2, 4, 8, 16 lanes up
//! chunk = rows         joined by the carry of the rows before, in a register
//! tile = 8 chunks      joined by the first warp, through shared memory, when it also learns what
//!                      lies before the tile (`lookback`)
//! ```
//!
//! Segments need no flags: an element that is `near` elements behind the start of its segment may
//! combine with the one `d` before it if `near ≥ d`, and takes the carry of what lies before its row or
//! chunk if its segment begins there.
//!
//! The grouping is the same in each run: a float result has the same bits.

use super::address::AddressSpace;
use super::assembly::{Assembly, Class, Reg, emit};
use super::collective::{ThreadIds, WARP_THREADS, shuffle, shuffle_up};
use super::lookback::{Combined, TileNumber, before_tile};
use nesl_runtime::kir::{Combine, Literal, Ty};

/// The threads of a block, and the registers that say which one this is.
#[derive(Clone, Copy)]
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

/// Emits the prefixes of a value of each lane, in place. `near` is the number of lanes between this
/// one and that at which its segment begins, or any number that is more than the lane's; none if all are
/// one segment.
pub fn scan_lanes(
    asm: &mut Assembly,
    place: &Place,
    (combine, ty): (Combine, Ty),
    sum: Reg,
    near: Option<Reg>,
) {
    // The number of lanes before this one that belong to its segment.
    let reach = near.map(|near| {
        let reach = asm.register(Class::B32);
        emit!(asm, "min.s32 {reach}, {near}, {}", place.lane);
        reach
    });
    let mut distance = 1;
    while distance < WARP_THREADS {
        let (other, takes) = match reach {
            None => shuffle_up(asm, ty, sum, distance),
            Some(reach) => {
                let other = shuffle(asm, "up", ty, sum, distance, 0);
                let takes = asm.register(Class::Predicate);
                emit!(asm, "setp.ge.s32 {takes}, {reach}, {distance}");
                (other, takes)
            }
        };
        asm.combine_before(Some(takes), (combine, ty), other, sum);
        distance *= 2;
    }
}

/// Emits the combination of the part of each chunk's first segment that lies before the chunk: the
/// first warp combines the totals of the chunks, and asks for what lies before the tile. Every
/// thread of the block executes it. `area` is the parameter with the address of the states of the
/// tiles, `whole` the address of the combination of all tiles, if it is wanted: the last tile writes it.
pub fn join_chunks(
    asm: &mut Assembly,
    place: &Place,
    at: &TileNumber,
    with: (Combine, Ty),
    (area, whole): (&str, Option<Reg>),
    total: Combined,
) -> Reg {
    let (combine, ty) = with;
    let totals = asm.shared(16 * place.warps as usize);
    let carries = asm.shared(8 * place.warps as usize);
    let (totals_base, carries_base) = (asm.register(Class::B32), asm.register(Class::B32));
    let (others, stored) = (asm.register(Class::Predicate), asm.label());
    emit!(asm, "setp.ne.s32 {others}, {}, 0", place.lane);
    emit!(asm, "@{others} bra {stored}");
    let slot = asm.register(Class::B32);
    emit!(asm, "mov.u32 {totals_base}, {totals}");
    emit!(asm, "mad.lo.s32 {slot}, {}, 16, {totals_base}", place.warp);
    asm.store(ty, AddressSpace::Shared, slot, total.value.into());
    if let Some(begins) = total.begins {
        let flag = asm.convert(Ty::Bool, Ty::I32, begins.into());
        emit!(asm, "st.shared.b32 [{slot}+8], {flag}");
    }
    asm.place(stored);
    asm.barrier();
    let (other_warps, joined) = (asm.register(Class::Predicate), asm.label());
    emit!(asm, "setp.ne.s32 {other_warps}, {}, 0", place.warp);
    emit!(asm, "@{other_warps} bra {joined}");
    // One lane for each chunk; the others have the combination of nothing.
    let (no_chunk, loaded) = (asm.register(Class::Predicate), asm.label());
    let value = asm.constant(combine.neutral(ty));
    let begins = total.begins.map(|_| asm.constant(Literal::Bool(false)));
    emit!(asm, "setp.ge.s32 {no_chunk}, {}, {}", place.lane, place.warps);
    emit!(asm, "@{no_chunk} bra {loaded}");
    let slot = asm.register(Class::B32);
    emit!(asm, "mov.u32 {totals_base}, {totals}");
    emit!(asm, "mad.lo.s32 {slot}, {}, 16, {totals_base}", place.lane);
    let element = asm.load(ty, AddressSpace::Shared, slot);
    asm.move_to(value, element.into());
    if let Some(begins) = begins {
        let flag = asm.register(Class::B32);
        emit!(asm, "ld.shared.b32 {flag}, [{slot}+8]");
        emit!(asm, "setp.ne.s32 {begins}, {flag}, 0");
    }
    asm.place(loaded);
    emit!(asm, "bar.warp.sync -1");
    let mut sum = Combined { value, begins };
    let mut distance = 1;
    while distance < place.warps {
        let other = neighbour(asm, ty, sum, distance);
        let takes = asm.register(Class::Predicate);
        emit!(asm, "setp.ge.s32 {takes}, {}, {distance}", place.lane);
        let joined = asm.append(with, other, sum);
        let class = joined.value.class;
        let value = asm.select(takes, class, joined.value.into(), sum.value.into());
        let begins = joined.begins.zip(sum.begins).map(|(joined, own)| {
            // Before the first chunks nothing begins: `other` is the lane's own state there.
            let begins = asm.register(Class::Predicate);
            emit!(asm, "or.pred {begins}, {joined}, {own}");
            begins
        });
        sum = Combined { value, begins };
        distance *= 2;
    }
    let last = place.warps - 1;
    let tile = Combined {
        value: shuffle(asm, "idx", ty, sum.value, last, 31),
        begins: sum.begins.map(|begins| shuffle(asm, "idx", Ty::Bool, begins, last, 31)),
    };
    let before = before_tile(asm, at, with, area, tile);
    write_whole(asm, place, at, with, (before, tile), whole);
    // What lies before each chunk: that before the tile, and the chunks before it.
    let before = shuffle(asm, "idx", ty, before.value, 0, 31);
    let exclusive = neighbour(asm, ty, sum, 1);
    let carry = asm.combine(combine, ty, before.into(), exclusive.value.into());
    let carry = match exclusive.begins {
        None => carry,
        Some(begins) => asm.select(begins, carry.class, exclusive.value.into(), carry.into()),
    };
    let first = asm.register(Class::Predicate);
    emit!(asm, "setp.eq.s32 {first}, {}, 0", place.lane);
    let carry = asm.select(first, carry.class, before.into(), carry.into());
    emit!(asm, "@{no_chunk} bra {joined}");
    let slot = asm.register(Class::B32);
    emit!(asm, "mov.u32 {carries_base}, {carries}");
    emit!(asm, "mad.lo.s32 {slot}, {}, 8, {carries_base}", place.lane);
    asm.store(ty, AddressSpace::Shared, slot, carry.into());
    asm.place(joined);
    asm.barrier();
    let slot = asm.register(Class::B32);
    emit!(asm, "mov.u32 {carries_base}, {carries}");
    emit!(asm, "mad.lo.s32 {slot}, {}, 8, {carries_base}", place.warp);
    asm.load(ty, AddressSpace::Shared, slot)
}

/// Emits the state of the lane `distance` below; that of the lane itself if there is none.
fn neighbour(asm: &mut Assembly, ty: Ty, state: Combined, distance: u32) -> Combined {
    Combined {
        value: shuffle(asm, "up", ty, state.value, distance, 0),
        begins: state.begins.map(|begins| shuffle(asm, "up", Ty::Bool, begins, distance, 0)),
    }
}

/// Emits the store of the combination of all tiles by the last one.
fn write_whole(
    asm: &mut Assembly,
    place: &Place,
    at: &TileNumber,
    with: (Combine, Ty),
    (before, tile): (Combined, Combined),
    whole: Option<Reg>,
) {
    let Some(whole) = whole else { return };
    let (next, is_last, is_first_lane) =
        (asm.register(Class::B64), asm.register(Class::Predicate), asm.register(Class::Predicate));
    emit!(asm, "add.s64 {next}, {}, 1", at.tile);
    emit!(asm, "setp.eq.s32 {is_first_lane}, {}, 0", place.lane);
    emit!(asm, "setp.eq.and.s64 {is_last}, {next}, {}, {is_first_lane}", at.tiles);
    let end = asm.label();
    emit!(asm, "@!{is_last} bra {end}");
    let all = asm.append(with, before, tile);
    asm.store(with.1, AddressSpace::Global, whole, all.value.into());
    asm.place(end);
}
