//! Linking: programs whose top-level variables are computed by other programs become one program.
//!
//! ```text
//! x = {a * 2.0 : a in v};
//! sum(x)                              →      x = call x(); sum(x)
//! ```
//!
//! The definitions are computed at the beginning of the form, each once. Simplification and fusion
//! then see both at once.

mod facts;

use crate::ir::{Atom, FunId, Function, Global, GlobalId, Let, Op, Program, Site, Ty, Var};
use crate::lower::some_as_parameters;
use crate::prim::SeqOp;
use crate::simplify::renumber;
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use rustc_hash::FxHashMap;

pub use facts::{Fact, cannot_fail};

/// A program to be linked, and the origin of the values of its globals.
#[derive(Clone, Copy, Debug)]
pub struct LinkUnit<'a> {
    /// The program. Only the last unit may draw random numbers.
    pub program: &'a Program,
    /// The origin of each of its globals.
    pub sources: &'a [GlobalSource],
}

/// The origin of the value of a global.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobalSource {
    /// A global of the linked program.
    Global(GlobalId),
    /// The result of the earlier unit with this number.
    Unit(usize),
}

/// Links units into one program, which computes the last of them; the others are computed at its
/// beginning. `globals` are those of the linked program.
pub fn link(units: &[LinkUnit<'_>], globals: Vec<Global>) -> Program {
    let mut functions: Vec<Function> = Vec::new();
    // The main function of each unit, and the units whose results are its parameters.
    let mut mains: Vec<(FunId, Vec<usize>)> = Vec::new();
    for (number, unit) in units.iter().enumerate() {
        let by_unit = |id: GlobalId| match unit.sources[id.0 as usize] {
            GlobalSource::Unit(unit) => Some(unit),
            GlobalSource::Global(_) => None,
        };
        let (program, taken) = some_as_parameters(unit.program, &|id| by_unit(id).is_some());
        let first = functions.len() as u32;
        let call = |id: FunId| FunId(id.0 + first);
        let global = |id: GlobalId| match unit.sources[id.0 as usize] {
            GlobalSource::Global(id) => id,
            GlobalSource::Unit(_) => bug!("a global that another unit computes is a parameter"),
        };
        for mut function in program.functions {
            renumber(&mut function.body, &call, &global);
            if number + 1 < units.len() {
                function.name = format!("{}/{number}", function.name).into();
            }
            functions.push(function);
        }
        let takes = taken.iter().filter_map(|id| by_unit(*id)).collect();
        mains.push((call(program.main), takes));
    }
    let (main, takes) = mains.pop().or_bug("at least one unit is linked");
    begin(&mut functions, main, &takes, &mains);
    Program { functions, globals, main }
}

/// Inserts calls of the other units at the beginning of the form.
fn begin(functions: &mut [Function], main: FunId, takes: &[usize], units: &[(FunId, Vec<usize>)]) {
    let results: Vec<(Ty, Site)> = units
        .iter()
        .map(|(id, _)| (functions[id.0 as usize].result.clone(), functions[id.0 as usize].site))
        .collect();
    let form = &mut functions[main.0 as usize];
    let mut next = 0;
    form.params.iter().for_each(|(var, _)| next = next.max(var.0 + 1));
    form.body.each_binding(&mut |var, _| next = next.max(var.0 + 1));
    let given = form.params.split_off(form.params.len() - takes.len());
    // Two globals may be the result of the same unit.
    let mut vars: FxHashMap<usize, Var> = FxHashMap::default();
    let mut lets: Vec<Let> = Vec::new();
    for (unit, ((callee, takes), (ty, site))) in units.iter().zip(results).enumerate() {
        let op = Op::Call(*callee, takes.iter().map(|unit| Atom::Var(vars[unit])).collect());
        let var = Var(next + unit as u32);
        vars.insert(unit, var);
        lets.push(Let { var, ty, op, site });
    }
    for ((var, ty), unit) in given.into_iter().zip(takes) {
        lets.push(Let { var, ty, op: Op::Copy(Atom::Var(vars[unit])), site: form.site });
    }
    form.body.lets.splice(0..0, lets);
}

/// Returns true if a simplified program only iterates over a global, once or several times, at its top
/// level: then the producer of the global can be fused with these uses.
pub fn only_iterates(program: &Program, global: GlobalId) -> bool {
    let mut vars: Vec<Var> = Vec::new();
    let main = &program.functions[program.main.0 as usize];
    for binding in &main.body.lets {
        match &binding.op {
            Op::Global(id) if *id == global => vars.push(binding.var),
            _ => {}
        }
    }
    let mut read = 0;
    for function in &program.functions {
        function.body.for_each_op(&mut |op| read += usize::from(*op == Op::Global(global)));
    }
    let is_it = |atom: Atom| matches!(atom, Atom::Var(var) if vars.contains(&var));
    let only_iterates = |binding: &Let| {
        let mut uses = 0;
        binding.op.each_use(&mut |var| uses += usize::from(vars.contains(&var)));
        let over = match &binding.op {
            Op::Nest(nest) => nest.binders.iter().filter(|(.., atom)| is_it(*atom)).count(),
            Op::Seq(SeqOp::Length | SeqOp::Reduce(_) | SeqOp::Scan(_) | SeqOp::Pack, args) => {
                args.iter().filter(|atom| is_it(**atom)).count()
            }
            _ => 0,
        };
        over == uses
    };
    read == vars.len() && !is_it(main.body.result) && main.body.lets.iter().all(only_iterates)
}

#[cfg(test)]
mod tests;
