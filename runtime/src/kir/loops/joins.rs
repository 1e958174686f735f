//! Joins that are not needed: the results of branches, and the carried values and results of loops.
//!
//! A join all of whose inputs are one value, seen through other joins, is that value. A join that nothing reads
//! but joins of that kind goes, and so does every operation that is executed for its result alone.
//!
//! Braun et al., "Simple and Efficient Construction of Static Single Assignment Form" (CC 2013), section 3, is about
//! the same joins, as φ functions.

use super::{Code, resolve};
use crate::kir::{Block, Class, Inst, Op, Value, walk};
use crate::stack::with_stack;
use rustc_hash::{FxHashMap, FxHashSet};

/// The largest number of joins that are looked through for the inputs of one.
const MAX_JOINS_SEEN: usize = 64;

/// The joins of some code.
#[derive(Default)]
struct Joins {
    /// The values that each join may be.
    inputs: FxHashMap<Value, Vec<Value>>,
    /// The carried value that the result of a loop is in the end.
    carried: FxHashMap<Value, Value>,
}

impl Joins {
    fn add(&mut self, block: &Block) {
        walk::each_inst(block, &mut |inst| match &inst.op {
            Op::If { then, otherwise, .. } => {
                let sides = then.yields.iter().zip(&otherwise.yields);
                for (result, (a, b)) in inst.results.iter().zip(sides) {
                    self.inputs.insert(*result, vec![*a, *b]);
                }
            }
            Op::While { init, carried, body, .. } | Op::For { init, carried, body, .. } => {
                for (at, carried) in carried.iter().enumerate() {
                    self.inputs.insert(*carried, vec![init[at], body.yields[at]]);
                    self.carried.insert(inst.results[at], *carried);
                }
            }
            _ => {}
        });
    }

    /// The value that is no join and that a join always is, if there is one.
    fn single_source(&self, join: Value) -> Option<Value> {
        let (mut source, mut seen, mut todo) = (None, FxHashSet::default(), vec![join]);
        while let Some(value) = todo.pop() {
            let value = self.carried.get(&value).copied().unwrap_or(value);
            match self.inputs.get(&value) {
                Some(_) if seen.len() == MAX_JOINS_SEEN => return None,
                Some(inputs) => {
                    if seen.insert(value) {
                        todo.extend(inputs);
                    }
                }
                _ if source.is_none_or(|source| source == value) => source = Some(value),
                _ => return None,
            }
        }
        source
    }

    /// The names of the joins that are other values.
    fn redundant(&self) -> FxHashMap<Value, Value> {
        let mut names = FxHashMap::default();
        let mut joins: Vec<Value> = self.inputs.keys().copied().collect();
        joins.sort_unstable();
        for join in &joins {
            if let Some(source) = self.single_source(*join) {
                names.insert(*join, source);
            }
        }
        // A join of another join, which may be several values itself.
        let mut changed = true;
        while changed {
            changed = false;
            for join in
                joins.iter().filter(|join| !names.contains_key(*join)).copied().collect::<Vec<_>>()
            {
                let mut others =
                    self.inputs[&join].iter().map(|v| resolve(&names, *v)).filter(|v| *v != join);
                let Some(first) = others.next() else { continue };
                if others.all(|v| v == first) {
                    names.insert(join, first);
                    changed = true;
                }
            }
        }
        for (result, carried) in &self.carried {
            // Behind a loop only what stands before it has the name that it has inside.
            if names.contains_key(carried) {
                names.insert(*result, resolve(&names, *carried));
            }
        }
        names
    }
}

/// Removes the joins of code that are not needed, and the operations that only they read.
pub(super) fn remove_joins(code: &mut Code<'_>) {
    remove_redundant(code);
    remove_dead(code);
}

fn remove_redundant(code: &mut Code<'_>) {
    let mut joins = Joins::default();
    code.bodies.iter().for_each(|body| joins.add(body));
    let names = joins.redundant();
    for body in code.bodies.iter_mut() {
        keep_joins(body, &|join| !names.contains_key(&join));
    }
    code.rename_all(&names);
}

/// Leaves out the joins for which `keep` is false. The result of a loop is kept if its carried value is.
fn keep_joins(block: &mut Block, keep: &dyn Fn(Value) -> bool) {
    with_stack(|| {
        for Inst { results, op } in &mut block.insts {
            let kept: Vec<bool> = match op {
                Op::If { .. } => results.iter().map(|v| keep(*v)).collect(),
                Op::While { carried, .. } | Op::For { carried, .. } => {
                    carried.iter().map(|v| keep(*v)).collect()
                }
                _ => continue,
            };
            op.blocks_mut().for_each(|inner| keep_joins(inner, keep));
            if kept.iter().all(|kept| *kept) {
                continue;
            }
            retain(results, &kept);
            match op {
                Op::If { then, otherwise, .. } => {
                    retain(&mut then.yields, &kept);
                    retain(&mut otherwise.yields, &kept);
                }
                Op::While { init, carried, body, .. } | Op::For { init, carried, body, .. } => {
                    retain(init, &kept);
                    retain(carried, &kept);
                    retain(&mut body.yields, &kept);
                }
                _ => {}
            }
        }
    });
}

