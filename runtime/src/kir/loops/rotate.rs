//! Loop rotation: the flag of a loop becomes its condition.
//!
//! A loop that carries a flag is left in its last iteration, which computes the results by one side of a branch. That
//! side moves behind the loop, where the carried values are those that the last iteration would start
//! with. The condition of the branch becomes that of the loop; what it reads is computed
//! once more behind the loop.
//!
//! ```text
//! while carry go = true, x, r { yield go } do {      while carry x, r { c = …; yield not c } do {
//!   c = …                                              (continue)
//!   if c { (finish) yield false, … }            →      yield …
//!   else { (continue) yield true, … }                }
//! }                                                  c = …
//!                                                    (finish)
//! ```
//!
//! Loops that only compute are left alone: they may be executed for several elements at a time, each of which has a
//! flag of its own ([`vectorize`](crate::kir::vectorize)).

use super::joins::retain;
use super::{Code, like, resolve};
use crate::kir::{Block, Class, Inst, Literal, Op, Unary, Value, ValueTy, walk};
use crate::stack::with_stack;
use rustc_hash::FxHashMap;

/// The largest number of operations that are repeated behind a loop.
const MAX_REPEATED_OPERATIONS: usize = 64;

/// Rotates the loops of code that carry a flag.
pub(super) fn rotate_loops(code: &mut Code<'_>) {
    let constants = code.constants();
    let mut names = FxHashMap::default();
    for body in code.bodies.iter_mut() {
        let mut rotation = Rotation { types: code.types, constants: &constants, names: &mut names };
        rotation.block(body);
    }
    code.rename_all(&names);
}

struct Rotation<'r> {
    types: &'r mut Vec<ValueTy>,
    constants: &'r FxHashMap<Value, Literal>,
    /// The new names of the results of loops.
    names: &'r mut FxHashMap<Value, Value>,
}

/// The branch in the body of a loop that decides if it goes on.
struct Exit {
    /// The position of the flag among the carried values.
    flag: usize,
    /// The position of the branch in the body.
    branch: usize,
    /// True if the loop is left where the condition of the branch holds.
    when: bool,
}

