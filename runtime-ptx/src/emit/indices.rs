//! The indices of a work item: from its index in the space to its segment and position.

use super::address::AddressSpace;
use super::assembly::{Assembly, Class, Operand, Reg, emit};
use super::frame::Entry;
use nesl_runtime::kir::{Kernel, Literal, Space, Ty};

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
