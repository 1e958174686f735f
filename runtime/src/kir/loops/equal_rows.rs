//! Rows of one length: a loop that makes them takes the memory of all before it begins, and their places are computed.
//!
//! The front end stores the rows of a nested sequence one behind the other, in arrays that grow, with the start and the
//! length of each. Where all have one length, which is known before the loop, the arrays need not grow, and nobody
//! has to store starts and lengths that nobody asks for but by number.
//!
//! ```text
//! starts = alloc n                                           room = mul n, size
//! lengths = alloc n                                          rows = alloc room
//! for i < n carry used = 0, room = 0, rows = alloc 0 {       for i < n {
//!   need = add used, size                                      used = mul i, size
//!   enough = le need, room                                     for j < size {
//!   room', rows' = if enough { room, rows } else { … }    →      rows[used + j] = …
//!   for j < size {                                             }
//!     rows'[used + j] = …                                    }
//!   }                                                        …
//!   starts[i] = used    lengths[i] = size                    start = mul k, size
//!   kept = compact mark keep rows'[..room']                  … size …
//!   yield need, room', kept
//! }
//! …
//! start = starts[k]    … lengths[k] …
//! ```
//!
//! Before that, an int that a check has found equal to a constant, or to an int from outside of the loop, is that one:
//! the rows of a product of matrices are as long as one of its factors says.

use super::joins::retain;
use super::{Code, remove_compactions, resolve};
use crate::kir::{Binary, Block, Class, Inst, Literal, Op, Ty, Value, ValueTy, walk};
use crate::stack::with_stack;
use rustc_hash::{FxHashMap, FxHashSet};

/// The room that is asked for where the number of elements is no `i64`; no memory has it.
const TOO_MANY: i64 = 1 << 62;

/// Gives rows of one length their memory before the loops that make them.
pub(super) fn make_room(code: &mut Code<'_>) {
    make_rooms(code);
    // What is found equal may be the length of a row.
    if compute_places(code) {
        make_rooms(code);
        compute_places(code);
    }
}

fn make_rooms(code: &mut Code<'_>) {
    let Code { bodies, types, .. } = code;
    let mut rooms = Rooms {
        types,
        loops: 0,
        depths: FxHashMap::default(),
        constants: FxHashSet::default(),
        zeros: FxHashSet::default(),
        equalities: FxHashMap::default(),
        names: FxHashMap::default(),
    };
    bodies.iter_mut().for_each(|body| rooms.block(body));
    let names = std::mem::take(&mut rooms.names);
    code.rename_all(&names);
    // What is not made in an iteration any more need not be freed there.
    remove_compactions(code);
}

struct Rooms<'c> {
    types: &'c mut Vec<ValueTy>,
    /// The number of loops around the code.
    loops: usize,
    /// The number of loops around the definition of each value; none is around parameters.
    depths: FxHashMap<Value, usize>,
    constants: FxHashSet<Value>,
    /// The ints that are 0.
    zeros: FxHashSet<Value>,
    /// The bools that say if two ints are equal.
    equalities: FxHashMap<Value, (Value, Value)>,
    /// The values that are other ones, where the rewriter is.
    names: FxHashMap<Value, Value>,
}

/// The arrays of a loop that grow.
struct Growing {
    /// The position of the number of elements among the carried values, and that of the room for them.
    used: usize,
    room: usize,
    /// The positions of the arrays.
    arrays: Vec<usize>,
    /// The length of each row.
    length: Value,
    /// The instruction that asks if the room is enough, and the one that grows the arrays.
    enough: usize,
    grow: usize,
}

