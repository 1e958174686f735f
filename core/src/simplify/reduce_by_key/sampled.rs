//! Reductions by key of many values: a few keys are looked at before the first pass.
//!
//! ```text
//! few = #kv < least, or the greatest of some keys is below slots
//! (top, t) = if few then (the greatest key, the values, added up) else (the greatest key, nothing)
//! r = if few and top < slots
//!     then {(k, t[k]) : k in the keys there are}
//!     else if top < min(#kv, most)
//!     then the same, with a table for top + 1 keys
//!     else {… : (k, m) in int_collect(kv)}
//! ```
//!
//! A pass that fills a table too small for the keys does all its work in vain, but for the greatest key. Finding only
//! that reads the keys one after the other, and nothing of the values, which may lie anywhere.
//!
//! Each pass makes the pairs, by a few operations, or reads them where they are. If these operations may fault, they do
//! so in each pass alike; those that keys are computed by may not, since the keys that are looked at are not the first.

use super::{Extent, Found, NO_KEY, Reducer, Source, Tables, members};
use crate::ir::{Atom, Block, Class, FunctionBuilder, Let, Nest, Op, Site, Ty, Var};
use crate::prim::{Cost, ReduceOp, SeqOp};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::scalar::ScalarOp;
use rustc_hash::{FxHashMap, FxHashSet};

/// The pairs of keys and values, for each pass.
pub(super) enum Pairs {
    /// They are there.
    There(Atom),
    /// They are made by this nest, which nothing else uses.
    Made(Let),
}

impl Found {
    /// Returns the pairs that each pass makes.
    pub(super) fn repeated(&self) -> Option<Var> {
        match &self.pairs {
            Some(Pairs::Made(pairs)) => Some(pairs.var),
            Some(Pairs::There(_)) | None => None,
        }
    }
}

