//! A pass over the elements of an index space, for sinks that ask for no order.
//!
//! A thread takes every n-th index of a grid of n threads, so that neighbours access neighbouring
//! elements, and any grid covers any space. It combines its elements of a reduction in a register.

use super::address::AddressSpace;
use super::assembly::{Assembly, Class, Reg, emit};
use super::body::WorkItem;
use super::collective;
use super::finish::{Finish, What};
use super::frame::{BLOCK_THREADS, Entry};
use super::indices::Indices;
use super::plan::Role;
use nesl_runtime::kir::Sink;
use nesl_runtime::runtime::Reason;

/// Emits the loop of a thread over its indices, of a pass of one stage.
pub fn each_index(entry: &Entry<'_>, asm: &mut Assembly, sums: &[Finish]) -> Result<(), Reason> {
    let count = entry.count(asm);
    let index = entry.first_index(asm);
    let stride = asm.register(Class::B64);
    emit!(asm, "mul.wide.u32 {stride}, {}, {BLOCK_THREADS}", entry.frame.ids.blocks);
    let (head, end) = (asm.label(), asm.label());
    asm.place(head);
    let over = asm.register(Class::Predicate);
    emit!(asm, "setp.ge.s64 {over}, {index}, {count}");
    emit!(asm, "@{over} bra {end}");
    work_item(entry, asm, sums, index)?;
    emit!(asm, "add.s64 {index}, {index}, {stride}");
    emit!(asm, "bra {head}");
    asm.place(end);
    Ok(())
}

/// Emits one work item and its part in the sinks, which ask for no order. A work item that
/// fails takes part in none.
fn work_item(
    entry: &Entry<'_>,
    asm: &mut Assembly,
    sums: &[Finish],
    index: Reg,
) -> Result<(), Reason> {
    let kernel = entry.kernel;
    let mut operands = entry.frame.operands.clone();
    let indices = Indices::of(asm, entry, index);
    indices.define(kernel, &mut operands);
    let next = asm.label();
    let mut sums = sums.iter();
    for (at, insts) in entry.live().iter().enumerate() {
        let (stage, failure) = (&kernel.stages[at], &entry.frame.failure);
        let mut item = WorkItem::new(asm, &kernel.types, entry.spaces, operands, failure);
        item.insts(insts)?;
        operands = item.finish(at, index.into(), next);
        let mut item = WorkItem::new(asm, &kernel.types, entry.spaces, operands, failure);
        for (number, sink) in stage.sinks.iter().enumerate() {
            match entry.role(at, number) {
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
                role @ (Role::Free | Role::Tag(_) | Role::Tagged(_)) => {
                    free_sink(&mut item, entry, sink, role, index);
                }
                _ => {}
            }
        }
        operands = item.into_operands();
    }
    asm.place(next);
    Ok(())
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
        let slot = item.asm.element_address(entry.frame.areas[area], index, 8);
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
    let address = item.address(*array, *index);
    let (ty, value) = (entry.kernel.scalar_ty(*value), item.operand(*value));
    match sink {
        Sink::Histogram { combine, .. } => {
            collective::update(item.asm, *combine, ty, address, value);
        }
        _ => item.asm.store(ty, AddressSpace::Global, address, value),
    }
    item.asm.place(skip);
}
