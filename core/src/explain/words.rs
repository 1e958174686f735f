//! The description of a kernel in words: its index space, and its operations by their source text.

use super::origin::{NAME_CHARS, covers};
use super::summary::Summariser;
use crate::base::Span;
use crate::flat::{Kernel, Let, Op, SpaceId, SpaceKind};
use crate::ir::{self, Atom, Var};
use crate::prim::{ReduceOp, SeqOp};

/// The width of an expression in a line, in characters.
const CODE_CHARS: usize = 44;
/// The number of expressions in a line.
const MAX_EXPRESSIONS: usize = 4;
/// The number of calls of one function in a line.
const MAX_CALLS: usize = 3;

impl Summariser<'_> {
    /// Describes a kernel: `less`, `more`: one pass over `a`: filter `x < p`, filter `x > p`.
    pub(super) fn describe(&mut self, kernel: &Kernel, working: &[&Let]) -> String {
        let origins = self.origins();
        let mut done: Vec<String> = Vec::new();
        let mut add = |word: String| {
            if !done.contains(&word) {
                done.push(word);
            }
        };
        let spans = self.expressions(working);
        self.expression_texts(&spans).into_iter().for_each(&mut add);
        let told: Vec<&&Let> = working.iter().filter(|b| self.verb(b).is_some()).collect();
        told.iter().filter_map(|binding| self.verb(binding)).for_each(&mut add);
        for mask in &kernel.masks {
            let SpaceKind::Filter { flag, is, .. } = &self.kind(*mask) else { continue };
            let Some(flag) = self.flag(*flag) else { continue };
            add(if *is { format!("filter {flag}") } else { format!("filter not {flag}") });
        }
        // What a filter tests need not be named as well.
        let filters: Vec<String> = done
            .iter()
            .filter_map(|word| word.strip_prefix("filter ").map(str::to_owned))
            .collect();
        done.retain(|word| !filters.contains(word));
        let verbs = told.iter().filter_map(|binding| origins.span(binding.site));
        let mut from: Vec<Span> = spans.iter().copied().chain(verbs).collect();
        if from.is_empty() {
            from = working.iter().filter_map(|binding| origins.span(binding.site)).collect();
        }
        let mut labels: Vec<String> = Vec::new();
        for span in from {
            if let Some(name) = origins.bound_to(span)
                && !labels.contains(&name)
            {
                labels.push(name);
            }
        }
        self.around.told.extend(spans);
        let space = self.describe_space(kernel.space);
        let mut parts = Vec::new();
        if !labels.is_empty() && labels.len() <= 4 {
            parts
                .push(labels.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "));
        }
        parts.extend((!space.is_empty()).then(|| format!("one pass over {space}")));
        // What the pass goes over need not be named as well.
        if done.iter().any(|word| !space.contains(word.as_str())) {
            done.retain(|word| !word.starts_with('`') || !space.contains(word.as_str()));
        }
        if done.is_empty() {
            done.push("values are copied".to_owned());
        }
        parts.push(done.join(", "));
        parts.join(": ")
    }

    /// The scalar expressions that are computed, in order, none inside another; without those that were told
    /// before, if there are others.
    fn expressions(&self, working: &[&Let]) -> Vec<Span> {
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
        let verbs = working.iter().any(|binding| self.verb(binding).is_some());
        let is_new = |span: &Span| !self.around.told.contains(span);
        if verbs || spans.iter().any(is_new) {
            spans.retain(is_new);
        }
        spans
    }

    /// The source text of some expressions; of many, how many more there are.
    fn expression_texts(&self, spans: &[Span]) -> Vec<String> {
        let mut texts: Vec<String> = Vec::new();
        for span in spans {
            let text = format!("`{}`", self.origins().text(*span, CODE_CHARS));
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

    /// The condition by which a filter chooses, as the form has it; `None` if the filter is inside a function that
    /// was inlined.
    fn flag(&self, flag: Var) -> Option<String> {
        let span = self.sites.get(&flag).and_then(|site| self.origins().span(*site));
        let sieve = span.and_then(|span| self.origins().sieve(span));
        match (sieve, span) {
            (Some(sieve), _) => Some(format!("`{}`", self.origins().text(sieve, NAME_CHARS))),
            (None, Some(span)) if self.is_within_call(flag, span) => None,
            _ => Some(self.quoted_name(flag)),
        }
    }

    /// Returns true if a variable with a place in the source belongs to a function that was inlined.
    fn is_within_call(&self, var: Var, span: Span) -> bool {
        let own = self.sites.get(&var).is_some_and(|site| self.range_in_form(*site).is_some());
        !own || self.origins().is_call(span)
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
                ir::Op::List(values) => match self.origins().code(binding.site, true) {
                    Some(span) => {
                        let code = self.origins().text(span, NAME_CHARS);
                        match values.len() {
                            0 | 1 => format!("make `{code}`"),
                            _ => format!("put `{code}` side by side"),
                        }
                    }
                    None => "put the values side by side".to_owned(),
                },
                ir::Op::Text(_) => match self.origins().code(binding.site, true) {
                    Some(span) => format!("make `{}`", self.origins().text(span, NAME_CHARS)),
                    None => "make a text".to_owned(),
                },
                ir::Op::Constants(_) => match self.origins().code(binding.site, true) {
                    Some(span) => format!("make `{}`", self.origins().text(span, NAME_CHARS)),
                    None => "make a sequence".to_owned(),
                },
                _ => return None,
            },
            Op::Gather(..) => match self.origins().code(binding.site, false) {
                Some(span) => format!("read `{}`", self.origins().text(span, NAME_CHARS)),
                None => "read elements by index".to_owned(),
            },
            Op::Reduce { with, .. } => match self.origins().code(binding.site, false) {
                // The length of what a filter leaves is the number of elements that pass.
                Some(span) if self.origins().text(span, NAME_CHARS).starts_with('#') => {
                    format!("`{}`", self.origins().text(span, NAME_CHARS))
                }
                _ => reduction(*with).to_owned(),
            },
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
            Op::Extent { .. } => "count the elements".to_owned(),
            Op::Element { .. }
            | Op::Position { .. }
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

    /// The call that a step comes from, if it is of a function that was inlined.
    pub(super) fn inlined(&self, binding: &Let) -> Option<Span> {
        self.origins().span(binding.site).filter(|_| self.is_foreign(binding))
    }

    /// A call that was inlined, with the number of its launches. If the function is called more than once in the
    /// form, all calls are told together.
    pub(super) fn describe_call(&self, span: Span, launches: u32) -> String {
        let mut siblings = self.origins().siblings(span);
        // On one side of a conditional, the calls on the other side have nothing to say.
        let elsewhere = |span: &Span| self.around.excluded.iter().any(|side| covers(*side, *span));
        if siblings.iter().any(|span| !elsewhere(span)) {
            siblings.retain(|span| !elsewhere(span));
        }
        let mut labels: Vec<String> = Vec::new();
        for name in siblings.iter().filter_map(|span| self.origins().bound_to(*span)) {
            if !labels.contains(&name) {
                labels.push(name);
            }
        }
        let labels: Vec<String> = labels.iter().map(|name| format!("`{name}`")).collect();
        let label = match labels.len() {
            0 => String::new(),
            _ => format!("{}: ", labels.join(", ")),
        };
        let width = match siblings.len() {
            1 => CODE_CHARS + NAME_CHARS,
            _ => CODE_CHARS,
        };
        let mut calls: Vec<String> = Vec::new();
        for span in &siblings {
            let code = format!("`{}`", self.origins().text(*span, width));
            if !calls.contains(&code) {
                calls.push(code);
            }
        }
        if calls.len() > MAX_CALLS {
            let rest = calls.len() - (MAX_CALLS - 1);
            calls.truncate(MAX_CALLS - 1);
            calls.push(format!("{rest} other calls"));
        }
        let each = match siblings[..] {
            [only] => self.origins().for_each(only),
            _ => None,
        };
        let each = each.map(|each| self.origins().bindings(each, CODE_CHARS));
        let each = each.map_or_else(String::new, |each| format!(" for each `{each}`"));
        let launches = if launches == 1 { String::new() } else { format!(": {launches} launches") };
        format!("{label}{}{each}{launches}", calls.join(", "))
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
                let not = if is { "" } else { "not " };
                match self.flag(flag) {
                    _ if around.is_empty() => around,
                    Some(flag) => format!("{around} where {not}{flag}"),
                    // Inside a function that was inlined, it is a part of what the call gives.
                    None => self.quoted_name(flag),
                }
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
