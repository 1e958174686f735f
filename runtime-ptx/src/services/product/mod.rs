//! Products of matrices of floats: tiles of the result, of 64 by 64 elements, one for each block at a time.
//!
//! ```text
//! out[i][j] = the sum of left(i, k) * right(j, k) over all k
//!
//! for each 16 places along k:     the block copies 64 rows of both factors to shared memory
//!   for each place:               a thread adds products to its 16 sums, in registers
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `factor` | a factor on its way to shared memory; it may be given by its columns |
//! | `sums` | the sums of a thread: multiplications with addition, or products of small matrices by a warp |
//!
//! While the block computes with some places, its loads of the next ones are under way.
//!
//! The order of all additions is that of [`nesl_runtime::services::product`], so that the bits of the result
//! are the same as on a CPU: within a chunk of places in ascending order, each with its multiplication in
//! one rounding; then chunk after chunk; and where a small result is the sum of much, part after part. Parts
//! are tasks of their own here, which a second launch adds up.

mod factor;
mod sums;

use super::code::{EntryCode, value};
use super::steps::{Argument, Steps};
use crate::emit::Target;
use crate::emit::assembly::{Assembly, Class, Reg, emit};
use crate::emit::failure;
use crate::emit::frame::BLOCK_THREADS;
use factor::{Factor, PLACES, SIDE};
use nesl_runtime::kir::{Literal, Ty};
use nesl_runtime::services::product::{CHUNK, PART_CHUNKS, is_in_parts};
use sums::{Sums, Way};

/// The number of entries.
pub const ENTRIES: usize = 2;

/// The entries by number: tiles of a result or of its parts, and the sums of parts.
const TILES_ENTRY: usize = 0;
const SUMS_ENTRY: usize = 1;

/// The columns of tiles that are computed row by row before the next columns: as many tiles at a time as a
/// large device holds lie in a square then, so that the factors they read stay in its cache.
const GROUP_TILES: u32 = 16;

/// The sums of a thread whose earlier values are loaded together: as many as a row has, or a part of these.
const LOADED_SUMS: usize = 4;

/// The places between two looks of a block at the interrupt word; a power of two.
const INTERRUPT_POLL_PLACES: u32 = 4096;

