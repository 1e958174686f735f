//! Ownership of the rows that an apply-to-each goes over.
//!
//! ```text
//! v2: [[int]] = each v3: [int] in v0 {          rows v2: 0
//!   v4: [int] = replace(v3, v1, 0)         →    in place v4
//!   v4
//! }
//! ```
//!
//! If nobody reads the table besides, each iteration may overwrite its row where that lies; where the result is
//! made of the row by such updates, the table becomes the result.

use super::{Origins, Walk, add, each_use, sequences};
use crate::ir::{Let, Nest, Ty, Var};

impl<'a> Walk<'_, 'a> {
    /// The origins of the result of an apply-to-each.
    pub(super) fn nest(&mut self, binding: &'a Let, nest: &'a Nest) -> Vec<Origins> {
        let mut rows = Vec::new();
        for (number, (var, ty, of)) in nest.binders.iter().enumerate() {
            if let Some(row) = self.own_row(binding, nest, number) {
                rows.push((number, row.reads[0]));
                self.define(*var, ty, vec![row]);
                continue;
            }
            // An element lies where the sequence does, or is made by each iteration.
            let element = self.made_from(&self.atoms_read(&[*of]));
            self.define(*var, ty, vec![element; sequences(ty)]);
        }
        let origins = self.derived(binding);
        let before = self.found.in_place.len();
        self.block(&nest.body, true);
        if let Ty::Sequence(element) = &binding.ty
            && let [element] = &self.atom(nest.body.result, element)[..]
            && let Some((binder, _)) = rows.iter().find(|(_, row)| element.row == Some(*row))
            && self.found.in_place.len() > before
        {
            self.found.rows.insert(binding.var, *binder);
            let result = self.allocation();
            let of = self.atoms_read(&[nest.binders[*binder].2]);
            self.grow(&of[0], std::slice::from_ref(&result));
            return vec![result];
        }
        origins
    }

    /// Returns the origins of the row that an apply-to-each binds, if it may overwrite it where it lies: nobody
    /// reads the table besides, and the result is stored at once.
    ///
    /// The rows of a table that is owned do not overlap.
    fn own_row(&mut self, binding: &'a Let, nest: &'a Nest, binder: usize) -> Option<Origins> {
        let (_, ty, of) = &nest.binders[binder];
        let is_row = matches!(ty, Ty::Sequence(element) if !element.has_sequence());
        let table = of.variable()?;
        let is_delayed = |var| self.plan.is_fused(var) || self.plan.sort_of(var).is_some();
        // The result of a block is stored where that ends, and nothing reads it before.
        let is_result = self.scopes.last().is_some_and(|scope| {
            scope.uses.get(&binding.var).is_some_and(|uses| uses[..] == [scope.block.lets.len()])
        });
        let is_stored = is_result || !is_delayed(binding.var);
        if !is_row || binding.ty.element() != Some(ty) || is_delayed(table) || !is_stored {
            return None;
        }
        let origins = self.variables.get(&table)?.0[0].clone();
        let own = origins.own.as_ref().filter(|_| !self.is_taken(&origins))?;
        let others = nest.binders.iter().enumerate().filter(|(number, _)| *number != binder);
        let mut used: Vec<Var> = others.filter_map(|(_, (.., other))| other.variable()).collect();
        nest.body.lets.iter().for_each(|inner| each_use(inner, &mut |var, _| used.push(var)));
        used.extend(nest.body.result.variable());
        let reads = |var: &Var| self.variables.get(var).into_iter().flat_map(|(all, _)| all);
        if !self.is_free(&origins, used.iter().flat_map(reads)) {
            return None;
        }
        let mut views = own.clone();
        add(&mut views, &origins.views);
        self.depth += 1;
        let place = self.allocation();
        self.depth -= 1;
        Some(Origins { row: Some(place.reads[0]), views, ..place })
    }
}

/// Notes that what an update makes of a row lies where that does.
pub(super) fn lies_where(of: &Origins, result: &mut [Origins]) {
    for origins in result {
        add(&mut origins.reads, &of.reads);
        add(&mut origins.views, &of.views);
        if let (Some(to), Some(own)) = (&mut origins.own, &of.own) {
            add(to, own);
        }
        origins.row = of.row;
    }
}
