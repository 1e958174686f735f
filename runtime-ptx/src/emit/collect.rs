//! The tables of a histogram whose result depends on the order of the updates, one for each part of
//! the items (`program/histogram`).
//!
//! ```text
//! for each part and range of bins of this block:
//!   if the items are sorted: the part is those of the range
//!   a table of the range in shared memory, of elements that change nothing
//!   for each 256 items of the part:
//!     each thread loads one, and leaves it in shared memory if its bin is in the range
//!     each warp goes over all of them, 32 at a time, and adds those whose bins are its own
//!   the table is written
//! ```
//!
//! A bin belongs to one warp, which takes the items in order: lanes that have the same bin take
//! turns, the lower ones first. So the result of a part is that of a loop over it, and items are
//! loaded by neighbouring threads.

use super::address::AddressSpace;
use super::assembly::{Assembly, Class, Label, Reg, emit};
use super::collective::WARP_THREADS;
use super::failure;
use super::frame::Entry;
use super::program::{Collect, RANGE_BINS, untouched};
use super::shape::BLOCK_THREADS;
use nesl_runtime::kir::{Combine, Literal, Ty};

/// The number of warps of a block; a power of two.
const WARPS: u32 = BLOCK_THREADS / WARP_THREADS;

/// The slot of an item that is not in the range, or not there.
const NO_SLOT: i32 = -1;

/// The number of items between two looks at the interrupt word; a power of two.
const INTERRUPT_POLL_ITEMS: u32 = 1024 * BLOCK_THREADS;

/// The arrays in the shared memory of a block, by their addresses.
struct Shared {
    /// The table of the range.
    table: Reg,
    /// The slot in the table of each of the items at hand, an `i32`.
    slots: Reg,
    /// The value of each of the items at hand.
    values: Reg,
}

impl Collect {
    /// Emits the code of all blocks; `end` is the end of the entry.
    pub fn emit(&self, asm: &mut Assembly, entry: &Entry<'_>, end: Label) {
        let [threads, items, bins, ranges, part_items, range_bins, sorted] =
            self.sizes.map(|size| entry.array(asm, size));
        let shared = [self.ty.size() as u32 * RANGE_BINS, 4 * BLOCK_THREADS, 8 * BLOCK_THREADS];
        let [table, slots, values] = shared.map(|bytes| {
            let (name, address) = (asm.shared(bytes as usize), asm.register(Class::B32));
            emit!(asm, "mov.u32 {address}, {name}");
            address
        });
        let shared = Shared { table, slots, values };
        let [task, tasks, blocks] = [(); 3].map(|()| asm.register(Class::B64));
        emit!(asm, "cvt.u64.u32 {task}, {}", entry.frame.ids.block);
        emit!(asm, "cvt.u64.u32 {blocks}, {}", entry.frame.ids.blocks);
        emit!(asm, "shr.u64 {tasks}, {threads}, {}", BLOCK_THREADS.ilog2());
        let head = asm.label();
        asm.place(head);
        let over = asm.register(Class::Predicate);
        emit!(asm, "setp.ge.s64 {over}, {task}, {tasks}");
        emit!(asm, "@{over} bra {end}");
        let [part, range, low, high, from, to] = [(); 6].map(|()| asm.register(Class::B64));
        emit!(asm, "div.u64 {part}, {task}, {ranges}");
        emit!(asm, "rem.u64 {range}, {task}, {ranges}");
        emit!(asm, "mul.lo.s64 {low}, {range}, {range_bins}");
        emit!(asm, "add.s64 {high}, {low}, {range_bins}");
        emit!(asm, "min.s64 {high}, {high}, {bins}");
        let (whole, width) = (asm.register(Class::B64), asm.register(Class::B32));
        emit!(asm, "sub.s64 {whole}, {high}, {low}");
        emit!(asm, "cvt.u32.u64 {width}, {whole}");
        let neutral = asm.constant(untouched(self.combine, self.ty));
        self.each_slot(asm, entry, &shared, width, |asm, address, _| {
            asm.store(self.ty, AddressSpace::Shared, address, neutral.into());
        });
        emit!(asm, "mul.lo.s64 {from}, {part}, {part_items}");
        emit!(asm, "add.s64 {to}, {from}, {part_items}");
        emit!(asm, "min.s64 {to}, {to}, {items}");
        let (any_order, known) = (asm.register(Class::Predicate), asm.label());
        emit!(asm, "setp.eq.s64 {any_order}, {sorted}, 0");
        emit!(asm, "@{any_order} bra {known}");
        let array = entry.array(asm, self.bins);
        first_not_below(asm, (array, items), low, from);
        first_not_below(asm, (array, items), high, to);
        asm.place(known);
        // What was filled is seen by all, and so is each table before it is written.
        asm.barrier();
        let (next, done) = (asm.label(), asm.label());
        asm.place(next);
        let over = asm.register(Class::Predicate);
        emit!(asm, "setp.ge.s64 {over}, {from}, {to}");
        emit!(asm, "@{over} bra {done}");
        self.load(asm, entry, &shared, (from, to, low, whole));
        asm.barrier();
        self.add(asm, entry, &shared);
        asm.barrier();
        emit!(asm, "add.s64 {from}, {from}, {BLOCK_THREADS}");
        failure::poll_block(asm, from, (INTERRUPT_POLL_ITEMS, BLOCK_THREADS), end);
        emit!(asm, "bra {next}");
        asm.place(done);
        let first = asm.register(Class::B64);
        emit!(asm, "mad.lo.s64 {first}, {part}, {bins}, {low}");
        let tables = entry.array(asm, self.tables);
        let first = asm.element_address(tables, first.into(), self.ty.size());
        self.each_slot(asm, entry, &shared, width, |asm, address, slot| {
            let element = asm.load(self.ty, AddressSpace::Shared, address);
            let slot = asm.convert(Ty::I32, Ty::I64, slot.into());
            let to = asm.element_address(first, slot.into(), self.ty.size());
            asm.store(self.ty, AddressSpace::Global, to, element.into());
        });
        asm.barrier();
        emit!(asm, "add.s64 {task}, {task}, {blocks}");
        emit!(asm, "bra {head}");
    }

