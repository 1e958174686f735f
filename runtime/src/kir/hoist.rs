//! Checks and loads that are the same in each iteration of a loop are done once, before it.
//!
//! ```text
//! for v2 < 5 {                              check v1 @0
//!   check v1 @0                             v5: i64 = load v0[v4]
//!   v5: i64 = load v0[v4]             →     for v2 < 5 {
//!   …                                         …
//! }                                         }
//! ```
//!
//! A picture is read so by programs that clamp an index with the length of its first row, in loops over the neighbours of each
//! point. The loops have a known number of iterations, at least one, and the instructions stand in no condition: each
//! iteration executes them. Of several checks that fail another one may be reported than before. Values that need neither are
//! left to the code generator.
//!
//! A load is moved if nothing in the loop writes, or if nothing in the kernel writes the array. It must not overtake the check
//! that says that its index is in bounds: a check of this index is moved before it, or no check that stays stands before it.
//! (So this is done before [`ranges`](super::ranges) removes checks which others imply.)

use super::written::written_params;
use super::{Binary, Block, Class, Inst, Literal, Module, Op, Value, walk};
use crate::stack::with_stack;
use rustc_hash::{FxHashMap, FxHashSet};

/// Moves checks and loads out of the loops of a module.
pub fn hoist_checks(module: &mut Module) {
    let written: Vec<Vec<bool>> =
        module.kernels.iter().map(|kernel| written_params(module, kernel)).collect();
    for function in &mut module.functions {
        let mut hoist = Hoist::default();
        hoist.note_constants(&function.body);
        hoist.block(&mut function.body);
    }
    for (kernel, written) in module.kernels.iter_mut().zip(written) {
        let mut hoist = Hoist::default();
        let params = kernel.params.iter().zip(written);
        hoist.unwritten.extend(params.filter(|(_, written)| !written).map(|(param, _)| *param));
        kernel.stages.iter().for_each(|stage| hoist.note_constants(&stage.body));
        kernel.stages.iter_mut().for_each(|stage| hoist.block(&mut stage.body));
    }
}

#[derive(Default)]
struct Hoist {
    constants: FxHashMap<Value, i64>,
    /// The arrays that no code writes.
    unwritten: FxHashSet<Value>,
}

impl Hoist {
    fn note_constants(&mut self, block: &Block) {
        walk::each_inst(block, &mut |inst| {
            if let Op::Const(Literal::I64(x)) = inst.op {
                self.constants.insert(inst.results[0], x);
            }
        });
    }

    /// Moves what can be moved out of the loops of a block and of the blocks inside, inner loops first.
    fn block(&mut self, block: &mut Block) {
        with_stack(|| {
            let mut insts = Vec::with_capacity(block.insts.len());
            for mut inst in std::mem::take(&mut block.insts) {
                inst.op.blocks_mut().for_each(|inner| self.block(inner));
                if let Op::For { count, index, carried, body, .. } = &mut inst.op
                    && self.constants.get(count).is_some_and(|count| *count > 0)
                {
                    let mut inside: FxHashSet<Value> = carried.iter().copied().collect();
                    inside.insert(*index);
                    insts.extend(self.moved(body, inside));
                }
                insts.push(inst);
            }
            block.insts = insts;
        });
    }

    /// Takes the checks and the loads that are the same in each iteration out of the body of a loop, with what they are
    /// computed from. `inside` are the values that an iteration begins with.
    fn moved(&self, body: &mut Block, mut inside: FxHashSet<Value>) -> Vec<Inst> {
        let mut writes = false;
        walk::each_inst(body, &mut |inst| {
            writes |= !matches!(
                inst.op.class(),
                Class::Pure | Class::Address | Class::Read | Class::Trap | Class::Control
            );
        });
        let mut same = vec![false; body.insts.len()];
        // The comparisons and conjunctions so far, the values below a bound by checks that are moved, and if one stays.
        let mut conditions: FxHashMap<Value, (Binary, Value, Value)> = FxHashMap::default();
        let mut bounded: FxHashSet<Value> = FxHashSet::default();
        let mut stays = false;
        for (inst, same) in body.insts.iter().zip(&mut same) {
            let mut is_same = match &inst.op {
                Op::Binary(Binary::Div | Binary::Rem, ..) | Op::Compute(..) => false,
                Op::Load { array, index } => {
                    let is_checked = !stays || bounded.contains(index);
                    is_checked && (!writes || self.unwritten.contains(array))
                }
                Op::Check { .. } => true,
                op => op.class() == Class::Pure,
            };
            inst.op.each_operand(|operand| is_same &= !inside.contains(&operand));
            *same = is_same;
            match &inst.op {
                Op::Binary(op @ (Binary::Lt | Binary::And), a, b) => {
                    conditions.insert(inst.results[0], (*op, *a, *b));
                }
                Op::Check { cond, .. } if is_same => note_bounded(*cond, &conditions, &mut bounded),
                _ => {}
            }
            if !is_same {
                stays |= may_stop(inst);
                note_results(inst, &mut inside);
            }
        }
        let mut needed: FxHashSet<Value> = FxHashSet::default();
        for (inst, same) in body.insts.iter().zip(&mut same).rev() {
            let is_wanted = matches!(inst.op, Op::Load { .. } | Op::Check { .. })
                || inst.results.iter().any(|result| needed.contains(result));
            *same &= is_wanted;
            if *same {
                inst.op.each_operand(|operand| _ = needed.insert(operand));
            }
        }
        let mut same = same.into_iter();
        let all = std::mem::take(&mut body.insts).into_iter();
        let (moved, rest) = all.partition(|_| same.next().unwrap_or(false));
        body.insts = rest;
        moved
    }
}

