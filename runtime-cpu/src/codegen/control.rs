//! Instructions: control, memory, calls, failures.

use super::cold::ColdCall;
use super::emitter::{FunctionEmitter, Mark, flags};
use super::vector::loops::Begun;
use crate::abi::{Status, offset};
use crate::parts::Part;
use crate::services::{self, Address};
use crate::{arena, callbacks};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, StackSlotData, StackSlotKind, Type, types};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::alias::{Provenance, carried_since};
use nesl_runtime::kir::walk::each_inst;
use nesl_runtime::kir::{self, Binary, Block, Extern, Inst, Literal, Op, Site, Ty, Unary, ValueTy};

/// The largest length of an array, in elements.
const MAX_ARRAY_ELEMENTS: i64 = 1 << 44;

/// The largest number of elements that are copied without a call.
const MAX_ELEMENTS_COPIED_ONE_BY_ONE: i64 = 8;

/// The number of iterations of a group of a loop that is not vectorised.
const GROUP_ITERATIONS: usize = 4;

/// The largest number of instructions of a loop whose iterations are done in groups.
const MAX_INSTRUCTIONS_OF_GROUPED_ITERATIONS: usize = 16;

/// The largest number of operations of both sides of a branch that becomes a selection.
const MAX_CHOICE_OPERATIONS: usize = 3;

/// The largest number of results of such a branch.
const MAX_CHOICE_RESULTS: usize = 2;

