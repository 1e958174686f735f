//! Sequential code: the fusion plans of programs, and the kir that obeys them.

mod programs;

use nesl_core::db::Database;
use nesl_core::fuse::sequential::{self, SequentialPlan};
use nesl_core::ir::{self, parse};
use nesl_core::lower::{self, Unsupported};
use nesl_core::pipeline::{self, Options, simplified};
use nesl_core::thresholds::Thresholds;
use nesl_runtime::kir::{print, verify};
use nesl_runtime::scalar::Precision;

/// Returns the text of the kir of a program.
fn lowered(program: &str) -> String {
    let program = simplified(&parse(program).unwrap());
    let lowered = pipeline::sequential(&program, &Options::at(Precision::Bits64)).unwrap();
    assert_eq!(verify(&lowered.module), Ok(()));
    print(&lowered.module)
}

#[test]
fn to_permute_by_ranks_is_to_sort() {
    let kir = lowered(
        r#"main "main"

fn "main"(v0: [float]) -> [float] {
  v1: [float] = call "sort@float"(v0)
  v1
}

fn "sort@float"(v0: [float]) -> [float] library {
  v1: [int] = rank_down(v0)
  v2: [float] = permute(v0, v1)
  v2
}
"#,
    );
    assert!(kir.contains("extern sort_down"), "{kir}");
    assert!(!kir.contains("rank_down") && !kir.contains("for "), "{kir}");
    assert_eq!(kir.matches("alloc").count(), 1, "{kir}");
}

#[test]
fn ranks_that_something_else_uses_are_ranks() {
    for (of, last) in [("v0", "add(v3, v4)"), ("v1", "v3")] {
        let kir = lowered(&format!(
            r#"main "main"

fn "main"(v0: [int]) -> int {{
  v1: [int] = rank_up(v0)
  v2: [int] = permute({of}, v1)
  v3: int = index(v2, 0)
  v4: int = index(v1, 0)
  v5: int = {last}
  v5
}}
"#,
            last = if of == "v0" { last } else { "copy(v3)" },
        ));
        assert!(kir.contains("extern rank_up") && !kir.contains("sort_up"), "{kir}");
    }
}

#[test]
fn a_failure_in_the_library_knows_the_call() {
    let kir = lowered(
        r#"main "main"

fn "main"(v0: int) -> int {
  v1: int = call "down@int"(v0)
  v1
}

fn "down@int"(v0: int) -> int library {
  v1: bool = lt(v0, 0)
  v2: int = if v1 {
    v3: [char] = text "too low"
    v4: int = error(v3)
    v4
  } else {
    v5: int = sub(v0, 1)
    v6: int = call "down@int"(v5)
    v7: int = add(v6, 1)
    v7
  }
  v2
}
"#,
    );
    // The first parameter is the fault site of the call in the program.
    assert!(kir.contains("text \"too low\""), "{kir}");
    assert!(kir.contains("detail v0"), "{kir}");
}

/// Returns the plans that are printed behind a program, without the program.
fn plans(program: &str) -> String {
    let text = sequential::print(&parse(program).unwrap());
    text.split_once("\nplan ").map_or(String::new(), |(_, plans)| format!("plan {plans}"))
}

#[test]
fn a_plan_shows_vertical_and_horizontal_fusion() {
    let program = r#"main "main"

fn "main"(v0: [float], v1: [float]) -> (float, float) {
  v2: [(float, float)] = each v3: float in v0, v4: float in v1 {
    v5: (float, float) = pair(v3, v4)
    v5
  }
  v6: [float] = each v7: (float, float) in v2 {
    v8: float = first(v7)
    v8
  }
  v9: float = reduce_sum(v6)
  v10: [float] = each v11: (float, float) in v2 {
    v12: float = second(v11)
    v12
  }
  v13: float = reduce_sum(v10)
  v14: (float, float) = pair(v9, v13)
  v14
}
"#;
    let expected = r#"plan "main" {
  fuse v2
  fuse v6
  loop over v2: v9 v13
  fuse v10
}
"#;
    assert_eq!(plans(program), expected);
}

#[test]
fn a_plan_shows_filters_that_share_a_loop_and_appends_that_are_parts() {
    let program = r#"main "main"

fn "main"(v0: [int], v1: int) -> [int] {
  v4: [bool] = each v2: int in v0 {
    v3: bool = lt(v2, v1)
    v3
  }
  v5: [int] = pack(v0, v4)
  v8: [bool] = each v6: int in v0 {
    v7: bool = gt(v6, v1)
    v7
  }
  v9: [int] = pack(v0, v8)
  v10: int = length(v5)
  v13: [bool] = each v11: int in v0 {
    v12: bool = eq(v11, v10)
    v12
  }
  v14: [int] = pack(v0, v13)
  v15: [int] = append(v5, v9)
  v16: [int] = append(v15, v14)
  v16
}
"#;
    // The flags of the third filter are known only when the first has been stored.
    let expected = r#"plan "main" {
  fuse v4
  filters of v0: v5 v9
  fuse v8
  fuse v13
  fuse v14
  part v15
}
"#;
    assert_eq!(plans(program), expected);
}

