//! Upper bounds on the differences of ints: an index is below the number of iterations, and what is less than it is, too.
//!
//! An int is a value and a constant added to it, where the sum does not wrap. A fact says that one value is at most
//! another one plus a constant: of the index of a loop, of ints that were compared or checked, of a minimum or maximum.
//! [`ranges`](super::ranges) asks whether the facts decide a comparison.
//!
//! ```text
//! for i < n {                    i ≤ n - 1
//!   v1: bool = eq i, v0          (v0 is n - 1)
//!   if v1 { … } else {           i ≤ n - 2, since i is not n - 1
//!     v3: i64 = add i, v2        (v2 is 1)
//!     v4: bool = lt v3, n        true
//! ```
//!
//! These are difference constraints (Pratt, *Two easy theories whose combination is hard*, 1977), of which at most
//! [`MAX_FACTS_IN_CHAIN`] are put together; Bodík, Gupta and Sarkar remove checks of bounds with them (*ABCD*, PLDI 2000).

use super::{Binary, Value};
use rustc_hash::FxHashMap;

/// The most facts that are put together.
const MAX_FACTS_IN_CHAIN: usize = 3;

/// The most facts that hold at a place; more are not kept.
const MAX_FACTS: usize = 256;

/// The value that stands for 0: constants are sums of it.
const ZERO: Value = Value(u32::MAX);

/// An int: a value and what is added to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sum {
    base: Value,
    plus: i64,
}

/// One value is at most another one plus a constant.
#[derive(Clone, Copy, Debug)]
struct Fact {
    low: Value,
    high: Value,
    plus: i64,
}

/// The facts about the differences of ints that hold at a place in code.
#[derive(Debug, Default)]
pub struct Differences {
    sums: FxHashMap<Value, Sum>,
    /// The minima and maxima, which are one of two ints.
    choices: FxHashMap<Value, (Binary, Value, Value)>,
    facts: Vec<Fact>,
}

impl Differences {
    /// Returns the number of facts, for [`Differences::forget`].
    pub fn facts(&self) -> usize {
        self.facts.len()
    }

    /// Takes back the facts that were added since there were so many.
    pub fn forget(&mut self, before: usize) {
        self.facts.truncate(before);
    }

    /// Notes that an int is a constant.
    pub fn define_constant(&mut self, value: Value, plus: i64) {
        self.sums.insert(value, Sum { base: ZERO, plus });
    }

    /// Adds the facts about the index of a loop with so many iterations, or of an index space.
    pub fn add_index(&mut self, index: Value, count: Value) {
        self.add_at_most(ZERO, index, 0);
        self.add_at_most(index, count, -1);
    }

    /// Notes that an int is another one plus a constant, without wrapping.
    pub fn define_sum(&mut self, value: Value, of: Value, plus: i64) {
        let of = self.sum(of);
        if let Some(plus) = of.plus.checked_add(plus) {
            self.sums.insert(value, Sum { base: of.base, plus });
        }
    }

    /// Notes that an int is the minimum or maximum of two others.
    pub fn define_choice(&mut self, value: Value, op: Binary, a: Value, b: Value) {
        self.choices.insert(value, (op, a, b));
        for of in [a, b] {
            match op {
                Binary::Min => self.add_at_most(value, of, 0),
                Binary::Max => self.add_at_most(of, value, 0),
                _ => {}
            }
        }
    }

    /// Adds the fact that an int is at most another one plus a constant.
    fn add_at_most(&mut self, low: Value, high: Value, plus: i64) {
        let (low, high) = (self.sum(low), self.sum(high));
        let plus = plus.checked_add(high.plus).and_then(|plus| plus.checked_sub(low.plus));
        if let Some(plus) = plus
            && !self.follows(low.base, high.base, plus, MAX_FACTS_IN_CHAIN)
            && low.base != high.base
            && self.facts.len() < MAX_FACTS
        {
            self.facts.push(Fact { low: low.base, high: high.base, plus });
        }
    }

