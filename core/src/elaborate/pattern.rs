//! Patterns: their leaves, binding them, and the variables an expression captures.

use super::instance::{Elaborator, Frame};
use crate::base::Name;
use crate::ir::{Atom, Site};
use crate::names::{Names, Resolution};
use crate::syntax::ast::{Expr, ExprId, Item, Pat, PatId};
use rustc_hash::FxHashSet;

/// The variables of a pattern in order; what is missing counts as one.
pub(super) fn leaves(item: &Item, pat: PatId, out: &mut Vec<PatId>) {
    match &item.pats[pat] {
        Pat::Name(_) | Pat::Missing => out.push(pat),
        Pat::Pair(a, b) => {
            leaves(item, *a, out);
            leaves(item, *b, out);
        }
        Pat::Record { content, .. } => leaves(item, *content, out),
    }
}

/// The variable of a pattern with a name.
pub(super) fn find(item: &Item, pat: PatId, name: &Name) -> Option<PatId> {
    let mut all = Vec::new();
    leaves(item, pat, &mut all);
    all.into_iter().find(|p| matches!(&item.pats[*p], Pat::Name(n) if n == name))
}

/// A step from a value into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The first of a pair.
    First,
    /// The second of a pair.
    Second,
}

/// The variables of a pattern, each with the way to its value (records need no step).
pub fn bound_names(item: &Item, pat: PatId) -> Vec<(Name, Vec<Step>)> {
    fn walk(item: &Item, pat: PatId, way: &mut Vec<Step>, out: &mut Vec<(Name, Vec<Step>)>) {
        match &item.pats[pat] {
            Pat::Name(name) => out.push((name.clone(), way.clone())),
            Pat::Missing => {}
            Pat::Pair(a, b) => {
                for (part, step) in [(a, Step::First), (b, Step::Second)] {
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

/// The shape in which a callee takes its argument apart.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// One value.
    Leaf,
    /// Two parts.
    Pair(Box<Shape>, Box<Shape>),
}

impl Shape {
    /// That of a pattern.
    pub(super) fn of(item: &Item, pat: PatId) -> Shape {
        match &item.pats[pat] {
            Pat::Name(_) | Pat::Missing => Shape::Leaf,
            Pat::Pair(a, b) => {
                Shape::Pair(Box::new(Shape::of(item, *a)), Box::new(Shape::of(item, *b)))
            }
            Pat::Record { content, .. } => Shape::of(item, *content),
        }
    }

    /// A tuple of `n` values.
    pub(super) fn tuple(n: usize) -> Shape {
        (1..n).fold(Shape::Leaf, |rest, _| Shape::Pair(Box::new(Shape::Leaf), Box::new(rest)))
    }
}

impl<'c> Elaborator<'c> {
    /// Binds the variables of a pattern to the parts of a value.
    pub(super) fn bind(&self, frame: &mut Frame<'c>, pat: PatId, value: Atom, site: Site) {
        match frame.ast.pats[pat] {
            Pat::Name(_) | Pat::Missing => {
                frame.env.insert(pat, value);
            }
            Pat::Pair(a, b) => {
                let first = frame.body.first(value, site);
                let second = frame.body.second(value, site);
                self.bind(frame, a, first, site);
                self.bind(frame, b, second, site);
            }
            Pat::Record { content, .. } => self.bind(frame, content, value, site),
        }
    }

    /// Takes a value apart by a shape.
    pub(super) fn project(
        frame: &mut Frame<'c>,
        shape: &Shape,
        value: Atom,
        site: Site,
    ) -> Vec<Atom> {
        match shape {
            Shape::Leaf => vec![value],
            Shape::Pair(a, b) => {
                let first = frame.body.first(value, site);
                let second = frame.body.second(value, site);
                let mut all = Self::project(frame, a, first, site);
                all.extend(Self::project(frame, b, second, site));
                all
            }
        }
    }
}

/// A variable from outside that a lambda uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Captured {
    /// A local.
    Local(PatId),
    /// An optional parameter of the enclosing function.
    Optional(u32),
}

/// The variables a lambda captures, in order of first use.
pub(super) fn captured(item: &Item, names: &Names, lambda: ExprId) -> Vec<Captured> {
    let mut bound = FxHashSet::default();
    let mut used = Vec::new();
    let mut todo = vec![lambda];
    while let Some(expr) = todo.pop() {
        let mut own = Vec::new();
        match &item.exprs[expr] {
            Expr::Lambda { param, .. } => leaves(item, *param, &mut own),
            Expr::Let { bindings, .. } | Expr::Each { bindings, .. } => {
                for (pat, _) in bindings {
                    leaves(item, *pat, &mut own);
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
