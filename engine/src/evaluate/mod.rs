//! Running flat programs: the host does control flow, counts points and chooses between forms;
//! kernels do the rest.
//!
//! A value is a list of parts ([`lower::parts`], or [`lower::columns`] in a context with many
//! points): scalars that the host knows, and arrays of the runtime. What only rearranges
//! descriptors (collecting, calling, taking apart) touches no array. A context with one point
//! keeps its values as the host's own, so the straight lines of a program, at its top, are no
//! launches at all.
//!
//! | module | what it does |
//! |---|---|
//! | `ahead` | the kernels that will probably be launched, told to the runtime beforehand |
//! | `points` | the points of spaces, and where their segments are |
//! | `launch` | kernels: compiled once for each variant, launched, their results |
//! | `host` | kernels of one point that the host evaluates |
//! | `merge` | the two sides of a conditional put together |
//! | `structure` | what moves whole sequences, where there is one point |
//! | `many` | what moves whole sequences, where there are many points |
//! | `columns` | the columns of sequences, and pools |
//! | `service` | small kernels that the evaluation itself needs |

mod ahead;
mod columns;
mod host;
mod launch;
mod many;
mod merge;
mod points;
mod service;
mod structure;

use crate::resident::ResidentValue;
pub(crate) use launch::Kernels;
use launch::Launcher;
use nesl_core::base::with_stack;
use nesl_core::flat::{Block, Function, Kernel, Let, Op, Program, SpaceId, SpaceKind, Step};
use nesl_core::interp::Failure as ProgramFailure;
use nesl_core::ir::{Atom, FunId, Site, Ty, Var};
use nesl_core::lower::kernel::Values;
use nesl_core::lower::{self};
use nesl_core::strategy::{self, Strategy, Version};
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::kir::Literal;
use nesl_runtime::runtime::{Arg, Runtime};
use nesl_runtime::scalar::Precision;
use points::{Points, Segments};
use rustc_hash::FxHashMap;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::time::Duration;

/// Why an evaluation ends early.
#[derive(Debug)]
pub(crate) enum RunError {
    /// The program failed.
    Failed(ProgramFailure),
    /// Something cannot be done in flat form: the program is run by one instance instead.
    Unsupported,
}

pub(crate) type Run<T> = Result<T, RunError>;

/// The parts of a value.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) all: Vec<Arg>,
    /// Of a sequence at many points: its elements lie one behind the other, in these segments.
    tiles: Option<Rc<Segments>>,
}

/// The calls that are under way, innermost first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace(Option<Rc<(Site, bool, Trace)>>);

/// Evaluates a program.
pub(crate) struct Evaluator<'p> {
    runtime: &'p dyn Runtime,
    program: &'p Program,
    precision: Precision,
    strategy: Strategy,
    /// Per function, where its values live.
    values: Vec<OnceCell<Values>>,
    launcher: Launcher<'p>,
    /// Per function, whether it can call itself again.
    recursive: Vec<bool>,
    /// Per function, the calls of it that are under way in flat form.
    under_way: RefCell<Vec<UnderWay>>,
    /// How many points kernels have gone over so far.
    work: Cell<u64>,
    depth: Cell<usize>,
    max_depth: usize,
    /// Time spent on writing kernels.
    translating: Cell<Duration>,
    /// Per block, what each step is the last one to use.
    last_uses: RefCell<FxHashMap<*const Block, Rc<LastUses>>>,
}

/// What each step of a block is the last one to use.
#[derive(Debug, Default)]
struct LastUses {
    /// Of what the block itself binds.
    own: Vec<Vec<(Var, SpaceId)>>,
    /// Of what the blocks around it do: the step.
    around: FxHashMap<Var, usize>,
}

/// A call under way.
struct Frame<'p> {
    id: FunId,
    function: &'p Function,
    values: &'p Values,
    points: FxHashMap<SpaceId, Rc<Points>>,
    vars: FxHashMap<(Var, SpaceId), Rc<Parts>>,
    /// The steps that are under way: of blocks inside of each other, the innermost last.
    under_way: Vec<(Rc<LastUses>, usize)>,
    trace: Trace,
}

impl Frame<'_> {
    /// Whether the step under way is the last one to use a value.
    fn is_last_use(&self, var: Var, ctx: SpaceId) -> bool {
        for (uses, at) in self.under_way.iter().rev() {
            if uses.own[*at].contains(&(var, ctx)) {
                return true;
            }
            if uses.around.get(&var) != Some(at) {
                return false;
            }
        }
        false
    }
}

