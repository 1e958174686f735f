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
              mad.lo.s64 %rd26, %rd19, 8, %rd12;
              mad.lo.s64 %rd27, %rd19, 8, %rd14;
              @!%p4 bra L6;
              ld.global.v2.f64 {%fd4, %fd5}, [%rd26];
              ld.global.v2.f64 {%fd6, %fd7}, [%rd27];
            L7:
              mul.rn.f64 %fd8, %fd4, %fd6;
              add.rn.f64 %fd1, %fd1, %fd8;
            L8:
              add.s64 %rd28, %rd19, 1;
              mul.rn.f64 %fd9, %fd5, %fd7;
              add.rn.f64 %fd1, %fd1, %fd9;
            L9:
              @!%p4 bra L10;
            L11:
              add.s64 %rd19, %rd19, %rd21;
              setp.lt.s64 %p6, %rd19, %rd23;
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
              mad.lo.s64 %rd21, %rd14, 8, %rd9;
              @!%p3 bra L4;
              ld.global.v2.b64 {%rd22, %rd23}, [%rd21];
            L5:
              setp.ne.s64 %p5, %rd22, 0;
              @!%p5 bra L7;
              setp.eq.s64 %p6, %rd22, 0;
              selp.b64 %rd25, 1, %rd22, %p6;
              div.s64 %rd24, 100, %rd25;
              mad.lo.s64 %rd26, %rd14, 8, %rd12;
              st.relaxed.gpu.global.b64 [%rd26], %rd24;
            L6:
              add.s64 %rd31, %rd14, 1;
              setp.ne.s64 %p10, %rd23, 0;
              @!%p10 bra L13;
              setp.eq.s64 %p11, %rd23, 0;
              selp.b64 %rd33, 1, %rd23, %p11;
              div.s64 %rd32, 100, %rd33;
              mad.lo.s64 %rd34, %rd31, 8, %rd12;
              st.relaxed.gpu.global.b64 [%rd34], %rd32;
            L12:
              @!%p3 bra L18;
            L19:
              add.s64 %rd14, %rd14, %rd16;
              setp.lt.s64 %p15, %rd14, %rd18;
              @%p15 bra L2;
        "#]],
    );
}
