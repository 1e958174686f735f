//! Loops with a condition: less work in each iteration, for the same results.
//!
//! The front end lowers tail recursion over arrays to loops that carry much: a flag that says if the recursion goes
//! on, the results beside the arguments, for every array the number of elements that it may overwrite
//! (its *room*, 0 until the first update has copied the array), and a compaction of what iterations allocate.
//!
//! ```text
//! joins      values that a branch or loop passes on unchanged, or that nobody reads, are not passed on
//! rotate     a flag becomes the condition itself: the last iteration's code stands behind the loop
//! exits      what the last iteration of a loop with several exits writes is written behind the loop
//! unswitch   a loop that copies an array before the first update goes on as a loop that has copied it
//! forward    what one iteration stores and a later one loads is carried
//! counted    a loop that counts is a counted one, and its checks are made before it where they can be
//!   merged_loads     what both sides of a branch load from one array is loaded before it
//! ```
//!
//! Beside them, `equal_rows` has loops that make rows of one length take the memory of all before they begin.
//!
//! The first four make plain loops of those over arrays:
//!
//! ```text
//! while carry go = true, i, a, room, r, s { yield go } do {         while carry i, a, room { i ≠ n and not room > 0 } do { … }
//!   if i = n {                                                 →    while carry i { i ≠ n } do {
//!     yield false, i, a, room, a, room                                a[i] = …
//!   } else {                                                          yield i + 1
//!     b, own = if room > 0 { a, room } else { copy of a, #a }       }
//!     b[i] = …
//!     yield true, i + 1, b, own, r, s
//!   }
//! }
//! ```

mod counted;
mod equal_rows;
mod exits;
mod forward;
mod joins;
mod merged_loads;
mod outlined;
mod rotate;
mod unswitch;

pub use forward::forward_stores;

use super::facts::FunctionFacts;
use super::{Block, Function, FunctionId, Kernel, Literal, Module, Op, Sink, Value, ValueTy, walk};
use crate::stack::with_stack;
use rustc_hash::FxHashMap;

/// Code with more instructions than this is left as it is.
const MAX_INSTRUCTIONS: usize = 6000;

/// Simplifies the loops of a module; `facts` are those about its functions. May add functions.
pub fn simplify_loops(module: &mut Module, facts: &[FunctionFacts]) {
    each_code(module, facts, &simplify);
}

/// Makes counted loops of those that count, once the ranges of ints are known; `facts` are those about the functions.
/// Returns true if anything has changed.
pub fn count_loops(module: &mut Module, facts: &[FunctionFacts]) -> bool {
    let changed = std::cell::Cell::new(false);
    each_code(module, facts, &|mut code| {
        let mut has_loops = false;
        let mut instructions = 0;
        code.each_inst(&mut |op| {
            instructions += 1;
            has_loops |= matches!(op, Op::While { .. });
        });
        if has_loops && instructions <= MAX_INSTRUCTIONS {
            if remove_compactions(&mut code) {
                joins::remove_joins(&mut code);
                changed.set(true);
            }
            if counted::count_loops(&mut code) {
                changed.set(true);
            }
        }
    });
    changed.get()
}

/// Gives rows of one length their memory before the loops that make them; `facts` are those about the functions.
pub fn make_room_for_equal_rows(module: &mut Module, facts: &[FunctionFacts]) {
    each_code(module, facts, &|mut code| {
        let mut instructions = 0;
        code.each_inst(&mut |_| instructions += 1);
        if instructions <= MAX_INSTRUCTIONS {
            equal_rows::make_room(&mut code);
        }
    });
}

/// Rewrites the code of each function and kernel of a module, and adds the functions that this adds.
fn each_code(module: &mut Module, facts: &[FunctionFacts], rewrite: &dyn Fn(Code<'_>)) {
    let mut functions = NewFunctions { before: module.functions.len(), added: Vec::new() };
    for Function { body, types, .. } in &mut module.functions {
        let (bodies, sinks) = (vec![body], Vec::new());
        rewrite(Code { bodies, sinks, types, facts, functions: &mut functions });
    }
    for Kernel { stages, types, .. } in &mut module.kernels {
        let (bodies, sinks) = stages.iter_mut().map(|s| (&mut s.body, &mut s.sinks)).unzip();
        rewrite(Code { bodies, sinks, types, facts, functions: &mut functions });
    }
    module.functions.append(&mut functions.added);
}

/// Functions that are added to a module.
struct NewFunctions {
    /// The number of functions that the module has already.
    before: usize,
    added: Vec<Function>,
}

impl NewFunctions {
    /// The function that is added next.
    fn next_id(&self) -> FunctionId {
        FunctionId((self.before + self.added.len()) as u32)
    }
}

/// The code of a function or of a kernel.
struct Code<'c> {
    /// The body of the function, or of each stage.
    bodies: Vec<&'c mut Block>,
    /// The sinks of each stage.
    sinks: Vec<&'c mut Vec<Sink>>,
    /// The type of each value, by number.
    types: &'c mut Vec<ValueTy>,
    /// The facts about the functions that the code may call.
    facts: &'c [FunctionFacts],
    functions: &'c mut NewFunctions,
}

