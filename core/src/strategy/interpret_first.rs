//! The budget for interpreting a program before it is compiled.
//!
//! Most programs of a session do little: one that the direct interpreter finishes before it could
//! have been compiled need not be compiled. A program without effects may be begun again, so it is
//! interpreted first for about as long as compiling it would take, which is at most twice as long
//! as the better of the two ways would have taken. The budget is counted from tables of costs, not
//! by a clock: where a program runs depends on nothing but the program and its data.

use super::Thresholds;
use crate::ir::{Atom, Op, Program};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::mem::discriminant;

/// The time that interpreting one program may take in all its runs.
#[derive(Clone, Copy, Debug)]
pub struct InterpretBudget {
    /// Nanoseconds left. Each run takes its part.
    pub left_ns: u64,
    /// A hash of what the program does, the same wherever it stands.
    pub program_hash: u64,
}

impl InterpretBudget {
    /// Returns the budget of a program without effects.
    pub fn of(program: &Program, limits: &Thresholds) -> InterpretBudget {
        let (compile_ns, code_hash) = compile_cost(program, limits);
        let mut hash = FxHasher::default();
        code_hash.hash(&mut hash);
        for global in &program.globals {
            global.item.hash(&mut hash);
            global.name.hash(&mut hash);
        }
        let program_hash = hash.finish();
        let left_ns =
            compile_ns.clamp(limits.min_interpret_first_ns, limits.max_interpret_first_ns);
        InterpretBudget { left_ns, program_hash }
    }
}

/// Returns a hash of the code of a program, the same wherever the program and its variables are defined. The elements of
/// sequences of constants are no part of it.
pub fn code_hash(program: &Program) -> u64 {
    compile_cost(program, &Thresholds::default()).1
}

/// Returns about how many nanoseconds compiling a program takes, and a hash of its code.
fn compile_cost(program: &Program, limits: &Thresholds) -> (u64, u64) {
    let (mut compile_ns, mut hash) = (0, FxHasher::default());
    for function in &program.functions {
        function.name.hash(&mut hash);
        hash_atom(function.body.result, &mut hash);
        function.body.for_each_op(&mut |op| {
            compile_ns += limits.compile_ns_per_binding;
            discriminant(op).hash(&mut hash);
            match op {
                Op::Text(text) => {
                    compile_ns += limits.compile_ns_per_character * text.len() as u64;
                    text.hash(&mut hash);
                }
                // It is no code: the interpreter needs it no less than the runtime.
                Op::Constants(constants) => constants.len().hash(&mut hash),
                Op::List(atoms) => {
                    compile_ns += limits.compile_ns_per_list_element * atoms.len() as u64;
                }
                Op::Scalar(op, _) => op.hash(&mut hash),
                Op::Seq(op, _) => op.hash(&mut hash),
                Op::Call(callee, _) => callee.hash(&mut hash),
                Op::Global(global) => global.hash(&mut hash),
                Op::Copy(_)
                | Op::Pair(..)
                | Op::First(_)
                | Op::Second(_)
                | Op::If { .. }
                | Op::Nest(_)
                | Op::Check { .. }
                | Op::Error(_)
                | Op::Host(..)
                | Op::Time(_) => {}
            }
            op.operands().into_iter().for_each(|atom| hash_atom(atom, &mut hash));
            op.blocks().for_each(|inner| hash_atom(inner.result, &mut hash));
        });
    }
    (compile_ns, hash.finish())
}

fn hash_atom(atom: Atom, hash: &mut FxHasher) {
    match atom {
        Atom::Var(var) => var.hash(hash),
        Atom::Unit => 0.hash(hash),
        Atom::Int(x) => x.hash(hash),
        Atom::Float(x) => x.to_bits().hash(hash),
        Atom::Bool(x) => x.hash(hash),
        Atom::Char(x) => x.hash(hash),
    }
}
