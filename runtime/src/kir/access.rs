//! Access patterns: how the loads of code go through memory over neighbouring elements.

use super::uniformity::Uniformity;
use super::{Block, Inst, Op, Value};

/// The addresses that neighbouring elements access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// One address for all elements.
    Broadcast,
    /// Consecutive addresses, one element apart.
    UnitStride,
    /// Consecutive addresses, one element apart, the last element first.
    Reversed,
    /// Any addresses: a gather or scatter.
    Indexed,
}

impl Access {
    /// The pattern of accesses to one array at an index of this uniformity.
    pub fn of(index: Uniformity) -> Access {
        match index {
            Uniformity::Uniform => Access::Broadcast,
            Uniformity::Affine => Access::UnitStride,
            Uniformity::Varying => Access::Indexed,
        }
    }
}

/// Returns true if a block is straight-line code that loads with unit stride; `of` gives the
/// uniformity of a value.
pub fn streams_straight(block: &Block, of: &impl Fn(Value) -> Uniformity) -> bool {
    let unit_stride = |inst: &Inst| matches!(inst.op, Op::Load { index, .. } if Access::of(of(index)) == Access::UnitStride);
    !block.insts.iter().any(|inst| inst.op.has_blocks()) && block.insts.iter().any(unit_stride)
}

/// Returns true if an instruction loads consecutive addresses under a mask, where some of the elements
/// may not take part. `access` gives the pattern of an access at an index, and thereby the uniformity
/// of a value; `is_loop_predicate` is true for the carried conditions that differ from element to
/// element, and `masked` says that the instruction is under a mask itself.
pub fn loads_under_mask(
    inst: &Inst,
    access: &impl Fn(Value) -> Access,
    is_loop_predicate: &impl Fn(Value) -> bool,
    masked: bool,
) -> bool {
    let diverges = |v: Value| access(v) != Access::Broadcast;
    let masks = match &inst.op {
        Op::Load { index, .. } => {
            return masked && matches!(access(*index), Access::UnitStride | Access::Reversed);
        }
        Op::If { cond, .. } => diverges(*cond),
        Op::For { count, .. } => diverges(*count),
        Op::While { cond, .. } => diverges(cond.yields[0]) || is_loop_predicate(cond.yields[0]),
        _ => false,
    };
    let mut inner = inst.op.blocks().flat_map(|block| &block.insts);
    inner.any(|inst| loads_under_mask(inst, access, is_loop_predicate, masked || masks))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kir::parse;

    /// `v0` is the element number, `v1` the same for all elements, anything else varies.
    fn uniformity(value: Value) -> Uniformity {
        match value.0 {
            0 => Uniformity::Affine,
            1 | 2 => Uniformity::Uniform,
            _ => Uniformity::Varying,
        }
    }

    fn block(body: &str) -> Block {
        let text = format!("function \"f\"(v0: i64, v1: i64, v2: [i64], v3: bool) {{ {body} }}");
        parse(&text).unwrap().functions.remove(0).body
    }

    #[test]
    fn loads_at_the_element_number_have_unit_stride() {
        assert!(streams_straight(&block("v4: i64 = load v2[v0]"), &uniformity));
        assert!(!streams_straight(&block("v4: i64 = load v2[v1]"), &uniformity), "a broadcast");
        assert!(!streams_straight(&block("v4: i64 = load v2[v0] for v5 < v1 {}"), &uniformity));
    }

    #[test]
    fn a_divergent_branch_masks_its_loads() {
        let masked = |body| {
            let block = block(body);
            let access = |v| Access::of(uniformity(v));
            block.insts.iter().any(|i| loads_under_mask(i, &access, &|_| false, false))
        };
        assert!(!masked("v4: i64 = load v2[v0]"));
        assert!(masked("if v3 { v4: i64 = load v2[v0] }"));
        assert!(!masked("for v5 < v1 { v4: i64 = load v2[v0] }"), "all take part");
    }
}
