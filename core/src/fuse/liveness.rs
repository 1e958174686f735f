//! Which values are used afterwards, and so must be stored; what nobody uses goes.
//!
//! Backwards, since what is used is known once everything behind has been seen.

use super::cluster::var;
use crate::base::with_stack;
use crate::flat::{Block, IndexSpace, Kernel, Let, Op, SpaceId, SpaceKind, Step, is_within};
use crate::ir::{self, Atom, Var};
use crate::prim::SeqOp;
use rustc_hash::{FxHashMap, FxHashSet};

/// What is used behind a place.
#[derive(Clone, Default)]
struct Live {
    /// Values.
    vars: FxHashSet<Var>,
    /// Sequences of which only the lengths are.
    shapes: FxHashSet<Var>,
    /// Contexts.
    ctxs: FxHashSet<SpaceId>,
    /// Contexts of which it matters which points they have, not only how many.
    places: FxHashSet<SpaceId>,
    /// Values at some of the points where they live.
    packed: FxHashSet<(Var, SpaceId)>,
    /// Values that are stored for some of their points, by the kernel at hand.
    within: FxHashSet<Var>,
}

/// Says of each kernel in a block and those inside what it stores.
pub(super) fn block(block: Block, spaces: &[IndexSpace]) -> Block {
    let mut homes = FxHashMap::default();
    block.each_let(&mut |binding| {
        homes.insert(binding.var, binding.ctx);
    });
    let function = Function { spaces, homes };
    function.backwards(block, &FxHashSet::default(), &mut Live::default())
}

struct Function<'c> {
    spaces: &'c [IndexSpace],
    /// Where each value lives.
    homes: FxHashMap<Var, SpaceId>,
}

impl Function<'_> {
    /// What the blocks around it bind may be computed again in a block, but is stored by them.
    fn backwards(&self, block: Block, around: &FxHashSet<Var>, live: &mut Live) -> Block {
        with_stack(|| {
            live.vars.extend(var(block.result));
            let mut steps = Vec::with_capacity(block.steps.len());
            let mut left = block.steps;
            while let Some(step) = left.pop() {
                match step {
                    Step::Space(ctx) if live.ctxs.contains(&ctx) => {
                        live.unpack(ctx);
                        live.space(&self.spaces[ctx.0 as usize].kind);
                        steps.push(step);
                    }
                    Step::Space(_) => {}
                    Step::Let(binding) => {
                        let before = || {
                            let before = left.iter().flat_map(bound_by).map(|binding| binding.var);
                            around.iter().copied().chain(before).collect()
                        };
                        steps.extend(self.value(binding, &before, live).map(Step::Let));
                    }
                    Step::Kernel(kernel) => {
                        steps.extend(self.kernel(kernel, around, live).map(Step::Kernel));
                    }
                }
            }
            steps.reverse();
            Block { steps, result: block.result }
        })
    }

    /// A value outside of kernels.
    fn value(
        &self,
        mut binding: Let,
        before: &dyn Fn() -> FxHashSet<Var>,
        live: &mut Live,
    ) -> Option<Let> {
        let used = live.vars.contains(&binding.var);
        match &mut binding.op {
            Op::Collect { value, from } => {
                if !used && !live.shapes.contains(&binding.var) {
                    return None;
                }
                live.ctxs.insert(*from);
                if !used {
                    // Only how long the sequences are.
                    *value = Atom::Unit;
                }
                if let Some(value) = var(*value) {
                    // In a context around, it is the same for all points of a segment, or a filter
                    // has thinned it out.
                    match self.homes.get(&value) {
                        Some(home) if home != from && self.thins(*from, *home) => {
                            live.packed.insert((value, *from));
                        }
                        _ => {
                            live.vars.insert(value);
                        }
                    }
                }
            }
            Op::Branch { cond, then, otherwise } => {
                let before = before();
                for (ctx, side) in [then, otherwise] {
                    live.places.insert(*ctx);
                    live.ctxs.insert(*ctx);
                    // A side may be left out: what it stores may be missing behind it.
                    let mut inside = live.clone();
                    *side =
                        self.backwards(std::mem::replace(side, nothing()), &before, &mut inside);
                    live.join(inside);
                }
                live.vars.insert(*cond);
            }
            Op::Versions { sequential, flattened } => {
                // The sides bind the same variables.
                let before = before();
                for side in [sequential, flattened] {
                    let mut inside = live.clone();
                    *side =
                        self.backwards(std::mem::replace(side, nothing()), &before, &mut inside);
                    live.join(inside);
                }
            }
            _ => binding.op.each_use(&mut |var| {
                live.vars.insert(var);
            }),
        }
        live.point(binding.ctx);
        Some(binding)
    }

    fn kernel(
        &self,
        mut kernel: Kernel,
        around: &FxHashSet<Var>,
        live: &mut Live,
    ) -> Option<Kernel> {
        for binding in &kernel.lets {
            let away =
                |(var, ctx): &(Var, SpaceId)| *var == binding.var && !kernel.masks.contains(ctx);
            let away: Vec<SpaceId> =
                live.packed.iter().filter(|p| away(p)).map(|(_, ctx)| *ctx).collect();
            away.into_iter().for_each(|ctx| live.unpack(ctx));
        }
        // Only of what was collected are the lengths known without the elements.
        for binding in &kernel.lets {
            if live.shapes.contains(&binding.var) {
                live.vars.insert(binding.var);
            }
        }
        // What lives around the kernel is computed again here, and stored by another.
        let own = |binding: &&Let| {
            let here = binding.ctx == kernel.space
                || kernel.masks.contains(&binding.ctx)
                || binding.combines();
            here && !around.contains(&binding.var)
        };
        let own: FxHashSet<Var> =
            kernel.lets.iter().filter(own).map(|binding| binding.var).collect();
        let stored = kernel
            .lets
            .iter()
            .filter(|binding| own.contains(&binding.var) && live.vars.contains(&binding.var));
        kernel.stores = stored.map(|binding| (binding.var, binding.ctx)).collect();
        for mask in &kernel.masks {
            let inside = |var: &Var| kernel.lets.iter().any(|binding| binding.var == *var);
            let mut packed: Vec<Var> =
                live.packed.iter().filter(|(_, ctx)| ctx == mask).map(|(var, _)| *var).collect();
            packed.sort_unstable();
            for var in packed {
                live.packed.remove(&(var, *mask));
                if inside(&var) {
                    kernel.stores.push((var, *mask));
                    live.within.insert(var);
                } else {
                    live.vars.insert(var);
                    live.places.insert(*mask);
                }
            }
        }
        let masks = std::mem::take(&mut kernel.masks);
        // Of a filter somebody may want to know how many points there are, or which.
        kernel.counts = masks.iter().copied().filter(|mask| live.ctxs.contains(mask)).collect();
        kernel.filter_indices =
            kernel.counts.iter().copied().filter(|c| live.places.contains(c)).collect();
        let needed = |mask: &SpaceId| {
            kernel.counts.contains(mask)
                || kernel.lets.iter().any(|binding| is_within(self.spaces, binding.points(), *mask))
                || kernel.counts.iter().any(|count| is_within(self.spaces, *count, *mask))
        };
        kernel.masks = masks.into_iter().filter(needed).collect();
        for mask in kernel.masks.iter().rev() {
            live.space(&self.spaces[mask.0 as usize].kind);
        }
        let mut lets = Vec::with_capacity(kernel.lets.len());
        let repeated = kernel.lets.iter().map(|binding| binding.var);
        let behind: FxHashSet<Var> = repeated.filter(|var| live.vars.contains(var)).collect();
        let mut here: FxHashSet<Var> = FxHashSet::default();
        for binding in kernel.lets.into_iter().rev() {
            let within = live.within.remove(&binding.var);
            let used = if own.contains(&binding.var) {
                // It is here that those behind get it from.
                live.vars.remove(&binding.var)
            } else {
                let used = here.contains(&binding.var);
                if used && !behind.contains(&binding.var) {
                    live.vars.remove(&binding.var);
                }
                used
            };
            if !used && !within && !binding.may_fault() {
                continue;
            }
            binding.op.each_use(&mut |var| {
                here.insert(var);
            });
            match &binding.op {
                // Lengths are known without the elements.
                Op::SameLength(a, b, _) => {
                    live.shapes.extend([*a, *b]);
                    live.within.extend([*a, *b]);
                }
                Op::Map(ir::Op::Seq(SeqOp::Length, args)) => {
                    let args: Vec<Var> = args.iter().filter_map(|a| var(*a)).collect();
                    live.shapes.extend(&args);
                    live.within.extend(args);
                }
                op => op.each_use(&mut |var| {
                    live.vars.insert(var);
                }),
            }
            if binding.combines() && !kernel.masks.contains(&binding.points()) {
                live.ctxs.insert(binding.points());
            }
            if own.contains(&binding.var) && !kernel.masks.contains(&binding.ctx) {
                live.point(binding.ctx);
            }
            lets.push(binding);
        }
        lets.reverse();
        kernel.lets = lets;
        if kernel.lets.is_empty() && kernel.counts.is_empty() {
            return None;
        }
        live.point(kernel.space);
        Some(kernel)
    }

    /// Whether some of the points of a context are missing in one inside, with segments or not.
    fn thins(&self, inner: SpaceId, outer: SpaceId) -> bool {
        let mut at = inner;
        while at != outer {
            match self.spaces[at.0 as usize].kind {
                SpaceKind::Filter { of, .. } => at = of,
                _ => return false,
            }
        }
        true
    }
}

