//! Random numbers and hashes: [`nesl_runtime::random`] as kir.
//!
//! Philox is long, so it is a function that generated code calls, made when a program needs it.

use super::function::{FunctionLowering, Helper};
use crate::ir::Site;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir::{Binary, Body, Function, FunctionBuilder, Literal, Ty, Value, ValueTy};

const WORD: ValueTy = ValueTy::Scalar(Ty::I64);

impl FunctionLowering<'_> {
    /// Returns the key of a child: `split` of a key and the child's number.
    pub(super) fn split(&mut self, key: Value, child: Value) -> Value {
        let bits = self.random_bits(key, child, 1);
        self.body.convert(self.int_ty(), bits[1])
    }

    /// Lowers `rand`: a uniform number in `[0, bound)` drawn with a key.
    pub(super) fn rand(&mut self, key: Value, bound: Value, site: Site) -> Value {
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
        let seed = self.seed();
        let bits = self.random_bits(seed, key, 2);
        match ty {
            Ty::F64 => self.uniform(bits[0], bound, 11, -53, Ty::I64),
            Ty::F32 => self.uniform(bits[0], bound, 40, -24, Ty::I32),
            Ty::I32 | Ty::I64 | Ty::Bool | Ty::U8 => {
                let wide = self.body.convert(Ty::I64, bound);
                let number = uniform_int(&mut self.body, bits[0], bits[1], wide);
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

    /// Returns 128 random bits, the high word first.
    fn random_bits(&mut self, key: Value, counter: Value, purpose: i64) -> Vec<Value> {
        let key = self.body.convert(Ty::I64, key);
        let counter = self.body.convert(Ty::I64, counter);
        let purpose = self.body.i64(purpose);
        let function = self.helper(Helper::Philox, philox);
        self.body.call(function, vec![key, counter, purpose], &[WORD, WORD])
    }

    /// Lowers `mix`: a hash of two ints.
    pub(super) fn mix(&mut self, a: Value, b: Value) -> Value {
        let (a, b) = (self.body.convert(Ty::I64, a), self.body.convert(Ty::I64, b));
        let body = &mut self.body;
        let step = body.i64(0x9e37_79b9_7f4a_7c15_u64 as i64);
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
    let carry = high_product(body, low, bound);
    let top = high_product(body, high, bound);
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

/// Returns the high word of the product of two unsigned words.
fn high_product(body: &mut Body, a: Value, b: Value) -> Value {
    let half = body.i64(32);
    let mask = body.i64(0xffff_ffff);
    let (ah, al) = (body.binary(Binary::ShrZero, a, half), body.binary(Binary::And, a, mask));
    let (bh, bl) = (body.binary(Binary::ShrZero, b, half), body.binary(Binary::And, b, mask));
    let low = body.binary(Binary::Mul, al, bl);
    let cross = body.binary(Binary::Mul, ah, bl);
    let other = body.binary(Binary::Mul, al, bh);
    let high = body.binary(Binary::Mul, ah, bh);
    let carry = body.binary(Binary::ShrZero, low, half);
    let cross = body.binary(Binary::Add, cross, carry);
    let cross_low = body.binary(Binary::And, cross, mask);
    let middle = body.binary(Binary::Add, other, cross_low);
    let cross = body.binary(Binary::ShrZero, cross, half);
    let middle = body.binary(Binary::ShrZero, middle, half);
    let high = body.binary(Binary::Add, high, cross);
    body.binary(Binary::Add, high, middle)
}

/// Returns the helper for Philox4x32-10 (Salmon et al., *Parallel random numbers: as easy as 1, 2,
/// 3*, SC 2011) of a key, a counter and a purpose: `(high, low)`.
fn philox(name: &str) -> Function {
    let mut function = FunctionBuilder::new(name);
    let params: Vec<Value> = (0..3).map(|_| function.param(WORD)).collect();
    let body = &mut function.body;
    let mask = body.i64(0xffff_ffff);
    let half = body.i64(32);
    let low = |body: &mut Body, x| body.binary(Binary::And, x, mask);
    let high = |body: &mut Body, x| body.binary(Binary::ShrZero, x, half);
    let mut key = [low(body, params[0]), high(body, params[0])];
    let zero = body.i64(0);
    let mut counter = [low(body, params[1]), high(body, params[1]), params[2], zero];
    for round in 0..10 {
        if round > 0 {
            for (key, step) in key.iter_mut().zip([0x9e37_79b9, 0xbb67_ae85]) {
                let step = body.i64(step);
                *key = body.binary(Binary::Add, *key, step);
                *key = low(body, *key);
            }
        }
        let (first, second) = (body.i64(0xd251_1f53), body.i64(0xcd9e_8d57));
        let a = body.binary(Binary::Mul, counter[0], first);
        let b = body.binary(Binary::Mul, counter[2], second);
        let (a_high, b_high) = (high(body, a), high(body, b));
        let left = body.binary(Binary::Xor, b_high, counter[1]);
        let right = body.binary(Binary::Xor, a_high, counter[3]);
        counter = [
            body.binary(Binary::Xor, left, key[0]),
            low(body, b),
            body.binary(Binary::Xor, right, key[1]),
            low(body, a),
        ];
    }
    let word = |body: &mut Body, high, low| {
        let high = body.binary(Binary::Shl, high, half);
        body.binary(Binary::Or, high, low)
    };
    let result = vec![word(body, counter[3], counter[2]), word(body, counter[1], counter[0])];
    function.finish(result)
}
