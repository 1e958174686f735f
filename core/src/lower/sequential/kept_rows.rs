//! Rows that an apply-to-each leaves as they are: what a conditional inside a row decides for all its elements alike is
//! decided for the row.
//!
//! ```text
//! v6: [float] = if c { v4 } else { v5 }            v6: [float] = if c { v4 } else { v5 }
//! v7: [float] = each x in v4, y in v6 {       →      v7: [float] = if c { v4 } else {
//!   v8: float = if c { x } else { sub(x, y) }          v9: [float] = each x in v4, y in v5 { sub(x, y) }
//!   v8                                                 v9
//! }                                                  }
//! ```
//!
//! A row is kept only if everything that the apply-to-each goes over then has its length: no error is lost.
//!
//! [`simplify`](crate::simplify) does the opposite, for a row that is stored again costs the same either way. A loop over a
//! table that it owns leaves such a row where it lies, though ([`ownership`](crate::fuse::sequential::ownership)): only
//! that is prepared here, in functions that give the rows to themselves.
//!
//! Source: loop unswitching; Allen and Cocke, *A catalogue of optimizing transformations* (1972).

use super::reads_first::mentions;
use crate::base::with_stack;
use crate::fuse::sequential::ownership::given_to_itself;
use crate::ir::{Atom, Block, Class, FunId, FunctionBuilder, Let, Nest, Op, Program, Ty, Var};
use crate::prim::SeqOp;
use rustc_hash::FxHashSet;

/// Prepares the functions of a program.
pub(super) fn keep_rows(program: &mut Program) {
    for (at, function) in program.functions.iter_mut().enumerate() {
        let given = given_to_itself(function, FunId(at as u32));
        if given.is_empty() {
            continue;
        }
        let names = FunctionBuilder::extending(function);
        let tables = function.params.iter().map(|(var, _)| *var).collect();
        KeptRows { given, tables, names }.block(&mut function.body);
    }
}

struct KeptRows {
    /// The variables that the function calls itself with.
    given: FxHashSet<Var>,
    /// Its parameters, parts of them, and what updates make of those: they may be owned.
    tables: FxHashSet<Var>,
    names: FunctionBuilder,
}

impl KeptRows {
    fn block(&mut self, block: &mut Block) {
        with_stack(|| {
            for at in 0..block.lets.len() {
                let (before, behind) = block.lets.split_at_mut(at + 1);
                let binding = &mut before[at];
                match &mut binding.op {
                    Op::Copy(of) | Op::First(of) | Op::Second(of)
                        if of.variable().is_some_and(|of| self.tables.contains(&of)) =>
                    {
                        self.tables.insert(binding.var);
                    }
                    // What an update makes of a table is owned, too.
                    Op::Seq(SeqOp::Replace | SeqOp::Scatter, args)
                        if args[0].variable().is_some_and(|of| self.tables.contains(&of)) =>
                    {
                        self.tables.insert(binding.var);
                    }
                    Op::Nest(nest) if self.given.contains(&binding.var) => {
                        let rows = self.rows(nest, binding.ty.element(), behind);
                        keep_rows_of(nest, &rows, &mut self.names);
                    }
                    _ => {}
                }
                binding.op.blocks_mut().for_each(|block| self.block(block));
            }
        });
    }

    /// The rows of an apply-to-each that lie in tables which nothing else uses, there or behind.
    fn rows(&self, nest: &Nest, row_ty: Option<&Ty>, behind: &[Let]) -> Vec<Var> {
        let is_unused = |table: Var| {
            let is_table = FxHashSet::from_iter([table]);
            !nest.body.lets.iter().chain(behind).any(|binding| mentions(binding, &is_table))
        };
        let is_row = |ty: &Ty, of: Atom| {
            let table = of.variable().filter(|table| self.tables.contains(table));
            Some(ty) == row_ty && table.is_some_and(is_unused)
        };
        let rows = nest.binders.iter().filter(|(_, ty, of)| is_row(ty, *of));
        rows.map(|(row, ..)| *row).collect()
    }
}

