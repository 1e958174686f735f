//! Recursion whose results are added up, or appended to something: a function that adds to what a call of itself gives
//! becomes a loop that carries the sum.
//!
//! ```text
//! fn "bits"(x) {                         fn "bits"(x) { call "bits.loop"(x, 0, most) }
//!   v1 = eq(x, 0)                        fn "bits.loop"(x, sum, left) {
//!   if v1 { 0 } else {                     v0 = gt(left, 0)  check(v0, too deep)
//!     v2 = sub(x, 1)                       v1 = eq(x, 0)
//!     v3 = and(x, v2)               →      if v1 { add(sum, 0) } else {
//!     v4 = call "bits"(v3)                   v2 = sub(x, 1)
//!     add(1, v4)                             v3 = and(x, v2)
//!   }                                        call "bits.loop"(v3, add(sum, 1), sub(left, 1))
//! }                                        }
//!                                        }
//! ```
//!
//! So do products and extremes of ints, and conjunctions and disjunctions; sums of floats depend on the order, and stay
//! recursive. A loop takes no stack, and is vectorised where calls are not. What does not end is too deep after as many
//! iterations as no stack has room for calls. A function that calls itself twice for one result stays as it is: a loop
//! for one of the calls makes the other one slower.
//!
//! A function that appends what a call of itself gives to something, as `cons(v[0], f(drop(v, 1)))` does, becomes a loop
//! that appends to a sequence of its own. This sequence grows where it lies, so that all iterations together copy as much as
//! they make, where the calls copy the rest of the result at each level. The first iteration stands before the loop: what it
//! appends to is the sequence, and if there is no other iteration nothing is copied. What a call of the function comes first
//! in, as in `f(n / 10) ++ [rem(n, 10)]`, stays recursive: it grows where it lies already.
//!
//! The results may be tuples, each part of which has an operation of its own, or none.
//!
//! For sequential code only: flattened code goes from level to level in any case. What comes behind the call is executed
//! before it: a function with effects stays as it is, and so does one where something there may fault, as in
//! `f(n - 1) + a[n]`, while `a[n] + f(n - 1)` becomes a loop. An element that is known to exist is no such thing.
//!
//! | file | contents |
//! |---|---|
//! | `elements` | reads of elements that exist, by what is known about lengths |
//! | `sides` | calls before a conditional, which are moved into its sides |
//! | `tuples` | recursion whose results are tuples |
//!
//! Sources: Burstall and Darlington, *A transformation system for developing recursive programs*, Journal of the ACM 24
//! (1977), on changing associative operations; Leijen and Lorenzen, *Tail Recursion Modulo Context*, POPL 2023.

mod elements;
mod sides;
mod tuples;

use super::dead;
use crate::base::with_stack;
use crate::ir::{
    Atom, Block, Effects, FunId, Function, FunctionBuilder, Let, Op, Program, Site, Ty, Var,
};
use crate::prim::SeqOp;
use crate::thresholds::Thresholds;
use nesl_runtime::bug;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::scalar::ScalarOp;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::format_smolstr;
use tuples::Tuples;

/// An associative operation that puts results together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Combination {
    /// A scalar operation of bools or ints, which is commutative, too: ints wrap around at both precisions.
    Scalar(ScalarOp),
    /// Appending, with the call as the second operand.
    Append,
}

/// The operations that may be done in another order.
const OPERATIONS: &[Combination] = &[
    Combination::Scalar(ScalarOp::Add),
    Combination::Scalar(ScalarOp::Mul),
    Combination::Scalar(ScalarOp::Max),
    Combination::Scalar(ScalarOp::Min),
    Combination::Scalar(ScalarOp::And),
    Combination::Scalar(ScalarOp::Or),
    Combination::Scalar(ScalarOp::Xor),
    Combination::Append,
];

