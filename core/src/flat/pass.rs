//! Passes from flat programs to flat programs, as rows of a table.
//!
//! A pass is a function with a name. [`crate::pipeline`] runs the rows in order, verifies the
//! result of each, and shows it as a stage: a new pass is its file and a row.

use super::Program;
use crate::thresholds::Thresholds;
use nesl_runtime::violation::Violation;

/// A pass from flat programs to flat programs.
#[derive(Debug)]
pub struct Pass {
    /// The name of the pass, a verb.
    pub name: &'static str,
    /// The name of the stage after the pass, for `nesl ir --stage` and editors.
    pub stage: &'static str,
    /// The title of that stage in menus.
    pub title: &'static str,
    /// A description of the pass, without a full stop.
    pub about: &'static str,
    /// Transforms a program in place; each optional rewrite uses up a unit of fuel.
    pub run: fn(&mut Program, &mut Fuel, &Thresholds),
    /// Returns every violation of the invariants that hold after the pass.
    pub verify: fn(&Program) -> Result<(), Vec<Violation>>,
}

/// The number of optional rewrites that passes may still do. Bisecting over it finds the rewrite
/// that changes a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fuel(pub u32);

impl Fuel {
    /// Returns fuel for a number of rewrites; `None` for any number.
    pub fn new(rewrites: Option<u32>) -> Fuel {
        Fuel(rewrites.unwrap_or(u32::MAX))
    }
}
