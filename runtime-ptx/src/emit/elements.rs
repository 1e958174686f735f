//! A pass over the elements of a flat index space, for sinks that ask for no order.
//!
//! A thread takes every n-th index of a grid of n threads, so that neighbours access neighbouring
//! elements, and any grid covers any space. Of short code it takes some neighbouring indices at a
//! time, with vector accesses (`vector`). It combines its elements of a reduction in a register.
//!
//! ```text
//! for each vector of work items of this thread: loads; the work items; stores
//! the last work items, which fill no vector
//! ```

use super::address::AddressSpace;
use super::assembly::{Assembly, Class, Operand, Reg, emit};
use super::body::WorkItem;
use super::collective::WARP_THREADS;
use super::failure::{self, Details};
use super::finish::Finish;
use super::frame::{BLOCK_THREADS, Entry, area_name};
use super::plan::Role;
use super::rows;
use super::target::Target;
use super::ticks::Ticks;
use super::traps::may_fail;
use super::vector::Vector;
use nesl_runtime::kir::{Inst, Sink, Ty, Value, walk};
use nesl_runtime::runtime::Reason;

/// Emits the loop of a thread over its indices: those of its block, or of each part that the block
/// takes.
pub fn each_index(entry: &Entry<'_>, asm: &mut Assembly, sums: &[Finish]) -> Result<(), Reason> {
    let ids = &entry.frame.ids;
    let Some(parts) = sums.iter().find_map(|sum| sum.parts) else {
        return each_index_of(entry, asm, sums, (ids.block, ids.blocks));
    };
    let part = asm.register(Class::B32);
    asm.move_to(part, ids.block.into());
    let (head, end) = (asm.label(), asm.label());
    asm.place(head);
    let over = asm.register(Class::Predicate);
    emit!(asm, "setp.ge.u32 {over}, {part}, {parts}");
    emit!(asm, "@{over} bra {end}");
    sums.iter().for_each(|sum| sum.begin(asm, sum.sum));
    each_index_of(entry, asm, sums, (part, parts))?;
    let number = asm.convert(Ty::I32, Ty::I64, part.into());
    for sum in sums {
        sum.leave(asm, ids, BLOCK_THREADS / WARP_THREADS, sum.sum, number);
    }
    // The shared memory of the reductions is written again for the next part.
    asm.barrier();
    emit!(asm, "add.s32 {part}, {part}, {}", ids.blocks);
    emit!(asm, "bra {head}");
    asm.place(end);
    Ok(())
}

/// Emits the loop of a thread over its indices as one of a block or part, by its number, of so many.
fn each_index_of(
    entry: &Entry<'_>,
    asm: &mut Assembly,
    sums: &[Finish],
    (part, parts): (Reg, Reg),
) -> Result<(), Reason> {
    let live = entry.live();
    let may_fail = live.iter().flatten().any(|inst| may_fail(inst));
    // Where elements are combined by parts, who combines which ones is the same on all devices.
    let most_bytes = match entry.plan.has_parts() {
        true => Target::default().access_bytes(),
        false => asm.target.access_bytes(),
    };
    let vector = Vector::of(entry.kernel, &live[0], may_fail, most_bytes);
    let count = entry.count(asm);
    let index = entry.first_index(asm, part);
    let stride = asm.register(Class::B64);
    emit!(asm, "mul.wide.u32 {stride}, {parts}, {BLOCK_THREADS}");
    // Memory limits the number of work items that have an element of an array each; others may take
    // the device any time.
    let is_bounded = !entry.accesses_at_index().arrays.is_empty();
    let ticks = (!is_bounded).then(|| entry.frame.ticks.unwrap_or_else(|| Ticks::begin(asm)));
    if vector.width == 1 {
        return each_from(asm, (index, stride, count), ticks, |asm, index| {
            work_item(entry, asm, sums, index, &live)
        });
    }
    let (last, vectors) = (asm.register(Class::B64), asm.register(Class::B64));
    let width = vector.width;
    emit!(asm, "and.b64 {vectors}, {count}, {}", -(width as i64));
    emit!(asm, "add.s64 {last}, {index}, {vectors}");
    emit!(asm, "mul.lo.s64 {index}, {index}, {width}");
    emit!(asm, "mul.lo.s64 {stride}, {stride}, {width}");
    let aligned = vector.is_aligned(asm, entry);
    each_from(asm, (index, stride, vectors.into()), ticks, |asm, index| {
        vector_of_items(entry, asm, sums, index, (&vector, &live[0], aligned))
    })?;
    each_from(asm, (last, stride, count), None, |asm, index| {
        work_item(entry, asm, sums, index, &live)
    })
}

