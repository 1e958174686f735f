//! Small kernels that the evaluation itself needs, and the memory of the runtime.

use super::{Evaluator, Run, Segments, Stop, Trace};
use nesl_core::interp::Failure as ProgramFailure;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::kir::{
    self, Binary, Combine, Kernel, KernelBuilder, Literal, Module, Scope, Sink, Space, Ty, ValueTy,
};
use nesl_runtime::runtime::{Arg, Buffer, Failure, Launch};

const INT: ValueTy = ValueTy::Scalar(Ty::I64);
const INTS: ValueTy = ValueTy::Array(Ty::I64);

impl Evaluator<'_> {
    pub(super) fn out_of_memory(&self) -> Stop {
        let fault = Fault::new(FaultCode::OutOfMemory);
        Stop::Failed(ProgramFailure { fault, trace: Vec::new() })
    }

    fn trouble(&self, failure: Failure) -> Stop {
        self.launcher.blame(failure, &Trace::default())
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

fn number(x: usize) -> Arg {
    Arg::Scalar(Literal::I64(x as i64))
}