/// Prepares an apply-to-each that may change some of its rows where they lie.
fn keep_rows_of(nest: &mut Nest, rows: &[Var], names: &mut FunctionBuilder) {
    let body = &mut nest.body;
    let Some(at) = body.lets.iter().position(|binding| body.result == Atom::Var(binding.var))
    else {
        return;
    };
    let (before, rest) = body.lets.split_at_mut(at);
    let last = &mut rest[0];
    let Op::Nest(elements) = &last.op else { return };
    let Some((row, cond, keeps_if)) = kept(elements, rows) else { return };
    let has_length = |(.., of): &(Var, Ty, Atom)| has_length_of(row, *of, (cond, keeps_if), before);
    if !elements.binders.iter().all(has_length) {
        return;
    }
    let mut elements = elements.clone();
    let Some(Let { op: Op::If { then, otherwise, .. }, .. }) = elements.body.lets.pop() else {
        return;
    };
    let changed = if keeps_if { otherwise } else { then };
    elements.body.lets.extend(changed.lets);
    elements.body.result = changed.result;
    // A row that the same conditional chooses is the one of this side.
    for (_, _, source) in &mut elements.binders {
        let chosen = before.iter().find(|binding| *source == Atom::Var(binding.var));
        if let Some(Let { op: Op::If { cond: other, then, otherwise }, .. }) = chosen
            && *other == cond
        {
            let side = if keeps_if { otherwise } else { then };
            if side.lets.is_empty() {
                *source = side.result;
            }
        }
    }
    let var = names.fresh(last.ty.clone());
    let op = Op::Nest(elements);
    let inner = Let { var, ty: last.ty.clone(), op, site: last.site };
    let changed = Block { lets: vec![inner], result: Atom::Var(var) };
    let same = Block { lets: Vec::new(), result: Atom::Var(row) };
    let (then, otherwise) = if keeps_if { (same, changed) } else { (changed, same) };
    last.op = Op::If { cond, then, otherwise };
}

/// Returns true if a sequence is as long as a row where a condition has this value: it is the row, which a conditional may
/// have chosen, or its indices. `before` are the bindings before it.
fn has_length_of(row: Var, of: Atom, (cond, value): (Atom, bool), before: &[Let]) -> bool {
    let bound = |atom: Atom| before.iter().find(|binding| atom == Atom::Var(binding.var));
    of == Atom::Var(row)
        || match bound(of).map(|binding| &binding.op) {
            Some(Op::If { cond: other, then, otherwise }) if *other == cond => {
                let side = if value { then } else { otherwise };
                side.result == Atom::Var(row)
            }
            Some(Op::Seq(SeqOp::Range, args)) if args[..2] == [Atom::Int(0), Atom::Int(1)] => {
                bound(args[2]).is_some_and(|length| {
                    matches!(&length.op, Op::Seq(SeqOp::Length, args) if args[0] == Atom::Var(row))
                })
            }
            _ => false,
        }
}

/// Returns which of some rows an apply-to-each over its elements gives again if a condition from outside is true, or false.
fn kept(elements: &Nest, rows: &[Var]) -> Option<(Var, Atom, bool)> {
    let (last, others) = elements.body.lets.split_last()?;
    let Op::If { cond, then, otherwise } = &last.op else { return None };
    let cond_var = cond.variable()?;
    let inside = others.iter().map(|binding| binding.var);
    let inside = inside.chain(elements.binders.iter().map(|(var, ..)| *var));
    let is_pure = |binding: &Let| binding.op.class(&binding.ty) == Class::Pure;
    if elements.body.result != Atom::Var(last.var)
        || inside.into_iter().any(|var| var == cond_var)
        || !others.iter().all(|binding| is_pure(binding) && binding.op.blocks().next().is_none())
    {
        return None;
    }
    elements.binders.iter().find_map(|(element, _, of)| {
        let row = of.variable().filter(|row| rows.contains(row))?;
        let gives = |side: &Block| side.lets.is_empty() && side.result == Atom::Var(*element);
        let keeps_if = if gives(then) { Some(true) } else { gives(otherwise).then_some(false) };
        keeps_if.map(|keeps_if| (row, *cond, keeps_if))
    })
}
