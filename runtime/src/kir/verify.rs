//! The invariants of kir, and their verifier.
//!
//! Every maker of kir keeps them; every runtime relies on them.
//!
//! **Values.** Every value is defined at most once, by a parameter, an index of the space, the
//! head of a loop, an instruction or a sink, and used only after that, in the same block or a
//! block within it; the body of a `while` sees what its condition computes. (A number of the table
//! that nothing defines is allowed.) Marks stay in the function, or the stage, that made them: they
//! are not parameters, results, carried or yielded.
//!
//! **Types** of operations, with `int` for i32 and i64, `float` for f32 and f64:
//!
//! | Operation | Operands → result |
//! |---|---|
//! | `neg abs` | int, float → the same |
//! | `not` | int, bool → the same |
//! | `sqrt floor ceil trunc nearest` | float → the same |
//! | `add sub mul div` | two equal int, float → the same |
//! | `rem`, shifts | two equal int → the same |
//! | `min max` | two equal int, u8 → the same |
//! | `and or xor` | two equal int, bool → the same |
//! | `eq ne lt le gt ge` | two equal scalars → bool |
//! | `fma` | three equal floats → the same |
//! | `select` | bool and two equal scalars or arrays → the same |
//! | `convert` | any scalar to any; but of a float only to int or float |
//! | `bits` | i32 ↔ f32, i64 ↔ f64, or the same |
//! | combinations | `add mul` int, float; `min max` int, float, u8; `and or xor` int, bool |
//!
//! Lengths, counts and indices are i64; conditions are bool. Ranked and sorted are int, float and u8.
//!
//! **Blocks** yield what the construct they are in gives: both branches of an `if` its results,
//! the condition of a `while` one bool and its body the carried values, the body of a `for` the
//! carried values and then an element for each reduction, the body of a function its results, the
//! body of a stage nothing. As many values are carried as are given at first, of the same types.
//!
//! **Functions** have different names, as have kernels. Calls are of functions of the module,
//! with arguments and results of their types.
//!
//! **Kernels** have at least one stage. The space is described by parameters; a kernel names as many
//! indices as its space has. Sinks use values of the outermost block of their stage, or of the
//! stages before; they write parameters whose elements have the type of the values. Only over
//! segments is there a scope `segment`; a `reduce` has a result only with that scope. Each output
//! is filled by exactly one column of one `emit`.
//!
//! That indices are in bounds, that nothing is read before it is written, that there are no races
//! cannot be seen here: [`reference`](super::reference) finds out.

use super::print::{print_head, print_sink};
use super::{
    Block, Combine, Function, Inst, Kernel, Module, Scope, Sink, Space, Ty, Value, ValueTy,
};
use crate::violation::Violation;
use std::collections::HashSet;

mod op;

/// Checks that a module is well-formed; returns every violation.
pub fn verify(module: &Module) -> Result<(), Vec<Violation>> {
    let mut violations = Vec::new();
    let mut names = HashSet::new();
    for function in &module.functions {
        let within = format!("function `{}`", function.name);
        let mut checker = Checker::new(module, &function.types, within, &mut violations);
        if !names.insert(&function.name) {
            checker.wrong("another function has this name");
        }
        checker.function(function);
    }
    names.clear();
    for kernel in &module.kernels {
        let within = format!("kernel `{}`", kernel.name);
        let mut checker = Checker::new(module, &kernel.types, within, &mut violations);
        if !names.insert(&kernel.name) {
            checker.wrong("another kernel has this name");
        }
        checker.kernel(kernel);
    }
    if violations.is_empty() { Ok(()) } else { Err(violations) }
}

const INDEX: ValueTy = ValueTy::Scalar(Ty::I64);
const BOOL: ValueTy = ValueTy::Scalar(Ty::Bool);

