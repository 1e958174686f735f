//! The functions evaluated on this machine.

use super::{Format, Function, Ops, emit};

/// The function at 64 bits.
pub fn evaluate64(function: Function, x: f64) -> f64 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the processor has the instructions.
        return unsafe { fused64(function, x) };
    }
    emit(function, &Native64, x)
}

/// The function at 32 bits.
pub fn evaluate32(function: Function, x: f32) -> f32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the processor has the instructions.
        return unsafe { fused32(function, x) };
    }
    emit(function, &Native32, x)
}

// Without the instruction a fused multiplication is a call of a library: right, and slow.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx,fma")]
fn fused64(function: Function, x: f64) -> f64 {
    emit(function, &Native64, x)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx,fma")]
fn fused32(function: Function, x: f32) -> f32 {
    emit(function, &Native32, x)
}

/// The functions on `f64`.
struct Native64;

/// The functions on `f32`.
struct Native32;

macro_rules! native {
    ($name:ident, $format:ident, $float:ty, $int:ty, $unsigned:ty) => {
        impl Ops for $name {
            type F = $float;
            type I = $int;
            type B = bool;

            #[inline(always)]
            fn format(&self) -> &'static Format {
                &Format::$format
            }

            #[inline(always)]
            fn float(&self, x: f64) -> $float {
                x as $float
            }

            #[inline(always)]
            fn add(&self, a: $float, b: $float) -> $float {
                a + b
            }

            #[inline(always)]
            fn sub(&self, a: $float, b: $float) -> $float {
                a - b
            }

            #[inline(always)]
            fn mul(&self, a: $float, b: $float) -> $float {
                a * b
            }

            #[inline(always)]
            fn div(&self, a: $float, b: $float) -> $float {
                a / b
            }

            #[inline(always)]
            fn fma(&self, a: $float, b: $float, c: $float) -> $float {
                a.mul_add(b, c)
            }

            #[inline(always)]
            fn sqrt(&self, a: $float) -> $float {
                a.sqrt()
            }

            #[inline(always)]
            fn neg(&self, a: $float) -> $float {
                -a
            }

            #[inline(always)]
            fn abs(&self, a: $float) -> $float {
                a.abs()
            }

            #[inline(always)]
            fn lt(&self, a: $float, b: $float) -> bool {
                a < b
            }

            #[inline(always)]
            fn select(&self, condition: bool, a: $float, b: $float) -> $float {
                if condition { a } else { b }
            }

            #[inline(always)]
            fn bits(&self, a: $float) -> $int {
                a.to_bits() as $int
            }

            #[inline(always)]
            fn of_bits(&self, a: $int) -> $float {
                <$float>::from_bits(a as $unsigned)
            }

            #[inline(always)]
            fn int(&self, x: i64) -> $int {
                x as $int
            }

            #[inline(always)]
            fn iadd(&self, a: $int, b: $int) -> $int {
                a.wrapping_add(b)
            }

            #[inline(always)]
            fn iand(&self, a: $int, b: $int) -> $int {
                a & b
            }

            #[inline(always)]
            fn ixor(&self, a: $int, b: $int) -> $int {
                a ^ b
            }

            #[inline(always)]
            fn shl(&self, a: $int, count: u32) -> $int {
                a << count
            }

            #[inline(always)]
            fn shr(&self, a: $int, count: u32) -> $int {
                (a as $unsigned >> count) as $int
            }

            #[inline(always)]
            fn test(&self, a: $int, mask: i64) -> bool {
                a & (mask as $int) != 0
            }

            #[inline(always)]
            fn when<const N: usize>(
                &self,
                condition: bool,
                common: [$float; N],
                rare: impl FnOnce(&Self) -> [$float; N],
            ) -> [$float; N] {
                if condition { rare(self) } else { common }
            }

            #[inline(always)]
            fn reduce_huge(&self, a: $float) -> [$float; 3] {
                super::reduce_huge(self, a)
            }
        }
    };
}

native!(Native64, BINARY64, f64, i64, u64);
native!(Native32, BINARY32, f32, i32, u32);
