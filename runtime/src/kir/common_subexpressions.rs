//! Common subexpression elimination: a value that is known already is not computed again.
//!
//! An element that a program indexes twice comes with two checks and two loads. The second check has the condition of the first,
//! once both read the same values; [`ranges`](super::ranges) removes it.
//!
//! ```text
//! v2: i64 = load v0[v1]          v2: i64 = load v0[v1]
//! v3: i64 = add v2, v2       →   v3: i64 = add v2, v2
//! v4: i64 = load v0[v1]
//! store v0[v3] = v4              store v0[v3] = v2
//! v5: i64 = load v0[v3]
//! v6: i64 = mul v5, v4           v6: i64 = mul v2, v2
//! ```
//!
//! An operation on int constants, or on bools, is the constant that it gives: loops that were unrolled are full of them.
//!
//! A value is known in the rest of the block that computes it, and in the blocks nested there. A loaded or stored
//! element is known until something may write, unless nothing in the kernel writes the array.

use super::reference::scalar;
use super::written::written_params;
use super::{Binary, Block, Class, Function, Inst, Literal, Module, Op, Value};
use crate::stack::with_stack;
use rustc_hash::{FxHashMap, FxHashSet};

/// Removes the operations of a module whose results are known where they stand.
pub fn eliminate_common_subexpressions(module: &mut Module) {
    let written: Vec<Vec<bool>> =
        module.kernels.iter().map(|kernel| written_params(module, kernel)).collect();
    for Function { body, .. } in &mut module.functions {
        Known::default().block(body);
    }
    for (kernel, written) in module.kernels.iter_mut().zip(written) {
        let mut known = Known::default();
        let params = kernel.params.iter().zip(written);
        known.constant.extend(params.filter(|(_, written)| !written).map(|(param, _)| *param));
        for stage in &mut kernel.stages {
            // The passes of a kernel execute stages apart: what one computes is kept for a later one only where the
            // code asks for it.
            known.block(&mut stage.body);
            known.written();
            let names = &known.names;
            stage.sinks.iter_mut().for_each(|s| s.map_values(|v| renamed(names, v)));
        }
    }
}

/// The values that are known where the pass is.
#[derive(Default)]
struct Known {
    /// The first of the values that are equal, for each of the others.
    names: FxHashMap<Value, Value>,
    /// The values that are int constants, or bools.
    constants: FxHashMap<Value, Literal>,
    /// The results of operations that depend on their operands alone.
    results: FxHashMap<Op, Value>,
    /// The elements of arrays at indices, each with the state of memory that has it.
    elements: FxHashMap<(Value, Value), (Memory, Value)>,
    /// The entries that were added since blocks began: they are not known behind these.
    added: Vec<Added>,
    /// The arrays that nothing writes.
    constant: FxHashSet<Value>,
    memory: Memory,
    /// The number of states so far.
    states: u32,
}

/// A state of memory: two are equal if nothing is written in between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Memory(u32);

/// The result of an operation on constants.
enum Folded {
    Constant(Literal),
    Value(Value),
}

enum Added {
    Result(Op),
    Element(Value, Value),
}

fn renamed(names: &FxHashMap<Value, Value>, value: Value) -> Value {
    names.get(&value).copied().unwrap_or(value)
}

impl Known {
    /// Leaves out of a block what is known there.
    fn block(&mut self, block: &mut Block) {
        with_stack(|| {
            let before = self.added.len();
            self.insts(block);
            self.forget(before);
        });
    }

    fn insts(&mut self, block: &mut Block) {
        block.insts.retain_mut(|inst| !self.inst(inst));
        block.yields.iter_mut().for_each(|v| *v = renamed(&self.names, *v));
    }

    fn forget(&mut self, before: usize) {
        for added in self.added.drain(before..) {
            match added {
                Added::Result(op) => drop(self.results.remove(&op)),
                Added::Element(array, index) => drop(self.elements.remove(&(array, index))),
            }
        }
    }

    /// Notes that something may have been written.
    fn written(&mut self) {
        self.states += 1;
        self.memory = Memory(self.states);
    }

