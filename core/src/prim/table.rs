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
    /// Outside the language; its result type is part of the call.
    Host(HostOp),
    /// Defined by the shape of its argument's type; the compiler writes an instance for each type.
    Derived(Derived),
    /// `_check(cond, "message")`: faults with this code (and the message) unless cond.
    Check(FaultCode),
    /// `error(text)`.
    Error,
    /// `rand(v)`: the compiler supplies the key.
    Rand,
    /// A constant: `pi`, `max_int`, `min_int`, `infinity`, …
    Constant(Constant),
}

/// Functions of any type, defined by its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Derived {
    /// `(a, a) -> bool`
    Eql,
    /// `(a, int salt) -> int`: any int; equal values give equal numbers.
    Hash,
    /// `a -> [char]`
    String,
    /// `a -> a`: the zero of the type.
    Identity,
    /// `[a] -> a`: the zero of the type of the elements (of which there may be none).
    Zero,
    /// `([a], int salt) -> (([int], [int]), bool)`: for each element, the place of the last one that
    /// is equal to it, and how many these are, and true; or of those that have the same hash, and
    /// false.
    Groups,
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

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct PrimRow {
    /// The name. One that begins with `_` is known only to the prelude.
    pub name: &'static str,
    /// The type in NESL's notation: `(a, a) -> a :: (a in number)`.
    pub scheme: &'static str,
    /// The kind of primitive.
    pub kind: PrimKind,
    /// The documentation, for people.
    pub doc: &'static str,
    /// An expression and its value, `3 + 4 → 7`; checked by a test. Empty for internal ones.
    pub example: &'static str,
    /// Work and depth, `W = S(result), D = 1`.
    pub cost: &'static str,
}
