//! Branches whose sides read and write the same arrays become selections.
//!
//! The cell of a table is computed from other cells, which ones an element decides: the branch cannot be predicted. One
//! side is executed in any case, so that it is safe to load what that side loads; where both sides load from one array,
//! the index is selected, and the sides only compute. Both of them then take less time than a misprediction.
//!
//! ```text
//! x = if c { y = load a[i]  z = add y, 1  yield z }      k = select c, i, j
//!     else { y = load a[j]  yield y }                →   y = load a[k]
//!                                                        x = if c { z = add y, 1  yield z } else { yield y }
//! ```
//!
//! A condition that depends on what the loop carries is left alone: the load would wait for the iteration before.

use crate::kir::{Binary, Block, Class, Inst, Op, Value, ValueTy, walk};
use crate::stack::with_stack;
use rustc_hash::FxHashSet;

/// The most loads of a side of a branch.
const MAX_LOADS: usize = 3;

/// The most operations of both sides of a branch, the loads and the constants included.
const MAX_OPERATIONS: usize = 12;

/// The most operations that are left in the sides: with more, they are not executed both.
const MAX_OPERATIONS_LEFT: usize = 3;

/// Merges the loads of branches in the body of a loop that carries these values.
pub(super) fn merge_loads(body: &mut Block, carried: &[Value], types: &mut Vec<ValueTy>) {
    let mut merging = Merging { types, dependent: carried.iter().copied().collect() };
    merging.block(body);
}

struct Merging<'m> {
    types: &'m mut Vec<ValueTy>,
    /// The values that depend on what the loop carries.
    dependent: FxHashSet<Value>,
}

impl Merging<'_> {
    fn block(&mut self, block: &mut Block) {
        with_stack(|| {
            for mut inst in std::mem::take(&mut block.insts) {
                inst.op.blocks_mut().for_each(|inner| self.block(inner));
                let mut depends = false;
                walk::each_read(&inst, &mut |v| depends |= self.dependent.contains(&v));
                let mut behind = None;
                if matches!(inst.op, Op::If { .. }) {
                    behind = self.sink_store(&mut inst);
                    self.merge(&mut inst, &mut block.insts);
                }
                if depends {
                    self.dependent.extend(&inst.results);
                }
                block.insts.push(inst);
                block.insts.extend(behind);
            }
        });
    }

    /// Takes the stores at the ends of both sides of a branch out of it, if they write one element.
    fn sink_store(&mut self, inst: &mut Inst) -> Option<Inst> {
        let Op::If { then, otherwise, .. } = &mut inst.op else { return None };
        let Op::Store { array, index, value: a } = then.insts.last()?.op else { return None };
        let Op::Store { array: other, index: place, value: b } = otherwise.insts.last()?.op else {
            return None;
        };
        let is_inside = |v: Value| then.insts.iter().any(|inst| inst.results.contains(&v));
        if (array, index) != (other, place) || is_inside(array) || is_inside(index) {
            return None;
        }
        then.insts.pop();
        otherwise.insts.pop();
        then.yields.push(a);
        otherwise.yields.push(b);
        let value = self.fresh(self.types[a.0 as usize]);
        inst.results.push(value);
        Some(Inst { results: Vec::new(), op: Op::Store { array, index, value } })
    }

    /// Moves the loads of a branch in front of it, if both sides load from one array.
    fn merge(&mut self, inst: &mut Inst, out: &mut Vec<Inst>) {
        let Op::If { cond, then, otherwise } = &mut inst.op else { return };
        let operations = then.insts.len() + otherwise.insts.len();
        let (Some(first), Some(second)) = (Side::of(then), Side::of(otherwise)) else { return };
        let loads = first.loads.len().max(second.loads.len());
        let left = [&first, &second].into_iter().map(|side| side.left).sum::<usize>();
        let is_int =
            |v: &Value| matches!(self.types[v.0 as usize], ValueTy::Scalar(ty) if !ty.is_float());
        if first.array != second.array
            || operations > MAX_OPERATIONS
            || loads > MAX_LOADS
            || left > MAX_OPERATIONS_LEFT
            || !inst.results.iter().all(is_int)
            || self.dependent.contains(cond)
        {
            return;
        }
        for side in [&mut *then, &mut *otherwise] {
            let moved = Side::moved(side);
            let (before, rest) = std::mem::take(&mut side.insts)
                .into_iter()
                .partition(|inst| moved.contains(&inst.results[0]));
            side.insts = rest;
            out.extend::<Vec<Inst>>(before);
            side.insts.retain(|inst| !matches!(inst.op, Op::Load { .. }));
        }
        let ValueTy::Array(ty) = self.types[first.array.0 as usize] else { return };
        for at in 0..loads {
            let of = |side: &Side| side.loads[at.min(side.loads.len() - 1)];
            let ((_, a), (_, b)) = (of(&first), of(&second));
            let index = match a == b {
                true => a,
                false => {
                    let index = self.fresh(self.types[a.0 as usize]);
                    out.push(Inst { results: vec![index], op: Op::Select(*cond, a, b) });
                    index
                }
            };
            let loaded = self.fresh(ValueTy::Scalar(ty));
            out.push(Inst { results: vec![loaded], op: Op::Load { array: first.array, index } });
            for (side, block) in [(&first, &mut *then), (&second, &mut *otherwise)] {
                let Some((name, _)) = side.loads.get(at) else { continue };
                walk::rename_in_place(block, &mut |v| if v == *name { loaded } else { v });
            }
        }
    }

    fn fresh(&mut self, ty: ValueTy) -> Value {
        self.types.push(ty);
        Value(self.types.len() as u32 - 1)
    }
}

/// A side of a branch that computes, and loads from one array.
struct Side {
    array: Value,
    /// The element and the index of each load.
    loads: Vec<(Value, Value)>,
    /// The number of operations that stay in the side.
    left: usize,
}

impl Side {
    fn of(block: &Block) -> Option<Side> {
        let mut side: Option<Side> = None;
        for inst in &block.insts {
            match inst.op {
                Op::Load { array, index } => {
                    let side = side.get_or_insert(Side { array, loads: Vec::new(), left: 0 });
                    side.loads.push((inst.results[0], index));
                    if side.array != array {
                        return None;
                    }
                }
                Op::Binary(Binary::Div | Binary::Rem | Binary::MulHigh, ..) => return None,
                ref op if op.class() == Class::Pure => {}
                _ => return None,
            }
        }
        let mut side = side?;
        let moved = Side::moved(block);
        let made_here = |v: &Value| block.insts.iter().any(|inst| inst.results.contains(v));
        let loads_first = side.loads.iter().all(|(loaded, _)| !moved.contains(loaded));
        let stays = |inst: &&Inst| {
            !matches!(inst.op, Op::Const(_) | Op::Load { .. }) && !moved.contains(&inst.results[0])
        };
        side.left = block.insts.iter().filter(stays).count();
        (loads_first && !made_here(&side.array)).then_some(side)
    }

    /// The values of a side that the indices of its loads are computed from.
    fn moved(block: &Block) -> FxHashSet<Value> {
        let mut needed = FxHashSet::default();
        for inst in block.insts.iter().rev() {
            match inst.op {
                Op::Load { index, .. } => {
                    needed.insert(index);
                }
                ref op if needed.contains(&inst.results[0]) => {
                    op.each_operand(|v| {
                        needed.insert(v);
                    });
                }
                _ => {}
            }
        }
        needed
    }
}
