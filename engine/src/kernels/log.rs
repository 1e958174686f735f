//! Launches whose failures are not known yet, and the places in the program that failures belong to.
//!
//! A runtime may execute a launch long after it was enqueued, and names only its tag in a failure.

use super::cache::CachedKernel;
use crate::frame::RunError;
use crate::trace::CallTrace;
use crate::unsupported::Unsupported;
use nesl_core::interp::Failure as ProgramFailure;
use nesl_core::ir::Site;
use nesl_core::lower::FaultSite;
use nesl_runtime::bug::OrBug;
use nesl_runtime::runtime::Failure;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The launches since the runtime last said that nothing had failed.
#[derive(Default)]
pub(super) struct LaunchLog {
    launches: RefCell<FxHashMap<u64, Launched>>,
    /// The number of launches so far, which is the tag of the last one.
    count: Cell<u64>,
}

struct Launched {
    kernel: Rc<CachedKernel>,
    trace: CallTrace,
    /// The kernel is part of a library function.
    library: bool,
}

impl LaunchLog {
    /// Records a launch, and returns its tag.
    pub(super) fn record(
        &self,
        kernel: &Rc<CachedKernel>,
        trace: &CallTrace,
        library: bool,
    ) -> u64 {
        let tag = self.count.get() + 1;
        self.count.set(tag);
        let launched = Launched { kernel: kernel.clone(), trace: trace.clone(), library };
        self.launches.borrow_mut().insert(tag, launched);
        tag
    }

    /// Returns the number of launches that may still fail.
    pub(super) fn len(&self) -> usize {
        self.launches.borrow().len()
    }

    /// Forgets all launches: the runtime has executed them, and none failed.
    pub(super) fn clear(&self) {
        self.launches.borrow_mut().clear();
    }

    /// Returns the error for a failure that the runtime reported under these calls.
    pub(super) fn locate_failure(&self, failure: Failure, trace: &CallTrace) -> RunError {
        let (tag, site, detail, text) = match failure {
            Failure::Machine(fault) => {
                return RunError::Failed(ProgramFailure { fault, trace: trace.sites() });
            }
            Failure::Unsupported(reason) => return Unsupported::Runtime(reason).into(),
            Failure::Program { tag, site, detail, text, .. } => (tag, site, detail, text),
        };
        let launches = self.launches.borrow();
        let Launched { kernel, trace, library } =
            launches.get(&tag).or_bug("a failed launch was recorded and has not been checked yet");
        let sites = &kernel.code.fault_sites;
        let mut failure = locate_failure(sites, site.0, &detail, text.as_deref());
        for (_, in_library) in &mut failure.trace {
            *in_library |= *library;
        }
        failure.trace.extend(trace.sites());
        RunError::Failed(failure)
    }
}

/// Returns the failure of a check of a module, by the module's fault sites: its fault, and its
/// place in the function with the call that left the user's program if it is in the library.
pub(crate) fn locate_failure(
    sites: &[FaultSite],
    check: u32,
    detail: &[i64],
    text: Option<&[u8]>,
) -> ProgramFailure {
    let cause = &sites[check as usize];
    let mut trace: Vec<(Site, bool)> = vec![(cause.site, cause.library)];
    if cause.library
        && let Some(origin) = detail.first()
        && let Some(origin) = sites.get(*origin as usize)
    {
        trace.push((origin.site, false));
    }
    ProgramFailure { fault: cause.fault(detail, text), trace }
}
