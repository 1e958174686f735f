//! `cvt`: conversions between all integer and float types.
//!
//! A conversion yields 64 bits, sign-extended for signed destinations; the machine then cuts the
//! result to the width of the destination register, which may be wider than the type.

use super::lanes::{Scalar, Unary, unary, with_type};
use super::types::Type;

/// A rounding modifier of `cvt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// None is written.
    None,
    /// `.rn`: to the nearest value, ties to even.
    Nearest,
    /// `.rz`: toward zero.
    Zero,
    /// `.rm`: toward minus infinity.
    Down,
    /// `.rp`: toward plus infinity.
    Up,
    /// `.rni`: to the nearest integer, ties to even.
    NearestInteger,
    /// `.rzi`: to the integer toward zero.
    ZeroInteger,
    /// `.rmi`: to the integer below.
    DownInteger,
    /// `.rpi`: to the integer above.
    UpInteger,
}

impl Rounding {
    /// The modifiers with their names.
    pub const NAMES: [(&'static str, Rounding); 8] = [
        ("rn", Rounding::Nearest),
        ("rz", Rounding::Zero),
        ("rm", Rounding::Down),
        ("rp", Rounding::Up),
        ("rni", Rounding::NearestInteger),
        ("rzi", Rounding::ZeroInteger),
        ("rmi", Rounding::DownInteger),
        ("rpi", Rounding::UpInteger),
    ];

    /// Returns true for the modifiers that round to an integer.
    fn is_integral(self) -> bool {
        matches!(
            self,
            Rounding::NearestInteger
                | Rounding::ZeroInteger
                | Rounding::DownInteger
                | Rounding::UpInteger
        )
    }
}

/// Returns the conversion, or the reason why PTX has none such.
pub fn convert(
    to: Type,
    from: Type,
    rounding: Rounding,
    saturate: bool,
) -> Result<Unary, &'static str> {
    let found = match (to.is_float(), from.is_float()) {
        (false, false) if rounding != Rounding::None => {
            return Err("a conversion between integers takes no rounding");
        }
        (false, false) => integer_to_integer(to, from, saturate),
        (false, true) if !rounding.is_integral() => {
            return Err("a conversion to an integer needs .rni, .rzi, .rmi or .rpi");
        }
        // Such conversions saturate anyway.
        (false, true) => float_to_integer(to, from, rounding),
        (true, false) if rounding == Rounding::None || rounding.is_integral() => {
            return Err("a conversion from an integer to a float needs .rn, .rz, .rm or .rp");
        }
        (true, _) if saturate => return Err(".sat on a float is not supported"),
        (true, false) => integer_to_float(to, from, rounding),
        (true, true) => return float_to_float(to, from, rounding),
    };
    found.ok_or("no conversion between these types")
}

/// An integer type as a conversion sees it.
trait Integer: Scalar + TryFrom<i128> {
    /// The smallest value.
    const MIN_VALUE: i128;
    /// The greatest value.
    const MAX_VALUE: i128;
    /// Returns the value of a lane, extended to 64 bits.
    fn extend(lane: u64) -> u64;
    /// Returns the value of a lane.
    fn value(lane: u64) -> i128;
    /// Returns a float, already integral, in 64 bits; it saturates, and NaN is zero.
    fn from_float(value: f64) -> u64;
    /// Returns the nearest floats of a lane.
    fn nearest(lane: u64) -> (f32, f64);
}

macro_rules! integers {
    ($($int:ty),*) => {
        $(impl Integer for $int {
            const MIN_VALUE: i128 = <$int>::MIN as i128;
            const MAX_VALUE: i128 = <$int>::MAX as i128;
            fn extend(lane: u64) -> u64 {
                lane as $int as i64 as u64
            }
            fn value(lane: u64) -> i128 {
                i128::from(lane as $int)
            }
            fn from_float(value: f64) -> u64 {
                value as $int as i64 as u64
            }
            fn nearest(lane: u64) -> (f32, f64) {
                (lane as $int as f32, lane as $int as f64)
            }
        })*
    };
}
integers!(u8, i8, u16, i16, u32, i32, u64, i64);

/// Evaluates an expression for each integer type of 8 to 64 bits.
macro_rules! with_any_integer {
    ($ty:expr, $T:ident => $value:expr) => {
        with_type!($ty, $T in [
            U8 = u8, S8 = i8, U16 = u16, S16 = i16, U32 = u32, S32 = i32, U64 = u64, S64 = i64
        ] => $value)
    };
}

fn integer_to_integer(to: Type, from: Type, saturate: bool) -> Option<Unary> {
    fn plain<D: Integer, S: Integer>() -> Unary {
        unary!(|a| D::extend(S::extend(a)))
    }
    fn clamped<D: Integer, S: Integer>() -> Unary {
        unary!(|a| S::value(a).clamp(D::MIN_VALUE, D::MAX_VALUE) as u64)
    }
    with_any_integer!(to, D => with_any_integer!(from, S =>
        if saturate { clamped::<D, S>() } else { plain::<D, S>() }))
    .flatten()
}

