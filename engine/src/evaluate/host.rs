//! Kernels of one point that the host evaluates: scalar code between launches, and what moves whole
//! sequences ([`super::structure`]).

use super::launch::Which;
use super::points::whole_number;
use super::structure::is_structural;
use super::{Evaluator, Frame, Parts, Run, RunError};
use nesl_core::base::with_stack;
use nesl_core::flat::{Kernel, Let, Op, SpaceId};
use nesl_core::interp::Failure as ProgramFailure;
use nesl_core::ir::{self, Atom, Site, Ty, Var};
use nesl_core::lower;
use nesl_core::prim::{Cost, SeqOp};
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::kir::Literal;
use nesl_runtime::runtime::Arg;
use nesl_runtime::scalar::{Precision, Scalar, eval};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::rc::Rc;

/// Whether the host does a step of one point: no more than a few elements are looked at, or whole
/// columns are moved.
fn is_for_host(binding: &Let) -> bool {
    match &binding.op {
        Op::Map(op) => is_scalar_step(op, &binding.ty) || is_structure(op),
        Op::Extent(..) | Op::SameLength(..) => true,
        Op::Sequential(block) => sorting(block).is_some(),
        _ => false,
    }
}

/// If all that a block does is to put a sequence in the order of its ranks: which ranks, of what.
fn sorting(block: &ir::Block) -> Option<(SeqOp, Var)> {
    let [rank, moved] = &block.lets[..] else { return None };
    let (ir::Op::Seq(op, keys), ir::Op::Seq(SeqOp::Permute, args)) = (&rank.op, &moved.op) else {
        return None;
    };
    let is_rank = matches!(op, SeqOp::RankUp | SeqOp::RankDown);
    let same = args[..] == [keys[0], Atom::Var(rank.var)];
    match keys[0] {
        Atom::Var(keys) if is_rank && same && block.result == Atom::Var(moved.var) => {
            Some((*op, keys))
        }
        _ => None,
    }
}

fn is_scalar_step(op: &ir::Op, ty: &Ty) -> bool {
    let in_side = |binding: &ir::Let| {
        is_scalar_step(&binding.op, &binding.ty)
            || matches!(binding.op, ir::Op::Seq(SeqOp::Index, _))
    };
    match op {
        ir::Op::If { then, otherwise, .. } => {
            with_stack(|| [then, otherwise].iter().all(|side| side.lets.iter().all(in_side)))
        }
        op => op.costs_at_most(Cost::Check, ty),
    }
}

fn is_structure(op: &ir::Op) -> bool {
    match op {
        ir::Op::Seq(op, _) => is_structural(*op),
        ir::Op::List(_) => true,
        _ => false,
    }
}

/// Whether a kernel of one point can be done step by step.
pub(super) fn in_steps(kernel: &Kernel) -> bool {
    let stepwise = |binding: &Let| {
        is_for_host(binding) || matches!(binding.op, Op::Map(_) | Op::Sequential(_))
    };
    kernel.masks.is_empty()
        && kernel.lets.iter().all(stepwise)
        && kernel.lets.iter().any(is_for_host)
}

/// The steps from one on that the host does not do itself.
fn run_from(kernel: &Kernel, at: usize) -> Range<usize> {
    at..at + kernel.lets[at..].iter().take_while(|l| !is_for_host(l)).count()
}

/// Some steps of a kernel as one of its own.
fn part(kernel: &Kernel, some: Range<usize>) -> Kernel {
    let lets = kernel.lets[some.clone()].to_vec();
    let mut needed: FxHashSet<Var> = kernel.stores.iter().map(|(var, _)| *var).collect();
    for binding in &kernel.lets[some.end..] {
        binding.op.each_use(&mut |var| {
            needed.insert(var);
        });
    }
    let stores = lets.iter().filter(|binding| needed.contains(&binding.var));
    let stores = stores.map(|binding| (binding.var, binding.ctx)).collect();
    Kernel { lets, stores, ..kernel.clone() }
}

/// The kernels that are launched for one that is done step by step.
pub(super) fn parts(kernel: &Kernel) -> Vec<(Which, Kernel)> {
    let (mut all, mut at) = (Vec::new(), 0);
    while at < kernel.lets.len() {
        let some = run_from(kernel, at);
        at = some.end.max(at + 1);
        if !some.is_empty() {
            all.push((Which::Part(kernel.id, some.start), part(kernel, some)));
        }
    }
    all
}

