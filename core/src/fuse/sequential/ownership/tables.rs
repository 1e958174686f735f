//! Ownership of sequences of sequences, *tables*, and of the rows that are taken out of them.
//!
//! ```text
//! v3: [int] = index(v0, v1)             take v3
//! v4: [int] = replace(v3, x, j)    →    in place v4
//! v5: [[int]] = replace(v0, v4, v1)     in place v5, keep v5: 0
//! ```
//!
//! A row that is taken out of a table lies in the table's pool. It may be overwritten there if nobody
//! reads the table afterwards, but for the one update that puts a row back at the same index: what was
//! there before is lost with that update in any case. Elements are appended to it behind its last, if its place
//! has room for them.

use super::rows::lies_where;
use super::{Kept, Origins, Set, Walk, add, each_sequence, sequences};
use crate::ir::{Atom, Let, Op, Ty, Var};
use crate::prim::SeqOp;

/// A sequence of a row that is taken out of a table.
#[derive(Clone, Debug)]
pub(super) struct Taken {
    /// The table, and the index of the row.
    table: Var,
    index: Atom,
    /// The variable that the row is bound to.
    row: Var,
    /// The number of the sequence among those of the row.
    part: usize,
    /// The updates that change it where it lies.
    changes: Vec<Var>,
    /// The allocations that the table may lie in.
    pub(super) lies_in: Set,
}

