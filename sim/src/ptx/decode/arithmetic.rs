//! Moves, arithmetic, comparisons, selections and conversions.

use super::Decoder;
use super::operands::Width;
use crate::isa::code::{Constant, Guard, Op, PredicateOp};
use crate::isa::code::{LOCAL_WINDOW, SHARED_WINDOW};
use crate::isa::convert::{self, Rounding};
use crate::isa::float::{self, FloatFunction, FloatOp};
use crate::isa::integer::{self, IntegerOp, MadPart};
use crate::isa::lanes::unary;
use crate::isa::types::Type;
use crate::isa::{bits, compare};
use crate::ptx::error::Reason;
use crate::ptx::statement::{Operand, Statement};

/// The instructions with two sources that integers have.
const INTEGER_OPS: [(&str, IntegerOp); 10] = [
    ("add", IntegerOp::Add),
    ("sub", IntegerOp::Sub),
    ("div", IntegerOp::Div),
    ("rem", IntegerOp::Rem),
    ("min", IntegerOp::Min),
    ("max", IntegerOp::Max),
    ("and", IntegerOp::And),
    ("or", IntegerOp::Or),
    ("xor", IntegerOp::Xor),
    ("shl", IntegerOp::Shl),
];

/// The instructions with two sources that floats have.
const FLOAT_OPS: [(&str, FloatOp); 7] = [
    ("add", FloatOp::Add),
    ("sub", FloatOp::Sub),
    ("mul", FloatOp::Mul),
    ("div", FloatOp::Div),
    ("min", FloatOp::Min),
    ("max", FloatOp::Max),
    ("copysign", FloatOp::CopySign),
];

/// The functions of one float.
const FLOAT_FUNCTIONS: [(&str, FloatFunction); 8] = [
    ("sqrt", FloatFunction::Sqrt),
    ("rcp", FloatFunction::Reciprocal),
    ("rsqrt", FloatFunction::ReciprocalSqrt),
    ("ex2", FloatFunction::Exp2),
    ("lg2", FloatFunction::Log2),
    ("sin", FloatFunction::Sin),
    ("cos", FloatFunction::Cos),
    ("tanh", FloatFunction::Tanh),
];

/// The parts of a product.
const PARTS: [(&str, MadPart); 3] =
    [("lo", MadPart::Lo), ("hi", MadPart::Hi), ("wide", MadPart::Wide)];

/// Returns the error for a type that an instruction does not have.
fn no_such_type(s: &Statement, ty: Type) -> Reason {
    format!("`{}` has no form for type {ty}", s.opcode)
}

/// Returns the type of a product: twice as wide if it is the whole one.
fn product_type(part: Option<MadPart>, ty: Type) -> Type {
    match (part, ty) {
        (Some(MadPart::Wide), Type::U16) => Type::U32,
        (Some(MadPart::Wide), Type::S16) => Type::S32,
        (Some(MadPart::Wide), Type::U32) => Type::U64,
        (Some(MadPart::Wide), Type::S32) => Type::S64,
        _ => ty,
    }
}

