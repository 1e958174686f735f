//! Index-set splitting: the elements for which a condition on their number has a known value.
//!
//! ```text
//! if i == 0 or i >= n - 1 then 0                 elements where 0 < i < n - 1, a contiguous set:
//!   else a[i - 1] + a[i + 1]                       a[i - 1] + a[i + 1], without conditions and checks
//!                                                others: as it is written
//! ```
//!
//! Stencils and dynamic programming by diagonals have such conditions at their borders, and few elements are there. The
//! set is the intersection of half-lines: those on which each condition chooses the side of the branch that has more
//! work, and on which each check of an index holds. Its ends are found before the loop over the elements.
//!
//! Indices that are clamped (`max(i - 1, 0)`) or wrap around (`rem(i + n - 1, n)`) are numbers of neighbours in the set:
//! `i - 1`.

use super::facts::common_side;
use super::{Binary, Block, Inst, Literal, Op, Ty, Unary, Value, ValueTy, walk};
use rustc_hash::{FxHashMap, FxHashSet};

/// Code of more instructions is not duplicated.
const MAX_SPLIT_INSTRUCTIONS: usize = 400;

/// So many values at most are loaded before a loop, each of which takes a register.
const MAX_LOADED_VALUES: usize = 12;

/// The operations that compute an index or a bound from the element's number have at most this depth.
const MAX_INDEX_OPERATIONS_DEPTH: u32 = 8;

/// An index that wraps around in fewer elements does so in most of them, or looks something up in a table.
const MIN_PERIOD: i64 = 64;

/// Facts that hold for all elements of a set.
#[derive(Debug, Default)]
pub struct Assumptions {
    /// The bools that have one value.
    pub known: FxHashMap<Value, bool>,
    /// The values that are equal to others.
    pub equal: FxHashMap<Value, Equal>,
}

/// The value that another is equal to.
#[derive(Clone, Copy, Debug)]
pub struct Equal {
    /// The other value.
    pub to: Value,
    /// The number that is taken from it, an `i64` that is the same for all elements.
    pub less: Option<Value>,
}

/// A contiguous set of elements, and what is known of them.
#[derive(Debug)]
pub struct IndexSet<'i> {
    /// The facts that hold for all elements of the set.
    pub assumptions: Assumptions,
    /// The half-lines whose intersection the set is.
    pub half_lines: Vec<HalfLine>,
    /// The bools that are the same for all elements; the set is empty unless they have these values.
    pub uniform: Vec<(Value, bool)>,
    /// The indices that are known to be in the arrays they were checked for.
    pub checked: FxHashSet<Value>,
    /// The steps that are done before the loop, in this order.
    pub prologue: Vec<Step>,
    /// The operations that indices, bounds and uniform bools are computed with, by their results.
    pub operations: FxHashMap<Value, &'i Op>,
}

/// A step that is done before a loop, as it is the same for all elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A bool is compared with a value: the set is empty if it has the other one.
    Check(Value, bool),
    /// A value is loaded; a check before it compares its index with the length of the array.
    Load(Value),
}

/// The elements for which a relation holds: `number relation bound`, or all but one for `Ne`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfLine {
    /// An `i64` that is one more for each further element, or one less.
    pub number: Value,
    /// True if the number is one less for each further element.
    pub descends: bool,
    /// `Lt`, `Le`, `Gt`, `Ge` or `Ne`.
    pub relation: Binary,
    /// An `i64` that is the same for all elements; `None` is 0.
    pub bound: Option<Value>,
}

impl<'i> IndexSet<'i> {
    /// Returns the set of elements for which the branches of code are known, where that removes work: divergent branches,
    /// checks under a mask, loads at indices that are not those of neighbours. `elements` are the numbers of the elements,
    /// `around` is code that was executed before, `varying` are values from outside that are not the same for all elements.
    pub fn of(
        code: impl Iterator<Item = &'i Inst> + Clone,
        around: impl Iterator<Item = &'i Inst>,
        elements: &[Value],
        varying: impl Iterator<Item = Value>,
        types: &[ValueTy],
    ) -> Option<IndexSet<'i>> {
        let count = |inst: &Inst| 1 + inst.op.blocks().map(walk::count_insts).sum::<usize>();
        if code.clone().map(count).sum::<usize>() > MAX_SPLIT_INSTRUCTIONS {
            return None;
        }
        let set = IndexSet {
            assumptions: Assumptions::default(),
            half_lines: Vec::new(),
            uniform: Vec::new(),
            checked: FxHashSet::default(),
            prologue: Vec::new(),
            operations: FxHashMap::default(),
        };
        let mut search = Search {
            set,
            elements,
            types,
            varying: elements.iter().copied().chain(varying).collect(),
            indexing: FxHashSet::default(),
            opaque: FxHashSet::default(),
            guarded: FxHashSet::default(),
            around: FxHashMap::default(),
            pays: false,
        };
        for inst in around {
            inst.results.iter().for_each(|result| {
                search.around.insert(*result, &inst.op);
            });
        }
        search.precede(code.clone());
        code.clone().for_each(|inst| search.note_indices(inst));
        search.visit(code, false);
        (search.pays && !search.set.half_lines.is_empty()).then_some(search.set)
    }
}

