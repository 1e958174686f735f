//! Rows that work items emit: how long they are, as far as that is known before a launch, and the arrays that
//! can be made where they end up.

use nesl_runtime::kir::reference::scalar;
use nesl_runtime::kir::written::written_params;
use nesl_runtime::kir::{
    Binary, Block, Inst, Kernel, Literal, Module, Op, Output, Sink, Space, Ty, Value, ValueTy,
};
use nesl_runtime::stack::with_stack;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The most instructions by which a common length is computed before a launch.
const MAX_LENGTH_INSTRUCTIONS: usize = 16;

/// The length of the row that each work item emits, in elements.
#[derive(Clone, Debug)]
pub enum RowLength {
    /// All rows are equally long.
    Common(Uniform),
    /// This array parameter has an element for each work item, the length of its row.
    OfItem(usize),
    /// A few operations compute it from such parameters: the sum of two lengths, say.
    Computed(Computed),
}

/// An int that a few operations compute for each work item.
#[derive(Clone, Debug)]
pub struct Computed {
    /// The steps, in order; the last one gives the int.
    steps: Vec<Step>,
}

/// A step of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Const(i64),
    /// A scalar parameter.
    Param(usize),
    /// The number of the work item.
    Number,
    /// The element of an array parameter at the number of the work item.
    Element(usize),
    /// An operation on the results of two steps; on ints of 32 bits if that is so.
    Binary(Binary, usize, usize, bool),
    /// The result of a step, cut to 32 bits.
    Cut(usize),
    /// The result of the second step where that of the first is not 0, else that of the third.
    Select(usize, usize, usize),
    /// The 64 bits of the result of a step, shifted to the right by so many, filled with zeros.
    Shifted(usize, u32),
}

/// The number of work items whose lengths are computed together.
const COMPUTED_TOGETHER: usize = 256;

impl Computed {
    /// Returns the sum of the ints of some work items, each of which counts as 0 if it is negative. `scalar` returns a
    /// scalar parameter, and `array` the elements of an array parameter. `None` if there are too few of them, or it
    /// is too large.
    pub fn sum<'a>(
        &self,
        items: Range<usize>,
        scalar: impl Fn(usize) -> Option<i64>,
        array: impl Fn(usize) -> Option<&'a [i64]>,
    ) -> Option<usize> {
        let mut columns = vec![[0i64; COMPUTED_TOGETHER]; self.steps.len()];
        let mut arrays = Vec::new();
        for (step, column) in self.steps.iter().zip(&mut columns) {
            let mut elements: &[i64] = &[];
            match step {
                Step::Const(int) => column.fill(*int),
                Step::Param(param) => column.fill(scalar(*param)?),
                Step::Element(param) => elements = array(*param)?.get(..items.end)?,
                Step::Number
                | Step::Binary(..)
                | Step::Cut(_)
                | Step::Select(..)
                | Step::Shifted(..) => {}
            }
            arrays.push(elements);
        }
        let mut sum = 0usize;
        let mut first = items.start;
        while first < items.end {
            let count = COMPUTED_TOGETHER.min(items.end - first);
            for (at, step) in self.steps.iter().enumerate() {
                let (before, rest) = columns.split_at_mut(at);
                let column = &mut rest[0][..count];
                match *step {
                    Step::Const(_) | Step::Param(_) => {}
                    Step::Number => (first..).zip(column).for_each(|(n, to)| *to = n as i64),
                    Step::Element(_) => column.copy_from_slice(&arrays[at][first..first + count]),
                    Step::Cut(of) => {
                        before[of]
                            .iter()
                            .zip(column)
                            .for_each(|(x, to)| *to = i64::from(*x as i32));
                    }
                    Step::Shifted(of, bits) => {
                        before[of]
                            .iter()
                            .zip(column)
                            .for_each(|(x, to)| *to = (*x as u64 >> bits) as i64);
                    }
                    Step::Select(test, a, b) => {
                        let sides = before[a].iter().zip(&before[b]);
                        for ((test, (x, y)), to) in before[test].iter().zip(sides).zip(column) {
                            *to = if *test != 0 { *x } else { *y };
                        }
                    }
                    Step::Binary(op, a, b, is_short) => {
                        let pairs = before[a].iter().zip(&before[b]);
                        for ((x, y), to) in pairs.zip(column) {
                            let whole = operation(op, *x, *y)?;
                            *to = if is_short { i64::from(whole as i32) } else { whole };
                        }
                    }
                }
            }
            for length in &columns.last()?[..count] {
                sum = sum.checked_add((*length).max(0) as usize)?;
            }
            first += count;
        }
        Some(sum)
    }
}

