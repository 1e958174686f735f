//! Speculative compilation: kernels lowered before a run, and announced to the runtime.
//!
//! A kernel's code depends on facts that nearly always follow from the program: which index spaces
//! have a single element, and which sequences are contiguous. Only the path of a run through
//! branches depends on data. So the program is interpreted abstractly once ([`walk`]); this module
//! guesses the versions of multi-versioned values, lowers kernels into the cache of the run, and
//! limits their number. A runtime with an idle thread compiles the announced kernels while the
//! program begins.
//!
//! A wrong guess costs time only: a run looks its kernels up by what it knows then.

use super::cache::{KernelCache, KernelKey};
use crate::frame::FlatProgram;
use nesl_core::pipeline::launches::{Launch, StoredDescriptors, VersionChoice, Visitor, walk};
use nesl_core::strategy::{Strategy, Thresholds, Version, is_map, is_one_kernel};
use nesl_runtime::runtime::Runtime;
use std::ops::ControlFlow;

/// Announces the kernels that a program will probably launch, if the runtime compiles in the
/// background and the program was never run.
pub(crate) fn prefetch(
    runtime: &dyn Runtime,
    limits: &Thresholds,
    program: &FlatProgram,
    cache: &KernelCache,
    strategy: Strategy,
) {
    let left = limits.max_prefetched_kernels;
    if !runtime.caps().prefetches || !cache.is_empty() || left == 0 {
        return;
    }
    let mut prefetcher = Prefetcher { runtime, limits, program, cache, strategy, left };
    walk(&program.program, &|id| program.homes(id), &mut prefetcher);
}

/// Lowers and announces kernels.
struct Prefetcher<'p> {
    runtime: &'p dyn Runtime,
    limits: &'p Thresholds,
    program: &'p FlatProgram,
    cache: &'p KernelCache,
    strategy: Strategy,
    /// The number of kernels that may still be lowered.
    left: usize,
}

impl Visitor for Prefetcher<'_> {
    fn launch(&mut self, launch: Launch<'_>) -> ControlFlow<(), Option<StoredDescriptors>> {
        let Launch { function, kernel, origin, variant, .. } = launch;
        let key = KernelKey::Program(origin);
        // A kernel without kir makes one thread run the program: nothing more is launched.
        let Ok(lowered) = self.cache.kernel(self.program, function, key, kernel, variant) else {
            return ControlFlow::Break(());
        };
        lowered.prefetch(self.runtime);
        self.left -= 1;
        match self.left {
            0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(Some(StoredDescriptors::of(&lowered.code))),
        }
    }

    /// Returns the versions that will probably run: on the host's own path the flattened one, and at
    /// many elements the sequential one. Divide and conquer begins with few elements and ends with
    /// many.
    fn versions(&self, choice: &VersionChoice<'_>) -> &'static [Version] {
        const FLATTENED: &[Version] = &[Version::Flattened];
        const SEQUENTIAL: &[Version] = &[Version::Sequential];
        match self.strategy {
            Strategy::Always(Version::Sequential) => return SEQUENTIAL,
            Strategy::Always(Version::Flattened) => return FLATTENED,
            Strategy::Auto => {}
        }
        if choice.single {
            // A recursion on the host's own path is finished by one thread in the end.
            return match choice.ends_with_recursion {
                true => &[Version::Flattened, Version::Sequential],
                false => FLATTENED,
            };
        }
        match choice.recursive {
            _ if is_map(choice.flattened, self.limits) || choice.inside_flattened => FLATTENED,
            _ if self.limits.max_elements_of_small_work_item > 0
                && is_one_kernel(choice.flattened) =>
            {
                FLATTENED
            }
            true if choice.single_call => FLATTENED,
            true => &[Version::Sequential, Version::Flattened],
            false => SEQUENTIAL,
        }
    }

    fn hands_loops_back(&self) -> bool {
        self.strategy == Strategy::Auto
    }
}
