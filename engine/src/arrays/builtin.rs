//! The kernels that the engine itself needs, written as kir by hand.
//!
//! A [`Builtin`] names a kernel with the types that its code depends on, so that its compiled module
//! is found again. None of them has a check: their arguments come from values that were checked before. Each
//! function's doc lists the parameters in order; `count` is the number of work items.

use nesl_runtime::kir::{
    Binary, Combine, Extern, Kernel, KernelBuilder, Literal, Scope, Sink, Space, Ty, Value, ValueTy,
};

const INT: ValueTy = ValueTy::Scalar(Ty::I64);
const INTS: ValueTy = ValueTy::Array(Ty::I64);

/// A column that a kernel copies: the element types of both arrays, and whether an offset is added
/// to each element, which is an int then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Copied {
    pub(super) from: Ty,
    pub(super) to: Ty,
    pub(super) adds: bool,
}

/// A built-in kernel for given types: all that its code depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Builtin {
    /// Exclusive prefix sums of lengths ([`offsets`]).
    Offsets,
    /// Multiples of a factor, or the factor itself ([`multiples`]).
    Multiples {
        /// True for multiples, false for the factor itself.
        ascending: bool,
    },
    /// A literal everywhere ([`fill`]).
    Fill(Literal),
    /// The number of the segment of each element ([`segment_numbers`]).
    SegmentNumbers,
    /// Elements of one column, converted and written to indices or in order ([`scatter`]).
    Scatter {
        /// The type of the elements read.
        from: Ty,
        /// The type of the elements written.
        to: Ty,
        /// True if they are written to given indices.
        indexed: bool,
    },
    /// The least and the greatest of ints of a type ([`extremes`]).
    Extremes(Ty),
    /// The extremes of the distances between starts and offsets ([`contiguous`]).
    Contiguous,
    /// False everywhere ([`clear_marks`]).
    ClearMarks,
    /// True at indices of a type ([`set_marks`]).
    SetMarks(Ty),
    /// The number of marks that are true ([`count_marks`]).
    CountMarks,
    /// Elements of columns written to indices ([`put`]).
    Put {
        /// The type of the indices.
        indices: Ty,
        /// The columns that are copied, each with its types.
        columns: Vec<Copied>,
        /// True if an index may occur more than once.
        ordered: bool,
    },
    /// Segments copied one behind the other ([`gather_segments`]).
    GatherSegments(Vec<Copied>),
    /// Segments copied from where they begin to where they go ([`move_segments`]).
    MoveSegments(Vec<Copied>),
    /// The descriptor of rows with other rows behind them ([`appended`]).
    Appended,
    /// Elements of columns written to indices within their segments, each index once ([`put_within`]).
    PutWithin {
        /// The type of the indices.
        indices: Ty,
        /// The columns that are copied, each with its types.
        columns: Vec<Copied>,
    },
    /// The first elements and the lengths of rows of segments ([`spans`]).
    Spans,
    /// The number of rows whose parts end elsewhere than the row ([`apart`]).
    Apart,
    /// An intrinsic of the runtime ([`intrinsic`]).
    Intrinsic {
        /// The name of the kernel.
        name: &'static str,
        /// The intrinsic that the kernel calls.
        service: Extern,
        /// The type of the keys.
        keys: Ty,
        /// The types of the elements of the other arrays.
        others: Vec<Ty>,
    },
    /// An operation on matrices with elements of a type ([`matrix`]).
    Matrix {
        /// The name of the kernel.
        name: &'static str,
        /// The intrinsic that the kernel calls.
        service: Extern,
        /// The type of the elements.
        elements: Ty,
    },
}

