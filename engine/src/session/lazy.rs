//! Definitions that are deferred until they are used.
//!
//! A definition of a sequence whose value is not shown is kept as the program that computes it. The
//! first form that only iterates over the sequence is linked with that program, so that fusion sees
//! both and the sequence is never stored. A form that needs all of it in memory, and the second form
//! that uses it, materialise it: no definition is computed more than twice.
//!
//! The result of a program does not depend on this: a definition is deferred only if it cannot fail, whatever its size, draws no
//! random numbers and has no effects. It captures the values that it uses, so that a later
//! definition of their names does not matter.

use super::{FileRange, Session, place};
use crate::resident::ResidentValue;
use crate::runner::FormError;
use crate::shape::Extent;
use nesl_core::base::{Diagnostic, ItemId, Name};
use nesl_core::ir::{Effects, Global, GlobalId, Op, Program, Ty};
use nesl_core::link::{self, Fact, LinkUnit, cannot_fail, link, only_iterates};
use nesl_core::pipeline::simplified;
use nesl_runtime::bug::OrBug;
use nesl_runtime::scalar::Precision;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

/// The number of elements of the longest sequence that a deferred program may make. A runtime has no
/// limit but its memory, which may run out later, too; this is the greatest length that is an int of
/// either precision.
const MAX_DEFERRED_LENGTH: u64 = i32::MAX as u64;

/// The value of a variable, computed or deferred.
#[derive(Clone)]
pub(super) enum Value {
    Computed(ResidentValue),
    Deferred(Rc<Deferred>),
}

/// A deferred definition.
pub(super) struct Deferred {
    item: ItemId,
    name: Name,
    /// The program that computes the value, simplified.
    program: Program,
    /// The values of its globals, until it is computed.
    captured: RefCell<Vec<Value>>,
    precision: Precision,
    fact: Fact,
    /// The number of operations of the program and of the deferred definitions that it captured.
    size: usize,
    /// True once a form was linked with the program.
    asked: Cell<bool>,
    value: OnceCell<ResidentValue>,
}

impl Value {
    /// Returns true if both are the same value, not only equal ones.
    pub(super) fn is_same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Computed(one), Value::Computed(other)) => one.is_same(other),
            (Value::Deferred(one), Value::Deferred(other)) => Rc::ptr_eq(one, other),
            (Value::Computed(_), Value::Deferred(_)) | (Value::Deferred(_), Value::Computed(_)) => {
                false
            }
        }
    }

    /// Returns the value if it was computed.
    pub(super) fn computed(&self) -> Option<&ResidentValue> {
        match self {
            Value::Computed(resident) => Some(resident),
            Value::Deferred(deferred) => deferred.value.get(),
        }
    }

    /// Returns the lengths that are known without computing or reading anything.
    pub(super) fn shape(&self) -> Vec<Extent> {
        match (self.computed(), self.fact()) {
            (Some(resident), _) => resident.shape(),
            (None, Fact::Length(length)) => vec![Extent::of_length(length)],
            (None, Fact::Int(_) | Fact::Nothing) => Vec::new(),
        }
    }

    fn fact(&self) -> Fact {
        match (self.computed(), self) {
            (Some(resident), _) => resident.fact(),
            (None, Value::Deferred(deferred)) => deferred.fact,
            (None, Value::Computed(_)) => Fact::Nothing,
        }
    }

    fn size(&self) -> usize {
        match self {
            Value::Deferred(deferred) if deferred.value.get().is_none() => deferred.size,
            Value::Deferred(_) | Value::Computed(_) => 0,
        }
    }
}

/// A program, and the deferred definitions that it is linked with.
#[derive(Default)]
struct Linking {
    /// The programs, each after those that it is linked with.
    programs: Vec<(Program, Vec<link::GlobalSource>)>,
    /// The deferred definitions among the programs, each with its index there.
    known: Vec<(Rc<Deferred>, usize)>,
    globals: Vec<Global>,
    values: Vec<ResidentValue>,
}

type Result<T> = std::result::Result<T, Vec<Diagnostic<FileRange>>>;

impl Session {
    /// Defers a definition if no program can observe that.
    pub(super) fn defer(
        &self,
        item: ItemId,
        name: &Name,
        program: &Program,
        values: &[Value],
    ) -> Option<Value> {
        let main = &program.functions[program.main.0 as usize];
        if !matches!(main.result, Ty::Sequence(_)) || Effects::of(program).in_function(program.main)
        {
            return None;
        }
        let program = simplified(program);
        let mut size: usize = values.iter().map(Value::size).sum();
        let mut loops = false;
        for function in &program.functions {
            function.body.for_each_op(&mut |op| {
                size += 1;
                loops |= matches!(op, Op::Nest(_));
            });
        }
        let known = |id: GlobalId| values[id.0 as usize].fact();
        let fact = cannot_fail(&program, &known, MAX_DEFERRED_LENGTH)?;
        let max_operations = self.executor.as_ref()?.limits.max_deferred_operations;
        (loops && size <= max_operations).then(|| {
            Value::Deferred(Rc::new(Deferred {
                item,
                name: name.clone(),
                program,
                captured: RefCell::new(values.to_vec()),
                precision: self.settings.precision,
                fact,
                size,
                asked: Cell::new(false),
                value: OnceCell::new(),
            }))
        })
    }

