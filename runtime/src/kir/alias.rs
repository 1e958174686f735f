//! Alias analysis: finds loops whose iterations are independent of each other in memory.
//!
//! The work items of a kernel never disturb each other; that is an invariant of kir. Iterations of
//! a loop may, unless each array that is written is known to differ from those that are read, and
//! is written at one place of the code, so that an iteration writes after all earlier ones. An iteration may
//! also read the one element that it writes, if no other writes that. Where it is not known of two arrays that they differ,
//! iterations may be independent if the ranges do not overlap that the loop covers, which is tested when it begins.

use super::{Binary, Block, Class, Inst, Op, Value, walk};
use rustc_hash::{FxHashMap, FxHashSet};

/// The array that a value is, or is a part of. Allocations are numbered in the order of the code, from 0 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// The array of the allocation with this name and number.
    Allocated(Value, usize),
    /// An array that existed when the code reached the allocation with this number. What this allocation makes, or
    /// one after it, is another array: all code that both names reach is executed after both.
    Existing(usize),
    /// An array that an allocation made since the code reached the one with the first number, and that existed when the
    /// code reached the one with the second number: a table that grows, and is copied when there is no room.
    Made(usize, usize),
    /// An array that existed when the code reached the allocation with the first number, or one made between the other
    /// two, as by `Made`: a table that is copied if it is not owned. No number is less than the one before.
    Either(usize, usize, usize),
}

impl Provenance {
    /// An array that existed before the code began.
    pub const PREEXISTING: Provenance = Provenance::Existing(0);

    /// Returns the number of the first allocation that makes another array.
    pub fn apart_from(self) -> usize {
        match self {
            Provenance::Allocated(_, number) => number + 1,
            Provenance::Existing(number)
            | Provenance::Made(_, number)
            | Provenance::Either(_, _, number) => number,
        }
    }

    /// Returns the number of an allocation that the code had reached before the array was made, if one is known.
    pub fn since(self) -> Option<usize> {
        match self {
            Provenance::Allocated(_, number) | Provenance::Made(number, _) => Some(number),
            Provenance::Existing(_) | Provenance::Either(..) => None,
        }
    }

    /// Returns the number up to which an array may have existed, and those between which it may have been made.
    fn parts(self) -> (Option<usize>, Option<[usize; 2]>) {
        match self {
            Provenance::Allocated(_, number) => (None, Some([number, number + 1])),
            Provenance::Made(since, before) => (None, Some([since, before])),
            Provenance::Existing(number) => (Some(number), None),
            Provenance::Either(existing, since, before) => (Some(existing), Some([since, before])),
        }
    }

    /// The provenance of an array that is one of two others.
    pub fn of_either(self, other: Provenance) -> Provenance {
        if self == other {
            return self;
        }
        let ((a, made), (b, also_made)) = (self.parts(), other.parts());
        let existing = a.max(b);
        let made = match (made, also_made) {
            (Some([since, before]), Some([a, b])) => Some([since.min(a), before.max(b)]),
            (made, also_made) => made.or(also_made),
        };
        match (existing, made) {
            (None, Some([since, before])) => Provenance::Made(since, before),
            (Some(existing), Some([since, before])) if existing <= since => {
                Provenance::Either(existing, since, before)
            }
            (existing, made) => {
                let before = made.map_or(0, |[_, before]| before);
                Provenance::Existing(existing.unwrap_or(0).max(before))
            }
        }
    }

    /// Returns true if an array is known to be another than one of another provenance.
    fn is_apart(self, other: Provenance) -> bool {
        let ((existing, made), (other_existing, other_made)) = (self.parts(), other.parts());
        let made_later = |made: Option<[usize; 2]>, existing: Option<usize>| match (made, existing)
        {
            (Some([since, _]), Some(existing)) => existing <= since,
            _ => true,
        };
        let made_apart = match (made, other_made) {
            (Some([since, before]), Some([a, b])) => before <= a || b <= since,
            _ => true,
        };
        let both_existed = existing.is_some() && other_existing.is_some();
        !both_existed
            && made_later(made, other_existing)
            && made_later(other_made, existing)
            && made_apart
    }
}

