//! Launches: the steps of a kernel, the arguments of its entries, the areas of their passes, the size
//! of their grids.
//!
//! Everything is enqueued, except where the host must know a number first: the length of outputs,
//! and of arrays that depend on it ([`Size::total`]), and the scratch memory that a pass measures
//! (`rows`). The notes of a histogram may be sorted before they are added (`notes`).

mod notes;
mod rows;

use crate::Ptx;
use crate::driver::memory::{Block, Memory};
use crate::driver::module::{CompiledEntry, CompiledKernel};
use crate::driver::stream::{Copy, Stream};
use crate::emit::{
    Area, BLOCK_THREADS, Count, Pass, Program, SLOT_BYTES, Size, Source, Step, StepCode,
    TABLES_BYTES, Work, status_bytes,
};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{Literal, Space, Value, ValueTy};
use nesl_runtime::runtime::{Arg, Buffer, Failure, Launch};
use rows::Rows;
use std::cell::RefCell;
use std::sync::Arc;

/// The number of blocks that each multiprocessor is given, if there are as many threads, before
/// threads are given more work.
const FEWEST_BLOCKS_PER_MULTIPROCESSOR: u32 = 2;

/// The number of work items of a block for each bin of its table from which on the table is worth
/// its while.
const ITEMS_PER_BIN: u64 = 4;

/// The size of the memory for the states of tiles in the beginning, in bytes.
const MIN_STATUS_BYTES: usize = 1 << 16;

/// The parts of a runtime that a launch needs.
pub struct Launcher<'a> {
    /// The runtime, which numbers the passes and reports failures.
    pub runtime: &'a Ptx,
    /// The stream that launches are enqueued on.
    pub stream: &'a Stream,
    /// The memory that areas are taken from.
    pub memory: &'a Arc<Memory>,
    /// The number of multiprocessors of the device.
    pub multiprocessors: u32,
    /// The address of the record of failures.
    pub record: u64,
    /// The address of the tickets, two `u32` that are 0 between passes.
    pub ticket: u64,
    /// The memory of the states of tiles.
    pub status: &'a StatusMemory,
}

/// The memory in which tiles publish their states. Nobody else writes there: a word has the number
/// of its pass, so that what an earlier pass has left need not be cleared.
#[derive(Default)]
pub struct StatusMemory(RefCell<Option<Block>>);

impl StatusMemory {
    /// Returns the address of at least so many bytes, whose words are of earlier passes or cleared.
    fn reserve(&self, launcher: &Launcher<'_>, bytes: u64) -> Result<u64, Failure> {
        if bytes == 0 {
            return Ok(0);
        }
        let mut memory = self.0.borrow_mut();
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        if let Some(block) = memory.as_ref().filter(|block| block.bytes() >= bytes) {
            return Ok(block.address());
        }
        // The old block is free for what is enqueued from here on.
        *memory = None;
        let block = launcher.memory.alloc(bytes.next_power_of_two().max(MIN_STATUS_BYTES))?;
        launcher.stream.clear(block.address(), block.bytes())?;
        Ok(memory.insert(block).address())
    }

    /// Forgets the memory: the numbers of passes begin anew in its words.
    pub fn forget(&self) {
        *self.0.borrow_mut() = None;
    }
}

/// The size of an index space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extents {
    elements: u64,
    segments: u64,
}

impl Launcher<'_> {
    /// Enqueues the steps of a kernel. Returns its outputs; if it has some, a failure that is known
    /// when their lengths are is reported.
    pub fn launch(
        &self,
        kernel: &CompiledKernel,
        launch: &Launch<'_>,
    ) -> Result<Vec<Buffer>, Failure> {
        let program = &kernel.program;
        let count = program.temporaries.len();
        let mut run = Run {
            launcher: self,
            program,
            launch,
            params: words(kernel, launch.args),
            work_items: None,
            temporaries: (0..count).map(|_| None).collect(),
            totals: vec![None; count],
        };
        let mut entries = &kernel.entries[..];
        for (at, step) in program.steps.iter().enumerate() {
            let (own, others) = entries.split_at(step.plan.entries.len());
            entries = others;
            if !run.step(step, own, at == 0)? {
                break;
            }
        }
        run.outputs()
    }

    /// The number of blocks that go over so many indices with these entries: as many as the device
    /// holds at a time at most, so that each goes over its part of the space without another one
    /// beginning.
    fn blocks(&self, step: &Step, entries: &[&CompiledEntry], extents: Extents) -> u32 {
        let (plan, indices) = (&step.plan, extents.elements.max(extents.segments));
        let blocks_of = |items: u32| indices.div_ceil(u64::from(BLOCK_THREADS * items));
        // The device is filled before a thread gets several work items.
        let filled = u64::from(self.multiprocessors * FEWEST_BLOCKS_PER_MULTIPROCESSOR);
        let needed = match plan.work {
            Work::Tiles => blocks_of(plan.tile.rows),
            Work::Items(_) if plan.has_parts() => plan.parts(indices),
            Work::Items(items) => blocks_of(items).max(blocks_of(1).min(filled)),
        };
        let needed = match plan.lanes(extents.elements, extents.segments) {
            None => needed,
            Some(lanes) => {
                let lanes = extents.segments.saturating_mul(lanes.into());
                let by_lanes = lanes.div_ceil(u64::from(BLOCK_THREADS));
                // A pass that reads what another one has reduced goes over tiles all the same.
                if plan.passes.len() > 1 { needed.max(by_lanes) } else { by_lanes }
            }
        };
        let resident = entries.iter().map(|entry| self.resident_blocks(entry)).max().unwrap_or(1);
        u32::try_from(needed).unwrap_or(u32::MAX).clamp(1, resident)
    }

    /// The number of blocks of an entry that the device holds at a time.
    pub fn resident_blocks(&self, entry: &CompiledEntry) -> u32 {
        (self.multiprocessors * entry.usage.blocks_per_multiprocessor).max(1)
    }

    fn alloc(&self, bytes: u64) -> Result<Block, Failure> {
        self.memory.alloc(usize::try_from(bytes).unwrap_or(usize::MAX))
    }
}

