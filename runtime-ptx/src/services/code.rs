//! The code of an entry of a service: its parameters, its threads, and the idioms that entries share.
//!
//! Every parameter has 8 bytes. An entry begins as those of kernels do: it has no effect if an
//! earlier launch has failed.

use crate::emit::assembly::{Assembly, Class, Label, Reg, emit};
use crate::emit::collective::shuffle;
use crate::emit::failure;
use crate::emit::frame::BLOCK_THREADS;
use crate::emit::{ENTRY, Target};
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::Ty;
use std::fmt::Write;

/// The number of warps of a block.
pub const WARPS: u32 = BLOCK_THREADS / 32;

/// Emits an instruction whose result is a new register: `value!(asm, B32, "add.s32", "{a}, 1")`.
macro_rules! value {
    ($asm:expr, $class:ident, $name:expr, $($operands:tt)+) => {{
        let d = $asm.register($crate::emit::assembly::Class::$class);
        $asm.instruction(format_args!("{} {d}, {}", $name, format_args!($($operands)+)));
        d
    }};
}
pub(crate) use value;

/// The text of an entry while it is written.
pub struct EntryCode {
    /// The instructions so far.
    pub asm: Assembly,
    /// The index of the thread in its block.
    pub thread: Reg,
    /// The index of the thread in its warp.
    pub lane: Reg,
    /// The index of the warp in its block.
    pub warp: Reg,
    /// The index of the block in the grid.
    pub block: Reg,
    /// The number of blocks of the grid.
    pub blocks: Reg,
    /// The number of blocks that a multiprocessor is to have registers for at least.
    pub resident: u32,
    name: String,
    params: Vec<&'static str>,
    end: Label,
}

