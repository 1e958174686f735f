//! Tests of the sets of elements for which conditions are known.

use super::*;
use crate::kir::parse;

/// Half-lines, and known bools by their numbers.
type Split = (Vec<String>, Vec<(u32, bool)>);

/// The half-lines and the known bools of the body of a kernel over `v0` elements with element number `v3`; `v1` is an
/// array, `v2` and `v4` are ints. `v5` is the constant 1.
fn split(body: &str) -> Option<Split> {
    let params = "v0: i64, v1: [f64], v2: i64, v4: i64, v6: [f64]";
    let text = format!("kernel \"k\"({params}) over flat v0 at v3 {{ v5: i64 = const 1 {body} }}");
    let module = parse(&text).unwrap();
    let kernel = &module.kernels[0];
    let body = &kernel.stages[0].body;
    let (around, varying) = (std::iter::empty(), std::iter::empty());
    let set = IndexSet::of(body.insts.iter(), around, &kernel.indices, varying, &kernel.types)?;
    let half_lines = set.half_lines.iter().map(|half_line| {
        let HalfLine { number, descends, relation, bound } = half_line;
        let down = if *descends { "down " } else { "" };
        let bound = bound.map_or("0".into(), |bound| format!("v{}", bound.0));
        format!("{down}v{} {relation:?} {bound}", number.0)
    });
    let mut known: Vec<(u32, bool)> =
        set.assumptions.known.iter().map(|(v, is)| (v.0, *is)).collect();
    known.sort();
    Some((half_lines.collect(), known))
}

/// A branch on `v20`: it loads the element before on one side.
const SIDES: &str = "v40: f64 = if v20 { v41: f64 = const 0.0 yield v41 }
    else { v42: i64 = sub v3, v5 v43: f64 = load v1[v42] v44: f64 = add v43, v43 yield v44 }
    store v6[v3] = v40";

#[test]
fn a_disjunction_of_borders_is_false_inside() {
    let conditions = "v10: i64 = const 0 v11: bool = eq v3, v10 v12: bool = ge v3, v2
        v13: bool = or v11, v12 v14: i64 = sub v2, v3 v15: bool = lt v4, v14 v20: bool = or v13, v15";
    let (half_lines, known) = split(&format!("{conditions} {SIDES}")).unwrap();
    assert_eq!(half_lines, ["v3 Ne v10", "v3 Lt v2", "down v14 Le v4"]);
    assert_eq!(known, [(11, false), (12, false), (13, false), (15, false), (20, false)]);
}

#[test]
fn the_side_with_more_work_is_chosen() {
    let (half_lines, _) = split(&format!("v20: bool = lt v3, v2 {SIDES}")).unwrap();
    assert_eq!(half_lines, ["v3 Ge v2"]);
}

#[test]
fn checks_of_a_chosen_side_restrict_the_set() {
    let side = "v40: f64 = if v20 { v41: f64 = const 0.0 yield v41 } else {
            v42: i64 = sub v3, v5 v45: i64 = const 0 v46: bool = ge v42, v45 v47: bool = lt v42, v4
            v48: bool = and v46, v47 check v48 @0 detail v42, v4
            v43: f64 = load v1[v42] v44: f64 = add v43, v43 yield v44 }
        store v6[v3] = v40";
    let (half_lines, known) = split(&format!("v20: bool = eq v3, v2 {side}")).unwrap();
    assert_eq!(half_lines, ["v3 Ne v2", "v42 Ge v45", "v42 Lt v4"]);
    assert!(known.contains(&(48, true)));
}

#[test]
fn parts_of_a_condition_on_data_are_known() {
    let conditions = "v10: f64 = load v1[v3] v11: f64 = const 0.0 v12: bool = lt v10, v11
        v13: bool = eq v3, v2 v20: bool = or v12, v13";
    let checked = "v40: f64 = if v20 { v41: f64 = const 0.0 yield v41 } else {
            v42: i64 = add v3, v5 v47: bool = lt v42, v4 check v47 @0 detail v42, v4
            v43: f64 = load v1[v42] v44: f64 = add v43, v43 yield v44 }
        store v6[v3] = v40";
    let (half_lines, known) = split(&format!("{conditions} {checked}")).unwrap();
    assert_eq!(half_lines, ["v3 Ne v2", "v42 Lt v4", "v42 Ge 0"]);
    assert_eq!(known, [(13, false), (47, true)]);
}

#[test]
fn nothing_is_split_that_only_checks_or_depends_on_data() {
    let only_checks = "v20: bool = lt v3, v2 check v20 @0 detail v3, v2
        v43: f64 = load v1[v3] v44: f64 = add v43, v43 store v6[v3] = v44";
    assert_eq!(split(only_checks), None);
    let data = "v10: f64 = load v1[v3] v11: f64 = const 0.0 v20: bool = lt v10, v11";
    assert_eq!(split(&format!("{data} {SIDES}")), None);
    let single = "v10: bool = ne v3, v2 v20: bool = not v10";
    let known = split(&format!("{single} {SIDES}")).unwrap().1;
    assert_eq!(known, [(10, true), (20, false)], "all but one");
}

