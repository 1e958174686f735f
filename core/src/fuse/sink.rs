//! The second sub-pass: sinks the consumers of a multi-versioned value into both versions.
//!
//! A value with two versions ([`Op::Versions`]) ends a kernel, since which kernel computes it is known
//! only when the elements have been counted. Histograms and scatters of such a value, and other
//! reductions beside them, are moved to the end of both versions, so that each becomes one kernel
//! with the computation of the value:
//!
//! ```text
//! k: int in s1 = versions { … } or { … }               t = versions { k: int in s1 = …
//! p: int in s1 = mul(k, w)                                            p = mul(k, w)
//! t: [float] in s0 = histogram_sum v to p … from s1  →                t = histogram_sum v to p … }
//!                                                            or { … the same at its end }
//! ```
//!
//! If other steps use the value too, it leaves the versions as a sequence beside the reductions; the
//! results of the versions are then nested pairs.

use super::FusionState;
use crate::base::with_stack;
use crate::flat::{Block, Function, IndexSpace, Let, Op, SpaceId, SpaceKind, Step, segments_of};
use crate::ir::{self, Atom, Ty, Var};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use rustc_hash::{FxHashMap, FxHashSet};

/// Returns the body of a function with the consumers of multi-versioned values in the versions.
pub(super) fn run(function: &Function, state: &mut FusionState) -> Block {
    let mut sinking = Sinking { spaces: &function.spaces, state, next_var: first_unused(function) };
    sinking.block(&function.body)
}

struct Sinking<'f, 's> {
    spaces: &'f [IndexSpace],
    state: &'s mut FusionState,
    /// The number of the next new variable.
    next_var: u32,
}

/// The consumers that are moved into the versions of a value.
struct Consumers {
    /// The cheap steps over the value's index space, and the reductions, in order.
    lets: Vec<Let>,
    /// The positions of the reductions, which are removed; cheap steps stay for other uses.
    removed: Vec<usize>,
    /// True if other steps use the value, or a cheap step's.
    kept: bool,
}