/// The result of an operation by which lengths are computed, on ints of 64 bits, or on bools, which are 0 and 1; the lower
/// half of it is that on ints of 32 bits.
fn operation(op: Binary, x: i64, y: i64) -> Option<i64> {
    let count = u32::try_from(y & 31).ok().filter(|count| i64::from(*count) == y);
    Some(match op {
        Binary::Add => x.wrapping_add(y),
        Binary::Sub => x.wrapping_sub(y),
        Binary::Mul => x.wrapping_mul(y),
        Binary::Div => {
            if y == 0 {
                x
            } else {
                x.wrapping_div(y)
            }
        }
        Binary::Rem => {
            if y == 0 {
                0
            } else {
                x.wrapping_rem(y)
            }
        }
        Binary::Min => x.min(y),
        Binary::Max => x.max(y),
        Binary::And => x & y,
        Binary::Or => x | y,
        Binary::Xor => x ^ y,
        Binary::Shl => x.wrapping_shl(count?),
        Binary::Shr => x.wrapping_shr(count?),
        Binary::Eq => i64::from(x == y),
        Binary::Ne => i64::from(x != y),
        Binary::Lt => i64::from(x < y),
        Binary::Le => i64::from(x <= y),
        Binary::Gt => i64::from(x > y),
        Binary::Ge => i64::from(x >= y),
        Binary::MulHigh | Binary::ShrZero => return None,
    })
}

/// An int that is the same for all work items.
#[derive(Clone, Debug)]
pub struct Uniform {
    /// The instructions that compute it from parameters, in order.
    insts: Vec<Inst>,
    value: Value,
}

impl Uniform {
    /// Computes it. `param` returns a scalar parameter, and `element` an element of an array parameter if there is
    /// such an element. `None` if there is not, or it is no int.
    pub fn compute(
        &self,
        param: impl Fn(Value) -> Option<Literal>,
        element: impl Fn(Value, i64) -> Option<Literal>,
    ) -> Option<i64> {
        let mut known: Vec<(Value, Literal)> = Vec::with_capacity(self.insts.len());
        let int = |literal: Literal| match literal {
            Literal::I64(int) => Some(int),
            _ => None,
        };
        for inst in &self.insts {
            let get = |value: Value| {
                let found = known.iter().find(|(of, _)| *of == value);
                found.map(|(_, literal)| *literal).or_else(|| param(value))
            };
            let literal = match inst.op {
                Op::Const(literal) => literal,
                Op::Unary(op, a) => scalar::unary(op, get(a)?),
                Op::Binary(op, a, b) => scalar::binary(op, get(a)?, get(b)?),
                Op::Convert(to, a) => scalar::convert(to, get(a)?),
                Op::Load { array, index } => element(array, int(get(index)?)?)?,
                _ => return None,
            };
            known.push((inst.results[0], literal));
        }
        let found = known.iter().find(|(of, _)| *of == self.value);
        int(found.map(|(_, literal)| *literal).or_else(|| param(self.value))?)
    }
}

/// Rows of which the lengths are known before a launch.
#[derive(Clone, Debug)]
pub struct KnownRows {
    /// The length of each row.
    pub length: RowLength,
    /// The numbers of the outputs that rows of these lengths are emitted for.
    pub outputs: Vec<usize>,
}

