//! Recursion whose results are added up: a function that adds to what a call of itself gives becomes a loop that
//! carries the sum.
//!
//! ```text
//! fn "bits"(x) {                         fn "bits"(x) { call "bits.loop"(x, 0, most) }
//!   v1 = eq(x, 0)                        fn "bits.loop"(x, sum, left) {
//!   if v1 { 0 } else {                     v0 = gt(left, 0)  check(v0, too deep)
//!     v2 = sub(x, 1)                       v1 = eq(x, 0)
//!     v3 = and(x, v2)               →      if v1 { add(sum, 0) } else {
//!     v4 = call "bits"(v3)                   v2 = sub(x, 1)
//!     add(1, v4)                             v3 = and(x, v2)
//!   }                                        call "bits.loop"(v3, add(sum, 1), sub(left, 1))
//! }                                        }
//!                                        }
//! ```
//!
//! So do products and extremes of ints, and conjunctions and disjunctions; sums of floats depend on the order, and stay
//! recursive. A loop takes no stack, and is vectorised where calls are not. What does not end is too deep after as many
//! iterations as no stack has room for calls. A function that calls itself twice for one result stays as it is: a loop
//! for one of the calls makes the other one slower.
//!
//! For sequential code only: flattened code goes from level to level in any case. What comes behind the call is executed
//! before it: a function with effects stays as it is, and so does one where something there may fault, as in
//! `f(n - 1) + a[n]`, while `a[n] + f(n - 1)` becomes a loop.
//!
//! Source: Burstall and Darlington, *A transformation system for developing recursive programs*, Journal of the ACM 24
//! (1977), on changing associative operations.

use super::dead;
use crate::base::with_stack;
use crate::ir::{
    Atom, Block, Effects, FunId, Function, FunctionBuilder, Let, Op, Program, Site, Ty, Var,
};
use crate::thresholds::Thresholds;
use nesl_runtime::bug;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::scalar::ScalarOp;
use rustc_hash::FxHashMap;
use smol_str::format_smolstr;

/// The operations that may be done in another order: they are associative and commutative for bools and for ints, which
/// wrap around at both precisions.
const OPERATIONS: [ScalarOp; 7] = [
    ScalarOp::Add,
    ScalarOp::Mul,
    ScalarOp::Max,
    ScalarOp::Min,
    ScalarOp::And,
    ScalarOp::Or,
    ScalarOp::Xor,
];

/// Adds a loop for each recursive function that can be one; the functions keep their numbers.
pub(super) fn accumulate(program: &mut Program, limits: &Thresholds) {
    let wanted = |at: usize| OPERATIONS.into_iter().find(|op| Search::new(program, at, *op).adds());
    let found = (0..program.functions.len()).filter_map(|at| Some((at, wanted(at)?)));
    let found: Vec<(usize, ScalarOp)> = found.collect();
    if found.is_empty() {
        return;
    }
    let effects = Effects::of(program);
    for (at, op) in found {
        if effects.in_function(FunId(at as u32)) {
            continue;
        }
        let next = FunId(program.functions.len() as u32);
        let most = limits.max_accumulated_calls;
        let looped = Rewriter::new(program, at, op, next, most).looped();
        let first = Rewriter::new(program, at, op, next, most).first();
        program.functions[at].body = first;
        program.functions.push(looped);
    }
}

/// Returns the value to begin with, if there is one that changes no other at both precisions.
fn neutral(op: ScalarOp, ty: &Ty) -> Option<Atom> {
    Some(match (op, ty) {
        (ScalarOp::Add | ScalarOp::Or | ScalarOp::Xor, Ty::Int) => Atom::Int(0),
        (ScalarOp::Mul, Ty::Int) => Atom::Int(1),
        (ScalarOp::And, Ty::Int) => Atom::Int(-1),
        (ScalarOp::And, Ty::Bool) => Atom::Bool(true),
        (ScalarOp::Or | ScalarOp::Xor, Ty::Bool) => Atom::Bool(false),
        _ => return None,
    })
}

/// Looks for calls of a function of itself whose results an operation adds up.
struct Search<'f> {
    function: &'f Function,
    id: FunId,
    op: ScalarOp,
    uses: FxHashMap<Var, usize>,
}

