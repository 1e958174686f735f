//! Tests of the analysis for vectors.

use super::*;
use crate::kir::parse;
use crate::kir::walk;

/// Analyses the body of a kernel over `v0` elements with element number `v3`. The parameters `v1` and
/// `v2` are arrays.
fn analyse(body: &str) -> Result<VectorFacts, NotVectorizable> {
    let params = "v0: i64, v1: [f64], v2: [i64]";
    let function =
        "function \"half\"(v0: f64) -> f64 { v1: f64 = const 0.5 v2: f64 = mul v0, v1 yield v2 }";
    let text = format!("{function} kernel \"k\"({params}) over flat v0 at v3 {{ {body} }}");
    let module = parse(&text).unwrap();
    let kernel = &module.kernels[0];
    let constants = FxHashMap::default();
    let around = Surroundings {
        types: &kernel.types,
        constants: &constants,
        may_store: true,
        converts: |_, _| true,
        has_high_products: false,
        assumptions: None,
    };
    let mut analysis = Analysis::new(around, &kernel.indices);
    let body = &kernel.stages[0].body;
    body.insts.iter().for_each(|i| walk::each_read(i, &mut |v| analysis.mark_read(v)));
    analysis.block(body)?;
    analysis.finish(body.insts.iter())
}

#[test]
fn uniformity_follows_the_element_number() {
    let facts = analyse(
        "v4: i64 = const 3 v5: i64 = add v3, v4 v6: i64 = mul v3, v4 v7: f64 = load v1[v5] \
         v8: f64 = add v7, v7 store v1[v3] = v8",
    )
    .unwrap();
    let of = |n| facts.of(Value(n));
    assert_eq!(
        (of(4), of(5), of(6)),
        (Uniformity::Uniform, Uniformity::Affine, Uniformity::Varying)
    );
    assert_eq!(of(7), Uniformity::Varying);
    assert!(facts.cannot_overflow(Value(5)) && !facts.cannot_overflow(Value(6)));
    assert!(facts.has_wide_lanes && !facts.only_byte_lanes);
    assert_eq!(facts.min_elements, 2);
}

#[test]
fn an_element_number_taken_from_another_int_descends() {
    let facts = analyse(
        "v4: i64 = const 3 v5: i64 = sub v0, v3 v6: i64 = sub v5, v4 v7: i64 = sub v4, v6 \
         v8: f64 = load v1[v6] v9: f64 = load v1[v5] v10: f64 = add v8, v9 store v1[v3] = v10",
    )
    .unwrap();
    let descending = [5, 6, 7].map(|n| facts.is_descending(Value(n)));
    assert_eq!(descending, [true, true, false], "one that is taken away ascends");
    assert_eq!(facts.of(Value(6)), Uniformity::Varying);
    let [lane_by_lane, _] = facts.operations;
    assert_eq!(lane_by_lane, 0, "its loads are of vectors");
}

#[test]
fn gathers_alone_are_not_worth_vectors() {
    let why = analyse(
        "v4: i64 = load v2[v3] v5: f64 = load v1[v4] v6: f64 = load v1[v4] store v1[v3] = v6",
    );
    assert!(why.is_ok(), "two vector accesses for two gathers");
    let why = analyse("v4: i64 = load v2[v3] v5: f64 = load v1[v4] store v1[v4] = v5").unwrap_err();
    assert_eq!(why, NotVectorizable("most is done lane by lane"));
    let why = analyse("v4: [i64] = alloc v3 store v2[v3] = v3").unwrap_err();
    assert_eq!(why, NotVectorizable("memory or calls"));
}

#[test]
fn divisions_of_ints_are_worth_vectors_only_among_much_else() {
    let remainders = |divisor: &str| {
        analyse(&format!(
            "v4: i64 = load v2[v3] v5: i64 = const 26 v6: i64 = rem v4, {divisor} \
             v7: i64 = add v6, v4 store v2[v3] = v7"
        ))
    };
    assert_eq!(remainders("v3").unwrap_err(), NotVectorizable("most is done lane by lane"));
    assert!(remainders("v5").is_ok(), "a multiplication instead");
}

#[test]
fn a_divergent_count_makes_carried_values_vary() {
    let facts = analyse(
        "v4: f64 = const 0.0 v5: f64 = for v6 < v3 carry v7: f64 = v4 { v8: f64 = add v7, v7 yield v8 } \
         store v1[v3] = v5",
    )
    .unwrap();
    assert_eq!(facts.of(Value(7)), Uniformity::Varying);
    assert_eq!(facts.of(Value(6)), Uniformity::Uniform, "the iteration number");
}

#[test]
fn comparisons_with_bounds_are_implied_by_the_ends() {
    let facts =
        analyse("v4: bool = lt v3, v0 check v4 @0 v5: f64 = load v1[v3] v6: f64 = add v5, v5 store v1[v3] = v6").unwrap();
    assert!(facts.is_implied_predicate(Value(4)));
    assert!(!facts.is_implied_predicate(Value(5)));
}

#[test]
fn a_side_that_calls_a_function_is_left_to_scalar_code() {
    let load = "v4: f64 = load v1[v3] v5: f64 = const 9.0 v6: bool = lt v5, v4";
    let branch = "v7: f64 = if v6 { v8: f64 = compute \"half\"(v4) yield v8 } \
        else { v9: f64 = add v4, v4 yield v9 }";
    let facts = analyse(&format!("{load} {branch} store v1[v3] = v7")).unwrap();
    assert_eq!(facts.of(Value(7)), Uniformity::Varying);
    let behind = analyse(&format!("{load} store v1[v3] = v5 {branch} store v1[v3] = v7"));
    assert_eq!(behind.unwrap_err(), NotVectorizable("a check behind a write"));
    let both = branch.replace("add v4, v4", "compute \"half\"(v5)");
    let both = analyse(&format!("{load} {both} store v1[v3] = v7"));
    assert_eq!(both.unwrap_err(), NotVectorizable("memory or calls"));
}

#[test]
fn branches_inside_of_each_other_are_if_converted_while_they_are_short() {
    let inner = "v5: i64 = and v3, v4 v6: bool = eq v5, v4 v7: i64 = if v6 { v8: i64 = add v3, v4 yield v8 } \
        else { v9: i64 = sub v3, v4 yield v9 }";
    let side = |inner: &str| {
        let text = format!(
            "kernel \"k\"(v0: i64, v1: [i64], v2: bool) over flat v0 at v3 {{
              v4: i64 = const 1 v10: i64 = if v2 {{ yield v3 }} else {{ {inner} yield v7 }} store v1[v3] = v10 }}"
        );
        let module = parse(&text).unwrap();
        let Op::If { otherwise, .. } = &module.kernels[0].stages[0].body.insts[1].op else {
            unreachable!("the second instruction is the branch")
        };
        (pure_operations(otherwise), is_if_convertible(otherwise))
    };
    assert_eq!(side(inner), (Some(5), true), "two before the branch, one on each side, a choice");
    let long = inner.to_string() + &long_sum();
    assert!(!side(&long).1);
    let loads = inner.replace("sub v3, v4", "load v1[v3]");
    assert_eq!(side(&loads), (None, false));
}

/// Returns the text of twelve additions.
fn long_sum() -> String {
    (20..32).map(|n| format!(" v{n}: i64 = add v3, v3")).collect()
}
