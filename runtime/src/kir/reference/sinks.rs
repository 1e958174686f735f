//! The execution of sinks: everything combines in the order of the space.

use super::machine::{Datum, Env, Machine, Outcome, Stop, array_of, bool_of, i64_of, scalar_of};
use super::memory::{Accessor, Array};
use super::scalar;
use super::work_item::WorkItem;
use crate::bug;
use crate::bug::OrBug;
use crate::kir::print::print_sink;
use crate::kir::{Kernel, Literal, Scope, Sink, Value};

/// The state of the sinks of a stage.
pub(super) struct Gathering<'m> {
    kernel: &'m Kernel,
    stage: usize,
    /// The sum so far of each sink that is a reduction or scan.
    sums: Vec<Option<Literal>>,
    /// The numbers of elements packed by each sink, in all and in this segment.
    packed: Vec<(i64, i64)>,
}

impl<'m> Gathering<'m> {
    pub fn new(kernel: &'m Kernel, stage: usize) -> Gathering<'m> {
        let count = kernel.stages[stage].sinks.len();
        let mut gathering =
            Gathering { kernel, stage, sums: vec![None; count], packed: vec![(0, 0); count] };
        for sink in 0..count {
            gathering.reset(sink);
        }
        gathering
    }

    fn sinks(&self) -> &'m [Sink] {
        &self.kernel.stages[self.stage].sinks
    }

    /// Sets the state of a sink to the neutral element.
    fn reset(&mut self, sink: usize) {
        self.sums[sink] = match &self.sinks()[sink] {
            Sink::Reduce { combine, value, .. } | Sink::Scan { combine, value, .. } => {
                Some(combine.neutral(self.kernel.scalar_ty(*value)))
            }
            Sink::Pack { .. }
            | Sink::Scatter { .. }
            | Sink::Histogram { .. }
            | Sink::Emit { .. } => None,
        };
        self.packed[sink].1 = 0;
    }

    /// Adds the values of a work item.
    pub fn work_item(
        &mut self,
        machine: &mut Machine<'m, '_>,
        env: &mut Env,
        item: WorkItem,
        outputs: &mut [Array],
    ) -> Outcome<()> {
        for (number, sink) in self.sinks().iter().enumerate() {
            machine.worked(1);
            let outcome = self.take(machine, env, item, outputs, number, sink);
            well_formed(outcome, || self.describe(machine, sink))?;
        }
        Ok(())
    }

    fn take(
        &mut self,
        machine: &mut Machine<'m, '_>,
        env: &mut Env,
        item: WorkItem,
        outputs: &mut [Array],
        number: usize,
        sink: &Sink,
    ) -> Outcome<()> {
        let get = |value: &Value| env[value.0 as usize];
        let memory = &mut machine.memory;
        let instance = memory.accessor;
        let writer = Accessor::Sink(self.stage, number);
        match sink {
            Sink::Reduce { combine, value, .. } => {
                let sum = self.sums[number].or_bug("a reduction or scan has a sum since its reset");
                let element = scalar_of(get(value));
                self.sums[number] = Some(scalar::combine(*combine, sum, element));
            }
            Sink::Scan { combine, value, result, .. } => {
                let sum = self.sums[number].or_bug("a reduction or scan has a sum since its reset");
                let element = scalar_of(get(value));
                self.sums[number] = Some(scalar::combine(*combine, sum, element));
                env[result.0 as usize] = Datum::Scalar(sum);
            }
            Sink::Pack { keep, columns, .. } => {
                if !bool_of(get(keep)) {
                    return Ok(());
                }
                memory.accessor = writer;
                for (value, array) in columns {
                    let place = self.packed[number].0;
                    memory.store(array_of(get(array)), place, scalar_of(get(value)))?;
                }
                self.packed[number].0 += 1;
                self.packed[number].1 += 1;
            }
            Sink::Scatter { array, index, value, when } => {
                if when.is_some_and(|when| !bool_of(get(&when))) {
                    return Ok(());
                }
                memory.accessor = writer;
                memory.store(array_of(get(array)), i64_of(get(index)), scalar_of(get(value)))?;
            }
            Sink::Histogram { array, combine, index, value, length, when } => {
                if when.is_some_and(|when| !bool_of(get(&when))) {
                    return Ok(());
                }
                let row = match length {
                    Some(length) => {
                        let length = i64_of(get(length));
                        machine.work += length.max(0) as u64;
                        if length < 0 {
                            return Err(Stop::IllFormed(format!("a row of length {length}")));
                        }
                        memory.read(array_of(get(value)), length)?
                    }
                    None => vec![scalar_of(get(value))],
                };
                memory.accessor = writer;
                let (array, index) = (array_of(get(array)), i64_of(get(index)));
                for (place, element) in (index..).zip(row) {
                    let sum = memory.load(array, place)?;
                    memory.store(array, place, scalar::combine(*combine, sum, element))?;
                }
            }
            Sink::Emit { columns, length, lengths } => {
                let length = i64_of(get(length));
                machine.work += length.max(0) as u64 * columns.len() as u64;
                if length < 0 {
                    return Err(Stop::IllFormed(format!("a part of length {length}")));
                }
                for (array, output) in columns {
                    let part = memory.read(array_of(get(array)), length)?;
                    let output = &mut outputs[output.0 as usize];
                    memory.gauge.take((part.len() * output.ty.size()) as u64)?;
                    output.elements.extend(part.into_iter().map(Some));
                }
                memory.accessor = writer;
                memory.store(array_of(get(lengths)), item.index, Literal::I64(length))?;
            }
        }
        machine.memory.accessor = instance;
        Ok(())
    }

