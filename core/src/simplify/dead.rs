//! What nobody uses, and what must stay all the same.

use crate::base::with_stack;
use crate::ir::{Atom, Block, Function, Let, Op, Ty, Var};
use crate::prim::SeqOp;
use nesl_runtime::scalar::ScalarOp;
use rustc_hash::FxHashSet;

/// Removes bindings that nobody uses and that cannot fault.
pub(super) fn remove(function: &mut Function) {
    let mut used = FxHashSet::default();
    block(&mut function.body, &mut used);
}

fn block(block: &mut Block, used: &mut FxHashSet<Var>) {
    with_stack(|| {
        mark(block.result, used);
        for i in (0..block.lets.len()).rev() {
            let binding = &mut block.lets[i];
            if !used.contains(&binding.var) && !may_fault(binding) {
                binding.op = Op::Copy(Atom::Unit);
                continue;
            }
            for atom in binding.op.atoms() {
                mark(atom, used);
            }
            match &mut binding.op {
                Op::If { then, otherwise, .. } => {
                    self::block(then, used);
                    self::block(otherwise, used);
                }
                Op::Nest(nest) => self::block(&mut nest.body, used),
                Op::Time(body) => self::block(body, used),
                Op::Copy(_)
                | Op::Scalar(..)
                | Op::Pair(..)
                | Op::First(_)
                | Op::Second(_)
                | Op::Text(_)
                | Op::List(_)
                | Op::Seq(..)
                | Op::Call(..)
                | Op::Global(_)
                | Op::Check { .. }
                | Op::Error(_)
                | Op::Host(..) => {}
            }
        }
        block.lets.retain(|binding| {
            used.contains(&binding.var) || !matches!(binding.op, Op::Copy(Atom::Unit))
        });
    });
}

fn mark(atom: Atom, used: &mut FxHashSet<Var>) {
    if let Atom::Var(var) = atom {
        used.insert(var);
    }
}

/// Whether an operation may fault, not end, or be noticed outside; what may not can be left out
/// when nobody uses it, and done later when somebody does.
pub fn may_fault(binding: &Let) -> bool {
    let op = &binding.op;
    with_stack(|| match op {
        Op::Copy(_)
        | Op::Pair(..)
        | Op::First(_)
        | Op::Second(_)
        | Op::Text(_)
        | Op::List(_)
        | Op::Global(_) => false,
        // Floats are divided by anything.
        Op::Scalar(ScalarOp::Div, _) if binding.ty == Ty::Float => false,
        Op::Scalar(op, args) => scalar_may_fault(*op, args),
        Op::Seq(op, _) => sequence_may_fault(*op),
        Op::If { .. } => op.blocks().any(block_may_fault),
        // Sequences of different lengths fault.
        Op::Nest(nest) => nest.binders.len() > 1 || block_may_fault(&nest.body),
        Op::Call(..) | Op::Check { .. } | Op::Error(_) | Op::Host(..) | Op::Time(_) => true,
    })
}

fn block_may_fault(block: &Block) -> bool {
    block.lets.iter().any(may_fault)
}

fn scalar_may_fault(op: ScalarOp, args: &[Atom]) -> bool {
    use ScalarOp::*;
    match op {
        // By a constant other than 0 and -1 nothing can go wrong.
        Div | Rem | Mod => !safe_divisor(args),
        Shl | Shr => !matches!(args, [_, Atom::Int(0..32)]),
        Sqrt | Ln | Floor | Ceil | Trunc | Round | IntToChar | Rand => true,
        Add | Sub | Mul | Neg | Abs | Max | Min | Eq | Ne | Lt | Le | Gt | Ge | Not | And | Or
        | Xor | Exp | Sin | Cos | Tan | Asin | Acos | Atan | Sinh | Cosh | Tanh | ToFloat
        | BoolToInt | CharToInt | FloatBits | Mix | Split => false,
    }
}

fn safe_divisor(args: &[Atom]) -> bool {
    matches!(args, [_, Atom::Int(d)] if *d != 0 && *d != -1)
}

fn sequence_may_fault(op: SeqOp) -> bool {
    use SeqOp::*;
    match op {
        Length | Append | Flatten | Reduce(_) | Scan(_) | RankUp | RankDown | Groups | HashText
        | SameText | IntText | FloatText | ParseFloat => false,
        Index | Range | Dist | Gather | Scatter | Replace | Permute | Pack | Partition | Subseq
        | Histogram(_) | ExpText => true,
    }
}
