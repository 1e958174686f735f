//! Walking over the core language, and its small constructors.

use super::{Atom, Block, Let, Op, Site, Ty, Var};
use crate::base::{ItemId, Span, with_stack};
use std::fmt;

impl Site {
    /// No place in particular: code that nobody wrote.
    pub const NONE: Site = Site { item: ItemId(0), span: Span { start: 0, end: 0 } };
}

impl Ty {
    /// `(a, b)`
    pub fn pair(first: Ty, second: Ty) -> Ty {
        Ty::Pair(Box::new(first), Box::new(second))
    }

    /// `[element]`
    pub fn sequence(element: Ty) -> Ty {
        Ty::Sequence(Box::new(element))
    }

    /// `[char]`
    pub fn text() -> Ty {
        Ty::sequence(Ty::Char)
    }

    /// `(a, (b, (c, …)))`; of nothing, `Unit`.
    pub fn tuple(parts: impl IntoIterator<Item = Ty, IntoIter: DoubleEndedIterator>) -> Ty {
        let mut parts = parts.into_iter().rev();
        match parts.next() {
            None => Ty::Unit,
            Some(last) => parts.fold(last, |rest, part| Ty::pair(part, rest)),
        }
    }

    /// Whether values of it are sequences, or contain some.
    pub fn has_sequence(&self) -> bool {
        with_stack(|| match self {
            Ty::Unit | Ty::Int | Ty::Float | Ty::Bool | Ty::Char => false,
            Ty::Pair(first, second) => first.has_sequence() || second.has_sequence(),
            Ty::Sequence(_) => true,
        })
    }

    /// The type of the elements, if this is a sequence.
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
    /// The blocks inside, in order of evaluation.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        let (first, second) = match self {
            Op::If { then, otherwise, .. } => (Some(then), Some(otherwise)),
            Op::Nest(nest) => (Some(&nest.body), None),
            Op::Time(block) => (Some(block), None),
            Op::Copy(_)
            | Op::Scalar(..)
            | Op::Pair(..)
            | Op::First(_)
            | Op::Second(_)
            | Op::Text(_)
            | Op::List(_)
            | Op::Seq(..)
            | Op::Call(..)
            | Op::Global(_)
            | Op::Check { .. }
            | Op::Error(_)
            | Op::Host(..) => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// The operands, in order of evaluation; not those of the blocks inside.
    pub fn atoms(&self) -> Vec<Atom> {
        match self {
            Op::Copy(a) | Op::First(a) | Op::Second(a) | Op::Error(a) => vec![*a],
            Op::Pair(a, b) => vec![*a, *b],
            Op::Scalar(_, args)
            | Op::List(args)
            | Op::Seq(_, args)
            | Op::Call(_, args)
            | Op::Host(_, args) => args.clone(),
            Op::If { cond, .. } | Op::Check { cond, .. } => vec![*cond],
            Op::Nest(nest) => nest.binders.iter().map(|(.., atom)| *atom).collect(),
            Op::Text(_) | Op::Global(_) | Op::Time(_) => Vec::new(),
        }
    }
}

impl Op {
    /// Puts other operands in the place of variables, in the blocks inside too. Of what is bound
    /// there, `name` must give the variable itself.
    pub fn rename(&mut self, name: &mut dyn FnMut(Var) -> Atom) {
        let mut rename = |atom: &mut Atom| {
            if let Atom::Var(var) = *atom {
                *atom = name(var);
            }
        };
        match self {
            Op::Copy(a) | Op::First(a) | Op::Second(a) | Op::Error(a) => rename(a),
            Op::Pair(a, b) => {
                rename(a);
                rename(b);
            }
            Op::Scalar(_, args)
            | Op::List(args)
            | Op::Seq(_, args)
            | Op::Call(_, args)
            | Op::Host(_, args) => args.iter_mut().for_each(rename),
            Op::Check { cond, .. } => rename(cond),
            Op::If { cond, then, otherwise } => {
                rename(cond);
                then.rename(name);
                otherwise.rename(name);
            }
            Op::Nest(nest) => {
                nest.binders.iter_mut().for_each(|(.., atom)| rename(atom));
                nest.body.rename(name);
            }
            Op::Time(block) => block.rename(name),
            Op::Text(_) | Op::Global(_) => {}
        }
    }
}

impl Block {
    /// The same, in a block.
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

    /// Visits every operation, those of inner blocks too.
    pub fn for_each_op<'a>(&'a self, visit: &mut impl FnMut(&'a Op)) {
        self.each_let(&mut |binding| visit(&binding.op));
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