impl Combination {
    /// Returns true if the operation takes and gives values of a type.
    fn takes(self, ty: &Ty) -> bool {
        match self {
            Combination::Scalar(ScalarOp::Max | ScalarOp::Min) => *ty == Ty::Int,
            Combination::Scalar(_) => self.neutral(ty).is_some(),
            Combination::Append => matches!(ty, Ty::Sequence(_)),
        }
    }

    /// Returns the value to begin with, if there is a constant that changes no other at both precisions.
    fn neutral(self, ty: &Ty) -> Option<Atom> {
        let Combination::Scalar(op) = self else { return None };
        Some(match (op, ty) {
            (ScalarOp::Add | ScalarOp::Or | ScalarOp::Xor, Ty::Int) => Atom::Int(0),
            (ScalarOp::Mul, Ty::Int) => Atom::Int(1),
            (ScalarOp::And, Ty::Int) => Atom::Int(-1),
            (ScalarOp::And, Ty::Bool) => Atom::Bool(true),
            (ScalarOp::Or | ScalarOp::Xor, Ty::Bool) => Atom::Bool(false),
            _ => return None,
        })
    }

    /// Returns the operands of an operation, if it is this one.
    fn operands(self, op: &Op) -> Option<[Atom; 2]> {
        match (self, op) {
            (Combination::Scalar(own), Op::Scalar(op, args)) if own == *op => {
                Some([args[0], args[1]])
            }
            (Combination::Append, Op::Seq(SeqOp::Append, args)) => Some([args[0], args[1]]),
            _ => None,
        }
    }

    /// Returns the operation on two operands.
    fn of(self, operands: [Atom; 2]) -> Op {
        match self {
            Combination::Scalar(op) => Op::Scalar(op, operands.into()),
            Combination::Append => Op::Seq(SeqOp::Append, operands.into()),
        }
    }
}

/// Adds a loop for each recursive function that can be one; the functions keep their numbers.
pub(super) fn accumulate(program: &mut Program, limits: &Thresholds) {
    let found = (0..program.functions.len()).filter_map(|at| {
        let id = FunId(at as u32);
        let is_call = |op: &Op| matches!(op, Op::Call(callee, _) if *callee == id);
        let (function, mut is_recursive) = (&program.functions[at], false);
        function.body.for_each_op(&mut |op| is_recursive |= is_call(op));
        is_recursive.then(|| Loop::of(function, id))?
    });
    let found: Vec<Loop> = found.collect();
    if found.is_empty() {
        return;
    }
    let effects = Effects::of(program);
    for found in found {
        let id = found.id();
        if effects.in_function(id) {
            continue;
        }
        let next = FunId(program.functions.len() as u32);
        let most = match found.appends() {
            true => limits.max_appending_calls,
            false => limits.max_accumulated_calls,
        };
        let (first, looped) = found.written(next, most);
        program.functions[id.0 as usize].body = first;
        program.functions.push(looped);
    }
}

/// Returns true if sequential code of a function is a loop that appends, while flattened code copies in each call.
pub fn appends_results(function: &Function, id: FunId) -> bool {
    function.result.has_sequence() && Loop::of(function, id).is_some_and(|found| found.appends())
}

/// The loop that a recursive function can be.
enum Loop {
    /// One value is added up.
    Sum(Sum),
    /// Parts of a tuple are added up.
    Tuples(Tuples),
}

impl Loop {
    fn of(function: &Function, id: FunId) -> Option<Loop> {
        let recursion = Recursion::of(function.clone(), id);
        match function.result {
            Ty::Pair(..) => Tuples::of(recursion).map(Loop::Tuples),
            _ => Sum::of(recursion).map(Loop::Sum),
        }
    }

    fn id(&self) -> FunId {
        match self {
            Loop::Sum(sum) => sum.recursion.id,
            Loop::Tuples(tuples) => tuples.id(),
        }
    }

    /// Returns true if something is appended.
    fn appends(&self) -> bool {
        match self {
            Loop::Sum(sum) => sum.op == Combination::Append,
            Loop::Tuples(tuples) => tuples.appends(),
        }
    }