struct Search<'s, 'i> {
    set: IndexSet<'i>,
    elements: &'s [Value],
    types: &'s [ValueTy],
    /// The values that differ between elements.
    varying: FxHashSet<Value>,
    /// The values that indices are computed from.
    indexing: FxHashSet<Value>,
    /// The values of the code that are not computed from numbers by arithmetic.
    opaque: FxHashSet<Value>,
    /// The indices that are compared with the length of an array before the loop.
    guarded: FxHashSet<Value>,
    /// The operations of code that was executed before, by their results.
    around: FxHashMap<Value, &'i Op>,
    /// True if work is known to be removed.
    pays: bool,
}

/// The facts that follow from a bool having a value.
#[derive(Default)]
struct Assumed {
    known: Vec<(Value, bool)>,
    half_lines: Vec<HalfLine>,
    uniform: Vec<(Value, bool)>,
}

impl<'i> Search<'_, 'i> {
    /// Defines the values of code that every element executes, and notes what of it can be done before the loop.
    fn precede(&mut self, code: impl Iterator<Item = &'i Inst>) {
        for inst in code {
            match &inst.op {
                Op::Check { cond, .. } if self.is_known_before(*cond) => {
                    self.precede_check(*cond, true);
                }
                Op::Load { array, index }
                    if self.guarded.contains(index)
                        && self.loads() < MAX_LOADED_VALUES
                        && self.is_known_before(*array)
                        && self.is_known_before(*index) =>
                {
                    self.set.prologue.push(Step::Load(inst.results[0]));
                    self.set.operations.insert(inst.results[0], &inst.op);
                }
                Op::If { cond, then, otherwise } if self.is_known_before(*cond) => {
                    let Some(value) = self.usual(*cond) else {
                        self.define(inst);
                        continue;
                    };
                    let (side, other) = if value { (then, otherwise) } else { (otherwise, then) };
                    self.precede_check(*cond, value);
                    other.insts.iter().for_each(|inst| self.define(inst));
                    self.precede(side.insts.iter());
                    for (result, value) in inst.results.iter().zip(&side.yields) {
                        if self.varying.contains(value) {
                            self.varying.insert(*result);
                        }
                        self.set
                            .assumptions
                            .equal
                            .insert(*result, Equal { to: *value, less: None });
                    }
                }
                _ => self.define(inst),
            }
        }
    }

    fn precede_check(&mut self, cond: Value, value: bool) {
        self.set.prologue.push(Step::Check(cond, value));
        self.set.assumptions.known.insert(cond, value);
        if value {
            let (index, _) = self.compared_index(cond);
            self.guarded.extend(index);
        }
    }

    /// Returns true if a value is the same for all elements, and can be computed before the loop.
    fn is_known_before(&self, value: Value) -> bool {
        self.is_uniform(value) && self.is_computed(value, MAX_INDEX_OPERATIONS_DEPTH)
    }

    /// The number of values that are loaded before the loop.
    fn loads(&self) -> usize {
        self.set.prologue.iter().filter(|step| matches!(step, Step::Load(_))).count()
    }

    /// The index that a check compares with the length of an array, and whether it is compared with 0, too.
    fn compared_index(&self, cond: Value) -> (Option<Value>, bool) {
        let compared = |v: &Value| match self.operation(*v) {
            Some(Op::Binary(Binary::Lt, index, _)) => Some(*index),
            _ => None,
        };
        match self.operation(cond) {
            Some(Op::Binary(Binary::And, _, below)) => (compared(below), true),
            _ => (compared(&cond), false),
        }
    }

    fn define(&mut self, inst: &'i Inst) {
        match (&inst.op, &inst.results[..]) {
            (op @ (Op::Const(_) | Op::Unary(..) | Op::Binary(..) | Op::Select(..)), [result]) => {
                self.set.operations.insert(*result, op);
            }
            _ => self.opaque.extend(&inst.results),
        }
        let names = inst.op.carried().iter().chain(match &inst.op {
            Op::For { index, .. } => Some(index),
            _ => None,
        });
        let mut varies = inst.op.is_loop();
        for name in names {
            self.opaque.insert(*name);
            self.varying.insert(*name);
        }
        for block in inst.op.blocks() {
            block.insts.iter().for_each(|inst| self.define(inst));
        }
        walk::each_read(inst, &mut |v| varies |= self.varying.contains(&v));
        if varies {
            self.varying.extend(&inst.results);
        }
    }

    /// Notes the values that the indices of an instruction's loads are computed from.
    fn note_indices(&mut self, inst: &Inst) {
        if let Op::Load { index, .. } = &inst.op {
            self.note_index(*index);
        }
        for block in inst.op.blocks() {
            block.insts.iter().for_each(|inst| self.note_indices(inst));
        }
    }

    fn note_index(&mut self, index: Value) {
        use Binary::{Add, Max, Min, Mul, Rem, Sub};
        if !self.indexing.insert(index) {
            return;
        }
        if let Some(Op::Binary(Add | Sub | Mul | Min | Max | Rem, a, b)) =
            self.set.operations.get(&index)
        {
            self.note_index(*a);
            self.note_index(*b);
        }
    }

    fn visit(&mut self, code: impl Iterator<Item = &'i Inst>, masked: bool) {
        for inst in code {
            match &inst.op {
                Op::Check { cond, .. } => {
                    if self.assume(*cond, true) {
                        self.pays |= masked;
                        self.note_checked(*cond);
                    }
                }
                Op::If { cond, then, otherwise } => {
                    if let Some(side) = self.branch(*cond, then, otherwise, masked) {
                        for (result, value) in inst.results.iter().zip(&side.yields) {
                            let equal = Equal { to: *value, less: None };
                            self.set.assumptions.equal.insert(*result, equal);
                        }
                    }
                }
                Op::Select(cond, a, b) => {
                    if let Some(value) = self.usual(*cond)
                        && self.assume(*cond, value)
                    {
                        self.pays = true;
                        let to = if value { *a } else { *b };
                        self.set
                            .assumptions
                            .equal
                            .insert(inst.results[0], Equal { to, less: None });
                    }
                }
                Op::Binary(op @ (Binary::Min | Binary::Max), a, b) => {
                    self.clamp(inst.results[0], *op, *a, *b);
                }
                Op::Binary(Binary::Rem, a, b) => self.wrap(inst.results[0], *a, *b),
                op => {
                    op.blocks().for_each(|block| self.visit(block.insts.iter(), masked));
                }
            }
        }
    }

    /// Returns the side of a branch that all elements of the set take, if there is one.
    fn branch(
        &mut self,
        cond: Value,
        then: &'i Block,
        otherwise: &'i Block,
        masked: bool,
    ) -> Option<&'i Block> {
        if let Some(common) = common_side(then, otherwise) {
            let known = self.assume(cond, std::ptr::eq(common, then));
            self.visit(common.insts.iter(), masked);
            return known.then_some(common);
        }
        if let Some(value) = self.set.assumptions.known.get(&cond) {
            let side = if *value { then } else { otherwise };
            self.visit(side.insts.iter(), masked);
            return Some(side);
        }
        if self.is_uniform(cond) {
            self.visit(then.insts.iter(), masked);
            self.visit(otherwise.insts.iter(), masked);
            return None;
        }
        let by_work = walk::count_insts(then) > walk::count_insts(otherwise);
        let value = self.usual(cond).unwrap_or(by_work);
        if self.assume(cond, value) {
            self.pays = true;
            let side = if value { then } else { otherwise };
            self.visit(side.insts.iter(), masked);
            return Some(side);
        }
        self.assume_parts(cond);
        self.visit(then.insts.iter(), true);
        self.visit(otherwise.insts.iter(), true);
        None
    }

    /// Restricts the set to elements whose index is not changed by the end of an array.
    fn clamp(&mut self, result: Value, op: Binary, a: Value, b: Value) {
        if !self.indexing.contains(&result) || !self.is_int(a) {
            return;
        }
        let depth = MAX_INDEX_OPERATIONS_DEPTH;
        let (number, step, bound) = match (self.step(a, depth), self.step(b, depth)) {
            (Some(step @ (1 | -1)), Some(0)) => (a, step, b),
            (Some(0), Some(step @ (1 | -1))) => (b, step, a),
            _ => return,
        };
        let relation = if op == Binary::Max { Binary::Ge } else { Binary::Le };
        self.restrict(HalfLine { number, descends: step < 0, relation, bound: Some(bound) });
        self.set.assumptions.equal.insert(result, Equal { to: number, less: None });
        self.pays = true;
    }

    /// Restricts the set to elements whose index does not wrap around, or has once.
    fn wrap(&mut self, result: Value, number: Value, period: Value) {
        let depth = MAX_INDEX_OPERATIONS_DEPTH;
        let (Some(step @ (1 | -1)), Some(0)) = (self.step(number, depth), self.step(period, depth))
        else {
            return;
        };
        let is_short = self.constant(period).is_some_and(|period| period < MIN_PERIOD);
        let is_index = self.indexing.contains(&result) && self.is_int(number);
        if !is_index || is_short || self.elements.contains(&number) {
            return;
        }
        let less = self.has_addend(number, period).then_some(period);
        self.set.assumptions.equal.insert(result, Equal { to: number, less });
        let descends = step < 0;
        self.restrict(HalfLine { number: result, descends, relation: Binary::Ge, bound: None });
        let (relation, bound) = (Binary::Lt, Some(period));
        self.restrict(HalfLine { number: result, descends, relation, bound });
        self.pays = true;
    }

    /// Returns true if a sum has an addend, or constants that come close to it.
    fn has_addend(&self, sum: Value, addend: Value) -> bool {
        let mut constants = 0i64;
        if self.find_addend(sum, addend, 1, &mut constants) {
            return true;
        }
        self.constant(addend).is_some_and(|addend| constants >= addend / 2)
    }

    fn find_addend(&self, sum: Value, addend: Value, sign: i64, constants: &mut i64) -> bool {
        if sum == addend && sign > 0 {
            return true;
        }
        match self.set.operations.get(&sum) {
            Some(Op::Const(Literal::I64(x))) => {
                *constants = constants.wrapping_add(x.wrapping_mul(sign));
                false
            }
            Some(Op::Binary(op @ (Binary::Add | Binary::Sub), a, b)) => {
                let other = if *op == Binary::Add { sign } else { -sign };
                self.find_addend(*a, addend, sign, constants)
                    | self.find_addend(*b, addend, other, constants)
            }
            _ => false,
        }
    }

    fn constant(&self, value: Value) -> Option<i64> {
        match self.set.operations.get(&value) {
            Some(Op::Const(Literal::I64(x))) => Some(*x),
            _ => None,
        }
    }

    fn restrict(&mut self, half_line: HalfLine) {
        if !self.set.half_lines.contains(&half_line) {
            self.set.half_lines.push(half_line);
        }
    }

    /// The operation that computes a value, here or in code that was executed before.
    fn operation(&self, value: Value) -> Option<&'i Op> {
        self.set.operations.get(&value).or_else(|| self.around.get(&value)).copied()
    }

    /// The value of a bool that most elements give, by its form.
    fn usual(&self, cond: Value) -> Option<bool> {
        match self.operation(cond)? {
            Op::Binary(Binary::And | Binary::Ne, ..) => Some(true),
            Op::Binary(Binary::Or | Binary::Eq, ..) => Some(false),
            Op::Unary(Unary::Not, a) => self.usual(*a).map(|value| !value),
            _ => None,
        }
    }

    /// Assumes what the sides of a conjunction or disjunction say of the element's number, where others say something else.
    fn assume_parts(&mut self, cond: Value) {
        let Some(Op::Binary(op @ (Binary::And | Binary::Or), a, b)) =
            self.set.operations.get(&cond)
        else {
            return;
        };
        for part in [*a, *b] {
            if !self.is_uniform(part) && !self.assume(part, *op == Binary::And) {
                self.assume_parts(part);
            }
        }
    }

    /// Restricts the set to elements for which a bool has a value; returns false if that is no half-line.
    fn assume(&mut self, cond: Value, value: bool) -> bool {
        let mut assumed = Assumed::default();
        if self.is_uniform(cond) || !self.follow(cond, value, &mut assumed) {
            return false;
        }
        self.set.assumptions.known.extend(assumed.known);
        assumed.half_lines.into_iter().for_each(|half_line| self.restrict(half_line));
        self.set.uniform.extend(assumed.uniform);
        true
    }

    fn follow(&self, cond: Value, value: bool, assumed: &mut Assumed) -> bool {
        if let Some(known) = self.set.assumptions.known.get(&cond) {
            return *known == value;
        }
        if self.is_uniform(cond) {
            assumed.uniform.push((cond, value));
            return self.is_computed(cond, MAX_INDEX_OPERATIONS_DEPTH);
        }
        let follows = match self.set.operations.get(&cond) {
            Some(Op::Binary(Binary::And, a, b)) if self.is_bool(*a) && value => {
                self.follow(*a, true, assumed) && self.follow(*b, true, assumed)
            }
            Some(Op::Binary(Binary::Or, a, b)) if self.is_bool(*a) && !value => {
                self.follow(*a, false, assumed) && self.follow(*b, false, assumed)
            }
            Some(Op::Unary(Unary::Not, a)) => self.follow(*a, !value, assumed),
            Some(Op::Binary(op, a, b)) if op.compares() => {
                let half_line = self.half_line(*op, value, *a, *b);
                assumed.half_lines.extend(half_line);
                half_line.is_some()
            }
            _ => false,
        };
        assumed.known.push((cond, value));
        follows
    }

    /// The elements for which a comparison is true, or false.
    fn half_line(&self, op: Binary, value: bool, a: Value, b: Value) -> Option<HalfLine> {
        if !self.is_int(a) {
            return None;
        }
        let relation = if value { op } else { op.negated()? };
        let depth = MAX_INDEX_OPERATIONS_DEPTH;
        let (number, relation, bound, step) = match (self.step(a, depth)?, self.step(b, depth)?) {
            (step @ (1 | -1), 0) => (a, relation, b, step),
            (0, step @ (1 | -1)) => (b, relation.swapped()?, a, step),
            _ => return None,
        };
        let is_half_line = relation != Binary::Eq;
        is_half_line.then_some(HalfLine {
            number,
            descends: step < 0,
            relation,
            bound: Some(bound),
        })
    }

    /// Returns how much more an `i64` is for the next element; `None` if that is not known, or not constant.
    fn step(&self, value: Value, depth: u32) -> Option<i64> {
        if self.elements.contains(&value) {
            return Some(1);
        }
        if self.is_uniform(value) {
            return self.is_computed(value, depth).then_some(0);
        }
        let depth = depth.checked_sub(1)?;
        if let Some(Equal { to, .. }) = self.set.assumptions.equal.get(&value) {
            return self.step(*to, depth);
        }
        match self.set.operations.get(&value)? {
            Op::Binary(Binary::Add, a, b) => Some(self.step(*a, depth)? + self.step(*b, depth)?),
            Op::Binary(Binary::Sub, a, b) => Some(self.step(*a, depth)? - self.step(*b, depth)?),
            _ => None,
        }
    }

    /// Returns true if a value can be computed before the loop, and without failing.
    fn is_computed(&self, value: Value, depth: u32) -> bool {
        if let (Some(Equal { to, less }), Some(depth)) =
            (self.set.assumptions.equal.get(&value), depth.checked_sub(1))
        {
            return self.is_computed(*to, depth)
                && less.is_none_or(|less| self.is_computed(less, depth));
        }
        if self.opaque.contains(&value) {
            return false;
        }
        let (Some(op), Some(depth)) = (self.set.operations.get(&value), depth.checked_sub(1))
        else {
            return !self.set.operations.contains_key(&value);
        };
        let mut computed = true;
        op.each_operand(|v| computed &= self.is_computed(v, depth));
        computed
    }

    /// Notes the index that a check compares with the length of an array. That it is not negative may have been found
    /// by the conditions around the check.
    fn note_checked(&mut self, cond: Value) {
        let (index, is_checked_below) = self.compared_index(cond);
        let Some(index) = index.filter(|index| self.set.checked.insert(*index)) else { return };
        if is_checked_below {
            return;
        }
        if let Some(step @ (1 | -1)) = self.step(index, MAX_INDEX_OPERATIONS_DEPTH) {
            let (relation, bound) = (Binary::Ge, None);
            let half_line = HalfLine { number: index, descends: step < 0, relation, bound };
            self.restrict(half_line);
        }
    }

    fn is_uniform(&self, value: Value) -> bool {
        !self.varying.contains(&value)
    }

    fn is_int(&self, value: Value) -> bool {
        self.types[value.0 as usize] == ValueTy::Scalar(Ty::I64)
    }

    fn is_bool(&self, value: Value) -> bool {
        self.types[value.0 as usize] == ValueTy::Scalar(Ty::Bool)
    }
}

#[cfg(test)]
mod tests;
