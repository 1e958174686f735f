//! The third sub-pass: steps over one index space become kernels.
//!
//! One forward walk over a block. A step joins the last kernel over its index space, or over one of
//! that kernel's masks, that comes after everything the step needs; if there is none, it begins a
//! kernel. Elements and positions are not computed where they are bound but read in each kernel that
//! uses them ([`Clustering::reads`]).
//!
//! Invariants: a step comes after every step that it depends on; the check of a length comes before the
//! elements that it guards are read; a new array is used by later kernels only.

use super::FusionState;
use crate::base::with_stack;
use crate::flat::{
    Block, Function, IndexSpace, Kernel, Let, Op, RowsOperation, SpaceId, SpaceKind, Step,
    is_half_of, rows_step,
};
use crate::ir::{self, Var};
use crate::prim::Cost;
use nesl_runtime::bug;
use rustc_hash::FxHashMap;

/// The step that makes a value or an index space.
#[derive(Clone, Copy)]
struct Producer {
    /// The number of the step.
    step: usize,
    /// True if the step is a kernel in which later steps can use it.
    in_kernel: bool,
}

struct Clustering<'c, 's> {
    spaces: &'c [IndexSpace],
    state: &'s mut FusionState,
    steps: Vec<Step>,
    /// The producers of the values so far.
    values: FxHashMap<Var, Producer>,
    /// The producers of the index spaces so far.
    made_spaces: FxHashMap<SpaceId, Producer>,
    /// Elements and positions, which the kernels that use them read.
    reads: FxHashMap<Var, Let>,
}

/// Returns the body of a function with its steps in kernels.
pub(super) fn run(function: &Function, state: &mut FusionState) -> Block {
    inner_block(&function.body, &function.spaces, state, &FxHashMap::default())
}

fn inner_block(
    block: &Block,
    spaces: &[IndexSpace],
    state: &mut FusionState,
    reads: &FxHashMap<Var, Let>,
) -> Block {
    with_stack(|| {
        let mut clustering = Clustering {
            spaces,
            state,
            steps: Vec::new(),
            values: FxHashMap::default(),
            made_spaces: FxHashMap::default(),
            reads: reads.clone(),
        };
        for step in &block.steps {
            match step {
                Step::Space(space) => clustering.index_space(*space),
                Step::Let(binding) => clustering.binding(binding),
                Step::Kernel(_) => bug!("a program is fused once"),
            }
        }
        clustering.store_read(block.result.variable());
        Block { steps: clustering.steps, result: block.result }
    })
}

impl Clustering<'_, '_> {
    /// Adds an index space. A filter becomes a mask of the kernel that computes its flag.
    fn index_space(&mut self, space: SpaceId) {
        let kind = self.spaces[space.0 as usize].kind;
        match kind {
            SpaceKind::Elements { sequence, .. } => self.store_read(Some(sequence)),
            SpaceKind::Count { count, .. } => self.store_read(count.variable()),
            SpaceKind::Filter { flag, .. } => self.store_read(Some(flag)),
            SpaceKind::Caller | SpaceKind::Concat { .. } => {}
        }
        if let SpaceKind::Filter { of, flag, .. } = kind
            && let Some(producer) = self.values.get(&flag).copied()
            && producer.in_kernel
            && let Step::Kernel(kernel) = &mut self.steps[producer.step]
            && (kernel.space == of || self.state.nested_masks && kernel.masks.contains(&of))
            && self.state.fuel > 0
        {
            self.state.fuel -= 1;
            kernel.masks.push(space);
            self.made_spaces.insert(space, Producer { step: producer.step, in_kernel: true });
            return;
        }
        self.steps.push(Step::Space(space));
        self.made_spaces.insert(space, Producer { step: self.steps.len() - 1, in_kernel: false });
    }

    /// Adds a step: control flow by itself, everything else to a kernel.
    fn binding(&mut self, binding: &Let) {
        let mut binding = binding.clone();
        match &mut binding.op {
            Op::Branch { cond, then, otherwise } => {
                let cond = *cond;
                for (_, side) in [then, otherwise] {
                    *side = inner_block(side, self.spaces, self.state, &self.reads);
                }
                self.store_read(Some(cond));
                return self.add_step(binding);
            }
            Op::Versions { sequential, flattened, matrix } => {
                let read: Vec<Var> = matrix.iter().flat_map(|matrix| matrix.variables()).collect();
                read.into_iter().for_each(|var| self.store_read(Some(var)));
                for side in [sequential, flattened] {
                    *side = inner_block(side, self.spaces, self.state, &self.reads);
                }
                return self.add_step(binding);
            }
            Op::Call(_, args) => {
                let args: Vec<Var> = args.iter().filter_map(|a| a.variable()).collect();
                args.into_iter().for_each(|arg| self.store_read(Some(arg)));
                return self.add_step(binding);
            }
            Op::Collect { value, from } => {
                let (value, from) = (value.variable(), *from);
                self.store_read_for(value, from);
                return self.add_step(binding);
            }
            Op::Element { .. } | Op::Position { .. } => {
                self.reads.insert(binding.var, binding);
                return;
            }
            _ => {}
        }
        self.add_to_kernel(binding);
    }

