//! Vector code: several elements, or iterations of a loop, at a time.
//!
//! ```text
//! groups of elements    while a whole group is left and no check of it fails
//! single elements       the rest; a group in which a check fails, to find the first
//! ```
//!
//! | module | |
//! |---|---|
//! | [`kir::vectorize`](nesl_runtime::kir::vectorize) | the analysis: what can be vectorised, and pays off |
//! | `target` | the vector instructions of the machine |
//! | `lanes` | values of a group of elements |
//! | `ops`, `control` | instructions on them; divergent control under masks |
//! | `checks` | tests that decide for several checks |
//! | `uniform_cases` | bools that are true for all elements, or for none |
//! | `index_sets` | groups for which the conditions of a border are known |
//! | `divide` | high words of products, divisions by constants |
//! | `histogram` | the buckets of histograms
//! | `pack` | the elements that filters keep |
//! | `loops` | vectorised loops (strip-mining) |
//! | `outline` | loops as functions of their own, with wide vectors |
//! | `unroll_and_jam` | several iterations of an outer loop that share the loads of an inner one |
//! | `multiple_accumulators` | a long reduction in independent streams |
//! | `interleave_rows` | the reductions of several rows at a time |
//! | `tile`, `interleave_segments` | cache blocking of column sums |

mod checks;
mod control;
mod divide;
mod histogram;
mod index_sets;
mod interleave_rows;
mod interleave_segments;
mod lanes;
pub mod loops;
mod multiple_accumulators;
mod ops;
pub mod outline;
mod pack;
mod reciprocal;
mod search;
mod target;
mod tile;
mod uniform_cases;
mod unroll_and_jam;

use super::emitter::{FunctionEmitter, Loop};
use super::kernel::{ElementRange, KernelBuilder};
use super::machine::VECTOR_BYTES;
use super::phases::{Role, Task};
use super::sinks::SinkContext;
use super::stage_groups::StageGroup;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder};
use cranelift_codegen::packed_option::ReservedValue;
use index_sets::{InnerGroups, Inside};
use lanes::{Lanes, VectorEmitter};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::division::has_high_products;
use nesl_runtime::kir::index_sets::{Assumptions, IndexSet};
use nesl_runtime::kir::uniformity::Uniformity;
use nesl_runtime::kir::vectorize::{Analysis, NotVectorizable, Surroundings, VectorFacts};
use nesl_runtime::kir::walk;
use nesl_runtime::kir::{Combine, Inst, Op, Sink, Ty, Value, ValueTy};
use smallvec::smallvec;
use target::converts;
use tile::TilePlan;

/// The state of a sink in the loop over groups.
enum SinkState {
    /// The state of single elements.
    Scalar(ir::Value),
    /// A state for each lane; the lanes are combined at the end.
    PerLane(Combine, Ty, Lanes),
}

/// The number of elements of a group: as many vectors for each value as there are registers for.
fn group_elements(facts: &VectorFacts) -> usize {
    if facts.only_byte_lanes {
        return match facts.register_pressure {
            0..=3 => 64,
            4..=7 => 32,
            _ => 16,
        };
    }
    match (facts.has_wide_lanes, facts.register_pressure) {
        (false, 0..=3) => 16,
        (false, 4..=8) => 8,
        (true, 0..=4) => 8,
        (_, _) => 4,
    }
}

/// The number of elements of a group in wide code: a vector or two for each value.
fn wide_group_elements(facts: &VectorFacts, vector_bytes: usize, registers: usize) -> usize {
    let lanes = if facts.has_wide_lanes { vector_bytes / 8 } else { vector_bytes / 4 };
    // The padding of memory is a vector.
    let one = facts.loads_under_mask || facts.register_pressure > registers / REGISTERS_PER_VALUE;
    if one { lanes } else { 2 * lanes }
}

/// The registers there must be for each value that is live at a time, so that it may have two vectors.
const REGISTERS_PER_VALUE: usize = 2;

/// Wide code of at most this many instructions is followed by groups of the usual number of elements, and code with
/// loops by smaller and smaller ones.
const MAX_SMALL_GROUP_INSTRUCTIONS: usize = 64;

/// Wider vectors gain nothing if more than this part of the operations is done lane by lane.
const MAX_PART_BY_LANE: u64 = 8;

