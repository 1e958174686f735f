//! Translates types of the language to types of the core language, and builds closures.

use super::instance::{Elaborator, FunctionScope};
use super::pattern::{self, Captured};
use crate::base::ItemId;
use crate::ir::{self, Atom, Site};
use crate::syntax::ast::ExprId;
use crate::types::{Code, Ty, record_content};
use nesl_runtime::bug;
use std::sync::Arc;

impl<'c> Elaborator<'c> {
    /// Returns the core type of a closed type: a record is its content, a function the tuple of its
    /// captured variables.
    ///
    /// A type variable that remains is the type of a value that is never inspected (the element of an
    /// empty sequence that is not read); any type does.
    pub(super) fn lower(&self, ty: &Ty) -> ir::Ty {
        match ty {
            Ty::Int | Ty::Error | Ty::Var(_) => ir::Ty::Int,
            Ty::Float => ir::Ty::Float,
            Ty::Bool => ir::Ty::Bool,
            Ty::Char => ir::Ty::Char,
            Ty::Pair(a, b) => ir::Ty::Pair(Box::new(self.lower(a)), Box::new(self.lower(b))),
            Ty::Sequence(a) => ir::Ty::Sequence(Box::new(self.lower(a))),
            Ty::Record(record, args) => {
                self.lower(&record_content(&self.definitions.signature(record.item), args))
            }
            Ty::Function(function) => match &function.code {
                Ty::Code(Code::Lambda(item, expr), args) => self.environment(*item, *expr, args),
                _ => ir::Ty::Unit,
            },
            Ty::Code(..) => ir::Ty::Unit,
        }
    }

    /// Returns the type of a lambda's closure: the captured variables as a right-nested tuple;
    /// `Unit` if there are none.
    pub(super) fn environment(&self, item: ItemId, expr: ExprId, args: &Arc<[Ty]>) -> ir::Ty {
        let scope = self.scope(item, args.clone());
        let captured = pattern::captured(&scope.ast, scope.names, expr);
        let mut types = captured.iter().rev().map(|c| self.lower(&self.captured_ty(&scope, *c)));
        let Some(last) = types.next() else { return ir::Ty::Unit };
        types.fold(last, |rest, ty| ir::Ty::Pair(Box::new(ty), Box::new(rest)))
    }

    fn captured_ty(&self, scope: &FunctionScope<'c>, captured: Captured) -> Ty {
        match captured {
            Captured::Local(pat) => scope.pat_ty(pat),
            Captured::Optional(index) => match &scope.ast.kind {
                crate::syntax::ast::ItemKind::Function(f) => scope.ty(f.optional[index as usize].1),
                other => bug!("only functions have optional parameters, not {other:?}"),
            },
        }
    }

    /// Emits the closure of a lambda: the captured variables as a tuple.
    pub(super) fn closure(&mut self, scope: &mut FunctionScope<'c>, expr: ExprId) -> Atom {
        let site = scope.site(expr);
        let captured = pattern::captured(&scope.ast, scope.names, expr);
        let mut atoms = captured.iter().rev().map(|c| match c {
            Captured::Local(pat) => scope.env[pat],
            Captured::Optional(index) => scope.optional[*index as usize],
        });
        let Some(last) = atoms.next() else { return Atom::Unit };
        let rest: Vec<Atom> = atoms.collect();
        rest.into_iter().fold(last, |rest, atom| scope.body.pair(atom, rest, site))
    }

    /// Binds the captured variables to the components of a closure.
    pub(super) fn unpack_environment(
        &self,
        scope: &mut FunctionScope<'c>,
        captured: &[Captured],
        env: Atom,
        site: Site,
    ) {
        let captured_count = captured.len();
        let mut rest = env;
        for (index, captured) in captured.iter().enumerate() {
            let last = index + 1 == captured_count;
            let atom = if last { rest } else { scope.body.first(rest, site) };
            if !last {
                rest = scope.body.second(rest, site);
            }
            match captured {
                Captured::Local(pat) => {
                    scope.env.insert(*pat, atom);
                }
                Captured::Optional(index) => {
                    let index = *index as usize;
                    scope.optional.resize(scope.optional.len().max(index + 1), Atom::Unit);
                    scope.optional[index] = atom;
                }
            }
        }
    }
}
