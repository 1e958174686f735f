//! Generalisation: from the unifier's variables to the variables of schemes.

use super::{Infer, MemberTypes, TypeArguments};
use crate::base::{Diagnostic, DiagnosticKind, ItemId, Name};
use crate::syntax::ast::{Expr, ExprId, ItemKind, Pat, PatId};
use crate::types::print::print_with;
use crate::types::unify::includes;
use crate::types::{Class, Code, FunctionTy, ItemTypes, Scheme, Signature, Ty};
use rustc_hash::FxHashMap;
use std::sync::Arc;

impl Infer<'_> {
    /// Generalises the types of the group over its free variables.
    pub(super) fn generalise(
        mut self,
        mut bodies: Vec<MemberTypes<'_>>,
    ) -> FxHashMap<ItemId, ItemTypes> {
        for body in &mut bodies {
            self.check_sizes(body);
        }
        // Types that are too large are not traversed.
        let within = bodies.iter().all(|body| !body.too_large);
        let mut vars = Vec::new();
        if within {
            self.check_declared(&mut bodies);
            vars = self.quantified(&bodies);
        }
        let classes: Vec<Class> = vars.iter().map(|v| self.unifier.class(*v)).collect();
        for body in &mut bodies {
            self.check_determined(body, &vars);
        }
        let closer = Closer {
            infer: &self,
            within,
            numbers: vars.iter().enumerate().map(|(i, v)| (*v, i as u32)).collect(),
            own: (0..vars.len() as u32).map(Ty::Var).collect(),
        };
        let mut out = FxHashMap::default();
        for body in bodies {
            let id = body.member.id;
            let signature = Arc::new(closer.signature(&body, &classes));
            out.insert(
                id,
                ItemTypes {
                    signature,
                    vars: classes.clone(),
                    exprs: body.exprs.iter().map(|(e, ty)| (e, closer.close(ty))).collect(),
                    pats: body.pats.iter().map(|(p, ty)| (p, closer.close(ty))).collect(),
                    uses: body
                        .uses
                        .iter()
                        .map(|(e, used)| {
                            let args = match used {
                                TypeArguments::At(args) => {
                                    args.iter().map(|a| closer.close(a)).collect()
                                }
                                TypeArguments::Own => closer.own.clone(),
                            };
                            (e, args)
                        })
                        .collect(),
                    diagnostics: body.diagnostics,
                },
            );
        }
        out
    }

    /// Checks the sizes of types once more: a type may have grown after its expression was inferred, as
    /// the use `x[0]` determines more of the type of `x`.
    fn check_sizes(&mut self, body: &mut MemberTypes<'_>) {
        let exprs: Vec<ExprId> = body.exprs.iter().map(|(e, _)| e).collect();
        for expr in exprs {
            let ty = std::mem::replace(&mut body.exprs[expr], Ty::Error);
            body.exprs[expr] = self.within_limit(body, ty, body.at(expr));
        }
        let pats: Vec<PatId> = body.pats.iter().map(|(p, _)| p).collect();
        for pat in pats {
            let ty = std::mem::replace(&mut body.pats[pat], Ty::Error);
            body.pats[pat] = self.within_limit(body, ty, body.at_pat(pat));
        }
    }

    /// Reports annotations that are more general than the body; they may be more specific.
    fn check_declared(&mut self, bodies: &mut [MemberTypes<'_>]) {
        let mut seen: Vec<(u32, Name)> = Vec::new();
        for declared in &self.declared {
            let Some(body) = bodies.iter_mut().find(|b| b.member.id == declared.at.item) else {
                continue;
            };
            let name = &declared.name;
            let report = match self.unifier.shallow(&declared.ty) {
                Ty::Var(v) => {
                    let class = self.unifier.class(v);
                    if let Some((_, other)) = seen.iter().find(|(w, _)| *w == v) {
                        Some(format!(
                            "`{other}` and `{name}` are declared apart, but the body makes them one type"
                        ))
                    } else {
                        seen.push((v, name.clone()));
                        let narrower = class != declared.class && includes(declared.class, class);
                        narrower.then(|| {
                            let needed = crate::types::class_name(class);
                            let said = crate::types::class_name(declared.class);
                            format!(
                                "`{name}` is declared `in {said}`, but the body needs `in {needed}`"
                            )
                        })
                    }
                }
                Ty::Error => None,
                other => {
                    let shown = self.show(&other);
                    Some(format!(
                        "`{name}` is declared a type variable, but the body makes it {shown}"
                    ))
                }
            };
            if let Some(message) = report {
                let mut report = Diagnostic::error(DiagnosticKind::Type, declared.at, message);
                if let Some(place) = self.unifier.cause(&declared.ty) {
                    report = report.label(place, "because of this");
                }
                body.diagnostics.push(report.hint("make the annotation fit, or leave it out"));
            }
        }
    }

    /// Returns the variables to generalise: declared ones first, in order, then in order of
    /// appearance.
    fn quantified(&self, bodies: &[MemberTypes<'_>]) -> Vec<u32> {
        let mut vars = Vec::new();
        let mut add = |v: u32| {
            if !vars.contains(&v) {
                vars.push(v);
            }
        };
        for declared in &self.declared {
            if let Ty::Var(v) = self.unifier.shallow(&declared.ty) {
                add(v);
            }
        }
        for body in bodies {
            match &body.member.item.kind {
                ItemKind::Function(_) => {
                    let own = &self.functions[&body.member.id];
                    if let Ty::Function(f) = &own.ty {
                        self.visit(&f.param, &mut add);
                        self.visit(&f.result, &mut add);
                    }
                    for (_, ty) in &own.optional {
                        self.visit(ty, &mut add);
                    }
                }
                // A value is generalised only inside function types.
                ItemKind::Binding { value, .. } | ItemKind::Expr(value) => {
                    if let Some(ty) = body.exprs.get(*value) {
                        self.visit_functions(ty, &mut add);
                    }
                }
                ItemKind::Datatype(_) | ItemKind::Command(_) | ItemKind::Missing => {}
            }
        }
        for body in bodies.iter().filter(|_| self.open) {
            let all = body.exprs.values().chain(body.pats.values());
            all.for_each(|ty| self.visit(ty, &mut add));
        }
        vars
    }

    fn visit(&self, ty: &Ty, add: &mut impl FnMut(u32)) {
        self.unifier.resolve(ty, &mut |v| {
            add(v);
            Ty::Var(v)
        });
    }

    fn visit_functions(&self, ty: &Ty, add: &mut impl FnMut(u32)) {
        match self.unifier.shallow(ty) {
            Ty::Function(f) => {
                self.visit(&f.param, add);
                self.visit(&f.result, add);
                self.visit(&f.code, add);
            }
            Ty::Pair(a, b) => {
                self.visit_functions(&a, add);
                self.visit_functions(&b, add);
            }
            Ty::Sequence(a) => self.visit_functions(&a, add),
            Ty::Record(_, args) => args.iter().for_each(|a| self.visit_functions(a, add)),
            Ty::Error | Ty::Int | Ty::Float | Ty::Bool | Ty::Char | Ty::Code(..) | Ty::Var(_) => {}
        }
    }

    /// Reports a value whose type is not determined. Variables of class `any` are
    /// allowed, since there are no values of their types.
    fn check_determined(&mut self, body: &mut MemberTypes<'_>, quantified: &[u32]) {
        let (ItemKind::Binding { value, .. } | ItemKind::Expr(value)) = body.member.item.kind
        else {
            return;
        };
        let Some(ty) = body.exprs.get(value).cloned() else { return };
        let mut open = false;
        self.visit(&ty, &mut |v| {
            open |= !quantified.contains(&v) && self.unifier.class(v) != Class::Any;
        });
        let fine = body.diagnostics.is_empty() && body.member.names.diagnostics.is_empty();
        if open && fine {
            let shown = self.show(&ty);
            let at = body.at(value);
            let report = Diagnostic::error(
                DiagnosticKind::Type,
                at,
                format!("the type of this is not determined: {shown}"),
            );
            let called = match body.member.item.exprs[value] {
                Expr::Call { fun, .. } if self.defined_at(body, fun).is_some() => {
                    self.callee(body, fun)
                }
                _ => None,
            };
            body.report(match called {
                Some(name) => report.hint(format!(
                    "does `{name}` call itself in every case? one must end it; or declare what it gives"
                )),
                None => report
                    .hint("use it at one type, for instance through a function with an annotation"),
            });
        }
    }

    /// Returns a type as text for messages, with bound variables substituted.
    pub(super) fn show(&self, ty: &Ty) -> String {
        if self.too_large(ty) {
            return "a type that is too long".to_owned();
        }
        let known = self.unifier.resolved(ty);
        print_with(&known, &|v| {
            let class = self.unifier.class(v);
            (class != Class::Any).then_some(class)
        })
    }
}

/// Replaces the unifier's variables by those of the scheme.
struct Closer<'a, 'c> {
    infer: &'a Infer<'c>,
    /// True if no type of the group is too large.
    within: bool,
    numbers: FxHashMap<u32, u32>,
    /// All variables of the group, which its own functions are used at.
    own: Arc<[Ty]>,
}

impl Closer<'_, '_> {
    fn close(&self, ty: &Ty) -> Ty {
        let resolved = self.infer.unifier.resolve(ty, &mut |v| match self.numbers.get(&v) {
            Some(number) => Ty::Var(*number),
            // No value has this type: it is the element type of an empty sequence that is not read.
            None => Ty::Int,
        });
        self.identify(&resolved)
    }

    /// Gives functions of the group the group's variables as type arguments.
    fn identify(&self, ty: &Ty) -> Ty {
        match ty {
            Ty::Code(code @ (Code::Item(item) | Code::Lambda(item, _)), args) => {
                let own = self.infer.group.contains(item) && args.is_empty();
                let args = if own {
                    self.own.clone()
                } else {
                    args.iter().map(|a| self.identify(a)).collect()
                };
                Ty::Code(*code, args)
            }
            Ty::Code(code, args) => {
                Ty::Code(*code, args.iter().map(|a| self.identify(a)).collect())
            }
            Ty::Function(f) => Ty::Function(Arc::new(FunctionTy {
                param: self.identify(&f.param),
                result: self.identify(&f.result),
                code: self.identify(&f.code),
            })),
            Ty::Pair(a, b) => Ty::Pair(self.identify(a).into(), self.identify(b).into()),
            Ty::Sequence(a) => self.identify(a).sequence(),
            Ty::Record(record, args) => {
                Ty::Record(record.clone(), args.iter().map(|a| self.identify(a)).collect())
            }
            Ty::Error | Ty::Int | Ty::Float | Ty::Bool | Ty::Char | Ty::Var(_) => ty.clone(),
        }
    }

    fn signature(&self, body: &MemberTypes<'_>, classes: &[Class]) -> Signature {
        let fine = body.diagnostics.is_empty() && body.member.names.diagnostics.is_empty();
        if !fine || !self.within {
            return Signature::Broken;
        }
        if let Some(signature) = &body.signature {
            return signature.clone();
        }
        let scheme = |ty: Ty| Scheme { vars: classes.to_vec(), ty };
        match &body.member.item.kind {
            ItemKind::Function(_) => {
                let own = &self.infer.functions[&body.member.id];
                let optional =
                    own.optional.iter().map(|(n, ty)| (n.clone(), self.close(ty))).collect();
                Signature::Function { scheme: scheme(self.close(&own.ty)), optional }
            }
            ItemKind::Binding { pattern, .. } => {
                let mut values = Vec::new();
                self.values(body, *pattern, &mut |name, ty| values.push((name, scheme(ty))));
                Signature::Values { values }
            }
            ItemKind::Expr(value) => {
                let ty = body.exprs.get(*value).map_or(Ty::Error, |ty| self.close(ty));
                Signature::Values { values: vec![(Name::new("it"), scheme(ty))] }
            }
            ItemKind::Datatype(_) | ItemKind::Command(_) | ItemKind::Missing => Signature::Broken,
        }
    }

    fn values(&self, body: &MemberTypes<'_>, pat: PatId, add: &mut dyn FnMut(Name, Ty)) {
        match &body.member.item.pats[pat] {
            Pat::Missing => {}
            Pat::Name(name) => {
                let ty = body.pats.get(pat).map_or(Ty::Error, |ty| self.close(ty));
                add(name.clone(), ty);
            }
            Pat::Pair(a, b) => {
                self.values(body, *a, add);
                self.values(body, *b, add);
            }
            Pat::Record { content, .. } => self.values(body, *content, add),
        }
    }
}
