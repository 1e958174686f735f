//! Machine functions on their way into the module: one for each function that is still called, and
//! one for each pass of each kernel.

use super::MIN_STACK_BYTES;
use super::emitted;
use super::emitter::{Exit, FunctionEmitter, clif_value};
use super::kernel::KernelBuilder;
use super::machine::{self, Machine, VECTOR_BYTES};
use super::outlines::{OutlinedLoop, Outlines};
use super::phases::{self, Phase};
use super::unit::Unit;
use super::vector::outline;
use crate::abi::{Status, offset};
use crate::workers::Workers;
use cranelift_codegen::Context;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, FuncRef, Function, InstBuilder, Signature, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Module as _};
use nesl_runtime::kir::alias::Provenance;
use nesl_runtime::kir::{self, Kernel, Module, ValueTy, liveness, walk};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Builds the machine functions of a module, not yet compiled.
pub struct Assembler<'a, 'j> {
    unit: &'a Unit<'a>,
    jit: &'j mut JITModule,
    context: FunctionBuilderContext,
    /// By function of the module, its machine function; none if it is no longer called.
    ids: Vec<Option<FuncId>>,
    functions: Vec<Built>,
    /// The size of the widest vectors, in bytes.
    vector_bytes: usize,
}

/// A machine function that is built, but not compiled.
pub struct Built {
    id: FuncId,
    context: Context,
    /// The same with wide vectors, where it gains from them.
    wide: Option<Context>,
}

/// The machine functions of a kernel.
pub struct KernelPasses {
    /// The passes, the final one last.
    pub phases: Vec<(Phase, FuncId)>,
    /// The passes that look for failures of earlier stages.
    pub checks: Vec<FuncId>,
    /// The number of elements that are best executed together.
    pub group_elements: usize,
}

impl<'a, 'j> Assembler<'a, 'j> {
    /// Declares the functions of the module that are still called, and builds them.
    /// Vectors have at most `vector_bytes` bytes.
    pub fn new(
        unit: &'a Unit<'a>,
        jit: &'j mut JITModule,
        vector_bytes: usize,
    ) -> Result<Assembler<'a, 'j>, String> {
        let mut ids = Vec::new();
        for (function, called) in unit.module.functions.iter().zip(called(unit.module)) {
            let id = if called {
                let signature = signature(function, unit.convention);
                let id = jit.declare_anonymous_function(&signature);
                Some(id.map_err(|e| e.to_string())?)
            } else {
                None
            };
            ids.push(id);
        }
        let (context, functions) = (FunctionBuilderContext::new(), Vec::new());
        let mut assembler = Assembler { unit, jit, context, ids, functions, vector_bytes };
        for at in 0..unit.module.functions.len() {
            assembler.function(at);
        }
        Ok(assembler)
    }

    /// Builds the passes of a kernel.
    pub fn kernel(
        &mut self,
        at: usize,
        kernel: &Kernel,
        packs_apart: bool,
    ) -> Result<KernelPasses, String> {
        let mut passes = KernelPasses { phases: Vec::new(), checks: Vec::new(), group_elements: 1 };
        for phase in phases::phases(kernel, packs_apart) {
            let (id, elements) = self.pass(at, phase)?;
            passes.phases.push((phase, id));
            passes.group_elements = passes.group_elements.max(elements);
        }
        for stage in liveness::failing_stages(kernel) {
            let phase = Phase::Local(stage);
            let own = passes.phases.iter().find(|(own, _)| *own == phase);
            let id = match own {
                Some((_, id)) => *id,
                None => self.pass(at, phase)?.0,
            };
            passes.checks.push(id);
        }
        Ok(passes)
    }

    /// The machine functions built, to be [defined](define).
    pub fn finish(self) -> Vec<Built> {
        self.functions
    }

