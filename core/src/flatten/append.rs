//! Flattens appended sequences that are only read element by element: positions instead of a copy.
//!
//! ```text
//! {f(x) : x in a ++ b}   →   s = count (#a + #b);  x = if i < #a then a[i] else b[i - #a];  f(x) in s
//! ```
//!
//! Nothing is moved: who reads the elements chooses between the two sequences by the position. An appended
//! sequence that is needed as a whole, for a result, a call or a code inside of an apply-to-each, is copied
//! instead, which is faster than storing it from a kernel.

use super::Flattener;
use crate::base::with_stack;
use crate::flat::{self, SpaceId, SpaceKind};
use crate::ir::{Atom, Block, Let, Op, Site, Ty, Var};
use crate::prim::SeqOp;
use nesl_runtime::scalar::ScalarOp;
use rustc_hash::{FxHashMap, FxHashSet};

/// The number of sequences appended to each other up to which they are read by positions: each costs the
/// reader of an element a comparison.
const MAX_PARTS: usize = 4;

/// Returns the variables of a function that are appended sequences whose elements are only read one by one,
/// where they are made.
pub(super) fn only_read(body: &Block) -> FxHashSet<Var> {
    let mut found = FxHashSet::default();
    each_block(body, &mut |block| in_block(block, &mut found));
    found
}

/// Visits a block and those inside.
pub(super) fn each_block(block: &Block, visit: &mut dyn FnMut(&Block)) {
    with_stack(|| {
        visit(block);
        for inner in block.lets.iter().flat_map(|binding| binding.op.blocks()) {
            each_block(inner, visit);
        }
    });
}

/// Visits every operand of a block and of those inside, results included.
pub(super) fn each_operand(block: &Block, visit: &mut dyn FnMut(Atom)) {
    each_block(block, &mut |block| {
        block.lets.iter().for_each(|binding| binding.op.each_operand(&mut *visit));
        visit(block.result);
    });
}

fn in_block(block: &Block, found: &mut FxHashSet<Var>) {
    // The appended sequences of the block, each with the number of sequences that it consists of.
    let mut parts: FxHashMap<Var, usize> = FxHashMap::default();
    for Let { var, ty, op, .. } in &block.lets {
        if let Op::Seq(SeqOp::Append, args) = op
            && !ty.element().is_none_or(Ty::has_sequence)
        {
            let of = |atom: &Atom| atom.variable().and_then(|var| parts.get(&var));
            let count = args.iter().map(|atom| of(atom).copied().unwrap_or(1)).sum();
            if count <= MAX_PARTS {
                parts.insert(*var, count);
            }
        }
    }
    if parts.is_empty() {
        return;
    }
    let whole = |atom: Atom, parts: &mut FxHashMap<Var, usize>| {
        if let Atom::Var(var) = atom {
            parts.remove(&var);
        }
    };
    whole(block.result, &mut parts);
    // From the last: whether an appended sequence is itself a part of another one is known then.
    for binding in block.lets.iter().rev() {
        match &binding.op {
            Op::Seq(SeqOp::Length | SeqOp::Reduce(_) | SeqOp::Scan(_) | SeqOp::Pack, _) => {}
            Op::Seq(SeqOp::Append, _) if parts.contains_key(&binding.var) => {}
            Op::Seq(SeqOp::Gather, args) => whole(args[0], &mut parts),
            Op::Nest(nest) => each_operand(&nest.body, &mut |atom| whole(atom, &mut parts)),
            op => {
                op.each_operand(|atom| whole(atom, &mut parts));
                for inner in op.blocks() {
                    each_operand(inner, &mut |atom| whole(atom, &mut parts));
                }
            }
        }
    }
    found.extend(parts.into_keys());
}

