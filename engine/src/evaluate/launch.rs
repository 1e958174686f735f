//! Kernels: made once for each variant, loaded when first launched, and what they give.

use super::host;
use super::points::{Points, whole_number};
use super::service;
use super::{Evaluator, Frame, Parts, Run, RunError, Trace, is_filter};
use nesl_core::flat::{Function, Kernel, Let, Op, SpaceId, SpaceKind};
use nesl_core::interp::Failure as ProgramFailure;
use nesl_core::ir::{self, Atom, FunId, Site, Ty, Var};
use nesl_core::lower::kernel::{KernelParam, LoweredKernel, ResultPart, Values, Variant};
use nesl_core::pipeline;
use nesl_core::prim::SeqOp;
use nesl_runtime::kir::Literal;
use nesl_runtime::runtime::{Arg, Buffer, Failure, Launch, Loaded, Runtime};
use rustc_hash::FxHashMap;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::time::Instant;

/// A kernel of a program, or one that the evaluation adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Which {
    /// By its number.
    Own(u32),
    /// Some steps of it, from this one on.
    Part(u32, usize),
    /// An instance of a value for each point of a context.
    Spread(Var, SpaceId),
    /// A constant for each point.
    Constant(SpaceId, Literal),
    /// The length of a sequence for each point.
    Length(Var, SpaceId),
    /// The points of a filter.
    Filter(SpaceId),
    /// The points of both sides of a conditional.
    Sides(SpaceId, SpaceId),
}

/// A kernel as code.
pub(super) struct Ready {
    pub(super) code: LoweredKernel,
    /// None if there is nothing to execute: all that it gives is what it takes. Loaded when it is
    /// first launched.
    module: Option<OnceCell<Loaded>>,
}

impl Ready {
    /// It will probably be launched.
    pub(super) fn expect(&self, runtime: &dyn Runtime) {
        if self.module.as_ref().is_some_and(|module| module.get().is_none()) {
            runtime.prefetch(&self.code.module);
        }
    }
}

/// What is known of what a kernel reads.
pub(super) trait Known {
    /// Whether a context has one point, on the host's own path.
    fn is_single(&self, ctx: SpaceId) -> bool;
    /// Whether the segments of a context are equally long.
    fn is_regular(&self, ctx: SpaceId) -> bool;
    /// Whether the sequences of a value lie one behind the other.
    fn is_tiled(&self, var: Var, home: SpaceId) -> bool;
}

impl Known for Frame<'_> {
    fn is_single(&self, ctx: SpaceId) -> bool {
        self.points.get(&ctx).is_some_and(|points| points.single)
    }

    fn is_regular(&self, ctx: SpaceId) -> bool {
        let segments = self.points.get(&ctx).and_then(|points| points.segments.as_ref());
        segments.is_some_and(|segments| segments.regular.is_some())
    }

    fn is_tiled(&self, var: Var, home: SpaceId) -> bool {
        self.vars.get(&(var, home)).is_some_and(|value| value.tiles.is_some())
    }
}

/// A launch: what was launched, the calls it was under, and whether it stands in the library.
type Launched = (Rc<Ready>, Trace, bool);

type Compiled = FxHashMap<(FunId, Which, Variant), Option<Rc<Ready>>>;

/// The compiled kernels of a program, for one precision and seed.
#[derive(Default)]
pub(crate) struct Kernels(RefCell<Compiled>);

/// Launches whose failures are not known yet.
pub(super) struct Launcher<'p> {
    seed: u64,
    kernels: &'p Kernels,
    launched: RefCell<FxHashMap<u64, Launched>>,
    next: Cell<u64>,
}

