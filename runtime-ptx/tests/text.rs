//! The text of small kernels, as the driver gets it.

use expect_test::{Expect, expect};
use nesl_runtime::kir::parse;
use nesl_runtime_ptx::emit::emit;

/// Compares the instructions of the loop over the indices: from its first label, which is given, to its
/// branch back.
fn check(label: &str, text: &str, expected: Expect) {
    let code = emit(&parse(text).unwrap()).unwrap();
    let lines: Vec<&str> = code.text.lines().collect();
    let from = lines.iter().position(|line| *line == format!("{label}:")).unwrap();
    let to = lines.iter().position(|line| line.ends_with(&format!(" bra {label};"))).unwrap();
    expected.assert_eq(&(lines[from..=to].join("\n") + "\n"));
}

#[test]
fn a_dot_product_accumulates_in_a_register() {
    check(
        "L4",
        "\
kernel \"dot\"(v0: [f64], v1: [f64], v2: i64, v3: [f64]) over flat v2 at v4 {
  v5: f64 = load v0[v4]
  v6: f64 = load v1[v4]
  v7: f64 = mul v5, v6
  reduce add v7 -> v3
}
",
        expect![[r#"
            L4:
              mad.lo.s64 %rd20, %rd13, 8, %rd2;
              mad.lo.s64 %rd21, %rd13, 8, %rd4;
              @!%p4 bra L6;
              ld.global.v2.f64 {%fd4, %fd5}, [%rd20];
              ld.global.v2.f64 {%fd6, %fd7}, [%rd21];
            L7:
              mul.rn.f64 %fd8, %fd4, %fd6;
              add.rn.f64 %fd1, %fd1, %fd8;
            L8:
              mul.rn.f64 %fd9, %fd5, %fd7;
              add.rn.f64 %fd1, %fd1, %fd9;
            L9:
              @!%p4 bra L10;
            L11:
              add.s64 %rd13, %rd13, %rd15;
              setp.lt.s64 %p6, %rd13, %rd17;
              @%p6 bra L4;
        "#]],
    );
}

#[test]
fn a_check_leaves_the_loop() {
    check(
        "L2",
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
              mad.lo.s64 %rd17, %rd10, 8, %rd2;
              @!%p3 bra L4;
              ld.global.v2.b64 {%rd18, %rd19}, [%rd17];
            L5:
              setp.ne.s64 %p5, %rd18, 0;
              @!%p5 bra L7;
              setp.eq.s64 %p6, %rd18, 0;
              selp.b64 %rd21, 1, %rd18, %p6;
              div.s64 %rd20, 100, %rd21;
              mad.lo.s64 %rd22, %rd10, 8, %rd5;
              st.relaxed.gpu.global.b64 [%rd22], %rd20;
            L6:
              add.s64 %rd32, %rd10, 1;
              setp.ne.s64 %p10, %rd19, 0;
              @!%p10 bra L13;
              setp.eq.s64 %p11, %rd19, 0;
              selp.b64 %rd34, 1, %rd19, %p11;
              div.s64 %rd33, 100, %rd34;
              mad.lo.s64 %rd35, %rd32, 8, %rd5;
              st.relaxed.gpu.global.b64 [%rd35], %rd33;
            L12:
              @!%p3 bra L18;
            L19:
              add.s64 %rd10, %rd10, %rd12;
              setp.lt.s64 %p15, %rd10, %rd14;
              @%p15 bra L2;
        "#]],
    );
}
