//! The invariants of a plan.
//!
//! A plan of a block is well-formed if
//!
//! 1. it names variables that the block binds;
//! 2. a fused variable has at most one use, in as many nests as its definition (no element is
//!    computed twice), unless it is a range, or a shared loop is all that uses it, or a filter with its flags is, or it is a
//!    light map;
//! 3. a shared loop has at least two members, all of them reductions bound in one block, of the
//!    common sequence or of a map over it whose body cannot fault, and every variable that such a
//!    body takes from that block is bound before the first member;
//! 4. filters that share a loop are at least two, bound in one block, of the common sequence by a map over
//!    it whose body cannot fault, and every variable that such a body takes from that block is bound
//!    before the first of them;
//! 5. an append that is part of another is used once;
//! 6. a rank that is not computed is used once, to permute what it ranks;
//! 7. a gather that is not tested is at places within the sequence.

use super::appends::is_append;
use super::bounds::is_within_bounds;
use super::filtered_maps::filtered_maps;
use super::light_maps::light_maps;
use super::plan::SequentialPlan;
use super::shared_filters::{SharedFilters, member};
use super::shared_loop::{SharedLoop, uses_of_body};
use super::uses::Uses;
use crate::base::with_stack;
use crate::ir::{Block, Let, Nest, Op, Program, Var};
use crate::prim::SeqOp;
use nesl_runtime::violation::Violation;
use rustc_hash::{FxHashMap, FxHashSet};

/// Makes and checks the plan of each function of a program.
///
/// # Errors
/// The invariants that the plans break.
pub fn verify_program(program: &Program) -> Result<(), Vec<Violation>> {
    let mut violations = Vec::new();
    for function in &program.functions {
        let plan = SequentialPlan::of(&function.body);
        violations
            .extend(verify(&function.name, &function.body, &plan).err().into_iter().flatten());
    }
    if violations.is_empty() { Ok(()) } else { Err(violations) }
}

/// Checks that a plan is one of a block.
///
/// # Errors
/// The invariants that it breaks; `within` names the function in them.
pub fn verify(
    within: &str,
    block: &Block,
    plan: &SequentialPlan<'_>,
) -> Result<(), Vec<Violation>> {
    let mut checker = Checker {
        within,
        plan,
        uses: Uses::of(block),
        lets: FxHashMap::default(),
        binders: FxHashSet::default(),
        repeated: FxHashSet::default(),
        violations: Vec::new(),
    };
    block.each_let(&mut |binding| {
        checker.lets.insert(binding.var, binding);
        if let Op::Nest(nest) = &binding.op {
            checker.binders.extend(nest.binders.iter().map(|(var, ..)| *var));
        }
    });
    checker.repeated(block);
    checker.fused();
    checker.within();
    checker.appends();
    checker.sorts();
    let mut found = 0;
    checker.loops(block, &mut found);
    if found != plan.loops.len() + plan.filters.len() {
        checker.report("a shared loop stands at a variable that is not bound");
    }
    if checker.violations.is_empty() { Ok(()) } else { Err(checker.violations) }
}

struct Checker<'p, 'a> {
    within: &'p str,
    plan: &'p SequentialPlan<'a>,
    uses: Uses,
    lets: FxHashMap<Var, &'p Let>,
    binders: FxHashSet<Var>,
    /// The maps that several loops compute: those that only a filter and its flags use, and light ones.
    repeated: FxHashSet<Var>,
    violations: Vec<Violation>,
}

