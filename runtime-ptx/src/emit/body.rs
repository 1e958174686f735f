//! The code of one work item: blocks, control flow, memory, checks.
//!
//! Values of kir are operands: registers, or constants in the instructions that use them. Calls
//! have become the bodies of their functions before ([`nesl_runtime::kir::inline`]).
//!
//! An array is an address. Parameters and texts lie in global memory, short arrays of constant
//! length in the local memory of the thread, other arrays in its scratch memory (`arena`). Where
//! `select`, a conditional or a loop may give either, the address is *generic*, and the machine looks
//! at each access which memory it is ([`AddressSpaces`]).
//!
//! A check (`checks`) that fails jumps out of line, leaves the failure in the record of the launch, and ends
//! the work item: its thread goes on behind it.

use super::address::{AddressSpace, AddressSpaces};
use super::assembly::{Assembly, Class, Label, Operand, Reg, emit};
use super::bounds::head;
use super::failure::{self, Details};
use super::frame::Frame;
use super::memory::Address;
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{Block, Combine, Inst, Literal, Op, Site, Ty, Value, ValueTy};
use nesl_runtime::runtime::Reason;
use std::collections::HashMap;

/// The greatest number of iterations of a loop that is not counted towards looks at the interrupt word, if
/// it is known.
const UNCOUNTED_ITERATIONS: i64 = 64;

/// The state of the emission of one work item.
pub struct WorkItem<'a> {
    /// The text of the entry.
    pub asm: &'a mut Assembly,
    pub(super) types: &'a [ValueTy],
    /// The memory of each array.
    pub(super) spaces: &'a AddressSpaces,
    /// The operand of each value that was emitted, by number.
    operands: Vec<Option<Operand>>,
    /// The registers that every thread has.
    pub(super) frame: &'a Frame,
    /// The failures found in this work item: each is recorded out of line.
    exits: Vec<Exit>,
    /// The elements at the index of the work item whose addresses are known.
    own: Option<OwnElements<'a>>,
    /// Limits of indices that may be below 0, raised to 0.
    pub(super) limits: HashMap<Value, Operand>,
    /// Conditions of checks, each with a predicate that is true if they hold in all iterations of a
    /// loop.
    pub(super) fits: HashMap<Value, Reg>,
}

/// The elements at exactly the index of a work item, at known distances from those of another one:
/// their addresses take no instruction.
#[derive(Clone, Copy)]
pub struct OwnElements<'a> {
    /// The index of the work item.
    pub index: Value,
    /// Arrays, with the address of the other work item's element of each.
    pub bases: &'a [(Value, Reg)],
    /// The distance from the other work item, in elements.
    pub distance: usize,
}

/// A jump out of the work item.
struct Exit {
    from: Label,
    /// A comparison that is made first, if there is one.
    late: Option<LateRange>,
    /// The failure that is recorded; none if the scratch memory is exhausted.
    details: Option<Details>,
}

/// A bounds check that is made out of line: if it holds, the work item goes on after all.
pub struct LateRange {
    /// The index that is compared.
    pub index: Operand,
    /// The limit that it is to be below; the limit is at least 0.
    pub limit: Operand,
    /// The place at which the work item goes on.
    pub back: Label,
}

