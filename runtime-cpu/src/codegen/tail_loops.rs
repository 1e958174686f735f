//! Loops that end when a condition fails.
//!
//! A function that calls itself in tail position is a loop that carries a flag, which the sides of a conditional
//! clear that make no such call. They leave the loop where they stand: if they went to its head first, which then
//! leaves, the registers that their calls change could not hold what the loop carries.
//!
//! ```text
//! while carry on = true, i = n { yield on } do {          head(i):
//!   more, next = if c { j = sub i, 1  yield true, j }       if c { j = sub i, 1  jump head(j) }
//!                else { … yield false, i }            →     else { … jump exit(i) }
//!   yield more, next                                      exit(i):
//! }
//! ```

use super::control::copies_array;
use super::emitter::FunctionEmitter;
use crate::abi::offset;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, types};
use nesl_runtime::kir::alias::carried_since;
use nesl_runtime::kir::walk::each_inst;
use nesl_runtime::kir::{Block, Class, Inst, Literal, Op, Value};
use rustc_hash::FxHashMap;

/// The way out of a loop from within an iteration.
struct WayOut {
    /// The block behind the loop.
    exit: ir::Block,
    /// The flag, at the end of the block that is emitted.
    flag: Value,
    /// The values that the loop carries besides the flag, at the end of that block.
    next: Vec<Value>,
}

/// The truth values that are known.
type Known = FxHashMap<Value, bool>;

impl WayOut {
    /// Returns the same for a side of a conditional that ends the block.
    fn of_side(&self, inst: &Inst, side: &Block) -> WayOut {
        WayOut {
            exit: self.exit,
            flag: given(inst, side, self.flag),
            next: self.next.iter().map(|value| given(inst, side, *value)).collect(),
        }
    }
}

/// Returns the value that a side of a conditional gives for one behind it.
fn given(inst: &Inst, side: &Block, value: Value) -> Value {
    let number = inst.results.iter().position(|result| *result == value);
    number.map_or(value, |number| side.yields[number])
}

