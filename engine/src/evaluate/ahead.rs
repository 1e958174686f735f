//! The kernels that a program will probably launch, told to the runtime before it runs.
//!
//! What a kernel's code depends on is known beforehand, nearly always: which spaces have one
//! point, and which sequences lie in order, follows from the program; only which way it goes does
//! not. So it is gone through once, as if every side of a conditional were taken, and what is
//! found is lowered and expected, in the order of the program. A runtime with a thread that has
//! nothing to do compiles it, while the program begins.
//!
//! This is a guess, and costs time at most: what is launched is found by what is known then
//! ([`super::launch`]), and lowered then if it was not foreseen.

use super::host::{in_steps, parts};
use super::launch::{Known, Which, filtering, variant};
use super::many::moves;
use super::{Evaluator, callee, decided_over};
use nesl_core::base::with_stack;
use nesl_core::flat::{Block, Function, Kernel, Let, Op, SpaceId, SpaceKind, Step};
use nesl_core::ir::{Atom, FunId, Ty, Var};
use nesl_core::lower::kernel::{ResultPart, Values};
use nesl_core::strategy::{Strategy, Version, is_map};
use rustc_hash::{FxHashMap, FxHashSet};

/// No more kernels than this are lowered beforehand.
const MOST: usize = 64;

/// Goes through a program.
struct Outlook<'p> {
    evaluator: &'p Evaluator<'p>,
    /// Functions, and whether for one point, that were gone through.
    seen: FxHashSet<(FunId, bool)>,
    /// The calls around what is looked at.
    under_way: Vec<FunId>,
    /// How many kernels may still be lowered.
    left: usize,
}

/// A call, as far as it can be foreseen.
struct Foreseen<'p> {
    id: FunId,
    function: &'p Function,
    values: &'p Values,
    points: FxHashMap<SpaceId, Extent>,
    /// Sequences at many points that lie one behind the other: whether they are equally long.
    tiles: FxHashMap<(Var, SpaceId), bool>,
    /// Contexts whose points are being taken together: they will be again.
    together: Vec<SpaceId>,
}

/// The points of a context.
#[derive(Clone, Copy)]
struct Extent {
    single: bool,
    /// Whether its segments are equally long, if it has any.
    segments: Option<bool>,
}

const ONE: Extent = Extent { single: true, segments: None };

fn many(segments: Option<bool>) -> Extent {
    Extent { single: false, segments }
}

impl Known for Foreseen<'_> {
    fn is_single(&self, ctx: SpaceId) -> bool {
        self.points.get(&ctx).is_some_and(|points| points.single)
    }

    fn is_regular(&self, ctx: SpaceId) -> bool {
        self.points.get(&ctx).is_some_and(|points| points.segments == Some(true))
    }

    fn is_tiled(&self, var: Var, home: SpaceId) -> bool {
        self.tiles.contains_key(&(var, home))
    }
}

impl<'p> Evaluator<'p> {
    /// Tells the runtime what to expect, if that is of use.
    pub(super) fn look_ahead(&'p self) {
        if self.runtime.caps().prefetches && self.launcher.is_new() {
            let (seen, under_way) = Default::default();
            let mut outlook = Outlook { evaluator: self, seen, under_way, left: MOST };
            outlook.call(self.program.source.main, ONE, Vec::new());
        }
    }
}

impl<'p> Outlook<'p> {
    /// A call; gives whether its results lie in order, as [`Foreseen::tiles`] says.
    fn call(&mut self, id: FunId, points: Extent, tiles: Vec<Option<bool>>) -> Option<bool> {
        if self.left == 0 || !self.seen.insert((id, points.single)) {
            return None;
        }
        let (function, values) = (self.evaluator.function(id), self.evaluator.values(id));
        let params = function.params.iter().zip(tiles);
        let tiles = params.filter_map(|((var, _), tiles)| Some(((*var, SpaceId::CALLER), tiles?)));
        let mut call = Foreseen {
            id,
            function,
            values,
            points: FxHashMap::from_iter([(SpaceId::CALLER, points)]),
            tiles: tiles.collect(),
            together: Vec::new(),
        };
        self.under_way.push(id);
        let result = self.block(&mut call, &function.body, SpaceId::CALLER);
        self.under_way.pop();
        result
    }

    fn block(&mut self, call: &mut Foreseen<'p>, block: &'p Block, ctx: SpaceId) -> Option<bool> {
        with_stack(|| {
            for step in &block.steps {
                if self.left == 0 {
                    return None;
                }
                let found = match step {
                    Step::Space(ctx) => self.enter(call, *ctx),
                    Step::Kernel(kernel) => self.kernel(call, kernel),
                    Step::Let(binding) => self.binding(call, binding),
                };
                // Here the flat form ends, or what happens cannot be foreseen.
                if found.is_none() {
                    self.left = 0;
                }
            }
            tiles(call, block.result, ctx)
        })
    }

