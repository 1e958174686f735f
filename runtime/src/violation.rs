//! A broken invariant of an intermediate representation, as verifiers report it.
//!
//! Every verifier (of `ir`, of `flat`, of kir) returns `Result<(), Vec<Violation>>`: all the
//! invariants that a program breaks, each with the function or kernel and the instruction that
//! breaks it. A violation is a bug of the pass that made the program, never a mistake of a user.

use std::fmt;

/// One invariant that a program does not keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The function or kernel, such as ``function `f` ``; `None` for the program as a whole.
    pub within: Option<String>,
    /// The instruction or sink as text, if the invariant is about one.
    pub at: Option<String>,
    /// The difference between the program and the invariant.
    pub message: String,
}

impl Violation {
    /// A violation of the program as a whole.
    pub fn of_program(message: impl Into<String>) -> Violation {
        Violation { within: None, at: None, message: message.into() }
    }

    /// A violation in a function or kernel.
    pub fn within(within: impl Into<String>, message: impl Into<String>) -> Violation {
        Violation { within: Some(within.into()), at: None, message: message.into() }
    }

    /// The same violation, located at an instruction given as text.
    pub fn at(mut self, at: impl Into<String>) -> Violation {
        self.at = Some(at.into());
        self
    }
}

/// Returns the violations as text, a line for each.
pub fn list(violations: &[Violation]) -> String {
    let lines: Vec<String> = violations.iter().map(Violation::to_string).collect();
    lines.join("\n")
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(within) = &self.within {
            write!(out, "{within}: ")?;
        }
        if let Some(at) = &self.at {
            write!(out, "`{at}`: ")?;
        }
        out.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violation_names_its_place_from_the_outside_in() {
        let whole = Violation::of_program("two functions are called `f`");
        let inside = Violation::within("function `f`", "v1 is i64, not bool").at("check v1 @0");
        assert_eq!(
            list(&[whole, inside]),
            "two functions are called `f`\n\
             function `f`: `check v1 @0`: v1 is i64, not bool"
        );
    }
}
