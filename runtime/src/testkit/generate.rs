//! Random lawful modules, for comparing runtimes with each other.
//!
//! Everything is chosen by a list of bytes, so that a test that draws bytes finds small modules
//! when it shrinks them, and a fuzzer can be put to work. When the bytes are used up, nothing
//! more is added.
//!
//! A module ends, keeps the law, disturbs no instance, and is determined: floats are reduced only
//! with `min` and `max`, of numbers that are not the negative zero, and no bits of a NaN are
//! looked at. Checks may fail.

use super::spaces::{Kind, Shape, small};
use super::{Data, Input};
use crate::kir::{
    Binary, Body, Combine, Extern, FunctionBuilder, FunctionId, KernelBuilder, Literal, Module,
    Scope, Sink, Site, Space, Ty, Unary, Value, ValueTy,
};

/// A module and how to launch its only kernel.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The module.
    pub module: Module,
    /// The arguments.
    pub args: Vec<Input>,
    /// The numbers of the parameters that are written.
    pub written: Vec<usize>,
}

/// The module that these bytes choose; with functions that call themselves and arrays that
/// instances allocate only if `recursion` is set.
pub fn generate(bytes: &[u8], recursion: bool) -> Generated {
    let choices = Choices { bytes, at: 0 };
    let mut generator =
        Generator { choices, recursion, module: Module::default(), loops: 0, calls: 0, nested: 0 };
    for number in 0..generator.choices.below(4) {
        generator.function(number);
    }
    generator.kernel()
}

/// Choices by a list of bytes; 0 when they are used up.
struct Choices<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Choices<'_> {
    fn below(&mut self, bound: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte) % bound
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn done(&self) -> bool {
        self.at >= self.bytes.len()
    }
}

/// An array and how long it is at least.
#[derive(Clone, Copy)]
struct Known {
    value: Value,
    ty: Ty,
    length: i64,
    /// Whether it is the instance's, and its only name.
    own: bool,
}

/// What is visible.
#[derive(Clone, Default)]
struct Visible {
    scalars: Vec<(Value, Ty)>,
    arrays: Vec<Known>,
}

struct Generator<'b> {
    choices: Choices<'b>,
    recursion: bool,
    module: Module,
    /// Loops around the place at hand.
    loops: usize,
    /// Calls in the function at hand.
    calls: usize,
    /// Blocks around the place at hand.
    nested: usize,
}

/// The length of the arrays a kernel is given.
const GIVEN: i64 = 16;

