//! A backend of the kind that the functions are written for: vectors, masks, and a branch that is
//! taken when any lane needs it. Every lane must have the bits of the scalar.

use super::*;
use std::array::from_fn;
use std::cell::Cell;

const LANES: usize = 4;

/// Vectors of `f64`; counts instructions.
#[derive(Default)]
struct Lanes {
    instructions: Cell<usize>,
}

impl Lanes {
    fn map<A: Copy, B>(&self, a: [A; LANES], f: impl Fn(A) -> B) -> [B; LANES] {
        self.instructions.set(self.instructions.get() + 1);
        a.map(f)
    }

    fn zip<A: Copy, B: Copy, C>(
        &self,
        a: [A; LANES],
        b: [B; LANES],
        f: impl Fn(A, B) -> C,
    ) -> [C; LANES] {
        self.instructions.set(self.instructions.get() + 1);
        from_fn(|i| f(a[i], b[i]))
    }
}

impl Ops for Lanes {
    type F = [f64; LANES];
    type I = [u64; LANES];
    type B = [bool; LANES];

    fn format(&self) -> &'static Format {
        &Format::BINARY64
    }

    fn float(&self, x: f64) -> Self::F {
        [x; LANES]
    }

    fn add(&self, a: Self::F, b: Self::F) -> Self::F {
        self.zip(a, b, |a, b| a + b)
    }

    fn sub(&self, a: Self::F, b: Self::F) -> Self::F {
        self.zip(a, b, |a, b| a - b)
    }

    fn mul(&self, a: Self::F, b: Self::F) -> Self::F {
        self.zip(a, b, |a, b| a * b)
    }

    fn div(&self, a: Self::F, b: Self::F) -> Self::F {
        self.zip(a, b, |a, b| a / b)
    }

    fn fma(&self, a: Self::F, b: Self::F, c: Self::F) -> Self::F {
        self.instructions.set(self.instructions.get() + 1);
        from_fn(|i| a[i].mul_add(b[i], c[i]))
    }

    fn sqrt(&self, a: Self::F) -> Self::F {
        self.map(a, f64::sqrt)
    }

    fn neg(&self, a: Self::F) -> Self::F {
        self.map(a, |a| -a)
    }

    fn abs(&self, a: Self::F) -> Self::F {
        self.map(a, f64::abs)
    }

    fn lt(&self, a: Self::F, b: Self::F) -> Self::B {
        self.zip(a, b, |a, b| a < b)
    }

    fn select(&self, condition: Self::B, a: Self::F, b: Self::F) -> Self::F {
        self.instructions.set(self.instructions.get() + 1);
        from_fn(|i| if condition[i] { a[i] } else { b[i] })
    }

    fn bits(&self, a: Self::F) -> Self::I {
        a.map(f64::to_bits)
    }

    fn of_bits(&self, a: Self::I) -> Self::F {
        a.map(f64::from_bits)
    }

    fn int(&self, x: i64) -> Self::I {
        [x as u64; LANES]
    }

    fn iadd(&self, a: Self::I, b: Self::I) -> Self::I {
        self.zip(a, b, u64::wrapping_add)
    }

    fn iand(&self, a: Self::I, b: Self::I) -> Self::I {
        self.zip(a, b, |a, b| a & b)
    }

    fn ixor(&self, a: Self::I, b: Self::I) -> Self::I {
        self.zip(a, b, |a, b| a ^ b)
    }

    fn shl(&self, a: Self::I, count: u32) -> Self::I {
        self.map(a, |a| a << count)
    }

    fn shr(&self, a: Self::I, count: u32) -> Self::I {
        self.map(a, |a| a >> count)
    }

    fn test(&self, a: Self::I, mask: i64) -> Self::B {
        self.map(a, |a| a & mask as u64 != 0)
    }

    fn when<const N: usize>(
        &self,
        condition: Self::B,
        common: [Self::F; N],
        rare: impl FnOnce(&Self) -> [Self::F; N],
    ) -> [Self::F; N] {
        if condition.contains(&true) {
            let rare = rare(self);
            from_fn(|i| self.select(condition, rare[i], common[i]))
        } else {
            common
        }
    }

    fn reduce_huge(&self, a: Self::F) -> [Self::F; 3] {
        reduce_huge(self, a)
    }
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

#[test]
fn lanes_agree_with_scalars() {
    // A multiplicative walk through all bit patterns, so that common and rare lanes meet.
    let mut bits = 1u64;
    let mut next = || {
        bits = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
        let x = f64::from_bits(bits);
        if bits & 64 == 0 { x } else { x % 100.0 }
    };
    for _ in 0..2000 {
        let x: [f64; LANES] = from_fn(|_| next());
        for function in Function::ALL {
            let got = emit(function, &Lanes::default(), x);
            for (x, got) in x.into_iter().zip(got) {
                let scalar = evaluate64(function, x);
                assert!(same(got, scalar), "{function:?}({x:e}): {got:e} {scalar:e}");
            }
        }
    }
}

/// Not a law; but a change here is a change of speed everywhere.
#[test]
fn instructions() {
    let count = |function, x| {
        let lanes = Lanes::default();
        emit(function, &lanes, [x; LANES]);
        lanes.instructions.get()
    };
    let table = Function::ALL
        .map(|function| format!("{function:?} {} {}", count(function, 0.3), count(function, 1e300)))
        .join("\n");
    expect_test::expect![[r#"
        Exp 37 37
        Ln 48 48
        Sin 57 442
        Cos 57 442
        Tan 71 456
        Asin 41 41
        Acos 45 45
        Atan 59 59
        Sinh 72 72
        Cosh 58 58
        Tanh 68 68"#]]
    .assert_eq(&table);
}
