//! kir → machine code.
//!
//! ```text
//! inline   small functions become part of who calls them
//! tidy     what frees nothing goes
//! facts    who recurses, who allocates, how much work there is
//! kernel   a function for each phase; sinks, live: what a phase does and needs
//! machine  what code is made for, and who chooses its registers
//!   code, control, scalar     one point at a time
//!   rows                      what a point adds to a row of a table
//!   vector                    several points, or turns of a loop, at a time
//! ```

mod alias;
mod code;
mod control;
pub mod facts;
mod inline;
mod kernel;
mod live;
pub mod machine;
mod rows;
mod scalar;
pub mod sinks;
mod tidy;
mod vector;
pub mod walk;

use crate::arena::{Env, Status, at};
use crate::launch::Workers;
use crate::memory::PAD;
use code::{Coder, Exit, Root, clif_value};
use cranelift_codegen::Context;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AbiParam, FuncRef, Function, InstBuilder, Signature, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module as _};
use facts::Facts;
use machine::Machine;
use nesl_runtime::kir::{self, Kernel, Module, Op, Sink, Space};
use rustc_hash::FxHashMap;
use sinks::Phase;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// A phase of a kernel: environment, parameters, chunk; gives a [`Status`].
pub type Entry = unsafe extern "C" fn(*mut Env, *const u64, *mut u64) -> i32;

/// Bytes of stack for a level of nesting, several times what it takes.
const LEVEL: usize = 32 << 10;
/// Bytes of stack for what does not nest.
const LEAST: usize = 256 << 10;
/// Bytes of stack there can be.
const MOST: usize = 1 << 30;

/// What is compiled together, for those who compile it.
pub struct Unit<'a> {
    /// The module, small functions inlined.
    pub module: &'a Module,
    /// The facts of its functions.
    pub facts: &'a [Facts],
    /// Its constant arrays.
    pub texts: &'a Texts,
    /// How the runtime's functions are called.
    pub convention: CallConv,
    /// Whether the machine chooses between lanes by one instruction.
    pub blends: bool,
}

/// The constant arrays of a module, bordered as all arrays are.
#[derive(Debug, Default)]
pub struct Texts {
    of: FxHashMap<Box<[u8]>, Box<[u8]>>,
}

impl Texts {
    fn of(module: &Module) -> Texts {
        let mut texts = Texts::default();
        let functions = module.functions.iter().map(|function| &function.body);
        let stages = module.kernels.iter().flat_map(|kernel| &kernel.stages).map(|s| &s.body);
        for block in functions.chain(stages) {
            walk::insts(block, &mut |inst| {
                if let Op::Text(text) = &inst.op {
                    texts.of.entry(text.clone()).or_insert_with(|| {
                        let border = [0; PAD];
                        [&border[..], text, &border].concat().into()
                    });
                }
            });
        }
        texts
    }

    /// Where a text begins; as long as the module is loaded.
    pub fn address(&self, text: &[u8]) -> i64 {
        self.of[text][PAD..].as_ptr() as i64
    }
}

/// A compiled module.
pub struct Compiled {
    /// By index.
    pub kernels: Vec<KernelCode>,
    /// Owns the code; freed when this is dropped.
    jit: Option<JITModule>,
    /// Read by the code.
    _texts: Texts,
}

/// A compiled kernel and what its launches must know of it.
pub struct KernelCode {
    /// The kernel.
    pub kernel: Kernel,
    /// The machine functions, the last phase last.
    pub phases: Vec<(Phase, Entry)>,
    /// What finds out, when a launch has failed, whether an earlier stage fails somewhere.
    pub checks: Vec<Entry>,
    /// Operations at a point, about.
    pub work: u64,
    /// Whether instances may call functions that call themselves.
    pub recursive: bool,
    /// Whether instances may take any time, whatever `work` says.
    pub lasts: bool,
    /// Whether instances may allocate.
    pub allocates: bool,
    /// Whether a segment has to be in one chunk.
    pub whole_segments: bool,
    /// Whether there must be but one chunk.
    pub single: bool,
    /// Points that are run together, where that makes a difference; chunks are multiples of it.
    pub group: usize,
}

// SAFETY: the code is not changed once it is compiled, and has no state of its own.
unsafe impl Send for Compiled {}
// SAFETY: as above.
unsafe impl Sync for Compiled {}