impl<'a> FunctionEmitter<'a, '_> {
    /// Emits the instructions of a block.
    pub fn block(&mut self, block: &'a Block) {
        for inst in &block.insts {
            self.inst(inst);
        }
    }

    /// Returns the machine values of kir values.
    pub fn all(&self, values: &[kir::Value]) -> Vec<ir::Value> {
        values.iter().map(|v| self.get(*v)).collect()
    }

    /// Emits an instruction.
    pub fn inst(&mut self, inst: &'a Inst) {
        let result = match &inst.op {
            Op::Const(literal) => {
                self.constants.insert(inst.results[0], *literal);
                self.literal(*literal)
            }
            Op::Text(text) => {
                self.provenance.insert(inst.results[0], Provenance::PREEXISTING);
                self.int(self.unit.texts.address(text))
            }
            Op::Unary(op, a) => self.unary(*op, self.element_ty(*a), self.get(*a)),
            Op::Binary(op, a, b) => {
                // A float constant on the right is read by the instruction itself, one on the left is loaded before.
                let is_float =
                    |literal: &Literal| matches!(literal, Literal::F64(_) | Literal::F32(_));
                let swaps = matches!(op, Binary::Add | Binary::Mul)
                    && self.constants.get(a).is_some_and(is_float);
                let (a, b) = if swaps { (b, a) } else { (a, b) };
                let known = self.constants.get(b).copied();
                self.binary(*op, self.element_ty(*a), self.get(*a), self.get(*b), known)
            }
            Op::Fma(a, b, c) => {
                let (a, b, c) = (self.get(*a), self.get(*b), self.get(*c));
                self.b.ins().fma(a, b, c)
            }
            Op::Select(c, a, b) => {
                let (c, a, b) = (self.get(*c), self.get(*a), self.get(*b));
                self.choose(c, a, b)
            }
            Op::Convert(to, a) => self.convert(*to, self.element_ty(*a), self.get(*a)),
            Op::Bits(to, a) => self.bits(*to, self.get(*a)),
            Op::Alloc(ty, length) => {
                let array = Provenance::Allocated(inst.results[0], self.allocations);
                self.allocations += 1;
                self.provenance.insert(inst.results[0], array);
                match self.emitted.get(&inst.results[0]) {
                    Some(output) => self.alloc_in_output(*output, *ty, self.get(*length)),
                    None => self.alloc(*ty, self.get(*length)),
                }
            }
            Op::Load { array, index } => {
                self.load(self.get(*array), self.get(*index), self.element_ty(*array))
            }
            Op::Slice(array, start) => {
                let root = self.provenance.get(array).copied();
                let root = root.unwrap_or(Provenance::Existing(self.allocations));
                self.provenance.insert(inst.results[0], root);
                self.address(self.get(*array), self.get(*start), self.element_ty(*array))
            }
            Op::Mark => self.mark(inst.results[0]),
            Op::Store { array, index, value } => {
                let ty = self.element_ty(*array);
                return self.store(self.get(*array), self.get(*index), ty, self.get(*value));
            }
            Op::Copy { from, to, count } => return self.copy(*from, *to, *count),
            Op::If { cond, then, otherwise } => {
                return self.branch_op(inst, *cond, then, otherwise);
            }
            Op::While { init, carried, cond, body } => {
                let outside = self.copy_for_loop(inst);
                self.while_op(inst, init, carried, cond, body);
                return self.read_outside_again(outside);
            }
            Op::For { init, body, .. } if !init.is_empty() || has_branches(body) => {
                let outside = self.copy_for_loop(inst);
                self.for_op(inst);
                return self.read_outside_again(outside);
            }
            Op::For { .. } => return self.for_op(inst),
            Op::Call(callee, args) | Op::Compute(callee, args) => {
                return self.call_op(inst, callee.0, args);
            }
            Op::Extern(service, args) => return self.extern_op(inst, *service, args),
            Op::Check { cond, site, detail } => {
                let detail = self.all(detail);
                let cond = self.get(*cond);
                return self.leave_unless(cond, |emitter| emitter.failed(*site, &detail));
            }
            Op::Fail { site, text, length, detail } => {
                let detail = self.all(detail);
                return self.fail_op(*site, *text, *length, &detail);
            }
            Op::Compact { since, keep } => {
                return self.compact_op(&inst.results, *since, keep);
            }
        };
        self.set(inst.results[0], result);
    }

    /// Writes the failure of a check to the environment; returns the status.
    fn failed(&mut self, site: Site, detail: &[ir::Value]) -> ir::Value {
        let site = self.int(i64::from(site.0));
        self.env_store(site, offset::SITE);
        let count = self.int(detail.len() as i64);
        self.env_store(count, offset::DETAILS);
        for (n, value) in detail.iter().enumerate() {
            self.env_store(*value, offset::DETAIL + 8 * n as i32);
        }
        self.b.ins().iconst(types::I32, Status::Check as i64)
    }

    fn fail_op(&mut self, site: Site, text: kir::Value, length: kir::Value, detail: &[ir::Value]) {
        self.failed(site, detail);
        let (text, length) = (self.get(text), self.get(length));
        self.env_store(text, offset::TEXT);
        self.env_store(length, offset::TEXT_LENGTH);
        let status = self.b.ins().iconst(types::I32, Status::Fail as i64);
        self.leave(status);
        // What is behind is never reached, but it is there.
        let dead = self.b.create_block();
        self.b.set_cold_block(dead);
        self.b.switch_to_block(dead);
    }

    /// Emits an allocation in an output, where the row of the work item goes, if that place is known.
    fn alloc_in_output(&mut self, output: u32, ty: Ty, length: ir::Value) -> ir::Value {
        let parts = self.env_load(types::I64, offset::EMITTED);
        let at = output as i32 * size_of::<Part>() as i32 + offset::PLACE;
        let place = self.b.ins().load(types::I64, flags(), parts, at);
        let unknown = self.b.create_block();
        let done = self.block_with([types::I64]);
        self.b.ins().brif(place, done, &[place.into()], unknown, &[]);
        self.b.switch_to_block(unknown);
        let allocated = self.alloc(ty, length);
        self.jump(done, &[allocated]);
        self.b.switch_to_block(done);
        self.b.block_params(done)[0]
    }

    /// Emits an allocation: moves a pointer if there is room, else calls the runtime.
    fn alloc(&mut self, ty: Ty, length: ir::Value) -> ir::Value {
        let shift = i64::from(ty.size().trailing_zeros());
        let none = self.int(0);
        let length = self.b.ins().smax(length, none);
        let next = self.env_load(types::I64, offset::NEXT);
        let end = self.env_load(types::I64, offset::END);
        let room = self.b.ins().isub(end, next);
        let room = self.b.ins().ushr_imm_u(room, shift);
        let bytes = self.b.ins().ishl_imm_u(length, shift);
        let bytes = self.b.ins().iadd_imm_s(bytes, arena::ALIGN as i64 - 1);
        let bytes = self.b.ins().band_imm_s(bytes, -(arena::ALIGN as i64));
        let (fast, slow) = (self.b.create_block(), self.b.create_block());
        let done = self.block_with([types::I64]);
        self.b.set_cold_block(slow);
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, length, room);
        self.b.ins().brif(fits, fast, &[], slow, &[]);

        self.b.switch_to_block(fast);
        let after = self.b.ins().iadd(next, bytes);
        self.env_store(after, offset::NEXT);
        self.jump(done, &[next]);

        self.b.switch_to_block(slow);
        let huge = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, length, MAX_ARRAY_ELEMENTS);
        let minus = self.int(-1);
        let bytes = self.b.ins().select(huge, minus, bytes);
        let args = [self.env, bytes];
        let start = self.call_cold(ColdCall::Grow, &args);
        let start = start.or_bug("the allocation routine returns an address");
        let none = self.b.ins().icmp_imm_s(IntCC::Equal, start, 0);
        self.leave_if(none, Status::OutOfMemory);
        self.jump(done, &[start]);

        self.b.switch_to_block(done);
        if self.notes_allocations {
            let yes = self.b.ins().iconst(types::I8, 1);
            self.env_store(yes, offset::ALLOCATED);
        }
        self.b.block_params(done)[0]
    }

    /// Emits a copy: a few elements one by one, without a call, which would take longer.
    fn copy(&mut self, from: kir::Value, to: kir::Value, count: kir::Value) {
        let ty = self.element_ty(from);
        let shift = i64::from(ty.size().trailing_zeros());
        let (from, to, count) = (self.get(from), self.get(to), self.get(count));
        if self.is_cold {
            let bytes = self.b.ins().ishl_imm_u(count, shift);
            self.call_cold(ColdCall::Copy, &[from, to, bytes]);
            return;
        }
        self.copy_elements(ty, from, to, count);
    }

    /// Emits a copy of elements of a type: a few one by one.
    pub fn copy_elements(&mut self, ty: Ty, from: ir::Value, to: ir::Value, count: ir::Value) {
        let shift = i64::from(ty.size().trailing_zeros());
        let (many, done) = (self.b.create_block(), self.b.create_block());
        let few = self.b.create_block();
        let bound = MAX_ELEMENTS_COPIED_ONE_BY_ONE;
        let is_few = self.b.ins().icmp_imm_s(IntCC::SignedLessThanOrEqual, count, bound);
        self.b.ins().brif(is_few, few, &[], many, &[]);

        self.b.switch_to_block(few);
        let zero = self.int(0);
        let looped = self.begin_loop(&[zero]);
        let at = looped.carried[0];
        let going = self.b.ins().icmp(IntCC::SignedLessThan, at, count);
        self.loop_while(&looped, going);
        let value = self.load(from, at, ty);
        self.store(to, at, ty, value);
        let next = self.b.ins().iadd_imm_s(at, 1);
        self.end_loop(&looped, &[next]);
        self.jump(done, &[]);

        self.b.switch_to_block(many);
        let bytes = self.b.ins().ishl_imm_u(count, shift);
        self.call_host(services::copy as *const u8, &[from, to, bytes], None);
        self.jump(done, &[]);
        self.b.switch_to_block(done);
    }

    fn branch_op(&mut self, inst: &Inst, cond: kir::Value, then: &'a Block, otherwise: &'a Block) {
        if let Some(decided) = self.decided.get(&cond) {
            let side = if *decided { then } else { otherwise };
            self.block(side);
            let values = self.all(&side.yields);
            self.bind(&inst.results, &values);
            return self.note_chosen(&inst.results, side, side);
        }
        self.emit_branch(inst, cond, then, otherwise);
        self.note_chosen(&inst.results, then, otherwise);
    }

    /// Notes of the arrays that a branch gives what is known of those that its sides give.
    pub fn note_chosen(&mut self, results: &[kir::Value], then: &Block, otherwise: &Block) {
        self.note_existing(results);
        for (n, result) in results.iter().enumerate() {
            let sides = [then, otherwise].map(|side| self.provenance.get(&side.yields[n]).copied());
            if let [Some(a), Some(b)] = sides {
                self.provenance.insert(*result, a.of_either(b));
            }
        }
    }

    fn emit_branch(
        &mut self,
        inst: &Inst,
        cond: kir::Value,
        then: &'a Block,
        otherwise: &'a Block,
    ) {
        let types: Vec<Type> = inst.results.iter().map(|v| self.clif_of(*v)).collect();
        let cond = self.get(cond);
        let numbers = types.iter().all(|ty| ty.is_int());
        let reduced = inst.results.iter().all(|v| self.reduced.contains(v));
        let scalars =
            inst.results.iter().all(|v| matches!(self.types[v.0 as usize], ValueTy::Scalar(_)));
        let short = scalars && is_short_choice(then, otherwise);
        if numbers && (reduced && is_choice(then, otherwise) || short) {
            self.block(then);
            let a = self.all(&then.yields);
            self.block(otherwise);
            let b = self.all(&otherwise.yields);
            for (result, (a, b)) in inst.results.iter().zip(a.into_iter().zip(b)) {
                let chosen = self.b.ins().select(cond, a, b);
                self.set(*result, chosen);
            }
            return;
        }
        let (a, b) = (self.b.create_block(), self.b.create_block());
        let join = self.block_with(types);
        self.b.ins().brif(cond, a, &[], b, &[]);
        for (at, block, other) in [(a, then, otherwise), (b, otherwise, then)] {
            self.b.switch_to_block(at);
            let was_cold = self.is_cold;
            if other.insts.is_empty() && copies_array(block) {
                self.b.set_cold_block(at);
                self.is_cold = true;
            }
            self.block(block);
            self.is_cold = was_cold;
            let yields = self.all(&block.yields);
            self.jump(join, &yields);
        }
        self.b.switch_to_block(join);
        let params = self.b.block_params(join).to_vec();
        self.bind(&inst.results, &params);
    }

    /// Defines kir values.
    pub fn bind(&mut self, names: &[kir::Value], values: &[ir::Value]) {
        for (name, value) in names.iter().zip(values) {
            self.set(*name, *value);
        }
    }

    /// Notes that the code which is emitted next is in a loop that carries these values. `since` says which arrays among
    /// them were made since which allocation.
    pub fn enter_loop(&mut self, carried: &[kir::Value], since: &[Option<usize>]) {
        self.loops += 1;
        self.note_made(carried, since);
    }

    /// Notes of arrays among some values that they exist, and since when they were made, where that is known.
    pub fn note_made(&mut self, values: &[kir::Value], since: &[Option<usize>]) {
        self.note_existing(values);
        for (value, since) in values.iter().zip(since) {
            if let Some(since) = since {
                self.provenance.insert(*value, Provenance::Made(*since, self.allocations));
            }
        }
    }

    /// Notes that the arrays among some values are none of those that code emitted later allocates. Code that is
    /// emitted twice notes it again: its allocations have new numbers.
    fn note_existing(&mut self, values: &[kir::Value]) {
        for value in values.iter().filter(|v| matches!(self.types[v.0 as usize], ValueTy::Array(_)))
        {
            self.provenance.insert(*value, Provenance::Existing(self.allocations));
        }
    }

    /// Emits a counted loop where it stands.
    pub fn for_in_place(&mut self, inst: &'a Inst) {
        let Op::For { count, init, carried, reduce, body, .. } = &inst.op else {
            bug!("only counted loops are executed as such")
        };
        let reduced = &body.yields[init.len()..];
        let elements: Vec<Ty> = reduced.iter().map(|v| self.element_ty(*v)).collect();
        let mut count = self.get(*count);
        let since = carried_since(init, carried, body, &self.provenance);
        let mut start = vec![self.int(0)];
        start.extend(self.all(init));
        for (combine, ty) in reduce.iter().zip(&elements) {
            start.push(self.literal(combine.neutral(*ty)));
        }
        let paired = self.pairs_of_iterations(inst, &since, &start, count);
        let begun = match &paired {
            Some(_) => Begun::Nothing,
            None => self.vector_for(inst, count),
        };
        let inside = match begun {
            Begun::Nothing => {
                if let Some(paired) = paired {
                    start = paired;
                } else if is_small(body) {
                    start = self.groups_of_iterations(inst, &since, &start, count);
                }
                None
            }
            Begun::Groups(groups) => {
                (start, count) = (groups.start, groups.end);
                None
            }
            Begun::Inside(inside) => Some(inside),
        };
        start.extend(inside.as_ref().map(|inside| inside.first));
        let looped = self.begin_loop(&start);
        if let Some(inside) = &inside {
            self.vector_for_inside(inst, inside, &looped);
        }
        let at = looped.carried[0];
        let going = self.b.ins().icmp(IntCC::SignedLessThan, at, count);
        self.loop_while(&looped, going);
        self.poll();
        self.enter_loop(carried, &since);
        let values = 1 + init.len() + reduce.len();
        let mut next = self.iteration(inst, &looped.carried[..values]);
        self.loops -= 1;
        next.extend(inside.and_then(|_| looped.carried.last()));
        self.end_loop(&looped, &next);
        self.bind(&inst.results, &looped.carried[1..]);
        self.note_made(&inst.results, &since);
    }

    /// Emits one iteration of a counted loop, given its number, what is carried, and the reductions so far. Returns
    /// the same of the next one.
    pub fn iteration(&mut self, inst: &'a Inst, values: &[ir::Value]) -> Vec<ir::Value> {
        let Op::For { index, init, carried, reduce, body, .. } = &inst.op else {
            bug!("only counted loops have numbered iterations")
        };
        let (moved, reduced) = body.yields.split_at(init.len());
        self.set(*index, values[0]);
        self.bind(carried, &values[1..]);
        let outer = std::mem::replace(&mut self.reduced, reduced);
        self.block(body);
        self.reduced = outer;
        let mut next = vec![self.b.ins().iadd_imm_s(values[0], 1)];
        next.extend(self.all(moved));
        for ((combine, value), acc) in reduce.iter().zip(reduced).zip(&values[1 + init.len()..]) {
            let (ty, x) = (self.element_ty(*value), self.get(*value));
            next.push(self.combine(*combine, ty, *acc, x));
        }
        next
    }

    /// Emits the iterations of a counted loop one after the other, but in groups, while a whole group is left: the end is
    /// looked for, and an interruption, once for each group. Returns the number of the first iteration after them,
    /// what is carried, and the reductions there.
    fn groups_of_iterations(
        &mut self,
        inst: &'a Inst,
        since: &[Option<usize>],
        start: &[ir::Value],
        count: ir::Value,
    ) -> Vec<ir::Value> {
        let Op::For { carried, .. } = &inst.op else {
            bug!("only counted loops have groups of iterations")
        };
        let looped = self.begin_loop(start);
        let after = self.b.ins().iadd_imm_s(looped.carried[0], GROUP_ITERATIONS as i64);
        let whole = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, after, count);
        self.loop_while(&looped, whole);
        self.poll();
        self.enter_loop(carried, since);
        let mut values = looped.carried.clone();
        for _ in 0..GROUP_ITERATIONS {
            values = self.iteration(inst, &values);
        }
        self.loops -= 1;
        self.end_loop(&looped, &values);
        looped.carried
    }

    fn call_op(&mut self, inst: &Inst, callee: u32, args: &[kir::Value]) {
        let mut depth = self.depth;
        let facts = &self.unit.facts[callee as usize];
        if facts.recursive {
            let is_two_deeper = facts.holds_itself && self.itself == Some(callee);
            depth = self.b.ins().iadd_imm_s(depth, if is_two_deeper { -2 } else { -1 });
        }
        let mut all = vec![self.env, depth];
        all.extend(self.all(args));
        let callee = self.callees[&callee];
        let call = self.b.ins().call(callee, &all);
        let results = self.b.inst_results(call).to_vec();
        for (name, value) in inst.results.iter().zip(&results[1..]) {
            self.set(*name, *value);
        }
        self.note_existing(&inst.results);
        self.leave_unless_done(results[0]);
    }

    /// Creates a slot of so many bytes in the stack frame.
    pub fn slot(&mut self, bytes: usize) -> ir::StackSlot {
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes as u32, 3);
        self.b.create_sized_stack_slot(data)
    }

    /// Emits a call of an intrinsic, which writes its results to memory, 8 bytes each.
    fn extern_op(&mut self, inst: &Inst, service: Extern, args: &[kir::Value]) {
        let keys = self.element_ty(args[0]);
        let mut all = self.all(args);
        let function = match services::address(service, keys) {
            Address::Plain(function) => function,
            Address::Checked(function) => {
                all.insert(0, self.env);
                return self.call_host_checked(function, &all);
            }
        };
        let slot = self.slot(8 * inst.results.len().max(1));
        let out = self.b.ins().stack_addr(types::I64, slot, 0);
        all.push(out);
        self.call_host(function, &all, None);
        for (n, name) in inst.results.iter().enumerate() {
            let ty = self.clif_of(*name);
            let value = self.b.ins().load(ty, flags(), out, 8 * n as i32);
            self.set(*name, value);
        }
    }

    /// Emits a mark: the present top of the memory. Beside it stands the top at the last attempt to
    /// compact to it.
    fn mark(&mut self, name: kir::Value) -> ir::Value {
        let top = self.env_load(types::I64, offset::NEXT);
        let slot = self.slot(8);
        self.b.ins().stack_store(types::I64, top, slot, 0);
        self.marks.insert(name, Mark { attempt: slot, number: self.allocations });
        self.allocations += 1;
        top
    }

    /// Emits a compaction. It is attempted once enough was allocated since the last attempt: a loop that
    /// keeps much and allocates little would find nothing to free in each of its iterations.
    pub fn compact_op(
        &mut self,
        results: &[kir::Value],
        since: kir::Value,
        keep: &[(kir::Value, kir::Value)],
    ) {
        let attempt = self.marks[&since].attempt;
        let since = self.get(since);
        let arrays: Vec<ir::Value> = keep.iter().map(|(array, _)| self.get(*array)).collect();
        let slow = self.b.create_block();
        let done = self.block_with(arrays.iter().map(|_| types::I64));
        self.b.set_cold_block(slow);
        if self.is_cold {
            self.b.set_cold_block(done);
        }
        // In another chunk than the last one's the difference is any number, most likely a large one.
        let next = self.env_load(types::I64, offset::NEXT);
        let last = self.b.ins().stack_load(types::I64, types::I64, attempt, 0);
        let taken = self.b.ins().isub(next, last);
        let bound = arena::MIN_GARBAGE_BYTES as i64;
        let little = self.b.ins().icmp_imm_s(IntCC::UnsignedLessThanOrEqual, taken, bound);
        self.branch(little, (done, &arrays), (slow, &[]));

        self.b.switch_to_block(slow);
        let slot = self.slot(16 * keep.len().max(1));
        let pairs = self.b.ins().stack_addr(types::I64, slot, 0);
        for (n, (array, length)) in keep.iter().enumerate() {
            let shift = i64::from(self.element_ty(*array).size().trailing_zeros());
            let none = self.int(0);
            let (array, length) = (self.get(*array), self.get(*length));
            let length = self.b.ins().smax(length, none);
            let bytes = self.b.ins().ishl_imm_u(length, shift);
            self.b.ins().store(flags(), array, pairs, 16 * n as i32);
            self.b.ins().store(flags(), bytes, pairs, 16 * n as i32 + 8);
        }
        let count = self.int(keep.len() as i64);
        let args = [self.env, since, pairs, count];
        let status = self.call_cold(ColdCall::Compact, &args);
        self.leave_unless_done(status.or_bug("the compaction returns a status"));
        let top = self.env_load(types::I64, offset::NEXT);
        self.b.ins().stack_store(types::I64, top, attempt, 0);
        let moved: Vec<ir::Value> = (0..keep.len())
            .map(|n| self.b.ins().load(types::I64, flags(), pairs, 16 * n as i32))
            .collect();
        self.jump(done, &moved);
        self.b.switch_to_block(done);
        let params = self.b.block_params(done).to_vec();
        self.bind(results, &params);
        self.note_existing(results);
    }

    /// Frees the memory of a work item that may have allocated.
    pub fn reset_arena(&mut self) {
        let grown = self.env_load(types::I64, offset::GROWN);
        let (fast, slow, done) =
            (self.b.create_block(), self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(slow);
        self.b.ins().brif(grown, slow, &[], fast, &[]);
        self.b.switch_to_block(fast);
        let base = self.env_load(types::I64, offset::BASE);
        self.env_store(base, offset::NEXT);
        self.jump(done, &[]);
        self.b.switch_to_block(slow);
        let env = self.env;
        self.call_host(callbacks::reset as *const u8, &[env], None);
        self.jump(done, &[]);
        self.b.switch_to_block(done);
    }
}