impl Generator<'_> {
    fn function(&mut self, number: usize) {
        let mut function = FunctionBuilder::new(format!("f{number}"));
        let mut visible = Visible::default();
        self.calls = 0;
        let recursive = self.recursion && self.choices.below(2) == 1;
        let depth = function.param(ValueTy::Scalar(Ty::I64));
        visible.scalars.push((depth, Ty::I64));
        let mut types = vec![ValueTy::Scalar(Ty::I64)];
        for _ in 0..self.choices.below(4) {
            let ty = self.choices.pick(Ty::ALL);
            types.push(ValueTy::Scalar(ty));
            visible.scalars.push((function.param(ValueTy::Scalar(ty)), ty));
        }
        let ty = self.choices.pick(Ty::ALL);
        types.push(ValueTy::Array(ty));
        let value = function.param(ValueTy::Array(ty));
        visible.arrays.push(Known { value, ty, length: 1, own: false });
        let result = self.choices.pick(Ty::ALL);
        let body = &mut function.body;
        self.steps(body, &mut visible, 12);
        let mut results = vec![self.scalar(body, &visible, result)];
        if recursive {
            // Less and less, from at most 15.
            let zero = body.i64(0);
            let more = body.binary(Binary::Gt, depth, zero);
            let cut = body.i64(15);
            let depth = body.binary(Binary::And, depth, cut);
            let one = body.i64(1);
            let depth = body.binary(Binary::Sub, depth, one);
            let mut args = vec![depth];
            for ty in &types[1..types.len() - 1] {
                let ValueTy::Scalar(ty) = ty else { unreachable!("only the last is an array") };
                args.push(self.scalar(body, &visible, *ty));
            }
            args.push(value);
            let id = FunctionId(self.module.functions.len() as u32);
            let other = results[0];
            results = body.branch(
                more,
                |body| body.call(id, args, &[ValueTy::Scalar(result)]),
                |_| vec![other],
            );
        }
        self.module.functions.push(function.finish(results));
    }

    fn kernel(mut self) -> Generated {
        let mut kernel = KernelBuilder::new("k");
        let shapes = small();
        let shape = &shapes[self.choices.below(shapes.len())].clone();
        let mut args = Vec::new();
        let (space, segmented) = head(&mut kernel, shape, &mut args);
        let mut visible = Visible::default();
        for ty in Ty::ALL {
            let value = kernel.param(ValueTy::Array(*ty));
            args.push(Input::Array(given(*ty)));
            visible.arrays.push(Known { value, ty: *ty, length: GIVEN, own: false });
        }
        let point = kernel.over(space);
        let index = point[point.len() - 1];
        visible.scalars.extend(point.into_iter().map(|value| (value, Ty::I64)));
        let mut written = Vec::new();
        let stages = 1 + self.choices.below(3);
        for stage in 0..stages {
            self.calls = 0;
            self.steps(&mut kernel.body, &mut visible, 25);
            if stage + 1 == stages {
                for ty in Ty::ALL {
                    let value = self.scalar(&mut kernel.body, &visible, *ty);
                    let array = kernel.param(ValueTy::Array(*ty));
                    written.push(args.len());
                    args.push(Input::Room(*ty, shape.points()));
                    kernel.body.store(array, index, value);
                }
            }
            let mut results = Vec::new();
            for _ in 0..self.choices.below(4) {
                let mut target = |kernel: &mut KernelBuilder, input: Input| {
                    let ty = match &input {
                        Input::Array(data) | Input::Part(data, _) => data.ty(),
                        Input::Room(ty, _) => *ty,
                        Input::Scalar(literal) => literal.ty(),
                    };
                    written.push(args.len());
                    args.push(input);
                    kernel.param(ValueTy::Array(ty))
                };
                self.sink(&mut kernel, shape, segmented, &visible, &mut results, &mut target);
            }
            visible.scalars.extend(results);
            if stage + 1 < stages {
                kernel.next_stage();
            }
        }
        self.module.kernels.push(kernel.finish());
        Generated { module: self.module, args, written }
    }

    fn sink(
        &mut self,
        kernel: &mut KernelBuilder,
        shape: &Shape,
        segmented: bool,
        visible: &Visible,
        results: &mut Vec<(Value, Ty)>,
        target: &mut dyn FnMut(&mut KernelBuilder, Input) -> Value,
    ) {
        let scope = match segmented && self.choices.below(2) == 1 {
            true => Scope::Segment,
            false => Scope::All,
        };
        let totals = match scope {
            Scope::All => 1,
            Scope::Segment => shape.lengths.len(),
        };
        match self.choices.below(6) {
            0 => {
                let (combine, value, ty) = self.element(&mut kernel.body, visible);
                let mut result = None;
                if scope == Scope::Segment {
                    let value = kernel.body.value(ValueTy::Scalar(ty));
                    results.push((value, ty));
                    result = Some(value);
                }
                let out = Some(target(kernel, Input::Room(ty, totals)));
                kernel.sink(Sink::Reduce { scope, combine, value, out, result });
            }
            1 => {
                let (combine, value, ty) = self.element(&mut kernel.body, visible);
                let result = kernel.body.value(ValueTy::Scalar(ty));
                results.push((result, ty));
                let total = match self.choices.below(2) {
                    0 => None,
                    _ => Some(target(kernel, Input::Room(ty, totals))),
                };
                kernel.sink(Sink::Scan { scope, combine, value, result, total });
            }
            2 => {
                let keep = self.scalar(&mut kernel.body, visible, Ty::Bool);
                let mut columns = Vec::new();
                for _ in 0..self.choices.below(3) {
                    let ty = self.choices.pick(Ty::ALL);
                    let value = self.scalar(&mut kernel.body, visible, ty);
                    let zeros = zeros(ty, shape.points());
                    columns.push((value, target(kernel, Input::Array(zeros))));
                }
                let count = target(kernel, Input::Room(Ty::I64, totals));
                kernel.sink(Sink::Pack { keep, columns, count, scope });
            }
            3 => {
                let ty = self.choices.pick(Ty::ALL);
                let value = self.scalar(&mut kernel.body, visible, ty);
                let index = self.index(&mut kernel.body, visible, 8);
                let when = self.when(kernel, visible);
                let array = target(kernel, Input::Array(zeros(ty, 8)));
                kernel.sink(Sink::Scatter { array, index, value, when });
            }
            4 => {
                let (combine, value, ty) = self.element(&mut kernel.body, visible);
                let index = self.index(&mut kernel.body, visible, 5);
                let when = self.when(kernel, visible);
                let array = target(kernel, Input::Array(zeros(ty, 5)));
                kernel.sink(Sink::Histogram { array, combine, index, value, when });
            }
            _ => {
                let count = 1 + self.choices.below(2);
                let arrays: Vec<Known> =
                    (0..count).map(|_| self.choices.pick(&visible.arrays)).collect();
                let most = arrays.iter().map(|array| array.length).min().unwrap_or(0);
                let length = self.index(&mut kernel.body, visible, most.min(5) + 1);
                let lengths = target(kernel, Input::Room(Ty::I64, shape.points()));
                let columns = arrays.iter().map(|array| (array.value, kernel.output(array.ty)));
                let columns = columns.collect();
                kernel.sink(Sink::Emit { columns, length, lengths });
            }
        }
    }

    fn when(&mut self, kernel: &mut KernelBuilder, visible: &Visible) -> Option<Value> {
        let when = self.choices.below(2) == 1;
        when.then(|| self.scalar(&mut kernel.body, visible, Ty::Bool))
    }

    fn steps(&mut self, body: &mut Body, visible: &mut Visible, most: usize) {
        for _ in 0..self.choices.below(most + 1) {
            if self.choices.done() {
                return;
            }
            self.step(body, visible);
        }
    }

    fn step(&mut self, body: &mut Body, visible: &mut Visible) {
        match self.choices.below(26) {
            0 | 1 => self.literal(body, visible),
            2 | 3 => self.unary(body, visible),
            4..=7 => self.binary(body, visible),
            8 => self.comparison(body, visible),
            9 | 10 => self.convert(body, visible),
            11 => self.ternary(body, visible),
            12 => self.bits(body, visible),
            13 | 14 => self.load(body, visible),
            15 if self.recursion => self.alloc(body, visible),
            16 => self.store(body, visible),
            17 => self.branch(body, visible),
            18 => self.count(body, visible),
            19 => self.repeat(body, visible),
            20 => self.call(body, visible),
            21 if self.recursion => self.service(body, visible),
            22 => self.copy(body, visible),
            23 if self.recursion => self.compact(body, visible),
            _ => self.check(body, visible),
        }
    }

    fn literal(&mut self, body: &mut Body, visible: &mut Visible) {
        let ty = self.choices.pick(Ty::ALL);
        let value = self.constant(body, ty);
        visible.scalars.push((value, ty));
    }

    fn constant(&mut self, body: &mut Body, ty: Ty) -> Value {
        let float = |x: f64| match ty {
            Ty::F32 => Literal::F32((x as f32).to_bits()),
            _ => Literal::F64(x.to_bits()),
        };
        let literal = match ty {
            Ty::I32 => Literal::I32(self.choices.pick(&[0, 1, -1, 2, 7, 100, i32::MIN, i32::MAX])),
            Ty::I64 => Literal::I64(self.choices.pick(&[0, 1, -1, 3, 64, i64::MIN, i64::MAX])),
            Ty::F32 | Ty::F64 => float(self.choices.pick(&[
                0.0,
                -0.0,
                1.0,
                -1.5,
                0.1,
                1e10,
                -1e300,
                f64::NAN,
                f64::INFINITY,
            ])),
            Ty::Bool => Literal::Bool(self.choices.below(2) == 1),
            Ty::U8 => Literal::U8(self.choices.pick(&[0, 1, b'a', 255])),
        };
        body.literal(literal)
    }

    /// A scalar of a type: one of the latest, or a constant.
    fn scalar(&mut self, body: &mut Body, visible: &Visible, ty: Ty) -> Value {
        let known = visible.scalars.iter().rev().filter(|known| known.1 == ty).map(|known| known.0);
        let known: Vec<Value> = known.take(6).collect();
        match self.choices.below(7) {
            choice if choice < 6 && !known.is_empty() => known[choice % known.len()],
            _ => self.constant(body, ty),
        }
    }

    /// An index into so many elements.
    fn index(&mut self, body: &mut Body, visible: &Visible, length: i64) -> Value {
        let x = self.scalar(body, visible, Ty::I64);
        let most = body.i64(i64::MAX);
        let x = body.binary(Binary::And, x, most);
        let length = body.i64(length);
        body.binary(Binary::Rem, x, length)
    }

    fn unary(&mut self, body: &mut Body, visible: &mut Visible) {
        let op = self.choices.pick(Unary::ALL);
        let ty = match op {
            Unary::Neg | Unary::Abs => self.choices.pick(&[Ty::I64, Ty::F64, Ty::I32, Ty::F32]),
            Unary::Not => self.choices.pick(&[Ty::Bool, Ty::I64, Ty::I32]),
            Unary::Sqrt | Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Nearest => {
                self.choices.pick(&[Ty::F64, Ty::F32])
            }
        };
        let a = self.scalar(body, visible, ty);
        visible.scalars.push((body.unary(op, a), ty));
    }

    fn binary(&mut self, body: &mut Body, visible: &mut Visible) {
        use Binary::*;
        let op = self
            .choices
            .pick(&[Add, Sub, Mul, Div, Rem, Min, Max, And, Or, Xor, Shl, Shr, ShrZero]);
        let ty = match op {
            Add | Sub | Mul | Div => self.choices.pick(&[Ty::I64, Ty::F64, Ty::I32, Ty::F32]),
            Min | Max => self.choices.pick(&[Ty::I64, Ty::I32, Ty::U8]),
            And | Or | Xor => self.choices.pick(&[Ty::I64, Ty::Bool, Ty::I32]),
            Rem | Shl | Shr | ShrZero | Eq | Ne | Lt | Le | Gt | Ge => {
                self.choices.pick(&[Ty::I64, Ty::I32])
            }
        };
        let (a, b) = (self.scalar(body, visible, ty), self.scalar(body, visible, ty));
        visible.scalars.push((body.binary(op, a, b), ty));
    }

    fn comparison(&mut self, body: &mut Body, visible: &mut Visible) {
        use Binary::*;
        let op = self.choices.pick(&[Eq, Ne, Lt, Le, Gt, Ge]);
        let ty = self.choices.pick(Ty::ALL);
        let (a, b) = (self.scalar(body, visible, ty), self.scalar(body, visible, ty));
        visible.scalars.push((body.binary(op, a, b), Ty::Bool));
    }

    fn convert(&mut self, body: &mut Body, visible: &mut Visible) {
        let from = self.choices.pick(Ty::ALL);
        let to = match from.is_float() {
            true => self.choices.pick(&[Ty::I64, Ty::F64, Ty::I32, Ty::F32]),
            false => self.choices.pick(Ty::ALL),
        };
        let a = self.scalar(body, visible, from);
        visible.scalars.push((body.convert(to, a), to));
    }

    fn ternary(&mut self, body: &mut Body, visible: &mut Visible) {
        if self.choices.below(2) == 0 {
            let ty = self.choices.pick(&[Ty::F64, Ty::F32]);
            let (a, b) = (self.scalar(body, visible, ty), self.scalar(body, visible, ty));
            let c = self.scalar(body, visible, ty);
            visible.scalars.push((body.fma(a, b, c), ty));
        } else {
            let ty = self.choices.pick(Ty::ALL);
            let cond = self.scalar(body, visible, Ty::Bool);
            let (a, b) = (self.scalar(body, visible, ty), self.scalar(body, visible, ty));
            visible.scalars.push((body.select(cond, a, b), ty));
        }
    }

    fn bits(&mut self, body: &mut Body, visible: &mut Visible) {
        let (int, float) = self.choices.pick(&[(Ty::I64, Ty::F64), (Ty::I32, Ty::F32)]);
        if self.choices.below(2) == 0 {
            let a = self.scalar(body, visible, int);
            visible.scalars.push((body.bits(float, a), float));
            return;
        }
        // A NaN becomes a number first.
        let a = self.scalar(body, visible, float);
        let number = body.binary(Binary::Eq, a, a);
        let zero = body.literal(Literal::zero(float));
        let a = body.select(number, a, zero);
        visible.scalars.push((body.bits(int, a), int));
    }

    fn load(&mut self, body: &mut Body, visible: &mut Visible) {
        let array = self.choices.pick(&visible.arrays);
        let index = self.index(body, visible, array.length);
        if self.choices.below(4) == 3 {
            let slice = body.slice(array.value, index);
            let zero = body.i64(0);
            visible.scalars.push((body.load(slice, zero), array.ty));
        } else {
            visible.scalars.push((body.load(array.value, index), array.ty));
        }
    }

    /// A new array, written at once.
    fn alloc(&mut self, body: &mut Body, visible: &mut Visible) {
        let ty = self.choices.pick(Ty::ALL);
        let length = 1 + self.choices.below(7) as i64;
        let count = body.i64(length);
        let array = body.alloc(ty, count);
        body.count(count, Vec::new(), Vec::new(), |body, index, _| {
            let mut inner = visible.clone();
            inner.scalars.push((index, Ty::I64));
            if !ty.is_float() {
                inner.scalars.push((body.convert(ty, index), ty));
            }
            let value = self.scalar(body, &inner, ty);
            body.store(array, index, value);
            Vec::new()
        });
        visible.arrays.push(Known { value: array, ty, length, own: true });
    }

    fn store(&mut self, body: &mut Body, visible: &mut Visible) {
        let own: Vec<Known> = visible.arrays.iter().copied().filter(|array| array.own).collect();
        if own.is_empty() {
            return self.load(body, visible);
        }
        let array = self.choices.pick(&own);
        let index = self.index(body, visible, array.length);
        let value = self.scalar(body, visible, array.ty);
        body.store(array.value, index, value);
    }

    fn copy(&mut self, body: &mut Body, visible: &mut Visible) {
        let own: Vec<Known> = visible.arrays.iter().copied().filter(|array| array.own).collect();
        if own.is_empty() {
            return self.load(body, visible);
        }
        let to = self.choices.pick(&own);
        // What is not its own may be another name of it.
        let others = visible.arrays.iter().filter(|from| {
            from.ty == to.ty && from.value != to.value && (from.own || from.length == GIVEN)
        });
        let others: Vec<Known> = others.copied().collect();
        if !others.is_empty() {
            let from = self.choices.pick(&others);
            let count = body.i64(from.length.min(to.length));
            body.copy(from.value, to.value, count);
        }
    }

    /// Steps in a block of their own, then values of these types.
    fn inner(
        &mut self,
        body: &mut Body,
        mut visible: Visible,
        types: &[Ty],
        most: usize,
    ) -> Vec<Value> {
        self.nested += 1;
        if self.nested < 5 {
            self.steps(body, &mut visible, most);
        }
        self.nested -= 1;
        types.iter().map(|ty| self.scalar(body, &visible, *ty)).collect()
    }

    fn some_types(&mut self) -> Vec<Ty> {
        (0..self.choices.below(4)).map(|_| self.choices.pick(Ty::ALL)).collect()
    }

    fn branch(&mut self, body: &mut Body, visible: &mut Visible) {
        let types = self.some_types();
        let cond = self.scalar(body, visible, Ty::Bool);
        body.begin();
        let yields = self.inner(body, visible.clone(), &types, 8);
        let then = body.end(yields);
        body.begin();
        let yields = self.inner(body, visible.clone(), &types, 8);
        let otherwise = body.end(yields);
        let results: Vec<ValueTy> = types.iter().map(|ty| ValueTy::Scalar(*ty)).collect();
        let results = body.push(crate::kir::Op::If { cond, then, otherwise }, &results);
        visible.scalars.extend(results.into_iter().zip(types));
    }

    fn count(&mut self, body: &mut Body, visible: &mut Visible) {
        if self.loops == 2 {
            return self.branch(body, visible);
        }
        let types = self.some_types();
        let init: Vec<Value> = types.iter().map(|ty| self.scalar(body, visible, *ty)).collect();
        let count = self.index(body, visible, 9);
        let mut reduced = Vec::new();
        let mut reduce = Vec::new();
        for _ in 0..self.choices.below(3) {
            let (combine, ty) = self.combination();
            reduce.push(combine);
            reduced.push(ty);
        }
        self.loops += 1;
        let results = body.count(count, init, reduce, |body, index, carried| {
            let mut inner = visible.clone();
            inner.scalars.push((index, Ty::I64));
            inner.scalars.extend(carried.iter().copied().zip(types.iter().copied()));
            let all = [&types[..], &reduced].concat();
            let mut yields = self.inner(body, inner, &all, 8);
            for value in &mut yields[types.len()..] {
                *value = positive_zero(body, *value);
            }
            yields
        });
        self.loops -= 1;
        visible.scalars.extend(results.into_iter().zip(types.into_iter().chain(reduced)));
    }

    fn repeat(&mut self, body: &mut Body, visible: &mut Visible) {
        if self.loops == 2 {
            return self.branch(body, visible);
        }
        let mut types = vec![Ty::I64];
        types.extend(self.some_types());
        let mut init: Vec<Value> = types.iter().map(|ty| self.scalar(body, visible, *ty)).collect();
        init[0] = body.i64(0);
        let rounds = 1 + self.choices.below(8) as i64;
        self.loops += 1;
        let kinds: Vec<ValueTy> = types.iter().map(|ty| ValueTy::Scalar(*ty)).collect();
        let carried: Vec<Value> = kinds.iter().map(|ty| body.value(*ty)).collect();
        let mut inner = visible.clone();
        inner.scalars.extend(carried.iter().copied().zip(types.iter().copied()));
        body.begin();
        let going = self.inner(body, inner.clone(), &[Ty::Bool], 3)[0];
        let rounds = body.i64(rounds);
        let few = body.binary(Binary::Lt, carried[0], rounds);
        let going = body.binary(Binary::And, going, few);
        let cond = body.end(vec![going]);
        body.begin();
        let mut yields = self.inner(body, inner, &types, 8);
        let one = body.i64(1);
        yields[0] = body.binary(Binary::Add, carried[0], one);
        let turn = body.end(yields);
        self.loops -= 1;
        let op = crate::kir::Op::While { init, carried, cond, body: turn };
        let results = body.push(op, &kinds);
        visible.scalars.extend(results.into_iter().zip(types));
    }

    fn call(&mut self, body: &mut Body, visible: &mut Visible) {
        if self.module.functions.is_empty() || self.calls == 2 || self.loops == 2 {
            return self.binary(body, visible);
        }
        self.calls += 1;
        let id = self.choices.below(self.module.functions.len());
        let callee = &self.module.functions[id];
        let types: Vec<ValueTy> =
            callee.params.iter().map(|param| callee.types[param.0 as usize]).collect();
        let results = callee.results.clone();
        let mut args = Vec::new();
        for ty in types {
            args.push(match ty {
                ValueTy::Scalar(ty) => self.scalar(body, visible, ty),
                ValueTy::Array(ty) => {
                    let known = visible.arrays.iter().filter(|array| array.ty == ty);
                    let known: Vec<Value> = known.map(|array| array.value).collect();
                    if known.is_empty() {
                        // A function without arrays of this type has nothing to give.
                        return self.binary(body, visible);
                    }
                    self.choices.pick(&known)
                }
                ValueTy::Mark => unreachable!("a mark is not a parameter"),
            });
        }
        // It counts down from its first argument.
        let most = body.i64(15);
        args[0] = body.binary(Binary::And, args[0], most);
        let values = body.call(FunctionId(id as u32), args, &results);
        for (value, ty) in values.into_iter().zip(results) {
            if let ValueTy::Scalar(ty) = ty {
                visible.scalars.push((value, ty));
            }
        }
    }

    fn service(&mut self, body: &mut Body, visible: &mut Visible) {
        if self.choices.below(2) == 0 {
            let arrays = visible.arrays.iter().filter(|array| array.ty != Ty::Bool);
            let arrays: Vec<Known> = arrays.copied().collect();
            if arrays.is_empty() {
                return self.binary(body, visible);
            }
            let keys = self.choices.pick(&arrays);
            let count = body.i64(keys.length);
            let out = body.alloc(Ty::I64, count);
            let service = self.choices.pick(&[Extern::RankUp, Extern::RankDown]);
            body.service(service, vec![keys.value, count, out]);
            visible.arrays.push(Known { value: out, ty: Ty::I64, length: keys.length, own: true });
        } else {
            let room = body.i64(32);
            let text = body.alloc(Ty::U8, room);
            let x = self.scalar(body, visible, Ty::F64);
            let length = body.service(Extern::FloatText, vec![x, text])[0];
            let parsed = body.service(Extern::ParseFloat, vec![text, length]);
            visible.scalars.extend([
                (length, Ty::I64),
                (parsed[0], Ty::F64),
                (parsed[1], Ty::Bool),
            ]);
            visible.arrays.push(Known { value: text, ty: Ty::U8, length: 3, own: false });
        }
    }

    /// Some steps whose arrays are let go of but for some.
    fn compact(&mut self, body: &mut Body, visible: &mut Visible) {
        if self.nested > 3 {
            return self.alloc(body, visible);
        }
        let mark = body.mark();
        let old = visible.arrays.len();
        self.nested += 1;
        self.steps(body, visible, 8);
        self.nested -= 1;
        let young = visible.arrays.split_off(old);
        let mut kept = Vec::new();
        for array in young {
            if self.choices.below(2) == 0 {
                kept.push(array);
            }
        }
        let keep = kept.iter().map(|array| (array.value, body.i64(array.length))).collect();
        let moved = body.compact(mark, keep);
        let arrays = kept.into_iter().zip(moved);
        // Two of them may have been one.
        visible.arrays.extend(arrays.map(|(array, value)| Known { value, own: false, ..array }));
    }

    /// Mostly something else, as checks seldom hold.
    fn check(&mut self, body: &mut Body, visible: &mut Visible) {
        if self.choices.below(6) < 5 {
            return self.comparison(body, visible);
        }
        let cond = self.scalar(body, visible, Ty::Bool);
        let other = self.scalar(body, visible, Ty::Bool);
        let cond = body.binary(Binary::Or, cond, other);
        let detail = (0..self.choices.below(3)).map(|_| self.scalar(body, visible, Ty::I64));
        let detail = detail.collect();
        let site = Site(self.choices.below(100) as u32);
        body.check(cond, site, detail);
    }

    /// A combination whose result does not depend on grouping.
    fn combination(&mut self) -> (Combine, Ty) {
        let combine = self.choices.pick(Combine::ALL);
        let ty = match combine {
            Combine::Add | Combine::Mul => self.choices.pick(&[Ty::I64, Ty::I32]),
            Combine::Min | Combine::Max => {
                self.choices.pick(&[Ty::I64, Ty::F64, Ty::I32, Ty::F32, Ty::U8])
            }
            Combine::And | Combine::Or | Combine::Xor => {
                self.choices.pick(&[Ty::I64, Ty::Bool, Ty::I32])
            }
        };
        (combine, ty)
    }

    /// An element for such a combination.
    fn element(&mut self, body: &mut Body, visible: &Visible) -> (Combine, Value, Ty) {
        let (combine, ty) = self.combination();
        let value = self.scalar(body, visible, ty);
        (combine, positive_zero(body, value), ty)
    }
}

