//! Histograms whose results depend on the order of the updates: sums of floats, and operators for
//! which there are no atomic instructions.
//!
//! Results are the same in each run, so that the order of the updates of a bin must not depend on
//! time. The kernel only notes the bin and the value of each work item (of each element, if rows are
//! added). Then
//!
//! ```text
//! collect   a block for each part of the items and range of bins:
//!             go over the part in order; add what belongs to the range to a table in shared memory
//!             (`emit/collect`); write the table
//! combine   one thread for each bin: add the tables of the parts, in order
//! ```
//!
//! The parts and ranges depend on the numbers of items and bins only. There are as many parts as
//! make the tables together about as long as the notes: a table that is longer than these has one
//! part, and many ranges instead, each of which looks at all items. If that were too often, the
//! launcher sorts the notes by their bins first (`launch/notes`), and keeps the order of those of a
//! bin: then they are one part, and each range looks at its own, which it finds by a search.

use super::{Code, Count, Rewriting, Size, Source, Step, StepCode};
use crate::emit::collective::WARP_THREADS;
use crate::emit::plan::{Plan, Work};
use crate::emit::shape::BLOCK_THREADS;
use nesl_runtime::kir::{
    Binary, Body, Combine, Kernel, KernelBuilder, Literal, Op, Sink, Space, Ty, Value, ValueTy,
};

/// The least number of items of a part: fewer are not worth a block.
const MIN_PART_ITEMS: u64 = 1024;

/// The largest number of parts: they fill a large device.
const MAX_PARTS: u64 = 1024;

/// The number of elements of all tables for each item, unless one table alone is longer.
const TABLE_ELEMENTS_PER_ITEM: u64 = 2;

/// The number of bins of a range: their table lies in shared memory.
pub const RANGE_BINS: u32 = 4096;

/// The number of ranges from which on the notes are sorted. There a sort takes half of the
/// instructions of one look at each note for each range, and a third more bytes; with twice as many
/// ranges a quarter, and as many bytes (`tests/histograms.rs`).
const MIN_SORTED_RANGES: u64 = 8;

/// The number of items from which on they are sorted: a range of fewer is looked at faster than its
/// table is written.
const MIN_SORTED_ITEMS: u64 = 4096;

/// A step that makes the tables of a histogram, and the parameters of its kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collect {
    /// The operator that combines a bin with a value.
    pub combine: Combine,
    /// The type of the values.
    pub ty: Ty,
    /// The bin of each item, an array of `i64`; one that is out of bounds is that of no bin.
    pub bins: Value,
    /// The value of each item, an array.
    pub values: Value,
    /// The tables of the parts, one behind the other, an array.
    pub tables: Value,
    /// The numbers of threads, of items, of bins, of ranges, of items of a part, and of bins of a
    /// range; and 1 if the items are in the order of their bins, else 0.
    pub sizes: [Value; 7],
    /// The arrays that the launcher may sort.
    pub notes: Notes,
}

/// The items of a histogram, as the launcher knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notes {
    /// The numbers of items and bins.
    pub table: Table,
    /// The temporary with the bin of each item.
    pub bins: usize,
    /// The temporary with the value of each item.
    pub values: usize,
}

/// A histogram with private tables: the numbers on which their shape depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// The number of items that are added.
    pub items: Count,
    /// The parameter of the launch whose length is the number of bins.
    pub array: usize,
}

/// A number in the shape of private tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableSize {
    /// The number of items.
    Items,
    /// The number of bins.
    Bins,
    /// The number of parts of the items.
    Parts,
    /// The number of items of a part; the last one may have fewer.
    PartItems,
    /// The number of ranges of bins.
    Ranges,
    /// The number of bins of a range; the last ones may have fewer.
    RangeBins,
    /// The number of threads: a block for each part and range.
    Threads,
    /// The number of elements of all tables.
    Elements,
    /// 1 if the items are sorted by their bins, else 0.
    Sorted,
}

