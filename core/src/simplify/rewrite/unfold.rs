//! Recursion whose depth the constants of a call decide: the call is written out, level by level.
//!
//! ```text
//! fn "power"(v0: float, v1: int) { …               v2 = call "power"(v0, 2)     →     v3 = mul(v0, 1.0)
//!   if eq(v1, 0) { 1.0 } else                                                         v2 = mul(v0, v3)
//!     { … mul(v0, call "power"(v0, sub(v1, 1))) }
//! ```
//!
//! The body is walked with the constants in place of the parameters, and so is that of the call of itself which it comes to.
//! It is written out if this ends soon. Calls in tail position are left: they become loops. Functions with an
//! apply-to-each, or whose result has sequences, are left, too: copies of what they launch would take longer to compile
//! than calls take.
//!
//! Source: Jones, Gomard and Sestoft, *Partial evaluation and automatic program generation* (1993).

use super::fold;
use crate::base::with_stack;
use crate::ir::{Atom, Block, FunId, Function, Op, Var};
use rustc_hash::FxHashMap;

/// The calls of itself that the walk over a body with known constants comes to.
enum Reached {
    /// There is no call of the function itself.
    None,
    /// There is one, with these arguments; those that are not constants are variables.
    Call(Vec<Atom>),
    /// There are several, or one that may not be executed, or one in tail position.
    Other,
}

/// Returns the number of times that the body of a function is written for a call of it, if constants among the arguments
/// decide that, and it is at most `most`.
pub(super) fn levels(function: &Function, id: FunId, args: &[Atom], most: usize) -> Option<usize> {
    let mut is_scalar = !function.result.has_sequence();
    function.body.for_each_op(&mut |op| is_scalar &= !matches!(op, Op::Nest(_)));
    if !is_scalar {
        return None;
    }
    let mut args = args.to_vec();
    for level in 1..=most {
        let is_constant = |arg: &Atom| arg.variable().is_none();
        let params = function.params.iter().zip(args).filter(|(_, arg)| is_constant(arg));
        let known = params.map(|((var, _), arg)| (*var, arg)).collect();
        match (Walk { id, known }).block(&function.body, true) {
            Reached::None => return Some(level),
            Reached::Call(next) => args = next,
            Reached::Other => return None,
        }
    }
    None
}

struct Walk {
    id: FunId,
    known: FxHashMap<Var, Atom>,
}

impl Walk {
    fn atom(&self, atom: Atom) -> Atom {
        atom.variable().and_then(|var| self.known.get(&var).copied()).unwrap_or(atom)
    }

    /// Walks a block; `is_tail` says that its result is that of the function.
    fn block(&mut self, block: &Block, is_tail: bool) -> Reached {
        with_stack(|| {
            let mut reached = Reached::None;
            for (at, binding) in block.lets.iter().enumerate() {
                let is_last = at + 1 == block.lets.len();
                let is_tail = is_tail && is_last && block.result == Atom::Var(binding.var);
                let found = match &binding.op {
                    Op::Call(callee, args) if *callee == self.id => match is_tail {
                        true => Reached::Other,
                        false => Reached::Call(args.iter().map(|arg| self.atom(*arg)).collect()),
                    },
                    Op::If { cond, then, otherwise } => {
                        if let Atom::Bool(cond) = self.atom(*cond) {
                            let side = if cond { then } else { otherwise };
                            let found = self.block(side, is_tail);
                            self.note(binding.var, self.atom(side.result));
                            found
                        } else {
                            self.unless_it_calls([then, otherwise].into_iter())
                        }
                    }
                    Op::Copy(of) => {
                        self.note(binding.var, self.atom(*of));
                        Reached::None
                    }
                    Op::Scalar(op, args) => {
                        let args: Vec<Atom> = args.iter().map(|arg| self.atom(*arg)).collect();
                        if let Some(value) = fold(*op, &args) {
                            self.note(binding.var, value);
                        }
                        Reached::None
                    }
                    op => self.unless_it_calls(op.blocks()),
                };
                reached = match (reached, found) {
                    (reached, Reached::None) => reached,
                    (Reached::None, found) => found,
                    _ => return Reached::Other,
                };
            }
            reached
        })
    }

    fn note(&mut self, var: Var, value: Atom) {
        if value.variable().is_none() {
            self.known.insert(var, value);
        }
    }

    /// Returns what blocks that are executed perhaps, or several times, come to.
    fn unless_it_calls<'b>(&self, mut blocks: impl Iterator<Item = &'b Block>) -> Reached {
        let calls = blocks.any(|block| {
            let mut calls = false;
            block.for_each_op(&mut |op| {
                calls |= matches!(op, Op::Call(callee, _) if *callee == self.id);
            });
            calls
        });
        if calls { Reached::Other } else { Reached::None }
    }
}

#[cfg(test)]
mod tests {
    use crate::ir::{parse, verify};
    use crate::simplify::simplify;
    use crate::thresholds::Thresholds;

    /// Recursion whose constants say how deep it is becomes its levels, but not in calls of calls without a bound.
    #[test]
    fn calls_of_a_constant_depth_are_written_out_within_a_bound() {
        let operations = |depth: u32, calls: u32| {
            let inner = |at: u32| {
                let next = at + 1;
                format!(
                    r#"
fn "h{at}"(v0: int, v1: int) -> int {{
  v2: bool = eq(v1, 0)
  v8: int = if v2 {{
    v0
  }} else {{
    v3: int = call "h{next}"(v0, v1)
    v4: int = mul(v0, 3)
    v5: int = sub(v1, 1)
    v6: int = call "h{at}"(v4, v5)
    v7: int = sub(v3, v6)
    v7
  }}
  v8
}}
"#
                )
            };
            let functions: String = (0..calls).map(inner).collect();
            let text = format!(
                r#"main "main"

fn "main"(v0: int) -> int {{
  v1: int = call "h0"(v0, {depth})
  v1
}}
{functions}
fn "h{calls}"(v0: int, v1: int) -> int {{
  v2: int = add(v0, v1)
  v2
}}
"#
            );
            let program = parse(&text).unwrap();
            assert_eq!(verify(&program), Ok(()));
            let simple = simplify(&program, &Thresholds::default());
            assert_eq!(verify(&simple), Ok(()));
            let mut operations = 0;
            simple.functions.iter().for_each(|f| f.body.for_each_op(&mut |_| operations += 1));
            (operations, simple.functions.len())
        };
        assert_eq!(operations(4, 1).1, 1, "four levels are written out");
        let (operations, functions) = operations(60, 4);
        assert!(
            functions > 1 && operations < 2_500,
            "{operations} operations, {functions} functions"
        );
    }
}
