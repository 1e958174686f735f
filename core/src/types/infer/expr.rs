//! Inference of expressions.

use super::{BOUNDS, Infer, MemberTypes, TypeArguments};
use crate::base::{Diagnostic, DiagnosticKind, ItemId, Loc, Name, with_stack};
use crate::names::Resolution;
use crate::prim::Prim;
use crate::syntax::ast::{Expr, ExprId, Ident, PatId};
use crate::types::declare;
use crate::types::{Code, MAX_PARTS, Signature, Ty, exceeds, record_content};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use std::sync::Arc;

impl Infer<'_> {
    /// Infers the type of an expression.
    pub(super) fn expr(&mut self, body: &mut MemberTypes<'_>, id: ExprId) -> Ty {
        let ty = with_stack(|| self.expr_inner(body, id));
        self.record(body, id, ty)
    }

    /// Records the type of an expression.
    fn record(&mut self, body: &mut MemberTypes<'_>, id: ExprId, ty: Ty) -> Ty {
        let ty = self.within_limit(body, ty, body.at(id));
        body.exprs.insert(id, ty.clone());
        ty
    }

    /// Infers a chain of binary operators from its left end: it is as deep as it is long.
    fn chain(&mut self, body: &mut MemberTypes<'_>, whole: ExprId) -> Ty {
        let item = body.member.item;
        let (mut above, mut left_end) = (Vec::new(), whole);
        while let Expr::Binary { op, op_span, left, right } = &item.exprs[left_end] {
            let operator = self.name(body, left_end);
            above.push((left_end, op.name(), *op_span, operator, [*left, *right]));
            left_end = *left;
        }
        let mut ty = self.expr(body, left_end);
        while let Some((id, name, op_span, operator, operands)) = above.pop() {
            let types = vec![ty, self.expr(body, operands[1])];
            let op = body.loc(op_span);
            ty = self.applied(body, id, name, op, &operands, (operator, types));
            if id != whole {
                ty = self.record(body, id, ty);
            }
        }
        ty
    }

    /// Returns the type, or reports that it is too large. Every expression and pattern is checked, so a
    /// type that is too large is found before it grows further.
    pub(super) fn within_limit(&self, body: &mut MemberTypes<'_>, ty: Ty, at: Loc) -> Ty {
        if body.too_large {
            // Types that contain it are no smaller; one report is enough.
            return Ty::Error;
        }
        if !self.too_large(&ty) {
            return ty;
        }
        body.too_large = true;
        body.report(
            Diagnostic::error(DiagnosticKind::Type, at, "the type of this is too long")
                .note(format!("a type may have {MAX_PARTS} parts"))
                .hint("keep values of one type in a sequence"),
        );
        Ty::Error
    }

    /// Returns true if a type has more than [`MAX_PARTS`] parts.
    pub(super) fn too_large(&self, ty: &Ty) -> bool {
        match self.unifier.shallow(ty) {
            Ty::Error | Ty::Int | Ty::Float | Ty::Bool | Ty::Char | Ty::Var(_) => false,
            ty => exceeds(&ty, MAX_PARTS, &|part| self.unifier.shallow(part), &|record, args| {
                if self.group.contains(&record.item) {
                    return Ty::Error;
                }
                record_content(&self.environment.signature(record.item), args)
            }),
        }
    }

    fn expr_inner(&mut self, body: &mut MemberTypes<'_>, id: ExprId) -> Ty {
        let item = body.member.item;
        match &item.exprs[id] {
            Expr::Missing => Ty::Error,
            Expr::Int(_) => Ty::Int,
            Expr::Float(_) => Ty::Float,
            Expr::Bool(_) => Ty::Bool,
            Expr::Char(_) => Ty::Char,
            Expr::Text(_) => Ty::Char.sequence(),
            Expr::Name(_) | Expr::Quote(_) => self.name(body, id),
            Expr::Pair(a, b) => {
                let a = self.expr(body, *a);
                Ty::Pair(a.into(), self.expr(body, *b).into())
            }
            Expr::Sequence(items) => self.list(body, items),
            Expr::Constants { elements, .. } => Ty::of_constants(elements).sequence(),
            Expr::Empty(ty) => {
                let before = body.diagnostics.len();
                let read = self.read(body, ty, Default::default());
                if let Some(report) = body.diagnostics.get_mut(before) {
                    report.hints.clear();
                    report.notes.push("the type after `[]` cannot have variables".to_owned());
                }
                read.sequence()
            }
            Expr::Range { start, end, stride } => {
                let before = body.diagnostics.len();
                for part in [Some(*start), Some(*end), *stride].into_iter().flatten() {
                    self.expect(body, part, &Ty::Int, BOUNDS);
                }
                self.report_bounds(body, *start, before);
                Ty::Int.sequence()
            }
            Expr::Index { sequence, index } => self.index(body, *sequence, *index),
            Expr::Call { fun, arg, optional } => self.call(body, id, *fun, *arg, optional),
            Expr::Unary { op, op_span, arg } => {
                let at = body.loc(*op_span);
                self.operator(body, id, op.name(), at, &[*arg])
            }
            Expr::Binary { .. } => self.chain(body, id),
            Expr::If { cond, then, otherwise } => {
                self.expect(body, *cond, &Ty::Bool, "the condition of an `if` is a bool");
                let before = body.diagnostics.len();
                let a = self.expr(body, *then);
                let b = self.expr(body, *otherwise);
                if let Err(clash) = self.unifier.unify(&a, &b, body.at(*otherwise)) {
                    // After an error in a branch its type may be a consequence.
                    if body.diagnostics.len() > before {
                        return Ty::Error;
                    }
                    self.report_branches(body, id, (*then, &a), (*otherwise, &b), &clash);
                    return Ty::Error;
                }
                a
            }
            Expr::Let { bindings, body: inner } => {
                for (pat, value) in bindings {
                    self.binding(body, *pat, *value);
                }
                self.expr(body, *inner)
            }
            Expr::Each { body: inner, bindings, sieve, .. } => {
                self.each(body, *inner, bindings, *sieve)
            }
            Expr::Lambda { param, body: inner } => {
                let param = self.pattern(body, *param);
                let result = self.expr(body, *inner);
                let code = Ty::Code(Code::Lambda(body.member.id, id), Arc::new([]));
                Ty::function(param, result, code)
            }
            Expr::Time(inner) => {
                let ty = self.expr(body, *inner);
                Ty::Pair(ty.into(), Ty::Float.into())
            }
        }
    }

    /// Infers an expression that must have a type; `why` is the note if it has another.
    fn expect(&mut self, body: &mut MemberTypes<'_>, expr: ExprId, ty: &Ty, why: &str) {
        let actual = self.expr(body, expr);
        let at = body.at(expr);
        if self.unifier.unify(ty, &actual, at).is_err() {
            self.report_expected(body, expr, ty, &actual, why);
        }
    }

    fn list(&mut self, body: &mut MemberTypes<'_>, items: &[ExprId]) -> Ty {
        let first = self.expr(body, items[0]);
        let mut fine = true;
        for item in &items[1..] {
            let ty = self.expr(body, *item);
            let at = body.at(*item);
            if let Err(clash) = self.unifier.unify(&first, &ty, at)
                && std::mem::take(&mut fine)
            {
                self.report_elements(body, (items[0], &first), (*item, &ty), &clash);
            }
        }
        if fine { first.sequence() } else { Ty::Error }
    }

    fn index(&mut self, body: &mut MemberTypes<'_>, sequence: ExprId, index: ExprId) -> Ty {
        let ty = self.expr(body, sequence);
        let element = self.fresh();
        let at = body.at(sequence);
        let fine = self.unifier.unify(&element.clone().sequence(), &ty, at).is_ok();
        if !fine {
            self.report_not_indexed(body, sequence, index, &ty);
        }
        if !fine {
            self.expr(body, index);
            return Ty::Error;
        }
        self.expect(body, index, &Ty::Int, super::report::INDEX_IS_INT);
        element
    }

    fn each(
        &mut self,
        body: &mut MemberTypes<'_>,
        inner: ExprId,
        bindings: &[(PatId, ExprId)],
        sieve: Option<ExprId>,
    ) -> Ty {
        let sequences: Vec<Ty> =
            bindings.iter().map(|(_, sequence)| self.expr(body, *sequence)).collect();
        for ((pat, sequence), ty) in bindings.iter().zip(sequences) {
            let element = self.pattern(body, *pat);
            let at = body.at(*sequence);
            let actual = self.fresh();
            if self.unifier.unify(&actual.clone().sequence(), &ty, at).is_err() {
                self.report_not_sequence(body, *sequence, &ty);
                let _ = self.unifier.unify(&element, &Ty::Error, at);
            } else if let Err(clash) = self.unifier.unify(&element, &actual, at) {
                self.report_pattern(body, *pat, *sequence, &element, &actual, &clash);
            }
        }
        if let Some(sieve) = sieve {
            self.expect(body, sieve, &Ty::Bool, "the condition after `|` is a bool");
        }
        self.expr(body, inner).sequence()
    }

    /// Infers a name that is used as a value or called.
    fn name(&mut self, body: &mut MemberTypes<'_>, id: ExprId) -> Ty {
        match body.member.names.values.get(id).cloned() {
            Some(Resolution::Local(pat)) => body.pats.get(pat).cloned().unwrap_or(Ty::Error),
            Some(Resolution::Optional(index)) => body.optional[index as usize].clone(),
            Some(Resolution::Item(item, name)) => self.item(body, id, item, &name),
            Some(Resolution::Prim(prim)) => self.prim(body, id, prim),
            Some(Resolution::Unknown) | None => Ty::Error,
        }
    }

    fn prim(&mut self, body: &mut MemberTypes<'_>, id: ExprId, prim: Prim) -> Ty {
        let scheme = self
            .primitives
            .entry(prim)
            .or_insert_with(|| declare::scheme_of_text(prim.row().scheme))
            .clone();
        let (ty, args) = self.unifier.instantiate(&scheme);
        body.uses.insert(id, TypeArguments::At(args.clone()));
        match ty {
            Ty::Function(f) => {
                let code = Ty::Code(Code::Prim(prim), args);
                Ty::function(f.param.clone(), f.result.clone(), code)
            }
            constant => constant,
        }
    }

    fn item(&mut self, body: &mut MemberTypes<'_>, id: ExprId, item: ItemId, name: &Name) -> Ty {
        if let Some(own) = self.functions.get(&item) {
            body.uses.insert(id, TypeArguments::Own);
            return own.ty.clone();
        }
        let scheme = match &*self.environment.signature(item) {
            Signature::Function { scheme, .. } | Signature::Record { scheme } => scheme.clone(),
            Signature::Values { values } => {
                let Some((_, scheme)) = values.iter().find(|(n, _)| n == name) else {
                    return Ty::Error;
                };
                scheme.clone()
            }
            Signature::Broken => return Ty::Error,
        };
        let (ty, args) = self.unifier.instantiate(&scheme);
        body.uses.insert(id, TypeArguments::At(args));
        ty
    }

    fn operator(
        &mut self,
        body: &mut MemberTypes<'_>,
        id: ExprId,
        name: &str,
        op: Loc,
        operands: &[ExprId],
    ) -> Ty {
        let operator = self.name(body, id);
        let types: Vec<Ty> = operands.iter().map(|e| self.expr(body, *e)).collect();
        self.applied(body, id, name, op, operands, (operator, types))
    }

    /// Returns the type of an operator of some type applied to operands of some types.
    fn applied(
        &mut self,
        body: &mut MemberTypes<'_>,
        id: ExprId,
        name: &str,
        op: Loc,
        operands: &[ExprId],
        (operator, mut types): (Ty, Vec<Ty>),
    ) -> Ty {
        let Ty::Function(f) = operator else { return Ty::Error };
        let last = types.pop().or_bug("an operator has operands");
        let whole = types.into_iter().rev().fold(last, |rest, ty| Ty::Pair(ty.into(), rest.into()));
        if let Err(clash) = self.unifier.unify(&f.param, &whole, body.at(id)) {
            let shown = if name == "negate" { "-" } else { name };
            self.report_call(body, id, op, &Name::new(shown), operands, None, &clash);
            return Ty::Error;
        }
        f.result.clone()
    }

    fn call(
        &mut self,
        body: &mut MemberTypes<'_>,
        id: ExprId,
        fun: ExprId,
        arg: ExprId,
        optional: &[(Ident, ExprId)],
    ) -> Ty {
        let fun_ty = self.expr(body, fun);
        let fun_ty = self.unifier.shallow(&fun_ty);
        let arg_ty = self.expr(body, arg);
        let f = match &fun_ty {
            Ty::Function(f) => f.clone(),
            Ty::Var(_) => {
                let (param, result, code) = (self.fresh(), self.fresh(), self.fresh());
                let ty = Ty::function(param, result, code);
                if self.unifier.unify(&fun_ty, &ty, body.at(fun)).is_err() {
                    self.report_not_function(body, fun, (arg, &arg_ty), &fun_ty);
                    return Ty::Error;
                }
                let Ty::Function(f) = ty else { bug!("the type was made as a function type") };
                f
            }
            Ty::Error => {
                for (_, value) in optional {
                    self.expr(body, *value);
                }
                return Ty::Error;
            }
            _ => {
                self.report_not_function(body, fun, (arg, &arg_ty), &fun_ty);
                return Ty::Error;
            }
        };
        self.options(body, fun, optional);
        if let Err(clash) = self.unifier.unify(&f.param, &arg_ty, body.at(arg)) {
            let operands = components(body, arg);
            let name = self.callee(body, fun).unwrap_or_else(|| Name::new("this function"));
            let at = body.at(fun);
            self.report_call(body, id, at, &name, &operands, Some(fun), &clash);
            return Ty::Error;
        }
        f.result.clone()
    }

    /// Infers optional arguments, `n := 7`: each names an optional parameter of the function, once.
    fn options(&mut self, body: &mut MemberTypes<'_>, fun: ExprId, given: &[(Ident, ExprId)]) {
        if given.is_empty() {
            return;
        }
        let declared: Vec<(Name, Ty)> = match body.member.names.values.get(fun) {
            Some(Resolution::Item(item, _)) => match self.functions.get(item) {
                Some(own) => own.optional.clone(),
                None => match &*self.environment.signature(*item) {
                    Signature::Function { optional, .. } => {
                        let args = match body.uses.get(fun) {
                            Some(TypeArguments::At(args)) => args.clone(),
                            Some(TypeArguments::Own) | None => Arc::new([]),
                        };
                        optional.iter().map(|(n, ty)| (n.clone(), ty.substitute(&args))).collect()
                    }
                    Signature::Record { .. } | Signature::Values { .. } | Signature::Broken => {
                        Vec::new()
                    }
                },
            },
            _ => Vec::new(),
        };
        for (i, (ident, value)) in given.iter().enumerate() {
            let at = body.loc(ident.span);
            let actual = self.expr(body, *value);
            if given[..i].iter().any(|(other, _)| other.name == ident.name) {
                body.report(Diagnostic::error(
                    DiagnosticKind::Type,
                    at,
                    format!("`{}` is given twice", ident.name),
                ));
            }
            match declared.iter().find(|(name, _)| *name == ident.name) {
                Some((_, ty)) => {
                    let place = body.at(*value);
                    if self.unifier.unify(ty, &actual, place).is_err() {
                        let why = format!("that is the type of `{}`", ident.name);
                        let ty = ty.clone();
                        self.report_expected(body, *value, &ty, &actual, &why);
                    }
                }
                None => {
                    let names: Vec<String> =
                        declared.iter().map(|(n, _)| format!("`{n}`")).collect();
                    let report = Diagnostic::error(
                        DiagnosticKind::Type,
                        at,
                        format!("there is no optional argument `{}`", ident.name),
                    );
                    body.report(if names.is_empty() {
                        report.note("this function has no optional arguments")
                    } else {
                        report.note(format!("its optional arguments: {}", names.join(", ")))
                    });
                }
            }
        }
    }
}

/// Returns the components of an argument that is written as a tuple.
pub(super) fn components(body: &MemberTypes<'_>, arg: ExprId) -> Vec<ExprId> {
    let mut all = Vec::new();
    let mut rest = arg;
    while let Expr::Pair(first, second) = body.member.item.exprs[rest] {
        all.push(first);
        rest = second;
    }
    all.push(rest);
    all
}
