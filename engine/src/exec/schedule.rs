//! Blocks, calls and conditionals of a flat program, step by step.

use super::choice::{RecursionLog, choose};
use super::host_steps::run_host_steps;
use super::products::matrix_rows;
use super::spaces::{collect, enter};
use crate::arrays::{
    FlatValue, Memory, Parts, Rows, Side, append_rows, elements_of, flatten_rows, group_rows,
    list_rows, merge_sides, partition_rows, permute_rows, rank_rows, sort_rows, tiled,
};
use crate::frame::{CallArgs, CallFrame, Extent, FlatProgram, RunError, RunResult};
use crate::kernels::{KernelCache, KernelKey, Launcher, filter_sides, prefetch, value_in};
use crate::trace::CallTrace;
use nesl_core::base::with_stack;
use nesl_core::flat::{Block, Kernel, Let, Op, RowsOperation, SpaceId, Step};
use nesl_core::interp::Failure as ProgramFailure;
use nesl_core::ir::{self, Atom, FunId, Ty, Var};
use nesl_core::pipeline::launches::{RowsPart, rows_parts};
use nesl_core::prim::SeqOp;
use nesl_core::strategy::eligibility::{Placement, placement};
use nesl_core::strategy::{Strategy, Version, called_function};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::fault::Fault;
use nesl_runtime::kir::Literal;
use nesl_runtime::runtime::Arg;
use nesl_runtime::scalar::Scalar;
use nesl_runtime::stack::{stack_bytes, with_room};
use std::cell::Cell;
use std::rc::Rc;

/// Runs the main function of a program, and returns the parts of its value.
///
/// `args` are the parts of each of its arguments, and `depth` says when recursion is too deep.
pub(crate) fn run(
    memory: Memory<'_>,
    program: &FlatProgram,
    cache: &KernelCache,
    strategy: Strategy,
    depth: DepthLimits,
    args: Vec<Vec<Arg>>,
) -> RunResult<Vec<Arg>> {
    prefetch(memory.runtime, memory.limits, program, cache, strategy);
    let schedule = Schedule {
        program,
        launcher: Launcher::new(memory, program, cache),
        strategy,
        recursions: RecursionLog::new(program),
        calls: Cell::new(0),
        frame_bytes: Cell::new(0),
        stack_bytes: stack_bytes(),
        depth,
    };
    let result = match schedule.room_bytes() {
        None => schedule.main(args),
        Some(bytes) => with_room(bytes, || schedule.main(args)),
    };
    let result = result.map_err(|error| schedule.launcher.locate(error));
    memory.runtime.cancel_prefetch();
    if result.is_err() {
        // A failure of what is still enqueued belongs to this run, not to the next one.
        let _ = memory.runtime.sync();
    }
    result
}

/// One run of a flat program.
struct Schedule<'p> {
    program: &'p FlatProgram,
    launcher: Launcher<'p>,
    strategy: Strategy,
    recursions: RecursionLog,
    /// The number of calls under way.
    calls: Cell<usize>,
    /// The size of the frames of the calls under way, in bytes.
    frame_bytes: Cell<usize>,
    /// The size of the stack of this thread when the run began, in bytes.
    stack_bytes: usize,
    depth: DepthLimits,
}

/// The limits of calls within each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DepthLimits {
    /// The number of calls within each other after which recursion is too deep.
    pub(crate) calls: usize,
    /// The size of their frames and of the stack of the host, in bytes, after which it is.
    pub(crate) bytes: usize,
}

impl DepthLimits {
    /// Checks the number and the size of the calls under way.
    pub(crate) fn check(self, calls: usize, bytes: usize) -> Result<(), Fault> {
        if calls <= self.calls && bytes <= self.bytes {
            return Ok(());
        }
        let limit = (calls <= self.calls).then_some(self.bytes as u64);
        Err(Fault::too_deep(Some(calls as u64 - 1), limit))
    }
}

/// A call to be made.
struct Call {
    callee: FunId,
    /// The elements that the function is called at.
    elements: Rc<Extent>,
    args: CallArgs,
    trace: CallTrace,
}

/// The end of a block.
enum Outcome {
    Value(Rc<FlatValue>),
    /// The block ends with a call in tail position, which takes the place of the call around.
    Tail(Call),
}

