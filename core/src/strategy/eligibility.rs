//! The component that may run a program, a kernel or a step of one.
//!
//! A program goes to a runtime if there is a loop over elements in it. A kernel over many elements
//! is launched, unless it is one operation that the engine's array library does for all segments
//! at once. On the host's own path, where an index space has one element, a kernel is taken apart
//! into steps: scalar code and operations on whole sequences are the host's, and only what loops is
//! launched.

use crate::base::with_stack;
use crate::flat::{Kernel, Let, Op, RowsOperation, as_sort, rows_operation};
use crate::host_program::HostOnly;
use crate::ir::{self, Atom, Program, Ty, Var};
use crate::prim::{Cost, SeqOp};
use nesl_runtime::fault::FaultCode;
use nesl_runtime::scalar::ScalarOp;

/// Returns true if a program may have more to do than there is to compile: it loops or calls.
pub fn worth_compiling(program: &Program) -> bool {
    let mut loops = false;
    for function in &program.functions {
        function.body.for_each_op(&mut |op| {
            loops |= match op {
                ir::Op::Nest(_) | ir::Op::Call(..) | ir::Op::Global(_) => true,
                ir::Op::Seq(op, _) => op.row().cost == Cost::Generate,
                ir::Op::Copy(_)
                | ir::Op::Pair(..)
                | ir::Op::First(_)
                | ir::Op::Second(_)
                | ir::Op::Scalar(..)
                | ir::Op::Check { .. }
                | ir::Op::Text(_)
                | ir::Op::Constants(_)
                | ir::Op::List(_)
                | ir::Op::If { .. }
                | ir::Op::Error(_)
                | ir::Op::Host(..)
                | ir::Op::Time(_) => false,
            }
        });
    }
    loops
}

/// Returns true if a program with effects has no work for a runtime, provided that its inputs are
/// on the host.
pub fn left_to_interpreter(program: &Program) -> bool {
    HostOnly::of(program).function(program.main)
}

/// The component that executes a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Placement<'k> {
    /// The host does it step by step ([`host_step`]), and launches only the steps that loop.
    HostSteps,
    /// The array library does this for all segments at once.
    ArrayOperation(RowsOperation<'k>),
    /// The runtime executes it in one launch.
    Launch,
}

/// A step over one element that the host evaluates: it reads a few elements at most, or it is an
/// operation of the array library.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HostStep<'s> {
    /// An operation of the core language.
    Operation(HostOperation<'s>),
    /// The number of elements of a range or a repetition, unless nobody needs it: its operands, and then the
    /// numbers of those who do.
    Extent(SeqOp, usize),
    /// The check that two sequences are equally long; faults with this code.
    SameLength(FaultCode),
    /// The elements of a sequence in the order of their ranks by this operation.
    Sort(SeqOp, Var),
}

/// An operation of the core language that the host evaluates for one element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HostOperation<'s> {
    /// An operation on scalars and descriptors.
    Scalar(ScalarStep<'s>),
    /// A conditional whose sides are such operations, conditionals, and reads of one element.
    Conditional(Atom, [&'s ir::Block; 2]),
    /// An operation of the array library ([`crate::prim::SeqRow::array_library`]), and its first
    /// operand.
    Array(SeqOp, Var),
    /// A new sequence of some values.
    List,
}

/// An operation on scalars and descriptors, which touches no element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScalarStep<'s> {
    /// The operand, unchanged.
    Copy,
    /// A pair of both operands.
    Pair,
    /// The first component of a pair.
    First,
    /// The second component of a pair.
    Second,
    /// An operation on scalars.
    Operation(ScalarOp),
    /// A check: a fault with this message if its operand is false.
    Check(FaultCode, &'s str),
    /// The length of a sequence.
    Length,
}

/// Returns the component that executes a kernel; `single` if its index space has one element, on
/// the host's own path.
pub fn placement(kernel: &Kernel, single: bool) -> Placement<'_> {
    match (single, rows_operation(kernel)) {
        (true, _) if has_host_steps(kernel) => Placement::HostSteps,
        (false, Some(operation)) => Placement::ArrayOperation(operation),
        _ => Placement::Launch,
    }
}

/// Returns true if a kernel of one element can be taken apart, and the host does some step of it.
fn has_host_steps(kernel: &Kernel) -> bool {
    let is_on_host = |step: &Let| host_step(step).is_some();
    let separable =
        |step: &Let| is_on_host(step) || matches!(step.op, Op::Map(_) | Op::Sequential(_));
    kernel.masks.is_empty()
        && kernel.lets.iter().all(separable)
        && kernel.lets.iter().any(is_on_host)
}

/// Returns the way in which the host evaluates a step of a kernel over one element; `None` if the
/// step loops, and is launched.
pub fn host_step(step: &Let) -> Option<HostStep<'_>> {
    match &step.op {
        Op::Map(op) => host_operation(op, &step.ty).map(HostStep::Operation),
        Op::Extent { op, args, .. } => Some(HostStep::Extent(*op, args.len())),
        Op::SameLength(_, _, code) => Some(HostStep::SameLength(*code)),
        Op::Sequential(block) => as_sort(block).map(|(rank, keys)| HostStep::Sort(rank, keys)),
        Op::Element { .. }
        | Op::Position { .. }
        | Op::Gather(..)
        | Op::Collect { .. }
        | Op::Reduce { .. }
        | Op::Histogram { .. }
        | Op::Scatter { .. }
        | Op::Scan { .. }
        | Op::Branch { .. }
        | Op::Call(..)
        | Op::Versions { .. } => None,
    }
}