/// Returns true if a reduction operator is defined on a type.
fn combines(combine: Combine, ty: Ty) -> bool {
    match combine {
        Combine::Add | Combine::Mul => ty.is_int() || ty.is_float(),
        Combine::Min | Combine::Max => ty.is_int() || ty.is_float() || ty == Ty::U8,
        Combine::And | Combine::Or | Combine::Xor => ty.is_int() || ty == Ty::Bool,
    }
}

/// The scope of a value at the instruction under verification.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Undefined,
    Visible,
    /// Defined, but in a block that has ended.
    Gone,
}

/// Checks one function or kernel.
struct Checker<'a> {
    module: &'a Module,
    types: &'a [ValueTy],
    within: String,
    states: Vec<State>,
    /// The visible values, in the order of definition.
    visible: Vec<Value>,
    violations: &'a mut Vec<Violation>,
}

impl<'a> Checker<'a> {
    fn new(
        module: &'a Module,
        types: &'a [ValueTy],
        within: String,
        violations: &'a mut Vec<Violation>,
    ) -> Checker<'a> {
        let states = vec![State::Undefined; types.len()];
        Checker { module, types, within, states, visible: Vec::new(), violations }
    }

    fn wrong(&mut self, message: impl Into<String>) {
        self.violations.push(Violation::within(self.within.clone(), message));
    }

    /// Says what is wrong about an instruction or sink whose text is made only then.
    fn checking(
        &mut self,
        text: impl Fn(&Module, &[ValueTy]) -> String,
        check: impl FnOnce(&mut Self),
    ) {
        let before = self.violations.len();
        check(self);
        if self.violations.len() > before {
            let text = text(self.module, self.types);
            for violation in &mut self.violations[before..] {
                // What is in blocks within has its own text already.
                violation.at.get_or_insert_with(|| text.clone());
            }
        }
    }

    fn function(&mut self, function: &Function) {
        for param in &function.params {
            self.define(*param);
            self.no_mark(*param, "a parameter");
        }
        if function.results.contains(&ValueTy::Mark) {
            self.wrong("a mark is not a result");
        }
        self.insts(&function.body);
        self.yields(&function.body, &function.results);
    }

    fn kernel(&mut self, kernel: &Kernel) {
        for param in &kernel.params {
            self.define(*param);
            self.no_mark(*param, "a parameter");
        }
        let (count, offsets) = match &kernel.space {
            Space::Flat { count } => (*count, None),
            Space::Regular { segments, length } => {
                self.param(kernel, *length, INDEX);
                (*segments, None)
            }
            Space::Segmented { segments, offsets } => (*segments, Some(*offsets)),
        };
        self.param(kernel, count, INDEX);
        if let Some(offsets) = offsets {
            self.param(kernel, offsets, ValueTy::Array(Ty::I64));
        }
        if kernel.indices.len() != kernel.space.rank() {
            self.wrong(format!("a point of this space has {} indices", kernel.space.rank()));
        }
        for index in &kernel.indices {
            self.define(*index);
            self.has(*index, INDEX);
        }
        if kernel.stages.is_empty() {
            self.wrong("there is no stage");
        }
        let mut filled = vec![0; kernel.outputs.len()];
        for stage in &kernel.stages {
            self.insts(&stage.body);
            self.yields(&stage.body, &[]);
            for sink in &stage.sinks {
                let text = |module: &Module, types: &[ValueTy]| print_sink(module, types, sink);
                self.checking(text, |this| this.sink(kernel, sink, &mut filled));
            }
            // The results of all sinks are there after the last of them.
            for sink in &stage.sinks {
                match sink {
                    Sink::Reduce { result: Some(result), .. } | Sink::Scan { result, .. } => {
                        self.define(*result);
                    }
                    Sink::Reduce { result: None, .. }
                    | Sink::Pack { .. }
                    | Sink::Scatter { .. }
                    | Sink::Histogram { .. }
                    | Sink::Emit { .. } => {}
                }
            }
            for value in &self.visible {
                if self.types[value.0 as usize] == ValueTy::Mark {
                    self.states[value.0 as usize] = State::Gone;
                }
            }
        }
        for (output, times) in filled.into_iter().enumerate() {
            if times != 1 {
                self.wrong(format!("output #{output} is filled by {times} columns, not by one"));
            }
        }
    }

    fn sink(&mut self, kernel: &Kernel, sink: &Sink, filled: &mut [usize]) {
        let segmented = kernel.space.rank() > 1;
        let scoped = |this: &mut Self, scope: Scope| {
            if scope == Scope::Segment && !segmented {
                this.wrong("the space has no segments");
            }
        };
        match sink {
            Sink::Reduce { scope, combine, value, out, result } => {
                scoped(self, *scope);
                let Some(ty) = self.combined(*combine, *value) else { return };
                if let Some(out) = out {
                    self.param(kernel, *out, ValueTy::Array(ty));
                }
                if let Some(result) = result {
                    self.is(*result, ValueTy::Scalar(ty));
                    if *scope != Scope::Segment {
                        self.wrong("only over segments is there a result");
                    }
                }
            }
            Sink::Scan { scope, combine, value, result, total } => {
                scoped(self, *scope);
                let Some(ty) = self.combined(*combine, *value) else { return };
                self.is(*result, ValueTy::Scalar(ty));
                if let Some(total) = total {
                    self.param(kernel, *total, ValueTy::Array(ty));
                }
            }
            Sink::Pack { keep, columns, count, scope } => {
                scoped(self, *scope);
                self.has(*keep, BOOL);
                for (value, array) in columns {
                    if let Some(ty) = self.scalar(*value) {
                        self.param(kernel, *array, ValueTy::Array(ty));
                    }
                }
                self.param(kernel, *count, ValueTy::Array(Ty::I64));
            }
            Sink::Scatter { array, index, value, when } => {
                self.has(*index, INDEX);
                if let Some(ty) = self.scalar(*value) {
                    self.param(kernel, *array, ValueTy::Array(ty));
                }
                if let Some(when) = when {
                    self.has(*when, BOOL);
                }
            }
            Sink::Histogram { array, combine, index, value, length, when } => {
                self.has(*index, INDEX);
                let combined = match length {
                    Some(length) => {
                        self.has(*length, INDEX);
                        let ty = self.array(*value);
                        ty.and_then(|ty| self.combining(*combine, ty))
                    }
                    None => self.combined(*combine, *value),
                };
                if let Some(ty) = combined {
                    self.param(kernel, *array, ValueTy::Array(ty));
                }
                if let Some(when) = when {
                    self.has(*when, BOOL);
                }
            }
            Sink::Emit { columns, length, lengths } => {
                self.has(*length, INDEX);
                self.param(kernel, *lengths, ValueTy::Array(Ty::I64));
                for (array, output) in columns {
                    match kernel.outputs.get(output.0 as usize) {
                        Some(ty) => {
                            self.has(*array, ValueTy::Array(*ty));
                            filled[output.0 as usize] += 1;
                        }
                        None => self.wrong(format!("there is no output #{}", output.0)),
                    }
                }
            }
        }
    }

    /// A block in which values are defined that are gone after it.
    fn block(&mut self, block: &Block, yields: &[ValueTy]) {
        crate::stack::with_stack(|| {
            let outer = self.visible.len();
            self.insts(block);
            self.yields(block, yields);
            self.leave(outer);
        });
    }

    /// Lets go of the values defined since there were so many.
    fn leave(&mut self, outer: usize) {
        for value in self.visible.drain(outer..) {
            self.states[value.0 as usize] = State::Gone;
        }
    }

    fn insts(&mut self, block: &Block) {
        for inst in &block.insts {
            let text = |module: &Module, types: &[ValueTy]| print_head(module, types, inst);
            self.checking(text, |this| this.inst(inst));
        }
    }

    fn inst(&mut self, inst: &Inst) {
        let results = self.op(inst);
        for value in &inst.results {
            self.define(*value);
        }
        let Some(results) = results else { return };
        if inst.results.len() != results.len() {
            self.wrong(format!("{} results, not {}", results.len(), inst.results.len()));
            return;
        }
        for (value, ty) in inst.results.iter().zip(results) {
            self.is(*value, ty);
        }
    }

    fn yields(&mut self, block: &Block, types: &[ValueTy]) {
        if block.yields.len() != types.len() {
            let (is, wanted) = (block.yields.len(), types.len());
            self.wrong(format!("a block yields {is} values, not {wanted}"));
            return;
        }
        for (value, ty) in block.yields.iter().zip(types) {
            self.has(*value, *ty);
            self.no_mark(*value, "yielded");
        }
    }

    /// From here on a value is visible.
    fn define(&mut self, value: Value) {
        match self.states.get(value.0 as usize) {
            None => self.wrong(format!("{value} is not in the table of types")),
            Some(State::Visible | State::Gone) => {
                self.wrong(format!("{value} is defined a second time"));
            }
            Some(State::Undefined) => {
                self.states[value.0 as usize] = State::Visible;
                self.visible.push(value);
            }
        }
    }

    /// The type of a value that is used here.
    fn used(&mut self, value: Value) -> Option<ValueTy> {
        let problem = match self.states.get(value.0 as usize) {
            None => "is not in the table of types",
            Some(State::Undefined) => "is not defined here",
            Some(State::Gone) => "is not visible here",
            Some(State::Visible) => return Some(self.types[value.0 as usize]),
        };
        self.wrong(format!("{value} {problem}"));
        None
    }

    /// A value that is used here, of this type.
    fn has(&mut self, value: Value, ty: ValueTy) {
        if self.used(value).is_some() {
            self.is(value, ty);
        }
    }

    /// A value, visible or not, has this type.
    fn is(&mut self, value: Value, ty: ValueTy) {
        match self.types.get(value.0 as usize) {
            Some(is) if *is != ty => self.wrong(format!("{value} is {is}, not {ty}")),
            // That it is not in the table is said where it is defined.
            Some(_) | None => {}
        }
    }

    /// The type of a scalar that is used here.
    fn scalar(&mut self, value: Value) -> Option<Ty> {
        match self.used(value)? {
            ValueTy::Scalar(ty) => Some(ty),
            other => {
                self.wrong(format!("{value} is {other}, not a scalar"));
                None
            }
        }
    }

    /// The type of the elements of an array that is used here.
    fn array(&mut self, value: Value) -> Option<Ty> {
        match self.used(value)? {
            ValueTy::Array(ty) => Some(ty),
            other => {
                self.wrong(format!("{value} is {other}, not an array"));
                None
            }
        }
    }

    /// The type of a scalar that is combined here.
    fn combined(&mut self, combine: Combine, value: Value) -> Option<Ty> {
        let ty = self.scalar(value)?;
        self.combining(combine, ty)
    }

    /// A type whose values are combined here.
    fn combining(&mut self, combine: Combine, ty: Ty) -> Option<Ty> {
        if combines(combine, ty) {
            return Some(ty);
        }
        self.wrong(format!("`{}` does not combine {ty}", combine.mnemonic()));
        None
    }

    /// A parameter of this type.
    fn param(&mut self, kernel: &Kernel, value: Value, ty: ValueTy) {
        if kernel.params.contains(&value) {
            self.is(value, ty);
        } else {
            self.wrong(format!("{value} is not a parameter"));
        }
    }

    fn no_mark(&mut self, value: Value, what: &str) {
        if self.types.get(value.0 as usize) == Some(&ValueTy::Mark) {
            self.wrong(format!("a mark is not {what}"));
        }
    }
}

#[cfg(test)]
mod tests;
