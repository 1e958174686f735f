//! Vectorisation analysis: decides if code can be executed for several neighbouring elements at a time, and if that
//! is faster, and finds the uniformity of each value.
//!
//! The elements are the indices of a kernel's space or the iterations of a loop; their numbers are
//! affine, and values from outside are uniform. The uniformity of carried values is found by
//! iterating to a fixed point. The analysis also counts the operations on vectors and those that must be done
//! lane by lane: if the latter are more, code is not vectorised.
//!
//! Three kinds of bools get special treatment:
//!
//! - an *implied predicate* (an element number compared with a uniform bound) holds for all
//!   elements if it holds for the first and last;
//! - a *loop predicate* is a loop's condition that the loop carries: it is true in every iteration
//!   that is executed, for the elements that take part;
//! - a *dead lane* of a carried value belongs to an element that has left the loop, if the value is not read
//!   after the loop: its contents are arbitrary.

use super::access::{Access, loads_under_mask, streams_straight};
use super::division::is_multiplied;
use super::facts::{ASSUMED_ITERATIONS, common_side, has_traps};
use super::index_sets::{Assumptions, Equal};
use super::lane_widths::LaneWidths;
use super::pressure::register_pressure;
use super::uniformity::Uniformity;
use super::{Binary, Block, Class, Inst, Literal, Op, Ty, Unary, Value, ValueTy};
use rustc_hash::{FxHashMap, FxHashSet};

/// A loop with at most this many vector operations in an iteration is bound by memory.
const MEMORY_BOUND_OPERATIONS: u64 = 4;

/// A vector division or square root costs as much as this many other operations.
const DIVISION_OPERATIONS: u64 = 4;

/// A division of ints, which is done lane by lane, takes as long as so many others.
const INT_DIVISION_OPERATIONS: u64 = 6;

/// An operation lane by lane in a loop that elements leave one by one takes as long as this many others: it is done
/// for the elements that have left, too, while scalar code goes on with the next element.
const LEFT_LANE_OPERATIONS: u64 = 9;

/// The high word of a product costs as much as this many other operations, where vectors have it.
const HIGH_PRODUCT_OPERATIONS: u64 = 12;

/// A constant of at most this size can be added to an element number any number of times in practice without
/// overflow.
const MAX_OFFSET: u64 = 1 << 32;

/// A branch whose sides have at most this many operations is if-converted.
const MAX_IF_CONVERTED_OPERATIONS: usize = 12;

/// The reason why code is not vectorised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotVectorizable(pub &'static str);

/// The facts about code that can be vectorised.
#[derive(Clone, Debug)]
pub struct VectorFacts {
    uniformity: Vec<Uniformity>,
    /// True if there are varying values of 64 bits.
    pub has_wide_lanes: bool,
    /// True if all varying values are of 8 bits: chars, bools, and comparisons of element numbers.
    pub only_byte_lanes: bool,
    /// The smallest number of elements that fills vectors (of 16 bytes) of every lane width.
    pub min_elements: usize,
    /// The largest number of varying values that are live at the same time.
    pub register_pressure: usize,
    /// True if a memory-bound loop reads consecutive addresses for consecutive elements: the more
    /// elements are executed together, the longer are the contiguous stretches read.
    pub streams: bool,
    /// True if a load is done for some elements of a group only, so that it may lie beyond the borders of
    /// an array.
    pub loads_under_mask: bool,
    /// The operations that are done lane by lane, and those done on vectors.
    pub operations: [u64; 2],
    /// True for affine values that are an element number plus a small constant.
    no_overflow: Vec<bool>,
    /// True for ints that are one less for each further element.
    descending: Vec<bool>,
    implied_predicates: Vec<bool>,
    loop_predicates: FxHashSet<Value>,
    /// For each carried value with dead lanes, its next value in the lanes that stay in the loop.
    dead_lanes: FxHashMap<Value, Value>,
}

