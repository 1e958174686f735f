//! The table of the compiler's passes, in order.
//!
//! ```text
//! text ─▶ tokens ─▶ tree ─▶ ast ─▶ types ─▶ ir ─▶ … ─▶ simple
//! simple ─▶ closed ─▶ flat ─▶ … ─▶ fused ─▶ kir (a module for each kernel)
//! simple ─▶ unrolled ─▶ loops ─▶ kir (sequential code)
//! ```
//!
//! [`PASSES`] has a row for each pass: its name, a description, its function, and the verifier of
//! its result. Everything else derives from the table: [`compile`] runs it, a [`Stage`] is the
//! result of one of its rows, [`dump`](mod@dump) prints a program at a stage, and the command line,
//! the server, the editors and the golden tests ask for the list of stages.
//!
//! A violated invariant is a bug of the pass, and is reported in every build. Debug builds verify
//! the result of each pass, release builds the result of the last pass from flat to flat: a program
//! that is not well-formed is never executed.
//!
//! [`compile`] does not run all rows. Passes of the front end are queries of [`crate::db`]. Kernels
//! are lowered one by one while a program runs, when their variants are known, and sequential code
//! only for a program that has a kernel without code ([`sequential`]). Their rows complete the
//! order, so that their results are stages, too. The passes of the simplifier are rows of the table
//! [`simplify::PASSES`]; each stands for those before it, too, because they are interleaved.
//!
//! | file | contents |
//! |---|---|
//! | `pass` | the type of a pass, and the unit of compilation that passes transform |
//! | `stage` | the stages, by name |
//! | `dump` | the text of a program at any stage, with the source locations of its lines |
//! | `launches` | the rules by which a flat program becomes launches, and the abstract interpretation that finds them |
//! | `kernels` | the kir of these launches, with the reason for each variant |
//!
//! A new pass is two files: the pass, and its row in [`simplify::PASSES`] (ir → ir) or in
//! [`fuse::PASSES`] (flat → flat).

pub mod dump;
mod kernels;
pub mod launches;
mod pass;
mod stage;

pub use dump::{Dump, dump};
pub use kernels::{kernel, sequential};
pub use pass::{ListedKernel, Pass, Query, Run, Unit, Verify};
pub use stage::{Stage, Stages};

use crate::base::with_stack;
use crate::flat;
use crate::flatten;
use crate::fuse;
use crate::host_program::{self, HostProgram};
use crate::ir::{self, Atom, FunId, GlobalId, Ty};
use crate::lower::{self, Literal};
use crate::simplify;
use crate::thresholds::Thresholds;
use nesl_runtime::bug;
use nesl_runtime::scalar::Precision;
use nesl_runtime::violation::Violation;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Settings of the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The width of ints and floats.
    pub precision: Precision,
    /// The seed of random numbers.
    pub seed: u64,
    /// The number of optional rewrites that passes may do; `None` for all.
    pub fuel: Option<u32>,
    /// The limits of the passes on the machine that executes the program.
    pub limits: Thresholds,
}

impl Options {
    /// Returns options without a limit on rewrites, with seed 0, for one thread of a CPU.
    pub fn at(precision: Precision) -> Options {
        Options { precision, seed: 0, fuel: None, limits: Thresholds::default() }
    }

    /// Returns the part of the options that lowering takes.
    fn lowering(&self) -> lower::Settings<'_> {
        lower::Settings { precision: self.precision, seed: self.seed, limits: &self.limits }
    }
}

