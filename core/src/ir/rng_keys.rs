//! Gives each draw of a random number a source of its own.
//!
//! Elaboration writes a draw with a dummy source, `rand(0, 0, 0, bound)`. This pass gives every draw
//! a [source](nesl_runtime::random::Source) of its own, so that the generator needs no state and
//! iterations may run in any order:
//!
//! ```text
//! v1: int = rand(0, 0, 0, 100)           v1: int = rand(k, 0, 0, 100)
//!
//! v2: int = call "f"(x)                  v8: int = split_key(k, 0, 1)
//!                                        v2: int = call "f"(v8, x)
//!
//! v3: [int] = each v4: int in xs {       v9: int = split_key(k, 0, 2)
//!   v5: int = rand(0, 0, 0, v4)          va: int = length(xs)
//! }                                      vb: [int] = range(0, 1, va)
//!                                        v3: [int] = each v4: int in xs, vc: int in vb {
//!                                          v5: int = rand(v9, vc, 3, v4)
//!                                        }
//! ```
//!
//! where `k` is a new first parameter of every function that draws, directly or through its calls;
//! `main` gets the key of the execution. The operands of a draw are the key of the nest or call that
//! it is in, the index of the iteration, and its number among the draws, calls and nests of the
//! function, so that no two draws have the same source: each is one call of the generator. Calls and
//! nests get keys that are split off with such a source, so no two of them have the same key either.

use super::{Atom, Block, FunId, Function, FunctionBuilder, Let, Nest, Op, Program, Site, Ty};
use crate::base::with_stack;
use crate::prim::SeqOp;
use nesl_runtime::scalar::ScalarOp;

/// Gives every draw of a program a source of its own. Must be run exactly once.
pub fn split_rng_keys(program: &mut Program) {
    let draws = drawing(program);
    for (index, function) in program.functions.iter_mut().enumerate() {
        if draws[index] {
            rewrite(function, &draws);
        }
    }
}

/// Returns for each function whether it draws, itself or through the functions that it calls.
fn drawing(program: &Program) -> Vec<bool> {
    let mut draws: Vec<bool> = Vec::new();
    // The callers of each function.
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); program.functions.len()];
    for (caller, function) in program.functions.iter().enumerate() {
        let mut itself = false;
        function.body.each_let(&mut |binding| {
            if let Op::Scalar(ScalarOp::Rand, _) = binding.op {
                itself = true;
            } else if let Op::Call(callee, _) = binding.op {
                callers[callee.0 as usize].push(caller);
            }
        });
        draws.push(itself);
    }
    let mut found: Vec<usize> = (0..draws.len()).filter(|i| draws[*i]).collect();
    while let Some(callee) = found.pop() {
        for caller in std::mem::take(&mut callers[callee]) {
            if !std::mem::replace(&mut draws[caller], true) {
                found.push(caller);
            }
        }
    }
    draws
}

fn rewrite(function: &mut Function, draws: &[bool]) {
    let mut rewriter =
        Rewriter { draws, builder: FunctionBuilder::extending(function), numbers: 0 };
    let key = rewriter.builder.fresh(Ty::Int);
    function.params.insert(0, (key, Ty::Int));
    // The cost formula names parameters by their numbers, which are now one greater.
    for term in function.charge.iter_mut().flat_map(|c| &mut c.work) {
        if let Some(parameter) = term.parameter_mut() {
            *parameter += 1;
        }
    }
    rewriter.block(&mut function.body, Place { key: Atom::Var(key), index: Atom::Int(0) });
}

struct Rewriter<'a> {
    draws: &'a [bool],
    /// Makes fresh variables.
    builder: FunctionBuilder,
    /// The number of draws, calls and nests so far.
    numbers: i64,
}

/// The key of a nest or call, and the index of an iteration.
#[derive(Clone, Copy)]
struct Place {
    key: Atom,
    index: Atom,
}

impl Rewriter<'_> {
    /// Gives each draw, call and nest of a block a source at `place`, where it needs one.
    fn block(&mut self, block: &mut Block, place: Place) {
        with_stack(|| {
            for mut binding in std::mem::take(&mut block.lets) {
                let site = binding.site;
                let lets = &mut block.lets;
                match &mut binding.op {
                    Op::Scalar(ScalarOp::Rand, args) => {
                        args[..3].copy_from_slice(&self.source(place));
                    }
                    Op::Call(FunId(callee), args) if self.draws[*callee as usize] => {
                        args.insert(0, self.split(lets, place, site));
                    }
                    Op::Nest(nest) if self.draws_inside(&nest.body) => {
                        self.nest(nest, lets, place, site);
                    }
                    Op::Nest(_) => {}
                    op => op.blocks_mut().for_each(|inner| self.block(inner, place)),
                }
                block.lets.push(binding);
            }
        });
    }

    /// Gives a nest a key of its own, and its iterations their indices.
    fn nest(&mut self, nest: &mut Nest, lets: &mut Vec<Let>, place: Place, site: Site) {
        let key = self.split(lets, place, site);
        let (.., sequence) = nest.binders[0];
        let length = self.bind(lets, Ty::Int, Op::Seq(SeqOp::Length, vec![sequence]), site);
        let range = Op::Seq(SeqOp::Range, vec![Atom::Int(0), Atom::Int(1), length]);
        let range = self.bind(lets, Ty::sequence(Ty::Int), range, site);
        let index = self.builder.fresh(Ty::Int);
        nest.binders.push((index, Ty::Int, range));
        self.block(&mut nest.body, Place { key, index: Atom::Var(index) });
    }

    /// The next source at a place: key, index and number.
    fn source(&mut self, place: Place) -> [Atom; 3] {
        let number = Atom::Int(self.numbers);
        self.numbers += 1;
        [place.key, place.index, number]
    }

    /// Binds the next key that is split off at a place.
    fn split(&mut self, lets: &mut Vec<Let>, place: Place, site: Site) -> Atom {
        let split = Op::Scalar(ScalarOp::Split, self.source(place).to_vec());
        self.bind(lets, Ty::Int, split, site)
    }

    fn bind(&mut self, lets: &mut Vec<Let>, ty: Ty, op: Op, site: Site) -> Atom {
        let var = self.builder.fresh(ty.clone());
        lets.push(Let { var, ty, op, site });
        Atom::Var(var)
    }

    fn draws_inside(&self, block: &Block) -> bool {
        let mut found = false;
        block.each_let(&mut |binding| {
            if let Op::Scalar(ScalarOp::Rand, _) = binding.op {
                found = true;
            } else if let Op::Call(FunId(callee), _) = binding.op {
                found |= self.draws[callee as usize];
            }
        });
        found
    }
}
