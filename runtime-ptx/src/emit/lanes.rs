//! A pass over a space of equal segments in which some neighbouring lanes of a warp take each segment.
//!
//! Tiles are made for segments of all lengths: their elements find their segments, and a result may
//! come from several tiles. Where all segments have one length, which the launcher knows, and none is
//! long, neither is needed:
//!
//! ```text
//! for each segment of these lanes, with 1, 2, 4, 8, 16 or 32 lanes each:
//!   every n-th element of the segment: the code of the work item; its part in the reductions
//!   the combinations of the lanes, by shuffles; the first lane stores the results
//! ```
//!
//! The launcher chooses this entry, and the number of lanes, by the size of the space alone
//! ([`Plan::lanes`]), so that floats are grouped in the same way in each run, and on all devices.

use super::address::AddressSpace;
use super::assembly::{Assembly, Class, Operand, Reg, emit};
use super::body::{OwnElements, WorkItem};
use super::collective::{WARP_THREADS, shuffle};
use super::elements::free_sink;
use super::frame::{Accesses, BLOCK_THREADS, Entry, area_name};
use super::plan::{Area, Plan, Role};
use super::shape::is_short;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{Combine, Inst, Sink, Space, Ty, Value};
use nesl_runtime::runtime::Reason;

/// The number of elements of short code that a lane takes before it looks whether there are more.
const UNROLLED_ITEMS: u32 = 4;

/// A reduction of the segments.
struct Reduction {
    combine: (Combine, Ty),
    /// The combination of this lane's elements of the segment at hand.
    sum: Reg,
    /// The address of the results, and the size of one in bytes.
    out: (Reg, usize),
}

/// The loop over the segments.
struct Lanes<'a> {
    entry: &'a Entry<'a>,
    live: Vec<Vec<&'a Inst>>,
    accesses: Accesses,
    reductions: Vec<Reduction>,
    /// The number of lanes of a segment.
    lanes: Reg,
    /// The segment at hand, and the index of its first element.
    segment: Reg,
    start: Reg,
    /// The index of the work item at hand, unless nothing needs it.
    index: Reg,
    /// The addresses of the elements at that index, of the arrays that are accessed there.
    bases: Vec<(Value, Reg)>,
}

