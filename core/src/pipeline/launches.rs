//! The launches that a flat program can make, found by abstract interpretation.
//!
//! The code of a kernel depends on facts about descriptors ([`Variant`]): which index spaces have a
//! single element, which have segments of equal length, which sequences are contiguous. Nearly all
//! of them follow from the program. So the program is interpreted abstractly, in the order of the
//! evaluator: both sides of a conditional and both versions of a multi-versioned value are taken,
//! and each function is entered at most twice, once for a single element and once for many.

use super::host_steps::{in_steps, parts};
use crate::base::with_stack;
use crate::flat::{Block, Function, Kernel, Let, Op, Program, SpaceId, SpaceKind, Step};
use crate::ir::{self, Atom, FunId, Ty, Var};
use crate::lower::kernel::{LoweredKernel, ResultPart, Values, Variant, values};
use crate::prim::SeqOp;
use nesl_runtime::bug;
use rustc_hash::{FxHashMap, FxHashSet};

/// A launch that a program can make.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The function it is part of.
    pub function: FunId,
    /// The kernel that is launched.
    pub kernel: Kernel,
    /// Its role in the program.
    pub origin: Origin,
    /// The facts that its code depends on.
    pub variant: Variant,
    /// The version of a multi-versioned value that contains it: `sequential` or `flattened`; `None`
    /// outside of both.
    pub version: Option<&'static str>,
}

/// The role of a launch in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A kernel of the program, by its number.
    Own(u32),
    /// Steps of a kernel of the program between those that the host evaluates: the number of the
    /// kernel, and the index of the first step.
    Part(u32, usize),
    /// The elements that a filter keeps, whose flags were stored.
    Filter(SpaceId),
    /// The elements of both sides of a conditional.
    Sides(SpaceId, SpaceId),
}

/// A kernel of the program that is not launched as a whole.
#[derive(Clone, Debug)]
pub struct NoLaunch {
    /// The function it is part of.
    pub function: FunId,
    /// Its number.
    pub kernel: u32,
    /// The reason, in words.
    pub reason: String,
}

/// An event of the abstract interpretation.
#[derive(Clone, Debug)]
pub enum Event {
    /// A launch.
    Launch(Box<Launch>),
    /// A kernel that is not launched.
    NoLaunch(NoLaunch),
}

/// Facts about descriptors that the code of a kernel depends on.
pub trait Descriptors {
    /// Returns true if an index space has a single element, whose scalars the host knows.
    fn is_single(&self, space: SpaceId) -> bool;
    /// Returns true if the segments of an index space are equally long.
    fn is_regular(&self, space: SpaceId) -> bool;
    /// Returns true if the sequences of a value are contiguous: each begins where the one before
    /// ends.
    fn is_tiled(&self, var: Var, home: SpaceId) -> bool;
}

/// Returns the variant of a kernel that some facts select.
pub fn variant(
    function: &Function,
    values: &Values,
    kernel: &Kernel,
    facts: &dyn Descriptors,
) -> Variant {
    let mut variant = Variant::default();
    let mut open = vec![kernel.space];
    while let Some(space) = open.pop() {
        if facts.is_single(space) {
            variant.single.insert(space);
        }
        open.extend(function.index_space(space).around());
        if let SpaceKind::Concat { inner, .. } = function.index_space(space).kind {
            open.push(inner);
        }
    }
    variant.regular = facts.is_regular(kernel.space);
    let outer = function.segments_of(kernel.space);
    let is_filter = matches!(function.index_space(kernel.space).kind, SpaceKind::Filter { .. });
    for binding in &kernel.lets {
        if let Op::Element { of: sequence, .. } = binding.op
            && let Some((home, _)) = values.get(&sequence)
            && Some(*home) == outer
            && !is_filter
            && facts.is_tiled(sequence, *home)
        {
            variant.tiled.insert(sequence);
        }
    }
    variant
}

