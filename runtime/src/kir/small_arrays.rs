//! Scalar replacement: the elements of an array that is only stored to and loaded from at constant places become values.
//!
//! ```text
//! v1: [i64] = alloc v0
//! store v1[0] = v2                     v5: i64 = add v2, v3
//! store v1[1] = v3               →
//! v4: i64 = load v1[1]
//! v5: i64 = add v2, v4
//! ```
//!
//! A literal inside of an apply-to-each, such as the offsets `[-1, 0, 1]` of a stencil's taps, is such an array once the
//! loop over it is [unrolled](super::unroll).

use super::{Block, Inst, Op, Value, walk};
use rustc_hash::{FxHashMap, FxHashSet};

/// The values of the elements so far, by array and place.
type Elements = FxHashMap<(Value, i64), Value>;

/// Replaces the small arrays that a block allocates, and removes compactions in it that free nothing any more. `constants`
/// are the ints that are constants, `kept` the values that are read elsewhere. Returns the new names of what was loaded.
pub fn replace_small_arrays(
    block: &mut Block,
    constants: &FxHashMap<Value, i64>,
    kept: &FxHashSet<Value>,
) -> FxHashMap<Value, Value> {
    let arrays = small_arrays(block, constants, kept);
    let mut names = FxHashMap::default();
    if arrays.is_empty() {
        return names;
    }
    let mut elements = Elements::default();
    let mut rest = Vec::with_capacity(block.insts.len());
    for mut inst in std::mem::take(&mut block.insts) {
        rename(&mut inst, &arrays, constants, &elements, &mut names);
        match &inst.op {
            Op::Alloc(..) if arrays.contains(&inst.results[0]) => {}
            Op::Store { array, index, value } if arrays.contains(array) => {
                elements.insert((*array, constants[index]), *value);
            }
            Op::Load { .. } if names.contains_key(&inst.results[0]) => {}
            _ => rest.push(inst),
        }
    }
    block.insts = rest;
    for value in &mut block.yields {
        *value = names.get(value).copied().unwrap_or(*value);
    }
    remove_compactions(block);
    names
}

/// Returns the arrays that a block allocates and that are only stored to at constant places, by the block itself, and
/// loaded from where that was stored to.
fn small_arrays(
    block: &Block,
    constants: &FxHashMap<Value, i64>,
    kept: &FxHashSet<Value>,
) -> FxHashSet<Value> {
    let allocates = |inst: &&Inst| matches!(inst.op, Op::Alloc(..));
    let allocated = block.insts.iter().filter(allocates).map(|inst| inst.results[0]);
    let mut arrays: FxHashSet<Value> = allocated.filter(|array| !kept.contains(array)).collect();
    if arrays.is_empty() {
        return arrays;
    }
    block.yields.iter().for_each(|value| {
        arrays.remove(value);
    });
    let mut stored: FxHashSet<(Value, i64)> = FxHashSet::default();
    for inst in &block.insts {
        if let Op::Store { array, index, .. } = &inst.op {
            match constants.get(index) {
                Some(place) => _ = stored.insert((*array, *place)),
                None => _ = arrays.remove(array),
            }
            continue;
        }
        check_uses(inst, constants, &stored, &mut arrays);
    }
    arrays
}

/// Removes the arrays that an instruction uses in another way than by loads from known places.
fn check_uses(
    inst: &Inst,
    constants: &FxHashMap<Value, i64>,
    stored: &FxHashSet<(Value, i64)>,
    arrays: &mut FxHashSet<Value>,
) {
    match &inst.op {
        Op::Load { array, index } => {
            let place = constants.get(index);
            if !place.is_some_and(|place| stored.contains(&(*array, *place))) {
                arrays.remove(array);
            }
        }
        op => op.each_operand(|operand| {
            arrays.remove(&operand);
        }),
    }
    for block in inst.op.blocks() {
        block.insts.iter().for_each(|inst| check_uses(inst, constants, stored, arrays));
        block.yields.iter().for_each(|value| {
            arrays.remove(value);
        });
    }
}