/// Returns true if a block has branches or checks: several elements at a time are rarely worth their while then.
fn has_branches(block: &Block) -> bool {
    block.insts.iter().any(|inst| matches!(inst.op, Op::If { .. } | Op::Check { .. }))
}

/// Returns true if the iterations of a loop are done in groups: they are short, without loops and calls.
fn is_small(body: &Block) -> bool {
    let (mut length, mut plain) = (0, true);
    each_inst(body, &mut |inst| {
        length += 1;
        plain &= matches!(
            inst.op,
            Op::Const(_)
                | Op::Unary(..)
                | Op::Binary(..)
                | Op::Fma(..)
                | Op::Select(..)
                | Op::Convert(..)
                | Op::Bits(..)
                | Op::Load { .. }
                | Op::Store { .. }
                | Op::Slice(..)
                | Op::Check { .. }
                | Op::If { .. }
        );
    });
    plain && length <= MAX_INSTRUCTIONS_OF_GROUPED_ITERATIONS
}

/// Returns true if one side of a branch copies an array before an update, or for more room, and does nothing
/// else; the other side does nothing. Most updates find the array copied. A side with loops or calls is work of
/// the program, such as the case of a recursive function that goes on.
pub fn copies_array(block: &Block) -> bool {
    let has = |wanted: fn(&Op) -> bool| block.insts.iter().any(|inst| wanted(&inst.op));
    let mut only_copies = true;
    each_inst(block, &mut |inst| {
        only_copies &= !matches!(
            inst.op,
            Op::For { .. } | Op::While { .. } | Op::Call(..) | Op::Compute(..) | Op::Extern(..)
        );
    });
    only_copies && has(|op| matches!(op, Op::Alloc(..))) && has(|op| matches!(op, Op::Copy { .. }))
}

