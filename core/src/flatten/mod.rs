//! ir → flat: nested parallelism becomes index spaces.
//!
//! An apply-to-each gets an index space with an element for each of its iterations, and its body is
//! executed for all of them at once; so do ranges, repetitions, filters, reductions and scans,
//! which are all expressed by index spaces and their elements. That makes every step a scalar
//! computation for each element, a combination over segments, or an operation on descriptors,
//! whatever the nesting was (Blelloch and Sabot, *Compiling collection-oriented languages onto
//! massively parallel computers*, 1990), and no step copies a value that it only reads (the virtual
//! segments of Lippmeier, Chakravarty, Keller, Leshchinskiy and Peyton Jones, *Work efficient
//! higher-order vectorisation*, 2012, in the form of a path to the index space of a value).
//!
//! Not everything should be flattened: code with inner parallelism is multi-versioned
//! ([`flat::Op::Versions`]), and code without is executed by each element for itself.
//!
//! The road: `scalar` finds the functions that stay as they are; each other function that the
//! program reaches is flattened block by block (`block`), a binding at a time, by the file for its
//! operation.
//!
//! | file | contents |
//! |---|---|
//! | `scalar` | finds the code that needs no flattening |
//! | `block` | blocks and bindings, and the index spaces that sequences share |
//! | `early_check` | checks of lengths that are done as soon as possible |
//! | `nest` | apply-to-each and conditionals |
//! | `sequence` | operations on sequences |
//! | `count` | index spaces of a given length |
//! | `append` | appended sequences that are read by position |
//! | `view` | conditionals between views of one sequence |

mod append;
mod block;
mod count;
mod early_check;
mod nest;
mod scalar;
mod sequence;
mod view;

use crate::flat::{self, IndexSpace, SpaceId, SpaceKind, Step};
use crate::ir::{Atom, Block, FunId, Function, Op, Program, Site, Ty, Var};
use crate::prim::SeqOp;
use nesl_runtime::bug::OrBug;
use rustc_hash::{FxHashMap, FxHashSet};

/// Flattens a well-formed program that has no globals ([`crate::lower::globals_as_parameters`]) and
/// no effects. Functions that no flattened code calls have no flattened form.
pub fn flatten(program: &Program) -> flat::Program {
    let scalar = scalar::functions(program);
    let nested = nested_functions(program);
    let mut functions: Vec<Option<flat::Function>> = vec![None; program.functions.len()];
    let mut reached = vec![program.main];
    while let Some(id) = reached.pop() {
        if functions[id.0 as usize].is_none() {
            let function = &program.functions[id.0 as usize];
            let mut flattener = Flattener::new(function, &scalar);
            flattener.nests = usize::from(nested.contains(&id));
            functions[id.0 as usize] = Some(flattener.function(function));
            reached.append(&mut flattener.calls);
        }
    }
    flat::Program { source: program.clone(), functions }
}

/// Returns the functions that iterations of an apply-to-each may call.
fn nested_functions(program: &Program) -> FxHashSet<FunId> {
    let mut open = Vec::new();
    let callees = |block: &Block, open: &mut Vec<FunId>| {
        block.for_each_op(&mut |op| {
            if let Op::Call(callee, _) = op {
                open.push(*callee);
            }
        });
    };
    for function in &program.functions {
        function.body.for_each_op(&mut |op| {
            if let Op::Nest(nest) = op {
                callees(&nest.body, &mut open);
            }
        });
    }
    let mut nested = FxHashSet::default();
    while let Some(id) = open.pop() {
        if nested.insert(id) {
            callees(&program.functions[id.0 as usize].body, &mut open);
        }
    }
    nested
}

/// A function that is being flattened.
struct Flattener<'p> {
    /// For each function of the program, true if it has no inner parallelism: each element calls it
    /// sequentially.
    scalar: &'p [bool],
    /// The index spaces made so far, by number.
    spaces: Vec<IndexSpace>,
    /// The index space and the type of each variable.
    env: FxHashMap<Var, (SpaceId, Ty)>,
    /// The operand that replaces each variable of the source that is only another name for it.
    names: FxHashMap<Var, Atom>,
    /// For a sequence and the index space that has one segment per value: the index space of its
    /// elements, and the element there.
    elements: FxHashMap<(Var, SpaceId), (SpaceId, Atom)>,
    /// The filters made so far, by the index space that is filtered and the flag.
    filters: FxHashMap<(SpaceId, Var), SpaceId>,
    /// The index spaces of kind `Count` made so far, by the length and the index space around.
    counted: FxHashMap<(count::Extent, SpaceId), SpaceId>,
    /// The sequences whose elements can be computed anywhere.
    generated: FxHashMap<Var, sequence::Generated>,
    /// The variables that hold [`flat::Op::Position`], by index space.
    positions: FxHashMap<SpaceId, Atom>,
    /// For a sequence, another one that is known to have the same length.
    equal_lengths: FxHashMap<Var, Var>,
    /// The components of the pairs that were made by [`crate::ir::Op::Pair`].
    pairs: FxHashMap<Var, (Atom, Atom)>,
    /// For an int that is the length of a sequence, that sequence.
    lengths: FxHashMap<Var, Var>,
    /// The sequences that are views of another one.
    views: FxHashMap<Var, view::View>,
    /// For a sequence of ranks, the operation (ascending or descending) and the keys.
    ranks: FxHashMap<Var, (SeqOp, Atom)>,
    /// The sequences of ranks, as the source names them, that are used to sort their keys and for nothing
    /// else.
    only_sorting: FxHashSet<Var>,
    /// The pairs of sequences that [`SeqOp::Groups`] gave, with the sequence that was grouped.
    groups: FxHashMap<Var, Atom>,
    /// The appended sequences that are only read element by element.
    by_position: FxHashSet<Var>,
    /// For an appended sequence that is read by position: its two parts, and the length of the first.
    appended: FxHashMap<Var, (Atom, Atom, Atom)>,
    /// The elements of the sequences `[x]`.
    singletons: FxHashMap<Var, Atom>,
    /// The first variable that nothing uses yet.
    next: u32,
    /// The steps of the blocks that are being flattened, outermost first.
    open: Vec<Vec<Step>>,
    /// The functions whose flattened form is called.
    calls: Vec<FunId>,
    /// The number of nests around the code at hand; one more if iterations of an apply-to-each may call the function.
    nests: usize,
}

