//! Alias analysis: finds loops whose iterations are independent of each other in memory.
//!
//! The work items of a kernel never disturb each other; that is an invariant of kir. Iterations of
//! a loop may, unless each array that is written is known to differ from those that are read, and
//! is written at one place of the code, so that an iteration writes after all earlier ones.

use super::{Block, Class, Op, Value};
use rustc_hash::FxHashMap;

/// The array that a value is, or is a part of. Allocations are numbered in the order of the code, from 0 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// The array of the allocation with this name and number.
    Allocated(Value, usize),
    /// An array that existed when the code reached the allocation with this number. What this allocation makes, or
    /// one after it, is another array: all code that both names reach is executed after both.
    Existing(usize),
}

impl Provenance {
    /// An array that existed before the code began.
    pub const PREEXISTING: Provenance = Provenance::Existing(0);

    /// Returns the number of the first allocation that makes another array.
    fn apart_from(self) -> usize {
        match self {
            Provenance::Allocated(_, number) => number + 1,
            Provenance::Existing(number) => number,
        }
    }

    /// The provenance of an array that is one of two others.
    pub fn of_either(self, other: Provenance) -> Provenance {
        match self == other {
            true => self,
            false => Provenance::Existing(self.apart_from().max(other.apart_from())),
        }
    }
}

/// Returns true if the iterations of a loop with this body may be interleaved as far as memory is
/// concerned; `provenance` holds the arrays from outside of which it is known.
pub fn iterations_are_independent(body: &Block, provenance: &FxHashMap<Value, Provenance>) -> bool {
    let mut memory = Accesses {
        outer: provenance,
        inner: FxHashMap::default(),
        reads: Vec::new(),
        writes: Vec::new(),
        opaque: false,
    };
    memory.block(body, false);
    let Accesses { reads, writes, opaque, .. } = memory;
    let apart = |(n, array): (usize, &Option<Provenance>)| {
        let Some(Provenance::Allocated(_, number)) = *array else { return false };
        let others = |other: &Option<Provenance>| match other {
            Some(Provenance::Existing(before)) => number >= *before,
            known => known.is_some() && known != array,
        };
        !writes[..n].contains(array) && reads.iter().all(others)
    };
    let alone = reads.is_empty() && writes.len() == 1;
    !opaque && (alone || writes.iter().enumerate().all(apart))
}

/// The arrays that a loop accesses; `None` is one of unknown provenance.
struct Accesses<'r> {
    outer: &'r FxHashMap<Value, Provenance>,
    /// The names that the body defines. What is known of them from outside is about another copy of the same code.
    inner: FxHashMap<Value, Option<Provenance>>,
    reads: Vec<Option<Provenance>>,
    writes: Vec<Option<Provenance>>,
    /// An iteration writes many times, or in ways that are not analysed.
    opaque: bool,
}

