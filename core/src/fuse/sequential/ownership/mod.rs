//! Ownership: which arrays sequential code may overwrite, since nobody reads them any more.
//!
//! `rep(a, x, i)`, `a <- writes` and `a ++ b` give a new sequence. Where `a` is used there for the
//! last time, its arrays can become those of the result, so that a loop which updates an array costs
//! what it writes. This pass decides *where* that may be done, from the text of the program alone.
//! If the memory really belongs to the code that would write it is known when it runs, by a number
//! beside every sequence, its *room* ([`lower`](mod@crate::lower)): the elements that its
//! owner may write, 0 for a sequence that is not owned (an input, a view, an array that the caller
//! goes on using). The first update of such a sequence copies it, and the copy is owned: a loop
//! copies an array once at most.
//!
//! ```text
//! fn "fill"(v0: [int], v1: int) -> [int] {          own "fill" {
//!   …                                                 in place v5
//!   v5: [int] = replace(v0, v4, v1)             →     give v7: 0
//!   v6: int = add(v1, 1)                              return 0
//!   v7: [int] = call "fill"(v5, v6)                 }
//! ```
//!
//! * *in place*: an update whose sequence is read by nobody afterwards.
//! * *move*: of these, the updates of a sequence of sequences whose rows are read afterwards, though it
//!   is not itself: the new rows are stored elsewhere, and nothing but the descriptors is overwritten.
//! * *same length*: an update that puts a row over one of the same length. *Place*: its elements are computed where they
//!   are put.
//! * *take*: a row that is taken out of a sequence of sequences, changed, and put back. It is changed
//!   where it lies. *Keep* are the sequences of a row that lie in their places when it is put back, *grow*
//!   those of them that may be longer then.
//! * *exchange*: the first of two updates that exchange rows of a table. Their descriptors are exchanged, and the rows
//!   stay where they lie. *Done* is the second, which has nothing left to do.
//! * *rows*: an apply-to-each over a sequence of sequences, each of whose elements is a row that is changed
//!   where it lies: the rows of the result are those. The number is that of the binder.
//! * *elements*: an apply-to-each over such a row: its elements go where those of the row lie. Each is read before
//!   it is overwritten, and no other is read. In a loop that gives the table to itself: elsewhere the table may not be
//!   owned, and the copy of it would cost as much as new rows.
//! * *copy*: sequences of scalars that the body of such an apply-to-each reads of the table: they are copied before.
//! * *give*: the sequences among the arguments of a call that become the callee's. Sequences are
//!   numbered by their position among those of all arguments; a tuple counts each of its own.
//! * *return*: the sequences of a result that become the caller's, numbered likewise.
//!
//! Each sequence of a variable has *origins*. `own` are the allocations that it may lie in and that
//! may be written under its name; `reads` are all those that it may be computed from later: its own,
//! those that it is a view of, and those that a fused sequence reads when it is consumed; `views` are
//! those of which it is a row, or is made of rows, so that it reads their pools and not the
//! descriptors. An array may be overwritten if no variable that is used later reads an allocation of
//! its `own`, and each of these was made in the same iteration of the nests around. A sequence of
//! sequences comes with its pools, since it is owned only if its segments do not overlap.
//!
//! Sources: Baker, *Lively linear Lisp* (1992), for last uses; Henriksen et al., *Futhark* (PLDI
//! 2017), section 3, for alias sets of arrays in a functional language with in-place updates;
//! Ullrich and de Moura, *Counting immutable beans* (IFL 2019), for owned parameters that are inferred
//! and for updates in place that are decided when the program runs.

mod decisions;
mod exchanges;
mod given;
mod rows;
mod same_lengths;
mod tables;
mod tracked;

pub use given::{changes_rows, given_to_itself};

use super::plan::SequentialPlan;
use crate::base::with_stack;
use crate::ir::{Atom, Block, FunId, Let, Op, Program, Ty, Var};
use crate::prim::SeqOp;
use given::has_updates;
use rows::lies_where;
use rustc_hash::{FxHashMap, FxHashSet};
use tables::Taken;
use tracked::Summary;

