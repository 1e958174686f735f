//! Tiles of a product, computed in registers: a sum of outer products of the places of two panels.
//!
//! A tile has as many rows and vectors as there are registers for, and is made for the widest vectors that
//! the processor has. All of them do the same operations on each element, in the same order.

/// The most elements of a tile.
pub(super) const MAX_ELEMENTS: usize = 8 * 48;

/// A tile of a product.
#[derive(Clone, Copy)]
pub(super) struct Tile<T> {
    /// The number of rows of the result.
    pub(super) height: usize,
    /// The number of columns of the result.
    pub(super) width: usize,
    /// Computes a tile: from as many places of both panels as the first operand says; to the address of its
    /// first element, with the distance from row to row; added to what is there if the last operand is
    /// true. The panels have so many places, and the elements of the tile are not otherwise accessed.
    pub(super) run: unsafe fn(usize, *const T, *const T, *mut T, usize, bool),
}

/// A type of floats.
pub trait Float: Copy + Send + Sync + Sealed + 'static {
    /// The zero with a positive sign.
    const ZERO: Self;
    /// Returns the sum.
    fn plus(self, other: Self) -> Self;
    /// Returns `self * factor + sum`, rounded once where the processor can.
    fn times_plus(self, factor: Self, sum: Self) -> Self;
}

/// The tiles of a type of floats, in a trait that only this module implements.
pub trait Sealed: Sized {
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "nobody else calls it")]
    fn tile() -> Tile<Self>;
    #[doc(hidden)]
    #[cfg(test)]
    #[expect(private_interfaces, reason = "nobody else calls it")]
    fn tiles() -> Vec<Tile<Self>>;
}

/// True if the target multiplies and adds in one instruction, or has no hope of finding one out: then the
/// portable tile rounds once.
const FUSED: bool = cfg!(any(not(target_arch = "x86_64"), target_feature = "fma"));

macro_rules! float {
    ($float:ident, $width:literal, [$($wide:ident needs $($feature:tt)&+),*]) => {
        impl Float for $float {
            const ZERO: $float = 0.0;

            #[inline(always)]
            fn plus(self, other: $float) -> $float {
                self + other
            }

            #[inline(always)]
            fn times_plus(self, factor: $float, sum: $float) -> $float {
                if FUSED { self.mul_add(factor, sum) } else { self * factor + sum }
            }
        }

        impl Sealed for $float {
            #[expect(private_interfaces, reason = "nobody else calls it")]
            fn tile() -> Tile<$float> {
                $(
                    #[cfg(target_arch = "x86_64")]
                    if $(is_x86_feature_detected!($feature))&&+ {
                        return x86::$wide();
                    }
                )*
                portable::<$float, $width>()
            }

            #[cfg(test)]
            #[expect(private_interfaces, reason = "nobody else calls it")]
            fn tiles() -> Vec<Tile<$float>> {
                let mut tiles = vec![portable::<$float, $width>()];
                $(
                    #[cfg(target_arch = "x86_64")]
                    if $(is_x86_feature_detected!($feature))&&+ {
                        tiles.push(x86::$wide());
                    }
                )*
                tiles
            }
        }
    };
}

float! { f64, 8, [wide_f64 needs "avx512f", f64x4 needs "avx" & "fma"] }
float! { f32, 16, [wide_f32 needs "avx512f", f32x8 needs "avx" & "fma"] }

/// The rows of a portable tile.
const PORTABLE_HEIGHT: usize = 4;

