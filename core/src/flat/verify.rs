//! The verifier of flat programs.
//!
//! A function is well-formed if
//!
//! 1. an index space is made once, after the one around it and the value that determines it, in
//!    the same block or one around it; the index spaces of the branches of a conditional, which are
//!    the filters where its flag is true and where it is false, are made by the conditional;
//! 2. every variable is bound once in a block and those inside it (one that is rematerialised, once in each kernel), and
//!    used only after that, by values in the same index space or further inside;
//! 3. an element is read in an index space inside of that of the sequence; sequences are collected,
//!    and values reduced, for the index space that has an element for each segment;
//! 4. the values of a kernel belong to its index space, to its masks, or, if it reduces them or
//!    rematerialises them, to an index space around; the values that it stores, and no others, are
//!    in scope after it, and it does not store those that it rematerialises. Elements and
//!    positions are those of its own index space, and so are filter indices.
//!
//! The types of operations are those of the core language, and are not checked again.

use super::{Block, Function, IndexSpace, Kernel, Let, Op, Program, SpaceId, SpaceKind, Step};
use super::{is_within, segments_of};
use crate::base::with_stack;
use crate::ir::{Atom, Ty, Var};
use nesl_runtime::violation::Violation;
use rustc_hash::{FxHashMap, FxHashSet};

/// Checks that a program is well-formed.
///
/// # Errors
/// Returns every violation.
pub fn verify(program: &Program) -> Result<(), Vec<Violation>> {
    let mut violations = Vec::new();
    for function in program.functions.iter().flatten() {
        let mut checker = Checker {
            function,
            violations: &mut violations,
            vars: function.params.iter().map(|(var, _)| (*var, SpaceId::CALLER)).collect(),
            done: FxHashSet::default(),
            made_spaces: FxHashSet::from_iter([SpaceId::CALLER]),
        };
        checker.block(&function.body, SpaceId::CALLER);
    }
    if violations.is_empty() { Ok(()) } else { Err(violations) }
}

struct Checker<'f, 'b> {
    function: &'f Function,
    violations: &'b mut Vec<Violation>,
    /// The index space of each variable in scope.
    vars: FxHashMap<Var, SpaceId>,
    /// The variables computed so far, in scope or not: a check of lengths only has to be computed
    /// before.
    done: FxHashSet<Var>,
    /// The index spaces in scope.
    made_spaces: FxHashSet<SpaceId>,
}

impl Checker<'_, '_> {
    fn spaces(&self) -> &[IndexSpace] {
        &self.function.spaces
    }

    fn block(&mut self, block: &Block, space: SpaceId) {
        with_stack(|| {
            let outside = (self.vars.clone(), self.made_spaces.clone(), self.done.clone());
            for step in &block.steps {
                match step {
                    Step::Space(space) => self.enter(*space),
                    Step::Let(binding) => self.binding(binding),
                    Step::Kernel(kernel) => self.kernel(kernel),
                }
            }
            self.reads("the result", block.result, space);
            (self.vars, self.made_spaces, self.done) = outside;
        });
    }

    /// Checks an index space and brings it into scope.
    fn enter(&mut self, space: SpaceId) {
        let Some(index_space) = self.spaces().get(space.0 as usize) else {
            return self.report(format!("there is no index space {space}"));
        };
        let what = space.to_string();
        match index_space.kind {
            SpaceKind::Caller => self.report(format!("{space} is made by the call")),
            SpaceKind::Elements { of, sequence } => self.reads(&what, Atom::Var(sequence), of),
            SpaceKind::Count { of, count } => self.reads(&what, count, of),
            SpaceKind::Filter { of, flag, .. } => {
                if self.vars.get(&flag).is_some_and(|home| *home != of) {
                    self.report(format!("the flag of {space} is not in {of}"));
                }
                self.reads(&what, Atom::Var(flag), of);
            }
            SpaceKind::Concat { of, inner } => {
                if !is_within(self.spaces(), inner, of) {
                    self.report(format!("{inner} is not inside {of}"));
                }
                self.space_in_scope(inner);
                self.space_in_scope(of);
            }
        }
        if !self.made_spaces.insert(space) {
            self.report(format!("{space} is made twice"));
        }
    }

    fn kernel(&mut self, kernel: &Kernel) {
        self.space_in_scope(kernel.space);
        let mut outside = self.vars.clone();
        for (at, binding) in kernel.lets.iter().enumerate() {
            binding.op.each_use(&mut |var| {
                if kernel.lets[at..].iter().any(|later| later.var == var) {
                    self.report(format!("kernel {} uses v{} too early", kernel.id, var.0));
                }
            });
            for mask in &kernel.masks {
                if !self.made_spaces.contains(mask) && self.ready(*mask) {
                    self.enter(*mask);
                }
            }
            let home = binding.operand_space();
            let rematerialised = binding.is_cheap() && is_within(self.spaces(), kernel.space, home);
            if home != kernel.space && !kernel.masks.contains(&home) && !rematerialised {
                self.report(format!("v{} is no part of kernel {}", binding.var.0, kernel.id));
            }
            let reads_own_space = matches!(binding.op, Op::Element { .. } | Op::Position { .. });
            if reads_own_space && home != kernel.space {
                self.report(format!("v{} is not read by kernel {}", binding.var.0, kernel.id));
            }
            self.binding(binding);
        }
        for mask in &kernel.masks {
            if !self.made_spaces.contains(mask) {
                self.enter(*mask);
            }
        }
        for (var, space) in &kernel.stores {
            let stored = |binding: &&Let| {
                binding.var == *var
                    && (*space == kernel.space
                        || kernel.masks.contains(space)
                        || binding.combines())
            };
            if !kernel.lets.iter().any(|binding| stored(&binding)) {
                self.report(format!("kernel {} stores v{}", kernel.id, var.0));
            }
        }
        // After the kernel, only the values that it stores are in scope.
        for (var, _) in &kernel.stores {
            outside.extend(self.vars.get(var).map(|home| (*var, *home)));
        }
        self.vars = outside;
        if kernel.filter_indices.iter().any(|space| !kernel.counts.contains(space)) {
            self.report(format!("kernel {} stores filter indices it does not count", kernel.id));
        }
        for space in &kernel.filter_indices {
            if self.spaces()[space.0 as usize].around() != Some(kernel.space) {
                self.report(format!("kernel {} has no filter indices for {space}", kernel.id));
            }
        }
    }

