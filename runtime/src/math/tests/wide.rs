//! 64 bits against true values from `runtime/math/reference.py`.

use super::*;

/// The points of each function.
struct Points<'a>(&'a [u8]);

impl Points<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (first, rest) = self.0.split_first_chunk().expect("whole records");
        self.0 = rest;
        *first
    }

    /// x, f(x), and what rounding f(x) has cut off, in its units in the last place.
    fn point(&mut self) -> (f64, f64, f64) {
        let x = f64::from_le_bytes(self.take());
        let y = f64::from_le_bytes(self.take());
        let [rest] = self.take();
        (x, y, f64::from(rest as i8) / 256.0)
    }
}

/// The distance of neighbouring floats at `y`.
fn ulp(y: f64) -> f64 {
    match (y.to_bits() >> 52) & 0x7ff {
        0 => f64::from_bits(1),
        small @ 1..=52 => f64::from_bits(1 << (small - 1)),
        exponent => f64::from_bits((exponent - 52) << 52),
    }
}

fn measure(table: &[u8]) {
    let mut points = Points(table);
    for function in Function::ALL {
        let mut worst = (0.0, 0.0);
        let count = u32::from_le_bytes(points.take());
        for _ in 0..count {
            let (x, y, rest) = points.point();
            let got = evaluate64(function, x);
            let error = if got == y { rest.abs() } else { ((got - y) / ulp(y) - rest).abs() };
            // An infinity is no nearer to a number than NaN.
            assert!(error.is_finite(), "{function:?}({x:e}) = {got:e}, not {y:e}");
            if error > worst.0 {
                worst = (error, x);
            }
        }
        println!("{function:?}: {:.3} ulp at {:e}, of {count}", worst.0, worst.1);
        assert!(worst.0 < BOUND, "{function:?} at {:e}: {} ulp", worst.1, worst.0);
    }
    assert!(points.0.is_empty());
}

#[test]
fn true_values() {
    measure(include_bytes!("../../../math/reference.bin"));
}

/// More of them: `NESL_MATH_REFERENCE=file`, a file that the script has written.
#[test]
#[ignore = "wants a file"]
fn true_values_from_a_file() {
    let path = std::env::var("NESL_MATH_REFERENCE").expect("NESL_MATH_REFERENCE names a file");
    measure(&std::fs::read(path).expect("the file can be read"));
}
