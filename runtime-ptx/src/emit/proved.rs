//! Checks that always hold where they stand: they are removed, and what only they read.
//!
//! An index of the space is below the extent it runs over, the number of an iteration below the
//! count of its loop, and a condition that was checked before is still true: values never change.
//!
//! ```text
//! over flat v0 at v2 {
//!   v4: bool = ge v2, v3          (v3 is 0)
//!   v5: bool = lt v2, v0
//!   v6: bool = and v4, v5
//!   check v6 @1                →  nothing
//! ```
//!
//! Two values are the same if they are computed by the same operation of the same values.

use super::ranges::never_negative;
use nesl_runtime::kir::{Binary, Block, Class, Inst, Kernel, Literal, Op, Space, Value, walk};
use std::collections::{HashMap, HashSet};

/// The depth to which conditions are taken apart.
const MAX_CONDITION_DEPTH: usize = 8;

/// Removes the checks of a kernel that always hold.
pub fn remove_proved_checks(kernel: &mut Kernel) {
    let mut proof = Proof {
        same: (0..kernel.types.len() as u32).map(Value).collect(),
        ops: HashMap::new(),
        values: HashMap::new(),
        never_negative: never_negative(kernel),
        known: Vec::new(),
        is_known: HashSet::new(),
        below: HashSet::new(),
    };
    match (&kernel.space, &kernel.indices[..]) {
        (Space::Flat { count }, [index]) => drop(proof.below.insert((*index, *count))),
        (Space::Regular { segments, length }, [segment, position, _]) => {
            proof.below.extend([(*segment, *segments), (*position, *length)]);
        }
        (Space::Segmented { segments, .. }, [segment, ..]) => {
            proof.below.insert((*segment, *segments));
        }
        _ => {}
    }
    let mut removed = false;
    for stage in &mut kernel.stages {
        removed |= proof.block(&mut stage.body);
    }
    if removed {
        remove_unread(kernel);
    }
}

/// The facts that are known at a place of the code.
struct Proof {
    /// For each value the first one that is the same.
    same: Vec<Value>,
    /// The operations that compute the first ones.
    ops: HashMap<Value, Op>,
    /// The first values, by operation.
    values: HashMap<Op, Value>,
    never_negative: Vec<bool>,
    /// Conditions that are true here, in the order in which they were found.
    known: Vec<Value>,
    is_known: HashSet<Value>,
    /// Pairs of which the first value is below the second.
    below: HashSet<(Value, Value)>,
}

impl Proof {
    fn same(&self, value: Value) -> Value {
        self.same[value.0 as usize]
    }

    /// Goes through a block; returns true if a check was removed. What its conditions tell is
    /// known until its end.
    fn block(&mut self, block: &mut Block) -> bool {
        let before = block.insts.len();
        let mut removed = false;
        block.insts.retain_mut(|inst| {
            if let Op::Check { cond, .. } = inst.op {
                if self.holds(cond, MAX_CONDITION_DEPTH) {
                    return false;
                }
                self.learn(cond, MAX_CONDITION_DEPTH);
                return true;
            }
            self.number(inst);
            removed |= self.nested(inst);
            true
        });
        removed || block.insts.len() < before
    }

    /// Gives the result of a computation the number of the same one before.
    fn number(&mut self, inst: &Inst) {
        let ([result], Class::Pure) = (&inst.results[..], inst.op.class()) else { return };
        let mut op = inst.op.clone();
        op.map_operands(|value| self.same(value));
        let first = *self.values.entry(op.clone()).or_insert(*result);
        self.same[result.0 as usize] = first;
        self.ops.entry(first).or_insert(op);
    }

    fn nested(&mut self, inst: &mut Inst) -> bool {
        match &mut inst.op {
            Op::If { cond, then, otherwise } => {
                let yes = self.inside(Some(*cond), None, then);
                self.inside(None, None, otherwise) || yes
            }
            Op::While { cond, body, .. } => {
                let start = self.known.len();
                let removed = self.block(cond);
                let goes_on = cond.yields[0];
                let removed = self.inside(Some(goes_on), None, body) || removed;
                self.forget(start);
                removed
            }
            Op::For { count, index, body, .. } => {
                let pair = (*index, self.same(*count));
                self.inside(None, Some(pair), body)
            }
            _ => false,
        }
    }

    /// Goes through a nested block, in which a condition holds, or a value is below another one.
    fn inside(
        &mut self,
        cond: Option<Value>,
        below: Option<(Value, Value)>,
        block: &mut Block,
    ) -> bool {
        let start = self.known.len();
        if let Some(cond) = cond {
            self.learn(cond, MAX_CONDITION_DEPTH);
        }
        self.below.extend(below);
        let removed = self.block(block);
        self.forget(start);
        removed
    }

    fn forget(&mut self, start: usize) {
        for value in self.known.drain(start..) {
            self.is_known.remove(&value);
        }
    }

    fn learn(&mut self, cond: Value, depth: usize) {
        let cond = self.same(cond);
        if self.is_known.insert(cond) {
            self.known.push(cond);
        }
        if let (Some(Op::Binary(Binary::And, a, b)), 1..) = (self.ops.get(&cond), depth) {
            let (a, b) = (*a, *b);
            self.learn(a, depth - 1);
            self.learn(b, depth - 1);
        }
    }

