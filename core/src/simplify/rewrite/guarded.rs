//! Lists of which conditions say what elements they have: `if c then [x] else []`, and what is appended to it.
//!
//! ```text
//! v5: [int] = if v1 { [v2] } else { [] }              v5: int = if v1 { v2 } else { 0 }
//! v8: [int] = if v6 { [v7] } else { [] }       →      v8: int = if v6 { v7 } else { 0 }
//! v9: [int] = append(v5, v8)                          v9: int = if v1 { v5 } else { 0 }
//! v10: int = reduce_sum(v9)                           v10: int = if v6 { add(v9, v8) } else { v9 }
//! ```
//!
//! Each place of such a list has a flag and a value. Maps, reductions and lengths need no more; what needs the sequence
//! packs the values. A `flatten` of an apply-to-each that gives such lists, which is how programs write filters with more
//! than a condition, is a filter.

use super::{Env, Known, Rewriter};
use crate::base::with_stack;
use crate::ir::{Atom, Block, FunctionBuilder, Let, Nest, Op, Site, Ty, Var};
use crate::prim::{ReduceOp, SeqOp};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::scalar::ScalarOp;
use rustc_hash::FxHashMap;

/// A place of a list: the flag that says if the element is there, and its value.
pub(in super::super) type Slot = (Atom, Atom);

const ALWAYS: Atom = Atom::Bool(true);
const NEVER: Atom = Atom::Bool(false);