impl TableSize {
    /// Computes the number for so many items and bins.
    pub fn compute(self, items: u64, bins: u64) -> u64 {
        let elements = items.saturating_mul(TABLE_ELEMENTS_PER_ITEM);
        let most_parts = (elements / bins.max(1)).clamp(1, MAX_PARTS);
        let part_items = items.div_ceil(most_parts).max(MIN_PART_ITEMS);
        // The loads of a warp begin with a sector.
        let part_items = part_items.next_multiple_of(u64::from(WARP_THREADS));
        let parts = items.div_ceil(part_items).max(1);
        let range_bins = u64::from(RANGE_BINS);
        let ranges = bins.div_ceil(range_bins).max(1);
        // The keys of the sort have 32 bits, and one of them is that of no bin.
        let is_sorted =
            ranges >= MIN_SORTED_RANGES && items >= MIN_SORTED_ITEMS && bins < i32::MAX as u64;
        let (parts, part_items) = if is_sorted { (1, items) } else { (parts, part_items) };
        match self {
            TableSize::Sorted => u64::from(is_sorted),
            TableSize::Items => items,
            TableSize::Bins => bins,
            TableSize::Parts => parts,
            TableSize::PartItems => part_items,
            TableSize::Ranges => ranges,
            TableSize::RangeBins => range_bins,
            TableSize::Threads => parts * ranges * u64::from(BLOCK_THREADS),
            TableSize::Elements => parts * bins,
        }
    }
}

/// The update of one bin.
pub struct Update {
    /// The table that is updated.
    pub array: Value,
    /// The operator that combines a bin with a value.
    pub combine: Combine,
    /// The index of the bin, or of the first one.
    pub index: Value,
    /// The value, or the row of values.
    pub value: Value,
    /// True for the work items that take part.
    pub when: Option<Value>,
}

/// Returns true if the updates of a bin may be made in any order, by atomic instructions.
pub fn is_free(combine: Combine, ty: Ty) -> bool {
    ty.is_int() && combine != Combine::Mul
}

/// Rewrites a histogram of a stage whose order matters; of rows of a `length`, if there is one.
/// Returns the sink that replaces it, if any.
pub fn rewrite(
    kernel: &mut Rewriting,
    stage: usize,
    update: Update,
    length: Option<Value>,
) -> Option<Sink> {
    let array = kernel.number(update.array);
    let ty = kernel.element(update.value);
    match length {
        None => {
            let items = Count::WorkItems;
            let arrays = Arrays::new(kernel, ty, items);
            let index = kernel.index();
            let insts = std::mem::take(&mut kernel.kernel.stages[stage].body.insts);
            let mut code = kernel.code(insts);
            let bin = chosen(&mut code, update.when, update.index, -1);
            code.effect(Op::Store { array: arrays.bins.1, index, value: bin });
            code.effect(Op::Store { array: arrays.values.1, index, value: update.value });
            kernel.kernel.stages[stage].body.insts = code.insts;
            arrays.follow(kernel, Table { items, array }, update.combine, ty);
            None
        }
        Some(length) => {
            let insts = std::mem::take(&mut kernel.kernel.stages[stage].body.insts);
            let mut code = kernel.code(insts);
            let length = chosen(&mut code, update.when, length, 0);
            kernel.kernel.stages[stage].body.insts = code.insts;
            let (scan, place, total) = kernel.counting(length);
            let items = Count::Total(total);
            let arrays = Arrays::new(kernel, ty, items);
            let insts = std::mem::take(&mut kernel.next);
            let mut code = kernel.code(insts);
            code.repeat(length, |code, at| {
                let to = code.scalar(Ty::I64, Op::Binary(Binary::Add, place, at));
                let bin = code.scalar(Ty::I64, Op::Binary(Binary::Add, update.index, at));
                let value = code.scalar(ty, Op::Load { array: update.value, index: at });
                code.effect(Op::Store { array: arrays.bins.1, index: to, value: bin });
                code.effect(Op::Store { array: arrays.values.1, index: to, value });
            });
            kernel.next = code.insts;
            arrays.follow(kernel, Table { items, array }, update.combine, ty);
            Some(scan)
        }
    }
}

/// Appends `when ? value : other`.
fn chosen(code: &mut Code<'_>, when: Option<Value>, value: Value, other: i64) -> Value {
    let Some(when) = when else { return value };
    let other = code.i64(other);
    code.scalar(Ty::I64, Op::Select(when, value, other))
}

/// The arrays in which a kernel notes its updates: temporaries, and its parameters for them.
struct Arrays {
    bins: (usize, Value),
    values: (usize, Value),
}

impl Arrays {
    fn new(kernel: &mut Rewriting, ty: Ty, items: Count) -> Arrays {
        let [bins, values] = [Ty::I64, ty].map(|ty| kernel.temporary(ty, Size::Count(items)));
        Arrays { bins: (bins, kernel.param(bins)), values: (values, kernel.param(values)) }
    }