/// Emits a loop over every `stride`-th index from one on, which an interrupt ends if iterations are counted.
fn each_from(
    asm: &mut Assembly,
    (index, stride, count): (Reg, Reg, Operand),
    ticks: Option<Ticks>,
    body: impl FnOnce(&mut Assembly, Reg) -> Result<(), Reason>,
) -> Result<(), Reason> {
    let (head, end) = (asm.label(), asm.label());
    let over = asm.register(Class::Predicate);
    emit!(asm, "setp.ge.s64 {over}, {index}, {count}");
    emit!(asm, "@{over} bra {end}");
    asm.place(head);
    body(asm, index)?;
    if let Some(ticks) = ticks {
        let interrupted = asm.label();
        ticks.count(asm, interrupted);
        asm.out_of_line(|asm| {
            asm.place(interrupted);
            failure::record(asm, 0, index.into(), &Details::Interrupted);
            ticks.look_at_once(asm);
            emit!(asm, "bra {end}");
        });
    }
    let more = asm.register(Class::Predicate);
    emit!(asm, "add.s64 {index}, {index}, {stride}");
    emit!(asm, "setp.lt.s64 {more}, {index}, {count}");
    emit!(asm, "@{more} bra {head}");
    asm.place(end);
    Ok(())
}

/// Emits the work items of a vector.
fn vector_of_items(
    entry: &Entry<'_>,
    asm: &mut Assembly,
    sums: &[Finish],
    first: Reg,
    (vector, insts, aligned): (&Vector, &[&Inst], Reg),
) -> Result<(), Reason> {
    let insts: Vec<&Inst> = insts.iter().copied().filter(|inst| !vector.contains(inst)).collect();
    let needs_index = needs_index(entry, &insts) || vector.stores_value(entry.kernel.indices[0]);
    let mut done = Vec::with_capacity(vector.width);
    for (at, loaded) in vector.load(asm, entry, first, aligned).into_iter().enumerate() {
        let index = match at {
            0 => first,
            _ if !needs_index => first,
            at => {
                let index = asm.register(Class::B64);
                emit!(asm, "add.s64 {index}, {first}, {at}");
                index
            }
        };
        let mut operands = entry.frame.operands.clone();
        for (value, operand) in loaded {
            operands[value.0 as usize] = Some(operand);
        }
        done.push(stages(entry, asm, sums, index, (operands, std::slice::from_ref(&insts)))?);
    }
    vector.store(asm, entry, first, aligned, &done);
    Ok(())
}

/// Returns true if work items that execute some instructions, and the sinks, need their own index.
fn needs_index(entry: &Entry<'_>, insts: &[&Inst]) -> bool {
    let mut found = insts.iter().any(|inst| may_fail(inst));
    let index = entry.kernel.indices[0];
    let mut visit = |read: Value| found |= read == index;
    insts.iter().for_each(|inst| walk::each_read(inst, &mut visit));
    entry.kernel.stages[0].sinks.iter().for_each(|sink| sink.each_operand(&mut visit));
    found || entry.is_by_work_item()
}

/// Emits one work item and its part in the sinks, which ask for no order. A work item that
/// fails takes part in none.
fn work_item(
    entry: &Entry<'_>,
    asm: &mut Assembly,
    sums: &[Finish],
    index: Reg,
    live: &[Vec<&Inst>],
) -> Result<(), Reason> {
    let operands = entry.frame.operands.clone();
    stages(entry, asm, sums, index, (operands, live)).map(|_| ())
}

