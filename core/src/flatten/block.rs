//! Blocks and operations.

use super::Flattener;
use super::scalar::is_scalar_op;
use crate::base::with_stack;
use crate::flat::{self, SpaceId, SpaceKind};
use crate::ir::{self, Atom, Block, Let, Op, Site, Ty, Var};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::scalar::ScalarOp;

impl Flattener<'_> {
    /// The steps of a block, for all elements of an index space. Facts about sequences found inside
    /// are forgotten at its end, since its index spaces are not in scope outside.
    pub(super) fn block(&mut self, block: &Block, space: SpaceId) -> flat::Block {
        with_stack(|| {
            let known = (self.elements.clone(), self.filters.clone());
            let counted = (self.counted.clone(), self.positions.clone());
            self.open.push(Vec::new());
            let result = self.lets(block, space);
            let steps = self.open.pop().or_bug("the block was opened");
            (self.elements, self.filters) = known;
            (self.counted, self.positions) = counted;
            flat::Block { steps, result }
        })
    }

    /// The same, as part of the block that is open.
    pub(super) fn lets(&mut self, block: &Block, space: SpaceId) -> Atom {
        with_stack(|| {
            for binding in &block.lets {
                self.binding(binding, space);
            }
            self.atom(block.result)
        })
    }

    fn binding(&mut self, binding: &Let, space: SpaceId) {
        let (var, site) = (binding.var, binding.site);
        match &binding.op {
            Op::Copy(a) => {
                let a = self.atom(*a);
                self.names.insert(var, a);
            }
            Op::Nest(nest) => self.nest(binding, nest, space),
            Op::Seq(op, args) => {
                let args: Vec<Atom> = args.iter().map(|a| self.atom(*a)).collect();
                self.sequence(binding, *op, &args, space);
            }
            // Of sequences the places are chosen, not the elements.
            Op::If { cond, then, otherwise }
                if binding.ty.has_sequence() || !is_scalar_op(binding, self.scalar) =>
            {
                if let Some(choice) = self.choice_of_cuts(binding, space) {
                    return self.define(var, choice, binding.ty.clone(), space, site);
                }
                let cond = self.atom(*cond);
                self.conditional(binding, cond, then, otherwise, space);
            }
            Op::First(Atom::Var(pair)) | Op::Second(Atom::Var(pair))
                if self.groups.contains_key(pair) =>
            {
                self.point(binding, space);
                self.as_long_as(self.groups[pair], var);
            }
            _ if is_scalar_op(binding, self.scalar) => self.point(binding, space),
            Op::Call(callee, args) => {
                let args: Vec<Atom> = args.iter().map(|a| self.atom(*a)).collect();
                self.calls.push(*callee);
                let call = ir::Let { op: Op::Call(*callee, args.clone()), ..binding.clone() };
                let sequential = Block { lets: vec![call], result: Atom::Var(var) };
                let sequential =
                    self.single(flat::Op::Sequential(sequential), &binding.ty, space, site);
                let flattened =
                    self.single(flat::Op::Call(*callee, args), &binding.ty, space, site);
                let op = flat::Op::Versions { sequential, flattened };
                self.define(var, op, binding.ty.clone(), space, site);
            }
            // The other operations have no inner parallelism, or an intrinsic computes them.
            _ => self.point(binding, space),
        }
    }

    /// An operation that each element executes for itself.
    pub(super) fn point(&mut self, binding: &Let, space: SpaceId) {
        let op = self.renamed(&binding.op);
        if let Op::Pair(first, second) = op {
            self.pairs.insert(binding.var, (first, second));
        }
        self.define(binding.var, flat::Op::Map(op), binding.ty.clone(), space, binding.site);
    }

    /// Binds the sequences of a value, one for each segment.
    pub(super) fn collect(
        &mut self,
        var: Var,
        ty: Ty,
        value: Atom,
        from: SpaceId,
        space: SpaceId,
        site: Site,
    ) {
        self.define(var, flat::Op::Collect { value, from }, ty, space, site);
        self.elements.insert((var, space), (from, value));
    }

    /// The index space of the elements of a sequence, with a segment for each element of `of`, and
    /// the element there.
    pub(super) fn elements(&mut self, sequence: Var, of: SpaceId, site: Site) -> (SpaceId, Atom) {
        if let Some(known) = self.elements.get(&(sequence, of)) {
            return *known;
        }
        if let Some(inner) = self.elements_of(sequence, of) {
            return (inner, self.element_in(sequence, inner, None, of, site));
        }
        let space = self.enter(SpaceKind::Elements { of, sequence }, site);
        let ty = self.env[&sequence].1.sequence_element().clone();
        let element = flat::Op::Element { of: sequence, checked: None };
        let element = self.compute(element, ty, space, site);
        self.elements.insert((sequence, of), (space, element));
        (space, element)
    }

    /// The same, with segments for the elements of an index space that may lie inside of that of the
    /// sequence.
    pub(super) fn elements_at(
        &mut self,
        sequence: Var,
        space: SpaceId,
        site: Site,
    ) -> (SpaceId, Atom) {
        self.elements(sequence, space, site)
    }

    /// The element of a sequence in an index space that has one for each of its elements.
    pub(super) fn element_in(
        &mut self,
        sequence: Var,
        inner: SpaceId,
        checked: Option<Var>,
        of: SpaceId,
        site: Site,
    ) -> Atom {
        match self.elements.get(&(sequence, of)) {
            Some((space, value)) if *space == inner => *value,
            _ => {
                let ty = self.env[&sequence].1.sequence_element().clone();
                let element = flat::Op::Element { of: sequence, checked };
                let element = self.compute(element, ty, inner, site);
                // It was checked to be as long, so that its elements are found here from now on.
                self.elements.entry((sequence, of)).or_insert((inner, element));
                element
            }
        }
    }

    /// Notes that a sequence is as long as another one: they share an index space.
    pub(super) fn as_long_as(&mut self, other: Atom, sequence: Var) {
        if let Atom::Var(other) = other {
            self.alike.insert(sequence, other);
        }
    }

    /// The index space of the elements of a sequence, if there is one already.
    pub(super) fn elements_of(&self, mut sequence: Var, of: SpaceId) -> Option<SpaceId> {
        loop {
            match self.elements.get(&(sequence, of)) {
                Some((inner, _)) => return Some(*inner),
                None => sequence = *self.alike.get(&sequence)?,
            }
        }
    }

    /// The index space to compute in for a user of these values: a `Concat` has the elements of the
    /// index space inside, where steps fuse with what is there.
    pub(super) fn innermost_of(&self, mut space: SpaceId, values: &[Atom]) -> SpaceId {
        let lives_at = |value: &Atom, space| match value {
            Atom::Var(var) => self.env[var].0 == space,
            Atom::Unit | Atom::Int(_) | Atom::Float(_) | Atom::Bool(_) | Atom::Char(_) => false,
        };
        while let SpaceKind::Concat { inner, .. } = self.spaces[space.0 as usize].kind
            && !values.iter().any(|value| lives_at(value, space))
        {
            space = inner;
        }
        space
    }

    /// The elements of an index space for which a flag is set.
    pub(super) fn kept(&mut self, of: SpaceId, flag: Var, site: Site) -> SpaceId {
        if let Some(known) = self.filters.get(&(of, flag)) {
            return *known;
        }
        let space = self.enter(SpaceKind::Filter { of, flag, is: true }, site);
        self.filters.insert((of, flag), space);
        space
    }

    /// Checks that two sequences are equally long, unless that is known; gives the check.
    pub(super) fn same_length(
        &mut self,
        a: Var,
        b: Var,
        code: FaultCode,
        space: SpaceId,
        site: Site,
    ) -> Option<Var> {
        let known = |v: Var| self.elements_of(v, space);
        if a == b || known(a).is_some_and(|inner| known(b) == Some(inner)) {
            return None;
        }
        let check = self.compute(flat::Op::SameLength(a, b, code), Ty::Bool, space, site);
        match check {
            Atom::Var(check) => Some(check),
            _ => bug!("the value was just bound to a variable"),
        }
    }

    /// The length of a sequence, where it follows from how it was made.
    pub(super) fn length(&mut self, of: Var, site: Site) -> Option<Atom> {
        let home = self.env[&of].0;
        let from = self.elements_of(of, home)?;
        match self.spaces[from.0 as usize].kind {
            SpaceKind::Count { count, .. } => Some(count),
            SpaceKind::Filter { .. } => {
                let with = crate::prim::ReduceOp::Sum;
                let op = flat::Op::Reduce { with, value: Atom::Int(1), from };
                let length = self.compute(op, Ty::Int, home, site);
                if let Atom::Var(length) = length {
                    self.lengths.insert(length, of);
                }
                Some(length)
            }
            SpaceKind::Elements { .. } | SpaceKind::Concat { .. } | SpaceKind::Caller => None,
        }
    }

    pub(super) fn scalar(
        &mut self,
        op: ScalarOp,
        a: Atom,
        b: Atom,
        space: SpaceId,
        site: Site,
    ) -> Atom {
        self.compute(flat::Op::Map(Op::Scalar(op, vec![a, b])), Ty::Int, space, site)
    }

    /// A value as a variable of this index space.
    pub(super) fn named(&mut self, atom: Atom, space: SpaceId, site: Site) -> Var {
        if let Atom::Var(var) = atom
            && self.env[&var].0 == space
        {
            return var;
        }
        let ty = self.ty(atom);
        match self.compute(flat::Op::Map(Op::Copy(atom)), ty, space, site) {
            Atom::Var(var) => var,
            _ => bug!("the value was just bound to a variable"),
        }
    }

    /// A block of one step.
    pub(super) fn single(
        &mut self,
        op: flat::Op,
        ty: &Ty,
        space: SpaceId,
        site: Site,
    ) -> flat::Block {
        self.open.push(Vec::new());
        let result = self.compute(op, ty.clone(), space, site);
        flat::Block { steps: self.open.pop().or_bug("the block was opened"), result }
    }

    /// An operation that speaks of variables by the names they have here.
    pub(super) fn renamed(&self, op: &Op) -> Op {
        let mut op = op.clone();
        op.rename(&mut |var| self.atom(Atom::Var(var)));
        op
    }

    /// A block that does.
    pub(super) fn renamed_block(&self, block: &Block) -> Block {
        let mut block = block.clone();
        block.rename(&mut |var| self.atom(Atom::Var(var)));
        block
    }
}
