//! Walking over kir: the operands of an operation, the blocks in it, copies under other names.

use nesl_runtime::kir::{Block, Inst, Op, Value};
use nesl_runtime::stack::with_stack;

/// Calls `f` with every value an operation reads itself, not those its blocks read.
pub fn operands(op: &Op, f: &mut dyn FnMut(Value)) {
    match op {
        Op::Const(_) | Op::Text(_) | Op::Mark => {}
        Op::Unary(_, a) | Op::Convert(_, a) | Op::Bits(_, a) | Op::Alloc(_, a) => f(*a),
        Op::Binary(_, a, b) | Op::Slice(a, b) | Op::Load { array: a, index: b } => {
            f(*a);
            f(*b);
        }
        Op::Fma(a, b, c)
        | Op::Select(a, b, c)
        | Op::Store { array: a, index: b, value: c }
        | Op::Copy { from: a, to: b, count: c } => {
            f(*a);
            f(*b);
            f(*c);
        }
        Op::If { cond, .. } => f(*cond),
        Op::While { init, .. } => init.iter().for_each(|v| f(*v)),
        Op::For { count, init, .. } => {
            f(*count);
            init.iter().for_each(|v| f(*v));
        }
        Op::Call(_, args) | Op::Extern(_, args) => args.iter().for_each(|v| f(*v)),
        Op::Check { cond, detail, .. } => {
            f(*cond);
            detail.iter().for_each(|v| f(*v));
        }
        Op::Fail { text, length, detail, .. } => {
            f(*text);
            f(*length);
            detail.iter().for_each(|v| f(*v));
        }
        Op::Compact { since, keep } => {
            f(*since);
            for (array, length) in keep {
                f(*array);
                f(*length);
            }
        }
    }
}

/// The blocks of an operation.
pub fn blocks(op: &Op) -> [Option<&Block>; 2] {
    match op {
        Op::If { then, otherwise, .. } => [Some(then), Some(otherwise)],
        Op::While { cond, body, .. } => [Some(cond), Some(body)],
        Op::For { body, .. } => [Some(body), None],
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
        | Op::Store { .. }
        | Op::Slice(..)
        | Op::Copy { .. }
        | Op::Call(..)
        | Op::Extern(..)
        | Op::Check { .. }
        | Op::Fail { .. }
        | Op::Mark
        | Op::Compact { .. } => [None, None],
    }
}

/// How deep blocks nest in a block.
pub fn depth(block: &Block) -> usize {
    with_stack(|| {
        let inner = block.insts.iter().flat_map(|inst| blocks(&inst.op)).flatten();
        inner.map(|block| depth(block) + 1).max().unwrap_or(0)
    })
}

/// Calls `f` with every instruction of a block, outer ones first.
pub fn insts<'k>(block: &'k Block, f: &mut dyn FnMut(&'k Inst)) {
    for inst in &block.insts {
        f(inst);
        for block in blocks(&inst.op).into_iter().flatten() {
            insts(block, f);
        }
    }
}

/// Calls `f` with every value read within an instruction, at any depth.
pub fn reads(inst: &Inst, f: &mut dyn FnMut(Value)) {
    operands(&inst.op, f);
    for block in blocks(&inst.op).into_iter().flatten() {
        block.insts.iter().for_each(|inst| reads(inst, f));
        block.yields.iter().for_each(|v| f(*v));
    }
}

/// A block whose every value has another name.
pub fn rename(block: &Block, to: &mut dyn FnMut(Value) -> Value) -> Block {
    let insts = block.insts.iter().map(|inst| rename_inst(inst, to)).collect();
    Block { insts, yields: block.yields.iter().map(|v| to(*v)).collect() }
}

fn rename_inst(inst: &Inst, to: &mut dyn FnMut(Value) -> Value) -> Inst {
    let results = inst.results.iter().map(|v| to(*v)).collect();
    let all = |values: &[Value], to: &mut dyn FnMut(Value) -> Value| -> Vec<Value> {
        values.iter().map(|v| to(*v)).collect()
    };
    let op = match &inst.op {
        Op::Const(literal) => Op::Const(*literal),
        Op::Text(text) => Op::Text(text.clone()),
        Op::Unary(op, a) => Op::Unary(*op, to(*a)),
        Op::Binary(op, a, b) => Op::Binary(*op, to(*a), to(*b)),
        Op::Fma(a, b, c) => Op::Fma(to(*a), to(*b), to(*c)),
        Op::Select(a, b, c) => Op::Select(to(*a), to(*b), to(*c)),
        Op::Convert(ty, a) => Op::Convert(*ty, to(*a)),
        Op::Bits(ty, a) => Op::Bits(*ty, to(*a)),
        Op::Alloc(ty, a) => Op::Alloc(*ty, to(*a)),
        Op::Load { array, index } => Op::Load { array: to(*array), index: to(*index) },
        Op::Store { array, index, value } => {
            Op::Store { array: to(*array), index: to(*index), value: to(*value) }
        }
        Op::Slice(a, b) => Op::Slice(to(*a), to(*b)),
        Op::Copy { from, to: target, count } => {
            Op::Copy { from: to(*from), to: to(*target), count: to(*count) }
        }
        Op::If { cond, then, otherwise } => {
            Op::If { cond: to(*cond), then: rename(then, to), otherwise: rename(otherwise, to) }
        }
        Op::While { init, carried, cond, body } => Op::While {
            init: all(init, to),
            carried: all(carried, to),
            cond: rename(cond, to),
            body: rename(body, to),
        },
        Op::For { count, index, init, carried, reduce, body } => Op::For {
            count: to(*count),
            index: to(*index),
            init: all(init, to),
            carried: all(carried, to),
            reduce: reduce.clone(),
            body: rename(body, to),
        },
        Op::Call(function, args) => Op::Call(*function, all(args, to)),
        Op::Extern(service, args) => Op::Extern(*service, all(args, to)),
        Op::Check { cond, site, detail } => {
            Op::Check { cond: to(*cond), site: *site, detail: all(detail, to) }
        }
        Op::Fail { site, text, length, detail } => {
            Op::Fail { site: *site, text: to(*text), length: to(*length), detail: all(detail, to) }
        }
        Op::Mark => Op::Mark,
        Op::Compact { since, keep } => Op::Compact {
            since: to(*since),
            keep: keep.iter().map(|(a, n)| (to(*a), to(*n))).collect(),
        },
    };
    Inst { results, op }
}
