//! Flattens blocks and bindings, and remembers which sequences share an index space.
//!
//! Two sequences of the same length share the index space of their elements, so that a computation
//! over both is one step: `elements_space` makes it once for each sequence, and `note_same_length`
//! records that an operation's result is as long as its operand.

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
    /// Flattens a block for all elements of an index space. Facts about sequences found inside are
    /// forgotten at its end, since its index spaces are not in scope outside.
    pub(super) fn block(&mut self, block: &Block, space: SpaceId) -> flat::Block {
        with_stack(|| {
            let known = (self.elements.clone(), self.filters.clone());
            let counted = (self.counted.clone(), self.positions.clone());
            self.open.push(Vec::new());
            let result = self.inline_block(block, space);
            let steps = self.open.pop().or_bug("the block was opened");
            (self.elements, self.filters) = known;
            (self.counted, self.positions) = counted;
            flat::Block { steps, result }
        })
    }

    /// Flattens a block for all elements of an index space into the block that is open; returns the
    /// operand that is its result.
    pub(super) fn inline_block(&mut self, block: &Block, space: SpaceId) -> Atom {
        with_stack(|| {
            let order = self.order(block);
            let mut checks = order.checks.iter().peekable();
            for (at, binding) in order.bindings.iter().enumerate() {
                while let Some(check) = checks.next_if(|check| check.before == at) {
                    self.check_early(check, space);
                }
                self.binding(&block.lets[*binding], space);
            }
            self.atom(block.result)
        })
    }

    fn binding(&mut self, binding: &Let, space: SpaceId) {
        let (var, site) = (binding.var, binding.site);
        if let Op::List(args) = &binding.op
            && let [only] = args[..]
        {
            self.singletons.insert(var, self.atom(only));
        }
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
            // All iterations have one table or none: flattened code sorts instead.
            Op::If { then, otherwise, .. }
                if self.nests > 0 && then.makes_histogram() && !otherwise.makes_histogram() =>
            {
                let result = self.inline_block(otherwise, space);
                self.names.insert(var, result);
            }
            // A conditional between views of one sequence chooses starts and lengths, not elements.
            Op::If { cond, then, otherwise }
                if binding.ty.has_sequence() || !is_scalar_op(binding, self.scalar) =>
            {
                if let Some(op) = self.conditional_view(binding, space) {
                    return self.define(var, op, binding.ty.clone(), space, site);
                }
                let cond = self.atom(*cond);
                self.conditional(binding, cond, then, otherwise, space);
            }
            Op::First(Atom::Var(pair)) | Op::Second(Atom::Var(pair))
                if self.groups.contains_key(pair) =>
            {
                self.map(binding, space);
                self.note_same_length(self.groups[pair], var);
            }
            _ if is_scalar_op(binding, self.scalar) => self.map(binding, space),
            Op::Call(callee, args) => {
                let args: Vec<Atom> = args.iter().map(|a| self.atom(*a)).collect();
                self.calls.push(*callee);
                let call = ir::Let { op: Op::Call(*callee, args.clone()), ..binding.clone() };
                let sequential = Block { lets: vec![call], result: Atom::Var(var) };
                let sequential = self.single_step_block(
                    flat::Op::Sequential(sequential),
                    &binding.ty,
                    space,
                    site,
                );
                let flattened =
                    self.single_step_block(flat::Op::Call(*callee, args), &binding.ty, space, site);
                let op = flat::Op::Versions { sequential, flattened, matrix: None };
                self.define(var, op, binding.ty.clone(), space, site);
            }
            // The other operations have no inner parallelism, or an intrinsic computes them.
            _ => self.map(binding, space),
        }
    }

    /// Binds the variable to an operation that each element executes for itself
    /// ([`flat::Op::Map`]).
    pub(super) fn map(&mut self, binding: &Let, space: SpaceId) {
        let op = self.renamed(&binding.op);
        if let Op::Pair(first, second) = op {
            self.pairs.insert(binding.var, (first, second));
        }
        self.define(binding.var, flat::Op::Map(op), binding.ty.clone(), space, binding.site);
    }

    /// Binds a variable of `space` to sequences: for each element of `space`, the values in its
    /// segment of `from`.
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

    /// Returns the index space of the elements of a sequence, with a segment for each element of
    /// `of`, and the operand that is the element there; makes both unless they are known. `of` may
    /// lie inside of the sequence's own index space.
    pub(super) fn elements_space(
        &mut self,
        sequence: Var,
        of: SpaceId,
        site: Site,
    ) -> (SpaceId, Atom) {
        if let Some(known) = self.elements.get(&(sequence, of)) {
            return *known;
        }
        if let Some(inner) = self.known_elements_space(sequence, of) {
            return (inner, self.element_in(sequence, inner, None, of, site));
        }
        let space = self.new_space(SpaceKind::Elements { of, sequence }, site);
        let ty = self.env[&sequence].1.sequence_element().clone();
        let element = flat::Op::Element { of: sequence, checked: None };
        let element = self.compute(element, ty, space, site);
        self.elements.insert((sequence, of), (space, element));
        (space, element)
    }

    /// Returns the element of a sequence in the index space `inner`, which has an element for each
    /// of the sequence's. If that has to be checked, `checked` is the check of the lengths.
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
            _ if self.appended.contains_key(&sequence) => {
                self.appended_element_in(sequence, inner, checked, of, site)
            }
            _ => {
                let ty = self.env[&sequence].1.sequence_element().clone();
                let element = match self.counts(sequence) {
                    true => flat::Op::Position { checked },
                    false => flat::Op::Element { of: sequence, checked },
                };
                let element = self.compute(element, ty, inner, site);
                // The lengths were checked, so from now on this is the index space of its elements.
                self.elements.entry((sequence, of)).or_insert((inner, element));
                element
            }
        }
    }

    /// Returns true if the elements of a sequence are their own indices.
    fn counts(&self, sequence: Var) -> bool {
        let home = self.env[&sequence].0;
        let element = self.elements.get(&(sequence, home));
        element.is_some_and(|(space, value)| self.positions.get(space) == Some(value))
    }

    /// Records that a sequence is as long as another one, whose index space it shares.
    pub(super) fn note_same_length(&mut self, other: Atom, sequence: Var) {
        if let Atom::Var(other) = other {
            self.equal_lengths.insert(sequence, other);
        }
    }

    /// Returns the first of the sequences that are as long as one, because of how they were computed.
    pub(super) fn as_long_as(&self, mut sequence: Var) -> Var {
        while let Some(other) = self.equal_lengths.get(&sequence) {
            sequence = *other;
        }
        sequence
    }

    /// Returns the index space of the elements of a sequence, or of one of the same length, if it
    /// has been made.
    pub(super) fn known_elements_space(&self, mut sequence: Var, of: SpaceId) -> Option<SpaceId> {
        loop {
            match self.elements.get(&(sequence, of)) {
                Some((inner, _)) => return Some(*inner),
                None => sequence = *self.equal_lengths.get(&sequence)?,
            }
        }
    }

    /// Returns the index space in which to compute with some values of `space`. A `Concat` has the
    /// same elements as its inner index space; there the steps can fuse with those that compute the
    /// values.
    pub(super) fn space_to_compute_in(&self, mut space: SpaceId, values: &[Atom]) -> SpaceId {
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

    /// Returns the index space of the elements for which a flag is true; makes it unless it is
    /// known.
    pub(super) fn filter_space(&mut self, of: SpaceId, flag: Var, site: Site) -> SpaceId {
        if let Some(known) = self.filters.get(&(of, flag)) {
            return *known;
        }
        let space = self.new_space(SpaceKind::Filter { of, flag, is: true }, site);
        self.filters.insert((of, flag), space);
        space
    }

    /// Checks that two sequences have the same length. Returns the check, or `None` if that is
    /// known.
    pub(super) fn same_length(
        &mut self,
        a: Var,
        b: Var,
        code: FaultCode,
        space: SpaceId,
        site: Site,
    ) -> Option<Var> {
        let known = |v: Var| self.known_elements_space(v, space);
        if self.as_long_as(a) == self.as_long_as(b)
            || known(a).is_some_and(|inner| known(b) == Some(inner))
        {
            return None;
        }
        let [a, b] = [a, b].map(|v| self.first_of_length(v, space));
        let check = self.compute(flat::Op::SameLength(a, b, code), Ty::Bool, space, site);
        match check {
            Atom::Var(check) => Some(check),
            _ => bug!("`compute` returns a variable"),
        }
    }

    /// Returns the sequence whose elements the index space of a sequence was made for: it has the same
    /// length, and is there before the elements of the other are computed. A check of their lengths can
    /// then come before kernels over this index space.
    fn first_of_length(&self, v: Var, space: SpaceId) -> Var {
        let inner = self.known_elements_space(v, space);
        match inner.map(|inner| self.spaces[inner.0 as usize].kind) {
            Some(SpaceKind::Elements { of, sequence }) if of == space => sequence,
            _ => v,
        }
    }

    /// Returns the length of a sequence if it can be computed without the sequence, so that the
    /// sequence need not be materialised for it.
    pub(super) fn length(&mut self, of: Var, site: Site) -> Option<Atom> {
        let home = self.env[&of].0;
        let from = self.known_elements_space(of, home)?;
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

    /// Computes a scalar operation on two ints.
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

    /// Returns a variable of the index space with the value of an operand, which may be a constant
    /// or a variable of an index space around.
    pub(super) fn as_variable(&mut self, atom: Atom, space: SpaceId, site: Site) -> Var {
        if let Atom::Var(var) = atom
            && self.env[&var].0 == space
        {
            return var;
        }
        let ty = self.ty(atom);
        match self.compute(flat::Op::Map(Op::Copy(atom)), ty, space, site) {
            Atom::Var(var) => var,
            _ => bug!("`compute` returns a variable"),
        }
    }

    /// Returns a block of one step.
    pub(super) fn single_step_block(
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

    /// Returns an operation of the source with its operands replaced by those that stand for them.
    pub(super) fn renamed(&self, op: &Op) -> Op {
        let mut op = op.clone();
        op.rename(&mut |var| self.atom(Atom::Var(var)));
        op
    }

    /// Returns a block of the source with all operands replaced by those that stand for them.
    pub(super) fn renamed_block(&self, block: &Block) -> Block {
        let mut block = block.clone();
        block.rename(&mut |var| self.atom(Atom::Var(var)));
        block
    }
}
