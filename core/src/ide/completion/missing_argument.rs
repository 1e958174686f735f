//! The type that is expected of a missing argument, and the variables that can be used there.
//!
//! A placeholder name is inserted at the cursor, and the form is parsed and inferred again. If the result does
//! not parse, the form is cut off after the cursor and the open constructs are closed. The parser always returns
//! a tree: the position of the placeholder in it determines the scope, and its inferred type is the expected
//! type.

use crate::base::{Name, with_stack};
use crate::db::{Database, Scratch};
use crate::ide::place::{Open, Place, Sort};
use crate::syntax::Kind;
use crate::syntax::ast::{Expr, ExprId, Item, ItemKind, Pat, PatId};
use crate::types::{Class, ExpectedType, Ty};

/// The placeholder: the name that stands for the missing argument.
const PLACEHOLDER: &str = "hole__at__the__cursor";

/// An argument that is being written, with the types and variables that fit.
#[derive(Default)]
pub(in crate::ide) struct MissingArgument {
    /// The types that are expected, the likeliest first; empty if every type fits.
    pub expected: Vec<Ty>,
    /// The classes of the form's variables.
    pub vars: Vec<Class>,
    /// The number of type variables declared by the annotation of the function.
    pub rigid: usize,
    /// The variables in scope, innermost first.
    pub locals: Vec<Local>,
    /// True in a pattern, where a new name is being typed.
    pub pattern: bool,
}

/// A variable in scope.
pub(in crate::ide) struct Local {
    /// The name of the variable.
    pub name: Name,
    /// True for a parameter of the function.
    pub parameter: bool,
    /// The type of the variable.
    pub ty: Option<Ty>,
}

impl MissingArgument {
    /// The missing argument at a cursor.
    pub fn new(place: &Place<'_>) -> MissingArgument {
        let Some(item) = place.item.filter(|_| !place.before.is_empty()) else {
            return MissingArgument::default();
        };
        let name = Name::new(PLACEHOLDER);
        let head = &place.text[..place.word.start];
        let whole = format!("{head}{PLACEHOLDER}{}", &place.text[place.word.end..]);
        let whole = place.db.scratch(item, &whole, Some(&name));
        let fine = !has_errors(&whole);
        let in_whole = found(&whole, place);
        if fine || (goes_on(place) && in_whole.is_some()) {
            return MissingArgument::of(place, &whole, in_whole);
        }
        let cut = format!("{head}{PLACEHOLDER}{};", closers(place));
        let cut = place.db.scratch(item, &cut, Some(&name));
        match found(&cut, place) {
            None if in_whole.is_some() => MissingArgument::of(place, &whole, in_whole),
            in_cut => MissingArgument::of(place, &cut, in_cut),
        }
    }

    fn of(place: &Place<'_>, form: &Scratch, at: Option<At>) -> MissingArgument {
        let ast = &*form.parsed.ast;
        let scope = match at {
            Some(At::Expr(expr)) => bound_at(ast, expr),
            Some(At::Pattern) | None => None,
        };
        let scope = scope.unwrap_or_else(|| bound_before(form, place));
        let rigid = match &ast.kind {
            ItemKind::Function(function) => function.annotation.as_ref().map_or(0, |a| {
                let alone = ["int", "float", "bool", "char"];
                a.context.iter().filter(|(_, c)| !alone.contains(&c.name.folded())).count()
            }),
            _ => 0,
        };
        let mut missing = MissingArgument {
            vars: form.types.vars.clone(),
            rigid,
            locals: locals(form, &scope),
            pattern: matches!(at, Some(At::Pattern)),
            ..MissingArgument::default()
        };
        if let Some(At::Expr(expr)) = at
            && let Some(ty) = form.types.exprs.get(expr)
        {
            missing.expected = vec![ty.clone()];
            // It is the last argument so far, but others may follow: then its own type is the first component.
            if let (Some(open), Ty::Pair(first, _)) = (place.open.last(), ty)
                && place.callee(open).is_some()
            {
                missing.expected.insert(0, (**first).clone());
            }
            missing.expected.retain(|ty| wanted(ty, &form.types.vars, rigid).matters());
        }
        missing
    }