impl EntryCode {
    /// Begins an entry that takes the addresses of arrays and then numbers, in 64-bit registers.
    pub fn begin<const ARRAYS: usize, const NUMBERS: usize>(
        name: &str,
        arrays: [&'static str; ARRAYS],
        numbers: [&'static str; NUMBERS],
    ) -> (EntryCode, [Reg; ARRAYS], [Reg; NUMBERS]) {
        // Nothing that newer devices have would make a service shorter.
        let mut asm = Assembly::new(name, Target::default());
        let mut load = |name: &str| value!(asm, B64, "ld.param.u64", "[{name}]");
        let addresses = arrays.map(&mut load);
        let values = numbers.map(&mut load);
        let addresses =
            addresses.map(|address| value!(asm, B64, "cvta.to.global.u64", "{address}"));
        let thread = value!(asm, B32, "mov.u32", "%tid.x");
        let block = value!(asm, B32, "mov.u32", "%ctaid.x");
        let blocks = value!(asm, B32, "mov.u32", "%nctaid.x");
        let lane = value!(asm, B32, "and.b32", "{thread}, 31");
        let warp = value!(asm, B32, "shr.u32", "{thread}, 5");
        let end = asm.label();
        failure::skip_if_failed(&mut asm, end);
        let params = failure::PARAMS.into_iter().chain(arrays).chain(numbers).collect();
        let (name, resident) = (name.to_string(), 1);
        let code =
            EntryCode { asm, thread, lane, warp, block, blocks, resident, name, params, end };
        (code, addresses, values)
    }

    /// Ends the entry, and returns its text.
    pub fn finish(mut self) -> String {
        self.asm.place(self.end);
        emit!(self.asm, "ret");
        let usage = self.asm.usage(BLOCK_THREADS);
        let (mut text, body) = self.asm.finish();
        let params: Vec<String> =
            self.params.iter().map(|name| format!("  .param .u64 {name}")).collect();
        let params = params.join(",\n");
        let (name, resident) = (&self.name, self.resident);
        writeln!(
            text,
            "// {usage}\n{ENTRY}{name}(\n{params}\n)\n.maxntid {BLOCK_THREADS}, 1, 1\n\
             .minnctapersm {resident}\n{body}"
        )
        .or_bug("writing to a string");
        text
    }

    /// The end of the entry.
    pub fn end(&self) -> Label {
        self.end
    }

    /// Emits the end of the entry for all threads of the block, if a condition holds.
    pub fn leave_if(&mut self, condition: Reg) {
        emit!(self.asm, "@{condition} bra {}", self.end);
    }

    /// Emits a barrier of the block.
    pub fn barrier(&mut self) {
        self.asm.barrier();
    }

    /// Declares an array in shared memory; returns its address there, in 32 bits.
    pub fn shared(&mut self, bytes: usize) -> Reg {
        let name = self.asm.shared(bytes);
        value!(self.asm, B32, "mov.u32", "{name}")
    }

    /// Emits what only the first thread of the block does.
    pub fn first_thread(&mut self, emit: impl FnOnce(&mut EntryCode)) {
        let others = value!(self.asm, Predicate, "setp.ne.s32", "{}, 0", self.thread);
        self.unless(others, emit);
    }

    /// Emits what threads do unless a condition holds.
    pub fn unless(&mut self, condition: Reg, emit: impl FnOnce(&mut EntryCode)) {
        let end = self.asm.label();
        emit!(self.asm, "@{condition} bra {end}");
        emit(self);
        self.asm.place(end);
    }

    /// Emits a loop, which ends with a jump back; `body` is given the labels of its beginning and
    /// behind it.
    pub fn repeat(&mut self, body: impl FnOnce(&mut EntryCode, Label, Label)) {
        let (head, end) = (self.asm.label(), self.asm.label());
        self.asm.place(head);
        body(self, head, end);
        emit!(self.asm, "bra {head}");
        self.asm.place(end);
    }

    /// Emits a loop over tasks by their numbers below `tasks`, of which each block takes every n-th; `body` is
    /// given the number.
    pub fn each_task(&mut self, tasks: Reg, body: impl FnOnce(&mut EntryCode, Reg)) {
        let task = value!(self.asm, B64, "cvt.u64.u32", "{}", self.block);
        let stride = value!(self.asm, B64, "cvt.u64.u32", "{}", self.blocks);
        self.repeat(|code, _, end| {
            let over = value!(code.asm, Predicate, "setp.ge.u64", "{task}, {tasks}");
            emit!(code.asm, "@{over} bra {end}");
            body(code, task);
            emit!(code.asm, "add.u64 {task}, {task}, {stride}");
        });
    }

    /// Emits the sum of the values of the threads before each thread of the block, of 32-bit or
    /// 64-bit ints. `sums` is the address of 8 bytes for each warp in shared memory, which no thread
    /// accesses any more.
    pub fn scan_block(&mut self, value: Reg, sums: Reg) -> Reg {
        let (ty, add, bits) = match value.class {
            Class::B64 => (Ty::I64, "add.s64", "b64"),
            _ => (Ty::I32, "add.s32", "b32"),
        };
        let (lane, warp) = (self.lane, self.warp);
        let asm = &mut self.asm;
        let sum = asm.register(value.class);
        asm.move_to(sum, value.into());
        emit!(asm, "bar.warp.sync -1");
        for distance in [1, 2, 4, 8, 16] {
            let other = shuffle(asm, "up", ty, sum, distance, 0);
            let has = value!(asm, Predicate, "setp.ge.s32", "{lane}, {distance}");
            emit!(asm, "@{has} {add} {sum}, {sum}, {other}");
        }
        let slot = value!(asm, B32, "mad.lo.s32", "{warp}, 8, {sums}");
        let is_last = value!(asm, Predicate, "setp.eq.s32", "{lane}, 31");
        emit!(asm, "@{is_last} st.shared.{bits} [{slot}], {sum}");
        asm.barrier();
        emit!(asm, "sub.{} {sum}, {sum}, {value}", &add[4..]);
        let other = asm.register(value.class);
        for before in 0..WARPS - 1 {
            let is_before = value!(asm, Predicate, "setp.gt.u32", "{warp}, {before}");
            emit!(asm, "ld.shared.{bits} {other}, [{sums}+{}]", 8 * before);
            emit!(asm, "@{is_before} {add} {sum}, {sum}, {other}");
        }
        sum
    }
}
