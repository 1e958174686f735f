//! The names of types and operations in the text form, for the printer and the parser.
//!
//! Each table makes a match that the compiler checks for completeness, the reverse look-up from
//! the same rows, and the list of all there are.

use super::{Binary, Combine, Ty, Unary};

macro_rules! mnemonics {
    ($ty:ident: $($variant:ident = $name:literal,)+) => {
        impl $ty {
            /// All there are.
            pub const ALL: &[$ty] = &[$($ty::$variant,)+];

            /// Its name in the text form.
            pub fn mnemonic(self) -> &'static str {
                match self {
                    $($ty::$variant => $name,)+
                }
            }

            /// The variant of a name in the text form.
            pub fn from_mnemonic(name: &str) -> Option<$ty> {
                match name {
                    $($name => Some($ty::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

mnemonics! { Ty:
    I32 = "i32", I64 = "i64", F32 = "f32", F64 = "f64", Bool = "bool", U8 = "u8",
}

mnemonics! { Unary:
    Neg = "neg", Abs = "abs", Not = "not", Sqrt = "sqrt",
    Floor = "floor", Ceil = "ceil", Trunc = "trunc", Nearest = "nearest",
}

mnemonics! { Binary:
    Add = "add", Sub = "sub", Mul = "mul", MulHigh = "mul_high", Div = "div", Rem = "rem", Min = "min", Max = "max",
    And = "and", Or = "or", Xor = "xor", Shl = "shl", Shr = "shr", ShrZero = "shr_zero",
    Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", Gt = "gt", Ge = "ge",
}

mnemonics! { Combine:
    Add = "add", Mul = "mul", Min = "min", Max = "max", And = "and", Or = "or", Xor = "xor",
}
