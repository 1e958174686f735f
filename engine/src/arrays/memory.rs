//! Allocation on a runtime, transfers of a few elements, and the arguments of launches.

use super::Stepped;
use nesl_core::ir;
use nesl_core::lower;
use nesl_core::strategy::Thresholds;
use nesl_runtime::bug;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::kir::{self, Kernel, Literal, Module, Ty, ValueTy};
use nesl_runtime::runtime::{Arg, Buffer, Failure, Launch, Runtime};
use nesl_runtime::scalar::{Precision, Scalar};

/// The launch tag of kernels that have no checks, so that no failure names it.
const NO_CHECKS_TAG: u64 = 0;

/// The memory of a runtime, for values of one precision.
#[derive(Clone, Copy)]
pub(crate) struct Memory<'r> {
    pub(crate) runtime: &'r dyn Runtime,
    /// The width of the ints and floats of the program.
    pub(crate) precision: Precision,
    pub(crate) limits: &'r Thresholds,
}

impl Memory<'_> {
    /// Allocates an array, not yet written.
    pub(crate) fn alloc(&self, ty: Ty, length: usize) -> Stepped<Buffer> {
        self.runtime.alloc(ty, length)
    }

    /// Allocates an array as an argument, not yet written.
    pub(super) fn alloc_column(&self, ty: Ty, length: usize) -> Stepped<Arg> {
        Ok(Arg::Array(self.alloc(ty, length)?, 0))
    }

    /// Returns columns for elements of a type that nobody will read.
    pub(crate) fn no_elements(&self, element: &ir::Ty) -> Stepped<Vec<Arg>> {
        let column = |part: &ValueTy| match part {
            ValueTy::Scalar(ty) => Ok(Arg::Scalar(Literal::zero(*ty))),
            ValueTy::Array(ty) => self.alloc_column(*ty, 0),
            ValueTy::Mark => bug!("a part of a value has the type of a mark"),
        };
        lower::columns(element, self.precision).iter().map(column).collect()
    }

    /// Reads an element of a buffer.
    pub(crate) fn read_element(&self, buffer: &Buffer, at: usize) -> Stepped<Literal> {
        let mut bytes = [0; size_of::<u64>()];
        let bytes = &mut bytes[..buffer.ty().size()];
        self.runtime.read(buffer, at, bytes)?;
        Ok(Literal::from_bytes(buffer.ty(), bytes))
    }

    /// Reads an element of a column.
    pub(crate) fn read_at(&self, column: &Arg, at: usize) -> Stepped<Literal> {
        let (buffer, first) = slice(column);
        self.read_element(buffer, first + at)
    }

    /// Reads the first `count` elements of a column of ints.
    pub(super) fn read_ints(&self, column: &Arg, count: usize) -> Stepped<Vec<i64>> {
        let (buffer, first) = slice(column);
        let size = buffer.ty().size();
        let mut bytes = vec![0; count * size];
        self.runtime.read(buffer, first, &mut bytes)?;
        let element = |bytes| int(&Arg::Scalar(Literal::from_bytes(buffer.ty(), bytes)));
        Ok(bytes.chunks_exact(size).map(element).collect())
    }

    /// Writes a new array of literals of type `ty`.
    pub(super) fn write_literals(&self, ty: Ty, values: &[Literal]) -> Stepped<Arg> {
        let out = self.alloc(ty, values.len())?;
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_bytes()).collect();
        self.runtime.write(&out, 0, &bytes)?;
        Ok(Arg::Array(out, 0))
    }

    /// Writes a new array of indices or lengths.
    pub(super) fn write_indices(&self, values: &[i64]) -> Stepped<Arg> {
        let values: Vec<Literal> = values.iter().map(|x| Literal::I64(*x)).collect();
        self.write_literals(Ty::I64, &values)
    }

    /// Launches a kernel that has no checks.
    pub(super) fn execute(&self, kernel: Kernel, args: &[Arg]) -> Stepped<()> {
        let module = Module { functions: Vec::new(), kernels: vec![kernel] };
        debug_assert!(kir::verify(&module).is_ok(), "{}", kir::print(&module));
        let module = self.runtime.load(&module)?;
        let launch = Launch { module: &module, kernel: 0, args, tag: NO_CHECKS_TAG };
        self.runtime.launch(&launch).map(|_| ())
    }

    /// Returns the literal of a scalar in the precision of the program.
    pub(crate) fn literal(&self, scalar: Scalar) -> Literal {
        match (scalar, self.precision) {
            (Scalar::Int(x), Precision::Bits64) => Literal::I64(x),
            (Scalar::Int(x), Precision::Bits32) => Literal::I32(x as i32),
            (Scalar::Float(x), Precision::Bits64) => Literal::F64(x.to_bits()),
            (Scalar::Float(x), Precision::Bits32) => Literal::F32((x as f32).to_bits()),
            (Scalar::Bool(x), _) => Literal::Bool(x),
            (Scalar::Char(x), _) => Literal::U8(x),
        }
    }
}

/// The fault for `count` sequences of `length` elements, more than can be counted.
pub(super) fn out_of_memory(count: usize, length: usize) -> Failure {
    let detail = format!("{count} sequences of {length} elements");
    Failure::Machine(Fault::with(FaultCode::OutOfMemory, detail))
}

/// Returns the buffer of a column.
pub(crate) fn array(column: &Arg) -> &Buffer {
    slice(column).0
}

/// Returns the buffer of a column and the index of its first element there.
pub(super) fn slice(column: &Arg) -> (&Buffer, usize) {
    match column {
        Arg::Array(buffer, at) => (buffer, *at),
        Arg::Scalar(_) => bug!("a column of a sequence is a scalar"),
    }
}

/// Returns an argument for a count, a length or an index.
pub(crate) fn number(x: usize) -> Arg {
    Arg::Scalar(Literal::I64(x as i64))
}

/// Returns the scalar that an argument is.
pub(crate) fn scalar(arg: &Arg) -> Scalar {
    match arg {
        Arg::Scalar(Literal::I32(x)) => Scalar::Int(i64::from(*x)),
        Arg::Scalar(Literal::I64(x)) => Scalar::Int(*x),
        Arg::Scalar(Literal::F32(x)) => Scalar::Float(f64::from(f32::from_bits(*x))),
        Arg::Scalar(Literal::F64(x)) => Scalar::Float(f64::from_bits(*x)),
        Arg::Scalar(Literal::Bool(x)) => Scalar::Bool(*x),
        Arg::Scalar(Literal::U8(x)) => Scalar::Char(*x),
        Arg::Array(..) => bug!("a scalar of the program is an array"),
    }
}

/// Returns the int that an argument is.
pub(crate) fn int(arg: &Arg) -> i64 {
    match scalar(arg) {
        Scalar::Int(x) => x,
        other => bug!("{other:?} stands for an int"),
    }
}

/// Returns the count or length that an argument is.
pub(crate) fn length(arg: &Arg) -> usize {
    int(arg) as usize
}
