//! The names of operations in the text form, for the printer and the parser.
//!
//! Each table makes a match that the compiler checks for completeness, and the reverse look-up
//! from the same rows.

use crate::prim::{HostOp, ReduceOp, SeqOp};
use nesl_runtime::fault::FaultCode;
use nesl_runtime::scalar::ScalarOp;

/// Something with a name in the text form.
pub(crate) trait Mnemonic: Sized + Copy {
    /// Its name.
    fn mnemonic(self) -> &'static str;
    /// What a name means.
    fn from_mnemonic(name: &str) -> Option<Self>;
    /// All there are.
    #[cfg(test)]
    fn all() -> Vec<Self>;
}

macro_rules! mnemonics {
    ($ty:ident: $($variant:ident $(($inner:path))? = $name:literal,)+) => {
        impl Mnemonic for $ty {
            fn mnemonic(self) -> &'static str {
                match self {
                    $($ty::$variant $(($inner))? => $name,)+
                }
            }

            fn from_mnemonic(name: &str) -> Option<$ty> {
                match name {
                    $($name => Some($ty::$variant $(($inner))?),)+
                    _ => None,
                }
            }

            #[cfg(test)]
            fn all() -> Vec<$ty> {
                vec![$($ty::$variant $(($inner))?,)+]
            }
        }
    };
}

mnemonics! { ScalarOp:
    Add = "add", Sub = "sub", Mul = "mul", Div = "div", Rem = "rem", Mod = "mod",
    Neg = "neg", Abs = "abs", Max = "max", Min = "min",
    Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", Gt = "gt", Ge = "ge",
    Not = "not", And = "and", Or = "or", Xor = "xor", Shl = "shl", Shr = "shr",
    Sqrt = "sqrt", Ln = "ln", Exp = "exp", Sin = "sin", Cos = "cos", Tan = "tan",
    Asin = "asin", Acos = "acos", Atan = "atan", Sinh = "sinh", Cosh = "cosh", Tanh = "tanh",
    Floor = "floor", Ceil = "ceil", Trunc = "trunc", Round = "round",
    ToFloat = "to_float", BoolToInt = "bool_to_int", CharToInt = "char_to_int",
    IntToChar = "int_to_char", FloatBits = "float_bits",
    Mix = "mix", Rand = "rand", Split = "split_key",
}

mnemonics! { HostOp:
    PrintText = "print_text", WriteText = "write_text", Seed = "seed",
    OpenIn = "open_in", OpenOut = "open_out", OpenAppend = "open_append", Close = "close",
    ReadChar = "read_char", ReadLine = "read_line", ReadWord = "read_word",
    ReadText = "read_text", ReadFile = "read_file", WriteFile = "write_file",
    AppendFile = "append_file", ReadObject = "read_object", WriteObject = "write_object",
    ReadInts = "read_ints", ReadFloats = "read_floats", Shell = "shell", Spawn = "spawn",
    GetEnv = "get_env", Prompt = "prompt", ReadCsv = "read_csv", WriteCsv = "write_csv",
    ReadNpy = "read_npy", WriteNpy = "write_npy",
    ReadMatrixMarket = "read_matrix_market", WriteMatrixMarket = "write_matrix_market",
    MakeWindow = "make_window", Draw = "draw",
}

mnemonics! { FaultCode:
    DivideByZero = "divide_by_zero", RemByZero = "rem_by_zero", ModByZero = "mod_by_zero",
    IntegerOverflow = "integer_overflow", ShiftCount = "shift_count",
    FloatToInt = "float_to_int", CodeChar = "code_char", SqrtNegative = "sqrt_negative",
    LnNegative = "ln_negative", RandBound = "rand_bound", Index = "index",
    Replace = "replace", Gather = "gather", Scatter = "scatter", NestLength = "nest_length",
    ZipLength = "zip_length", Range = "range", NegativeLength = "negative_length",
    Partition = "partition", PackLength = "pack_length", Permute = "permute",
    Subseq = "subseq", ExpString = "exp_string", Message = "message", Host = "host",
    TooDeep = "too_deep", OutOfMemory = "out_of_memory", Interrupted = "interrupted",
}

mnemonics! { SeqOp:
    Length = "length", Index = "index", Range = "range", Dist = "dist",
    Gather = "gather", Scatter = "scatter", Replace = "replace", Permute = "permute",
    Pack = "pack", Append = "append", Flatten = "flatten", Partition = "partition",
    Subseq = "subseq", RankUp = "rank_up", RankDown = "rank_down", IntText = "int_text",
    Groups = "groups", HashText = "hash_text", SameText = "same_text",
    FloatText = "float_text", ExpText = "exp_text", ParseFloat = "parse_float",
    Reduce(ReduceOp::Sum) = "reduce_sum",
    Reduce(ReduceOp::Product) = "reduce_product",
    Reduce(ReduceOp::Max) = "reduce_max",
    Reduce(ReduceOp::Min) = "reduce_min",
    Reduce(ReduceOp::And) = "reduce_and",
    Reduce(ReduceOp::Or) = "reduce_or",
    Reduce(ReduceOp::Xor) = "reduce_xor",
    Histogram(ReduceOp::Sum) = "histogram_sum",
    Histogram(ReduceOp::Product) = "histogram_product",
    Histogram(ReduceOp::Max) = "histogram_max",
    Histogram(ReduceOp::Min) = "histogram_min",
    Histogram(ReduceOp::And) = "histogram_and",
    Histogram(ReduceOp::Or) = "histogram_or",
    Histogram(ReduceOp::Xor) = "histogram_xor",
    Scan(ReduceOp::Sum) = "scan_sum",
    Scan(ReduceOp::Product) = "scan_product",
    Scan(ReduceOp::Max) = "scan_max",
    Scan(ReduceOp::Min) = "scan_min",
    Scan(ReduceOp::And) = "scan_and",
    Scan(ReduceOp::Or) = "scan_or",
    Scan(ReduceOp::Xor) = "scan_xor",
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Debug;

    fn come_back<T: Mnemonic + PartialEq + Debug>() {
        for op in T::all() {
            assert_eq!(T::from_mnemonic(op.mnemonic()), Some(op));
        }
        assert_eq!(T::from_mnemonic("no such thing"), None);
    }

    #[test]
    fn names_come_back() {
        come_back::<ScalarOp>();
        come_back::<SeqOp>();
        come_back::<HostOp>();
        come_back::<FaultCode>();
    }

    /// Scalar operations and those on sequences are written alike.
    #[test]
    fn names_are_unambiguous() {
        for op in SeqOp::all() {
            assert_eq!(ScalarOp::from_mnemonic(op.mnemonic()), None);
        }
    }
}