#[test]
fn a_plan_shows_light_maps_and_gathers_within_bounds() {
    let program = r#"main "main"

fn "main"(v0: [float], v1: float) -> (float, int) {
  v4: [float] = each v2: float in v0 {
    v3: float = mul(v2, v1)
    v3
  }
  v5: float = reduce_max(v4)
  v8: [int] = each v6: float in v4 {
    v7: bool = eq(v6, v5)
    v9: int = if v7 {
      1
    } else {
      0
    }
    v9
  }
  v10: int = reduce_sum(v8)
  v13: [float] = each v11: float in v0 {
    v12: float = sqrt(v11)
    v12
  }
  v14: float = reduce_max(v13)
  v15: float = reduce_min(v13)
  v18: [float] = each v16: float in v13 {
    v17: float = sub(v16, v14)
    v17
  }
  v19: float = reduce_sum(v18)
  v20: int = length(v0)
  v21: [int] = range(0, 2, v20)
  v22: [float] = gather(v0, v21)
  v23: float = reduce_sum(v22)
  v24: int = add(v20, 1)
  v25: [int] = range(0, 2, v24)
  v26: [float] = gather(v0, v25)
  v27: float = reduce_sum(v26)
  v28: float = add(v15, v19)
  v29: float = add(v23, v27)
  v30: float = add(v28, v29)
  v31: (float, int) = pair(v30, v10)
  v31
}
"#;
    // A product takes as long as a load; a root does not, and the last range may go beyond the end.
    let expected = r#"plan "main" {
  fuse v4
  fuse v8
  loop over v13: v14 v15
  fuse v18
  fuse v21
  fuse v22
  within v22
  fuse v25
  fuse v26
}
"#;
    assert_eq!(plans(program), expected);
}

#[test]
fn a_plan_shows_sorts() {
    let program = r#"main "main"

fn "main"(v0: [float]) -> [float] {
  v1: [int] = rank_up(v0)
  v2: [float] = permute(v0, v1)
  v2
}
"#;
    assert_eq!(plans(program), "plan \"main\" {\n  sort up v1\n}\n");
}

#[test]
fn a_sequence_that_two_loops_use_is_not_fused() {
    let program = r#"main "main"

fn "main"(v0: [int]) -> int {
  v1: [int] = each v2: int in v0 {
    v3: int = mul(v2, v2)
    v3
  }
  v4: [int] = scan_sum(v1)
  v5: [int] = scan_max(v1)
  v6: int = index(v4, 0)
  v7: int = index(v5, 0)
  v8: int = add(v6, v7)
  v8
}
"#;
    assert_eq!(plans(program), "");
}

/// Checks the plans of all functions of a program, as sequential code is generated for it.
fn check_plans(program: &ir::Program) {
    let (program, _) = lower::prepare_sequential(&simplified(program), &Thresholds::default());
    for function in &program.functions {
        let plan = SequentialPlan::of(&function.body);
        let verified = sequential::verify(&function.name, &function.body, &plan);
        assert_eq!(verified, Ok(()), "{}", sequential::print(&program));
    }
}

#[test]
fn plans_of_all_programs_are_well_formed() {
    let mut db = Database::new();
    let files = programs::FILES.iter().map(|(_, text)| text);
    let cases = programs::CASES.iter().filter(|case| !case.fails).map(|case| &case.source);
    let mut count = 0;
    for text in files.chain(cases) {
        for program in programs::elaborated::forms(&mut db, text).unwrap_or_default() {
            check_plans(&program);
            count += 1;
        }
    }
    assert!(count > 500, "only {count} programs");
}

#[test]
fn what_only_the_host_can_do_has_a_reason() {
    let program = parse(
        r#"main "main"

fn "main"() -> (int, float) {
  v0: (int, float) = time {
    1
  }
  v0
}
"#,
    );
    let lowered = pipeline::sequential(&program.unwrap(), &Options::at(Precision::Bits64));
    let why = lowered.map(|lowered| lowered.globals).unwrap_err();
    assert_eq!(why, Unsupported::HostOperation);
    assert_eq!(why.to_string(), "an operation that needs the host");
}
