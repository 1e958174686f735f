//! Ints of 32 bits for small numbers: code over chars has no use for lanes of 64 bits.
//!
//! ```text
//! v4: u8 = load v1[v3]                  v4: u8 = load v1[v3]
//! v5: i64 = convert v4                  v5: i32 = convert v4
//! v7: i64 = add v5, v6             →    v9: i32 = const 3
//! v8: u8 = convert v7                   v7: i32 = add v5, v9
//!                                       v8: u8 = convert v7
//! ```
//!
//! A vector holds as many lanes as the widest values have room for, so that it is done for all ints of a kernel or for
//! none: their ranges ([`ranges`](super::ranges)) must fit, and what else there is of 64 bits must be indices, which are no
//! lanes. The result of each operation is a small number, so that it is the same however many bits there are.

use super::ranges::known_ranges;
use super::{Binary, Block, Inst, Kernel, Literal, Module, Op, Ty, Unary, Value, ValueTy, walk};
use crate::stack::with_stack;
use rustc_hash::{FxHashMap, FxHashSet};

/// Narrows the ints of the kernels that compute small numbers from chars and bools.
pub fn narrow_ints(module: &mut Module) {
    for kernel in &mut module.kernels {
        if let Some(narrowing) = Narrowing::of(kernel) {
            narrowing.rewrite(kernel);
        }
    }
}

/// The ints of a kernel.
struct Narrowing {
    /// The values that become ints of 32 bits.
    narrow: FxHashSet<Value>,
    /// The constants, which are of 64 bits and may be used as ones of 32.
    constants: FxHashMap<Value, i64>,
}

impl Narrowing {
    /// Finds out which ints become narrow; `None` if others would remain in lanes.
    fn of(kernel: &Kernel) -> Option<Narrowing> {
        let scalar = |value: Value| match kernel.types[value.0 as usize] {
            ValueTy::Scalar(ty) => Some(ty),
            ValueTy::Array(_) | ValueTy::Mark => None,
        };
        let is_int = |value: Value| scalar(value) == Some(Ty::I64);
        let mut reads_chars = false;
        let mut insts = Vec::new();
        for body in walk::stage_bodies(kernel) {
            walk::each_inst(body, &mut |inst| insts.push(inst));
        }
        let mut constants = FxHashMap::default();
        // Numbers of elements, with constants or parameters added.
        let mut places: FxHashSet<Value> = kernel.indices.iter().copied().collect();
        let mut ints = Vec::new();
        for inst in &insts {
            for result in inst.results.iter().chain(inst.op.carried()) {
                match scalar(*result) {
                    Some(Ty::I64) => ints.push(*result),
                    Some(Ty::F64) => return None,
                    _ => {}
                }
            }
            match &inst.op {
                Op::Const(Literal::I64(constant)) => {
                    constants.insert(inst.results[0], *constant);
                }
                Op::Binary(Binary::Add | Binary::Sub, a, b)
                    if places.contains(a)
                        && (constants.contains_key(b) || kernel.params.contains(b)) =>
                {
                    places.insert(inst.results[0]);
                }
                Op::Load { array, .. } => {
                    let of = kernel.types[array.0 as usize];
                    reads_chars |= matches!(of, ValueTy::Array(Ty::U8 | Ty::Bool));
                }
                Op::For { .. } | Op::While { .. } => return None,
                _ => {}
            }
        }
        if !reads_chars {
            return None;
        }
        let ranges = known_ranges(kernel);
        let is_small = |value: &Value| {
            let fits = |(low, high): &(i64, i64)| {
                i32::try_from(*low).is_ok() && i32::try_from(*high).is_ok()
            };
            ranges.get(value).is_some_and(fits)
        };
        let mut narrow: FxHashSet<Value> = FxHashSet::default();
        for inst in &insts {
            if makes_small_ints(&inst.op, &constants, &scalar) {
                let results = inst.results.iter().copied();
                narrow.extend(results.filter(|result| is_int(*result) && is_small(result)));
            }
        }
        let mut found = Narrowing { narrow, constants };
        while found.remove_others(&insts, &is_int) {}
        let mut in_sinks = false;
        for sink in kernel.stages.iter().flat_map(|stage| &stage.sinks) {
            sink.each_value(|value| in_sinks |= found.narrow.contains(&value));
        }
        let is_other = |value: &Value| {
            !found.narrow.contains(value)
                && !found.constants.contains_key(value)
                && !places.contains(value)
        };
        let none = found.narrow.is_empty() || in_sinks || ints.iter().any(is_other);
        (!none).then_some(found)
    }

