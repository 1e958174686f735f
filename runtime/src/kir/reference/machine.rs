//! Executes code for one work item, on a stack of its own: recursion of the program is not
//! recursion of the host.

use super::memory::{Mark, Memory, Pointer};
use super::scalar;
use crate::bug;
use crate::bug::OrBug;
use crate::fault::{Fault, FaultCode};
use crate::kir::print::print_head;
use crate::kir::{
    Binary, Block, Combine, Extern, Inst, Literal, Module, Op, Site, Ty, Value, ValueTy,
};
use crate::scalar::Precision;
use crate::services::sort::Order;
use crate::services::text;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::Hash;
use std::iter::once;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The content of a kir value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Datum {
    /// The value is not defined yet.
    Unset,
    Scalar(Literal),
    Array(Pointer),
    Mark(Mark),
}

/// The reason for which a work item stops before its end.
#[derive(Debug)]
pub(super) enum Stop {
    /// A check does not hold.
    Failed { site: Site, detail: Vec<i64>, text: Option<Vec<u8>> },
    /// A fault of the machine.
    Machine(Fault),
    /// The code breaks an invariant of kir.
    IllFormed(String),
}

pub(super) type Outcome<T> = Result<T, Stop>;

/// The contents of values, by number.
pub(super) type Env = Vec<Datum>;

/// The interpreter of the code of work items.
pub(super) struct Machine<'m, 'r> {
    pub module: &'m Module,
    pub memory: Memory<'r>,
    pub interrupt: &'r AtomicBool,
    pub max_depth: usize,
    /// The work so far: see [`Counters::work`](crate::runtime::Counters::work).
    pub work: u64,
    frames: Vec<Frame<'m>>,
    max_stack_bytes: usize,
    /// The size of the frames in bytes.
    frame_bytes: usize,
}

/// A call under way.
struct Frame<'m> {
    /// For messages: ``function `f` ``.
    kind: &'static str,
    name: &'m str,
    types: &'m [ValueTy],
    env: Env,
    /// The open blocks, the innermost last.
    open: Vec<Open<'m>>,
    /// The values that its results define in the caller's frame.
    results: &'m [Value],
}

/// A block under way.
struct Open<'m> {
    block: &'m Block,
    at: usize,
    after: After<'m>,
}

/// The use of the values that a block yields.
enum After<'m> {
    /// They are the results of the call.
    Call,
    /// They are the results of this instruction.
    If(&'m [Value]),
    /// They say whether the body is executed once more.
    Cond(Loop<'m>),
    /// They are the next values carried.
    While(Loop<'m>),
    For(Count<'m>),
}

#[derive(Clone, Copy)]
struct Loop<'m> {
    results: &'m [Value],
    carried: &'m [Value],
    cond: &'m Block,
    body: &'m Block,
}

struct Count<'m> {
    results: &'m [Value],
    index: Value,
    carried: &'m [Value],
    reduce: &'m [Combine],
    at: i64,
    count: i64,
    sums: Vec<Literal>,
}

/// The size of the frame of a function with so many values, in bytes.
fn frame_bytes(values: usize) -> usize {
    // Four open blocks are allocated at once.
    size_of::<Frame<'_>>() + values * size_of::<Datum>() + 4 * size_of::<Open<'_>>()
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop::Machine(fault)
    }
}

impl From<String> for Stop {
    fn from(why: String) -> Stop {
        Stop::IllFormed(why)
    }
}

impl<'m, 'r> Machine<'m, 'r> {
    pub fn new(
        module: &'m Module,
        memory: Memory<'r>,
        interrupt: &'r AtomicBool,
        (max_depth, max_stack_bytes): (usize, usize),
    ) -> Machine<'m, 'r> {
        Machine {
            module,
            memory,
            interrupt,
            max_depth,
            work: 0,
            frames: Vec::new(),
            max_stack_bytes,
            frame_bytes: 0,
        }
    }