impl Rooms<'_> {
    fn name(&self, value: Value) -> Value {
        resolve(&self.names, value)
    }

    fn depth(&self, value: Value) -> usize {
        self.depths.get(&value).copied().unwrap_or(0)
    }

    fn block(&mut self, block: &mut Block) {
        with_stack(|| {
            let mut equal = Vec::new();
            let mut out: Vec<Inst> = Vec::with_capacity(block.insts.len());
            for mut inst in std::mem::take(&mut block.insts) {
                inst.op.map_operands(|v| self.name(v));
                self.inst(&mut inst, &mut equal);
                if matches!(inst.op, Op::For { .. }) {
                    while let Some(growing) = self.growing(&inst)
                        && let Some(marks) = marks_before(&inst, &out)
                    {
                        self.give_room(&mut inst, &growing, (&mut out, marks));
                    }
                }
                out.push(inst);
            }
            block.insts = out;
            block.yields.iter_mut().for_each(|v| *v = resolve(&self.names, *v));
            for value in equal {
                self.names.remove(&value);
            }
        });
    }

    /// Notes what an instruction defines, and goes through its blocks. `equal` gets the values that have another name
    /// from here to the end of the block.
    fn inst(&mut self, inst: &mut Inst, equal: &mut Vec<Value>) {
        let inside = self.loops + usize::from(inst.op.is_loop());
        let mut bound: Vec<Value> = inst.op.carried().to_vec();
        if let Op::For { index, .. } = &inst.op {
            bound.push(*index);
        }
        self.depths.extend(bound.into_iter().map(|v| (v, inside)));
        self.depths.extend(inst.results.iter().map(|v| (*v, self.loops)));
        match &inst.op {
            Op::Const(literal) => {
                self.constants.insert(inst.results[0]);
                if *literal == Literal::I64(0) {
                    self.zeros.insert(inst.results[0]);
                }
            }
            Op::Binary(Binary::Eq, a, b)
                if self.types[a.0 as usize] == ValueTy::Scalar(Ty::I64) =>
            {
                self.equalities.insert(inst.results[0], (*a, *b));
            }
            Op::Check { cond, .. } => {
                if let Some((a, b)) = self.equalities.get(cond).copied() {
                    let (a, b) = (self.name(a), self.name(b));
                    let of = |v: Value| (!self.constants.contains(&v), self.depth(v));
                    let (inner, outer) = if of(a) > of(b) { (a, b) } else { (b, a) };
                    if of(inner) > of(outer) {
                        self.names.insert(inner, outer);
                        equal.push(inner);
                    }
                }
            }
            _ => {}
        }
        let outside = std::mem::replace(&mut self.loops, inside);
        inst.op.blocks_mut().for_each(|block| self.block(block));
        self.loops = outside;
    }

    /// Returns arrays of a loop that grow with each iteration by one length, known before the loop.
    fn growing(&self, inst: &Inst) -> Option<Growing> {
        let Op::For { init, carried, body, .. } = &inst.op else { return None };
        let begins_at_0 = |at: &usize| self.zeros.contains(&init[*at]);
        let at = |value: Value| carried.iter().position(|v| *v == value);
        let position = |value: Value| body.insts.iter().position(|i| i.results.contains(&value));
        body.insts.iter().enumerate().find_map(|(grow, inst)| {
            let Op::If { cond, then, otherwise } = &inst.op else { return None };
            if !then.insts.is_empty() || then.yields.is_empty() {
                return None;
            }
            let enough = position(*cond)?;
            let Op::Binary(Binary::Le, need, room) = body.insts[enough].op else { return None };
            let room = at(room).filter(begins_at_0)?;
            let Op::Binary(Binary::Add, a, b) = body.insts[position(need)?].op else { return None };
            let (used, length) = match (at(a), at(b)) {
                (Some(used), None) => (used, b),
                (None, Some(used)) => (used, a),
                _ => return None,
            };
            let grows = then.yields.first() == Some(&carried[room])
                && body.yields[room] == inst.results[0]
                && begins_at_0(&used)
                && body.yields[used] == need
                && self.depth(length) <= self.loops
                && otherwise.insts.iter().all(|inst| only_copies(&inst.op))
                && reads(body, *cond) == 1;
            let arrays: Option<Vec<usize>> = then.yields[1..].iter().map(|v| at(*v)).collect();
            let arrays = arrays.filter(|arrays| grows && !arrays.is_empty())?;
            let kept = arrays.iter().zip(&inst.results[1..]).all(|(at, grown)| {
                let next = body.yields[*at];
                next == *grown || kept_as(body, *grown) == Some(next)
            });
            kept.then_some(Growing { used, room, arrays, length, enough, grow })
        })
    }

    /// Makes the arrays of a loop before it, with room for all.
    fn give_room(
        &mut self,
        inst: &mut Inst,
        growing: &Growing,
        (before, marks): (&mut Vec<Inst>, usize),
    ) {
        let Op::For { count, index, init, carried, body, .. } = &mut inst.op else { return };
        // What the loop makes beside its rows is freed to a mark behind them.
        let marks = before.split_off(before.len() - marks);
        let int = ValueTy::Scalar(Ty::I64);
        let bool = ValueTy::Scalar(Ty::Bool);
        let zero = self.push(before, Op::Const(Literal::I64(0)), int);
        let rows = self.push(before, Op::Binary(Binary::Max, *count, zero), int);
        let length = self.push(before, Op::Binary(Binary::Max, growing.length, zero), int);
        let high = self.push(before, Op::Binary(Binary::MulHigh, rows, length), int);
        let all = self.push(before, Op::Binary(Binary::Mul, rows, length), int);
        let no_high = self.push(before, Op::Binary(Binary::Eq, high, zero), bool);
        let no_sign = self.push(before, Op::Binary(Binary::Ge, all, zero), bool);
        let fits = self.push(before, Op::Binary(Binary::And, no_high, no_sign), bool);
        let too_many = self.push(before, Op::Const(Literal::I64(TOO_MANY)), int);
        let room = self.push(before, Op::Select(fits, all, too_many), int);
        let grown = body.insts[growing.grow].results.clone();
        self.names.extend([(carried[growing.room], room), (grown[0], room)]);
        self.names.insert(inst.results[growing.room], room);
        self.names.insert(inst.results[growing.used], all);
        for (at, grown) in growing.arrays.iter().zip(&grown[1..]) {
            let ty = self.types[carried[*at].0 as usize];
            let ValueTy::Array(element) = ty else { continue };
            let array = self.push(before, Op::Alloc(element, room), ty);
            let mut others = vec![carried[*at], *grown, inst.results[*at], body.yields[*at]];
            others.retain(|other| *other != array);
            self.names.extend(others.into_iter().map(|other| (other, array)));
        }
        before.extend(marks);
        for inst in &mut body.insts {
            let Op::Compact { keep, .. } = &mut inst.op else { continue };
            let kept: Vec<bool> = keep.iter().map(|(v, _)| !grown.contains(v)).collect();
            let mut each = kept.iter();
            keep.retain(|_| each.next() == Some(&true));
            retain(&mut inst.results, &kept);
        }
        let mut at = 0;
        body.insts.retain(|_| {
            at += 1;
            at - 1 != growing.grow && at - 1 != growing.enough
        });
        let used = Inst {
            results: vec![carried[growing.used]],
            op: Op::Binary(Binary::Mul, *index, growing.length),
        };
        body.insts.insert(0, used);
        let stays =
            |at: usize| at != growing.used && at != growing.room && !growing.arrays.contains(&at);
        let stays: Vec<bool> = (0..carried.len()).map(stays).collect();
        retain(init, &stays);
        retain(carried, &stays);
        retain(&mut body.yields, &stays);
        retain(&mut inst.results, &stays);
        let names = &self.names;
        walk::rename_in_place(body, &mut |v| resolve(names, v));
    }

    fn push(&mut self, to: &mut Vec<Inst>, op: Op, ty: ValueTy) -> Value {
        self.types.push(ty);
        let value = Value(self.types.len() as u32 - 1);
        self.depths.insert(value, self.loops);
        to.push(Inst { results: vec![value], op });
        value
    }
}

