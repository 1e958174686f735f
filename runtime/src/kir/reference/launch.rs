//! Executes a kernel: stage after stage, one work item after the other in the order of the space.

use super::machine::{Datum, Env, Machine, Stop, array_of, i64_of};
use super::memory::{Accessor, Array};
use super::sinks::Gathering;
use super::work_item::WorkItem;
use crate::bug;
use crate::fault::Fault;
use crate::kir::{Kernel, Literal, Site, Space, Value};

/// The reason for which a launch stops before its end.
#[derive(Debug)]
pub(super) enum Halt {
    /// A check did not hold at a work item.
    Program { site: Site, work_item: u64, detail: Vec<i64>, text: Option<Vec<u8>> },
    /// A fault of the machine: no memory, interrupted, too deep.
    Machine(Fault),
}

/// Executes a kernel on an environment with its parameters; returns its outputs.
///
/// # Panics
/// If the kernel breaks an invariant of kir.
pub(super) fn execute<'m>(
    kernel: &'m Kernel,
    machine: &mut Machine<'m, '_>,
    env: Env,
) -> Result<Vec<Array>, Halt> {
    let mut outputs: Vec<Array> = Vec::new();
    for ty in &kernel.outputs {
        outputs.push(Array::new(*ty, 0).map_err(Halt::Machine)?);
    }
    let outcome = stages(kernel, machine, env, &mut outputs);
    if outcome.is_err() {
        machine.memory.gauge.give(outputs.iter().map(Array::bytes).sum());
    }
    outcome.map(|()| outputs)
}

fn stages<'m>(
    kernel: &'m Kernel,
    machine: &mut Machine<'m, '_>,
    env: Env,
    outputs: &mut [Array],
) -> Result<(), Halt> {
    let lengths = lengths(kernel, machine, &env).unwrap_or_else(|why| {
        bug!("ill-formed launch: kernel `{}`: its space: {why}", kernel.name)
    });
    // The values that each work item has defined so far, if there are stages yet to come.
    let mut envs: Vec<Env> = Vec::new();
    for (number, stage) in kernel.stages.iter().enumerate() {
        let last = number + 1 == kernel.stages.len();
        let mut sinks = Gathering::new(kernel, number);
        let mut index = 0;
        for (segment, length) in lengths.iter().enumerate() {
            for position in 0..*length {
                let item = WorkItem { segment: segment as i64, position, index };
                let at_item = |stop| halt(stop, index as u64);
                let mut here = match number {
                    0 => bindings(kernel, &env, item),
                    _ => std::mem::take(&mut envs[index as usize]),
                };
                machine.memory.begin(Accessor::WorkItem(index as u64));
                machine.worked(1);
                here =
                    machine.run(&kernel.name, &kernel.types, &stage.body, here).map_err(at_item)?;
                sinks.work_item(machine, &mut here, item, outputs).map_err(at_item)?;
                if !last && number == 0 {
                    envs.push(here);
                } else if !last {
                    envs[index as usize] = here;
                } else if number == 0 {
                    machine.memory.clear();
                }
                index += 1;
            }
            let first = (index - length) as usize;
            let members = if last { &mut [][..] } else { &mut envs[first..index as usize] };
            sinks.segment(machine, &env, segment as i64, members);
        }
        sinks.end(machine, &env);
    }
    Ok(())
}

fn halt(stop: Stop, work_item: u64) -> Halt {
    match stop {
        Stop::Failed { site, detail, text } => Halt::Program { site, work_item, detail, text },
        Stop::Machine(fault) => Halt::Machine(fault),
        Stop::IllFormed(why) => bug!("ill-formed kir: {why}"),
    }
}

/// The environment of a work item before the first stage: the parameters and its indices.
fn bindings(kernel: &Kernel, env: &Env, item: WorkItem) -> Env {
    let mut env = env.clone();
    let indices = match kernel.indices.len() {
        1 => &[item.index][..],
        _ => &[item.segment, item.position, item.index],
    };
    for (value, index) in kernel.indices.iter().zip(indices) {
        env[value.0 as usize] = Datum::Scalar(Literal::I64(*index));
    }
    env
}

/// The lengths of the segments; of a flat space, one.
fn lengths(kernel: &Kernel, machine: &mut Machine<'_, '_>, env: &Env) -> Result<Vec<i64>, String> {
    let number = |value: Value| match i64_of(env[value.0 as usize]) {
        number if number < 0 => Err(format!("{value} is {number}")),
        number => Ok(number),
    };
    match &kernel.space {
        Space::Flat { count } => Ok(vec![number(*count)?]),
        Space::Regular { segments, length } => {
            Ok(vec![number(*length)?; number(*segments)? as usize])
        }
        Space::Segmented { segments, offsets } => {
            let offsets = array_of(env[offsets.0 as usize]);
            let offsets = machine.memory.read(offsets, number(*segments)? + 1)?;
            let offsets: Vec<i64> =
                offsets.into_iter().map(|offset| i64_of(Datum::Scalar(offset))).collect();
            if offsets[0] != 0 || !offsets.is_sorted() {
                return Err(format!("the offsets {offsets:?} do not ascend from 0"));
            }
            Ok(offsets.windows(2).map(|pair| pair[1] - pair[0]).collect())
        }
    }
}
