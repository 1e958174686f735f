//! The first sub-pass: marks the values that are rows of products or transposes of matrices.
//!
//! Every multi-versioned value that is a sequence of scalars is looked at as
//! [`products`](mod@crate::simplify::products) describes: its sequential version is the code of a row. Both
//! versions stay: they are executed where the conditions do not hold, and on runtimes that do nothing with
//! matrices by themselves.

use crate::base::with_stack;
use crate::flat::{
    Block, Fuel, Function, Let, MatrixRows, Op, Program, SpaceId, Step, is_within, segments_of,
};
use crate::ir::{self, Atom, FunId, Ty, Var};
use crate::simplify::products::{Place, Surroundings, of_rows};
use crate::thresholds::Thresholds;
use rustc_hash::FxHashMap;

/// Marks the values of a program that are rows of known matrices.
pub(super) fn run(program: &mut Program, fuel: &mut Fuel, limits: &Thresholds) {
    let Program { source, functions } = program;
    for function in functions.iter_mut().flatten() {
        let mut found = FxHashMap::default();
        let search = Search { function, source, limits };
        search.block(&function.body, &mut Definitions::default(), &mut found);
        mark(&mut function.body, &mut found, fuel);
    }
}

/// The steps before a value, by the variable that each binds.
type Definitions<'p> = FxHashMap<Var, &'p Let>;

/// A search for matrices in a function.
#[derive(Clone, Copy)]
struct Search<'p> {
    function: &'p Function,
    source: &'p ir::Program,
    limits: &'p Thresholds,
}

impl<'p> Search<'p> {
    /// Adds the matrices of a block and of the blocks inside.
    fn block(
        self,
        block: &'p Block,
        before: &mut Definitions<'p>,
        found: &mut FxHashMap<Var, MatrixRows>,
    ) {
        with_stack(|| {
            for step in &block.steps {
                let Step::Let(binding) = step else { continue };
                let matrix = match &binding.op {
                    Op::Versions { sequential, .. } if is_row(&binding.ty) => {
                        self.matrix(before, binding, sequential)
                    }
                    _ => None,
                };
                match matrix {
                    Some(matrix) => {
                        found.insert(binding.var, matrix);
                    }
                    None => {
                        binding.op.blocks().for_each(|inside| self.block(inside, before, found))
                    }
                }
                before.insert(binding.var, binding);
            }
        });
    }

    /// Returns the matrix that a value is a row of.
    fn matrix(
        self,
        before: &Definitions<'p>,
        binding: &'p Let,
        sequential: &'p Block,
    ) -> Option<MatrixRows> {
        let [Step::Let(Let { var, op: Op::Sequential(code), .. })] = &sequential.steps[..] else {
            return None;
        };
        let Search { function, source, limits } = self;
        let space = binding.space;
        let outside = segments_of(&function.spaces, space)?;
        let rows = Rows { function, source, before, space, outside };
        of_rows(code, &rows, limits).filter(|_| sequential.result == Atom::Var(*var))
    }
}

/// Marks the values that are known, as long as there is fuel.
fn mark(block: &mut Block, found: &mut FxHashMap<Var, MatrixRows>, fuel: &mut Fuel) {
    with_stack(|| {
        for step in &mut block.steps {
            let Step::Let(binding) = step else { continue };
            if let Op::Versions { matrix, .. } = &mut binding.op
                && let Some(known) = found.remove(&binding.var)
                && fuel.0 > 0
            {
                fuel.0 -= 1;
                *matrix = Some(Box::new(known));
            }
            binding.op.blocks_mut().for_each(|inside| mark(inside, found, fuel));
        }
    });
}

/// Returns true for the type of a row of scalars.
fn is_row(ty: &Ty) -> bool {
    matches!(ty.element(), Some(Ty::Float | Ty::Int | Ty::Bool | Ty::Char))
}

/// The steps around the code of a row.
struct Rows<'e, 'p> {
    function: &'p Function,
    source: &'p ir::Program,
    /// The steps before it.
    before: &'e Definitions<'p>,
    /// The index space of the rows.
    space: SpaceId,
    /// The index space around it.
    outside: SpaceId,
}

impl<'p> Surroundings<'p> for Rows<'_, 'p> {
    fn place(&self, var: Var) -> Option<Place> {
        let Some(binding) = self.before.get(&var) else {
            // A parameter of the function.
            return Some(Place::Outside);
        };
        if is_within(&self.function.spaces, self.outside, binding.space) {
            return Some(Place::Outside);
        }
        if binding.space != self.space {
            return None;
        }
        match binding.op {
            Op::Position { .. } => Some(Place::Row),
            Op::Element { of, .. } => Some(Place::Element(of)),
            _ => self.collected(var).map(Place::Element),
        }
    }

    fn callee(&self, id: FunId) -> Option<&'p ir::Function> {
        self.source.functions.get(id.0 as usize)
    }
}

impl Rows<'_, '_> {
    /// Returns the sequence of the values of a variable, one for each row.
    fn collected(&self, var: Var) -> Option<Var> {
        let all = self.before.values().find(|binding| {
            matches!(binding.op, Op::Collect { value: Atom::Var(value), from }
                if value == var && from == self.space)
        });
        all.map(|binding| binding.var)
    }
}
