//! Generates recursive and mutually recursive functions. The first parameter is fuel: it decreases
//! with every call, and when it has run out, no further call is made.

use super::generate::{Callable, Generator};
use super::tree::{Expr, Function, Pattern, Shape, Ty};
use super::updates::updates;

/// Generates one function, or one pair of functions, of a random kind of recursion.
pub fn functions(g: &mut Generator, out: &mut Vec<Function>) {
    match g.rng.below(12) {
        0 | 1 => divide_and_conquer(g, out),
        2 => tail(g, out),
        3 => body(g, out),
        4 => tree(g, out),
        5 => mutual(g, out),
        _ => updates(g, out),
    }
}

/// A function under construction: its name, the fuel parameter, and the other parameters.
pub(super) struct Recursive {
    name: String,
    pub params: Vec<(String, Ty)>,
    pub result: Ty,
}

impl Recursive {
    pub fn new(g: &mut Generator, params: &[Ty], result: Ty) -> Recursive {
        let mut all = vec![(g.fresh('n'), Ty::Int)];
        all.extend(params.iter().map(|ty| (g.fresh('v'), ty.clone())));
        Recursive { name: g.fresh('g'), params: all, result }
    }

    pub fn fuel(&self) -> Expr {
        self.param(0)
    }

    /// Refers to a parameter in a position that shrinking must not change.
    pub fn param(&self, at: usize) -> Expr {
        Expr::var(self.params[at].1.clone(), &self.params[at].0).fixed()
    }

    /// Makes a recursive call with the given fuel.
    pub fn again(&self, fuel: Expr, mut args: Vec<Expr>) -> Expr {
        args.insert(0, fuel);
        Expr::new(self.result.clone(), Shape::Call(self.name.clone()), args)
    }

    /// The fuel that a call from the function itself passes on.
    pub fn less(&self) -> Expr {
        Expr::op(Ty::Int, "$0 - 1", vec![self.fuel()]).fixed()
    }

    /// Makes the function: a conditional that returns a simple result when there is nothing more to
    /// do, and otherwise evaluates the body.
    pub fn finish(
        self,
        g: &mut Generator,
        stop: Expr,
        step: impl FnOnce(&mut Generator, &Recursive) -> Expr,
        out: &mut Vec<Function>,
    ) {
        // Other recursive functions must not be called here: they might call this function again
        // with more fuel.
        let others = g.callable.clone();
        g.callable.retain(|callable| !callable.recursive);
        let body = g.function_body(&self.params, |g| {
            let base = g.expr(&self.result, 3);
            let step = step(g, &self);
            Expr::choice(stop.fixed(), base, step).fixed()
        });
        g.callable = others;
        g.callable.push(Callable {
            name: self.name.clone(),
            params: self.params.iter().map(|(_, ty)| ty.clone()).collect(),
            result: self.result,
            recursive: true,
            risky: false,
        });
        out.push(Function { name: self.name, params: self.params, body });
    }
}

/// Chooses the result type of a recursive function.
fn result(g: &mut Generator) -> Ty {
    match g.rng.below(6) {
        0 | 1 => Ty::Int,
        2 | 3 => Ty::seq(Ty::Int),
        4 => Ty::seq(Ty::seq(Ty::Int)),
        _ => g.some_ty(1),
    }
}

/// Limits the length of a sequence to a few elements.
fn cut(sequence: Expr) -> Expr {
    let ty = sequence.ty.clone();
    Expr::op(ty, "(let q = $0 in take(q, min(#q, 6)))", vec![sequence]).fixed()
}

/// Generates a divide-and-conquer function in the manner of quicksort: recursive calls on the parts
/// of a sequence in an apply-to-each, and a combination of their results.
fn divide_and_conquer(g: &mut Generator, out: &mut Vec<Function>) {
    let element = [Ty::Int, Ty::Int, Ty::Float, Ty::seq(Ty::Int)][g.rng.below(4)].clone();
    let of = Ty::seq(element.clone());
    let result = if g.rng.percent(40) { of.clone() } else { result(g) };
    let own = Recursive::new(g, std::slice::from_ref(&of), result);
    let stop = Expr::op(Ty::Bool, "($0 <= 0 or #$1 < 2)", vec![own.fuel(), own.param(1)]);
    let step = |g: &mut Generator, own: &Recursive| {
        let splits: &[&str] = match element {
            Ty::Int | Ty::Float => &[
                "[{j in $0 | j < $0[#$0 / 2]}, {j in $0 | j > $0[#$0 / 2]}]",
                "(let q = $0[0] in [{j in $0 | j < q}, {j in $0 | j == q}, {j in $0 | j > q}])",
                "bottop($0)",
                "[drop($0, 1), take($0, #$0 / 2)]",
            ],
            _ => &["bottop($0)", "partition($0, [1, #$0 - 1])", "group_by($0, 1 + #$0 / 2)"],
        };
        let split = *g.rng.pick(splits);
        let split = Expr::op(Ty::seq(of.clone()), split, vec![own.param(1)]);
        let piece = g.fresh('v');
        let again = own.again(own.less(), vec![Expr::var(of.clone(), &piece)]);
        let patterns = vec![Pattern::Name(piece)];
        let parts = Ty::seq(own.result.clone());
        let each = Expr::new(parts.clone(), Shape::Each(patterns), vec![split.fixed(), again]);
        let name = g.fresh('v');
        let together = together(g, &own.result, &name, &parts);
        Expr::bind(&name, each, together)
    };
    own.finish(g, stop, step, out);
}