/// Returns for each value that a loop carries the number of an allocation that the code had reached before the array was
/// made, if it is an array, and one is known: it is made before the loop since then, and by the loop's own allocations.
/// `provenance` gives what is known of arrays from outside.
pub fn carried_since(
    init: &[Value],
    carried: &[Value],
    body: &Block,
    provenance: &FxHashMap<Value, Provenance>,
) -> Vec<Option<usize>> {
    let since = |v: &Value| provenance.get(v).and_then(|known| known.since());
    let mut found: Vec<Option<usize>> = init.iter().map(since).collect();
    if found.iter().all(Option::is_none) {
        return found;
    }
    let mut makers = FxHashMap::default();
    walk::each_inst(body, &mut |inst| {
        makers.extend(inst.results.iter().enumerate().map(|(n, result)| (*result, (inst, n))));
    });
    loop {
        let names = carried.iter().zip(&found).filter(|(_, found)| found.is_some());
        let known: FxHashSet<Value> = names.map(|(name, _)| *name).collect();
        let lost = |n: &usize| found[*n].is_some() && !is_made(body.yields[*n], &makers, &known);
        let lost: Vec<usize> = (0..carried.len()).filter(lost).collect();
        if lost.is_empty() {
            // A loop may exchange arrays.
            let first = found.iter().flatten().min().copied();
            found.iter_mut().for_each(|found| *found = found.and(first));
            return found;
        }
        lost.into_iter().for_each(|n| found[n] = None);
    }
}

/// Returns true if a value is one of the `known` arrays, or allocated in the code.
fn is_made(
    value: Value,
    makers: &FxHashMap<Value, (&Inst, usize)>,
    known: &FxHashSet<Value>,
) -> bool {
    if known.contains(&value) {
        return true;
    }
    let Some((inst, n)) = makers.get(&value) else { return false };
    match &inst.op {
        Op::Alloc(..) => true,
        // It is moved to where no array is that is still read.
        Op::Compact { keep, .. } => is_made(keep[*n].0, makers, known),
        Op::If { then, otherwise, .. } => {
            [then, otherwise].into_iter().all(|side| is_made(side.yields[*n], makers, known))
        }
        _ => false,
    }
}

/// The answer to the question if the iterations of a loop may be interleaved, as far as memory is concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Independence {
    /// They may be interleaved.
    Always,
    /// They may be interleaved if none of these pairs of ranges overlap, but for those that are one range if `or_equal`.
    IfApart {
        /// The pairs of ranges that must not overlap.
        ranges: Vec<[Range; 2]>,
        /// The two of a pair may be one range: an iteration accesses the same element by two names.
        or_equal: bool,
    },
    /// They may have to be executed in their order.
    Never,
}

/// The elements that the iterations of a loop access, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The array, from outside of the loop.
    pub array: Value,
    /// The number of the element that the first iteration accesses; none for 0.
    pub start: Option<Value>,
}

/// Returns true if the iterations of a loop with this index and body may be interleaved as far as memory is
/// concerned; `provenance` holds the arrays from outside of which it is known. Iterations that are done together may be
/// done again, one after the other, if one of them fails.
pub fn iterations_are_independent(
    index: Value,
    body: &Block,
    provenance: &FxHashMap<Value, Provenance>,
) -> bool {
    independence(index, body, provenance) == Independence::Always
}