    /// Declares the functions that blocks call within the function `into`.
    fn callees<'k>(
        ids: &[Option<FuncId>],
        blocks: impl Iterator<Item = &'k kir::Block>,
        jit: &mut JITModule,
        into: &mut Function,
    ) -> FxHashMap<u32, FuncRef> {
        let mut refs = FxHashMap::default();
        for block in blocks {
            walk::each_inst(block, &mut |inst| {
                if let Some(callee) = inst.op.callee()
                    && let Some(id) = ids[callee.0 as usize]
                {
                    refs.entry(callee.0).or_insert_with(|| jit.declare_func_in_func(id, into));
                }
            });
        }
        refs
    }

    /// Builds a function of the module, if it is still called.
    fn function(&mut self, at: usize) {
        let unit = self.unit;
        let function = &unit.module.functions[at];
        let Some(id) = self.ids[at] else { return };
        let mut context = self.jit.make_context();
        context.func.signature = signature(function, unit.convention);
        let bodies = std::iter::once(&function.body);
        let refs = Self::callees(&self.ids, bodies, self.jit, &mut context.func);
        let results = function.results.iter().map(|ty| clif_value(*ty)).collect();
        let b = FunctionBuilder::new(&mut context.func, &mut self.context);
        let exit = Exit::Function(results);
        let (mut emitter, params) = FunctionEmitter::new(b, unit, &refs, &function.types, exit);
        let config = self.jit.target_config();
        emitter.outlines = outlines(self.jit, self.vector_bytes);
        emitter.depth = params[1];
        emitter.itself = Some(at as u32);
        emitter.enter();
        for (name, param) in function.params.iter().zip(&params[2..]) {
            emitter.set(*name, *param);
            emitter.provenance.insert(*name, Provenance::PREEXISTING);
        }
        if unit.facts[at].in_cycle {
            let left = emitter.b.ins().icmp_imm_s(IntCC::SignedLessThan, emitter.depth, 0);
            emitter.leave_if(left, Status::TooDeep);
            let limit = emitter.env_load(types::I64, offset::STACK_LIMIT);
            let here = emitter.b.ins().get_stack_pointer(types::I64);
            let below = emitter.b.ins().icmp(IntCC::UnsignedLessThan, here, limit);
            emitter.leave_if(below, Status::StackFull);
            emitter.poll();
        }
        emitter.block(&function.body);
        let mut all = vec![emitter.b.ins().iconst(types::I32, 0)];
        all.extend(function.body.yields.iter().map(|v| emitter.get(*v)));
        emitter.b.ins().return_(&all);
        emitter.b.seal_all_blocks();
        emitter.b.finalize(config);
        let outlined = emitter.outlines.map_or(Vec::new(), |outlines| outlines.declared);
        self.functions.push(Built { id, context, wide: None });
        outlined.iter().for_each(|outlined| self.outlined(&function.types, outlined));
    }

    /// Builds a loop that was outlined, among values of these types.
    fn outlined<'k>(&mut self, types: &'k [ValueTy], outlined: &OutlinedLoop<'k>)
    where
        'a: 'k,
    {
        let context = self.outlined_with(types, outlined, VECTOR_BYTES);
        let wide = self.outlined_with(types, outlined, self.vector_bytes);
        self.functions.push(Built { id: outlined.id, context, wide: Some(wide) });
    }

    /// Builds an outlined loop with vectors of at most `vector_bytes` bytes.
    fn outlined_with<'k>(
        &mut self,
        types: &'k [ValueTy],
        outlined: &OutlinedLoop<'k>,
        vector_bytes: usize,
    ) -> Context
    where
        'a: 'k,
    {
        let unit = self.unit;
        let mut context = self.jit.make_context();
        context.func.signature = outline::signature();
        let b = FunctionBuilder::new(&mut context.func, &mut self.context);
        let exit = Exit::Function(Vec::new());
        let none = FxHashMap::default();
        let (mut emitter, params) = FunctionEmitter::new(b, unit, &none, types, exit);
        emitter.vector_bytes = vector_bytes;
        emitter.enter();
        emitter.outlined(outlined, params[1]);
        emitter.b.seal_all_blocks();
        emitter.b.finalize(self.jit.target_config());
        context
    }

    /// Builds a pass of a kernel; also returns the number of elements that it executes together.
    fn pass(&mut self, at: usize, phase: Phase) -> Result<(FuncId, usize), String> {
        let mut signature = Signature::new(self.unit.convention);
        signature.params.extend([AbiParam::new(types::I64); 3]);
        signature.returns.push(AbiParam::new(types::I32));
        let id = self.jit.declare_anonymous_function(&signature).map_err(|e| e.to_string())?;
        let narrow = PassCode { vector_bytes: VECTOR_BYTES, outlines: false };
        let mut pass = self.pass_of(at, phase, &signature, narrow);
        let mut wide = None;
        if pass.gains != Gains::Nowhere && self.vector_bytes > VECTOR_BYTES {
            let code = PassCode { vector_bytes: self.vector_bytes, outlines: false };
            if pass.gains == Gains::InElements
                && let built = self.pass_of(at, phase, &signature, code)
                && built.gains == Gains::InElements
            {
                pass.group_elements = built.group_elements;
                wide = Some(built.context);
            } else {
                let outlined = PassCode { outlines: true, ..narrow };
                pass = self.pass_of(at, phase, &signature, outlined);
            }
        }
        let BuiltPass { context, group_elements, .. } = pass;
        self.functions.push(Built { id, context, wide });
        Ok((id, group_elements))
    }

    /// Builds a pass.
    fn pass_of(
        &mut self,
        at: usize,
        phase: Phase,
        signature: &Signature,
        code: PassCode,
    ) -> BuiltPass {
        let unit = self.unit;
        let kernel = &unit.module.kernels[at];
        let mut context = self.jit.make_context();
        context.func.signature = signature.clone();
        let bodies = walk::stage_bodies(kernel);
        let refs = Self::callees(&self.ids, bodies, self.jit, &mut context.func);
        let b = FunctionBuilder::new(&mut context.func, &mut self.context);
        let exit = Exit::Function(Vec::new());
        let (mut c, params) = FunctionEmitter::new(b, unit, &refs, &kernel.types, exit);
        c.vector_bytes = code.vector_bytes;
        if phase == Phase::Final {
            c.emitted = emitted::allocations(kernel);
        }
        let allocates = kir::facts::kernel_facts(kernel, unit.facts).allocates;
        let config = self.jit.target_config();
        if code.outlines {
            c.outlines = outlines(self.jit, self.vector_bytes);
        }
        let (chunk, tag) = (params[2], params[2]);
        let (group_elements, before, has_serial_loops) = (1, Vec::new(), false);
        let mut builder = KernelBuilder {
            c,
            kernel,
            allocates,
            chunk,
            tag,
            group_elements,
            before,
            has_serial_loops,
        };
        builder.run(params[1], phase);
        builder.c.b.seal_all_blocks();
        let group_elements = builder.group_elements;
        let gains = match builder.c.gains_from_width {
            false => Gains::Nowhere,
            true if builder.c.gains() && !builder.has_serial_loops && refs.is_empty() => {
                Gains::InElements
            }
            true => Gains::InLoops,
        };
        builder.c.b.finalize(config);
        let outlined = builder.c.outlines.map_or(Vec::new(), |outlines| outlines.declared);
        outlined.iter().for_each(|outlined| self.outlined(&kernel.types, outlined));
        BuiltPass { context, group_elements, gains }
    }
}