impl<'p> Evaluator<'p> {
    /// Evaluates a kernel of one point, step by step; what the host does not do itself it has done
    /// by kernels of one step.
    pub(super) fn by_host(&'p self, frame: &mut Frame<'p>, kernel: &'p Kernel) -> Run<()> {
        let mut at = 0;
        while at < kernel.lets.len() {
            let binding = &kernel.lets[at];
            if is_for_host(binding) {
                let later = &kernel.lets[at + 1..];
                let own = self.claim(frame, kernel, binding, later);
                let value = self.one(frame, binding, own)?;
                frame.vars.insert((binding.var, binding.ctx), Rc::new(value));
                at += 1;
            } else {
                let some = run_from(kernel, at);
                at = some.end;
                self.launch(frame, Which::Part(kernel.id, some.start), &part(kernel, some))?;
            }
        }
        for binding in &kernel.lets {
            let place = (binding.var, binding.ctx);
            if !kernel.stores.contains(&place) {
                frame.vars.remove(&place);
            }
        }
        Ok(())
    }

    /// Takes the sequence out of a frame that an operation may write to, if it is the last to use
    /// it.
    fn claim(
        &self,
        frame: &mut Frame<'p>,
        kernel: &Kernel,
        binding: &Let,
        later: &[Let],
    ) -> Option<Parts> {
        let Op::Map(ir::Op::Seq(op, args)) = &binding.op else { return None };
        let [Atom::Var(first), rest @ ..] = &args[..] else { return None };
        let var = *first;
        let mut used = !op.row().in_place || rest.contains(&Atom::Var(var));
        for binding in later {
            binding.op.each_use(&mut |other| used |= other == var);
        }
        let home = frame.values.get(&var)?.0;
        let here = kernel.lets.iter().any(|binding| binding.var == var);
        let last = if here {
            kernel.stores.iter().all(|(stored, _)| *stored != var)
        } else {
            frame.is_last_use(var, home)
        };
        if used || !last {
            return None;
        }
        let value = frame.vars.remove(&(var, home))?;
        match Rc::try_unwrap(value) {
            Ok(parts) => Some(parts),
            Err(shared) => {
                frame.vars.insert((var, home), shared);
                None
            }
        }
    }

    /// What a step computes; `own` is the sequence it may write to.
    fn one(&'p self, frame: &mut Frame<'p>, binding: &Let, own: Option<Parts>) -> Run<Parts> {
        let (ctx, site) = (binding.ctx, binding.site);
        let mut values: Vec<Rc<Parts>> = Vec::new();
        let claimed = own.is_some();
        for atom in binding.op.operands().into_iter().skip(usize::from(claimed)) {
            values.push(self.value_at(frame, atom, ctx)?);
        }
        if let Some(own) = own {
            values.insert(0, Rc::new(own));
        }
        let all = match &binding.op {
            Op::Map(ir::Op::If { cond, then, otherwise }) => {
                let mut local = FxHashMap::default();
                let sides = (*cond, then, otherwise);
                return Ok((*self.side(frame, &mut local, sides, ctx)?).clone());
            }
            Op::Map(ir::Op::Seq(op, args)) if is_structural(*op) => {
                let Atom::Var(first) = args[0] else { unreachable!("it is a sequence") };
                let ty = frame.values[&first].1.element().expect("types were checked").clone();
                let args: Vec<&Parts> = values.iter().map(|value| &**value).collect();
                let done = self.structural(*op, &args, &ty, claimed)?;
                return done.map_err(|fault| self.fault(frame, site, fault));
            }
            Op::Map(ir::Op::List(_)) => {
                let ty = binding.ty.element().expect("types were checked");
                let values: Vec<&Parts> = values.iter().map(|value| &**value).collect();
                return self.listed(&values, ty);
            }
            Op::Map(op) => return self.scalar_step(frame, op, &values, &binding.ty, site),
            Op::Extent(op, _) => {
                let args: Vec<i64> = match op {
                    SeqOp::Range => values.iter().map(|value| int(&value.all[0])).collect(),
                    _ => vec![int(&values[1].all[0])],
                };
                vec![self.int(extent(&args).map_err(|fault| self.fault(frame, site, fault))?)]
            }
            Op::SameLength(_, _, code) => {
                let (a, b) = (whole_number(&values[0].all[0]), whole_number(&values[1].all[0]));
                if a != b {
                    let fault = Fault::with(*code, format!("lengths {a} and {b}"));
                    return Err(self.fault(frame, site, fault));
                }
                vec![Arg::Scalar(Literal::Bool(true))]
            }
            Op::Sequential(block) => {
                let (rank, keys) = sorting(block).expect("nothing else is for the host");
                let keys = self.value_at(frame, Atom::Var(keys), ctx)?;
                return self.sorted(&keys, rank);
            }
            Op::Element { .. }
            | Op::Position
            | Op::Gather(..)
            | Op::Collect { .. }
            | Op::Reduce { .. }
            | Op::Histogram { .. }
            | Op::Scatter { .. }
            | Op::Scan { .. }
            | Op::Branch { .. }
            | Op::Call(..)
            | Op::Versions { .. } => unreachable!("it is not for the host"),
        };
        Ok(Parts::new(all))
    }

