//! The choice between the versions of a multi-versioned value.
//!
//! The choice is made when the elements of the index space have been counted, by a table of rules
//! over a few facts; the first rule that applies wins. Where there are elements enough to keep the
//! machine busy, each thread runs the sequential code for one, and intermediate values stay in
//! registers; where there are few elements and much inside each, the code is flattened; where there
//! is little to do in all, flattening costs more than it brings. Flattened code that is a single
//! launch storing nothing in between ([`is_map`]) loses nothing against sequential code.
//!
//! A version executed cooperatively by a warp or a thread block is one more variant of [`Version`]
//! and one more row of [`RULES`].

use super::Thresholds;
use super::loop_lengths::{Loop, loops};
use super::short_loops::{has_short_loops, longest_loop};
use crate::base::with_stack;
pub use crate::flat::Version;
use crate::flat::{Block, Kernel, Let, Op, Program, SpaceId, Step, rows_operation};
use crate::ir::{self, Atom, FunId, Var};
use rustc_hash::FxHashSet;

/// The policy by which versions are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// By the facts and the machine's thresholds.
    #[default]
    Auto,
    /// Always the same version, whatever it costs: to test both, and to compare them.
    Always(Version),
}

/// The facts that a choice between versions depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The number of elements of the index space.
    pub elements: u64,
    /// True for the one element of the host's own path, whose values are no arrays.
    pub single: bool,
    /// The flattened version is a map ([`is_map`]).
    pub map: bool,
    /// The flattened version is one kernel ([`is_one_kernel`]).
    pub one_kernel: bool,
    /// The flattened version orders or groups whole rows ([`orders_rows`]).
    pub orders_rows: bool,
    /// The observations of the recursion so far, if the value is that of a recursive call.
    pub recursion: Option<Recursion>,
    /// The number of elements of all arrays that are read.
    pub input_elements: u64,
    /// The sequential version calls functions that call themselves ([`recursive_when_sequential`]).
    pub calls_itself: bool,
    /// The flattened version copies arrays that the sequential version overwrites ([`Overwrites`](super::Overwrites)).
    pub copies: bool,
    /// The sequential version changes rows where they lie, which is most of what it does ([`rows`](super::Overwrites::rows)).
    pub changes_rows: bool,
    /// The sequential version appends the results of calls to what came before; flattened code copies them in each call.
    pub appends_results: bool,
}

/// The part of the facts that follows from the code of the versions alone.
#[derive(Clone, Debug)]
pub struct VersionCode {
    /// The index space whose elements decide.
    pub deciding_space: SpaceId,
    /// The function whose call the flattened version ends with, if it does.
    pub called: Option<FunId>,
    /// The flattened version is a map ([`is_map`]).
    pub map: bool,
    /// The flattened version is one kernel ([`is_one_kernel`]).
    pub one_kernel: bool,
    /// The flattened version orders or groups whole rows ([`orders_rows`]).
    pub orders_rows: bool,
    /// The variables that the flattened version uses and does not bind, each once.
    pub inputs: Vec<Var>,
}

impl VersionCode {
    /// Returns the facts of a value's versions.
    pub fn of(
        binding: &Let,
        sequential: &Block,
        flattened: &Block,
        limits: &Thresholds,
    ) -> VersionCode {
        let mut inputs = Vec::new();
        let mut seen = FxHashSet::default();
        flattened.each_let(&mut |binding| {
            seen.insert(binding.var);
        });
        flattened.each_use(&mut |var| {
            if seen.insert(var) {
                inputs.push(var);
            }
        });
        // Sequential code may fill tables instead.
        let mut fills_tables = false;
        sequential.each_let(&mut |step| {
            fills_tables |= matches!(&step.op, Op::Sequential(block) if block.makes_histogram());
        });
        VersionCode {
            deciding_space: deciding_space(binding, sequential),
            called: called_function(flattened),
            map: is_map(flattened, limits),
            one_kernel: is_one_kernel(flattened),
            orders_rows: orders_rows(flattened) && !fills_tables,
            inputs,
        }
    }
}

