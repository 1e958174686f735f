//! Every function against true values; the narrow ones against the wide ones; vectors against
//! scalars.

use super::*;

mod lanes;
mod narrow;
mod wide;

/// The largest error allowed of a function, in units in the last place.
const BOUND: f64 = 0.8;

/// The special cases of C, annex F, at both widths.
#[test]
fn special_values() {
    use Function::*;
    const INF: f64 = f64::INFINITY;
    let pi = std::f64::consts::PI;
    let cases = [
        (Exp, [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0)].as_slice()),
        (Ln, &[(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (INF, INF), (-1.0, f64::NAN)]),
        (Ln, &[(-INF, f64::NAN), (-5e-324, f64::NAN)]),
        (Sin, &[(0.0, 0.0), (-0.0, -0.0), (INF, f64::NAN), (-INF, f64::NAN)]),
        (Cos, &[(0.0, 1.0), (-0.0, 1.0), (INF, f64::NAN), (-INF, f64::NAN)]),
        (Tan, &[(0.0, 0.0), (-0.0, -0.0), (INF, f64::NAN), (-INF, f64::NAN)]),
        (Asin, &[(0.0, 0.0), (-0.0, -0.0), (1.0, pi / 2.0), (-1.0, -pi / 2.0)]),
        (Asin, &[(1.5, f64::NAN), (-INF, f64::NAN)]),
        (Acos, &[(1.0, 0.0), (0.0, pi / 2.0), (-1.0, pi), (1.5, f64::NAN), (-INF, f64::NAN)]),
        (Atan, &[(0.0, 0.0), (-0.0, -0.0), (INF, pi / 2.0), (-INF, -pi / 2.0), (1.0, pi / 4.0)]),
        (Sinh, &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF)]),
        (Cosh, &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF)]),
        (Tanh, &[(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0)]),
    ];
    let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    for (function, points) in cases {
        for &(x, y) in points {
            let got = evaluate64(function, x);
            assert!(same(got, y), "{function:?}({x}) = {got}, not {y}");
            // A negative number, however small, stays one.
            let narrow = if x < 0.0 { (x as f32).min(-1e-45) } else { x as f32 };
            let got = f64::from(evaluate32(function, narrow));
            assert!(same(got, (y as f32).into()), "{function:?}({narrow}) = {got}, not {y}");
        }
    }
    for function in Function::ALL {
        assert!(evaluate64(function, f64::NAN).is_nan());
        assert!(evaluate32(function, f32::NAN).is_nan());
    }
}

/// The borders of overflow and underflow: correctly rounded values on both sides.
#[test]
fn thresholds() {
    use Function::*;
    let wide = |function, x: f64| evaluate64(function, x);
    assert!(wide(Exp, 709.782712893384) < f64::INFINITY);
    assert_eq!(wide(Exp, 709.782712893384f64.next_up()), f64::INFINITY);
    assert_eq!(wide(Exp, -745.1332191019411), 5e-324);
    assert_eq!(wide(Exp, (-745.1332191019411f64).next_down()), 0.0);
    for function in [Sinh, Cosh] {
        assert!(wide(function, 710.4758600739439) < f64::INFINITY);
        assert_eq!(wide(function, 710.4758600739439f64.next_up()), f64::INFINITY);
    }
    let narrow = |function, x: f32| evaluate32(function, x);
    assert!(narrow(Exp, 88.72283) < f32::INFINITY);
    assert_eq!(narrow(Exp, 88.72283f32.next_up()), f32::INFINITY);
    assert_eq!(narrow(Exp, -103.97207), 1e-45);
    assert_eq!(narrow(Exp, (-103.97208f32).next_down()), 0.0);
}
