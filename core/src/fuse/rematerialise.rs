//! What is computed again rather than stored.
//!
//! A value that a few cheap operations make of what is at hand anyway need not go through memory:
//! each kernel that uses it computes it for itself, and the kernel that made it is often left with
//! nothing to do. That holds for values of the spaces around a kernel (the mean of a row, needed
//! at each element of it), and for values of its own context that are made of at most one other.
//! Nothing that may fault is done again, nor what the host computes once ([`SpaceId::CALLER`]).

use super::cluster::{State, var};
use crate::base::with_stack;
use crate::flat::{Block, IndexSpace, Kernel, Let, Op, SpaceId, Step, is_within};
use crate::ir::{self, Atom, Var};
use crate::prim::SeqOp;
use rustc_hash::{FxHashMap, FxHashSet};

/// So many operations are cheaper than a stored value.
const FEW: usize = 8;

/// Values by name.
type Known = FxHashMap<Var, Let>;

/// Has the kernels of a block and of those inside compute again what they can.
pub(super) fn block(block: &Block, spaces: &[IndexSpace], state: &mut State) -> Block {
    let mut elements = FxHashSet::default();
    read(block, spaces, &mut elements);
    let mut again = Again { spaces, state, elements, stored: FxHashSet::default() };
    again.stored(block);
    again.block(block, Known::default())
}

/// Notes the values of a block, and of those inside, of which elements are used.
fn read(block: &Block, spaces: &[IndexSpace], into: &mut FxHashSet<Var>) {
    with_stack(|| {
        let op = |op: &Op, into: &mut FxHashSet<Var>| match op {
            Op::SameLength(..) | Op::Map(ir::Op::Seq(SeqOp::Length, _)) => {}
            Op::Branch { .. } | Op::Versions { .. } => {
                into.extend(op.operands().into_iter().filter_map(var));
                op.blocks().for_each(|inner| read(inner, spaces, into));
            }
            op => op.each_use(&mut |var| {
                into.insert(var);
            }),
        };
        for step in &block.steps {
            match step {
                Step::Space(ctx) => into.extend(spaces[ctx.0 as usize].kind.made_of()),
                Step::Kernel(kernel) => kernel.lets.iter().for_each(|l| op(&l.op, into)),
                Step::Let(binding) => op(&binding.op, into),
            }
        }
        into.extend(var(block.result));
    });
}

struct Again<'c, 's> {
    spaces: &'c [IndexSpace],
    state: &'s mut State,
    /// Values of which more is used than how long they are.
    elements: FxHashSet<Var>,
    /// Values that somebody needs in memory.
    stored: FxHashSet<Var>,
}

impl Again<'_, '_> {
    /// Notes what is used outside of kernels.
    fn stored(&mut self, block: &Block) {
        with_stack(|| {
            self.stored.extend(var(block.result));
            for step in &block.steps {
                match step {
                    Step::Space(ctx) => {
                        self.stored.extend(self.spaces[ctx.0 as usize].kind.made_of());
                    }
                    Step::Kernel(_) => {}
                    Step::Let(binding) => {
                        let idle = matches!(binding.op, Op::Collect { .. })
                            && !self.elements.contains(&binding.var);
                        if !idle {
                            self.stored.extend(binding.op.operands().into_iter().filter_map(var));
                        }
                        binding.op.blocks().for_each(|block| self.stored(block));
                    }
                }
            }
        });
    }

    fn block(&mut self, block: &Block, mut known: Known) -> Block {
        with_stack(|| {
            let mut steps = Vec::with_capacity(block.steps.len());
            for step in &block.steps {
                steps.push(match step {
                    Step::Space(_) => step.clone(),
                    Step::Kernel(kernel) => {
                        let kernel = self.kernel(kernel, &known);
                        let own = kernel.lets.iter().filter(|l| l.ctx == kernel.space);
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

    fn may_be_repeated(&self, binding: &Let) -> bool {
        binding.ctx != SpaceId::CALLER && binding.is_cheap() && !binding.ty.has_sequence()
    }

    fn kernel(&mut self, kernel: &Kernel, known: &Known) -> Kernel {
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
                let mut more = Repeated::default();
                let (over, before) = (kernel.space, &lets[..]);
                let place = Place { over, known, before, waiting: &waiting, read: &read };
                if self.expand(var, &place, &mut more)
                    && more.lets.len() <= FEW
                    && more.own.len() <= 1
                    && !more.blocked
                {
                    self.state.fuel -= 1;
                    for again in more.lets {
                        read_by(&again, &lets, &mut read);
                        lets.push(again);
                    }
                }
            }
            read_by(binding, &lets, &mut read);
            waiting.remove(&binding.var);
            lets.push(binding.clone());
        }
        Kernel { lets, ..kernel.clone() }
    }

    /// What it takes to compute a value once more; whether that can be done at all.
    fn expand(&self, var: Var, place: &Place<'_>, more: &mut Repeated) -> bool {
        if place.before.iter().chain(&more.lets).any(|binding| binding.var == var) {
            return true;
        }
        if place.waiting.contains(&var) {
            more.blocked = true;
            return true;
        }
        let known = place.known.get(&var).filter(|_| !place.read.contains(&var));
        let Some(binding) = known else { return false };
        let taken = matches!(binding.op, Op::Element { .. } | Op::Position);
        if !is_within(self.spaces, place.over, binding.ctx)
            || taken && binding.ctx != place.over
            || more.lets.len() > FEW
        {
            return false;
        }
        if taken {
            more.own.insert(var);
        } else {
            for atom in binding.op.operands() {
                if let Atom::Var(operand) = atom
                    && !self.expand(operand, place, more)
                    && binding.ctx == place.over
                {
                    // It is read as it lies.
                    more.own.insert(operand);
                }
            }
        }
        more.lets.push(binding.clone());
        true
    }
}

/// Where something is to be computed again.
struct Place<'a> {
    over: SpaceId,
    known: &'a Known,
    /// What the kernel has computed there.
    before: &'a [Let],
    /// What it computes, but not yet.
    waiting: &'a FxHashSet<Var>,
    /// What it has read from memory.
    read: &'a FxHashSet<Var>,
}

/// Notes what a value is read for that was not computed before.
fn read_by(binding: &Let, before: &[Let], read: &mut FxHashSet<Var>) {
    binding.op.each_use(&mut |var| {
        if before.iter().all(|binding| binding.var != var) {
            read.insert(var);
        }
    });
}

/// Values to be computed again.
#[derive(Default)]
struct Repeated {
    /// In order.
    lets: Vec<Let>,
    /// What is read for them at each point.
    own: FxHashSet<Var>,
    /// Something that it takes comes too late.
    blocked: bool,
}
