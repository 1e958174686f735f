//! Allocation on a runtime, transfers of a few elements, and launches of built-in kernels.

use super::arguments::{array, slice};
use super::builtin::Builtin;
use super::facts::Contents;
use super::{ArrayState, Stepped};
use crate::progress::Progress;
use nesl_core::ir;
use nesl_core::lower;
use nesl_core::strategy::Thresholds;
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::kir::{Literal, Ty, ValueTy};
use nesl_runtime::runtime::{Arg, Buffer, Failure, Launch, Read, Runtime};
use nesl_runtime::scalar::{Precision, Scalar};
use smallvec::{SmallVec, smallvec};

/// The size of the largest scalar, in bytes.
const MAX_SCALAR_BYTES: usize = size_of::<u64>();

/// The launch tag of kernels that have no checks, so that no failure names it.
const NO_CHECKS_TAG: u64 = 0;

/// The memory of a runtime, for values of one precision.
#[derive(Clone, Copy)]
pub(crate) struct Memory<'r> {
    pub(crate) runtime: &'r dyn Runtime,
    /// The width of the ints and floats of the program.
    pub(crate) precision: Precision,
    pub(crate) limits: &'r Thresholds,
    /// The compiled built-in kernels, and the facts about descriptors.
    pub(crate) state: &'r ArrayState,
    /// Counts the launches.
    pub(crate) progress: &'r Progress,
}

impl Memory<'_> {
    /// Allocates an array, not yet written.
    pub(crate) fn alloc(&self, ty: Ty, length: usize) -> Stepped<Buffer> {
        self.runtime.alloc(ty, length)
    }

    /// Allocates an array that a launch fills from its beginning, with at most so many elements.
    pub(crate) fn alloc_at_most(&self, ty: Ty, length: usize) -> Stepped<Buffer> {
        self.runtime.alloc_at_most(ty, length)
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

    /// Reads the first elements of columns, so many of each, with one wait for all of them. Returns the bytes
    /// of each column.
    pub(super) fn read_all(&self, wanted: &[(Arg, usize)]) -> Stepped<Vec<Vec<u8>>> {
        let bytes_of = |(column, count): &(Arg, usize)| vec![0; count * array(column).ty().size()];
        let mut bytes: Vec<Vec<u8>> = wanted.iter().map(bytes_of).collect();
        let mut reads: Vec<Read<'_>> = Vec::with_capacity(wanted.len());
        for ((column, _), out) in wanted.iter().zip(&mut bytes) {
            let (buffer, at) = slice(column);
            reads.push(Read { buffer, at, out });
        }
        self.read_together(&mut reads)?;
        Ok(bytes)
    }

    /// Reads with one wait for all of them.
    fn read_together(&self, reads: &mut [Read<'_>]) -> Stepped<()> {
        match reads {
            [] => {}
            [read] => self.runtime.read(read.buffer, read.at, read.out)?,
            reads => self.runtime.read_many(reads)?,
        }
        Ok(())
    }

    /// Reads the first element of each of some columns, with one wait for all of them.
    pub(super) fn read_firsts(&self, columns: &[Arg]) -> Stepped<Vec<Literal>> {
        let mut bytes: SmallVec<[[u8; MAX_SCALAR_BYTES]; 4]> =
            smallvec![[0; MAX_SCALAR_BYTES]; columns.len()];
        let mut reads: SmallVec<[Read<'_>; 4]> = SmallVec::new();
        for (column, out) in columns.iter().zip(&mut bytes) {
            let (buffer, at) = slice(column);
            reads.push(Read { buffer, at, out: &mut out[..buffer.ty().size()] });
        }
        self.read_together(&mut reads)?;
        drop(reads);
        Ok(columns.iter().zip(&bytes).map(|(column, bytes)| first_of(column, bytes)).collect())
    }

    /// Returns the first `count` elements of columns of ints, read with one wait unless they are
    /// known.
    pub(super) fn read_ints<const N: usize>(
        &self,
        columns: [&Arg; N],
        count: usize,
    ) -> Stepped<[Vec<i64>; N]> {
        let known = columns.map(|column| self.state.facts.ints(column, count));
        let unknown = columns.iter().zip(&known).filter(|(_, known)| known.is_none());
        let wanted: Vec<(Arg, usize)> =
            unknown.map(|(column, _)| ((*column).clone(), count)).collect();
        let mut read = self.read_all(&wanted)?.into_iter();
        let mut at = 0;
        Ok(known.map(|known| {
            let column = columns[at];
            at += 1;
            known.unwrap_or_else(|| {
                let read = read.next().or_bug("each column that is not known is read");
                let ints = ints_of(column, &read);
                self.know_values(column, &ints);
                ints
            })
        }))
    }

    /// Returns the first element of a column of lengths or indices, if it is known.
    pub(super) fn known_int(&self, column: &Arg) -> Option<usize> {
        let ints = self.state.facts.ints(column, 1)?;
        ints.first().map(|int| *int as usize)
    }

    /// Returns true if facts about a descriptor of `count` segments are kept: always where reading it takes a wait, and
    /// elsewhere if there are more segments than the host looks at itself.
    pub(super) fn keeps_contents(&self, count: usize) -> bool {
        self.limits.max_known_elements > 0 || count > self.limits.max_host_scanned_segments
    }

    /// Records the first elements of a column that the host knows now, if they are few.
    pub(super) fn know_values(&self, column: &Arg, ints: &[i64]) {
        if ints.len() <= self.limits.max_known_elements {
            let (array, at) = slice(column);
            self.state.facts.set_contents(array, Contents::Values(at, ints.into()));
        }
    }

    /// Returns true if a column is known, or short enough to be read as a whole.
    pub(super) fn is_known_or_short(&self, column: &Arg, count: usize) -> bool {
        count <= self.limits.max_known_elements || self.state.facts.ints(column, 1).is_some()
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
        let out = self.alloc(Ty::I64, values.len())?;
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        self.runtime.write(&out, 0, &bytes)?;
        let column = Arg::Array(out, 0);
        self.know_values(&column, values);
        Ok(column)
    }

    /// Launches a kernel that has no checks, over this number of work items.
    pub(super) fn execute(&self, kernel: Builtin, args: &[Arg], work_items: usize) -> Stepped<()> {
        self.state.count_moved(work_items);
        let module = &self.state.module(self.runtime, kernel, self.limits)?;
        let work_items = Some(work_items);
        let launch = Launch { module, kernel: 0, args, tag: NO_CHECKS_TAG, work_items };
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

/// Returns the first element of a column, whose bytes are those of its elements from there on.
pub(super) fn first_of(column: &Arg, bytes: &[u8]) -> Literal {
    let ty = array(column).ty();
    Literal::from_bytes(ty, &bytes[..ty.size()])
}

/// Returns the elements of a column of ints with these bytes.
pub(super) fn ints_of(column: &Arg, bytes: &[u8]) -> Vec<i64> {
    match array(column).ty() {
        Ty::I64 => bytes.as_chunks().0.iter().map(|int| i64::from_ne_bytes(*int)).collect(),
        Ty::I32 => {
            let ints = bytes.as_chunks().0.iter();
            ints.map(|int| i64::from(i32::from_ne_bytes(*int))).collect()
        }
        other => bug!("{other:?} is no type of ints"),
    }
}

/// The fault for `count` sequences of `length` elements, more than can be counted.
pub(super) fn out_of_memory(count: usize, length: usize) -> Failure {
    let detail = format!("{count} sequences of {length} elements");
    Failure::Machine(Fault::with(FaultCode::OutOfMemory, detail))
}
