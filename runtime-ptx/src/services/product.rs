//! Products of matrices of floats: tiles of the result, of 64 by 64 elements, one for each block at a time.
//!
//! ```text
//! out[i][j] = the sum of left(i, k) * right(j, k) over all k
//!
//! for each 16 places along k:     the block copies 64 rows of both factors to shared memory
//!   for each place:               a thread adds 4 by 4 products to its sums, in registers
//! ```
//!
//! A factor may be given turned, by its columns: threads that are neighbours load what lies side by side in
//! either case. While the block computes with some places, its loads of the next ones are under way.
//!
//! The order of all additions is that of [`nesl_runtime::services::product`], so that the bits of the result
//! are the same as on a CPU: within a chunk of places in ascending order, each with its multiplication in
//! one rounding; then chunk after chunk; and where a small result is the sum of much, part after part. Parts
//! are tasks of their own here, which a second launch adds up.

use super::code::{EntryCode, value};
use super::steps::{Argument, Steps};
use crate::emit::assembly::{Assembly, Class, Reg, emit};
use crate::emit::failure;
use crate::emit::frame::BLOCK_THREADS;
use nesl_runtime::kir::{Literal, Ty};
use nesl_runtime::services::product::{CHUNK, PART_CHUNKS, is_in_parts};

/// The number of entries.
pub const ENTRIES: usize = 2;

/// The entries by number: tiles of a result or of its parts, and the sums of parts.
const TILES_ENTRY: usize = 0;
const SUMS_ENTRY: usize = 1;

/// The rows and the columns of a tile of the result.
const SIDE: u32 = 64;

/// The places along `k` that are in shared memory at a time. A chunk is a multiple of it.
const PLACES: u32 = 16;

/// The columns of tiles that are computed row by row before the next columns: as many tiles at a time as a
/// large device holds lie in a square then, so that the factors they read stay in its cache.
const GROUP_TILES: u32 = 16;

/// The elements from a place to the next in shared memory: with 64, threads that store the places of a row
/// would all wait for the same bank.
const PITCH: u32 = SIDE + 2;

/// The elements of a factor that a thread copies at a time.
const COPIED: u32 = SIDE * PLACES / BLOCK_THREADS;

/// The rows, and the columns, whose sums a thread has: pairs, half a side apart.
const OWN: u32 = 4;

/// The places between two looks of a block at the interrupt word; a power of two.
const INTERRUPT_POLL_PLACES: u32 = 4096;

/// A factor of a product, as a thread loads it.
struct Factor {
    /// The address of the array, and of the index at which each of its rows begins.
    pool: Reg,
    starts: Reg,
    /// True if its rows go along the places of `k`.
    turned: Reg,
    /// The number of its items: of the rows, or the columns, of the result.
    count: Reg,
    /// The first of the items of the tile at hand.
    first: Reg,
    /// The first item and place that the thread copies, and the distances to its next ones; `u32`.
    item: (Reg, Reg),
    place: (Reg, Reg),
    /// The address in shared memory of the first of these, and the distance to the next.
    to: (Reg, Reg),
    /// The index at which the row of each element begins.
    begins: Vec<Reg>,
    /// The elements, between their loads and stores.
    held: Vec<Reg>,
    /// The address in shared memory of the thread's first pair of items.
    from: Reg,
    /// The element of places that do not exist: the products of those of both factors are -0, which changes
    /// no sum.
    padding: Literal,
}

/// Emits the entries, under names by their numbers.
pub fn emit(ty: Ty, name: impl Fn(usize) -> String) -> Vec<String> {
    vec![tiles(&name(TILES_ENTRY), ty), sums(&name(SUMS_ENTRY), ty)]
}

/// Returns the launches of a product: `factors` are the array and the starts of each, and 1 if it is turned.
pub fn steps(
    ty: Ty,
    [left, right]: [[u64; 3]; 2],
    [rows, columns, depth]: [u64; 3],
    out: u64,
    resident: &[u64],
) -> Steps {
    let mut steps = Steps::default();
    let size = rows.saturating_mul(columns);
    if size == 0 {
        return steps;
    }
    let side = u64::from(SIDE);
    let tiles = rows.div_ceil(side) * columns.div_ceil(side);
    let (part, parts) = match is_in_parts(size as usize, depth as usize) {
        true => {
            let part = (PART_CHUNKS * CHUNK) as u64;
            (part, depth.div_ceil(part))
        }
        false => (depth.max(1), 1),
    };
    let out = Argument::Word(out);
    let to = match parts {
        1 => out,
        _ => steps.temporary((parts * size).saturating_mul(ty.size() as u64), false),
    };
    let tasks = tiles.saturating_mul(parts);
    let mut args: Vec<Argument> =
        [left[0], left[1], right[0], right[1]].map(Argument::from).to_vec();
    args.push(to);
    let numbers = [left[2], right[2], rows, columns, depth, part, tiles, tasks];
    args.extend(numbers.map(Argument::from));
    steps.launch(TILES_ENTRY, tasks.min(resident[TILES_ENTRY]), args);
    if parts > 1 {
        let blocks = size.div_ceil(u64::from(BLOCK_THREADS)).min(resident[SUMS_ENTRY]);
        steps.launch(SUMS_ENTRY, blocks, vec![to, out, size.into(), parts.into()]);
    }
    steps
}

