//! The names of variables, by their text in the source, and the layouts of sequences.

use super::{Layout, Summariser};
use crate::explain::origin::NAME_CHARS;
use crate::flat::{Let, Op, SpaceId, SpaceKind};
use crate::ir::{self, Atom, Ty, Var};
use crate::prim::SeqOp;
use crate::syntax::ast::{ItemKind, Pat, PatId};

impl Summariser<'_> {
    /// Names the parameters: a function's after the variables of its pattern, another form's after
    /// the top-level variables that it reads.
    pub(super) fn name_params(&mut self) {
        let params = &self.function.params;
        let globals = &self.program.source.globals;
        let mut names: Vec<String> = globals.iter().map(|g| g.name.to_string()).collect();
        let ast = self.db.ast(self.item);
        if let ItemKind::Function(function) = &ast.kind {
            let mut own = Vec::new();
            pattern_names(&ast.pats, function.param, &mut own);
            names = own;
        }
        // The layout of an argument is the caller's.
        for (var, ty) in params {
            if matches!(ty, Ty::Sequence(_)) {
                self.layouts.insert(*var, Layout::Given);
            }
        }
        // Optional parameters and the key of random numbers come last.
        if names.len() <= params.len() {
            for ((var, _), name) in params.iter().zip(names) {
                self.names.insert(*var, name);
            }
        }
    }

    /// Finds a variable's text in the source, and its layout if it is a sequence.
    pub(super) fn name_and_lay_out(&mut self, binding: &Let) {
        self.sites.insert(binding.var, binding.site);
        let span = self.origins.span(binding.site).filter(|_| self.is_own(binding.site));
        let each = span.is_some_and(|span| self.origins.each(span).is_some());
        let element = matches!(binding.op, Op::Element { .. });
        if let (Some(span), true) = (span, element || !each) {
            let text = &self.db.file_text(self.db.file_of(self.item))[self.origins.range(span)];
            // The element of `x in xs` is `x`.
            let text = match text.split_once(" in ") {
                Some((name, _)) if element => name,
                _ => text,
            };
            if text.len() <= NAME_CHARS && !text.contains('\n') {
                self.names.insert(binding.var, text.to_owned());
            }
        }
        // Two sequences that one apply-to-each goes over have one index space: the place is that of the first.
        if let Op::Element { of, .. } = &binding.op
            && let Some(sequence) = self.names.get(of)
            && let Some(pattern) = self.origins.pattern_over(sequence)
        {
            self.names.insert(binding.var, pattern);
        }
        if !self.names.contains_key(&binding.var)
            && let Some(span) = self.origins.code(binding.site, true)
        {
            self.names.insert(binding.var, self.origins.text(span, NAME_CHARS));
        }
        if !self.names.contains_key(&binding.var) {
            // A part of something is called as the whole.
            let whole = match &binding.op {
                Op::Map(
                    ir::Op::First(Atom::Var(of))
                    | ir::Op::Second(Atom::Var(of))
                    | ir::Op::Copy(Atom::Var(of)),
                ) => Some(*of),
                Op::Element { of, .. } | Op::Collect { value: Atom::Var(of), .. } => Some(*of),
                _ => None,
            };
            if let Some(name) = whole.and_then(|of| self.names.get(&of)).cloned() {
                self.names.insert(binding.var, name);
            }
        }
        if !matches!(binding.ty, Ty::Sequence(_)) {
            return;
        }
        let layout = match &binding.op {
            Op::Collect { from, .. } => self.layout(*from),
            Op::Map(ir::Op::Seq(op, _)) => match op {
                SeqOp::Range | SeqOp::Dist => Layout::Regular,
                SeqOp::Subseq | SeqOp::Partition | SeqOp::Index => Layout::Views,
                _ => Layout::Contiguous,
            },
            Op::Element { of, .. } => self.layouts.get(of).copied().unwrap_or(Layout::Given),
            Op::Gather(..) => Layout::Views,
            _ => Layout::Given,
        };
        self.layouts.insert(binding.var, layout);
    }

    /// Returns the layout of the segments of an index space.
    pub(in crate::explain) fn layout(&self, space: SpaceId) -> Layout {
        match &self.function.index_space(space).kind {
            SpaceKind::Caller => Layout::Regular,
            SpaceKind::Count { of, count } => match count {
                // A count that does not depend on the outer element makes segments of equal length.
                Atom::Var(var) if !self.outside(*var, *of) => Layout::Contiguous,
                _ => Layout::Regular,
            },
            SpaceKind::Elements { sequence, .. } => {
                self.layouts.get(sequence).copied().unwrap_or(Layout::Given)
            }
            SpaceKind::Filter { .. } | SpaceKind::Concat { .. } => Layout::Contiguous,
        }
    }

    /// Returns true if a variable is defined outside of an index space, so that its value is
    /// uniform within each segment.
    fn outside(&self, var: Var, space: SpaceId) -> bool {
        let mut home = None;
        self.function.body.each_let(&mut |binding| {
            if binding.var == var {
                home = Some(binding.space);
            }
        });
        home.is_none_or(|home| home != space && self.function.is_within(space, home))
    }
}

/// Appends the names that a pattern binds, in order.
fn pattern_names(pats: &crate::syntax::ast::Arena<Pat>, pat: PatId, out: &mut Vec<String>) {
    match &pats[pat] {
        Pat::Name(name) => out.push(name.to_string()),
        Pat::Pair(a, b) => {
            pattern_names(pats, *a, out);
            pattern_names(pats, *b, out);
        }
        Pat::Record { content, .. } => pattern_names(pats, *content, out),
        Pat::Missing => {}
    }
}
