//! The last sub-pass: liveness, which decides what kernels store, and removal of dead code.
//!
//! One backward walk (Aho et al., *Compilers*, section 9.2.5): a value that is used after its kernel
//! is stored by it; a step whose value nobody uses goes, unless it may fault. Uses of a sequence's
//! length alone do not make it live: lengths are known from the index space that it was collected
//! from. Of a filter, three things can be live: the number of elements that it keeps, their indices,
//! and the values at them.

use super::FusionState;
use crate::base::with_stack;
use crate::flat::{self, Block, IndexSpace, Kernel, Let, Op, SpaceId, SpaceKind, Step, is_within};
use crate::ir::{self, Atom, Var};
use crate::prim::SeqOp;
use rustc_hash::{FxHashMap, FxHashSet};

/// The values and index spaces that later steps use.
#[derive(Clone, Default)]
struct Live {
    /// The values of which elements, or scalars, are used.
    vars: FxHashSet<Var>,
    /// The sequences of which the lengths are used.
    lengths: FxHashSet<Var>,
    /// The index spaces whose number of elements is used.
    spaces: FxHashSet<SpaceId>,
    /// The index spaces of which it matters which elements they have.
    indices: FxHashSet<SpaceId>,
    /// The values that are used at the elements that a filter keeps.
    packed: FxHashSet<(Var, SpaceId)>,
    /// The values that the kernel at hand itself needs: packed by it, or of a known length.
    within: FxHashSet<Var>,
}

/// Returns the body of a function whose kernels store what is live after them.
pub(super) fn run(function: &flat::Function, _state: &mut FusionState) -> Block {
    let body = function.body.clone();
    let mut homes = FxHashMap::default();
    body.each_let(&mut |binding| {
        homes.insert(binding.var, binding.space);
    });
    let walk = Liveness { spaces: &function.spaces, homes };
    walk.block(body, &FxHashSet::default(), &mut Live::default())
}

struct Liveness<'c> {
    spaces: &'c [IndexSpace],
    /// The index space of each value.
    homes: FxHashMap<Var, SpaceId>,
}

