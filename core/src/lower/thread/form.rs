//! The kernel that runs a form at one point.

use super::super::layout;
use super::{Shared, Thread, uses};
use crate::base::with_stack;
use crate::ir::{Program, Ty};
use nesl_runtime::kir::{self, FunctionId, Kernel, KernelBuilder, Literal, Sink, Space, Value, ValueTy};
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
    let mut out = Places::default();
    out.of(&main.result, precision, &mut kernel);
    kernel.over(Space::Flat { count });
    let values = kernel.body.call(FunctionId(program.main.0), args, &results);
    let mut thread = Thread {
        body: std::mem::take(&mut kernel.body),
        precision,
        program,
        shared,
        env: FxHashMap::default(),
        uses: uses::Uses::default(),
        origin: None,
        allocations: 0,
    };
    let sinks = thread.deliver(&main.result, values, &mut out);
    kernel.body = thread.body;
    for sink in sinks {
        kernel.sink(sink);
    }
    kernel.finish()
}

/// Where a result goes, in order: an array of one element for each scalar and each length, an
/// output for each column.
#[derive(Default)]
struct Places {
    scalars: Vec<Value>,
    outputs: Vec<kir::Output>,
    /// How many of each were given out.
    taken: (usize, usize),
}

impl Places {
    fn of(&mut self, ty: &Ty, precision: Precision, kernel: &mut KernelBuilder) {
        with_stack(|| match ty {
            Ty::Unit => {}
            Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                let ty = layout::scalar(ty, precision).expect("it is a scalar");
                self.scalars.push(kernel.param(ValueTy::Array(ty)));
            }
            Ty::Pair(first, second) => {
                self.of(first, precision, kernel);
                self.of(second, precision, kernel);
            }
            Ty::Sequence(element) => self.of_columns(element, precision, kernel),
        });
    }

    fn of_columns(&mut self, element: &Ty, precision: Precision, kernel: &mut KernelBuilder) {
        self.scalars.push(kernel.param(ValueTy::Array(kir::Ty::I64)));
        let mut inner = Vec::new();
        self.of_leaves(element, precision, kernel, &mut inner);
        for element in inner {
            with_stack(|| self.of_columns(element, precision, kernel));
        }
    }

    fn of_leaves<'t>(
        &mut self,
        element: &'t Ty,
        precision: Precision,
        kernel: &mut KernelBuilder,
        inner: &mut Vec<&'t Ty>,
    ) {
        with_stack(|| match element {
            Ty::Unit => {}
            Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                let ty = layout::scalar(element, precision).expect("it is a scalar");
                self.outputs.push(kernel.output(ty));
            }
            Ty::Pair(first, second) => {
                self.of_leaves(first, precision, kernel, inner);
                self.of_leaves(second, precision, kernel, inner);
            }
            Ty::Sequence(element) => {
                self.outputs.push(kernel.output(kir::Ty::I64));
                inner.push(element);
            }
        });
    }

    fn scalar(&mut self) -> Value {
        self.taken.0 += 1;
        self.scalars[self.taken.0 - 1]
    }

    fn output(&mut self) -> kir::Output {
        self.taken.1 += 1;
        self.outputs[self.taken.1 - 1]
    }
}

impl<'a> Thread<'a> {
    /// Stores the scalars of a result, and says how its columns leave the instance.
    fn deliver(&mut self, ty: &'a Ty, values: Vec<Value>, out: &mut Places) -> Vec<Sink> {
        let rep = self.rebuild(ty, &mut values.into_iter());
        let mut sinks = Vec::new();
        self.deliver_rep(&rep, ty, out, &mut sinks);
        sinks
    }

    fn deliver_rep(
        &mut self,
        rep: &layout::Rep<'a>,
        ty: &'a Ty,
        out: &mut Places,
        sinks: &mut Vec<Sink>,
    ) {
        use layout::{Rep, Sequence};
        with_stack(|| match (rep, ty) {
            (Rep::Unit, _) => {}
            (Rep::Scalar(value), _) => {
                let zero = self.body.literal(Literal::I64(0));
                self.body.store(out.scalar(), zero, *value);
            }
            (Rep::Pair(both), Ty::Pair(first, second)) => {
                self.deliver_rep(&both.0, first, out, sinks);
                self.deliver_rep(&both.1, second, out, sinks);
            }
            (Rep::Sequence(Sequence::Stored(stored)), Ty::Sequence(element)) => {
                self.deliver_columns(stored, element, out, sinks);
            }
            (Rep::Pair(_) | Rep::Sequence(_), _) => unreachable!("types were checked"),
        });
    }

    fn deliver_columns(
        &mut self,
        stored: &layout::Stored,
        element: &'a Ty,
        out: &mut Places,
        sinks: &mut Vec<Sink>,
    ) {
        let lengths = out.scalar();
        let mut columns = Vec::new();
        let mut inner = Vec::new();
        self.deliver_leaves(&stored.columns, element, out, &mut columns, &mut inner, stored.length);
        sinks.push(Sink::Emit { columns, length: stored.length, lengths });
        for (stored, element) in inner {
            with_stack(|| self.deliver_columns(&stored, element, out, sinks));
        }
    }

    #[allow(clippy::too_many_arguments, reason = "one walk over four things at once")]
    fn deliver_leaves(
        &mut self,
        columns: &layout::Columns,
        element: &'a Ty,
        out: &mut Places,
        arrays: &mut Vec<(Value, kir::Output)>,
        inner: &mut Vec<(layout::Stored, &'a Ty)>,
        length: Value,
    ) {
        use layout::Columns;
        with_stack(|| match (columns, element) {
            (Columns::Unit, _) => {}
            (Columns::Scalars(leaf), _) => {
                let array = self.from_start(*leaf);
                arrays.push((array, out.output()));
            }
            (Columns::Pair(both), Ty::Pair(first, second)) => {
                self.deliver_leaves(&both.0, first, out, arrays, inner, length);
                self.deliver_leaves(&both.1, second, out, arrays, inner, length);
            }
            (Columns::Segments(segments), Ty::Sequence(within)) => {
                let array = self.from_start(segments.lengths);
                arrays.push((array, out.output()));
                let pool = self.tiled(segments, length);
                inner.push((pool, within));
            }
            (Columns::Pair(_) | Columns::Segments(_), _) => unreachable!("types were checked"),
        });
    }
}

