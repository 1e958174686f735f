//! Evaluates a flat program, context by context.
//!
//! As obvious as can be: a value is a list of [`Value`]s, one for each point of its context, a
//! context knows for each of its points the point that it came from. What a point does by itself is
//! done by the direct interpreter, in a function made for it whose globals are what it reads.

use crate::flat::{Block, Function, Let, Op, Program, SpaceId, SpaceKind, Step};
use crate::interp::{self, Host, Options, Sequence, Value};
use crate::ir::{self, Atom, FunId, Global, GlobalId, Site, Ty, Var};
use crate::prim::{HostOp, SeqOp};
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::scalar::Precision;
use rustc_hash::FxHashMap;

/// More points than that cannot be drawn.
const MOST_POINTS: usize = 200;

/// Calls inside calls after which it is given up.
const DEEPEST: u32 = 40;

/// What the direct interpreter may take in all, in its nanoseconds.
pub(super) const BUDGET: u64 = 20_000_000;

/// Someone who looks on.
pub(super) trait Watch {
    /// A context has come into being, or a value has been computed.
    fn done(&mut self, frame: &Frame<'_>, step: Done<'_>);
    /// A function is about to be called: whether what it does is to be watched.
    fn follows(&mut self, frame: &Frame<'_>, binding: &Let) -> bool;
}

/// What has been done.
#[derive(Clone, Copy)]
pub(super) enum Done<'a> {
    /// A context.
    IndexSpace(SpaceId),
    /// A value.
    Value(&'a Let),
}

/// The points of a context.
pub(super) struct Points {
    pub count: usize,
    /// Where values from outside are read: the context around and, for each point, which of its
    /// points.
    above: Option<(SpaceId, Vec<usize>)>,
    /// The context that has a point for each segment and, for each point, which of them.
    pub owner: Option<(SpaceId, Vec<usize>)>,
    /// The position of each point in its segment.
    position: Vec<usize>,
}

impl Points {
    fn new(
        count: usize,
        above: Option<(SpaceId, Vec<usize>)>,
        owner: Option<(SpaceId, Vec<usize>)>,
    ) -> Points {
        let mut seen: FxHashMap<usize, usize> = FxHashMap::default();
        let position = (0..count).map(|point| {
            let segment = owner.as_ref().map_or(0, |(_, of)| of[point]);
            let next = seen.entry(segment).or_default();
            *next += 1;
            *next - 1
        });
        let position = position.collect();
        Points { count, above, owner, position }
    }
}

/// A call of a function at some points.
pub(super) struct Frame<'p> {
    pub function: &'p Function,
    pub points: FxHashMap<SpaceId, Points>,
    values: FxHashMap<Var, (SpaceId, Vec<Value>)>,
    pub types: FxHashMap<Var, Ty>,
    /// Sequences that are parts of others: of which, and where each begins in its flat data.
    pub views: FxHashMap<Var, (Var, Vec<u32>)>,
}

