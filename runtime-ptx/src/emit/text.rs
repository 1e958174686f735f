//! Hashes and comparisons of texts, as code of one thread.
//!
//! The hash is that of [`nesl_runtime::services::text::hash`], bit by bit. Chars are loaded one by
//! one: a text may begin at any address, and the chars around it may not be read.

use super::address::AddressSpace;
use super::assembly::{Assembly, Class, Label, Operand, Reg, emit};
use super::body::WorkItem;
use nesl_runtime::kir::{Extern, Inst, Literal, Ty, Value};
use nesl_runtime::runtime::Reason;

/// The constants of the hash.
const FIRST: i64 = 0x9e37_79b9_7f4a_7c15_u64 as i64;
const SECOND: i64 = 0xd6e8_feb8_6659_fd93_u64 as i64;

/// The number of chars that the hash takes at a time.
const HASHED_CHARS: i64 = 16;

/// A text: the address of its first char, the memory it lies in, and its length.
#[derive(Clone, Copy)]
pub struct Text {
    /// The address of the first char.
    pub chars: Reg,
    /// The memory of the chars.
    pub space: AddressSpace,
    /// The number of chars.
    pub length: Operand,
}

impl WorkItem<'_> {
    /// Emits an intrinsic of one work item.
    pub(super) fn intrinsic(
        &mut self,
        inst: &Inst,
        intrinsic: Extern,
        args: &[Value],
    ) -> Result<(), Reason> {
        match (intrinsic, args) {
            (Extern::HashText, [chars, length, salt]) => {
                let (text, salt) = (self.text(*chars, *length), self.operand(*salt));
                let hash = hash(self.asm, text, salt);
                self.define(inst.results[0], hash);
                Ok(())
            }
            (Extern::SameText, [a, m, b, n]) => {
                let (a, b) = (self.text(*a, *m), self.text(*b, *n));
                let same = same(self.asm, a, b);
                self.define(inst.results[0], same);
                Ok(())
            }
            _ => Err(Reason::Intrinsic(intrinsic)),
        }
    }

    fn text(&mut self, chars: Value, length: Value) -> Text {
        let space = self.spaces.of(chars);
        Text { chars: self.register(chars), space, length: self.operand(length) }
    }
}

/// Emits the hash of a text.
pub fn hash(asm: &mut Assembly, text: Text, salt: Operand) -> Reg {
    let Text { chars, space, length } = text;
    let [salted, sized, hash, at, rest, head] = [(); 6].map(|()| asm.register(Class::B64));
    emit!(asm, "xor.b64 {salted}, {salt}, {FIRST}");
    emit!(asm, "xor.b64 {sized}, {length}, {SECOND}");
    let begin = fold(asm, salted, sized);
    asm.move_to(hash, begin.into());
    asm.move_to(at, chars.into());
    asm.move_to(rest, length);
    let (next, tail) = (asm.label(), asm.label());
    asm.place(next);
    jump_unless_more(asm, rest, HASHED_CHARS, tail);
    let (a, b) = (word(asm, space, at, 0, 8), word(asm, space, at, 8, 8));
    step(asm, hash, a, b);
    emit!(asm, "add.s64 {at}, {at}, {HASHED_CHARS}");
    emit!(asm, "sub.s64 {rest}, {rest}, {HASHED_CHARS}");
    emit!(asm, "bra {next}");
    asm.place(tail);
    let (first, last) = ends(asm, space, at, rest);
    step(asm, hash, first, last);
    emit!(asm, "xor.b64 {head}, {length}, {SECOND}");
    fold(asm, head, hash)
}

/// Emits `hash := fold(a ^ FIRST, b ^ hash)`.
fn step(asm: &mut Assembly, hash: Reg, a: Reg, b: Reg) {
    let (x, y) = (asm.register(Class::B64), asm.register(Class::B64));
    emit!(asm, "xor.b64 {x}, {a}, {FIRST}");
    emit!(asm, "xor.b64 {y}, {b}, {hash}");
    let folded = fold(asm, x, y);
    asm.move_to(hash, folded.into());
}

