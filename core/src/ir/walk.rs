//! Traversals of the core language, and constructors of its types.

use super::{Atom, Block, Let, Op, Site, Ty, Var};
use crate::base::{Constants, ItemId, Span, with_stack};
use crate::prim::SeqOp;
use nesl_runtime::bug;
use rustc_hash::FxHashMap;
use std::fmt;

impl Site {
    /// The site of code that the compiler adds.
    pub const NONE: Site = Site { item: ItemId(0), span: Span { start: 0, end: 0 } };
}

impl Ty {
    /// Returns the type `(first, second)`.
    pub fn pair(first: Ty, second: Ty) -> Ty {
        Ty::Pair(Box::new(first), Box::new(second))
    }

    /// Returns the type `[element]`.
    pub fn sequence(element: Ty) -> Ty {
        Ty::Sequence(Box::new(element))
    }

    /// Returns the type of the elements of a long literal.
    pub fn of_constants(constants: &Constants) -> Ty {
        match constants {
            Constants::Ints(_) => Ty::Int,
            Constants::Floats(_) => Ty::Float,
            Constants::Bools(_) => Ty::Bool,
            Constants::Chars(_) => Ty::Char,
            Constants::Pairs(pair) => {
                Ty::pair(Ty::of_constants(&pair.0), Ty::of_constants(&pair.1))
            }
            Constants::Sequences { elements, .. } => Ty::sequence(Ty::of_constants(elements)),
        }
    }

    /// Returns the type of strings, `[char]`.
    pub fn text() -> Ty {
        Ty::sequence(Ty::Char)
    }

    /// Returns the type of a tuple, `(a, (b, (c, …)))`; [`Ty::Unit`] for no components.
    pub fn tuple(parts: impl IntoIterator<Item = Ty, IntoIter: DoubleEndedIterator>) -> Ty {
        let mut parts = parts.into_iter().rev();
        match parts.next() {
            None => Ty::Unit,
            Some(last) => parts.fold(last, |rest, part| Ty::pair(part, rest)),
        }
    }

    /// Returns true if values of this type are sequences or contain some.
    pub fn has_sequence(&self) -> bool {
        with_stack(|| match self {
            Ty::Unit | Ty::Int | Ty::Float | Ty::Bool | Ty::Char => false,
            Ty::Pair(first, second) => first.has_sequence() || second.has_sequence(),
            Ty::Sequence(_) => true,
        })
    }

    /// Returns the type of the elements of an operand that the verifier has found to be a sequence.
    pub fn sequence_element(&self) -> &Ty {
        match self.element() {
            Some(element) => element,
            None => bug!("the verifier found that {self} is a sequence type"),
        }
    }

    /// Returns the type of the elements, if this is a sequence.
    pub fn element(&self) -> Option<&Ty> {
        match self {
            Ty::Sequence(element) => Some(element),
            Ty::Unit | Ty::Int | Ty::Float | Ty::Bool | Ty::Char | Ty::Pair(..) => None,
        }
    }
}

/// The notation of the language, with every pair in parentheses: `[(int, (char, bool))]`.
impl fmt::Display for Ty {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Unit => write!(out, "unit"),
            Ty::Int => write!(out, "int"),
            Ty::Float => write!(out, "float"),
            Ty::Bool => write!(out, "bool"),
            Ty::Char => write!(out, "char"),
            Ty::Pair(first, second) => with_stack(|| write!(out, "({first}, {second})")),
            Ty::Sequence(element) => with_stack(|| write!(out, "[{element}]")),
        }
    }
}

impl Op {
    /// Replaces variables by other operands, also in the blocks inside. For a variable that is
    /// bound there, `name` must return the variable itself.
    pub fn rename(&mut self, name: &mut dyn FnMut(Var) -> Atom) {
        self.each_operand_mut(|atom| {
            if let Atom::Var(var) = *atom {
                *atom = name(var);
            }
        });
        self.blocks_mut().for_each(|block| block.rename(name));
    }
}

impl Block {
    /// Replaces variables by other operands, also in the blocks inside.
    pub fn rename(&mut self, name: &mut dyn FnMut(Var) -> Atom) {
        with_stack(|| {
            self.lets.iter_mut().for_each(|binding| binding.op.rename(name));
            if let Atom::Var(var) = self.result {
                self.result = name(var);
            }
        });
    }

    /// Visits every binding here and in the blocks inside, in order of evaluation, each before
    /// the blocks of its own operation.
    pub fn each_let<'a>(&'a self, visit: &mut dyn FnMut(&'a Let)) {
        with_stack(|| {
            for binding in &self.lets {
                visit(binding);
                for block in binding.op.blocks() {
                    block.each_let(visit);
                }
            }
        });
    }

    /// Returns true if there is a histogram here or in the blocks inside.
    pub fn makes_histogram(&self) -> bool {
        let mut found = false;
        self.for_each_op(&mut |op| found |= matches!(op, Op::Seq(SeqOp::Histogram(_), _)));
        found
    }

    /// Visits every operation here and in the blocks inside.
    pub fn for_each_op<'a>(&'a self, visit: &mut impl FnMut(&'a Op)) {
        self.each_let(&mut |binding| visit(&binding.op));
    }

    /// Counts the uses of each variable here and in the blocks inside.
    pub fn count_uses(&self, uses: &mut FxHashMap<Var, usize>) {
        let mut used = |atom: Atom| {
            if let Atom::Var(var) = atom {
                *uses.entry(var).or_default() += 1;
            }
        };
        used(self.result);
        self.each_let(&mut |binding| {
            binding.op.operands().into_iter().for_each(&mut used);
            binding.op.blocks().for_each(|inner| used(inner.result));
        });
    }

    /// Visits every variable bound here and in the blocks inside, nests' binders included.
    pub fn each_binding<'a>(&'a self, visit: &mut dyn FnMut(Var, &'a Ty)) {
        self.each_let(&mut |binding| {
            if let Op::Nest(nest) = &binding.op {
                for (var, ty, _) in &nest.binders {
                    visit(*var, ty);
                }
            }
            visit(binding.var, &binding.ty);
        });
    }
}