    /// Returns true for ints that are narrow, or constants that may be.
    fn may_be_narrow(&self, value: Value) -> bool {
        let constant = self.constants.get(&value).copied();
        self.narrow.contains(&value) || constant.is_some_and(|x| i32::try_from(x).is_ok())
    }

    /// Removes values that are computed from others, or used by what takes ints of 64 bits. Returns true if it removes
    /// any, so that others may have to go.
    fn remove_others(&mut self, insts: &[&Inst], is_int: &dyn Fn(Value) -> bool) -> bool {
        let before = self.narrow.len();
        for inst in insts {
            let mut operands = Vec::new();
            inst.op.each_operand(|operand| operands.push(operand));
            operands.retain(|operand| is_int(*operand));
            let all = operands.iter().all(|operand| self.may_be_narrow(*operand));
            match &inst.op {
                Op::If { then, otherwise, .. } => {
                    for (at, result) in inst.results.iter().enumerate() {
                        let sides = [then.yields[at], otherwise.yields[at]];
                        if !sides.iter().all(|side| self.may_be_narrow(*side)) {
                            self.narrow.remove(result);
                        }
                        if !self.narrow.contains(result) {
                            self.keep_wide(&sides);
                        }
                    }
                }
                Op::Convert(..) => {}
                op => {
                    let compares = matches!(op, Op::Binary(op, ..) if op.compares());
                    // What has no result stores, checks or fails: its ints are indices, and details of faults.
                    let narrow = !inst.results.is_empty()
                        && inst.results.iter().all(|result| self.narrow.contains(result));
                    if !(all && (compares || narrow)) {
                        self.keep_wide(&inst.results);
                        self.keep_wide(&operands);
                    }
                }
            }
        }
        self.narrow.len() < before
    }

    fn keep_wide(&mut self, values: &[Value]) {
        for value in values {
            self.narrow.remove(value);
        }
    }

    fn rewrite(&self, kernel: &mut Kernel) {
        for value in &self.narrow {
            kernel.types[value.0 as usize] = ValueTy::Scalar(Ty::I32);
        }
        let Kernel { stages, types, .. } = kernel;
        stages.iter_mut().for_each(|stage| self.block(&mut stage.body, types, &[]));
    }

    /// Rewrites a block, of whose yields those at `wanted` are narrow.
    fn block(&self, block: &mut Block, types: &mut Vec<ValueTy>, wanted: &[usize]) {
        with_stack(|| {
            let mut out = Vec::with_capacity(block.insts.len());
            for mut inst in std::mem::take(&mut block.insts) {
                let results: Vec<usize> = (0..inst.results.len())
                    .filter(|at| self.narrow.contains(&inst.results[*at]))
                    .collect();
                match &mut inst.op {
                    Op::If { then, otherwise, .. } => {
                        self.block(then, types, &results);
                        self.block(otherwise, types, &results);
                    }
                    Op::Convert(to, _) if !results.is_empty() => *to = Ty::I32,
                    op => {
                        let mut narrow = !results.is_empty();
                        op.each_operand(|operand| narrow |= self.narrow.contains(&operand));
                        if narrow && !matches!(op, Op::Convert(..)) {
                            op.map_operands(|operand| self.constant(operand, types, &mut out));
                        }
                    }
                }
                out.push(inst);
            }
            for at in wanted {
                block.yields[*at] = self.constant(block.yields[*at], types, &mut out);
            }
            block.insts = out;
        });
    }

    /// Returns an operand; for a constant of 64 bits, a new one of 32.
    fn constant(&self, value: Value, types: &mut Vec<ValueTy>, out: &mut Vec<Inst>) -> Value {
        let constant = self.constants.get(&value).and_then(|x| i32::try_from(*x).ok());
        let Some(constant) = constant else { return value };
        let new = Value(types.len() as u32);
        types.push(ValueTy::Scalar(Ty::I32));
        out.push(Inst { results: vec![new], op: Op::Const(Literal::I32(constant)) });
        new
    }
}