/// The arrays that an operation on a sequence may overwrite.
#[derive(Clone, Debug, Default)]
pub struct Update {
    /// It may overwrite the sequence that it changes.
    pub in_place: bool,
    /// Rows of that sequence are read later: none is overwritten, only the descriptors are.
    pub moves: bool,
    /// The row that it puts there is as long as the one that is there.
    pub same_length: bool,
    /// The elements of that row are computed where they are put.
    pub placed: bool,
    /// The row that it takes out is changed where it lies.
    pub takes: bool,
    /// The sequences of the new row that lie in their places already.
    pub kept: Vec<Kept>,
    /// A row that it takes out, changes or puts back may grow where it lies.
    pub grows: bool,
    /// The number of the binder whose rows an apply-to-each changes where they lie.
    pub rows: Option<usize>,
    /// The number of the binder whose row an apply-to-each stores its elements in.
    pub elements: Option<usize>,
    /// The sequences that read the table and are copied before it is changed.
    pub copies: Vec<Var>,
    /// It exchanges two rows.
    pub exchange: Option<Exchange>,
}

/// The part of an update in an exchange of two rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exchange {
    /// The row at the index of the update is exchanged with the one at this index, which is in bounds.
    With(Atom),
    /// The rows have been exchanged.
    Done,
}

/// If a sequence of a row that is put into a table lies in its place already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kept {
    /// It lies elsewhere.
    #[default]
    No,
    /// It lies there, and is as long as the one that was there.
    Same,
    /// It lies there, or is a copy that its place had no room for: elements may have been appended.
    Grown,
}

/// The arrays that one body of code may overwrite, and those that it gives away.
#[derive(Clone, Debug, Default)]
pub struct BlockOwnership {
    /// The updates that may overwrite the sequence that they change.
    in_place: FxHashSet<Var>,
    /// Of these, the ones that may not overwrite its rows.
    moves: FxHashSet<Var>,
    /// Those that put a row over one of the same length.
    same_lengths: FxHashSet<Var>,
    /// Of these, the ones whose row is computed where it is put.
    placed: FxHashSet<Var>,
    /// The rows that are taken out and changed where they lie.
    takes: FxHashSet<Var>,
    /// For the updates that put rows back, the sequences of the row that lie in their places.
    kept: FxHashMap<Var, Vec<Kept>>,
    /// The operations that take rows out, change them or put them back that may grow.
    grows: FxHashSet<Var>,
    /// The apply-to-each whose rows are changed where they lie, with the numbers of their binders.
    rows: FxHashMap<Var, usize>,
    /// The apply-to-each whose elements are stored in the row of a binder, with its number.
    elements: FxHashMap<Var, usize>,
    /// The sequences that are copied before the rows of the table that they read are changed.
    copies: FxHashMap<Var, Vec<Var>>,
    /// The updates that exchange rows.
    exchanges: FxHashMap<Var, Exchange>,
    /// For each call, the sequences among its arguments that become the callee's.
    given: FxHashMap<Var, Vec<bool>>,
}

/// The ownership of all functions of a program.
#[derive(Clone, Debug, Default)]
pub struct Ownership {
    functions: Vec<(BlockOwnership, Summary)>,
    /// For each function, whether it may overwrite something, or a function that it calls may: its
    /// parameters and results have rooms.
    tracked: Vec<bool>,
}

impl BlockOwnership {
    /// Returns what an operation on a sequence may overwrite.
    pub fn update(&self, var: Var) -> Update {
        Update {
            in_place: self.in_place.contains(&var),
            moves: self.moves.contains(&var),
            same_length: self.same_lengths.contains(&var),
            placed: self.placed.contains(&var),
            takes: self.takes.contains(&var),
            kept: self.kept.get(&var).cloned().unwrap_or_default(),
            grows: self.grows.contains(&var),
            rows: self.rows.get(&var).copied(),
            elements: self.elements.get(&var).copied(),
            copies: self.copies.get(&var).cloned().unwrap_or_default(),
            exchange: self.exchanges.get(&var).copied(),
        }
    }

