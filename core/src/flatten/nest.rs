//! Flattens apply-to-each and conditionals.
//!
//! ```text
//! {body : x in xs; y in ys}      →   s = elements xs; x = element(xs); y = element(ys); body in s; collect
//! if c then a else b             →   a in (filter c), b in (filter not c), merged by a branch
//! ```

use super::Flattener;
use super::scalar::{is_scalar, is_scalar_op};
use crate::base::with_stack;
use crate::flat::{self, SpaceId, SpaceKind};
use crate::ir::{Atom, Block, Let, Nest, Op, Ty, Var};
use crate::prim::SeqOp;
use nesl_runtime::bug;
use nesl_runtime::fault::FaultCode;
use rustc_hash::FxHashMap;

impl Flattener<'_> {
    /// Flattens an apply-to-each, `{ body : x in xs; y in ys }`: its body is executed in the index
    /// space of the elements, in two versions if it has inner parallelism.
    pub(super) fn nest(&mut self, binding: &Let, nest: &Nest, space: SpaceId) {
        let site = binding.site;
        let sequences: Vec<Var> = nest
            .binders
            .iter()
            .map(|(.., atom)| match self.atom(*atom) {
                Atom::Var(var) => var,
                other => bug!("{other:?} is a sequence, which is a variable"),
            })
            .collect();
        // If one of the sequences has an index space already, it is the one to use; but one that is read by
        // position can be read in any.
        let known = |var: &Var| self.known_elements_space(*var, space).is_some();
        let stored = |var: &Var| !self.appended.contains_key(var);
        let known = sequences
            .iter()
            .position(|var| known(var) && stored(var))
            .or_else(|| sequences.iter().position(stored))
            .or_else(|| sequences.iter().position(known));
        let first = sequences[known.unwrap_or(0)];
        let code = FaultCode::NestLength;
        let checks: Vec<Option<Var>> = sequences
            .iter()
            .map(|other| self.same_length(sequences[0], *other, code, space, site))
            .collect();
        let (inner, _) = self.elements_space(first, space, site);
        // All are checked against the first one, and so is the one whose index space this is.
        let of_first = checks[known.unwrap_or(0)];
        for ((sequence, check), (var, ..)) in sequences.iter().zip(&checks).zip(&nest.binders) {
            let element = self.element_in(*sequence, inner, check.or(of_first), space, site);
            self.names.insert(*var, element);
        }
        // In the inner index space of a `Concat`, the steps can join the kernel that computes the
        // values.
        let from = inner;
        let elements: Vec<Atom> =
            nest.binders.iter().map(|(var, ..)| self.atom(Atom::Var(*var))).collect();
        let inner = self.space_to_compute_in(inner, &elements);
        let value = if is_scalar(&nest.body, self.scalar)
            || ends_in_generated_sequence(&nest.body, self.scalar)
        {
            self.inline_block(&nest.body, inner)
        } else {
            let element = binding.ty.sequence_element().clone();
            if Origins::of(&nest.body, inner, self).shares(nest.body.result) {
                // No sequential version: in it each element would copy the shared sequence.
                self.nests += 1;
                let value = self.inline_block(&nest.body, inner);
                self.nests -= 1;
                self.collect(binding.var, binding.ty.clone(), value, from, space, site);
                return self.note_same_length(Atom::Var(first), binding.var);
            }
            let sequential = flat::Op::Sequential(self.renamed_block(&nest.body));
            let sequential = self.single_step_block(sequential, &element, inner, site);
            self.nests += 1;
            let flattened = self.block(&nest.body, inner);
            self.nests -= 1;
            self.compute(
                flat::Op::Versions { sequential, flattened, matrix: None },
                element,
                inner,
                site,
            )
        };
        self.collect(binding.var, binding.ty.clone(), value, from, space, site);
        self.note_same_length(Atom::Var(first), binding.var);
    }

    /// Flattens a conditional: each branch is executed for the elements that take it.
    pub(super) fn conditional(
        &mut self,
        binding: &Let,
        cond: Atom,
        then: &Block,
        otherwise: &Block,
        space: SpaceId,
    ) {
        let site = binding.site;
        let cond = self.as_variable(cond, space, site);
        let [then, otherwise] = [(then, true), (otherwise, false)].map(|(block, is)| {
            let inner = SpaceId(self.spaces.len() as u32);
            let kind = SpaceKind::Filter { of: space, flag: cond, is };
            self.spaces.push(flat::IndexSpace { kind, site });
            let block = self.block(block, inner);
            (inner, block)
        });
        let op = flat::Op::Branch { cond, then, otherwise };
        self.define(binding.var, op, binding.ty.clone(), space, site);
    }
}

