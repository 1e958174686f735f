//! ir → flat: nesting becomes spaces.
//!
//! An apply-to-each gets a context with a point for each of its elements, and its body is done
//! at all of them at once; so do ranges, repetitions, filters, reductions and scans, which are
//! all said in terms of spaces and of elements in them. That makes every step a scalar
//! computation at each point, a combination over segments, or a matter of descriptors, whatever
//! the nesting was (Blelloch and Sabot, *Compiling collection-oriented languages onto massively
//! parallel computers*, 1990), and no step copies what it only reads (the virtual segments of
//! Lippmeier, Chakravarty, Keller, Leshchinskiy and Peyton Jones, *Work efficient higher-order
//! vectorisation*, 2012, in the form of a path to the context where a value lives).
//!
//! Not everything should be flattened: whatever has inner parallelism is written in both forms
//! ([`flat::Op::Versions`]), and what has none is done by each point itself.
//!
//! | module | what it does |
//! |---|---|
//! | `scalar` | what needs no flattening |
//! | `block` | the operations |
//! | `nest` | apply-to-each and conditionals |
//! | `count` | spaces of so many points |
//! | `view` | conditionals between cuts of one sequence |

mod block;
mod count;
mod nest;
mod scalar;
mod view;

use crate::flat::{self, IndexSpace, SpaceId, SpaceKind, Step};
use crate::ir::{Atom, FunId, Function, Program, Site, Ty, Var};
use crate::prim::SeqOp;
use rustc_hash::FxHashMap;

/// Flattens a lawful program without globals ([`crate::lower::globals_as_parameters`]) that does
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
    /// Per function, whether a call is best left to each point.
    scalar: &'p [bool],
    spaces: Vec<IndexSpace>,
    /// Where each variable lives, and its type.
    env: FxHashMap<Var, (SpaceId, Ty)>,
    /// What a variable is another name of.
    names: FxHashMap<Var, Atom>,
    /// For a sequence and the context around its elements: their context, and the element.
    elements: FxHashMap<(Var, SpaceId), (SpaceId, Atom)>,
    /// The points of a context at which a flag is set.
    filters: FxHashMap<(SpaceId, Var), SpaceId>,
    /// The spaces with so many points for each point of another.
    counted: FxHashMap<(count::Extent, SpaceId), SpaceId>,
    /// The positions of the points of spaces.
    positions: FxHashMap<SpaceId, Atom>,
    /// Sequences that are as long as another one.
    alike: FxHashMap<Var, Var>,
    /// What a pair was made of.
    pairs: FxHashMap<Var, (Atom, Atom)>,
    /// Of which sequence an int is the length.
    lengths: FxHashMap<Var, Var>,
    /// Sequences that are cut from others: how.
    cuts: FxHashMap<Var, view::Cut>,
    /// Sequences of ranks: in which order, of what.
    ranks: FxHashMap<Var, (SeqOp, Atom)>,
    /// What was found out about the elements of a sequence, in two sequences: which.
    groups: FxHashMap<Var, Atom>,
    /// The first variable that nothing uses yet.
    next: u32,
    /// The blocks that are open.
    open: Vec<Vec<Step>>,
    /// The functions whose flat form is called.
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

    /// A new context, from here on.
    fn enter(&mut self, space: SpaceKind, site: Site) -> SpaceId {
        let ctx = SpaceId(self.spaces.len() as u32);
        self.spaces.push(IndexSpace { kind: space, site });
        self.push(Step::Space(ctx));
        ctx
    }

    /// A new value.
    fn compute(&mut self, op: flat::Op, ty: Ty, ctx: SpaceId, site: Site) -> Atom {
        let var = Var(self.next);
        self.next += 1;
        self.define(var, op, ty, ctx, site);
        Atom::Var(var)
    }

    /// The value of a variable.
    fn define(&mut self, var: Var, op: flat::Op, ty: Ty, ctx: SpaceId, site: Site) {
        self.env.insert(var, (ctx, ty.clone()));
        if let Some(cut) = view::Cut::of(&op, ctx).filter(|_| matches!(ty, Ty::Sequence(_))) {
            self.cuts.insert(var, cut);
        }
        self.push(Step::Let(flat::Let { var, ty, ctx, op, site }));
    }

    fn push(&mut self, step: Step) {
        self.open.last_mut().expect("a block is open").push(step);
    }

    /// What an operand is called here.
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