impl<'p> Schedule<'p> {
    /// Returns the size in bytes of the stack that the launches of the run share, if they may need a large one again and
    /// again: flattened code recurses, and leaves parts of the recursion to one thread.
    fn room_bytes(&self) -> Option<usize> {
        let shares_stack = self.launcher.memory.runtime.caps().shares_host_memory;
        let recurses = self.program.leaves_recursion();
        let host_frame_bytes = self.launcher.memory.limits.host_frame_bytes;
        (shares_stack && recurses).then(|| self.depth.bytes.saturating_add(host_frame_bytes))
    }

    fn main(&self, args: Vec<Vec<Arg>>) -> RunResult<Vec<Arg>> {
        let args = args.into_iter().map(|parts| Rc::new(FlatValue::new(parts))).collect();
        let (callee, trace) = (self.program.program.source.main, CallTrace::default());
        let call = Call { callee, elements: Rc::new(Extent::single()), args, trace };
        let value = self.call(call, 0)?;
        self.launcher.sync(&CallTrace::default())?;
        Ok(value.parts.to_vec())
    }

    /// Makes a call; the frame that waits for its value has so many bytes.
    fn call(&self, call: Call, waiting_bytes: usize) -> RunResult<Rc<FlatValue>> {
        self.calls.set(self.calls.get() + 1);
        self.frame_bytes.set(self.frame_bytes.get() + waiting_bytes);
        let bytes = self.frame_bytes.get() + stack_bytes() - self.stack_bytes;
        let result = match self.depth.check(self.calls.get(), bytes) {
            Ok(()) => with_stack(|| self.call_and_tail_calls(call)),
            Err(fault) => {
                Err(RunError::Failed(ProgramFailure { fault, trace: call.trace.sites() }))
            }
        };
        self.frame_bytes.set(self.frame_bytes.get() - waiting_bytes);
        self.calls.set(self.calls.get() - 1);
        result
    }

    /// Makes a call, and those in tail position after it, in one stack frame.
    fn call_and_tail_calls(&self, call: Call) -> RunResult<Rc<FlatValue>> {
        let mut call = call;
        let mut previous = None;
        let mut ended = None;
        loop {
            let Call { callee, elements, args, trace } = call;
            let mut frame = CallFrame::new(self.program, callee, elements, args, trace, ended);
            match previous.replace(callee) {
                Some(before) if self.program.function(callee).in_one_thread == Some(before) => {
                    self.recursions.handed_back(callee, self.launcher.work());
                }
                before => {
                    let repeats = before == Some(callee);
                    self.recursions.begin(callee, repeats, self.launcher.work());
                }
            }
            let body = &self.program.function(callee).body;
            let outcome = self.block(&mut frame, body, SpaceId::CALLER, true);
            self.recursions.end(callee);
            call = match outcome? {
                Outcome::Value(value) => return Ok(value),
                Outcome::Tail(next) => next,
            };
            // A loop of tail calls may go on forever: this notices an interruption.
            self.launcher.poll(&call.trace)?;
            ended = Some(frame);
        }
    }

    /// Runs a block whose value lives in an index space; `tail` if the function ends with it.
    fn block(
        &self,
        frame: &mut CallFrame<'p>,
        block: &'p Block,
        space: SpaceId,
        tail: bool,
    ) -> RunResult<Outcome> {
        with_stack(|| {
            let last_uses = self.program.last_uses(frame.function, block);
            for (at, step) in block.steps.iter().enumerate() {
                frame.begin_step(&last_uses, at);
                match step {
                    Step::Space(space) => enter(&self.launcher, frame, *space)?,
                    Step::Kernel(kernel) => self.kernel(frame, kernel)?,
                    Step::Let(binding) => {
                        let last = at + 1 == block.steps.len();
                        let last = last && block.result == Atom::Var(binding.var);
                        match self.binding(frame, binding, tail && last)? {
                            Outcome::Value(value) => frame.bind(binding.var, binding.space, value),
                            tail => return Ok(tail),
                        }
                    }
                }
                frame.end_step();
            }
            let value = value_in(&self.launcher, frame, block.result, space)?;
            // Whoever gets the value may overwrite it, unless others hold it, too.
            frame.end_block(&last_uses);
            Ok(Outcome::Value(value))
        })
    }