impl Reducer<'_> {
    /// Returns the pairs of a nest over groups, if each pass may make them or read them: members are no rows, a second
    /// pass is worth while, and what makes the pairs is cheap and may be computed later than it is written. `is_stored`
    /// says that they are there in any case.
    pub(super) fn pairs_of_passes(
        &self,
        block: &Block,
        pairs: Atom,
        call: &Let,
        nest: &Let,
        is_stored: bool,
    ) -> Option<Pairs> {
        if members(call).element().is_some()
            || self.limits.max_large_histogram_elements <= self.limits.max_histogram_elements
        {
            return None;
        }
        let place = |atom: Atom| block.lets.iter().position(|l| Atom::Var(l.var) == atom);
        let there = Some(Pairs::There(pairs));
        let Some(at) = place(pairs) else { return there };
        let made = &block.lets[at];
        let Op::Nest(body) = &made.op else { return there };
        if is_stored || !self.once(made.var) {
            return there;
        }
        let is_cheap = |inner: &Let| {
            inner.op.costs_at_most(Cost::Element, &inner.ty)
                && !matches!(inner.op.class(&inner.ty), Class::Effects | Class::Control)
        };
        // Of two faults the first that is written stays the first.
        let may_fault = body.body.may_fault();
        let may_pass = |passed: &Let| match passed.op.class(&passed.ty) {
            Class::Pure | Class::Reads => true,
            Class::Traps => !may_fault,
            Class::Call => passed.var == call.var,
            Class::Control | Class::Effects => false,
        };
        let to = place(Atom::Var(nest.var))?;
        let is_repeated = !body.serial
            && body.body.lets.len() <= self.limits.max_rematerialised_operations
            && body.body.lets.iter().all(is_cheap)
            && !key_of(body).0.iter().any(|binding| binding.may_fault())
            && block.lets[at + 1..to].iter().all(may_pass);
        is_repeated.then(|| Pairs::Made(made.clone()))
    }

    /// Writes the passes, and the nest over what they find.
    pub(super) fn sampled_nest(&mut self, binding: Let, found: Found, pairs: &Pairs) {
        let Let { var, ref ty, site, .. } = binding;
        let ty = ty.clone();
        let count = self.least_length(pairs, site);
        let slots = vec![count, Atom::Int(self.limits.max_histogram_elements)];
        let slots = self.builder.scalar(ScalarOp::Min, slots, site);
        let few = self.keys_seem_small(pairs, count, slots, site);
        let extent = Extent { slots, size: slots };

        self.builder.begin();
        let source = self.source(pairs, &found.call, count);
        let top = self.top(&source, site);
        let tables = self.tables(&found.wanted, &source, extent, site);
        let mut filled = vec![tables.members];
        filled.extend(tables.reductions.iter().map(|(_, table)| *table));
        let types = self.builder.types_of(&filled);
        let result = self.first_pass(top, filled, site);
        let then = self.builder.end(result);
        self.builder.begin();
        let source = self.source(pairs, &found.call, count);
        let top = self.top(&source, site);
        let empty = |ty: &Ty| self.builder.bind(ty.clone(), Op::List(Vec::new()), site);
        let none: Vec<Atom> = types.iter().map(empty).collect();
        let result = self.first_pass(top, none, site);
        let otherwise = self.builder.end(result);

        let b = &mut self.builder;
        let results = b.type_of(&then.result);
        let mut rest = b.bind(results, Op::If { cond: few, then, otherwise }, site);
        let mut results = Vec::new();
        for _ in &types {
            let (next, others) = b.unpair(rest, site);
            results.push(next);
            rest = others;
        }
        results.push(rest);
        let (top, members) = (results[0], results[1]);
        let reductions = found.wanted.reductions.iter().copied();
        let reductions = reductions.zip(results[2..].iter().copied()).collect();
        let fits = b.scalar(ScalarOp::Lt, vec![top, slots], site);
        let cond = b.scalar(ScalarOp::And, vec![few, fits], site);
        b.begin();
        let own = Source { keys: top, values: top, pairs: None, count, width: None };
        let tables = Tables { members, reductions };
        let result = self.over_keys(&binding, &found.wanted, tables, &own, extent);
        let then = self.builder.end(result);
        self.builder.begin();
        let most = vec![count, Atom::Int(self.limits.max_large_histogram_elements)];
        let most = self.builder.scalar(ScalarOp::Min, most, site);
        let result = self.large_pass(binding, found, pairs, &own, most);
        let otherwise = self.builder.end(result);
        self.builder.keep(Let { var, ty, op: Op::If { cond, then, otherwise }, site });
    }

    /// The second pass over the values, or, if a table would have too many elements, the nest over the groups.
    fn large_pass(
        &mut self,
        binding: Let,
        found: Found,
        pairs: &Pairs,
        first: &Source,
        most: Atom,
    ) -> Atom {
        let (site, ty, top, count) = (binding.site, binding.ty.clone(), first.keys, first.count);
        let cond = self.builder.scalar(ScalarOp::Lt, vec![top, most], site);
        self.builder.begin();
        let slots = self.slots_to(top, site);
        let source = self.source(pairs, &found.call, count);
        let result = self.over_all_keys(&binding, &found.wanted, &source, slots);
        let then = self.builder.end(result);
        self.builder.begin();
        let made = self.made(pairs);
        let result = self.over_groups(binding, found, Some(made), first);
        let otherwise = self.builder.end(result);
        self.builder.bind(ty, Op::If { cond, then, otherwise }, site)
    }

    /// The pairs, made for one pass.
    fn made(&mut self, pairs: &Pairs) -> Atom {
        match pairs {
            Pairs::There(pairs) => *pairs,
            Pairs::Made(made) => {
                let made = self.builder.copied(made, &mut FxHashMap::default());
                let pairs = Atom::Var(made.var);
                self.builder.keep(made);
                pairs
            }
        }
    }

    /// The keys and values for one pass.
    fn source(&mut self, pairs: &Pairs, call: &Let, count: Atom) -> Source {
        let made = self.made(pairs);
        let (keys, values) = self.unzip(made, call);
        Source { keys, values, pairs: Some(made), count, width: None }
    }

    /// The number of pairs, or of the shortest sequence that they are made of.
    fn least_length(&mut self, pairs: &Pairs, site: Site) -> Atom {
        let over = match pairs {
            Pairs::Made(Let { op: Op::Nest(nest), .. }) => {
                nest.binders.iter().map(|(.., of)| *of).collect()
            }
            Pairs::Made(_) => Vec::new(),
            Pairs::There(pairs) => vec![*pairs],
        };
        let b = &mut self.builder;
        let lengths: Vec<Atom> =
            over.iter().map(|of| b.seq(SeqOp::Length, vec![*of], site)).collect();
        let least = lengths.into_iter().reduce(|a, c| b.scalar(ScalarOp::Min, vec![a, c], site));
        least.or_bug("a nest is over one sequence at least")
    }

    /// Binds if all of some keys have places in the table of the first pass, or no key is worth a look.
    fn keys_seem_small(&mut self, pairs: &Pairs, count: Atom, slots: Atom, site: Site) -> Atom {
        let (b, limits) = (&mut self.builder, self.limits);
        let least = Atom::Int(limits.min_sampled_values);
        let is_short = b.scalar(ScalarOp::Lt, vec![count, least], site);
        b.conditional(
            is_short,
            site,
            |_| Atom::Bool(true),
            |b| {
                let step =
                    b.scalar(ScalarOp::Div, vec![count, Atom::Int(limits.sampled_keys)], site);
                let range = vec![Atom::Int(0), Atom::Int(1), Atom::Int(limits.sampled_keys)];
                let range = b.seq(SeqOp::Range, range, site);
                let bounds = b.nest(&[range], false, site, |b, number| {
                    let at = b.scalar(ScalarOp::Mul, vec![number[0], step], site);
                    let key = key_at(b, pairs, at, site);
                    let wrong = b.scalar(ScalarOp::Lt, vec![key, Atom::Int(0)], site);
                    b.conditional(wrong, site, |_| Atom::Int(NO_KEY), |_| key)
                });
                let top = b.seq(SeqOp::Reduce(ReduceOp::Max), vec![bounds], site);
                b.scalar(ScalarOp::Lt, vec![top, slots], site)
            },
        )
    }

    /// The results of the first pass as one value.
    fn first_pass(&mut self, top: Atom, tables: Vec<Atom>, site: Site) -> Atom {
        let b = &mut self.builder;
        let pair = std::iter::once(top)
            .chain(tables)
            .rev()
            .reduce(|rest, first| b.pair(first, rest, site));
        pair.or_bug("there is a greatest key")
    }
}