/// Emits the entry that computes tiles: `tasks` of them, `tiles` for each part of `part` places.
fn tiles(name: &str, ty: Ty) -> String {
    let (mut code, [left, left_starts, right, right_starts, out], numbers) = EntryCode::begin(
        name,
        ["left", "left_starts", "right", "right_starts", "out"],
        ["left_turned", "right_turned", "rows", "columns", "depth", "part", "tiles", "tasks"],
    );
    let [left_turned, right_turned, rows, columns, depth, part, tiles, tasks] = numbers;
    // Threads of a block by the pairs of rows and of columns that they have.
    let thread = code.thread;
    let row_pair = value!(code.asm, B32, "shr.u32", "{thread}, 4");
    let column_pair = value!(code.asm, B32, "and.b32", "{thread}, 15");
    let factors = [
        Factor::new(
            &mut code,
            ty,
            [left, left_starts, left_turned, rows],
            row_pair,
            minus_zero(ty),
        ),
        Factor::new(
            &mut code,
            ty,
            [right, right_starts, right_turned, columns],
            column_pair,
            zero(ty),
        ),
    ];
    let asm = &mut code.asm;
    let [down, across] = [rows, columns].map(|count| {
        let tiles = value!(asm, B64, "add.s64", "{count}, {}", SIDE - 1);
        value!(asm, B64, "shr.u64", "{tiles}, {}", SIDE.ilog2())
    });
    let sums: Vec<Reg> = (0..OWN * OWN).map(|_| asm.register(Class::of(ty))).collect();
    let [begin, end, place, done] = [(); 4].map(|()| asm.register(Class::B64));
    asm.move_to(done, Literal::I64(0).into());
    let leave = code.end();
    code.each_task(tasks, |code, task| {
        let asm = &mut code.asm;
        let of_part = value!(asm, B64, "div.u64", "{task}, {tiles}");
        let tile = value!(asm, B64, "rem.u64", "{task}, {tiles}");
        let [row, column] = [&factors[0], &factors[1]].map(|factor| factor.first);
        place_of(asm, tile, (down, across), (row, column));
        for first in [row, column] {
            emit!(asm, "shl.b64 {first}, {first}, {}", SIDE.ilog2());
        }
        emit!(asm, "mul.lo.u64 {begin}, {of_part}, {part}");
        emit!(asm, "add.u64 {end}, {begin}, {part}");
        emit!(asm, "min.u64 {end}, {end}, {depth}");
        emit!(asm, "mov.b64 {place}, {begin}");
        let result = value!(asm, B64, "mul.lo.u64", "{rows}, {columns}");
        emit!(asm, "mul.lo.u64 {result}, {result}, {of_part}");
        emit!(asm, "mad.lo.u64 {result}, {result}, {}, {out}", ty.size());
        let zero = zero(ty);
        sums.iter().for_each(|sum| asm.move_to(*sum, zero.into()));
        for factor in &factors {
            factor.find(asm, place, end, None);
            factor.load(asm, ty, place, end);
        }
        code.repeat(|code, _, computed| {
            // The block no longer reads what it stored before.
            code.barrier();
            let asm = &mut code.asm;
            factors.iter().for_each(|factor| factor.store(asm, ty));
            emit!(asm, "add.u64 {place}, {place}, {PLACES}");
            emit!(asm, "add.u64 {done}, {done}, {PLACES}");
            let is_last = value!(asm, Predicate, "setp.ge.u64", "{place}, {end}");
            // The loads stand before the barrier: behind it the compiler would move them to where their
            // results are needed, and the block would wait for each.
            factors.iter().for_each(|factor| factor.load(asm, ty, place, end));
            code.barrier();
            let asm = &mut code.asm;
            multiply(asm, ty, &factors, &sums);
            let within = value!(asm, B64, "sub.u64", "{place}, {begin}");
            let of_chunk = value!(asm, B64, "and.b64", "{within}, {}", CHUNK - 1);
            let (goes_on, added) = (asm.register(Class::Predicate), asm.label());
            emit!(asm, "setp.ne.u64 {goes_on}, {of_chunk}, 0");
            let more = value!(asm, Predicate, "not.pred", "{is_last}");
            emit!(asm, "and.pred {goes_on}, {goes_on}, {more}");
            emit!(asm, "@{goes_on} bra {added}");
            let has_sums = value!(asm, Predicate, "setp.gt.u64", "{within}, {CHUNK}");
            let pairs = [row_pair, column_pair];
            add(asm, ty, &factors, (pairs, columns), (result, has_sums), &sums);
            sums.iter().for_each(|sum| asm.move_to(*sum, zero.into()));
            asm.place(added);
            failure::poll_block(asm, done, (INTERRUPT_POLL_PLACES, PLACES), leave);
            emit!(asm, "@{is_last} bra {computed}");
        });
    });
    code.finish()
}