impl<'p> Launcher<'p> {
    pub(super) fn new(kernels: &'p Kernels, seed: u64) -> Launcher<'p> {
        Launcher { seed, kernels, launched: RefCell::default(), next: Cell::new(1) }
    }

    /// Whether the program has no kernels yet.
    pub(super) fn is_new(&self) -> bool {
        self.kernels.0.borrow().is_empty()
    }

    /// What a failure is to the program.
    pub(super) fn locate_failure(&self, failure: Failure, trace: &Trace) -> RunError {
        let failure = match failure {
            Failure::Machine(fault) => ProgramFailure { fault, trace: trace.sites() },
            Failure::Unsupported(_) => return RunError::Unsupported,
            Failure::Program { tag, site, detail, text, .. } => {
                let launched = self.launched.borrow();
                let Some((ready, trace, library)) = launched.get(&tag) else {
                    return RunError::Unsupported;
                };
                let cause = &ready.code.fault_sites[site.0 as usize];
                let fault = cause.fault(&detail, text.as_deref());
                let mut all: Vec<(Site, bool)> = vec![(cause.site, cause.library || *library)];
                if cause.library
                    && let Some(origin) = detail.first()
                    && let Some(origin) = ready.code.fault_sites.get(*origin as usize)
                {
                    all.push((origin.site, *library));
                }
                all.extend(trace.sites());
                ProgramFailure { fault, trace: all }
            }
        };
        RunError::Failed(failure)
    }
}

impl<'p> Evaluator<'p> {
    /// A step that is a kernel.
    pub(super) fn kernel(&'p self, frame: &mut Frame<'p>, kernel: &'p Kernel) -> Run<()> {
        let over = &frame.points[&kernel.space];
        if over.single && host::in_steps(kernel) {
            return self.by_host(frame, kernel);
        }
        if !over.single && self.moved(frame, kernel)? {
            return Ok(());
        }
        self.launch(frame, Which::Own(kernel.id), kernel)
    }

    pub(super) fn launch(
        &'p self,
        frame: &mut Frame<'p>,
        which: Which,
        kernel: &Kernel,
    ) -> Run<()> {
        let variant = variant((frame.function, frame.values), kernel, frame);
        let ready = self.ready(frame.id, which, kernel, variant).ok_or(RunError::Unsupported)?;
        // What a point does by itself may be much.
        let whole = kernel.lets.iter().any(|binding| matches!(binding.op, Op::Sequential(_)));
        let count = frame.points[&kernel.space].count as u64;
        self.work.set(self.work.get() + count * if whole { 1 << 10 } else { 1 });
        let args = self.args(frame, kernel, &ready.code)?;
        let Some(module) = &ready.module else {
            return self.gives(frame, kernel, &ready.code, &args, &[]);
        };
        let module = match module.get() {
            Some(module) => module,
            None => {
                let loaded = self.runtime.load(&ready.code.module);
                let loaded = loaded.map_err(|f| self.launcher.locate_failure(f, &frame.trace))?;
                module.get_or_init(|| loaded)
            }
        };
        let tag = self.launcher.next.get();
        self.launcher.next.set(tag + 1);
        let library = frame.function.library;
        let mut launched = self.launcher.launched.borrow_mut();
        launched.insert(tag, (ready.clone(), frame.trace.clone(), library));
        drop(launched);
        let launch = Launch { module, kernel: 0, args: &args, tag };
        let outputs = self
            .runtime
            .launch(&launch)
            .map_err(|f| self.launcher.locate_failure(f, &frame.trace))?;
        self.gives(frame, kernel, &ready.code, &args, &outputs)?;
        // Nothing failed up to here, if the runtime says so.
        if tag.is_multiple_of(64) {
            self.sync()?;
            self.launcher.launched.borrow_mut().clear();
        }
        Ok(())
    }

    /// A kernel as code for what is known; `None` if it cannot be.
    pub(super) fn ready(
        &self,
        id: FunId,
        which: Which,
        kernel: &Kernel,
        variant: Variant,
    ) -> Option<Rc<Ready>> {
        let key = (id, which, variant);
        if let Some(known) = self.launcher.kernels.0.borrow().get(&key) {
            return known.clone();
        }
        let ready = self.lowered(id, kernel, &key.2).map(Rc::new);
        self.launcher.kernels.0.borrow_mut().insert(key, ready.clone());
        ready
    }

    fn lowered(&self, id: FunId, kernel: &Kernel, variant: &Variant) -> Option<Ready> {
        let began = Instant::now();
        let (precision, seed) = (self.precision, self.launcher.seed);
        let options = pipeline::Options { precision, seed, fuel: None };
        let (function, values) = (self.function(id), self.values(id));
        let code = pipeline::kernel(self.program, function, values, kernel, variant, &options);
        self.translating.set(self.translating.get() + began.elapsed());
        let code = code.ok()?;
        if is_idle(kernel, &code) {
            return Some(Ready { code, module: None });
        }
        Some(Ready { code, module: Some(OnceCell::new()) })
    }

