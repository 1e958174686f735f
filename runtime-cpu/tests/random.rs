//! Random kernels on this runtime and on the reference interpreter: elementwise code of all
//! types, branches, loops, loads, checks, and a sink or two, over sizes that leave remainders.
//! Floats are compared bit by bit (NaNs are one): what is reduced are ints.

use nesl_runtime::kir::reference::Reference;
use nesl_runtime::kir::*;
use nesl_runtime::runtime::{Options, Runtime};
use nesl_runtime::testkit::{Data, Input, differ};
use nesl_runtime_cpu::Cpu;

const TYPES: [Ty; 6] = [Ty::I32, Ty::I64, Ty::F32, Ty::F64, Ty::Bool, Ty::U8];

/// A source of choices.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// Makes the code of a kernel over a flat space of `size` points with arrays of that length.
struct Maker {
    rng: Rng,
    types: Vec<Ty>,
    /// Scalars that are there, in blocks.
    scalars: Vec<Value>,
    index: Value,
    size: Value,
    inputs: Vec<Value>,
    checks: bool,
}

impl Maker {
    fn literal(&mut self, ty: Ty) -> Literal {
        let small = self.rng.below(7) as i64 - 2;
        match ty {
            Ty::I32 => Literal::I32(self.rng.pick(&[small as i32, 100, i32::MIN, i32::MAX])),
            Ty::I64 => Literal::I64(self.rng.pick(&[small, 1000, i64::MIN, i64::MAX])),
            Ty::F32 => Literal::F32((small as f32 * 0.75).to_bits()),
            Ty::F64 => Literal::F64((small as f64 * 0.75).to_bits()),
            Ty::Bool => Literal::Bool(small > 0),
            Ty::U8 => Literal::U8(small as u8),
        }
    }

    /// A scalar of a type: one that is there, or a constant.
    fn some(&mut self, b: &mut Body, ty: Ty) -> Value {
        let fit: Vec<Value> =
            self.scalars.iter().copied().filter(|v| b.ty(*v) == ValueTy::Scalar(ty)).collect();
        if fit.is_empty() || self.rng.below(8) == 0 {
            let literal = self.literal(ty);
            return b.literal(literal);
        }
        // Later ones more often.
        let at = self.rng.below(fit.len()).max(self.rng.below(fit.len()));
        fit[at]
    }

