//! The entries of a kernel, one for each pass.
//!
//! ```text
//! entry(record, launch, failed, ticket, areas…, scratch, parameters of the kernel…)
//!   unless an earlier pass failed:
//!     for each index of this thread (`elements`), or each tile of this block (`tiles`), or each
//!     segment of these lanes (`lanes`):
//!       the code of the work items; their sinks
//!     the last block: reductions of what the blocks left (`finish`)
//! ```

use super::address::AddressSpaces;
use super::assembly::{Assembly, Class, emit};
use super::collective::WARP_THREADS;
use super::failure;
use super::finish::{Finish, finish};
use super::frame::{
    BLOCK_THREADS, Entry, Frame, HIDDEN_PARAMS, SCRATCH_PARAMS, area_name, param_type,
};
use super::plan::{Area, Pass, Plan, Role, Way};
use super::program::StepCode;
use super::scratch::Scratch;
use super::shape::{MAX_ROWS, is_short};
use super::tables::SharedTable;
use super::target::Target;
use super::{elements, lanes, tiles};
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::written::reads_written;
use nesl_runtime::kir::{Combine, Kernel, Scope, Sink, Space};
use nesl_runtime::runtime::Reason;
use std::fmt::Write;

/// The words before the name of an entry in the text of a module.
pub const ENTRY: &str = ".visible .entry ";

/// The number of tiles that a multiprocessor is to work on at a time if they have one ordered sink, and
/// need no indices: 80 registers are enough for that.
const SIMPLE_TILES_AT_ONCE: u32 = 3;

/// The same for reductions of equal segments, for which 64 registers are enough.
const REGULAR_TILES_AT_ONCE: u32 = 4;

/// Emits a pass of a kernel without calls, by a way, under a name that PTX accepts and for a target: the
/// declarations of the module, and the entry itself. Fails if the kernel contains something that a device cannot
/// execute.
pub fn entry(
    (kernel, code): (&Kernel, StepCode),
    plan: &Plan,
    (pass, way): (Pass, Way),
    (name, target): (&str, Target),
) -> Result<String, Reason> {
    let spaces = AddressSpaces::find(kernel);
    let replayed = match pass {
        Pass::Prepare(stage) => Some(stage),
        Pass::Tag | Pass::Measure => Some(kernel.stages.len() - 1),
        Pass::Final => None,
    };
    if replayed.is_some_and(|last| reads_written(kernel, last)) {
        return Err(Reason::Collective("store"));
    }
    let mut asm = Assembly::new(name, target);
    let frame = Frame::load(&mut asm, kernel, plan, pass);
    let end = asm.label();
    let entry = Entry { kernel, plan, pass, way, spaces: &spaces, frame: &frame };
    if !entry.looks_with_tiles() {
        failure::skip_if_failed(&mut asm, end);
    }
    let finishes = grid_reductions(&entry, &mut asm);
    SharedTable::clear(&mut asm, &frame.ids, &frame.tables);
    if let StepCode::Collect(collect) = code {
        collect.emit(&mut asm, &entry, end);
    } else if way == Way::Lanes {
        lanes::each_segment(&mut asm, &entry)?;
    } else if entry.is_tiled() {
        tiles::each_tile(&mut asm, &entry, &finishes, end)?;
    } else {
        elements::each_index(&entry, &mut asm, &finishes)?;
    }
    SharedTable::merge(&mut asm, &frame.ids, &frame.tables, |asm, array| entry.array(asm, array));
    let warps = BLOCK_THREADS / WARP_THREADS;
    if let Some(scratch) = &frame.scratch {
        scratch.report(&mut asm, &frame.ids, warps);
    }
    if !finishes.is_empty() {
        finish(&mut asm, &frame.ids, warps, &finishes);
    }
    asm.place(end);
    emit!(asm, "ret");
    let scratch = match &plan.scratch {
        Scratch::None => String::new(),
        Scratch::Uniform(arrays) => {
            let arrays = arrays.len();
            format!(", scratch memory for {arrays} arrays whose lengths are arguments")
        }
        Scratch::Measured => ", scratch memory as long as a pass finds".to_owned(),
    };
    let usage = asm.usage(BLOCK_THREADS) + &scratch;
    let (mut text, body) = asm.finish();
    write!(text, "// {usage}\n{ENTRY}{name}(").or_bug("writing to a string");
    let hidden = HIDDEN_PARAMS.iter().map(|param| format!("\n  .param .u64 {param}"));
    let areas = (0..plan.areas.len()).map(|at| format!("\n  .param .u64 {}", area_name(at)));
    let scratch = SCRATCH_PARAMS.iter().filter(|_| plan.scratch != Scratch::None);
    let scratch = scratch.map(|param| format!("\n  .param .u64 {param}"));
    let params = kernel.params.iter().enumerate().map(|(at, param)| {
        format!("\n  .param .{} p{at}", param_type(kernel.types[param.0 as usize]))
    });
    text.push_str(&hidden.chain(areas).chain(scratch).chain(params).collect::<Vec<_>>().join(","));
    writeln!(text, "\n)\n.maxntid {BLOCK_THREADS}, 1, 1").or_bug("writing to a string");
    if let Some(blocks) = blocks_at_once(&entry) {
        writeln!(text, ".minnctapersm {blocks}").or_bug("writing to a string");
    }
    text.push_str(&body);
    Ok(text)
}