    /// Ends a segment; `members` are its work items, if there are later stages.
    pub fn segment(
        &mut self,
        machine: &mut Machine<'m, '_>,
        env: &Env,
        segment: i64,
        members: &mut [Env],
    ) {
        for (number, sink) in self.sinks().iter().enumerate() {
            let scope = scope(sink);
            if scope != Some(Scope::Segment) {
                continue;
            }
            self.total(machine, env, number, sink, segment);
            if let Sink::Reduce { result: Some(result), .. } = sink {
                let sum = self.sums[number].or_bug("a reduction or scan has a sum since its reset");
                for member in &mut *members {
                    member[result.0 as usize] = Datum::Scalar(sum);
                }
            }
            self.reset(number);
        }
    }

    /// The stage has ended.
    pub fn end(&mut self, machine: &mut Machine<'m, '_>, env: &Env) {
        for (number, sink) in self.sinks().iter().enumerate() {
            if scope(sink) == Some(Scope::All) {
                self.total(machine, env, number, sink, 0);
            }
        }
    }

    /// Writes the total of a sink to a place of its array.
    fn total(
        &mut self,
        machine: &mut Machine<'m, '_>,
        env: &Env,
        number: usize,
        sink: &Sink,
        place: i64,
    ) {
        let (array, total) = match sink {
            Sink::Reduce { out: Some(array), .. } | Sink::Scan { total: Some(array), .. } => {
                (array, self.sums[number].or_bug("a reduction or scan has a sum since its reset"))
            }
            Sink::Pack { count, scope: Scope::All, .. } => {
                (count, Literal::I64(self.packed[number].0))
            }
            Sink::Pack { count, scope: Scope::Segment, .. } => {
                (count, Literal::I64(self.packed[number].1))
            }
            Sink::Reduce { out: None, .. }
            | Sink::Scan { total: None, .. }
            | Sink::Scatter { .. }
            | Sink::Histogram { .. }
            | Sink::Emit { .. } => return,
        };
        machine.memory.accessor = Accessor::Sink(self.stage, number);
        let array = array_of(env[array.0 as usize]);
        if let Err(why) = machine.memory.store(array, place, total) {
            bug!("ill-formed kir: {}: {why}", self.describe(machine, sink));
        }
    }

    fn describe(&self, machine: &Machine<'m, '_>, sink: &Sink) -> String {
        let text = print_sink(machine.module, &self.kernel.types, sink);
        format!("kernel `{}`: `{text}`", self.kernel.name)
    }
}

/// Over what a sink combines, if it does.
/// Returns an outcome of a sink, unless it breaks an invariant of kir.
fn well_formed<T>(outcome: Outcome<T>, describe: impl FnOnce() -> String) -> Outcome<T> {
    match outcome {
        Err(Stop::IllFormed(why)) => bug!("ill-formed kir: {}: {why}", describe()),
        other => other,
    }
}

fn scope(sink: &Sink) -> Option<Scope> {
    match sink {
        Sink::Reduce { scope, .. } | Sink::Scan { scope, .. } | Sink::Pack { scope, .. } => {
            Some(*scope)
        }
        Sink::Scatter { .. } | Sink::Histogram { .. } | Sink::Emit { .. } => None,
    }
}