    /// Returns the sequences among the arguments of a call that become the callee's.
    pub fn given(&self, call: Var) -> &[bool] {
        self.given.get(&call).map_or(&[], |given| given)
    }

    /// Returns true if nothing is ever overwritten or given away.
    pub fn is_empty(&self) -> bool {
        self.in_place.is_empty() && !self.given.values().flatten().any(|given| *given)
    }
}

impl Summary {
    /// Adds what was found before: the caller owns what it owns by both, and a result may read what it may read by either.
    fn join(&mut self, before: &Summary) {
        for (returned, before) in self.returned.iter_mut().zip(&before.returned) {
            *returned &= before;
        }
        for (aliases, before) in self.aliases.iter_mut().zip(&before.aliases) {
            aliases.iter_mut().zip(before).for_each(|(alias, before)| *alias |= before);
        }
    }
}

impl Ownership {
    /// Finds the ownership of a program's functions.
    pub fn of(program: &Program) -> Ownership {
        let count = program.functions.len();
        let functions = program.functions.iter().enumerate();
        let mut updates = functions.map(|(at, function)| {
            has_updates(&function.body) || changes_rows(function, FunId(at as u32))
        });
        if !updates.any(|updates| updates) {
            return Ownership { functions: Vec::new(), tracked: vec![false; count] };
        }
        let plans: Vec<SequentialPlan<'_>> =
            program.functions.iter().map(|function| SequentialPlan::of(&function.body)).collect();
        let empty = |function: &crate::ir::Function| {
            let params = function.params.iter().map(|(_, ty)| sequences(ty)).sum();
            let result = sequences(&function.result);
            let aliases = vec![vec![false; params]; result];
            let summary = Summary { returned: vec![true; result], aliases };
            (BlockOwnership::default(), summary)
        };
        let mut all = Ownership {
            functions: program.functions.iter().map(empty).collect(),
            tracked: vec![false; count],
        };
        // What a result may read only grows from round to round, so that the rounds end.
        loop {
            let mut changed = false;
            for (at, plan) in plans.iter().enumerate() {
                let mut found = Walk::new(program, plan, &all).function(FunId(at as u32));
                found.1.join(&all.functions[at].1);
                changed |= found.1 != all.functions[at].1;
                all.functions[at] = found;
            }
            if !changed {
                break;
            }
        }
        all.track(program);
        all
    }