/// Returns true if the sides of a branch together take a few cheap operations, and give one or two values: a selection
/// takes them all about as fast as a branch that is predicted, and several times as fast as one that is not.
fn is_short_choice(then: &Block, otherwise: &Block) -> bool {
    let mut operations = 0;
    let mut is_cheap = |inst: &Inst| match inst.op {
        Op::Const(_) => true,
        Op::Binary(Binary::Div | Binary::Rem | Binary::MulHigh, ..) => false,
        Op::Binary(..) | Op::Unary(Unary::Neg | Unary::Not | Unary::Abs, _) | Op::Select(..) => {
            operations += 1;
            true
        }
        _ => false,
    };
    then.insts.iter().chain(&otherwise.insts).all(&mut is_cheap)
        && operations <= MAX_CHOICE_OPERATIONS
        && then.yields.len() <= MAX_CHOICE_RESULTS
}

/// Returns true if a branch only selects between values, those of one side being constants. Reductions
/// select so (an argmin, a count), and their branch cannot be predicted. Other branches mostly can, and
/// prediction takes the selection off the critical path.
fn is_choice(then: &Block, otherwise: &Block) -> bool {
    let short = |block: &Block| block.insts.iter().all(|inst| matches!(inst.op, Op::Const(_)));
    let own = |block: &Block, v: &kir::Value| block.insts.iter().any(|i| i.results.contains(v));
    let constant = |block: &Block| block.yields.iter().all(|v| own(block, v));
    short(then) && short(otherwise) && (constant(then) || constant(otherwise))
}