impl Rewriter<'_> {
    /// Returns the places of a short list whose elements contain no sequences.
    pub(super) fn slots(&self, list: Atom) -> Option<Vec<Slot>> {
        let slots: Vec<Slot> = match self.known.get(&list.variable()?)? {
            Known::List(elements) => elements.iter().map(|element| (ALWAYS, *element)).collect(),
            Known::Guarded(slots) => slots.clone(),
            _ => return None,
        };
        let ty = self.builder.type_of(&list);
        let flat = ty.element().is_some_and(|element| !element.has_sequence());
        (flat && slots.len() <= self.limits.max_short_list_elements).then_some(slots)
    }

    /// Returns true if conditions say what elements a list has.
    pub(super) fn is_guarded(&self, list: Atom) -> bool {
        let known = list.variable().and_then(|var| self.known.get(&var));
        matches!(known, Some(Known::Guarded(_)))
    }

    /// Binds the list with some places.
    pub(super) fn of_slots(&mut self, slots: Vec<Slot>, ty: &Ty, site: Site) -> Atom {
        let (flags, values) = slots.iter().copied().unzip();
        let values = self.builder.bind(ty.clone(), Op::List(values), site);
        let flags = self.builder.bind(Ty::sequence(Ty::Bool), Op::List(flags), site);
        let op = Op::Seq(SeqOp::Pack, vec![values, flags]);
        let list = self.builder.bind(ty.clone(), op, site);
        self.known_to_succeed.extend(list.variable());
        self.remember(list, Known::Guarded(slots));
        list
    }

    /// Binds a conditional between two lists with these places: a choice between the values of each place.
    pub(super) fn choice_of_slots(
        &mut self,
        cond: Atom,
        mut sides: [Block; 2],
        slots: [Vec<Slot>; 2],
        ty: &Ty,
        site: Site,
    ) -> Atom {
        let element = ty.sequence_element();
        let count = slots[0].len().max(slots[1].len());
        let flag = |side: &[Slot], at: usize| side.get(at).map_or(NEVER, |slot| slot.0);
        let flags: Vec<[Atom; 2]> =
            (0..count).map(|at| [flag(&slots[0], at), flag(&slots[1], at)]).collect();
        let is_known = |flags: &[Atom; 2]| flags.iter().all(|flag| flag.variable().is_none());
        for (number, side) in sides.iter_mut().enumerate() {
            self.builder.begin();
            let mut passed = Vec::new();
            for (at, flags) in flags.iter().enumerate() {
                if !is_known(flags) {
                    passed.push(flags[number]);
                }
                let value = slots[number].get(at).map(|slot| slot.1);
                passed.push(value.unwrap_or_else(|| self.builder.nothing(element, site)));
            }
            let tuple = self.builder.tuple(passed, site);
            let block = self.builder.end(tuple);
            side.lets.extend(block.lets);
            side.result = block.result;
        }
        let mut types = Vec::new();
        for flags in &flags {
            types.extend((!is_known(flags)).then_some(Ty::Bool));
            types.push(element.clone());
        }
        let [then, otherwise] = sides;
        let op = Op::If { cond, then, otherwise };
        let tuple = self.builder.bind(Ty::tuple(types.iter().cloned()), op, site);
        let mut values = self.components(tuple, &types, site).into_iter();
        let mut chosen = Vec::new();
        for flags in &flags {
            let flag = match flags {
                [Atom::Bool(then), Atom::Bool(otherwise)] => match (then, otherwise) {
                    (true, true) => ALWAYS,
                    (true, false) => cond,
                    (false, true) => self.scalar(ScalarOp::Not, vec![cond], &Ty::Bool, site),
                    (false, false) => NEVER,
                },
                _ => values.next().unwrap_or(NEVER),
            };
            chosen.push((flag, values.next().unwrap_or(Atom::Unit)));
        }
        self.note_change();
        self.of_slots(chosen, ty, site)
    }

    /// Writes an apply-to-each over a list with places, if its body is a few scalar operations. What may fault is
    /// computed only for elements that are there.
    pub(super) fn each_slot(
        &mut self,
        nest: &Nest,
        ty: &Ty,
        site: Site,
        env: &mut Env,
    ) -> Option<Atom> {
        let [(var, _, list)] = &nest.binders[..] else { return None };
        let list = env.atom(*list);
        let slots = self.slots(list).filter(|_| self.is_guarded(list))?;
        let element = ty.sequence_element();
        if element.has_sequence() {
            return None;
        }
        self.builder.begin();
        self.scopes.push(FxHashMap::default());
        let mut results = Vec::new();
        for (flag, value) in slots {
            env.atoms.insert(*var, value);
            let then = self.inner(&nest.body, env);
            if flag == ALWAYS || !then.may_fault() {
                then.lets.into_iter().for_each(|binding| self.builder.keep(binding));
                results.push((flag, then.result));
                continue;
            }
            self.builder.begin();
            let nothing = self.builder.nothing(element, site);
            let otherwise = self.builder.end(nothing);
            let op = Op::If { cond: flag, then, otherwise };
            results.push((flag, self.builder.bind(element.clone(), op, site)));
        }
        self.scopes.pop();
        let block = self.builder.end(Atom::Unit);
        self.is_few(&block).then(|| {
            block.lets.into_iter().for_each(|binding| self.builder.keep(binding));
            self.of_slots(results, ty, site)
        })
    }

    /// Reduces the elements of a list with places that are there.
    pub(super) fn reduced_slots(
        &mut self,
        with: ReduceOp,
        slots: Vec<Slot>,
        ty: &Ty,
        site: Site,
    ) -> Option<Atom> {
        let (op, neutral) = match (with, ty) {
            (ReduceOp::Sum, Ty::Int) => (ScalarOp::Add, Atom::Int(0)),
            (ReduceOp::Sum, Ty::Float) => (ScalarOp::Add, Atom::Float(0.0)),
            (ReduceOp::Product, Ty::Int) => (ScalarOp::Mul, Atom::Int(1)),
            (ReduceOp::Product, Ty::Float) => (ScalarOp::Mul, Atom::Float(1.0)),
            (ReduceOp::And, Ty::Bool) => (ScalarOp::And, ALWAYS),
            (ReduceOp::Or, Ty::Bool) => (ScalarOp::Or, NEVER),
            _ => return None,
        };
        self.note_change();
        let mut sum = neutral;
        for (flag, value) in slots {
            sum = self
                .if_there(flag, sum, ty, site, |r, sum| r.scalar(op, vec![sum, value], ty, site));
        }
        Some(sum)
    }

    /// Counts the elements of a list with places.
    pub(super) fn counted_slots(&mut self, slots: Vec<Slot>, site: Site) -> Atom {
        let mut count = Atom::Int(0);
        for (flag, _) in slots {
            count = self.if_there(flag, count, &Ty::Int, site, |r, count| {
                r.scalar(ScalarOp::Add, vec![count, Atom::Int(1)], &Ty::Int, site)
            });
        }
        count
    }

    /// Binds the next value of a reduction, which is the old one if an element is not there.
    fn if_there(
        &mut self,
        flag: Atom,
        old: Atom,
        ty: &Ty,
        site: Site,
        next: impl FnOnce(&mut Self, Atom) -> Atom,
    ) -> Atom {
        match flag {
            ALWAYS => next(self, old),
            NEVER => old,
            flag => {
                self.builder.begin();
                self.scopes.push(FxHashMap::default());
                let new = next(self, old);
                self.scopes.pop();
                let then = self.builder.end(new);
                let otherwise = Block { lets: Vec::new(), result: old };
                self.builder.bind(ty.clone(), Op::If { cond: flag, then, otherwise }, site)
            }
        }
    }

    /// Binds what `flatten` makes of an apply-to-each whose body gives a short list of which conditions say what is there, or
    /// a list of one element: the values that are there. The binders and the body are those of the new function.
    ///
    /// Longer lists that are always the same length are left alone: their elements are stored one list behind the other by the
    /// loop that computes them.
    pub(super) fn flat_rows(
        &mut self,
        mut nest: Nest,
        rows: &Ty,
        site: Site,
    ) -> Result<Atom, Nest> {
        let slots = self.slots(nest.body.result).filter(|slots| !slots.is_empty());
        let Some(slots) = slots else { return Err(nest) };
        let element = rows.sequence_element().sequence_element().clone();
        let has_flags = slots.iter().any(|(flag, _)| *flag != ALWAYS);
        if !has_flags && slots.len() > 1 {
            return Err(nest);
        }
        self.note_change();
        let b = &mut self.builder;
        let count = slots.len() as i64;
        let (flags, values): (Vec<Atom>, Vec<Atom>) = slots.into_iter().unzip();
        let columns = Columns::of(&values, &nest.body.lets);
        let values = match count == 1 || columns.is_constant() {
            true => Columns::Each(values),
            false => columns,
        };
        let columns = match has_flags {
            true => Columns::Pair(Box::new((Columns::Each(flags), values))),
            // A list of one element: the element.
            false => values,
        };
        let mut stored = Vec::new();
        columns.each_stored(&mut |atom| stored.push(atom));
        let stored_columns = stored.len();
        let block = b.block(|b| b.tuple(stored, site));
        nest.body.lets.extend(block.lets);
        nest.body.result = block.result;
        let ty = Ty::sequence(b.type_of(&block.result));
        let tuples = b.bind(ty, Op::Nest(nest), site);
        let all = self.interleaved(tuples, &columns, stored_columns, count, site);
        if !has_flags {
            return Ok(all);
        }
        let b = &mut self.builder;
        let flags =
            b.nest(&[all], false, site, |b, pair| b.bind(Ty::Bool, Op::First(pair[0]), site));
        let kept = b.seq(SeqOp::Pack, vec![all, flags], site);
        Ok(b.nest(&[kept], false, site, |b, pair| b.bind(element, Op::Second(pair[0]), site)))
    }

    /// Binds the elements of rows of `count` elements, one row after the other, from a sequence of tuples that hold the
    /// columns of each row.
    fn interleaved(
        &mut self,
        tuples: Atom,
        columns: &Columns,
        stored: usize,
        count: i64,
        site: Site,
    ) -> Atom {
        let b = &mut self.builder;
        if count == 1 {
            return tuples;
        }
        let length = b.seq(SeqOp::Length, vec![tuples], site);
        let length = b.scalar(ScalarOp::Mul, vec![length, Atom::Int(count)], site);
        let range = vec![Atom::Int(0), Atom::Int(1), length];
        let places = b.seq(SeqOp::Range, range, site);
        b.nest(&[places], false, site, |b, place| {
            let place = place[0];
            // Divisions by powers of two take one instruction.
            let (row, column) = match count.count_ones() {
                1 => {
                    let shift = vec![place, Atom::Int(count.trailing_zeros().into())];
                    let mask = vec![place, Atom::Int(count - 1)];
                    (b.scalar(ScalarOp::Shr, shift, site), b.scalar(ScalarOp::And, mask, site))
                }
                _ => {
                    let by = || vec![place, Atom::Int(count)];
                    (b.scalar(ScalarOp::Div, by(), site), b.scalar(ScalarOp::Rem, by(), site))
                }
            };
            let tuple = b.seq(SeqOp::Index, vec![tuples, row], site);
            let parts = components(b, tuple, stored, site);
            columns.element(b, &mut parts.into_iter(), column, site)
        })
    }
}