    /// Finds the ownership of a block that no function of the program contains. Of the variables that it does not
    /// bind only those that are `given` to it are its own, which are used nowhere else.
    pub fn of_block<'a>(
        &self,
        program: &'a Program,
        block: &'a Block,
        plan: &SequentialPlan<'a>,
        given: &[(Var, &'a Ty)],
    ) -> BlockOwnership {
        let mut needed = has_updates(block);
        block.for_each_op(&mut |op| {
            needed |= matches!(op, Op::Call(callee, _) if self.is_tracked(*callee));
        });
        if !needed {
            return BlockOwnership::default();
        }
        let mut walk = Walk::new(program, plan, self);
        walk.may_grow = self.grows_rows();
        for (var, ty) in given {
            walk.param(*var, ty);
        }
        walk.block(block, false);
        walk.found
    }

    /// Returns what the code of a function may overwrite and give away.
    pub fn function(&self, id: FunId) -> BlockOwnership {
        self.functions.get(id.0 as usize).map_or_else(Default::default, |(block, _)| block.clone())
    }

    /// Returns the sequences of a function's result that become the caller's.
    pub fn returned(&self, id: FunId) -> &[bool] {
        self.functions.get(id.0 as usize).map_or(&[], |(_, summary)| &summary.returned)
    }

    /// Returns true if rows of tables may grow where they lie, in the code of some function.
    pub fn grows_rows(&self) -> bool {
        self.functions.iter().any(|(block, _)| !block.grows.is_empty())
    }

    /// Returns true if the parameters and results of a function have rooms.
    pub fn is_tracked(&self, id: FunId) -> bool {
        self.tracked[id.0 as usize]
    }
}

/// Returns the number of sequences of a value, those in its tuples included.
pub fn sequences(ty: &Ty) -> usize {
    let mut count = 0;
    each_sequence(ty, &mut |_| count += 1);
    count
}

/// Visits the element types of the sequences of a value, those in its tuples included, in order.
pub fn each_sequence<'t>(ty: &'t Ty, visit: &mut dyn FnMut(&'t Ty)) {
    with_stack(|| match ty {
        Ty::Unit | Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {}
        Ty::Pair(first, second) => {
            each_sequence(first, visit);
            each_sequence(second, visit);
        }
        Ty::Sequence(element) => visit(element),
    });
}

/// Allocations, by number, in ascending order.
type Set = Vec<u32>;

/// The origins of one sequence.
#[derive(Clone, Debug, Default)]
struct Origins {
    /// The allocations that it may lie in; `None` if it is never overwritten.
    own: Option<Set>,
    /// The allocations that it may be read from later.
    reads: Set,
    /// The allocations whose rows it may be read from later.
    views: Set,
    /// The sequence of a row, taken out of a table, or the row of an apply-to-each, that it is. It lies where
    /// the table does, if that is owned.
    row: Option<u32>,
    /// It is such a sequence that may have grown.
    has_grown: bool,
    /// It is not in memory, and its elements contain no sequences: it is copied where it is stored.
    delayed: bool,
}

/// The part of a variable that is used.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Whole,
    First,
    Second,
    Length,
}

/// A block that is walked.
struct Scope<'a> {
    block: &'a Block,
    /// The position of the last use of each variable, in the blocks inside included.
    last_uses: FxHashMap<(Var, Part), usize>,
    /// The positions of all uses of each variable, likewise.
    uses: FxHashMap<Var, Vec<usize>>,
    /// The position of the binding at hand.
    position: usize,
}

struct Walk<'w, 'a> {
    program: &'a Program,
    plan: &'w SequentialPlan<'a>,
    known: &'w Ownership,
    /// The origins of the sequences of each variable that has any, and its type.
    variables: FxHashMap<Var, (Vec<Origins>, &'a Ty)>,
    /// The variables that are lists written out: few elements, as in `a ++ [x]`.
    lists: FxHashSet<Var>,
    /// The allocations of parameters, and of what updates make of them: a loop may append to them.
    grown: FxHashSet<u32>,
    /// The number of nests around each allocation.
    depths: Vec<usize>,
    /// The variables that read each allocation, each with the number of its sequence that does.
    readers: Vec<Vec<(Var, usize)>>,
    /// The variables that read rows of each allocation, likewise.
    viewers: Vec<Vec<(Var, usize)>>,
    /// The sequences of rows that are taken out of tables. Each has an allocation of its own, which
    /// stands for its place in the table.
    taken: FxHashMap<u32, Taken>,
    scopes: Vec<Scope<'a>>,
    depth: usize,
    /// For tables that were updated, the first version of which the rows were as long.
    first_versions: FxHashMap<Var, Var>,
    /// The variables that the function calls itself with.
    given_to_itself: FxHashSet<Var>,
    /// The rows of an apply-to-each, by their allocations, whose elements an apply-to-each may overwrite.
    changeable: FxHashSet<u32>,
    /// Rows of tables may grow where they lie. Functions decide that for all code of the program; a block of a
    /// kernel may only if some function does, by which all code knows that pools may be spaced.
    may_grow: bool,
    found: BlockOwnership,
}

impl<'w, 'a> Walk<'w, 'a> {
    fn new(
        program: &'a Program,
        plan: &'w SequentialPlan<'a>,
        known: &'w Ownership,
    ) -> Walk<'w, 'a> {
        Walk {
            program,
            plan,
            known,
            variables: FxHashMap::default(),
            lists: FxHashSet::default(),
            grown: FxHashSet::default(),
            depths: Vec::new(),
            readers: Vec::new(),
            viewers: Vec::new(),
            taken: FxHashMap::default(),
            scopes: Vec::new(),
            depth: 0,
            first_versions: FxHashMap::default(),
            given_to_itself: FxHashSet::default(),
            changeable: FxHashSet::default(),
            may_grow: true,
            found: BlockOwnership::default(),
        }
    }

