//! Which step joins which kernel.

use crate::base::with_stack;
use crate::flat::{Block, IndexSpace, Kernel, Let, Op, SpaceId, SpaceKind, Step};
use crate::ir::{self, Atom, Var};
use crate::prim::Cost;
use rustc_hash::FxHashMap;

/// What all blocks of a program share.
#[derive(Clone)]
pub(super) struct State {
    /// How many more steps may join, or be done again.
    pub(super) fuel: u32,
    /// Filters of what a filter keeps are masks of one kernel.
    pub(super) nested: bool,
    /// The number of the next kernel.
    pub(super) next: u32,
}

/// Where something comes from.
#[derive(Clone, Copy)]
struct Source {
    /// Which step.
    at: usize,
    /// Whether it is at hand in the kernel that makes it.
    inside: bool,
}

struct Grouping<'c, 's> {
    spaces: &'c [IndexSpace],
    state: &'s mut State,
    steps: Vec<Step>,
    vars: FxHashMap<Var, Source>,
    ctxs: FxHashMap<SpaceId, Source>,
    /// What is read where it is needed: elements and positions.
    delayed: FxHashMap<Var, Let>,
}

/// Groups the steps of a block, and of those inside.
pub(super) fn block(block: &Block, spaces: &[IndexSpace], state: &mut State) -> Block {
    inner_block(block, spaces, state, &FxHashMap::default())
}

fn inner_block(
    block: &Block,
    spaces: &[IndexSpace],
    state: &mut State,
    delayed: &FxHashMap<Var, Let>,
) -> Block {
    with_stack(|| {
        let mut grouping = Grouping {
            spaces,
            state,
            steps: Vec::new(),
            vars: FxHashMap::default(),
            ctxs: FxHashMap::default(),
            delayed: delayed.clone(),
        };
        for step in &block.steps {
            match step {
                Step::Space(ctx) => grouping.context(*ctx),
                Step::Let(binding) => grouping.binding(binding),
                Step::Kernel(_) => unreachable!("programs are fused once"),
            }
        }
        grouping.settle(var(block.result));
        Block { steps: grouping.steps, result: block.result }
    })
}

impl Grouping<'_, '_> {
    /// A filter is a mask of the kernel that finds its flags.
    fn context(&mut self, ctx: SpaceId) {
        let space = self.spaces[ctx.0 as usize].kind;
        match space {
            SpaceKind::Elements { sequence, .. } => self.settle(Some(sequence)),
            SpaceKind::Count { count, .. } => self.settle(var(count)),
            SpaceKind::Filter { flag, .. } => self.settle(Some(flag)),
            SpaceKind::Caller | SpaceKind::Concat { .. } => {}
        }
        if let SpaceKind::Filter { of, flag, .. } = space
            && let Some(source) = self.vars.get(&flag).copied()
            && source.inside
            && let Step::Kernel(kernel) = &mut self.steps[source.at]
            && (kernel.space == of || self.state.nested && kernel.masks.contains(&of))
            && self.state.fuel > 0
        {
            self.state.fuel -= 1;
            kernel.masks.push(ctx);
            self.ctxs.insert(ctx, Source { at: source.at, inside: true });
            return;
        }
        self.steps.push(Step::Space(ctx));
        self.ctxs.insert(ctx, Source { at: self.steps.len() - 1, inside: false });
    }

    fn binding(&mut self, binding: &Let) {
        let mut binding = binding.clone();
        match &mut binding.op {
            Op::Branch { cond, then, otherwise } => {
                let cond = *cond;
                for (_, side) in [then, otherwise] {
                    *side = inner_block(side, self.spaces, self.state, &self.delayed);
                }
                self.settle(Some(cond));
                return self.alone(binding);
            }
            Op::Versions { sequential, flattened } => {
                for side in [sequential, flattened] {
                    *side = inner_block(side, self.spaces, self.state, &self.delayed);
                }
                return self.alone(binding);
            }
            Op::Call(_, args) => {
                let args: Vec<Var> = args.iter().filter_map(|a| var(*a)).collect();
                args.into_iter().for_each(|arg| self.settle(Some(arg)));
                return self.alone(binding);
            }
            Op::Collect { value, from } => {
                let (value, from) = (var(*value), *from);
                self.settle_in(value, from);
                return self.alone(binding);
            }
            Op::Element { .. } | Op::Position => {
                self.delayed.insert(binding.var, binding);
                return;
            }
            _ => {}
        }
        self.join(binding);
    }