/// The observations of a recursive function since its outermost call began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recursion {
    /// The number of calls so far, at least one.
    pub calls: u64,
    /// The number of calls under way; calls in tail position take each other's place.
    pub depth: u64,
    /// The number of work items of all launches during these calls.
    pub work_items: u64,
    /// The number of those that are light ([`is_light`](super::is_light)).
    pub light_items: u64,
    /// The number of these launches.
    pub launches: u64,
    /// The number of elements that were copied as they are, and of those that one thread made.
    pub moved: u64,
}

impl Recursion {
    /// Returns true if so many calls have begun that their work can be extrapolated. As long as each began within
    /// the one before, their work may all be still to come, as in `let h = power(m, k / 2) in product(h, h)`.
    fn is_observed(&self, input_elements: u64, limits: &Thresholds) -> bool {
        let least = match self.depth < self.calls {
            true => limits.min_observed_calls,
            false => limits.min_observed_depth,
        };
        self.calls >= least || self.is_idle(input_elements, limits)
    }

    /// Returns true for a loop whose launches have had hardly any work so far: one in a loop that begins with little, say;
    /// and that one thread may copy what it is given for.
    fn is_idle(&self, input_elements: u64, limits: &Thresholds) -> bool {
        self.depth < self.calls
            && self.calls >= limits.min_idle_calls
            && self.launches >= self.calls
            && input_elements <= limits.max_idle_input_elements
            && self.work_items <= self.launches.saturating_mul(limits.idle_work_items_per_launch)
    }

    /// Returns true if one thread does the work of a call before its launches have begun.
    fn is_done_sooner_by_one_thread(&self, changes_rows: bool, limits: &Thresholds) -> bool {
        // Light elements weigh less beside launches, which are what sequential code saves, than in a call by itself.
        let heavy = self.work_items - self.light_items;
        let of_calls = self.calls.saturating_mul(limits.max_sequential_call_work_items);
        let light = self.light_items / limits.light_items_per_work_item;
        let of_launches = self.launches.saturating_mul(limits.sequential_work_items_per_launch);
        let light_part = limits.sequential_work_items_per_launch;
        let mut per_launch = limits.light_items_per_launch;
        if changes_rows {
            per_launch =
                per_launch.max(limits.changed_items_per_launch / limits.concurrent_threads);
        }
        let light_beside = self.light_items.saturating_mul(light_part) / per_launch;
        heavy + light < of_calls || heavy + light_beside < of_launches
    }
}

/// A row of the table of rules.
struct Rule {
    version: Version,
    applies: fn(&Facts, &Thresholds) -> bool,
}