    /// Appends the steps that make the updates.
    fn follow(&self, kernel: &mut Rewriting, table: Table, combine: Combine, ty: Ty) {
        let size = |size| Source::Size(Size::Table(table, size));
        let tables = kernel.temporary(ty, Size::Table(table, TableSize::Elements));
        let args = vec![
            size(TableSize::Threads),
            Source::Temporary(self.bins.0),
            Source::Temporary(self.values.0),
            Source::Temporary(tables),
            size(TableSize::Items),
            size(TableSize::Bins),
            size(TableSize::Ranges),
            size(TableSize::PartItems),
            size(TableSize::RangeBins),
            size(TableSize::Sorted),
        ];
        let notes = Notes { table, bins: self.bins.0, values: self.values.0 };
        kernel.followers.push(collect(combine, ty, args, notes));
        let args = vec![
            size(TableSize::Bins),
            Source::Temporary(tables),
            Source::Param(table.array),
            size(TableSize::Parts),
        ];
        kernel.followers.push(Step::new(combine_tables(combine, ty), args));
    }
}

const I64: ValueTy = ValueTy::Scalar(Ty::I64);

/// The step in which each block adds the items of a part that belong to a range of bins.
fn collect(combine: Combine, ty: Ty, args: Vec<Source>, notes: Notes) -> Step {
    let mut kernel = KernelBuilder::new("collect");
    let threads = kernel.param(I64);
    let bins = kernel.param(ValueTy::Array(Ty::I64));
    let [values, tables] = [(); 2].map(|()| kernel.param(ValueTy::Array(ty)));
    let [items, bin_count, ranges, part_items, range_bins, sorted] =
        [(); 6].map(|()| kernel.param(I64));
    kernel.over(Space::Flat { count: threads });
    let kernel = kernel.finish();
    let mut plan = Plan::of(&kernel, &[]);
    plan.work = Work::Items(1);
    let sizes = [threads, items, bin_count, ranges, part_items, range_bins, sorted];
    let collect = Collect { combine, ty, bins, values, tables, sizes, notes };
    Step { kernel, plan, args, code: StepCode::Collect(collect) }
}

/// The kernel in which each thread adds the tables of the parts to a bin.
fn combine_tables(combine: Combine, ty: Ty) -> Kernel {
    let mut kernel = KernelBuilder::new("combine tables");
    let bins = kernel.param(I64);
    let [tables, array] = [(); 2].map(|()| kernel.param(ValueTy::Array(ty)));
    let parts = kernel.param(I64);
    let bin = kernel.over(Space::Flat { count: bins })[0];
    let body = &mut kernel.body;
    let sum = body.load(array, bin);
    let sum = body.count(parts, vec![sum], Vec::new(), |body, part, sum| {
        let row = body.binary(Binary::Mul, part, bins);
        let at = body.binary(Binary::Add, row, bin);
        let element = body.load(tables, at);
        vec![add(body, combine, sum[0], element)]
    });
    body.store(array, bin, sum[0]);
    kernel.finish()
}

/// The element that changes no bin, not even one that holds the negative zero.
pub fn untouched(combine: Combine, ty: Ty) -> Literal {
    match (combine, ty) {
        (Combine::Add, Ty::F32) => Literal::F32((-0f32).to_bits()),
        (Combine::Add, Ty::F64) => Literal::F64((-0f64).to_bits()),
        (combine, ty) => combine.neutral(ty),
    }
}

/// Appends the combination of a bin with an element. A NaN that is compared changes nothing.
fn add(body: &mut Body, combine: Combine, sum: Value, element: Value) -> Value {
    let operator = match combine {
        Combine::Add => Binary::Add,
        Combine::Mul => Binary::Mul,
        Combine::And => Binary::And,
        Combine::Or => Binary::Or,
        Combine::Xor => Binary::Xor,
        Combine::Min | Combine::Max => {
            let better = if combine == Combine::Min { Binary::Lt } else { Binary::Gt };
            let better = body.binary(better, element, sum);
            return body.select(better, element, sum);
        }
    };
    body.binary(operator, sum, element)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts cover the items, the ranges the bins, and no block is idle.
    #[test]
    fn parts_and_ranges_cover_everything() {
        let numbers = [0, 1, 5, 63, 64, 65, 1000, 100_000, 10_000_000];
        for items in numbers {
            for bins in numbers {
                let size = |size: TableSize| size.compute(items, bins);
                let (parts, ranges) = (size(TableSize::Parts), size(TableSize::Ranges));
                assert!(parts * size(TableSize::PartItems) >= items);
                assert!((parts - 1) * size(TableSize::PartItems) <= items);
                assert!(ranges * size(TableSize::RangeBins) >= bins);
                assert!((ranges - 1) * size(TableSize::RangeBins) <= bins);
                assert!(size(TableSize::Elements) <= (2 * items).max(bins));
                assert!(size(TableSize::Sorted) == 0 || parts == 1);
            }
        }
    }
}
