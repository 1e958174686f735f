//! The special cases that the lowering to kir recognises.

use nesl_core::ir::parse;
use nesl_core::pipeline;
use nesl_runtime::kir::{print, verify};
use nesl_runtime::scalar::Precision;

/// Returns the text of the kir of a program.
fn lowered(program: &str) -> String {
    let program = pipeline::simplified(&parse(program).unwrap());
    let lowered = pipeline::sequential(&program, Precision::Bits64, 0).unwrap();
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