    /// Moves what is nothing but descriptors, and what it is made of, to the first place where it
    /// can stand: a context, or the sequence of the values of a context.
    fn hoist(&mut self, at: usize) {
        let (value, ctx) = match &self.steps[at] {
            Step::Space(ctx) => {
                let context = &self.spaces[ctx.0 as usize];
                match context.kind {
                    SpaceKind::Concat { inner, .. } => (None, Some(inner)),
                    space => (space.made_of(), context.around()),
                }
            }
            Step::Let(Let { op: Op::Collect { value, from }, .. }) => (var(*value), Some(*from)),
            Step::Let(_) | Step::Kernel(_) => return,
        };
        let value_of = |known: &Self| value.and_then(|var| known.vars.get(&var)).copied();
        let ctx_of = |known: &Self| ctx.and_then(|ctx| known.ctxs.get(&ctx)).copied();
        let mut first = 0;
        for source in [&value_of as &dyn Fn(&Self) -> Option<Source>, &ctx_of] {
            if let Some(Source { at, inside: false }) = source(self) {
                self.hoist(at);
            }
        }
        for source in [value_of(self), ctx_of(self)].into_iter().flatten() {
            first = first.max(source.at + 1);
        }
        if first < at {
            self.steps[first..=at].rotate_right(1);
            for source in self.vars.values_mut().chain(self.ctxs.values_mut()) {
                source.at = match source.at {
                    moved if moved == at => first,
                    behind if (first..at).contains(&behind) => behind + 1,
                    other => other,
                };
            }
        }
    }

    /// Puts a value into a kernel.
    fn join(&mut self, binding: Let) {
        // What is written to need not wait for what is written.
        if let Op::Scatter { of, .. } = binding.op
            && let Some(Source { at, inside: false }) = self.vars.get(&of).copied()
        {
            self.hoist(at);
        }
        let (combines, ctx) = (binding.combines(), binding.points());
        // Elements of the same context are read here; others, once and for all.
        let mut delayed: Vec<Let> = Vec::new();
        binding.op.each_use(&mut |var| delayed.extend(self.delayed.get(&var).cloned()));
        delayed.sort_by_key(|read| read.var);
        delayed.dedup_by_key(|read| read.var);
        let (reads, others): (Vec<Let>, Vec<Let>) = delayed.into_iter().partition(|read| {
            read.ctx == ctx
                || matches!(self.spaces[ctx.0 as usize].kind,
                SpaceKind::Filter { of, .. } if of == read.ctx && self.is_mask(ctx))
        });
        others.into_iter().for_each(|read| self.settle_for_good(&read));
        // The first step it can be a part of, or come right behind.
        let mut from = 0;
        let mut inside = true;
        let mut needs: Vec<Source> = Vec::new();
        binding.op.each_use(&mut |var| needs.extend(self.vars.get(&var)));
        needs.extend(self.check_of(&binding));
        for read in &reads {
            read.op.each_use(&mut |var| needs.extend(self.vars.get(&var)));
            needs.extend(self.check_of(read));
            needs.extend(self.ctxs.get(&read.ctx));
        }
        needs.extend(self.ctxs.get(&ctx));
        for need in needs {
            if need.at > from || (need.at == from && inside) {
                (from, inside) =
                    (need.at, if need.at > from { need.inside } else { inside && need.inside });
            }
        }
        // An element, or a position, is found by a kernel over the context where it lives.
        let joins = |step: &Step| {
            matches!(step, Step::Kernel(kernel)
            if (kernel.space == ctx || kernel.masks.contains(&ctx) && may_be_masked(&binding))
                && reads.iter().all(|read| read.ctx == kernel.space))
        };
        let first = if inside { from } else { from + 1 };
        let found = (first..self.steps.len()).rev().find(|at| joins(&self.steps[*at]));
        // Code that a point does by itself ends up in a kernel of its own: what it gives may be
        // of any shape.
        let found = found.filter(|_| self.state.fuel > 0 && !makes_arrays(&binding));
        if found.is_none() && reads.iter().any(|read| read.ctx != ctx) {
            let away = reads.into_iter().filter(|read| read.ctx != ctx);
            away.for_each(|read| self.settle_for_good(&read));
            return self.join(binding);
        }
        let (var, at) = (
            binding.var,
            match found {
                Some(at) => {
                    self.state.fuel -= 1;
                    let Step::Kernel(kernel) = &mut self.steps[at] else {
                        unreachable!("only kernels are joined")
                    };
                    for read in reads.into_iter().chain([binding]) {
                        if kernel.lets.iter().all(|known| known.var != read.var) {
                            kernel.lets.push(read);
                        }
                    }
                    at
                }
                None => {
                    let mut lets = reads;
                    lets.push(binding);
                    self.steps.push(Step::Kernel(Kernel {
                        id: self.state.next,
                        space: ctx,
                        lets,
                        masks: Vec::new(),
                        stores: Vec::new(),
                        counts: Vec::new(),
                        filter_indices: Vec::new(),
                    }));
                    self.state.next += 1;
                    self.steps.len() - 1
                }
            },
        );
        self.vars.insert(var, Source { at, inside: !combines });
    }