impl Drop for Compiled {
    fn drop(&mut self) {
        if let Some(jit) = self.jit.take() {
            // SAFETY: the entries are reachable through `self` only; launches borrow it.
            unsafe { jit.free_memory() };
        }
    }
}

/// Compiles a lawful module, unless somebody wants it to stop.
pub fn compile(
    module: &Module,
    machine: &Machine,
    workers: &Workers,
    stop: &AtomicBool,
) -> Result<Compiled, String> {
    // All that follows recurses over blocks in blocks. In each other, inlined, none is twice.
    let functions = module.functions.iter().map(|function| &function.body);
    let stages = module.kernels.iter().flat_map(|kernel| &kernel.stages).map(|s| &s.body);
    let depth: usize = functions.chain(stages).map(|block| walk::depth(block) + 1).sum();
    let room = (depth * LEVEL).clamp(LEAST, MOST);
    stacker::maybe_grow(room, room + LEAST, || compile_here(module, machine, workers, room, stop))
}

fn compile_here(
    module: &Module,
    machine: &Machine,
    workers: &Workers,
    room: usize,
    stop: &AtomicBool,
) -> Result<Compiled, String> {
    let (module, facts) = inline::inline(module);
    let isa = machine.isa.clone();
    let convention = isa.default_call_conv();
    let blends = isa.isa_flags().iter().any(|f| f.name == "has_sse41" && f.as_bool() == Some(true));
    let mut jit =
        JITModule::new(JITBuilder::with_isa(isa, cranelift_module::default_libcall_names()));
    let texts = Texts::of(&module);
    let unit = Unit { module: &module, facts: &facts, texts: &texts, convention, blends };
    let mut out = Out {
        context: FunctionBuilderContext::new(),
        ids: Vec::new(),
        used: reached(&module),
        made: Vec::new(),
    };
    out.declare(&unit, &mut jit)?;
    for at in 0..module.functions.len() {
        out.function(&unit, &mut jit, at)?;
    }
    let mut ids = Vec::new();
    for (at, kernel) in module.kernels.iter().enumerate() {
        let mut own = Vec::new();
        let mut group = 1;
        for phase in phases(kernel) {
            let (id, points) = out.kernel(&unit, &mut jit, at, phase)?;
            own.push((phase, id));
            group = group.max(points);
        }
        let mut checks = Vec::new();
        for stage in live::failing_stages(kernel) {
            let phase = Phase::Totals(stage);
            checks.push(match own.iter().find(|(own, _)| *own == phase) {
                Some((_, id)) => *id,
                None => out.kernel(&unit, &mut jit, at, phase)?.0,
            });
        }
        ids.push((own, checks, group));
    }
    if let Err(message) = define(&mut jit, out.made, (machine, workers, room), stop) {
        // SAFETY: nothing of it was handed out.
        unsafe { jit.free_memory() };
        return Err(message);
    }
    let entry = |id| {
        let code = jit.get_finalized_function(id);
        // SAFETY: compiled with the signature of an entry.
        unsafe { std::mem::transmute::<*const u8, Entry>(code) }
    };
    let kernels = module.kernels.iter().zip(ids).map(|(kernel, (phases, checks, group))| {
        let phases = phases.into_iter().map(|(phase, id)| (phase, entry(id))).collect();
        let checks = checks.into_iter().map(entry).collect();
        KernelCode { group, ..describe(kernel, &facts, phases, checks) }
    });
    let kernels = kernels.collect();
    Ok(Compiled { kernels, jit: Some(jit), _texts: texts })
}

/// The functions that are still called.
fn reached(module: &Module) -> Vec<bool> {
    let mut used = vec![false; module.functions.len()];
    let mut left: Vec<&kir::Block> =
        module.kernels.iter().flat_map(|k| &k.stages).map(|s| &s.body).collect();
    while let Some(block) = left.pop() {
        walk::insts(block, &mut |inst| {
            if let Op::Call(callee, _) = inst.op
                && !std::mem::replace(&mut used[callee.0 as usize], true)
            {
                left.push(&module.functions[callee.0 as usize].body);
            }
        });
    }
    used
}

