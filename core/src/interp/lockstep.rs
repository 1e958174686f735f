//! The order of output inside an apply-to-each.
//!
//! NESL 3.1 runs the iterations of an apply-to-each in lockstep, each operation for all of them:
//! `{(print(x), print(x+10)) : x in [1,2,3]}` prints `1 2 3 11 12 13`, and a conditional prints for
//! all iterations that take its *then* branch before those that take the *else* branch. This
//! interpreter runs iterations one after the other, so inside the outermost parallel apply-to-each
//! output is deferred: an event is filed under the path of positions (in blocks, branches, calls, inner
//! nests) that led to it. At the end of the nest the events are performed in the order of their
//! paths, those of the same path in the order of iterations. The files are in order at any time, so
//! that nobody has to wait for millions of events to be sorted.

use super::value::Value;
use crate::ir::{Site, Ty};
use std::collections::BTreeMap;

/// The positions of bindings and the branches that led to an event from the body of the nest. The number
/// of the iteration is not a part of it, except in a serial nest. Two events whose paths have a
/// common prefix went through the same operations, so paths are compared lexicographically.
pub(super) type Path = Vec<u32>;

/// A deferred output.
pub(super) struct Event {
    /// The output itself.
    pub output: Output,
    /// The location of the operation; the flag is true if it is in the library.
    pub at: (Site, bool),
}

/// An output operation and its operands.
pub(super) enum Output {
    /// To standard output.
    Print(Value),
    /// To a stream: the operands of `WriteText` and their types.
    Write(Vec<Value>, Vec<Ty>),
    /// To a picture: the operands of `Draw` and their types.
    Draw(Vec<Value>, Vec<Ty>),
}

/// The outputs deferred so far.
#[derive(Default)]
pub(super) struct Lockstep {
    /// The position on the control stack of the outermost parallel nest, inside which all output is
    /// deferred; `None` outside of all nests.
    pub outermost: Option<usize>,
    events: BTreeMap<Path, Vec<Event>>,
}

impl Lockstep {
    /// Defers an event.
    pub(super) fn defer(&mut self, path: Path, event: Event) {
        self.events.entry(path).or_default().push(event);
    }

    /// Ends the deferral and returns the events in the order in which they are to be performed.
    pub(super) fn take(&mut self) -> impl Iterator<Item = Event> + Send + 'static {
        self.outermost = None;
        std::mem::take(&mut self.events).into_values().flatten()
    }
}
