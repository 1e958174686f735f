//! The facts for the choice between versions, and what is observed of recursion for them.

use crate::frame::{CallFrame, FlatProgram};
use crate::kernels::Work;
use nesl_core::flat::{Block, Let};
use nesl_core::ir::FunId;
use nesl_core::strategy::{Facts, Recursion, Thresholds};
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
    /// The work of all launches before the outermost began.
    before: Work,
}

impl RecursionLog {
    pub(super) fn new(program: &FlatProgram) -> RecursionLog {
        RecursionLog(RefCell::new(vec![OpenCalls::default(); program.program.functions.len()]))
    }

    /// Records that a call begins; `repeats` if it takes the place of a call of the same function,
    /// which it ends by. `work` is that of all launches so far.
    pub(super) fn begin(&self, id: FunId, repeats: bool, work: Work) {
        let calls = &mut self.0.borrow_mut()[id.0 as usize];
        if calls.depth == 0 && !repeats {
            *calls = OpenCalls { before: work, ..OpenCalls::default() };
        }
        calls.depth += 1;
        calls.begun += 1;
    }

    /// Records that a call ends.
    pub(super) fn end(&self, id: FunId) {
        self.0.borrow_mut()[id.0 as usize].depth -= 1;
    }

    /// Returns what was observed of a function of which a call is under way.
    fn observed(&self, id: FunId, work: Work) -> Option<Recursion> {
        let calls = self.0.borrow()[id.0 as usize];
        (calls.depth > 0).then_some(Recursion {
            calls: calls.begun,
            depth: calls.depth,
            work_items: work.work_items - calls.before.work_items,
            launches: work.launches - calls.before.launches,
        })
    }
}

/// Returns the facts for the choice between the versions of a value.
pub(super) fn facts(
    program: &FlatProgram,
    frame: &CallFrame<'_>,
    recursions: &RecursionLog,
    work: Work,
    limits: &Thresholds,
    (binding, sequential, flattened): (&Let, &Block, &Block),
) -> Facts {
    let code = program.version_code(binding, sequential, flattened, limits);
    let extent = frame.extent(code.deciding_space);
    let callee = code.called.filter(|id| program.is_recursive(*id));
    let recursion = callee.and_then(|callee| recursions.observed(callee, work));
    let calls = recursion.map_or(0, |recursion| recursion.calls);
    Facts {
        elements: extent.count as u64,
        single: extent.single,
        map: code.map,
        one_kernel: code.one_kernel,
        orders_rows: code.orders_rows,
        recursion,
        input_elements: frame.elements_of(&code.inputs),
        calls_itself: limits.max_elements_off_device < u64::MAX
            && program.needs_recursion(sequential),
        // It takes a walk over the program, and matters to recursions that go on for long.
        copies: calls >= limits.min_observed_calls
            && callee.is_some_and(|callee| program.copies(callee, extent.single, limits)),
    }
}
