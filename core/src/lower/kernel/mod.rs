//! A kernel of a flat program → kir.
//!
//! Each point computes the kernel's values one after the other, as the code of one instance
//! ([`super::thread()`]); what it reads from spaces around is loaded through the place that a
//! point has there (its segment, and the places of that), so that nothing is copied for it. The
//! sinks of kir combine what the points have.
//!
//! How values lie depends on what is known when a kernel is about to run ([`Variant`]): a context
//! that turned out to have one point is no array at all, segments that are equally long need no
//! offsets, sequences that lie behind one another no starts.
//!
//! | module | what it does |
//! |---|---|
//! | `read` | what a kernel reads |
//! | `write` | what it stores |
//! | `program` | the functions it calls |

mod program;
mod read;
mod write;

use super::layout::{Columns, Leaf, Rep, Sequence};
use super::sequential::{Shared, Thread, combine, function};
use super::{FaultSite, Unsupported};
use crate::base::with_stack;
use crate::flat::{self, Let, Op, SpaceId, SpaceKind};
use crate::ir::{self, Atom, FunId, Ty, Var};
use crate::prim::SeqOp;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir::{self, Binary, KernelBuilder, Literal, Scope, Sink, Unary, Value, ValueTy};
use nesl_runtime::scalar::Precision;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// What is known of the spaces and values a kernel reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Variant {
    /// Contexts with one point, whose values are no arrays.
    pub single: BTreeSet<SpaceId>,
    /// The segments of what the kernel goes over are equally long.
    pub regular: bool,
    /// Sequences (in spaces with many points) that lie one behind the other, in their order,
    /// from the beginning of their pool on.
    pub tiled: BTreeSet<Var>,
}

/// A kernel as kir.
#[derive(Clone, Debug)]
pub struct Code {
    /// The functions it needs and the kernel.
    pub module: kir::Module,
    /// What each [`kir::Site`] is.
    pub fault_sites: Vec<FaultSite>,
    /// What it takes, in the order of its parameters.
    pub takes: Vec<Take>,
    /// What it stores.
    pub gives: Vec<Give>,
    /// The filters it makes.
    pub places: Vec<Places>,
}

/// A parameter of a kernel, or several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Take {
    /// How many points the kernel goes over.
    Count,
    /// How many segments they have.
    Segments,
    /// How long each segment is.
    Length,
    /// Where each segment begins, and the end.
    Offsets,
    /// For each point of a context, its place in the context around it, or around its segments.
    Map(SpaceId),
    /// The parts of a value: [`super::parts`] if its context is single, [`super::columns`] of a
    /// sequence of such values otherwise.
    Value(Var),
    /// The columns of the elements of a sequence.
    Pool(Var),
    /// An array to be written, with an element for each point of a context (one if it is single).
    Out(SpaceId, kir::Ty),
    /// An array to be written, with one element.
    One(kir::Ty),
    /// An array with so many elements, an int of the only point around, all of them neutral.
    Table(Atom, kir::Combine, kir::Ty),
    /// The parts of a sequence, as [`Take::Value`] gives them, in arrays that may be written: those
    /// where it lies, if nobody else uses them, or copies. At many points, one sequence behind the
    /// other.
    Own(Var),
}

/// A stored value.
#[derive(Clone, Debug, PartialEq)]
pub struct Give {
    /// Which.
    pub var: Var,
    /// For the points of which context.
    pub ctx: SpaceId,
    /// Its parts, in order: as [`Take::Value`] says.
    pub parts: Vec<Part>,
}

/// Where a part of a stored value is found after a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// In an array that was given: the number of the parameter.
    Array(usize),
    /// The one element of such an array.
    First(usize),
    /// In an output.
    Output(usize),
    /// In an array that it was given to read, from an element on: its number, and the array in
    /// whose first element is said where it starts.
    Alias(usize, Option<usize>),
    /// It is an argument: its number.
    Same(usize),
    /// How many elements such an array has.
    Length(usize),
    /// Where pieces of the lengths in such an array start when they lie behind one another.
    Starts(usize),
    /// The sum of the elements of such an array.
    Sum(usize),
    /// Where pieces of the lengths in an output start when they lie behind one another.
    StartsOf(usize),
    /// The sum of the elements of an output.
    SumOf(usize),
}

/// A filter that a kernel makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// The context.
    pub ctx: SpaceId,
    /// The parameter with the places of its points in the kernel's space, if they are stored.
    pub places: Option<usize>,
    /// The parameter with how many there are, for each segment if that is not single.
    pub counts: usize,
}

