//! The fusion decisions of a function, by one forward walk.
//!
//! The walk interprets the block abstractly: of each variable it knows only the [`Shape`], that is
//! whether its sequences are in memory or fused, and whether their elements may fault. The consumer
//! of a sequence may need it in memory all the same (to access it at random, to return it); lowering
//! materialises it there, once.

use super::appends::append_chains;
use super::bounds::is_within_bounds;
use super::filtered_maps::filtered_maps;
use super::light_maps::light_maps;
use super::maths::kept_apart;
use super::placed_rows::placed_rows;
use super::shared_filters::{SharedFilters, shared_filters};
use super::shared_loop::{SharedLoop, shared_loops};
use super::uses::Uses;
use crate::base::with_stack;
use crate::ir::{Atom, Block, Let, Nest, Op, Var};
use crate::prim::SeqOp;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The fusion decisions of a function, or of a block that a kernel runs at each element.
#[derive(Clone, Debug, Default)]
pub struct SequentialPlan<'a> {
    /// The variables whose sequences are not materialised where they are bound.
    pub(super) fused: FxHashSet<Var>,
    /// The gathers whose places are within the sequence, so that they cannot fault.
    pub(super) within: FxHashSet<Var>,
    /// The shared loops, by the first of their members.
    pub(super) loops: FxHashMap<Var, SharedLoop<'a>>,
    /// The filters that share a loop, by the first of them.
    pub(super) filters: FxHashMap<Var, SharedFilters<'a>>,
    /// The appends whose one use is a later append of the same block, with nothing but scalars between: their
    /// parts are stored once, in the result of that.
    pub(super) appends: FxHashSet<Var>,
    /// The ranks that are not computed, since their one use is to permute what they rank, with
    /// [`SeqOp::RankUp`] or [`SeqOp::RankDown`].
    pub(super) sorts: FxHashMap<Var, SeqOp>,
}

impl<'a> SequentialPlan<'a> {
    /// Returns the plan of a function's body, or of a block that uses variables in memory.
    pub fn of(block: &'a Block) -> SequentialPlan<'a> {
        let uses = Uses::of(block);
        let plan = SequentialPlan::default();
        let mut walk = Walk {
            uses,
            shapes: FxHashMap::default(),
            made: FxHashMap::default(),
            single_loop: FxHashSet::default(),
            together: FxHashSet::default(),
            apart: FxHashSet::default(),
            placed: FxHashSet::default(),
            plan,
        };
        walk.block(block);
        walk.plan
    }

    /// Returns true if the sequences of a variable are not materialised where it is bound.
    pub fn is_fused(&self, var: Var) -> bool {
        self.fused.contains(&var)
    }

    /// Returns true if a gather cannot fault.
    pub fn is_within_bounds(&self, gather: Var) -> bool {
        self.within.contains(&gather)
    }

    /// Returns the shared loop that stands at a reduction.
    pub fn loop_at(&self, first: Var) -> Option<&SharedLoop<'a>> {
        self.loops.get(&first)
    }

    /// Returns the filters that are stored by one loop, which stands at the first of them.
    pub fn filters_at(&self, first: Var) -> Option<&SharedFilters<'a>> {
        self.filters.get(&first)
    }

    /// Returns true if an append is left to the append that uses it.
    pub fn is_part_of_append(&self, var: Var) -> bool {
        self.appends.contains(&var)
    }

    /// Returns the direction of a rank that is never computed: what it permutes is sorted.
    pub fn sort_of(&self, rank: Var) -> Option<SeqOp> {
        self.sorts.get(&rank).copied()
    }
}

/// The representation of a value, as far as fusion needs it.
#[derive(Clone, Debug)]
enum Shape {
    /// Every sequence in it is in memory.
    Stored,
    Pair(Rc<(Shape, Shape)>),
    Fused(Rc<FusedShape>),
}

/// A sequence that is not materialised.
#[derive(Debug)]
struct FusedShape {
    elements: ElementShape,
    may_fault: bool,
}

#[derive(Debug)]
enum ElementShape {
    /// `start + i · stride`: as cheap to compute as to load, so that any number of uses may.
    Range,
    /// Elements of this shape.
    Each(Shape),
    /// Elements of this shape, of which flags keep some.
    Filter(Shape),
}

impl Shape {
    fn fused(elements: ElementShape, may_fault: bool) -> Shape {
        Shape::Fused(Rc::new(FusedShape { elements, may_fault }))
    }

    fn half(&self, second: bool) -> Shape {
        match self {
            Shape::Pair(both) => if second { &both.1 } else { &both.0 }.clone(),
            Shape::Stored | Shape::Fused(_) => Shape::Stored,
        }
    }

