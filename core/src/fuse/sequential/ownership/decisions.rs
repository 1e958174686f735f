//! The text of the decisions, for people and for tests.

use super::{Exchange, Kept, Ownership};
use crate::ir::{Atom, FunId, Var};

impl Ownership {
    /// Returns the decisions about a function, as text, each with the variable it is about; those of
    /// its result have none.
    pub(in super::super) fn decisions(&self, id: FunId) -> Vec<(Option<Var>, String)> {
        let Some((block, summary)) = self.functions.get(id.0 as usize) else { return Vec::new() };
        if !self.is_tracked(id) {
            return Vec::new();
        }
        let numbers = |flags: &[bool]| {
            let numbers = flags.iter().enumerate().filter(|(_, flag)| **flag);
            numbers.map(|(at, _)| format!(" {at}")).collect::<String>()
        };
        let kept = |var: &Var, all: &[Kept], which: Kept, decision: &str| {
            let flags: Vec<bool> = all.iter().map(|kept| *kept == which).collect();
            let text = format!("{decision} v{}:{}", var.0, numbers(&flags));
            flags.contains(&true).then_some((Some(*var), text))
        };
        let mut all: Vec<(Option<Var>, String)> = Vec::new();
        let sets = [
            ("in place", &block.in_place),
            ("move", &block.moves),
            ("same length", &block.same_lengths),
            ("place", &block.placed),
            ("take", &block.takes),
        ];
        for (decision, vars) in sets {
            all.extend(vars.iter().map(|var| (Some(*var), format!("{decision} v{}", var.0))));
        }
        all.extend(block.kept.iter().filter_map(|(var, all)| kept(var, all, Kept::Same, "keep")));
        all.extend(block.kept.iter().filter_map(|(var, all)| kept(var, all, Kept::Grown, "grow")));
        all.extend(
            block
                .given
                .iter()
                .filter(|(_, given)| given.contains(&true))
                .map(|(var, given)| (Some(*var), format!("give v{}:{}", var.0, numbers(given)))),
        );
        for (decision, binders) in [("rows", &block.rows), ("elements", &block.elements)] {
            let text = |(var, binder): (&Var, &usize)| {
                (Some(*var), format!("{decision} v{}: {binder}", var.0))
            };
            all.extend(binders.iter().map(text));
        }
        all.extend(block.exchanges.iter().map(|(var, exchange)| {
            let text = match exchange {
                Exchange::With(Atom::Var(other)) => format!("exchange v{}: v{}", var.0, other.0),
                Exchange::With(other) => format!("exchange v{}: {other:?}", var.0),
                Exchange::Done => format!("done v{}", var.0),
            };
            (Some(*var), text)
        }));
        let copies = block.copies.iter().filter(|(_, copies)| !copies.is_empty());
        all.extend(copies.map(|(var, copies)| {
            let copies: String = copies.iter().map(|copy| format!(" v{}", copy.0)).collect();
            (Some(*var), format!("copy v{}:{copies}", var.0))
        }));
        all.sort_unstable();
        if summary.returned.contains(&true) {
            all.push((None, format!("return{}", numbers(&summary.returned))));
        }
        all
    }
}
