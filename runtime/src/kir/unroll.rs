//! Unrolling: a short loop whose number of iterations is a constant becomes its iterations.
//!
//! The loops over the taps of a stencil, over the coordinates of a point or over the columns of a small matrix are
//! such loops. Unrolled, they neither count nor poll, their indices are constants, and what iterations have in
//! common is computed once ([`common_subexpressions`](super::common_subexpressions)). The elements of literals that they go
//! over become values ([`small_arrays`](super::small_arrays)).
//!
//! ```text
//! v1: i64 = const 2                        v3: i64 = const 0
//! v2: f64 = for v3 < v1 reduce add {       v4: f64 = load v0[v3]
//!   v4: f64 = load v0[v3]              →   v5: i64 = const 1
//!   yield v4                               v6: f64 = load v0[v5]
//! }                                        v2: f64 = add v4, v6
//! ```

use super::small_arrays::replace_small_arrays;
use super::{Binary, Block, Class, Combine, Function, Inst, Kernel, Literal, Module, Op};
use super::{Ty, Value, ValueTy, walk};
use crate::stack::with_stack;
use rustc_hash::{FxHashMap, FxHashSet};

/// Loops of at most this many iterations are unrolled.
const MAX_ITERATIONS: i64 = 8;

/// A loop is unrolled if that gives at most this many instructions, without constants.
const MAX_UNROLLED_INSTRUCTIONS: usize = 1000;

/// Code that has grown to this many instructions is unrolled no further.
const MAX_INSTRUCTIONS: usize = 3000;

const BOOL: ValueTy = ValueTy::Scalar(Ty::Bool);

/// Unrolls the short loops of a module, innermost loops first, and makes values of the elements of small arrays.
pub fn unroll_loops(module: &mut Module) {
    for Function { body, types, .. } in &mut module.functions {
        unroll(vec![body], types, FxHashSet::default());
    }
    for Kernel { stages, types, .. } in &mut module.kernels {
        let mut kept = FxHashSet::default();
        for sink in stages.iter_mut().flat_map(|stage| &mut stage.sinks) {
            sink.map_values(|v| {
                kept.insert(v);
                v
            });
        }
        // Later stages may read what earlier ones allocate.
        for stage in stages.iter() {
            let mut own = FxHashSet::default();
            walk::each_inst(&stage.body, &mut |inst| own.extend(inst.results.iter().copied()));
            let mut note = |v: Value| {
                if !own.contains(&v) {
                    kept.insert(v);
                }
            };
            stage.body.insts.iter().for_each(|inst| walk::each_read(inst, &mut note));
        }
        let bodies = stages.iter_mut().map(|stage| &mut stage.body).collect();
        let names = unroll(bodies, types, kept);
        for sink in stages.iter_mut().flat_map(|stage| &mut stage.sinks) {
            sink.map_values(|v| resolve(&names, v));
        }
    }
}

/// New names of values; a value that is not in it keeps its own.
type Names = FxHashMap<Value, Value>;

fn resolve(names: &Names, value: Value) -> Value {
    names.get(&value).copied().unwrap_or(value)
}

/// Unrolls loops; returns the new names of their results. `kept` are values that are read elsewhere, too.
fn unroll(mut bodies: Vec<&mut Block>, types: &mut Vec<ValueTy>, kept: FxHashSet<Value>) -> Names {
    let instructions = bodies.iter().map(|body| operations(body)).sum();
    let concerns = |body: &&mut Block| {
        let mut found = false;
        walk::each_inst(body, &mut |inst| {
            found |= matches!(inst.op, Op::For { .. } | Op::Alloc(..));
        });
        found
    };
    if !bodies.iter().any(concerns) {
        return Names::default();
    }
    let (constants, names) = (FxHashMap::default(), Names::default());
    let mut unroller = Unroller { types, constants, names, kept, instructions };
    bodies.iter_mut().for_each(|body| unroller.block(body));
    unroller.names
}

/// Returns the number of instructions of a block and its nested blocks, without constants.
fn operations(block: &Block) -> usize {
    let mut count = 0;
    walk::each_inst(block, &mut |inst| count += usize::from(!matches!(inst.op, Op::Const(_))));
    count
}

