//! The stable distribution of a tile of keys by one digit, within a block.
//!
//! ```text
//! split      the lanes of a warp find those with the same digit; the place of each key among the
//!            keys of its warp that have its digit
//! count      thread d: the keys of digit d in each warp and in the tile
//! place      the place of each key in the tile, ordered by digit
//! ```
//!
//! A warp has consecutive keys, 32 in a row: the k-th key of lane l is the (32 · k + l)-th of its
//! warp. So the order of warps, rows and lanes is that of the keys.

use super::code::{EntryCode, WARPS, value};
use super::order::DIGIT_VALUES;
use crate::emit::assembly::{Class, Reg, emit};
use crate::emit::frame::BLOCK_THREADS;

/// The size of the counters of a block in shared memory, in bytes: for each warp one for each value
/// of a digit.
pub const COUNTER_BYTES: u32 = 4 * WARPS * DIGIT_VALUES;

/// The distance of the counters of two warps, in bytes.
const WARP_BYTES: u32 = 4 * DIGIT_VALUES;

/// The shared memory of a distribution, by its addresses.
pub struct TileMemory {
    /// The counters, [`COUNTER_BYTES`].
    pub counters: Reg,
    /// 8 bytes for each warp.
    pub sums: Reg,
    /// The counters of the thread's warp.
    own_counters: Reg,
    /// The counter of the thread's digit for the first warp.
    column: Reg,
}

impl TileMemory {
    /// Declares the memory.
    pub fn new(code: &mut EntryCode) -> TileMemory {
        let counters = code.shared(COUNTER_BYTES as usize);
        let sums = code.shared(8 * WARPS as usize);
        let (thread, warp) = (code.thread, code.warp);
        let own_counters = value!(code.asm, B32, "mad.lo.s32", "{warp}, {WARP_BYTES}, {counters}");
        let column = value!(code.asm, B32, "mad.lo.s32", "{thread}, 4, {counters}");
        TileMemory { counters, sums, own_counters, column }
    }

    /// Emits the clearing of the counters; a barrier must follow.
    pub fn clear(&self, code: &mut EntryCode) {
        let at = value!(code.asm, B32, "mad.lo.s32", "{}, 16, {}", code.thread, self.counters);
        let zero = value!(code.asm, B32, "mov.b32", "0");
        for row in 0..COUNTER_BYTES / (16 * BLOCK_THREADS) {
            let offset = row * 16 * BLOCK_THREADS;
            emit!(code.asm, "st.shared.v4.b32 [{at}+{offset}], {{{zero}, {zero}, {zero}, {zero}}}");
        }
    }

    /// Emits the place of each key of the thread among those of its warp with the same digit, and
    /// counts the keys of the warp. A barrier must follow.
    pub fn split(&self, code: &mut EntryCode, digits: &[Reg]) -> Vec<Reg> {
        let asm = &mut code.asm;
        let below = value!(asm, B32, "mov.u32", "%lanemask_lt");
        emit!(asm, "bar.warp.sync -1");
        let mut places = Vec::with_capacity(digits.len());
        for digit in digits {
            let peers = asm.register(Class::B32);
            emit!(asm, "mov.b32 {peers}, -1");
            // The lanes that agree in each bit.
            for bit in 0..DIGIT_VALUES.ilog2() {
                let masked = value!(asm, B32, "and.b32", "{digit}, {}", 1 << bit);
                let is_zero = value!(asm, Predicate, "setp.eq.s32", "{masked}, 0");
                let zeros = value!(asm, B32, "vote.sync.ballot.b32", "{is_zero}, -1");
                let others = value!(asm, B32, "selp.b32", "0, -1, {is_zero}");
                emit!(asm, "xor.b32 {zeros}, {zeros}, {others}");
                emit!(asm, "and.b32 {peers}, {peers}, {zeros}");
            }
            let before = value!(asm, B32, "and.b32", "{peers}, {below}");
            let before = value!(asm, B32, "popc.b32", "{before}");
            let all = value!(asm, B32, "popc.b32", "{peers}");
            let slot = value!(asm, B32, "mad.lo.s32", "{digit}, 4, {}", self.own_counters);
            let count = value!(asm, B32, "ld.shared.b32", "[{slot}]");
            let sum = value!(asm, B32, "add.s32", "{count}, {all}");
            let is_first = value!(asm, Predicate, "setp.eq.s32", "{before}, 0");
            // All lanes have read the counter before one of them changes it.
            emit!(asm, "bar.warp.sync -1");
            emit!(asm, "@{is_first} st.shared.b32 [{slot}], {sum}");
            emit!(asm, "bar.warp.sync -1");
            places.push(value!(asm, B32, "add.s32", "{count}, {before}"));
        }
        places
    }

    /// Emits the number of keys of the thread's digit: in the tile, and in the warps before each.
    pub fn count(&self, code: &mut EntryCode) -> DigitCounts {
        let asm = &mut code.asm;
        let total = asm.register(Class::B32);
        emit!(asm, "mov.b32 {total}, 0");
        let mut before = Vec::with_capacity(WARPS as usize);
        for warp in 0..WARPS {
            let count =
                value!(asm, B32, "ld.shared.b32", "[{}+{}]", self.column, WARP_BYTES * warp);
            before.push(value!(asm, B32, "mov.b32", "{total}"));
            emit!(asm, "add.s32 {total}, {total}, {count}");
        }
        DigitCounts { total, before }
    }

    /// Emits the place in the tile of the first key of the thread's digit, and leaves in the counters
    /// the place of the first key of each warp and digit. A barrier must follow.
    pub fn place(&self, code: &mut EntryCode, counts: &DigitCounts) -> Reg {
        let first = code.scan_block(counts.total, self.sums);
        let asm = &mut code.asm;
        for (warp, before) in (0..WARPS).zip(&counts.before) {
            let place = value!(asm, B32, "add.s32", "{before}, {first}");
            emit!(asm, "st.shared.b32 [{}+{}], {place}", self.column, WARP_BYTES * warp);
        }
        first
    }

    /// Emits the place of each key of the thread in the tile.
    pub fn places(&self, code: &mut EntryCode, digits: &[Reg], in_warp: &[Reg]) -> Vec<Reg> {
        let asm = &mut code.asm;
        let place = |(digit, in_warp): (&Reg, &Reg)| {
            let slot = value!(asm, B32, "mad.lo.s32", "{digit}, 4, {}", self.own_counters);
            let first = value!(asm, B32, "ld.shared.b32", "[{slot}]");
            value!(asm, B32, "add.s32", "{first}, {in_warp}")
        };
        digits.iter().zip(in_warp).map(place).collect()
    }
}

/// The numbers of keys of a digit.
pub struct DigitCounts {
    /// The keys of the tile.
    pub total: Reg,
    /// The keys of the warps before each.
    before: Vec<Reg>,
}

/// Emits the store of a value of each key at its place in an array in shared memory.
pub fn exchange(code: &mut EntryCode, places: &[Reg], values: &[Reg], memory: &str, array: Reg) {
    let bytes = match memory {
        "b64" => 8,
        "b32" => 4,
        _ => 1,
    };
    for (place, value) in places.iter().zip(values) {
        let slot = value!(code.asm, B32, "mad.lo.s32", "{place}, {bytes}, {array}");
        emit!(code.asm, "st.shared.{memory} [{slot}], {value}");
    }
}
