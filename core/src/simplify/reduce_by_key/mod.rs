//! Groups of which only sums are asked for are not made: what belongs to a key is added up in a
//! table, where the keys are few.
//!
//! ```text
//! g = int_collect(kv)                    top = the greatest key; a key that is greater than all,
//! r = {(k, {sum(column)                        if a key is negative or #v ≠ width
//!           : column in transpose(m)})   t = the rows, added up from place k · width on
//!      : (k, m) in g}                 →  r = if top < slots
//!                                            then {(k, {t[k · width + j] : j in [0:width]})
//!                                                  : k in the keys there are}
//!                                        else if top < min(#kv, most), or a few times #kv
//!                                            then the same, with a table for top + 1 keys
//!                                            else {… : (k, m) in int_collect(kv)}
//! ```
//!
//! The members of a group may be counted, reduced, or, if they are rows, reduced column by column; what is computed of
//! each member by itself may be reduced, too. Of a row as such no more than the length may be asked for ([`group`]).
//! One pass over the values is left, in their order, which fuses with what makes them, and nothing is moved. How
//! large a table must be is known when the keys are. The first pass fills one that a core can cache. Where keys
//! exceed that, a second pass fills a larger one, which has no more places than there are values, or a few times as
//! many if it is small: adding to it takes about a tenth of the time of sorting. With keys that are negative or greater,
//! or with rows of different lengths, the groups are made after all, from the same keys.
//!
//! For many values a few keys are looked at first ([`sampled`]): where these are many already, the first pass only finds
//! the greatest. What makes the pairs is computed by each of the passes then, if it is a few operations.
//!
//! In nests, and in functions that are called from some, every instance has tables of its own: only with a few places for
//! each of its values, and there is no other pass.

mod group;
mod kept_groups;
mod sampled;
mod written_groups;

use crate::base::with_stack;
use crate::ir::{
    Atom, Block, FunId, Function, FunctionBuilder, Let, Nest, Op, Program, Role, Site, Ty, Var,
};
use crate::prim::{Cost, ReduceOp, SeqOp};
use crate::thresholds::Thresholds;
use group::{Group, Mapping, Reduction};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::scalar::ScalarOp;
use rustc_hash::{FxHashMap, FxHashSet};
use sampled::Pairs;

/// A key that no table has a place for, an int at both precisions.
const NO_KEY: i64 = i32::MAX as i64;

/// The functions of a program that group by key.
pub(super) struct Keyed {
    groups: FxHashSet<FunId>,
    /// The functions that iterations of an apply-to-each may call.
    nested: FxHashSet<FunId>,
}

impl Keyed {
    pub(super) fn of(program: &Program) -> Keyed {
        let ids = || (0..program.functions.len() as u32).map(FunId);
        let function = |id: FunId| &program.functions[id.0 as usize];
        let groups = |id: &FunId| function(*id).role == Some(Role::GroupByKey);
        let mut keyed =
            Keyed { groups: ids().filter(groups).collect(), nested: FxHashSet::default() };
        if keyed.groups.is_empty() {
            return keyed;
        }
        let mut open = Vec::new();
        for id in ids() {
            function(id).body.for_each_op(&mut |op| {
                if let Op::Nest(nest) = op {
                    open.extend(callees(&nest.body));
                }
            });
        }
        while let Some(id) = open.pop() {
            if keyed.nested.insert(id) {
                open.extend(callees(&function(id).body));
            }
        }
        keyed
    }

    /// Returns true if a function groups by key.
    pub(super) fn makes_groups(&self, id: FunId) -> bool {
        self.groups.contains(&id)
    }

    /// Returns true if a function calls one that groups by key.
    pub(super) fn concerns(&self, function: &Function) -> bool {
        !self.groups.is_empty() && callees(&function.body).iter().any(|id| self.makes_groups(*id))
    }

    /// Has a function reduce by key what it can.
    pub(super) fn reduce(&self, id: FunId, function: &mut Function, limits: &Thresholds) {
        if !self.concerns(function) {
            return;
        }
        written_groups::write_results(function, self);
        let in_nest = self.nested.contains(&id);
        if !in_nest {
            kept_groups::keep_results(function, self);
        }
        let mut uses = FxHashMap::default();
        function.body.count_uses(&mut uses);
        let builder = FunctionBuilder::extending(function);
        let mut reducer = Reducer { keyed: self, limits, uses, builder, in_nest };
        function.body = reducer.block(std::mem::replace(&mut function.body, nothing()));
    }
}

