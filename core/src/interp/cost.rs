//! The cost model: the work and depth of each operation.
//!
//! It is that of NESL (Blelloch, "NESL: a nested data-parallel language", 3.1, section 1.5) with the
//! sizes of values as work:
//!
//! | operation | work |
//! |---|---|
//! | scalar operations, `#a`, checks of the library, operations outside the language | 1 |
//! | constants, copies, pairing, keys of random numbers, conditionals, calls, top-level variables | 0 |
//! | `dist`, `a[i]`, `->`, ranges, `subseq`, lists, number → text | size of the result |
//! | reductions, scans, `pack`, `permute`, `flatten`, `partition` | size of the sequence |
//! | hashes and comparisons of texts, finding equal ints | size of the first operand |
//! | `++`, `rep`, `<-` | sizes of the operands |
//! | ranks | n log₂ n; of texts, their size times log₂ n |
//! | apply-to-each | the sum over the iterations |
//!
//! An operation that has work has depth 1; an apply-to-each has the maximum over its iterations, or the
//! sum, if serial. Under `log_scan` ranks, reductions, scans and what is built on them
//! have depth log₂ n.

use super::value::{Sequence, Value};
use crate::ir::{Charge, CostTerm};
use crate::prim::{InterpreterTime, SeqOp, Work};

/// The work and depth of an operation, or of a run so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    pub work: u64,
    pub depth: u64,
}

impl Cost {
    /// The cost of an operation on scalars.
    pub(super) const UNIT: Cost = Cost { work: 1, depth: 1 };

    /// The cost of `work` operations that do not depend on each other.
    pub(super) fn parallel(work: u64) -> Cost {
        Cost { work, depth: 1 }
    }

    /// Adds the cost of what is done afterwards.
    pub(super) fn then(&mut self, next: Cost) {
        self.work = self.work.saturating_add(next.work);
        self.depth = self.depth.saturating_add(next.depth);
    }
}

/// The estimated time that the interpreter takes for a step, in nanoseconds.
pub(super) const STEP_NS: u64 = 32;

/// The estimated time that an operation takes to read its operands, in nanoseconds. The time to write
/// its result is estimated where the result is allocated.
pub(super) fn operand_time_ns(op: SeqOp, args: &[Value]) -> u64 {
    let lengths =
        || -> u64 { args.iter().filter_map(Value::as_sequence).map(|s| s.len() as u64).sum() };
    match op.row().interpreter_time {
        InterpreterTime::Constant => STEP_NS,
        InterpreterTime::PerElement => lengths(),
        InterpreterTime::StepPerElement => STEP_NS * lengths(),
    }
}

/// The cost of an operation on sequences.
pub(super) fn sequence_op(op: SeqOp, args: &[Value], result: &Value, log_scan: bool) -> Cost {
    let length = || args[0].as_sequence().map_or(0, Sequence::len) as u64;
    let scanned = |work| Cost { work, depth: if log_scan { log2(length()) } else { 1 } };
    match op.row().work {
        Work::One => Cost::UNIT,
        Work::Result => Cost::parallel(result.size()),
        Work::First => Cost::parallel(args[0].size()),
        Work::FirstTwo => Cost::parallel(args[0].size() + args[1].size()),
        Work::ScanOfFirst => scanned(args[0].size()),
        Work::Table => scanned(result.size() + args[2].size()),
        Work::Sort => scanned(times_log(length(), length())),
        Work::SortOfSize => scanned(times_log(args[0].size(), length())),
    }
}

/// The cost of a call of a library function that declares one.
pub(super) fn declared(charge: &Charge, args: &[Value], result: &Value, log_scan: bool) -> Cost {
    // The length of the longest sequence in the formula.
    let mut longest = 1;
    let work = charge.work.iter().fold(0u64, |sum, term| {
        let (size, value) = match term {
            CostTerm::One => (1, None),
            CostTerm::Length(i) => {
                let value = &args[*i as usize];
                (length(value), Some(value))
            }
            CostTerm::Size(i) => {
                let value = &args[*i as usize];
                (value.size(), Some(value))
            }
            CostTerm::SizeOfResult => (result.size(), Some(result)),
            CostTerm::LengthLog(i) => {
                let value = &args[*i as usize];
                (times_log(length(value), length(value)), Some(value))
            }
            CostTerm::SizeLog(i) => {
                let value = &args[*i as usize];
                (times_log(value.size(), length(value)), Some(value))
            }
        };
        longest = longest.max(value.map_or(1, length));
        sum.saturating_add(size)
    });
    Cost { work, depth: if charge.scans && log_scan { log2(longest) } else { 1 } }
}

/// The work of comparing `size` scalars in a sort of `length` values.
fn times_log(size: u64, length: u64) -> u64 {
    if length > 1 { (size as f64 * (length as f64).log2()).ceil() as u64 } else { 1 }
}

/// The length of a sequence; the size of any other value.
fn length(value: &Value) -> u64 {
    match value.as_sequence() {
        Some(sequence) => sequence.len() as u64,
        None => value.size(),
    }
}

/// The logarithm to base 2, rounded up, at least 1.
fn log2(n: u64) -> u64 {
    u64::from(n.max(2).next_power_of_two().ilog2())
}
