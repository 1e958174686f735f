//! Small kernels that the evaluation itself needs, and the memory of the runtime.

use super::{Evaluator, Run, RunError, Segments, Trace};
use nesl_core::interp::Failure as ProgramFailure;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::kir::{
    self, Binary, Combine, Extern, Kernel, KernelBuilder, Literal, Module, Scope, Sink, Space, Ty,
    ValueTy,
};
use nesl_runtime::runtime::{Arg, Buffer, Failure, Launch};

/// Fewer elements than this are sooner moved by the host than by a launch.
const LITTLE: usize = 256;

/// A column that is moved.
pub(super) struct Moved {
    pub(super) from: Arg,
    pub(super) to: Arg,
    /// What is added to each element, which is an int then.
    pub(super) add: usize,
}

/// Segments that are copied: how long each is, by offsets, and where it is from and goes to.
pub(super) struct Placed {
    pub(super) segments: usize,
    pub(super) offsets: Buffer,
    pub(super) from: Arg,
    pub(super) to: Arg,
}

const INT: ValueTy = ValueTy::Scalar(Ty::I64);
const INTS: ValueTy = ValueTy::Array(Ty::I64);

impl Evaluator<'_> {
    /// There cannot be so many sequences of such a length.
    pub(super) fn out_of_memory(&self, count: usize, length: usize) -> RunError {
        let detail = format!("{count} sequences of {length} elements");
        let fault = Fault::with(FaultCode::OutOfMemory, detail);
        RunError::Failed(ProgramFailure { fault, trace: Vec::new() })
    }

    fn trouble(&self, failure: Failure) -> RunError {
        self.launcher.locate_failure(failure, &Trace::default())
    }

    /// An array that is not written yet.
    pub(super) fn alloc(&self, ty: Ty, length: usize) -> Run<Buffer> {
        self.runtime.alloc(ty, length).map_err(|failure| self.trouble(failure))
    }

    /// An argument with nothing in it.
    pub(super) fn empty(&self, part: &ValueTy) -> Run<Arg> {
        Ok(match part {
            ValueTy::Scalar(ty) => Arg::Scalar(Literal::zero(*ty)),
            ValueTy::Array(ty) => Arg::Array(self.alloc(*ty, 0)?, 0),
            ValueTy::Mark => unreachable!("no part is a mark"),
        })
    }

    /// An element of an array.
    pub(super) fn read_one(&self, buffer: &Buffer, at: usize) -> Run<Literal> {
        let mut bytes = [0; 8];
        let bytes = &mut bytes[..buffer.ty().size()];
        self.runtime.read(buffer, at, bytes).map_err(|failure| self.trouble(failure))?;
        Ok(Literal::from_bytes(buffer.ty(), bytes))
    }

    /// Where a few segments begin, and the end, which the host adds up: it asks for the end anyway.
    pub(super) fn offsets_of_few(&self, lengths: &Arg, count: usize) -> Run<(Buffer, usize)> {
        let Arg::Array(from, at) = lengths else { unreachable!("they are an array") };
        let size = Ty::I64.size();
        let mut bytes = vec![0; count * size];
        self.runtime.read(from, *at, &mut bytes).map_err(|failure| self.trouble(failure))?;
        let mut offsets = vec![0u64];
        for length in bytes.chunks_exact(size) {
            let length = u64::from_ne_bytes(length.try_into().expect("an int is as long"));
            offsets.push(offsets[offsets.len() - 1].wrapping_add(length));
        }
        let out = self.alloc(Ty::I64, count + 1)?;
        let bytes: Vec<u8> = offsets.iter().flat_map(|offset| offset.to_ne_bytes()).collect();
        self.runtime.write(&out, 0, &bytes).map_err(|failure| self.trouble(failure))?;
        Ok((out, offsets[count] as usize))
    }

    fn serve(&self, kernel: Kernel, args: &[Arg]) -> Run<()> {
        let module = Module { functions: Vec::new(), kernels: vec![kernel] };
        debug_assert!(kir::verify(&module).is_ok(), "{}", kir::print(&module));
        let module = self.runtime.load(&module).map_err(|failure| self.trouble(failure))?;
        let launch = Launch { module: &module, kernel: 0, args, tag: 0 };
        self.runtime.launch(&launch).map_err(|failure| self.trouble(failure))?;
        Ok(())
    }

    /// The sums of what is before each element, and of all at the end.
    pub(super) fn scan(&self, lengths: Arg, count: usize) -> Run<Buffer> {
        let mut kernel = KernelBuilder::new("offsets");
        let [points, limit] = [kernel.param(INT), kernel.param(INT)];
        let [from, to] = [kernel.param(INTS), kernel.param(INTS)];
        let index = kernel.over(Space::Flat { count: points })[0];
        let zero = kernel.body.i64(0);
        let inside = kernel.body.binary(Binary::Lt, index, limit);
        let value =
            kernel.body.branch(inside, |body| vec![body.load(from, index)], |_| vec![zero])[0];
        let result = kernel.body.value(INT);
        let (scope, combine) = (Scope::All, Combine::Add);
        kernel.sink(Sink::Scan { scope, combine, value, result, total: None });
        kernel.next_stage();
        kernel.body.store(to, index, result);
        let out = self.alloc(Ty::I64, count + 1)?;
        let args = [number(count + 1), number(count), lengths, Arg::Array(out.clone(), 0)];
        self.serve(kernel.finish(), &args)?;
        Ok(out)
    }

    /// The multiples of a number from 0 on, so many of them, or the number itself so often.
    pub(super) fn multiples(&self, count: usize, of: usize, ascending: bool) -> Run<Buffer> {
        let mut kernel = KernelBuilder::new(if ascending { "multiples" } else { "repeat" });
        let [points, factor, to] = [kernel.param(INT), kernel.param(INT), kernel.param(INTS)];
        let index = kernel.over(Space::Flat { count: points })[0];
        let value = match ascending {
            true => kernel.body.binary(Binary::Mul, index, factor),
            false => factor,
        };
        kernel.body.store(to, index, value);
        let out = self.alloc(Ty::I64, count)?;
        let args = [number(count), number(of), Arg::Array(out.clone(), 0)];
        self.serve(kernel.finish(), &args)?;
        Ok(out)
    }

    /// An array that holds so often the same.
    pub(super) fn filled(&self, with: Literal, count: usize) -> Run<Arg> {
        let ty = with.ty();
        let mut kernel = KernelBuilder::new("fill");
        let (points, to) = (kernel.param(INT), kernel.param(ValueTy::Array(ty)));
        let index = kernel.over(Space::Flat { count: points })[0];
        let value = kernel.body.literal(with);
        kernel.body.store(to, index, value);
        let out = Arg::Array(self.alloc(ty, count)?, 0);
        self.serve(kernel.finish(), &[number(count), out.clone()])?;
        Ok(out)
    }

    /// For each point, the number of its segment.
    pub(super) fn segment_numbers(&self, segments: &Segments) -> Run<Buffer> {
        let mut kernel = KernelBuilder::new("segments");
        let (number_of, offsets, to) = (kernel.param(INT), kernel.param(INTS), kernel.param(INTS));
        let point = kernel.over(Space::Segmented { segments: number_of, offsets });
        kernel.body.store(to, point[2], point[0]);
        let out = self.alloc(Ty::I64, segments.total)?;
        let offsets = Arg::Array(self.offsets(segments)?, 0);
        let args = [number(segments.count), offsets, Arg::Array(out.clone(), 0)];
        self.serve(kernel.finish(), &args)?;
        Ok(out)
    }

    /// Ints of the program as lengths.
    pub(super) fn as_lengths(&self, ints: Arg, count: usize) -> Run<Arg> {
        match &ints {
            Arg::Array(buffer, _) if buffer.ty() == Ty::I32 => {
                let out = self.alloc(Ty::I64, count)?;
                self.scatter(None, ints, &Arg::Array(out.clone(), 0), 0, count)?;
                Ok(Arg::Array(out, 0))
            }
            _ => Ok(ints),
        }
    }

    /// Writes the first `count` elements of an array, ints plus `add`, to the places that another
    /// one says, or behind each other.
    pub(super) fn scatter(
        &self,
        places: Option<Arg>,
        from: Arg,
        to: &Arg,
        add: usize,
        count: usize,
    ) -> Run<()> {
        let [source, target] = [&from, to].map(|arg| match arg {
            Arg::Array(buffer, _) => buffer.ty(),
            Arg::Scalar(_) => unreachable!("it is an array"),
        });
        let mut kernel = KernelBuilder::new("scatter");
        let points = kernel.param(INT);
        let [read, write] = [source, target].map(|ty| kernel.param(ValueTy::Array(ty)));
        let more = kernel.param(INT);
        let place = places.as_ref().map(|_| kernel.param(INTS));
        let index = kernel.over(Space::Flat { count: points })[0];
        let mut value = kernel.body.load(read, index);
        value = kernel.body.convert(target, value);
        if target == Ty::I64 {
            value = kernel.body.binary(Binary::Add, value, more);
        }
        let at = place.map_or(index, |place| kernel.body.load(place, index));
        kernel.body.store(write, at, value);
        let mut args = vec![number(count), from, to.clone(), number(add)];
        args.extend(places);
        self.serve(kernel.finish(), &args)
    }
}