    /// Adds the facts that a comparison of two ints stands for, where it holds, or where it does not.
    pub fn add_compared(&mut self, op: Binary, a: Value, b: Value, holds: bool) {
        match (op, holds) {
            (Binary::Lt, true) | (Binary::Ge, false) => self.add_at_most(a, b, -1),
            (Binary::Le, true) | (Binary::Gt, false) => self.add_at_most(a, b, 0),
            (Binary::Gt, true) | (Binary::Le, false) => self.add_at_most(b, a, -1),
            (Binary::Ge, true) | (Binary::Lt, false) => self.add_at_most(b, a, 0),
            (Binary::Eq, true) | (Binary::Ne, false) => {
                self.add_at_most(a, b, 0);
                self.add_at_most(b, a, 0);
            }
            // What is not equal is less, if it is not more.
            (Binary::Ne, true) | (Binary::Eq, false) => {
                for (low, high) in [(a, b), (b, a)] {
                    if self.is_at_most(low, high, 0) {
                        self.add_at_most(low, high, -1);
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the result of a comparison of two ints, if the facts decide it.
    pub fn decide(&self, op: Binary, a: Value, b: Value) -> Option<bool> {
        let (below, at_most) = (|a, b| self.is_at_most(a, b, -1), |a, b| self.is_at_most(a, b, 0));
        let decided = |always: bool, never: &dyn Fn() -> bool| match always {
            true => Some(true),
            false => never().then_some(false),
        };
        match op {
            Binary::Lt => decided(below(a, b), &|| at_most(b, a)),
            Binary::Le => decided(at_most(a, b), &|| below(b, a)),
            Binary::Gt => decided(below(b, a), &|| at_most(a, b)),
            Binary::Ge => decided(at_most(b, a), &|| below(a, b)),
            Binary::Eq => decided(false, &|| below(a, b) || below(b, a)),
            Binary::Ne => decided(below(a, b) || below(b, a), &|| false),
            _ => None,
        }
    }

    /// Returns true if the facts say that an int is at most another one plus a constant.
    fn is_at_most(&self, low: Value, high: Value, plus: i64) -> bool {
        if self.facts.is_empty() {
            return false;
        }
        let (low, high) = (self.sum(low), self.sum(high));
        let plus = plus.checked_add(high.plus).and_then(|plus| plus.checked_sub(low.plus));
        plus.is_some_and(|plus| self.follows(low.base, high.base, plus, MAX_FACTS_IN_CHAIN))
    }

    /// Returns true if at most so many facts say that a value is at most another one plus a constant.
    fn follows(&self, low: Value, high: Value, plus: i64, facts: usize) -> bool {
        if low == high {
            return plus >= 0;
        }
        if facts == 0 {
            return false;
        }
        // A maximum is at most what both are, and a minimum at least.
        let both = |a: bool, b: &dyn Fn() -> bool| a && b();
        let from = |of: Value, plus: i64| {
            let of = self.sum(of);
            let plus = plus.checked_sub(of.plus);
            plus.is_some_and(|plus| self.follows(of.base, high, plus, facts - 1))
        };
        let to = |of: Value| {
            let of = self.sum(of);
            let plus = plus.checked_add(of.plus);
            plus.is_some_and(|plus| self.follows(low, of.base, plus, facts - 1))
        };
        if let Some((Binary::Max, a, b)) = self.choices.get(&low)
            && both(from(*a, plus), &|| from(*b, plus))
        {
            return true;
        }
        if let Some((Binary::Min, a, b)) = self.choices.get(&high)
            && both(to(*a), &|| to(*b))
        {
            return true;
        }
        // The latest facts say most.
        self.facts.iter().rev().filter(|fact| fact.low == low).any(|fact| {
            let left = plus.checked_sub(fact.plus);
            left.is_some_and(|left| self.follows(fact.high, high, left, facts - 1))
        })
    }

    fn sum(&self, value: Value) -> Sum {
        self.sums.get(&value).copied().unwrap_or(Sum { base: value, plus: 0 })
    }
}

#[cfg(test)]
mod tests {
    use crate::kir::ranges::use_ranges;
    use crate::kir::{parse, print};

    /// The number of checks that are left of a function of the ints `v0` and `v1`; `v2` is 0 and `v3` is 1.
    fn checks(body: &str) -> usize {
        let text = format!(
            "function \"f\"(v0: i64, v1: i64) {{ v2: i64 = const 0 v3: i64 = const 1 {body} }}"
        );
        let mut module = parse(&text).unwrap();
        use_ranges(&mut module);
        print(&module).matches("check").count()
    }

    /// A check that an int is at least 0 and below `v0`.
    fn within(value: &str, name: u32) -> String {
        let [low, high, both] = [name, name + 1, name + 2];
        format!(
            "v{low}: bool = ge {value}, v2 v{high}: bool = lt {value}, v0 \
             v{both}: bool = and v{low}, v{high} check v{both} @0 "
        )
    }

    #[test]
    fn an_index_is_below_the_number_of_iterations() {
        assert_eq!(checks(&format!("for v4 < v0 {{ {} }}", within("v4", 10))), 0);
        assert_eq!(checks(&format!("for v4 < v1 {{ {} }}", within("v4", 10))), 1, "of others");
        assert_eq!(checks(&format!("for v4 < v0 {{ }} {}", within("v1", 10))), 1, "not behind it");
    }

    #[test]
    fn neighbours_that_a_condition_admits_are_within() {
        let before = format!("v6: i64 = sub v4, v3 {}", within("v6", 10));
        let first = |then: &str, otherwise: &str| {
            checks(&format!(
                "for v4 < v0 {{ v5: bool = eq v4, v2 if v5 {{ {then} }} else {{ {otherwise} }} }}"
            ))
        };
        assert_eq!(first("", &before), 0);
        assert_eq!(first(&before, ""), 1);
        let behind = format!("v6: i64 = add v4, v3 {}", within("v6", 10));
        let last = |last: &str| {
            checks(&format!(
                "v7: i64 = sub v0, {last} for v4 < v0 {{ v5: bool = eq v4, v7 if v5 {{ }} else {{ {behind} }} }}"
            ))
        };
        // The length might be the least int, of which nothing can be subtracted.
        let known = "v8: bool = ge v0, v2 check v8 @1 ";
        let of_length = |last: &str| {
            checks(&format!(
                "{known} v7: i64 = sub v0, {last} for v4 < v0 {{ v5: bool = lt v4, v7 if v5 {{ {behind} }} }}"
            ))
        };
        assert_eq!(last("v3"), 1);
        assert_eq!(of_length("v3"), 1, "only that of the length");
        assert_eq!(of_length("v2"), 2);
    }

    #[test]
    fn minima_and_maxima_are_between_their_operands() {
        let known = "v8: bool = ge v0, v2 check v8 @1 v7: i64 = sub v0, v3 ";
        let clamped = |with: &str| {
            checks(&format!(
                "{known} for v4 < v0 {{ v5: i64 = add v4, v3 v6: i64 = {with} v9: i64 = max v6, v2 {} }}",
                within("v9", 10)
            ))
        };
        assert_eq!(clamped("min v5, v7"), 1, "only that of the length");
        assert_eq!(clamped("min v5, v0"), 2);
        assert_eq!(clamped("sub v4, v3"), 1);
        assert_eq!(clamped("max v4, v3"), 2);
    }

    #[test]
    fn facts_are_put_together() {
        let chain = "v4: bool = lt v1, v0 check v4 @0 for v5 < v1 { v6: i64 = add v5, v3 ";
        assert_eq!(checks(&format!("{chain} {} }}", within("v6", 10))), 1);
        let chain = chain.replace("lt v1", "le v1");
        assert_eq!(checks(&format!("{chain} {} }}", within("v5", 10))), 1);
        assert_eq!(checks(&format!("{chain} {} }}", within("v6", 10))), 2);
    }
}
