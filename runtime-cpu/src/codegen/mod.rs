//! Code generation: kir → machine code.
//!
//! ```text
//! kir::inline       small functions become part of their callers, dead marks go
//! kir::hoist        checks and loads that are the same in each iteration of a short loop are done before it
//! kir::common_subexpressions     values that are known are not computed again: an element is often loaded before a
//!                   condition and under it
//! kir::ranges       checks that cannot fail go, and branches that are never taken
//! kir::loops        loops over arrays carry less, and copy what is not theirs before they begin; rows of one length
//!                   have their memory before
//! kir::unroll       short loops of a known number of iterations become these, short arrays their elements
//! kir::common_subexpressions     what the loops above have in common, once they lie beside each other
//! kir::ranges       checks that cannot fail go, and divisions of small numbers by constants
//! kir::loops        loops that count become counted ones, and their checks are made before them
//! kir::early_exit   tests of all elements end with the first that decides
//! unit              the module, its facts and constants, as all code sees them
//! assemble          a machine function for each function and for each pass of a kernel
//!   phases          the passes of a kernel, and the part of each sink in each
//!   kernel          the loops of a pass over segments and elements
//!   stage_groups    the stages that share a loop over elements
//!   segment_invariants     code that is the same for all elements of a segment
//!   emitted         the lengths of rows that are emitted, and arrays made where they end up
//!   tail_loops      loops that a flag ends: they are left where it is cleared
//!   parity          pairs of elements, where the code asks if an index is even
//!   loop_copies     copies of what a loop reads from outside, which stay in registers
//!   cold            rare calls of the runtime, which change no register
//!   emitter, control, scalar, sinks, rows     code for one element at a time
//!   outlines        loops that are machine functions of their own
//!   vector          code for several elements, or iterations of a loop, at a time
//! wide              machine code with vectors wider than Cranelift's
//! machine           the instruction set and the register allocator
//! ```

mod assemble;
mod cold;
mod control;
pub mod emitted;
mod emitter;
mod kernel;
mod loop_copies;
pub mod machine;
mod outlines;
mod parity;
pub mod phases;
mod rows;
mod scalar;
mod segment_invariants;
mod sinks;
mod stage_groups;
mod tail_loops;
#[cfg(all(test, target_arch = "x86_64"))]
mod tests;
mod unit;
mod vector;
#[cfg(target_arch = "x86_64")]
mod wide;

use crate::abi::Entry;
use crate::pace::Pace;
use crate::services::{self, Address};
use crate::workers::Workers;
use assemble::Assembler;
use cranelift_jit::{JITBuilder, JITModule};
use emitted::{KnownRows, known_rows};
use machine::Machine;
use nesl_runtime::kir::common_subexpressions::eliminate_common_subexpressions;
use nesl_runtime::kir::early_exit::add_early_exits;
use nesl_runtime::kir::facts::{KernelFacts, function_facts, kernel_facts};
use nesl_runtime::kir::hoist::hoist_checks;
use nesl_runtime::kir::inline::{Limits, inline};
use nesl_runtime::kir::loops::{
    count_loops, forward_stores, make_room_for_equal_rows, simplify_loops,
};
use nesl_runtime::kir::narrow_ints::narrow_ints;
use nesl_runtime::kir::ranges::use_ranges;
use nesl_runtime::kir::unroll::unroll_loops;
use nesl_runtime::kir::{Kernel, Module, Op, Sink, Space, Ty, ValueTy, liveness, walk};
use phases::Phase;
use std::sync::atomic::AtomicBool;
use unit::{Texts, Unit};

/// Stack for a level of nesting blocks, in bytes: several times what it takes.
const STACK_BYTES_PER_LEVEL: usize = 32 << 10;
/// Stack for code that does not nest, in bytes.
const MIN_STACK_BYTES: usize = 256 << 10;
/// The largest stack for compilation, in bytes.
const MAX_STACK_BYTES: usize = 1 << 30;

/// A compiled module.
pub struct Compiled {
    /// The kernels, by index.
    pub kernels: Vec<KernelCode>,
    /// The number of machine functions that have vectors wider than usual.
    pub wide_functions: usize,
    /// Owns the code, which is freed when this is dropped.
    jit: Option<JITModule>,
    /// Read by the code.
    _texts: Texts,
}

