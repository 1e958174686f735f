//! What values are across points: one for all, consecutive, or anything; and whether vectors are
//! worth it.
//!
//! Seeds are the indices of the points (consecutive); what is defined outside is the same for
//! all. Shapes of what loops carry are found by going round until they are stable.

use super::super::walk;
use nesl_runtime::kir::{Binary, Block, Inst, Literal, Op, Ty, Unary, Value, ValueTy};
use rustc_hash::{FxHashMap, FxHashSet};

/// What a value is at neighbouring points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The same.
    Uniform,
    /// One more at each.
    Linear,
    /// Anything.
    Lanes,
}

/// What is known of a body that can be vectorised.
#[derive(Clone, Debug)]
pub struct Shapes {
    shapes: Vec<Shape>,
    /// Whether there are lanes of 64 bits.
    pub wide: bool,
    /// The least number of points that fill vectors of all lanes.
    pub least: usize,
    /// Whether all lanes are of 8 bits: chars and bools, and what compares indices gives these.
    pub narrow: bool,
    /// Values one more at each point that are not far from an index: they do not wrap.
    near: Vec<bool>,
    /// Lanes values alive at the same time, at most.
    pub pressure: usize,
    /// Whether all points go through memory together, in a loop with little else to do: the more
    /// points the longer are the stretches they read.
    pub streams: bool,
    /// Bools of which the ends say whether they are true everywhere.
    implied: Vec<bool>,
    /// Conditions of loops that are carried round them: true in every turn, and false behind.
    flags: FxHashSet<Value>,
    /// Of what loops carry that nobody looks at behind them, the next value, for points that go
    /// on; what it is for others does not matter.
    loose: FxHashMap<Value, Value>,
}

impl Shapes {
    /// The shape of a value.
    pub fn of(&self, value: Value) -> Shape {
        self.shapes[value.0 as usize]
    }

    /// Whether the ends say of a bool whether it is true everywhere.
    pub fn is_implied(&self, value: Value) -> bool {
        self.implied[value.0 as usize]
    }

    /// Whether a value is an index, or not far from one.
    pub fn is_near(&self, value: Value) -> bool {
        self.near[value.0 as usize]
    }

    /// Whether a loop carries its condition under this name.
    pub fn is_flag(&self, carried: Value) -> bool {
        self.flags.contains(&carried)
    }

    /// What becomes of a carried value that nobody looks at behind the loop.
    pub fn loose(&self, carried: Value) -> Option<Value> {
        self.loose.get(&carried).copied()
    }
}

/// A reason not to vectorise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct No(pub &'static str);

/// About how often a loop goes round.
const LOOP: u64 = 16;

/// A loop with at most so many operations on vectors waits for memory.
const SLIM: u64 = 4;

/// Finds the shapes of code.
pub struct Analysis<'a> {
    types: &'a [ValueTy],
    shapes: Vec<Shape>,
    /// Whether points may write arrays here.
    may_store: bool,
    stored: bool,
    /// What a turn through the code at hand counts.
    weight: u64,
    /// Operations that vectors speed up, and those they do not.
    simple: u64,
    lanewise: u64,
    streams: bool,
    narrow: bool,
    near: Vec<bool>,
    /// Constants from outside, and those of the code.
    known: &'a FxHashMap<Value, Literal>,
    constants: FxHashMap<Value, Literal>,
    /// Values that something reads.
    used: Vec<bool>,
    /// Bools of which the ends say whether they are true everywhere.
    implied: Vec<bool>,
    flags: FxHashSet<Value>,
    loose: FxHashMap<Value, Value>,
}

/// What an analysis begins with.
pub struct Given<'a> {
    /// The types of all values.
    pub types: &'a [ValueTy],
    /// Constants that were defined before.
    pub known: &'a FxHashMap<Value, Literal>,
    /// Whether points may write arrays: they do not disturb each other.
    pub may_store: bool,
}