fn simplify(mut code: Code<'_>) {
    let mut has_loops = false;
    let mut instructions = 0;
    code.each_inst(&mut |op| {
        instructions += 1;
        has_loops |= matches!(op, Op::While { .. });
    });
    if !has_loops || instructions > MAX_INSTRUCTIONS {
        return;
    }
    joins::remove_joins(&mut code);
    rotate::rotate_loops(&mut code);
    exits::move_exits(&mut code);
    joins::remove_joins(&mut code);
    unswitch::unswitch_loops(&mut code);
    remove_compactions(&mut code);
    joins::remove_joins(&mut code);
}

/// Removes the compactions of loops that take no memory; returns true if there are any.
fn remove_compactions(code: &mut Code<'_>) -> bool {
    let mut names = FxHashMap::default();
    let facts = code.facts;
    for body in code.bodies.iter_mut() {
        with_stack(|| remove_compactions_in(body, false, facts, &mut names));
    }
    code.rename_all(&names);
    !names.is_empty()
}

/// Removes the compactions of a block, if `idle`, and those in its loops that take no memory; `names` gets the new
/// names of their results.
fn remove_compactions_in(
    block: &mut Block,
    idle: bool,
    facts: &[FunctionFacts],
    names: &mut FxHashMap<Value, Value>,
) {
    block.insts.retain(|inst| {
        let Op::Compact { keep, .. } = &inst.op else { return true };
        if idle {
            names.extend(inst.results.iter().copied().zip(keep.iter().map(|(array, _)| *array)));
        }
        !idle
    });
    for inst in &mut block.insts {
        let idle =
            idle || inst.op.is_loop() && !inst.op.blocks().any(|inner| takes_memory(inner, facts));
        for inner in inst.op.blocks_mut() {
            with_stack(|| remove_compactions_in(inner, idle, facts, names));
        }
    }
}

/// Returns true if a block takes memory, other than to move what it keeps.
fn takes_memory(block: &Block, facts: &[FunctionFacts]) -> bool {
    let mut found = false;
    walk::each_inst(block, &mut |inst| {
        found |= match inst.op {
            Op::Alloc(..) => true,
            // A function that was added copies arrays.
            Op::Call(callee, _) => facts.get(callee.0 as usize).is_none_or(|f| f.allocates),
            _ => false,
        }
    });
    found
}

impl Code<'_> {
    fn each_inst(&self, visit: &mut dyn FnMut(&Op)) {
        self.bodies.iter().for_each(|body| walk::each_inst(body, &mut |inst| visit(&inst.op)));
    }

    /// The constants among the values.
    fn constants(&self) -> FxHashMap<Value, Literal> {
        let mut constants = FxHashMap::default();
        for body in &self.bodies {
            walk::each_inst(body, &mut |inst| {
                if let Op::Const(literal) = inst.op {
                    constants.insert(inst.results[0], literal);
                }
            });
        }
        constants
    }

    /// Renames the values that have new names.
    fn rename_all(&mut self, names: &FxHashMap<Value, Value>) {
        if names.is_empty() {
            return;
        }
        let mut to = |value| resolve(names, value);
        self.bodies.iter_mut().for_each(|body| walk::rename_in_place(body, &mut to));
        for sink in self.sinks.iter_mut().flat_map(|sinks| sinks.iter_mut()) {
            sink.map_values(to);
        }
    }
}

/// The last name of a value, which may be renamed more than once.
fn resolve(names: &FxHashMap<Value, Value>, mut value: Value) -> Value {
    while let Some(name) = names.get(&value) {
        value = *name;
    }
    value
}

/// A new value of the type of another one.
fn like(types: &mut Vec<ValueTy>, value: Value) -> Value {
    types.push(types[value.0 as usize]);
    Value(types.len() as u32 - 1)
}

#[cfg(test)]
mod tests {
    use super::super::facts::function_facts;
    use super::super::{parse, print, verify};
    use super::*;