/// Elements of an array, by the host.
impl Evaluator<'_> {
    /// An element of a column.
    pub(super) fn read_at(&self, column: &Arg, at: usize) -> Run<Literal> {
        match column {
            Arg::Array(buffer, from) => self.read_one(buffer, from + at),
            Arg::Scalar(_) => unreachable!("it is an array"),
        }
    }

    /// Ints of the program.
    pub(super) fn read_ints(&self, column: &Arg, count: usize) -> Run<Vec<i64>> {
        let Arg::Array(buffer, at) = column else { unreachable!("they are an array") };
        let size = buffer.ty().size();
        let mut bytes = vec![0; count * size];
        self.runtime.read(buffer, *at, &mut bytes).map_err(|failure| self.trouble(failure))?;
        let int = |bytes: &[u8]| match Literal::from_bytes(buffer.ty(), bytes) {
            Literal::I64(x) => x,
            Literal::I32(x) => i64::from(x),
            other => unreachable!("{other:?} is no int"),
        };
        Ok(bytes.chunks_exact(size).map(int).collect())
    }

    /// A new array of some values.
    pub(super) fn written(&self, ty: Ty, values: &[Literal]) -> Run<Arg> {
        let out = self.alloc(ty, values.len())?;
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_bytes()).collect();
        self.runtime.write(&out, 0, &bytes).map_err(|failure| self.trouble(failure))?;
        Ok(Arg::Array(out, 0))
    }

    /// A new array of places or lengths.
    pub(super) fn ints(&self, values: &[i64]) -> Run<Arg> {
        let values: Vec<Literal> = values.iter().map(|x| Literal::I64(*x)).collect();
        self.written(Ty::I64, &values)
    }

    /// Copies elements, ints plus `add`.
    pub(super) fn copied(&self, from: &Arg, to: &Arg, add: usize, count: usize) -> Run<()> {
        let (Arg::Array(source, at), Arg::Array(target, begin)) = (from, to) else {
            unreachable!("they are arrays")
        };
        if count > LITTLE || add != 0 {
            return self.scatter(None, from.clone(), to, add, count);
        }
        let mut bytes = vec![0; count * source.ty().size()];
        self.runtime.read(source, *at, &mut bytes).map_err(|failure| self.trouble(failure))?;
        self.runtime.write(target, *begin, &bytes).map_err(|failure| self.trouble(failure))
    }

    /// The least and the greatest of some ints, if there are any.
    pub(super) fn extremes(&self, ints: &Arg, count: usize) -> Run<Option<(i64, i64)>> {
        if count <= LITTLE {
            let ints = self.read_ints(ints, count)?;
            return Ok(ints.iter().min().copied().zip(ints.iter().max().copied()));
        }
        let mut kernel = KernelBuilder::new("extremes");
        let points = kernel.param(INT);
        let from = kernel.param(ValueTy::Array(element(ints)));
        let outs = [kernel.param(INTS), kernel.param(INTS)];
        let index = kernel.over(Space::Flat { count: points })[0];
        let value = kernel.body.load(from, index);
        let value = kernel.body.convert(Ty::I64, value);
        for (combine, out) in [Combine::Min, Combine::Max].into_iter().zip(outs) {
            let (scope, out) = (Scope::All, Some(out));
            kernel.sink(Sink::Reduce { scope, combine, value, out, result: None });
        }
        self.two(kernel, vec![number(count), ints.clone()]).map(Some)
    }

    /// Where segments begin that lie one behind the other without gaps, if they do.
    pub(super) fn contiguous(
        &self,
        starts: &Arg,
        lengths: &Arg,
        offsets: &Buffer,
        count: usize,
    ) -> Run<Option<usize>> {
        let offsets = Arg::Array(offsets.clone(), 0);
        let (least, most) = if count <= LITTLE {
            let all = [starts, lengths, &offsets].map(|column| self.read_ints(column, count));
            let [starts, lengths, offsets] = all;
            let (starts, lengths, offsets) = (starts?, lengths?, offsets?);
            let filled = (0..count).filter(|i| lengths[*i] > 0);
            let shifts: Vec<i64> = filled.map(|i| starts[i] - offsets[i]).collect();
            let least = shifts.iter().min().copied().unwrap_or(0);
            (least, shifts.iter().max().copied().unwrap_or(0))
        } else {
            let mut kernel = KernelBuilder::new("contiguous");
            let points = kernel.param(INT);
            let [begin, length, offset] = [INTS; 3].map(|ty| kernel.param(ty));
            let outs = [kernel.param(INTS), kernel.param(INTS)];
            let index = kernel.over(Space::Flat { count: points })[0];
            let body = &mut kernel.body;
            let [begin, length, offset] = [begin, length, offset].map(|a| body.load(a, index));
            let shift = body.binary(Binary::Sub, begin, offset);
            let zero = body.i64(0);
            let filled = body.binary(Binary::Lt, zero, length);
            let kinds = [(Combine::Min, i64::MAX), (Combine::Max, i64::MIN)];
            for ((combine, neutral), out) in kinds.into_iter().zip(outs) {
                let neutral = kernel.body.i64(neutral);
                let value = kernel.body.select(filled, shift, neutral);
                let (scope, out) = (Scope::All, Some(out));
                kernel.sink(Sink::Reduce { scope, combine, value, out, result: None });
            }
            self.two(kernel, vec![number(count), starts.clone(), lengths.clone(), offsets])?
        };
        Ok(usize::try_from(least).ok().filter(|_| least == most))
    }

    /// Launches a kernel whose last two parameters are arrays for one number each.
    fn two(&self, kernel: KernelBuilder, mut args: Vec<Arg>) -> Run<(i64, i64)> {
        let outs = [self.alloc(Ty::I64, 1)?, self.alloc(Ty::I64, 1)?];
        args.extend(outs.iter().map(|out| Arg::Array(out.clone(), 0)));
        self.serve(kernel.finish(), &args)?;
        let [a, b] = outs.map(|out| self.read_ints(&Arg::Array(out, 0), 1));
        Ok((a?[0], b?[0]))
    }

    /// How many different ones there are among some places, all less than how many there are.
    pub(super) fn distinct(&self, places: &Arg, count: usize) -> Run<usize> {
        let marks = Arg::Array(self.alloc(Ty::Bool, count)?, 0);
        let mut clear = KernelBuilder::new("clear");
        let (points, to) = (clear.param(INT), clear.param(ValueTy::Array(Ty::Bool)));
        let index = clear.over(Space::Flat { count: points })[0];
        let no = clear.body.bool(false);
        clear.body.store(to, index, no);
        self.serve(clear.finish(), &[number(count), marks.clone()])?;

        let mut mark = KernelBuilder::new("mark");
        let (points, to) = (mark.param(INT), mark.param(ValueTy::Array(Ty::Bool)));
        let from = mark.param(ValueTy::Array(element(places)));
        let index = mark.over(Space::Flat { count: points })[0];
        let place = mark.body.load(from, index);
        let place = mark.body.convert(Ty::I64, place);
        let yes = mark.body.bool(true);
        mark.body.store(to, place, yes);
        self.serve(mark.finish(), &[number(count), marks.clone(), places.clone()])?;

        let mut sum = KernelBuilder::new("marked");
        let (points, from) = (sum.param(INT), sum.param(ValueTy::Array(Ty::Bool)));
        let out = sum.param(INTS);
        let index = sum.over(Space::Flat { count: points })[0];
        let marked = sum.body.load(from, index);
        let [one, zero] = [1, 0].map(|x| sum.body.i64(x));
        let value = sum.body.select(marked, one, zero);
        let (scope, combine, out) = (Scope::All, Combine::Add, Some(out));
        sum.sink(Sink::Reduce { scope, combine, value, out, result: None });
        let all = self.alloc(Ty::I64, 1)?;
        self.serve(sum.finish(), &[number(count), marks, Arg::Array(all.clone(), 0)])?;
        Ok(self.read_ints(&Arg::Array(all, 0), 1)?[0] as usize)
    }

    /// Writes elements of columns to places; where a place may occur more than once, the last one
    /// wins.
    pub(super) fn put(
        &self,
        places: &Arg,
        moves: &[Moved],
        count: usize,
        ordered: bool,
    ) -> Run<()> {
        let mut kernel = KernelBuilder::new("put");
        let points = kernel.param(INT);
        let to = kernel.param(ValueTy::Array(element(places)));
        let (params, mut args) = columns(&mut kernel, moves);
        let index = kernel.over(Space::Flat { count: points })[0];
        let to = kernel.body.load(to, index);
        let to = kernel.body.convert(Ty::I64, to);
        for (moved, [from, array, add]) in moves.iter().zip(params) {
            let mut value = kernel.body.load(from, index);
            if moved.add != 0 {
                value = kernel.body.binary(Binary::Add, value, add);
            }
            if ordered {
                kernel.sink(Sink::Scatter { array, index: to, value, when: None });
            } else {
                kernel.body.store(array, to, value);
            }
        }
        args.splice(0..0, [number(count), places.clone()]);
        self.serve(kernel.finish(), &args)
    }

    /// Has the runtime put keys, or their ranks, in order.
    pub(super) fn ordered(&self, service: Extern, keys: &Arg, count: usize, out: &Arg) -> Run<()> {
        let mut kernel = KernelBuilder::new("order");
        let [points, length] = [kernel.param(INT), kernel.param(INT)];
        let [from, to] = [keys, out].map(|arg| kernel.param(ValueTy::Array(element(arg))));
        kernel.over(Space::Flat { count: points });
        kernel.body.service(service, vec![from, length, to]);
        self.serve(kernel.finish(), &[number(1), number(count), keys.clone(), out.clone()])
    }

    /// For each of some ints or texts, the place of the last one equal to it, and how many these
    /// are.
    pub(super) fn groups(&self, of: &[Arg], count: usize) -> Run<[Arg; 2]> {
        let last = Arg::Array(self.alloc(Ty::I64, count)?, 0);
        let equal = Arg::Array(self.alloc(Ty::I64, count)?, 0);
        let mut kernel = KernelBuilder::new("groups");
        let [points, length] = [kernel.param(INT), kernel.param(INT)];
        // Of texts, their starts, lengths, and the chars.
        let (service, more) = match of {
            [_, lengths, _, chars] => (Extern::TextGroups, vec![lengths, chars]),
            _ => (Extern::Groups, Vec::new()),
        };
        let keys: Vec<&Arg> = std::iter::once(&of[0]).chain(more).chain([&last, &equal]).collect();
        let array = |arg: &&Arg| kernel.param(ValueTy::Array(element(arg)));
        let mut args: Vec<kir::Value> = keys.iter().map(array).collect();
        args.insert(1, length);
        kernel.over(Space::Flat { count: points });
        kernel.body.service(service, args);
        let mut args = vec![number(1), number(count)];
        args.extend(keys.into_iter().cloned());
        self.serve(kernel.finish(), &args)?;
        Ok([last, equal])
    }

    /// Copies the elements of segments that begin somewhere in columns, one behind the other.
    pub(super) fn pick_segments(
        &self,
        segments: usize,
        offsets: Buffer,
        starts: Arg,
        moves: &[Moved],
    ) -> Run<()> {
        let mut kernel = KernelBuilder::new("pick");
        let [number_of, ends, begin] = [INT, INTS, INTS].map(|ty| kernel.param(ty));
        let (params, mut args) = columns(&mut kernel, moves);
        let point = kernel.over(Space::Segmented { segments: number_of, offsets: ends });
        let begin = kernel.body.load(begin, point[0]);
        let at = kernel.body.binary(Binary::Add, begin, point[1]);
        for [from, to, _] in params {
            let value = kernel.body.load(from, at);
            kernel.body.store(to, point[2], value);
        }
        args.splice(0..0, [number(segments), Arg::Array(offsets, 0), starts]);
        self.serve(kernel.finish(), &args)
    }
}

