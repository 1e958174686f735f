//! Marks for whoever watches a program run: `set trace`, `set profile`.
//!
//! The core language has no bindings of the user's, only operations. In a watched function each
//! `let` binding is put between two copies, which compute nothing and cost nothing:
//!
//! ```text
//! let s = sum(v) in …        v1: unit = copy(unit)      begins `s`
//!                            v2: int  = reduce_sum(v0)
//!                            v3: int  = copy(v2)        ends `s`: its value
//! ```
//!
//! What the copies mean is said beside the program, by function and variable.

use super::instance::{Elaborator, Frame};
use crate::ir::{self, Atom, FunId, Op, Var};
use crate::syntax::ast::{self, ItemKind, Pat, PatId};
use crate::types::Ty;
use rustc_hash::FxHashMap;

/// What is known about the watched functions of a program.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// The functions.
    pub functions: FxHashMap<FunId, WatchedFunction>,
    /// The copies.
    pub marks: FxHashMap<(FunId, Var), Mark>,
}

/// A watched function at certain types.
#[derive(Clone, Debug)]
pub struct WatchedFunction {
    /// Its name.
    pub name: String,
    /// The variables of its parameter, then the optional ones, with their types.
    pub params: Vec<(String, Ty)>,
    /// The type of its result.
    pub result: Ty,
}

/// What a copy marks.
#[derive(Clone, Debug)]
pub enum Mark {
    /// A binding begins: which one, as [`WatchedBinding::site`].
    Begin(ir::Site),
    /// The binding begun last is done; what is copied is its value.
    End(WatchedBinding),
}

/// A `let` binding of a watched function.
#[derive(Clone, Debug)]
pub struct WatchedBinding {
    /// The function.
    pub function: String,
    /// What is bound: `x`, `(a, b)`.
    pub name: String,
    /// The type of the value.
    pub ty: Ty,
    /// It stands inside an apply-to-each.
    pub nested: bool,
    /// Which binding of the program's text it is, whatever the types it is used at.
    pub site: ir::Site,
}

impl<'c> Elaborator<'c> {
    /// Marks the beginning of a binding.
    pub(super) fn begin_binding(&mut self, frame: &mut Frame<'c>, value: ast::ExprId) {
        if frame.watched {
            let site = frame.site(value);
            self.mark(frame, ir::Ty::Unit, Atom::Unit, site, Mark::Begin(site));
        }
    }

    /// Marks the end of a binding.
    pub(super) fn end_binding(
        &mut self,
        frame: &mut Frame<'c>,
        pat: PatId,
        value: ast::ExprId,
        atom: Atom,
    ) {
        if !frame.watched {
            return;
        }
        let site = frame.site(value);
        let binding = WatchedBinding {
            function: self.context.name(frame.item).to_string(),
            name: pattern_text(&frame.ast, pat, true),
            ty: frame.ty(value),
            nested: frame.nests > 0,
            site,
        };
        let ty = frame.body.ty(atom);
        self.mark(frame, ty, atom, site, Mark::End(binding));
    }

    fn mark(&mut self, frame: &mut Frame<'c>, ty: ir::Ty, atom: Atom, site: ir::Site, mark: Mark) {
        if let Atom::Var(var) = frame.body.push(ty, Op::Copy(atom), site) {
            self.marks.push((var, mark));
        }
    }

    /// Notes the function being elaborated, if it is watched.
    pub(super) fn note_watched(&mut self, frame: &Frame<'c>, function: &ast::Function) {
        let (true, Some(body)) = (frame.watched, function.body) else { return };
        let mut leaves = Vec::new();
        super::pattern::leaves(&frame.ast, function.param, &mut leaves);
        let named = leaves
            .into_iter()
            .map(|leaf| (pattern_text(&frame.ast, leaf, false), frame.pat_ty(leaf)));
        let optional = function
            .optional
            .iter()
            .map(|(name, default)| (name.name.to_string(), frame.ty(*default)));
        self.noted = Some(WatchedFunction {
            name: function.name.name.to_string(),
            params: named.chain(optional).collect(),
            result: frame.ty(body),
        });
    }

    /// Attributes what was noted to the function elaborated last.
    pub(super) fn attribute(&mut self, id: FunId) {
        if let Some(function) = self.noted.take() {
            self.watched.functions.insert(id, function);
        }
        let marks = std::mem::take(&mut self.marks);
        self.watched.marks.extend(marks.into_iter().map(|(var, mark)| ((id, var), mark)));
    }
}

/// `x`, `(a, b)`, `complex(re, im)`: a pattern as it is written.
pub fn pattern_text(item: &ast::Item, pat: PatId, nested: bool) -> String {
    match &item.pats[pat] {
        Pat::Name(name) => name.to_string(),
        Pat::Missing => "_".to_owned(),
        Pat::Pair(a, b) => {
            let first = pattern_text(item, *a, true);
            let inside = format!("{first}, {}", pattern_text(item, *b, false));
            if nested { format!("({inside})") } else { inside }
        }
        Pat::Record { name, content } => {
            format!("{}({})", name.name, pattern_text(item, *content, false))
        }
    }
}

/// What a form binds, as the original prints it: `it`, `x`, `(a, b)`.
pub fn form_name(item: &ast::Item) -> String {
    match &item.kind {
        ItemKind::Binding { pattern, .. } => pattern_text(item, *pattern, true),
        ItemKind::Expr(_)
        | ItemKind::Function(_)
        | ItemKind::Datatype(_)
        | ItemKind::Command(_)
        | ItemKind::Missing => "it".to_owned(),
    }
}
