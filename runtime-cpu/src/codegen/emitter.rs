//! Code under construction: one machine function, the values it has so far, and how it ends
//! early.
//!
//! A kir scalar is a scalar of Cranelift (bools and chars are `i8`, bools 0 or 1), an array is
//! the address of its first element. Compiled functions are given the [`Env`](crate::arena::Env)
//! and how deep they may still call, and give a [`Status`] before their results; whoever calls
//! one hands on any status that is not [`Status::Done`].

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

/// All our addresses are good ones, but vectors are not aligned.
pub fn flags() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

/// The type in registers.
pub fn clif(ty: Ty) -> Type {
    match ty {
        Ty::I32 => types::I32,
        Ty::I64 => types::I64,
        Ty::F32 => types::F32,
        Ty::F64 => types::F64,
        Ty::Bool | Ty::U8 => types::I8,
    }
}

/// The type in registers of anything.
pub fn clif_value(ty: ValueTy) -> Type {
    match ty {
        ValueTy::Scalar(ty) => clif(ty),
        ValueTy::Array(_) | ValueTy::Mark => types::I64,
    }
}

/// What leads out of the code before its end.
pub enum Exit {
    /// Returns a status, and zeros for results.
    Function(Vec<Type>),
    /// Jumps to a block that takes the status and the element.
    Kernel(ir::Block),
}

/// One machine function under construction.
pub struct FunctionEmitter<'a, 'f> {
    /// Cranelift's half.
    pub b: FunctionBuilder<'f>,
    /// What is compiled together.
    pub unit: &'a Unit<'a>,
    /// The functions called.
    pub callees: &'a FxHashMap<u32, FuncRef>,
    /// The types of the kir values.
    pub types: &'a [ValueTy],
    /// What they are here.
    pub values: Vec<Option<ir::Value>>,
    /// Those that are constants.
    pub constants: FxHashMap<kir::Value, Literal>,
    /// The arrays of which it is known which they are.
    pub provenance: FxHashMap<kir::Value, Provenance>,
    /// The environment.
    pub env: ir::Value,
    /// Where the flag is that asks to stop.
    pub interrupt: ir::Value,
    /// How many calls within calls there may be.
    pub depth: ir::Value,
    /// How to leave.
    pub exit: Exit,
    /// The element at hand, in a kernel.
    pub element: Option<ir::Value>,
    /// How many loops of the code are around what is made.
    pub loops: usize,
    /// What the loop at hand puts together.
    pub reduced: &'a [kir::Value],
}

impl<'a, 'f> FunctionEmitter<'a, 'f> {
    /// An emitter in the entry block of a function, and the parameters of that.
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
            provenance: FxHashMap::default(),
            env: params[0],
            interrupt: params[0],
            depth: params[0],
            exit,
            element: None,
            loops: 0,
            reduced: &[],
        };
        (emitter, params)
    }

    /// What a value is.
    pub fn get(&self, value: kir::Value) -> ir::Value {
        self.values[value.0 as usize].or_bug("kir defines values before their use")
    }

    /// Defines a value.
    pub fn set(&mut self, value: kir::Value, to: ir::Value) {
        self.values[value.0 as usize] = Some(to);
    }

    /// The scalar type of a value, or that of its elements.
    pub fn element_ty(&self, value: kir::Value) -> Ty {
        match self.types[value.0 as usize] {
            ValueTy::Scalar(ty) | ValueTy::Array(ty) => ty,
            ValueTy::Mark => Ty::I64,
        }
    }

    /// The type of a value in registers.
    pub fn clif_of(&self, value: kir::Value) -> Type {
        clif_value(self.types[value.0 as usize])
    }

    /// An `i64`.
    pub fn int(&mut self, x: i64) -> ir::Value {
        self.b.ins().iconst(types::I64, x)
    }

    /// A constant.
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

    /// 0 of a type in registers, scalar or vector.
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

    /// The address of an element.
    pub fn address(&mut self, array: ir::Value, index: ir::Value, ty: Ty) -> ir::Value {
        let shift = ty.size().trailing_zeros();
        let bytes =
            if shift == 0 { index } else { self.b.ins().ishl_imm_u(index, i64::from(shift)) };
        self.b.ins().iadd(array, bytes)
    }

    /// Reads a field of the environment.
    pub fn env_load(&mut self, ty: Type, offset: i32) -> ir::Value {
        let env = self.env;
        self.b.ins().load(ty, flags(), env, offset)
    }

    /// Writes a field of the environment.
    pub fn env_store(&mut self, value: ir::Value, offset: i32) {
        let env = self.env;
        self.b.ins().store(flags(), value, env, offset);
    }

    /// Goes on only if a condition (an `i8`, not 0) holds; else leaves after `cold` with what it
    /// says.
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

    /// Leaves, which ends the block at hand.
    pub fn leave(&mut self, status: ir::Value) {
        match &self.exit {
            Exit::Function(results) => {
                let results = results.clone();
                let mut all = vec![status];
                all.extend(results.into_iter().map(|ty| self.zero(ty)));
                self.b.ins().return_(&all);
            }
            Exit::Kernel(block) => {
                let block = *block;
                let element = self.element.or_bug("code of a kernel is executed for an element");
                self.b.ins().jump(block, &[BlockArg::from(status), BlockArg::from(element)]);
            }
        }
    }

    /// Leaves if somebody wants this to stop.
    pub fn poll(&mut self) {
        let at = self.interrupt;
        // An ordinary load would be done once, before a loop that writes nothing.
        let flag = self.b.ins().atomic_load(types::I8, MemFlagsData::trusted(), at);
        self.leave_if(flag, Status::Interrupted);
    }

    /// Loads what every function needs of its environment; at its beginning.
    pub fn enter(&mut self) {
        self.interrupt = self.env_load(types::I64, offset::INTERRUPT);
    }

    /// Calls a function of the runtime.
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

    /// Calls a function of the runtime that gives a status, and leaves if that is not good.
    pub fn call_host_checked(&mut self, function: *const u8, args: &[ir::Value]) {
        let status = self
            .call_host(function, args, Some(types::I32))
            .or_bug("a routine that returns a status has a result");
        self.leave_unless_done(status);
    }

    /// Leaves if a status is not good.
    pub fn leave_unless_done(&mut self, status: ir::Value) {
        let done = self.b.ins().icmp_imm_s(IntCC::Equal, status, 0);
        self.leave_unless(done, |_| status);
    }

    /// A block with parameters of these types.
    pub fn block_with(&mut self, types: impl IntoIterator<Item = Type>) -> ir::Block {
        let block = self.b.create_block();
        for ty in types {
            self.b.append_block_param(block, ty);
        }
        block
    }

    /// Goes to a block.
    pub fn jump(&mut self, block: ir::Block, args: &[ir::Value]) {
        let args = block_args(args);
        self.b.ins().jump(block, &args);
    }

    /// Stays in a loop if a condition (an `i8`, not 0) holds, or leaves it. The way out comes
    /// first: Cranelift walks over the blocks behind the second target before, and moves nothing
    /// out of a loop any more once it has been outside.
    pub fn go_on_if(&mut self, cond: ir::Value, on: ir::Block, out: ir::Block) {
        let not = self.b.ins().icmp_imm_s(IntCC::Equal, cond, 0);
        self.b.ins().brif(not, out, &[], on, &[]);
    }

    /// Goes to one of two blocks.
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
