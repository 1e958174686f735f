//! Rows of the operations on sequences.

use super::ops::{ReduceOp, SeqOp};
use super::table::{PrimKind, PrimRow};

const fn seq(
    name: &'static str,
    scheme: &'static str,
    op: SeqOp,
    doc: &'static str,
    example: &'static str,
    cost: &'static str,
) -> PrimRow {
    PrimRow { name, scheme, kind: PrimKind::Seq(op), doc, example, cost }
}

const fn reduce(
    name: &'static str,
    scheme: &'static str,
    op: ReduceOp,
    doc: &'static str,
    example: &'static str,
) -> PrimRow {
    seq(name, scheme, SeqOp::Reduce(op), doc, example, "W = S(a), D = 1")
}

const fn scan(
    name: &'static str,
    scheme: &'static str,
    op: ReduceOp,
    doc: &'static str,
    example: &'static str,
) -> PrimRow {
    seq(name, scheme, SeqOp::Scan(op), doc, example, "W = S(a), D = 1")
}

const REDUCE_NUMBER: &str = "[a] -> a :: (a in number)";
const REDUCE_ORDINAL: &str = "[a] -> a :: (a in ordinal)";
const REDUCE_LOGICAL: &str = "[a] -> a :: (a in logical)";
const SCAN_NUMBER: &str = "[a] -> [a] :: (a in number)";
const SCAN_ORDINAL: &str = "[a] -> [a] :: (a in ordinal)";
const SCAN_LOGICAL: &str = "[a] -> [a] :: (a in logical)";
const LENGTH: &str = "[a] -> int :: (a in any)";
const GATHER: &str = "([a], [int]) -> [a] :: (a in any)";
const SCATTER: &str = "([a], [(int, a)]) -> [a] :: (a in any)";

