//! Measurements of forms and of the session: time, launches, memory.
//!
//! Counts are the runtime's own, exact ones ([`Counters`]); of a form, the difference between
//! before and after.

use super::Session;
use crate::execute::Executor;
use crate::resident::ResidentValue;
use crate::shape::Extent;
use crate::unsupported::Unsupported;
use nesl_core::names::Resolution;
use nesl_runtime::runtime::{Counters, Refusal, Share};
use std::time::{Duration, Instant};

/// The cost of evaluating a form. All zero for one that only defines.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// The elapsed time with compilation, without showing the value, in seconds.
    pub seconds: f64,
    /// The part of `seconds` spent on compilation, from elaboration to machine code; modules that another thread
    /// compiled meanwhile do not count.
    pub compile_seconds: f64,
    /// True if the form ran on the session's runtime, false on the direct interpreter.
    pub on_runtime: bool,
    /// The number of launches.
    pub launches: u64,
    /// The number of modules compiled.
    pub modules: u64,
    /// The number of bytes transferred to and from the runtime.
    pub transferred: u64,
    /// The number of reads from the runtime.
    pub reads: u64,
    /// The number of writes to the runtime.
    pub writes: u64,
    /// The number of times that the host waited for launches.
    pub drains: u64,
    /// The size of the runtime's arrays afterwards, in bytes.
    pub bytes: u64,
    /// The largest size of the runtime's arrays since the session began, in bytes.
    pub peak_bytes: u64,
}

/// The counters of a session, and the places of its values.
#[derive(Clone, Debug)]
pub struct Stats {
    /// The runtime's name; none if programs run on the direct interpreter.
    pub runtime: Option<String>,
    /// The bytes that the memory of its device moves in a second, at most, if that is known.
    pub memory_bandwidth: Option<u64>,
    /// The runtime's counters since the session began.
    pub counters: Counters,
    /// The parts of the runtimes that share the work, if there are several.
    pub shares: Vec<Share>,
    /// The kernels that the first of them cannot execute, with reasons.
    pub refusals: Vec<Refusal>,
    /// The number of programs that one thread ran because they could not be flattened, by reason.
    pub unsupported: Vec<(Unsupported, u64)>,
    /// The top-level variables, by name.
    pub variables: Vec<Variable>,
}

/// A top-level variable and where its value is: on the host, on the runtime, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name of the variable.
    pub name: String,
    /// The type of its value as printed.
    pub ty: String,
    /// Bytes of its value on the host, if it is there.
    pub host_bytes: Option<u64>,
    /// Bytes of its arrays on the runtime, if they are there. Variables may share arrays: what
    /// they have in common counts for each.
    pub runtime_bytes: Option<u64>,
    /// True if the runtime has a device, and keeps these arrays in memory of the host.
    pub spilled: bool,
    /// The lengths of its sequences, the outermost first, as far as they are known without computing or
    /// reading anything; none for what is no sequence.
    pub shape: Vec<Extent>,
    /// True if it is not yet computed.
    pub deferred: bool,
    /// A later definition of the name is what new forms see; earlier ones still hold this.
    pub shadowed: bool,
}

/// Measures a form that runs.
pub(super) struct Meter {
    started: Instant,
    before: Counters,
}

impl Session {
    /// Returns the counters so far, and the places of all variables.
    pub fn stats(&self) -> Stats {
        let mut variables: Vec<Variable> = self
            .values
            .iter()
            .map(|((item, name), value)| Variable {
                name: name.to_string(),
                ty: self.type_of_name(*item, name),
                host_bytes: value.computed().and_then(ResidentValue::host_bytes),
                runtime_bytes: value.computed().and_then(ResidentValue::runtime_bytes),
                spilled: self.runtime().is_some_and(|runtime| {
                    value.computed().is_some_and(|resident| resident.is_spilled(runtime))
                }),
                shape: value.shape(),
                deferred: value.computed().is_none(),
                shadowed: !matches!(
                    self.last.and_then(|last| self.db.lookup(last, name)),
                    Some(Resolution::Item(seen, _)) if self.current(seen, name) == *item
                ),
            })
            .collect();
        variables.sort_by(|a, b| (&a.name, a.shadowed, &a.ty).cmp(&(&b.name, b.shadowed, &b.ty)));
        Stats {
            runtime: self.runtime().map(|runtime| runtime.caps().name.clone()),
            memory_bandwidth: self.runtime().and_then(|runtime| runtime.caps().memory_bandwidth),
            counters: self.counters(),
            shares: self.runtime().map(|runtime| runtime.shares()).unwrap_or_default(),
            refusals: self.runtime().map(|runtime| runtime.refusals()).unwrap_or_default(),
            unsupported: self.executor.as_ref().map(Executor::unsupported).unwrap_or_default(),
            variables,
        }
    }

    /// The runtime's counters; all zero without one.
    fn counters(&self) -> Counters {
        self.runtime().map(|runtime| runtime.counters()).unwrap_or_default()
    }

    pub(super) fn meter(&self) -> Meter {
        Meter { started: Instant::now(), before: self.counters() }
    }

    /// Returns the cost since a meter was made; `translating` is the time spent on compilation
    /// before the runtime's own part.
    pub(super) fn usage(&self, meter: &Meter, translating: Duration, on_runtime: bool) -> Usage {
        let (seconds, before, after) = (meter.started.elapsed(), meter.before, self.counters());
        let compiled = Duration::from_nanos(after.compile_ns - before.compile_ns);
        Usage {
            seconds: seconds.as_secs_f64(),
            compile_seconds: (translating + compiled).min(seconds).as_secs_f64(),
            on_runtime,
            launches: after.launches - before.launches,
            modules: after.modules - before.modules,
            transferred: after.transferred - before.transferred,
            reads: after.reads - before.reads,
            writes: after.writes - before.writes,
            drains: after.drains - before.drains,
            bytes: after.bytes,
            peak_bytes: after.peak_bytes,
        }
    }

    /// Returns the time spent on compilation so far, without the runtime's own part.
    pub(super) fn translating(&self) -> Duration {
        self.executor.as_ref().map(Executor::translating).unwrap_or_default()
    }
}
