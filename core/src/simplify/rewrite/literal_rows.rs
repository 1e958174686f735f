//! Rows that conditions choose among literals, as texts are rewritten: their lengths come first, then each element.
//!
//! ```text
//! v3: [char] = if v1 { "FF" } else { [v0] }       v3: int = if v1 { 2 } else { 1 }
//!                                                 v4: [int] = range(0, 1, v3)
//!                                         →       v5: [char] = each v6 in v4 {
//!                                                   v7: char = if v1 { 'F' } else { v0 }
//!                                                   v7
//!                                                 }
//! ```
//!
//! This is done where a `flatten` puts all rows one behind the other. Flattened code then counts, scans, and computes
//! each element where it belongs. Otherwise it would divide the rows by the conditions, store the elements of each part,
//! merge the descriptors, and copy.

use super::Rewriter;
use super::guarded::chosen;
use crate::base::with_stack;
use crate::ir::{Atom, Block, FunctionBuilder, Let, Nest, Op, Site, Ty, Var};
use crate::prim::{Cost, SeqOp};
use rustc_hash::FxHashMap;

impl Rewriter<'_> {
    /// Has the body of an apply-to-each compute the length of its row first, and then each element, if conditions choose
    /// the row among literals, one of which is a constant.
    pub(super) fn counted_rows(&mut self, mut nest: Nest, site: Site) -> Nest {
        let Block { lets, result } = &mut nest.body;
        let is_choice = |row: &mut Let| {
            let flat = row.ty.element().is_some_and(|element| !element.has_sequence());
            flat && Atom::Var(row.var) == *result && matches!(row.op, Op::If { .. })
        };
        let Some(row) = lets.pop_if(is_choice) else { return nest };
        let choice = Block { result: Atom::Var(row.var), lets: vec![row] };
        let mut constants = false;
        let is_short = operations(&choice) <= self.limits.max_inlined_operations;
        if !is_short || !is_literal(&choice, &mut constants) || !constants {
            nest.body.lets.extend(choice.lets);
            return nest;
        }
        self.note_change();
        let element = choice.lets[0].ty.sequence_element().clone();
        let inner = self.builder.block(|b| {
            let names = &mut Names::default();
            let count = each_side(b, &choice, &Ty::Int, names, &mut |_, row, _| count(&row.op));
            let range = vec![Atom::Int(0), Atom::Int(1), count];
            let places = b.seq(SeqOp::Range, range, site);
            b.nest(&[places], false, site, |b, place| {
                each_side(b, &choice, &element, names, &mut |b, row, names| {
                    element_of(b, row, place[0], names)
                })
            })
        });
        nest.body.lets.extend(inner.lets);
        nest.body.result = inner.result;
        nest
    }
}

/// Returns the number of operations of a block, and of the elements of its lists: all of them are written twice.
fn operations(block: &Block) -> usize {
    let mut count = 0;
    block.for_each_op(&mut |op| {
        count += 1;
        if let Op::List(elements) = op {
            count += elements.len();
        }
    });
    count
}

/// Returns true if a block gives a literal, or conditions choose one, and nothing else takes time or may fault; notes if
/// one of them is a constant.
fn is_literal(block: &Block, constants: &mut bool) -> bool {
    let Some((row, before)) = block.lets.split_last() else { return false };
    let is_cheap = |binding: &Let| {
        matches!(binding.op, Op::Text(_) | Op::Constants(_) | Op::List(_))
            || !binding.may_fault() && binding.op.costs_at_most(Cost::Cheap, &binding.ty)
    };
    with_stack(|| {
        let is_row = match &row.op {
            Op::If { then, otherwise, .. } => {
                is_literal(then, constants) && is_literal(otherwise, constants)
            }
            Op::Text(_) | Op::Constants(_) => {
                *constants = true;
                true
            }
            Op::List(_) => true,
            _ => false,
        };
        is_row && block.result == Atom::Var(row.var) && before.iter().all(is_cheap)
    })
}

/// The new names of variables that were copied.
type Names = FxHashMap<Var, Var>;

/// Binds a conditional like the one that a block gives, with something else in place of each literal.
fn each_side(
    b: &mut FunctionBuilder,
    block: &Block,
    ty: &Ty,
    names: &mut Names,
    literal: &mut dyn FnMut(&mut FunctionBuilder, &Let, &Names) -> Atom,
) -> Atom {
    let [before @ .., row] = &block.lets[..] else { return block.result };
    for binding in before {
        let copy = b.copied(binding, names);
        b.keep(copy);
    }
    with_stack(|| match &row.op {
        Op::If { cond, then, otherwise } => {
            let cond = renamed(*cond, names);
            let [then, otherwise] = [then, otherwise].map(|side| {
                b.begin();
                let result = each_side(b, side, ty, names, literal);
                b.end(result)
            });
            b.bind(ty.clone(), Op::If { cond, then, otherwise }, row.site)
        }
        _ => literal(b, row, names),
    })
}

fn renamed(atom: Atom, names: &Names) -> Atom {
    match atom {
        Atom::Var(var) => Atom::Var(names.get(&var).copied().unwrap_or(var)),
        constant => constant,
    }
}

/// Returns the number of elements of a literal.
fn count(literal: &Op) -> Atom {
    Atom::Int(match literal {
        Op::Text(bytes) => bytes.len(),
        Op::Constants(constants) => constants.len(),
        Op::List(elements) => elements.len(),
        _ => 0,
    } as i64)
}

/// Binds the element of a literal at a place, which it has.
fn element_of(b: &mut FunctionBuilder, row: &Let, place: Atom, names: &Names) -> Atom {
    let Let { ty, op, site, .. } = row;
    match op {
        Op::Text(bytes) if !bytes.is_empty() && bytes.iter().all(|byte| *byte == bytes[0]) => {
            Atom::Char(bytes[0])
        }
        Op::List(elements) if !elements.is_empty() => {
            let elements: Vec<Atom> = elements.iter().map(|atom| renamed(*atom, names)).collect();
            chosen(b, &elements, place, *site)
        }
        _ => {
            let literal = b.bind(ty.clone(), op.clone(), *site);
            b.seq(SeqOp::Index, vec![literal, place], *site)
        }
    }
}