/// Wide vectors pack a vector, or the mask of what is kept, with about so many operations.
const PACK_OPERATIONS: usize = 3;

/// The addresses of a histogram's buckets take about so many operations.
const ADDRESS_OPERATIONS: usize = 3;

/// Returns true if wide code packs columns by permutations: all have elements of one size, four or eight bytes.
fn permutes(c: &FunctionEmitter<'_, '_>, columns: &[(Value, Value)]) -> bool {
    let size = |(_, array): &(Value, Value)| match c.element_ty(*array) {
        Ty::Bool | Ty::U8 => 0,
        ty => ty.size(),
    };
    let first = columns.first().map_or(0, size);
    c.unit.wide_registers > 0
        && !c.unit.packs_lanes
        && first > 0
        && columns.iter().all(|column| size(column) == first)
}

/// Code with fewer operations for each element is bound by memory, or not worth another compilation.
const MIN_WIDE_OPERATIONS: u64 = 4;

impl FunctionEmitter<'_, '_> {
    /// Notes whether vector code gains from wider vectors.
    pub fn judge_width(&mut self, facts: &VectorFacts) {
        let [by_lane, vectors] = facts.operations;
        if facts.only_byte_lanes {
            self.refuses_width = Some("bytes are in vectors of their own");
        } else if by_lane * MAX_PART_BY_LANE > vectors && !self.is_left_over {
            self.refuses_width = Some("much is done lane by lane");
        }
        self.gains_from_width |= vectors >= MIN_WIDE_OPERATIONS;
    }
}

/// The least contiguous memory that elements executed together read, in cache lines: less is not
/// worth pages and prefetching.
const MIN_STREAM_CACHE_LINES: usize = 8;

/// The number of elements that are executed together where they stream through memory.
fn streamed_elements(facts: &VectorFacts) -> usize {
    MIN_STREAM_CACHE_LINES * if facts.has_wide_lanes { 8 } else { 16 }
}

/// The least number of elements of tiles for a thread, if there are so many: contiguous memory of two
/// pages or more. (Of 2,048 columns in eight chunks each read half a page of every row, and took half
/// as long again.)
const MIN_TILED_ELEMENTS: usize = 1024;

