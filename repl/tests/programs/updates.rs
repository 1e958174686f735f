//! Generates recursive functions that update arrays, as loops over tables do. Sequential code
//! overwrites an array that nobody reads any more: so the functions keep old arrays in use, pass one
//! array twice, exchange arrays, take parts of them, put them in pairs and into nests.

use super::generate::Generator;
use super::recursion::Recursive;
use super::tables;
use super::tree::{Expr, Function, Ty};

/// A kind of array that is updated: its type, the expressions that do it, an expression that makes `$0` longer, and one
/// that makes it short if it is long.
struct Arrays {
    ty: Ty,
    steps: &'static [&'static str],
    longer: &'static str,
    cut: &'static str,
}

/// Expressions that make an array of ints that is not empty out of two such arrays, `$0` and `$1`,
/// and two ints, `$2` and `$3`.
const STEPS: &[&str] = &[
    "rep($0, $2, mod($3, #$0))",
    "rep($0, $1[mod($2, #$1)], mod($3, #$0))",
    "rep(rep($0, $0[mod($2, #$0)], mod($3, #$0)), $0[mod($3, #$0)], mod($2, #$0))",
    "($0 <- [(mod($2, #$0), $3)])",
    "($0 <- {(mod(j + $2, #$0), j) : j in $1})",
    "($0 <- zip({mod(j, #$0) : j in $1}, $1))",
    "($0 <- [(mod($2, #$0), $1[0]), (mod($3, #$0), $0[0])])",
    "snoc($0, $2)",
    "($0 ++ [$2, $3])",
    "snoc(snoc($0, $2), $1[0])",
    "($0 ++ {j + $2 : j in take($1, min(5, #$1))})",
    "($0 ++ take($1, min(6, #$1)))",
    "($0 ++ take($0, min(2, #$0)))",
    "($0 ++ {$0[mod(j, #$0)] : j in take($1, min(4, #$1))})",
    "($0 ++ {j in take($1, min(6, #$1)) | j > $2})",
    "($0 ++ {j * 2 : j in take($1, min(3, #$1))} ++ [$3])",
    "(drop($0, min(1, #$0 - 1)) ++ [$0[0]])",
    "(let q = $0 ++ take($1, min(3, #$1)) in q ++ {j + sum($0) : j in [$2, $3]})",
    "(let q = $0 ++ index(3) in rep(q, sum({$0[mod(j, #$0)] : j in [$2, $3]}), 0))",
    "take($0, max(1, #$0 - 1))",
    "drop($0, min(1, #$0 - 1))",
    "reverse($0)",
    "{j + $2 : j in $0}",
    "{j in snoc($0, 3) | j > 2}",
    "(if $2 > $3 then $0 else $1)",
    "(if $2 > $3 then rep($0, $2, 0) else $0)",
    "(if $2 > $3 then rep($0, $2, 0) else rep($1, $3, 0))",
    "{sum(rep($0, j, mod(j, #$0))) : j in $1}",
    "{(let q = {j + k : k in $0} in rep(q, $2, 0)[mod($3, #q)]) : j in $1}",
    "{(let q = (if j > $2 then $0 else {j + k : k in $0}) in rep(q, j, 0)[0]) : j in $1}",
    "(let (q, p) = ($0, rep($1, $2, 0)) in rep(q, sum(p), mod($3, #q)))",
    "(let p = ($0, $1) in let (q, m) = p in rep(rep(q, sum(m), 0), 1, mod($2, #q)))",
    "(let q = {j * 2 : j in $0} in let p = rep($0, $2, mod($3, #$0)) in rep(p, sum(q), 0))",
    "(let q = rep($0, $2, 0) in rep(q, sum($0), mod($3, #q)))",
    "(let q = rep($0, $2, 0); k = (if $0[0] > $3 then 5 else 6) in rep(q, k, #q - 1))",
    "(let q = (if $2 > $3 then rep($0, $2, 0) else $0); k = sum({j + 1 : j in $0}) in snoc(q, k))",
    "(let q = rep($0, $2, 0) in rep(q, sum(take(q, 1)), #q - 1))",
    "(let q = take($0, 1 + #$0 / 2) in rep($0, sum(snoc(q, $2)), 0))",
    "flatten({rep($0, j, 0) : j in take($1, 1)})",
    "flatten(rep([$0, $1], snoc($1, $2), mod($3, 2)))",
    "rep([$0, $1], $0, 1)[mod($2, 2)]",
];

