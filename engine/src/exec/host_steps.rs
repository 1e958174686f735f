//! Kernels of a single element, done by the host: scalar code between launches, and operations on
//! whole sequences, which the array library does.

use crate::arrays::{FlatValue, Memory, Parts, int, length, list, perform, scalar, sort};
use crate::frame::{CallFrame, RunResult, constant};
use crate::kernels::{KernelKey, Launcher, value_in};
use nesl_core::base::with_stack;
use nesl_core::flat::{Kernel, Let, Op, SpaceId};
use nesl_core::ir::{self, Atom, Site, Ty, Var};
use nesl_core::lower;
use nesl_core::pipeline::launches::{KernelPart, next_part};
use nesl_core::prim::SeqOp;
use nesl_core::strategy::eligibility::{HostOperation, HostStep, ScalarStep, host_operation};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::kir::Literal;
use nesl_runtime::runtime::Arg;
use nesl_runtime::scalar::{Scalar, ScalarOp, eval};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::rc::Rc;

/// Runs a kernel of a single element, step by step; what the host does not do itself is launched.
pub(super) fn run_host_steps<'p>(
    launcher: &Launcher<'p>,
    frame: &mut CallFrame<'p>,
    kernel: &'p Kernel,
) -> RunResult<()> {
    // A step of another kernel that is computed again here may be held for others.
    let is_held = |step: &&Let| frame.holds(step.var, step.space);
    let held: SmallVec<[Var; 4]> =
        kernel.lets.iter().filter(is_held).map(|step| step.var).collect();
    let mut at = 0;
    while let Some((part, next)) = next_part(kernel, at) {
        match part {
            KernelPart::Host(_, step, _) if held.contains(&step.var) => {}
            KernelPart::Host(on_host, step, later) => {
                let owned = take_owned(frame, kernel, step, later);
                let value = StepRunner { launcher, step }.run(frame, on_host, owned)?;
                frame.bind(step.var, step.space, value);
            }
            KernelPart::Launched(origin, part) => {
                launcher.launch(frame, KernelKey::Program(origin), &part)?;
            }
        }
        at = next;
    }
    for step in &kernel.lets {
        if !kernel.stores.contains(&(step.var, step.space)) && !held.contains(&step.var) {
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

/// Evaluates a step.
struct StepRunner<'a, 'p> {
    launcher: &'a Launcher<'p>,
    step: &'p Let,
}

impl<'p> StepRunner<'_, 'p> {
    fn memory(&self) -> &Memory<'p> {
        &self.launcher.memory
    }

    /// Returns the value of the step; `owned` is its first operand if that may be overwritten.
    fn run(
        &self,
        frame: &mut CallFrame<'p>,
        on_host: HostStep<'p>,
        owned: Option<FlatValue>,
    ) -> RunResult<Rc<FlatValue>> {
        let (space, site) = (self.step.space, self.step.site);
        // Most steps compute a scalar of scalars.
        if let HostStep::Operation(HostOperation::Scalar(ScalarStep::Operation(op))) = on_host {
            let mut args: SmallVec<[Scalar; 4]> = SmallVec::new();
            for atom in self.step.op.operands() {
                args.push(self.scalar_operand(frame, atom)?);
            }
            return Ok(Rc::new(self.computed(frame, op, &args, site)?));
        }
        let mut values: SmallVec<[Rc<FlatValue>; 4]> = SmallVec::new();
        let is_owned = owned.is_some();
        values.extend(owned.map(Rc::new));
        for atom in self.step.op.operands().into_iter().skip(usize::from(is_owned)) {
            values.push(value_in(self.launcher, frame, atom, space)?);
        }
        let value = match on_host {
            HostStep::Operation(operation) => {
                let (locals, result) = (&mut Locals::default(), (&self.step.ty, site));
                return self.operation(frame, locals, operation, &values, is_owned, result);
            }
            HostStep::Extent(op, operands) => {
                let (values, needed_for) = values.split_at(operands);
                if needed_for.iter().any(|of| length(&of.parts[0]) == 0) {
                    return Ok(Rc::new(FlatValue::single(self.int(0))));
                }
                let args: SmallVec<[i64; 3]> = match op {
                    SeqOp::Range => values.iter().map(|value| int(&value.parts[0])).collect(),
                    SeqOp::Dist => smallvec![int(&values[1].parts[0])],
                    other => bug!("{other:?} has no extent that the host computes"),
                };
                let extent = extent(&args);
                let extent = extent.map_err(|fault| self.launcher.fault(frame, site, fault))?;
                FlatValue::single(self.int(extent))
            }
            HostStep::SameLength(code) => {
                let (a, b) = (length(&values[0].parts[0]), length(&values[1].parts[0]));
                if a != b {
                    let fault = Fault::with(code, format!("lengths {a} and {b}"));
                    return Err(self.launcher.fault(frame, site, fault));
                }
                FlatValue::single(Arg::Scalar(Literal::Bool(true)))
            }
            HostStep::Sort(rank, keys) => {
                let keys = value_in(self.launcher, frame, Atom::Var(keys), space)?;
                sort(self.memory(), &keys, rank)?
            }
        };
        Ok(Rc::new(value))
    }

    /// Returns the value of an operation on some values, of a type and for a source location;
    /// `owned` if the first value may be overwritten.
    fn operation(
        &self,
        frame: &mut CallFrame<'p>,
        locals: &mut Locals,
        operation: HostOperation<'_>,
        values: &[Rc<FlatValue>],
        owned: bool,
        (ty, site): (&Ty, Site),
    ) -> RunResult<Rc<FlatValue>> {
        let operands =
            || values.iter().map(|value| &**value).collect::<SmallVec<[&FlatValue; 4]>>();
        let value = match operation {
            HostOperation::Scalar(step) => self.scalar_step(frame, step, values, ty, site)?,
            HostOperation::Conditional(cond, sides) => {
                return self.conditional(frame, locals, cond, sides);
            }
            HostOperation::Array(op, first) => {
                let element = match locals.get(&first) {
                    Some((_, ty)) => ty.element().or_bug("what is indexed is a sequence"),
                    None => frame.element_ty(first),
                };
                let performed = perform(self.memory(), op, &operands(), element, owned)?;
                Rc::new(performed.map_err(|fault| self.launcher.fault(frame, site, fault))?)
            }
            HostOperation::List => {
                let element = ty.element().or_bug("a list is a sequence");
                Rc::new(list(self.memory(), &operands(), element)?)
            }
        };
        Ok(value)
    }

    fn scalar_step(
        &self,
        frame: &CallFrame<'p>,
        step: ScalarStep<'_>,
        values: &[Rc<FlatValue>],
        ty: &Ty,
        site: Site,
    ) -> RunResult<Rc<FlatValue>> {
        let width = || lower::parts(ty, self.memory().precision).len();
        let parts: Parts = match step {
            ScalarStep::Copy => return Ok(values[0].clone()),
            ScalarStep::Pair => {
                values.iter().flat_map(|value| value.parts.iter().cloned()).collect()
            }
            ScalarStep::First => values[0].parts[..width()].iter().cloned().collect(),
            ScalarStep::Second => {
                let parts = &values[0].parts;
                parts[parts.len() - width()..].iter().cloned().collect()
            }
            ScalarStep::Operation(op) => {
                let args: SmallVec<[Scalar; 4]> =
                    values.iter().map(|value| scalar(&value.parts[0])).collect();
                return Ok(Rc::new(self.computed(frame, op, &args, site)?));
            }
            ScalarStep::Check(code, message) => {
                if !matches!(values[0].parts[..], [Arg::Scalar(Literal::Bool(true))]) {
                    let fault = match message {
                        "" => Fault::new(code),
                        message => Fault::with(code, message),
                    };
                    return Err(self.launcher.fault(frame, site, fault));
                }
                return Ok(values[0].clone());
            }
            ScalarStep::Length => smallvec![self.int(int(&values[0].parts[0]))],
        };
        Ok(Rc::new(FlatValue::new(parts)))
    }

    /// Returns the value of an operation on scalars.
    fn computed(
        &self,
        frame: &CallFrame<'p>,
        op: ScalarOp,
        args: &[Scalar],
        site: Site,
    ) -> RunResult<FlatValue> {
        let result = eval(op, args, self.memory().precision);
        let result = result.map_err(|code| self.launcher.fault(frame, site, Fault::new(code)))?;
        Ok(FlatValue::single(Arg::Scalar(self.memory().literal(result))))
    }

    /// Returns a scalar as the step sees it.
    fn scalar_operand(&self, frame: &mut CallFrame<'p>, atom: Atom) -> RunResult<Scalar> {
        match constant(atom) {
            Some(constant) => Ok(scalar(&Arg::Scalar(self.memory().literal(constant)))),
            None => Ok(scalar(&value_in(self.launcher, frame, atom, self.space())?.parts[0])),
        }
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
        // All of a nested conditional was found to be the host's together with this one.
        if let ir::Op::If { cond, then, otherwise } = &binding.op {
            return self.conditional(frame, locals, *cond, [then, otherwise]);
        }
        let operation = host_operation(&binding.op, &binding.ty)
            .or_bug("the host evaluates each operation of a side that it evaluates");
        let mut values: SmallVec<[Rc<FlatValue>; 4]> = SmallVec::new();
        for atom in binding.op.operands() {
            values.push(self.operand(frame, locals, atom)?);
        }
        let result = (&binding.ty, binding.site);
        self.operation(frame, locals, operation, &values, false, result)
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
