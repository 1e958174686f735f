//! The first launch of a large sort: it counts all digits of all keys, and schedules the passes.
//!
//! ```text
//! each block   counts the digits of its keys in shared memory, and adds them to those of the grid
//! last block   the place of the first key of each digit; the passes that are needed, because not
//!              all keys have one digit there; where each takes its keys from, and brings them to
//! ```
//!
//! The last pass brings keys to the result, the one before it to temporary memory, and so on: the
//! sources follow from the number of passes, which the host does not learn.

use super::area::{KeyArray, Layout, TARGET_SHIFT};
use super::code::{EntryCode, WARPS, value};
use super::order::{DIGIT_BITS, DIGIT_VALUES, KeyOrder};
use crate::emit::assembly::{Class, Reg, emit};
use crate::emit::frame::BLOCK_THREADS;

/// The keys that a thread loads at a time.
const THREAD_KEYS: u32 = 4;

/// The keys that a block loads at a time.
pub const BLOCK_KEYS: u32 = THREAD_KEYS * BLOCK_THREADS;

/// Emits the entry `(keys, area, count)`.
pub fn entry(name: &str, order: KeyOrder, ranks: bool) -> String {
    let (mut code, [keys, area], [count]) = EntryCode::begin(name, ["keys", "area"], ["count"]);
    let layout = Layout { digits: order.digits() };
    let histograms = code.shared((4 * DIGIT_VALUES * layout.digits) as usize);
    let column = value!(code.asm, B32, "mad.lo.s32", "{}, 4, {histograms}", code.thread);
    let zero = value!(code.asm, B32, "mov.b32", "0");
    for digit in 0..layout.digits {
        emit!(code.asm, "st.shared.b32 [{column}+{}], {zero}", 4 * DIGIT_VALUES * digit);
    }
    code.barrier();
    count_digits(&mut code, order, keys, count, histograms);
    code.barrier();
    let own = value!(code.asm, B64, "mad.wide.u32", "{}, 8, {area}", code.thread);
    for digit in 0..layout.digits {
        let sum = value!(code.asm, B32, "ld.shared.b32", "[{column}+{}]", 4 * DIGIT_VALUES * digit);
        let wide = value!(code.asm, B64, "cvt.u64.u32", "{sum}");
        let some = value!(code.asm, Predicate, "setp.ne.s32", "{sum}, 0");
        let offset = 8 * DIGIT_VALUES * digit;
        emit!(code.asm, "@{some} red.relaxed.gpu.global.add.u64 [{own}+{offset}], {wide}");
    }
    leave_unless_last(&mut code, area, layout);
    let passes = places(&mut code, own, count, layout);
    code.first_thread(|code| schedule(code, area, layout, passes, ranks));
    code.finish()
}

/// Emits the loop of a block over its keys.
fn count_digits(code: &mut EntryCode, order: KeyOrder, keys: Reg, count: Reg, histograms: Reg) {
    let (thread, block, blocks) = (code.thread, code.block, code.blocks);
    let bytes = order.keys.size();
    let first = value!(code.asm, B64, "mul.wide.u32", "{block}, {BLOCK_KEYS}");
    let stride = value!(code.asm, B64, "mul.wide.u32", "{blocks}, {BLOCK_KEYS}");
    let own = value!(code.asm, B64, "cvt.u64.u32", "{thread}");
    emit!(code.asm, "add.s64 {first}, {first}, {own}");
    code.repeat(|code, _, end| {
        let asm = &mut code.asm;
        let over = value!(asm, Predicate, "setp.ge.s64", "{first}, {count}");
        emit!(asm, "@{over} bra {end}");
        let address = value!(asm, B64, "mad.lo.s64", "{first}, {bytes}, {keys}");
        let rest = value!(asm, B64, "sub.s64", "{count}, {first}");
        let mut loaded = Vec::with_capacity(THREAD_KEYS as usize);
        for row in 0..THREAD_KEYS {
            let offset = row * BLOCK_THREADS;
            let inside = value!(asm, Predicate, "setp.gt.s64", "{rest}, {offset}");
            let key = asm.register(order.class());
            emit!(asm, "mov.{} {key}, 0", order.class().ty());
            emit!(
                asm,
                "@{inside} ld.global.{} {key}, [{address}+{}]",
                order.memory(),
                offset as usize * bytes
            );
            loaded.push((key, inside));
        }
        let one = value!(asm, B32, "mov.b32", "1");
        for (key, inside) in loaded {
            let word = order.word(asm, key);
            for digit in 0..order.digits() {
                let shift = value!(asm, B32, "mov.b32", "{}", DIGIT_BITS * digit);
                let of_key = order.digit_of_word(asm, word, shift);
                let slot = value!(asm, B32, "mad.lo.s32", "{of_key}, 4, {histograms}");
                let offset = 4 * DIGIT_VALUES * digit;
                emit!(asm, "@{inside} red.shared.add.u32 [{slot}+{offset}], {one}");
            }
        }
        emit!(asm, "add.s64 {first}, {first}, {stride}");
    });
}

