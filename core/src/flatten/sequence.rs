//! Flattens operations on sequences.
//!
//! | operation | flattened form |
//! |---|---|
//! | reductions, scans, histograms, scatters, gathers | steps over the elements |
//! | ranges, repetitions, `pack`, `flatten`, `++` read by position | index spaces, and a collect |
//! | permuting by ranks of the same sequence | sequential code that sorts |
//! | all others | an operation that each element executes for itself ([`flat::Op::Map`]) |

use super::Flattener;
use super::append::{each_block, each_operand};
use crate::flat::{self, SpaceId, SpaceKind};
use crate::ir::{Atom, Block, Let, Op, Site, Ty, Var};
use crate::prim::SeqOp;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::scalar::ScalarOp;
use rustc_hash::{FxHashMap, FxHashSet};

/// Returns the sequences of ranks of a function that are used to sort their keys and for nothing else. Where
/// ranks are needed besides, moving the keys by them takes less time than sorting once more.
pub(super) fn only_sorting(body: &Block) -> FxHashSet<Var> {
    let mut keys: FxHashMap<Var, Atom> = FxHashMap::default();
    each_block(body, &mut |block| {
        for Let { var, op, .. } in &block.lets {
            if let Op::Seq(SeqOp::RankUp | SeqOp::RankDown, args) = op {
                keys.insert(*var, args[0]);
            }
        }
    });
    // The uses that do not sort.
    let mut others: FxHashMap<Var, i64> = FxHashMap::default();
    each_operand(body, &mut |atom| {
        if let Atom::Var(var) = atom
            && keys.contains_key(&var)
        {
            *others.entry(var).or_default() += 1;
        }
    });
    each_block(body, &mut |block| {
        for Let { op, .. } in &block.lets {
            if let Op::Seq(SeqOp::Permute, args) = op
                && let [of, Atom::Var(indices)] = args[..]
                && keys.get(&indices) == Some(&of)
            {
                *others.entry(indices).or_default() -= 1;
            }
        }
    });
    keys.retain(|var, _| others.get(var).is_none_or(|uses| *uses == 0));
    keys.into_keys().collect()
}

/// A sequence of which an element can be computed from its position.
#[derive(Clone, Copy)]
pub(super) enum Generated {
    /// A range: its start and its stride.
    Range(Atom, Atom),
    /// A value again and again.
    Dist(Atom),
}