impl<'p> Frame<'p> {
    fn new(function: &'p Function, args: Vec<Vec<Value>>, count: usize) -> Frame<'p> {
        let mut points = FxHashMap::default();
        points.insert(SpaceId::CALLER, Points::new(count, None, None));
        let params = function.params.iter().zip(args);
        let values = params.map(|((var, _), values)| (*var, (SpaceId::CALLER, values))).collect();
        let mut types: FxHashMap<Var, Ty> = function.params.iter().cloned().collect();
        function.body.each_let(&mut |binding| {
            types.insert(binding.var, binding.ty.clone());
        });
        Frame { function, points, values, types, views: FxHashMap::default() }
    }

    /// Where a value lives.
    pub fn home(&self, var: Var) -> Option<SpaceId> {
        self.values.get(&var).map(|(home, _)| *home)
    }

    /// Where to show a value that is used at the points of a context: there, if these are some of
    /// its own points.
    pub fn shown_at(&self, var: Var, ctx: SpaceId) -> Option<SpaceId> {
        let home = self.home(var)?;
        let mut at = ctx;
        while at != home {
            match self.function.context(at).kind {
                SpaceKind::Filter { of, .. } => at = of,
                SpaceKind::Concat { inner, .. } => at = inner,
                SpaceKind::Caller | SpaceKind::Elements { .. } | SpaceKind::Count { .. } => {
                    return Some(home);
                }
            }
        }
        Some(ctx)
    }

    fn count(&self, ctx: SpaceId) -> Result<usize, String> {
        self.points.get(&ctx).map(|points| points.count).ok_or_else(strange)
    }

    /// The point of a context around that a point lies in.
    fn around(&self, mut ctx: SpaceId, mut point: usize, home: SpaceId) -> Result<usize, String> {
        while ctx != home {
            let points = self.points.get(&ctx).ok_or_else(strange)?;
            let (above, of) = points.above.as_ref().ok_or_else(strange)?;
            point = of[point];
            ctx = *above;
        }
        Ok(point)
    }

    /// An operand at a point.
    pub fn read(&self, atom: Atom, ctx: SpaceId, point: usize) -> Result<Value, String> {
        Ok(match atom {
            Atom::Var(var) => {
                let (home, values) = self.values.get(&var).ok_or_else(strange)?;
                let at = self.around(ctx, point, *home)?;
                values.get(at).cloned().ok_or_else(strange)?
            }
            Atom::Unit => Value::Unit,
            Atom::Int(x) => Value::Int(x),
            Atom::Float(x) => Value::Float(x),
            Atom::Bool(x) => Value::Bool(x),
            Atom::Char(x) => Value::Char(x),
        })
    }

    /// The type of an operand.
    fn type_of(&self, atom: Atom) -> Ty {
        match atom {
            Atom::Var(var) => self.types[&var].clone(),
            Atom::Unit => Ty::Unit,
            Atom::Int(_) => Ty::Int,
            Atom::Float(_) => Ty::Float,
            Atom::Bool(_) => Ty::Bool,
            Atom::Char(_) => Ty::Char,
        }
    }

    /// An operand at all points.
    pub fn all(&self, atom: Atom, ctx: SpaceId) -> Result<Vec<Value>, String> {
        (0..self.count(ctx)?).map(|point| self.read(atom, ctx, point)).collect()
    }

    fn enter(&mut self, ctx: SpaceId) -> Result<(), String> {
        let points = match self.function.context(ctx).kind {
            SpaceKind::Caller => return Ok(()),
            SpaceKind::Elements { of, sequence } => {
                self.segments(of, Atom::Var(sequence), |value| Some(value.as_sequence()?.len()))?
            }
            SpaceKind::Count { of, count } => {
                self.segments(of, count, |value| usize::try_from(value.as_int()?).ok())?
            }
            SpaceKind::Filter { of, flag, is } => {
                let flags = self.all(Atom::Var(flag), of)?;
                let kept = flags.iter().enumerate().filter(|(_, f)| f.as_bool() == Some(is));
                let kept: Vec<usize> = kept.map(|(point, _)| point).collect();
                let outer = self.points.get(&of).ok_or_else(strange)?;
                let owner = outer.owner.as_ref().map(|(owner, segments)| {
                    (*owner, kept.iter().map(|point| segments[*point]).collect())
                });
                Points::new(kept.len(), Some((of, kept)), owner)
            }
            SpaceKind::Concat { of, inner } => {
                let count = self.count(inner)?;
                let owner = (0..count).map(|point| self.around(inner, point, of));
                let owner = owner.collect::<Result<Vec<usize>, String>>()?;
                Points::new(count, Some((inner, (0..count).collect())), Some((of, owner)))
            }
        };
        if points.count > MOST_POINTS {
            return Err(too_many());
        }
        self.points.insert(ctx, points);
        Ok(())
    }

    fn segments(
        &self,
        of: SpaceId,
        made_of: Atom,
        length: impl Fn(&Value) -> Option<usize>,
    ) -> Result<Points, String> {
        let mut owner = Vec::new();
        for (point, value) in self.all(made_of, of)?.iter().enumerate() {
            let length = length(value).ok_or("a length is negative")?;
            if owner.len() + length > MOST_POINTS {
                return Err(too_many());
            }
            owner.extend(std::iter::repeat_n(point, length));
        }
        Ok(Points::new(owner.len(), Some((of, owner.clone())), Some((of, owner))))
    }

    /// Where the parts that a step takes of sequences begin in the flat data of these; `None` if it
    /// takes no parts, or if they are nested themselves.
    fn viewed(&self, binding: &Let) -> Option<(Var, Vec<u32>)> {
        let Op::Map(ir::Op::Seq(op, args)) = &binding.op else { return None };
        let [Atom::Var(source), place, ..] = args[..] else { return None };
        if matches!(binding.ty.element()?, Ty::Sequence(_)) {
            return None;
        }
        let home = self.home(source)?;
        let mut before = vec![0];
        for value in &self.values.get(&source)?.1 {
            before.push(before.last()? + leaves(value));
        }
        let start = |point| {
            let place =
                usize::try_from(self.read(place, binding.ctx, point).ok()?.as_int()?).ok()?;
            let at = self.around(binding.ctx, point, home).ok()?;
            let inside = match op {
                SeqOp::Subseq => place,
                SeqOp::Index => {
                    let sequential = self.values.get(&source)?.1.get(at)?.as_sequence()?.clone();
                    sequential.iter().take(place).map(|value| leaves(&value)).sum()
                }
                _ => return None,
            };
            u32::try_from(before.get(at)? + inside).ok()
        };
        let starts = (0..self.count(binding.ctx).ok()?).map(start).collect::<Option<Vec<u32>>>()?;
        Some((source, starts))
    }

    /// The values of the segments of a context.
    fn gathered(
        &self,
        value: Atom,
        from: SpaceId,
        ctx: SpaceId,
    ) -> Result<Vec<Vec<Value>>, String> {
        let points = self.points.get(&from).ok_or_else(strange)?;
        let (owner, segments) = points.owner.as_ref().ok_or_else(strange)?;
        if *owner != ctx {
            return Err(strange());
        }
        let mut all = vec![Vec::new(); self.count(ctx)?];
        for (point, segment) in segments.iter().enumerate() {
            all.get_mut(*segment).ok_or_else(strange)?.push(self.read(value, from, point)?);
        }
        Ok(all)
    }
}

/// How many elements there are in all, of sequences in sequences.
fn leaves(value: &Value) -> usize {
    match value {
        Value::Sequence(Sequence::Values(values)) => values.iter().map(leaves).sum(),
        Value::Sequence(sequence) => sequence.len(),
        Value::Unit
        | Value::Int(_)
        | Value::Float(_)
        | Value::Bool(_)
        | Value::Char(_)
        | Value::Pair(_) => 1,
    }
}

fn too_many() -> String {
    format!("there are more than {MOST_POINTS} points: too many to draw")
}

fn strange() -> String {
    "this cannot be drawn yet".to_owned()
}

/// Evaluates flat functions.
pub(super) struct Evaluator<'p, 'w> {
    program: &'p Program,
    /// The program that it was made from; what a point does by itself is added to it.
    source: ir::Program,
    precision: Precision,
    budget: u64,
    depth: u32,
    watch: &'w mut dyn Watch,
}

impl<'p, 'w> Evaluator<'p, 'w> {
    pub(super) fn new(
        program: &'p Program,
        precision: Precision,
        watch: &'w mut dyn Watch,
    ) -> Evaluator<'p, 'w> {
        let source = program.source.clone();
        Evaluator { program, source, precision, budget: BUDGET, depth: 0, watch }
    }

