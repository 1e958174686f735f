//! Outlined loops: a vectorised loop as a machine function of its own, with wide vectors.
//!
//! ```text
//! few iterations     in place, with vectors of 128 bits
//! many               call ─▸ a machine function with wide vectors
//! ```
//!
//! Functions of the module, and passes whose elements are done one by one, are left to Cranelift: it makes better code
//! of scalars, and calls functions. Its vectors have 128 bits. The loops of such code that gain from wide
//! vectors are taken out of it: they get the values that they read in an area of the caller's stack, and leave
//! their results there.

use super::super::emitter::{Exit, FunctionEmitter, flags};
use super::super::outlines::{OutlinedLoop, OutlinedPart};
use super::index_sets::Inside;
use super::loops::GroupsDone;
use super::multiple_accumulators;
use super::tile::TilePlan;
use super::unroll_and_jam::JamPlan;
use super::{MAX_PART_BY_LANE, MIN_WIDE_OPERATIONS};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    self, AbiParam, FuncRef, InstBuilder, Signature, StackSlotData, StackSlotKind, Type, types,
};
use cranelift_codegen::isa::CallConv;
use cranelift_module::Module as _;
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::alias::{Independence, independence};
use nesl_runtime::kir::vectorize::VectorFacts;
use nesl_runtime::kir::{self, Inst, Op, ValueTy, walk};
use rustc_hash::FxHashSet;

/// A call, and the constants of the code behind it, take about as long as so many operations on elements in vectors of
/// 128 bits.
const CALL_OPERATIONS: u64 = 320;

/// The bounds of the least number of iterations of a loop that is called.
const MIN_CALLED_ITERATIONS: [u64; 2] = [8, 128];

/// The least number of iterations of a loop whose iterations have loops of their own, and of each of these if it is known.
const MIN_CALLED_JAM: [u64; 2] = [4, 16];
/// The same where the number of iterations of the inner loops is not known.
const MIN_CALLED_OUTER_ITERATIONS: u64 = 32;

/// The most loops of a function that are outlined, to bound the time of compilation.
const MAX_OUTLINED_LOOPS: usize = 12;

/// The bytes of a value in the area through which an outlined loop gets and returns values.
const VALUE_BYTES: usize = 8;

/// The numbers of iterations from which on a loop is called.
struct Least {
    /// The number of its own iterations.
    iterations: u64,
    /// The number of iterations of its inner loop, by the value that says how many there are.
    inner: Option<(kir::Value, u64)>,
}

/// The signature of outlined loops: environment, area. They change no register of their callers (as rare calls of the
/// runtime, [`ColdCall`](super::super::cold::ColdCall)): what a loop around carries stays where it is. The status is
/// the first value of the area.
pub fn signature() -> Signature {
    let mut signature = Signature::new(CallConv::PreserveAll);
    signature.params.extend([AbiParam::new(types::I64); 2]);
    signature
}

