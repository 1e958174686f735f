//! What is made of the values that points find by themselves joins them.
//!
//! A value that has two forms ([`Op::Versions`]) is the end of a kernel: which kernel, is known when
//! the points have been counted. Tables that are filled with such values, and other reductions of
//! them, become the end of both forms, so that they are one kernel with what finds the values:
//!
//! ```text
//! k: int in s1 = versions { whole … } or { … }           t = versions { k: int in s1 = whole …
//! p: int in s1 = mul(k, w)                                          p = mul(k, w)
//! t: [float] in s0 = histogram_sum v to p … from s1  →              t = histogram_sum v to p … }
//!                                                          or { … the same at its end }
//! ```
//!
//! What somebody else needs of the values leaves it as a sequence.

use super::cluster::{State, var};
use crate::base::with_stack;
use crate::flat::{Block, Function, IndexSpace, Let, Op, SpaceId, SpaceKind, Step, segments_of};
use crate::ir::{self, Atom, Ty, Var};
use rustc_hash::{FxHashMap, FxHashSet};

/// Moves what fills tables to where what it needs is found, in a function.
pub(super) fn moved(function: &Function, state: &mut State) -> Block {
    let mut tails = Tails { spaces: &function.spaces, state, next: unused(function) };
    tails.block(&function.body)
}

struct Tails<'f, 's> {
    spaces: &'f [IndexSpace],
    state: &'s mut State,
    next: u32,
}

/// The end of a value with two forms.
struct Tail {
    /// What is done at its points, and the reductions, in order.
    lets: Vec<Let>,
    /// Which steps these are that are done nowhere else: the reductions.
    taken: Vec<usize>,
    /// Somebody else needs the value.
    kept: bool,
}

impl Tails<'_, '_> {
    fn block(&mut self, block: &Block) -> Block {
        with_stack(|| {
            let mut steps = block.steps.clone();
            let mut at = 0;
            while at < steps.len() {
                if let Step::Let(binding) = &mut steps[at] {
                    for inner in binding.op.blocks_mut() {
                        *inner = self.block(inner);
                    }
                }
                if self.state.fuel > 0
                    && let Some(tail) = self.tail(&steps, at, block.result)
                {
                    self.state.fuel -= 1;
                    let Step::Let(head) = steps[at].clone() else { unreachable!("it has a tail") };
                    for taken in tail.taken.iter().rev() {
                        steps.remove(*taken);
                    }
                    let joined = self.joined(&head, &tail);
                    let count = joined.len();
                    steps.splice(at..=at, joined.into_iter().map(Step::Let));
                    at += count;
                    continue;
                }
                at += 1;
            }
            Block { steps, result: block.result }
        })
    }

    /// What comes behind a value with two forms, and can be done where it is found.
    fn tail(&self, steps: &[Step], at: usize, result: Atom) -> Option<Tail> {
        let Step::Let(Let { var: head, ctx, op: Op::Versions { sequential, .. }, .. }) = &steps[at]
        else {
            return None;
        };
        let by_itself =
            matches!(&sequential.steps[..], [Step::Let(Let { op: Op::Sequential(_), .. })]);
        let is_filter = matches!(self.spaces[ctx.0 as usize].kind, SpaceKind::Filter { .. });
        if !by_itself || is_filter || segments_of(self.spaces, *ctx).is_none() {
            return None;
        }
        let mut later: FxHashSet<Var> = FxHashSet::default();
        for step in &steps[at..] {
            if let Step::Let(binding) = step {
                later.insert(binding.var);
            }
        }
        // What is at hand at the points: the value, and what is made of it and of what was there.
        let mut here = FxHashSet::from_iter([*head]);
        let (mut lets, mut taken) = (Vec::new(), Vec::new());
        for (place, step) in steps.iter().enumerate().skip(at + 1) {
            let Step::Let(binding) = step else { continue };
            let mut there = true;
            binding.op.each_use(&mut |var| there &= here.contains(&var) || !later.contains(&var));
            let checked = match &binding.op {
                Op::Element { checked: Some(check), .. } => !later.contains(check),
                _ => true,
            };
            if !there || !checked || binding.points() != *ctx {
                continue;
            }
            if binding.combines() && segments_of(self.spaces, *ctx) != Some(binding.ctx) {
                continue;
            }
            if binding.combines() {
                taken.push(place);
            } else if binding.is_cheap() {
                here.insert(binding.var);
            } else {
                continue;
            }
            lets.push(binding.clone());
        }
        let fills = |binding: &Let| {
            let mut uses = false;
            binding.op.each_use(&mut |var| uses |= here.contains(&var));
            uses && matches!(binding.op, Op::Histogram { .. } | Op::Scatter { .. })
        };
        if !lets.iter().any(fills) {
            return None;
        }
        let mut kept = false;
        let mut outside = |var: Var| kept |= here.contains(&var);
        var(result).into_iter().for_each(&mut outside);
        for (place, step) in steps.iter().enumerate().skip(at + 1) {
            match step {
                Step::Let(binding) if here.contains(&binding.var) || taken.contains(&place) => {}
                Step::Let(binding) => {
                    binding.op.each_use(&mut outside);
                    for inside in binding.op.blocks() {
                        inside.each_context(&mut |ctx| {
                            let made_of = self.spaces[ctx.0 as usize].kind.made_of();
                            made_of.into_iter().for_each(&mut outside);
                        });
                    }
                }
                Step::Space(ctx) => {
                    let made_of = self.spaces[ctx.0 as usize].kind.made_of();
                    made_of.into_iter().for_each(&mut outside);
                }
                Step::Kernel(_) => unreachable!("programs are fused once"),
            }
        }
        Some(Tail { lets, taken, kept })
    }

