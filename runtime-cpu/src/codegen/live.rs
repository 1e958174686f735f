//! Which instructions of the stages a loop needs.
//!
//! In its own stages of the last phase a loop does everything. Elsewhere (finding totals, doing
//! an earlier stage again) it does what the sinks need, and checks where they have not been made
//! yet; arrays of the runtime are not written.

use super::sinks::{Phase, Task};
use super::walk;
use nesl_runtime::kir::{Inst, Kernel, Op, Value};

/// For each stage up to the last, the instructions that are needed.
pub fn code<'a>(
    kernel: &'a Kernel,
    tasks: &[Task<'_>],
    phase: Phase,
    own: usize,
    last: usize,
) -> Vec<Vec<&'a Inst>> {
    let mut needed = vec![false; kernel.types.len()];
    let outer = outer(kernel);
    let mut out = Vec::new();
    for stage in (0..=last).rev() {
        for task in tasks.iter().filter(|t| t.stage == stage) {
            task.needs(&mut |v| needed[v.0 as usize] = true);
        }
        let mut kept = Vec::new();
        for inst in kernel.stages[stage].body.insts.iter().rev() {
            let effects = effects(inst, &outer);
            let keep = inst.results.iter().any(|v| needed[v.0 as usize])
                || match (phase, stage >= own) {
                    (Phase::Final, true) => effects.any(),
                    (Phase::Totals(_) | Phase::Tags, true) => effects.ends || effects.inner,
                    (_, false) => effects.inner,
                };
            if keep {
                walk::reads(inst, &mut |v| needed[v.0 as usize] = true);
                kept.push(inst);
            }
        }
        kept.reverse();
        out.push(kept);
    }
    out.reverse();
    out
}

/// Whether the code that runs before the last phase perhaps reads what it should have written by
/// then: arrays of the runtime are written in the last phase only.
pub fn reads_written(kernel: &Kernel, last: usize) -> bool {
    let outer = outer(kernel);
    let (mut used, mut written) = (vec![false; outer.len()], vec![false; outer.len()]);
    let mut unclear = false;
    for stage in &kernel.stages[..=last] {
        walk::insts(&stage.body, &mut |inst| match &inst.op {
            Op::Store { array, index, value } => {
                used[index.0 as usize] = true;
                used[value.0 as usize] = true;
                written[array.0 as usize] = true;
                unclear |= outer[array.0 as usize] && !kernel.params.contains(array);
            }
            op => {
                walk::operands(op, &mut |v| used[v.0 as usize] = true);
                let mut blocks = walk::blocks(op).into_iter().flatten().peekable();
                unclear |= blocks.peek().is_none() && effects(inst, &outer).outer;
                blocks.flat_map(|block| &block.yields).for_each(|v| used[v.0 as usize] = true);
            }
        });
    }
    unclear || used.iter().zip(&written).any(|(used, written)| *used && *written)
}

/// The stages that may fail, but for the last of them, and if any is behind them.
pub fn failing_stages(kernel: &Kernel) -> Vec<usize> {
    let outer = outer(kernel);
    let fails =
        |at: &usize| kernel.stages[*at].body.insts.iter().any(|inst| effects(inst, &outer).ends);
    let mut stages: Vec<usize> = (0..kernel.stages.len()).filter(fails).collect();
    stages.pop();
    stages
}

/// What an instruction does besides giving results.
#[derive(Clone, Copy, Debug, Default)]
struct Effects {
    /// Writes arrays of the runtime.
    outer: bool,
    /// Writes arrays that are perhaps the instance's.
    inner: bool,
    /// May end the instance.
    ends: bool,
    /// May never end.
    lasts: bool,
}

impl Effects {
    fn any(self) -> bool {
        self.outer || self.inner || self.ends || self.lasts
    }
}

fn effects(inst: &Inst, outer: &[bool]) -> Effects {
    let mut all = Effects::default();
    let mut note = |inst: &Inst| match &inst.op {
        Op::Store { array: to, .. } | Op::Copy { to, .. } => match outer[to.0 as usize] {
            true => all.outer = true,
            false => all.inner = true,
        },
        Op::Call(_, args) => {
            all.ends = true;
            all.outer |= args.iter().any(|v| outer[v.0 as usize]) && inst.results.is_empty();
            all.inner |= inst.results.is_empty();
        }
        Op::Extern(_, args) => {
            all.inner |= args.iter().any(|v| !outer[v.0 as usize]);
            all.outer |= args.iter().any(|v| outer[v.0 as usize]) && inst.results.is_empty();
        }
        Op::Check { .. } | Op::Fail { .. } => all.ends = true,
        Op::While { .. } => all.lasts = true,
        Op::Const(_)
        | Op::Text(_)
        | Op::Unary(..)
        | Op::Binary(..)
        | Op::Fma(..)
        | Op::Select(..)
        | Op::Convert(..)
        | Op::Bits(..)
        | Op::Alloc(..)
        | Op::Load { .. }
        | Op::Slice(..)
        | Op::If { .. }
        | Op::For { .. }
        | Op::Mark
        | Op::Compact { .. } => {}
    };
    note(inst);
    for block in walk::blocks(&inst.op).into_iter().flatten() {
        walk::insts(block, &mut note);
    }
    all
}

/// The values that are surely arrays of the runtime: parameters and slices of them.
fn outer(kernel: &Kernel) -> Vec<bool> {
    let mut outer = vec![false; kernel.types.len()];
    let is_array = |v: &Value| super::kernel::is_array(kernel.types[v.0 as usize]);
    for param in kernel.params.iter().filter(|v| is_array(v)) {
        outer[param.0 as usize] = true;
    }
    for stage in &kernel.stages {
        walk::insts(&stage.body, &mut |inst| {
            let known = match &inst.op {
                Op::Slice(array, _) => outer[array.0 as usize],
                Op::Select(_, a, b) => outer[a.0 as usize] && outer[b.0 as usize],
                _ => false,
            };
            if known {
                outer[inst.results[0].0 as usize] = true;
            }
        });
    }
    outer
}
