//! The scalar operations of kir in PTX: one table from operation and type to instructions.
//!
//! PTX is asked for exactly what kir means: `.rn` on every float operation, so that none is
//! contracted to a fused one, and no `.ftz`. Five operations mean something else in PTX, and are
//! written out:
//!
//! | kir | PTX | emitted |
//! |---|---|---|
//! | `div`, `rem` by 0: the dividend, 0 | unspecified | the divisor 0 becomes 1 |
//! | shifts count modulo the width | counts above the width are clamped | the count is masked |
//! | a NaN becomes the int 0 | `cvt` from or to 64 bits gives the least int | the result is selected |
//! | comparison and selection of bools | no such instructions | logic on predicates |
//! | `ne` is true of a NaN | `setp.ne` is false | `setp.neu` |

use super::assembly::{Assembly, Class, Operand, Reg, emit};
use nesl_runtime::bug;
use nesl_runtime::kir::{Binary, Combine, Literal, Ty, Unary};

impl Assembly {
    /// Emits an operation on one scalar of type `ty`.
    pub fn unary(&mut self, op: Unary, ty: Ty, a: Operand) -> Reg {
        let name = match (op, ty) {
            (Unary::Neg, Ty::I32) => "neg.s32",
            (Unary::Neg, Ty::I64) => "neg.s64",
            (Unary::Neg, Ty::F32) => "neg.f32",
            (Unary::Neg, Ty::F64) => "neg.f64",
            (Unary::Abs, Ty::I32) => "abs.s32",
            (Unary::Abs, Ty::I64) => "abs.s64",
            (Unary::Abs, Ty::F32) => "abs.f32",
            (Unary::Abs, Ty::F64) => "abs.f64",
            (Unary::Not, Ty::I32) => "not.b32",
            (Unary::Not, Ty::I64) => "not.b64",
            (Unary::Not, Ty::Bool) => "not.pred",
            (Unary::Sqrt, Ty::F32) => "sqrt.rn.f32",
            (Unary::Sqrt, Ty::F64) => "sqrt.rn.f64",
            (Unary::Floor, Ty::F32) => "cvt.rmi.f32.f32",
            (Unary::Floor, Ty::F64) => "cvt.rmi.f64.f64",
            (Unary::Ceil, Ty::F32) => "cvt.rpi.f32.f32",
            (Unary::Ceil, Ty::F64) => "cvt.rpi.f64.f64",
            (Unary::Trunc, Ty::F32) => "cvt.rzi.f32.f32",
            (Unary::Trunc, Ty::F64) => "cvt.rzi.f64.f64",
            (Unary::Nearest, Ty::F32) => "cvt.rni.f32.f32",
            (Unary::Nearest, Ty::F64) => "cvt.rni.f64.f64",
            (op, ty) => {
                bug!("`{}` is not defined on {ty:?}: the verifier sees that", op.mnemonic())
            }
        };
        let d = self.register(Class::of(ty));
        emit!(self, "{name} {d}, {a}");
        d
    }

