//! The text of small kernels, as the driver gets it.

use expect_test::{Expect, expect};
use nesl_runtime::kir::parse;
use nesl_runtime_ptx::emit::emit;

/// Compares the instructions of the loop over the indices: from its first label to its branch
/// back.
fn check(text: &str, expected: Expect) {
    let code = emit(&parse(text).unwrap()).unwrap();
    let lines: Vec<&str> = code.text.lines().collect();
    let from = lines.iter().position(|line| *line == "L2:").unwrap();
    let to = lines.iter().position(|line| *line == "  bra L2;").unwrap();
    expected.assert_eq(&(lines[from..=to].join("\n") + "\n"));
}

#[test]
fn a_dot_product_accumulates_in_a_register() {
    check(
        "\
kernel \"dot\"(v0: [f64], v1: [f64], v2: i64, v3: [f64]) over flat v2 at v4 {
  v5: f64 = load v0[v4]
  v6: f64 = load v1[v4]
  v7: f64 = mul v5, v6
  reduce add v7 -> v3
}
",
        expect![[r#"
            L2:
              setp.ge.s64 %p3, %rd20, %rd14;
              @%p3 bra L3;
              mad.lo.s64 %rd23, %rd20, 8, %rd11;
              ld.global.f64 %fd3, [%rd23];
              mad.lo.s64 %rd24, %rd20, 8, %rd13;
              ld.global.f64 %fd4, [%rd24];
              mul.rn.f64 %fd5, %fd3, %fd4;
              add.rn.f64 %fd6, %fd2, %fd5;
              mov.f64 %fd2, %fd6;
            L4:
              add.s64 %rd20, %rd20, %rd21;
              bra L2;
        "#]],
    );
}

#[test]
fn a_check_leaves_the_loop() {
    check(
        "\
kernel \"divide\"(v0: [i64], v1: i64, v2: [i64]) over flat v1 at v3 {
  v4: i64 = load v0[v3]
  v5: i64 = const 0
  v6: bool = ne v4, v5
  check v6 @3 detail v3
  v7: i64 = const 100
  v8: i64 = div v7, v4
  store v2[v3] = v8
}
",
        expect![[r#"
            L2:
              setp.ge.s64 %p3, %rd16, %rd12;
              @%p3 bra L3;
              mad.lo.s64 %rd19, %rd16, 8, %rd11;
              ld.global.b64 %rd20, [%rd19];
              setp.ne.s64 %p4, %rd20, 0;
              @!%p4 bra L5;
              setp.eq.s64 %p5, %rd20, 0;
              selp.b64 %rd22, 1, %rd20, %p5;
              div.s64 %rd21, 100, %rd22;
              mad.lo.s64 %rd23, %rd16, 8, %rd14;
              st.global.b64 [%rd23], %rd21;
            L4:
              add.s64 %rd16, %rd16, %rd17;
              bra L2;
        "#]],
    );
}