    fn function(mut self, id: FunId) -> (BlockOwnership, Summary) {
        let function = &self.program.functions[id.0 as usize];
        self.given_to_itself = given_to_itself(function, id);
        let mut params = Vec::new();
        for (var, ty) in &function.params {
            params.extend(self.param(*var, ty));
        }
        self.block(&function.body, false);
        let result = self.atom(function.body.result, &function.result);
        let apart = |at: usize| {
            let own = result[at].own.as_ref().filter(|_| !self.is_taken(&result[at]));
            let mut others = result.iter().enumerate().filter(|(other, _)| *other != at);
            own.is_some_and(|own| others.all(|(_, other)| other.is_apart_from(own)))
        };
        let returned = (0..result.len()).map(apart).collect();
        let aliases = |origins: &Origins| {
            let reads = |param: &u32| !origins.is_apart_from(&[*param]);
            params.iter().map(reads).collect()
        };
        let summary = Summary { returned, aliases: result.iter().map(aliases).collect() };
        (self.found, summary)
    }

    /// Gives each sequence of a parameter an allocation of its own, and returns these.
    fn param(&mut self, var: Var, ty: &'a Ty) -> Set {
        let origins: Vec<Origins> = (0..sequences(ty)).map(|_| self.allocation()).collect();
        let own: Set = origins.iter().flat_map(|origins| origins.reads.clone()).collect();
        self.grown.extend(&own);
        self.define(var, ty, origins);
        own
    }

    /// Walks a block; `is_body` says that it is the body of a nest.
    fn block(&mut self, block: &'a Block, is_body: bool) {
        with_stack(|| {
            let mut last_uses = FxHashMap::default();
            let mut uses: FxHashMap<Var, Vec<usize>> = FxHashMap::default();
            for (position, binding) in block.lets.iter().enumerate() {
                each_use(binding, &mut |var, part| {
                    // The length of a sequence in memory stands beside its arrays.
                    if part != Part::Length || self.plan.is_fused(var) {
                        let part = if part == Part::Length { Part::Whole } else { part };
                        last_uses.insert((var, part), position);
                        let all = uses.entry(var).or_default();
                        if all.last() != Some(&position) {
                            all.push(position);
                        }
                    }
                });
            }
            if let Some(var) = block.result.variable() {
                last_uses.insert((var, Part::Whole), block.lets.len());
                uses.entry(var).or_default().push(block.lets.len());
            }
            self.scopes.push(Scope { block, last_uses, uses, position: 0 });
            self.depth += usize::from(is_body);
            for (position, binding) in block.lets.iter().enumerate() {
                if let Some(scope) = self.scopes.last_mut() {
                    scope.position = position;
                }
                self.binding(binding);
            }
            self.depth -= usize::from(is_body);
            self.scopes.pop();
        });
    }

    fn binding(&mut self, binding: &'a Let) {
        let var = binding.var;
        let origins = match &binding.op {
            Op::Copy(a) => self.atom(*a, &binding.ty),
            Op::Pair(a, b) => match &binding.ty {
                Ty::Pair(first, second) => {
                    let mut all = self.atom(*a, first);
                    all.extend(self.atom(*b, second));
                    all
                }
                _ => self.derived(binding),
            },
            Op::First(pair) | Op::Second(pair) => self.half(*pair, binding),
            Op::List(_) => {
                self.lists.insert(var);
                self.derived(binding)
            }
            Op::Seq(op, args) => self.sequence(binding, *op, args),
            Op::Call(callee, args) => self.call(binding, *callee, args),
            Op::If { then, otherwise, .. } => {
                self.block(then, false);
                self.block(otherwise, false);
                let first = self.atom(then.result, &binding.ty);
                let second = self.atom(otherwise.result, &binding.ty);
                first.into_iter().zip(second).map(|(a, b)| a.or(b)).collect()
            }
            Op::Nest(nest) => self.nest(binding, nest),
            Op::Text(_)
            | Op::Constants(_)
            | Op::Scalar(..)
            | Op::Global(_)
            | Op::Check { .. }
            | Op::Error(_)
            | Op::Host(..)
            | Op::Time(_) => self.derived(binding),
        };
        self.define(var, &binding.ty, origins);
    }