    /// Emits an operation on two scalars of type `ty`.
    pub fn binary(&mut self, op: Binary, ty: Ty, a: Operand, b: Operand) -> Reg {
        if op.compares() {
            return self.compare(op, ty, a, b);
        }
        let name = match (op, ty) {
            (Binary::Add, Ty::I32) => "add.s32",
            (Binary::Add, Ty::I64) => "add.s64",
            (Binary::Add, Ty::F32) => "add.rn.f32",
            (Binary::Add, Ty::F64) => "add.rn.f64",
            (Binary::Sub, Ty::I32) => "sub.s32",
            (Binary::Sub, Ty::I64) => "sub.s64",
            (Binary::Sub, Ty::F32) => "sub.rn.f32",
            (Binary::Sub, Ty::F64) => "sub.rn.f64",
            (Binary::Mul, Ty::I32) => "mul.lo.s32",
            (Binary::Mul, Ty::I64) => "mul.lo.s64",
            (Binary::MulHigh, Ty::I64) => "mul.hi.u64",
            (Binary::Mul, Ty::F32) => "mul.rn.f32",
            (Binary::Mul, Ty::F64) => "mul.rn.f64",
            (Binary::Div, Ty::F32) => "div.rn.f32",
            (Binary::Div, Ty::F64) => "div.rn.f64",
            (Binary::Div, Ty::I32) => return self.divide("div.s32", ty, a, b),
            (Binary::Div, Ty::I64) => return self.divide("div.s64", ty, a, b),
            (Binary::Rem, Ty::I32) => return self.divide("rem.s32", ty, a, b),
            (Binary::Rem, Ty::I64) => return self.divide("rem.s64", ty, a, b),
            (Binary::Min, Ty::I32) => "min.s32",
            (Binary::Min, Ty::I64) => "min.s64",
            (Binary::Min, Ty::U8) => "min.u32",
            (Binary::Max, Ty::I32) => "max.s32",
            (Binary::Max, Ty::I64) => "max.s64",
            (Binary::Max, Ty::U8) => "max.u32",
            (Binary::And, Ty::I32) => "and.b32",
            (Binary::And, Ty::I64) => "and.b64",
            (Binary::And, Ty::Bool) => "and.pred",
            (Binary::Or, Ty::I32) => "or.b32",
            (Binary::Or, Ty::I64) => "or.b64",
            (Binary::Or, Ty::Bool) => "or.pred",
            (Binary::Xor, Ty::I32) => "xor.b32",
            (Binary::Xor, Ty::I64) => "xor.b64",
            (Binary::Xor, Ty::Bool) => "xor.pred",
            (Binary::Shl, Ty::I32) => return self.shift("shl.b32", ty, a, b),
            (Binary::Shl, Ty::I64) => return self.shift("shl.b64", ty, a, b),
            (Binary::Shr, Ty::I32) => return self.shift("shr.s32", ty, a, b),
            (Binary::Shr, Ty::I64) => return self.shift("shr.s64", ty, a, b),
            (Binary::ShrZero, Ty::I32) => return self.shift("shr.u32", ty, a, b),
            (Binary::ShrZero, Ty::I64) => return self.shift("shr.u64", ty, a, b),
            (op, ty) => {
                bug!("`{}` is not defined on {ty:?}: the verifier sees that", op.mnemonic())
            }
        };
        let d = self.register(Class::of(ty));
        emit!(self, "{name} {d}, {a}, {b}");
        d
    }

    /// Emits `a · b + c`, rounded once.
    pub fn fma(&mut self, ty: Ty, a: Operand, b: Operand, c: Operand) -> Reg {
        let d = self.register(Class::of(ty));
        emit!(self, "fma.rn.{} {d}, {a}, {b}, {c}", d.class.ty());
        d
    }

    /// Emits a division or remainder of ints. The machine divides the least int by -1 as kir
    /// does: it divides magnitudes, and wraps when it puts the sign back.
    fn divide(&mut self, name: &str, ty: Ty, a: Operand, b: Operand) -> Reg {
        let d = self.register(Class::of(ty));
        let divisor = match b {
            Operand::Constant(Literal::I32(0)) => Operand::Constant(Literal::I32(1)),
            Operand::Constant(Literal::I64(0)) => Operand::Constant(Literal::I64(1)),
            Operand::Constant(_) => b,
            Operand::Reg(b) => {
                let (zero, safe) = (self.register(Class::Predicate), self.register(b.class));
                emit!(self, "setp.eq.{} {zero}, {b}, 0", signed(ty));
                emit!(self, "selp.{} {safe}, 1, {b}, {zero}", b.class.ty());
                safe.into()
            }
        };
        emit!(self, "{name} {d}, {a}, {divisor}");
        d
    }