impl Builtin {
    /// Returns the code of the kernel.
    pub(super) fn kernel(&self) -> Kernel {
        match self {
            Builtin::Offsets => offsets(),
            Builtin::Multiples { ascending } => multiples(*ascending),
            Builtin::Fill(literal) => fill(*literal),
            Builtin::SegmentNumbers => segment_numbers(),
            Builtin::Scatter { from, to, indexed } => scatter(*from, *to, *indexed),
            Builtin::Extremes(of) => extremes(*of),
            Builtin::Contiguous => contiguous(),
            Builtin::ClearMarks => clear_marks(),
            Builtin::SetMarks(of) => set_marks(*of),
            Builtin::CountMarks => count_marks(),
            Builtin::Put { indices, columns, ordered } => put(*indices, columns, *ordered),
            Builtin::GatherSegments(columns) => gather_segments(columns),
            Builtin::MoveSegments(columns) => move_segments(columns),
            Builtin::PutWithin { indices, columns } => put_within(*indices, columns),
            Builtin::Spans => spans(),
            Builtin::Appended => appended(),
            Builtin::Apart => apart(),
            Builtin::Intrinsic { name, service, keys, others } => {
                intrinsic(name, *service, *keys, others)
            }
            Builtin::Matrix { name, service, elements } => matrix(name, *service, *elements),
        }
    }
}

/// `count, limit, lengths, offsets`: writes the sums of the lengths before each index, taking those
/// from `limit` on as zero.
fn offsets() -> Kernel {
    let mut kernel = KernelBuilder::new("offsets");
    let [count, limit] = [kernel.param(INT), kernel.param(INT)];
    let [from, to] = [kernel.param(INTS), kernel.param(INTS)];
    let index = kernel.over(Space::Flat { count })[0];
    let zero = kernel.body.i64(0);
    let inside = kernel.body.binary(Binary::Lt, index, limit);
    let value = kernel.body.branch(inside, |body| vec![body.load(from, index)], |_| vec![zero])[0];
    let result = kernel.body.value(INT);
    let (scope, combine) = (Scope::All, Combine::Add);
    kernel.sink(Sink::Scan { scope, combine, value, result, total: None });
    kernel.next_stage();
    kernel.body.store(to, index, result);
    kernel.finish()
}

/// `count, factor, out`: writes the multiples of the factor from zero on if `ascending`, and the
/// factor itself everywhere otherwise.
fn multiples(ascending: bool) -> Kernel {
    let mut kernel = KernelBuilder::new(if ascending { "multiples" } else { "repeat" });
    let [count, factor, to] = [kernel.param(INT), kernel.param(INT), kernel.param(INTS)];
    let index = kernel.over(Space::Flat { count })[0];
    let value = match ascending {
        true => kernel.body.binary(Binary::Mul, index, factor),
        false => factor,
    };
    kernel.body.store(to, index, value);
    kernel.finish()
}

/// `count, out`: writes a literal everywhere.
fn fill(with: Literal) -> Kernel {
    let mut kernel = KernelBuilder::new("fill");
    let (count, to) = (kernel.param(INT), kernel.param(ValueTy::Array(with.ty())));
    let index = kernel.over(Space::Flat { count })[0];
    let value = kernel.body.literal(with);
    kernel.body.store(to, index, value);
    kernel.finish()
}

/// `segments, offsets, out`: writes for each element the number of its segment.
fn segment_numbers() -> Kernel {
    let mut kernel = KernelBuilder::new("segments");
    let (segments, offsets, to) = (kernel.param(INT), kernel.param(INTS), kernel.param(INTS));
    let [segment, _, index] = segmented(&mut kernel, segments, offsets);
    kernel.body.store(to, index, segment);
    kernel.finish()
}

/// `count, from, to, add[, indices]`: converts elements of type `from` to `to`, adds to ints, and
/// writes them to the given indices if `indexed`, and in order otherwise.
fn scatter(from: Ty, to: Ty, indexed: bool) -> Kernel {
    let mut kernel = KernelBuilder::new("scatter");
    let count = kernel.param(INT);
    let [read, write] = [from, to].map(|ty| kernel.param(ValueTy::Array(ty)));
    let add = kernel.param(INT);
    let indices = indexed.then(|| kernel.param(INTS));
    let index = kernel.over(Space::Flat { count })[0];
    let mut value = kernel.body.load(read, index);
    value = kernel.body.convert(to, value);
    if to == Ty::I64 {
        value = kernel.body.binary(Binary::Add, value, add);
    }
    let at = indices.map_or(index, |indices| kernel.body.load(indices, index));
    kernel.body.store(write, at, value);
    kernel.finish()
}