/// Returns if the iterations of a loop may be interleaved, as [`iterations_are_independent`], or if they may be where some
/// arrays are different ones.
pub fn independence(
    index: Value,
    body: &Block,
    provenance: &FxHashMap<Value, Provenance>,
) -> Independence {
    let mut memory = Accesses {
        outer: provenance,
        inner: FxHashMap::default(),
        sums: FxHashMap::default(),
        reads: Vec::new(),
        writes: Vec::new(),
        fails_after_write: false,
        opaque: false,
    };
    memory.block(body, false);
    if memory.opaque {
        return Independence::Never;
    }
    let mut apart: Vec<[Range; 2]> = Vec::new();
    if memory.reads.is_empty() && memory.writes.len() == 1 {
        return Independence::Always;
    }
    for (n, write) in memory.writes.iter().enumerate() {
        let is_other = |other: &Access| match (write.of, other.of) {
            (Some(array), Some(other)) => array.is_apart(other),
            _ => false,
        };
        // One array may have two names, but one name stands for one array.
        let is_own = |read: &Access| {
            read.array == write.array
                && read.index.is_some()
                && read.index == write.index
                && !memory.fails_after_write
                && memory.range(write, index).is_some()
        };
        let others = memory.writes[..n].iter().map(|other| (other, false));
        for (other, may_be_own) in others.chain(memory.reads.iter().map(|read| (read, true))) {
            if is_other(other) || may_be_own && is_own(other) {
                continue;
            }
            let ranges = (memory.range(write, index), memory.range(other, index));
            let (Some(a), Some(b)) = ranges else { return Independence::Never };
            // Two rows of a table may be one row.
            if a.array == b.array && (a.start == b.start || memory.fails_after_write) {
                return Independence::Never;
            }
            if !apart.contains(&[a, b]) {
                apart.push([a, b]);
            }
        }
    }
    match apart.is_empty() {
        true => Independence::Always,
        // An iteration that fails when it has written is done again, and must not read what it wrote.
        false => Independence::IfApart { ranges: apart, or_equal: !memory.fails_after_write },
    }
}

/// An access to an element.
struct Access {
    /// The provenance of the array; `None` if nothing is known of it.
    of: Option<Provenance>,
    array: Value,
    /// The number of the element; none if an iteration accesses many.
    index: Option<Value>,
}

/// The arrays that a loop accesses.
struct Accesses<'r> {
    outer: &'r FxHashMap<Value, Provenance>,
    /// The names that the body defines. What is known of them from outside is about another copy of the same code.
    inner: FxHashMap<Value, Option<Provenance>>,
    /// The sums among them.
    sums: FxHashMap<Value, [Value; 2]>,
    reads: Vec<Access>,
    writes: Vec<Access>,
    /// An iteration may fail when it has written.
    fails_after_write: bool,
    /// An iteration writes many times, or in ways that are not analysed.
    opaque: bool,
}

