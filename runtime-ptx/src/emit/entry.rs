//! The entries of a kernel, one for each pass: how the threads of a grid go over the index space.
//!
//! ```text
//! entry(record, launch, interrupt, ticket, areas…, parameters of the kernel…)
//!   unless an earlier pass failed:
//!     for each index of this thread, or each tile of this block (`tiles`):
//!       the code of the work items; their sinks
//!     the last block: what the blocks left (`finish`)
//! ```
//!
//! Where no sink asks for an order a thread takes every n-th index of a grid of n threads, so that
//! neighbours access neighbouring elements, and any grid covers any space.

use super::address::{AddressSpace, AddressSpaces};
use super::assembly::{Assembly, Class, Operand, Reg, emit};
use super::body::WorkItem;
use super::collective::{self, ThreadIds, WARP_THREADS};
use super::failure;
use super::finish::{Finish, What, finish};
use super::plan::{Pass, Plan, Role};
use super::tiles;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{
    Combine, Inst, Kernel, Literal, Op, Sink, Space, Stage, Ty, Value, ValueTy, liveness,
};
use nesl_runtime::runtime::Reason;
use std::fmt::Write;

/// The number of threads of a block.
pub const BLOCK_THREADS: u32 = 256;

/// The parameters that the launcher passes first, each of 8 bytes; the areas of the plan follow, and
/// then the parameters of the kernel.
pub const HIDDEN_PARAMS: [&str; 4] = ["record", "launch", "interrupt", "ticket"];

/// Emits a pass of a kernel without calls, under a name that PTX accepts: the declarations of the
/// module, and the entry itself. Fails if the kernel contains something that a device cannot
/// execute.
pub fn entry(kernel: &Kernel, plan: &Plan, pass: Pass, name: &str) -> Result<String, Reason> {
    let spaces = AddressSpaces::find(kernel)?;
    for stage in &kernel.stages {
        stage.sinks.iter().try_for_each(|sink| supports(kernel, stage, sink))?;
    }
    if let Pass::Prepare(stage) = pass
        && liveness::may_read_written(kernel, stage)
    {
        return Err(Reason::Collective("store"));
    }
    let mut asm = Assembly::new(name);
    let frame = Frame::load(&mut asm, kernel, plan);
    let end = asm.label();
    failure::skip_if_failed(&mut asm, &frame.failure, end);
    let entry = Entry { kernel, plan, pass, spaces: &spaces, frame: &frame };
    let mut finishes = entry.grid_reductions(&mut asm);
    let tiles = if entry.is_ordered() {
        let (tiles, ordered) = tiles::each_tile(&mut asm, &entry, &finishes)?;
        finishes.extend(ordered);
        tiles.into()
    } else {
        entry.each_index(&mut asm, &finishes)?;
        Literal::I64(1).into()
    };
    if !finishes.is_empty() {
        let warps = BLOCK_THREADS / WARP_THREADS;
        finish(&mut asm, &frame.ids, warps, tiles, frame.ticket, &finishes);
    }
    asm.place(end);
    emit!(asm, "ret");
    let (mut text, body) = asm.finish();
    write!(text, ".visible .entry {name}(").or_bug("writing to a string");
    let hidden = HIDDEN_PARAMS.iter().map(|param| format!("\n  .param .u64 {param}"));
    let areas = (0..plan.areas.len()).map(|at| format!("\n  .param .u64 area{at}"));
    let params = kernel.params.iter().enumerate().map(|(at, param)| {
        format!("\n  .param .{} p{at}", param_type(kernel.types[param.0 as usize]))
    });
    text.push_str(&hidden.chain(areas).chain(params).collect::<Vec<_>>().join(","));
    writeln!(text, "\n)\n.maxntid {BLOCK_THREADS}, 1, 1").or_bug("writing to a string");
    text.push_str(&body);
    Ok(text)
}

/// Fails if a sink cannot be executed.
fn supports(kernel: &Kernel, stage: &Stage, sink: &Sink) -> Result<(), Reason> {
    match sink {
        Sink::Reduce { .. } | Sink::Scan { .. } | Sink::Pack { .. } => Ok(()),
        Sink::Scatter { value, .. } if is_uniform(kernel, stage, *value) => Ok(()),
        Sink::Scatter { .. } => Err(Reason::Collective("scatter")),
        Sink::Histogram { combine, value, length: None, .. } => {
            let ordered = !kernel.scalar_ty(*value).is_int() || *combine == Combine::Mul;
            if ordered { Err(Reason::Collective("histogram")) } else { Ok(()) }
        }
        Sink::Histogram { .. } => Err(Reason::Collective("histogram")),
        Sink::Emit { .. } => Err(Reason::Collective("emit")),
    }
}