    fn step(&mut self, b: &mut Body, depth: usize) {
        let ty = self.rng.pick(&self.types.clone());
        let made = match self.rng.below(if depth == 0 { 11 } else { 15 }) {
            0 => {
                let ops: &[Unary] = match ty {
                    Ty::I32 | Ty::I64 => &[Unary::Neg, Unary::Abs, Unary::Not],
                    Ty::F32 | Ty::F64 => &[
                        Unary::Neg,
                        Unary::Abs,
                        Unary::Sqrt,
                        Unary::Floor,
                        Unary::Ceil,
                        Unary::Trunc,
                        Unary::Nearest,
                    ],
                    Ty::Bool => &[Unary::Not],
                    Ty::U8 => return,
                };
                let (op, a) = (self.rng.pick(ops), self.some(b, ty));
                b.unary(op, a)
            }
            1..=4 => {
                use Binary::*;
                let ops: &[Binary] = match ty {
                    Ty::I32 | Ty::I64 => {
                        &[Add, Sub, Mul, Div, Rem, Min, Max, And, Or, Xor, Shl, Shr, ShrZero]
                    }
                    Ty::F32 | Ty::F64 => &[Add, Sub, Mul, Div],
                    Ty::Bool => &[And, Or, Xor],
                    Ty::U8 => &[Min, Max],
                };
                let (op, a, c) = (self.rng.pick(ops), self.some(b, ty), self.some(b, ty));
                b.binary(op, a, c)
            }
            5 => {
                use Binary::*;
                let op = self.rng.pick(&[Eq, Ne, Lt, Le, Gt, Ge]);
                let (a, c) = (self.some(b, ty), self.some(b, ty));
                b.binary(op, a, c)
            }
            6 => {
                let cond = self.some(b, Ty::Bool);
                let (a, c) = (self.some(b, ty), self.some(b, ty));
                b.select(cond, a, c)
            }
            7 => {
                let from = self.rng.pick(&self.types.clone());
                if from.is_float() && !(ty.is_float() || ty.is_int()) {
                    return;
                }
                let a = self.some(b, from);
                b.convert(ty, a)
            }
            8 if ty.is_float() => {
                let (x, y, z) = (self.some(b, ty), self.some(b, ty), self.some(b, ty));
                b.fma(x, y, z)
            }
            8 => return,
            9 => {
                let array = self.rng.pick(&self.inputs.clone());
                b.load(array, self.index)
            }
            10 => {
                // An index made from anything.
                let array = self.rng.pick(&self.inputs.clone());
                let any = self.some(b, Ty::I64);
                let zero = b.i64(0);
                let one = b.i64(1);
                let last = b.binary(Binary::Sub, self.size, one);
                let low = b.binary(Binary::Max, any, zero);
                let index = b.binary(Binary::Min, low, last);
                b.load(array, index)
            }
            11 | 12 => {
                let cond = self.some(b, Ty::Bool);
                let known = self.scalars.len();
                b.begin();
                self.steps(b, depth - 1);
                let x = self.some(b, ty);
                let then = b.end(vec![x]);
                self.scalars.truncate(known);
                b.begin();
                self.steps(b, depth - 1);
                let y = self.some(b, ty);
                let otherwise = b.end(vec![y]);
                self.scalars.truncate(known);
                b.push(Op::If { cond, then, otherwise }, &[ValueTy::Scalar(ty)])[0]
            }
            13 => {
                // As often as a number modulo 5 says, which may differ between points.
                let five = b.i64(5);
                let any = self.some(b, Ty::I64);
                let count = b.binary(Binary::Rem, any, five);
                let init = self.some(b, ty);
                let int = self.rng.pick(&[Ty::I32, Ty::I64]);
                let known = self.scalars.len();
                let reduce = vec![self.rng.pick(&[Combine::Add, Combine::Max, Combine::Xor])];
                let results = b.count(count, vec![init], reduce, |b, k, carried| {
                    self.scalars.extend([k, carried[0]]);
                    self.steps(b, depth - 1);
                    vec![self.some(b, ty), self.some(b, int)]
                });
                self.scalars.truncate(known);
                self.scalars.push(results[1]);
                results[0]
            }
            _ => {
                // While a counter is below a number and something holds.
                let init = self.some(b, ty);
                let zero = b.i64(0);
                let known = self.scalars.len();
                let limit = self.some(b, Ty::I64);
                let four = b.i64(4);
                let limit = b.binary(Binary::Min, limit, four);
                let cell = std::cell::RefCell::new(self);
                let results = b.repeat_while(
                    vec![zero, init],
                    |b, carried| b.binary(Binary::Lt, carried[0], limit),
                    |b, carried| {
                        let mut maker = cell.borrow_mut();
                        maker.scalars.extend(carried);
                        maker.steps(b, depth - 1);
                        let next = maker.some(b, ty);
                        let one = b.i64(1);
                        vec![b.binary(Binary::Add, carried[0], one), next]
                    },
                );
                let maker = cell.into_inner();
                maker.scalars.truncate(known);
                maker.scalars.push(results[1]);
                return;
            }
        };
        self.scalars.push(made);
        if self.checks && self.rng.below(12) == 0 {
            let cond = self.some(b, Ty::Bool);
            let site = Site(self.scalars.len() as u32);
            let (a, known) = (self.some(b, Ty::I64), self.index);
            b.check(cond, site, vec![a, known]);
        }
    }

    fn steps(&mut self, b: &mut Body, depth: usize) {
        for _ in 0..1 + self.rng.below(5) {
            self.step(b, depth);
        }
    }
}

fn data(rng: &mut Rng, ty: Ty, size: usize) -> Data {
    let mut next = || rng.next();
    match ty {
        Ty::I32 => (0..size).map(|_| next() as i32 % 50).collect::<Vec<i32>>().into(),
        Ty::I64 => (0..size).map(|_| next() as i64 % 100 - 30).collect::<Vec<i64>>().into(),
        Ty::F32 => (0..size).map(|_| next() as i8 as f32 / 8.0).collect::<Vec<f32>>().into(),
        Ty::F64 => (0..size).map(|_| next() as i16 as f64 / 64.0).collect::<Vec<f64>>().into(),
        Ty::Bool => (0..size).map(|_| next() % 2 == 1).collect::<Vec<bool>>().into(),
        Ty::U8 => (0..size).map(|_| next() as u8).collect::<Vec<u8>>().into(),
    }
}