    /// Emits a shift whose count is taken modulo the width.
    fn shift(&mut self, name: &str, ty: Ty, a: Operand, count: Operand) -> Reg {
        let width = 8 * ty.size() as i64;
        let d = self.register(Class::of(ty));
        let count = match count {
            Operand::Constant(Literal::I32(x)) => Literal::I32(x & (width as i32 - 1)).into(),
            Operand::Constant(Literal::I64(x)) => Literal::I32((x & (width - 1)) as i32).into(),
            count => {
                let count = match ty {
                    Ty::I64 => self.convert(Ty::I64, Ty::I32, count).into(),
                    _ => count,
                };
                let masked = self.register(Class::B32);
                emit!(self, "and.b32 {masked}, {count}, {}", width - 1);
                Operand::Reg(masked)
            }
        };
        emit!(self, "{name} {d}, {a}, {count}");
        d
    }

    fn compare(&mut self, op: Binary, ty: Ty, a: Operand, b: Operand) -> Reg {
        let d = self.register(Class::Predicate);
        if ty == Ty::Bool {
            self.compare_bools(op, d, a, b);
            return d;
        }
        let name = match op {
            Binary::Eq => "eq",
            Binary::Ne if ty.is_float() => "neu",
            Binary::Ne => "ne",
            Binary::Lt => "lt",
            Binary::Le => "le",
            Binary::Gt => "gt",
            Binary::Ge => "ge",
            other => bug!("`{}` compares nothing", other.mnemonic()),
        };
        emit!(self, "setp.{name}.{} {d}, {a}, {b}", signed(ty));
        d
    }

    fn compare_bools(&mut self, op: Binary, d: Reg, a: Operand, b: Operand) {
        let t = self.register(Class::Predicate);
        match op {
            Binary::Ne => emit!(self, "xor.pred {d}, {a}, {b}"),
            Binary::Eq => {
                emit!(self, "xor.pred {t}, {a}, {b}");
                emit!(self, "not.pred {d}, {t}");
            }
            // False is less than true.
            Binary::Lt => {
                emit!(self, "not.pred {t}, {a}");
                emit!(self, "and.pred {d}, {t}, {b}");
            }
            Binary::Le => {
                emit!(self, "not.pred {t}, {a}");
                emit!(self, "or.pred {d}, {t}, {b}");
            }
            Binary::Gt => {
                emit!(self, "not.pred {t}, {b}");
                emit!(self, "and.pred {d}, {a}, {t}");
            }
            Binary::Ge => {
                emit!(self, "not.pred {t}, {b}");
                emit!(self, "or.pred {d}, {a}, {t}");
            }
            other => bug!("`{}` compares nothing", other.mnemonic()),
        }
    }

    /// Emits the selection of one of two operands of the same class.
    pub fn select(&mut self, cond: Reg, class: Class, a: Operand, b: Operand) -> Reg {
        let d = self.register(class);
        if class == Class::Predicate {
            let (not, yes, no) = (self.register(class), self.register(class), self.register(class));
            emit!(self, "and.pred {yes}, {cond}, {a}");
            emit!(self, "not.pred {not}, {cond}");
            emit!(self, "and.pred {no}, {not}, {b}");
            emit!(self, "or.pred {d}, {yes}, {no}");
        } else {
            emit!(self, "selp.{} {d}, {a}, {b}, {cond}", class.ty());
        }
        d
    }