    /// The result of the program for some arguments.
    pub(super) fn run(&mut self, args: Vec<Value>) -> Result<Value, String> {
        let args = args.into_iter().map(|arg| vec![arg]).collect();
        let results = self.call(self.program.source.main, args, 1, true)?;
        results.into_iter().next().ok_or_else(strange)
    }

    fn call(
        &mut self,
        callee: FunId,
        args: Vec<Vec<Value>>,
        count: usize,
        watched: bool,
    ) -> Result<Vec<Value>, String> {
        if self.depth >= DEEPEST {
            return Err("it calls itself too often to be drawn".to_owned());
        }
        let Some(Some(function)) = self.program.functions.get(callee.0 as usize) else {
            return Err(
                "it prints, reads files or asks the clock: that has no flattened form".to_owned()
            );
        };
        self.depth += 1;
        let mut frame = Frame::new(function, args, count);
        let result = crate::base::with_stack(|| {
            self.block(&mut frame, &function.body, watched)?;
            frame.all(function.body.result, SpaceId::CALLER)
        });
        self.depth -= 1;
        result
    }

    fn block(
        &mut self,
        frame: &mut Frame<'p>,
        block: &'p Block,
        watched: bool,
    ) -> Result<(), String> {
        for step in &block.steps {
            match step {
                Step::Space(ctx) => {
                    frame.enter(*ctx)?;
                    if watched {
                        self.watch.done(frame, Done::IndexSpace(*ctx));
                    }
                }
                Step::Let(binding) => {
                    let values = self.value(frame, binding, watched)?;
                    frame.values.insert(binding.var, (binding.ctx, values));
                    if let Some(view) = frame.viewed(binding) {
                        frame.views.insert(binding.var, view);
                    }
                    if watched {
                        self.watch.done(frame, Done::Value(binding));
                    }
                }
                // Only fused programs have kernels.
                Step::Kernel(_) => return Err(strange()),
            }
        }
        Ok(())
    }

