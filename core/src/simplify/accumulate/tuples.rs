//! Recursion whose results are tuples, to parts of which something is added or appended.
//!
//! ```text
//! v2 = call "halves"(v1)                        call "halves.loop"(v1, append(v8, list(v5)), v9, v10)
//! v3 = first(v2)  v4 = second(v2)          →
//! pair(append(list(v5), v3), v4)                v8, v9: the parts so far
//! ```
//!
//! Each part has an operation of its own, or none if calls only hand it on.

use super::{Combination, OPERATIONS, Recursion, Writer, definition};
use crate::base::with_stack;
use crate::ir::{Atom, Block, FunId, Function, Let, Op, Ty, Var};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// The component of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Component {
    First,
    Second,
}

/// A part of a result that is no pair.
#[derive(Clone, Debug)]
struct Part {
    ty: Ty,
    /// The operation that adds to it, if there is one.
    op: Option<Combination>,
}

/// A recursive function whose results are tuples, and which can be a loop.
pub(super) struct Tuples {
    recursion: Recursion,
    parts: Vec<Part>,
    uses: FxHashMap<Var, usize>,
}

/// The end of an iteration that is a call.
struct End {
    /// The arguments of the call.
    args: Vec<Atom>,
    /// The values that are added to each part, the first first.
    added: Vec<Vec<Atom>>,
    /// The bindings of the call, its parts, and the operations that add something.
    bindings: FxHashSet<Var>,
    /// The call was moved here: it is deeper than the one before, although nothing may be added to what it gives.
    is_moved: bool,
}

/// The operations that make a part of a result.
struct Chain {
    /// The part of what a call gives that they end with.
    end: Var,
    /// The values that they add, the first first.
    added: VecDeque<Atom>,
    /// The results of these operations.
    passed: Vec<Var>,
}

impl End {
    /// Returns true if the call is deeper than the one before: it was not the last thing to do.
    fn is_deeper(&self) -> bool {
        self.is_moved || self.added.iter().any(|added| !added.is_empty())
    }
}

impl Tuples {
    /// Returns the loop that a recursive function can be, if its results are tuples.
    pub(super) fn of(recursion: Recursion) -> Option<Tuples> {
        let mut parts = Vec::new();
        each_part(&recursion.function.result, &mut |ty| {
            parts.push(Part { ty: ty.clone(), op: None });
        });
        if parts.len() < 2 {
            return None;
        }
        let mut uses = FxHashMap::default();
        recursion.function.body.count_uses(&mut uses);
        let mut tuples = Tuples { recursion, parts, uses };
        let mut ends = Vec::new();
        tuples.each_end(&tuples.recursion.function.body, &mut |block| ends.push(block));
        // The first operation of each part is that of all.
        let ops = tuples.parts.iter().enumerate().map(|(at, part)| {
            let is_done = |op: &Combination| {
                op.takes(&part.ty) && ends.iter().any(|block| tuples.does(block, at, *op))
            };
            OPERATIONS.iter().copied().find(is_done)
        });
        let ops: Vec<Option<Combination>> = ops.collect();
        let calls = tuples.calls();
        tuples.parts.iter_mut().zip(&ops).for_each(|(part, op)| part.op = *op);
        let mut found = 0;
        let mut begins = true;
        tuples.each_end(&tuples.recursion.function.body, &mut |block| {
            if let Some(end) = tuples.end(block) {
                found += 1;
                begins &= !end.is_deeper() || tuples.can_begin(&end);
            }
        });
        let is_loop = ops.iter().any(Option::is_some) && found == calls && begins;
        is_loop.then_some(tuples)
    }

    pub(super) fn id(&self) -> FunId {
        self.recursion.id
    }

    /// Returns true if a part is appended to something.
    pub(super) fn appends(&self) -> bool {
        self.parts.iter().any(|part| part.op == Some(Combination::Append))
    }