    /// The check that must come before a sequence is read.
    fn check_of(&self, read: &Let) -> Option<&Source> {
        match read.op {
            Op::Element { checked: Some(check), .. } => self.vars.get(&check),
            _ => None,
        }
    }

    /// Whether a context is a mask of some kernel.
    fn is_mask(&self, ctx: SpaceId) -> bool {
        self.ctxs.get(&ctx).is_some_and(|source| source.inside)
    }

    /// What was to be read where it is needed is needed outside of kernels.
    fn settle(&mut self, var: Option<Var>) {
        let Some(read) = var.and_then(|var| self.delayed.get(&var)) else { return };
        let read = read.clone();
        // Positions are found anywhere, even if they are stored for somebody.
        if !matches!(read.op, Op::Position) {
            self.delayed.remove(&read.var);
        }
        self.join(read);
    }

    /// It is not read anywhere else any more.
    fn settle_for_good(&mut self, read: &Let) {
        self.settle(Some(read.var));
        self.delayed.remove(&read.var);
    }

    /// What was to be read where it is needed is stored for the points of a context: those
    /// that a mask keeps are picked in the kernel whose mask it is.
    fn settle_in(&mut self, var: Option<Var>, ctx: SpaceId) {
        let Some(read) = var.and_then(|var| self.delayed.get(&var)) else { return };
        let mut after = self.check_of(read).map_or(0, |source| source.at + 1);
        read.op.each_use(&mut |var| {
            after = after.max(self.vars.get(&var).map_or(0, |source| source.at + 1));
        });
        if let Some(source) = self.ctxs.get(&ctx)
            && source.inside
            && after <= source.at
            && let Step::Kernel(kernel) = &mut self.steps[source.at]
            && kernel.space == read.ctx
        {
            if kernel.lets.iter().all(|known| known.var != read.var) {
                kernel.lets.push(read.clone());
            }
            return;
        }
        self.settle(var);
    }

    fn alone(&mut self, binding: Let) {
        let var = binding.var;
        self.steps.push(Step::Let(binding));
        self.vars.insert(var, Source { at: self.steps.len() - 1, inside: false });
    }
}

/// Whether a step can be done under a mask: it gives scalars or writes elements, and does not ask
/// how many points came before.
fn may_be_masked(binding: &Let) -> bool {
    match binding.op {
        Op::Element { .. } | Op::Position => false,
        Op::Scatter { .. } => true,
        _ => !binding.ty.has_sequence(),
    }
}

/// Returns true if a step may make new arrays, which the other steps of its kernel could not use
/// yet.
fn makes_arrays(binding: &Let) -> bool {
    let makes_none = match &binding.op {
        // Flattening leaves conditionals to elements if they choose between views.
        Op::Map(op @ ir::Op::If { .. }) => op.blocks().all(only_views),
        Op::Map(op) => op.costs_at_most(Cost::Element, &binding.ty),
        Op::Sequential(_) => false,
        // Any kernel fills tables and writes elements; the other operations are not joined.
        _ => true,
    };
    !makes_none && binding.ty.has_sequence()
}

/// Returns true if a block makes no sequences but views of others.
fn only_views(block: &ir::Block) -> bool {
    with_stack(|| {
        block.lets.iter().all(|binding| match &binding.op {
            ir::Op::Seq(op, _) => op.row().cost <= Cost::Chars,
            ir::Op::If { .. } => binding.op.blocks().all(only_views),
            op => !binding.ty.has_sequence() && !op.has_blocks(),
        })
    })
}

/// An operand as a variable.
pub(super) fn var(atom: Atom) -> Option<Var> {
    match atom {
        Atom::Var(var) => Some(var),
        Atom::Unit | Atom::Int(_) | Atom::Float(_) | Atom::Bool(_) | Atom::Char(_) => None,
    }
}
