//! A pass of a large sort: it distributes the keys by one digit, stably, in one sweep.
//!
//! A block takes the next tile, counts its digits, publishes the counts, and looks back over the
//! tiles before it until it knows how many keys with each digit lie before the tile (decoupled
//! look-back: D. Merrill and M. Garland, 2016; as a radix sort: A. Adinets and D. Merrill,
//! *Onesweep*, 2022). So each key is read once and written once. Tiles are taken by ticket: those
//! before were taken by blocks that run, and nobody waits for a block that does not.
//!
//! ```text
//! split, count, place (`tile`)     the keys of the tile, ordered by digit in shared memory
//! publish, look back               thread d: the target of the first key of digit d
//! write                            neighbours in shared memory go to neighbours, mostly
//! ```
//!
//! Results depend on no order of blocks: only ints are added.

use super::area::{KeyArray, Layout, TAG_SHIFT, TARGET_SHIFT, TILE_STATE_BYTES};
use super::code::{EntryCode, value};
use super::order::{DIGIT_VALUES, KeyOrder};
use super::tile::{TileMemory, exchange};
use crate::emit::assembly::{Class, Reg, emit};
use crate::emit::frame::BLOCK_THREADS;

/// The number of keys that a thread has in a tile: so many that the tile fits in shared memory, with
/// the counters.
pub fn thread_keys(order: KeyOrder, ranks: bool) -> u32 {
    match (order.keys.size(), ranks) {
        (8, true) => 12,
        (8, false) | (_, true) => 16,
        (_, false) => 24,
    }
}

/// The number of keys of a tile.
pub fn tile_keys(order: KeyOrder, ranks: bool) -> u32 {
    thread_keys(order, ranks) * BLOCK_THREADS
}

/// The arrays of an entry: where keys come from and go to, and the indices that go with them.
struct Arrays {
    keys: Reg,
    temporary: Reg,
    out: Reg,
    /// The indices of the keys in temporary memory, and in the memory of the result.
    indices: Option<[Reg; 2]>,
    area: Reg,
}

/// The registers of a tile.
struct PassTile {
    order: KeyOrder,
    /// The number of the tile.
    number: Reg,
    /// The number of keys of the tile.
    length: Reg,
    /// The index of the thread's first key.
    first: Reg,
    /// The position of the first key of the thread in the tile.
    position: Reg,
    /// The source of the keys, and their target.
    source: Reg,
    target: Reg,
    /// The lowest bit of the digit.
    shift: Reg,
}

/// Emits the entry `(keys, temporary, out, area, count, digit)`, or for ranks
/// `(keys, temporary, out, indices, indices of out, area, count, digit)`.
pub fn entry(name: &str, order: KeyOrder, ranks: bool) -> String {
    let numbers = ["count", "digit"];
    let (mut code, arrays, [count, digit]) = if ranks {
        let names = ["keys", "temporary", "out", "indices", "out_indices", "area"];
        let (code, [keys, temporary, out, a, b, area], numbers) =
            EntryCode::begin(name, names, numbers);
        (code, Arrays { keys, temporary, out, indices: Some([a, b]), area }, numbers)
    } else {
        let names = ["keys", "temporary", "out", "area"];
        let (code, [keys, temporary, out, area], numbers) = EntryCode::begin(name, names, numbers);
        (code, Arrays { keys, temporary, out, indices: None, area }, numbers)
    };
    let layout = Layout { digits: order.digits() };
    let memory = TileMemory::new(&mut code);
    let tile = begin_tile(&mut code, &memory, &arrays, layout, order, count, digit);
    let thread_keys = thread_keys(order, ranks);
    let keys = load_keys(&mut code, &tile, &arrays, thread_keys);
    let indices = arrays.indices.map(|from| load_indices(&mut code, &tile, from, thread_keys));
    let digits: Vec<Reg> =
        keys.iter().map(|key| order.digit(&mut code.asm, *key, tile.shift)).collect();
    let in_warp = memory.split(&mut code, &digits);
    code.barrier();
    let counts = memory.count(&mut code);
    let state = publish(&mut code, &tile, &arrays, layout, digit, counts.total);
    let first = memory.place(&mut code, &counts);
    code.barrier();
    let places = memory.places(&mut code, &digits, &in_warp);
    let all = tile_keys(order, ranks) as usize;
    let exchanged = code.shared(all * order.keys.size());
    exchange(&mut code, &places, &keys, order.memory(), exchanged);
    let exchanged_indices = indices.as_ref().map(|indices| {
        let array = code.shared(4 * all);
        exchange(&mut code, &places, indices, "b32", array);
        array
    });
    let before = look_back(&mut code, &state, counts.total);
    let targets = code.shared(8 * DIGIT_VALUES as usize);
    let slot = value!(code.asm, B32, "mad.lo.s32", "{}, 8, {targets}", code.thread);
    let first = value!(code.asm, B64, "cvt.u64.u32", "{first}");
    let target = value!(code.asm, B64, "sub.s64", "{before}, {first}");
    emit!(code.asm, "st.shared.b64 [{slot}], {target}");
    code.barrier();
    write(&mut code, &tile, &arrays, thread_keys, exchanged, exchanged_indices, targets);
    code.finish()
}