impl Sinking<'_, '_> {
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
                    && let Some(consumers) = self.consumers(&steps, at, block.result)
                {
                    self.state.fuel -= 1;
                    let Step::Let(head) = steps[at].clone() else {
                        bug!("a step with consumers is a value")
                    };
                    for removed in consumers.removed.iter().rev() {
                        steps.remove(*removed);
                    }
                    let joined = self.joined(&head, &consumers);
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

    /// Returns the consumers of a multi-versioned value that can be moved into its versions, if there
    /// is a histogram or a scatter among them.
    fn consumers(&self, steps: &[Step], at: usize, result: Atom) -> Option<Consumers> {
        let Step::Let(Let {
            var: head,
            space,
            op: Op::Versions { sequential, matrix: None, .. },
            ..
        }) = &steps[at]
        else {
            return None;
        };
        let by_itself =
            matches!(&sequential.steps[..], [Step::Let(Let { op: Op::Sequential(_), .. })]);
        let is_filter = matches!(self.spaces[space.0 as usize].kind, SpaceKind::Filter { .. });
        if !by_itself || is_filter || segments_of(self.spaces, *space).is_none() {
            return None;
        }
        let (lets, removed, here) = self.movable(steps, at, *head, *space);
        let fills = |binding: &Let| {
            let mut uses = false;
            binding.op.each_use(&mut |var| uses |= here.contains(&var));
            uses && matches!(binding.op, Op::Histogram { .. } | Op::Scatter { .. })
        };
        if !lets.iter().any(fills) {
            return None;
        }
        let kept = self.used_elsewhere(steps, at, result, &here, &removed);
        Some(Consumers { lets, removed, kept })
    }

    /// Returns the steps after a value that can be moved into its versions, the positions of the
    /// reductions among them, and the variables that are then bound there.
    fn movable(
        &self,
        steps: &[Step],
        at: usize,
        head: Var,
        space: SpaceId,
    ) -> (Vec<Let>, Vec<usize>, FxHashSet<Var>) {
        let mut later: FxHashSet<Var> = FxHashSet::default();
        for step in &steps[at..] {
            if let Step::Let(binding) = step {
                later.insert(binding.var);
            }
        }
        // The value, and what cheap steps compute from it and from earlier values.
        let mut here = FxHashSet::from_iter([head]);
        let (mut lets, mut removed) = (Vec::new(), Vec::new());
        for (place, step) in steps.iter().enumerate().skip(at + 1) {
            let Step::Let(binding) = step else { continue };
            let mut there = true;
            binding.op.each_use(&mut |var| there &= here.contains(&var) || !later.contains(&var));
            let checked = binding.op.check().is_none_or(|check| !later.contains(&check));
            if !there || !checked || binding.operand_space() != space {
                continue;
            }
            if binding.combines() && segments_of(self.spaces, space) != Some(binding.space) {
                continue;
            }
            if binding.combines() {
                removed.push(place);
            } else if binding.is_cheap() {
                here.insert(binding.var);
            } else {
                continue;
            }
            lets.push(binding.clone());
        }
        (lets, removed, here)
    }

    /// Returns true if steps that are not moved, or the block's result, use one of some variables.
    fn used_elsewhere(
        &self,
        steps: &[Step],
        at: usize,
        result: Atom,
        here: &FxHashSet<Var>,
        removed: &[usize],
    ) -> bool {
        let mut kept = false;
        let mut outside = |var: Var| kept |= here.contains(&var);
        result.variable().into_iter().for_each(&mut outside);
        for (place, step) in steps.iter().enumerate().skip(at + 1) {
            match step {
                Step::Let(binding) if here.contains(&binding.var) || removed.contains(&place) => {}
                Step::Let(binding) => {
                    binding.op.each_use(&mut outside);
                    for inside in binding.op.blocks() {
                        inside.each_space(&mut |space| {
                            let made_of = self.spaces[space.0 as usize].kind.made_of();
                            made_of.into_iter().for_each(&mut outside);
                        });
                    }
                }
                Step::Space(space) => {
                    let made_of = self.spaces[space.0 as usize].kind.made_of();
                    made_of.into_iter().for_each(&mut outside);
                }
                Step::Kernel(_) => bug!("a program is fused once"),
            }
        }
        kept
    }

    /// Returns the value with its consumers in both versions, and steps that bind the variables that
    /// these bound before.
    fn joined(&mut self, head: &Let, consumers: &Consumers) -> Vec<Let> {
        let Op::Versions { sequential, flattened, .. } = &head.op else {
            bug!("a value with consumers has two versions")
        };
        let (site, inner) = (head.site, head.space);
        let home =
            segments_of(self.spaces, inner).or_bug("the index space of the value has segments");
        // Both versions bind the same variables.
        let names: Vec<Var> = consumers.lets.iter().map(|_| self.fresh()).collect();
        let collected = consumers.kept.then(|| self.fresh());
        let mut parts: Vec<(Var, Ty, Var)> = Vec::new();
        for (binding, name) in consumers.lets.iter().zip(&names) {
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
            for (binding, name) in consumers.lets.iter().zip(&names) {
                let mut binding = binding.clone();
                rename(&mut binding.op, &known);
                known.insert(std::mem::replace(&mut binding.var, *name), Atom::Var(*name));
                steps.push(Step::Let(binding));
            }
            let mut bind = |var: Var, ty: Ty, op: Op| {
                steps.push(Step::Let(Let { var, ty, space: home, op, site }));
            };
            if let Some(name) = collected {
                bind(name, all.clone(), Op::Collect { value: side.result, from: inner });
            }
            let (last, before) = parts.split_last().or_bug("a reduction is among the consumers");
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
        let mut lets = vec![Let {
            var,
            ty,
            space: home,
            op: Op::Versions { sequential, flattened, matrix: None },
            site,
        }];
        self.parts_of(var, &parts, home, &mut lets);
        if consumers.kept {
            let op = Op::Element { of: values, checked: None };
            lets.push(Let { op, ..head.clone() });
        }
        lets
    }

    /// Binds the parts of nested pairs to variables.
    fn parts_of(
        &mut self,
        sequential: Var,
        parts: &[(Var, Ty, Var)],
        space: SpaceId,
        lets: &mut Vec<Let>,
    ) {
        let (mut rest, site) = (Atom::Var(sequential), lets[0].site);
        let Some((last, before)) = parts.split_last() else { return };
        let mut ty = lets[0].ty.clone();
        for (_, part, name) in before {
            let first = Op::Map(ir::Op::First(rest));
            lets.push(Let { var: *name, ty: part.clone(), space, op: first, site });
            let Ty::Pair(_, behind) = ty else {
                bug!("the results of the versions are nested pairs")
            };
            ty = *behind;
            let (var, op) = (self.fresh(), Op::Map(ir::Op::Second(rest)));
            lets.push(Let { var, ty: ty.clone(), space, op, site });
            rest = Atom::Var(var);
        }
        let op = Op::Map(ir::Op::Copy(rest));
        lets.push(Let { var: last.2, ty: last.1.clone(), space, op, site });
    }

    /// Returns a new variable.
    fn fresh(&mut self) -> Var {
        self.next_var += 1;
        Var(self.next_var - 1)
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

/// Returns a number that is larger than those of all variables of a function.
fn first_unused(function: &Function) -> u32 {
    let mut next = function.params.iter().map(|(var, _)| var.0 + 1).max().unwrap_or(0);
    function.body.each_let(&mut |binding| {
        binding.each_binding(&mut |var| next = next.max(var.0 + 1));
    });
    next
}