/// Returns true for operations whose results are the same with 32 bits, if these and the operands are small.
fn makes_small_ints(
    op: &Op,
    constants: &FxHashMap<Value, i64>,
    scalar: &dyn Fn(Value) -> Option<Ty>,
) -> bool {
    match op {
        Op::Convert(_, from) => matches!(scalar(*from), Some(Ty::U8 | Ty::Bool | Ty::I32)),
        Op::Unary(Unary::Neg | Unary::Abs, _) | Op::Select(..) | Op::If { .. } => true,
        Op::Binary(Binary::Shl | Binary::Shr, _, by) => {
            constants.get(by).is_some_and(|by| (0..32).contains(by))
        }
        Op::Binary(op, ..) => matches!(
            op,
            Binary::Add
                | Binary::Sub
                | Binary::Mul
                | Binary::Div
                | Binary::Rem
                | Binary::Min
                | Binary::Max
                | Binary::And
                | Binary::Or
                | Binary::Xor
        ),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kir::{parse, print, verify};
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: &Expect) {
        let mut module = parse(text).unwrap();
        narrow_ints(&mut module);
        assert_eq!(verify(&module), Ok(()));
        expected.assert_eq(&print(&module));
    }

    #[test]
    fn chars_that_are_shifted() {
        check(
            "kernel \"k\"(v0: i64, v1: [u8], v2: [u8]) over flat v0 at v3 {
  v4: u8 = load v1[v3]
  v5: i64 = convert v4
  v6: i64 = const 97
  v7: bool = lt v5, v6
  v8: i64 = if v7 {
    yield v5
  } else {
    v9: i64 = const 3
    v10: i64 = add v5, v9
    v11: bool = gt v10, v6
    v12: i64 = if v11 {
      yield v6
    } else {
      yield v10
    }
    yield v12
  }
  v13: u8 = convert v8
  store v2[v3] = v13
}
",
            &expect![[r#"
                kernel "k"(v0: i64, v1: [u8], v2: [u8]) over flat v0 at v3 {
                  v4: u8 = load v1[v3]
                  v5: i32 = convert v4
                  v6: i64 = const 97
                  v14: i32 = const 97
                  v7: bool = lt v5, v14
                  v8: i32 = if v7 {
                    yield v5
                  } else {
                    v9: i64 = const 3
                    v15: i32 = const 3
                    v10: i32 = add v5, v15
                    v16: i32 = const 97
                    v11: bool = gt v10, v16
                    v12: i32 = if v11 {
                      v17: i32 = const 97
                      yield v17
                    } else {
                      yield v10
                    }
                    yield v12
                  }
                  v13: u8 = convert v8
                  store v2[v3] = v13
                }
            "#]],
        );
    }

    #[test]
    fn what_is_stored_or_large_stays_wide() {
        check(
            "kernel \"stored\"(v0: i64, v1: [u8], v2: [i64]) over flat v0 at v3 {
  v4: u8 = load v1[v3]
  v5: i64 = convert v4
  store v2[v3] = v5
}
kernel \"large\"(v0: i64, v1: [u8], v2: [u8]) over flat v0 at v3 {
  v4: u8 = load v1[v3]
  v5: i64 = convert v4
  v6: i64 = const 16777216
  v7: i64 = mul v5, v6
  v8: u8 = convert v7
  store v2[v3] = v8
}
kernel \"at an index\"(v0: i64, v1: [u8], v2: [u8]) over flat v0 at v3 {
  v4: u8 = load v1[v3]
  v5: i64 = convert v4
  store v2[v5] = v4
}
kernel \"of the place\"(v0: i64, v1: [u8], v2: [u8]) over flat v0 at v3 {
  v4: u8 = load v1[v3]
  v5: i64 = convert v4
  v6: i64 = add v5, v3
  v7: u8 = convert v6
  store v2[v3] = v7
}
",
            &expect![[r#"
                kernel "stored"(v0: i64, v1: [u8], v2: [i64]) over flat v0 at v3 {
                  v4: u8 = load v1[v3]
                  v5: i64 = convert v4
                  store v2[v3] = v5
                }

                kernel "large"(v0: i64, v1: [u8], v2: [u8]) over flat v0 at v3 {
                  v4: u8 = load v1[v3]
                  v5: i64 = convert v4
                  v6: i64 = const 16777216
                  v7: i64 = mul v5, v6
                  v8: u8 = convert v7
                  store v2[v3] = v8
                }

                kernel "at an index"(v0: i64, v1: [u8], v2: [u8]) over flat v0 at v3 {
                  v4: u8 = load v1[v3]
                  v5: i64 = convert v4
                  store v2[v5] = v4
                }

                kernel "of the place"(v0: i64, v1: [u8], v2: [u8]) over flat v0 at v3 {
                  v4: u8 = load v1[v3]
                  v5: i64 = convert v4
                  v6: i64 = add v5, v3
                  v7: u8 = convert v6
                  store v2[v3] = v7
                }
            "#]],
        );
    }
}