struct Unroller<'t> {
    /// The type of each value, by number.
    types: &'t mut Vec<ValueTy>,
    /// The ints that are constants, of the code so far.
    constants: FxHashMap<Value, i64>,
    names: Names,
    /// The values that are read elsewhere.
    kept: FxHashSet<Value>,
    /// The number of instructions of the code.
    instructions: usize,
}

impl Unroller<'_> {
    fn block(&mut self, block: &mut Block) {
        with_stack(|| {
            let mut out = Vec::with_capacity(block.insts.len());
            for mut inst in std::mem::take(&mut block.insts) {
                inst.op.map_operands(|v| resolve(&self.names, v));
                inst.op.blocks_mut().for_each(|inner| self.block(inner));
                if let Op::Const(Literal::I64(x)) = inst.op {
                    self.constants.insert(inst.results[0], x);
                }
                match self.iterations(&inst) {
                    Some(count) => self.unrolled(inst, count, &mut out),
                    None => out.push(inst),
                }
            }
            block.insts = out;
            block.yields.iter_mut().for_each(|v| *v = resolve(&self.names, *v));
            let loaded = replace_small_arrays(block, &self.constants, &self.kept);
            self.names.extend(loaded);
        });
    }

    /// Returns the number of iterations of a loop that is to be unrolled.
    fn iterations(&self, inst: &Inst) -> Option<i64> {
        let Op::For { count, body, .. } = &inst.op else { return None };
        let count = *self.constants.get(count)?;
        if !(0..=MAX_ITERATIONS).contains(&count) || self.instructions > MAX_INSTRUCTIONS {
            return None;
        }
        let mut plain = true;
        walk::each_inst(body, &mut |Inst { op, .. }| {
            let is_long = op.is_loop() || matches!(op, Op::Copy { .. });
            plain &= !is_long;
            plain &= !matches!(op.class(), Class::Call | Class::Intrinsic | Class::Allocate);
        });
        let instructions = operations(body) * count as usize;
        (plain && instructions <= MAX_UNROLLED_INSTRUCTIONS).then_some(count)
    }

    /// Appends the iterations of a loop, and gives its results the names of the values that they are.
    fn unrolled(&mut self, inst: Inst, count: i64, out: &mut Vec<Inst>) {
        let Op::For { index, init, carried, reduce, body, .. } = inst.op else { return };
        let mut defined = FxHashSet::default();
        walk::each_inst(&body, &mut |inst| defined.extend(inst.results.iter().copied()));
        self.instructions += operations(&body) * count as usize;
        let mut state = init;
        for (result, combine) in inst.results[carried.len()..].iter().copied().zip(&reduce) {
            let ValueTy::Scalar(ty) = self.ty(result) else { continue };
            let neutral = self.emit(Op::Const(combine.neutral(ty)), self.ty(result), out);
            state.push(neutral);
        }
        for at in 0..count {
            let number = self.emit(Op::Const(Literal::I64(at)), self.ty(index), out);
            self.constants.insert(number, at);
            let mut names: Names = carried.iter().copied().zip(state.iter().copied()).collect();
            names.insert(index, number);
            let iteration = walk::rename(&body, &mut |v| {
                if !defined.contains(&v) {
                    return resolve(&names, v);
                }
                *names.entry(v).or_insert_with(|| {
                    self.types.push(self.types[v.0 as usize]);
                    Value(self.types.len() as u32 - 1)
                })
            });
            out.extend(iteration.insts);
            let mut next = iteration.yields;
            for (n, combine) in reduce.iter().enumerate() {
                let n = carried.len() + n;
                next[n] = self.combine(*combine, state[n], next[n], out);
            }
            state = next;
        }
        self.names.extend(inst.results.iter().copied().zip(state));
    }

    fn ty(&self, value: Value) -> ValueTy {
        self.types[value.0 as usize]
    }

    /// Appends an operation with one result, which is returned.
    fn emit(&mut self, op: Op, ty: ValueTy, out: &mut Vec<Inst>) -> Value {
        self.types.push(ty);
        let value = Value(self.types.len() as u32 - 1);
        out.push(Inst { results: vec![value], op });
        value
    }

    /// Appends the step of a reduction.
    fn combine(&mut self, with: Combine, sum: Value, element: Value, out: &mut Vec<Inst>) -> Value {
        let ty = self.ty(sum);
        let is_float = matches!(ty, ValueTy::Scalar(ty) if ty.is_float());
        let op = match with {
            Combine::Add => Binary::Add,
            Combine::Mul => Binary::Mul,
            // NaNs are skipped.
            Combine::Min | Combine::Max if is_float => {
                let better = if with == Combine::Min { Binary::Lt } else { Binary::Gt };
                let better = self.emit(Op::Binary(better, element, sum), BOOL, out);
                return self.emit(Op::Select(better, element, sum), ty, out);
            }
            Combine::Min if ty == BOOL => Binary::And,
            Combine::Max if ty == BOOL => Binary::Or,
            Combine::Min => Binary::Min,
            Combine::Max => Binary::Max,
            Combine::And => Binary::And,
            Combine::Or => Binary::Or,
            Combine::Xor => Binary::Xor,
        };
        self.emit(Op::Binary(op, sum, element), ty, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kir::{parse, print, verify};

    fn unrolled(text: &str) -> String {
        let mut module = parse(text).unwrap();
        unroll_loops(&mut module);
        assert_eq!(verify(&module), Ok(()), "{}", print(&module));
        print(&module)
    }

    #[test]
    fn a_short_loop_becomes_its_iterations_and_so_do_loops_around_it() {
        let text = unrolled(
            "function \"f\"(v0: [f64], v9: f64) -> f64, f64 {
              v1: i64 = const 2
              v2: f64, v8: f64 = for v3 < v1 carry v10: f64 = v9 reduce max {
                v4: f64 = for v5 < v1 reduce add {
                  v6: i64 = add v3, v5 v7: f64 = load v0[v6] yield v7
                }
                v11: f64 = mul v10, v4
                yield v11, v4
              }
              yield v2, v8
            }",
        );
        assert!(!text.contains("for"), "{text}");
        assert_eq!(text.matches("load").count(), 4, "{text}");
        assert_eq!(text.matches("select").count(), 2, "NaNs are skipped: {text}");
    }

    #[test]
    fn sinks_read_the_results_under_their_new_names() {
        let text = unrolled(
            "kernel \"k\"(v0: i64, v1: [i64], v2: [i64]) over flat v0 at v3 {
              v4: i64 = const 3
              v5: i64 = for v6 < v4 reduce add { v7: i64 = add v3, v6 yield v7 }
              reduce add v5 -> v2
            }",
        );
        assert!(!text.contains("for") && !text.contains("reduce add v5"), "{text}");
    }

    #[test]
    fn a_loop_over_a_literal_in_a_loop_takes_no_memory() {
        let text = unrolled(
            "function \"f\"(v0: [f64]) -> f64 {
              v1: i64 = const 2
              v2: f64 = for v3 < v1 reduce add {
                v10: mark = mark
                v4: [i64] = alloc v1 v5: i64 = const 0 store v4[v5] = v3 v6: i64 = const 1 store v4[v6] = v5
                v7: f64 = for v8 < v1 reduce add {
                  v9: i64 = load v4[v8] v11: f64 = load v0[v9] yield v11
                }
                compact v10
                yield v7
              }
              yield v2
            }",
        );
        assert!(
            !text.contains("for") && !text.contains("alloc") && !text.contains("mark"),
            "{text}"
        );
        assert_eq!(text.matches("load v0").count(), 4, "{text}");
    }

    #[test]
    fn long_loops_and_loops_that_take_memory_stay() {
        let module = |count: u32, body: &str| {
            format!(
                "function \"f\"(v0: [f64]) -> f64 {{
                  v1: i64 = const {count}
                  v2: f64 = for v3 < v1 reduce add {{ {body} v7: f64 = load v0[v3] yield v7 }}
                  yield v2
                }}"
            )
        };
        assert!(!unrolled(&module(8, "")).contains("for"));
        assert!(unrolled(&module(9, "")).contains("for"));
        let takes = "v4: [f64] = alloc v1 v5: f64 = const 1.0 store v4[v3] = v5";
        assert!(unrolled(&module(2, takes)).contains("for"));
        let long: String = (10..510).map(|v| format!("v{v}: i64 = add v3, v3 ")).collect();
        assert!(unrolled(&module(2, &long)).contains("for"));
    }
}