/// Emits the draw of a tile. The block ends here if the pass is left out.
fn begin_tile(
    code: &mut EntryCode,
    memory: &TileMemory,
    arrays: &Arrays,
    layout: Layout,
    order: KeyOrder,
    count: Reg,
    digit: Reg,
) -> PassTile {
    let words = value!(code.asm, B64, "mad.lo.s64", "{digit}, 4, {}", arrays.area);
    let scheduled = value!(code.asm, B32, "ld.global.b32", "[{words}+{}]", layout.schedule());
    let is_left_out = value!(code.asm, Predicate, "setp.eq.s32", "{scheduled}, 0");
    code.leave_if(is_left_out);
    let target = value!(code.asm, B32, "shr.u32", "{scheduled}, {TARGET_SHIFT}");
    let source = value!(code.asm, B32, "and.b32", "{scheduled}, {}", (1 << TARGET_SHIFT) - 1);
    let drawn = code.shared(4);
    code.first_thread(|code| {
        let tickets = layout.tickets();
        let ticket =
            value!(code.asm, B32, "atom.relaxed.gpu.global.add.u32", "[{words}+{tickets}], 1");
        emit!(code.asm, "st.shared.b32 [{drawn}], {ticket}");
    });
    memory.clear(code);
    code.barrier();
    let asm = &mut code.asm;
    let number = value!(asm, B32, "ld.shared.b32", "[{drawn}]");
    let ranks = arrays.indices.is_some();
    let begin = value!(asm, B64, "mul.wide.u32", "{number}, {}", tile_keys(order, ranks));
    let length = value!(asm, B64, "sub.s64", "{count}, {begin}");
    emit!(asm, "min.s64 {length}, {length}, {}", tile_keys(order, ranks));
    let length = value!(asm, B32, "cvt.u32.u64", "{length}");
    let warp_keys = 32 * thread_keys(order, ranks);
    let position = value!(asm, B32, "mad.lo.s32", "{}, {warp_keys}, {}", code.warp, code.lane);
    let first = value!(asm, B64, "cvt.u64.u32", "{position}");
    emit!(asm, "add.s64 {first}, {first}, {begin}");
    let shift = value!(asm, B32, "cvt.u32.u64", "{digit}");
    emit!(asm, "shl.b32 {shift}, {shift}, 3");
    PassTile { order, number, length, first, position, source, target, shift }
}

/// Emits the selection of one of two arrays by the place of keys.
fn array_at(code: &mut EntryCode, place: Reg, temporary: Reg, out: Reg) -> Reg {
    let is_temporary =
        value!(code.asm, Predicate, "setp.eq.s32", "{place}, {}", KeyArray::Temporary as u32);
    value!(code.asm, B64, "selp.b64", "{temporary}, {out}, {is_temporary}")
}

/// Emits the predicate of a key of the thread: true if the tile has it.
fn is_inside(code: &mut EntryCode, tile: &PassTile, row: u32) -> Reg {
    let position = value!(code.asm, B32, "add.s32", "{}, {}", tile.position, 32 * row);
    value!(code.asm, Predicate, "setp.lt.u32", "{position}, {}", tile.length)
}

/// Emits the loads of the thread's keys; behind the end there are last keys.
fn load_keys(code: &mut EntryCode, tile: &PassTile, arrays: &Arrays, thread_keys: u32) -> Vec<Reg> {
    let (order, bytes) = (tile.order, tile.order.keys.size());
    let moved = array_at(code, tile.source, arrays.temporary, arrays.out);
    let is_first = is_first_pass(code, tile);
    let from = value!(code.asm, B64, "selp.b64", "{}, {moved}, {is_first}", arrays.keys);
    let address = value!(code.asm, B64, "mad.lo.s64", "{}, {bytes}, {from}", tile.first);
    let mut keys = Vec::with_capacity(thread_keys as usize);
    for row in 0..thread_keys {
        let inside = is_inside(code, tile, row);
        let asm = &mut code.asm;
        let key = asm.register(order.class());
        emit!(asm, "mov.{} {key}, {}", order.class().ty(), order.last_key());
        let offset = 32 * row as usize * bytes;
        emit!(asm, "@{inside} ld.global.{} {key}, [{address}+{offset}]", order.memory());
        keys.push(key);
    }
    keys
}

