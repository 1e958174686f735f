//! Groups bindings into pure regions, and orders them with the effects.
//!
//! The planner goes over a block from first to last. Bindings without effects are deferred. Before
//! a binding with effects it emits a region of the deferred bindings that the effect uses, and of
//! those that may fault; the others remain deferred until something uses them.

use super::{Action, Function, HostProgram, Input, PureRegion, Step};
use super::{Block, HostOnly, host_only, pure_region};
use crate::base::with_stack;
use crate::ir::{self, Atom, Effects, FunId, Let, Op, Program, Site, Ty, Var};
use nesl_runtime::bug;
use rustc_hash::{FxHashMap, FxHashSet};

/// Makes a host program of a simplified program with effects.
pub fn host_program(program: &Program) -> HostProgram {
    let (effects, host_only) = (Effects::of(program), HostOnly::of(program));
    let functions = program.functions.iter().enumerate().map(|(id, function)| {
        let id = FunId(id as u32);
        // What simplification has left of the main function may have no effects any more.
        (effects.in_function(id) || id == program.main)
            .then(|| Planner::of(program, (&effects, &host_only), function).function(function))
    });
    HostProgram { functions: functions.collect(), main: program.main }
}

/// The function that is planned, with the facts about its program.
struct Planner<'p> {
    program: &'p Program,
    effects: &'p Effects,
    host_only: &'p HostOnly,
    /// The types of the variables of the function.
    types: FxHashMap<Var, Ty>,
}

/// The bindings of a block that are not computed yet.
struct Deferred<'p> {
    /// The deferred bindings, in order.
    lets: Vec<&'p Let>,
    /// The variables computed from scalars alone.
    host_only: FxHashSet<Var>,
    /// The index in the block of the last use of each variable.
    last: FxHashMap<Var, usize>,
}

