//! Sequential code whose loops are all short: a map may execute it for each element.
//!
//! The taps of a stencil or the coordinates of a point are a few values, their number written in the program. Loops over
//! sequences may be long, and code for a whole row can then share what it reads between the elements of the row, as the
//! dot products of one row with all others do.

use crate::base::with_stack;
use crate::ir::{Atom, Block, Op, Var};
use crate::prim::{Cost, SeqOp};
use rustc_hash::FxHashSet;

/// Returns true if a block calls no function, and each loop in it has at most `most` iterations, a constant.
pub(super) fn has_short_loops(block: &Block, most: usize) -> bool {
    longest_loop(block, most).is_some()
}

/// Returns the number of iterations of the longest loop of a block, and 1 if there is no loop; `None` if the block
/// calls functions, or has loops that may have more than `most` iterations.
pub(super) fn longest_loop(block: &Block, most: usize) -> Option<usize> {
    let mut loops = Loops { most, short: FxHashSet::default(), longest: 1 };
    loops.are_short(block).then_some(loops.longest)
}

struct Loops {
    most: usize,
    /// The sequences that are known to be short.
    short: FxHashSet<Var>,
    /// The number of elements of the longest of them, at least 1.
    longest: usize,
}

impl Loops {
    fn are_short(&mut self, block: &Block) -> bool {
        with_stack(|| {
            block.lets.iter().all(|binding| {
                let is_short = match &binding.op {
                    Op::Nest(nest) => {
                        nest.binders.iter().all(|(.., of)| self.is_short(*of))
                            && self.are_short(&nest.body)
                    }
                    Op::If { then, otherwise, .. } => {
                        return self.are_short(then) && self.are_short(otherwise);
                    }
                    Op::Seq(SeqOp::Range, args) => match args[..] {
                        [Atom::Int(0), Atom::Int(1), Atom::Int(end)] => self.is_few(end),
                        _ => false,
                    },
                    Op::Seq(SeqOp::Dist, args) => match args[..] {
                        [_, Atom::Int(count)] => self.is_few(count),
                        _ => false,
                    },
                    Op::List(elements) => self.is_few(elements.len() as i64),
                    op if op.costs_at_most(Cost::Element, &binding.ty) => return true,
                    op => {
                        op.blocks().next().is_none()
                            && op.operands().iter().all(|of| self.is_short(*of))
                    }
                };
                if is_short {
                    self.short.insert(binding.var);
                }
                is_short
            })
        })
    }

    fn is_few(&mut self, count: i64) -> bool {
        let Some(count) = usize::try_from(count).ok().filter(|count| *count <= self.most) else {
            return false;
        };
        self.longest = self.longest.max(count);
        true
    }

    fn is_short(&self, sequence: Atom) -> bool {
        sequence.variable().is_some_and(|var| self.short.contains(&var))
    }
}

#[cfg(test)]
mod tests {
    use super::has_short_loops;

    fn is_short(body: &str) -> bool {
        let text = format!(
            "main \"main\"\n\nfn \"main\"(v0: [float], v1: [float], v2: int) -> float {{\n{body}}}\n"
        );
        let program = crate::ir::parse(&text).expect("the text is well-formed");
        has_short_loops(&program.functions[0].body, 8)
    }

    #[test]
    fn loops_over_constant_ranges_and_what_they_make_are_short() {
        let taps = |count: &str| {
            format!(
                "  v3: [int] = range(0, 1, {count})
  v4: [float] = each v5: int in v3 {{
    v6: float = index(v0, v5)
    v6
  }}
  v7: float = reduce_sum(v4)
  v7
"
            )
        };
        assert!(is_short(&taps("8")));
        assert!(!is_short(&taps("9")));
        assert!(!is_short(&taps("v2")));
    }

    #[test]
    fn loops_over_other_sequences_are_not() {
        let over = "  v4: [float] = each v5: float in v0 {
    v6: float = mul(v5, v5)
    v6
  }
  1.0
";
        assert!(!is_short(over));
        assert!(!is_short("  v3: float = reduce_sum(v0)\n  v3\n"));
        assert!(is_short("  v3: float = index(v0, v2)\n  v3\n"));
    }
}