    fn args(
        &'p self,
        frame: &mut Frame<'p>,
        kernel: &Kernel,
        code: &LoweredKernel,
    ) -> Run<Vec<Arg>> {
        let over = frame.points[&kernel.space].clone();
        let number = |x: usize| Arg::Scalar(Literal::I64(x as i64));
        let mut args = Vec::new();
        // What is written is nobody else's: it is claimed when all that is read has been taken.
        let mut own = Vec::new();
        for take in &code.params {
            match take {
                KernelParam::Count => args.push(number(over.count)),
                KernelParam::Segments => args.push(number(segments(&over)?.count)),
                KernelParam::Length => {
                    args.push(number(segments(&over)?.regular.expect("the variant says so")));
                }
                KernelParam::Offsets => args.push(Arg::Array(self.offsets(segments(&over)?)?, 0)),
                KernelParam::Map(ctx) => args.push(Arg::Array(self.map(frame, *ctx)?, 0)),
                KernelParam::Value(var) => args.extend(self.read(frame, *var)?.all.iter().cloned()),
                KernelParam::Pool(var) => {
                    let value = self.read(frame, *var)?;
                    let single = frame.points[&frame.values[var].0].single;
                    args.extend(value.all[if single { 1 } else { 3 }..].iter().cloned());
                }
                KernelParam::Out(ctx, ty) => {
                    let count =
                        if *ctx == kernel.space { over.count } else { frame.points[ctx].count };
                    args.push(Arg::Array(self.alloc(*ty, count)?, 0));
                }
                KernelParam::Table(size, combine, ty) => {
                    let home = frame.function.segments_of(kernel.space).unwrap_or(SpaceId::CALLER);
                    let size = self.value_at(frame, *size, home)?;
                    let size = (whole_number(&size.all[0]) as i64).max(0) as usize;
                    args.push(self.filled(combine.neutral(*ty), size)?);
                }
                KernelParam::One(ty) => args.push(Arg::Array(self.alloc(*ty, 1)?, 0)),
                KernelParam::Own(var) => {
                    let parts = self.read(frame, *var)?.all.len();
                    own.push((args.len(), *var));
                    args.extend(std::iter::repeat_n(number(0), parts));
                }
            }
        }
        for (n, (at, var)) in own.iter().enumerate() {
            let again = own[n + 1..].iter().any(|(_, other)| other == var);
            let parts = self.own(frame, *var, !again)?;
            args.splice(*at..*at + parts.len(), parts);
        }
        Ok(args)
    }

    /// The parts of a sequence, in arrays that a kernel may write to: those where it lies, if the
    /// kernel is the last to use them, `last`ly for this.
    fn own(&'p self, frame: &mut Frame<'p>, var: Var, last: bool) -> Run<Vec<Arg>> {
        let (home, ty) = &frame.values[&var];
        let (home, element) = (*home, ty.element().expect("it is a sequence"));
        let last = last && frame.is_last_use(var, home);
        let value = match frame.vars.remove(&(var, home)) {
            Some(value) => value,
            None => return Err(RunError::Unsupported),
        };
        if frame.points[&home].single {
            let mut all = value.all.clone();
            match Rc::try_unwrap(value) {
                Ok(_) if last => {}
                Ok(parts) => drop(frame.vars.insert((var, home), Rc::new(parts))),
                Err(shared) => drop(frame.vars.insert((var, home), shared)),
            }
            let length = whole_number(&all[0]);
            for column in &mut all[1..] {
                *column = self.writable(column, length, true)?;
            }
            return Ok(all);
        }
        let [starts, lengths, _, pool @ ..] = &value.all[..] else {
            unreachable!("they are sequences")
        };
        let count = frame.points[&home].count;
        let segments = match &value.tiles {
            Some(tiles) => tiles.clone(),
            None => self.segments(count, lengths.clone())?,
        };
        let offsets = self.offsets(&segments)?;
        let all = (offsets.clone(), segments.total);
        let pool = self.picked(count, all, starts, pool, element)?;
        let lengths = lengths.clone();
        let own = [Arg::Array(offsets, 0), lengths, service::number(segments.total)];
        frame.vars.insert((var, home), value);
        Ok(own.into_iter().chain(pool).collect())
    }

    /// A value where it lives.
    fn read(&'p self, frame: &Frame<'p>, var: Var) -> Run<Rc<Parts>> {
        let home = frame.values[&var].0;
        frame.vars.get(&(var, home)).cloned().ok_or(RunError::Unsupported)
    }

