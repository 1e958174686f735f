//! Groups of equal elements, found by a hash table in device memory.
//!
//! ```text
//! insert   each element finds the slot of its group, or takes a free one; the last index and the
//!          number of equal elements are updated by atomics
//! answer   each element looks up the slot that it found
//! ```
//!
//! A slot has 16 bytes, 0 while it is free:
//!
//! ```text
//! byte 0  u64  32 bits of the hash, and the index of the element that took the slot, from 1 on
//!      8  u32  the greatest index        12  u32  the number of elements
//! ```
//!
//! Grouped whose hashes agree are compared with the one that took the slot: ints by value, texts
//! char by char. Who takes which slot depends on the order of threads; the greatest index and the
//! number do not. The lanes of a warp that found the same slot update it once.

use super::code::{EntryCode, value};
use super::steps::{Argument, Steps, TooMany};
use crate::emit::address::AddressSpace;
use crate::emit::assembly::{Class, Operand, Reg, emit};
use crate::emit::frame::BLOCK_THREADS;
use crate::emit::text::{self, Text};
use nesl_runtime::kir::{Literal, Ty};

/// The number of entries.
pub const ENTRIES: usize = 2;

/// The numbers of the entries.
const INSERT_ENTRY: usize = 0;
const ANSWER_ENTRY: usize = 1;

/// The size of a slot, in bytes.
const SLOT_BYTES: u64 = 16;

/// The offset of the greatest index in a slot, in bytes.
const LAST: u64 = 8;

/// The offset of the number of elements in a slot, in bytes.
const COUNT: u64 = 12;

/// The number of slots for each element, so that a free one is near.
const SLOTS_PER_ELEMENT: u64 = 2;

/// The number of elements that can be grouped: their indices, from 1 on, have 32 bits.
const MAX_ELEMENTS: u64 = (1 << 32) - 2;

/// Odd numbers that spread the bits of ints.
const SPREAD: [i64; 2] = [0x9e37_79b9_7f4a_7c15_u64 as i64, 0xd6e8_feb8_6659_fd93_u64 as i64];

/// The type of the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouped {
    /// Ints of a type.
    Ints(Ty),
    /// Texts, by their starts and lengths in an array of chars.
    Texts,
}

/// Emits the entries, under names by their numbers.
pub fn emit(elements: Grouped, name: impl Fn(usize) -> String) -> Vec<String> {
    vec![insert(&name(INSERT_ENTRY), elements), answer(&name(ANSWER_ENTRY))]
}

/// Returns the launches that group `count` elements, given by one array of ints, or by the starts,
/// the lengths and the chars of texts; `resident` are the numbers of blocks of the entries that the
/// device holds at a time.
pub fn steps(
    elements: &[u64],
    count: u64,
    [last, equal]: [u64; 2],
    resident: &[u64],
) -> Result<Steps, TooMany> {
    let mut steps = Steps::default();
    if count == 0 {
        return Ok(steps);
    }
    if count > MAX_ELEMENTS {
        return Err(TooMany { elements: count, limit: MAX_ELEMENTS });
    }
    let [last, equal, number] = [last, equal, count].map(Argument::from);
    let slots = SLOTS_PER_ELEMENT * count;
    let table = steps.temporary(SLOT_BYTES * slots, true);
    let needed = count.div_ceil(u64::from(BLOCK_THREADS));
    let blocks = |entry: usize| needed.min(resident[entry]);
    let mut args: Vec<Argument> = elements.iter().copied().map(Argument::from).collect();
    args.extend([last, table, number, slots.into()]);
    steps.launch(INSERT_ENTRY, blocks(INSERT_ENTRY), args);
    steps.launch(ANSWER_ENTRY, blocks(ANSWER_ENTRY), vec![last, equal, table, number]);
    Ok(steps)
}

/// The arrays of the elements.
#[derive(Clone, Copy)]
enum Arrays {
    Ints(Ty, Reg),
    Texts { starts: Reg, lengths: Reg, chars: Reg },
}

/// An element in registers.
#[derive(Clone, Copy)]
enum Element {
    Int(Reg),
    Text(Text),
}