/// Generates a function with two arrays and an int that updates the arrays and calls itself, in tail
/// position or not.
pub fn updates(g: &mut Generator, out: &mut Vec<Function>) {
    let flat = Ty::seq(Ty::Int);
    let arrays = match g.rng.percent(50) {
        true => Arrays {
            ty: flat,
            steps: STEPS,
            longer: "snoc($0, 1)",
            cut: "(if #$0 > 40 then take($0, 7) else $0)",
        },
        false => Arrays {
            ty: Ty::seq(flat),
            steps: tables::STEPS,
            longer: "snoc($0, [1, 2])",
            cut: "(if sum({#j + 3 : j in $0}) > 150 then {take(j, min(3, #j)) : j in take($0, min(4, #$0))} else $0)",
        },
    };
    let array = arrays.ty.clone();
    let both = Ty::pair(array.clone(), array.clone());
    let result = [array.clone(), array.clone(), Ty::Int, both][g.rng.below(4)].clone();
    let own = Recursive::new(g, &[array.clone(), array.clone(), Ty::Int], result);
    let stop = Expr::op(
        Ty::Bool,
        "($0 <= 0 or #$1 == 0 or #$2 == 0)",
        vec![own.fuel(), own.param(1), own.param(2)],
    );
    own.finish(g, stop, |g, own| step(g, own, &arrays), out);
}

/// Makes the body: arrays made of the earlier ones, one after the other, and then a call or two.
fn step(g: &mut Generator, own: &Recursive, of: &Arrays) -> Expr {
    let mut arrays = vec![own.param(1), own.param(2)];
    let mut made = Vec::new();
    for _ in 0..1 + g.rng.below(4) {
        let name = g.fresh('v');
        let value = update(g, own, of, &arrays);
        // The newest are taken more often: most updates are of what was just updated.
        arrays.push(Expr::var(value.ty.clone(), &name).fixed());
        made.push((name, value));
    }
    let last = again(g, own, of, &arrays);
    let last = if g.rng.percent(30) {
        let cond = Expr::op(Ty::Bool, "($0 > $1)", vec![int(g, own), int(g, own)]);
        let other = again(g, own, of, &arrays);
        Expr::choice(cond, last, other)
    } else if own.result == of.ty && g.rng.percent(30) {
        let name = g.fresh('v');
        arrays.push(
            Expr::op(of.ty.clone(), of.longer, vec![Expr::var(of.ty.clone(), &name)]).fixed(),
        );
        let more = update(g, own, of, &arrays);
        Expr::bind(&name, last, more)
    } else {
        last
    };
    let bind = |body, (name, value): (String, Expr)| Expr::bind(&name, value, body).fixed();
    made.into_iter().rev().fold(last, bind)
}

fn update(g: &mut Generator, own: &Recursive, of: &Arrays, arrays: &[Expr]) -> Expr {
    let template = *g.rng.pick(of.steps);
    let args = vec![one_of(g, arrays), one_of(g, arrays), int(g, own), int(g, own)];
    Expr::op(of.ty.clone(), template, args).fixed()
}

fn one_of(g: &mut Generator, arrays: &[Expr]) -> Expr {
    let newest = arrays.len() - 1;
    let at = if g.rng.percent(50) { newest } else { g.rng.below(arrays.len()) };
    arrays[at].clone()
}

fn int(g: &mut Generator, own: &Recursive) -> Expr {
    let small = own.param(3);
    match g.rng.below(3) {
        0 => small,
        1 => Expr::op(Ty::Int, "mod($0 + $1, 7)", vec![small, own.fuel()]),
        _ => Expr::op(Ty::Int, "mod(#$0 + $1, 5)", vec![own.param(1), small]),
    }
}

/// Makes a call with some of the arrays, none of which is long.
fn again(g: &mut Generator, own: &Recursive, of: &Arrays, arrays: &[Expr]) -> Expr {
    let cut = |array| Expr::op(of.ty.clone(), of.cut, vec![array]).fixed();
    let args = vec![cut(one_of(g, arrays)), cut(one_of(g, arrays)), int(g, own)];
    own.again(own.less(), args)
}
