//! Reductions of a flattened sequence become reductions of its rows, and those of an appended one reductions of both
//! parts, so that nobody stores the whole.
//!
//! ```text
//! v9: [[float]] = each v1 in v0 { … v8 }        v9: [[float]] = each v1 in v0 { … v8 }
//! v10: [float] = flatten(v9)               →    v11: [float] = each v12: [float] in v9 {
//! v13: float = reduce_sum(v10)                    v14: float = reduce_sum(v12)
//!                                                 v14 }
//!                                               v13: float = reduce_sum(v11)
//!
//! v1: [int] = list(0)                           v5: int = reduce_max(v2)
//! v3: [int] = append(v1, v2)               →    v4: int = max(0, v5)
//! v4: int = reduce_max(v3)
//! ```
//!
//! Computations of each element before it is reduced are done row by row, too, and the length is a sum of ones.
//! Sequential code then reduces each row while it makes it; it would store all rows, one behind the other,
//! before it went through them. Of several reductions one apply-to-each over the rows makes tuples, so that they share
//! the loops ([`fuse::sequential`](crate::fuse::sequential)).
//!
//! Invariants: the rows are made by an apply-to-each that nothing else uses, and so is each row; all uses of the
//! flattened or appended sequence are reductions, since with any other it is stored anyway. None of them needs the
//! result of another, and none that may fault passes an effect, or what may fault before it.

use crate::base::with_stack;
use crate::ir::{Atom, Block, Effects, Function, FunctionBuilder, Let, Nest, Op, Site, Ty, Var};
use crate::prim::{ReduceOp, SeqOp};
use crate::thresholds::Thresholds;
use nesl_runtime::scalar::ScalarOp;
use rustc_hash::FxHashMap;

/// Divides the reductions of a function.
pub(super) fn divide(function: &mut Function, effects: &Effects, limits: &Thresholds) {
    let mut joins = false;
    function.body.for_each_op(&mut |op| {
        joins |= matches!(op, Op::Seq(SeqOp::Flatten | SeqOp::Append, _));
    });
    if !joins {
        return;
    }
    let mut uses = FxHashMap::default();
    function.body.count_uses(&mut uses);
    let builder = FunctionBuilder::extending(function);
    let most = limits.max_reductions_of_rows;
    Division { builder, uses, effects, most }.block(&mut function.body);
}

struct Division<'f> {
    /// Names the variables of rows.
    builder: FunctionBuilder,
    /// The number of uses of each variable.
    uses: FxHashMap<Var, usize>,
    effects: &'f Effects,
    /// The largest number of reductions of one flattened sequence.
    most: usize,
}

/// A use of a flattened sequence.
enum Use {
    /// This reduction of it.
    Reduce(ReduceOp),
    /// The number of its elements.
    Length,
    /// A reduction of what is computed of each element.
    Map(ReduceOp),
}

