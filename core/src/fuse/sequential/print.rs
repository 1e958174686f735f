//! The plans of a program as text.

use super::ownership::Ownership;
use super::plan::SequentialPlan;
use crate::ir::{self, FunId, Function, Let, Op, Program, Site, Var};
use crate::prim::SeqOp;
use rustc_hash::FxHashMap;
use std::fmt::Write as _;

/// Returns the text of a program, and behind it the plan of each function that has decisions, its
/// lines in the order of the bindings.
pub fn print(program: &Program) -> String {
    print_located(program).0
}

/// Returns the text of a program and its plans as [`print()`] does, and the source locations of its
/// lines: pairs of a byte offset in a line and the location.
pub fn print_located(program: &Program) -> (String, Vec<(usize, Site)>) {
    let (mut out, mut notes) = ir::print_located(program);
    let ownership = Ownership::of(program);
    for (number, function) in program.functions.iter().enumerate() {
        let id = FunId(number as u32);
        let plan = SequentialPlan::of(&function.body);
        let mut decisions = Vec::new();
        function.body.each_let(&mut |binding| each_decision(binding, &plan, &mut decisions));
        if !decisions.is_empty() {
            section("plan", function, decisions, &mut out, &mut notes);
        }
        let owned = ownership.decisions(id);
        if !owned.is_empty() {
            let mut sites = FxHashMap::default();
            function.body.each_let(&mut |binding| {
                sites.insert(binding.var, binding.site);
            });
            let site = |var: Option<Var>| var.and_then(|var| sites.get(&var)).copied();
            let located = |(var, text)| (text, site(var).unwrap_or(function.site));
            let owned = owned.into_iter().map(located).collect();
            section("own", function, owned, &mut out, &mut notes);
        }
    }
    (out, notes)
}

/// Adds the decisions about a function, each with its source location.
fn section(
    title: &str,
    function: &Function,
    decisions: Vec<(String, Site)>,
    out: &mut String,
    notes: &mut Vec<(usize, Site)>,
) {
    let _ = write!(out, "\n{title} {:?} {{\n", function.name.as_str());
    for (decision, site) in decisions {
        notes.push((out.len(), site));
        let _ = writeln!(out, "  {decision}");
    }
    out.push_str("}\n");
}

/// Adds the decisions about the variables that a binding binds, with its source location.
fn each_decision(binding: &Let, plan: &SequentialPlan<'_>, all: &mut Vec<(String, Site)>) {
    let mut add = |var: Var| {
        let decisions = decisions(var, plan).into_iter().flatten();
        all.extend(decisions.map(|decision| (decision, binding.site)));
    };
    if let Op::Nest(nest) = &binding.op {
        nest.binders.iter().for_each(|(var, ..)| add(*var));
    }
    add(binding.var);
}

/// Returns the decisions about a variable, as text.
fn decisions(var: Var, plan: &SequentialPlan<'_>) -> [Option<String>; 6] {
    let fused = plan.is_fused(var).then(|| format!("fuse v{}", var.0));
    let within = plan.is_within_bounds(var).then(|| format!("within v{}", var.0));
    let shared = plan.loop_at(var).map(|shared| {
        let members = names(shared.members.iter().map(|member| member.var));
        format!("loop over v{}: {members}", shared.over.0)
    });
    let filters = plan.filters_at(var).map(|shared| {
        let members = names(shared.members.iter().map(|member| member.var));
        format!("filters of v{}: {members}", shared.over.0)
    });
    let part = plan.is_part_of_append(var).then(|| format!("part v{}", var.0));
    let sort = plan.sort_of(var).map(|rank| {
        let direction = if rank == SeqOp::RankUp { "up" } else { "down" };
        format!("sort {direction} v{}", var.0)
    });
    [fused, within, shared, filters, part, sort]
}

fn names(vars: impl Iterator<Item = Var>) -> String {
    vars.map(|var| format!("v{}", var.0)).collect::<Vec<_>>().join(" ")
}
