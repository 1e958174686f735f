//! Builds functions: makes fresh variables, finds their types, and nests blocks.
//!
//! Elaboration and the passes that write new code use it, so that "every variable is bound once"
//! holds by construction. The types of operations that determine their own are looked up in
//! [`signature`](super::signature).
//!
//! ```
//! # use nesl_core::ir::{Atom, FunctionBuilder, Op, Site, Ty};
//! # use nesl_runtime::scalar::ScalarOp;
//! let mut b = FunctionBuilder::new();
//! let x = b.param(Ty::Int);
//! let y = b.scalar(ScalarOp::Add, vec![x, Atom::Int(1)], Site::NONE);
//! let function = b.finish("successor", Site::NONE, y);
//! assert_eq!(function.result, Ty::Int);
//! ```

use super::signature;
use super::{Atom, Block, Charge, Function, Let, Nest, Op, Site, Ty, Var};
use crate::base::with_stack;
use crate::prim::SeqOp;
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::scalar::ScalarOp;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// A function under construction.
///
/// New bindings go to the innermost open block; [`begin`](Self::begin) opens one and
/// [`end`](Self::end) closes it.
#[derive(Clone, Debug, Default)]
pub struct FunctionBuilder {
    /// The type of variable `i`.
    types: Vec<Ty>,
    params: Vec<(Var, Ty)>,
    /// The bindings of the function's own block.
    body: Vec<Let>,
    /// The bindings of the blocks that are open inside it, outermost first.
    open: Vec<Vec<Let>>,
}

impl FunctionBuilder {
    /// Returns a function without parameters or bindings.
    pub fn new() -> FunctionBuilder {
        FunctionBuilder::default()
    }

    /// Returns a builder whose fresh variables are not used by an existing function.
    pub fn extending(function: &Function) -> FunctionBuilder {
        let mut builder = FunctionBuilder::new();
        let mut declare = |var: Var, ty: &Ty| {
            let index = var.0 as usize;
            if builder.types.len() <= index {
                builder.types.resize(index + 1, Ty::Unit);
            }
            builder.types[index] = ty.clone();
        };
        for (var, ty) in &function.params {
            declare(*var, ty);
        }
        function.body.each_binding(&mut declare);
        builder
    }

    /// Returns a builder whose fresh variables are none of those up to one.
    pub fn beyond(last: Var) -> FunctionBuilder {
        FunctionBuilder { types: vec![Ty::Unit; last.0 as usize + 1], ..FunctionBuilder::new() }
    }

    /// Returns a fresh variable that something else will bind: the binder of a [`Nest`].
    pub fn fresh(&mut self, ty: Ty) -> Var {
        let var =
            Var(u32::try_from(self.types.len()).or_bug("a function has fewer than 2^32 variables"));
        self.types.push(ty);
        var
    }

    /// Adds a parameter and returns it.
    pub fn param(&mut self, ty: Ty) -> Atom {
        let var = self.fresh(ty.clone());
        self.params.push((var, ty));
        Atom::Var(var)
    }

    /// Returns the type of an operand.
    pub fn type_of(&self, atom: &Atom) -> Ty {
        match atom {
            Atom::Var(var) => self.types[var.0 as usize].clone(),
            Atom::Unit => Ty::Unit,
            Atom::Int(_) => Ty::Int,
            Atom::Float(_) => Ty::Float,
            Atom::Bool(_) => Ty::Bool,
            Atom::Char(_) => Ty::Char,
        }
    }

    /// Returns the types of some operands, in order.
    pub fn types_of(&self, atoms: &[Atom]) -> Vec<Ty> {
        atoms.iter().map(|atom| self.type_of(atom)).collect()
    }

    /// Binds the result of an operation in the innermost open block.
    pub fn bind(&mut self, ty: Ty, op: Op, site: Site) -> Atom {
        let var = self.fresh(ty.clone());
        let lets = self.open.last_mut().unwrap_or(&mut self.body);
        lets.push(Let { var, ty, op, site });
        Atom::Var(var)
    }

    /// Appends a binding of the existing function to the innermost open block.
    pub fn keep(&mut self, binding: Let) {
        self.open.last_mut().unwrap_or(&mut self.body).push(binding);
    }

    /// Returns a copy of a binding of the existing function, with fresh names for all that it binds. `names` has the new
    /// names of variables that were copied before.
    pub fn copied(&mut self, binding: &Let, names: &mut FxHashMap<Var, Var>) -> Let {
        let mut copy = binding.clone();
        copy.op.each_operand_mut(|atom| {
            if let Atom::Var(var) = atom {
                *var = names.get(var).copied().unwrap_or(*var);
            }
        });
        if let Op::Nest(nest) = &mut copy.op {
            for (var, ty, _) in &mut nest.binders {
                let new = self.fresh(ty.clone());
                names.insert(*var, new);
                *var = new;
            }
        }
        for block in copy.op.blocks_mut() {
            block.lets = block.lets.iter().map(|inner| self.copied(inner, names)).collect();
            if let Atom::Var(var) = &mut block.result {
                *var = names.get(var).copied().unwrap_or(*var);
            }
        }
        copy.var = self.fresh(binding.ty.clone());
        names.insert(binding.var, copy.var);
        copy
    }

    /// Opens a block: a branch of a conditional, or the body of a nest.
    pub fn begin(&mut self) {
        self.open.push(Vec::new());
    }

