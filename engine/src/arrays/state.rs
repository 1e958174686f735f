//! The state that the arrays of a runtime keep between runs: compiled built-in kernels, and facts
//! about descriptors.

use super::Stepped;
use super::builtin::Builtin;
use super::facts::ArrayFacts;
use nesl_core::strategy::Thresholds;
use nesl_runtime::kir::{self, Module};
use nesl_runtime::runtime::{Loaded, Runtime};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};

/// The state of the arrays of one runtime.
#[derive(Default)]
pub(crate) struct ArrayState {
    /// The compiled built-in kernels.
    modules: RefCell<FxHashMap<Builtin, Loaded>>,
    /// The facts about descriptors.
    pub(super) facts: ArrayFacts,
    /// The number of elements that built-in kernels have copied and moved.
    moved: Cell<u64>,
}

impl ArrayState {
    /// Forgets the compiled built-in kernels, which are loaded again when they are needed.
    pub(crate) fn forget_modules(&self) {
        self.modules.borrow_mut().clear();
    }

    /// Returns the number of elements that built-in kernels have copied and moved.
    pub(crate) fn moved(&self) -> u64 {
        self.moved.get()
    }

    /// Counts elements that a built-in kernel copies and moves.
    pub(super) fn count_moved(&self, elements: usize) {
        self.moved.set(self.moved.get().saturating_add(elements as u64));
    }

    /// Returns the compiled module of a built-in kernel.
    pub(super) fn module(
        &self,
        runtime: &dyn Runtime,
        kernel: Builtin,
        limits: &Thresholds,
    ) -> Stepped<Loaded> {
        if let Some(loaded) = self.modules.borrow().get(&kernel) {
            return Ok(loaded.clone());
        }
        let module = Module { functions: Vec::new(), kernels: vec![kernel.kernel()] };
        debug_assert!(kir::verify(&module).is_ok(), "{}", kir::print(&module));
        let loaded = runtime.load(&module)?;
        let mut modules = self.modules.borrow_mut();
        if modules.len() >= limits.max_kept_builtins {
            modules.clear();
        }
        modules.insert(kernel, loaded.clone());
        Ok(loaded)
    }
}
