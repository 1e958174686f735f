//! A row of the table of primitives, and the kinds of primitives.

use super::ops::{HostOp, SeqOp};
use nesl_runtime::fault::FaultCode;
use nesl_runtime::scalar::ScalarOp;

/// A primitive: an index into the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Prim(pub u16);

/// The kinds of primitives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PrimKind {
    /// A scalar operation on one argument, or on a tuple of them.
    Scalar(ScalarOp),
    /// An operation on sequences.
    Seq(SeqOp),
    /// An effect, such as printing or reading a file. Its result type is part of the call.
    Host(HostOp),
    /// A function that is defined by the structure of its argument's type; the compiler generates
    /// an instance for each type.
    Derived(Derived),
    /// A check: `_check(cond, "message")` faults with this code (and the message) unless `cond`
    /// holds.
    Check(FaultCode),
    /// The function `error(text)`, which always faults.
    Error,
    /// The function `rand(v)`; the compiler supplies the key.
    Rand,
    /// A constant, such as `pi`, `max_int`, `min_int`, `infinity`, …
    Constant(Constant),
}

/// Functions on any type, defined by the structure of the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Derived {
    /// Equality, `(a, a) -> bool`.
    Eql,
    /// A hash function, `(a, int salt) -> int`: equal values have equal hashes for equal salts.
    Hash,
    /// The value as text, `a -> [char]`.
    String,
    /// The zero of the type, `a -> a`.
    Identity,
    /// The zero of the type of the elements, `[a] -> a`; the sequence may be empty.
    Zero,
    /// Grouping, `([a], int salt) -> (([int], [int]), bool)`: for each element, the index of the
    /// last element that is equal to it, and the number of these. The bool is true then; false
    /// means that elements with equal hashes were grouped instead.
    Groups,
    /// The different elements, `[a] -> (([int], [int]), bool)`: the index of the last element of each group of
    /// equal ones, ascending, and the number of these, and true; or nothing, and false.
    Distinct,
}

/// Constants that depend on the precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Constant {
    Pi,
    MaxInt,
    MinInt,
    Infinity,
    NotANumber,
}

/// The row of a primitive in the table.
#[derive(Clone, Copy, Debug)]
pub struct PrimRow {
    /// The name of the primitive. One that begins with `_` is known only to the prelude.
    pub name: &'static str,
    /// The type in NESL's notation: `(a, a) -> a :: (a in number)`.
    pub scheme: &'static str,
    /// The kind of primitive.
    pub kind: PrimKind,
    /// The documentation that users see.
    pub doc: &'static str,
    /// An expression and its value, `3 + 4 → 7`, which a test checks. Empty for internal
    /// primitives.
    pub example: &'static str,
    /// The work and depth, `W = S(result), D = 1`; `S` is the size of a value.
    pub cost: &'static str,
}