impl Accesses<'_> {
    fn provenance(&self, array: Value) -> Option<Provenance> {
        self.inner.get(&array).copied().unwrap_or_else(|| self.outer.get(&array).copied())
    }

    /// Notes the accesses of a block; `in_loop` is true within a nested loop.
    fn block(&mut self, block: &Block, in_loop: bool) {
        for inst in &block.insts {
            self.inner.extend(inst.results.iter().map(|name| (*name, None)));
            match &inst.op {
                Op::Load { array, .. } => self.reads.push(self.provenance(*array)),
                Op::Store { array, .. } => {
                    self.opaque |= in_loop;
                    self.writes.push(self.provenance(*array));
                }
                Op::Slice(array, _) => {
                    let array = self.provenance(*array);
                    self.inner.insert(inst.results[0], array);
                }
                Op::Text(_) => {
                    self.inner.insert(inst.results[0], Some(Provenance::PREEXISTING));
                }
                Op::If { then, otherwise, .. } => {
                    inst.op.blocks().for_each(|block| self.block(block, in_loop));
                    for (n, result) in inst.results.iter().enumerate() {
                        let sides = [then, otherwise].map(|side| self.provenance(side.yields[n]));
                        if let [Some(a), Some(b)] = sides {
                            self.inner.insert(*result, Some(a.of_either(b)));
                        }
                    }
                }
                Op::While { carried, .. } | Op::For { carried, .. } => {
                    self.inner.extend(carried.iter().map(|name| (*name, None)));
                    inst.op.blocks().for_each(|block| self.block(block, true));
                }
                op => match op.class() {
                    Class::Write | Class::Call | Class::Intrinsic => self.opaque = true,
                    Class::Allocate => self.opaque |= !matches!(op, Op::Mark),
                    Class::Pure | Class::Address | Class::Read | Class::Trap | Class::Control => {}
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kir::parse;

    /// The body of the loop in a function of three arrays and an int, of which the first was
    /// allocated by the code around.
    fn independent(body: &str) -> bool {
        independent_beside(body, Provenance::PREEXISTING)
    }

    /// The same, where the second array has this provenance.
    fn independent_beside(body: &str, other: Provenance) -> bool {
        let text = format!(
            "function \"f\"(v0: [i64], v1: [i64], v2: [i64], v3: i64) {{ for v4 < v3 {{ {body} }} }}"
        );
        let module = parse(&text).unwrap();
        let Op::For { body, .. } = &module.functions[0].body.insts[0].op else { panic!("a loop") };
        let known = [(Value(0), Provenance::Allocated(Value(0), 2)), (Value(1), other)];
        iterations_are_independent(body, &known.into_iter().collect())
    }

    #[test]
    fn writes_to_a_fresh_array_disturb_no_reads_of_others() {
        assert!(independent("v5: i64 = load v1[v4] store v0[v4] = v5"));
        assert!(!independent("v5: i64 = load v0[v4] store v0[v4] = v5"), "the same array");
        assert!(!independent("v5: i64 = load v2[v4] store v0[v4] = v5"), "of unknown provenance");
        assert!(!independent("v5: i64 = load v1[v4] store v1[v4] = v5"), "not allocated here");
        assert!(independent("store v1[v4] = v4"), "a single write and no read");
        assert!(!independent("for v5 < v3 { store v0[v4] = v5 }"), "many writes in an iteration");
    }

    #[test]
    fn a_choice_between_two_arrays_is_neither_of_those_allocated_later() {
        let body = |other: &str| {
            format!(
                "v5: bool = lt v4, v3 v6: [i64] = if v5 {{ yield v1 }} else {{ yield {other} }} \
                 v7: i64 = load v6[v4] store v0[v4] = v7"
            )
        };
        assert!(independent(&body("v1")));
        assert!(independent_beside(&body("v1"), Provenance::Existing(2)));
        assert!(!independent(&body("v0")), "the array that is written");
        assert!(!independent(&body("v2")), "of unknown provenance");
        let [first, third] = [0, 2].map(|n| Provenance::Allocated(Value(n), n as usize));
        assert_eq!(first.of_either(third), Provenance::Existing(3));
        assert_eq!(first.of_either(first), first);
    }

    #[test]
    fn an_array_that_existed_before_is_not_one_that_is_allocated() {
        let body = "v5: i64 = load v1[v4] store v0[v4] = v5";
        for (number, expected) in [(1, true), (2, true), (3, false)] {
            assert_eq!(
                independent_beside(body, Provenance::Existing(number)),
                expected,
                "{number}"
            );
        }
        assert!(independent_beside(body, Provenance::Allocated(Value(1), 5)));
    }

    #[test]
    fn what_is_known_of_a_name_from_another_copy_of_the_code_does_not_count() {
        let carries =
            "v8: [i64] = for v5 < v3 carry v6: [i64] = v0 { v9: i64 = load v6[v4] yield v6 }";
        let text = format!(
            "function \"f\"(v0: [i64], v3: i64) {{ for v4 < v3 {{ {carries} store v0[v4] = v3 }} }}"
        );
        let module = parse(&text).unwrap();
        let Op::For { body, .. } = &module.functions[0].body.insts[0].op else { panic!("a loop") };
        let known = [(0, Provenance::Allocated(Value(0), 7)), (6, Provenance::Existing(3))];
        let known = known.into_iter().map(|(n, known)| (Value(n), known)).collect();
        assert!(!iterations_are_independent(body, &known));
    }
}