impl Flattener<'_> {
    /// Flattens `a ++ b` of a sequence that is read by position.
    pub(super) fn append_by_position(&mut self, binding: &Let, a: Atom, b: Atom, space: SpaceId) {
        let Let { var, ty, site, .. } = binding.clone();
        let (first, second) = (self.length_of(a, space, site), self.length_of(b, space, site));
        let count = self.scalar(ScalarOp::Add, first, second, space, site);
        let from = self.new_space(SpaceKind::Count { of: space, count }, site);
        let position = self.position(from, site);
        self.appended.insert(var, (a, b, first));
        let element = ty.sequence_element().clone();
        let value = self.read_by_position(var, position, &element, from, site);
        self.collect(var, ty, value, from, space, site);
    }

    /// Returns the element of a sequence that is read by position in another index space than its own, which
    /// has as many elements: `checked`, a value of `of`, is the check of that.
    pub(super) fn appended_element_in(
        &mut self,
        sequence: Var,
        inner: SpaceId,
        checked: Option<Var>,
        of: SpaceId,
        site: Site,
    ) -> Atom {
        let element = self.env[&sequence].1.sequence_element().clone();
        let known = self.appended[&sequence];
        if let Some(check) = checked {
            // Nothing is read before the check: the length that is compared first depends on it.
            let side = |result| Block { lets: Vec::new(), result };
            let (cond, then) = (Atom::Var(check), side(known.2));
            let op = Op::If { cond, then, otherwise: side(Atom::Int(0)) };
            let length = self.compute(flat::Op::Map(op), Ty::Int, of, site);
            self.appended.insert(sequence, (known.0, known.1, length));
        }
        let position = self.position(inner, site);
        let value = self.read_by_position(sequence, position, &element, inner, site);
        self.appended.insert(sequence, known);
        value
    }

    /// Computes the element of a sequence at the position of an index space.
    fn read_by_position(
        &mut self,
        sequence: Var,
        position: Atom,
        element: &Ty,
        from: SpaceId,
        site: Site,
    ) -> Atom {
        let mut lets = Vec::new();
        let value = self.element_of(Atom::Var(sequence), position, element, site, &mut lets);
        for Let { var, ty, op, .. } in lets {
            self.define(var, flat::Op::Map(op), ty, from, site);
        }
        value
    }

    fn length_of(&mut self, sequence: Atom, space: SpaceId, site: Site) -> Atom {
        let Atom::Var(var) = sequence else { return Atom::Int(0) };
        if self.singletons.contains_key(&var) {
            return Atom::Int(1);
        }
        self.length(var, site).unwrap_or_else(|| {
            let length = Op::Seq(SeqOp::Length, vec![sequence]);
            self.compute(flat::Op::Map(length), Ty::Int, space, site)
        })
    }

    /// Appends the bindings to `lets` that compute the element of a sequence at an index, and returns it.
    fn element_of(
        &mut self,
        sequence: Atom,
        index: Atom,
        element: &Ty,
        site: Site,
        lets: &mut Vec<Let>,
    ) -> Atom {
        let known = sequence.variable();
        if let Some(only) = known.and_then(|var| self.singletons.get(&var)) {
            return *only;
        }
        let Some((a, b, length)) = known.and_then(|var| self.appended.get(&var)).copied() else {
            let op = Op::Seq(SeqOp::Index, vec![sequence, index]);
            return self.bound(op, element.clone(), site, lets);
        };
        let op = Op::Scalar(ScalarOp::Lt, vec![index, length]);
        let cond = self.bound(op, Ty::Bool, site, lets);
        let mut then = Vec::new();
        let result = self.element_of(a, index, element, site, &mut then);
        let then = Block { lets: then, result };
        let mut otherwise = Vec::new();
        let op = Op::Scalar(ScalarOp::Sub, vec![index, length]);
        let index = self.bound(op, Ty::Int, site, &mut otherwise);
        let result = self.element_of(b, index, element, site, &mut otherwise);
        let otherwise = Block { lets: otherwise, result };
        self.bound(Op::If { cond, then, otherwise }, element.clone(), site, lets)
    }

    /// Appends the binding of a fresh variable, and returns that.
    fn bound(&mut self, op: Op, ty: Ty, site: Site, lets: &mut Vec<Let>) -> Atom {
        let var = Var(self.next);
        self.next += 1;
        lets.push(Let { var, ty, op, site });
        Atom::Var(var)
    }
}