    /// Reads known values in an instruction; returns true if its result is known too.
    fn inst(&mut self, inst: &mut Inst) -> bool {
        inst.op.map_operands(|v| renamed(&self.names, v));
        match &mut inst.op {
            Op::If { then, otherwise, .. } => {
                let before = self.memory;
                self.block(then);
                let after_then = self.memory;
                self.memory = before;
                self.block(otherwise);
                if (after_then, self.memory) != (before, before) {
                    self.written();
                }
                false
            }
            Op::While { cond, body, .. } => {
                let writes = may_write(cond) || may_write(body);
                self.looped(writes, |known| {
                    // The body sees what its condition computes.
                    let before = known.added.len();
                    known.insts(cond);
                    known.insts(body);
                    known.forget(before);
                });
                false
            }
            Op::For { body, .. } => {
                let writes = may_write(body);
                self.looped(writes, |known| known.block(body));
                false
            }
            Op::Load { array, index } => {
                let place = (*array, *index);
                match self.elements.get(&place) {
                    Some((memory, known))
                        if *memory == self.memory || self.constant.contains(array) =>
                    {
                        self.names.insert(inst.results[0], *known);
                        true
                    }
                    _ => {
                        self.element(place, inst.results[0]);
                        false
                    }
                }
            }
            Op::Store { array, index, value } => {
                let (place, value) = ((*array, *index), *value);
                self.written();
                self.element(place, value);
                false
            }
            op => self.plain(op, &inst.results),
        }
    }

    /// Goes through a loop: an iteration may see what earlier ones have written.
    fn looped(&mut self, writes: bool, go: impl FnOnce(&mut Known)) {
        if writes {
            self.written();
        }
        with_stack(|| go(self));
        if writes {
            self.written();
        }
    }

    /// Returns what an operation on constants gives, and whether it is a constant itself.
    fn folded(&self, op: &Op) -> Option<Folded> {
        let constant = |v: &Value| self.constants.get(v).copied();
        let is = |v: &Value, x: i64| constant(v) == Some(Literal::I64(x));
        match op {
            Op::Binary(op, a, b) => match (op, constant(a), constant(b)) {
                (op, Some(x), Some(y)) => Some(Folded::Constant(scalar::binary(*op, x, y))),
                (Binary::Add, ..) if is(a, 0) => Some(Folded::Value(*b)),
                (Binary::Mul, ..) if is(a, 1) => Some(Folded::Value(*b)),
                (Binary::Add | Binary::Sub, ..) if is(b, 0) => Some(Folded::Value(*a)),
                (Binary::Mul, ..) if is(b, 1) => Some(Folded::Value(*a)),
                _ => None,
            },
            Op::Unary(op, a) => Some(Folded::Constant(scalar::unary(*op, constant(a)?))),
            Op::Select(cond, a, b) => match constant(cond)? {
                Literal::Bool(true) => Some(Folded::Value(*a)),
                _ => Some(Folded::Value(*b)),
            },
            _ => None,
        }
    }

    /// Takes an operation without nested blocks that is no load or store; returns true if its result is known.
    fn plain(&mut self, op: &mut Op, results: &[Value]) -> bool {
        match self.folded(op) {
            Some(Folded::Constant(literal)) => *op = Op::Const(literal),
            Some(Folded::Value(value)) => {
                self.names.insert(results[0], value);
                return true;
            }
            None => {}
        }
        if let Op::Const(literal @ (Literal::I32(_) | Literal::I64(_) | Literal::Bool(_))) = op {
            self.constants.insert(results[0], *literal);
        }
        if op.may_write() {
            self.written();
        }
        if !matches!(op.class(), Class::Pure | Class::Address) {
            return false;
        }
        let (key, result) = (in_order(op), results[0]);
        if let Some(known) = self.results.get(&key) {
            self.names.insert(result, *known);
            return true;
        }
        if matches!(op, Op::Slice(array, _) if self.constant.contains(array)) {
            self.constant.insert(result);
        }
        self.results.insert(key.clone(), result);
        self.added.push(Added::Result(key));
        false
    }

    fn element(&mut self, (array, index): (Value, Value), value: Value) {
        self.elements.insert((array, index), (self.memory, value));
        self.added.push(Added::Element(array, index));
    }
}

/// The operation with its operands in order, if their order does not matter.
fn in_order(op: &Op) -> Op {
    match *op {
        Op::Binary(
            op @ (Binary::Add
            | Binary::Mul
            | Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::Eq
            | Binary::Ne),
            a,
            b,
        ) if b < a => Op::Binary(op, b, a),
        _ => op.clone(),
    }
}