impl Liveness<'_> {
    /// Walks over a block. Values that the blocks around it bind (`around`) may be rematerialised in
    /// it, but are not stored by it.
    fn block(&self, block: Block, around: &FxHashSet<Var>, live: &mut Live) -> Block {
        with_stack(|| {
            live.vars.extend(block.result.variable());
            let mut steps = Vec::with_capacity(block.steps.len());
            let mut left = block.steps;
            while let Some(step) = left.pop() {
                match step {
                    Step::Space(space) if live.spaces.contains(&space) => {
                        live.unpack(space);
                        live.space(&self.spaces[space.0 as usize].kind);
                        steps.push(step);
                    }
                    Step::Space(_) => {}
                    Step::Let(binding) => {
                        let before = || {
                            let before =
                                left.iter().flat_map(bindings_of).map(|binding| binding.var);
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

    /// Walks over a step outside of kernels.
    fn value(
        &self,
        mut binding: Let,
        before: &dyn Fn() -> FxHashSet<Var>,
        live: &mut Live,
    ) -> Option<Let> {
        // What is made outside of kernels none of them packs.
        unpack_from_memory(std::slice::from_ref(&binding), &[], live);
        let used = live.vars.contains(&binding.var);
        match &mut binding.op {
            Op::Collect { value, from } => {
                if !used && !live.lengths.contains(&binding.var) {
                    return None;
                }
                live.spaces.insert(*from);
                if !used {
                    // Only the lengths of the sequences are used.
                    *value = Atom::Unit;
                }
                if let Some(value) = value.variable() {
                    // A value of a space around is the same for a whole segment, unless filters are
                    // all that is between.
                    match self.homes.get(&value) {
                        Some(home) if home != from && self.is_filtered(*from, *home) => {
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
                for (space, side) in [then, otherwise] {
                    live.indices.insert(*space);
                    live.spaces.insert(*space);
                    // A side without elements is not run: values it stores may be missing later.
                    let mut inside = live.clone();
                    *side =
                        self.block(std::mem::replace(side, empty_block()), &before, &mut inside);
                    live.join(inside);
                }
                live.vars.insert(*cond);
            }
            Op::Versions { sequential, flattened, matrix } => {
                // The sides bind the same variables.
                let before = before();
                for side in [sequential, flattened] {
                    let mut inside = live.clone();
                    *side =
                        self.block(std::mem::replace(side, empty_block()), &before, &mut inside);
                    live.join(inside);
                }
                live.vars.extend(matrix.iter().flat_map(|matrix| matrix.variables()));
            }
            _ => binding.op.each_use(&mut |var| {
                live.vars.insert(var);
            }),
        }
        live.elements_of(binding.space);
        Some(binding)
    }

    /// Walks over a kernel: decides what it stores, and removes what is dead in it.
    fn kernel(
        &self,
        mut kernel: Kernel,
        around: &FxHashSet<Var>,
        live: &mut Live,
    ) -> Option<Kernel> {
        unpack_from_memory(&kernel.lets, &kernel.masks, live);
        // Only of collected sequences are the lengths known without the elements.
        for binding in &kernel.lets {
            if live.lengths.contains(&binding.var) {
                live.vars.insert(binding.var);
            }
        }
        // Values of the spaces around the kernel are rematerialised here, and stored by another.
        let own = |binding: &&Let| {
            let here = binding.space == kernel.space
                || kernel.masks.contains(&binding.space)
                || binding.combines();
            here && !around.contains(&binding.var)
        };
        let own: FxHashSet<Var> =
            kernel.lets.iter().filter(own).map(|binding| binding.var).collect();
        let stored = kernel
            .lets
            .iter()
            .filter(|binding| own.contains(&binding.var) && live.vars.contains(&binding.var));
        kernel.stores = stored.map(|binding| (binding.var, binding.space)).collect();
        store_packed(&mut kernel, live);
        self.keep_live_masks(&mut kernel, live);
        let lets = std::mem::take(&mut kernel.lets);
        kernel.lets = live_lets(lets, &kernel.masks, &own, live);
        if kernel.lets.is_empty() && kernel.counts.is_empty() {
            return None;
        }
        live.elements_of(kernel.space);
        Some(kernel)
    }

    /// Removes the masks that nobody uses, and says of which others the number or the indices of the
    /// elements are stored.
    fn keep_live_masks(&self, kernel: &mut Kernel, live: &mut Live) {
        let masks = std::mem::take(&mut kernel.masks);
        kernel.counts = masks.iter().copied().filter(|mask| live.spaces.contains(mask)).collect();
        kernel.filter_indices =
            kernel.counts.iter().copied().filter(|c| live.indices.contains(c)).collect();
        let needed = |mask: &SpaceId| {
            kernel.counts.contains(mask)
                || kernel
                    .lets
                    .iter()
                    .any(|binding| is_within(self.spaces, binding.operand_space(), *mask))
                || kernel.counts.iter().any(|count| is_within(self.spaces, *count, *mask))
        };
        kernel.masks = masks.into_iter().filter(needed).collect();
        for mask in kernel.masks.iter().rev() {
            live.space(&self.spaces[mask.0 as usize].kind);
        }
    }

    /// Returns true if only filters lie between two index spaces, and concatenations: these have the
    /// elements of the space that they concatenate.
    fn is_filtered(&self, inner: SpaceId, outer: SpaceId) -> bool {
        let mut at = inner;
        while at != outer {
            match self.spaces[at.0 as usize].kind {
                SpaceKind::Filter { of, .. } => at = of,
                SpaceKind::Concat { inner, .. } => at = inner,
                _ => return false,
            }
        }
        true
    }
}

/// Values that filters other than `masks` keep are packed from memory, so they are stored.
fn unpack_from_memory(lets: &[Let], masks: &[SpaceId], live: &mut Live) {
    for binding in lets {
        let outside = |(var, space): &(Var, SpaceId)| *var == binding.var && !masks.contains(space);
        let spaces: Vec<SpaceId> =
            live.packed.iter().filter(|p| outside(p)).map(|(_, space)| *space).collect();
        spaces.into_iter().for_each(|space| live.unpack(space));
    }
}

/// Values of the kernel that its own masks keep are packed by it; others are packed from memory.
fn store_packed(kernel: &mut Kernel, live: &mut Live) {
    for mask in &kernel.masks {
        let mut packed: Vec<Var> =
            live.packed.iter().filter(|(_, space)| space == mask).map(|(var, _)| *var).collect();
        packed.sort_unstable();
        for var in packed {
            live.packed.remove(&(var, *mask));
            if kernel.lets.iter().any(|binding| binding.var == var) {
                kernel.stores.push((var, *mask));
                live.within.insert(var);
            } else {
                live.vars.insert(var);
                live.indices.insert(*mask);
            }
        }
    }
}

/// Returns the values of a kernel that are used, by itself or later, or that may fault; their operands
/// become live. `own` are the values that this kernel stores if they are live after it.
fn live_lets(all: Vec<Let>, masks: &[SpaceId], own: &FxHashSet<Var>, live: &mut Live) -> Vec<Let> {
    let mut lets = Vec::with_capacity(all.len());
    let repeated = all.iter().map(|binding| binding.var);
    let live_after: FxHashSet<Var> = repeated.filter(|var| live.vars.contains(var)).collect();
    let mut used_here: FxHashSet<Var> = FxHashSet::default();
    for binding in all.into_iter().rev() {
        let within = live.within.remove(&binding.var);
        let used = if own.contains(&binding.var) {
            live.vars.remove(&binding.var)
        } else {
            let used = used_here.contains(&binding.var);
            if used && !live_after.contains(&binding.var) {
                live.vars.remove(&binding.var);
            }
            used
        };
        if !used && !within && !binding.may_fault() {
            continue;
        }
        binding.op.each_use(&mut |var| {
            used_here.insert(var);
        });
        match &binding.op {
            Op::SameLength(a, b, _) => live.lengths_of(&[*a, *b]),
            Op::Map(ir::Op::Seq(SeqOp::Length, args)) => {
                let args: Vec<Var> = args.iter().filter_map(|a| a.variable()).collect();
                live.lengths_of(&args);
            }
            op => op.each_use(&mut |var| {
                live.vars.insert(var);
            }),
        }
        if binding.combines() && !masks.contains(&binding.operand_space()) {
            live.spaces.insert(binding.operand_space());
        }
        if own.contains(&binding.var) && !masks.contains(&binding.space) {
            live.elements_of(binding.space);
        }
        lets.push(binding);
    }
    lets.reverse();
    lets
}

/// Returns the values that a step binds, not those inside of its blocks.
fn bindings_of(step: &Step) -> &[Let] {
    match step {
        Step::Space(_) => &[],
        Step::Let(binding) => std::slice::from_ref(binding),
        Step::Kernel(kernel) => &kernel.lets,
    }
}

fn empty_block() -> Block {
    Block { steps: Vec::new(), result: Atom::Unit }
}

impl Live {
    /// The values that a filter keeps are packed from memory.
    fn unpack(&mut self, space: SpaceId) {
        let packed: Vec<Var> =
            self.packed.iter().filter(|(_, c)| *c == space).map(|(var, _)| *var).collect();
        for var in packed {
            self.packed.remove(&(var, space));
            self.vars.insert(var);
            self.indices.insert(space);
        }
    }

    /// The lengths of some sequences are used.
    fn lengths_of(&mut self, sequences: &[Var]) {
        self.lengths.extend(sequences);
        self.within.extend(sequences);
    }

    /// Adds what other steps use.
    fn join(&mut self, other: Live) {
        self.vars.extend(other.vars);
        self.lengths.extend(other.lengths);
        self.spaces.extend(other.spaces);
        self.indices.extend(other.indices);
        self.packed.extend(other.packed);
    }

    /// Some value is computed at the elements of an index space.
    fn elements_of(&mut self, space: SpaceId) {
        self.spaces.insert(space);
        self.indices.insert(space);
    }

    /// An index space is used: so is what determines its elements.
    fn space(&mut self, space: &SpaceKind) {
        match space {
            SpaceKind::Caller => {}
            SpaceKind::Elements { of, sequence } => {
                self.elements_of(*of);
                self.lengths.insert(*sequence);
            }
            SpaceKind::Count { of, count } => {
                self.elements_of(*of);
                self.vars.extend(count.variable());
            }
            SpaceKind::Filter { of, flag, .. } => {
                self.elements_of(*of);
                self.vars.insert(*flag);
            }
            SpaceKind::Concat { of, inner } => {
                self.elements_of(*of);
                self.elements_of(*inner);
            }
        }
    }
}
