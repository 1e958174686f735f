//! Name resolution: finds the definition of each use of a name.
//!
//! Local variables are resolved here. Top-level names are looked up in the [`Scope`], which knows the
//! order of forms, earlier entries and the library. `suggest` finds what an unknown name may mean.

mod suggest;

use crate::base::{Diagnostic, DiagnosticKind, Hint, ItemId, Loc, Name, Span, with_stack};
use crate::prim::Prim;
use crate::syntax::ast::{
    ArenaMap, Expr, ExprId, Ident, Item, ItemKind, Pat, PatId, TypeExpr, TypeExprKind, UnaryOp,
};
use rustc_hash::{FxHashMap, FxHashSet};

pub use suggest::{closest, elsewhere};
use suggest::{
    foreign, foreign_slip, instead, instead_of_call, instead_of_statement, is_syntax,
    is_type_elsewhere,
};

/// The definition that a use of a name refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// A variable bound in the same item, by the `Pat::Name` that binds it.
    Local(PatId),
    /// An optional parameter of the enclosing function, by its index.
    Optional(u32),
    /// A function, constructor or top-level variable defined by an item. The name distinguishes the
    /// variables of a binding.
    Item(ItemId, Name),
    /// A primitive operation.
    Prim(Prim),
    /// No definition; the error has been reported.
    Unknown,
}

/// The top-level names as seen from one item.
pub trait Scope {
    /// Returns the definition of a value name (function, constructor, variable, primitive).
    fn value(&self, name: &Name) -> Option<Resolution>;
    /// Returns the definition of a record type.
    fn record(&self, name: &Name) -> Option<ItemId>;
    /// Returns all names in scope, for suggestions of similar names.
    fn known(&self) -> Vec<Name>;
    /// Returns true if the program cannot redefine a name.
    fn is_fixed(&self, name: &Name) -> bool;
    /// Returns what can be said about a missing name beyond "undefined": its form failed, it is
    /// defined below, ….
    fn absent(&self, name: &Name) -> Option<Absent>;
}

/// The reason for which a name has no meaning here.
pub struct Absent {
    /// The message of the error.
    pub why: String,
    /// A location to show with it.
    pub place: Option<Loc>,
    /// True if the form that defines the name failed, which has been reported.
    pub failed: bool,
}

/// The names of one item, resolved.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Names {
    /// The definitions that names in expressions refer to: of each `Expr::Name` and `Expr::Quote`, and
    /// of the operator of each `Expr::Unary` and `Expr::Binary`.
    pub values: ArenaMap<ExprId, Resolution>,
    /// The datatype of each `Pat::Record`.
    pub pat_records: ArenaMap<PatId, ItemId>,
    /// The datatypes that names in types refer to.
    pub type_records: FxHashMap<Name, ItemId>,
    /// The items referred to, in order of first use; an item that refers to itself is included.
    pub references: Vec<ItemId>,
    /// The names that the program may define or redefine, once each, defined or not: a form that is
    /// added or removed affects this one only if it defines one of them.
    pub asked: Vec<Name>,
    /// The errors of name resolution.
    pub diagnostics: Vec<Diagnostic<Loc>>,
}

/// Resolves the names of one item.
pub fn resolve(id: ItemId, item: &Item, scope: &dyn Scope) -> Names {
    let mut resolver = Resolver {
        id,
        item,
        scope,
        locals: Vec::new(),
        names: Names::default(),
        referred: FxHashSet::default(),
        asked: FxHashSet::default(),
        unknown: FxHashSet::default(),
        called: None,
        foreign: false,
        statement: None,
    };
    resolver.form();
    if let Some(statement) = resolver.statement.take() {
        resolver.names.diagnostics = vec![statement];
    }
    resolver.names
}

/// The binder of a local variable.
#[derive(Clone, Copy)]
enum Bound {
    Pattern(PatId),
    Optional(u32),
}

struct Resolver<'a> {
    id: ItemId,
    item: &'a Item,
    scope: &'a dyn Scope,
    /// The variables in scope, innermost last.
    locals: Vec<(Name, Bound)>,
    names: Names,
    referred: FxHashSet<ItemId>,
    asked: FxHashSet<Name>,
    /// The names already reported as undefined.
    unknown: FxHashSet<Name>,
    /// The function of the innermost call with several arguments.
    called: Option<ExprId>,
    /// True once a word was met that is syntax in other languages.
    foreign: bool,
    /// The report of a word that makes a statement in other languages, which explains all others.
    statement: Option<Diagnostic<Loc>>,
}

