//! Models of the functions in `scalars.nesl`.

use crate::choices::Choices;
use crate::law::{Laws, for_any};
use crate::value::Nesl;
use nesl_engine::Precision;
use nesl_runtime::scalar::{Scalar, ScalarOp, eval};

const LN: &str = "Ln of negative number.";

pub fn laws(laws: &mut Laws) {
    signs(laws);
    logic(laws);
    floats(laws);
    powers(laws);
    divisors(laws);
    for_any!(laws; select, hash);
}

fn signs(laws: &mut Laws) {
    laws.expression(
        &["space", "newline", "tab"],
        "n",
        "(char_code(space), char_code(newline), char_code(tab), n)",
        Choices::int,
        |n| Ok((32, 10, 9, n)),
    );
    laws.function("plusp", Choices::int, |n: i64| Ok(n > 0));
    laws.function("plusp", Choices::float, |x: f64| Ok(x > 0.0));
    laws.function("minusp", Choices::int, |n: i64| Ok(n < 0));
    laws.function("minusp", Choices::float, |x: f64| Ok(x < 0.0));
    laws.function("zerop", Choices::int, |n: i64| Ok(n == 0));
    laws.function("zerop", Choices::float, |x: f64| Ok(x == 0.0));
    laws.function("oddp", Choices::int, |n: i64| Ok(n % 2 != 0));
    laws.function("evenp", Choices::int, |n: i64| Ok(n % 2 == 0));
    let precision = laws.precision;
    laws.function("diff", <(i64, i64)>::random, move |(x, y)| {
        let difference = precision.wrap(x.wrapping_sub(y));
        Ok(precision.wrap(difference.wrapping_abs()))
    });
    laws.function("diff", <(f64, f64)>::random, move |(x, y)| Ok(precision.round((x - y).abs())));
}

fn logic(laws: &mut Laws) {
    laws.expression(&["nor"], "(x, y)", "x nor y", <(i64, i64)>::random, |(x, y)| Ok(!(x | y)));
    laws.expression(&["nor"], "(x, y)", "x nor y", <(bool, bool)>::random, |(x, y)| Ok(!(x || y)));
    laws.expression(&["nand"], "(x, y)", "x nand y", <(i64, i64)>::random, |(x, y)| Ok(!(x & y)));
    laws.expression(
        &["nand"],
        "(x, y)",
        "x nand y",
        <(bool, bool)>::random,
        |(x, y)| Ok(!(x && y)),
    );
}

/// Applies a primitive to one float; returns none where it fails.
fn primitive(op: ScalarOp, x: f64, precision: Precision) -> Option<f64> {
    match eval(op, &[Scalar::Float(x)], precision) {
        Ok(Scalar::Float(y)) => Some(y),
        _ => None,
    }
}

fn floats(laws: &mut Laws) {
    let precision = laws.precision;
    laws.function("reciprocal", Choices::float, move |x: f64| Ok(precision.round(1.0 / x)));
    laws.function("log", <(f64, f64)>::random, move |(v, b)| {
        let (v, b) = (primitive(ScalarOp::Ln, v, precision), primitive(ScalarOp::Ln, b, precision));
        Ok(precision.round(v.ok_or(LN)? / b.ok_or(LN)?))
    });
    laws.function("expt", <(f64, f64)>::random, move |(v, p)| {
        let ln = primitive(ScalarOp::Ln, v, precision).ok_or(LN)?;
        let power = if p == 0.0 { 0.0 } else { precision.round(p * ln) };
        primitive(ScalarOp::Exp, power, precision).ok_or("no such fault")
    });
}

fn powers(laws: &mut Laws) {
    const NEGATIVE: &str = "The power must be nonnegative for ^ .";
    let precision = laws.precision;
    let choose = |c: &mut Choices| (c.int(), c.int_from(-1, 70));
    laws.expression(&["^"], "(v, p)", "v ^ p", choose, move |(v, p)| {
        if p < 0 {
            return Err(NEGATIVE);
        }
        // With wrapping arithmetic the order of multiplication does not matter, so the model uses
        // the binary digits of the exponent.
        let digits = (0..63).rev().map(|digit| p >> digit & 1 == 1);
        let power = digits.fold(1i64, |power, one| {
            let square = power.wrapping_mul(power);
            if one { square.wrapping_mul(v) } else { square }
        });
        Ok(precision.wrap(power))
    });
    // The numbers have so few digits that every product is exact.
    let choose = |c: &mut Choices| {
        let base = c.pick(&[0.0, -0.0, 1.0, -1.0, 0.5, -1.5, 2.0, f64::INFINITY, f64::NAN]);
        (base, c.int_from(-1, 8).min(8))
    };
    laws.expression(&["^"], "(v, p)", "v ^ p", choose, |(v, p): (f64, i64)| {
        if p < 0 { Err(NEGATIVE) } else { Ok((0..p).fold(1.0, |power, _| power * v)) }
    });
    laws.function("isqrt", Choices::int, |n: i64| {
        if n < 0 {
            return Err("Sqrt of negative number.");
        }
        let n = i128::from(n);
        let (mut low, mut high) = (0i128, 1i128 << 32);
        while low + 1 < high {
            let middle = (low + high) / 2;
            *(if middle * middle <= n { &mut low } else { &mut high }) = middle;
        }
        Ok(low as i64)
    });
    let squares = move |c: &mut Choices| {
        let most = precision.max_int().isqrt();
        let root = match c.below(3) {
            0 => most,
            1 => most - c.below(1000) as i64,
            _ => (c.below(1 << 30) as i64) % most + 1,
        };
        (root, c.below(2) as i64)
    };
    laws.expression(&["isqrt"], "(n, one)", "isqrt(n * n - one)", squares, |(n, one)| Ok(n - one));
}

fn divisors(laws: &mut Laws) {
    let precision = laws.precision;
    let choose = |c: &mut Choices| match c.below(3) {
        0 => (c.int(), c.int()),
        _ => {
            let common = c.below(30) as i64;
            (common * c.below(40) as i64, common * (c.below(40) as i64 - 20))
        }
    };
    // The sign of the result is unspecified.
    laws.expression(&["gcd"], "(a, b)", "abs(gcd(a, b))", choose, move |(a, b)| {
        let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
        while a != 0 && b != 0 {
            *(if a > b { &mut a } else { &mut b }) = if a > b { a % b } else { b % a };
        }
        Ok(precision.wrap(((a | b) as i64).wrapping_abs()))
    });
}

fn select<T: Nesl>(laws: &mut Laws) {
    laws.function("select", <(bool, T, T)>::random, |(c, x, y)| Ok(if c { x } else { y }));
}

fn hash<T: Nesl>(laws: &mut Laws) {
    let choose = |c: &mut Choices| {
        let x = T::random(c);
        let y = if c.once_in(2) { x.clone() } else { T::random(c) };
        (x, y, c.int_from(-1, 50))
    };
    let body = "let h = hash(x, n) in (h >= 0 and h < n, not eql(x, y) or h == hash(y, n))";
    laws.expression(&["hash"], "(x, y, n)", body, choose, |(_, _, n)| {
        if n > 0 {
            Ok((true, true))
        } else {
            Err("The second argument for the function HASH must be positive.")
        }
    });
}