    /// Returns the body of the function that begins the loop, and the loop.
    pub(super) fn written(&self, looped: FunId, most: i64) -> (Block, Function) {
        let function = &self.recursion.function;
        let mut writer = Writer::new(function, looped, most);
        let none = vec![None; self.parts.len()];
        let first = self.tail(function.body.clone(), &none, &mut writer);
        let mut writer = Writer::new(function, looped, most);
        let is_sum = |part: &&Part| part.op.is_some();
        let types = self.parts.iter().filter(is_sum).map(|part| part.ty.clone());
        let looped = writer.looped(function, types.collect(), |sums, body, writer| {
            let mut sums = sums.iter().map(|sum| Atom::Var(*sum));
            let sums: Vec<Option<Atom>> =
                self.parts.iter().map(|part| part.op.and_then(|_| sums.next())).collect();
            self.tail(body, &sums, writer)
        });
        (first, looped)
    }

    /// Returns the number of calls of the function of itself.
    fn calls(&self) -> usize {
        let mut calls = 0;
        self.recursion.function.body.for_each_op(&mut |op| {
            calls += usize::from(matches!(op, Op::Call(callee, _) if *callee == self.recursion.id));
        });
        calls
    }

    /// Visits the blocks that iterations end with: those that are no conditional at their end.
    fn each_end<'b>(&self, block: &'b Block, visit: &mut dyn FnMut(&'b Block)) {
        with_stack(|| match definition(&self.uses, block, block.result) {
            Some((_, Let { op: Op::If { then, otherwise, .. }, .. })) => {
                self.each_end(then, visit);
                self.each_end(otherwise, visit);
            }
            _ => visit(block),
        });
    }

    /// Returns true if the part of what a block gives is what an operation makes, among others of what a call gives.
    fn does(&self, block: &Block, at: usize, op: Combination) -> bool {
        let Some(group) = self.group(block) else { return false };
        let mut values = Vec::new();
        values_of(&self.uses, block, block.result, &self.recursion.function.result, &mut values);
        let Some(Some(value)) = values.get(at).copied() else { return false };
        self.chain(block, value, Some(op), &group).is_some_and(|chain| !chain.added.is_empty())
    }

    /// Returns the call in a block, if there is one, and its parts: the path of each.
    fn group(&self, block: &Block) -> Option<FxHashMap<Var, Vec<Component>>> {
        let is_call = |binding: &&Let| matches!(&binding.op, Op::Call(callee, _) if *callee == self.recursion.id);
        let call = block.lets.iter().rfind(is_call)?;
        let mut group = FxHashMap::default();
        group.insert(call.var, Vec::new());
        for binding in &block.lets {
            let (of, component) = match &binding.op {
                Op::First(of) => (of, Component::First),
                Op::Second(of) => (of, Component::Second),
                _ => continue,
            };
            if let Some(path) = of.variable().and_then(|of| group.get(&of)) {
                let path = path.iter().copied().chain([component]).collect();
                group.insert(binding.var, path);
            }
        }
        Some(group)
    }

    /// Follows the operations that make a part; returns the part of the call that they end with, what they add, the first
    /// first, and their results.
    fn chain(
        &self,
        block: &Block,
        value: Atom,
        op: Option<Combination>,
        group: &FxHashMap<Var, Vec<Component>>,
    ) -> Option<Chain> {
        if let Some(end) = value.variable().filter(|var| group.contains_key(var)) {
            return Some(Chain { end, added: VecDeque::new(), passed: Vec::new() });
        }
        let (_, binding) = definition(&self.uses, block, value)?;
        let op = op?;
        let [a, b] = op.operands(&binding.op)?;
        with_stack(|| {
            let chain = |next, before| Some((self.chain(block, next, Some(op), group)?, before));
            let is_first = || chain(a, b).filter(|_| op != Combination::Append);
            let (mut chain, before) = chain(b, a).or_else(is_first)?;
            chain.added.push_front(before);
            chain.passed.push(binding.var);
            Some(chain)
        })
    }