/// Emits the end of all blocks but the last one to come here, which sees what the others did.
fn leave_unless_last(code: &mut EntryCode, area: Reg, layout: Layout) {
    let flag = code.shared(4);
    emit!(code.asm, "membar.gl");
    code.barrier();
    code.first_thread(|code| {
        let ticket = layout.tickets() + 4 * layout.digits;
        let drawn =
            value!(code.asm, B32, "atom.acq_rel.gpu.global.add.u32", "[{area}+{ticket}], 1");
        emit!(code.asm, "st.shared.b32 [{flag}], {drawn}");
    });
    code.barrier();
    let drawn = value!(code.asm, B32, "ld.shared.b32", "[{flag}]");
    let last = value!(code.asm, B32, "sub.s32", "{}, 1", code.blocks);
    let is_other = value!(code.asm, Predicate, "setp.ne.s32", "{drawn}, {last}");
    code.leave_if(is_other);
}

/// Emits the place of the first key of each digit, where their number was. Returns the passes that are
/// needed, a bit for each; at least one.
fn places(code: &mut EntryCode, own: Reg, count: Reg, layout: Layout) -> Reg {
    let sums = code.shared(8 * WARPS as usize);
    let (passes, bit, at) = (
        code.asm.register(Class::B32),
        code.asm.register(Class::B32),
        code.asm.register(Class::B64),
    );
    emit!(code.asm, "mov.b32 {passes}, 0");
    emit!(code.asm, "mov.b32 {bit}, 1");
    emit!(code.asm, "mov.b64 {at}, {own}");
    code.repeat(|code, _, end| {
        let over = value!(code.asm, Predicate, "setp.ge.u32", "{bit}, {}", 1u32 << layout.digits);
        emit!(code.asm, "@{over} bra {end}");
        let number = value!(code.asm, B64, "ld.relaxed.gpu.global.u64", "[{at}]");
        let has_all = value!(code.asm, Predicate, "setp.eq.s64", "{number}, {count}");
        let is_left_out = code.asm.barrier_any(has_all);
        let needed = value!(code.asm, B32, "selp.b32", "0, {bit}, {is_left_out}");
        emit!(code.asm, "or.b32 {passes}, {passes}, {needed}");
        let place = code.scan_block(number, sums);
        emit!(code.asm, "st.global.u64 [{at}], {place}");
        emit!(code.asm, "add.s64 {at}, {at}, {}", 8 * DIGIT_VALUES);
        emit!(code.asm, "shl.b32 {bit}, {bit}, 1");
        // The sums have been read.
        code.barrier();
    });
    // If all keys are equal, the last pass copies them.
    let none = value!(code.asm, Predicate, "setp.eq.s32", "{passes}, 0");
    value!(code.asm, B32, "selp.b32", "{}, {passes}, {none}", 1u32 << (layout.digits - 1))
}

/// Emits the schedule of the passes.
fn schedule(code: &mut EntryCode, area: Reg, layout: Layout, passes: Reg, ranks: bool) {
    let asm = &mut code.asm;
    let source = value!(asm, B32, "mov.b32", "{}", KeyArray::Keys as u32);
    let last = if ranks { KeyArray::Ranks } else { KeyArray::Out } as u32;
    for digit in 0..layout.digits {
        let bit = value!(asm, B32, "and.b32", "{passes}, {}", 1u32 << digit);
        let is_needed = value!(asm, Predicate, "setp.ne.s32", "{bit}, 0");
        // An even number of later passes brings the keys back here.
        let later = value!(asm, B32, "shr.u32", "{passes}, {}", digit + 1);
        let later = value!(asm, B32, "popc.b32", "{later}");
        let odd = value!(asm, B32, "and.b32", "{later}, 1");
        let is_odd = value!(asm, Predicate, "setp.ne.s32", "{odd}, 0");
        let is_last = value!(asm, Predicate, "setp.eq.s32", "{later}, 0");
        let (out, temporary) = (KeyArray::Out as u32, KeyArray::Temporary as u32);
        let target = value!(asm, B32, "selp.b32", "{temporary}, {out}, {is_odd}");
        emit!(asm, "selp.b32 {target}, {last}, {target}, {is_last}");
        let word = value!(asm, B32, "shl.b32", "{target}, {TARGET_SHIFT}");
        emit!(asm, "or.b32 {word}, {word}, {source}");
        emit!(asm, "selp.b32 {word}, {word}, 0, {is_needed}");
        emit!(asm, "st.global.b32 [{area}+{}], {word}", layout.schedule() + 4 * digit);
        emit!(asm, "@{is_needed} mov.b32 {source}, {target}");
    }
}