/// The rules in order; the first that applies decides, and the last always applies.
const RULES: &[Rule] = &[
    // A recursion on the host's own path that has little to work on is finished by one thread.
    Rule {
        version: Version::Sequential,
        applies: |facts, limits| {
            has_few_inputs(facts, limits)
                && work_items_per_call(facts)
                    .is_some_and(|work_items| work_items < limits.min_flattened_elements)
        },
    },
    // So is one that does little time after time: a walk along an array, say.
    Rule {
        version: Version::Sequential,
        applies: |facts, limits| {
            let recursion = facts.recursion.filter(|_| facts.single);
            recursion.is_some_and(|recursion| {
                // A loop over a table does about as much in each turn, and one that appends has nothing to do later.
                let is_loop = facts.changes_rows || facts.appends_results;
                let is_observed = recursion.is_observed(facts.input_elements, limits)
                    || is_loop && recursion.calls > 1;
                is_observed && recursion.is_done_sooner_by_one_thread(facts.changes_rows, limits)
            })
        },
    },
    // So is one that would copy in each call much more than it computes.
    Rule {
        version: Version::Sequential,
        applies: |facts, limits| {
            let recursion = facts
                .recursion
                .filter(|recursion| facts.copies && recursion.calls >= limits.min_observed_calls);
            recursion.is_some_and(|recursion| {
                let work_items = recursion.work_items.div_ceil(recursion.calls).max(1);
                let most = work_items.saturating_mul(limits.max_copied_elements_per_work_item);
                facts.input_elements > most
            })
        },
    },
    // So is one that moves much more than it computes: it copies what it is given, to change it.
    Rule {
        version: Version::Sequential,
        applies: |facts, limits| {
            let recursion = facts.recursion.filter(|recursion| facts.single && recursion.calls > 1);
            recursion.is_some_and(|recursion| {
                let most = recursion.work_items.max(1);
                let most = most.saturating_mul(limits.max_moved_elements_per_work_item);
                // Before it is changed for the first time, what is not owned is copied in any version.
                let moved = recursion.moved.saturating_sub(facts.input_elements);
                moved > most.max(limits.min_moved_elements)
            })
        },
    },
    // One thread alone would leave the rest of the machine idle.
    Rule { version: Version::Flattened, applies: |facts, _| facts.single },
    // A map keeps its intermediate values in registers in either version.
    Rule {
        version: Version::Flattened,
        applies: |facts, limits| facts.map && !has_few_inputs(facts, limits),
    },
    // A thread of a device takes long for one long row among short ones, and one kernel over all elements
    // costs hardly more than a thread for each row.
    Rule {
        version: Version::Flattened,
        applies: |facts, limits| {
            (facts.one_kernel || facts.map) && limits.max_elements_of_small_work_item > 0
        },
    },
    // Launches for each step would cost more than the work.
    Rule { version: Version::Sequential, applies: has_few_inputs },
    // Intrinsics for all rows at once balance them, however unequal they are, and allocate nothing for
    // each. Rows of a few elements are ordered faster where they lie, and stay in registers or the cache.
    Rule {
        version: Version::Flattened,
        applies: |facts, limits| {
            let mean_at_least = facts.elements.saturating_mul(limits.min_ordered_row_elements);
            facts.orders_rows && facts.input_elements >= mean_at_least
        },
    },
    // A device that cannot execute the sequential version would have to send its arrays away.
    Rule {
        version: Version::Flattened,
        applies: |facts, limits| {
            let calls = facts.recursion.map_or(0, |recursion| recursion.calls);
            facts.calls_itself
                && facts.input_elements > limits.max_elements_off_device
                && calls < limits.max_calls_on_device
        },
    },
    // A work item with little to do is done before a launch for each step would have begun.
    Rule {
        version: Version::Sequential,
        applies: |facts, limits| {
            let each = limits.max_elements_of_small_work_item;
            facts.input_elements <= facts.elements.saturating_mul(each)
        },
    },
    // There are elements enough for every thread.
    Rule {
        version: Version::Sequential,
        applies: |facts, limits| {
            facts.elements >= limits.concurrent_threads * limits.min_work_items_per_thread
        },
    },
    Rule { version: Version::Flattened, applies: |_, _| true },
];

/// Returns true if there are too few elements for flattened code, in the arrays that are read and in the index space,
/// which may be a range that is not stored.
fn has_few_inputs(facts: &Facts, limits: &Thresholds) -> bool {
    facts.input_elements.max(facts.elements) < limits.min_flattened_elements
}

/// Returns the mean number of work items of a call, for a recursion on the host's own path.
fn work_items_per_call(facts: &Facts) -> Option<u64> {
    let recursion = facts.recursion.filter(|_| facts.single)?;
    Some(recursion.work_items / recursion.calls.max(1))
}

impl Strategy {
    /// Returns the version to run.
    pub fn choose(self, facts: &Facts, limits: &Thresholds) -> Version {
        match self {
            Strategy::Auto => {
                let rule = RULES.iter().find(|rule| (rule.applies)(facts, limits));
                rule.map_or(Version::Flattened, |rule| rule.version)
            }
            Strategy::Always(version) => version,
        }
    }
}