    fn scalar_step(
        &self,
        frame: &Frame<'p>,
        op: &ir::Op,
        values: &[Rc<Parts>],
        ty: &Ty,
        site: Site,
    ) -> Run<Parts> {
        let first = |ty: &Ty| lower::parts(ty, self.precision).len();
        let all = match op {
            ir::Op::Copy(_) => return Ok((*values[0]).clone()),
            ir::Op::Pair(..) => values.iter().flat_map(|value| value.all.iter().cloned()).collect(),
            ir::Op::First(_) => values[0].all[..first(ty)].to_vec(),
            ir::Op::Second(_) => {
                let all = &values[0].all;
                all[all.len() - first(ty)..].to_vec()
            }
            ir::Op::Scalar(op, _) => {
                let args: Vec<Scalar> = values.iter().map(|value| scalar(&value.all[0])).collect();
                let result = eval(*op, &args, self.precision);
                let result = result.map_err(|code| self.fault(frame, site, Fault::new(code)))?;
                vec![Arg::Scalar(self.literal_of(result))]
            }
            ir::Op::Check { code, message, .. } => {
                if !matches!(values[0].all[..], [Arg::Scalar(Literal::Bool(true))]) {
                    let fault = if message.is_empty() {
                        Fault::new(*code)
                    } else {
                        Fault::with(*code, message.as_str())
                    };
                    return Err(self.fault(frame, site, fault));
                }
                values[0].all.clone()
            }
            ir::Op::Seq(SeqOp::Length, _) => {
                vec![self.int(whole_number(&values[0].all[0]) as i64)]
            }
            ir::Op::If { .. }
            | ir::Op::Seq(..)
            | ir::Op::Text(_)
            | ir::Op::List(_)
            | ir::Op::Global(_)
            | ir::Op::Error(_)
            | ir::Op::Call(..)
            | ir::Op::Nest(_)
            | ir::Op::Host(..)
            | ir::Op::Time(_) => unreachable!("it is no scalar step"),
        };
        Ok(Parts::new(all))
    }

    /// A conditional on scalars.
    fn side(
        &'p self,
        frame: &mut Frame<'p>,
        local: &mut FxHashMap<Var, (Rc<Parts>, Ty)>,
        (cond, then, otherwise): (Atom, &ir::Block, &ir::Block),
        ctx: SpaceId,
    ) -> Run<Rc<Parts>> {
        with_stack(|| {
            let cond = self.known(frame, local, cond, ctx)?;
            let yes = matches!(cond.all[..], [Arg::Scalar(Literal::Bool(true))]);
            let side = if yes { then } else { otherwise };
            for binding in &side.lets {
                let value = match &binding.op {
                    ir::Op::If { cond, then, otherwise } => {
                        self.side(frame, local, (*cond, then, otherwise), ctx)?
                    }
                    op => {
                        let mut values = Vec::new();
                        for atom in op.operands() {
                            values.push(self.known(frame, local, atom, ctx)?);
                        }
                        Rc::new(match op {
                            ir::Op::Seq(op @ SeqOp::Index, args) => {
                                let Atom::Var(of) = args[0] else { unreachable!("a sequence") };
                                let ty = match local.get(&of) {
                                    Some((_, ty)) => ty.clone(),
                                    None => frame.values[&of].1.clone(),
                                };
                                let ty = ty.element().expect("types were checked");
                                let args: Vec<&Parts> = values.iter().map(|v| &**v).collect();
                                let done = self.structural(*op, &args, ty, false)?;
                                done.map_err(|fault| self.fault(frame, binding.site, fault))?
                            }
                            op => {
                                self.scalar_step(frame, op, &values, &binding.ty, binding.site)?
                            }
                        })
                    }
                };
                local.insert(binding.var, (value, binding.ty.clone()));
            }
            self.known(frame, local, side.result, ctx)
        })
    }

    fn known(
        &'p self,
        frame: &mut Frame<'p>,
        local: &FxHashMap<Var, (Rc<Parts>, Ty)>,
        atom: Atom,
        ctx: SpaceId,
    ) -> Run<Rc<Parts>> {
        match atom {
            Atom::Var(var) if local.contains_key(&var) => Ok(local[&var].0.clone()),
            atom => self.value_at(frame, atom, ctx),
        }
    }

    /// A failure at a step; what was launched before may have failed first.
    fn fault(&self, frame: &Frame<'p>, site: Site, fault: Fault) -> RunError {
        if let Err(failure) = self.runtime.sync() {
            return self.launcher.locate_failure(failure, &frame.trace);
        }
        let mut trace = vec![(site, frame.function.library)];
        trace.extend(frame.trace.sites());
        RunError::Failed(ProgramFailure { fault, trace })
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
            let distance = i128::from(end) - i128::from(start);
            let length = (distance + i128::from(stride) - 1) / i128::from(stride);
            i64::try_from(length).map_err(|_| {
                Fault::with(FaultCode::OutOfMemory, format!("a sequence of {length} elements"))
            })
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