    /// Executes a kernel, wherever it is placed.
    fn kernel(&self, frame: &mut CallFrame<'p>, kernel: &'p Kernel) -> RunResult<()> {
        match placement(kernel, frame.extent(kernel.space).single) {
            Placement::HostSteps => run_host_steps(&self.launcher, frame, kernel),
            Placement::ArrayOperation(operation) => self.array_operation(frame, kernel, operation),
            Placement::Launch => {
                let targets = self.broadcast_targets(frame, kernel)?;
                match self.rows_beside(frame, kernel)? {
                    Some(parts) => self.kernel_in_parts(frame, kernel, parts)?,
                    None => self.launcher.launch_own(frame, kernel)?,
                }
                for (var, space) in targets {
                    frame.take(var, space);
                }
                Ok(())
            }
        }
    }

    /// Broadcasts the sequences of outer index spaces that a kernel writes to at many elements: each element
    /// has one of its own. Returns those that are new in the frame.
    fn broadcast_targets(
        &self,
        frame: &mut CallFrame<'p>,
        kernel: &'p Kernel,
    ) -> RunResult<Vec<(Var, SpaceId)>> {
        let mut new = Vec::new();
        for binding in &kernel.lets {
            let Op::Scatter { of, .. } = binding.op else { continue };
            let space = binding.space;
            if frame.extent(space).single || frame.holds(of, space) {
                continue;
            }
            let value = value_in(&self.launcher, frame, Atom::Var(of), space)?;
            frame.bind(of, space, value);
            new.push((of, space));
        }
        Ok(new)
    }

