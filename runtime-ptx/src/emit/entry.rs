//! The entry of a kernel: the threads of a grid go over its index space.
//!
//! ```text
//! entry(record, launch, interrupt, partials, ticket, parameters of the kernel…)
//!   unless an earlier launch failed:
//!     for each index of this thread: index, index + threads of the grid, …
//!       the code of the work item; its sinks
//!     the reductions, over the grid
//! ```
//!
//! A thread takes every n-th index of a grid of n threads, so that neighbours access neighbouring
//! elements, and any grid covers any space.

use super::address::{AddressSpace, AddressSpaces};
use super::assembly::{Assembly, Class, Operand, Reg, emit};
use super::body::WorkItem;
use super::collective::{self, GridReduction, ThreadIds, WARP_THREADS};
use super::failure;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{
    Combine, Inst, Kernel, Literal, Op, Scope, Sink, Space, Stage, Ty, Value, ValueTy,
};
use nesl_runtime::runtime::Reason;
use std::fmt::Write;

/// The number of threads of a block.
pub const BLOCK_THREADS: u32 = 256;

/// The parameters that the launcher passes before those of the kernel, each of 8 bytes.
pub const HIDDEN_PARAMS: [&str; 5] = ["record", "launch", "interrupt", "partials", "ticket"];

/// The text of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The PTX: declarations of the module, and the entry itself.
    pub text: String,
    /// The number of reductions over the grid: each needs 8 bytes of partial results for each
    /// block.
    pub reductions: usize,
}

/// Emits the entry of a kernel without calls, under a name that PTX accepts. Fails if the kernel
/// contains something that a device cannot execute.
pub fn entry(kernel: &Kernel, name: &str) -> Result<Entry, Reason> {
    let spaces = AddressSpaces::find(kernel)?;
    let [stage] = &kernel.stages[..] else {
        return Err(Reason::Collective("then"));
    };
    stage.sinks.iter().try_for_each(|sink| supports(kernel, stage, sink))?;
    let mut asm = Assembly::default();
    let frame = Frame::load(&mut asm, kernel);
    let end = asm.label();
    failure::skip_if_failed(&mut asm, &frame.failure, end);
    let sums = neutral_sums(&mut asm, kernel, stage);
    each_index(&mut asm, kernel, &spaces, &frame, stage, &sums)?;
    if !sums.is_empty() {
        let (ids, warps) = (&frame.ids, BLOCK_THREADS / WARP_THREADS);
        collective::reduce_grid(&mut asm, ids, warps, frame.partials, frame.ticket, &sums);
    }
    asm.place(end);
    emit!(asm, "ret");
    let (globals, body) = asm.finish();
    let mut text = globals;
    write!(text, ".visible .entry {name}(").or_bug("writing to a string");
    let hidden = HIDDEN_PARAMS.iter().map(|param| format!("\n  .param .u64 {param}"));
    let params = kernel.params.iter().enumerate().map(|(at, param)| {
        format!("\n  .param .{} p{at}", param_type(kernel.types[param.0 as usize]))
    });
    text.push_str(&hidden.chain(params).collect::<Vec<_>>().join(","));
    writeln!(text, "\n)\n.maxntid {BLOCK_THREADS}, 1, 1").or_bug("writing to a string");
    text.push_str(&body);
    Ok(Entry { text, reductions: sums.len() })
}

/// Fails if a sink cannot be executed.
fn supports(kernel: &Kernel, stage: &Stage, sink: &Sink) -> Result<(), Reason> {
    match sink {
        Sink::Reduce { scope: Scope::All, .. } => Ok(()),
        Sink::Scatter { value, .. } if is_uniform(kernel, stage, *value) => Ok(()),
        Sink::Histogram { combine, value, length: None, .. } => {
            let ordered = !kernel.scalar_ty(*value).is_int() || *combine == Combine::Mul;
            if ordered { Err(Reason::Collective("histogram")) } else { Ok(()) }
        }
        Sink::Reduce { .. } => Err(Reason::Collective("reduce by segment")),
        Sink::Scan { .. } => Err(Reason::Collective("scan")),
        Sink::Pack { .. } => Err(Reason::Collective("pack")),
        Sink::Scatter { .. } => Err(Reason::Collective("scatter")),
        Sink::Histogram { .. } => Err(Reason::Collective("histogram")),
        Sink::Emit { .. } => Err(Reason::Collective("emit")),
    }
}

