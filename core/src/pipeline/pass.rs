//! The type of a pass, and the unit of compilation that passes transform.

use super::Options;
use crate::flat::{self, Fuel};
use crate::ir::{self, FunId, GlobalId, Site};
use crate::lower::{FaultSite, Lifted, Literal};
use crate::simplify;
use crate::thresholds::Thresholds;
use nesl_runtime::kir;
use nesl_runtime::scalar::Precision;
use nesl_runtime::violation::{self, Violation};
use std::borrow::Cow;

/// A pass of the compiler: a row of [`super::PASSES`].
#[derive(Debug)]
pub struct Pass {
    /// The name, a verb.
    pub name: &'static str,
    /// The name of its result, for `nesl ir --stage` and editors.
    pub stage: &'static str,
    /// The title of its result in menus.
    pub title: &'static str,
    /// A description, without a full stop: `turns nesting into index spaces`.
    pub about: &'static str,
    /// The function that transforms the program.
    pub run: Run,
    /// The verifier of its result.
    pub verify: Verify,
    /// True if the result is verified in release builds, too.
    pub always_verified: bool,
    /// True if editors show the result in their previews, because it helps people who write
    /// programs. The other stages are for developers of the compiler.
    pub in_preview: bool,
}

/// A text, and pairs of a byte offset in it and the source location of the line there, in order.
pub type LocatedText = (String, Vec<(usize, Site)>);