impl Rotation<'_> {
    fn block(&mut self, block: &mut Block) {
        with_stack(|| {
            for mut inst in std::mem::take(&mut block.insts) {
                inst.op.blocks_mut().for_each(|inner| self.block(inner));
                match self.exit(&inst.op) {
                    Some(exit) => self.rotate(inst, &exit, &mut block.insts),
                    None => block.insts.push(inst),
                }
            }
        });
    }

    fn is(&self, value: Value, of: bool) -> bool {
        self.constants.get(&value) == Some(&Literal::Bool(of))
    }

    /// The exit of a loop that can be rotated.
    fn exit(&self, op: &Op) -> Option<Exit> {
        let Op::While { init, carried, cond, body } = op else { return None };
        let flag = carried.iter().position(|v| *v == cond.yields[0])?;
        let branch =
            body.insts.iter().position(|inst| inst.results.contains(&body.yields[flag]))?;
        let Inst { results, op: Op::If { cond: tested, then, otherwise } } = &body.insts[branch]
        else {
            return None;
        };
        let at = results.iter().position(|v| *v == body.yields[flag])?;
        let when = self.is(then.yields[at], false);
        let (last, next) = if when { (then, otherwise) } else { (otherwise, then) };
        let before = &body.insts[..branch];
        // The body may read the flag, which is true there; the repeated code would read it as false.
        let reads_flag = |inst: &Inst| {
            let mut found = false;
            walk::each_read(inst, &mut |v| found |= v == carried[flag]);
            found
        };
        let rotates = cond.insts.is_empty()
            && self.is(init[flag], true)
            && self.is(last.yields[at], false)
            && self.always_goes_on(next, next.yields[at])
            && before.len() <= MAX_REPEATED_OPERATIONS
            && before.iter().all(|inst| is_repeatable(&inst.op))
            && *tested != carried[flag]
            && !body.insts.iter().any(reads_flag)
            && !body.yields.contains(&carried[flag])
            && writes(body);
        rotates.then_some(Exit { flag, branch, when })
    }

    /// Returns true if a flag that a block yields is true however the block is left.
    fn always_goes_on(&self, block: &Block, flag: Value) -> bool {
        with_stack(|| {
            let made = block.insts.iter().find(|inst| inst.results.contains(&flag));
            match made {
                Some(Inst { results, op: Op::If { then, otherwise, .. } }) => {
                    let at = results.iter().position(|v| *v == flag).unwrap_or_default();
                    [then, otherwise]
                        .into_iter()
                        .all(|side| self.always_goes_on(side, side.yields[at]))
                }
                _ => self.is(flag, true),
            }
        })
    }

    fn rotate(&mut self, mut inst: Inst, exit: &Exit, out: &mut Vec<Inst>) {
        // What was the result of a loop inside has another name, which a copy of the code renames.
        walk::rename_inst(&mut inst, &mut |v| resolve(self.names, v));
        let Op::While { mut init, mut carried, cond: _, mut body } = inst.op else { return };
        let mut behind = body.insts.split_off(exit.branch);
        let decide = std::mem::take(&mut body.insts);
        let branch = behind.remove(0);
        let Op::If { cond: tested, then, otherwise } = branch.op else { return };
        let (last, next) = if exit.when { (then, otherwise) } else { (otherwise, then) };

        let kept: Vec<bool> = (0..carried.len()).map(|at| at != exit.flag).collect();
        let flag = inst.results[exit.flag];
        let mut results = inst.results;
        retain(&mut results, &kept);
        retain(&mut init, &kept);
        retain(&mut carried, &kept);
        let last_flag = body.yields.remove(exit.flag);

        // Behind the loop: the code up to the branch, the side that leaves, and the rest of the body.
        let ends: Vec<Value> = carried.iter().map(|v| like(self.types, *v)).collect();
        let mut copied: FxHashMap<Value, Value> =
            carried.iter().copied().zip(ends.iter().copied()).collect();
        let mut finish: Vec<Inst> = decide.clone();
        finish.extend(last.insts);
        finish.extend(behind.iter().cloned());
        let left: FxHashMap<Value, Value> =
            branch.results.iter().copied().zip(last.yields.iter().copied()).collect();
        let mut finish = Block { insts: finish, yields: body.yields.clone() };
        finish.yields.push(last_flag);
        walk::rename_in_place(&mut finish, &mut |v| left.get(&v).copied().unwrap_or(v));
        for value in finish.insts.iter().flat_map(defined) {
            copied.insert(value, like(self.types, value));
        }
        walk::rename_in_place(&mut finish, &mut |v| copied.get(&v).copied().unwrap_or(v));

        // In the loop: the other side, and the rest of the body.
        let going: FxHashMap<Value, Value> =
            branch.results.iter().copied().zip(next.yields.iter().copied()).collect();
        let mut rest = Block { insts: behind, yields: body.yields };
        walk::rename_in_place(&mut rest, &mut |v| going.get(&v).copied().unwrap_or(v));
        let mut insts = next.insts;
        insts.extend(rest.insts);
        let body = Block { insts, yields: rest.yields };
        let mut cond = Block { insts: decide, yields: vec![tested] };
        if exit.when {
            let not = like(self.types, tested);
            cond.insts.push(Inst { results: vec![not], op: Op::Unary(Unary::Not, tested) });
            cond.yields = vec![not];
        }
        out.push(Inst { results: ends, op: Op::While { init, carried, cond, body } });
        out.append(&mut finish.insts);
        let last_flag = finish.yields.pop();
        self.names.extend(results.into_iter().zip(finish.yields));
        self.names.extend(last_flag.map(|value| (flag, value)));
    }
}

/// Returns true if code writes or takes memory, so that it is never executed for several elements at a time.
pub(super) fn writes(block: &Block) -> bool {
    let mut found = false;
    walk::each_inst(block, &mut |inst| {
        found |= matches!(
            inst.op.class(),
            Class::Write | Class::Allocate | Class::Call | Class::Intrinsic
        );
    });
    found
}

/// Returns true if an operation may be executed once more behind a loop.
pub(super) fn is_repeatable(op: &Op) -> bool {
    matches!(op.class(), Class::Pure | Class::Address | Class::Read)
        || matches!(op, Op::Check { .. })
}

/// The values that an instruction and its nested blocks define.
pub(super) fn defined(inst: &Inst) -> Vec<Value> {
    let mut all = inst.results.clone();
    let mut bindings = |op: &Op| {
        if let Op::For { index, .. } = op {
            all.push(*index);
        }
        all.extend(op.carried());
    };
    bindings(&inst.op);
    for block in inst.op.blocks() {
        walk::each_inst(block, &mut |inst| {
            bindings(&inst.op);
        });
    }
    for block in inst.op.blocks() {
        walk::each_inst(block, &mut |inst| all.extend(&inst.results));
    }
    all
}
