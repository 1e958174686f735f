//! The end of the last sub-pass: a kernel is executed in the version, or in the side of a conditional, that alone
//! reads its values.
//!
//! The sequential version of a value computes the cheap values that it needs by itself. What the flattened version reads
//! was then stored for nothing where the sequential version is chosen:
//!
//! ```text
//! kernel 0 over s1 stores p { p = position }        x = versions {
//! x = versions {                                      kernel 1 over s1 stores x { p = position … }
//!   kernel 1 over s1 stores x { p = position … }    } or {
//! } or {                                          →   kernel 0 over s1 stores p { p = position }
//!   kernel 2 over s2 stores x { … p … }               kernel 2 over s2 stores x { … p … }
//! }                                                 }
//! ```
//!
//! In the same way, what one side of a conditional reads is not computed where the other one is taken.

use crate::base::with_stack;
use crate::flat::{Block, IndexSpace, Kernel, Let, Op, Step};
use crate::ir::product::MatrixRows;
use crate::ir::{Atom, Var};
use rustc_hash::FxHashSet;

/// Moves the kernels of a block, and of the blocks inside it, to the flattened versions and to the sides of
/// conditionals that alone read their values.
pub(super) fn defer(block: &mut Block, spaces: &[IndexSpace]) {
    with_stack(|| {
        for at in (0..block.steps.len()).rev() {
            if let Step::Kernel(kernel) = &block.steps[at]
                && let Some((reader, number)) = only_reader(block, at, kernel, spaces)
            {
                let kernel = block.steps.remove(at);
                // What stood behind the kernel has moved up.
                if let Step::Let(binding) = &mut block.steps[reader - 1]
                    && let Some(inner) = binding.op.blocks_mut().nth(number)
                {
                    inner.steps.insert(0, kernel);
                }
            }
        }
        for step in &mut block.steps {
            if let Step::Let(binding) = step {
                binding.op.blocks_mut().for_each(|inner| defer(inner, spaces));
            }
        }
    });
}

/// Returns true if kernels are moved into a block of a step: into the flattened version of a value, and into both
/// sides of a conditional. Sequential code computes the cheap values that it needs by itself.
fn takes_kernels(op: &Op, inner: &Block) -> bool {
    match op {
        Op::Versions { flattened, .. } => std::ptr::eq(flattened, inner),
        Op::Branch { .. } => true,
        _ => false,
    }
}

/// Returns the step, and the number of the block inside it, that alone reads what a kernel stores, if there is one. A
/// kernel that may fault has none, since it has to be executed whatever version or side is chosen.
fn only_reader(
    block: &Block,
    at: usize,
    kernel: &Kernel,
    spaces: &[IndexSpace],
) -> Option<(usize, usize)> {
    if !kernel.masks.is_empty() || kernel.lets.iter().any(|binding| binding.may_fault()) {
        return None;
    }
    let stored: FxHashSet<Var> = kernel.stores.iter().map(|(var, _)| *var).collect();
    let reads = Reads { stored: &stored, spaces };
    let none = FxHashSet::default;
    let mut reader = None;
    for (place, step) in block.steps.iter().enumerate().skip(at + 1) {
        let Step::Let(Let { op, .. }) = step else {
            if reads.of_step(step, &mut none()) {
                return None;
            }
            continue;
        };
        if reads.of_operands(op, &none()) {
            return None;
        }
        for (number, inner) in op.blocks().enumerate() {
            if !reads.of_block(inner, &mut none()) {
                continue;
            }
            if reader.is_some() || !takes_kernels(op, inner) {
                return None;
            }
            reader = Some((place, number));
        }
    }
    let is_result = block.result.variable().is_some_and(|var| stored.contains(&var));
    reader.filter(|_| !is_result)
}

/// The values that are looked for.
pub(super) struct Reads<'r> {
    pub(super) stored: &'r FxHashSet<Var>,
    pub(super) spaces: &'r [IndexSpace],
}

impl Reads<'_> {
    /// Returns true if a block reads one of the values; those in `bound` it has under the same name by itself.
    fn of_block(&self, block: &Block, bound: &mut FxHashSet<Var>) -> bool {
        with_stack(|| {
            let read = block.steps.iter().any(|step| self.of_step(step, bound));
            read || block.result.variable().is_some_and(|var| self.is_one(var, bound))
        })
    }

    /// Returns true if a step reads one of the values; adds those that it binds to `bound`.
    pub(super) fn of_step(&self, step: &Step, bound: &mut FxHashSet<Var>) -> bool {
        let mut read = false;
        match step {
            Step::Space(space) => {
                let made_of = self.spaces[space.0 as usize].kind.made_of();
                read |= made_of.into_iter().any(|var| self.is_one(var, bound));
            }
            Step::Let(binding) => {
                for inner in binding.op.blocks() {
                    read |= self.of_block(inner, &mut bound.clone());
                }
                read |= self.of_operands(&binding.op, bound);
                bound.insert(binding.var);
            }
            Step::Kernel(kernel) => {
                let mut own = bound.clone();
                for binding in &kernel.lets {
                    binding.op.each_use(&mut |var| read |= self.is_one(var, &own));
                    own.insert(binding.var);
                }
                for mask in &kernel.masks {
                    let made_of = self.spaces[mask.0 as usize].kind.made_of();
                    read |= made_of.into_iter().any(|var| self.is_one(var, &own));
                }
                bound.extend(kernel.stores.iter().map(|(var, _)| *var));
            }
        }
        read
    }

    /// Returns true if an operation reads one of the values outside of the blocks of steps inside it.
    fn of_operands(&self, op: &Op, bound: &FxHashSet<Var>) -> bool {
        if op.blocks().next().is_none() {
            let mut read = false;
            op.each_use(&mut |var| read |= self.is_one(var, bound));
            return read;
        }
        let operands = op.operands().into_iter().filter_map(Atom::variable);
        let matrix = op.matrix().into_iter().flat_map(MatrixRows::variables);
        operands.chain(matrix).any(|var| self.is_one(var, bound))
    }

    fn is_one(&self, var: Var, bound: &FxHashSet<Var>) -> bool {
        self.stored.contains(&var) && !bound.contains(&var)
    }
}