impl VectorFacts {
    /// Makes the lanes of code as wide as those of other code, with which it shares values. Returns false if that cannot be.
    pub fn share_lanes(&mut self, other: &VectorFacts) -> bool {
        self.has_wide_lanes |= other.has_wide_lanes;
        self.only_byte_lanes &= other.only_byte_lanes;
        self.min_elements = self.min_elements.max(other.min_elements);
        self.has_wide_lanes == other.has_wide_lanes && self.only_byte_lanes == other.only_byte_lanes
    }

    /// The uniformity of a value.
    pub fn of(&self, value: Value) -> Uniformity {
        self.uniformity[value.0 as usize]
    }

    /// Returns true if a bool holds for all elements whenever it holds for the first and last.
    pub fn is_implied_predicate(&self, value: Value) -> bool {
        self.implied_predicates[value.0 as usize]
    }

    /// Returns true if a value is an element number or differs from one by a small constant.
    pub fn cannot_overflow(&self, value: Value) -> bool {
        self.no_overflow[value.0 as usize]
    }

    /// Returns true if an `i64` is one less for each further element: its uniformity is that of any
    /// value that varies.
    pub fn is_descending(&self, value: Value) -> bool {
        self.descending[value.0 as usize]
    }

    /// Returns true if a loop carries its condition under this name.
    pub fn is_loop_predicate(&self, carried: Value) -> bool {
        self.loop_predicates.contains(&carried)
    }

    /// The next value, for the elements that stay in the loop, of a carried value with dead lanes.
    pub fn next_with_dead_lanes(&self, carried: Value) -> Option<Value> {
        self.dead_lanes.get(&carried).copied()
    }
}

/// The surroundings of the code that is analysed.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The type of each value.
    pub types: &'a [ValueTy],
    /// The constants from outside of the code.
    pub constants: &'a FxHashMap<Value, Literal>,
    /// True if elements may write arrays because no element reads what another writes.
    pub may_store: bool,
    /// Returns true if the target's vectors convert from one type to another.
    pub converts: fn(Ty, Ty) -> bool,
    /// True if the target's vectors have the high words of products, and so divide by constants.
    pub has_high_products: bool,
    /// The assumptions, which hold for all elements.
    pub assumptions: Option<&'a Assumptions>,
}

/// The state of the analysis; instructions are added in the order of execution.
pub struct Analysis<'a> {
    around: Surroundings<'a>,
    uniformity: Vec<Uniformity>,
    /// True once an element has written an array.
    stored: bool,
    /// The assumed number of executions of the current block.
    weight: u64,
    /// The number of operations on vectors.
    vector_operations: u64,
    /// The number of operations done lane by lane.
    lane_operations: u64,
    streams: bool,
    only_byte_lanes: bool,
    no_overflow: Vec<bool>,
    descending: Vec<bool>,
    /// The constants of the code.
    constants: FxHashMap<Value, Literal>,
    /// True for the values that something reads.
    used: Vec<bool>,
    implied_predicates: Vec<bool>,
    loop_predicates: FxHashSet<Value>,
    dead_lanes: FxHashMap<Value, Value>,
}