/// `count, ints, least, greatest`: writes the extremes of ints of type `of` as one number each.
fn extremes(of: Ty) -> Kernel {
    let mut kernel = KernelBuilder::new("extremes");
    let count = kernel.param(INT);
    let from = kernel.param(ValueTy::Array(of));
    let outs = [kernel.param(INTS), kernel.param(INTS)];
    let index = kernel.over(Space::Flat { count })[0];
    let value = kernel.body.load(from, index);
    let value = kernel.body.convert(Ty::I64, value);
    for (combine, out) in [Combine::Min, Combine::Max].into_iter().zip(outs) {
        let (scope, out) = (Scope::All, Some(out));
        kernel.sink(Sink::Reduce { scope, combine, value, out, result: None });
    }
    kernel.finish()
}

/// `count, starts, lengths, offsets, least, greatest`: writes the extremes of the distances between
/// starts and offsets, over segments that are not empty.
fn contiguous() -> Kernel {
    let mut kernel = KernelBuilder::new("contiguous");
    let count = kernel.param(INT);
    let [begin, length, offset] = [INTS; 3].map(|ty| kernel.param(ty));
    let outs = [kernel.param(INTS), kernel.param(INTS)];
    let index = kernel.over(Space::Flat { count })[0];
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
    kernel.finish()
}

/// `count, marks`: writes false everywhere.
fn clear_marks() -> Kernel {
    let mut kernel = KernelBuilder::new("clear");
    let (count, to) = (kernel.param(INT), kernel.param(ValueTy::Array(Ty::Bool)));
    let index = kernel.over(Space::Flat { count })[0];
    let no = kernel.body.bool(false);
    kernel.body.store(to, index, no);
    kernel.finish()
}

/// `count, marks, indices`: writes true at the given indices, ints of type `of`.
fn set_marks(of: Ty) -> Kernel {
    let mut kernel = KernelBuilder::new("mark");
    let (count, to) = (kernel.param(INT), kernel.param(ValueTy::Array(Ty::Bool)));
    let from = kernel.param(ValueTy::Array(of));
    let index = kernel.over(Space::Flat { count })[0];
    let at = kernel.body.load(from, index);
    let at = kernel.body.convert(Ty::I64, at);
    let yes = kernel.body.bool(true);
    kernel.body.store(to, at, yes);
    kernel.finish()
}

/// `count, marks, out`: writes the number of marks that are true.
fn count_marks() -> Kernel {
    let mut kernel = KernelBuilder::new("marked");
    let (count, from) = (kernel.param(INT), kernel.param(ValueTy::Array(Ty::Bool)));
    let out = kernel.param(INTS);
    let index = kernel.over(Space::Flat { count })[0];
    let marked = kernel.body.load(from, index);
    let [one, zero] = [1, 0].map(|x| kernel.body.i64(x));
    let value = kernel.body.select(marked, one, zero);
    let (scope, combine, out) = (Scope::All, Combine::Add, Some(out));
    kernel.sink(Sink::Reduce { scope, combine, value, out, result: None });
    kernel.finish()
}

/// `count, indices`, then `from, to, add` of each column: writes the elements of columns to
/// indices, ints of type `indices`. If `ordered`, an index may occur more than once, and the last
/// element written there stays.
fn put(indices: Ty, columns: &[Copied], ordered: bool) -> Kernel {
    let mut kernel = KernelBuilder::new("put");
    let count = kernel.param(INT);
    let indices = kernel.param(ValueTy::Array(indices));
    let params = column_params(&mut kernel, columns);
    let index = kernel.over(Space::Flat { count })[0];
    let at = kernel.body.load(indices, index);
    let at = kernel.body.convert(Ty::I64, at);
    for (column, [from, to, add]) in columns.iter().zip(params) {
        let value = copied_element(&mut kernel, column, from, index, add);
        if ordered {
            kernel.sink(Sink::Scatter { array: to, index: at, value, when: None });
        } else {
            kernel.body.store(to, at, value);
        }
    }
    kernel.finish()
}