    /// Closes the innermost open block and returns it with this result.
    ///
    /// # Panics
    /// Panics if no block is open.
    pub fn end(&mut self, result: Atom) -> Block {
        let lets = self.open.pop().or_bug("a block is open");
        Block { lets, result }
    }

    /// Returns the block of the bindings that `fill` adds, with the result that it returns.
    pub fn block(&mut self, fill: impl FnOnce(&mut Self) -> Atom) -> Block {
        self.begin();
        let result = fill(self);
        self.end(result)
    }

    /// Binds a scalar operation; its type follows from those of the operands.
    ///
    /// # Panics
    /// Panics if the operands have other types.
    pub fn scalar(&mut self, op: ScalarOp, args: Vec<Atom>, site: Site) -> Atom {
        let ty = signature::scalar(op, &self.types_of(&args)).unwrap_or_else(|why| bug!("{why}"));
        self.bind(ty, Op::Scalar(op, args), site)
    }

    /// Binds an operation on sequences; its type follows from those of the operands.
    ///
    /// # Panics
    /// Panics if the operands have other types.
    pub fn seq(&mut self, op: SeqOp, args: Vec<Atom>, site: Site) -> Atom {
        let ty = signature::sequence(op, &self.types_of(&args)).unwrap_or_else(|why| bug!("{why}"));
        self.bind(ty, Op::Seq(op, args), site)
    }

    /// Binds the pair `(a, b)`.
    pub fn pair(&mut self, a: Atom, b: Atom, site: Site) -> Atom {
        let ty = Ty::pair(self.type_of(&a), self.type_of(&b));
        self.bind(ty, Op::Pair(a, b), site)
    }

    /// Binds the tuple of some values; of one, it is the value.
    pub fn tuple(&mut self, mut values: Vec<Atom>, site: Site) -> Atom {
        let last = values.pop().unwrap_or(Atom::Unit);
        values.into_iter().rev().fold(last, |rest, value| self.pair(value, rest, site))
    }

    /// Binds some value of a type, where one is needed that nobody reads: zeros, and sequences without elements.
    pub fn nothing(&mut self, ty: &Ty, site: Site) -> Atom {
        with_stack(|| match ty {
            Ty::Unit => Atom::Unit,
            Ty::Int => Atom::Int(0),
            Ty::Float => Atom::Float(0.0),
            Ty::Bool => Atom::Bool(false),
            Ty::Char => Atom::Char(0),
            Ty::Pair(first, second) => {
                let first = self.nothing(first, site);
                let second = self.nothing(second, site);
                self.pair(first, second, site)
            }
            Ty::Sequence(_) => self.bind(ty.clone(), Op::List(Vec::new()), site),
        })
    }

    /// Binds both components of a pair.
    ///
    /// # Panics
    /// Panics if the operand is not a pair.
    pub fn unpair(&mut self, pair: Atom, site: Site) -> (Atom, Atom) {
        let Ty::Pair(first, second) = self.type_of(&pair) else {
            bug!("not a pair: {:?}", self.type_of(&pair));
        };
        (self.bind(*first, Op::First(pair), site), self.bind(*second, Op::Second(pair), site))
    }

    /// Binds a string constant.
    pub fn text(&mut self, text: &[u8], site: Site) -> Atom {
        self.bind(Ty::text(), Op::Text(text.into()), site)
    }

    /// Binds a conditional, with the type of the first branch.
    pub fn conditional(
        &mut self,
        cond: Atom,
        site: Site,
        then: impl FnOnce(&mut Self) -> Atom,
        otherwise: impl FnOnce(&mut Self) -> Atom,
    ) -> Atom {
        let then = self.block(then);
        let otherwise = self.block(otherwise);
        let ty = self.type_of(&then.result);
        let op = Op::If { cond, then, otherwise };
        self.bind(ty, op, site)
    }

    /// Binds an apply-to-each over `sequences`; `body` is called with the variables of the
    /// elements.
    ///
    /// # Panics
    /// Panics if an operand is not a sequence.
    pub fn nest(
        &mut self,
        sequences: &[Atom],
        serial: bool,
        site: Site,
        body: impl FnOnce(&mut Self, &[Atom]) -> Atom,
    ) -> Atom {
        let binders: Vec<(Var, Ty, Atom)> = sequences
            .iter()
            .map(|sequence| {
                let Ty::Sequence(element) = self.type_of(sequence) else {
                    bug!("not a sequence: {:?}", self.type_of(sequence));
                };
                (self.fresh((*element).clone()), *element, *sequence)
            })
            .collect();
        let elements: Vec<Atom> = binders.iter().map(|(var, ..)| Atom::Var(*var)).collect();
        let body = self.block(|b| body(b, &elements));
        let ty = Ty::sequence(self.type_of(&body.result));
        let nest = Nest { binders, body, serial };
        self.bind(ty, Op::Nest(nest), site)
    }

    /// Returns the function. Its fields `library`, `charge` and `role` have the values of a
    /// function of the user's program.
    ///
    /// # Panics
    /// Panics if a block is open.
    pub fn finish(self, name: impl Into<SmolStr>, site: Site, result: Atom) -> Function {
        assert!(self.open.is_empty(), "a block is still open");
        Function {
            name: name.into(),
            result: self.type_of(&result),
            params: self.params,
            body: Block { lets: self.body, result },
            site,
            library: false,
            charge: None::<Charge>,
            role: None,
        }
    }
}