    /// Returns the body of the function that begins the loop, and the loop, which gets a number and executes at most
    /// so many iterations.
    fn written(&self, looped: FunId, most: i64) -> (Block, Function) {
        match self {
            Loop::Sum(sum) => sum.written(looped, most),
            Loop::Tuples(tuples) => tuples.written(looped, most),
        }
    }
}

/// A recursive function.
struct Recursion {
    /// The function, with calls only where iterations end, if they can be moved there.
    function: Function,
    id: FunId,
    /// The elements that exist wherever they are read.
    existing: FxHashSet<Var>,
    /// The calls that were moved to where iterations end.
    moved: FxHashSet<Var>,
}

impl Recursion {
    fn of(mut function: Function, id: FunId) -> Recursion {
        let existing = elements::existing(&function.body);
        let moved = sides::move_calls(&mut function, id, &existing);
        Recursion { function, id, existing, moved }
    }

    fn may_fault(&self, binding: &Let) -> bool {
        binding.may_fault() && !self.existing.contains(&binding.var)
    }
}

/// A recursive function whose results an operation adds up.
struct Sum {
    recursion: Recursion,
    op: Combination,
    uses: FxHashMap<Var, usize>,
}

impl Sum {
    fn of(recursion: Recursion) -> Option<Sum> {
        let mut uses = FxHashMap::default();
        recursion.function.body.count_uses(&mut uses);
        let mut sum = Sum { recursion, op: OPERATIONS[0], uses };
        let adds = |op: &Combination| {
            sum.op = *op;
            sum.adds()
        };
        let adds = OPERATIONS.iter().any(adds);
        (adds && (sum.recursion.moved.is_empty() || sum.can_begin())).then_some(sum)
    }

    /// Returns true if the function adds something to the result of a call of itself, and makes no other calls of itself
    /// than those that end an iteration.
    fn adds(&self) -> bool {
        let Function { body, result, .. } = &self.recursion.function;
        if !self.op.takes(result) || !self.adds_in(body) {
            return false;
        }
        let mut calls = 0;
        body.for_each_op(&mut |op| calls += usize::from(self.is_call(op)));
        calls == self.last_calls(body, body.result)
    }

    /// Returns true if there is something to begin with, before anything is added.
    fn can_begin(&self) -> bool {
        self.op == Combination::Append || self.op.neutral(&self.recursion.function.result).is_some()
    }

    fn adds_in(&self, block: &Block) -> bool {
        with_stack(|| match self.definition(block, block.result).map(|(_, binding)| &binding.op) {
            Some(Op::If { then, otherwise, .. }) => self.adds_in(then) || self.adds_in(otherwise),
            Some(op) => self.divide(block, op).is_some(),
            None => false,
        })
    }

    /// Returns the number of calls that a value is the result of, in the sides of conditionals or with something added.
    fn last_calls(&self, block: &Block, value: Atom) -> usize {
        let Some((at, binding)) = self.definition(block, value) else { return 0 };
        with_stack(|| match &binding.op {
            op if let Some([a, b]) = self.op.operands(op) => match self.last_calls(block, b) {
                // One of two calls would end an iteration.
                0 if self.op != Combination::Append => self.last_calls(block, a),
                calls => calls,
            },
            // What comes behind the call would come before it, and its faults before those of the call.
            _ if block.lets[at + 1..].iter().any(|binding| self.recursion.may_fault(binding)) => 0,
            Op::If { then, otherwise, .. } => {
                [then, otherwise].iter().map(|side| self.last_calls(side, side.result)).sum()
            }
            op => usize::from(self.is_call(op)),
        })
    }

    /// Returns what an operation adds, and the operand that calls end in that it is added to.
    fn divide(&self, block: &Block, op: &Op) -> Option<(Atom, Atom)> {
        let [a, b] = self.op.operands(op)?;
        if self.last_calls(block, b) > 0 {
            return Some((a, b));
        }
        let may_be_first = self.op != Combination::Append && self.last_calls(block, a) > 0;
        may_be_first.then_some((b, a))
    }

