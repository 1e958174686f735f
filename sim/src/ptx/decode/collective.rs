//! Instructions of the members of a warp together.

use super::Decoder;
use crate::isa::code::{Collective, MultiplyAdd, Op, Register, Shuffle, ShuffleMode, VoteMode};
use crate::isa::integer::{self, IntegerOp};
use crate::isa::types::Type;
use crate::ptx::error::Reason;
use crate::ptx::statement::{Operand, Statement};

/// The compute capability, times ten, from which `redux.sync` exists.
const REDUX_TARGET: u32 = 80;

/// The compute capability, times ten, from which products of this shape exist.
const MATRICES_TARGET: u32 = 90;

impl Decoder<'_> {
    pub(super) fn collective(&mut self, s: &mut Statement) -> Result<Op, Reason> {
        if !s.take("sync") {
            return Err(format!("`{}` without .sync is obsolete and refused", s.opcode));
        }
        let what = match s.opcode.as_str() {
            "shfl" => self.shuffle(s)?,
            "vote" => self.vote(s)?,
            "match" => self.matching(s)?,
            _ => self.reduction(s)?,
        };
        let mask = match s.operands.last() {
            Some(mask) => self.source(&mask.clone(), Type::B32)?,
            None => return Err("the member mask is missing".to_owned()),
        };
        Ok(Op::Collective { mask, what })
    }

    fn shuffle(&mut self, s: &mut Statement) -> Result<Collective, Reason> {
        s.expect_operands(5)?;
        let mode = s
            .take_from(&[
                ("up", ShuffleMode::Up),
                ("down", ShuffleMode::Down),
                ("bfly", ShuffleMode::Butterfly),
                ("idx", ShuffleMode::Index),
            ])
            .ok_or("`shfl` needs .up, .down, .bfly or .idx")?;
        self.expect_type(s, &[Type::B32])?;
        let (destination, in_range) = self.with_predicate(&s.operands[0].clone())?;
        Ok(Collective::Shuffle(Shuffle {
            mode,
            destination,
            in_range,
            value: self.source(&s.operands[1], Type::B32)?,
            lane: self.source(&s.operands[2], Type::B32)?,
            clamp: self.source(&s.operands[3], Type::B32)?,
        }))
    }

    fn vote(&mut self, s: &mut Statement) -> Result<Collective, Reason> {
        s.expect_operands(3)?;
        let mode = s
            .take_from(&[
                ("ballot", VoteMode::Ballot),
                ("all", VoteMode::All),
                ("any", VoteMode::Any),
                ("uni", VoteMode::Uniform),
            ])
            .ok_or("`vote` needs .ballot, .all, .any or .uni")?;
        let source = self.predicate_source(&s.operands[1])?;
        let (ballot, destination) = if mode == VoteMode::Ballot {
            self.expect_type(s, &[Type::B32])?;
            (self.destination(&s.operands[0], Type::B32)?, 0)
        } else {
            self.expect_type(s, &[Type::Pred])?;
            (0, self.predicate(&s.operands[0])?)
        };
        Ok(Collective::Vote { mode, ballot, destination, source })
    }

    fn matching(&mut self, s: &mut Statement) -> Result<Collective, Reason> {
        s.expect_operands(3)?;
        let any =
            s.take_from(&[("any", true), ("all", false)]).ok_or("`match` needs .any or .all")?;
        let ty = self.expect_type(s, &[Type::B32, Type::B64])?;
        let value = self.source(&s.operands[1], ty)?;
        if any {
            let destination = self.destination(&s.operands[0], Type::B32)?;
            return Ok(Collective::MatchAny { destination, value });
        }
        let (destination, equal) = self.with_predicate(&s.operands[0].clone())?;
        Ok(Collective::MatchAll { destination, equal, value })
    }

    fn reduction(&mut self, s: &mut Statement) -> Result<Collective, Reason> {
        s.expect_operands(3)?;
        if self.head.target < REDUX_TARGET {
            return Err(format!("`redux.sync` needs .target sm_{REDUX_TARGET}"));
        }
        let op = s
            .take_from(&[
                ("add", IntegerOp::Add),
                ("min", IntegerOp::Min),
                ("max", IntegerOp::Max),
                ("and", IntegerOp::And),
                ("or", IntegerOp::Or),
                ("xor", IntegerOp::Xor),
            ])
            .ok_or("`redux` needs an operation")?;
        let ty = self.expect_type(s, &[Type::B32, Type::U32, Type::S32])?;
        let op = integer::binary_op(op, ty)
            .ok_or_else(|| format!("`redux` has no such operation for type {ty}"))?;
        Ok(Collective::Reduce {
            op,
            destination: self.destination(&s.operands[0], ty)?,
            value: self.source(&s.operands[1], ty)?,
        })
    }

    /// A product of matrices by all lanes of the warp, of the only shape and type that are supported.
    pub(super) fn matrices(&mut self, s: &mut Statement) -> Result<Op, Reason> {
        s.expect_operands(4)?;
        for part in ["sync", "aligned", "m16n8k8", "row", "col", "f64", "f64", "f64", "f64"] {
            if !s.take(part) {
                return Err(
                    "of `mma`, only .sync.aligned.m16n8k8.row.col of .f64 is supported".into()
                );
            }
        }
        if self.head.target < MATRICES_TARGET {
            return Err(format!("`mma.m16n8k8` of .f64 needs .target sm_{MATRICES_TARGET}"));
        }
        let lists = std::mem::take(&mut s.operands);
        let [d, a, b, c] = &lists[..] else { return Err("`mma` has four operands".to_owned()) };
        let what = MultiplyAdd {
            d: self.registers_of(d, Self::destination)?,
            a: self.registers_of(a, Self::source)?,
            b: self.registers_of(b, Self::source)?,
            c: self.registers_of(c, Self::source)?,
        };
        let mask = self.source(&Operand::Integer(i128::from(u32::MAX)), Type::B32)?;
        Ok(Op::Collective { mask, what: Collective::MultiplyAdd(what) })
    }

    /// The registers of a list of so many operands of type `f64`.
    fn registers_of<const N: usize>(
        &mut self,
        list: &Operand,
        register: impl Fn(&mut Self, &Operand, Type) -> Result<Register, Reason>,
    ) -> Result<[Register; N], Reason> {
        let wrong = || format!("expected a list of {N} registers");
        let Operand::Vector(list) = list else { return Err(wrong()) };
        let mut registers = [0; N];
        if list.len() != N {
            return Err(wrong());
        }
        for (to, operand) in registers.iter_mut().zip(list) {
            *to = register(self, operand, Type::F64)?;
        }
        Ok(registers)
    }

    pub(super) fn active_mask(&mut self, s: &mut Statement) -> Result<Op, Reason> {
        s.expect_operands(1)?;
        self.expect_type(s, &[Type::B32])?;
        Ok(Op::ActiveMask { d: self.destination(&s.operands[0], Type::B32)? })
    }

    /// Returns the registers of `d` or `d|p`.
    fn with_predicate(
        &mut self,
        operand: &Operand,
    ) -> Result<(u16, Option<crate::isa::code::PredicateRegister>), Reason> {
        match operand {
            Operand::Pair(d, p) => {
                let p = self.optional_predicate(p)?;
                Ok((self.destination(&Operand::Name(d.clone()), Type::B32)?, p))
            }
            operand => Ok((self.destination(operand, Type::B32)?, None)),
        }
    }

    /// Takes a type that must be one of these.
    pub(super) fn expect_type(&self, s: &mut Statement, allowed: &[Type]) -> Result<Type, Reason> {
        let ty = s.take_type()?;
        if allowed.contains(&ty) {
            Ok(ty)
        } else {
            Err(format!("`{}` has no form for type {ty}", s.opcode))
        }
    }
}