/// What a step binds, but for what is inside of its blocks.
fn bound_by(step: &Step) -> &[Let] {
    match step {
        Step::Space(_) => &[],
        Step::Let(binding) => std::slice::from_ref(binding),
        Step::Kernel(kernel) => &kernel.lets,
    }
}

fn nothing() -> Block {
    Block { steps: Vec::new(), result: Atom::Unit }
}

impl Live {
    /// The points of a filter are picked from where the values lie.
    fn unpack(&mut self, ctx: SpaceId) {
        let packed: Vec<Var> =
            self.packed.iter().filter(|(_, c)| *c == ctx).map(|(var, _)| *var).collect();
        for var in packed {
            self.packed.remove(&(var, ctx));
            self.vars.insert(var);
            self.places.insert(ctx);
        }
    }

    /// What is used by either.
    fn join(&mut self, other: Live) {
        self.vars.extend(other.vars);
        self.shapes.extend(other.shapes);
        self.ctxs.extend(other.ctxs);
        self.places.extend(other.places);
        self.packed.extend(other.packed);
    }

    /// Something is computed at the points of a context.
    fn point(&mut self, ctx: SpaceId) {
        self.ctxs.insert(ctx);
        self.places.insert(ctx);
    }

    /// What a context is made of.
    fn space(&mut self, space: &SpaceKind) {
        match space {
            SpaceKind::Caller => {}
            SpaceKind::Elements { of, sequence } => {
                self.point(*of);
                self.shapes.insert(*sequence);
            }
            SpaceKind::Count { of, count } => {
                self.point(*of);
                self.vars.extend(var(*count));
            }
            SpaceKind::Filter { of, flag, .. } => {
                self.point(*of);
                self.vars.insert(*flag);
            }
            SpaceKind::Concat { of, inner } => {
                self.point(*of);
                self.point(*inner);
            }
        }
    }
}