/// Of which sign the least or greatest zero is, is free: no float is the negative zero.
fn positive_zero(body: &mut Body, value: Value) -> Value {
    let ty = body.element(value);
    if !ty.is_float() {
        return value;
    }
    let zero = body.literal(Literal::zero(ty));
    body.binary(Binary::Add, value, zero)
}

/// The parameters of a space; whether it has segments.
fn head(kernel: &mut KernelBuilder, shape: &Shape, args: &mut Vec<Input>) -> (Space, bool) {
    // The case knows how a space is described.
    args.extend(shape.case("", &[], &[], "").args);
    let count = kernel.param(ValueTy::Scalar(Ty::I64));
    match shape.kind {
        Kind::Flat => {
            kernel.param(ValueTy::Scalar(Ty::I64));
            (Space::Flat { count }, false)
        }
        Kind::Regular => {
            let length = kernel.param(ValueTy::Scalar(Ty::I64));
            (Space::Regular { segments: count, length }, true)
        }
        Kind::Segmented => {
            let offsets = kernel.param(ValueTy::Array(Ty::I64));
            (Space::Segmented { segments: count, offsets }, true)
        }
    }
}

/// An array that a kernel reads.
fn given(ty: Ty) -> Data {
    let numbers = (0..GIVEN).map(|i| i * 29 % 17 - 5);
    match ty {
        Ty::I32 => Data::from(numbers.map(|x| x as i32 * 100).collect::<Vec<i32>>()),
        Ty::I64 => Data::from(numbers.map(|x| x * 1_000_000_007).collect::<Vec<i64>>()),
        Ty::F32 => Data::from(numbers.map(|x| x as f32 / 4.0).collect::<Vec<f32>>()),
        Ty::F64 => Data::from(numbers.map(|x| x as f64 / 7.0).collect::<Vec<f64>>()),
        Ty::Bool => Data::from(numbers.map(|x| x % 3 == 0).collect::<Vec<bool>>()),
        Ty::U8 => Data::from(numbers.map(|x| x as u8).collect::<Vec<u8>>()),
    }
}

fn zeros(ty: Ty, length: usize) -> Data {
    Data::from_bytes(ty, &vec![0; length * ty.size()])
}