    fn gives(
        &'p self,
        frame: &mut Frame<'p>,
        kernel: &Kernel,
        code: &LoweredKernel,
        args: &[Arg],
        outputs: &[Buffer],
    ) -> Run<()> {
        for give in &code.results {
            let mut all = Vec::new();
            let mut tiles = None;
            let mut inner = 0;
            for part in &give.parts {
                all.push(match part {
                    ResultPart::Array(at) | ResultPart::Same(at) => args[*at].clone(),
                    ResultPart::Length(at) => match &args[*at] {
                        Arg::Array(buffer, from) => service::number(buffer.len() - from),
                        Arg::Scalar(_) => unreachable!("it is an array"),
                    },
                    ResultPart::First(at) => Arg::Scalar(self.first(&args[*at])?),
                    ResultPart::Output(at) => Arg::Array(outputs[*at].clone(), 0),
                    ResultPart::Alias(at, start) => {
                        let Arg::Array(buffer, begin) = &args[*at] else {
                            unreachable!("it is an array")
                        };
                        let start = match start {
                            Some(at) => whole_number(&Arg::Scalar(self.first(&args[*at])?)),
                            None => 0,
                        };
                        Arg::Array(buffer.clone(), begin + start)
                    }
                    ResultPart::Starts(at) => {
                        let count = frame.points[&give.space].count;
                        let segments = self.segments(count, args[*at].clone())?;
                        let starts = Arg::Array(self.offsets(&segments)?, 0);
                        tiles = Some(segments);
                        starts
                    }
                    ResultPart::StartsOf(at) => {
                        let lengths = &outputs[*at];
                        let count = lengths.len();
                        let segments = self.segments(count, Arg::Array(lengths.clone(), 0))?;
                        inner = segments.total;
                        Arg::Array(self.offsets(&segments)?, 0)
                    }
                    ResultPart::SumOf(_) => Arg::Scalar(Literal::I64(inner as i64)),
                    ResultPart::Sum(_) => {
                        let total = tiles.as_ref().map_or(0, |tiles| tiles.total);
                        Arg::Scalar(Literal::I64(total as i64))
                    }
                });
            }
            let is_sequence = matches!(frame.values.get(&give.var), Some((_, Ty::Sequence(_))));
            let tiles = tiles.filter(|_| is_sequence);
            frame.vars.insert((give.var, give.space), Rc::new(Parts::tiled(all, tiles)));
        }
        for places in &code.filters {
            let map = places.indices.map(|at| match &args[at] {
                Arg::Array(map, _) => map.clone(),
                Arg::Scalar(_) => unreachable!("it is an array"),
            });
            let over = frame.points[&kernel.space].clone();
            let points = match &over.segments {
                None => {
                    let count = whole_number(&Arg::Scalar(self.first(&args[places.counts])?));
                    Points::kept(count, None, map)
                }
                Some(outer) => {
                    let segments = self.segments(outer.count, args[places.counts].clone())?;
                    Points::kept(segments.total, Some(segments), map)
                }
            };
            frame.points.insert(places.space, Rc::new(points));
        }
        Ok(())
    }

    fn first(&self, arg: &Arg) -> Run<Literal> {
        match arg {
            Arg::Array(buffer, at) => self.read_one(buffer, *at),
            Arg::Scalar(_) => unreachable!("it is an array"),
        }
    }

    /// An instance of a value for each point of a context inside of where it lives.
    pub(super) fn spread(
        &'p self,
        frame: &mut Frame<'p>,
        atom: Atom,
        ctx: SpaceId,
    ) -> Run<Rc<Parts>> {
        let (which, ty) = match atom {
            Atom::Var(var) => (Which::Spread(var, ctx), frame.values[&var].1.clone()),
            constant => match self.literal(constant) {
                Some(literal) => (Which::Constant(ctx, literal), type_of(constant)),
                None => return Ok(Rc::new(Parts::new(Vec::new()))),
            },
        };
        self.added(frame, which, ir::Op::Copy(atom), ty, ctx)
    }

