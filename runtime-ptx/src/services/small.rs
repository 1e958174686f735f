//! A sort of at most [`SMALL_KEYS`] keys: one block, one launch, all digits in shared memory.

use super::code::{EntryCode, value};
use super::order::{DIGIT_BITS, KeyOrder};
use super::tile::{TileMemory, exchange};
use crate::emit::assembly::{Class, Reg, emit};
use crate::emit::frame::BLOCK_THREADS;

/// The keys of a thread.
const THREAD_KEYS: u32 = 8;

/// The number of keys that a block sorts.
pub const SMALL_KEYS: u32 = THREAD_KEYS * BLOCK_THREADS;

/// Emits the entry `(keys, out, count)`, which writes the sorted keys, or their ranks.
pub fn entry(name: &str, order: KeyOrder, ranks: bool) -> String {
    let (mut code, [keys, out], [count]) = EntryCode::begin(name, ["keys", "out"], ["count"]);
    let memory = TileMemory::new(&mut code);
    let key_bytes = order.keys.size() as u32;
    let exchanged = code.shared((SMALL_KEYS * key_bytes) as usize);
    let indices_exchanged = ranks.then(|| code.shared((SMALL_KEYS * 4) as usize));
    // The place of the thread's first key; the others are 32 places apart.
    let first =
        value!(code.asm, B32, "mad.lo.s32", "{}, {}, {}", code.warp, 32 * THREAD_KEYS, code.lane);
    let count = value!(code.asm, B32, "cvt.u32.u64", "{count}");
    let held = load(&mut code, order, keys, first, count);
    let indices: Vec<Reg> = match ranks {
        true => rows().map(|row| value!(code.asm, B32, "add.s32", "{first}, {row}")).collect(),
        false => Vec::new(),
    };
    let shift = value!(code.asm, B32, "mov.b32", "0");
    code.repeat(|code, next, end| {
        let over =
            value!(code.asm, Predicate, "setp.ge.u32", "{shift}, {}", DIGIT_BITS * order.digits());
        emit!(code.asm, "@{over} bra {end}");
        memory.clear(code);
        code.barrier();
        let digits: Vec<Reg> =
            held.iter().map(|key| order.digit(&mut code.asm, *key, shift)).collect();
        emit!(code.asm, "add.s32 {shift}, {shift}, {DIGIT_BITS}");
        let in_warp = memory.split(code, &digits);
        code.barrier();
        let counts = memory.count(code);
        // If all keys have the same digit they stay where they are.
        let has_all = value!(code.asm, Predicate, "setp.eq.s32", "{}, {SMALL_KEYS}", counts.total);
        let is_done = code.asm.barrier_any(has_all);
        emit!(code.asm, "@{is_done} bra {next}");
        memory.place(code, &counts);
        code.barrier();
        let places = memory.places(code, &digits, &in_warp);
        exchange(code, &places, &held, order.memory(), exchanged);
        if let Some(array) = indices_exchanged {
            exchange(code, &places, &indices, "b32", array);
        }
        code.barrier();
        reload(code, order.memory(), key_bytes, exchanged, first, &held);
        if let Some(array) = indices_exchanged {
            reload(code, "b32", 4, array, first, &indices);
        }
    });
    store(&mut code, order, out, first, count, &held, &indices);
    code.finish()
}

/// The distances of the keys of a thread from its first one.
fn rows() -> impl Iterator<Item = u32> {
    (0..THREAD_KEYS).map(|row| 32 * row)
}

/// Emits the loads of the keys of the thread; behind the end there are last keys.
fn load(code: &mut EntryCode, order: KeyOrder, keys: Reg, first: Reg, count: Reg) -> Vec<Reg> {
    let asm = &mut code.asm;
    let bytes = order.keys.size();
    let address = value!(asm, B64, "mad.wide.u32", "{first}, {bytes}, {keys}");
    let mut held = Vec::with_capacity(THREAD_KEYS as usize);
    for row in rows() {
        let place = value!(asm, B32, "add.s32", "{first}, {row}");
        let inside = value!(asm, Predicate, "setp.lt.u32", "{place}, {count}");
        let key = asm.register(order.class());
        emit!(asm, "mov.{} {key}, {}", order.class().ty(), order.last_key());
        emit!(
            asm,
            "@{inside} ld.global.{} {key}, [{address}+{}]",
            order.memory(),
            row as usize * bytes
        );
        held.push(key);
    }
    held
}

/// Emits the loads of what was exchanged.
fn reload(code: &mut EntryCode, memory: &str, bytes: u32, array: Reg, first: Reg, into: &[Reg]) {
    let address = value!(code.asm, B32, "mad.lo.s32", "{first}, {bytes}, {array}");
    for (row, reg) in rows().zip(into) {
        emit!(code.asm, "ld.shared.{memory} {reg}, [{address}+{}]", row * bytes);
    }
}

/// Emits the stores of the sorted keys, or of the place of each as the rank of its index.
fn store(
    code: &mut EntryCode,
    order: KeyOrder,
    out: Reg,
    first: Reg,
    count: Reg,
    held: &[Reg],
    indices: &[Reg],
) {
    let asm = &mut code.asm;
    for (at, row) in rows().enumerate() {
        let place = value!(asm, B32, "add.s32", "{first}, {row}");
        let inside = value!(asm, Predicate, "setp.lt.u32", "{place}, {count}");
        if let Some(index) = indices.get(at) {
            let address = value!(asm, B64, "mad.wide.u32", "{index}, 8, {out}");
            let rank = asm.register(Class::B64);
            emit!(asm, "cvt.u64.u32 {rank}, {place}");
            emit!(asm, "@{inside} st.global.b64 [{address}], {rank}");
        } else {
            let bytes = order.keys.size();
            let address = value!(asm, B64, "mad.wide.u32", "{place}, {bytes}, {out}");
            emit!(asm, "@{inside} st.global.{} [{address}], {}", order.memory(), held[at]);
        }
    }
}