    /// Returns the shape of the elements; of a filter, of the unfiltered ones.
    fn element(&self) -> Shape {
        match self {
            Shape::Fused(fused) => match &fused.elements {
                ElementShape::Range => Shape::Stored,
                ElementShape::Each(shape) | ElementShape::Filter(shape) => shape.clone(),
            },
            Shape::Stored | Shape::Pair(_) => Shape::Stored,
        }
    }

    /// Returns true if an element takes a load at most.
    fn is_stored_or_range(&self) -> bool {
        match self {
            Shape::Stored => true,
            Shape::Fused(fused) => matches!(fused.elements, ElementShape::Range),
            Shape::Pair(_) => false,
        }
    }

    fn is_filter(&self) -> bool {
        matches!(self, Shape::Fused(f) if matches!(f.elements, ElementShape::Filter(_)))
    }

    fn may_fault(&self) -> bool {
        matches!(self, Shape::Fused(fused) if fused.may_fault)
    }

    /// The shape for a consumer that asks for all elements in order: filters are materialised.
    fn streamed(self) -> Shape {
        if self.is_filter() { Shape::Stored } else { self }
    }

    /// The shape for a consumer that asks for some elements: what may fault is materialised.
    fn random_access(self) -> Shape {
        if self.is_filter() || self.may_fault() { Shape::Stored } else { self }
    }

    /// The shape after the sequences that may fault were materialised.
    fn without_faults(&self) -> Shape {
        with_stack(|| match self {
            Shape::Pair(both) => {
                Shape::Pair(Rc::new((both.0.without_faults(), both.1.without_faults())))
            }
            Shape::Fused(fused) if fused.may_fault => Shape::Stored,
            shape => shape.clone(),
        })
    }
}

struct Walk<'a> {
    uses: Uses,
    /// The shapes of the variables that are not all in memory.
    shapes: FxHashMap<Var, Shape>,
    /// The operations that make the variables so far.
    made: FxHashMap<Var, &'a Op>,
    /// The sequences that one shared loop, or the loop of a filter, is the only use of, and those that each of their loops
    /// computes again.
    single_loop: FxHashSet<Var>,
    /// The filters that share loops.
    together: FxHashSet<Var>,
    /// The sequences that are not fused with the mathematical functions that are taken of them.
    apart: FxHashSet<Var>,
    /// The rows that are computed where they are put into a table.
    placed: FxHashSet<Var>,
    plan: SequentialPlan<'a>,
}

impl<'a> Walk<'a> {
    fn block(&mut self, block: &'a Block) -> Shape {
        with_stack(|| {
            for shared in shared_loops(block, &self.uses) {
                if shared.only_use {
                    self.single_loop.insert(shared.over);
                }
                self.plan.loops.insert(shared.members[0].var, shared);
            }
            self.single_loop.extend(filtered_maps(block, &self.uses));
            self.apart.extend(kept_apart(block));
            self.placed.extend(placed_rows(block));
            for binding in &block.lets {
                if let Op::Seq(SeqOp::Gather, args) = &binding.op
                    && is_within_bounds(args[0], args[1], &|var| self.made.get(&var).copied())
                {
                    self.plan.within.insert(binding.var);
                }
                self.made.insert(binding.var, &binding.op);
            }
            let light: FxHashSet<Var> = light_maps(block, &self.uses).into_iter().collect();
            self.plan.appends.extend(append_chains(block, &self.uses));
            let mut filters = shared_filters(block, &self.uses);
            for binding in &block.lets {
                if let Some(n) = filters.iter().position(|f| f.members[0].var == binding.var) {
                    let shared = filters.swap_remove(n);
                    if matches!(self.atom(Atom::Var(shared.over)), Shape::Stored) {
                        self.together.extend(shared.members.iter().map(|member| member.var));
                        self.plan.filters.insert(binding.var, shared);
                    }
                }
                if self.together.contains(&binding.var) {
                    // It is in memory.
                    continue;
                }
                if let Op::Seq(op @ (SeqOp::RankUp | SeqOp::RankDown), args) = &binding.op
                    && self.uses.permutes(binding.var) == Some(args[0])
                {
                    self.plan.sorts.insert(binding.var, *op);
                    continue;
                }
                if let Op::Nest(nest) = &binding.op
                    && light.contains(&binding.var)
                    && nest.binders.iter().all(|(.., of)| self.atom(*of).is_stored_or_range())
                {
                    self.single_loop.insert(binding.var);
                }
                let shape = self.operation(binding);
                self.bind(binding.var, shape);
            }
            self.atom(block.result)
        })
    }