    /// The origins of a new value. It reads its operands later if it is fused, or if it contains
    /// views: rows stay where they lie.
    fn derived(&mut self, binding: &'a Let) -> Vec<Origins> {
        let is_delayed =
            self.plan.is_fused(binding.var) || self.plan.sort_of(binding.var).is_some();
        let mut operands = Vec::new();
        each_use(binding, &mut |var, _| operands.push(var));
        let mut made = self.made_of(&binding.ty, is_delayed, &operands);
        if let Ty::Sequence(element) = &binding.ty
            && !element.has_sequence()
        {
            made[0].delayed = is_delayed;
        }
        made
    }

    fn made_of(&mut self, ty: &'a Ty, is_delayed: bool, operands: &[Var]) -> Vec<Origins> {
        let mut elements = Vec::new();
        each_sequence(ty, &mut |element| elements.push(element));
        let make = |element: &Ty| {
            let mut origins = self.allocation();
            if is_delayed || element.has_sequence() {
                for var in operands {
                    for operand in self.variables.get(var).into_iter().flat_map(|(all, _)| all) {
                        add(&mut origins.reads, &operand.reads);
                        add(&mut origins.views, &operand.views);
                    }
                }
            }
            origins
        };
        elements.into_iter().map(make).collect()
    }

    fn half(&mut self, pair: Atom, binding: &'a Let) -> Vec<Origins> {
        let known = pair.variable().and_then(|var| self.variables.get(&var));
        let Some((all, Ty::Pair(first, _))) = known else {
            return vec![Origins::default(); sequences(&binding.ty)];
        };
        let (first, second) = all.split_at(sequences(first));
        if matches!(binding.op, Op::First(_)) { first } else { second }.to_vec()
    }

    fn sequence(&mut self, binding: &'a Let, op: SeqOp, args: &'a [Atom]) -> Vec<Origins> {
        match op {
            // A view of the same elements.
            SeqOp::Subseq => {
                let origins = self.atom(args[0], &binding.ty);
                let part =
                    |origins| Origins { row: None, has_grown: false, delayed: false, ..origins };
                origins.into_iter().map(part).collect()
            }
            // The pool itself, if the segments tile it.
            SeqOp::Flatten => {
                let operands: Vec<Var> = args.iter().filter_map(|arg| arg.variable()).collect();
                self.made_of(&binding.ty, true, &operands)
            }
            SeqOp::Index => self.index(binding, args),
            SeqOp::Append if !self.appends_in_place(args) => self.derived(binding),
            SeqOp::Replace | SeqOp::Scatter | SeqOp::Append => {
                let is_table = binding.ty.element().is_some_and(Ty::has_sequence);
                if is_table {
                    self.update_table(binding, op, args)
                } else {
                    self.update(binding, op, args)
                }
            }
            _ => self.derived(binding),
        }
    }

    /// Returns the origins of the sequences of some operands.
    fn atoms_read(&self, args: &[Atom]) -> Vec<Origins> {
        let variables = args.iter().filter_map(|arg| arg.variable());
        variables
            .filter_map(|var| self.variables.get(&var))
            .flat_map(|(all, _)| all.clone())
            .collect()
    }