/// Every pass of the compiler, in order.
pub static PASSES: LazyLock<Vec<Pass>> = LazyLock::new(|| {
    let mut passes = vec![
        Pass {
            name: "tokenise",
            stage: "tokens",
            title: "Tokens",
            about: "splits a text into tokens, blanks and comments",
            run: Run::Query(Query::Tokens),
            verify: Verify::Nothing,
            always_verified: false,
            in_preview: false,
        },
        Pass {
            name: "parse",
            stage: "tree",
            title: "Tree",
            about: "finds the concrete syntax tree, which has every blank",
            run: Run::Query(Query::Tree),
            verify: Verify::Nothing,
            always_verified: false,
            in_preview: false,
        },
        Pass {
            name: "abstract",
            stage: "ast",
            title: "Syntax",
            about: "finds the abstract syntax",
            run: Run::Query(Query::Ast),
            verify: Verify::Nothing,
            always_verified: false,
            in_preview: false,
        },
        Pass {
            name: "infer",
            stage: "types",
            title: "Types",
            about: "finds the type of every definition, pattern and expression",
            run: Run::Query(Query::Types),
            verify: Verify::Nothing,
            always_verified: false,
            in_preview: true,
        },
        Pass {
            name: "elaborate",
            stage: "elaborated",
            title: "Elaborated",
            about: "makes the first-order, monomorphic core language: no patterns, no overloading",
            run: Run::Elaborate,
            verify: Verify::Ir(verify_core),
            always_verified: false,
            in_preview: false,
        },
        Pass {
            name: "split-keys",
            stage: "ir",
            title: "Core",
            about: "passes keys to random numbers, so that they do not depend on the order",
            run: Run::Ir(|program| {
                let mut program = program.into_owned();
                ir::split_rng_keys(&mut program);
                program
            }),
            verify: Verify::Ir(verify_core),
            always_verified: false,
            in_preview: true,
        },
        Pass {
            name: "lift-literals",
            stage: "lifted",
            title: "Lifted",
            about: "makes long literals inputs of the program, so that no code writes them",
            run: Run::Lift(lower::literals_as_globals),
            verify: Verify::Ir(verify_core),
            always_verified: false,
            in_preview: false,
        },
    ];
    let simplify = 0..simplify::PASSES.len();
    passes.extend(simplify.map(|index| Pass::of_simplifier(index, verify_core)));
    passes.extend([
        Pass {
            name: "close",
            stage: "closed",
            title: "Closed",
            about: "makes the top-level variables that are read parameters",
            run: Run::Close(lower::globals_as_parameters),
            verify: Verify::Closed(no_globals),
            always_verified: false,
            in_preview: false,
        },
        Pass {
            name: "flatten",
            stage: "flat",
            title: "Flat",
            about: "turns nesting into index spaces: every step is done for all elements at once",
            run: Run::Flatten(flatten::flatten),
            verify: Verify::Flat(flat::verify),
            always_verified: false,
            in_preview: true,
        },
    ]);
    passes.extend(fuse::PASSES.iter().map(Pass::from));
    // A compiled program is verified once in every build.
    if let Some(fused) = passes.last_mut() {
        (fused.always_verified, fused.in_preview) = (true, true);
    }
    passes.extend([
        Pass {
            name: "unroll",
            stage: "unrolled",
            title: "Unrolled",
            about: "makes loops of recursion whose results are added up or appended, and unrolls apply-to-each over short \
                    lists, for sequential code",
            run: Run::Unroll(lower::prepare_sequential),
            verify: Verify::Sequential(verify_core),
            always_verified: false,
            in_preview: false,
        },
        Pass {
            name: "fuse-loops",
            stage: "loops",
            title: "Loops",
            about: "decides which sequences sequential code does not store, and which reductions \
                    share a loop",
            run: Run::Plan(fuse::sequential::print_located),
            verify: Verify::Sequential(fuse::sequential::verify_program),
            always_verified: false,
            in_preview: false,
        },
        Pass {
            name: "lower",
            stage: "kir",
            title: "Kernels",
            about: "writes each kernel that is launched, in every variant, in the kernel language",
            run: Run::Lower(kernels::all),
            verify: Verify::Nothing,
            always_verified: false,
            in_preview: true,
        },
    ]);
    passes
});

/// A compiled program: its kernels are lowered when they are launched.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The values of the program's long literals, which are its last globals.
    pub literals: Vec<Literal>,
    /// The core program, simplified: the source of its sequential code ([`sequential`]).
    pub simple: ir::Program,
    /// The globals that the main function of the flat program takes behind its own parameters.
    pub globals: Vec<GlobalId>,
    /// The flat program, fused: the source of its kernels ([`kernel`]).
    pub flat: flat::Program,
}