impl<'a> FunctionEmitter<'a, '_> {
    /// Emits a loop that ends when a condition fails.
    pub fn while_op(
        &mut self,
        inst: &Inst,
        init: &[Value],
        carried: &[Value],
        cond: &'a Block,
        body: &'a Block,
    ) {
        let since = carried_since(init, carried, body, &self.provenance);
        // The flag is not carried in a register if each iteration leaves or goes on where it sets it.
        let known = self.known_truths(body);
        let number = carried.iter().position(|v| cond.insts.is_empty() && cond.yields[0] == *v);
        let number = number.filter(|n| known.get(&init[*n]) == Some(&true));
        let ending = number.and_then(|n| Some((n, Ending::of(body, n, &known)?)));
        let Some((number, ending)) = ending else {
            let start = self.all(init);
            let looped = self.begin_loop(&start);
            self.bind(carried, &looped.carried);
            self.poll();
            self.enter_loop(carried, &since);
            self.block(cond);
            let going = self.get(cond.yields[0]);
            self.loop_while(&looped, going);
            let behind = trailing_compactions(body);
            let (insts, behind) = body.insts.split_at(body.insts.len() - behind);
            let is_rare = allocates_rarely(insts) && !has_allocation(cond);
            let outer = std::mem::replace(&mut self.notes_allocations, is_rare);
            insts.iter().for_each(|inst| self.inst(inst));
            for inst in behind {
                match &inst.op {
                    Op::Compact { since, keep } if is_rare => {
                        self.compact_if_allocated(&inst.results, *since, keep);
                    }
                    _ => self.inst(inst),
                }
            }
            self.notes_allocations = outer;
            self.loops -= 1;
            let next = self.all(&body.yields);
            self.end_loop(&looped, &next);
            self.bind(&inst.results, &looped.carried);
            self.note_made(&inst.results, &since);
            return;
        };
        let flag = body.yields[number];
        let stays: Vec<bool> = (0..init.len())
            .map(|n| {
                let is_kept = unchanged(body, carried[n], ending.next[n], flag, ending.at, &known);
                is_kept && !self.is_moved(init[n], body.yields[n], &body.insts[ending.at + 1..])
            })
            .collect();
        let select = |values: &[Value], wanted: &dyn Fn(usize) -> bool| -> Vec<Value> {
            let all = values.iter().enumerate();
            all.filter(|(n, _)| *n != number && wanted(*n)).map(|(_, v)| *v).collect()
        };
        let moving = |values: &[Value]| select(values, &|n| !stays[n]);
        let others = |values: &[Value]| select(values, &|_| true);
        let exit_types: Vec<ir::Type> = others(init).iter().map(|v| self.clif_of(*v)).collect();
        let exit = self.block_with(exit_types);
        let start = self.all(&moving(init));
        let looped = self.begin_loop_to(exit, &start);
        self.bind(&moving(carried), &looped.carried);
        for (n, name) in carried.iter().enumerate().filter(|(n, _)| stays[*n]) {
            let value = self.get(init[n]);
            self.set(*name, value);
        }
        let on = self.literal(Literal::Bool(true));
        self.set(carried[number], on);
        self.poll();
        self.enter_loop(carried, &since);
        let is_rare = allocates_rarely(&body.insts[..=ending.at]);
        let outer = std::mem::replace(&mut self.notes_allocations, is_rare);
        let out = WayOut { exit, flag, next: others(&ending.next) };
        self.ending_with(body, ending.at, &out, &known);
        for inst in &body.insts[ending.at + 1..] {
            let Op::Compact { since, keep } = &inst.op else {
                self.inst(inst);
                continue;
            };
            let is_still =
                |result: &Value| (0..init.len()).any(|n| stays[n] && body.yields[n] == *result);
            let (still, moved): (Vec<_>, Vec<_>) =
                inst.results.iter().zip(keep).partition(|(result, _)| is_still(result));
            for (result, (array, _)) in still {
                let array = self.get(*array);
                self.set(*result, array);
            }
            let (results, keep): (Vec<Value>, Vec<(Value, Value)>) = moved.into_iter().unzip();
            match is_rare {
                true => self.compact_if_allocated(&results, *since, &keep),
                false => self.compact_op(&results, *since, &keep),
            }
        }
        self.notes_allocations = outer;
        self.loops -= 1;
        let next = self.all(&moving(&body.yields));
        self.end_loop(&looped, &next);
        let left = self.b.block_params(exit).to_vec();
        self.bind(&others(&inst.results), &left);
        let off = self.literal(Literal::Bool(false));
        self.set(inst.results[number], off);
        self.note_made(&inst.results, &since);
    }

    /// Emits a compaction in a loop that allocates rarely: it asks first if it has.
    fn compact_if_allocated(&mut self, results: &[Value], since: Value, keep: &[(Value, Value)]) {
        let arrays: Vec<ir::Value> = keep.iter().map(|(array, _)| self.get(*array)).collect();
        let due = self.b.create_block();
        let done = self.block_like(&arrays);
        self.b.set_cold_block(due);
        let allocated = self.env_load(types::I8, offset::ALLOCATED);
        self.branch(allocated, (due, &[]), (done, &arrays));
        self.b.switch_to_block(due);
        let no = self.b.ins().iconst(types::I8, 0);
        self.env_store(no, offset::ALLOCATED);
        let was_cold = std::mem::replace(&mut self.is_cold, true);
        self.compact_op(results, since, keep);
        self.is_cold = was_cold;
        let moved = self.all(results);
        self.jump(done, &moved);
        self.b.switch_to_block(done);
        let params = self.b.block_params(done).to_vec();
        self.bind(results, &params);
    }

    /// Returns true if a compaction behind the conditional may move an array that the loop carries. One that
    /// existed before the mark stays where it is.
    fn is_moved(&self, init: Value, next: Value, behind: &[Inst]) -> bool {
        behind.iter().any(|inst| match &inst.op {
            Op::Compact { since, .. } if inst.results.contains(&next) => {
                let known = self.provenance.get(&init).zip(self.marks.get(since));
                known.is_none_or(|(array, mark)| array.apart_from() > mark.number)
            }
            _ => false,
        })
    }

    /// Returns the truth values that are known where a block is emitted, and in it.
    fn known_truths(&self, block: &Block) -> Known {
        let truth = |literal: &Literal| match literal {
            Literal::Bool(value) => Some(*value),
            _ => None,
        };
        let outside = self.constants.iter();
        let mut known: Known = outside.filter_map(|(v, c)| Some((*v, truth(c)?))).collect();
        each_inst(block, &mut |inst| {
            if let Op::Const(literal) = &inst.op {
                known.extend(truth(literal).map(|value| (inst.results[0], value)));
            }
        });
        known
    }

    /// Emits a block up to the conditional that sets the flag, and this one. The sides that clear the flag leave.
    fn ending_with(&mut self, block: &'a Block, at: usize, out: &WayOut, known: &Known) {
        for inst in &block.insts[..at] {
            self.inst(inst);
        }
        let inst = &block.insts[at];
        let Op::If { cond, then, otherwise } = &inst.op else { return };
        let types: Vec<ir::Type> = inst.results.iter().map(|v| self.clif_of(*v)).collect();
        let (a, b) = (self.b.create_block(), self.b.create_block());
        let join = self.block_with(types);
        let cond = self.get(*cond);
        // The exit is the first target, as in `go_on_if`.
        let swapped =
            Flag::of(otherwise, out.of_side(inst, otherwise).flag, known) == Flag::Cleared;
        if swapped {
            let not = self.b.ins().icmp_imm_s(IntCC::Equal, cond, 0);
            self.b.ins().brif(not, b, &[], a, &[]);
        } else {
            self.b.ins().brif(cond, a, &[], b, &[]);
        }
        for (start, side) in [(a, then), (b, otherwise)] {
            self.b.switch_to_block(start);
            let out = out.of_side(inst, side);
            match Flag::of(side, out.flag, known) {
                Flag::Cleared => {
                    self.block(side);
                    let next: Vec<BlockArg> =
                        out.next.iter().map(|v| BlockArg::from(self.get(*v))).collect();
                    self.b.ins().jump(out.exit, &next);
                    continue;
                }
                Flag::Either(at) => self.ending_with(side, at, &out, known),
                Flag::Set | Flag::Unknown => self.block(side),
            }
            let yields = self.all(&side.yields);
            self.jump(join, &yields);
        }
        self.b.switch_to_block(join);
        let params = self.b.block_params(join).to_vec();
        self.bind(&inst.results, &params);
        self.note_chosen(&inst.results, then, otherwise);
    }
}

