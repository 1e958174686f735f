//! The lowered kernels of a program, one for each variant.

use crate::frame::FlatProgram;
use crate::unsupported::Unsupported;
use nesl_core::flat::{Kernel, SpaceId};
use nesl_core::ir::{FunId, Var};
use nesl_core::lower::kernel::{LoweredKernel, Variant};
use nesl_core::pipeline;
use nesl_core::pipeline::launches::{Origin, is_renaming};
use nesl_core::strategy::{ElementWork, element_work, is_light};
use nesl_runtime::kir::Literal;
use nesl_runtime::runtime::{Failure, Loaded, Runtime};
use rustc_hash::FxHashMap;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The identity of a kernel in a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum KernelKey {
    /// A kernel that follows from the program.
    Program(Origin),
    /// A variable, broadcast to each element of an index space.
    Broadcast(Var, SpaceId),
    /// A constant for each element of an index space.
    Constant(SpaceId, Literal),
    /// The length of a sequence for each element of an index space.
    Length(Var, SpaceId),
}

/// A kernel lowered for a variant, loaded when it is first launched.
pub(crate) struct CachedKernel {
    pub(super) code: LoweredKernel,
    /// The work items that each element counts as.
    pub(super) element_work: ElementWork,
    /// True if each element takes a few cheap operations.
    pub(super) is_light: bool,
    /// The loaded module; `None` if there is nothing to execute, because all results are arguments.
    module: Option<OnceCell<Loaded>>,
}

impl CachedKernel {
    /// Returns the module, compiled by now; `None` if there is nothing to execute.
    pub(super) fn module(&self, runtime: &dyn Runtime) -> Result<Option<&Loaded>, Failure> {
        let Some(module) = &self.module else { return Ok(None) };
        if let Some(loaded) = module.get() {
            return Ok(Some(loaded));
        }
        let loaded = runtime.load(&self.code.module)?;
        Ok(Some(module.get_or_init(|| loaded)))
    }

    /// Announces to a runtime that the kernel will probably be launched.
    pub(super) fn prefetch(&self, runtime: &dyn Runtime) {
        if self.module.as_ref().is_some_and(|module| module.get().is_none()) {
            runtime.prefetch(&self.code.module);
        }
    }
}

type Lowered = Result<Rc<CachedKernel>, Unsupported>;

/// The lowered kernels of a program, for one precision and seed.
pub(crate) struct KernelCache {
    options: pipeline::Options,
    kernels: RefCell<FxHashMap<(FunId, KernelKey, Variant), Lowered>>,
    /// The time spent on lowering since the last call of `take_lowering_time`.
    lowering: Cell<Duration>,
}

impl KernelCache {
    pub(crate) fn new(options: pipeline::Options) -> KernelCache {
        let (kernels, lowering) = Default::default();
        KernelCache { options, kernels, lowering }
    }

    /// Returns true before the first kernel was lowered.
    pub(super) fn is_empty(&self) -> bool {
        self.kernels.borrow().is_empty()
    }

    /// Returns the time spent on lowering since the last call of this function.
    pub(crate) fn take_lowering_time(&self) -> Duration {
        self.lowering.take()
    }

    /// Returns a kernel lowered for a variant.
    pub(super) fn kernel(
        &self,
        program: &FlatProgram,
        id: FunId,
        key: KernelKey,
        kernel: &Kernel,
        variant: Variant,
    ) -> Lowered {
        let key = (id, key, variant);
        if let Some(known) = self.kernels.borrow().get(&key) {
            return known.clone();
        }
        let began = Instant::now();
        let lowered = self.lower(program, id, kernel, &key.2).map(Rc::new);
        self.lowering.set(self.lowering.get() + began.elapsed());
        self.kernels.borrow_mut().insert(key, lowered.clone());
        lowered
    }

    fn lower(
        &self,
        program: &FlatProgram,
        id: FunId,
        kernel: &Kernel,
        variant: &Variant,
    ) -> Result<CachedKernel, Unsupported> {
        let (function, homes) = (program.function(id), program.homes(id));
        let code =
            pipeline::kernel(&program.program, function, homes, kernel, variant, &self.options);
        let code = code.map_err(Unsupported::Lowering)?;
        let module = (!is_renaming(kernel, &code)).then(OnceCell::new);
        let element_work = element_work(kernel, &self.options.limits);
        let is_light = is_light(kernel, &self.options.limits);
        Ok(CachedKernel { code, element_work, is_light, module })
    }
}