/// Returns the number of marks that stand directly before a loop, if what its iterations free is freed to these or to
/// marks inside: arrays that are made before them stay.
fn marks_before(inst: &Inst, before: &[Inst]) -> Option<usize> {
    let marks = before.iter().rev().take_while(|inst| matches!(inst.op, Op::Mark)).count();
    let marks_of_loop = &before[before.len() - marks..];
    let mut own: FxHashSet<Value> = marks_of_loop.iter().map(|mark| mark.results[0]).collect();
    let mut freed_to = Vec::new();
    for block in inst.op.blocks() {
        walk::each_inst(block, &mut |inst| match &inst.op {
            Op::Mark => own.extend(&inst.results),
            Op::Compact { since, .. } => freed_to.push(*since),
            _ => {}
        });
    }
    freed_to.iter().all(|mark| own.contains(mark)).then_some(marks)
}

/// Returns the number of times that a block and those in it read a value.
fn reads(block: &Block, value: Value) -> usize {
    let mut reads = 0;
    for inst in &block.insts {
        walk::each_read(inst, &mut |v| reads += usize::from(v == value));
    }
    reads + block.yields.iter().filter(|v| **v == value).count()
}

/// Returns true if an operation takes part in the growth of an array and does nothing else.
fn only_copies(op: &Op) -> bool {
    op.class() == Class::Pure || matches!(op, Op::Alloc(..) | Op::Copy { .. })
}

/// Returns the name of an array behind the compaction of a block that keeps it.
fn kept_as(body: &Block, array: Value) -> Option<Value> {
    body.insts.iter().find_map(|inst| {
        let Op::Compact { keep, .. } = &inst.op else { return None };
        let at = keep.iter().position(|(kept, _)| *kept == array)?;
        Some(inst.results[at])
    })
}

/// The elements of an array.
#[derive(Clone, Copy)]
enum Elements {
    /// All are this value.
    Same(Value),
    /// They are the multiples of this int.
    Multiples(Value),
}

