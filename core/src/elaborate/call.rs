//! Calls.

use super::instance::{Elaborator, Frame, Instance};
use super::pattern::Shape;
use crate::base::ItemId;
use crate::ir::{Atom, Op, Site, Ty};
use crate::names::Resolution;
use crate::prim::{Prim, PrimKind};
use crate::syntax::ast::{Expr, ExprId, Ident, ItemKind};
use crate::types::{self, Code, Signature};
use std::sync::Arc;

impl<'c> Elaborator<'c> {
    /// `fun(arg)`.
    pub(super) fn call(
        &mut self,
        frame: &mut Frame<'c>,
        id: ExprId,
        fun: ExprId,
        arg: ExprId,
        optional: &[(Ident, ExprId)],
    ) -> Atom {
        let site = frame.site(id);
        let result = self.lower(&frame.ty(id));
        match frame.names.values.get(fun).cloned() {
            Some(Resolution::Item(item, _)) if self.is_function(item) => {
                let args: Arc<[types::Ty]> =
                    frame.types.uses[fun].iter().map(|ty| ty.substitute(&frame.args)).collect();
                if optional.is_empty() {
                    self.call_item(frame, item, args, &[arg], result, site)
                } else {
                    self.call_with_options(frame, item, args, arg, optional, result, site)
                }
            }
            Some(Resolution::Prim(prim)) => self.call_prim(frame, prim, arg, result, site),
            _ => self.call_value(frame, fun, arg, result, site),
        }
    }

    fn is_function(&self, item: ItemId) -> bool {
        matches!(
            &*self.context.signature(item),
            Signature::Function { .. } | Signature::Record { .. }
        )
    }

