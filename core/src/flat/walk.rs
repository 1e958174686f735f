//! Traversals of flat programs: the tree of index spaces, bindings, and uses of variables.

use super::{Block, Function, IndexSpace, Kernel, Let, MatrixRows, Op, SpaceId, SpaceKind, Step};
use crate::base::with_stack;
use crate::ir::{self, Atom, Var};
use rustc_hash::FxHashSet;

impl IndexSpace {
    /// Returns the index space around it; `None` for that of the caller.
    pub fn around(&self) -> Option<SpaceId> {
        match self.kind {
            SpaceKind::Caller => None,
            SpaceKind::Elements { of, .. }
            | SpaceKind::Count { of, .. }
            | SpaceKind::Filter { of, .. }
            | SpaceKind::Concat { of, .. } => Some(of),
        }
    }
}

impl SpaceKind {
    /// Returns the variable that determines the elements: a sequence, a count or a flag.
    pub fn made_of(&self) -> Option<Var> {
        match self {
            SpaceKind::Elements { sequence: var, .. }
            | SpaceKind::Count { count: Atom::Var(var), .. }
            | SpaceKind::Filter { flag: var, .. } => Some(*var),
            SpaceKind::Caller | SpaceKind::Count { .. } | SpaceKind::Concat { .. } => None,
        }
    }
}

impl Function {
    /// Returns the index space of this id.
    pub fn index_space(&self, space: SpaceId) -> &IndexSpace {
        &self.spaces[space.0 as usize]
    }

    /// Returns the index space that has an element for each segment of this one.
    pub fn segments_of(&self, space: SpaceId) -> Option<SpaceId> {
        segments_of(&self.spaces, space)
    }

    /// Returns true if an index space is another one or somewhere inside it.
    pub fn is_within(&self, space: SpaceId, other: SpaceId) -> bool {
        is_within(&self.spaces, space, other)
    }
}

/// Returns the index space that has an element for each segment of this one.
pub(crate) fn segments_of(spaces: &[IndexSpace], space: SpaceId) -> Option<SpaceId> {
    match spaces[space.0 as usize].kind {
        SpaceKind::Caller => None,
        SpaceKind::Elements { of, .. }
        | SpaceKind::Count { of, .. }
        | SpaceKind::Concat { of, .. } => Some(of),
        SpaceKind::Filter { of, .. } => segments_of(spaces, of),
    }
}

/// Returns true if an index space is another one or somewhere inside it. A `Concat` is inside of
/// the index space whose elements it has.
pub(crate) fn is_within(spaces: &[IndexSpace], space: SpaceId, other: SpaceId) -> bool {
    let mut at = Some(space);
    while let Some(here) = at {
        if here == other {
            return true;
        }
        let index_space = &spaces[here.0 as usize];
        at = match index_space.kind {
            SpaceKind::Concat { inner, .. } => Some(inner),
            _ => index_space.around(),
        };
    }
    false
}

impl Let {
    /// Returns the index space whose values it uses: for operations that combine values, one inside
    /// of its own.
    pub fn operand_space(&self) -> SpaceId {
        match self.op {
            Op::Reduce { from, .. } | Op::Histogram { from, .. } | Op::Scatter { from, .. } => from,
            _ => self.space,
        }
    }

    /// Returns true if it combines the values of many elements.
    pub fn combines(&self) -> bool {
        matches!(self.op, Op::Reduce { .. } | Op::Histogram { .. } | Op::Scatter { .. })
    }
}

impl Block {
    /// Visits every binding of the block and of the blocks inside, also those of kernels.
    pub fn each_let<'a>(&'a self, visit: &mut dyn FnMut(&'a Let)) {
        with_stack(|| {
            for step in &self.steps {
                let lets: &[Let] = match step {
                    Step::Space(_) => &[],
                    Step::Let(binding) => std::slice::from_ref(binding),
                    Step::Kernel(kernel) => &kernel.lets,
                };
                for binding in lets {
                    visit(binding);
                    for block in binding.op.blocks() {
                        block.each_let(visit);
                    }
                }
            }
        });
    }
}