/// Emits the loop over the segments of a pass.
pub fn each_segment(asm: &mut Assembly, entry: &Entry<'_>) -> Result<(), Reason> {
    let Space::Regular { segments, length } = entry.kernel.space else { return Ok(()) };
    let (segments, length) = (entry.param(segments), entry.param(length));
    let ids = &entry.frame.ids;
    let shift = lanes_shift(asm, entry.plan);
    let [lanes, lane, own, own_segment] = [(); 4].map(|()| asm.register(Class::B32));
    emit!(asm, "shl.b32 {lanes}, 1, {shift}");
    emit!(asm, "and.b32 {lane}, {}, {}", ids.thread, WARP_THREADS - 1);
    emit!(asm, "shr.u32 {own_segment}, {lane}, {shift}");
    emit!(asm, "sub.s32 {own}, {lanes}, 1");
    emit!(asm, "and.b32 {own}, {own}, {lane}");
    // All lanes of a warp go on until none of them has a segment, since they exchange their results.
    let [limit, position, stride] = [(); 3].map(|()| asm.register(Class::B64));
    emit!(asm, "cvt.u64.u32 {limit}, {own_segment}");
    emit!(asm, "add.s64 {limit}, {limit}, {segments}");
    emit!(asm, "cvt.u64.u32 {position}, {own}");
    emit!(asm, "mul.wide.u32 {stride}, {}, {BLOCK_THREADS}", ids.blocks);
    emit!(asm, "shr.u64 {stride}, {stride}, {shift}");
    let segment = entry.first_index(asm, ids.block);
    emit!(asm, "shr.u64 {segment}, {segment}, {shift}");
    // The distances of combined lanes that are more than the lanes of a segment.
    let distances = [16, 8, 4, 2, 1].map(|distance: u32| {
        let skips = asm.register(Class::Predicate);
        emit!(asm, "setp.le.u32 {skips}, {lanes}, {distance}");
        (distance, skips)
    });
    let is_first = asm.register(Class::Predicate);
    emit!(asm, "setp.eq.s32 {is_first}, {own}, 0");
    let [start, index, end] = [(); 3].map(|()| asm.register(Class::B64));
    let reductions = reductions(asm, entry);
    let (live, accesses) = (entry.live(), entry.accesses_at_index());
    let mut all =
        Lanes { entry, live, accesses, reductions, lanes, segment, start, index, bases: vec![] };
    let (head, done) = (asm.label(), asm.label());
    asm.place(head);
    let [over, is_none] = [(); 2].map(|()| asm.register(Class::Predicate));
    emit!(asm, "setp.ge.s64 {over}, {segment}, {limit}");
    emit!(asm, "@{over} bra {done}");
    emit!(asm, "setp.ge.s64 {is_none}, {segment}, {segments}");
    emit!(asm, "mul.lo.s64 {start}, {segment}, {length}");
    emit!(asm, "add.s64 {index}, {start}, {position}");
    emit!(asm, "add.s64 {end}, {start}, {length}");
    emit!(asm, "selp.b64 {end}, {start}, {end}, {is_none}");
    all.elements(asm, end)?;
    emit!(asm, "bar.warp.sync -1");
    for Reduction { combine, sum, .. } in &all.reductions {
        for (distance, skips) in distances {
            let next = asm.label();
            emit!(asm, "@{skips} bra {next}");
            let other = shuffle(asm, "down", combine.1, *sum, distance, WARP_THREADS - 1);
            asm.accumulate(*combine, *sum, other.into());
            asm.place(next);
        }
    }
    let (stores, stored) = (asm.register(Class::Predicate), asm.label());
    emit!(asm, "setp.lt.and.s64 {stores}, {segment}, {segments}, {is_first}");
    emit!(asm, "@!{stores} bra {stored}");
    for Reduction { combine, sum, out: (out, size) } in &all.reductions {
        let address = asm.element_address(*out, segment.into(), *size);
        asm.store(combine.1, AddressSpace::Global, address, (*sum).into());
    }
    asm.place(stored);
    emit!(asm, "add.s64 {segment}, {segment}, {stride}");
    emit!(asm, "bra {head}");
    asm.place(done);
    Ok(())
}

/// Emits the parameter that has the binary logarithm of the number of lanes of a segment.
fn lanes_shift(asm: &mut Assembly, plan: &Plan) -> Reg {
    let at = plan.areas.iter().position(|area| *area == Area::LanesShift);
    let word = asm.param(&area_name(at.or_bug("a pass by lanes is told their number")));
    let shift = asm.register(Class::B32);
    emit!(asm, "cvt.u32.u64 {shift}, {word}");
    shift
}

/// Emits the registers of the reductions of a pass.
fn reductions(asm: &mut Assembly, entry: &Entry<'_>) -> Vec<Reduction> {
    let mut all = Vec::new();
    for (at, stage) in entry.stages().iter().enumerate() {
        for (number, sink) in stage.sinks.iter().enumerate() {
            let Sink::Reduce { combine, value, out, .. } = sink else { continue };
            let ty = entry.kernel.scalar_ty(*value);
            let out = match (entry.role(at, number), out) {
                (Role::Segments(_), Some(out)) => (entry.array(asm, *out), ty.size()),
                (Role::Prepare(_, results), _) => (asm.global_param(&area_name(results)), 8),
                _ => continue,
            };
            let sum = asm.register(Class::of(ty));
            all.push(Reduction { combine: (*combine, ty), sum, out });
        }
    }
    all
}