impl<'f> Search<'f> {
    fn new(program: &'f Program, at: usize, op: ScalarOp) -> Search<'f> {
        let function = &program.functions[at];
        let mut uses = FxHashMap::default();
        function.body.count_uses(&mut uses);
        Search { function, id: FunId(at as u32), op, uses }
    }

    /// Returns true if the function adds something to the result of a call of itself, and makes no other calls of itself
    /// than those that end an iteration.
    fn adds(&self) -> bool {
        let Function { body, result, .. } = self.function;
        let has_order = matches!(self.op, ScalarOp::Max | ScalarOp::Min) && *result == Ty::Int;
        if !has_order && neutral(self.op, result).is_none() || !self.adds_in(body) {
            return false;
        }
        let mut calls = 0;
        body.for_each_op(&mut |op| calls += usize::from(self.is_call(op)));
        calls == self.last_calls(body, body.result)
    }

    fn adds_in(&self, block: &Block) -> bool {
        with_stack(|| match self.definition(block, block.result).map(|(_, binding)| &binding.op) {
            Some(Op::If { then, otherwise, .. }) => self.adds_in(then) || self.adds_in(otherwise),
            Some(Op::Scalar(op, args)) if *op == self.op => {
                args.iter().any(|arg| self.last_calls(block, *arg) > 0)
            }
            _ => false,
        })
    }

    /// Returns the number of calls of the function that a value is the result of, in the sides of conditionals or with
    /// something added.
    fn last_calls(&self, block: &Block, value: Atom) -> usize {
        let Some((at, binding)) = self.definition(block, value) else { return 0 };
        with_stack(|| match &binding.op {
            // One of two calls would end an iteration.
            Op::Scalar(op, args) if *op == self.op => {
                args.iter().map(|arg| self.last_calls(block, *arg)).max().unwrap_or(0)
            }
            // What comes behind the call would come before it, and its faults before those of the call.
            _ if block.lets[at + 1..].iter().any(Let::may_fault) => 0,
            Op::If { then, otherwise, .. } => {
                [then, otherwise].iter().map(|side| self.last_calls(side, side.result)).sum()
            }
            op => usize::from(self.is_call(op)),
        })
    }

    fn is_call(&self, op: &Op) -> bool {
        matches!(op, Op::Call(callee, _) if *callee == self.id)
    }

    /// Returns the place and the binding of a value that a block computes, and that is used once.
    fn definition<'b>(&self, block: &'b Block, value: Atom) -> Option<(usize, &'b Let)> {
        let var = value.variable().filter(|var| self.uses.get(var) == Some(&1))?;
        block.lets.iter().enumerate().find(|(_, binding)| binding.var == var)
    }
}

/// Writes the loop of a function, and the code that begins it.
struct Rewriter<'f> {
    search: Search<'f>,
    builder: FunctionBuilder,
    /// The function that is the loop.
    looped: FunId,
    /// The number of calls that may follow, at most.
    most: i64,
    /// In the loop, the number of calls that may still follow.
    left: Option<Var>,
}

