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
use super::sequence::Generated;
use crate::flat::{self, SpaceId};
use crate::ir::{Atom, Block, Let, Op, Site, Ty, Var};
use crate::prim::SeqOp;
use nesl_runtime::fault::FaultCode;
use rustc_hash::{FxHashMap, FxHashSet};

/// The order in which a block is flattened.
pub(super) struct Order {
    /// The bindings, by their number in the block.
    pub(super) bindings: Vec<usize>,
    /// The checks, in order.
    pub(super) checks: Vec<EarlyCheck>,
}

/// A check of two sequences that an apply-to-each of the block needs.
pub(super) struct EarlyCheck {
    /// The number of bindings that are flattened before it.
    pub(super) before: usize,
    /// The sequences, as the source names them.
    sequences: [Var; 2],
    /// The place of the apply-to-each.
    site: Site,
}

impl Flattener<'_> {
    /// Returns the order of a block in which the checks come before what is computed from the sequences. A range and
    /// what its ends are computed from move before it, too.
    pub(super) fn order(&self, block: &Block) -> Order {
        let mut known = Lengths { flattener: self, bound: FxHashMap::default() };
        let mut checks: Vec<(Check, Site)> = Vec::new();
        // Behind the last binding that may fail in its own words, as a function does that compares the lengths itself.
        let mut behind_failure = 0;
        for (at, Let { var, op, site, .. }) in block.lets.iter().enumerate() {
            if let Op::Nest(nest) = op {
                let binders = nest.binders.iter().filter_map(|(.., sequence)| sequence.variable());
                let lengths: Vec<(Var, Length)> =
                    binders.map(|sequence| (sequence, known.of(sequence))).collect();
                let (_, first) = lengths[0];
                // Only what is computed from the sequences makes it worth the while.
                let computed = lengths.iter().any(|(sequence, of)| *sequence != of.sequence);
                checks.extend(lengths[1..].iter().filter_map(|(_, other)| {
                    let sequences = [first.sequence, other.sequence];
                    let behind = [first, *other].map(|of| of.known_after.max(behind_failure));
                    let early = computed && sequences[0] != sequences[1];
                    let check = Check { sequences, behind };
                    (early && behind[0].max(behind[1]) < at).then_some((check, *site))
                }));
            }
            if fails_in_own_words(op) {
                behind_failure = at + 1;
            }
            let length = known.of_result(*var, op, at + 1);
            known.bound.insert(*var, length);
        }
        // By binding, the number of bindings after which it can be, if it moves.
        let mut moved: FxHashMap<usize, usize> = FxHashMap::default();
        for (Check { behind: [a, b], .. }, _) in &checks {
            let (earlier, later) = (*a.min(b), *a.max(b));
            for binding in ends_of_range(block, earlier, later).unwrap_or_default() {
                let place = moved.entry(binding).or_insert(earlier);
                *place = earlier.min(*place);
            }
        }
        let mut bindings: Vec<usize> = (0..block.lets.len()).collect();
        // What moves behind the first n bindings stands before the binding of number n.
        bindings.sort_by_key(|at| match moved.get(at) {
            Some(behind) => (*behind, 0, *at),
            None => (*at, 1, *at),
        });
        let mut new_place = vec![0; bindings.len() + 1];
        for (new, old) in bindings.iter().enumerate() {
            new_place[*old + 1] = new + 1;
        }
        let checks = checks.into_iter().map(|(Check { sequences, behind }, site)| {
            let [a, b] = behind.map(|bindings| new_place[bindings]);
            EarlyCheck { before: a.max(b), sequences, site }
        });
        let mut checks: Vec<EarlyCheck> = checks.collect();
        checks.sort_by_key(|check| check.before);
        Order { bindings, checks }
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
        let of = if let [None, Some(_)] = known { other } else { first };
        let (inner, _) = self.elements_space(of, space, check.site);
        // The elements are read again behind the check, and those of a range computed again, so that one kernel reads
        // those of both.
        for sequence in [first, other] {
            let element = match self.generated.get(&sequence).copied() {
                Some(Generated::Dist(value)) => value,
                Some(Generated::Range(start, stride)) => {
                    let position = flat::Op::Position { checked };
                    let position = self.compute(position, Ty::Int, inner, check.site);
                    self.range(start, stride, position, inner, check.site)
                }
                None if sequence == of => continue,
                None => self.element_in(sequence, inner, checked, space, check.site),
            };
            self.elements.insert((sequence, space), (inner, element));
        }
    }
}

/// A check before the bindings have an order.
struct Check {
    sequences: [Var; 2],
    /// For each sequence, the number of bindings behind which the check may be.
    behind: [usize; 2],
}

/// Returns true if a step may fail otherwise than by an operation's own fault. Such a step is not passed: of two
/// comparisons of the same lengths the first one is reported.
fn fails_in_own_words(op: &Op) -> bool {
    let fails = |op: &Op| matches!(op, Op::Check { .. } | Op::Error(_) | Op::Call(..));
    let mut found = fails(op);
    op.blocks().for_each(|block| block.for_each_op(&mut |op| found |= fails(op)));
    found
}

/// Returns the bindings that the range bound by number `later - 1` needs and that stand behind the first `earlier` ones,
/// itself included; `None` if it is not a range, or not all of these are cheap.
fn ends_of_range(block: &Block, earlier: usize, later: usize) -> Option<Vec<usize>> {
    let range = later.checked_sub(1)?;
    if !matches!(block.lets[range].op, Op::Seq(SeqOp::Range | SeqOp::Dist, _)) {
        return None;
    }
    let mut needed: FxHashSet<Var> = FxHashSet::default();
    let mut found = Vec::new();
    for at in (earlier..later).rev() {
        let Let { var, op, .. } = &block.lets[at];
        if at != range && !needed.contains(var) {
            continue;
        }
        let cheap = matches!(op, Op::Scalar(..) | Op::Copy(_) | Op::Seq(SeqOp::Length, _));
        if at != range && !cheap {
            return None;
        }
        op.each_operand(|atom| needed.extend(atom.variable()));
        found.push(at);
    }
    Some(found)
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