/// Emits the row and the column of a tile by its number, in tiles. Tiles are numbered row by row in groups of
/// [`GROUP_TILES`] columns.
fn place_of(asm: &mut Assembly, tile: Reg, (down, across): (Reg, Reg), (row, column): (Reg, Reg)) {
    let in_group = value!(asm, B64, "mul.lo.u64", "{down}, {GROUP_TILES}");
    let group = value!(asm, B64, "div.u64", "{tile}, {in_group}");
    let within = value!(asm, B64, "rem.u64", "{tile}, {in_group}");
    let first = value!(asm, B64, "mul.lo.u64", "{group}, {GROUP_TILES}");
    let width = value!(asm, B64, "sub.u64", "{across}, {first}");
    let width = value!(asm, B64, "min.u64", "{width}, {GROUP_TILES}");
    emit!(asm, "div.u64 {row}, {within}, {width}");
    emit!(asm, "rem.u64 {column}, {within}, {width}");
    emit!(asm, "add.u64 {column}, {column}, {first}");
}

impl Factor {
    /// Emits the registers: of the array, its starts, whether it is turned, and the number of its items;
    /// `pair` is the number of the pairs of items that the thread has sums for.
    fn new(
        code: &mut EntryCode,
        ty: Ty,
        [pool, starts, turned, count]: [Reg; 4],
        pair: Reg,
        padding: Literal,
    ) -> Factor {
        let memory = code.shared(PITCH as usize * PLACES as usize * ty.size());
        let thread = code.thread;
        let asm = &mut code.asm;
        let turned = value!(asm, Predicate, "setp.ne.u64", "{turned}, 0");
        // Neighbours load neighbours: places of a row, or items of a turned one.
        let low_place = value!(asm, B32, "and.b32", "{thread}, {}", PLACES - 1);
        let high_item = value!(asm, B32, "shr.u32", "{thread}, {}", PLACES.ilog2());
        let low_item = value!(asm, B32, "and.b32", "{thread}, {}", SIDE - 1);
        let high_place = value!(asm, B32, "shr.u32", "{thread}, {}", SIDE.ilog2());
        let first_item = value!(asm, B32, "selp.b32", "{low_item}, {high_item}, {turned}");
        let first_place = value!(asm, B32, "selp.b32", "{high_place}, {low_place}, {turned}");
        let items = value!(asm, B32, "selp.b32", "0, {}, {turned}", BLOCK_THREADS / PLACES);
        let places = value!(asm, B32, "selp.b32", "{}, 0, {turned}", BLOCK_THREADS / SIDE);
        let slot = value!(asm, B32, "mad.lo.s32", "{first_place}, {PITCH}, {first_item}");
        let to = value!(asm, B32, "mad.lo.s32", "{slot}, {}, {memory}", ty.size());
        let slots = value!(asm, B32, "mad.lo.s32", "{places}, {PITCH}, {items}");
        let slots = value!(asm, B32, "mul.lo.s32", "{slots}, {}", ty.size());
        let begins = (0..COPIED).map(|_| asm.register(Class::B64)).collect();
        let held = (0..COPIED).map(|_| asm.register(Class::of(ty))).collect();
        let from = value!(asm, B32, "mad.lo.s32", "{pair}, {}, {memory}", 2 * ty.size());
        let first = asm.register(Class::B64);
        let (item, place, to) = ((first_item, items), (first_place, places), (to, slots));
        Factor { pool, starts, turned, count, first, item, place, to, begins, held, from, padding }
    }

