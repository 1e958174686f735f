//! The tests that every runtime must pass, on a simulated device: races are looked for, blocks begin
//! in three orders, and nothing runs before it is waited for.

use nesl_runtime::kir::{Literal, Ty, parse};
use nesl_runtime::runtime::{Arg, Failure, Launch, Options, Runtime};
use nesl_runtime::testkit::{self, cases};
use nesl_runtime_ptx::Ptx;
use nesl_sim::client::{Client, Session};

/// The simulator for one test, with options.
fn simulator(options: &[(&str, &str)]) -> Session {
    let session = Client::load().unwrap().exclusive();
    for (name, value) in options {
        session.set(name, value).unwrap();
    }
    session
}

/// Executes every case that the runtime supports.
fn check_cases(session: &Session) {
    let ptx = Ptx::new(0, Options::default()).unwrap();
    let (mut wrong, mut executed) = (Vec::new(), 0);
    for case in cases() {
        if let Err(Failure::Unsupported(_)) = ptx.load(&case.module()) {
            continue;
        }
        executed += 1;
        if let Err(why) = testkit::check(&case, &ptx) {
            wrong.push(format!("{}: {why}\n{}", case.name, case.text));
        }
        for finding in session.findings() {
            wrong.push(format!("{}: {finding:?}\n{}", case.name, case.text));
        }
        session.clear();
        if wrong.len() > 5 {
            break;
        }
    }
    assert!(wrong.is_empty(), "{} cases are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(executed > 2460, "only {executed} cases were executed");
}

#[test]
fn blocks_in_order() {
    check_cases(&simulator(&[("check", "1")]));
}

/// On a device that has no instructions besides those of the base.
#[test]
fn blocks_in_reverse() {
    check_cases(&simulator(&[("check", "1"), ("order", "reverse"), ("device", "t4")]));
}

/// On a device that has all instructions.
#[test]
fn blocks_at_random_and_deferred() {
    let options =
        [("check", "1"), ("order", "random"), ("seed", "7"), ("defer", "1"), ("device", "b200")];
    check_cases(&simulator(&options));
}

#[test]
fn the_host_sees_what_the_contract_says() {
    let session = simulator(&[("check", "1"), ("defer", "1"), ("background", "1")]);
    testkit::check_host(&|options| Box::new(Ptx::new(0, options).unwrap()));
    assert!(session.findings().is_empty(), "{:?}", session.findings());
}

/// A dot product: one launch, one wait for its result, 16 bytes read for each pair of elements.
#[test]
fn a_dot_product_reads_each_element_once() {
    let session = simulator(&[("check", "1")]);
    let ptx = Ptx::new(0, Options::default()).unwrap();
    let text = "\
kernel \"dot\"(v0: [f64], v1: [f64], v2: i64, v3: [f64]) over flat v2 at v4 {
  v5: f64 = load v0[v4]
  v6: f64 = load v1[v4]
  v7: f64 = mul v5, v6
  reduce add v7 -> v3
}
";
    let module = ptx.load(&parse(text).unwrap()).unwrap();
    let length = 1_000_000;
    let ones: Vec<u8> = (0..length).flat_map(|_| 1f64.to_ne_bytes()).collect();
    let array = || {
        let array = ptx.alloc(Ty::F64, length).unwrap();
        ptx.write(&array, 0, &ones).unwrap();
        array
    };
    let (a, b, out) = (array(), array(), ptx.alloc(Ty::F64, 1).unwrap());
    session.clear();
    let args = [
        Arg::Array(a, 0),
        Arg::Array(b, 0),
        Arg::Scalar(Literal::I64(length as i64)),
        Arg::Array(out.clone(), 0),
    ];
    ptx.launch(&Launch { module: &module, kernel: 0, args: &args, tag: 1, work_items: None })
        .unwrap();
    let mut sum = [0; 8];
    ptx.read(&out, 0, &mut sum).unwrap();
    assert_eq!(f64::from_ne_bytes(sum), length as f64);
    let counters = session.counters();
    assert_eq!(counters.launches, 1);
    let bytes = 32 * counters.load_sectors;
    assert!(bytes < 16 * length as u64 * 21 / 20, "{bytes} bytes");
    assert!(session.findings().is_empty(), "{:?}", session.findings());
}

