//! Random lawful modules, for comparing runtimes with each other.
//!
//! Everything is chosen by a list of bytes, so that a test that draws bytes finds small modules
//! when it shrinks them, and a fuzzer can be put to work. When the bytes are used up, nothing
//! more is added.
//!
//! A module terminates, is well-formed, disturbs no work item, and is deterministic: floats are reduced only
//! with `min` and `max`, of numbers that are not the negative zero, and no bits of a NaN are
//! looked at. Checks may fail.

use super::spaces::{Kind, Shape, small};
use super::{Data, Input};
use crate::kir::{
    Binary, Body, Combine, FunctionBuilder, FunctionId, KernelBuilder, Literal, Module, Scope,
    Sink, Space, Ty, Value, ValueTy,
};

mod loops;
mod step;

/// A module and how to launch its only kernel.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The generated module.
    pub module: Module,
    /// The arguments of its kernel.
    pub args: Vec<Input>,
    /// The numbers of the parameters that are written.
    pub written: Vec<usize>,
}

/// The module that these bytes choose; with functions that call themselves and arrays that
/// work items allocate only if `recursion` is set.
pub fn generate(bytes: &[u8], recursion: bool) -> Generated {
    let choices = Choices { bytes, at: 0 };
    let mut generator = Generator {
        choices,
        recursion,
        module: Module::default(),
        loops: 0,
        calls: 0,
        nested: 0,
        wide: None,
    };
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
    /// True if it is private to the work item, and this its only name.
    own: bool,
}

/// The values in scope.
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
    /// In a kernel, the index of the point, and arrays that have an element for each point and
    /// some more.
    wide: Option<(Value, [(Value, Ty); 2])>,
}

/// The length of the arrays a kernel is given.
const GIVEN: i64 = 16;

/// The number of elements that wide arrays have beyond one for each index.
const MORE: i64 = 40;

/// The most elements of a row that is added to a table.
const ROW: i64 = 20;

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
            args.push(Input::Array(numbers(*ty, GIVEN)));
            visible.arrays.push(Known { value, ty: *ty, length: GIVEN, own: false });
        }
        let length = shape.points() as i64 + MORE;
        let wide = [Ty::F64, Ty::I32].map(|ty| {
            args.push(Input::Array(numbers(ty, length)));
            (kernel.param(ValueTy::Array(ty)), ty)
        });
        let point = kernel.over(space);
        let index = point[point.len() - 1];
        self.wide = Some((index, wide));
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
                let row = self.row(visible);
                let (combine, value, ty, length) = match row {
                    Some((row, combine)) => {
                        let length = self.index(&mut kernel.body, visible, row.length.min(ROW) + 1);
                        (combine, row.value, row.ty, Some(length))
                    }
                    None => {
                        let (combine, value, ty) = self.element(&mut kernel.body, visible);
                        (combine, value, ty, None)
                    }
                };
                let index = self.index(&mut kernel.body, visible, 5);
                let when = self.when(kernel, visible);
                let array = target(kernel, Input::Array(zeros(ty, 5 + ROW as usize)));
                kernel.sink(Sink::Histogram { array, combine, index, value, length, when });
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

    /// An array whose elements combine to the same in any grouping, and how.
    fn row(&mut self, visible: &Visible) -> Option<(Known, Combine)> {
        if visible.arrays.is_empty() || self.choices.below(2) == 0 {
            return None;
        }
        let row = self.choices.pick(&visible.arrays);
        let combine = match row.ty {
            Ty::I32 | Ty::I64 => Combine::Add,
            Ty::Bool => Combine::Or,
            Ty::U8 => Combine::Max,
            Ty::F32 | Ty::F64 => return None,
        };
        Some((row, combine))
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
fn numbers(ty: Ty, length: i64) -> Data {
    let numbers = (0..length).map(|i| i * 29 % 17 - 5);
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
