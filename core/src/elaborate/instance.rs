//! Elaborates instances: the functions that the program uses, each at the types it is used at.

use super::Definitions;
use super::build::Body;
use super::pattern;
use super::watch::{Mark, Watched, WatchedFunction};
use crate::base::{Diagnostic, DiagnosticKind, ItemId, Loc, Name, Span};
use crate::ir::{self, FunId, GlobalId, Site};
use crate::names::Names;
use crate::prim::Derived;
use crate::syntax::ast::{self, ExprId, Function, ItemKind, PatId};
use crate::types::{
    ItemTypes, MAX_PARTS, Scheme, Signature, Ty, exceeds, print_type, record_content,
};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::scalar::Precision;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::sync::Arc;

/// A function that the program uses. Its types contain no variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Instance {
    /// A function at the types of its scheme's variables.
    Function(ItemId, Arc<[Ty]>),
    /// A lambda, at the types of the scheme variables of the item that contains it.
    Lambda(ItemId, ExprId, Arc<[Ty]>),
    /// The default of an optional parameter.
    Default(ItemId, u32, Arc<[Ty]>),
    /// A variable of the library, computed where it is used.
    Constant(ItemId, Name),
    /// A function defined by the structure of a type.
    Derived(Derived, Ty),
}

/// The state of an elaboration: the functions so far, and the instances still to be elaborated.
pub(super) struct Elaborator<'c> {
    pub(super) definitions: &'c dyn Definitions,
    pub(super) precision: Precision,
    pub(super) diagnostics: Vec<Diagnostic<Loc>>,
    functions: Vec<Option<ir::Function>>,
    ids: FxHashMap<Instance, FunId>,
    todo: Vec<(FunId, Instance)>,
    names: FxHashMap<SmolStr, u32>,
    globals: Vec<ir::Global>,
    global_ids: FxHashMap<(ItemId, Name), GlobalId>,
    /// The form that is elaborated; errors about the program as a whole are reported there.
    form: Loc,
    pub(super) watched: Watched,
    /// The marks of the function being elaborated.
    pub(super) marks: Vec<(ir::Var, Mark)>,
    pub(super) noted: Option<WatchedFunction>,
}

/// The function being elaborated: its source, its type arguments, and its variables so far.
pub(super) struct FunctionScope<'c> {
    pub(super) item: ItemId,
    pub(super) ast: Arc<ast::Item>,
    pub(super) names: &'c Names,
    pub(super) types: Arc<ItemTypes>,
    /// The type arguments: the types of the item's scheme variables.
    pub(super) args: Arc<[Ty]>,
    /// The value of each variable.
    pub(super) env: FxHashMap<PatId, ir::Atom>,
    /// The value of each optional parameter.
    pub(super) optional: Vec<ir::Atom>,
    pub(super) body: Body,
    /// True if its bindings get marks.
    pub(super) watched: bool,
    /// The number of enclosing apply-to-each.
    pub(super) nests: u32,
    /// The left operand of the operator that is emitted next, and its value.
    pub(super) left_operand: Option<(ExprId, ir::Atom)>,
}