/// Emits the stages of a work item of which the given values are known. Returns the operands of all.
fn stages(
    entry: &Entry<'_>,
    asm: &mut Assembly,
    sums: &[Finish],
    index: Reg,
    (mut operands, live): (Vec<Option<Operand>>, &[Vec<&Inst>]),
) -> Result<Vec<Option<Operand>>, Reason> {
    let kernel = entry.kernel;
    entry.frame.begin_items(asm);
    operands[kernel.indices[0].0 as usize] = Some(index.into());
    let next = asm.label();
    let mut sums = sums.iter();
    for (at, insts) in live.iter().enumerate() {
        let (stage, frame) = (&kernel.stages[at], entry.frame);
        let mut item = WorkItem::new(asm, &kernel.types, entry.spaces, operands, frame);
        item.insts(insts)?;
        operands = item.finish(at, index.into(), next);
        let mut item = WorkItem::new(asm, &kernel.types, entry.spaces, operands, frame);
        for (number, sink) in stage.sinks.iter().enumerate() {
            match entry.role(at, number) {
                Role::Grid(_) => {
                    let Some((sum, (_, element))) = sums.next().zip(sink.combined()) else {
                        continue;
                    };
                    let element = item.operand(element);
                    item.asm.accumulate(sum.combine, sum.sum, element);
                }
                role @ (Role::Free | Role::Tag(_) | Role::Tagged(_)) => {
                    free_sink(&mut item, entry, sink, role, index);
                }
                _ => {}
            }
        }
        operands = item.into_operands();
    }
    asm.place(next);
    Ok(operands)
}

/// Emits the part of a work item in a scatter or histogram; `item_index` is its index in the space.
pub fn free_sink(
    item: &mut WorkItem<'_>,
    entry: &Entry<'_>,
    sink: &Sink,
    role: Role,
    item_index: Reg,
) {
    let (array, index, value, when) = match sink {
        Sink::Scatter { array, index, value, when } => (array, index, value, when),
        Sink::Histogram { array, index, value, when, .. } => (array, index, value, when),
        Sink::Reduce { .. } | Sink::Scan { .. } | Sink::Pack { .. } | Sink::Emit { .. } => return,
    };
    let skip = item.asm.label();
    if let Some(when) = when {
        let when = item.register(*when);
        emit!(item.asm, "@!{when} bra {skip}");
    }
    if let Role::Tag(area) | Role::Tagged(area) = role {
        let (tag, index) = (item.asm.register(Class::B64), item.operand(*index));
        emit!(item.asm, "add.s64 {tag}, {item_index}, 1");
        let area = item.asm.global_param(&area_name(area));
        let slot = item.asm.element_address(area, index, 8);
        if let Role::Tag(_) = role {
            emit!(item.asm, "red.relaxed.gpu.global.max.u64 [{slot}], {tag}");
            item.asm.place(skip);
            return;
        }
        let (last, other) = (item.asm.register(Class::B64), item.asm.register(Class::Predicate));
        emit!(item.asm, "ld.global.b64 {last}, [{slot}]");
        emit!(item.asm, "setp.ne.s64 {other}, {last}, {tag}");
        emit!(item.asm, "@{other} bra {skip}");
    }
    if let Sink::Histogram { combine, length: Some(length), .. } = sink {
        rows::add_row(item, *combine, (*array, *index), (*value, *length));
        item.asm.place(skip);
        return;
    }
    let (ty, operand) = (entry.kernel.scalar_ty(*value), item.operand(*value));
    match sink {
        Sink::Histogram { combine, .. } => {
            let index = item.operand(*index);
            rows::update(item, (*combine, *array), index, operand);
        }
        _ => {
            let address = item.address(*array, *index);
            item.asm.store_relaxed(ty, AddressSpace::Global, address, operand);
        }
    }
    item.asm.place(skip);
}