fn callees(block: &Block) -> Vec<FunId> {
    let mut callees = Vec::new();
    block.for_each_op(&mut |op| {
        if let Op::Call(id, _) = op {
            callees.push(*id);
        }
    });
    callees
}

fn nothing() -> Block {
    Block { lets: Vec::new(), result: Atom::Unit }
}

struct Reducer<'k> {
    keyed: &'k Keyed,
    limits: &'k Thresholds,
    uses: FxHashMap<Var, usize>,
    builder: FunctionBuilder,
    /// The code at hand may be executed by each iteration of an apply-to-each.
    in_nest: bool,
}

/// A nest over groups that asks for no more than reductions.
struct Found {
    call: Let,
    /// The properties of the members that the nest asks for.
    wanted: Wanted,
    /// The keys and values that it runs over instead, once they are computed.
    source: Option<Source>,
    /// The pairs, if each pass takes them apart.
    pairs: Option<Pairs>,
}

/// The properties of the members that a nest over groups asks for.
struct Wanted {
    /// Their number is asked for. Else it is enough to know which keys there are.
    count: bool,
    /// The reductions of the members, or of what is computed of them.
    reductions: Vec<Reduction>,
    /// The computations of members, by number.
    mappings: Vec<Mapping>,
}

/// The tables of a pass.
struct Tables {
    /// The number of members of each key, or whether there are any.
    members: Atom,
    reductions: Vec<(Reduction, Atom)>,
}

/// Keys and what belongs to them, instead of pairs.
#[derive(Clone, Copy)]
struct Source {
    keys: Atom,
    values: Atom,
    /// The pairs, if they are there too.
    pairs: Option<Atom>,
    /// The number of keys.
    count: Atom,
    /// The length of rows, if members are rows.
    width: Option<Atom>,
}

/// The extent of a table.
#[derive(Clone, Copy)]
struct Extent {
    /// The bound of keys.
    slots: Atom,
    /// The number of elements of a table.
    size: Atom,
}

/// Computations of the keys and the values of pairs, or the values themselves.
struct Apart {
    keys: Let,
    made: Option<Let>,
    values: Atom,
}

