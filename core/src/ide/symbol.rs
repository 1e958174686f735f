//! Symbols, and all occurrences of their names in a form.
//!
//! Definitions, references, highlights, renaming and colours are derived from [`occurrences`].

use crate::base::{ItemId, Name, Span, TextSize};
use crate::db::Cursor;
use crate::db::{Database, FileId};
use crate::names::{Names, Resolution};
use crate::prim::Prim;
use crate::syntax::ast::{
    CommandArg, Expr, ExprId, Ident, Item, ItemKind, Pat, PatId, TypeExpr, TypeExprKind, TypeScheme,
};
use rustc_hash::FxHashMap;

/// An entity that has a name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// A variable bound inside a form.
    Local(ItemId, PatId),
    /// An optional parameter, by its index.
    Optional(ItemId, u32),
    /// A function, datatype or top-level variable.
    Item(ItemId, Name),
    /// A primitive of the language.
    Prim(Prim),
    /// A type variable of a form's annotation.
    TypeVar(ItemId, Name),
    /// `int`, `float`, `bool`, `char`, or a class of types.
    BuiltIn(Name),
}

/// The role of an occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// A definition of the symbol.
    Definition,
    /// A use of a value.
    Use,
    /// A call of the symbol.
    Call,
    /// A use as type.
    Type,
}

/// An occurrence of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The index of the token.
    pub span: Span,
    /// The symbol that the name refers to.
    pub symbol: Symbol,
    /// The role of the occurrence.
    pub role: Role,
    /// True if the word refers to two symbols: the `a` of `{… : a in a}` when only `a` is written.
    pub shorthand: bool,
}

/// All occurrences of names in a form, in the order of the text.
pub fn occurrences(db: &Database, item: ItemId) -> Vec<Occurrence> {
    let ast = db.ast(item);
    let names = db.names(item);
    let mut finder =
        Finder { db, item, ast, names, found: Vec::new(), of_expr: FxHashMap::default() };
    finder.form();
    let mut found = finder.found;
    found.sort_by_key(|o| (o.span.start, o.span.end, o.role));
    // A word that doubles as pattern, sequence or body is there more than once.
    let mut all: Vec<Occurrence> = Vec::with_capacity(found.len());
    for mut occurrence in found {
        let here = all.iter_mut().rev().take_while(|o| o.span == occurrence.span);
        let mut known = false;
        for other in here {
            known |= other.symbol == occurrence.symbol;
            if !known {
                other.shorthand = true;
                occurrence.shorthand = true;
            }
        }
        if !known {
            all.push(occurrence);
        }
    }
    all
}

/// The symbol at the cursor, and its range. If the word refers to two symbols, the one that is used.
pub(super) fn at(cursor: &Cursor<'_>) -> Option<Occurrence> {
    let word = cursor.word()?;
    let all = occurrences(cursor.db, cursor.item);
    let here = all.into_iter().filter(|o| o.span.start <= word.start && word.end <= o.span.end);
    here.max_by_key(|o| (std::cmp::Reverse(o.span.end - o.span.start), o.role))
}

/// The occurrence at an offset of a file, with its form.
pub(super) fn symbol_at(
    db: &Database,
    file: FileId,
    offset: TextSize,
) -> Option<(Cursor<'_>, Occurrence)> {
    let cursor = Cursor::new(db, file, offset)?;
    let found = at(&cursor)?;
    Some((cursor, found))
}

struct Finder<'a> {
    db: &'a Database,
    item: ItemId,
    ast: &'a Item,
    names: &'a Names,
    found: Vec<Occurrence>,
    /// The index in `found` of the occurrence that belongs to an expression.
    of_expr: FxHashMap<ExprId, usize>,
}

