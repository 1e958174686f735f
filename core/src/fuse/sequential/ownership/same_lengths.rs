//! Rows that are as long as those that they are put over.
//!
//! ```text
//! v3: [float] = index(v0, v1)
//! v4: [float] = each v5 in v3 { … }
//! v6: [[float]] = replace(v0, v4, v1)     →     same length v6
//! ```
//!
//! A map of a row has its length. If it is put over that row, it fits: the table need not grow, its descriptors stay what
//! they are, and so do the lengths of the rows of `v6`.

use super::super::placed_rows::is_plain;
use super::{Origins, Walk};
use crate::ir::{Atom, Let, Nest, Op, Ty, Var};
use crate::prim::SeqOp;

impl<'a> Walk<'_, 'a> {
    /// Notes if the row that an update puts into a table is as long as the one that is there, and if it is computed from
    /// that one element by element. The arrays of the table lie in the allocations `own`.
    pub(super) fn same_length(&mut self, binding: &'a Let, args: &'a [Atom], own: &[u32]) {
        let is_flat = |ty: &Ty| matches!(ty, Ty::Sequence(element) if !element.has_sequence());
        if !binding.ty.element().is_some_and(is_flat) {
            return;
        }
        let Some(row) = args[1].variable() else { return };
        let Some(Op::Nest(nest)) = self.op_of(row) else { return };
        let Some(table) = args[0].variable() else { return };
        let first = self.first_of(table);
        let is_old = |of: &Atom| {
            let Some(Op::Seq(SeqOp::Index, from)) = of.variable().and_then(|of| self.op_of(of))
            else {
                return false;
            };
            from[1] == args[2] && from[0].variable().is_some_and(|of| self.first_of(of) == first)
        };
        if !nest.binders.iter().any(|(.., of)| is_old(of)) {
            return;
        }
        let is_placed = self.plan.is_fused(row) && self.is_by_elements(nest, own);
        self.first_versions.insert(binding.var, first);
        self.found.same_lengths.insert(binding.var);
        if is_placed {
            self.found.placed.insert(binding.var);
        }
    }

    /// Returns true if an apply-to-each reads nothing of what lies in some allocations but the elements of whole rows, each
    /// where its own element lies.
    fn is_by_elements(&self, nest: &'a Nest, own: &[u32]) -> bool {
        let is_row = |origins: &Origins| {
            let taken = origins.row.and_then(|row| self.taken.get(&row));
            taken.is_some_and(|taken| taken.lies_in[..] == *own)
        };
        is_plain(nest)
            && nest.binders.iter().all(|(.., of)| {
                let known = of.variable().and_then(|of| self.variables.get(&of));
                let mut all = known.into_iter().flat_map(|(all, _)| all);
                all.all(|origins| is_row(origins) || origins.is_apart_from(own))
            })
    }

    /// Returns the table that a table became by updates that keep the lengths of its rows.
    fn first_of(&self, table: Var) -> Var {
        self.first_versions.get(&table).copied().unwrap_or(table)
    }

    /// Returns the operation that binds a variable in this block or one around.
    fn op_of(&self, var: Var) -> Option<&'a Op> {
        let mut lets = self.scopes.iter().rev().flat_map(|scope| &scope.block.lets);
        lets.find(|binding| binding.var == var).map(|binding| &binding.op)
    }
}
