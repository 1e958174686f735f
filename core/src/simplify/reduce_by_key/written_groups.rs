//! Groups that are written to a table of empty sequences, by what their reductions are: these are written instead.
//!
//! ```text
//! d = dist([], n)                          h = {(k, sum(v)) : (k, v) in g}
//! s = d <- g                          →    e = dist(sum([]), n)
//! r = {sum(v) : v in s}                    r = e <- h
//! ```
//!
//! This is how programs turn groups into a table. The groups are used by one apply-to-each then, which may have no need of
//! them. What is computed of a group must not be able to fail: it is computed of an empty one, too.

use super::Keyed;
use crate::base::with_stack;
use crate::ir::{Atom, Block, Function, FunctionBuilder, Let, Nest, Op, Site, Ty, Var};
use crate::prim::SeqOp;
use nesl_runtime::bug::OrBug;
use rustc_hash::FxHashMap;

/// Writes results instead of groups where a function can.
pub(super) fn write_results(function: &mut Function, keyed: &Keyed) {
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
            if let Some(written) = found(&code.lets, at, context) {
                let lets = written.results(&code.lets[at], builder);
                let count = lets.len();
                code.lets.splice(at..=at, lets);
                code.lets.remove(written.at);
                at += count - 1;
                continue;
            }
            code.lets[at].op.blocks_mut().for_each(|inner| block(inner, context, builder));
            at += 1;
        }
    });
}

/// Groups that are written to a table.
struct Written {
    /// The place of the binding that writes them.
    at: usize,
    groups: Var,
    /// The empty sequence that the table consists of, and the number of its rows.
    empty: Var,
    rows: Atom,
    /// The source location of what writes them.
    site: Site,
}

/// Returns the groups whose table the binding at a place goes over, if nothing else does.
fn found(lets: &[Let], at: usize, context: &Context<'_>) -> Option<Written> {
    let place = |var: Var| lets[..at].iter().position(|binding| binding.var == var);
    let is_used_once = |var: &Var| context.uses.get(var) == Some(&1);
    let Op::Nest(Nest { binders, body, serial: false }) = &lets[at].op else { return None };
    let [(_, _, Atom::Var(table))] = binders[..] else { return None };
    if body.may_fault() || lets[at].ty.sequence_element().has_sequence() {
        return None;
    }
    let written = place(table).filter(|_| is_used_once(&table))?;
    let Op::Seq(SeqOp::Scatter, args) = &lets[written].op else { return None };
    let [Atom::Var(rows), Atom::Var(groups)] = args[..] else { return None };
    let made = &lets[place(groups).filter(|_| is_used_once(&groups))?];
    let Op::Call(id, _) = &made.op else { return None };
    let Op::Seq(SeqOp::Dist, args) = &lets[place(rows)?].op else { return None };
    let [empty, rows] = args[..] else { return None };
    let empty = empty.variable()?;
    let is_empty = matches!(&lets[place(empty)?].op, Op::List(list) if list.is_empty());
    // A key that is out of bounds is found before anything else can fail.
    let is_next = lets[written + 1..at].iter().all(|between| !between.may_fault());
    let are_groups = context.keyed.makes_groups(*id) && is_empty && is_next;
    let site = lets[written].site;
    are_groups.then_some(Written { at: written, groups, empty, rows, site })
}

impl Written {
    /// Returns what computes the result of each group and writes it, given what goes over the table.
    fn results(&self, over: &Let, builder: &mut FunctionBuilder) -> Vec<Let> {
        let Op::Nest(nest) = &over.op else { return vec![over.clone()] };
        let (site, members) = (over.site, nest.binders[0].0);
        let element = over.ty.sequence_element().clone();
        builder.begin();
        // Of no members.
        let empty = copied(&nest.body, members, self.empty, builder);
        let nothing = builder.seq(SeqOp::Dist, vec![empty, self.rows], site);
        let written = builder.nest(&[Atom::Var(self.groups)], false, site, |b, group| {
            let key = b.bind(Ty::Int, Op::First(group[0]), site);
            let rows = nest.binders[0].1.clone();
            let value = b.bind(rows, Op::Second(group[0]), site);
            let value = value.variable().or_bug("what is bound is a variable");
            let result = copied(&nest.body, members, value, b);
            b.bind(Ty::pair(Ty::Int, element.clone()), Op::Pair(key, result), site)
        });
        let block = builder.end(Atom::Unit);
        let mut lets = block.lets;
        let op = Op::Seq(SeqOp::Scatter, vec![nothing, written]);
        // A key that is out of bounds is so where the groups are written.
        lets.push(Let { op, site: self.site, ..over.clone() });
        lets
    }
}

/// Adds a copy of the bindings of a block, in which an atom stands for a variable, and returns its result.
fn copied(block: &Block, var: Var, by: Var, builder: &mut FunctionBuilder) -> Atom {
    let mut names: FxHashMap<Var, Var> = FxHashMap::from_iter([(var, by)]);
    for binding in &block.lets {
        let copy = builder.copied(binding, &mut names);
        builder.keep(copy);
    }
    match block.result {
        Atom::Var(result) => Atom::Var(names.get(&result).copied().unwrap_or(result)),
        constant => constant,
    }
}
