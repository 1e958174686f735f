//! Joined checks: of the checks of one index, plus several constants, against one bound, the strictest decides for all.
//!
//! A stencil reads the elements at `j`, `j + 1` and `j + 2` of a row, and each is checked. If the last is in the row, so
//! are the others. A group of elements in which a check fails is executed again one element at a time, with all checks
//! in their order, so that the first that fails is still the one that is reported.

use super::uniformity::Uniformity;
use super::vectorize::VectorFacts;
use super::{Binary, Inst, Literal, Op, Ty, Value, ValueTy};
use rustc_hash::{FxHashMap, FxHashSet};

/// The side of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The index is less than the bound.
    Below,
    /// The index is not less than the bound.
    AtLeast,
}

/// A comparison of an index with a bound, without the constant that is added to the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Compared {
    /// The side of the bound on which the index has to be.
    pub side: Side,
    /// The index without the constant; `None` if it is a constant alone.
    pub base: Option<Value>,
    /// The bound; the same for all elements.
    pub bound: Value,
}

/// A test that decides for one or more checks.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    /// The index and the bound that are compared.
    pub compared: Compared,
    /// The constant that is added to the index.
    pub offset: i64,
}

/// Returns the tests that are to be done at each check of straight-line code, by the condition of the check.
pub fn joined_checks<'i>(
    insts: impl Iterator<Item = &'i Inst>,
    types: &[ValueTy],
    facts: &VectorFacts,
    constants: &FxHashMap<Value, Literal>,
) -> FxHashMap<Value, Vec<Test>> {
    let mut plan = Plan { types, facts, constants, operations: FxHashMap::default() };
    let mut checks: Vec<(Value, Vec<Test>)> = Vec::new();
    let mut strictest: FxHashMap<Compared, i64> = FxHashMap::default();
    for inst in insts {
        if let Op::Check { cond, .. } = &inst.op {
            let mut tests = Vec::new();
            if plan.tests(*cond, &mut tests) {
                for Test { compared, offset } in &tests {
                    let most = strictest.entry(*compared).or_insert(*offset);
                    *most = match compared.side {
                        Side::Below => (*most).max(*offset),
                        Side::AtLeast => (*most).min(*offset),
                    };
                }
                checks.push((*cond, tests));
            }
        } else if let [result] = inst.results[..] {
            plan.operations.insert(result, &inst.op);
        }
    }
    let mut done = FxHashSet::default();
    let mut planned = FxHashMap::default();
    for (cond, mut tests) in checks {
        tests.retain(|test| done.insert(test.compared));
        tests.iter_mut().for_each(|test| test.offset = strictest[&test.compared]);
        planned.entry(cond).or_insert(tests);
    }
    planned
}

struct Plan<'p, 'i> {
    types: &'p [ValueTy],
    facts: &'p VectorFacts,
    constants: &'p FxHashMap<Value, Literal>,
    /// The operations of the code so far, by result.
    operations: FxHashMap<Value, &'i Op>,
}

impl Plan<'_, '_> {
    /// Adds the tests that a condition consists of; returns false if it is of another form.
    fn tests(&self, cond: Value, tests: &mut Vec<Test>) -> bool {
        match self.operations.get(&cond) {
            Some(Op::Binary(Binary::And, a, b)) => self.tests(*a, tests) && self.tests(*b, tests),
            Some(Op::Binary(op, index, bound)) => {
                if self.types[index.0 as usize] != ValueTy::Scalar(Ty::I64) {
                    return false;
                }
                let (side, closer) = match op {
                    Binary::Lt => (Side::Below, 0),
                    Binary::Le => (Side::Below, -1),
                    Binary::Ge => (Side::AtLeast, 0),
                    Binary::Gt => (Side::AtLeast, -1),
                    _ => return false,
                };
                let Some((base, offset)) = self.index(*index) else { return false };
                let is_uniform = self.facts.of(*bound) == Uniformity::Uniform;
                let compared = Compared { side, base, bound: *bound };
                tests.push(Test { compared, offset: offset + closer });
                is_uniform
            }
            _ => false,
        }
    }

