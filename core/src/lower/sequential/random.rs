//! Random numbers and hashes: [`nesl_runtime::random`] as kir.

use super::function::FunctionLowering;
use crate::ir::Site;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir::{Binary, Body, Literal, Ty, Value};
use nesl_runtime::random::{GOLDEN, MULTIPLIER, ROUNDS};

impl FunctionLowering<'_> {
    /// Lowers `split_key`: the key of a call or nest, from a source.
    pub(super) fn split(&mut self, source: &[Value]) -> Value {
        let [key, index, number] = self.words(source);
        let ones = self.body.i64(-1);
        let number = self.body.binary(Binary::Xor, number, ones);
        let [_, high] = philox(&mut self.body, key, [index, number]);
        self.body.convert(self.int_ty(), high)
    }

    /// Lowers `rand`: a uniform number in `[0, bound)`, drawn from a source.
    pub(super) fn rand(&mut self, args: &[Value], site: Site) -> Value {
        let bound = args[3];
        let ty = self.body.element(bound);
        let zero = self.body.literal(Literal::zero(ty));
        let positive = self.body.binary(Binary::Gt, bound, zero);
        let mut fine = positive;
        if ty.is_float() {
            let infinity = self.float_like(bound, f64::INFINITY);
            let finite = self.body.binary(Binary::Lt, bound, infinity);
            fine = self.body.binary(Binary::And, positive, finite);
        }
        self.check(fine, FaultCode::RandBound, site);
        let [key, index, number] = self.words(&args[..3]);
        let seed = self.mixed_seed();
        let key = self.body.binary(Binary::Xor, key, seed);
        let [low, high] = philox(&mut self.body, key, [index, number]);
        match ty {
            Ty::F64 => self.uniform(high, bound, 11, -53, Ty::I64),
            Ty::F32 => self.uniform(high, bound, 40, -24, Ty::I32),
            Ty::I32 | Ty::I64 | Ty::Bool | Ty::U8 => {
                let wide = self.body.convert(Ty::I64, bound);
                let number = uniform_int(&mut self.body, high, low, wide);
                self.body.convert(ty, number)
            }
        }
    }

    /// Returns the leading bits of a word as a fraction of a bound.
    fn uniform(&mut self, word: Value, bound: Value, drop: i64, scale: i32, bits: Ty) -> Value {
        let count = self.body.i64(drop);
        let leading = self.body.binary(Binary::ShrZero, word, count);
        let number = self.body.convert(self.float_ty(), leading);
        let scale = self.float_like(bound, f64::powi(2.0, scale));
        let unit = self.body.binary(Binary::Mul, number, scale);
        let product = self.body.binary(Binary::Mul, unit, bound);
        // The float below a positive one has the bits below.
        let pattern = self.body.bits(bits, bound);
        let one = self.body.i64(1);
        let one = self.body.convert(bits, one);
        let pattern = self.body.binary(Binary::Sub, pattern, one);
        let limit = self.body.bits(self.float_ty(), pattern);
        let below = self.body.binary(Binary::Lt, product, limit);
        self.body.select(below, product, limit)
    }

    /// The words of a source: key, index and number.
    fn words(&mut self, source: &[Value]) -> [Value; 3] {
        [0, 1, 2].map(|at| self.body.convert(Ty::I64, source[at]))
    }

    /// Lowers `mix`: a hash of two ints.
    pub(super) fn mix(&mut self, a: Value, b: Value) -> Value {
        let (a, b) = (self.body.convert(Ty::I64, a), self.body.convert(Ty::I64, b));
        let body = &mut self.body;
        let step = body.i64(GOLDEN as i64);
        let b = body.binary(Binary::Add, b, step);
        let b = finalise(body, b);
        let factor = body.i64(0xd6e8_feb8_6659_fd93_u64 as i64);
        let a = body.binary(Binary::Mul, a, factor);
        let (left, right) = (body.i64(23), body.i64(41));
        let high = body.binary(Binary::Shl, b, left);
        let low = body.binary(Binary::ShrZero, b, right);
        let b = body.binary(Binary::Or, high, low);
        let both = body.binary(Binary::Xor, a, b);
        let mixed = finalise(body, both);
        let ty = self.int_ty();
        self.body.convert(ty, mixed)
    }
}

fn finalise(body: &mut Body, mut x: Value) -> Value {
    let steps = [(30, 0xbf58_476d_1ce4_e5b9_u64), (27, 0x94d0_49bb_1331_11eb_u64), (31, 1)];
    for (shift, factor) in steps {
        let shift = body.i64(shift);
        let high = body.binary(Binary::ShrZero, x, shift);
        x = body.binary(Binary::Xor, x, high);
        let factor = body.i64(factor as i64);
        x = body.binary(Binary::Mul, x, factor);
    }
    x
}

/// Returns `bits · bound / 2¹²⁸` of 128 bits in two words: a uniform int below the bound.
fn uniform_int(body: &mut Body, high: Value, low: Value, bound: Value) -> Value {
    // high · bound + (low · bound >> 64), shifted by 64: the carry of the low words counts.
    let carry = body.binary(Binary::MulHigh, low, bound);
    let top = body.binary(Binary::MulHigh, high, bound);
    let bottom = body.binary(Binary::Mul, high, bound);
    let sum = body.binary(Binary::Add, bottom, carry);
    // It overflowed if the sum is below an operand, both taken without sign.
    let least = body.i64(i64::MIN);
    let (sum, bottom) =
        (body.binary(Binary::Xor, sum, least), body.binary(Binary::Xor, bottom, least));
    let over = body.binary(Binary::Lt, sum, bottom);
    let over = body.convert(Ty::I64, over);
    body.binary(Binary::Add, top, over)
}

/// Returns the low and the high word of the block of Philox2x64-10 (Salmon et al., *Parallel random
/// numbers: as easy as 1, 2, 3*, SC 2011) for a key and a counter.
fn philox(body: &mut Body, mut key: Value, counter: [Value; 2]) -> [Value; 2] {
    let (step, factor) = (body.i64(GOLDEN as i64), body.i64(MULTIPLIER as i64));
    let [mut first, mut second] = counter;
    for round in 0..ROUNDS {
        if round > 0 {
            key = body.binary(Binary::Add, key, step);
        }
        let high = body.binary(Binary::MulHigh, first, factor);
        let low = body.binary(Binary::Mul, first, factor);
        let mixed = body.binary(Binary::Xor, high, key);
        first = body.binary(Binary::Xor, mixed, second);
        second = low;
    }
    [first, second]
}
