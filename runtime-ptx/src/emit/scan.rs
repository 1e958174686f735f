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

/// The elements of a thread: one of each row of its warp's chunk.
pub struct Rows {
    /// The value of each element; the neutral element for one that takes no part.
    pub values: Vec<Reg>,
    /// The number of elements between each one and the start of its segment, as an `i32`; where it
    /// is greater than a tile, any number that is. None if all elements are one segment.
    pub near: Option<Vec<Reg>>,
}

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

/// The prefixes of the elements of a chunk, within the chunk.
pub struct Chunk {
    /// The combination of the elements of the segment up to each one.
    with: Vec<Reg>,
    /// The combination of the elements of the segment in the rows before each one's.
    before_row: Vec<Reg>,
    /// The combination of the chunk.
    pub total: Combined,
}

/// Emits the prefixes of the chunk of a warp.
pub fn scan_chunk(asm: &mut Assembly, place: &Place, with: (Combine, Ty), rows: &Rows) -> Chunk {
    let (combine, ty) = with;
    emit!(asm, "bar.warp.sync -1");
    let mut carry = asm.constant(combine.neutral(ty));
    let (mut prefixes, mut before_row) = (Vec::new(), Vec::new());
    for (row, value) in rows.values.iter().enumerate() {
        let near = rows.near.as_ref().map(|near| near[row]);
        let sum = asm.register(value.class);
        asm.move_to(sum, (*value).into());
        scan_row(asm, place, with, sum, near);
        before_row.push(carry);
        if row > 0 {
            let reaches = near.map(|near| {
                let reaches = asm.register(Class::Predicate);
                emit!(asm, "setp.gt.s32 {reaches}, {near}, {}", place.lane);
                reaches
            });
            asm.combine_before(reaches, with, carry, sum);
        }
        prefixes.push(sum);
        carry = shuffle(asm, "idx", ty, sum, WARP_THREADS - 1, 31);
    }
    let begins = rows.near.as_ref().map(|near| {
        // The last element knows whether the last segment begins in the chunk.
        let last = near.len() as u32 - 1;
        let of_last = shuffle(asm, "idx", Ty::I32, near[last as usize], WARP_THREADS - 1, 31);
        let begins = asm.register(Class::Predicate);
        emit!(asm, "setp.lt.s32 {begins}, {of_last}, {}", (last + 1) * WARP_THREADS);
        begins
    });
    Chunk { with: prefixes, before_row, total: Combined { value: carry, begins } }
}

impl Chunk {
    /// Emits the combination of the elements of the segment up to one of a row, in place.
    /// `before_chunk` is that of those before the chunk.
    pub fn with_before(
        &self,
        asm: &mut Assembly,
        place: &Place,
        with: (Combine, Ty),
        rows: &Rows,
        row: usize,
        before_chunk: Reg,
    ) -> Reg {
        let near = rows.near.as_ref().map(|near| near[row]);
        let reaches = near.map(|near| reaches_chunk(asm, place, near, row));
        asm.combine_before(reaches, with, before_chunk, self.with[row]);
        self.with[row]
    }
}

/// Emits the prefixes of a row, in place: of the elements of a warp's lanes. `near` is as in [`Rows`].
pub fn scan_row(
    asm: &mut Assembly,
    place: &Place,
    (combine, ty): (Combine, Ty),
    sum: Reg,
    near: Option<Reg>,
) {
    // The number of elements before this one in the row that belong to its segment.
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
    emit!(asm, "bar.sync 0");
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
    emit!(asm, "bar.sync 0");
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

/// The prefixes of the elements of a thread that a sink asks for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The combination of the elements of the segment before each.
    Before,
    /// The combination of the elements of the segment up to each.
    With,
    /// Both kinds of prefixes.
    Both,
}

/// The prefixes of the elements of a thread.
pub struct Prefixes {
    /// The combination of the elements of the segment before each, if it is wanted.
    pub before: Vec<Reg>,
    /// The combination of the elements of the segment up to each, if it is wanted.
    pub with: Vec<Reg>,
}

/// Emits the prefixes of the elements of a thread in its segments, from those in its chunk.
pub fn finish_rows(
    asm: &mut Assembly,
    place: &Place,
    with: (Combine, Ty),
    rows: &Rows,
    chunk: &Chunk,
    before_chunk: Reg,
    wanted: Wanted,
) -> Prefixes {
    let undo = undo_name(with);
    let mut prefixes = Prefixes { before: Vec::new(), with: Vec::new() };
    for (row, value) in rows.values.iter().enumerate() {
        let near = rows.near.as_ref().map(|near| near[row]);
        let inclusive = chunk.with[row];
        let reaches = near.map(|near| reaches_chunk(asm, place, near, row));
        if undo.is_none() && wanted != Wanted::With {
            let neighbour = shuffle(asm, "up", with.1, inclusive, 1, 0);
            let first = asm.register(Class::Predicate);
            emit!(asm, "setp.eq.s32 {first}, {}, 0", place.lane);
            let carried = chunk.before_row[row];
            let mut before = asm.select(first, neighbour.class, carried.into(), neighbour.into());
            if let Some(near) = near {
                let head = asm.register(Class::Predicate);
                emit!(asm, "setp.eq.s32 {head}, {near}, 0");
                let neutral = asm.constant(with.0.neutral(with.1));
                before = asm.select(head, before.class, neutral.into(), before.into());
            }
            asm.combine_before(reaches, with, before_chunk, before);
            prefixes.before.push(before);
        }
        if undo.is_some() || wanted != Wanted::Before {
            asm.combine_before(reaches, with, before_chunk, inclusive);
            prefixes.with.push(inclusive);
        }
        if let (Some(name), true) = (undo, wanted != Wanted::With) {
            let before = asm.register(value.class);
            emit!(asm, "{name} {before}, {inclusive}, {value}");
            prefixes.before.push(before);
        }
    }
    prefixes
}

/// Emits the question whether the segment of an element of a row begins before the chunk.
fn reaches_chunk(asm: &mut Assembly, place: &Place, near: Reg, row: usize) -> Reg {
    let (offset, reaches) = (asm.register(Class::B32), asm.register(Class::Predicate));
    emit!(asm, "sub.s32 {offset}, {near}, {}", row as u32 * WARP_THREADS);
    emit!(asm, "setp.gt.s32 {reaches}, {offset}, {}", place.lane);
    reaches
}

/// The instruction that takes the last element out of a combination, if there is one.
fn undo_name(with: (Combine, Ty)) -> Option<&'static str> {
    match with {
        (Combine::Add, Ty::I32) => Some("sub.s32"),
        (Combine::Add, Ty::I64) => Some("sub.s64"),
        (Combine::Xor, Ty::I32) => Some("xor.b32"),
        (Combine::Xor, Ty::I64) => Some("xor.b64"),
        (Combine::Xor, Ty::Bool) => Some("xor.pred"),
        (
            Combine::Add
            | Combine::Mul
            | Combine::Min
            | Combine::Max
            | Combine::And
            | Combine::Or
            | Combine::Xor,
            _,
        ) => None,
    }
}