impl<'p> Planner<'p> {
    fn of(
        program: &'p Program,
        (effects, host_only): (&'p Effects, &'p HostOnly),
        function: &'p ir::Function,
    ) -> Planner<'p> {
        let mut types: FxHashMap<Var, Ty> = function.params.iter().cloned().collect();
        function.body.each_binding(&mut |var, ty| {
            types.insert(var, ty.clone());
        });
        Planner { program, effects, host_only, types }
    }

    /// Plans the function.
    fn function(&self, function: &'p ir::Function) -> Function {
        let params: Vec<Var> = function.params.iter().map(|(var, _)| *var).collect();
        let body = self.block(&function.body, &params);
        Function { params, body, site: function.site, library: function.library }
    }

    /// Plans the steps of a block; `own` are the parameters of its function if it is the body.
    fn block(&self, block: &'p ir::Block, own: &[Var]) -> Block {
        with_stack(|| {
            let mut steps = Vec::new();
            let mut deferred = Deferred {
                lets: Vec::new(),
                host_only: FxHashSet::default(),
                last: last_uses(block),
            };
            for (at, binding) in block.lets.iter().enumerate() {
                if let Op::Global(id) = binding.op {
                    steps.push(step(Action::Global(binding.var, id), binding.site));
                } else if self.effects.in_op(&binding.op) {
                    let needed = uses([binding]);
                    self.emit_regions(&mut deferred, needed, at, &mut steps);
                    steps.push(step(self.effect(binding), binding.site));
                } else {
                    deferred.lets.push(binding);
                }
            }
            let needed = var(block.result).into_iter().collect();
            self.emit_regions(&mut deferred, needed, block.lets.len(), &mut steps);
            let mut block = Block { steps, result: block.result };
            forget(&mut block, own);
            block
        })
    }

    /// Emits regions for the deferred bindings that compute `needed` variables or may fault, before
    /// the binding with the index `at` in the block. At most two are emitted: one for a runtime,
    /// and a small one, for the host, of scalars and texts that are computed from its outputs.
    fn emit_regions(
        &self,
        deferred: &mut Deferred<'p>,
        mut needed: FxHashSet<Var>,
        at: usize,
        steps: &mut Vec<Step>,
    ) {
        let (mut now, mut later) = (Vec::new(), Vec::new());
        for binding in std::mem::take(&mut deferred.lets).into_iter().rev() {
            if needed.contains(&binding.var) || binding.may_fault() {
                needed.extend(uses([binding]));
                now.push(binding);
            } else {
                later.push(binding);
            }
        }
        later.reverse();
        // Divide into bindings for a runtime, with all that these use, and small ones that use
        // these.
        let host_only: Vec<bool> = now
            .iter()
            .rev()
            .map(|binding| self.is_small(binding, &mut deferred.host_only))
            .collect();
        let (mut runtime_lets, mut small_lets): (Vec<&Let>, Vec<&Let>) = (Vec::new(), Vec::new());
        let mut used_by_runtime = FxHashSet::default();
        for (binding, host_only) in now.into_iter().zip(host_only.into_iter().rev()) {
            if host_only && !used_by_runtime.contains(&binding.var) {
                small_lets.push(binding);
            } else {
                used_by_runtime.extend(uses([binding]));
                runtime_lets.push(binding);
            }
        }
        runtime_lets.reverse();
        small_lets.reverse();
        if !runtime_lets.is_empty() && small_lets.iter().all(|binding| !binding.ty.has_sequence()) {
            runtime_lets.append(&mut small_lets);
        }
        let used_later = uses(later.iter().copied());
        let behind = |var: &Var| deferred.last.get(var).is_some_and(|last| *last >= at);
        let used_by_small = uses(small_lets.iter().copied());
        for (lets, small) in [(runtime_lets, false), (small_lets, true)] {
            let Some(first) = lets.first() else { continue };
            let wanted = |var: &Var| {
                used_later.contains(var) || behind(var) || !small && used_by_small.contains(var)
            };
            let outputs = lets.iter().map(|binding| binding.var).filter(wanted).collect();
            let site = first.site;
            steps.push(step(Action::Compute(self.pure_region(&lets, outputs, small)), site));
        }
        deferred.lets = later;
    }

    /// Returns true if an operation works on scalars and values computed from them alone, without
    /// loops.
    fn is_small(&self, binding: &Let, host_only: &mut FxHashSet<Var>) -> bool {
        let small_operand = |atom: Atom, host_only: &FxHashSet<Var>| match var(atom) {
            Some(var) => host_only.contains(&var) || !self.types[&var].has_sequence(),
            None => true,
        };
        if !binding.op.operands().into_iter().all(|atom| small_operand(atom, host_only)) {
            return false;
        }
        let is_small = match binding.op {
            Op::If { .. } => with_stack(|| {
                binding.op.blocks().all(|block| {
                    block.lets.iter().all(|inner| self.is_small(inner, host_only))
                        && small_operand(block.result, host_only)
                })
            }),
            _ => host_only::has_no_loop(binding),
        };
        if is_small {
            host_only.insert(binding.var);
        }
        is_small
    }

    /// Returns the action for a binding that has effects.
    fn effect(&self, binding: &'p Let) -> Action {
        let var = binding.var;
        match &binding.op {
            Op::Host(op, args) => Action::Host {
                var,
                ty: binding.ty.clone(),
                op: *op,
                args: args.clone(),
                types: args.iter().map(|arg| self.ty(*arg)).collect(),
            },
            Op::Time(body) => Action::Time(var, self.block(body, &[])),
            Op::If { cond, then, otherwise } => Action::If {
                var,
                cond: *cond,
                then: self.block(then, &[]),
                otherwise: self.block(otherwise, &[]),
            },
            Op::Call(callee, args) => Action::Call {
                var,
                callee: *callee,
                args: args.clone(),
                host_only: self
                    .host_only
                    .function(*callee)
                    .then(|| Box::new(self.pure_region(&[binding], vec![var], true))),
            },
            Op::Nest(_) => Action::Compute(self.pure_region(&[binding], vec![var], false)),
            op => bug!("{op:?} has no effects, and belongs to a pure region"),
        }
    }

    fn pure_region(&self, lets: &[&Let], outputs: Vec<Var>, small: bool) -> PureRegion {
        pure_region::pure_region(self.program, self.effects, lets, outputs, small, &self.types)
    }

    fn ty(&self, atom: Atom) -> Ty {
        match atom {
            Atom::Var(var) => self.types[&var].clone(),
            Atom::Unit => Ty::Unit,
            Atom::Int(_) => Ty::Int,
            Atom::Float(_) => Ty::Float,
            Atom::Bool(_) => Ty::Bool,
            Atom::Char(_) => Ty::Char,
        }
    }
}