impl Flattener<'_> {
    /// Flattens an operation on sequences; `args` are its operands, renamed.
    pub(super) fn sequence(&mut self, binding: &Let, op: SeqOp, args: &[Atom], space: SpaceId) {
        let Let { var, ty, site, .. } = binding.clone();
        match (op, args) {
            (SeqOp::Length, [Atom::Var(of)]) => match self.length(*of, site) {
                Some(length) => {
                    self.names.insert(var, length);
                }
                None => {
                    self.lengths.insert(var, *of);
                    self.map(binding, space);
                }
            },
            (SeqOp::Reduce(with), [Atom::Var(of)]) => {
                let (from, value) = self.elements_space(*of, self.env[of].0, site);
                let home = self.env[of].0;
                self.define(var, flat::Op::Reduce { with, value, from }, ty, home, site);
            }
            (SeqOp::Scan(with), [Atom::Var(of)]) => {
                let home = self.env[of].0;
                let (from, value) = self.elements_space(*of, home, site);
                let element = ty.sequence_element().clone();
                let value = self.compute(flat::Op::Scan { with, value }, element, from, site);
                self.collect(var, ty, value, from, home, site);
                self.note_same_length(args[0], var);
            }
            (SeqOp::Histogram(with), [size, Atom::Var(indices), Atom::Var(values)]) => {
                let (from, index) = self.elements_space(*indices, space, site);
                let code = FaultCode::NestLength;
                let checked = self.same_length(*values, *indices, code, space, site);
                let value = self.element_in(*values, from, checked, space, site);
                let op = flat::Op::Histogram { with, size: *size, index, value, from };
                self.define(var, op, ty, space, site);
            }
            (SeqOp::Scatter, [Atom::Var(of), Atom::Var(writes)])
                if !ty.element().is_none_or(Ty::has_sequence) =>
            {
                self.scatter(binding, *of, *writes, space);
            }
            (SeqOp::Gather, [of, Atom::Var(indices)]) => {
                let (from, index) = self.elements_space(*indices, space, site);
                let element = ty.sequence_element().clone();
                let value = self.compute(flat::Op::Gather(*of, index), element, from, site);
                self.collect(var, ty, value, from, space, site);
                self.note_same_length(args[1], var);
            }
            (SeqOp::Range, [start, stride, _]) => {
                let from = self.count_space(op, args, space, site);
                let position = self.position(from, site);
                let value = self.range(*start, *stride, position, from, site);
                self.generated.insert(var, Generated::Range(*start, *stride));
                self.collect(var, ty, value, from, space, site);
            }
            (SeqOp::Dist, [value, _]) => {
                let from = self.count_space(op, args, space, site);
                self.generated.insert(var, Generated::Dist(*value));
                self.collect(var, ty, *value, from, space, site);
            }
            (SeqOp::Pack, [Atom::Var(of), Atom::Var(flags)]) => {
                let (inner, flag) = self.elements_space(*flags, space, site);
                let flag = self.as_variable(flag, inner, site);
                let checked = self.same_length(*of, *flags, FaultCode::PackLength, space, site);
                let value = self.element_in(*of, inner, checked, space, site);
                let from = self.filter_space(inner, flag, site);
                self.collect(var, ty, value, from, space, site);
            }
            (SeqOp::Append, [a, b]) if self.by_position.contains(&var) => {
                self.append_by_position(binding, *a, *b, space);
            }
            (SeqOp::Flatten, [Atom::Var(of)]) => self.concat(binding, *of, space),
            (SeqOp::RankUp | SeqOp::RankDown, [of]) => {
                if self.only_sorting.contains(&var) {
                    self.ranks.insert(var, (op, *of));
                }
                self.map(binding, space);
                self.note_same_length(*of, var);
            }
            (SeqOp::Groups, [of]) => {
                self.groups.insert(var, *of);
                self.map(binding, space);
            }
            (SeqOp::Permute, [of, Atom::Var(indices)])
                if self.ranks.get(indices).is_some_and(|(_, keys)| keys == of) =>
            {
                self.sort(binding, *of, *indices, space);
            }
            _ => {
                self.map(binding, space);
                // The counts of `partition` and the indices of `->` belong to other index spaces.
                if op.row().same_length_as == Some(0) {
                    self.note_same_length(args[0], var);
                }
            }
        }
    }

    /// Flattens `of <- writes` for elements that contain no sequences.
    fn scatter(&mut self, binding: &Let, of: Var, writes: Var, space: SpaceId) {
        let Let { var, ty, site, .. } = binding.clone();
        let (from, write) = self.elements_space(writes, space, site);
        let element = ty.sequence_element();
        let known = match write {
            Atom::Var(write) => self.pairs.get(&write).copied(),
            _ => None,
        };
        let from = match known {
            Some((index, value)) => self.space_to_compute_in(from, &[index, value]),
            None => self.space_to_compute_in(from, &[write]),
        };
        let (index, value) = known.unwrap_or_else(|| {
            let index = flat::Op::Map(Op::First(write));
            let value = flat::Op::Map(Op::Second(write));
            let index = self.compute(index, Ty::Int, from, site);
            (index, self.compute(value, element.clone(), from, site))
        });
        self.define(var, flat::Op::Scatter { of, index, value, from }, ty, space, site);
        self.note_same_length(Atom::Var(of), var);
    }

    /// Computes the element of a range, `start + stride * position`, in an index space.
    pub(super) fn range(
        &mut self,
        start: Atom,
        stride: Atom,
        position: Atom,
        from: SpaceId,
        site: Site,
    ) -> Atom {
        let scaled = match stride {
            Atom::Int(1) => position,
            _ => self.scalar(ScalarOp::Mul, position, stride, from, site),
        };
        match start {
            Atom::Int(0) => scaled,
            _ => self.scalar(ScalarOp::Add, start, scaled, from, site),
        }
    }

    /// Flattens the operation `flatten`: by a `Concat` of the index space of the inner elements if
    /// there is one, so that nothing is copied.
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
                let from = self.new_space(SpaceKind::Concat { of: home, inner }, site);
                self.collect(var, ty, value, from, home, site);
            }
            None => self.map(binding, space),
        }
    }

    /// Flattens a permutation of a sequence by its own ranks to sequential code that sorts, so that
    /// the ranks are not stored.
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
        self.note_same_length(of, var);
    }
}
