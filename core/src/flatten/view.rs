//! Flattens conditionals between views of one sequence without copying.
//!
//! `if i == 0 then a[0] else a[i - 1]`, where `a` is a sequence of sequences, is a view of `a` in
//! both branches: a start and a length in `a`'s *pool*, the columns that hold the elements of all
//! of `a`'s segments. Each element chooses a start and a length; otherwise the two branches would
//! copy their elements and merge the copies.
//!
//! Both branches must be views of the same pool. The sequence that a branch refers to may itself be
//! a view from outside of the conditional (`let r = a[0] in if c then r else a[i]`); its operation
//! is repeated in the branch, so that both branches begin at the same sequence.

use super::Flattener;
use super::scalar::is_scalar_op;
use crate::base::with_stack;
use crate::flat::{self, SpaceId};
use crate::ir::{Atom, Block, Let, Op, Site, Ty, Var};
use crate::prim::SeqOp;
use rustc_hash::FxHashMap;

/// The step by which a sequence is a view of another one.
#[derive(Clone, Debug)]
pub(super) enum View {
    /// The operation `a[i]` or `subseq`, executed by each element for itself.
    Map(Op),
    /// The element of this sequence, in this index space of its elements.
    Element(Var, SpaceId),
}

/// The pool that a view refers to: that of the sequence `of`, `depth` levels of nesting down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pool {
    of: Var,
    depth: usize,
}

impl View {
    /// Returns the view that an operation makes, if it makes one.
    pub(super) fn of(op: &flat::Op, space: SpaceId) -> Option<View> {
        match op {
            flat::Op::Map(op @ Op::Seq(SeqOp::Index | SeqOp::Subseq, _)) => {
                Some(View::Map(op.clone()))
            }
            flat::Op::Element { of, .. } => Some(View::Element(*of, space)),
            _ => None,
        }
    }
}

impl Flattener<'_> {
    /// Returns the operation for a conditional if both branches are views of one sequence: each
    /// element executes the conditional for itself, with both branches rewritten to begin at that
    /// sequence.
    pub(super) fn conditional_view(&mut self, binding: &Let, space: SpaceId) -> Option<flat::Op> {
        if !matches!(binding.ty, Ty::Sequence(_)) || !is_scalar_op(binding, self.scalar) {
            return None;
        }
        let mut op = self.renamed(&binding.op);
        self.shared_pool(&mut op, binding.site, space)?;
        Some(flat::Op::Map(op))
    }

    /// Rewrites a conditional so that both branches begin at the same sequence, and returns its
    /// pool; `None` if they are not views of one.
    fn shared_pool(&mut self, op: &mut Op, site: Site, space: SpaceId) -> Option<Pool> {
        let Op::If { then, otherwise, .. } = op else { return None };
        let (a, b) =
            (self.branch_pool(then, site, space)?, self.branch_pool(otherwise, site, space)?);
        (a == b).then_some(a)
    }

    /// Returns the pool of a branch's result, and repeats in the branch the views from outside that
    /// it uses.
    fn branch_pool(&mut self, branch: &mut Block, site: Site, space: SpaceId) -> Option<Pool> {
        with_stack(|| {
            let own: FxHashMap<Var, usize> =
                branch.lets.iter().enumerate().map(|(at, l)| (l.var, at)).collect();
            let mut depth = 0;
            let mut at = branch.result;
            // The index of the last binding inside, whose operand comes from outside.
            let mut last = None;
            let pool = loop {
                let Atom::Var(var) = at else { return None };
                let Some(index) = own.get(&var) else {
                    break self.outer_pool(branch, last, var, site, space)?;
                };
                match &mut branch.lets[*index].op {
                    Op::Copy(a) => at = *a,
                    Op::Seq(op @ (SeqOp::Index | SeqOp::Subseq), args) => {
                        depth += usize::from(*op == SeqOp::Index);
                        at = args[0];
                    }
                    inner @ Op::If { .. } => {
                        let mut op = inner.clone();
                        let pool = self.shared_pool(&mut op, site, space)?;
                        branch.lets[*index].op = op;
                        break pool;
                    }
                    _ => return None,
                }
                last = Some(*index);
            };
            Some(Pool { depth: pool.depth + depth, ..pool })
        })
    }

    /// Returns the pool of a sequence from outside of a branch. The operations that make it a view
    /// are repeated at the beginning of the branch, whose binding with the index `last` (or else
    /// its result) uses it.
    fn outer_pool(
        &mut self,
        branch: &mut Block,
        last: Option<usize>,
        var: Var,
        site: Site,
        space: SpaceId,
    ) -> Option<Pool> {
        let mut repeated: Vec<Let> = Vec::new();
        let mut depth = 0;
        let mut at = var;
        let of = loop {
            match self.views.get(&at) {
                Some(View::Map(op)) => {
                    let Op::Seq(seq, args) = op else { return None };
                    let Atom::Var(of) = args[0] else { return None };
                    depth += usize::from(*seq == SeqOp::Index);
                    let (_, ty) = &self.env[&at];
                    let fresh = Var(self.next);
                    self.next += 1;
                    repeated.push(Let { var: fresh, ty: ty.clone(), op: op.clone(), site });
                    at = of;
                }
                Some(View::Element(of, home)) if *home == space => {
                    depth += 1;
                    break *of;
                }
                // The elements of another index space may lie in other arrays.
                Some(View::Element(..)) => return None,
                None => break at,
            }
        };
        // Each one is a view of the next.
        for i in 1..repeated.len() {
            let from = Atom::Var(repeated[i].var);
            if let Op::Seq(_, args) = &mut repeated[i - 1].op {
                args[0] = from;
            }
        }
        if let Some(first) = repeated.first() {
            let first = Atom::Var(first.var);
            match last {
                None => branch.result = first,
                Some(index) => match &mut branch.lets[index].op {
                    Op::Copy(a) => *a = first,
                    Op::Seq(_, args) => args[0] = first,
                    _ => return None,
                },
            }
        }
        repeated.reverse();
        branch.lets.splice(0..0, repeated);
        Some(Pool { of, depth })
    }
}