impl<'a> KernelBuilder<'a, '_> {
    /// Emits groups of the elements of a range, while a whole group is left. Returns the first single
    /// element, the state of the sinks there, and the groups inside a set for which alone the code is vectorised.
    pub fn vector_elements(
        &mut self,
        group: &StageGroup<'a>,
        range: ElementRange,
        state: Vec<ir::Value>,
    ) -> (ir::Value, Vec<ir::Value>, Option<GroupsInside<'a>>) {
        let facts = self.facts(group);
        let code = group.code.iter().flatten().copied();
        let packs = |task: &Task<'_>| matches!(task.sink, Sink::Pack { .. });
        let differs = has_high_products(code.clone()) || group.tasks.iter().any(packs);
        let wide = (!self.c.is_wide() && differs)
            .then(|| self.facts_with(group, true, None).ok())
            .flatten();
        let Ok(facts) = facts else {
            // Wide vectors may do what others would do lane by lane.
            wide.iter().for_each(|facts| self.c.judge_width(facts));
            let inside = self.groups_inside(group, range);
            self.has_serial_loops |= inside.is_none() && has_serial_loops(group);
            return (range.lo, state, inside);
        };
        let tiles = TilePlan::of(code, &facts, &self.c);
        if let Some(plan) = tiles.filter(|_| group.tasks.iter().all(|t| t.role == Role::Skip)) {
            self.group_elements = self.group_elements.max(MIN_TILED_ELEMENTS);
            let space = tile::Space { names: &self.kernel.indices, range, elements: true };
            return (self.c.tiles(&plan, &facts, space), state, None);
        }
        let mut inside = self.inside(group, Some(&facts));
        let usual = inside.as_ref().map_or(&facts, |inside| &inside.facts);
        self.c.judge_width(wide.as_ref().unwrap_or(usual));
        let (mut lo, mut state) = (range.lo, state);
        let mut sizes = self.group_sizes(group, &facts, range);
        if facts.streams && !facts.only_byte_lanes && !group.tasks.iter().any(Task::has_state) {
            // Each element that is left over goes through all of the memory by itself.
            let most = streamed_elements(&facts);
            sizes = vec![most, most / 4, most / 16];
            self.group_elements = self.group_elements.max(most);
        } else if has_loops(group) {
            // One that is left over may take as long as a whole group.
            self.group_elements = sizes.iter().copied().fold(self.group_elements, usize::max);
            let mut length = 0;
            let code = group.code.iter().flatten();
            code.for_each(|inst| {
                length += 1 + inst.op.blocks().map(walk::count_insts).sum::<usize>()
            });
            if length <= MAX_SMALL_GROUP_INSTRUCTIONS && !self.is_ordered(group) {
                let least = facts.min_elements.max(if facts.has_wide_lanes { 2 } else { 4 });
                let last = sizes.last().copied().unwrap_or(least);
                sizes.extend((1..).map(|n| last >> n).take_while(|elements| *elements >= least));
            }
        }
        for elements in sizes {
            let range = ElementRange { lo, ..range };
            let code = GroupCode { group, facts: &facts, assumed: None, inside: inside.take() };
            (lo, state) = self.groups_of(elements, code, range, &state);
        }
        (lo, state, None)
    }

    /// The set of elements for which the code of a group of stages is simpler, if there is one; beside code for all
    /// elements with these facts.
    fn inside(&self, group: &StageGroup<'a>, beside: Option<&VectorFacts>) -> Option<Inside<'a>> {
        let elements = element_numbers(&self.kernel.indices);
        let results = group.tasks.iter().filter_map(Task::result);
        let code = group.code.iter().flatten().copied();
        let around = self.before.iter().copied();
        let set = IndexSet::of(code, around, elements, results, self.c.types)?;
        let mut facts = self.facts_with(group, self.c.is_wide(), Some(&set.assumptions)).ok()?;
        let shared = beside.is_none_or(|beside| facts.share_lanes(beside));
        shared.then_some(Inside { set, facts })
    }

    /// Emits what finds the groups inside a set for which alone the code is vectorised.
    fn groups_inside(
        &mut self,
        group: &StageGroup<'a>,
        range: ElementRange,
    ) -> Option<GroupsInside<'a>> {
        let inside = self.inside(group, None).filter(|_| !self.is_ordered(group))?;
        self.c.judge_width(&inside.facts);
        let elements = self.group_sizes(group, &inside.facts, range)[0];
        let names = &self.kernel.indices;
        let bail = ir::Block::reserved_value();
        let mut vector = VectorEmitter::new(&mut self.c, inside.facts.clone(), elements, bail);
        let numbers = numbers(&mut vector, names, range, range.lo);
        let groups = vector.inner_groups(inside, [range.lo, range.hi], numbers.into_iter());
        let first = vector.first_inside(&groups);
        Some(GroupsInside { elements, groups, first })
    }

    /// Emits, in the loop over single elements, the loop over the groups inside a set, when its first element is
    /// reached. `looped` carries the number of that element as its last value.
    pub fn vector_inside(
        &mut self,
        inside: &GroupsInside<'a>,
        group: &StageGroup<'a>,
        range: ElementRange,
        looped: &Loop,
    ) {
        let [index, state @ .., first] = &looped.carried[..] else {
            bug!("a loop with groups inside carries their beginning")
        };
        let (groups, single) = (self.c.b.create_block(), self.c.b.create_block());
        let reached = self.c.b.ins().icmp(IntCC::Equal, *index, *first);
        self.c.b.ins().brif(reached, groups, &[], single, &[]);
        self.c.b.switch_to_block(groups);
        let facts = &inside.groups.inside.facts;
        let code = GroupCode { group, facts, assumed: Some(&inside.groups), inside: None };
        let range = ElementRange { lo: *index, hi: inside.groups.end, ..range };
        let (index, state) = self.groups_of(inside.elements, code, range, state);
        let mut next = vec![index];
        next.extend(state);
        next.push(self.c.int(-1));
        self.c.jump(looped.head, &next);
        self.c.b.switch_to_block(single);
    }

    /// Returns true if floats are combined: their order must not depend on the width.
    fn is_ordered(&self, group: &StageGroup<'a>) -> bool {
        group.tasks.iter().any(|task| match task.sink {
            Sink::Reduce { value, .. } | Sink::Scan { value, .. } => {
                task.has_state() && self.c.element_ty(*value).is_float()
            }
            _ => false,
        })
    }

    /// The numbers of elements of groups, the largest first.
    fn group_sizes(
        &self,
        group: &StageGroup<'a>,
        facts: &VectorFacts,
        range: ElementRange,
    ) -> Vec<usize> {
        let usual = group_elements(facts);
        let narrow = self.c.vector_bytes == VECTOR_BYTES || facts.only_byte_lanes;
        if narrow || self.is_ordered(group) {
            return vec![usual];
        }
        let length: usize = group.code.iter().map(Vec::len).sum();
        let registers = self.c.unit.wide_registers;
        let most = wide_group_elements(facts, self.c.vector_bytes, registers);
        let short = range.segment.is_some() || length <= MAX_SMALL_GROUP_INSTRUCTIONS;
        if most > usual && short { vec![most, usual] } else { vec![most.max(usual)] }
    }

    /// Emits a reduction with multiple accumulators, if it is bound by memory. Returns the first element
    /// that is left, and the lanes of the reduction so far.
    fn with_multiple_accumulators(
        vector: &mut VectorEmitter<'_, 'a, '_>,
        names: &[Value],
        group: &StageGroup<'a>,
        range: ElementRange,
    ) -> Option<(ir::Value, Lanes)> {
        let mut tasks = group.tasks.iter().filter(|t| t.role != Role::Skip);
        let (Some(task), None) = (tasks.next(), tasks.next()) else { return None };
        let Sink::Reduce { combine, value, .. } = task.sink else { return None };
        let code = || group.code.iter().flatten().copied();
        let reduced = (*combine, vector.c.element_ty(*value));
        let elements = multiple_accumulators::elements_per_stream(
            code(),
            &vector.facts,
            vector.c.types,
            reduced.1,
        )?;
        vector.c.element = Some(range.lo);
        Some(vector.with_streams([range.lo, range.hi], elements, reduced, &mut |vector, index| {
            vector.at(names, range, index);
            code().for_each(|inst| vector.inst(inst));
            vector.get(*value)
        }))
    }

    /// Emits the elements of several segments in one tile, if they may share one. Returns the block behind
    /// that; the code emitted next is executed if they do not fit, or a check fails.
    pub fn interleaved(
        &mut self,
        group: &StageGroup<'a>,
        segments: [ir::Value; 2],
        elements: [ir::Value; 2],
    ) -> Option<ir::Block> {
        let facts = self.facts(group).ok()?;
        let code = group.code.iter().flatten().copied();
        let plan = TilePlan::of(code, &facts, &self.c)?;
        if group.tasks.iter().any(|t| t.role != Role::Skip) {
            return None;
        }
        let kernel = self.kernel;
        let all = interleave_segments::Segments { space: &kernel.space, segments, elements };
        Some(self.c.interleaved(&plan, &facts, &kernel.indices, all))
    }

    /// Emits groups of `elements` elements.
    fn groups_of(
        &mut self,
        elements: usize,
        GroupCode { group, facts, assumed, inside }: GroupCode<'_, 'a>,
        range: ElementRange,
        state: &[ir::Value],
    ) -> (ir::Value, Vec<ir::Value>) {
        let tasks = || group.tasks.iter().filter(|t| t.role != Role::Skip);
        let bail = self.c.b.create_block();
        let mut vector = VectorEmitter::new(&mut self.c, facts.clone(), elements, bail);
        if let Some(groups) = assumed {
            vector.assume(groups);
        }
        let names = &self.kernel.indices;
        let begun = Self::with_multiple_accumulators(&mut vector, names, group, range);
        // Totals and reductions have a state in each lane.
        let mut start = vec![begun.as_ref().map_or(range.lo, |(at, _)| *at)];
        let mut kinds = Vec::new();
        for (task, state) in tasks().filter(|t| t.has_state()).zip(state) {
            let wide = match task.sink {
                Sink::Reduce { combine, value, .. } => {
                    Some((*combine, vector.c.element_ty(*value)))
                }
                Sink::Scan { combine, value, .. } if task.role == Role::Total => {
                    Some((*combine, vector.c.element_ty(*value)))
                }
                Sink::Pack { .. } if task.role == Role::Total && !facts.only_byte_lanes => {
                    Some((Combine::Add, Ty::I64))
                }
                _ => None,
            };
            match wide {
                Some((combine, ty)) => {
                    let so_far = match &begun {
                        Some((_, lanes)) => lanes.clone(),
                        None => Lanes::Uniform(vector.c.literal(combine.neutral(ty))),
                    };
                    start.extend(vector.flatten(&so_far, ty, Uniformity::Varying));
                }
                None => start.push(*state),
            }
            kinds.push(wide);
        }
        let inner = inside.map(|inside| {
            let numbers = numbers(&mut vector, names, range, start[0]);
            vector.inner_groups(inside, [start[0], range.hi], numbers.into_iter())
        });
        start.extend(inner.as_ref().map(|inner| inner.starts));
        let looped = vector.c.begin_loop_to(bail, &start);
        let params = looped.carried.clone();
        let index = params[0];
        let states_of = |vector: &VectorEmitter<'_, 'a, '_>, params: &[ir::Value]| {
            let mut rest = params[1..].iter().copied();
            let each = |kind: &Option<(Combine, Ty)>| match kind {
                Some((combine, ty)) => {
                    let lanes =
                        vector.unflatten(&mut rest, ValueTy::Scalar(*ty), Uniformity::Varying);
                    SinkState::PerLane(*combine, *ty, lanes)
                }
                None => SinkState::Scalar(
                    rest.next().or_bug("a loop carries a value for each sink with state"),
                ),
            };
            kinds.iter().map(each).collect::<Vec<_>>()
        };
        let next_index = vector.c.b.ins().iadd_imm_s(index, elements as i64);
        let whole = vector.c.b.ins().icmp(IntCC::SignedLessThanOrEqual, next_index, range.hi);
        vector.c.loop_while(&looped, whole);
        let (chunk, tag) = (self.chunk, self.tag);
        let mut emit = |vector: &mut VectorEmitter<'_, 'a, '_>, params: &[ir::Value]| {
            let index = params[0];
            vector.c.element = Some(index);
            vector.at(names, range, index);
            vector.c.poll();
            let around = SinkContext { chunk, tag, index };
            let mut next = vec![vector.c.b.ins().iadd_imm_s(index, elements as i64)];
            let states = states_of(vector, params);
            let mut before = states.iter();
            for (stage, code) in group.code.iter().enumerate() {
                vector.join_checks(code.iter().copied());
                for inst in code {
                    vector.inst(inst);
                }
                for task in tasks().filter(|t| t.stage == stage) {
                    let state = if task.has_state() { before.next() } else { None };
                    next.extend(vector.sink(task, state, around));
                }
            }
            vector.update_buckets();
            next
        };
        if let Some(inner) = &inner {
            vector.loop_inside(inner, &looped, &mut emit);
        }
        let mut next = emit(&mut vector, &params);
        next.extend(inner.map(|_| params[params.len() - 1]));
        // Behind the last whole group, or where an element of one fails.
        vector.c.end_loop(&looped, &next);
        vector.c.element = Some(index);
        let states = states_of(&vector, &params);
        let mut out = Vec::new();
        for (before, found) in state.iter().zip(&states) {
            out.push(match found {
                SinkState::Scalar(value) => *value,
                SinkState::PerLane(combine, ty, lanes) => {
                    let all = vector.across(*combine, *ty, lanes);
                    vector.c.combine(*combine, *ty, *before, all)
                }
            });
        }
        (index, out)
    }

    /// The facts about the code of a group of stages, if it is to be vectorised.
    fn facts(&self, group: &StageGroup<'a>) -> Result<VectorFacts, NotVectorizable> {
        self.facts_with(group, self.c.is_wide(), None)
    }

    /// The facts about the code of a group of stages for wide vectors or for narrow ones, under assumptions.
    fn facts_with(
        &self,
        group: &StageGroup<'a>,
        wide: bool,
        assumptions: Option<&Assumptions>,
    ) -> Result<VectorFacts, NotVectorizable> {
        let indices = element_numbers(&self.kernel.indices);
        let around = Surroundings {
            types: &self.kernel.types,
            constants: &self.c.constants,
            may_store: true,
            converts,
            has_high_products: wide,
            assumptions,
        };
        let mut analysis = Analysis::new(around, indices);
        for inst in group.code.iter().flatten() {
            walk::each_read(inst, &mut |v| analysis.mark_read(v));
        }
        group.tasks.iter().for_each(|task| task.needs(&mut |v| analysis.mark_read(v)));
        for (stage, code) in group.code.iter().enumerate() {
            code.iter().try_for_each(|inst| analysis.inst(inst))?;
            for task in group.tasks.iter().filter(|t| t.stage == stage && t.role != Role::Skip) {
                match task.sink {
                    Sink::Reduce { .. } => {
                        analysis.needs_larger_lanes();
                        analysis.count_vector_operation();
                    }
                    Sink::Scan { result, .. } => {
                        analysis.needs_larger_lanes();
                        analysis.set(*result, Uniformity::Varying);
                        match task.role {
                            Role::Total => analysis.count_vector_operation(),
                            _ => analysis.count_lane_operations(2),
                        }
                    }
                    Sink::Pack { columns, .. } => match task.role {
                        Role::Total => analysis.count_vector_operation(),
                        // Where there are many elements those that are kept are counted and found by
                        // bits.
                        _ if analysis.has_only_byte_lanes() => {
                            columns.iter().for_each(|_| analysis.count_vector_operation());
                        }
                        _ if wide && (self.c.unit.packs_lanes || permutes(&self.c, columns)) => {
                            let operations = PACK_OPERATIONS * (1 + columns.len());
                            (0..operations).for_each(|_| analysis.count_vector_operation());
                        }
                        _ => analysis.count_lane_operations(1 + columns.len() as u64),
                    },
                    Sink::Histogram { length: Some(_), .. } => {
                        return Err(NotVectorizable("rows of threads"));
                    }
                    Sink::Histogram { length: None, .. } => {
                        analysis.needs_larger_lanes();
                        (0..ADDRESS_OPERATIONS).for_each(|_| analysis.count_vector_operation());
                        analysis.count_lane_operations(1);
                    }
                    Sink::Scatter { .. } => {
                        analysis.needs_larger_lanes();
                        analysis.count_lane_operations(2);
                    }
                    Sink::Emit { .. } => return Err(NotVectorizable("parts of threads")),
                }
            }
        }
        analysis.finish(group.code.iter().flatten().copied())
    }
}

