//! The names of operations in the text form, for the printer and the parser.
//!
//! The name of an operation is declared in its row ([`crate::prim`]), the name of a fault here.

use crate::prim::{HostOp, ScalarProperties, SeqOp};
use nesl_runtime::fault::FaultCode;
use nesl_runtime::scalar::ScalarOp;

/// An operation or a fault with a name in the text form.
pub(crate) trait Mnemonic: Sized + Copy {
    /// Returns the name of the operation or fault in the text form.
    fn mnemonic(self) -> &'static str;
    /// Returns the operation or fault of this name.
    fn from_mnemonic(name: &str) -> Option<Self>;
    /// Returns every operation or fault.
    #[cfg(test)]
    fn all() -> Vec<Self>;
}

impl Mnemonic for ScalarOp {
    fn mnemonic(self) -> &'static str {
        self.row().mnemonic
    }

    fn from_mnemonic(name: &str) -> Option<ScalarOp> {
        <ScalarOp as ScalarProperties>::all().find(|op| op.row().mnemonic == name)
    }

    #[cfg(test)]
    fn all() -> Vec<ScalarOp> {
        <ScalarOp as ScalarProperties>::all().collect()
    }
}

impl Mnemonic for SeqOp {
    fn mnemonic(self) -> &'static str {
        SeqOp::mnemonic(self)
    }

    fn from_mnemonic(name: &str) -> Option<SeqOp> {
        SeqOp::all().find(|op| SeqOp::mnemonic(*op) == name)
    }

    #[cfg(test)]
    fn all() -> Vec<SeqOp> {
        SeqOp::all().collect()
    }
}

impl Mnemonic for HostOp {
    fn mnemonic(self) -> &'static str {
        self.row().mnemonic
    }

    fn from_mnemonic(name: &str) -> Option<HostOp> {
        HostOp::ALL.iter().copied().find(|op| op.row().mnemonic == name)
    }

    #[cfg(test)]
    fn all() -> Vec<HostOp> {
        HostOp::ALL.to_vec()
    }
}

macro_rules! fault_names {
    ($($variant:ident = $name:literal,)+) => {
        impl Mnemonic for FaultCode {
            fn mnemonic(self) -> &'static str {
                match self {
                    $(FaultCode::$variant => $name,)+
                }
            }

            fn from_mnemonic(name: &str) -> Option<FaultCode> {
                match name {
                    $($name => Some(FaultCode::$variant),)+
                    _ => None,
                }
            }

            #[cfg(test)]
            fn all() -> Vec<FaultCode> {
                vec![$(FaultCode::$variant,)+]
            }
        }
    };
}

fault_names! {
    DivideByZero = "divide_by_zero", RemByZero = "rem_by_zero", ModByZero = "mod_by_zero",
    IntegerOverflow = "integer_overflow", ShiftCount = "shift_count",
    FloatToInt = "float_to_int", CodeChar = "code_char", SqrtNegative = "sqrt_negative",
    LnNegative = "ln_negative", RandBound = "rand_bound", Index = "index",
    Replace = "replace", Gather = "gather", Scatter = "scatter", NestLength = "nest_length",
    ZipLength = "zip_length", Range = "range", NegativeLength = "negative_length",
    Partition = "partition", PackLength = "pack_length", Permute = "permute",
    Subseq = "subseq", ExpString = "exp_string", Message = "message", Host = "host",
    TooDeep = "too_deep", OutOfMemory = "out_of_memory", Device = "device",
    Interrupted = "interrupted",
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

    /// The parser tells scalar and sequence operations apart by their names alone.
    #[test]
    fn names_are_unambiguous() {
        for op in SeqOp::all() {
            assert_eq!(ScalarOp::from_mnemonic(SeqOp::mnemonic(op)), None);
        }
    }
}