    fn simplified(text: &str) -> (Module, String) {
        let mut module = parse(text).unwrap();
        let facts = function_facts(&module);
        simplify_loops(&mut module, &facts);
        forward_stores(&mut module);
        assert_eq!(verify(&module), Ok(()), "{}", print(&module));
        let text = print(&module);
        (module, text)
    }

    /// The text of the loop at the head of this module, and what is behind `update` in its body.
    fn updating(update: &str) -> String {
        format!(
            "function \"f\"(v0: i64, v1: [i64], v2: bool) -> [i64], i64 {{
              v3: mark = mark v4: bool = const true v5: i64 = const 0 v6: [i64] = alloc v5
              v10: bool, v11: i64, v12: [i64], v13: i64, v14: [i64], v15: i64 =
              while carry v20: bool = v4, v21: i64 = v5, v22: [i64] = v1, v23: i64 = v5, v24: [i64] = v6, v25: i64 = v5 {{
                yield v20
              }} do {{
                v30: bool = eq v21, v0
                v31: bool, v32: i64, v33: [i64], v34: i64, v35: [i64], v36: i64 = if v30 {{
                  v40: bool = const false yield v40, v21, v22, v23, v22, v23
                }} else {{
                  v41: bool = const true v42: i64 = const 0 v43: i64 = const 1 v44: i64 = add v21, v43
                  {update}
                  yield v41, v44, v50, v51, v24, v25
                }}
                v37: [i64], v38: [i64] = compact v3 keep v33[..v0], v35[..v36]
                yield v31, v32, v37, v34, v38, v36
              }}
              yield v14, v15
            }}"
        )
    }

    const COPIES: &str = "v45: bool = gt v23, v42
        v50: [i64], v51: i64 = if v45 { yield v22, v23 } else {
          v46: [i64] = alloc v0 copy v22 -> v46 count v0 yield v46, v0 }
        store v50[v21] = v21";

    /// The body of the last loop of a function.
    fn last_loop(module: &Module, function: usize) -> String {
        let text = print(&Module {
            functions: vec![module.functions[function].clone()],
            kernels: Vec::new(),
        });
        text[text.rfind("while").unwrap()..].to_string()
    }

    #[test]
    fn a_loop_that_has_copied_its_array_only_stores() {
        let (module, text) = simplified(&updating(COPIES));
        assert_eq!(module.functions.len(), 2, "{text}");
        assert!(text.contains("call \"until arrays are copied 1\""), "{text}");
        let hot = last_loop(&module, 0);
        let (hot, _) = hot.split_once("\n  }\n").unwrap();
        for gone in ["if", "alloc", "copy ->", "compact", "[i64]", "bool = const"] {
            assert!(!hot.contains(gone), "{gone} in {hot}");
        }
        assert!(hot.contains("store"), "{hot}");
    }

    #[test]
    fn a_room_that_may_become_0_again_is_asked_for() {
        let forgets = COPIES.to_string() + " v52: i64 = sub v51, v43";
        let text = updating(&forgets).replace("v44, v50, v51, v24", "v44, v50, v52, v24");
        let (module, text) = simplified(&text);
        assert_eq!(module.functions.len(), 1, "{text}");
        assert!(text.contains("copy"), "{text}");
    }

    #[test]
    fn a_flag_that_may_be_false_in_two_ways_stays() {
        let two = COPIES.to_string() + " v47: bool = lt v21, v42";
        let text = updating(&two).replace("yield v41, v44", "yield v47, v44");
        let (_, text) = simplified(&text);
        let carries = |line: &str| line.contains("while carry") && line.contains("bool");
        assert!(text.lines().any(carries), "the loop carries its flag: {text}");
    }

    #[test]
    fn what_an_exit_writes_is_written_behind_the_loop() {
        let text = "function \"f\"(v0: i64, v1: [i64], v2: i64) -> [i64], i64 {
          v3: mark = mark v4: bool = const true v5: i64 = const 0 v6: i64 = const 1
          v10: bool, v11: i64, v12: [i64] =
          while carry v20: bool = v4, v21: i64 = v5, v22: [i64] = v1 { yield v20 } do {
            v30: bool = eq v21, v0
            v31: bool, v32: i64, v33: [i64] = if v30 {
              v40: bool = const false yield v40, v21, v22
            } else {
              v41: i64 = load v22[v21] v42: bool = gt v41, v2
              v43: bool, v44: i64, v45: [i64] = if v42 {
                v46: [i64] = alloc v0 copy v22 -> v46 count v0 store v46[v21] = v2
                v47: bool = const false yield v47, v41, v46
              } else {
                v48: i64 = add v21, v6 store v22[v21] = v5 yield v4, v48, v22
              }
              yield v43, v44, v45
            }
            v34: [i64] = compact v3 keep v33[..v0]
            yield v31, v32, v34
          }
          yield v12, v11
        }";
        let (_, text) = simplified(text);
        let (hot, behind) = text.split_once("\n  }\n").unwrap();
        let (_, hot) = hot.split_once("while").unwrap();
        for gone in ["alloc", "copy", "compact", "[i64]"] {
            assert!(!hot.contains(gone), "{gone} in {text}");
        }
        assert!(hot.contains("store") && behind.contains("alloc"), "{text}");
        assert_eq!(behind.matches("load").count(), 1, "{text}");
    }

    #[test]
    fn loops_that_only_compute_keep_their_flag() {
        let text = "function \"f\"(v0: i64) -> i64 {
          v1: bool = const true v2: i64 = const 0
          v3: bool, v4: i64 = while carry v5: bool = v1, v6: i64 = v2 { yield v5 } do {
            v7: bool = eq v6, v0
            v8: bool, v9: i64 = if v7 { v10: bool = const false yield v10, v6 }
            else { v11: bool = const true v12: i64 = add v6, v6 yield v11, v12 }
            yield v8, v9
          }
          yield v4
        }";
        assert!(simplified(text).1.contains("while carry v5: bool"));
    }

    #[test]
    fn a_loop_behind_the_last_iteration_of_another_is_rotated_too() {
        let inner = |first: &str, result: &str, v: u32| {
            let [go, i, a, b, c, d, e, f, g, h, j, k] =
                std::array::from_fn(|n| format!("v{}", v + n as u32));
            format!(
                "{go}: bool = const true {i}: i64 = const 0
                {a}: bool, {result}: i64 = while carry {b}: bool = {go}, {c}: i64 = {first} {{ yield {b} }} do {{
                  {d}: bool = ge {c}, v0
                  {e}: bool, {f}: i64 = if {d} {{ {g}: bool = const false yield {g}, {c} }}
                  else {{ {h}: bool = const true {j}: i64 = const 1 {k}: i64 = add {c}, {j} store v1[{c}] = {i} yield {h}, {k} }}
                  yield {e}, {f}
                }}"
            )
        };
        let text = format!(
            "function \"f\"(v0: i64, v1: [i64]) -> i64 {{
              v2: bool = const true v3: i64 = const 0
              v4: bool, v5: i64 = while carry v6: bool = v2, v7: i64 = v3 {{ yield v6 }} do {{
                v8: bool = ge v7, v0
                v9: bool, v10: i64 = if v8 {{ {} v11: bool = const false yield v11, v12 }}
                else {{ v13: bool = const true v14: i64 = const 1 v15: i64 = add v7, v14 store v1[v7] = v7 yield v13, v15 }}
                {}
                v17: i64 = max v10, v16
                yield v9, v17
              }}
              yield v5
            }}",
            inner("v7", "v12", 20),
            inner("v10", "v16", 40)
        );
        let (_, text) = simplified(&text);
        assert!(
            !text.lines().any(|line| line.contains("while carry") && line.contains("bool")),
            "{text}"
        );
    }

    #[test]
    fn random_code_stays_lawful() {
        for seed in 0..500u64 {
            let bytes: Vec<u8> = (0..400).map(|i| crate::random::bits(seed, i) as u8).collect();
            let mut module = crate::testkit::generate::generate(&bytes, true).module;
            let facts = function_facts(&module);
            make_room_for_equal_rows(&mut module, &facts);
            simplify_loops(&mut module, &facts);
            forward_stores(&mut module);
            assert_eq!(verify(&module), Ok(()), "seed {seed}: {}", print(&module));
        }
    }

    /// A loop over an array with this body; `v6` is the counter, which goes on by one.
    fn filling(body: &str) -> String {
        format!(
            "function \"f\"(v0: i64, v1: [f64], v2: [f64]) -> i64 {{
              v3: i64 = const 0 v4: i64 = const 1 v5: i64 = const 2
              v9: i64 = while carry v6: i64 = v5 {{ v7: bool = lt v6, v0 yield v7 }} do {{
                {body}
                v8: i64 = add v6, v4
                yield v8
              }}
              yield v9
            }}"
        )
    }

    #[test]
    fn what_an_iteration_stored_is_not_loaded_again() {
        let fibonacci = "v10: i64 = sub v6, v4 v11: f64 = load v1[v10]
            v12: i64 = sub v6, v5 v13: f64 = load v1[v12] v14: f64 = add v11, v13 store v1[v6] = v14";
        let (_, text) = simplified(&filling(fibonacci));
        assert!(text.contains("carry v6: i64 = v5, v16: f64 = v15, v18: f64 = v15"), "{text}");
        for (first, otherwise) in [("load v1[v10]", "yield v16"), ("load v1[v12]", "yield v18")] {
            let (_, side) = text.split_once(first).unwrap();
            let side = side.split_once("store").unwrap().0;
            assert!(side.contains(otherwise), "{text}");
        }
        assert!(text.contains("yield v8, v14, v16"), "{text}");
    }

    #[test]
    fn what_something_else_may_write_is_loaded() {
        let load = "v10: i64 = sub v6, v4 v11: f64 = load v1[v10]";
        for body in [
            // Another array may be the same one. A store may not happen. What lies ahead was there before the loop.
            // A slice is another one in each iteration.
            format!("{load} store v2[v6] = v11 store v1[v6] = v11"),
            format!("{load} store v2[v6] = v11"),
            format!("{load} v12: bool = lt v6, v4 if v12 {{ store v1[v6] = v11 }}"),
            format!("{load} v12: i64 = sub v6, v5 store v1[v12] = v11"),
            format!("v12: [f64] = slice v1[v6..] {load} store v12[v6] = v11")
                .replace("v1[v10]", "v12[v10]"),
        ] {
            let (_, text) = simplified(&filling(&body));
            assert!(text.contains("while carry v6: i64 = v5 {"), "{text}");
        }
    }

    /// A loop that appends to an array, its room beside it; `v6` is the length, `v20` the array.
    fn appending(body: &str, copied: &str) -> String {
        format!(
            "function \"f\"(v0: i64, v1: [f64], v2: [f64]) -> [f64] {{
              v3: i64 = const 0 v4: i64 = const 1 v5: i64 = const 2 v11: f64 = const 0.0
              v9: i64, v21: [f64], v22: i64 =
              while carry v6: i64 = v5, v20: [f64] = v1, v23: i64 = v3 {{ v7: bool = lt v6, v0 yield v7 }} do {{
                v18: mark = mark
                {body}
                v8: i64 = add v6, v4
                v24: bool = ge v23, v8
                v25: [f64], v26: i64 = if v24 {{ yield v20, v23 }} else {{
                  v27: i64 = mul v8, v5 v28: [f64] = alloc v27 copy {copied} -> v28 count v6 yield v28, v27 }}
                store v25[v6] = v12
                v29: i64 = max v8, v26
                v30: [f64] = compact v18 keep v25[..v29]
                yield v8, v30, v26
              }}
              yield v21
            }}"
        )
    }

    #[test]
    fn what_was_appended_last_is_carried() {
        let last = "v10: i64 = sub v6, v4 v12: f64 = load v20[v10]";
        let carries = |text: &str| simplified(text).1.contains("f64 = v");
        assert!(carries(&appending(last, "v20")), "{}", simplified(&appending(last, "v20")).1);
        let branch = "v10: i64 = sub v6, v4 v13: bool = lt v10, v5
            v12: f64 = if v13 { v14: f64 = load v20[v10] yield v14 } else { yield v11 }";
        assert!(carries(&appending(branch, "v20")), "a load in a branch");
        assert!(!carries(&appending(last, "v2")), "a copy of another array");
        let other = appending(last, "v20").replace("compact v18 keep v25", "compact v18 keep v2");
        assert!(!carries(&other), "another array in the next iteration");
        let looped = "v10: i64 = sub v6, v4 v12: f64 = for v13 < v6 reduce add { v14: f64 = load v20[v10] yield v14 }";
        assert!(!carries(&appending(looped, "v20")), "a load in a loop");
    }

    #[test]
    fn joins_of_one_value_go() {
        let text = "function \"f\"(v0: i64, v1: [i64], v2: bool) -> i64 {
          v3: i64 = const 0
          v4: i64, v5: i64 = while carry v6: i64 = v3, v7: i64 = v0 { v8: bool = lt v6, v7 yield v8 } do {
            store v1[v6] = v7
            v9: i64 = if v2 { yield v7 } else { yield v7 }
            v10: i64 = add v6, v7
            yield v10, v9
          }
          yield v5
        }";
        let (_, text) = simplified(text);
        assert!(
            !text.contains("if") && !text.contains("v7") && text.contains("yield v0"),
            "{text}"
        );
    }
}