/// Returns the kernel that finds the elements of several filters of one index space.
pub fn filtering(space: SpaceId, masks: Vec<SpaceId>) -> Kernel {
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

/// Returns the operation and the operands of a kernel that only moves whole sequences. Over many
/// elements it is executed as an operation on descriptors, without a launch.
pub fn moves(kernel: &Kernel) -> Option<(SeqOp, &[Atom])> {
    let [binding] = &kernel.lets[..] else { return None };
    match &binding.op {
        Op::Map(ir::Op::Seq(op @ (SeqOp::Flatten | SeqOp::Append), args))
            if kernel.masks.is_empty() && binding.space == kernel.space =>
        {
            Some((*op, args))
        }
        _ => None,
    }
}

/// Returns true for a kernel that is not launched, because each of its results is an argument.
pub fn is_renaming(kernel: &Kernel, code: &LoweredKernel) -> bool {
    let is_argument =
        |part: &ResultPart| matches!(part, ResultPart::Alias(_, None) | ResultPart::Same(_));
    kernel.lets.iter().all(|step| matches!(step.op, Op::Element { .. }))
        && code.filters.is_empty()
        && code.results.iter().flat_map(|result| &result.parts).all(is_argument)
}

/// Interprets a program abstractly, and reports its launches in order. `report` returns the code of
/// a launch, or `None` if it has none.
pub fn walk(program: &Program, report: &mut dyn FnMut(Event) -> Option<LoweredKernel>) {
    let mut walk = Walk { program, report, seen: FxHashSet::default(), stopped: false };
    walk.call(program.source.main, SINGLE, Vec::new(), None);
}

/// The abstract extent of an index space.
#[derive(Clone, Copy)]
struct Extent {
    single: bool,
    /// For a space with segments, true if they are known to be of equal length; `None` for others.
    regular: Option<bool>,
}

const SINGLE: Extent = Extent { single: true, regular: None };

fn many(regular: Option<bool>) -> Extent {
    Extent { single: false, regular }
}

struct Walk<'p, 'r> {
    program: &'p Program,
    report: &'r mut dyn FnMut(Event) -> Option<LoweredKernel>,
    /// The functions that were entered, each with true if for a single element.
    seen: FxHashSet<(FunId, bool)>,
    /// True once execution of the flat program could not continue: no launch follows.
    stopped: bool,
}

/// The abstract state of a call.
struct Call<'p> {
    id: FunId,
    function: &'p Function,
    values: Values,
    extents: FxHashMap<SpaceId, Extent>,
    /// The contiguous sequences of each value, in an index space: true if they are known to be of
    /// equal length.
    tiled: FxHashMap<(Var, SpaceId), bool>,
    version: Option<&'static str>,
}

impl Descriptors for Call<'_> {
    fn is_single(&self, space: SpaceId) -> bool {
        self.extents.get(&space).is_some_and(|extent| extent.single)
    }

    fn is_regular(&self, space: SpaceId) -> bool {
        self.extents.get(&space).is_some_and(|extent| extent.regular == Some(true))
    }

    fn is_tiled(&self, var: Var, home: SpaceId) -> bool {
        self.tiled.contains_key(&(var, home))
    }
}

impl Call<'_> {
    /// Returns what is known of the sequences of a value: `None` if they may not be contiguous;
    /// true if they are contiguous and of equal length, false if their lengths may differ.
    fn tiled(&self, value: Atom, space: SpaceId) -> Option<bool> {
        match value {
            Atom::Var(var) => self.tiled.get(&(var, space)).copied(),
            Atom::Unit | Atom::Int(_) | Atom::Float(_) | Atom::Bool(_) | Atom::Char(_) => None,
        }
    }

    fn extent(&self, space: SpaceId) -> Extent {
        self.extents.get(&space).copied().unwrap_or(many(Some(false)))
    }
}

