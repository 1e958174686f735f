//! Sides that end in a call of the same function: a conditional between two calls becomes one call, of choices
//! between the arguments.
//!
//! ```text
//! v9 = if v4 {                              v5: int = if v4 { v6 = add(v1, 1)  v6 }
//!   v6 = add(v1, 1)                                   else { v1 }
//!   v7 = call "search"(v0, v6, v2)     →    v8: int = if v4 { v2 } else { v3 }
//!   v7                                      v9 = call "search"(v0, v5, v8)
//! } else {
//!   v8 = call "search"(v0, v1, v3)
//!   v8
//! }
//! ```
//!
//! Sequential code chooses between numbers without a branch, which of two calls cannot be predicted in a binary
//! search or a merge; flattened code divides no index space, and calls once.
//!
//! Arguments that differ are scalars, or sequences to which both sides append elements: `snoc(out, x)` in one side and
//! `snoc(out, y)` in the other. All else that the sides compute stays in them.

use super::dead;
use crate::base::with_stack;
use crate::ir::{
    Atom, Block, Class, Effects, FunId, Function, FunctionBuilder, Let, Op, Site, Ty, Var,
};
use crate::prim::SeqOp;
use nesl_runtime::scalar::ScalarOp;
use rustc_hash::FxHashSet;

/// Rewrites the conditionals of a function.
pub(super) fn merge(function: &mut Function, effects: &Effects) {
    let builder = FunctionBuilder::extending(function);
    let mut merger = Merger { builder, effects, has_merged: false };
    merger.block(&mut function.body);
    if merger.has_merged {
        // The sides still append what is appended behind them now.
        dead::remove(function);
    }
}

struct Merger<'e> {
    /// Names new variables.
    builder: FunctionBuilder,
    effects: &'e Effects,
    has_merged: bool,
}

/// One side of a conditional: what it computes, and the call that it ends in.
struct Side<'b> {
    before: &'b [Let],
    callee: FunId,
    args: &'b [Atom],
    site: Site,
    own: FxHashSet<Var>,
}

/// An argument of the one call.
enum Choice {
    /// That of both calls.
    Same(Atom),
    /// The choice with this number.
    Chosen(usize),
    /// A value that both sides compute alike, by an operation that cannot fault.
    Scalar(ScalarOp, Vec<Choice>, Ty),
    Pair(Box<Choice>, Box<Choice>),
    /// A sequence to which elements are appended.
    Append(Box<Choice>, Vec<Choice>, Site),
}

/// The arguments of the one call.
struct Choices<'b> {
    then: &'b Side<'b>,
    otherwise: &'b Side<'b>,
    /// The values that are chosen between: the type, and the operands in the two sides.
    chosen: Vec<(Ty, Atom, Atom)>,
}

impl Merger<'_> {
    fn block(&mut self, block: &mut Block) {
        with_stack(|| {
            for mut binding in std::mem::take(&mut block.lets) {
                binding.op.blocks_mut().for_each(|inner| self.block(inner));
                match self.merged(&binding) {
                    Some(lets) => {
                        self.has_merged = true;
                        block.lets.extend(lets);
                    }
                    None => block.lets.push(binding),
                }
            }
        });
    }

    /// Returns the bindings that a conditional between two calls becomes.
    fn merged(&mut self, binding: &Let) -> Option<Vec<Let>> {
        let Op::If { cond, then, otherwise } = &binding.op else { return None };
        // In an apply-to-each, effects come in the order of the sides, and of the iterations in each.
        if self.effects.in_op(&binding.op) {
            return None;
        }
        let sides = [Side::of(then)?, Side::of(otherwise)?];
        let [first, second] = &sides;
        if first.callee != second.callee {
            return None;
        }
        let mut choices = Choices { then: first, otherwise: second, chosen: Vec::new() };
        let args: Option<Vec<Choice>> = first
            .args
            .iter()
            .zip(second.args)
            .map(|(a, b)| choices.choose(*a, *b, &self.builder.type_of(a)))
            .collect();
        let (args, chosen) = (args?, choices.chosen);
        let site = if first.site == second.site { first.site } else { binding.site };
        let b = &mut self.builder;
        b.begin();
        let chosen = if chosen.is_empty() && sides.iter().all(|side| side.before.is_empty()) {
            Vec::new()
        } else {
            let side = |b: &mut FunctionBuilder, side: &Side<'_>, own: Vec<Atom>| {
                side.before.iter().for_each(|inner| b.keep(inner.clone()));
                let pair = |rest, first| b.pair(first, rest, binding.site);
                own.into_iter().rev().reduce(pair)
            };
            let (firsts, seconds): (Vec<Atom>, Vec<Atom>) =
                chosen.iter().map(|(_, a, b)| (*a, *b)).unzip();
            let mut rest = b.conditional(
                *cond,
                binding.site,
                |b| side(b, first, firsts).unwrap_or(Atom::Unit),
                |b| side(b, second, seconds).unwrap_or(Atom::Unit),
            );
            let mut all = Vec::new();
            while all.len() + 1 < chosen.len() {
                let (first, second) = b.unpair(rest, binding.site);
                all.push(first);
                rest = second;
            }
            all.push(rest);
            all
        };
        let args = args.iter().map(|arg| arg.made(b, &chosen)).collect();
        let mut lets = b.end(Atom::Unit).lets;
        lets.push(Let { op: Op::Call(first.callee, args), site, ..binding.clone() });
        Some(lets)
    }
}