    /// The length of a sequence for each point of a context inside of where it lives.
    pub(super) fn lengths_at(&'p self, frame: &mut Frame<'p>, var: Var, ctx: SpaceId) -> Run<Arg> {
        let op = ir::Op::Seq(SeqOp::Length, vec![Atom::Var(var)]);
        let lengths = self.added(frame, Which::Length(var, ctx), op, Ty::Int, ctx)?;
        let count = frame.points[&ctx].count;
        self.as_lengths(lengths.all[0].clone(), count)
    }

    /// What an operation gives at each point of a context.
    fn added(
        &'p self,
        frame: &mut Frame<'p>,
        which: Which,
        op: ir::Op,
        ty: Ty,
        ctx: SpaceId,
    ) -> Run<Rc<Parts>> {
        let var = Var(u32::MAX);
        let site = frame.function.context(ctx).site;
        let binding = Let { var, ty, ctx, op: Op::Map(op), site };
        let kernel = Kernel {
            id: u32::MAX,
            space: ctx,
            lets: vec![binding],
            masks: Vec::new(),
            stores: vec![(var, ctx)],
            counts: Vec::new(),
            filter_indices: Vec::new(),
        };
        self.launch(frame, which, &kernel)?;
        Ok(frame.vars.remove(&(var, ctx)).expect("it was stored"))
    }

    /// The points of a filter whose flags were stored.
    pub(super) fn filter(&'p self, frame: &mut Frame<'p>, ctx: SpaceId) -> Run<()> {
        let of = frame.function.context(ctx).around().expect("a filter has something to filter");
        self.filters(frame, Which::Filter(ctx), of, vec![ctx])
    }

    /// The points of several filters of one context.
    pub(super) fn filters(
        &'p self,
        frame: &mut Frame<'p>,
        which: Which,
        space: SpaceId,
        masks: Vec<SpaceId>,
    ) -> Run<()> {
        self.launch(frame, which, &filtering(space, masks))
    }
}

/// What finds the points of several filters of one context.
pub(super) fn filtering(space: SpaceId, masks: Vec<SpaceId>) -> Kernel {
    Kernel {
        id: u32::MAX,
        space,
        lets: Vec::new(),
        masks: masks.clone(),
        stores: Vec::new(),
        counts: masks.clone(),
        filter_indices: masks,
    }
}

/// What is known of what a kernel reads, a function of which it is.
pub(super) fn variant(
    (function, values): (&Function, &Values),
    kernel: &Kernel,
    known: &dyn Known,
) -> Variant {
    let mut variant = Variant::default();
    let mut open = vec![kernel.space];
    while let Some(ctx) = open.pop() {
        if known.is_single(ctx) {
            variant.single.insert(ctx);
        }
        open.extend(function.context(ctx).around());
        if let SpaceKind::Concat { inner, .. } = function.context(ctx).kind {
            open.push(inner);
        }
    }
    variant.regular = known.is_regular(kernel.space);
    let outer = function.segments_of(kernel.space);
    for binding in &kernel.lets {
        if let Op::Element { of: sequence, .. } = binding.op
            && let Some((home, _)) = values.get(&sequence)
            && Some(*home) == outer
            && !is_filter(function, kernel.space)
            && known.is_tiled(sequence, *home)
        {
            variant.tiled.insert(sequence);
        }
    }
    variant
}

/// Whether a kernel only says what something is called that lies there already.
fn is_idle(kernel: &Kernel, code: &LoweredKernel) -> bool {
    kernel.lets.iter().all(|binding| matches!(binding.op, Op::Element { .. }))
        && code.filters.is_empty()
        && code.results.iter().flat_map(|give| &give.parts).all(|part| match part {
            ResultPart::Alias(_, None) | ResultPart::Same(_) => true,
            ResultPart::Alias(_, Some(_))
            | ResultPart::Array(_)
            | ResultPart::Length(_)
            | ResultPart::First(_)
            | ResultPart::Output(_)
            | ResultPart::Starts(_)
            | ResultPart::Sum(_)
            | ResultPart::StartsOf(_)
            | ResultPart::SumOf(_) => false,
        })
}

fn segments(points: &Points) -> Run<&super::Segments> {
    points.segments.as_deref().ok_or(RunError::Unsupported)
}

fn type_of(constant: Atom) -> Ty {
    match constant {
        Atom::Var(_) | Atom::Unit => Ty::Unit,
        Atom::Int(_) => Ty::Int,
        Atom::Float(_) => Ty::Float,
        Atom::Bool(_) => Ty::Bool,
        Atom::Char(_) => Ty::Char,
    }
}
