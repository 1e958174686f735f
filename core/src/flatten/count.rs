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
            _ => self.compute(flat::Op::Extent(op, args.to_vec()), Ty::Int, space, site),
        };
        let from = self.new_space(SpaceKind::Count { of: space, count }, site);
        for extent in end.into_iter().chain(Extent::of(count)) {
            self.counted.insert((extent, space), from);
        }
        from
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
