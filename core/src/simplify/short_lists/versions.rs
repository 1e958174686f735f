//! The versions of functions for the short lists that they are called with.

use super::super::calls::Calls;
use super::super::dead;
use super::super::rewrite::{CallVersions, Env, Lists, Rewriter, Shape, Version};
use super::sink;
use crate::base::with_stack;
use crate::ir::{Atom, Block, FunId, Function, FunctionBuilder, Op, Program, Site, Var};
use crate::thresholds::Thresholds;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use std::cell::RefCell;

/// A function, and the shapes of the arguments that a version of it is asked for.
type Asked = (FunId, Vec<Option<Shape>>);

/// The versions made so far.
pub(super) struct Versions<'a> {
    program: &'a Program,
    calls: &'a Calls,
    limits: &'a Thresholds,
    /// The functions of the new program; those of the old one keep their numbers.
    functions: RefCell<Vec<Option<Function>>>,
    made: RefCell<FxHashMap<Asked, Version>>,
    /// The versions that are being made, innermost last.
    open: RefCell<Vec<Open>>,
}

/// A version that is being made.
struct Open {
    callee: FunId,
    version: Version,
    /// The parameters that calls of the function itself pass lists of other shapes for.
    changing: Vec<bool>,
}

/// A function rewritten under assumptions.
struct Attempt {
    function: Function,
    /// The parameters that must be passed as sequences.
    whole: Vec<bool>,
    /// The shape of the result.
    result: Option<Shape>,
    /// The shape that the result has if it is known, once the results of the calls of the function itself are.
    expected: Option<Shape>,
}

impl CallVersions for Versions<'_> {
    fn of(&self, callee: FunId, shapes: Vec<Option<Shape>>) -> Version {
        let own = |open: &&mut Open| open.callee == callee;
        if let Some(open) = self.open.borrow_mut().iter_mut().rev().find(own) {
            let params = open.version.params.iter().zip(&shapes);
            for (changing, (param, shape)) in open.changing.iter_mut().zip(params) {
                *changing |= param.is_some() && param != shape;
            }
            return open.version.clone();
        }
        let key = (callee, shapes);
        if let Some(version) = self.made.borrow().get(&key) {
            return version.clone();
        }
        let version = with_stack(|| self.make(callee, key.1.clone()));
        self.made.borrow_mut().insert(key, version.clone());
        version
    }
}