    /// Links a program with the deferred definitions that it uses, if there are any and `may` is
    /// true; returns the linked program, and the values of its globals.
    pub(super) fn with_deferred(
        &mut self,
        item: ItemId,
        program: &Program,
        values: &[Value],
        may: bool,
    ) -> Result<(Option<Program>, Vec<ResidentValue>)> {
        for value in values {
            if let Value::Deferred(deferred) = value
                && deferred.value.get().is_none()
                && !may
            {
                self.force(deferred, item)?;
            }
        }
        let computed = values.iter().map(|value| value.computed().cloned());
        if let Some(all) = computed.collect() {
            return Ok((None, all));
        }
        let mut linking = Linking::default();
        let at = self.settings.precision;
        self.add(&mut linking, item, program, &simplified(program), values, at)?;
        let units: Vec<LinkUnit<'_>> = linking
            .programs
            .iter()
            .map(|(program, sources)| LinkUnit { program, sources })
            .collect();
        Ok((Some(link(&units, linking.globals)), linking.values))
    }

    /// Adds a program behind those that it is linked with; `simple` is the program simplified.
    fn add(
        &mut self,
        linking: &mut Linking,
        item: ItemId,
        program: &Program,
        simple: &Program,
        values: &[Value],
        at: Precision,
    ) -> Result<usize> {
        let mut sources = Vec::new();
        for (number, value) in values.iter().enumerate() {
            let id = GlobalId(number as u32);
            if let Value::Deferred(deferred) = value
                && deferred.value.get().is_none()
            {
                let known = linking.known.iter().find(|(known, _)| Rc::ptr_eq(known, deferred));
                if let Some((_, unit)) = known {
                    sources.push(link::GlobalSource::Unit(*unit));
                    continue;
                }
                if !deferred.asked.get() && deferred.precision == at && only_iterates(simple, id) {
                    deferred.asked.set(true);
                    let captured = deferred.captured.borrow().clone();
                    let own = &deferred.program;
                    let unit = self.add(linking, item, own, own, &captured, at)?;
                    linking.known.push((deferred.clone(), unit));
                    sources.push(link::GlobalSource::Unit(unit));
                    continue;
                }
                self.force(deferred, item)?;
            }
            let resident = value.computed().or_bug("a value is computed or deferred").clone();
            sources.push(link::GlobalSource::Global(GlobalId(linking.values.len() as u32)));
            linking.globals.push(program.globals[number].clone());
            linking.values.push(resident);
        }
        linking.programs.push((program.clone(), sources));
        Ok(linking.programs.len() - 1)
    }

    /// Computes a deferred definition because a form uses it.
    fn force(&mut self, deferred: &Rc<Deferred>, asked_by: ItemId) -> Result<()> {
        let captured = deferred.captured.borrow().clone();
        let mut linking = Linking::default();
        let (program, at) = (&deferred.program, deferred.precision);
        self.add(&mut linking, asked_by, program, program, &captured, at)?;
        let units: Vec<LinkUnit<'_>> = linking
            .programs
            .iter()
            .map(|(program, sources)| LinkUnit { program, sources })
            .collect();
        let program = link(&units, linking.globals);
        let mut runner = self.runner();
        runner.options.precision = at;
        let done = runner.run(&program, &linking.values, 0);
        let resident = match done {
            Ok((resident, _)) => resident,
            Err(error) => {
                let item = deferred.item;
                let diagnostic = match error {
                    FormError::Program(failure) => self.failure(item, &failure),
                    FormError::Runtime(failure) => self.runtime_failure(item, failure),
                };
                let asked_by = place(self.db.whole(asked_by));
                let words = format!("`{}` is computed for this", deferred.name);
                return Err(vec![diagnostic.label(asked_by, words)]);
            }
        };
        let key = (deferred.item, deferred.name.clone());
        if let Some(Value::Deferred(known)) = self.values.get(&key)
            && Rc::ptr_eq(known, deferred)
        {
            self.values.insert(key, Value::Computed(resident.clone()));
        }
        let _ = deferred.value.set(resident);
        deferred.captured.borrow_mut().clear();
        Ok(())
    }

    /// Computes all deferred definitions, before a change of runtime.
    pub(super) fn force_all(&mut self) {
        let all: Vec<Value> = self.values.values().cloned().collect();
        for value in all {
            if let Value::Deferred(deferred) = value {
                // A value that cannot be computed any more is lost with its runtime.
                let _ = self.force(&deferred, deferred.item);
            }
        }
    }
}