    /// A value with its tail, and what is called by the names that were used for it.
    fn joined(&mut self, head: &Let, tail: &Tail) -> Vec<Let> {
        let Op::Versions { sequential, flattened } = &head.op else {
            unreachable!("it has two forms")
        };
        let (site, inner) = (head.site, head.ctx);
        let home = segments_of(self.spaces, inner).expect("it has segments");
        // Both forms use the same names.
        let names: Vec<Var> = tail.lets.iter().map(|_| self.fresh()).collect();
        let collected = tail.kept.then(|| self.fresh());
        let mut parts: Vec<(Var, Ty, Var)> = Vec::new();
        for (binding, name) in tail.lets.iter().zip(&names) {
            if binding.combines() {
                parts.push((*name, binding.ty.clone(), binding.var));
            }
        }
        let all = Ty::sequence(head.ty.clone());
        let values = self.fresh();
        parts.extend(collected.map(|name| (name, all.clone(), values)));
        let pairs: Vec<Var> = parts.iter().skip(1).map(|_| self.fresh()).collect();
        let side = |side: &Block| {
            let mut steps = side.steps.clone();
            let mut known = FxHashMap::from_iter([(head.var, side.result)]);
            for (binding, name) in tail.lets.iter().zip(&names) {
                let mut binding = binding.clone();
                rename(&mut binding.op, &known);
                known.insert(std::mem::replace(&mut binding.var, *name), Atom::Var(*name));
                steps.push(Step::Let(binding));
            }
            let mut bind = |var: Var, ty: Ty, op: Op| {
                steps.push(Step::Let(Let { var, ty, ctx: home, op, site }));
            };
            if let Some(name) = collected {
                bind(name, all.clone(), Op::Collect { value: side.result, from: inner });
            }
            let (last, before) = parts.split_last().expect("there is a table");
            let (mut result, mut ty) = (last.0, last.1.clone());
            for ((name, part, _), pair) in before.iter().rev().zip(&pairs) {
                ty = Ty::pair(part.clone(), ty);
                let op = ir::Op::Pair(Atom::Var(*name), Atom::Var(result));
                bind(*pair, ty.clone(), Op::Map(op));
                result = *pair;
            }
            (Block { steps, result: Atom::Var(result) }, ty)
        };
        let ((sequential, ty), (flattened, _)) = (side(sequential), side(flattened));
        let var = self.fresh();
        let mut lets =
            vec![Let { var, ty, ctx: home, op: Op::Versions { sequential, flattened }, site }];
        self.parts_of(var, &parts, home, &mut lets);
        if tail.kept {
            let op = Op::Element { of: values, checked: None };
            lets.push(Let { op, ..head.clone() });
        }
        lets
    }

    /// Gives the parts of nested pairs names.
    fn parts_of(
        &mut self,
        sequential: Var,
        parts: &[(Var, Ty, Var)],
        ctx: SpaceId,
        lets: &mut Vec<Let>,
    ) {
        let (mut rest, site) = (Atom::Var(sequential), lets[0].site);
        let Some((last, before)) = parts.split_last() else { return };
        let mut ty = lets[0].ty.clone();
        for (_, part, name) in before {
            let first = Op::Map(ir::Op::First(rest));
            lets.push(Let { var: *name, ty: part.clone(), ctx, op: first, site });
            let Ty::Pair(_, behind) = ty else { unreachable!("it is a pair") };
            ty = *behind;
            let (var, op) = (self.fresh(), Op::Map(ir::Op::Second(rest)));
            lets.push(Let { var, ty: ty.clone(), ctx, op, site });
            rest = Atom::Var(var);
        }
        let op = Op::Map(ir::Op::Copy(rest));
        lets.push(Let { var: last.2, ty: last.1.clone(), ctx, op, site });
    }

    fn fresh(&mut self) -> Var {
        self.next += 1;
        Var(self.next - 1)
    }
}

/// Replaces variables by other operands, in a cheap step or in a reduction, histogram or scatter.
/// Sequences that these read live in an index space around, and keep their names.
fn rename(op: &mut Op, known: &FxHashMap<Var, Atom>) {
    op.each_operand_mut(|atom| {
        if let Atom::Var(var) = atom
            && let Some(other) = known.get(var)
        {
            *atom = *other;
        }
    });
}

/// A number from which on no variable of a function has one.
fn unused(function: &Function) -> u32 {
    let mut next = function.params.iter().map(|(var, _)| var.0 + 1).max().unwrap_or(0);
    function.body.each_let(&mut |binding| {
        let mut note = |var: Var| next = next.max(var.0 + 1);
        note(binding.var);
        match &binding.op {
            Op::Sequential(block) => block.each_binding(&mut |var, _| note(var)),
            Op::Map(op) => {
                op.blocks().for_each(|block| block.each_binding(&mut |var, _| note(var)));
                if let ir::Op::Nest(nest) = op {
                    nest.binders.iter().for_each(|(var, ..)| note(*var));
                }
            }
            _ => {}
        }
    });
    next
}
