//! The number, the nesting depth and the block of the uses of each variable.

use crate::base::with_stack;
use crate::ir::{Atom, Block, Let, Op, Ty, Var};
use crate::prim::SeqOp;
use rustc_hash::FxHashMap;

/// The uses of the variables of a function or of one block.
#[derive(Clone, Debug, Default)]
pub(super) struct Uses {
    of: FxHashMap<Var, VarUses>,
}

#[derive(Clone, Debug, Default)]
struct VarUses {
    count: usize,
    /// The number of nests around the definition.
    definition_depth: usize,
    /// The number of nests around the last use.
    use_depth: usize,
    /// The number of the block that defines it, in preorder.
    definition_block: usize,
    /// The number of the block of the last use.
    use_block: usize,
    /// The sequence that is permuted by it.
    permutes: Option<Atom>,
    /// True if some use takes one half of it.
    halved: bool,
    /// True if some use is a call or an append, which read a filter in memory.
    stored: bool,
    /// True if some use is a call, puts it into a table as a row, or puts a row into it.
    handed_over: bool,
}

/// Returns true if a binding calls a function with a variable, puts it into a table as a row, or puts a row into it: it has
/// it in memory.
pub fn is_handed_over(binding: &Let, var: Var) -> bool {
    match &binding.op {
        Op::Call(..) => true,
        Op::Seq(SeqOp::Replace, args) => {
            let is_table = binding.ty.element().is_some_and(Ty::has_sequence);
            is_table && args[..2].contains(&Atom::Var(var)) && args[0] != args[1]
        }
        _ => false,
    }
}

impl Uses {
    /// Returns the uses in a block and the blocks inside.
    pub(super) fn of(body: &Block) -> Uses {
        let mut uses = Uses::default();
        let mut blocks = 0;
        uses.block(body, 0, &mut blocks);
        uses
    }

    /// Returns true if a variable is used once, and not inside a nest that its definition is
    /// outside of: computing it at its use does no work twice.
    pub(super) fn once(&self, var: Var) -> bool {
        let at_same_depth = |uses: &VarUses| uses.use_depth == uses.definition_depth;
        self.of.get(&var).is_some_and(|uses| uses.count == 1 && at_same_depth(uses))
    }

    /// Returns the sequence permuted by a variable that is used for nothing else.
    pub(super) fn permutes(&self, var: Var) -> Option<Atom> {
        self.of.get(&var).filter(|_| self.once(var)).and_then(|uses| uses.permutes)
    }

    /// Returns true if a variable is used, the last time in the block that defines it.
    pub(super) fn in_defining_block(&self, var: Var) -> bool {
        let same_block = |uses: &VarUses| uses.definition_block == uses.use_block;
        self.of.get(&var).is_some_and(|uses| uses.count > 0 && same_block(uses))
    }

    /// Returns true if a pair goes undivided to its one use, which is in the block that defines it.
    pub(super) fn undivided(&self, var: Var) -> bool {
        self.once(var) && self.in_defining_block(var) && !self.of[&var].halved
    }

    /// Returns true if a filter has to be stored: it is used more than once, or by a call or an append of the
    /// block that binds it.
    pub(super) fn in_memory(&self, var: Var) -> bool {
        let stored = |uses: &VarUses| uses.stored && uses.definition_block == uses.use_block;
        self.count(var) > 0 && (!self.once(var) || self.of.get(&var).is_some_and(stored))
    }

    /// Returns true if the one use of a variable, in the block that binds it, is a call, puts it into a table as a
    /// row, or puts a row into it.
    pub(super) fn is_handed_over(&self, var: Var) -> bool {
        self.once(var) && self.in_defining_block(var) && self.of[&var].handed_over
    }

    /// Returns the number of uses of a variable.
    pub(super) fn count(&self, var: Var) -> usize {
        self.of.get(&var).map_or(0, |uses| uses.count)
    }

    fn block(&mut self, block: &Block, depth: usize, blocks: &mut usize) {
        let here = *blocks;
        *blocks += 1;
        with_stack(|| {
            for binding in &block.lets {
                let halved = matches!(binding.op, Op::First(_) | Op::Second(_));
                let stored = matches!(binding.op, Op::Call(..) | Op::Seq(SeqOp::Append, _));
                for atom in binding.op.operands() {
                    self.used(atom, depth, here);
                    if let Some(var) = atom.variable() {
                        let entry = self.of.entry(var).or_default();
                        entry.halved |= halved;
                        entry.stored |= stored;
                        entry.handed_over |= is_handed_over(binding, var);
                    }
                }
                if let Op::Seq(SeqOp::Permute, args) = &binding.op
                    && let [of, Atom::Var(indices)] = args[..]
                {
                    self.of.entry(indices).or_default().permutes = Some(of);
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
            self.used(block.result, depth, here);
        });
    }

    fn defined(&mut self, var: Var, depth: usize, block: usize) {
        let entry = self.of.entry(var).or_default();
        (entry.definition_depth, entry.definition_block) = (depth, block);
    }

    fn used(&mut self, atom: Atom, depth: usize, block: usize) {
        if let Some(var) = atom.variable() {
            let entry = self.of.entry(var).or_default();
            entry.count += 1;
            (entry.use_depth, entry.use_block) = (depth, block);
        }
    }
}
