//! What operations are called when a student is told of them.

use crate::prim::{ReduceOp, SeqOp};
use nesl_runtime::scalar::ScalarOp;

/// What is done at each point.
pub(super) fn scalar(op: ScalarOp) -> &'static str {
    use ScalarOp::*;
    match op {
        Add => "add",
        Sub => "subtract",
        Mul => "multiply",
        Div => "divide",
        Rem | Mod => "take the remainder",
        Neg => "negate",
        Abs => "take the absolute value",
        Max => "take the larger one",
        Min => "take the smaller one",
        Eq | Ne | Lt | Le | Gt | Ge => "compare",
        Not => "not",
        And => "and",
        Or => "or",
        Xor => "exclusive or",
        Shl | Shr => "shift",
        Sqrt => "take the square root",
        Ln => "take the logarithm",
        Exp => "take the exponential",
        Sin | Cos | Tan | Asin | Acos | Atan | Sinh | Cosh | Tanh => "apply a function",
        Floor | Ceil | Trunc | Round => "round",
        ToFloat | BoolToInt | CharToInt | IntToChar => "convert",
        FloatBits | Mix => "mix bits",
        Rand => "draw a random number",
        Split => "split a random key",
    }
}

/// What a reduction gives for each segment.
pub(super) fn reduction(op: ReduceOp) -> &'static str {
    match op {
        ReduceOp::Sum => "the sum",
        ReduceOp::Product => "the product",
        ReduceOp::Max => "the largest",
        ReduceOp::Min => "the smallest",
        ReduceOp::And => "whether all are true (and)",
        ReduceOp::Or => "whether any is true (or)",
        ReduceOp::Xor => "the exclusive or",
    }
}

/// What a scan gives at each point.
pub(super) fn scan(op: ReduceOp) -> &'static str {
    match op {
        ReduceOp::Sum => "the sum",
        ReduceOp::Product => "the product",
        ReduceOp::Max => "the largest",
        ReduceOp::Min => "the smallest",
        ReduceOp::And => "the `and`",
        ReduceOp::Or => "the `or`",
        ReduceOp::Xor => "the exclusive or",
    }
}

/// What is done with a sequence.
pub(super) fn sequence(op: SeqOp) -> String {
    let words = match op {
        SeqOp::Length => "take the length: it is known of each segment",
        SeqOp::Index => "take an element",
        SeqOp::Range => "count",
        SeqOp::Dist => "repeat a value",
        SeqOp::Gather => "take the elements at some places",
        SeqOp::Scatter => "write elements at some places",
        SeqOp::Replace => "replace an element",
        SeqOp::Permute => "move each element to its place",
        SeqOp::Pack => "keep the elements whose flag is set",
        SeqOp::Append => "put one behind the other",
        SeqOp::Flatten => "forget a level of segments: no data moves",
        SeqOp::Partition => "cut into segments: no data moves",
        SeqOp::Subseq => "take a part: no data moves",
        SeqOp::Reduce(op) => return format!("{} of each sequence", reduction(op)),
        SeqOp::Scan(op) => {
            return format!("for each element, {} of those before it", scan(op));
        }
        SeqOp::Histogram(op) => {
            return format!("{} of what belongs to each place of a table", reduction(op));
        }
        SeqOp::RankUp | SeqOp::RankDown => "rank the elements: sort",
        SeqOp::Groups => "find elements that are equal",
        SeqOp::HashText => "hash",
        SeqOp::SameText => "compare strings",
        SeqOp::IntText | SeqOp::FloatText | SeqOp::ExpText => "write a number as text",
        SeqOp::ParseFloat => "read a number from text",
    };
    words.to_owned()
}
