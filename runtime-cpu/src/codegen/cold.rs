//! Calls of the runtime that are rare: they change no register of the code around them.
//!
//! A call changes most registers. If it stands in a loop, what the loop carries is kept in memory, also in the
//! iterations that do not call. Rare calls go through a function that saves all registers it changes, by
//! Cranelift's convention for instrumentation ([`CallConv::PreserveAll`]). Such a function takes the environment, and
//! has no results: arguments and what the runtime returns are left there. An argument in a register would have what
//! the loop carries make room for it.

use crate::abi::offset;
use crate::{callbacks, services};
use cranelift_codegen::ir::{
    AbiParam, Function, InstBuilder, MemFlagsData, Signature, UserFuncName, Value, types,
};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module};
use std::sync::OnceLock;

/// A function of the runtime that code calls rarely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColdCall {
    /// [`callbacks::grow`]: the environment, bytes; an address.
    Grow,
    /// [`callbacks::compact`]: the environment, a mark, pairs of arrays and sizes, their number; a status.
    Compact,
    /// [`services::copy`]: from, to, bytes.
    Copy,
}

const ALL: [ColdCall; 3] = [ColdCall::Grow, ColdCall::Compact, ColdCall::Copy];

impl ColdCall {
    /// The address of the function.
    pub fn function(self) -> *const u8 {
        match self {
            ColdCall::Grow => callbacks::grow as *const u8,
            ColdCall::Compact => callbacks::compact as *const u8,
            ColdCall::Copy => services::copy as *const u8,
        }
    }

    /// The number of arguments, each of 64 bits, at most 4.
    fn arguments(self) -> usize {
        match self {
            ColdCall::Grow => 2,
            ColdCall::Compact => 4,
            ColdCall::Copy => 3,
        }
    }

    /// The type of the result, if there is one.
    pub fn result(self) -> Option<types::Type> {
        match self {
            ColdCall::Grow => Some(types::I64),
            ColdCall::Compact => Some(types::I32),
            ColdCall::Copy => None,
        }
    }

    /// The address of the function that calls it and changes no register; none where Cranelift cannot make one.
    pub fn preserving(self, isa: &OwnedTargetIsa) -> Option<i64> {
        static MADE: OnceLock<Option<[usize; ALL.len()]>> = OnceLock::new();
        let made = MADE.get_or_init(|| make(isa));
        made.map(|addresses| addresses[self as usize] as i64)
    }

    /// The signature of the function that changes no register.
    pub fn signature(self) -> Signature {
        let mut signature = Signature::new(CallConv::PreserveAll);
        signature.params = vec![AbiParam::new(types::I64)];
        signature
    }
}

/// Compiles the functions that change no register. They are kept as long as the process lives.
fn make(isa: &OwnedTargetIsa) -> Option<[usize; ALL.len()]> {
    if cfg!(windows) || !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        return None;
    }
    let builder = JITBuilder::with_isa(isa.clone(), cranelift_module::default_libcall_names());
    let mut jit = JITModule::new(builder);
    let mut context = jit.make_context();
    let mut ids = Vec::new();
    for call in ALL {
        let name = format!("cold_{call:?}");
        let id = jit.declare_function(&name, Linkage::Local, &call.signature()).ok()?;
        context.func =
            Function::with_name_signature(UserFuncName::user(0, id.as_u32()), call.signature());
        let mut reused = FunctionBuilderContext::new();
        let mut b = FunctionBuilder::new(&mut context.func, &mut reused);
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        let env = b.block_params(entry)[0];
        let argument = |n: usize| offset::ARGUMENTS + 8 * n as i32;
        let args: Vec<Value> = (0..call.arguments())
            .map(|n| b.ins().load(types::I64, MemFlagsData::trusted(), env, argument(n)))
            .collect();
        let mut signature = Signature::new(isa.default_call_conv());
        signature.params = vec![AbiParam::new(types::I64); args.len()];
        signature.returns.extend(call.result().map(AbiParam::new));
        let signature = b.import_signature(signature);
        let callee = b.ins().iconst(types::I64, call.function() as i64);
        let called = b.ins().call_indirect(signature, callee, &args);
        if let Some(result) = b.inst_results(called).first().copied() {
            b.ins().store(MemFlagsData::trusted(), result, env, offset::RESULT);
        }
        b.ins().return_(&[]);
        b.seal_all_blocks();
        b.finalize(isa.frontend_config());
        jit.define_function(id, &mut context).ok()?;
        jit.clear_context(&mut context);
        ids.push(id);
    }
    jit.finalize_definitions().ok()?;
    let mut addresses = [0; ALL.len()];
    for (address, id) in addresses.iter_mut().zip(ids) {
        *address = jit.get_finalized_function(id) as usize;
    }
    // The addresses are used as long as the process lives.
    std::mem::forget(jit);
    Some(addresses)
}