impl Arrays {
    /// Emits the loads of an element.
    fn load(self, code: &mut EntryCode, index: Reg) -> Element {
        let asm = &mut code.asm;
        match self {
            Arrays::Ints(ty, ints) => {
                let address = asm.element_address(ints, index.into(), ty.size());
                let int = asm.load(ty, AddressSpace::Global, address);
                Element::Int(asm.convert(ty, Ty::I64, int.into()))
            }
            Arrays::Texts { starts, lengths, chars } => {
                let [start, length] = [starts, lengths].map(|array| {
                    let address = asm.element_address(array, index.into(), 8);
                    asm.load(Ty::I64, AddressSpace::Global, address)
                });
                let chars = value!(asm, B64, "add.s64", "{chars}, {start}");
                Element::Text(Text { chars, space: AddressSpace::Global, length: length.into() })
            }
        }
    }
}

impl Element {
    fn hash(self, code: &mut EntryCode) -> Reg {
        let asm = &mut code.asm;
        match self {
            Element::Int(int) => {
                let spread = value!(asm, B64, "xor.b64", "{int}, {}", SPREAD[0]);
                let low = value!(asm, B64, "mul.lo.u64", "{spread}, {}", SPREAD[1]);
                let high = value!(asm, B64, "mul.hi.u64", "{spread}, {}", SPREAD[1]);
                value!(asm, B64, "xor.b64", "{low}, {high}")
            }
            Element::Text(text) => text::hash(asm, text, Operand::Constant(Literal::I64(0))),
        }
    }

    /// Emits a predicate that is true if two elements are equal.
    fn same(self, code: &mut EntryCode, other: Element) -> Reg {
        match (self, other) {
            (Element::Int(a), Element::Int(b)) => {
                value!(code.asm, Predicate, "setp.eq.s64", "{a}, {b}")
            }
            (Element::Text(a), Element::Text(b)) => text::same(&mut code.asm, a, b),
            _ => nesl_runtime::bug!("elements of one array have one type"),
        }
    }
}

/// Emits the entry `(elements…, slots found, table, count, slots)`.
fn insert(name: &str, elements: Grouped) -> String {
    let numbers = ["count", "slots"];
    let (code, arrays, [found, table], numbers) = match elements {
        Grouped::Ints(ty) => {
            let (code, [ints, found, table], numbers) =
                EntryCode::begin(name, ["ints", "found", "table"], numbers);
            (code, Arrays::Ints(ty, ints), [found, table], numbers)
        }
        Grouped::Texts => {
            let names = ["starts", "lengths", "chars", "found", "table"];
            let (code, [starts, lengths, chars, found, table], numbers) =
                EntryCode::begin(name, names, numbers);
            (code, Arrays::Texts { starts, lengths, chars }, [found, table], numbers)
        }
    };
    let [count, slots] = numbers;
    each_element(code, count, |code, index, is_inside| {
        let members = value!(code.asm, B32, "vote.sync.ballot.b32", "{is_inside}, -1");
        let is_outside = value!(code.asm, Predicate, "not.pred", "{is_inside}");
        let slot = code.asm.register(Class::B64);
        code.unless(is_outside, |code| find_slot(code, arrays, index, (table, slots), slot));
        // The lanes meet again.
        emit!(code.asm, "bar.warp.sync -1");
        code.unless(is_outside, |code| update(code, table, slot, index, members));
        code.unless(is_outside, |code| {
            let address = code.asm.element_address(found, index.into(), 8);
            emit!(code.asm, "st.global.b64 [{address}], {slot}");
        });
    })
}

/// Emits a loop of the warps over the elements. All lanes of a warp execute the body; its predicate
/// is true of those that have an element.
fn each_element(
    mut code: EntryCode,
    count: Reg,
    body: impl FnOnce(&mut EntryCode, Reg, Reg),
) -> String {
    let asm = &mut code.asm;
    let index = value!(asm, B64, "cvt.u64.u32", "{}", code.thread);
    let begin = value!(asm, B64, "mul.wide.u32", "{}, {BLOCK_THREADS}", code.block);
    let stride = value!(asm, B64, "mul.wide.u32", "{}, {BLOCK_THREADS}", code.blocks);
    emit!(asm, "add.s64 {index}, {index}, {begin}");
    code.repeat(|code, _, end| {
        let over = value!(code.asm, Predicate, "setp.ge.s64", "{begin}, {count}");
        emit!(code.asm, "@{over} bra {end}");
        let is_inside = value!(code.asm, Predicate, "setp.lt.s64", "{index}, {count}");
        body(code, index, is_inside);
        emit!(code.asm, "add.s64 {index}, {index}, {stride}");
        emit!(code.asm, "add.s64 {begin}, {begin}, {stride}");
    });
    code.finish()
}