    /// Emits a loop of the threads of the block over the slots of the table, which `body` is given
    /// with their addresses.
    fn each_slot(
        &self,
        asm: &mut Assembly,
        entry: &Entry<'_>,
        shared: &Shared,
        width: Reg,
        body: impl FnOnce(&mut Assembly, Reg, Reg),
    ) {
        let slot = asm.register(Class::B32);
        asm.move_to(slot, entry.frame.ids.thread.into());
        let (head, end) = (asm.label(), asm.label());
        asm.place(head);
        let over = asm.register(Class::Predicate);
        emit!(asm, "setp.ge.u32 {over}, {slot}, {width}");
        emit!(asm, "@{over} bra {end}");
        let address = in_shared(asm, shared.table, slot, self.ty.size());
        body(asm, address, slot);
        emit!(asm, "add.s32 {slot}, {slot}, {BLOCK_THREADS}");
        emit!(asm, "bra {head}");
        asm.place(end);
    }

    /// Emits the load of an item of each thread: its slot, and its value if it has one.
    fn load(
        &self,
        asm: &mut Assembly,
        entry: &Entry<'_>,
        shared: &Shared,
        (from, to, low, width): (Reg, Reg, Reg, Reg),
    ) {
        let thread = entry.frame.ids.thread;
        let (index, slot) = (asm.register(Class::B64), asm.register(Class::B32));
        emit!(asm, "cvt.u64.u32 {index}, {thread}");
        emit!(asm, "add.s64 {index}, {from}, {index}");
        emit!(asm, "mov.b32 {slot}, {NO_SLOT}");
        let (outside, loaded) = (asm.register(Class::Predicate), asm.label());
        emit!(asm, "setp.ge.s64 {outside}, {index}, {to}");
        emit!(asm, "@{outside} bra {loaded}");
        let array = entry.array(asm, self.bins);
        let address = asm.element_address(array, index.into(), Ty::I64.size());
        let bin = asm.load(Ty::I64, AddressSpace::Global, address);
        emit!(asm, "sub.s64 {bin}, {bin}, {low}");
        let other = asm.register(Class::Predicate);
        emit!(asm, "setp.ge.u64 {other}, {bin}, {width}");
        emit!(asm, "@{other} bra {loaded}");
        emit!(asm, "cvt.u32.u64 {slot}, {bin}");
        let array = entry.array(asm, self.values);
        let address = asm.element_address(array, index.into(), self.ty.size());
        let value = asm.load(self.ty, AddressSpace::Global, address);
        let address = in_shared(asm, shared.values, thread, self.ty.size());
        asm.store(self.ty, AddressSpace::Shared, address, value.into());
        asm.place(loaded);
        let address = in_shared(asm, shared.slots, thread, 4);
        asm.store(Ty::I32, AddressSpace::Shared, address, slot.into());
    }

