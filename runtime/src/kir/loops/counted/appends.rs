//! Arrays to which each iteration of a counted loop appends an element: they get room for all before the loop.

use super::{BOOL, Counting, INT};
use crate::kir::{Binary, Block, Inst, Op, Value, ValueTy, walk};

/// The least number of elements that an array has room for once it was appended to.
const MIN_ROOM: i64 = 16;

/// An array to which each iteration appends an element: it is copied to a larger one where it is full.
pub(super) struct Append {
    /// The positions among the carried values.
    pub array: usize,
    pub room: usize,
    length: usize,
    /// The array with room for one more, and the number of elements that it has room for.
    pub results: [Value; 2],
}

impl Counting<'_> {
    /// The arrays to which each iteration of a loop appends an element; `None` if it takes memory otherwise.
    pub(super) fn appends(&self, carried: &[Value], body: &Block) -> Option<Vec<Append>> {
        let position = |values: &[Value], of: Value| values.iter().position(|value| *value == of);
        let op_of = |value: Value| body.insts.iter().find(|inst| inst.results.contains(&value));
        let mut appends = Vec::new();
        for inst in &body.insts {
            let Op::If { cond, then, otherwise } = &inst.op else { continue };
            if !otherwise.insts.iter().any(|inst| matches!(inst.op, Op::Alloc(..))) {
                continue;
            }
            let (room, longer) = match op_of(*cond)?.op {
                Op::Binary(Binary::Ge, room, longer) => (room, longer),
                Op::Binary(Binary::Le, longer, room) => (room, longer),
                _ => return None,
            };
            let length = match op_of(longer)?.op {
                Op::Binary(Binary::Add, length, one) if self.is(one, 1) => length,
                Op::Binary(Binary::Add, one, length) if self.is(one, 1) => length,
                _ => return None,
            };
            let (room, length) = (position(carried, room)?, position(carried, length)?);
            let room_result = position(&then.yields, carried[room])?;
            let [array_result] =
                (0..inst.results.len()).filter(|at| *at != room_result).collect::<Vec<_>>()[..]
            else {
                return None;
            };
            let array = position(carried, then.yields[array_result])?;
            let results = [inst.results[array_result], inst.results[room_result]];
            let next = body.yields[array];
            let kept = body.insts.iter().find_map(|inst| match &inst.op {
                Op::Compact { keep, .. } => Some(keep[position(&inst.results, next)?].0),
                _ => None,
            });
            let copies = otherwise.insts.iter().any(|inst| {
                matches!(inst.op, Op::Copy { from, count, .. }
                    if from == carried[array] && count == carried[length])
            });
            let is_append = then.insts.is_empty()
                && copies
                && kept.unwrap_or(next) == results[0]
                && body.yields[room] == results[1]
                && body.yields[length] == longer;
            if !is_append {
                return None;
            }
            appends.push(Append { array, room, length, results });
        }
        let mut allocations = 0;
        walk::each_inst(body, &mut |inst| {
            allocations += usize::from(matches!(inst.op, Op::Alloc(..) | Op::Mark));
        });
        (allocations == appends.len()).then_some(appends)
    }

    /// Makes room for so many more elements in an array; returns it, and the room.
    pub(super) fn reserve(
        &mut self,
        append: &Append,
        init: &[Value],
        count: Value,
        to: &mut Block,
    ) -> Option<[Value; 2]> {
        let (array, room, length) = (init[append.array], init[append.room], init[append.length]);
        let needed = self.binary(Binary::Add, length, count, INT, to);
        let is_enough = self.binary(Binary::Ge, room, needed, BOOL, to);
        let then = Block { insts: Vec::new(), yields: vec![array, room] };
        let mut otherwise = Block::default();
        let two = self.int(2, &mut otherwise);
        let twice = self.binary(Binary::Mul, room, two, INT, &mut otherwise);
        let larger = self.binary(Binary::Max, needed, twice, INT, &mut otherwise);
        let least = self.int(MIN_ROOM, &mut otherwise);
        let larger = self.binary(Binary::Max, larger, least, INT, &mut otherwise);
        let ValueTy::Array(ty) = self.types[array.0 as usize] else { return None };
        let new = self.like(array);
        otherwise.insts.push(Inst { results: vec![new], op: Op::Alloc(ty, larger) });
        let copy = Op::Copy { from: array, to: new, count: length };
        otherwise.insts.push(Inst { results: Vec::new(), op: copy });
        otherwise.yields = vec![new, larger];
        let results = [self.like(array), self.fresh(INT)];
        let op = Op::If { cond: is_enough, then, otherwise };
        to.insts.push(Inst { results: results.to_vec(), op });
        Some(results)
    }
}
