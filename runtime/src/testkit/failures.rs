//! Checks that do not hold: the first point wins, in the first stage that fails.

use super::{Case, Expect};
use crate::kir::Ty;

pub(super) fn cases(cases: &mut Vec<Case>) {
    let text = "kernel \"k\"(v0: i64, v1: [i64]) over flat v0 at v2 {
  v3: i64 = load v1[v2]
  v4: bool = lt v3, v0
  check v4 @17 detail v3, v0
}";
    let ascending: Vec<i64> = (0..3000).collect();
    let mut late = ascending.clone();
    late[2500] = 9999;
    late[2700] = 8888;
    let mut all = ascending.clone();
    all.fill(3000);
    let case = |name: &str| Case::new(name, text).i64(3000);
    cases.push(case("checks that hold").array(ascending));
    cases.push(case("the first of two fails").array(late).fails(17, 2500, &[9999, 3000]));
    cases.push(case("all fail").array(all).fails(17, 0, &[3000, 3000]));

    let text = "kernel \"k\"(v0: i64, v1: [bool]) over flat v0 at v2 {
  v3: bool = load v1[v2]
  check v3 @0
  check v3 @1 detail v2
}";
    let case = Case::new("the first check of a point", text).i64(3).array([true, false, false]);
    cases.push(case.fails(0, 1, &[]));

    let text = "kernel \"k\"(v0: i64, v1: [i64]) over flat v0 at v2 {
  v3: i64 = const 5
  v4: bool = ne v2, v3
  v5: i64 = scan add v2
  check v4 @2
} then {
  v6: bool = eq v2, v2
  v7: i64 = const 2
  v8: bool = ne v2, v7
  check v8 @3
}";
    let text = text.replace(
        "  v5: i64 = scan add v2\n  check v4 @2\n",
        "  check v4 @2\n  v5: i64 = scan add v2\n",
    );
    let case = Case::new("the first stage that fails", text).i64(100).room(crate::kir::Ty::I64, 1);
    cases.push(case.fails(2, 5, &[]));

    let text = "kernel \"k\"(v0: i64, v1: [i64], v2: [i64]) over segmented v0, v1 at v3, v4, v5 {
  v6: i64 = const 2
  v7: bool = lt v4, v6
  check v7 @4 detail v3
  reduce segment add v5 -> v2
}";
    let case = Case::new("the index over segments", text).i64(4).array([0i64, 2, 2, 5, 9]);
    cases.push(case.room(crate::kir::Ty::I64, 4).fails(4, 4, &[2]));

    let text = "function \"deep\"(v0: i64, v1: i64) {
  v2: i64 = const 0
  v3: bool = gt v0, v2
  if v3 {
    v4: i64 = const 1
    v5: i64 = sub v0, v4
    call \"deep\"(v5, v1)
  } else {
    check v3 @5 detail v0, v1
  }
}
kernel \"k\"(v0: i64) over flat v0 at v1 {
  v2: i64 = const 3
  v3: bool = ge v1, v2
  if v3 {
    for v4 < v2 {
      call \"deep\"(v1, v4)
    }
  }
}";
    cases.push(Case::new("recursion that fails", text).i64(50).fails(5, 3, &[0, 0]));

    let text = "kernel \"k\"(v0: i64, v1: [u8], v2: i64) over flat v0 at v3 {
  v4: i64 = const 1
  v5: bool = ge v3, v4
  if v5 {
    v6: [u8] = slice v1[v4..]
    v7: i64 = sub v2, v3
    fail @6 text v6, v7
  }
}";
    let detailed = text.replace("text v6, v7", "text v6, v7 detail v2, v3");
    let mut case = Case::new("a failure with a text and details", detailed);
    case = case.i64(4).array(*b"_no way").i64(7);
    let (detail, text_of) = (vec![7, 1], Some("no way"));
    case.expect = Expect::Failure { site: 6, work_item: 1, detail, text: text_of };
    cases.push(case);
    let mut case = Case::new("a failure with a text", text).i64(4).array(*b"_no way").i64(7);
    case.expect =
        Expect::Failure { site: 6, work_item: 1, detail: Vec::new(), text: Some("no way") };
    cases.push(case);
    cases.push(Case::new("no failure with a text", text).i64(1).array(*b"_no way").i64(7));

    let text = "kernel \"k\"(v0: i64) over flat v0 at v1 {
  v2: i64 = const 9
  v3: i64 = for v4 < v1 reduce add {
    v5: bool = lt v4, v2
    check v5 @7 detail v4
    yield v4
  }
}";
    cases.push(Case::new("a failure in a loop", text).i64(20).fails(7, 10, &[9]));
    bounds(cases);
}

/// Indices that are checked, by work items and in their loops.
fn bounds(cases: &mut Vec<Case>) {
    let text =
        "kernel \"k\"(v0: i64, v1: [i64], v2: i64, v3: [i64], v4: [i64]) over flat v0 at v5 {
  v6: i64 = load v3[v5]
  v7: i64 = const 0
  v8: bool = ge v6, v7
  v9: bool = lt v6, v2
  v10: bool = and v8, v9
  check v10 @1 detail v6, v2
  v11: i64 = sub v2, v6
  v12: i64 = for v13 < v11 reduce add {
    v14: i64 = add v6, v13
    v15: i64 = const 0
    v16: bool = ge v14, v15
    v17: bool = lt v14, v2
    v18: bool = and v16, v17
    check v18 @2 detail v14, v2
    v19: i64 = load v1[v14]
    yield v19
  }
  store v4[v5] = v12
}";
    let case = |name: &str, places: [i64; 4]| {
        let case = Case::new(name, text).i64(4).array([1i64, 20, 300]).i64(3).array(places);
        case.room(Ty::I64, 4)
    };
    let inside = case("indices in bounds", [2, 0, 1, 2]);
    cases.push(inside.becomes(4, [300i64, 321, 320, 300]));
    cases.push(case("an index behind the end", [2, 0, 3, 2]).fails(1, 2, &[3, 3]));
    cases.push(case("an index before the beginning", [2, -1, 3, 2]).fails(1, 1, &[-1, 3]));
}
