//! Scalar operations, with the checks that the language prescribes.

use super::function::FunctionLowering;
use crate::ir::Site;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir::{Binary, Literal, Ty, Unary, Value};
use nesl_runtime::scalar::{Precision, ScalarOp};

impl FunctionLowering<'_> {
    /// Lowers an operation on scalars; [`nesl_runtime::scalar`] defines its meaning.
    pub(super) fn scalar(&mut self, op: ScalarOp, args: &[Value], site: Site) -> Value {
        let a = args[0];
        let ty = self.body.element(a);
        let second = || args[1];
        match op {
            ScalarOp::Add => self.body.binary(Binary::Add, a, second()),
            ScalarOp::Sub => self.body.binary(Binary::Sub, a, second()),
            ScalarOp::Mul => self.body.binary(Binary::Mul, a, second()),
            ScalarOp::Div if ty.is_float() => self.body.binary(Binary::Div, a, second()),
            ScalarOp::Div => self.divide(a, second(), site),
            ScalarOp::Rem => {
                self.nonzero(second(), FaultCode::RemByZero, site);
                self.body.binary(Binary::Rem, a, second())
            }
            ScalarOp::Mod => self.modulo(a, second(), site),
            // The negative of 0.0 is 0.0.
            ScalarOp::Neg => {
                let zero = self.body.literal(Literal::zero(ty));
                self.body.binary(Binary::Sub, zero, a)
            }
            ScalarOp::Abs => self.body.unary(Unary::Abs, a),
            ScalarOp::Max => self.choose(Binary::Gt, Binary::Max, a, second()),
            ScalarOp::Min => self.choose(Binary::Lt, Binary::Min, a, second()),
            ScalarOp::Eq => self.body.binary(Binary::Eq, a, second()),
            ScalarOp::Ne => self.body.binary(Binary::Ne, a, second()),
            ScalarOp::Lt => self.body.binary(Binary::Lt, a, second()),
            ScalarOp::Le => self.body.binary(Binary::Le, a, second()),
            ScalarOp::Gt => self.body.binary(Binary::Gt, a, second()),
            ScalarOp::Ge => self.body.binary(Binary::Ge, a, second()),
            ScalarOp::Not => self.body.unary(Unary::Not, a),
            ScalarOp::And => self.body.binary(Binary::And, a, second()),
            ScalarOp::Or => self.body.binary(Binary::Or, a, second()),
            ScalarOp::Xor => self.body.binary(Binary::Xor, a, second()),
            ScalarOp::Shl => self.shift(Binary::Shl, a, second(), site),
            ScalarOp::Shr => self.shift(Binary::Shr, a, second(), site),
            ScalarOp::Sqrt => {
                self.not_negative(a, FaultCode::SqrtNegative, site);
                self.body.unary(Unary::Sqrt, a)
            }
            ScalarOp::Ln => {
                self.not_negative(a, FaultCode::LnNegative, site);
                self.math(op, a)
            }
            ScalarOp::Exp
            | ScalarOp::Sin
            | ScalarOp::Cos
            | ScalarOp::Tan
            | ScalarOp::Asin
            | ScalarOp::Acos
            | ScalarOp::Atan
            | ScalarOp::Sinh
            | ScalarOp::Cosh
            | ScalarOp::Tanh => self.math(op, a),
            ScalarOp::Floor => self.rounded(Unary::Floor, a, site),
            ScalarOp::Ceil => self.rounded(Unary::Ceil, a, site),
            ScalarOp::Trunc => self.rounded(Unary::Trunc, a, site),
            ScalarOp::Round => self.round(a, site),
            ScalarOp::ToFloat => self.body.convert(self.float_ty(), a),
            ScalarOp::BoolToInt | ScalarOp::CharToInt => self.body.convert(self.int_ty(), a),
            ScalarOp::IntToChar => {
                let low = self.at_least(a, 0);
                let limit = self.int(256);
                let high = self.body.binary(Binary::Lt, a, limit);
                let fits = self.body.binary(Binary::And, low, high);
                self.check(fits, FaultCode::CodeChar, site);
                self.body.convert(Ty::U8, a)
            }
            ScalarOp::FloatBits => self.float_bits(a),
            ScalarOp::Mix => self.mix(a, second()),
            ScalarOp::Split => self.split(args),
            ScalarOp::Rand => self.rand(args, site),
        }
    }

    /// Returns a constant NESL int.
    pub(super) fn int(&mut self, x: i64) -> Value {
        let literal = match self.precision {
            Precision::Bits64 => Literal::I64(x),
            Precision::Bits32 => Literal::I32(x as i32),
        };
        self.body.literal(literal)
    }

    /// Returns a constant of the same float type as another value.
    pub(super) fn float_like(&mut self, like: Value, x: f64) -> Value {
        let literal = match self.body.element(like) {
            Ty::F32 => Literal::F32((x as f32).to_bits()),
            _ => Literal::F64(x.to_bits()),
        };
        self.body.literal(literal)
    }

    /// Tests `a ≥ x`.
    fn at_least(&mut self, a: Value, x: i64) -> Value {
        let x = self.int(x);
        self.body.binary(Binary::Ge, a, x)
    }

    /// Faults if a divisor is 0.
    fn nonzero(&mut self, b: Value, code: FaultCode, site: Site) {
        if self.divides_safely(b) {
            return;
        }
        let zero = self.int(0);
        let fine = self.body.binary(Binary::Ne, b, zero);
        self.check(fine, code, site);
    }

    /// Returns true for a divisor that is known to be neither 0 nor -1, which can neither fault nor overflow.
    fn divides_safely(&self, b: Value) -> bool {
        match self.body.constant(b) {
            Some(Literal::I64(x)) => x != 0 && x != -1,
            Some(Literal::I32(x)) => x != 0 && x != -1,
            _ => self.positive.contains(&b),
        }
    }

    fn divide(&mut self, a: Value, b: Value, site: Site) -> Value {
        self.nonzero(b, FaultCode::DivideByZero, site);
        if !self.divides_safely(b) {
            let least = self.int(self.precision.min_int());
            let minus = self.int(-1);
            let other = self.body.binary(Binary::Ne, a, least);
            let divisor = self.body.binary(Binary::Ne, b, minus);
            let fine = self.body.binary(Binary::Or, other, divisor);
            self.check(fine, FaultCode::IntegerOverflow, site);
        }
        self.body.binary(Binary::Div, a, b)
    }

    /// Lowers `mod`: the remainder with the sign of the divisor.
    fn modulo(&mut self, a: Value, b: Value, site: Site) -> Value {
        let constant = match self.body.constant(b) {
            Some(Literal::I64(divisor)) => Some(divisor),
            Some(Literal::I32(divisor)) => Some(i64::from(divisor)),
            _ => None,
        };
        let positive = constant.filter(|divisor| *divisor > 0);
        if let Some(divisor) = positive.filter(|divisor| divisor.count_ones() == 1) {
            // The last bits of a negative number are those of the remainder that is not negative.
            let mask = self.int(divisor - 1);
            return self.body.binary(Binary::And, a, mask);
        }
        self.nonzero(b, FaultCode::ModByZero, site);
        let rest = self.body.binary(Binary::Rem, a, b);
        let zero = self.int(0);
        if positive.is_some() {
            let low = self.body.binary(Binary::Lt, rest, zero);
            let moved = self.body.binary(Binary::Add, rest, b);
            return self.body.select(low, moved, rest);
        }
        let some = self.body.binary(Binary::Ne, rest, zero);
        let low = self.body.binary(Binary::Lt, rest, zero);
        let divisor = self.body.binary(Binary::Lt, b, zero);
        let differ = self.body.binary(Binary::Xor, low, divisor);
        let below = self.body.binary(Binary::And, some, differ);
        let moved = self.body.binary(Binary::Add, rest, b);
        self.body.select(below, moved, rest)
    }

    /// Lowers `if a > b then a else b`, which is `b` if either is NaN; `op` is the integer operation.
    fn choose(&mut self, compare: Binary, op: Binary, a: Value, b: Value) -> Value {
        if !self.body.element(a).is_float() {
            return self.body.binary(op, a, b);
        }
        let first = self.body.binary(compare, a, b);
        self.body.select(first, a, b)
    }

    fn shift(&mut self, op: Binary, a: Value, count: Value, site: Site) -> Value {
        let low = self.at_least(count, 0);
        let width = self.int(i64::from(self.precision.bits()));
        let high = self.body.binary(Binary::Lt, count, width);
        let fits = self.body.binary(Binary::And, low, high);
        self.check(fits, FaultCode::ShiftCount, site);
        self.body.binary(op, a, count)
    }

    fn not_negative(&mut self, a: Value, code: FaultCode, site: Site) {
        let zero = self.float_like(a, 0.0);
        let negative = self.body.binary(Binary::Lt, a, zero);
        let fine = self.body.unary(Unary::Not, negative);
        self.check(fine, code, site);
    }

    /// Rounds a float and converts it to an int; faults if it does not fit.
    fn rounded(&mut self, how: Unary, a: Value, site: Site) -> Value {
        let whole = self.body.unary(how, a);
        self.whole_to_int(whole, site)
    }

    /// Converts a float without fraction to an int; faults if it does not fit.
    fn whole_to_int(&mut self, whole: Value, site: Site) -> Value {
        // Both bounds are powers of two, hence exact.
        let limit = f64::powi(2.0, self.precision.bits() as i32 - 1);
        let (low, high) = (self.float_like(whole, -limit), self.float_like(whole, limit));
        let above = self.body.binary(Binary::Ge, whole, low);
        let below = self.body.binary(Binary::Lt, whole, high);
        let fits = self.body.binary(Binary::And, above, below);
        self.check(fits, FaultCode::FloatToInt, site);
        self.body.convert(self.int_ty(), whole)
    }

    /// Lowers `round`: to nearest, halves away from zero.
    fn round(&mut self, a: Value, site: Site) -> Value {
        let down = self.body.unary(Unary::Trunc, a);
        let rest = self.body.binary(Binary::Sub, a, down);
        let rest = self.body.unary(Unary::Abs, rest);
        let half = self.float_like(a, 0.5);
        let away = self.body.binary(Binary::Ge, rest, half);
        let (one, minus, zero) =
            (self.float_like(a, 1.0), self.float_like(a, -1.0), self.float_like(a, 0.0));
        let negative = self.body.binary(Binary::Lt, a, zero);
        let step = self.body.select(negative, minus, one);
        let moved = self.body.binary(Binary::Add, down, step);
        let whole = self.body.select(away, moved, down);
        self.whole_to_int(whole, site)
    }

    /// Lowers the bits of a float: one pattern for both zeros, one for all NaNs.
    fn float_bits(&mut self, a: Value) -> Value {
        let zero = self.float_like(a, 0.0);
        let is_zero = self.body.binary(Binary::Eq, a, zero);
        let number = self.body.binary(Binary::Eq, a, a);
        let nan = self.float_like(a, f64::NAN);
        let a = self.body.select(is_zero, zero, a);
        let a = self.body.select(number, a, nan);
        self.body.bits(self.int_ty(), a)
    }
}
