//! Value numbering, loop-invariant code motion and sinking.
//!
//! Cranelift's own optimizer rewrites integer operations by rules that know no vectors of more than 128
//! bits. Here an operation that was done before, in a block that dominates this one, is not done again;
//! one whose operands do not change in a loop moves before it, out of as many loops as that holds for; and one
//! that only a branch needs moves into it, but not into a loop. So the mask of a condition that holds for all elements of
//! a group, or for none, is not computed.

use cranelift_codegen::Context;
use cranelift_codegen::ir::{Block, Inst, InstructionData, Opcode, Type, Value};
use rustc_hash::FxHashMap;

/// The instructions of each block, in their order, by the block's number.
pub struct Schedule(Vec<Vec<Inst>>);

impl Schedule {
    /// Schedules the instructions of a function, whose control flow has been analysed. Operands become
    /// the first of all equal values.
    pub fn of(context: &mut Context) -> Schedule {
        context.compute_loop_analysis();
        let order: Vec<Block> = context.domtree.cfg_rpo().copied().collect();
        let mut planner = Planner {
            leaders: (0..context.func.dfg.num_values() as u32).map(Value::from_u32).collect(),
            homes: vec![None; context.func.dfg.num_values()],
            known: FxHashMap::default(),
            blocks: vec![Vec::new(); context.func.dfg.num_blocks()],
        };
        for block in order {
            for param in context.func.dfg.block_params(block) {
                planner.homes[param.as_u32() as usize] = Some(block);
            }
            let insts: Vec<Inst> = context.func.layout.block_insts(block).collect();
            for inst in insts {
                planner.inst(context, block, inst);
            }
        }
        // Arguments of jumps back may be values that come later in the order.
        let blocks: Vec<Block> = context.func.layout.blocks().collect();
        for block in blocks {
            if let Some(last) = context.func.layout.last_inst(block) {
                planner.lead(context, last);
            }
        }
        planner.sink(context);
        Schedule(planner.blocks)
    }

    /// The instructions of a block.
    pub fn insts(&self, block: Block) -> &[Inst] {
        &self.0[block.as_u32() as usize]
    }
}

struct Planner {
    /// By value, the first value that is equal.
    leaders: Vec<Value>,
    /// By value, the block that defines it; none for constants.
    homes: Vec<Option<Block>>,
    known: FxHashMap<(InstructionData, Type), Vec<Value>>,
    blocks: Vec<Vec<Inst>>,
}

impl Planner {
    /// Replaces the operands of an instruction by the first values that are equal.
    fn lead(&self, context: &mut Context, inst: Inst) {
        let dfg = &mut context.func.dfg;
        let leaders = &self.leaders;
        let mapped: Vec<Value> = dfg.inst_values(inst).map(|v| dfg.resolve_aliases(v)).collect();
        let mut mapped = mapped.into_iter();
        dfg.map_inst_values(inst, |v| mapped.next().map_or(v, |v| leaders[v.as_u32() as usize]));
    }

    fn inst(&mut self, context: &mut Context, block: Block, inst: Inst) {
        self.lead(context, inst);
        let dfg = &context.func.dfg;
        let data = dfg.insts[inst];
        let here = |this: &mut Self| this.blocks[block.as_u32() as usize].push(inst);
        let [result] = *dfg.inst_results(inst) else {
            for result in dfg.inst_results(inst) {
                self.homes[result.as_u32() as usize] = Some(block);
            }
            return here(self);
        };
        if !is_pure(data.opcode()) {
            self.homes[result.as_u32() as usize] = Some(block);
            return here(self);
        }
        let args = dfg.inst_args(inst);
        let mut target = block;
        let loops = &context.loop_analysis;
        while let Some(around) = loops.innermost_loop(target) {
            let invariant = args.iter().all(|v| {
                let home = self.homes[v.as_u32() as usize];
                home.is_none_or(|home| !loops.is_in_loop(home, around))
            });
            let before = context.domtree.idom(loops.loop_header(around));
            let (true, Some(before)) = (invariant, before) else { break };
            target = before;
        }
        let constant = args.iter().all(|v| self.homes[v.as_u32() as usize].is_none())
            && matches!(
                data.opcode(),
                Opcode::Iconst
                    | Opcode::F32const
                    | Opcode::F64const
                    | Opcode::Vconst
                    | Opcode::Splat
            );
        let ty = dfg.value_type(result);
        let known = self.known.entry((data, ty)).or_default();
        let homes = &self.homes;
        let dominates = |v: &&Value| {
            homes[v.as_u32() as usize]
                .is_none_or(|home| context.domtree.block_dominates(home, target))
        };
        if let Some(first) = known.iter().find(dominates) {
            self.leaders[result.as_u32() as usize] = *first;
            return;
        }
        known.push(result);
        if !constant {
            self.homes[result.as_u32() as usize] = Some(target);
        }
        self.blocks[target.as_u32() as usize].push(inst);
        if target != block {
            // The last instruction of a block stays the last.
            let list = &mut self.blocks[target.as_u32() as usize];
            let last = list.len() - 1;
            if last > 0 && dfg.insts[list[last - 1]].opcode().is_terminator() {
                list.swap(last - 1, last);
            }
        }
    }
}

impl Planner {
    /// Moves what is computed to the last block that comes before all its uses.
    fn sink(&mut self, context: &Context) {
        let (dfg, domtree, loops) = (&context.func.dfg, &context.domtree, &context.loop_analysis);
        let above = |block: Block| domtree.idom(block);
        // By value, the last block that dominates all uses.
        let mut needed: Vec<Option<Block>> = vec![None; self.leaders.len()];
        let post_order: Vec<Block> =
            domtree.cfg_rpo().copied().collect::<Vec<_>>().into_iter().rev().collect();
        // The users of a value are visited before it, but those that a loop leads back to: they are blocks' parameters.
        for block in post_order {
            let insts = std::mem::take(&mut self.blocks[block.as_u32() as usize]);
            let mut kept = Vec::with_capacity(insts.len());
            for inst in insts.into_iter().rev() {
                let mut home = block;
                if let [result] = *dfg.inst_results(inst)
                    && is_pure(dfg.insts[inst].opcode())
                    && let Some(mut target) = needed[result.as_u32() as usize]
                {
                    let around = loops.innermost_loop(block);
                    let is_deeper = |target: Block| {
                        loops.innermost_loop(target).is_some_and(|inner| {
                            Some(inner) != around && !loops.is_in_loop(block, inner)
                        })
                    };
                    while target != block && is_deeper(target) {
                        target = above(target).unwrap_or(block);
                    }
                    home = target;
                }
                match home == block {
                    true => kept.push(inst),
                    // What was moved there before comes later in the code.
                    false => self.blocks[home.as_u32() as usize].insert(0, inst),
                }
                for value in dfg.inst_values(inst) {
                    let needed = &mut needed[value.as_u32() as usize];
                    let mut common = needed.unwrap_or(home);
                    while !domtree.block_dominates(common, home) {
                        common = above(common).unwrap_or(block);
                    }
                    *needed = Some(common);
                }
            }
            kept.reverse();
            self.blocks[block.as_u32() as usize] = kept;
        }
    }
}

/// Returns true if an instruction only computes its result from its operands, and may be done any time.
fn is_pure(opcode: Opcode) -> bool {
    !(opcode.is_terminator()
        || opcode.is_call()
        || opcode.can_load()
        || opcode.can_store()
        || opcode.can_trap()
        || opcode.other_side_effects())
}
