//! Speculative compilation: kernels lowered before a run, and announced to the runtime.
//!
//! A kernel's code depends on facts that nearly always follow from the program: which index spaces
//! have a single element, and which sequences tile their pools. Only the path of a run through
//! branches depends on data. So the program is interpreted abstractly once, with both sides of each
//! conditional taken. The rules for index spaces ([`extent_rule`]), placement ([`placement`]),
//! variants and the cache are those of a run. A runtime with an idle thread compiles the announced
//! kernels while the program begins.
//!
//! A wrong guess costs time only: a run looks its kernels up by what it knows then.

use super::cache::{KernelCache, KernelKey};
use super::derived::filtering;
use super::split::{KernelPart, next_part};
use super::variant::variant;
use crate::frame::{ExtentRule, FlatProgram, HostLength, SpaceFacts, extent_rule};
use nesl_core::base::with_stack;
use nesl_core::flat::{Block, Function, Kernel, Let, Op, SpaceId, Step};
use nesl_core::ir::{Atom, FunId, Ty, Var};
use nesl_core::lower::kernel::{ResultPart, Values};
use nesl_core::strategy::eligibility::{Placement, placement};
use nesl_core::strategy::{Strategy, Thresholds, Version, called_function, deciding_space, is_map};
use nesl_runtime::bug;
use nesl_runtime::runtime::Runtime;
use rustc_hash::{FxHashMap, FxHashSet};

/// Announces the kernels that a program will probably launch, if the runtime compiles in the
/// background and the program was never run.
pub(crate) fn prefetch(
    runtime: &dyn Runtime,
    limits: &Thresholds,
    program: &FlatProgram,
    cache: &KernelCache,
    strategy: Strategy,
) {
    if !runtime.caps().prefetches || !cache.is_empty() {
        return;
    }
    let (seen, calls) = Default::default();
    let left = limits.max_prefetched_kernels;
    let mut prefetcher =
        Prefetcher { runtime, limits, program, cache, strategy, seen, calls, left };
    prefetcher.call(program.program.source.main, SINGLE, Vec::new());
}

/// Interprets a program abstractly.
struct Prefetcher<'p> {
    runtime: &'p dyn Runtime,
    limits: &'p Thresholds,
    program: &'p FlatProgram,
    cache: &'p KernelCache,
    strategy: Strategy,
    /// The functions that were interpreted, each with true if for a single element.
    seen: FxHashSet<(FunId, bool)>,
    /// The calls around the code that is interpreted.
    calls: Vec<FunId>,
    /// The number of kernels that may still be lowered.
    left: usize,
}

/// A call, as far as it can be foreseen.
struct ForeseenCall<'p> {
    id: FunId,
    function: &'p Function,
    homes: &'p Values,
    extents: FxHashMap<SpaceId, ForeseenExtent>,
    /// The sequences at many elements that tile their pools, each with true if they are known to be
    /// of equal length.
    tiles: FxHashMap<(Var, SpaceId), bool>,
    /// The index spaces of the flattened versions that are being interpreted. A multi-versioned
    /// value inside that is decided by the same space runs its flattened version as well.
    flattening: Vec<SpaceId>,
}

/// The abstract extent of an index space.
#[derive(Clone, Copy)]
struct ForeseenExtent {
    single: bool,
    /// For an index space with segments, true if they are known to be of equal length; `None` for
    /// others.
    segments: Option<bool>,
}

const SINGLE: ForeseenExtent = ForeseenExtent { single: true, segments: None };

fn many(segments: Option<bool>) -> ForeseenExtent {
    ForeseenExtent { single: false, segments }
}

impl SpaceFacts for ForeseenCall<'_> {
    fn is_single(&self, space: SpaceId) -> bool {
        self.extents.get(&space).is_some_and(|extent| extent.single)
    }

    fn is_regular(&self, space: SpaceId) -> bool {
        self.extents.get(&space).is_some_and(|extent| extent.segments == Some(true))
    }

    fn is_tiled(&self, var: Var, home: SpaceId) -> bool {
        self.tiles.contains_key(&(var, home))
    }
}

