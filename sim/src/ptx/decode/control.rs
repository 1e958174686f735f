//! Barriers, jumps and the end of a thread.

use super::{Decoder, Pending};
use crate::isa::code::{Barrier, BarrierResult, Collective, Op};
use crate::isa::types::Type;
use crate::ptx::error::Reason;
use crate::ptx::statement::{Operand, Statement};

impl Decoder<'_> {
    pub(super) fn barrier(&mut self, s: &mut Statement) -> Result<Op, Reason> {
        s.take("cta");
        if s.take("warp") {
            s.expect_operands(1)?;
            if !s.take("sync") {
                return Err("`bar.warp` needs .sync".to_owned());
            }
            let mask = self.source(&s.operands[0], Type::B32)?;
            return Ok(Op::Collective { mask, what: Collective::Barrier });
        }
        if s.take("arrive") {
            return Err("`bar.arrive` is not supported: use `bar.sync`".to_owned());
        }
        // `bar` is the short name of `barrier.aligned`.
        let aligned = s.opcode == "bar" || s.take("aligned");
        if s.take("sync") {
            if !(1..=2).contains(&s.operands.len()) {
                return Err("`bar.sync` takes a number and perhaps a count of threads".to_owned());
            }
            let id = self.source(&s.operands[0], Type::B32)?;
            let threads = match s.operands.get(1) {
                None => None,
                Some(threads) => Some(self.source(&threads.clone(), Type::B32)?),
            };
            return Ok(Op::Barrier(Barrier { id, threads, result: BarrierResult::None, aligned }));
        }
        if !s.take("red") {
            return Err("a barrier needs .sync or .red".to_owned());
        }
        self.reducing_barrier(s, aligned)
    }

    fn reducing_barrier(&mut self, s: &mut Statement, aligned: bool) -> Result<Op, Reason> {
        let form = s
            .take_from(&[("popc", None), ("and", Some(true)), ("or", Some(false))])
            .ok_or("`bar.red` needs .popc, .and or .or")?;
        let ty = s.take_type()?;
        if ty != if form.is_some() { Type::Pred } else { Type::U32 } {
            return Err(format!("`bar.red` has no form for type {ty}"));
        }
        let (id, threads, source) = match &s.operands[..] {
            [_, id, source] => (id, None, source),
            [_, id, threads, source] => (id, Some(threads), source),
            _ => return Err("`bar.red` takes three or four operands".to_owned()),
        };
        let source = self.predicate_source(source)?;
        let id = self.source(id, Type::B32)?;
        let threads = match threads {
            None => None,
            Some(threads) => Some(self.source(threads, Type::B32)?),
        };
        let result = match form {
            None => BarrierResult::Count {
                destination: self.destination(&s.operands[0], Type::U32)?,
                source,
            },
            Some(all) => BarrierResult::Predicate {
                all,
                destination: self.predicate(&s.operands[0])?,
                source,
            },
        };
        Ok(Op::Barrier(Barrier { id, threads, result, aligned }))
    }

    pub(super) fn branch(&mut self, s: &mut Statement) -> Result<Op, Reason> {
        s.expect_operands(1)?;
        let uniform = s.take("uni");
        let Operand::Name(label) = &s.operands[0] else {
            return Err("a label is expected".to_owned());
        };
        self.pending.push(Pending { at: self.at, label: label.clone() });
        Ok(Op::Branch { target: 0, uniform })
    }

    pub(super) fn plain(&mut self, s: &mut Statement, op: Op) -> Result<Op, Reason> {
        s.expect_operands(0)?;
        s.take("uni");
        Ok(op)
    }

    pub(super) fn nanosleep(&mut self, s: &mut Statement) -> Result<Op, Reason> {
        s.expect_operands(1)?;
        self.expect_type(s, &[Type::U32])?;
        self.source(&s.operands[0].clone(), Type::U32)?;
        Ok(Op::Nothing)
    }
}
