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
//! An element that each iteration over a row reads of the row itself is read before the first iteration: `r[k]` in
//! `{x - r[k] * y : x in r; y in pivot}`. Else a later iteration would read it when it is overwritten already, and the new
//! elements could not go where the row lies.
//!
//! Source: loop unswitching; Allen and Cocke, *A catalogue of optimizing transformations* (1972).

use crate::base::with_stack;
use crate::fuse::sequential::ownership::given_to_itself;
use crate::ir::{Atom, Block, Class, FunId, FunctionBuilder, Let, Nest, Op, Program, Ty, Var};
use crate::prim::SeqOp;
use nesl_runtime::scalar::ScalarOp;
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
                        read_first(&mut nest.body, &rows, &mut self.names);
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
            !nest.body.lets.iter().chain(behind).any(|binding| is_read(binding, table))
        };
        let is_row = |ty: &Ty, of: Atom| {
            let table = of.variable().filter(|table| self.tables.contains(table));
            Some(ty) == row_ty && table.is_some_and(is_unused)
        };
        let rows = nest.binders.iter().filter(|(_, ty, of)| is_row(ty, *of));
        rows.map(|(row, ..)| *row).collect()
    }
}

/// Returns true if a binding uses a table, in the blocks inside too. Its length stands beside its arrays.
fn is_read(binding: &Let, table: Var) -> bool {
    let is_table = |atom: Atom| atom == Atom::Var(table);
    with_stack(|| {
        !matches!(binding.op, Op::Seq(SeqOp::Length, _))
            && (binding.op.operands().iter().any(|operand| is_table(*operand))
                || binding.op.blocks().any(|block| {
                    is_table(block.result) || block.lets.iter().any(|inner| is_read(inner, table))
                }))
    })
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

/// Has an apply-to-each over a row read elements of the row before the first iteration, if there is one.
fn read_first(block: &mut Block, rows: &[Var], names: &mut FunctionBuilder) {
    with_stack(|| {
        let mut lets = Vec::with_capacity(block.lets.len());
        for mut binding in std::mem::take(&mut block.lets) {
            match &mut binding.op {
                Op::If { then, otherwise, .. } => {
                    [then, otherwise].into_iter().for_each(|side| read_first(side, rows, names));
                }
                Op::Nest(nest) => {
                    for row in rows {
                        if nest.binders.iter().any(|(.., of)| *of == Atom::Var(*row)) {
                            lets.extend(reads_of(nest, *row, names));
                        }
                    }
                }
                _ => {}
            }
            lets.push(binding);
        }
        block.lets = lets;
    });
}

/// Takes the reads of a row at indices from outside out of an apply-to-each over its elements. They are not executed if the
/// row has no elements.
fn reads_of(nest: &mut Nest, row: Var, names: &mut FunctionBuilder) -> Vec<Let> {
    let mut inside: FxHashSet<Var> = nest.binders.iter().map(|(var, ..)| *var).collect();
    inside.extend(nest.body.lets.iter().map(|binding| binding.var));
    let is_element_of_row = |binding: &mut Let| match &binding.op {
        Op::Seq(SeqOp::Index, args) => {
            let is_outside = args[1].variable().is_none_or(|index| !inside.contains(&index));
            args[0] == Atom::Var(row) && is_outside && !binding.ty.has_sequence()
        }
        _ => false,
    };
    let reads: Vec<Let> = nest.body.lets.extract_if(.., is_element_of_row).collect();
    let Some(site) = reads.first().map(|read| read.site) else { return Vec::new() };
    let mut lets = Vec::new();
    let mut bind = |ty: Ty, op: Op| {
        let var = names.fresh(ty.clone());
        lets.push(Let { var, ty, op, site });
        Atom::Var(var)
    };
    let length = bind(Ty::Int, Op::Seq(SeqOp::Length, vec![Atom::Var(row)]));
    let has_elements = bind(Ty::Bool, Op::Scalar(ScalarOp::Gt, vec![length, Atom::Int(0)]));
    for Let { var, ty, op, site } in reads {
        let read = names.fresh(ty.clone());
        let then = vec![Let { var: read, ty: ty.clone(), op, site }];
        let then = Block { lets: then, result: Atom::Var(read) };
        names.begin();
        let nothing = names.nothing(&ty, site);
        let otherwise = names.end(nothing);
        lets.push(Let { var, ty, op: Op::If { cond: has_elements, then, otherwise }, site });
    }
    lets
}
