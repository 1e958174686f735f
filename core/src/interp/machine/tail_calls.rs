//! Ending calls early that only pass on a result.
//!
//! ```text
//! count(n) = if n == 0 then 0 else count(n - 1)       the call is the last thing that `count` does
//! ```
//!
//! A call in such a place is a loop in compiled code. Here it takes frames like any other, so that the
//! trace of a failure names it; once there are many, those of all but the last ones are removed. So a
//! loop takes a limited number of frames, and the time of removing them is a constant part of that of
//! the calls.

use super::{ControlFrame, KEPT_BYTES, MAX_TRACE_ENTRIES, Machine, Step};
use crate::ir::{Atom, Block};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;

/// The number of calls in progress from which on frames are removed, at least.
pub(super) const MIN_SWEPT_CALLS: usize = 1_024;

/// A sweep before a failure has helped if it removed at least this part of the calls: one in so many.
const HELPFUL_PART: usize = 8;

impl Machine<'_, '_> {
    /// Removes the calls that only pass on the result of the call above them, if there are many calls
    /// since the last time.
    pub(super) fn sweep_if_many(&mut self) {
        if self.calls >= self.swept_at {
            self.sweep();
        }
    }

    /// Removes the calls that only pass on the result of the call above them; returns true if they were
    /// a good part of all.
    pub(super) fn sweep_helps(&mut self) -> bool {
        let before = self.calls;
        self.sweep();
        before - self.calls > before / HELPFUL_PART
    }

    fn sweep(&mut self) {
        if self.observer.is_none() {
            self.remove_tail_calls();
        }
        self.swept_at = MIN_SWEPT_CALLS.max(2 * self.calls);
    }

    /// Removes the frames and windows of calls that only pass on a result. The last calls stay, for the
    /// trace of a failure, and so do those inside a parallel nest, whose output is ordered by their frames.
    fn remove_tail_calls(&mut self) {
        let mut candidates = self.calls.saturating_sub(MAX_TRACE_ENTRIES);
        let outermost = self.lockstep.outermost;
        let old = std::mem::take(&mut self.frames);
        self.frames.reserve(old.len());
        // The place of the last call, if all its function has to do is to return what the next call returns.
        let mut passes_on = None;
        // The windows of functions that wait for a call: those before `from` were looked at, and are now before
        // `to` if they stay.
        let (mut from, mut to) = (0, 0);
        for (at, frame) in old.into_iter().enumerate() {
            if outermost == Some(at) {
                self.lockstep.outermost = Some(self.frames.len());
                candidates = 0;
            }
            match frame {
                ControlFrame::Call { caller, before } => {
                    let window = self.windows[caller.0 as usize].clone();
                    let window = window.or_bug("a function under way has been called");
                    let removed = passes_on.filter(|_| candidates > 0);
                    candidates = candidates.saturating_sub(1);
                    let declares = before.is_some();
                    if let Some(below) = removed {
                        if let Some(ControlFrame::Block { block, step }) = self.frames.last() {
                            let result = block.lets[step.begun() - 1].var;
                            self.kept_bytes -= window.kept(result) * KEPT_BYTES;
                        }
                        self.frames.truncate(below + 1);
                        let Some(ControlFrame::Call { before: own, .. }) = self.frames.last_mut()
                        else {
                            bug!("there is a call");
                        };
                        *own = before;
                        self.calls -= 1;
                    } else {
                        self.frames.push(ControlFrame::Call { caller, before });
                        self.move_values(from, to, window.size);
                        to += window.size;
                    }
                    from += window.size;
                    // The cost that the called function declares is counted when it ends.
                    passes_on = (!declares).then(|| self.frames.len() - 1);
                }
                ControlFrame::Block { block, step } => {
                    passes_on = passes_on.filter(|_| is_at_end(block, step));
                    self.frames.push(ControlFrame::Block { block, step });
                }
                other => {
                    passes_on = None;
                    self.frames.push(other);
                }
            }
        }
        self.base = to;
        let last = self.values.len() - from;
        self.move_values(from, to, last);
        self.values.truncate(to + last);
    }

    /// Moves values down the stack; those that they replace are moved up.
    fn move_values(&mut self, from: usize, to: usize, count: usize) {
        if from != to {
            (0..count).for_each(|at| self.values.swap(from + at, to + at));
        }
    }
}

/// Returns true if the value of a block is that of its current binding.
fn is_at_end(block: &Block, step: Step) -> bool {
    step.begun() == block.lets.len()
        && block.lets.last().is_some_and(|last| block.result == Atom::Var(last.var))
}
