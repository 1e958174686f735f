//! Minima and maxima of floats: a comparison, and the selection between what is compared.
//!
//! ```text
//! (c < d) ? c : d     MINPD c, d       the second operand if one is a NaN, or both are zeros
//! (c < d) ? d : c     MAXPD d, c
//! ```

use super::lower::Lower;
use super::opcodes;
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{Inst, InstructionData, Opcode, Value};

/// A minimum or a maximum.
pub struct Extreme {
    /// The last byte of the opcode.
    pub byte: u8,
    /// The operands, in the order of the instruction.
    pub of: [Value; 2],
}

impl Lower<'_> {
    /// Returns the minimum or maximum that an instruction selects.
    pub fn extreme(&self, inst: Inst) -> Option<Extreme> {
        let dfg = &self.func.dfg;
        if !matches!(dfg.insts[inst].opcode(), Opcode::Bitselect | Opcode::Select) {
            return None;
        }
        let args = dfg.inst_args(inst);
        let result = dfg.value_type(dfg.first_result(inst));
        let test = dfg.value_def(self.origin(args[0])).inst()?;
        let InstructionData::FloatCompare { cond, args: [c, d], .. } = dfg.insts[test] else {
            return None;
        };
        let [yes, no, c, d] = [args[1], args[2], c, d].map(|value| self.origin(value));
        if dfg.value_type(c) != result || !result.lane_type().is_float() {
            return None;
        }
        match cond {
            FloatCC::LessThan if (yes, no) == (c, d) => {
                Some(Extreme { byte: opcodes::MIN, of: [c, d] })
            }
            FloatCC::LessThan if (yes, no) == (d, c) => {
                Some(Extreme { byte: opcodes::MAX, of: [d, c] })
            }
            FloatCC::GreaterThan if (yes, no) == (c, d) => {
                Some(Extreme { byte: opcodes::MAX, of: [c, d] })
            }
            FloatCC::GreaterThan if (yes, no) == (d, c) => {
                Some(Extreme { byte: opcodes::MIN, of: [d, c] })
            }
            _ => None,
        }
    }
}
