//! Sides of equal length: a conditional between two maps of one sequence becomes one map.
//!
//! ```text
//! each v1 in v0, v2 in … {                          each v1 in v0, v2 in … {
//!   v3 = le(v2, 7)                                    v3 = le(v2, 7)
//!   v4: [float] = if v3 { v1 }                        v4: [float] = each v5 in v1 {
//!   else { each v5 in v1 { sub(v5, 1.0) } }     →       if v3 { v5 } else { sub(v5, 1.0) }
//!   v4                                                }
//! }                                                   v4 }
//! ```
//!
//! A side is the sequence itself, or an apply-to-each over it that computes scalars. Sequential code
//! makes both sides in memory before it chooses, and flattened code divides the index space and merges
//! the results by copying; the one map is a loop that stores its result where it belongs. Other
//! sequences that a side runs over are replaced by the common one where the other side is taken, so
//! that lengths are compared where they were. Scalars that a side computes before its map are
//! computed before the common one, under the same condition.
//!
//! It is done where the conditional is what an iteration of a nest gives, and depends on the iteration:
//! there the rows are put together in any case. Elsewhere the choice of a sequence costs nothing.

use crate::base::with_stack;
use crate::ir::{Atom, Block, Effects, Function, FunctionBuilder, Let, Nest, Op, Site, Ty, Var};
use crate::thresholds::Thresholds;
use rustc_hash::FxHashSet;

/// Rewrites the conditionals of a function.
pub(super) fn join(function: &mut Function, effects: &Effects, limits: &Thresholds) {
    let mut joiner = Joiner { builder: FunctionBuilder::extending(function), effects, limits };
    joiner.block(&mut function.body);
}

struct Joiner<'p> {
    /// Names new variables.
    builder: FunctionBuilder,
    effects: &'p Effects,
    limits: &'p Thresholds,
}

/// The computation of one side of a conditional.
enum Side<'b> {
    /// A sequence that is there already.
    Same(Var),
    /// Scalars, and a map.
    Map(&'b [Let], &'b Nest),
}

impl Side<'_> {
    /// Returns true if the side has the length of a sequence.
    fn is_over(&self, of: Var) -> bool {
        match self {
            Side::Same(var) => *var == of,
            Side::Map(_, nest) => nest.binders.iter().any(|(.., atom)| *atom == Atom::Var(of)),
        }
    }

    fn sources(&self) -> Vec<Var> {
        match self {
            Side::Same(var) => vec![*var],
            Side::Map(_, nest) => {
                nest.binders.iter().filter_map(|(.., atom)| atom.variable()).collect()
            }
        }
    }
}

impl Joiner<'_> {
    fn block(&mut self, block: &mut Block) {
        with_stack(|| {
            for binding in &mut block.lets {
                if let Op::Nest(nest) = &mut binding.op {
                    self.body(nest);
                }
                binding.op.blocks_mut().for_each(|inner| self.block(inner));
            }
        });
    }

    /// Rewrites the conditional that the body of a nest ends in.
    fn body(&mut self, nest: &mut Nest) {
        let Some(last) = nest.body.lets.last() else { return };
        if nest.body.result != Atom::Var(last.var) || nest.serial {
            return;
        }
        let Op::If { cond: Atom::Var(cond), then, otherwise } = &last.op else { return };
        let mut own: FxHashSet<Var> = nest.binders.iter().map(|(var, ..)| *var).collect();
        own.extend(nest.body.lets.iter().map(|binding| binding.var));
        let Some(joined) = self.joined(last, *cond, then, otherwise) else { return };
        if own.contains(cond) {
            nest.body.lets.pop();
            nest.body.lets.extend(joined);
        }
    }

    /// Returns the bindings that a conditional becomes, if both sides are maps of one sequence.
    fn joined(
        &mut self,
        binding: &Let,
        cond: Var,
        then: &Block,
        otherwise: &Block,
    ) -> Option<Vec<Let>> {
        let element = binding.ty.element().filter(|element| !element.has_sequence())?;
        let (first, second) = (self.side(then)?, self.side(otherwise)?);
        if matches!((&first, &second), (Side::Same(_), Side::Same(_))) {
            return None;
        }
        let over = first.sources().into_iter().find(|of| second.is_over(*of))?;
        let mut made = Made {
            builder: &mut self.builder,
            lets: Vec::new(),
            binders: Vec::new(),
            cond,
            over,
            site: binding.site,
        };
        let then = made.side(&first, true, element)?;
        let otherwise = made.side(&second, false, element)?;
        let Made { mut lets, binders, .. } = made;
        let chosen = self.builder.fresh(element.clone());
        let op = Op::If { cond: Atom::Var(cond), then, otherwise };
        let choice = Let { var: chosen, ty: element.clone(), op, site: binding.site };
        let body = Block { lets: vec![choice], result: Atom::Var(chosen) };
        let op = Op::Nest(Nest { binders, body, serial: false });
        lets.push(Let { op, ..binding.clone() });
        Some(lets)
    }

    /// Returns what a side of a conditional computes, if it is a map that each element takes a few
    /// operations of.
    fn side<'b>(&self, block: &'b Block) -> Option<Side<'b>> {
        let Some((last, before)) = block.lets.split_last() else {
            return block.result.variable().map(Side::Same);
        };
        let Op::Nest(nest) = &last.op else { return None };
        let is_scalar = |binding: &Let| {
            !binding.ty.has_sequence()
                && !binding.op.has_blocks()
                && !matches!(binding.op, Op::Call(..))
                && !self.effects.in_op(&binding.op)
        };
        let is_map = block.result == Atom::Var(last.var)
            && !nest.serial
            && nest.body.lets.len() <= self.limits.max_map_side_operations
            && before.iter().chain(&nest.body.lets).all(is_scalar);
        is_map.then_some(Side::Map(before, nest))
    }
}

