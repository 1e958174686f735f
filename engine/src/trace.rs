//! The calls under way, as a failure reports them.

use nesl_core::ir::Site;
use std::rc::Rc;

/// The number of calls that a failure reports at most.
const MAX_REPORTED_CALLS: usize = 64;

/// The calls under way, innermost first. Clones share the calls around.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallTrace(Option<Rc<Call>>);

#[derive(Debug)]
struct Call {
    site: Site,
    /// The call stands in the library.
    library: bool,
    around: CallTrace,
}

impl CallTrace {
    /// Returns the trace inside a call from `site`, which is in the library or not.
    pub(crate) fn under(&self, site: Site, library: bool) -> CallTrace {
        CallTrace(Some(Rc::new(Call { site, library, around: self.clone() })))
    }

    /// Returns the sites of the innermost calls, each with whether it is in the library.
    pub(crate) fn sites(&self) -> Vec<(Site, bool)> {
        let mut sites = Vec::new();
        let mut at = self;
        while let Some(call) = &at.0
            && sites.len() < MAX_REPORTED_CALLS
        {
            sites.push((call.site, call.library));
            at = &call.around;
        }
        sites
    }
}

impl Drop for CallTrace {
    /// Drops the calls in a loop: there may be more of them than fit on the stack.
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(call) = next {
            next = Rc::into_inner(call).and_then(|mut call| call.around.0.take());
        }
    }
}
