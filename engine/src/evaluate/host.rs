//! Kernels of one point that the host evaluates: scalar code between launches.

use super::points::whole_number;
use super::{Evaluator, Frame, Parts, Run, Stop};
use nesl_core::flat::{Kernel, Let, Op};
use nesl_core::interp::Failure as ProgramFailure;
use nesl_core::ir::{self, Atom, Ty, Var};
use nesl_core::lower;
use nesl_core::prim::SeqOp;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::kir::Literal;
use nesl_runtime::runtime::Arg;
use nesl_runtime::scalar::{Precision, Scalar, eval};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Whether the host can do a kernel's work: nothing in it looks into an array.
pub(super) fn is_for_host(kernel: &Kernel) -> bool {
    kernel.lets.iter().all(|binding| match &binding.op {
        Op::Point(op) => matches!(
            op,
            ir::Op::Copy(_)
                | ir::Op::Pair(..)
                | ir::Op::First(_)
                | ir::Op::Second(_)
                | ir::Op::Scalar(..)
                | ir::Op::Check { .. }
                | ir::Op::Seq(SeqOp::Length, _)
        ),
        Op::Extent(..) | Op::SameLength(..) => true,
        Op::Element { .. }
        | Op::Position
        | Op::Gather(..)
        | Op::Collect { .. }
        | Op::Reduce { .. }
        | Op::Scan { .. }
        | Op::Branch { .. }
        | Op::Call(..)
        | Op::Whole(_)
        | Op::Either { .. } => false,
    })
}

impl<'p> Evaluator<'p> {
    /// Evaluates a kernel of one point.
    pub(super) fn by_host(&'p self, frame: &mut Frame<'p>, kernel: &'p Kernel) -> Run<()> {
        let mut own: FxHashMap<Var, Rc<Parts>> = FxHashMap::default();
        for binding in &kernel.lets {
            let value = self.one(frame, &own, binding)?;
            own.insert(binding.var, Rc::new(value));
        }
        for (var, ctx) in &kernel.stores {
            let value = own.remove(var).expect("it was computed");
            own.insert(*var, value.clone());
            frame.vars.insert((*var, *ctx), value);
        }
        Ok(())
    }

    fn one(
        &'p self,
        frame: &mut Frame<'p>,
        own: &FxHashMap<Var, Rc<Parts>>,
        binding: &Let,
    ) -> Run<Parts> {
        let ctx = binding.ctx;
        let mut values = Vec::new();
        for atom in binding.op.atoms() {
            values.push(match atom {
                Atom::Var(var) if own.contains_key(&var) => own[&var].clone(),
                atom => self.value_at(frame, atom, ctx)?,
            });
        }
        let fail = |fault: Fault| {
            let mut trace = vec![(binding.site, frame.function.library)];
            trace.extend(frame.trace.sites());
            Stop::Failed(ProgramFailure { fault, trace })
        };
        let first = |ty: &Ty| lower::parts(ty, self.precision).len();
        let all = match &binding.op {
            Op::Point(op) => match op {
                ir::Op::Copy(_) => return Ok((*values[0]).clone()),
                ir::Op::Pair(..) => {
                    values.iter().flat_map(|value| value.all.iter().cloned()).collect()
                }
                ir::Op::First(_) => values[0].all[..first(&binding.ty)].to_vec(),
                ir::Op::Second(_) => {
                    let all = &values[0].all;
                    all[all.len() - first(&binding.ty)..].to_vec()
                }
                ir::Op::Scalar(op, _) => {
                    let args: Vec<Scalar> =
                        values.iter().map(|value| scalar(&value.all[0])).collect();
                    let result = eval(*op, &args, self.precision);
                    let result = result.map_err(|code| fail(Fault::new(code)))?;
                    vec![Arg::Scalar(self.literal_of(result))]
                }
                ir::Op::Check { code, message, .. } => {
                    if !matches!(values[0].all[..], [Arg::Scalar(Literal::Bool(true))]) {
                        return Err(fail(if message.is_empty() {
                            Fault::new(*code)
                        } else {
                            Fault::with(*code, message.as_str())
                        }));
                    }
                    values[0].all.clone()
                }
                ir::Op::Seq(SeqOp::Length, _) => {
                    vec![self.int(whole_number(&values[0].all[0]) as i64)]
                }
                _ => unreachable!("it is not for the host"),
            },
            Op::Extent(op, _) => {
                let args: Vec<i64> = match op {
                    SeqOp::Range => values.iter().map(|value| int(&value.all[0])).collect(),
                    _ => vec![int(&values[1].all[0])],
                };
                vec![self.int(extent(&args).map_err(fail)?)]
            }
            Op::SameLength(_, _, code) => {
                let (a, b) = (whole_number(&values[0].all[0]), whole_number(&values[1].all[0]));
                if a != b {
                    return Err(fail(Fault::with(*code, format!("lengths {a} and {b}"))));
                }
                vec![Arg::Scalar(Literal::Bool(true))]
            }
            _ => unreachable!("it is not for the host"),
        };
        Ok(Parts::new(all))
    }

    fn int(&self, x: i64) -> Arg {
        Arg::Scalar(self.literal_of(Scalar::Int(x)))
    }

    fn literal_of(&self, scalar: Scalar) -> Literal {
        match (scalar, self.precision) {
            (Scalar::Int(x), Precision::Bits64) => Literal::I64(x),
            (Scalar::Int(x), Precision::Bits32) => Literal::I32(x as i32),
            (Scalar::Float(x), Precision::Bits64) => Literal::F64(x.to_bits()),
            (Scalar::Float(x), Precision::Bits32) => Literal::F32((x as f32).to_bits()),
            (Scalar::Bool(x), _) => Literal::Bool(x),
            (Scalar::Char(x), _) => Literal::U8(x),
        }
    }
}

/// How many elements `[start:end:stride]` (start, stride, end) or a repetition has.
fn extent(args: &[i64]) -> Result<i64, Fault> {
    match *args {
        [start, stride, end] => {
            if end < start || stride < 1 {
                let words = format!("[{start}:{end}:{stride}]");
                return Err(Fault::with(FaultCode::Range, words));
            }
            let distance = end.checked_sub(start).ok_or(Fault::new(FaultCode::OutOfMemory))?;
            Ok(if distance == 0 { 0 } else { (distance - 1) / stride + 1 })
        }
        [count] if count >= 0 => Ok(count),
        [count] => Err(Fault::with(FaultCode::NegativeLength, format!("length {count}"))),
        _ => unreachable!("ranges have three operands, repetitions one"),
    }
}

fn int(arg: &Arg) -> i64 {
    match scalar(arg) {
        Scalar::Int(x) => x,
        other => unreachable!("{other:?} is no int"),
    }
}

fn scalar(arg: &Arg) -> Scalar {
    match arg {
        Arg::Scalar(Literal::I32(x)) => Scalar::Int(i64::from(*x)),
        Arg::Scalar(Literal::I64(x)) => Scalar::Int(*x),
        Arg::Scalar(Literal::F32(x)) => Scalar::Float(f64::from(f32::from_bits(*x))),
        Arg::Scalar(Literal::F64(x)) => Scalar::Float(f64::from_bits(*x)),
        Arg::Scalar(Literal::Bool(x)) => Scalar::Bool(*x),
        Arg::Scalar(Literal::U8(x)) => Scalar::Char(*x),
        Arg::Array(..) => unreachable!("it is a scalar"),
    }
}
