//! ir → ir: makes parameters of top-level variables (lambda lifting).
//!
//! Every function takes the globals that it reads, itself or through its calls, as parameters after
//! its own, and every call passes them on; afterwards no [`Op::Global`] is left.

use crate::base::with_stack;
use crate::ir::{Atom, Block, FunctionBuilder, GlobalId, Op, Program, Var};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Returns the program without [`Op::Global`], and the globals that are now parameters of `main`,
/// in the order of the parameters.
pub fn as_parameters(program: &Program) -> (Program, Vec<GlobalId>) {
    some_as_parameters(program, &|_| true)
}

/// Makes parameters of the globals that `which` selects; the others remain [`Op::Global`]s.
pub(crate) fn some_as_parameters(
    program: &Program,
    which: &dyn Fn(GlobalId) -> bool,
) -> (Program, Vec<GlobalId>) {
    let needs = globals_read(program, which);
    let mut program = program.clone();
    for (function, needed) in program.functions.iter_mut().zip(&needs) {
        let mut builder = FunctionBuilder::extending(function);
        let mut vars: FxHashMap<GlobalId, Var> = FxHashMap::default();
        for id in needed {
            let ty = program.globals[id.0 as usize].ty.clone();
            let var = builder.fresh(ty.clone());
            function.params.push((var, ty));
            vars.insert(*id, var);
        }
        pass(&mut function.body, &vars, &needs);
    }
    let main = needs[program.main.0 as usize].iter().copied().collect();
    (program, main)
}

/// Returns the globals that each function reads, itself or through its calls.
fn globals_read(program: &Program, which: &dyn Fn(GlobalId) -> bool) -> Vec<BTreeSet<GlobalId>> {
    let mut needs: Vec<BTreeSet<GlobalId>> = vec![BTreeSet::new(); program.functions.len()];
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); needs.len()];
    for (caller, function) in program.functions.iter().enumerate() {
        function.body.for_each_op(&mut |op| match op {
            Op::Global(id) if which(*id) => {
                needs[caller].insert(*id);
            }
            Op::Call(callee, _) => callers[callee.0 as usize].push(caller),
            _ => {}
        });
    }
    let mut changed: Vec<usize> = (0..needs.len()).collect();
    while let Some(callee) = changed.pop() {
        let given = needs[callee].clone();
        for caller in &callers[callee] {
            let before = needs[*caller].len();
            needs[*caller].extend(&given);
            if needs[*caller].len() > before {
                changed.push(*caller);
            }
        }
    }
    needs
}

/// Replaces reads of globals by parameters, and passes them on in calls.
fn pass(block: &mut Block, vars: &FxHashMap<GlobalId, Var>, needs: &[BTreeSet<GlobalId>]) {
    with_stack(|| {
        for binding in &mut block.lets {
            match &mut binding.op {
                Op::Global(id) => {
                    if let Some(var) = vars.get(id) {
                        binding.op = Op::Copy(Atom::Var(*var));
                    }
                }
                Op::Call(callee, args) => {
                    let needed = &needs[callee.0 as usize];
                    args.extend(needed.iter().map(|id| Atom::Var(vars[id])));
                }
                op => op.blocks_mut().for_each(|inner| pass(inner, vars, needs)),
            }
        }
    });
}
