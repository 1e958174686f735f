//! The body of a function under construction: open blocks and the types of variables.

use crate::ir::{Atom, Block, Let, Op, Site, Ty, Var};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;

/// The body of a function being built: a stack of open blocks, and the type of each variable.
#[derive(Default)]
pub(super) struct Body {
    types: Vec<Ty>,
    open: Vec<Vec<Let>>,
}

impl Body {
    /// Returns a fresh variable of a type: a parameter or the element of a nest.
    pub(super) fn fresh(&mut self, ty: Ty) -> Var {
        self.types.push(ty);
        Var(self.types.len() as u32 - 1)
    }

    /// Appends an operation to the innermost block and returns its result.
    pub(super) fn push(&mut self, ty: Ty, op: Op, site: Site) -> Atom {
        let var = self.fresh(ty.clone());
        let block = self.open.last_mut().or_bug("a block is open");
        block.push(Let { var, ty, op, site });
        Atom::Var(var)
    }

    /// Opens a block.
    pub(super) fn open(&mut self) {
        self.open.push(Vec::new());
    }

    /// Closes the innermost block and returns it.
    pub(super) fn close(&mut self, result: Atom) -> Block {
        Block { lets: self.open.pop().or_bug("a block is open"), result }
    }

    /// Returns the type of an operand.
    pub(super) fn ty(&self, atom: Atom) -> Ty {
        match atom {
            Atom::Var(var) => self.types[var.0 as usize].clone(),
            Atom::Unit => Ty::Unit,
            Atom::Int(_) => Ty::Int,
            Atom::Float(_) => Ty::Float,
            Atom::Bool(_) => Ty::Bool,
            Atom::Char(_) => Ty::Char,
        }
    }

    /// Projects a pair to its first component.
    pub(super) fn first(&mut self, pair: Atom, site: Site) -> Atom {
        match self.ty(pair) {
            Ty::Pair(first, _) => self.push(*first, Op::First(pair), site),
            other => bug!("a projection applies to a pair, not to {other:?}"),
        }
    }

    /// Projects a pair to its second component.
    pub(super) fn second(&mut self, pair: Atom, site: Site) -> Atom {
        match self.ty(pair) {
            Ty::Pair(_, second) => self.push(*second, Op::Second(pair), site),
            other => bug!("a projection applies to a pair, not to {other:?}"),
        }
    }

    /// Makes a pair.
    pub(super) fn pair(&mut self, first: Atom, second: Atom, site: Site) -> Atom {
        let ty = Ty::Pair(Box::new(self.ty(first)), Box::new(self.ty(second)));
        self.push(ty, Op::Pair(first, second), site)
    }

    /// Returns the element type of a sequence.
    pub(super) fn element(&self, sequence: Atom) -> Ty {
        match self.ty(sequence) {
            Ty::Sequence(element) => *element,
            other => bug!("a sequence is expected, not {other:?}"),
        }
    }
}