    /// Returns the end of an iteration, if the block ends with a call to whose parts something is added.
    fn end(&self, block: &Block) -> Option<End> {
        let group = self.group(block)?;
        let call = block
            .lets
            .iter()
            .position(|binding| group.get(&binding.var).is_some_and(Vec::is_empty))?;
        let Op::Call(_, args) = &block.lets[call].op else { return None };
        // What comes behind the call would come before it, and its faults before those of the call.
        if block.lets[call + 1..].iter().any(|binding| self.recursion.may_fault(binding)) {
            return None;
        }
        let mut bindings: FxHashSet<Var> = group.keys().copied().collect();
        let mut used = group.len() - 1;
        let mut added = vec![Vec::new(); self.parts.len()];
        if block.result == Atom::Var(block.lets[call].var) {
            used += 1;
        } else {
            let mut values = Vec::new();
            let result = &self.recursion.function.result;
            bindings.extend(values_of(&self.uses, block, block.result, result, &mut values));
            let mut paths = Vec::new();
            each_path(result, &mut Vec::new(), &mut |path| paths.push(path.to_vec()));
            for (at, part) in self.parts.iter().enumerate() {
                let value = (*values.get(at)?)?;
                let chain = self.chain(block, value, part.op, &group)?;
                bindings.extend(chain.passed);
                added[at] = chain.added.into();
                if group[&chain.end] != paths[at] {
                    return None;
                }
                used += 1;
            }
        }
        // Nothing else uses what the call gives.
        let all: usize = group.keys().filter_map(|var| self.uses.get(var)).sum();
        let is_moved = self.recursion.moved.contains(&block.lets[call].var);
        (all == used).then(|| End { args: args.clone(), added, bindings, is_moved })
    }

    /// Returns true if there is something to begin with for each part to which an end adds nothing.
    fn can_begin(&self, end: &End) -> bool {
        self.parts.iter().zip(&end.added).all(|(part, added)| match part.op {
            Some(op) => {
                !added.is_empty() || op == Combination::Append || op.neutral(&part.ty).is_some()
            }
            None => true,
        })
    }

    /// Returns a block at the end of an iteration that gives what it gave, with what there is so far of each part.
    fn tail(&self, mut block: Block, sums: &[Option<Atom>], writer: &mut Writer) -> Block {
        with_stack(|| {
            let site = self.recursion.function.site;
            if let Some(end) = self.end(&block) {
                block.lets.retain(|binding| !end.bindings.contains(&binding.var));
                let is_deeper = end.is_deeper();
                let (ty, mut args) = (self.recursion.function.result.clone(), end.args);
                if sums.iter().all(Option::is_none) && !is_deeper {
                    let call = Op::Call(self.recursion.id, args);
                    block.result = writer.bind(ty, call, site, &mut block.lets);
                    return block;
                }
                for ((part, added), sum) in self.parts.iter().zip(end.added).zip(sums) {
                    let Some(op) = part.op else { continue };
                    let mut sum = *sum;
                    for added in added {
                        sum = Some(match sum {
                            None => added,
                            Some(sum) => {
                                writer.add(&self.uses, &mut block, op, &part.ty, [sum, added], site)
                            }
                        });
                    }
                    let lets = &mut block.lets;
                    args.push(sum.unwrap_or_else(|| writer.nothing(op, &part.ty, site, lets)));
                }
                args.push(writer.left(is_deeper, site, &mut block.lets));
                let call = Op::Call(writer.looped, args);
                block.result = writer.bind(ty, call, site, &mut block.lets);
                return block;
            }
            let place = definition(&self.uses, &block, block.result).map(|(place, _)| place);
            if let Some(place) = place
                && let Op::If { then, otherwise, .. } = &mut block.lets[place].op
            {
                for side in [then, otherwise] {
                    let old = Block { lets: Vec::new(), result: Atom::Unit };
                    let old = std::mem::replace(side, old);
                    *side = self.tail(old, sums, writer);
                }
                return block;
            }
            if sums.iter().any(Option::is_some) {
                let (result, ty) = (block.result, &self.recursion.function.result);
                let mut parts = self.parts.iter().zip(sums);
                block.result = self.base(&mut block, result, ty, &mut parts, writer);
            }
            block
        })
    }