    fn value(
        &mut self,
        frame: &mut Frame<'p>,
        binding: &'p Let,
        watched: bool,
    ) -> Result<Vec<Value>, String> {
        let (ctx, ty) = (binding.ctx, &binding.ty);
        let count = frame.count(ctx)?;
        match &binding.op {
            Op::Map(op) => self.points(frame, ctx, ty, op.clone()),
            Op::Sequential(block) => self.sequential(frame, ctx, ty, block),
            Op::Element { of, .. } => {
                let at = |point| {
                    let points = frame.points.get(&ctx).ok_or_else(strange)?;
                    let (above, around) = points.above.as_ref().ok_or_else(strange)?;
                    let sequence = frame.read(Atom::Var(*of), *above, around[point])?;
                    element(&sequence, points.position[point])
                };
                (0..count).map(at).collect()
            }
            Op::Position => {
                let points = frame.points.get(&ctx).ok_or_else(strange)?;
                Ok(points.position.iter().map(|at| Value::Int(*at as i64)).collect())
            }
            Op::Gather(sequence, place) => {
                let at = |point| {
                    let place = frame.read(*place, ctx, point)?.as_int();
                    let place = place.and_then(|place| usize::try_from(place).ok());
                    let place = place.ok_or_else(|| FaultCode::Gather.message().to_owned())?;
                    element(&frame.read(*sequence, ctx, point)?, place)
                };
                (0..count).map(at).collect()
            }
            Op::Extent(op, args) => self.extents(frame, ctx, *op, args),
            Op::SameLength(a, b, code) => {
                let length = |value: Value| value.as_sequence().map(Sequence::len);
                let at = |point| {
                    let a = length(frame.read(Atom::Var(*a), ctx, point)?);
                    let b = length(frame.read(Atom::Var(*b), ctx, point)?);
                    if a == b { Ok(Value::Bool(true)) } else { Err(failed(code.message())) }
                };
                (0..count).map(at).collect()
            }
            Op::Collect { value, from } => {
                let element = ty.element().ok_or_else(strange)?;
                let all = frame.gathered(*value, *from, ctx)?.into_iter();
                Ok(all.map(|values| Sequence::from_values(element, values).into()).collect())
            }
            Op::Reduce { with, value, from } => {
                let all = frame.gathered(*value, *from, ctx)?.into_iter();
                let all = all.map(|values| Sequence::from_values(ty, values).into()).collect();
                self.on_sequences(SeqOp::Reduce(*with), ty, ty, all)
            }
            Op::Histogram { with, size, place, value, from } => {
                let sizes = frame.all(*size, ctx)?;
                let places = frame.gathered(*place, *from, ctx)?;
                let values = frame.gathered(*value, *from, ctx)?;
                let value = frame.type_of(*value);
                let rows = sizes.into_iter().zip(places).zip(values);
                let rows = rows.map(|((size, places), values)| {
                    let places = Sequence::from_values(&Ty::Int, places).into();
                    vec![size, places, Sequence::from_values(&value, values).into()]
                });
                let given = [Ty::Int, Ty::sequence(Ty::Int), Ty::sequence(value.clone())];
                self.on_each(SeqOp::Histogram(*with), &given, ty, rows.collect())
            }
            Op::Scatter { of, place, value, from } => {
                let mut writes = vec![Vec::new(); count];
                for point in 0..frame.count(*from)? {
                    let place = frame.read(*place, *from, point)?;
                    let value = frame.read(*value, *from, point)?;
                    let row = frame.around(*from, point, ctx)?;
                    writes[row].push(Value::pair(place, value));
                }
                let write = Ty::pair(Ty::Int, frame.type_of(*value));
                let rows = frame.all(Atom::Var(*of), ctx)?.into_iter().zip(writes);
                let rows = rows.map(|(sequence, writes)| {
                    vec![sequence, Sequence::from_values(&write, writes).into()]
                });
                let rows = rows.collect();
                self.on_each(SeqOp::Scatter, &[ty.clone(), Ty::sequence(write)], ty, rows)
            }
            Op::Scan { with, value } => {
                let points = frame.points.get(&ctx).ok_or_else(strange)?;
                let (owner, segments) = points.owner.clone().ok_or_else(strange)?;
                let position = points.position.clone();
                let all = frame.gathered(*value, ctx, owner)?.into_iter();
                let all = all.map(|values| Sequence::from_values(ty, values).into()).collect();
                let result = Ty::sequence(ty.clone());
                let scanned = self.on_sequences(SeqOp::Scan(*with), ty, &result, all)?;
                let at = |point: usize| element(&scanned[segments[point]], position[point]);
                (0..count).map(at).collect()
            }
            Op::Branch { then, otherwise, .. } => {
                let mut all: Vec<Option<Value>> = vec![None; count];
                for (side, block) in [then, otherwise] {
                    frame.enter(*side)?;
                    if frame.count(*side)? == 0 {
                        continue;
                    }
                    if watched {
                        self.watch.done(frame, Done::IndexSpace(*side));
                    }
                    crate::base::with_stack(|| self.block(frame, block, watched))?;
                    for (point, value) in frame.all(block.result, *side)?.into_iter().enumerate() {
                        all[frame.around(*side, point, ctx)?] = Some(value);
                    }
                }
                all.into_iter().map(|value| value.ok_or_else(strange)).collect()
            }
            Op::Call(callee, args) => {
                if count == 0 {
                    return Ok(Vec::new());
                }
                let follows = watched && self.watch.follows(frame, binding);
                let args = args.iter().map(|arg| frame.all(*arg, ctx));
                let args = args.collect::<Result<Vec<_>, String>>()?;
                self.call(*callee, args, count, follows)
            }
            Op::Versions { flattened, .. } => {
                crate::base::with_stack(|| self.block(frame, flattened, watched))?;
                frame.all(flattened.result, ctx)
            }
        }
    }