    /// Emits a conversion between scalar types.
    pub fn convert(&mut self, from: Ty, to: Ty, a: Operand) -> Reg {
        let d = self.register(Class::of(to));
        match (from, to) {
            (from, to) if from == to => self.move_to(d, a),
            (Ty::Bool, Ty::U8 | Ty::I32) => emit!(self, "selp.b32 {d}, 1, 0, {a}"),
            (Ty::Bool, Ty::I64) => emit!(self, "selp.b64 {d}, 1, 0, {a}"),
            (Ty::Bool, Ty::F32) => emit!(self, "selp.f32 {d}, 0f3F800000, 0f00000000, {a}"),
            (Ty::Bool, Ty::F64) => {
                emit!(self, "selp.f64 {d}, 0d3FF0000000000000, 0d0000000000000000, {a}");
            }
            (Ty::I64, Ty::Bool) => {
                let t = self.register(Class::B64);
                emit!(self, "and.b64 {t}, {a}, 1");
                emit!(self, "setp.ne.s64 {d}, {t}, 0");
            }
            (Ty::I32 | Ty::U8, Ty::Bool) => {
                let t = self.register(Class::B32);
                emit!(self, "and.b32 {t}, {a}, 1");
                emit!(self, "setp.ne.s32 {d}, {t}, 0");
            }
            (Ty::U8, Ty::I32) => self.move_to(d, a),
            (Ty::U8, Ty::I64) => emit!(self, "cvt.u64.u32 {d}, {a}"),
            (Ty::U8, Ty::F32) => emit!(self, "cvt.rn.f32.u32 {d}, {a}"),
            (Ty::U8, Ty::F64) => emit!(self, "cvt.rn.f64.u32 {d}, {a}"),
            (Ty::I32, Ty::U8) => emit!(self, "and.b32 {d}, {a}, 255"),
            (Ty::I32, Ty::I64) => emit!(self, "cvt.s64.s32 {d}, {a}"),
            (Ty::I32, Ty::F32) => emit!(self, "cvt.rn.f32.s32 {d}, {a}"),
            (Ty::I32, Ty::F64) => emit!(self, "cvt.rn.f64.s32 {d}, {a}"),
            (Ty::I64, Ty::U8) => {
                let t = self.register(Class::B32);
                emit!(self, "cvt.u32.u64 {t}, {a}");
                emit!(self, "and.b32 {d}, {t}, 255");
            }
            (Ty::I64, Ty::I32) => emit!(self, "cvt.u32.u64 {d}, {a}"),
            (Ty::I64, Ty::F32) => emit!(self, "cvt.rn.f32.s64 {d}, {a}"),
            (Ty::I64, Ty::F64) => emit!(self, "cvt.rn.f64.s64 {d}, {a}"),
            (Ty::F32, Ty::F64) => emit!(self, "cvt.f64.f32 {d}, {a}"),
            (Ty::F64, Ty::F32) => emit!(self, "cvt.rn.f32.f64 {d}, {a}"),
            (Ty::F32 | Ty::F64, Ty::I32 | Ty::I64) => self.float_to_int(from, to, d, a),
            (from, to) => bug!("no conversion from {from:?} to {to:?}: the verifier sees that"),
        }
        d
    }

    /// Toward zero, the nearest int when out of range, and 0 of a NaN, of which `cvt` makes the
    /// least int as soon as one side has 64 bits.
    fn float_to_int(&mut self, from: Ty, to: Ty, d: Reg, a: Operand) {
        let (nan, t) = (self.register(Class::Predicate), self.register(d.class));
        let float = Class::of(from).ty();
        emit!(self, "cvt.rzi.{}.{float} {t}, {a}", signed(to));
        emit!(self, "setp.nan.{float} {nan}, {a}, {a}");
        emit!(self, "selp.{} {d}, 0, {t}, {nan}", d.class.ty());
    }

    /// Emits the same bits as another type of the same width.
    pub fn bits(&mut self, to: Ty, a: Operand) -> Reg {
        let d = self.register(Class::of(to));
        let ty = if to.size() == 8 { "b64" } else { "b32" };
        match to {
            Ty::Bool => self.move_to(d, a),
            Ty::I32 | Ty::I64 | Ty::F32 | Ty::F64 | Ty::U8 => emit!(self, "mov.{ty} {d}, {a}"),
        }
        d
    }

    /// Emits the greater one of an `i64` and 0.
    pub fn at_least_zero(&mut self, value: Operand) -> Operand {
        match value {
            Operand::Constant(Literal::I64(x)) => Literal::I64(x.max(0)).into(),
            value => {
                let d = self.register(Class::B64);
                emit!(self, "max.s64 {d}, {value}, 0");
                d.into()
            }
        }
    }

    /// Emits an assignment to a register of the operand's class.
    pub fn move_to(&mut self, d: Reg, a: Operand) {
        emit!(self, "mov.{} {d}, {a}", d.class.ty());
    }