/// Calls of a function that are under way in flat form.
#[derive(Clone, Copy, Debug, Default)]
struct UnderWay {
    /// How many.
    calls: u64,
    /// How often it was called since the outermost of them began, and since it goes on with
    /// itself in its own place.
    begun: u64,
    /// What [`Evaluator::work`] was then.
    since: u64,
}

/// What a block comes to.
enum Outcome {
    Value(Rc<Parts>),
    /// A call that takes its place.
    Tail(FunId, Rc<Points>, Vec<Rc<Parts>>, Trace),
}

impl<'p> Evaluator<'p> {
    pub(crate) fn new(
        runtime: &'p dyn Runtime,
        program: &'p Program,
        kernels: &'p Kernels,
        precision: Precision,
        seed: u64,
        strategy: Strategy,
        max_depth: usize,
    ) -> Evaluator<'p> {
        let count = program.functions.len();
        Evaluator {
            runtime,
            program,
            precision,
            strategy,
            values: (0..count).map(|_| OnceCell::new()).collect(),
            launcher: Launcher::new(kernels, seed),
            recursive: strategy::recursive(program),
            under_way: RefCell::new(vec![UnderWay::default(); count]),
            work: Cell::new(0),
            depth: Cell::new(0),
            max_depth,
            translating: Cell::default(),
            last_uses: RefCell::default(),
        }
    }

    /// Time spent on writing kernels, before they went to the runtime.
    pub(crate) fn translating(&self) -> Duration {
        self.translating.get()
    }

    /// Runs the program on these arguments.
    pub(crate) fn run(&'p self, args: Vec<Vec<Arg>>) -> Run<ResidentValue> {
        self.look_ahead();
        let result = self.run_main(args);
        self.runtime.cancel_prefetch();
        result
    }

    fn run_main(&'p self, args: Vec<Vec<Arg>>) -> Run<ResidentValue> {
        let main = self.program.source.main;
        let args = args.into_iter().map(|all| Rc::new(Parts { all, tiles: None })).collect();
        let result = self.call(main, Rc::new(Points::one()), args, Trace::default())?;
        self.sync()?;
        let ty = self.program.source.functions[main.0 as usize].result.clone();
        Ok(ResidentValue::resident(result.all.clone(), ty, self.precision))
    }

    /// Calls the flat form of a function.
    fn call(
        &'p self,
        id: FunId,
        points: Rc<Points>,
        args: Vec<Rc<Parts>>,
        trace: Trace,
    ) -> Run<Rc<Parts>> {
        self.depth.set(self.depth.get() + 1);
        let result = if self.depth.get() > self.max_depth {
            Err(self.failed(Fault::new(FaultCode::TooDeep), &trace))
        } else {
            with_stack(|| self.call_here(id, points, args, trace))
        };
        self.depth.set(self.depth.get() - 1);
        result
    }

    fn call_here(
        &'p self,
        id: FunId,
        points: Rc<Points>,
        args: Vec<Rc<Parts>>,
        trace: Trace,
    ) -> Run<Rc<Parts>> {
        let (mut id, mut points, mut args, mut trace) = (id, points, args, trace);
        let mut before = None;
        loop {
            let at = id.0 as usize;
            let same = before == Some(id);
            before = Some(id);
            let function = self.function(id);
            let values = self.values(id);
            let mut frame = Frame {
                id,
                function,
                values,
                points: FxHashMap::from_iter([(SpaceId::CALLER, points)]),
                vars: FxHashMap::default(),
                under_way: Vec::new(),
                trace,
            };
            for ((var, _), arg) in function.params.iter().zip(args) {
                frame.vars.insert((*var, SpaceId::CALLER), arg);
            }
            let mut all = self.under_way.borrow_mut();
            let under_way = &mut all[at];
            if under_way.calls == 0 && !same {
                *under_way = UnderWay { since: self.work.get(), ..UnderWay::default() };
            }
            under_way.calls += 1;
            under_way.begun += 1;
            drop(all);
            let outcome = self.block(&mut frame, &function.body, SpaceId::CALLER, true);
            self.under_way.borrow_mut()[at].calls -= 1;
            match outcome? {
                Outcome::Value(value) => return Ok(value),
                Outcome::Tail(next, where_to, with, from) => {
                    (id, points, args, trace) = (next, where_to, with, from);
                }
            }
            self.interrupted(&trace)?;
        }
    }

    /// The flat form of a function.
    fn function(&self, id: FunId) -> &'p Function {
        self.program.functions[id.0 as usize].as_ref().expect("what is called is flattened")
    }

    /// Where the values of a function live.
    fn values(&self, id: FunId) -> &Values {
        self.values[id.0 as usize].get_or_init(|| lower::kernel::values(self.function(id)))
    }

    /// What each step of a block is the last one to use, of what the block itself binds (and of
    /// the parameters, if it is the body).
    fn last_uses(&self, function: &Function, block: &Block) -> Rc<LastUses> {
        if let Some(known) = self.last_uses.borrow().get(&std::ptr::from_ref(block)) {
            return known.clone();
        }
        let mut last: FxHashMap<Var, usize> = FxHashMap::default();
        let mut places: FxHashMap<Var, Vec<SpaceId>> = FxHashMap::default();
        if std::ptr::eq(block, &function.body) {
            for (var, _) in &function.params {
                last.insert(*var, 0);
                places.entry(*var).or_default().push(SpaceId::CALLER);
            }
        }
        for (at, step) in block.steps.iter().enumerate() {
            let mut used = |var: Var| {
                last.insert(var, at);
            };
            let space = |ctx: SpaceId| function.context(ctx).kind.made_of();
            match step {
                Step::Space(ctx) => space(*ctx).into_iter().for_each(&mut used),
                Step::Let(binding) => {
                    binding.op.each_use(&mut used);
                    for inside in binding.op.blocks() {
                        inside.each_context(&mut |ctx| space(ctx).into_iter().for_each(&mut used));
                    }
                    used(binding.var);
                    places.entry(binding.var).or_default().push(binding.ctx);
                }
                Step::Kernel(kernel) => {
                    kernel.lets.iter().for_each(|binding| binding.op.each_use(&mut used));
                    kernel.masks.iter().filter_map(|mask| space(*mask)).for_each(&mut used);
                    for (var, ctx) in &kernel.stores {
                        used(*var);
                        places.entry(*var).or_default().push(*ctx);
                    }
                }
            }
        }
        let mut uses =
            LastUses { own: vec![Vec::new(); block.steps.len()], around: FxHashMap::default() };
        for (var, at) in last {
            if block.result == Atom::Var(var) {
                continue;
            }
            match (places.remove(&var), uses.own.get_mut(at)) {
                (Some(places), Some(own)) => own.extend(places.into_iter().map(|ctx| (var, ctx))),
                (Some(_), None) => {}
                (None, _) => {
                    uses.around.insert(var, at);
                }
            }
        }
        let uses = Rc::new(uses);
        self.last_uses.borrow_mut().insert(std::ptr::from_ref(block), uses.clone());
        uses
    }

    fn interrupted(&self, trace: &Trace) -> Run<()> {
        match self.runtime.sync() {
            Ok(()) => Ok(()),
            Err(failure) => Err(self.launcher.locate_failure(failure, trace)),
        }
    }

    /// Evaluates a block whose value lives in a context; `tail` says that the function ends with
    /// it.
    fn block(
        &'p self,
        frame: &mut Frame<'p>,
        block: &'p Block,
        ctx: SpaceId,
        tail: bool,
    ) -> Run<Outcome> {
        with_stack(|| {
            let last_uses = self.last_uses(frame.function, block);
            for (at, step) in block.steps.iter().enumerate() {
                frame.under_way.push((last_uses.clone(), at));
                match step {
                    Step::Space(ctx) => self.enter(frame, *ctx)?,
                    Step::Kernel(kernel) => self.kernel(frame, kernel)?,
                    Step::Let(binding) => {
                        let last = at + 1 == block.steps.len();
                        let last = last && block.result == Atom::Var(binding.var);
                        let outcome = self.binding(frame, binding, tail && last)?;
                        match outcome {
                            Outcome::Value(value) => {
                                frame.vars.insert((binding.var, binding.ctx), value);
                            }
                            tail => return Ok(tail),
                        }
                    }
                }
                frame.under_way.pop();
                for place in &last_uses.own[at] {
                    frame.vars.remove(place);
                }
            }
            Ok(Outcome::Value(self.value_at(frame, block.result, ctx)?))
        })
    }

    fn binding(&'p self, frame: &mut Frame<'p>, binding: &'p Let, tail: bool) -> Run<Outcome> {
        let ctx = binding.ctx;
        Ok(Outcome::Value(match &binding.op {
            Op::Collect { value, from } => self.collect(frame, *value, *from, &binding.ty)?,
            Op::Call(callee, args) => {
                let args: Run<Vec<Rc<Parts>>> =
                    args.iter().map(|arg| self.value_at(frame, *arg, ctx)).collect();
                let args = args?;
                let points = Rc::new(frame.points[&ctx].caller());
                let trace = frame.trace.under(binding.site, frame.function.library);
                if tail && (ctx == SpaceId::CALLER || frame.points[&ctx].single) {
                    return Ok(Outcome::Tail(*callee, points, args, trace));
                }
                if points.count == 0 {
                    return Ok(Outcome::Value(Rc::new(self.nothing(&binding.ty)?)));
                }
                self.call(*callee, points, args, trace)?
            }
            Op::Versions { sequential, flattened } => {
                let block = match self.choose(frame, binding, (sequential, flattened)) {
                    Version::Sequential => sequential,
                    Version::Flattened => flattened,
                };
                return self.block(frame, block, ctx, tail);
            }
            Op::Branch { cond, then, otherwise } => {
                let points = frame.points[&ctx].clone();
                if points.single {
                    let cond = self.value_at(frame, Atom::Var(*cond), ctx)?;
                    let yes = matches!(cond.all[..], [Arg::Scalar(Literal::Bool(true))]);
                    let (inner, side) = if yes { then } else { otherwise };
                    frame.points.insert(*inner, points);
                    return self.block(frame, side, *inner, tail);
                }
                self.branch(frame, (then, otherwise), &binding.ty, ctx)?
            }
            Op::Map(_)
            | Op::Element { .. }
            | Op::Position
            | Op::Gather(..)
            | Op::Extent(..)
            | Op::SameLength(..)
            | Op::Reduce { .. }
            | Op::Histogram { .. }
            | Op::Scatter { .. }
            | Op::Scan { .. }
            | Op::Sequential(_) => unreachable!("it is part of a kernel"),
        }))
    }

    /// In which form something is computed that has two.
    fn choose(
        &self,
        frame: &Frame<'p>,
        binding: &Let,
        (sequential, flattened): (&Block, &Block),
    ) -> Version {
        let points = &frame.points[&decided_over(binding, sequential)];
        let callee = callee(flattened);
        let mut seen: Vec<Var> = Vec::new();
        let mut size = 0;
        flattened.each_use(&mut |var| {
            if !seen.contains(&var) {
                seen.push(var);
                let home = frame.values.get(&var).map(|(home, _)| *home);
                let value = home.and_then(|home| frame.vars.get(&(var, home)));
                size += value.map_or(0, |value| self::size(value));
            }
        });
        let again = callee.and_then(|callee| {
            let at = callee.0 as usize;
            let under_way = self.under_way.borrow()[at];
            let again = self.recursive[at] && under_way.calls > 0;
            again.then(|| (under_way.begun, self.work.get() - under_way.since))
        });
        self.strategy.choose(&strategy::Facts {
            points: points.count as u64,
            single: points.single,
            map: strategy::is_map(flattened),
            call: callee.is_some(),
            again,
            size,
            parallelism: self.runtime.caps().parallelism as u64,
        })
    }

    /// The sequences of the values in the segments of a context.
    fn collect(
        &'p self,
        frame: &mut Frame<'p>,
        value: Atom,
        from: SpaceId,
        ty: &Ty,
    ) -> Run<Rc<Parts>> {
        let points = frame.points[&from].clone();
        let element = ty.element().expect("a sequence was collected");
        let there = match value {
            Atom::Var(var) => at_points(frame, var, from),
            _ => None,
        };
        let columns = match (there, value) {
            (Some(value), _) => value.all.clone(),
            // Nobody looks at the elements.
            (None, Atom::Unit) => self.dummy(element)?,
            (None, _) => self.spread(frame, value, from)?.all.clone(),
        };
        let count = Arg::Scalar(Literal::I64(points.count as i64));
        let Some(segments) = &points.segments else {
            let all = std::iter::once(count).chain(columns).collect();
            return Ok(Rc::new(Parts { all, tiles: None }));
        };
        let starts = Arg::Array(self.offsets(segments)?, 0);
        let lengths = self.lengths(segments)?;
        let all = [starts, lengths, count].into_iter().chain(columns).collect();
        Ok(Rc::new(Parts { all, tiles: Some(segments.clone()) }))
    }

    /// A value as it is seen in a context: itself, or an instance of it for each point.
    fn value_at(&'p self, frame: &mut Frame<'p>, atom: Atom, ctx: SpaceId) -> Run<Rc<Parts>> {
        if let Atom::Var(var) = atom {
            if let Some(value) = frame.vars.get(&(var, ctx)) {
                return Ok(value.clone());
            }
            let home = frame.values[&var].0;
            if frame.points[&ctx].single
                && let Some(value) = frame.vars.get(&(var, home))
            {
                return Ok(value.clone());
            }
        } else if frame.points[&ctx].single {
            let literal = self.literal(atom);
            let all = literal.map(Arg::Scalar).into_iter().collect();
            return Ok(Rc::new(Parts { all, tiles: None }));
        }
        self.spread(frame, atom, ctx)
    }

    /// Arrays for the columns of elements that nobody will read.
    fn dummy(&self, element: &Ty) -> Run<Vec<Arg>> {
        let columns = lower::columns(element, self.precision);
        columns.iter().map(|part| self.empty(part)).collect()
    }

    /// A value at no point.
    fn nothing(&self, ty: &Ty) -> Run<Parts> {
        Ok(Parts { all: self.dummy(ty)?, tiles: None })
    }

    fn literal(&self, atom: Atom) -> Option<Literal> {
        Some(match (atom, self.precision) {
            (Atom::Var(_) | Atom::Unit, _) => return None,
            (Atom::Int(x), Precision::Bits64) => Literal::I64(x),
            (Atom::Int(x), Precision::Bits32) => Literal::I32(x as i32),
            (Atom::Float(x), Precision::Bits64) => Literal::F64(x.to_bits()),
            (Atom::Float(x), Precision::Bits32) => Literal::F32((x as f32).to_bits()),
            (Atom::Bool(x), _) => Literal::Bool(x),
            (Atom::Char(x), _) => Literal::U8(x),
        })
    }

    fn failed(&self, fault: Fault, trace: &Trace) -> RunError {
        RunError::Failed(ProgramFailure { fault, trace: trace.sites() })
    }

    fn sync(&self) -> Run<()> {
        self.runtime
            .sync()
            .map_err(|failure| self.launcher.locate_failure(failure, &Trace::default()))
    }
}