    fn is_call(&self, op: &Op) -> bool {
        matches!(op, Op::Call(callee, _) if *callee == self.recursion.id)
    }

    fn definition<'b>(&self, block: &'b Block, value: Atom) -> Option<(usize, &'b Let)> {
        definition(&self.uses, block, value)
    }

    fn written(&self, looped: FunId, most: i64) -> (Block, Function) {
        let function = &self.recursion.function;
        let first = self.first(&mut Writer::new(function, looped, most));
        let mut writer = Writer::new(function, looped, most);
        let types = vec![function.result.clone()];
        let looped = writer.looped(function, types, |sums, body, writer| {
            self.tail(body, Some(Atom::Var(sums[0])), false, writer)
        });
        (first, looped)
    }

    /// Returns the body of the function that begins the loop: with nothing added yet, or with what its first call adds to.
    fn first(&self, writer: &mut Writer) -> Block {
        let function = &self.recursion.function;
        let Some(nothing) = self.op.neutral(&function.result) else {
            return self.tail(function.body.clone(), None, false, writer);
        };
        let mut args: Vec<Atom> = function.params.iter().map(|(var, _)| Atom::Var(*var)).collect();
        args.extend([nothing, Atom::Int(writer.most)]);
        let (op, mut lets) = (Op::Call(writer.looped, args), Vec::new());
        let result = writer.bind(function.result.clone(), op, function.site, &mut lets);
        Block { lets, result }
    }

    /// Returns a block at the end of an iteration that gives what it gave, with a sum added if there is one.
    /// `adds` is true if something has been added in the iteration.
    fn tail(&self, mut block: Block, sum: Option<Atom>, adds: bool, writer: &mut Writer) -> Block {
        with_stack(|| {
            let (mut sum, mut rest, mut adds) = (sum, block.result, adds);
            while self.last_calls(&block, rest) > 0 {
                let Some((place, _)) = self.definition(&block, rest) else { break };
                let parts = self.divide(&block, &block.lets[place].op);
                let Let { var, ty, op, site } = block.lets.remove(place);
                if let Some((added, next)) = parts {
                    sum = Some(match sum {
                        None => added,
                        Some(sum) => self.add(&mut block, sum, added, site, writer),
                    });
                    (rest, adds) = (next, true);
                    continue;
                }
                let op = match op {
                    Op::If { cond, then, otherwise } => {
                        let [then, otherwise] =
                            [then, otherwise].map(|side| self.tail(side, sum, adds, writer));
                        Op::If { cond, then, otherwise }
                    }
                    Op::Call(own, mut args) => {
                        // A call that was the last thing to do is no deeper than the one before.
                        let is_deeper = adds || self.recursion.moved.contains(&var);
                        match sum.or_else(|| {
                            is_deeper.then(|| writer.nothing(self.op, &ty, site, &mut block.lets))
                        }) {
                            None => Op::Call(own, args),
                            Some(sum) => {
                                args.extend([sum, writer.left(is_deeper, site, &mut block.lets)]);
                                Op::Call(writer.looped, args)
                            }
                        }
                    }
                    _ => bug!("a value is what a call gives"),
                };
                block.lets.push(Let { var, ty, op, site });
                block.result = Atom::Var(var);
                return block;
            }
            // The last part of the sum.
            block.result = match sum {
                None => rest,
                Some(sum) => self.add(&mut block, sum, rest, self.recursion.function.site, writer),
            };
            block
        })
    }

    fn add(
        &self,
        block: &mut Block,
        sum: Atom,
        added: Atom,
        site: Site,
        writer: &mut Writer,
    ) -> Atom {
        let ty = &self.recursion.function.result;
        writer.add(&self.uses, block, self.op, ty, [sum, added], site)
    }
}

/// Returns the place and the binding of a value that a block computes, and that is used once.
fn definition<'b>(
    uses: &FxHashMap<Var, usize>,
    block: &'b Block,
    value: Atom,
) -> Option<(usize, &'b Let)> {
    let var = value.variable().filter(|var| uses.get(var) == Some(&1))?;
    block.lets.iter().enumerate().find(|(_, binding)| binding.var == var)
}