/// Returns true if all work items have the same value: whoever scatters it last, it is the same.
fn is_uniform(kernel: &Kernel, stage: &Stage, value: Value) -> bool {
    let constant = |inst: &Inst| inst.results == [value] && matches!(inst.op, Op::Const(_));
    kernel.params.contains(&value) || stage.body.insts.iter().any(constant)
}

/// A pass of a kernel.
pub struct Entry<'a> {
    pub kernel: &'a Kernel,
    pub plan: &'a Plan,
    pub pass: Pass,
    pub spaces: &'a AddressSpaces,
    pub frame: &'a Frame,
}

/// The registers that every thread of an entry has from its beginning on.
pub struct Frame {
    pub failure: failure::Registers,
    ticket: Reg,
    /// The addresses of the plan's areas.
    pub areas: Vec<Reg>,
    pub ids: ThreadIds,
    /// The operand of each parameter of the kernel, by value.
    pub operands: Vec<Option<Operand>>,
}

impl Frame {
    fn load(asm: &mut Assembly, kernel: &Kernel, plan: &Plan) -> Frame {
        let mut hidden = |name: &str| {
            let d = asm.register(Class::B64);
            emit!(asm, "ld.param.u64 {d}, [{name}]");
            d
        };
        let [record, launch, interrupt, ticket] = HIDDEN_PARAMS.map(&mut hidden);
        let areas: Vec<Reg> =
            (0..plan.areas.len()).map(|at| hidden(&format!("area{at}"))).collect();
        let [record, interrupt, ticket] =
            [record, interrupt, ticket].map(|address| to_global(asm, address));
        let areas = areas.into_iter().map(|address| to_global(asm, address)).collect();
        let mut operands = vec![None; kernel.types.len()];
        for (at, param) in kernel.params.iter().enumerate() {
            let reg = load_param(asm, at, kernel.types[param.0 as usize]);
            operands[param.0 as usize] = Some(reg.into());
        }
        let ids = ["%tid.x", "%ctaid.x", "%nctaid.x"].map(|special| {
            let d = asm.register(Class::B32);
            emit!(asm, "mov.u32 {d}, {special}");
            d
        });
        let [thread, block, blocks] = ids;
        let failure = failure::Registers { record, launch, interrupt };
        Frame { failure, ticket, areas, ids: ThreadIds { thread, block, blocks }, operands }
    }
}

fn to_global(asm: &mut Assembly, address: Reg) -> Reg {
    let d = asm.register(Class::B64);
    emit!(asm, "cvta.to.global.u64 {d}, {address}");
    d
}

fn param_type(ty: ValueTy) -> &'static str {
    match ty {
        ValueTy::Scalar(Ty::Bool | Ty::U8) => "u8",
        ValueTy::Scalar(Ty::I32) => "b32",
        ValueTy::Scalar(Ty::F32) => "f32",
        ValueTy::Scalar(Ty::F64) => "f64",
        ValueTy::Scalar(Ty::I64) | ValueTy::Array(_) | ValueTy::Mark => "b64",
    }
}

fn load_param(asm: &mut Assembly, at: usize, ty: ValueTy) -> Reg {
    let name = param_type(ty);
    match ty {
        ValueTy::Scalar(Ty::Bool) => {
            let byte = asm.register(Class::B32);
            emit!(asm, "ld.param.{name} {byte}, [p{at}]");
            asm.convert(Ty::U8, Ty::Bool, byte.into())
        }
        ValueTy::Scalar(ty) => {
            let d = asm.register(Class::of(ty));
            emit!(asm, "ld.param.{name} {d}, [p{at}]");
            d
        }
        ValueTy::Array(_) | ValueTy::Mark => {
            let d = asm.register(Class::B64);
            emit!(asm, "ld.param.{name} {d}, [p{at}]");
            to_global(asm, d)
        }
    }
}