impl Trace {
    /// A call from here.
    pub(crate) fn under(&self, site: Site, library: bool) -> Trace {
        Trace(Some(Rc::new((site, library, self.clone()))))
    }

    /// The sites of the calls, at most so many as people read.
    pub(crate) fn sites(&self) -> Vec<(Site, bool)> {
        let mut sites = Vec::new();
        let mut at = self;
        while let Some(here) = &at.0
            && sites.len() < 64
        {
            sites.push((here.0, here.1));
            at = &here.2;
        }
        sites
    }
}

impl Drop for Trace {
    /// One after the other: the calls may be many.
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(here) = next {
            next = Rc::into_inner(here).and_then(|mut here| here.2.0.take());
        }
    }
}

/// A value that lies at the points of a context: joined segments have those that were joined.
fn at_points(frame: &Frame<'_>, var: Var, ctx: SpaceId) -> Option<Rc<Parts>> {
    let here = frame.vars.get(&(var, ctx)).cloned();
    here.or_else(|| match frame.function.context(ctx).kind {
        SpaceKind::Concat { inner, .. } => at_points(frame, var, inner),
        SpaceKind::Caller
        | SpaceKind::Elements { .. }
        | SpaceKind::Count { .. }
        | SpaceKind::Filter { .. } => None,
    })
}