impl<'f> Rewriter<'f> {
    fn new(
        program: &'f Program,
        at: usize,
        op: ScalarOp,
        looped: FunId,
        most: i64,
    ) -> Rewriter<'f> {
        let search = Search::new(program, at, op);
        let builder = FunctionBuilder::extending(search.function);
        Rewriter { search, builder, looped, most, left: None }
    }

    /// Returns the body of the function that begins the loop: with nothing added yet, or with what its first call adds to.
    fn first(mut self) -> Block {
        let function = self.search.function;
        let Some(nothing) = neutral(self.search.op, &function.result) else {
            return self.tail(function.body.clone(), None);
        };
        let mut args: Vec<Atom> = function.params.iter().map(|(var, _)| Atom::Var(*var)).collect();
        args.extend([nothing, Atom::Int(self.most)]);
        let (op, mut lets) = (Op::Call(self.looped, args), Vec::new());
        let result = self.bind(function.result.clone(), op, function.site, &mut lets);
        Block { lets, result }
    }

    fn looped(mut self) -> Function {
        let mut function = self.search.function.clone();
        let sum = self.builder.fresh(function.result.clone());
        let left = self.builder.fresh(Ty::Int);
        self.left = Some(left);
        function.params.extend([(sum, function.result.clone()), (left, Ty::Int)]);
        function.name = format_smolstr!("{}.loop", function.name);
        (function.charge, function.role) = (None, None);
        let (site, mut lets) = (function.site, Vec::new());
        let some = Op::Scalar(ScalarOp::Gt, vec![Atom::Var(left), Atom::Int(0)]);
        let cond = self.bind(Ty::Bool, some, site, &mut lets);
        let check = Op::Check { cond, code: FaultCode::TooDeep, message: "".into() };
        self.bind(Ty::Bool, check, site, &mut lets);
        let body = std::mem::replace(&mut function.body, Block { lets, result: Atom::Unit });
        let body = self.tail(body, Some(Atom::Var(sum)));
        function.body.lets.extend(body.lets);
        function.body.result = body.result;
        dead::remove(&mut function);
        function
    }

    /// Returns a block at the end of an iteration that gives what it gave, with a sum added if there is one.
    fn tail(&mut self, mut block: Block, sum: Option<Atom>) -> Block {
        with_stack(|| {
            let (mut sum, mut rest) = (sum, block.result);
            while self.search.last_calls(&block, rest) > 0 {
                let Some((place, _)) = self.search.definition(&block, rest) else { break };
                let Let { var, ty, op, site } = block.lets.remove(place);
                let op = match op {
                    Op::Scalar(_, args) => {
                        let [a, b] = args[..] else { bug!("the operation has two operands") };
                        let is_second = self.search.last_calls(&block, b) > 0;
                        let (added, next) = if is_second { (a, b) } else { (b, a) };
                        sum = Some(match sum {
                            None => added,
                            Some(sum) => {
                                let op = Op::Scalar(self.search.op, vec![sum, added]);
                                self.bind(ty, op, site, &mut block.lets)
                            }
                        });
                        rest = next;
                        continue;
                    }
                    Op::If { cond, then, otherwise } => {
                        let [then, otherwise] = [then, otherwise].map(|side| self.tail(side, sum));
                        Op::If { cond, then, otherwise }
                    }
                    Op::Call(own, mut args) => match sum {
                        None => Op::Call(own, args),
                        Some(sum) => {
                            args.extend([sum, self.less(site, &mut block.lets)]);
                            Op::Call(self.looped, args)
                        }
                    },
                    _ => bug!("a value is what a call gives"),
                };
                block.lets.push(Let { var, ty, op, site });
                block.result = Atom::Var(var);
                return block;
            }
            self.base(block, sum, rest)
        })
    }

    /// Returns a block that gives the last part of the sum.
    fn base(&mut self, mut block: Block, sum: Option<Atom>, rest: Atom) -> Block {
        block.result = match sum {
            None => rest,
            Some(sum) => {
                let op = Op::Scalar(self.search.op, vec![sum, rest]);
                let Function { result, site, .. } = self.search.function;
                self.bind(result.clone(), op, *site, &mut block.lets)
            }
        };
        block
    }

    /// Returns the number of calls that may follow behind the next one.
    fn less(&mut self, site: Site, lets: &mut Vec<Let>) -> Atom {
        let Some(left) = self.left else { return Atom::Int(self.most) };
        let less = Op::Scalar(ScalarOp::Sub, vec![Atom::Var(left), Atom::Int(1)]);
        self.bind(Ty::Int, less, site, lets)
    }

    fn bind(&mut self, ty: Ty, op: Op, site: Site, lets: &mut Vec<Let>) -> Atom {
        let var = self.builder.fresh(ty.clone());
        lets.push(Let { var, ty, op, site });
        Atom::Var(var)
    }
}

#[cfg(test)]
mod tests {
    use super::super::for_one_thread;
    use crate::ir::{parse, print, verify};
    use crate::thresholds::Thresholds;
    use expect_test::expect;