impl<'a> Analysis<'a> {
    /// Nothing is known but these indices.
    pub fn new(given: Given<'a>, indices: &[Value]) -> Analysis<'a> {
        let Given { types, known, may_store } = given;
        let mut shapes = vec![Shape::Uniform; types.len()];
        let mut near = vec![false; types.len()];
        for index in indices {
            shapes[index.0 as usize] = Shape::Linear;
            near[index.0 as usize] = true;
        }
        Analysis {
            types,
            shapes,
            may_store,
            stored: false,
            weight: 1,
            simple: 0,
            lanewise: 0,
            streams: false,
            narrow: true,
            near,
            known,
            constants: FxHashMap::default(),
            used: vec![false; types.len()],
            implied: vec![false; types.len()],
            flags: FxHashSet::default(),
            loose: FxHashMap::default(),
        }
    }

    /// Notes that a value is read; to be told of all before the first instruction.
    pub fn reads(&mut self, value: Value) {
        self.used[value.0 as usize] = true;
    }

    fn constant(&self, value: Value) -> Option<Literal> {
        self.constants.get(&value).or_else(|| self.known.get(&value)).copied()
    }

    fn of(&self, value: Value) -> Shape {
        self.shapes[value.0 as usize]
    }

    /// Notes what a value is found to be outside of the code: the result of a sink.
    pub fn set(&mut self, value: Value, shape: Shape) {
        self.shapes[value.0 as usize] = shape;
    }

    /// Says that something is done which needs lanes of more than 8 bits.
    pub fn not_narrow(&mut self) {
        self.narrow = false;
    }

    /// Whether all lanes are of 8 bits, as far as the code was seen.
    pub fn is_narrow(&self) -> bool {
        self.narrow
    }

    /// Counts an operation that is done lane by lane.
    pub fn by_lane(&mut self, times: u64) {
        self.lanewise += times * self.weight;
    }

    /// Counts an operation done on vectors.
    pub fn simple(&mut self) {
        self.simple += self.weight;
    }

    fn scalar(&self, value: Value) -> Option<Ty> {
        match self.types[value.0 as usize] {
            ValueTy::Scalar(ty) => Some(ty),
            ValueTy::Array(_) | ValueTy::Mark => None,
        }
    }

    /// Lanes if any operand is not uniform.
    fn join(&self, values: &[Value]) -> Shape {
        match values.iter().all(|v| self.of(*v) == Shape::Uniform) {
            true => Shape::Uniform,
            false => Shape::Lanes,
        }
    }

    /// Arrays are the same for all.
    fn uniform_arrays(&self, inst: &Inst) -> Result<(), No> {
        let lanes = |v: &&Value| self.of(**v) != Shape::Uniform && self.scalar(**v).is_none();
        match inst.results.iter().find(lanes) {
            Some(_) => Err(No("points use different arrays")),
            None => Ok(()),
        }
    }

    /// The instructions of a block.
    pub fn block(&mut self, block: &Block) -> Result<(), No> {
        block.insts.iter().try_for_each(|inst| self.inst(inst))
    }

    /// An instruction.
    pub fn inst(&mut self, inst: &Inst) -> Result<(), No> {
        let shape = match &inst.op {
            Op::Const(literal) => {
                self.constants.insert(inst.results[0], *literal);
                Shape::Uniform
            }
            Op::Text(_) => Shape::Uniform,
            Op::Unary(op, a) => {
                let shape = self.join(&[*a]);
                if shape == Shape::Lanes {
                    self.narrow &= *op == Unary::Not && self.scalar(*a) == Some(Ty::Bool);
                    match op {
                        Unary::Sqrt => self.simple += 4 * self.weight,
                        Unary::Neg
                        | Unary::Abs
                        | Unary::Not
                        | Unary::Floor
                        | Unary::Ceil
                        | Unary::Trunc
                        | Unary::Nearest => self.simple(),
                    }
                }
                shape
            }
            Op::Binary(op, a, b) => self.binary(inst.results[0], *op, *a, *b),
            Op::Fma(a, b, c) => {
                let shape = self.join(&[*a, *b, *c]);
                if shape == Shape::Lanes {
                    self.simple();
                }
                shape
            }
            Op::Select(c, a, b) => {
                let shape = self.join(&[*c, *a, *b]);
                if shape == Shape::Lanes {
                    self.simple();
                }
                shape
            }
            Op::Convert(to, a) => {
                let shape = self.join(&[*a]);
                if shape == Shape::Lanes {
                    self.narrow = false;
                    match super::ops::converts(self.scalar(*a), *to) {
                        true => self.simple(),
                        false => self.by_lane(1),
                    }
                }
                shape
            }
            Op::Bits(_, a) => {
                let shape = self.join(&[*a]);
                self.narrow &= shape == Shape::Uniform;
                shape
            }
            Op::Load { array, index } => {
                if self.of(*array) != Shape::Uniform {
                    return Err(No("points use different arrays"));
                }
                match self.of(*index) {
                    Shape::Uniform => Shape::Uniform,
                    Shape::Linear => {
                        self.simple();
                        Shape::Lanes
                    }
                    Shape::Lanes => {
                        self.by_lane(1);
                        Shape::Lanes
                    }
                }
            }
            Op::Store { array, index, value } => {
                if !self.may_store || self.of(*array) != Shape::Uniform {
                    return Err(No("writes that may depend on each other"));
                }
                self.stored = true;
                self.narrow &= self.of(*value) != Shape::Linear;
                match self.of(*index) {
                    Shape::Linear => self.simple(),
                    Shape::Uniform | Shape::Lanes => self.by_lane(1),
                }
                return Ok(());
            }
            Op::Slice(array, start) => {
                if self.join(&[*array, *start]) != Shape::Uniform {
                    return Err(No("points use different arrays"));
                }
                Shape::Uniform
            }
            Op::If { cond, then, otherwise } => return self.branch(inst, *cond, then, otherwise),
            Op::While { init, carried, cond, body } => {
                self.narrow = false;
                return self.repeat(inst, init, carried, Some(cond), None, body);
            }
            Op::For { count, index, init, carried, reduce, body } => {
                self.set(*index, Shape::Uniform);
                self.narrow = false;
                let before = self.lanewise;
                let (simple, weight) = (self.simple, self.weight);
                self.repeat(inst, init, carried, None, Some(*count), body)?;
                let little = self.simple - simple <= SLIM * LOOP * weight;
                self.streams |= self.of(*count) == Shape::Uniform
                    && little
                    && self.lanewise == before
                    && self.reads_along(body);
                if !reduce.is_empty() && init.is_empty() && self.lanewise > before {
                    return Err(No("the inner loop is better vectorised"));
                }
                return Ok(());
            }
            Op::Check { .. } | Op::Fail { .. } => {
                // The vectors are done again one by one, to find the first that fails.
                return match self.stored {
                    true => Err(No("a check behind a write")),
                    false => Ok(()),
                };
            }
            Op::Alloc(..)
            | Op::Copy { .. }
            | Op::Call(..)
            | Op::Extern(..)
            | Op::Mark
            | Op::Compact { .. } => return Err(No("memory or calls")),
        };
        if let Some(result) = inst.results.first() {
            self.set(*result, shape);
        }
        self.uniform_arrays(inst)
    }

    /// Whether a block without control in it reads neighbouring elements.
    fn reads_along(&self, block: &Block) -> bool {
        let mut along = false;
        for inst in &block.insts {
            along |= matches!(inst.op, Op::Load { index, .. } if self.of(index) == Shape::Linear);
            if walk::blocks(&inst.op)[0].is_some() {
                return false;
            }
        }
        along
    }

    /// Whether neighbouring elements are read where not all points need be at work.
    fn reads_masked(&self, inst: &Inst, masked: bool) -> bool {
        let lanes = |v: Value| self.of(v) != Shape::Uniform;
        if let Op::Load { index, .. } = &inst.op {
            return masked && self.of(*index) == Shape::Linear;
        }
        let masks = match &inst.op {
            Op::If { cond, .. } => lanes(*cond),
            Op::For { count, .. } => lanes(*count),
            Op::While { cond, .. } => lanes(cond.yields[0]) || self.flags.contains(&cond.yields[0]),
            _ => false,
        };
        let blocks = walk::blocks(&inst.op).into_iter().flatten();
        blocks.flat_map(|block| &block.insts).any(|inst| self.reads_masked(inst, masked || masks))
    }

    fn binary(&mut self, result: Value, op: Binary, a: Value, b: Value) -> Shape {
        let index = self.scalar(a) == Some(Ty::I64);
        let shapes = [self.of(a), self.of(b)];
        let implied = |v: Value| self.of(v) == Shape::Uniform || self.implied[v.0 as usize];
        self.implied[result.0 as usize] = match op {
            Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge => !shapes.contains(&Shape::Lanes),
            Binary::And if self.scalar(a) == Some(Ty::Bool) => implied(a) && implied(b),
            _ => false,
        };
        self.near[result.0 as usize] = self.stays_near(op, a, b);
        if shapes != [Shape::Uniform; 2] && op.compares() {
            let is = |v: Value, shape| self.of(v) == shape;
            let ends = |a, b| self.near[a as usize] && is(Value(b), Shape::Uniform);
            let by_place = ends(a.0, b.0) || ends(b.0, a.0);
            self.narrow &= by_place || !shapes.contains(&Shape::Linear);
        }
        if self.implied[result.0 as usize] && shapes != [Shape::Uniform; 2] {
            return Shape::Lanes;
        }
        match (op, self.of(a), self.of(b)) {
            (_, Shape::Uniform, Shape::Uniform) => Shape::Uniform,
            (Binary::Add, Shape::Linear, Shape::Uniform)
            | (Binary::Add, Shape::Uniform, Shape::Linear)
            | (Binary::Sub, Shape::Linear, Shape::Uniform)
                if index =>
            {
                Shape::Linear
            }
            (_, _, of_b) => {
                let int = self.scalar(a).is_some_and(Ty::is_int);
                self.narrow &= op.compares() || self.scalar(a) == Some(Ty::Bool);
                match op {
                    Binary::Div | Binary::Rem if int => self.by_lane(1),
                    Binary::Shl | Binary::Shr | Binary::ShrZero if of_b != Shape::Uniform => {
                        self.by_lane(1);
                    }
                    Binary::Div => self.simple += 4 * self.weight,
                    Binary::Add
                    | Binary::Sub
                    | Binary::Mul
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
                    | Binary::Ge => self.simple(),
                }
                Shape::Lanes
            }
        }
    }

    /// Whether a sum or difference is not far from an index: by a constant.
    fn stays_near(&self, op: Binary, a: Value, b: Value) -> bool {
        /// No index is that close to where ints wrap, however often this is added to it.
        const FAR: u64 = 1 << 32;
        let near = |v: Value| self.near[v.0 as usize];
        let little = |v: Value| match self.constant(v) {
            Some(Literal::I64(x)) => x.unsigned_abs() <= FAR,
            _ => false,
        };
        match op {
            Binary::Add => near(a) && little(b) || little(a) && near(b),
            Binary::Sub => near(a) && little(b),
            _ => false,
        }
    }

    fn branch(
        &mut self,
        inst: &Inst,
        cond: Value,
        then: &Block,
        otherwise: &Block,
    ) -> Result<(), No> {
        // Either side may write, and the other check.
        let before = self.stored;
        self.block(then)?;
        let after = std::mem::replace(&mut self.stored, before);
        self.block(otherwise)?;
        self.stored |= after;
        let lanes = self.of(cond) != Shape::Uniform;
        for (n, result) in inst.results.iter().enumerate() {
            let shape = match lanes {
                true => Shape::Lanes,
                false => self.join(&[then.yields[n], otherwise.yields[n]]),
            };
            self.set(*result, shape);
        }
        self.uniform_arrays(inst)
    }

    /// A loop: with a condition, or a count.
    fn repeat(
        &mut self,
        inst: &Inst,
        init: &[Value],
        carried: &[Value],
        cond: Option<&Block>,
        count: Option<Value>,
        body: &Block,
    ) -> Result<(), No> {
        for (init, name) in init.iter().zip(carried) {
            self.set(*name, self.join(&[*init]));
        }
        let (simple, lanewise, weight) = (self.simple, self.lanewise, self.weight);
        self.weight = weight.saturating_mul(LOOP).min(1 << 32);
        let mut lanes = count.is_some_and(|count| self.of(count) != Shape::Uniform);
        let flag = cond.filter(|cond| cond.insts.is_empty());
        let flag = flag.and_then(|cond| carried.iter().position(|name| *name == cond.yields[0]));
        if let Some(flag) = flag {
            lanes = self.of(init[flag]) != Shape::Uniform;
            self.set(carried[flag], Shape::Uniform);
        }
        loop {
            (self.simple, self.lanewise) = (simple, lanewise);
            let stored = self.stored;
            if let Some(cond) = cond {
                self.block(cond)?;
                lanes |= self.of(cond.yields[0]) != Shape::Uniform;
            }
            self.block(body)?;
            if self.stored && !stored && (checks(body) || cond.is_some_and(checks)) {
                return Err(No("a check behind a write"));
            }
            lanes |= flag.is_some_and(|flag| self.of(body.yields[flag]) != Shape::Uniform);
            if let Some(flag) = flag.filter(|_| lanes) {
                self.flags.insert(carried[flag]);
            }
            let mut stable = true;
            for (n, name) in carried.iter().enumerate() {
                let mut next = lanes || self.of(body.yields[n]) != Shape::Uniform;
                if let Some(flag) = flag.filter(|_| lanes) {
                    if n == flag {
                        continue;
                    }
                    if !self.used[inst.results[n].0 as usize] {
                        let onward = self.onward(body, body.yields[flag], body.yields[n]);
                        self.loose.insert(*name, onward);
                        next = self.of(onward) != Shape::Uniform;
                    }
                }
                if next && self.of(*name) == Shape::Uniform {
                    self.set(*name, Shape::Lanes);
                    stable = false;
                }
            }
            if stable {
                break;
            }
        }
        self.weight = weight;
        for (n, result) in inst.results.iter().enumerate() {
            let shape = match carried.get(n) {
                Some(name) => self.of(*name),
                None if lanes => Shape::Lanes,
                None => self.join(&[body.yields[n]]),
            };
            self.set(*result, shape);
        }
        if lanes && cond.is_none() {
            // Each turn asks which lanes go on.
            self.simple();
        }
        for name in carried {
            if self.of(*name) != Shape::Uniform && self.scalar(*name).is_none() {
                return Err(No("points use different arrays"));
            }
        }
        self.uniform_arrays(inst)
    }

    /// What a value of a loop's body is for the points that go on: where a branch decides whether
    /// they do, what it is on the side on which they do.
    fn onward(&self, body: &Block, goes_on: Value, value: Value) -> Value {
        let decides = |inst: &&Inst| inst.results.contains(&goes_on);
        let Some(inst) = body.insts.iter().find(decides) else { return value };
        let Op::If { cond, then, otherwise } = &inst.op else { return value };
        // Else the sides are only there for the points that take them.
        let both = self.of(*cond) != Shape::Uniform
            && super::control::is_cheap(then)
            && super::control::is_cheap(otherwise);
        let at = |v: Value| inst.results.iter().position(|result| *result == v);
        let (Some(flag), Some(at), true) = (at(goes_on), at(value), both) else { return value };
        let ends = |side: &Block| self.constant(side.yields[flag]) == Some(Literal::Bool(false));
        match (ends(then), ends(otherwise)) {
            (true, false) => otherwise.yields[at],
            (false, true) => then.yields[at],
            _ => value,
        }
    }

    /// The shapes, if vectors are worth it.
    pub fn finish<'i>(
        mut self,
        insts: impl Iterator<Item = &'i Inst> + Clone,
    ) -> Result<Shapes, No> {
        if self.simple == 0 || self.lanewise > self.simple {
            return Err(No("most is done lane by lane"));
        }
        let (mut wide, mut short, mut narrow) = (false, false, self.narrow);
        let mut note = |inst: &Inst| {
            for value in defined(inst) {
                if self.of(value) == Shape::Lanes {
                    narrow &= matches!(self.scalar(value), Some(Ty::U8 | Ty::Bool));
                }
                let lanes = self.of(value) == Shape::Lanes && !self.implied[value.0 as usize];
                match self.scalar(value) {
                    Some(Ty::I64 | Ty::F64) => wide |= self.of(value) == Shape::Lanes,
                    // What is the same at all points may be stored at all of them.
                    Some(Ty::I32 | Ty::F32 | Ty::U8) => short = true,
                    Some(Ty::Bool) => short |= lanes,
                    None => {}
                }
            }
            if let Op::Store { array, .. } = &inst.op {
                short |= !matches!(self.types[array.0 as usize], ValueTy::Array(ty) if is_wide(ty));
            }
        };
        for inst in insts.clone() {
            note(inst);
            walk::blocks(&inst.op)
                .into_iter()
                .flatten()
                .for_each(|block| walk::insts(block, &mut |inst| note(inst)));
        }
        let pressure = self.pressure(insts.clone());
        // The borders of memory are for few points of which some are not at work.
        let masked = insts.into_iter().any(|inst| self.reads_masked(inst, false));
        self.streams &= !masked;
        let Analysis { shapes, streams, implied, flags, loose, near, .. } = self;
        let least = if wide && !short { 2 } else { 4 };
        Ok(Shapes { shapes, wide, narrow, least, near, pressure, streams, implied, flags, loose })
    }

