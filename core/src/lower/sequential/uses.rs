//! Which variable is used where.

use crate::base::with_stack;
use crate::ir::{Atom, Block, Op, Var};
use crate::prim::SeqOp;
use rustc_hash::FxHashMap;

/// The uses of the variables of a function.
#[derive(Default)]
pub(super) struct Uses {
    of: FxHashMap<Var, Use>,
}

#[derive(Default)]
struct Use {
    count: usize,
    /// How many nests are around the definition, and the use.
    defined: usize,
    used: usize,
    /// The blocks they are in.
    home: usize,
    block: usize,
    /// What is permuted by it.
    permutes: Option<Atom>,
    /// A use takes a half of it.
    halved: bool,
}

impl Uses {
    pub(super) fn of(body: &Block) -> Uses {
        let mut uses = Uses::default();
        let mut blocks = 0;
        uses.block(body, 0, &mut blocks);
        uses
    }

    fn block(&mut self, block: &Block, depth: usize, blocks: &mut usize) {
        let here = *blocks;
        *blocks += 1;
        with_stack(|| {
            for binding in &block.lets {
                let halved = matches!(binding.op, Op::First(_) | Op::Second(_));
                for atom in binding.op.operands() {
                    self.used(atom, depth, here, halved);
                }
                if let Op::Seq(SeqOp::Permute, args) = &binding.op
                    && let [of, Atom::Var(places)] = args[..]
                {
                    self.of.entry(places).or_default().permutes = Some(of);
                }
                let inner = depth + usize::from(matches!(binding.op, Op::Nest(_)));
                if let Op::Nest(nest) = &binding.op {
                    for (var, ..) in &nest.binders {
                        self.defined(*var, inner, *blocks);
                    }
                }
                for block in binding.op.blocks() {
                    self.block(block, inner, blocks);
                }
                self.defined(binding.var, depth, here);
            }
            self.used(block.result, depth, here, false);
        });
    }

    fn defined(&mut self, var: Var, depth: usize, block: usize) {
        let entry = self.of.entry(var).or_default();
        (entry.defined, entry.home) = (depth, block);
    }

    fn used(&mut self, atom: Atom, depth: usize, block: usize, halved: bool) {
        if let Atom::Var(var) = atom {
            let entry = self.of.entry(var).or_default();
            entry.count += 1;
            (entry.used, entry.block) = (depth, block);
            entry.halved |= halved;
        }
    }

    /// Whether a variable is used once, and not by every instance of a nest further in.
    pub(super) fn once(&self, var: Var) -> bool {
        self.of.get(&var).is_some_and(|u| u.count == 1 && u.used == u.defined)
    }

    /// What is permuted by a variable that is used for nothing else, and as often as it is made.
    pub(super) fn permutes(&self, var: Var) -> Option<Atom> {
        self.of.get(&var).filter(|_| self.once(var)).and_then(|u| u.permutes)
    }

    /// Whether it is used, and its only use is in the block that defines it.
    pub(super) fn at_home(&self, var: Var) -> bool {
        self.of.get(&var).is_some_and(|u| u.count > 0 && u.home == u.block)
    }

    /// Whether all of a pair goes to its only use, which is in the block that defines it.
    pub(super) fn whole(&self, var: Var) -> bool {
        self.once(var) && self.at_home(var) && !self.of[&var].halved
    }

    /// How often a variable is used.
    pub(super) fn count(&self, var: Var) -> usize {
        self.of.get(&var).map_or(0, |u| u.count)
    }

    /// Whether nobody uses it.
    pub(super) fn never(&self, var: Var) -> bool {
        self.of.get(&var).is_none_or(|u| u.count == 0)
    }
}