impl ForeseenCall<'_> {
    /// Returns `None` if the sequences of a value may not tile their pool; true if they do and are
    /// of equal length, false if their lengths may differ.
    fn tiles(&self, value: Atom, space: SpaceId) -> Option<bool> {
        match value {
            Atom::Var(var) => self.tiles.get(&(var, space)).copied(),
            Atom::Unit | Atom::Int(_) | Atom::Float(_) | Atom::Bool(_) | Atom::Char(_) => None,
        }
    }
}

impl<'p> Prefetcher<'p> {
    /// Interprets a call abstractly at some elements. `tiles` has the fact of
    /// [`ForeseenCall::tiles`] for each argument; the result is the same fact about the value of
    /// the call.
    fn call(
        &mut self,
        id: FunId,
        elements: ForeseenExtent,
        tiles: Vec<Option<bool>>,
    ) -> Option<bool> {
        if self.left == 0 || !self.seen.insert((id, elements.single)) {
            return None;
        }
        let function = self.program.function(id);
        let params = function.params.iter().zip(tiles);
        let tiles = params.filter_map(|((var, _), tiles)| Some(((*var, SpaceId::CALLER), tiles?)));
        let mut call = ForeseenCall {
            id,
            function,
            homes: self.program.homes(id),
            extents: FxHashMap::from_iter([(SpaceId::CALLER, elements)]),
            tiles: tiles.collect(),
            flattening: Vec::new(),
        };
        self.calls.push(id);
        let result = self.block(&mut call, &function.body, SpaceId::CALLER);
        self.calls.pop();
        result
    }

    fn block(
        &mut self,
        call: &mut ForeseenCall<'p>,
        block: &'p Block,
        space: SpaceId,
    ) -> Option<bool> {
        with_stack(|| {
            for step in &block.steps {
                if self.left == 0 {
                    return None;
                }
                let foreseen = match step {
                    Step::Space(space) => self.enter(call, *space),
                    Step::Kernel(kernel) => self.kernel(call, kernel),
                    Step::Let(binding) => self.binding(call, binding),
                };
                // A kernel without kir makes one thread run the program: nothing more is launched.
                if foreseen.is_none() {
                    self.left = 0;
                }
            }
            call.tiles(block.result, space)
        })
    }

    /// Enters an index space; returns `None` if a flattened run could not continue from here.
    fn enter(&mut self, call: &mut ForeseenCall<'p>, space: SpaceId) -> Option<()> {
        let extent = match extent_rule(call.function, call.homes, call, space) {
            ExtentRule::Caller => return Some(()),
            ExtentRule::Equal { outer, length: HostLength::Of(_) | HostLength::Int(_) } => {
                many(if call.extents.get(&outer)?.single { None } else { Some(true) })
            }
            ExtentRule::OwnSequence { outer, sequence } => {
                many(Some(call.tiles.get(&(sequence, outer)) == Some(&true)))
            }
            ExtentRule::OuterSequence { .. } | ExtentRule::OwnCount { .. } => many(Some(false)),
            ExtentRule::Filter { outer } if call.is_single(outer) => return None,
            ExtentRule::Filter { outer } => {
                return self.launch(call, KernelKey::Filter(space), &filtering(outer, vec![space]));
            }
            ExtentRule::Concat { outer, .. } => many((!call.is_single(outer)).then_some(false)),
        };
        call.extents.insert(space, extent);
        Some(())
    }

    fn kernel(&mut self, call: &mut ForeseenCall<'p>, kernel: &Kernel) -> Option<()> {
        let single = call.extents.get(&kernel.space)?.single;
        match placement(kernel, single) {
            Placement::HostSteps => {
                let mut at = 0;
                while let Some((part, next)) = next_part(kernel, at) {
                    if let KernelPart::Launched(key, part) = part {
                        self.launch(call, key, &part)?;
                    }
                    at = next;
                }
                Some(())
            }
            Placement::ArrayOperation(..) => Some(()),
            Placement::Launch => self.launch(call, KernelKey::Program(kernel.id), kernel),
        }
    }

