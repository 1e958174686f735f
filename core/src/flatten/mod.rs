//! ir → flat: nested parallelism becomes index spaces.
//!
//! An apply-to-each gets an index space with an element for each of its iterations, and its body is
//! executed for all of them at once; so do ranges, repetitions, filters, reductions and scans, which
//! are all expressed by index spaces and their elements. That makes every step a scalar computation
//! for each element, a combination over segments, or an operation on descriptors, whatever the
//! nesting was (Blelloch and Sabot, *Compiling collection-oriented languages onto massively parallel
//! computers*, 1990), and no step copies a value that it only reads (the virtual segments of
//! Lippmeier, Chakravarty, Keller, Leshchinskiy and Peyton Jones, *Work efficient higher-order
//! vectorisation*, 2012, in the form of a path to the index space of a value).
//!
//! Not everything should be flattened: code with inner parallelism is multi-versioned
//! ([`flat::Op::Versions`]), and code without is executed by each element for itself.
//!
//! | module | contents |
//! |---|---|
//! | `scalar` | code that needs no flattening |
//! | `block` | blocks and bindings |
//! | `sequence` | operations on sequences |
//! | `nest` | apply-to-each and conditionals |
//! | `count` | index spaces of a given length |
//! | `view` | conditionals between views of one sequence |

mod block;
mod count;
mod nest;
mod scalar;
mod sequence;
mod view;

use crate::flat::{self, IndexSpace, SpaceId, SpaceKind, Step};
use crate::ir::{Atom, FunId, Function, Program, Site, Ty, Var};
use crate::prim::SeqOp;
use nesl_runtime::bug::OrBug;
use rustc_hash::FxHashMap;

/// Flattens a well-formed program without globals ([`crate::lower::globals_as_parameters`]) that does
/// nothing only a host can do.
pub fn flatten(program: &Program) -> flat::Program {
    let scalar = scalar::functions(program);
    let mut functions: Vec<Option<flat::Function>> = vec![None; program.functions.len()];
    let mut wanted = vec![program.main];
    while let Some(id) = wanted.pop() {
        if functions[id.0 as usize].is_none() {
            let function = &program.functions[id.0 as usize];
            let mut flattener = Flattener::new(function, &scalar);
            functions[id.0 as usize] = Some(flattener.function(function));
            wanted.append(&mut flattener.calls);
        }
    }
    flat::Program { source: program.clone(), functions }
}

/// A function that is being flattened.
struct Flattener<'p> {
    /// Per function, true if a call is best executed by each element for itself.
    scalar: &'p [bool],
    spaces: Vec<IndexSpace>,
    /// The index space and the type of each variable.
    env: FxHashMap<Var, (SpaceId, Ty)>,
    /// The operands that variables are other names of.
    names: FxHashMap<Var, Atom>,
    /// For a sequence and the index space around its elements: their index space, and the element.
    elements: FxHashMap<(Var, SpaceId), (SpaceId, Atom)>,
    /// The filters of index spaces, by flag.
    filters: FxHashMap<(SpaceId, Var), SpaceId>,
    /// The index spaces of a given length for each element of another.
    counted: FxHashMap<(count::Extent, SpaceId), SpaceId>,
    /// The positions of the elements of index spaces.
    positions: FxHashMap<SpaceId, Atom>,
    /// The sequences that are as long as another one.
    alike: FxHashMap<Var, Var>,
    /// The components of pairs.
    pairs: FxHashMap<Var, (Atom, Atom)>,
    /// The sequences whose length an int is.
    lengths: FxHashMap<Var, Var>,
    /// The views among the sequences.
    cuts: FxHashMap<Var, view::Cut>,
    /// The sequences of ranks, with their order and keys.
    ranks: FxHashMap<Var, (SeqOp, Atom)>,
    /// The pairs of sequences that [`SeqOp::Groups`] gave, with the sequence that was grouped.
    groups: FxHashMap<Var, Atom>,
    /// The first variable that nothing uses yet.
    next: u32,
    /// The blocks that are open.
    open: Vec<Vec<Step>>,
    /// The functions whose flattened form is called.
    calls: Vec<FunId>,
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
            positions: FxHashMap::default(),
            alike: FxHashMap::default(),
            pairs: FxHashMap::default(),
            lengths: FxHashMap::default(),
            cuts: FxHashMap::default(),
            ranks: FxHashMap::default(),
            groups: FxHashMap::default(),
            next: last,
            open: Vec::new(),
            calls: Vec::new(),
        }
    }

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
        }
    }

    /// Makes an index space.
    fn enter(&mut self, kind: SpaceKind, site: Site) -> SpaceId {
        let space = SpaceId(self.spaces.len() as u32);
        self.spaces.push(IndexSpace { kind, site });
        self.push(Step::Space(space));
        space
    }

    /// Computes a value under a new name.
    fn compute(&mut self, op: flat::Op, ty: Ty, space: SpaceId, site: Site) -> Atom {
        let var = Var(self.next);
        self.next += 1;
        self.define(var, op, ty, space, site);
        Atom::Var(var)
    }

    /// Binds a variable.
    fn define(&mut self, var: Var, op: flat::Op, ty: Ty, space: SpaceId, site: Site) {
        self.env.insert(var, (space, ty.clone()));
        if let Some(cut) = view::Cut::of(&op, space).filter(|_| matches!(ty, Ty::Sequence(_))) {
            self.cuts.insert(var, cut);
        }
        self.push(Step::Let(flat::Let { var, ty, space, op, site }));
    }

    fn push(&mut self, step: Step) {
        self.open.last_mut().or_bug("a block is open").push(step);
    }

    /// The present name of an operand.
    fn atom(&self, atom: Atom) -> Atom {
        match atom {
            Atom::Var(var) => self.names.get(&var).copied().unwrap_or(atom),
            Atom::Unit | Atom::Int(_) | Atom::Float(_) | Atom::Bool(_) | Atom::Char(_) => atom,
        }
    }

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