/// The values of a function: where each lives, and its type.
pub type Values = FxHashMap<Var, (SpaceId, Ty)>;

/// Where the values of a function live, and their types.
pub fn values(function: &flat::Function) -> Values {
    let mut values: Values =
        function.params.iter().map(|(var, ty)| (*var, (SpaceId::CALLER, ty.clone()))).collect();
    function.body.each_let(&mut |binding| {
        values.insert(binding.var, (binding.ctx, binding.ty.clone()));
    });
    values
}

/// What people call a kernel: its function, and its number there if it has one.
fn name(function: &flat::Function, kernel: &flat::Kernel) -> String {
    match kernel.id {
        u32::MAX => format!("{} over {}", function.name, kernel.space),
        id => format!("{} kernel {id}", function.name),
    }
}

/// Lowers a kernel.
///
/// # Errors
/// The reason why no kernel of kir can do it: what it stores has a shape that cannot be stored for
/// many elements at once.
pub fn kernel(
    program: &flat::Program,
    function: &flat::Function,
    values: &Values,
    kernel: &flat::Kernel,
    variant: &Variant,
    precision: Precision,
    seed: u64,
) -> Result<Code, Unsupported> {
    let (source, lets) = program::needed(&program.source, &kernel.lets);
    let points = program::points(&lets);
    let shared = RefCell::new(Shared::new(seed));
    let ids = (0..source.functions.len() as u32).map(FunId);
    let functions: Vec<kir::Function> =
        ids.map(|id| self::function(&source, id, precision, &shared)).collect();
    let mut lowering = Lowering {
        function,
        values,
        kernel,
        variant,
        precision,
        builder: KernelBuilder::new(name(function, kernel)),
        takes: Vec::new(),
        params: Vec::new(),
        places: FxHashMap::default(),
        thread: Thread::new(kir::Body::default(), &source, precision, &shared),
        gives: Vec::new(),
        fixed: 0,
        segment: None,
        position: None,
        maps: FxHashMap::default(),
        pools: FxHashMap::default(),
    };
    let places = lowering.run(&lets, &points)?;
    let Lowering { builder, takes, gives, .. } = lowering;
    let kernel = builder.finish();
    let shared = shared.into_inner();
    let functions = functions.into_iter().chain(shared.helpers.into_iter().map(|(_, f)| f));
    let module = kir::Module { functions: functions.collect(), kernels: vec![kernel] };
    Ok(Code { module, fault_sites: shared.fault_sites, takes, gives, places })
}

struct Lowering<'a> {
    function: &'a flat::Function,
    values: &'a Values,
    kernel: &'a flat::Kernel,
    variant: &'a Variant,
    precision: Precision,
    builder: KernelBuilder,
    takes: Vec<Take>,
    /// Its parameters.
    params: Vec<Value>,
    /// The place of the point at hand in each context.
    places: FxHashMap<SpaceId, Value>,
    thread: Thread<'a>,
    gives: Vec<Give>,
    /// How many kir values are parameters: the same at all points.
    fixed: u32,
    /// The segment of the point at hand, and its position there.
    segment: Option<Value>,
    position: Option<Value>,
    /// The arrays of [`Take::Map`].
    maps: FxHashMap<SpaceId, Value>,
    /// The elements of [`Take::Pool`].
    pools: FxHashMap<Var, Columns>,
}

impl<'a> Lowering<'a> {
    fn run(
        &mut self,
        lets: &'a [Let],
        points: &'a [Option<ir::Let>],
    ) -> Result<Vec<Places>, Unsupported> {
        let reads = self.take_inputs(lets);
        self.fixed = self.takes_in_kir();
        self.enter(reads);
        for (binding, point) in lets.iter().zip(points) {
            self.binding(binding, point.as_ref())?;
        }
        let places = self.deliver(lets)?;
        self.builder.body = std::mem::take(&mut self.thread.body);
        Ok(places)
    }

    /// Whether a context has one point, and its values are no arrays.
    fn single(&self, ctx: SpaceId) -> bool {
        self.variant.single.contains(&ctx)
    }

    /// The context with a point for each segment of what the kernel goes over, if there are
    /// several.
    fn outer(&self) -> Option<SpaceId> {
        self.function.segments_of(self.kernel.space).filter(|ctx| !self.single(*ctx))
    }

    fn scope(&self) -> Scope {
        if self.outer().is_some() { Scope::Segment } else { Scope::All }
    }