/// The function of a pass, by the types of its input and output.
#[derive(Clone, Copy, Debug)]
pub enum Run {
    /// A query of [`crate::db`]: text → tokens, tree, ast, types.
    Query(Query),
    /// ast, names and types → ir. The row has no function, because [`mod@crate::elaborate`] takes
    /// the definitions that names refer to from its caller.
    Elaborate,
    /// ir → ir.
    Ir(fn(Cow<'_, ir::Program>) -> ir::Program),
    /// ir → ir whose long literals are globals, and their values; `None` if it has no long literal.
    Lift(fn(&ir::Program, Precision, &Thresholds) -> Option<Lifted>),
    /// ir → ir: the first rows of [`simplify::PASSES`], of this number. The rows are interleaved, so
    /// that a row stands for all rows before it, too, and the pipeline runs only the last.
    Simplify(usize),
    /// ir → ir without globals, and the globals that became parameters of its main function.
    Close(fn(&ir::Program) -> (ir::Program, Vec<GlobalId>)),
    /// ir without globals → flat.
    Flatten(fn(&ir::Program) -> flat::Program),
    /// flat → flat.
    Flat(fn(&mut flat::Program, &mut Fuel, &Thresholds)),
    /// Simplified ir → the ir that sequential code is generated for. This row and the next are run
    /// when sequential code is needed ([`super::sequential`]).
    Unroll(fn(&ir::Program, &Thresholds) -> (ir::Program, Vec<GlobalId>)),
    /// The ir for sequential code, with a plan beside it that lowering obeys, as text.
    Plan(fn(&ir::Program) -> LocatedText),
    /// Fused flat → the kir of all kernels that may be launched, to be shown. While a program runs,
    /// each kernel is lowered when its variant is known ([`super::kernel()`]).
    Lower(fn(&Unit<'_>, &Options) -> Vec<ListedKernel>),
    /// kir → the text of a back end's code: rows of [`super::Stages::with_backend`].
    Emit(fn(&kir::Module) -> String),
}

/// The verifier of the result of a pass, by the representation that it reads. It returns every
/// violation of the invariants that hold after the pass.
#[derive(Clone, Copy, Debug)]
pub enum Verify {
    /// No verification: the result is a text, or is verified elsewhere.
    Nothing,
    /// The core program.
    Ir(fn(&ir::Program) -> Result<(), Vec<Violation>>),
    /// The core program without globals.
    Closed(fn(&ir::Program) -> Result<(), Vec<Violation>>),
    /// The core program for sequential code.
    Sequential(fn(&ir::Program) -> Result<(), Vec<Violation>>),
    /// The flat program.
    Flat(fn(&flat::Program) -> Result<(), Vec<Violation>>),
}

impl Verify {
    fn apply(self, unit: &Unit<'_>) -> Result<(), Vec<Violation>> {
        match self {
            Verify::Nothing => Ok(()),
            Verify::Ir(verify) => verify(&unit.ir),
            Verify::Closed(verify) => unit.closed.as_ref().map_or(Ok(()), verify),
            Verify::Sequential(verify) => unit.sequential.as_ref().map_or(Ok(()), verify),
            Verify::Flat(verify) => unit.flat.as_ref().map_or(Ok(()), verify),
        }
    }
}

/// A result of the front end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    /// The tokens of a text.
    Tokens,
    /// The lossless syntax tree.
    Tree,
    /// The abstract syntax.
    Ast,
    /// The types of patterns and expressions.
    Types,
}

/// A program in compilation, in the representations that later passes need.
#[derive(Clone, Debug)]
pub struct Unit<'a> {
    /// The core program: simplified, once that pass has run.
    pub ir: Cow<'a, ir::Program>,
    /// The core program whose globals are parameters of its main function: present from closing to
    /// flattening.
    pub closed: Option<ir::Program>,
    /// The values of the long literals, which are the last globals of the program.
    pub literals: Vec<Literal>,
    /// The globals that became parameters, in the order of the parameters.
    pub globals: Vec<GlobalId>,
    /// The flat program, present after flattening.
    pub flat: Option<flat::Program>,
    /// The core program that sequential code is generated for, present after the flat passes.
    pub sequential: Option<ir::Program>,
    options: Options,
    fuel: Fuel,
}

impl<'a> Unit<'a> {
    /// Returns a unit for which no pass has run.
    pub fn new(program: Cow<'a, ir::Program>, options: &Options) -> Unit<'a> {
        let fuel = Fuel::new(options.fuel);
        Unit {
            ir: program,
            closed: None,
            literals: Vec::new(),
            globals: Vec::new(),
            flat: None,
            sequential: None,
            options: *options,
            fuel,
        }
    }
}

impl From<&flat::Pass> for Pass {
    fn from(pass: &flat::Pass) -> Pass {
        Pass {
            name: pass.name,
            stage: pass.stage,
            title: pass.title,
            about: pass.about,
            run: Run::Flat(pass.run),
            verify: Verify::Flat(pass.verify),
            always_verified: false,
            in_preview: false,
        }
    }
}

impl Pass {
    /// Returns the row of the simplifier's pass with an index in [`simplify::PASSES`].
    pub fn of_simplifier(
        index: usize,
        verify: fn(&ir::Program) -> Result<(), Vec<Violation>>,
    ) -> Pass {
        let pass = &simplify::PASSES[index];
        Pass {
            name: pass.name,
            stage: pass.stage,
            title: pass.title,
            about: pass.about,
            run: Run::Simplify(index + 1),
            verify: Verify::Ir(verify),
            always_verified: false,
            in_preview: index + 1 == simplify::PASSES.len(),
        }
    }

    /// Returns true if the pass does what the pass before it does, too, which need not be run.
    pub fn includes(&self, before: &Pass) -> bool {
        matches!((self.run, before.run), (Run::Simplify(_), Run::Simplify(_)))
    }

    /// Runs the pass and verifies its result: in debug builds always, in release builds if its row
    /// says so. Passes of the front end, lowering and back ends are skipped: [`super::dump()`] runs
    /// them for those who ask for their results.
    pub fn apply(&self, unit: &mut Unit<'_>) {
        let limits = &unit.options.limits;
        match self.run {
            Run::Query(_) | Run::Elaborate | Run::Lower(_) | Run::Emit(_) => return,
            // The program stays: lowering makes the plan of each function when it generates its code.
            Run::Plan(_) => {}
            Run::Ir(pass) => {
                let empty =
                    ir::Program { functions: Vec::new(), globals: Vec::new(), main: FunId(0) };
                let program = std::mem::replace(&mut unit.ir, Cow::Owned(empty));
                unit.ir = Cow::Owned(pass(program));
            }
            Run::Lift(pass) => {
                if let Some((program, literals)) = pass(&unit.ir, unit.options.precision, limits) {
                    (unit.ir, unit.literals) = (Cow::Owned(program), literals);
                }
            }
            Run::Simplify(count) => {
                unit.ir = Cow::Owned(simplify::up_to(&unit.ir, count, limits));
            }
            Run::Close(pass) => {
                let (program, globals) = pass(&unit.ir);
                (unit.closed, unit.globals) = (Some(program), globals);
            }
            Run::Flatten(pass) => unit.flat = unit.closed.take().as_ref().map(pass),
            Run::Flat(pass) => {
                if let Some(program) = &mut unit.flat {
                    pass(program, &mut unit.fuel, limits);
                }
            }
            Run::Unroll(pass) => unit.sequential = Some(pass(&unit.ir, limits).0),
        }
        if cfg!(debug_assertions) || self.always_verified {
            self.check(self.verify.apply(unit));
        }
    }

    /// Reports violations, if there are any, as a bug of the pass.
    pub fn check(&self, verified: Result<(), Vec<Violation>>) {
        if let Err(violations) = verified {
            let all = violation::list(&violations);
            nesl_runtime::bug!("the pass `{}` broke an invariant: {all}", self.name);
        }
    }
}

/// A kernel of a program, with its kir or the reason why it has none.
#[derive(Clone, Debug)]
pub struct ListedKernel {
    /// A description: its function, its number, and its index space.
    pub title: String,
    /// The facts that select the variant, in words; or the reason why nothing is launched.
    pub reason: String,
    /// The source location of its first step.
    pub site: Site,
    /// The source locations of all its steps.
    pub sites: Vec<Site>,
    /// The code; `None` if nothing is launched.
    pub module: Option<kir::Module>,
    /// The source locations that checks in the code blame for a fault.
    pub fault_sites: Vec<FaultSite>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::Stages;

    #[test]
    fn stages_have_names_of_their_own() {
        let mut names: Vec<&str> = Stages::default().iter().map(|stage| stage.name()).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        for stage in Stages::default().iter() {
            assert!(!stage.about().ends_with('.') && !stage.title().is_empty(), "{stage:?}");
        }
    }

    #[test]
    #[should_panic(expected = "the pass `spoil` broke an invariant: it is spoilt")]
    fn a_violated_invariant_is_a_bug_in_every_build() {
        let pass = Pass {
            name: "spoil",
            stage: "spoilt",
            title: "Spoilt",
            about: "spoils a program",
            run: Run::Ir(|program| program.into_owned()),
            verify: Verify::Ir(|_| Err(vec![Violation::of_program("it is spoilt")])),
            always_verified: true,
            in_preview: false,
        };
        let program = ir::Program { functions: Vec::new(), globals: Vec::new(), main: FunId(0) };
        let options = Options::at(Precision::Bits64);
        pass.apply(&mut Unit::new(Cow::Owned(program), &options));
    }
}
