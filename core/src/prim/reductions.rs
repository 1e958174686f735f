//! The rows of reductions and scans.

use super::ops::{ReduceOp, SeqOp};
use super::table::{PrimKind, PrimRow};

const fn reduce(
    name: &'static str,
    scheme: &'static str,
    op: ReduceOp,
    doc: &'static str,
    example: &'static str,
) -> PrimRow {
    let kind = PrimKind::Seq(SeqOp::Reduce(op));
    PrimRow { name, scheme, kind, doc, example, cost: "W = S(a), D = 1" }
}

const fn scan(
    name: &'static str,
    scheme: &'static str,
    op: ReduceOp,
    doc: &'static str,
    example: &'static str,
) -> PrimRow {
    let kind = PrimKind::Seq(SeqOp::Scan(op));
    PrimRow { name, scheme, kind, doc, example, cost: "W = S(a), D = 1" }
}

const REDUCE_NUMBER: &str = "[a] -> a :: (a in number)";
const REDUCE_ORDINAL: &str = "[a] -> a :: (a in ordinal)";
const REDUCE_LOGICAL: &str = "[a] -> a :: (a in logical)";
const SCAN_NUMBER: &str = "[a] -> [a] :: (a in number)";
const SCAN_ORDINAL: &str = "[a] -> [a] :: (a in ordinal)";
const SCAN_LOGICAL: &str = "[a] -> [a] :: (a in logical)";

pub(super) const ROWS: &[PrimRow] = &[
    // Reductions.
    reduce(
        "sum",
        REDUCE_NUMBER,
        ReduceOp::Sum,
        "The sum of the elements; of none, 0.",
        "sum([2, 1, -3, 11, 5]) → 16",
    ),
    reduce(
        "product",
        REDUCE_NUMBER,
        ReduceOp::Product,
        "The product of the elements; of none, 1.",
        "product([2, 3, 4]) → 24",
    ),
    reduce(
        "max_val",
        REDUCE_ORDINAL,
        ReduceOp::Max,
        "The greatest element, skipping nans; of none, `min_int`, -infinity or the char of code 0.",
        "max_val([3, 11, -2, 8]) → 11",
    ),
    reduce(
        "min_val",
        REDUCE_ORDINAL,
        ReduceOp::Min,
        "The least element, skipping nans; of none, `max_int`, infinity or the char of code 255.",
        "min_val(\"vector\") → `c",
    ),
    reduce(
        "any",
        REDUCE_LOGICAL,
        ReduceOp::Or,
        "Returns `t` if any element is true; on ints, their bitwise or. Of none: `f`, 0.",
        "any([f, t, f]) → T",
    ),
    reduce(
        "all",
        REDUCE_LOGICAL,
        ReduceOp::And,
        "Returns `t` if all elements are true; on ints, their bitwise and. Of none: `t`, -1.",
        "all([f, t, f]) → F",
    ),
    reduce(
        "parity",
        REDUCE_LOGICAL,
        ReduceOp::Xor,
        "Returns `t` if an odd number of elements is true; on ints, their bitwise exclusive or. Of none: `f`, 0.",
        "parity([t, f, f, t, t]) → T",
    ),
    // Exclusive scans.
    scan(
        "plus_scan",
        SCAN_NUMBER,
        ReduceOp::Sum,
        "For each index, the sum of the elements before it.",
        "plus_scan([5, 1, -3, 2]) → [0, 5, 6, 3]",
    ),
    scan(
        "mult_scan",
        SCAN_NUMBER,
        ReduceOp::Product,
        "For each index, the product of the elements before it.",
        "mult_scan([2, 3, 4, 5]) → [1, 2, 6, 24]",
    ),
    scan(
        "max_scan",
        SCAN_ORDINAL,
        ReduceOp::Max,
        "For each index, the greatest element before it; the first is what `max_val` of nothing is.",
        "drop(max_scan([3, 2, 6, 5]), 1) → [3, 3, 6]",
    ),
    scan(
        "min_scan",
        SCAN_ORDINAL,
        ReduceOp::Min,
        "For each index, the least element before it; the first is what `min_val` of nothing is.",
        "drop(min_scan([6, 2, 4, 1]), 1) → [6, 2, 2]",
    ),
    scan(
        "or_scan",
        SCAN_LOGICAL,
        ReduceOp::Or,
        "For each index, `t` if any element before it is true; on ints, their bitwise or.",
        "or_scan([f, t, f]) → [F, F, T]",
    ),
    scan(
        "and_scan",
        SCAN_LOGICAL,
        ReduceOp::And,
        "For each index, `t` if all elements before it are true; on ints, their bitwise and.",
        "and_scan([t, f, t]) → [T, T, F]",
    ),
    scan(
        "xor_scan",
        SCAN_LOGICAL,
        ReduceOp::Xor,
        "For each index, the parity of the elements before it; bitwise on ints.",
        "xor_scan([1, 2, 3]) → [0, 1, 3]",
    ),
];