impl<'a> WorkItem<'a> {
    /// Begins a work item; `operands` has those of the parameters and indices.
    pub fn new(
        asm: &'a mut Assembly,
        types: &'a [ValueTy],
        spaces: &'a AddressSpaces,
        operands: Vec<Option<Operand>>,
        frame: &'a Frame,
    ) -> WorkItem<'a> {
        let (exits, limits, fits) = Default::default();
        WorkItem { asm, types, spaces, operands, frame, exits, own: None, limits, fits }
    }

    /// The work item, some of whose elements have known addresses.
    pub fn with_elements(self, own: OwnElements<'a>) -> WorkItem<'a> {
        WorkItem { own: Some(own), ..self }
    }

    /// The operand of a value.
    pub fn operand(&self, value: Value) -> Operand {
        self.operands[value.0 as usize].or_bug("a value is emitted before its uses")
    }

    /// The operand of a value, in a register.
    pub fn register(&mut self, value: Value) -> Reg {
        match self.operand(value) {
            Operand::Reg(reg) => reg,
            Operand::Constant(literal) => self.asm.constant(literal),
        }
    }

    /// The operand of a value: a bool is in a register.
    pub fn plain_operand(&mut self, value: Value) -> Operand {
        match self.operand(value) {
            Operand::Constant(Literal::Bool(_)) => self.register(value).into(),
            operand => operand,
        }
    }

    /// Gives a value an operand.
    pub fn define(&mut self, value: Value, operand: impl Into<Operand>) {
        self.operands[value.0 as usize] = Some(operand.into());
    }

    /// Ends the work item: its failures are recorded out of line, and go on at `failed`. `stage`
    /// and `index` are the number of the stage and the index of the work item. Returns the operands
    /// of its values.
    pub fn finish(self, stage: usize, index: Operand, failed: Label) -> Vec<Option<Operand>> {
        let WorkItem { asm, exits, operands, frame, .. } = self;
        asm.out_of_line(|asm| {
            for exit in exits {
                asm.place(exit.from);
                if let Some(LateRange { index, limit, back }) = exit.late {
                    let inside = asm.register(Class::Predicate);
                    emit!(asm, "setp.lo.u64 {inside}, {index}, {limit}");
                    emit!(asm, "@{inside} bra {back}");
                }
                if let Some(details) = &exit.details {
                    failure::record(asm, stage, index, details);
                }
                if let (Some(Details::Interrupted), Some(ticks)) = (&exit.details, &frame.ticks) {
                    ticks.look_at_once(asm);
                }
                emit!(asm, "bra {failed}");
            }
        });
        operands
    }

    /// Emits some instructions of a block, in order.
    pub fn insts(&mut self, insts: &[&Inst]) -> Result<(), Reason> {
        insts.iter().try_for_each(|inst| self.inst(inst))
    }

    /// The operands of the values. The work item has no failures.
    pub fn into_operands(self) -> Vec<Option<Operand>> {
        self.operands
    }

    /// Emits the instructions of a block; returns the operands that it yields.
    pub fn block(&mut self, block: &Block) -> Result<Vec<Operand>, Reason> {
        for inst in &block.insts {
            self.inst(inst)?;
        }
        Ok(block.yields.iter().map(|value| self.operand(*value)).collect())
    }

    fn inst(&mut self, inst: &Inst) -> Result<(), Reason> {
        self.operation(inst)?;
        for result in &inst.results {
            if self.bounds().may_be_negative(*result) {
                let raised = self.asm.at_least_zero(self.operand(*result));
                self.limits.insert(*result, raised);
            }
        }
        Ok(())
    }

    fn operation(&mut self, inst: &Inst) -> Result<(), Reason> {
        let result = |at: usize| inst.results[at];
        match &inst.op {
            Op::Binary(..) if self.is_emitted_elsewhere(result(0)) => {}
            Op::Binary(..) if let Some(range) = self.bounds().range(result(0)) => {
                let d = self.in_range(range);
                self.define(result(0), d);
            }
            Op::Const(literal @ Literal::Bool(_)) => {
                let reg = self.asm.constant(*literal);
                self.define(result(0), reg);
            }
            Op::Const(literal) => self.define(result(0), *literal),
            Op::Unary(op, a) => {
                let (ty, a) = (self.scalar(*a), self.operand(*a));
                let d = self.asm.unary(*op, ty, a);
                self.define(result(0), d);
            }
            Op::Binary(op, a, b) => {
                let (ty, a, b) = (self.scalar(*a), self.operand(*a), self.operand(*b));
                let d = self.asm.binary(*op, ty, a, b);
                self.define(result(0), d);
            }
            Op::Fma(a, b, c) => {
                let ty = self.scalar(*a);
                let (a, b, c) = (self.operand(*a), self.operand(*b), self.operand(*c));
                let d = self.asm.fma(ty, a, b, c);
                self.define(result(0), d);
            }
            Op::Select(cond, a, b) => {
                let cond = self.register(*cond);
                let (a, b) = (self.flow(*a, result(0)), self.flow(*b, result(0)));
                let class = self.class(result(0));
                let d = self.asm.select(cond, class, a, b);
                self.define(result(0), d);
            }
            Op::Convert(to, a) => {
                let (from, a) = (self.scalar(*a), self.operand(*a));
                let d = self.asm.convert(from, *to, a);
                self.define(result(0), d);
            }
            Op::Bits(to, a) => {
                let a = self.operand(*a);
                let d = self.asm.bits(*to, a);
                self.define(result(0), d);
            }
            Op::Text(_) | Op::Alloc(..) | Op::Slice(..) | Op::Load { .. } | Op::Store { .. } => {
                self.memory(inst);
            }
            Op::Copy { from, to, count } => self.copy(*from, *to, *count),
            Op::If { cond, then, otherwise } => self.branch(inst, *cond, then, otherwise)?,
            Op::While { init, carried, cond, body } => {
                self.while_loop(inst, init, carried, cond, body)?;
            }
            Op::For { .. } => self.for_loop(inst)?,
            Op::Check { cond, site, detail } => self.check(*cond, *site, detail),
            Op::Fail { site, text, length, detail } => {
                let from = self.exit(*site, detail, Some((*text, *length)), None);
                emit!(self.asm, "bra {from}");
            }
            Op::Mark => {
                let d = self.mark();
                self.define(result(0), d);
            }
            Op::Compact { since, keep } if self.frame.scratch.is_some() => {
                self.compact(inst, *since, keep);
            }
            // Local memory is declared, not taken: there is nothing to be freed.
            Op::Compact { keep, .. } => {
                for (at, (array, _)) in keep.iter().enumerate() {
                    let address = self.flow(*array, result(at));
                    self.define(result(at), address);
                }
            }
            Op::Call(..) | Op::Compute(..) => {
                bug!("calls have become the bodies of their functions")
            }
            Op::Extern(intrinsic, args) => self.intrinsic(inst, *intrinsic, args)?,
        }
        Ok(())
    }

    fn scalar(&self, value: Value) -> Ty {
        match self.types[value.0 as usize] {
            ValueTy::Scalar(ty) => ty,
            ValueTy::Array(_) | ValueTy::Mark => {
                bug!("{value} is no scalar: the verifier sees that")
            }
        }
    }

    /// The type of an array's elements.
    pub(super) fn element(&self, array: Value) -> Ty {
        match self.types[array.0 as usize] {
            ValueTy::Array(ty) => ty,
            ValueTy::Scalar(_) | ValueTy::Mark => {
                bug!("{array} is no array: the verifier sees that")
            }
        }
    }

    /// The class of the registers that hold a value.
    fn class(&self, value: Value) -> Class {
        match self.types[value.0 as usize] {
            ValueTy::Scalar(ty) => Class::of(ty),
            ValueTy::Array(_) | ValueTy::Mark => Class::B64,
        }
    }

    /// The operand of a value that becomes another one: an address is made generic if the other
    /// one is.
    pub(super) fn flow(&mut self, from: Value, to: Value) -> Operand {
        let operand = self.operand(from);
        if !self.types[from.0 as usize].is_array() {
            return operand;
        }
        self.flow_operand(operand, self.spaces.of(from), to)
    }

    fn flow_operand(&mut self, operand: Operand, from: AddressSpace, to: Value) -> Operand {
        match (from, self.spaces.of(to)) {
            (from, to) if from == to => operand,
            (AddressSpace::Global, AddressSpace::Generic) => {
                let d = self.asm.register(Class::B64);
                emit!(self.asm, "cvta.global.u64 {d}, {operand}");
                d.into()
            }
            (AddressSpace::Local, AddressSpace::Generic) => {
                let d = self.asm.register(Class::B64);
                emit!(self.asm, "cvta.local.u64 {d}, {operand}");
                d.into()
            }
            (from, to) => bug!("an address in {from:?} memory cannot become one in {to:?} memory"),
        }
    }
}