/// Combines the results of several calls, which are in a variable, into one result.
fn together(g: &mut Generator, result: &Ty, name: &str, parts: &Ty) -> Expr {
    let plain = match result {
        Ty::Int => Some("sum($0)"),
        Ty::Float => Some("max_val($0)"),
        Ty::Seq(_) => Some("flatten($0)"),
        _ => None,
    };
    match plain {
        Some(template) if g.rng.percent(40) => {
            Expr::op(result.clone(), template, vec![Expr::var(parts.clone(), name)])
        }
        _ => g.within(|g| g.declare(name, parts, 20), |g| g.expr(result, 6)),
    }
}

/// Generates a tail-recursive loop with two accumulators, whose calls are in tail position of a
/// conditional.
fn tail(g: &mut Generator, out: &mut Vec<Function>) {
    let (result, other) = (result(g), g.some_ty(2));
    let own = Recursive::new(g, &[result.clone(), other], result);
    let stop = Expr::op(Ty::Bool, "($0 <= 0)", vec![own.fuel()]);
    let step = |g: &mut Generator, own: &Recursive| {
        let mut calls = Vec::new();
        for _ in 0..1 + g.rng.below(2) {
            let args = own.params[1..].iter().map(|(_, ty)| {
                let arg = g.expr(ty, 4);
                if ty.element().is_some() { cut(arg) } else { arg }
            });
            let args = args.collect();
            calls.push(own.again(own.less(), args));
        }
        let last = calls.pop().expect("there is one");
        match calls.pop() {
            Some(first) => Expr::choice(g.expr(&Ty::Bool, 3), first, last),
            None => last,
        }
    };
    own.finish(g, stop, step, out);
}

/// Generates a function whose recursive call is not in tail position.
fn body(g: &mut Generator, out: &mut Vec<Function>) {
    let (result, other) = (result(g), g.some_ty(2));
    let own = Recursive::new(g, &[other], result);
    let stop = Expr::op(Ty::Bool, "($0 <= 0)", vec![own.fuel()]);
    let step = |g: &mut Generator, own: &Recursive| again_and_more(g, own, own);
    own.finish(g, stop, step, out);
}

/// Makes a call of `callee` from `own` and computes something from its result.
fn again_and_more(g: &mut Generator, own: &Recursive, callee: &Recursive) -> Expr {
    let args = callee.params[1..].iter().map(|(_, ty)| {
        let arg = g.expr(ty, 3);
        if ty.element().is_some() { cut(arg) } else { arg }
    });
    let again = callee.again(own.less(), args.collect());
    if g.rng.percent(25) && own.result == callee.result {
        return again;
    }
    let name = g.fresh('v');
    let declare = |g: &mut Generator| g.declare(&name, &callee.result, 20);
    let body = g.within(declare, |g| g.expr(&own.result, 5));
    Expr::bind(&name, again, body)
}

/// Generates a function with one recursive call for each element; the elements determine the depth.
fn tree(g: &mut Generator, out: &mut Vec<Function>) {
    let of = Ty::seq(Ty::Int);
    let result = result(g);
    let own = Recursive::new(g, std::slice::from_ref(&of), result);
    let stop = Expr::op(Ty::Bool, "($0 <= 0)", vec![own.fuel()]);
    let step = |g: &mut Generator, own: &Recursive| {
        let (element, name) = (g.fresh('v'), g.fresh('v'));
        let place = Expr::var(Ty::Int, &element).fixed();
        let fuel = Expr::op(Ty::Int, "mod($1, $0)", vec![own.fuel(), place]).fixed();
        let declare = |g: &mut Generator| g.declare(&element, &Ty::Int, 1);
        let arg = g.within(declare, |g| g.expr(&of, 2));
        let again = own.again(fuel, vec![cut(arg)]);
        let over = Expr::op(of.clone(), "take($0, min(#$0, 4))", vec![own.param(1)]).fixed();
        let parts = Ty::seq(own.result.clone());
        let patterns = vec![Pattern::Name(element.clone())];
        let each = Expr::new(parts.clone(), Shape::Each(patterns), vec![over, again]);
        let together = together(g, &own.result, &name, &parts);
        Expr::bind(&name, each, together)
    };
    own.finish(g, stop, step, out);
}

/// Generates two mutually recursive functions.
fn mutual(g: &mut Generator, out: &mut Vec<Function>) {
    let (result, other) = (result(g), g.some_ty(1));
    let first = Recursive::new(g, std::slice::from_ref(&other), result.clone());
    let second = Recursive::new(g, std::slice::from_ref(&other), result.clone());
    // The second function calls this one, whose construction consumes `first`.
    let callee = Recursive { name: first.name.clone(), params: first.params.clone(), result };
    let stop = Expr::op(Ty::Bool, "($0 <= 0)", vec![first.fuel()]);
    first.finish(g, stop, |g, own| again_and_more(g, own, &second), out);
    let stop = Expr::op(Ty::Bool, "($0 <= 0)", vec![second.fuel()]);
    second.finish(g, stop, |g, own| again_and_more(g, own, &callee), out);
}
