//! Kernels of a single element, done by the host: scalar code between launches, and operations on
//! whole sequences, which the array library does.

use crate::arrays::{FlatValue, Memory, int, length, list, perform, scalar, sort};
use crate::frame::{CallFrame, RunResult};
use crate::kernels::{KernelPart, Launcher, next_part, value_in};
use nesl_core::base::with_stack;
use nesl_core::flat::{Kernel, Let, Op, SpaceId};
use nesl_core::ir::{self, Atom, Site, Ty, Var};
use nesl_core::lower;
use nesl_core::prim::SeqOp;
use nesl_core::strategy::eligibility::{as_sort, is_array_operation};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::kir::Literal;
use nesl_runtime::runtime::Arg;
use nesl_runtime::scalar::{Scalar, eval};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Runs a kernel of a single element, step by step; what the host does not do itself is launched.
pub(super) fn run_host_steps<'p>(
    launcher: &Launcher<'p>,
    frame: &mut CallFrame<'p>,
    kernel: &'p Kernel,
) -> RunResult<()> {
    let mut at = 0;
    while let Some((part, next)) = next_part(kernel, at) {
        match part {
            KernelPart::Host(step, later) => {
                let owned = take_owned(frame, kernel, step, later);
                let value = HostStep { launcher, step }.run(frame, owned)?;
                frame.bind(step.var, step.space, value);
            }
            KernelPart::Launched(key, part) => launcher.launch(frame, key, &part)?,
        }
        at = next;
    }
    for step in &kernel.lets {
        if !kernel.stores.contains(&(step.var, step.space)) {
            frame.take(step.var, step.space);
        }
    }
    Ok(())
}

/// Takes the sequence that a step may overwrite out of the frame, if the step is the last to use it
/// and nobody else holds it.
fn take_owned(
    frame: &mut CallFrame<'_>,
    kernel: &Kernel,
    step: &Let,
    later: &[Let],
) -> Option<FlatValue> {
    let Op::Map(ir::Op::Seq(op, args)) = &step.op else { return None };
    let [Atom::Var(first), rest @ ..] = &args[..] else { return None };
    let var = *first;
    let mut used = !op.row().in_place || rest.contains(&Atom::Var(var));
    for binding in later {
        binding.op.each_use(&mut |other| used |= other == var);
    }
    let home = frame.homes.get(&var)?.0;
    let of_this_kernel = kernel.lets.iter().any(|binding| binding.var == var);
    let last = if of_this_kernel {
        kernel.stores.iter().all(|(stored, _)| *stored != var)
    } else {
        frame.is_last_use(var, home)
    };
    if used || !last {
        return None;
    }
    match Rc::try_unwrap(frame.take(var, home)?) {
        Ok(value) => Some(value),
        Err(shared) => {
            frame.bind(var, home, shared);
            None
        }
    }
}

/// The values bound inside of a side of a conditional, with their types.
type Locals = FxHashMap<Var, (Rc<FlatValue>, Ty)>;

/// A step of the host.
struct HostStep<'a, 'p> {
    launcher: &'a Launcher<'p>,
    step: &'p Let,
}