    fn binding(&mut self, binding: &'a Let, point: Option<&'a ir::Let>) -> Result<(), Unsupported> {
        let mask = self.mask(binding.points());
        let rep = match (&binding.op, mask) {
            (Op::Reduce { with, value, .. }, mask) => {
                let value = self.thread.atom(*value).scalar();
                let combine = combine(*with);
                let value = self.neutral_unless(mask, value, combine);
                let out = self.reduced(binding);
                let scope = self.scope();
                self.sink(Sink::Reduce { scope, combine, value, out, result: None });
                return Ok(());
            }
            (Op::Histogram { with, size, place, value, .. }, mask) => {
                return self.histogram(binding, combine(*with), [*size, *place, *value], mask);
            }
            (Op::Scatter { of, place, value, .. }, mask) => {
                self.scatter(binding, *of, [*place, *value], mask);
                return Ok(());
            }
            (Op::Scan { with, value }, mask) => {
                let value = self.thread.atom(*value).scalar();
                let combine = combine(*with);
                let value = self.neutral_unless(mask, value, combine);
                let ty = self.thread.body.ty(value);
                let result = self.thread.body.value(ty);
                let scope = self.scope();
                self.sink(Sink::Scan { scope, combine, value, result, total: None });
                self.next_stage();
                Rep::Scalar(result)
            }
            (_, Some(mask)) if faults(binding, point) => {
                let ty = &binding.ty;
                let parts = |t: &mut Self| {
                    let rep = t.value(binding, point);
                    t.thread.settle(&rep, ty)
                };
                self.thread.body.begin();
                let rep = parts(self);
                let yields = self.thread.parts(&rep, ty);
                let types: Vec<ValueTy> = yields.iter().map(|v| self.thread.body.ty(*v)).collect();
                let then = self.thread.body.end(yields);
                self.thread.body.begin();
                let zeros = self.thread.zero_parts(ty);
                let otherwise = self.thread.body.end(zeros);
                let op = kir::Op::If { cond: mask, then, otherwise };
                let results = self.thread.body.push(op, &types);
                self.thread.rebuild(ty, &mut results.into_iter())
            }
            _ => self.value(binding, point),
        };
        self.thread.env.insert(binding.var, (rep, &binding.ty));
        Ok(())
    }

    /// Adds the elements of the index space to a table.
    fn histogram(
        &mut self,
        binding: &'a Let,
        combine: kir::Combine,
        [size, place, value]: [Atom; 3],
        mask: Option<Value>,
    ) -> Result<(), Unsupported> {
        if self.outer().is_some() {
            return Err(Unsupported::HistogramPerSegment);
        }
        let Some((array, ty)) = self.table(binding, size, combine) else { return Ok(()) };
        debug_assert_eq!(self.thread.body.element(array), ty);
        let [size, index] = [size, place].map(|atom| {
            let int = self.thread.atom(atom).scalar();
            self.thread.position(int)
        });
        let rep = self.thread.atom(value);
        let (value, length) = match &rep {
            Rep::Sequence(_) => {
                let Atom::Var(var) = value else { unreachable!("it is a row") };
                let ty = self.thread.env[&var].1;
                let row = self.thread.settle(&rep, ty).sequence();
                let (row, length) = self.thread.row(&row);
                (row, Some(length))
            }
            scalar => (scalar.scalar(), None),
        };
        let count = length.unwrap_or_else(|| self.thread.body.i64(1));
        let fits = self.thread.fits(index, count, size);
        let when = match mask {
            Some(mask) => self.thread.body.binary(Binary::And, mask, fits),
            None => fits,
        };
        self.sink(Sink::Histogram { array, combine, index, value, length, when: Some(when) });
        Ok(())
    }

    /// What the points write to a sequence.
    fn scatter(&mut self, binding: &Let, of: Var, [place, value]: [Atom; 2], mask: Option<Value>) {
        let place = self.thread.atom(place).scalar();
        let place = self.thread.position(place);
        let to = match self.target(binding, of) {
            Some(to) => to,
            // It is only checked.
            None => self.thread.atom(Atom::Var(of)).sequence(),
        };
        let length = self.thread.length_of(&to);
        let outside = mask.map(|mask| self.thread.body.unary(Unary::Not, mask));
        self.thread.in_bounds_unless(outside, place, length, FaultCode::Scatter, binding.site);
        let value = self.thread.atom(value);
        if let Sequence::Stored(to) = to
            && self.kernel.stores.iter().any(|(var, _)| *var == binding.var)
        {
            self.write_element(&to.columns, &value, place, mask);
        }
    }

