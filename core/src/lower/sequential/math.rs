//! Mathematical functions as kir: the algorithms of [`nesl_runtime::math`], emitted once a module.

use super::function::{FunctionLowering, Helper};
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{
    Binary, Body, Function as KirFunction, FunctionBuilder, FunctionId, Literal, Op, Ty, Unary,
    Value, ValueTy,
};
use nesl_runtime::math::{self, Format, Function, Ops};
use nesl_runtime::scalar::ScalarOp;
use std::cell::RefCell;

impl FunctionLowering<'_> {
    /// Lowers a mathematical function of a float.
    pub(super) fn math(&mut self, op: ScalarOp, a: Value) -> Value {
        let ty = self.body.element(a);
        let meaning = op.function().or_bug("the operation is a mathematical function");
        let of_angle = matches!(op, ScalarOp::Sin | ScalarOp::Cos | ScalarOp::Tan);
        let huge_angle =
            of_angle.then(|| self.helper(Helper::HugeAngle, |name| self::huge_angle(name, ty)));
        let make = |name: &str| self::function(name, meaning, ty, huge_angle);
        let function = self.helper(Helper::Math(op), make);
        self.body.compute(function, vec![a], &[ValueTy::Scalar(ty)])[0]
    }
}

/// Returns a mathematical function of one float as a kir function with this name; `huge_angle` is the function
/// that reduces huge angles, if it is one of angles.
fn function(name: &str, function: Function, ty: Ty, huge_angle: Option<FunctionId>) -> KirFunction {
    let mut builder = FunctionBuilder::new(name);
    let x = builder.param(ValueTy::Scalar(ty));
    let result = math::emit(function, &Writer::new(&mut builder.body, ty, huge_angle), x);
    builder.finish(vec![result])
}

/// Returns the reduction of huge angles as a kir function with this name. The functions of angles are short without
/// it, and are inlined: loops that call them are vectorised.
fn huge_angle(name: &str, ty: Ty) -> KirFunction {
    let mut builder = FunctionBuilder::new(name);
    let x = builder.param(ValueTy::Scalar(ty));
    let results = math::reduce_huge(&Writer::new(&mut builder.body, ty, None), x);
    builder.finish(results.to_vec())
}

/// Emits the operations of an algorithm into a body.
struct Writer<'b> {
    body: RefCell<&'b mut Body>,
    float: Ty,
    /// The function that reduces huge angles, if it is to be called.
    huge_angle: Option<FunctionId>,
}

impl<'b> Writer<'b> {
    fn new(body: &'b mut Body, float: Ty, huge_angle: Option<FunctionId>) -> Writer<'b> {
        Writer { body: RefCell::new(body), float, huge_angle }
    }

    fn int_ty(&self) -> Ty {
        if self.float == Ty::F32 { Ty::I32 } else { Ty::I64 }
    }

    fn binary(&self, op: Binary, a: Value, b: Value) -> Value {
        self.body.borrow_mut().binary(op, a, b)
    }

    fn unary(&self, op: Unary, a: Value) -> Value {
        self.body.borrow_mut().unary(op, a)
    }
}

impl Ops for Writer<'_> {
    type F = Value;
    type I = Value;
    type B = Value;

    fn format(&self) -> &'static Format {
        if self.float == Ty::F32 { &Format::BINARY32 } else { &Format::BINARY64 }
    }

    fn float(&self, x: f64) -> Value {
        let literal = match self.float {
            Ty::F32 => Literal::F32((x as f32).to_bits()),
            _ => Literal::F64(x.to_bits()),
        };
        self.body.borrow_mut().literal(literal)
    }

    fn add(&self, a: Value, b: Value) -> Value {
        self.binary(Binary::Add, a, b)
    }

    fn sub(&self, a: Value, b: Value) -> Value {
        self.binary(Binary::Sub, a, b)
    }

    fn mul(&self, a: Value, b: Value) -> Value {
        self.binary(Binary::Mul, a, b)
    }

    fn div(&self, a: Value, b: Value) -> Value {
        self.binary(Binary::Div, a, b)
    }

    fn fma(&self, a: Value, b: Value, c: Value) -> Value {
        self.body.borrow_mut().fma(a, b, c)
    }

    fn sqrt(&self, a: Value) -> Value {
        self.unary(Unary::Sqrt, a)
    }

    fn neg(&self, a: Value) -> Value {
        self.unary(Unary::Neg, a)
    }

    fn abs(&self, a: Value) -> Value {
        self.unary(Unary::Abs, a)
    }

    fn lt(&self, a: Value, b: Value) -> Value {
        self.binary(Binary::Lt, a, b)
    }

    fn select(&self, condition: Value, a: Value, b: Value) -> Value {
        self.body.borrow_mut().select(condition, a, b)
    }

    fn bits(&self, a: Value) -> Value {
        self.body.borrow_mut().bits(self.int_ty(), a)
    }

    fn of_bits(&self, a: Value) -> Value {
        self.body.borrow_mut().bits(self.float, a)
    }

    fn int(&self, x: i64) -> Value {
        let literal = match self.float {
            Ty::F32 => Literal::I32(x as i32),
            _ => Literal::I64(x),
        };
        self.body.borrow_mut().literal(literal)
    }

    fn iadd(&self, a: Value, b: Value) -> Value {
        self.binary(Binary::Add, a, b)
    }

    fn iand(&self, a: Value, b: Value) -> Value {
        self.binary(Binary::And, a, b)
    }

    fn ixor(&self, a: Value, b: Value) -> Value {
        self.binary(Binary::Xor, a, b)
    }

    fn shl(&self, a: Value, count: u32) -> Value {
        let count = self.int(i64::from(count));
        self.binary(Binary::Shl, a, count)
    }

    fn shr(&self, a: Value, count: u32) -> Value {
        let count = self.int(i64::from(count));
        self.binary(Binary::ShrZero, a, count)
    }

    fn test(&self, a: Value, mask: i64) -> Value {
        let mask = self.int(mask);
        let some = self.binary(Binary::And, a, mask);
        let zero = self.int(0);
        self.binary(Binary::Ne, some, zero)
    }

    fn when<const N: usize>(
        &self,
        condition: Value,
        common: [Value; N],
        rare: impl FnOnce(&Self) -> [Value; N],
    ) -> [Value; N] {
        self.body.borrow_mut().begin();
        let rare = rare(self);
        let mut body = self.body.borrow_mut();
        let then = body.end(rare.to_vec());
        body.begin();
        let otherwise = body.end(common.to_vec());
        let types: Vec<ValueTy> = common.iter().map(|v| body.ty(*v)).collect();
        let results = body.push(Op::If { cond: condition, then, otherwise }, &types);
        std::array::from_fn(|i| results[i])
    }

    fn reduce_huge(&self, a: Value) -> [Value; 3] {
        let Some(function) = self.huge_angle else { return math::reduce_huge(self, a) };
        let types = [ValueTy::Scalar(self.float); 3];
        let results = self.body.borrow_mut().compute(function, vec![a], &types);
        std::array::from_fn(|i| results[i])
    }
}
