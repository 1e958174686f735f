//! Loop unswitching: a loop that has copied its arrays goes on as a loop that need not ask if it has.
//!
//! Code that updates an array which may belong to somebody else copies it, the first time. Whether that has happened
//! is known when the loop runs, by the array's room: the number of elements that may be overwritten,
//! which is 0 before. It stays above 0 from then on. The second loop has no copy, no branch around one and,
//! if nothing else takes memory, no compaction.
//!
//! ```text
//! while carry a, room, … { c } do {              call (while carry a, room, … { c and not room > 0 } do { the same })
//!   b, own = if room > 0 { yield a, room }   →   while carry a, room, … { c } do {
//!            else { (copy) }                       b, own = a, room
//!   …                                              …
//! }                                              }
//! ```
//!
//! The first loop becomes a function, so that what the second one carries is in registers,
//! whatever the first one calls.
//!
//! The name is that of the transformation that takes a condition out of a loop whose iterations do not change it;
//! here they change it once at most.

use super::outlined::outlined;
use super::{Code, NewFunctions, like};
use crate::bug::OrBug;
use crate::kir::{Binary, Block, Inst, Literal, Op, Ty, Unary, Value, ValueTy, walk};
use crate::stack::with_stack;
use rustc_hash::{FxHashMap, FxHashSet};

/// Loops with more instructions than this are not written twice.
const MAX_LOOP_INSTRUCTIONS: usize = 1500;

/// The number of instructions that are written while copies of the loops of some code are made.
const MAX_WRITTEN_INSTRUCTIONS: usize = 20_000;

/// Unswitches the loops of code that copy arrays before the first update.
pub(super) fn unswitch_loops(code: &mut Code<'_>) {
    let constants = code.constants();
    let mut unswitching = Unswitching {
        types: code.types,
        functions: code.functions,
        constants,
        written: 0,
        is_positive: FxHashMap::default(),
    };
    code.bodies.iter_mut().for_each(|body| unswitching.block(body));
}

struct Unswitching<'u> {
    types: &'u mut Vec<ValueTy>,
    functions: &'u mut NewFunctions,
    constants: FxHashMap<Value, Literal>,
    /// The number of instructions of copies so far.
    written: usize,
    /// The ints that are known to be above 0, or not to be.
    is_positive: FxHashMap<Value, bool>,
}

/// The new names of values in a copy.
type Names = FxHashMap<Value, Value>;

fn named(names: &Names, value: Value) -> Value {
    names.get(&value).copied().unwrap_or(value)
}

fn all_named(names: &Names, values: &[Value]) -> Vec<Value> {
    values.iter().map(|v| named(names, *v)).collect()
}

