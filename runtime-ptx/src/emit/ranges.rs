//! The facts that are known of ints without executing anything: which are never below 0.

use nesl_runtime::kir::{
    Binary, Block, Inst, Kernel, Literal, Op, Space, Ty, Value, ValueTy, walk,
};

/// Returns, by value, true for the `i64` that are never below 0: sizes of the space, indices, chars,
/// and what is computed of them without overflow.
pub fn never_negative(kernel: &Kernel) -> Vec<bool> {
    let mut found = vec![false; kernel.types.len()];
    let sizes = match &kernel.space {
        Space::Flat { count } => vec![*count],
        Space::Regular { segments, length } => vec![*segments, *length],
        Space::Segmented { segments, .. } => vec![*segments],
    };
    for value in sizes.iter().chain(&kernel.indices) {
        found[value.0 as usize] = true;
    }
    walk::stage_bodies(kernel).for_each(|body| block(kernel, body, &mut found));
    found
}

fn block(kernel: &Kernel, block: &Block, found: &mut [bool]) {
    for inst in &block.insts {
        if let [result] = inst.results[..]
            && kernel.types[result.0 as usize] == ValueTy::Scalar(Ty::I64)
        {
            found[result.0 as usize] = is_never_negative(kernel, inst, found);
        }
        if let Op::For { index, .. } = &inst.op {
            found[index.0 as usize] = true;
        }
        inst.op.blocks().for_each(|inner| self::block(kernel, inner, found));
    }
}

fn is_never_negative(kernel: &Kernel, inst: &Inst, found: &[bool]) -> bool {
    let known = |value: &Value| found[value.0 as usize];
    match &inst.op {
        Op::Const(Literal::I64(x)) => *x >= 0,
        Op::Convert(Ty::I64, a) => {
            matches!(kernel.types[a.0 as usize], ValueTy::Scalar(Ty::U8 | Ty::Bool))
        }
        Op::Binary(Binary::Max | Binary::And, a, b) => known(a) || known(b),
        Op::Binary(Binary::Min | Binary::Or, a, b) => known(a) && known(b),
        Op::Select(_, a, b) => known(a) && known(b),
        _ => false,
    }
}
