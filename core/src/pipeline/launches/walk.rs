//! The launches that a flat program can make, found by abstract interpretation.
//!
//! The program is interpreted in the order of a run, with abstract extents instead of counts: both
//! sides of a conditional are taken, a [`Visitor`] says which versions of a multi-versioned value
//! are, and each function is entered at most twice, once for a single element and once for many.
//! Every decision is made by the functions that a run asks.
//!
//! Launches that depend on more than these facts are not found: values broadcast to another index
//! space, lengths, and rows appended by a kernel because there are too many for the host.

use super::{
    Descriptors, ExtentRule, KernelPart, Origin, extent_rule, filtering, next_part, variant,
};
use crate::base::with_stack;
use crate::flat::{
    Block, Function, Kernel, Let, Op, Program, RowsOperation, SpaceId, Step, Version,
};
use crate::ir::{Atom, FunId, Ty, Var};
use crate::lower::kernel::{LoweredKernel, ResultPart, Values, Variant};
use crate::strategy::eligibility::{Placement, placement};
use crate::strategy::{called_function, deciding_space};
use nesl_runtime::bug;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::ControlFlow;

/// A launch that a program can make.
#[derive(Clone, Debug)]
pub struct Launch<'k> {
    /// The function it is part of.
    pub function: FunId,
    /// The kernel that is launched.
    pub kernel: &'k Kernel,
    /// Its role in the program.
    pub origin: Origin,
    /// The facts that its code depends on.
    pub variant: Variant,
    /// The version of a multi-versioned value that contains it; `None` outside of all.
    pub version: Option<Version>,
}

/// A kernel of the program that is not launched as a whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unlaunched<'k> {
    /// The function it is part of.
    pub function: FunId,
    /// The number of the kernel in the program.
    pub kernel: u32,
    /// The component that executes it.
    pub placement: Placement<'k>,
}

/// The facts that select the versions of a multi-versioned value, as far as the program tells.
#[derive(Clone, Copy, Debug)]
pub struct VersionChoice<'p> {
    /// The flattened version.
    pub flattened: &'p Block,
    /// True if the index space that decides has a single element.
    pub single: bool,
    /// True if the function is called for a single element.
    pub single_call: bool,
    /// True if the value is part of the flattened version of another one that the same index space
    /// decides: both run the same version.
    pub inside_flattened: bool,
    /// True if the flattened version calls a function that is under way.
    pub recursive: bool,
    /// True if the flattened version ends with such a call.
    pub ends_with_recursion: bool,
}

/// The descriptors of values and filters that a launch stores.
#[derive(Clone, Debug, Default)]
pub struct StoredDescriptors {
    /// The values that have a part with the starts of contiguous sequences, each with its index space, and a flag that says
    /// if these sequences are equally long.
    contiguous: Vec<(Var, SpaceId, bool)>,
    /// The filters whose elements are counted.
    filters: Vec<SpaceId>,
}

impl StoredDescriptors {
    /// Returns those that a kernel's code stores.
    pub fn of(code: &LoweredKernel) -> StoredDescriptors {
        let are_equal = |part: &ResultPart| match part {
            ResultPart::Starts(_) => Some(false),
            ResultPart::EqualStarts(_) => Some(true),
            _ => None,
        };
        let contiguous = code.results.iter().filter_map(|result| {
            let are_equal = result.parts.iter().find_map(are_equal)?;
            Some((result.var, result.space, are_equal))
        });
        StoredDescriptors {
            contiguous: contiguous.collect(),
            filters: code.filters.iter().map(|filter| filter.space).collect(),
        }
    }
}