impl Decoder<'_> {
    pub(super) fn mov(&mut self, s: &mut Statement) -> Result<Op, Reason> {
        s.expect_operands(2)?;
        let ty = s.take_type()?;
        let (to, from) = (&s.operands[0], &s.operands[1]);
        if ty == Type::Pred {
            let d = self.predicate(to)?;
            return Ok(match from {
                Operand::Integer(value) => Op::PredicateSet { d, value: *value != 0 },
                _ => Op::PredicateMove { d, source: self.predicate_source(from)? },
            });
        }
        match (to, from) {
            (Operand::Vector(list), _) => {
                let (count, part) = parts(list, ty)?;
                let mut registers = [0; 4];
                for (register, operand) in registers.iter_mut().zip(list) {
                    *register = self.destination(operand, part)?;
                }
                let a = self.source(from, ty)?;
                Ok(Op::Unpack { parts: registers, count, bits: 8 * part.bytes() as u8, a })
            }
            (_, Operand::Vector(list)) => {
                let (count, part) = parts(list, ty)?;
                let mut registers = [0; 4];
                for (register, operand) in registers.iter_mut().zip(list) {
                    *register = self.source(operand, part)?;
                }
                let d = self.destination(to, ty)?;
                Ok(Op::Pack { d, parts: registers, count, bits: 8 * part.bytes() as u8 })
            }
            _ => Ok(Op::Move { a: self.source(from, ty)?, d: self.destination(to, ty)? }),
        }
    }

    /// `cvta.space` makes a generic address, `cvta.to.space` the address in a space.
    pub(super) fn cvta(&mut self, s: &mut Statement) -> Result<Op, Reason> {
        s.expect_operands(2)?;
        s.take("to");
        let window = s
            .take_from(&[("global", 0), ("shared", SHARED_WINDOW), ("local", LOCAL_WINDOW)])
            .ok_or("`cvta` needs .global, .shared or .local")?;
        if s.take_type()? != Type::U64 {
            return Err("addresses have type .u64".to_owned());
        }
        let a = self.source(&s.operands[1], Type::U64)?;
        let d = self.destination(&s.operands[0], Type::U64)?;
        if window == 0 {
            return Ok(Op::Move { d, a });
        }
        // The windows are single bits, so that both directions flip one.
        let b = self.names.constant(Constant::Bits(window))?;
        let f = integer::binary_op(IntegerOp::Xor, Type::B64).ok_or("no xor")?;
        Ok(Op::Binary { f, d, a, b })
    }

    pub(super) fn two_sources(&mut self, s: &mut Statement) -> Result<Op, Reason> {
        s.expect_operands(3)?;
        let part = if s.opcode == "mul" { s.take_from(&PARTS) } else { None };
        let ty = s.take_type()?;
        if ty == Type::Pred {
            return self.predicate_logic(s);
        }
        if ty.is_float() {
            return self.float_two_sources(s, ty, part);
        }
        let op = match (s.opcode.as_str(), part) {
            ("mul", None) => return Err("an integer `mul` needs .lo, .hi or .wide".to_owned()),
            ("mul", Some(MadPart::Lo)) => IntegerOp::MulLo,
            ("mul", Some(MadPart::Hi)) => IntegerOp::MulHi,
            ("mul", Some(MadPart::Wide)) => IntegerOp::MulWide,
            ("shr", _) => IntegerOp::Shr,
            (name, _) => INTEGER_OPS
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, op)| *op)
                .ok_or_else(|| no_such_type(s, ty))?,
        };
        let f = integer::binary_op(op, ty).ok_or_else(|| no_such_type(s, ty))?;
        let count = matches!(op, IntegerOp::Shl | IntegerOp::Shr);
        let second = if count { Type::U32 } else { ty };
        Ok(Op::Binary {
            f,
            a: self.source(&s.operands[1], ty)?,
            b: self.source(&s.operands[2], second)?,
            d: self.destination(&s.operands[0], product_type(part, ty))?,
        })
    }

    fn float_two_sources(
        &mut self,
        s: &mut Statement,
        ty: Type,
        part: Option<MadPart>,
    ) -> Result<Op, Reason> {
        if part.is_some() {
            return Err("a float `mul` has no parts".to_owned());
        }
        let op = FLOAT_OPS
            .iter()
            .find(|(known, _)| *known == s.opcode)
            .map(|(_, op)| *op)
            .ok_or_else(|| no_such_type(s, ty))?;
        match op {
            FloatOp::Add | FloatOp::Sub | FloatOp::Mul if !s.take("rn") => {
                return Err("without .rn a float operation may be contracted: write .rn".to_owned());
            }
            FloatOp::Div => {
                let approximate = ty == Type::F32 && (s.take("approx") || s.take("full"));
                if !approximate && !s.take("rn") {
                    return Err("a float `div` needs .rn".to_owned());
                }
            }
            _ => {}
        }
        let f = float::binary_op(op, ty).ok_or_else(|| no_such_type(s, ty))?;
        Ok(Op::Binary {
            f,
            a: self.source(&s.operands[1], ty)?,
            b: self.source(&s.operands[2], ty)?,
            d: self.destination(&s.operands[0], ty)?,
        })
    }

    fn predicate_logic(&mut self, s: &Statement) -> Result<Op, Reason> {
        let op = match s.opcode.as_str() {
            "and" => PredicateOp::And,
            "or" => PredicateOp::Or,
            "xor" => PredicateOp::Xor,
            _ => return Err(no_such_type(s, Type::Pred)),
        };
        Ok(Op::PredicateBinary {
            op,
            d: self.predicate(&s.operands[0])?,
            a: self.predicate(&s.operands[1])?,
            b: self.predicate(&s.operands[2])?,
        })
    }

    pub(super) fn multiply_add(&mut self, s: &mut Statement) -> Result<Op, Reason> {
        s.expect_operands(4)?;
        let part = s.take_from(&PARTS);
        let ty = s.take_type()?;
        let f = if s.opcode == "fma" {
            if !s.take("rn") {
                return Err("`fma` needs .rn".to_owned());
            }
            float::fma(ty).filter(|_| part.is_none())
        } else {
            integer::mad(part.ok_or("`mad` needs .lo, .hi or .wide")?, ty)
        };
        let wide = product_type(part, ty);
        Ok(Op::Ternary {
            f: f.ok_or_else(|| no_such_type(s, ty))?,
            a: self.source(&s.operands[1], ty)?,
            b: self.source(&s.operands[2], ty)?,
            c: self.source(&s.operands[3], wide)?,
            d: self.destination(&s.operands[0], wide)?,
        })
    }

    pub(super) fn one_source(&mut self, s: &mut Statement) -> Result<Op, Reason> {
        s.expect_operands(2)?;
        let shift_amount = s.opcode == "bfind" && s.take("shiftamt");
        let ty = s.take_type()?;
        if ty == Type::Pred && s.opcode == "not" {
            let source = Guard { predicate: self.predicate(&s.operands[1])?, negated: true };
            return Ok(Op::PredicateMove { d: self.predicate(&s.operands[0])?, source });
        }
        let (f, counts) = match s.opcode.as_str() {
            "neg" => (integer::neg(ty).or(float::neg(ty)), false),
            "abs" => (integer::abs(ty).or(float::abs(ty)), false),
            "not" => (bits::not(ty), false),
            "brev" => (bits::brev(ty), false),
            "popc" => (bits::popc(ty), true),
            "clz" => (bits::clz(ty), true),
            _ => (bits::bfind(ty, shift_amount), true),
        };
        Ok(Op::Unary {
            f: f.ok_or_else(|| no_such_type(s, ty))?,
            a: self.source(&s.operands[1], ty)?,
            d: self.destination(&s.operands[0], if counts { Type::U32 } else { ty })?,
        })
    }

    pub(super) fn float_function(&mut self, s: &mut Statement) -> Result<Op, Reason> {
        s.expect_operands(2)?;
        let ty = s.take_type()?;
        let function = FLOAT_FUNCTIONS
            .iter()
            .find(|(name, _)| *name == s.opcode)
            .map(|(_, function)| *function)
            .ok_or_else(|| no_such_type(s, ty))?;
        let exact = matches!(function, FloatFunction::Sqrt | FloatFunction::Reciprocal);
        if s.take("approx") {
            // PTX has this one reciprocal of `f64` only with `.ftz`.
            if function == FloatFunction::Reciprocal && ty == Type::F64 && !s.take("ftz") {
                return Err("`rcp.approx.f64` needs .ftz".to_owned());
            }
            if function == FloatFunction::Sqrt && ty == Type::F64 {
                return Err(no_such_type(s, ty));
            }
        } else if !exact || !s.take("rn") {
            let form = if exact { ".rn or .approx" } else { ".approx" };
            return Err(format!("`{}` needs {form}", s.opcode));
        }
        Ok(Op::Unary {
            f: float::function(function, ty).ok_or_else(|| no_such_type(s, ty))?,
            a: self.source(&s.operands[1], ty)?,
            d: self.destination(&s.operands[0], ty)?,
        })
    }

    pub(super) fn bit_field(&mut self, s: &mut Statement) -> Result<Op, Reason> {
        let four = matches!(s.opcode.as_str(), "bfi" | "lop3");
        s.expect_operands(if four { 5 } else { 4 })?;
        let left = s.opcode == "shf" && direction(s)?;
        let wrap = s.opcode == "shf"
            && s.take_from(&[("wrap", true), ("clamp", false)]).ok_or("`shf` needs a mode")?;
        let ty = s.take_type()?;
        let position = Type::U32;
        let only_b32 = matches!(s.opcode.as_str(), "prmt" | "lop3" | "shf");
        if only_b32 && ty != Type::B32 {
            return Err(no_such_type(s, ty));
        }
        let types = match s.opcode.as_str() {
            "bfe" => [ty, position, position, position],
            "bfi" => [ty, ty, position, position],
            _ => [Type::B32; 4],
        };
        let mut sources = [0; 4];
        for (k, operand) in s.operands[1..].iter().enumerate() {
            sources[k] = self.source(operand, types[k])?;
        }
        let d = self.destination(&s.operands[0], ty)?;
        let [a, b, c, _] = sources;
        let ternary = match s.opcode.as_str() {
            "bfi" => {
                let f = bits::bfi(ty).ok_or_else(|| no_such_type(s, ty))?;
                return Ok(Op::Quaternary { f, d, sources });
            }
            "lop3" => return Ok(Op::Quaternary { f: bits::lop3(), d, sources }),
            "bfe" => bits::bfe(ty).ok_or_else(|| no_such_type(s, ty))?,
            "prmt" => bits::prmt(),
            _ => bits::funnel_shift(left, wrap),
        };
        Ok(Op::Ternary { f: ternary, d, a, b, c })
    }

    pub(super) fn setp(&mut self, s: &mut Statement) -> Result<Op, Reason> {
        let name = s.take_first().ok_or("the comparison is missing")?;
        let op = s.take_from(&[
            ("and", PredicateOp::And),
            ("or", PredicateOp::Or),
            ("xor", PredicateOp::Xor),
        ]);
        s.expect_operands(if op.is_some() { 4 } else { 3 })?;
        let ty = s.take_type()?;
        let f = compare::setp(&name, ty)
            .ok_or_else(|| format!("`setp` has no comparison `{name}` for type {ty}"))?;
        let combine = match op {
            None => None,
            Some(op) => Some((op, self.predicate_source(&s.operands[3])?)),
        };
        let (d, complement) = match &s.operands[0] {
            Operand::Pair(d, complement) => {
                (self.predicate_named(d)?, self.optional_predicate(complement)?)
            }
            operand => (self.predicate(operand)?, None),
        };
        let (a, b) = (self.source(&s.operands[1], ty)?, self.source(&s.operands[2], ty)?);
        Ok(Op::Compare { f, combine, d, complement, a, b })
    }

    pub(super) fn testp(&mut self, s: &mut Statement) -> Result<Op, Reason> {
        s.expect_operands(2)?;
        let name = s.take_first().ok_or("the class is missing")?;
        let ty = s.take_type()?;
        let f = compare::testp(&name, ty)
            .ok_or_else(|| format!("`testp` has no class `{name}` for type {ty}"))?;
        let a = self.source(&s.operands[1], ty)?;
        let d = self.predicate(&s.operands[0])?;
        Ok(Op::Compare { f, combine: None, d, complement: None, a, b: a })
    }

    pub(super) fn selp(&mut self, s: &mut Statement) -> Result<Op, Reason> {
        s.expect_operands(4)?;
        let ty = s.take_type()?;
        if ty.bytes() < 2 {
            return Err(no_such_type(s, ty));
        }
        Ok(Op::Select {
            a: self.source(&s.operands[1], ty)?,
            b: self.source(&s.operands[2], ty)?,
            p: self.predicate(&s.operands[3])?,
            d: self.destination(&s.operands[0], ty)?,
        })
    }

    pub(super) fn slct(&mut self, s: &mut Statement) -> Result<Op, Reason> {
        s.expect_operands(4)?;
        let (ty, condition) = (s.take_type()?, s.take_type()?);
        Ok(Op::Ternary {
            f: compare::slct(condition).ok_or_else(|| no_such_type(s, condition))?,
            a: self.source(&s.operands[1], ty)?,
            b: self.source(&s.operands[2], ty)?,
            c: self.source(&s.operands[3], condition)?,
            d: self.destination(&s.operands[0], ty)?,
        })
    }

    pub(super) fn cvt(&mut self, s: &mut Statement) -> Result<Op, Reason> {
        s.expect_operands(2)?;
        let rounding = s.take_from(&Rounding::NAMES).unwrap_or(Rounding::None);
        let saturate = s.take("sat");
        let (to, from) = (s.take_type()?, s.take_type()?);
        let f = convert::convert(to, from, rounding, saturate)?;
        let a = self.source_of_width(&s.operands[1], from, Width::AtLeast)?;
        let (d, mask) = self.destination_of_width(&s.operands[0], to, Width::AtLeast)?;
        if to == from && to.is_float() && rounding == Rounding::None {
            return Ok(Op::Unary { f: unary!(|a| a), d, a });
        }
        Ok(Op::Convert { f, mask, d, a })
    }
}

/// Returns the number and the type of the parts of a value of type `ty`.
fn parts(list: &[Operand], ty: Type) -> Result<(u8, Type), Reason> {
    match (list.len(), ty.bytes()) {
        (2, 8) => Ok((2, Type::B32)),
        (4, 8) => Ok((4, Type::B16)),
        (2, 4) => Ok((2, Type::B16)),
        (count, _) => Err(format!("type {ty} has no {count} parts")),
    }
}

/// Takes `.l` or `.r`; returns true for the left.
fn direction(s: &mut Statement) -> Result<bool, Reason> {
    s.take_from(&[("l", true), ("r", false)]).ok_or_else(|| "`shf` needs .l or .r".to_owned())
}