    fn write_element(
        &mut self,
        columns: &Columns,
        value: &Rep<'a>,
        place: Value,
        when: Option<Value>,
    ) {
        with_stack(|| match (columns, value) {
            (Columns::Unit, _) => {}
            (Columns::Scalars(Leaf { array, start, .. }), Rep::Scalar(value)) => {
                let index = match start {
                    Some(start) => self.thread.body.binary(Binary::Add, *start, place),
                    None => place,
                };
                let (array, value) = (*array, *value);
                self.sink(Sink::Scatter { array, index, value, when });
            }
            (Columns::Pair(columns), Rep::Pair(values)) => {
                self.write_element(&columns.0, &values.0, place, when);
                self.write_element(&columns.1, &values.1, place, when);
            }
            (Columns::Scalars(_) | Columns::Pair(_) | Columns::Segments(_), _) => {
                unreachable!("types were checked")
            }
        });
    }

    /// What a value is, at one point.
    fn value(&mut self, binding: &'a Let, point: Option<&'a ir::Let>) -> Rep<'a> {
        let site = binding.site;
        match &binding.op {
            Op::Map(_) => {
                let point = point.expect("it is one");
                let rep = self.thread.operation(point);
                self.thread.settle(&rep, &binding.ty)
            }
            Op::Sequential(block) => {
                let rep = self.thread.whole(block);
                self.thread.settle(&rep, &binding.ty)
            }
            Op::Element { of, .. } => self.element(*of),
            Op::Position => {
                let position = self.position();
                Rep::Scalar(self.thread.int_of(position))
            }
            Op::Gather(from, place) => {
                let of = self.thread.atom(*from).sequence();
                let place = self.thread.atom(*place).scalar();
                let place = self.thread.position(place);
                let length = self.thread.length_of(&of);
                self.thread.in_bounds(place, length, FaultCode::Gather, site);
                self.thread.element(&of, place)
            }
            Op::Extent(op, args) => {
                let rep = match op {
                    SeqOp::Range => self.thread.range(args, site),
                    _ => self.thread.dist(Atom::Unit, args[1], site),
                };
                let length = self.thread.length_of(&rep.sequence());
                Rep::Scalar(self.thread.int_of(length))
            }
            Op::SameLength(a, b, code) => {
                let [a, b] = [a, b].map(|var| {
                    let sequence = self.thread.atom(Atom::Var(*var)).sequence();
                    self.thread.length_of(&sequence)
                });
                let same = self.thread.body.binary(Binary::Eq, a, b);
                let detail = (super::Detail::Lengths, &[a, b][..]);
                self.thread.check_detail(same, *code, site, detail);
                Rep::Scalar(same)
            }
            Op::Reduce { .. }
            | Op::Histogram { .. }
            | Op::Scatter { .. }
            | Op::Scan { .. }
            | Op::Collect { .. }
            | Op::Branch { .. }
            | Op::Call(..)
            | Op::Versions { .. } => unreachable!("no value at a point"),
        }
    }

    /// Whether a point is one of those that a mask keeps; nothing if all are.
    fn mask(&mut self, ctx: SpaceId) -> Option<Value> {
        if !self.kernel.masks.contains(&ctx) {
            return None;
        }
        let SpaceKind::Filter { of, flag, is } = self.function.context(ctx).kind else {
            return None;
        };
        let flag = self.thread.atom(Atom::Var(flag)).scalar();
        let flag = if is { flag } else { self.thread.body.unary(Unary::Not, flag) };
        Some(match self.mask(of) {
            Some(outer) => self.thread.body.binary(Binary::And, outer, flag),
            None => flag,
        })
    }

    fn neutral_unless(&mut self, mask: Option<Value>, value: Value, with: kir::Combine) -> Value {
        let Some(mask) = mask else { return value };
        let ty = self.thread.body.element(value);
        let neutral = self.thread.body.literal(with.neutral(ty));
        self.thread.body.select(mask, value, neutral)
    }

    fn sink(&mut self, sink: Sink) {
        self.builder.sink(sink);
    }

    fn next_stage(&mut self) {
        self.builder.body = std::mem::take(&mut self.thread.body);
        self.builder.next_stage();
        self.thread.body = std::mem::take(&mut self.builder.body);
    }

    fn zero(&mut self) -> Value {
        self.thread.body.literal(Literal::I64(0))
    }
}

/// Whether a value may not be computed where it is not asked for: it may fault, or take long.
fn faults(binding: &Let, point: Option<&ir::Let>) -> bool {
    match (&binding.op, point) {
        (Op::Element { .. } | Op::Position, _) => false,
        (_, Some(point)) => point.may_fault() || point.op.has_blocks(),
        _ => true,
    }
}