/// The phases of a kernel.
fn phases(kernel: &Kernel) -> Vec<Phase> {
    let mut phases = Vec::new();
    for (at, stage) in kernel.stages.iter().enumerate() {
        if stage.sinks.iter().any(|s| matches!(s, Sink::Scan { .. } | Sink::Pack { .. })) {
            phases.push(Phase::Totals(at));
        }
    }
    if sinks(kernel).any(|sink| sinks::is_ordered(kernel, sink)) {
        phases.push(Phase::Tags);
    }
    phases.push(Phase::Final);
    phases
}

fn sinks(kernel: &Kernel) -> impl Iterator<Item = &Sink> {
    kernel.stages.iter().flat_map(|s| &s.sinks)
}

fn describe(
    kernel: &Kernel,
    facts: &[Facts],
    phases: Vec<(Phase, Entry)>,
    checks: Vec<Entry>,
) -> KernelCode {
    let blocks = || kernel.stages.iter().map(|s| &s.body);
    let (mut recursive, mut lasts) = (false, false);
    for block in blocks() {
        lasts |= facts::has_loops(block);
        walk::insts(block, &mut |inst| {
            if let Op::Call(callee, _) = inst.op {
                recursive |= facts[callee.0 as usize].recursive;
                lasts |= facts[callee.0 as usize].lasts;
            }
        });
    }
    let early =
        |s: &Sink| matches!(s, Sink::Scan { .. } | Sink::Pack { .. } | Sink::Scatter { .. });
    let last_early = kernel.stages.iter().rposition(|s| s.sinks.iter().any(early));
    KernelCode {
        work: blocks()
            .map(|b| facts::work(b, facts) + 1)
            .chain(sinks(kernel).map(facts::work_of_sink))
            .fold(0, u64::saturating_add),
        recursive,
        lasts,
        allocates: allocates(kernel, facts),
        whole_segments: matches!(kernel.space, Space::Regular { .. } | Space::Segmented { .. })
            && sinks(kernel).any(|s| matches!(s, Sink::Reduce { result: Some(_), .. })),
        single: last_early.is_some_and(|last| live::reads_written(kernel, last)),
        phases,
        checks,
        group: 1,
        kernel: kernel.clone(),
    }
}

fn allocates(kernel: &Kernel, facts: &[Facts]) -> bool {
    let mut found = false;
    for stage in &kernel.stages {
        walk::insts(&stage.body, &mut |inst| match &inst.op {
            Op::Alloc(..) | Op::Compact { .. } => found = true,
            Op::Call(callee, _) => found |= facts[callee.0 as usize].allocates,
            _ => {}
        });
    }
    found || sinks(kernel).any(|s| matches!(s, Sink::Emit { .. }))
}

/// Machine functions on their way to the module.
struct Out {
    context: FunctionBuilderContext,
    ids: Vec<Option<FuncId>>,
    used: Vec<bool>,
    /// Not yet machine code.
    made: Vec<(FuncId, Context)>,
}

impl Out {
    fn declare(&mut self, unit: &Unit<'_>, jit: &mut JITModule) -> Result<(), String> {
        for (at, function) in unit.module.functions.iter().enumerate() {
            let id = if self.used[at] {
                let signature = signature(function, unit.convention);
                let id = jit.declare_anonymous_function(&signature);
                Some(id.map_err(|e| e.to_string())?)
            } else {
                None
            };
            self.ids.push(id);
        }
        Ok(())
    }