fn is_first_pass(code: &mut EntryCode, tile: &PassTile) -> Reg {
    value!(code.asm, Predicate, "setp.eq.s32", "{}, {}", tile.source, KeyArray::Keys as u32)
}

/// Emits the indices of the thread's keys: in the first pass they are those of the keys.
fn load_indices(
    code: &mut EntryCode,
    tile: &PassTile,
    arrays: [Reg; 2],
    thread_keys: u32,
) -> Vec<Reg> {
    let indices: Vec<Reg> = (0..thread_keys).map(|_| code.asm.register(Class::B32)).collect();
    let is_first = is_first_pass(code, tile);
    let own = value!(code.asm, B32, "cvt.u32.u64", "{}", tile.first);
    for (row, index) in (0..thread_keys).zip(&indices) {
        emit!(code.asm, "add.s32 {index}, {own}, {}", 32 * row);
    }
    code.unless(is_first, |code| {
        let from = array_at(code, tile.source, arrays[0], arrays[1]);
        let address = value!(code.asm, B64, "mad.lo.s64", "{}, 4, {from}", tile.first);
        for (row, index) in (0..thread_keys).zip(&indices) {
            let inside = is_inside(code, tile, row);
            emit!(code.asm, "@{inside} ld.global.b32 {index}, [{address}+{}]", 128 * row);
        }
    });
    indices
}

/// The registers of the look-back of a thread, for its digit.
struct LookBack {
    /// The address of the state of the tile.
    own: Reg,
    /// The number of the tile.
    number: Reg,
    /// The place of the first key of the digit of all.
    base: Reg,
    /// Twice the number of the pass, from 1 on.
    tag: Reg,
}

/// Emits the publication of the number of keys of the thread's digit in the tile.
fn publish(
    code: &mut EntryCode,
    tile: &PassTile,
    arrays: &Arrays,
    layout: Layout,
    digit: Reg,
    total: Reg,
) -> LookBack {
    let asm = &mut code.asm;
    let tag = value!(asm, B64, "mad.lo.s64", "{digit}, 2, 2");
    let column = value!(asm, B64, "mad.wide.u32", "{}, 8, {}", code.thread, arrays.area);
    let bases = value!(asm, B64, "mad.lo.s64", "{digit}, {}, {column}", 8 * DIGIT_VALUES);
    let base = value!(asm, B64, "ld.global.b64", "[{bases}]");
    let states = value!(asm, B64, "add.s64", "{column}, {}", layout.states());
    let own = value!(asm, B64, "mad.wide.u32", "{}, {TILE_STATE_BYTES}, {states}", tile.number);
    let state = value!(asm, B64, "shl.b64", "{tag}, {TAG_SHIFT}");
    let total = value!(asm, B64, "cvt.u64.u32", "{total}");
    emit!(asm, "or.b64 {state}, {state}, {total}");
    emit!(asm, "st.relaxed.gpu.global.u64 [{own}], {state}");
    LookBack { own, number: tile.number, base, tag }
}

/// Emits the look-back: the target of the tile's first key of the thread's digit.
fn look_back(code: &mut EntryCode, state: &LookBack, total: Reg) -> Reg {
    let LookBack { own, number, base, tag } = *state;
    let asm = &mut code.asm;
    let (before, at, left) =
        (asm.register(Class::B64), asm.register(Class::B64), asm.register(Class::B32));
    emit!(asm, "mov.b64 {before}, 0");
    emit!(asm, "mov.b64 {at}, {own}");
    emit!(asm, "mov.b32 {left}, {number}");
    code.repeat(|code, _, end| {
        let asm = &mut code.asm;
        let is_first_tile = value!(asm, Predicate, "setp.eq.s32", "{left}, 0");
        let add_base = asm.label();
        emit!(asm, "@!{is_first_tile} bra {add_base}");
        emit!(asm, "add.s64 {before}, {before}, {base}");
        emit!(asm, "bra {end}");
        asm.place(add_base);
        emit!(asm, "sub.s64 {at}, {at}, {TILE_STATE_BYTES}");
        emit!(asm, "sub.s32 {left}, {left}, 1");
        let word = asm.register(Class::B64);
        let found = asm.register(Class::B64);
        let wait = asm.label();
        asm.place(wait);
        emit!(asm, "ld.relaxed.gpu.global.u64 {word}, [{at}]");
        emit!(asm, "shr.u64 {found}, {word}, {TAG_SHIFT}");
        // The tags of this pass are the greatest so far.
        let is_early = value!(asm, Predicate, "setp.lt.u64", "{found}, {tag}");
        emit!(asm, "@{is_early} bra {wait}");
        let number = value!(asm, B64, "and.b64", "{word}, {}", (1u64 << TAG_SHIFT) - 1);
        emit!(asm, "add.s64 {before}, {before}, {number}");
        let is_whole = value!(asm, Predicate, "setp.gt.u64", "{found}, {tag}");
        emit!(asm, "@{is_whole} bra {end}");
    });
    let asm = &mut code.asm;
    let total = value!(asm, B64, "cvt.u64.u32", "{total}");
    let sum = value!(asm, B64, "add.s64", "{before}, {total}");
    let word = value!(asm, B64, "add.s64", "{tag}, 1");
    emit!(asm, "shl.b64 {word}, {word}, {TAG_SHIFT}");
    emit!(asm, "or.b64 {word}, {word}, {sum}");
    emit!(asm, "st.relaxed.gpu.global.u64 [{own}], {word}");
    before
}

