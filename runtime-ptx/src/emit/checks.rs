//! The emission of bounds checks, as [`Bounds`] says.

use super::assembly::{Class, Operand, Reg, emit};
use super::body::{LateRange, WorkItem};
use super::bounds::{Bounds, Range, Span};
use nesl_runtime::kir::{Site, Value};

impl<'a> WorkItem<'a> {
    pub(super) fn bounds(&self) -> &'a Bounds {
        &self.frame.bounds
    }

    /// Returns true for a value that nobody reads, or that is known since before the loop.
    pub(super) fn is_emitted_elsewhere(&self, value: Value) -> bool {
        self.bounds().is_silent(value) || self.bounds().is_hoisted(value)
    }

    /// Emits a check.
    pub(super) fn check(&mut self, cond: Value, site: Site, detail: &[Value]) {
        let span = self.fits.get(&cond).copied().zip(self.bounds().range(cond));
        let Some((fits, range)) = span else {
            let cond = self.register(cond);
            let from = self.exit(site, detail, None, None);
            emit!(self.asm, "@!{cond} bra {from}");
            return;
        };
        let (index, limit) = (self.operand(range.index), self.limit(range.limit));
        let back = self.asm.label();
        let from = self.exit(site, detail, None, Some(LateRange { index, limit, back }));
        emit!(self.asm, "@!{fits} bra {from}");
        self.asm.place(back);
    }

    /// Emits the question whether an index is in a range.
    pub(super) fn in_range(&mut self, range: Range) -> Reg {
        let (index, limit) = (self.operand(range.index), self.limit(range.limit));
        let d = self.asm.register(Class::Predicate);
        emit!(self.asm, "setp.lo.u64 {d}, {index}, {limit}");
        d
    }

    /// The operand of a limit, raised to 0 if it is below.
    pub(super) fn limit(&mut self, limit: Value) -> Operand {
        let operand = self.operand(limit);
        if !self.bounds().may_be_negative(limit) {
            return operand;
        }
        let known = self.limits.get(&limit).or_else(|| self.frame.limits.get(&limit));
        known.copied().unwrap_or_else(|| self.asm.at_least_zero(operand))
    }

    /// Emits the ranges that are the same in all iterations of a loop, before it.
    pub(super) fn hoist_ranges(&mut self, head: Option<Value>) {
        let bounds = self.bounds();
        for cond in bounds.before_loop(head).ranges.iter().filter(|cond| !bounds.is_silent(**cond))
        {
            if let Some(range) = bounds.range(*cond) {
                let reg = self.in_range(range);
                self.define(*cond, reg);
            }
        }
    }

    /// Emits, before a loop of `count` iterations, the questions whether all of them are in bounds.
    pub(super) fn hoist_spans(&mut self, index: Value, count: Operand) {
        for span in &self.bounds().before_loop(Some(index)).spans {
            let fits = self.span_fits(*span, count);
            self.fits.insert(span.cond, fits);
        }
    }

    /// Emits the question whether all iterations of a loop are in bounds: the first one is at
    /// least 0, and there are as many elements from there on.
    fn span_fits(&mut self, span: Span, count: Operand) -> Reg {
        let (limit, fits) = (self.limit(span.limit), self.asm.register(Class::Predicate));
        let Some(from) = span.from else {
            emit!(self.asm, "setp.le.s64 {fits}, {count}, {limit}");
            return fits;
        };
        let (from, left) = (self.operand(from), self.asm.register(Class::B64));
        let begins = self.asm.register(Class::Predicate);
        emit!(self.asm, "setp.ge.s64 {begins}, {from}, 0");
        emit!(self.asm, "sub.s64 {left}, {limit}, {from}");
        emit!(self.asm, "setp.le.and.s64 {fits}, {count}, {left}, {begins}");
        fits
    }
}