impl<'p> HostStep<'_, 'p> {
    fn memory(&self) -> &Memory<'p> {
        &self.launcher.memory
    }

    /// Returns the value of the step; `owned` is its first operand if that may be overwritten.
    fn run(&self, frame: &mut CallFrame<'p>, owned: Option<FlatValue>) -> RunResult<Rc<FlatValue>> {
        let (space, site) = (self.step.space, self.step.site);
        let mut values: Vec<Rc<FlatValue>> = Vec::new();
        let is_owned = owned.is_some();
        values.extend(owned.map(Rc::new));
        for atom in self.step.op.operands().into_iter().skip(usize::from(is_owned)) {
            values.push(value_in(self.launcher, frame, atom, space)?);
        }
        let value = match &self.step.op {
            Op::Map(ir::Op::If { cond, then, otherwise }) => {
                return self.conditional(frame, &mut Locals::default(), *cond, [then, otherwise]);
            }
            Op::Map(ir::Op::Seq(op, args)) if is_array_operation(*op) => {
                let Atom::Var(first) = args[0] else { bug!("a sequence is a variable") };
                self.array_operation(frame, *op, &values, frame.element_ty(first), is_owned, site)?
            }
            Op::Map(ir::Op::List(_)) => {
                let element = self.step.ty.element().or_bug("a list is a sequence");
                let values: Vec<&FlatValue> = values.iter().map(|value| &**value).collect();
                list(self.memory(), &values, element)?
            }
            Op::Map(op) => return self.scalar_step(frame, op, &values, &self.step.ty, site),
            Op::Extent(op, _) => {
                let args: Vec<i64> = match op {
                    SeqOp::Range => values.iter().map(|value| int(&value.parts[0])).collect(),
                    _ => vec![int(&values[1].parts[0])],
                };
                let extent = extent(&args);
                let extent = extent.map_err(|fault| self.launcher.fault(frame, site, fault))?;
                FlatValue::new(vec![self.int(extent)])
            }
            Op::SameLength(_, _, code) => {
                let (a, b) = (length(&values[0].parts[0]), length(&values[1].parts[0]));
                if a != b {
                    let fault = Fault::with(*code, format!("lengths {a} and {b}"));
                    return Err(self.launcher.fault(frame, site, fault));
                }
                FlatValue::new(vec![Arg::Scalar(Literal::Bool(true))])
            }
            Op::Sequential(block) => {
                let (rank, keys) = as_sort(block).or_bug("the host sorts, and runs no other block");
                let keys = value_in(self.launcher, frame, Atom::Var(keys), space)?;
                sort(self.memory(), &keys, rank)?
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
            | Op::Versions { .. } => bug!("a step that loops was left to the host"),
        };
        Ok(Rc::new(value))
    }

    fn array_operation(
        &self,
        frame: &CallFrame<'p>,
        op: SeqOp,
        values: &[Rc<FlatValue>],
        element: &Ty,
        owned: bool,
        site: Site,
    ) -> RunResult<FlatValue> {
        let args: Vec<&FlatValue> = values.iter().map(|value| &**value).collect();
        let performed = perform(self.memory(), op, &args, element, owned)?;
        performed.map_err(|fault| self.launcher.fault(frame, site, fault))
    }

    fn scalar_step(
        &self,
        frame: &CallFrame<'p>,
        op: &ir::Op,
        values: &[Rc<FlatValue>],
        ty: &Ty,
        site: Site,
    ) -> RunResult<Rc<FlatValue>> {
        let width = || lower::parts(ty, self.memory().precision).len();
        let parts = match op {
            ir::Op::Copy(_) => return Ok(values[0].clone()),
            ir::Op::Pair(..) => {
                values.iter().flat_map(|value| value.parts.iter().cloned()).collect()
            }
            ir::Op::First(_) => values[0].parts[..width()].to_vec(),
            ir::Op::Second(_) => {
                let parts = &values[0].parts;
                parts[parts.len() - width()..].to_vec()
            }
            ir::Op::Scalar(op, _) => {
                let args: Vec<Scalar> =
                    values.iter().map(|value| scalar(&value.parts[0])).collect();
                let result = eval(*op, &args, self.memory().precision);
                let result =
                    result.map_err(|code| self.launcher.fault(frame, site, Fault::new(code)))?;
                vec![Arg::Scalar(self.memory().literal(result))]
            }
            ir::Op::Check { code, message, .. } => {
                if !matches!(values[0].parts[..], [Arg::Scalar(Literal::Bool(true))]) {
                    let fault = if message.is_empty() {
                        Fault::new(*code)
                    } else {
                        Fault::with(*code, message.as_str())
                    };
                    return Err(self.launcher.fault(frame, site, fault));
                }
                return Ok(values[0].clone());
            }
            ir::Op::Seq(SeqOp::Length, _) => {
                vec![self.int(int(&values[0].parts[0]))]
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
            | ir::Op::Time(_) => bug!("a step that is not scalar was left to the host"),
        };
        Ok(Rc::new(FlatValue::new(parts)))
    }

    /// Returns the value of a conditional on scalars: the host runs the side that is taken.
    fn conditional(
        &self,
        frame: &mut CallFrame<'p>,
        locals: &mut Locals,
        cond: Atom,
        [then, otherwise]: [&ir::Block; 2],
    ) -> RunResult<Rc<FlatValue>> {
        with_stack(|| {
            let cond = self.operand(frame, locals, cond)?;
            let yes = matches!(cond.parts[..], [Arg::Scalar(Literal::Bool(true))]);
            let side = if yes { then } else { otherwise };
            for binding in &side.lets {
                let value = self.step_of_side(frame, locals, binding)?;
                locals.insert(binding.var, (value, binding.ty.clone()));
            }
            self.operand(frame, locals, side.result)
        })
    }

    fn step_of_side(
        &self,
        frame: &mut CallFrame<'p>,
        locals: &mut Locals,
        binding: &ir::Let,
    ) -> RunResult<Rc<FlatValue>> {
        if let ir::Op::If { cond, then, otherwise } = &binding.op {
            return self.conditional(frame, locals, *cond, [then, otherwise]);
        }
        let mut values = Vec::new();
        for atom in binding.op.operands() {
            values.push(self.operand(frame, locals, atom)?);
        }
        let ir::Op::Seq(op @ SeqOp::Index, args) = &binding.op else {
            return self.scalar_step(frame, &binding.op, &values, &binding.ty, binding.site);
        };
        let Atom::Var(sequence) = args[0] else { bug!("a sequence is a variable") };
        let element = match locals.get(&sequence) {
            Some((_, ty)) => ty.element().or_bug("what is indexed is a sequence"),
            None => frame.element_ty(sequence),
        };
        let value = self.array_operation(frame, *op, &values, element, false, binding.site)?;
        Ok(Rc::new(value))
    }

    fn operand(
        &self,
        frame: &mut CallFrame<'p>,
        locals: &Locals,
        atom: Atom,
    ) -> RunResult<Rc<FlatValue>> {
        match atom {
            Atom::Var(var) if locals.contains_key(&var) => Ok(locals[&var].0.clone()),
            Atom::Var(_)
            | Atom::Unit
            | Atom::Int(_)
            | Atom::Float(_)
            | Atom::Bool(_)
            | Atom::Char(_) => value_in(self.launcher, frame, atom, self.space()),
        }
    }

    fn space(&self) -> SpaceId {
        self.step.space
    }

    fn int(&self, x: i64) -> Arg {
        Arg::Scalar(self.memory().literal(Scalar::Int(x)))
    }
}

/// Returns the number of elements of a range `[start, stride, end]` or of a repetition `[count]`.
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
        _ => bug!("ranges have three operands, repetitions one"),
    }
}
