//! The verifier of the core language.
//!
//! A program is well-formed if
//!
//! 1. `main` names a function with no parameter, or with one of type `int`; functions' names are
//!    unique;
//! 2. in each function every variable is bound once, and used only where it is in scope: after
//!    its binding, in the same block or in blocks inside its operations; a nest's binders in its
//!    body, parameters everywhere;
//! 3. the operands of every operation have the types of its
//!    [`signature`](super::signature), and the binding has the type of its result;
//! 4. `First` and `Second` are of pairs; the elements of a list are as the type of its binding
//!    says; a string is `[char]`;
//! 5. a call names a function of the program, has as many operands as that has parameters, of
//!    their types, and binds its result; a global names one of the program's, at its type;
//! 6. the condition of an `If` or a `Check` is a `bool`; both branches of an `If` have the type of
//!    the binding;
//! 7. a `Nest` has at least one binder, each over a sequence of its type; the binding is a sequence
//!    of the type of the body's result;
//! 8. `Error` is of a string, at any type; `Time` binds the pair of its block's result and a float;
//! 9. a function's body has the type of its result, and the formula of its charge names only
//!    its parameters.

use super::signature;
use super::{Atom, Block, Function, Let, Op, Program, Ty, Var};
use crate::base::with_stack;
use nesl_runtime::violation::Violation;
use rustc_hash::{FxHashMap, FxHashSet};

/// Checks that a program is well-formed.
///
/// # Errors
/// Returns every violation.
pub fn verify(program: &Program) -> Result<(), Vec<Violation>> {
    let mut violations = Vec::new();
    let mut names = FxHashSet::default();
    for function in &program.functions {
        if !names.insert(&function.name) {
            let message = format!("two functions are called {:?}", function.name);
            violations.push(Violation::of_program(message));
        }
        Checker::new(program, function, &mut violations).function();
    }
    match program.functions.get(program.main.0 as usize) {
        None => violations.push(Violation::of_program("main is not a function of the program")),
        Some(main) => {
            let types: Vec<&Ty> = main.params.iter().map(|(_, ty)| ty).collect();
            if !matches!(types[..], [] | [Ty::Int]) {
                violations.push(Violation::of_program("main takes nothing, or one int"));
            }
        }
    }
    if violations.is_empty() { Ok(()) } else { Err(violations) }
}

/// Checks one function of a program, or one that takes the place of such a function; returns every
/// violation. Names and the main function are those of the whole program, checked by [`verify`].
pub fn verify_function(program: &Program, function: &Function) -> Vec<Violation> {
    let mut violations = Vec::new();
    Checker::new(program, function, &mut violations).function();
    violations
}

struct Checker<'p, 'b> {
    program: &'p Program,
    function: &'p Function,
    violations: &'b mut Vec<Violation>,
    /// Every variable bound so far, with its type.
    bound: FxHashMap<Var, &'p Ty>,
    /// The variables in scope, in order of binding.
    scope: Vec<Var>,
    in_scope: FxHashSet<Var>,
}

impl<'p, 'b> Checker<'p, 'b> {
    fn new(
        program: &'p Program,
        function: &'p Function,
        violations: &'b mut Vec<Violation>,
    ) -> Checker<'p, 'b> {
        Checker {
            program,
            function,
            violations,
            bound: FxHashMap::default(),
            scope: Vec::new(),
            in_scope: FxHashSet::default(),
        }
    }

    fn function(&mut self) {
        for (var, ty) in &self.function.params {
            self.bind(*var, ty);
        }
        if let Some(result) = self.block(&self.function.body) {
            self.expect("the body", &result, &self.function.result);
        }
        let params = self.function.params.len();
        for term in self.function.charge.iter().flat_map(|charge| &charge.work) {
            if let Some(i) = term.parameter()
                && i as usize >= params
            {
                self.report(format!("the charge speaks of parameter {i} of {params}"));
            }
        }
    }

    /// Checks a block; returns the type of its result, if that is known.
    fn block(&mut self, block: &'p Block) -> Option<Ty> {
        with_stack(|| {
            let outside = self.scope.len();
            for binding in &block.lets {
                self.binding(binding);
                self.bind(binding.var, &binding.ty);
            }
            let result = self.atom(block.result);
            for var in self.scope.drain(outside..) {
                self.in_scope.remove(&var);
            }
            result
        })
    }