    /// Moves a step that only makes descriptors (an index space, or the sequence of the values of
    /// one), and those that it depends on, to the first place where they can stand.
    fn hoist(&mut self, at: usize) {
        let (value, space) = match &self.steps[at] {
            Step::Space(space) => {
                let index_space = &self.spaces[space.0 as usize];
                match index_space.kind {
                    SpaceKind::Concat { inner, .. } => (None, Some(inner)),
                    kind => (kind.made_of(), index_space.around()),
                }
            }
            Step::Let(Let { op: Op::Collect { value, from }, .. }) => {
                (value.variable(), Some(*from))
            }
            Step::Let(_) | Step::Kernel(_) => return,
        };
        let value_of = |known: &Self| value.and_then(|var| known.values.get(&var)).copied();
        let space_of =
            |known: &Self| space.and_then(|space| known.made_spaces.get(&space)).copied();
        let mut first = 0;
        for producer in [&value_of as &dyn Fn(&Self) -> Option<Producer>, &space_of] {
            if let Some(Producer { step, in_kernel: false }) = producer(self) {
                self.hoist(step);
            }
        }
        for producer in [value_of(self), space_of(self)].into_iter().flatten() {
            first = first.max(producer.step + 1);
        }
        if first < at {
            self.steps[first..=at].rotate_right(1);
            for producer in self.values.values_mut().chain(self.made_spaces.values_mut()) {
                producer.step = match producer.step {
                    moved if moved == at => first,
                    behind if (first..at).contains(&behind) => behind + 1,
                    other => other,
                };
            }
        }
    }

    /// Adds a step to the last kernel that it can join, or to a new one.
    fn add_to_kernel(&mut self, binding: Let) {
        // The sequence that is written to is needed later than the elements that are written.
        if let Op::Scatter { of, .. } = binding.op
            && let Some(Producer { step, in_kernel: false }) = self.values.get(&of).copied()
        {
            self.hoist(step);
        }
        let (combines, space) = (binding.combines(), binding.operand_space());
        // Elements of the same index space are read in the kernel; others are stored.
        let mut elements: Vec<Let> = Vec::new();
        binding.op.each_use(&mut |var| elements.extend(self.reads.get(&var).cloned()));
        elements.sort_by_key(|read| read.var);
        elements.dedup_by_key(|read| read.var);
        // The array library has whole rows: it reads none from elements.
        let alone = stands_alone(&binding);
        let (reads, others): (Vec<Let>, Vec<Let>) = elements.into_iter().partition(|read| {
            let here = read.space == space
                || matches!(self.spaces[space.0 as usize].kind,
                SpaceKind::Filter { of, .. } if of == read.space && self.is_mask(space));
            here && !alone
        });
        others.into_iter().for_each(|read| self.store_read_for_all(&read));
        let (from, inside) = self.earliest(&binding, &reads);
        // Only a kernel over the index space of an element or a position can read it.
        let joins = |step: &Step| {
            matches!(step, Step::Kernel(kernel)
            if (kernel.space == space || kernel.masks.contains(&space) && may_be_masked(&binding))
                && reads.iter().all(|read| read.space == kernel.space)
                && kernel.lets.first().is_none_or(|first| {
                    !stands_alone(first) || is_half_of(&binding, first)
                }))
        };
        let mut first = if inside { from } else { from + 1 };
        if let Op::Scatter { of, .. } = binding.op {
            first = first.max(self.behind_reads(of));
        }
        let found = (first..self.steps.len()).rev().find(|at| joins(&self.steps[*at]));
        // Sequential code that makes arrays begins a kernel: its results may have any shape.
        let found = found.filter(|_| self.state.fuel > 0 && !makes_arrays(&binding));
        if found.is_none() && reads.iter().any(|read| read.space != space) {
            let away = reads.into_iter().filter(|read| read.space != space);
            away.for_each(|read| self.store_read_for_all(&read));
            return self.add_to_kernel(binding);
        }
        let var = binding.var;
        let at = match found {
            Some(at) => {
                self.state.fuel -= 1;
                let Step::Kernel(kernel) = &mut self.steps[at] else {
                    bug!("a step joins a kernel")
                };
                for read in reads.into_iter().chain([binding]) {
                    if kernel.lets.iter().all(|known| known.var != read.var) {
                        kernel.lets.push(read);
                    }
                }
                at
            }
            None => {
                let lets = reads.into_iter().chain([binding]).collect();
                self.new_kernel(space, lets)
            }
        };
        self.values.insert(var, Producer { step: at, in_kernel: !combines });
    }