/// A key of the tile, in the order of digits.
struct Sorted {
    /// The key itself.
    key: Reg,
    /// The place in the tile.
    place: Reg,
    /// True if the tile has it.
    is_inside: Reg,
    /// The index at which it is stored.
    target: Reg,
}

/// Emits the stores of the tile's keys, in the order of their digits.
fn write(
    code: &mut EntryCode,
    tile: &PassTile,
    arrays: &Arrays,
    thread_keys: u32,
    exchanged: Reg,
    exchanged_indices: Option<Reg>,
    targets: Reg,
) {
    let sorted: Vec<Sorted> =
        (0..thread_keys).map(|row| load_sorted(code, tile, row, exchanged, targets)).collect();
    let ranked = exchanged_indices.zip(arrays.indices);
    let Some((exchanged_indices, [temporary, out])) = ranked else {
        return store_keys(code, tile, arrays, &sorted);
    };
    let is_rank =
        value!(code.asm, Predicate, "setp.eq.s32", "{}, {}", tile.target, KeyArray::Ranks as u32);
    let indices: Vec<Reg> = sorted
        .iter()
        .map(|sorted| {
            let slot =
                value!(code.asm, B32, "mad.lo.s32", "{}, 4, {exchanged_indices}", sorted.place);
            value!(code.asm, B32, "ld.shared.b32", "[{slot}]")
        })
        .collect();
    code.unless(is_rank, |code| {
        store_keys(code, tile, arrays, &sorted);
        let to = array_at(code, tile.target, temporary, out);
        for (Sorted { target, is_inside, .. }, index) in sorted.iter().zip(&indices) {
            let address = value!(code.asm, B64, "mad.lo.s64", "{target}, 4, {to}");
            emit!(code.asm, "@{is_inside} st.global.b32 [{address}], {index}");
        }
    });
    let is_moved = value!(code.asm, Predicate, "not.pred", "{is_rank}");
    code.unless(is_moved, |code| {
        for (Sorted { target, is_inside, .. }, index) in sorted.iter().zip(&indices) {
            let address = value!(code.asm, B64, "mad.wide.u32", "{index}, 8, {}", arrays.out);
            emit!(code.asm, "@{is_inside} st.global.b64 [{address}], {target}");
        }
    });
}

/// Emits the load of a key in the order of digits, and the index at which it is stored.
fn load_sorted(
    code: &mut EntryCode,
    tile: &PassTile,
    row: u32,
    exchanged: Reg,
    targets: Reg,
) -> Sorted {
    let (order, asm) = (tile.order, &mut code.asm);
    let place = value!(asm, B32, "add.s32", "{}, {}", code.thread, row * BLOCK_THREADS);
    let wide = value!(asm, B64, "cvt.u64.u32", "{place}");
    let is_inside = value!(asm, Predicate, "setp.lt.u32", "{place}, {}", tile.length);
    let slot = value!(asm, B32, "mad.lo.s32", "{place}, {}, {exchanged}", order.keys.size());
    let key = asm.register(order.class());
    emit!(asm, "ld.shared.{} {key}, [{slot}]", order.memory());
    let digit = order.digit(asm, key, tile.shift);
    let slot = value!(asm, B32, "mad.lo.s32", "{digit}, 8, {targets}");
    let target = value!(asm, B64, "ld.shared.b64", "[{slot}]");
    emit!(asm, "add.s64 {target}, {target}, {wide}");
    Sorted { key, place, is_inside, target }
}

fn store_keys(code: &mut EntryCode, tile: &PassTile, arrays: &Arrays, sorted: &[Sorted]) {
    let to = array_at(code, tile.target, arrays.temporary, arrays.out);
    for Sorted { key, is_inside, target, .. } in sorted {
        let bytes = tile.order.keys.size();
        let address = value!(code.asm, B64, "mad.lo.s64", "{target}, {bytes}, {to}");
        emit!(code.asm, "@{is_inside} st.global.{} [{address}], {key}", tile.order.memory());
    }
}