/// The parts of the elements of a row that are stored: `n` once for the row `[(a, n, 1), (b, n, 1)]`, and nothing for 1.
enum Columns {
    /// All elements are this one.
    Same(Var),
    /// All elements are this constant.
    Constant(Atom),
    /// An atom for each element.
    Each(Vec<Atom>),
    /// The elements are pairs.
    Pair(Box<(Columns, Columns)>),
}

impl Columns {
    /// The columns of elements that are bound by these bindings.
    fn of(elements: &[Atom], lets: &[Let]) -> Columns {
        if elements.iter().all(|element| *element == elements[0]) {
            return elements[0].variable().map_or(Columns::Constant(elements[0]), Columns::Same);
        }
        let pair = |element: &Atom| {
            let made = lets.iter().find(|binding| Atom::Var(binding.var) == *element)?;
            match made.op {
                Op::Pair(first, second) => Some((first, second)),
                _ => None,
            }
        };
        let pairs: Option<(Vec<Atom>, Vec<Atom>)> = elements.iter().map(pair).collect();
        match pairs {
            Some((first, second)) => with_stack(|| {
                Columns::Pair(Box::new((Columns::of(&first, lets), Columns::of(&second, lets))))
            }),
            None => Columns::Each(elements.to_vec()),
        }
    }