    /// Returns a value that an iteration gives at last, with what there is so far of each part.
    fn base<'p>(
        &self,
        block: &mut Block,
        value: Atom,
        ty: &Ty,
        parts: &mut dyn Iterator<Item = (&'p Part, &'p Option<Atom>)>,
        writer: &mut Writer,
    ) -> Atom {
        let site = self.recursion.function.site;
        let Ty::Pair(first, second) = ty else {
            return match parts.next() {
                Some((Part { op: Some(op), ty }, Some(sum))) => {
                    writer.add(&self.uses, block, *op, ty, [*sum, value], site)
                }
                _ => value,
            };
        };
        let known =
            definition(&self.uses, block, value).and_then(|(_, binding)| match binding.op {
                Op::Pair(a, b) => Some((a, b)),
                _ => None,
            });
        let (a, b) = known.unwrap_or_else(|| {
            let lets = &mut block.lets;
            let a = writer.bind((**first).clone(), Op::First(value), site, lets);
            (a, writer.bind((**second).clone(), Op::Second(value), site, lets))
        });
        let a = self.base(block, a, first, parts, writer);
        let b = self.base(block, b, second, parts, writer);
        writer.bind(ty.clone(), Op::Pair(a, b), site, &mut block.lets)
    }
}

/// Visits the parts of a type that are no pairs, in order.
fn each_part(ty: &Ty, visit: &mut dyn FnMut(&Ty)) {
    match ty {
        Ty::Pair(first, second) => with_stack(|| {
            each_part(first, visit);
            each_part(second, visit);
        }),
        part => visit(part),
    }
}

/// Visits the ways to the parts of a type that are no pairs, in order.
fn each_path(ty: &Ty, path: &mut Vec<Component>, visit: &mut dyn FnMut(&[Component])) {
    let Ty::Pair(first, second) = ty else { return visit(path) };
    with_stack(|| {
        for (side, component) in [(first, Component::First), (second, Component::Second)] {
            path.push(component);
            each_path(side, path, visit);
            path.pop();
        }
    });
}

