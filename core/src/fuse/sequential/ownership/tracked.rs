//! The functions that are told which of their parameters they own, and tell which of their results the caller owns.
//!
//! ```text
//! fn "pop"(v0: [int], v1: int) -> [int] {      the caller's loop appends to what it gets, and gives
//!   …                                          it to "pop" again: both have to know the room
//!   v4: [int] = subseq(v0, 0, v3)
//! }
//! ```

use super::Ownership;
use crate::ir::{Op, Program};

/// The ownership of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Summary {
    /// The sequences of the result that become the caller's.
    pub(super) returned: Vec<bool>,
    /// For each sequence of the result, the sequences of the parameters that it may read.
    pub(super) aliases: Vec<Vec<bool>>,
}

impl Summary {
    /// Returns true if some sequence of the result becomes the caller's, and may read one of a parameter.
    fn hands_on(&self) -> bool {
        self.returned.iter().zip(&self.aliases).any(|(own, reads)| *own && reads.contains(&true))
    }
}

impl Ownership {
    /// Finds the functions that are tracked: those that may overwrite something, their callers, and those among their
    /// callees whose results may be what they were given, or parts of it: `drop(stack, -1)` out of a function still
    /// belongs to the loop that appends to it next.
    pub(super) fn track(&mut self, program: &Program) {
        self.tracked = self.functions.iter().map(|(block, _)| !block.in_place.is_empty()).collect();
        loop {
            let before = self.tracked.clone();
            for (at, function) in program.functions.iter().enumerate() {
                function.body.for_each_op(&mut |op| {
                    let Op::Call(callee, _) = op else { return };
                    let callee = callee.0 as usize;
                    self.tracked[at] |= self.tracked[callee];
                    self.tracked[callee] |= self.tracked[at] && self.functions[callee].1.hands_on();
                });
            }
            if self.tracked == before {
                break;
            }
        }
    }
}
