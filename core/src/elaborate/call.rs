//! Elaborates calls of functions, constructors, primitives and function values.

use super::instance::{Elaborator, FunctionScope, Instance};
use super::pattern::ParamShape;
use crate::base::ItemId;
use crate::ir::{Atom, Op, Site, Ty};
use crate::names::Resolution;
use crate::prim::{Prim, PrimKind};
use crate::syntax::ast::{Expr, ExprId, Ident, ItemKind};
use crate::types::{self, Code, Signature};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use std::sync::Arc;

impl<'c> Elaborator<'c> {
    /// Emits the call `fun(arg)`.
    pub(super) fn call(
        &mut self,
        scope: &mut FunctionScope<'c>,
        id: ExprId,
        fun: ExprId,
        arg: ExprId,
        optional: &[(Ident, ExprId)],
    ) -> Atom {
        let site = scope.site(id);
        let result = self.lower(&scope.ty(id));
        match scope.names.values.get(fun).cloned() {
            Some(Resolution::Item(item, _)) if self.is_function(item) => {
                let args: Arc<[types::Ty]> =
                    scope.types.uses[fun].iter().map(|ty| ty.substitute(&scope.args)).collect();
                if optional.is_empty() {
                    self.call_item(scope, item, args, &[arg], result, site)
                } else {
                    self.call_with_options(scope, item, args, arg, optional, result, site)
                }
            }
            Some(Resolution::Prim(prim)) => self.call_prim(scope, prim, arg, result, site),
            _ => self.call_value(scope, fun, arg, result, site),
        }
    }

    fn is_function(&self, item: ItemId) -> bool {
        matches!(
            &*self.definitions.signature(item),
            Signature::Function { .. } | Signature::Record { .. }
        )
    }

