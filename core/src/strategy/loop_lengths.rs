//! The work of a thread of sequential code: the lengths of its loops, as far as the host knows them when it
//! launches the kernel.
//!
//! A thread of `{sum({x * y : x in row; y in v}) : row in m}` goes over a row. The mean length of the rows is
//! known, since the arrays of `m` are: how much a call of a recursive function does, which repeats such a
//! step, is counted by that.

use crate::base::with_stack;
use crate::flat::{self, Kernel};
use crate::ir::{Atom, Block, Op, Ty, Var};
use crate::prim::SeqOp;
use rustc_hash::{FxHashMap, FxHashSet};

/// A loop of sequential code.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// The number of iterations.
    pub length: LoopLength,
    /// The loops of each iteration.
    pub inside: Vec<Loop>,
}

/// The number of iterations of a loop.
#[derive(Clone, Debug, PartialEq)]
pub enum LoopLength {
    /// The number is written in the program.
    Constant(u64),
    /// The mean length of the sequences at a level of a variable that lies in memory: 0 for the variable itself,
    /// 1 for its elements.
    Elements {
        /// The variable that these sequences belong to.
        of: Var,
        /// The number of levels of nesting around these sequences.
        level: usize,
    },
    /// The elements of `[start:end:stride]`, whose bounds are constants, or variables outside of the kernel.
    Range {
        /// The first element.
        start: Atom,
        /// The difference of two elements.
        stride: Atom,
        /// The int at which the elements end; it is none of them.
        end: Atom,
    },
}

/// Returns the loops of the sequential code of a kernel, as if each element executed both sides of conditionals, and
/// true if there are loops in those; `None` if it calls functions, or has a loop whose length depends on the element.
pub(super) fn loops(kernel: &Kernel) -> Option<(Vec<Loop>, bool)> {
    let mut lengths = Lengths::default();
    let mut loops = Vec::new();
    for step in &kernel.lets {
        match &step.op {
            flat::Op::Element { of, .. } => {
                let element = lengths.element(Atom::Var(*of));
                lengths.bind(step.var, element);
            }
            flat::Op::Sequential(block) => {
                loops.extend(lengths.block(block)?);
                lengths.bind(step.var, None);
            }
            flat::Op::Map(op) => {
                let length = lengths.operation(op, &step.ty, &mut loops)?;
                lengths.bind(step.var, length);
                lengths.bind_int(step.var, op);
            }
            _ => lengths.bind(step.var, None),
        }
    }
    Some((loops, lengths.conditional))
}

/// The lengths of the sequences that the code of a kernel binds.
#[derive(Default)]
struct Lengths {
    /// The variables that it binds.
    bound: FxHashSet<Var>,
    /// The sequences of these with known lengths.
    known: FxHashMap<Var, LoopLength>,
    /// The ints that are lengths of sequences.
    ints: FxHashMap<Var, LoopLength>,
    /// The sequences that a loop makes which is counted already.
    counted: FxHashSet<Var>,
    /// True if only some elements may execute some of the loops.
    conditional: bool,
}

impl Lengths {
    fn bind(&mut self, var: Var, length: Option<LoopLength>) {
        self.bound.insert(var);
        if let Some(length) = length {
            self.known.insert(var, length);
        }
    }

    /// Notes that an int is the length of a sequence, if it is.
    fn bind_int(&mut self, var: Var, op: &Op) {
        let length = match op {
            Op::Copy(of) => self.int(*of),
            Op::Seq(SeqOp::Length, args) => self.of(args[0]),
            // The width of a matrix, which is 0 if there is no first row.
            Op::If { then, otherwise, .. } => {
                match (self.int(then.result), self.int(otherwise.result)) {
                    (Some(LoopLength::Constant(0)), length) => length,
                    (length, Some(LoopLength::Constant(0))) => length,
                    (first, second) => first.filter(|first| second.as_ref() == Some(first)),
                }
            }
            _ => None,
        };
        if let Some(length) = length {
            self.ints.insert(var, length);
        }
    }

    /// Returns the length of which an int is the number.
    fn int(&self, atom: Atom) -> Option<LoopLength> {
        match atom {
            Atom::Int(number) => u64::try_from(number).ok().map(LoopLength::Constant),
            Atom::Var(var) => self.ints.get(&var).cloned(),
            _ => None,
        }
    }

    /// Returns the length of a sequence.
    fn of(&self, sequence: Atom) -> Option<LoopLength> {
        let var = sequence.variable()?;
        match self.bound.contains(&var) {
            true => self.known.get(&var).cloned(),
            false => Some(LoopLength::Elements { of: var, level: 0 }),
        }
    }

    /// Returns the length of an element of a sequence of sequences.
    fn element(&self, sequence: Atom) -> Option<LoopLength> {
        match self.of(sequence)? {
            LoopLength::Elements { of, level } => {
                Some(LoopLength::Elements { of, level: level + 1 })
            }
            LoopLength::Constant(_) | LoopLength::Range { .. } => None,
        }
    }

    fn block(&mut self, block: &Block) -> Option<Vec<Loop>> {
        with_stack(|| {
            let mut loops = Vec::new();
            for binding in &block.lets {
                let length = self.operation(&binding.op, &binding.ty, &mut loops)?;
                if matches!(binding.op, Op::Nest(_)) {
                    self.counted.insert(binding.var);
                }
                self.bind(binding.var, length);
                self.bind_int(binding.var, &binding.op);
            }
            Some(loops)
        })
    }