    /// Decides whether the sequences of a variable are materialised where it is bound.
    fn bind(&mut self, var: Var, shape: Shape) {
        let shape = match shape {
            Shape::Fused(fused) if self.may_fuse(var, &fused) => {
                self.plan.fused.insert(var);
                Shape::Fused(fused)
            }
            Shape::Fused(_) => Shape::Stored,
            Shape::Pair(_) if self.uses.undivided(var) => {
                self.plan.fused.insert(var);
                shape
            }
            Shape::Pair(_) => shape.without_faults(),
            Shape::Stored => Shape::Stored,
        };
        if !matches!(shape, Shape::Stored) {
            self.shapes.insert(var, shape);
        }
    }

    /// Returns true if a sequence need not be in memory: its one use computes the elements, and all
    /// of them if one may fault. A call has its arguments in memory, and so has an update the row that it puts into a table:
    /// they are stored before as well, so that they do not read until then what they are computed from, unless nothing but
    /// reads is between.
    fn may_fuse(&self, var: Var, fused: &FusedShape) -> bool {
        let is_handed_over = self.uses.is_handed_over(var) && !self.placed.contains(&var);
        if is_handed_over || self.apart.contains(&var) {
            return false;
        }
        let range = matches!(fused.elements, ElementShape::Range);
        let filter = matches!(fused.elements, ElementShape::Filter(_));
        let once = self.uses.once(var) || range || self.uses.count(var) == 0;
        self.single_loop.contains(&var) && !filter
            || once && (!fused.may_fault || self.uses.in_defining_block(var))
    }

    fn atom(&self, atom: Atom) -> Shape {
        let shape = atom.variable().and_then(|var| self.shapes.get(&var));
        shape.cloned().unwrap_or(Shape::Stored)
    }

    fn operation(&mut self, binding: &'a Let) -> Shape {
        match &binding.op {
            Op::Copy(a) => self.atom(*a),
            Op::Pair(a, b) => match (self.atom(*a), self.atom(*b)) {
                (Shape::Stored, Shape::Stored) => Shape::Stored,
                (a, b) => Shape::Pair(Rc::new((a, b))),
            },
            Op::First(pair) => self.atom(*pair).half(false),
            Op::Second(pair) => self.atom(*pair).half(true),
            Op::Seq(SeqOp::Gather, _) => {
                let may_fault = !self.plan.is_within_bounds(binding.var);
                Shape::fused(ElementShape::Each(Shape::Stored), may_fault)
            }
            Op::Seq(op, args) => self.sequence(*op, args),
            Op::Nest(nest) => self.nest(nest),
            // The other operations give scalars, or materialise their results: the sides of an `if`,
            // too, since their parts become the results of a kir `if`.
            op => {
                for inner in op.blocks() {
                    self.block(inner);
                }
                Shape::Stored
            }
        }
    }

    fn sequence(&self, op: SeqOp, args: &[Atom]) -> Shape {
        match op {
            SeqOp::Index => self.atom(args[0]).random_access().element(),
            SeqOp::Range => Shape::fused(ElementShape::Range, false),
            SeqOp::Dist => Shape::fused(ElementShape::Each(Shape::Stored), false),
            SeqOp::Pack => {
                let of = self.atom(args[0]).random_access();
                let keep = self.atom(args[1]).streamed();
                Shape::fused(ElementShape::Filter(of.element()), keep.may_fault())
            }
            // The other operations materialise their results, or give scalars.
            _ => Shape::Stored,
        }
    }

    fn nest(&mut self, nest: &'a Nest) -> Shape {
        let mut sources: Vec<Shape> =
            nest.binders.iter().map(|(.., atom)| self.atom(*atom)).collect();
        // The lengths of several filtered sequences are known only when they are in memory.
        if sources.len() > 1 {
            sources = sources.into_iter().map(Shape::streamed).collect();
        }
        let may_fault = nest.body.may_fault() || sources.iter().any(Shape::may_fault);
        for ((var, ..), source) in nest.binders.iter().zip(&sources) {
            self.bind(*var, source.element());
        }
        let element = self.block(&nest.body);
        // A map over a filter is a filter of the map: it computes only elements whose flag is
        // true, so that one that may fault does not meet the others.
        let elements = match sources.iter().any(Shape::is_filter) {
            true => ElementShape::Filter(element),
            false => ElementShape::Each(element),
        };
        Shape::fused(elements, may_fault)
    }
}