/// A compiled kernel, and the facts that its launches need.
pub struct KernelCode {
    /// The kernel, small functions inlined.
    pub kernel: Kernel,
    /// The entry points of its passes, the final one last.
    pub phases: Vec<(Phase, Entry)>,
    /// Passes that find out, when a launch has failed, whether an earlier stage fails somewhere.
    pub checks: Vec<Entry>,
    /// Its work, recursion, termination and allocation.
    pub facts: KernelFacts,
    /// True if a segment has to be in one chunk.
    pub whole_segments: bool,
    /// True if a launch must have one chunk only.
    pub single_chunk: bool,
    /// True if the results of a launch are the same however its elements are divided into chunks.
    pub divides_freely: bool,
    /// True if the code writes arrays at indices that it computes.
    pub scatters: bool,
    /// True if the chunks of a launch pack to the places of their own elements.
    pub packs_apart: bool,
    /// True if the code calls services that use all threads, if there is one chunk.
    pub calls_services: bool,
    /// The rows that work items emit and whose lengths are known before a launch.
    pub known_rows: Vec<KnownRows>,
    /// The stack that a call takes, unless a function is entered again before it returns, in bytes, at most.
    pub frame_bytes: usize,
    /// The number of elements that are best executed together; chunks are multiples of it.
    pub group_elements: usize,
    /// The times of its launches with the help of other threads and without.
    pub pace: Pace,
}

// SAFETY: the code is immutable once it is compiled, and `JITModule` is used by `Drop` alone.
unsafe impl Send for Compiled {}
// SAFETY: a shared reference only gives entry points of immutable code, and atomic measurements.
unsafe impl Sync for Compiled {}

impl Drop for Compiled {
    fn drop(&mut self) {
        if let Some(jit) = self.jit.take() {
            // SAFETY: the entry points are reachable through `self` only, which launches borrow.
            unsafe { jit.free_memory() };
        }
    }
}

/// Compiles a well-formed module, unless `stop` is set meanwhile.
pub fn compile(
    module: &Module,
    machine: &Machine,
    workers: &Workers,
    stop: &AtomicBool,
) -> Result<Compiled, String> {
    // Compilation recurses over nested blocks. Inlining nests the bodies of functions in each
    // other, none of them in itself.
    let depth: usize = walk::bodies(module).map(|block| walk::depth(block) + 1).sum();
    let room = (depth * STACK_BYTES_PER_LEVEL).clamp(MIN_STACK_BYTES, MAX_STACK_BYTES);
    stacker::maybe_grow(room, room + MIN_STACK_BYTES, || {
        compile_here(module, machine, workers, room, stop)
    })
}

