//! Liveness and side effects of kernels: the instructions that a pass over the elements needs.
//!
//! A backend may execute a kernel in several passes (a scan has a pass that finds the totals of
//! chunks before the one that writes). A pass needs the instructions on which its sinks depend,
//! and those whose side effects it is responsible for; the others are dead in it.
//!
//! *Shared* arrays are those of the runtime (parameters and slices of them); any other array is
//! private to a work item.

use super::walk;
use super::{Class, Inst, Kernel, Op, Value};

/// The side effects of an instruction, nested blocks included, besides defining values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// True if it writes shared arrays.
    pub writes_shared: bool,
    /// True if it writes arrays that may be private to the work item.
    pub writes_private: bool,
    /// True if it may end the work item with a failure.
    pub traps: bool,
    /// True if it may not terminate.
    pub diverges: bool,
    /// True if it takes or frees memory of the thread. Nobody sees that: the instruction is dead if
    /// its results are.
    pub allocates: bool,
}

impl Effects {
    /// Returns true if there is any that others see.
    pub fn any(self) -> bool {
        self.writes_shared || self.writes_private || self.traps || self.diverges
    }
}

/// Returns the live instructions of the outermost block of each stage up to `last`, in order.
///
/// `roots(stage, visit)` calls `visit` with the values that the sinks of a stage need, and
/// `keeps(stage, effects)` returns true if the pass is responsible for such effects of a stage.
pub fn live_insts(
    kernel: &Kernel,
    last: usize,
    roots: impl Fn(usize, &mut dyn FnMut(Value)),
    keeps: impl Fn(usize, Effects) -> bool,
) -> Vec<Vec<&Inst>> {
    let mut needed = vec![false; kernel.types.len()];
    let shared = shared_arrays(kernel);
    let mut out = Vec::new();
    for stage in (0..=last).rev() {
        roots(stage, &mut |v| needed[v.0 as usize] = true);
        let mut live = Vec::new();
        for inst in kernel.stages[stage].body.insts.iter().rev() {
            let used = inst.results.iter().any(|v| needed[v.0 as usize]);
            if used || keeps(stage, effects(inst, &shared)) {
                walk::each_read(inst, &mut |v| needed[v.0 as usize] = true);
                live.push(inst);
            }
        }
        live.reverse();
        out.push(live);
    }
    out.reverse();
    out
}

/// Returns true if a stage up to `last` may read a shared array that one of them writes: a pass
/// that does not write would then read other values.
pub fn may_read_written(kernel: &Kernel, last: usize) -> bool {
    let shared = shared_arrays(kernel);
    let (mut used, mut written) = (vec![false; shared.len()], vec![false; shared.len()]);
    let mut unclear = false;
    for stage in &kernel.stages[..=last] {
        walk::each_inst(&stage.body, &mut |inst| match &inst.op {
            Op::Store { array, index, value } => {
                used[index.0 as usize] = true;
                used[value.0 as usize] = true;
                written[array.0 as usize] = true;
                unclear |= shared[array.0 as usize] && !kernel.params.contains(array);
            }
            op => {
                op.each_operand(|v| used[v.0 as usize] = true);
                unclear |= !op.has_blocks() && effects(inst, &shared).writes_shared;
                let yields = op.blocks().flat_map(|block| &block.yields);
                yields.for_each(|v| used[v.0 as usize] = true);
            }
        });
    }
    unclear || used.iter().zip(&written).any(|(used, written)| *used && *written)
}

/// Returns the stages that may fail, without the last of these.
pub fn failing_stages(kernel: &Kernel) -> Vec<usize> {
    let shared = shared_arrays(kernel);
    let fails =
        |at: &usize| kernel.stages[*at].body.insts.iter().any(|i| effects(i, &shared).traps);
    let mut stages: Vec<usize> = (0..kernel.stages.len()).filter(fails).collect();
    stages.pop();
    stages
}

/// Returns the effects of an instruction and its nested blocks; `shared` is true for the values
/// that are shared arrays.
pub fn effects(inst: &Inst, shared: &[bool]) -> Effects {
    let mut all = Effects::default();
    let is_shared = |v: Value| shared[v.0 as usize];
    let mut note = |inst: &Inst| match inst.op.class() {
        Class::Write => match inst.op.written_array().is_some_and(is_shared) {
            true => all.writes_shared = true,
            false => all.writes_private = true,
        },
        Class::Call => {
            all.traps = true;
            all.allocates = true;
            inst.op.each_operand(|v| all.writes_shared |= is_shared(v) && inst.results.is_empty());
            all.writes_private |= inst.results.is_empty();
        }
        Class::Intrinsic => inst.op.each_operand(|v| match is_shared(v) {
            true => all.writes_shared |= inst.results.is_empty(),
            false => all.writes_private = true,
        }),
        Class::Trap => all.traps = true,
        Class::Control => all.diverges |= matches!(inst.op, Op::While { .. }),
        Class::Allocate => all.allocates = true,
        Class::Pure | Class::Address | Class::Read => {}
    };
    note(inst);
    inst.op.blocks().for_each(|block| walk::each_inst(block, &mut note));
    all
}

/// Returns, by value, true for those that are certainly shared arrays: array parameters and slices
/// of them.
pub fn shared_arrays(kernel: &Kernel) -> Vec<bool> {
    let mut shared = vec![false; kernel.types.len()];
    for param in kernel.params.iter().filter(|v| kernel.types[v.0 as usize].is_array()) {
        shared[param.0 as usize] = true;
    }
    for body in walk::stage_bodies(kernel) {
        walk::each_inst(body, &mut |inst| {
            let known = match &inst.op {
                Op::Slice(array, _) => shared[array.0 as usize],
                Op::Select(_, a, b) => shared[a.0 as usize] && shared[b.0 as usize],
                _ => false,
            };
            if known {
                shared[inst.results[0].0 as usize] = true;
            }
        });
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kir::parse;

    const KERNEL: &str = "\
kernel \"k\"(v0: i64, v1: [i64], v2: [i64]) over flat v0 at v3 {
  v4: i64 = load v1[v3]
  v5: i64 = add v4, v3
  v6: bool = lt v5, v0
  check v6 @0
  store v2[v3] = v5
  v7: i64 = mul v4, v4
  v8: i64 = scan add v7
} then {
  v9: bool = lt v8, v0
  check v9 @1
}
";

    fn kernel() -> Kernel {
        parse(KERNEL).unwrap().kernels.remove(0)
    }

    /// The operations that a pass with these responsibilities executes in the first stage.
    fn live(keeps: impl Fn(usize, Effects) -> bool) -> usize {
        live_insts(&kernel(), 0, |_, visit| visit(Value(7)), keeps)[0].len()
    }

    #[test]
    fn a_pass_needs_what_its_sinks_read_and_its_effects() {
        assert_eq!(live(|_, _| false), 2, "load and mul");
        assert_eq!(live(|_, effects| effects.traps), 5, "and the check with its operands");
        assert_eq!(live(|_, effects| effects.any()), 6, "and the store");
    }

    #[test]
    fn reading_what_is_written_is_noticed() {
        assert!(!may_read_written(&kernel(), 1));
        let text = KERNEL.replace("store v2[v3]", "store v1[v3]");
        assert!(may_read_written(&parse(&text).unwrap().kernels[0], 1));
    }

    #[test]
    fn the_last_failing_stage_reports_by_itself() {
        assert_eq!(failing_stages(&kernel()), [0]);
    }
}