impl<'a> Walk<'_, 'a> {
    /// The origins of what is taken out of a sequence: a view of its pool, which does not read the
    /// descriptors. If the sequence is not in memory, the element lies where each iteration makes it.
    pub(super) fn index(&mut self, binding: &'a Let, args: &'a [Atom]) -> Vec<Origins> {
        let count = sequences(&binding.ty);
        let is_delayed = |var| self.plan.is_fused(var) || self.plan.sort_of(var).is_some();
        let table = args[0].variable().filter(|var| !is_delayed(*var) && !is_delayed(binding.var));
        let known = table.and_then(|table| self.variables.get(&table).map(|known| (table, known)));
        let Some((table, (all, _))) = known else {
            return vec![self.made_from(&self.atoms_read(args)); count];
        };
        let mut views = Set::new();
        for origins in all {
            add(&mut views, &origins.reads);
            add(&mut views, &origins.views);
        }
        let lies_in = all[0].own.clone().filter(|_| !self.is_taken(&all[0]));
        let mut flat = Vec::new();
        each_sequence(&binding.ty, &mut |element| flat.push(!element.has_sequence()));
        let mut result = Vec::new();
        for (part, is_flat) in flat.into_iter().enumerate() {
            let own = lies_in.clone().filter(|_| is_flat);
            let mut origins = match own {
                Some(lies_in) => {
                    let place = self.allocation();
                    let number = place.reads[0];
                    let (index, row) = (args[1], binding.var);
                    let changes = Vec::new();
                    let taken = Taken { table, index, row, part, changes, lies_in };
                    self.taken.insert(number, taken);
                    Origins { row: Some(number), ..place }
                }
                None => Origins::default(),
            };
            add(&mut origins.views, &views);
            result.push(origins);
        }
        result
    }

    /// Returns true if a sequence may lie in a table that it was taken out of.
    pub(super) fn is_taken(&self, origins: &Origins) -> bool {
        let mut own = origins.own.iter().flatten();
        own.any(|allocation| self.taken.contains_key(allocation))
    }

    /// Returns true if the places in tables that a sequence may lie in may be overwritten, by an
    /// operation whose other operands are given.
    pub(super) fn may_change_taken(&self, of: &Origins, others: &[Origins]) -> bool {
        let taken = of.own.iter().flatten().filter_map(|own| self.taken.get(own));
        taken.into_iter().all(|taken| {
            self.is_only_put_back(taken)
                && others.iter().all(|other| other.is_apart_from(&taken.lies_in))
                && taken.lies_in.iter().all(|allocation| {
                    let at = *allocation as usize;
                    let reads =
                        |reader: &(Var, usize)| reader.0 != taken.table && self.is_live(*reader);
                    let views = |viewer: &(Var, usize)| {
                        !self.is_another_part(*viewer, taken) && self.is_live(*viewer)
                    };
                    self.depths[at] == self.depth
                        && !self.readers[at].iter().any(reads)
                        && !self.viewers[at].iter().any(views)
                })
        })
    }

    /// Returns true if a variable's sequence is another sequence of the same row: it lies in another
    /// pool.
    fn is_another_part(&self, (var, number): (Var, usize), taken: &Taken) -> bool {
        let row = self.variables.get(&var).and_then(|(all, _)| all[number].row);
        let other = row.and_then(|row| self.taken.get(&row));
        other.is_some_and(|other| other.row == taken.row && other.part != taken.part)
    }

    /// Returns true if the table that a row was taken out of is not used after the binding at hand,
    /// except to put a row back there.
    fn is_only_put_back(&self, taken: &Taken) -> bool {
        let mut later = Vec::new();
        for scope in &self.scopes {
            let uses = scope.uses.get(&taken.table).into_iter().flatten();
            later.extend(
                uses.filter(|at| **at > scope.position).map(|at| scope.block.lets.get(*at)),
            );
        }
        let puts_back = |binding: &Let| match &binding.op {
            Op::Seq(SeqOp::Replace, args) => {
                let table = Atom::Var(taken.table);
                args[0] == table && args[1] != table && args[2] == taken.index
            }
            _ => false,
        };
        match later[..] {
            [] => true,
            [at] => at.is_some_and(puts_back),
            _ => false,
        }
    }

    /// Notes that an update overwrites a taken row in its place; the result lies there, too. `grows` says that
    /// it may be longer then.
    pub(super) fn change_taken(
        &mut self,
        update: Var,
        of: &Origins,
        result: &mut [Origins],
        grows: bool,
    ) {
        for own in of.own.iter().flatten() {
            if let Some(taken) = self.taken.get_mut(own) {
                self.found.takes.insert(taken.row);
                taken.changes.push(update);
                if grows {
                    self.found.grows.insert(taken.row);
                    self.found.grows.extend(&taken.changes);
                }
            }
        }
        lies_where(of, result);
        for origins in result {
            origins.has_grown = grows;
        }
    }

    /// Finds out what an update of a table may overwrite. The rows are copied into the table, so that
    /// the result reads nothing but itself; except for an append that is not done in place.
    pub(super) fn update_table(
        &mut self,
        binding: &'a Let,
        op: SeqOp,
        args: &'a [Atom],
    ) -> Vec<Origins> {
        if op == SeqOp::Replace
            && let Some(result) = self.exchange(binding, args)
        {
            return result;
        }
        let mut result = self.allocation();
        let table = args[0].variable().and_then(|var| Some((var, self.variables.get(&var)?)));
        let Some((table, of)) = table.map(|(table, (all, _))| (table, all[0].clone())) else {
            return if op == SeqOp::Append { self.derived(binding) } else { vec![result] };
        };
        let mut others = self.atoms_read(&args[1..]);
        if op == SeqOp::Replace
            && let Some(Ty::Pair(..) | Ty::Sequence(_)) = binding.ty.element()
        {
            let kept: Vec<Kept> = others
                .iter()
                .enumerate()
                .map(|(part, origins)| {
                    let taken = origins.row.and_then(|row| self.taken.get(&row));
                    let lies_there = taken.is_some_and(|taken| {
                        taken.table == table && taken.index == args[2] && taken.part == part
                    });
                    match (lies_there, origins.has_grown) {
                        (false, _) => Kept::No,
                        (true, false) => Kept::Same,
                        (true, true) => Kept::Grown,
                    }
                })
                .collect();
            if kept.iter().any(|kept| *kept != Kept::No) {
                let mut moved = kept.iter();
                others.retain(|_| moved.next() == Some(&Kept::No));
                if kept.contains(&Kept::Grown) {
                    self.found.grows.insert(binding.var);
                }
                self.found.kept.insert(binding.var, kept);
            }
        }
        let own = of.own.as_ref().filter(|_| !self.is_taken(&of));
        let own = own.filter(|own| self.descriptors_are_free(own)).cloned();
        if own.is_none() && op == SeqOp::Append {
            // The rows of both are viewed where they lie, if that is one pool.
            return self.derived(binding);
        }
        if let Some(own) = own {
            self.found.in_place.insert(binding.var);
            self.grow(&of, std::slice::from_ref(&result));
            if op == SeqOp::Replace {
                self.same_length(binding, args, &own);
            }
            let viewed = own.iter().any(|allocation| {
                self.viewers[*allocation as usize].iter().any(|viewer| self.is_live(*viewer))
            });
            // What is not in memory yet is computed before it is stored.
            let overlaps = |other: &&Origins| !other.delayed && !other.is_apart_from(&own);
            let mut overlapping = others.iter().filter(overlaps).peekable();
            let overlaps = overlapping.peek().is_some();
            // A whole row of scalars of the table lies apart from the place that it is put to, or is the row there. What
            // else lies in its pool, such as a part of `flatten(table)`, may reach into that place.
            let is_flat = |ty: &Ty| matches!(ty, Ty::Sequence(element) if !element.has_sequence());
            let is_row = |other: &Origins| {
                let taken = other.row.and_then(|row| self.taken.get(&row));
                taken.is_some_and(|taken| taken.lies_in == own)
            };
            let may_move = op == SeqOp::Replace
                && binding.ty.element().is_some_and(is_flat)
                && overlapping.all(is_row);
            if viewed || op == SeqOp::Append || overlaps && !may_move {
                if op != SeqOp::Append {
                    self.found.moves.insert(binding.var);
                    self.found.placed.remove(&binding.var);
                }
                // Views of its rows stay what they are, and look into what is now the result's.
                add(&mut result.reads, &own);
                if let Some(to) = &mut result.own {
                    add(to, &own);
                }
            }
        }
        vec![result]
    }

    /// Returns true if the descriptors of a table that lies in some allocations may be overwritten.
    pub(super) fn descriptors_are_free(&self, own: &[u32]) -> bool {
        own.iter().all(|allocation| {
            let at = *allocation as usize;
            self.depths[at] == self.depth
                && !self.readers[at].iter().any(|reader| self.is_live(*reader))
        })
    }
}