/// Returns the tile for processors of which nothing is known: the compiler makes vectors of it.
fn portable<T: Float, const WIDTH: usize>() -> Tile<T> {
    /// # Safety
    /// As [`Tile::run`] says.
    unsafe fn run<T: Float, const WIDTH: usize>(
        places: usize,
        left: *const T,
        right: *const T,
        out: *mut T,
        stride: usize,
        more: bool,
    ) {
        let mut sums = [[T::ZERO; WIDTH]; PORTABLE_HEIGHT];
        // SAFETY: the panels have so many places, and the elements of the tile are this call's.
        unsafe {
            for place in 0..places {
                let row = &*right.add(place * WIDTH).cast::<[T; WIDTH]>();
                for (at, sums) in sums.iter_mut().enumerate() {
                    let factor = *left.add(place * PORTABLE_HEIGHT + at);
                    for (sum, element) in sums.iter_mut().zip(row) {
                        *sum = element.times_plus(factor, *sum);
                    }
                }
            }
            for (at, sums) in sums.iter().enumerate() {
                let out = out.add(at * stride);
                for (column, sum) in sums.iter().enumerate() {
                    let to = out.add(column);
                    to.write(if more { to.read().plus(*sum) } else { *sum });
                }
            }
        }
    }
    Tile { height: PORTABLE_HEIGHT, width: WIDTH, run: run::<T, WIDTH> }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Tile;
    use std::arch::x86_64::*;

    /// Defines a tile of `$height` rows and `$vectors` vectors of `$lanes` elements.
    macro_rules! tile {
        (
            $name:ident, $features:literal, $float:ty, $vector:ty, $height:literal x $vectors:literal of
            $lanes:literal, $zero:ident, $load:ident, $store:ident, $all:ident, $times_plus:ident, $plus:ident
        ) => {
            /// Returns the tile; only for processors that have the features.
            pub(super) fn $name() -> Tile<$float> {
                /// # Safety
                /// As [`Tile::run`] says, on a processor that has the features.
                #[target_feature(enable = $features)]
                #[allow(clippy::needless_range_loop, reason = "numbers of registers")]
                unsafe fn run(
                    places: usize,
                    left: *const $float,
                    right: *const $float,
                    out: *mut $float,
                    stride: usize,
                    more: bool,
                ) {
                    // SAFETY: the panels have so many places, and the elements of the tile are this
                    // call's.
                    unsafe {
                        let mut sums = [[$zero(); $vectors]; $height];
                        let (mut left, mut right) = (left, right);
                        for _ in 0..places {
                            let mut row = [$zero(); $vectors];
                            for at in 0..$vectors {
                                row[at] = $load(right.add(at * $lanes));
                            }
                            for at in 0..$height {
                                let factor = $all(*left.add(at));
                                for vector in 0..$vectors {
                                    sums[at][vector] =
                                        $times_plus(row[vector], factor, sums[at][vector]);
                                }
                            }
                            left = left.add($height);
                            right = right.add($vectors * $lanes);
                        }
                        for at in 0..$height {
                            for vector in 0..$vectors {
                                let to = out.add(at * stride + vector * $lanes);
                                let sum = sums[at][vector];
                                $store(to, if more { $plus($load(to), sum) } else { sum });
                            }
                        }
                    }
                }
                Tile { height: $height, width: $vectors * $lanes, run }
            }
        };
    }

    tile! {
        wide_f64, "avx512f", f64, __m512d, 8 x 3 of 8, _mm512_setzero_pd, _mm512_loadu_pd,
        _mm512_storeu_pd, _mm512_set1_pd, _mm512_fmadd_pd, _mm512_add_pd
    }
    tile! {
        wide_f32, "avx512f", f32, __m512, 8 x 3 of 16, _mm512_setzero_ps, _mm512_loadu_ps,
        _mm512_storeu_ps, _mm512_set1_ps, _mm512_fmadd_ps, _mm512_add_ps
    }
    tile! {
        f64x4, "avx,fma", f64, __m256d, 4 x 3 of 4, _mm256_setzero_pd, _mm256_loadu_pd,
        _mm256_storeu_pd, _mm256_set1_pd, _mm256_fmadd_pd, _mm256_add_pd
    }
    tile! {
        f32x8, "avx,fma", f32, __m256, 4 x 3 of 8, _mm256_setzero_ps, _mm256_loadu_ps,
        _mm256_storeu_ps, _mm256_set1_ps, _mm256_fmadd_ps, _mm256_add_ps
    }
}
