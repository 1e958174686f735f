//! The places of a function's variables in its window of the stack of values.
//!
//! A variable has a place from its binding to its last use, and others have that place before and
//! after. So a call under way takes the room of the variables that are needed after it, not of all
//! variables, and recursion becomes deeper in the same memory.
//!
//! ```text
//! down(n) = let done = n == 0 in if done then 0 else let m = n - 1; r = down(m) in r + 1
//!
//! n       place 0
//! done    place 1
//! m       place 0, since n is not used again
//! r       place 0
//! ```
//!
//! A place keeps the value of a variable that is not used any more until another takes it. Before a
//! call such places are emptied if they may hold a sequence, which would stay in memory for as long
//! as the call takes ([`Window::left_over`]).

use crate::base::with_stack;
use crate::ir::{Atom, Block, Function, Op, Ty, Var};
use rustc_hash::{FxHashMap, FxHashSet};

/// The places of a function's variables.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// The place of each variable.
    places: Vec<u32>,
    /// The number of places.
    pub(super) size: usize,
    /// For the variables that calls bind: the places whose values nobody needs during the call.
    left_over: FxHashMap<Var, Box<[u32]>>,
    /// For the variables that calls bind: the number of places that may hold a sequence which is needed
    /// after the call, if there are any.
    kept: FxHashMap<Var, usize>,
}

impl Window {
    /// Returns a window with a place of its own for each variable, for a function that is under way
    /// only once.
    pub(super) fn of_main(function: &Function) -> Window {
        let size = count(function);
        Window { places: (0..size as u32).collect(), size, ..Window::default() }
    }

    /// Returns the window of a function that may be called within itself.
    pub(super) fn of(function: &Function) -> Window {
        let mut uses = LastUses::default();
        let mut after = FxHashSet::default();
        if function.charge.is_some() {
            // The declared cost is computed from the arguments at the end.
            after.extend(function.params.iter().map(|(var, _)| *var));
        }
        let before = uses.block(&function.body, after);
        let mut assigned = Window { places: vec![0; count(function)], ..Window::default() };
        let mut taken = Taken::default();
        for (var, ty) in &function.params {
            assigned.take(&mut taken, *var, ty);
        }
        for (var, _) in &function.params {
            if !before.contains(var) {
                taken.release(assigned.place(*var));
            }
        }
        assigned.block(&function.body, &uses, &mut taken);
        assigned
    }

    /// Returns the place of a variable.
    #[inline]
    pub(super) fn place(&self, var: Var) -> usize {
        self.places[var.0 as usize] as usize
    }

    /// Returns the places that may hold sequences which nobody needs during the call that binds a
    /// variable.
    pub(super) fn left_over(&self, var: Var) -> &[u32] {
        if self.left_over.is_empty() {
            return &[];
        }
        self.left_over.get(&var).map_or(&[], |places| places)
    }

    /// Returns the number of places that may hold sequences which are needed after the call that binds a
    /// variable.
    pub(super) fn kept(&self, var: Var) -> usize {
        if self.kept.is_empty() { 0 } else { self.kept.get(&var).copied().unwrap_or(0) }
    }

    /// Gives a variable a place that is free.
    fn take(&mut self, taken: &mut Taken, var: Var, ty: &Ty) {
        let place = taken.free.pop().unwrap_or_else(|| {
            taken.places.push(Place::default());
            taken.places.len() - 1
        });
        let holds = !matches!(ty, Ty::Unit | Ty::Int | Ty::Float | Ty::Bool | Ty::Char);
        taken.places[place] = Place { needed: true, holds };
        self.places[var.0 as usize] = place as u32;
        self.size = self.size.max(place + 1);
    }

    /// Gives places to the variables of a block.
    fn block(&mut self, block: &Block, uses: &LastUses, taken: &mut Taken) {
        with_stack(|| {
            for var in uses.unused.get(&std::ptr::from_ref(block)).into_iter().flatten() {
                taken.release(self.place(*var));
            }
            for binding in &block.lets {
                let mut inside: Vec<Taken> = Vec::new();
                for inner in binding.op.blocks() {
                    let mut within = taken.clone();
                    if let Op::Nest(nest) = &binding.op {
                        for (var, ty, _) in &nest.binders {
                            self.take(&mut within, *var, ty);
                        }
                    }
                    self.block(inner, uses, &mut within);
                    inside.push(within);
                }
                for last in uses.last.get(&binding.var).into_iter().flatten() {
                    taken.release(self.place(*last));
                }
                inside.iter().for_each(|within| taken.may_hold(within));
                if let Op::Call(..) = binding.op {
                    self.empty_before_call(binding.var, taken);
                }
                self.take(taken, binding.var, &binding.ty);
                if uses.never.contains(&binding.var) {
                    taken.release(self.place(binding.var));
                }
            }
        });
    }

