//! The kernel that runs a form at one point.

use super::super::layout::{self, Columns, Rep, Sequence, Stored};
use super::{Shared, Thread, uses};
use crate::base::with_stack;
use crate::ir::{Program, Ty};
use nesl_runtime::kir::{
    self, FunctionId, Kernel, KernelBuilder, Op, Output, Sink, Space, Value, ValueTy,
};
use nesl_runtime::scalar::Precision;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

const INT: ValueTy = ValueTy::Scalar(kir::Ty::I64);

/// The kernel: see [`Lowered`](super::super::Lowered) for its parameters.
pub(super) fn kernel<'a>(
    program: &'a Program,
    precision: Precision,
    shared: &'a RefCell<Shared>,
) -> Kernel {
    let main = &program.functions[program.main.0 as usize];
    let mut kernel = KernelBuilder::new("form");
    let count = kernel.param(INT);
    let mut args = Vec::new();
    for (_, ty) in &main.params {
        for part in layout::parts(ty, precision) {
            args.push(kernel.param(part));
        }
    }
    let results = layout::parts(&main.result, precision);
    let out = place(&main.result, precision, &mut kernel);
    kernel.over(Space::Flat { count });
    let values = kernel.body.call(FunctionId(program.main.0), args, &results);
    let mut thread = Thread {
        body: std::mem::take(&mut kernel.body),
        precision,
        program,
        shared,
        env: FxHashMap::default(),
        uses: uses::Uses::default(),
        joint: super::joint::Joint::default(),
        origin: None,
        sorted_by: FxHashMap::default(),
        allocations: 0,
    };
    let rep = thread.rebuild(&main.result, &mut values.into_iter());
    let mut sinks = Vec::new();
    thread.deliver(&rep, &out, &mut sinks);
    kernel.body = thread.body;
    for sink in sinks {
        kernel.sink(sink);
    }
    kernel.finish()
}

/// Where a value goes: an array of one element for each scalar, length and extent, an output for
/// each array, made in the order of its parts.
enum Place {
    Unit,
    Scalar(Value),
    Pair(Box<(Place, Place)>),
    Sequence { length: Value, columns: ColumnPlace },
}

/// Where columns go.
enum ColumnPlace {
    Unit,
    Scalars(Output),
    Pair(Box<(ColumnPlace, ColumnPlace)>),
    Segments { starts: Output, lengths: Output, extent: Value, pool: Box<ColumnPlace> },
}

fn place(ty: &Ty, precision: Precision, kernel: &mut KernelBuilder) -> Place {
    with_stack(|| match ty {
        Ty::Unit => Place::Unit,
        Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
            let ty = layout::scalar(ty, precision).expect("it is a scalar");
            Place::Scalar(kernel.param(ValueTy::Array(ty)))
        }
        Ty::Pair(first, second) => {
            let first = place(first, precision, kernel);
            Place::Pair(Box::new((first, place(second, precision, kernel))))
        }
        Ty::Sequence(element) => {
            let length = kernel.param(ValueTy::Array(kir::Ty::I64));
            Place::Sequence { length, columns: column_place(element, precision, kernel) }
        }
    })
}

fn column_place(element: &Ty, precision: Precision, kernel: &mut KernelBuilder) -> ColumnPlace {
    with_stack(|| match element {
        Ty::Unit => ColumnPlace::Unit,
        Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
            let ty = layout::scalar(element, precision).expect("it is a scalar");
            ColumnPlace::Scalars(kernel.output(ty))
        }
        Ty::Pair(first, second) => {
            let first = column_place(first, precision, kernel);
            ColumnPlace::Pair(Box::new((first, column_place(second, precision, kernel))))
        }
        Ty::Sequence(inner) => {
            let starts = kernel.output(kir::Ty::I64);
            let lengths = kernel.output(kir::Ty::I64);
            let extent = kernel.param(ValueTy::Array(kir::Ty::I64));
            let pool = Box::new(column_place(inner, precision, kernel));
            ColumnPlace::Segments { starts, lengths, extent, pool }
        }
    })
}

impl<'a> Thread<'a> {
    /// Stores the scalars of a result, and says how its columns leave the instance: segments
    /// behind one another, whatever else there is in their pools left behind.
    fn deliver(&mut self, rep: &Rep<'a>, out: &Place, sinks: &mut Vec<Sink>) {
        with_stack(|| match (rep, out) {
            (Rep::Unit, _) => {}
            (Rep::Scalar(value), Place::Scalar(array)) => self.store_first(*array, *value),
            (Rep::Pair(both), Place::Pair(out)) => {
                self.deliver(&both.0, &out.0, sinks);
                self.deliver(&both.1, &out.1, sinks);
            }
            (Rep::Sequence(Sequence::Stored(stored)), Place::Sequence { length, columns }) => {
                self.deliver_columns(stored, columns, *length, sinks);
            }
            (Rep::Scalar(_) | Rep::Pair(_) | Rep::Sequence(_), _) => {
                unreachable!("a place has the shape of its value")
            }
        });
    }

    pub(in crate::lower) fn store_first(&mut self, array: Value, value: Value) {
        let zero = self.body.i64(0);
        self.body.store(array, zero, value);
    }

    fn deliver_columns(
        &mut self,
        stored: &Stored,
        out: &ColumnPlace,
        lengths: Value,
        sinks: &mut Vec<Sink>,
    ) {
        let mut columns = Vec::new();
        let mut pools = Vec::new();
        self.deliver_leaves(&stored.columns, out, stored.length, &mut columns, &mut pools);
        if columns.is_empty() {
            self.store_first(lengths, stored.length);
        } else {
            sinks.push(Sink::Emit { columns, length: stored.length, lengths });
        }
        for (pool, out, extent) in pools {
            with_stack(|| self.deliver_columns(&pool, out, extent, sinks));
        }
    }

    fn deliver_leaves<'o>(
        &mut self,
        columns: &Columns,
        out: &'o ColumnPlace,
        count: Value,
        arrays: &mut Vec<(Value, Output)>,
        pools: &mut Vec<(Stored, &'o ColumnPlace, Value)>,
    ) {
        with_stack(|| match (columns, out) {
            (Columns::Unit, _) => {}
            (Columns::Scalars(leaf), ColumnPlace::Scalars(output)) => {
                arrays.push((self.array_of(*leaf), *output));
            }
            (Columns::Pair(both), ColumnPlace::Pair(out)) => {
                self.deliver_leaves(&both.0, &out.0, count, arrays, pools);
                self.deliver_leaves(&both.1, &out.1, count, arrays, pools);
            }
            (
                Columns::Segments(segments),
                ColumnPlace::Segments { starts, lengths, extent, pool },
            ) => {
                let tiles = self.tiled(segments, count);
                let from = self.array_of(segments.lengths);
                arrays.push((self.ends_before(from, count), *starts));
                arrays.push((from, *lengths));
                pools.push((tiles, &**pool, *extent));
            }
            (Columns::Scalars(_) | Columns::Pair(_) | Columns::Segments(_), _) => {
                unreachable!("a place has the shape of its value")
            }
        });
    }

    /// Where segments of these lengths begin when they lie behind one another.
    pub(in crate::lower) fn ends_before(&mut self, lengths: Value, count: Value) -> Value {
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