/// The areas of a step, which are free for what is enqueued when they are dropped.
#[derive(Default)]
struct Areas {
    addresses: Vec<u64>,
    blocks: Vec<Block>,
}

/// A launch while its steps are enqueued.
struct Run<'a> {
    launcher: &'a Launcher<'a>,
    program: &'a Program,
    launch: &'a Launch<'a>,
    /// The words of the launch's arguments.
    params: Vec<u64>,
    /// The size of the launch's index space, once it is known.
    work_items: Option<u64>,
    /// The temporaries that are allocated.
    temporaries: Vec<Option<Arc<Block>>>,
    /// The first elements of the temporaries that were read.
    totals: Vec<Option<u64>>,
}

impl Run<'_> {
    /// Enqueues the passes of a step. Returns false if a failure is known, so that nothing that is
    /// enqueued would be executed.
    fn step(
        &mut self,
        step: &Step,
        entries: &[CompiledEntry],
        is_first: bool,
    ) -> Result<bool, Failure> {
        if let StepCode::Collect(collect) = step.code {
            self.sort_notes(&collect)?;
        }
        let args = self.args(step)?;
        let known = self.launch.work_items.filter(|_| is_first);
        let extents = self.extents(step, &args, known)?;
        if is_first {
            self.work_items = Some(extents.elements);
        }
        let lanes = step.plan.lanes(extents.elements, extents.segments);
        // The entries of the passes, in order.
        let entries: Vec<&CompiledEntry> = (0..step.plan.passes.len())
            .map(|pass| match lanes {
                Some(_) => &entries[step.plan.entry_by_lanes(pass)],
                None => &entries[pass],
            })
            .collect();
        let blocks = self.launcher.blocks(step, &entries, extents);
        let (tables, blocks) = self.tables(step, extents, blocks);
        let areas = self.areas(step, extents, blocks, &tables)?;
        let mut rows = Rows::new(self.launcher, step, &self.literals(step), blocks)?;
        for (pass, entry) in step.plan.passes.iter().zip(entries) {
            if *pass == Pass::Final && self.waits(step) && !self.read_totals()? {
                return Ok(false);
            }
            let args = self.args(step)?;
            let resident = self.launcher.resident_blocks(entry);
            let launch = |blocks: u32, scratch: &[u64]| {
                let blocks = blocks.min(resident);
                let number = self.launcher.runtime.next_pass(self.launch.tag);
                let Launcher { stream, record, ticket, .. } = self.launcher;
                let mut params = vec![*record, number, stream.failed(), *ticket];
                params.extend(&areas.addresses);
                params.extend(scratch);
                params.extend(&args);
                stream.launch(entry, blocks, BLOCK_THREADS, &mut params)?;
                Ok(number)
            };
            rows.launch(*pass, launch)?;
        }
        // The areas and rows are free for what is enqueued from here on.
        Ok(true)
    }

    /// Allocates the areas of a step.
    fn areas(
        &self,
        step: &Step,
        extents: Extents,
        blocks: u32,
        tables: &[u64],
    ) -> Result<Areas, Failure> {
        let mut tables = tables.iter();
        let tiles = extents.elements.div_ceil(u64::from(step.plan.tile.items())).max(1);
        let is_status = |area: &&Area| matches!(area, Area::Status);
        let states = step.plan.areas.iter().filter(is_status).count() as u64;
        let mut states =
            self.launcher.status.reserve(self.launcher, states * status_bytes(tiles))?;
        let mut areas = Areas::default();
        for area in &step.plan.areas {
            let bytes = match area {
                Area::Blocks => 8 * u64::from(blocks),
                Area::Parts => 8 * step.plan.parts(extents.elements),
                Area::Segments => 8 * extents.segments,
                Area::Tags(array) => 8 * self.length_of(step, *array),
                Area::PartNumber => {
                    areas.addresses.push(step.plan.parts(extents.elements));
                    continue;
                }
                Area::LanesShift => {
                    let lanes = step.plan.lanes(extents.elements, extents.segments);
                    areas.addresses.push(lanes.map_or(0, |lanes| lanes.ilog2().into()));
                    continue;
                }
                Area::Table(..) => {
                    areas.addresses.extend(tables.next());
                    continue;
                }
                Area::Status => {
                    areas.addresses.push(states);
                    states += status_bytes(tiles);
                    continue;
                }
            };
            let block = self.launcher.alloc(bytes)?;
            if let Area::Tags(_) = area {
                self.launcher.stream.clear(block.address(), block.bytes())?;
            }
            areas.addresses.push(block.address());
            areas.blocks.push(block);
        }
        Ok(areas)
    }

    /// The numbers of bins of the tables that blocks have in shared memory, and the number of blocks
    /// that is right for these: a table costs an update in global memory for each bin, which must
    /// be few beside the work items. The numbers are 0 where the tables do not fit, or where there
    /// would be too few blocks for the multiprocessors.
    fn tables(&self, step: &Step, extents: Extents, blocks: u32) -> (Vec<u64>, u32) {
        let bins = step.plan.areas.iter().filter_map(|area| match area {
            Area::Table(array, ..) => Some(self.length_of(step, *array)),
            _ => None,
        });
        let bins: Vec<u64> = bins.collect();
        let all: u64 = bins.iter().sum();
        if all == 0 || all > TABLES_BYTES / SLOT_BYTES {
            return (vec![0; bins.len()], blocks);
        }
        let worth = extents.elements / (all * ITEMS_PER_BIN);
        let fewer = u32::try_from(worth).unwrap_or(u32::MAX).min(blocks);
        match fewer >= blocks.min(self.launcher.multiprocessors) {
            true => (bins, fewer),
            false => (vec![0; bins.len()], blocks),
        }
    }

    /// The length of an array that a step scatters to, or has histograms in.
    fn length_of(&self, step: &Step, array: Value) -> u64 {
        let at = step.kernel.params.iter().position(|param| *param == array);
        match step.args[at.or_bug("a sink writes a parameter")] {
            Source::Param(param) => length(self.launch.args, param),
            Source::Temporary(_) | Source::Size(_) => {
                bug!("sinks write parameters of the launch")
            }
        }
    }

    /// The arguments of a step, a word each. Temporaries of known lengths are allocated; a number
    /// that is not known yet is 0.
    fn args(&mut self, step: &Step) -> Result<Vec<u64>, Failure> {
        let mut words = Vec::with_capacity(step.args.len());
        for source in &step.args {
            words.push(match source {
                Source::Param(param) => self.params[*param],
                Source::Temporary(temporary) => self.temporary(*temporary)?,
                Source::Size(size) => self.size(*size).unwrap_or(0),
            });
        }
        Ok(words)
    }

    /// The scalar arguments of a step.
    fn literals(&self, step: &Step) -> Vec<Option<Literal>> {
        let literal = |source: &Source| match source {
            Source::Param(param) => match self.launch.args[*param] {
                Arg::Scalar(literal) => Some(literal),
                Arg::Array(..) => None,
            },
            Source::Temporary(_) => None,
            Source::Size(size) => self.size(*size).map(|size| Literal::I64(size as i64)),
        };
        step.args.iter().map(literal).collect()
    }

    /// The address of a temporary, which is allocated if its length is known; else 0.
    fn temporary(&mut self, number: usize) -> Result<u64, Failure> {
        if self.temporaries[number].is_none() {
            let temporary = &self.program.temporaries[number];
            let Some(length) = self.size(temporary.length) else { return Ok(0) };
            let bytes = length.saturating_mul(temporary.ty.size() as u64);
            self.temporaries[number] = Some(Arc::new(self.launcher.alloc(bytes)?));
        }
        Ok(self.temporaries[number].as_ref().map_or(0, |block| block.address()))
    }

    fn size(&self, size: Size) -> Option<u64> {
        match size {
            Size::Constant(size) => Some(size),
            Size::Count(count) => self.count(count),
            Size::Table(table, size) => {
                Some(size.compute(self.count(table.items)?, length(self.launch.args, table.array)))
            }
        }
    }

    fn count(&self, count: Count) -> Option<u64> {
        match count {
            Count::WorkItems => self.work_items,
            Count::Total(total) => self.totals[total],
        }
    }

    /// Returns true if an argument of a step depends on a total that was not read yet.
    fn waits(&self, step: &Step) -> bool {
        step.args.iter().any(|source| {
            let size = match source {
                Source::Param(_) => return false,
                Source::Temporary(temporary) => self.program.temporaries[*temporary].length,
                Source::Size(size) => *size,
            };
            self.size(size).is_none()
        })
    }

    /// Reads all totals. Returns false if a launch has failed: then they were not written.
    fn read_totals(&mut self) -> Result<bool, Failure> {
        let sizes = self.program.temporaries.iter().map(|temporary| temporary.length);
        let mut wanted: Vec<usize> = sizes.filter_map(|size| size.total()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut words = vec![[0; 8]; wanted.len()];
        let mut copies = Vec::with_capacity(wanted.len());
        for (total, word) in wanted.iter().zip(&mut words) {
            let block = self.temporaries[*total].as_ref();
            let from = block.or_bug("a total is allocated from the beginning").address();
            copies.push(Copy { from, to: word });
        }
        self.launcher.stream.read(&mut copies)?;
        if self.program.outputs.is_empty() {
            self.launcher.runtime.count_wait();
        }
        if self.launcher.stream.has_failed() {
            return Ok(false);
        }
        for (total, word) in wanted.into_iter().zip(words) {
            self.totals[total] = Some(i64::from_ne_bytes(word).max(0) as u64);
        }
        Ok(true)
    }

    /// The outputs of the launch.
    fn outputs(mut self) -> Result<Vec<Buffer>, Failure> {
        let mut outputs = Vec::with_capacity(self.program.outputs.len());
        for number in &self.program.outputs {
            let temporary = &self.program.temporaries[*number];
            let Some(length) = self.size(temporary.length) else {
                self.launcher.runtime.report_done()?;
                bug!("the totals of a launch without a failure were read");
            };
            let block = self.temporaries[*number].take().or_bug("an output was allocated");
            outputs.push(Buffer::new(temporary.ty, length as usize, block));
        }
        Ok(outputs)
    }

    /// The size of the space of a step. That of ragged segments is read from the device if the
    /// caller does not know it.
    fn extents(
        &self,
        step: &Step,
        args: &[u64],
        work_items: Option<usize>,
    ) -> Result<Extents, Failure> {
        let params = &step.kernel.params;
        let word = |value: Value| {
            let at = params.iter().position(|param| *param == value);
            args[at.or_bug("the size of a space is a parameter: the verifier sees that")]
        };
        let number = |value: Value| (word(value) as i64).max(0) as u64;
        Ok(match &step.kernel.space {
            Space::Flat { count } => Extents { elements: number(*count), segments: 1 },
            Space::Regular { segments, length } => {
                let (segments, length) = (number(*segments), number(*length));
                Extents { elements: segments.saturating_mul(length), segments }
            }
            Space::Segmented { segments, offsets } => {
                let segments = number(*segments);
                if let Some(elements) = work_items {
                    return Ok(Extents { elements: elements as u64, segments });
                }
                let mut end = [0; 8];
                let from = word(*offsets) + 8 * segments;
                self.launcher.stream.read(&mut [Copy { from, to: &mut end }])?;
                Extents { elements: i64::from_ne_bytes(end).max(0) as u64, segments }
            }
        })
    }
}