pub(super) const ROWS: &[PrimRow] = &[
    seq("#", LENGTH, SeqOp::Length, "The length of a sequence.", "#\"abc\" → 3", "W = 1, D = 1"),
    seq(
        "length",
        LENGTH,
        SeqOp::Length,
        "The length of a sequence; also written `#a`.",
        "length([4, 5]) → 2",
        "W = 1, D = 1",
    ),
    seq(
        "elt",
        "([a], int) -> a :: (a in any)",
        SeqOp::Index,
        "The element at a place, counted from 0; also written `a[i]`. Out of bounds is an error.",
        "elt([4, 5, 6], 1) → 5",
        "W = S(result), D = 1",
    ),
    seq(
        "iseq",
        "(int, int, int) -> [int]",
        SeqOp::Range,
        "`iseq(s, d, e)`: the ints from `s` in steps of `d`, stopping before `e`; also written `[s:e:d]`. `e < s` or `d < 1` is an error.",
        "iseq(4, 3, 15) → [4, 7, 10, 13]",
        "W = S(result), D = 1",
    ),
    seq(
        "dist",
        "(a, int) -> [a] :: (a in any)",
        SeqOp::Dist,
        "`dist(x, n)`: `n` copies of `x`. A negative `n` is an error.",
        "dist(7, 3) → [7, 7, 7]",
        "W = S(result), D = 1",
    ),
    seq(
        "->",
        GATHER,
        SeqOp::Gather,
        "`a -> i`: the elements of `a` at the places `i`, in the order of `i`. Out of bounds is an error.",
        "\"nested\" -> [5, 1, 4] → \"dee\"",
        "W = S(result), D = 1",
    ),
    seq(
        "read",
        GATHER,
        SeqOp::Gather,
        "`read(a, i)`: the elements of `a` at the places `i`; also written `a -> i`.",
        "read([10, 20, 30], [2, 0]) → [30, 10]",
        "W = S(result), D = 1",
    ),
    seq(
        "<-",
        SCATTER,
        SeqOp::Scatter,
        "`d <- v`: `d` with the value of each pair `(place, value)` of `v` written over it. The last write to a place wins; out of bounds is an error.",
        "[0, 0, 0, 0] <- [(2, 7), (0, 3)] → [3, 0, 7, 0]",
        "W = S(d) + S(v), D = 1",
    ),
    seq(
        "write",
        SCATTER,
        SeqOp::Scatter,
        "`write(d, v)`: `d` with the pairs of `v` written over it; also written `d <- v`.",
        "write(\"gone\", [(0, `b)]) → \"bone\"",
        "W = S(d) + S(v), D = 1",
    ),
    seq(
        "rep",
        "([a], a, int) -> [a] :: (a in any)",
        SeqOp::Replace,
        "`rep(d, v, i)`: `d` with `v` in place `i`. Out of bounds is an error.",
        "rep([14, 15, 16], -8, 1) → [14, -8, 16]",
        "W = S(d) + S(v), D = 1",
    ),
    seq(
        "permute",
        GATHER,
        SeqOp::Permute,
        "`permute(v, i)`: element `k` of `v` goes to place `i[k]`. It is an error unless `i` has every place exactly once.",
        "permute(\"nesl\", [2, 1, 3, 0]) → \"lens\"",
        "W = S(v), D = 1",
    ),
    seq(
        "_pack",
        "([a], [bool]) -> [a] :: (a in any)",
        SeqOp::Pack,
        "Keeps the elements where the flag is true.",
        "",
        "W = S(v), D = 1",
    ),
    seq(
        "++",
        "([a], [a]) -> [a] :: (a in any)",
        SeqOp::Append,
        "`a ++ b`: the elements of `a`, then those of `b`.",
        "[1, 2] ++ [3] → [1, 2, 3]",
        "W = S(a) + S(b), D = 1",
    ),
    seq(
        "flatten",
        "[[a]] -> [a] :: (a in any)",
        SeqOp::Flatten,
        "The elements of all the sequences of a sequence: one level of nesting less.",
        "flatten([[2, 1], [7, 3, 0], [4]]) → [2, 1, 7, 3, 0, 4]",
        "W = S(v), D = 1",
    ),
    seq(
        "partition",
        "([a], [int]) -> [[a]] :: (a in any)",
        SeqOp::Partition,
        "`partition(v, counts)`: cuts `v` into pieces of the given lengths, which must not be negative and must add up to `#v`.",
        "partition(\"splitme\", [5, 0, 2]) → [\"split\", \"\", \"me\"]",
        "W = S(v) + L(counts), D = 1",
    ),
    seq(
        "subseq",
        "([a], int, int) -> [a] :: (a in any)",
        SeqOp::Subseq,
        "`subseq(v, s, e)`: the elements from place `s` up to, not including, place `e`. It is an error unless `0 <= s <= e <= #v`.",
        "subseq([4, 5, 6, 7, 8], 1, 4) → [5, 6, 7]",
        "W = S(result), D = 1",
    ),
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
        "Whether any element is true; on ints, their bitwise or. Of none: `f`, 0.",
        "any([f, t, f]) → T",
    ),
    reduce(
        "all",
        REDUCE_LOGICAL,
        ReduceOp::And,
        "Whether all elements are true; on ints, their bitwise and. Of none: `t`, -1.",
        "all([f, t, f]) → F",
    ),
    reduce(
        "parity",
        REDUCE_LOGICAL,
        ReduceOp::Xor,
        "Whether an odd number of elements is true; on ints, their bitwise exclusive or. Of none: `f`, 0.",
        "parity([t, f, f, t, t]) → T",
    ),
    // Exclusive scans.
    scan(
        "plus_scan",
        SCAN_NUMBER,
        ReduceOp::Sum,
        "For each place, the sum of the elements before it.",
        "plus_scan([5, 1, -3, 2]) → [0, 5, 6, 3]",
    ),
    scan(
        "mult_scan",
        SCAN_NUMBER,
        ReduceOp::Product,
        "For each place, the product of the elements before it.",
        "mult_scan([2, 3, 4, 5]) → [1, 2, 6, 24]",
    ),
    scan(
        "max_scan",
        SCAN_ORDINAL,
        ReduceOp::Max,
        "For each place, the greatest element before it; the first is what `max_val` of nothing is.",
        "drop(max_scan([3, 2, 6, 5]), 1) → [3, 3, 6]",
    ),
    scan(
        "min_scan",
        SCAN_ORDINAL,
        ReduceOp::Min,
        "For each place, the least element before it; the first is what `min_val` of nothing is.",
        "drop(min_scan([6, 2, 4, 1]), 1) → [6, 2, 2]",
    ),
    scan(
        "or_scan",
        SCAN_LOGICAL,
        ReduceOp::Or,
        "For each place, whether any element before it is true; bitwise on ints.",
        "or_scan([f, t, f]) → [F, F, T]",
    ),
    scan(
        "and_scan",
        SCAN_LOGICAL,
        ReduceOp::And,
        "For each place, whether all elements before it are true; bitwise on ints.",
        "and_scan([t, f, t]) → [T, T, F]",
    ),
    scan(
        "xor_scan",
        SCAN_LOGICAL,
        ReduceOp::Xor,
        "For each place, the parity of the elements before it; bitwise on ints.",
        "xor_scan([1, 2, 3]) → [0, 1, 3]",
    ),
    // Ranks.
    seq(
        "rank",
        "[a] -> [int] :: (a in number)",
        SeqOp::RankUp,
        "The place of each element in ascending order; equal elements keep their order. `sort(a) = permute(a, rank(a))`.",
        "rank([10, -5, 0, 10]) → [2, 0, 1, 3]",
        "W = L(a) log L(a), D = 1",
    ),
    seq(
        "rank_down",
        "[a] -> [int] :: (a in number)",
        SeqOp::RankDown,
        "The place of each element in descending order; equal elements keep their order.",
        "rank_down([1, 4, 4, 0]) → [2, 0, 1, 3]",
        "W = L(a) log L(a), D = 1",
    ),
    seq(
        "char_rank",
        "[char] -> [int]",
        SeqOp::RankUp,
        "The place of each char in ascending order of codes; equal chars keep their order.",
        "char_rank(\"nesl\") → [2, 0, 3, 1]",
        "W = L(s), D = 1",
    ),
    seq(
        "_rank",
        "[a] -> [int] :: (a in ordinal)",
        SeqOp::RankUp,
        "`rank` of anything with an order.",
        "",
        "W = L(a) log L(a), D = 1",
    ),
    // Numbers as text.
    seq(
        "_int_text",
        "int -> [char]",
        SeqOp::IntText,
        "The decimal form of an int.",
        "",
        "W = S(result), D = 1",
    ),
    seq(
        "_float_text",
        "float -> [char]",
        SeqOp::FloatText,
        "A float as `@` shows it.",
        "",
        "W = S(result), D = 1",
    ),
    seq(
        "exp_string",
        "(float, int) -> [char]",
        SeqOp::ExpText,
        "`exp_string(x, n)`: `x` in exponential form with `n` digits after the point. More than 8, or a negative `n`, is an error. Zero is \"0.0\".",
        "exp_string(12345.678, 3) → \"1.235e+4\"",
        "W = S(result), D = 1",
    ),
    seq(
        "parse_float",
        "[char] -> (float, bool)",
        SeqOp::ParseFloat,
        "The float that a text spells (an optional sign, digits, a fraction, an exponent after `e`), and whether that was all of the text.",
        "parse_float(\"2e3\") → (2000.0, T)",
        "W = S(s), D = 1",
    ),
];