/// The value of the flag at the end of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    /// It is always true.
    Set,
    /// It is always false.
    Cleared,
    /// It is decided by the conditional at this place, the last instruction.
    Either(usize),
    /// It is not known before the code runs.
    Unknown,
}

impl Flag {
    /// The flag that is `flag` at the end of a block.
    fn of(block: &Block, flag: Value, known: &Known) -> Flag {
        match known.get(&flag) {
            Some(true) => return Flag::Set,
            Some(false) => return Flag::Cleared,
            None => {}
        }
        let Some((at, inst)) = block.insts.iter().enumerate().next_back() else {
            return Flag::Unknown;
        };
        let Op::If { then, otherwise, .. } = &inst.op else { return Flag::Unknown };
        let Some(number) = inst.results.iter().position(|v| *v == flag) else {
            return Flag::Unknown;
        };
        match [then, otherwise].map(|side| Flag::of(side, side.yields[number], known)) {
            [Flag::Unknown, _] | [_, Flag::Unknown] => Flag::Unknown,
            [Flag::Set, Flag::Set] => Flag::Set,
            _ => Flag::Either(at),
        }
    }
}

/// Returns the number of instructions at the end of a block that compact the memory, and of those between them.
fn trailing_compactions(block: &Block) -> usize {
    let mut found = 0;
    for (passed, inst) in block.insts.iter().rev().enumerate() {
        match inst.op {
            Op::Compact { .. } => found = passed + 1,
            Op::Const(_) | Op::Binary(..) => {}
            _ => break,
        }
    }
    found
}

