//! Instances: which functions the program needs, at which types.

use super::build::Body;
use super::{Context, Mark, Watched, WatchedFunction, pattern};
use crate::base::{Diagnostic, ItemId, Kind, Loc, Name, Span};
use crate::ir::{self, FunId, GlobalId, Site};
use crate::names::Names;
use crate::prim::Derived;
use crate::syntax::ast::{self, ExprId, Function, ItemKind, PatId};
use crate::types::{
    ItemTypes, MAX_PARTS, Scheme, Signature, Ty, exceeds, print_type, record_content,
};
use nesl_runtime::scalar::Precision;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::sync::Arc;

/// A function the program needs. Types are closed: no variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Instance {
    /// A function at the types of its scheme's variables.
    Function(ItemId, Arc<[Ty]>),
    /// A lambda, at the types of the scheme variables of the item it stands in.
    Lambda(ItemId, ExprId, Arc<[Ty]>),
    /// The default of an optional parameter.
    Default(ItemId, u32, Arc<[Ty]>),
    /// A variable of the library, computed where it is used.
    Constant(ItemId, Name),
    /// A function defined by the shape of a type.
    Derived(Derived, Ty),
}

/// The whole elaboration.
pub(super) struct Elaborator<'c> {
    pub(super) context: &'c dyn Context,
    pub(super) precision: Precision,
    pub(super) diagnostics: Vec<Diagnostic<Loc>>,
    functions: Vec<Option<ir::Function>>,
    ids: FxHashMap<Instance, FunId>,
    todo: Vec<(FunId, Instance)>,
    names: FxHashMap<SmolStr, u32>,
    globals: Vec<ir::Global>,
    global_ids: FxHashMap<(ItemId, Name), GlobalId>,
    /// The form the program is for, to say what is wrong with it as a whole.
    form: Loc,
    pub(super) watched: Watched,
    /// The marks of the function being elaborated, and what it is if it is watched.
    pub(super) marks: Vec<(ir::Var, Mark)>,
    pub(super) noted: Option<WatchedFunction>,
}

/// The function being elaborated.
pub(super) struct Frame<'c> {
    pub(super) item: ItemId,
    pub(super) ast: Arc<ast::Item>,
    pub(super) names: &'c Names,
    pub(super) types: Arc<ItemTypes>,
    /// The types of the item's scheme variables.
    pub(super) args: Arc<[Ty]>,
    /// What each variable is.
    pub(super) env: FxHashMap<PatId, ir::Atom>,
    /// What each optional parameter is.
    pub(super) optional: Vec<ir::Atom>,
    pub(super) body: Body,
    /// Whether its bindings are marked.
    pub(super) watched: bool,
    /// How many apply-to-each are open around.
    pub(super) nests: u32,
}

