//! Short lists in the code of one function: maps, reductions and choices element by element.

use super::guarded::Slot;
use super::{Env, Known, Rewriter};
use crate::base::with_stack;
use crate::ir::{Atom, Block, FunId, Let, Nest, Op, Site, Ty, Var};
use crate::prim::{ReduceOp, SeqOp};
use nesl_runtime::scalar::ScalarOp;
use rustc_hash::{FxHashMap, FxHashSet};

/// The elements of a list of known length, or a value that is no such list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in super::super) enum Shape {
    /// A value without sequences.
    Value(Ty),
    /// The list of these.
    List(Vec<Shape>),
}

/// A version of a function for short lists.
#[derive(Clone, Debug)]
pub(in super::super) struct Version {
    pub id: FunId,
    /// The shapes of the parameters that are passed as their values.
    pub params: Vec<Option<Shape>>,
    /// The shape of the result, if it is returned as a tuple of its values.
    pub result: Option<Shape>,
}

/// Makes the versions of functions.
pub(in super::super) trait CallVersions {
    /// Returns the version of a function for arguments of these shapes.
    fn of(&self, callee: FunId, shapes: Vec<Option<Shape>>) -> Version;
}

/// The facts about short lists in the function that is rewritten.
pub(in super::super) struct Lists<'a> {
    versions: &'a dyn CallVersions,
    /// True for code that may be executed more than once: all but the main function outside of apply-to-eaches.
    pub(super) repeated: bool,
    /// The variables of the old function that only a `flatten` uses.
    flattened: FxHashSet<Var>,
    /// Those of the new function that are what the `flatten` gives.
    flat: FxHashSet<Var>,
    /// The lists that were made of the components of a tuple.
    tuples: FxHashMap<Var, Atom>,
    /// The shapes of choices of which one side is a list and the other one is not known.
    half_known: FxHashMap<Var, Shape>,
    /// True if something was rewritten.
    pub(in super::super) changed: bool,
}

impl<'a> Lists<'a> {
    /// Returns what is known before a function with this body is rewritten.
    pub(in super::super) fn new(
        versions: &'a dyn CallVersions,
        repeated: bool,
        body: &Block,
    ) -> Lists<'a> {
        let mut uses: FxHashMap<Var, [usize; 2]> = FxHashMap::default();
        count_uses(body, &mut uses);
        let flattened = uses.into_iter().filter(|(_, uses)| *uses == [1, 1]).map(|(var, _)| var);
        Lists {
            versions,
            repeated,
            flattened: flattened.collect(),
            flat: FxHashSet::default(),
            tuples: FxHashMap::default(),
            half_known: FxHashMap::default(),
            changed: false,
        }
    }
}

/// Counts the uses of each variable, and those by a `flatten`.
fn count_uses(block: &Block, uses: &mut FxHashMap<Var, [usize; 2]>) {
    with_stack(|| {
        for binding in &block.lets {
            let is_flatten = matches!(binding.op, Op::Seq(SeqOp::Flatten, _));
            binding.op.each_operand(|atom| {
                if let Some(var) = atom.variable() {
                    let [all, flattened] = uses.entry(var).or_default();
                    (*all, *flattened) = (*all + 1, *flattened + usize::from(is_flatten));
                }
            });
            binding.op.blocks().for_each(|inner| count_uses(inner, uses));
        }
        if let Some(var) = block.result.variable() {
            uses.entry(var).or_default()[0] += 1;
        }
    });
}

impl Shape {
    /// Adds the types of the values in it, in order.
    fn add_types(&self, types: &mut Vec<Ty>) {
        match self {
            Shape::Value(ty) => types.push(ty.clone()),
            Shape::List(elements) => elements.iter().for_each(|element| element.add_types(types)),
        }
    }

    /// Returns the types of the values in it, in order.
    pub(in super::super) fn types(&self) -> Vec<Ty> {
        let mut types = Vec::new();
        self.add_types(&mut types);
        types
    }
}

