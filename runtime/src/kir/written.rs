//! The array parameters that code may read and write, found by following arrays through it.
//!
//! A runtime that keeps copies of an array in several memories asks for the written ones: a launch
//! leaves the copies of what it only reads as they are. One that executes the code of work items a
//! second time asks if that code reads what it has written.

use super::{Block, Extern, Inst, Kernel, Module, Op, Sink, Value, ValueTy};

/// Returns for each parameter of a kernel whether a launch may write elements of it.
pub fn written_params(module: &Module, kernel: &Kernel) -> Vec<bool> {
    let mut functions: Vec<Vec<bool>> =
        module.functions.iter().map(|function| vec![false; function.params.len()]).collect();
    // A function may call itself: what its parameters are written by only ever grows.
    loop {
        let before = functions.clone();
        for (at, function) in module.functions.iter().enumerate() {
            let mut search = Search::new(&function.params, &function.types, &before);
            search.run(|search| search.block(&function.body));
            functions[at] = search.written_among(&function.params);
        }
        if functions == before {
            break;
        }
    }
    let mut search = Search::new(&kernel.params, &kernel.types, &functions);
    search.run(|search| {
        for stage in &kernel.stages {
            search.block(&stage.body);
            stage.sinks.iter().for_each(|sink| search.sink(sink));
        }
    });
    search.written_among(&kernel.params)
}

/// Returns true if the code of a stage up to `last` may read a parameter that such code may write.
/// The kernel calls no functions.
pub fn reads_written(kernel: &Kernel, last: usize) -> bool {
    let mut search = Search::new(&kernel.params, &kernel.types, &[]);
    search.run(|search| kernel.stages[..=last].iter().for_each(|stage| search.block(&stage.body)));
    search.read & search.written != 0
}

/// A set of array parameters, a bit each; those of large numbers share the last one.
type Params = u128;

/// The search in one body, repeated until nothing changes.
struct Search<'a> {
    /// The parameters that each function may write.
    functions: &'a [Vec<bool>],
    /// The parameters that each array may be part of.
    origins: Vec<Params>,
    read: Params,
    written: Params,
    changed: bool,
}