/// Whose points decide in which form something is computed that has two.
fn decided_over(binding: &Let, sequential: &Block) -> SpaceId {
    // What is done with the values of points may be done with them, for the point around.
    let by_itself = |kernel: &Kernel| {
        let sequential = kernel.lets.iter().any(|inner| matches!(inner.op, Op::Sequential(_)));
        sequential.then_some(kernel.space)
    };
    let over = sequential.steps.iter().find_map(|step| match step {
        Step::Kernel(kernel) => by_itself(kernel),
        Step::Space(_) | Step::Let(_) => None,
    });
    over.unwrap_or(binding.ctx)
}

/// The function whose call a computation is, if it is one.
fn callee(flattened: &Block) -> Option<FunId> {
    match flattened.steps.last() {
        Some(Step::Let(Let { op: Op::Call(callee, _), .. })) => Some(*callee),
        _ => None,
    }
}

/// How many elements the arrays of a value have.
fn size(value: &Parts) -> u64 {
    let length = |arg: &Arg| match arg {
        Arg::Scalar(_) => 0,
        Arg::Array(buffer, at) => buffer.len().saturating_sub(*at) as u64,
    };
    value.all.iter().map(length).sum()
}

/// Whether a context is a filter.
fn is_filter(function: &Function, ctx: SpaceId) -> bool {
    matches!(function.context(ctx).kind, SpaceKind::Filter { .. })
}
