//! Early exit: a loop that tests whether all or any elements fulfil a condition ends when that is known.
//!
//! ```text
//! v3: bool = for v1 < v0 reduce and {      v4: i64, v3: bool = while v1 = 0, v5 = true {
//!   v2: bool = …                             yield v1 < v0 and v5
//!   yield v2                            →  } {
//! }                                          v2: bool = …
//!                                            yield v1 + 1, v2
//!                                          }
//! ```
//!
//! Iterations that are left out must have no effect: a body that may fail or writes is left as it is. So
//! is a cheap one: its loop is vectorised, which a loop with an exit is not, and ends soon anyway. What is the
//! same in all iterations does not count, because it is computed once.

use super::{Binary, Block, Class, Combine, Function, Inst, Kernel, Literal, Module, Op};
use super::{Ty, Unary, Value, ValueTy, walk};
use crate::stack::with_stack;
use rustc_hash::FxHashSet;

/// A body with at least this many operations takes longer than a test and a jump that are predicted wrongly.
const MIN_OPERATIONS: u64 = 24;

/// An int division takes as long as this many other operations.
const DIVISION_OPERATIONS: u64 = 24;

/// The iterations assumed of a loop in a body.
const INNER_ITERATIONS: u64 = 16;

/// Has the loops of a module that reduce bools by `and` or `or` end early, where that is worth its while.
pub fn add_early_exits(module: &mut Module) {
    for Function { body, types, .. } in &mut module.functions {
        Exits { types }.block(body);
    }
    for Kernel { stages, types, .. } in &mut module.kernels {
        stages.iter_mut().for_each(|stage| Exits { types }.block(&mut stage.body));
    }
}

struct Exits<'m> {
    types: &'m mut Vec<ValueTy>,
}

