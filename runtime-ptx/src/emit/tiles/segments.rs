//! Reductions of segments over the tiles, and the results of segments without elements.

use super::Tile;
use super::spaces::{Neutral, store_neutrals};
use crate::emit::address::AddressSpace;
use crate::emit::assembly::{Assembly, Class, emit};
use crate::emit::frame::{BLOCK_THREADS, Entry, area_name};
use crate::emit::plan::{Pass, Role};
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{Literal, Scope, Sink, Space};

impl Tile<'_> {
    /// Emits the result of a reduction of segments, which an earlier pass has left.
    pub(super) fn read(&mut self, asm: &mut Assembly, sink: &Sink, results: usize) {
        let Sink::Reduce { combine, value, out, result: Some(result), .. } = sink else { return };
        let ty = self.entry.kernel.scalar_ty(*value);
        let area = asm.global_param(&area_name(results));
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

/// The results of segments without elements in a pass: no work item knows of them.
pub(super) fn neutrals(asm: &mut Assembly, entry: &Entry<'_>) -> Vec<Neutral> {
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
    outs
}

/// Emits the results of the segments of a regular space if they have no elements.
pub(super) fn empty_segments(asm: &mut Assembly, entry: &Entry<'_>, neutrals: &[Neutral]) {
    let Space::Regular { segments, length } = &entry.kernel.space else { return };
    if neutrals.is_empty() {
        return;
    }
    let (has_some, head, end) = (asm.register(Class::Predicate), asm.label(), asm.label());
    emit!(asm, "setp.gt.s64 {has_some}, {}, 0", entry.param(*length));
    emit!(asm, "@{has_some} bra {end}");
    let (segment, stride) =
        (entry.first_index(asm, entry.frame.ids.block), asm.register(Class::B64));
    emit!(asm, "mul.wide.u32 {stride}, {}, {BLOCK_THREADS}", entry.frame.ids.blocks);
    asm.place(head);
    let over = asm.register(Class::Predicate);
    emit!(asm, "setp.ge.s64 {over}, {segment}, {}", entry.param(*segments));
    emit!(asm, "@{over} bra {end}");
    store_neutrals(asm, neutrals, segment);
    emit!(asm, "add.s64 {segment}, {segment}, {stride}");
    emit!(asm, "bra {head}");
    asm.place(end);
}
