//! Groups of which some are kept, by what their reductions are: all are reduced, and some of the results are kept.
//!
//! ```text
//! flags = {#v >= 100 : (k, v) in g}            both = {((k, sum(v)), #v >= 100) : (k, v) in g}
//! kept = pack(g, flags)                   →
//! r = {(k, sum(v)) : (k, v) in kept}           r = pack({a : (a, b) in both}, {b : (a, b) in both})
//! ```
//!
//! The groups are used by one apply-to-each then, which may have no need of them. What is computed of a group must not be
//! able to fail, and take no longer than to look at each of its members: it is computed of all.

use super::Keyed;
use crate::base::with_stack;
use crate::ir::{Atom, Block, Function, FunctionBuilder, Let, Nest, Op, Ty, Var};
use crate::prim::{Cost, SeqOp};
use rustc_hash::FxHashMap;

/// Keeps results instead of groups where a function can.
pub(super) fn keep_results(function: &mut Function, keyed: &Keyed) {
    let mut uses = FxHashMap::default();
    function.body.count_uses(&mut uses);
    let mut builder = FunctionBuilder::extending(function);
    block(&mut function.body, &Context { keyed, uses }, &mut builder);
}

struct Context<'k> {
    keyed: &'k Keyed,
    /// The number of uses of each variable.
    uses: FxHashMap<Var, usize>,
}

fn block(code: &mut Block, context: &Context<'_>, builder: &mut FunctionBuilder) {
    with_stack(|| {
        let mut at = 0;
        while at < code.lets.len() {
            if let Some([flags, pack]) = found(&code.lets, at, context) {
                let lets = joined(&code.lets[flags], &code.lets[at], builder);
                code.lets.splice(at..=at, lets);
                code.lets.remove(pack);
                code.lets.remove(flags);
                continue;
            }
            match &mut code.lets[at].op {
                // No groups of an apply-to-each are reduced in tables.
                Op::Nest(_) => {}
                op => op.blocks_mut().for_each(|inner| block(inner, context, builder)),
            }
            at += 1;
        }
    });
}

/// The only sequence that an apply-to-each goes over, if it has one and its iterations cannot fail and are light.
fn only_sequence(binding: &Let) -> Option<Var> {
    let Op::Nest(Nest { binders, body, serial: false }) = &binding.op else { return None };
    let [(group, _, Atom::Var(over))] = binders[..] else { return None };
    (!body.may_fault() && is_light(body, group)).then_some(over)
}

/// Returns true if code computes a few numbers of a group, by looking at each of its members a few times.
fn is_light(body: &Block, group: Var) -> bool {
    let mut parts = vec![group];
    let mut sequences = Vec::new();
    body.lets.iter().all(|binding| {
        let is_part = |atom: &Atom| atom.variable().is_some_and(|var| parts.contains(&var));
        let is_made = |atom: &Atom| atom.variable().is_some_and(|var| sequences.contains(&var));
        match &binding.op {
            Op::First(of) | Op::Second(of) if is_part(of) => {
                parts.push(binding.var);
                true
            }
            Op::Nest(nest) => {
                let goes_over_members = nest.binders.iter().all(|(_, _, over)| is_part(over));
                let is_scalar = |inner: &Let| {
                    inner.op.blocks().next().is_none()
                        && !inner.ty.has_sequence()
                        && inner.op.costs_at_most(Cost::Scalar, &inner.ty)
                };
                sequences.push(binding.var);
                goes_over_members && nest.body.lets.iter().all(is_scalar)
            }
            Op::Seq(SeqOp::Length | SeqOp::Reduce(_), args) => {
                args.iter().all(|arg| is_part(arg) || is_made(arg))
            }
            op => {
                op.blocks().next().is_none()
                    && !binding.ty.has_sequence()
                    && op.costs_at_most(Cost::Scalar, &binding.ty)
            }
        }
    })
}

/// Returns the places of the flags and of the filter of groups, if the binding at a place goes over what is kept of them,
/// and nothing else does.
fn found(lets: &[Let], at: usize, context: &Context<'_>) -> Option<[usize; 2]> {
    let place = |var: Var| lets[..at].iter().position(|binding| binding.var == var);
    let is_used = |var: Var, times: usize| context.uses.get(&var) == Some(&times);
    let kept = only_sequence(&lets[at]).filter(|kept| is_used(*kept, 1))?;
    if lets[at].ty.sequence_element().has_sequence() {
        // The members of a group are wanted, or parts of them.
        return None;
    }
    let pack = place(kept)?;
    let Op::Seq(SeqOp::Pack, args) = &lets[pack].op else { return None };
    let [Atom::Var(groups), Atom::Var(flags)] = args[..] else { return None };
    let Op::Call(id, _) = &lets[place(groups)?].op else { return None };
    let flags_at = place(flags)?;
    let is_whole = context.keyed.makes_groups(*id)
        && only_sequence(&lets[flags_at]) == Some(groups)
        && is_used(groups, 2)
        && is_used(flags, 1);
    (is_whole && flags_at < pack).then_some([flags_at, pack])
}

/// Returns what computes the results of all groups and keeps some of them, given what computes the flags and the results
/// of those that are kept.
fn joined(flags: &Let, kept: &Let, builder: &mut FunctionBuilder) -> Vec<Let> {
    let (Op::Nest(flag), Op::Nest(result)) = (&flags.op, &kept.op) else {
        return vec![flags.clone(), kept.clone()];
    };
    let element = kept.ty.sequence_element().clone();
    let (of, site) = (result.binders[0].0, kept.site);
    let mut nest = flag.clone();
    let group = nest.binders[0].0;
    let mut body = result.body.clone();
    body.rename(&mut |var| Atom::Var(if var == of { group } else { var }));
    nest.body.lets.extend(body.lets);
    let both_ty = Ty::pair(element.clone(), Ty::Bool);
    let pair = builder.fresh(both_ty.clone());
    let op = Op::Pair(body.result, nest.body.result);
    nest.body.lets.push(Let { var: pair, ty: both_ty.clone(), op, site });
    nest.body.result = Atom::Var(pair);
    let sequence = |element: &Ty| Ty::sequence(element.clone());
    let both = builder.fresh(sequence(&both_ty));
    let mut lets = vec![Let { var: both, ty: sequence(&both_ty), op: Op::Nest(nest), site }];
    let mut half = |ty: &Ty, op: fn(Atom) -> Op| {
        let [whole, half] = [both_ty.clone(), ty.clone()].map(|ty| builder.fresh(ty));
        let halves = builder.fresh(sequence(ty));
        let part = Let { var: half, ty: ty.clone(), op: op(Atom::Var(whole)), site };
        let body = Block { lets: vec![part], result: Atom::Var(half) };
        let binders = vec![(whole, both_ty.clone(), Atom::Var(both))];
        let op = Op::Nest(Nest { binders, body, serial: false });
        lets.push(Let { var: halves, ty: sequence(ty), op, site });
        Atom::Var(halves)
    };
    let args = vec![half(&element, Op::First), half(&Ty::Bool, Op::Second)];
    lets.push(Let { op: Op::Seq(SeqOp::Pack, args), ..kept.clone() });
    lets
}