    fn holds(&self, cond: Value, depth: usize) -> bool {
        let cond = self.same(cond);
        if self.is_known.contains(&cond) {
            return true;
        }
        let (Some(op), 1..) = (self.ops.get(&cond), depth) else { return false };
        match op {
            Op::Const(Literal::Bool(value)) => *value,
            Op::Binary(Binary::And, a, b) => self.holds(*a, depth - 1) && self.holds(*b, depth - 1),
            Op::Binary(Binary::Or, a, b) => self.holds(*a, depth - 1) || self.holds(*b, depth - 1),
            Op::Binary(Binary::Lt, a, b) => self.is_below(*a, *b),
            Op::Binary(Binary::Gt, a, b) => self.is_below(*b, *a),
            Op::Binary(Binary::Ge, a, b) => self.is_at_least(*a, *b),
            Op::Binary(Binary::Le, a, b) => self.is_at_least(*b, *a),
            _ => false,
        }
    }

    fn constant(&self, value: Value) -> Option<i64> {
        match self.ops.get(&value) {
            Some(Op::Const(Literal::I64(x))) => Some(*x),
            _ => None,
        }
    }

    fn is_below(&self, a: Value, b: Value) -> bool {
        let constants = self.constant(a).zip(self.constant(b));
        self.below.contains(&(a, b)) || constants.is_some_and(|(a, b)| a < b)
    }

    fn is_at_least(&self, a: Value, b: Value) -> bool {
        match self.constant(b) {
            Some(b) if b <= 0 && self.never_negative[a.0 as usize] => true,
            Some(b) => self.constant(a).is_some_and(|a| a >= b),
            None => false,
        }
    }
}

/// Removes the computations whose results nobody reads.
fn remove_unread(kernel: &mut Kernel) {
    let mut reads = vec![0u32; kernel.types.len()];
    for stage in &kernel.stages {
        let mut count = |value: Value| reads[value.0 as usize] += 1;
        stage.body.insts.iter().for_each(|inst| walk::each_read(inst, &mut count));
        stage.sinks.iter().for_each(|sink| sink.each_operand(&mut count));
    }
    for stage in kernel.stages.iter_mut().rev() {
        remove_unread_of(&mut stage.body, &mut reads);
    }
}

fn remove_unread_of(block: &mut Block, reads: &mut [u32]) {
    for inst in block.insts.iter_mut().rev() {
        inst.op.blocks_mut().for_each(|block| remove_unread_of(block, reads));
        if is_unread(inst, reads) {
            inst.op.each_operand(|value| reads[value.0 as usize] -= 1);
        }
    }
    block.insts.retain(|inst| !is_unread(inst, reads));
}

/// Returns true for a computation whose result nobody reads. The operands of such a one are not
/// counted as read any more.
fn is_unread(inst: &Inst, reads: &[u32]) -> bool {
    inst.op.class() == Class::Pure && inst.results.iter().all(|value| reads[value.0 as usize] == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use nesl_runtime::kir::{parse, print};

    fn check(text: &str, expected: Expect) {
        let mut module = parse(text).unwrap();
        remove_proved_checks(&mut module.kernels[0]);
        expected.assert_eq(&print(&module));
    }

    #[test]
    fn indices_of_the_space_are_below_its_size() {
        check(
            "\
kernel \"k\"(v0: i64, v1: [i64], v2: [i64]) over flat v0 at v3 {
  v4: i64 = const 0
  v5: bool = ge v3, v4
  v6: bool = lt v3, v0
  v7: bool = and v5, v6
  check v7 @1 detail v3, v0
  v8: i64 = load v1[v3]
  store v2[v3] = v8
}
",
            expect![[r#"
                kernel "k"(v0: i64, v1: [i64], v2: [i64]) over flat v0 at v3 {
                  v8: i64 = load v1[v3]
                  store v2[v3] = v8
                }
            "#]],
        );
    }

    #[test]
    fn conditions_hold_where_a_check_was_passed() {
        check(
            "\
kernel \"k\"(v0: i64, v1: [i64], v2: i64, v3: [i64]) over flat v0 at v4 {
  v5: i64 = load v1[v4]
  v6: i64 = const 0
  v7: bool = ge v5, v6
  v8: bool = lt v5, v2
  v9: bool = and v7, v8
  if v9 {
    check v9 @0
  } else {
    check v8 @1
  }
  check v9 @2 detail v5, v2
  v10: i64 = for v11 < v2 reduce add {
    v12: i64 = const 0
    v13: bool = ge v5, v12
    v14: bool = lt v5, v2
    v15: bool = and v13, v14
    check v15 @3 detail v5, v2
    v16: bool = lt v11, v2
    check v16 @4
    v17: i64 = load v3[v11]
    yield v17
  }
  store v1[v4] = v10
}
",
            expect![[r#"
                kernel "k"(v0: i64, v1: [i64], v2: i64, v3: [i64]) over flat v0 at v4 {
                  v5: i64 = load v1[v4]
                  v6: i64 = const 0
                  v7: bool = ge v5, v6
                  v8: bool = lt v5, v2
                  v9: bool = and v7, v8
                  if v9 {
                  } else {
                    check v8 @1
                  }
                  check v9 @2 detail v5, v2
                  v10: i64 = for v11 < v2 reduce add {
                    v17: i64 = load v3[v11]
                    yield v17
                  }
                  store v1[v4] = v10
                }
            "#]],
        );
    }
}