/// Keeps the values whose flag is true, and those behind the flags: the reductions of a loop.
pub(super) fn retain(values: &mut Vec<Value>, kept: &[bool]) {
    let mut kept = kept.iter();
    values.retain(|_| kept.next().copied().unwrap_or(true));
}

fn remove_dead(code: &mut Code<'_>) {
    let mut live = Live::default();
    code.sinks
        .iter()
        .flat_map(|sinks| sinks.iter())
        .for_each(|sink| sink.each_value(|v| live.mark(v)));
    code.bodies.iter().flat_map(|body| &body.yields).for_each(|v| live.mark(*v));
    code.bodies.iter().for_each(|body| live.block(body));
    live.propagate();
    for body in code.bodies.iter_mut() {
        keep_joins(body, &|join| live.values.contains(&join));
        live.sweep(body);
    }
}

/// The values that are needed for what code does.
#[derive(Default)]
struct Live {
    values: FxHashSet<Value>,
    todo: Vec<Value>,
    /// The values that each value is computed from.
    operands: FxHashMap<Value, Vec<Value>>,
}

impl Live {
    fn mark(&mut self, value: Value) {
        if self.values.insert(value) {
            self.todo.push(value);
        }
    }

    fn block(&mut self, block: &Block) {
        with_stack(|| {
            for inst in &block.insts {
                self.inst(inst);
                inst.op.blocks().for_each(|inner| self.block(inner));
            }
        });
    }

    fn inst(&mut self, Inst { results, op }: &Inst) {
        match op {
            Op::If { cond, then, otherwise } => {
                self.mark(*cond);
                let sides = then.yields.iter().zip(&otherwise.yields);
                for (result, (a, b)) in results.iter().zip(sides) {
                    self.operands.insert(*result, vec![*a, *b]);
                }
            }
            Op::While { init, carried, body, .. } | Op::For { init, carried, body, .. } => {
                match op {
                    Op::While { cond, .. } => self.mark(cond.yields[0]),
                    Op::For { count, .. } => self.mark(*count),
                    _ => {}
                }
                for (at, carried) in carried.iter().enumerate() {
                    self.operands.insert(*carried, vec![init[at], body.yields[at]]);
                    self.operands.insert(results[at], vec![*carried]);
                }
                body.yields[carried.len()..].iter().for_each(|v| self.mark(*v));
            }
            Op::Compact { since, keep } => {
                self.mark(*since);
                for (result, (array, length)) in results.iter().zip(keep) {
                    self.operands.insert(*result, vec![*array, *length]);
                }
            }
            op => match is_dead_without_results(op) {
                true => results.iter().for_each(|v| drop(self.operands.insert(*v, op.operands()))),
                false => op.each_operand(|v| self.mark(v)),
            },
        }
    }

    fn propagate(&mut self) {
        while let Some(value) = self.todo.pop() {
            for operand in self.operands.get(&value).cloned().unwrap_or_default() {
                self.mark(operand);
            }
        }
    }

    fn sweep(&self, block: &mut Block) {
        with_stack(|| {
            block.insts.retain_mut(|Inst { results, op }| {
                if let Op::Compact { keep, .. } = op {
                    let kept: Vec<bool> = results.iter().map(|v| self.values.contains(v)).collect();
                    retain(results, &kept);
                    let mut kept = kept.iter();
                    keep.retain(|_| kept.next() == Some(&true));
                    return true;
                }
                op.blocks_mut().for_each(|inner| self.sweep(inner));
                match op {
                    // A loop with a condition may not end.
                    Op::If { then, otherwise, .. } => {
                        !(results.is_empty() && then.insts.is_empty() && otherwise.insts.is_empty())
                    }
                    op => {
                        !is_dead_without_results(op)
                            || results.iter().any(|v| self.values.contains(v))
                    }
                }
            });
        });
    }
}

/// Returns true if an operation is executed for its results alone.
fn is_dead_without_results(op: &Op) -> bool {
    match op.class() {
        Class::Pure | Class::Address | Class::Read => true,
        Class::Allocate => !matches!(op, Op::Compact { .. }),
        Class::Write | Class::Trap | Class::Control | Class::Call | Class::Intrinsic => false,
    }
}