    /// The expected types, for comparison with those of candidates.
    pub fn wanted(&self) -> impl Iterator<Item = ExpectedType<'_>> {
        self.expected.iter().map(|ty| wanted(ty, &self.vars, self.rigid))
    }
}

fn wanted<'a>(ty: &'a Ty, vars: &'a [Class], rigid: usize) -> ExpectedType<'a> {
    ExpectedType { ty, vars, rigid }
}

fn has_errors(form: &Scratch) -> bool {
    !form.parsed.diagnostics.is_empty()
}

/// Returns true if the form continues after the cursor on the same line.
fn goes_on(place: &Place<'_>) -> bool {
    place.after.is_some_and(|token| {
        let between = &place.text[place.word.end..usize::from(token.range.start())];
        !between.contains('\n') && !matches!(token.kind, Kind::Semi | Kind::Dollar)
    })
}

/// The text that closes all open constructs, innermost first.
fn closers(place: &Place<'_>) -> String {
    let mut out = String::new();
    let kinds = |from: usize| place.before[from..].iter().map(|token| token.kind);
    for Open { sort, colon, segment, .. } in place.open.iter().rev() {
        let has = |kind: Kind| kinds(*segment).any(|k| k == kind);
        match sort {
            Sort::Paren => out.push(')'),
            Sort::Bracket => out.push(']'),
            Sort::Brace if *colon || has(Kind::InKw) => out.push('}'),
            Sort::Brace => out += &format!(" : q__ in {PLACEHOLDER}}}"),
            Sort::Let if has(Kind::Equals) => out += &format!(" in {PLACEHOLDER}"),
            Sort::Let => out += &format!(" = {PLACEHOLDER} in {PLACEHOLDER}"),
            Sort::If => out += &format!(" then {PLACEHOLDER} else {PLACEHOLDER}"),
            Sort::Then => out += &format!(" else {PLACEHOLDER}"),
            Sort::In | Sort::Else => {}
        }
    }
    out
}

/// The position of the placeholder in the tree.
#[derive(Clone, Copy)]
enum At {
    Expr(ExprId),
    Pattern,
}

fn found(form: &Scratch, place: &Place<'_>) -> Option<At> {
    let ast = &form.parsed.ast;
    // The span of a name includes its quote, and parentheses around it.
    let end = place.word.start + PLACEHOLDER.len();
    let here = |span| {
        let range = std::ops::Range::<usize>::from(form.parsed.range(span));
        range.start <= place.word.start && end <= range.end
    };
    for (id, expr) in ast.exprs.iter() {
        let named =
            matches!(expr, Expr::Name(name) | Expr::Quote(name) if name.folded() == PLACEHOLDER);
        let missing = form.names.values.get(id).is_some_and(Database::is_placeholder);
        if named && missing && here(ast.expr_spans[id]) {
            return Some(At::Expr(id));
        }
    }
    let pattern = |(id, pat): (PatId, &Pat)| {
        matches!(pat, Pat::Name(name) if name.folded() == PLACEHOLDER) && here(ast.pat_spans[id])
    };
    ast.pats.iter().any(pattern).then_some(At::Pattern)
}

/// The construct that binds a variable.
#[derive(Clone, Copy)]
enum Binder {
    Pattern(PatId),
    Optional(usize),
}