impl<'a> Versions<'a> {
    pub fn new(program: &'a Program, calls: &'a Calls, limits: &'a Thresholds) -> Versions<'a> {
        Versions {
            program,
            calls,
            limits,
            functions: RefCell::new(vec![None; program.functions.len()]),
            made: RefCell::default(),
            open: RefCell::default(),
        }
    }

    /// Returns the program in which the main function calls versions.
    pub fn program(self) -> Program {
        let main = self.program.main;
        let params = self.program.functions[main.0 as usize].params.len();
        self.of(main, vec![None; params]);
        // Numbers of functions that nothing calls.
        let unused = || FunctionBuilder::new().finish("unused", Site::NONE, Atom::Unit);
        let functions = self.functions.into_inner().into_iter();
        let functions = functions.map(|function| function.unwrap_or_else(unused)).collect();
        Program { functions, globals: self.program.globals.clone(), main }
    }

    fn make(&self, callee: FunId, params: Vec<Option<Shape>>) -> Version {
        let fixed = callee == self.program.main || self.calls.is_mutual(callee);
        let takes_values = params.iter().any(Option::is_some);
        let versions: FxHashSet<FunId> = {
            let made = self.made.borrow();
            let own = made.iter().filter(|((function, _), _)| *function == callee);
            own.map(|(_, version)| version.id).collect()
        };
        if takes_values && (fixed || versions.len() >= self.limits.max_versions) {
            return self.of(callee, vec![None; params.len()]);
        }
        let id = match takes_values {
            false => callee,
            true => {
                let mut functions = self.functions.borrow_mut();
                functions.push(None);
                FunId(functions.len() as u32 - 1)
            }
        };
        let mut version = Version { id, params, result: None };
        let mut attempt = self.attempt(callee, &version, fixed);
        if !fixed && self.calls.is_recursive(callee) {
            // What the function makes of its own result may need that in values.
            let shape = attempt.expected.take();
            let assumed = Version { result: shape.clone(), ..version.clone() };
            let again = shape.as_ref().map(|_| self.attempt(callee, &assumed, fixed));
            if let Some(again) = again
                && again.result == shape
                && !again.whole.contains(&true)
            {
                attempt = again;
            }
        }
        if attempt.whole.contains(&true) {
            let params = version.params.into_iter().zip(attempt.whole);
            return self
                .of(callee, params.map(|(shape, whole)| shape.filter(|_| !whole)).collect());
        }
        version.result = attempt.result;
        self.functions.borrow_mut()[id.0 as usize] = Some(attempt.function);
        version
    }

    /// Rewrites a function as a version of it.
    fn attempt(&self, callee: FunId, version: &Version, fixed: bool) -> Attempt {
        let old = &self.program.functions[callee.0 as usize];
        let changing = vec![false; old.params.len()];
        self.open.borrow_mut().push(Open { callee, version: version.clone(), changing });
        let mut rewriter = Rewriter::new(&|_| None, self.calls, self.limits);
        rewriter.lists = Some(Lists::new(self, callee != self.program.main, &old.body));
        let mut env = Env::default();
        let mut values: Vec<Vec<Atom>> = Vec::new();
        for ((_, ty), shape) in old.params.iter().zip(&version.params) {
            let types = shape.as_ref().map_or_else(|| vec![ty.clone()], Shape::types);
            values.push(types.into_iter().map(|ty| rewriter.builder.param(ty)).collect());
        }
        let mut lists: Vec<FxHashSet<Var>> = Vec::new();
        for (((var, ty), shape), values) in old.params.iter().zip(&version.params).zip(values) {
            let mut bound = FxHashSet::default();
            let param = match shape {
                None => values[0],
                Some(shape) => {
                    rewriter.builder.begin();
                    let list = rewriter.list(ty, shape, &mut values.into_iter(), old.site);
                    for binding in rewriter.builder.end(list).lets {
                        bound.insert(binding.var);
                        rewriter.builder.keep(binding);
                    }
                    list
                }
            };
            lists.push(bound);
            env.atoms.insert(*var, param);
        }
        let mut result = rewriter.block(&old.body, &mut env);
        let open = self.open.borrow_mut().pop();
        let shape = rewriter.shape(result).filter(|_| !fixed);
        let expected = rewriter.expected(result).filter(|_| !fixed);
        let returned = match version.result.is_some() || !self.calls.is_recursive(callee) {
            true => shape.clone(),
            false => None,
        };
        if let Some(shape) = &returned {
            let (lets, tuple) = rewriter.packed(result, shape, old.site);
            lets.into_iter().for_each(|binding| rewriter.builder.keep(binding));
            rewriter.note_change();
            result = tuple;
        }
        let changed = rewriter.lists.take().is_some_and(|lists| lists.changed);
        let is_version = version.id != callee;
        if !changed && !is_version && self.calls_as_before(callee) {
            let whole = vec![false; old.params.len()];
            return Attempt { function: old.clone(), whole, result: None, expected };
        }
        let name = match is_version {
            true => self.name(&old.name),
            false => old.name.clone(),
        };
        let Function { library, .. } = *old;
        let made = rewriter.builder.finish(name, old.site, result);
        let mut function = Function { library, ..made };
        if !is_version && returned.is_none() {
            (function.charge, function.role) = (old.charge.clone(), old.role);
        }
        dead::remove_with(&mut function, &rewriter.known_to_succeed);
        sink::into_sides(&mut function);
        let mut whole = open.map_or_else(Vec::new, |open| open.changing);
        for (whole, lists) in whole.iter_mut().zip(&lists) {
            *whole |= needs(&function.body, lists);
        }
        Attempt { function, whole, result: returned, expected }
    }

    /// Returns true if a function as it was may call others, which its new form need not do: there, a condition may be
    /// known that was not before.
    fn calls_as_before(&self, function: FunId) -> bool {
        let mut same = true;
        self.program.functions[function.0 as usize].body.for_each_op(&mut |op| {
            if let Op::Call(callee, args) = op
                && *callee != function
            {
                same &= self.of(*callee, vec![None; args.len()]).result.is_none();
            }
        });
        same
    }

    /// Returns the name of a new version.
    fn name(&self, of: &SmolStr) -> SmolStr {
        let functions = self.functions.borrow();
        let taken = |name: &str| {
            let old = self.program.functions.iter().any(|function| function.name == name);
            old || functions.iter().flatten().any(|function| function.name == name)
        };
        let names = (1..).map(|n| match n {
            1 => format!("{of}.short"),
            n => format!("{of}.short{n}"),
        });
        names.into_iter().find(|name| !taken(name)).unwrap_or_default().into()
    }
}

/// Returns true if an operation needs one of some lists as a sequence, but for others of them. What a block
/// results in is made once, when a recursion ends.
fn needs(block: &Block, lists: &FxHashSet<Var>) -> bool {
    with_stack(|| {
        block.lets.iter().any(|binding| {
            let mut uses = false;
            binding.op.each_operand(|atom| {
                uses |= atom.variable().is_some_and(|var| lists.contains(&var));
            });
            uses && !lists.contains(&binding.var)
                || binding.op.blocks().any(|inner| needs(inner, lists))
        })
    })
}
