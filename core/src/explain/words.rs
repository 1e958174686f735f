//! The description of a kernel in words: its index space, and its operations by their source text.

use super::origin::NAME_CHARS;
use super::summary::Summariser;
use crate::base::Span;
use crate::flat::{Kernel, Let, Op, SpaceId, SpaceKind};
use crate::ir::{self, Atom};
use crate::prim::{ReduceOp, SeqOp};

/// The width of an expression in a line, in characters.
const CODE_CHARS: usize = 44;
/// The number of expressions in a line.
const MAX_EXPRESSIONS: usize = 4;

impl Summariser<'_> {
    /// Describes a kernel: `less`, `more`: one pass over `a`: filter `x < p`, filter `x > p`.
    pub(super) fn describe(&self, kernel: &Kernel, working: &[&Let]) -> String {
        let origins = self.origins();
        let mut done: Vec<String> = Vec::new();
        let mut add = |word: String| {
            if !done.contains(&word) {
                done.push(word);
            }
        };
        let scalars = self.expressions(working);
        scalars.into_iter().for_each(&mut add);
        working.iter().filter_map(|binding| self.verb(binding)).for_each(&mut add);
        for mask in &kernel.masks {
            let SpaceKind::Filter { flag, is, .. } = &self.kind(*mask) else { continue };
            let flag = self.quoted_name(*flag);
            add(if *is { format!("filter {flag}") } else { format!("filter not {flag}") });
        }
        // What a filter tests need not be named as well.
        let filters: Vec<String> = done
            .iter()
            .filter_map(|word| word.strip_prefix("filter ").map(str::to_owned))
            .collect();
        done.retain(|word| !filters.contains(word));
        let mut labels: Vec<String> = Vec::new();
        for binding in working {
            let span = origins.span(binding.site);
            if let Some(name) = span.and_then(|span| origins.bound_to(span))
                && !labels.contains(&name)
            {
                labels.push(name);
            }
        }
        let space = self.describe_space(kernel.space);
        let mut parts = Vec::new();
        if !labels.is_empty() && labels.len() <= 4 {
            parts
                .push(labels.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "));
        }
        parts.extend((!space.is_empty()).then(|| format!("one pass over {space}")));
        if done.is_empty() {
            done.push("values are copied".to_owned());
        }
        parts.push(done.join(", "));
        parts.join(": ")
    }

    /// The source text of the scalar expressions that are computed, none inside another.
    fn expressions(&self, working: &[&Let]) -> Vec<String> {
        let origins = self.origins();
        let mut spans: Vec<Span> = Vec::new();
        for binding in working.iter().filter(|binding| self.verb(binding).is_none()) {
            let Some(span) = origins.code(binding.site, false) else { continue };
            let inside = |outer: &Span| outer.start <= span.start && span.end <= outer.end;
            if spans.iter().any(inside) {
                continue;
            }
            spans.retain(|inner| !(span.start <= inner.start && inner.end <= span.end));
            spans.push(span);
        }
        spans.sort_by_key(|span| span.start);
        let mut texts: Vec<String> = Vec::new();
        for span in spans {
            let text = format!("`{}`", origins.text(span, CODE_CHARS));
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        if texts.len() > MAX_EXPRESSIONS {
            let rest = texts.len() - (MAX_EXPRESSIONS - 1);
            texts.truncate(MAX_EXPRESSIONS - 1);
            texts.push(format!("{rest} other expressions"));
        }
        texts
    }

    /// The operation of a step in words; `None` for one that is told by its expression: those on scalars, and
    /// all of a function that was inlined, of which the reader sees the call.
    fn verb(&self, binding: &Let) -> Option<String> {
        if self.is_foreign(binding) && self.origins().span(binding.site).is_some() {
            return None;
        }
        Some(match &binding.op {
            Op::Map(op) => match op {
                ir::Op::Seq(SeqOp::Length | SeqOp::Index, _) => return None,
                ir::Op::Seq(op, _) => match self.origins().span(binding.site) {
                    Some(span) if self.origins().each(span).is_none() => {
                        format!("`{}` ({})", self.origins().text(span, CODE_CHARS), op.label())
                    }
                    _ => op.label(),
                },
                ir::Op::Call(callee, _) => {
                    let callee = self.program.source.functions.get(callee.0 as usize);
                    let name = callee.map_or("", |f| super::summary::unspecialised_name(&f.name));
                    format!("call `{name}`")
                }
                ir::Op::Nest(_) => "a loop".to_owned(),
                ir::Op::List(_) => match self.origins().code(binding.site, true) {
                    Some(span) => {
                        format!("put `{}` side by side", self.origins().text(span, NAME_CHARS))
                    }
                    None => "put the values side by side".to_owned(),
                },
                ir::Op::Text(_) => "a text".to_owned(),
                _ => return None,
            },
            Op::Gather(..) => match self.origins().code(binding.site, false) {
                Some(span) => format!("read `{}`", self.origins().text(span, NAME_CHARS)),
                None => "read elements by index".to_owned(),
            },
            Op::Reduce { with, .. } => reduction(*with).to_owned(),
            Op::Histogram { with, .. } => format!("{} at each index", with.label()),
            Op::Scan { with, .. } => match with {
                ReduceOp::Sum => "running sums (a scan)".to_owned(),
                with => format!("running results: {} so far (a scan)", with.label()),
            },
            Op::Scatter { .. } => "write elements by index".to_owned(),
            Op::SameLength(..) => "check that the lengths are equal".to_owned(),
            Op::Sequential(_) => match self.origins().code(binding.site, true) {
                Some(span) => format!("`{}`", self.origins().text(span, CODE_CHARS)),
                None => "sequential code".to_owned(),
            },
            Op::Extent(..) => "count the elements".to_owned(),
            Op::Element { .. }
            | Op::Position
            | Op::Collect { .. }
            | Op::Branch { .. }
            | Op::Call(..)
            | Op::Versions { .. } => return None,
        })
    }

    fn is_foreign(&self, binding: &Let) -> bool {
        let span = self.origins().span(binding.site);
        self.range_in_form(binding.site).is_none()
            || span.is_some_and(|span| self.origins().is_call(span))
    }

    /// The one call that inlined steps come from, if they do.
    pub(super) fn inlined(&self, bindings: &[&Let]) -> Option<Span> {
        let mut spans = bindings
            .iter()
            .map(|binding| self.origins().span(binding.site).filter(|_| self.is_foreign(binding)));
        let first = spans.next()??;
        spans.all(|span| span == Some(first)).then_some(first)
    }

    /// The variable that a part of the form is computed for, with a colon, or nothing.
    pub(super) fn label(&self, span: Span) -> String {
        let name = self.origins().bound_to(span);
        name.map_or_else(String::new, |name| format!("`{name}`: "))
    }

    /// A call that was inlined, with the number of its launches.
    pub(super) fn describe_call(&self, span: Span, launches: u32) -> String {
        let code = self.origins().text(span, CODE_CHARS + NAME_CHARS);
        let launches = if launches == 1 { String::new() } else { format!(": {launches} launches") };
        format!("{}`{code}`{launches}", self.label(span))
    }

    /// Returns true if an index space has one element for each call: nothing is done for many elements.
    pub(super) fn is_single(&self, space: SpaceId) -> bool {
        match self.kind(space) {
            SpaceKind::Caller => true,
            SpaceKind::Filter { of, .. } => self.is_single(of),
            SpaceKind::Elements { .. } | SpaceKind::Count { .. } | SpaceKind::Concat { .. } => {
                false
            }
        }
    }

    /// The elements of an index space in words; empty if there is one.
    pub(super) fn describe_space(&self, space: SpaceId) -> String {
        let nested = |of: SpaceId, one: String, many: String| {
            if self.is_single(of) { one } else { many }
        };
        match self.kind(space) {
            SpaceKind::Caller => String::new(),
            SpaceKind::Elements { of, sequence } => {
                let name = self.quoted_name(sequence);
                nested(of, name.clone(), format!("the elements of every {name}"))
            }
            SpaceKind::Count { of, count } => {
                let count = match count {
                    Atom::Var(var) => self.named(var).map(|name| format!("`{name}`")),
                    Atom::Int(n) => Some(format!("`[0:{n}]`")),
                    _ => None,
                };
                let count = count.unwrap_or_else(|| "a range".to_owned());
                nested(of, count.clone(), format!("the elements of every {count}"))
            }
            SpaceKind::Filter { of, flag, is } => {
                let around = self.describe_space(of);
                let flag = self.quoted_name(flag);
                let not = if is { "" } else { "not " };
                if around.is_empty() { around } else { format!("{around} where {not}{flag}") }
            }
            SpaceKind::Concat { inner, .. } => self.describe_space(inner),
        }
    }
}

fn reduction(with: ReduceOp) -> &'static str {
    match with {
        ReduceOp::Sum => "their sum",
        ReduceOp::Product => "their product",
        ReduceOp::Max => "the largest",
        ReduceOp::Min => "the smallest",
        ReduceOp::And => "whether all are true",
        ReduceOp::Or => "whether any is true",
        ReduceOp::Xor => "their exclusive or",
    }
}