/// `segments, offsets, starts`, then `from, to, add` of each column: copies segments that begin at
/// the given starts, one behind the other.
fn gather_segments(columns: &[Copied]) -> Kernel {
    let mut kernel = KernelBuilder::new("pick");
    let [segments, offsets, starts] = [INT, INTS, INTS].map(|ty| kernel.param(ty));
    let params = column_params(&mut kernel, columns);
    let [segment, within, index] = segmented(&mut kernel, segments, offsets);
    let start = kernel.body.load(starts, segment);
    let at = kernel.body.binary(Binary::Add, start, within);
    for [from, to, _] in params {
        let value = kernel.body.load(from, at);
        kernel.body.store(to, index, value);
    }
    kernel.finish()
}

/// `segments, offsets, from starts, to starts`, then `from, to, add` of each column: copies
/// segments from where they begin to where they go.
fn move_segments(columns: &[Copied]) -> Kernel {
    let mut kernel = KernelBuilder::new("place");
    let [segments, offsets] = [INT, INTS].map(|ty| kernel.param(ty));
    let starts = [kernel.param(INTS), kernel.param(INTS)];
    let params = column_params(&mut kernel, columns);
    let [segment, within, _] = segmented(&mut kernel, segments, offsets);
    let [from, to] = starts.map(|starts| {
        let start = kernel.body.load(starts, segment);
        kernel.body.binary(Binary::Add, start, within)
    });
    for (column, [source, target, add]) in columns.iter().zip(params) {
        let value = copied_element(&mut kernel, column, source, from, add);
        kernel.body.store(target, to, value);
    }
    kernel.finish()
}

/// `segments, offsets, indices`, then `from, to, add` of each column: writes the elements of columns to
/// indices within their segments, ints of type `indices`.
fn put_within(indices: Ty, columns: &[Copied]) -> Kernel {
    let mut kernel = KernelBuilder::new("put_within");
    let [segments, offsets] = [INT, INTS].map(|ty| kernel.param(ty));
    let indices = kernel.param(ValueTy::Array(indices));
    let params = column_params(&mut kernel, columns);
    let [segment, _, index] = segmented(&mut kernel, segments, offsets);
    let start = kernel.body.load(offsets, segment);
    let within = kernel.body.load(indices, index);
    let within = kernel.body.convert(Ty::I64, within);
    let at = kernel.body.binary(Binary::Add, start, within);
    for (column, [from, to, add]) in columns.iter().zip(params) {
        let value = copied_element(&mut kernel, column, from, index, add);
        kernel.body.store(to, at, value);
    }
    kernel.finish()
}

/// `count, ends, rows, parts, out`: writes the number of indices at which `ends` is not what `parts` is at
/// the index that `rows` says.
fn apart() -> Kernel {
    let mut kernel = KernelBuilder::new("apart");
    let count = kernel.param(INT);
    let [ends, rows, parts, out] = [INTS; 4].map(|ty| kernel.param(ty));
    let index = kernel.over(Space::Flat { count })[0];
    let body = &mut kernel.body;
    let [end, row] = [ends, rows].map(|array| body.load(array, index));
    let part = body.load(parts, row);
    let [one, zero] = [1, 0].map(|x| body.i64(x));
    let differs = body.binary(Binary::Ne, end, part);
    let value = body.select(differs, one, zero);
    let (scope, combine, out) = (Scope::All, Combine::Add, Some(out));
    kernel.sink(Sink::Reduce { scope, combine, value, out, result: None });
    kernel.finish()
}