    /// Makes the functions that blocks call known to the one that is made.
    fn callees<'a>(
        &self,
        blocks: impl Iterator<Item = &'a kir::Block>,
        jit: &mut JITModule,
        into: &mut Function,
    ) -> FxHashMap<u32, FuncRef> {
        let mut refs = FxHashMap::default();
        for block in blocks {
            walk::insts(block, &mut |inst| {
                if let Op::Call(callee, _) = inst.op
                    && let Some(id) = self.ids[callee.0 as usize]
                {
                    refs.entry(callee.0).or_insert_with(|| jit.declare_func_in_func(id, into));
                }
            });
        }
        refs
    }

    fn function(&mut self, unit: &Unit<'_>, jit: &mut JITModule, at: usize) -> Result<(), String> {
        let function = &unit.module.functions[at];
        let Some(id) = self.ids[at] else { return Ok(()) };
        let mut context = jit.make_context();
        context.func.signature = signature(function, unit.convention);
        let refs = self.callees(std::iter::once(&function.body), jit, &mut context.func);
        let mut b = FunctionBuilder::new(&mut context.func, &mut self.context);
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        let params = b.block_params(entry).to_vec();
        let results = function.results.iter().map(|ty| clif_value(*ty)).collect();
        let mut coder = Coder {
            b,
            unit,
            callees: &refs,
            types: &function.types,
            values: vec![None; function.types.len()],
            constants: FxHashMap::default(),
            roots: FxHashMap::default(),
            env: params[0],
            interrupt: params[0],
            depth: params[1],
            exit: Exit::Function(results),
            point: None,
            loops: 0,
            reduced: &[],
        };
        coder.enter();
        for (name, param) in function.params.iter().zip(&params[2..]) {
            coder.set(*name, *param);
            coder.roots.insert(*name, Root::Given);
        }
        if unit.facts[at].cyclic {
            let left = coder.b.ins().icmp_imm_s(IntCC::SignedLessThan, coder.depth, 0);
            coder.leave_if(left, Status::TooDeep);
            let limit = coder.env_load(types::I64, at::STACK_LIMIT);
            let here = coder.b.ins().get_stack_pointer(types::I64);
            let below = coder.b.ins().icmp(IntCC::UnsignedLessThan, here, limit);
            coder.leave_if(below, Status::TooDeep);
            coder.poll();
        }
        coder.block(&function.body);
        let mut all = vec![coder.b.ins().iconst(types::I32, 0)];
        all.extend(function.body.yields.iter().map(|v| coder.get(*v)));
        coder.b.ins().return_(&all);
        coder.b.seal_all_blocks();
        coder.b.finalize(jit.target_config());
        self.made.push((id, context));
        Ok(())
    }

    /// A phase of a kernel; also how many points it runs together.
    fn kernel(
        &mut self,
        unit: &Unit<'_>,
        jit: &mut JITModule,
        at: usize,
        phase: Phase,
    ) -> Result<(FuncId, usize), String> {
        let kernel = &unit.module.kernels[at];
        let mut context = jit.make_context();
        let mut signature = Signature::new(unit.convention);
        signature.params.extend([AbiParam::new(types::I64); 3]);
        signature.returns.push(AbiParam::new(types::I32));
        let id = jit.declare_anonymous_function(&signature).map_err(|e| e.to_string())?;
        context.func.signature = signature;
        let blocks = kernel.stages.iter().map(|s| &s.body);
        let refs = self.callees(blocks, jit, &mut context.func);
        let mut b = FunctionBuilder::new(&mut context.func, &mut self.context);
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        let params = b.block_params(entry).to_vec();
        let c = Coder {
            b,
            unit,
            callees: &refs,
            types: &kernel.types,
            values: vec![None; kernel.types.len()],
            constants: FxHashMap::default(),
            roots: FxHashMap::default(),
            env: params[0],
            interrupt: params[0],
            depth: params[0],
            exit: Exit::Function(Vec::new()),
            point: None,
            loops: 0,
            reduced: &[],
        };
        let allocates = allocates(kernel, unit.facts);
        let mut kern =
            kernel::Kern { c, kernel, allocates, chunk: params[2], tag: params[2], group: 1 };
        kern.run(params[1], phase);
        kern.c.b.seal_all_blocks();
        kern.c.b.finalize(jit.target_config());
        let group = kern.group;
        self.made.push((id, context));
        Ok((id, group))
    }
}

/// Makes machine code of functions, on all threads, and puts it where it can be called.
fn define(
    jit: &mut JITModule,
    made: Vec<(FuncId, Context)>,
    (machine, workers, room): (&Machine, &Workers, usize),
    stop: &AtomicBool,
) -> Result<(), String> {
    let done: Vec<_> = made.into_iter().map(|(id, made)| (id, Mutex::new((made, None)))).collect();
    workers.each(done.len(), &|take| {
        while let Some(at) = take() {
            if stop.load(Relaxed) {
                return;
            }
            let mut own = done[at].1.lock().unwrap_or_else(PoisonError::into_inner);
            let (context, result) = &mut *own;
            let compile = || machine.compile(context);
            *result = Some(stacker::maybe_grow(room, room + LEAST, compile));
        }
    });
    for (id, own) in done {
        let (context, result) = own.into_inner().unwrap_or_else(PoisonError::into_inner);
        result.ok_or("interrupted")??;
        machine::put(jit, id, &context)?;
    }
    jit.finalize_definitions().map_err(|e| e.to_string())
}

/// Environment, depth, parameters → status, results.
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
