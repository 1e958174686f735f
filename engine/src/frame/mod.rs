//! The state of one call of a flattened function: its index spaces, its values, and the calls
//! around it.
//!
//! A value lives in an index space, its home. Where the space has a single element, on the host's
//! own path, the value is scalars and arrays of the host; elsewhere it is columns with an entry for
//! each element. Values and extents are dropped after the last step that uses them, so that a later
//! step may overwrite their arrays.
//!
//! | module | contents |
//! |---|---|
//! | `program` | a flat program with what is derived from it once |
//! | `last_use` | the values that each step is the last to use |
//! | `extent` | the elements and segments of index spaces |
//! | `loops` | the iterations of the loops of a thread |
//! | `error` | the ways in which a run ends early |

mod error;
mod extent;
mod last_use;
mod loops;
mod program;

pub(crate) use error::{RunError, RunResult};
pub(crate) use extent::Extent;
pub(crate) use program::FlatProgram;

use crate::arrays::{FlatValue, Memory, Parts};
use crate::trace::CallTrace;
use crate::unsupported::Unsupported;
use last_use::LastUses;
use nesl_core::flat::{Function, SpaceId, SpaceKind};
use nesl_core::ir::{Atom, FunId, Ty, Var};
use nesl_core::lower::kernel::Values;
use nesl_core::pipeline::launches::Descriptors;
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::runtime::{Arg, Buffer};
use nesl_runtime::scalar::Scalar;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;

/// The arguments of a call.
pub(crate) type CallArgs = SmallVec<[Rc<FlatValue>; 4]>;

/// A call of a flattened function that is under way.
pub(crate) struct CallFrame<'p> {
    pub(crate) id: FunId,
    pub(crate) function: &'p Function,
    /// The home and the type of each value of the function.
    pub(crate) homes: &'p Values,
    pub(crate) trace: CallTrace,
    extents: FxHashMap<SpaceId, Rc<Extent>>,
    values: FxHashMap<(Var, SpaceId), Rc<FlatValue>>,
    /// The steps under way, of blocks inside each other, the innermost last.
    steps: Vec<(Rc<LastUses>, usize)>,
}

impl Descriptors for CallFrame<'_> {
    fn is_single(&self, space: SpaceId) -> bool {
        self.extents.get(&space).is_some_and(|extent| extent.single)
    }

    fn is_regular(&self, space: SpaceId) -> bool {
        let segments = self.extents.get(&space).and_then(|extent| extent.segments.as_ref());
        segments.is_some_and(|segments| segments.regular.is_some())
    }

    fn is_tiled(&self, var: Var, home: SpaceId) -> bool {
        self.values.get(&(var, home)).is_some_and(|value| value.tiles.is_some())
    }
}