impl Finder<'_> {
    fn form(&mut self) {
        match &self.ast.kind {
            ItemKind::Function(function) => {
                let own = Symbol::Item(self.item, function.name.name.clone());
                self.push(function.name.span, canonical(self.db, own), Role::Definition);
                for (index, (ident, _)) in function.optional.iter().enumerate() {
                    let symbol = Symbol::Optional(self.item, index as u32);
                    self.push(ident.span, symbol, Role::Definition);
                }
                if let Some(annotation) = &function.annotation {
                    self.scheme(annotation);
                }
            }
            ItemKind::Datatype(datatype) => {
                let own = Symbol::Item(self.item, datatype.name.name.clone());
                self.push(datatype.name.span, own, Role::Definition);
                self.scheme(&datatype.content);
            }
            ItemKind::Command(command) => {
                for arg in &command.args {
                    if let CommandArg::Word(ident) = arg
                        && let Some(symbol) = self.meaning(&ident.name)
                    {
                        self.push(ident.span, symbol, Role::Use);
                    }
                }
            }
            ItemKind::Binding { .. } | ItemKind::Expr(_) | ItemKind::Missing => {}
        }
        let ast = self.ast;
        for (id, pat) in ast.pats.iter() {
            self.pattern(id, pat);
        }
        for (id, expr) in ast.exprs.iter() {
            self.expr(id, expr);
        }
    }

    fn push(&mut self, span: Span, symbol: Symbol, role: Role) {
        // `(x)` is no name: `x` is.
        let span = crate::db::bare(self.db.parsed(self.item), span);
        self.found.push(Occurrence { span, symbol, role, shorthand: false });
    }

    /// The name or type that a word of a command refers to.
    fn meaning(&self, name: &Name) -> Option<Symbol> {
        let (file, position) = self.db.position_of(self.item)?;
        self.symbol(&self.db.lookup(crate::db::Before { file, position }, name)?)
    }

    fn symbol(&self, resolution: &Resolution) -> Option<Symbol> {
        Some(match resolution {
            Resolution::Local(pat) => Symbol::Local(self.item, *pat),
            Resolution::Optional(index) => Symbol::Optional(self.item, *index),
            Resolution::Item(item, name) => canonical(self.db, Symbol::Item(*item, name.clone())),
            Resolution::Prim(prim) => Symbol::Prim(*prim),
            Resolution::Unknown => return None,
        })
    }

    fn pattern(&mut self, id: PatId, pat: &Pat) {
        let span = self.ast.pat_spans[id];
        match pat {
            Pat::Name(name) => {
                // A top-level variable is known to others by its name.
                let symbol = match self.ast.kind {
                    ItemKind::Binding { pattern, .. } if within(self.ast, pattern, id) => {
                        Symbol::Item(self.item, name.clone())
                    }
                    _ => Symbol::Local(self.item, id),
                };
                self.push(span, symbol, Role::Definition);
            }
            Pat::Record { name, .. } => {
                if let Some(record) = self.names.pat_records.get(id) {
                    self.push(name.span, Symbol::Item(*record, name.name.clone()), Role::Type);
                }
            }
            Pat::Pair(..) | Pat::Missing => {}
        }
    }

    fn expr(&mut self, id: ExprId, expr: &Expr) {
        let span = self.ast.expr_spans[id];
        match expr {
            Expr::Name(_) => self.used(id, span, Role::Use),
            Expr::Quote(_) => {
                // The name behind the `'`.
                let span = crate::db::bare(self.db.parsed(self.item), span);
                self.used(id, Span::new(span.end.max(span.start + 1) - 1, span.end), Role::Use);
            }
            Expr::Unary { op_span, .. } | Expr::Binary { op_span, .. } => {
                self.used(id, *op_span, Role::Use);
            }
            Expr::Call { fun, optional, .. } => self.call(*fun, optional),
            Expr::Empty(ty) => self.ty(ty, &[]),
            _ => {}
        }
    }

    fn used(&mut self, id: ExprId, span: Span, role: Role) {
        if let Some(resolution) = self.names.values.get(id)
            && let Some(symbol) = self.symbol(resolution)
        {
            self.of_expr.insert(id, self.found.len());
            self.push(span, symbol, role);
        }
    }

    fn call(&mut self, fun: ExprId, optional: &[(Ident, ExprId)]) {
        // Children come first: the callee is there already, as something that is used.
        if let (Some(at), Expr::Name(_)) = (self.of_expr.get(&fun), &self.ast.exprs[fun]) {
            self.found[*at].role = Role::Call;
        }
        let Some(Resolution::Item(callee, _)) = self.names.values.get(fun) else { return };
        let ItemKind::Function(function) = &self.db.ast(*callee).kind else { return };
        for (ident, _) in optional {
            let index = function.optional.iter().position(|(own, _)| own.name == ident.name);
            if let Some(index) = index {
                self.push(ident.span, Symbol::Optional(*callee, index as u32), Role::Use);
            }
        }
    }

    fn scheme(&mut self, scheme: &TypeScheme) {
        let variables: Vec<Name> = scheme.context.iter().map(|(v, _)| v.name.clone()).collect();
        self.ty(&scheme.ty, &variables);
        for (variable, class) in &scheme.context {
            let symbol = Symbol::TypeVar(self.item, variable.name.clone());
            self.push(variable.span, symbol, Role::Definition);
            self.push(class.span, Symbol::BuiltIn(class.name.clone()), Role::Type);
        }
    }

    fn ty(&mut self, ty: &TypeExpr, variables: &[Name]) {
        crate::base::with_stack(|| match &ty.kind {
            TypeExprKind::Missing => {}
            TypeExprKind::Name(name) => self.type_name(name, ty.span, variables),
            TypeExprKind::Apply(ident, args) => {
                self.type_name(&ident.name, ident.span, variables);
                args.iter().for_each(|arg| self.ty(arg, variables));
            }
            TypeExprKind::Sequence(element) => self.ty(element, variables),
            TypeExprKind::Pair(a, b) | TypeExprKind::Arrow(a, b) => {
                self.ty(a, variables);
                self.ty(b, variables);
            }
        });
    }

    fn type_name(&mut self, name: &Name, span: Span, variables: &[Name]) {
        let symbol = if variables.contains(name) {
            Symbol::TypeVar(self.item, name.clone())
        } else if let Some(record) = self.names.type_records.get(name) {
            Symbol::Item(*record, name.clone())
        } else {
            Symbol::BuiltIn(name.clone())
        };
        self.push(span, symbol, Role::Type);
    }
}

/// Returns true if a pattern is a part of another.
fn within(ast: &Item, outer: PatId, inner: PatId) -> bool {
    if outer == inner {
        return true;
    }
    match &ast.pats[outer] {
        Pat::Pair(a, b) => within(ast, *a, inner) || within(ast, *b, inner),
        Pat::Record { content, .. } => within(ast, *content, inner),
        Pat::Name(_) | Pat::Missing => false,
    }
}

/// The symbol of the definition, where a symbol is that of a declaration.
pub(super) fn canonical(db: &Database, symbol: Symbol) -> Symbol {
    match symbol {
        Symbol::Item(item, name) => Symbol::Item(db.definition_of(item, &name), name),
        other => other,
    }
}