impl Reducer<'_> {
    fn block(&mut self, block: Block) -> Block {
        with_stack(|| {
            let (mut found, mut apart) = self.find(&block);
            let repeated: FxHashSet<Var> = found.values().filter_map(Found::repeated).collect();
            self.builder.begin();
            for mut binding in block.lets {
                if let Some((nest, parts)) = apart.remove(&binding.var) {
                    let found = found.get_mut(&nest).or_bug("the nest was found");
                    found.source = Some(self.take_apart(parts, &found.call));
                    continue;
                }
                let is_call = |found: &Found| found.call.var == binding.var;
                if repeated.contains(&binding.var) || found.values().any(is_call) {
                    continue;
                }
                if let Some(mut found) = found.remove(&binding.var) {
                    if let Some(pairs) = found.pairs.take() {
                        self.sampled_nest(binding, found, &pairs);
                        continue;
                    }
                    let source = found.source.unwrap_or_else(|| self.halves(&found.call));
                    self.nest(binding, found, source);
                    continue;
                }
                match &mut binding.op {
                    Op::Nest(nest) => {
                        let outer = std::mem::replace(&mut self.in_nest, true);
                        nest.body = self.block(std::mem::replace(&mut nest.body, nothing()));
                        self.in_nest = outer;
                    }
                    // What is left for the groups was found in a callee that has been inlined.
                    Op::If { then, .. } if sampled::reads_tables(then) => {}
                    op => {
                        for inner in op.blocks_mut() {
                            *inner = self.block(std::mem::replace(inner, nothing()));
                        }
                    }
                }
                self.builder.keep(binding);
            }
            self.builder.end(block.result)
        })
    }

    /// The nests of a block over groups, and by the pairs that they are made of what makes keys and
    /// values apart.
    fn find(&mut self, block: &Block) -> (FxHashMap<Var, Found>, FxHashMap<Var, (Var, Apart)>) {
        let (mut found, mut apart) = (FxHashMap::default(), FxHashMap::default());
        let of = |atom: Atom| block.lets.iter().find(|l| Atom::Var(l.var) == atom);
        for binding in &block.lets {
            let Op::Nest(nest) = &binding.op else { continue };
            let [(_, _, groups)] = nest.binders[..] else { continue };
            let Some(call) = of(groups).filter(|call| self.once(call.var)) else { continue };
            let Op::Call(id, args) = &call.op else { continue };
            if nest.serial || !self.keyed.makes_groups(*id) {
                continue;
            }
            let Some(wanted) = self.wanted(nest, call) else { continue };
            // What a nest over groups gives is rewritten itself.
            let is_found = args[0].variable().is_some_and(|var| found.contains_key(&var));
            let pairs = match self.in_nest {
                true => None,
                false => self.pairs_of_passes(block, args[0], call, binding, is_found),
            };
            if pairs.is_some() {
                let found_here = Found { call: call.clone(), wanted, source: None, pairs };
                found.insert(binding.var, found_here);
                continue;
            }
            if let Some(pairs) = of(args[0]).filter(|pairs| self.once(pairs.var))
                && !found.contains_key(&pairs.var)
                && let Some(parts) = self.apart(pairs)
            {
                apart.insert(pairs.var, (binding.var, parts));
            }
            found.insert(binding.var, Found { call: call.clone(), wanted, source: None, pairs });
        }
        (found, apart)
    }

    fn once(&self, var: Var) -> bool {
        self.uses.get(&var) == Some(&1)
    }

    /// The reductions of the members that a nest uses, if it uses nothing else of them.
    fn wanted(&self, nest: &Nest, call: &Let) -> Option<Wanted> {
        // A first try, of which nothing is kept.
        let mut builder = self.builder.clone();
        builder.begin();
        let [key, count, width] = [(); 3].map(|()| Atom::Var(builder.fresh(Ty::Int)));
        let width = members(call).element().map(|_| width);
        let mut group = Group::new(&mut builder, key, count, width);
        let result = group.write(nest)?;
        let reductions: Vec<Reduction> = group.reduced().collect();
        if reductions.len() > self.limits.max_reductions_of_group {
            return None;
        }
        let mappings = group.into_mappings();
        let block = builder.end(result);
        let mut is_counted = block.result == count;
        block.each_let(&mut |binding| {
            binding.op.each_operand(|atom| is_counted |= atom == count);
            is_counted |= binding.op.blocks().any(|inner| inner.result == count);
        });
        Some(Wanted { count: is_counted, reductions, mappings })
    }

    /// The computations of keys and values apart, if they take no longer than one of pairs.
    fn apart(&mut self, pairs: &Let) -> Option<Apart> {
        let Op::Nest(nest) = &pairs.op else { return None };
        let Atom::Var(pair) = nest.body.result else { return None };
        let made = nest.body.lets.iter().find(|l| l.var == pair)?;
        let Op::Pair(key, value) = made.op else { return None };
        if nest.serial || !self.once(pair) {
            return None;
        }
        let mut keys = nest.clone();
        keys.body.lets.retain(|l| l.var != pair);
        keys.body.result = key;
        let ty = Ty::sequence(Ty::Int);
        let keys = Let { var: self.builder.fresh(ty.clone()), ty, op: Op::Nest(keys), ..*pairs };
        if let Some((.., sequence)) = nest.binders.iter().find(|(x, ..)| Atom::Var(*x) == value) {
            return Some(Apart { keys, made: None, values: *sequence });
        }
        let ty = Ty::sequence(self.builder.type_of(&value));
        let op = Op::Nest(self.slice(nest, value)?);
        let var = self.builder.fresh(ty.clone());
        let made = Let { var, ty, op, ..*pairs };
        Some(Apart { keys, made: Some(made), values: Atom::Var(var) })
    }

    /// The part of a nest that computes one component of its value, if that is cheap and cannot
    /// fault.
    fn slice(&mut self, nest: &Nest, value: Atom) -> Option<Nest> {
        let mut needed = FxHashSet::from_iter(value.variable());
        let mut lets = Vec::new();
        for binding in nest.body.lets.iter().rev() {
            if !needed.contains(&binding.var) {
                continue;
            }
            if binding.may_fault() || !binding.op.costs_at_most(Cost::Scalar, &binding.ty) {
                return None;
            }
            needed.extend(binding.op.operands().into_iter().filter_map(Atom::variable));
            lets.push(binding.clone());
        }
        lets.reverse();
        // Of no element it takes as many as there are.
        let used: Vec<_> = nest.binders.iter().filter(|(x, ..)| needed.contains(x)).collect();
        let used = if used.is_empty() { vec![&nest.binders[0]] } else { used };
        let mut binders: Vec<(Var, Ty, Atom)> = used.into_iter().cloned().collect();
        let mut names: FxHashMap<Var, Atom> = FxHashMap::default();
        for (x, ty, _) in &mut binders {
            let fresh = self.builder.fresh(ty.clone());
            names.insert(std::mem::replace(x, fresh), Atom::Var(fresh));
        }
        for binding in &mut lets {
            let fresh = self.builder.fresh(binding.ty.clone());
            names.insert(std::mem::replace(&mut binding.var, fresh), Atom::Var(fresh));
        }
        let mut body = Block { lets, result: value };
        body.rename(&mut |var| names.get(&var).copied().unwrap_or(Atom::Var(var)));
        Some(Nest { binders, body, serial: false })
    }

    /// The keys and values of pairs that are not made.
    fn take_apart(&mut self, parts: Apart, call: &Let) -> Source {
        let Apart { keys, made, values } = parts;
        if let Some(made) = made {
            self.builder.keep(made);
        }
        let (count, width) = self.shape(values, call);
        let var = keys.var;
        self.builder.keep(keys);
        Source { keys: Atom::Var(var), values, pairs: None, count, width }
    }

    /// The keys and values of pairs.
    fn halves(&mut self, call: &Let) -> Source {
        let Op::Call(_, args) = &call.op else { bug!("the binding is a call") };
        let (keys, values) = self.unzip(args[0], call);
        let (count, width) = self.shape(values, call);
        Source { keys, values, pairs: Some(args[0]), count, width }
    }

    /// The first and the second components of pairs.
    fn unzip(&mut self, pairs: Atom, call: &Let) -> (Atom, Atom) {
        let (b, site, ty) = (&mut self.builder, call.site, members(call));
        let keys = b.nest(&[pairs], false, site, |b, x| b.bind(Ty::Int, Op::First(x[0]), site));
        let values = b.nest(&[pairs], false, site, |b, x| b.bind(ty, Op::Second(x[0]), site));
        (keys, values)
    }

    /// The number of values, and the length of the first, if members are rows.
    fn shape(&mut self, values: Atom, call: &Let) -> (Atom, Option<Atom>) {
        let (b, site) = (&mut self.builder, call.site);
        let count = b.seq(SeqOp::Length, vec![values], site);
        if members(call).element().is_none() {
            return (count, None);
        }
        let none = b.scalar(ScalarOp::Eq, vec![count, Atom::Int(0)], site);
        let first = |b: &mut FunctionBuilder| {
            let row = b.seq(SeqOp::Index, vec![values, Atom::Int(0)], site);
            b.seq(SeqOp::Length, vec![row], site)
        };
        (count, Some(b.conditional(none, site, |_| Atom::Int(0), first)))
    }

    /// The greatest number of keys that a table may have places for, if it has at most this many
    /// elements, and no more places than there are values.
    fn most_slots(&mut self, source: &Source, most: i64, site: Site) -> Atom {
        let most = self.slots_of(source, most, site);
        self.builder.scalar(ScalarOp::Min, vec![source.count, most], site)
    }

    /// The number of keys that a table of so many elements has places for.
    fn slots_of(&mut self, source: &Source, elements: i64, site: Site) -> Atom {
        let Some(width) = source.width else { return Atom::Int(elements) };
        let b = &mut self.builder;
        let least = b.scalar(ScalarOp::Max, vec![width, Atom::Int(1)], site);
        b.scalar(ScalarOp::Div, vec![Atom::Int(elements), least], site)
    }

    /// The greatest number of keys that the table of a second pass may have places for. A small table may have more
    /// places than there are values.
    fn most_slots_again(&mut self, source: &Source, site: Site) -> Atom {
        let limits = self.limits;
        let most = self.most_slots(source, limits.max_large_histogram_elements, site);
        if limits.max_sparse_histogram_elements == 0 {
            return most;
        }
        let sparse = self.slots_of(source, limits.max_sparse_histogram_elements, site);
        let b = &mut self.builder;
        let each = Atom::Int(limits.max_places_per_value);
        let places = b.scalar(ScalarOp::Mul, vec![source.count, each], site);
        let sparse = b.scalar(ScalarOp::Min, vec![places, sparse], site);
        b.scalar(ScalarOp::Max, vec![most, sparse], site)
    }

    /// The extent of a table with places for so many keys.
    fn extent(&mut self, source: &Source, slots: Atom, site: Site) -> Extent {
        let size = match source.width {
            Some(width) => self.builder.scalar(ScalarOp::Mul, vec![slots, width], site),
            None => slots,
        };
        Extent { slots, size }
    }

    /// The tables of the first pass, and the nest: over the keys there are in these; if they do not
    /// reach, in those of a second pass; or, if tables would not do at all, over the groups.
    fn nest(&mut self, binding: Let, found: Found, source: Source) {
        let Let { var, ref ty, site, .. } = binding;
        let ty = ty.clone();
        if self.in_nest {
            return self.nest_in_nest(binding, found, source);
        }
        let slots = self.most_slots(&source, self.limits.max_histogram_elements, site);
        let extent = self.extent(&source, slots, site);
        let top = self.top(&source, site);
        let tables = self.tables(&found.wanted, &source, extent, site);
        let cond = self.builder.scalar(ScalarOp::Lt, vec![top, slots], site);
        self.builder.begin();
        let result = self.over_keys(&binding, &found.wanted, tables, &source, extent);
        let then = self.builder.end(result);
        self.builder.begin();
        let result =
            match self.limits.max_large_histogram_elements > self.limits.max_histogram_elements {
                true => self.second_pass(binding, found, &source, top),
                false => self.over_groups(binding, found, source.pairs, &source),
            };
        let otherwise = self.builder.end(result);
        self.builder.keep(Let { var, ty, op: Op::If { cond, then, otherwise }, site });
    }

    /// The same in an iteration of an apply-to-each: its tables have a few places for each value, lest those of all
    /// iterations take more memory than the values.
    fn nest_in_nest(&mut self, binding: Let, found: Found, source: Source) {
        let Let { var, ref ty, site, .. } = binding;
        let ty = ty.clone();
        // Of no values there is no greatest key.
        let top = self.top(&source, site);
        let top = self.builder.scalar(ScalarOp::Max, vec![top, Atom::Int(-1)], site);
        let each = Atom::Int(self.limits.max_places_per_value_in_nests);
        let places = self.builder.scalar(ScalarOp::Mul, vec![source.count, each], site);
        let most = self.slots_of(&source, self.limits.max_large_histogram_elements, site);
        let most = self.builder.scalar(ScalarOp::Min, vec![places, most], site);
        let cond = self.builder.scalar(ScalarOp::Lt, vec![top, most], site);
        self.builder.begin();
        let slots = self.slots_to(top, site);
        let result = self.over_all_keys(&binding, &found.wanted, &source, slots);
        let then = self.builder.end(result);
        self.builder.begin();
        let result = self.over_groups(binding, found, source.pairs, &source);
        let otherwise = self.builder.end(result);
        self.builder.keep(Let { var, ty, op: Op::If { cond, then, otherwise }, site });
    }

    /// The nest over the keys in tables for all keys up to the greatest, which are filled for it, or,
    /// if they would have too many elements, over the groups.
    fn second_pass(&mut self, binding: Let, found: Found, source: &Source, top: Atom) -> Atom {
        let (site, ty) = (binding.site, binding.ty.clone());
        let most = self.most_slots_again(source, site);
        let cond = self.builder.scalar(ScalarOp::Lt, vec![top, most], site);
        self.builder.begin();
        let slots = self.slots_to(top, site);
        let mut own = *source;
        if let Some(pairs) = own.pairs {
            // If this pass read the halves that the first has made, that one would have to store them.
            (own.keys, own.values) = self.unzip(pairs, &found.call);
        }
        let result = self.over_all_keys(&binding, &found.wanted, &own, slots);
        let then = self.builder.end(result);
        self.builder.begin();
        let result = self.over_groups(binding, found, source.pairs, source);
        let otherwise = self.builder.end(result);
        self.builder.bind(ty, Op::If { cond, then, otherwise }, site)
    }

    /// The nest over the keys in tables for all keys up to the greatest, which are filled for it.
    fn over_all_keys(
        &mut self,
        binding: &Let,
        wanted: &Wanted,
        source: &Source,
        slots: Atom,
    ) -> Atom {
        let extent = self.extent(source, slots, binding.site);
        let tables = self.tables(wanted, source, extent, binding.site);
        self.over_keys(binding, wanted, tables, source, extent)
    }

    /// The number of places for all keys up to the greatest.
    fn slots_to(&mut self, top: Atom, site: Site) -> Atom {
        self.builder.scalar(ScalarOp::Add, vec![top, Atom::Int(1)], site)
    }

    /// The nest over the keys there are in tables.
    fn over_keys(
        &mut self,
        binding: &Let,
        wanted: &Wanted,
        tables: Tables,
        source: &Source,
        extent: Extent,
    ) -> Atom {
        let site = binding.site;
        let Op::Nest(over_groups) = &binding.op else { bug!("the binding is a nest") };
        let b = &mut self.builder;
        let range = b.seq(SeqOp::Range, vec![Atom::Int(0), Atom::Int(1), extent.slots], site);
        let there = match wanted.count {
            true => b.nest(&[tables.members], false, site, |b, x| {
                b.scalar(ScalarOp::Gt, vec![x[0], Atom::Int(0)], site)
            }),
            false => tables.members,
        };
        let keys = b.seq(SeqOp::Pack, vec![range, there], site);
        b.nest(&[keys], false, site, |b, x| {
            let count = match wanted.count {
                true => b.seq(SeqOp::Index, vec![tables.members, x[0]], site),
                false => Atom::Int(1),
            };
            let mut group = Group::new(b, x[0], count, source.width);
            for (reduction, table) in tables.reductions {
                group.read(reduction, table, site);
            }
            group.write(over_groups).or_bug("the nest was written once before")
        })
    }

    /// The nest over the groups, as it was written.
    fn over_groups(
        &mut self,
        binding: Let,
        found: Found,
        pairs: Option<Atom>,
        source: &Source,
    ) -> Atom {
        let (b, site) = (&mut self.builder, binding.site);
        let mut call = found.call;
        if let Op::Call(_, args) = &mut call.op {
            let over = [source.keys, source.values];
            let zipped = |b: &mut FunctionBuilder| {
                b.nest(&over, false, site, |b, x| b.pair(x[0], x[1], site))
            };
            args[0] = pairs.unwrap_or_else(|| zipped(b));
        }
        b.keep(call);
        let result = b.fresh(binding.ty.clone());
        b.keep(Let { var: result, ..binding });
        Atom::Var(result)
    }

    /// The greatest key; if a key is negative or a row has another length than the first, [`NO_KEY`] or more.
    fn top(&mut self, source: &Source, site: Site) -> Atom {
        let Source { keys, values, width, .. } = *source;
        let over = match width {
            Some(_) => vec![keys, values],
            None => vec![keys],
        };
        let b = &mut self.builder;
        let bounds = b.nest(&over, false, site, |b, x| {
            let mut wrong = b.scalar(ScalarOp::Lt, vec![x[0], Atom::Int(0)], site);
            if let Some(width) = width {
                let length = b.seq(SeqOp::Length, vec![x[1]], site);
                let other = b.scalar(ScalarOp::Ne, vec![length, width], site);
                wrong = b.scalar(ScalarOp::Or, vec![wrong, other], site);
            }
            b.conditional(wrong, site, |_| Atom::Int(NO_KEY), |_| x[0])
        });
        b.seq(SeqOp::Reduce(ReduceOp::Max), vec![bounds], site)
    }

    /// The number of members of each key, and their reductions.
    fn tables(
        &mut self,
        wanted: &Wanted,
        source: &Source,
        Extent { slots, size }: Extent,
        site: Site,
    ) -> Tables {
        let Source { keys, values, width, .. } = *source;
        let b = &mut self.builder;
        // Whether there are members takes a byte for each key.
        let (with, each) = match wanted.count {
            true => (ReduceOp::Sum, Atom::Int(1)),
            false => (ReduceOp::Or, Atom::Bool(true)),
        };
        let each = b.nest(&[keys], false, site, |_, _| each);
        let members = b.seq(SeqOp::Histogram(with), vec![slots, keys, each], site);
        let places = match width {
            Some(width) if !wanted.reductions.is_empty() => b.nest(&[keys], false, site, |b, x| {
                b.scalar(ScalarOp::Mul, vec![x[0], width], site)
            }),
            Some(_) | None => keys,
        };
        let table = |reduction: &Reduction| {
            let values = match reduction.mapping {
                Some(number) => b.nest(&[keys, values], false, site, |b, x| {
                    let [key, value] = [x[0], x[1]].map(|x| x.variable().or_bug("it is bound"));
                    wanted.mappings[number].apply(b, key, value, reduction.with, site)
                }),
                None => values,
            };
            let with = SeqOp::Histogram(reduction.with);
            (*reduction, b.seq(with, vec![size, places, values], site))
        };
        Tables { members, reductions: wanted.reductions.iter().map(table).collect() }
    }
}

/// The type of the members of groups.
fn members(call: &Let) -> Ty {
    match call.ty.element() {
        Some(Ty::Pair(_, members)) => members.sequence_element().clone(),
        _ => bug!("groups are pairs of keys and members"),
    }
}