impl<'c> Elaborator<'c> {
    pub(super) fn new(
        context: &'c dyn Context,
        precision: Precision,
        item: ItemId,
    ) -> Elaborator<'c> {
        let ast = context.ast(item);
        let span = match &ast.kind {
            ItemKind::Expr(value) | ItemKind::Binding { value, .. } => ast.expr_spans[*value],
            ItemKind::Function(function) => function.name.span,
            ItemKind::Datatype(_) | ItemKind::Command(_) | ItemKind::Missing => Span::default(),
        };
        Elaborator {
            context,
            precision,
            diagnostics: Vec::new(),
            functions: Vec::new(),
            ids: FxHashMap::default(),
            todo: Vec::new(),
            names: FxHashMap::default(),
            globals: Vec::new(),
            global_ids: FxHashMap::default(),
            form: Loc { item, span },
            watched: Watched::default(),
            marks: Vec::new(),
            noted: None,
        }
    }

    /// The function that computes a form, and the type of the form.
    pub(super) fn main(&mut self, item: ItemId) -> (FunId, Ty) {
        let mut frame = self.frame(item, Arc::new([]));
        let value = match &frame.ast.kind {
            ItemKind::Expr(value) | ItemKind::Binding { value, .. } => *value,
            other => unreachable!("{other:?} has no value"),
        };
        let ty = frame.types.exprs[value].clone();
        let id = FunId(self.functions.len() as u32);
        self.functions.push(None);
        frame.body.open();
        let result = self.expr(&mut frame, value);
        let function = ir::Function {
            name: "main".into(),
            params: Vec::new(),
            result: frame.body.ty(result),
            body: frame.body.close(result),
            site: frame.site(value),
            library: false,
            charge: None,
        };
        self.functions[id.0 as usize] = Some(function);
        (id, ty)
    }

    /// The id of an instance, made when first asked for.
    pub(super) fn instance(&mut self, instance: Instance) -> FunId {
        if let Some(id) = self.ids.get(&instance) {
            return *id;
        }
        let id = FunId(self.functions.len() as u32);
        self.functions.push(None);
        self.ids.insert(instance.clone(), id);
        if self.too_large(&instance) {
            self.report_too_large(&instance);
        } else {
            self.todo.push((id, instance));
        }
        id
    }

    /// Whether a type grew too large on its way through polymorphic functions, each of which is
    /// within the limit. An argument may carry functions, so it gets some more.
    fn too_large(&self, instance: &Instance) -> bool {
        let args = match instance {
            Instance::Function(_, args)
            | Instance::Lambda(_, _, args)
            | Instance::Default(_, _, args) => &args[..],
            Instance::Constant(..) | Instance::Derived(..) => &[],
        };
        args.iter().any(|ty| {
            exceeds(ty, 4 * MAX_PARTS, &Ty::clone, &|record, args| {
                record_content(&self.context.signature(record.item), args)
            })
        })
    }

    fn report_too_large(&mut self, instance: &Instance) {
        if !self.diagnostics.is_empty() {
            return;
        }
        let name = match instance {
            Instance::Function(item, _)
            | Instance::Lambda(item, ..)
            | Instance::Default(item, ..)
            | Instance::Constant(item, _) => self.context.name(*item),
            Instance::Derived(..) => Name::new("a function"),
        };
        let message = format!("`{name}` is used here at a type that is too long");
        self.diagnostics.push(
            Diagnostic::error(Kind::Type, self.form, message)
                .note(format!("a type may have {MAX_PARTS} parts")),
        );
    }

    /// A function at given types; a later definition of the same type takes its place.
    pub(super) fn function(&mut self, item: ItemId, args: Arc<[Ty]>) -> FunId {
        let current = self.latest(item);
        let args = if current == item { args } else { self.carry_over(item, current, args) };
        self.instance(Instance::Function(current, args))
    }

    /// The definition that has taken a function's place by now.
    pub(super) fn latest(&self, item: ItemId) -> ItemId {
        self.context.current(item, &self.context.name(item))
    }

    /// The arguments for the variables of `new`'s scheme, which is `old`'s up to their names.
    fn carry_over(&self, old: ItemId, new: ItemId, args: Arc<[Ty]>) -> Arc<[Ty]> {
        let scheme = |item| match &*self.context.signature(item) {
            Signature::Function { scheme, .. } | Signature::Record { scheme } => scheme.clone(),
            Signature::Values { .. } | Signature::Broken => Scheme::mono(Ty::Error),
        };
        let (old, new) = (scheme(old), scheme(new));
        let mut carried = vec![Ty::Error; new.vars.len()];
        let mut todo = vec![(&old.ty, &new.ty)];
        while let Some(pair) = todo.pop() {
            match pair {
                (Ty::Var(from), Ty::Var(to)) => {
                    carried[*to as usize] = args[*from as usize].clone()
                }
                (Ty::Pair(a, b), Ty::Pair(c, d)) => todo.extend([(&**a, &**c), (&**b, &**d)]),
                (Ty::Sequence(a), Ty::Sequence(b)) => todo.push((a, b)),
                (Ty::Record(_, a), Ty::Record(_, b)) | (Ty::Code(_, a), Ty::Code(_, b)) => {
                    todo.extend(a.iter().zip(b.iter()));
                }
                (Ty::Function(a), Ty::Function(b)) => {
                    todo.extend([(&a.param, &b.param), (&a.result, &b.result), (&a.code, &b.code)]);
                }
                _ => {}
            }
        }
        carried.into()
    }

    /// A top-level variable.
    pub(super) fn global(&mut self, item: ItemId, name: &Name, ty: ir::Ty) -> GlobalId {
        let key = (self.context.current(item, name), name.clone());
        if let Some(id) = self.global_ids.get(&key) {
            return *id;
        }
        let id = GlobalId(self.globals.len() as u32);
        self.globals.push(ir::Global { item: key.0, name: name.folded().into(), ty });
        self.global_ids.insert(key, id);
        id
    }

    /// Elaborates all that is still to do.
    pub(super) fn finish(
        mut self,
        main: FunId,
    ) -> Result<(ir::Program, Watched), Vec<Diagnostic<Loc>>> {
        self.attribute(main);
        while let Some((id, instance)) = self.todo.pop() {
            let function = self.elaborate(&instance);
            self.attribute(id);
            self.functions[id.0 as usize] = Some(function);
        }
        if !self.diagnostics.is_empty() {
            return Err(self.diagnostics);
        }
        let functions =
            self.functions.into_iter().map(|f| f.expect("every instance is elaborated"));
        let program = ir::Program { functions: functions.collect(), globals: self.globals, main };
        Ok((program, self.watched))
    }

    pub(super) fn frame(&self, item: ItemId, args: Arc<[Ty]>) -> Frame<'c> {
        Frame {
            item,
            ast: self.context.ast(item),
            names: self.context.names(item),
            types: self.context.types(item),
            args,
            env: FxHashMap::default(),
            optional: Vec::new(),
            body: Body::default(),
            watched: self.context.watched(item),
            nests: 0,
        }
    }

    fn elaborate(&mut self, instance: &Instance) -> ir::Function {
        match instance {
            Instance::Function(item, args) => self.elaborate_function(*item, args),
            Instance::Lambda(item, expr, args) => self.elaborate_lambda(*item, *expr, args),
            Instance::Default(item, index, args) => self.elaborate_default(*item, *index, args),
            Instance::Constant(item, name) => self.elaborate_constant(*item, name),
            Instance::Derived(derived, ty) => self.derive(*derived, ty),
        }
    }

    fn elaborate_function(&mut self, item: ItemId, args: &Arc<[Ty]>) -> ir::Function {
        let mut frame = self.frame(item, args.clone());
        let ast = frame.ast.clone();
        let ItemKind::Function(function) = &ast.kind else {
            unreachable!("an instance of what is not a function")
        };
        self.note_watched(&frame, function);
        let mut params = self.parameters(&mut frame, function.param);
        for (_, default) in &function.optional {
            let ty = self.lower(&frame.ty(*default));
            let var = frame.body.fresh(ty.clone());
            params.push((var, ty));
            frame.optional.push(ir::Atom::Var(var));
        }
        let name = self.unique(&format!("{}{}", self.context.name(item), at(args)));
        let Some(body) = function.body else {
            let at = Loc { item, span: function.name.span };
            let message = format!("`{}` is declared here but never defined", function.name.name);
            self.diagnostics.push(
                Diagnostic::error(Kind::Name, at, message)
                    .hint("define it with the same type before it is used"),
            );
            return self.placeholder(name, params, frame.site_of(function.name.span));
        };
        frame.body.open();
        let result = self.expr(&mut frame, body);
        let library = self.context.is_library(item);
        ir::Function {
            name,
            params,
            result: frame.body.ty(result),
            body: frame.body.close(result),
            site: frame.site_of(function.name.span),
            library,
            charge: if library { charge(&ast, function) } else { None },
        }
    }

    fn placeholder(
        &self,
        name: SmolStr,
        params: Vec<(ir::Var, ir::Ty)>,
        site: Site,
    ) -> ir::Function {
        let body = ir::Block { lets: Vec::new(), result: ir::Atom::Unit };
        let result = ir::Ty::Unit;
        ir::Function { name, params, result, body, site, library: false, charge: None }
    }

    fn elaborate_lambda(&mut self, item: ItemId, expr: ExprId, args: &Arc<[Ty]>) -> ir::Function {
        let mut frame = self.frame(item, args.clone());
        let ast::Expr::Lambda { param, body } = frame.ast.exprs[expr] else {
            unreachable!("an instance of what is not a lambda")
        };
        let captured = pattern::captured(&frame.ast, frame.names, expr);
        let env_ty = self.environment(item, expr, args);
        let env = frame.body.fresh(env_ty.clone());
        let mut params = vec![(env, env_ty)];
        params.extend(self.parameters(&mut frame, param));
        frame.body.open();
        let site = frame.site(expr);
        self.unpack_environment(&mut frame, &captured, ir::Atom::Var(env), site);
        let result = self.expr(&mut frame, body);
        let name = self.unique(&format!("{}.lambda{}", self.context.name(item), at(args)));
        ir::Function {
            name,
            params,
            result: frame.body.ty(result),
            body: frame.body.close(result),
            site,
            library: self.context.is_library(item),
            charge: None,
        }
    }

    fn elaborate_default(&mut self, item: ItemId, index: u32, args: &Arc<[Ty]>) -> ir::Function {
        let mut frame = self.frame(item, args.clone());
        let ast = frame.ast.clone();
        let ItemKind::Function(function) = &ast.kind else {
            unreachable!("a default of what is not a function")
        };
        let (ident, default) = &function.optional[index as usize];
        let name = self.unique(&format!("{}.{}{}", self.context.name(item), ident.name, at(args)));
        self.nullary(&mut frame, name, *default)
    }

    fn elaborate_constant(&mut self, item: ItemId, name: &Name) -> ir::Function {
        let mut frame = self.frame(item, Arc::new([]));
        let ast = frame.ast.clone();
        let ItemKind::Binding { pattern: pat, value, .. } = &ast.kind else {
            unreachable!("a constant that is not a binding")
        };
        let site = frame.site(*value);
        frame.body.open();
        let whole = self.expr(&mut frame, *value);
        self.bind(&mut frame, *pat, whole, site);
        let bound = pattern::find(&ast, *pat, name).map(|p| frame.env[&p]);
        let result = bound.unwrap_or(whole);
        let unique = self.unique(name.folded());
        ir::Function {
            name: unique,
            params: Vec::new(),
            result: frame.body.ty(result),
            body: frame.body.close(result),
            site,
            library: true,
            charge: None,
        }
    }

    fn nullary(&mut self, frame: &mut Frame<'c>, name: SmolStr, value: ExprId) -> ir::Function {
        frame.body.open();
        let result = self.expr(frame, value);
        ir::Function {
            name,
            params: Vec::new(),
            result: frame.body.ty(result),
            body: frame.body.close(result),
            site: frame.site(value),
            library: self.context.is_library(frame.item),
            charge: None,
        }
    }

    /// Parameters for the leaves of a pattern, bound.
    fn parameters(&mut self, frame: &mut Frame<'c>, pat: PatId) -> Vec<(ir::Var, ir::Ty)> {
        let mut leaves = Vec::new();
        pattern::leaves(&frame.ast, pat, &mut leaves);
        let mut params = Vec::with_capacity(leaves.len());
        for leaf in leaves {
            let ty = self.lower(&frame.pat_ty(leaf));
            let var = frame.body.fresh(ty.clone());
            frame.env.insert(leaf, ir::Atom::Var(var));
            params.push((var, ty));
        }
        params
    }

    /// A name no other function of the program has.
    pub(super) fn unique(&mut self, name: &str) -> SmolStr {
        let name = SmolStr::new(name);
        let count = self.names.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count == 1 { name } else { SmolStr::new(format!("{name}#{count}")) }
    }
}