/// Compiles a module on the present stack, which has `room` bytes left.
fn compile_here(
    module: &Module,
    machine: &Machine,
    workers: &Workers,
    room: usize,
    stop: &AtomicBool,
) -> Result<Compiled, String> {
    let (mut module, inlined) = inline(module, Limits::SMALL_CALLEES);
    hoist_checks(&mut module);
    eliminate_common_subexpressions(&mut module);
    use_ranges(&mut module);
    make_room_for_equal_rows(&mut module, &inlined);
    simplify_loops(&mut module, &inlined);
    unroll_loops(&mut module);
    forward_stores(&mut module);
    eliminate_common_subexpressions(&mut module);
    use_ranges(&mut module);
    if count_loops(&mut module, &inlined) {
        use_ranges(&mut module);
    }
    let mut facts = function_facts(&module);
    for (facts, inlined) in facts.iter_mut().zip(&inlined) {
        facts.holds_itself = inlined.holds_itself;
    }
    narrow_ints(&mut module);
    add_early_exits(&mut module);
    let isa = machine.isa.clone();
    let convention = isa.default_call_conv();
    let blends = isa.isa_flags().iter().any(|f| f.name == "has_sse41" && f.as_bool() == Some(true));
    let mut jit =
        JITModule::new(JITBuilder::with_isa(isa, cranelift_module::default_libcall_names()));
    let texts = Texts::of(&module);
    let unit = Unit {
        module: &module,
        facts: &facts,
        texts: &texts,
        isa: &machine.isa,
        convention,
        blends,
        packs_lanes: machine.packs_lanes(),
        wide_registers: machine.wide_registers(),
    };
    let mut assembler = Assembler::new(&unit, &mut jit, machine.vector_bytes)?;
    let mut passes = Vec::new();
    for (at, kernel) in module.kernels.iter().enumerate() {
        let own = kernel_facts(kernel, &facts);
        let packs_apart = phases::packs_apart(kernel, &own, workers.threads());
        passes.push((assembler.kernel(at, kernel, packs_apart)?, own, packs_apart));
    }
    let functions = assembler.finish();
    let defined = assemble::define(&mut jit, functions, (machine, workers, room), stop);
    let assemble::Defined { wide_functions, frame_bytes } = match defined {
        Ok(defined) => defined,
        Err(message) => {
            // SAFETY: no entry point was handed out.
            unsafe { jit.free_memory() };
            return Err(message);
        }
    };
    let entry = |id| {
        let code = jit.get_finalized_function(id);
        // SAFETY: the function was compiled with the signature of an entry point.
        unsafe { std::mem::transmute::<*const u8, Entry>(code) }
    };
    let kernels = module.kernels.iter().zip(passes).map(|(kernel, (passes, own, packs_apart))| {
        let phases = passes.phases.into_iter().map(|(phase, id)| (phase, entry(id))).collect();
        let checks = passes.checks.into_iter().map(entry).collect();
        KernelCode {
            group_elements: passes.group_elements,
            packs_apart,
            frame_bytes,
            known_rows: known_rows(&module, kernel),
            ..describe(kernel, own, phases, checks)
        }
    });
    let kernels = kernels.collect();
    Ok(Compiled { kernels, wide_functions, jit: Some(jit), _texts: texts })
}

fn describe(
    kernel: &Kernel,
    facts: KernelFacts,
    phases: Vec<(Phase, Entry)>,
    checks: Vec<Entry>,
) -> KernelCode {
    let sinks = || kernel.stages.iter().flat_map(|s| &s.sinks);
    let early =
        |s: &Sink| matches!(s, Sink::Scan { .. } | Sink::Pack { .. } | Sink::Scatter { .. });
    let last_early = kernel.stages.iter().rposition(|s| s.sinks.iter().any(early));
    KernelCode {
        facts,
        whole_segments: matches!(kernel.space, Space::Regular { .. } | Space::Segmented { .. })
            && sinks().any(|s| matches!(s, Sink::Reduce { result: Some(_), .. })),
        single_chunk: last_early.is_some_and(|last| liveness::may_read_written(kernel, last)),
        scatters: sinks().any(|sink| matches!(sink, Sink::Scatter { .. })),
        calls_services: calls_services(kernel),
        divides_freely: !sinks().any(|sink| combines_floats(kernel, sink)),
        phases,
        checks,
        known_rows: Vec::new(),
        frame_bytes: 0,
        group_elements: 1,
        packs_apart: false,
        pace: Pace::default(),
        kernel: kernel.clone(),
    }
}

/// Returns true if the code of a kernel, without that of the functions it calls, calls services with threads.
fn calls_services(kernel: &Kernel) -> bool {
    let mut found = false;
    for body in walk::stage_bodies(kernel) {
        walk::each_inst(body, &mut |inst| {
            let Op::Extern(service, args) = &inst.op else { return };
            let (ValueTy::Scalar(keys) | ValueTy::Array(keys)) = kernel.types[args[0].0 as usize]
            else {
                return;
            };
            found |= matches!(services::address(*service, keys), Address::Checked(_));
        });
    }
    found
}

/// Returns true if a sink combines floats, whose sum depends on the order.
fn combines_floats(kernel: &Kernel, sink: &Sink) -> bool {
    match sink {
        Sink::Reduce { value, .. } | Sink::Scan { value, .. } | Sink::Histogram { value, .. } => {
            let ty = kernel.types[value.0 as usize];
            matches!(ty, ValueTy::Scalar(Ty::F32 | Ty::F64) | ValueTy::Array(Ty::F32 | Ty::F64))
        }
        Sink::Pack { .. } | Sink::Scatter { .. } | Sink::Emit { .. } => false,
    }
}