    #[test]
    fn recursion_whose_results_are_added_up_is_a_loop_for_one_thread() {
        let text = r#"main "main"

fn "main"() -> int {
  v0: int = call "steps"(7, 2)
  v1: int = call "twice"(7)
  v2: int = call "greatest"(v0)
  v3: int = add(v1, v2)
  v3
}

fn "steps"(v0: int, v1: int) -> int {
  v2: bool = le(v0, 1)
  v12: int = if v2 {
    5
  } else {
    v3: bool = gt(v0, v1)
    v11: int = if v3 {
      v4: int = sub(v0, 1)
      v5: int = call "steps"(v4, v1)
      v6: int = mul(v0, 3)
      v7: int = add(v5, v6)
      v8: int = add(v1, v7)
      v8
    } else {
      v9: int = sub(v0, 2)
      v10: int = call "steps"(v9, v1)
      v10
    }
    v11
  }
  v12
}

fn "twice"(v0: int) -> int {
  v1: bool = le(v0, 1)
  v7: int = if v1 {
    1
  } else {
    v2: int = sub(v0, 1)
    v3: int = call "twice"(v2)
    v4: int = sub(v0, 2)
    v5: int = call "twice"(v4)
    v6: int = add(v3, v5)
    v6
  }
  v7
}

fn "greatest"(v0: int) -> int {
  v1: bool = le(v0, 1)
  v5: int = if v1 {
    1
  } else {
    v2: int = div(v0, 2)
    v3: int = call "greatest"(v2)
    v4: int = max(v0, v3)
    v4
  }
  v5
}
"#;
        let one = for_one_thread(&parse(text).unwrap(), &Thresholds::default());
        assert_eq!(verify(&one), Ok(()));
        expect![[r#"
        main "main"

        fn "main"() -> int {
          v0: int = call "steps"(7, 2)
          v1: int = call "twice"(7)
          v2: int = call "greatest"(v0)
          v3: int = add(v1, v2)
          v3
        }

        fn "steps"(v0: int, v1: int) -> int {
          v2: int = call "steps.loop"(v0, v1, 0, 16777216)
          v2
        }

        fn "twice"(v0: int) -> int {
          v1: bool = le(v0, 1)
          v7: int = if v1 {
            1
          } else {
            v2: int = sub(v0, 1)
            v3: int = call "twice"(v2)
            v4: int = sub(v0, 2)
            v5: int = call "twice"(v4)
            v6: int = add(v3, v5)
            v6
          }
          v7
        }

        fn "greatest"(v0: int) -> int {
          v1: bool = le(v0, 1)
          v4: int = if v1 {
            1
          } else {
            v2: int = div(v0, 2)
            v3: int = call "greatest.loop"(v2, v0, 16777216)
            v3
          }
          v4
        }

        fn "steps.loop"(v0: int, v1: int, v2: int, v3: int) -> int {
          v4: bool = gt(v3, 0)
          v5: bool = check(v4, too_deep, "")
          v6: bool = le(v0, 1)
          v19: int = if v6 {
            v7: int = add(v2, 5)
            v7
          } else {
            v8: bool = gt(v0, v1)
            v18: int = if v8 {
              v9: int = sub(v0, 1)
              v10: int = mul(v0, 3)
              v11: int = add(v2, v1)
              v12: int = add(v11, v10)
              v13: int = sub(v3, 1)
              v14: int = call "steps.loop"(v9, v1, v12, v13)
              v14
            } else {
              v15: int = sub(v0, 2)
              v16: int = sub(v3, 1)
              v17: int = call "steps.loop"(v15, v1, v2, v16)
              v17
            }
            v18
          }
          v19
        }

        fn "greatest.loop"(v0: int, v1: int, v2: int) -> int {
          v3: bool = gt(v2, 0)
          v4: bool = check(v3, too_deep, "")
          v5: bool = le(v0, 1)
          v11: int = if v5 {
            v6: int = max(v1, 1)
            v6
          } else {
            v7: int = div(v0, 2)
            v8: int = max(v1, v0)
            v9: int = sub(v2, 1)
            v10: int = call "greatest.loop"(v7, v8, v9)
            v10
          }
          v11
        }
    "#]]
        .assert_eq(&print(&one));
    }
}