/// `count, starts, lengths, offsets, begin, span`: writes for each row of segments its first
/// element and its length in elements.
fn spans() -> Kernel {
    let mut kernel = KernelBuilder::new("spans");
    let count = kernel.param(INT);
    let [starts, lengths, offsets] = [INTS; 3].map(|ty| kernel.param(ty));
    let outs = [kernel.param(INTS), kernel.param(INTS)];
    let index = kernel.over(Space::Flat { count })[0];
    let body = &mut kernel.body;
    let [start, length] = [starts, lengths].map(|array| body.load(array, index));
    // An empty row may begin anywhere, also behind the last segment.
    let zero = body.i64(0);
    let filled = body.binary(Binary::Lt, zero, length);
    let first = body.select(filled, start, zero);
    let last = body.binary(Binary::Add, first, length);
    let [begin, end] = [first, last].map(|segment| body.load(offsets, segment));
    let span = body.binary(Binary::Sub, end, begin);
    for (out, value) in outs.into_iter().zip([begin, span]) {
        kernel.body.store(out, index, value);
    }
    kernel.finish()
}

/// `count, rows, offsets of the first, offsets of the second, begin, behind, lengths`: writes for rows of
/// which each consists of one of the first and one of the second where it begins, where its second part
/// does, and its length; with one work item more than there are rows, the total behind where they begin.
fn appended() -> Kernel {
    let mut kernel = KernelBuilder::new("appended");
    let [count, rows] = [INT; 2].map(|ty| kernel.param(ty));
    let offsets = [INTS; 2].map(|ty| kernel.param(ty));
    let outs = [INTS; 3].map(|ty| kernel.param(ty));
    let index = kernel.over(Space::Flat { count })[0];
    let body = &mut kernel.body;
    let one = body.i64(1);
    let next = body.binary(Binary::Add, index, one);
    let next = body.binary(Binary::Min, next, rows);
    let [a, b] = offsets.map(|offsets| body.load(offsets, index));
    let [end_of_a, end_of_b] = offsets.map(|offsets| body.load(offsets, next));
    let begin = body.binary(Binary::Add, a, b);
    let behind = body.binary(Binary::Add, end_of_a, b);
    let end = body.binary(Binary::Add, end_of_a, end_of_b);
    let length = body.binary(Binary::Sub, end, begin);
    for (out, value) in outs.into_iter().zip([begin, behind, length]) {
        kernel.body.store(out, index, value);
    }
    kernel.finish()
}

/// One thread, `count, keys, length, others …`: calls an intrinsic of the runtime on keys, their
/// number and further arrays.
fn intrinsic(name: &str, service: Extern, keys: Ty, others: &[Ty]) -> Kernel {
    let mut kernel = KernelBuilder::new(name);
    let [count, length] = [kernel.param(INT), kernel.param(INT)];
    let mut args = vec![kernel.param(ValueTy::Array(keys)), length];
    args.extend(others.iter().map(|ty| kernel.param(ValueTy::Array(*ty))));
    kernel.over(Space::Flat { count });
    kernel.body.service(service, args);
    kernel.finish()
}

/// One thread, `count`, then the operands of an intrinsic, with elements of this type: calls it.
fn matrix(name: &str, service: Extern, elements: Ty) -> Kernel {
    let mut kernel = KernelBuilder::new(name);
    let count = kernel.param(INT);
    let params = service.params(elements).into_iter();
    let args = params.map(|ty| kernel.param(ty)).collect();
    kernel.over(Space::Flat { count });
    kernel.body.service(service, args);
    kernel.finish()
}

/// Makes a segmented index space, and returns the segment, the index within it, and the index.
fn segmented(kernel: &mut KernelBuilder, segments: Value, offsets: Value) -> [Value; 3] {
    let indices = kernel.over(Space::Segmented { segments, offsets });
    [indices[0], indices[1], indices[2]]
}

/// Declares the parameters `from, to, add` of each column.
fn column_params(kernel: &mut KernelBuilder, columns: &[Copied]) -> Vec<[Value; 3]> {
    let params = columns.iter().map(|column| {
        let [from, to] = [column.from, column.to].map(ValueTy::Array);
        [kernel.param(from), kernel.param(to), kernel.param(INT)]
    });
    params.collect()
}

/// Loads an element of a column, with the offset added if there is one.
fn copied_element(
    kernel: &mut KernelBuilder,
    column: &Copied,
    from: Value,
    at: Value,
    add: Value,
) -> Value {
    let value = kernel.body.load(from, at);
    if column.adds { kernel.body.binary(Binary::Add, value, add) } else { value }
}