/// Emits the search for the slot of an element, from the one that its hash gives on.
fn find_slot(
    code: &mut EntryCode,
    arrays: Arrays,
    index: Reg,
    (table, slots): (Reg, Reg),
    slot: Reg,
) {
    let element = arrays.load(code, index);
    let hash = element.hash(code);
    let asm = &mut code.asm;
    emit!(asm, "mul.hi.u64 {slot}, {hash}, {slots}");
    let tag = value!(asm, B64, "shl.b64", "{hash}, 32");
    let own = value!(asm, B64, "add.s64", "{tag}, {index}");
    emit!(asm, "add.s64 {own}, {own}, 1");
    code.repeat(|code, _, end| {
        let address = code.asm.element_address(table, slot.into(), SLOT_BYTES as usize);
        let taken = value!(code.asm, B64, "ld.relaxed.gpu.global.u64", "[{address}]");
        let is_taken = value!(code.asm, Predicate, "setp.ne.s64", "{taken}, 0");
        code.unless(is_taken, |code| {
            let asm = &mut code.asm;
            emit!(asm, "atom.relaxed.gpu.global.cas.b64 {taken}, [{address}], 0, {own}");
            let is_own = value!(asm, Predicate, "setp.eq.s64", "{taken}, 0");
            emit!(asm, "@{is_own} bra {end}");
        });
        let differing = value!(code.asm, B64, "xor.b64", "{taken}, {tag}");
        let differs = value!(code.asm, Predicate, "setp.ge.u64", "{differing}, {}", 1u64 << 32);
        code.unless(differs, |code| {
            let other = value!(code.asm, B64, "sub.s64", "{differing}, 1");
            let other = arrays.load(code, other);
            let same = element.same(code, other);
            emit!(code.asm, "@{same} bra {end}");
        });
        let asm = &mut code.asm;
        emit!(asm, "add.s64 {slot}, {slot}, 1");
        let is_end = value!(asm, Predicate, "setp.eq.s64", "{slot}, {slots}");
        emit!(asm, "selp.b64 {slot}, 0, {slot}, {is_end}");
    });
}

/// Emits the update of a slot, once for all lanes of the warp that found it.
fn update(code: &mut EntryCode, table: Reg, slot: Reg, index: Reg, members: Reg) {
    let lane = code.lane;
    let asm = &mut code.asm;
    let peers = value!(asm, B32, "match.any.sync.b64", "{slot}, {members}");
    let below = value!(asm, B32, "mov.u32", "%lanemask_lt");
    let before = value!(asm, B32, "and.b32", "{peers}, {below}");
    let is_other = value!(asm, Predicate, "setp.ne.s32", "{before}, 0");
    code.unless(is_other, |code| {
        let asm = &mut code.asm;
        let equal = value!(asm, B32, "popc.b32", "{peers}");
        let greatest = value!(asm, B32, "bfind.u32", "{peers}");
        emit!(asm, "sub.s32 {greatest}, {greatest}, {lane}");
        let own = value!(asm, B32, "cvt.u32.u64", "{index}");
        emit!(asm, "add.s32 {greatest}, {greatest}, {own}");
        let address = asm.element_address(table, slot.into(), SLOT_BYTES as usize);
        emit!(asm, "red.relaxed.gpu.global.max.u32 [{address}+{LAST}], {greatest}");
        emit!(asm, "red.relaxed.gpu.global.add.u32 [{address}+{COUNT}], {equal}");
    });
}

/// Emits the entry `(slots found, equal, table, count)`, which replaces each slot by the greatest
/// index there, and writes the number of equal elements.
fn answer(name: &str) -> String {
    let (code, [found, equal, table], [count]) =
        EntryCode::begin(name, ["found", "equal", "table"], ["count"]);
    each_element(code, count, |code, index, is_inside| {
        let is_outside = value!(code.asm, Predicate, "not.pred", "{is_inside}");
        code.unless(is_outside, |code| {
            let asm = &mut code.asm;
            let [found, equal] =
                [found, equal].map(|array| asm.element_address(array, index.into(), 8));
            let slot = value!(asm, B64, "ld.global.b64", "[{found}]");
            let address = asm.element_address(table, slot.into(), SLOT_BYTES as usize);
            let (last, count) = (asm.register(Class::B32), asm.register(Class::B32));
            emit!(asm, "ld.global.v2.b32 {{{last}, {count}}}, [{address}+{LAST}]");
            for (to, number) in [(found, last), (equal, count)] {
                let number = value!(asm, B64, "cvt.u64.u32", "{number}");
                emit!(asm, "st.global.b64 [{to}], {number}");
            }
        });
    })
}