/// Returns the rows that a kernel emits and whose lengths are known before the launch.
pub fn known_rows(module: &Module, kernel: &Kernel) -> Vec<KnownRows> {
    if !matches!(kernel.space, Space::Flat { .. }) {
        return Vec::new();
    }
    let rows = emits(kernel).filter_map(|(columns, length)| {
        let outputs = columns.iter().map(|(_, output)| output.0 as usize).collect();
        Some(KnownRows { length: row_length(module, kernel, length)?, outputs })
    });
    rows.collect()
}

fn row_length(module: &Module, kernel: &Kernel, length: Value) -> Option<RowLength> {
    let written = written_params(module, kernel);
    let is_read_only = |array: Value| {
        let at = kernel.params.iter().position(|param| *param == array);
        at.filter(|at| !written[*at])
    };
    if let Some(inst) = made_by(kernel, length)
        && let Op::Load { array, index } = inst.op
        && index == kernel.indices[0]
    {
        return is_read_only(array).map(RowLength::OfItem);
    }
    let mut insts: Vec<Inst> = Vec::new();
    let mut wanted = vec![length];
    while let Some(value) = wanted.pop() {
        let known = |inst: &Inst| inst.results == [value];
        if kernel.params.contains(&value) || insts.iter().any(known) {
            continue;
        }
        let inst = made_by(kernel, value).filter(|_| insts.len() < MAX_LENGTH_INSTRUCTIONS);
        match inst.map(|inst| &inst.op) {
            Some(Op::Const(_)) => {}
            Some(Op::Unary(_, a) | Op::Convert(_, a)) => wanted.push(*a),
            Some(Op::Binary(_, a, b)) => wanted.extend([*a, *b]),
            Some(Op::Load { array, index }) if is_read_only(*array).is_some() => {
                wanted.push(*index)
            }
            _ => return computed(kernel, length, &is_read_only).map(RowLength::Computed),
        }
        insts.extend(inst.cloned());
    }
    let all = kernel.stages.iter().flat_map(|stage| &stage.body.insts);
    let in_order = all.filter(|inst| insts.iter().any(|wanted| wanted.results == inst.results));
    let insts = in_order.cloned().collect();
    Some(RowLength::Common(Uniform { insts, value: length }))
}

/// Returns the computation of an int of each work item, if it takes a few steps. `is_read_only` returns the number of an
/// array parameter that the kernel does not write.
fn computed(
    kernel: &Kernel,
    value: Value,
    is_read_only: &dyn Fn(Value) -> Option<usize>,
) -> Option<Computed> {
    let mut found = Computed { steps: Vec::new() };
    let mut known = FxHashMap::default();
    found.add(kernel, value, is_read_only, &mut known, MAX_LENGTH_INSTRUCTIONS)?;
    Some(found)
}

