//! Translates the failing checks of generated code to faults of the user's program.
//!
//! A check in kir carries a number, its [`kir::Site`](nesl_runtime::kir::Site), and a few integers.
//! The table of [`FaultSite`]s beside the module turns both into the fault that the direct
//! interpreter would report, with the same code, message and source location.

use crate::base::readable;
use crate::ir::Site;
use nesl_runtime::fault::{Fault, FaultCode};
use smol_str::SmolStr;

/// The code, the message and the source location of a failing check.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FaultSite {
    /// The kind of fault.
    pub code: FaultCode,
    /// The message of a [`FaultCode::Message`]; empty for other codes.
    pub message: SmolStr,
    /// The meaning of the check's integers.
    pub detail: Detail,
    /// The source location blamed for the fault.
    pub site: Site,
    /// True in library code: the check's first integer is the number of the fault site of the call
    /// that left the user's program.
    pub library: bool,
}

/// The meaning of the integers that a failing check reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Detail {
    /// The check reports no integers.
    None,
    /// An index and a length.
    Bounds,
    /// The lengths of two sequences, which differ.
    Lengths,
    /// An index that occurs twice.
    Twice,
    /// The start, the end and the stride of a range.
    Range,
    /// The length of a sequence.
    Length,
    /// The number of copies of an element.
    Count,
    /// The sum of some counts, and a length.
    Sum,
    /// The start and the end of a subsequence, and the length of the sequence.
    Cut,
    /// The number of digits after the decimal point.
    Digits,
}

impl FaultSite {
    /// Returns the fault in the words of the direct interpreter; `text` is the message of `error`.
    pub fn fault(&self, detail: &[i64], text: Option<&[u8]>) -> Fault {
        let detail = if self.library { detail.get(1..).unwrap_or_default() } else { detail };
        if let Some(text) = text {
            return Fault::with(self.code, readable(text));
        }
        let words = match (self.detail, detail) {
            (Detail::Bounds, [index, length]) => format!("index {index}, length {length}"),
            (Detail::Lengths, [first, second]) => format!("lengths {first} and {second}"),
            (Detail::Twice, [index]) => format!("index {index} occurs twice"),
            (Detail::Range, [start, end, stride]) => format!("[{start}:{end}:{stride}]"),
            (Detail::Length, [length]) => format!("length {length}"),
            (Detail::Count, [count]) => format!("a count of {count}"),
            (Detail::Sum, [sum, length]) => format!("counts sum to {sum}, length {length}"),
            (Detail::Cut, [start, end, length]) => {
                format!("from {start} to {end}, length {length}")
            }
            (Detail::Digits, [digits]) => format!("{digits} digits"),
            _ if self.message.is_empty() => return Fault::new(self.code),
            _ => self.message.to_string(),
        };
        Fault::with(self.code, words)
    }
}