/// The number of blocks that a multiprocessor is to hold at least, if that is said: it limits the
/// registers of a thread. If nothing is said, or more than one, the assembler keeps registers in
/// memory to make room for another block, unless the code needs few.
fn blocks_at_once(entry: &Entry<'_>) -> Option<u32> {
    let by_elements = entry.way == Way::Elements && !entry.is_tiled();
    if by_elements && is_short(entry.kernel) {
        return None;
    }
    if !entry.looks_back() || entry.plan.tile.rows < MAX_ROWS {
        return Some(1);
    }
    let is_at_index = entry.accesses_at_index().all;
    let is_regular = matches!(entry.kernel.space, Space::Regular { .. });
    let mut sinks = entry.stages().iter().flat_map(|stage| &stage.sinks);
    Some(match (sinks.next(), sinks.next()) {
        (Some(Sink::Pack { columns, scope: Scope::All, .. }), None)
            if is_at_index && columns.len() == 1 =>
        {
            SIMPLE_TILES_AT_ONCE
        }
        // Floats of which NaNs are skipped take more registers.
        (Some(Sink::Reduce { result: None, combine, value, .. }), None)
            if !matches!(combine, Combine::Min | Combine::Max)
                || !entry.kernel.scalar_ty(*value).is_float() =>
        {
            let [number, position, _] = entry.kernel.indices[..] else { return Some(1) };
            match (is_at_index, entry.reads(number) || entry.reads(position)) {
                (true, _) if is_regular => REGULAR_TILES_AT_ONCE,
                (true, _) | (false, false) => SIMPLE_TILES_AT_ONCE,
                (false, true) => 1,
            }
        }
        (Some(Sink::Scan { scope: Scope::All, .. }), None) if is_at_index => SIMPLE_TILES_AT_ONCE,
        _ => 1,
    })
}

/// Emits the neutral elements of the reductions over the grid, in the order of the sinks.
fn grid_reductions(entry: &Entry<'_>, asm: &mut Assembly) -> Vec<Finish> {
    let mut all = Vec::new();
    let is_number = |area: &Area| matches!(area, Area::PartNumber);
    let number = entry.plan.areas.iter().position(is_number);
    let parts = number.filter(|_| entry.pass == Pass::Final).map(|at| {
        let (number, parts) = (asm.param(&area_name(at)), asm.register(Class::B32));
        emit!(asm, "cvt.u32.u64 {parts}, {number}");
        parts
    });
    for (at, stage) in entry.stages().iter().enumerate() {
        for (number, sink) in stage.sinks.iter().enumerate() {
            let (Role::Grid(area), Sink::Reduce { combine, value, out: Some(out), .. }) =
                (entry.role(at, number), sink)
            else {
                continue;
            };
            let ty = entry.kernel.scalar_ty(*value);
            let sum = asm.register(Class::of(ty));
            let (combine, out) = ((*combine, ty), entry.array(asm, *out));
            let finish = Finish { combine, area: area_name(area), sum, parts, out };
            finish.begin(asm, sum);
            all.push(finish);
        }
    }
    all
}
