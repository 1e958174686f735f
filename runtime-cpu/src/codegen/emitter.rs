//! The emitter of one machine function: Cranelift's builder, the values so far, loops, early exits.
//!
//! A kir scalar is a scalar of Cranelift (bools and chars are `i8`, bools 0 or 1), an array is
//! the address of its first element. Compiled functions take the [`Env`](crate::abi::Env) and the
//! number of calls that may still nest, and return a [`Status`] before their results; a caller
//! returns any status but [`Status::Done`] at once.

use super::cold::ColdCall;
use super::machine::VECTOR_BYTES;
use super::outlines::Outlines;
use super::unit::Unit;

use crate::abi::{Status, offset};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    self, AbiParam, BlockArg, FuncRef, InstBuilder, MemFlagsData, Signature, Type, types,
};
use cranelift_frontend::FunctionBuilder;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::alias::Provenance;
use nesl_runtime::kir::{self, Literal, Ty, ValueTy};
use rustc_hash::FxHashMap;

/// The flags of memory accesses: addresses are valid, but vectors are not aligned.
pub fn flags() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

/// The register type of a scalar.
pub fn clif(ty: Ty) -> Type {
    match ty {
        Ty::I32 => types::I32,
        Ty::I64 => types::I64,
        Ty::F32 => types::F32,
        Ty::F64 => types::F64,
        Ty::Bool | Ty::U8 => types::I8,
    }
}

/// The register type of a value.
pub fn clif_value(ty: ValueTy) -> Type {
    match ty {
        ValueTy::Scalar(ty) => clif(ty),
        ValueTy::Array(_) | ValueTy::Mark => types::I64,
    }
}

/// The way in which code is left before its end.
pub enum Exit {
    /// Returns a status, and zeros for results.
    Function(Vec<Type>),
    /// Jumps to a block that takes the status and the element.
    Kernel(ir::Block),
    /// Stores the status at an address, and returns.
    Outlined(ir::Value),
}

/// The blocks of a loop under construction.
pub struct Loop {
    /// The block that takes the carried values and decides about another iteration.
    pub head: ir::Block,
    /// The block of an iteration.
    body: ir::Block,
    /// The block behind the loop.
    pub exit: ir::Block,
    /// The carried values, in the head, the body and behind the loop.
    pub carried: Vec<ir::Value>,
}

/// A product of two words.
#[derive(Clone, Copy)]
pub struct Product {
    /// The two factors of the product.
    pub of: [ir::Value; 2],
    /// The low word.
    pub low: ir::Value,
    /// The block that it was emitted in.
    pub block: Option<ir::Block>,
}

/// A mark in the memory.
#[derive(Clone, Copy)]
pub struct Mark {
    /// The slot with the top of the memory at the last attempt to compact to the mark.
    pub attempt: ir::StackSlot,
    /// The number of the mark among the allocations: the memory of those before it lies below.
    pub number: usize,
}

