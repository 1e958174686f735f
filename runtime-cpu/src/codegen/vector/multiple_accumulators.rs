//! Stretches of memory that a reduction goes through side by side.
//!
//! ```text
//! one stretch     ▸━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
//! side by side    ▸━━━━━━━━ ▸━━━━━━━━ ▸━━━━━━━━ ▸━━━━━━━━ then what is left
//! ```
//!
//! What is far away is waited for: how fast it comes depends on how many reads are under way. Of
//! one stretch, read in vectors of 16 bytes, those are as few as a core's queue of reads holds;
//! of several, what the memory's own prefetching has begun for each comes on top. A sum of many
//! numbers takes two thirds of the time in this way.

use super::lanes::{Lanes, VectorEmitter};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, Type};
use nesl_runtime::kir::uniformity::Uniformity;
use nesl_runtime::kir::vectorize::{VectorFacts, is_wide};
use nesl_runtime::kir::{Combine, Inst, Op, Ty, ValueTy};

/// How many stretches. Twice as many gain nothing.
pub const STREAMS: usize = 4;

/// Of fewer elements than these the stretches would be too short for prefetching.
pub const LONG: i64 = 8192;

/// The length of a stretch is so much more than a multiple of so much: their beginnings lie in
/// different sets of the caches, ...
const SETS: [i64; 2] = [136, 256];

/// ... and, of elements as many as the third, in different banks of the memory, too.
const BANKS: [i64; 3] = [3072 + 136, 16384, 1 << 20];

/// Code of more instructions than this does not wait for memory.
const SHORT: usize = 24;

/// Of code that reads neighbouring elements and does little with them, how many elements a group in
/// a strand has, where what it gives is combined: as many as there are registers for what is read
/// of all multiple_accumulators.
pub fn elements<'i>(
    insts: impl Iterator<Item = &'i Inst>,
    facts: &VectorFacts,
    combined: Ty,
) -> Option<usize> {
    let (mut reads, mut length) = (0, 0);
    for inst in insts {
        length += 1;
        match &inst.op {
            Op::Load { index, .. } => match facts.of(*index) {
                Uniformity::Affine => reads += 1,
                Uniformity::Uniform => {}
                Uniformity::Varying => return None,
            },
            Op::Const(_)
            | Op::Unary(..)
            | Op::Binary(..)
            | Op::Fma(..)
            | Op::Select(..)
            | Op::Convert(..)
            | Op::Bits(..)
            | Op::Slice(..)
            | Op::Check { .. } => {}
            Op::Text(_)
            | Op::Alloc(..)
            | Op::Store { .. }
            | Op::Copy { .. }
            | Op::If { .. }
            | Op::While { .. }
            | Op::For { .. }
            | Op::Call(..)
            | Op::Extern(..)
            | Op::Fail { .. }
            | Op::Mark
            | Op::Compact { .. } => return None,
        }
    }
    let least = facts.min_elements.max(if is_wide(combined) { 2 } else { 4 });
    match reads {
        _ if length > SHORT => None,
        0 => None,
        1 => Some(2 * least),
        _ => Some(least),
    }
}

impl VectorEmitter<'_, '_, '_> {
    /// Combines the elements from the first up to the second in stretches, if they are many; `group`
    /// is the code of so many elements from an index on, and gives what is to be combined. Gives where
    /// the elements that are left begin, and the lanes so far, of as many elements as groups have now.
    /// Where a element fails nothing is done: all are left.
    pub fn multiple_accumulators(
        &mut self,
        [begin, end]: [ir::Value; 2],
        elements: usize,
        (combine, ty): (Combine, Ty),
        group: &mut dyn FnMut(&mut Self, ir::Value) -> Lanes,
    ) -> (ir::Value, Lanes) {
        let neutral = Lanes::Uniform(self.c.literal(combine.neutral(ty)));
        let most = self.elements;
        let mut nothing = vec![begin];
        nothing.extend(self.flatten(&neutral, ty, Uniformity::Varying));
        let join = self.block_like(&nothing);
        let long = self.c.b.create_block();
        let length = self.c.b.ins().isub(end, begin);
        let many = self.c.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, length, LONG);
        self.c.branch(many, (long, &[]), (join, &nothing));

        self.c.b.switch_to_block(long);
        let part = self.c.b.ins().ushr_imm_u(length, i64::from(STREAMS.ilog2()));
        let mut rounded = |[more, step]: [i64; 2]| {
            let part = self.c.b.ins().iadd_imm_s(part, -more);
            let part = self.c.b.ins().band_imm_s(part, -step);
            self.c.b.ins().iadd_imm_s(part, more)
        };
        let [more, step, many_more] = BANKS;
        let (fine, coarse) = (rounded(SETS), rounded([more, step]));
        let huge = self.c.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, length, many_more);
        let part = self.c.b.ins().select(huge, coarse, fine);
        let stop = self.c.b.ins().iadd(begin, part);
        self.elements = elements;
        let mut start = vec![begin];
        for _ in 0..STREAMS {
            start.extend(self.flatten(&neutral, ty, Uniformity::Varying));
        }
        let head = self.block_like(&start);
        let (again, done) = (self.c.b.create_block(), self.c.b.create_block());
        let failed = self.c.b.create_block();
        self.c.jump(head, &start);
        self.c.b.switch_to_block(head);
        let params = self.c.b.block_params(head).to_vec();
        let at = params[0];
        let mut rest = params[1..].iter().copied();
        let sums: Vec<Lanes> = (0..STREAMS)
            .map(|_| self.unflatten(&mut rest, ValueTy::Scalar(ty), Uniformity::Varying))
            .collect();
        let going = self.c.b.ins().icmp(IntCC::SignedLessThan, at, stop);
        self.c.go_on_if(going, again, done);

        self.c.b.switch_to_block(again);
        self.c.poll();
        // Code in multiple_accumulators writes nothing.
        let read_only = std::mem::replace(&mut self.read_only, true);
        let bail = std::mem::replace(&mut self.bail, failed);
        let mut next = vec![self.c.b.ins().iadd_imm_s(at, elements as i64)];
        let mut index = at;
        for (strand, sum) in sums.iter().enumerate() {
            if strand > 0 {
                index = self.c.b.ins().iadd(index, part);
            }
            let x = group(self, index);
            let sum = self.combine(combine, ty, sum, &x);
            next.extend(self.flatten(&sum, ty, Uniformity::Varying));
        }
        self.c.jump(head, &next);
        self.bail = bail;
        self.read_only = read_only;

        self.c.b.switch_to_block(failed);
        self.c.b.set_cold_block(failed);
        self.c.jump(join, &nothing);

        self.c.b.switch_to_block(done);
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

    /// A block that is handed values of the types of these.
    fn block_like(&mut self, values: &[ir::Value]) -> ir::Block {
        let types: Vec<Type> = values.iter().map(|v| self.c.b.func.dfg.value_type(*v)).collect();
        self.c.block_with(types)
    }
}
