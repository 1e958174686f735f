//! Makes the index spaces of ranges and repetitions, which have a given length.
//!
//! `[0:#a]` has as many elements as `a`, and `[0:n]` as many as another `[0:n]`: they share an
//! index space. So `{f(x, i) : x in a; i in [0:#a]}` checks nothing and is one computation.

use super::Flattener;
use crate::flat::{self, SpaceId, SpaceKind};
use crate::ir::{Atom, Site, Ty, Var};
use crate::prim::SeqOp;

/// The number of elements of an index space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Extent {
    Var(Var),
    Int(i64),
}

impl Extent {
    /// Returns the extent that an operand is, if it can be compared with others.
    fn of(atom: Atom) -> Option<Extent> {
        match atom {
            Atom::Var(var) => Some(Extent::Var(var)),
            Atom::Int(x) => Some(Extent::Int(x)),
            Atom::Unit | Atom::Float(_) | Atom::Bool(_) | Atom::Char(_) => None,
        }
    }
}

impl Flattener<'_> {
    /// Returns an index space with a segment for each element of `space`, and an element there for
    /// each element of a range or a repetition.
    pub(super) fn count_space(
        &mut self,
        op: SeqOp,
        args: &[Atom],
        space: SpaceId,
        site: Site,
    ) -> SpaceId {
        let end = match (op, args) {
            (SeqOp::Range, [Atom::Int(0), Atom::Int(1), end]) => Extent::of(*end),
            (SeqOp::Dist, [_, count]) => Extent::of(*count),
            _ => None,
        };
        if let Some(end) = end {
            if let Some(known) = self.counted.get(&(end, space)) {
                return *known;
            }
            if let Extent::Var(end) = end
                && let Some(sequence) = self.lengths.get(&end).copied()
            {
                return self.elements_space(sequence, space, site).0;
            }
        }
        let count = match end {
            // These are ints at every precision.
            Some(Extent::Int(count)) if (0..1 << 31).contains(&count) => Atom::Int(count),
            _ => self.uniform_count(op, args, space, site).unwrap_or_else(|| {
                let op = flat::Op::Extent { op, args: args.to_vec(), needed_for: Vec::new() };
                self.compute(op, Ty::Int, space, site)
            }),
        };
        let from = self.new_space(SpaceKind::Count { of: space, count }, site);
        for extent in end.into_iter().chain(Extent::of(count)) {
            self.counted.insert((extent, space), from);
        }
        from
    }

    /// Computes the number of elements of a range or a repetition once for all elements of `space`, in an index
    /// space around it, if its operands live there: so the segments have one length, which needs no array,
    /// and which the host knows. Returns none if that is not so, or if the number of elements of `space` is
    /// not known: where it is 0, nothing may fail.
    fn uniform_count(
        &mut self,
        op: SeqOp,
        args: &[Atom],
        space: SpaceId,
        site: Site,
    ) -> Option<Atom> {
        // A repetition may be one of an element of `space`, which does not matter.
        let mut args = args.to_vec();
        if op == SeqOp::Dist {
            args[0] = Atom::Unit;
        }
        let homes = args.iter().filter_map(|arg| arg.variable()).map(|var| self.env[&var].0);
        let home = homes.max_by_key(|home| self.depth(*home))?;
        if home == space {
            return None;
        }
        let mut needed_for = Vec::new();
        let mut at = space;
        while at != home {
            let (around, var) = match self.spaces[at.0 as usize].kind {
                SpaceKind::Elements { of, sequence } => (of, sequence),
                SpaceKind::Count { of, count: Atom::Var(count) } => (of, count),
                SpaceKind::Count { of, count: Atom::Int(count) } if count > 0 => {
                    at = of;
                    continue;
                }
                SpaceKind::Caller
                | SpaceKind::Count { .. }
                | SpaceKind::Filter { .. }
                | SpaceKind::Concat { .. } => return None,
            };
            if self.depth(self.env[&var].0) > self.depth(home) {
                return None;
            }
            needed_for.push(Atom::Var(var));
            at = around;
        }
        Some(self.compute(flat::Op::Extent { op, args, needed_for }, Ty::Int, home, site))
    }

    /// The number of index spaces around one.
    fn depth(&self, space: SpaceId) -> usize {
        std::iter::successors(Some(space), |space| self.spaces[space.0 as usize].around()).count()
    }

    /// Returns the index of each element in its segment, counted from 0.
    pub(super) fn position(&mut self, space: SpaceId, site: Site) -> Atom {
        if let Some(known) = self.positions.get(&space) {
            return *known;
        }
        let position = self.compute(flat::Op::Position { checked: None }, Ty::Int, space, site);
        self.positions.insert(space, position);
        position
    }
}
