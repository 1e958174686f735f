//! The code for a group, rewritten for its key: the number of members and their reductions are read
//! from tables.

use crate::base::with_stack;
use crate::ir::{Atom, Block, Class, FunctionBuilder, Let, Nest, Op, Site, Ty, Var};
use crate::prim::{ReduceOp, SeqOp};
use nesl_runtime::bug;
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
}

type Env = FxHashMap<Var, Known>;

/// The writer of the code for one group.
pub(super) struct Group<'b> {
    builder: &'b mut FunctionBuilder,
    key: Atom,
    count: Atom,
    /// The length of members, if they are rows.
    width: Option<Atom>,
    /// The reductions of the members: rows of reductions, if members are rows.
    reduced: Vec<(ReduceOp, Atom)>,
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
        Group { builder, key, count, width, reduced, pending, at: 0, blocks: 0 }
    }

    /// Reads what the members come to from a table.
    pub(super) fn read(&mut self, with: ReduceOp, table: Atom, site: Site) {
        let b = &mut *self.builder;
        let here = match self.width {
            Some(width) => {
                let start = b.scalar(ScalarOp::Mul, vec![self.key, width], site);
                let end = b.scalar(ScalarOp::Add, vec![start, width], site);
                b.seq(SeqOp::Subseq, vec![table, start, end], site)
            }
            None => b.seq(SeqOp::Index, vec![table, self.key], site),
        };
        self.reduced.push((with, here));
    }

    /// The reductions so far, with their operators.
    pub(super) fn reduced(&self) -> &[(ReduceOp, Atom)] {
        &self.reduced
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
                    return Some(Known::Atom(self.come_to(*with, ty)));
                }
                Known::Column(at, site, column, block) if block == self.at => {
                    self.pending.remove(&column);
                    let row = self.come_to(*with, &Ty::sequence(ty.clone()));
                    let cell = Op::Seq(SeqOp::Index, vec![row, at]);
                    return Some(Known::Atom(self.builder.bind(ty.clone(), cell, site)));
                }
                Known::Same(each) if matches!(with, ReduceOp::And | ReduceOp::Or) => {
                    return Some(Known::Atom(each));
                }
                other => Op::Seq(SeqOp::Reduce(*with), vec![plain(other)?]),
            },
            Op::Nest(nest) => match &nest.binders[..] {
                [(element, _, sequence)] if matches!(known(env, *sequence), Known::Members) => {
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
                        | Known::Column(..) => return None,
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

    /// The reduction of the members, of this type.
    fn come_to(&mut self, with: ReduceOp, ty: &Ty) -> Atom {
        if let Some((_, atom)) = self.reduced.iter().find(|(other, _)| *other == with) {
            return *atom;
        }
        let atom = Atom::Var(self.builder.fresh(ty.clone()));
        self.reduced.push((with, atom));
        atom
    }
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
        | Known::Column(..) => None,
    }
}