    /// Emits the loads of the indices at which the rows of the thread's elements begin, for the places from
    /// one on, to below `end`; only where a predicate is true, if there is one.
    fn find(&self, asm: &mut Assembly, place: Reg, end: Reg, only: Option<Reg>) {
        for (at, begin) in self.begins.iter().enumerate() {
            let item = self.nth(asm, self.first, self.item, at);
            let place = self.nth(asm, place, self.place, at);
            let row = asm.select(self.turned, Class::B64, place.into(), item.into());
            let rows = asm.select(self.turned, Class::B64, end.into(), self.count.into());
            let exists = value!(asm, Predicate, "setp.lt.u64", "{row}, {rows}");
            if let Some(only) = only {
                emit!(asm, "and.pred {exists}, {exists}, {only}");
            }
            let start = value!(asm, B64, "mad.lo.u64", "{row}, 8, {}", self.starts);
            emit!(asm, "@{exists} ld.global.b64 {begin}, [{start}]");
        }
    }

    /// Emits the number of the thread's `at`-th item or place, behind a first one; a `u64`.
    fn nth(&self, asm: &mut Assembly, first: Reg, (own, step): (Reg, Reg), at: usize) -> Reg {
        let own = value!(asm, B32, "mad.lo.s32", "{step}, {at}, {own}");
        let own = value!(asm, B64, "cvt.u64.u32", "{own}");
        value!(asm, B64, "add.u64", "{first}, {own}")
    }

    /// Emits the loads of the thread's elements of the places from one on, to below `end`. Then
    /// emits those of the beginnings of rows for the places behind them.
    fn load(&self, asm: &mut Assembly, ty: Ty, place: Reg, end: Reg) {
        for (at, (begin, held)) in self.begins.iter().zip(&self.held).enumerate() {
            let item = self.nth(asm, self.first, self.item, at);
            let place = self.nth(asm, place, self.place, at);
            let inside = value!(asm, Predicate, "setp.lt.u64", "{item}, {}", self.count);
            let inside = value!(asm, Predicate, "setp.lt.and.u64", "{place}, {end}, {inside}");
            let column = asm.select(self.turned, Class::B64, item.into(), place.into());
            let index = value!(asm, B64, "add.u64", "{begin}, {column}");
            let address = value!(asm, B64, "mad.lo.u64", "{index}, {}, {}", ty.size(), self.pool);
            asm.move_to(*held, self.padding.into());
            emit!(asm, "@{inside} ld.global.{} {held}, [{address}]", Class::of(ty).ty());
        }
        let next = value!(asm, B64, "add.u64", "{place}, {PLACES}");
        self.find(asm, next, end, Some(self.turned));
    }

    /// Emits the stores of these elements to shared memory.
    fn store(&self, asm: &mut Assembly, ty: Ty) {
        let (first, step) = self.to;
        for (at, held) in self.held.iter().enumerate() {
            let to = value!(asm, B32, "mad.lo.s32", "{step}, {at}, {first}");
            emit!(asm, "st.shared.{} [{to}], {held}", Class::of(ty).ty());
        }
    }

    /// Emits the loads of the thread's items at a place.
    fn items(&self, asm: &mut Assembly, ty: Ty, place: u32) -> Vec<Reg> {
        let class = Class::of(ty);
        let items: Vec<Reg> = (0..OWN).map(|_| asm.register(class)).collect();
        for (half, pair) in items.chunks(2).enumerate() {
            let offset = (place * PITCH + half as u32 * SIDE / 2) * ty.size() as u32;
            let (a, b) = (pair[0], pair[1]);
            emit!(asm, "ld.shared.v2.{} {{{a}, {b}}}, [{}+{offset}]", class.ty(), self.from);
        }
        items
    }
}

/// Emits the addition of the products of all places in shared memory to sums of the thread.
fn multiply(asm: &mut Assembly, ty: Ty, factors: &[Factor; 2], sums: &[Reg]) {
    for place in 0..PLACES {
        let [rows, columns] = [&factors[0], &factors[1]].map(|factor| factor.items(asm, ty, place));
        for (row, sums) in rows.iter().zip(sums.chunks(OWN as usize)) {
            for (column, sum) in columns.iter().zip(sums) {
                emit!(asm, "fma.rn.{} {sum}, {row}, {column}, {sum}", Class::of(ty).ty());
            }
        }
    }
}

