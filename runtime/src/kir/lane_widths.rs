//! The widths of the lanes of vectorised code.

use super::uniformity::Uniformity;
use super::{Inst, Op, Ty, ValueTy, walk};

/// The widths of the lanes of code.
pub struct LaneWidths {
    /// True if there are varying values of 64 bits, or such values are stored.
    pub wide: bool,
    /// True if there are lanes of fewer than 64 bits.
    pub short: bool,
    /// True if all varying values are of 8 bits, and nothing is stored that has 64.
    pub only_bytes: bool,
}

impl LaneWidths {
    /// The widths of the lanes of instructions, whose values have these types and this uniformity; `implied` is
    /// true for the bools that need no lanes.
    pub fn of<'i>(
        insts: impl Iterator<Item = &'i Inst>,
        types: &[ValueTy],
        uniformity: &[Uniformity],
        implied: &[bool],
    ) -> LaneWidths {
        let mut widths = LaneWidths { wide: false, short: false, only_bytes: true };
        let mut note = |inst: &Inst| {
            for value in inst.results.iter().chain(inst.op.carried()) {
                let value = value.0 as usize;
                let varying = uniformity[value] == Uniformity::Varying;
                let ty = match types[value] {
                    ValueTy::Scalar(ty) => Some(ty),
                    ValueTy::Array(_) | ValueTy::Mark => None,
                };
                if varying {
                    widths.only_bytes &= matches!(ty, Some(Ty::U8 | Ty::Bool));
                }
                match ty {
                    Some(Ty::I64 | Ty::F64) => widths.wide |= varying,
                    // A uniform value may be stored for all elements.
                    Some(Ty::I32 | Ty::F32 | Ty::U8) => widths.short = true,
                    Some(Ty::Bool) => widths.short |= varying && !implied[value],
                    None => {}
                }
            }
            if let Op::Store { array, .. } = &inst.op {
                // The value may be uniform, or the index: it is in lanes all the same.
                let of = types[array.0 as usize];
                let of_wide = matches!(of, ValueTy::Array(ty) if is_wide(ty));
                widths.wide |= of_wide;
                widths.short |= !of_wide;
                widths.only_bytes &= !of_wide;
            }
        };
        for inst in insts {
            note(inst);
            inst.op.blocks().for_each(|block| walk::each_inst(block, &mut note));
        }
        widths
    }
}

/// Returns true for types of 64 bits.
pub fn is_wide(ty: Ty) -> bool {
    matches!(ty, Ty::I64 | Ty::F64)
}