/// The variables in scope at an expression, outermost first.
fn bound_at(ast: &Item, target: ExprId) -> Option<Vec<Binder>> {
    let mut scope = Vec::new();
    let root = match &ast.kind {
        ItemKind::Function(function) => {
            let mut defaults = function.optional.iter().map(|(_, default)| *default);
            if defaults.any(|default| find(ast, default, target, &mut scope)) {
                return Some(scope);
            }
            scope.push(Binder::Pattern(function.param));
            scope.extend((0..function.optional.len()).map(Binder::Optional));
            function.body?
        }
        ItemKind::Binding { value, .. } | ItemKind::Expr(value) => *value,
        ItemKind::Datatype(_) | ItemKind::Command(_) | ItemKind::Missing => return None,
    };
    find(ast, root, target, &mut scope).then_some(scope)
}

fn find(ast: &Item, expr: ExprId, target: ExprId, scope: &mut Vec<Binder>) -> bool {
    with_stack(|| {
        let start = scope.len();
        let found = expr == target || find_inside(ast, expr, target, scope);
        if !found {
            scope.truncate(start);
        }
        found
    })
}

fn find_inside(ast: &Item, expr: ExprId, target: ExprId, scope: &mut Vec<Binder>) -> bool {
    match &ast.exprs[expr] {
        Expr::Let { bindings, body } => {
            for (pattern, value) in bindings {
                if find(ast, *value, target, scope) {
                    return true;
                }
                scope.push(Binder::Pattern(*pattern));
            }
            find(ast, *body, target, scope)
        }
        Expr::Each { body, bindings, sieve, .. } => {
            if bindings.iter().any(|(_, sequence)| find(ast, *sequence, target, scope)) {
                return true;
            }
            scope.extend(bindings.iter().map(|(pattern, _)| Binder::Pattern(*pattern)));
            sieve.is_some_and(|sieve| find(ast, sieve, target, scope))
                || find(ast, *body, target, scope)
        }
        Expr::Lambda { param, body } => {
            scope.push(Binder::Pattern(*param));
            find(ast, *body, target, scope)
        }
        other => {
            let mut children = Vec::new();
            other.children(|child| children.push(child));
            children.into_iter().any(|child| find(ast, child, target, scope))
        }
    }
}

/// All that is bound before the cursor, where the missing argument got lost.
fn bound_before(form: &Scratch, place: &Place<'_>) -> Vec<Binder> {
    let ast = &form.parsed.ast;
    let before = |span| usize::from(form.parsed.range(span).end()) <= place.word.start;
    let all = ast.pats.iter().filter(|(id, _)| before(ast.pat_spans[*id]));
    all.map(|(id, _)| Binder::Pattern(id)).collect()
}

fn locals(form: &Scratch, scope: &[Binder]) -> Vec<Local> {
    let ast = &form.parsed.ast;
    let mut all: Vec<Local> = Vec::new();
    for binder in scope.iter().rev() {
        match binder {
            Binder::Optional(index) => {
                let ItemKind::Function(function) = &ast.kind else { continue };
                let (ident, default) = &function.optional[*index];
                let ty = form.types.exprs.get(*default).cloned();
                all.push(Local { name: ident.name.clone(), parameter: true, ty });
            }
            Binder::Pattern(pattern) => names_of(form, *pattern, &mut all),
        }
    }
    let mut seen = rustc_hash::FxHashSet::default();
    all.retain(|local| local.name.folded() != PLACEHOLDER && seen.insert(local.name.clone()));
    all
}

fn names_of(form: &Scratch, pattern: PatId, all: &mut Vec<Local>) {
    let ast = &form.parsed.ast;
    let mut todo = vec![pattern];
    let parameter = matches!(&ast.kind, ItemKind::Function(f) if f.param == pattern);
    while let Some(pattern) = todo.pop() {
        match &ast.pats[pattern] {
            Pat::Missing => {}
            Pat::Name(name) => {
                let ty = form.types.pats.get(pattern).cloned();
                all.push(Local { name: name.clone(), parameter, ty });
            }
            Pat::Pair(a, b) => todo.extend([*b, *a]),
            Pat::Record { content, .. } => todo.push(*content),
        }
    }
}