/// Returns true if code without inner loops that allocate, and without calls, allocates only where it copies arrays, which
/// most iterations do not.
fn allocates_rarely(insts: &[Inst]) -> bool {
    let is_rare = |side: &Block, other: &Block| {
        other.insts.is_empty() && copies_array(side) || allocates_rarely(&side.insts)
    };
    insts.iter().all(|inst| match &inst.op {
        Op::If { then, otherwise, .. } => is_rare(then, otherwise) && is_rare(otherwise, then),
        Op::For { body, .. } => !has_allocation(body),
        Op::Alloc(..)
        | Op::Mark
        | Op::Compact { .. }
        | Op::While { .. }
        | Op::Call(..)
        | Op::Compute(..)
        | Op::Extern(..) => false,
        _ => true,
    })
}

/// Returns true if a block allocates, itself or in what it calls.
fn has_allocation(block: &Block) -> bool {
    let mut found = false;
    each_inst(block, &mut |inst| {
        found |= matches!(inst.op.class(), Class::Allocate | Class::Call | Class::Intrinsic);
    });
    found
}

/// Returns true if a value is `name` at the end of a block wherever the flag is set there: the result of a function that
/// calls itself until it has one. `at` is the place of the conditional that decides about the flag.
fn unchanged(
    block: &Block,
    name: Value,
    value: Value,
    flag: Value,
    at: usize,
    known: &Known,
) -> bool {
    if value == name {
        return true;
    }
    let inst = &block.insts[at];
    let Op::If { then, otherwise, .. } = &inst.op else { return false };
    [then, otherwise].into_iter().all(|side| {
        let (value, flag) = (given(inst, side, value), given(inst, side, flag));
        match Flag::of(side, flag, known) {
            Flag::Cleared => true,
            Flag::Either(at) => unchanged(side, name, value, flag, at, known),
            Flag::Set | Flag::Unknown => value == name,
        }
    })
}

/// The end of the iterations of a loop.
struct Ending {
    /// The place of the conditional that decides about the next iteration.
    at: usize,
    /// The values that the loop carries once that is decided: memory that is not needed any more may be freed before
    /// the next iteration.
    next: Vec<Value>,
}

impl Ending {
    /// Finds the conditional that sets the flag with this number, and nothing but memory is behind it.
    fn of(body: &Block, number: usize, known: &Known) -> Option<Ending> {
        let flag = body.yields[number];
        let at = body.insts.iter().position(|inst| inst.results.contains(&flag))?;
        let inst = &body.insts[at];
        let Op::If { then, otherwise, .. } = &inst.op else { return None };
        let place = inst.results.iter().position(|v| *v == flag)?;
        let sides = [then, otherwise].map(|side| Flag::of(side, side.yields[place], known));
        if sides.contains(&Flag::Unknown) || sides == [Flag::Set; 2] {
            return None;
        }
        let behind = &body.insts[at + 1..];
        let mut next = body.yields.clone();
        for inst in behind.iter().rev() {
            match &inst.op {
                Op::Compact { keep, .. } => {
                    for value in &mut next {
                        if let Some(n) = inst.results.iter().position(|v| v == value) {
                            *value = keep[n].0;
                        }
                    }
                }
                Op::Const(_) | Op::Binary(..) if !next.contains(&inst.results[0]) => {}
                _ => return None,
            }
        }
        Some(Ending { at, next })
    }
}
