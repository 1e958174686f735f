//! Exits of loops: what the last iteration writes, or takes memory for, is done behind the loop.
//!
//! ```text
//! while carry go = true, x, a { yield go } do {       while carry go = true, x, a { yield go } do {
//!   if c(x) { yield false, x, a }                       if c(x) { yield false, x, a }
//!   else {                                              else {
//!     if d(x) {                                           if d(x) { yield false, x, a }
//!       b = copy of a   b[x] = …                          else { … yield true, x + 1, a }
//!       yield false, x, b                         →     }
//!     } else { … yield true, x + 1, a }               }
//!   }                                                 if c(x) { yield x, a }
//! }                                                   else { (d(x) holds)  b = copy of a   b[x] = …  yield x, b }
//! ```
//!
//! The loop then carries less: an array that only its end replaces is the same in each iteration, and a loop that takes no
//! memory compacts none. What decides how the loop is left is computed once more behind it. [`super::rotate`] does the
//! same to loops with a single exit, whose flag it removes, too.

use super::rotate::{defined, is_repeatable, writes};
use super::{Code, like, resolve};
use crate::kir::{Block, Inst, Literal, Op, Value, ValueTy, walk};
use crate::stack::with_stack;
use rustc_hash::FxHashMap;

/// The largest number of operations that are written twice.
const MAX_REPEATED_OPERATIONS: usize = 64;

/// Moves what the exits of loops write behind these.
pub(super) fn move_exits(code: &mut Code<'_>) {
    let constants = code.constants();
    let mut names = FxHashMap::default();
    for body in code.bodies.iter_mut() {
        let mut exits = Exits { types: code.types, constants: &constants, names: &mut names };
        exits.block(body);
    }
    code.rename_all(&names);
}

struct Exits<'e> {
    types: &'e mut Vec<ValueTy>,
    constants: &'e FxHashMap<Value, Literal>,
    /// The new names of the results of loops.
    names: &'e mut FxHashMap<Value, Value>,
}

/// If the loop goes on after an iteration that takes some way through the body.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    GoesOn,
    Leaves,
    /// A branch decides it.
    Depends,
    Unknown,
}

/// The instructions that follow a block in the body of a loop, and the values for the next iteration.
#[derive(Clone)]
struct Rest {
    insts: Vec<Inst>,
    yields: Vec<Value>,
}

impl Rest {
    /// The rest behind a side of a branch, whose results are the values that the side yields.
    fn behind_side(&self, results: &[Value], side: &Block) -> Rest {
        let left: FxHashMap<Value, Value> =
            results.iter().copied().zip(side.yields.iter().copied()).collect();
        let mut block = Block { insts: self.insts.clone(), yields: self.yields.clone() };
        walk::rename_in_place(&mut block, &mut |v| left.get(&v).copied().unwrap_or(v));
        Rest { insts: block.insts, yields: block.yields }
    }

    /// The rest that has some instructions before it.
    fn after(&self, insts: &[Inst]) -> Rest {
        let insts = insts.iter().chain(&self.insts).cloned().collect();
        Rest { insts, yields: self.yields.clone() }
    }
}