/// Computes the elements of arrays that a loop fills with one value, or with multiples of one, instead of storing them.
/// Returns true if there are any.
fn compute_places(code: &mut Code<'_>) -> bool {
    let mut uses: FxHashMap<Value, Uses> = FxHashMap::default();
    for body in &code.bodies {
        count_uses(body, &mut uses);
    }
    for sink in code.sinks.iter().flat_map(|sinks| sinks.iter()) {
        sink.each_value(|v| uses.entry(v).or_default().others += 1);
    }
    let mut found = FxHashMap::default();
    code.bodies.iter().for_each(|body| filled(body, &uses, &mut found));
    let mut names = FxHashMap::default();
    let places = Places { uses, found };
    code.bodies.iter_mut().for_each(|body| places.replace_loads(body, &mut names));
    code.rename_all(&names);
    !places.found.is_empty()
}

/// The uses of a value.
#[derive(Clone, Copy, Default)]
struct Uses {
    /// As the array of a load, and of a store.
    loads: usize,
    stores: usize,
    others: usize,
}

/// The uses of values, and the arrays whose elements are known.
struct Places {
    uses: FxHashMap<Value, Uses>,
    found: FxHashMap<Value, Elements>,
}

fn count_uses(block: &Block, uses: &mut FxHashMap<Value, Uses>) {
    with_stack(|| {
        for inst in &block.insts {
            let mut others = inst.op.operands();
            match &inst.op {
                Op::Load { array, index } => {
                    uses.entry(*array).or_default().loads += 1;
                    others = vec![*index];
                }
                Op::Store { array, index, value } => {
                    uses.entry(*array).or_default().stores += 1;
                    others = vec![*index, *value];
                }
                _ => {}
            }
            others.into_iter().for_each(|v| uses.entry(v).or_default().others += 1);
            inst.op.blocks().for_each(|inner| count_uses(inner, uses));
        }
        block.yields.iter().for_each(|v| uses.entry(*v).or_default().others += 1);
    });
}

/// Finds the arrays of a block that only one loop of it stores to, in each iteration, and that are only loaded from.
fn filled(block: &Block, uses: &FxHashMap<Value, Uses>, found: &mut FxHashMap<Value, Elements>) {
    with_stack(|| {
        let own: FxHashSet<Value> = block
            .insts
            .iter()
            .filter(|inst| matches!(inst.op, Op::Alloc(Ty::I64, _)))
            .map(|inst| inst.results[0])
            .collect();
        let alone = |array: &Value| {
            let uses = uses.get(array).copied().unwrap_or_default();
            own.contains(array) && uses.stores == 1 && uses.others == 0
        };
        for inst in &block.insts {
            inst.op.blocks().for_each(|inner| filled(inner, uses, found));
            let Op::For { index: number, body, carried, .. } = &inst.op else { continue };
            let mut inside: FxHashSet<Value> = carried.iter().copied().collect();
            inside.insert(*number);
            each_defined(body, &mut |v| {
                inside.insert(v);
            });
            for inst in &body.insts {
                let Op::Store { array, index, value } = &inst.op else { continue };
                if index != number || !alone(array) {
                    continue;
                }
                if !inside.contains(value) {
                    found.insert(*array, Elements::Same(*value));
                    continue;
                }
                let defined = body.insts.iter().find(|inst| inst.results.contains(value));
                if let Some(Inst { op: Op::Binary(Binary::Mul, a, b), .. }) = defined
                    && a == number
                    && !inside.contains(b)
                {
                    found.insert(*array, Elements::Multiples(*b));
                }
            }
        }
    });
}

/// Visits the values that a block and those in it define.
fn each_defined(block: &Block, visit: &mut dyn FnMut(Value)) {
    walk::each_inst(block, &mut |inst| {
        inst.results.iter().for_each(|v| visit(*v));
        inst.op.carried().iter().for_each(|v| visit(*v));
        if let Op::For { index, .. } = &inst.op {
            visit(*index);
        }
    });
}

impl Places {
    /// Replaces the loads from arrays whose elements are known, and removes the stores, and the arrays that nobody uses.
    fn replace_loads(&self, block: &mut Block, names: &mut FxHashMap<Value, Value>) {
        with_stack(|| {
            block.insts.retain_mut(|inst| {
                inst.op.blocks_mut().for_each(|inner| self.replace_loads(inner, names));
                match inst.op {
                    Op::Load { array, index } => match self.found.get(&array) {
                        Some(Elements::Same(value)) => {
                            names.insert(inst.results[0], *value);
                            false
                        }
                        Some(Elements::Multiples(of)) => {
                            inst.op = Op::Binary(Binary::Mul, index, *of);
                            true
                        }
                        None => true,
                    },
                    Op::Store { array, .. } => !self.found.contains_key(&array),
                    Op::Alloc(..) => self.is_needed(inst.results[0]),
                    _ => true,
                }
            });
        });
    }