/// Returns true if flattened code is a map: descriptors apart, one kernel over all inner elements,
/// each of which contributes its part of the result by itself. Such code stores nothing that the
/// sequential version would have kept in registers.
pub fn is_map(flattened: &Block, limits: &Thresholds) -> bool {
    let Some(Step::Let(Let { var, space: outside, op: Op::Collect { value, from }, .. })) =
        flattened.steps.last()
    else {
        return false;
    };
    let mut inner = 0;
    let plain = flattened.steps.iter().rev().skip(1).all(|step| match step {
        Step::Space(_) => true,
        Step::Let(binding) => {
            inner += 1;
            *value == Atom::Var(binding.var) && is_scalar_versions(binding, *from, limits)
        }
        Step::Kernel(kernel) if kernel.space == *outside => {
            kernel.lets.iter().all(|binding| is_elementwise(binding, limits))
        }
        Step::Kernel(kernel) => {
            inner += 1;
            kernel.space == *from
                && kernel.masks.is_empty()
                && kernel.stores.iter().all(|(var, _)| *value == Atom::Var(*var))
                && kernel.lets.iter().all(|binding| {
                    // Rows that are only read are views.
                    let is_view = binding.is_local() && *value != Atom::Var(binding.var);
                    is_elementwise(binding, limits) && (is_view || !binding.ty.has_sequence())
                })
        }
    });
    plain && inner == 1 && flattened.result == Atom::Var(*var)
}

/// Returns true if a value of an index space has versions of which the sequential one is a kernel that stores
/// a scalar for each element, and has short loops only.
fn is_scalar_versions(binding: &Let, space: SpaceId, limits: &Thresholds) -> bool {
    let Op::Versions { sequential, .. } = &binding.op else { return false };
    let is_short = |binding: &Let| match &binding.op {
        Op::Sequential(block) => has_short_loops(block, limits.max_short_loop_iterations),
        _ => is_elementwise(binding, limits),
    };
    let [Step::Kernel(kernel)] = &sequential.steps[..] else { return false };
    binding.space == space
        && !binding.ty.has_sequence()
        && kernel.space == space
        && kernel.lets.iter().all(is_short)
}

/// The work items that each element of a kernel counts as when the work of a call is observed.
#[derive(Clone, Debug, PartialEq)]
pub enum ElementWork {
    /// So many: its loops are short, or the host does not know their lengths.
    Items(u64),
    /// One for each iteration of these loops.
    Loops(Vec<Loop>),
    /// At most one for each iteration of these loops, which only some elements may execute.
    SomeLoops(Vec<Loop>),
}

/// Returns the work items that each element of a kernel counts as when the work of a call is observed.
pub fn element_work(kernel: &Kernel, limits: &Thresholds) -> ElementWork {
    let mut items = 1;
    for step in &kernel.lets {
        let Op::Sequential(block) = &step.op else { continue };
        match longest_loop(block, limits.max_short_loop_iterations) {
            Some(iterations) => items = items.max(iterations as u64),
            None => {
                let unknown = ElementWork::Items(limits.sequential_thread_work_items);
                return match loops(kernel) {
                    None => unknown,
                    Some((loops, false)) => ElementWork::Loops(loops),
                    Some((loops, true)) => ElementWork::SomeLoops(loops),
                };
            }
        }
    }
    ElementWork::Items(items)
}

/// Returns true if flattened code is one kernel, beside descriptors and elements that lie there already: it
/// needs no sizes in between, and stores nothing but results.
pub fn is_one_kernel(flattened: &Block) -> bool {
    let mut kernels = 0;
    let plain = flattened.steps.iter().all(|step| match step {
        Step::Space(_) => true,
        Step::Let(binding) => matches!(binding.op, Op::Collect { .. }),
        Step::Kernel(kernel) => {
            let is_read = |step: &Let| matches!(step.op, Op::Element { .. } | Op::Position { .. });
            kernels += usize::from(!kernel.lets.iter().all(is_read));
            kernel.masks.is_empty()
                && kernel.counts.is_empty()
                && rows_operation(kernel).is_none()
                && !kernel.lets.iter().any(|step| matches!(step.op, Op::Sequential(_)))
        }
    });
    plain && kernels == 1
}