    /// A context comes into being: what [`Evaluator::enter`] does.
    fn enter(&mut self, call: &mut Foreseen<'p>, ctx: SpaceId) -> Option<()> {
        let points = match call.function.context(ctx).kind {
            SpaceKind::Caller => return Some(()),
            SpaceKind::Elements { of, sequence } => {
                let home = call.values.get(&sequence)?.0;
                let outer = call.points.get(&of)?;
                match (call.is_single(home), outer.single) {
                    (true, true) => many(None),
                    (true, false) => many(Some(true)),
                    (false, _) if home == of => {
                        many(Some(call.tiles.get(&(sequence, home)) == Some(&true)))
                    }
                    (false, _) => many(Some(false)),
                }
            }
            SpaceKind::Count { of, count } => {
                let single = match count {
                    Atom::Var(var) => call.is_single(call.values.get(&var)?.0),
                    _ => true,
                };
                let outer = call.points.get(&of)?;
                many(if single && outer.single { None } else { Some(single) })
            }
            SpaceKind::Filter { of, .. } if call.is_single(of) => return None,
            SpaceKind::Filter { of, .. } => {
                return self.expect(call, Which::Filter(ctx), &filtering(of, vec![ctx]));
            }
            SpaceKind::Concat { of, .. } if !call.is_single(of) => many(Some(false)),
            SpaceKind::Concat { .. } => many(None),
        };
        call.points.insert(ctx, points);
        Some(())
    }

    fn kernel(&mut self, call: &mut Foreseen<'p>, kernel: &Kernel) -> Option<()> {
        let single = call.points.get(&kernel.space)?.single;
        if single && in_steps(kernel) {
            let parts = parts(kernel);
            return parts.iter().try_for_each(|(which, part)| self.expect(call, *which, part));
        }
        if !single && moves(kernel).is_some() {
            return Some(());
        }
        self.expect(call, Which::Own(kernel.id), kernel)
    }

    /// A kernel will be launched: what [`Evaluator::launch`] does without launching it.
    fn expect(&mut self, call: &mut Foreseen<'p>, which: Which, kernel: &Kernel) -> Option<()> {
        self.left = self.left.saturating_sub(1);
        let variant = variant((call.function, call.values), kernel, call);
        let ready = self.evaluator.ready(call.id, which, kernel, variant)?;
        ready.expect(self.evaluator.runtime);
        for give in &ready.code.results {
            let is_sequence = matches!(call.values.get(&give.var), Some((_, Ty::Sequence(_))));
            if is_sequence && give.parts.iter().any(|part| matches!(part, ResultPart::Starts(_))) {
                call.tiles.insert((give.var, give.space), false);
            }
        }
        let outer = call.points.get(&kernel.space)?.segments;
        for places in &ready.code.filters {
            call.points.insert(places.space, many(outer.map(|_| false)));
        }
        Some(())
    }

    fn binding(&mut self, call: &mut Foreseen<'p>, binding: &'p Let) -> Option<()> {
        let ctx = binding.ctx;
        let tiles = match &binding.op {
            Op::Collect { from, .. } => call.points.get(from)?.segments,
            Op::Call(callee, args) => {
                let points = *call.points.get(&ctx)?;
                let args = args.iter().map(|arg| tiles(call, *arg, ctx)).collect();
                self.call(*callee, Extent { segments: None, ..points }, args)
            }
            Op::Versions { sequential, flattened } => {
                let over = decided_over(binding, sequential);
                let (mut tiles, forms) = (None, self.forms(call, over, flattened));
                for form in forms {
                    tiles = match form {
                        Version::Sequential => self.block(call, sequential, ctx),
                        Version::Flattened => {
                            call.together.push(over);
                            let tiles = self.block(call, flattened, ctx);
                            call.together.pop();
                            tiles
                        }
                    };
                }
                tiles
            }
            Op::Branch { then, otherwise, .. } => {
                let sides = [then, otherwise];
                if call.is_single(ctx) {
                    call.points.extend(sides.map(|(inner, _)| (*inner, ONE)));
                } else {
                    let kernel = filtering(ctx, vec![then.0, otherwise.0]);
                    self.expect(call, Which::Sides(then.0, otherwise.0), &kernel)?;
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
            | Op::Sequential(_) => unreachable!("it is part of a kernel"),
        };
        if let Some(tiles) = tiles {
            call.tiles.insert((binding.var, ctx), tiles);
        }
        Some(())
    }

    /// The forms that will be chosen, of what is done at the points of a context: all points
    /// together on the host's own path, and otherwise each by itself, because there are many. What
    /// divides and conquers begins with few.
    fn forms(&self, call: &Foreseen<'p>, space: SpaceId, flattened: &Block) -> &'static [Version] {
        if let Strategy::Always(form) = self.evaluator.strategy {
            return match form {
                Version::Sequential => &[Version::Sequential],
                Version::Flattened => &[Version::Flattened],
            };
        }
        let mut again = false;
        flattened.each_let(&mut |binding| {
            again |= matches!(&binding.op, Op::Call(id, _) if self.under_way.contains(id));
        });
        if call.is_single(space) {
            // What goes on step by step is finished in one go.
            let last = callee(flattened).is_some_and(|id| self.under_way.contains(&id));
            return if last {
                &[Version::Flattened, Version::Sequential]
            } else {
                &[Version::Flattened]
            };
        }
        match again {
            _ if is_map(flattened) || call.together.contains(&space) => &[Version::Flattened],
            true if call.is_single(SpaceId::CALLER) => &[Version::Flattened],
            true => &[Version::Sequential, Version::Flattened],
            false => &[Version::Sequential],
        }
    }
}

/// Whether a value lies in order, as [`Foreseen::tiles`] says.
fn tiles(call: &Foreseen<'_>, value: Atom, ctx: SpaceId) -> Option<bool> {
    match value {
        Atom::Var(var) => call.tiles.get(&(var, ctx)).copied(),
        _ => None,
    }
}