impl Exits<'_> {
    fn block(&mut self, block: &mut Block) {
        with_stack(|| {
            let mut insts = Vec::with_capacity(block.insts.len());
            for mut inst in std::mem::take(&mut block.insts) {
                inst.op.blocks_mut().for_each(|inner| self.block(inner));
                match self.may_end_early(&inst.op) {
                    Some(until) => self.end_early(inst, until, &mut insts),
                    None => insts.push(inst),
                }
            }
            block.insts = insts;
        });
    }

    /// The value of an element with which the result of a loop is known, if leaving the rest out is worth its
    /// while and has no effect.
    fn may_end_early(&self, op: &Op) -> Option<bool> {
        let Op::For { index, init, reduce, body, .. } = op else { return None };
        let until = match (&reduce[..], &init[..]) {
            ([Combine::And], []) => false,
            ([Combine::Or], []) => true,
            _ => return None,
        };
        let scalar = self.types[body.yields[0].0 as usize] == ValueTy::Scalar(Ty::Bool);
        let mut varying = FxHashSet::from_iter([*index]);
        let operations = self.operations(body, &mut varying)?;
        (scalar && operations >= MIN_OPERATIONS).then_some(until)
    }

    /// The estimated operations of a block that depend on varying values, and adds their results to these;
    /// `None` if the block may have an effect.
    fn operations(&self, block: &Block, varying: &mut FxHashSet<Value>) -> Option<u64> {
        let mut sum = 0u64;
        for inst @ Inst { op, results } in &block.insts {
            let mut varies = false;
            walk::each_read(inst, &mut |v| varies |= varying.contains(&v));
            let cost = match (op.class(), op) {
                (Class::Pure, Op::Binary(Binary::Div | Binary::Rem, ..)) => {
                    match self.types[results[0].0 as usize] {
                        ValueTy::Scalar(Ty::I32 | Ty::I64) => DIVISION_OPERATIONS,
                        _ => op.cost(),
                    }
                }
                (Class::Pure | Class::Address | Class::Read, _) => op.cost(),
                (_, Op::If { then, otherwise, .. }) => {
                    self.operations(then, varying)?.max(self.operations(otherwise, varying)?)
                }
                // A loop without a count might not end.
                (_, Op::For { index, carried, body, .. }) => {
                    if varies {
                        varying.extend(carried.iter().chain([index]));
                    }
                    INNER_ITERATIONS * self.operations(body, varying)?
                }
                _ => return None,
            };
            if varies {
                varying.extend(results);
                sum = sum.saturating_add(cost);
            }
        }
        Some(sum)
    }

    /// Writes a loop anew that ends with the first element that has this value.
    fn end_early(&mut self, inst: Inst, until: bool, out: &mut Vec<Inst>) {
        let Op::For { count, index, mut body, .. } = inst.op else { return };
        let [i64, bool] = [Ty::I64, Ty::Bool].map(ValueTy::Scalar);
        let mut constant = |exits: &mut Self, literal, ty| {
            let value = exits.fresh(ty);
            out.push(Inst { results: vec![value], op: Op::Const(literal) });
            value
        };
        let zero = constant(self, Literal::I64(0), i64);
        let one = constant(self, Literal::I64(1), i64);
        let start = constant(self, Literal::Bool(!until), bool);
        let so_far = self.fresh(bool);
        let mut cond = Vec::new();
        let mut test = |exits: &mut Self, op| {
            let value = exits.fresh(bool);
            cond.push(Inst { results: vec![value], op });
            value
        };
        let more = test(self, Op::Binary(Binary::Lt, index, count));
        let open = match until {
            true => test(self, Op::Unary(Unary::Not, so_far)),
            false => so_far,
        };
        let goes_on = test(self, Op::Binary(Binary::And, more, open));
        let cond = Block { insts: cond, yields: vec![goes_on] };
        let next = self.fresh(i64);
        body.insts.push(Inst { results: vec![next], op: Op::Binary(Binary::Add, index, one) });
        body.yields.insert(0, next);
        let (init, carried) = (vec![zero, start], vec![index, so_far]);
        let results = vec![self.fresh(i64), inst.results[0]];
        out.push(Inst { results, op: Op::While { init, carried, cond, body } });
    }

    fn fresh(&mut self, ty: ValueTy) -> Value {
        self.types.push(ty);
        Value(self.types.len() as u32 - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kir::{parse, print, verify};

    fn with_exits(body: &str) -> String {
        let text = format!(
            "function \"f\"(v0: i64, v1: i64, v9: [bool]) -> bool {{ v2: i64 = const 2 {body} yield v3 }}"
        );
        let mut module = parse(&text).unwrap();
        add_early_exits(&mut module);
        verify(&module).unwrap();
        print(&module)
    }

    #[test]
    fn a_loop_whose_body_is_dear_ends_with_the_first_element_that_decides() {
        let body = "v5: i64 = add v2, v4 v6: i64 = rem v1, v5 v7: bool = ne v6, v2 yield v7";
        let all = with_exits(&format!("v3: bool = for v4 < v0 reduce and {{ {body} }}"));
        assert!(all.contains("while") && !all.contains("for"), "{all}");
        assert!(all.contains("const true") && !all.contains("not"), "{all}");
        let any = with_exits(&format!("v3: bool = for v4 < v0 reduce or {{ {body} }}"));
        assert!(
            any.contains("while") && any.contains("const false") && any.contains("not"),
            "{any}"
        );
    }

    #[test]
    fn a_loop_whose_body_is_cheap_or_has_effects_is_left() {
        let cheap =
            with_exits("v3: bool = for v4 < v0 reduce and { v5: bool = lt v4, v2 yield v5 }");
        assert!(cheap.contains("for"), "{cheap}");
        let same = with_exits(
            "v3: bool = for v4 < v0 reduce and { v6: i64 = rem v1, v0 v5: bool = lt v4, v6 yield v5 }",
        );
        assert!(same.contains("for"), "{same}");
        let fails = with_exits(
            "v3: bool = for v4 < v0 reduce and { v6: i64 = rem v1, v2 v7: bool = ne v6, v2 check v7 @0 yield v7 }",
        );
        assert!(fails.contains("for"), "{fails}");
        let writes = with_exits(
            "v3: bool = for v4 < v0 reduce and { v6: i64 = rem v1, v2 v7: bool = ne v6, v2 store v9[v4] = v7 yield v7 }",
        );
        assert!(writes.contains("for"), "{writes}");
    }
}