impl Division<'_> {
    fn block(&mut self, block: &mut Block) {
        with_stack(|| {
            let mut at = 0;
            while at < block.lets.len() {
                match self.reductions(block, at) {
                    Some(uses) => self.divide(block, at, &uses),
                    None => at += 1,
                }
            }
            // The parts of what was appended, which may have been appended themselves, stand before it.
            for at in (0..block.lets.len()).rev() {
                self.split_append(block, at);
            }
            for binding in &mut block.lets {
                binding.op.blocks_mut().for_each(|inner| self.block(inner));
            }
        });
    }

    fn once(&self, var: Var) -> bool {
        self.uses.get(&var) == Some(&1)
    }

    /// The uses of the flattened sequence that is bound at a place, if all of them can be divided. Lengths alone are
    /// left as they are: they are known without the elements.
    fn reductions(&self, block: &Block, at: usize) -> Option<Vec<(usize, Use)>> {
        let Let { var: flat, op: Op::Seq(SeqOp::Flatten, args), .. } = &block.lets[at] else {
            return None;
        };
        let rows = block.lets[..at].iter().find(|binding| Atom::Var(binding.var) == args[0])?;
        if !self.once(rows.var) || !self.makes_rows(rows) {
            return None;
        }
        let mut found = Vec::new();
        for (place, user) in block.lets.iter().enumerate().skip(at + 1) {
            match &user.op {
                Op::Seq(SeqOp::Reduce(with), args) if args[0] == Atom::Var(*flat) => {
                    found.push((place, Use::Reduce(*with)));
                }
                Op::Seq(SeqOp::Length, args) if args[0] == Atom::Var(*flat) => {
                    found.push((place, Use::Length));
                }
                Op::Nest(nest) if is_over(nest, *flat) => {
                    let reduced =
                        block.lets[place + 1..].iter().find_map(|other| match &other.op {
                            Op::Seq(SeqOp::Reduce(with), args)
                                if args[0] == Atom::Var(user.var) =>
                            {
                                Some(*with)
                            }
                            _ => None,
                        });
                    let is_plain = !nest.serial
                        && self.once(user.var)
                        && !self.effects.in_block(&nest.body)
                        && user.ty.element().is_some_and(|element| !element.has_sequence());
                    found.push((place, Use::Map(reduced.filter(|_| is_plain)?)));
                }
                _ => {}
            }
        }
        let all = self.uses.get(flat) == Some(&found.len()) && found.len() <= self.most;
        let reduces = found.iter().any(|(_, user)| !matches!(user, Use::Length));
        (all && reduces && self.are_independent(block, &found)).then_some(found)
    }

    /// Returns true if all of some uses may be computed where the first is: none needs what is bound from there on, and
    /// none that may fault passes an effect, or what may fault before it.
    fn are_independent(&self, block: &Block, uses: &[(usize, Use)]) -> bool {
        let Some((first, _)) = uses.first() else { return false };
        uses.iter().all(|(place, _)| {
            let (user, between) = (&block.lets[*place], &block.lets[*first..*place]);
            let is_passed = |(at, binding): (usize, &Let)| {
                let is_use = uses.iter().any(|(place, _)| *place == first + at);
                self.effects.in_op(&binding.op) || binding.may_fault() && !is_use
            };
            let passes = between.iter().enumerate().any(is_passed);
            let mut independent = !user.may_fault() || !passes;
            let mut visit = |atom: Atom| {
                independent &= !between.iter().any(|binding| Atom::Var(binding.var) == atom);
            };
            user.op.each_operand(&mut visit);
            for inner in user.op.blocks() {
                visit(inner.result);
                inner.each_let(&mut |binding| {
                    binding.op.each_operand(&mut visit);
                    binding.op.blocks().for_each(|block| visit(block.result));
                });
            }
            independent
        })
    }

    /// Returns true for an apply-to-each that makes each row by an apply-to-each or a filter.
    fn makes_rows(&self, rows: &Let) -> bool {
        let Op::Nest(nest) = &rows.op else { return false };
        let row = nest.body.lets.iter().find(|row| Atom::Var(row.var) == nest.body.result);
        !nest.serial
            && row.is_some_and(|row| {
                let makes = matches!(row.op, Op::Nest(_) | Op::Seq(SeqOp::Pack, _));
                makes && self.once(row.var) && !self.effects.in_op(&row.op)
            })
    }

    /// Splits the reductions of the appended sequence that is bound at a place, if it has no other uses.
    fn split_append(&mut self, block: &mut Block, at: usize) {
        let Let { var: whole, op: Op::Seq(SeqOp::Append, args), .. } = block.lets[at].clone()
        else {
            return;
        };
        // A part that is used again is reduced each time: of parts of parts there could be any number.
        let is_shared = |part: &Atom| {
            let made = block.lets[..at].iter().rev().find(|made| Atom::Var(made.var) == *part);
            made.is_some_and(|made| {
                matches!(made.op, Op::Seq(SeqOp::Append, _)) && !self.once(made.var)
            })
        };
        if args[0] == args[1] || args.iter().any(is_shared) {
            return;
        }
        let is_use = |binding: &Let| match &binding.op {
            Op::Seq(SeqOp::Reduce(_) | SeqOp::Length, of) => of[0] == Atom::Var(whole),
            _ => false,
        };
        let users = || block.lets[at + 1..].iter().filter(|binding| is_use(binding));
        let count = users().count();
        let reduces = users().any(|user| matches!(user.op, Op::Seq(SeqOp::Reduce(_), _)));
        if self.uses.get(&whole) != Some(&count) || !reduces {
            return;
        }
        for part in args.iter().filter_map(|part| part.variable()) {
            *self.uses.entry(part).or_default() += count - 1;
        }
        // The only element of a list is its reduction.
        let only = args.iter().map(|part| match self.list(block, at, *part) {
            Some([element]) => Some(*element),
            _ => None,
        });
        let only: Vec<Option<Atom>> = only.collect();
        let mut lets = std::mem::take(&mut block.lets);
        lets.remove(at);
        for binding in lets {
            let Op::Seq(op, _) = &binding.op else {
                block.lets.push(binding);
                continue;
            };
            if !is_use(&binding) {
                block.lets.push(binding);
                continue;
            }
            let (ty, site) = (&binding.ty, binding.site);
            let mut parts = Vec::new();
            for (part, only) in args.iter().zip(&only) {
                // The sum of negative zeros is zero.
                let is_sum = *op == SeqOp::Reduce(ReduceOp::Sum) && *ty == Ty::Float;
                match only.filter(|_| *op != SeqOp::Length && !is_sum) {
                    Some(element) => parts.push(element),
                    None => {
                        let part = self.name(ty.clone(), Op::Seq(*op, vec![*part]), site);
                        parts.push(Atom::Var(part.var));
                        block.lets.push(part);
                    }
                }
            }
            let both = match (op, ty) {
                (SeqOp::Length | SeqOp::Reduce(ReduceOp::Sum), _) => ScalarOp::Add,
                (SeqOp::Reduce(ReduceOp::Product), _) => ScalarOp::Mul,
                (SeqOp::Reduce(ReduceOp::Max), Ty::Int) => ScalarOp::Max,
                (SeqOp::Reduce(ReduceOp::Min), Ty::Int) => ScalarOp::Min,
                (SeqOp::Reduce(ReduceOp::And), _) => ScalarOp::And,
                (SeqOp::Reduce(ReduceOp::Or), _) => ScalarOp::Or,
                // The maximum of floats skips NaNs, as that of two does not.
                _ => {
                    let list = self.name(Ty::sequence(ty.clone()), Op::List(parts), site);
                    let op = Op::Seq(*op, vec![Atom::Var(list.var)]);
                    block.lets.push(list);
                    block.lets.push(Let { op, ..binding });
                    continue;
                }
            };
            block.lets.push(Let { op: Op::Scalar(both, parts), ..binding });
        }
    }

    /// The elements of a list that is bound before a place.
    fn list<'b>(&self, block: &'b Block, at: usize, list: Atom) -> Option<&'b [Atom]> {
        block.lets[..at].iter().rev().find_map(|binding| match &binding.op {
            Op::List(elements) if Atom::Var(binding.var) == list => Some(&elements[..]),
            _ => None,
        })
    }

    /// Divides the uses of the flattened sequence that is bound at a place.
    fn divide(&mut self, block: &mut Block, at: usize, uses: &[(usize, Use)]) {
        let mut lets = std::mem::take(&mut block.lets);
        let flat = lets.remove(at);
        let Op::Seq(_, args) = &flat.op else { return };
        let (row, rows) = (flat.ty.clone(), args[0]);
        // Without the flattened sequence all others stand one place before.
        let places: Vec<usize> = uses.iter().map(|(place, _)| place - 1).collect();
        let first = places[0];
        let site = lets[first].site;
        let element = Atom::Var(self.builder.fresh(row.clone()));
        let (mut body, mut parts) = (Vec::new(), Vec::new());
        for (place, (_, used)) in places.iter().zip(uses) {
            parts.push(self.part(&lets[*place], used, element, &row, &mut body));
        }
        let mut result = parts.last().map_or(Atom::Unit, |(part, _)| *part);
        let mut ty = parts.last().map_or(Ty::Unit, |(_, ty)| ty.clone());
        for (part, part_ty) in parts.iter().rev().skip(1) {
            ty = Ty::pair(part_ty.clone(), ty);
            let pair = self.name(ty.clone(), Op::Pair(*part, result), site);
            result = Atom::Var(pair.var);
            body.push(pair);
        }
        let binders = element.variable().map(|var| (var, row, rows)).into_iter().collect();
        let nest = Nest { binders, body: Block { lets: body, result }, serial: false };
        let all = self.name(Ty::sequence(ty.clone()), Op::Nest(nest), site);
        let tuples = Atom::Var(all.var);
        self.uses.insert(all.var, uses.len());
        if let Atom::Var(rows) = rows {
            self.uses.insert(rows, 1);
        }
        let mut all = Some(all);
        for (place, binding) in lets.into_iter().enumerate() {
            let Some(number) = places.iter().position(|at| *at == place) else {
                block.lets.push(binding);
                continue;
            };
            block.lets.extend(all.take());
            let with = match uses[number].1 {
                Use::Reduce(with) => Some(with),
                Use::Length => Some(ReduceOp::Sum),
                // What is reduced later are the parts.
                Use::Map(_) => None,
            };
            let (var, site) = (binding.var, binding.site);
            let column = self.column(tuples, &ty, number, parts.len(), site);
            let (element, part) = (parts[number].1.clone(), Ty::sequence(parts[number].1.clone()));
            match with {
                None => block.lets.push(Let { var, ty: part, op: column, site }),
                Some(with) => {
                    let column = self.name(part, column, site);
                    let op = Op::Seq(SeqOp::Reduce(with), vec![Atom::Var(column.var)]);
                    block.lets.push(column);
                    block.lets.push(Let { var, ty: element, op, site });
                }
            }
        }
    }

    /// Writes what a use comes to for one row; returns it with its type.
    fn part(
        &mut self,
        user: &Let,
        used: &Use,
        row: Atom,
        ty: &Ty,
        body: &mut Vec<Let>,
    ) -> (Atom, Ty) {
        let site = user.site;
        let (of, part, with) = match used {
            Use::Reduce(with) => (row, user.ty.clone(), *with),
            Use::Length => {
                let element = self.builder.fresh(ty.sequence_element().clone());
                let binders = vec![(element, ty.sequence_element().clone(), row)];
                let one = Block { lets: Vec::new(), result: Atom::Int(1) };
                let ones = Op::Nest(Nest { binders, body: one, serial: false });
                let ones = self.name(Ty::sequence(Ty::Int), ones, site);
                let of = Atom::Var(ones.var);
                body.push(ones);
                (of, Ty::Int, ReduceOp::Sum)
            }
            Use::Map(with) => {
                let mut map = user.clone();
                if let Op::Nest(nest) = &mut map.op {
                    nest.binders[0].2 = row;
                }
                // Under another name: the old one is that of the parts.
                map.var = self.builder.fresh(user.ty.clone());
                self.uses.insert(map.var, 1);
                let (of, ty) = (Atom::Var(map.var), user.ty.sequence_element().clone());
                body.push(map);
                (of, ty, *with)
            }
        };
        let reduced = self.name(part.clone(), Op::Seq(SeqOp::Reduce(with), vec![of]), site);
        let result = Atom::Var(reduced.var);
        body.push(reduced);
        (result, part)
    }

    /// The component of this number of tuples of `count` components, or the tuples themselves if they have one.
    fn column(&mut self, tuples: Atom, ty: &Ty, number: usize, count: usize, site: Site) -> Op {
        let var = self.builder.fresh(ty.clone());
        let (mut result, mut ty, mut lets) = (Atom::Var(var), ty.clone(), Vec::new());
        let binders = vec![(var, ty.clone(), tuples)];
        for step in 0..=number.min(count.saturating_sub(2)) {
            let Ty::Pair(first, second) = ty else { break };
            let is_last = step == number;
            let (op, part) = match is_last {
                true => (Op::First(result), *first),
                false => (Op::Second(result), *second),
            };
            ty = part;
            let component = self.name(ty.clone(), op, site);
            result = Atom::Var(component.var);
            lets.push(component);
            if is_last {
                break;
            }
        }
        Op::Nest(Nest { binders, body: Block { lets, result }, serial: false })
    }

    /// A binding of a new variable, which is used once.
    fn name(&mut self, ty: Ty, op: Op, site: Site) -> Let {
        let var = self.builder.fresh(ty.clone());
        self.uses.insert(var, 1);
        Let { var, ty, op, site }
    }
}

/// Returns true for an apply-to-each over a sequence alone.
fn is_over(nest: &Nest, flat: Var) -> bool {
    matches!(nest.binders[..], [(.., of)] if of == Atom::Var(flat))
}