/// The emitter of one machine function.
pub struct FunctionEmitter<'a, 'f> {
    /// The builder of Cranelift's function.
    pub b: FunctionBuilder<'f>,
    /// The module under compilation.
    pub unit: &'a Unit<'a>,
    /// The functions that the code calls, by index.
    pub callees: &'a FxHashMap<u32, FuncRef>,
    /// The types of the kir values.
    pub types: &'a [ValueTy],
    /// The machine values of the kir values, where they are defined.
    pub values: Vec<Option<ir::Value>>,
    /// The kir values that are constants.
    pub constants: FxHashMap<kir::Value, Literal>,
    /// The conditions whose value is known in the copy of the code that is emitted.
    pub decided: FxHashMap<kir::Value, bool>,
    /// The arrays of known provenance.
    pub provenance: FxHashMap<kir::Value, Provenance>,
    /// The number of allocations emitted so far.
    pub allocations: usize,
    /// The factors and the low word of the last product of which the high word was emitted, and its
    /// block: one instruction computes both words.
    pub product: Option<Product>,
    /// The marks in the memory.
    pub marks: FxHashMap<kir::Value, Mark>,
    /// The allocations of arrays that are made in an output where that is possible, with its number.
    pub emitted: FxHashMap<kir::Value, u32>,
    /// The address of the environment.
    pub env: ir::Value,
    /// The address of the interrupt flag.
    pub interrupt: ir::Value,
    /// The number of calls that may still nest.
    pub depth: ir::Value,
    /// The number of the function, unless it is a kernel.
    pub itself: Option<u32>,
    /// The way to leave early.
    pub exit: Exit,
    /// The index of the element under execution, in a kernel.
    pub element: Option<ir::Value>,
    /// True while code is emitted that is executed rarely.
    pub is_cold: bool,
    /// True while code is emitted for a loop that allocates rarely, and says so in the environment.
    pub notes_allocations: bool,
    /// The number of loops around the code that is emitted.
    pub loops: usize,
    /// True while code is emitted for few iterations of a loop that is called as a function of its own where there are many.
    pub has_few_iterations: bool,
    /// The elements that the innermost loop reduces.
    pub reduced: &'a [kir::Value],
    /// True while code is emitted for the elements of a kernel that groups of elements leave over.
    pub is_left_over: bool,
    /// The size of the widest vectors, in bytes.
    pub vector_bytes: usize,
    /// True if there is vector code that gains from vectors wider than usual.
    pub gains_from_width: bool,
    /// The reason why the code must not have vectors wider than usual, if there is one.
    pub refuses_width: Option<&'static str>,
    /// The stack slot through which these get and return values, if there are any.
    pub area: Option<ir::StackSlot>,
    /// The loops with wide vectors that the code calls, if these are functions of their own.
    pub outlines: Option<Outlines<'a, 'f>>,
}

impl<'a, 'f> FunctionEmitter<'a, 'f> {
    /// Returns an emitter in the entry block of a function, and the parameters of that block.
    pub fn new(
        mut b: FunctionBuilder<'f>,
        unit: &'a Unit<'a>,
        callees: &'a FxHashMap<u32, FuncRef>,
        types: &'a [ValueTy],
        exit: Exit,
    ) -> (FunctionEmitter<'a, 'f>, Vec<ir::Value>) {
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        let params = b.block_params(entry).to_vec();
        let emitter = FunctionEmitter {
            b,
            unit,
            callees,
            types,
            values: vec![None; types.len()],
            constants: FxHashMap::default(),
            decided: FxHashMap::default(),
            provenance: FxHashMap::default(),
            allocations: 0,
            marks: FxHashMap::default(),
            emitted: FxHashMap::default(),
            env: params[0],
            interrupt: params[0],
            depth: params[0],
            itself: None,
            exit,
            element: None,
            is_cold: false,
            notes_allocations: false,
            loops: 0,
            has_few_iterations: false,
            reduced: &[],
            product: None,
            is_left_over: false,
            vector_bytes: VECTOR_BYTES,
            gains_from_width: false,
            refuses_width: None,
            area: None,
            outlines: None,
        };
        (emitter, params)
    }

    /// The machine value of a kir value.
    pub fn get(&self, value: kir::Value) -> ir::Value {
        self.values[value.0 as usize].or_bug("kir defines values before their use")
    }

    /// Defines a kir value.
    pub fn set(&mut self, value: kir::Value, to: ir::Value) {
        self.values[value.0 as usize] = Some(to);
    }

    /// The type of a scalar, or of the elements of an array.
    pub fn element_ty(&self, value: kir::Value) -> Ty {
        match self.types[value.0 as usize] {
            ValueTy::Scalar(ty) | ValueTy::Array(ty) => ty,
            ValueTy::Mark => Ty::I64,
        }
    }

    /// The register type of a kir value.
    pub fn clif_of(&self, value: kir::Value) -> Type {
        clif_value(self.types[value.0 as usize])
    }

    /// Emits an `i64` constant.
    pub fn int(&mut self, x: i64) -> ir::Value {
        self.b.ins().iconst(types::I64, x)
    }

    /// Emits a constant.
    pub fn literal(&mut self, literal: Literal) -> ir::Value {
        let ins = self.b.ins();
        match literal {
            Literal::I32(x) => ins.iconst(types::I32, i64::from(x as u32)),
            Literal::I64(x) => ins.iconst(types::I64, x),
            Literal::F32(bits) => ins.f32const(f32::from_bits(bits)),
            Literal::F64(bits) => ins.f64const(f64::from_bits(bits)),
            Literal::Bool(x) => ins.iconst(types::I8, i64::from(x)),
            Literal::U8(x) => ins.iconst(types::I8, i64::from(x)),
        }
    }

