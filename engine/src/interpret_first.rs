//! Trying a program on the direct interpreter before it is compiled.
//!
//! Most forms of a session do little: what the interpreter has done before they could be compiled
//! need not be compiled. So a program that needs no host, and may therefore be begun again, is
//! interpreted first, for about as long as it would take to compile it. What is not done by then
//! is compiled and begun again; that takes at most twice as long as the better of the two ways
//! would have. How long that is is counted, not measured: which way a program goes depends on
//! nothing but the program and its data. A piece of a program that needs the host is tried each time
//! it is run, as long as all its trials together have not taken that long.

use crate::resident::ResidentValue;
use nesl_core::interp::{self, Failure, Host, Value};
use nesl_core::ir::{Atom, Op, Program};
use nesl_runtime::runtime::Runtime;
use rustc_hash::{FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};
use std::mem::discriminant;

/// What it takes to compile a binding, an element of a list and a character of a text, in
/// nanoseconds, about.
const BINDING: u64 = 50_000;
const ELEMENT: u64 = 7_000;
const CHARACTER: u64 = 5_000;

/// The least and the most that a trial may take, in nanoseconds.
const LEAST: u64 = 1_000_000;
const MOST: u64 = 1_000_000_000;

/// Variables with more bytes than this are not read from a runtime for a trial.
const READ: usize = 64 << 10;

/// So many programs are remembered.
const REMEMBERED: usize = 4096;

/// Trials, and what they have taught.
#[derive(Debug, Default)]
pub(crate) struct Trials {
    /// Programs that it was not enough for: their next trial would be a waste.
    large: FxHashSet<u64>,
}

/// What a trial of a program may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    /// Nanoseconds, about. Each trial takes its part.
    left: u64,
    /// A hash of what the program does, the same wherever it stands.
    shape: u64,
}

impl Allowance {
    /// What a program that needs no host may take.
    pub(crate) fn of(program: &Program) -> Allowance {
        let (compiling, shape) = look(program);
        Allowance { left: compiling.clamp(LEAST, MOST), shape }
    }
}

impl Trials {
    /// The values that a program is tried with, unless it is not to be tried.
    pub(crate) fn values(
        &self,
        allowance: &Allowance,
        globals: &[ResidentValue],
        runtime: &dyn Runtime,
    ) -> Option<Vec<Value>> {
        if self.large.contains(&allowance.shape) { None } else { near(globals, runtime) }
    }

    /// Tries a program; `None` if it is one to be compiled.
    pub(crate) fn run(
        &mut self,
        program: &Program,
        allowance: &mut Allowance,
        globals: &[Value],
        key: i64,
        host: &mut dyn Host,
        options: &interp::Options<'_>,
    ) -> Option<Result<Value, Failure>> {
        let left = &mut allowance.left;
        let run = interp::run_within(left, program, globals, key, host, options);
        if run.is_none() {
            if self.large.len() >= REMEMBERED {
                self.large.clear();
            }
            self.large.insert(allowance.shape);
        }
        run
    }
}

/// Values, if none of them is a long one on the runtime.
pub(crate) fn near(globals: &[ResidentValue], runtime: &dyn Runtime) -> Option<Vec<Value>> {
    globals.iter().map(|held| held.near(runtime, READ)).collect()
}

/// How long it takes to compile a program, and a hash of what it does, the same wherever it stands.
fn look(program: &Program) -> (u64, u64) {
    let (mut compiling, mut hash) = (0, FxHasher::default());
    for global in &program.globals {
        global.item.hash(&mut hash);
        global.name.hash(&mut hash);
    }
    for function in &program.functions {
        function.name.hash(&mut hash);
        function.body.for_each_op(&mut |op| {
            compiling += BINDING;
            discriminant(op).hash(&mut hash);
            match op {
                Op::Text(text) => {
                    compiling += CHARACTER * text.len() as u64;
                    text.hash(&mut hash);
                }
                Op::List(atoms) => compiling += ELEMENT * atoms.len() as u64,
                Op::Scalar(op, _) => op.hash(&mut hash),
                Op::Seq(op, _) => op.hash(&mut hash),
                Op::Call(callee, _) => callee.hash(&mut hash),
                Op::Global(global) => global.hash(&mut hash),
                Op::Copy(_)
                | Op::Pair(..)
                | Op::First(_)
                | Op::Second(_)
                | Op::If { .. }
                | Op::Nest(_)
                | Op::Check { .. }
                | Op::Error(_)
                | Op::Host(..)
                | Op::Time(_) => {}
            }
            for atom in op.operands() {
                match atom {
                    Atom::Var(var) => var.hash(&mut hash),
                    Atom::Unit => 0.hash(&mut hash),
                    Atom::Int(x) => x.hash(&mut hash),
                    Atom::Float(x) => x.to_bits().hash(&mut hash),
                    Atom::Bool(x) => x.hash(&mut hash),
                    Atom::Char(x) => x.hash(&mut hash),
                }
            }
        });
    }
    (compiling, hash.finish())
}