/// The code of groups of elements.
struct GroupCode<'g, 'a> {
    group: &'g StageGroup<'a>,
    facts: &'g VectorFacts,
    /// The groups inside a set that all elements are in.
    assumed: Option<&'g InnerGroups<'a>>,
    /// A set of elements with code of its own.
    inside: Option<Inside<'a>>,
}

/// The groups inside a set for which alone code is vectorised.
pub struct GroupsInside<'a> {
    elements: usize,
    groups: InnerGroups<'a>,
    /// The first element of the first group, or -1; the loop over single elements carries it.
    pub first: ir::Value,
}

/// The numbers of the element `first`, by their names.
fn numbers(
    vector: &mut VectorEmitter<'_, '_, '_>,
    names: &[Value],
    range: ElementRange,
    first: ir::Value,
) -> Vec<(Value, ir::Value)> {
    let numbers = match range.segment {
        None => vec![first],
        Some((_, begin)) => vec![vector.c.b.ins().isub(first, begin), first],
    };
    element_numbers(names).iter().copied().zip(numbers).collect()
}

/// Returns true if the code of a group of stages has innermost loops whose iterations depend on each other.
fn has_serial_loops(group: &StageGroup<'_>) -> bool {
    let is_loop = |op: &Op| matches!(op, Op::For { .. } | Op::While { .. });
    let mut found = false;
    let mut look = |inst: &Inst| {
        let is_serial = match &inst.op {
            Op::For { init, .. } => !init.is_empty(),
            op => matches!(op, Op::While { .. }),
        };
        let mut is_innermost = true;
        let mut inside = |inst: &Inst| is_innermost &= !is_loop(&inst.op);
        if is_serial {
            inst.op.blocks().for_each(|block| walk::each_inst(block, &mut inside));
            found |= is_innermost;
        }
    };
    for inst in group.code.iter().flatten() {
        look(inst);
        inst.op.blocks().for_each(|block| walk::each_inst(block, &mut look));
    }
    found
}