impl Rewriter<'_> {
    /// Returns the elements of a list, if they are known.
    fn elements(&self, list: Atom) -> Option<&Vec<Atom>> {
        match self.known.get(&list.variable()?) {
            Some(Known::List(elements)) => Some(elements),
            _ => None,
        }
    }

    /// Returns the shape of a list, if it is short.
    pub(in super::super) fn shape(&self, list: Atom) -> Option<Shape> {
        let mut values = 0;
        let shape = self.shape_of(list, &mut values)?;
        (values <= self.limits.max_short_list_values).then_some(shape)
    }

    fn shape_of(&self, list: Atom, values: &mut usize) -> Option<Shape> {
        let elements = self.elements(list)?;
        // Lists may share their elements: there may be many more values than lists.
        let many = *values > self.limits.max_short_list_values;
        if many || elements.is_empty() || elements.len() > self.limits.max_short_list_elements {
            return None;
        }
        let shapes: Option<Vec<Shape>> = elements
            .iter()
            .map(|element| match self.builder.type_of(element) {
                Ty::Sequence(_) => self.shape_of(*element, values),
                ty if ty.has_sequence() => None,
                ty => {
                    *values += 1;
                    Some(Shape::Value(ty))
                }
            })
            .collect();
        Some(Shape::List(shapes?))
    }

    /// Adds the values in a list of known shape, in order.
    pub(in super::super) fn values(&self, list: Atom, shape: &Shape, out: &mut Vec<Atom>) {
        match shape {
            Shape::Value(_) => out.push(list),
            Shape::List(shapes) => {
                let elements = self.elements(list).into_iter().flatten();
                elements.zip(shapes).for_each(|(atom, shape)| self.values(*atom, shape, out));
            }
        }
    }

    /// Binds the list of a shape that consists of some values.
    pub(in super::super) fn list(
        &mut self,
        ty: &Ty,
        shape: &Shape,
        values: &mut dyn Iterator<Item = Atom>,
        site: Site,
    ) -> Atom {
        match shape {
            Shape::Value(_) => values.next().unwrap_or(Atom::Unit),
            Shape::List(shapes) => {
                let element = ty.sequence_element();
                let elements: Vec<Atom> =
                    shapes.iter().map(|shape| self.list(element, shape, values, site)).collect();
                self.list_of(elements, ty, site)
            }
        }
    }

    fn list_of(&mut self, elements: Vec<Atom>, ty: &Ty, site: Site) -> Atom {
        let list = self.builder.bind(ty.clone(), Op::List(elements.clone()), site);
        self.remember(list, Known::List(elements));
        list
    }

    /// Binds the list of a shape whose values are the components of a tuple.
    pub(in super::super) fn unpacked(
        &mut self,
        tuple: Atom,
        ty: &Ty,
        shape: &Shape,
        site: Site,
    ) -> Atom {
        let values = self.components(tuple, &shape.types(), site);
        let list = self.list(ty, shape, &mut values.into_iter(), site);
        if let (Atom::Var(var), Some(lists)) = (list, &mut self.lists) {
            lists.tuples.insert(var, tuple);
        }
        list
    }

    /// Binds the components of a tuple, which have these types.
    pub(super) fn components(&mut self, tuple: Atom, types: &[Ty], site: Site) -> Vec<Atom> {
        let mut components = Vec::new();
        let mut rest = tuple;
        for at in 1..types.len() {
            components.push(self.half(true, rest, &types[at - 1], site));
            rest = self.half(false, rest, &Ty::tuple(types[at..].iter().cloned()), site);
        }
        components.push(rest);
        components
    }

    /// Returns the tuple of the values in a list of known shape, and the bindings that make it.
    pub(in super::super) fn packed(
        &mut self,
        list: Atom,
        shape: &Shape,
        site: Site,
    ) -> (Vec<Let>, Atom) {
        let known = list.variable().and_then(|var| self.lists.as_ref()?.tuples.get(&var).copied());
        if let Some(tuple) = known {
            return (Vec::new(), tuple);
        }
        let mut values = Vec::new();
        self.values(list, shape, &mut values);
        let block = self.builder.block(|b| b.tuple(values, site));
        (block.lets, block.result)
    }

    /// Writes an apply-to-each over short lists element by element, if its body is a few scalar operations.
    pub(super) fn each_element(
        &mut self,
        nest: &Nest,
        ty: &Ty,
        site: Site,
        env: &mut Env,
    ) -> Option<Atom> {
        if !self.lists.as_ref()?.repeated
            || self.written >= self.limits.max_operations_after_inlining
        {
            return None;
        }
        let changed = self.lists.as_ref().is_some_and(|lists| lists.changed);
        let list = self
            .each_slot(nest, ty, site, env)
            .or_else(|| self.each_known_element(nest, ty, site, env));
        match &mut self.lists {
            // Whatever was changed in a body is written again.
            Some(lists) if list.is_none() => lists.changed = changed,
            _ => self.note_change(),
        }
        list
    }

    /// Writes an apply-to-each over lists whose elements are known.
    fn each_known_element(
        &mut self,
        nest: &Nest,
        ty: &Ty,
        site: Site,
        env: &mut Env,
    ) -> Option<Atom> {
        let columns: Option<Vec<Vec<Atom>>> =
            nest.binders.iter().map(|(.., atom)| self.elements(env.atom(*atom)).cloned()).collect();
        let columns = columns?;
        let count = columns[0].len();
        let short = (1..=self.limits.max_short_list_elements).contains(&count);
        // Loops over the taps of a stencil are unrolled later, once their borders have been recognised.
        let is_literal = |(_, _, list): &(Var, Ty, Atom)| {
            let literal = env.atom(*list).variable();
            literal.is_some_and(|list| !self.known_to_succeed.contains(&list))
        };
        let constant = columns.iter().flatten().all(|element| element.variable().is_none())
            && nest.binders.iter().all(is_literal);
        if !short || constant || columns.iter().any(|column| column.len() != count) {
            return None;
        }
        self.builder.begin();
        self.scopes.push(FxHashMap::default());
        let mut results = Vec::new();
        for at in 0..count {
            for ((var, ..), column) in nest.binders.iter().zip(&columns) {
                env.atoms.insert(*var, column[at]);
            }
            results.push(self.block(&nest.body, env));
        }
        self.scopes.pop();
        let block = self.builder.end(Atom::Unit);
        self.is_few(&block).then(|| {
            block.lets.into_iter().for_each(|binding| self.builder.keep(binding));
            self.list_of(results, ty, site)
        })
    }

    /// Binds an apply-to-each of the old function whose binders and body are written. What only a `flatten` uses may
    /// become what that gives.
    pub(super) fn bind_nest(&mut self, nest: Nest, (var, ty): (Var, &Ty), site: Site) -> Atom {
        let flattened = self.lists.as_ref().is_some_and(|lists| lists.flattened.contains(&var));
        let nest = match flattened {
            false => nest,
            true => match self.flat_rows(nest, ty, site) {
                Err(nest) => self.counted_rows(nest, site),
                Ok(flat) => {
                    if let (Some(lists), Some(var)) = (&mut self.lists, flat.variable()) {
                        lists.flat.insert(var);
                    }
                    return flat;
                }
            },
        };
        let over = nest.binders[0].2;
        let nest = self.builder.bind(ty.clone(), Op::Nest(nest), site);
        self.remember(nest, Known::LengthOf(over));
        nest
    }

    /// Notes that the function is not what it was.
    pub(in super::super) fn note_change(&mut self) {
        if let Some(lists) = &mut self.lists {
            lists.changed = true;
        }
    }

    /// Returns what an operation on short lists gives: a value, or a list whose elements are known.
    pub(super) fn of_elements(
        &mut self,
        op: SeqOp,
        args: &[Atom],
        ty: &Ty,
        site: Site,
    ) -> Option<Atom> {
        if op == SeqOp::Flatten && self.lists.as_ref()?.flat.contains(&args[0].variable()?) {
            return Some(args[0]);
        }
        if !self.lists.as_ref()?.repeated {
            return None;
        }
        let most = self.limits.max_short_list_elements;
        let constant = |atom: &Atom| match atom {
            Atom::Int(x) => usize::try_from(*x).ok(),
            _ => None,
        };
        let elements = match (op, args) {
            (SeqOp::Reduce(with), [list]) if self.is_guarded(*list) => {
                let slots = self.slots(*list)?;
                return self.reduced_slots(with, slots, ty, site);
            }
            (SeqOp::Append, [first, second])
                if self.is_guarded(*first) || self.is_guarded(*second) =>
            {
                let both = [self.slots(*first)?, self.slots(*second)?].concat();
                return (both.len() <= most).then(|| self.of_slots(both, ty, site));
            }
            (SeqOp::Flatten, [list])
                if self.elements(*list)?.iter().any(|row| self.is_guarded(*row)) =>
            {
                let rows: Option<Vec<Vec<Slot>>> =
                    self.elements(*list)?.iter().map(|row| self.slots(*row)).collect();
                let all = rows?.concat();
                return (all.len() <= most).then(|| self.of_slots(all, ty, site));
            }
            (SeqOp::Reduce(with), [list]) => {
                let elements = self.elements(*list)?.clone();
                return self.reduced(with, elements, ty, site);
            }
            // Their operation remains, for who needs the sequence.
            (SeqOp::Range, [Atom::Int(0), Atom::Int(1), end]) => {
                let count = constant(end).filter(|count| (1..=most).contains(count))?;
                (0..count as i64).map(Atom::Int).collect()
            }
            (SeqOp::Dist, [value, count]) => {
                vec![*value; constant(count).filter(|count| (1..=most).contains(count))?]
            }
            (SeqOp::Subseq, [list, start, end]) => {
                self.elements(*list)?.get(constant(start)?..constant(end)?)?.to_vec()
            }
            (SeqOp::Append, [first, second]) => {
                let both = [self.elements(*first)?.as_slice(), self.elements(*second)?].concat();
                Some(both).filter(|both| both.len() <= most)?
            }
            (SeqOp::Flatten, [list]) => {
                let rows: Option<Vec<&Vec<Atom>>> =
                    self.elements(*list)?.iter().map(|row| self.elements(*row)).collect();
                let all: Vec<Atom> = rows?.into_iter().flatten().copied().collect();
                Some(all).filter(|all| all.len() <= most)?
            }
            (SeqOp::Gather, [list, places]) => {
                let (list, places) = (self.elements(*list)?, self.elements(*places)?);
                let taken: Option<Vec<Atom>> =
                    places.iter().map(|place| list.get(constant(place)?).copied()).collect();
                taken?
            }
            (SeqOp::Replace, [list, value, place]) => {
                let mut elements = self.elements(*list)?.clone();
                *elements.get_mut(constant(place)?)? = *value;
                elements
            }
            _ => return None,
        };
        let sequence = self.builder.bind(ty.clone(), Op::Seq(op, args.to_vec()), site);
        self.known_to_succeed.extend(sequence.variable());
        self.remember(sequence, Known::List(elements));
        Some(sequence)
    }

    /// Reduces the elements of a list one after the other, as a loop does.
    fn reduced(
        &mut self,
        with: ReduceOp,
        elements: Vec<Atom>,
        ty: &Ty,
        site: Site,
    ) -> Option<Atom> {
        if !(1..=self.limits.max_short_list_elements).contains(&elements.len()) {
            return None;
        }
        let op = match (with, ty) {
            (ReduceOp::Sum, Ty::Int | Ty::Float) => ScalarOp::Add,
            (ReduceOp::Product, Ty::Int | Ty::Float) => ScalarOp::Mul,
            (ReduceOp::Max, Ty::Int) => ScalarOp::Max,
            (ReduceOp::Min, Ty::Int) => ScalarOp::Min,
            (ReduceOp::And, Ty::Int | Ty::Bool) => ScalarOp::And,
            (ReduceOp::Or, Ty::Int | Ty::Bool) => ScalarOp::Or,
            // The maximum of floats skips NaNs, also the first.
            _ => return None,
        };
        self.note_change();
        let mut elements = elements.into_iter();
        // The sum of negative zeros is zero.
        let first = match (op, ty) {
            (ScalarOp::Add, Ty::Float) => Some(Atom::Float(0.0)),
            _ => elements.next(),
        };
        let first = first?;
        Some(elements.fold(first, |sum, x| self.scalar(op, vec![sum, x], ty, site)))
    }

    /// Binds a conditional. If both sides give lists of one shape, it chooses between their elements.
    pub(super) fn conditional(
        &mut self,
        cond: Atom,
        [mut then, mut otherwise]: [Block; 2],
        ty: &Ty,
        site: Site,
    ) -> Atom {
        let op = |then, otherwise| Op::If { cond, then, otherwise };
        let repeated = self.lists.as_ref().is_some_and(|lists| lists.repeated);
        if !repeated || ty.element().is_none() {
            return self.builder.bind(ty.clone(), op(then, otherwise), site);
        }
        let shapes = [self.shape(then.result), self.shape(otherwise.result)];
        if let [Some(shape), Some(other)] = &shapes
            && shape == other
        {
            for side in [&mut then, &mut otherwise] {
                let (lets, tuple) = self.packed(side.result, shape, site);
                side.lets.extend(lets);
                side.result = tuple;
            }
            self.note_change();
            let tuple = Ty::tuple(shape.types());
            let tuple = self.builder.bind(tuple, op(then, otherwise), site);
            return self.unpacked(tuple, ty, shape, site);
        }
        if let [Some(first), Some(second)] = [self.slots(then.result), self.slots(otherwise.result)]
            && first.len().max(second.len()) > 0
        {
            let sides = [then, otherwise];
            return self.choice_of_slots(cond, sides, [first, second], ty, site);
        }
        let half = self.expected(then.result).or_else(|| self.expected(otherwise.result));
        let choice = self.builder.bind(ty.clone(), op(then, otherwise), site);
        if let (Some(lists), Some(shape), Some(var)) = (&mut self.lists, half, choice.variable()) {
            lists.half_known.insert(var, shape);
        }
        choice
    }

    /// Returns the shape of a list, or the one that it has if it is known at all.
    pub(in super::super) fn expected(&self, list: Atom) -> Option<Shape> {
        self.shape(list).or_else(|| self.lists.as_ref()?.half_known.get(&list.variable()?).cloned())
    }

    /// Calls the version of a function for the short lists among its arguments.
    pub(super) fn call_version(
        &mut self,
        callee: FunId,
        args: &[Atom],
        ty: &Ty,
        site: Site,
    ) -> Option<Atom> {
        let versions = self.lists.as_ref()?.versions;
        let shapes = args.iter().map(|arg| self.shape(*arg)).collect();
        let version = versions.of(callee, shapes);
        let mut passed = Vec::new();
        for (arg, shape) in args.iter().zip(&version.params) {
            match shape {
                Some(shape) => self.values(*arg, shape, &mut passed),
                None => passed.push(*arg),
            }
        }
        if version.params.iter().any(Option::is_some) || version.result.is_some() {
            self.note_change();
        }
        let returned = version.result.as_ref().map_or(ty.clone(), |shape| Ty::tuple(shape.types()));
        let result = self.builder.bind(returned, Op::Call(version.id, passed), site);
        if let Some(shape) = &version.result {
            return Some(self.unpacked(result, ty, shape, site));
        }
        Some(result)
    }
}

impl Rewriter<'_> {
    /// Returns true if a block consists of a few scalar operations, and short lists.
    pub(super) fn is_few(&self, block: &Block) -> bool {
        let mut operations = 0;
        self.is_cheap(block, &mut operations) && operations <= self.limits.max_short_list_operations
    }

    /// Returns true if a block consists of scalar operations and short lists, and counts these.
    fn is_cheap(&self, block: &Block, operations: &mut usize) -> bool {
        block.lets.iter().all(|binding| match &binding.op {
            Op::Copy(_) | Op::Pair(..) | Op::First(_) | Op::Second(_) | Op::List(_) => true,
            Op::Seq(..) if self.known_to_succeed.contains(&binding.var) => true,
            Op::Seq(SeqOp::Length, _) => true,
            Op::Scalar(..) | Op::Check { .. } | Op::Seq(SeqOp::Index, _) => {
                *operations += 1;
                true
            }
            Op::If { then, otherwise, .. } => {
                *operations += 1;
                self.is_cheap(then, operations) && self.is_cheap(otherwise, operations)
            }
            _ => false,
        })
    }
}