impl Exits<'_> {
    fn block(&mut self, block: &mut Block) {
        with_stack(|| {
            for mut inst in std::mem::take(&mut block.insts) {
                inst.op.blocks_mut().for_each(|inner| self.block(inner));
                match self.flag(&inst.op) {
                    Some(flag) => self.move_exit(inst, flag, &mut block.insts),
                    None => block.insts.push(inst),
                }
            }
        });
    }

    /// The position of the flag among the values that a loop carries, if what its exits write can be moved.
    fn flag(&self, op: &Op) -> Option<usize> {
        let Op::While { init, carried, cond, body } = op else { return None };
        let flag = carried.iter().position(|v| *v == cond.yields[0])?;
        let mut reads_flag = body.yields.contains(&carried[flag]);
        walk::each_inst(body, &mut |inst| {
            walk::each_read(inst, &mut |v| reads_flag |= v == carried[flag]);
        });
        let is_true = self.constants.get(&init[flag]) == Some(&Literal::Bool(true));
        let is_plain = cond.insts.is_empty() && is_true && !reads_flag;
        if !is_plain || self.fate(body, body.yields[flag]) != Fate::Depends {
            return None;
        }
        let (mut found, mut repeated) = (false, Some(0));
        self.survey(body, body.yields[flag], &mut found, &mut repeated);
        (found && repeated.is_some_and(|count| count <= MAX_REPEATED_OPERATIONS)).then_some(flag)
    }

    /// The branch of a block that decides about a flag, by its position, and the position of the flag among its results.
    fn branch<'b>(
        &self,
        block: &'b Block,
        flag: Value,
    ) -> Option<(usize, usize, &'b Block, &'b Block)> {
        let at = block.insts.iter().position(|inst| inst.results.contains(&flag))?;
        let Inst { results, op: Op::If { then, otherwise, .. } } = &block.insts[at] else {
            return None;
        };
        let number = results.iter().position(|v| *v == flag)?;
        Some((at, number, then, otherwise))
    }

    fn fate(&self, block: &Block, flag: Value) -> Fate {
        with_stack(|| match self.branch(block, flag) {
            Some((_, number, then, otherwise)) => {
                let fates = [then, otherwise].map(|side| self.fate(side, side.yields[number]));
                match fates {
                    [Fate::Unknown, _] | [_, Fate::Unknown] => Fate::Unknown,
                    [a, b] if a == b => a,
                    _ => Fate::Depends,
                }
            }
            None => match self.constants.get(&flag) {
                Some(Literal::Bool(true)) => Fate::GoesOn,
                Some(Literal::Bool(false)) => Fate::Leaves,
                _ => Fate::Unknown,
            },
        })
    }

    /// Finds out if the exits of a block write or take memory, and how many operations are written twice if they are
    /// moved: those before each branch on the way, and those behind it. `None` if one of the former cannot be repeated.
    fn survey(&self, block: &Block, flag: Value, found: &mut bool, repeated: &mut Option<usize>) {
        with_stack(|| {
            let depends = self.fate(block, flag) == Fate::Depends;
            match self.branch(block, flag).filter(|_| depends) {
                Some((at, number, then, otherwise)) => {
                    let before = &block.insts[..at];
                    let all = before.iter().all(|inst| is_repeatable(&inst.op));
                    *repeated = repeated.filter(|_| all).map(|n| n + block.insts.len() - 1);
                    for side in [then, otherwise] {
                        self.survey(side, side.yields[number], found, repeated);
                    }
                }
                None if self.fate(block, flag) == Fate::Leaves => *found |= writes(block),
                None => {}
            }
        });
    }

    fn move_exit(&mut self, mut inst: Inst, flag: usize, out: &mut Vec<Inst>) {
        // What was the result of a loop inside has another name, which a copy of the code renames.
        walk::rename_inst(&mut inst, &mut |v| resolve(self.names, v));
        let Op::While { init, carried, cond, body } = inst.op else { return };
        let rest = Rest { insts: Vec::new(), yields: body.yields.clone() };
        let ends: Vec<Value> = carried.iter().map(|v| like(self.types, *v)).collect();
        let finish = self.last_iteration(&body, body.yields[flag], &rest);
        let copied = carried.iter().copied().zip(ends.iter().copied()).collect();
        let mut finish = self.copied(finish, copied);
        let body = self.other_iterations(&body, body.yields[flag], &rest, (&carried, flag));
        out.push(Inst { results: ends, op: Op::While { init, carried, cond, body } });
        out.append(&mut finish.insts);
        self.names.extend(inst.results.into_iter().zip(finish.yields));
    }

    /// Returns a copy of a block that defines other values; `names` are those that have new names already.
    fn copied(&mut self, mut block: Block, mut names: FxHashMap<Value, Value>) -> Block {
        for value in block.insts.iter().flat_map(defined) {
            names.insert(value, like(self.types, value));
        }
        walk::rename_in_place(&mut block, &mut |v| names.get(&v).copied().unwrap_or(v));
        block
    }

    /// Returns a copy of a block with what follows it.
    fn followed(&mut self, block: &Block, rest: &Rest) -> Block {
        let insts = block.insts.iter().chain(&rest.insts).cloned().collect();
        self.copied(Block { insts, yields: rest.yields.clone() }, FxHashMap::default())
    }

    /// Returns the body of the loop without what its exits do: they give what the iteration began with.
    fn other_iterations(
        &mut self,
        block: &Block,
        flag: Value,
        rest: &Rest,
        carried: (&[Value], usize),
    ) -> Block {
        with_stack(|| match self.fate(block, flag) {
            Fate::Leaves => {
                let (carried, at) = carried;
                let off = like(self.types, carried[at]);
                let stop = Inst { results: vec![off], op: Op::Const(Literal::Bool(false)) };
                let mut yields = carried.to_vec();
                yields[at] = off;
                Block { insts: vec![stop], yields }
            }
            Fate::Depends => self.with_sides(block, flag, rest, &mut |this, side, flag, rest| {
                this.other_iterations(side, flag, rest, carried)
            }),
            Fate::GoesOn | Fate::Unknown => self.followed(block, rest),
        })
    }

    /// Returns what the iteration does in which the loop is left.
    fn last_iteration(&mut self, block: &Block, flag: Value, rest: &Rest) -> Block {
        with_stack(|| {
            let depends = self.fate(block, flag) == Fate::Depends;
            let Some((at, number, then, otherwise)) = self.branch(block, flag).filter(|_| depends)
            else {
                return self.followed(block, rest);
            };
            let fates = [then, otherwise].map(|side| self.fate(side, side.yields[number]));
            let only = match fates {
                [Fate::GoesOn, _] => otherwise,
                [_, Fate::GoesOn] => then,
                _ => {
                    return self.with_sides(block, flag, rest, &mut |this, side, flag, rest| {
                        this.last_iteration(side, flag, rest)
                    });
                }
            };
            let rest = rest.after(&block.insts[at + 1..]);
            let rest = rest.behind_side(&block.insts[at].results, only);
            let last = self.last_iteration(only, only.yields[number], &rest);
            let insts = block.insts[..at].iter().cloned().chain(last.insts).collect();
            Block { insts, yields: last.yields }
        })
    }

    /// Returns a block whose branch about the flag has other sides, with what is behind it in each of them.
    fn with_sides(
        &mut self,
        block: &Block,
        flag: Value,
        rest: &Rest,
        side: &mut dyn FnMut(&mut Self, &Block, Value, &Rest) -> Block,
    ) -> Block {
        let mut insts = block.insts.clone();
        let Some((at, number, ..)) = self.branch(block, flag) else {
            return Block { insts, yields: rest.yields.clone() };
        };
        let rest = rest.after(&insts.split_off(at + 1));
        let Some(Inst { results, op: Op::If { cond, then, otherwise } }) = insts.pop() else {
            return Block { insts, yields: rest.yields };
        };
        let [then, otherwise] = [then, otherwise].map(|of| {
            let rest = rest.behind_side(&results, &of);
            side(self, &of, of.yields[number], &rest)
        });
        let yields: Vec<Value> = rest.yields.iter().map(|v| like(self.types, *v)).collect();
        insts.push(Inst { results: yields.clone(), op: Op::If { cond, then, otherwise } });
        Block { insts, yields }
    }
}