/// Returns true if the code of a group of stages has loops: some elements may then take far longer than others.
fn has_loops(group: &StageGroup<'_>) -> bool {
    let mut found = false;
    let mut look = |inst: &Inst| found |= matches!(inst.op, Op::For { .. } | Op::While { .. });
    for inst in group.code.iter().flatten() {
        look(inst);
        inst.op.blocks().for_each(|block| walk::each_inst(block, &mut look));
    }
    found
}

/// The indices of a kernel that are one more for the next element.
fn element_numbers(indices: &[Value]) -> &[Value] {
    if indices.len() == 1 { indices } else { &indices[1..] }
}

impl<'a> VectorEmitter<'_, 'a, '_> {
    /// Defines the indices of a group of elements.
    fn at(&mut self, names: &[Value], range: ElementRange, index: ir::Value) {
        match range.segment {
            None => self.set(names[0], Lanes::Affine(index)),
            Some((segment, start)) => {
                let position = self.c.b.ins().isub(index, start);
                self.set(names[0], Lanes::Uniform(segment));
                self.set(names[1], Lanes::Affine(position));
                self.set(names[2], Lanes::Affine(index));
            }
        }
    }

    /// Emits a sink for the elements of a group; returns its next state.
    fn sink(
        &mut self,
        task: &Task<'a>,
        state: Option<&SinkState>,
        around: SinkContext,
    ) -> lanes::Vectors {
        if let Some(SinkState::PerLane(combine, ty, acc)) = state {
            let value = match task.sink {
                Sink::Pack { keep, .. } => {
                    let keep = self.get(*keep);
                    self.convert(Ty::I64, Ty::Bool, &keep)
                }
                Sink::Reduce { value, .. } | Sink::Scan { value, .. } => self.get(*value),
                Sink::Scatter { .. } | Sink::Histogram { .. } | Sink::Emit { .. } => {
                    bug!("scatter, histogram and emit have no state")
                }
            };
            let sum = self.combine(*combine, *ty, acc, &value);
            return self.flatten(&sum, *ty, Uniformity::Varying);
        }
        if let (Sink::Pack { keep, columns, .. }, true) = (task.sink, self.facts.only_byte_lanes) {
            let Some(SinkState::Scalar(position)) = state else { bug!("a pack has a state") };
            return smallvec![self.pack_bytes(task, *keep, columns, *position)];
        }
        let packs_lanes = self.c.is_wide() && self.c.unit.packs_lanes;
        if let (Sink::Pack { keep, columns, .. }, true) = (task.sink, packs_lanes) {
            let Some(SinkState::Scalar(position)) = state else { bug!("a pack has a state") };
            let columns = if task.role == Role::Full { &columns[..] } else { &[] };
            return smallvec![self.pack_lanes(*keep, columns, *position)];
        }
        if let (Sink::Pack { keep, columns, .. }, Role::Full) = (task.sink, task.role)
            && self.c.is_wide()
            && permutes(self.c, columns)
            && let Some(SinkState::Scalar(position)) = state
            && let Some(next) = self.pack_by_permutation(task, *keep, columns, *position, around)
        {
            return smallvec![next];
        }
        if self.histogram(task, around) {
            return lanes::Vectors::new();
        }
        let mut operands = Vec::new();
        task.needs(&mut |v| operands.push((v, self.get(v), self.c.element_ty(v))));
        let mut state = state.map(|state| match state {
            SinkState::Scalar(value) => *value,
            SinkState::PerLane(..) => bug!("states of single elements are scalars"),
        });
        // One by one, in order, each with the code for a single element.
        let mut results = Vec::new();
        for element in 0..self.elements {
            for (value, lanes, ty) in &operands {
                let scalar = self.extract(lanes, *ty, element);
                self.c.set(*value, scalar);
            }
            let index = self.c.b.ins().iadd_imm_s(around.index, element as i64);
            state = self.c.sink(task, state, SinkContext { index, ..around });
            if let Some(result) = task.result() {
                results.push(self.c.get(result));
            }
        }
        if let (Some(result), Sink::Scan { .. }) = (task.result(), task.sink) {
            let ty = self.c.element_ty(result);
            let lanes = self.assemble(&results, ty);
            self.set(result, lanes);
        }
        state.into_iter().collect()
    }
}