impl<'p> Walk<'p, '_> {
    /// Interprets a call abstractly. `args` has the facts of [`Call::tiled`] about each argument;
    /// the result is the same fact about the value of the call.
    fn call(
        &mut self,
        id: FunId,
        extent: Extent,
        args: Vec<Option<bool>>,
        version: Option<&'static str>,
    ) -> Option<bool> {
        if self.stopped || !self.seen.insert((id, extent.single)) {
            return None;
        }
        let function = self.program.functions[id.0 as usize].as_ref()?;
        let params = function.params.iter().zip(args);
        let tiled = params.filter_map(|((var, _), tiled)| Some(((*var, SpaceId::CALLER), tiled?)));
        let mut call = Call {
            id,
            function,
            values: values(function),
            extents: FxHashMap::from_iter([(SpaceId::CALLER, extent)]),
            tiled: tiled.collect(),
            version,
        };
        self.block(&mut call, &function.body, SpaceId::CALLER)
    }

    fn block(&mut self, call: &mut Call<'p>, block: &'p Block, space: SpaceId) -> Option<bool> {
        with_stack(|| {
            for step in &block.steps {
                if self.stopped {
                    return None;
                }
                match step {
                    Step::Space(inner) => self.enter(call, *inner),
                    Step::Kernel(kernel) => self.kernel(call, kernel),
                    Step::Let(binding) => self.binding(call, binding),
                }
            }
            call.tiled(block.result, space)
        })
    }

    fn enter(&mut self, call: &mut Call<'p>, space: SpaceId) {
        let home = |call: &Call<'p>, var: Var| call.values.get(&var).map(|(home, _)| *home);
        let extent = match call.function.index_space(space).kind {
            SpaceKind::Caller => return,
            SpaceKind::Elements { of, sequence } => {
                let home = home(call, sequence).unwrap_or(of);
                match (call.is_single(home), call.is_single(of)) {
                    (true, true) => many(None),
                    (true, false) => many(Some(true)),
                    (false, _) => {
                        let regular = call.tiled.get(&(sequence, home)) == Some(&true);
                        many(Some(home == of && regular))
                    }
                }
            }
            SpaceKind::Count { of, count } => {
                let uniform = match count {
                    Atom::Var(var) => home(call, var).is_none_or(|home| call.is_single(home)),
                    _ => true,
                };
                many(if uniform && call.is_single(of) { None } else { Some(uniform) })
            }
            // A filter of a single element has no flattened version yet.
            SpaceKind::Filter { of, .. } if call.is_single(of) => {
                self.stopped = true;
                return;
            }
            SpaceKind::Filter { of, .. } => {
                return self.launch(call, Origin::Filter(space), filtering(of, vec![space]));
            }
            SpaceKind::Concat { of, .. } => {
                many(if call.is_single(of) { None } else { Some(false) })
            }
        };
        call.extents.insert(space, extent);
    }

    fn kernel(&mut self, call: &mut Call<'p>, kernel: &Kernel) {
        let single = call.is_single(kernel.space);
        let reason = if single && in_steps(kernel) {
            "the host does its steps on the single element"
        } else if !single && moves(kernel).is_some() {
            "it moves descriptors, and elements only where they do not lie in order"
        } else {
            return self.launch(call, Origin::Own(kernel.id), kernel.clone());
        };
        let (function, id) = (call.id, kernel.id);
        (self.report)(Event::NoLaunch(NoLaunch {
            function,
            kernel: id,
            reason: reason.to_owned(),
        }));
        if single {
            for (first, part) in parts(kernel) {
                self.launch(call, Origin::Part(kernel.id, first), part);
            }
        }
    }

    fn launch(&mut self, call: &mut Call<'p>, origin: Origin, kernel: Kernel) {
        if self.stopped {
            return;
        }
        let variant = variant(call.function, &call.values, &kernel, call);
        let space = kernel.space;
        let (function, version) = (call.id, call.version);
        let launch = Launch { function, kernel, origin, variant, version };
        let regular = call.extent(space).regular;
        let Some(code) = (self.report)(Event::Launch(Box::new(launch.clone()))) else {
            let masks = launch.kernel.counts.iter();
            call.extents.extend(masks.map(|mask| (*mask, many(regular.map(|_| false)))));
            return;
        };
        for result in &code.results {
            let is_sequence = matches!(call.values.get(&result.var), Some((_, Ty::Sequence(_))));
            if is_sequence && result.parts.iter().any(|part| matches!(part, ResultPart::Starts(_)))
            {
                call.tiled.insert((result.var, result.space), false);
            }
        }
        for filter in &code.filters {
            call.extents.insert(filter.space, many(regular.map(|_| false)));
        }
    }

    fn binding(&mut self, call: &mut Call<'p>, binding: &'p Let) {
        let space = binding.space;
        let tiled = match &binding.op {
            Op::Collect { from, .. } => call.extent(*from).regular,
            Op::Call(callee, args) => {
                let args = args.iter().map(|arg| call.tiled(*arg, space)).collect();
                let extent = Extent { regular: None, ..call.extent(space) };
                self.call(*callee, extent, args, call.version)
            }
            Op::Versions { sequential, flattened } => {
                let outer = call.version;
                let mut tiled = None;
                for (version, block) in [("sequential", sequential), ("flattened", flattened)] {
                    call.version = Some(version);
                    tiled = self.block(call, block, space);
                }
                call.version = outer;
                tiled
            }
            Op::Branch { then, otherwise, .. } => {
                let sides = [then, otherwise];
                if call.is_single(space) {
                    call.extents.extend(sides.map(|(inner, _)| (*inner, SINGLE)));
                } else {
                    let kernel = filtering(space, vec![then.0, otherwise.0]);
                    self.launch(call, Origin::Sides(then.0, otherwise.0), kernel);
                }
                for (inner, block) in sides {
                    self.block(call, block, *inner);
                }
                None
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
            | Op::Sequential(_) => bug!("a fused program computes elements in kernels"),
        };
        if let Some(tiled) = tiled {
            call.tiled.insert((binding.var, space), tiled);
        }
    }
}
