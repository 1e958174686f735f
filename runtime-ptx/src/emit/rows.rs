//! Histograms of rows: each work item adds the elements of an array to neighbouring bins.

use super::assembly::{Class, emit};
use super::body::WorkItem;
use super::tables;
use nesl_runtime::kir::{Combine, Literal, Value};

/// Emits the addition of a row of a length to the bins from an index on, by atomic instructions
/// (`tables`).
pub fn add_row(
    item: &mut WorkItem<'_>,
    combine: Combine,
    (array, index): (Value, Value),
    (row, length): (Value, Value),
) {
    let ty = item.element(row);
    let (elements, length) = (item.register(row), item.operand(length));
    let space = item.spaces.of(row);
    let first = item.register(index);
    let asm = &mut *item.asm;
    let at = asm.register(Class::B64);
    asm.move_to(at, Literal::I64(0).into());
    let (head, end) = (asm.label(), asm.label());
    asm.place(head);
    let over = asm.register(Class::Predicate);
    emit!(asm, "setp.ge.s64 {over}, {at}, {length}");
    emit!(asm, "@{over} bra {end}");
    let address = asm.element_address(elements, at.into(), ty.size());
    let element = asm.load(ty, space, address);
    let bin = asm.register(Class::B64);
    emit!(asm, "add.s64 {bin}, {first}, {at}");
    tables::update(item, (combine, array), bin.into(), element.into());
    let asm = &mut *item.asm;
    emit!(asm, "add.s64 {at}, {at}, 1");
    emit!(asm, "bra {head}");
    asm.place(end);
}
