//! The code for a group, rewritten for its key: the number of members and their reductions are read
//! from tables.
//!
//! The values that are reduced may be computed of each member, as in `sum({price * count : (price, count) in m})`, if
//! that takes nothing but the member, the key and what is known outside: they are computed for all values then, whatever
//! the keys, before they are added up ([`Mapping`]).

use crate::base::with_stack;
use crate::ir::{Atom, Block, Class, FunctionBuilder, Let, Nest, Op, Site, Ty, Var};
use crate::prim::{Cost, ReduceOp, SeqOp};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::scalar::ScalarOp;
use rustc_hash::{FxHashMap, FxHashSet};

/// The meaning of a variable. A group has at least one member.
#[derive(Clone, Copy)]
enum Known {
    /// A value of the new program.
    Atom(Atom),
    /// The pair of the key and the members.
    Group,
    /// All members of the group.
    Members,
    /// One of them, whichever.
    Member,
    /// The first of them.
    First,
    /// An element of a member, at a place that is the same in all of them.
    Cell(Atom, Site),
    /// For each member, this value.
    Same(Atom),
    /// For each member, its element at a place; what was called so, and in which block.
    Column(Atom, Site, Var, u32),
    /// For each member, or each of some, what the mapping of this number makes of it.
    Mapped(usize),
    /// The members that the mapping of this number is true of.
    Kept(usize),
}

type Env = FxHashMap<Var, Known>;

/// A computation of each member by itself, perhaps only of some of them.
#[derive(Clone)]
pub(super) struct Mapping {
    /// The names of the member.
    elements: Vec<Var>,
    /// The names of the key.
    keys: Vec<Var>,
    lets: Vec<Let>,
    result: Atom,
    /// The condition of those that it is computed of.
    guard: Option<Atom>,
}

/// A reduction of the members, or of what is computed of each.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Reduction {
    pub(super) with: ReduceOp,
    /// The number of the mapping.
    pub(super) mapping: Option<usize>,
}

impl Mapping {
    /// The mapping of those members that another one is true of.
    fn of_some(&self, flags: &Mapping) -> Mapping {
        fn all<T: Clone>(a: &[T], b: &[T]) -> Vec<T> {
            [a, b].concat()
        }
        Mapping {
            elements: all(&flags.elements, &self.elements),
            keys: all(&flags.keys, &self.keys),
            lets: all(&flags.lets, &self.lets),
            result: self.result,
            guard: Some(flags.result),
        }
    }

    /// Writes the computation for a key and a value that belongs to it; if it leaves the value out, its result is the
    /// neutral element of a reduction.
    pub(super) fn apply(
        &self,
        b: &mut FunctionBuilder,
        key: Var,
        value: Var,
        with: ReduceOp,
        site: Site,
    ) -> Atom {
        let mut names: FxHashMap<Var, Var> = self.keys.iter().map(|var| (*var, key)).collect();
        names.extend(self.elements.iter().map(|var| (*var, value)));
        for binding in &self.lets {
            let copy = b.copied(binding, &mut names);
            b.keep(copy);
        }
        let name = |atom: Atom| match atom {
            Atom::Var(var) => Atom::Var(names.get(&var).copied().unwrap_or(var)),
            other => other,
        };
        let result = name(self.result);
        let Some(guard) = self.guard.map(name) else { return result };
        let neutral = neutral(with, &b.type_of(&result)).or_bug("the reduction was found");
        b.conditional(guard, site, |_| result, |_| neutral)
    }
}

/// The neutral element of a reduction, where that is the same at both precisions.
fn neutral(with: ReduceOp, ty: &Ty) -> Option<Atom> {
    Some(match (with, ty) {
        (ReduceOp::Sum, Ty::Int) => Atom::Int(0),
        (ReduceOp::Sum, Ty::Float) => Atom::Float(0.0),
        (ReduceOp::Product, Ty::Int) => Atom::Int(1),
        (ReduceOp::Product, Ty::Float) => Atom::Float(1.0),
        (ReduceOp::Max, Ty::Float) => Atom::Float(f64::NEG_INFINITY),
        (ReduceOp::Min, Ty::Float) => Atom::Float(f64::INFINITY),
        (ReduceOp::And, Ty::Bool) => Atom::Bool(true),
        (ReduceOp::Or, Ty::Bool) => Atom::Bool(false),
        _ => return None,
    })
}

