//! The record of a failure in device memory: which launch failed, where, and why.
//!
//! ```text
//! byte   0  u64  key: stage · 2⁵⁶ + index of the work item; the least one is kept
//!        8  u32  lock: 1 while a thread writes the rest
//!       12  u32  kind: 0 none, 1 a check, 2 a check with a text, 3 interrupted
//!       16  u64  launch: the number of the launch that failed; 0 for none
//!       24  u32  site          28  u32  number of details
//!       32  i64  details, 4 of them
//!       64  i64  length of the text
//!       72  u64  the least key of all threads that have failed so far
//!       80  u8   the text, cut at TEXT_BYTES
//!     1024  u32  the word by which the host stops kernels (`driver::stop`)
//! ```
//!
//! A launch begins with a look at `launch`: if an earlier one failed it has no effect. All entries
//! of one launch have its number, and go on. The first work item in the order of the space wins, an
//! earlier stage before a later one. Threads that fail at the same time first agree on the least
//! key, so that hardly more than one thread of a warp takes the lock. A word in the host's memory
//! tells it that there is a failure, so that it reads the record only then; the host resets both
//! when it has reported the failure.

use super::address::AddressSpace;
use super::assembly::{Assembly, Class, Label, Operand, Reg, emit};
use nesl_runtime::kir::{Literal, Site, Ty};

/// The offsets of the record's fields, in bytes.
pub mod offset {
    /// The order of the failure among those of its launch.
    pub const KEY: usize = 0;
    /// The lock of the record.
    pub const LOCK: usize = 8;
    /// The kind of failure.
    pub const KIND: usize = 12;
    /// The number of the launch.
    pub const LAUNCH: usize = 16;
    /// The failure site.
    pub const SITE: usize = 24;
    /// The number of details.
    pub const DETAILS: usize = 28;
    /// The details of the failure.
    pub const DETAIL: usize = 32;
    /// The length of the text, in chars.
    pub const TEXT_LENGTH: usize = 64;
    /// The least key so far, whose thread may still wait for the lock.
    pub const LEAST_KEY: usize = 72;
    /// The text of the failure.
    pub const TEXT: usize = 80;
    /// The interrupt word: not 0 if kernels are to stop. The reset of a record leaves it as it is.
    pub const INTERRUPT: usize = TEXT + super::TEXT_BYTES;
}

/// The length at which a text of a failure is cut, in bytes.
pub const TEXT_BYTES: usize = 944;

/// The size of the record, in bytes.
pub const RECORD_BYTES: usize = offset::INTERRUPT + 8;

/// The key of a record without a failure.
pub const NO_FAILURE: u64 = u64::MAX;

/// The kinds of failures in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// A check did not hold.
    Check = 1,
    /// A `Fail` was executed, with a text.
    Text = 2,
    /// The interrupt word was set.
    Interrupted = 3,
}

/// The position of the stage in a key, in bits; the index of the work item has those below.
pub const STAGE_SHIFT: u32 = 56;

/// The parameters of every entry: the address of the record, the number of the launch, which is not
/// 0, and the address of the word in the memory of the host that tells it of a failure.
pub const PARAMS: [&str; 3] = ["record", "launch", "failed"];

/// The details of a failure.
pub enum Details {
    /// A check, or a `Fail` with its text: an array of `u8`, the memory it is in, its length.
    Program {
        /// The failure site.
        site: Site,
        /// Up to four `i64`.
        detail: Vec<Operand>,
        /// The text of a `Fail`.
        text: Option<(Operand, AddressSpace, Operand)>,
    },
    /// The interrupt word was set.
    Interrupted,
}

/// Emits the look at the record with which an entry begins: it ends at `end` if an earlier launch
/// has failed.
pub fn skip_if_failed(asm: &mut Assembly, end: Label) {
    let goes_on = no_earlier_failed(asm);
    emit!(asm, "@!{goes_on} bra {end}");
}

