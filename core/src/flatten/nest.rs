//! Apply-to-each and conditionals.

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
    /// `{ body : x in xs; y in ys }`
    pub(super) fn nest(&mut self, binding: &Let, nest: &Nest, space: SpaceId) {
        let site = binding.site;
        let over: Vec<Var> = nest
            .binders
            .iter()
            .map(|(.., atom)| match self.atom(*atom) {
                Atom::Var(var) => var,
                other => bug!("{other:?} is a sequence, which is a variable"),
            })
            .collect();
        // An index space that is there already, if one of the sequences has one.
        let known = over.iter().position(|var| self.elements_of(*var, space).is_some());
        let first = over[known.unwrap_or(0)];
        let code = FaultCode::NestLength;
        let checks: Vec<Option<Var>> =
            over.iter().map(|other| self.same_length(over[0], *other, code, space, site)).collect();
        let (inner, _) = self.elements_at(first, space, site);
        // All are as long as the first of them, and so as the one whose context it is.
        let of_first = checks[known.unwrap_or(0)];
        for ((sequence, check), (var, ..)) in over.iter().zip(&checks).zip(&nest.binders) {
            let element = self.element_in(*sequence, inner, check.or(of_first), space, site);
            self.names.insert(*var, element);
        }
        // Steps over a `Concat` are executed over the index space inside, maybe by the kernel that
        // computes the values there.
        let from = inner;
        let elements: Vec<Atom> =
            nest.binders.iter().map(|(var, ..)| self.atom(Atom::Var(*var))).collect();
        let inner = self.innermost_of(inner, &elements);
        let value = if is_scalar(&nest.body, self.scalar) || is_run(&nest.body, self.scalar) {
            self.lets(&nest.body, inner)
        } else {
            let element = binding.ty.sequence_element().clone();
            if Origins::of(&nest.body, inner, self).shares(nest.body.result) {
                // In sequential code each element would make a copy of its own.
                let value = self.lets(&nest.body, inner);
                return self.collect(binding.var, binding.ty.clone(), value, from, space, site);
            }
            let sequential = flat::Op::Sequential(self.renamed_block(&nest.body));
            let sequential = self.single(sequential, &element, inner, site);
            let flattened = self.block(&nest.body, inner);
            self.compute(flat::Op::Versions { sequential, flattened }, element, inner, site)
        };
        self.collect(binding.var, binding.ty.clone(), value, from, space, site);
    }

    /// `if cond then … else …`
    pub(super) fn conditional(
        &mut self,
        binding: &Let,
        cond: Atom,
        then: &Block,
        otherwise: &Block,
        space: SpaceId,
    ) {
        let site = binding.site;
        let cond = self.named(cond, space, site);
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

/// The origins of the values of a block that is executed for the elements of an index space.
struct Origins<'a, 'f> {
    lets: FxHashMap<Var, &'a Let>,
    /// The sequences that the nests inside run over.
    binders: FxHashMap<Var, Atom>,
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

    /// Returns true if a value is, or contains, a sequence of an index space around: the same one
    /// for many elements.
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
        let any = |atoms: Vec<Atom>| atoms.into_iter().any(|atom| self.shares(atom));
        with_stack(|| match &binding.op {
            Op::Copy(_) | Op::Pair(..) | Op::First(_) | Op::Second(_) | Op::List(_) => {
                any(binding.op.operands())
            }
            Op::Seq(SeqOp::Index, args) => self.shares(args[0]),
            // The elements are moved; only what they contain may be shared.
            Op::Seq(..) => {
                binding.ty.element().is_some_and(Ty::has_sequence) && any(binding.op.operands())
            }
            Op::If { .. } | Op::Nest(_) => {
                binding.op.blocks().any(|inside| self.shares(inside.result))
            }
            Op::Scalar(..)
            | Op::Text(_)
            | Op::Call(..)
            | Op::Global(_)
            | Op::Check { .. }
            | Op::Error(_)
            | Op::Host(..)
            | Op::Time(_) => false,
        })
    }
}

/// Returns true if a block ends in a range or a repeated scalar: flattened, these are descriptors, and
/// the elements are generated where they are used.
fn is_run(block: &Block, functions: &[bool]) -> bool {
    let Some((last, before)) = block.lets.split_last() else { return false };
    matches!(last.op, Op::Seq(SeqOp::Range | SeqOp::Dist, _))
        && !last.ty.element().is_none_or(Ty::has_sequence)
        && block.result == Atom::Var(last.var)
        && before.iter().all(|b| !b.ty.has_sequence() && is_scalar_op(b, functions))
}
