//! Multiple accumulators: a long reduction goes through memory in several independent streams.
//!
//! ```text
//! one stream       ▸━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
//! four streams     ▸━━━━━━━━ ▸━━━━━━━━ ▸━━━━━━━━ ▸━━━━━━━━ then the rest
//! ```
//!
//! DRAM bandwidth is limited by outstanding loads: one stream of 16-byte loads does not fill the load
//! queue; four streams also engage four hardware prefetchers. A large sum takes two thirds of the time.

use super::lanes::{Lanes, VectorEmitter};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder};
use nesl_runtime::kir::lane_widths::is_wide;
use nesl_runtime::kir::uniformity::Uniformity;
use nesl_runtime::kir::vectorize::VectorFacts;
use nesl_runtime::kir::{Binary, Class, Combine, Inst, Op, Ty, Unary, Value, ValueTy};

/// The number of streams. Twice as many gain nothing.
pub const STREAMS: usize = 4;

/// The least number of elements; fewer make streams too short for prefetching.
pub const MIN_STREAMED_ELEMENTS: i64 = 8192;

/// The length of a stream is a multiple of the second number plus the first, in elements: streams then begin
/// in different sets of the caches.
const CACHE_SET_ELEMENTS: [i64; 2] = [136, 256];

/// The same two numbers for streams of at least as many elements as the third: these then begin in different
/// banks of the memory, too.
const MEMORY_BANK_ELEMENTS: [i64; 3] = [3072 + 136, 16384, 1 << 20];

/// Code of more instructions than this is not bound by memory.
const MAX_STREAMED_INSTRUCTIONS: usize = 24;

/// Returns the number of elements that each stream executes at a time, for code that loads with unit
/// stride and computes little, and whose result of type `combined` is reduced: as many as registers hold
/// the loads of all streams.
pub fn elements_per_stream<'i>(
    insts: impl Iterator<Item = &'i Inst>,
    facts: &VectorFacts,
    types: &[ValueTy],
    combined: Ty,
) -> Option<usize> {
    let is_int = |v: Value| matches!(types[v.0 as usize], ValueTy::Scalar(ty) if ty.is_int());
    let (mut reads, mut length) = (0, 0);
    for inst in insts {
        length += 1;
        match &inst.op {
            Op::Load { index, .. } => match facts.of(*index) {
                Uniformity::Affine => reads += 1,
                Uniformity::Uniform => {}
                Uniformity::Varying => return None,
            },
            Op::Slice(..) | Op::Check { .. } => {}
            // These take longer than loads.
            Op::Binary(Binary::Rem | Binary::MulHigh, a, _) if is_int(*a) => return None,
            Op::Binary(Binary::Div, ..) | Op::Unary(Unary::Sqrt, _) => return None,
            op if op.class() == Class::Pure => {}
            _ => return None,
        }
    }
    let least = facts.min_elements.max(if is_wide(combined) { 2 } else { 4 });
    match reads {
        _ if length > MAX_STREAMED_INSTRUCTIONS => None,
        0 => None,
        1 => Some(2 * least),
        _ => Some(least),
    }
}

impl VectorEmitter<'_, '_, '_> {
    /// Reduces the elements from `begin` to below `end` in streams, if they are many; `group` emits the code
    /// of `elements` elements from an index on, and returns the value to be reduced. Returns the first
    /// element that is left, and the lanes so far, of as many elements as groups have at present. If a
    /// check fails nothing is reduced: all elements are left.
    pub fn with_streams(
        &mut self,
        [begin, end]: [ir::Value; 2],
        elements: usize,
        (combine, ty): (Combine, Ty),
        group: &mut dyn FnMut(&mut Self, ir::Value) -> Lanes,
    ) -> (ir::Value, Lanes) {
        self.c.refuses_width = Some("streams are bound by memory");
        let neutral = Lanes::Uniform(self.c.literal(combine.neutral(ty)));
        let most = self.elements;
        let mut nothing = vec![begin];
        nothing.extend(self.flatten(&neutral, ty, Uniformity::Varying));
        let join = self.c.block_like(&nothing);
        let long = self.c.b.create_block();
        let length = self.c.b.ins().isub(end, begin);
        let many = self.c.b.ins().icmp_imm_s(
            IntCC::SignedGreaterThanOrEqual,
            length,
            MIN_STREAMED_ELEMENTS,
        );
        self.c.branch(many, (long, &[]), (join, &nothing));

        self.c.b.switch_to_block(long);
        let part = self.c.b.ins().ushr_imm_u(length, i64::from(STREAMS.ilog2()));
        let mut rounded = |[more, step]: [i64; 2]| {
            let part = self.c.b.ins().iadd_imm_s(part, -more);
            let part = self.c.b.ins().band_imm_s(part, -step);
            self.c.b.ins().iadd_imm_s(part, more)
        };
        let [more, step, many_more] = MEMORY_BANK_ELEMENTS;
        let (fine, coarse) = (rounded(CACHE_SET_ELEMENTS), rounded([more, step]));
        let huge = self.c.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, length, many_more);
        let part = self.c.b.ins().select(huge, coarse, fine);
        let stop = self.c.b.ins().iadd(begin, part);
        self.elements = elements;
        let mut start = vec![begin];
        for _ in 0..STREAMS {
            start.extend(self.flatten(&neutral, ty, Uniformity::Varying));
        }
        let looped = self.c.begin_loop(&start);
        let failed = self.c.b.create_block();
        let params = looped.carried.clone();
        let at = params[0];
        let mut rest = params[1..].iter().copied();
        let sums: Vec<Lanes> = (0..STREAMS)
            .map(|_| self.unflatten(&mut rest, ValueTy::Scalar(ty), Uniformity::Varying))
            .collect();
        let going = self.c.b.ins().icmp(IntCC::SignedLessThan, at, stop);
        self.c.loop_while(&looped, going);
        self.c.poll();
        // Streamed code writes nothing.
        let read_only = std::mem::replace(&mut self.read_only, true);
        let bail = std::mem::replace(&mut self.bail, failed);
        let mut next = vec![self.c.b.ins().iadd_imm_s(at, elements as i64)];
        let mut index = at;
        for (stream, sum) in sums.iter().enumerate() {
            if stream > 0 {
                index = self.c.b.ins().iadd(index, part);
            }
            let x = group(self, index);
            let sum = self.combine(combine, ty, sum, &x);
            next.extend(self.flatten(&sum, ty, Uniformity::Varying));
        }
        self.c.jump(looped.head, &next);
        self.bail = bail;
        self.read_only = read_only;

        self.c.b.switch_to_block(failed);
        self.c.b.set_cold_block(failed);
        self.c.jump(join, &nothing);

        self.c.b.switch_to_block(looped.exit);
        let behind = self.c.b.ins().imul_imm_s(part, STREAMS as i64);
        let mut found = vec![self.c.b.ins().iadd(begin, behind)];
        let sums = sums.iter().flat_map(|sum| self.flatten(sum, ty, Uniformity::Varying)).collect();
        let sums = self.lanes_of(ty, sums);
        self.elements = STREAMS * elements;
        let folded = self.folded(combine, ty, &sums, most);
        found.extend(self.flatten(&folded, ty, Uniformity::Varying));
        self.elements = most;
        self.c.jump(join, &found);
        self.c.b.switch_to_block(join);
        let params = self.c.b.block_params(join).to_vec();
        let vectors = params[1..].iter().copied().collect();
        (params[0], self.lanes_of(ty, vectors))
    }
}