/// Sums of floats by bins have the same bits in whatever order blocks are executed: their grouping
/// depends on the number of elements and of bins only.
#[test]
fn a_histogram_of_floats_is_deterministic() {
    let length = 20_000;
    let values: Vec<f64> = (0..length).map(|at| 1.0 / f64::from(at + 1)).collect();
    for bins in [1, 7, 3000] {
        let orders = ["forward", "reverse", "random"];
        let results = orders.map(|order| sums_by_bin(&values, bins, order));
        assert!(results[0] == results[1] && results[1] == results[2], "{bins} bins");
        let sum: f64 =
            results[0][0].chunks(8).map(|x| f64::from_ne_bytes(x.try_into().unwrap())).sum();
        let expected = values.iter().sum::<f64>() + 0.1 * (bins + 2) as f64;
        assert!((sum - expected).abs() < 1e-9, "{sum}, not {expected}");
    }
}

/// The bytes of two tables to which values, and rows of up to two values, are added.
fn sums_by_bin(values: &[f64], bins: usize, order: &str) -> [Vec<u8>; 2] {
    let text = "\
kernel \"histogram\"(v0: i64, v1: [f64], v2: [f64], v3: i64, v4: [f64]) over flat v0 at v5 {
  v6: i64 = rem v5, v3
  v7: f64 = load v1[v5]
  v8: i64 = const 3
  v9: i64 = rem v5, v8
  v10: [f64] = slice v1[v9..]
  histogram add v7 -> v2[v6]
  histogram add v10[..v9] -> v4[v6]
}
";
    let session = simulator(&[("check", "1"), ("order", order), ("seed", "5")]);
    let ptx = Ptx::new(0, Options::default()).unwrap();
    let array = |values: &[f64]| {
        let array = ptx.alloc(Ty::F64, values.len()).unwrap();
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_ne_bytes()).collect();
        ptx.write(&array, 0, &bytes).unwrap();
        array
    };
    let tables = [0.1, 0.2].map(|start| array(&vec![start; bins + 2]));
    let module = ptx.load(&parse(text).unwrap()).unwrap();
    let args = [
        Arg::Scalar(Literal::I64(values.len() as i64)),
        Arg::Array(array(values), 0),
        Arg::Array(tables[0].clone(), 0),
        Arg::Scalar(Literal::I64(bins as i64)),
        Arg::Array(tables[1].clone(), 0),
    ];
    let launch = Launch { module: &module, kernel: 0, args: &args, tag: 1, work_items: None };
    ptx.launch(&launch).unwrap();
    let bytes = tables.map(|table| {
        let mut bytes = vec![0; table.len() * 8];
        ptx.read(&table, 0, &mut bytes).unwrap();
        bytes
    });
    assert!(session.findings().is_empty(), "{:?}", session.findings());
    bytes
}

/// A module that one process has compiled the next one finds on the disk.
#[test]
fn modules_are_kept_on_disk() {
    let _session = simulator(&[("check", "1")]);
    let folder = tempfile::tempdir().unwrap();
    let options = || Options { cache: Some(folder.path().to_owned()), ..Options::default() };
    let text = "kernel \"k\"(v0: i64, v1: [i64]) over flat v0 at v2 { reduce add v2 -> v1 }";
    for expected in [0, 1] {
        let ptx = Ptx::new(0, options()).unwrap();
        let case = testkit::Case::new("a sum", text).i64(10).out([45i64]);
        testkit::check(&case, &ptx).unwrap();
        assert_eq!((ptx.counters().modules, ptx.counters().cached), (1, expected));
    }
}
