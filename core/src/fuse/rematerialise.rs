//! The fourth sub-pass: rematerialisation (Briggs, Cooper and Torczon, *Rematerialization*, PLDI 1992).
//!
//! A value that a few cheap operations compute from values in registers need not go through memory:
//! each kernel that uses it computes it repeated, and liveness then often finds the kernel that made it
//! to be dead. That holds for values of the index spaces around a kernel (the mean of a row, used for
//! each of its elements), and for values of its own index space that depend on at most one other.
//!
//! ```text
//! kernel 0 over s1 stores m { … m = div(s, n) }        kernel 0 over s1 { }
//! kernel 1 over s2 stores d { … d = sub(x, m) }   →    kernel 1 over s2 stores d { … m = div(s, n)
//!                                                                                   d = sub(x, m) }
//! ```
//!
//! Invariant: no operation is repeated that may fault, nor one that the host does once
//! ([`SpaceId::CALLER`]).

use super::FusionState;
use crate::base::with_stack;
use crate::flat::{
    Block, Function, IndexSpace, Kernel, Let, MatrixRows, Op, SpaceId, Step, is_within,
};
use crate::ir::{self, Atom, Var};
use crate::prim::SeqOp;
use rustc_hash::{FxHashMap, FxHashSet};

/// The cheap values of the kernels so far.
type CheapValues = FxHashMap<Var, Let>;

/// Returns the body of a function whose kernels compute cheap values repeated.
pub(super) fn run(function: &Function, state: &mut FusionState) -> Block {
    let spaces = &function.spaces;
    let mut elements = FxHashSet::default();
    add_used_elements(&function.body, spaces, &mut elements);
    let mut with_sequences: FxHashSet<Var> =
        function.params.iter().filter(|(_, ty)| ty.has_sequence()).map(|(var, _)| *var).collect();
    function.body.each_let(&mut |binding| {
        if binding.ty.has_sequence() {
            with_sequences.insert(binding.var);
        }
    });
    let stored = FxHashSet::default();
    let mut pass = Rematerialisation { spaces, state, elements, stored, with_sequences };
    pass.add_stored(&function.body);
    pass.block(&function.body, CheapValues::default())
}

/// Returns the variable that is the size of a histogram's table: the host allocates the table, so
/// that the kernel that fills it cannot compute the size.
fn table_size(binding: &Let) -> Option<Var> {
    match binding.op {
        Op::Histogram { size, .. } => size.variable(),
        _ => None,
    }
}

/// Adds the values of a block, and of those inside, of which more than the length is used.
fn add_used_elements(block: &Block, spaces: &[IndexSpace], into: &mut FxHashSet<Var>) {
    with_stack(|| {
        let op = |op: &Op, into: &mut FxHashSet<Var>| match op {
            Op::SameLength(..) | Op::Map(ir::Op::Seq(SeqOp::Length, _)) => {}
            Op::Branch { .. } | Op::Versions { .. } => {
                into.extend(op.operands().into_iter().filter_map(Atom::variable));
                into.extend(op.matrix().into_iter().flat_map(MatrixRows::variables));
                op.blocks().for_each(|inner| add_used_elements(inner, spaces, into));
            }
            op => op.each_use(&mut |var| {
                into.insert(var);
            }),
        };
        for step in &block.steps {
            match step {
                Step::Space(space) => into.extend(spaces[space.0 as usize].kind.made_of()),
                Step::Kernel(kernel) => kernel.lets.iter().for_each(|l| op(&l.op, into)),
                Step::Let(binding) => op(&binding.op, into),
            }
        }
        into.extend(block.result.variable());
    });
}

struct Rematerialisation<'c, 's> {
    spaces: &'c [IndexSpace],
    state: &'s mut FusionState,
    /// The values of which more than the length is used.
    elements: FxHashSet<Var>,
    /// The values that are used outside of kernels, and so are in memory anyway.
    stored: FxHashSet<Var>,
    /// The values that contain sequences.
    with_sequences: FxHashSet<Var>,
}

impl Rematerialisation<'_, '_> {
    /// Adds the values that are used outside of kernels.
    fn add_stored(&mut self, block: &Block) {
        with_stack(|| {
            self.stored.extend(block.result.variable());
            for step in &block.steps {
                match step {
                    Step::Space(space) => {
                        self.stored.extend(self.spaces[space.0 as usize].kind.made_of());
                    }
                    Step::Kernel(kernel) => {
                        self.stored.extend(kernel.lets.iter().filter_map(table_size))
                    }
                    Step::Let(binding) => {
                        let idle = matches!(binding.op, Op::Collect { .. })
                            && !self.elements.contains(&binding.var);
                        if !idle {
                            self.stored.extend(
                                binding.op.operands().into_iter().filter_map(Atom::variable),
                            );
                        }
                        binding.op.blocks().for_each(|block| self.add_stored(block));
                    }
                }
            }
        });
    }