/// Emits the addition of the thread's sums to the result that begins at an address, with so many columns,
/// or their stores if the predicate is false: it has none yet.
fn add(
    asm: &mut Assembly,
    ty: Ty,
    factors: &[Factor; 2],
    (pairs, columns): ([Reg; 2], Reg),
    (result, has_sums): (Reg, Reg),
    sums: &[Reg],
) {
    let mut all = factors.iter().zip(pairs).map(|(factor, pair)| {
        let pair = value!(asm, B64, "cvt.u64.u32", "{pair}");
        let first = value!(asm, B64, "mad.lo.u64", "{pair}, 2, {}", factor.first);
        let mut items = Vec::new();
        for at in 0..OWN {
            let distance = at / 2 * (SIDE / 2) + at % 2;
            let item = value!(asm, B64, "add.u64", "{first}, {distance}");
            let exists = value!(asm, Predicate, "setp.lt.u64", "{item}, {}", factor.count);
            items.push((item, exists));
        }
        items
    });
    let (Some(rows), Some(of_columns)) = (all.next(), all.next()) else { return };
    drop(all);
    for ((row, row_exists), sums) in rows.iter().zip(sums.chunks(OWN as usize)) {
        let row = value!(asm, B64, "mul.lo.u64", "{row}, {columns}");
        for ((column, column_exists), sum) in of_columns.iter().zip(sums) {
            let exists = value!(asm, Predicate, "and.pred", "{row_exists}, {column_exists}");
            let at = value!(asm, B64, "add.u64", "{row}, {column}");
            let to = value!(asm, B64, "mad.lo.u64", "{at}, {}, {result}", ty.size());
            let class = Class::of(ty);
            // Nothing is changed by the addition of -0.
            let (before, reads) = (asm.constant(minus_zero(ty)), asm.register(Class::Predicate));
            emit!(asm, "and.pred {reads}, {exists}, {has_sums}");
            emit!(asm, "@{reads} ld.global.{} {before}, [{to}]", class.ty());
            emit!(asm, "add.rn.{} {before}, {before}, {sum}", class.ty());
            emit!(asm, "@{exists} st.global.{} [{to}], {before}", class.ty());
        }
    }
}

/// Emits the entry that adds up `parts` results of `size` elements each, in order.
fn sums(name: &str, ty: Ty) -> String {
    let (mut code, [parts_of, out], [size, parts]) =
        EntryCode::begin(name, ["of_parts", "out"], ["size", "parts"]);
    let (thread, block, blocks) = (code.thread, code.block, code.blocks);
    let asm = &mut code.asm;
    let class = Class::of(ty);
    let at = asm.register(Class::B64);
    let own = value!(asm, B64, "cvt.u64.u32", "{thread}");
    emit!(asm, "mad.wide.u32 {at}, {block}, {BLOCK_THREADS}, {own}");
    let stride = value!(asm, B64, "mul.wide.u32", "{blocks}, {BLOCK_THREADS}");
    let bytes = value!(asm, B64, "mul.lo.u64", "{size}, {}", ty.size());
    let [from, part] = [(); 2].map(|()| asm.register(Class::B64));
    let [sum, other] = [(); 2].map(|()| asm.register(class));
    code.repeat(|code, _, last| {
        let asm = &mut code.asm;
        let over = value!(asm, Predicate, "setp.ge.u64", "{at}, {size}");
        emit!(asm, "@{over} bra {last}");
        emit!(asm, "mad.lo.u64 {from}, {at}, {}, {parts_of}", ty.size());
        emit!(asm, "ld.global.{} {sum}, [{from}]", class.ty());
        asm.move_to(part, Literal::I64(1).into());
        code.repeat(|code, _, added| {
            let asm = &mut code.asm;
            let over = value!(asm, Predicate, "setp.ge.u64", "{part}, {parts}");
            emit!(asm, "@{over} bra {added}");
            emit!(asm, "add.u64 {from}, {from}, {bytes}");
            emit!(asm, "ld.global.{} {other}, [{from}]", class.ty());
            emit!(asm, "add.rn.{} {sum}, {sum}, {other}", class.ty());
            emit!(asm, "add.u64 {part}, {part}, 1");
        });
        let asm = &mut code.asm;
        let to = value!(asm, B64, "mad.lo.u64", "{at}, {}, {out}", ty.size());
        emit!(asm, "st.global.{} [{to}], {sum}", class.ty());
        emit!(asm, "add.u64 {at}, {at}, {stride}");
    });
    code.finish()
}

/// The float -0 of a type.
fn minus_zero(ty: Ty) -> Literal {
    if ty == Ty::F32 { Literal::F32(1 << 31) } else { Literal::F64(1 << 63) }
}

/// The float 0 of a type.
fn zero(ty: Ty) -> Literal {
    if ty == Ty::F32 { Literal::F32(0) } else { Literal::F64(0) }
}
