//! Reductions that share a loop.
//!
//! `(sum({x : (x, y) in pairs}), sum({y : (x, y) in pairs}))` goes over `pairs` once, with two
//! accumulators; and where nothing else is done with `pairs`, it is never stored. This is the
//! horizontal fusion of flat form (see [`fuse`](crate::fuse)) for what an instance does by itself.
//!
//! Only reductions of elements that cannot fault take part: which fault comes first does not
//! change. The loop stands where the first of them stood, so what the others compute their
//! elements from must be there by then.

use super::delayed::{Delayed, Form};
use super::uses::Uses;
use super::{Rep, Sequence, Thread, arrays};
use crate::base::with_stack;
use crate::ir::{Atom, Block, Let, Nest, Op, Var};
use crate::prim::{ReduceOp, SeqOp};
use nesl_runtime::kir::{self, ValueTy};
use rustc_hash::{FxHashMap, FxHashSet};

/// A reduction of a sequence, or of a map over it.
#[derive(Clone, Copy)]
struct Member<'a> {
    /// What it gives.
    var: Var,
    with: ReduceOp,
    /// The map.
    nest: Option<&'a Nest>,
}

/// Reductions over one sequence.
pub(super) struct Group<'a> {
    of: Var,
    members: Vec<Member<'a>>,
}

/// The reductions that share a loop.
#[derive(Default)]
pub(super) struct Joint<'a> {
    /// By the first of each group.
    first: FxHashMap<Var, Group<'a>>,
    /// The sequences that only groups use.
    only: FxHashSet<Var>,
    /// The reductions that are done, before their turn.
    pub(super) done: FxHashMap<Var, Rep<'a>>,
}

impl<'a> Joint<'a> {
    /// Finds the groups of a block.
    pub(super) fn block(&mut self, block: &'a Block, uses: &Uses) {
        let mut places: FxHashMap<Var, usize> = FxHashMap::default();
        let mut nests: FxHashMap<Var, &'a Nest> = FxHashMap::default();
        // In the order of their first reductions, each with the place of that.
        let mut groups: Vec<(usize, Group<'a>)> = Vec::new();
        for (place, binding) in block.lets.iter().enumerate() {
            if let Op::Nest(nest) = &binding.op {
                nests.insert(binding.var, nest);
            }
            if let Some((of, member)) = member(binding, &nests, uses) {
                let known = |(first, group): &(usize, Group<'a>)| {
                    let there = |var| places.get(&var).is_none_or(|place| place < first);
                    group.of == of && member.nest.is_none_or(|nest| needs(nest).all(there))
                };
                match groups.iter_mut().find(|group| known(group)) {
                    Some((_, group)) => group.members.push(member),
                    None => groups.push((place, Group { of, members: vec![member] })),
                }
            }
            places.insert(binding.var, place);
        }
        for (_, group) in groups {
            if group.members.len() < 2 {
                continue;
            }
            if uses.count(group.of) == group.members.len() && places.contains_key(&group.of) {
                self.only.insert(group.of);
            }
            self.first.insert(group.members[0].var, group);
        }
    }

    /// Whether a sequence that is not stored can wait for the group that is all that uses it.
    pub(super) fn waits(&self, var: Var, delayed: &Delayed<'_>) -> bool {
        self.only.contains(&var) && !matches!(delayed.form, Form::Filter(..))
    }

    /// The group that begins with a reduction.
    pub(super) fn begins(&mut self, var: Var) -> Option<Group<'a>> {
        self.first.remove(&var)
    }
}

/// A reduction that may share its loop, and what it goes over.
fn member<'a>(
    binding: &'a Let,
    nests: &FxHashMap<Var, &'a Nest>,
    uses: &Uses,
) -> Option<(Var, Member<'a>)> {
    let Op::Seq(SeqOp::Reduce(with), args) = &binding.op else { return None };
    let Atom::Var(of) = args[0] else { return None };
    let (var, with) = (binding.var, *with);
    if uses.once(of)
        && let Some(nest) = nests.get(&of)
        && let [(.., Atom::Var(source))] = nest.binders[..]
        && !nest.body.may_fault()
    {
        return Some((source, Member { var, with, nest: Some(nest) }));
    }
    Some((of, Member { var, with, nest: None }))
}

/// The variables that the body of a nest uses, its own ones too.
fn needs(nest: &Nest) -> impl Iterator<Item = Var> {
    let mut all = Vec::new();
    used(&nest.body, &mut all);
    all.into_iter()
}

fn used(block: &Block, all: &mut Vec<Var>) {
    with_stack(|| {
        for binding in &block.lets {
            all.extend(binding.op.operands().into_iter().filter_map(variable));
            binding.op.blocks().for_each(|block| used(block, all));
        }
        all.extend(variable(block.result));
    });
}

fn variable(atom: Atom) -> Option<Var> {
    match atom {
        Atom::Var(var) => Some(var),
        Atom::Unit | Atom::Int(_) | Atom::Float(_) | Atom::Bool(_) | Atom::Char(_) => None,
    }
}

impl<'a> Thread<'a> {
    /// The reductions of a group in one loop; gives the first and notes the others.
    pub(super) fn joint(&mut self, group: Group<'a>) -> Rep<'a> {
        let sequence = self.atom(Atom::Var(group.of)).sequence();
        let sequence = match super::delayed::is_filter(&sequence) {
            true => Sequence::Stored(self.stored(Atom::Var(group.of))),
            false => sequence,
        };
        let count = self.length_of(&sequence);
        let index = self.body.value(ValueTy::Scalar(kir::Ty::I64));
        let mark = self.body.mark();
        let allocations = self.allocations;
        self.body.begin();
        let element = self.element(&sequence, index);
        let mut yields = Vec::new();
        for member in &group.members {
            let value = match member.nest {
                None => element.clone(),
                Some(nest) => {
                    let (var, ty, _) = &nest.binders[0];
                    self.bind(*var, element.clone(), ty);
                    self.block(&nest.body)
                }
            };
            yields.push(value.scalar());
        }
        if self.allocations > allocations {
            self.body.compact(mark, Vec::new());
        }
        let types: Vec<ValueTy> = yields.iter().map(|value| self.body.ty(*value)).collect();
        let reduce = group.members.iter().map(|member| arrays::combine(member.with)).collect();
        let body = self.body.end(yields);
        let (init, carried) = (Vec::new(), Vec::new());
        let op = kir::Op::For { count, index, init, carried, reduce, body };
        let results = self.body.push(op, &types);
        for (member, result) in group.members.iter().zip(&results) {
            self.joint.done.insert(member.var, Rep::Scalar(*result));
        }
        Rep::Scalar(results[0])
    }
}