    /// How many lanes values are alive at the same time, at most.
    fn pressure<'i>(&self, insts: impl Iterator<Item = &'i Inst>) -> usize {
        let mut spans = Spans { at: 0, spans: vec![None; self.types.len()] };
        for inst in insts {
            spans.inst(inst);
        }
        let mut changes: Vec<(usize, i32)> = Vec::new();
        for (value, span) in spans.spans.iter().enumerate() {
            // Where the ends say it all there are no lanes.
            if let (Some((from, to)), Shape::Lanes, false) =
                (span, self.shapes[value], self.implied[value])
            {
                changes.push((*from, 1));
                changes.push((*to, -1));
            }
        }
        changes.sort_unstable();
        let (mut now, mut most) = (0, 0);
        for (_, change) in changes {
            now += change;
            most = most.max(now);
        }
        most.max(1) as usize
    }
}

/// Whether a type has 64 bits.
pub fn is_wide(ty: Ty) -> bool {
    matches!(ty, Ty::I64 | Ty::F64)
}

/// Whether a block has checks.
fn checks(block: &Block) -> bool {
    let mut found = false;
    walk::insts(block, &mut |inst| found |= matches!(inst.op, Op::Check { .. } | Op::Fail { .. }));
    found
}

/// What an instruction and its loop define.
fn defined(inst: &Inst) -> Vec<Value> {
    let mut all = inst.results.clone();
    if let Op::While { carried, .. } | Op::For { carried, .. } = &inst.op {
        all.extend(carried);
    }
    all
}

