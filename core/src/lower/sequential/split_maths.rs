//! Mathematical functions of the results of inner loops: they are taken of all elements together, behind these loops.
//!
//! ```text
//! v9: [float] = each v1: [float] in v0 {            v8: [float] = each v1: [float] in v0 {
//!   v2: float = reduce_sum(v1)                        v2: float = reduce_sum(v1)
//!   v3: float = exp(v2)                       →       v2
//!   v3                                              }
//! }                                                 v9: [float] = each v7: float in v8 { v3: float = exp(v7) … }
//! ```
//!
//! An apply-to-each with loops in it is no loop over vectors, and a vector takes a mathematical function of eight floats in
//! the time that one takes otherwise. What the loops give is stored for that, which
//! [`fuse::sequential`](crate::fuse::sequential) leaves as it is.
//!
//! Source: loop distribution; Kennedy and Allen, *Optimizing compilers for modern architectures* (2001), section 5.3.

use crate::base::with_stack;
use crate::fuse::sequential::{has_loops, is_plain, takes_maths};
use crate::ir::{Atom, Block, FunctionBuilder, Let, Nest, Op, Program, Site, Ty, Var};
use rustc_hash::{FxHashMap, FxHashSet};

/// The values of an iteration that are stored for what is behind its loops, at most.
const MAX_STORED_VALUES: usize = 3;

/// Splits such loops of the functions of a program.
pub(super) fn split(program: &mut Program) {
    for function in &mut program.functions {
        if may_split(&function.body) {
            let mut names = FunctionBuilder::extending(function);
            in_blocks(&mut function.body, &mut names);
        }
    }
}

/// Splits such loops of a block of a kernel; `names` makes variables that the kernel does not use.
pub(in crate::lower) fn in_block(block: &mut Block, names: impl FnOnce() -> FunctionBuilder) {
    if may_split(block) {
        in_blocks(block, &mut names());
    }
}

/// Returns true if a block has an apply-to-each with a mathematical function.
fn may_split(block: &Block) -> bool {
    let mut found = false;
    block.for_each_op(&mut |op| {
        found |= matches!(op, Op::Nest(nest) if takes_maths(&nest.body.lets));
    });
    found
}

fn in_blocks(block: &mut Block, names: &mut FunctionBuilder) {
    with_stack(|| {
        let mut lets = Vec::with_capacity(block.lets.len());
        for mut binding in std::mem::take(&mut block.lets) {
            binding.op.blocks_mut().for_each(|block| in_blocks(block, names));
            if let Op::Nest(nest) = &mut binding.op
                && let Some(first) = first_part(nest, binding.site, names)
            {
                lets.push(first);
            }
            lets.push(binding);
        }
        block.lets = lets;
    });
}

/// Takes the loops out of an apply-to-each that computes mathematical functions behind them, and leaves the rest of it.
fn first_part(nest: &mut Nest, site: Site, names: &mut FunctionBuilder) -> Option<Let> {
    let plain = nest.body.lets.iter().rev().take_while(|binding| is_plain(binding)).count();
    let behind = nest.body.lets.len() - plain;
    let (loops, rest) = nest.body.lets.split_at(behind);
    if nest.serial || !has_loops(loops) || !takes_maths(rest) {
        return None;
    }
    let own: FxHashSet<Var> = rest.iter().map(|binding| binding.var).collect();
    if nest.body.result.variable().is_none_or(|result| !own.contains(&result)) {
        return None;
    }
    // What the rest reads of an iteration.
    let before = loops.iter().map(|binding| (binding.var, &binding.ty));
    let before = before.chain(nest.binders.iter().map(|(var, ty, _)| (*var, ty)));
    let types: FxHashMap<Var, &Ty> = before.collect();
    let mut read: Vec<(Var, Ty)> = Vec::new();
    for var in
        rest.iter().flat_map(|binding| binding.op.operands()).filter_map(|atom| atom.variable())
    {
        if let Some(ty) = types.get(&var)
            && !read.iter().any(|(known, _)| *known == var)
        {
            read.push((var, (*ty).clone()));
        }
    }
    let is_scalar = |ty: &Ty| matches!(ty, Ty::Int | Ty::Float | Ty::Bool | Ty::Char);
    if read.is_empty()
        || read.len() > MAX_STORED_VALUES
        || !read.iter().all(|(_, ty)| is_scalar(ty))
    {
        return None;
    }
    let rest = nest.body.lets.split_off(behind);
    let mut loops = std::mem::take(&mut nest.body.lets);
    let (stored, ty) = tuple(&read, &mut loops, names, site);
    let all = names.fresh(Ty::sequence(ty.clone()));
    let first = Block { lets: loops, result: stored };
    let first = Nest { binders: std::mem::take(&mut nest.binders), body: first, serial: false };
    let element = names.fresh(ty.clone());
    nest.binders = vec![(element, ty.clone(), Atom::Var(all))];
    let parts = parts(element, &read, &mut nest.body.lets, names, site);
    nest.body.lets.extend(rest);
    nest.body.rename(&mut |var| parts.get(&var).copied().unwrap_or(Atom::Var(var)));
    Some(Let { var: all, ty: Ty::sequence(ty), op: Op::Nest(first), site })
}

/// Binds the tuple of some variables; returns it with its type.
fn tuple(
    values: &[(Var, Ty)],
    lets: &mut Vec<Let>,
    names: &mut FunctionBuilder,
    site: Site,
) -> (Atom, Ty) {
    let pair = |rest: Option<(Atom, Ty)>, (var, ty): &(Var, Ty)| {
        let Some((rest, rest_ty)) = rest else { return Some((Atom::Var(*var), ty.clone())) };
        let ty = Ty::pair(ty.clone(), rest_ty);
        let all = names.fresh(ty.clone());
        lets.push(Let { var: all, ty: ty.clone(), op: Op::Pair(Atom::Var(*var), rest), site });
        Some((Atom::Var(all), ty))
    };
    values.iter().rev().fold(None, pair).unwrap_or((Atom::Unit, Ty::Unit))
}

/// Binds the parts of a tuple; returns which part stands for which variable.
fn parts(
    of: Var,
    values: &[(Var, Ty)],
    lets: &mut Vec<Let>,
    names: &mut FunctionBuilder,
    site: Site,
) -> FxHashMap<Var, Atom> {
    let mut parts = FxHashMap::default();
    let mut of = Atom::Var(of);
    for (n, (var, ty)) in values.iter().enumerate() {
        let rest = &values[n + 1..];
        let mut bind = |ty: Ty, op: Op| {
            let part = names.fresh(ty.clone());
            lets.push(Let { var: part, ty, op, site });
            Atom::Var(part)
        };
        if rest.is_empty() {
            parts.insert(*var, of);
        } else {
            parts.insert(*var, bind(ty.clone(), Op::First(of)));
            of = bind(Ty::tuple(rest.iter().map(|(_, ty)| ty.clone())), Op::Second(of));
        }
    }
    parts
}
