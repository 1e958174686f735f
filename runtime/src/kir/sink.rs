//! Sinks: the collective operations at the end of a kernel's stage, each declared once.

use super::operator::Combine;
use super::value::{Output, Value};

/// The range of elements that a sink combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The whole space.
    All,
    /// Each segment separately.
    Segment,
}

/// A collective operation on a value of every work item. The arrays are parameters of the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Sink {
    /// A reduction: into `out[0]`, or over segments into `out[segment]`; the neutral element of an
    /// empty range.
    Reduce {
        /// The range of the reduction or scan.
        scope: Scope,
        /// The operator of the reduction.
        combine: Combine,
        /// The value of the work item.
        value: Value,
        /// The array that receives the results, if they are wanted in memory.
        out: Option<Value>,
        /// The name of the result for the later stages; over segments only.
        result: Option<Value>,
    },
    /// An exclusive scan, whose result the later stages see.
    Scan {
        /// The range of the reduction or scan.
        scope: Scope,
        /// The operator of the scan.
        combine: Combine,
        /// The value of the work item.
        value: Value,
        /// The combination of the elements before this one.
        result: Value,
        /// The array that receives the totals, as in a reduction, if they are wanted.
        total: Option<Value>,
    },
    /// A compaction (filter): keeps the elements where `keep` is true, in order.
    Pack {
        /// True for the elements that are kept.
        keep: Value,
        /// The values, and the arrays that receive them, each as long as the space. What is behind the elements that
        /// are kept is undefined afterwards.
        columns: Vec<(Value, Value)>,
        /// An array of i64 whose first element becomes the number of elements kept; over segments,
        /// one element for each.
        count: Value,
        /// The range that `count` counts. The elements are packed without gaps either way.
        scope: Scope,
    },
    /// `array[index] := value` where `when` is true; of several at one index the last work item wins.
    /// The indices are in bounds.
    Scatter {
        /// The array written.
        array: Value,
        /// The index written; i64.
        index: Value,
        /// The value of the work item.
        value: Value,
        /// True for the work items that take part; all do if there is none.
        when: Option<Value>,
    },
    /// `array[index] := combine(array[index], value)` where `when` is true: a histogram. The
    /// elements of a row go to the elements from `index` on.
    Histogram {
        /// The table, which holds values already.
        array: Value,
        /// The operator that updates a bin.
        combine: Combine,
        /// The index of the bin; i64, in bounds.
        index: Value,
        /// The value added; of a row, an array of the thread or of the runtime.
        value: Value,
        /// The length of the row, if it is one; i64, 0 or more.
        length: Option<Value>,
        /// True for the work items that take part; all do if there is none.
        when: Option<Value>,
    },
    /// A part of arbitrary length from each work item; the parts are concatenated in order.
    Emit {
        /// Arrays of the thread and the [`Output`]s they go to; all have `length` elements.
        columns: Vec<(Value, Output)>,
        /// The number of elements of the part; i64.
        length: Value,
        /// The array that receives the lengths: i64, as long as the space.
        lengths: Value,
    },
}

/// Visits each value of a sink: those it reads, its arrays and its result.
macro_rules! visit_values {
    ($sink:expr, $visit:ident) => {
        match $sink {
            Sink::Reduce { scope: _, combine: _, value, out, result } => {
                $visit(value);
                if let Some(value) = out {
                    $visit(value);
                }
                if let Some(value) = result {
                    $visit(value);
                }
            }
            Sink::Scan { scope: _, combine: _, value, result, total } => {
                $visit(value);
                $visit(result);
                if let Some(value) = total {
                    $visit(value);
                }
            }
            Sink::Pack { keep, columns, count, scope: _ } => {
                $visit(keep);
                $visit(count);
                for (value, array) in columns {
                    $visit(value);
                    $visit(array);
                }
            }
            Sink::Scatter { array, index, value, when } => {
                $visit(array);
                $visit(index);
                $visit(value);
                if let Some(value) = when {
                    $visit(value);
                }
            }
            Sink::Histogram { array, combine: _, index, value, length, when } => {
                $visit(array);
                $visit(index);
                $visit(value);
                if let Some(value) = length {
                    $visit(value);
                }
                if let Some(value) = when {
                    $visit(value);
                }
            }
            Sink::Emit { columns, length, lengths } => {
                for (value, _) in columns {
                    $visit(value);
                }
                $visit(length);
                $visit(lengths);
            }
        }
    };
}