    /// Adds a kernel over an index space; returns the number of the step.
    fn new_kernel(&mut self, space: SpaceId, lets: Vec<Let>) -> usize {
        self.steps.push(Step::Kernel(Kernel {
            id: self.state.next_kernel,
            space,
            lets,
            masks: Vec::new(),
            stores: Vec::new(),
            counts: Vec::new(),
            filter_indices: Vec::new(),
        }));
        self.state.next_kernel += 1;
        self.steps.len() - 1
    }

    /// Returns the first step that a binding and the elements it reads can be a part of (true), or
    /// come right after (false).
    fn earliest(&self, binding: &Let, reads: &[Let]) -> (usize, bool) {
        let mut needs: Vec<Producer> = Vec::new();
        binding.op.each_use(&mut |var| needs.extend(self.values.get(&var)));
        needs.extend(self.check_of(binding));
        for read in reads {
            read.op.each_use(&mut |var| needs.extend(self.values.get(&var)));
            needs.extend(self.check_of(read));
            needs.extend(self.made_spaces.get(&read.space));
        }
        needs.extend(self.made_spaces.get(&binding.operand_space()));
        let from = needs.iter().map(|need| need.step).max().unwrap_or(0);
        let last = needs.iter().filter(|need| need.step == from);
        (from, last.into_iter().all(|need| need.in_kernel))
    }

    /// Returns the producer of the check that must come before an element is read.
    fn check_of(&self, read: &Let) -> Option<&Producer> {
        read.op.check().and_then(|check| self.values.get(&check))
    }

    /// Returns true if an index space is a mask of some kernel.
    fn is_mask(&self, space: SpaceId) -> bool {
        self.made_spaces.get(&space).is_some_and(|producer| producer.in_kernel)
    }

    /// Stores an element or a position for control flow or descriptors, which no kernel reads for.
    fn store_read(&mut self, var: Option<Var>) {
        let Some(read) = var.and_then(|var| self.reads.get(&var)) else { return };
        let read = read.clone();
        // Positions cost nothing: kernels compute them even if they are stored too.
        if !matches!(read.op, Op::Position { .. }) {
            self.reads.remove(&read.var);
        }
        self.add_to_kernel(read);
    }

    /// Stores an element or a position for all later uses: kernels no longer read it themselves.
    fn store_read_for_all(&mut self, read: &Let) {
        self.store_read(Some(read.var));
        self.reads.remove(&read.var);
    }

    /// Stores an element or a position for the elements of an index space. The kernel of which that
    /// is a mask packs it.
    fn store_read_for(&mut self, var: Option<Var>, space: SpaceId) {
        let Some(read) = var.and_then(|var| self.reads.get(&var)) else { return };
        let mut after = self.check_of(read).map_or(0, |producer| producer.step + 1);
        read.op.each_use(&mut |var| {
            after = after.max(self.values.get(&var).map_or(0, |producer| producer.step + 1));
        });
        if let Some(producer) = self.made_spaces.get(&space)
            && producer.in_kernel
            && after <= producer.step
            && let Step::Kernel(kernel) = &mut self.steps[producer.step]
            && kernel.space == read.space
        {
            if kernel.lets.iter().all(|known| known.var != read.var) {
                kernel.lets.push(read.clone());
            }
            return;
        }
        self.store_read(var);
    }

    /// Returns the first place behind all steps that use a sequence which is overwritten, other than element
    /// by element. A kernel that reads it elsewhere, too, would have to write to a copy.
    fn behind_reads(&self, of: Var) -> usize {
        let reads = |binding: &Let| {
            let mut found = false;
            if !matches!(binding.op, Op::Element { .. }) {
                binding.op.each_use(&mut |var| found |= var == of);
            }
            found
        };
        let uses = |step: &Step| match step {
            Step::Space(_) => false,
            Step::Let(binding) => reads(binding),
            Step::Kernel(kernel) => kernel.lets.iter().any(reads),
        };
        self.steps.iter().rposition(uses).map_or(0, |at| at + 1)
    }

    /// Adds a step outside of kernels.
    fn add_step(&mut self, binding: Let) {
        let var = binding.var;
        self.steps.push(Step::Let(binding));
        self.values.insert(var, Producer { step: self.steps.len() - 1, in_kernel: false });
    }
}

/// Returns true if a step can be done under a mask: its values are scalars or it writes elements,
/// and it does not depend on the number of elements before.
fn may_be_masked(binding: &Let) -> bool {
    match binding.op {
        Op::Element { .. } | Op::Position { .. } => false,
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

/// Returns true if a step that many elements execute is done by the array library for all of them, in a
/// kernel that has no other steps but halves of its result.
fn stands_alone(binding: &Let) -> bool {
    rows_step(binding).is_some_and(|operation| {
        !matches!(operation, RowsOperation::Copy(..) | RowsOperation::List(_))
    })
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
