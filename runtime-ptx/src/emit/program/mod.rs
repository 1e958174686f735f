//! The steps of a kernel: kernels that are launched one after the other, with the arrays that they
//! share.
//!
//! Sinks that the passes of one kernel cannot execute are rewritten in kir:
//!
//! ```text
//! emit n columns a -> #0 lengths l       v = scan add n total t          (`emission`)
//!                                      } then {
//!                                        store l[index] = n
//!                                        for j < n { store out[v + j] = a[j] }
//!
//! histogram add x -> a[b] when c         store bins[index] = c ? b : -1  (`histogram`)
//!                                        store values[index] = x
//!                                      then: a table for each part of the space, by a step with
//!                                      code of its own (`collect`), and the sum of these tables
//! ```
//!
//! The arrays `out`, `bins`, `values` and the tables are *temporaries* of the launch; those of `out`
//! become its outputs. The length of some is a sum that an early pass computes: the launcher reads
//! it before the final pass.

mod emission;
mod histogram;

pub use histogram::{Collect, Notes, RANGE_BINS, Table, TableSize, untouched};

use super::plan::Plan;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{
    Block, Combine, Inst, Kernel, Literal, Op, Scope, Sink, Stage, Ty, Value, ValueTy,
};
use std::mem;

/// A kernel as steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The arrays that the launcher allocates for one launch.
    pub temporaries: Vec<Temporary>,
    /// The temporaries that are the outputs, in order.
    pub outputs: Vec<usize>,
}

/// A kernel with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The kernel that the step launches.
    pub kernel: Kernel,
    /// Its passes and areas.
    pub plan: Plan,
    /// The arguments, one for each parameter.
    pub args: Vec<Source>,
    /// The code of its passes.
    pub code: StepCode,
}

/// The code of the passes of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepCode {
    /// That of the kernel's work items, and its sinks.
    WorkItems,
    /// Code for blocks, in place of the kernel's, which has only parameters and a size.
    Collect(Collect),
}

/// The origin of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A parameter of the launch, by number.
    Param(usize),
    /// A temporary, by number.
    Temporary(usize),
    /// A number, as an `i64`.
    Size(Size),
}

/// An array of one launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Temporary {
    /// The type of the elements.
    pub ty: Ty,
    /// The number of elements.
    pub length: Size,
}

/// A number that the launcher computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// A number that no argument changes.
    Constant(u64),
    /// A number of elements that the first step determines.
    Count(Count),
    /// A number that is part of the shape of the private tables of a histogram.
    Table(Table, TableSize),
}

/// A number of elements that the first step determines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// The number of work items of the launch.
    WorkItems,
    /// The first element of a temporary, which a pass before the final one writes.
    Total(usize),
}

impl Program {
    /// The steps of a kernel without calls.
    pub fn of(kernel: &Kernel) -> Program {
        let mut rewriting = Rewriting {
            args: (0..kernel.params.len()).map(Source::Param).collect(),
            outputs: vec![0; kernel.outputs.len()],
            kernel: kernel.clone(),
            temporaries: Vec::new(),
            next: Vec::new(),
            followers: Vec::new(),
        };
        for stage in 0..kernel.stages.len() {
            rewriting.stage(stage);
        }
        let Rewriting { mut kernel, args, temporaries, outputs, followers, .. } = rewriting;
        kernel.outputs.clear();
        let totals: Vec<Value> = {
            let numbers: Vec<usize> =
                temporaries.iter().filter_map(|it| it.length.total()).collect();
            let is_total = |arg: &Source| match arg {
                Source::Temporary(number) => numbers.contains(number),
                Source::Param(_) | Source::Size(_) => false,
            };
            let params = kernel.params.iter().zip(&args);
            params.filter(|(_, arg)| is_total(arg)).map(|(param, _)| *param).collect()
        };
        let plan = Plan::of(&kernel, &totals);
        let mut steps = vec![Step { plan, kernel, args, code: StepCode::WorkItems }];
        steps.extend(followers);
        Program { steps, temporaries, outputs }
    }
}

impl Step {
    /// A step with the passes that its kernel needs.
    pub fn new(kernel: Kernel, args: Vec<Source>) -> Step {
        Step { plan: Plan::of(&kernel, &[]), kernel, args, code: StepCode::WorkItems }
    }
}

impl Size {
    /// The temporary that must be read before the number is known, if there is one.
    pub fn total(&self) -> Option<usize> {
        match self {
            Size::Count(Count::Total(total))
            | Size::Table(Table { items: Count::Total(total), .. }, _) => Some(*total),
            Size::Constant(_)
            | Size::Count(Count::WorkItems)
            | Size::Table(Table { items: Count::WorkItems, .. }, _) => None,
        }
    }
}

/// A kernel while its sinks are rewritten.
pub struct Rewriting {
    /// The kernel, with parameters for the temporaries.
    pub kernel: Kernel,
    /// The temporary of each output.
    pub outputs: Vec<usize>,
    /// The code that the next stage begins with: it sees the results of the sinks, and the arrays of
    /// the work item as they are between the stages.
    pub next: Vec<Inst>,
    /// The steps behind the kernel.
    pub followers: Vec<Step>,
    args: Vec<Source>,
    temporaries: Vec<Temporary>,
}