    /// A call of a defined function or constructor. `operands` form its argument, a tuple if more
    /// than one.
    pub(super) fn call_item(
        &mut self,
        frame: &mut Frame<'c>,
        item: ItemId,
        args: Arc<[types::Ty]>,
        operands: &[ExprId],
        result: Ty,
        site: Site,
    ) -> Atom {
        let Some(shape) = self.shape(item) else {
            // A constructor: a record is its contents.
            return self.tuple(frame, operands, site);
        };
        let mut atoms = Vec::new();
        self.operands(frame, operands, &shape, &mut atoms);
        self.default_options(frame, item, &args, &mut atoms, site);
        let fun = self.function(item, args);
        frame.body.push(result, Op::Call(fun, atoms), site)
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one call")]
    fn call_with_options(
        &mut self,
        frame: &mut Frame<'c>,
        item: ItemId,
        args: Arc<[types::Ty]>,
        arg: ExprId,
        given: &[(Ident, ExprId)],
        result: Ty,
        site: Site,
    ) -> Atom {
        let item = self.latest(item);
        let shape = self.shape(item).expect("a constructor has no options");
        let mut atoms = Vec::new();
        self.operands(frame, &[arg], &shape, &mut atoms);
        let values: Vec<(Ident, Atom)> =
            given.iter().map(|(name, value)| (name.clone(), self.expr(frame, *value))).collect();
        let ast = self.context.ast(item);
        let ItemKind::Function(function) = &ast.kind else {
            unreachable!("options of a non-function")
        };
        for (index, (name, _)) in function.optional.iter().enumerate() {
            let found = values.iter().find(|(given, _)| given.name == name.name);
            let atom = match found {
                Some((_, atom)) => *atom,
                None => self.default_option(frame, item, index as u32, &args, site),
            };
            atoms.push(atom);
        }
        let fun = self.function(item, args);
        frame.body.push(result, Op::Call(fun, atoms), site)
    }

    fn default_options(
        &mut self,
        frame: &mut Frame<'c>,
        item: ItemId,
        args: &Arc<[types::Ty]>,
        atoms: &mut Vec<Atom>,
        site: Site,
    ) {
        let ast = self.context.ast(self.latest(item));
        if let ItemKind::Function(function) = &ast.kind {
            for index in 0..function.optional.len() as u32 {
                atoms.push(self.default_option(frame, item, index, args, site));
            }
        }
    }

    fn default_option(
        &mut self,
        frame: &mut Frame<'c>,
        item: ItemId,
        index: u32,
        args: &Arc<[types::Ty]>,
        site: Site,
    ) -> Atom {
        let item = self.latest(item);
        let owner = self.frame(item, args.clone());
        let ItemKind::Function(function) = &owner.ast.kind else {
            unreachable!("options of a non-function")
        };
        let ty = self.lower(&owner.ty(function.optional[index as usize].1));
        let fun = self.instance(Instance::Default(item, index, args.clone()));
        frame.body.push(ty, Op::Call(fun, Vec::new()), site)
    }

    /// How a function takes its argument apart; `None` for a constructor.
    fn shape(&self, item: ItemId) -> Option<Shape> {
        let ast = self.context.ast(self.latest(item));
        match &ast.kind {
            ItemKind::Function(function) => Some(Shape::of(&ast, function.param)),
            _ => None,
        }
    }

    /// The operands as one value.
    fn tuple(&mut self, frame: &mut Frame<'c>, operands: &[ExprId], site: Site) -> Atom {
        let atoms: Vec<Atom> = operands.iter().map(|e| self.expr(frame, *e)).collect();
        tuple_of(frame, &atoms, site)
    }

    /// The operands taken apart by a shape, evaluated left to right. Where the argument is written
    /// as a tuple, no tuple is made.
    fn operands(
        &mut self,
        frame: &mut Frame<'c>,
        operands: &[ExprId],
        shape: &Shape,
        out: &mut Vec<Atom>,
    ) {
        match (operands, shape) {
            ([one], _) => self.operand(frame, *one, shape, out),
            ([first, rest @ ..], Shape::Pair(a, b)) => {
                self.operand(frame, *first, a, out);
                self.operands(frame, rest, b, out);
            }
            (_, Shape::Leaf) => {
                let site = frame.site(operands[0]);
                out.push(self.tuple(frame, operands, site));
            }
            ([], Shape::Pair(..)) => unreachable!("a call has an argument"),
        }
    }

    fn operand(&mut self, frame: &mut Frame<'c>, expr: ExprId, shape: &Shape, out: &mut Vec<Atom>) {
        match (&frame.ast.exprs[expr], shape) {
            (Expr::Pair(first, second), Shape::Pair(a, b)) => {
                let (first, second) = (*first, *second);
                self.operand(frame, first, a, out);
                self.operand(frame, second, b, out);
            }
            _ => {
                let site = frame.site(expr);
                let value = self.expr(frame, expr);
                out.extend(Self::project(frame, shape, value, site));
            }
        }
    }

    fn call_prim(
        &mut self,
        frame: &mut Frame<'c>,
        prim: Prim,
        arg: ExprId,
        result: Ty,
        site: Site,
    ) -> Atom {
        if let PrimKind::Check(code) = prim.row().kind
            && let Expr::Pair(cond, text) = frame.ast.exprs[arg]
            && let Expr::Text(message) = &frame.ast.exprs[text]
        {
            // The message is part of the operation, not a value.
            let message = String::from_utf8_lossy(message).as_ref().into();
            let cond = self.expr(frame, cond);
            return frame.body.push(result, Op::Check { cond, code, message }, site);
        }
        let param = frame.ty(arg);
        let mut atoms = Vec::new();
        self.operand(frame, arg, &Shape::tuple(arity(prim.row().scheme)), &mut atoms);
        self.prim(frame, prim, &param, atoms, result, site)
    }

    /// A call of a function value: its type says which function it is, the value what it captured.
    fn call_value(
        &mut self,
        frame: &mut Frame<'c>,
        fun: ExprId,
        arg: ExprId,
        result: Ty,
        site: Site,
    ) -> Atom {
        let types::Ty::Function(ty) = frame.ty(fun) else {
            unreachable!("a call of what is not a function")
        };
        let env = self.expr(frame, fun);
        let (code, args) = match &ty.code {
            types::Ty::Code(code, args) => (*code, args.clone()),
            other => unreachable!("a call of an unknown function: {other:?}"),
        };
        match code {
            Code::Item(item) => self.call_item(frame, item, args, &[arg], result, site),
            Code::Prim(prim) => self.call_prim(frame, prim, arg, result, site),
            Code::Lambda(item, expr) => {
                let owner = self.context.ast(item);
                let Expr::Lambda { param, .. } = owner.exprs[expr] else {
                    unreachable!("a lambda that is none")
                };
                let mut atoms = vec![env];
                self.operand(frame, arg, &Shape::of(&owner, param), &mut atoms);
                let fun = self.instance(Instance::Lambda(item, expr, args));
                frame.body.push(result, Op::Call(fun, atoms), site)
            }
        }
    }
}

fn tuple_of(frame: &mut Frame<'_>, atoms: &[Atom], site: Site) -> Atom {
    let (last, rest) = atoms.split_last().expect("a tuple has parts");
    rest.iter().rev().fold(*last, |tail, atom| frame.body.pair(*atom, tail, site))
}

/// How many operands a primitive takes, from its scheme: `(a, a) -> bool` takes two.
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