impl Evaluator<'_> {
    /// Copies the elements of segments to where these go.
    pub(super) fn place_segments(&self, placed: &Placed, moves: &[Moved]) -> Run<()> {
        let mut kernel = KernelBuilder::new("place");
        let [number_of, ends] = [INT, INTS].map(|ty| kernel.param(ty));
        let starts = [kernel.param(INTS), kernel.param(INTS)];
        let (params, mut args) = columns(&mut kernel, moves);
        let point = kernel.over(Space::Segmented { segments: number_of, offsets: ends });
        let [from, to] = starts.map(|starts| {
            let start = kernel.body.load(starts, point[0]);
            kernel.body.binary(Binary::Add, start, point[1])
        });
        for (moved, [source, target, add]) in moves.iter().zip(params) {
            let mut value = kernel.body.load(source, from);
            if moved.add != 0 {
                value = kernel.body.binary(Binary::Add, value, add);
            }
            kernel.body.store(target, to, value);
        }
        let offsets = Arg::Array(placed.offsets.clone(), 0);
        let placed = [number(placed.segments), offsets, placed.from.clone(), placed.to.clone()];
        args.splice(0..0, placed);
        self.serve(kernel.finish(), &args)
    }

    /// Where rows of segments begin and how long they are, in elements: of rows that begin with
    /// some segment and have so many, where the segments begin being known.
    pub(super) fn spans(
        &self,
        starts: &Arg,
        lengths: &Arg,
        offsets: &Buffer,
        rows: usize,
    ) -> Run<(Arg, Arg)> {
        let mut kernel = KernelBuilder::new("spans");
        let points = kernel.param(INT);
        let [starts_of, lengths_of, offsets_of] = [INTS; 3].map(|ty| kernel.param(ty));
        let outs = [kernel.param(INTS), kernel.param(INTS)];
        let index = kernel.over(Space::Flat { count: points })[0];
        let body = &mut kernel.body;
        let [start, length] = [starts_of, lengths_of].map(|array| body.load(array, index));
        // A row of nothing may begin anywhere.
        let zero = body.i64(0);
        let filled = body.binary(Binary::Lt, zero, length);
        let first = body.select(filled, start, zero);
        let last = body.binary(Binary::Add, first, length);
        let [begin, end] = [first, last].map(|place| body.load(offsets_of, place));
        let span = body.binary(Binary::Sub, end, begin);
        for (out, value) in outs.into_iter().zip([begin, span]) {
            kernel.body.store(out, index, value);
        }
        let results = [self.alloc(Ty::I64, rows)?, self.alloc(Ty::I64, rows)?];
        let [begin, spans] = results.map(|buffer| Arg::Array(buffer, 0));
        let offsets = Arg::Array(offsets.clone(), 0);
        let (starts, lengths) = (starts.clone(), lengths.clone());
        let args = [number(rows), starts, lengths, offsets, begin.clone(), spans.clone()];
        self.serve(kernel.finish(), &args)?;
        Ok((begin, spans))
    }
}

/// For each column that is moved, the parameters for where from, where to, and what is added; and
/// the arguments for them.
fn columns(kernel: &mut KernelBuilder, moves: &[Moved]) -> (Vec<[kir::Value; 3]>, Vec<Arg>) {
    let mut args = Vec::new();
    let params = moves.iter().map(|moved| {
        args.extend([moved.from.clone(), moved.to.clone(), number(moved.add)]);
        let [from, to] = [&moved.from, &moved.to].map(|arg| ValueTy::Array(element(arg)));
        [kernel.param(from), kernel.param(to), kernel.param(INT)]
    });
    (params.collect(), args)
}

fn element(column: &Arg) -> Ty {
    match column {
        Arg::Array(buffer, _) => buffer.ty(),
        Arg::Scalar(_) => unreachable!("it is an array"),
    }
}

pub(super) fn number(x: usize) -> Arg {
    Arg::Scalar(Literal::I64(x as i64))
}