/// Compiles a core program (stage `ir`) that has no effects.
pub fn compile(program: &ir::Program, options: &Options) -> Compiled {
    let last = Stage::named("fused");
    let Unit { ir, literals, globals, flat, .. } = unit_at(program, options, last);
    let Some(flat) = flat else { bug!("flattening makes a flat program") };
    Compiled { simple: ir.into_owned(), literals, globals, flat }
}

/// Runs the passes after the stage `ir`, up to and including the pass of a stage, on a core
/// program.
pub fn up_to<'a>(program: &'a ir::Program, options: &Options, stage: Stage) -> Unit<'a> {
    unit_at(program, options, stage)
}

/// Returns an elaborated program at the stage `ir`, which the other functions here take.
pub fn core(program: ir::Program) -> ir::Program {
    let mut unit = Unit::new(Cow::Owned(program), &Options::at(Precision::Bits64));
    run(&mut unit, Stage::named("elaborated"), Stage::named("ir"));
    unit.ir.into_owned()
}

/// Returns a core program (stage `ir`) at the stage `simple`, its long literals in their places:
/// it is not compiled as it is, but linked with others, or split into regions that are compiled.
pub fn simplified(program: &ir::Program) -> ir::Program {
    let mut unit = Unit::new(Cow::Borrowed(program), &Options::at(Precision::Bits64));
    run(&mut unit, Stage::named("lifted"), Stage::named("simple"));
    unit.ir.into_owned()
}

/// Returns the schedule of a core program that has effects: the effects in order, and the pure
/// regions between them.
pub fn host_program(program: &ir::Program) -> HostProgram {
    host_program::host_program(&simplified(program))
}

fn unit_at<'a>(program: &'a ir::Program, options: &Options, stage: Stage) -> Unit<'a> {
    let mut unit = Unit::new(Cow::Borrowed(program), options);
    run(&mut unit, Stage::named("ir"), stage);
    unit
}

/// Runs the passes after the pass of one stage, up to and including that of another.
fn run(unit: &mut Unit<'_>, from: Stage, to: Stage) {
    with_stack(|| {
        let passes = &PASSES[from.position() + 1..=to.position()];
        for (at, pass) in passes.iter().enumerate() {
            if passes.get(at + 1).is_none_or(|next| !next.includes(pass)) {
                pass.apply(unit);
            }
        }
    });
}

/// Verifies that no function reads top-level variables, which the pass `close` must remove.
fn no_globals(program: &ir::Program) -> Result<(), Vec<Violation>> {
    let mut violations = Vec::new();
    for function in &program.functions {
        function.body.for_each_op(&mut |op| {
            if let ir::Op::Global(id) = op {
                let message = format!("it reads the global {}", id.0);
                violations.push(Violation::within(function.name.as_str(), message));
            }
        });
    }
    if violations.is_empty() { Ok(()) } else { Err(violations) }
}

/// Verifies a core program.
///
/// A function that is shown by itself is the main function of its program, with parameters that the
/// verifier does not allow a main function. Such a program is verified with an empty main function
/// in addition.
fn verify_core(program: &ir::Program) -> Result<(), Vec<Violation>> {
    let Some(main) = program.functions.get(program.main.0 as usize) else {
        return ir::verify(program);
    };
    let types: Vec<&Ty> = main.params.iter().map(|(_, ty)| ty).collect();
    if matches!(types[..], [] | [Ty::Int]) {
        return ir::verify(program);
    }
    let entry = ir::Function {
        name: "entry".into(),
        params: Vec::new(),
        result: Ty::Unit,
        body: ir::Block { lets: Vec::new(), result: Atom::Unit },
        site: main.site,
        library: true,
        charge: None,
        role: None,
    };
    let mut program = program.clone();
    program.main = FunId(program.functions.len() as u32);
    program.functions.push(entry);
    ir::verify(&program)
}
