//! The plans of a program as text.

use super::plan::SequentialPlan;
use crate::ir::{self, Let, Op, Program, Site, Var};
use crate::prim::SeqOp;
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
    for function in &program.functions {
        let plan = SequentialPlan::of(&function.body);
        let mut decisions = Vec::new();
        function.body.each_let(&mut |binding| each_decision(binding, &plan, &mut decisions));
        if decisions.is_empty() {
            continue;
        }
        let _ = write!(out, "\nplan {:?} {{\n", function.name.as_str());
        for (decision, site) in decisions {
            notes.push((out.len(), site));
            let _ = writeln!(out, "  {decision}");
        }
        out.push_str("}\n");
    }
    (out, notes)
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
fn decisions(var: Var, plan: &SequentialPlan<'_>) -> [Option<String>; 3] {
    let fused = plan.is_fused(var).then(|| format!("fuse v{}", var.0));
    let shared = plan.loop_at(var).map(|shared| {
        let members: Vec<String> =
            shared.members.iter().map(|member| format!("v{}", member.var.0)).collect();
        format!("loop over v{}: {}", shared.over.0, members.join(" "))
    });
    let sort = plan.sort_of(var).map(|rank| {
        let direction = if rank == SeqOp::RankUp { "up" } else { "down" };
        format!("sort {direction} v{}", var.0)
    });
    [fused, shared, sort]
}