/// The key at a place.
fn key_at(b: &mut FunctionBuilder, pairs: &Pairs, at: Atom, site: Site) -> Atom {
    let made = match pairs {
        Pairs::There(pairs) => {
            let pair = b.seq(SeqOp::Index, vec![*pairs, at], site);
            return b.bind(Ty::Int, Op::First(pair), site);
        }
        Pairs::Made(made) => b.copied(made, &mut FxHashMap::default()),
    };
    let Op::Nest(nest) = &made.op else { bug!("pairs are made by a nest") };
    for (var, ty, of) in &nest.binders {
        let op = Op::Seq(SeqOp::Index, vec![*of, at]);
        b.keep(Let { var: *var, ty: ty.clone(), op, site });
    }
    let (lets, result) = key_of(nest);
    lets.into_iter().for_each(|binding| b.keep(binding.clone()));
    match result {
        KeyOf::Key(key) => key,
        KeyOf::Pair(pair) => b.bind(Ty::Int, Op::First(pair), site),
    }
}

/// A key, or the pair that it is the first component of.
enum KeyOf {
    Key(Atom),
    Pair(Atom),
}

/// Returns the bindings of a nest that makes pairs by which it computes the keys.
fn key_of(nest: &Nest) -> (Vec<&Let>, KeyOf) {
    let lets = &nest.body.lets;
    let last = lets.iter().find(|binding| Atom::Var(binding.var) == nest.body.result);
    let (key, atom) = match last.map(|binding| &binding.op) {
        Some(Op::Pair(key, _)) => (KeyOf::Key(*key), *key),
        _ => (KeyOf::Pair(nest.body.result), nest.body.result),
    };
    let mut needed: FxHashSet<Var> = atom.variable().into_iter().collect();
    let mut own = Vec::new();
    for binding in lets.iter().rev().filter(|binding| !matches!(binding.op, Op::Check { .. })) {
        if needed.contains(&binding.var) {
            needed.extend(binding.op.operands().into_iter().filter_map(Atom::variable));
            own.push(binding);
        }
    }
    own.reverse();
    (own, key)
}

/// Returns true for a block that gives a nest over the keys there are in tables.
pub(super) fn reads_tables(block: &Block) -> bool {
    let of = |atom: Atom| block.lets.iter().find(|l| Atom::Var(l.var) == atom).map(|l| &l.op);
    let Some(Op::Nest(nest)) = of(block.result) else { return false };
    let [(_, _, keys)] = nest.binders[..] else { return false };
    let Some(Op::Seq(SeqOp::Pack, parts)) = of(keys) else { return false };
    matches!(of(parts[0]), Some(Op::Seq(SeqOp::Range, range))
        if range[..2] == [Atom::Int(0), Atom::Int(1)])
}
