//! The side of each module, and the parameters that its kernels write.

use crate::Sides;
use crate::twin::Side;
use nesl_runtime::kir::Module;
use nesl_runtime::kir::written::written_params;
use nesl_runtime::runtime::{Failure, Loaded, Reason};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::Arc;

/// The number of modules from which on those not in use are dropped.
const MAX_UNUSED_MODULES: usize = 256;

/// A module, loaded on one side.
pub(crate) struct Placed {
    /// The side that executes it.
    pub(crate) side: Side,
    /// The module as that side loaded it.
    pub(crate) module: Loaded,
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
pub(crate) struct Modules(RefCell<FxHashMap<Module, Loaded>>);

impl Modules {
    /// Loads a module on the device, or on the host if the device does not support it.
    pub(crate) fn load(&self, sides: &Sides, module: &Module) -> Result<Loaded, Failure> {
        if let Some(loaded) = self.0.borrow().get(module) {
            return Ok(loaded.clone());
        }
        let (side, loaded, refused) = match sides.of(Side::Device).load(module) {
            Ok(loaded) => (Side::Device, loaded, None),
            Err(Failure::Unsupported(reason)) => {
                (Side::Host, sides.of(Side::Host).load(module)?, Some(reason))
            }
            Err(failure) => return Err(failure),
        };
        let kernels = || module.kernels.iter();
        let loaded = Loaded(Arc::new(Placed {
            side,
            module: loaded,
            refused,
            names: kernels().map(|kernel| kernel.name.clone()).collect(),
            written: kernels().map(|kernel| written_params(module, kernel)).collect(),
            makes_outputs: kernels().map(|kernel| !kernel.outputs.is_empty()).collect(),
        }));
        let mut all = self.0.borrow_mut();
        if all.len() >= MAX_UNUSED_MODULES {
            all.retain(|_, loaded| Arc::strong_count(&loaded.0) > 1);
        }
        all.insert(module.clone(), loaded.clone());
        Ok(loaded)
    }
}
