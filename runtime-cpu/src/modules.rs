//! Compiled modules, to be found again.
//!
//! A session may make thousands of different ones. Those that somebody holds stay; of the others
//! the ones used last, so that memory stays bounded and what is run again and again is compiled
//! once.

use crate::codegen::Compiled;
use nesl_runtime::kir::Module;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// There are no more than this, unless so many are held.
pub const MOST: usize = 256;

/// Modules by what they are made from.
#[derive(Default)]
pub struct Modules {
    kept: FxHashMap<Module, Kept>,
    /// How often one was asked for.
    clock: u64,
}

struct Kept {
    compiled: Arc<Compiled>,
    used: u64,
}

impl Modules {
    /// A compiled module.
    pub fn find(&mut self, module: &Module) -> Option<Arc<Compiled>> {
        self.clock += 1;
        let kept = self.kept.get_mut(module)?;
        kept.used = self.clock;
        Some(kept.compiled.clone())
    }

    /// Keeps a compiled module; lets go of half of those that nobody holds if there are too many.
    pub fn keep(&mut self, module: &Module, compiled: Arc<Compiled>) {
        if self.kept.len() >= MOST {
            let free = |kept: &Kept| Arc::strong_count(&kept.compiled) == 1;
            let mut times: Vec<u64> =
                self.kept.values().filter(|kept| free(kept)).map(|kept| kept.used).collect();
            if !times.is_empty() {
                let middle = times.len() / 2;
                let (_, middle, _) = times.select_nth_unstable(middle);
                let since = *middle;
                self.kept.retain(|_, kept| !free(kept) || kept.used > since);
            }
        }
        self.clock += 1;
        self.kept.insert(module.clone(), Kept { compiled, used: self.clock });
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.kept.len()
    }
}
