//! Histograms of ints: a table of each block in shared memory, if the bins fit there.
//!
//! ```text
//! before the first work item    the table of the block, of elements that change nothing
//! at each work item             an atomic update of the table
//! after the last one            an atomic update of each bin that was changed, in global memory
//! ```
//!
//! The launcher decides, by the numbers of work items and bins, and passes the number of bins; 0 if
//! each work item updates global memory itself. The results are the same: only operators whose order
//! does not matter have atomic instructions. The sums of 64 bits are updated as two words, with a
//! carry: devices have no instruction for them in shared memory, and would try again and again.

use super::address::AddressSpace;
use super::assembly::{Assembly, Class, Operand, Reg, emit};
use super::collective::{self, ThreadIds};
use super::plan::{Area, Pass, Plan};
use super::shape::{BLOCK_THREADS, area_name};
use nesl_runtime::kir::{Combine, Literal, Ty, Value};

/// The shared memory for the tables of a block, in bytes: as many blocks as a multiprocessor has
/// threads for have that much.
pub const TABLES_BYTES: u64 = 16 << 10;

/// The table of a block for a histogram.
#[derive(Clone, Copy, Debug)]
pub struct SharedTable {
    /// The parameter that the histogram updates.
    array: Value,
    /// The operator, and the type of the elements.
    combine: (Combine, Ty),
    /// The number of bins; 0 if the block has no table.
    bins: Reg,
    /// The address in shared memory.
    base: Reg,
}

impl SharedTable {
    /// Emits the registers for the tables of a pass.
    pub fn load(asm: &mut Assembly, plan: &Plan, pass: Pass) -> Vec<SharedTable> {
        let mut tables: Vec<SharedTable> = Vec::new();
        for (number, area) in plan.areas.iter().enumerate() {
            let Area::Table(array, combine, ty) = *area else { continue };
            if pass != Pass::Final {
                continue;
            }
            let (bins, base) = (asm.param(&area_name(number)), asm.register(Class::B32));
            match tables.last() {
                None => {
                    let name = asm.shared(TABLES_BYTES as usize);
                    emit!(asm, "mov.u32 {base}, {name}");
                }
                Some(before) => {
                    let bins = asm.register(Class::B32);
                    emit!(asm, "cvt.u32.u64 {bins}, {}", before.bins);
                    emit!(asm, "mad.lo.s32 {base}, {bins}, {SLOT_BYTES}, {}", before.base);
                }
            }
            tables.push(SharedTable { array, combine: (combine, ty), bins, base });
        }
        tables
    }

    /// Emits the beginning of the tables of the block, by all of its threads.
    pub fn clear(asm: &mut Assembly, ids: &ThreadIds, tables: &[SharedTable]) {
        for table in tables {
            table.each_bin(asm, ids, |asm, slot, _| {
                let neutral = asm.constant(table.neutral());
                asm.store(table.combine.1, AddressSpace::Shared, slot, neutral.into());
            });
        }
        if !tables.is_empty() {
            asm.barrier();
        }
    }

    /// Emits the updates of global memory by the tables of the block, by all of its threads.
    /// `array` gives the address of a parameter.
    pub fn merge(
        asm: &mut Assembly,
        ids: &ThreadIds,
        tables: &[SharedTable],
        array: impl Fn(&mut Assembly, Value) -> Reg,
    ) {
        if !tables.is_empty() {
            asm.barrier();
        }
        for table in tables {
            let to = array(asm, table.array);
            let (combine, ty) = table.combine;
            table.each_bin(asm, ids, |asm, slot, bin| {
                let element = asm.load(ty, AddressSpace::Shared, slot);
                let (idle, next) = (asm.register(Class::Predicate), asm.label());
                let neutral: Operand = asm.constant(table.neutral()).into();
                emit!(asm, "setp.eq.{} {idle}, {element}, {neutral}", element.class.ty());
                emit!(asm, "@{idle} bra {next}");
                let address = asm.element_address(to, bin.into(), ty.size());
                collective::update(asm, combine, ty, address, element.into());
                asm.place(next);
            });
        }
    }

    fn neutral(&self) -> Literal {
        self.combine.0.neutral(self.combine.1)
    }

    /// Emits a loop of the threads of the block over the bins, which `body` is given after the
    /// addresses of their slots.
    fn each_bin(
        &self,
        asm: &mut Assembly,
        ids: &ThreadIds,
        body: impl FnOnce(&mut Assembly, Reg, Reg),
    ) {
        let bin = asm.convert(Ty::I32, Ty::I64, ids.thread.into());
        let (head, end) = (asm.label(), asm.label());
        asm.place(head);
        let over = asm.register(Class::Predicate);
        emit!(asm, "setp.ge.u64 {over}, {bin}, {}", self.bins);
        emit!(asm, "@{over} bra {end}");
        let slot = self.slot(asm, bin.into());
        body(asm, slot, bin);
        emit!(asm, "add.s64 {bin}, {bin}, {BLOCK_THREADS}");
        emit!(asm, "bra {head}");
        asm.place(end);
    }

    /// The table of a histogram among these, if it has one.
    pub fn find(
        tables: &[SharedTable],
        array: Value,
        combine: (Combine, Ty),
    ) -> Option<&SharedTable> {
        tables.iter().find(|table| table.array == array && table.combine == combine)
    }

    /// Emits the question whether the block has no table.
    pub fn is_missing(&self, asm: &mut Assembly) -> Reg {
        let none = asm.register(Class::Predicate);
        emit!(asm, "setp.eq.s64 {none}, {}, 0", self.bins);
        none
    }

    /// Emits the address of the slot of a bin.
    fn slot(&self, asm: &mut Assembly, bin: Operand) -> Reg {
        let (number, slot) = (asm.register(Class::B32), asm.register(Class::B32));
        emit!(asm, "cvt.u32.u64 {number}, {bin}");
        emit!(asm, "mad.lo.s32 {slot}, {number}, {SLOT_BYTES}, {}", self.base);
        slot
    }

    /// Emits an atomic update of the slot of a bin.
    pub fn update(&self, asm: &mut Assembly, bin: Operand, value: Operand) {
        let [bin, value] = [bin, value].map(|operand| match operand {
            Operand::Reg(reg) => reg,
            Operand::Constant(literal) => asm.constant(literal),
        });
        let slot = self.slot(asm, bin.into());
        match self.combine {
            (Combine::Add, Ty::I64) => {
                let [low, high, before, after] = [(); 4].map(|()| asm.register(Class::B32));
                emit!(asm, "mov.b64 {{{low}, {high}}}, {value}");
                emit!(asm, "atom.relaxed.cta.shared.add.u32 {before}, [{slot}], {low}");
                emit!(asm, "add.s32 {after}, {before}, {low}");
                let carries = asm.register(Class::Predicate);
                emit!(asm, "setp.lt.u32 {carries}, {after}, {low}");
                emit!(asm, "@{carries} add.s32 {high}, {high}, 1");
                let done = asm.register(Class::Predicate);
                emit!(asm, "setp.eq.s32 {done}, {high}, 0");
                emit!(asm, "@!{done} red.relaxed.cta.shared.add.u32 [{slot}+4], {high}");
            }
            (combine, ty) => {
                if let Some(name) = collective::atomic_name(combine, ty) {
                    emit!(asm, "red.relaxed.cta.shared.{name} [{slot}], {value}");
                }
            }
        }
    }
}

/// The size of the slot of a bin, in bytes.
pub const SLOT_BYTES: u64 = 8;
