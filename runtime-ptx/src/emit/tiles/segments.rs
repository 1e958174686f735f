//! Reductions of segments over the tiles, and the results of segments without elements.

use super::Tile;
use crate::emit::address::AddressSpace;
use crate::emit::assembly::{Assembly, Class, Reg, emit};
use crate::emit::frame::{BLOCK_THREADS, Entry};
use crate::emit::plan::{Pass, Role};
use crate::emit::scan::scan_chunk;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{Combine, Literal, Scope, Sink, Space, Ty};

impl Tile<'_> {
    /// Emits the reduction of segments into an array: the last element of each has the result.
    pub(super) fn reduce_segments(
        &self,
        asm: &mut Assembly,
        combine: (Combine, Ty),
        values: Vec<Reg>,
        area: usize,
        out: Reg,
    ) {
        let ty = combine.1;
        let rows = self.rows(Scope::Segment, values);
        let chunk = scan_chunk(asm, &self.place, combine, &rows);
        let before = self.before_chunk(asm, combine, chunk.total, (area, None));
        let size = element_bytes(self.entry, out, ty);
        self.each_last(asm, |asm, segment, row| {
            let total = chunk.with_before(asm, &self.place, combine, &rows, row, before);
            let address = asm.element_address(out, segment.into(), size);
            asm.store(ty, AddressSpace::Global, address, total.into());
        });
    }

    /// Emits the result of a reduction of segments, which an earlier pass has left.
    pub(super) fn read(&mut self, asm: &mut Assembly, sink: &Sink, results: usize) {
        let Sink::Reduce { combine, value, out, result: Some(result), .. } = sink else { return };
        let ty = self.entry.kernel.scalar_ty(*value);
        let area = self.entry.frame.areas[results];
        let out = match (self.entry.pass, out) {
            (Pass::Final, Some(out)) => Some(self.entry.array(asm, *out)),
            _ => None,
        };
        for item in &mut self.items {
            let found = item.segment.as_ref().or_bug("a sink by segment has segments");
            let segment = self.segments.segment(asm, found);
            let neutral = asm.constant(combine.neutral(ty));
            let total = asm.register(neutral.class);
            asm.move_to(total, neutral.into());
            let next = asm.label();
            emit!(asm, "@!{} bra {next}", item.alive);
            let address = asm.element_address(area, segment.into(), 8);
            let loaded = asm.load(ty, AddressSpace::Global, address);
            asm.move_to(total, loaded.into());
            if let Some(out) = out {
                emit!(asm, "@!{} bra {next}", found.is_last);
                let address = asm.element_address(out, segment.into(), ty.size());
                asm.store(ty, AddressSpace::Global, address, total.into());
            }
            asm.place(next);
            item.operands[result.0 as usize] = Some(total.into());
        }
    }
}

/// The distance of the results of a reduction: 8 bytes in an area, else the size of an element.
fn element_bytes(entry: &Entry<'_>, out: Reg, ty: Ty) -> usize {
    if entry.frame.areas.contains(&out) { 8 } else { ty.size() }
}

/// Emits the results of segments without elements: no work item knows of them.
pub(super) fn empty_segments(asm: &mut Assembly, entry: &Entry<'_>) {
    let mut outs = Vec::new();
    for (stage, code) in entry.stages().iter().enumerate() {
        for (number, sink) in code.sinks.iter().enumerate() {
            let (out, neutral) = match (entry.role(stage, number), sink) {
                (Role::Segments(_) | Role::Read(_), Sink::Reduce { combine, value, out, .. }) => {
                    (*out, combine.neutral(entry.kernel.scalar_ty(*value)))
                }
                (
                    Role::Ordered(..),
                    Sink::Scan { scope: Scope::Segment, combine, value, total, .. },
                ) => (*total, combine.neutral(entry.kernel.scalar_ty(*value))),
                (Role::Ordered(..), Sink::Pack { scope: Scope::Segment, count, .. }) => {
                    (Some(*count), Literal::I64(0))
                }
                _ => continue,
            };
            if let Some(out) = out
                && entry.pass == Pass::Final
            {
                outs.push((entry.array(asm, out), neutral));
            }
        }
    }
    let (segments, offsets) = match &entry.kernel.space {
        Space::Flat { .. } => return,
        Space::Regular { segments, length } => (*segments, Err(*length)),
        Space::Segmented { segments, offsets } => (*segments, Ok(*offsets)),
    };
    if outs.is_empty() {
        return;
    }
    let (segment, stride) =
        (entry.first_index(asm, entry.frame.ids.block), asm.register(Class::B64));
    emit!(asm, "mul.wide.u32 {stride}, {}, {BLOCK_THREADS}", entry.frame.ids.blocks);
    let (head, next, end) = (asm.label(), asm.label(), asm.label());
    asm.place(head);
    let over = asm.register(Class::Predicate);
    emit!(asm, "setp.ge.s64 {over}, {segment}, {}", entry.param(segments));
    emit!(asm, "@{over} bra {end}");
    let has_some = asm.register(Class::Predicate);
    match offsets {
        Err(length) => emit!(asm, "setp.gt.s64 {has_some}, {}, 0", entry.param(length)),
        Ok(offsets) => {
            let offsets = entry.array(asm, offsets);
            let address = asm.element_address(offsets, segment.into(), 8);
            let (from, to) = (asm.register(Class::B64), asm.register(Class::B64));
            emit!(asm, "ld.global.b64 {from}, [{address}]");
            emit!(asm, "ld.global.b64 {to}, [{address}+8]");
            emit!(asm, "setp.lt.s64 {has_some}, {from}, {to}");
        }
    }
    emit!(asm, "@{has_some} bra {next}");
    for (out, neutral) in outs {
        let ty = neutral.ty();
        let address = asm.element_address(out, segment.into(), ty.size());
        let neutral = asm.constant(neutral);
        asm.store(ty, AddressSpace::Global, address, neutral.into());
    }
    asm.place(next);
    emit!(asm, "add.s64 {segment}, {segment}, {stride}");
    emit!(asm, "bra {head}");
    asm.place(end);
}
