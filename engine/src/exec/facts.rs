//! The facts for the choice between versions, and what is observed of recursion for them.

use crate::frame::{CallFrame, FlatProgram};
use nesl_core::flat::{Block, Let};
use nesl_core::ir::FunId;
use nesl_core::strategy::{self, Facts, Recursion, Thresholds};
use std::cell::RefCell;

/// The calls of each function that are under way in flattened code.
pub(super) struct RecursionLog(RefCell<Vec<OpenCalls>>);

/// The calls of one function that are under way.
#[derive(Clone, Copy, Debug, Default)]
struct OpenCalls {
    /// The number of calls under way.
    depth: u64,
    /// The number of calls since the outermost of them began, with those in tail position.
    begun: u64,
    /// The number of work items of all launches before the outermost began.
    work_items_before: u64,
}

impl RecursionLog {
    pub(super) fn new(program: &FlatProgram) -> RecursionLog {
        RecursionLog(RefCell::new(vec![OpenCalls::default(); program.program.functions.len()]))
    }

    /// Records that a call begins; `repeats` if it takes the place of a call of the same function,
    /// which it ends by. `work_items` counts all launches so far.
    pub(super) fn begin(&self, id: FunId, repeats: bool, work_items: u64) {
        let calls = &mut self.0.borrow_mut()[id.0 as usize];
        if calls.depth == 0 && !repeats {
            *calls = OpenCalls { work_items_before: work_items, ..OpenCalls::default() };
        }
        calls.depth += 1;
        calls.begun += 1;
    }

    /// Records that a call ends.
    pub(super) fn end(&self, id: FunId) {
        self.0.borrow_mut()[id.0 as usize].depth -= 1;
    }

    /// Returns what was observed of a function of which a call is under way.
    fn observed(&self, id: FunId, work_items: u64) -> Option<Recursion> {
        let calls = self.0.borrow()[id.0 as usize];
        let work_items = work_items - calls.work_items_before;
        (calls.depth > 0).then_some(Recursion {
            calls: calls.begun,
            depth: calls.depth,
            work_items,
        })
    }
}

/// Returns the facts for the choice between the versions of a value.
pub(super) fn facts(
    program: &FlatProgram,
    frame: &CallFrame<'_>,
    recursions: &RecursionLog,
    work_items: u64,
    limits: &Thresholds,
    (binding, sequential, flattened): (&Let, &Block, &Block),
) -> Facts {
    let extent = frame.extent(strategy::deciding_space(binding, sequential));
    let callee = strategy::called_function(flattened).filter(|id| program.is_recursive(*id));
    let recursion = callee.and_then(|callee| recursions.observed(callee, work_items));
    let calls = recursion.map_or(0, |recursion| recursion.calls);
    Facts {
        elements: extent.count as u64,
        single: extent.single,
        map: strategy::is_map(flattened, limits),
        one_kernel: strategy::is_one_kernel(flattened),
        orders_rows: strategy::orders_rows(flattened),
        recursion,
        input_elements: frame.input_elements(flattened),
        calls_itself: limits.max_elements_off_device < u64::MAX
            && program.needs_recursion(sequential),
        // It takes a walk over the program, and matters to recursions that go on for long.
        copies: calls >= limits.min_observed_calls
            && callee.is_some_and(|callee| program.copies(callee, extent.single, limits)),
    }
}
