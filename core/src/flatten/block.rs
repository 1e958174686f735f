//! Blocks and operations.

use super::Flattener;
use super::scalar::is_scalar_op;
use crate::base::with_stack;
use crate::flat::{self, SpaceId, SpaceKind};
use crate::ir::{self, Atom, Block, Let, Op, Site, Ty, Var};
use crate::prim::SeqOp;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::scalar::ScalarOp;

impl Flattener<'_> {
    /// What a block computes, at all points of a context. What is found out about sequences
    /// inside is forgotten at its end, since its spaces are not seen outside.
    pub(super) fn block(&mut self, block: &Block, ctx: SpaceId) -> flat::Block {
        with_stack(|| {
            let known = (self.elements.clone(), self.filters.clone());
            let counted = (self.counted.clone(), self.positions.clone());
            self.open.push(Vec::new());
            let result = self.lets(block, ctx);
            let steps = self.open.pop().expect("it was opened");
            (self.elements, self.filters) = known;
            (self.counted, self.positions) = counted;
            flat::Block { steps, result }
        })
    }

    /// The same, as part of the block that is open.
    pub(super) fn lets(&mut self, block: &Block, ctx: SpaceId) -> Atom {
        with_stack(|| {
            for binding in &block.lets {
                self.binding(binding, ctx);
            }
            self.atom(block.result)
        })
    }

    fn binding(&mut self, binding: &Let, ctx: SpaceId) {
        let (var, site) = (binding.var, binding.site);
        match &binding.op {
            Op::Copy(a) => {
                let a = self.atom(*a);
                self.names.insert(var, a);
            }
            Op::Nest(nest) => self.nest(binding, nest, ctx),
            Op::Seq(op, args) => {
                let args: Vec<Atom> = args.iter().map(|a| self.atom(*a)).collect();
                self.sequence(binding, *op, &args, ctx);
            }
            // Of sequences the places are chosen, not the elements.
            Op::If { cond, then, otherwise }
                if binding.ty.has_sequence() || !is_scalar_op(binding, self.scalar) =>
            {
                if let Some(choice) = self.choice_of_cuts(binding, ctx) {
                    return self.define(var, choice, binding.ty.clone(), ctx, site);
                }
                let cond = self.atom(*cond);
                self.conditional(binding, cond, then, otherwise, ctx);
            }
            Op::First(Atom::Var(pair)) | Op::Second(Atom::Var(pair))
                if self.groups.contains_key(pair) =>
            {
                self.point(binding, ctx);
                self.as_long_as(self.groups[pair], var);
            }
            _ if is_scalar_op(binding, self.scalar) => self.point(binding, ctx),
            Op::Call(callee, args) => {
                let args: Vec<Atom> = args.iter().map(|a| self.atom(*a)).collect();
                self.calls.push(*callee);
                let call = ir::Let { op: Op::Call(*callee, args.clone()), ..binding.clone() };
                let sequential = Block { lets: vec![call], result: Atom::Var(var) };
                let sequential =
                    self.single(flat::Op::Sequential(sequential), &binding.ty, ctx, site);
                let flattened = self.single(flat::Op::Call(*callee, args), &binding.ty, ctx, site);
                let op = flat::Op::Versions { sequential, flattened };
                self.define(var, op, binding.ty.clone(), ctx, site);
            }
            // The other operations have no inner parallelism, or an intrinsic computes them.
            _ => self.point(binding, ctx),
        }
    }

    /// An operation that each point does by itself.
    fn point(&mut self, binding: &Let, ctx: SpaceId) {
        let op = self.renamed(&binding.op);
        if let Op::Pair(first, second) = op {
            self.pairs.insert(binding.var, (first, second));
        }
        self.define(binding.var, flat::Op::Map(op), binding.ty.clone(), ctx, binding.site);
    }

    fn sequence(&mut self, binding: &Let, op: SeqOp, args: &[Atom], ctx: SpaceId) {
        let Let { var, ty, site, .. } = binding.clone();
        match (op, args) {
            (SeqOp::Length, [Atom::Var(of)]) => match self.length(*of, site) {
                Some(length) => {
                    self.names.insert(var, length);
                }
                None => {
                    self.lengths.insert(var, *of);
                    self.point(binding, ctx);
                }
            },
            (SeqOp::Reduce(with), [Atom::Var(of)]) => {
                let (from, value) = self.elements(*of, self.env[of].0, site);
                let home = self.env[of].0;
                self.define(var, flat::Op::Reduce { with, value, from }, ty, home, site);
            }
            (SeqOp::Scan(with), [Atom::Var(of)]) => {
                let home = self.env[of].0;
                let (from, value) = self.elements(*of, home, site);
                let element = ty.element().expect("types were checked").clone();
                let value = self.compute(flat::Op::Scan { with, value }, element, from, site);
                self.collect(var, ty, value, from, home, site);
            }
            (SeqOp::Histogram(with), [size, Atom::Var(places), Atom::Var(values)]) => {
                let (from, place) = self.elements_at(*places, ctx, site);
                let code = FaultCode::NestLength;
                let checked = self.same_length(*values, *places, code, ctx, site);
                let value = self.element_in(*values, from, checked, ctx, site);
                let op = flat::Op::Histogram { with, size: *size, place, value, from };
                self.define(var, op, ty, ctx, site);
            }
            (SeqOp::Scatter, [Atom::Var(of), Atom::Var(writes)])
                if self.env[of].0 == ctx && !ty.element().is_none_or(Ty::has_sequence) =>
            {
                let (from, write) = self.elements_at(*writes, ctx, site);
                let element = ty.element().expect("it has one");
                let known = match write {
                    Atom::Var(write) => self.pairs.get(&write).copied(),
                    _ => None,
                };
                let from = match known {
                    Some((place, value)) => self.points_of(from, &[place, value]),
                    None => self.points_of(from, &[write]),
                };
                let (place, value) = known.unwrap_or_else(|| {
                    let place = flat::Op::Map(Op::First(write));
                    let value = flat::Op::Map(Op::Second(write));
                    let place = self.compute(place, Ty::Int, from, site);
                    (place, self.compute(value, element.clone(), from, site))
                });
                let op = flat::Op::Scatter { of: *of, place, value, from };
                self.define(var, op, ty, ctx, site);
                self.as_long_as(args[0], var);
            }
            (SeqOp::Gather, [of, Atom::Var(places)]) => {
                let (from, place) = self.elements_at(*places, ctx, site);
                let element = ty.element().expect("types were checked").clone();
                let value = self.compute(flat::Op::Gather(*of, place), element, from, site);
                self.collect(var, ty, value, from, ctx, site);
            }
            (SeqOp::Range, [start, stride, _]) => {
                let from = self.counted(op, args, ctx, site);
                let place = self.position(from, site);
                let scaled = match stride {
                    Atom::Int(1) => place,
                    _ => self.scalar(ScalarOp::Mul, place, *stride, from, site),
                };
                let value = match start {
                    Atom::Int(0) => scaled,
                    _ => self.scalar(ScalarOp::Add, *start, scaled, from, site),
                };
                self.collect(var, ty, value, from, ctx, site);
            }
            (SeqOp::Dist, [value, _]) => {
                let from = self.counted(op, args, ctx, site);
                self.collect(var, ty, *value, from, ctx, site);
            }
            (SeqOp::Pack, [Atom::Var(of), Atom::Var(flags)]) => {
                let (inner, flag) = self.elements_at(*flags, ctx, site);
                let (flag, value) = (self.named(flag, inner, site), {
                    let checked = self.same_length(*of, *flags, FaultCode::PackLength, ctx, site);
                    self.element_in(*of, inner, checked, ctx, site)
                });
                let from = self.kept(inner, flag, site);
                self.collect(var, ty, value, from, ctx, site);
            }
            (SeqOp::Flatten, [Atom::Var(of)]) => {
                let home = self.env[of].0;
                let known = self.elements.get(&(*of, home)).and_then(|(outer, element)| {
                    let Atom::Var(element) = element else { return None };
                    let (inner, value) = self.elements.get(&(*element, *outer))?;
                    (self.env[element].0 == *outer).then_some((*inner, *value))
                });
                match known {
                    Some((inner, value)) => {
                        let from = self.enter(SpaceKind::Concat { of: home, inner }, site);
                        self.collect(var, ty, value, from, home, site);
                    }
                    None => self.point(binding, ctx),
                }
            }
            (SeqOp::RankUp | SeqOp::RankDown, [of]) => {
                self.ranks.insert(var, (op, *of));
                self.point(binding, ctx);
                self.as_long_as(*of, var);
            }
            (SeqOp::Groups, [of]) => {
                self.groups.insert(var, *of);
                self.point(binding, ctx);
            }
            (SeqOp::Permute, [of, Atom::Var(places)])
                if self.ranks.get(places).is_some_and(|(_, keys)| keys == of) =>
            {
                // Sorting: no ranks are needed for it.
                let (rank, keys) = self.ranks[places];
                let ranks = self.env[places].1.clone();
                let [rank_var, moved] = [self.next, self.next + 1].map(Var);
                self.next += 2;
                let op = Op::Seq(rank, vec![keys]);
                let rank = Let { var: rank_var, ty: ranks, op, site };
                let op = Op::Seq(SeqOp::Permute, vec![*of, Atom::Var(rank_var)]);
                let lets = vec![rank, Let { var: moved, ty: ty.clone(), op, site }];
                let sequential = Block { lets, result: Atom::Var(moved) };
                self.define(var, flat::Op::Sequential(sequential), ty, ctx, site);
                self.as_long_as(*of, var);
            }
            _ => {
                self.point(binding, ctx);
                // The counts of `partition` and the indices of `->` belong to other index spaces.
                if op.row().same_length_as == Some(0) {
                    self.as_long_as(args[0], var);
                }
            }
        }
    }

    /// Binds the sequences of a value, one for each segment.
    pub(super) fn collect(
        &mut self,
        var: Var,
        ty: Ty,
        value: Atom,
        from: SpaceId,
        ctx: SpaceId,
        site: Site,
    ) {
        self.define(var, flat::Op::Collect { value, from }, ty, ctx, site);
        self.elements.insert((var, ctx), (from, value));
    }

    /// The context of the elements of a sequence, with a segment for each point of `of`, and the
    /// element there.
    pub(super) fn elements(&mut self, sequence: Var, of: SpaceId, site: Site) -> (SpaceId, Atom) {
        if let Some(known) = self.elements.get(&(sequence, of)) {
            return *known;
        }
        if let Some(inner) = self.context_of(sequence, of) {
            return (inner, self.element_in(sequence, inner, None, of, site));
        }
        let ctx = self.enter(SpaceKind::Elements { of, sequence }, site);
        let ty = self.env[&sequence].1.element().expect("types were checked").clone();
        let element = flat::Op::Element { of: sequence, checked: None };
        let element = self.compute(element, ty, ctx, site);
        self.elements.insert((sequence, of), (ctx, element));
        (ctx, element)
    }

    /// The same, with segments for the points of a context that may lie inside of the one where
    /// the sequence lives.
    pub(super) fn elements_at(
        &mut self,
        sequence: Var,
        ctx: SpaceId,
        site: Site,
    ) -> (SpaceId, Atom) {
        self.elements(sequence, ctx, site)
    }

    /// The element of a sequence in a context that has a point for each.
    pub(super) fn element_in(
        &mut self,
        sequence: Var,
        inner: SpaceId,
        checked: Option<Var>,
        of: SpaceId,
        site: Site,
    ) -> Atom {
        match self.elements.get(&(sequence, of)) {
            Some((ctx, value)) if *ctx == inner => *value,
            _ => {
                let ty = self.env[&sequence].1.element().expect("types were checked").clone();
                let element = flat::Op::Element { of: sequence, checked };
                let element = self.compute(element, ty, inner, site);
                // It was checked to be as long, so that its elements are found here from now on.
                self.elements.entry((sequence, of)).or_insert((inner, element));
                element
            }
        }
    }

    /// A sequence is as long as another one: its elements are found where the other's are.
    fn as_long_as(&mut self, other: Atom, sequence: Var) {
        if let Atom::Var(other) = other {
            self.alike.insert(sequence, other);
        }
    }

    /// The context with a point for each element of a sequence, if there is one already.
    pub(super) fn context_of(&self, mut sequence: Var, of: SpaceId) -> Option<SpaceId> {
        loop {
            match self.elements.get(&(sequence, of)) {
                Some((inner, _)) => return Some(*inner),
                None => sequence = *self.alike.get(&sequence)?,
            }
        }
    }

    /// Where a context has its points, for who uses these values: those of joined segments are the
    /// ones inside.
    pub(super) fn points_of(&self, mut ctx: SpaceId, values: &[Atom]) -> SpaceId {
        let lives_at = |value: &Atom, ctx| match value {
            Atom::Var(var) => self.env[var].0 == ctx,
            Atom::Unit | Atom::Int(_) | Atom::Float(_) | Atom::Bool(_) | Atom::Char(_) => false,
        };
        while let SpaceKind::Concat { inner, .. } = self.spaces[ctx.0 as usize].kind
            && !values.iter().any(|value| lives_at(value, ctx))
        {
            ctx = inner;
        }
        ctx
    }

    /// The points of a context at which a flag is set.
    fn kept(&mut self, of: SpaceId, flag: Var, site: Site) -> SpaceId {
        if let Some(known) = self.filters.get(&(of, flag)) {
            return *known;
        }
        let ctx = self.enter(SpaceKind::Filter { of, flag, is: true }, site);
        self.filters.insert((of, flag), ctx);
        ctx
    }

    /// Checks that two sequences are equally long, unless that is known; gives the check.
    pub(super) fn same_length(
        &mut self,
        a: Var,
        b: Var,
        code: FaultCode,
        ctx: SpaceId,
        site: Site,
    ) -> Option<Var> {
        let known = |v: Var| self.context_of(v, ctx);
        if a == b || known(a).is_some_and(|inner| known(b) == Some(inner)) {
            return None;
        }
        let check = self.compute(flat::Op::SameLength(a, b, code), Ty::Bool, ctx, site);
        match check {
            Atom::Var(check) => Some(check),
            _ => unreachable!("it was just bound"),
        }
    }

    /// The length of a sequence, where it follows from how it was made.
    fn length(&mut self, of: Var, site: Site) -> Option<Atom> {
        let home = self.env[&of].0;
        let from = self.context_of(of, home)?;
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

    fn scalar(&mut self, op: ScalarOp, a: Atom, b: Atom, ctx: SpaceId, site: Site) -> Atom {
        self.compute(flat::Op::Map(Op::Scalar(op, vec![a, b])), Ty::Int, ctx, site)
    }

    /// A value in a context as a variable of that context.
    pub(super) fn named(&mut self, atom: Atom, ctx: SpaceId, site: Site) -> Var {
        if let Atom::Var(var) = atom
            && self.env[&var].0 == ctx
        {
            return var;
        }
        let ty = self.ty(atom);
        match self.compute(flat::Op::Map(Op::Copy(atom)), ty, ctx, site) {
            Atom::Var(var) => var,
            _ => unreachable!("it was just bound"),
        }
    }

    /// A block of one step.
    pub(super) fn single(
        &mut self,
        op: flat::Op,
        ty: &Ty,
        ctx: SpaceId,
        site: Site,
    ) -> flat::Block {
        self.open.push(Vec::new());
        let result = self.compute(op, ty.clone(), ctx, site);
        flat::Block { steps: self.open.pop().expect("it was opened"), result }
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
