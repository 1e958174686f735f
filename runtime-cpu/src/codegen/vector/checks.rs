//! Checks in vector code: the tests that decide for several checks ([`joined_checks`]).

use super::lanes::{Lanes, VectorEmitter};
use cranelift_codegen::ir::{self, InstBuilder, condcodes::IntCC, types};
use nesl_runtime::kir::joined_checks::{Compared, Side, Test, joined_checks};
use nesl_runtime::kir::{Inst, Value};

impl VectorEmitter<'_, '_, '_> {
    /// Plans the checks of straight-line code that is emitted next.
    pub fn join_checks<'i>(&mut self, insts: impl Iterator<Item = &'i Inst>) {
        // Inside a set of elements most checks are known to hold.
        if self.is_inside() {
            return;
        }
        let joined = joined_checks(insts, self.c.types, &self.facts, &self.c.constants);
        self.joined.extend(joined);
    }

    /// Emits the tests of a check that was planned; returns false if it was not.
    pub fn joined_check(&mut self, cond: Value) -> bool {
        let Some(tests) = self.joined.get(&cond).cloned() else { return false };
        for test in tests {
            let holds = self.test(test);
            self.check(&Lanes::Uniform(holds));
        }
        true
    }

    /// Returns a scalar that is true only if a test holds for all elements.
    fn test(&mut self, test: Test) -> ir::Value {
        let Test { compared: Compared { side, base, bound }, offset } = test;
        // What has unexpected lanes is left to single elements.
        let never = self.c.b.ins().iconst(types::I8, 0);
        let Lanes::Uniform(bound) = self.get(bound) else { return never };
        let index = match base.map(|base| self.get(base)) {
            None => self.c.int(offset),
            Some(Lanes::Uniform(index)) => self.c.b.ins().iadd_imm_s(index, offset),
            Some(Lanes::Affine(first)) if side == Side::AtLeast => {
                self.c.b.ins().iadd_imm_s(first, offset)
            }
            Some(Lanes::Affine(first)) => match self.last {
                None => self.c.b.ins().iadd_imm_s(first, offset + self.elements as i64 - 1),
                Some(last) => {
                    let last = self.c.b.ins().iadd(first, last);
                    self.c.b.ins().iadd_imm_s(last, offset)
                }
            },
            Some(Lanes::Varying(_) | Lanes::Mask(..)) => return never,
        };
        let cc = match side {
            Side::Below => IntCC::SignedLessThan,
            Side::AtLeast => IntCC::SignedGreaterThanOrEqual,
        };
        self.c.b.ins().icmp(cc, index, bound)
    }
}