    /// Emits a constant in a register.
    pub fn constant(&mut self, literal: Literal) -> Reg {
        let d = self.register(Class::of(literal.ty()));
        match literal {
            Literal::Bool(true) => emit!(self, "setp.eq.u32 {d}, 0, 0"),
            Literal::Bool(false) => emit!(self, "setp.ne.u32 {d}, 0, 0"),
            other => self.move_to(d, other.into()),
        }
        d
    }

    /// Emits the combination of two partial results of a reduction.
    pub fn combine(&mut self, with: Combine, ty: Ty, a: Operand, b: Operand) -> Reg {
        let d = self.register(Class::of(ty));
        emit!(self, "{} {d}, {a}, {b}", combine_name(with, ty));
        d
    }

    /// Emits `sum := sum · element`.
    pub fn accumulate(&mut self, with: (Combine, Ty), sum: Reg, element: Operand) {
        emit!(self, "{} {sum}, {sum}, {element}", combine_name(with.0, with.1));
    }

    /// Emits `b := a · b`, where a predicate is true if there is one.
    pub fn combine_before(&mut self, when: Option<Reg>, with: (Combine, Ty), a: Reg, b: Reg) {
        let name = combine_name(with.0, with.1);
        match when {
            None => emit!(self, "{name} {b}, {a}, {b}"),
            Some(when) => emit!(self, "@{when} {name} {b}, {a}, {b}"),
        }
    }
}

/// The instruction that combines two partial results of a reduction.
fn combine_name(with: Combine, ty: Ty) -> &'static str {
    match (with, ty) {
        // `min` and `max` of PTX skip NaNs, as those of kir.
        (Combine::Min, Ty::F32) => "min.f32",
        (Combine::Min, Ty::F64) => "min.f64",
        (Combine::Max, Ty::F32) => "max.f32",
        (Combine::Max, Ty::F64) => "max.f64",
        (Combine::Min | Combine::Mul | Combine::And, Ty::Bool) => "and.pred",
        (Combine::Max | Combine::Or, Ty::Bool) => "or.pred",
        (Combine::Xor, Ty::Bool) => "xor.pred",
        (Combine::Add, Ty::I32) => "add.s32",
        (Combine::Add, Ty::I64) => "add.s64",
        (Combine::Add, Ty::F32) => "add.rn.f32",
        (Combine::Add, Ty::F64) => "add.rn.f64",
        (Combine::Mul, Ty::I32) => "mul.lo.s32",
        (Combine::Mul, Ty::I64) => "mul.lo.s64",
        (Combine::Mul, Ty::F32) => "mul.rn.f32",
        (Combine::Mul, Ty::F64) => "mul.rn.f64",
        (Combine::Min, Ty::I32) => "min.s32",
        (Combine::Min, Ty::I64) => "min.s64",
        (Combine::Min, Ty::U8) => "min.u32",
        (Combine::Max, Ty::I32) => "max.s32",
        (Combine::Max, Ty::I64) => "max.s64",
        (Combine::Max, Ty::U8) => "max.u32",
        (Combine::And, Ty::I32) => "and.b32",
        (Combine::And, Ty::I64) => "and.b64",
        (Combine::Or, Ty::I32) => "or.b32",
        (Combine::Or, Ty::I64) => "or.b64",
        (Combine::Xor, Ty::I32) => "xor.b32",
        (Combine::Xor, Ty::I64) => "xor.b64",
        (with, ty) => bug!("`{with:?}` does not combine {ty:?}: the verifier sees that"),
    }
}

/// The PTX type by which `setp`, `div` and `cvt` treat scalars of a type.
fn signed(ty: Ty) -> &'static str {
    match ty {
        Ty::I32 => "s32",
        Ty::I64 => "s64",
        Ty::U8 => "u32",
        Ty::F32 => "f32",
        Ty::F64 => "f64",
        Ty::Bool => bug!("predicates have no PTX type for arithmetic"),
    }
}

impl From<Literal> for Operand {
    fn from(literal: Literal) -> Operand {
        Operand::Constant(literal)
    }
}