impl<'a> Search<'a> {
    fn new(params: &[Value], types: &[ValueTy], functions: &'a [Vec<bool>]) -> Search<'a> {
        let mut origins = vec![0; types.len()];
        let arrays = params.iter().filter(|param| types[param.0 as usize].is_array());
        for (at, param) in arrays.enumerate() {
            origins[param.0 as usize] = 1 << at.min(Params::BITS as usize - 1);
        }
        Search { functions, origins, read: 0, written: 0, changed: true }
    }

    fn run(&mut self, mut go: impl FnMut(&mut Self)) {
        while std::mem::take(&mut self.changed) {
            go(self);
        }
    }

    fn written_among(&self, params: &[Value]) -> Vec<bool> {
        params.iter().map(|param| self.written & self.origins(*param) != 0).collect()
    }

    fn origins(&self, array: Value) -> Params {
        self.origins[array.0 as usize]
    }

    fn write(&mut self, array: Value) {
        self.written |= self.origins(array);
    }

    fn flow(&mut self, from: &[Value], to: &[Value]) {
        for (from, to) in from.iter().zip(to) {
            let (new, known) = (self.origins(*from), &mut self.origins[to.0 as usize]);
            self.changed |= new & !*known != 0;
            *known |= new;
        }
    }

    fn block(&mut self, block: &Block) {
        block.insts.iter().for_each(|inst| self.inst(inst));
    }

    fn inst(&mut self, inst: &Inst) {
        inst.op.blocks().for_each(|block| self.block(block));
        match &inst.op {
            Op::Load { array, .. } => self.read |= self.origins(*array),
            Op::Fail { text, .. } => self.read |= self.origins(*text),
            Op::Store { array, .. } => self.write(*array),
            Op::Copy { from, to, .. } => {
                self.read |= self.origins(*from);
                self.write(*to);
            }
            Op::Slice(array, _) => self.flow(&[*array], &inst.results),
            Op::Select(_, a, b) => {
                self.flow(&[*a], &inst.results);
                self.flow(&[*b], &inst.results);
            }
            // The kept arrays may be copied, if they are the work item's own.
            Op::Compact { keep, .. } => {
                let arrays: Vec<Value> = keep.iter().map(|(array, _)| *array).collect();
                self.flow(&arrays, &inst.results);
            }
            Op::If { then, otherwise, .. } => {
                self.flow(&then.yields, &inst.results);
                self.flow(&otherwise.yields, &inst.results);
            }
            Op::While { init, carried, body, .. } | Op::For { init, carried, body, .. } => {
                self.flow(init, carried);
                self.flow(&body.yields, carried);
                self.flow(carried, &inst.results);
            }
            Op::Call(callee, args) => {
                for (arg, is_written) in args.iter().zip(&self.functions[callee.0 as usize]) {
                    self.read |= self.origins(*arg);
                    if *is_written {
                        self.write(*arg);
                    }
                }
                // A result may be any of the arguments.
                for result in &inst.results {
                    args.iter().for_each(|arg| self.flow(&[*arg], &[*result]));
                }
            }
            Op::Extern(intrinsic, args) => {
                args.iter().for_each(|arg| self.read |= self.origins(*arg));
                outputs(*intrinsic).iter().for_each(|at| self.write(args[*at]));
            }
            Op::Const(_)
            | Op::Text(_)
            | Op::Unary(..)
            | Op::Binary(..)
            | Op::Fma(..)
            | Op::Convert(..)
            | Op::Bits(..)
            | Op::Alloc(..)
            | Op::Compute(..)
            | Op::Check { .. }
            | Op::Mark => {}
        }
    }

    fn sink(&mut self, sink: &Sink) {
        match sink {
            Sink::Reduce { out, .. } => out.iter().for_each(|array| self.write(*array)),
            Sink::Scan { total, .. } => total.iter().for_each(|array| self.write(*array)),
            Sink::Pack { columns, count, .. } => {
                columns.iter().for_each(|(_, array)| self.write(*array));
                self.write(*count);
            }
            Sink::Scatter { array, .. } | Sink::Histogram { array, .. } => self.write(*array),
            Sink::Emit { lengths, .. } => self.write(*lengths),
        }
    }
}

/// The numbers of the operands that an intrinsic writes.
fn outputs(intrinsic: Extern) -> &'static [usize] {
    match intrinsic {
        Extern::RankUp
        | Extern::RankDown
        | Extern::SortUp
        | Extern::SortDown
        | Extern::RankSegmentsUp
        | Extern::RankSegmentsDown
        | Extern::SortSegmentsUp
        | Extern::SortSegmentsDown => &[2],
        Extern::Groups | Extern::GroupSegments => &[2, 3],
        Extern::TextGroups | Extern::GroupTextSegments => &[4, 5],
        Extern::Distinct => &[2, 3, 4],
        Extern::DistinctTexts => &[4, 5, 6],
        Extern::RankTexts | Extern::RankTextSegments => &[4],
        Extern::HashText | Extern::SameText | Extern::ParseFloat | Extern::ParseFloat32 => &[],
        Extern::FloatText | Extern::FloatText32 => &[1],
        Extern::ExpText => &[2],
        Extern::Product => &[9],
        Extern::Transpose => &[4],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kir::parse;

    fn written(text: &str) -> Vec<bool> {
        let module = parse(text).unwrap();
        written_params(&module, &module.kernels[0])
    }

    #[test]
    fn stores_and_sinks_write() {
        let text = "kernel \"k\"(v0: i64, v1: [i64], v2: [i64], v3: [i64]) over flat v0 at v4 {
  v5: i64 = load v1[v4]
  store v2[v4] = v5
  reduce add v5 -> v3
}";
        assert_eq!(written(text), [false, false, true, true]);
    }

    #[test]
    fn writes_through_slices_branches_and_calls_count() {
        let text = "function \"set\"(v0: [i64], v1: i64) {
  store v0[v1] = v1
}
kernel \"k\"(v0: i64, v1: [i64], v2: [i64], v3: [i64], v4: [i64]) over flat v0 at v5 {
  v6: bool = eq v5, v0
  v7: [i64] = select v6, v1, v2
  v8: [i64] = slice v7[v5..]
  call \"set\"(v8, v5)
  v9: i64 = load v3[v5]
  v10: [i64] = if v6 {
    yield v4
  } else {
    yield v4
  }
  store v10[v5] = v9
}";
        assert_eq!(written(text), [false, true, true, false, true]);
    }

    fn reads_written_in(body: &str) -> bool {
        let text = format!(
            "kernel \"k\"(v0: i64, v1: [i64], v2: [i64]) over flat v0 at v3 {{\n{body}\n}}"
        );
        reads_written(&parse(&text).unwrap().kernels[0], 0)
    }

    #[test]
    fn arrays_are_followed_to_their_parameters() {
        let copy = "v4: [i64] = slice v2[v3..] v5: i64 = const 1 copy v1 -> v4 count v5";
        assert!(!reads_written_in(copy));
        assert!(reads_written_in(&copy.replace("copy v1", "copy v2")));
        let choice = "v4: bool = eq v0, v3 v5: [i64] = select v4, v1, v2 store v5[v3] = v3";
        assert!(!reads_written_in(choice));
        assert!(reads_written_in(&format!("{choice} v6: i64 = load v1[v3]")));
    }
}