    /// Returns true if an append leaves room for the next one, if it may overwrite: what it appends is a few elements,
    /// or a loop may do so time after time. The parts of a divide and conquer are appended once.
    fn appends_in_place(&self, args: &[Atom]) -> bool {
        let is_list = args[1].variable().is_some_and(|var| self.lists.contains(&var));
        let known = args[0].variable().and_then(|var| self.variables.get(&var));
        let mut own = known.into_iter().flat_map(|(all, _)| all[0].own.iter().flatten());
        let grows = |allocation: &u32| self.grown.contains(allocation);
        let table_grows = |place| {
            self.taken.get(place).is_some_and(|taken: &Taken| taken.lies_in.iter().any(grows))
        };
        is_list || own.any(|allocation| grows(allocation) || table_grows(allocation))
    }

    /// Notes that a sequence is what an update makes of another one.
    fn grow(&mut self, of: &Origins, result: &[Origins]) {
        if of.own.iter().flatten().any(|allocation| self.grown.contains(allocation)) {
            self.grown.extend(result.iter().flat_map(|origins| origins.own.iter().flatten()));
        }
    }

    /// Finds out if an update of a sequence whose elements contain none may overwrite it.
    fn update(&mut self, binding: &'a Let, op: SeqOp, args: &'a [Atom]) -> Vec<Origins> {
        let known = args[0].variable().and_then(|var| self.variables.get(&var));
        let of = known.map(|(all, _)| all[0].clone()).unwrap_or_default();
        let mut others = self.atoms_read(&args[1..]);
        if matches!(op, SeqOp::Scatter | SeqOp::Append) {
            // All writes are computed and stored before the first is done.
            others.retain(|writes| !writes.delayed);
        }
        let is_row = self.is_taken(&of);
        // Behind a part of a row lies the rest of it.
        let fits = op != SeqOp::Append || !is_row || (of.row.is_some() && self.may_grow);
        let mut result = self.derived(binding);
        if fits && self.is_free(&of, others.iter()) && self.may_change_taken(&of, &others) {
            self.found.in_place.insert(binding.var);
            self.grow(&of, &result);
            if is_row {
                let grows = of.has_grown || op == SeqOp::Append;
                self.change_taken(binding.var, &of, &mut result, grows);
            } else if of.row.is_some() && op != SeqOp::Append {
                lies_where(&of, &mut result);
            }
        }
        result
    }

    /// Returns true if none of some sequences and no variable that is used later reads an array.
    fn is_free<'o>(&self, of: &Origins, mut others: impl Iterator<Item = &'o Origins>) -> bool {
        let Some(own) = &of.own else { return false };
        own.iter().all(|allocation| {
            let at = *allocation as usize;
            self.depths[at] == self.depth
                && !self.readers[at].iter().any(|reader| self.is_live(*reader))
                && !self.viewers[at].iter().any(|reader| self.is_live(*reader))
        }) && others.all(|other| other.is_apart_from(own))
    }

