//! Names the values of a flat function after their text in the source.

use crate::base::{ItemId, Span};
use crate::db::Database;
use crate::db::bare;
use crate::explain::origin::Origins;
use crate::flat::{Function, Let, Op};
use crate::ir::{self, Atom, Var};
use crate::syntax::ast::{Expr, ExprId, Item, Pat, PatId};
use crate::syntax::excerpt;
use rustc_hash::FxHashMap;

/// The width of a name, in characters; a longer one is shortened.
const NAME_CHARS: usize = 28;

/// Returns the names of a function's values; `params` has those of its parameters. A value that the
/// compiler adds has no name.
pub(super) fn names(
    db: &Database,
    item: ItemId,
    function: &Function,
    params: &FxHashMap<Var, String>,
    origins: &Origins<'_>,
) -> FxHashMap<Var, String> {
    let mut namer = Namer {
        db,
        item,
        origins,
        ast: db.ast(item),
        names: FxHashMap::default(),
        pats: FxHashMap::default(),
    };
    for (var, _) in &function.params {
        if let Some(name) = params.get(var) {
            namer.names.insert(*var, name.clone());
        }
    }
    // Of several operations of one source text, which a function of the library consists of, only the last
    // has the text's value.
    let mut last: FxHashMap<Span, Var> = FxHashMap::default();
    function.body.each_let(&mut |binding| {
        namer.name(binding);
        if let (Some(span), true) = (origins.span(binding.site), is_named_by_source(&binding.op)) {
            last.insert(span, binding.var);
        }
    });
    function.body.each_let(&mut |binding| {
        let span = origins.span(binding.site).filter(|_| is_named_by_source(&binding.op));
        let is_inside = span.is_some_and(|span| last.get(&span) != Some(&binding.var));
        if is_inside && let Some(name) = namer.names.get_mut(&binding.var) {
            name.insert_str(0, "inside ");
        }
    });
    namer.names
}

/// Returns true for an operation whose value is named by the source text that it comes from, unless the
/// text's other operations make that of it.
fn is_named_by_source(op: &Op) -> bool {
    match op {
        Op::Map(op) => matches!(op, ir::Op::Scalar(..) | ir::Op::Seq(..) | ir::Op::List(_)),
        Op::Position { .. }
        | Op::Gather(..)
        | Op::Reduce { .. }
        | Op::Scan { .. }
        | Op::Scatter { .. } => true,
        _ => false,
    }
}

/// Returns the text of some tokens of a form in one line, shortened and without the parentheses
/// around it.
pub(super) fn snippet(db: &Database, item: ItemId, span: Span) -> String {
    let parsed = db.parsed(item);
    let text = db.item_text(item);
    excerpt(&text[parsed.range(bare(parsed, span))], NAME_CHARS)
}

struct Namer<'a> {
    db: &'a Database,
    item: ItemId,
    origins: &'a Origins<'a>,
    ast: &'a Item,
    names: FxHashMap<Var, String>,
    /// The patterns that variables are bound to.
    pats: FxHashMap<Var, PatId>,
}

impl Namer<'_> {
    fn name(&mut self, binding: &Let) {
        let found = match &binding.op {
            Op::Element { of, .. } => self.element(binding, *of),
            // The components of a pair are named by the pattern that the pair is bound to.
            Op::Map(ir::Op::First(Atom::Var(pair))) => self.component(binding, *pair, true),
            Op::Map(ir::Op::Second(Atom::Var(pair))) => self.component(binding, *pair, false),
            Op::Extent { .. } => self.source(binding).map(|text| format!("#{text}")),
            Op::Histogram { with, .. } => Some(format!("{} at each index", with.label())),
            // An operation that the compiler adds to an apply-to-each has no text in the source.
            Op::Map(ir::Op::Scalar(..)) | Op::Reduce { .. }
                if binding.site.item == self.item && self.each(binding.site.span).is_some() =>
            {
                None
            }
            _ => self.source(binding),
        };
        if let Some(name) = found {
            self.names.insert(binding.var, name);
        }
    }

    /// Returns the source text of the expression that computes a value.
    fn source(&self, binding: &Let) -> Option<String> {
        let site = binding.site;
        if site.item != self.item {
            // What a function computes that was inlined is called as the call of it.
            let call = self.origins.span(site).filter(|_| is_named_by_source(&binding.op));
            return call.map(|span| snippet(self.db, self.item, span));
        }
        if site.span.start >= site.span.end {
            return None;
        }
        let Some((each, body)) = self.each(site.span) else {
            return Some(snippet(self.db, self.item, site.span));
        };
        // The location of the bindings of an apply-to-each stands for the elements of its body, or,
        // where those are collected, for all of the apply-to-each.
        let collects = matches!(binding.op, Op::Collect { .. });
        let expr = if collects { each } else { body };
        Some(snippet(self.db, self.item, self.ast.expr_spans[expr]))
    }

    /// Returns the apply-to-each one or all of whose bindings have this span of tokens, and its
    /// body.
    fn each(&self, span: Span) -> Option<(ExprId, ExprId)> {
        let mut found: Option<(ExprId, ExprId)> = None;
        for (id, expr) in self.ast.exprs.iter() {
            let Expr::Each { bindings, body, .. } = expr else { continue };
            let covers = |(pat, sequence): &(PatId, ExprId)| {
                self.ast.pat_spans[*pat].cover(self.ast.expr_spans[*sequence])
            };
            let all = bindings.iter().map(covers).reduce(Span::cover);
            if all == Some(span) || bindings.iter().any(|binding| covers(binding) == span) {
                found = found.or(Some((id, *body)));
            }
        }
        found
    }

    /// Returns the name of an element: `x` for an element of `x in xs`, or else `element of xs`.
    fn element(&mut self, binding: &Let, of: Var) -> Option<String> {
        let sequence = self.names.get(&of).cloned();
        if binding.site.item == self.item
            && let Some((each, _)) = self.each(binding.site.span)
            && let Expr::Each { bindings, .. } = &self.ast.exprs[each]
        {
            let goes_over = |(_, expr): &&(PatId, ExprId)| {
                let text = snippet(self.db, self.item, self.ast.expr_spans[*expr]);
                Some(text) == sequence
            };
            let own = bindings.iter().find(goes_over);
            let own = own.or(if bindings.len() == 1 { bindings.first() } else { None });
            if let Some((pat, _)) = own {
                self.pats.insert(binding.var, *pat);
                return Some(self.pattern(*pat));
            }
        }
        sequence.map(|name| format!("element of {name}"))
    }

    /// Returns the name of a component of a pair.
    fn component(&mut self, binding: &Let, pair: Var, first: bool) -> Option<String> {
        if let Some(pat) = self.pats.get(&pair)
            && let Pat::Pair(a, b) = self.ast.pats[*pat]
        {
            let pat = if first { a } else { b };
            self.pats.insert(binding.var, pat);
            return Some(self.pattern(pat));
        }
        let name = self.names.get(&pair)?;
        Some(format!("{} of {name}", if first { "first" } else { "second" }))
    }

    fn pattern(&self, pat: PatId) -> String {
        let text = snippet(self.db, self.item, self.ast.pat_spans[pat]);
        match self.ast.pats[pat] {
            Pat::Pair(..) => format!("({text})"),
            Pat::Name(_) | Pat::Record { .. } | Pat::Missing => text,
        }
    }
}
