//! Gives each draw of a random number a key of its own.
//!
//! Elaboration writes a draw with a dummy key, `rand(0, bound)`. This pass gives every draw a key
//! of its own, so that the generator needs no state and iterations may run in any order:
//!
//! ```text
//! v1: int = rand(0, 100)                 v7: int = split_key(k, 0)
//!                                        v1: int = rand(v7, 100)
//!
//! v2: int = call "f"(x)                  v8: int = split_key(k, 1)
//!                                        v2: int = call "f"(v8, x)
//!
//! v3: [int] = each v4: int in xs {       v9: int = split_key(k, 2)
//!   …draws…                              va: int = length(xs)
//! }                                      vb: [int] = range(0, 1, va)
//!                                        v3: [int] = each v4: int in xs, vc: int in vb {
//!                                          vd: int = split_key(v9, vc)
//!                                          …draws with vd…
//!                                        }
//! ```
//!
//! where `k` is a new first parameter of every function that draws, directly or through its calls;
//! `main` gets the key of the execution. The second operand of `split_key` numbers the draws, calls
//! and nests of a function, or the iterations of a nest, so that no two of them have the same key.
//! A call gets a key that is split off the caller's, so no two calls have the same key either.

use super::{Atom, Block, FunId, Function, FunctionBuilder, Let, Nest, Op, Program, Site, Ty};
use crate::base::with_stack;
use crate::prim::SeqOp;
use nesl_runtime::scalar::ScalarOp;

/// Gives every draw of a program a key of its own. Must be run exactly once.
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
    let mut rewriter = Rewriter { draws, builder: FunctionBuilder::extending(function), splits: 0 };
    let key = rewriter.builder.fresh(Ty::Int);
    function.params.insert(0, (key, Ty::Int));
    // The cost formula names parameters by their numbers, which are now one greater.
    for term in function.charge.iter_mut().flat_map(|c| &mut c.work) {
        if let Some(parameter) = term.parameter_mut() {
            *parameter += 1;
        }
    }
    rewriter.block(&mut function.body, Atom::Var(key));
}

struct Rewriter<'a> {
    draws: &'a [bool],
    /// Makes fresh variables.
    builder: FunctionBuilder,
    /// The number of keys split off so far.
    splits: i64,
}

impl Rewriter<'_> {
    /// Gives each draw, call and nest of a block that needs one a key split off `key`.
    fn block(&mut self, block: &mut Block, key: Atom) {
        with_stack(|| {
            for mut binding in std::mem::take(&mut block.lets) {
                let site = binding.site;
                let lets = &mut block.lets;
                match &mut binding.op {
                    Op::Scalar(ScalarOp::Rand, args) => args[0] = self.next_key(lets, key, site),
                    Op::Call(FunId(callee), args) if self.draws[*callee as usize] => {
                        args.insert(0, self.next_key(lets, key, site));
                    }
                    Op::Nest(nest) if self.draws_inside(&nest.body) => {
                        self.nest(nest, lets, key, site);
                    }
                    Op::Nest(_) => {}
                    op => op.blocks_mut().for_each(|inner| self.block(inner, key)),
                }
                block.lets.push(binding);
            }
        });
    }

    /// Gives every iteration of a nest a key of its own.
    fn nest(&mut self, nest: &mut Nest, lets: &mut Vec<Let>, key: Atom, site: Site) {
        let key = self.next_key(lets, key, site);
        let (.., sequence) = nest.binders[0];
        let length = self.bind(lets, Ty::Int, Op::Seq(SeqOp::Length, vec![sequence]), site);
        let range = Op::Seq(SeqOp::Range, vec![Atom::Int(0), Atom::Int(1), length]);
        let range = self.bind(lets, Ty::sequence(Ty::Int), range, site);
        let index = self.builder.fresh(Ty::Int);
        nest.binders.push((index, Ty::Int, range));
        let mut split = Vec::new();
        let key = self.split(&mut split, key, Atom::Var(index), site);
        self.block(&mut nest.body, key);
        nest.body.lets.splice(0..0, split);
    }

    /// Binds the next key that is split off `key`.
    fn next_key(&mut self, lets: &mut Vec<Let>, key: Atom, site: Site) -> Atom {
        let number = Atom::Int(self.splits);
        self.splits += 1;
        self.split(lets, key, number, site)
    }

    fn split(&mut self, lets: &mut Vec<Let>, key: Atom, child: Atom, site: Site) -> Atom {
        let split = Op::Scalar(ScalarOp::Split, vec![key, child]);
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