    /// Emits 0 of a register type, scalar or vector.
    pub fn zero(&mut self, ty: Type) -> ir::Value {
        if ty.is_vector() {
            let lane = self.zero(ty.lane_type());
            return self.b.ins().splat(ty, lane);
        }
        match ty {
            types::F32 => self.b.ins().f32const(0f32),
            types::F64 => self.b.ins().f64const(0f64),
            _ => self.b.ins().iconst(ty, 0),
        }
    }

    /// Emits the address of an element.
    pub fn address(&mut self, array: ir::Value, index: ir::Value, ty: Ty) -> ir::Value {
        let shift = ty.size().trailing_zeros();
        let bytes =
            if shift == 0 { index } else { self.b.ins().ishl_imm_u(index, i64::from(shift)) };
        self.b.ins().iadd(array, bytes)
    }

    /// Emits a load of a field of the environment.
    pub fn env_load(&mut self, ty: Type, offset: i32) -> ir::Value {
        let env = self.env;
        self.b.ins().load(ty, flags(), env, offset)
    }

    /// Emits a store to a field of the environment.
    pub fn env_store(&mut self, value: ir::Value, offset: i32) {
        let env = self.env;
        self.b.ins().store(flags(), value, env, offset);
    }

    /// Goes on only if a condition (an `i8`, not 0) holds; else executes `cold` and leaves with the
    /// status that it returns.
    pub fn leave_unless(&mut self, cond: ir::Value, cold: impl FnOnce(&mut Self) -> ir::Value) {
        let (out, on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(out);
        self.go_on_if(cond, on, out);
        self.b.switch_to_block(out);
        let status = cold(self);
        self.leave(status);
        self.b.switch_to_block(on);
    }

    /// Leaves if a condition (an `i8`, not 0) holds.
    pub fn leave_if(&mut self, cond: ir::Value, status: Status) {
        let (out, on) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(out);
        self.b.ins().brif(cond, out, &[], on, &[]);
        self.b.switch_to_block(out);
        let status = self.b.ins().iconst(types::I32, status as i64);
        self.leave(status);
        self.b.switch_to_block(on);
    }

    /// Leaves with a status, which ends the current block.
    pub fn leave(&mut self, status: ir::Value) {
        match &self.exit {
            Exit::Function(results) => {
                let results = results.clone();
                let mut all = vec![status];
                all.extend(results.into_iter().map(|ty| self.zero(ty)));
                self.b.ins().return_(&all);
            }
            Exit::Outlined(area) => {
                let area = *area;
                self.b.ins().store(flags(), status, area, 0);
                self.b.ins().return_(&[]);
            }
            Exit::Kernel(block) => {
                let block = *block;
                let element = self.element.or_bug("code of a kernel is executed for an element");
                self.b.ins().jump(block, &[BlockArg::from(status), BlockArg::from(element)]);
            }
        }
    }

    /// Leaves if the interrupt flag is set.
    pub fn poll(&mut self) {
        let at = self.interrupt;
        // An ordinary load would be done once, before a loop that writes nothing.
        let flag = self.b.ins().atomic_load(types::I8, MemFlagsData::trusted(), at);
        self.leave_if(flag, Status::Interrupted);
    }

    /// Loads the fields of the environment that every function needs; at its beginning.
    pub fn enter(&mut self) {
        self.interrupt = self.env_load(types::I64, offset::INTERRUPT);
    }

    /// Returns true if vectors may be wider than Cranelift's: the code is for `wide`.
    pub fn is_wide(&self) -> bool {
        self.vector_bytes > VECTOR_BYTES
    }

    /// Emits a call of a function of the runtime.
    pub fn call_host(
        &mut self,
        function: *const u8,
        args: &[ir::Value],
        result: Option<Type>,
    ) -> Option<ir::Value> {
        let mut signature = Signature::new(self.unit.convention);
        for arg in args {
            let ty = self.b.func.dfg.value_type(*arg);
            signature.params.push(AbiParam::new(ty));
        }
        signature.returns.extend(result.map(AbiParam::new));
        let signature = self.b.import_signature(signature);
        let callee = self.int(function as i64);
        let call = self.b.ins().call_indirect(signature, callee, args);
        self.b.inst_results(call).first().copied()
    }

    /// Emits a rare call of a function of the runtime.
    pub fn call_cold(&mut self, call: ColdCall, args: &[ir::Value]) -> Option<ir::Value> {
        let Some(address) = call.preserving(self.unit.isa) else {
            return self.call_host(call.function(), args, call.result());
        };
        let signature = self.b.import_signature(call.signature());
        let callee = self.int(address);
        for (n, argument) in args.iter().enumerate() {
            self.env_store(*argument, offset::ARGUMENTS + 8 * n as i32);
        }
        let env = self.env;
        self.b.ins().call_indirect(signature, callee, &[env]);
        call.result().map(|ty| self.env_load(ty, offset::RESULT))
    }

    /// Emits a call of a function of the runtime that returns a status; leaves unless it is `Done`.
    pub fn call_host_checked(&mut self, function: *const u8, args: &[ir::Value]) {
        let status = self
            .call_host(function, args, Some(types::I32))
            .or_bug("a routine that returns a status has a result");
        self.leave_unless_done(status);
    }

    /// Leaves unless a status is `Done`.
    pub fn leave_unless_done(&mut self, status: ir::Value) {
        let done = self.b.ins().icmp_imm_s(IntCC::Equal, status, 0);
        self.leave_unless(done, |_| status);
    }

    /// Creates a block with parameters of these types.
    pub fn block_with(&mut self, types: impl IntoIterator<Item = Type>) -> ir::Block {
        let block = self.b.create_block();
        for ty in types {
            self.b.append_block_param(block, ty);
        }
        block
    }

    /// Jumps to a block.
    pub fn jump(&mut self, block: ir::Block, args: &[ir::Value]) {
        let args = block_args(args);
        self.b.ins().jump(block, &args);
    }

    /// Goes to `on` if a condition (an `i8`, not 0) holds, else to `out`. The exit is the first target:
    /// Cranelift visits the second one first, and hoists nothing out of a loop once it has visited a
    /// block outside of it.
    pub fn go_on_if(&mut self, cond: ir::Value, on: ir::Block, out: ir::Block) {
        let not = self.b.ins().icmp_imm_s(IntCC::Equal, cond, 0);
        self.b.ins().brif(not, out, &[], on, &[]);
    }

    /// Begins a loop with these carried values: what follows is its head, which computes the
    /// condition for [`FunctionEmitter::loop_while`].
    pub fn begin_loop(&mut self, init: &[ir::Value]) -> Loop {
        let exit = self.b.create_block();
        self.begin_loop_to(exit, init)
    }

    /// Begins a loop that leaves to a block which exists already.
    pub fn begin_loop_to(&mut self, exit: ir::Block, init: &[ir::Value]) -> Loop {
        let head = self.block_like(init);
        let body = self.b.create_block();
        self.jump(head, init);
        self.b.switch_to_block(head);
        Loop { head, body, exit, carried: self.b.block_params(head).to_vec() }
    }

    /// Leaves a loop unless a condition (an `i8`, not 0) holds: what follows is its body.
    pub fn loop_while(&mut self, looped: &Loop, cond: ir::Value) {
        self.go_on_if(cond, looped.body, looped.exit);
        self.b.switch_to_block(looped.body);
    }

    /// Ends the body of a loop with the next carried values: what follows is executed behind it.
    pub fn end_loop(&mut self, looped: &Loop, next: &[ir::Value]) {
        self.jump(looped.head, next);
        self.b.switch_to_block(looped.exit);
    }

    /// Creates a block with parameters of the types of these values.
    pub fn block_like(&mut self, values: &[ir::Value]) -> ir::Block {
        let block = self.b.create_block();
        for value in values {
            let ty = self.b.func.dfg.value_type(*value);
            self.b.append_block_param(block, ty);
        }
        block
    }

    /// Branches to one of two blocks.
    pub fn branch(
        &mut self,
        cond: ir::Value,
        then: (ir::Block, &[ir::Value]),
        otherwise: (ir::Block, &[ir::Value]),
    ) {
        let (a, b) = (block_args(then.1), block_args(otherwise.1));
        self.b.ins().brif(cond, then.0, &a, otherwise.0, &b);
    }
}

fn block_args(values: &[ir::Value]) -> Vec<BlockArg> {
    values.iter().map(|v| BlockArg::from(*v)).collect()
}
