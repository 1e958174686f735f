//! The kernel that runs a whole program in one thread: it calls `main` and delivers the result.

use super::super::Settings;
use super::super::repr::{self, Columns, LoweredSequence, LoweredValue, StoredSequence, scalar_ty};
use super::function::{FunctionLowering, ModuleState};
use super::rooms;
use crate::base::with_stack;
use crate::ir::{Program, Ty};
use nesl_runtime::bug;
use nesl_runtime::kir::{
    self, FunctionId, Kernel, KernelBuilder, Op, Output, Sink, Space, Value, ValueTy,
};
use nesl_runtime::scalar::Precision;
use std::cell::RefCell;

const INT: ValueTy = ValueTy::Scalar(kir::Ty::I64);

/// Returns the kernel; [`Lowered`](super::super::Lowered) says its parameters.
pub(super) fn kernel<'a>(
    program: &'a Program,
    settings: &Settings<'a>,
    shared: &'a RefCell<ModuleState>,
) -> Kernel {
    let precision = settings.precision;
    let main = &program.functions[program.main.0 as usize];
    let mut kernel = KernelBuilder::new("sequential");
    let count = kernel.param(INT);
    let mut args = Vec::new();
    for (_, ty) in &main.params {
        for part in repr::parts(ty, precision) {
            args.push(kernel.param(part));
        }
    }
    let mut results = repr::parts(&main.result, precision);
    let out = result_slots(&main.result, precision, &mut kernel);
    kernel.over(Space::Flat { count });
    let results_end = results.len();
    if shared.borrow().ownership.is_tracked(program.main) {
        // What the caller passes is not the program's to overwrite.
        let params = main.params.iter().map(|(_, ty)| rooms::count(ty)).sum();
        let none = kernel.body.i64(0);
        args.extend(std::iter::repeat_n(none, params));
        results.extend(std::iter::repeat_n(rooms::ROOM, rooms::count(&main.result)));
    }
    let mut values = kernel.body.call(FunctionId(program.main.0), args, &results);
    values.truncate(results_end);
    let body = std::mem::take(&mut kernel.body);
    let mut code = FunctionLowering::new(body, program, settings, shared);
    let value = code.assemble(&main.result, &mut values.into_iter());
    let mut sinks = Vec::new();
    code.deliver(&value, &out, &mut sinks);
    kernel.body = code.body;
    for sink in sinks {
        kernel.sink(sink);
    }
    kernel.finish()
}

/// The destination of a result: an array of one element for each scalar, length and extent, a
/// kernel output for each array, in the order of the parts.
enum ResultSlots {
    Unit,
    Scalar(Value),
    Pair(Box<(ResultSlots, ResultSlots)>),
    Sequence { length: Value, columns: ColumnSlots },
}

/// The destination of the columns of a sequence.
enum ColumnSlots {
    Unit,
    Scalars(Output),
    Pair(Box<(ColumnSlots, ColumnSlots)>),
    Sequences { starts: Output, lengths: Output, extent: Value, pool: Box<ColumnSlots> },
}

/// Adds the parameters and outputs of a result to the kernel.
fn result_slots(ty: &Ty, precision: Precision, kernel: &mut KernelBuilder) -> ResultSlots {
    with_stack(|| match ty {
        Ty::Unit => ResultSlots::Unit,
        Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
            let ty = scalar_ty(ty, precision);
            ResultSlots::Scalar(kernel.param(ValueTy::Array(ty)))
        }
        Ty::Pair(first, second) => {
            let first = result_slots(first, precision, kernel);
            ResultSlots::Pair(Box::new((first, result_slots(second, precision, kernel))))
        }
        Ty::Sequence(element) => {
            let length = kernel.param(ValueTy::Array(kir::Ty::I64));
            ResultSlots::Sequence { length, columns: column_slots(element, precision, kernel) }
        }
    })
}

fn column_slots(element: &Ty, precision: Precision, kernel: &mut KernelBuilder) -> ColumnSlots {
    with_stack(|| match element {
        Ty::Unit => ColumnSlots::Unit,
        Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
            let ty = scalar_ty(element, precision);
            ColumnSlots::Scalars(kernel.output(ty))
        }
        Ty::Pair(first, second) => {
            let first = column_slots(first, precision, kernel);
            ColumnSlots::Pair(Box::new((first, column_slots(second, precision, kernel))))
        }
        Ty::Sequence(inner) => {
            let starts = kernel.output(kir::Ty::I64);
            let lengths = kernel.output(kir::Ty::I64);
            let extent = kernel.param(ValueTy::Array(kir::Ty::I64));
            let pool = Box::new(column_slots(inner, precision, kernel));
            ColumnSlots::Sequences { starts, lengths, extent, pool }
        }
    })
}

