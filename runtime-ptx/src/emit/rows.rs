//! Updates of histograms by a work item: of a bin by a value, or of neighbouring bins by the elements of
//! an array, a row.

use super::assembly::{Class, Operand, emit};
use super::body::WorkItem;
use super::collective;
use super::tables::SharedTable;
use nesl_runtime::kir::{Combine, Literal, Value};

/// Emits the update of a bin of a histogram, in the table of the block or in global memory.
pub fn update(
    item: &mut WorkItem<'_>,
    (combine, array): (Combine, Value),
    index: Operand,
    value: Operand,
) {
    let (ty, base) = (item.element(array), item.register(array));
    let table = SharedTable::find(&item.frame.tables, array, (combine, ty));
    let asm = &mut *item.asm;
    let (global, end) = (asm.label(), asm.label());
    if let Some(table) = table {
        let none = table.is_missing(asm);
        emit!(asm, "@{none} bra {global}");
        table.update(asm, index, value);
        emit!(asm, "bra {end}");
    }
    asm.place(global);
    let address = asm.element_address(base, index, ty.size());
    collective::update(asm, combine, ty, address, value);
    asm.place(end);
}

/// Emits the addition of a row of a length to the bins from an index on, by atomic instructions.
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
    update(item, (combine, array), bin.into(), element.into());
    let asm = &mut *item.asm;
    emit!(asm, "add.s64 {at}, {at}, 1");
    emit!(asm, "bra {head}");
    asm.place(end);
}