/// Emits the first and the last chars of at most 16, which may overlap.
fn ends(asm: &mut Assembly, space: AddressSpace, at: Reg, count: Reg) -> (Reg, Reg) {
    let [first, last, end] = [(); 3].map(|()| asm.register(Class::B64));
    let [below_8, below_4, done] = [(); 3].map(|()| asm.label());
    emit!(asm, "add.s64 {end}, {at}, {count}");
    jump_unless_more(asm, count, 7, below_8);
    for (target, from, offset) in [(first, at, 0), (last, end, -8)] {
        let loaded = word(asm, space, from, offset, 8);
        asm.move_to(target, loaded.into());
    }
    emit!(asm, "bra {done}");
    asm.place(below_8);
    jump_unless_more(asm, count, 3, below_4);
    for (target, from, offset) in [(first, at, 0), (last, end, -4)] {
        let loaded = word(asm, space, from, offset, 4);
        asm.move_to(target, loaded.into());
    }
    emit!(asm, "bra {done}");
    asm.place(below_4);
    asm.move_to(first, Literal::I64(0).into());
    asm.move_to(last, Literal::I64(0).into());
    jump_unless_more(asm, count, 0, done);
    // The first char, the middle one, the last one.
    let middle = asm.register(Class::B64);
    emit!(asm, "shr.u64 {middle}, {count}, 1");
    emit!(asm, "add.s64 {middle}, {middle}, {at}");
    let [a, b, c] =
        [(at, 0), (middle, 0), (end, -1)].map(|(from, offset)| word(asm, space, from, offset, 1));
    emit!(asm, "shl.b64 {a}, {a}, 16");
    emit!(asm, "shl.b64 {b}, {b}, 8");
    emit!(asm, "or.b64 {first}, {a}, {b}");
    asm.move_to(last, c.into());
    asm.place(done);
    (first, last)
}

/// Emits a jump that is taken if a number is not more than a constant.
fn jump_unless_more(asm: &mut Assembly, number: Reg, than: i64, to: Label) {
    let not_more = asm.register(Class::Predicate);
    emit!(asm, "setp.le.s64 {not_more}, {number}, {than}");
    emit!(asm, "@{not_more} bra {to}");
}

/// Emits the load of `count` chars, the first in the lowest bits; at most 8.
fn word(asm: &mut Assembly, space: AddressSpace, from: Reg, offset: i64, count: u32) -> Reg {
    let suffix = space.suffix();
    // Of each half of the word.
    let mut halves = Vec::new();
    for half in 0..count.div_ceil(4) {
        let sum = asm.register(Class::B32);
        for at in 0..count.min(4) {
            let char = asm.register(Class::B32);
            let offset = offset + i64::from(4 * half + at);
            emit!(asm, "ld{suffix}.u8 {char}, [{from}+{offset}]");
            match at {
                0 => asm.move_to(sum, char.into()),
                _ => {
                    emit!(asm, "shl.b32 {char}, {char}, {}", 8 * at);
                    emit!(asm, "or.b32 {sum}, {sum}, {char}");
                }
            }
        }
        halves.push(sum);
    }
    let word = asm.register(Class::B64);
    match halves[..] {
        [low, high] => emit!(asm, "mov.b64 {word}, {{{low}, {high}}}"),
        _ => emit!(asm, "cvt.u64.u32 {word}, {}", halves[0]),
    }
    word
}

/// Emits both halves of a product, joined.
fn fold(asm: &mut Assembly, a: Reg, b: Reg) -> Reg {
    let [low, high, both] = [(); 3].map(|()| asm.register(Class::B64));
    emit!(asm, "mul.lo.u64 {low}, {a}, {b}");
    emit!(asm, "mul.hi.u64 {high}, {a}, {b}");
    emit!(asm, "xor.b64 {both}, {low}, {high}");
    both
}

/// Emits a predicate that is true if two texts are equal.
pub fn same(asm: &mut Assembly, a: Text, b: Text) -> Reg {
    let same = asm.register(Class::Predicate);
    let [from, to, end] = [(); 3].map(|()| asm.register(Class::B64));
    let (next, done) = (asm.label(), asm.label());
    let [m, n] = [a.length, b.length].map(|length| match length {
        Operand::Reg(reg) => reg,
        Operand::Constant(literal) => asm.constant(literal),
    });
    emit!(asm, "setp.eq.s64 {same}, {m}, {n}");
    emit!(asm, "@!{same} bra {done}");
    asm.move_to(from, a.chars.into());
    asm.move_to(to, b.chars.into());
    emit!(asm, "add.s64 {end}, {from}, {m}");
    asm.place(next);
    let over = asm.register(Class::Predicate);
    emit!(asm, "setp.ge.u64 {over}, {from}, {end}");
    emit!(asm, "@{over} bra {done}");
    let x = asm.load(Ty::U8, a.space, from);
    let y = asm.load(Ty::U8, b.space, to);
    emit!(asm, "add.s64 {from}, {from}, 1");
    emit!(asm, "add.s64 {to}, {to}, 1");
    emit!(asm, "setp.eq.s32 {same}, {x}, {y}");
    emit!(asm, "@{same} bra {next}");
    asm.place(done);
    same
}