/// Adds the values of the parts of a value, and returns the pairs that are made of them. Without a value are parts of a pair
/// that is not made in the block.
fn values_of(
    uses: &FxHashMap<Var, usize>,
    block: &Block,
    value: Atom,
    ty: &Ty,
    values: &mut Vec<Option<Atom>>,
) -> Vec<Var> {
    let Ty::Pair(first, second) = ty else {
        values.push(Some(value));
        return Vec::new();
    };
    with_stack(|| match definition(uses, block, value) {
        Some((_, Let { var, op: Op::Pair(a, b), .. })) => {
            let mut pairs = vec![*var];
            pairs.extend(values_of(uses, block, *a, first, values));
            pairs.extend(values_of(uses, block, *b, second, values));
            pairs
        }
        _ => {
            each_part(ty, &mut |_| values.push(None));
            Vec::new()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::for_one_thread;
    use crate::ir::{parse, print, verify};
    use crate::thresholds::Thresholds;
    use expect_test::expect;

    #[test]
    fn parts_of_tuples_are_appended_and_added_up_in_a_loop() {
        let text = r#"main "main"

fn "main"() -> ([int], int) {
  v0: [int] = list(1, 2)
  v1: ([int], int) = call "less"(v0)
  v2: ([int], int) = call "doubled"(v0)
  v2
}

fn "less"(v0: [int]) -> ([int], int) {
  v1: int = length(v0)
  v2: bool = eq(v1, 0)
  v16: ([int], int) = if v2 {
    v3: [int] = list()
    v4: ([int], int) = pair(v3, 0)
    v4
  } else {
    v5: [int] = subseq(v0, 1, v1)
    v6: ([int], int) = call "less"(v5)
    v7: [int] = first(v6)
    v8: int = second(v6)
    v9: int = index(v0, 0)
    v10: bool = lt(v9, 3)
    v15: ([int], int) = if v10 {
      v11: [int] = list(v9)
      v12: [int] = append(v11, v7)
      v13: int = add(v8, v9)
      v14: ([int], int) = pair(v12, v13)
      v14
    } else {
      v17: ([int], int) = pair(v7, v8)
      v17
    }
    v15
  }
  v16
}

fn "doubled"(v0: [int]) -> ([int], int) {
  v1: int = length(v0)
  v2: bool = eq(v1, 0)
  v11: ([int], int) = if v2 {
    v3: ([int], int) = pair(v0, 1)
    v3
  } else {
    v4: [int] = subseq(v0, 1, v1)
    v5: ([int], int) = call "doubled"(v4)
    v6: [int] = first(v5)
    v7: int = second(v5)
    v8: [int] = list(v7)
    v9: [int] = append(v8, v6)
    v10: ([int], int) = pair(v9, v7)
    v10
  }
  v11
}
"#;
        let one = for_one_thread(&parse(text).unwrap(), &Thresholds::default());
        assert_eq!(verify(&one), Ok(()));
        expect![[r#"
            main "main"

            fn "main"() -> ([int], int) {
              v0: [int] = list(1, 2)
              v1: ([int], int) = call "less"(v0)
              v2: ([int], int) = call "doubled"(v0)
              v2
            }

            fn "less"(v0: [int]) -> ([int], int) {
              v1: int = length(v0)
              v2: bool = eq(v1, 0)
              v13: ([int], int) = if v2 {
                v3: [int] = list()
                v4: ([int], int) = pair(v3, 0)
                v4
              } else {
                v5: [int] = subseq(v0, 1, v1)
                v6: int = index(v0, 0)
                v7: bool = lt(v6, 3)
                v12: ([int], int) = if v7 {
                  v8: [int] = list(v6)
                  v9: ([int], int) = call "less.loop"(v5, v8, v6, 8388608)
                  v9
                } else {
                  v10: [int] = list()
                  v11: ([int], int) = call "less.loop"(v5, v10, 0, 8388608)
                  v11
                }
                v12
              }
              v13
            }

            fn "doubled"(v0: [int]) -> ([int], int) {
              v1: int = length(v0)
              v2: bool = eq(v1, 0)
              v11: ([int], int) = if v2 {
                v3: ([int], int) = pair(v0, 1)
                v3
              } else {
                v4: [int] = subseq(v0, 1, v1)
                v5: ([int], int) = call "doubled"(v4)
                v6: [int] = first(v5)
                v7: int = second(v5)
                v8: [int] = list(v7)
                v9: [int] = append(v8, v6)
                v10: ([int], int) = pair(v9, v7)
                v10
              }
              v11
            }

            fn "less.loop"(v0: [int], v1: [int], v2: int, v3: int) -> ([int], int) {
              v4: bool = gt(v3, 0)
              v5: bool = check(v4, too_deep, "")
              v6: int = length(v0)
              v7: bool = eq(v6, 0)
              v22: ([int], int) = if v7 {
                v8: [int] = list()
                v9: [int] = append(v1, v8)
                v10: ([int], int) = pair(v9, v2)
                v10
              } else {
                v11: [int] = subseq(v0, 1, v6)
                v12: int = index(v0, 0)
                v13: bool = lt(v12, 3)
                v21: ([int], int) = if v13 {
                  v14: [int] = list(v12)
                  v15: [int] = append(v1, v14)
                  v16: int = add(v2, v12)
                  v17: int = sub(v3, 1)
                  v18: ([int], int) = call "less.loop"(v11, v15, v16, v17)
                  v18
                } else {
                  v19: int = sub(v3, 1)
                  v20: ([int], int) = call "less.loop"(v11, v1, v2, v19)
                  v20
                }
                v21
              }
              v22
            }
        "#]]
        .assert_eq(&print(&one));
    }
}