impl Block {
    /// Visits the index spaces that the block and the blocks inside make, also masks of kernels and
    /// the filters of branches.
    pub fn each_space(&self, visit: &mut dyn FnMut(SpaceId)) {
        with_stack(|| {
            for step in &self.steps {
                match step {
                    Step::Space(space) => visit(*space),
                    Step::Kernel(kernel) => kernel.masks.iter().for_each(|space| visit(*space)),
                    Step::Let(binding) => {
                        if let Op::Branch { then, otherwise, .. } = &binding.op {
                            visit(then.0);
                            visit(otherwise.0);
                        }
                        binding.op.blocks().for_each(|block| block.each_space(visit));
                    }
                }
            }
        });
    }
}

impl Kernel {
    /// Returns the index space of a value that it computes.
    pub(crate) fn home(&self, var: Var) -> Option<SpaceId> {
        let binding = self.lets.iter().find(|binding| binding.var == var);
        binding.map(|binding| binding.space)
    }
}

impl Let {
    /// Visits the variable that the binding binds, and those that its code of the core language binds inside.
    pub fn each_binding(&self, visit: &mut dyn FnMut(Var)) {
        visit(self.var);
        match &self.op {
            Op::Sequential(block) => block.each_binding(&mut |var, _| visit(var)),
            Op::Map(op) => {
                op.blocks().for_each(|block| block.each_binding(&mut |var, _| visit(var)));
                if let ir::Op::Nest(nest) = op {
                    nest.binders.iter().for_each(|(var, ..)| visit(*var));
                }
            }
            _ => {}
        }
    }
}

impl Op {
    /// Visits the variables that the operation and the blocks of steps inside use, also those that
    /// are bound in these blocks.
    pub fn each_use(&self, visit: &mut dyn FnMut(Var)) {
        if let Op::Map(op) = self {
            return op.each_use(visit);
        }
        for atom in self.operands() {
            if let Atom::Var(var) = atom {
                visit(var);
            }
        }
        if let Op::Sequential(block) = self {
            block.each_use(visit);
        }
        self.matrix().into_iter().flat_map(MatrixRows::variables).for_each(&mut *visit);
        for block in self.blocks() {
            block.each_use(visit);
        }
    }
}

impl Block {
    /// Visits the variables that the block uses, also those that are bound inside, but not those
    /// that determine index spaces.
    pub fn each_use(&self, visit: &mut dyn FnMut(Var)) {
        with_stack(|| {
            for step in &self.steps {
                match step {
                    Step::Space(_) => {}
                    Step::Let(binding) => binding.op.each_use(visit),
                    Step::Kernel(kernel) => {
                        kernel.lets.iter().for_each(|binding| binding.op.each_use(visit));
                    }
                }
            }
            used(self.result, visit);
        });
    }
}

fn used(atom: Atom, visit: &mut dyn FnMut(Var)) {
    if let Atom::Var(var) = atom {
        visit(var);
    }
}

impl ir::Op {
    /// Visits the variables that the operation uses, and those that blocks inside use but do not
    /// bind.
    pub fn each_use(&self, visit: &mut dyn FnMut(Var)) {
        self.operands().into_iter().for_each(|atom| used(atom, visit));
        let mut bound = FxHashSet::default();
        if let ir::Op::Nest(nest) = self {
            bound.extend(nest.binders.iter().map(|(var, ..)| *var));
        }
        for block in self.blocks() {
            block.each_use(&mut |var| {
                if !bound.contains(&var) {
                    visit(var);
                }
            });
        }
    }
}

impl ir::Block {
    /// Visits the variables that the block uses but does not bind.
    pub fn each_use(&self, visit: &mut dyn FnMut(Var)) {
        let mut bound = FxHashSet::default();
        self.each_binding(&mut |var, _| {
            bound.insert(var);
        });
        self.all_uses(&mut |var| {
            if !bound.contains(&var) {
                visit(var);
            }
        });
    }

    fn all_uses(&self, visit: &mut dyn FnMut(Var)) {
        self.each_let(&mut |binding| {
            binding.op.operands().into_iter().for_each(|atom| used(atom, visit));
            binding.op.blocks().for_each(|block| used(block.result, visit));
        });
        used(self.result, visit);
    }
}