/// Emits the question whether no earlier launch has failed. All threads see the same, as nobody
/// writes that field of the record with another number.
pub fn no_earlier_failed(asm: &mut Assembly) -> Reg {
    let (record, launch) = (record_address(asm), launch_number(asm));
    let (failed, is_none, is_own) =
        (asm.register(Class::B64), asm.register(Class::Predicate), asm.register(Class::Predicate));
    emit!(asm, "ld.relaxed.gpu.global.u64 {failed}, [{record}+{}]", offset::LAUNCH);
    emit!(asm, "setp.eq.u64 {is_none}, {failed}, 0");
    emit!(asm, "setp.eq.or.u64 {is_own}, {failed}, {launch}, {is_none}");
    is_own
}

/// Emits the question whether a thread is the first one of its block, and no earlier launch has failed.
/// Only that thread looks.
pub fn first_sees_none(asm: &mut Assembly, first: Reg) -> Reg {
    let (record, launch) = (record_address(asm), launch_number(asm));
    let (failed, sees_none) = (asm.constant(Literal::I64(0)), asm.register(Class::Predicate));
    emit!(asm, "@{first} ld.relaxed.gpu.global.u64 {failed}, [{record}+{}]", offset::LAUNCH);
    emit!(asm, "setp.eq.u64 {sees_none}, {failed}, 0");
    emit!(asm, "setp.eq.or.u64 {sees_none}, {failed}, {launch}, {sees_none}");
    emit!(asm, "and.pred {sees_none}, {sees_none}, {first}");
    sees_none
}

/// Emits a look at the interrupt word; the predicate is true if it is set.
pub fn is_interrupted(asm: &mut Assembly) -> Reg {
    let record = record_address(asm);
    let (value, set) = (asm.register(Class::B32), asm.register(Class::Predicate));
    emit!(asm, "ld.relaxed.sys.global.u32 {value}, [{record}+{}]", offset::INTERRUPT);
    emit!(asm, "setp.ne.s32 {set}, {value}, 0");
    set
}

/// Emits a look of a block at the interrupt word once in `every` counts, a power of two; the entry ends at `end`
/// if it is set. `done` is a count that all threads of the block share, and grows by `step` from one look to
/// the next.
pub fn poll_block(asm: &mut Assembly, done: Reg, (every, step): (u32, u32), end: Label) {
    let (low, seldom, goes_on) =
        (asm.register(Class::B64), asm.register(Class::Predicate), asm.label());
    emit!(asm, "and.b64 {low}, {done}, {}", every - 1);
    emit!(asm, "setp.ge.u64 {seldom}, {low}, {step}");
    emit!(asm, "@{seldom} bra {goes_on}");
    let interrupted = is_interrupted(asm);
    let any = asm.barrier_any(interrupted);
    emit!(asm, "@!{any} bra {goes_on}");
    record(asm, 0, Operand::Reg(done), &Details::Interrupted);
    emit!(asm, "bra {end}");
    asm.place(goes_on);
}

fn record_address(asm: &mut Assembly) -> Reg {
    asm.global_param(PARAMS[0])
}

/// Emits the number of the launch.
pub fn launch_number(asm: &mut Assembly) -> Reg {
    asm.param(PARAMS[1])
}