/// An observer of the abstract interpretation, which lowers kernels and chooses versions.
pub trait Visitor {
    /// A launch is made. Returns the descriptors that it stores, or `None` if the kernel has no
    /// code; a break ends the interpretation.
    fn launch(&mut self, launch: Launch<'_>) -> ControlFlow<(), Option<StoredDescriptors>>;

    /// A kernel of the program is executed otherwise. Launches of parts of it follow.
    fn unlaunched(&mut self, kernel: Unlaunched<'_>) {
        let _ = kernel;
    }

    /// Returns the versions of a multi-versioned value that are interpreted, in order.
    fn versions(&self, choice: &VersionChoice<'_>) -> &'static [Version];

    /// Returns true if one thread that executes a loop hands it back when it has grown
    /// ([`Function::in_one_thread`]).
    fn hands_loops_back(&self) -> bool {
        true
    }
}

/// Interprets a program abstractly. `values` returns the index space and the type of each value of
/// a function.
pub fn walk<'p>(
    program: &'p Program,
    values: &'p dyn Fn(FunId) -> &'p Values,
    visitor: &mut dyn Visitor,
) {
    let (seen, calls) = Default::default();
    let mut walk = Walk { program, values, visitor, seen, calls };
    // A visitor that ends the walk wants nothing else.
    let _ = walk.call(program.source.main, SINGLE, Vec::new(), None);
}

/// The abstract extent of an index space.
#[derive(Clone, Copy)]
struct AbstractExtent {
    /// True for one element, on the host's own path.
    single: bool,
    /// For a space with segments, true if they are known to be of equal length; `None` for others.
    regular: Option<bool>,
}

const SINGLE: AbstractExtent = AbstractExtent { single: true, regular: None };

fn many(regular: Option<bool>) -> AbstractExtent {
    AbstractExtent { single: false, regular }
}

struct Walk<'p, 'v> {
    program: &'p Program,
    values: &'p dyn Fn(FunId) -> &'p Values,
    visitor: &'v mut dyn Visitor,
    /// The functions that were entered, each with true if for a single element.
    seen: FxHashSet<(FunId, bool)>,
    /// The calls under way.
    calls: Vec<FunId>,
}

/// The abstract state of a call.
struct AbstractCall<'p> {
    id: FunId,
    function: &'p Function,
    values: &'p Values,
    extents: FxHashMap<SpaceId, AbstractExtent>,
    /// The contiguous sequences of each value, in an index space: true if they are known to be of
    /// equal length.
    tiled: FxHashMap<(Var, SpaceId), bool>,
    version: Option<Version>,
    /// The deciding index spaces of the flattened versions around.
    flattening: Vec<SpaceId>,
}

impl Descriptors for AbstractCall<'_> {
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

impl AbstractCall<'_> {
    /// Returns what is known of the sequences of a value: `None` if they may not be contiguous;
    /// true if they are contiguous and of equal length, false if their lengths may differ.
    fn tiled(&self, value: Atom, space: SpaceId) -> Option<bool> {
        match value {
            Atom::Var(var) => self.tiled.get(&(var, space)).copied(),
            Atom::Unit | Atom::Int(_) | Atom::Float(_) | Atom::Bool(_) | Atom::Char(_) => None,
        }
    }

    /// Records the sequences that an operation of the array library leaves contiguous: those that it
    /// orders or divides, and the results.
    fn tile(&mut self, kernel: &Kernel, operation: RowsOperation<'_>) {
        let operands = match operation {
            RowsOperation::Copy(..) | RowsOperation::List(_) => return,
            RowsOperation::Rank(_, of) | RowsOperation::Sort(_, of) | RowsOperation::Groups(of) => {
                vec![of]
            }
            RowsOperation::Permute(of, by) | RowsOperation::Partition(of, by) => vec![of, by],
        };
        let regular =
            operands.iter().find_map(|var| self.tiled.get(&(*var, kernel.space)).copied());
        let is_sequence = |binding: &&Let| matches!(binding.ty, Ty::Sequence(_));
        let results = kernel.lets.iter().filter(is_sequence).map(|binding| binding.var);
        for var in operands.into_iter().chain(results) {
            self.tiled.entry((var, kernel.space)).or_insert(regular == Some(true));
        }
    }

    /// Returns the extent of an index space; nothing is known of one that was never entered,
    /// because a kernel before it has no code.
    fn extent(&self, space: SpaceId) -> AbstractExtent {
        self.extents.get(&space).copied().unwrap_or(many(Some(false)))
    }
}

