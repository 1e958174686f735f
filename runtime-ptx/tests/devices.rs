//! Results do not depend on the size of the device: neither on its number of multiprocessors nor on
//! how many blocks of an entry each of them holds.

use expect_test::expect;
use nesl_runtime::kir::{Literal, Ty, parse};
use nesl_runtime::runtime::{Arg, Launch, Options, Runtime};
use nesl_runtime_ptx::Ptx;
use nesl_sim::client::Client;

/// Kernels that reduce floats over their whole space, with the number of their elements: flat ones,
/// of short code and of a loop; with a scan, whose tiles are drawn; over segments.
const KERNELS: [(&str, usize); 5] = [
    (
        "\
kernel \"k\"(v0: i64, v1: [f64], v2: [f64]) over flat v0 at v3 {
  v4: f64 = load v1[v3]
  reduce add v4 -> v2
}
",
        1_000_003,
    ),
    (
        "\
kernel \"k\"(v0: i64, v1: [f64], v2: [f64]) over flat v0 at v3 {
  v4: f64 = load v1[v3]
  v5: i64 = const 3
  v6: f64 = for v7 < v5 carry v8: f64 = v4 {
    v9: f64 = add v8, v4
    yield v9
  }
  reduce add v6 -> v2
}
",
        20_001,
    ),
    (
        "\
kernel \"k\"(v0: i64, v1: [f64], v2: [f64]) over flat v0 at v3 {
  v4: f64 = load v1[v3]
  reduce add v4 -> v2
  v5: f64 = scan add v4
} then {
  store v1[v3] = v5
}
",
        300_007,
    ),
    (
        "\
kernel \"k\"(v0: i64, v1: [f64], v2: [f64]) over regular v0, v0 at v3, v4, v5 {
  v6: f64 = load v1[v5]
  reduce add v6 -> v2
}
",
        700 * 700,
    ),
    (
        "\
kernel \"k\"(v0: i64, v1: [f64], v2: [f64]) over flat v0 at v3 {
  v4: f64 = load v1[v3]
  reduce mul v4 -> v2
}
",
        0,
    ),
];

/// The bits of the sum that a kernel makes on a device.
fn sum(text: &str, elements: usize, options: &[(&str, &str)]) -> u64 {
    let session = Client::load().unwrap().exclusive();
    for (name, value) in options {
        session.set(name, value).unwrap();
    }
    let ptx = Ptx::new(0, Options::default()).unwrap();
    let module = ptx.load(&parse(text).unwrap()).unwrap();
    let array = ptx.alloc(Ty::F64, elements).unwrap();
    let values = (1..=elements).map(|x| (1.0 / x as f64).to_ne_bytes());
    ptx.write(&array, 0, values.collect::<Vec<_>>().as_flattened()).unwrap();
    let out = ptx.alloc(Ty::F64, 1).unwrap();
    let size = if text.contains("regular") { elements.isqrt() } else { elements };
    let args =
        [Arg::Scalar(Literal::I64(size as i64)), Arg::Array(array, 0), Arg::Array(out.clone(), 0)];
    let launch = Launch { module: &module, kernel: 0, args: &args, tag: 1, work_items: None };
    ptx.launch(&launch).unwrap();
    let mut bytes = [0; 8];
    ptx.read(&out, 0, &mut bytes).unwrap();
    assert!(session.findings().is_empty(), "{:?}", session.findings());
    u64::from_ne_bytes(bytes)
}

#[test]
fn float_reductions_have_the_same_bits_on_all_devices() {
    for (text, elements) in KERNELS {
        let large = sum(text, elements, &[]);
        let expected: f64 = (1..=elements).map(|x| 1.0 / x as f64).sum();
        if text.contains("reduce add v4") {
            assert!((f64::from_bits(large) - expected).abs() < 1e-9, "{text}");
        }
        // A T4 holds 160 blocks of 256 threads, an H100 more than 1,000.
        for order in ["forward", "reverse", "random"] {
            let small = sum(text, elements, &[("device", "t4"), ("order", order), ("seed", "4")]);
            assert_eq!(large, small, "{order}: {text}");
        }
        let checked = sum(text, elements.min(50_000), &[("check", "1"), ("order", "random")]);
        assert!(f64::from_bits(checked).is_finite());
    }
}

/// A comment before each entry tells its use of the device, if the driver was asked.
#[test]
fn the_use_of_a_multiprocessor_is_told() {
    let _session = Client::load().unwrap().exclusive();
    let ptx = Ptx::new(0, Options::default()).unwrap();
    let text = ptx.annotated(&parse(KERNELS[0].0).unwrap()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let entry = lines.iter().position(|line| line.starts_with(".visible .entry")).unwrap();
    expect![[r#"
        // kernel "k", pass 1
        // 256 threads a block, 144 bytes of shared memory a block
        // on Simulated H100: 32 registers and 0 bytes of local memory a thread, 144 bytes of shared memory a block, 8 blocks a multiprocessor
        .visible .entry kernel0_pass0("#]]
    .assert_eq(&lines[entry - 3..=entry].join("\n"));
}