/// Gives what an instruction loads of the arrays the names of the elements, and reads these in its place.
fn rename(
    inst: &mut Inst,
    arrays: &FxHashSet<Value>,
    constants: &FxHashMap<Value, i64>,
    elements: &Elements,
    names: &mut FxHashMap<Value, Value>,
) {
    inst.op.map_operands(|v| names.get(&v).copied().unwrap_or(v));
    if let Op::Load { array, index } = &inst.op
        && arrays.contains(array)
        && let Some(element) = elements.get(&(*array, constants[index]))
    {
        names.insert(inst.results[0], *element);
    }
    for block in inst.op.blocks_mut() {
        block.insts.iter_mut().for_each(|inst| rename(inst, arrays, constants, elements, names));
        block.insts.retain(|inst| match &inst.op {
            Op::Load { array, .. } => !arrays.contains(array),
            _ => true,
        });
        for value in &mut block.yields {
            *value = names.get(value).copied().unwrap_or(*value);
        }
    }
}

/// Removes the compactions of a block that takes no memory any more, and the marks that nobody reads then.
fn remove_compactions(block: &mut Block) {
    let mut takes = false;
    walk::each_inst(block, &mut |inst| {
        takes |= match &inst.op {
            Op::Alloc(..) | Op::Call(..) | Op::Compute(..) | Op::Extern(..) => true,
            Op::Compact { keep, .. } => !keep.is_empty(),
            _ => false,
        };
    });
    if !takes {
        block.insts.retain(|inst| !matches!(inst.op, Op::Compact { .. }));
    }
    let mut read: FxHashSet<Value> = FxHashSet::default();
    block.insts.iter().for_each(|inst| walk::each_read(inst, &mut |v| _ = read.insert(v)));
    let unread = |inst: &Inst| matches!(inst.op, Op::Mark) && !read.contains(&inst.results[0]);
    block.insts.retain(|inst| !unread(inst));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kir::{Literal, parse, print, verify};

    /// The function with this body after replacement in its outermost block; `v0` is an int, `v1` a float.
    fn replaced(body: &str) -> String {
        let text = format!(
            "function \"f\"(v0: i64, v1: f64) -> f64 {{ v2: i64 = const 2 v3: i64 = const 0 v4: i64 = const 1 {body} }}"
        );
        let mut module = parse(&text).unwrap();
        let mut constants = FxHashMap::default();
        let block = &mut module.functions[0].body;
        walk::each_inst(block, &mut |inst| {
            if let Op::Const(Literal::I64(x)) = inst.op {
                constants.insert(inst.results[0], x);
            }
        });
        replace_small_arrays(block, &constants, &FxHashSet::default());
        assert_eq!(verify(&module), Ok(()), "{}", print(&module));
        print(&module)
    }

    #[test]
    fn elements_become_values_also_in_nested_blocks() {
        let text = replaced(
            "v9: mark = mark v5: [f64] = alloc v2 store v5[v3] = v1 v6: f64 = add v1, v1 store v5[v4] = v6
             v7: f64 = load v5[v4]
             v8: f64 = for v10 < v0 reduce add { v11: f64 = load v5[v3] v12: f64 = mul v11, v7 yield v12 }
             compact v9 yield v8",
        );
        for gone in ["alloc", "load", "store", "mark", "compact"] {
            assert!(!text.contains(gone), "{text}");
        }
        assert!(text.contains("mul v1, v6"), "{text}");
    }

    #[test]
    fn the_last_store_before_a_load_counts() {
        let text = replaced(
            "v5: [f64] = alloc v2 store v5[v3] = v1 v6: f64 = load v5[v3] v7: f64 = add v6, v6
             store v5[v3] = v7 v8: f64 = load v5[v3] yield v8",
        );
        assert!(text.contains("add v1, v1") && text.contains("yield v7"), "{text}");
    }

    #[test]
    fn arrays_that_are_used_otherwise_stay() {
        let at_any_place = "v5: [f64] = alloc v2 store v5[v3] = v1 v8: f64 = load v5[v0] yield v8";
        let not_stored = "v5: [f64] = alloc v2 store v5[v3] = v1 v8: f64 = load v5[v4] yield v8";
        let stored_in_a_loop = "v5: [f64] = alloc v2 store v5[v3] = v1
            for v9 < v0 { store v5[v3] = v1 } v8: f64 = load v5[v3] yield v8";
        let copied = "v5: [f64] = alloc v2 store v5[v3] = v1 v6: [f64] = alloc v2
            copy v5 -> v6 count v2 v8: f64 = load v6[v3] yield v8";
        for body in [at_any_place, not_stored, stored_in_a_loop, copied] {
            let text = replaced(body);
            assert!(text.contains("alloc") && text.contains("load"), "{text}");
        }
    }
}