/// The emission of instructions that access memory.
impl WorkItem<'_> {
    fn memory(&mut self, inst: &Inst) {
        match &inst.op {
            Op::Text(bytes) => {
                let name = self.asm.text(bytes);
                let d = self.asm.register(Class::B64);
                emit!(self.asm, "mov.u64 {d}, {name}");
                self.define(inst.results[0], d);
            }
            Op::Alloc(ty, length) => {
                if self.spaces.of(inst.results[0]) != AddressSpace::Local {
                    return self.take(inst.results[0], *ty, *length);
                }
                let Operand::Constant(Literal::I64(length)) = self.operand(*length) else {
                    bug!("arrays in local memory have constant lengths");
                };
                let name = self.asm.local(length.max(0) as usize * ty.size());
                let d = self.asm.register(Class::B64);
                emit!(self.asm, "mov.u64 {d}, {name}");
                self.define(inst.results[0], d);
            }
            Op::Slice(array, start) => {
                let d = self.address(*array, *start);
                self.define(inst.results[0], d);
            }
            Op::Load { array, index } => {
                let address = self.element_address(*array, *index);
                let (ty, space) = (self.element(*array), self.spaces.of(*array));
                let d = self.asm.load(ty, space, address);
                self.define(inst.results[0], d);
            }
            Op::Store { array, index, value } => {
                let address = self.element_address(*array, *index);
                let (ty, space) = (self.element(*array), self.spaces.of(*array));
                let value = self.operand(*value);
                self.asm.store_relaxed(ty, space, address, value);
            }
            _ => bug!("an instruction that accesses memory"),
        }
    }

    /// Emits the address of an element.
    pub fn address(&mut self, array: Value, index: Value) -> Reg {
        let size = self.element(array).size();
        let (base, index) = (self.register(array), self.operand(index));
        self.asm.element_address(base, index, size)
    }

    /// Emits the address of an element, unless it is known.
    fn element_address(&mut self, array: Value, index: Value) -> Address {
        let own = self.own.filter(|own| own.index == index);
        let known = own.and_then(|own| {
            let (_, base) = own.bases.iter().find(|(of, _)| *of == array)?;
            Some((*base, own.distance))
        });
        match known {
            Some((base, distance)) => {
                Address { base, bytes: distance * self.element(array).size() }
            }
            None => self.address(array, index).into(),
        }
    }

    fn copy(&mut self, from: Value, to: Value, count: Value) {
        let ty = self.element(from);
        let (source, target) = (self.register(from), self.register(to));
        let count = self.operand(count);
        let asm = &mut *self.asm;
        let index = asm.register(Class::B64);
        asm.move_to(index, Literal::I64(0).into());
        let (head, end) = (asm.label(), asm.label());
        asm.place(head);
        let over = asm.register(Class::Predicate);
        emit!(asm, "setp.ge.s64 {over}, {index}, {count}");
        emit!(asm, "@{over} bra {end}");
        let address = asm.element_address(source, index.into(), ty.size());
        let element = asm.load_for_copy(ty, self.spaces.of(from), address);
        let address = asm.element_address(target, index.into(), ty.size());
        asm.store_relaxed(ty, self.spaces.of(to), address, element.into());
        emit!(asm, "add.s64 {index}, {index}, 1");
        emit!(asm, "bra {head}");
        asm.place(end);
    }
}

