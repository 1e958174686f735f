//! Bounds checks on a simulated device: however little is executed for them, the same work item fails,
//! at the same site, with the same index, as in the interpreter.

use nesl_runtime::kir::reference::Reference;
use nesl_runtime::kir::{Literal, Ty, parse, print};
use nesl_runtime::runtime::Options;
use nesl_runtime::testkit::{Data, Input, differ};
use nesl_runtime_ptx::Ptx;
use nesl_runtime_ptx::emit::emit;
use nesl_sim::client::Client;

/// The number of work items.
const ITEMS: usize = 300;

/// The elements of neighbours from a place on: the index is a distance from the number of the
/// iteration. An element that is 0 fails, too, before the next index is out of bounds.
const WINDOW: &str = "\
kernel \"window\"(v0: i64, v1: [i64], v2: i64, v3: [i64], v4: i64, v5: [i64]) over flat v0 at v6 {
  v7: i64 = load v3[v6]
  v8: i64 = for v9 < v4 reduce add {
    v10: i64 = add v7, v9
    v11: i64 = const 0
    v12: bool = ge v10, v11
    v13: bool = lt v10, v2
    v14: bool = and v12, v13
    check v14 @5 detail v10, v2
    v15: i64 = load v1[v10]
    v16: bool = ne v15, v11
    check v16 @6 detail v10
    yield v15
  }
  store v5[v6] = v8
}
";

/// The same element in each iteration, checked behind another check, and by a limit that is loaded.
const SAME: &str = "\
kernel \"same\"(v0: i64, v1: [i64], v2: i64, v3: [i64], v4: i64, v5: [i64]) over flat v0 at v6 {
  v7: i64 = load v3[v6]
  v20: i64 = const 1
  v21: i64 = sub v2, v20
  v8: i64 = for v9 < v4 reduce add {
    v17: i64 = const 3
    v18: bool = ne v9, v17
    check v18 @4 detail v9
    v11: i64 = const 0
    v12: bool = ge v7, v11
    v13: bool = lt v7, v21
    v14: bool = and v12, v13
    check v14 @5 detail v7, v21
    v15: i64 = load v1[v7]
    yield v15
  }
  store v5[v6] = v8
}
";

/// An element at the number of the iteration, in a loop in a loop.
const NESTED: &str = "\
kernel \"nested\"(v0: i64, v1: [i64], v2: i64, v3: [i64], v4: i64, v5: [i64]) over flat v0 at v6 {
  v7: i64 = load v3[v6]
  v8: i64 = for v9 < v4 reduce add {
    v19: i64 = for v20 < v7 reduce add {
      v11: i64 = const 0
      v12: bool = ge v20, v11
      v13: bool = lt v20, v2
      v14: bool = and v13, v12
      check v14 @5 detail v20, v9
      v22: i64 = add v20, v9
      v23: bool = ge v22, v11
      v24: bool = lt v22, v2
      v25: bool = and v23, v24
      check v25 @6 detail v20, v9
      v15: i64 = load v1[v22]
      yield v15
    }
    yield v19
  }
  store v5[v6] = v8
}
";

#[test]
fn failures_are_those_of_the_interpreter() {
    let session = Client::load().unwrap().exclusive();
    session.set("check", "1").unwrap();
    let ptx = Ptx::new(0, Options::default()).unwrap();
    let reference = Reference::new(Options::default());
    let length = 40;
    let scalar = |x: i64| Input::Scalar(Literal::I64(x));
    let ordinary = |at: usize| (at * 7 % 30) as i64;
    let places = [ordinary(7), 35, 39, 40, -1, -3, i64::MAX, i64::MAX - 2, i64::MIN];
    let mut failed = 0;
    for text in [WINDOW, SAME, NESTED] {
        let module = parse(text).unwrap();
        for (special, width, limit) in places.into_iter().flat_map(|place| {
            [(place, 5, length), (place, 2, length), (place, 0, length), (place, -4, -1)]
                .into_iter()
                .chain([(place, 0, i64::MIN), (place, 2, -1), (place, 3, 37)])
        }) {
            // A loop of so many iterations would not end.
            if text == NESTED && special > 1000 && limit == length && width > 0 {
                continue;
            }
            for zero in [None, Some(37)] {
                let data: Vec<i64> =
                    (0..length).map(|at| if zero == Some(at) { 0 } else { at + 1 }).collect();
                let starts = |at| if at == 170 { special } else { ordinary(at) };
                let args = [
                    scalar(ITEMS as i64),
                    Input::Array(Data::I64(data)),
                    scalar(limit),
                    Input::Array(Data::I64((0..ITEMS).map(starts).collect())),
                    scalar(width),
                    Input::Room(Ty::I64, ITEMS),
                ];
                let same = differ(&module, 0, &args, &[5], &reference, &ptx);
                let what = format!("{special}, {width}, {limit}, {zero:?}: {}", print(&module));
                assert_eq!(same, Ok(()), "{what}");
                assert!(session.findings().is_empty(), "{:?}: {what}", session.findings());
                session.clear();
                failed += usize::from(width > 0);
            }
        }
    }
    assert!(failed > 100);
}

/// The lines of a kernel's code that compare or jump, without those behind the end.
fn comparisons(text: &str) -> String {
    let code = emit(&parse(text).unwrap()).unwrap().text;
    let code = code.split("  ret;").next().unwrap();
    let is_check = |line: &&str| line.contains("setp.lo") || line.contains("sub.s64");
    code.lines().filter(is_check).map(|line| format!("{}\n", line.trim())).collect()
}

#[test]
fn a_loop_in_bounds_compares_nothing() {
    // What is compared without sign stands behind the end: only if not all iterations are in bounds.
    assert!(!comparisons(WINDOW).contains("setp.lo"));
    assert!(comparisons(WINDOW).contains("sub.s64"));
    // Once for each work item, before the loop.
    assert_eq!(comparisons(SAME).matches("setp.lo").count(), 1);
}
