//! Operations on sequences.
//!
//! | operation | becomes |
//! |---|---|
//! | reductions, scans, histograms, scatters, gathers | steps over the elements |
//! | ranges, repetitions, `pack`, `flatten` | index spaces, and a collect |
//! | permuting by ranks of the same sequence | sequential code that sorts |
//! | all others | an operation that each element executes for itself |

use super::Flattener;
use crate::flat::{self, SpaceId, SpaceKind};
use crate::ir::{Atom, Block, Let, Op, Site, Ty, Var};
use crate::prim::SeqOp;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::scalar::ScalarOp;

impl Flattener<'_> {
    /// The steps of an operation on sequences.
    pub(super) fn sequence(&mut self, binding: &Let, op: SeqOp, args: &[Atom], space: SpaceId) {
        let Let { var, ty, site, .. } = binding.clone();
        match (op, args) {
            (SeqOp::Length, [Atom::Var(of)]) => match self.length(*of, site) {
                Some(length) => {
                    self.names.insert(var, length);
                }
                None => {
                    self.lengths.insert(var, *of);
                    self.point(binding, space);
                }
            },
            (SeqOp::Reduce(with), [Atom::Var(of)]) => {
                let (from, value) = self.elements(*of, self.env[of].0, site);
                let home = self.env[of].0;
                self.define(var, flat::Op::Reduce { with, value, from }, ty, home, site);
            }
            (SeqOp::Scan(with), [Atom::Var(of)]) => {
                let home = self.env[of].0;
                let (from, value) = self.elements(*of, home, site);
                let element = ty.sequence_element().clone();
                let value = self.compute(flat::Op::Scan { with, value }, element, from, site);
                self.collect(var, ty, value, from, home, site);
            }
            (SeqOp::Histogram(with), [size, Atom::Var(indices), Atom::Var(values)]) => {
                let (from, place) = self.elements_at(*indices, space, site);
                let code = FaultCode::NestLength;
                let checked = self.same_length(*values, *indices, code, space, site);
                let value = self.element_in(*values, from, checked, space, site);
                let op = flat::Op::Histogram { with, size: *size, place, value, from };
                self.define(var, op, ty, space, site);
            }
            (SeqOp::Scatter, [Atom::Var(of), Atom::Var(writes)])
                if self.env[of].0 == space && !ty.element().is_none_or(Ty::has_sequence) =>
            {
                self.scatter(binding, *of, *writes, space);
            }
            (SeqOp::Gather, [of, Atom::Var(indices)]) => {
                let (from, index) = self.elements_at(*indices, space, site);
                let element = ty.sequence_element().clone();
                let value = self.compute(flat::Op::Gather(*of, index), element, from, site);
                self.collect(var, ty, value, from, space, site);
            }
            (SeqOp::Range, [start, stride, _]) => {
                let from = self.counted(op, args, space, site);
                let value = self.range(*start, *stride, from, site);
                self.collect(var, ty, value, from, space, site);
            }
            (SeqOp::Dist, [value, _]) => {
                let from = self.counted(op, args, space, site);
                self.collect(var, ty, *value, from, space, site);
            }
            (SeqOp::Pack, [Atom::Var(of), Atom::Var(flags)]) => {
                let (inner, flag) = self.elements_at(*flags, space, site);
                let flag = self.named(flag, inner, site);
                let checked = self.same_length(*of, *flags, FaultCode::PackLength, space, site);
                let value = self.element_in(*of, inner, checked, space, site);
                let from = self.kept(inner, flag, site);
                self.collect(var, ty, value, from, space, site);
            }
            (SeqOp::Flatten, [Atom::Var(of)]) => self.concat(binding, *of, space),
            (SeqOp::RankUp | SeqOp::RankDown, [of]) => {
                self.ranks.insert(var, (op, *of));
                self.point(binding, space);
                self.as_long_as(*of, var);
            }
            (SeqOp::Groups, [of]) => {
                self.groups.insert(var, *of);
                self.point(binding, space);
            }
            (SeqOp::Permute, [of, Atom::Var(indices)])
                if self.ranks.get(indices).is_some_and(|(_, keys)| keys == of) =>
            {
                self.sort(binding, *of, *indices, space);
            }
            _ => {
                self.point(binding, space);
                // The counts of `partition` and the indices of `->` belong to other index spaces.
                if op.row().same_length_as == Some(0) {
                    self.as_long_as(args[0], var);
                }
            }
        }
    }

    /// `d <- writes`, of elements without sequences.
    fn scatter(&mut self, binding: &Let, of: Var, writes: Var, space: SpaceId) {
        let Let { var, ty, site, .. } = binding.clone();
        let (from, write) = self.elements_at(writes, space, site);
        let element = ty.sequence_element();
        let known = match write {
            Atom::Var(write) => self.pairs.get(&write).copied(),
            _ => None,
        };
        let from = match known {
            Some((place, value)) => self.innermost_of(from, &[place, value]),
            None => self.innermost_of(from, &[write]),
        };
        let (place, value) = known.unwrap_or_else(|| {
            let place = flat::Op::Map(Op::First(write));
            let value = flat::Op::Map(Op::Second(write));
            let place = self.compute(place, Ty::Int, from, site);
            (place, self.compute(value, element.clone(), from, site))
        });
        self.define(var, flat::Op::Scatter { of, place, value, from }, ty, space, site);
        self.as_long_as(Atom::Var(of), var);
    }

    /// The element of a range in its index space.
    fn range(&mut self, start: Atom, stride: Atom, from: SpaceId, site: Site) -> Atom {
        let position = self.position(from, site);
        let scaled = match stride {
            Atom::Int(1) => position,
            _ => self.scalar(ScalarOp::Mul, position, stride, from, site),
        };
        match start {
            Atom::Int(0) => scaled,
            _ => self.scalar(ScalarOp::Add, start, scaled, from, site),
        }
    }

    /// `flatten`: an index space that joins the segments, if the elements inside have one.
    fn concat(&mut self, binding: &Let, of: Var, space: SpaceId) {
        let Let { var, ty, site, .. } = binding.clone();
        let home = self.env[&of].0;
        let known = self.elements.get(&(of, home)).and_then(|(outer, element)| {
            let Atom::Var(element) = element else { return None };
            let (inner, value) = self.elements.get(&(*element, *outer))?;
            (self.env[element].0 == *outer).then_some((*inner, *value))
        });
        match known {
            Some((inner, value)) => {
                let from = self.enter(SpaceKind::Concat { of: home, inner }, site);
                self.collect(var, ty, value, from, home, site);
            }
            None => self.point(binding, space),
        }
    }

    /// A sequence permuted by its own ranks, which need not be stored for that.
    fn sort(&mut self, binding: &Let, of: Atom, ranks: Var, space: SpaceId) {
        let Let { var, ty, site, .. } = binding.clone();
        let (rank, keys) = self.ranks[&ranks];
        let ranks = self.env[&ranks].1.clone();
        let [rank_var, moved] = [self.next, self.next + 1].map(Var);
        self.next += 2;
        let op = Op::Seq(rank, vec![keys]);
        let rank = Let { var: rank_var, ty: ranks, op, site };
        let op = Op::Seq(SeqOp::Permute, vec![of, Atom::Var(rank_var)]);
        let lets = vec![rank, Let { var: moved, ty: ty.clone(), op, site }];
        let sequential = Block { lets, result: Atom::Var(moved) };
        self.define(var, flat::Op::Sequential(sequential), ty, space, site);
        self.as_long_as(of, var);
    }
}