/// The emission of conditionals, loops and checks.
impl WorkItem<'_> {
    fn branch(
        &mut self,
        inst: &Inst,
        cond: Value,
        then: &Block,
        otherwise: &Block,
    ) -> Result<(), Reason> {
        let cond = self.register(cond);
        let results = self.registers(&inst.results);
        let top = self.save_top(inst);
        let (no, end) = (self.asm.label(), self.asm.label());
        emit!(self.asm, "@!{cond} bra {no}");
        self.side(then, inst, &results)?;
        emit!(self.asm, "bra {end}");
        self.asm.place(no);
        self.side(otherwise, inst, &results)?;
        self.asm.place(end);
        self.restore_top(top);
        for (value, reg) in inst.results.iter().zip(results) {
            self.define(*value, reg);
        }
        Ok(())
    }

    fn side(&mut self, block: &Block, inst: &Inst, results: &[Reg]) -> Result<(), Reason> {
        self.block(block)?;
        for ((from, to), reg) in block.yields.iter().zip(&inst.results).zip(results) {
            let operand = self.flow(*from, *to);
            self.asm.move_to(*reg, operand);
        }
        Ok(())
    }

    fn registers(&mut self, values: &[Value]) -> Vec<Reg> {
        let classes: Vec<Class> = values.iter().map(|value| self.class(*value)).collect();
        classes.into_iter().map(|class| self.asm.register(class)).collect()
    }

    /// Emits registers for the values that a loop carries, with their first values.
    fn carry(&mut self, init: &[Value], carried: &[Value]) -> Vec<Reg> {
        let registers = self.registers(carried);
        for ((from, to), reg) in init.iter().zip(carried).zip(&registers) {
            let operand = self.flow(*from, *to);
            self.asm.move_to(*reg, operand);
            self.define(*to, *reg);
        }
        registers
    }

    /// Assigns the yielded values to the carried ones, all at once.
    fn next(&mut self, yields: &[Value], carried: &[Value], registers: &[Reg]) {
        let operands: Vec<Operand> =
            yields.iter().zip(carried).map(|(from, to)| self.flow(*from, *to)).collect();
        // A carried value may be yielded in the place of another one.
        let swapped = |operand: &Operand| registers.iter().any(|reg| *operand == (*reg).into());
        let sources: Vec<Operand> = operands
            .iter()
            .zip(registers)
            .map(|(operand, own)| {
                if !swapped(operand) || *operand == (*own).into() {
                    return *operand;
                }
                let kept = self.asm.register(own.class);
                self.asm.move_to(kept, *operand);
                kept.into()
            })
            .collect();
        for (operand, reg) in sources.iter().zip(registers) {
            if *operand != (*reg).into() {
                self.asm.move_to(*reg, *operand);
            }
        }
    }

    fn while_loop(
        &mut self,
        inst: &Inst,
        init: &[Value],
        carried: &[Value],
        cond: &Block,
        body: &Block,
    ) -> Result<(), Reason> {
        self.hoist_ranges(head(&inst.op));
        let registers = self.carry(init, carried);
        let top = self.save_top(inst);
        let (head, end) = (self.asm.label(), self.asm.label());
        self.asm.place(head);
        self.block(cond)?;
        let go_on = self.register(cond.yields[0]);
        emit!(self.asm, "@!{go_on} bra {end}");
        self.block(body)?;
        self.next(&body.yields, carried, &registers);
        self.restore_top(top);
        self.poll();
        emit!(self.asm, "bra {head}");
        self.asm.place(end);
        self.restore_top(top);
        for (value, reg) in inst.results.iter().zip(registers) {
            self.define(*value, reg);
        }
        Ok(())
    }

    fn for_loop(&mut self, inst: &Inst) -> Result<(), Reason> {
        let Op::For { count, index, init, carried, reduce, body } = &inst.op else {
            bug!("a counted loop");
        };
        let count = self.operand(*count);
        self.hoist_ranges(head(&inst.op));
        self.hoist_spans(*index, count);
        let registers = self.carry(init, carried);
        let sums = self.sums(inst, reduce, carried.len());
        let top = self.save_top(inst);
        let counter = self.asm.register(Class::B64);
        self.asm.move_to(counter, Literal::I64(0).into());
        self.define(*index, counter);
        let (head, end) = (self.asm.label(), self.asm.label());
        self.asm.place(head);
        let over = self.asm.register(Class::Predicate);
        emit!(self.asm, "setp.ge.s64 {over}, {counter}, {count}");
        emit!(self.asm, "@{over} bra {end}");
        self.block(body)?;
        let (carries, elements) = body.yields.split_at(carried.len());
        // The elements first: they may be carried values of this iteration.
        for ((combine, element), sum) in reduce.iter().zip(elements).zip(&sums) {
            let (ty, element) = (self.scalar(*element), self.operand(*element));
            let next = self.asm.combine(*combine, ty, (*sum).into(), element);
            self.asm.move_to(*sum, next.into());
        }
        self.next(carries, carried, &registers);
        self.restore_top(top);
        emit!(self.asm, "add.s64 {counter}, {counter}, 1");
        let is_short = |count| matches!(count, Literal::I64(0..=UNCOUNTED_ITERATIONS));
        if !matches!(count, Operand::Constant(count) if is_short(count)) {
            self.poll();
        }
        emit!(self.asm, "bra {head}");
        self.asm.place(end);
        for (value, reg) in inst.results.iter().zip(registers.into_iter().chain(sums)) {
            self.define(*value, reg);
        }
        Ok(())
    }

    /// Emits the registers of a loop's reductions, with their neutral elements.
    fn sums(&mut self, inst: &Inst, reduce: &[Combine], carried: usize) -> Vec<Reg> {
        let mut sums = Vec::with_capacity(reduce.len());
        for (combine, result) in reduce.iter().zip(&inst.results[carried..]) {
            let neutral = combine.neutral(self.scalar(*result));
            let neutral = self.asm.constant(neutral);
            let sum = self.asm.register(neutral.class);
            self.asm.move_to(sum, neutral.into());
            sums.push(sum);
        }
        sums
    }

    /// Emits the end of an iteration, after which the thread now and then looks at the interrupt word.
    fn poll(&mut self) {
        let ticks = self.frame.ticks.or_bug("the iterations of a kernel with loops are counted");
        let from = self.asm.label();
        ticks.count(self.asm, from);
        let details = Some(Details::Interrupted);
        self.exits.push(Exit { from, late: None, details });
    }

    /// A label at which the work item ends because its scratch memory is exhausted.
    pub(super) fn exhausted(&mut self) -> Label {
        let from = self.asm.label();
        self.exits.push(Exit { from, late: None, details: None });
        from
    }

    /// A label at which the work item ends with a failure, unless a comparison that is made there
    /// holds.
    pub(super) fn exit(
        &mut self,
        site: Site,
        detail: &[Value],
        text: Option<(Value, Value)>,
        late: Option<LateRange>,
    ) -> Label {
        let from = self.asm.label();
        let detail = detail.iter().map(|value| self.operand(*value)).collect();
        let text = text
            .map(|(text, length)| (self.operand(text), self.spaces.of(text), self.operand(length)));
        let details = Some(Details::Program { site, detail, text });
        self.exits.push(Exit { from, late, details });
        from
    }
}