/// Writes the loop of a function, or the code that begins it.
struct Writer {
    builder: FunctionBuilder,
    /// The function that is the loop.
    looped: FunId,
    /// The number of calls that may follow, at most.
    most: i64,
    /// In the loop, the number of calls that may still follow.
    left: Option<Var>,
}

impl Writer {
    fn new(function: &Function, looped: FunId, most: i64) -> Writer {
        Writer { builder: FunctionBuilder::extending(function), looped, most, left: None }
    }

    /// Returns the loop of a function, which carries sums of some types. `tail` returns its body with these sums added.
    fn looped(
        &mut self,
        function: &Function,
        sums: Vec<Ty>,
        tail: impl FnOnce(&[Var], Block, &mut Writer) -> Block,
    ) -> Function {
        let mut function = function.clone();
        let names: Vec<Var> = sums.iter().map(|ty| self.builder.fresh(ty.clone())).collect();
        let left = self.builder.fresh(Ty::Int);
        self.left = Some(left);
        function.params.extend(names.iter().copied().zip(sums).chain([(left, Ty::Int)]));
        function.name = format_smolstr!("{}.loop", function.name);
        (function.charge, function.role) = (None, None);
        let (site, mut lets) = (function.site, Vec::new());
        let some = Op::Scalar(ScalarOp::Gt, vec![Atom::Var(left), Atom::Int(0)]);
        let cond = self.bind(Ty::Bool, some, site, &mut lets);
        let check = Op::Check { cond, code: FaultCode::TooDeep, message: "".into() };
        self.bind(Ty::Bool, check, site, &mut lets);
        let body = std::mem::replace(&mut function.body, Block { lets, result: Atom::Unit });
        let body = tail(&names, body, self);
        function.body.lets.extend(body.lets);
        function.body.result = body.result;
        dead::remove(&mut function);
        function
    }

    /// Adds to a sum in a block, and returns the new sum. Of what is itself made by an append, the parts are added one
    /// after the other, so that no sequence is made of them.
    fn add(
        &mut self,
        uses: &FxHashMap<Var, usize>,
        block: &mut Block,
        op: Combination,
        ty: &Ty,
        [sum, added]: [Atom; 2],
        site: Site,
    ) -> Atom {
        let parts = definition(uses, block, added).and_then(|(place, binding)| {
            let parts = op.operands(&binding.op).filter(|_| op == Combination::Append);
            parts.map(|parts| (place, parts))
        });
        if let Some((place, parts)) = parts {
            block.lets.remove(place);
            let add = |sum, part| self.add(uses, block, op, ty, [sum, part], site);
            return parts.into_iter().fold(sum, add);
        }
        self.bind(ty.clone(), op.of([sum, added]), site, &mut block.lets)
    }

    /// Returns what changes no other value.
    fn nothing(&mut self, op: Combination, ty: &Ty, site: Site, lets: &mut Vec<Let>) -> Atom {
        op.neutral(ty).unwrap_or_else(|| self.bind(ty.clone(), Op::List(Vec::new()), site, lets))
    }

    /// Returns the number of calls that may follow behind the next one, which counts if it is deeper than this one.
    fn left(&mut self, is_deeper: bool, site: Site, lets: &mut Vec<Let>) -> Atom {
        let Some(left) = self.left else { return Atom::Int(self.most) };
        if !is_deeper {
            return Atom::Var(left);
        }
        let less = Op::Scalar(ScalarOp::Sub, vec![Atom::Var(left), Atom::Int(1)]);
        self.bind(Ty::Int, less, site, lets)
    }

    fn bind(&mut self, ty: Ty, op: Op, site: Site, lets: &mut Vec<Let>) -> Atom {
        let var = self.builder.fresh(ty.clone());
        lets.push(Let { var, ty, op, site });
        Atom::Var(var)
    }
}

#[cfg(test)]
mod tests;