impl Unswitching<'_> {
    fn block(&mut self, block: &mut Block) {
        with_stack(|| {
            for inst in std::mem::take(&mut block.insts) {
                match self.unswitched(&inst) {
                    Some(two) => block.insts.extend(two),
                    None => block.insts.push(inst),
                }
            }
            let inner = block.insts.iter_mut().flat_map(|inst| inst.op.blocks_mut());
            inner.for_each(|inner| self.block(inner));
        });
    }

    /// Returns a call of the first loop, and the second, which take the place of a loop.
    fn unswitched(&mut self, inst: &Inst) -> Option<Vec<Inst>> {
        let Op::While { carried, cond, body, .. } = &inst.op else { return None };
        if walk::count_insts(body) > MAX_LOOP_INSTRUCTIONS {
            return None;
        }
        let tested = self.tested(body);
        let mut rooms: FxHashSet<usize> =
            (0..carried.len()).filter(|at| tested.contains(&carried[*at])).collect();
        let copies = allocations(body);
        while !rooms.is_empty() && self.written < MAX_WRITTEN_INSTRUCTIONS {
            let mut names = Names::default();
            let after = self.bind(carried, &mut names);
            self.is_positive.extend(rooms.iter().map(|at| (after[*at], true)));
            let new_cond = self.copy(cond, &mut names);
            let new_body = self.copy(body, &mut names);
            let before = rooms.len();
            rooms.retain(|at| self.is_positive.get(&new_body.yields[*at]) == Some(&true));
            if rooms.len() < before {
                continue;
            }
            if allocations(&new_body) == copies {
                return None;
            }
            let mut out = Vec::new();
            let init = self.before_copies(inst, &rooms, &mut out);
            let op = Op::While { init, carried: after, cond: new_cond, body: new_body };
            out.push(Inst { results: inst.results.clone(), op });
            return Some(out);
        }
        None
    }

    /// Returns what a loop carries when the given rooms are above 0: its initial values if they are so already, else
    /// the results of a call of the first loop.
    fn before_copies(
        &mut self,
        inst: &Inst,
        rooms: &FxHashSet<usize>,
        out: &mut Vec<Inst>,
    ) -> Vec<Value> {
        let mut first = inst.clone();
        let Op::While { init, carried, cond, .. } = &mut first.op else { return Vec::new() };
        let mut rooms: Vec<usize> = rooms.iter().copied().collect();
        rooms.sort_unstable();
        let owned = self.are_owned(rooms.iter().map(|at| carried[*at]), &mut cond.insts);
        let not = self.scalar(Ty::Bool, Op::Unary(Unary::Not, owned), &mut cond.insts);
        let going = Op::Binary(Binary::And, cond.yields[0], not);
        cond.yields[0] = self.scalar(Ty::Bool, going, &mut cond.insts);
        let init = init.clone();
        first.op.blocks_mut().for_each(|inner| self.block(inner));

        let owned = self.are_owned(rooms.iter().map(|at| init[*at]), out);
        let results: Vec<Value> = inst.results.iter().map(|v| like(self.types, *v)).collect();
        let call = outlined(first, "until arrays are copied", self.types, self.functions);
        let called: Vec<Value> = inst.results.iter().map(|v| like(self.types, *v)).collect();
        let call = Inst { results: called.clone(), op: call };
        let (then, otherwise) = (
            Block { insts: Vec::new(), yields: init },
            Block { insts: vec![call], yields: called },
        );
        let op = Op::If { cond: owned, then, otherwise };
        out.push(Inst { results: results.clone(), op });
        results
    }

    fn scalar(&mut self, ty: Ty, op: Op, out: &mut Vec<Inst>) -> Value {
        self.types.push(ValueTy::Scalar(ty));
        let value = Value(self.types.len() as u32 - 1);
        out.push(Inst { results: vec![value], op });
        value
    }

    /// True if all rooms are above 0.
    fn are_owned(&mut self, rooms: impl Iterator<Item = Value>, out: &mut Vec<Inst>) -> Value {
        let zero = self.scalar(Ty::I64, Op::Const(Literal::I64(0)), out);
        let mut all = None;
        for room in rooms {
            let one = self.scalar(Ty::Bool, Op::Binary(Binary::Gt, room, zero), out);
            all = Some(match all {
                Some(all) => self.scalar(Ty::Bool, Op::Binary(Binary::And, all, one), out),
                None => one,
            });
        }
        all.or_bug("a loop is unswitched for some of its rooms")
    }

    /// The values whose being above 0 decides if code takes memory, and those that become such values.
    fn tested(&self, body: &Block) -> FxHashSet<Value> {
        let mut compared = FxHashMap::default();
        let mut tested = FxHashSet::default();
        walk::each_inst(body, &mut |inst| match &inst.op {
            Op::Binary(Binary::Gt, a, b) if self.constants.get(b) == Some(&Literal::I64(0)) => {
                compared.insert(inst.results[0], *a);
            }
            Op::If { cond, otherwise, .. } if allocations(otherwise) > 0 => {
                tested.extend(compared.get(cond));
            }
            _ => {}
        });
        let mut before = usize::MAX;
        while tested.len() != before {
            before = tested.len();
            walk::each_inst(body, &mut |inst| match &inst.op {
                Op::If { then, otherwise, .. } => {
                    for (at, result) in inst.results.iter().enumerate() {
                        if tested.contains(result) {
                            tested.extend([then.yields[at], otherwise.yields[at]]);
                        }
                    }
                }
                Op::While { init, carried, .. } | Op::For { init, carried, .. } => {
                    for (at, result) in carried.iter().enumerate() {
                        if tested.contains(result) || tested.contains(&inst.results[at]) {
                            tested.extend([init[at], *result]);
                        }
                    }
                }
                _ => {}
            });
        }
        tested
    }

    /// Gives values new names.
    fn bind(&mut self, values: &[Value], names: &mut Names) -> Vec<Value> {
        let fresh = |value: &Value| {
            let new = like(self.types, *value);
            names.insert(*value, new);
            new
        };
        values.iter().map(fresh).collect()
    }

    /// A copy of a block, with new names, in which the branches are decided that the known rooms decide.
    fn copy(&mut self, block: &Block, names: &mut Names) -> Block {
        let mut insts = Vec::with_capacity(block.insts.len());
        with_stack(|| self.copy_insts(block, names, &mut insts));
        Block { insts, yields: all_named(names, &block.yields) }
    }

    fn copy_insts(&mut self, block: &Block, names: &mut Names, out: &mut Vec<Inst>) {
        self.written += block.insts.len();
        for inst in &block.insts {
            self.copy_inst(inst, names, out);
        }
    }

    fn copy_inst(&mut self, inst: &Inst, names: &mut Names, out: &mut Vec<Inst>) {
        let op = match &inst.op {
            Op::If { cond, then, otherwise } => {
                let cond = named(names, *cond);
                if let Some(Literal::Bool(holds)) = self.constants.get(&cond) {
                    let side = if *holds { then } else { otherwise };
                    with_stack(|| self.copy_insts(side, names, out));
                    for (result, value) in inst.results.iter().zip(&side.yields) {
                        names.insert(*result, named(names, *value));
                    }
                    return;
                }
                let (then, otherwise) = (self.copy(then, names), self.copy(otherwise, names));
                let results = self.bind(&inst.results, names);
                for (at, result) in results.iter().enumerate() {
                    let sides = [then.yields[at], otherwise.yields[at]];
                    if sides.iter().all(|v| self.is_positive.get(v) == Some(&true)) {
                        self.is_positive.insert(*result, true);
                    }
                }
                out.push(Inst { results, op: Op::If { cond, then, otherwise } });
                return;
            }
            Op::While { .. } | Op::For { .. } => return self.copy_loop(inst, names, out),
            Op::Binary(Binary::Gt, a, b) if self.constants.get(b) == Some(&Literal::I64(0)) => {
                match self.is_positive.get(&named(names, *a)) {
                    Some(known) => Op::Const(Literal::Bool(*known)),
                    None => inst.op.clone(),
                }
            }
            op => op.clone(),
        };
        let mut op = op;
        op.map_operands(|v| named(names, v));
        let results = self.bind(&inst.results, names);
        if let Op::Const(literal) = op {
            self.constants.insert(results[0], literal);
            if matches!(literal, Literal::I64(x) if x > 0) {
                self.is_positive.insert(results[0], true);
            }
        }
        out.push(Inst { results, op });
    }

    /// Copies a loop: the rooms that it is given stay above 0, unless an iteration says otherwise.
    fn copy_loop(&mut self, inst: &Inst, names: &mut Names, out: &mut Vec<Inst>) {
        let mut op = inst.op.clone();
        op.map_operands(|v| named(names, v));
        let (Op::While { init, carried, .. } | Op::For { init, carried, .. }) = &op else { return };
        let mut rooms: Vec<usize> =
            (0..init.len()).filter(|at| self.is_positive.get(&init[*at]) == Some(&true)).collect();
        let old_carried = carried.clone();
        loop {
            let new_carried = self.bind(&old_carried, names);
            self.is_positive.extend(rooms.iter().map(|at| (new_carried[*at], true)));
            let new_op = match &op {
                Op::While { init, cond, body, .. } => Op::While {
                    init: init.clone(),
                    carried: new_carried,
                    cond: self.copy(cond, names),
                    body: self.copy(body, names),
                },
                Op::For { count, index, init, reduce, body, .. } => Op::For {
                    count: *count,
                    index: self.bind(&[*index], names)[0],
                    init: init.clone(),
                    carried: new_carried,
                    reduce: reduce.clone(),
                    body: self.copy(body, names),
                },
                _ => return,
            };
            let (Op::While { body, .. } | Op::For { body, .. }) = &new_op else { return };
            let before = rooms.len();
            rooms.retain(|at| self.is_positive.get(&body.yields[*at]) == Some(&true));
            if self.written > MAX_WRITTEN_INSTRUCTIONS && rooms.len() < before {
                rooms.clear();
            }
            if rooms.len() == before {
                let results = self.bind(&inst.results, names);
                self.is_positive.extend(rooms.iter().map(|at| (results[*at], true)));
                out.push(Inst { results, op: new_op });
                return;
            }
        }
    }
}

/// The number of operations in a block that take memory.
fn allocations(block: &Block) -> usize {
    let mut count = 0;
    walk::each_inst(block, &mut |inst| count += usize::from(matches!(inst.op, Op::Alloc(..))));
    count
}
