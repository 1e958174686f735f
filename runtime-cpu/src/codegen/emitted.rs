//! Rows that work items emit: how long they are, as far as that is known before a launch, and the arrays that
//! can be made where they end up.

use nesl_runtime::kir::reference::scalar;
use nesl_runtime::kir::written::written_params;
use nesl_runtime::kir::{Block, Inst, Kernel, Literal, Module, Op, Output, Sink, Space, Ty, Value};
use nesl_runtime::stack::with_stack;
use rustc_hash::FxHashMap;

/// The most instructions by which a common length is computed before a launch.
const MAX_LENGTH_INSTRUCTIONS: usize = 16;

/// The length of the row that each work item emits, in elements.
#[derive(Clone, Debug)]
pub enum RowLength {
    /// All rows are equally long.
    Common(Uniform),
    /// This array parameter has an element for each work item, the length of its row.
    OfItem(usize),
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
        let inst = made_by(kernel, value)?;
        match inst.op {
            Op::Const(_) => {}
            Op::Unary(_, a) | Op::Convert(_, a) => wanted.push(a),
            Op::Binary(_, a, b) => wanted.extend([a, b]),
            Op::Load { array, index } if is_read_only(array).is_some() => wanted.push(index),
            _ => return None,
        }
        if insts.len() == MAX_LENGTH_INSTRUCTIONS {
            return None;
        }
        insts.push(inst.clone());
    }
    let all = kernel.stages.iter().flat_map(|stage| &stage.body.insts);
    let in_order = all.filter(|inst| insts.iter().any(|wanted| wanted.results == inst.results));
    let insts = in_order.cloned().collect();
    Some(RowLength::Common(Uniform { insts, value: length }))
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