    /// What each point does by itself.
    fn points(
        &mut self,
        frame: &Frame<'p>,
        ctx: SpaceId,
        ty: &Ty,
        op: ir::Op,
    ) -> Result<Vec<Value>, String> {
        let var = Var(frame.types.keys().map(|var| var.0 + 1).max().unwrap_or(0));
        let step = ir::Let { var, ty: ty.clone(), op, site: Site::NONE };
        self.sequential(frame, ctx, ty, &ir::Block { lets: vec![step], result: Atom::Var(var) })
    }

    fn sequential(
        &mut self,
        frame: &Frame<'p>,
        ctx: SpaceId,
        ty: &Ty,
        block: &ir::Block,
    ) -> Result<Vec<Value>, String> {
        let mut reads: Vec<Var> = Vec::new();
        block.each_use(&mut |var| {
            if frame.values.contains_key(&var) && !reads.contains(&var) {
                reads.push(var);
            }
        });
        let typed = reads.iter().map(|var| (*var, frame.types[var].clone())).collect();
        let rows = (0..frame.count(ctx)?).map(|point| {
            let row = reads.iter().map(|var| frame.read(Atom::Var(*var), ctx, point));
            row.collect::<Result<Vec<Value>, String>>()
        });
        let rows = rows.collect::<Result<Vec<_>, String>>()?;
        self.interpret(typed, block.clone(), ty, rows)
    }

    /// How many elements a range or a repetition has.
    fn extents(
        &mut self,
        frame: &Frame<'p>,
        ctx: SpaceId,
        op: SeqOp,
        args: &[Atom],
    ) -> Result<Vec<Value>, String> {
        let element = match (op, args.first()) {
            (SeqOp::Dist, Some(atom)) => frame.type_of(*atom),
            _ => Ty::Int,
        };
        let sequence = ir::Op::Seq(op, args.to_vec());
        let all = self.points(frame, ctx, &Ty::sequence(element), sequence)?;
        let lengths = all.iter().map(|value| value.as_sequence().map(Sequence::len));
        lengths.map(|n| n.map(|n| Value::Int(n as i64)).ok_or_else(strange)).collect()
    }

