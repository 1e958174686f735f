//! A flat program with what is derived from it once, for all its runs.

use super::last_use::{self, LastUses};
use nesl_core::flat::{Block, Function, Let, Program};
use nesl_core::fuse::sequential::ownership;
use nesl_core::ir::FunId;
use nesl_core::lower::kernel::{self, Values, function_for_one_thread};
use nesl_core::simplify;
use nesl_core::strategy::{self, Overwrites, Thresholds, VersionCode};
use nesl_runtime::bug::OrBug;
use rustc_hash::FxHashMap;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// A flat program ready to run.
pub(crate) struct FlatProgram {
    pub(crate) program: Program,
    /// For each function, the home and the type of each of its values.
    homes: Vec<OnceCell<Values>>,
    /// For each function, whether its flattened code can call it again.
    recursive: Vec<bool>,
    /// For each function, whether sequential code that calls it needs recursion; found when a device
    /// asks, or a recursion.
    needs_recursion: OnceCell<Vec<bool>>,
    /// For each function, what its sequential code overwrites; found when a recursion asks.
    overwrites: Vec<OnceCell<Overwrites>>,
    /// For each function, whether it may change rows that it gives to itself.
    may_change_rows: Vec<OnceCell<bool>>,
    /// For each function, whether its sequential code is a loop that appends; found when a recursion asks.
    appends_results: Vec<OnceCell<bool>>,
    /// Last uses by the address of a block. The blocks are never moved or changed: they are on the
    /// heap, and nobody but this struct owns them.
    last_uses: RefCell<FxHashMap<*const Block, Rc<LastUses>>>,
    /// Facts about the code of versions, by the address of the step with the versions.
    version_code: RefCell<FxHashMap<*const Let, Rc<VersionCode>>>,
}

impl FlatProgram {
    pub(crate) fn new(program: Program) -> FlatProgram {
        FlatProgram {
            homes: program.functions.iter().map(|_| OnceCell::new()).collect(),
            recursive: strategy::recursive(&program),
            needs_recursion: OnceCell::new(),
            overwrites: program.functions.iter().map(|_| OnceCell::new()).collect(),
            may_change_rows: program.functions.iter().map(|_| OnceCell::new()).collect(),
            appends_results: program.functions.iter().map(|_| OnceCell::new()).collect(),
            last_uses: RefCell::default(),
            version_code: RefCell::default(),
            program,
        }
    }

    /// Returns the flattened code of a function.
    pub(crate) fn function(&self, id: FunId) -> &Function {
        let function = self.program.functions[id.0 as usize].as_ref();
        function.or_bug("a function that is called was flattened")
    }

    /// Returns the home and the type of each value of a function.
    pub(crate) fn homes(&self, id: FunId) -> &Values {
        self.homes[id.0 as usize].get_or_init(|| kernel::values(self.function(id)))
    }

    /// Returns true if the flattened code of a function can call it again.
    pub(crate) fn is_recursive(&self, id: FunId) -> bool {
        self.recursive[id.0 as usize]
    }

    /// Returns true if flattened code recurses and may leave recursion to one thread again and again.
    pub(crate) fn leaves_recursion(&self) -> bool {
        self.recursive.contains(&true) && self.recursive_when_sequential().contains(&true)
    }

    /// Returns true if the sequential version of a value calls functions that call themselves.
    pub(crate) fn needs_recursion(&self, sequential: &Block) -> bool {
        strategy::calls_any(sequential, self.recursive_when_sequential())
    }

    fn recursive_when_sequential(&self) -> &[bool] {
        let source = &self.program.source;
        self.needs_recursion.get_or_init(|| strategy::recursive_when_sequential(source))
    }

    /// Returns true if the flattened code of a function copies arrays that its sequential code
    /// overwrites; `single` if it is called for one element, on the host's own path.
    pub(crate) fn copies(&self, id: FunId, single: bool, limits: &Thresholds) -> bool {
        let found = self.overwrites(id, limits);
        self.appends_results(id)
            || found.tables
            || (found.arrays || found.extended_tables) && !single
    }

    /// Returns true if the sequential code of a function changes rows where they lie, and goes over no others.
    pub(crate) fn changes_rows(&self, id: FunId, limits: &Thresholds) -> bool {
        let may_change =
            || ownership::changes_rows(&self.program.source.functions[id.0 as usize], id);
        *self.may_change_rows[id.0 as usize].get_or_init(may_change)
            && self.overwrites(id, limits).rows
    }

    /// Returns true if the sequential code of a function appends the results of its calls to what came before.
    pub(crate) fn appends_results(&self, id: FunId) -> bool {
        let appends =
            || simplify::appends_results(&self.program.source.functions[id.0 as usize], id);
        *self.appends_results[id.0 as usize].get_or_init(appends)
    }

    fn overwrites(&self, id: FunId, limits: &Thresholds) -> Overwrites {
        *self.overwrites[id.0 as usize].get_or_init(|| {
            let program = function_for_one_thread(&self.program.source, id, limits);
            strategy::overwrites(&program)[program.main.0 as usize]
        })
    }

    /// Returns the values that each step of a block is the last to use.
    pub(crate) fn last_uses(&self, function: &Function, block: &Block) -> Rc<LastUses> {
        let key = std::ptr::from_ref(block);
        if let Some(uses) = self.last_uses.borrow().get(&key) {
            return uses.clone();
        }
        let uses = Rc::new(last_use::last_uses(function, block));
        self.last_uses.borrow_mut().insert(key, uses.clone());
        uses
    }

    /// Returns what the choice between the versions of a value depends on in their code.
    pub(crate) fn version_code(
        &self,
        binding: &Let,
        sequential: &Block,
        flattened: &Block,
        limits: &Thresholds,
    ) -> Rc<VersionCode> {
        let key = std::ptr::from_ref(binding);
        if let Some(code) = self.version_code.borrow().get(&key) {
            return code.clone();
        }
        let code = Rc::new(VersionCode::of(binding, sequential, flattened, limits));
        self.version_code.borrow_mut().insert(key, code.clone());
        code
    }
}