/// The code that a pass is built with.
#[derive(Clone, Copy)]
struct PassCode {
    /// The size of the widest vectors, in bytes.
    vector_bytes: usize,
    /// True if loops with wide vectors are functions of their own.
    outlines: bool,
}

/// A pass that is built.
struct BuiltPass {
    context: Context,
    /// The number of elements that it executes together.
    group_elements: usize,
    gains: Gains,
}

/// The code of a pass that gains from wide vectors.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gains {
    /// The pass gains nowhere.
    Nowhere,
    /// It gains in loops of its code: the pass itself is left to Cranelift.
    InLoops,
    /// It gains all in all: its elements are in vectors.
    InElements,
}

/// Returns where code that is left to Cranelift notes its loops with wide vectors, if the machine has such.
fn outlines<'a, 'f>(jit: &'f mut JITModule, vector_bytes: usize) -> Option<Outlines<'a, 'f>> {
    (vector_bytes > VECTOR_BYTES).then(|| Outlines { jit, declared: Vec::new() })
}

/// Measures of the machine functions of a module.
#[derive(Default)]
pub struct Defined {
    /// The number of functions that have vectors wider than usual.
    pub wide_functions: usize,
    /// The sizes of the stack frames together, in bytes.
    pub frame_bytes: usize,
}