impl<'a> Analysis<'a> {
    /// An analysis of code that knows these element numbers.
    pub fn new(around: Surroundings<'a>, elements: &[Value]) -> Analysis<'a> {
        let values = around.types.len();
        let mut uniformity = vec![Uniformity::Uniform; values];
        let mut no_overflow = vec![false; values];
        for element in elements {
            uniformity[element.0 as usize] = Uniformity::Affine;
            no_overflow[element.0 as usize] = true;
        }
        Analysis {
            around,
            uniformity,
            stored: false,
            weight: 1,
            vector_operations: 0,
            lane_operations: 0,
            streams: false,
            only_byte_lanes: true,
            no_overflow,
            descending: vec![false; values],
            constants: FxHashMap::default(),
            used: vec![false; values],
            implied_predicates: vec![false; values],
            loop_predicates: FxHashSet::default(),
            dead_lanes: FxHashMap::default(),
        }
    }

    /// Notes that something reads a value; to be called for all reads before the first instruction
    /// is analysed.
    pub fn mark_read(&mut self, value: Value) {
        self.used[value.0 as usize] = true;
    }

    /// Notes the uniformity of a value that is defined outside of the code: the result of a sink.
    pub fn set(&mut self, value: Value, uniformity: Uniformity) {
        self.uniformity[value.0 as usize] = uniformity;
    }

    /// Notes that the code needs lanes of more than 8 bits.
    pub fn needs_larger_lanes(&mut self) {
        self.only_byte_lanes = false;
    }

    /// Returns true if no lane of more than 8 bits was needed so far.
    pub fn has_only_byte_lanes(&self) -> bool {
        self.only_byte_lanes
    }

    /// Counts operations that are done lane by lane.
    pub fn count_lane_operations(&mut self, times: u64) {
        self.lane_operations += times * self.weight;
    }

    /// Counts an operation done on vectors.
    pub fn count_vector_operation(&mut self) {
        self.count_vector_operations(1);
    }

    /// Counts an operation done on vectors that costs as much as `times` others.
    fn count_vector_operations(&mut self, times: u64) {
        self.vector_operations += times * self.weight;
    }

    /// Analyses the instructions of a block.
    pub fn block(&mut self, block: &Block) -> Result<(), NotVectorizable> {
        block.insts.iter().try_for_each(|inst| self.inst(inst))
    }

    /// Analyses an instruction.
    pub fn inst(&mut self, inst: &Inst) -> Result<(), NotVectorizable> {
        if let Some(assumptions) = self.around.assumptions
            && self.follows(inst, assumptions)?
        {
            return Ok(());
        }
        let uniformity = match &inst.op {
            Op::Const(literal) => {
                self.constants.insert(inst.results[0], *literal);
                Uniformity::Uniform
            }
            Op::Text(_) => Uniformity::Uniform,
            Op::Unary(op, a) => self.unary(*op, *a),
            Op::Binary(op, a, b) => self.binary(inst.results[0], *op, *a, *b),
            Op::Fma(..) | Op::Select(..) => {
                let uniformity = self.elementwise(&inst.op);
                if uniformity == Uniformity::Varying {
                    self.count_vector_operation();
                }
                uniformity
            }
            Op::Convert(to, a) => {
                let uniformity = self.elementwise(&inst.op);
                if uniformity == Uniformity::Varying {
                    self.only_byte_lanes = false;
                    let converts = self.around.converts;
                    match self.scalar(*a).is_some_and(|from| converts(from, *to)) {
                        true => self.count_vector_operation(),
                        false => self.count_lane_operations(1),
                    }
                }
                uniformity
            }
            Op::Bits(..) => {
                let uniformity = self.elementwise(&inst.op);
                self.only_byte_lanes &= uniformity == Uniformity::Uniform;
                uniformity
            }
            Op::Load { array, index } => self.load(*array, *index)?,
            Op::Store { array, index, value } => return self.store(*array, *index, *value),
            Op::Slice(..) => match self.elementwise(&inst.op) {
                Uniformity::Uniform => Uniformity::Uniform,
                _ => return Err(NotVectorizable("elements use different arrays")),
            },
            Op::If { cond, then, otherwise } => return self.branch(inst, *cond, then, otherwise),
            Op::While { init, carried, cond, body } => {
                self.only_byte_lanes = false;
                return self.repeat(inst, init, carried, Some(cond), None, body);
            }
            Op::For { .. } => return self.counted(inst),
            Op::Check { .. } | Op::Fail { .. } => {
                // The vectors are done again one by one, to find the first that fails.
                return match self.stored {
                    true => Err(NotVectorizable("a check behind a write")),
                    false => Ok(()),
                };
            }
            Op::Alloc(..)
            | Op::Copy { .. }
            | Op::Call(..)
            | Op::Compute(..)
            | Op::Extern(..)
            | Op::Mark
            | Op::Compact { .. } => return Err(NotVectorizable("memory or calls")),
        };
        if let Some(result) = inst.results.first() {
            self.set(*result, uniformity);
        }
        self.arrays_are_uniform(inst)
    }

    /// Analyses an instruction whose effect follows from assumptions; returns false if it does not.
    fn follows(&mut self, inst: &Inst, assumptions: &Assumptions) -> Result<bool, NotVectorizable> {
        let Assumptions { known, equal } = assumptions;
        match (&inst.op, &inst.results[..]) {
            (Op::Check { cond, .. }, _) => return Ok(known.get(cond) == Some(&true)),
            (Op::If { cond, then, otherwise }, results) => {
                let Some(value) = known.get(cond) else { return Ok(false) };
                let side = if *value { then } else { otherwise };
                self.block(side)?;
                for (result, value) in results.iter().zip(&side.yields) {
                    self.set_as(*result, *value);
                }
                self.arrays_are_uniform(inst)?;
            }
            (_, [result]) => match (known.get(result), equal.get(result)) {
                (Some(value), _) => {
                    self.constants.insert(*result, Literal::Bool(*value));
                    self.set(*result, Uniformity::Uniform);
                }
                (None, Some(Equal { to, less })) => {
                    self.set_as(*result, *to);
                    self.no_overflow[result.0 as usize] &= less.is_none();
                }
                (None, None) => return Ok(false),
            },
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Notes that a value varies over the elements as another does.
    fn set_as(&mut self, value: Value, other: Value) {
        self.set(value, self.of(other));
        self.no_overflow[value.0 as usize] = self.no_overflow[other.0 as usize];
        self.descending[value.0 as usize] = self.descending[other.0 as usize];
        self.implied_predicates[value.0 as usize] = self.implied_predicates[other.0 as usize];
    }

    /// Returns the facts, if vectors are worth it; `insts` is the code that was analysed.
    pub fn finish<'i>(
        mut self,
        insts: impl Iterator<Item = &'i Inst> + Clone,
    ) -> Result<VectorFacts, NotVectorizable> {
        if self.vector_operations == 0 || self.lane_operations > self.vector_operations {
            return Err(NotVectorizable("most is done lane by lane"));
        }
        let (uniformity, implied) = (&self.uniformity, &self.implied_predicates);
        let widths = LaneWidths::of(insts.clone(), self.around.types, uniformity, implied);
        let values = self.around.types.len();
        let counts = |v: Value| {
            // An implied predicate needs no register.
            self.of(v) == Uniformity::Varying && !self.implied_predicates[v.0 as usize]
        };
        let register_pressure = register_pressure(insts.clone(), values, counts);
        // The padding of memory is for few elements of which some do not take part.
        let access = |v| self.access(v);
        let is_loop_predicate = |v| self.loop_predicates.contains(&v);
        let masked = insts
            .into_iter()
            .any(|inst| loads_under_mask(inst, &access, &is_loop_predicate, false));
        self.streams &= !masked;
        Ok(VectorFacts {
            uniformity: self.uniformity,
            has_wide_lanes: widths.wide,
            only_byte_lanes: self.only_byte_lanes && widths.only_bytes,
            min_elements: if widths.wide && !widths.short { 2 } else { 4 },
            register_pressure,
            streams: self.streams,
            loads_under_mask: masked,
            operations: [self.lane_operations, self.vector_operations],
            no_overflow: self.no_overflow,
            descending: self.descending,
            implied_predicates: self.implied_predicates,
            loop_predicates: self.loop_predicates,
            dead_lanes: self.dead_lanes,
        })
    }

    fn constant(&self, value: Value) -> Option<Literal> {
        self.constants.get(&value).or_else(|| self.around.constants.get(&value)).copied()
    }

    fn of(&self, value: Value) -> Uniformity {
        self.uniformity[value.0 as usize]
    }

    fn is_uniform(&self, value: Value) -> bool {
        self.of(value) == Uniformity::Uniform
    }

    fn scalar(&self, value: Value) -> Option<Ty> {
        match self.around.types[value.0 as usize] {
            ValueTy::Scalar(ty) => Some(ty),
            ValueTy::Array(_) | ValueTy::Mark => None,
        }
    }

    /// The uniformity of the result of an operation that is done for each element.
    fn elementwise(&self, op: &Op) -> Uniformity {
        let mut uniform = true;
        op.each_operand(|v| uniform &= self.is_uniform(v));
        if uniform { Uniformity::Uniform } else { Uniformity::Varying }
    }

    /// Elements must not use different arrays.
    fn arrays_are_uniform(&self, inst: &Inst) -> Result<(), NotVectorizable> {
        let differs = |v: &&Value| !self.is_uniform(**v) && self.scalar(**v).is_none();
        match inst.results.iter().find(differs) {
            Some(_) => Err(NotVectorizable("elements use different arrays")),
            None => Ok(()),
        }
    }

    fn unary(&mut self, op: Unary, a: Value) -> Uniformity {
        let uniformity = Uniformity::of_elementwise([self.of(a)]);
        if uniformity == Uniformity::Varying {
            self.only_byte_lanes &= op == Unary::Not && self.scalar(a) == Some(Ty::Bool);
            match op {
                Unary::Sqrt => self.count_vector_operations(DIVISION_OPERATIONS),
                Unary::Neg
                | Unary::Abs
                | Unary::Not
                | Unary::Floor
                | Unary::Ceil
                | Unary::Trunc
                | Unary::Nearest => self.count_vector_operation(),
            }
        }
        uniformity
    }

    fn load(&mut self, array: Value, index: Value) -> Result<Uniformity, NotVectorizable> {
        if !self.is_uniform(array) {
            return Err(NotVectorizable("elements use different arrays"));
        }
        match self.access(index) {
            Access::Broadcast => return Ok(Uniformity::Uniform),
            Access::UnitStride => self.count_vector_operation(),
            // The load, and the reversal of its lanes.
            Access::Reversed => self.count_vector_operations(2),
            Access::Indexed => self.count_lane_operations(1),
        }
        Ok(Uniformity::Varying)
    }

    fn store(&mut self, array: Value, index: Value, value: Value) -> Result<(), NotVectorizable> {
        if !self.around.may_store || !self.is_uniform(array) {
            return Err(NotVectorizable("writes that may depend on each other"));
        }
        self.stored = true;
        self.only_byte_lanes &= self.of(value) != Uniformity::Affine;
        match self.access(index) {
            Access::UnitStride => self.count_vector_operation(),
            Access::Broadcast | Access::Reversed | Access::Indexed => self.count_lane_operations(1),
        }
        Ok(())
    }

    fn binary(&mut self, result: Value, op: Binary, a: Value, b: Value) -> Uniformity {
        use Uniformity::{Affine, Uniform, Varying};
        let index = self.scalar(a) == Some(Ty::I64);
        let operands = [a, b].map(|v| self.of(v));
        let implied = |v: Value| self.is_uniform(v) || self.implied_predicates[v.0 as usize];
        self.implied_predicates[result.0 as usize] = match op {
            Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge => !operands.contains(&Varying),
            Binary::And if self.scalar(a) == Some(Ty::Bool) => implied(a) && implied(b),
            _ => false,
        };
        self.no_overflow[result.0 as usize] = self.stays_in_range(op, a, b);
        self.descending[result.0 as usize] = index && self.descends(op, a, b);
        if operands != [Uniform; 2] && op.compares() {
            let decides = |a: Value, b| self.no_overflow[a.0 as usize] && self.is_uniform(b);
            let by_element = decides(a, b) || decides(b, a);
            self.only_byte_lanes &= by_element || !operands.contains(&Affine);
        }
        if self.implied_predicates[result.0 as usize] && operands != [Uniform; 2] {
            return Varying;
        }
        match (op, operands) {
            (_, [Uniform, Uniform]) => Uniform,
            (Binary::Add, [Affine, Uniform] | [Uniform, Affine])
            | (Binary::Sub, [Affine, Uniform])
                if index =>
            {
                Affine
            }
            (_, [_, of_b]) => {
                let int = self.scalar(a).is_some_and(Ty::is_int);
                self.only_byte_lanes &= op.compares() || self.scalar(a) == Some(Ty::Bool);
                let divides = int && matches!(op, Binary::Div | Binary::Rem);
                if self.is_high_product(op, a, b) {
                    self.count_vector_operations(HIGH_PRODUCT_OPERATIONS);
                } else if divides && self.constant(b).is_none() {
                    // A division by a constant is a multiplication.
                    self.count_lane_operations(INT_DIVISION_OPERATIONS);
                } else {
                    self.count_binary(op, int, of_b);
                }
                Varying
            }
        }
    }

    /// Returns true if the target's vectors have an operation as the high word of a product.
    fn is_high_product(&self, op: Binary, a: Value, b: Value) -> bool {
        let is_product = match op {
            Binary::MulHigh => true,
            Binary::Div | Binary::Rem => self.constant(b).map_or(self.is_uniform(b), is_multiplied),
            _ => false,
        };
        is_product && self.around.has_high_products && self.scalar(a) == Some(Ty::I64)
    }

    /// Counts an operation of which an operand varies; `of_b` is the uniformity of the second.
    fn count_binary(&mut self, op: Binary, int: bool, of_b: Uniformity) {
        match op {
            Binary::Div | Binary::Rem | Binary::MulHigh if int => self.count_lane_operations(1),
            Binary::Shl | Binary::Shr | Binary::ShrZero if of_b != Uniformity::Uniform => {
                self.count_lane_operations(1);
            }
            Binary::Div => self.count_vector_operations(DIVISION_OPERATIONS),
            Binary::Add
            | Binary::Sub
            | Binary::Mul
            | Binary::MulHigh
            | Binary::Rem
            | Binary::Min
            | Binary::Max
            | Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::Shl
            | Binary::Shr
            | Binary::ShrZero
            | Binary::Eq
            | Binary::Ne
            | Binary::Lt
            | Binary::Le
            | Binary::Gt
            | Binary::Ge => self.count_vector_operation(),
        }
    }

    /// Returns true if a sum or difference is one less for each further element.
    fn descends(&self, op: Binary, a: Value, b: Value) -> bool {
        let down = |v: Value| self.descending[v.0 as usize];
        match op {
            Binary::Add => down(a) && self.is_uniform(b) || self.is_uniform(a) && down(b),
            Binary::Sub => {
                down(a) && self.is_uniform(b)
                    || self.is_uniform(a) && self.of(b) == Uniformity::Affine
            }
            _ => false,
        }
    }

    /// The pattern of accesses to an array at an index.
    fn access(&self, index: Value) -> Access {
        match self.descending[index.0 as usize] {
            true => Access::Reversed,
            false => Access::of(self.of(index)),
        }
    }

    /// Returns true if a sum or difference is an element number plus a small constant.
    fn stays_in_range(&self, op: Binary, a: Value, b: Value) -> bool {
        let in_range = |v: Value| self.no_overflow[v.0 as usize];
        let small = |v: Value| match self.constant(v) {
            Some(Literal::I64(x)) => x.unsigned_abs() <= MAX_OFFSET,
            _ => false,
        };
        match op {
            Binary::Add => in_range(a) && small(b) || small(a) && in_range(b),
            Binary::Sub => in_range(a) && small(b),
            _ => false,
        }
    }

    fn branch(
        &mut self,
        inst: &Inst,
        cond: Value,
        then: &Block,
        otherwise: &Block,
    ) -> Result<(), NotVectorizable> {
        if let Some(common) = common_side(then, otherwise) {
            // The vectors of which an element takes the other side are done one by one.
            if self.stored {
                return Err(NotVectorizable("a check behind a write"));
            }
            self.block(common)?;
            for (result, value) in inst.results.iter().zip(&common.yields) {
                self.set(*result, self.of(*value));
            }
            return self.arrays_are_uniform(inst);
        }
        // One side may write, and the other check.
        let before = self.stored;
        self.block(then)?;
        let after = std::mem::replace(&mut self.stored, before);
        self.block(otherwise)?;
        self.stored |= after;
        let divergent = !self.is_uniform(cond);
        for (n, result) in inst.results.iter().enumerate() {
            let uniformity = match divergent {
                true => Uniformity::Varying,
                false => {
                    let yields = [then.yields[n], otherwise.yields[n]];
                    Uniformity::of_elementwise(yields.map(|v| self.of(v)))
                }
            };
            self.set(*result, uniformity);
        }
        self.arrays_are_uniform(inst)
    }

    /// A counted loop.
    fn counted(&mut self, inst: &Inst) -> Result<(), NotVectorizable> {
        let Op::For { count, index, init, carried, reduce, body } = &inst.op else {
            crate::bug!("only counted loops are analysed as such")
        };
        self.set(*index, Uniformity::Uniform);
        self.only_byte_lanes = false;
        let lane_operations = self.lane_operations;
        let (vector_operations, weight) = (self.vector_operations, self.weight);
        self.repeat(inst, init, carried, None, Some(*count), body)?;
        let most = MEMORY_BOUND_OPERATIONS * ASSUMED_ITERATIONS * weight;
        self.streams |= self.is_uniform(*count)
            && self.vector_operations - vector_operations <= most
            && self.lane_operations == lane_operations
            && streams_straight(body, &|v| self.of(v));
        if !reduce.is_empty() && init.is_empty() && self.lane_operations > lane_operations {
            return Err(NotVectorizable("the inner loop is better vectorised"));
        }
        Ok(())
    }

    /// A loop, with a condition or a count; iterates to a fixed point.
    fn repeat(
        &mut self,
        inst: &Inst,
        init: &[Value],
        carried: &[Value],
        cond: Option<&Block>,
        count: Option<Value>,
        body: &Block,
    ) -> Result<(), NotVectorizable> {
        for (init, name) in init.iter().zip(carried) {
            self.set(*name, Uniformity::of_elementwise([self.of(*init)]));
        }
        let (vector, lane, weight) = (self.vector_operations, self.lane_operations, self.weight);
        self.weight = weight.saturating_mul(ASSUMED_ITERATIONS).min(1 << 32);
        // Elements leave the loop after different numbers of iterations.
        let mut divergent = count.is_some_and(|count| !self.is_uniform(count));
        let predicate = cond.filter(|cond| cond.insts.is_empty());
        let predicate =
            predicate.and_then(|cond| carried.iter().position(|name| *name == cond.yields[0]));
        if let Some(predicate) = predicate {
            divergent = !self.is_uniform(init[predicate]);
            self.set(carried[predicate], Uniformity::Uniform);
        }
        loop {
            (self.vector_operations, self.lane_operations) = (vector, lane);
            let stored = self.stored;
            if let Some(cond) = cond {
                self.block(cond)?;
                divergent |= !self.is_uniform(cond.yields[0]);
            }
            self.block(body)?;
            if self.stored && !stored && (has_traps(body) || cond.is_some_and(has_traps)) {
                return Err(NotVectorizable("a check behind a write"));
            }
            divergent |= predicate.is_some_and(|at| !self.is_uniform(body.yields[at]));
            if self.widen_carried(inst, carried, body, predicate, divergent) {
                break;
            }
        }
        self.weight = weight;
        for (n, result) in inst.results.iter().enumerate() {
            let uniformity = match carried.get(n) {
                Some(name) => self.of(*name),
                None if divergent => Uniformity::Varying,
                None => Uniformity::of_elementwise([self.of(body.yields[n])]),
            };
            self.set(*result, uniformity);
        }
        if divergent && cond.is_some() {
            self.lane_operations = lane + LEFT_LANE_OPERATIONS * (self.lane_operations - lane);
        }
        if divergent && cond.is_none() {
            // Each iteration computes which lanes go on.
            self.count_vector_operation();
        }
        if carried.iter().any(|name| !self.is_uniform(*name) && self.scalar(*name).is_none()) {
            return Err(NotVectorizable("elements use different arrays"));
        }
        self.arrays_are_uniform(inst)
    }

    /// Makes the carried values varying whose next values are; returns true if none changed.
    fn widen_carried(
        &mut self,
        inst: &Inst,
        carried: &[Value],
        body: &Block,
        predicate: Option<usize>,
        divergent: bool,
    ) -> bool {
        let predicate = predicate.filter(|_| divergent);
        if let Some(predicate) = predicate {
            self.loop_predicates.insert(carried[predicate]);
        }
        let mut stable = true;
        for (n, name) in carried.iter().enumerate() {
            let mut varies = divergent || !self.is_uniform(body.yields[n]);
            if let Some(predicate) = predicate {
                if n == predicate {
                    continue;
                }
                if !self.used[inst.results[n].0 as usize] {
                    let next = self.next_in_loop(body, body.yields[predicate], body.yields[n]);
                    self.dead_lanes.insert(*name, next);
                    varies = !self.is_uniform(next);
                }
            }
            if varies && self.is_uniform(*name) {
                self.set(*name, Uniformity::Varying);
                stable = false;
            }
        }
        stable
    }

    /// The value that a yield of a loop's body is for the elements that stay in the loop: where a
    /// branch decides whether they do, the yield of the side on which they do.
    fn next_in_loop(&self, body: &Block, stays: Value, value: Value) -> Value {
        let decides = |inst: &&Inst| inst.results.contains(&stays);
        let Some(inst) = body.insts.iter().find(decides) else { return value };
        let Op::If { cond, then, otherwise } = &inst.op else { return value };
        // Otherwise the sides are only executed for the elements that take them.
        let both =
            !self.is_uniform(*cond) && is_if_convertible(then) && is_if_convertible(otherwise);
        let at = |v: Value| inst.results.iter().position(|result| *result == v);
        let (Some(flag), Some(at), true) = (at(stays), at(value), both) else { return value };
        let leaves = |side: &Block| self.constant(side.yields[flag]) == Some(Literal::Bool(false));
        match (leaves(then), leaves(otherwise)) {
            (true, false) => otherwise.yields[at],
            (false, true) => then.yields[at],
            _ => value,
        }
    }
}

/// Returns true if a block is pure and so short that executing it for all elements is cheaper than
/// finding out which elements need it.
pub fn is_if_convertible(block: &Block) -> bool {
    pure_operations(block).is_some_and(|operations| operations <= MAX_IF_CONVERTED_OPERATIONS)
}

/// Returns the number of operations of a block that is executed for all elements, with those of branches inside,
/// which are a choice for each result; `None` if the block is not pure.
pub fn pure_operations(block: &Block) -> Option<usize> {
    operations(block, &|_| false)
}

/// Returns true if a block is so short that executing it for all elements is cheaper than finding out which elements
/// need it, and consists of pure operations and of those for which `is_safe` is true.
pub fn is_if_convertible_with(block: &Block, is_safe: &dyn Fn(&Op) -> bool) -> bool {
    operations(block, is_safe).is_some_and(|operations| operations <= MAX_IF_CONVERTED_OPERATIONS)
}

fn operations(block: &Block, is_safe: &dyn Fn(&Op) -> bool) -> Option<usize> {
    let mut count = 0;
    for inst in &block.insts {
        count += match &inst.op {
            Op::Const(_) => 0,
            Op::If { then, otherwise, .. } => {
                let chosen = then.yields.iter().zip(&otherwise.yields).filter(|(a, b)| a != b);
                operations(then, is_safe)? + operations(otherwise, is_safe)? + chosen.count()
            }
            op if is_safe(op) => 1,
            Op::Compute(..) => return None,
            op if op.class() == Class::Pure => 1,
            _ => return None,
        };
    }
    Some(count)
}

#[cfg(test)]
mod tests;