/// Returns true if all work items have the same value: whoever scatters it last, it is the same.
fn is_uniform(kernel: &Kernel, stage: &Stage, value: Value) -> bool {
    let constant = |inst: &Inst| inst.results == [value] && matches!(inst.op, Op::Const(_));
    kernel.params.contains(&value) || stage.body.insts.iter().any(constant)
}

/// The registers that every thread of an entry has from its beginning on.
struct Frame {
    failure: failure::Registers,
    partials: Reg,
    ticket: Reg,
    ids: ThreadIds,
    /// The operand of each parameter of the kernel, by value.
    operands: Vec<Option<Operand>>,
}

impl Frame {
    fn load(asm: &mut Assembly, kernel: &Kernel) -> Frame {
        let hidden = HIDDEN_PARAMS.map(|name| {
            let d = asm.register(Class::B64);
            emit!(asm, "ld.param.u64 {d}, [{name}]");
            d
        });
        let [record, launch, interrupt, partials, ticket] = hidden;
        let [record, interrupt, partials, ticket] =
            [record, interrupt, partials, ticket].map(|address| to_global(asm, address));
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
        Frame { failure, partials, ticket, ids: ThreadIds { thread, block, blocks }, operands }
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

/// Emits the reductions of a stage with their neutral elements.
fn neutral_sums(asm: &mut Assembly, kernel: &Kernel, stage: &Stage) -> Vec<GridReduction> {
    let mut sums = Vec::new();
    for sink in &stage.sinks {
        let Sink::Reduce { combine, value, out: Some(out), .. } = sink else { continue };
        let ty = kernel.scalar_ty(*value);
        let neutral = asm.constant(combine.neutral(ty));
        let sum = asm.register(neutral.class);
        asm.move_to(sum, neutral.into());
        let param = kernel.params.iter().position(|param| param == out);
        let at = param.or_bug("a sink writes a parameter: the verifier sees that");
        // Loaded again where it is needed: a register held through the loop would cost occupancy.
        let address = load_param(asm, at, ValueTy::Array(ty));
        sums.push(GridReduction { combine: (*combine, ty), sum, out: address });
    }
    sums
}

/// Emits the loop of a thread over its indices.
fn each_index(
    asm: &mut Assembly,
    kernel: &Kernel,
    spaces: &AddressSpaces,
    frame: &Frame,
    stage: &Stage,
    sums: &[GridReduction],
) -> Result<(), Reason> {
    let scalar =
        |value: Value| frame.operands[value.0 as usize].or_bug("a parameter has a register");
    let count = match &kernel.space {
        Space::Flat { count } => scalar(*count),
        Space::Regular { segments, length } => {
            let d = asm.register(Class::B64);
            emit!(asm, "mul.lo.s64 {d}, {}, {}", scalar(*segments), scalar(*length));
            d.into()
        }
        Space::Segmented { segments, offsets } => {
            let Operand::Reg(base) = scalar(*offsets) else { return Ok(()) };
            let address = asm.element_address(base, scalar(*segments), 8);
            asm.load(Ty::I64, AddressSpace::Global, address).into()
        }
    };
    let (index, stride) = (asm.register(Class::B64), asm.register(Class::B64));
    let threads = asm.convert(Ty::I32, Ty::I64, frame.ids.thread.into());
    emit!(asm, "mad.wide.u32 {index}, {}, {BLOCK_THREADS}, {threads}", frame.ids.block);
    emit!(asm, "mul.wide.u32 {stride}, {}, {BLOCK_THREADS}", frame.ids.blocks);
    let (head, end) = (asm.label(), asm.label());
    asm.place(head);
    let over = asm.register(Class::Predicate);
    emit!(asm, "setp.ge.s64 {over}, {index}, {count}");
    emit!(asm, "@{over} bra {end}");
    work_item(asm, kernel, spaces, frame, stage, sums, index)?;
    emit!(asm, "add.s64 {index}, {index}, {stride}");
    emit!(asm, "bra {head}");
    asm.place(end);
    Ok(())
}

/// Emits one work item and its part in the sinks.
fn work_item(
    asm: &mut Assembly,
    kernel: &Kernel,
    spaces: &AddressSpaces,
    frame: &Frame,
    stage: &Stage,
    sums: &[GridReduction],
    index: Reg,
) -> Result<(), Reason> {
    let mut operands = frame.operands.clone();
    let indices = indices(asm, kernel, frame, index);
    for (value, operand) in kernel.indices.iter().zip(indices) {
        operands[value.0 as usize] = Some(operand.into());
    }
    let next = asm.label();
    let mut item = WorkItem::new(asm, &kernel.types, spaces, operands, &frame.failure);
    item.block(&stage.body)?;
    let operands = item.finish(0, index.into(), next);
    let mut reductions = sums.iter();
    let mut item = WorkItem::new(asm, &kernel.types, spaces, operands, &frame.failure);
    for sink in &stage.sinks {
        match sink {
            Sink::Reduce { value, out: Some(_), .. } => {
                let reduction = reductions.next().or_bug("each reduction has its sum");
                let element = item.operand(*value);
                let (combine, ty) = reduction.combine;
                let sum = item.asm.combine(combine, ty, reduction.sum.into(), element);
                item.asm.move_to(reduction.sum, sum.into());
            }
            Sink::Scatter { array, index, value, when } => {
                take_part(&mut item, *when, |item| {
                    let address = item.address(*array, *index);
                    let (ty, value) = (kernel.scalar_ty(*value), item.operand(*value));
                    item.asm.store(ty, AddressSpace::Global, address, value);
                });
            }
            Sink::Histogram { array, combine, index, value, when, .. } => {
                take_part(&mut item, *when, |item| {
                    let address = item.address(*array, *index);
                    let (ty, value) = (kernel.scalar_ty(*value), item.operand(*value));
                    collective::update(item.asm, *combine, ty, address, value);
                });
            }
            Sink::Reduce { .. } | Sink::Scan { .. } | Sink::Pack { .. } | Sink::Emit { .. } => {}
        }
    }
    item.asm.place(next);
    Ok(())
}

/// Emits the part of a work item in a sink, executed only where `when` is true.
fn take_part(item: &mut WorkItem<'_>, when: Option<Value>, emit: impl FnOnce(&mut WorkItem<'_>)) {
    let skip = when.map(|when| {
        let (when, skip) = (item.register(when), item.asm.label());
        emit!(item.asm, "@!{when} bra {skip}");
        skip
    });
    emit(item);
    if let Some(skip) = skip {
        item.asm.place(skip);
    }
}

/// Emits the indices that the code of a work item knows: its index; or segment, position, index.
fn indices(asm: &mut Assembly, kernel: &Kernel, frame: &Frame, index: Reg) -> Vec<Reg> {
    let scalar =
        |value: Value| frame.operands[value.0 as usize].or_bug("a parameter has a register");
    let (segment, start) = match &kernel.space {
        Space::Flat { .. } => return vec![index],
        Space::Regular { length, .. } => {
            let (segment, start) = (asm.register(Class::B64), asm.register(Class::B64));
            emit!(asm, "div.u64 {segment}, {index}, {}", scalar(*length));
            emit!(asm, "mul.lo.s64 {start}, {segment}, {}", scalar(*length));
            (segment, start)
        }
        Space::Segmented { segments, offsets } => {
            segment_of(asm, scalar(*segments), scalar(*offsets), index)
        }
    };
    let position = asm.register(Class::B64);
    emit!(asm, "sub.s64 {position}, {index}, {start}");
    vec![segment, position, index]
}

/// Emits the search for the segment of an index: the last one that begins there or before.
/// Returns the segment and its first index.
fn segment_of(asm: &mut Assembly, segments: Operand, offsets: Operand, index: Reg) -> (Reg, Reg) {
    let Operand::Reg(offsets) = offsets else {
        return (index, index);
    };
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
