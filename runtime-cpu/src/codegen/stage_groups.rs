//! The stages of a kernel whose elements are executed in one loop.

use super::phases::{self, Phase, Task};
use nesl_runtime::kir::liveness::live_insts;
use nesl_runtime::kir::{Inst, Kernel, Sink};

/// The stages whose elements are executed in one loop.
pub struct StageGroup<'a> {
    /// The live instructions of each stage.
    pub code: Vec<Vec<&'a Inst>>,
    /// The sinks, by stage.
    pub tasks: Vec<Task<'a>>,
    /// The first stage that is not recomputed.
    pub own: usize,
}

/// Splits the stages of a pass into groups.
pub fn groups(kernel: &Kernel, phase: Phase) -> Vec<StageGroup<'_>> {
    let last = match phase {
        Phase::Local(stage) => stage,
        Phase::Final => kernel.stages.len() - 1,
        Phase::Tag => {
            let scatters = |s: &Sink| matches!(s, Sink::Scatter { .. });
            kernel.stages.iter().rposition(|s| s.sinks.iter().any(scatters)).unwrap_or(0)
        }
    };
    let results = |s: &Sink| matches!(s, Sink::Reduce { result: Some(_), .. });
    let mut ends: Vec<usize> =
        (0..last).filter(|at| kernel.stages[*at].sinks.iter().any(results)).collect();
    ends.push(last);
    let mut out = Vec::new();
    let mut own = 0;
    for end in ends {
        let mut tasks = Vec::new();
        let mut number = 0;
        for (stage, code) in kernel.stages.iter().enumerate() {
            for sink in &code.sinks {
                if stage <= end {
                    let role = phases::role(sink, phase, stage, own);
                    let one_value = phases::scatters_one_value(kernel, sink);
                    tasks.push(Task { sink, stage, number, role, one_value });
                }
                number += 1;
            }
        }
        let code = live_insts(
            kernel,
            end,
            |stage, visit| {
                let tasks = tasks.iter().filter(|task| task.stage == stage);
                tasks.for_each(|task| task.needs(visit));
            },
            |stage, effects| phase.executes(stage >= own, effects),
        );
        out.push(StageGroup { code, tasks, own });
        own = end + 1;
    }
    out
}
