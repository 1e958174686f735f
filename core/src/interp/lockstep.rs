//! The order in which a nest prints and draws.
//!
//! The original runs the instances of an apply-to-each in lockstep, each operation for all of
//! them: `{(print(x), print(x+10)) : x in [1,2,3]}` prints `1 2 3 11 12 13`, and a conditional
//! prints for all its *then* instances before it does for the *else* instances. Here instances
//! run one after the other. So inside the outermost parallel nest printing is put off: an event
//! remembers the path of positions (in blocks, branches, calls, inner nests) that led to it,
//! and at the end of the nest events are performed in order of path, those of the same path in
//! order of instance, which is the order they were put off in.

use super::value::Value;
use crate::ir::{Site, Ty};

/// Something to print or draw.
pub(super) struct Event {
    /// The let positions and branches that led here from the nest's body. The instance is not
    /// part of it, except where instances are serial. Two events whose paths agree up to some
    /// place went through the same operation there, so paths are compared position by position.
    pub path: Vec<u32>,
    pub what: Output,
    /// The operation, and whether it stands in the library.
    pub at: (Site, bool),
}

/// Where it goes.
pub(super) enum Output {
    /// To standard output.
    Print(Value),
    /// To a stream: the operands of `WriteText` and their types.
    Write(Vec<Value>, Vec<Ty>),
    /// To a picture: the operands of `Draw` and their types.
    Draw(Vec<Value>, Vec<Ty>),
}

/// What has been put off.
#[derive(Default)]
pub(super) struct Lockstep {
    /// The place of the outermost parallel nest on the control stack, inside of which all
    /// printing is put off.
    pub outermost: Option<usize>,
    events: Vec<Event>,
}

impl Lockstep {
    /// Puts off an event.
    pub(super) fn put_off(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Ends putting off: the events, in the order in which they are to happen.
    pub(super) fn take(&mut self) -> Vec<Event> {
        self.outermost = None;
        let mut events = std::mem::take(&mut self.events);
        events.sort_by(|a, b| a.path.cmp(&b.path));
        events
    }
}