/// Compiles machine functions, on all threads, and makes them callable. `room` is the stack that
/// compiling one needs, in bytes.
pub fn define(
    jit: &mut JITModule,
    functions: Vec<Built>,
    (machine, workers, room): (&Machine, &Workers, usize),
    stop: &AtomicBool,
) -> Result<Defined, String> {
    let functions: Vec<_> = functions.into_iter().map(|built| Mutex::new((built, None))).collect();
    workers.each(functions.len(), &|take| {
        while let Some(at) = take() {
            if stop.load(Relaxed) {
                return;
            }
            let mut own = functions[at].lock().unwrap_or_else(PoisonError::into_inner);
            let (built, result) = &mut *own;
            let compile = || match built.wide.as_mut().map(|wide| machine.compile_wide(wide)) {
                Some(Ok(wide)) => Ok(Some(wide)),
                None | Some(Err(_)) => machine.compile(&mut built.context).map(|()| None),
            };
            *result = Some(stacker::maybe_grow(room, room + MIN_STACK_BYTES, compile));
        }
    });
    let mut defined = Defined::default();
    for own in functions {
        let (built, result) = own.into_inner().unwrap_or_else(PoisonError::into_inner);
        match result.ok_or("interrupted")?? {
            Some((bytes, frame_bytes)) => {
                machine::put_wide(jit, built.id, &bytes)?;
                defined.wide_functions += 1;
                defined.frame_bytes += frame_bytes;
            }
            None => {
                machine::put(jit, built.id, &built.context)?;
                defined.frame_bytes += machine::frame_bytes(&built.context);
            }
        }
    }
    jit.finalize_definitions().map_err(|e| e.to_string())?;
    Ok(defined)
}

/// Returns, by function, true if a kernel may still call it.
fn called(module: &Module) -> Vec<bool> {
    let mut called = vec![false; module.functions.len()];
    let mut left: Vec<&kir::Block> = module.kernels.iter().flat_map(walk::stage_bodies).collect();
    while let Some(block) = left.pop() {
        walk::each_inst(block, &mut |inst| {
            if let Some(callee) = inst.op.callee()
                && !std::mem::replace(&mut called[callee.0 as usize], true)
            {
                left.push(&module.functions[callee.0 as usize].body);
            }
        });
    }
    called
}

/// The signature of a function: environment, depth, parameters → status, results.
fn signature(function: &kir::Function, convention: CallConv) -> Signature {
    let mut signature = Signature::new(convention);
    signature.params.extend([AbiParam::new(types::I64); 2]);
    signature.params.extend(function.params.iter().map(|v| {
        let ty = function.types[v.0 as usize];
        AbiParam::new(clif_value(ty))
    }));
    signature.returns.push(AbiParam::new(types::I32));
    signature.returns.extend(function.results.iter().map(|ty| AbiParam::new(clif_value(*ty))));
    signature
}