    /// Emits the additions of a warp: the items at hand whose slots are its own, in order.
    fn add(&self, asm: &mut Assembly, entry: &Entry<'_>, shared: &Shared) {
        let [warp, lane, below, item] = [(); 4].map(|()| asm.register(Class::B32));
        emit!(asm, "shr.u32 {warp}, {}, {}", entry.frame.ids.thread, WARP_THREADS.ilog2());
        emit!(asm, "and.b32 {lane}, {}, {}", entry.frame.ids.thread, WARP_THREADS - 1);
        emit!(asm, "mov.u32 {below}, %lanemask_lt");
        asm.move_to(item, lane.into());
        let (head, next) = (asm.label(), asm.label());
        asm.place(head);
        let address = in_shared(asm, shared.slots, item, 4);
        let slot = asm.load(Ty::I32, AddressSpace::Shared, address);
        let (owner, own) = (asm.register(Class::B32), asm.register(Class::Predicate));
        emit!(asm, "and.b32 {owner}, {slot}, {}", WARPS - 1);
        emit!(asm, "setp.eq.s32 {own}, {owner}, {warp}");
        emit!(asm, "setp.ne.and.s32 {own}, {slot}, {NO_SLOT}, {own}");
        // Who has no item of this warp is a peer of the others who have none.
        let (key, turn) = (asm.register(Class::B32), asm.register(Class::B32));
        emit!(asm, "selp.b32 {key}, {slot}, {NO_SLOT}, {own}");
        emit!(asm, "bar.warp.sync -1");
        emit!(asm, "match.any.sync.b32 {turn}, {key}, -1");
        emit!(asm, "and.b32 {turn}, {turn}, {below}");
        emit!(asm, "popc.b32 {turn}, {turn}");
        let to = in_shared(asm, shared.table, slot, self.ty.size());
        let from = in_shared(asm, shared.values, item, self.ty.size());
        let round = asm.label();
        asm.place(round);
        let (any, mine, waits) =
            (asm.register(Class::Predicate), asm.register(Class::Predicate), asm.label());
        emit!(asm, "vote.sync.any.pred {any}, {own}, -1");
        emit!(asm, "@!{any} bra {next}");
        emit!(asm, "setp.eq.and.s32 {mine}, {turn}, 0, {own}");
        emit!(asm, "sub.s32 {turn}, {turn}, 1");
        emit!(asm, "@!{mine} bra {waits}");
        let value = asm.load(self.ty, AddressSpace::Shared, from);
        let sum = asm.load(self.ty, AddressSpace::Shared, to);
        let sum = self.sum(asm, sum, value);
        asm.store(self.ty, AddressSpace::Shared, to, sum.into());
        emit!(asm, "setp.ne.u32 {own}, 0, 0");
        asm.place(waits);
        emit!(asm, "bar.warp.sync -1");
        emit!(asm, "bra {round}");
        asm.place(next);
        let more = asm.register(Class::Predicate);
        emit!(asm, "add.s32 {item}, {item}, {WARP_THREADS}");
        emit!(asm, "setp.lt.u32 {more}, {item}, {BLOCK_THREADS}");
        emit!(asm, "@{more} bra {head}");
    }

    /// Emits the combination of a bin with a value. A NaN that is compared changes nothing, and of
    /// zeros the first one stays.
    fn sum(&self, asm: &mut Assembly, sum: Reg, value: Reg) -> Reg {
        let better = match self.combine {
            Combine::Min if self.ty.is_float() => "setp.lt",
            Combine::Max if self.ty.is_float() => "setp.gt",
            combine => return asm.combine(combine, self.ty, sum.into(), value.into()),
        };
        let is_better = asm.register(Class::Predicate);
        emit!(asm, "{better}.{} {is_better}, {value}, {sum}", value.class.ty());
        asm.select(is_better, value.class, value.into(), sum.into())
    }
}

/// Emits the search in an array of ascending numbers, of this length, for the first one that is not
/// below another. `found` gets its index, or the length.
fn first_not_below(asm: &mut Assembly, (array, length): (Reg, Reg), than: Reg, found: Reg) {
    let [end, middle] = [(); 2].map(|()| asm.register(Class::B64));
    asm.move_to(found, Literal::I64(0).into());
    asm.move_to(end, length.into());
    let (head, done) = (asm.label(), asm.label());
    asm.place(head);
    let (over, below) = (asm.register(Class::Predicate), asm.register(Class::Predicate));
    emit!(asm, "setp.ge.s64 {over}, {found}, {end}");
    emit!(asm, "@{over} bra {done}");
    emit!(asm, "add.s64 {middle}, {found}, {end}");
    emit!(asm, "shr.u64 {middle}, {middle}, 1");
    let address = asm.element_address(array, middle.into(), Ty::I64.size());
    let number = asm.load(Ty::I64, AddressSpace::Global, address);
    emit!(asm, "setp.lt.s64 {below}, {number}, {than}");
    emit!(asm, "@!{below} mov.b64 {end}, {middle}");
    emit!(asm, "@{below} add.s64 {found}, {middle}, 1");
    emit!(asm, "bra {head}");
    asm.place(done);
}

/// Emits the address of an element of an array in shared memory.
fn in_shared(asm: &mut Assembly, array: Reg, index: Reg, size: usize) -> Reg {
    let address = asm.register(Class::B32);
    emit!(asm, "mad.lo.s32 {address}, {index}, {size}, {array}");
    address
}
