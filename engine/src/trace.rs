//! The calls under way, as a failure reports them.

use nesl_core::ir::Site;
use std::rc::Rc;

/// The number of calls that a failure reports at most.
const MAX_REPORTED_CALLS: usize = 64;

/// The number of calls of a trace, at most: those that no failure reports are forgotten together.
const MAX_KEPT_CALLS: usize = 8 * MAX_REPORTED_CALLS;

/// The calls under way, innermost first. Clones share the calls around.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallTrace(Option<Rc<Call>>);

#[derive(Debug)]
struct Call {
    site: Site,
    /// The call stands in the library.
    library: bool,
    around: CallTrace,
    /// The number of calls of the trace.
    depth: usize,
}

impl CallTrace {
    /// Returns the trace inside a call from `site`, which is in the library or not.
    ///
    /// Calls that no failure will report are forgotten, so that a loop of tail calls can go on forever.
    pub(crate) fn under(&self, site: Site, library: bool) -> CallTrace {
        let depth = self.0.as_ref().map_or(0, |call| call.depth);
        let around = if depth < MAX_KEPT_CALLS { self.clone() } else { self.innermost() };
        let depth = around.0.as_ref().map_or(0, |call| call.depth) + 1;
        CallTrace(Some(Rc::new(Call { site, library, around, depth })))
    }

    /// Returns the trace of the calls that a failure reports, without those around them.
    fn innermost(&self) -> CallTrace {
        let mut trace = CallTrace::default();
        for (site, library) in self.sites().into_iter().rev() {
            trace = trace.under(site, library);
        }
        trace
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

#[cfg(test)]
mod tests {
    use super::{CallTrace, MAX_KEPT_CALLS, MAX_REPORTED_CALLS};
    use nesl_core::base::{ItemId, Span};
    use nesl_core::ir::Site;

    #[test]
    fn a_trace_keeps_the_innermost_calls_only() {
        let mut trace = CallTrace::default();
        for turn in 0..3 * MAX_KEPT_CALLS {
            let site = Site { item: ItemId(0), span: Span::default() };
            trace = trace.under(site, turn % 2 == 0);
            let depth = trace.0.as_ref().map_or(0, |call| call.depth);
            assert!(depth <= MAX_KEPT_CALLS);
            let sites = trace.sites();
            assert_eq!(sites.len(), MAX_REPORTED_CALLS.min(turn + 1));
            let of_library = sites.iter().map(|(_, library)| *library);
            assert!(of_library.eq((0..sites.len()).map(|back| (turn - back) % 2 == 0)));
        }
    }
}
