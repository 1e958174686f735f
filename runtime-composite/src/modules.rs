//! The side of each module, and the parameters that its kernels write.

use crate::sides::Sides;
use crate::twin::Side;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::Module;
use nesl_runtime::kir::written::written_params;
use nesl_runtime::runtime::{Failure, Loaded, Reason};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of modules from which on those not in use are dropped.
const MAX_UNUSED_MODULES: usize = 256;

/// A module, loaded on one side.
pub(crate) struct Placed {
    /// The side that executes it.
    pub(crate) side: Side,
    /// The module as it was written.
    source: Arc<Module>,
    /// The module as its side loaded it, and the number of that side's opening ([`Sides::generation`]);
    /// none while the device is closed, and after that until the next launch.
    loaded: Mutex<Option<(u64, Loaded)>>,
    /// The reason for which the device does not execute it.
    pub(crate) refused: Option<Reason>,
    /// By kernel: its name.
    pub(crate) names: Vec<String>,
    /// By kernel and parameter: true if a launch may write elements of the array.
    pub(crate) written: Vec<Vec<bool>>,
    /// By kernel: true if it makes arrays whose lengths the caller asks for.
    pub(crate) makes_outputs: Vec<bool>,
}

/// The modules that are loaded.
#[derive(Default)]
pub(crate) struct Modules(RefCell<FxHashMap<Arc<Module>, Loaded>>);

impl Placed {
    /// Returns the module as its side loaded it, which does so again if the device was closed since.
    pub(crate) fn loaded(&self, sides: &Sides) -> Result<Loaded, Failure> {
        let runtime = sides.of(self.side)?;
        let mut loaded = self.lock();
        match &*loaded {
            Some((generation, module))
                if self.side == Side::Host || *generation == sides.generation() =>
            {
                Ok(module.clone())
            }
            _ => {
                let module = runtime.load(&self.source)?;
                *loaded = Some((sides.generation(), module.clone()));
                Ok(module)
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<(u64, Loaded)>> {
        // Whatever fails while the lock is held leaves what was there.
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Modules {
    /// Loads a module on the device, or on the host if the device does not support it.
    pub(crate) fn load(&self, sides: &Sides, module: &Module) -> Result<Loaded, Failure> {
        if let Some(loaded) = self.0.borrow().get(module) {
            return Ok(loaded.clone());
        }
        let (side, loaded, refused) = match sides.of(Side::Device)?.load(module) {
            Ok(loaded) => (Side::Device, loaded, None),
            Err(Failure::Unsupported(reason)) => {
                (Side::Host, sides.of(Side::Host)?.load(module)?, Some(reason))
            }
            Err(failure) => return Err(failure),
        };
        let kernels = || module.kernels.iter();
        let source = Arc::new(module.clone());
        let loaded = Loaded(Arc::new(Placed {
            side,
            source: source.clone(),
            loaded: Mutex::new(Some((sides.generation(), loaded))),
            refused,
            names: kernels().map(|kernel| kernel.name.clone()).collect(),
            written: kernels().map(|kernel| written_params(module, kernel)).collect(),
            makes_outputs: kernels().map(|kernel| !kernel.outputs.is_empty()).collect(),
        }));
        let mut all = self.0.borrow_mut();
        if all.len() >= MAX_UNUSED_MODULES {
            all.retain(|_, loaded| Arc::strong_count(&loaded.0) > 1);
        }
        all.insert(source, loaded.clone());
        Ok(loaded)
    }

    /// Drops what the device loaded, before it is closed.
    pub(crate) fn leave_device(&self) {
        for loaded in self.0.borrow().values() {
            let placed: &Placed =
                loaded.0.downcast_ref().or_bug("the modules are those of this runtime");
            if placed.side == Side::Device {
                *placed.lock() = None;
            }
        }
    }
}