    /// Emits a call of a defined function or constructor. `operands` form its argument, a tuple if
    /// there are several.
    pub(super) fn call_item(
        &mut self,
        scope: &mut FunctionScope<'c>,
        item: ItemId,
        args: Arc<[types::Ty]>,
        operands: &[ExprId],
        result: Ty,
        site: Site,
    ) -> Atom {
        let Some(shape) = self.param_shape(item) else {
            // A constructor computes nothing: a record is its contents.
            return self.tuple(scope, operands, site);
        };
        let mut atoms = Vec::new();
        self.operands(scope, operands, &shape, &mut atoms);
        self.default_options(scope, item, &args, &mut atoms, site);
        let fun = self.function(item, args);
        scope.body.push(result, Op::Call(fun, atoms), site)
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one call")]
    fn call_with_options(
        &mut self,
        scope: &mut FunctionScope<'c>,
        item: ItemId,
        args: Arc<[types::Ty]>,
        arg: ExprId,
        given: &[(Ident, ExprId)],
        result: Ty,
        site: Site,
    ) -> Atom {
        let item = self.latest(item);
        let shape = self.param_shape(item).or_bug("only functions have optional parameters");
        let mut atoms = Vec::new();
        self.operands(scope, &[arg], &shape, &mut atoms);
        let values: Vec<(Ident, Atom)> =
            given.iter().map(|(name, value)| (name.clone(), self.expr(scope, *value))).collect();
        let ast = self.definitions.ast(item);
        let ItemKind::Function(function) = &ast.kind else {
            bug!("only functions have optional parameters")
        };
        for (index, (name, _)) in function.optional.iter().enumerate() {
            let found = values.iter().find(|(given, _)| given.name == name.name);
            let atom = match found {
                Some((_, atom)) => *atom,
                None => self.default_option(scope, item, index as u32, &args, site),
            };
            atoms.push(atom);
        }
        let fun = self.function(item, args);
        scope.body.push(result, Op::Call(fun, atoms), site)
    }

    fn default_options(
        &mut self,
        scope: &mut FunctionScope<'c>,
        item: ItemId,
        args: &Arc<[types::Ty]>,
        atoms: &mut Vec<Atom>,
        site: Site,
    ) {
        let ast = self.definitions.ast(self.latest(item));
        if let ItemKind::Function(function) = &ast.kind {
            for index in 0..function.optional.len() as u32 {
                atoms.push(self.default_option(scope, item, index, args, site));
            }
        }
    }

    fn default_option(
        &mut self,
        scope: &mut FunctionScope<'c>,
        item: ItemId,
        index: u32,
        args: &Arc<[types::Ty]>,
        site: Site,
    ) -> Atom {
        let item = self.latest(item);
        let owner = self.scope(item, args.clone());
        let ItemKind::Function(function) = &owner.ast.kind else {
            bug!("only functions have optional parameters")
        };
        let ty = self.lower(&owner.ty(function.optional[index as usize].1));
        let fun = self.instance(Instance::Default(item, index, args.clone()));
        scope.body.push(ty, Op::Call(fun, Vec::new()), site)
    }

    /// Returns the shape into which a function destructures its argument; `None` for a constructor.
    fn param_shape(&self, item: ItemId) -> Option<ParamShape> {
        let ast = self.definitions.ast(self.latest(item));
        match &ast.kind {
            ItemKind::Function(function) => Some(ParamShape::of(&ast, function.param)),
            _ => None,
        }
    }

    /// Emits the operands as one value, a tuple.
    fn tuple(&mut self, scope: &mut FunctionScope<'c>, operands: &[ExprId], site: Site) -> Atom {
        let atoms: Vec<Atom> = operands.iter().map(|e| self.expr(scope, *e)).collect();
        tuple_of(scope, &atoms, site)
    }

    /// Emits the operands destructured by a shape, evaluated from left to right. Where the argument
    /// is written as a tuple, no tuple is built.
    fn operands(
        &mut self,
        scope: &mut FunctionScope<'c>,
        operands: &[ExprId],
        shape: &ParamShape,
        out: &mut Vec<Atom>,
    ) {
        match (operands, shape) {
            ([one], _) => self.operand(scope, *one, shape, out),
            ([first, rest @ ..], ParamShape::Pair(a, b)) => {
                self.operand(scope, *first, a, out);
                self.operands(scope, rest, b, out);
            }
            (_, ParamShape::Leaf) => {
                let site = scope.site(operands[0]);
                out.push(self.tuple(scope, operands, site));
            }
            ([], ParamShape::Pair(..)) => bug!("a call has an argument"),
        }
    }

    fn operand(
        &mut self,
        scope: &mut FunctionScope<'c>,
        expr: ExprId,
        shape: &ParamShape,
        out: &mut Vec<Atom>,
    ) {
        match (&scope.ast.exprs[expr], shape) {
            (Expr::Pair(first, second), ParamShape::Pair(a, b)) => {
                let (first, second) = (*first, *second);
                self.operand(scope, first, a, out);
                self.operand(scope, second, b, out);
            }
            _ => {
                let site = scope.site(expr);
                let value = self.expr(scope, expr);
                out.extend(Self::project(scope, shape, value, site));
            }
        }
    }

    fn call_prim(
        &mut self,
        scope: &mut FunctionScope<'c>,
        prim: Prim,
        arg: ExprId,
        result: Ty,
        site: Site,
    ) -> Atom {
        if let PrimKind::Check(code) = prim.row().kind
            && let Expr::Pair(cond, text) = scope.ast.exprs[arg]
            && let Expr::Text(message) = &scope.ast.exprs[text]
        {
            // The message is part of the operation, not a value.
            let message = String::from_utf8_lossy(message).as_ref().into();
            let cond = self.expr(scope, cond);
            return scope.body.push(result, Op::Check { cond, code, message }, site);
        }
        let param = scope.ty(arg);
        let mut atoms = Vec::new();
        self.operand(scope, arg, &ParamShape::tuple(arity(prim.row().scheme)), &mut atoms);
        self.prim(scope, prim, &param, atoms, result, site)
    }

    /// Emits a call of a function value: its type says which function it is, and its value is the
    /// tuple of the variables it captured.
    fn call_value(
        &mut self,
        scope: &mut FunctionScope<'c>,
        fun: ExprId,
        arg: ExprId,
        result: Ty,
        site: Site,
    ) -> Atom {
        let types::Ty::Function(ty) = scope.ty(fun) else { bug!("the callee has a function type") };
        let env = self.expr(scope, fun);
        let (code, args) = match &ty.code {
            types::Ty::Code(code, args) => (*code, args.clone()),
            other => bug!("a closed function type names its function, not {other:?}"),
        };
        match code {
            Code::Item(item) => self.call_item(scope, item, args, &[arg], result, site),
            Code::Prim(prim) => self.call_prim(scope, prim, arg, result, site),
            Code::Lambda(item, expr) => {
                let owner = self.definitions.ast(item);
                let Expr::Lambda { param, .. } = owner.exprs[expr] else {
                    bug!("the code of a lambda is a lambda expression")
                };
                let mut atoms = vec![env];
                self.operand(scope, arg, &ParamShape::of(&owner, param), &mut atoms);
                let fun = self.instance(Instance::Lambda(item, expr, args));
                scope.body.push(result, Op::Call(fun, atoms), site)
            }
        }
    }
}

fn tuple_of(scope: &mut FunctionScope<'_>, atoms: &[Atom], site: Site) -> Atom {
    let (last, rest) = atoms.split_last().or_bug("a tuple has components");
    rest.iter().rev().fold(*last, |tail, atom| scope.body.pair(*atom, tail, site))
}

/// Returns the number of operands that a primitive takes, from its scheme: `(a, a) -> bool` takes
/// two.
fn arity(scheme: &str) -> usize {
    let mut depth = 0;
    let mut operands = 1;
    for c in scheme.chars() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 1 && scheme.starts_with('(') => operands += 1,
            '-' if depth == 0 => break,
            _ => {}
        }
    }
    operands
}

#[cfg(test)]
mod tests {
    use super::arity;

    #[test]
    fn operands_of_schemes() {
        assert_eq!(arity("(a, a) -> a :: (a in number)"), 2);
        assert_eq!(arity("[(a, bool)] -> [a] :: (a in any)"), 1);
        assert_eq!(arity("([a], [(int, a)]) -> [a]"), 2);
        assert_eq!(arity("(((int, int), [int]), [char]) -> bool"), 2);
        assert_eq!(arity("int -> (int, bool)"), 1);
    }
}