    /// Returns true if nothing is stored.
    fn is_constant(&self) -> bool {
        let mut constant = true;
        self.each_stored(&mut |_| constant = false);
        constant
    }

    /// Visits what is stored.
    fn each_stored(&self, visit: &mut dyn FnMut(Atom)) {
        match self {
            Columns::Same(var) => visit(Atom::Var(*var)),
            Columns::Constant(_) => {}
            Columns::Each(atoms) => atoms.iter().for_each(|atom| visit(*atom)),
            Columns::Pair(both) => with_stack(|| {
                both.0.each_stored(visit);
                both.1.each_stored(visit);
            }),
        }
    }

    /// Binds the element of this number, from what was stored.
    fn element(
        &self,
        b: &mut FunctionBuilder,
        stored: &mut dyn Iterator<Item = Atom>,
        number: Atom,
        site: Site,
    ) -> Atom {
        match self {
            Columns::Same(_) => stored.next().or_bug("as much is read as is stored"),
            Columns::Constant(atom) => *atom,
            Columns::Each(atoms) => {
                let elements: Vec<Atom> = stored.take(atoms.len()).collect();
                chosen(b, &elements, number, site)
            }
            Columns::Pair(both) => with_stack(|| {
                let first = both.0.element(b, stored, number, site);
                let second = both.1.element(b, stored, number, site);
                b.pair(first, second, site)
            }),
        }
    }
}

/// Binds the components of a tuple of so many.
fn components(b: &mut FunctionBuilder, tuple: Atom, count: usize, site: Site) -> Vec<Atom> {
    let (mut all, mut rest) = (Vec::new(), tuple);
    for _ in 1..count {
        let (first, others) = b.unpair(rest, site);
        all.push(first);
        rest = others;
    }
    all.push(rest);
    all
}

/// Binds the atom with this number, which is one of theirs.
pub(super) fn chosen(b: &mut FunctionBuilder, atoms: &[Atom], number: Atom, site: Site) -> Atom {
    let [first, rest @ ..] = atoms else { bug!("there is an atom") };
    if rest.is_empty() {
        return *first;
    }
    // The first of those that are left.
    let is_first = b.scalar(ScalarOp::Eq, vec![number, Atom::Int(0)], site);
    b.conditional(
        is_first,
        site,
        |_| *first,
        |b| {
            let next = b.scalar(ScalarOp::Sub, vec![number, Atom::Int(1)], site);
            chosen(b, rest, next, site)
        },
    )
}