impl<'p> Checker<'p, '_> {
    fn report(&mut self, message: impl Into<String>) {
        self.violations.push(Violation::within(self.within, message));
    }

    fn repeated(&mut self, block: &'p Block) {
        with_stack(|| {
            self.repeated.extend(filtered_maps(block, &self.uses));
            self.repeated.extend(light_maps(block, &self.uses));
            for binding in &block.lets {
                binding.op.blocks().for_each(|inner| self.repeated(inner));
            }
        });
    }

    fn fused(&mut self) {
        let mut fused: Vec<Var> = self.plan.fused.iter().copied().collect();
        fused.sort_unstable();
        for var in fused {
            let binding = self.lets.get(&var).copied();
            if binding.is_none() && !self.binders.contains(&var) {
                self.report(format!("v{} is fused and not bound", var.0));
            }
            let range = binding.is_some_and(|binding| self.is_range(binding));
            let loops = self.plan.loops.values();
            let shared = loops.into_iter().any(|shared| shared.over == var && shared.only_use);
            let once = self.uses.count(var) == 0 || self.uses.once(var);
            if !once && !range && !shared && !self.repeated.contains(&var) {
                self.report(format!("v{} is fused and computed more than once", var.0));
            }
        }
    }

    /// Returns true for a range and for copies of one.
    fn is_range(&self, binding: &Let) -> bool {
        match &binding.op {
            Op::Seq(SeqOp::Range, _) => true,
            // The elements of what it was taken out of are not followed here.
            Op::Copy(_) | Op::First(_) | Op::Second(_) | Op::Seq(SeqOp::Index, _) => true,
            _ => false,
        }
    }

    fn within(&mut self) {
        let mut within: Vec<Var> = self.plan.within.iter().copied().collect();
        within.sort_unstable();
        for gather in within {
            let made = |var: Var| self.lets.get(&var).map(|binding| &binding.op);
            let is_proved = matches!(made(gather), Some(Op::Seq(SeqOp::Gather, args))
                if is_within_bounds(args[0], args[1], &made));
            if !is_proved {
                self.report(format!("v{} may read beyond the sequence", gather.0));
            }
        }
    }

    fn appends(&mut self) {
        let mut parts: Vec<Var> = self.plan.appends.iter().copied().collect();
        parts.sort_unstable();
        for part in parts {
            let append = self.lets.get(&part).is_some_and(|binding| is_append(binding));
            if !append || !self.uses.once(part) {
                self.report(format!("v{} is not part of one append", part.0));
            }
        }
    }

    fn sorts(&mut self) {
        let mut sorts: Vec<Var> = self.plan.sorts.keys().copied().collect();
        sorts.sort_unstable();
        for rank in sorts {
            let of = self.lets.get(&rank).and_then(|binding| match &binding.op {
                Op::Seq(SeqOp::RankUp | SeqOp::RankDown, args) => Some(args[0]),
                _ => None,
            });
            if of.is_none() || self.uses.permutes(rank) != of {
                self.report(format!("v{} is not a rank that only permutes what it ranks", rank.0));
            }
        }
    }

    fn loops(&mut self, block: &'p Block, found: &mut usize) {
        with_stack(|| {
            for (position, binding) in block.lets.iter().enumerate() {
                if let Some(shared) = self.plan.loops.get(&binding.var) {
                    *found += 1;
                    self.shared_loop(block, position, shared);
                }
                if let Some(shared) = self.plan.filters.get(&binding.var) {
                    *found += 1;
                    self.shared_filters(block, position, shared);
                }
                binding.op.blocks().for_each(|inner| self.loops(inner, found));
            }
        });
    }

    fn shared_loop(&mut self, block: &'p Block, first: usize, shared: &SharedLoop<'_>) {
        let at = block.lets[first].var.0;
        if shared.members.len() < 2 {
            self.report(format!("the shared loop at v{at} has one member"));
        }
        let later: FxHashSet<Var> = block.lets[first..].iter().map(|binding| binding.var).collect();
        for member in &shared.members {
            let of =
                block.lets.iter().find(|binding| binding.var == member.var).and_then(|binding| {
                    match &binding.op {
                        Op::Seq(SeqOp::Reduce(with), args) if *with == member.with => Some(args[0]),
                        _ => None,
                    }
                });
            if of.is_none() {
                self.report(format!("v{} is no reduction beside v{at}", member.var.0));
            }
            let faults = |map: &Nest| map.body.may_fault();
            if member.map.is_some_and(faults) {
                self.report(format!("the elements of v{} may fault", member.var.0));
            }
            let late = |map: &Nest| uses_of_body(map).iter().any(|var| later.contains(var));
            if member.map.is_some_and(late) {
                self.report(format!("the elements of v{} are not known at v{at}", member.var.0));
            }
        }
    }

    fn shared_filters(&mut self, block: &'p Block, first: usize, shared: &SharedFilters<'_>) {
        let at = block.lets[first].var.0;
        if shared.members.len() < 2 {
            self.report(format!("the filters at v{at} are fewer than two"));
        }
        let maps = block.lets.iter().filter_map(|binding| match &binding.op {
            Op::Nest(nest) => Some((binding.var, nest)),
            _ => None,
        });
        let maps: FxHashMap<Var, &Nest> = maps.collect();
        let later: FxHashSet<Var> = block.lets[first..].iter().map(|binding| binding.var).collect();
        for filter in &shared.members {
            let binding = block.lets.iter().find(|binding| binding.var == filter.var);
            let found = binding.and_then(|binding| member(binding, &maps, &self.uses));
            if found.is_none_or(|(over, ..)| over != shared.over) {
                self.report(format!("v{} is no filter beside v{at}", filter.var.0));
            }
            if uses_of_body(filter.flags).iter().any(|var| later.contains(var)) {
                self.report(format!("the flags of v{} are not known at v{at}", filter.var.0));
            }
        }
    }
}