impl Lanes<'_> {
    /// Emits the work items of this lane in a segment, from the index at hand to below `end`.
    fn elements(&mut self, asm: &mut Assembly, end: Reg) -> Result<(), Reason> {
        for Reduction { combine, sum, .. } in &self.reductions {
            let neutral = asm.constant(combine.0.neutral(combine.1));
            asm.move_to(*sum, neutral.into());
        }
        let (index, wide) = (self.index, asm.register(Class::B64));
        emit!(asm, "cvt.u64.u32 {wide}, {}", self.lanes);
        self.bases.clear();
        let mut steps = Vec::new();
        for (array, ty) in &self.accesses.arrays {
            let array_start = self.entry.array(asm, *array);
            self.bases.push((*array, asm.element_address(array_start, index.into(), ty.size())));
            let step = asm.register(Class::B64);
            emit!(asm, "mul.lo.s64 {step}, {wide}, {}", ty.size());
            steps.push(step);
        }
        if is_short(self.entry.kernel) {
            let (last, more) = (asm.register(Class::B64), asm.register(Class::Predicate));
            let (again, rest) = (asm.label(), asm.label());
            emit!(asm, "mul.lo.s64 {last}, {wide}, {}", UNROLLED_ITEMS - 1);
            emit!(asm, "sub.s64 {last}, {end}, {last}");
            emit!(asm, "setp.lt.s64 {more}, {index}, {last}");
            emit!(asm, "@!{more} bra {rest}");
            asm.place(again);
            for _ in 0..UNROLLED_ITEMS {
                self.work_item(asm)?;
                self.step(asm, wide, &steps);
            }
            emit!(asm, "setp.lt.s64 {more}, {index}, {last}");
            emit!(asm, "@{more} bra {again}");
            asm.place(rest);
        }
        let (more, again, rest) = (asm.register(Class::Predicate), asm.label(), asm.label());
        emit!(asm, "setp.lt.s64 {more}, {index}, {end}");
        emit!(asm, "@!{more} bra {rest}");
        asm.place(again);
        self.work_item(asm)?;
        self.step(asm, wide, &steps);
        emit!(asm, "setp.lt.s64 {more}, {index}, {end}");
        emit!(asm, "@{more} bra {again}");
        asm.place(rest);
        Ok(())
    }

    /// Emits the way to this lane's next work item.
    fn step(&self, asm: &mut Assembly, lanes: Reg, steps: &[Reg]) {
        emit!(asm, "add.s64 {}, {}, {lanes}", self.index, self.index);
        for ((_, base), step) in self.bases.iter().zip(steps) {
            emit!(asm, "add.s64 {base}, {base}, {step}");
        }
    }

    /// Emits the work item at hand, and its part in the sinks. One that fails takes part in none.
    fn work_item(&self, asm: &mut Assembly) -> Result<(), Reason> {
        let Lanes { entry, index, .. } = self;
        let (kernel, frame) = (entry.kernel, entry.frame);
        let mut operands: Vec<Option<Operand>> = frame.operands.clone();
        let [number, position, whole] = kernel.indices[..] else { return Ok(()) };
        operands[number.0 as usize] = Some(self.segment.into());
        if entry.reads(position) {
            let of_item = asm.register(Class::B64);
            emit!(asm, "sub.s64 {of_item}, {index}, {}", self.start);
            operands[position.0 as usize] = Some(of_item.into());
        }
        operands[whole.0 as usize] = Some((*index).into());
        let next = asm.label();
        let mut reductions = self.reductions.iter();
        for (at, insts) in self.live.iter().enumerate() {
            let own = OwnElements { index: whole, bases: &self.bases, distance: 0 };
            let mut item =
                WorkItem::new(asm, &kernel.types, entry.spaces, operands, frame).with_elements(own);
            item.insts(insts)?;
            operands = item.finish(at, (*index).into(), next);
            let mut item = WorkItem::new(asm, &kernel.types, entry.spaces, operands, frame);
            for (sink_number, sink) in kernel.stages[at].sinks.iter().enumerate() {
                match entry.role(at, sink_number) {
                    Role::Segments(_) | Role::Prepare(..) => {
                        let Some((own, (_, element))) = reductions.next().zip(sink.combined())
                        else {
                            continue;
                        };
                        let element = item.operand(element);
                        item.asm.accumulate(own.combine, own.sum, element);
                    }
                    role @ (Role::Free | Role::Tag(_) | Role::Tagged(_)) => {
                        free_sink(&mut item, entry, sink, role, *index);
                    }
                    _ => {}
                }
            }
            operands = item.into_operands();
        }
        asm.place(next);
        Ok(())
    }
}