/// Emits the entries, under names by their numbers.
pub fn emit(ty: Ty, target: Target, name: impl Fn(usize) -> String) -> Vec<String> {
    vec![tiles(&name(TILES_ENTRY), ty, Way::of(ty, target)), sums_of_parts(&name(SUMS_ENTRY), ty)]
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
fn tiles(name: &str, ty: Ty, way: Way) -> String {
    let (mut code, [left, left_starts, right, right_starts, out], numbers) = EntryCode::begin(
        name,
        ["left", "left_starts", "right", "right_starts", "out"],
        ["left_turned", "right_turned", "rows", "columns", "depth", "part", "tiles", "tasks"],
    );
    let [left_turned, right_turned, rows, columns, depth, part, tiles, tasks] = numbers;
    // One block computes while another one waits for its loads.
    code.resident = 2;
    let factors = [
        ([left, left_starts, left_turned, rows], minus_zero(ty)),
        ([right, right_starts, right_turned, columns], zero(ty)),
    ]
    .map(|(of, padding)| Factor::new(&mut code, ty, of, way.layouts(), padding));
    let sums = Sums::new(&mut code, way, ty, &factors);
    let asm = &mut code.asm;
    let [down, across] = [rows, columns].map(|count| {
        let tiles = value!(asm, B64, "add.s64", "{count}, {}", SIDE - 1);
        value!(asm, B64, "shr.u64", "{tiles}, {}", SIDE.ilog2())
    });
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
        sums.registers.iter().for_each(|sum| asm.move_to(*sum, zero.into()));
        factors.iter().for_each(|factor| factor.begin(asm, place, end));
        load(asm, &factors, place, end);
        code.repeat(|code, _, computed| {
            // The block no longer reads what it stored before.
            code.barrier();
            let asm = &mut code.asm;
            factors.iter().for_each(|factor| factor.store(asm));
            emit!(asm, "add.u64 {place}, {place}, {PLACES}");
            emit!(asm, "add.u64 {done}, {done}, {PLACES}");
            let is_last = value!(asm, Predicate, "setp.ge.u64", "{place}, {end}");
            // The loads stand before the barrier: behind it the compiler would move them to where their
            // results are needed, and the block would wait for each.
            load(asm, &factors, place, end);
            code.barrier();
            let asm = &mut code.asm;
            sums.multiply(asm, &factors);
            let within = value!(asm, B64, "sub.u64", "{place}, {begin}");
            let of_chunk = value!(asm, B64, "and.b64", "{within}, {}", CHUNK - 1);
            let (goes_on, added) = (asm.register(Class::Predicate), asm.label());
            emit!(asm, "setp.ne.u64 {goes_on}, {of_chunk}, 0");
            let more = value!(asm, Predicate, "not.pred", "{is_last}");
            emit!(asm, "and.pred {goes_on}, {goes_on}, {more}");
            emit!(asm, "@{goes_on} bra {added}");
            let has_sums = value!(asm, Predicate, "setp.gt.u64", "{within}, {CHUNK}");
            add(asm, ty, &factors, columns, (result, has_sums), &sums);
            sums.registers.iter().for_each(|sum| asm.move_to(*sum, zero.into()));
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

/// Emits the loads of the elements of both factors at the places from one on, to below `end`.
fn load(asm: &mut Assembly, factors: &[Factor; 2], place: Reg, end: Reg) {
    let behind = value!(asm, B64, "add.u64", "{place}, {PLACES}");
    let is_whole = value!(asm, Predicate, "setp.le.u64", "{behind}, {end}");
    factors.iter().for_each(|factor| factor.load(asm, place, end, is_whole));
}

/// Emits the addition of the thread's sums to the result that begins at an address, with so many columns,
/// or their stores if the predicate is false: it has none yet.
fn add(
    asm: &mut Assembly,
    ty: Ty,
    factors: &[Factor; 2],
    columns: Reg,
    (result, has_sums): (Reg, Reg),
    sums: &Sums,
) {
    let mut items = factors.iter().zip([&sums.rows, &sums.columns]).map(|(factor, own)| {
        let first = value!(asm, B64, "cvt.u64.u32", "{}", own.0);
        let first = value!(asm, B64, "add.u64", "{}, {first}", factor.first);
        let mut items = Vec::new();
        for distance in &own.1 {
            let item = value!(asm, B64, "add.u64", "{first}, {distance}");
            let exists = value!(asm, Predicate, "setp.lt.u64", "{item}, {}", factor.count);
            items.push((item, exists));
        }
        items
    });
    let (Some(rows), Some(of_columns)) = (items.next(), items.next()) else { return };
    drop(items);
    let class = Class::of(ty);
    let per_row = of_columns.len();
    for (number, sums) in sums.registers.chunks(LOADED_SUMS).enumerate() {
        let (row, row_exists) = &rows[number * LOADED_SUMS / per_row];
        let row = value!(asm, B64, "mul.lo.u64", "{row}, {columns}");
        // Loads come before stores, so that they are under way together.
        let mut slots = Vec::with_capacity(sums.len());
        let of_columns = of_columns.iter().cycle().skip(number * LOADED_SUMS % per_row);
        for (column, column_exists) in of_columns.take(sums.len()) {
            let exists = value!(asm, Predicate, "and.pred", "{row_exists}, {column_exists}");
            let at = value!(asm, B64, "add.u64", "{row}, {column}");
            let to = value!(asm, B64, "mad.lo.u64", "{at}, {}, {result}", ty.size());
            // Nothing is changed by the addition of -0.
            let (before, reads) = (asm.constant(minus_zero(ty)), asm.register(Class::Predicate));
            emit!(asm, "and.pred {reads}, {exists}, {has_sums}");
            emit!(asm, "@{reads} ld.global.{} {before}, [{to}]", class.ty());
            slots.push((to, exists, before));
        }
        for ((to, exists, before), sum) in slots.iter().zip(sums) {
            emit!(asm, "add.rn.{} {before}, {before}, {sum}", class.ty());
            emit!(asm, "@{exists} st.global.{} [{to}], {before}", class.ty());
        }
    }
}

/// Emits the entry that adds up `parts` results of `size` elements each, in order.
fn sums_of_parts(name: &str, ty: Ty) -> String {
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
