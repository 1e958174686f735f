//! Finds the vectors of ones and zeros that live in mask registers.
//!
//! A comparison of vectors gives lanes all of whose bits are equal. The processor compares into mask
//! registers, of one bit for each lane, and selects by them. A value lives in a mask register if it comes
//! from comparisons alone, by logical operations, changes of the lanes' width, and joins of control.

use cranelift_codegen::Context;
use cranelift_codegen::ir::{
    Block, BlockArg, Function, Inst, InstructionData, Opcode, Value, ValueDef,
};

/// The mask registers that operations are implemented for have at most this many lanes.
pub const MAX_LANES: u32 = 16;

/// By value, true if it lives in a mask register.
pub struct Masks(Vec<bool>);

impl Masks {
    /// Finds the values of a function that live in mask registers: all that might, but for those that
    /// are made from others.
    pub fn of(context: &Context) -> Masks {
        let func = &context.func;
        let mut masks = vec![false; func.dfg.num_values()];
        let mut candidates: Vec<(Value, Vec<Value>)> = Vec::new();
        let incoming = incoming(func);
        for block in func.layout.blocks() {
            for (n, param) in func.dfg.block_params(block).iter().enumerate() {
                if fits(func, *param) && func.dfg.value_type(*param).is_int() {
                    let from = incoming[block.as_u32() as usize].iter().map(|args| args[n]);
                    candidates.push((*param, from.collect()));
                }
            }
            for inst in func.layout.block_insts(block) {
                let [result] = func.dfg.inst_results(inst) else { continue };
                if fits(func, *result)
                    && let Some(operands) = operands(func, inst)
                {
                    candidates.push((*result, operands));
                }
            }
        }
        for (value, _) in &candidates {
            masks[value.as_u32() as usize] = true;
        }
        loop {
            let mut changed = false;
            for (value, operands) in &candidates {
                let at = value.as_u32() as usize;
                let good = |v: &Value| {
                    let v = func.dfg.resolve_aliases(*v);
                    masks[v.as_u32() as usize] || constant_mask(func, v).is_some()
                };
                if masks[at] && !operands.iter().all(good) {
                    masks[at] = false;
                    changed = true;
                }
            }
            if !changed {
                return Masks(masks);
            }
        }
    }

    /// Returns true if a value lives in a mask register.
    pub fn has(&self, value: Value) -> bool {
        self.0[value.as_u32() as usize]
    }
}

fn fits(func: &Function, value: Value) -> bool {
    let ty = func.dfg.value_type(value);
    ty.is_vector() && ty.lane_count() <= MAX_LANES
}

/// By block, the arguments from each of its predecessors.
fn incoming(func: &Function) -> Vec<Vec<Vec<Value>>> {
    let mut all = vec![Vec::new(); func.dfg.num_blocks()];
    for block in func.layout.blocks() {
        let Some(last) = func.layout.last_inst(block) else { continue };
        for call in func.dfg.insts[last]
            .branch_destination(&func.dfg.jump_tables, &func.dfg.exception_tables)
        {
            let to: Block = call.block(&func.dfg.value_lists);
            let args = call.args(&func.dfg.value_lists).filter_map(|arg| match arg {
                BlockArg::Value(value) => Some(value),
                _ => None,
            });
            all[to.as_u32() as usize].push(args.collect());
        }
    }
    all
}

/// The operands that have to be masks for the result of an instruction to be one.
fn operands(func: &Function, inst: Inst) -> Option<Vec<Value>> {
    let args = func.dfg.inst_args(inst);
    match func.dfg.insts[inst].opcode() {
        Opcode::Icmp | Opcode::Fcmp => Some(Vec::new()),
        Opcode::Band
        | Opcode::Bor
        | Opcode::Bxor
        | Opcode::Bnot
        | Opcode::Bitselect
        | Opcode::Blendv => Some(args.to_vec()),
        Opcode::Sextend | Opcode::Ireduce | Opcode::Bitcast => {
            let lanes = |v| func.dfg.value_type(v).lane_count();
            (lanes(args[0]) == lanes(func.dfg.first_result(inst))).then(|| args.to_vec())
        }
        Opcode::Splat => mask_of_bool(func, args[0]).map(|_| Vec::new()),
        _ => None,
    }
}

/// The bool from which a lane is made that is all ones or zeros.
pub fn mask_of_bool(func: &Function, lane: Value) -> Option<Value> {
    let arg = |v: Value, opcode| {
        let inst = func.dfg.value_def(v).inst()?;
        (func.dfg.insts[inst].opcode() == opcode).then(|| func.dfg.inst_args(inst)[0])
    };
    let extended = arg(lane, Opcode::Ineg)?;
    let bool = arg(extended, Opcode::Uextend)?;
    is_bool(func, bool, 0).then_some(bool)
}

/// The depth to which the operands of logical operations are examined.
const MAX_BOOL_DEPTH: u32 = 8;

/// Returns true if a value is certainly 0 or 1.
fn is_bool(func: &Function, value: Value, depth: u32) -> bool {
    let ValueDef::Result(inst, _) = func.dfg.value_def(value) else { return false };
    let all = |args: &[Value]| {
        depth < MAX_BOOL_DEPTH && args.iter().all(|v| is_bool(func, *v, depth + 1))
    };
    let args = func.dfg.inst_args(inst);
    match (func.dfg.insts[inst].opcode(), func.dfg.insts[inst]) {
        (Opcode::Icmp | Opcode::Fcmp, _) => true,
        (Opcode::Band | Opcode::Bor | Opcode::Bxor, _) => all(args),
        (_, InstructionData::UnaryImm { opcode: Opcode::Iconst, imm }) => {
            matches!(imm.bits(), 0 | 1)
        }
        _ => false,
    }
}

/// The bit of a constant all of whose bits are equal.
pub fn constant_mask(func: &Function, value: Value) -> Option<bool> {
    let inst = func.dfg.value_def(value).inst()?;
    match func.dfg.insts[inst] {
        InstructionData::UnaryConst { opcode: Opcode::Vconst, constant_handle } => {
            let bytes = func.dfg.constants.get(constant_handle).as_slice();
            match bytes.first()? {
                0 if bytes.iter().all(|b| *b == 0) => Some(false),
                255 if bytes.iter().all(|b| *b == 255) => Some(true),
                _ => None,
            }
        }
        InstructionData::Unary { opcode: Opcode::Splat, arg } => {
            let inst = func.dfg.value_def(arg).inst()?;
            let bits = func.dfg.value_type(arg).bits();
            let ones = u64::MAX >> (64 - bits.min(64));
            let lane = match func.dfg.insts[inst] {
                InstructionData::UnaryImm { imm, .. } => imm.bits() as u64 & ones,
                InstructionData::UnaryIeee32 { imm, .. } => u64::from(imm.bits()),
                InstructionData::UnaryIeee64 { imm, .. } => imm.bits(),
                _ => return None,
            };
            match lane {
                0 => Some(false),
                lane if lane == ones => Some(true),
                _ => None,
            }
        }
        InstructionData::Unary { opcode: Opcode::Bitcast, .. }
        | InstructionData::LoadNoOffset { opcode: Opcode::Bitcast, .. } => {
            constant_mask(func, func.dfg.inst_args(inst)[0])
        }
        _ => None,
    }
}