    fn is_needed(&self, array: Value) -> bool {
        let Some(Uses { loads, stores, others }) = self.uses.get(&array) else { return false };
        loads + stores + others > 0 && !self.found.contains_key(&array)
    }
}

#[cfg(test)]
mod tests {
    use crate::kir::facts::function_facts;
    use crate::kir::loops::make_room_for_equal_rows;
    use crate::kir::{parse, print, verify};

    fn rewritten(text: &str) -> String {
        let mut module = parse(text).unwrap();
        assert_eq!(verify(&module), Ok(()));
        let facts = function_facts(&module);
        make_room_for_equal_rows(&mut module, &facts);
        assert_eq!(verify(&module), Ok(()), "{}", print(&module));
        print(&module)
    }

    /// A function that makes `v0` rows, whose length is computed by `before` the loop and `inside` it, and then does
    /// something else.
    fn rows(before: &str, inside: &str, behind: &str) -> String {
        format!(
            "function \"f\"(v0: i64, v1: i64, v2: [i64]) -> i64 {{
              v3: i64 = const 0 v4: [i64] = alloc v0 v5: [i64] = alloc v0 v6: [i64] = alloc v3 {before}
              v7: mark = mark
              v8: i64, v9: i64, v10: [i64] = for v11 < v0 carry v12: i64 = v3, v13: i64 = v3, v14: [i64] = v6 {{
                {inside}
                v15: i64 = add v12, v20
                v16: bool = le v15, v13
                v17: i64, v18: [i64] = if v16 {{ yield v13, v14 }} else {{
                  v19: [i64] = alloc v15 copy v14 -> v19 count v12 yield v15, v19 }}
                for v21 < v20 {{ v22: i64 = add v12, v21 store v18[v22] = v11 }}
                store v4[v11] = v12 store v5[v11] = v20
                v23: [i64] = compact v7 keep v18[..v17]
                yield v15, v17, v23
              }}
              {behind}
            }}"
        )
    }

    const LENGTH: &str = "v20: i64 = add v1, v1";
    const READ: &str = "v30: i64 = load v4[v1] v31: i64 = load v5[v1] v32: i64 = add v30, v31
        v33: i64 = load v10[v32] yield v33";

    #[test]
    fn rows_of_one_length_have_their_room_before_and_their_places_are_computed() {
        let text = rewritten(&rows(LENGTH, "", READ));
        for gone in ["if", "compact", "carry", "copy"] {
            assert!(!text.contains(gone), "{gone} in {text}");
        }
        assert_eq!(text.matches("alloc").count(), 1, "{text}");
        assert_eq!(text.matches("store").count(), 1, "{text}");
        assert!(text.contains("v30: i64 = mul v1, v20"), "{text}");
    }

    #[test]
    fn a_length_that_changes_with_the_rows_makes_them_grow() {
        let text = rewritten(&rows("", "v20: i64 = load v2[v11]", READ));
        assert!(text.contains("carry") && text.contains("compact"), "{text}");
    }

    #[test]
    fn a_length_that_a_check_has_found_equal_is_known() {
        let inside = "v24: i64 = load v2[v11] v25: bool = eq v24, v20 check v25 @0";
        let text = rows(LENGTH, inside, READ).replace("add v12, v20", "add v12, v24");
        let text = rewritten(&text);
        assert!(!text.contains("carry") && text.contains("check"), "{text}");
        let constant = rows(
            "v26: i64 = const 3 v20: i64 = load v2[v3] v27: bool = eq v20, v26 check v27 @0",
            "",
            READ,
        );
        assert!(rewritten(&constant).contains("mul v11, v26"));
    }

    #[test]
    fn places_that_others_are_given_are_stored() {
        let text = rewritten(&rows(
            LENGTH,
            "",
            "v30: [i64] = slice v4[v1..] v31: i64 = load v30[v3] yield v31",
        ));
        assert!(text.contains("store v4"), "{text}");
        assert!(!text.contains("carry"), "{text}");
    }

    #[test]
    fn what_is_made_beside_the_rows_is_freed() {
        let inside = "v24: [i64] = alloc v1 store v24[v3] = v11";
        let text = rewritten(&rows(LENGTH, inside, READ));
        assert!(text.contains("compact v7\n"), "{text}");
        let (before, _) = text.split_once("mark").unwrap();
        assert!(before.contains("alloc"), "the rows are older than the mark: {text}");
    }
}
