//! The choice between versions, and what is observed of recursion for it.

use crate::frame::{CallFrame, FlatProgram};
use crate::kernels::Work;
use nesl_core::flat::{Block, Let};
use nesl_core::ir::FunId;
use nesl_core::strategy::{Facts, Recursion, Strategy, Thresholds, Version};
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
    /// The observation with which one thread took over the last time.
    taken_over: Option<TakenOver>,
    /// The number of times that one thread has handed them back since the outermost of them began.
    handed_back: u32,
}

/// An observation of a recursion that was finished by one thread.
#[derive(Clone, Copy, Debug)]
struct TakenOver {
    recursion: Recursion,
    /// The number of elements of all arrays that were read.
    input_elements: u64,
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
            let taken_over = calls.taken_over;
            *calls = OpenCalls { before: work, taken_over, ..OpenCalls::default() };
        }
        calls.depth += 1;
        calls.begun += 1;
    }

    /// Records that a call of a loop begins that one thread has handed back: what was observed of it before is no guide to
    /// what follows.
    pub(super) fn handed_back(&self, id: FunId, work: Work) {
        let calls = &mut self.0.borrow_mut()[id.0 as usize];
        let (depth, handed_back) = (calls.depth + 1, calls.handed_back + 1);
        *calls = OpenCalls { depth, begun: 1, before: work, taken_over: None, handed_back };
    }

    /// Returns how much a turn of a loop that one thread takes over may make before it is handed back.
    pub(super) fn limit_of_turn(&self, id: FunId, limits: &Thresholds) -> i64 {
        let handed_back = self.0.borrow()[id.0 as usize].handed_back;
        let growth = limits.handed_back_growth.saturating_pow(handed_back);
        // An int of either precision.
        limits.min_handed_back_elements.saturating_mul(growth).min(i64::from(i32::MAX))
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
            work_items: work.work_items.saturating_sub(calls.before.work_items),
            light_items: work.light_items.saturating_sub(calls.before.light_items),
            launches: work.launches - calls.before.launches,
            moved: work.moved.saturating_sub(calls.before.moved),
        })
    }

    /// Returns what was observed of an earlier recursion of a function, which read as many elements and was
    /// finished by one thread.
    fn observed_earlier(&self, id: FunId, input_elements: u64) -> Option<Recursion> {
        let earlier = self.0.borrow()[id.0 as usize].taken_over?;
        (input_elements <= earlier.input_elements).then_some(earlier.recursion)
    }

    /// Records that one thread takes over a recursion.
    fn take_over(&self, id: FunId, recursion: Recursion, input_elements: u64) {
        self.0.borrow_mut()[id.0 as usize].taken_over =
            Some(TakenOver { recursion, input_elements });
    }
}

/// Chooses between the versions of a value.
///
/// A recursion that does as little as an earlier one, which one thread has finished after so many calls, is left to
/// one thread at once: a sweep over an array, say, in each step of a longer loop.
pub(super) fn choose(
    program: &FlatProgram,
    frame: &CallFrame<'_>,
    recursions: &RecursionLog,
    work: Work,
    (strategy, limits): (Strategy, &Thresholds),
    (binding, sequential, flattened): (&Let, &Block, &Block),
) -> Version {
    let code = program.version_code(binding, sequential, flattened, limits);
    let callee = code.called.filter(|id| program.is_recursive(*id));
    let observed = callee.and_then(|callee| recursions.observed(callee, work));
    let input_elements = frame.elements_of(&code.inputs);
    let extent = frame.extent(code.deciding_space);
    let facts = |recursion: Option<Recursion>| {
        let calls = recursion.map_or(0, |recursion| recursion.calls);
        Facts {
            elements: extent.count as u64,
            single: extent.single,
            map: code.map,
            one_kernel: code.one_kernel,
            orders_rows: code.orders_rows,
            recursion,
            input_elements,
            calls_itself: limits.max_elements_off_device < u64::MAX
                && program.needs_recursion(sequential),
            // It takes a walk over the program, and matters to recursions that go on for long.
            copies: calls >= limits.min_observed_calls
                && callee.is_some_and(|callee| program.copies(callee, extent.single, limits)),
            changes_rows: calls > 1
                && callee.is_some_and(|callee| program.changes_rows(callee, limits)),
            appends_results: calls > 1
                && callee.is_some_and(|callee| program.appends_results(callee)),
        }
    };
    let version = strategy.choose(&facts(observed), limits);
    let (Some(callee), Some(recursion)) = (callee, observed) else { return version };
    if version == Version::Sequential {
        recursions.take_over(callee, recursion, input_elements);
        return version;
    }
    match recursions.observed_earlier(callee, input_elements) {
        Some(earlier) => strategy.choose(&facts(Some(earlier)), limits),
        None => version,
    }
}
