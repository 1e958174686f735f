//! Checks of lengths that are done as soon as both sequences are there.
//!
//! ```text
//! a = gather(p, us)                              same_length(us, vs)
//! b = gather(p, vs)                          →   a = gather(p, us)   over the elements of us
//! c = {x + y : x in a; y in b}                   b = gather(p, vs)   over the elements of us
//!                                                c = {x + y : x in a; y in b}
//! ```
//!
//! An apply-to-each over several sequences checks that they have one length, and a sequence is often
//! as long as another from which it was computed. The check of these others needs none of the steps
//! between. With the check first, those steps are over one index space and can be one kernel.
//! That another fault comes first is within the rules of [`crate::simplify`], since a program that
//! is flattened has no effects.

use super::Flattener;
use crate::flat::SpaceId;
use crate::ir::{Atom, Block, Let, Op, Site, Var};
use nesl_runtime::fault::FaultCode;
use rustc_hash::FxHashMap;

/// A check of two sequences that an apply-to-each of the block needs.
pub(super) struct EarlyCheck {
    /// The number of bindings of the block that stand before it.
    pub(super) before: usize,
    /// The sequences, as the source names them.
    sequences: [Var; 2],
    /// The place of the apply-to-each.
    site: Site,
}

impl Flattener<'_> {
    /// Returns the checks of a block that can be done before what is computed from the sequences, in
    /// the order of the places where the sequences are there.
    pub(super) fn early_checks(&self, block: &Block) -> Vec<EarlyCheck> {
        let mut known = Lengths { flattener: self, bound: FxHashMap::default() };
        let mut checks = Vec::new();
        for (at, Let { var, op, site, .. }) in block.lets.iter().enumerate() {
            if let Op::Nest(nest) = op {
                let binders = nest.binders.iter().filter_map(|(.., sequence)| sequence.variable());
                let lengths: Vec<(Var, Length)> =
                    binders.map(|sequence| (sequence, known.of(sequence))).collect();
                let (_, first) = lengths[0];
                // Only what is computed from the sequences makes it worth the while.
                let computed = lengths.iter().any(|(sequence, of)| *sequence != of.sequence);
                checks.extend(lengths[1..].iter().filter_map(|(_, other)| {
                    let before = first.known_after.max(other.known_after);
                    let early = computed && first.sequence != other.sequence && before < at;
                    let sequences = [first.sequence, other.sequence];
                    early.then_some(EarlyCheck { before, sequences, site: *site })
                }));
            }
            let length = known.of_result(*var, op, at + 1);
            known.bound.insert(*var, length);
        }
        checks.sort_by_key(|check| check.before);
        checks
    }

    /// Does a check, so that from now on both sequences share the index space of their elements.
    pub(super) fn check_early(&mut self, check: &EarlyCheck, space: SpaceId) {
        let sequences = check.sequences.map(|sequence| self.atom(Atom::Var(sequence)));
        let [Atom::Var(first), Atom::Var(other)] = sequences else { return };
        if self.appended.contains_key(&first) || self.appended.contains_key(&other) {
            return;
        }
        let checked = self.same_length(first, other, FaultCode::NestLength, space, check.site);
        if checked.is_none() {
            return;
        }
        // An index space that is there already is the one to use.
        let known = [first, other].map(|sequence| self.known_elements_space(sequence, space));
        let (of, read) = match known {
            [None, Some(_)] => (other, first),
            _ => (first, other),
        };
        let (inner, _) = self.elements_space(of, space, check.site);
        self.element_in(read, inner, checked, space, check.site);
    }
}

/// The length of a sequence, as the sequence from which it is known.
#[derive(Clone, Copy)]
struct Length {
    sequence: Var,
    /// The number of bindings of the block after which that sequence is there.
    known_after: usize,
}

/// The lengths of the sequences of a block.
struct Lengths<'a, 'f> {
    flattener: &'a Flattener<'f>,
    /// Those of the variables that the block has bound so far.
    bound: FxHashMap<Var, Length>,
}

impl Lengths<'_, '_> {
    fn of(&self, sequence: Var) -> Length {
        if let Some(length) = self.bound.get(&sequence) {
            return *length;
        }
        let sequence = match self.flattener.atom(Atom::Var(sequence)) {
            Atom::Var(var) => self.flattener.as_long_as(var),
            _ => sequence,
        };
        Length { sequence, known_after: 0 }
    }

    /// Returns the length of what a binding computes.
    fn of_result(&self, var: Var, op: &Op, known_after: usize) -> Length {
        let as_long_as = match op {
            Op::Copy(of) => of.variable(),
            Op::Nest(nest) => nest.binders[0].2.variable(),
            Op::Seq(op, args) => op.row().same_length_as.and_then(|at| args[at].variable()),
            _ => None,
        };
        as_long_as.map_or(Length { sequence: var, known_after }, |sequence| self.of(sequence))
    }
}