impl Entry<'_> {
    /// The stages that the pass executes.
    pub fn stages(&self) -> &[Stage] {
        match self.pass {
            Pass::Prepare(last) => &self.kernel.stages[..=last],
            Pass::Final => &self.kernel.stages,
        }
    }

    /// The part of a sink in the pass.
    pub fn role(&self, stage: usize, number: usize) -> Role {
        self.plan.role(&self.kernel.stages[stage].sinks[number], self.pass, stage, number)
    }

    /// Returns true if the pass goes over the space tile by tile: a sink asks for an order, or a
    /// later stage waits for one.
    fn is_ordered(&self) -> bool {
        let mut sinks = self
            .stages()
            .iter()
            .enumerate()
            .flat_map(|(stage, code)| (0..code.sinks.len()).map(move |number| (stage, number)));
        sinks.any(|(stage, number)| self.role(stage, number).is_ordered())
    }

    /// The operand of a parameter.
    pub fn param(&self, param: Value) -> Operand {
        self.frame.operands[param.0 as usize].or_bug("a parameter has a register")
    }

    /// The address of an array parameter.
    pub fn array(&self, asm: &mut Assembly, param: Value) -> Reg {
        match self.param(param) {
            Operand::Reg(reg) => reg,
            Operand::Constant(literal) => asm.constant(literal),
        }
    }

    /// Emits the neutral elements of the reductions over the grid, in the order of the sinks.
    fn grid_reductions(&self, asm: &mut Assembly) -> Vec<Finish> {
        let mut all = Vec::new();
        for (at, stage) in self.stages().iter().enumerate() {
            for (number, sink) in stage.sinks.iter().enumerate() {
                let (Role::Grid(area), Sink::Reduce { combine, value, out: Some(out), .. }) =
                    (self.role(at, number), sink)
                else {
                    continue;
                };
                let ty = self.kernel.scalar_ty(*value);
                let neutral = asm.constant(combine.neutral(ty));
                let sum = asm.register(neutral.class);
                asm.move_to(sum, neutral.into());
                let what = What::Grid { sum, out: self.array(asm, *out) };
                all.push(Finish { combine: (*combine, ty), area: self.frame.areas[area], what });
            }
        }
        all
    }

    /// Emits the number of indices.
    pub fn count(&self, asm: &mut Assembly) -> Operand {
        match &self.kernel.space {
            Space::Flat { count } => self.param(*count),
            Space::Regular { segments, length } => {
                let d = asm.register(Class::B64);
                emit!(asm, "mul.lo.s64 {d}, {}, {}", self.param(*segments), self.param(*length));
                d.into()
            }
            Space::Segmented { segments, offsets } => {
                let base = self.array(asm, *offsets);
                let address = asm.element_address(base, self.param(*segments), 8);
                asm.load(Ty::I64, AddressSpace::Global, address).into()
            }
        }
    }

    /// Emits the loop of a thread over its indices, of a pass of one stage.
    fn each_index(&self, asm: &mut Assembly, sums: &[Finish]) -> Result<(), Reason> {
        let count = self.count(asm);
        let index = self.first_index(asm);
        let stride = asm.register(Class::B64);
        emit!(asm, "mul.wide.u32 {stride}, {}, {BLOCK_THREADS}", self.frame.ids.blocks);
        let (head, end) = (asm.label(), asm.label());
        asm.place(head);
        let over = asm.register(Class::Predicate);
        emit!(asm, "setp.ge.s64 {over}, {index}, {count}");
        emit!(asm, "@{over} bra {end}");
        self.work_item(asm, sums, index)?;
        emit!(asm, "add.s64 {index}, {index}, {stride}");
        emit!(asm, "bra {head}");
        asm.place(end);
        Ok(())
    }

    /// Emits the number of this thread in the grid.
    pub fn first_index(&self, asm: &mut Assembly) -> Reg {
        let index = asm.register(Class::B64);
        let thread = asm.convert(Ty::I32, Ty::I64, self.frame.ids.thread.into());
        emit!(asm, "mad.wide.u32 {index}, {}, {BLOCK_THREADS}, {thread}", self.frame.ids.block);
        index
    }

    /// Emits one work item and its part in the sinks, which ask for no order. A work item that
    /// fails takes part in none.
    fn work_item(&self, asm: &mut Assembly, sums: &[Finish], index: Reg) -> Result<(), Reason> {
        let kernel = self.kernel;
        let mut operands = self.frame.operands.clone();
        let indices = Indices::of(asm, self, index);
        indices.define(kernel, &mut operands);
        let next = asm.label();
        let mut sums = sums.iter();
        for (at, stage) in kernel.stages.iter().enumerate() {
            let failure = &self.frame.failure;
            let mut item = WorkItem::new(asm, &kernel.types, self.spaces, operands, failure);
            item.block(&stage.body)?;
            operands = item.finish(at, index.into(), next);
            let mut item = WorkItem::new(asm, &kernel.types, self.spaces, operands, failure);
            for (number, sink) in stage.sinks.iter().enumerate() {
                match self.role(at, number) {
                    Role::Grid(_) => {
                        let Some((Finish { combine, what: What::Grid { sum, .. }, .. }, element)) =
                            sums.next().zip(sink.combined().map(|(_, value)| value))
                        else {
                            continue;
                        };
                        let element = item.operand(element);
                        let next = item.asm.combine(combine.0, combine.1, (*sum).into(), element);
                        item.asm.move_to(*sum, next.into());
                    }
                    Role::Free => free_sink(&mut item, kernel, sink),
                    _ => {}
                }
            }
            operands = item.into_operands();
        }
        asm.place(next);
        Ok(())
    }
}

