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
//!
//! ```text
//! fn "f"(v0: [[float]], v1: int) -> [[float]] {
//!   …
//!   v2: [float] = index(v0, v1)
//!   v3: [[float]] = each v4: [float] in v0 {               copy v3: v2, rows v3: 0
//!     v7: [float] = each v5: float in v4, v6 in v2 {  →    in place v7, elements v7: 0
//!       sub(v5, v6)
//!     }
//!     v7
//!   }
//!   … call "f"(v3, …)
//! ```
//!
//! In a loop that gives the table to itself, the row may also be overwritten element by element. Sequences of scalars
//! that lie in the table, or are computed from it when they are read, such as the pivot of an elimination, are copied
//! before the apply-to-each; in its body, and nowhere else, their names stand for the copies.

use super::{Origins, Walk, add, each_use, sequences};
use crate::ir::{Atom, Let, Nest, Ty, Var};

impl<'a> Walk<'_, 'a> {
    /// The origins of the result of an apply-to-each.
    pub(super) fn nest(&mut self, binding: &'a Let, nest: &'a Nest) -> Vec<Origins> {
        let mut rows = Vec::new();
        let mut copies = Vec::new();
        for (number, (var, ty, of)) in nest.binders.iter().enumerate() {
            if let Some(row) = self.own_row(binding, nest, number, &mut copies) {
                rows.push((number, row.reads[0]));
                self.define(*var, ty, vec![row]);
                continue;
            }
            // An element lies where the sequence does, or is made by each iteration.
            let element = self.made_from(&self.atoms_read(&[*of]));
            self.define(*var, ty, vec![element; sequences(ty)]);
        }
        let elements = self.own_elements(binding, nest);
        let origins = self.derived(binding);
        let before = self.found.in_place.len();
        // In the body, what is copied is another array; what stands beside the nest reads the table as before.
        let mut originals = Vec::new();
        for copy in &copies {
            let made = self.allocation();
            if let Some((all, _)) = self.variables.get_mut(copy) {
                originals.push((*copy, std::mem::replace(all, vec![made])));
            }
        }
        self.block(&nest.body, true);
        for (copy, original) in originals {
            if let Some((all, _)) = self.variables.get_mut(&copy) {
                *all = original;
            }
        }
        if let Some((binder, of)) = elements {
            let mut result = origins;
            self.found.in_place.insert(binding.var);
            self.found.elements.insert(binding.var, binder);
            lies_where(&of, &mut result);
            return result;
        }
        if let Ty::Sequence(element) = &binding.ty
            && let [element] = &self.atom(nest.body.result, element)[..]
            && let Some((binder, _)) = rows.iter().find(|(_, row)| element.row == Some(*row))
            && self.found.in_place.len() > before
        {
            self.found.rows.insert(binding.var, *binder);
            self.found.copies.insert(binding.var, copies);
            let result = self.allocation();
            let of = self.atoms_read(&[nest.binders[*binder].2]);
            self.grow(&of[0], std::slice::from_ref(&result));
            return vec![result];
        }
        origins
    }

    /// Returns the number of the binder of an apply-to-each in whose row its elements may be stored, with the origins of
    /// the row.
    fn own_elements(&self, binding: &'a Let, nest: &'a Nest) -> Option<(usize, Origins)> {
        if !self.is_stored_at_once(binding) {
            return None;
        }
        nest.binders.iter().enumerate().find_map(|(number, (_, ty, of))| {
            let known = of.variable().and_then(|var| self.variables.get(&var));
            let (all, _) = known.filter(|_| binding.ty.element() == Some(ty))?;
            let of = &all[0];
            if !of.row.is_some_and(|row| self.changeable.contains(&row)) {
                return None;
            }
            let used = self.used_besides(nest, number);
            let read = used.iter().filter_map(|var| self.variables.get(var));
            let others = read.flat_map(|(all, _)| all);
            self.is_free(of, others).then(|| (number, of.clone()))
        })
    }

    /// The variables that an apply-to-each uses besides what one binder runs over.
    fn used_besides(&self, nest: &'a Nest, binder: usize) -> Vec<Var> {
        let others = nest.binders.iter().enumerate().filter(|(number, _)| *number != binder);
        let mut used: Vec<Var> = others.filter_map(|(_, (.., other))| other.variable()).collect();
        nest.body.lets.iter().for_each(|inner| each_use(inner, &mut |var, _| used.push(var)));
        used.extend(nest.body.result.variable());
        used
    }

    /// Returns true if the result of an apply-to-each is stored where it stands.
    fn is_stored_at_once(&self, binding: &'a Let) -> bool {
        // The result of a block is stored where that ends, and nothing reads it before.
        let is_result = self.scopes.last().is_some_and(|scope| {
            scope.uses.get(&binding.var).is_some_and(|uses| uses[..] == [scope.block.lets.len()])
        });
        is_result || !self.is_delayed(binding.var)
    }

    pub(super) fn is_delayed(&self, var: Var) -> bool {
        self.plan.is_fused(var) || self.plan.sort_of(var).is_some()
    }

    /// Returns the origins of the row that an apply-to-each binds, if it may overwrite it where it lies: nobody
    /// reads the table besides, and the result is stored at once.
    ///
    /// The rows of a table that is owned do not overlap. Sequences of scalars that read the table in the body, and not
    /// afterwards, are added to the `copies` if the function gives the result to itself.
    fn own_row(
        &mut self,
        binding: &'a Let,
        nest: &'a Nest,
        binder: usize,
        copies: &mut Vec<Var>,
    ) -> Option<Origins> {
        let (_, ty, of) = &nest.binders[binder];
        let is_flat = |ty: &Ty| matches!(ty, Ty::Sequence(element) if !element.has_sequence());
        let table = of.variable()?;
        if !is_flat(ty)
            || binding.ty.element() != Some(ty)
            || self.is_delayed(table)
            || !self.is_stored_at_once(binding)
        {
            return None;
        }
        let origins = self.variables.get(&table)?.0[0].clone();
        let own = origins.own.as_ref().filter(|_| !self.is_taken(&origins))?;
        // A table that the function was given, or one made of that: it is owned from the second call on.
        let is_given = self.given_to_itself.contains(&binding.var)
            && own.iter().all(|allocation| self.grown.contains(allocation));
        let mut copied = Vec::new();
        let mut others = Vec::new();
        for var in self.used_besides(nest, binder) {
            let Some((all, ty)) = self.variables.get(&var) else { continue };
            let is_source = nest.binders.iter().any(|(.., of)| *of == Atom::Var(var));
            if is_given && !is_source && is_flat(ty) && !all[0].is_apart_from(own) {
                if !copied.contains(&var) && !copies.contains(&var) {
                    copied.push(var);
                }
            } else {
                others.extend(all);
            }
        }
        if !self.is_free(&origins, others.into_iter()) {
            return None;
        }
        copies.extend(copied);
        let mut views = own.clone();
        add(&mut views, &origins.views);
        self.depth += 1;
        let place = self.allocation();
        self.depth -= 1;
        if is_given {
            self.changeable.insert(place.reads[0]);
        }
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
