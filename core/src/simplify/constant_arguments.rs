//! Parameters that are the same constant in every call, or are handed on unchanged, are that constant.
//!
//! ```text
//! fn "go"(v0: [int], v1: int, v2: int) {              fn "go"(v0: [int], v1: int, v2: int) {
//!   v3: int = rem(v2, v1) …                             v3: int = rem(v2, 128) …
//!   call "go"(v0, v1, v4)                          →    call "go"(v0, 128, v4)
//! fn "main" { … call "go"(v5, 128, 0) }
//! ```
//!
//! Recursive functions are not inlined, by which others see the constants that they are called with. It is the
//! interprocedural propagation of constants of Callahan, Cooper, Kennedy and Torczon (1986): what is assumed of parameters
//! only ever gets less, until all calls agree with it.

use super::calls::Calls;
use crate::ir::{Atom, FunId, Op, Program, Var};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// The value that all calls of a function give for a parameter, as far as they agree.
#[derive(Clone, Copy)]
enum Given {
    /// There is no call yet that gives something.
    Nothing,
    Constant(Atom),
    /// They give different values.
    Values,
}

impl Given {
    fn and(self, other: Given) -> Given {
        match (self, other) {
            (Given::Nothing, known) | (known, Given::Nothing) => known,
            (Given::Constant(a), Given::Constant(b)) if is_same(a, b) => self,
            _ => Given::Values,
        }
    }
}

/// Returns true for the same constants, bit by bit.
fn is_same(a: Atom, b: Atom) -> bool {
    match (a, b) {
        (Atom::Float(a), Atom::Float(b)) => a.to_bits() == b.to_bits(),
        _ => a == b,
    }
}

/// Puts constants in the place of the parameters that are always the same.
pub(super) fn substitute<'p>(program: &'p Program, calls: &Calls) -> Cow<'p, Program> {
    let reached = calls.callees_first();
    let given = given(program, reached);
    let mut changed = Cow::Borrowed(program);
    for id in reached.iter().filter(|id| **id != program.main) {
        let at = id.0 as usize;
        let params = program.functions[at].params.iter().zip(&given[at]);
        let constants = params.filter_map(|((var, _), given)| match given {
            Given::Constant(constant) => Some((*var, *constant)),
            Given::Nothing | Given::Values => None,
        });
        let constants: FxHashMap<Var, Atom> = constants.collect();
        if !constants.is_empty() {
            let body = &mut changed.to_mut().functions[at].body;
            body.rename(&mut |var| constants.get(&var).copied().unwrap_or(Atom::Var(var)));
        }
    }
    changed
}

/// Returns what the calls of the functions that are reached give for each parameter.
fn given(program: &Program, reached: &[FunId]) -> Vec<Vec<Given>> {
    let unknown = |at: usize| match at == program.main.0 as usize {
        true => Given::Values,
        false => Given::Nothing,
    };
    let functions = program.functions.iter().enumerate();
    let mut given: Vec<Vec<Given>> =
        functions.map(|(at, function)| vec![unknown(at); function.params.len()]).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for id in reached {
            let function = &program.functions[id.0 as usize];
            let own = given[id.0 as usize].clone();
            let value = |atom: &Atom| match atom {
                Atom::Var(var) => {
                    let number = function.params.iter().position(|(param, _)| param == var);
                    number.map_or(Given::Values, |number| own[number])
                }
                Atom::Unit => Given::Values,
                constant => Given::Constant(*constant),
            };
            function.body.for_each_op(&mut |op| {
                let Op::Call(callee, args) = op else { return };
                for (arg, known) in args.iter().zip(&mut given[callee.0 as usize]) {
                    let now = known.and(value(arg));
                    changed |= std::mem::discriminant(&now) != std::mem::discriminant(known);
                    *known = now;
                }
            });
        }
    }
    given
}
