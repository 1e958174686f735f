//! Random numbers made pure.
//!
//! Elaboration leaves `rand 0 bound`: a draw without a key. This pass gives every draw a key of
//! its own, so that the numbers depend on the seed and the place in the program alone, not on the
//! order of evaluation:
//!
//! ```text
//! fun g(n) { each i in s { v: int = rand 0 n; v } }
//!   ⇒ fun g(k, n) { keys = range 0 1 #s; each i in s; j in keys { k1 = split (split k 3) j; v = rand k1 n; v } }
//! ```
//!
//! A function that draws, itself or through what it calls, gets a first parameter, its key. Each
//! draw, call and nest in it uses the key split by a number of its own; each instance of a nest
//! splits that again by its index.

use super::{Atom, Block, FunId, Function, Let, Op, Program, Site, Ty, Var};
use crate::prim::SeqOp;
use nesl_runtime::scalar::ScalarOp;

/// Threads keys through the functions that draw random numbers.
pub fn thread_keys(program: &mut Program) {
    let drawing = drawing(program);
    for (function, draws) in program.functions.iter_mut().zip(&drawing) {
        if *draws {
            thread(function, &drawing);
        }
    }
}

/// Which functions draw, themselves or through what they call.
fn drawing(program: &Program) -> Vec<bool> {
    let mut drawing: Vec<bool> = program
        .functions
        .iter()
        .map(|function| {
            let mut found = false;
            function.body.for_each_op(&mut |op| found |= matches!(op, Op::Scalar(ScalarOp::Rand, _)));
            found
        })
        .collect();
    loop {
        let mut changed = false;
        for (i, function) in program.functions.iter().enumerate() {
            if !drawing[i] {
                let mut found = false;
                function.body.for_each_op(&mut |op| {
                    found |= matches!(op, Op::Call(callee, _) if drawing[callee.0 as usize]);
                });
                drawing[i] = found;
                changed |= found;
            }
        }
        if !changed {
            return drawing;
        }
    }
}

fn thread(function: &mut Function, drawing: &[bool]) {
    let mut threader = Threader { next: function.variables() as u32, places: 0, drawing };
    let key = threader.fresh();
    function.params.insert(0, (key, Ty::Int));
    threader.block(&mut function.body, Atom::Var(key));
}

struct Threader<'a> {
    next: u32,
    /// Draws, calls and nests met so far in the function.
    places: i64,
    drawing: &'a [bool],
}

impl Threader<'_> {
    fn fresh(&mut self) -> Var {
        self.next += 1;
        Var(self.next - 1)
    }

    fn draws(&self, callee: FunId) -> bool {
        self.drawing[callee.0 as usize]
    }

    fn block_draws(&self, block: &Block) -> bool {
        let mut found = false;
        block.for_each_op(&mut |op| match op {
            Op::Scalar(ScalarOp::Rand, _) => found = true,
            Op::Call(callee, _) => found |= self.draws(*callee),
            _ => {}
        });
        found
    }

    /// Emits the split of a key.
    fn split(&mut self, key: Atom, by: Atom, site: Site, out: &mut Vec<Let>) -> Atom {
        let var = self.fresh();
        let op = Op::Scalar(ScalarOp::Split, vec![key, by]);
        out.push(Let { var, ty: Ty::Int, op, site });
        Atom::Var(var)
    }

    /// A key for the next place of the function.
    fn own_key(&mut self, key: Atom, site: Site, out: &mut Vec<Let>) -> Atom {
        self.places += 1;
        self.split(key, Atom::Int(self.places), site, out)
    }

    fn block(&mut self, block: &mut Block, key: Atom) {
        let mut out = Vec::with_capacity(block.lets.len());
        for mut bound in std::mem::take(&mut block.lets) {
            let site = bound.site;
            match &mut bound.op {
                Op::Scalar(ScalarOp::Rand, args) => args[0] = self.own_key(key, site, &mut out),
                Op::Call(callee, args) if self.drawing[callee.0 as usize] => {
                    let own = self.own_key(key, site, &mut out);
                    args.insert(0, own);
                }
                Op::If { then, otherwise, .. } => {
                    self.block(then, key);
                    self.block(otherwise, key);
                }
                Op::Time(inner) => self.block(inner, key),
                Op::Nest(nest) if self.block_draws(&nest.body) => {
                    let own = self.own_key(key, site, &mut out);
                    let count = self.fresh();
                    let length = Op::Seq(SeqOp::Length, vec![nest.binders[0].2]);
                    out.push(Let { var: count, ty: Ty::Int, op: length, site });
                    let places = self.fresh();
                    let range = vec![Atom::Int(0), Atom::Int(1), Atom::Var(count)];
                    let ty = Ty::Sequence(Box::new(Ty::Int));
                    out.push(Let { var: places, ty, op: Op::Seq(SeqOp::Range, range), site });
                    let index = self.fresh();
                    nest.binders.push((index, Ty::Int, Atom::Var(places)));
                    let mut first = Vec::new();
                    let instance = self.split(own, Atom::Var(index), site, &mut first);
                    self.block(&mut nest.body, instance);
                    first.append(&mut nest.body.lets);
                    nest.body.lets = first;
                }
                _ => {}
            }
            out.push(bound);
        }
        block.lets = out;
    }
}