impl Sink {
    /// Calls `visit` with every value of the sink: operands, arrays and result.
    pub fn each_value(&self, mut visit: impl FnMut(Value)) {
        let mut visit = |value: &Value| visit(*value);
        visit_values!(self, visit);
    }

    /// Replaces every value of the sink: operands, arrays and result.
    pub fn map_values(&mut self, mut map: impl FnMut(Value) -> Value) {
        let mut visit = |value: &mut Value| *value = map(*value);
        visit_values!(self, visit);
    }

    /// Calls `visit` with the values of the work item that the sink reads.
    pub fn each_operand(&self, mut visit: impl FnMut(Value)) {
        match self {
            Sink::Reduce { value, .. } | Sink::Scan { value, .. } => visit(*value),
            Sink::Pack { keep, columns, .. } => {
                visit(*keep);
                columns.iter().for_each(|(value, _)| visit(*value));
            }
            Sink::Scatter { index, value, when, .. } => {
                visit(*index);
                visit(*value);
                when.iter().for_each(|v| visit(*v));
            }
            Sink::Histogram { index, value, length, when, .. } => {
                visit(*index);
                visit(*value);
                length.iter().chain(when).for_each(|v| visit(*v));
            }
            Sink::Emit { columns, length, .. } => {
                columns.iter().for_each(|(value, _)| visit(*value));
                visit(*length);
            }
        }
    }

    /// The value that the sink defines for the later stages, if any.
    pub fn result(&self) -> Option<Value> {
        match self {
            Sink::Reduce { result, .. } => *result,
            Sink::Scan { result, .. } => Some(*result),
            Sink::Pack { .. }
            | Sink::Scatter { .. }
            | Sink::Histogram { .. }
            | Sink::Emit { .. } => None,
        }
    }

    /// The operator of a reduction or scan and the value that it combines.
    pub fn combined(&self) -> Option<(Combine, Value)> {
        match self {
            Sink::Reduce { combine, value, .. } | Sink::Scan { combine, value, .. } => {
                Some((*combine, *value))
            }
            Sink::Pack { .. }
            | Sink::Scatter { .. }
            | Sink::Histogram { .. }
            | Sink::Emit { .. } => None,
        }
    }

    /// Returns true if the state of a reduction or scan begins anew at each segment. The positions
    /// of a pack go on from segment to segment.
    pub fn is_by_segment(&self) -> bool {
        match self {
            Sink::Reduce { scope, .. } | Sink::Scan { scope, .. } => *scope == Scope::Segment,
            Sink::Pack { .. }
            | Sink::Scatter { .. }
            | Sink::Histogram { .. }
            | Sink::Emit { .. } => false,
        }
    }

    /// Returns true if the sink carries a state from element to element.
    pub fn has_state(&self) -> bool {
        matches!(self, Sink::Reduce { .. } | Sink::Scan { .. } | Sink::Pack { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_values_and_arrays_are_not() {
        let v = |n| Value(n);
        let mut sink =
            Sink::Pack { keep: v(0), columns: vec![(v(1), v(2))], count: v(3), scope: Scope::All };
        let mut read = Vec::new();
        sink.each_operand(|value| read.push(value));
        assert_eq!(read, [v(0), v(1)]);
        let mut all = Vec::new();
        sink.each_value(|value| all.push(value));
        assert_eq!(all, [v(0), v(3), v(1), v(2)]);
        sink.map_values(|value| Value(value.0 + 4));
        assert!(matches!(sink, Sink::Pack { keep: Value(4), count: Value(7), .. }));
    }
}