    /// Returns true if the flag of a mask is in scope.
    fn ready(&self, mask: SpaceId) -> bool {
        match self.spaces()[mask.0 as usize].kind {
            SpaceKind::Filter { of, flag, .. } => {
                self.made_spaces.contains(&of) && self.vars.contains_key(&flag)
            }
            _ => true,
        }
    }

    fn binding(&mut self, binding: &Let) {
        let what = format!("v{}", binding.var.0);
        let space = binding.space;
        self.space_in_scope(space);
        match &binding.op {
            Op::Collect { value, from } | Op::Reduce { value, from, .. } => {
                self.space_in_scope(*from);
                if segments_of(self.spaces(), *from) != Some(space) {
                    self.report(format!(
                        "{what}: {from} has no segment for each element of {space}"
                    ));
                }
                self.reads(&what, *value, *from);
            }
            Op::Histogram { size, index, value, from, .. } => {
                self.space_in_scope(*from);
                if segments_of(self.spaces(), *from) != Some(space) {
                    self.report(format!(
                        "{what}: {from} has no segment for each element of {space}"
                    ));
                }
                self.reads(&what, *size, space);
                self.reads(&what, *index, *from);
                self.reads(&what, *value, *from);
            }
            Op::Scatter { of, index, value, from } => {
                self.space_in_scope(*from);
                if *from == space || !is_within(self.spaces(), *from, space) {
                    self.report(format!("{what}: {from} is not inside of {space}"));
                }
                if binding.ty.element().is_none_or(Ty::has_sequence) {
                    self.report(format!("{what}: its elements are not written one by one"));
                }
                self.reads(&what, Atom::Var(*of), space);
                self.reads(&what, *index, *from);
                self.reads(&what, *value, *from);
            }
            Op::Element { of, checked } => {
                if self.vars.get(of) == Some(&space) {
                    self.report(format!("{what}: v{} lives in {space}", of.0));
                }
                self.reads(&what, Atom::Var(*of), space);
                self.comes_after(&what, *checked);
            }
            Op::Position { checked } => self.comes_after(&what, *checked),
            Op::Branch { cond, then, otherwise } => {
                self.operands(&what, &binding.op, space);
                for ((inner, side), is) in [(then, true), (otherwise, false)] {
                    let kind = SpaceKind::Filter { of: space, flag: *cond, is };
                    if self.spaces().get(inner.0 as usize).map(|c| c.kind) != Some(kind) {
                        self.report(format!("{what}: {inner} is not that side"));
                    }
                    let known = self.made_spaces.clone();
                    self.enter(*inner);
                    self.block(side, *inner);
                    self.made_spaces = known;
                }
            }
            Op::Versions { sequential, flattened, matrix } => {
                if let Some(matrix) = matrix {
                    let around = segments_of(self.spaces(), space).unwrap_or(SpaceId::CALLER);
                    for var in matrix.variables() {
                        self.reads(&what, Atom::Var(var), around);
                    }
                }
                self.block(sequential, space);
                self.block(flattened, space);
            }
            Op::Map(_)
            | Op::Gather(..)
            | Op::Extent { .. }
            | Op::SameLength(..)
            | Op::Scan { .. }
            | Op::Sequential(_)
            | Op::Call(..) => self.operands(&what, &binding.op, space),
        }
        self.done.insert(binding.var);
        let may_repeat = binding.is_cheap();
        if self.vars.insert(binding.var, space).is_some() && !may_repeat {
            self.report(format!("{what} is bound twice"));
        }
    }

    /// Reports a check that has not been executed before.
    fn comes_after(&mut self, what: &str, checked: Option<Var>) {
        if let Some(check) = checked
            && !self.done.contains(&check)
        {
            self.report(format!("{what}: v{} does not come before it", check.0));
        }
    }

    fn operands(&mut self, what: &str, op: &Op, space: SpaceId) {
        op.operands().into_iter().for_each(|atom| self.reads(what, atom, space));
    }

    /// Reports an operand that cannot be used in an index space.
    fn reads(&mut self, what: &str, atom: Atom, space: SpaceId) {
        let Atom::Var(var) = atom else { return };
        match self.vars.get(&var) {
            None => self.report(format!("{what}: v{} is not in scope", var.0)),
            Some(home) if !is_within(self.spaces(), space, *home) => {
                let home = *home;
                self.report(format!("{what}: v{} lives in {home}, not around {space}", var.0));
            }
            Some(_) => {}
        }
    }

    /// Reports an index space that is not in scope.
    fn space_in_scope(&mut self, space: SpaceId) {
        if !self.made_spaces.contains(&space) {
            self.report(format!("{space} is not in scope"));
        }
    }

    fn report(&mut self, message: String) {
        let within = format!("flattened function {:?}", self.function.name);
        self.violations.push(Violation::within(within, message));
    }
}
