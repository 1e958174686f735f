//! Emits the marks that [`Watched`](super::Watched) describes.

use super::instance::{Elaborator, FunctionScope};
use super::watch::{Mark, WatchedBinding, WatchedFunction, pattern_text};
use crate::ir::{self, Atom, FunId, Op};
use crate::syntax::ast::{self, PatId};

impl<'c> Elaborator<'c> {
    /// Emits the mark at the beginning of a binding.
    pub(super) fn begin_binding(&mut self, scope: &mut FunctionScope<'c>, value: ast::ExprId) {
        if scope.watched {
            let site = scope.site(value);
            self.mark(scope, ir::Ty::Unit, Atom::Unit, site, Mark::Begin(site));
        }
    }

    /// Emits the mark at the end of a binding.
    pub(super) fn end_binding(
        &mut self,
        scope: &mut FunctionScope<'c>,
        pat: PatId,
        value: ast::ExprId,
        atom: Atom,
    ) {
        if !scope.watched {
            return;
        }
        let site = scope.site(value);
        let binding = WatchedBinding {
            function: self.definitions.name(scope.item).to_string(),
            name: pattern_text(&scope.ast, pat, true),
            ty: scope.ty(value),
            nested: scope.nests > 0,
            site,
        };
        let ty = scope.body.ty(atom);
        self.mark(scope, ty, atom, site, Mark::End(binding));
    }

    /// Emits a copy and records what it marks.
    fn mark(
        &mut self,
        scope: &mut FunctionScope<'c>,
        ty: ir::Ty,
        atom: Atom,
        site: ir::Site,
        mark: Mark,
    ) {
        if let Atom::Var(var) = scope.body.push(ty, Op::Copy(atom), site) {
            self.marks.push((var, mark));
        }
    }

    /// Records the function being elaborated, if it is watched.
    pub(super) fn note_watched(&mut self, scope: &FunctionScope<'c>, function: &ast::Function) {
        let (true, Some(body)) = (scope.watched, function.body) else { return };
        let mut leaves = Vec::new();
        super::pattern::pattern_variables(&scope.ast, function.param, &mut leaves);
        let named = leaves
            .into_iter()
            .map(|leaf| (pattern_text(&scope.ast, leaf, false), scope.pat_ty(leaf)));
        let optional = function
            .optional
            .iter()
            .map(|(name, default)| (name.name.to_string(), scope.ty(*default)));
        self.noted = Some(WatchedFunction {
            name: function.name.name.to_string(),
            params: named.chain(optional).collect(),
            result: scope.ty(body),
        });
    }

    /// Assigns the marks recorded since the last call to the function that was elaborated last.
    pub(super) fn attribute(&mut self, id: FunId) {
        if let Some(function) = self.noted.take() {
            self.watched.functions.insert(id, function);
        }
        let marks = std::mem::take(&mut self.marks);
        self.watched.marks.extend(marks.into_iter().map(|(var, mark)| ((id, var), mark)));
    }
}