impl Computed {
    /// Adds the steps that compute a value, if at most so many depend on each other; returns the number of the last one.
    fn add(
        &mut self,
        kernel: &Kernel,
        value: Value,
        is_read_only: &dyn Fn(Value) -> Option<usize>,
        known: &mut FxHashMap<Value, usize>,
        depth: usize,
    ) -> Option<usize> {
        if let Some(step) = known.get(&value) {
            return Some(*step);
        }
        let depth = depth.checked_sub(1)?;
        let mut step = |value| self.add(kernel, value, is_read_only, known, depth);
        let ty = kernel.types[value.0 as usize];
        let is_int = matches!(ty, ValueTy::Scalar(Ty::I64 | Ty::I32 | Ty::Bool));
        let param = kernel.params.iter().position(|param| *param == value);
        let made = match made_by(kernel, value).map(|inst| &inst.op) {
            _ if !is_int => return None,
            _ if value == kernel.indices[0] => Step::Number,
            _ if param.is_some() => Step::Param(param?),
            Some(Op::Const(Literal::I64(int))) => Step::Const(*int),
            Some(Op::Const(Literal::I32(int))) => Step::Const(i64::from(*int)),
            Some(Op::Load { array, index })
                if *index == kernel.indices[0] && ty == ValueTy::Scalar(Ty::I64) =>
            {
                Step::Element(is_read_only(*array)?)
            }
            Some(Op::Binary(Binary::ShrZero, of, bits)) if ty == ValueTy::Scalar(Ty::I64) => {
                let Op::Const(Literal::I64(bits @ 0..64)) = made_by(kernel, *bits)?.op else {
                    return None;
                };
                Step::Shifted(step(*of)?, bits as u32)
            }
            Some(Op::Binary(op, a, b)) => {
                operation(*op, 0, 0)?;
                Step::Binary(*op, step(*a)?, step(*b)?, ty == ValueTy::Scalar(Ty::I32))
            }
            Some(Op::Select(test, a, b)) => Step::Select(step(*test)?, step(*a)?, step(*b)?),
            Some(Op::Const(Literal::Bool(bool))) => Step::Const(i64::from(*bool)),
            Some(Op::Convert(Ty::I32, of)) => Step::Cut(step(*of)?),
            // What is not longer stays as it is.
            Some(Op::Convert(Ty::I64, of)) => return step(*of),
            _ => return None,
        };
        if self.steps.len() == MAX_LENGTH_INSTRUCTIONS {
            return None;
        }
        self.steps.push(made);
        known.insert(value, self.steps.len() - 1);
        Some(self.steps.len() - 1)
    }
}

/// Returns the instruction outside of all blocks whose only result is a value.
fn made_by(kernel: &Kernel, value: Value) -> Option<&Inst> {
    let mut insts = kernel.stages.iter().flat_map(|stage| &stage.body.insts);
    insts.find(|inst| inst.results == [value])
}

/// Returns the allocations of arrays that a work item emits as they are or emits others of the same size instead,
/// each with the number of the output: of those for one output at most one is executed, at most once.
/// They can be made in the output itself.
pub fn allocations(kernel: &Kernel) -> FxHashMap<Value, u32> {
    let mut found = FxHashMap::default();
    // The code of one of several stages may be executed more than once.
    let [stage] = &kernel.stages[..] else { return found };
    for (columns, length) in emits(kernel) {
        for (array, output) in columns {
            let row = Row { length, ty: kernel.outputs[output.0 as usize], output: output.0 };
            row.search(&stage.body, *array, &mut found);
        }
    }
    found
}

/// A row that is emitted.
struct Row {
    length: Value,
    ty: Ty,
    output: u32,
}

impl Row {
    /// Finds the allocations in a block of which an array of the block may be.
    fn search(&self, block: &Block, array: Value, found: &mut FxHashMap<Value, u32>) {
        let makes = |inst: &&Inst| inst.results.contains(&array);
        let Some(inst) = block.insts.iter().find(makes) else { return };
        match &inst.op {
            Op::Alloc(ty, length) if *ty == self.ty && *length == self.length => {
                found.insert(array, self.output);
            }
            Op::Slice(of, _) => self.search(block, *of, found),
            Op::If { then, otherwise, .. } => {
                let at = inst.results.iter().position(|result| *result == array);
                let Some(at) = at else { return };
                // What a side takes from outside of it might be made as well as what the other side makes.
                with_stack(|| {
                    for side in [then, otherwise] {
                        self.search(side, side.yields[at], found);
                    }
                });
            }
            _ => {}
        }
    }
}

/// The columns and the length of each row that a work item emits.
fn emits(kernel: &Kernel) -> impl Iterator<Item = (&[(Value, Output)], Value)> {
    kernel.stages.iter().flat_map(|stage| &stage.sinks).filter_map(|sink| match sink {
        Sink::Emit { columns, length, .. } => Some((&columns[..], *length)),
        Sink::Reduce { .. }
        | Sink::Scan { .. }
        | Sink::Pack { .. }
        | Sink::Scatter { .. }
        | Sink::Histogram { .. } => None,
    })
}