    /// Adds the loops of an operation. Returns the length of its result, if that is known.
    #[allow(
        clippy::option_option,
        reason = "a loop of unknown length, and a result of unknown length"
    )]
    fn operation(&mut self, op: &Op, ty: &Ty, loops: &mut Vec<Loop>) -> Option<Option<LoopLength>> {
        match op {
            Op::Nest(nest) => {
                let length = nest.binders.iter().find_map(|(.., of)| self.of(*of));
                for (var, _, of) in &nest.binders {
                    let element = self.element(*of);
                    self.bind(*var, element);
                }
                let inside = self.block(&nest.body)?;
                loops.push(Loop { length: length.clone()?, inside });
                Some(length)
            }
            Op::If { then, otherwise, .. } => {
                for side in [then, otherwise] {
                    let inside = self.block(side)?;
                    self.conditional |= !inside.is_empty();
                    loops.extend(inside);
                }
                Some(None)
            }
            Op::Call(..) => None,
            Op::Copy(of) if matches!(ty, Ty::Sequence(_)) => Some(self.of(*of)),
            Op::List(elements) => Some(Some(LoopLength::Constant(elements.len() as u64))),
            Op::Seq(op, args) => self.sequence(*op, args, ty, loops),
            _ => Some(None),
        }
    }

    #[allow(clippy::option_option, reason = "as for an operation")]
    fn sequence(
        &self,
        op: SeqOp,
        args: &[Atom],
        ty: &Ty,
        loops: &mut Vec<Loop>,
    ) -> Option<Option<LoopLength>> {
        let outside = |atom: &Atom| atom.variable().is_none_or(|var| !self.bound.contains(&var));
        match (op, args) {
            (SeqOp::Length, _) => Some(None),
            (SeqOp::Index, _) if !matches!(ty, Ty::Sequence(_)) => Some(None),
            (SeqOp::Index, _) => Some(self.element(args[0])),
            (SeqOp::Range, &[start, stride, end]) if args.iter().all(outside) => {
                Some(Some(LoopLength::Range { start, stride, end }))
            }
            (SeqOp::Dist, &[_, count]) if outside(&count) => {
                let (start, stride) = (Atom::Int(0), Atom::Int(1));
                Some(Some(LoopLength::Range { start, stride, end: count }))
            }
            (SeqOp::Range, &[Atom::Int(0), Atom::Int(1), end]) => Some(self.int(end)),
            (SeqOp::Dist, &[_, count]) => Some(self.int(count)),
            // Descriptors, of sequences whose lengths the elements determine.
            (SeqOp::Range | SeqOp::Subseq | SeqOp::Partition | SeqOp::Dist, _) => Some(None),
            (SeqOp::Gather, _) => Some(self.of(args[1])),
            // One element is written. Where the others are copied first, that takes less than a step for each.
            (SeqOp::Replace, _) => Some(self.of(args[0])),
            _ => {
                let length = self.of(args[0])?;
                let counted = |var: Var| self.counted.contains(&var);
                if !args[0].variable().is_some_and(counted) {
                    loops.push(Loop { length: length.clone(), inside: Vec::new() });
                }
                let longer = matches!(op, SeqOp::Append | SeqOp::Flatten);
                Some((!longer).then_some(length))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Lengths, Loop, LoopLength};
    use crate::ir::{Atom, Var};

    fn loops(body: &str) -> Option<Vec<Loop>> {
        let text = format!(
            "main \"main\"\n\nfn \"main\"(v0: [float], v1: [[float]], v2: int) -> float {{\n{body}}}\n"
        );
        let program = crate::ir::parse(&text).expect("the text is well-formed");
        Lengths::default().block(&program.functions[0].body)
    }

    fn flat(length: LoopLength) -> Loop {
        Loop { length, inside: Vec::new() }
    }

    #[test]
    fn loops_over_rows_have_the_lengths_of_the_rows() {
        let found = loops(
            "  v3: [float] = index(v1, v2)
  v7: [float] = each v4: float in v3, v5: float in v0 {
    v6: float = mul(v4, v5)
    v6
  }
  v8: float = reduce_sum(v7)
  v8
",
        );
        let row = LoopLength::Elements { of: Var(1), level: 1 };
        assert_eq!(found, Some(vec![flat(row)]));
    }

    #[test]
    fn loops_inside_of_loops_are_multiplied() {
        let found = loops(
            "  v7: [float] = each v4: [float] in v1 {
    v5: float = reduce_sum(v4)
    v5
  }
  v8: float = reduce_sum(v7)
  v8
",
        );
        let [rows, row] = [0, 1].map(|level| LoopLength::Elements { of: Var(1), level });
        assert_eq!(found, Some(vec![Loop { length: rows, inside: vec![flat(row)] }]));
    }

    #[test]
    fn a_range_that_depends_on_an_element_has_no_known_length() {
        let taps = |end: &str| {
            format!(
                "  v9: int = add(v2, 1)
  v3: [int] = range(1, 1, {end})
  v4: [float] = each v5: int in v3 {{
    v6: float = index(v0, v5)
    v6
  }}
  v7: float = reduce_sum(v4)
  v7
"
            )
        };
        let (start, stride, end) = (Atom::Int(1), Atom::Int(1), Atom::Var(Var(2)));
        let range = LoopLength::Range { start, stride, end };
        assert_eq!(loops(&taps("v2")), Some(vec![flat(range)]));
        assert_eq!(loops(&taps("v9")), None);
    }
}