    /// Executes the code of a stage; gives the environment it leaves.
    ///
    /// # Panics
    /// If the code breaks an invariant of kir.
    pub fn run(
        &mut self,
        kernel: &'m str,
        types: &'m [ValueTy],
        block: &'m Block,
        env: Env,
    ) -> Outcome<Env> {
        self.frames.clear();
        self.frame_bytes = 0;
        let open = vec![Open { block, at: 0, after: After::Call }];
        self.frames.push(Frame { kind: "kernel", name: kernel, types, env, open, results: &[] });
        self.poll()?;
        loop {
            let open = self.open();
            let Some(inst) = open.block.insts.get(open.at) else {
                if let Some(env) = self.leave()? {
                    return Ok(env);
                }
                continue;
            };
            open.at += 1;
            match self.inst(inst) {
                Ok(()) => {}
                Err(Stop::IllFormed(why)) => {
                    let module = self.module;
                    let Frame { kind, name, types, .. } = self.frame();
                    let inst = print_head(module, types, inst);
                    bug!("ill-formed kir: {kind} `{name}`: `{inst}`: {why}");
                }
                Err(stop) => return Err(stop),
            }
        }
    }

    fn frame(&mut self) -> &mut Frame<'m> {
        self.frames.last_mut().or_bug("an instruction is executed in a call")
    }

    fn open(&mut self) -> &mut Open<'m> {
        self.frame().open.last_mut().or_bug("an instruction is executed in a block")
    }

    fn poll(&self) -> Result<(), Fault> {
        match self.interrupt.load(Relaxed) {
            true => Err(FaultCode::Interrupted.into()),
            false => Ok(()),
        }
    }

    fn enter(&mut self, block: &'m Block, after: After<'m>) {
        self.frame().open.push(Open { block, at: 0, after });
    }

    /// Goes on after the innermost block; gives the environment if that was all.
    fn leave(&mut self) -> Outcome<Option<Env>> {
        let open = self.frame().open.pop().or_bug("an instruction is executed in a block");
        let yields = self.get_all(&open.block.yields);
        match open.after {
            After::Call => {
                let frame = self.frames.pop().or_bug("an instruction is executed in a call");
                self.frame_bytes = self.frame_bytes.saturating_sub(frame_bytes(frame.env.len()));
                if self.frames.is_empty() {
                    return Ok(Some(frame.env));
                }
                self.set_all(frame.results, &yields);
            }
            After::If(results) => self.set_all(results, &yields),
            After::Cond(state) => {
                if yields == [Datum::Scalar(Literal::Bool(true))] {
                    self.enter(state.body, After::While(state));
                } else {
                    let carried = self.get_all(state.carried);
                    self.set_all(state.results, &carried);
                }
            }
            After::While(state) => {
                self.poll()?;
                self.set_all(state.carried, &yields);
                self.enter(state.cond, After::Cond(state));
            }
            After::For(mut state) => {
                self.poll()?;
                let (next, elements) = yields.split_at(state.carried.len());
                self.set_all(state.carried, next);
                for ((sum, with), element) in state.sums.iter_mut().zip(state.reduce).zip(elements)
                {
                    if let Datum::Scalar(element) = element {
                        *sum = scalar::combine(*with, *sum, *element);
                    }
                }
                state.at += 1;
                self.iterate(open.block, state);
            }
        }
        Ok(None)
    }

    /// Begins the next iteration of a counted loop, or ends it.
    fn iterate(&mut self, body: &'m Block, state: Count<'m>) {
        if state.at < state.count {
            self.set(state.index, Datum::Scalar(Literal::I64(state.at)));
            self.enter(body, After::For(state));
        } else {
            let mut results = self.get_all(state.carried);
            results.extend(state.sums.iter().map(|sum| Datum::Scalar(*sum)));
            self.set_all(state.results, &results);
        }
    }

    /// Counts elements that were moved, compared or combined.
    pub fn worked(&mut self, elements: i64) {
        self.work += elements.max(0) as u64;
    }

    fn inst(&mut self, inst: &'m Inst) -> Outcome<()> {
        self.work += 1;
        let result = match &inst.op {
            Op::Const(literal) => Datum::Scalar(*literal),
            Op::Text(text) => Datum::Array(self.memory.text(text)?),
            Op::Unary(op, a) => Datum::Scalar(scalar::unary(*op, self.scalar(*a))),
            Op::Binary(op, a, b) => {
                Datum::Scalar(scalar::binary(*op, self.scalar(*a), self.scalar(*b)))
            }
            Op::Fma(a, b, c) => {
                Datum::Scalar(scalar::fma(self.scalar(*a), self.scalar(*b), self.scalar(*c)))
            }
            Op::Select(cond, a, b) => self.get(if self.bool(*cond) { *a } else { *b }),
            Op::Convert(to, a) => Datum::Scalar(scalar::convert(*to, self.scalar(*a))),
            Op::Bits(to, a) => Datum::Scalar(scalar::bits(*to, self.scalar(*a))),
            Op::Alloc(ty, length) => {
                let length = self.i64(*length);
                Datum::Array(self.memory.alloc(*ty, length)?)
            }
            Op::Load { array, index } => {
                let (array, index) = (self.array(*array), self.i64(*index));
                Datum::Scalar(self.memory.load(array, index)?)
            }
            Op::Store { array, index, value } => {
                let (array, index) = (self.array(*array), self.i64(*index));
                let value = self.scalar(*value);
                return Ok(self.memory.store(array, index, value)?);
            }
            Op::Slice(array, start) => {
                let (array, start) = (self.array(*array), self.i64(*start));
                Datum::Array(self.memory.slice(array, start)?)
            }
            Op::Copy { from, to, count } => {
                let (from, to) = (self.array(*from), self.array(*to));
                let count = self.i64(*count);
                self.worked(count);
                return Ok(self.memory.copy(from, to, count)?);
            }
            Op::If { cond, then, otherwise } => {
                let block = if self.bool(*cond) { then } else { otherwise };
                self.enter(block, After::If(&inst.results));
                return Ok(());
            }
            Op::While { init, carried, cond, body } => {
                let init = self.get_all(init);
                self.set_all(carried, &init);
                let state = Loop { results: &inst.results, carried, cond, body };
                self.enter(cond, After::Cond(state));
                return Ok(());
            }
            Op::For { count, index, init, carried, reduce, body } => {
                let init = self.get_all(init);
                self.set_all(carried, &init);
                let sums = inst.results[carried.len()..].iter().zip(reduce);
                let sums = sums.map(|(result, with)| with.neutral(self.element(*result)));
                let sums = sums.collect();
                let (results, index) = (&inst.results[..], *index);
                let count = self.i64(*count);
                self.iterate(body, Count { results, index, carried, reduce, at: 0, count, sums });
                return Ok(());
            }
            Op::Call(callee, args) | Op::Compute(callee, args) => {
                self.poll()?;
                // The stage itself is not a call.
                if self.frames.len() > self.max_depth {
                    return Err(Fault::new(FaultCode::TooDeep).into());
                }
                let callee = &self.module.functions[callee.0 as usize];
                self.frame_bytes += frame_bytes(callee.types.len());
                if self.frame_bytes > self.max_stack_bytes {
                    let limit = Some(self.max_stack_bytes as u64);
                    return Err(Fault::too_deep(Some(self.frames.len() as u64), limit).into());
                }
                let mut env = vec![Datum::Unset; callee.types.len()];
                for (param, arg) in callee.params.iter().zip(args) {
                    env[param.0 as usize] = self.get(*arg);
                }
                self.frames.push(Frame {
                    kind: "function",
                    name: &callee.name,
                    types: &callee.types,
                    env,
                    open: vec![Open { block: &callee.body, at: 0, after: After::Call }],
                    results: &inst.results,
                });
                return Ok(());
            }
            Op::Extern(service, args) => {
                let results = self.service(*service, args)?;
                self.set_all(&inst.results, &results);
                return Ok(());
            }
            Op::Check { cond, site, detail } => {
                if self.bool(*cond) {
                    return Ok(());
                }
                let detail = detail.iter().map(|value| self.i64(*value)).collect();
                return Err(Stop::Failed { site: *site, detail, text: None });
            }
            Op::Fail { site, text, length, detail } => {
                let (text, length) = (self.array(*text), self.i64(*length));
                self.worked(length);
                let text = self.memory.read(text, length)?.into_iter().map(byte).collect();
                let detail = detail.iter().map(|value| self.i64(*value)).collect();
                return Err(Stop::Failed { site: *site, detail, text: Some(text) });
            }
            Op::Mark => Datum::Mark(self.memory.mark()),
            Op::Compact { since, keep } => {
                let Datum::Mark(since) = self.get(*since) else {
                    bug!("the verifier sees that operands have the types of their operation")
                };
                let keep =
                    keep.iter().map(|(array, length)| (self.array(*array), self.i64(*length)));
                let keep: Vec<_> = keep.collect();
                let (moved, is_worth_it) = self.memory.compact(since, &keep)?;
                if is_worth_it {
                    // Arrays that are older than the mark stay where they are.
                    let pairs = keep.iter().zip(&moved).filter(|((old, _), new)| old != *new);
                    pairs.for_each(|((_, length), _)| self.worked(*length));
                }
                let moved: Vec<Datum> = moved.into_iter().map(Datum::Array).collect();
                self.set_all(&inst.results, &moved);
                return Ok(());
            }
        };
        self.set_all(&inst.results, &[result]);
        Ok(())
    }

    fn service(&mut self, service: Extern, args: &[Value]) -> Outcome<Vec<Datum>> {
        Ok(match service {
            Extern::RankUp => self.rank(args, Order::Up, None)?,
            Extern::RankDown => self.rank(args, Order::Down, None)?,
            Extern::SortUp => self.sort(args, Order::Up, None)?,
            Extern::SortDown => self.sort(args, Order::Down, None)?,
            Extern::RankSegmentsUp => self.rank(args, Order::Up, Some(args[3]))?,
            Extern::RankSegmentsDown => self.rank(args, Order::Down, Some(args[3]))?,
            Extern::SortSegmentsUp => self.sort(args, Order::Up, Some(args[3]))?,
            Extern::SortSegmentsDown => self.sort(args, Order::Down, Some(args[3]))?,
            Extern::Groups => {
                let whole = self.segments(args[1], None)?;
                let keys = self.memory.read(self.array(args[0]), end(&whole) as i64)?;
                self.groups(&keys, [args[2], args[3]], &whole)?
            }
            Extern::GroupSegments => {
                let segments = self.segments(args[1], Some(args[4]))?;
                let keys = self.memory.read(self.array(args[0]), end(&segments) as i64)?;
                self.groups(&keys, [args[2], args[3]], &segments)?
            }
            Extern::TextGroups => {
                let whole = self.segments(args[1], None)?;
                let texts = self.texts(args, end(&whole) as i64)?;
                self.groups(&texts, [args[4], args[5]], &whole)?
            }
            Extern::GroupTextSegments => {
                let segments = self.segments(args[1], Some(args[6]))?;
                let texts = self.texts(args, end(&segments) as i64)?;
                self.groups(&texts, [args[4], args[5]], &segments)?
            }
            Extern::Distinct => {
                let keys = self.memory.read(self.array(args[0]), self.i64(args[1]))?;
                self.distinct(&keys, [args[2], args[3], args[4]])?
            }
            Extern::DistinctTexts => {
                let texts = self.texts(args, self.i64(args[1]))?;
                self.distinct(&texts, [args[4], args[5], args[6]])?
            }
            Extern::RankTexts => self.rank_texts(args, None)?,
            Extern::RankTextSegments => self.rank_texts(args, Some(args[5]))?,
            Extern::HashText => {
                let text = self.text(args[0], args[1])?;
                let hash = text::hash(&text, self.i64(args[2]));
                vec![Datum::Scalar(Literal::I64(hash))]
            }
            Extern::SameText => {
                let (a, b) = (self.text(args[0], args[1])?, self.text(args[2], args[3])?);
                vec![bool(a == b)]
            }
            Extern::FloatText => {
                let text = text::float(self.f64(args[0]), Precision::Bits64);
                vec![self.write_text(args[1], &text)?]
            }
            Extern::FloatText32 => {
                let text = text::float(self.f64(args[0]), Precision::Bits32);
                vec![self.write_text(args[1], &text)?]
            }
            Extern::ExpText => match text::exponential(self.f64(args[0]), self.i64(args[1])) {
                Ok(text) => vec![self.write_text(args[2], &text)?, bool(true)],
                Err(_) => vec![Datum::Scalar(Literal::I64(0)), bool(false)],
            },
            Extern::ParseFloat => self.parse_float(args, Precision::Bits64)?,
            Extern::ParseFloat32 => self.parse_float(args, Precision::Bits32)?,
            Extern::Product => self.product(args)?,
            Extern::Transpose => {
                let [rows, columns] = [args[2], args[3]].map(|count| self.i64(count));
                for column in 0..columns {
                    let start = self.memory.load(self.array(args[1]), column)?;
                    let Literal::I64(start) = start else {
                        bug!("the verifier sees that starts are ints")
                    };
                    for row in 0..rows {
                        let element = self.memory.load(self.array(args[0]), start + row)?;
                        self.memory.store(self.array(args[4]), row * columns + column, element)?;
                    }
                    self.worked(rows);
                }
                Vec::new()
            }
        })
    }

    /// The product of two matrices, element by element.
    fn product(&mut self, args: &[Value]) -> Outcome<Vec<Datum>> {
        let [rows, columns, depth] = [args[6], args[7], args[8]].map(|count| self.i64(count));
        let factors = [(args[0], args[1], args[2]), (args[3], args[4], args[5])];
        for at in 0..rows * columns {
            let own = [at / columns, at % columns];
            let mut sum = 0.0;
            for place in 0..depth {
                let mut both = [0.0; 2];
                for ((pool, starts, turned), (own, value)) in
                    factors.into_iter().zip(own.into_iter().zip(&mut both))
                {
                    let (row, column) =
                        if self.i64(turned) == 0 { (own, place) } else { (place, own) };
                    let Literal::I64(start) = self.memory.load(self.array(starts), row)? else {
                        bug!("the verifier sees that starts are ints")
                    };
                    *value = match self.memory.load(self.array(pool), start + column)? {
                        Literal::F32(bits) => f64::from(f32::from_bits(bits)),
                        Literal::F64(bits) => f64::from_bits(bits),
                        other => bug!("{other:?} is an element of a matrix"),
                    };
                }
                sum += both[0] * both[1];
            }
            let out = self.array(args[9]);
            let value = match self.element(args[9]) {
                Ty::F32 => Literal::F32((sum as f32).to_bits()),
                _ => Literal::F64(f64::to_bits(sum)),
            };
            self.memory.store(out, at, value)?;
            self.worked(depth);
        }
        Ok(Vec::new())
    }

    /// The segments that an intrinsic is given: their number and their offsets; without offsets, one
    /// of so many elements.
    fn segments(&mut self, number: Value, offsets: Option<Value>) -> Outcome<Vec<Range<usize>>> {
        let count = self.i64(number);
        let Some(offsets) = offsets else { return Ok(once(0..count as usize).collect()) };
        let offsets = self.memory.read(self.array(offsets), count + 1)?;
        let offsets = offsets.into_iter().map(|offset| i64_of(Datum::Scalar(offset)) as usize);
        let offsets: Vec<usize> = offsets.collect();
        Ok(offsets.windows(2).map(|ends| ends[0]..ends[1]).collect())
    }

    /// The keys of a segment with the places that they had in it, in order.
    fn sorted(
        &mut self,
        keys: Value,
        segment: &Range<usize>,
        order: Order,
    ) -> Outcome<Vec<(usize, Literal)>> {
        self.worked(segment.len() as i64);
        let mut sorted = Vec::new();
        for (place, at) in segment.clone().enumerate() {
            sorted.push((place, self.memory.load(self.array(keys), at as i64)?));
        }
        sorted.sort_by(|(_, a), (_, b)| compare(*a, *b, order));
        Ok(sorted)
    }

    fn rank(
        &mut self,
        args: &[Value],
        order: Order,
        offsets: Option<Value>,
    ) -> Outcome<Vec<Datum>> {
        let out = self.array(args[2]);
        for segment in self.segments(args[1], offsets)? {
            let sorted = self.sorted(args[0], &segment, order)?;
            for (rank, (place, _)) in sorted.into_iter().enumerate() {
                let at = (segment.start + place) as i64;
                self.memory.store(out, at, Literal::I64(rank as i64))?;
            }
        }
        Ok(Vec::new())
    }

    fn sort(
        &mut self,
        args: &[Value],
        order: Order,
        offsets: Option<Value>,
    ) -> Outcome<Vec<Datum>> {
        let out = self.array(args[2]);
        for segment in self.segments(args[1], offsets)? {
            let sorted = self.sorted(args[0], &segment, order)?;
            for (at, (_, key)) in segment.zip(sorted) {
                self.memory.store(out, at as i64, key)?;
            }
        }
        Ok(Vec::new())
    }

    fn rank_texts(&mut self, args: &[Value], offsets: Option<Value>) -> Outcome<Vec<Datum>> {
        let segments = self.segments(args[1], offsets)?;
        let texts = self.texts(args, end(&segments) as i64)?;
        for segment in segments {
            self.worked(segment.len() as i64);
            let chars = |index: &usize| texts[*index].iter().copied().map(byte).collect();
            let mut order: Vec<usize> = segment.collect();
            order.sort_by_key(|index| -> Vec<u8> { chars(index) });
            for (rank, index) in order.into_iter().enumerate() {
                let rank = Literal::I64(rank as i64);
                self.memory.store(self.array(args[4]), index as i64, rank)?;
            }
        }
        Ok(Vec::new())
    }

    fn write_text(&mut self, out: Value, text: &str) -> Outcome<Datum> {
        let out = self.array(out);
        self.worked(text.len() as i64);
        for (index, byte) in text.bytes().enumerate() {
            self.memory.store(out, index as i64, Literal::U8(byte))?;
        }
        Ok(Datum::Scalar(Literal::I64(text.len() as i64)))
    }

    /// The last of its segment that is equal to each, and how many are.
    /// Writes the last place of each different key, the number of those equal to it, and how many different
    /// ones there are.
    fn distinct<T: Hash + Eq>(&mut self, all: &[T], out: [Value; 3]) -> Outcome<Vec<Datum>> {
        self.worked(all.len() as i64);
        let mut known: HashMap<&T, (usize, usize)> = HashMap::new();
        for (place, one) in all.iter().enumerate() {
            let (last, count) = known.entry(one).or_default();
            (*last, *count) = (place, *count + 1);
        }
        let mut found: Vec<(usize, usize)> = known.into_values().collect();
        found.sort_unstable();
        let [last, count, number] = out.map(|out| self.array(out));
        for (at, (place, equal)) in (0..).zip(&found) {
            self.memory.store(last, at, Literal::I64(*place as i64))?;
            self.memory.store(count, at, Literal::I64(*equal as i64))?;
        }
        self.memory.store(number, 0, Literal::I64(found.len() as i64))?;
        Ok(Vec::new())
    }

    fn groups<T: Hash + Eq>(
        &mut self,
        all: &[T],
        out: [Value; 2],
        segments: &[Range<usize>],
    ) -> Outcome<Vec<Datum>> {
        for segment in segments {
            self.worked(segment.len() as i64);
            let mut places: HashMap<&T, Vec<usize>> = HashMap::new();
            for (place, one) in all[segment.clone()].iter().enumerate() {
                places.entry(one).or_default().push(place);
            }
            for same in places.values() {
                let found = [same[same.len() - 1], same.len()].map(|x| Literal::I64(x as i64));
                for (out, found) in out.into_iter().zip(found) {
                    for place in same {
                        let at = (segment.start + place) as i64;
                        self.memory.store(self.array(out), at, found)?;
                    }
                }
            }
        }
        Ok(Vec::new())
    }

    /// So many texts of which an intrinsic is given starts, number, lengths and chars.
    fn texts(&mut self, args: &[Value], count: i64) -> Outcome<Vec<Vec<Literal>>> {
        let mut texts = Vec::new();
        for at in 0..count {
            let start = self.memory.load(self.array(args[0]), at)?;
            let length = self.memory.load(self.array(args[2]), at)?;
            let [start, length] = [start, length].map(|x| i64_of(Datum::Scalar(x)));
            let chars = self.memory.slice(self.array(args[3]), start)?;
            texts.push(self.memory.read(chars, length)?);
        }
        Ok(texts)
    }

    /// The chars of an array, as a text.
    fn text(&mut self, array: Value, length: Value) -> Outcome<Vec<u8>> {
        self.worked(self.i64(length));
        let text = self.memory.read(self.array(array), self.i64(length))?;
        Ok(text.into_iter().map(byte).collect())
    }

    fn parse_float(&mut self, args: &[Value], precision: Precision) -> Outcome<Vec<Datum>> {
        let text = self.text(args[0], args[1])?;
        let (value, all) = text::parse_float(&text, precision);
        Ok(vec![Datum::Scalar(Literal::F64(value.to_bits())), bool(all)])
    }

    fn get(&self, value: Value) -> Datum {
        self.frames.last().or_bug("an instruction is executed in a call").env[value.0 as usize]
    }

    fn get_all(&self, values: &[Value]) -> Vec<Datum> {
        values.iter().map(|value| self.get(*value)).collect()
    }

    fn set(&mut self, value: Value, datum: Datum) {
        self.frame().env[value.0 as usize] = datum;
    }

    fn set_all(&mut self, values: &[Value], data: &[Datum]) {
        for (value, datum) in values.iter().zip(data) {
            self.set(*value, *datum);
        }
    }

    /// The type of a scalar.
    fn element(&mut self, value: Value) -> Ty {
        match self.frame().types[value.0 as usize] {
            ValueTy::Scalar(ty) | ValueTy::Array(ty) => ty,
            ValueTy::Mark => {
                bug!("the verifier sees that operands have the types of their operation")
            }
        }
    }

    fn scalar(&self, value: Value) -> Literal {
        scalar_of(self.get(value))
    }

    fn i64(&self, value: Value) -> i64 {
        i64_of(self.get(value))
    }

    fn bool(&self, value: Value) -> bool {
        bool_of(self.get(value))
    }

    fn f64(&self, value: Value) -> f64 {
        match self.scalar(value) {
            Literal::F64(x) => f64::from_bits(x),
            other => {
                bug!("{other:?}: the verifier sees that operands have the types of their operation")
            }
        }
    }

    fn array(&self, value: Value) -> Pointer {
        array_of(self.get(value))
    }
}