impl<'a> FunctionLowering<'a> {
    /// Stores the scalars of a result, and adds the sinks that emit its columns. Segments are made
    /// contiguous, so that no unused elements of their pools are emitted.
    fn deliver(&mut self, value: &LoweredValue<'a>, out: &ResultSlots, sinks: &mut Vec<Sink>) {
        with_stack(|| match (value, out) {
            (LoweredValue::Unit, _) => {}
            (LoweredValue::Scalar(value), ResultSlots::Scalar(array)) => {
                self.store_first(*array, *value)
            }
            (LoweredValue::Pair(both), ResultSlots::Pair(out)) => {
                self.deliver(&both.0, &out.0, sinks);
                self.deliver(&both.1, &out.1, sinks);
            }
            (
                LoweredValue::Sequence(LoweredSequence::Stored(stored)),
                ResultSlots::Sequence { length, columns },
            ) => {
                self.deliver_columns(stored, columns, *length, sinks);
            }
            (LoweredValue::Scalar(_) | LoweredValue::Pair(_) | LoweredValue::Sequence(_), _) => {
                bug!("a result has the slots that its type says")
            }
        });
    }

    /// Stores a value as the first element of an array.
    fn store_first(&mut self, array: Value, value: Value) {
        let zero = self.body.i64(0);
        self.body.store(array, zero, value);
    }

    fn deliver_columns(
        &mut self,
        stored: &StoredSequence,
        out: &ColumnSlots,
        lengths: Value,
        sinks: &mut Vec<Sink>,
    ) {
        let mut columns = Vec::new();
        let mut pools = Vec::new();
        self.deliver_level(&stored.columns, out, stored.length, &mut columns, &mut pools);
        if columns.is_empty() {
            self.store_first(lengths, stored.length);
        } else {
            sinks.push(Sink::Emit { columns, length: stored.length, lengths });
        }
        for (pool, out, extent) in pools {
            with_stack(|| self.deliver_columns(&pool, out, extent, sinks));
        }
    }

    fn deliver_level<'o>(
        &mut self,
        columns: &Columns,
        out: &'o ColumnSlots,
        count: Value,
        arrays: &mut Vec<(Value, Output)>,
        pools: &mut Vec<(StoredSequence, &'o ColumnSlots, Value)>,
    ) {
        with_stack(|| match (columns, out) {
            (Columns::Unit, _) => {}
            (Columns::Scalars(column), ColumnSlots::Scalars(output)) => {
                arrays.push((self.array_of(*column), *output));
            }
            (Columns::Pair(both), ColumnSlots::Pair(out)) => {
                self.deliver_level(&both.0, &out.0, count, arrays, pools);
                self.deliver_level(&both.1, &out.1, count, arrays, pools);
            }
            (Columns::Views(views), ColumnSlots::Sequences { starts, lengths, extent, pool }) => {
                let tiles = self.contiguous(views, count);
                let from = self.array_of(views.lengths);
                arrays.push((self.exclusive_sums(from, count), *starts));
                arrays.push((from, *lengths));
                pools.push((tiles, &**pool, *extent));
            }
            (Columns::Scalars(_) | Columns::Pair(_) | Columns::Views(_), _) => {
                bug!("a result has the slots that its type says")
            }
        });
    }

    /// Returns an array with the exclusive prefix sums of `count` lengths: the starts of segments of
    /// these lengths that lie one behind the other.
    pub(in crate::lower) fn exclusive_sums(&mut self, lengths: Value, count: Value) -> Value {
        let starts = self.alloc(kir::Ty::I64, count);
        let zero = self.body.i64(0);
        let index = self.body.value(INT);
        let end = self.body.value(INT);
        self.body.begin();
        self.body.store(starts.array, index, end);
        let length = self.body.load(lengths, index);
        let next = self.body.binary(kir::Binary::Add, end, length);
        let body = self.body.end(vec![next]);
        let (init, carried, reduce) = (vec![zero], vec![end], Vec::new());
        self.body.push(Op::For { count, index, init, carried, reduce, body }, &[INT]);
        starts.array
    }
}
