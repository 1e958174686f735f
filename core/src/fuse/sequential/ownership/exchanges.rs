//! Exchanges of two rows of a table.
//!
//! ```text
//! v3: [int] = index(v0, v1)
//! v4: [int] = index(v0, v2)
//! v5: [[int]] = replace(v0, v3, v2)     →    exchange v5: v1
//! v6: [[int]] = replace(v5, v4, v1)          done v6
//! ```
//!
//! The table is the same but for the places of the two rows, which are exchanged with the first update. The second has
//! nothing left to do. Both rows were read before, so that both indices are in bounds; if they are equal, nothing changes.
//! The result of the first update has no use but the second. The table `v0` may have others: then it is copied, as by any
//! update. Elimination with pivots exchanges rows so, and a sort of rows by insertion.

use super::{Exchange, Origins, Walk, add};
use crate::ir::{Atom, Let, Op, Var};
use crate::prim::SeqOp;

impl<'a> Walk<'_, 'a> {
    /// Notes an update of a table that exchanges two rows, or the second one of an exchange, and returns the origins of the
    /// table that it makes.
    pub(super) fn exchange(&mut self, binding: &'a Let, args: &'a [Atom]) -> Option<Vec<Origins>> {
        let table = args[0].variable()?;
        if self.found.exchanges.get(&binding.var) == Some(&Exchange::Done) {
            return Some(self.atom(args[0], &binding.ty));
        }
        let (second, other) = self.second_update(binding, args)?;
        let of = self.variables.get(&table)?.0[0].clone();
        let own = of.own.as_ref().filter(|_| !self.is_taken(&of));
        let is_free = own.is_some_and(|own| self.descriptors_are_free(own));
        let mut result = self.allocation();
        if let Some(own) = own.filter(|_| is_free) {
            self.found.in_place.insert(binding.var);
            self.grow(&of, std::slice::from_ref(&result));
            // The rows lie where they did.
            add(&mut result.reads, own);
            if let Some(to) = &mut result.own {
                add(to, own);
            }
        }
        self.found.exchanges.insert(binding.var, Exchange::With(other));
        self.found.exchanges.insert(second, Exchange::Done);
        Some(vec![result])
    }

    /// Returns the update that completes the exchange which an update of a table begins, with the index that the row
    /// which this one puts there was taken from. Nothing else uses its result.
    fn second_update(&self, first: &'a Let, args: &'a [Atom]) -> Option<(Var, Atom)> {
        let other = self.index_of_row(args[1], args[0])?;
        let scope = self.scopes.last()?;
        let [at] = scope.uses.get(&first.var)?[..] else { return None };
        let second = scope.block.lets.get(at)?;
        let Op::Seq(SeqOp::Replace, puts) = &second.op else { return None };
        let is_of_first = puts[0] == Atom::Var(first.var) && puts[2] == other;
        let completes = is_of_first && self.index_of_row(puts[1], args[0]) == Some(args[2]);
        (completes && other != args[2]).then_some((second.var, other))
    }

    /// Returns the index of a row that was taken out of a table in this block or one around.
    fn index_of_row(&self, row: Atom, table: Atom) -> Option<Atom> {
        let row = row.variable().filter(|row| !self.is_delayed(*row))?;
        let mut lets = self.scopes.iter().flat_map(|scope| &scope.block.lets);
        match &lets.find(|binding| binding.var == row)?.op {
            Op::Seq(SeqOp::Index, args) if args[0] == table => Some(args[1]),
            _ => None,
        }
    }
}