    /// An index as one that cannot overflow, or is the same for all elements, plus a small constant.
    fn index(&self, index: Value) -> Option<(Option<Value>, i64)> {
        if let Some(constant) = self.constant(index) {
            return Some((None, constant));
        }
        if !self.facts.cannot_overflow(index) {
            return (self.facts.of(index) == Uniformity::Uniform).then_some((Some(index), 0));
        }
        let (base, offset) = match self.operations.get(&index) {
            Some(Op::Binary(Binary::Add, a, b)) => match (self.constant(*a), self.constant(*b)) {
                (_, Some(offset)) => (*a, offset),
                (Some(offset), _) => (*b, offset),
                _ => (index, 0),
            },
            Some(Op::Binary(Binary::Sub, a, b)) => match self.constant(*b) {
                Some(offset) => (*a, -offset),
                None => (index, 0),
            },
            _ => (index, 0),
        };
        Some((Some(base), offset))
    }

    /// A constant that is small: sums with it do not overflow in practice.
    fn constant(&self, value: Value) -> Option<i64> {
        let literal = match self.operations.get(&value) {
            Some(Op::Const(literal)) => literal,
            _ => self.constants.get(&value)?,
        };
        match literal {
            Literal::I64(x) if x.unsigned_abs() < 1 << 32 => Some(*x),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::vectorize::{Analysis, Surroundings};
    use super::super::{parse, walk};
    use super::*;

    /// The offsets of the tests at each check of a kernel's code.
    fn offsets(body: &str) -> Vec<Vec<i64>> {
        let text = format!(
            "kernel \"k\"(v0: i64, v1: [i64], v2: i64) over flat v0 at v3 {{
              v90: i64 = const 1 v91: i64 = const 2 v92: i64 = const 0
              v10: i64 = add v3, v90 v11: i64 = add v3, v91 v12: i64 = sub v3, v90
              v20: bool = lt v3, v2 v21: bool = lt v10, v2 v22: bool = lt v11, v2
              v23: bool = ge v12, v92 v24: bool = lt v12, v2 v25: bool = and v23, v24
              v26: i64 = load v1[v3] v27: bool = lt v26, v2
              v93: f64 = const 1.0 v94: f64 = const 0.0 v28: bool = gt v93, v94
              {body}
              store v1[v3] = v11
            }}"
        );
        let module = parse(&text).unwrap();
        let kernel = &module.kernels[0];
        let constants = FxHashMap::default();
        let converts = |_, _| true;
        let around = Surroundings {
            types: &kernel.types,
            constants: &constants,
            may_store: true,
            converts,
            has_high_products: false,
            assumptions: None,
        };
        let mut analysis = Analysis::new(around, &kernel.indices);
        let body = walk::stage_bodies(kernel).next().unwrap();
        analysis.block(body).unwrap();
        let facts = analysis.finish(body.insts.iter()).unwrap();
        let planned = joined_checks(body.insts.iter(), &kernel.types, &facts, &constants);
        let tests = body.insts.iter().filter_map(|inst| match &inst.op {
            Op::Check { cond, .. } => planned.get(cond),
            _ => None,
        });
        tests.map(|tests| tests.iter().map(|test| test.offset).collect()).collect()
    }

    #[test]
    fn the_first_check_does_the_strictest_test() {
        let found = offsets("check v20 @0 check v22 @1 check v21 @2");
        assert_eq!(found, [vec![2], vec![], vec![]]);
    }

    #[test]
    fn both_sides_of_an_index_are_tested() {
        let found = offsets("check v20 @0 check v25 @1");
        assert_eq!(found, [vec![0], vec![-1]], "an index below the bound, one not below 0");
    }

    #[test]
    fn what_varies_and_what_is_no_index_is_checked_as_it_is() {
        assert_eq!(offsets("check v27 @0 check v20 @1"), [vec![0]]);
        assert_eq!(offsets("check v28 @0 check v20 @1"), [vec![0]], "floats are no indices");
    }
}
