//! Combination of a row into a table of equal length: vectors first, then single elements.

use super::emitter::{FunctionEmitter, clif, flags};
use super::machine::VECTOR_BYTES;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder};
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{Combine, Ty};

/// The number of vectors that an iteration of the unrolled loop adds.
const UNROLLED_VECTORS: usize = 4;

impl FunctionEmitter<'_, '_> {
    /// `table[i] := combine(table[i], row[i])` for each `i` below a length that is 0 or more. Both
    /// are addresses; a row does not lie in the table.
    pub fn combine_row(
        &mut self,
        combine: Combine,
        ty: Ty,
        table: ir::Value,
        row: ir::Value,
        length: ir::Value,
    ) {
        let mut at = self.int(0);
        // Minimum and maximum test for NaNs in the table, which is done for single elements.
        if combine == Combine::Add {
            let lanes = VECTOR_BYTES / ty.size();
            at = self.row_loop((combine, ty), UNROLLED_VECTORS, lanes, [table, row, length], at);
            at = self.row_loop((combine, ty), 1, lanes, [table, row, length], at);
        }
        self.row_loop((combine, ty), 1, 1, [table, row, length], at);
    }

    /// Combines `vectors` vectors of `lanes` elements per iteration, from an index on, while so many are left;
    /// returns the index where it ends.
    fn row_loop(
        &mut self,
        (combine, ty): (Combine, Ty),
        vectors: usize,
        lanes: usize,
        [table, row, length]: [ir::Value; 3],
        from: ir::Value,
    ) -> ir::Value {
        let of = if lanes == 1 {
            clif(ty)
        } else {
            clif(ty).by(lanes as u32).or_bug("a vector register has a whole number of elements")
        };
        let looped = self.begin_loop(&[from]);
        let at = looped.carried[0];
        let next = self.b.ins().iadd_imm_s(at, (vectors * lanes) as i64);
        let going = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, next, length);
        self.loop_while(&looped, going);
        let (to, from) = (self.address(table, at, ty), self.address(row, at, ty));
        let mut sums = Vec::with_capacity(vectors);
        for vector in 0..vectors {
            let offset = (vector * lanes * ty.size()) as i32;
            let old = self.b.ins().load(of, flags(), to, offset);
            let x = self.b.ins().load(of, flags(), from, offset);
            let sum = match lanes {
                1 => self.combine_any(combine, ty, old, x),
                _ => self.combine(combine, ty, old, x),
            };
            sums.push((sum, offset));
        }
        for (sum, offset) in sums {
            self.b.ins().store(flags(), sum, to, offset);
        }
        self.end_loop(&looped, &[next]);
        at
    }
}