/// Emits the recording of a failure at a work item.
pub fn record(asm: &mut Assembly, stage: usize, index: Operand, details: &Details) {
    let (record, launch) = (record_address(asm), launch_number(asm));
    let host_word = asm.global_param(PARAMS[2]);
    let key = asm.register(Class::B64);
    match stage {
        0 => asm.move_to(key, index),
        stage => emit!(asm, "or.b64 {key}, {index}, {}", (stage as u64) << STAGE_SHIFT),
    }
    let (spin, unlock, retry, end) = (asm.label(), asm.label(), asm.label(), asm.label());
    let least = asm.register(Class::B64);
    emit!(asm, "atom.relaxed.gpu.global.min.u64 {least}, [{record}+{}], {key}", offset::LEAST_KEY);
    skip_if_less(asm, record, offset::LEAST_KEY, key, end);
    // Of the lanes of a warp one takes the lock at a time. What it does with it stands before the
    // jump with which the others try again, so that these do not keep it from going on.
    let (busy, taken) = (asm.register(Class::B32), asm.register(Class::Predicate));
    asm.place(spin);
    emit!(asm, "atom.relaxed.gpu.global.cas.b32 {busy}, [{record}+{}], 0, 1", offset::LOCK);
    emit!(asm, "setp.ne.s32 {taken}, {busy}, 0");
    emit!(asm, "@{taken} bra {retry}");
    emit!(asm, "fence.acq_rel.gpu");
    skip_if_less(asm, record, offset::KEY, key, unlock);
    emit!(asm, "st.relaxed.gpu.global.u64 [{record}+{}], {key}", offset::KEY);
    write_details(asm, record, details);
    emit!(asm, "st.relaxed.gpu.global.u64 [{record}+{}], {launch}", offset::LAUNCH);
    let set = asm.constant(Literal::I32(1));
    emit!(asm, "st.relaxed.sys.global.b32 [{host_word}], {set}");
    asm.place(unlock);
    emit!(asm, "atom.release.gpu.global.exch.b32 {busy}, [{record}+{}], 0", offset::LOCK);
    emit!(asm, "bra {end}");
    asm.place(retry);
    emit!(asm, "bra {spin}");
    asm.place(end);
}

/// Emits a jump that is taken if a field of the record is less than the key.
fn skip_if_less(asm: &mut Assembly, record: Reg, field: usize, key: Reg, to: Label) {
    let (known, less) = (asm.register(Class::B64), asm.register(Class::Predicate));
    emit!(asm, "ld.relaxed.gpu.global.u64 {known}, [{record}+{field}]");
    emit!(asm, "setp.lt.u64 {less}, {known}, {key}");
    emit!(asm, "@{less} bra {to}");
}

fn write_details(asm: &mut Assembly, record: Reg, details: &Details) {
    let kind = match details {
        Details::Program { text: None, .. } => Kind::Check,
        Details::Program { text: Some(_), .. } => Kind::Text,
        Details::Interrupted => Kind::Interrupted,
    };
    write_word(asm, record, offset::KIND, kind as u32);
    let Details::Program { site, detail, text } = details else { return };
    write_word(asm, record, offset::SITE, site.0);
    write_word(asm, record, offset::DETAILS, detail.len() as u32);
    for (at, detail) in detail.iter().enumerate() {
        let value = match *detail {
            Operand::Reg(reg) => reg,
            Operand::Constant(literal) => asm.constant(literal),
        };
        emit!(asm, "st.relaxed.gpu.global.b64 [{record}+{}], {value}", offset::DETAIL + 8 * at);
    }
    if let Some((text, space, length)) = text {
        write_text(asm, record, *text, *space, *length);
    }
}

fn write_word(asm: &mut Assembly, record: Reg, offset: usize, value: u32) {
    let reg = asm.constant(Literal::I32(value as i32));
    emit!(asm, "st.relaxed.gpu.global.b32 [{record}+{offset}], {reg}");
}

fn write_text(
    asm: &mut Assembly,
    record: Reg,
    text: Operand,
    space: AddressSpace,
    length: Operand,
) {
    let cut = asm.register(Class::B64);
    emit!(asm, "min.s64 {cut}, {length}, {TEXT_BYTES}");
    emit!(asm, "st.relaxed.gpu.global.b64 [{record}+{}], {cut}", offset::TEXT_LENGTH);
    let Operand::Reg(text) = text else { return };
    let index = asm.register(Class::B64);
    asm.move_to(index, Literal::I64(0).into());
    let (head, end) = (asm.label(), asm.label());
    asm.place(head);
    let over = asm.register(Class::Predicate);
    emit!(asm, "setp.ge.s64 {over}, {index}, {cut}");
    emit!(asm, "@{over} bra {end}");
    let from = asm.element_address(text, index.into(), 1);
    let byte = asm.load(Ty::U8, space, from);
    let to = asm.element_address(record, index.into(), 1);
    emit!(asm, "st.relaxed.gpu.global.b8 [{to}+{}], {byte}", offset::TEXT);
    emit!(asm, "add.s64 {index}, {index}, 1");
    emit!(asm, "bra {head}");
    asm.place(end);
}