/// Returns true if flattened code orders or groups the rows of its elements, and is otherwise made of kernels
/// over all inner elements alike: no calls and no conditionals that divide its elements.
pub fn orders_rows(flattened: &Block) -> bool {
    let mut orders = false;
    let plain = flattened.steps.iter().all(|step| match step {
        Step::Space(_) => true,
        Step::Let(binding) => matches!(binding.op, Op::Collect { .. }),
        Step::Kernel(kernel) => match rows_operation(kernel) {
            Some(operation) => {
                orders |= operation.is_ordering();
                true
            }
            None => !kernel.lets.iter().any(|step| matches!(step.op, Op::Sequential(_))),
        },
    });
    plain && orders
}

/// Returns true if each element computes a step for itself, with a bounded number of operations.
fn is_elementwise(binding: &Let, limits: &Thresholds) -> bool {
    match &binding.op {
        Op::Map(ir::Op::If { then, otherwise, .. }) => {
            [then, otherwise].iter().all(|side| side.lets.len() <= limits.max_map_side_operations)
        }
        _ => binding.is_local(),
    }
}

/// Returns the index space whose elements decide between the versions of a value: that of the
/// sequential kernel where the value is computed from all elements of a space, and the value's own
/// otherwise.
pub fn deciding_space(binding: &Let, sequential: &Block) -> SpaceId {
    let kernel_space = |step: &Step| match step {
        Step::Kernel(kernel) => {
            let sequential = kernel.lets.iter().any(|inner| matches!(inner.op, Op::Sequential(_)));
            sequential.then_some(kernel.space)
        }
        Step::Space(_) | Step::Let(_) => None,
    };
    sequential.steps.iter().find_map(kernel_space).unwrap_or(binding.space)
}

/// Returns the function whose call flattened code ends with, if it does.
pub fn called_function(flattened: &Block) -> Option<FunId> {
    match flattened.steps.last() {
        Some(Step::Let(Let { op: Op::Call(callee, _), .. })) => Some(*callee),
        _ => None,
    }
}

/// Returns for each function whether its flattened code can reach a call of itself.
pub fn recursive(program: &Program) -> Vec<bool> {
    let count = program.functions.len();
    let mut calls: Vec<Vec<FunId>> = vec![Vec::new(); count];
    for (function, calls) in program.functions.iter().zip(&mut calls) {
        if let Some(function) = function {
            function.body.each_let(&mut |binding| {
                if let Op::Call(callee, _) = binding.op {
                    calls.push(callee);
                }
            });
        }
    }
    let reaches_itself = |start: usize| {
        let mut seen = vec![false; count];
        let mut open: Vec<FunId> = calls[start].clone();
        while let Some(at) = open.pop() {
            let at = at.0 as usize;
            if at == start {
                return true;
            }
            if !std::mem::replace(&mut seen[at], true) {
                open.extend(&calls[at]);
            }
        }
        false
    };
    (0..count).map(reaches_itself).collect()
}

/// Returns for each function of a program whether sequential code that calls it reaches a function that
/// calls itself, other than in tail position: such a call becomes a loop.
pub fn recursive_when_sequential(program: &ir::Program) -> Vec<bool> {
    let callees = |(at, function): (usize, &ir::Function)| {
        let mut callees = Vec::new();
        each_callee(&function.body, FunId(at as u32), true, &mut callees);
        callees
    };
    let calls: Vec<Vec<FunId>> = program.functions.iter().enumerate().map(callees).collect();
    let reached = |start: usize| {
        let mut seen = vec![false; calls.len()];
        let mut open = calls[start].clone();
        while let Some(FunId(at)) = open.pop() {
            if !std::mem::replace(&mut seen[at as usize], true) {
                open.extend(&calls[at as usize]);
            }
        }
        seen
    };
    let reached: Vec<Vec<bool>> = (0..calls.len()).map(reached).collect();
    let is_recursive = |at: usize| reached[at][at];
    (0..calls.len())
        .map(|at| {
            is_recursive(at) || (0..calls.len()).any(|to| reached[at][to] && is_recursive(to))
        })
        .collect()
}