impl<'p> Flattener<'p> {
    fn new(function: &Function, scalar: &'p [bool]) -> Flattener<'p> {
        let mut last = 0;
        function.params.iter().for_each(|(var, _)| last = last.max(var.0 + 1));
        function.body.each_binding(&mut |var, _| last = last.max(var.0 + 1));
        Flattener {
            scalar,
            spaces: vec![IndexSpace { kind: SpaceKind::Caller, site: function.site }],
            env: FxHashMap::default(),
            names: FxHashMap::default(),
            elements: FxHashMap::default(),
            filters: FxHashMap::default(),
            counted: FxHashMap::default(),
            generated: FxHashMap::default(),
            positions: FxHashMap::default(),
            equal_lengths: FxHashMap::default(),
            pairs: FxHashMap::default(),
            lengths: FxHashMap::default(),
            views: FxHashMap::default(),
            ranks: FxHashMap::default(),
            only_sorting: sequence::only_sorting(&function.body),
            groups: FxHashMap::default(),
            by_position: append::only_read(&function.body),
            appended: FxHashMap::default(),
            singletons: FxHashMap::default(),
            next: last,
            open: Vec::new(),
            calls: Vec::new(),
            nests: 0,
        }
    }

    /// Flattens the function.
    fn function(&mut self, function: &Function) -> flat::Function {
        for (var, ty) in &function.params {
            self.env.insert(*var, (SpaceId::CALLER, ty.clone()));
        }
        let body = self.block(&function.body, SpaceId::CALLER);
        flat::Function {
            name: function.name.clone(),
            params: function.params.clone(),
            result: function.result.clone(),
            spaces: std::mem::take(&mut self.spaces),
            body,
            library: function.library,
            in_one_thread: None,
        }
    }

    /// Makes an index space by a step of the open block.
    fn new_space(&mut self, kind: SpaceKind, site: Site) -> SpaceId {
        let space = SpaceId(self.spaces.len() as u32);
        self.spaces.push(IndexSpace { kind, site });
        self.push(Step::Space(space));
        space
    }

    /// Binds a fresh variable to a value of an index space, and returns it.
    fn compute(&mut self, op: flat::Op, ty: Ty, space: SpaceId, site: Site) -> Atom {
        let var = Var(self.next);
        self.next += 1;
        self.define(var, op, ty, space, site);
        Atom::Var(var)
    }

    /// Binds a variable to a value of an index space, in the open block.
    fn define(&mut self, var: Var, op: flat::Op, ty: Ty, space: SpaceId, site: Site) {
        self.env.insert(var, (space, ty.clone()));
        if let Some(view) = view::View::of(&op, space).filter(|_| matches!(ty, Ty::Sequence(_))) {
            self.views.insert(var, view);
        }
        self.push(Step::Let(flat::Let { var, ty, space, op, site }));
    }

    /// Appends a step to the open block.
    fn push(&mut self, step: Step) {
        self.open.last_mut().or_bug("a block is open").push(step);
    }

    /// Returns the operand that stands for one of the source.
    fn atom(&self, atom: Atom) -> Atom {
        match atom {
            Atom::Var(var) => self.names.get(&var).copied().unwrap_or(atom),
            Atom::Unit | Atom::Int(_) | Atom::Float(_) | Atom::Bool(_) | Atom::Char(_) => atom,
        }
    }

    /// Returns the type of an operand at each element of its index space.
    fn ty(&self, atom: Atom) -> Ty {
        match atom {
            Atom::Var(var) => self.env[&var].1.clone(),
            Atom::Unit => Ty::Unit,
            Atom::Int(_) => Ty::Int,
            Atom::Float(_) => Ty::Float,
            Atom::Bool(_) => Ty::Bool,
            Atom::Char(_) => Ty::Char,
        }
    }
}