    /// Lowers a kernel, announces it, and notes its results.
    fn launch(
        &mut self,
        call: &mut ForeseenCall<'p>,
        key: KernelKey,
        kernel: &Kernel,
    ) -> Option<()> {
        self.left = self.left.saturating_sub(1);
        let variant = variant((call.function, call.homes), kernel, call);
        let lowered = self.cache.kernel(self.program, call.id, key, kernel, variant).ok()?;
        lowered.prefetch(self.runtime);
        for result in &lowered.code.results {
            let is_sequence = matches!(call.homes.get(&result.var), Some((_, Ty::Sequence(_))));
            if is_sequence && result.parts.iter().any(|part| matches!(part, ResultPart::Starts(_)))
            {
                call.tiles.insert((result.var, result.space), false);
            }
        }
        let outer = call.extents.get(&kernel.space)?.segments;
        for filter in &lowered.code.filters {
            call.extents.insert(filter.space, many(outer.map(|_| false)));
        }
        Some(())
    }

    fn binding(&mut self, call: &mut ForeseenCall<'p>, binding: &'p Let) -> Option<()> {
        let space = binding.space;
        let tiles = match &binding.op {
            Op::Collect { from, .. } => call.extents.get(from)?.segments,
            Op::Call(callee, args) => {
                let elements = *call.extents.get(&space)?;
                let args = args.iter().map(|arg| call.tiles(*arg, space)).collect();
                self.call(*callee, ForeseenExtent { segments: None, ..elements }, args)
            }
            Op::Versions { sequential, flattened } => {
                let over = deciding_space(binding, sequential);
                let mut tiles = None;
                for version in self.versions(call, over, flattened) {
                    tiles = match version {
                        Version::Sequential => self.block(call, sequential, space),
                        Version::Flattened => {
                            call.flattening.push(over);
                            let tiles = self.block(call, flattened, space);
                            call.flattening.pop();
                            tiles
                        }
                    };
                }
                tiles
            }
            Op::Branch { then, otherwise, .. } => {
                let sides = [then, otherwise];
                if call.is_single(space) {
                    call.extents.extend(sides.map(|(inner, _)| (*inner, SINGLE)));
                } else {
                    let kernel = filtering(space, vec![then.0, otherwise.0]);
                    self.launch(call, KernelKey::Sides(then.0, otherwise.0), &kernel)?;
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
            | Op::Sequential(_) => bug!("an operation for kernels stands outside of one"),
        };
        if let Some(tiles) = tiles {
            call.tiles.insert((binding.var, space), tiles);
        }
        Some(())
    }

    /// Returns the versions that will probably run, in this order: on the host's own path the
    /// flattened one, and at many elements the sequential one. Divide and conquer begins with few
    /// elements and ends with many.
    fn versions(
        &self,
        call: &ForeseenCall<'p>,
        space: SpaceId,
        flattened: &Block,
    ) -> &'static [Version] {
        const FLATTENED: &[Version] = &[Version::Flattened];
        const SEQUENTIAL: &[Version] = &[Version::Sequential];
        match self.strategy {
            Strategy::Always(Version::Sequential) => return SEQUENTIAL,
            Strategy::Always(Version::Flattened) => return FLATTENED,
            Strategy::Auto => {}
        }
        if call.is_single(space) {
            // A recursion on the host's own path is finished by one thread in the end.
            let recursive = called_function(flattened).is_some_and(|id| self.calls.contains(&id));
            return match recursive {
                true => &[Version::Flattened, Version::Sequential],
                false => FLATTENED,
            };
        }
        let mut recursive = false;
        flattened.each_let(&mut |binding| {
            recursive |= matches!(&binding.op, Op::Call(id, _) if self.calls.contains(id));
        });
        match recursive {
            _ if is_map(flattened, self.limits) || call.flattening.contains(&space) => FLATTENED,
            true if call.is_single(SpaceId::CALLER) => FLATTENED,
            true => &[Version::Sequential, Version::Flattened],
            false => SEQUENTIAL,
        }
    }
}
