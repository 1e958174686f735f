//! Conditionals between cuts of one sequence.
//!
//! `if i == 0 then a[0] else a[i - 1]`, where `a` is a sequence of sequences, is a piece of `a`'s
//! pool whichever side it is: its place is chosen at each point, nothing is split up and put
//! together again.

use super::Flattener;
use super::scalar::is_scalar_op;
use crate::base::with_stack;
use crate::flat::{self, SpaceId};
use crate::ir::{Atom, Block, Let, Op, Site, Ty, Var};
use crate::prim::SeqOp;
use rustc_hash::FxHashMap;

/// A sequence as a view of another one.
#[derive(Clone, Debug)]
pub(super) enum Cut {
    /// By an operation at a point.
    Point(Op),
    /// It is the element at each point of a context.
    Element(Var, SpaceId),
}

/// The pool of a sequence: the elements of another one, so many levels down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pool {
    of: Var,
    depth: usize,
}

impl Cut {
    /// The view that an operation makes, if it makes one.
    pub(super) fn of(op: &flat::Op, space: SpaceId) -> Option<Cut> {
        match op {
            flat::Op::Map(op @ Op::Seq(SeqOp::Index | SeqOp::Subseq, _)) => {
                Some(Cut::Point(op.clone()))
            }
            flat::Op::Element { of, .. } => Some(Cut::Element(*of, space)),
            _ => None,
        }
    }
}

impl Flattener<'_> {
    /// A conditional, if both sides are cut from one sequence: each point does it by itself, from
    /// that sequence on, so that the two places are places in the same arrays.
    pub(super) fn choice_of_cuts(&mut self, binding: &Let, space: SpaceId) -> Option<flat::Op> {
        if !matches!(binding.ty, Ty::Sequence(_)) || !is_scalar_op(binding, self.scalar) {
            return None;
        }
        let mut op = self.renamed(&binding.op);
        self.choice(&mut op, binding.site, space)?;
        Some(flat::Op::Map(op))
    }

    fn choice(&mut self, op: &mut Op, site: Site, space: SpaceId) -> Option<Pool> {
        let Op::If { then, otherwise, .. } = op else { return None };
        let (a, b) = (self.side(then, site, space)?, self.side(otherwise, site, space)?);
        (a == b).then_some(a)
    }

    /// The pool of a side's result; what the side is cut from outside is cut again in it.
    fn side(&mut self, side: &mut Block, site: Site, space: SpaceId) -> Option<Pool> {
        with_stack(|| {
            let own: FxHashMap<Var, usize> =
                side.lets.iter().enumerate().map(|(at, l)| (l.var, at)).collect();
            let mut depth = 0;
            let mut at = side.result;
            // The operand of the last cut inside.
            let mut last = None;
            let pool = loop {
                let Atom::Var(var) = at else { return None };
                let Some(place) = own.get(&var) else {
                    break self.base(side, last, var, site, space)?;
                };
                match &mut side.lets[*place].op {
                    Op::Copy(a) => at = *a,
                    Op::Seq(cut @ (SeqOp::Index | SeqOp::Subseq), args) => {
                        depth += usize::from(*cut == SeqOp::Index);
                        at = args[0];
                    }
                    inner @ Op::If { .. } => {
                        let mut op = inner.clone();
                        let pool = self.choice(&mut op, site, space)?;
                        side.lets[*place].op = op;
                        break pool;
                    }
                    _ => return None,
                }
                last = Some(*place);
            };
            Some(Pool { depth: pool.depth + depth, ..pool })
        })
    }

    /// The pool of a sequence from outside of a side. Cuts at points are done again at the
    /// beginning of the side, whose binding `last` (or else its result) is what uses it.
    fn base(
        &mut self,
        side: &mut Block,
        last: Option<usize>,
        var: Var,
        site: Site,
        space: SpaceId,
    ) -> Option<Pool> {
        let mut again: Vec<Let> = Vec::new();
        let mut depth = 0;
        let mut at = var;
        let of = loop {
            match self.cuts.get(&at) {
                Some(Cut::Point(op)) => {
                    let Op::Seq(cut, args) = op else { return None };
                    let Atom::Var(of) = args[0] else { return None };
                    depth += usize::from(*cut == SeqOp::Index);
                    let (_, ty) = &self.env[&at];
                    let fresh = Var(self.next);
                    self.next += 1;
                    again.push(Let { var: fresh, ty: ty.clone(), op: op.clone(), site });
                    at = of;
                }
                Some(Cut::Element(of, home)) if *home == space => {
                    depth += 1;
                    break *of;
                }
                // It lies in arrays that only the host knows to be the same.
                Some(Cut::Element(..)) => return None,
                None => break at,
            }
        };
        // Each is cut from the next.
        for i in 1..again.len() {
            let from = Atom::Var(again[i].var);
            if let Op::Seq(_, args) = &mut again[i - 1].op {
                args[0] = from;
            }
        }
        if let Some(first) = again.first() {
            let first = Atom::Var(first.var);
            match last {
                None => side.result = first,
                Some(place) => match &mut side.lets[place].op {
                    Op::Copy(a) => *a = first,
                    Op::Seq(_, args) => args[0] = first,
                    _ => return None,
                },
            }
        }
        again.reverse();
        side.lets.splice(0..0, again);
        Some(Pool { of, depth })
    }
}
