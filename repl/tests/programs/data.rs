//! Generates constants, and the top-level data that random programs compute with.

use super::generate::Generator;
use super::tree::{Expr, Shape, Ty};

const WORDS: [&str; 8] = [
    "\"\"",
    "\"a\"",
    "\"nested data\"",
    "\"12\"",
    "\"-7\"",
    "\"1.5e2\"",
    "\"two\nlines \"",
    "\"abcab\"",
];

const INTS: [&str; 12] =
    ["0", "1", "2", "3", "4", "5", "-1", "-3", "17", "1000003", "max_int", "min_int"];

const FLOATS: [&str; 12] = [
    "0.0",
    "1.0",
    "0.5",
    "-2.5",
    "0.1",
    "3.0",
    "1.0e10",
    "-1.0e-10",
    "1.0e30",
    "infinity",
    "-infinity",
    "nan",
];

/// Generates a small constant of a type.
pub fn literal(g: &mut Generator, ty: &Ty) -> Expr {
    let text = match ty {
        // The minimum of two draws prefers the constants at the front, which are small.
        Ty::Int => INTS[g.rng.below(INTS.len()).min(g.rng.below(INTS.len()))],
        Ty::Float => FLOATS[g.rng.below(FLOATS.len()).min(g.rng.below(FLOATS.len()))],
        Ty::Near => ["0.5", "3.0"][g.rng.below(2)],
        Ty::Bool => ["f", "t"][g.rng.below(2)],
        Ty::Char => ["`a", "`z", "` ", "`1"][g.rng.below(4)],
        Ty::Duo => {
            let both = vec![literal(g, &Ty::Int), literal(g, &Ty::seq(Ty::Int))];
            return Expr::op(Ty::Duo, "duo($0, $1)", both);
        }
        Ty::Pair(first, second) => {
            let both = vec![literal(g, first), literal(g, second)];
            return Expr::op(ty.clone(), "($0, $1)", both);
        }
        Ty::Seq(element) if **element == Ty::Char => WORDS[g.rng.below(WORDS.len())],
        Ty::Seq(element) => {
            let length = [0, 0, 1, 2, 3, 5][g.rng.below(6)];
            if length == 0 {
                return Expr::simplest(ty);
            }
            let all = (0..length).map(|_| literal(g, element)).collect();
            return Expr::new(ty.clone(), Shape::List, all);
        }
    };
    let text = match text.strip_prefix('-') {
        Some(_) => format!("({text})"),
        None => text.to_owned(),
    };
    Expr::literal(ty.clone(), text)
}

/// Generates a top-level value, which is usually nested.
pub fn value(g: &mut Generator) -> Expr {
    let levels = [1, 1, 2, 2, 2, 3][g.rng.below(6)];
    let mut ty = match g.rng.below(8) {
        0..=2 => Ty::Int,
        3 | 4 => Ty::Float,
        5 => Ty::pair(Ty::Int, Ty::Float),
        6 => Ty::pair(Ty::Int, Ty::seq(Ty::Int)),
        _ => [Ty::Char, Ty::Bool, Ty::Duo][g.rng.below(3)].clone(),
    };
    for _ in 1..levels {
        ty = Ty::seq(ty);
    }
    let length = [0, 1, 2, 3, 3, 4, 5][g.rng.below(7)];
    let all: Vec<Expr> = (0..length).map(|_| literal(g, &ty)).collect();
    let ty = Ty::seq(ty);
    if all.is_empty() { Expr::simplest(&ty) } else { Expr::new(ty, Shape::List, all) }
}

/// Generates a sequence that is long enough for an operation to divide it among threads.
pub fn wide(g: &mut Generator) -> Expr {
    let length = [64, 100, 257][g.rng.below(3)];
    let length = Expr::literal(Ty::Int, length.to_string());
    let (ty, template) = match g.rng.below(4) {
        0 => (Ty::Int, "{mod(j * 37, 101) - 50 : j in [0:$0]}"),
        1 => (Ty::Float, "{float(mod(j * 31, 64)) / 4.0 : j in [0:$0]}"),
        2 => (Ty::seq(Ty::Int), "{{mod(j * k, 7) : k in [0:mod(j * 5, 4)]} : j in [0:$0]}"),
        _ => (Ty::pair(Ty::Int, Ty::Bool), "{(mod(j, 9), oddp(j / 3)) : j in [0:$0]}"),
    };
    Expr::op(Ty::seq(ty), template, vec![length])
}

/// Chooses the side of a square.
pub fn side(g: &mut Generator) -> Expr {
    let length = [1, 3, 5, 8][g.rng.below(4)];
    Expr::literal(Ty::Int, length.to_string())
}

/// Generates a square: a sequence of as many rows as a variable says, each of that length.
pub fn square(g: &mut Generator, side: &str) -> Expr {
    let (ty, template) = match g.rng.below(2) {
        0 => (Ty::Int, "{{mod(j * 31 + k * 17, 23) - 9 : k in [0:$0]} : j in [0:$0]}"),
        _ => (Ty::Near, "{{float(mod(j * 31 + k * 17, 23)) / 4.0 : k in [0:$0]} : j in [0:$0]}"),
    };
    Expr::op(Ty::seq(Ty::seq(ty)), template, vec![Expr::var(Ty::Int, side).fixed()]).fixed()
}
