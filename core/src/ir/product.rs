//! Products and transposes of matrices, as what a multi-versioned value is known to be.
//!
//! Nested apply-to-each may compute one of these. Whatever the spelling, [`fuse`](mod@crate::fuse) finds
//! that out and says so at the value ([`flat::Op::Versions`](crate::flat::Op)): a runtime that does the
//! operation by itself then need not execute either version. What cannot be known before the program runs
//! stands as conditions: unless all of them hold, one of the versions is executed as if nothing had been
//! found. Where they hold, no operation of the versions faults.
//!
//! ```text
//! v5: [float] in s1 = versions { … } or { … } product v0 by turned v1 depth length v1 columns row_length v1 {
//!   equal row_length v0, length v1
//! }
//! ```

use super::value::{Atom, Var};

/// The rows of a matrix: the values at the elements of an index space.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixRows {
    /// The operation that makes the matrix.
    pub operation: MatrixOperation,
    /// The number of its columns.
    pub columns: Count,
    /// The conditions under which the value is this matrix. Besides, all counts must be positive, and
    /// the rows of each operand equally long.
    pub conditions: Vec<Condition>,
}

/// An operation that makes a matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MatrixOperation {
    /// The product of two matrices of floats.
    Product {
        /// The matrix whose rows are those of the product.
        left: Factor,
        /// The matrix whose rows are the columns of the product.
        right: Factor,
        /// The number of products that are added up for each element.
        depth: Count,
    },
    /// The transpose of a sequence of sequences of scalars.
    Transpose(Var),
}

/// A factor of a product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor {
    /// A sequence of sequences of floats.
    pub matrix: Var,
    /// True if the transpose is meant.
    pub turned: bool,
}

/// A number of elements that the host knows or finds out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Count {
    /// The number of elements of the index space.
    Rows,
    /// An int, from outside of the index space if it is a variable.
    Int(Atom),
    /// The length of a sequence.
    Length(Var),
    /// The length of each element of a sequence of sequences.
    RowLength(Var),
}

/// A condition on counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Condition {
    /// Both are the same.
    Equal(Count, Count),
    /// The first is not greater than the second.
    AtMost(Count, Count),
    /// It is not zero, nor negative.
    Positive(Count),
}

impl Count {
    /// Returns the variable that it depends on.
    pub fn variable(self) -> Option<Var> {
        match self {
            Count::Rows => None,
            Count::Int(atom) => atom.variable(),
            Count::Length(var) | Count::RowLength(var) => Some(var),
        }
    }
}

impl Condition {
    /// Returns the counts that it is about.
    pub fn counts(self) -> impl Iterator<Item = Count> {
        let counts = match self {
            Condition::Equal(a, b) | Condition::AtMost(a, b) => [Some(a), Some(b)],
            Condition::Positive(a) => [Some(a), None],
        };
        counts.into_iter().flatten()
    }

    /// Returns the name in the text form.
    pub fn mnemonic(self) -> &'static str {
        match self {
            Condition::Equal(..) => "equal",
            Condition::AtMost(..) => "at_most",
            Condition::Positive(_) => "positive",
        }
    }
}

impl MatrixRows {
    /// Returns every variable that it depends on, perhaps more than once.
    pub fn variables(&self) -> impl Iterator<Item = Var> + '_ {
        let operands = match self.operation {
            MatrixOperation::Product { left, right, depth } => {
                [Some(left.matrix), Some(right.matrix), depth.variable()]
            }
            MatrixOperation::Transpose(matrix) => [Some(matrix), None, None],
        };
        let conditions = self.conditions.iter().flat_map(|condition| condition.counts());
        let counts = std::iter::once(self.columns).chain(conditions);
        operands.into_iter().flatten().chain(counts.filter_map(Count::variable))
    }
}