impl Resolver<'_> {
    fn form(&mut self) {
        let item = self.item;
        match &item.kind {
            ItemKind::Function(function) => {
                if let Some(annotation) = &function.annotation {
                    self.types(&annotation.ty, &annotation.context);
                }
                // Defaults are evaluated by the caller, so no parameter is in scope.
                for (_, default) in &function.optional {
                    self.expr(*default);
                }
                self.bind(&[function.param]);
                for (index, (ident, _)) in function.optional.iter().enumerate() {
                    if self.locals.iter().any(|(name, _)| *name == ident.name) {
                        self.repeated(&ident.name, ident.span, None);
                    }
                    self.locals.push((ident.name.clone(), Bound::Optional(index as u32)));
                }
                if let Some(body) = function.body {
                    self.expr(body);
                }
            }
            ItemKind::Datatype(datatype) => {
                self.types(&datatype.content.ty, &datatype.content.context);
            }
            ItemKind::Binding { pattern, value, .. } => {
                self.meant_function(*pattern, true);
                self.expr(*value);
                self.bind(&[*pattern]);
            }
            ItemKind::Expr(value) => {
                self.declaration(*value);
                self.expr(*value);
                self.meant_definition(*value);
            }
            ItemKind::Command(_) | ItemKind::Missing => {}
        }
    }

    fn loc(&self, span: Span) -> Loc {
        Loc { item: self.id, span }
    }

    /// Reports a variable that occurs twice in a pattern.
    fn repeated(&mut self, name: &Name, span: Span, first: Option<Span>) {
        let mut report = Diagnostic::error(
            DiagnosticKind::Name,
            self.loc(span),
            format!("`{name}` is repeated in this pattern"),
        )
        .hint("give each part a name of its own");
        if let Some(first) = first {
            report = report.label(self.loc(first), "first here");
            let twin = self.item.pats.iter().find_map(|(pat, other)| match other {
                Pat::Name(other) if self.item.pat_spans[pat] == first => Some(other),
                _ => None,
            });
            if let Some(twin) = twin.filter(|twin| twin.as_written() != name.as_written()) {
                report = report
                    .note(format!("`{twin}` and `{name}` are the same name: case does not count"));
            }
        }
        self.names.diagnostics.push(report);
    }

    /// Brings the variables of some patterns into scope; reports names that occur twice.
    fn bind(&mut self, pats: &[PatId]) {
        let mut bound = FxHashMap::default();
        for pat in pats {
            self.bind_one(*pat, &mut bound);
        }
    }

    /// Brings the variables of one pattern into scope; `bound` has the names met so far.
    fn bind_one(&mut self, pat: PatId, bound: &mut FxHashMap<Name, PatId>) {
        let item = self.item;
        let span = item.pat_spans[pat];
        match &item.pats[pat] {
            Pat::Missing => {}
            Pat::Name(name) => {
                let first = *bound.entry(name.clone()).or_insert(pat);
                if first != pat {
                    self.repeated(name, span, Some(item.pat_spans[first]));
                }
                self.locals.push((name.clone(), Bound::Pattern(pat)));
            }
            Pat::Pair(a, b) => {
                // A long tuple is nested deeply on its right.
                self.bind_one(*a, bound);
                with_stack(|| self.bind_one(*b, bound));
            }
            Pat::Record { name, content } => {
                self.ask(&name.name);
                match self.scope.record(&name.name) {
                    Some(record) => {
                        self.refer(record);
                        self.names.pat_records.insert(pat, record);
                    }
                    None => self.unknown_record(name),
                }
                with_stack(|| self.bind_one(*content, bound));
            }
        }
    }

    fn unknown_record(&mut self, name: &Ident) {
        let message = format!("`{}` is not a datatype", name.name);
        let mut report = Diagnostic::error(DiagnosticKind::Name, self.loc(name.span), message);
        if self.unknown.contains(&name.name) {
            // It was taken for a function, see `meant_function`.
            return;
        }
        if self.scope.absent(&name.name).is_some_and(|absent| absent.failed) {
            report = report.following();
        } else if self.scope.value(&name.name).is_some() {
            report = report.note("only a datatype can be taken apart by a pattern").hint(format!(
                "to apply `{name}` to each element: `{{{name}(x) : x in xs}}`",
                name = name.name
            ));
        } else {
            report = self.suggest(report, &name.name, name.span);
        }
        self.names.diagnostics.push(report);
    }

    /// Returns the name here of a function that only other languages know by the given one.
    fn only_elsewhere(&self, name: &Name) -> Option<&'static str> {
        let local = self.locals.iter().any(|(known, _)| known == name);
        if local || self.scope.value(name).is_some() { None } else { foreign(name) }
    }

    /// Adds the most similar name in scope to a report.
    fn suggest(&self, report: Diagnostic<Loc>, name: &Name, span: Span) -> Diagnostic<Loc> {
        let locals = self.locals.iter().map(|(name, _)| name.clone());
        let known = self.scope.known();
        let foreign = foreign_slip(name);
        match closest(name, locals.chain(known).chain(foreign.clone())) {
            Some(other)
                if Some(&other) == foreign.as_ref()
                    && let Some(here) = self.only_elsewhere(&other) =>
            {
                report.fix(format!("in NESL `{other}` is `{here}`"), self.loc(span), here)
            }
            Some(other) => {
                let text = format!("did you mean `{other}`?");
                report.fix(text, self.loc(span), other.as_written())
            }
            None => report,
        }
    }

    /// Reports `g(x) = e` where a pattern is required and `g` is not a datatype: a function was meant.
    /// Its name and its parameters are then known to be undefined.
    fn meant_function(&mut self, pattern: PatId, at_top: bool) {
        let Pat::Record { name, content } = &self.item.pats[pattern] else { return };
        if self.scope.record(&name.name).is_some() {
            return;
        }
        let at = self.loc(name.span);
        let function = &name.name;
        let report = if at_top {
            let start = Loc { item: self.id, span: Span::new(name.span.start, name.span.start) };
            Diagnostic::error(
                DiagnosticKind::Name,
                at,
                format!("`{function}(…) = …` takes a `{function}` apart, which is no datatype"),
            )
            .fix("a function is defined with `function`", start, "function ")
        } else {
            let report = Diagnostic::error(
                DiagnosticKind::Name,
                at,
                format!("`{function}(…) = …` does not define a function inside a `let`"),
            );
            let hint = format!("a function inside is a value: `let {function} = x => x + 1 in …`");
            match self.parameter_text(*content) {
                Some(parameter) => {
                    // Behind the pattern is the `=`.
                    let span = self.item.pat_spans[pattern];
                    let head = self.loc(Span::new(span.start, span.end + 1));
                    report.fix(hint, head, format!("{function} = {parameter} =>"))
                }
                None => report.hint(hint),
            }
        };
        self.names.diagnostics.push(report);
        self.unknown.insert(function.clone());
        let mut todo = vec![*content];
        while let Some(pat) = todo.pop() {
            match &self.item.pats[pat] {
                Pat::Name(name) => {
                    self.unknown.insert(name.clone());
                }
                Pat::Pair(a, b) => todo.extend([*a, *b]),
                Pat::Record { content, .. } => todo.push(*content),
                Pat::Missing => {}
            }
        }
    }

    /// Returns names as the parameter of a function value; nothing if there is anything but names.
    fn parameter_text(&self, content: PatId) -> Option<String> {
        let name = |pat: PatId| match &self.item.pats[pat] {
            Pat::Name(name) => Some(name.as_written().to_owned()),
            _ => None,
        };
        let mut rest = content;
        let mut names = Vec::new();
        while let Pat::Pair(first, second) = &self.item.pats[rest] {
            names.push(name(*first)?);
            rest = *second;
        }
        names.push(name(rest)?);
        Some(if names.len() == 1 { names.remove(0) } else { format!("({})", names.join(", ")) })
    }

    /// Reports `x -> e` of an undefined `x`, a function value of other languages.
    fn thin_arrow(&mut self, op: &str, left: ExprId, op_span: Span) {
        let (what, fix, sign) = match op {
            "->" => ("`->` reads elements, it does not make a function", "write `=>`", "=>"),
            // `x <- 5`, at the beginning of a form.
            "<-" if self.item.expr_spans[left].start == 0 => {
                ("`<-` writes elements, it does not define", "a variable is defined with `=`", "=")
            }
            _ => return,
        };
        let mut names = Vec::new();
        let mut rest = left;
        while let (Expr::Pair(first, second), "->") = (&self.item.exprs[rest], op) {
            let Expr::Name(name) = &self.item.exprs[*first] else { return };
            names.push(name);
            rest = *second;
        }
        let Expr::Name(last) = &self.item.exprs[rest] else { return };
        names.push(last);
        let known = |name: &Name| {
            self.locals.iter().any(|(n, _)| n == name)
                || self.unknown.contains(name)
                || self.scope.value(name).is_some()
        };
        if names.iter().any(|name| known(name)) {
            return;
        }
        let at = self.loc(self.item.expr_spans[left]);
        let undefined = match &names[..] {
            [name] => format!("`{name}` is undefined"),
            _ => "the names before `->` are undefined".to_owned(),
        };
        let report = Diagnostic::error(DiagnosticKind::Name, at, format!("{undefined}: {what}"));
        self.names.diagnostics.push(report.fix(fix, self.loc(op_span), sign));
        // What stands on the other side is of another language, too.
        self.foreign |= op == "<-";
        self.unknown.extend(names.into_iter().cloned());
    }

    /// Records a reference to an item.
    fn refer(&mut self, item: ItemId) {
        if self.referred.insert(item) {
            self.names.references.push(item);
        }
    }

    /// Records a name whose meaning depends on the program.
    fn ask(&mut self, name: &Name) {
        if !self.asked.contains(name) && !self.scope.is_fixed(name) {
            self.asked.insert(name.clone());
            self.names.asked.push(name.clone());
        }
    }

    /// Resolves a name used as a value.
    fn value(&mut self, id: ExprId, name: &Name, span: Span) {
        let local = self.locals.iter().rev().find(|(n, _)| n == name);
        let resolution = match local {
            Some((_, Bound::Pattern(pat))) => Resolution::Local(*pat),
            Some((_, Bound::Optional(index))) => Resolution::Optional(*index),
            None => self.top_level(name, span, self.called == Some(id)),
        };
        self.names.values.insert(id, resolution);
    }

    /// Resolves a name that is no local variable; `several` says that it is called with more than one argument.
    fn top_level(&mut self, name: &Name, span: Span, several: bool) -> Resolution {
        self.ask(name);
        if let Some(found) = self.scope.value(name) {
            if let Resolution::Item(item, _) = found {
                self.refer(item);
            }
            return found;
        }
        // Each undefined name is reported once, and none behind a word of another language's syntax.
        if self.foreign || !self.unknown.insert(name.clone()) {
            return Resolution::Unknown;
        }
        let at = self.loc(span);
        let report = match self.scope.absent(name) {
            Some(Absent { why, place, failed }) => {
                let report = Diagnostic::error(DiagnosticKind::Name, at, why);
                let report = if failed { report.following() } else { report };
                match place {
                    Some(place) => report.label(place, "here"),
                    None => report,
                }
            }
            None => {
                let report =
                    Diagnostic::error(DiagnosticKind::Name, at, format!("`{name}` is undefined"));
                let call = if several { instead_of_call(name) } else { None };
                match foreign(name) {
                    _ if let Some(hint) = call => report.hint(hint),
                    Some(here) => report.fix(format!("in NESL it is `{here}`"), at, here),
                    None => match instead(name) {
                        Some(hint) => report.hint(hint),
                        None => self.suggest(report, name, span),
                    },
                }
            }
        };
        self.foreign |= is_syntax(name);
        self.names.diagnostics.push(report);
        Resolution::Unknown
    }

    fn expr(&mut self, id: ExprId) {
        with_stack(|| self.expr_inner(id));
    }

    fn expr_inner(&mut self, id: ExprId) {
        let item = self.item;
        match &item.exprs[id] {
            Expr::Name(name) | Expr::Quote(name) => self.value(id, name, item.expr_spans[id]),
            Expr::Unary { op, op_span, arg } => {
                self.operator(id, op.name(), *op_span);
                let before = self.names.diagnostics.len();
                self.expr(*arg);
                if self.names.diagnostics.len() > before {
                    // `# data` alone is a comment of other languages.
                    let alone = op_span.start == 0 && matches!(item.exprs[*arg], Expr::Name(_));
                    if alone && matches!(op, UnaryOp::Length) {
                        let text = "a comment is written `% … %`".to_owned();
                        self.names.diagnostics[before].hints.push(Hint { text, edit: None });
                    }
                }
            }
            Expr::Binary { .. } => {
                // A chain of operators is as deep as it is long.
                let (mut above, mut left_end) = (Vec::new(), id);
                while let Expr::Binary { op, op_span, left, right } = &item.exprs[left_end] {
                    self.thin_arrow(op.name(), *left, *op_span);
                    above.push((left_end, op.name(), *op_span, *right));
                    left_end = *left;
                }
                self.expr(left_end);
                for (id, op, op_span, right) in above.into_iter().rev() {
                    self.operator(id, op, op_span);
                    self.expr(right);
                }
            }
            Expr::Let { bindings, body } => {
                let start = self.locals.len();
                for (pat, value) in bindings {
                    self.meant_function(*pat, false);
                    self.expr(*value);
                    self.bind(&[*pat]);
                }
                self.expr(*body);
                self.locals.truncate(start);
            }
            Expr::Each { body, bindings, sieve, .. } => {
                let before = self.names.diagnostics.len();
                for (_, sequence) in bindings {
                    self.expr(*sequence);
                }
                self.known_later(bindings, before);
                let start = self.locals.len();
                let pats: Vec<PatId> = bindings.iter().map(|(pat, _)| *pat).collect();
                self.bind(&pats);
                self.without_in(*body, bindings);
                if let Some(sieve) = sieve {
                    self.expr(*sieve);
                }
                self.expr(*body);
                self.locals.truncate(start);
            }
            Expr::Lambda { param, body } => {
                let start = self.locals.len();
                self.bind(&[*param]);
                self.expr(*body);
                self.locals.truncate(start);
            }
            Expr::Empty(ty) => self.types(ty, &[]),
            Expr::Call { fun, arg, optional } => {
                if self.is_beside(*fun, *arg) {
                    self.statement_word(*fun);
                    self.statement_word(*arg);
                }
                let several = matches!(item.exprs[*arg], Expr::Pair(..));
                self.called = several.then_some(*fun);
                self.expr(*fun);
                self.expr(*arg);
                for (_, value) in optional {
                    self.expr(*value);
                }
            }
            other => {
                let mut children = Vec::new();
                other.children(|child| children.push(child));
                for child in children {
                    self.expr(child);
                }
            }
        }
    }

    /// Adds to the report of `x == 5`, a form, how the undefined `x` is defined.
    fn meant_definition(&mut self, form: ExprId) {
        let Expr::Binary { op, op_span, left, .. } = &self.item.exprs[form] else { return };
        if op.name() != "==" || !matches!(self.item.exprs[*left], Expr::Name(_)) {
            return;
        }
        let (at, sign) = (self.loc(self.item.expr_spans[*left]), self.loc(*op_span));
        if let [report] = &mut self.names.diagnostics[..]
            && report.primary.at == at
            && report.hints.is_empty()
        {
            *report = report.clone().fix("it is defined with `=`", sign, "=");
        }
    }

    /// Adds to the reports, from one on, of variables that an apply-to-each binds where they are known.
    fn known_later(&mut self, bindings: &[(PatId, ExprId)], from: usize) {
        let mut bound = Vec::new();
        // `{x + 1 : x}` is short for `{x + 1 : x in x}`.
        let spans = (&self.item.pat_spans, &self.item.expr_spans);
        let is_named = |(pat, sequence): &&(PatId, ExprId)| spans.0[*pat] != spans.1[*sequence];
        let mut todo: Vec<PatId> = bindings.iter().filter(is_named).map(|(pat, _)| *pat).collect();
        while let Some(pat) = todo.pop() {
            match &self.item.pats[pat] {
                Pat::Name(name) => bound.push(name.clone()),
                Pat::Pair(a, b) => todo.extend([*a, *b]),
                Pat::Record { content, .. } => todo.push(*content),
                Pat::Missing => {}
            }
        }
        for report in &mut self.names.diagnostics[from..] {
            let named = |name: &Name| report.message == format!("`{name}` is undefined");
            if let Some(name) = bound.iter().find(|name| named(name)) {
                let hint = format!(
                    "`{name}` is known in the body and behind `|`, and not in the sequences: a condition is written after `|`, and what depends on `{name}` in another apply-to-each"
                );
                report.hints = vec![Hint { text: hint, edit: None }];
            }
        }
    }

    /// Returns true if an argument stands beside its function, without parentheses around it, which would be a part
    /// of its span.
    fn is_beside(&self, fun: ExprId, arg: ExprId) -> bool {
        let span = self.item.expr_spans[arg];
        if self.item.expr_spans[fun].end != span.start {
            return false;
        }
        let arg = &self.item.exprs[arg];
        let mut first: Option<u32> = None;
        arg.children(|child| {
            let start = self.item.expr_spans[child].start;
            first = Some(first.map_or(start, |first| first.min(start)));
        });
        match (arg, first) {
            (Expr::Pair(..), _) => false,
            (_, None) => span.end == span.start + 1,
            (Expr::Binary { .. } | Expr::Index { .. } | Expr::Call { .. }, Some(first)) => {
                first == span.start
            }
            (_, Some(first)) => first == span.start + 1,
        }
    }

    /// Returns true if nothing is known by a name.
    fn is_unknown(&self, name: &Name) -> bool {
        let local = self.locals.iter().any(|(known, _)| known == name);
        !local && self.scope.value(name).is_none() && self.scope.absent(name).is_none()
    }

    /// Reports a word that makes a statement in other languages, of an operand beside another.
    fn statement_word(&mut self, operand: ExprId) {
        let Expr::Name(name) = &self.item.exprs[operand] else { return };
        let advice = instead_of_statement(name).filter(|_| self.is_unknown(name));
        let Some(advice) = advice else { return };
        let at = self.loc(self.item.expr_spans[operand]);
        let message = format!("`{name}` is undefined");
        let report = Diagnostic::error(DiagnosticKind::Name, at, message).hint(advice);
        self.foreign = true;
        let begins = |other: &Diagnostic<Loc>| other.primary.at.span.start <= at.span.start;
        if !self.statement.as_ref().is_some_and(begins) {
            self.statement = Some(report);
        }
    }

    /// Reports `int x`, `static int n`, `int a[10]`, `float x, y`: a declaration of other languages.
    fn declaration(&mut self, form: ExprId) {
        let exprs = &self.item.exprs;
        let mut whole = form;
        while let Expr::Pair(first, _) | Expr::Index { sequence: first, .. } = &exprs[whole] {
            whole = *first;
        }
        // `vector<int> v`.
        if let Expr::Binary { left, right: name, .. } = &exprs[whole]
            && let Expr::Binary { op, left: outer, right: inner, .. } = &exprs[*left]
            && matches!(op.name(), "<")
        {
            let unknown =
                |id: &ExprId| matches!(&exprs[*id], Expr::Name(name) if self.is_unknown(name));
            let ty = matches!(&exprs[*inner], Expr::Name(name) if is_type_elsewhere(name));
            if ty && [outer, name].into_iter().all(unknown) {
                self.undeclared(self.item.expr_spans[whole]);
            }
            return;
        }
        let Expr::Call { fun, arg, .. } = &exprs[whole] else { return };
        let (mut head, mut declared) = (*fun, *arg);
        if let (Expr::Name(_), false) = (&exprs[head], self.is_beside(head, declared)) {
            return;
        }
        // `int g(int)` declares a function.
        if !self.is_beside(head, declared)
            && let Expr::Call { fun, arg, .. } = &exprs[head]
        {
            (head, declared) = (*fun, *arg);
        }
        while let Expr::Call { fun, arg, .. } = &exprs[head]
            && self.is_beside(*fun, *arg)
        {
            head = *fun;
        }
        if let Expr::Index { sequence, .. } = &exprs[declared] {
            declared = *sequence;
        }
        if let Expr::Call { fun, .. } = &exprs[declared] {
            declared = *fun;
        }
        let (Expr::Name(word), name) = (&exprs[head], &exprs[declared]) else { return };
        // A slip in a name is no declaration, and neither is a call of a function of the user.
        let known = || {
            self.scope.known().into_iter().chain(self.locals.iter().map(|(name, _)| name.clone()))
        };
        let of_library = matches!(word.folded(), "bool" | "char" | "float" | "string" | "union");
        if !is_type_elsewhere(word) || !(self.is_unknown(word) || of_library) {
            return;
        }
        let free = match name {
            Expr::Name(name) => self.is_unknown(name) && closest(name, known()).is_none(),
            Expr::Bool(_) => self.is_unknown(word),
            _ => false,
        };
        if free {
            self.undeclared(self.item.expr_spans[head].cover(self.item.expr_spans[declared]));
        }
    }

    fn undeclared(&mut self, at: Span) {
        let message = "nothing is declared without being defined";
        let report = Diagnostic::error(DiagnosticKind::Name, self.loc(at), message).hint(
            "a variable is defined by its value, as in `x = 3;`, a function as in `function g(x) = x + 1;`; \
             types are found by themselves",
        );
        self.statement.get_or_insert(report);
    }

    /// Reports `{e : a | e < 3}`, where the elements of `a` are to be called `e`: `{e : e in a | e < 3}`.
    fn without_in(&mut self, body: ExprId, bindings: &[(PatId, ExprId)]) {
        let [(pat, sequence)] = bindings else { return };
        let at = self.item.expr_spans[*sequence];
        let Expr::Name(name) = &self.item.exprs[*sequence] else { return };
        if self.item.pat_spans[*pat] != at || self.unknown.contains(name) {
            return;
        }
        let mut missing: Option<&Name> = None;
        let mut todo = vec![body];
        while let Some(id) = todo.pop() {
            match &self.item.exprs[id] {
                Expr::Name(other) if other == name => return,
                Expr::Name(other) => {
                    let known = self.locals.iter().any(|(local, _)| local == other)
                        || self.unknown.contains(other)
                        || self.scope.value(other).is_some();
                    if !known && missing.is_some_and(|missing| missing != other) {
                        return;
                    }
                    missing = if known { missing } else { Some(other) };
                }
                Expr::Call { arg, .. } | Expr::Unary { arg, .. } => todo.push(*arg),
                Expr::Binary { left, right, .. } => todo.extend([*left, *right]),
                Expr::Index { sequence, index } => todo.extend([*sequence, *index]),
                Expr::Pair(first, second) => todo.extend([*first, *second]),
                _ => {}
            }
        }
        let Some(missing) = missing.filter(|missing| self.scope.absent(missing).is_none()) else {
            return;
        };
        let report = Diagnostic::error(
            DiagnosticKind::Name,
            self.loc(at),
            format!("`{missing}` is undefined: nothing binds it here"),
        );
        let written = format!("{missing} in {name}");
        let report =
            report.fix(format!("to go over `{name}`, write `{written}`"), self.loc(at), written);
        self.names.diagnostics.push(report);
        self.ask(missing);
        self.unknown.insert(missing.clone());
    }

    /// Resolves an operator: always the primitive or library function of its name.
    fn operator(&mut self, id: ExprId, name: &str, span: Span) {
        let resolution = self.top_level(&Name::new(name), span, false);
        self.names.values.insert(id, resolution);
    }

    /// Resolves the record names in a type. Inference reports unknown names, since it knows the type
    /// variables.
    fn types(&mut self, ty: &TypeExpr, context: &[(Ident, Ident)]) {
        let mut todo = vec![ty];
        while let Some(ty) = todo.pop() {
            match &ty.kind {
                TypeExprKind::Name(name) => {
                    if !context.iter().any(|(variable, _)| variable.name == *name) {
                        self.type_name(name);
                    }
                }
                TypeExprKind::Apply(name, args) => {
                    self.type_name(&name.name);
                    todo.extend(args);
                }
                TypeExprKind::Sequence(a) => todo.push(a),
                TypeExprKind::Pair(a, b) | TypeExprKind::Arrow(a, b) => todo.extend([&**a, &**b]),
                TypeExprKind::Missing => {}
            }
        }
    }

    fn type_name(&mut self, name: &Name) {
        if matches!(name.folded(), "int" | "float" | "bool" | "char") {
            return;
        }
        self.ask(name);
        if let Some(record) = self.scope.record(name) {
            self.refer(record);
            self.names.type_records.insert(name.clone(), record);
        }
    }
}