/// Returns true if code may write elements or free memory.
fn may_write(block: &Block) -> bool {
    with_stack(|| {
        let inside = |op: &Op| op.may_write() || op.blocks().any(may_write);
        block.insts.iter().any(|inst| inside(&inst.op))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kir::{parse, print};

    /// The code of a function of the arrays `v0` and `v1`, the ints `v2` and `v3` and the bool `v4`, without what is
    /// known.
    fn left(body: &str) -> String {
        let text = format!(
            "function \"f\"(v0: [i64], v1: [i64], v2: i64, v3: i64, v4: bool) {{ {body} }}"
        );
        let mut module = parse(&text).unwrap();
        eliminate_common_subexpressions(&mut module);
        let printed = print(&module);
        let lines: Vec<&str> = printed.lines().map(str::trim).collect();
        lines[1..lines.len() - 1].join(" ")
    }

    #[test]
    fn an_operation_is_executed_once_in_a_block_and_those_nested_there() {
        let kept = left(
            "v5: i64 = add v2, v3 if v4 { v6: i64 = add v3, v2 store v0[v2] = v6 } \
             v7: i64 = add v2, v3 store v1[v2] = v7",
        );
        assert_eq!(kept.matches("add").count(), 1, "{kept}");
        let kept = left(
            "if v4 { v5: i64 = add v2, v3 store v0[v2] = v5 } v6: i64 = add v2, v3 store v1[v2] = v6",
        );
        assert_eq!(kept.matches("add").count(), 2, "the first may not be executed: {kept}");
    }

    #[test]
    fn operations_on_constants_are_constants() {
        let kept = left(
            "v5: i64 = const 2 v6: i64 = const 3 v7: i64 = mul v5, v6 v8: i64 = const 6 v9: bool = eq v7, v8 \
             v10: i64 = select v9, v2, v3 v11: i64 = const 0 v12: i64 = add v10, v11 store v0[v12] = v7",
        );
        assert!(kept.ends_with("store v0[v2] = v7"), "{kept}");
        for gone in ["mul", "eq", "select", "add"] {
            assert!(!kept.contains(gone), "{gone} in {kept}");
        }
        // Floats are rounded by the machine that they are for, and stay.
        let text = "function \"f\"(v0: [f64], v1: i64) {
          v2: f64 = const 0.1 v3: f64 = add v2, v2 store v0[v1] = v3 }";
        let mut module = parse(text).unwrap();
        eliminate_common_subexpressions(&mut module);
        assert!(print(&module).contains("add"));
    }

    #[test]
    fn an_element_is_known_until_something_is_written() {
        let load = |between: &str| {
            left(&format!(
                "v5: i64 = load v0[v2] {between} v6: i64 = load v0[v2] check v4 @0 detail v5, v6"
            ))
        };
        assert_eq!(load("").matches("load").count(), 1);
        assert_eq!(load("store v1[v3] = v3").matches("load").count(), 2, "v1 may be v0");
        assert_eq!(load("if v4 { store v1[v3] = v3 }").matches("load").count(), 2);
        assert_eq!(load("for v7 < v2 { store v1[v7] = v3 }").matches("load").count(), 2);
        assert_eq!(load("v7: [i64] = alloc v2").matches("load").count(), 1);
    }

    #[test]
    fn a_stored_element_is_known() {
        let kept = left("store v0[v2] = v3 v5: i64 = load v0[v2] store v1[v3] = v5");
        assert_eq!(kept, "store v0[v2] = v3 store v1[v3] = v3");
    }

    #[test]
    fn an_iteration_loads_what_an_earlier_one_may_have_written() {
        let body = "v6: i64 = load v0[v2] v7: i64 = add v6, v5 store v0[v2] = v7";
        let kept = left(&format!("v8: i64 = load v0[v2] for v5 < v8 {{ {body} }}"));
        assert_eq!(kept.matches("load").count(), 2, "{kept}");
    }

    #[test]
    fn arrays_that_a_kernel_does_not_write_are_constant() {
        let mut module = parse(
            "kernel \"k\"(v0: i64, v1: [i64], v2: [i64], v3: [i64]) over flat v0 at v4 { \
             v5: i64 = load v1[v4] store v2[v4] = v5 v6: i64 = load v1[v4] store v3[v4] = v6 }",
        )
        .unwrap();
        eliminate_common_subexpressions(&mut module);
        assert_eq!(print(&module).matches("load").count(), 1, "{}", print(&module));
    }
}