/// From where to where values are alive, in the order of the code.
struct Spans {
    at: usize,
    spans: Vec<Option<(usize, usize)>>,
}

impl Spans {
    fn inst(&mut self, inst: &Inst) {
        let start = self.at;
        let at = self.at;
        walk::operands(&inst.op, &mut |v| self.read(v, at));
        self.at += 1;
        if let Op::While { carried, .. } | Op::For { carried, .. } = &inst.op {
            carried.iter().for_each(|v| self.define(*v));
        }
        for block in walk::blocks(&inst.op).into_iter().flatten() {
            block.insts.iter().for_each(|inst| self.inst(inst));
            let at = self.at;
            block.yields.iter().for_each(|v| self.read(*v, at));
        }
        if matches!(inst.op, Op::While { .. } | Op::For { .. }) {
            // What was there before the loop and is read in it is needed until its end.
            let end = self.at;
            walk::reads(inst, &mut |v| match &mut self.spans[v.0 as usize] {
                Some((from, to)) if *from <= start => *to = (*to).max(end),
                _ => {}
            });
        }
        self.at += 1;
        inst.results.iter().for_each(|v| self.define(*v));
    }

    fn define(&mut self, value: Value) {
        self.spans[value.0 as usize] = Some((self.at, self.at));
    }

    fn read(&mut self, value: Value, at: usize) {
        if let Some((_, to)) = &mut self.spans[value.0 as usize] {
            *to = (*to).max(at);
        }
    }
}