/// The bindings and the binders of a joined map.
struct Made<'b> {
    builder: &'b mut FunctionBuilder,
    lets: Vec<Let>,
    binders: Vec<(Var, Ty, Atom)>,
    cond: Var,
    /// The common sequence.
    over: Var,
    site: Site,
}

impl Made<'_> {
    /// Adds what a side runs over; returns the block that computes its element.
    fn side(&mut self, side: &Side<'_>, when: bool, element: &Ty) -> Option<Block> {
        match side {
            Side::Same(_) => {
                let own = self.common(element)?;
                Some(Block { lets: Vec::new(), result: Atom::Var(own) })
            }
            Side::Map(before, nest) => {
                self.scalars(before, &nest.body, when)?;
                let mut lets = Vec::new();
                let over = Atom::Var(self.over);
                let (_, ty, _) = nest.binders.iter().find(|(.., of)| *of == over)?;
                self.common(ty)?;
                for (var, ty, of) in &nest.binders {
                    let own = match *of == over {
                        true => self.common(ty)?,
                        false => self.other(ty, *of, when)?,
                    };
                    let op = Op::Copy(Atom::Var(own));
                    lets.push(Let { var: *var, ty: ty.clone(), op, site: self.site });
                }
                lets.extend(nest.body.lets.iter().cloned());
                Some(Block { lets, result: nest.body.result })
            }
        }
    }

    /// Returns the binder of the common sequence.
    fn common(&mut self, ty: &Ty) -> Option<Var> {
        let of = Atom::Var(self.over);
        if let Some((var, known, _)) = self.binders.iter().find(|(.., atom)| *atom == of) {
            return (known == ty).then_some(*var);
        }
        let var = self.builder.fresh(ty.clone());
        self.binders.push((var, ty.clone(), of));
        Some(var)
    }

    /// Adds a binder for another sequence, which is as long as the common one where the other side is
    /// taken.
    fn other(&mut self, ty: &Ty, of: Atom, when: bool) -> Option<Var> {
        let over = Atom::Var(self.over);
        let (_, common, _) = self.binders.iter().find(|(.., atom)| *atom == over)?;
        if common != ty {
            return None;
        }
        let sequence = Ty::Sequence(Box::new(ty.clone()));
        let [then, otherwise] = if when { [of, over] } else { [over, of] };
        let block = |result| Block { lets: Vec::new(), result };
        let (then, otherwise) = (block(then), block(otherwise));
        let op = Op::If { cond: Atom::Var(self.cond), then, otherwise };
        let chosen = self.bind(sequence, op);
        let var = self.builder.fresh(ty.clone());
        self.binders.push((var, ty.clone(), Atom::Var(chosen)));
        Some(var)
    }

    /// Computes the scalars that a map uses, if its side is taken.
    fn scalars(&mut self, before: &[Let], body: &Block, when: bool) -> Option<()> {
        let mut used: FxHashSet<Var> = body.result.variable().into_iter().collect();
        body.each_let(&mut |binding| {
            used.extend(binding.op.operands().iter().filter_map(|atom| atom.variable()));
        });
        let results: Vec<&Let> =
            before.iter().filter(|binding| used.contains(&binding.var)).collect();
        let [result] = results[..] else { return before.is_empty().then_some(()) };
        let nothing = match result.ty {
            Ty::Unit => Atom::Unit,
            Ty::Int => Atom::Int(0),
            Ty::Float => Atom::Float(0.0),
            Ty::Bool => Atom::Bool(false),
            Ty::Char => Atom::Char(0),
            Ty::Pair(..) | Ty::Sequence(_) => return None,
        };
        // Its name stays with the value that is used; inside, it has another.
        let inner = self.builder.fresh(result.ty.clone());
        let mut lets = before.to_vec();
        for binding in &mut lets {
            binding.op.each_operand_mut(|atom| {
                if *atom == Atom::Var(result.var) {
                    *atom = Atom::Var(inner);
                }
            });
            if binding.var == result.var {
                binding.var = inner;
            }
        }
        let taken = Block { lets, result: Atom::Var(inner) };
        let other = Block { lets: Vec::new(), result: nothing };
        let (then, otherwise) = if when { (taken, other) } else { (other, taken) };
        let op = Op::If { cond: Atom::Var(self.cond), then, otherwise };
        self.lets.push(Let { var: result.var, ty: result.ty.clone(), op, site: result.site });
        Some(())
    }

    fn bind(&mut self, ty: Ty, op: Op) -> Var {
        let var = self.builder.fresh(ty.clone());
        self.lets.push(Let { var, ty, op, site: self.site });
        var
    }
}