    /// Records the places that a call finds free, but not empty, and those that it finds in use.
    fn empty_before_call(&mut self, var: Var, taken: &mut Taken) {
        let mut places = Vec::new();
        for (at, place) in taken.places.iter_mut().enumerate() {
            if !place.needed && place.holds {
                place.holds = false;
                places.push(at as u32);
            }
        }
        if !places.is_empty() {
            self.left_over.insert(var, places.into());
        }
        let kept = taken.places.iter().filter(|place| place.needed && place.holds).count();
        if kept > 0 {
            self.kept.insert(var, kept);
        }
    }
}

/// The places at some point of a function.
#[derive(Clone, Default)]
struct Taken {
    places: Vec<Place>,
    /// The places that are not needed.
    free: Vec<usize>,
}

#[derive(Clone, Copy, Default)]
struct Place {
    /// A variable that is still used is there.
    needed: bool,
    /// True if the value there may hold a sequence.
    holds: bool,
}

impl Taken {
    fn release(&mut self, place: usize) {
        if std::mem::replace(&mut self.places[place].needed, false) {
            self.free.push(place);
        }
    }

    /// Notes what the places may hold after a block.
    fn may_hold(&mut self, after: &Taken) {
        self.free.extend(self.places.len()..after.places.len());
        self.places.resize(self.places.len().max(after.places.len()), Place::default());
        for (own, inner) in self.places.iter_mut().zip(&after.places) {
            own.holds |= inner.holds;
        }
    }
}

/// The last uses of a function's variables.
#[derive(Default)]
struct LastUses {
    /// By the variable that a binding binds, those that it is the last to use.
    last: FxHashMap<Var, Vec<Var>>,
    /// For a side of a conditional, the variables that are needed neither there nor later, but on the
    /// other side.
    unused: FxHashMap<*const Block, Vec<Var>>,
    /// The variables that are never used.
    never: FxHashSet<Var>,
}

impl LastUses {
    /// Finds the last uses in a block, after which some variables are needed; returns the variables
    /// that are needed before it.
    fn block(&mut self, block: &Block, after: FxHashSet<Var>) -> FxHashSet<Var> {
        with_stack(|| {
            let mut needed = after;
            if let Atom::Var(var) = block.result {
                needed.insert(var);
            }
            for binding in block.lets.iter().rev() {
                if !needed.remove(&binding.var) {
                    self.never.insert(binding.var);
                }
                let mut before = FxHashSet::default();
                match &binding.op {
                    Op::If { cond, then, otherwise } => {
                        let sides = [then, otherwise].map(|side| {
                            let needed = if side.lets.is_empty() {
                                FxHashSet::from_iter(side.result.variable())
                            } else {
                                self.block(side, needed.clone())
                            };
                            (side, needed)
                        });
                        for (at, (side, own)) in sides.iter().enumerate() {
                            let other = sides[1 - at].1.iter().copied();
                            let unused: Vec<Var> = other
                                .chain(cond.variable())
                                .filter(|var| !own.contains(var) && !needed.contains(var))
                                .collect();
                            if !unused.is_empty() {
                                self.unused.insert(std::ptr::from_ref(*side), unused);
                            }
                        }
                        before.extend(sides.into_iter().flat_map(|(_, own)| own));
                    }
                    Op::Nest(nest) => {
                        // What one iteration uses, the next one needs.
                        let mut within = needed.clone();
                        free_variables(&nest.body, &mut |var| {
                            if nest.binders.iter().all(|(binder, ..)| *binder != var) {
                                within.insert(var);
                                before.insert(var);
                            }
                        });
                        self.block(&nest.body, within);
                    }
                    Op::Time(inner) => before = self.block(inner, needed.clone()),
                    _ => {}
                }
                binding.op.each_operand(|atom| before.extend(atom.variable()));
                let last: Vec<Var> =
                    before.iter().copied().filter(|var| !needed.contains(var)).collect();
                needed.extend(&last);
                if !last.is_empty() {
                    self.last.insert(binding.var, last);
                }
            }
            needed
        })
    }
}

/// Visits the variables that a block uses and does not bind, some of them several times.
fn free_variables(block: &Block, visit: &mut dyn FnMut(Var)) {
    let mut bound = FxHashSet::default();
    block.each_binding(&mut |var, _| {
        bound.insert(var);
    });
    let mut used = |atom: Atom| {
        if let Atom::Var(var) = atom
            && !bound.contains(&var)
        {
            visit(var);
        }
    };
    used(block.result);
    block.each_let(&mut |binding| {
        binding.op.each_operand(&mut used);
        binding.op.blocks().for_each(|inner| used(inner.result));
    });
}

/// Returns the number of variables of a function: one more than the greatest.
pub(super) fn count(function: &Function) -> usize {
    let mut size = 0;
    let mut see = |var: Var| size = size.max(var.0 as usize + 1);
    for (var, _) in &function.params {
        see(*var);
    }
    function.body.each_binding(&mut |var, _| see(var));
    size
}