/// The origins of the values of the body of an apply-to-each, before it is flattened.
struct Origins<'a, 'f> {
    /// The bindings of the body and of the blocks inside.
    lets: FxHashMap<Var, &'a Let>,
    /// For the element variables of nests inside, the sequences that they run over.
    binders: FxHashMap<Var, Atom>,
    /// The index space of the body.
    inner: SpaceId,
    flattener: &'a Flattener<'f>,
}

impl<'a, 'f> Origins<'a, 'f> {
    fn of(block: &'a Block, inner: SpaceId, flattener: &'a Flattener<'f>) -> Origins<'a, 'f> {
        let mut origins =
            Origins { lets: FxHashMap::default(), binders: FxHashMap::default(), inner, flattener };
        block.each_let(&mut |binding| {
            origins.lets.insert(binding.var, binding);
            if let Op::Nest(nest) = &binding.op {
                origins.binders.extend(nest.binders.iter().map(|(var, _, atom)| (*var, *atom)));
            }
        });
        origins
    }

    /// Returns true if a value is or contains a sequence from outside of the body, which many
    /// elements share.
    fn shares(&self, value: Atom) -> bool {
        let Atom::Var(var) = value else { return false };
        if let Some(sequence) = self.binders.get(&var) {
            return self.shares(*sequence);
        }
        let Some(binding) = self.lets.get(&var) else {
            let Atom::Var(var) = self.flattener.atom(value) else { return false };
            let home = self.flattener.env.get(&var);
            return home.is_some_and(|(home, ty)| *home != self.inner && ty.has_sequence());
        };
        if !binding.ty.has_sequence() {
            return false;
        }
        let any = |op: &Op| op.operands().into_iter().any(|atom| self.shares(atom));
        with_stack(|| match &binding.op {
            Op::Copy(_) | Op::Pair(..) | Op::First(_) | Op::Second(_) | Op::List(_) => {
                any(&binding.op)
            }
            Op::Seq(SeqOp::Index, args) => self.shares(args[0]),
            // The operation copies the elements, but not the sequences inside of them.
            Op::Seq(..) => binding.ty.element().is_some_and(Ty::has_sequence) && any(&binding.op),
            Op::If { .. } | Op::Nest(_) => {
                binding.op.blocks().any(|inside| self.shares(inside.result))
            }
            Op::Scalar(..)
            | Op::Text(_)
            | Op::Constants(_)
            | Op::Call(..)
            | Op::Global(_)
            | Op::Check { .. }
            | Op::Error(_)
            | Op::Host(..)
            | Op::Time(_) => false,
        })
    }
}

/// Returns true if a block computes scalars and ends in a range or a repeated scalar. Flattened,
/// that is a descriptor only, and the elements are computed where they are used.
fn ends_in_generated_sequence(block: &Block, functions: &[bool]) -> bool {
    let Some((last, before)) = block.lets.split_last() else { return false };
    matches!(last.op, Op::Seq(SeqOp::Range | SeqOp::Dist, _))
        && !last.ty.element().is_none_or(Ty::has_sequence)
        && block.result == Atom::Var(last.var)
        && before.iter().all(|b| !b.ty.has_sequence() && is_scalar_op(b, functions))
}