    /// An operation on each of some sequences.
    fn on_sequences(
        &mut self,
        op: SeqOp,
        element: &Ty,
        ty: &Ty,
        all: Vec<Value>,
    ) -> Result<Vec<Value>, String> {
        let rows = all.into_iter().map(|value| vec![value]).collect();
        self.on_each(op, &[Ty::sequence(element.clone())], ty, rows)
    }

    /// An operation on each of some rows of operands.
    fn on_each(
        &mut self,
        op: SeqOp,
        given: &[Ty],
        ty: &Ty,
        rows: Vec<Vec<Value>>,
    ) -> Result<Vec<Value>, String> {
        let reads: Vec<(Var, Ty)> =
            given.iter().enumerate().map(|(i, ty)| (Var(i as u32), ty.clone())).collect();
        let var = Var(given.len() as u32);
        let op = ir::Op::Seq(op, reads.iter().map(|(var, _)| Atom::Var(*var)).collect());
        let step = ir::Let { var, ty: ty.clone(), op, site: Site::NONE };
        let block = ir::Block { lets: vec![step], result: Atom::Var(var) };
        self.interpret(reads, block, ty, rows)
    }

    /// Interprets a block for each row of values of the variables that it reads.
    fn interpret(
        &mut self,
        reads: Vec<(Var, Ty)>,
        block: ir::Block,
        ty: &Ty,
        rows: Vec<Vec<Value>>,
    ) -> Result<Vec<Value>, String> {
        let mut lets = Vec::with_capacity(reads.len() + block.lets.len());
        let mut globals = Vec::with_capacity(reads.len());
        for (i, (var, ty)) in reads.into_iter().enumerate() {
            let op = ir::Op::Global(GlobalId(i as u32));
            lets.push(ir::Let { var, ty: ty.clone(), op, site: Site::NONE });
            globals.push(Global { item: Site::NONE.item, name: format!("v{}", var.0).into(), ty });
        }
        lets.extend(block.lets);
        let function = ir::Function {
            name: "step".into(),
            params: Vec::new(),
            result: ty.clone(),
            body: ir::Block { lets, result: block.result },
            site: Site::NONE,
            library: false,
            charge: None,
            role: None,
        };
        let main = FunId(self.source.functions.len() as u32);
        self.source.functions.push(function);
        let main = std::mem::replace(&mut self.source.main, main);
        let globals = std::mem::replace(&mut self.source.globals, globals);
        let (source, budget, precision) = (&self.source, &mut self.budget, self.precision);
        let values = rows.iter().map(|row| interpret(source, row, budget, precision)).collect();
        self.source.globals = globals;
        self.source.main = main;
        self.source.functions.pop();
        values
    }
}

/// Runs a program that needs nothing of the world outside.
pub(super) fn interpret(
    program: &ir::Program,
    globals: &[Value],
    budget: &mut u64,
    precision: Precision,
) -> Result<Value, String> {
    let options = Options {
        precision,
        max_depth: 10_000,
        max_length: 1_000_000,
        interrupt: None,
        log_scan: false,
    };
    match interp::run_within(budget, program, globals, 0, &mut Nowhere, &options) {
        None => Err("it takes too long to be drawn".to_owned()),
        Some(Err(failure)) => Err(failed(&reason(&failure.fault))),
        Some(Ok(value)) => Ok(value),
    }
}

fn failed(message: &str) -> String {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("it fails: {line}")
}

fn reason(fault: &Fault) -> String {
    match (&fault.detail, fault.code) {
        (Some(detail), FaultCode::Message | FaultCode::Host) => detail.clone(),
        (_, code) => code.message().to_owned(),
    }
}

fn element(sequence: &Value, index: usize) -> Result<Value, String> {
    let found = sequence.as_sequence().and_then(|sequence| sequence.get(index));
    found.ok_or_else(|| failed(FaultCode::Index.message()))
}

/// A world in which there is nothing.
struct Nowhere;

impl Host for Nowhere {
    fn print(&mut self, _: &[u8]) {}

    fn call(&mut self, _: HostOp, _: &[Value], _: &[Ty], _: &Ty) -> Result<Value, Fault> {
        Err(Fault::with(FaultCode::Host, "it needs files, a screen or a clock"))
    }

    fn clock(&mut self) -> f64 {
        0.0
    }

    fn seed(&self) -> u64 {
        0
    }
}