    fn binding(&mut self, binding: &'p Let) {
        let what = format!("v{}", binding.var.0);
        let Some(args) = self.atoms(&binding.op) else {
            // Reported already; what is inside can be checked all the same.
            for block in binding.op.blocks() {
                if let Op::Nest(nest) = &binding.op {
                    for (var, ty, _) in &nest.binders {
                        self.bind(*var, ty);
                    }
                }
                self.block(block);
            }
            return;
        };
        match &binding.op {
            Op::Copy(_) => self.expect(&what, &args[0], &binding.ty),
            Op::Scalar(op, _) => self.signature(&what, signature::scalar(*op, &args), &binding.ty),
            Op::Seq(op, _) => self.signature(&what, signature::sequence(*op, &args), &binding.ty),
            Op::Host(op, _) => {
                if let Err(why) = signature::host(*op, &args, &binding.ty) {
                    self.report(format!("{what}: {why}"));
                }
            }
            Op::Pair(..) => {
                let pair = Ty::tuple(args);
                self.expect(&what, &pair, &binding.ty);
            }
            Op::First(_) | Op::Second(_) => match &args[0] {
                Ty::Pair(first, second) => {
                    let half = match binding.op {
                        Op::First(_) => first,
                        _ => second,
                    };
                    self.expect(&what, half, &binding.ty);
                }
                other => self.report(format!("{what}: {other} is not a pair")),
            },
            Op::Text(_) => self.expect(&what, &Ty::text(), &binding.ty),
            Op::Constants(constants) => {
                self.expect(&what, &Ty::sequence(Ty::of_constants(constants)), &binding.ty);
            }
            Op::List(_) => match binding.ty.element() {
                Some(element) => {
                    for arg in &args {
                        self.expect(&format!("an element of {what}"), arg, element);
                    }
                }
                None => self.report(format!("{what}: a list is not {}", binding.ty)),
            },
            Op::Call(callee, _) => {
                let program = self.program;
                match program.functions.get(callee.0 as usize) {
                    None => self.report(format!("{what}: there is no function {}", callee.0)),
                    Some(callee) => {
                        let takes: Vec<&Ty> = callee.params.iter().map(|(_, ty)| ty).collect();
                        if !args.iter().eq(takes.iter().copied()) {
                            let takes = takes.into_iter().cloned();
                            self.report(format!(
                                "{what}: {:?} takes {}, not {}",
                                callee.name,
                                Ty::tuple(takes),
                                Ty::tuple(args)
                            ));
                        }
                        self.expect(&what, &callee.result, &binding.ty);
                    }
                }
            }
            Op::If { then, otherwise, .. } => {
                self.expect(&format!("the condition of {what}"), &args[0], &Ty::Bool);
                for arm in [then, otherwise] {
                    if let Some(result) = self.block(arm) {
                        self.expect(&format!("an arm of {what}"), &result, &binding.ty);
                    }
                }
            }
            Op::Nest(nest) => {
                if nest.binders.is_empty() {
                    self.report(format!("{what}: a nest without binders"));
                }
                let outside = self.scope.len();
                for ((var, ty, _), arg) in nest.binders.iter().zip(&args) {
                    let over = Ty::sequence(ty.clone());
                    self.expect(&format!("what v{} runs over", var.0), arg, &over);
                    self.bind(*var, ty);
                }
                if let Some(result) = self.block(&nest.body) {
                    self.expect(&what, &Ty::sequence(result), &binding.ty);
                }
                for var in self.scope.drain(outside..) {
                    self.in_scope.remove(&var);
                }
            }
            Op::Global(id) => {
                let program = self.program;
                match program.globals.get(id.0 as usize) {
                    None => self.report(format!("{what}: there is no global {}", id.0)),
                    Some(global) => self.expect(&what, &global.ty, &binding.ty),
                }
            }
            Op::Check { .. } => {
                self.expect(&format!("the condition of {what}"), &args[0], &Ty::Bool);
                self.expect(&what, &Ty::Bool, &binding.ty);
            }
            Op::Error(_) => self.expect(&format!("the text of {what}"), &args[0], &Ty::text()),
            Op::Time(block) => {
                if let Some(result) = self.block(block) {
                    let timed = Ty::pair(result, Ty::Float);
                    self.expect(&what, &timed, &binding.ty);
                }
            }
        }
    }

    fn signature(&mut self, what: &str, gives: Result<Ty, String>, ty: &Ty) {
        match gives {
            Ok(gives) => self.expect(what, &gives, ty),
            Err(why) => self.report(format!("{what}: {why}")),
        }
    }

    fn expect(&mut self, what: &str, is: &Ty, should: &Ty) {
        if is != should {
            self.report(format!("{what} is {is}, not {should}"));
        }
    }

    fn bind(&mut self, var: Var, ty: &'p Ty) {
        if self.bound.insert(var, ty).is_some() {
            self.report(format!("v{} is bound twice", var.0));
        }
        self.scope.push(var);
        self.in_scope.insert(var);
    }

    /// Returns the types of an operation's operands; `None` if one is not in scope.
    fn atoms(&mut self, op: &Op) -> Option<Vec<Ty>> {
        // All of them, so that each is reported.
        let types: Vec<Option<Ty>> = op.operands().into_iter().map(|a| self.atom(a)).collect();
        types.into_iter().collect()
    }

    fn atom(&mut self, atom: Atom) -> Option<Ty> {
        match atom {
            Atom::Var(var) if self.in_scope.contains(&var) => {
                self.bound.get(&var).map(|ty| (*ty).clone())
            }
            Atom::Var(var) => {
                self.report(format!("v{} is not in scope", var.0));
                None
            }
            Atom::Unit => Some(Ty::Unit),
            Atom::Int(_) => Some(Ty::Int),
            Atom::Float(_) => Some(Ty::Float),
            Atom::Bool(_) => Some(Ty::Bool),
            Atom::Char(_) => Some(Ty::Char),
        }
    }

    fn report(&mut self, message: String) {
        let within = format!("function {:?}", self.function.name);
        self.violations.push(Violation::within(within, message));
    }
}
