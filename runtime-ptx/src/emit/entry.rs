//! The entries of a kernel, one for each pass.
//!
//! ```text
//! entry(record, launch, interrupt, ticket, areas…, parameters of the kernel…)
//!   unless an earlier pass failed:
//!     for each index of this thread (`elements`), or each tile of this block (`tiles`):
//!       the code of the work items; their sinks
//!     the last block: what the blocks left (`finish`)
//! ```

use super::address::AddressSpaces;
use super::assembly::{Assembly, emit};
use super::collective::WARP_THREADS;
use super::failure;
use super::finish::{Finish, What, finish};
use super::frame::{BLOCK_THREADS, Entry, Frame, HIDDEN_PARAMS, param_type};
use super::plan::{Pass, Plan, Role};
use super::{elements, tiles};
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{Combine, Kernel, Literal, Sink, liveness};
use nesl_runtime::runtime::Reason;
use std::fmt::Write;

/// Emits a pass of a kernel without calls, under a name that PTX accepts: the declarations of the
/// module, and the entry itself. Fails if the kernel contains something that a device cannot
/// execute.
pub fn entry(kernel: &Kernel, plan: &Plan, pass: Pass, name: &str) -> Result<String, Reason> {
    let spaces = AddressSpaces::find(kernel)?;
    for stage in &kernel.stages {
        stage.sinks.iter().try_for_each(|sink| supports(kernel, sink))?;
    }
    let replayed = match pass {
        Pass::Prepare(stage) => Some(stage),
        Pass::Tag => Some(kernel.stages.len() - 1),
        Pass::Final => None,
    };
    if replayed.is_some_and(|last| liveness::may_read_written(kernel, last)) {
        return Err(Reason::Collective("store"));
    }
    let mut asm = Assembly::new(name);
    let frame = Frame::load(&mut asm, kernel, plan);
    let end = asm.label();
    failure::skip_if_failed(&mut asm, &frame.failure, end);
    let entry = Entry { kernel, plan, pass, spaces: &spaces, frame: &frame };
    let mut finishes = grid_reductions(&entry, &mut asm);
    let tiles = if is_ordered(&entry) {
        let (tiles, ordered) = tiles::each_tile(&mut asm, &entry, &finishes)?;
        finishes.extend(ordered);
        tiles.into()
    } else {
        elements::each_index(&entry, &mut asm, &finishes)?;
        Literal::I64(1).into()
    };
    if !finishes.is_empty() {
        let warps = BLOCK_THREADS / WARP_THREADS;
        finish(&mut asm, &frame.ids, warps, tiles, frame.ticket, &finishes);
    }
    asm.place(end);
    emit!(asm, "ret");
    let (mut text, body) = asm.finish();
    write!(text, ".visible .entry {name}(").or_bug("writing to a string");
    let hidden = HIDDEN_PARAMS.iter().map(|param| format!("\n  .param .u64 {param}"));
    let areas = (0..plan.areas.len()).map(|at| format!("\n  .param .u64 area{at}"));
    let params = kernel.params.iter().enumerate().map(|(at, param)| {
        format!("\n  .param .{} p{at}", param_type(kernel.types[param.0 as usize]))
    });
    text.push_str(&hidden.chain(areas).chain(params).collect::<Vec<_>>().join(","));
    writeln!(text, "\n)\n.maxntid {BLOCK_THREADS}, 1, 1").or_bug("writing to a string");
    text.push_str(&body);
    Ok(text)
}

/// Fails if a sink cannot be executed.
fn supports(kernel: &Kernel, sink: &Sink) -> Result<(), Reason> {
    match sink {
        Sink::Reduce { .. } | Sink::Scan { .. } | Sink::Pack { .. } | Sink::Scatter { .. } => {
            Ok(())
        }
        Sink::Histogram { combine, value, length: None, .. } => {
            let ordered = !kernel.scalar_ty(*value).is_int() || *combine == Combine::Mul;
            if ordered { Err(Reason::Collective("histogram")) } else { Ok(()) }
        }
        Sink::Histogram { .. } => Err(Reason::Collective("histogram")),
        Sink::Emit { .. } => Err(Reason::Collective("emit")),
    }
}

/// Returns true if the pass goes over the space tile by tile: a sink asks for an order, or a
/// later stage waits for one.
fn is_ordered(entry: &Entry<'_>) -> bool {
    let mut sinks = entry
        .stages()
        .iter()
        .enumerate()
        .flat_map(|(stage, code)| (0..code.sinks.len()).map(move |number| (stage, number)));
    sinks.any(|(stage, number)| entry.role(stage, number).is_ordered())
}

/// Emits the neutral elements of the reductions over the grid, in the order of the sinks.
fn grid_reductions(entry: &Entry<'_>, asm: &mut Assembly) -> Vec<Finish> {
    let mut all = Vec::new();
    for (at, stage) in entry.stages().iter().enumerate() {
        for (number, sink) in stage.sinks.iter().enumerate() {
            let (Role::Grid(area), Sink::Reduce { combine, value, out: Some(out), .. }) =
                (entry.role(at, number), sink)
            else {
                continue;
            };
            let ty = entry.kernel.scalar_ty(*value);
            let neutral = asm.constant(combine.neutral(ty));
            let sum = asm.register(neutral.class);
            asm.move_to(sum, neutral.into());
            let what = What::Grid { sum, out: entry.array(asm, *out) };
            all.push(Finish { combine: (*combine, ty), area: entry.frame.areas[area], what });
        }
    }
    all
}