fn float_to_integer(to: Type, from: Type, rounding: Rounding) -> Option<Unary> {
    fn from_f32<D: Integer>(rounding: Rounding) -> Unary {
        match rounding {
            Rounding::NearestInteger => {
                unary!(|a| D::from_float(f64::from(f32::of(a)).round_ties_even()))
            }
            Rounding::DownInteger => unary!(|a| D::from_float(f64::from(f32::of(a)).floor())),
            Rounding::UpInteger => unary!(|a| D::from_float(f64::from(f32::of(a)).ceil())),
            _ => unary!(|a| D::from_float(f64::from(f32::of(a)))),
        }
    }
    fn from_f64<D: Integer>(rounding: Rounding) -> Unary {
        match rounding {
            Rounding::NearestInteger => unary!(|a| D::from_float(f64::of(a).round_ties_even())),
            Rounding::DownInteger => unary!(|a| D::from_float(f64::of(a).floor())),
            Rounding::UpInteger => unary!(|a| D::from_float(f64::of(a).ceil())),
            _ => unary!(|a| D::from_float(f64::of(a))),
        }
    }
    with_any_integer!(to, D => match from {
        Type::F32 => from_f32::<D>(rounding),
        Type::F64 => from_f64::<D>(rounding),
        _ => return None,
    })
}

fn integer_to_float(to: Type, from: Type, rounding: Rounding) -> Option<Unary> {
    fn to_f32<S: Integer>(rounding: Rounding) -> Unary {
        match rounding {
            Rounding::Zero => {
                unary!(|a| directed_f32(S::value(a), S::nearest(a).0, S::value(a) < 0).lane())
            }
            Rounding::Down => unary!(|a| directed_f32(S::value(a), S::nearest(a).0, false).lane()),
            Rounding::Up => unary!(|a| directed_f32(S::value(a), S::nearest(a).0, true).lane()),
            _ => unary!(|a| S::nearest(a).0.lane()),
        }
    }
    fn to_f64<S: Integer>(rounding: Rounding) -> Unary {
        match rounding {
            Rounding::Zero => {
                unary!(|a| directed_f64(S::value(a), S::nearest(a).1, S::value(a) < 0).lane())
            }
            Rounding::Down => unary!(|a| directed_f64(S::value(a), S::nearest(a).1, false).lane()),
            Rounding::Up => unary!(|a| directed_f64(S::value(a), S::nearest(a).1, true).lane()),
            _ => unary!(|a| S::nearest(a).1.lane()),
        }
    }
    with_any_integer!(from, S => match to {
        Type::F32 => to_f32::<S>(rounding),
        _ => to_f64::<S>(rounding),
    })
}

/// Moves the nearest float of an integer to the neighbour above or below it, where it must.
fn directed_f32(exact: i128, nearest: f32, up: bool) -> f32 {
    match (up, (nearest as i128).cmp(&exact)) {
        (true, std::cmp::Ordering::Less) => nearest.next_up(),
        (false, std::cmp::Ordering::Greater) => nearest.next_down(),
        _ => nearest,
    }
}

/// The same for `f64`.
fn directed_f64(exact: i128, nearest: f64, up: bool) -> f64 {
    match (up, (nearest as i128).cmp(&exact)) {
        (true, std::cmp::Ordering::Less) => nearest.next_up(),
        (false, std::cmp::Ordering::Greater) => nearest.next_down(),
        _ => nearest,
    }
}

fn float_to_float(to: Type, from: Type, rounding: Rounding) -> Result<Unary, &'static str> {
    match (to, from) {
        (Type::F64, Type::F32) if rounding == Rounding::None => {
            Ok(unary!(|a| f64::from(f32::of(a)).lane()))
        }
        (Type::F64, Type::F32) => Err("a conversion from .f32 to .f64 takes no rounding"),
        (Type::F32, Type::F64) => match rounding {
            Rounding::Nearest => Ok(unary!(|a| (f64::of(a) as f32).lane())),
            Rounding::Zero => Ok(unary!(|a| narrow(f64::of(a), f64::of(a) < 0.0).lane())),
            Rounding::Down => Ok(unary!(|a| narrow(f64::of(a), false).lane())),
            Rounding::Up => Ok(unary!(|a| narrow(f64::of(a), true).lane())),
            _ => Err("a conversion from .f64 to .f32 needs .rn, .rz, .rm or .rp"),
        },
        _ => match rounding {
            Rounding::None => Ok(unary!(|a| a)),
            _ if !rounding.is_integral() => {
                Err("a conversion to the same float type takes .rni, .rzi, .rmi, .rpi or none")
            }
            _ => with_type!(to, T in [F32 = f32, F64 = f64] => match rounding {
                Rounding::NearestInteger => unary!(|a| T::of(a).round_ties_even().lane()),
                Rounding::DownInteger => unary!(|a| T::of(a).floor().lane()),
                Rounding::UpInteger => unary!(|a| T::of(a).ceil().lane()),
                _ => unary!(|a| T::of(a).trunc().lane()),
            })
            .ok_or("no conversion between these types"),
        },
    }
}

/// Rounds an `f64` to the `f32` above or below it.
fn narrow(value: f64, up: bool) -> f32 {
    let nearest = value as f32;
    if up && f64::from(nearest) < value {
        nearest.next_up()
    } else if !up && f64::from(nearest) > value {
        nearest.next_down()
    } else {
        nearest
    }
}
