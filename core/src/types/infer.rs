//! Infers the types of a recursion group: declares monomorphic types, infers bodies, generalises.
//!
//! | file | contents |
//! |---|---|
//! | `expr` | inference of expressions |
//! | `generalise` | from the variables of the unifier to those of schemes |
//! | `report` | type errors: both sides of a clash, the origin of each, and a suggestion |
//! | `advice` | suggestions for calls whose argument does not fit |
//! | `brief` | short expressions as text, for suggestions |
//! | `words` | types in the words of messages |

mod advice;
mod brief;
mod expr;
mod generalise;
mod report;
mod words;

use super::declare::{Owner, Reader, class_of, record_signature};
use super::unify::Unifier;
use super::{Class, Code, ItemTypes, Member, Record, Scheme, Signature, Ty, TypeEnvironment};
use crate::base::{Diagnostic, DiagnosticKind, ItemId, Loc, Name, Span, with_stack};
use crate::syntax::ast::{
    ArenaMap, Datatype, Expr, ExprId, Function, ItemKind, Pat, PatId, TypeExpr, TypeScheme,
};
use nesl_runtime::bug;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The reason that a range of other values than ints is refused.
const BOUNDS: &str = "the bounds of a range are ints";

/// Infers the types of a recursion group (usually one item).
pub fn infer(
    group: &[Member<'_>],
    environment: &dyn TypeEnvironment,
) -> FxHashMap<ItemId, ItemTypes> {
    infer_with(group, environment, false)
}

/// Infers the types of a form that is being written: a type that is not determined remains a variable
/// with its class, also inside expressions.
pub fn infer_open(
    group: &[Member<'_>],
    environment: &dyn TypeEnvironment,
) -> FxHashMap<ItemId, ItemTypes> {
    infer_with(group, environment, true)
}

fn infer_with(
    group: &[Member<'_>],
    environment: &dyn TypeEnvironment,
    open: bool,
) -> FxHashMap<ItemId, ItemTypes> {
    let mut infer = Infer {
        environment,
        open,
        unifier: Unifier::default(),
        group: group.iter().map(|m| m.id).collect(),
        functions: FxHashMap::default(),
        primitives: FxHashMap::default(),
        declared: Vec::new(),
    };
    let mut bodies: Vec<MemberTypes<'_>> =
        group.iter().map(|member| MemberTypes::new(*member)).collect();
    for body in &mut bodies {
        infer.declare(body);
    }
    for body in &mut bodies {
        infer.body(body);
    }
    infer.generalise(bodies)
}

/// The state of an inference, shared by the members of the group.
struct Infer<'a> {
    environment: &'a dyn TypeEnvironment,
    /// True if undetermined variables inside expressions are kept, not only those of signatures.
    open: bool,
    unifier: Unifier,
    group: Vec<ItemId>,
    /// The monomorphic types of the group's functions while they are being inferred.
    functions: FxHashMap<ItemId, Monotype>,
    primitives: FxHashMap<crate::prim::Prim, Scheme>,
    /// The type variables that annotations declare, in order.
    declared: Vec<Declared>,
}

/// A type variable that an annotation declares.
struct Declared {
    name: Name,
    at: Loc,
    class: Class,
    ty: Ty,
}

#[derive(Clone)]
struct Monotype {
    ty: Ty,
    optional: Vec<(Name, Ty)>,
}

/// The types inferred for one member.
struct MemberTypes<'a> {
    member: Member<'a>,
    exprs: ArenaMap<ExprId, Ty>,
    pats: ArenaMap<PatId, Ty>,
    uses: ArenaMap<ExprId, TypeArguments>,
    optional: Vec<Ty>,
    signature: Option<Signature>,
    /// True once a type that is too large has been reported.
    too_large: bool,
    diagnostics: Vec<Diagnostic<Loc>>,
}

/// The type arguments of a use of a definition.
enum TypeArguments {
    /// An instantiation of a scheme.
    At(Arc<[Ty]>),
    /// A use inside the definition's own group: the variables of the group.
    Own,
}

impl<'a> MemberTypes<'a> {
    fn new(member: Member<'a>) -> MemberTypes<'a> {
        MemberTypes {
            member,
            exprs: ArenaMap::default(),
            pats: ArenaMap::default(),
            uses: ArenaMap::default(),
            optional: Vec::new(),
            signature: None,
            too_large: false,
            diagnostics: Vec::new(),
        }
    }

    fn loc(&self, span: Span) -> Loc {
        Loc { item: self.member.id, span }
    }

    fn at(&self, expr: ExprId) -> Loc {
        self.loc(self.member.item.expr_spans[expr])
    }

    fn at_pat(&self, pat: PatId) -> Loc {
        self.loc(self.member.item.pat_spans[pat])
    }

    fn report(&mut self, diagnostic: Diagnostic<Loc>) {
        self.diagnostics.push(diagnostic);
    }
}

impl Infer<'_> {
    fn fresh(&mut self) -> Ty {
        self.unifier.fresh(Class::Any)
    }

    /// Declares the monomorphic type of a member, from its annotation.
    fn declare(&mut self, body: &mut MemberTypes<'_>) {
        match &body.member.item.kind {
            ItemKind::Function(function) => self.declare_function(body, function),
            ItemKind::Datatype(datatype) => self.declare_datatype(body, datatype),
            ItemKind::Binding { .. }
            | ItemKind::Expr(_)
            | ItemKind::Command(_)
            | ItemKind::Missing => {}
        }
    }

    fn declare_function(&mut self, body: &mut MemberTypes<'_>, function: &Function) {
        let param = self.fresh();
        let result = self.fresh();
        let code = Ty::Code(Code::Item(body.member.id), Arc::new([]));
        let ty = Ty::function(param, result, code);
        if let Some(annotation) = &function.annotation {
            let written = self.annotation(body, annotation, Owner::Function);
            let at = body.loc(annotation.ty.span);
            match &written {
                Ty::Function(w) => {
                    let Ty::Function(own) = &ty else {
                        bug!("the type was made as a function type")
                    };
                    // One side consists of fresh variables: this cannot fail.
                    let _ = self.unifier.unify(&own.param, &w.param, at);
                    let _ = self.unifier.unify(&own.result, &w.result, at);
                }
                Ty::Error => {}
                other => {
                    let shown = self.show(other);
                    body.report(
                        Diagnostic::error(
                            DiagnosticKind::Type,
                            at,
                            format!("the type of a function has an arrow, `{shown}` has none"),
                        )
                        .hint("write `: argument -> result`"),
                    );
                }
            }
        }
        let mut optional = Vec::new();
        for (ident, _) in &function.optional {
            let ty = self.fresh();
            optional.push((ident.name.clone(), ty.clone()));
            body.optional.push(ty);
        }
        self.functions.insert(body.member.id, Monotype { ty, optional });
    }

    /// Returns the type of an annotation, with new variables for the declared ones.
    fn annotation(&mut self, body: &mut MemberTypes<'_>, written: &TypeScheme, owner: Owner) -> Ty {
        let mut variables = FxHashMap::default();
        for (name, class) in &written.context {
            let at = body.loc(name.span);
            let Some(class_in) = class_of(class.name.folded()) else {
                let place = body.loc(class.span);
                body.report(
                    Diagnostic::error(
                        DiagnosticKind::Type,
                        place,
                        format!("`{}` is not a class", class.name),
                    )
                    .hint("the classes are any, number, ordinal and logical"),
                );
                variables.insert(name.name.clone(), Ty::Error);
                continue;
            };
            if let (Owner::Function, Some(only)) = (owner, class_in.only()) {
                variables.insert(name.name.clone(), only);
                continue;
            }
            let ty = self.unifier.fresh(class_in);
            variables.insert(name.name.clone(), ty.clone());
            self.declared.push(Declared { name: name.name.clone(), at, class: class_in, ty });
        }
        self.read(body, &written.ty, variables)
    }

    /// Reads a type annotation in the scope of type variables.
    fn read(
        &mut self,
        body: &mut MemberTypes<'_>,
        ty: &TypeExpr,
        variables: FxHashMap<Name, Ty>,
    ) -> Ty {
        let environment = self.environment;
        let group = self.group.clone();
        let own = body.member.id;
        let own_arity = variables.len();
        let arity = move |item: ItemId| {
            if item == own {
                return own_arity;
            }
            if group.contains(&item) {
                return 0;
            }
            match &*environment.signature(item) {
                Signature::Record { scheme } => scheme.vars.len(),
                Signature::Function { .. } | Signature::Values { .. } | Signature::Broken => 0,
            }
        };
        let unifier = &mut self.unifier;
        let mut fresh_code = || unifier.fresh(Class::Any);
        let mut reader = Reader {
            id: own,
            names: body.member.names,
            variables,
            fresh_code: &mut fresh_code,
            arity: &arity,
            unknown: Vec::new(),
            diagnostics: Vec::new(),
        };
        let read = reader.read(ty);
        let diagnostics = reader.diagnostics;
        body.diagnostics.extend(diagnostics);
        read
    }

    fn declare_datatype(&mut self, body: &mut MemberTypes<'_>, datatype: &Datatype) {
        let id = body.member.id;
        let recursive = body.member.names.references.iter().any(|r| self.group.contains(r));
        if recursive {
            let at = body.loc(datatype.name.span);
            body.report(
                Diagnostic::error(
                    DiagnosticKind::Type,
                    at,
                    format!("the datatype `{}` contains itself", datatype.name.name),
                )
                .note("recursive types are not part of NESL")
                .hint("keep the parts in sequences and refer to them by index"),
            );
            body.signature = Some(Signature::Broken);
            return;
        }
        let start = self.declared.len();
        let content = self.annotation(body, &datatype.content, Owner::Datatype);
        let vars: Vec<Class> = self.declared[start..].iter().map(|d| d.class).collect();
        let numbers: Vec<Ty> = self.declared[start..].iter().map(|d| d.ty.clone()).collect();
        self.declared.truncate(start);
        let unifier = &self.unifier;
        let ty = unifier.resolve(&content, &mut |v| {
            let index = numbers.iter().position(|n| *n == Ty::Var(v));
            index.map_or(Ty::Error, |i| Ty::Var(i as u32))
        });
        let record = Record { item: id, name: datatype.name.name.clone() };
        let without_errors = body.diagnostics.is_empty();
        body.signature = Some(if without_errors {
            record_signature(record, Scheme { vars, ty })
        } else {
            Signature::Broken
        });
    }

    /// Infers the body of a member.
    fn body(&mut self, body: &mut MemberTypes<'_>) {
        match &body.member.item.kind {
            ItemKind::Function(function) => {
                let own = self.functions[&body.member.id].clone();
                let Ty::Function(ty) = &own.ty else { bug!("a function has a function type") };
                let (param, result) = (ty.param.clone(), ty.result.clone());
                for ((_, default), ty) in function.optional.iter().zip(body.optional.clone()) {
                    let actual = self.expr(body, *default);
                    let at = body.at(*default);
                    let _ = self.unifier.unify(&ty, &actual, at);
                }
                let pattern = self.pattern(body, function.param);
                let fits = self.unifier.unify(&pattern, &param, body.at_pat(function.param));
                if let Err(clash) = &fits {
                    self.report_annotation(body, function, &pattern, &own.ty, clash);
                }
                if let Some(expr) = function.body {
                    let before = body.diagnostics.len();
                    let actual = self.expr(body, expr);
                    if let Err(clash) = self.unifier.unify(&result, &actual, body.at(expr))
                        && body.diagnostics.len() == before
                        && fits.is_ok()
                    {
                        self.report_result(body, function, expr, &result, &actual, &clash);
                    }
                }
            }
            ItemKind::Binding { pattern, value, .. } => {
                let (pattern, value) = (*pattern, *value);
                self.binding(body, pattern, value);
            }
            ItemKind::Expr(value) => {
                self.expr(body, *value);
            }
            ItemKind::Datatype(_) | ItemKind::Command(_) | ItemKind::Missing => {}
        }
    }

    /// Infers `pattern = value`.
    fn binding(&mut self, body: &mut MemberTypes<'_>, pattern: PatId, value: ExprId) {
        let actual = self.expr(body, value);
        let expected = self.pattern(body, pattern);
        if let Err(clash) = self.unifier.unify(&expected, &actual, body.at(value)) {
            self.report_pattern(body, pattern, value, &expected, &actual, &clash);
        }
    }

    /// Infers the type of a pattern, with new variables for its names.
    fn pattern(&mut self, body: &mut MemberTypes<'_>, pat: PatId) -> Ty {
        let ty = with_stack(|| self.pattern_inner(body, pat));
        let ty = self.within_limit(body, ty, body.at_pat(pat));
        body.pats.insert(pat, ty.clone());
        ty
    }

    fn pattern_inner(&mut self, body: &mut MemberTypes<'_>, pat: PatId) -> Ty {
        match &body.member.item.pats[pat] {
            Pat::Missing => Ty::Error,
            Pat::Name(_) => self.fresh(),
            Pat::Pair(a, b) => {
                let a = self.pattern(body, *a);
                Ty::Pair(a.into(), self.pattern(body, *b).into())
            }
            Pat::Record { content, name } => {
                let content_ty = self.pattern(body, *content);
                match body.member.names.pat_records.get(pat) {
                    None => Ty::Error,
                    Some(record) => match &*self.environment.signature(*record) {
                        Signature::Record { scheme } => {
                            let (ty, _) = self.unifier.instantiate(scheme);
                            let Ty::Function(f) = ty else {
                                bug!("a constructor has a function type")
                            };
                            let at = body.at_pat(*content);
                            if let Err(clash) = self.unifier.unify(&f.param, &content_ty, at) {
                                let name = name.name.clone();
                                self.report_record(body, at, &name, &f.param, &content_ty, &clash);
                            }
                            f.result.clone()
                        }
                        Signature::Function { .. }
                        | Signature::Values { .. }
                        | Signature::Broken => Ty::Error,
                    },
                }
            }
        }
    }

    /// Returns the name of the callee, for messages.
    fn callee(&self, body: &MemberTypes<'_>, fun: ExprId) -> Option<Name> {
        match &body.member.item.exprs[fun] {
            Expr::Name(name) | Expr::Quote(name) => Some(name.clone()),
            _ => None,
        }
    }
}