impl<'a> FunctionEmitter<'a, '_> {
    /// Emits a counted loop: as a function of its own that is called where there are many iterations, if it is vectorised
    /// and gains from wide vectors.
    pub fn for_op(&mut self, inst: &'a Inst) {
        if calls(inst) {
            // Its groups alone may be called.
            return self.for_in_place(inst);
        }
        let types: Vec<Type> = inst.results.iter().map(|v| self.clif_of(*v)).collect();
        let called = self.call_outlined(inst, OutlinedPart::Loop, &types, |this| {
            this.for_in_place(inst);
            this.all(&inst.results)
        });
        match called {
            Some(results) => self.bind(&inst.results, &results),
            None => self.for_in_place(inst),
        }
    }

    /// Emits the groups of a loop that calls functions, rarely: as a function of its own where there are many iterations.
    /// Returns the first single iteration and the reductions there; none if the loop is not vectorised, or gains nothing
    /// from wide vectors.
    pub fn called_groups(&mut self, inst: &'a Inst, count: ir::Value) -> Option<GroupsDone> {
        let Op::For { body, reduce, .. } = &inst.op else { return None };
        if self.outlines.is_none() || !calls(inst) || self.loop_facts(inst, false, None).is_err() {
            return None;
        }
        let mut nothing = vec![self.int(0)];
        for (combine, value) in reduce.iter().zip(&body.yields) {
            nothing.push(self.literal(combine.neutral(self.element_ty(*value))));
        }
        let types: Vec<Type> = nothing.iter().map(|v| self.b.func.dfg.value_type(*v)).collect();
        let start = self.call_outlined(inst, OutlinedPart::Groups, &types, |this| {
            this.vector_for_all(inst, count).map_or(nothing, |groups| groups.start)
        })?;
        // No loop that calls functions is a search.
        Some(GroupsDone { start, end: count })
    }

    /// Emits a part of a loop as a call of a function of its own where there are many iterations, else in place. Returns
    /// its results, of these types; none if the loop is not vectorised, or gains nothing from wide vectors.
    fn call_outlined(
        &mut self,
        inst: &'a Inst,
        part: OutlinedPart,
        types: &[Type],
        in_place: impl FnOnce(&mut Self) -> Vec<ir::Value>,
    ) -> Option<Vec<ir::Value>> {
        let Op::For { count, .. } = &inst.op else { return None };
        let least = self.is_called(inst)?;
        let (callee, captured) = self.declare(inst, part)?;
        let (call, place) = (self.b.create_block(), self.b.create_block());
        let join = self.block_with(types.iter().copied());
        let count = self.get(*count);
        let mut many = self.is_at_least(count, least.iterations);
        if let Some((inner, least)) = least.inner {
            let inner = self.get(inner);
            let both = self.is_at_least(inner, least);
            many = self.b.ins().band(many, both);
        }
        self.branch(many, (call, &[]), (place, &[]));

        self.b.switch_to_block(call);
        let size = (1 + captured.len().max(types.len())) * VALUE_BYTES;
        let slot = self.area_of(size as u32);
        let area = self.b.ins().stack_addr(types::I64, slot, 0);
        for (n, value) in captured.iter().enumerate() {
            let value = self.get(*value);
            self.b.ins().store(flags(), value, area, offset_of(n));
        }
        let env = self.env;
        self.b.ins().call(callee, &[env, area]);
        let status = self.b.ins().load(types::I32, flags(), area, 0);
        self.leave_unless_done(status);
        let mut results = Vec::new();
        for (n, ty) in types.iter().enumerate() {
            results.push(self.b.ins().load(*ty, flags(), area, offset_of(n)));
        }
        self.jump(join, &results);

        self.b.switch_to_block(place);
        // The loops inside are part of the function.
        let outlines = self.outlines.take();
        let outer = std::mem::replace(&mut self.has_few_iterations, true);
        let results = in_place(self);
        self.has_few_iterations = outer;
        self.outlines = outlines;
        self.jump(join, &results);
        self.b.switch_to_block(join);
        Some(self.b.block_params(join).to_vec())
    }

    /// The slot of the area of calls, with room for so many bytes; there is one for all calls.
    fn area_of(&mut self, bytes: u32) -> ir::StackSlot {
        let kind = StackSlotKind::ExplicitSlot;
        let align = VALUE_BYTES.trailing_zeros() as u8;
        let slot = *self.area.get_or_insert_with(|| {
            self.b.create_sized_stack_slot(StackSlotData::new(kind, bytes, align))
        });
        let slots = &mut self.b.func.sized_stack_slots;
        slots[slot].size = slots[slot].size.max(bytes);
        slot
    }

    pub fn is_at_least(&mut self, count: ir::Value, least: u64) -> ir::Value {
        self.b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, count, least as i64)
    }

    /// Returns the numbers of iterations from which on a loop is called as a function of its own; none if it is not
    /// vectorised, or gains nothing from wide vectors.
    fn is_called(&self, inst: &'a Inst) -> Option<Least> {
        let outlines = self.outlines.as_ref()?;
        let Op::For { index, init, body, reduce, .. } = &inst.op else { return None };
        let independence = independence(*index, body, &self.provenance);
        let always = independence == Independence::Always;
        if self.is_cold
            || outlines.declared.len() >= MAX_OUTLINED_LOOPS
            || !init.is_empty()
            || reduce.is_empty() && independence == Independence::Never
        {
            return None;
        }
        let gains = |facts: &VectorFacts| {
            let [by_lane, vectors] = facts.operations;
            !facts.only_byte_lanes
                && by_lane * MAX_PART_BY_LANE <= vectors
                && vectors >= MIN_WIDE_OPERATIONS
        };
        let least = |facts: &VectorFacts| {
            let [least, most] = MIN_CALLED_ITERATIONS;
            let iterations = (CALL_OPERATIONS / facts.operations[1].max(1)).clamp(least, most);
            Least { iterations, inner: None }
        };
        let Ok(facts) = self.loop_facts(inst, false, None) else {
            if let Some(plan) = JamPlan::of(inst, self, always) {
                // One that the iterations compute is not known before.
                let is_known = self.values[plan.count.0 as usize].is_some()
                    && !body.insts.iter().any(|inst| inst.results.contains(&plan.count));
                let [iterations, inner] = MIN_CALLED_JAM;
                let least = match is_known {
                    true => Least { iterations, inner: Some((plan.count, inner)) },
                    false => Least { iterations: MIN_CALLED_OUTER_ITERATIONS, inner: None },
                };
                return gains(plan.facts()).then_some(least);
            }
            let ordered = self.is_ordered(reduce, body);
            let inside = self.inside(inst, None).filter(|_| always && !ordered)?;
            return gains(&inside.facts).then(|| least(&inside.facts));
        };
        let inside = self.inside(inst, Some(&facts));
        let usual = inside.as_ref().map_or(&facts, |Inside { facts, .. }| facts);
        // Tiles and streams are bound by memory.
        let insts = || body.insts.iter();
        let tiled = || reduce.is_empty() && always && TilePlan::of(insts(), &facts, self).is_some();
        let streamed = || match (&body.yields[..], self.loops) {
            ([reduced], 0) => {
                let ty = self.element_ty(*reduced);
                let streams = multiple_accumulators::elements_per_stream;
                streams(insts(), &facts, self.types, ty).is_some()
            }
            _ => false,
        };
        (gains(usual) && !tiled() && !streamed()).then(|| least(usual))
    }

    /// The values that a loop reads and does not define, other than constants.
    fn captured(&self, inst: &'a Inst) -> Vec<kir::Value> {
        let Op::For { index, carried, body, .. } = &inst.op else { return Vec::new() };
        let mut known: FxHashSet<kir::Value> = FxHashSet::default();
        known.insert(*index);
        known.extend(carried);
        walk::each_inst(body, &mut |inst| {
            known.extend(&inst.results);
            match &inst.op {
                Op::For { index, carried, .. } => {
                    known.insert(*index);
                    known.extend(carried);
                }
                Op::While { carried, .. } => known.extend(carried),
                _ => {}
            }
        });
        let mut captured = Vec::new();
        walk::each_read(inst, &mut |value| {
            if !self.constants.contains_key(&value) && known.insert(value) {
                captured.push(value);
            }
        });
        captured
    }

    /// Declares a part of a loop, and makes it callable; also returns the values that it takes. None if it releases memory
    /// that the code around allocates.
    fn declare(
        &mut self,
        inst: &'a Inst,
        part: OutlinedPart,
    ) -> Option<(FuncRef, Vec<kir::Value>)> {
        let captured = self.captured(inst);
        if captured.iter().any(|v| matches!(self.types[v.0 as usize], ValueTy::Mark)) {
            return None;
        }
        let outlines = self.outlines.as_mut()?;
        let id = outlines.jit.declare_anonymous_function(&signature()).ok()?;
        outlines.declared.push(OutlinedLoop {
            id,
            inst,
            part,
            captured: captured.clone(),
            constants: self.constants.clone(),
            provenance: self.provenance.clone(),
            allocations: self.allocations,
            loops: self.loops,
        });
        Some((outlines.jit.declare_func_in_func(id, self.b.func), captured))
    }

    /// Emits an outlined loop as the body of a function, given the address of its area.
    pub fn outlined(&mut self, outlined: &OutlinedLoop<'a>, area: ir::Value) {
        self.exit = Exit::Outlined(area);
        self.provenance = outlined.provenance.clone();
        self.allocations = outlined.allocations;
        self.loops = outlined.loops;
        self.constants = outlined.constants.clone();
        for (n, value) in outlined.captured.iter().enumerate() {
            let ty = self.clif_of(*value);
            let loaded = self.b.ins().load(ty, flags(), area, offset_of(n));
            self.set(*value, loaded);
        }
        walk::each_read(outlined.inst, &mut |value| {
            if let Some(literal) = outlined.constants.get(&value)
                && self.values[value.0 as usize].is_none()
            {
                let constant = self.literal(*literal);
                self.set(value, constant);
            }
        });
        let results = match outlined.part {
            OutlinedPart::Loop => {
                self.for_in_place(outlined.inst);
                self.all(&outlined.inst.results)
            }
            OutlinedPart::Groups => {
                let Op::For { count, .. } = &outlined.inst.op else {
                    bug!("only counted loops are outlined")
                };
                let count = self.get(*count);
                let groups = self.vector_for_all(outlined.inst, count);
                groups.or_bug("a loop is vectorised with wide vectors if it is with others").start
            }
        };
        for (n, result) in results.into_iter().enumerate() {
            self.b.ins().store(flags(), result, area, offset_of(n));
        }
        let done = self.b.ins().iconst(types::I32, 0);
        self.leave(done);
    }

    /// Returns true if the code that was emitted gains from vectors wider than usual.
    pub fn gains(&self) -> bool {
        self.gains_from_width && self.refuses_width.is_none()
    }
}

/// The offset of a value in the area of an outlined loop, in bytes: behind the status.
fn offset_of(number: usize) -> i32 {
    ((1 + number) * VALUE_BYTES) as i32
}

/// Returns true if an iteration of a loop calls functions.
fn calls(inst: &Inst) -> bool {
    let mut calls = false;
    inst.op.blocks().for_each(|block| {
        walk::each_inst(block, &mut |inst| calls |= inst.op.callee().is_some());
    });
    calls
}