    /// Returns true if a sequence of a variable is used after the binding at hand.
    fn is_live(&self, (var, number): (Var, usize)) -> bool {
        let half = match self.variables.get(&var) {
            Some((_, Ty::Pair(first, _))) if number < sequences(first) => Part::First,
            Some((_, Ty::Pair(..))) => Part::Second,
            _ => Part::Whole,
        };
        let later = |scope: &Scope<'_>, part: Part| {
            scope.last_uses.get(&(var, part)).is_some_and(|last| *last > scope.position)
        };
        self.scopes.iter().any(|scope| later(scope, Part::Whole) || later(scope, half))
    }

    fn call(&mut self, binding: &'a Let, callee: FunId, args: &'a [Atom]) -> Vec<Origins> {
        let function = &self.program.functions[callee.0 as usize];
        let mut all: Vec<Origins> = Vec::new();
        for (arg, (_, ty)) in args.iter().zip(&function.params) {
            all.extend(self.atom(*arg, ty));
        }
        let given = |at: usize| {
            // Arguments that are not in memory yet are computed and stored before the call.
            let is_read = |other: usize, origins: &Origins| other != at && !origins.delayed;
            let others = all.iter().enumerate().filter(|(other, origins)| is_read(*other, origins));
            !self.is_taken(&all[at]) && self.is_free(&all[at], others.map(|(_, other)| other))
        };
        let given: Vec<bool> = (0..all.len()).map(given).collect();
        self.found.given.insert(binding.var, given);
        let summary = self.known.functions.get(callee.0 as usize).map(|(_, summary)| summary);
        let mut results = self.made_of(&binding.ty, false, &[]);
        for (number, result) in results.iter_mut().enumerate() {
            for (at, origins) in all.iter().enumerate() {
                if summary.is_none_or(|summary| summary.aliases[number][at]) {
                    add(&mut result.reads, &origins.reads);
                    add(&mut result.views, &origins.views);
                }
            }
        }
        results
    }

    /// A new allocation.
    fn allocation(&mut self) -> Origins {
        let number = self.depths.len() as u32;
        self.depths.push(self.depth);
        self.readers.push(Vec::new());
        self.viewers.push(Vec::new());
        Origins { own: Some(vec![number]), reads: vec![number], ..Origins::default() }
    }

    /// The origins of what lies where some sequences do, and is never overwritten.
    fn made_from(&self, all: &[Origins]) -> Origins {
        let mut made = Origins::default();
        for origins in all {
            add(&mut made.reads, &origins.reads);
            add(&mut made.views, &origins.views);
        }
        made
    }

    fn define(&mut self, var: Var, ty: &'a Ty, origins: Vec<Origins>) {
        if origins.is_empty() {
            return;
        }
        for (number, origins) in origins.iter().enumerate() {
            for allocation in &origins.reads {
                self.readers[*allocation as usize].push((var, number));
            }
            for allocation in &origins.views {
                self.viewers[*allocation as usize].push((var, number));
            }
        }
        self.variables.insert(var, (origins, ty));
    }

    /// Returns the origins of the sequences of an operand of a type.
    fn atom(&self, atom: Atom, ty: &Ty) -> Vec<Origins> {
        let known = atom.variable().and_then(|var| self.variables.get(&var));
        match known {
            Some((origins, _)) => origins.clone(),
            // A variable of the code around: it is not this code's.
            None => vec![Origins::default(); sequences(ty)],
        }
    }
}

impl Origins {
    /// The origins of one of two sequences.
    fn or(mut self, other: Origins) -> Origins {
        self.own = self.own.zip(other.own).map(|(mut own, other)| {
            add(&mut own, &other);
            own
        });
        add(&mut self.reads, &other.reads);
        add(&mut self.views, &other.views);
        self.row = self.row.filter(|row| other.row == Some(*row));
        self.has_grown |= other.has_grown;
        self.delayed = false;
        self
    }

    /// Returns true if none of some allocations is read, nor a row of one.
    fn is_apart_from(&self, allocations: &[u32]) -> bool {
        let reads = |member| {
            self.reads.binary_search(member).is_ok() || self.views.binary_search(member).is_ok()
        };
        !allocations.iter().any(reads)
    }
}

/// Visits the variables that a binding uses, in the blocks inside too.
fn each_use(binding: &Let, visit: &mut dyn FnMut(Var, Part)) {
    with_stack(|| {
        let part = match binding.op {
            Op::First(_) => Part::First,
            Op::Second(_) => Part::Second,
            Op::Seq(SeqOp::Length, _) => Part::Length,
            _ => Part::Whole,
        };
        let operands = binding.op.operands();
        operands.iter().filter_map(|atom| atom.variable()).for_each(|var| visit(var, part));
        for block in binding.op.blocks() {
            block.lets.iter().for_each(|inner| each_use(inner, visit));
            block.result.variable().into_iter().for_each(|var| visit(var, Part::Whole));
        }
    });
}

/// Adds the members of a set to another.
fn add(to: &mut Set, from: &Set) {
    for member in from {
        if let Err(at) = to.binary_search(member) {
            to.insert(at, *member);
        }
    }
}

#[cfg(test)]
mod tests;