/// A random kernel with its arguments, and which of these it writes.
fn kernel(seed: u64) -> (Module, Vec<Input>, Vec<usize>) {
    let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..5 {
        rng.next();
    }
    let size = 1 + rng.below(60);
    let mut b = KernelBuilder::new("random");
    let count = b.param(ValueTy::Scalar(Ty::I64));
    let mut args = vec![Input::Scalar(Literal::I64(size as i64))];
    // Few types at once, that all kinds of lanes occur.
    let mut types = vec![Ty::I64, Ty::Bool];
    for _ in 0..1 + rng.below(3) {
        types.push(rng.pick(&TYPES));
    }
    let mut inputs = Vec::new();
    for ty in types.clone() {
        inputs.push(b.param(ValueTy::Array(ty)));
        args.push(Input::Array(data(&mut rng, ty, size)));
    }
    let index = b.over(Space::Flat { count })[0];
    let checks = rng.below(4) == 0;
    let mut maker = Maker { rng, types, scalars: vec![index], index, size: count, inputs, checks };
    for _ in 0..2 + maker.rng.below(8) {
        maker.step(&mut b.body, 2);
    }
    let mut written = Vec::new();
    // `params` have to be there before the code is made, but their order is free.
    for _ in 0..1 + maker.rng.below(2) {
        let ty = maker.rng.pick(&maker.types.clone());
        let value = maker.some(&mut b.body, ty);
        let out = b.param(ValueTy::Array(ty));
        written.push(args.len());
        args.push(Input::Room(ty, size));
        b.body.store(out, index, value);
    }
    let int = maker.some(&mut b.body, Ty::I64);
    let keep = maker.some(&mut b.body, Ty::Bool);
    let scalar = ValueTy::Scalar(Ty::I64);
    let out = |b: &mut KernelBuilder, args: &mut Vec<Input>, length: usize| {
        args.push(Input::Room(Ty::I64, length));
        b.param(ValueTy::Array(Ty::I64))
    };
    match maker.rng.below(5) {
        0 => {
            written.push(args.len());
            let total = out(&mut b, &mut args, 1);
            let (combine, scope) = (Combine::Add, Scope::All);
            b.sink(Sink::Reduce { scope, combine, value: int, out: Some(total), result: None });
        }
        1 => {
            written.push(args.len());
            let total = out(&mut b, &mut args, 1);
            written.push(args.len());
            let sums = out(&mut b, &mut args, size);
            let result = b.body.value(scalar);
            let (combine, scope) = (Combine::Max, Scope::All);
            b.sink(Sink::Scan { scope, combine, value: int, result, total: Some(total) });
            b.next_stage();
            let sum = b.body.binary(Binary::Xor, result, int);
            b.body.store(sums, index, sum);
        }
        2 => {
            written.push(args.len());
            let kept = out(&mut b, &mut args, 1);
            let column = out(&mut b, &mut args, size);
            let columns = vec![(int, column)];
            b.sink(Sink::Pack { keep, columns, count: kept, scope: Scope::All });
        }
        3 => {
            written.push(args.len());
            args.push(Input::Array(vec![7i64; size].into()));
            let array = b.param(ValueTy::Array(Ty::I64));
            let half = b.body.i64(2);
            let place = b.body.binary(Binary::Div, index, half);
            b.sink(Sink::Scatter { array, index: place, value: int, when: Some(keep) });
        }
        _ => {
            written.push(args.len());
            args.push(Input::Array(vec![7i64; size].into()));
            let array = b.param(ValueTy::Array(Ty::I64));
            let three = b.body.i64(3);
            let place = b.body.binary(Binary::Div, index, three);
            let combine = Combine::Min;
            let (index, length, when) = (place, None, Some(keep));
            b.sink(Sink::Histogram { array, combine, index, value: int, length, when });
        }
    }
    (Module { functions: vec![], kernels: vec![b.finish()] }, args, written)
}

#[test]
fn random_kernels() {
    let cases: u64 = std::env::var("NESL_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let reference = Reference::new(Options::default());
    let cpus = [(1, 20_000, 512), (3, 1, 512), (1, 20_000, 256), (1, 1, 128)].map(
        |(threads, grain, bits)| {
            Cpu::with_vectors(Options { threads, ..Options::default() }, grain, bits).unwrap()
        },
    );
    for seed in 0..cases {
        let (module, args, written) = kernel(seed);
        if let Err(why) = verify(&module) {
            panic!("seed {seed}: {why:?}\n{}", print(&module));
        }
        for cpu in &cpus {
            if let Err(why) = differ(&module, 0, &args, &written, &reference, cpu) {
                panic!("seed {seed}: {why}\n{}\n{args:?}", print(&module));
            }
        }
        assert_eq!(cpus[0].counters().bytes, 0);
    }
}