/// Returns the way in which the host evaluates an operation, whose result has type `ty`; `None` if
/// the operation loops.
pub fn host_operation<'s>(op: &'s ir::Op, ty: &Ty) -> Option<HostOperation<'s>> {
    let scalar = |step| op.costs_at_most(Cost::Check, ty).then_some(HostOperation::Scalar(step));
    match op {
        ir::Op::Copy(_) => scalar(ScalarStep::Copy),
        ir::Op::Pair(..) => scalar(ScalarStep::Pair),
        ir::Op::First(_) => scalar(ScalarStep::First),
        ir::Op::Second(_) => scalar(ScalarStep::Second),
        ir::Op::Scalar(op, _) => scalar(ScalarStep::Operation(*op)),
        ir::Op::Check { code, message, .. } => scalar(ScalarStep::Check(*code, message)),
        ir::Op::Seq(SeqOp::Length, _) => scalar(ScalarStep::Length),
        ir::Op::Seq(op, args) => match args.first() {
            Some(Atom::Var(first)) if op.row().array_library => {
                Some(HostOperation::Array(*op, *first))
            }
            _ => None,
        },
        ir::Op::List(_) => Some(HostOperation::List),
        ir::Op::If { cond, then, otherwise } => {
            let sides = [then, otherwise];
            with_stack(|| sides.iter().all(|side| side.lets.iter().all(is_in_host_side)))
                .then_some(HostOperation::Conditional(*cond, sides))
        }
        ir::Op::Text(_)
        | ir::Op::Constants(_)
        | ir::Op::Global(_)
        | ir::Op::Error(_)
        | ir::Op::Call(..)
        | ir::Op::Nest(_)
        | ir::Op::Host(..)
        | ir::Op::Time(_) => None,
    }
}

/// Returns true if the host evaluates an operation inside of a conditional.
fn is_in_host_side(binding: &ir::Let) -> bool {
    match host_operation(&binding.op, &binding.ty) {
        Some(HostOperation::Scalar(_) | HostOperation::Conditional(..)) => true,
        Some(HostOperation::Array(op, _)) => op.row().cost == Cost::Element,
        Some(HostOperation::List) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::prim::{Cost, SeqOp};

    /// The engine implements two operations for many segments, and one that reads an element.
    #[test]
    fn costs_select_the_operations_that_the_engine_has() {
        let of_cost = |cost| SeqOp::all().filter(move |op| op.row().cost == cost);
        let copies: Vec<SeqOp> = of_cost(Cost::Copy).collect();
        assert_eq!(copies, [SeqOp::Append, SeqOp::Flatten]);
        let reads: Vec<SeqOp> = of_cost(Cost::Element).collect();
        assert_eq!(reads, [SeqOp::Index]);
        assert!(copies.iter().chain(&reads).all(|op| op.row().array_library));
    }
}