    /// Returns the parts of a kernel that copies whole rows beside other steps, if those are too long for a
    /// thread each. Only rows that lie in memory before the kernel are asked.
    fn rows_beside(
        &self,
        frame: &mut CallFrame<'p>,
        kernel: &'p Kernel,
    ) -> RunResult<Option<Vec<RowsPart<'p>>>> {
        let limits = self.launcher.memory.limits;
        let extent = frame.extent(kernel.space);
        let (single, count) = (extent.single, extent.count);
        if limits.max_elements_copied_by_thread == usize::MAX || single || count == 0 {
            return Ok(None);
        }
        let Some(parts) = rows_parts(kernel) else { return Ok(None) };
        for part in &parts {
            let RowsPart::Rows(operation, step, ..) = part else { continue };
            let made_here = |arg: &Atom| kernel.lets.iter().any(|step| Atom::Var(step.var) == *arg);
            let (RowsOperation::Copy(_, args) | RowsOperation::List(args)) = operation else {
                continue;
            };
            if args.iter().any(made_here) {
                continue;
            }
            let mut values = Vec::new();
            for arg in *args {
                values.push(value_in(&self.launcher, frame, *arg, step.space)?);
            }
            let columns: Vec<&[Arg]> = values.iter().map(|value| &value.parts[..]).collect();
            let element = step.ty.element().or_bug("an array operation makes a sequence");
            let ty = if matches!(operation, RowsOperation::List(_)) { element } else { &step.ty };
            if self.copies_long_rows(&columns, count, ty) {
                return Ok(Some(parts));
            }
        }
        Ok(None)
    }

    /// Executes a kernel in parts: long rows are copied by the array library.
    fn kernel_in_parts(
        &self,
        frame: &mut CallFrame<'p>,
        kernel: &'p Kernel,
        parts: Vec<RowsPart<'p>>,
    ) -> RunResult<()> {
        // What other kernels compute, too, may be there already, and stays.
        let is_own = |step: &&'p Let| {
            let place = (step.var, step.space);
            !kernel.stores.contains(&place) && !frame.holds(step.var, step.space)
        };
        let own: Vec<&'p Let> = kernel.lets.iter().filter(is_own).collect();
        for part in parts {
            let (origin, part) = match part {
                RowsPart::Launched(origin, part) => (origin, part),
                RowsPart::Rows(operation, step, origin, part) => {
                    let value = match operation {
                        RowsOperation::Copy(op, args) => self.copy_rows(frame, step, op, args)?,
                        RowsOperation::List(args) => self.list_rows(frame, step, args)?,
                        other => bug!("{other:?} is no copy of rows"),
                    };
                    if let Some(value) = value {
                        let count = frame.extent(kernel.space).count as u64;
                        self.launcher.count_work_items(count);
                        frame.bind(step.var, step.space, Rc::new(value));
                        continue;
                    }
                    (origin, part)
                }
            };
            self.launcher.launch(frame, KernelKey::Program(origin), &part)?;
        }
        for step in own {
            frame.take(step.var, step.space);
        }
        Ok(())
    }

    /// Has the array library do a kernel, unless there are too many rows for the host to describe, or
    /// sequences that it cannot take.
    fn array_operation(
        &self,
        frame: &mut CallFrame<'p>,
        kernel: &'p Kernel,
        operation: RowsOperation<'p>,
    ) -> RunResult<()> {
        let (memory, count) = (&self.launcher.memory, frame.extent(kernel.space).count);
        if count == 0 {
            return self.launcher.launch_own(frame, kernel);
        }
        let step = &kernel.lets[0];
        let value = match operation {
            RowsOperation::Copy(op, args) => self.copy_rows(frame, step, op, args)?,
            RowsOperation::List(args) => self.list_rows(frame, step, args)?,
            RowsOperation::Rank(rank, keys) => {
                Some(rank_rows(memory, rank, &*self.tiled(frame, keys, step.space)?)?)
            }
            RowsOperation::Sort(rank, keys) => {
                Some(sort_rows(memory, rank, &*self.tiled(frame, keys, step.space)?)?)
            }
            RowsOperation::Groups(elements) => {
                let elements = self.tiled(frame, elements, step.space)?;
                self.launcher.count_work_items(count as u64);
                return self.bind_halves(frame, kernel, group_rows(memory, &elements)?);
            }
            RowsOperation::Permute(of, indices) => {
                let element = frame.element_ty(of);
                let of = self.tiled(frame, of, step.space)?;
                let indices = self.tiled(frame, indices, step.space)?;
                permute_rows(memory, &of, &indices, element)?
            }
            RowsOperation::Partition(of, counts) => {
                let of = self.tiled(frame, of, step.space)?;
                let counts = self.tiled(frame, counts, step.space)?;
                partition_rows(memory, &of, &counts)?
            }
        };
        let Some(value) = value else { return self.launcher.launch_own(frame, kernel) };
        self.launcher.count_work_items(count as u64);
        frame.bind(step.var, step.space, Rc::new(value));
        Ok(())
    }

    /// Copies the rows of sequences, unless there are too many for the host to describe.
    fn copy_rows(
        &self,
        frame: &mut CallFrame<'p>,
        step: &Let,
        op: SeqOp,
        args: &[Atom],
    ) -> RunResult<Option<FlatValue>> {
        let (memory, count) = (&self.launcher.memory, frame.extent(step.space).count);
        let mut values = Vec::new();
        for atom in args {
            values.push(value_in(&self.launcher, frame, *atom, step.space)?);
        }
        if op == SeqOp::Append && count > memory.limits.max_host_appended_segments {
            let columns: Vec<&[Arg]> = values.iter().map(|value| &value.parts[..]).collect();
            if !self.copies_long_rows(&columns, count, &step.ty) {
                return Ok(None);
            }
        }
        let element = step.ty.element().or_bug("an array operation makes a sequence");
        let rows: Vec<Rows<'_>> =
            values.iter().map(|value| Rows { count, columns: &value.parts }).collect();
        Ok(Some(FlatValue::new(match op {
            SeqOp::Append => append_rows(memory, rows[0], rows[1], element)?,
            SeqOp::Flatten => flatten_rows(memory, rows[0], element)?,
            other => bug!("the array library has no {other:?} for many segments"),
        })))
    }

    /// Returns true if values of a type at so many elements contain rows that are too long for a thread
    /// each to copy them; `columns` has the columns of each value.
    fn copies_long_rows(&self, columns: &[&[Arg]], count: usize, ty: &Ty) -> bool {
        let memory = &self.launcher.memory;
        let most = count.saturating_mul(memory.limits.max_elements_copied_by_thread);
        elements_of(memory, columns, ty) > most
    }

    /// Makes a list at each element, unless there is so little in them that a thread for each copies it at once.
    fn list_rows(
        &self,
        frame: &mut CallFrame<'p>,
        step: &Let,
        args: &[Atom],
    ) -> RunResult<Option<FlatValue>> {
        let (memory, count) = (&self.launcher.memory, frame.extent(step.space).count);
        let by_host = count <= memory.limits.max_host_appended_segments;
        let mut values = Vec::new();
        for atom in args {
            values.push(value_in(&self.launcher, frame, *atom, step.space)?);
        }
        let columns: Vec<&[Arg]> = values.iter().map(|value| &value.parts[..]).collect();
        let element = step.ty.element().or_bug("a list is a sequence");
        let is_long = match by_host {
            true => {
                let elements = elements_of(memory, &columns, element) as u64;
                elements >= memory.limits.min_flattened_elements
            }
            false => self.copies_long_rows(&columns, count, element),
        };
        if !is_long {
            return Ok(None);
        }
        Ok(Some(FlatValue::new(list_rows(memory, &columns, count, element)?)))
    }

    /// Returns the sequences of an operand at many elements, as segments of a pool that lie one behind the
    /// other. They take the operand's place in the frame, for those who read it later.
    fn tiled(
        &self,
        frame: &mut CallFrame<'p>,
        var: Var,
        space: SpaceId,
    ) -> RunResult<Rc<FlatValue>> {
        let value = value_in(&self.launcher, frame, Atom::Var(var), space)?;
        if value.tiles.is_some() {
            return Ok(value);
        }
        let (count, element) = (frame.extent(space).count, frame.element_ty(var));
        let tiled = tiled(&self.launcher.memory, &value, count, element)?;
        frame.bind(var, space, tiled.clone());
        Ok(tiled)
    }

    /// Binds the pairs that the first step of a kernel gives, and their halves.
    fn bind_halves(
        &self,
        frame: &mut CallFrame<'p>,
        kernel: &'p Kernel,
        halves: [FlatValue; 2],
    ) -> RunResult<()> {
        let parts: Parts = halves.iter().flat_map(|half| half.parts.iter().cloned()).collect();
        let halves = halves.map(Rc::new);
        for step in &kernel.lets {
            let value = match step.op {
                Op::Map(ir::Op::First(_)) => halves[0].clone(),
                Op::Map(ir::Op::Second(_)) => halves[1].clone(),
                _ => Rc::new(FlatValue::new(parts.clone())),
            };
            if kernel.stores.contains(&(step.var, step.space)) {
                frame.bind(step.var, step.space, value);
            }
        }
        Ok(())
    }

    fn binding(
        &self,
        frame: &mut CallFrame<'p>,
        binding: &'p Let,
        tail: bool,
    ) -> RunResult<Outcome> {
        let space = binding.space;
        match &binding.op {
            Op::Collect { value, from } => {
                let value = collect(&self.launcher, frame, *value, *from, &binding.ty)?;
                Ok(Outcome::Value(Rc::new(value)))
            }
            Op::Call(callee, args) => self.call_step(frame, binding, *callee, args, tail),
            Op::Versions { sequential, flattened, matrix } => {
                if let (Some(matrix), Strategy::Auto) = (matrix, self.strategy)
                    && let Some(value) = matrix_rows(&self.launcher, frame, space, matrix)?
                {
                    return Ok(Outcome::Value(Rc::new(value)));
                }
                let policy = (self.strategy, self.launcher.memory.limits);
                let versions = (binding, sequential, flattened);
                let work = self.launcher.work();
                let version = choose(self.program, frame, &self.recursions, work, policy, versions);
                let may_grow = tail && self.strategy == Strategy::Auto;
                if version == Version::Sequential
                    && may_grow
                    && let Some(looped) = self.loop_of(frame, space, flattened)
                {
                    return self.in_one_thread(frame, looped, flattened, space);
                }
                let block = match version {
                    Version::Sequential => sequential,
                    Version::Flattened => flattened,
                };
                self.block(frame, block, space, tail)
            }
            Op::Branch { cond, then, otherwise } => {
                let extent = frame.extent(space).clone();
                if !extent.single {
                    return self.branch(frame, [then, otherwise], &binding.ty, space);
                }
                let cond = value_in(&self.launcher, frame, Atom::Var(*cond), space)?;
                let yes = matches!(cond.parts[..], [Arg::Scalar(Literal::Bool(true))]);
                let (inner, side) = if yes { then } else { otherwise };
                frame.set_extent(*inner, extent);
                self.block(frame, side, *inner, tail)
            }
            Op::Map(_)
            | Op::Element { .. }
            | Op::Position { .. }
            | Op::Gather(..)
            | Op::Extent { .. }
            | Op::SameLength(..)
            | Op::Reduce { .. }
            | Op::Histogram { .. }
            | Op::Scatter { .. }
            | Op::Scan { .. }
            | Op::Sequential(_) => bug!("an operation for kernels stands outside of one"),
        }
    }

    /// Returns the loop that flattened code on the host's own path goes on with, and the function that has one thread
    /// begin it, if there is one.
    fn loop_of(
        &self,
        frame: &CallFrame<'p>,
        space: SpaceId,
        flattened: &Block,
    ) -> Option<(FunId, FunId)> {
        let callee = called_function(flattened).filter(|_| frame.extent(space).single)?;
        Some((callee, self.program.function(callee).in_one_thread?))
    }

    /// Has one thread begin a loop that flattened code ends with a call of; it hands the loop back when it has grown.
    fn in_one_thread(
        &self,
        frame: &mut CallFrame<'p>,
        (callee, in_one_thread): (FunId, FunId),
        flattened: &'p Block,
        space: SpaceId,
    ) -> RunResult<Outcome> {
        let mut outcome = self.block(frame, flattened, space, true)?;
        if let Outcome::Tail(call) = &mut outcome
            && call.callee == callee
        {
            let memory = &self.launcher.memory;
            let limit = self.recursions.limit_of_turn(callee, memory.limits);
            let limit = Arg::Scalar(memory.literal(Scalar::Int(limit)));
            call.callee = in_one_thread;
            call.args.push(Rc::new(FlatValue::new(vec![limit])));
        }
        Ok(outcome)
    }

    fn call_step(
        &self,
        frame: &mut CallFrame<'p>,
        binding: &Let,
        callee: FunId,
        args: &[Atom],
        tail: bool,
    ) -> RunResult<Outcome> {
        let space = binding.space;
        let values: RunResult<CallArgs> =
            args.iter().map(|arg| value_in(&self.launcher, frame, *arg, space)).collect();
        let elements = Rc::new(frame.extent(space).of_call());
        // What is used here for the last time becomes the callee's, which may overwrite it. At many elements the other
        // side of a conditional may use it, too.
        for var in args.iter().filter_map(|arg| arg.variable()).filter(|_| elements.single) {
            let home = frame.home(var);
            if frame.is_last_use(var, home) {
                frame.take(var, home);
            }
        }
        let trace = frame.trace.under(binding.site, frame.function.library);
        let (count, single) = (elements.count, elements.single);
        let call = Call { callee, elements, args: values?, trace };
        if tail && (space == SpaceId::CALLER || single) {
            return Ok(Outcome::Tail(call));
        }
        // Recursion ends where there are no elements left.
        if count == 0 {
            return Ok(Outcome::Value(self.no_value(&binding.ty)?));
        }
        Ok(Outcome::Value(self.call(call, frame.bytes())?))
    }

    /// Runs a conditional at many elements: each side for the elements that take it, if any do.
    fn branch(
        &self,
        frame: &mut CallFrame<'p>,
        sides: [&'p (SpaceId, Block); 2],
        ty: &Ty,
        space: SpaceId,
    ) -> RunResult<Outcome> {
        let all = frame.extent(space).count;
        filter_sides(&self.launcher, frame, space, sides.map(|(inner, _)| *inner))?;
        let mut taken = Vec::new();
        for (inner, block) in sides {
            let count = frame.extent(*inner).count;
            if count == 0 {
                continue;
            }
            let value = match self.block(frame, block, *inner, false)? {
                Outcome::Value(value) => value,
                Outcome::Tail(_) => bug!("a call in a side of a conditional took its place"),
            };
            if count == all {
                return Ok(Outcome::Value(value));
            }
            let indices = Arg::Array(frame.outer_indices(&self.launcher.memory, *inner)?, 0);
            taken.push(Side { count, indices, value });
        }
        Ok(Outcome::Value(match &taken[..] {
            [] => self.no_value(ty)?,
            [then, otherwise] => {
                Rc::new(merge_sides(&self.launcher.memory, [then, otherwise], ty, all)?)
            }
            _ => bug!("some elements took no side of a conditional"),
        }))
    }

    /// Returns a value of some type at no element.
    fn no_value(&self, ty: &Ty) -> RunResult<Rc<FlatValue>> {
        Ok(Rc::new(FlatValue::new(self.launcher.memory.no_elements(ty)?)))
    }
}