impl Accesses<'_> {
    fn provenance(&self, array: Value) -> Option<Provenance> {
        self.inner.get(&array).copied().unwrap_or_else(|| self.outer.get(&array).copied())
    }

    /// An access to an array.
    fn access(&self, array: Value, index: Value, in_loop: bool) -> Access {
        Access { of: self.provenance(array), array, index: (!in_loop).then_some(index) }
    }

    /// Returns the elements that the iterations access, if each accesses the one behind that of the iteration before.
    fn range(&self, access: &Access, index: Value) -> Option<Range> {
        let is_outside = |value: Value| value != index && !self.inner.contains_key(&value);
        let at = access.index?;
        let array = access.array;
        let start = match self.sums.get(&at) {
            Some([a, b]) if *a == index && is_outside(*b) => Some(*b),
            Some([a, b]) if *b == index && is_outside(*a) => Some(*a),
            None if at == index => None,
            _ => return None,
        };
        is_outside(array).then_some(Range { array, start })
    }

    /// Notes the accesses of a block; `in_loop` is true within a nested loop.
    fn block(&mut self, block: &Block, in_loop: bool) {
        for inst in &block.insts {
            self.inner.extend(inst.results.iter().map(|name| (*name, None)));
            match &inst.op {
                Op::Load { array, index } => {
                    let read = self.access(*array, *index, in_loop);
                    self.reads.push(read);
                }
                Op::Store { array, index, .. } => {
                    self.opaque |= in_loop;
                    let write = self.access(*array, *index, in_loop);
                    self.writes.push(write);
                }
                Op::Binary(Binary::Add, a, b) => {
                    self.sums.insert(inst.results[0], [*a, *b]);
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
                    Class::Trap => self.fails_after_write |= !self.writes.is_empty(),
                    Class::Pure | Class::Address | Class::Read | Class::Control => {}
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
        let op = &module.functions[0].body.insts[0].op;
        let Op::For { index, body, .. } = op else { panic!("a loop") };
        let known = [(Value(0), Provenance::Allocated(Value(0), 2)), (Value(1), other)];
        iterations_are_independent(*index, body, &known.into_iter().collect())
    }

    #[test]
    fn writes_to_a_fresh_array_disturb_no_reads_of_others() {
        assert!(independent("v5: i64 = load v1[v4] store v0[v4] = v5"));
        assert!(!independent("v5: i64 = load v2[v4] store v0[v4] = v5"), "of unknown provenance");
        assert!(independent("store v1[v4] = v4"), "a single write and no read");
        assert!(!independent("for v5 < v3 { store v0[v4] = v5 }"), "many writes in an iteration");
    }

    #[test]
    fn an_iteration_may_read_the_element_that_it_writes() {
        assert!(independent("v5: i64 = load v0[v4] store v0[v4] = v5"));
        assert!(independent("v5: i64 = load v2[v4] store v2[v4] = v5"), "one name is one array");
        let moved = |read: &str, written: &str| {
            format!(
                "v6: i64 = add v3, v4 v7: i64 = add v4, v4 v8: i64 = add v6, v4 \
                 v5: i64 = load v2[{read}] store v2[{written}] = v5"
            )
        };
        assert!(independent(&moved("v6", "v6")));
        assert!(!independent(&moved("v4", "v6")), "another element");
        assert!(!independent(&moved("v3", "v3")), "one element for all iterations");
        assert!(!independent(&moved("v7", "v7")), "twice the index");
        assert!(!independent(&moved("v8", "v8")), "a sum of what differs");
        let other = "v5: i64 = load v1[v4] v6: i64 = load v2[v4] store v2[v4] = v5";
        assert!(!independent(other), "another array may be the same");
        let fails = "v5: i64 = load v0[v4] store v0[v4] = v5 v6: bool = lt v5, v4 check v6 @0";
        assert!(!independent(fails), "an iteration that fails is done again");
        let before = "v5: i64 = load v0[v4] v6: bool = lt v5, v4 check v6 @0 store v0[v4] = v5";
        assert!(independent(before));
    }

    #[test]
    fn iterations_may_depend_on_whether_arrays_overlap() {
        let text = |code: &str| {
            format!(
                "function \"f\"(v0: [i64], v1: [i64], v2: [i64], v3: i64) {{ for v4 < v3 {{ {code} }} }}"
            )
        };
        let found = |code: &str| {
            let module = parse(&text(code)).unwrap();
            let op = &module.functions[0].body.insts[0].op;
            let Op::For { index, body, .. } = op else { panic!("a loop") };
            independence(*index, body, &FxHashMap::default())
        };
        let range =
            |array, start: Option<u32>| Range { array: Value(array), start: start.map(Value) };
        let moved = "v5: i64 = add v3, v4 v6: i64 = load v1[v5] store v0[v4] = v6";
        let expected = |ranges: &[[Range; 2]]| Independence::IfApart {
            ranges: ranges.to_vec(),
            or_equal: true,
        };
        assert_eq!(found(moved), expected(&[[range(0, None), range(1, Some(3))]]));
        let two = "v5: i64 = load v0[v4] store v0[v4] = v4 store v1[v4] = v5";
        assert_eq!(found(two), expected(&[[range(1, None), range(0, None)]]));
        let rows = "v5: i64 = add v3, v4 v6: i64 = load v0[v5] store v0[v4] = v6";
        assert_eq!(found(rows), expected(&[[range(0, None), range(0, Some(3))]]), "two rows");
        let fails = "v5: i64 = add v3, v4 v6: i64 = load v0[v5] store v0[v4] = v6 v7: bool = lt v6, v4 check v7 @0";
        assert_eq!(found(fails), Independence::Never, "it would read what it wrote");
        let gathered = "v5: i64 = load v1[v4] v6: i64 = load v2[v5] store v0[v4] = v6";
        assert_eq!(found(gathered), Independence::Never, "any elements");
        let sliced = "v7: [i64] = slice v1[v4..] v6: i64 = load v7[v4] store v0[v4] = v6";
        assert_eq!(found(sliced), Independence::Never, "another array in each iteration");
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
        // One that was copied behind the allocation of the other, or not at all.
        let copied = Provenance::PREEXISTING.of_either(Provenance::Allocated(Value(9), 5));
        assert_eq!(copied, Provenance::Either(0, 5, 6));
        assert!(independent_beside(&body("v1"), copied));
        assert_eq!(copied.of_either(Provenance::Existing(3)), Provenance::Either(3, 5, 6));
        assert!(!independent_beside(&body("v1"), copied.of_either(Provenance::Existing(3))));
        assert_eq!(copied.of_either(Provenance::Existing(6)), Provenance::Existing(6));
        assert!(!independent(&body("v2")), "of unknown provenance");
        let [first, third] = [0, 2].map(|n| Provenance::Allocated(Value(n), n as usize));
        assert_eq!(first.of_either(third), Provenance::Made(0, 3));
        assert_eq!(first.of_either(Provenance::Existing(2)), Provenance::Existing(2));
        assert_eq!(third.of_either(Provenance::Existing(2)), Provenance::Either(2, 2, 3));
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

    /// Returns what is known of the arrays that a loop carries: `v2`, made by the allocation 5, as `v10`, and `v1`,
    /// which existed before, as `v11`.
    fn carries(body: &str) -> Vec<Option<usize>> {
        let text = format!(
            "function \"f\"(v0: i64, v1: [i64], v2: [i64], v3: bool) {{ v20: [i64], v21: [i64] =
              for v4 < v0 carry v10: [i64] = v2, v11: [i64] = v1 {{ {body} }} }}"
        );
        let module = parse(&text).unwrap();
        let op = &module.functions[0].body.insts[0].op;
        let Op::For { init, carried, body, .. } = op else { panic!("a loop") };
        let known =
            [(Value(1), Provenance::PREEXISTING), (Value(2), Provenance::Allocated(Value(2), 5))];
        carried_since(init, carried, body, &known.into_iter().collect())
    }

    #[test]
    fn a_table_that_grows_is_made_since_the_first_allocation() {
        let grows = "v5: [i64] = if v3 { yield v10 } else { v6: [i64] = alloc v0 yield v6 }";
        assert_eq!(carries(&format!("{grows} yield v5, v11")), [Some(5), None]);
        assert_eq!(carries(&format!("{grows} yield v5, v5")), [Some(5), None]);
        let moved = "v7: mark = mark v8: [i64] = compact v7 keep v5[..v0]";
        assert_eq!(carries(&format!("{grows} {moved} yield v8, v11")), [Some(5), None]);
        assert_eq!(carries("yield v11, v10"), [None, None], "one that existed before");
        assert_eq!(carries("v5: [i64] = select v3, v10, v10 yield v5, v11"), [None, None]);
    }

    #[test]
    fn what_is_written_to_a_table_that_grows_disturbs_no_reads_of_earlier_arrays() {
        let made = Provenance::Made(5, 9);
        assert!(made.is_apart(Provenance::Existing(5)) && Provenance::PREEXISTING.is_apart(made));
        assert!(made.is_apart(Provenance::Allocated(Value(1), 4)), "one that was allocated before");
        assert!(!made.is_apart(Provenance::Existing(6)), "one that may be the table");
        assert!(!made.is_apart(Provenance::Allocated(Value(1), 5)), "the first part of the table");
        assert!(made.is_apart(Provenance::Allocated(Value(1), 9)), "one that is allocated later");
        assert!(!Provenance::PREEXISTING.is_apart(Provenance::PREEXISTING), "both from outside");
    }

    #[test]
    fn what_is_known_of_a_name_from_another_copy_of_the_code_does_not_count() {
        let carries =
            "v8: [i64] = for v5 < v3 carry v6: [i64] = v0 { v9: i64 = load v6[v4] yield v6 }";
        let text = format!(
            "function \"f\"(v0: [i64], v3: i64) {{ for v4 < v3 {{ {carries} store v0[v4] = v3 }} }}"
        );
        let module = parse(&text).unwrap();
        let op = &module.functions[0].body.insts[0].op;
        let Op::For { index, body, .. } = op else { panic!("a loop") };
        let known = [(0, Provenance::Allocated(Value(0), 7)), (6, Provenance::Existing(3))];
        let known = known.into_iter().map(|(n, known)| (Value(n), known)).collect();
        assert!(!iterations_are_independent(*index, body, &known));
    }
}
