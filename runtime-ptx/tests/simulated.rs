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
    assert!(executed > 2000, "only {executed} cases were executed");
}

#[test]
fn blocks_in_order() {
    check_cases(&simulator(&[("check", "1")]));
}

#[test]
fn blocks_in_reverse() {
    check_cases(&simulator(&[("check", "1"), ("order", "reverse")]));
}

#[test]
fn blocks_at_random_and_deferred() {
    let options = [("check", "1"), ("order", "random"), ("seed", "7"), ("defer", "1")];
    check_cases(&simulator(&options));
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
    ptx.launch(&Launch { module: &module, kernel: 0, args: &args, tag: 1 }).unwrap();
    let mut sum = [0; 8];
    ptx.read(&out, 0, &mut sum).unwrap();
    assert_eq!(f64::from_ne_bytes(sum), length as f64);
    let counters = session.counters();
    assert_eq!(counters.launches, 1);
    let bytes = 32 * counters.load_sectors;
    assert!(bytes < 16 * length as u64 * 21 / 20, "{bytes} bytes");
    assert!(session.findings().is_empty(), "{:?}", session.findings());
}
