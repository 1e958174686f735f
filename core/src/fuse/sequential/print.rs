//! The plans of a program as text.

use super::plan::SequentialPlan;
use crate::ir::{self, Op, Program, Var};
use crate::prim::SeqOp;
use std::fmt::Write as _;

/// Returns the text of a program, and behind it the plan of each function that has decisions, its
/// lines in the order of the bindings.
pub fn print(program: &Program) -> String {
    let mut out = ir::print(program);
    for function in &program.functions {
        let text = decisions(function, &SequentialPlan::of(&function.body));
        if !text.is_empty() {
            let _ = write!(out, "\nplan {:?} {{\n{text}}}\n", function.name.as_str());
        }
    }
    out
}

fn decisions(function: &ir::Function, plan: &SequentialPlan<'_>) -> String {
    let mut out = String::new();
    function.body.each_let(&mut |binding| {
        if let Op::Nest(nest) = &binding.op {
            nest.binders.iter().for_each(|(var, ..)| decision(*var, plan, &mut out));
        }
        decision(binding.var, plan, &mut out);
    });
    out
}

fn decision(var: Var, plan: &SequentialPlan<'_>, out: &mut String) {
    if plan.is_fused(var) {
        let _ = writeln!(out, "  fuse v{}", var.0);
    }
    if let Some(shared) = plan.loop_at(var) {
        let members: Vec<String> =
            shared.members.iter().map(|member| format!("v{}", member.var.0)).collect();
        let _ = writeln!(out, "  loop over v{}: {}", shared.over.0, members.join(" "));
    }
    if let Some(rank) = plan.sort_of(var) {
        let direction = if rank == SeqOp::RankUp { "up" } else { "down" };
        let _ = writeln!(out, "  sort {direction} v{}", var.0);
    }
}