impl Rewriting {
    fn stage(&mut self, stage: usize) {
        let sinks = mem::take(&mut self.kernel.stages[stage].sinks);
        for sink in sinks {
            let kept = match sink {
                Sink::Emit { columns, length, lengths } => {
                    Some(emission::rewrite(self, &columns, length, lengths))
                }
                Sink::Histogram { array, combine, index, value, length, when }
                    if !histogram::is_free(combine, self.element(value)) =>
                {
                    let update = histogram::Update { array, combine, index, value, when };
                    histogram::rewrite(self, stage, update, length)
                }
                other => Some(other),
            };
            self.kernel.stages[stage].sinks.extend(kept);
        }
        let mut insts = mem::take(&mut self.next);
        match self.kernel.stages.get_mut(stage + 1) {
            Some(next) => {
                insts.append(&mut next.body.insts);
                next.body.insts = insts;
            }
            None if insts.is_empty() => {}
            None => {
                let body = Block { insts, yields: Vec::new() };
                self.kernel.stages.push(Stage { body, sinks: Vec::new() });
            }
        }
    }

    /// The type of a scalar, or of the elements of an array.
    pub fn element(&self, value: Value) -> Ty {
        match self.kernel.types[value.0 as usize] {
            ValueTy::Scalar(ty) | ValueTy::Array(ty) => ty,
            ValueTy::Mark => nesl_runtime::bug!("a mark has no elements"),
        }
    }

    /// The index of the work item in the space.
    pub fn index(&self) -> Value {
        *self.kernel.indices.last().or_bug("a space has an index")
    }

    /// Code that begins at the end of a stage.
    pub fn code(&mut self, insts: Vec<Inst>) -> Code<'_> {
        Code { types: &mut self.kernel.types, insts }
    }

    /// A new temporary.
    pub fn temporary(&mut self, ty: Ty, length: Size) -> usize {
        self.temporaries.push(Temporary { ty, length });
        self.temporaries.len() - 1
    }

    /// A parameter of the kernel for a temporary.
    pub fn param(&mut self, temporary: usize) -> Value {
        let param = Value(self.kernel.types.len() as u32);
        self.kernel.types.push(ValueTy::Array(self.temporaries[temporary].ty));
        self.kernel.params.push(param);
        self.args.push(Source::Temporary(temporary));
        param
    }

    /// The number of a parameter of the launch.
    pub fn number(&self, param: Value) -> usize {
        let number = self.kernel.params.iter().position(|known| *known == param);
        number.or_bug("a sink writes a parameter: the verifier sees that")
    }

    /// A scan that counts: the sink, its result, and the temporary with the total.
    pub fn counting(&mut self, length: Value) -> (Sink, Value, usize) {
        let total = self.temporary(Ty::I64, Size::Constant(1));
        let array = self.param(total);
        let result = self.code(Vec::new()).value(ValueTy::Scalar(Ty::I64));
        let (scope, combine) = (Scope::All, Combine::Add);
        (Sink::Scan { scope, combine, value: length, result, total: Some(array) }, result, total)
    }
}

/// Code under construction, with the types of the values of its kernel.
pub struct Code<'a> {
    types: &'a mut Vec<ValueTy>,
    /// The instructions so far.
    pub insts: Vec<Inst>,
}

impl Code<'_> {
    /// A new value.
    pub fn value(&mut self, ty: ValueTy) -> Value {
        self.types.push(ty);
        Value(self.types.len() as u32 - 1)
    }

    /// Appends an operation that makes a scalar.
    pub fn scalar(&mut self, ty: Ty, op: Op) -> Value {
        let value = self.value(ValueTy::Scalar(ty));
        self.insts.push(Inst { results: vec![value], op });
        value
    }

    /// Appends a constant.
    pub fn i64(&mut self, x: i64) -> Value {
        self.scalar(Ty::I64, Op::Const(Literal::I64(x)))
    }

    /// Appends an operation that makes nothing.
    pub fn effect(&mut self, op: Op) {
        self.insts.push(Inst { results: Vec::new(), op });
    }

    /// Appends a counted loop.
    pub fn repeat(&mut self, count: Value, body: impl FnOnce(&mut Code<'_>, Value)) {
        let index = self.value(ValueTy::Scalar(Ty::I64));
        let mut code = Code { types: self.types, insts: Vec::new() };
        body(&mut code, index);
        let body = Block { insts: code.insts, yields: Vec::new() };
        let (init, carried, reduce) = Default::default();
        self.effect(Op::For { count, index, init, carried, reduce, body });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nesl_runtime::kir::{Module, verify};
    use nesl_runtime::testkit::cases;

    /// Every step of every case is well-formed.
    #[test]
    fn rewritten_kernels_are_well_formed() {
        let (mut longer, mut outputs) = (0, 0);
        for case in cases() {
            let module = case.module();
            if !module.functions.is_empty() {
                continue;
            }
            let program = Program::of(&module.kernels[0]);
            longer += usize::from(program.steps.len() > 1);
            outputs += program.outputs.len();
            for step in program.steps {
                assert_eq!(step.args.len(), step.kernel.params.len());
                let module = Module { functions: Vec::new(), kernels: vec![step.kernel] };
                assert_eq!(verify(&module), Ok(()), "{}", case.text);
            }
        }
        assert!(longer > 20 && outputs > 20, "{longer} with followers, {outputs} outputs");
    }
}
