//! Faults: the failures of running programs.
//!
//! A [`Fault`] is the reason of a failure; whoever ran the operation adds the source location. The messages are
//! those of the original NESL where it makes the same check (the book's page on errors lists them).

use std::fmt;

/// The reason for a run-time failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultCode {
    /// `/` by zero.
    DivideByZero,
    /// `rem` by zero.
    RemByZero,
    /// `mod` by zero.
    ModByZero,
    /// `min_int / -1` and the like: the result is not an `int`.
    IntegerOverflow,
    /// A shift by a negative count or by at least the width of an `int`.
    ShiftCount,
    /// A float that is too large (or not a number) for the `int` asked for.
    FloatToInt,
    /// `code_char` of a number outside 0..255.
    CodeChar,
    /// `sqrt` of a negative number.
    SqrtNegative,
    /// `ln`, `log` or `expt` of a negative number.
    LnNegative,
    /// `rand` of a bound that is not positive.
    RandBound,
    /// `a[i]`, `elt` out of bounds.
    Index,
    /// `rep` out of bounds.
    Replace,
    /// `->` out of bounds.
    Gather,
    /// `<-` out of bounds.
    Scatter,
    /// The sequences of an apply-to-each differ in length.
    NestLength,
    /// `zip` of different lengths.
    ZipLength,
    /// `[s:e:d]` with `e < s` or `d < 1`.
    Range,
    /// `dist` or `index` with a negative length.
    NegativeLength,
    /// `partition` with counts that are negative or do not sum to the length.
    Partition,
    /// `pack` with different lengths.
    PackLength,
    /// `permute`: lengths differ, an index is out of range or occurs twice.
    Permute,
    /// `subseq` out of bounds.
    Subseq,
    /// `exp_string` with too many digits.
    ExpString,
    /// A check written in the library or `error(...)` in the program; the text says which.
    Message,
    /// Reading or writing failed; the text says what and where.
    Host,
    /// Recursion deeper than the stack the session allows.
    TooDeep,
    /// A result larger than the memory the session allows.
    OutOfMemory,
    /// A device, or its driver, failed; the text says what was being done.
    Device,
    /// The user interrupted the program.
    Interrupted,
}

/// A run-time failure: its reason and, for some reasons, details.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The reason for the fault.
    pub code: FaultCode,
    /// Particulars: the message of a check, the offending index and length, the file's complaint.
    pub detail: Option<String>,
}

impl FaultCode {
    /// The classic message for this reason, as the original words it where it had the check.
    pub fn message(self) -> &'static str {
        use FaultCode::*;
        match self {
            DivideByZero => "Divide by zero.",
            RemByZero => "Divide by zero in function REM.",
            ModByZero => "Divide by zero in function MOD.",
            IntegerOverflow => "Integer overflow: the quotient is not an int.",
            ShiftCount => "Shift count out of range.",
            FloatToInt => "Float out of the range of int.",
            CodeChar => "Character code out of range 0 to 255.",
            SqrtNegative => "Sqrt of negative number.",
            LnNegative => "Ln of negative number.",
            RandBound => "Rand only works with positive numbers.",
            Index => "Sequence reference (a[i]) out of bounds.",
            Replace => "Index out of bounds for function REP.",
            Gather => "Index out of bounds for function ->.",
            Scatter => "Index out of bounds for function <-.",
            NestLength => "Length mismatch in an apply-to-each.",
            ZipLength => "Length mismatch in function ZIP.",
            Range => "In [s:e:l], e must be >= to s, and l must be positive.",
            NegativeLength => "A length must not be negative.",
            Partition => "Length mismatch in function PARTITION.",
            PackLength => "Length mismatch in function PACK.",
            Permute => "Bad arguments to function PERMUTE.",
            Subseq => "Bounds error for function SUBSEQ.",
            ExpString => "In function exp_string, digits_after_point is too large.",
            Message => "Error.",
            Host => "Input or output failed.",
            TooDeep => "Recursion too deep.",
            OutOfMemory => "Out of memory.",
            Device => "The device failed.",
            Interrupted => "Interrupted.",
        }
    }
}

impl Fault {
    /// A fault with nothing to add to its reason.
    pub fn new(code: FaultCode) -> Fault {
        Fault { code, detail: None }
    }

    /// A fault with particulars.
    pub fn with(code: FaultCode, detail: impl Into<String>) -> Fault {
        Fault { code, detail: Some(detail.into()) }
    }

    /// A fault: there is no room for `wanted` bytes beside those in use; `None` if their number is not
    /// known.
    pub fn out_of_memory(wanted: Option<u64>, used: u64, limit: u64) -> Fault {
        let wanted = wanted.map_or(String::new(), |bytes| format!("{} wanted, ", Size(bytes)));
        let detail = format!("{wanted}{} in use; the limit is {}", Size(used), Size(limit));
        Fault::with(FaultCode::OutOfMemory, detail)
    }

    /// A fault: so many calls were within each other, if that is known; they took so many bytes, if
    /// that was the reason.
    pub fn too_deep(calls: Option<u64>, bytes: Option<u64>) -> Fault {
        let detail = match (calls, bytes) {
            (None, None) => return Fault::new(FaultCode::TooDeep),
            (Some(calls), None) => format!("{calls} calls"),
            (None, Some(bytes)) => format!("calls within each other take {}", Size(bytes)),
            (Some(calls), Some(bytes)) => format!("{calls} calls take {}", Size(bytes)),
        };
        Fault::with(FaultCode::TooDeep, detail)
    }
}

/// A number of bytes as people read it.
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 7] = ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"];
        // Rounded to a tenth, which may be one of the next unit.
        let (mut amount, mut unit) = (self.0 as f64, 0);
        while amount >= 999.95 && unit + 1 < UNITS.len() {
            (amount, unit) = (amount / 1000.0, unit + 1);
        }
        let decimals = usize::from(unit > 0);
        write!(out, "{amount:.decimals$} {}", UNITS[unit])
    }
}

impl From<FaultCode> for Fault {
    fn from(code: FaultCode) -> Fault {
        Fault::new(code)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.detail, self.code) {
            (Some(text), FaultCode::Message | FaultCode::Host) => write!(out, "{text}"),
            (Some(text), code) if **text != *code.message() => {
                write!(out, "{} ({text})", code.message().trim_end_matches('.'))
            }
            (_, code) => write!(out, "{}", code.message()),
        }
    }
}

impl std::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_not_there_is_told_in_sizes() {
        let fault = |wanted, used| Fault::out_of_memory(wanted, used, 12_000_000_000).to_string();
        assert_eq!(
            fault(Some(8_000_000_000_000), 999_960),
            "Out of memory (8.0 TB wanted, 1.0 MB in use; the limit is 12.0 GB)"
        );
        assert_eq!(fault(None, 999), "Out of memory (999 bytes in use; the limit is 12.0 GB)");
        assert!(fault(Some(u64::MAX), 0).contains("(18.4 EB wanted, 0 bytes in use;"));
    }
}