    fn block(&mut self, block: &Block, mut known: CheapValues) -> Block {
        with_stack(|| {
            let mut steps = Vec::with_capacity(block.steps.len());
            for step in &block.steps {
                steps.push(match step {
                    Step::Space(_) => step.clone(),
                    Step::Kernel(kernel) => {
                        let kernel = self.kernel(kernel, &known);
                        let own = kernel.lets.iter().filter(|l| l.space == kernel.space);
                        for binding in own.filter(|l| self.may_be_repeated(l)) {
                            known.insert(binding.var, binding.clone());
                        }
                        Step::Kernel(kernel)
                    }
                    Step::Let(binding) => {
                        let mut binding = binding.clone();
                        for inner in binding.op.blocks_mut() {
                            *inner = self.block(inner, known.clone());
                        }
                        Step::Let(binding)
                    }
                });
            }
            Block { steps, result: block.result }
        })
    }

    /// Returns true for a value that may be computed more than once. Half of a tuple is in memory anyway, and who reads
    /// the tuple later keeps the sequences of its other half, which might be overwritten otherwise.
    fn may_be_repeated(&self, binding: &Let) -> bool {
        let is_half = match &binding.op {
            Op::Map(ir::Op::First(Atom::Var(of)) | ir::Op::Second(Atom::Var(of))) => {
                self.with_sequences.contains(of)
            }
            _ => false,
        };
        binding.space != SpaceId::CALLER
            && binding.is_cheap()
            && !binding.ty.has_sequence()
            && !is_half
    }

    /// Returns a kernel that computes the cheap values it uses.
    fn kernel(&mut self, kernel: &Kernel, known: &CheapValues) -> Kernel {
        let mut waiting: FxHashSet<Var> = kernel.lets.iter().map(|binding| binding.var).collect();
        let mut read: FxHashSet<Var> = FxHashSet::default();
        let mut lets: Vec<Let> = Vec::with_capacity(kernel.lets.len());
        for binding in &kernel.lets {
            let mut wanted: Vec<Var> = Vec::new();
            binding.op.each_use(&mut |var| wanted.push(var));
            for var in wanted {
                if self.stored.contains(&var) || self.state.fuel == 0 {
                    continue;
                }
                let mut more = Repetition::default();
                let (over, before) = (kernel.space, &lets[..]);
                let at = Insertion { over, known, before, waiting: &waiting, read: &read };
                if self.expand(var, &at, &mut more)
                    && more.lets.len() <= self.state.max_rematerialised_operations
                    && more.own.len() <= 1
                    && !more.blocked
                {
                    self.state.fuel -= 1;
                    for repeated in more.lets {
                        add_loads(&repeated, &lets, &mut read);
                        lets.push(repeated);
                    }
                }
            }
            add_loads(binding, &lets, &mut read);
            waiting.remove(&binding.var);
            lets.push(binding.clone());
        }
        Kernel { lets, ..kernel.clone() }
    }

    /// Adds the operations that compute a value again; returns false if that cannot be done.
    fn expand(&self, var: Var, at: &Insertion<'_>, more: &mut Repetition) -> bool {
        if at.before.iter().chain(&more.lets).any(|binding| binding.var == var) {
            return true;
        }
        if at.waiting.contains(&var) {
            more.blocked = true;
            return true;
        }
        let known = at.known.get(&var).filter(|_| !at.read.contains(&var));
        let Some(binding) = known else { return false };
        let taken = matches!(binding.op, Op::Element { .. } | Op::Position { .. });
        if !is_within(self.spaces, at.over, binding.space)
            || taken && binding.space != at.over
            || more.lets.len() > self.state.max_rematerialised_operations
        {
            return false;
        }
        if taken {
            more.own.insert(var);
        } else {
            for atom in binding.op.operands() {
                let Atom::Var(operand) = atom else { continue };
                let before = more.clone();
                let is_known = self.expand(operand, at, more);
                // A value that is in memory anyway need not be made of several others that are.
                let is_dear = self.stored.contains(&operand) && more.own.len() > 1;
                if is_dear {
                    *more = before;
                }
                if (is_dear || !is_known) && binding.space == at.over {
                    // The operand is loaded from memory.
                    more.own.insert(operand);
                }
            }
        }
        more.lets.push(binding.clone());
        true
    }
}

/// The position in a kernel where a value is to be computed again.
struct Insertion<'a> {
    /// The kernel's index space.
    over: SpaceId,
    known: &'a CheapValues,
    /// The values that the kernel has computed there.
    before: &'a [Let],
    /// The values that the kernel computes later.
    waiting: &'a FxHashSet<Var>,
    /// The values that the kernel has loaded from memory.
    read: &'a FxHashSet<Var>,
}

/// Adds the operands of a value that the kernel loads from memory.
fn add_loads(binding: &Let, before: &[Let], read: &mut FxHashSet<Var>) {
    binding.op.each_use(&mut |var| {
        if before.iter().all(|binding| binding.var != var) {
            read.insert(var);
        }
    });
}

/// The operations that compute a value again.
#[derive(Clone, Default)]
struct Repetition {
    /// The operations, in order.
    lets: Vec<Let>,
    /// The values loaded for them for each element of the kernel.
    own: FxHashSet<Var>,
    /// True if an operand is computed later in the kernel.
    blocked: bool,
}