impl<'p> Walk<'p, '_> {
    /// Interprets a call abstractly. `args` has the facts of [`AbstractCall::tiled`] about each
    /// argument; the result is the same fact about the value of the call.
    fn call(
        &mut self,
        id: FunId,
        extent: AbstractExtent,
        args: Vec<Option<bool>>,
        version: Option<Version>,
    ) -> ControlFlow<(), Option<bool>> {
        let Some(function) = &self.program.functions[id.0 as usize] else {
            return ControlFlow::Continue(None);
        };
        if !self.seen.insert((id, extent.single)) {
            return ControlFlow::Continue(None);
        }
        let params = function.params.iter().zip(args);
        let tiled = params.filter_map(|((var, _), tiled)| Some(((*var, SpaceId::CALLER), tiled?)));
        let mut call = AbstractCall {
            id,
            function,
            values: (self.values)(id),
            extents: FxHashMap::from_iter([(SpaceId::CALLER, extent)]),
            tiled: tiled.collect(),
            version,
            flattening: Vec::new(),
        };
        self.calls.push(id);
        let result = self.block(&mut call, &function.body, SpaceId::CALLER);
        self.calls.pop();
        result
    }

    fn block(
        &mut self,
        call: &mut AbstractCall<'p>,
        block: &'p Block,
        space: SpaceId,
    ) -> ControlFlow<(), Option<bool>> {
        with_stack(|| {
            for step in &block.steps {
                match step {
                    Step::Space(inner) => self.enter(call, *inner)?,
                    Step::Kernel(kernel) => self.kernel(call, kernel)?,
                    Step::Let(binding) => self.binding(call, binding)?,
                }
            }
            ControlFlow::Continue(call.tiled(block.result, space))
        })
    }

    fn enter(&mut self, call: &mut AbstractCall<'p>, space: SpaceId) -> ControlFlow<()> {
        let extent = match extent_rule(call.function, call.values, call, space) {
            ExtentRule::Caller => return ControlFlow::Continue(()),
            ExtentRule::Equal { outer, .. } => many((!call.is_single(outer)).then_some(true)),
            ExtentRule::OwnSequence { outer, sequence } => {
                many(Some(call.tiled.get(&(sequence, outer)) == Some(&true)))
            }
            ExtentRule::OuterSequence { .. } | ExtentRule::OwnCount { .. } => many(Some(false)),
            ExtentRule::Filter { outer } => {
                return self.launch(call, Origin::Filter(space), &filtering(outer, vec![space]));
            }
            ExtentRule::Concat { outer, .. } => many((!call.is_single(outer)).then_some(false)),
        };
        call.extents.insert(space, extent);
        ControlFlow::Continue(())
    }

    fn kernel(&mut self, call: &mut AbstractCall<'p>, kernel: &'p Kernel) -> ControlFlow<()> {
        let placement = placement(kernel, call.is_single(kernel.space));
        match placement {
            Placement::Launch => self.launch(call, Origin::Own(kernel.id), kernel),
            Placement::HostSteps | Placement::ArrayOperation(..) => {
                let (function, kernel_id) = (call.id, kernel.id);
                self.visitor.unlaunched(Unlaunched { function, kernel: kernel_id, placement });
                if let Placement::ArrayOperation(operation) = placement {
                    call.tile(kernel, operation);
                }
                if placement == Placement::HostSteps {
                    self.parts(call, kernel)?;
                }
                ControlFlow::Continue(())
            }
        }
    }

    /// Launches the parts of a kernel between the steps that the host evaluates.
    fn parts(&mut self, call: &mut AbstractCall<'p>, kernel: &Kernel) -> ControlFlow<()> {
        let mut at = 0;
        while let Some((part, next)) = next_part(kernel, at) {
            match part {
                KernelPart::Launched(origin, part) => self.launch(call, origin, &part)?,
                KernelPart::Host(..) => {}
            }
            at = next;
        }
        ControlFlow::Continue(())
    }

    fn launch(
        &mut self,
        call: &mut AbstractCall<'p>,
        origin: Origin,
        kernel: &Kernel,
    ) -> ControlFlow<()> {
        let variant = variant(call.function, call.values, kernel, call);
        let (function, version) = (call.id, call.version);
        let stored = self.visitor.launch(Launch { function, kernel, origin, variant, version })?;
        let filters = match stored {
            Some(StoredDescriptors { contiguous, filters }) => {
                for (var, space, are_equal) in contiguous {
                    if matches!(call.values.get(&var), Some((_, Ty::Sequence(_)))) {
                        call.tiled.insert((var, space), are_equal);
                    }
                }
                filters
            }
            None => kernel.counts.clone(),
        };
        let regular = call.extent(kernel.space).regular;
        call.extents.extend(filters.iter().map(|mask| (*mask, many(regular.map(|_| false)))));
        ControlFlow::Continue(())
    }

    fn binding(&mut self, call: &mut AbstractCall<'p>, binding: &'p Let) -> ControlFlow<()> {
        let space = binding.space;
        let tiled = match &binding.op {
            Op::Collect { from, .. } => call.extent(*from).regular,
            Op::Call(callee, args) => {
                let args = args.iter().map(|arg| call.tiled(*arg, space)).collect();
                let extent = AbstractExtent { regular: None, ..call.extent(space) };
                self.call(*callee, extent, args, call.version)?
            }
            Op::Versions { sequential, flattened, .. } => {
                self.versions(call, binding, [sequential, flattened])?
            }
            Op::Branch { then, otherwise, .. } => {
                let sides = [then, otherwise];
                if call.is_single(space) {
                    call.extents.extend(sides.map(|(inner, _)| (*inner, SINGLE)));
                } else {
                    let kernel = filtering(space, vec![then.0, otherwise.0]);
                    self.launch(call, Origin::Sides(then.0, otherwise.0), &kernel)?;
                }
                for (inner, block) in sides {
                    self.block(call, block, *inner)?;
                }
                None
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
            | Op::Sequential(_) => bug!("a fused program computes elements in kernels"),
        };
        if let Some(tiled) = tiled {
            call.tiled.insert((binding.var, space), tiled);
        }
        ControlFlow::Continue(())
    }

    /// Interprets the versions of a value that the visitor chooses; the last one's facts hold after
    /// it.
    fn versions(
        &mut self,
        call: &mut AbstractCall<'p>,
        binding: &'p Let,
        [sequential, flattened]: [&'p Block; 2],
    ) -> ControlFlow<(), Option<bool>> {
        let deciding = deciding_space(binding, sequential);
        let under_way = |id: FunId| self.calls.contains(&id);
        let mut recursive = false;
        flattened.each_let(&mut |binding| {
            recursive |= matches!(binding.op, Op::Call(id, _) if under_way(id));
        });
        let versions = self.visitor.versions(&VersionChoice {
            flattened,
            single: call.is_single(deciding),
            single_call: call.is_single(SpaceId::CALLER),
            inside_flattened: call.flattening.contains(&deciding),
            recursive,
            ends_with_recursion: called_function(flattened).is_some_and(under_way),
        });
        let outer = call.version;
        let mut tiled = None;
        for version in versions {
            call.version = Some(*version);
            tiled = match version {
                Version::Sequential => match self.in_one_thread(call, binding, flattened) {
                    Some((id, args)) => self.call(id, SINGLE, args, call.version)?,
                    None => self.block(call, sequential, binding.space)?,
                },
                Version::Flattened => {
                    call.flattening.push(deciding);
                    let tiled = self.block(call, flattened, binding.space)?;
                    call.flattening.pop();
                    tiled
                }
            };
        }
        call.version = outer;
        ControlFlow::Continue(tiled)
    }

    /// Returns the function that has one thread begin a loop, if flattened code on the host's own path goes on with one,
    /// and what is known of its arguments.
    fn in_one_thread(
        &self,
        call: &AbstractCall<'p>,
        binding: &Let,
        flattened: &Block,
    ) -> Option<(FunId, Vec<Option<bool>>)> {
        let Some(Step::Let(Let { op: Op::Call(callee, args), .. })) = flattened.steps.last() else {
            return None;
        };
        let function = self.program.functions[callee.0 as usize].as_ref()?;
        let id = function.in_one_thread.filter(|_| self.visitor.hands_loops_back())?;
        let args = args.iter().map(|arg| call.tiled(*arg, binding.space)).chain([None]);
        call.is_single(binding.space).then(|| (id, args.collect()))
    }
}