impl<'c> Elaborator<'c> {
    pub(super) fn new(
        definitions: &'c dyn Definitions,
        precision: Precision,
        item: ItemId,
    ) -> Elaborator<'c> {
        let ast = definitions.ast(item);
        let span = match &ast.kind {
            ItemKind::Expr(value) | ItemKind::Binding { value, .. } => ast.expr_spans[*value],
            ItemKind::Function(function) => function.name.span,
            ItemKind::Datatype(_) | ItemKind::Command(_) | ItemKind::Missing => Span::default(),
        };
        Elaborator {
            definitions,
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

    /// Elaborates the function that computes a form; returns its id and the type of the form.
    pub(super) fn main(&mut self, item: ItemId) -> (FunId, Ty) {
        let mut scope = self.scope(item, Arc::new([]));
        let value = match &scope.ast.kind {
            ItemKind::Expr(value) | ItemKind::Binding { value, .. } => *value,
            other => bug!("an expression or binding is elaborated, not {other:?}"),
        };
        let ty = scope.types.exprs[value].clone();
        let id = FunId(self.functions.len() as u32);
        self.functions.push(None);
        scope.body.open();
        let result = self.expr(&mut scope, value);
        let function = ir::Function {
            name: "main".into(),
            params: Vec::new(),
            result: scope.body.ty(result),
            body: scope.body.close(result),
            site: scope.site(value),
            library: false,
            charge: None,
            role: None,
        };
        self.functions[id.0 as usize] = Some(function);
        (id, ty)
    }

    /// Returns the id of an instance; the first request adds it to the work list.
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

    /// Returns true if a type argument grew too large by repeated instantiation, although the type of
    /// each function is within the limit. An argument may contain function types, so its limit is higher.
    fn too_large(&self, instance: &Instance) -> bool {
        let args = match instance {
            Instance::Function(_, args)
            | Instance::Lambda(_, _, args)
            | Instance::Default(_, _, args) => &args[..],
            Instance::Constant(..) | Instance::Derived(..) => &[],
        };
        args.iter().any(|ty| {
            exceeds(ty, 4 * MAX_PARTS, &Ty::clone, &|record, args| {
                record_content(&self.definitions.signature(record.item), args)
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
            | Instance::Constant(item, _) => self.definitions.name(*item),
            Instance::Derived(..) => Name::new("a function"),
        };
        let message = format!("`{name}` is used here at a type that is too long");
        self.diagnostics.push(
            Diagnostic::error(DiagnosticKind::Type, self.form, message)
                .note(format!("a type may have {MAX_PARTS} parts")),
        );
    }

    /// Returns the id of a function at given types; a later definition of the same type replaces
    /// it.
    pub(super) fn function(&mut self, item: ItemId, args: Arc<[Ty]>) -> FunId {
        let current = self.latest(item);
        let args = if current == item { args } else { self.carry_over(item, current, args) };
        self.instance(Instance::Function(current, args))
    }

    /// Returns the definition in force for a function: the latest one of the same name and type.
    pub(super) fn latest(&self, item: ItemId) -> ItemId {
        self.definitions.current(item, &self.definitions.name(item))
    }

    /// Returns the arguments for the variables of `new`'s scheme, which is `old`'s up to their
    /// names.
    fn carry_over(&self, old: ItemId, new: ItemId, args: Arc<[Ty]>) -> Arc<[Ty]> {
        let scheme = |item| match &*self.definitions.signature(item) {
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

    /// Returns the id of a top-level variable.
    pub(super) fn global(&mut self, item: ItemId, name: &Name, ty: ir::Ty) -> GlobalId {
        let key = (self.definitions.current(item, name), name.clone());
        if let Some(id) = self.global_ids.get(&key) {
            return *id;
        }
        let id = GlobalId(self.globals.len() as u32);
        self.globals.push(ir::Global { item: key.0, name: name.folded().into(), ty });
        self.global_ids.insert(key, id);
        id
    }

    /// Elaborates the instances on the work list and returns the program.
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
            self.functions.into_iter().map(|f| f.or_bug("every instance is elaborated"));
        let program = ir::Program { functions: functions.collect(), globals: self.globals, main };
        Ok((program, self.watched))
    }

    pub(super) fn scope(&self, item: ItemId, args: Arc<[Ty]>) -> FunctionScope<'c> {
        FunctionScope {
            item,
            ast: self.definitions.ast(item),
            names: self.definitions.names(item),
            types: self.definitions.types(item),
            args,
            env: FxHashMap::default(),
            optional: Vec::new(),
            body: Body::default(),
            watched: self.definitions.watched(item),
            nests: 0,
            left_operand: None,
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
        let mut scope = self.scope(item, args.clone());
        let ast = scope.ast.clone();
        let ItemKind::Function(function) = &ast.kind else {
            bug!("an instance of a function is one of a function item")
        };
        self.note_watched(&scope, function);
        let mut params = self.parameters(&mut scope, function.param);
        for (_, default) in &function.optional {
            let ty = self.lower(&scope.ty(*default));
            let var = scope.body.fresh(ty.clone());
            params.push((var, ty));
            scope.optional.push(ir::Atom::Var(var));
        }
        let name = self.unique(&format!("{}{}", self.definitions.name(item), at(args)));
        let Some(body) = function.body else {
            let at = Loc { item, span: function.name.span };
            let message = format!("`{}` is declared here but never defined", function.name.name);
            self.diagnostics.push(
                Diagnostic::error(DiagnosticKind::Name, at, message)
                    .hint("define it with the same type before it is used"),
            );
            return self.placeholder(name, params, scope.site_of(function.name.span));
        };
        scope.body.open();
        let result = self.expr(&mut scope, body);
        let library = self.definitions.is_library(item);
        let own_name = self.definitions.name(item);
        ir::Function {
            name,
            params,
            result: scope.body.ty(result),
            body: scope.body.close(result),
            site: scope.site_of(function.name.span),
            library,
            charge: if library { charge(&ast, function) } else { None },
            role: if library { crate::prelude::role(own_name.folded()) } else { None },
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
        ir::Function { name, params, result, body, site, library: false, charge: None, role: None }
    }

    fn elaborate_lambda(&mut self, item: ItemId, expr: ExprId, args: &Arc<[Ty]>) -> ir::Function {
        let mut scope = self.scope(item, args.clone());
        let ast::Expr::Lambda { param, body } = scope.ast.exprs[expr] else {
            bug!("an instance of a lambda is one of a lambda expression")
        };
        let captured = pattern::captured(&scope.ast, scope.names, expr);
        let env_ty = self.environment(item, expr, args);
        let env = scope.body.fresh(env_ty.clone());
        let mut params = vec![(env, env_ty)];
        params.extend(self.parameters(&mut scope, param));
        scope.body.open();
        let site = scope.site(expr);
        self.unpack_environment(&mut scope, &captured, ir::Atom::Var(env), site);
        let result = self.expr(&mut scope, body);
        let name = self.unique(&format!("{}.lambda{}", self.definitions.name(item), at(args)));
        ir::Function {
            name,
            params,
            result: scope.body.ty(result),
            body: scope.body.close(result),
            site,
            library: self.definitions.is_library(item),
            charge: None,
            role: None,
        }
    }

    fn elaborate_default(&mut self, item: ItemId, index: u32, args: &Arc<[Ty]>) -> ir::Function {
        let mut scope = self.scope(item, args.clone());
        let ast = scope.ast.clone();
        let ItemKind::Function(function) = &ast.kind else {
            bug!("only functions have optional parameters")
        };
        let (ident, default) = &function.optional[index as usize];
        let name =
            self.unique(&format!("{}.{}{}", self.definitions.name(item), ident.name, at(args)));
        self.nullary(&mut scope, name, *default)
    }

    fn elaborate_constant(&mut self, item: ItemId, name: &Name) -> ir::Function {
        let mut scope = self.scope(item, Arc::new([]));
        let ast = scope.ast.clone();
        let ItemKind::Binding { pattern: pat, value, .. } = &ast.kind else {
            bug!("a constant of the library is a binding")
        };
        let site = scope.site(*value);
        scope.body.open();
        let whole = self.expr(&mut scope, *value);
        self.bind(&mut scope, *pat, whole, site);
        let bound = pattern::find(&ast, *pat, name).map(|p| scope.env[&p]);
        let result = bound.unwrap_or(whole);
        let unique = self.unique(name.folded());
        ir::Function {
            name: unique,
            params: Vec::new(),
            result: scope.body.ty(result),
            body: scope.body.close(result),
            site,
            library: true,
            charge: None,
            role: None,
        }
    }

    fn nullary(
        &mut self,
        scope: &mut FunctionScope<'c>,
        name: SmolStr,
        value: ExprId,
    ) -> ir::Function {
        scope.body.open();
        let result = self.expr(scope, value);
        ir::Function {
            name,
            params: Vec::new(),
            result: scope.body.ty(result),
            body: scope.body.close(result),
            site: scope.site(value),
            library: self.definitions.is_library(scope.item),
            charge: None,
            role: None,
        }
    }

    /// Makes parameters for the leaves of a pattern and binds them.
    fn parameters(&mut self, scope: &mut FunctionScope<'c>, pat: PatId) -> Vec<(ir::Var, ir::Ty)> {
        let mut leaves = Vec::new();
        pattern::pattern_variables(&scope.ast, pat, &mut leaves);
        let mut params = Vec::with_capacity(leaves.len());
        for leaf in leaves {
            let ty = self.lower(&scope.pat_ty(leaf));
            let var = scope.body.fresh(ty.clone());
            scope.env.insert(leaf, ir::Atom::Var(var));
            params.push((var, ty));
        }
        params
    }

    /// Returns a name no other function of the program has.
    pub(super) fn unique(&mut self, name: &str) -> SmolStr {
        let name = SmolStr::new(name);
        let count = self.names.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count == 1 { name } else { SmolStr::new(format!("{name}#{count}")) }
    }
}

impl FunctionScope<'_> {
    /// Returns the closed type of an expression.
    pub(super) fn ty(&self, expr: ExprId) -> Ty {
        self.types.exprs[expr].substitute(&self.args)
    }

    /// Returns the closed type of a pattern.
    pub(super) fn pat_ty(&self, pat: PatId) -> Ty {
        self.types.pats[pat].substitute(&self.args)
    }

    /// Returns the location of an expression.
    pub(super) fn site(&self, expr: ExprId) -> Site {
        self.site_of(self.ast.expr_spans[expr])
    }

    /// Returns a location in this item.
    pub(super) fn site_of(&self, span: crate::base::Span) -> Site {
        Site { item: self.item, span }
    }
}

/// Returns the suffix of an instance's name that gives its type arguments: `@[int], bool`.
fn at(args: &[Ty]) -> String {
    let shown: Vec<String> =
        args.iter().filter(|ty| !matches!(ty, Ty::Code(..))).map(print_type).collect();
    if shown.is_empty() { String::new() } else { format!("@{}", shown.join(",")) }
}

/// Returns the declared cost of a library function, from its documentation.
fn charge(ast: &ast::Item, function: &Function) -> Option<ir::Charge> {
    let doc = crate::prelude::parse_doc(function.doc.as_deref()?);
    let mut leaves = Vec::new();
    pattern::pattern_variables(ast, function.param, &mut leaves);
    let names: Vec<&str> = leaves
        .iter()
        .map(|pat| match &ast.pats[*pat] {
            ast::Pat::Name(name) => name.folded(),
            ast::Pat::Missing | ast::Pat::Pair(..) | ast::Pat::Record { .. } => "",
        })
        .collect();
    crate::prelude::parse_charge(doc.cost.as_deref()?, &names)
}