/// The order of two keys; NaNs are last, and equal.
fn compare(a: Literal, b: Literal, order: Order) -> Ordering {
    let is = |op, a, b| scalar::binary(op, a, b) == Literal::Bool(true);
    let nan = |x| is(Binary::Ne, x, x);
    let (first, second) = if order == Order::Up { (a, b) } else { (b, a) };
    if is(Binary::Lt, first, second) {
        Ordering::Less
    } else if is(Binary::Lt, second, first) {
        Ordering::Greater
    } else {
        nan(a).cmp(&nan(b))
    }
}

fn bool(x: bool) -> Datum {
    Datum::Scalar(Literal::Bool(x))
}

fn byte(literal: Literal) -> u8 {
    match literal {
        Literal::U8(x) => x,
        other => {
            bug!("{other:?}: the verifier sees that operands have the types of their operation")
        }
    }
}

/// A scalar; the verifier has seen to it that it is one, here and below.
pub(super) fn scalar_of(datum: Datum) -> Literal {
    match datum {
        Datum::Scalar(literal) => literal,
        other => {
            bug!("{other:?}: the verifier sees that operands have the types of their operation")
        }
    }
}

/// The number of elements of segments.
fn end(segments: &[Range<usize>]) -> usize {
    segments.last().map_or(0, |last| last.end)
}

/// A length, position or index.
pub(super) fn i64_of(datum: Datum) -> i64 {
    match datum {
        Datum::Scalar(Literal::I64(x)) => x,
        other => {
            bug!("{other:?}: the verifier sees that operands have the types of their operation")
        }
    }
}

/// The bool of a value.
pub(super) fn bool_of(datum: Datum) -> bool {
    match datum {
        Datum::Scalar(Literal::Bool(x)) => x,
        other => {
            bug!("{other:?}: the verifier sees that operands have the types of their operation")
        }
    }
}

/// The array of a value.
pub(super) fn array_of(datum: Datum) -> Pointer {
    match datum {
        Datum::Array(pointer) => pointer,
        other => {
            bug!("{other:?}: the verifier sees that operands have the types of their operation")
        }
    }
}