/// Emits the part of a work item in a scatter or histogram.
pub fn free_sink(item: &mut WorkItem<'_>, kernel: &Kernel, sink: &Sink) {
    let (array, index, value, when) = match sink {
        Sink::Scatter { array, index, value, when } => (array, index, value, when),
        Sink::Histogram { array, index, value, when, .. } => (array, index, value, when),
        Sink::Reduce { .. } | Sink::Scan { .. } | Sink::Pack { .. } | Sink::Emit { .. } => return,
    };
    let skip = when.map(|when| {
        let (when, skip) = (item.register(when), item.asm.label());
        emit!(item.asm, "@!{when} bra {skip}");
        skip
    });
    let address = item.address(*array, *index);
    let (ty, value) = (kernel.scalar_ty(*value), item.operand(*value));
    match sink {
        Sink::Histogram { combine, .. } => {
            collective::update(item.asm, *combine, ty, address, value);
        }
        _ => item.asm.store(ty, AddressSpace::Global, address, value),
    }
    if let Some(skip) = skip {
        item.asm.place(skip);
    }
}

/// The indices of a work item.
pub struct Indices {
    /// The index in the whole space.
    pub index: Reg,
    /// In a space with segments: the segment, and the position there.
    pub in_segment: Option<(Reg, Reg)>,
}

impl Indices {
    /// Emits the indices of a work item.
    pub fn of(asm: &mut Assembly, entry: &Entry<'_>, index: Reg) -> Indices {
        let (segment, start) = match &entry.kernel.space {
            Space::Flat { .. } => return Indices { index, in_segment: None },
            Space::Regular { length, .. } => {
                let (segment, start) = (asm.register(Class::B64), asm.register(Class::B64));
                let length = entry.param(*length);
                emit!(asm, "div.u64 {segment}, {index}, {length}");
                emit!(asm, "mul.lo.s64 {start}, {segment}, {length}");
                (segment, start)
            }
            Space::Segmented { segments, offsets } => {
                let offsets = entry.array(asm, *offsets);
                segment_of(asm, entry.param(*segments), offsets, index)
            }
        };
        let position = asm.register(Class::B64);
        emit!(asm, "sub.s64 {position}, {index}, {start}");
        Indices { index, in_segment: Some((segment, position)) }
    }

    /// Gives the values that name the indices in the code their operands.
    pub fn define(&self, kernel: &Kernel, operands: &mut [Option<Operand>]) {
        let all = match self.in_segment {
            None => vec![self.index],
            Some((segment, position)) => vec![segment, position, self.index],
        };
        for (value, reg) in kernel.indices.iter().zip(all) {
            operands[value.0 as usize] = Some(reg.into());
        }
    }
}

/// Emits the search for the segment of an index: the last one that begins there or before.
/// Returns the segment and its first index.
fn segment_of(asm: &mut Assembly, segments: Operand, offsets: Reg, index: Reg) -> (Reg, Reg) {
    let [low, high, middle, start] = [(); 4].map(|()| asm.register(Class::B64));
    // offsets[low] is at most the index, offsets[high] more.
    asm.move_to(low, Literal::I64(0).into());
    asm.move_to(high, segments);
    asm.move_to(start, Literal::I64(0).into());
    let (head, above, end) = (asm.label(), asm.label(), asm.label());
    asm.place(head);
    let width = asm.register(Class::B64);
    let narrow = asm.register(Class::Predicate);
    emit!(asm, "sub.s64 {width}, {high}, {low}");
    emit!(asm, "setp.le.s64 {narrow}, {width}, 1");
    emit!(asm, "@{narrow} bra {end}");
    emit!(asm, "shr.u64 {width}, {width}, 1");
    emit!(asm, "add.s64 {middle}, {low}, {width}");
    let address = asm.element_address(offsets, middle.into(), 8);
    let offset = asm.load(Ty::I64, AddressSpace::Global, address);
    let beyond = asm.register(Class::Predicate);
    emit!(asm, "setp.gt.s64 {beyond}, {offset}, {index}");
    emit!(asm, "@{beyond} bra {above}");
    asm.move_to(low, middle.into());
    asm.move_to(start, offset.into());
    emit!(asm, "bra {head}");
    asm.place(above);
    asm.move_to(high, middle.into());
    emit!(asm, "bra {head}");
    asm.place(end);
    (low, start)
}