impl Frame<'_> {
    /// The closed type of an expression.
    pub(super) fn ty(&self, expr: ExprId) -> Ty {
        self.types.exprs[expr].substitute(&self.args)
    }

    /// The closed type of a pattern.
    pub(super) fn pat_ty(&self, pat: PatId) -> Ty {
        self.types.pats[pat].substitute(&self.args)
    }

    /// Where an expression is.
    pub(super) fn site(&self, expr: ExprId) -> Site {
        self.site_of(self.ast.expr_spans[expr])
    }

    /// A place of this item.
    pub(super) fn site_of(&self, span: crate::base::Span) -> Site {
        Site { item: self.item, span }
    }
}

/// `@[int], bool`: the types of an instance, for its name.
fn at(args: &[Ty]) -> String {
    let shown: Vec<String> =
        args.iter().filter(|ty| !matches!(ty, Ty::Code(..))).map(print_type).collect();
    if shown.is_empty() { String::new() } else { format!("@{}", shown.join(",")) }
}

/// The declared cost of a library function.
fn charge(ast: &ast::Item, function: &Function) -> Option<ir::Charge> {
    let doc = crate::prelude::parse_doc(function.doc.as_deref()?);
    let mut leaves = Vec::new();
    pattern::leaves(ast, function.param, &mut leaves);
    let names: Vec<&str> = leaves
        .iter()
        .map(|pat| match &ast.pats[*pat] {
            ast::Pat::Name(name) => name.folded(),
            ast::Pat::Missing | ast::Pat::Pair(..) | ast::Pat::Record { .. } => "",
        })
        .collect();
    crate::prelude::parse_charge(doc.cost.as_deref()?, &names)
}