fn step(action: Action, site: Site) -> Step {
    Step { action, site, forget: Vec::new() }
}

fn var(atom: Atom) -> Option<Var> {
    match atom {
        Atom::Var(var) => Some(var),
        Atom::Unit | Atom::Int(_) | Atom::Float(_) | Atom::Bool(_) | Atom::Char(_) => None,
    }
}

/// Returns the variables that bindings use.
fn uses<'p>(lets: impl IntoIterator<Item = &'p Let>) -> FxHashSet<Var> {
    let mut used = FxHashSet::default();
    for binding in lets {
        binding.op.each_use(&mut |var| {
            used.insert(var);
        });
    }
    used
}

/// Returns the index of the last use of each variable in a block; `usize::MAX` for the result.
fn last_uses(block: &ir::Block) -> FxHashMap<Var, usize> {
    let mut last = FxHashMap::default();
    for (at, binding) in block.lets.iter().enumerate() {
        binding.op.each_use(&mut |var| {
            last.insert(var, at);
        });
    }
    last.extend(var(block.result).map(|var| (var, usize::MAX)));
    last
}

/// Sets [`Step::forget`] of each step; `own` are the parameters that the block may forget.
fn forget(block: &mut Block, own: &[Var]) {
    let mut own: FxHashSet<Var> = own.iter().copied().collect();
    for step in &block.steps {
        own.extend(step.bound());
    }
    let mut later: FxHashSet<Var> = var(block.result).into_iter().collect();
    for step in block.steps.iter_mut().rev() {
        let mut here: Vec<Var> = step.bound();
        step.each_use(&mut |var| here.push(var));
        step.forget =
            here.iter().copied().filter(|v| own.contains(v) && later.insert(*v)).collect();
    }
}

impl Step {
    /// Returns the variables that the step binds.
    fn bound(&self) -> Vec<Var> {
        match &self.action {
            Action::Compute(pure_region) => pure_region.outputs.clone(),
            Action::Global(var, _)
            | Action::Host { var, .. }
            | Action::Time(var, _)
            | Action::If { var, .. }
            | Action::Call { var, .. } => vec![*var],
        }
    }

    /// Visits the variables that the step and its blocks use, also those that are bound in the
    /// blocks.
    fn each_use(&self, visit: &mut dyn FnMut(Var)) {
        let mut used = |atoms: &[Atom]| atoms.iter().filter_map(|a| var(*a)).for_each(&mut *visit);
        match &self.action {
            Action::Compute(pure_region) => {
                pure_region.inputs.iter().for_each(|input| match input {
                    Input::Var(var) => visit(*var),
                    Input::Global(_) => {}
                })
            }
            Action::Global(..) => {}
            Action::Host { args, .. } | Action::Call { args, .. } => used(args),
            Action::Time(_, body) => body.each_use(visit),
            Action::If { cond, then, otherwise, .. } => {
                used(&[*cond]);
                then.each_use(visit);
                otherwise.each_use(visit);
            }
        }
    }
}

impl Block {
    fn each_use(&self, visit: &mut dyn FnMut(Var)) {
        with_stack(|| {
            self.steps.iter().for_each(|step| step.each_use(visit));
            var(self.result).into_iter().for_each(visit);
        });
    }
}