impl<'b> Side<'b> {
    fn of(block: &'b Block) -> Option<Side<'b>> {
        let (last, before) = block.lets.split_last()?;
        let Op::Call(callee, args) = &last.op else { return None };
        let own = before.iter().map(|binding| binding.var).collect();
        let is_result = block.result == Atom::Var(last.var);
        is_result.then_some(Side { before, callee: *callee, args, site: last.site, own })
    }

    /// Returns true if an operand is not computed in the side.
    fn is_outside(&self, atom: Atom) -> bool {
        atom.variable().is_none_or(|var| !self.own.contains(&var))
    }

    /// Returns the binding of an operand that the side computes.
    fn binding(&self, atom: Atom) -> Option<&'b Let> {
        self.before.iter().find(|binding| atom == Atom::Var(binding.var))
    }

    /// Returns the sequence and the elements that an operand appends to it, if it is made so and used nowhere else.
    fn appended(&self, atom: Atom) -> Option<(Atom, &'b [Atom], Site)> {
        let binding = self.binding(atom)?;
        let Op::Seq(SeqOp::Append, parts) = &binding.op else { return None };
        let [to, list] = parts[..] else { return None };
        let Op::List(elements) = &self.binding(list)?.op else { return None };
        let mut uses = self.args.iter().filter(|arg| **arg == atom).count();
        count_uses(self.before, atom, &mut uses);
        (uses == 1).then_some((to, elements, binding.site))
    }
}

/// Counts the uses of an operand in some bindings.
fn count_uses(lets: &[Let], atom: Atom, uses: &mut usize) {
    with_stack(|| {
        for binding in lets {
            binding.op.each_operand(|other| *uses += usize::from(other == atom));
            for block in binding.op.blocks() {
                count_uses(&block.lets, atom, uses);
                *uses += usize::from(block.result == atom);
            }
        }
    });
}

impl Choices<'_> {
    /// Returns the argument that is `a` in one call and `b` in the other, if no sequences are chosen between.
    fn choose(&mut self, a: Atom, b: Atom, ty: &Ty) -> Option<Choice> {
        let (then, otherwise) = (self.then, self.otherwise);
        if a == b && then.is_outside(a) && otherwise.is_outside(b) {
            return Some(Choice::Same(a));
        }
        if let Ty::Pair(first, second) = ty
            && let Some(Op::Pair(a, c)) = then.binding(a).map(|binding| &binding.op)
            && let Some(Op::Pair(b, d)) = otherwise.binding(b).map(|binding| &binding.op)
        {
            let first = self.choose(*a, *b, first)?;
            let second = self.choose(*c, *d, second)?;
            return Some(Choice::Pair(Box::new(first), Box::new(second)));
        }
        if let Some(same) = self.same_scalar(a, b) {
            return Some(same);
        }
        if !ty.has_sequence() {
            self.chosen.push((ty.clone(), a, b));
            return Some(Choice::Chosen(self.chosen.len() - 1));
        }
        let element = ty.element().filter(|element| !element.has_sequence())?;
        let (to, elements, site) = then.appended(a)?;
        let (other_to, other_elements, _) = otherwise.appended(b)?;
        if elements.len() != other_elements.len() {
            return None;
        }
        let to = self.choose(to, other_to, ty)?;
        let elements: Option<Vec<Choice>> = elements
            .iter()
            .zip(other_elements)
            .map(|(a, b)| self.choose(*a, *b, element))
            .collect();
        Some(Choice::Append(Box::new(to), elements?, site))
    }

    /// Returns the argument if both sides compute it alike, from what is outside of them.
    fn same_scalar(&self, a: Atom, b: Atom) -> Option<Choice> {
        if a == b && self.then.is_outside(a) && self.otherwise.is_outside(b) {
            return Some(Choice::Same(a));
        }
        let (first, second) = (self.then.binding(a)?, self.otherwise.binding(b)?);
        let (Op::Scalar(op, args), Op::Scalar(other, others)) = (&first.op, &second.op) else {
            return None;
        };
        if op != other || first.op.class(&first.ty) != Class::Pure {
            return None;
        }
        let args: Option<Vec<Choice>> =
            args.iter().zip(others).map(|(a, b)| self.same_scalar(*a, *b)).collect();
        Some(Choice::Scalar(*op, args?, first.ty.clone()))
    }
}

impl Choice {
    /// Binds the argument, given the chosen values.
    fn made(&self, b: &mut FunctionBuilder, chosen: &[Atom]) -> Atom {
        match self {
            Choice::Same(atom) => *atom,
            Choice::Chosen(number) => chosen[*number],
            Choice::Scalar(op, args, ty) => {
                let args = args.iter().map(|arg| arg.made(b, chosen)).collect();
                b.bind(ty.clone(), Op::Scalar(*op, args), Site::NONE)
            }
            Choice::Pair(first, second) => {
                let (first, second) = (first.made(b, chosen), second.made(b, chosen));
                b.pair(first, second, Site::NONE)
            }
            Choice::Append(to, elements, site) => {
                let to = to.made(b, chosen);
                let elements: Vec<Atom> =
                    elements.iter().map(|element| element.made(b, chosen)).collect();
                let list = b.bind(b.type_of(&to), Op::List(elements), *site);
                b.seq(SeqOp::Append, vec![to, list], *site)
            }
        }
    }
}