#[test]
fn bounds_are_computed_from_what_is_known_before_the_loop() {
    let conditions = "v10: i64 = sub v2, v5 v11: i64 = mul v10, v4 v12: i64 = sub v3, v11
        v20: bool = eq v12, v10";
    assert_eq!(split(&format!("{conditions} {SIDES}")).unwrap().0, ["v12 Ne v10"]);
    let twice = "v10: i64 = add v3, v3 v20: bool = eq v10, v2";
    assert_eq!(split(&format!("{twice} {SIDES}")), None, "two more for each element");
}

/// The half-lines of a kernel that loads at the index `v20`, and what the index is equal to.
fn indexed(index: &str) -> Option<(Vec<String>, String)> {
    let text = format!(
        "kernel \"k\"(v0: i64, v1: [f64], v2: i64, v6: [f64]) over flat v0 at v3 {{ v5: i64 = const 1
          v7: i64 = const 0 {index} v30: f64 = load v1[v20] v31: f64 = add v30, v30 store v6[v3] = v31 }}"
    );
    let module = parse(&text).unwrap();
    let kernel = &module.kernels[0];
    let body = &kernel.stages[0].body;
    let (around, varying) = (std::iter::empty(), std::iter::empty());
    let set = IndexSet::of(body.insts.iter(), around, &kernel.indices, varying, &kernel.types)?;
    let half_line = |line: &HalfLine| {
        let bound = line.bound.map_or("0".into(), |bound| format!("v{}", bound.0));
        format!("v{} {:?} {bound}", line.number.0, line.relation)
    };
    let Equal { to, less } = set.assumptions.equal[&Value(20)];
    let less = less.map_or(String::new(), |less| format!(" - v{}", less.0));
    Some((set.half_lines.iter().map(half_line).collect(), format!("v{}{less}", to.0)))
}

#[test]
fn clamped_indices_are_those_of_neighbours() {
    let lower = indexed("v10: i64 = sub v3, v5 v20: i64 = max v10, v7").unwrap();
    assert_eq!(lower, (vec!["v10 Ge v7".into()], "v10".into()));
    let both = indexed(
        "v10: i64 = add v3, v5 v11: i64 = max v7, v10 v12: i64 = sub v2, v5 v20: i64 = min v12, v11",
    );
    let half_lines = vec!["v10 Ge v7".into(), "v11 Le v12".into()];
    assert_eq!(both, Some((half_lines, "v11".into())));
    assert_eq!(indexed("v10: i64 = mul v3, v3 v20: i64 = max v10, v7"), None, "no neighbour");
}

#[test]
fn indices_that_wrap_around_are_those_of_neighbours() {
    let half_lines = vec!["v20 Ge 0".into(), "v20 Lt v2".into()];
    let next = indexed("v10: i64 = add v3, v5 v20: i64 = rem v10, v2");
    assert_eq!(next, Some((half_lines.clone(), "v10".into())));
    let before = indexed("v9: i64 = add v3, v2 v10: i64 = sub v9, v5 v20: i64 = rem v10, v2");
    assert_eq!(before, Some((half_lines, "v10 - v2".into())));
    let table = indexed("v10: i64 = add v3, v5 v11: i64 = const 3 v20: i64 = rem v10, v11");
    assert_eq!(table, None, "a table of three elements");
    assert_eq!(indexed("v20: i64 = rem v3, v2"), None, "the column of an element");
}

#[test]
fn an_index_that_a_branch_chooses_is_that_of_a_neighbour() {
    let chosen = "v9: bool = eq v3, v7 v20: i64 = if v9 { yield v7 }
        else { v10: i64 = sub v3, v5 yield v10 }";
    assert_eq!(indexed(chosen), Some((vec!["v3 Ne v7".into()], "v10".into())));
}

#[test]
fn what_is_the_same_for_all_elements_is_done_before_the_loop() {
    let text =
        "kernel \"k\"(v0: i64, v1: [f64], v2: i64, v6: [f64], v7: [i64]) over flat v0 at v3 {
        v4: i64 = const 0 v5: i64 = const 1
        v8: bool = lt v2, v4 v9: bool = ge v2, v0 v10: bool = or v8, v9
        v20: f64 = if v10 {
          v11: f64 = const 0.0
          yield v11
        } else {
          v12: bool = lt v2, v0
          check v12 @0 detail v2, v0
          v13: i64 = load v7[v2]
          v14: i64 = sub v3, v5
          v15: i64 = max v14, v13
          v16: f64 = load v1[v15]
          yield v16
        }
        v21: f64 = add v20, v20
        store v6[v3] = v21
    }";
    let module = parse(text).unwrap();
    let kernel = &module.kernels[0];
    let body = &kernel.stages[0].body;
    let (around, varying) = (std::iter::empty(), std::iter::empty());
    let set =
        IndexSet::of(body.insts.iter(), around, &kernel.indices, varying, &kernel.types).unwrap();
    let steps =
        [Step::Check(Value(10), false), Step::Check(Value(12), true), Step::Load(Value(13))];
    assert_eq!(set.prologue, steps);
    let bound = Some(Value(13));
    let half_line = HalfLine { number: Value(14), descends: false, relation: Binary::Ge, bound };
    assert_eq!(set.half_lines, [half_line]);
}
