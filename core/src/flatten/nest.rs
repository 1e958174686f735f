//! Apply-to-each and conditionals.

use super::Flattener;
use super::scalar::is_scalar;
use crate::flat::{self, Ctx, Space};
use crate::ir::{Atom, Block, Let, Nest, Var};
use nesl_runtime::fault::FaultCode;

impl Flattener<'_> {
    /// `{ body : x in xs; y in ys }`
    pub(super) fn nest(&mut self, binding: &Let, nest: &Nest, ctx: Ctx) {
        let site = binding.site;
        let over: Vec<Var> = nest
            .binders
            .iter()
            .map(|(.., atom)| match self.atom(*atom) {
                Atom::Var(var) => var,
                other => unreachable!("{other:?} is no sequence"),
            })
            .collect();
        // A context that is there already, if one of the sequences has one.
        let known = over.iter().position(|var| self.elements.contains_key(&(*var, ctx)));
        let first = over[known.unwrap_or(0)];
        let code = FaultCode::NestLength;
        let checks: Vec<Option<Var>> =
            over.iter().map(|other| self.same_length(over[0], *other, code, ctx, site)).collect();
        let (inner, _) = self.elements_at(first, ctx, site);
        // All are as long as the first of them, and so as the one whose context it is.
        let of_first = checks[known.unwrap_or(0)];
        for ((sequence, check), (var, ..)) in over.iter().zip(&checks).zip(&nest.binders) {
            let element = self.element_in(*sequence, inner, check.or(of_first), ctx, site);
            self.names.insert(*var, element);
        }
        let value = if is_scalar(&nest.body, self.scalar) {
            self.lets(&nest.body, inner)
        } else {
            let element = binding.ty.element().expect("types were checked").clone();
            let whole = flat::Op::Whole(self.renamed_block(&nest.body));
            let whole = self.single(whole, &element, inner, site);
            let flat = self.block(&nest.body, inner);
            self.compute(flat::Op::Either { whole, flat }, element, inner, site)
        };
        self.collect(binding.var, binding.ty.clone(), value, inner, ctx, site);
    }

    /// `if cond then … else …`
    pub(super) fn conditional(
        &mut self,
        binding: &Let,
        cond: Atom,
        then: &Block,
        otherwise: &Block,
        ctx: Ctx,
    ) {
        let site = binding.site;
        let cond = self.named(cond, ctx, site);
        let [then, otherwise] = [(then, true), (otherwise, false)].map(|(block, is)| {
            let inner = Ctx(self.contexts.len() as u32);
            let space = Space::Where { of: ctx, flag: cond, is };
            self.contexts.push(flat::Context { space, site });
            let block = self.block(block, inner);
            (inner, block)
        });
        let op = flat::Op::Branch { cond, then, otherwise };
        self.define(binding.var, op, binding.ty.clone(), ctx, site);
    }
}