/// The arguments of a kernel, a word each: the bits of a scalar, or the address of the first element.
fn words(kernel: &CompiledKernel, args: &[Arg]) -> Vec<u64> {
    let types = &kernel.kernel.types;
    let params = kernel.kernel.params.iter();
    let mut words = Vec::with_capacity(args.len());
    for (param, arg) in params.zip(args) {
        words.push(match (types[param.0 as usize], arg) {
            (ValueTy::Scalar(_), Arg::Scalar(literal)) => scalar(*literal),
            (ValueTy::Array(ty), Arg::Array(buffer, at)) => {
                let block: &Block = buffer.storage().or_bug("a buffer is one of this runtime");
                block.address() + (at * ty.size()) as u64
            }
            (ty, arg) => nesl_runtime::bug!("a parameter of type {ty} is given {arg:?}"),
        });
    }
    words
}

/// The length of an array argument, from its first element on.
fn length(args: &[Arg], param: usize) -> u64 {
    match &args[param] {
        Arg::Array(buffer, start) => (buffer.len() - start) as u64,
        Arg::Scalar(_) => 0,
    }
}

/// The bits of a literal.
fn scalar(literal: Literal) -> u64 {
    match literal {
        Literal::I32(x) => u64::from(x as u32),
        Literal::I64(x) => x as u64,
        Literal::F32(x) => u64::from(x),
        Literal::F64(x) => x,
        Literal::Bool(x) => u64::from(x),
        Literal::U8(x) => u64::from(x),
    }
}
