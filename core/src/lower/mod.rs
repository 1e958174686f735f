//! ir → kir.
//!
//! [`sequential()`] writes a program as code that one instance executes by itself: loops for nests,
//! calls for calls, sequences in the memory of the instance. It is what a kernel does at each
//! point when a nest is kept whole, what finishes a recursion whose pieces have become small, and
//! how programs of many small operations run.
//!
//! | module | what it does |
//! |---|---|
//! | `layout`, `data` | how values lie in kir: structures of arrays, views |
//! | `globals` | top-level variables as parameters |
//! | `scalar` | scalar operations, with their checks |
//! | `random`, `math` | random numbers, mathematical functions |
//! | `sequential` | everything else a point does by itself |
//! | [`mod@kernel`] | kernels of flat programs |
//! | `unsupported` | the reasons why something has no kir |

mod data;
mod globals;
pub mod kernel;
mod layout;
mod math;
mod random;
mod scalar;
mod sequential;
mod unsupported;

pub(crate) use globals::some_as_parameters;

pub use data::{Part, parts_of, value_of};
pub use globals::as_parameters as globals_as_parameters;
pub use layout::{columns, parts};
pub use sequential::sequential;
pub use unsupported::Unsupported;

use crate::ir::{GlobalId, Site};
use nesl_runtime::fault::{Fault, FaultCode};
use nesl_runtime::kir;
use smol_str::SmolStr;

/// A program as kir.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// One kernel, over a single point. Its parameters are the number of points (1); the key, if
    /// the program draws random numbers; the parts of the globals ([`parts`]); and an array for
    /// each scalar among the parts of the result, in whose first element it is stored. The arrays
    /// among them are its outputs, in order.
    pub module: kir::Module,
    /// The globals it takes.
    pub globals: Vec<GlobalId>,
    /// What each [`kir::Site`] is.
    pub fault_sites: Vec<FaultSite>,
}

/// Why and where a check fails.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FaultSite {
    /// Why.
    pub code: FaultCode,
    /// The message of a [`FaultCode::Message`].
    pub message: SmolStr,
    /// What the details say.
    pub detail: Detail,
    /// Where.
    pub site: Site,
    /// It stands in the library: the first detail is the [`kir::Site`] of the call that left the
    /// user's program.
    pub library: bool,
}

/// What the details of a failed check say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Detail {
    /// Nothing.
    None,
    /// An index and a length.
    Bounds,
    /// Two lengths.
    Lengths,
    /// An index that occurs twice.
    Twice,
    /// Start, end and stride of a range.
    Range,
    /// A length.
    Length,
    /// A count.
    Count,
    /// The sum of some counts, and a length.
    Sum,
    /// Start, end and length of what was to be cut.
    Cut,
    /// Digits after the point.
    Digits,
}

impl FaultSite {
    /// The fault, as the direct interpreter words it.
    pub fn fault(&self, detail: &[i64], text: Option<&[u8]>) -> Fault {
        let detail = if self.library { detail.get(1..).unwrap_or_default() } else { detail };
        if let Some(text) = text {
            return Fault::with(self.code, String::from_utf8_lossy(text).into_owned());
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