/// Visits the functions that a block calls; calls of the function itself in tail position, if the block
/// is in one, are left out.
fn each_callee(block: &ir::Block, own: FunId, is_tail: bool, callees: &mut Vec<FunId>) {
    with_stack(|| {
        for binding in &block.lets {
            let is_tail = is_tail && block.result == Atom::Var(binding.var);
            match &binding.op {
                ir::Op::Call(callee, _) if is_tail && *callee == own => {}
                ir::Op::Call(callee, _) => callees.push(*callee),
                ir::Op::If { then, otherwise, .. } => {
                    each_callee(then, own, is_tail, callees);
                    each_callee(otherwise, own, is_tail, callees);
                }
                op => op.blocks().for_each(|block| each_callee(block, own, false, callees)),
            }
        }
    });
}

/// Returns true if the sequential version of a value calls one of the functions that are marked.
pub fn calls_any(sequential: &Block, marked: &[bool]) -> bool {
    let mut found = false;
    sequential.each_let(&mut |binding| {
        if let Op::Sequential(block) = &binding.op {
            block.for_each_op(&mut |op| {
                found |= matches!(op, ir::Op::Call(callee, _) if marked[callee.0 as usize]);
            });
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::{Facts, Recursion, Strategy, Version, recursive_when_sequential};
    use crate::strategy::Thresholds;

    const MANY: Facts = Facts {
        elements: 64,
        single: false,
        map: false,
        one_kernel: false,
        orders_rows: false,
        recursion: None,
        input_elements: 1 << 20,
        calls_itself: false,
        copies: false,
        changes_rows: false,
        appends_results: false,
    };

    fn one_call() -> Recursion {
        Recursion { calls: 1, depth: 1, work_items: 20, light_items: 0, launches: 0, moved: 0 }
    }

    fn choose(facts: Facts) -> Version {
        let limits = Thresholds { concurrent_threads: 8, ..Thresholds::default() };
        Strategy::Auto.choose(&facts, &limits)
    }

    #[test]
    fn enough_elements_for_every_thread_are_not_flattened() {
        assert_eq!(choose(MANY), Version::Sequential);
        assert_eq!(choose(Facts { elements: 63, ..MANY }), Version::Flattened);
    }

    #[test]
    fn little_work_is_not_flattened() {
        assert_eq!(choose(Facts { elements: 2, input_elements: 1, ..MANY }), Version::Sequential);
    }

    #[test]
    fn a_large_map_is_always_flattened() {
        assert_eq!(choose(Facts { map: true, ..MANY }), Version::Flattened);
    }

    #[test]
    fn rows_are_ordered_all_at_once_unless_they_are_short() {
        let rows = Facts { elements: 1 << 16, orders_rows: true, ..MANY };
        assert_eq!(choose(rows), Version::Flattened);
        assert_eq!(choose(Facts { input_elements: (1 << 20) - 1, ..rows }), Version::Sequential);
    }

    #[test]
    fn the_host_path_leaves_only_small_recursions_to_one_thread() {
        let single = Facts { elements: 1, single: true, input_elements: 10, ..MANY };
        assert_eq!(choose(single), Version::Flattened);
        let recursion = Some(Recursion { calls: 2, depth: 2, ..one_call() });
        assert_eq!(choose(Facts { recursion, ..single }), Version::Sequential);
        let large = Facts { recursion, input_elements: 1 << 20, ..single };
        assert_eq!(choose(large), Version::Flattened);
        let walk = Recursion { calls: 16, work_items: 160, ..one_call() };
        let choose_large = |recursion| choose(Facts { recursion: Some(recursion), ..large });
        assert_eq!(choose_large(walk), Version::Sequential);
        let descent = Recursion { depth: 16, ..walk };
        assert_eq!(choose_large(descent), Version::Flattened);
        let busy = Recursion { work_items: 16 << 11, ..walk };
        assert_eq!(choose_large(busy), Version::Flattened);
        let of_many_launches = Recursion { launches: 16 * 5, ..busy };
        assert_eq!(choose_large(of_many_launches), Version::Sequential);
        let light = Recursion { light_items: 16 << 11, launches: 16, ..busy };
        assert_eq!(choose_large(light), Version::Sequential);
        let idle = Recursion { calls: 3, work_items: 40, launches: 4, ..one_call() };
        let few = Facts { recursion: Some(idle), input_elements: 1 << 17, ..single };
        assert_eq!(choose(few), Version::Sequential);
        assert_eq!(choose_large(idle), Version::Flattened);
        let begun = Recursion { work_items: 100, ..idle };
        assert_eq!(choose(Facts { recursion: Some(begun), ..few }), Version::Flattened);
        let long = Recursion { calls: 64, depth: 64, work_items: 640, ..one_call() };
        assert_eq!(choose_large(long), Version::Sequential);
    }

    #[test]
    fn a_loop_that_changes_rows_where_they_lie_is_not_flattened() {
        let turn = Recursion {
            calls: 2,
            work_items: 1 << 17,
            light_items: 1 << 17,
            launches: 2,
            ..one_call()
        };
        let rows = Facts { elements: 1, single: true, recursion: Some(turn), ..MANY };
        assert_eq!(choose(rows), Version::Flattened);
        let changed = Facts { changes_rows: true, ..rows };
        assert_eq!(choose(changed), Version::Sequential);
        assert_eq!(choose(Facts { appends_results: true, ..rows }), Version::Flattened);
        let walk = Some(Recursion { light_items: 2, work_items: 2, ..turn });
        let list = Facts { appends_results: true, recursion: walk, ..rows };
        assert_eq!(choose(list), Version::Sequential);
        let first = Some(Recursion { calls: 1, ..turn });
        assert_eq!(choose(Facts { recursion: first, ..changed }), Version::Flattened);
        // What takes long for each element, and a large table, are for all threads.
        let heavy = Some(Recursion { light_items: 0, ..turn });
        assert_eq!(choose(Facts { recursion: heavy, ..changed }), Version::Flattened);
        let large = Some(Recursion { work_items: 1 << 22, light_items: 1 << 22, ..turn });
        assert_eq!(choose(Facts { recursion: large, ..changed }), Version::Flattened);
    }

    #[test]
    fn a_loop_that_would_copy_its_tables_is_not_flattened() {
        let recursion = Some(Recursion { calls: 16, work_items: 16 << 12, ..one_call() });
        let rows = Facts { elements: 1, single: true, recursion, ..MANY };
        assert_eq!(choose(rows), Version::Flattened);
        assert_eq!(choose(Facts { copies: true, ..rows }), Version::Sequential);
        let few = Recursion { calls: 15, work_items: 15 << 12, ..one_call() };
        assert_eq!(
            choose(Facts { copies: true, recursion: Some(few), ..rows }),
            Version::Flattened
        );
        let much = Recursion { calls: 16, work_items: 16 << 16, ..one_call() };
        assert_eq!(
            choose(Facts { copies: true, recursion: Some(much), ..rows }),
            Version::Flattened
        );
        let nested = Facts { elements: 4, single: false, copies: true, ..rows };
        assert_eq!(choose(nested), Version::Sequential);
    }

    #[test]
    fn a_loop_that_moves_more_than_it_computes_is_not_flattened() {
        let copying = Recursion { calls: 2, moved: 2 << 20, ..one_call() };
        let loops = Facts { elements: 1, single: true, recursion: Some(copying), ..MANY };
        assert_eq!(choose(loops), Version::Sequential);
        let others = [
            Recursion { calls: 1, ..copying },
            Recursion { moved: 1 << 20, ..copying },
            Recursion { work_items: 1 << 16, ..copying },
        ];
        for recursion in others.map(Some) {
            assert_eq!(choose(Facts { recursion, ..loops }), Version::Flattened);
        }
    }

    #[test]
    fn what_callees_overwrite_callers_do() {
        let text = r#"main "main"

fn "main"() -> int {
  1
}

fn "rows"(v0: [[int]], v1: int) -> [[int]] {
  v2: [[int]] = call "row"(v0, v1)
  v3: [[int]] = call "rows"(v2, v1)
  v3
}

fn "row"(v0: [[int]], v1: int) -> [[int]] {
  v2: [int] = list(v1)
  v3: [[int]] = replace(v0, v2, v1)
  v3
}

fn "inside"(v0: [int]) -> [[int]] {
  v1: [[int]] = each v2: int in v0 {
    v3: [int] = range(0, 1, v2)
    v4: [int] = replace(v3, 7, 0)
    v4
  }
  v1
}

fn "array"(v0: [int]) -> [int] {
  v1: [int] = replace(v0, 7, 0)
  v1
}
"#;
        let program = crate::ir::parse(text).expect("the text is well-formed");
        let found = crate::strategy::overwrites(&program);
        let found: Vec<_> = found.iter().map(|found| (found.arrays, found.tables)).collect();
        let (none, arrays, tables) = ((false, false), (true, false), (false, true));
        assert_eq!(found, [none, tables, tables, none, arrays]);
    }

    #[test]
    fn a_device_balances_rows_where_that_takes_one_kernel() {
        let rows = Facts { one_kernel: true, input_elements: 1 << 12, elements: 1 << 10, ..MANY };
        let on_device = Thresholds { max_elements_of_small_work_item: 64, ..Thresholds::default() };
        assert_eq!(Strategy::Auto.choose(&rows, &on_device), Version::Flattened);
        assert_eq!(Strategy::Auto.choose(&rows, &Thresholds::default()), Version::Sequential);
        let more = Facts { one_kernel: false, ..rows };
        assert_eq!(Strategy::Auto.choose(&more, &on_device), Version::Sequential);
    }

    #[test]
    fn much_data_stays_on_a_device_that_refuses_recursion() {
        let choose_within = |facts: &Facts, max_elements_off_device| {
            let limits = Thresholds { max_elements_off_device, ..Thresholds::default() };
            Strategy::Auto.choose(facts, &limits)
        };
        let divide = Facts { calls_itself: true, elements: 1 << 14, ..MANY };
        assert_eq!(choose_within(&divide, u64::MAX), Version::Sequential);
        assert_eq!(choose_within(&divide, 1 << 18), Version::Flattened);
        assert_eq!(choose_within(&divide, 1 << 20), Version::Sequential);
        let other = Facts { calls_itself: false, ..divide };
        assert_eq!(choose_within(&other, 1 << 18), Version::Sequential);
        let walk = Some(Recursion { calls: 100, work_items: 1 << 20, ..one_call() });
        assert_eq!(
            choose_within(&Facts { recursion: walk, ..divide }, 1 << 18),
            Version::Sequential
        );
    }

    #[test]
    fn a_loop_is_no_recursion() {
        let text = r#"main "main"

fn "main"() -> int {
  v0: int = call "walk"(3)
  v1: int = call "above"(v0)
  v1
}

fn "walk"(v0: int) -> int {
  v1: bool = lt(v0, 1)
  v2: int = if v1 {
    v0
  } else {
    v3: int = sub(v0, 1)
    v4: int = call "walk"(v3)
    v4
  }
  v2
}

fn "above"(v0: int) -> int {
  v1: int = call "fib"(v0)
  v1
}

fn "fib"(v0: int) -> int {
  v1: int = sub(v0, 1)
  v2: int = call "fib"(v1)
  v3: int = add(v2, v0)
  v3
}
"#;
        let program = crate::ir::parse(text).expect("the text is well-formed");
        let found = recursive_when_sequential(&program);
        let names = program.functions.iter().zip(found).filter(|(_, found)| *found);
        let names: Vec<&str> = names.map(|(function, _)| &*function.name).collect();
        assert_eq!(names, ["main", "above", "fib"]);
    }

    #[test]
    fn a_forced_version_ignores_the_facts() {
        let forced = Strategy::Always(Version::Flattened);
        assert_eq!(forced.choose(&MANY, &Thresholds::default()), Version::Flattened);
    }
}
