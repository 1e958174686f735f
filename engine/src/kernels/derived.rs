//! Kernels that are not part of the program: values broadcast to another index space, lengths, and
//! the indices of filters.

use super::cache::KernelKey;
use super::launch::Launcher;
use crate::arrays::{FlatValue, Parts, as_lengths};
use crate::frame::{CallFrame, RunResult, constant};
use nesl_core::flat::{Kernel, Let, Op, SpaceId};
use nesl_core::ir::{self, Atom, Ty, Var};
use nesl_core::pipeline::launches::{DERIVED_KERNEL, Origin, filtering};
use nesl_core::prim::SeqOp;
use nesl_runtime::bug::OrBug;
use nesl_runtime::runtime::Arg;
use std::rc::Rc;

/// The variable that a derived kernel stores.
const DERIVED_VAR: Var = Var(u32::MAX);

/// Returns a value as it is seen from an index space inside its home: itself where that takes no
/// kernel, and otherwise broadcast to each element.
pub(crate) fn value_in<'p>(
    launcher: &Launcher<'p>,
    frame: &mut CallFrame<'p>,
    atom: Atom,
    space: SpaceId,
) -> RunResult<Rc<FlatValue>> {
    if let Some(value) = frame.value_in(&launcher.memory, atom, space) {
        return Ok(value);
    }
    let (key, ty) = match (atom, constant(atom)) {
        (Atom::Var(var), _) => (KernelKey::Broadcast(var, space), frame.ty(var).clone()),
        (_, Some(scalar)) => {
            let key = KernelKey::Constant(space, launcher.memory.literal(scalar));
            (key, type_of_constant(atom))
        }
        (_, None) => return Ok(Rc::new(FlatValue::new(Parts::new()))),
    };
    derive(launcher, frame, key, ir::Op::Copy(atom), ty, space)
}

/// Returns the length of a sequence for each element of an index space inside its home.
pub(crate) fn lengths_in<'p>(
    launcher: &Launcher<'p>,
    frame: &mut CallFrame<'p>,
    var: Var,
    space: SpaceId,
) -> RunResult<Arg> {
    let op = ir::Op::Seq(SeqOp::Length, vec![Atom::Var(var)]);
    let lengths = derive(launcher, frame, KernelKey::Length(var, space), op, Ty::Int, space)?;
    let count = frame.extent(space).count;
    Ok(as_lengths(&launcher.memory, lengths.parts[0].clone(), count)?)
}

/// Finds the elements of a filter whose flags were stored.
pub(crate) fn filter<'p>(
    launcher: &Launcher<'p>,
    frame: &mut CallFrame<'p>,
    outer: SpaceId,
    filter: SpaceId,
) -> RunResult<()> {
    launcher.launch(
        frame,
        KernelKey::Program(Origin::Filter(filter)),
        &filtering(outer, vec![filter]),
    )
}

/// Finds the elements of both sides of a conditional.
pub(crate) fn filter_sides<'p>(
    launcher: &Launcher<'p>,
    frame: &mut CallFrame<'p>,
    outer: SpaceId,
    [then, otherwise]: [SpaceId; 2],
) -> RunResult<()> {
    let kernel = filtering(outer, vec![then, otherwise]);
    launcher.launch(frame, KernelKey::Program(Origin::Sides(then, otherwise)), &kernel)
}

/// Returns the value of an operation at each element of an index space.
fn derive<'p>(
    launcher: &Launcher<'p>,
    frame: &mut CallFrame<'p>,
    key: KernelKey,
    op: ir::Op,
    ty: Ty,
    space: SpaceId,
) -> RunResult<Rc<FlatValue>> {
    let site = frame.function.index_space(space).site;
    let binding = Let { var: DERIVED_VAR, ty, space, op: Op::Map(op), site };
    let kernel = Kernel {
        id: DERIVED_KERNEL,
        space,
        lets: vec![binding],
        masks: Vec::new(),
        stores: vec![(DERIVED_VAR, space)],
        counts: Vec::new(),
        filter_indices: Vec::new(),
    };
    launcher.launch(frame, key, &kernel)?;
    Ok(frame.take(DERIVED_VAR, space).or_bug("a kernel binds what it stores"))
}

fn type_of_constant(constant: Atom) -> Ty {
    match constant {
        Atom::Var(_) | Atom::Unit => Ty::Unit,
        Atom::Int(_) => Ty::Int,
        Atom::Float(_) => Ty::Float,
        Atom::Bool(_) => Ty::Bool,
        Atom::Char(_) => Ty::Char,
    }
}
