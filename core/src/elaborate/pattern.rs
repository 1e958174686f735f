//! Patterns as data: their variables, the shape of a parameter, and the variables that a lambda
//! captures. Nothing here emits code; `expr` binds patterns to values.

use crate::base::Name;
use crate::names::{Names, Resolution};
use crate::syntax::ast::{Expr, ExprId, Item, Pat, PatId};
use rustc_hash::FxHashSet;

/// Appends the variables of a pattern from left to right; a missing part counts as one.
pub(super) fn pattern_variables(item: &Item, pat: PatId, out: &mut Vec<PatId>) {
    match &item.pats[pat] {
        Pat::Name(_) | Pat::Missing => out.push(pat),
        Pat::Pair(a, b) => {
            pattern_variables(item, *a, out);
            pattern_variables(item, *b, out);
        }
        Pat::Record { content, .. } => pattern_variables(item, *content, out),
    }
}

/// Returns the variable of a pattern with a name.
pub(super) fn find(item: &Item, pat: PatId, name: &Name) -> Option<PatId> {
    let mut all = Vec::new();
    pattern_variables(item, pat, &mut all);
    all.into_iter().find(|p| matches!(&item.pats[*p], Pat::Name(n) if n == name))
}

/// A projection from a pair to one of its components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Projection {
    /// The projection to the first component.
    First,
    /// The projection to the second component.
    Second,
}

/// Returns the variables of a pattern, each with the projections that lead from the value of the
/// whole pattern to its own. A record is represented as its content, so it needs none.
pub fn bound_names(item: &Item, pat: PatId) -> Vec<(Name, Vec<Projection>)> {
    fn walk(
        item: &Item,
        pat: PatId,
        way: &mut Vec<Projection>,
        out: &mut Vec<(Name, Vec<Projection>)>,
    ) {
        match &item.pats[pat] {
            Pat::Name(name) => out.push((name.clone(), way.clone())),
            Pat::Missing => {}
            Pat::Pair(a, b) => {
                for (part, step) in [(a, Projection::First), (b, Projection::Second)] {
                    way.push(step);
                    walk(item, *part, way, out);
                    way.pop();
                }
            }
            Pat::Record { content, .. } => walk(item, *content, way, out),
        }
    }
    let mut out = Vec::new();
    walk(item, pat, &mut Vec::new(), &mut out);
    out
}

/// The tree of pairs into which a callee destructures its argument; each leaf is one operand.
#[derive(Clone, Debug)]
pub(super) enum ParamShape {
    /// A component that is passed as one operand.
    Leaf,
    /// A pair, of which both components are destructured.
    Pair(Box<ParamShape>, Box<ParamShape>),
}

impl ParamShape {
    /// Returns the shape of a pattern.
    pub(super) fn of(item: &Item, pat: PatId) -> ParamShape {
        match &item.pats[pat] {
            Pat::Name(_) | Pat::Missing => ParamShape::Leaf,
            Pat::Pair(a, b) => ParamShape::Pair(
                Box::new(ParamShape::of(item, *a)),
                Box::new(ParamShape::of(item, *b)),
            ),
            Pat::Record { content, .. } => ParamShape::of(item, *content),
        }
    }

    /// Returns the shape of a tuple of `n` operands.
    pub(super) fn tuple(n: usize) -> ParamShape {
        (1..n).fold(ParamShape::Leaf, |rest, _| {
            ParamShape::Pair(Box::new(ParamShape::Leaf), Box::new(rest))
        })
    }
}

/// A variable from outside that a lambda uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Captured {
    /// A variable of a pattern.
    Local(PatId),
    /// An optional parameter of the enclosing function.
    Optional(u32),
}

/// Returns the variables a lambda captures, in order of first use.
pub(super) fn captured(item: &Item, names: &Names, lambda: ExprId) -> Vec<Captured> {
    let mut bound = FxHashSet::default();
    let mut used = Vec::new();
    let mut todo = vec![lambda];
    while let Some(expr) = todo.pop() {
        let mut own = Vec::new();
        match &item.exprs[expr] {
            Expr::Lambda { param, .. } => pattern_variables(item, *param, &mut own),
            Expr::Let { bindings, .. } | Expr::Each { bindings, .. } => {
                for (pat, _) in bindings {
                    pattern_variables(item, *pat, &mut own);
                }
            }
            _ => {}
        }
        bound.extend(own);
        match names.values.get(expr) {
            Some(Resolution::Local(pat)) => used.push(Captured::Local(*pat)),
            Some(Resolution::Optional(index)) => used.push(Captured::Optional(*index)),
            Some(Resolution::Item(..) | Resolution::Prim(_) | Resolution::Unknown) | None => {}
        }
        let mut children = Vec::new();
        item.exprs[expr].children(|child| children.push(child));
        todo.extend(children.into_iter().rev());
    }
    let mut seen = FxHashSet::default();
    used.retain(|c| seen.insert(*c) && !matches!(c, Captured::Local(pat) if bound.contains(pat)));
    used
}