/// Notes the values that are below a bound if a condition holds.
fn note_bounded(
    cond: Value,
    conditions: &FxHashMap<Value, (Binary, Value, Value)>,
    bounded: &mut FxHashSet<Value>,
) {
    match conditions.get(&cond) {
        Some((Binary::Lt, index, _)) => _ = bounded.insert(*index),
        Some((Binary::And, a, b)) => {
            let parts = [*a, *b];
            with_stack(|| parts.iter().for_each(|part| note_bounded(*part, conditions, bounded)));
        }
        _ => {}
    }
}

/// Returns true if an instruction may end the work item, so that what stands behind it is not executed.
fn may_stop(inst: &Inst) -> bool {
    let is_end = |op: &Op| matches!(op.class(), Class::Trap | Class::Call | Class::Intrinsic);
    let mut found = is_end(&inst.op);
    for block in inst.op.blocks() {
        walk::each_inst(block, &mut |inner| found |= is_end(&inner.op));
    }
    found
}

/// Adds the results of an instruction and all that its blocks define.
fn note_results(inst: &Inst, to: &mut FxHashSet<Value>) {
    to.extend(&inst.results);
    for block in inst.op.blocks() {
        walk::each_inst(block, &mut |inner| to.extend(&inner.results));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kir::{parse, print};

    fn hoisted(code: &str) -> String {
        let text = format!(
            "kernel \"k\"(v0: i64, v1: [i64], v2: [i64], v3: bool, v20: i64) over flat v0 at v4 {{ {code} }}"
        );
        let mut module = parse(&text).unwrap();
        hoist_checks(&mut module);
        print(&module)
    }

    #[test]
    fn a_load_goes_with_the_check_of_its_index() {
        let text = hoisted(
            "v5: i64 = const 5 v8: i64 = const 0 for v6 < v5 { v9: bool = lt v6, v20 check v9 @0 \
             v11: bool = lt v8, v20 check v11 @1 v10: i64 = load v1[v8] store v2[v6] = v10 }",
        );
        assert!(at(&text, "load v1[v8]") < at(&text, "for v6"), "{text}");
        assert!(at(&text, "check v11") < at(&text, "load v1[v8]"), "{text}");
    }

    /// The place of a text in another one.
    fn at(text: &str, part: &str) -> usize {
        text.find(part).unwrap_or_else(|| panic!("{part} in\n{text}"))
    }

    #[test]
    fn checks_and_loads_of_a_loop_are_done_before_it() {
        let text = hoisted(
            "v5: i64 = const 5 for v6 < v5 { for v7 < v5 { check v3 @0 v8: i64 = const 0 \
             v9: i64 = load v1[v8] v10: i64 = add v9, v7 store v2[v10] = v6 } }",
        );
        assert!(at(&text, "check v3") < at(&text, "for v6"), "out of both loops\n{text}");
        assert!(at(&text, "load v1[v8]") < at(&text, "for v6"), "with its index\n{text}");
        assert!(at(&text, "add v9, v7") > at(&text, "for v7"), "what differs stays\n{text}");
    }

    #[test]
    fn what_may_not_be_executed_or_may_change_stays() {
        let stays = |code: &str, part: &str| {
            let text = hoisted(code);
            assert!(at(&text, part) > at(&text, "for v6"), "{text}");
        };
        stays("for v6 < v20 { check v3 @0 }", "check v3");
        stays("v5: i64 = const 0 for v6 < v5 { check v3 @0 }", "check v3");
        stays("v5: i64 = const 5 for v6 < v5 { if v3 { check v3 @0 } else { } }", "check v3");
        let stored = "v5: i64 = const 5 for v6 < v5 { v9: i64 = load v2[v5] store v2[v6] = v9 }";
        stays(stored, "load v2");
        let guarded = "v5: i64 = const 5 for v6 < v5 { v9: bool = lt v6, v20 check v9 @0 v10: i64 = load v1[v5] }";
        stays(guarded, "load v1");
        let differs = "v5: i64 = const 5 for v6 < v5 { v9: bool = lt v6, v20 check v9 @0 }";
        stays(differs, "check v9");
    }
}