/// The writer of the code for one group.
pub(super) struct Group<'b> {
    builder: &'b mut FunctionBuilder,
    key: Atom,
    count: Atom,
    /// The length of members, if they are rows.
    width: Option<Atom>,
    /// The reductions of the members: rows of reductions, if members are rows.
    reduced: Vec<(Reduction, Atom)>,
    mappings: Vec<Mapping>,
    /// For a mapping of some members, or one that is true of some, the mapping that counts them.
    counted: FxHashMap<usize, usize>,
    /// Columns of which nothing is known to be asked yet: they may fault all the same.
    pending: FxHashSet<Var>,
    /// The block at hand, and how many there were.
    at: u32,
    blocks: u32,
}

impl<'b> Group<'b> {
    pub(super) fn new(
        builder: &'b mut FunctionBuilder,
        key: Atom,
        count: Atom,
        width: Option<Atom>,
    ) -> Group<'b> {
        let (reduced, pending) = (Vec::new(), FxHashSet::default());
        let (mappings, counted) = (Vec::new(), FxHashMap::default());
        Group { builder, key, count, width, reduced, mappings, counted, pending, at: 0, blocks: 0 }
    }

    /// Reads what the members come to from a table.
    pub(super) fn read(&mut self, reduction: Reduction, table: Atom, site: Site) {
        let b = &mut *self.builder;
        let here = match self.width {
            Some(width) => {
                let start = b.scalar(ScalarOp::Mul, vec![self.key, width], site);
                let end = b.scalar(ScalarOp::Add, vec![start, width], site);
                b.seq(SeqOp::Subseq, vec![table, start, end], site)
            }
            None => b.seq(SeqOp::Index, vec![table, self.key], site),
        };
        self.reduced.push((reduction, here));
    }

    /// The reductions so far.
    pub(super) fn reduced(&self) -> impl Iterator<Item = Reduction> {
        self.reduced.iter().map(|(reduction, _)| *reduction)
    }

    /// The computations of members, by number.
    pub(super) fn into_mappings(self) -> Vec<Mapping> {
        self.mappings
    }

    /// Writes what a nest over groups does; `None` if it asks for more than reductions.
    pub(super) fn write(&mut self, nest: &Nest) -> Option<Atom> {
        let mut env = Env::from_iter([(nest.binders[0].0, Known::Group)]);
        let result = self.block(&nest.body, &mut env)?;
        match result {
            Known::Atom(atom) if self.pending.is_empty() => Some(atom),
            _ => None,
        }
    }

    /// Writes a block into the open one, and returns its result.
    fn block(&mut self, block: &Block, env: &mut Env) -> Option<Known> {
        with_stack(|| {
            for binding in &block.lets {
                let known = self.binding(binding, env)?;
                env.insert(binding.var, known);
            }
            Some(known(env, block.result))
        })
    }

    /// A block of its own, whose value is there.
    fn inner(&mut self, block: &Block, env: &mut Env) -> Option<Block> {
        let around = self.at;
        self.blocks += 1;
        self.at = self.blocks;
        self.builder.begin();
        let result = plain(self.block(block, env)?)?;
        self.at = around;
        Some(self.builder.end(result))
    }

    fn binding(&mut self, binding: &Let, env: &mut Env) -> Option<Known> {
        let Let { var, ty, op, site } = binding;
        let value = match op {
            Op::Copy(a) => return Some(known(env, *a)),
            Op::First(a) => match known(env, *a) {
                Known::Group => return Some(Known::Atom(self.key)),
                other => Op::First(plain(other)?),
            },
            Op::Second(a) => match known(env, *a) {
                Known::Group => return Some(Known::Members),
                other => Op::Second(plain(other)?),
            },
            Op::Seq(SeqOp::Length, args) => match known(env, args[0]) {
                Known::Members | Known::Same(_) | Known::Column(..) => {
                    return Some(Known::Atom(self.count));
                }
                Known::Mapped(number) => {
                    let Some(guard) = self.mappings[number].guard else {
                        return Some(Known::Atom(self.count));
                    };
                    return Some(Known::Atom(self.number_of(number, guard)));
                }
                Known::Kept(flags) => {
                    let guard = self.mappings[flags].result;
                    return Some(Known::Atom(self.number_of(flags, guard)));
                }
                Known::Member | Known::First => return Some(Known::Atom(self.width?)),
                other => Op::Seq(SeqOp::Length, vec![plain(other)?]),
            },
            Op::Seq(SeqOp::Index, args) => match (known(env, args[0]), known(env, args[1])) {
                (Known::Members, Known::Atom(Atom::Int(0))) => return Some(Known::First),
                (Known::Member, Known::Atom(at)) => return Some(Known::Cell(at, *site)),
                (of, at) => Op::Seq(SeqOp::Index, vec![plain(of)?, plain(at)?]),
            },
            Op::Seq(SeqOp::Reduce(with), args) => match known(env, args[0]) {
                Known::Members if self.width.is_none() => {
                    let reduction = Reduction { with: *with, mapping: None };
                    return Some(Known::Atom(self.come_to(reduction, ty)));
                }
                Known::Mapped(mapping) => {
                    if self.mappings[mapping].guard.is_some() {
                        neutral(*with, ty)?;
                    }
                    let reduction = Reduction { with: *with, mapping: Some(mapping) };
                    return Some(Known::Atom(self.come_to(reduction, ty)));
                }
                Known::Column(at, site, column, block) if block == self.at => {
                    self.pending.remove(&column);
                    let reduction = Reduction { with: *with, mapping: None };
                    let row = self.come_to(reduction, &Ty::sequence(ty.clone()));
                    let cell = Op::Seq(SeqOp::Index, vec![row, at]);
                    return Some(Known::Atom(self.builder.bind(ty.clone(), cell, site)));
                }
                Known::Same(each) if matches!(with, ReduceOp::And | ReduceOp::Or) => {
                    return Some(Known::Atom(each));
                }
                other => Op::Seq(SeqOp::Reduce(*with), vec![plain(other)?]),
            },
            Op::Seq(SeqOp::Pack, args) => match (known(env, args[0]), known(env, args[1])) {
                (Known::Members, Known::Mapped(flags)) if self.mappings[flags].guard.is_none() => {
                    return Some(Known::Kept(flags));
                }
                (Known::Mapped(of), Known::Mapped(flags))
                    if [of, flags].iter().all(|at| self.mappings[*at].guard.is_none()) =>
                {
                    let some = self.mappings[of].of_some(&self.mappings[flags]);
                    return Some(Known::Mapped(self.add_mapping(some)));
                }
                (of, flags) => Op::Seq(SeqOp::Pack, vec![plain(of)?, plain(flags)?]),
            },
            Op::Nest(nest) => match &nest.binders[..] {
                [(element, _, sequence)] if matches!(known(env, *sequence), Known::Kept(_)) => {
                    let Known::Kept(flags) = known(env, *sequence) else { return None };
                    let mapping = self.mapping(nest, *element, ty, env)?;
                    let some = mapping.of_some(&self.mappings[flags]);
                    return Some(Known::Mapped(self.add_mapping(some)));
                }
                [(element, _, sequence)] if matches!(known(env, *sequence), Known::Members) => {
                    if let Some(mapping) = self.mapping(nest, *element, ty, env) {
                        return Some(Known::Mapped(self.add_mapping(mapping)));
                    }
                    env.insert(*element, Known::Member);
                    // What is the same for all members is computed once: there is one at least.
                    let each = match self.block(&nest.body, env)? {
                        Known::Atom(atom) => Known::Same(atom),
                        Known::Cell(at, site) => {
                            self.pending.insert(*var);
                            Known::Column(at, site, *var, self.at)
                        }
                        Known::Member => Known::Members,
                        Known::Group
                        | Known::Members
                        | Known::First
                        | Known::Same(_)
                        | Known::Column(..)
                        | Known::Mapped(_)
                        | Known::Kept(_) => return None,
                    };
                    return Some(each);
                }
                binders => {
                    let mut over = Vec::with_capacity(binders.len());
                    for (element, ty, sequence) in binders {
                        let sequence = plain(known(env, *sequence))?;
                        let fresh = self.builder.fresh(ty.clone());
                        env.insert(*element, Known::Atom(Atom::Var(fresh)));
                        over.push((fresh, ty.clone(), sequence));
                    }
                    let body = self.inner(&nest.body, env)?;
                    Op::Nest(Nest { binders: over, body, serial: nest.serial })
                }
            },
            Op::If { cond, then, otherwise } => {
                let cond = plain(known(env, *cond))?;
                let then = self.inner(then, env)?;
                Op::If { cond, then, otherwise: self.inner(otherwise, env)? }
            }
            op if op.class(ty) == Class::Effects => return None,
            op => {
                for atom in op.operands() {
                    plain(known(env, atom))?;
                }
                let mut op = op.clone();
                op.rename(&mut |var| match known(env, Atom::Var(var)) {
                    Known::Atom(atom) => atom,
                    _ => bug!("all operands are values of the new program"),
                });
                op
            }
        };
        Some(Known::Atom(self.builder.bind(ty.clone(), value, *site)))
    }

    /// The computation of a nest over the members, if that is a few scalar operations on each that cannot fault.
    fn mapping(&self, nest: &Nest, element: Var, ty: &Ty, env: &Env) -> Option<Mapping> {
        let is_scalar = matches!(ty.element(), Some(Ty::Int | Ty::Float | Ty::Bool | Ty::Char));
        if self.width.is_some() || !is_scalar || nest.body.result == Atom::Var(element) {
            return None;
        }
        let mut keys = Vec::new();
        let mut own = FxHashSet::from_iter([element]);
        let mut uses_member = false;
        let mut is_known = |var: Var, own: &FxHashSet<Var>| {
            uses_member |= var == element;
            match env.get(&var) {
                Some(Known::Atom(atom)) if *atom == self.key => {
                    keys.push(var);
                    true
                }
                Some(_) => own.contains(&var),
                None => true,
            }
        };
        for binding in &nest.body.lets {
            let mut is_plain =
                !binding.may_fault() && binding.op.costs_at_most(Cost::Scalar, &binding.ty);
            each_use(binding, &mut |var| is_plain &= is_known(var, &own));
            if !is_plain {
                return None;
            }
            own.insert(binding.var);
        }
        let result = nest.body.result.variable()?;
        (is_known(result, &own) && uses_member).then(|| Mapping {
            elements: vec![element],
            keys,
            lets: nest.body.lets.clone(),
            result: nest.body.result,
            guard: None,
        })
    }

    fn add_mapping(&mut self, mapping: Mapping) -> usize {
        self.mappings.push(mapping);
        self.mappings.len() - 1
    }

    /// The number of members for which a condition holds, which this mapping computes.
    fn number_of(&mut self, mapping: usize, guard: Atom) -> Atom {
        let known = self.counted.get(&mapping).copied();
        let counted = known.unwrap_or_else(|| {
            let flags = self.mappings[mapping].clone();
            self.add_mapping(Mapping { result: Atom::Int(1), guard: Some(guard), ..flags })
        });
        self.counted.insert(mapping, counted);
        let reduction = Reduction { with: ReduceOp::Sum, mapping: Some(counted) };
        self.come_to(reduction, &Ty::Int)
    }

    /// A reduction of the members, of this type.
    fn come_to(&mut self, reduction: Reduction, ty: &Ty) -> Atom {
        if let Some((_, atom)) = self.reduced.iter().find(|(other, _)| *other == reduction) {
            return *atom;
        }
        let atom = Atom::Var(self.builder.fresh(ty.clone()));
        self.reduced.push((reduction, atom));
        atom
    }
}

/// Visits the variables that a binding uses, in its blocks too.
fn each_use(binding: &Let, visit: &mut dyn FnMut(Var)) {
    binding.op.each_operand(|atom| atom.variable().into_iter().for_each(&mut *visit));
    with_stack(|| {
        for block in binding.op.blocks() {
            block.lets.iter().for_each(|inner| each_use(inner, visit));
            block.result.variable().into_iter().for_each(&mut *visit);
        }
    });
}

fn known(env: &Env, atom: Atom) -> Known {
    let known = atom.variable().and_then(|var| env.get(&var));
    known.copied().unwrap_or(Known::Atom(atom))
}

/// A value that is there.
fn plain(known: Known) -> Option<Atom> {
    match known {
        Known::Atom(atom) => Some(atom),
        Known::Group
        | Known::Members
        | Known::Member
        | Known::First
        | Known::Cell(..)
        | Known::Same(_)
        | Known::Column(..)
        | Known::Mapped(_)
        | Known::Kept(_) => None,
    }
}