impl<'p> CallFrame<'p> {
    /// Begins a call at the elements of the caller's index space, in the memory of a frame whose call has ended, if
    /// there is one.
    pub(crate) fn new(
        program: &'p FlatProgram,
        id: FunId,
        elements: Rc<Extent>,
        args: CallArgs,
        trace: CallTrace,
        ended: Option<CallFrame<'p>>,
    ) -> CallFrame<'p> {
        let function = program.function(id);
        let (mut extents, mut values, mut steps) = match ended {
            Some(CallFrame { extents, values, steps, .. }) => (extents, values, steps),
            None => Default::default(),
        };
        extents.clear();
        values.clear();
        steps.clear();
        extents.insert(SpaceId::CALLER, elements);
        let params = function.params.iter().map(|(var, _)| (*var, SpaceId::CALLER));
        values.extend(params.zip(args));
        let homes = program.homes(id);
        CallFrame { id, function, homes, trace, extents, values, steps }
    }

    /// Returns the extent of an index space that was entered.
    pub(crate) fn extent(&self, space: SpaceId) -> &Rc<Extent> {
        self.extents.get(&space).or_bug("an index space is entered before it is used")
    }

    /// Enters an index space.
    pub(crate) fn set_extent(&mut self, space: SpaceId, extent: Rc<Extent>) {
        self.extents.insert(space, extent);
    }

    /// Returns the index space in which a variable lives.
    pub(crate) fn home(&self, var: Var) -> SpaceId {
        self.binding(var).0
    }

    /// Returns the type of a variable at one element.
    pub(crate) fn ty(&self, var: Var) -> &'p Ty {
        &self.binding(var).1
    }

    /// Returns the type of the elements of a sequence.
    pub(crate) fn element_ty(&self, var: Var) -> &'p Ty {
        self.ty(var).element().or_bug("the operand of a sequence operation is a sequence")
    }

    fn binding(&self, var: Var) -> &'p (SpaceId, Ty) {
        self.homes.get(&var).or_bug("a variable is bound before it is used")
    }

    /// Binds a value, in its home or as it is seen from another index space.
    pub(crate) fn bind(&mut self, var: Var, space: SpaceId, value: Rc<FlatValue>) {
        self.values.insert((var, space), value);
    }

    /// Returns true if a value is bound, in its home or as it is seen from another index space.
    pub(crate) fn holds(&self, var: Var, space: SpaceId) -> bool {
        self.values.contains_key(&(var, space))
    }

    /// Takes a value out of the frame.
    pub(crate) fn take(&mut self, var: Var, space: SpaceId) -> Option<Rc<FlatValue>> {
        self.values.remove(&(var, space))
    }

    /// Returns the value of a variable in its home.
    pub(crate) fn value_at_home(&self, var: Var) -> &Rc<FlatValue> {
        let value = self.values.get(&(var, self.home(var)));
        value.or_bug("a value is computed before it is used")
    }

    /// Returns a value as it is seen from an index space, if that takes no kernel: it was bound
    /// there, or the space has a single element.
    pub(crate) fn value_in(
        &self,
        memory: &Memory<'_>,
        atom: Atom,
        space: SpaceId,
    ) -> Option<Rc<FlatValue>> {
        if let Atom::Var(var) = atom {
            if let Some(value) = self.values.get(&(var, space)) {
                return Some(value.clone());
            }
            let single = self.extent(space).single;
            return self.values.get(&(var, self.home(var))).filter(|_| single).cloned();
        }
        let literal = constant(atom).map(|scalar| Arg::Scalar(memory.literal(scalar)));
        let single = self.extent(space).single;
        single.then(|| Rc::new(FlatValue::new(literal.into_iter().collect::<Parts>())))
    }

    /// Returns a value with an entry for each element of an index space, if there is one: a
    /// concatenation has the elements of the space that it concatenates.
    pub(crate) fn value_of_elements(&self, var: Var, space: SpaceId) -> Option<Rc<FlatValue>> {
        let here = self.values.get(&(var, space)).cloned();
        here.or_else(|| match self.function.index_space(space).kind {
            SpaceKind::Concat { inner, .. } => self.value_of_elements(var, inner),
            SpaceKind::Caller
            | SpaceKind::Elements { .. }
            | SpaceKind::Count { .. }
            | SpaceKind::Filter { .. } => None,
        })
    }

    /// Returns for each element of an index space its index in the space around it.
    pub(crate) fn outer_indices(&self, memory: &Memory<'_>, space: SpaceId) -> RunResult<Buffer> {
        let extent = self.extent(space);
        let is_filter = matches!(self.function.index_space(space).kind, SpaceKind::Filter { .. });
        match (extent.stored_indices(), is_filter) {
            (Some(indices), _) => Ok(indices),
            (None, true) => Err(Unsupported::MissingFilterIndices.into()),
            (None, false) => extent.segment_indices(memory),
        }
    }

    /// Begins a step of a block.
    pub(crate) fn begin_step(&mut self, uses: &Rc<LastUses>, step: usize) {
        self.steps.push((uses.clone(), step));
    }

    /// Ends the step under way, and drops the values that nobody uses any more.
    pub(crate) fn end_step(&mut self) {
        let Some((uses, step)) = self.steps.pop() else { bug!("a step ends that never began") };
        for place in &uses.own[step] {
            self.values.remove(place);
        }
    }

    /// Drops the result of a block whose steps have ended: its value was handed over.
    pub(crate) fn end_block(&mut self, uses: &LastUses) {
        for place in &uses.result {
            self.values.remove(place);
        }
    }

    /// Returns the size of the state in bytes, about; without the elements of arrays.
    pub(crate) fn bytes(&self) -> usize {
        let extents = self.extents.capacity() * size_of::<(SpaceId, Rc<Extent>)>()
            + self.extents.len() * size_of::<Extent>();
        let values = self.values.capacity() * size_of::<((Var, SpaceId), Rc<FlatValue>)>()
            + self.values.len() * (size_of::<FlatValue>() + size_of::<Arg>());
        let steps = self.steps.capacity() * size_of::<(Rc<LastUses>, usize)>();
        size_of::<Self>() + extents + values + steps
    }

    /// Returns true if the step under way is the last to use a value.
    pub(crate) fn is_last_use(&self, var: Var, home: SpaceId) -> bool {
        for (uses, step) in self.steps.iter().rev() {
            if uses.own[*step].contains(&(var, home)) {
                return true;
            }
            if uses.around.get(&var) != Some(step) {
                return false;
            }
        }
        false
    }

    /// Returns the number of elements of all arrays of some variables, those that have values.
    pub(crate) fn elements_of(&self, vars: &[Var]) -> u64 {
        let elements_of = |var: &Var| {
            let home = self.homes.get(var).map(|(home, _)| *home);
            let value = home.and_then(|home| self.values.get(&(*var, home)));
            value.map_or(0, |value| value.elements())
        };
        vars.iter().map(elements_of).sum()
    }
}

/// Returns the scalar that an atom is, unless it is a variable or the unit value.
pub(crate) fn constant(atom: Atom) -> Option<Scalar> {
    match atom {
        Atom::Var(_) | Atom::Unit => None,
        Atom::Int(x) => Some(Scalar::Int(x)),
        Atom::Float(x) => Some(Scalar::Float(x)),
        Atom::Bool(x) => Some(Scalar::Bool(x)),
        Atom::Char(x) => Some(Scalar::Char(x)),
    }
}
